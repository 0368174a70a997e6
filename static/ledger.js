// What this tab has seen itself: each session's own token rate, in slots of forty seconds over the rate window, and every
// change of state since the tab opened. Nothing of it is stored; a slot without a sample stays a gap.

const SLOT = 40;
const SLOTS = 15;
const LEAST = 5;
const rates = new Map();

/** Takes the rates of one payload. */
export function observe(board) {
  if (board.generated === null) return;
  note(board);
  const slot = Math.floor(board.generated / SLOT);
  for (const row of board.rows) {
    if (!row.recent || row.rate === null) continue;
    let seen = rates.get(row.key);
    if (!seen) rates.set(row.key, (seen = new Map()));
    seen.set(slot, row.rate);
    for (const old of seen.keys()) if (old <= slot - SLOTS) seen.delete(old);
  }
  for (const key of rates.keys()) if (!board.byKey.has(key)) rates.delete(key);
}

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

// ---- changes of state, told by newer payloads only

const KEPT = 100_000;
const SHARES = 5000;

/**
 * The changes this tab saw. `history` is the first payload's stored history (null when none is kept), `begun` and `last` the
 * first and newest payload's time, `kept` entries `{at, kind, key, harness, project, before, state, drawn, text}` of kinds
 * first, state, stop, ask, draw and gone, `shares` for each project the spans in which something worked or waited.
 */
export const book = { history: null, begun: null, last: null, kept: [], shares: new Map() };
const known = new Map();
let snap = new Map();

function put(entry) {
  if (book.kept.push(entry) > KEPT) book.kept.splice(0, KEPT / 100);
}

function hold(project, s, from, to) {
  if (!s.working && !s.waiting) return;
  if (!book.shares.has(project)) book.shares.set(project, []);
  const list = book.shares.get(project);
  const alone = s.waiting === 0;
  let last = list[list.length - 1];
  if (!last || last.alone !== alone || last.to !== from) list.push((last = { from, to: from, alone, tokens: 0, measured: 0 }));
  last.to = to;
  if (s.rated) {
    last.tokens += (s.rate * (to - from)) / 60;
    last.measured += to - from;
  }
  if (list.length > SHARES) list.shift();
}

function share(board, at) {
  for (const [project, s] of snap) hold(project, s, book.last, at);
  snap = new Map();
  for (const row of board.rows) {
    if (!row.active) continue;
    if (!snap.has(row.project)) snap.set(row.project, { working: 0, waiting: 0, rate: 0, rated: false });
    const s = snap.get(row.project);
    if (row.blocked) s.waiting += 1;
    else s.working += 1;
    if (row.rate !== null) {
      s.rate += row.rate;
      s.rated = true;
    }
  }
}

function see(row, at) {
  const drawn = row.blocked ? 'needs_input' : row.state;
  const asks = row.questions.map((q) => q.id);
  const old = known.get(row.key);
  // A long night makes many entries: they share the words of the first instead of holding a copy each.
  const words = old && old.base.project === row.project ? old.base : row;
  const base = { at, key: words.key, harness: words.harness, project: words.project, state: row.state, drawn };
  known.set(row.key, { seen: at, base, asks, finished: row.finishedAt });
  if (!old) return put({ ...base, kind: 'first' });
  const stopped = row.quiet && row.finishedAt !== null && row.finishedAt !== old.finished;
  const before = old.base.state;
  if (stopped) put({ ...base, kind: 'stop', before });
  else if (before !== row.state) put({ ...base, kind: 'state', before });
  else if (drawn !== old.base.drawn) put({ ...base, kind: 'draw' });
  for (const q of row.questions) if (!old.asks.includes(q.id)) put({ ...base, kind: 'ask', text: q.question });
  return undefined;
}

function note(board) {
  const at = board.generated;
  if (book.last !== null && at <= book.last) return;
  if (book.begun === null) {
    book.begun = at;
    book.history = Array.isArray(board.payload.history) ? board.payload.history : null;
  }
  share(board, at);
  for (const row of board.rows) see(row, at);
  for (const [key, k] of known) {
    if (k.seen === at) continue;
    put({ ...k.base, at: k.seen, kind: 'gone' });
    known.delete(key);
  }
  book.last = at;
}

const DRAWN = ['first', 'state', 'stop', 'draw', 'gone'];

/** The states a session was seen in by this tab, each from when it was first seen, oldest first; leaving the board ends the last. */
export const statesSeen = (key) => book.kept.filter((e) => e.key === key && DRAWN.includes(e.kind)).map((e) => ({ at: e.at, state: e.kind === 'gone' ? 'ended' : e.drawn }));
