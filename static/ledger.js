// What this tab has seen itself: each session's own token rate, in slots of forty seconds over the rate window, and its
// changes of state. Nothing of it is stored; a slot without a sample stays a gap.

const SLOT = 40;
const SLOTS = 15;
const LEAST = 5;
const rates = new Map();
const CHANGES = 400;
const states = new Map();

/** Takes the rates of one payload. */
export function observe(board) {
  if (board.generated === null) return;
  const slot = Math.floor(board.generated / SLOT);
  for (const row of board.rows) {
    seeState(row.key, row.state, board.generated);
    if (!row.recent || row.rate === null) continue;
    let seen = rates.get(row.key);
    if (!seen) rates.set(row.key, (seen = new Map()));
    seen.set(slot, row.rate);
    for (const old of seen.keys()) if (old <= slot - SLOTS) seen.delete(old);
  }
  for (const key of rates.keys()) if (!board.byKey.has(key)) rates.delete(key);
}

function seeState(key, state, at) {
  let seen = states.get(key);
  if (!seen) states.set(key, (seen = []));
  const last = seen[seen.length - 1];
  if (last && (last.state === state || last.at >= at)) return;
  seen.push({ at, state });
  if (seen.length > CHANGES) seen.shift();
}

/** The states a session was seen in by this tab, each from when it was first seen, oldest first. */
export const statesSeen = (key) => states.get(key) ?? [];

/** The path of a 60 × 16 bar chart of a session's rate, baseline 0; empty with fewer than five samples or nothing but zeros. */
export function spark(key, generated) {
  const seen = rates.get(key);
  if (!seen || seen.size < LEAST || generated === null) return '';
  const last = Math.floor(generated / SLOT);
  const top = Math.max(...seen.values());
  if (!(top > 0)) return '';
  let path = '';
  for (let i = 0; i < SLOTS; i += 1) {
    const value = seen.get(last - SLOTS + 1 + i);
    if (value === undefined) continue;
    const height = value > 0 ? Math.max(1, Math.round((value / top) * 16)) : 0.5;
    path += `M${i * 4} 16v-${height}h3v${height}z`;
  }
  return path;
}
