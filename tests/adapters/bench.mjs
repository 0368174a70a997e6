// A stand-in dashboard, and an adapter loaded from its shipped text.

import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const SOURCES = new URL("../../src/forward/adapters/", import.meta.url);

/** The text of an adapter: as `cargento plugin` wrote it into the folder that CARGENTO_ADAPTERS names, else joined here alike. */
const text = (name) => {
  const written = process.env.CARGENTO_ADAPTERS;
  if (written) return readFileSync(join(written, `${name}.js`));
  return ["delivery", name].map((part) => readFileSync(new URL(`${part}.js`, SOURCES), "utf8")).join("\n");
};

/** Loads a fresh copy of an adapter: its module state is one plugin lifetime. */
export async function load(name) {
  const folder = mkdtempSync(join(tmpdir(), "cargento-adapter-"));
  try {
    const file = join(folder, `${name}.mjs`);
    writeFileSync(file, text(name));
    return await import(pathToFileURL(file));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A listener on loopback that records what reaches it, and a state directory that names it. */
export class Desk {
  static async open({ answer = (reply) => reply.end("{}") } = {}) {
    const desk = new Desk();
    desk.posts = [];
    desk.open = 0;
    desk.most = 0;
    desk.server = createServer((request, reply) => {
      desk.open += 1;
      desk.most = Math.max(desk.most, desk.open);
      reply.on("close", () => (desk.open -= 1));
      let body = "";
      request.on("data", (piece) => (body += piece));
      request.on("end", () => {
        desk.posts.push({ url: request.url, method: request.method, headers: request.headers, body });
        answer(reply, desk);
      });
    });
    await new Promise((resolve) => desk.server.listen(0, "127.0.0.1", resolve));
    desk.port = desk.server.address().port;
    desk.home = mkdtempSync(join(tmpdir(), "cargento-desk-"));
    process.env.CARGENTO_HOME = desk.home;
    process.env.CARGENTO_PORT = String(desk.port);
    desk.state({ capabilities: { opencode: "open-token_1", pi: "pi-token_1" } });
    return desk;
  }

  get file() {
    return join(this.home, `cargento-${this.port}.json`);
  }

  state(content) {
    mkdirSync(this.home, { recursive: true });
    writeFileSync(this.file, typeof content === "string" ? content : JSON.stringify(content));
  }

  /** The bodies posted so far, once there are at least `count`. */
  async bodies(count, within = 4000) {
    const until = Date.now() + within;
    while (this.posts.length < count && Date.now() < until) await pause(5);
    return this.posts.map((post) => JSON.parse(post.body));
  }

  /** The bodies posted, after long enough for one more delivery. */
  async settled(wait = 150) {
    await pause(wait);
    return this.bodies(0);
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.home, { recursive: true, force: true });
  }
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
