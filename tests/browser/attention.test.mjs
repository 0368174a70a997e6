// Attention, the Intent log and the notification lane, in a browser and as rules.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { attentionOf, coverageOf } from '../../static/attention.js';
import { entriesOf } from '../../static/intent-log.js';
import { boardOf } from '../../static/model.js';
import { NOW, suite } from './rig.mjs';
import { broken, hostile, morning, payload, row, task } from './payloads.mjs';
import { intents, pressed, whole } from './scenes.mjs';

const is = assert.deepEqual;
const board = (rows, more) => boardOf(JSON.parse(JSON.stringify(payload(NOW, rows, more))));
const keys = (list) => list.map((i) => i.row.sid);

// ---- rules

test('UI-181 UI-182 UI-183 every session has one place at most', () => {
  const b = board([
    row('claude', 'wait', { state: 'needs_input', loop: { errors: 5, failures: 5 }, tasks: [task('x', 'pending')] }), row('claude', 'dirtyend', { ended_at: NOW - 5, dirty: true }), row('claude', 'dirtystop', { finished_at: NOW - 5, dirty: true }),
    row('claude', 'both', { state: 'working', finished_at: NOW - 5 }), row('claude', 'looped', { state: 'working', loop: { errors: 4, failures: 6 } }), row('claude', 'long', { state: 'working', turn: { elapsed_h: '20m', long: true } }),
    row('claude', 'gitonly', { dirty: false }), row('claude', 'endclean', { ended_at: NOW - 5, dirty: false }), row('claude', 'stopped', { finished_at: NOW - 9 }), row('claude', 'todo', { tasks: [task('x', 'pending')] }), row('claude', 'calm'),
  ]);
  const { groups, brief } = attentionOf(b);
  is(groups.needs.map((i) => [i.row.sid, i.kind, i.more]), [['wait', 'gate', ['Repeated tool failures', 'Published task']]]);
  is(groups.risk.map((i) => [i.row.sid, i.kind]), [['dirtyend', 'end-dirty'], ['dirtystop', 'stop-dirty'], ['both', 'attribution'], ['gitonly', 'attribution'], ['looped', 'loop'], ['long', 'long-turn']]);
  is(groups.close.map((i) => [i.row.sid, i.kind]), [['stopped', 'stop-unknown'], ['endclean', 'end-clean']]);
  is(keys(groups.next), ['todo']);
  is(brief, ['9 of 11 sessions carry a subject: 1 waiting on you · 6 at risk · 2 to close the loop.', 'The other 2: 2 quiet; of these, none partially read.']);
});

test('UI-186 questions by age, then gates by wait, then the rest; ties by harness, project, session', () => {
  const asks = [['a1', 100], ['a2', 900]].map(([sid, age]) => ({ id: sid, harness: 'codex', session_id: sid, project: '', question: 'q', options: ['x', 'y'], age_sec: age }));
  const b = board([row('codex', 'g0', { state: 'needs_input' }), row('claude', 'g1', { state: 'needs_input' }), row('codex', 'g2', { state: 'needs_input', blocked_since: NOW - 50 }), row('codex', 'g3', { state: 'needs_input', blocked_since: NOW - 500 }), row('codex', 'a1'), row('codex', 'a2')], { asks });
  is(keys(attentionOf(b).groups.needs), ['a2', 'a1', 'g3', 'g2', 'g1', 'g0']);
});

test('UI-187 UI-188 risk and close keep their order', () => {
  const loop = (sid, failures, errors) => row('claude', sid, { state: 'working', loop: { errors, failures } });
  const b = board([loop('l1', 5, 5), loop('l2', 9, 4), loop('l3', 9, 6), row('claude', 'c1', { ended_at: NOW - 5, dirty: false }), row('claude', 'c2', { finished_at: NOW - 50 }), row('claude', 'c3', { finished_at: NOW - 500 }), row('claude', 'c4', { ended_at: NOW - 1 })]);
  const { groups } = attentionOf(b);
  is([keys(groups.risk), keys(groups.close)], [['l3', 'l2', 'l1'], ['c4', 'c3', 'c2', 'c1']]);
});

test('UI-189 one item for each project, work under way first', () => {
  const t = (status) => [task('x', status)];
  const b = board([row('claude', 'p1', { project: 'a/a', tasks: t('pending') }), row('claude', 'p2', { project: 'b/b', state: 'working', tasks: t('pending') }), row('claude', 'p3', { project: 'a/a', tasks: t('in_progress') }), row('claude', 'p4', { project: 'c/c', state: 'working', tasks: t('in_progress') }), row('claude', 'p5', { project: 'c/c', tasks: t('completed') })]);
  is(attentionOf(b).groups.next.map((i) => [i.row.sid, i.others.map((o) => o.row.sid)]), [['p4', []], ['p3', ['p1']], ['p2', []]]);
});

test('UI-193 USE-095 the board’s own subjects stand apart', () => {
  const gauge = (pct, left) => ({ pct, windowSec: 18000, resetAt: NOW + left });
  const usage = [{ harness: 'claude', state: 'ok', fiveH: gauge(75, 17000), week: gauge(10, 17900), models: [{ label: 'Big', pct: 88 }, { label: 'Small', pct: 5 }] }, { harness: 'codex', state: 'ok', week: gauge(40, 3600) }, { harness: 'cursor', state: 'refused', fiveH: gauge(99, 5) }];
  const b = board([row('claude', 's1'), row('claude', 's2'), row('claude', 's3', { project: 'x/y' })], { usage, asks: [{ id: 'q', harness: '', session_id: '', project: '', question: 'who', options: ['a', 'b'], age_sec: 1 }] });
  const items = attentionOf(b).groups.board;
  is(items.map((i) => [i.kind, i.reason ?? null]), [['question', null], ['quota', 'level and pace'], ['quota', 'pace'], ['quota', 'level'], ['label', null]]);
  assert.match(items[1].text, /75% used; at its average pace the budget ends .* on 16m, before the reset/);
});

test('UI-182 TURN-044 a failed tool loop stays a risk after the session ended, behind uncommitted work', () => {
  const loop = { errors: 4, failures: 6 };
  const { groups } = attentionOf(board([row('claude', 'clean', { ended_at: NOW - 5, dirty: false, loop }), row('claude', 'dirty', { ended_at: NOW - 5, dirty: true, loop })]));
  is(groups.risk.map((i) => [i.row.sid, i.kind, i.more.length]), [['dirty', 'end-dirty', 1], ['clean', 'loop', 1]]);
  is(groups.close, []);
});

test('UI-186 a question of unknown age stands behind those whose age is known', () => {
  const ask = (n, age_sec) => ({ id: `q${n}`, harness: 'claude', session_id: `s${n}`, question: 'Which?', options: ['a', 'b'], age_sec });
  const b = board([row('claude', 's1'), row('claude', 's2'), row('claude', 's3')], { ask: true, asks: [ask(1, null), ask(2, 5), ask(3, 90)] });
  is(keys(attentionOf(b).groups.needs), ['s3', 's2', 's1']);
});

test('UI-184 UI-194 the fixed words do not bend for one', () => {
  const b = board([row('claude', 'a', { state: 'needs_input' })]);
  is([attentionOf(b).brief[0], coverageOf(b).line], ['1 of 1 sessions carry a subject: 1 waiting on you.', '1 of 1 sessions report block state; 0 observed ends.']);
});

test('UI-194 coverage never reads as an all-clear', () => {
  const c = coverageOf(board([row('claude', 'a', { state: 'needs_input', focusable: true }), row('goose', 'b', { state: 'working' })], { ends_observable: false }));
  is([c.line, c.waiting, c.reachable], ['1 of 2 sessions report block state; 0 observed ends.', 1, 1]);
  assert.match(c.ends, /event lane is off/);
  assert.match(c.harnesses[0].waits, /reports needs input: Claude hooks are installed/);
});

test('UI-210 UI-214 the log lists every session once: words newest first, then the board, then discards', () => {
  const { list, typed, discarded } = entriesOf(boardOf(JSON.parse(JSON.stringify(morning(NOW)))), intents(NOW).annotations);
  is([typed, discarded, list.length, new Set(list.map((e) => e.key)).size], [3, 1, 11, 11]);
  is(list.slice(0, 3).map((e) => e.sid), ['27d10654', '9a8b7c6d', '0198gone']);
  is([list.at(-1).sid, list.at(-1).words], ['0197dead', null]);
  is(list.slice(3, -1).every((e) => e.row && !e.words), true);
});

// ---- in a browser

let r;
let page;
const text = (selector) => r.text(selector);
const LOG = { '/api/annotations': { body: intents(NOW) } };

suite((made) => {
  r = made;
  page = r.page;
}, () => {

  test('UI-184 UI-185 UI-191 UI-192 Attention stands in its order, three of each, with what to do beside each', async () => {
    await r.open('#n=attention', pressed(NOW));
    is(r.faults, []);
    is(await page.$$eval('[data-group]', (l) => l.map((n) => n.dataset.group)), ['needs', 'risk', 'close', 'next', 'board', 'reports', 'not-yet']);
    await r.sees('main', /13 of 18 sessions carry a subject: 7 waiting on you · 3 at risk · 3 to close the loop\. The other 5/);
    assert.equal(await page.locator('[data-group=needs] .item').count(), 3);
    assert.equal(await page.locator('[data-group=needs] [data-act=more]').innerText(), 'Show 4 more');
    await page.locator('[data-group=needs] [data-act=more]').click();
    is([await page.locator('[data-group=needs] .item').count(), await page.locator('[data-group=needs] [data-act=more]').innerText()], [7, 'Show fewer (hide 4)']);
    await r.publish({ ...pressed(NOW), generated: NOW + 5 });
    assert.equal(await page.locator('[data-group=needs] .item').count(), 7, 'an expanded group survives a revision');
    const first = await page.locator('[data-kind=question]').first().innerText();
    for (const words of ['Question waiting', '+ 2 more signals', 'CAPTAIN', 'Run the migration against staging before the tax tests?', 'Yes, run it', 'RAISE', 'COPY COMMAND']) assert.ok(first.includes(words), words);
    const gate = await page.locator('[data-kind=gate]').first().innerText();
    for (const words of ['Input signal observed', 'NEEDS YOU', "Answer it in that session's own terminal", 'COPY COMMAND', 'IDENTITY']) assert.ok(gate.includes(words), words);
    for (const kind of ['question', 'gate', 'stop-dirty']) assert.match(await page.locator(`[data-kind=${kind}]`).first().innerText(), /OUTCOME|IDENTITY/, `UI-191 ${kind} names what it is about`);
    assert.match(await page.locator('[data-kind=stop-dirty]').first().innerText(), /NOW\s+last active/);
    await r.sees('[data-group=next]', /Published task.*Working through a list.*Merge the halves.*1 more in this project/);
    await r.sees('[data-group=board]', /Which branch should be deleted\? old-a old-b/);
    await r.sees('[data-group=reports]', /force push.*Fix checkout totals/);
    await page.click('summary:has-text("per-harness detail")');
    await page.waitForSelector('text=Terminal raise:');
    await r.sees('main .summary', /Terminal raise: 1 of 7 waiting rows carry a terminal/);
  });

  test('UI-180 UI-193 an unowned question is answered here', async () => {
    await r.open('#n=attention', pressed(NOW));
    r.server.replies.set('/api/answer', { body: { ok: true, answered: true } });
    await page.locator('[data-group=board] [data-act=answer]').nth(1).click();
    await page.waitForFunction(() => document.querySelector('#polite').textContent === 'Answered: old-b');
    is(await r.sent('/api/answer', 1), [{ id: 'loose1', index: 1 }]);
  });

  test('UI-185 UI-196 an empty board says what it does not prove, and a change of counts is said once', async () => {
    await r.open('#n=attention', payload(NOW, []));
    await r.sees('main', /Nothing reported is waiting; a quiet row is not proof/);
    is(await page.$$eval('[data-group]', (l) => l.map((n) => n.dataset.group)), ['needs', 'risk', 'reports', 'not-yet']);
    await r.publish(payload(NOW + 5, [row('claude', 'w', { title: 'Waits', state: 'needs_input' })]));
    await r.until(async () => await page.innerText('#polite') !== '', 'a word about the counts');
    assert.equal(await page.innerText('#polite'), 'Attention updated: 1 needs you, 0 at risk, 0 to close, 0 coming next, 0 off the session count.');
    await page.evaluate(() => { document.querySelector('#polite').textContent = ''; });
    await r.publish(payload(NOW + 10, [row('claude', 'w', { title: 'Waits on', state: 'needs_input' })]));
    assert.equal(await page.innerText('#polite'), '');
  });

  test('UI-049 focus stays on an option when a more urgent item arrives above it', async () => {
    await r.open('#n=attention', pressed(NOW));
    await page.locator('[data-kind=gate] [data-act=copy-command]').first().focus();
    const key = await page.evaluate(() => document.activeElement.closest('[data-row]').dataset.row);
    const next = pressed(NOW + 5);
    next.sessions.unshift(row('claude', 'urgent01', { title: 'Urgent', state: 'needs_input', blocked_since: NOW - 400 }));
    await r.publish(next);
    is(await page.evaluate(() => [document.activeElement.dataset.act, document.activeElement.closest('[data-row]')?.dataset.row]), ['copy-command', key]);
  });

  test('LOOK-071 the first screen of Attention shows the first two waiting items', async () => {
    await r.open('#n=attention', pressed(NOW));
    const bottoms = await page.$$eval('[data-group=needs] .item', (l) => l.slice(0, 2).map((n) => n.getBoundingClientRect().bottom));
    assert.ok(bottoms.every((b) => b < 900), bottoms.join());
  });

  test('UI-211 UI-212 UI-213 the log shows each source on its own line, and a departed session without a link', async () => {
    const body = whole(NOW);
    body.sessions[2].cached_goal = { goal: 'Move the table', source: 'deterministic', observed_at: NOW - 7200 };
    await r.open('#n=intent', body, LOG);
    await page.waitForSelector('[data-entry=typed]');
    await r.sees('main', /3 sessions you have typed words against, and 1 whose words you discarded\..*256 records with sixteen revisions/);
    await r.sees('[data-entry=typed]', 'GOAL Ship the retry queue', 'OUTCOME 1 unit tests pass', 'WORKFLOW GOAL Cut 2.4', 'revision 4 of 4 · typed 12m ago', 'read revision 3, 4 is current', 'Departure raised: Goal The session moved to the CLI help.', 'Only an 8-character prefix');
    await r.sees('[data-row="claude:5be0c111"]', /DERIVED GOAL Move the table currentness has not been checked · observed 2h 0m ago/);
    const gone = page.locator('[data-row="codex:0198gone"]');
    is([await gone.locator('a').count(), /not on the board now/.test(await gone.innerText()), /1 reading asked for, none readable/.test(await gone.innerText())], [0, true, true]);
    await r.sees('[data-entry=discarded]', /You discarded these words.*discarded 1h 23m ago/);
    assert.doesNotMatch(await text('[data-entry=discarded]'), /Nothing typed|reading asked for/);
  });

  test('UI-215 ANN-112 a changed token withdraws the words before it loads, and an old answer is dropped', async () => {
    await r.open('#n=intent', { ...whole(NOW), intent_revision: 'a1' }, LOG);
    await page.waitForSelector('[data-entry=typed]');
    const n = r.asked('/api/annotations').length;
    await r.publish({ ...whole(NOW + 1), intent_revision: 'a1' });
    await r.quiet();
    assert.equal(r.asked('/api/annotations').length, n, 'an equal token loads nothing');
    r.server.gets.set('/api/annotations', { status: 500, body: {} });
    await r.publish({ ...whole(NOW + 2), intent_revision: 'a0' });
    await page.waitForSelector('text=could not be read: the server answered 500');
    assert.doesNotMatch(await text('main'), /One line for each release/);
    assert.ok(await page.locator('[data-entry=board]').count() > 5, 'the board stays');
    assert.equal(r.asked('/api/annotations').length, n + 1);
    await r.publish({ ...whole(NOW + 3), intent_revision: 'a0' });
    await r.quiet();
    assert.equal(r.asked('/api/annotations').length, n + 1, 'no second try within twenty seconds');
  });

  test('UI-216 with annotations off the board’s own sources stay', async () => {
    await r.open('#n=intent', { ...morning(NOW), annotate: false }, LOG);
    await r.sees('main', /Annotations are off for this run: typed words are withheld/);
    await r.quiet();
    is([r.asked('/api/annotations').length, await page.locator('[data-entry=board]').count()], [0, 9]);
    await r.open('#n=intent', payload(NOW, []), { '/api/annotations': { body: { annotations: [], notice: 'The store cannot be read.' } } });
    await page.waitForSelector('text=The store cannot be read.');
  });

  test('UI-008 UI-011 hostile and broken boards and replies break neither view', async () => {
    for (const scene of [hostile, broken]) for (const place of ['#n=attention', '#n=intent']) {
      await r.open(place, scene(NOW), { '/api/annotations': { body: { annotations: [null, 4, { harness: '<b>', sid: '<img src=x>', goal: '<img src=x>', revision: 'x', departures: 5, at: 'y' }] } } });
      await r.quiet();
      is([await page.locator('main img, main script').count(), r.faults], [0, []], place);
      assert.doesNotMatch(await text('main'), /could not be drawn/);
    }
  });

  test('UI-232 UI-024 rows are reached by keys, and back returns to the item', async () => {
    await r.open('#n=sessions', pressed(NOW), LOG);
    await page.keyboard.press('a');
    await page.waitForSelector('[data-view=attention] .item');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const key = await page.evaluate(() => document.activeElement.closest('[data-row]').dataset.row);
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-view=session]');
    await page.goBack();
    await page.waitForSelector('[data-view=attention] .item');
    assert.equal(await page.evaluate(() => document.activeElement.closest('[data-row]')?.dataset.row), key);
    await page.keyboard.press('i');
    await page.waitForSelector('[data-view=intent] .log-item');
    await page.reload();
    await page.waitForSelector('[data-view=intent] .log-item');
    await page.keyboard.press('Escape');
    await page.waitForSelector('[data-view=sessions]');
  });

  test('UI-244 LOOK-070 no accessibility violation in Attention and the log', async () => {
    await r.open('#n=attention', pressed(NOW));
    await page.locator('[data-group=needs] [data-act=more]').click();
    await page.click('summary:has-text("per-harness detail")');
    await r.accessible('attention');
    await r.open('#n=intent', whole(NOW), LOG);
    await page.waitForSelector('[data-entry=typed]');
    await r.accessible('intent');
    await r.open('#n=attention', hostile(NOW));
    await r.accessible('hostile');
  });

  // ---- notifications

  const stub = (permission) => page.addInitScript((p) => {
    globalThis.shown = [];
    globalThis.Notification = class {
      static permission = p;

      static requestPermission() {
        globalThis.Notification.permission = 'granted';
        return Promise.resolve('granted');
      }

      constructor(title, options) { globalThis.shown.push({ title, ...options, raised: this }); }

      close() {}
    };
  }, permission);
  const shown = () => page.evaluate(() => globalThis.shown.map(({ title, body, tag }) => [title, body, tag]));
  const one = (more, top) => payload(NOW, [row('claude', 'aaaa0001', { title: 'T', ...more })], top);

  test('UI-220 UI-222 NOTE-050 NOTE-051 the first payload primes, each edge is raised once, a click opens its session, and quiet hours hold all but questions', async () => {
    await stub('granted');
    await r.open('#n=sessions', one({ state: 'working' }));
    await r.quiet();
    is(await shown(), []);
    await r.publish(one({ state: 'needs_input', state_detail: 'Permission: shell' }));
    await r.publish({ ...one({ state: 'needs_input', state_detail: 'Permission: shell' }), generated: NOW + 1 });
    is(await shown(), [['Claude is waiting on you', '[acme/shop] Permission: shell', 'claude:aaaa0001']]);
    await r.publish(one({ state: 'working' }));
    await r.publish(one({ state: 'idle', state_detail: '' }));
    await r.publish(one({ state: 'working' }));
    await r.publish(one({ state: 'idle' }));
    is((await shown()).map((n) => n[0]), ['Claude is waiting on you', 'Claude has gone quiet'], 'a quiet nudge once in ten minutes');
    const ask = (id, harness) => ({ id, harness, session_id: '', project: '/p', question: 'Which?', options: ['a', 'b'], age_sec: 1 });
    await r.publish(one({ state: 'needs_input' }, { in_quiet_hours: true, asks: [ask('q1', 'claude')] }));
    is((await shown()).at(-1), ['Claude is asking you', 'Which? · /p', 'cargento-ask:q1']);
    assert.equal((await shown()).length, 3);
    await r.publish(one({ state: 'needs_input' }, { asks: [ask('q1', 'claude'), ask('q2', 'x'), ask('q3', '')] }));
    is((await shown()).at(-1), ['2 questions are waiting for your answer', 'Open Attention to answer them.', 'cargento-ask']);
    await page.evaluate(() => globalThis.shown[0].raised.onclick());
    await page.waitForFunction(() => location.hash === '#n=session:acme%2Fshop:claude:aaaa0001');
  });

  test('UI-224 NOTE-053 the lane is reported without a session, once per newer payload, three failures at most', async () => {
    await r.open('#n=sessions', one({}));
    r.server.replies.set('/api/lane', { status: 500 });
    for (let i = 1; i <= 6; i += 1) {
      await r.quiet();
      await r.publish({ ...one({}), generated: NOW + i });
    }
    await r.quiet();
    const bodies = r.posted('/api/lane');
    is([new Set(bodies.map((b) => JSON.stringify(b))), bodies.length <= 4], [new Set(['{"supported":true,"permission":"granted"}']), true]);
    await r.open('#n=sessions', one({}, { browser_lane: true }));
    await r.quiet();
    is(r.posted('/api/lane'), []);
  });

  test('UI-220 UI-221 a native backend silences the page; asking happens only on a press', async () => {
    await r.open('#n=sessions', one({ state: 'working' }, { native_notify: 'notify-send' }));
    await r.quiet();
    await r.publish(one({ state: 'needs_input' }, { native_notify: 'notify-send' }));
    is([await shown(), await page.locator('[data-act=notify]').count(), r.posted('/api/lane')], [[], 0, []]);
    await stub('default');
    await r.open('#n=sessions', one({}));
    await page.waitForSelector('[data-act=notify]');
    await r.publish(one({ state: 'needs_input' }));
    is(await shown(), []);
    await page.click('[data-act=notify]');
    await page.waitForSelector('[data-act=notify]', { state: 'detached' });
    is(await r.sent('/api/lane', 1), [{ supported: true, permission: 'granted' }]);
    await stub('denied');
    await r.open('#n=sessions', one({}));
    await page.waitForSelector('text=notifications blocked');
    assert.match(await page.getAttribute('.notify', 'title'), /site settings/);
  });

  test('UI-223 stage conditions: primed silently, raised by the leading tab, each event once', async () => {
    await stub('granted');
    const rule = (id) => ({ id, workflow: 'release', stage: 'review', event_id: `${id}:1` });
    const top = (...rules) => ({ tripwires: { enabled: true, error: '', sources: [], rules } });
    await page.evaluate(() => localStorage.clear());
    await r.open('#n=sessions', one({}, top(rule('a'))));
    await r.until(() => page.evaluate(() => localStorage.getItem('cargento.next.leader') !== null), 'a leading tab');
    await r.quiet();
    await r.publish(one({}, top(rule('a'), rule('b'))));
    await r.publish({ ...one({}, top(rule('a'), rule('b'))), generated: NOW + 1 });
    is(await shown(), [['A stage condition was met', 'release · review', 'cargento-stage:b:1']]);
  });

  test('CLI-033 a demo says at rest that its data is invented', async () => {
    for (const place of ['#n=sessions', '#n=attention']) {
      await r.open(place, { ...morning(NOW), demo: true });
      await r.sees('[data-notice=demo]', /Every session shown is invented/);
      await r.accessible(`demo ${place}`);
    }
    await r.open('#n=sessions', morning(NOW));
    assert.equal(await page.locator('[data-notice=demo]').count(), 0);
  });
});
