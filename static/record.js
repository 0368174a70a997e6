// What a project's and a session's page read beside the board: the observed record, and the agents and calls of a session.
// Read when the page opens and again for each newer payload; the last good answer stays on screen when a later one fails, and
// says that it is old. A server that keeps no such thing is told apart from one that failed to answer.
import { useEffect, useRef, useState } from './hooks.js';
import { get } from './actions.js';

const KEPT = 8;
const held = new Map();
const ears = new Set();

function tell() {
  for (const hear of ears) hear({});
}

const contextPath = (project, session) => `/api/project-context?project=${encodeURIComponent(project)}${session ? `&session=${encodeURIComponent(session)}` : ''}`;
const fits = (path, body) => !path.startsWith('/api/project-context') || (body.semantic !== null && typeof body.semantic === 'object');

async function load(path, entry, more = '') {
  entry.busy = true;
  entry.again = false;
  const { status, body } = await get(path + more);
  entry.busy = false;
  if (status === 200 && fits(path, body)) Object.assign(entry, { body, failed: null });
  // How a server says that it keeps no such thing: there is nothing to ask again for while the page stays open.
  else entry.failed = status === null ? 'no answer came' : status === 200 ? 'the answer holds no record' : status === 404 || status === 503 ? 'this server does not offer it' : `the server answered ${status}`;
  entry.absent = status === 404 || status === 503;
  tell();
  if (entry.again) load(path, entry);
  return status;
}

/** Asks for `path` now; one request at a time, and one more when it was asked for meanwhile. */
function want(path) {
  let entry = held.get(path);
  if (!entry) {
    entry = { body: null, failed: null, absent: false, busy: false, again: false };
    held.set(path, entry);
    if (held.size > KEPT) held.delete(held.keys().next().value);
  }
  if (entry.busy) entry.again = true;
  else load(path, entry);
}

/**
 * The JSON at `path` (null asks for nothing), read again whenever `token` changes: `{body, failed, absent, loading}`. `body`
 * is the last good answer; with `failed` set beside it, it is an old one.
 */
export function useJson(path, token) {
  const [, hear] = useState(null);
  useEffect(() => {
    ears.add(hear);
    return () => ears.delete(hear);
  }, []);
  const first = useRef(null);
  useEffect(() => {
    if (!path || (first.current === path && held.get(path)?.absent)) return;
    first.current = path;
    want(path);
  }, [path, token]);
  const entry = path ? held.get(path) : null;
  return { body: entry?.body ?? null, failed: entry?.failed ?? null, absent: entry?.absent ?? false, loading: Boolean(path) && !entry?.body && !entry?.failed };
}

let open = null;

/** Follows the record of `project`, of one `session` (`harness:sid`) when given: `{state, body, stale}` with state loading, read, failed or absent. */
export function useContext(project, session, generated) {
  const path = contextPath(project, session);
  open = { path, session };
  const { body, failed, absent, loading } = useJson(path, generated);
  if (absent) return { state: 'absent', body: null, stale: false };
  return { state: body ? 'read' : loading ? 'loading' : 'failed', body, stale: body !== null && failed !== null };
}

/** Asks once for a model's summary of the session in focus; answers the status. */
export const summarize = () => (open?.session && held.has(open.path) ? load(open.path, held.get(open.path), '&refresh=1&observer_model=1') : Promise.resolve(null));

/** The body last read for this scope, or null. */
export const bodyFor = (session) => (open?.session === session ? held.get(open.path)?.body ?? null : null);

/** Where one session's record is read. */
export const recordPath = (row) => contextPath(row.projectKey || row.project, row.key);

/** Where one session's agents and calls are read. */
export const deckPath = (row) => `/api/session?harness=${encodeURIComponent(row.harness)}&sid=${encodeURIComponent(row.sid)}`;
