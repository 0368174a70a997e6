// Rules behind the session page that need no browser: drafts and what is sent of them, readings and their demotions, what
// landed, states over time, and the deck.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as d from '../../static/deck.js';
import * as i from '../../static/intent.js';
import * as lay from '../../static/layout.js';
import * as rd from '../../static/reading.js';
import * as s from '../../static/session-facts.js';
import { boardOf } from '../../static/model.js';
import { edges } from '../../static/edges.js';
import { payload, row } from './payloads.mjs';
import { annotated, deck, readings, record } from './scenes.mjs';

const NOW = 1_790_000_000;
const is = assert.deepEqual;
const board = (more, top, harness = 'claude') => boardOf(JSON.parse(JSON.stringify({ ...payload(NOW, [row(harness, '27d10654', { title: 'T', ...more })]), ...top })));
const one = (more, top, harness) => board(more, top, harness).rows[0];

test('UI-133 a save sends only what differs, with the place each line came from', () => {
  const r = one(annotated(NOW));
  is([i.saveBodies(r), i.unsaved(r)], [[], false]);
  i.setDraft(r, 'lines', [{ text: 'also log the drop count', from: 1 }, { text: ' ', from: null }, { text: 'new', from: null }]);
  is(i.saveBodies(r), [{ harness: 'claude', sid: '27d10654', goal: null, lines: ['also log the drop count', 'new'], origins: [1, null], expected_revision: 4 }]);
  // The words moved on elsewhere: the draft still stands against those it was begun from.
  const moved = one({ ...annotated(NOW), annotation_revision: 6, annotation_revision_count: 6 });
  assert.equal(i.saveBodies(moved)[0].expected_revision, 4);
  i.rebase(moved);
  assert.equal(i.saveBodies(moved)[0].expected_revision, 6);
  i.dropDraft(r);
  is(i.changes(r), { goal: false, adopt: false, lines: false, drafted: false });
});

test('ANN-080 ANN-081 a prompt is offered on Claude and Codex, with its time, while no goal is saved', () => {
  const said = { instruction: { label: 'asked', text: 'port it', at: NOW - 9 }, first_prompt: 'port it', first_prompt_at: NOW - 90 };
  is(i.offersOf(one(said)).list.map((o) => o.source), ['latest-prompt'], 'one entry when both say the same');
  is(i.offersOf(one({ ...said, first_prompt: 'begin' })).list.map((o) => o.source), ['latest-prompt', 'first-prompt']);
  is(i.offersOf(one({ ...said, instruction: { label: 'asked', text: 'x', at: null }, first_prompt: '' })), { list: [], untimed: true });
  is(i.offersOf(one(said, {}, 'pi')).list, []);
  is(i.offersOf(one({ ...said, ...annotated(NOW) })).list, []);
  const two = one({ ...said, annotation_revision: 1, annotation_revision_count: 1 });
  i.setDraft(two, 'lines', [{ text: 'and tested', from: null }]);
  is(i.saveBodies(two).map((b) => Object.keys(b).filter((k) => ['adopt', 'lines'].includes(k))), [['adopt'], ['lines']]);
  i.dropDraft(two);
});

test('UI-134 ANN-046 each outcome has its own sentence, and only two let the words go', () => {
  const said = ['stored', 'unchanged', 'refused', 'unwritable', 'untrusted', 'unreadable'].map((outcome) => i.savedSays(200, { outcome }));
  is([new Set(said.map((x) => x.text)).size, said.map((x) => x.kept)], [6, [false, false, true, true, true, true]]);
  is([i.savedSays(200, { outcome: 'new-word', persisted: true }).kept, i.savedSays(200, { outcome: 'new-word' }).kept, i.savedSays(null).kept, i.savedSays(503, {}).kept, i.savedSays(413, {}).kept], [false, true, true, true, true]);
  assert.ok([i.savedSays(200, { outcome: 'refused' }), i.savedSays(null), i.savedSays(413, {})].every((x) => /still in the box/.test(x.text)));
});

const facts = (r) => s.factsOf(record(NOW), r);

test('READ-140 READ-141 a reading gives one answer and each line its own', () => {
  const r = one(annotated(NOW));
  const view = (open, more = {}) => rd.readingView(one({ ...annotated(NOW), ...more }), facts(r), open, NOW);
  is(view(false).lines.map((l) => l.kind), ['undecided', 'departs', 'consistent']);
  assert.equal(view(false).answer.kind, 'departs');
  is(view(true).lines.map((l) => [l.kind, l.detail]), [['undecided', ''], ['unsettled', ''], ['consistent', '']]);
  const all = { ...annotated(NOW).annotation_assessment, criteria: { goal: { result: 'consistent with the evidence read', cites: ['fact:1'], detail: '', clause: 'x', why: '' } } };
  const calm = view(false, { annotation_assessment: all });
  is([calm.answer.kind, calm.lines[0].text], ['none', 'Consistent by the agent’s own account, which is no check.']);
  assert.doesNotMatch(JSON.stringify(calm), /\bdone\b|✓/);
  is(view(false, { annotation_assessment: { ...all, criteria: { goal: { result: 'departure', cites: [], why: 'uncited' } } } }).lines[0].kind, 'undecided', 'a departure without a citation is none');
  is(view(false, { annotation_assessment: { ...all, read_at: null } }).when, 'its age is unknown');
  is(view(false, { annotation_assessment: { ...all, scope: 'final', ended_at_read: NOW - 9 } }).scope, 'It was read against an end that is no longer published.');
  is(view(false).newer, 'The record has entries newer than what was read.');
});

test('READ-134 moved words are worded one way everywhere', () => {
  is([rd.movedOn(3, 4), rd.movedOn(4, 4), rd.movedOn(0, 4), rd.movedOn(null, 4)], ['read revision 3, 4 is current', null, 'its baseline was not recorded', 'its baseline was not recorded']);
});

test('READ-136 conflicts are what the person said after the goal and its settlement, newest first', () => {
  const said = (more) => rd.conflicts(one({ ...annotated(NOW), ...more }), facts(one({}))).map((c) => c.text);
  is(said({}), ['Also log the drop count']);
  is(said({ annotation_settled_through: NOW - 3000 }), []);
  is(said({ annotation_goal_saved_at: NOW - 5000 }), ['Also log the drop count', 'Ship the retry queue before the release']);
  is(said({ annotation_revision: null }), []);
  is(rd.conflicts(one({ ...annotated(NOW), instruction: { label: 'asked', text: 'and more', at: NOW - 5 } }), null).map((c) => c.text), ['and more'], 'the row stands in while the record is unread');
});

test('UI-141 READ-131 the first reason that holds is the one that is said', () => {
  const b = board(annotated(NOW), readings());
  const why = (more) => rd.inert({ ...b, ...more.board }, b.rows[0], { unsavedWords: false, words: true, reading: b.payload.reading, route: b.payload.reading_routes.claude, ...more });
  is(why({}), null);
  assert.match(why({ board: { annotate: false } }), /Annotations are off/);
  assert.match(why({ reading: { reason: 'run-disabled' }, words: false }), /Model calls are off/);
  assert.match(why({ words: false, unsavedWords: true }), /nothing to read against|Nothing typed/i);
  assert.match(why({ unsavedWords: true, reading: { reason: 'daily-cap' } }), /Save or undo/);
  is(why({ reading: { reason: 'consent-required' } }), null, 'consent is asked for by the press');
});

test('UI-126 what ended and who claims it are never one', () => {
  is(new Set([one({ ended_at: NOW }), one({ finished_at: NOW }), one({ state: 'working' }), one({ state: 'needs_input' }), one({}), one({}, {}, 'goose')].map(s.endOf)).size, 6);
  is([s.claimOf(null).known, s.claimOf([]).text, s.claimOf([{ type: 'work_result', summary: 'x' }]).text], [false, 'Nothing on record says that it finished.', 'The agent reported it finished']);
});

test('LOOK-048 UI-170 the last stored state opens no span, and what this tab saw does', () => {
  const r = one({});
  const history = [[900, 'working'], [600, 'needs_input'], [500, 'working'], [400, 'idle']].map(([ago, state]) => ({ harness: 'claude', sid: '27d10654', state, last_activity: NOW - ago }));
  const made = s.statesOf(history, r, [], NOW);
  is(made.blocks.map((b) => [b.state, NOW - b.from, NOW - b.to]), [['working', 900, 600], ['needs_input', 600, 500], ['working', 500, 400]]);
  is(made.turns, [NOW - 500]);
  is(s.statesOf(history, r, [{ at: NOW - 100, state: 'idle' }], NOW).blocks.at(-1), { state: 'idle', from: NOW - 100, to: NOW });
  is([s.statesOf([], r, [{ at: NOW - 9, state: 'idle' }], NOW), s.statesOf('x', r, [], NOW)], [null, null]);
});

test('UI-129 IRR-070 off, unsupported and none are three sentences', () => {
  is(new Set([s.reportsOf(one({}), false), s.reportsOf(one({}, {}, 'pi'), true), s.reportsOf(one({}), true)].map((x) => x.why)).size, 3);
  is(s.reportsOf(one({ command_reports: Array.from({ length: 25 }, () => ({ label: 'hard reset', tool_name: 'Bash', timestamp: NOW })) }), true).list.length, 20);
  is(s.reportOf({ label: 'x', timestamp: 1e300 }).iso, null);
});

test('DECK-010 DECK-040 the deck’s tree, rooted anywhere, keeps what hangs below', () => {
  const body = deck(NOW, 12, 20);
  const all = d.agentsOfDeck(body);
  is([all.list.length, all.root.id, all.list[0].parent], [11, 'main', null]);
  const part = d.agentsOfDeck(body, 'a1');
  is([part.root.id, part.list.map((n) => n.id), part.list.every((n) => n.parent === null)], ['a1', ['a5', 'a9'], true]);
  is([d.agentsOfDeck({}), d.agentsOfDeck({ agents: 'x' }), d.agentsOfDeck(body, 'gone').root.id], [null, null, 'main']);
});

test('DECK-013 an open call is stalled by silence, and a question never is', () => {
  const call = (tool) => d.callsOf({ generated: NOW, agents: [{ id: 'm', name: 'm', last_activity: NOW - 300 }], calls: [{ id: 'c', agent: 'm', tool, at: NOW - 310, status: 'open' }] })[0];
  is([call('Bash').stalled, call('AskUserQuestion').stalled], ['5m', null]);
  const c = d.callsOf({ generated: NOW, agents: [], calls: [{ id: 'a', agent: 'm', tool: 'Bash', at: NOW - 50, ended_at: NOW - 40, status: 'ok', gap: 3 }, { id: 'b', agent: 'm', tool: 'Read', at: NOW - 20, status: 'odd' }] }, [NOW - 30]);
  is(c.map((x) => [x.offset, x.took, x.gap, x.status]), [['0s', '10s', '3s', 'ok'], ['10s', null, null, 'unknown']]);
});

test('DECK-042 five thousand calls make a strip the eye can take in', () => {
  const body = deck(NOW, 6, 5000);
  const made = d.lanesOf(body, d.callsOf(body), []);
  assert.ok(made.lanes.length <= 8 && made.lanes.every((l) => l.blocks.length <= 700), made.lanes.map((l) => l.blocks.length).join());
});

test('LOOK-047 a crowd is counted, and its graph folds the stopped', () => {
  const list = Array.from({ length: 40 }, (_, n) => ({ id: n, parent: n < 4 ? null : n % 4, name: `w${n}`, state: n % 2 && n > 3 ? 'stopped' : 'working', live: !(n % 2) || n < 4 }));
  is(lay.tally(list), [['working', 22], ['stopped', 18]]);
  const pruned = lay.pruned(lay.forest(list), 41);
  const count = (nodes) => nodes.reduce((n, x) => n + 1 + count(x.children), 0);
  is([count(pruned), JSON.stringify(pruned).match(/\d+ stopped/g)], [24, ['9 stopped', '9 stopped']]);
});

test('NOTE-051 NOTE-052 edges: new rows and repeats raise nothing, several questions raise one', () => {
  const follow = edges();
  const at = (state, top = {}, now = 0) => follow.hear(board({ state }, top), { leading: true, now }).map((n) => n.tag);
  is(at('working'), []);
  is([at('needs_input'), at('needs_input'), at('idle', {}, 1)], [['claude:27d10654'], [], []]);
  at('working', {}, 2);
  is([at('idle', {}, 3), at('working', {}, 4), at('idle', {}, 5), at('working', {}, 6), at('idle', {}, 600_004)], [['claude:27d10654'], [], [], [], ['claude:27d10654']]);
  const ask = (id) => ({ id, harness: '', session_id: '', project: '', question: 'q', options: ['a', 'b'], age_sec: 0 });
  is([at('idle', { asks: [ask('1')] }), at('idle', { asks: [ask('1'), ask('2'), ask('3')] }), at('idle', { asks: [ask('1')] })], [['cargento-ask:1'], ['cargento-ask'], []]);
});

test('DECK-031 DECK-043 output is a mean over an agent’s own time, and what is missing is named, never a zero', () => {
  const a = (more) => d.outputOf({ state: 'working', started_at: NOW - 600, last_activity: NOW - 300, output_tokens: 5000, ...more }, NOW);
  is([a({}).words, a({ state: 'stopped' }).words, a({ output_tokens: 0 }).words, a({ output_tokens: 3 }).words], ['500/m', '1,000/m', '0/m', '<1/m']);
  is(a({}).of, '5.0k output tokens in 10m');
  const whys = [a({ output_tokens: null }), a({ output_tokens: -1 }), a({ started_at: null }), a({ state: 'stopped', last_activity: null }), a({ started_at: NOW - 9 }), a({ started_at: NOW + 60 }), a({ state: 'not-started' })];
  assert.ok(whys.every((w) => w.why && !w.words), JSON.stringify(whys));
  is(new Set(whys.map((w) => w.why)).size, 4);
  const { root, list } = d.agentsOfDeck({ generated: NOW, agents: [{ id: 'm', model: 'x-9', started_at: NOW - 60, last_activity: NOW, output_tokens: 100, state: 'working' }, { id: 'k', parent: 'm', type: 'planner', model: 'x-9', errors: 'many', state: 'odd' }, { id: 'l', parent: 'm', model: 'y-1', started_at: NOW - 50, last_activity: NOW - 20, errors: 2, state: 'stopped' }] });
  is([root.model, root.out.words, ...list.map((n) => [n.kind, n.model, n.errors, n.ran])], ['x-9', '100/m', ['planner', null, 0, null], [null, 'y-1', 2, '30s']]);
});

test('LOOK-048 the time of a session in one sentence, with what nobody observed', () => {
  const b = (state, from, to) => ({ state, from: NOW - from, to: NOW - to });
  is(s.sharesOf({ from: NOW - 9000, to: NOW, blocks: [b('working', 9000, 3600), b('working', 4000, 3000), b('needs_input', 3000, 2400), b('idle', 2400, 900)] }), 'Last 2h 30m: working 1h 40m, waiting on you 10m, idle 25m; 15m not observed.');
  is(s.sharesOf({ from: NOW - 600, to: NOW, blocks: [b('working', 600, 0)] }), 'Last 10m: working 10m.');
});
