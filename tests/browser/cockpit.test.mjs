// Projects and the cockpit in a browser, against the stand-in server.
import { afterEach, test } from 'node:test';
import assert from 'node:assert/strict';
import { axe, NOW, suite } from './rig.mjs';
import { busy, hostileProject, openCockpit, record } from './cockpit-scenes.mjs';
import { crowd, payload, row, task } from './payloads.mjs';

const is = assert.deepEqual;
const SHOP = '#n=project:acme%2Fshop';
const TABLE = `${SHOP}:claude%3A5be0c111`;
const PLACES = ['#n=projects', SHOP, `${SHOP}:course`, `${SHOP}:decisions`, `${SHOP}:console`, `${TABLE}:console`, '#n=project:none'];
let r;
let page;
let server;
let faults;

const open = (place = SHOP, body = busy(NOW), context = { body: record(NOW) }) => openCockpit(r, place, body, context);

const publish = (body) => r.publish(body);
const text = (selector) => r.text(selector);
const asksOf = (path) => r.asked(path);

suite((made) => {
  r = made;
  ({ page, server, faults } = r);
}, () => {
  afterEach(() => page.unroute('**/api/project-context*'));

  test('UI-150 UI-151 projects, their members and counts', async () => {
    await open('#n=projects');
    is(await page.$$eval('[data-group]', (l) => l.map((n) => n.dataset.group)), ['conditions-projects', 'active', 'recent']);
    is(await page.$$eval('[data-project]', (l) => l.map((n) => n.dataset.project)), ['acme/billing', 'acme/shop', 'acme/docs', 'acme/site', '']);
    await r.sees('[data-project="acme/shop"]', '3 sessions · 1 working · 1 waiting on you · 1 quiet', '3 sessions share this display label', '3 of 7 tasks', 'Fix checkout totals', 'Run the migration');
    is(await page.$$eval('[data-project="acme/shop"] [data-row]', (l) => l.map((n) => [n.dataset.row.slice(0, 14), n.dataset.state])), [['claude:27d10654', 'needs_input'], ['claude:5be0c111', 'working'], ['codex:0199aaaa', 'idle']].map(([k, s]) => [k.slice(0, 14), s]));
    await r.sees('[data-group=recent]', /No project label 1 session · 1 ended/);
    await r.sees('main', /grouped by the label their harness publishes/);
    await page.click('[data-project="acme/docs"] .proj-link');
    await page.waitForSelector('[data-view=project] h1');
    await page.waitForFunction(() => document.activeElement.tagName === 'H1' && /acme\/docs — Cargento$/.test(document.title));
  });

  test('UI-157 a history that is kept and empty counts none, and UI-158 a waiting card says what runs and names declared workflows', async () => {
    const waiting = row('claude', 'w', { project: 'acme/shop', state: 'needs_input', state_detail: 'Question: which?', tasks: [task('Fix rounding', 'in_progress')], total: 1, done: 0 });
    const context = record(NOW);
    context.workflow_discovery = { state: 'error', reason: 'exit status 3', source: 'x', workflows: [{ workflow: 'declared', goal: 'Tidy up', stages: ['intake', 'done'], definition: 'read' }] };
    await open(SHOP, payload(NOW, [waiting], { history: [] }), { body: context });
    await r.sees('#cockpit-tab-course', 'Course0', 'No observed state changes');
    await r.sees('[data-group=going-on]', 'Fix rounding', 'Question: which?');
    await r.sees('[data-group=workflows]', 'declared', 'Tidy up', 'intake', 'exit status 3');
    await open(SHOP, payload(NOW, [waiting], { history: undefined }));
    await r.sees('#cockpit-tab-course', 'Course·', 'observed state changes not published');
  });

  test('UI-151 members past five stand behind a control that stays open', async () => {
    const rows = [0, 1, 2, 3, 4, 5, 6].map((i) => row('claude', `idle000${i}`, { title: `S${i}`, last_activity: NOW - i })).concat(row('claude', 'w', { state: 'working', title: 'W' }));
    await open('#n=projects', payload(NOW, rows));
    assert.equal(await page.locator('[data-project] [data-row]').count(), 5);
    await page.click('text=3 other sessions');
    await page.waitForFunction(() => document.querySelectorAll('[data-project] [data-row]').length === 8);
    await publish(payload(NOW + 5, rows));
    assert.equal(await page.locator('[data-project] [data-row]').count(), 8);
    assert.equal(await page.evaluate(() => document.activeElement.dataset.act), 'more');
  });

  test('UI-020 UI-156 routes with tabs and scope hold over reload, back, keys and clicks', async () => {
    await open(`${TABLE}:course`);
    is([await page.getAttribute('[role=tab][aria-selected=true]', 'data-tab'), await page.getAttribute('.scope-a[aria-current]', 'data-fk')], ['course', 'scope|claude:5be0c111']);
    await page.reload();
    await page.waitForSelector('#cockpit-tab-course[aria-selected=true]');
    await page.focus('#cockpit-tab-course');
    for (const [key, tab] of [['ArrowRight', 'decisions'], ['End', 'console'], ['ArrowRight', 'now'], ['ArrowLeft', 'console'], ['Home', 'now']]) {
      await page.keyboard.press(key);
      await page.waitForSelector(`#cockpit-tab-${tab}[aria-selected=true]`);
      await page.waitForFunction((id) => document.activeElement.id === id, `cockpit-tab-${tab}`);
    }
    assert.equal(await page.evaluate(() => location.hash), TABLE);
    is(await page.$$eval('[role=tab]', (l) => l.map((n) => n.tabIndex)), [0, -1, -1, -1]);
    await r.sees('[role=tabpanel]', /Now stays project-wide/);
    await page.click('#cockpit-tab-decisions');
    await page.click('[data-fk="scope|project"]');
    await page.waitForFunction((h) => location.hash === h, `${SHOP}:decisions`);
    await page.waitForSelector('[data-fk="scope|project"][aria-current]');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.fk), 'scope|project', 'changing scope keeps the tab and the focus');
    await page.goBack();
    await page.waitForFunction((h) => location.hash === h, `${TABLE}:decisions`);
    await page.keyboard.press('Escape');
    await page.waitForSelector('[data-view=sessions]');
  });

  test('UI-153 the scope rail says title, state and age, and never an id for a title', async () => {
    await open();
    const rail = await page.$$eval('.scope-a', (l) => l.map((n) => n.innerText.replaceAll(/\s+/g, ' ')));
    assert.match(rail[0], /^acme\/shop 3 sessions$/);
    assert.match(rail[1], /^Move the session table.*Claude · working · 4s$/);
    assert.match(rail[2], /^Fix checkout totals Claude · needs input · 14m$/);
    const twins = [0, 1].map((i) => row('claude', `twin000${i}`, { state: 'working', last_activity: NOW - 5 }));
    await open(SHOP, payload(NOW, twins));
    await r.sees('nav[aria-label=Scope]', /SCOPE · Claude.*Session title not published working · 5s · twin0000.*twin0001/i);
  });

  test('UI-154 UI-155 the briefing keeps the wait in sight on every tab and at every scope', async () => {
    for (const place of [SHOP, `${TABLE}:course`, `${SHOP}:decisions`, `${SHOP}:console`]) {
      await open(place);
      await r.sees('[aria-label=Briefing]', 'WAITING ON YOU 14m', 'Fix checkout totals', 'Run the migration against staging before the tax tests?', 'RAISE', 'COPY COMMAND', 'YOUR WORDS · GOAL', 'DERIVED FROM THE HARNESS', 'observed 4m ago', 'case-9 · review', 'importer', 'claude-opus-5', 'Push needs a separate authorization', 'LATEST EVIDENCE', 'DIRECTION');
    }
    await r.sees('main', /LATEST EVIDENCE check run: cargo test: 41 passed 6m ago/);
    await page.click('summary:has-text("Source") >> nth=0');
    await page.waitForSelector('text=tool report in the transcript');
    await open(SHOP, payload(NOW, [row('goose', 'g1', { title: 'Quiet one', last_activity: NOW - 9 })], { annotate: false }), { status: 500, body: {} });
    await r.sees('main', 'No workflow item and no exact direction published', 'Annotations off', 'nothing was typed, and the observed record could not be read', 'No working session observed', 'No reported wait; 0 of 1 sessions report block state', 'No evidence observed (the observed record could not be read)', 'No direction published');
  });

  test('UI-157 UI-164 cues tell loading, absent, failed, empty and stale apart, and never show an unread zero', async () => {
    const cue = () => page.$eval('#cockpit-tab-decisions', (n) => [n.querySelector('.tab-cue').textContent, n.querySelector('.sr').textContent]);
    let release;
    await open(SHOP, busy(NOW), null);
    await page.waitForFunction(() => document.querySelector('#cockpit-tab-decisions .tab-cue')?.textContent === '·');
    is(await cue(), ['·', ', decisions not published']);
    const before404 = asksOf('/api/project-context').length;
    await publish(busy(NOW + 5));
    await r.quiet();
    assert.equal(asksOf('/api/project-context').length, before404, 'a server without the record is not asked again');
    await page.route('**/api/project-context*', async (route) => { await new Promise((d) => { release = d; }); await route.continue(); });
    await open(SHOP, busy(NOW), null);
    is(await cue(), ['…', ', decisions not loaded yet']);
    await page.click('#cockpit-tab-decisions');
    await page.waitForSelector('text=Decisions not loaded yet.');
    await r.until(() => release !== undefined, 'the held request');
    server.gets.set('/api/project-context', { body: record(NOW, { semantic: { ...record(NOW).semantic, facts: [] } }) });
    release();
    await page.waitForFunction(() => document.querySelector('#cockpit-tab-decisions .tab-cue').textContent === '0');
    is(await cue(), ['0', ', No decisions observed']);
    await page.unroute('**/api/project-context*');
    await open(SHOP, busy(NOW), { status: 500, body: {} });
    is(await cue(), ['—', ', decisions could not be read']);
    await open();
    is(await cue(), ['3', ', 3 decisions']);
    server.gets.set('/api/project-context', { status: 500, body: {} });
    await publish(busy(NOW + 9));
    await page.waitForFunction(() => document.querySelector('#cockpit-tab-decisions .tab-cue').textContent === '3 stale');
    is(await cue(), ['3 stale', ', 3 decisions, refresh has failed since']);
    is(await page.$eval('#cockpit-tab-course', (n) => [n.querySelector('.tab-cue').textContent, n.querySelector('.sr').textContent]), ['5', ', 5 observed state changes']);
    await open(SHOP, { ...busy(NOW), history: undefined });
    is(await page.$eval('#cockpit-tab-course', (n) => [n.querySelector('.tab-cue').textContent, n.querySelector('.sr').textContent]), ['·', ', observed state changes not published']);
    is(await page.$$eval('#cockpit-tab-now .tab-cue, #cockpit-tab-console .tab-cue', (l) => l.length), 0);
  });

  test('UI-164 the record is asked for the key, the scope, and again for a newer payload', async () => {
    await open(`${TABLE}:decisions`);
    assert.equal(asksOf('/api/project-context')[0].query, '?project=acme%2Fshop&session=claude%3A5be0c111');
    await r.quiet();
    const n = asksOf('/api/project-context').length;
    await publish(busy(NOW + 5));
    await r.quiet();
    assert.equal(asksOf('/api/project-context').length, n + 1);
    await publish(busy(NOW + 5));
    await r.quiet();
    assert.equal(asksOf('/api/project-context').length, n + 1, 'the same payload again asks nothing');
    assert.ok(asksOf('/api/project-context').every((r) => !/refresh|observer/.test(r.query)), 'no passive request carries consent');
  });

  test('UI-158 Now: what goes on, how things ended, what workflows say', async () => {
    await open();
    is(await page.$$eval('[data-group=going-on] [data-row]', (l) => l.map((n) => n.dataset.row)), ['claude:27d10654', 'claude:5be0c111']);
    await r.sees('[role=tabpanel]', 'GOING ON (2)', 'LONG TURN', 'LOOP', '21m into turn', 'NEXT Run the tax tests', 'reviewer', 'HOW THINGS ENDED (1)', 'Stop observed; git state clean', 'WORKFLOW EVIDENCE (1)', 'stalled 15m');
    await open(SHOP, payload(NOW, [row('claude', 'a', { title: 'x' })]));
    await r.sees('[role=tabpanel]', /Nothing here is working.*No stop or end was observed.*No session here publishes a workflow. That says nothing/);
  });

  test('UI-159 UI-170 UI-171 UI-172 Course: changes, filters kept per session, history, tasks, conditions', async () => {
    await open(`${TABLE}:course`);
    await page.evaluate(() => localStorage.clear());
    await r.sees('[role=tabpanel]', 'OBSERVED STATE CHANGES (1)', 'Observed last 2h 30m', 'agent resumed', 'SEMANTIC HISTORY (2)', 'your direction', 'final answer', 'COMPLETED TASKS · 1', 'Copy rows', 'STAGE CONDITIONS (1)');
    await page.click('[data-act=mode]:has-text("all")');
    await r.sees('[data-group=changes]', /\(2\).*became idle/);
    await page.waitForFunction(() => localStorage.getItem('cargento.next.graph.mode') === '{"claude:5be0c111":"all"}');
    await page.click('[data-fk="scope|claude:27d10654"]');
    await page.waitForSelector('[data-act=mode][aria-pressed=true]:has-text("active")');
    await page.click('[data-fk="scope|claude:5be0c111"]');
    await page.waitForSelector('[data-act=mode][aria-pressed=true]:has-text("all")');
    await page.click('[data-act=mode]:has-text("decisions")');
    await r.sees('[data-group=changes]', /approve.*applied/);
    await page.click('[data-fk="fold|changes"]');
    await page.waitForFunction(() => localStorage.getItem('cargento.next.workstream.collapsed') === '1');
    await page.evaluate(() => localStorage.clear());
  });

  test('UI-170 UI-173 UI-175 a change in this tab appears, and without history the panel says whose window it is', async () => {
    const bare = (at, state) => payload(at, [row('claude', 'solo0001', { title: 'Solo', state })], { history: undefined });
    await open(`${SHOP}:course`, bare(NOW, 'needs_input'));
    await r.sees('[data-group=changes]', /Observed since this tab opened.*A first look is where things stood/);
    await publish(bare(NOW + 60, 'working'));
    await page.waitForSelector('.change');
    await r.sees('[data-group=changes]', /\(1\).*Observed last 1m, in this tab; no history is kept in this run.*your turn: agent resumed Solo/);
    await publish(bare(NOW + 60, 'idle'));
    await r.sees('[data-group=changes] h2', /\(1\)/);
  });

  test('UI-159 Decisions are summed and cannot be approved', async () => {
    await open(`${SHOP}:decisions`);
    await r.sees('[role=tabpanel]', /pending 1 · unknown 1 · superseded 0 · consumed\/applied 1.*approve.*by captain, at review.*applied.*application state unknown/);
    assert.equal(await page.locator('[role=tabpanel] button').count(), 0);
    await open(`${SHOP}:decisions`, busy(NOW), null);
    await page.waitForFunction(() => document.querySelector('[role=tabpanel]').innerText.includes('Decisions not published'));
    assert.doesNotMatch(await text('[role=tabpanel]'), /\b0\b/);
  });

  test('UI-120 UI-047 an unknown project, an unknown session, and a stalled board', async () => {
    await open('#n=project:none');
    await r.sees('main', /No session of this project is in the current payload/);
    assert.equal(asksOf('/api/project-context').length, 0);
    await open(`${SHOP}:claude%3Agone`);
    await r.sees('main', /The session in this link \(claude:gone\) is not in the current payload/);
    server.fail('500');
    for (const at of [1, 2]) {
      const n = asksOf('/api/data').length;
      server.set(busy(NOW + at));
      await r.until(() => asksOf('/api/data').length > n, 'a failing refresh');
      await r.quiet();
    }
    await page.waitForSelector('[data-state=stalled]');
    assert.ok(await page.locator('main[data-stale] .brief').count());
    await page.goto('about:blank');
    server.fail('drop');
    await page.goto(server.url + SHOP);
    await page.waitForSelector('text=The first payload has not arrived yet.');
    server.fail(null);
  });

  test('UI-008 UI-010 UI-011 hostile text is text in every tab', async () => {
    const { label, board, body } = hostileProject(NOW);
    const base = `#n=project:${encodeURIComponent(label)}`;
    for (const place of ['#n=projects', base, `${base}:course`, `${base}:decisions`, `${base}:console`, `${base}:claude%3A00000000:course`]) {
      await open(place, board, { body });
      is([place, faults, await page.locator('main img, main script, main iframe, main b b').count()], [place, [], 0]);
      assert.doesNotMatch(await text(), /could not be drawn/, place);
      is(await page.$$eval('[id]', (l) => l.filter((n) => /img|script|xxx/.test(n.id)).length), 0);
      is(await page.$$eval('a[href]', (l) => l.map((n) => n.getAttribute('href')).filter((h) => !/^(#n=|#main$|\/assets\/licenses\.txt|\?all=1)/.test(h))), []);
    }
  });

  test('UI-049 UI-263 an equal board changes nothing, and open folds survive another one', async () => {
    for (const place of ['#n=projects', `${SHOP}:course`, `${TABLE}:console`]) {
      await open(place);
      await r.quiet();
      await page.evaluate(() => {
        window.seen = [];
        new MutationObserver((l) => window.seen.push(...l.map((r) => [r.type, r.target.nodeName, r.attributeName]))).observe(document.querySelector('#app'), { childList: true, subtree: true, attributes: true, characterData: true });
      });
      await publish(busy(NOW));
      await r.quiet();
      is((await page.evaluate(() => window.seen)).filter((r) => r[1] !== 'TIME'), [], place);
    }
    await page.click('summary:has-text("How this server was started")');
    await page.waitForSelector('details[open] >> text=The observed record');
    await publish(busy(NOW + 5));
    assert.ok(await page.locator('details[open] >> text=The observed record').count());
  });

  test('UI-158 UI-166 LOOK-073 cards share the width, the open tab and its panel their edges, decisions their columns', async () => {
    const boxes = (selector) => page.$$eval(selector, (l) => l.map((n) => n.getBoundingClientRect()).map((b) => ({ left: Math.round(b.left), right: Math.round(b.right), top: Math.round(b.top), height: Math.round(b.height) })));
    const going = (n) => payload(NOW, Array.from({ length: n }, (_, i) => row('claude', `run0000${i}`, { title: `Run ${i} ${'of words '.repeat(6 * (i % 2))}`, state: 'working' })));
    for (const [n, lines] of [[1, [1]], [2, [2]], [3, [3]], [4, [2, 2]]]) {
      await open(SHOP, going(n));
      const [group] = await boxes('[data-group=going-on]');
      const cards = await boxes('[data-group=going-on] .panel');
      const tops = [...new Set(cards.map((c) => c.top))];
      is(tops.map((top) => cards.filter((c) => c.top === top).length), lines, `${n} cards`);
      for (const top of tops) is(new Set(cards.filter((c) => c.top === top).map((c) => c.height)).size, 1, `${n} cards, equal heights`);
      if (n > 1) assert.ok(Math.abs(Math.max(...cards.map((c) => c.right)) - group.right) <= 1, `${n} cards reach the right edge`);
      else assert.ok(cards[0].right - cards[0].left <= 0.68 * (group.right - group.left), 'one card keeps to two thirds');
    }
    await open(`${SHOP}:decisions`);
    const [[brief], [panel], [tab]] = [await boxes('.brief'), await boxes('[role=tabpanel]'), await boxes('[role=tab]')];
    is([panel.left, panel.right, tab.left], [brief.left, brief.right, brief.left]);
    for (const nth of [1, 2, 3, 4, 5]) is(new Set((await boxes(`[data-group=decisions] li > :nth-child(${nth})`)).map((b) => b.left)).size, 1, `column ${nth}`);
    await r.sees('[data-group=decisions] li', /approve case-7 by captain/);
    await open('#n=projects');
    const lane = (name) => page.locator(`[data-condition]:has(h3:has-text("${name}"))`).innerText().then((t) => t.includes('A browser tab has reported that it can notify; whether a banner was seen is not known.'));
    is([await lane('tables'), await lane('gone'), await lane('docs')], [true, true, false], 'the lane is said where a rule is saved');
  });

  test('UI-152 LOOK-070 no sideways scrolling, and below 900 px the rail is a disclosure', async () => {
    const { label, board, body } = hostileProject(NOW);
    for (const width of [1440, 900, 700, 390, 320]) {
      await page.setViewportSize({ width, height: 900 });
      for (const place of PLACES) {
        await open(place);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `${width} ${place}`);
      }
      await open(`#n=project:${encodeURIComponent(label)}`, board, { body });
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `${width} hostile`);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await open(TABLE);
    await page.locator('.scope-a').first().waitFor({ state: 'hidden' });
    await r.sees('[data-act=scope]', /Viewing session · Claude · working · Change scope/);
    await page.click('[data-act=scope]');
    await page.locator('.scope-a').first().waitFor();
    const top = (s) => page.$eval(s, (n) => n.getBoundingClientRect().top);
    assert.ok(await top('.brief-cell.row-wait') < await top('.brief-cell:first-child'), 'COMMAND first when someone waits');
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('UI-244 no accessibility violation in either scheme, at two widths', async () => {
    for (const scheme of ['dark', 'light']) {
      await page.emulateMedia({ colorScheme: scheme });
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 });
        for (const place of PLACES) {
          await open(place);
          await page.$$eval('details:not([data-menu])', (l) => l.forEach((n) => { n.open = true; }));
          await r.quiet();
          await page.waitForFunction(() => !document.getAnimations().some((a) => a.transitionProperty));
          await page.evaluate(axe);
          const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }));
          is(found.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.failureSummary}`).join(' | ')}`), [], `${scheme} ${width} ${place}`);
        }
      }
    }
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('UI-260 a project of five hundred sessions draws without holding the page', async () => {
    const board = crowd(NOW, 500);
    for (const s of board.sessions) s.project = s.project_key = 'team/one';
    await open('#n=project:team%2Fone', board, null);
    const changed = crowd(NOW + 5, 500, 1);
    for (const s of changed.sessions) s.project = s.project_key = 'team/one';
    // Time on the processor, not by the clock: a busy machine makes nothing slower by its own fault.
    const cdp = await r.context.newCDPSession(page);
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    const spent = async () => (await cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'ScriptDuration').value * 1000;
    const before = await spent();
    await publish(changed);
    const ms = await spent() - before;
    assert.ok(ms > 0 && ms < 500, `${ms} ms`);
    await cdp.detach();
    assert.equal(await page.locator('.scope-a').count(), 501);
  });
});
