import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { Desk, load } from "./bench.mjs";

const session = (n) => `ses_${String(n).padStart(26, "0")}`;
const asked = (id, request, more = {}) => ({ event: { type: "permission.asked", properties: { sessionID: id, id: request, ...more } } });
const replied = (id, request) => ({ event: { type: "permission.replied", properties: { sessionID: id, requestID: request, reply: "once" } } });

/** Runs with a dashboard and a fresh plugin. */
async function with_(options, run) {
  const desk = await Desk.open(options);
  try {
    const plugin = await (await load("opencode_plugin")).CargentoPlugin({});
    await run(desk, plugin);
  } finally {
    desk.close();
  }
}

test("HOOK-091 HOOK-092 HOOK-094: the first open request and the last answer are reported, and nothing of them", async () => {
  await with_({}, async (desk, plugin) => {
    const one = session(1);
    await plugin.event(asked(one, "per_a", { permission: "bash", patterns: ["secret"], metadata: { command: "secret" } }));
    await desk.bodies(1);
    for (const event of [asked(one, "per_a"), asked(one, "per_b"), replied(one, "per_x"), replied(one, "per_a")]) await plugin.event(event);
    assert.equal((await desk.settled()).length, 1, "still one request open");
    await plugin.event(replied(one, "per_b"));
    assert.deepEqual(await desk.bodies(2), [
      { v: 1, event: "input_requested", session_id: one },
      { v: 1, event: "input_resolved", session_id: one },
    ]);
    const [post] = desk.posts;
    assert.deepEqual([post.method, post.url], ["POST", "/api/events/opencode"]);
    assert.equal(post.headers["x-cargento-capability"], "open-token_1");
    assert.equal(post.headers["content-type"], "application/json");
    assert.equal(post.body, `{"v":1,"event":"input_requested","session_id":"${one}"}`);
  });
});

test("HOOK-092: an answered request is never reopened, and an unknown answer does nothing", async () => {
  await with_({}, async (desk, plugin) => {
    await plugin.event(replied(session(1), "per_a"));
    await plugin.event(asked(session(1), "per_a"));
    await desk.bodies(1);
    await plugin.event(replied(session(1), "per_a"));
    await desk.bodies(2);
    await plugin.event(asked(session(1), "per_a"));
    assert.equal((await desk.settled()).length, 2);
    await plugin.event(asked(session(1), "per_b"));
    assert.equal((await desk.bodies(3)).length, 3, "another request is a new wait");
  });
});

test("HOOK-091: other events, other ids and odd shapes are ignored without a throw", async () => {
  await with_({}, async (desk, plugin) => {
    const good = { sessionID: session(1), id: "per_a" };
    const trap = { get properties() { throw new Error("no"); }, type: "permission.asked" };
    for (const input of [
      undefined, null, {}, { event: null }, { event: 7 }, { event: { type: "permission.asked" } }, { event: trap },
      { event: { type: "permission.updated", properties: good } }, { event: { type: "question.asked", properties: good } },
      { event: { type: "permission.asked", properties: { ...good, sessionID: "ses_short" } } },
      { event: { type: "permission.asked", properties: { ...good, sessionID: `${session(1)}0` } } },
      { event: { type: "permission.asked", properties: { ...good, sessionID: [session(1)] } } },
      { event: { type: "permission.asked", properties: { ...good, id: "" } } },
      { event: { type: "permission.asked", properties: { ...good, id: "x".repeat(257) } } },
      { event: { type: "permission.asked", properties: { ...good, id: 7 } } },
    ]) assert.equal(await plugin.event(input), undefined);
    assert.equal((await desk.settled()).length, 0);
  });
});

test("HOOK-093: beyond 64 open requests a session never claims its end, and 128 sessions are the most", async () => {
  await with_({}, async (desk, plugin) => {
    const full = session("full");
    for (let n = 0; n <= 64; n += 1) await plugin.event(asked(full, `per_${n}`));
    for (let n = 0; n <= 64; n += 1) await plugin.event(replied(full, `per_${n}`));
    await plugin.event(asked(full, "per_again"));
    assert.deepEqual((await desk.settled()).map((b) => b.event), ["input_requested"]);
    for (let n = 1; n <= 130; n += 1) await plugin.event(asked(session(n), "per_a"));
    const bodies = await desk.bodies(128);
    await desk.settled();
    assert.equal(new Set(bodies.map((b) => b.session_id)).size, 128, "the saturated one and 127 more");
  });
});

test("HOOK-094 HOOK-095: one delivery at a time, the newest state of a session, 250 ms each, and no event waits for it", async () => {
  await with_({ answer: () => {} }, async (desk, plugin) => {
    const began = Date.now();
    await plugin.event(asked(session(1), "per_a"));
    await plugin.event(asked(session(2), "per_a"));
    await plugin.event(replied(session(2), "per_a"));
    assert.ok(Date.now() - began < 100, "an event returns at once beside a dashboard that never answers");
    const bodies = await desk.bodies(2);
    const took = Date.now() - began;
    assert.ok(took >= 200 && took < 1500, `the first delivery is given up after 250 ms, the second came after ${took} ms`);
    assert.deepEqual(bodies.map((b) => [b.session_id, b.event]), [[session(1), "input_requested"], [session(2), "input_resolved"]]);
    assert.equal(desk.most, 1);
  });
});

test("HOOK-094: redirects are not followed and proxies are not asked", async () => {
  const elsewhere = await Desk.open();
  const proxy = `http://127.0.0.1:${elsewhere.port}`;
  const names = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"];
  for (const name of names) process.env[name] = proxy;
  try {
    const answer = (reply) => reply.writeHead(307, { Location: `${proxy}/stolen` }).end();
    await with_({ answer }, async (desk, plugin) => {
      await plugin.event(asked(session(1), "per_a"));
      assert.equal((await desk.bodies(1)).length, 1);
      await desk.settled();
      assert.equal(elsewhere.posts.length, 0);
    });
  } finally {
    for (const name of names) delete process.env[name];
    elsewhere.close();
  }
});

test("HOOK-090: no usable port or token means silence; a pipe in the state file's place holds nothing up", async () => {
  for (const port of ["0", "65536", "x", "-1", "123456", " 4553"]) {
    await with_({}, async (desk) => {
      process.env.CARGENTO_PORT = port;
      const plugin = await (await load("opencode_plugin")).CargentoPlugin({});
      await plugin.event(asked(session(1), "per_a"));
      assert.equal((await desk.settled(40)).length, 0, port);
    });
  }
  const pad = " ".repeat(65_536);
  for (const state of ["", "{", "[]", "null", "{}", `{"capabilities":{"pi":"t"}}`, `{"capabilities":{"opencode":"a b"}}`, `{"capabilities":{"opencode":7}}`, `{"capabilities":{"opencode":"${"t".repeat(257)}"}}`, `{"capabilities":{"opencode":"t"}}${pad}`]) {
    await with_({}, async (desk, plugin) => {
      desk.state(state);
      await plugin.event(asked(session(1), "per_a"));
      assert.equal((await desk.settled(40)).length, 0, state.slice(0, 60));
    });
  }
  await with_({}, async (desk, plugin) => {
    rmSync(desk.file);
    execFileSync("mkfifo", [desk.file]);
    await plugin.event(asked(session(1), "per_a"));
    assert.equal((await desk.settled(60)).length, 0);
    rmSync(desk.file);
    desk.state({ capabilities: { opencode: "t" } });
    await plugin.event(asked(session(2), "per_a"));
    assert.equal((await desk.bodies(1))[0]?.session_id, session(2), "the next delivery goes through");
  });
});
