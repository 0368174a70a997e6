// For OpenCode: the permissions of a session, as its plugin. Copy this file to <project>/.opencode/plugin/cargento.js.

const SESSIONS = 128;
const REQUESTS = 64;
const ANSWERED = 8_192;
const SESSION_ID = /^ses_[A-Za-z0-9]{26}$/;

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
    if (gate.open.size === 1) this.say(session, "input_requested");
  }

  replied(session, request) {
    const gate = this.sessions.get(session);
    if (!gate?.open.delete(request)) return;
    this.remember(`${session} ${request}`);
    if (gate.open.size > 0 || gate.saturated) return;
    this.sessions.delete(session);
    this.say(session, "input_resolved");
  }

  say(session, event) {
    this.outbox.put(session, { v: 1, event, session_id: session });
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
  const outbox = new Outbox({ harness: "opencode", port, limitMs: 250, most: SESSIONS });
  const gates = port ? new Gates(outbox) : undefined;
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
