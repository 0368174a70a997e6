// Reports to a Cargento dashboard on this machine that a Pi session shows a prompt to its person, and that the prompt is
// gone. Copy it to ~/.pi/agent/extensions/cargento.js.
//
// It only watches: it answers no prompt, throws nothing into Pi, delays nothing and logs nothing. Titles, options and
// answers stay in Pi; what leaves is an event name, a session id, a time and a counter, to 127.0.0.1 alone.

import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";

const HARNESS = "pi";
const STATE_BYTES = 65_536;
const DELIVERY_MS = 500;
const QUEUE = 32;
const KINDS = new Set(["select", "confirm", "input", "editor", "custom"]);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const TOKEN = /^[A-Za-z0-9_-]{1,256}$/;

/** The dashboard's port; 0, which means none, when the variable says something that is no port. */
const portOf = (given) => {
  if (!given?.trim()) return 4553;
  const port = /^\d{1,5}$/.test(given) ? Number(given) : 0;
  return port <= 65_535 ? port : 0;
};

const stateFile = (port) => {
  const own = process.env.CARGENTO_HOME;
  const home = own && own.trim() ? own : join(homedir(), ".cargento");
  return join(home, `cargento-${port}.json`);
};

/** The event token in the dashboard's state file; undefined when there is none. Opened so that a pipe cannot hold us. */
const readToken = async (port) => {
  const file = await open(stateFile(port), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > STATE_BYTES) return undefined;
    // It may have grown since: the size looked at bounds nothing, the buffer does.
    const bytes = Buffer.alloc(STATE_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
      length += bytesRead;
      if (length > STATE_BYTES) return undefined;
      if (bytesRead === 0) break;
    }
    const token = JSON.parse(bytes.toString("utf8", 0, length))?.capabilities?.[HARNESS];
    return typeof token === "string" && TOKEN.test(token) ? token : undefined;
  } finally {
    await file.close();
  }
};

/** One POST over a socket of its own, so that no agent, proxy or redirect has a say. Ends at the answer or the limit. */
const post = (port, token, body) =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    const limit = setTimeout(() => socket.destroy(), DELIVERY_MS);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(limit);
      resolve();
    });
    // What comes back is thrown away; its first bytes say that the request was taken.
    socket.on("data", () => socket.destroy());
    socket.on("end", () => socket.destroy());
    socket.write(
      `POST /api/events/${HARNESS} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
        `X-Cargento-Capability: ${token}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  });

/** Delivers envelopes one at a time; of a session only the newest one waits, in the place of the newest. */
class Outbox {
  constructor(port) {
    this.port = port;
    this.waiting = new Map();
    this.busy = false;
  }

  put(session, envelope) {
    this.waiting.delete(session);
    this.waiting.set(session, envelope);
    if (this.waiting.size > QUEUE) this.waiting.delete(this.waiting.keys().next().value);
    if (!this.busy) void this.drain();
  }

  clear() {
    this.waiting.clear();
  }

  async drain() {
    this.busy = true;
    for (let next = this.take(); next; next = this.take()) {
      try {
        const token = await readToken(this.port);
        if (token) await post(this.port, token, JSON.stringify(next));
      } catch {
        // No dashboard, or none that takes events: what waits is for nobody.
        this.clear();
      }
    }
    this.busy = false;
  }

  take() {
    const next = this.waiting.entries().next().value;
    if (next) this.waiting.delete(next[0]);
    return next?.[1];
  }
}

export default function cargento(pi) {
  const port = portOf(process.env.CARGENTO_PORT);
  if (!port) return;
  const outbox = new Outbox(port);
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
