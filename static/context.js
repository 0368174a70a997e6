// The observed record of a project, read while its cockpit is open: once when it opens and again for each newer payload. The
// last good answer stays and says that it is old; a server without the record is told apart from one that failed to answer.
import { useEffect, useState } from './hooks.js';
import { get } from './actions.js';

const ears = new Set();
let open = null;

function tell() {
  for (const hear of ears) hear({});
}

const path = ({ project, session }, more = '') => `/api/project-context?project=${encodeURIComponent(project)}${session ? `&session=${encodeURIComponent(session)}` : ''}${more}`;

async function load(entry, more) {
  entry.busy = true;
  const { status, body } = await get(path(entry, more));
  entry.busy = false;
  if (entry !== open) return status;
  if (status === 200 && body && body.semantic) Object.assign(entry, { state: 'read', body, stale: false });
  // 404 and 503 are how a server says that it keeps no such record; there is nothing to ask again for.
  else if (status === 404 || status === 503) Object.assign(entry, { state: 'absent', body: null });
  else if (entry.body) entry.stale = true;
  else entry.state = 'failed';
  tell();
  if (entry.again) {
    entry.again = false;
    load(entry);
  }
  return status;
}

/** Follows the record of `project`, of one `session` (`harness:sid`) when given: `{state, body, stale}` with state loading, read, failed or absent. */
export function useContext(project, session, generated) {
  const [, hear] = useState(null);
  const is = open !== null && open.project === project && open.session === session;
  if (!is) open = { project, session, state: 'loading', body: null, stale: false, busy: false, again: false };
  const entry = open;
  useEffect(() => {
    ears.add(hear);
    return () => {
      ears.delete(hear);
      // Opening the page again asks again, also where it was absent.
      if (!ears.size && open?.project === project) open = null;
    };
  }, []);
  useEffect(() => {
    if (entry.state === 'absent') return;
    if (entry.busy) entry.again = true;
    else load(entry);
  }, [entry, generated]);
  return entry;
}

/** Asks once for a model's summary of the session in focus; answers the status. */
export const summarize = () => (open === null || !open.session ? Promise.resolve(null) : load(open, '&refresh=1&observer_model=1'));

/** The body last read for this scope, or null. */
export const bodyFor = (session) => (open !== null && open.session === session ? open.body : null);
