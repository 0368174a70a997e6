// Rules that need no browser: formatting, routes, derivation, capacity, layout.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as f from '../../static/format.js';
import * as r from '../../static/route.js';
import * as m from '../../static/model.js';
import * as cap from '../../static/capacity.js';
import { sentence } from '../../static/degrades.js';
import * as lay from '../../static/layout.js';
import { STATIC } from './fake.mjs';
import { agent, broken, crowd, harnesses, hostile, morning, payload, row, task } from './payloads.mjs';

process.env.TZ = 'UTC';
const NOW = 1_790_000_000;
const is = assert.deepEqual;
const clone = (v) => JSON.parse(JSON.stringify(v));
const board = (rows, more) => m.boardOf(clone(payload(NOW, rows, more)));
const one = (harness, more, top) => board([row(harness, 'abcdef12', more)], top).rows[0];

// ---- formatting

test('UI-060 durations', () => {
  for (const [s, t] of [[0, '0s'], [59, '59s'], [59.9, '59s'], [60, '1m'], [3599, '59m'], [3600, '1h 0m'], [86399, '23h 59m'], [86400, '1d 0h'], [90061, '1d 1h'], [-1, null], [NaN, null], [Infinity, null], ['5', null], [null, null]]) assert.equal(f.duration(s), t, String(s));
});

test('UI-061 ages are against the payload and absent when unknown', () => {
  for (const [t, want] of [[NOW - 240, '4m'], [NOW + 9, '0s'], [0, null], [-5, null], [null, null], ['x', null]]) assert.equal(f.age(NOW, t), want);
});

test('UI-062 wall clock', () => {
  const at = Date.UTC(2026, 8, 22, 14, 2) / 1000;
  assert.equal(f.clock(at, at + 60), '14:02');
  assert.equal(f.clock(at + 2 * 86400, at), 'Thu 14:02');
  assert.equal(f.clock(at + 8 * 86400, at), 'Sep 30');
  assert.equal(f.clock(at - 2 * 86400, at), 'Sep 20');
  assert.equal(f.clock(0, at), null);
});

test('UI-063 rates', () => {
  is([f.rate(412), f.rate(1788.4), f.rate(1788, true), f.rate(0), f.rate(null), f.rate(NaN)], ['412/m', '1,788/m', '≥ 1,788/m', '0/m', null, null]);
});

test('UI-064 tokens', () => {
  is([0, 999, 1000, 12345, 999_949, 999_950, 1_250_000, null, -1].map(f.tokens), ['0', '999', '1.0k', '12.3k', '999.9k', '1.0M', '1.3M', null, null]);
  is([f.tokenLine(true, 3120, 90211), f.tokenLine(false, 3120, 90211), f.tokenLine(true, null, 5), f.tokenLine(false, 0, null), f.tokenLine(true, null, null)],
    ['3.1k output tokens this turn', '90.2k output tokens this session', '5 output tokens this session', '0 output tokens this turn', null]);
});

test('UI-065 UI-066 percent, pace, observed window', () => {
  is([f.percent(33.6), f.percent(null), f.pace(1.44), f.pace(null)], ['34%', null, '1.4×', null]);
  is([41, 720, 11100, 7200, 187200, 172800, 0, null].map(f.observed), ['last 41s', 'last 12m', 'last 3h 5m', 'last 2h', 'last 2d 4h', 'last 2d', 'since this tab opened', 'since this tab opened']);
});

test('UI-067 TEXT-014 tool names', () => {
  for (const [a, b] of [['mcp__claude_ai_Linear__save_issue', 'Linear · save issue'], ['running mcp__git__log now', 'running git · log now'], ['mcp__plugin_foo_bar__x', 'foo bar · x'], ['mcp__a____', 'mcp__a____'], ['Bash', 'Bash']]) assert.equal(f.toolText(a), b);
});

test('UI-069 whose authority a row spends', () => {
  assert.equal(f.authority('pi', 'openai-codex', 'gpt-5.6-sol', ''), 'via Codex · gpt-5.6-sol');
  assert.equal(f.authority('pi', 'groq', null, ''), 'via groq');
  assert.equal(f.authority('pi', '', null, ''), null);
  assert.equal(f.authority('cursor', '', 'fast-apple-9', ''), 'fast-apple-9');
  assert.equal(f.authority('copilot', '', null, '16.61 AIU'), '16.61 AIU');
});

test('UI-071 an instruction that repeats the title', () => {
  assert.ok(f.repeatsTitle('Fix it ', 'fix it'));
  assert.ok(f.repeatsTitle('Move the session…', 'move the session table'));
  assert.ok(!f.repeatsTitle('Fix it', 'fix it now'));
  assert.ok(!f.repeatsTitle('', 'x'));
});

test('UI-132 typed text becomes one line', () => assert.equal(f.oneLine('a\r\n\tb\u202ec\u2028d'), 'a b c d'));

test('UI-176 ROW-005 resume commands', () => {
  assert.equal(f.resumeCommand('claude', '27d1-a_B'), 'claude --resume 27d1-a_B');
  assert.equal(f.resumeCommand('codex', 'x'), 'codex resume x');
  for (const id of ['--dangerously-skip-permissions', 'a b', 'x\n', 'a'.repeat(65), '', null, 7, '$(x)']) assert.equal(f.resumeCommand('claude', id), null);
  assert.equal(f.resumeCommand('pi', 'abc'), null);
});

// ---- routes

test('UI-020 UI-025 routes round trip', () => {
  const routes = [
    ...['sessions', 'projects', 'attention', 'intent'].map((view) => ({ view })),
    ...['now', 'course', 'decisions', 'console'].flatMap((tab) => [null, 'claude:x y', 'pi:a:b'].map((session) => ({ view: 'project', project: 'a:b/ç%', session, tab }))),
    { view: 'project', project: 'now', session: null, tab: 'now' },
    { view: 'session', project: 'a:b/ç%', harness: 'claude', sid: 'x y', agent: null },
    { view: 'session', project: '', harness: 'pi', sid: '~x', agent: null },
    { view: 'session', project: 'p', harness: '', sid: 'old', agent: null },
    { view: 'session', project: 'p', harness: 'claude', sid: 's', agent: 'a:1' },
  ];
  for (const route of routes) is(r.parse(r.build(route)), route, r.build(route));
});

test('UI-021 the builder leaves out what is the default', () => {
  assert.equal(r.build({ view: 'project', project: 'a/b', session: null, tab: 'now' }), '#n=project:a%2Fb');
  assert.equal(r.build({ view: 'project', project: 'a', session: 'claude:x', tab: 'course' }), '#n=project:a:claude%3Ax:course');
  is(r.parse('#n=project:a:console'), { view: 'project', project: 'a', session: null, tab: 'console' });
});

test('UI-022 the retired held-to tab', () => {
  is(r.parse('#n=project:a:claude%3Ax:held-to'), { view: 'session', project: 'a', harness: 'claude', sid: 'x', agent: null });
  is(r.parse('#n=project:a:held-to'), { view: 'project', project: 'a', session: null, tab: 'now' });
});

test('UI-023 everything else is no route', () => {
  for (const hash of ['', '#', '#sessions', '#n=', '#n=board', '#n=sessions:x', '#n=project', '#n=project:', '#n=project:a:b:bad', '#n=project:a::course', '#n=project:%zz', '#n=session:a', '#n=session:a:', '#n=session:a:b:', '#n=session:a::s', '#n=session:a:b:c:d', '#n=session:a:b:c:~', '#n=project:a:b:now:x']) assert.equal(r.parse(hash), null, hash);
});

test('a lone surrogate in a label cannot throw', () => assert.ok(r.build({ view: 'project', project: '\ud800', session: null, tab: 'now' }).startsWith('#n=project:')));

test('UI-027 document titles', () => {
  assert.equal(r.documentTitle({ view: 'intent' }, 0), 'Cargento — Intent log');
  assert.equal(r.documentTitle({ view: 'project', project: 'a/b' }, 2), '(2) a/b — Cargento');
  assert.equal(r.documentTitle({ view: 'session', project: 'a/b' }, 0, 'Fix'), 'Fix — a/b — Cargento');
});

test('UI-231 where Escape leads', () => {
  is(r.parent({ view: 'session', project: 'p', harness: 'h', sid: 's' }), { view: 'project', project: 'p', session: null, tab: 'now' });
  is(r.parent({ view: 'session', project: '', harness: 'h', sid: 's' }), { view: 'sessions' });
  is(r.parent({ view: 'project', project: 'p' }), { view: 'sessions' });
});

// ---- one session

test('UI-080 UI-081 an end outranks the state, and no end says nothing', () => {
  const ended = one('claude', { state: 'needs_input', ended_at: NOW - 5 });
  is([ended.state, ended.needs, ended.working, ended.quiet, ended.blocked, ended.active], ['ended', false, false, false, false, false]);
  is([one('claude', { state: 'idle' }).ended, one('claude', { state: 'odd' }).state], [false, 'unknown']);
});

test('UI-082 ASK-052 a question belongs to exactly one row', () => {
  const ask = (more) => ({ id: 'q', harness: 'claude', session_id: 'abcdef12-0000', project: '', question: 'Go?', options: ['a', 'b'], age_sec: 30, ...more });
  const own = (rows, a, top = {}) => { const b = board(rows, { asks: [a], ...top }); return [b.rows.map((x) => x.questions.length), b.loose.length]; };
  is(own([row('claude', 'abcdef12')], ask()), [[1], 0]);
  is(own([row('claude', 'abcdef12')], ask({ session_id: 'abcdef12' })), [[1], 0]);
  is(own([row('codex', 'abcdef12')], ask({ harness: 'codex' })), [[0], 1]);
  is(own([row('claude', 'abcdef12')], ask({ session_id: '' })), [[0], 1]);
  is(own([row('claude', 'abcdef12')], ask({ harness: 'pi' })), [[0], 1]);
  is(own([row('claude', 'abcdef12')], ask(), { ask: false }), [[0], 0]);
});

test('UI-083 UI-087 active, live, blocked, waited', () => {
  const b = board([row('claude', 'abcdef12', { state: 'working', active: true })], { asks: [{ id: 'q', harness: 'claude', session_id: 'abcdef12', question: 'Go?', options: ['a', 'b'], age_sec: 90 }] });
  const [x] = b.rows;
  is([x.active, x.live, x.blocked, x.waitSince], [true, true, true, NOW - 90]);
  is(one('claude', { state: 'working', active: false }).live, false);
  is(one('claude', { state: 'needs_input', blocked_since: NOW - 7 }).waitSince, NOW - 7);
  is(one('claude', { state: 'idle', blocked_since: NOW - 7 }).waitSince, null);
});

test('UI-084 the NOW words', () => {
  assert.equal(one('claude', { ended_at: NOW - 60 }).now.text, 'Session reported its own end');
  assert.equal(one('claude', { state: 'working', tasks: [task('Do it', 'in_progress')], state_detail: 'x' }).now.text, 'Do it');
  is(one('claude', { state: 'idle', last_activity: NOW - 60 }).now, { text: 'last active', known: true, at: NOW - 60, tail: true });
  assert.equal(one('claude', { state: 'idle' }).now.text, 'quiet');
  assert.equal(one('claude', { state: 'working', state_detail: 'thinking' }).now.text, 'thinking');
  is(one('claude', { state: 'working', state_detail: null }).now, { text: 'Activity not published', known: false });
});

test('UI-086 the BLOCKED words', () => {
  is(one('claude', { state: 'needs_input', state_detail: 'Permission' }).block, { kind: 'waiting', text: 'Permission' });
  is(one('claude', { state: 'needs_input', state_detail: '' }).block.text, 'Block reported');
  is(one('claude', { state: 'working' }).block.text, 'No reported block');
  is(one('cursor', { state: 'working', source_gaps: ['block state'] }).block.text, 'Block state could not be read');
  is(one('goose', { state: 'working' }).block.text, 'Harness does not report blocks');
});

test('UI-089 UI-090 scan-only follows the harness, gaps are named', () => {
  is([one('pi', { state: 'working' }).scanOnly, one('claude', { state: 'idle' }).scanOnly, one('pi', { state: 'idle', finished_at: NOW - 5 }).scanOnly], [true, false, false]);
  const bare = harnesses(['claude']).map(({ reports_turn_end, ...h }) => h);
  is([one('pi', { acquisition: 'scan-only' }, { harnesses: bare }).scanOnly, one('pi', { acquisition: null }, { harnesses: bare }).scanOnly], [true, false]);
  is(one('goose', { source_gaps: ['model', 3, 'token accounting'] }).gaps, ['model', 'token accounting']);
});

test('UI-091 UI-092 UI-095 the six outcomes and their tone', () => {
  const words = (more) => { const x = one('claude', more); return [x.outcome?.words, x.tone, x.git]; };
  is(words({ ended_at: NOW, dirty: true, changed: 3 }), ['Session ended with uncommitted work', 'bad', '3 changed entries']);
  is(words({ ended_at: NOW, dirty: false }), ['Session ended; git state clean', 'ok', 'Git state reported clean']);
  is(words({ ended_at: NOW }), ['Session ended; git state not measured', 'unknown', null]);
  is(words({ finished_at: NOW, dirty: true }), ['Stop observed with uncommitted work', 'bad', 'Uncommitted work observed']);
  is(words({ finished_at: NOW, dirty: false }), ['Stop observed; git state clean', 'ok', 'Git state reported clean']);
  is(words({ finished_at: NOW, changed: 0, dirty: true })[2], '0 changed entries');
  is(words({ finished_at: NOW, state: 'working' }), [undefined, 'ok', null]);
  is(words({ state: 'needs_input' })[1], 'want');
  assert.equal(one('goose', { state: 'working' }).tone, 'unknown');
});

test('UI-093 the loop note names its reading', () => {
  const text = (loop) => one('claude', { state: 'working', loop }).loop.text;
  assert.match(text({ errors: 3, failures: 3, barren: true, tool: null }), /^3 tool calls failed this turn and none succeeded/);
  assert.match(text({ errors: 3, failures: 6, barren: false, tool: 'Bash' }), /^6 tool calls failed this turn, 3 of them consecutive \(most recently Bash\)/);
  assert.match(text({ errors: 4, tool: null }), /^4 tool calls in a row came back as errors/);
});

test('UI-068 turns and their absences', () => {
  is([one('claude', { state: 'idle' }).turn.why, one('claude', { state: 'working' }).turn.why, one('cursor', { state: 'working' }).turn.why], ['No turn in progress', 'Turn bounds not published', 'Harness does not report turn bounds']);
  is([f.turnText('6m', '3m'), f.turnText('6m', null), f.turnText(null, null)], ['6m into turn · 3m estimated remaining', '6m into turn', null]);
});

test('UI-068 UI-080 an ended session has no turn in progress, whatever its state says', () => {
  for (const state of ['idle', 'working', 'needs_input']) assert.equal(one('claude', { state, ended_at: NOW - 5 }).turn.why, 'No turn in progress');
});

test('UI-094 a long turn is marked while the session waits on the reader too, and never on one at rest', () => {
  const long = (more) => one('claude', { turn: { elapsed_h: '20m', eta_h: null, pct: null, long: true }, ...more }).long;
  is([long({ state: 'working' }), long({ state: 'needs_input' }), long({ state: 'idle' }), long({ state: 'working', ended_at: NOW })], [true, true, false, false]);
});

test('UI-071 an instruction is drawn also where the goal slot shows the same prompt', () => {
  const r = one('claude', { state: 'working', title: 'Totals', instruction: { label: 'asked', text: 'rewrite the rule', at: NOW - 9 } });
  is([r.goal.text, r.line?.text], ['rewrite the rule', 'rewrite the rule']);
});

test('UI-011 UI-063 a rate below zero is no rate', () => {
  is([one('claude', { rate_per_min: -4 }).rate, one('claude', { rate_per_min: 0 }).rate], [null, 0]);
});

test('UI-011 UI-061 a time no date can name is no time', () => {
  is([m.moment(1e308), m.moment(1e16), m.moment(NOW)], [null, null, NOW]);
});

test('UI-061 UI-087 a question whose age is not known starts no wait at zero', () => {
  const asks = (...ages) => ({ ask: true, asks: ages.map((age_sec, i) => ({ id: `q${i}`, harness: 'claude', session_id: 'abcdef12', question: 'Which?', options: ['a', 'b'], age_sec })) });
  is([one('claude', {}, asks(null)).waitSince, one('claude', {}, asks(-3)).waitSince, one('claude', {}, asks('x', 40, 9)).waitSince], [null, null, NOW - 40]);
  assert.equal(one('claude', { state: 'needs_input', blocked_since: NOW - 70 }, asks(null)).waitSince, NOW - 70);
});

test('UI-084 what the harness says of a quiet row is not shown beside a question either', () => {
  const asks = { ask: true, asks: [{ id: 'q', harness: 'claude', session_id: 'abcdef12', question: 'Which?', options: ['a', 'b'], age_sec: 4 }] };
  is(one('claude', { state: 'idle', state_detail: 'awaiting your message', last_activity: NOW - 60 }, asks).now, { text: 'last active', known: true, at: NOW - 60, tail: true });
  assert.equal(one('claude', { state: 'idle', state_detail: 'Shell 3 is open' }, asks).now.text, 'Shell 3 is open');
});

test('UI-041 UI-180 ASK-041 an option keeps its place when one before it is no text', () => {
  const b = board([row('claude', 'abcdef12')], { ask: true, asks: [{ id: 'q', harness: 'claude', session_id: 'abcdef12', question: 'Which?', options: ['a', 7, 'c'], age_sec: 4 }] });
  is(b.rows[0].questions[0].options, ['a', '', 'c']);
});

test('UI-096 subagent headings', () => {
  const h = (list) => one('claude', { subagents: list }).subagents.heading;
  assert.equal(h([agent('a')]), '1 RUNNING SUBAGENT');
  assert.equal(h([agent('a', { active: true }), agent('b', { active: null }), agent('c', { active: false })]), '2 RUNNING SUBAGENTS');
  assert.equal(h([agent('a', { active: false }), agent('b', { active: false })]), '2 SUBAGENTS · NONE RUNNING');
  assert.equal(h([agent('a'), agent('b', { parent: 'a' }), agent('c', { parent: 'a', active: false })]), '1 RUNNING SUBAGENT · 1 WORKER RUNNING BENEATH');
});

test('ROW-034 a child shows its model only when it differs from a known parent', () => {
  is(one('claude', { model: 'm', subagents: [agent('a', { model: 'm' }), agent('b', { model: 'n' })] }).subagents.list.map((s) => s.model), [null, 'n']);
  is(one('claude', { model: null, subagents: [agent('b', { model: 'n' })] }).subagents.list[0].model, null);
});

test('UI-108 the goal slot', () => {
  const g = (harness, more, top) => { const { kind, label, text } = one(harness, more, top).goal; return [kind, label, text]; };
  const asked = { instruction: { label: 'asked', text: 'do this', at: NOW } };
  is(g('claude', { annotation_goal: 'Ship', annotation_goal_source: 'typed' }), ['typed', 'GOAL · YOUR WORDS', 'Ship']);
  is(g('claude', { annotation_goal: 'Ship', annotation_goal_source: 'latest-prompt' }), ['adopted', 'GOAL · FROM YOUR PROMPT', 'Ship']);
  is(g('claude', asked), ['latest-prompt', 'GOAL · YOUR LATEST PROMPT', 'do this']);
  is(g('claude', { instruction: { label: 'earlier', text: 'x', at: 1 }, first_prompt: 'first' }), ['first-prompt', 'GOAL · YOUR FIRST PROMPT', 'first']);
  is(g('claude', { first_prompt: '/clear', first_prompt_control: true }), ['add', 'GOAL', 'Add a goal']);
  is(g('codex', { title: 'Port it', prompt_states_work: true }), ['latest-prompt', 'GOAL · YOUR LATEST PROMPT', 'Port it']);
  is(g('codex', { title: 'ok', prompt_states_work: false }), ['add', 'GOAL', 'Add a goal']);
  is(g('pi', { ...asked, first_prompt: 'x', title: 'y', prompt_states_work: true }), ['add', 'GOAL', 'Add a goal']);
  is(g('claude', asked, { annotate: false }), ['off', 'GOAL', 'Annotations off']);
});

test('UI-105 READ-098 drift marks', () => {
  const dep = (at, revision = 2) => ({ at, constraint: 'goal', revision });
  const reading = (more = {}, result = 'departure', cites = ['x']) => ({ annotation_assessment: { read_at: NOW - 50, revision_read: 2, criteria: { goal: { result, cites } }, ...more }, annotation_revision: 2, annotation_at: NOW - 900, annotation_goal_saved_at: NOW - 900 });
  assert.equal(one('claude', {}).drift, null);
  is(one('claude', { departures: [dep(NOW - 90), dep(NOW - 30)], annotation_revision: 4 }).drift, { at: NOW - 30, someUnknown: false, moved: 'read revision 2, 4 is current' });
  is(one('claude', reading()).drift, { at: NOW - 50, someUnknown: false, moved: null });
  is(one('claude', reading({ read_at: null })).drift.at, null);
  is(one('claude', { ...reading({ read_at: null }), departures: [dep(NOW - 30)] }).drift, { at: NOW - 30, someUnknown: true, moved: null });
  assert.equal(one('claude', reading({}, 'consistent with the evidence read')).drift, null);
  assert.equal(one('claude', reading({}, 'departure', [])).drift, null);
  assert.equal(one('claude', { ...reading(), instruction: { label: 'asked', text: 'no, this', at: NOW - 20 } }).drift, null, 'a later direction is unsettled');
  assert.ok(one('claude', { ...reading(), instruction: { label: 'asked', text: 'no, this', at: NOW - 20 }, annotation_settled_through: NOW - 20 }).drift);
  assert.equal(one('claude', { departures: [dep(NOW)] }, { annotate: false }).drift, null);
});

// ---- the board

test('UI-103 UI-104 lanes and groups', () => {
  const rows = [
    row('claude', 'n2', { state: 'needs_input' }), row('claude', 'n1', { state: 'needs_input' }), row('claude', 'w2', { state: 'working' }), row('claude', 'w1', { state: 'working' }),
    row('claude', 'w9', { state: 'working', turn: { elapsed_h: '20m', eta_h: null, pct: null, long: true } }), row('claude', 'i1', { last_activity: NOW - 99 }), row('claude', 'i2', { last_activity: NOW - 5 }),
    row('claude', 'e1', { ended_at: NOW - 9, departures: [{ at: NOW - 9, constraint: 'goal', revision: 1 }] }), row('claude', 'e2', { ended_at: NOW - 9 }),
  ];
  const b = board(rows);
  is(m.lanes(b.rows).map((x) => x.sid), ['n2', 'n1', 'w9', 'w1', 'w2', 'i2', 'i1', 'e1', 'e2']);
  is(b.active.map((x) => x.sid), ['n2', 'n1', 'e1', 'w9', 'w1', 'w2']);
  is(b.history.map((x) => x.sid), ['i2', 'i1', 'e2']);
  is(b.fleet.active, 5, 'a departure adds nothing to the figure');
});

test('UI-031 UI-032 UI-101 header and fleet figures', () => {
  const b = m.boardOf(morning(NOW));
  is([b.running, b.subagents, b.blocks, b.rateFloor], [3, 6, 2, true]);
  is([b.fleet.total, b.fleet.active, b.fleet.working, b.fleet.waiting, b.fleet.blocksKnown], [9, 5, 3, 2, 9]);
});

test('UI-036 each reset names its store and an unknown reason draws nothing', () => {
  const b = m.boardOf({ ...payload(NOW, []), history_reset: 'version', ends_reset: 'unreadable', deliveries_reset: 'other' });
  is(b.resets.map((x) => x.key), ['history:version', 'ends:unreadable']);
  assert.match(b.resets[0].text, /The timeline and the delegation figure start now/);
});

test('UI-028 a session is found only when it is the only one', () => {
  const b = board([row('claude', 'aa11'), row('codex', 'aa11'), row('claude', 'aa11bb')]);
  const find = (harness, sid, project = 'acme/shop') => m.findSession(b, { project, harness, sid })?.key ?? null;
  is([find('claude', 'aa11'), find('', 'aa11'), find('', 'aa11bb'), find('claude', 'aa11', 'x')], ['claude:aa11', null, 'claude:aa11bb', null]);
});

test('UI-011 nothing in a payload throws', () => {
  for (const scene of [broken, hostile]) m.boardOf(clone(scene(NOW)));
  m.boardOf(broken(NOW));
  cap.capacityOf(m.boardOf(broken(NOW)));
  for (const bad of [null, 7, 'x', []]) assert.equal(m.boardOf(bad), null);
  assert.equal(m.boardOf({}).rows.length, 0);
});

test('UI-261 UI-263 an unchanged row keeps its object, wherever it moves', () => {
  const first = m.boardOf(clone(crowd(NOW, 200)));
  const again = m.boardOf(clone(crowd(NOW, 200)), first);
  assert.equal(again.rows, first.rows);
  assert.equal(again.active, first.active);
  const moved = clone(crowd(NOW, 200));
  moved.sessions.reverse();
  moved.sessions[3].state_detail = 'another';
  moved.sessions.unshift(row('claude', 'brandnew'));
  const next = m.boardOf(moved, again);
  is(next.rows.filter((x) => again.byKey.get(x.key) !== x).length, 2);
});

// ---- capacity

test('USE-081 USE-082 UI-203 UI-204 pace and end', () => {
  const c = (gauge) => cap.capacityOf(board([], { usage: [{ harness: 'claude', state: 'ok', asOf: NOW, week: gauge }] })).windows[0];
  const half = c({ pct: 75, windowSec: 1000, resetAt: NOW + 500 });
  is([half.elapsed, half.ratio, half.tone, cap.paceWord(half)], [0.5, 1.5, 'clay', 'far over pace']);
  is(Math.round(half.endsAt - NOW), 167);
  is([c({ pct: 50, windowSec: 1000, resetAt: NOW + 500 }).tone, c({ pct: 49, windowSec: 1000, resetAt: NOW + 500 }).tone], ['amber', 'accent']);
  const past = c({ pct: 20, windowSec: 1000, resetAt: NOW - 1 });
  is([past.elapsed, past.ratio, past.endsAt, past.remaining, past.tone], [null, null, null, null, 'neutral']);
  is(cap.endsText(past, NOW), 'not projected');
  is(cap.endsText(c({ pct: 100, windowSec: 1000, resetAt: NOW + 500 }), NOW), 'already spent');
  assert.match(cap.endsText(c({ pct: 2, windowSec: 18000, resetAt: NOW + 17640 }), NOW), / on 6m/);
  assert.match(cap.endsText(c({ pct: 10, windowSec: 1000, resetAt: NOW + 500 }), NOW), /~80% spare at reset/);
  is(cap.barSentence(half), '75% of budget used, 50% of the window elapsed');
});

test('USE-080 USE-085 UI-201 rows, their order, and what is withheld', () => {
  const b = board([], { usage: [
    { harness: 'claude', state: 'ok', fiveH: { pct: 90, windowSec: 18000, resetAt: NOW + 100 }, week: { pct: 34, windowSec: 604800, resetAt: NOW + 532000 }, month: { pct: 'x' }, models: [{ label: 'L', pct: 8 }, { label: 'M', pct: 1.5 }] },
    { harness: 'cursor', state: 'ok', month: { pct: 99 } }, { harness: 'codex', state: 'ok', week: { pct: 20, windowSec: 604800, resetAt: NOW + 302400 } }, { harness: 'pi', state: 'lapsed' }, { harness: 'copilot', state: 'ok', used: '3 AIU' },
  ] });
  const c = cap.capacityOf(b);
  is(c.windows.map((w) => w.key), ['claude:fiveH', 'claude:week', 'codex:week', 'cursor:month']);
  is(c.windows[1].models, [{ label: 'L', pct: 8 }]);
  is(c.units.map((u) => u.text), ['3 AIU']);
  assert.match(c.withheld[0].why, /lapsed/);
});

test('USE-084 USE-088 a measured zero is not an absence', () => {
  const buys = (recent) => cap.buysText(cap.capacityOf(board([], { usage: [{ harness: 'claude', state: 'ok', week: { pct: 50, windowSec: 1000, resetAt: NOW + 500, recent } }] })).windows[0])[1];
  assert.match(buys({ pctPerMin: 0, samples: 2, spanSec: 600 }), /^Nothing was spent in the last 10m/);
  assert.match(buys(undefined), /^No second reading yet/);
  assert.match(buys({ pctPerMin: 0.5, samples: 2, spanSec: 600 }), /buys 1h 40m/);
});

test('USE-089 UI-206 how long sessions worked', () => {
  const rec = (sid, state, at, project = 'p') => ({ harness: 'claude', sid, project, state, last_activity: at });
  const h = [rec('a', 'working', 0 + 10), rec('a', 'idle', 610), rec('b', 'working', 10), rec('b', 'idle', 1210), rec('c', 'working', 10), rec('d', 'working', 1, 'q'), rec('d', 'idle', 9, 'q')];
  is(cap.workedIn(h, 'claude'), { project: 'p', count: 2, open: 1, least: '10m', most: '20m', median: '15m' });
  assert.equal(cap.workedIn(h.slice(0, 2), 'claude'), null);
  assert.equal(cap.workedIn(h, 'codex'), null);
});

// ---- layout

test('LOOK-047 the tree keeps payload order, hangs strays at the root and survives a ring', () => {
  const list = [agent('a'), agent('b', { parent: 'a' }), agent('c', { parent: 'gone' }), agent('d', { parent: 'd' })].map((s) => ({ ...s, startedAt: null, live: true, model: null }));
  const tree = lay.forest(lay.agentsOf({ list }));
  is(tree.map((n) => [n.name, n.by, n.children.map((c) => c.name)]), [['a', null, ['b']], ['c', 'gone', []], ['d', 'd', []]]);
  const ring = lay.forest([{ id: 1, parent: 2 }, { id: 2, parent: 1 }]);
  assert.ok(ring.length >= 1);
});

test('LOOK-047 a large tree folds its stopped branches', () => {
  const n = (id, state) => ({ id, state, children: [] });
  is(lay.folded([n(1, 'working'), n(2, 'stopped')], 12).hidden.length, 0);
  is(lay.folded([n(1, 'working'), n(2, 'stopped'), n(3, 'idle')], 13).hidden.map((x) => x.id), [2]);
});

test('LOOK-047 the graph is the same for the same input', () => {
  const make = () => lay.graph(lay.forest([{ id: 1, parent: null, live: true }, { id: 2, parent: 1, live: true }, { id: 3, parent: 1, live: false }, { id: 4, parent: 2, live: true }]));
  const g = make();
  is(g, make());
  is(g.boxes.map((b) => [b.node.id, b.x, b.y]), [[1, 0, 0], [2, 214, 0], [4, 428, 0], [3, 214, 52]]);
  is(g.edges.map((e) => e.live), [true, true, false]);
});

test('LOOK-047 DECK-040 a box is as tall as its name needs, and no two boxes meet', () => {
  const names = ['n'.repeat(60), 'a', 'b'.repeat(40), 'c', 'd'];
  const g = lay.graph(lay.forest(names.map((name, id) => ({ id, name, parent: [null, 0, 0, 1, 2][id], live: id !== 4 }))));
  is(g.boxes.map((b) => b.height), [76, 44, 44, 60, 44]);
  for (const a of g.boxes) for (const b of g.boxes) assert.ok(a === b || a.x !== b.x || a.y + a.height <= b.y || b.y + b.height <= a.y, 'boxes overlap');
  assert.ok(g.boxes.every((b) => b.x + g.box.width <= g.width && b.y + b.height <= g.height));
  is(g.edges.length, 4);
});

test('LOOK-048 neighbours merge, the window cuts, ticks are human', () => {
  const b = lay.blocks([{ state: 'working', from: 0, to: 60 }, { state: 'working', from: 60, to: 100 }, { state: 'idle', from: 100, to: 400 }, { state: 'idle', from: 900, to: 1200 }], 50, 1000);
  is(b.map((x) => [x.state, x.from, x.to]), [['working', 50, 100], ['idle', 100, 400], ['idle', 900, 1000]]);
  const t = lay.ticks(NOW, NOW + 3600);
  assert.ok(t.length >= 3 && t.length <= 8 && t.every((x) => x.at % 600 === 0));
});
test('DECK-020 DECK-023 each degrade is one sentence that names its source and a remedy', () => {
  const codes = [...readFileSync(join(STATIC, '../src/model/observed.rs'), 'utf8').matchAll(/Code::\w+ => "([a-z-]+)"/g)].map((m) => m[1]);
  assert.equal(codes.length, 12);
  for (const code of codes) {
    const text = sentence({ code, source: 'codex.sessions' }, 'Codex');
    assert.match(text, /^Codex, codex\.sessions: [^:]+[;,] [^:]+\.$/, text);
    if (code.includes('-')) assert.ok(!text.includes(code), text);
  }
  assert.match(sentence({ code: 'hooks-silent', source: 'claude' }, 'Claude Code'), /^Claude Code: its harness can send events, and none came for ten minutes .* cargento hooks claude /);
  assert.match(sentence({ code: 'record-skipped', source: 'a.jsonl', count: 1 }, 'Pi'), /^Pi, a\.jsonl: 1 record could not be read/);
  assert.match(sentence({ code: 'compressed', source: 'codex.sessions', count: 1200 }, 'Codex'), /1,200 compressed files not read/);
  is([sentence({ code: 'constructor', source: 7 }, null), sentence({ code: 4 }, 'x'), sentence(null, 'x')], ['A source: constructor.', '', '']);
});
