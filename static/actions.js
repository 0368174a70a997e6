// Every POST the page makes. Each answers what the server said and no more: a status and a body, or `null` for both when no
// answer came. Nothing is retried. The focus capability is read from the document once and goes into one header of one route.

const LIMIT = 30_000;
const token = document.querySelector('meta[name="cargento-focus"]')?.content ?? '';

/** True when this document may ask for a terminal to be raised. */
export const canRaise = /^[0-9a-f]+$/.test(token);

async function ask(path, options) {
  const abort = new AbortController();
  const limit = setTimeout(() => abort.abort(), options.limit ?? LIMIT);
  try {
    const reply = await fetch(path, { ...options, signal: abort.signal, cache: 'no-store' });
    let body = null;
    try {
      body = await reply.json();
    } catch { /* an error reply is no JSON; the status says it */ }
    return { status: reply.status, body: body && typeof body === 'object' ? body : {} };
  } catch {
    return { status: null, body: null };
  } finally {
    clearTimeout(limit);
  }
}

/** GET of a JSON route other than the board's own. `limit` in ms. */
export const get = (path, limit) => ask(path, { limit, headers: { Accept: 'application/json' } });

const post = (path, body, headers = {}) => ask(path, { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers } });

/** Raises a session's terminal. */
export const focusTerminal = (harness, sid) => post('/api/focus', { harness, sid }, { 'X-Cargento-Capability': token });
/** Gives one offered option back to the agent that asked. */
export const answer = (id, index) => post('/api/answer', { id, index });
/** Typed words: save, adopt, settle or discard, as the body says. */
export const annotate = (body) => post('/api/annotate', body);
/** Asks for a reading. */
export const startReading = (body) => post('/api/reading', body);
/** Stops a reading that runs. */
export const cancelReading = (body) => post('/api/reading/cancel', body);
/** Saves, rearms or removes a stage condition. */
export const tripwire = (body) => post('/api/tripwire', body);
/** Says that this browser can show notifications. */
export const reportLane = () => post('/api/lane', { supported: true, permission: 'granted' });
