// The browser's storage, and the only code that touches it. Holds choices, never session content: no title, prompt, typed
// word or payload is written here. Every read is validated; where storage is missing or refuses, a map of this tab stands in.

const memory = new Map();

function storage() {
  try {
    return globalThis.localStorage ?? null;
  } catch {
    return null;
  }
}

/** The stored text, or null. */
export function read(key) {
  try {
    const value = storage()?.getItem(key);
    if (typeof value === 'string') return value;
  } catch { /* the map answers */ }
  return memory.get(key) ?? null;
}

/** Stores text (null removes it); true when it reached storage that other tabs share. */
export function write(key, value) {
  if (value === null) memory.delete(key);
  else memory.set(key, value);
  try {
    const place = storage();
    if (!place) return false;
    if (value === null) place.removeItem(key);
    else place.setItem(key, value);
    return true;
  } catch {
    return false;
  }
}

/** The stored JSON value when `valid` accepts it, else null. */
export function readJson(key, valid) {
  const text = read(key);
  if (text === null) return null;
  try {
    const value = JSON.parse(text);
    return valid(value) ? value : null;
  } catch {
    return null;
  }
}

/** One of a closed set of answers, else `fallback`. */
export function choice(key, allowed, fallback) {
  const value = read(key);
  return allowed.includes(value) ? value : fallback;
}

/** Calls back with the new text when another tab changes `key`; answers how to stop. */
export function watch(key, changed) {
  const hear = (event) => {
    if (event.key === key) changed(event.newValue);
  };
  globalThis.addEventListener?.('storage', hear);
  return () => globalThis.removeEventListener?.('storage', hear);
}

/** Every key the page owns. Parts of a name that come from a project are percent-encoded. */
export const KEYS = {
  leader: 'cargento.next.leader',
  revision: 'cargento.next.revision',
  consent: 'cargento.next.usage.consent',
  observer: 'cargento.observer-model-consent.v1',
  collapsed: 'cargento.next.workstream.collapsed',
  graph: 'cargento.next.graph.mode',
  theme: 'cargento.ui.theme',
  density: 'cargento.ui.density',
  guardrails: (project) => `cargento.next.guardrails.${encodeURIComponent(project)}`,
  memo: (project, scope, field) => `cargento.cockpit.memo.v2:${encodeURIComponent(project)}:${encodeURIComponent(scope)}:${field}`,
};

/** The reader's answer about vendor quota: `granted`, `declined` or null while unanswered. */
export const consent = () => choice(KEYS.consent, ['granted', 'declined'], null);
