// What happened over time, from the server's stored history and from what this tab saw since: changes of state, whose they
// were, the lanes of a strip, and how much ran without the reader. Pure. A stored session's first record is where it stood,
// not a change; its last one opens no span, since nobody knows how long it held.
import { moment, objects, str } from './model.js';

const ANSWER = 60;
const LEAST = 600;
const SPAN = 6 * 3600;

/** Filters of the timeline. */
export const MODES = ['active', 'all', 'decisions'];

function stored(book, owns) {
  const by = new Map();
  for (const r of objects(book.history)) {
    const at = moment(r.last_activity);
    const key = `${str(r.harness)}:${str(r.sid)}`;
    if (!(at > 0) || !owns(key, str(r.project))) continue;
    if (!by.has(key)) by.set(key, []);
    by.get(key).push({ at, key, harness: str(r.harness), project: str(r.project), state: str(r.state) });
  }
  for (const list of by.values()) list.sort((a, b) => a.at - b.at);
  return by;
}

function storedChanges(by) {
  const out = [];
  for (const list of by.values()) {
    for (let i = 1; i < list.length; i += 1) {
      if (list[i].state !== list[i - 1].state) out.push({ ...list[i], kind: 'state', before: list[i - 1].state });
    }
  }
  return out;
}

const WORDS = { working: 'agent resumed', needs_input: 'needs input', idle: 'became idle', ended: 'session ended', unknown: 'no counted state published' };

/** True where the reader moved the session on: it left a wait, or a quiet one began to work. */
const moved = (e) => (e.before === 'needs_input' && e.state !== 'ended') || (e.before === 'idle' && e.state === 'working');

/**
 * Changes of the sessions `owns(key, project)` accepts, newest first: `{at, key, harness, kind, before, state, words, turn,
 * yours}`. `turn` marks a human turn, `yours` everything the reader had a part in.
 */
export function changesOf(book, owns) {
  const live = book.kept.filter((e) => (e.kind === 'state' || e.kind === 'stop' || e.kind === 'ask') && owns(e.key, e.project));
  const all = [...storedChanges(stored(book, owns)), ...live].sort((a, b) => a.at - b.at);
  const answered = new Map();
  return all.map((e) => {
    // A wait that ends quiet and works a moment later is one answer seen twice.
    const again = e.before === 'idle' && e.at - (answered.get(e.key) ?? -Infinity) <= ANSWER;
    const turn = e.kind !== 'ask' && moved(e) && !again;
    if (e.before === 'needs_input' && turn) answered.set(e.key, e.at);
    const words = e.kind === 'ask' ? e.text : e.kind === 'stop' ? 'turn stopped' : WORDS[e.state] ?? e.state;
    return { ...e, words, turn, yours: turn || e.kind === 'ask' || e.state === 'needs_input' };
  }).reverse();
}

/** The changes a filter shows. */
export const filtered = (changes, mode) => (mode === 'all' ? changes : changes.filter((e) => e.kind === 'ask' || e.state === 'working' || e.state === 'needs_input'));

/** The window in which these sessions were observed: `{from, to, stored}`; null before a second payload when nothing is stored. */
export function windowOf(book, owns) {
  if (book.last === null) return null;
  let from = book.begun;
  for (const list of stored(book, owns).values()) from = Math.min(from, list[0].at);
  return from < book.last ? { from, to: book.last, stored: book.history !== null } : null;
}

/** Lanes for a strip, one for each of `rows`, as `StateStrip` takes them. */
export function lanesOf(book, rows, owns) {
  const turns = changesOf(book, owns).filter((e) => e.turn);
  const past = stored(book, owns);
  const live = new Map(rows.map((row) => [row.key, []]));
  for (const e of book.kept) if (e.kind !== 'ask') live.get(e.key)?.push(e);
  return rows.map((row) => {
    const blocks = [];
    const list = past.get(row.key) ?? [];
    for (let i = 1; i < list.length; i += 1) blocks.push({ state: list[i - 1].state, from: list[i - 1].at, to: list[i].at });
    const seen = live.get(row.key);
    seen.forEach((e, i) => {
      if (e.kind !== 'gone') blocks.push({ state: e.drawn, from: e.at, to: seen[i + 1]?.at ?? book.last });
    });
    const drawn = blocks.filter((b) => ['needs_input', 'working', 'idle'].includes(b.state) && b.to > b.from);
    return { key: row.key, label: row.title || 'Session title not published', blocks: drawn, turns: turns.filter((e) => e.key === row.key).map((e) => e.at) };
  });
}

// The stored part as spans in which something worked or waited, by sweeping over its sessions.
function storedShares(by) {
  const edges = [];
  for (const list of by.values()) {
    for (let i = 1; i < list.length; i += 1) {
      const { state, at } = list[i - 1];
      const index = state === 'working' ? 0 : state === 'needs_input' ? 1 : -1;
      if (index >= 0) edges.push({ at, index, by: 1 }, { at: list[i].at, index, by: -1 });
    }
  }
  edges.sort((a, b) => a.at - b.at);
  const out = [];
  const open = [0, 0];
  edges.forEach((e, i) => {
    open[e.index] += e.by;
    const to = edges[i + 1]?.at ?? e.at;
    if (to > e.at && open[0] + open[1] > 0) out.push({ from: e.at, to, alone: open[1] === 0, tokens: 0, measured: 0 });
  });
  return out;
}

function cut(spans, from, to) {
  let all = 0;
  let alone = 0;
  for (const s of spans) {
    const time = Math.min(s.to, to) - Math.max(s.from, from);
    if (!(time > 0)) continue;
    all += time;
    if (s.alone) alone += time;
  }
  return { all, alone };
}

/**
 * How much of a project's observed time ran without the reader: `{pct, turns, rate, trend, from, to}`; `pct` is null below ten
 * minutes of it, `rate` null when nothing was measured, `trend` in points only over two full spans of six hours.
 */
export function delegationOf(book, label, owns) {
  if (book.last === null) return null;
  const window = windowOf(book, owns) ?? { from: book.begun, to: book.last };
  const { to } = window;
  const from = book.history === null ? Math.max(window.from, to - SPAN) : window.from;
  const live = book.shares.get(label) ?? [];
  const spans = [...storedShares(stored(book, owns)), ...live];
  const { all, alone } = cut(spans, from, to);
  const measured = live.filter((s) => s.alone && s.to > from);
  const time = measured.reduce((n, s) => n + s.measured, 0);
  const now = cut(spans, to - SPAN, to);
  const then = cut(spans, to - 2 * SPAN, to - SPAN);
  const full = to - from >= 2 * SPAN && now.all > 0 && then.all > 0;
  return {
    from, to, all, pct: all < LEAST ? null : Math.round((100 * alone) / all), turns: changesOf(book, owns).filter((e) => e.turn && e.at >= from).length,
    rate: time > 0 ? measured.reduce((n, s) => n + s.tokens, 0) / (time / 60) : null,
    trend: full ? Math.round((100 * now.alone) / now.all) - Math.round((100 * then.alone) / then.all) : null,
  };
}
