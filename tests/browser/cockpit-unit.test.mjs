// Rules of Projects and the cockpit that need no browser: grouping, order, plans, the timeline, delegation, stage conditions.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as m from '../../static/model.js';
import * as p from '../../static/project.js';
import * as flow from '../../static/flow.js';
import { book, observe } from '../../static/ledger.js';
import { busy, hostileProject, record, tripwires } from './cockpit-scenes.mjs';
import { broken, payload, row, task } from './payloads.mjs';

process.env.TZ = 'UTC';
const NOW = 1_790_000_000;
const is = assert.deepEqual;
const clone = (v) => JSON.parse(JSON.stringify(v));
const board = (rows, more) => m.boardOf(clone(payload(NOW, rows, more)));
const all = () => true;
const step = (sid, state, ago, project = 'acme/shop') => ({ harness: 'claude', sid, project, state, last_activity: NOW - ago });
const made = (history, more = {}) => ({ history, begun: NOW, last: NOW, kept: [], shares: new Map(), ...more });

test('UI-150 projects are grouped by exact label, ranked, and the unlabelled ones come last', () => {
  const of = (label, state, more = {}) => row('claude', label + state + (more.n ?? ''), { project: label, state, ...more });
  const b = board([of('z/work', 'working'), of('a/work', 'working'), of('m/risk', 'idle', { finished_at: NOW, dirty: true }), of('m/risk', 'working'), of('y/wait', 'needs_input'), of('', 'needs_input'), of('q/quiet', 'idle'), of('B/quiet', 'idle'), of('Y/wait', 'idle')]);
  const { active, recent } = p.projectsOf(b);
  is(active.map((x) => x.label), ['y/wait', 'm/risk', 'a/work', 'z/work', '']);
  is(recent.map((x) => x.label), ['B/quiet', 'Y/wait', 'q/quiet']);
});

test('UI-151 a count line leaves zero parts out and members keep every blocked and working one', () => {
  const rows = board([row('claude', 'e', { ended_at: NOW - 5 }), row('claude', 'o', { state: 'odd' }), ...[0, 1, 2].map((i) => row('claude', `q${i}`, { last_activity: NOW - 100 + i })), ...[0, 1, 2, 3].map((i) => row('claude', `w${i}`, { state: 'working' })), row('claude', 'n1', { state: 'needs_input' }), row('claude', 'n2', { state: 'needs_input' })]).rows;
  assert.equal(p.countLine(rows), '11 sessions · 4 working · 2 waiting on you · 1 ended · 3 quiet · 1 in no counted state');
  assert.equal(p.countLine(rows.slice(0, 1)), '1 session · 1 ended');
  is(p.members(rows).map((r) => r.sid), ['n1', 'n2', 'w0', 'w1', 'w2', 'w3', 'q2', 'q1', 'q0', 'o', 'e']);
  is([p.shownMembers({ list: p.members(rows) }).shown.length, p.shownMembers({ list: p.members(rows) }).rest], [6, 5]);
});

test('UI-153 the rail ranks by state, then harness, then key, and marks look-alikes', () => {
  const rows = board([row('codex', 'i', { title: 'A' }), row('claude', 'x', { ended_at: NOW, title: 'A' }), row('claude', 'n', { state: 'needs_input' }), row('claude', 'w2', { state: 'working', title: 'T' }), row('claude', 'w1', { state: 'working', title: 'T' })]).rows;
  const scope = p.scopeOf(rows);
  is(scope.list.map((x) => [x.row.sid, x.twin]), [['w1', true], ['w2', true], ['n', false], ['i', false], ['x', false]]);
  assert.equal(scope.harness, null);
  assert.equal(p.scopeOf(rows.filter((r) => r.harness === 'claude')).harness, 'Claude');
});

test('UI-158 plans merge by name, keep first-seen stages, prefer the live copy, and say what is stalled', () => {
  const dock = (entities, stages = ['intake', 'build']) => ({ role: 'first-officer', workflows: [{ workflow: 'one', goal: 'G', stages, entities }] });
  const rows = board([
    row('claude', 'a', { state: 'working', last_activity: NOW - 10, spacedock: dock([{ slug: 'case-1', stage: 'intake', cycle: '', live: false }, { slug: 'case-2', stage: 'build', live: false }]) }),
    row('claude', 'b', { state: 'working', last_activity: NOW - 700, spacedock: dock([{ slug: 'case-1', stage: 'build', cycle: 'c2', live: true }], ['build', 'done']) }),
    row('claude', 'c', { state: 'needs_input', spacedock: dock([{ slug: 'case-3', stage: 'done', live: false }]) }),
  ]).rows;
  const [plan] = p.plansOf(rows, [{ workflow: 'one', entities: [{ slug: 'case-2', source_written_at: NOW - 601 }] }], NOW);
  is(plan.stages, ['intake', 'build', 'done']);
  is(plan.entities.map((e) => [e.slug, e.stage, e.live, e.late]), [['case-1', 'build', true, 'stalled 11m'], ['case-2', 'build', false, 'stalled 10m'], ['case-3', 'done', false, 'blocked on you']]);
});

test('UI-158 CTX-012 CTX-037 workflows that the project itself declares stand beside those a session publishes, merged by name', () => {
  const rows = board([row('claude', 'a', { spacedock: { role: 'first-officer', workflows: [{ workflow: 'one', goal: '', stages: ['intake'], entities: [{ slug: 'case-1', stage: 'intake', live: true }] }] } })]).rows;
  const body = { workflow_discovery: { state: 'observed', workflows: [{ workflow: 'one', goal: 'Ship', stages: ['intake', 'done'], definition: 'read' }, { workflow: 'two', goal: 'Tidy', stages: ['x'] }, 7, { workflow: 5 }] } };
  is(p.plansOf(rows, [], NOW, body).map((x) => [x.workflow, x.goal, x.stages, x.entities.length]), [['one', 'Ship', ['intake', 'done'], 1], ['two', 'Tidy', ['x'], 0]]);
  for (const odd of [null, {}, { workflow_discovery: 4 }, { workflow_discovery: { workflows: {} } }]) is(p.plansOf([], [], NOW, odd), []);
});

test('UI-166 UI-168 cards for every source and, on Projects, for rules whose source vanished', () => {
  const trip = { tripwires: tripwires(NOW) };
  is(p.conditionsOf(trip).cards.map((c) => [c.source?.workflow ?? null, c.rule?.workflow ?? null]), [['tables', 'tables'], ['docs', null], ['billing', null], [null, 'gone']]);
  is(p.conditionsOf(trip, new Set(['claude:9a8b7c6d'])).cards.map((c) => c.source.workflow), ['docs']);
  for (const off of [undefined, 3, null, { enabled: false, sources: [{ id: 'x' }], rules: [] }]) is(p.conditionsOf({ tripwires: off }), { off: true, error: null, suspended: false, cards: [] });
  is(p.conditionsOf({ tripwires: { enabled: true, source_enabled: false, error: 'Untrusted.', sources: [], rules: [] } }), { off: false, error: 'Untrusted.', suspended: true, cards: [] });
});

test('UI-159 decisions are counted by what became of them', () => {
  const { list, sum } = p.decisionsOf(record(NOW));
  is(sum, { pending: 1, unknown: 1, superseded: 0, applied: 1 });
  is(list.map((d) => d.state), ['applied', 'pending', 'application state unknown']);
  is(p.decisionsOf(null).list, []);
});

test('UI-154 direction, evidence and derived goals name their source, and fall back on the rows', () => {
  const rows = m.boardOf(clone(busy(NOW))).rows.filter((r) => r.project === 'acme/shop');
  is([p.directionOf(rows, record(NOW)).source, p.evidenceOf(rows, record(NOW)).label], ['timestamped non-meta user-role record', 'check run']);
  assert.match(p.directionOf(rows, null).source, /published as the request of Fix checkout totals/);
  assert.equal(p.evidenceOf(rows, null).text, 'Stop observed; git state clean');
  is(p.derivedGoals(rows, record(NOW)).map((g) => [g.text, g.at]), [['Move the session table to the new store', NOW - 240]]);
  is(p.derivedGoals(rows, null).map((g) => [g.text, /currentness has not been checked/.test(g.source)]), [['Move sessions to the new table', true]]);
  is([p.directionOf([], null), p.evidenceOf([], null)], [null, null]);
});

test('UI-165 the copied briefing says everything, absences too', () => {
  const b = m.boardOf(clone(busy(NOW)));
  const rows = b.rows.filter((r) => r.project === 'acme/shop');
  const text = p.briefing({ project: 'acme/shop', rows, focus: null, body: record(NOW), board: b });
  for (const words of ['Project: acme/shop', 'Scope: whole project', 'case-9 at review', 'Your words for Fix checkout totals: Ship the retry queue', 'Latest direction, 21m ago', 'Run the migration', '  - planner, stopped', 'cargo test: 41 passed', 'hold at review, pending', '1 session waiting on you', 'all final answers scanned']) assert.ok(text.includes(words), words);
  const bare = p.briefing({ project: 'x', rows: rows.slice(2), focus: null, body: null, board: b });
  for (const words of ['No exact direction', 'None working or waiting', 'The observed record was not read', 'were not scanned']) assert.ok(bare.includes(words), `${words}\n${bare}`);
});

// ---- time

test('UI-170 a first record is where it stood, a last one opens no span', () => {
  const b = made([step('a', 'working', 500), step('a', 'working', 450), step('a', 'idle', 300), step('b', 'idle', 200)]);
  is(flow.changesOf(b, all).map((e) => [e.at - NOW, e.words]), [[-300, 'became idle']]);
  const rows = board([row('claude', 'a', { title: 'A' })]).rows;
  is(flow.lanesOf(b, rows, all)[0].blocks.map((x) => [x.state, x.from - NOW, x.to - NOW]), [['working', -500, -450], ['working', -450, -300]]);
  is(flow.windowOf(b, all), { from: NOW - 500, to: NOW, stored: true });
  is([flow.windowOf(made(null), all), flow.windowOf(made([], { last: null }), all)], [null, null]);
});

test('UI-172 UI-173 words, whose turn it was, and what a filter shows', () => {
  const b = made([step('a', 'working', 900), step('a', 'needs_input', 800), step('a', 'idle', 700), step('a', 'working', 660), step('a', 'idle', 500), step('a', 'working', 300)]);
  const list = flow.changesOf(b, all);
  is(list.map((e) => [e.words, e.turn, e.yours]), [['agent resumed', true, true], ['became idle', false, false], ['agent resumed', false, false], ['became idle', true, true], ['needs input', false, true]]);
  is(flow.filtered(list, 'active').map((e) => e.words), ['agent resumed', 'agent resumed', 'needs input']);
  assert.equal(flow.filtered(list, 'all').length, 5);
});

test('UI-174 the share of observed time that ran without the reader', () => {
  const d = (history, more) => flow.delegationOf(made(history, more), 'acme/shop', all);
  assert.equal(d([step('a', 'working', 599), step('a', 'idle', 0)]).pct, null);
  const one = d([step('a', 'working', 1000), step('a', 'idle', 500), step('b', 'needs_input', 600), step('b', 'idle', 300)]);
  is([one.all, one.pct, one.rate, one.trend], [700, 57, null, null]);
  const shares = new Map([['acme/shop', [{ from: NOW, to: NOW + 600, alone: true, tokens: 4000, measured: 600 }, { from: NOW + 600, to: NOW + 1200, alone: false, tokens: 9, measured: 9 }]]]);
  const live = d(null, { last: NOW + 1200, shares });
  is([live.pct, Math.round(live.rate)], [50, 400]);
  const h = 3600;
  is(d([step('a', 'working', 13 * h), step('a', 'needs_input', 9 * h), step('a', 'working', 6 * h), step('a', 'idle', 0)]).trend, 50);
  assert.equal(d([step('a', 'working', 11 * h), step('a', 'idle', 0)]).trend, null, 'two full spans only');
  assert.equal(d(null, { last: null }), null);
});

test('UI-170 newer payloads of this tab add changes, stops and questions; a replayed one adds nothing', () => {
  const scene = (at, more, top = {}) => m.boardOf(clone(payload(at, [row('claude', 'tab00001', { project: 'tab', title: 'T', ...more })], top)));
  observe(scene(NOW, { state: 'working', rate_per_min: 60 }, { history: [step('tab00001', 'working', 50, 'tab')] }));
  observe(scene(NOW, { state: 'idle' }));
  is(book.kept.map((e) => e.kind), ['first']);
  observe(scene(NOW + 60, { state: 'idle', finished_at: NOW + 59 }));
  observe(scene(NOW + 70, { state: 'working' }));
  const ask = { asks: [{ id: 'q1', harness: 'claude', session_id: 'tab00001', question: 'Which?', options: ['a'], age_sec: 1 }] };
  observe(scene(NOW + 80, { state: 'working' }, ask));
  observe(scene(NOW + 90, { state: 'working' }, ask));
  observe(scene(NOW + 95, { state: 'idle', ended_at: NOW + 94 }));
  observe(m.boardOf(clone(payload(NOW + 99, []))));
  is(book.kept.map((e) => [e.kind, e.at - NOW]), [['first', 0], ['stop', 60], ['state', 70], ['draw', 80], ['ask', 80], ['state', 95], ['gone', 95]]);
  is(flow.changesOf(book, all).map((e) => e.words), ['session ended', 'Which?', 'agent resumed', 'turn stopped']);
  is(book.shares.get('tab').map((s) => [s.from - NOW, s.to - NOW, s.alone, s.tokens]), [[0, 60, true, 60], [70, 80, true, 0], [80, 95, false, 0]]);
  assert.equal(book.history.length, 1);
});

test('UI-011 wrong types and hostile text throw nowhere', () => {
  const { board: bad, body } = hostileProject(NOW);
  for (const scene of [bad, broken(NOW)]) {
    const b = m.boardOf(clone(scene));
    p.projectsOf(b);
    p.scopeOf(b.rows);
    p.plansOf(b.rows, [{ entities: 7 }, { workflow: 4, entities: [{ slug: 5 }] }], b.generated);
    p.conditionsOf(b.payload);
    p.completed(b.rows);
    const odd = made(b.payload.history);
    flow.changesOf(odd, all);
    flow.lanesOf(odd, b.rows, all);
    flow.delegationOf(odd, 'x', all);
    for (const reply of [null, body, { semantic: 3, events: 'x', observers: {} }, { semantic: { facts: [1, null, { type: 'gate_decision' }], history: 4, projections: [] } }]) {
      p.decisionsOf(reply);
      p.openRequests(reply);
      p.briefing({ project: 'x', rows: b.rows, focus: b.rows[0] ?? null, body: reply, board: b });
    }
  }
  assert.equal(p.completed(board([row('claude', 'a', { tasks: [task('x', 'completed'), task('y', 'pending')] })]).rows).length, 1);
});
