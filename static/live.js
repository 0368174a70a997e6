// How the board stays current: one tab of a browser holds the event stream, the others hear of a revision through storage,
// and a poll runs beside both. One refresh at a time counts; an older answer never replaces a newer one; one failure says
// nothing, two in a row say the board is stalled. Everything it needs from outside comes in `env`, so tests drive its clock.

const POLL = 20_000;
const POLL_ALONE = 5_000;
const RENEW = 2_000;
const LEASE = 6_000;
const TIMEOUT = 30_000;
/** Failed refreshes in a row before the board says so. */
export const STALLED = 2;

/** True when revision `a` says more than `b`: another server, or a larger number of the same one. */
export function newer(a, b) {
  if (!a) return false;
  if (!b) return true;
  const [serverA, nA] = split(a);
  const [serverB, nB] = split(b);
  return serverA !== serverB || nA > nB;
}

function split(revision) {
  const at = revision.indexOf('.');
  const n = Number.parseInt(revision.slice(at + 1), 10);
  return [at < 0 ? revision : revision.slice(0, at), Number.isFinite(n) ? n : 0];
}

/** The data route as this reader wants it: nothing but the two members the page may add. */
export function dataUrl(all, granted) {
  const query = [all && 'all=1', granted && 'usage=1'].filter(Boolean).join('&');
  return query ? `/api/data?${query}` : '/api/data';
}

/**
 * Starts the transport. `env`: fetch, EventSource (or undefined), now() in ms, timers, storage (read, write, watch as in
 * keep.js, with the two keys), url(), hidden(). `hear.data(body, meta)` gets each accepted payload, `hear.status(s)` each
 * change of `{failures, stalled, busy, received, every, leading}`.
 */
export function start(env, hear) {
  const me = env.id;
  const every = env.EventSource ? POLL : POLL_ALONE;
  const status = { failures: 0, stalled: false, busy: false, received: null, every, leading: false };
  let stream = null;
  let current = null;
  let wanted = null;
  let have = null;
  let pollTimer = null;
  let tick = null;

  const tell = (change) => hear.status(Object.assign(status, change));

  // ---- fetching

  function failed() {
    const failures = status.failures + 1;
    tell({ failures, stalled: failures >= STALLED, busy: false });
  }

  async function refresh(reason) {
    if (current) {
      if (reason === 'wake') return;
      // A request that outlived a whole poll interval is a missed refresh; one the reader replaced by hand is not.
      current.abort.abort();
      current = null;
      if (reason === 'poll') failed();
    }
    const mine = { abort: new AbortController(), reason };
    current = mine;
    schedule();
    if (reason === 'manual') tell({ busy: true });
    const limit = env.setTimeout(() => mine.abort.abort(), TIMEOUT);
    try {
      const reply = await env.fetch(env.url(), { signal: mine.abort.signal, cache: 'no-store', headers: { Accept: 'application/json' } });
      const body = reply.ok ? await reply.json() : null;
      if (current !== mine) return;
      if (!body || typeof body !== 'object' || Array.isArray(body)) throw new Error('not a payload');
      const revision = reply.headers.get('X-Cargento-Revision');
      if (revision) have = revision;
      current = null;
      tell({ failures: 0, stalled: false, busy: false, received: env.now() });
      hear.data(body, { revision });
    } catch {
      if (current !== mine) return;
      current = null;
      failed();
    } finally {
      env.clearTimeout(limit);
    }
    if (!current && status.failures === 0 && newer(wanted, have)) {
      // A reply without a revision cannot say whether it covers the wake: it is asked for once more, not for ever.
      if (!have) wanted = null;
      refresh('wake');
    }
  }

  function schedule() {
    env.clearTimeout(pollTimer);
    pollTimer = env.setTimeout(() => refresh('poll'), every);
  }

  function wake(revision) {
    if (typeof revision !== 'string' || !revision) return;
    if (newer(revision, wanted)) wanted = revision;
    if (newer(revision, have)) refresh('wake');
  }

  // ---- one stream for the browser

  function lease() {
    const held = env.storage.readJson(env.keys.leader, (v) => v && typeof v.id === 'string' && typeof v.ts === 'number');
    return held && held.id !== me && Math.abs(env.now() - held.ts) < LEASE ? held : null;
  }

  function elect() {
    if (!env.EventSource) return;
    if (lease()) {
      close();
      return;
    }
    env.storage.write(env.keys.leader, JSON.stringify({ id: me, ts: env.now() }));
    if (lease()) {
      close();
      return;
    }
    if (!status.leading) tell({ leading: true });
    if (stream?.readyState === 2) stream = null;
    if (!stream) open();
  }

  function open() {
    const source = new env.EventSource('/api/stream');
    stream = source;
    source.addEventListener('revision', (event) => {
      if (stream !== source) return;
      if (newer(event.data, env.storage.read(env.keys.revision))) env.storage.write(env.keys.revision, event.data);
      wake(event.data);
    });
    source.addEventListener('open', () => {
      // The server is back: no need to wait for the next poll to find out.
      if (stream === source && status.failures > 0) refresh('wake');
    });
    source.addEventListener('error', () => {
      if (stream === source && source.readyState === 2) stream = null;
    });
  }

  function close() {
    stream?.close();
    stream = null;
    if (status.leading) tell({ leading: false });
  }

  // ---- life of the tab

  const unwatch = env.storage.watch(env.keys.revision, wake);

  function leave() {
    if (status.leading && !lease()) env.storage.write(env.keys.leader, null);
    close();
    env.clearInterval(tick);
    env.clearTimeout(pollTimer);
    tick = null;
  }

  function resume() {
    if (tick !== null) return;
    tick = env.setInterval(elect, RENEW);
    elect();
    refresh('poll');
  }

  tick = env.setInterval(elect, RENEW);
  refresh('poll');
  elect();

  return {
    /** A refresh the reader asked for; it replaces one under way. */
    now: () => refresh('manual'),
    /** Another revision is known to exist. */
    wake,
    /** The tab came to the front. */
    shown: elect,
    /** The tab goes away (or into the back/forward cache), and comes back. */
    leave,
    resume,
    /** Ends for good; for tests. */
    stop() {
      leave();
      unwatch();
      current?.abort.abort();
      current = null;
    },
    status,
  };
}
