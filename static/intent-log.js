// The Intent log: every session of the board joined once with every record of typed words, present or departed. Pure.
import { many, num } from './format.js';
import { lanes, moment, objects, str } from './model.js';
import { constraintName, movedOn, readingLine } from './reading.js';

/** What the store keeps, in words. */
export const BOUNDS = 'The store keeps at most 256 records with sixteen revisions each. When it is full, discard records leave first, then the oldest; leaving this list is eviction, not expiry. Sessions that are only on the board are not bounded by it.';

// The route publishes the members of a row without their prefix; what reads a row reads them under it.
const prefixed = (raw) => Object.fromEntries(Object.entries(raw).map(([k, v]) => [`annotation_${k}`, v]));

function wordsOf(raw) {
  const a = prefixed(raw);
  const n = num(raw.revision);
  const kept = num(raw.revision_count) ?? n;
  const lines = [1, 2, 3, 4, 5, 6].map((k) => str(raw[`line_${k}`])).filter(Boolean);
  return {
    goal: str(raw.goal), adopted: ['first-prompt', 'latest-prompt'].includes(raw.goal_source), lines, at: moment(raw.at),
    revision: n === null ? null : kept < n ? `revision ${n}, ${kept} kept` : `revision ${n} of ${n}`, dropped: n !== null && kept < n, reading: readingLine(a), binding: str(raw.binding_why),
  };
}

const departures = (raw) => objects(raw.departures).filter((d) => str(d.constraint)).map((d) => ({
  name: constraintName(str(d.constraint)), text: str(d.reading), at: moment(d.at), moved: movedOn(d.revision, num(raw.revision)), after: str(d.follow_up),
}));

function derived(row) {
  const cached = row?.raw.cached_goal;
  return {
    cached: cached && typeof cached === 'object' && str(cached.goal) ? { goal: cached.goal, at: moment(cached.observed_at) } : null,
    workflows: (row?.workflows ?? []).map((w) => ({ name: str(w.workflow), goal: str(w.goal) })).filter((w) => w.goal),
  };
}

/** The entries in their order, each once, and the two counts. `records` is null while typed words are withheld. */
export function entriesOf(board, records) {
  const held = new Map();
  for (const raw of objects(records)) if (str(raw.harness) && str(raw.sid)) held.set(`${raw.harness}:${raw.sid}`, raw);
  const entry = (key, row, raw) => {
    const discarded = raw && moment(raw.discarded_at) !== null && num(raw.revision) === null;
    return {
      key, row, harness: row?.harness ?? str(raw.harness), sid: row?.sid ?? str(raw.sid), discarded: discarded ? { at: moment(raw.discarded_at), text: str(raw.discarded_why) || 'The words typed for this session were discarded.' } : null,
      words: raw && !discarded ? wordsOf(raw) : null, departures: raw ? departures(raw) : [], ...derived(row),
    };
  };
  const typed = [];
  const gone = [];
  for (const [key, raw] of held) {
    const e = entry(key, board.byKey.get(key) ?? null, raw);
    (e.discarded ? gone : typed).push(e);
  }
  typed.sort((a, b) => (b.words.at ?? 0) - (a.words.at ?? 0));
  gone.sort((a, b) => (b.discarded.at ?? 0) - (a.discarded.at ?? 0));
  const only = lanes(board.rows).filter((r) => !held.has(r.key)).map((r) => entry(r.key, r, null));
  return { list: [...typed, ...only, ...gone], typed: typed.length, discarded: gone.length };
}

/** The sentence above the list. */
export const leadOf = (n, discarded) => `${many(n, 'session')} you have typed words against, and ${discarded} whose words you discarded.`;
