// The session page in a browser: the question, the words, the reading, and what a session did.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { NOW, dwell, suite } from './rig.mjs';
import { broken, hostile, morning } from './payloads.mjs';
import { annotated, deck, forty, lone, readings, record, whole } from './scenes.mjs';

const is = assert.deepEqual;
const PLACE = '#n=session:acme%2Fshop:claude:27d10654';
const GETS = { '/api/project-context': { body: record(NOW) }, '/api/session': { body: deck(NOW) } };
const ME = { harness: 'claude', sid: '27d10654' };
let r;
let page;

const alone = (more, top) => lone(NOW, more, top);
const text = (selector) => r.text(selector);
const act = (name) => page.locator(`[data-act=${name}]`);

suite((made) => {
  r = made;
  page = r.page;
}, () => {

  test('UI-121 UI-122 UI-123 UI-125 the page stands in its order, question first', async () => {
    await r.open(PLACE, whole(NOW), GETS);
    is(r.faults, []);
    await r.sees('.sess-head', 'NEEDS INPUT', 'Fix checkout totals', 'Claude', '27d10654', '412/m', 'blocked 14m', 'COPY ID', 'COPY LINK', 'COPY COMMAND', 'RAISE');
    is(await page.$$eval('[data-part=question],[data-part=panel],[data-part=activity]', (l) => l.map((n) => n.dataset.part)), ['question', 'panel', 'activity']);
    is(await page.$$eval('[data-part=activity] > [data-part], [data-part=activity] > section', (l) => [...new Set(l.map((n) => n.dataset.part))]), ['current', 'assignment', 'tasks', 'tokens', 'reports', 'notifications', 'stages', 'calls', 'states', 'landed', 'record']);
    is(await page.$$eval('main :is(h1,h2,h3,h4,h5)', (l) => l.map((n) => Number(n.tagName[1])).every((n, i, a) => i === 0 || n <= a[i - 1] + 1)), true, 'headings step down one at a time');
    await r.quiet();
    await r.sees('[data-part=activity]', 'Git state was not measured', 'TASKS · 2 OF 4 DONE', '90.2k output tokens this session', 'Command shape reported: force push', 'does not say', '2 notifications were raised. The most recent', 'Not all raises ended alike', 'tax-rules', 'It stands still on a request to you', 'cargo test queue');
    assert.ok(!(await text('[data-part=activity]')).includes('of another session'), 'the record names this session alone');
    for (const fact of ['now', 'next', 'blocked', 'where']) assert.equal(await page.locator(`[data-fact=${fact}]`).count(), 1, fact);
  });

  test('UI-120 a session that is not there says so, before and after the first payload', async () => {
    await r.open('#n=session:acme%2Fshop:claude:nobody', morning(NOW), GETS);
    await r.sees('main', 'This session is not in the current payload.', 'Claude', 'nobody', 'observed in the last 24 hours', 'All sessions');
    await page.goto('about:blank');
    r.server.fail('hang');
    await page.goto(`${r.url}${PLACE}`);
    await page.waitForSelector('text=The first payload has not arrived yet.');
    r.server.fail(null);
  });

  test('UI-047 a stalled board keeps the page and says so', async () => {
    await r.open(PLACE, whole(NOW), GETS);
    r.server.fail('500');
    r.server.set(whole(NOW));
    await r.until(() => r.asked('/api/data').length === 2, 'the first failure');
    await r.quiet();
    r.server.set(whole(NOW));
    await page.waitForSelector('[data-state=stalled]');
    await r.sees('h1', /Fix checkout totals/);
    r.server.fail(null);
  });

  test('UI-180 answering: no option is preferred, and the card goes only with the payload', async () => {
    await r.open(PLACE, whole(NOW), GETS);
    is(await act('answer').allInnerTexts(), ['Yes, run it', 'Skip it', 'Stop here']);
    is(await page.$$eval('[data-act=answer]', (l) => [...new Set(l.map((n) => n.className))]), ['btn btn-plain btn-option']);
    assert.equal(await page.evaluate(() => document.activeElement.dataset.act === 'answer'), false);
    r.server.replies.set('/api/answer', { body: { ok: true, answered: false } });
    await act('answer').nth(1).click();
    await page.waitForSelector('text=No confirmation came back');
    assert.equal(await act('answer').count(), 3);
    is(r.posted('/api/answer'), [{ id: 'kq3v0Z9yT1mJx2bQ7cLr8w', index: 1 }]);
    r.server.replies.set('/api/answer', { body: { ok: true, answered: true } });
    await act('answer').nth(0).click();
    await r.sent('/api/answer', 2);
    const next = whole(NOW + 5);
    next.asks = [];
    next.sessions[0].state = 'working';
    await r.publish(next);
    assert.equal(await act('answer').count(), 0);
  });

  test('UI-130 one primary control at most', async () => {
    await r.open(PLACE, whole(NOW), GETS);
    is(await page.$$eval('.btn-primary', (l) => l.map((n) => n.dataset.act)), ['raise']);
    await r.open(PLACE, alone(annotated(NOW)), GETS);
    is(await page.$$eval('.btn-primary', (l) => l.map((n) => n.dataset.act)), ['analyze']);
    const gate = alone({ ...annotated(NOW), state: 'needs_input', state_detail: 'Permission: shell' });
    await r.open(PLACE, gate, GETS);
    is(await page.$$eval('.btn-primary', (l) => l.map((n) => n.dataset.act)), []);
    await r.sees('[data-part=question]', /ASKED YOU.*Permission: shell.*own terminal/);
  });

  test('UI-132 UI-133 UI-135 typing survives twenty revisions with its caret, and Save stands only while something differs', async () => {
    await r.open(PLACE, alone(annotated(NOW)), GETS);
    assert.equal(await act('save-intent').count(), 0);
    const box = page.locator('[data-field=goal]');
    await box.fill('Ship the retry queue safely');
    await page.evaluate(() => document.querySelector('[data-field=goal]').setSelectionRange(4, 4));
    for (let i = 1; i <= 20; i += 1) await r.publish({ ...alone({ ...annotated(NOW), state_detail: `step ${i}` }), generated: NOW + i });
    is(await page.evaluate(() => [document.activeElement.dataset.field, document.activeElement.value, document.activeElement.selectionStart]), ['goal', 'Ship the retry queue safely', 4]);
    assert.equal(await act('save-intent').count(), 1);
    await r.sees('.intent', /27\/240/);
    await page.keyboard.press('Escape');
    is([await box.inputValue(), await act('save-intent').count(), await page.evaluate(() => location.hash)], ['Ship the retry queue', 0, PLACE]);
    await box.fill('a\tb\u202ec');
    assert.equal(await box.inputValue(), 'a b c');
    await act('undo-intent').click();
    assert.equal(await box.inputValue(), 'Ship the retry queue');
    is(await page.evaluate(() => Object.values({ ...localStorage }).some((v) => /retry|safely/.test(v))), false);
    is(r.posted('/api/annotate'), []);
  });

  test('UI-133 UI-134 ANN-043 a save sends what differs against the drawn revision, and says what became of it', async () => {
    await r.open(PLACE, alone(annotated(NOW)), GETS);
    await page.locator('[data-field=line]').nth(0).fill('unit and tax tests pass');
    r.server.replies.set('/api/annotate', { body: { ok: false, persisted: false, outcome: 'refused' } });
    await act('save-intent').click();
    await page.waitForSelector('[data-part=panel] >> text=still in the box');
    is(r.posted('/api/annotate'), [{ ...ME, goal: null, lines: ['unit and tax tests pass', 'also log the drop count'], origins: [0, 1], expected_revision: 4 }]);
    assert.equal(await page.locator('[data-field=line]').nth(0).inputValue(), 'unit and tax tests pass');
    const said = new Set();
    for (const outcome of ['unwritable', 'untrusted', 'unreadable']) {
      r.server.replies.set('/api/annotate', { body: { ok: false, persisted: false, outcome } });
      const before = await text('.intent-acts .cue-text');
      await act('save-intent').click();
      await r.until(async () => (await text('.intent-acts .cue-text').catch(() => before)) !== before, `words for ${outcome}`);
      said.add(await text('.intent-acts .cue-text'));
    }
    assert.equal(said.size, 3);
    await page.locator('[data-field=goal]').fill('Ship it');
    r.server.replies.set('/api/annotate', { body: { ok: true, persisted: true, outcome: 'stored', annotation: { revision: 5 } } });
    await act('save-intent').click();
    await page.waitForSelector('text=Saved as revision 5.');
    is(r.posted('/api/annotate').at(-1), { ...ME, goal: 'Ship it', lines: ['unit and tax tests pass', 'also log the drop count'], origins: [0, 1], expected_revision: 4 });
    await r.sees('#polite', /Saved as revision 5/);
    await r.publish({ ...alone({ ...annotated(NOW), annotation_goal: 'Ship it', annotation_line_1: 'unit and tax tests pass', annotation_revision: 5, annotation_revision_count: 5 }), generated: NOW + 9 });
    is([await act('save-intent').count(), await page.locator('[data-field=goal]').inputValue()], [0, 'Ship it']);
    await r.publish({ ...alone({ ...annotated(NOW), annotation_revision: 20, annotation_revision_count: 16 }), generated: NOW + 10 });
    await r.sees('.intent', /revision 20, 16 kept · typed 12m ago · older revisions dropped/);
  });

  test('UI-132 six lines, and a seventh refuses in words', async () => {
    await r.open(PLACE, alone(), GETS);
    for (let i = 0; i < 6; i += 1) {
      await act('add-line').click();
      await page.waitForFunction((n) => document.activeElement === document.querySelectorAll('[data-field=line]')[n], i);
      await page.keyboard.type(`line ${i}`);
    }
    assert.equal(await act('add-line').getAttribute('aria-disabled'), 'true');
    await act('add-line').click({ force: true });
    await page.waitForSelector('text=Replace or merge one.');
    await r.sees('#polite', /Replace or merge/);
    await act('remove-line').nth(5).click();
    assert.equal(await page.locator('[data-field=line]').count(), 5);
  });

  test('UI-108 UI-137 ANN-081 a shown prompt is offered, adopted as shown, and saved only then', async () => {
    const asked = alone({ instruction: { label: 'asked', text: 'port the parser', at: NOW - 300 }, first_prompt: 'look at the parser', first_prompt_at: NOW - 900 });
    await r.open('#n=sessions', asked, GETS);
    await page.click('[data-act=goal]');
    await page.waitForSelector('[data-part=panel]');
    await page.waitForFunction(() => document.activeElement.tagName === 'H2');
    assert.equal(await page.locator('[data-field=goal]').inputValue(), 'port the parser');
    await r.sees('.intent', /Your latest prompt, 5m old\. It is shown, not saved/);
    is(r.posted('/api/annotate'), []);
    await act('save-intent').click();
    is((await r.sent('/api/annotate', 1)), [{ ...ME, adopt: 'latest-prompt', prompt: 'port the parser', prompt_at: NOW - 300, expected_revision: 0 }]);
    await act('use-prompt').click();
    assert.equal(await page.locator('[data-field=goal]').inputValue(), 'look at the parser');
    await page.locator('[data-field=goal]').fill('look at the lexer');
    await act('save-intent').click();
    is((await r.sent('/api/annotate', 2)).at(-1), { ...ME, goal: 'look at the lexer', lines: null, expected_revision: 0 });
    await r.open('#n=sessions', alone(), GETS);
    await page.click('[data-act=goal]');
    await page.waitForFunction(() => document.activeElement.dataset?.field === 'goal');
  });

  test('UI-138 discarding takes two presses apart, says what goes, and Escape only disarms', async () => {
    await r.open(PLACE, alone(annotated(NOW)), GETS);
    const discard = act('discard');
    await discard.dblclick();
    await r.sees('#assertive', /Press again to discard\. Every revision of these words goes/);
    await r.quiet();
    is(r.posted('/api/annotate'), []);
    assert.equal(await discard.getAttribute('aria-describedby'), 'discard-what');
    await r.publish({ ...alone({ ...annotated(NOW), state_detail: 'on' }), generated: NOW + 3 });
    await r.sees('#discard-what', /Every revision/);
    await page.keyboard.press('Escape');
    is([await discard.getAttribute('data-armed'), await page.innerText('#assertive'), await page.evaluate(() => location.hash)], [null, '', PLACE]);
    await discard.click();
    await dwell(page);
    r.server.replies.set('/api/annotate', { body: { ok: true, persisted: true, outcome: 'stored', withdrawn: false } });
    await discard.click();
    await page.waitForSelector('text=goes on quoting it');
    is(r.posted('/api/annotate'), [{ ...ME, clear: true }]);
    await r.publish(alone({ annotation_discarded_at: NOW - 5, annotation_discarded_why: 'You discarded these words.' }));
    assert.equal(await discard.count(), 0);
    await r.sees('.intent', /You discarded these words\. Discarded 5s ago/);
  });

  test('UI-139 with annotations off there is no field, and Analyze drift stays with its reason', async () => {
    await r.open(PLACE, alone({}, { annotate: false, reading: undefined }), GETS);
    assert.equal(await page.locator('[data-field]').count(), 0);
    assert.equal(await act('analyze').getAttribute('aria-disabled'), 'true');
    await r.sees('.analyze', /Annotations are off for this run/);
    await act('analyze').click({ force: true });
    is(r.posted('/api/reading'), []);
  });

  test('UI-140 UI-141 each reason stands with one next step, and goes with its cause', async () => {
    const words = annotated(NOW);
    for (const [more, top, said] of [
      [{}, {}, 'There is nothing to read against yet'], [words, readings({ reason: 'run-disabled' }), 'Model calls are off'], [words, readings({ reason: 'daily-cap', used: 12, retry_at: NOW + 600 }), 'All 12 attempts'],
      [words, readings({ reason: 'store-unavailable' }), 'permission for readings could not be read'], [words, { reading: undefined }, 'This server does not offer readings'],
    ]) {
      await r.open(PLACE, alone(more, top), GETS);
      await r.sees('#analyze-why', new RegExp(said));
      assert.equal(await act('analyze').getAttribute('aria-disabled'), 'true', said);
    }
    const none = readings();
    none.reading_routes.claude = { ...none.reading_routes.claude, provider: '', note: 'Neither program is installed here.' };
    await r.open(PLACE, alone(words, none), GETS);
    assert.equal(await act('analyze').count(), 0);
    await r.sees('.drift', /Neither program is installed here/);
    await r.open(PLACE, alone(words), GETS);
    await page.locator('[data-field=goal]').fill('Something else');
    await act('analyze').click({ force: true });
    await r.sees('#analyze-why', /Save or undo your changes first/);
    await act('undo-intent').click();
    assert.equal(await page.locator('#analyze-why').count(), 0);
  });

  test('UI-142 READ-143 the first press opens the disclosure, and only Allow sends', async () => {
    const asked = { instruction: { label: 'asked', text: 'port the parser', at: NOW - 300 } };
    await r.open(PLACE, alone(asked, readings({ providers: { claude: false }, tool_output: {} })), GETS);
    await act('analyze').click();
    await r.sees('[data-part=confirm]', /sends session content off this machine.*Anthropic.*taken over as the goal/);
    await act('not-now').click();
    is([await page.locator('[data-part=confirm]').count(), r.posted('/api/reading').length], [0, 0]);
    await act('analyze').click();
    r.server.replies.set('/api/reading', { status: 202, body: { produced: false, job: { id: '9f0a1b2c3d4e5f60', phase: 'preparing' } } });
    await act('allow').click();
    await page.waitForFunction(() => !document.querySelector('[data-part=confirm]'));
    is(r.posted('/api/reading'), [{ ...ME, provider: 'claude', press: true, observer_model: 1, allow: true, tool_output: 'Anthropic', adopt: { source: 'latest-prompt', text: 'port the parser', at: NOW - 300 } }]);
  });

  test('UI-144 every reply has its own words and nothing is retried', async () => {
    await r.open(PLACE, alone(annotated(NOW)), GETS);
    for (const [reply, words] of [
      [{ status: 409, body: { reason: 'provider-changed' } }, 'receiver changed'], [{ status: 409, body: { reason: 'in-flight', job: null } }, 'already in progress'], [{ status: 409, body: { reason: 'goal-changed' } }, 'changed since this was shown'],
      [{ status: 429, body: { reason: 'daily-cap', retry_at: NOW + 60 } }, 'next is free at'], [{ status: 503, body: { reason: 'x', route: { note: 'No program for it.' } } }, 'No program for it'], [{ status: 200, body: { produced: false } }, 'Nothing was produced'], [{ drop: true }, 'could not be confirmed'], [{ status: 500 }, 'could not be confirmed'],
    ]) {
      r.server.replies.set('/api/reading', reply);
      const n = r.asked('/api/reading').length;
      await act('analyze').click();
      await page.waitForSelector(`#analyze-why:has-text("${words}")`);
      await r.quiet();
      // A dropped connection is tried anew by the browser itself, below the page; that one is not counted.
      if (!reply.drop) assert.equal(r.asked('/api/reading').length, n + 1, words);
    }
    r.server.replies.set('/api/reading', { status: 403, body: { reason: 'consent-required' } });
    await act('analyze').click();
    await page.waitForSelector('[data-part=confirm]');
  });

  test('UI-143 UI-145 a running reading is a box with its steps in every tab, and Cancel names the job', async () => {
    const job = { id: '9f0a1b2c3d4e5f60', phase: 'waiting', phase_at: NOW - 5, started_at: NOW - 9, provider: 'claude', cancelling: false, steps: [{ phase: 'preparing', text: 'Preparing what is sent' }, { phase: 'waiting', text: 'Waiting for Claude' }, { phase: 'checking', text: 'Checking the reply' }] };
    const running = { ...readings(), reading_jobs: { 'claude:27d10654': job } };
    await r.open(PLACE, alone(annotated(NOW), running), GETS);
    assert.equal(await act('analyze').count(), 0);
    await r.sees('[data-part=job]', /Analyzing drift 9s.*Preparing what is sent.*Waiting for Claude \(now\).*3 of 12 attempts/);
    assert.equal(await text('[aria-current=step]'), '▶Waiting for Claude (now)');
    r.server.replies.set('/api/reading/cancel', { status: 409, body: { ok: false, reason: 'not-running' } });
    await act('cancel-reading').click();
    await page.waitForSelector('[data-part=job] >> text=no longer running');
    is(r.posted('/api/reading/cancel'), [{ ...ME, job: '9f0a1b2c3d4e5f60' }]);
    await r.publish(alone(annotated(NOW), { ...running, reading_jobs: { 'claude:27d10654': { ...job, cancelling: true } } }));
    assert.equal(await act('cancel-reading').getAttribute('aria-disabled'), 'true');
    await r.publish(alone(annotated(NOW)));
    assert.equal(await act('analyze').count(), 1);
    assert.equal(await page.innerText('#polite'), 'The analysis ended.');
  });

  test('UI-146 READ-098 READ-133 a reading has one row for each line, and an open question states no departure', async () => {
    const settled = { ...annotated(NOW), annotation_settled_through: NOW - 100 };
    await r.open(PLACE, alone(settled), GETS);
    await page.waitForSelector('[data-constraint=line_2]');
    await r.sees('[data-part=reading]', /Departs: at least one line.*read revision 3, 4 is current.*verifies nothing/);
    await r.sees('[data-constraint=goal]', /Undecided.*No entry of the record was cited/);
    await r.sees('[data-constraint=line_1]', /Departs from your words.*The latest test run failed\. \(the model’s sentence\).*tool_report.*cargo test/);
    await r.sees('[data-constraint=line_2]', /as the tool reported it; nothing was inspected.*no longer in the record read/);
    await r.open(PLACE, alone(annotated(NOW)), GETS);
    await page.waitForSelector('[data-part=conflict]');
    await r.sees('[data-constraint=line_1]', /Not verifiable: you said something later/);
    assert.doesNotMatch(await text('[data-part=reading]'), /The latest test run failed/);
  });

  test('UI-147 READ-136 a conflict is a question: settling names the newest shown, retyping only moves the caret', async () => {
    await r.open(PLACE, alone(annotated(NOW)), GETS);
    await page.waitForSelector('[data-part=conflict]');
    await r.sees('[data-part=conflict]', /50m ago Also log the drop count/);
    await act('retype').click();
    assert.equal(await page.evaluate(() => document.activeElement.dataset.field), 'goal');
    r.server.replies.set('/api/annotate', { body: { ok: true, persisted: true, outcome: 'stored' } });
    await act('settle').click();
    is(await r.sent('/api/annotate', 1), [{ ...ME, settle_through: NOW - 3000, expected_revision: 4 }]);
  });

  test('UI-148 UNA-070 UNA-074 departures stand in two collections with figures of their own', async () => {
    await r.open(PLACE, whole(NOW), GETS);
    await r.sees('[data-part=departures]', 'FROM THE READING YOU ASKED FOR', 'FROM THE CHECKS WHILE YOU WERE AWAY', 'The session moved to the CLI help.', 'read revision 3, 4 is current', 'No later check has read this session.', '1 departure the away checks raised', 'COPY COMMAND');
    await r.open(PLACE, alone({}, { unasked: true }), GETS);
    await r.sees('[data-part=departures]', /No reading has been made.*not measured/);
    await r.open(PLACE, alone(), GETS);
    assert.equal(await page.locator('[data-part=departures]').count(), 0);
  });

  test('UI-131 a harness whose work is not read says so', async () => {
    await r.open('#n=session:acme%2Fsite:copilot:c0ffee00-aaaa-4bbb-8ccc-dddd00001111', { ...morning(NOW), ...readings() }, GETS);
    await r.sees('.drift', /Cargento can't read work from this harness/);
    await r.sees('[data-part=activity]', /16\.61 AIU.*Source not fully read: token accounting.*Command shapes are not observed on this harness/);
  });

  test('LOOK-071 the first screen of a session shows Analyze drift; the controls of its head stand at the right', async () => {
    await r.open(PLACE, alone(annotated(NOW)), GETS);
    assert.ok(await act('analyze').evaluate((n) => n.getBoundingClientRect().bottom) <= 900);
    const box = (s) => page.$eval(s, (n) => { const { left, right, top } = n.getBoundingClientRect(); return { left, right, top }; });
    const [acts, meta, title, col] = [await box('.sess-acts'), await box('.sess-meta'), await box('.sess-title'), await box('.cols')];
    assert.ok(Math.abs(acts.right - col.right) <= 1 && acts.left > meta.left && acts.top > title.top);
    const gaps = await page.$$eval('.sess-acts .btn', (l) => l.slice(1).map((n, i) => Math.round(n.getBoundingClientRect().left - l[i].getBoundingClientRect().right)));
    assert.equal(new Set(gaps).size, 1, `gaps ${gaps}`);
    is(await page.$eval('[data-part=activity]', (n) => getComputedStyle(n).borderLeftWidth), '1px');
  });

  test('UI-129 UI-126 the facts of a session that reports little are absences in words', async () => {
    await r.open(PLACE, alone({ state: 'idle', finished_at: NOW - 60, dirty: false, last_activity: NOW - 60 }, { irreversible_enabled: false, deck: false }), { '/api/project-context': { status: 500, body: {} } });
    await page.waitForSelector('text=The record could not be read: the server answered 500.');
    await r.sees('[data-part=activity]', 'Command-shape reports are off for this run', 'Agents and calls inside a session are not read in this run', 'A turn stopped; no end of the session was observed', 'A clean tree is no evidence of a deliverable', 'The record has not been read', 'No turn in progress', 'Stop observed; git state clean');
    await r.open(PLACE, alone({ state: 'idle', finished_at: NOW - 60 }), { '/api/project-context': { body: { ...record(NOW), semantic: { facts: [{ fact_id: 'f', at: NOW, type: 'work_result', summary: 'done as asked', evidence: { source: 'p', confidence: 'exact' }, source_session: ME }] } } } });
    await page.waitForSelector('text=The agent reported it finished');
  });

  test('UI-008 UI-011 hostile and broken sessions, words and replies break nothing', async () => {
    const bad = '<img src=x onerror=alert(1)>';
    for (const scene of [hostile, broken]) {
      const body = { ...scene(NOW), ...readings() };
      for (const s of body.sessions.filter((x) => x?.sid).slice(0, 8)) {
        await r.open(`#n=session:${encodeURIComponent(typeof s.project === 'string' ? s.project.replace(/\p{Surrogate}/gu, '\ufffd') : '')}:claude:${s.sid}`, body, { '/api/project-context': { body: { semantic: { facts: [{ fact_id: bad, type: bad, summary: bad, at: 'x', source_session: { harness: 'claude', sid: s.sid } }, 7, null] } } }, '/api/session': { body: { agents: [{ id: bad, name: bad }, 4], calls: [{ id: bad, agent: bad, tool: bad, at: NOW }, null], findings: 'x', parked: [1] } } });
        await r.quiet();
        is(await page.locator('main img, main script').count(), 0);
        is(r.faults, []);
      }
    }
    for (const odd of [{ reading: 5 }, { reading: [], reading_routes: 'x', reading_jobs: { 'claude:27d10654': 3 } }, { annotate_discard: [], annotate_cap: 'x' }]) {
      await r.open(PLACE, alone({ ...annotated(NOW), annotation_assessment: { criteria: { goal: null, line_1: { result: 4, cites: 'x' } } }, departures: [{ constraint: 7 }, { constraint: 'goal', at: 'x' }], degrades: [{ code: 'no-such' }, 1] }, odd), { '/api/project-context': { body: [] }, '/api/session': { body: { agents: 'x', calls: 4 } } });
      await r.quiet();
      is(r.faults, []);
      assert.doesNotMatch(await text('main'), /could not be drawn/);
    }
  });

  test('UI-049 UI-232 keyboard alone walks the page in order, and reload and back keep it', async () => {
    await r.open(PLACE, whole(NOW), GETS);
    await page.locator('h1').focus();
    const seen = [];
    for (let i = 0; i < 24; i += 1) {
      await page.keyboard.press('Tab');
      seen.push(await page.evaluate(() => document.activeElement.dataset.act ?? document.activeElement.dataset.field ?? document.activeElement.dataset.fk ?? document.activeElement.tagName));
    }
    const order = ['copy-id', 'copy-command', 'raise', 'answer', 'clear-goal', 'goal', 'line', 'add-line', 'analyze'].map((a) => seen.indexOf(a));
    is(order, [...order].sort((a, b) => a - b));
    assert.ok(order.every((n) => n >= 0), seen.join(' '));
    await page.reload();
    await page.waitForSelector('[data-part=panel]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('[data-view=project]');
    await page.goBack();
    await page.waitForSelector('[data-part=panel]');
  });

  test('UI-144 a receiver that changed is taken over from the reply, and READ-143 a begun job stands before the board speaks of it', async () => {
    const other = { ...readings().reading_routes.claude, provider: 'codex', label: 'Codex', vendor: 'OpenAI', disclosure: 'The other receiver reads it.' };
    await r.open(PLACE, alone(annotated(NOW)), GETS);
    r.server.replies.set('/api/reading', { status: 409, body: { ok: false, reason: 'provider-changed', route: other } });
    await act('analyze').click();
    if (await act('allow').count()) await act('allow').click();
    await page.waitForSelector('#analyze-why:has-text("receiver changed")');
    r.server.replies.set('/api/reading', { status: 202, body: { ok: true, produced: false, job: { id: '9f', phase: 'preparing', started_at: NOW, provider: 'codex', steps: [{ phase: 'preparing', text: 'Preparing what is sent' }] } } });
    await act('analyze').click();
    await r.quiet();
    if (await act('allow').count()) await act('allow').click();
    await page.waitForSelector('[data-part=job]:has-text("Preparing what is sent")');
    is((await r.sent('/api/reading', 2)).map((b) => b.provider), ['claude', 'codex']);
    assert.equal(await act('analyze').count(), 0);
    const later = alone(annotated(NOW));
    await r.publish({ ...later, generated: later.generated + 5 });
    await act('analyze').waitFor();
    assert.equal(await page.locator('[data-part=job]').count(), 0, 'a newer board decides');
  });

  test('UI-148 UNA-074 NOTE-083 the board’s raises for departures, attempts and hand-overs have a line each, taken as published', async () => {
    const departures = [{ at: NOW - 90, constraint: 'goal', clause: 'Ship', reading: 'It left.', revision: 1, cutoff: NOW - 90, cutoff_text: '', follow_up: 'None later.' }];
    const of = (deliveries) => ({ ...alone({ ...annotated(NOW), departures, departure_checked: true, delivery_raises: 1 }), deliveries });
    await r.open(PLACE, of({ raises: 9, attempted: 8, handed_over: 7, departure: { raises: 3, attempted: 2, handed_over: 1 } }), GETS);
    await r.sees('.figures', '1 raise on record for this session', '3 raises for departures on this board', '2 attempts', '1 hand-over for');
    await r.publish(of({ departure: { raises: 0, attempted: 0, handed_over: 0 } }));
    await r.sees('.figures', '0 raises for departures', '0 attempts', '0 hand-overs');
    await r.publish(of('none'));
    await r.sees('.figures', 'Raises for departures: not published', 'Attempts: not published', 'Hand-overs: not published');
  });

  test('UI-121 the line under the title ends in no dangling mark', async () => {
    await r.open(PLACE, alone({ state_detail: 'Reading', turn: null, started_at: null }), GETS);
    assert.equal(await text('.sess-meta'), 'Reading');
  });

  test('UI-263 the same board again changes nothing but age text', async () => {
    await r.open(PLACE, whole(NOW), GETS);
    await page.waitForSelector('[data-part=calls] .call');
    await r.quiet();
    await page.evaluate(() => {
      window.seen = [];
      new MutationObserver((l) => window.seen.push(...l.map((m) => [m.type, m.target.nodeName, m.attributeName]))).observe(document.querySelector('#app'), { childList: true, subtree: true, attributes: true, characterData: true });
    });
    await r.publish(whole(NOW));
    await r.quiet();
    is((await page.evaluate(() => window.seen)).filter((m) => m[1] !== 'TIME'), []);
  });

  test('UI-244 LOOK-070 no accessibility violation, and nothing wider than the window', async () => {
    await r.open(PLACE, whole(NOW), GETS);
    await page.waitForSelector('[data-part=agents]');
    await r.accessible('session');
    await r.open(PLACE, forty(NOW), GETS);
    await r.accessible('forty');
    await r.open(PLACE, alone({ ...annotated(NOW), annotation_goal: 'x'.repeat(240), title: 'y'.repeat(4000) }), GETS);
    await r.accessible('long');
  });
});
