// What deserves the reader's eye, and in which order. Every session gets at most one place; what concerns the board as a whole
// stands apart and never enters the count of sessions. Pure.
import { many } from './format.js';
import { capacityOf, endsText } from './capacity.js';
import { objects } from './model.js';
import { reportOf } from './session-facts.js';

const KIND = {
  question: 'Question waiting', gate: 'Input signal observed', attribution: 'Attribution conflict', loop: 'Repeated tool failures', 'long-turn': 'Long-running turn', task: 'Published task', quota: 'Quota pressure', label: 'Identity collision',
};
const RISK = ['end-dirty', 'stop-dirty', 'attribution', 'loop', 'long-turn'];
const CLOSE = ['end-unknown', 'stop-unknown', 'end-clean', 'stop-clean'];
/** The quota level from which a window is a subject of its own, percent. */
export const LEVEL = 70;

// A stop stamp on a session that works, or a git reading of one that never stopped, says two things at once.
const conflicting = (row) => !row.ended && ((row.finishedAt !== null && row.active) || (row.git !== null && row.finishedAt === null));
const openTask = (row) => row.tasks.list.find((t) => t.status === 'in_progress') ?? row.tasks.list.find((t) => t.status === 'pending') ?? null;

function signalsOf(row) {
  const out = [];
  if (row.questions.length) out.push('question');
  if (row.needs) out.push('gate');
  if (row.outcome?.tone === 'bad') out.push(row.outcome.kind);
  if (conflicting(row)) out.push('attribution');
  if (row.loop) out.push('loop');
  if (row.long && row.working) out.push('long-turn');
  if (row.outcome && row.outcome.tone !== 'bad') out.push(row.outcome.kind);
  if (openTask(row)) out.push('task');
  return out;
}

/** The words of a signal; the six outcomes are their own. */
export const kindText = (kind, row) => KIND[kind] ?? row?.outcome?.words ?? kind;

function placeOf(row, signals) {
  if (row.blocked) return ['needs', row.questions.length ? 'question' : 'gate'];
  const risk = RISK.find((k) => signals.includes(k));
  if (risk) return ['risk', risk];
  if (row.outcome) return ['close', row.outcome.kind];
  return openTask(row) ? ['next', 'task'] : [null, null];
}

function itemOf(row, index) {
  const signals = signalsOf(row);
  const [category, kind] = placeOf(row, signals);
  return { key: row.key, row, index, category, kind, label: kindText(kind, row), more: signals.filter((s) => s !== kind).map((s) => kindText(s, row)) };
}

const names = new Intl.Collator('en');

/** Ties, the same way everywhere: harness, project, session, place in the payload. */
export function tie(order) {
  return (a, b) => order(a) - order(b) || names.compare(a.row.project, b.row.project) || (a.row.sid < b.row.sid ? -1 : a.row.sid > b.row.sid ? 1 : 0) || a.index - b.index;
}

function needsOrder(ties) {
  const rank = (i) => (i.kind === 'question' ? 0 : i.row.waitSince !== null ? 1 : 2);
  const since = (i) => i.row.waitSince ?? Number.MAX_VALUE;
  return (a, b) => rank(a) - rank(b) || (rank(a) < 2 ? since(a) - since(b) : 0) || (rank(a) === 0 ? a.index - b.index : 0) || ties(a, b);
}

const riskOrder = (ties) => (a, b) => RISK.indexOf(a.kind) - RISK.indexOf(b.kind)
  || (a.kind === 'loop' ? b.row.loop.total - a.row.loop.total || b.row.loop.run - a.row.loop.run : 0) || ties(a, b);

const stamp = (i) => i.row.endedAt ?? i.row.finishedAt ?? Infinity;
const closeOrder = (ties) => (a, b) => CLOSE.indexOf(a.kind) - CLOSE.indexOf(b.kind) || stamp(a) - stamp(b) || ties(a, b);

function nextOrder(ties) {
  const rank = (i) => (openTask(i.row).status === 'in_progress' ? 0 : 2) + (i.row.working ? 0 : 1);
  return (a, b) => rank(a) - rank(b) || ties(a, b);
}

/** One item for each label, the strongest first, with the others of that project behind it. */
function byProject(items) {
  const labels = new Map();
  for (const item of items) {
    if (!labels.has(item.row.project)) labels.set(item.row.project, { ...item, others: [] });
    else labels.get(item.row.project).others.push(item);
  }
  return [...labels.values()];
}

function quotaItems(board) {
  const out = [];
  for (const w of capacityOf(board).windows) {
    const early = w.endsAt !== null && w.remaining !== null && w.endsAt < board.generated + w.remaining;
    if (w.pct >= LEVEL || early) {
      const ends = w.left === 0 ? 'already spent' : early ? `at its average pace the budget ends ${endsText(w, board.generated)}, before the reset` : `the budget ends ${endsText(w, board.generated)}`;
      out.push({ key: `quota:${w.key}`, kind: 'quota', label: KIND.quota, reason: !early ? 'level' : w.pct >= LEVEL ? 'level and pace' : 'pace', text: `${w.label} ${w.name}: ${w.pct}% used; ${ends}.` });
    }
    for (const m of w.models) if (m.pct >= LEVEL) out.push({ key: `quota:${w.key}:${m.label}`, kind: 'quota', label: KIND.quota, reason: 'level', text: `${w.label} ${w.name}, ${m.label}: ${m.pct}% used; this limit has no clock.` });
  }
  return out;
}

function labelItems(rows) {
  const shared = new Map();
  for (const r of rows) if (r.project.trim()) shared.set(r.project, (shared.get(r.project) ?? 0) + 1);
  return [...shared].filter(([, n]) => n > 1).map(([project, n]) => ({ key: `label:${project}`, kind: 'label', label: KIND.label, project, text: `${n} sessions share this display label; that does not prove a shared directory.` }));
}

const list = (parts) => parts.filter(([n]) => n > 0).map(([n, words]) => `${n} ${words}`).join(' · ') || 'none';

function briefOf(groups, rest, total) {
  const a = groups.needs.length + groups.risk.length + groups.close.length;
  const others = rest.map((i) => i.row);
  const count = (test) => others.filter(test).length;
  const partly = count((r) => r.gaps.length > 0);
  return [
    `${a} of ${total} sessions carry a subject: ${list([[groups.needs.length, 'waiting on you'], [groups.risk.length, 'at risk'], [groups.close.length, 'to close the loop']])}.`,
    others.length ? `The other ${others.length}: ${list([[count((r) => r.working), 'moving'], [count((r) => r.quiet), 'quiet'], [count((r) => r.ended), 'ended'], [count((r) => !r.working && !r.quiet && !r.ended), 'in no counted state']])}; of these, ${partly || 'none'} partially read.` : `No ${total ? 'other ' : ''}session is on the board.`,
  ];
}

/** Everything the view draws: the groups, the board's own subjects, the brief, and the reports of command shapes. */
export function attentionOf(board) {
  const place = new Map(board.harnesses.map((h, i) => [h.key, i]));
  const ties = tie((i) => place.get(i.row.harness) ?? board.harnesses.length);
  const items = board.rows.map(itemOf);
  const of = (category) => items.filter((i) => i.category === category);
  const groups = {
    needs: of('needs').sort(needsOrder(ties)), risk: of('risk').sort(riskOrder(ties)), close: of('close').sort(closeOrder(ties)), next: byProject(of('next').sort(nextOrder(ties))),
    board: [...board.loose.map((q) => ({ key: `ask:${q.id}`, kind: 'question', label: KIND.question, question: q })), ...quotaItems(board), ...labelItems(board.rows)],
  };
  return { groups, brief: briefOf(groups, items.filter((i) => i.category === 'next' || i.category === null), board.rows.length), reports: objects(board.payload.command_reports).slice(0, 20).map(reportOf) };
}

/** What a change of counts is announced as. */
export const countsText = (groups) => `Attention updated: ${groups.needs.length} ${groups.needs.length === 1 ? 'needs' : 'need'} you, ${groups.risk.length} at risk, ${groups.close.length} to close, ${groups.next.length} coming next, ${groups.board.length} off the session count.`;

/** How much of the fleet the board can see at all. */
export function coverageOf(board) {
  const { rows, payload } = board;
  const ends = payload.ends_observable !== false;
  const waiting = rows.filter((r) => r.blocked);
  const counts = new Map();
  for (const r of rows) counts.set(r.harness, (counts.get(r.harness) ?? 0) + 1);
  return {
    line: `${rows.filter((r) => r.blockKnown).length} of ${rows.length} sessions report block state; ${many(rows.filter((r) => r.ended).length, 'observed end')}.`,
    harnesses: board.harnesses.filter((h) => h.discovered).map((h) => ({
      key: h.key, label: h.label, n: counts.get(h.key) ?? 0, waits: h.reportsWaits ? `reports needs input${h.waitsWhen ? `: ${h.waitsWhen}` : ''}` : 'does not report needs input',
      rate: h.reportsRate ? 'reports its token rate' : 'reports no token rate', error: h.error,
    })),
    ends: ends ? `${many(rows.filter((r) => r.finishedAt !== null && !r.ended).length, 'stop')} and ${many(rows.filter((r) => r.ended).length, 'end')} observed. A session without an observed end is not known to be running.` : 'The event lane is off for this run: no stop and no end can be observed.',
    waiting: waiting.length, reachable: waiting.filter((r) => r.focusable).length,
  };
}

