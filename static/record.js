// What a session's page reads beside the board: its record, its agents and calls. Read when the page opens and again for each
// newer payload; the last good answer stays on screen when a later one fails, and says that it is old.
import { useEffect, useRef, useState } from './hooks.js';
import { get } from './actions.js';

const KEPT = 8;
const held = new Map();
const ears = new Set();

function tell() {
  for (const hear of ears) hear({});
}

async function load(path, entry) {
  entry.busy = true;
  entry.again = false;
  const { status, body } = await get(path);
  entry.busy = false;
  if (status === 200) Object.assign(entry, { body, failed: null });
  else entry.failed = status === null ? 'no answer came' : `the server answered ${status}`;
  // How a server says that it keeps no such thing: there is nothing to ask again for while the page stays open.
  entry.absent = status === 404 || status === 503;
  tell();
  if (entry.again) load(path, entry);
}

/** Asks for `path` now; one request at a time, and one more when it was asked for meanwhile. */
function want(path) {
  let entry = held.get(path);
  if (!entry) {
    entry = { body: null, failed: null, busy: false, again: false };
    held.set(path, entry);
    if (held.size > KEPT) held.delete(held.keys().next().value);
  }
  if (entry.busy) entry.again = true;
  else load(path, entry);
  return entry;
}

/**
 * The JSON at `path` (null asks for nothing), read again whenever `token` changes: `{body, failed, loading}`. `body` is the
 * last good answer; with `failed` set beside it, it is an old one.
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
  return { body: entry?.body ?? null, failed: entry?.failed ?? null, loading: Boolean(path) && !entry?.body && !entry?.failed };
}

/** Where one session's record is read. */
export const recordPath = (row) => `/api/project-context?project=${encodeURIComponent(row.projectKey || row.project)}&session=${encodeURIComponent(`${row.harness}:${row.sid}`)}`;

/** Where one session's agents and calls are read. */
export const deckPath = (row) => `/api/session?harness=${encodeURIComponent(row.harness)}&sid=${encodeURIComponent(row.sid)}`;
