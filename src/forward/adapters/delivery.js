// Part of Cargento: tells a dashboard on this machine that a session waits for its person, and that it waits no more.
//
// It only watches: it answers nothing, throws nothing into its host, delays nothing and logs nothing. What leaves is an
// event name and a session id, to 127.0.0.1 alone. Without a dashboard it reads one small file and does nothing.

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";

const STATE_BYTES = 65_536;
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
const readToken = async (harness, port) => {
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
    const token = JSON.parse(bytes.toString("utf8", 0, length))?.capabilities?.[harness];
    return typeof token === "string" && TOKEN.test(token) ? token : undefined;
  } finally {
    await file.close();
  }
};

/** One POST over a socket of its own, so that no agent, proxy or redirect has a say. Ends at the answer or the limit. */
const post = (harness, port, limitMs, token, body) =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    const limit = setTimeout(() => socket.destroy(), limitMs);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(limit);
      resolve();
    });
    // What comes back is thrown away; its first bytes say that the request was taken.
    socket.on("data", () => socket.destroy());
    socket.on("end", () => socket.destroy());
    socket.write(
      `POST /api/events/${harness} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
        `X-Cargento-Capability: ${token}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  });

/** Delivers envelopes one at a time; of a session only the newest one waits, in the place of the newest. */
class Outbox {
  /** `most` may wait, the oldest goes first; `onFailure` is told of each that could not be sent. */
  constructor({ harness, port, limitMs, most, onFailure }) {
    Object.assign(this, { harness, port, limitMs, most, onFailure });
    this.waiting = new Map();
    this.busy = false;
  }

  put(session, envelope) {
    this.waiting.delete(session);
    this.waiting.set(session, envelope);
    if (this.waiting.size > this.most) this.waiting.delete(this.waiting.keys().next().value);
    if (!this.busy) void this.drain();
  }

  clear() {
    this.waiting.clear();
  }

  async drain() {
    this.busy = true;
    for (let next = this.take(); next; next = this.take()) {
      try {
        const token = await readToken(this.harness, this.port);
        if (token) await post(this.harness, this.port, this.limitMs, token, JSON.stringify(next));
      } catch {
        // No dashboard, or none that takes events: there is nobody to tell.
        this.onFailure?.();
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
