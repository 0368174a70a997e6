// For Pi: the prompts a session shows, as its extension. Copy this file to ~/.pi/agent/extensions/cargento.js. Titles,
// options and answers stay in Pi; beside event and session, a time and a counter leave.

import { randomUUID } from "node:crypto";

const KINDS = new Set(["select", "confirm", "input", "editor", "custom"]);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export default function cargento(pi) {
  const port = portOf(process.env.CARGENTO_PORT);
  if (!port) return;
  // What waits when a delivery fails is for nobody: the next prompt tells the state anew.
  const onFailure = () => outbox.clear();
  const outbox = new Outbox({ harness: "pi", port, limitMs: 500, most: 32, onFailure });
  const instance = randomUUID();
  let sequence = 0;

  const report = (event) => async (prompt, ctx) => {
    try {
      if (prompt?.reason !== "ui_prompt" || !KINDS.has(prompt.kind)) return;
      const session = ctx.sessionManager.getSessionId();
      if (typeof session !== "string" || !UUID.test(session)) return;
      sequence += 1;
      outbox.put(session, {
        v: 1,
        event,
        session_id: session,
        timestamp: new Date().toISOString(),
        source_instance_id: instance,
        source_sequence: sequence,
      });
    } catch {
      outbox.clear();
    }
  };

  try {
    pi.on("ui_prompt_start", report("input_requested"));
    pi.on("ui_prompt_end", report("input_resolved"));
  } catch {
    // A Pi without these events has nothing to report.
  }
}
