// Reports to a Cargento dashboard on this machine that an OpenCode session waits for a permission, and that it waits no
// more. Copy it to <project>/.opencode/plugin/cargento.js.
//
// It only watches: it answers no permission, throws nothing into OpenCode, delays nothing and logs nothing. What leaves is
// an event name and a session id, to 127.0.0.1 alone. Without a dashboard it reads one small file and does nothing.

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";

const HARNESS = "opencode";
const STATE_BYTES = 65_536;
const DELIVERY_MS = 250;
const SESSIONS = 128;
const REQUESTS = 64;
const ANSWERED = 8_192;
const SESSION_ID = /^ses_[A-Za-z0-9]{26}$/;
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
    if (!(await file.stat()).isFile()) return undefined;
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

/** Delivers states one at a time; of a session only the newest one waits. */
class Outbox {
  constructor(port) {
    this.port = port;
    this.waiting = new Map();
    this.busy = false;
  }

  put(session, event) {
    this.waiting.set(session, event);
    if (!this.busy) void this.drain();
  }

  async drain() {
    this.busy = true;
    for (let next = this.take(); next; next = this.take()) {
      try {
        const token = await readToken(this.port);
        if (token) await post(this.port, token, JSON.stringify({ v: 1, event: next[1], session_id: next[0] }));
      } catch {
        // No dashboard, or none that takes events: there is nobody to tell.
      }
    }
    this.busy = false;
  }

  take() {
    const next = this.waiting.entries().next().value;
    if (next) this.waiting.delete(next[0]);
    return next;
  }
}

/** Which permission requests of which session are open. */
class Gates {
  constructor(outbox) {
    this.outbox = outbox;
    this.sessions = new Map();
    this.answered = new Set();
  }

  asked(session, request) {
    if (this.answered.has(`${session} ${request}`)) return;
    const gate = this.sessions.get(session) ?? this.admit(session);
    if (!gate || gate.saturated || gate.open.has(request)) return;
    if (gate.open.size >= REQUESTS) {
      // Which requests are still open can no longer be told, so the end of the wait is never claimed.
      gate.saturated = true;
      return;
    }
    gate.open.add(request);
    if (gate.open.size === 1) this.outbox.put(session, "input_requested");
  }

  replied(session, request) {
    const gate = this.sessions.get(session);
    if (!gate?.open.delete(request)) return;
    this.remember(`${session} ${request}`);
    if (gate.open.size > 0 || gate.saturated) return;
    this.sessions.delete(session);
    this.outbox.put(session, "input_resolved");
  }

  admit(session) {
    const queued = [...this.outbox.waiting.keys()].filter((id) => id !== session && !this.sessions.has(id));
    if (this.sessions.size + queued.length >= SESSIONS) return undefined;
    const gate = { open: new Set(), saturated: false };
    this.sessions.set(session, gate);
    return gate;
  }

  remember(pair) {
    this.answered.add(pair);
    if (this.answered.size > ANSWERED) this.answered.delete(this.answered.values().next().value);
  }
}

const isRequest = (id) => typeof id === "string" && id.length >= 1 && id.length <= 256;

export const CargentoPlugin = async () => {
  const port = portOf(process.env.CARGENTO_PORT);
  const gates = port ? new Gates(new Outbox(port)) : undefined;
  return {
    event: async (input) => {
      try {
        const { type, properties } = input.event;
        if (!gates || (type !== "permission.asked" && type !== "permission.replied")) return;
        const session = properties.sessionID;
        const request = type === "permission.asked" ? properties.id : properties.requestID;
        if (typeof session !== "string" || !SESSION_ID.test(session) || !isRequest(request)) return;
        if (type === "permission.asked") gates.asked(session, request);
        else gates.replied(session, request);
      } catch {
        // An event of a shape we do not know is none of ours.
      }
    },
  };
};
