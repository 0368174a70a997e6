// Quota windows: what is spent against what is gone of the window's own time. Pure. It never says which of the two times
// comes first, and a figure that is missing, lapsed or refused is a reason in words, never a zero.
import { clock, duration, num, pace, percent } from './format.js';
import { objects, str } from './model.js';

const SLOTS = ['fiveH', 'week', 'month'];
const SLOT_NAME = { fiveH: '5 hours', week: 'weekly', month: 'monthly' };

/** How many windows stand open before the rest is folded. */
export const SHOWN = 3;

function windowOf(harness, label, slot, gauge, generated, models) {
  const pct = Number.isInteger(gauge.pct) ? Math.min(Math.max(gauge.pct, 0), 100) : null;
  if (pct === null) return null;
  const length = num(gauge.windowSec) > 0 ? gauge.windowSec : null;
  const resetAt = num(gauge.resetAt) > 0 ? gauge.resetAt : null;
  const remaining = resetAt !== null && generated !== null ? resetAt - generated : null;
  // A reset already past leaves the window without a clock: clamping it would read as an all-clear.
  const elapsed = length !== null && remaining > 0 ? Math.min(Math.max((length - remaining) / length, 0), 1) : null;
  const paced = elapsed > 0 && pct !== null;
  const ratio = paced ? pct / (100 * elapsed) : null;
  const perMinute = paced ? pct / ((elapsed * length) / 60) : null;
  const left = 100 - pct;
  const minutesLeft = perMinute > 0 ? left / perMinute : null;
  const recent = gauge.recent && num(gauge.recent.pctPerMin) !== null ? gauge.recent : null;
  const spare = minutesLeft !== null && remaining !== null && minutesLeft * 60 >= remaining
    ? Math.max(0, Math.round(left - (perMinute * remaining) / 60)) : null;
  return {
    key: `${harness}:${slot}`, harness, label, slot, name: SLOT_NAME[slot], length: length === null ? null : duration(length).replace(/ 0[hm]$/, ''),
    pct, elapsed, ratio, left, minutesLeft, remaining: remaining > 0 ? remaining : null, spare,
    endsAt: minutesLeft === null ? null : generated + 60 * minutesLeft,
    basis: elapsed !== null && elapsed < 0.1 ? duration(elapsed * length) : null,
    recentPerMinute: recent ? Math.max(0, recent.pctPerMin) : null, recentSpan: recent ? num(recent.spanSec) : null,
    tone: ratio === null ? 'neutral' : ratio >= 1.5 ? 'clay' : ratio >= 1 ? 'amber' : 'accent',
    models,
  };
}

const order = (a, b) => {
  if ((a.minutesLeft === null) !== (b.minutesLeft === null)) return a.minutesLeft === null ? 1 : -1;
  const by = a.minutesLeft === null ? b.pct - a.pct : a.minutesLeft - b.minutesLeft;
  return by || (a.harness < b.harness ? -1 : a.harness > b.harness ? 1 : 0) || SLOTS.indexOf(a.slot) - SLOTS.indexOf(b.slot);
};

const WITHHELD = {
  lapsed: 'its sign-in lapsed; the harness renews it by itself when it is next used',
  refused: 'the vendor refused the credential; sign in again in the harness',
};

/** `{windows, units, withheld, offered}` of a board: ordered windows, spend without a window, reasons, and whether a fetch is on offer. */
export function capacityOf(board) {
  const windows = [];
  const units = [];
  const withheld = [];
  for (const entry of objects(board.payload.usage)) {
    const harness = str(entry.harness);
    const label = board.byHarness.get(harness)?.label ?? harness;
    if (entry.state !== 'ok') {
      withheld.push({ key: harness, label, why: WITHHELD[entry.state] ?? 'no figures could be read' });
      continue;
    }
    if (str(entry.used)) units.push({ key: harness, label, text: entry.used });
    const models = objects(entry.models).filter((m) => Number.isInteger(m.pct) && str(m.label)).slice(0, 8)
      .map((m) => ({ label: m.label.slice(0, 40), pct: Math.min(Math.max(m.pct, 0), 100) }));
    for (const slot of SLOTS) {
      const gauge = entry[slot];
      const row = gauge && typeof gauge === 'object' ? windowOf(harness, label, slot, gauge, board.generated, slot === 'week' ? models : []) : null;
      if (row) windows.push(row);
    }
  }
  return { windows: windows.sort(order), units, withheld, offered: board.payload.usage_fetch === true };
}

/** Words of a pace that is over. */
export const paceWord = (row) => ({ amber: 'over pace', clay: 'far over pace' }[row.tone] ?? null);

/** When the budget ends, in words: an instant with its thin basis and what would be spare, `already spent`, or `not projected`. */
export function endsText(row, generated) {
  if (row.left === 0) return 'already spent';
  if (row.endsAt === null) return 'not projected';
  let text = clock(row.endsAt, generated);
  if (row.basis) text += ` on ${row.basis}`;
  if (row.spare !== null) text += `, ~${row.spare}% spare at reset`;
  return text;
}

/** The bar as one sentence, for those who do not see it. */
export function barSentence(row) {
  const gone = row.elapsed === null ? 'its clock is not known' : `${percent(row.elapsed * 100)} of the window elapsed`;
  return `${row.pct}% of budget used, ${gone}`;
}

/** What the rest of the first window buys, one sentence each way of measuring. */
export function buysText(row) {
  const out = [];
  if (row.left === 0) return [`${row.label} ${row.name}: already spent.`];
  out.push(row.minutesLeft === null ? `No average pace is known for ${row.label} ${row.name}.`
    : `The remaining ${row.left}% of ${row.label} ${row.name} buys ${duration(row.minutesLeft * 60)} at this window's average pace.`);
  const span = row.recentSpan === null ? '' : ` (last ${duration(row.recentSpan)})`;
  if (row.recentPerMinute === null) out.push('No second reading yet, so no recent pace.');
  else if (row.recentPerMinute === 0) out.push(`Nothing was spent in the last ${duration(row.recentSpan) ?? 'span measured'}.`);
  else out.push(`At the recent pace${span} it buys ${duration((row.left / row.recentPerMinute) * 60)}.`);
  return out;
}

const median = (sorted) => {
  const mid = sorted.length >> 1;
  return sorted.length % 2 ? sorted[mid] : (sorted[mid - 1] + sorted[mid]) / 2;
};

/**
 * How long sessions of one harness worked in the project that used the most measured working time: closed intervals that
 * opened working. Null with fewer than two measured sessions there.
 */
export function workedIn(history, harness) {
  const sessions = new Map();
  for (const r of objects(history)) {
    if (r.harness !== harness || num(r.last_activity) === null) continue;
    const at = sessions.get(r.sid) ?? { project: str(r.project), records: [] };
    at.records.push(r);
    sessions.set(r.sid, at);
  }
  const projects = new Map();
  for (const { project, records } of sessions.values()) {
    records.sort((a, b) => a.last_activity - b.last_activity);
    let sum = 0;
    let closed = 0;
    for (let i = 0; i + 1 < records.length; i += 1) {
      if (records[i].state !== 'working') continue;
      sum += records[i + 1].last_activity - records[i].last_activity;
      closed += 1;
    }
    const p = projects.get(project) ?? { project, sums: [], open: 0 };
    if (closed) p.sums.push(sum);
    else p.open += 1;
    projects.set(project, p);
  }
  const total = (p) => p.sums.reduce((a, b) => a + b, 0);
  const best = [...projects.values()].sort((a, b) => total(b) - total(a))[0];
  if (!best || best.sums.length < 2) return null;
  const sums = best.sums.sort((a, b) => a - b);
  return { project: best.project, count: sums.length, open: best.open, least: duration(sums[0]), most: duration(sums[sums.length - 1]), median: duration(median(sums)) };
}

export { pace };
