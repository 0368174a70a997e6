import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { Desk, load } from "./bench.mjs";

const session = (n) => `019a0000-1111-4222-8333-${String(n).padStart(12, "0")}`;
const ctx = (id) => ({ sessionManager: { getSessionId: () => id } });
const prompt = (more = {}) => ({ reason: "ui_prompt", kind: "select", title: "secret", options: ["secret"], ...more });

/** Runs with a dashboard and the two callbacks of a freshly loaded extension. */
async function with_(options, run) {
  const desk = await Desk.open(options);
  const on = {};
  try {
    (await load("pi_extension")).default({ on: (name, callback) => (on[name] = callback) });
    await run(desk, on.ui_prompt_start, on.ui_prompt_end, on);
  } finally {
    desk.close();
  }
}

test("HOOK-101 HOOK-102: a prompt's start and end are reported with six members", async () => {
  await with_({}, async (desk, start, end, on) => {
    assert.deepEqual(Object.keys(on), ["ui_prompt_start", "ui_prompt_end"]);
    for (const kind of ["select", "confirm", "input", "editor", "custom"]) {
      const before = desk.posts.length;
      await start(prompt({ kind }), ctx(session(1)));
      await desk.bodies(before + 1);
      await end(prompt({ kind, answer: "secret" }), ctx(session(1)));
      await desk.bodies(before + 2);
    }
    const bodies = await desk.bodies(10);
    assert.deepEqual(bodies.map((b) => b.source_sequence), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert.deepEqual(bodies.slice(0, 2).map((b) => b.event), ["input_requested", "input_resolved"]);
    assert.deepEqual(Object.keys(bodies[0]), ["v", "event", "session_id", "timestamp", "source_instance_id", "source_sequence"]);
    assert.match(bodies[0].timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.match(bodies[0].source_instance_id, /^[0-9a-f-]{36}$/);
    assert.equal(new Set(bodies.map((b) => b.source_instance_id)).size, 1);
    assert.ok(!desk.posts.some((post) => post.body.includes("secret")));
    assert.deepEqual([desk.posts[0].url, desk.posts[0].headers["x-cargento-capability"]], ["/api/events/pi", "pi-token_1"]);
  });
});

test("HOOK-101 HOOK-104: other prompts, other ids and a context that throws report nothing and reject nothing", async () => {
  await with_({}, async (desk, start) => {
    const throwing = { sessionManager: { getSessionId: () => { throw new Error("gone"); } } };
    for (const [event, context] of [
      [prompt({ reason: "other" }), ctx(session(1))], [prompt({ kind: "notify" }), ctx(session(1))], [undefined, ctx(session(1))],
      [prompt(), undefined], [prompt(), {}], [prompt(), throwing], [prompt(), ctx(undefined)], [prompt(), ctx("deadbeef")], [prompt(), ctx("0".repeat(36))],
    ]) assert.equal(await start(event, context), undefined);
    assert.equal((await desk.settled()).length, 0);
  });
});

test("HOOK-103: one in flight, the newest state of a session goes last, 32 wait at most, 500 ms each", async () => {
  await with_({ answer: () => {} }, async (desk, start, end) => {
    const began = Date.now();
    await start(prompt(), ctx(session(0)));
    await desk.bodies(1);
    for (let n = 1; n <= 40; n += 1) await start(prompt(), ctx(session(n)));
    await end(prompt(), ctx(session(9)));
    assert.ok(Date.now() - began < 400, "no callback waits for a delivery");
    desk.server.removeAllListeners("request");
    desk.server.on("request", (request, reply) => {
      let body = "";
      request.on("data", (piece) => (body += piece));
      request.on("end", () => {
        desk.posts.push({ body });
        reply.end("{}");
      });
    });
    const bodies = await desk.bodies(33);
    await desk.settled();
    assert.equal(desk.posts.length, 33, "the one under way and 32 that waited");
    assert.deepEqual(bodies.slice(1, 3).map((b) => b.session_id), [session(10), session(11)], "the oldest were dropped");
    assert.deepEqual([bodies.at(-1).session_id, bodies.at(-1).event], [session(9), "input_resolved"]);
  });
});

test("HOOK-100 HOOK-103: the token is read at each delivery; no port, no file or a pipe means silence", async () => {
  await with_({}, async (desk, start) => {
    await start(prompt(), ctx(session(1)));
    await desk.bodies(1);
    desk.state({ capabilities: { pi: "second" } });
    await start(prompt(), ctx(session(2)));
    await desk.bodies(2);
    assert.equal(desk.posts[1].headers["x-cargento-capability"], "second");
    for (const state of ["{", "{}", `{"capabilities":{"pi":""}}`, `{"capabilities":{"pi":"t"}}${" ".repeat(65_536)}`]) {
      desk.state(state);
      await start(prompt(), ctx(session(3)));
      assert.equal((await desk.settled(40)).length, 2, state.slice(0, 40));
    }
    rmSync(desk.file);
    await start(prompt(), ctx(session(3)));
    execFileSync("mkfifo", [desk.file]);
    await start(prompt(), ctx(session(3)));
    assert.equal((await desk.settled(60)).length, 2);
  });
  await with_({}, async () => {
    process.env.CARGENTO_PORT = "0";
    const on = [];
    (await load("pi_extension")).default({ on: (name) => on.push(name) });
    assert.deepEqual(on, []);
  });
});

test("HOOK-104: a Pi that knows no such events loads the extension all the same", async () => {
  const refuse = () => { throw new Error("unknown event"); };
  assert.equal((await load("pi_extension")).default({ on: refuse }), undefined);
});
