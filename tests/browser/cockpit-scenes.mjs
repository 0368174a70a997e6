// Invented projects for the cockpit's tests and pictures: workflows, stage conditions, history and an observed record.
import { agent, morning, payload, row, task } from './payloads.mjs';

const hex = (c) => c.repeat(64);

/** The stage conditions of the `busy` board: one armed, one tripped, one without a rule, one rule whose source is gone. */
export function tripwires(now) {
  const entity = (slug, stage, ago) => ({ slug, stage, source: 'entity-state', source_written_at: now - ago, observed_at: now });
  const sessions = [{ harness: 'claude', sid: '5be0c111', label: 'Move the session table' }];
  const source = (id, workflow, more) => ({ id: hex(id), workflow, goal: '', stages: ['intake', 'build', 'review', 'done'], generation: 'g1', entities: [], evaluated: 2, partial: false, sessions, ambiguous: false, ...more });
  const rule = (id, workflow, stage, more) => ({ id: hex(id), workflow, stage, revision: id.repeat(32), state: 'armed', saved_at: now - 4000, trip: null, why: 'A baseline is recorded; the next entry into the stage trips it.', available: true, evaluated: 2, partial: false, event_id: '', delivery_why: '', ...more });
  return {
    enabled: true, source_enabled: true, error: '',
    sources: [source('a', 'tables', { goal: 'Move every table to the new store', entities: [entity('case-7', 'build', 900), entity('case-9', 'review', 60)] }), source('b', 'docs', { sessions: [{ harness: 'claude', sid: '9a8b7c6d', label: 'Tidy the changelog' }] }), source('c', 'billing', { ambiguous: true, sessions: [] })],
    rules: [rule('a', 'tables', 'review', { state: 'tripped', trip: { slug: 'case-9', before: 'build', stage: 'review', before_observed_at: now - 90, observed_at: now - 60, source_written_at: now - 70 }, why: 'A change was observed.', event_id: 'x:y', delivery_why: 'The notification service accepted it.' }), rule('d', 'gone', 'done', { available: false, evaluated: null, partial: true, why: 'Its source is unavailable; it is suspended.' })],
  };
}

/** `morning` with two workflows in acme/shop, stage conditions and three hours of history. */
export function busy(now) {
  const board = morning(now);
  const table = board.sessions.find((s) => s.sid === '5be0c111');
  table.spacedock = { role: 'first-officer', workflows: [{ workflow: 'tables', goal: 'Move every table to the new store', stages: ['intake', 'build', 'review', 'done'], entities: [{ slug: 'case-7', stage: 'build', cycle: 'c2', live: false }, { slug: 'case-9', stage: 'review', cycle: '', live: true }] }] };
  table.cached_goal = { goal: 'Move sessions to the new table', source: 'deterministic', observed_at: now - 7200 };
  table.annotation_goal = 'Every reader on the new store by tonight';
  table.annotation_line_1 = 'no reader of the old table is left';
  const step = (harness, sid, state, ago) => ({ harness, sid, project: 'acme/shop', state, last_activity: now - ago, annotation_goal: '', annotation_output: '', annotation_revision: null });
  return {
    ...board, tripwires: tripwires(now), browser_lane: true, observer_model: true,
    history: [
      step('claude', '27d10654', 'working', 11000), step('claude', '27d10654', 'needs_input', 8000), step('claude', '27d10654', 'working', 7400), step('claude', '27d10654', 'idle', 5200), step('claude', '27d10654', 'working', 4000), step('claude', '27d10654', 'needs_input', 860),
      step('claude', '5be0c111', 'working', 9000), step('claude', '5be0c111', 'idle', 3000), step('claude', '5be0c111', 'working', 1300),
      step('claude', 'departed', 'working', 10000), step('claude', 'departed', 'idle', 9500), step('codex', '0199aaaa-7a11-7e02-9c55-0a6f3b1d2e4f', 'working', 7000), step('codex', '0199aaaa-7a11-7e02-9c55-0a6f3b1d2e4f', 'idle', 5400),
    ],
  };
}

/** A reply of `/api/project-context` with something under every heading. */
export function record(now, more = {}) {
  const from = (sid = '5be0c111') => ({ harness: 'claude', sid });
  const decision = (id, text, state, ago, extra) => ({ fact_id: `fact:${id}`, at: now - ago, type: 'gate_decision', source_kind: 'gate', summary: `${text} case-${id}`, decision: text, by: 'captain', stage: 'review', application_state: state, evidence: { source: 'entity frontmatter', confidence: 'exact' }, ...extra });
  return {
    project: 'acme/shop', focus: null, observer_model: { enabled: true, max_prompt_bytes: 16384, disclosure: 'A summary reads the newest part of this session and sends at most 16,384 bytes to the model you installed.' },
    observers: [{ ...from(), goal: 'Move the session table to the new store', deterministic_goal: 'Move the session table', goal_source: 'deterministic', stage: '', block: '', reason: '', model: { status: 'not-run' }, observed_at: now - 240, snapshot_status: 'cached', source: 'cached observer snapshot' }],
    events: [
      { at: now - 200, kind: 'agent_say', phase: 'x', title: 'I copied the rows.', source: 'assistant record', ...from() },
      { at: now - 400, kind: 'check_run', phase: 'x', title: 'cargo test: 41 passed', source: 'tool report in the transcript', ...from() },
      { at: now - 1300, kind: 'steer', phase: 'user-role instruction', title: 'Move the sessions over, one table at a time', source: 'timestamped non-meta user-role record', ...from(), intent_promotable: true },
    ],
    semantic: {
      facts: [decision('7', 'approve', 'applied', 500), decision('9', 'hold', 'pending', 900), decision('11', 'approve', null, 4000)], work_items: [], contributors: [], relations: [],
      projections: { command_attention: [{ summary: 'Push needs a separate authorization', at: now - 700 }], command_attention_coverage: { state: 'complete', scanned: 4, total: 4, omitted: 0, source: 'final outputs' } },
      history: { event_count: 2, window_sec: 86400, cursors: {}, persisted: true, events: [{ event_id: 'e1', event_type: 'operator_direction', at: now - 1300, source_identity: 'claude:5be0c111', source_ref: 'e1', work_binding: null, summary: 'Move the sessions over, one table at a time' }, { event_id: 'e2', event_type: 'final_output', at: now - 5400, source_identity: 'codex:0199aaaa', source_ref: 'e2', work_binding: null, summary: 'The limiter counts per key now.' }] },
    },
    workflow_discovery: { state: 'observed', source: 'spacedock status --discover', workflows: [] }, child_assignments: [], prompt_choices: [],
    sources: { scope: 'selected project', surrounding_active: 2, observer: { live: 1, unavailable: [], omitted: [] }, gate: {}, steer: {}, work: {} }, ...more,
  };
}

/** Text made to break the cockpit, in every place of a payload and a record it reads. */
export function hostileProject(now) {
  const bad = ['<img src=x onerror=alert(1)>', '"><script>alert(1)</script>', '\u202egnp.exe\u202c evil', 'x'.repeat(3000), '\ud800 lone', 'مرحبا بالعالم'];
  const label = '<b>acme</b>/:%\u202eshop';
  const sessions = bad.map((text, i) => row('claude', `0000000${i}`, {
    title: text, project: label, state: ['needs_input', 'working', 'idle'][i % 3], state_detail: text, last_activity: now - i * 60, blocked_since: now - 60, finished_at: i % 3 === 2 ? now - 60 : null, dirty: true, changed: 2,
    instruction: { label: 'asked', text: `do ${text}`, at: now - 99 }, subagents: [agent(text), agent('child', { parent: text })], tasks: [task(text, 'completed'), task(text, 'pending')], annotation_goal: text, annotation_line_1: text, cached_goal: { goal: text, source: 'deterministic', observed_at: 'x' },
    spacedock: { role: 'ensign', workflows: [{ workflow: text, goal: text, stages: [text, 'two'], entities: [{ slug: text, stage: text, cycle: text, live: true }, null, 7] }] },
  }));
  const board = payload(now, sessions, { history: [null, { harness: '<b>', sid: bad[0], project: label, state: bad[1], last_activity: now - 50 }, { harness: '<b>', sid: bad[0], project: label, state: 'working', last_activity: now - 40 }] });
  board.tripwires = { enabled: true, source_enabled: true, error: bad[0], sources: [{ id: bad[0], workflow: bad[1], goal: bad[2], stages: [bad[3], bad[0]], sessions: [{ harness: 'claude', sid: '00000000', label: bad[0] }, null], entities: 7 }], rules: [{ id: bad[0], workflow: bad[0], stage: bad[1], state: 'tripped', trip: { slug: bad[0] }, why: bad[0], delivery_why: bad[1] }] };
  const body = record(now);
  body.events = [...bad.map((title) => ({ at: 'x', kind: title, title, source: title })), null, 7];
  body.semantic.facts = bad.map((t) => ({ type: 'gate_decision', decision: t, summary: t, by: t, stage: t, application_state: t, at: {} }));
  body.semantic.history.events = bad.map((t) => ({ event_type: t, summary: t, source_identity: t }));
  body.semantic.projections.command_attention = bad.map((t) => ({ summary: t }));
  body.child_assignments = bad.map((t) => ({ name: t, assignment: t, confidence: t }));
  body.sources.observer = { unavailable: bad.map((t) => ({ harness: t, sid: t, reason: t })), omitted: 'x' };
  return { label, board, body };
}

/** Opens a place of the cockpit on a board and, with a `context`, waits until the project's record was read. */
export async function openCockpit(r, place, body, context) {
  await r.open(place, body, context ? { '/api/project-context': context } : {});
  if (context) await r.page.waitForFunction(() => !document.querySelector('#cockpit-tab-decisions')?.textContent.includes('…'));
}
