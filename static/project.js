// What a project's pages draw, worked out from the board. Pure: no DOM, no clock, no storage. Sessions belong together by the
// exact label they publish and by nothing else; two directories may share a label, and the page says so where it matters.
import { age, many } from './format.js';
import { moment, objects, str, strings } from './model.js';

const less = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** Members of a project row that stand open; blocked and working ones always do. */
export const SHOWN = 5;

const rankOf = (r) => (r.blocked ? 0 : r.working ? 1 : r.quiet ? 2 : r.ended ? 4 : 3);

/** Blocked, working, quiet by newest activity, no counted state, ended. */
export function members(rows) {
  return rows.map((row, i) => ({ row, i })).sort((a, b) => {
    const rank = rankOf(a.row) - rankOf(b.row);
    if (rank) return rank;
    const quiet = a.row.quiet && b.row.quiet ? (b.row.lastActivity ?? 0) - (a.row.lastActivity ?? 0) : 0;
    return quiet || a.i - b.i;
  }).map((x) => x.row);
}

/** Something a reader would want to look at that is no wait: uncommitted work at an end, a loop, a long turn. */
export const atRisk = (r) => r.outcome?.tone === 'bad' || r.loop !== null || r.long;

function counts(rows) {
  const of = (test) => rows.filter(test).length;
  return {
    working: of((r) => r.working && !r.blocked), waiting: of((r) => r.blocked), ended: of((r) => r.ended), quiet: of((r) => r.quiet && !r.blocked),
    other: of((r) => r.state === 'unknown' && !r.blocked),
  };
}

/** `4 sessions · 2 working · 1 waiting on you`; parts that are zero are left out. */
export function countLine(rows) {
  const n = counts(rows);
  const parts = [[n.working, 'working'], [n.waiting, 'waiting on you'], [n.ended, 'ended'], [n.quiet, 'quiet'], [n.other, 'in no counted state']];
  return [many(rows.length, 'session'), ...parts.filter(([k]) => k > 0).map(([k, word]) => `${k} ${word}`)].join(' · ');
}

function projectOf(label, rows) {
  const open = rows.some((r) => r.active);
  return {
    label, rows, open, list: members(rows), rank: rows.some((r) => r.blocked) ? 0 : rows.some(atRisk) ? 1 : rows.some((r) => r.working) ? 2 : 3,
    done: rows.reduce((n, r) => n + r.tasks.done, 0), total: rows.reduce((n, r) => n + r.tasks.total, 0),
  };
}

/** Every label of the board as `{active, recent}`, each in its order; sessions without a label come last. */
export function projectsOf(board) {
  const groups = new Map();
  for (const r of board.rows) {
    if (!groups.has(r.project)) groups.set(r.project, []);
    groups.get(r.project).push(r);
  }
  const all = [...groups].map(([label, rows]) => projectOf(label, rows))
    .sort((a, b) => Number(a.label === '') - Number(b.label === '') || a.rank - b.rank || less(a.label, b.label));
  return { active: all.filter((p) => p.open), recent: all.filter((p) => !p.open) };
}

/** The members drawn at once, and how many are left. */
export function shownMembers(project) {
  const must = project.list.filter((r) => r.blocked || r.working).length;
  const shown = project.list.slice(0, Math.max(SHOWN, must));
  return { shown, rest: project.list.length - shown.length };
}

const SCOPE_RANK = { working: 0, needs_input: 1, idle: 2 };

/** The sessions of a project as the rail lists them: `{harness, list: [{row, twin}]}`; `harness` is the one all share, or null. */
export function scopeOf(rows) {
  const seen = new Map();
  const look = (r) => JSON.stringify([r.harness, r.state, r.title]);
  for (const r of rows) seen.set(look(r), (seen.get(look(r)) ?? 0) + 1);
  const list = [...rows].sort((a, b) => (SCOPE_RANK[a.state] ?? 3) - (SCOPE_RANK[b.state] ?? 3) || less(a.harness, b.harness) || less(a.key, b.key))
    .map((row) => ({ row, twin: seen.get(look(row)) > 1 }));
  return { harness: rows.length && rows.every((r) => r.harness === rows[0].harness) ? rows[0].harnessLabel : null, list };
}

/** The time the rail shows beside a state. */
export const scopeTime = (r) => (r.blocked ? r.waitSince : r.ended ? r.endedAt : r.lastActivity);

const STALLED = 600;

/**
 * The plans of a project: one for each workflow name, stages in the order they were first seen, each entity once (its live
 * copy wins). An entity carries `late`: `blocked on you`, `stalled <time>`, or null. `body` adds what the project's own
 * workflow files declare.
 */
export function plansOf(rows, sources, generated, body = null) {
  const written = new Map();
  for (const s of sources) for (const e of objects(s.entities)) written.set(`${str(s.workflow)}\n${str(e.slug)}`, moment(e.source_written_at));
  const plans = new Map();
  const plan = (w) => {
    const name = str(w.workflow);
    if (!plans.has(name)) plans.set(name, { workflow: name, goal: '', stages: [], entities: new Map() });
    const p = plans.get(name);
    p.goal ||= str(w.goal);
    for (const stage of strings(w.stages)) if (!p.stages.includes(stage)) p.stages.push(stage);
    return p;
  };
  for (const row of rows) {
    for (const w of row.workflows) {
      const { entities } = plan(w);
      for (const e of objects(w.entities)) {
        const slug = str(e.slug);
        const old = entities.get(slug);
        if (!slug || (old && (old.live || e.live !== true))) continue;
        const live = e.live === true;
        const moved = live ? row.lastActivity : written.get(`${str(w.workflow)}\n${slug}`) ?? row.lastActivity;
        const still = moved !== null && generated !== null ? generated - moved : null;
        const late = row.blocked ? 'blocked on you' : still >= STALLED ? `stalled ${age(generated, moved)}` : null;
        entities.set(slug, { slug, stage: str(e.stage), cycle: str(e.cycle), live, late });
      }
    }
  }
  for (const w of objects(body?.workflow_discovery?.workflows)) if (str(w.workflow)) plan(w);
  return [...plans.values()].map((p) => ({ ...p, entities: [...p.entities.values()] }));
}

/** Tasks that are done, in payload order. */
export const completed = (rows) => rows.flatMap((row) => row.tasks.list.filter((t) => t.status === 'completed').map((task) => ({ task, row })));

// ---- stage conditions

/**
 * The cards of stage conditions: `{off, error, suspended, cards}`. `keys` limits them to sources that one of these sessions
 * observes; without it every source is there, and every rule whose source is gone.
 */
export function conditionsOf(payload, keys = null) {
  const trip = payload.tripwires;
  if (!trip || typeof trip !== 'object' || trip.enabled !== true) return { off: true, error: null, suspended: false, cards: [] };
  const rules = new Map(objects(trip.rules).map((r) => [str(r.id), r]));
  const ours = (s) => objects(s.sessions).some((x) => keys.has(`${str(x.harness)}:${str(x.sid)}`));
  const sources = objects(trip.sources).filter((s) => str(s.id));
  const cards = sources.filter((s) => keys === null || ours(s)).map((source) => ({ id: source.id, source, rule: rules.get(source.id) ?? null }));
  const known = new Set(sources.map((s) => s.id));
  if (keys === null) for (const [id, rule] of rules) if (id && !known.has(id)) cards.push({ id, source: null, rule });
  return { off: false, error: str(trip.error) || null, suspended: trip.source_enabled === false, cards };
}

// ---- the observed record, as far as it was read

/** Decisions on record, newest first as published, and how many stand in each state. */
export function decisionsOf(body) {
  const facts = objects(body?.semantic?.facts).filter((f) => f.type === 'gate_decision');
  const sum = { pending: 0, unknown: 0, superseded: 0, applied: 0 };
  const list = facts.map((f) => {
    const state = str(f.application_state).slice(0, 40);
    const kind = state === 'pending' || state === 'superseded' ? state : state === 'consumed' || state === 'applied' ? 'applied' : 'unknown';
    sum[kind] += 1;
    return {
      id: str(f.fact_id), at: moment(f.at), text: str(f.decision) || str(f.summary), what: str(f.summary), by: str(f.by) || str(f.actor_claim), stage: str(f.stage), target: str(f.target_stage),
      state: state || 'application state unknown', kind, source: str(f.evidence?.source),
    };
  });
  return { list, sum };
}

/** The newest direction the person gave: from the record when it was read, else what a row publishes; null when there is none. */
export function directionOf(rows, body) {
  const steer = objects(body?.events).find((e) => e.kind === 'steer' && str(e.title));
  if (steer) return { text: steer.title, at: moment(steer.at), source: str(steer.source) || 'the record did not name its source', exact: true };
  const asked = rows.filter((r) => r.instruction?.label === 'asked').sort((a, b) => (b.instruction.at ?? 0) - (a.instruction.at ?? 0))[0];
  return asked ? { text: asked.instruction.text, at: asked.instruction.at, source: `what ${asked.harnessLabel} published as the request of ${asked.title || asked.session}`, exact: true } : null;
}

const EVIDENCE = {
  prepared_dispatch: 'dispatch prepared', task_started: 'task started', task_result: 'task result', outcome: 'outcome', check_run: 'check run', path_written: 'file written', gate: 'gate',
};

/** The newest thing observed that is no talk: from the record, else an end or stop that a row carries. */
export function evidenceOf(rows, body) {
  const event = objects(body?.events).find((e) => e.kind !== 'steer' && e.kind !== 'agent_say' && str(e.title));
  if (event) return { label: EVIDENCE[event.kind] ?? str(event.kind), text: event.title, at: moment(event.at), source: str(event.source) || 'the record did not name its source' };
  const ended = rows.filter((r) => r.outcome).sort((a, b) => (b.endedAt ?? b.finishedAt ?? 0) - (a.endedAt ?? a.finishedAt ?? 0))[0];
  return ended ? { label: ended.title || ended.session, text: ended.outcome.words, at: ended.endedAt ?? ended.finishedAt, source: `what ${ended.harnessLabel} reported, with the git state measured beside it` } : null;
}

/** Goals a harness record led to, one for each session read: `{key, text, at, source, model}`. */
export function derivedGoals(rows, body) {
  const byKey = new Map(rows.map((r) => [r.key, r]));
  const out = new Map();
  for (const row of rows) {
    const cached = row.raw.cached_goal;
    if (cached && str(cached.goal)) out.set(row.key, { row, text: cached.goal, at: moment(cached.observed_at), source: 'cached deterministic goal; currentness has not been checked' });
  }
  for (const o of objects(body?.observers)) {
    const row = byKey.get(`${str(o.harness)}:${str(o.sid)}`);
    const none = !str(o.goal) || /^no goal derived\.?$/i.test(o.goal);
    if (row && !none) out.set(row.key, { row, text: o.goal, at: moment(o.observed_at), source: `${str(o.source) || 'observer snapshot'}${o.goal_source === 'model' ? ', written by a model' : ''}${o.snapshot_status === 'cached-stale' ? '; the transcript has moved on since' : ''}` });
  }
  return [...out.values()];
}

/** Requests for authorization that the record holds open. */
export const openRequests = (body) => objects(body?.semantic?.projections?.command_attention).map((a) => ({ text: str(a.summary) || str(a.title) || str(a.question) || 'A request for authorization', at: moment(a.at) }));

/** The plain text of a briefing. Absences are said, as on the page. */
export function briefing({ project, rows, focus, body, board }) {
  const scope = focus ? [focus] : rows;
  const when = (t) => (t === null || board.generated === null ? 'at a time not published' : `${age(board.generated, t)} ago`);
  const name = (r) => r.title || 'Session title not published';
  const lines = [`Project: ${project}`, `Scope: ${focus ? `${name(focus)} (${focus.harnessLabel} ${focus.sid})` : 'whole project'}`, countLine(rows), ''];
  const direction = directionOf(scope, body);
  lines.push('Assignment');
  for (const p of plansOf(scope, [], board.generated)) for (const e of p.entities) lines.push(`- ${p.goal || p.workflow}: ${e.slug} at ${e.stage}${e.late ? `, ${e.late}` : ''}`);
  for (const r of scope) if (str(r.raw.annotation_goal)) lines.push(`- Your words for ${name(r)}: ${r.raw.annotation_goal}`);
  for (const g of derivedGoals(scope, body)) lines.push(`- Derived from the harness for ${name(g.row)}: ${g.text} (observed ${when(g.at)})`);
  lines.push(direction ? `- Latest direction, ${when(direction.at)}: ${direction.text}` : '- No exact direction published', '', 'Active sessions');
  const active = scope.filter((r) => r.active);
  if (!active.length) lines.push('- None working or waiting');
  for (const r of active) {
    lines.push(`- ${name(r)} (${r.harnessLabel}, ${r.blocked ? 'waiting on you' : r.state}): ${r.blocked ? r.block.text : r.now.text}`);
    for (const s of r.subagents.list) lines.push(`  - ${s.name}${s.live ? '' : ', stopped'}`);
  }
  const evidence = evidenceOf(scope, body);
  lines.push('', 'Latest result', evidence ? `- ${evidence.label}: ${evidence.text}, ${when(evidence.at)}` : '- No result observed', '', 'Decisions');
  const { list } = decisionsOf(body);
  if (!body) lines.push('- The observed record was not read');
  else if (!list.length) lines.push('- No decisions observed');
  for (const d of list.slice(0, 10)) lines.push(`- ${d.text}${d.stage ? ` at ${d.stage}` : ''}, ${d.state}, ${when(d.at)}`);
  const coverage = body?.semantic?.projections?.command_attention_coverage;
  lines.push('', 'Attention', `- ${many(rows.filter((r) => r.blocked).length, 'session')} waiting on you; ${rows.filter((r) => r.blockKnown).length} of ${rows.length} report block state`);
  lines.push(coverage && typeof coverage === 'object' ? `- Requests for authorization: ${coverage.state === 'complete' ? 'all' : 'not all'} final answers scanned` : '- Requests for authorization were not scanned');
  return lines.join('\n');
}
