// Says what is there: one line per session, as /api/data has it.
const board = document.getElementById("app");

async function show() {
  const reply = await fetch("/api/data");
  const data = await reply.json();
  board.replaceChildren(...data.sessions.map((row) => {
    const line = document.createElement("p");
    line.textContent = `${row.harness} · ${row.project ?? row.sid} · ${row.state}`;
    return line;
  }));
  if (!data.sessions.length) board.textContent = "No session in the window.";
}

new EventSource("/api/stream").addEventListener("revision", show);
show();
