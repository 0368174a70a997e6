// What the session page says that no row of a list needs: how a session landed, what its source covers, and its states over
// time. Pure: no DOM, no clock.
import { ABSENT, duration, num, observed } from './format.js';
import { moment, objects, str } from './model.js';

/** Seconds of observation below which a strip of states would show nothing. */
const LEAST = 60;
const RESULTS = ['work_result', 'result'];

/** The facts of the record that name this session, newest first, each with the words the page prints. */
export function factsOf(context, row) {
  const facts = objects(context?.semantic?.facts).filter((f) => {
    const from = f.source_session;
    return from !== null && typeof from === 'object' && from.harness === row.harness && from.sid === row.sid;
  });
  return facts.map((f) => ({
    id: str(f.fact_id), type: str(f.type), at: moment(f.at), summary: str(f.summary), result: str(f.result),
    source: [str(f.evidence?.source), str(f.evidence?.confidence)].filter(Boolean).join(' · '), exact: f.evidence?.confidence !== 'derived',
  })).sort((a, b) => (b.at ?? 0) - (a.at ?? 0));
}

/** What ended, in one sentence; never mixed with who says that it finished. */
export function endOf(row) {
  if (row.ended) return 'The session reported its own end.';
  if (row.outcome) return 'A turn stopped; no end of the session was observed.';
  if (row.working) return 'It is still running.';
  if (row.needs) return 'It stands still on a request to you; nothing ended.';
  if (row.scanOnly) return 'It cannot be observed here whether it ended: this harness reports no turn end.';
  return row.quiet ? 'It is idle; whether it completed is unknown.' : 'Nothing says whether it ended.';
}

/** Who claims that the work is done. `facts` is null while the record was not read. */
export function claimOf(facts) {
  if (facts === null) return { known: false, text: 'The record has not been read, so no claim of it is known.' };
  const claim = facts.find((f) => RESULTS.includes(f.type));
  return claim ? { known: true, text: 'The agent reported it finished', claim } : { known: true, text: 'Nothing on record says that it finished.' };
}

/** What git can and cannot say about the two. */
export function gitLimit(row) {
  if (row.raw.dirty === true) return 'Uncommitted changes show that work happened, not that it is finished.';
  if (row.raw.dirty === false) return 'A clean tree is no evidence of a deliverable.';
  return `${ABSENT.git}; nothing here says whether work happened.`;
}

/** What this harness's record can hold, said under the record. */
export function recordLimit(harness) {
  if (harness === 'pi') return 'Work results that a session demonstrated are read on this harness.';
  if (harness === 'claude') return 'Checks that ran and files that were written are listed as the tools reported them. Demonstrated work results are read on Pi alone.';
  return 'On this harness the record holds instructions, dispatches and gate decisions only; demonstrated work results are read on Pi, checks and written files on Claude.';
}

/** True where a record of the work itself is read. */
export const readsWork = (harness) => harness === 'claude' || harness === 'pi';

/**
 * States over time: stored transitions first, then what this tab saw itself. The last stored one opens no span, for nobody
 * watched from there to the first payload here. Null while there is nothing to draw.
 */
export function statesOf(history, row, seen, generated) {
  const now = num(generated);
  const stored = objects(history).filter((h) => h.harness === row.harness && h.sid === row.sid && moment(h.last_activity) !== null)
    .map((h) => ({ at: h.last_activity, state: str(h.state) }));
  const blocks = [];
  const turns = [];
  const step = (a, b) => {
    if (b.at > a.at) blocks.push({ state: a.state, from: a.at, to: b.at });
    if ((a.state === 'needs_input' && b.state !== 'needs_input') || (a.state === 'idle' && b.state === 'working')) turns.push(b.at);
  };
  for (let i = 1; i < stored.length; i += 1) step(stored[i - 1], stored[i]);
  for (let i = 1; i < seen.length; i += 1) step(seen[i - 1], seen[i]);
  const last = seen[seen.length - 1];
  if (last && now !== null && now > last.at && last.state !== 'ended') blocks.push({ state: last.state, from: last.at, to: now });
  const drawn = blocks.filter((b) => ['needs_input', 'working', 'idle'].includes(b.state));
  if (!drawn.length || now === null) return null;
  const from = Math.min(...drawn.map((b) => b.from));
  return now - from < LEAST ? null : { from, to: now, blocks: drawn, turns };
}

const SHARES = [['working', 'working'], ['needs_input', 'waiting on you'], ['idle', 'idle']];

/** How the time of `statesOf` was spent, in one sentence; what nobody observed is named as that. */
export function sharesOf({ blocks, from, to }) {
  let seen = 0;
  const parts = SHARES.map(([state, word]) => {
    let end = from;
    let sum = 0;
    for (const b of blocks.filter((x) => x.state === state).sort((a, z) => a.from - z.from)) {
      sum += Math.max(0, b.to - Math.max(b.from, end));
      end = Math.max(end, b.to);
    }
    seen += sum;
    return sum > 0 ? `${word} ${duration(sum)}` : null;
  }).filter(Boolean);
  const gap = to - from - seen;
  return `${observed(to - from).replace('l', 'L')}: ${parts.join(', ')}${gap >= 60 ? `; ${duration(gap)} not observed` : ''}.`;
}

const REPORT_LIMITS = 'A matching shape does not prove that the command succeeded. Missing hooks and unmatched commands look the same here. At most 1,000 reports are kept, 20 for a session, for 24 hours, and a restart clears them.';

/** The command-shape reports of a row: `{why}` or `{list, limits}`. */
export function reportsOf(row, enabled) {
  if (!enabled) return { why: 'Command-shape reports are off for this run.' };
  if (row.harness !== 'claude' && row.harness !== 'codex') return { why: 'Command shapes are not observed on this harness.' };
  if (!row.reports.length) return { why: 'No command-shape report was received.', limits: REPORT_LIMITS };
  return { list: row.reports.slice(0, 20).map(reportOf), limits: REPORT_LIMITS };
}

/** One report in the page's words. */
export function reportOf(raw) {
  const at = moment(raw.timestamp);
  const time = at === null ? null : new Date(at * 1000);
  return {
    label: str(raw.label) || str(raw.pattern_id), tool: str(raw.tool_name), harness: str(raw.harness), sid: str(raw.sid),
    iso: time && !Number.isNaN(time.getTime()) ? time.toISOString().replace(/\.\d+Z$/, 'Z') : null,
  };
}
