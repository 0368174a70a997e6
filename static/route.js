// The route is the fragment: one grammar, read and written here and nowhere else. Parts are percent-encoded, so a colon
// never occurs inside one. Whatever does not fit the grammar is Sessions: an old link opens the board, never an error.

/** The cockpit's tabs, in the order they stand. */
export const TABS = ['now', 'course', 'decisions', 'console'];

const TOP = ['sessions', 'projects', 'attention', 'intent'];
/** Where everything unknown lands. */
export const HOME = { view: 'sessions' };

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** Splits `harness:sid`; null when either half is empty. */
export function splitKey(key) {
  const at = key.indexOf(':');
  return at > 0 && at < key.length - 1 ? { harness: key.slice(0, at), sid: key.slice(at + 1) } : null;
}

function project(parts) {
  const [name, second, third] = parts;
  if (!name || parts.length > 3) return null;
  const route = { view: 'project', project: name, session: null, tab: 'now' };
  if (second === undefined) return route;
  // `held-to` is a tab that is gone; what it showed stands on the session's own page.
  if (third === undefined && (TABS.includes(second) || second === 'held-to')) {
    return { ...route, tab: second === 'held-to' ? 'now' : second };
  }
  if (!second) return null;
  route.session = second;
  if (third === 'held-to') {
    const key = splitKey(second);
    return key ? { view: 'session', project: name, ...key, agent: null } : route;
  }
  if (third === undefined) return route;
  return TABS.includes(third) ? { ...route, tab: third } : null;
}

function session(parts) {
  const agent = parts.length === 4 && /^~./.test(parts[3]) ? parts.pop().slice(1) : null;
  if (parts.length === 2) {
    return parts[1] ? { view: 'session', project: parts[0], harness: '', sid: parts[1], agent } : null;
  }
  if (parts.length !== 3 || !parts[1] || !parts[2]) return null;
  return { view: 'session', project: parts[0], harness: parts[1], sid: parts[2], agent };
}

/** The route a fragment names, or null for one outside the grammar. `~id` after a session roots its page on one agent. */
export function parse(fragment) {
  if (!fragment.startsWith('#n=')) return null;
  const [kind, ...raw] = fragment.slice(3).split(':');
  if (TOP.includes(kind)) return raw.length ? null : { view: kind };
  const parts = raw.map(decode);
  if (parts.includes(null)) return null;
  if (kind === 'project') return project(parts);
  return kind === 'session' ? session(parts) : null;
}

// A lone surrogate cannot be encoded; a hostile label must not be able to throw.
const e = (part) => encodeURIComponent(part.replace(/\p{Surrogate}/gu, '\ufffd'));

/** The fragment of a route; `parse(build(r))` is `r`. */
export function build(route) {
  if (route.view === 'project') {
    const parts = [e(route.project)];
    if (route.session) parts.push(e(route.session));
    if (route.tab && route.tab !== 'now') parts.push(route.tab);
    return `#n=project:${parts.join(':')}`;
  }
  if (route.view === 'session') {
    const parts = route.harness ? [e(route.project ?? ''), e(route.harness), e(route.sid)] : [e(route.project ?? ''), e(route.sid)];
    if (route.harness && route.agent) parts.push(`~${e(route.agent)}`);
    return `#n=session:${parts.join(':')}`;
  }
  return `#n=${TOP.includes(route.view) ? route.view : 'sessions'}`;
}

/** The fragment that opens one session's page. */
export const sessionHref = (row) => build({ view: 'session', project: row.project, harness: row.harness, sid: row.sid });

/** The fragment that opens a project, with a session in focus or not. */
export const projectHref = (name, session = null, tab = 'now') => build({ view: 'project', project: name, session, tab });

/** Where Escape leads: a session to its project (Sessions without one), everything else to Sessions. */
export function parent(route) {
  if (route.view === 'session' && route.agent) return { ...route, agent: null };
  if (route.view === 'session' && route.project) return { view: 'project', project: route.project, session: null, tab: 'now' };
  return HOME;
}

/** The document's title; `waiting` counts sessions that wait on the reader, `title` names an open session. */
export function documentTitle(route, waiting, title) {
  const names = { sessions: 'Sessions', projects: 'Projects', attention: 'Attention', intent: 'Intent log' };
  let text = `Cargento — ${names[route.view]}`;
  if (route.view === 'project') text = `${route.project} — Cargento`;
  if (route.view === 'session') text = [title ?? 'Session', route.project, 'Cargento'].filter(Boolean).join(' — ');
  return waiting > 0 ? `(${waiting}) ${text}` : text;
}
