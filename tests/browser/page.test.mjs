// The page in a browser, against the stand-in server: what a reader sees, keeps and can do.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { axe, NOW, suite } from './rig.mjs';
import { fake } from './fake.mjs';
import { broken, harnesses, hostile, morning, payload, row, task } from './payloads.mjs';

const is = assert.deepEqual;
const VIEWS = ['#n=sessions', '#n=projects', '#n=attention', '#n=intent', '#n=project:acme%2Fshop', '#n=session:acme%2Fshop:claude:27d10654'];
let r;
let page;
let server;
let faults;

const open = (place = '#n=sessions', body = morning(NOW)) => r.open(place, body);
const publish = (body, how) => r.publish(body, how);
/** The query of the newest request for the board, once one more than `n` were made. */
const queryAfter = async (n) => {
  await r.until(() => r.asked('/api/data').length > n, 'another request for the board');
  return r.asked('/api/data').at(-1).query;
};

suite((made) => {
  r = made;
  ({ page, server, faults } = r);
}, () => {

  test('UI-004 UI-007 UI-015 every view draws, breaks no policy and stays at home', async () => {
    for (const place of VIEWS) {
      await open(place);
      await r.quiet();
      is(faults, [], place);
      const view = place.slice(3).split(':')[0];
      assert.equal(await page.getAttribute('main', 'data-view'), view);
      assert.equal(await page.locator('h1').count(), 1, place);
    }
  });

  test('UI-015 UI-106 a row carries its hooks, marks, controls and facts', async () => {
    await open();
    const rows = await page.$$eval('[data-row]', (l) => l.map((n) => [n.dataset.row, n.dataset.state]));
    is(rows.slice(0, 2), [['claude:27d10654', 'needs_input'], ['codex:0199f2c4-7a11-7e02-9c55-0a6f3b1d2e4f', 'needs_input']]);
    const text = (i) => page.locator('[data-row]').nth(i).innerText();
    const first = await text(0);
    for (const words of ['NEEDS INPUT', 'Fix checkout totals', 'Drift · 5m', 'read revision 3, 4 is current', 'GOAL · YOUR WORDS', 'Ship the retry queue', 'COPY COMMAND', 'RAISE', 'COPY ID', '412/m', '2 of 4 tasks', 'reviewer', 'stopped', 'by planner', 'Run the migration against staging before the tax tests?', '27d10654']) assert.ok(first.replaceAll(/\s+/g, ' ').includes(words), `${words} in ${first}`);
    assert.match(await page.locator('[data-row]').nth(0).innerText(), /3 sessions share this display label/);
    const third = await text(2);
    for (const words of ['LONG TURN', 'LOOP', 'FIRST OFFICER', '21m into turn · 6m estimated remaining', 'Drop the old table', 'No reported block']) assert.ok(third.includes(words), `${words} in ${third}`);
    assert.ok((await text(3)).includes('Read by scanning: no turn end can be observed here'));
    assert.ok((await text(4)).includes('Source not fully read: token accounting'));
    assert.ok((await text(4)).includes('Token rate not reported'));
    for (const fact of ['now', 'next', 'blocked', 'where', 'goal']) assert.ok(await page.locator(`[data-row] [data-fact=${fact}]`).count(), fact);
    is(await page.$$eval('[data-group]', (l) => l.map((n) => n.dataset.group)), ['active', 'history']);
    const past = await page.locator('[data-group=history]').innerText();
    for (const words of ['Stop observed with uncommitted work', '3 changed entries', 'Stop observed; git state clean', 'Session reported its own end, ended 5h 16m ago', 'Title not published', 'QUIET', 'ENDED']) assert.ok(past.includes(words), words);
  });

  test('UI-015 UI-089 UI-110 ASK-051 a question changes no state, a scanned row says so in any, and tasks open below a quiet row', async () => {
    const tasks = [task('Reproduce', 'completed'), task('Fix it', 'pending')];
    await open('#n=sessions', payload(NOW, [row('claude', '27d10654', { state: 'working' }), row('goose', 'g1', { state: 'working' }), row('copilot', 'c1', { state: 'needs_input' }), row('goose', 'g2', { ended_at: NOW - 4 }), row('claude', 'quiet001', { tasks, total: 2, done: 1 })],
      { ask: true, asks: [{ id: 'q', harness: 'claude', session_id: '27d10654-1', project: '', question: 'Which?', options: ['a', 'b'], age_sec: 14 }] }));
    const asked = page.locator('[data-row="claude:27d10654"]');
    is([await asked.getAttribute('data-state'), await asked.locator('.badge').innerText(), await page.innerText('.row-top .age-said')], ['working', 'WORKING', 'asked 14s']);
    for (const key of ['goose:g1', 'copilot:c1', 'goose:g2']) await r.sees(`[data-row="${key}"]`, 'Read by scanning: no turn end can be observed here');
    await page.click('[data-row="claude:quiet001"] [data-act=tasks]');
    await r.sees('[data-row="claude:quiet001"]', '1 of 2 tasks', 'Reproduce', 'Fix it');
    await publish(payload(NOW + 5, [row('claude', 'quiet001', { tasks, total: 2, done: 1 })]));
    await r.sees('[data-row="claude:quiet001"]', 'Fix it');
  });

  test('UI-241 UI-244 short titles above short labels leave room between the two links', async () => {
    await open('#n=sessions', payload(NOW, [row('claude', 'q', { title: 'Tidy it', model: null, project: 'acme/shop', finished_at: NOW - 8, dirty: true }), row('claude', 'e', { title: 'Title e', model: null, ended_at: NOW - 5 })]));
    await r.accessible('short titles');
  });

  test('UI-242 the first heading of a page is its h1', async () => {
    for (const place of VIEWS) {
      await open(place);
      assert.equal(await page.$$eval('h1,h2,h3,h4', (l) => l[0].tagName), 'H1', place);
    }
  });

  test('UI-031 UI-032 UI-033 the header says who runs, who waits and what was found', async () => {
    await open();
    const head = await page.innerText('header');
    assert.match(head.replace(/\s+/g, ' '), /3 running · ?6 subagents observed|3 running 6 subagents observed/);
    assert.equal(await page.innerText('[data-act=blocks]'), '2 reported blocks');
    assert.match(await page.title(), /^\(2\) Cargento — Sessions$/);
    assert.match(await page.getAttribute('link[rel=icon]', 'href'), /icon-wait/);
    const chips = await page.$$eval('.hx-wide li', (l) => l.map((n) => n.querySelector('.sr').textContent));
    is([chips.length, chips[0], chips[3], chips[8]], [10, 'Claude, 4 sessions', 'Gemini, not discovered', 'Goose, 0 sessions, read error: OperationalError: database is locked']);
    await publish(payload(NOW + 5, []));
    assert.equal(await page.locator('[data-act=blocks]').count(), 0);
    assert.equal(await page.title(), 'Cargento — Sessions');
  });

  test('DECK-023 the strip says once per found harness what could not be read and what to do, and says it to everyone', async () => {
    const body = morning(NOW);
    const of = (key) => body.harnesses.find((h) => h.key === key);
    of('codex').degrades = [{ code: 'record-skipped', source: 'codex.rollouts', count: 3 }, { code: 'hooks-silent', source: 'codex' }, 7, { source: 'x' }];
    of('gemini').degrades = [{ code: 'store-missing', source: 'gemini.tmp' }];
    of('pi').degrades = 'none';
    await open('#n=sessions', body);
    const fold = page.locator('.strip-hx > details', { hasText: 'could be read' });
    assert.equal(await fold.locator('summary').innerText(), '3 notes on what could be read');
    await fold.locator('summary').click();
    await fold.locator('.note').first().waitFor();
    const said = await fold.locator('.note').allInnerTexts();
    assert.equal(said.length, 3);
    assert.match(said[2], /Goose read error: OperationalError: database is locked/);
    assert.match(said[0], /Codex, codex\.rollouts: 3 records could not be read/);
    assert.match(said[1], /run cargento hooks codex/);
    assert.match(await page.locator('.hx-wide li').nth(1).getAttribute('title'), /codex\.rollouts[^]*cargento hooks codex/);
    await publish(payload(NOW + 5, []));
    is(await fold.count(), 0);
  });

  test('UI-008 UI-010 UI-011 hostile text is text, and wrong types break nothing', async () => {
    for (const scene of [hostile, broken]) {
      await open('#n=sessions', scene(NOW));
      is(await page.locator('main img, main script, main iframe').count(), 0);
      is(faults, []);
    }
    await open('#n=sessions', hostile(NOW));
    assert.ok((await page.innerText('main')).includes('<img src=x onerror=alert(1)>'));
    is(await page.$$eval('.row-link', (l) => l.filter((n) => !n.querySelector('bdi')).length), 0);
    is(await page.$$eval('[id]', (l) => l.filter((n) => /img|script|xxx/.test(n.id)).length), 0);
    is(await page.locator('[data-act=copy-command]').count(), 0);
    is(await page.$$eval('a[href]', (l) => l.map((n) => n.getAttribute('href')).filter((h) => !/^(#n=|#main$|\/assets\/licenses\.txt|\?all=1)/.test(h))), []);
  });

  test('UI-020 UI-023 UI-024 routes come from the fragment, and back and reload keep them', async () => {
    await open('#n=nonsense');
    assert.equal(await page.evaluate(() => location.hash), '#n=sessions');
    await page.click('.row-link >> nth=1');
    await page.waitForSelector('[data-view=session]');
    await page.waitForFunction(() => document.activeElement.tagName === 'H1');
    await page.goBack();
    await page.waitForSelector('[data-view=sessions]');
    await page.waitForFunction(() => document.activeElement.className === 'row-link'); // focus returns to the link
    await page.goForward();
    await page.waitForSelector('[data-view=session] h1');
    await page.reload();
    await page.waitForSelector('[data-view=session] h1');
    await page.goto(`${server.url}#n=project:acme%2Fshop:claude%3A27d10654:held-to`);
    await page.waitForFunction(() => location.hash === '#n=session:acme%2Fshop:claude:27d10654');
  });

  test('UI-026 all=1 is asked for, shown, and removed', async () => {
    await open('?all=1#n=sessions');
    assert.ok(server.requests.some((r) => r.path === '/api/data' && r.query === '?all=1'));
    const n = r.asked('/api/data').length;
    await page.click('[data-act=all-off]');
    await page.waitForFunction(() => !document.querySelector('[data-act=all-off]') && location.search === '');
    assert.equal(await queryAfter(n), '');
  });

  test('UI-041 UI-207 no request carries usage=1 until the reader agrees', async () => {
    await open();
    await page.waitForSelector('[data-act=consent-yes]');
    assert.ok(server.requests.every((r) => !r.query.includes('usage')));
    let n = r.asked('/api/data').length;
    await page.click('[data-act=consent-yes]');
    await page.waitForSelector('[data-act=consent-switch]');
    assert.equal(await queryAfter(n), '?usage=1');
    n = r.asked('/api/data').length;
    await page.click('[data-act=consent-switch]');
    assert.equal(await queryAfter(n), '');
    await page.evaluate(() => localStorage.clear());
  });

  test('UI-110 tasks open in place with their words, and Codex steps carry no age', async () => {
    const codex = row('codex', 'cx1', { state: 'working', title: 'x', eta_h: '5m', tasks: [task('Step', 'in_progress', { elapsed_h: '9m' })] });
    await open('#n=sessions', payload(NOW, [codex, row('claude', 'cl1', { state: 'working', title: 'y', eta_h: '5m', tasks: [task('Step', 'completed', { elapsed_h: '9m', updated_ago: '2m ago' })] })]));
    for (const key of ['codex:cx1', 'claude:cl1']) await page.click(`[data-row="${key}"] [data-act=tasks]`);
    await page.waitForFunction(() => document.querySelectorAll('.row-open').length === 2);
    const [a, b] = await page.$$eval('.row-open', (l) => l.map((n) => n.innerText)).then((l) => l.sort((x, y) => x.length - y.length));
    assert.doesNotMatch(a, /9m|remaining/);
    assert.match(b, /done[\s\S]*9m[\s\S]*updated 2m ago[\s\S]*est\. remaining 5m/);
  });

  test('UI-176 UI-178 copy and raise name their result in place, and one raise at a time', async () => {
    await open();
    await page.click('[data-row="claude:27d10654"] [data-act=copy-command]');
    await page.waitForSelector('[data-row="claude:27d10654"] [data-act=copy-command][data-cue=copied]');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'claude --resume 27d10654-0000-4000-8000-000000000000');
    await r.sees('#polite', /^Resume command copied\.$/);
    server.replies.set('/api/focus', { body: { focused: true }, delay: 600 });
    await page.click('[data-act=raise]');
    await page.waitForSelector('[data-act=raise][aria-disabled=true]');
    await page.waitForSelector('[data-act=raise][data-cue=sent]');
    const asked = server.requests.find((r) => r.path === '/api/focus');
    is([asked.body, asked.headers['x-cargento-capability']], ['{"harness":"claude","sid":"27d10654"}', 'abc123']);
    await publish(morning(NOW + 5));
    assert.equal(await page.getAttribute('[data-act=raise]', 'data-cue'), 'sent', 'the cue survives a redraw');
    for (const [reply, words] of [[{ body: { focused: false } }, 'No terminal was raised'], [{ status: 429 }, 'too recent'], [{ status: 403 }, 'Reload the page'], [{ drop: true }, 'could not be sent']]) {
      server.replies.set('/api/focus', reply);
      await page.click('[data-act=raise]');
      await page.waitForFunction((w) => document.querySelector('[data-row="claude:27d10654"]').innerText.includes(w), words);
    }
  });

  test('UI-177 without a capability in the document nothing can be raised', async () => {
    const bare = await fake({ payload: morning(NOW), token: '' });
    const other = await r.context.newPage();
    await other.goto(bare.url);
    await other.waitForSelector('[data-row]');
    is([await other.locator('[data-act=raise]').count(), await other.locator('[data-act=copy-command]').count()], [0, 2]);
    await other.close();
    await bare.close();
  });

  test('UI-230 UI-231 keys', async () => {
    await open();
    const at = () => page.getAttribute('main', 'data-view');
    for (const [key, view] of [['a', 'attention'], ['P', 'projects'], ['i', 'intent'], ['s', 'sessions']]) {
      await page.keyboard.press(key);
      await page.waitForSelector(`[data-view=${view}]`);
    }
    await page.keyboard.press('Control+a');
    await r.settle();
    assert.equal(await at(), 'sessions');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    assert.match(await page.evaluate(() => document.activeElement.closest('[data-row]').dataset.row), /^codex:0199f2c4/);
    await page.keyboard.press('k');
    assert.equal(await page.evaluate(() => document.activeElement.closest('[data-row]').dataset.row), 'claude:27d10654');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-view=session] h1');
    await page.keyboard.press('Escape');
    await page.waitForSelector('[data-view=project] h1');
    await page.keyboard.press('Escape');
    await page.waitForSelector('[data-view=sessions]');
    await page.keyboard.press('?');
    await page.waitForSelector('[data-menu][open]');
    await page.waitForSelector('text=cargento 0.0.0-fake');
    await page.keyboard.press('Escape');
    is([await page.locator('[data-menu][open]').count(), await at()], [0, 'sessions']);
  });

  test('UI-112 the filter hides, keeps groups and order, and says how many', async () => {
    await open();
    await page.keyboard.press('/');
    await page.keyboard.type('acme/docs claude');
    await page.waitForFunction(() => [...document.querySelectorAll('[data-row]:not([hidden])')].map((n) => n.dataset.row).join() === 'claude:9a8b7c6d');
    await page.waitForFunction(() => document.querySelector('#polite').textContent === '1 session of 9 match.');
    await r.sees('[data-group=active] h2', /\(5\)/i);
    await publish(morning(NOW + 5));
    is(await page.evaluate(() => [document.activeElement.value, document.activeElement.selectionStart]), ['acme/docs claude', 16]);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('[data-row][hidden]'));
    assert.equal(await page.getAttribute('main', 'data-view'), 'sessions');
  });

  test('UI-262 UI-200 the capacity strip is fetched only by a board that has something in it', async () => {
    const fetched = () => page.evaluate(() => performance.getEntriesByType('resource').some((e) => /part-capacity/.test(e.name)));
    await open('#n=sessions', payload(NOW, [row('claude', 'aaaa0001', { title: 'a' })]));
    await r.quiet();
    is([await fetched(), await page.locator('[data-part=capacity]').count()], [false, 0]);
    await publish({ ...morning(NOW + 5) });
    await page.waitForSelector('.cap-row [role=img]');
    is(await fetched(), true);
  });

  test('UI-100 UI-111 UI-112 sentences that stand in for rows', async () => {
    await open('#n=sessions', payload(NOW, [], { harnesses: harnesses([]) }));
    await r.sees('main', /No harness store was found.*comes up here by itself.*cargento --diagnose/s);
    await open('#n=attention', payload(NOW, [], { harnesses: harnesses([]) }));
    await r.sees('main', 'No session is on the board.');
    await r.open('#n=intent', payload(NOW, [], { harnesses: harnesses([]) }), { '/api/annotations': { body: { intent_revision: 'a', annotations: [] } } });
    await r.sees('main', /no typed word is kept.*typed on a session’s page stands here/s);
    await open('#n=sessions', payload(NOW, [row('claude', 'a', { title: 'x', state: 'working' })], { cleared: 2 }));
    await r.sees('main', /No session has been checked for drift yet; open one to check it\./);
    await r.sees('main', /2 sessions marked handled and left out/);
    await open('#n=sessions', payload(NOW, [row('claude', 'a', { title: 'x', state: 'working', departures: [{ at: NOW, constraint: 'goal' }] })], { annotate: false }));
    const text = await page.innerText('main');
    assert.match(text, /Annotations are off for this run/);
    assert.doesNotMatch(text, /Drift/);
    assert.equal(await page.locator('[data-act=goal]').count(), 0);
  });

  test('UI-036 a reset names its store and can be put away', async () => {
    await open('#n=sessions', { ...morning(NOW), history_reset: 'unreadable', annotate_notice: 'The store of typed words cannot be read.' });
    await r.sees('[data-reset]', /local history could not be read/);
    await page.click('[data-act=dismiss-notice]');
    await page.waitForSelector('[data-reset]', { state: 'detached' });
    await r.sees('[data-notice=annotations]', /cannot be read/);
  });

  test('UI-049 LOOK-070 no sideways scrolling at any width', async () => {
    for (const width of [1440, 900, 700, 390, 320]) {
      await page.setViewportSize({ width, height: 900 });
      for (const body of [morning(NOW), hostile(NOW)]) {
        await open('#n=sessions', body);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(over, 0, `${width}: ${over}`);
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('LOOK-071 the first screen shows the facts and four rows', async () => {
    await open();
    const seen = await page.$$eval('.row-active', (l) => l.filter((n) => n.getBoundingClientRect().top + 40 < innerHeight).length);
    assert.ok(seen >= 4, `${seen} rows`);
  });

  test('UI-244 UI-241 no accessibility violation in either scheme, at two widths', async () => {
    for (const scheme of ['dark', 'light']) {
      await page.emulateMedia({ colorScheme: scheme });
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 });
        for (const place of VIEWS) {
          await open(place);
          await r.quiet();
          await page.evaluate(axe);
          const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }));
          is(found.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.failureSummary}`).join(' | ')}`), [], `${scheme} ${width} ${place}`);
        }
      }
    }
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('UI-241 UI-242 UI-244 at 320 px, with hostile text and everything opened, targets keep their size and headings their order', async () => {
    await open('#n=sessions', { ...hostile(NOW), history_reset: 'version' });
    await page.setViewportSize({ width: 320, height: 256 });
    await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
    await r.settle();
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run({ exclude: ['.skip'] }, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
    assert.deepEqual(found.violations.filter((v) => v.id !== 'skip-link').map((v) => `${v.id}: ${v.nodes[0].target} ${v.nodes[0].failureSummary}`), []);
    assert.deepEqual(await page.$$eval('h1, h2, h3', (l) => l.filter((n) => n.checkVisibility()).map((n) => n.tagName)[0]), 'H1', 'no heading stands before that of the view');
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('UI-244 UI-270 empty, loading, missing, refused and stalled states have no accessibility violation either', async () => {
    const confessing = payload(NOW, [], { harnesses: harnesses([]), in_quiet_hours: true, annotate_notice: 'The store of typed words cannot be read.', history_reset: 'version', ends_reset: 'unreadable', cleared: 2, usage_fetch: true });
    await r.open('?all=1#n=sessions', confessing);
    await page.keyboard.press('?');
    await page.waitForSelector('text=cargento 0.0.0-fake');
    await r.accessible('an empty board with all its notices and the menu');
    for (const [place, body] of [['#n=attention', payload(NOW, [])], ['#n=projects', payload(NOW, [])], ['#n=session:a:claude:nobody', morning(NOW)], ['#n=project:nowhere', morning(NOW)], ['#n=session:acme%2Fshop:claude:27d10654', { ...morning(NOW), annotate: false }]]) {
      await r.open(place, body);
      await r.quiet();
      await r.accessible(`bare ${place}`);
    }
    await r.open('#n=intent', morning(NOW), { '/api/annotations': { status: 500, body: {} } });
    await r.sees('main', 'could not be read');
    await r.accessible('a log that was not read');
    await r.open('#n=project:acme%2Fshop:decisions', morning(NOW), { '/api/project-context': { status: 500, body: {} } });
    await r.sees('main', 'could not be read');
    await r.accessible('a record that was not read');
    await r.open('#n=sessions', morning(NOW));
    server.fail('500');
    for (let i = 0; i < 2; i += 1) {
      const n = r.asked('/api/data').length;
      server.set(morning(NOW));
      await r.until(() => r.asked('/api/data').length > n, 'a failing refresh');
      await r.quiet();
    }
    await page.waitForSelector('main[data-stale]');
    await r.accessible('a stalled board');
    await page.goto('about:blank');
    await page.goto(`${server.url}#n=sessions`);
    await page.waitForSelector('.skeleton', { state: 'attached' });
    await r.accessible('a board that has not loaded');
    server.fail(null);
  });

  test('LOOK-033 LOOK-034 reduced motion leaves nothing moving', async () => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await open();
    is(await page.evaluate(() => document.getAnimations().length), 0);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await open();
    const moving = await page.evaluate(() => [...new Set(document.getAnimations().map((a) => a.animationName))]);
    is(moving, ['live']);
    is(await page.$$eval('.row-wait .badge .dot', (l) => l.filter((n) => getComputedStyle(n).animationName !== 'none').length), 0, 'a waiting row never pulses');
  });

  test('UI-250 the theme and density choices hold over a reload', async () => {
    await open();
    await page.keyboard.press('?');
    await page.click('label:has-text("light")');
    await page.waitForFunction(() => getComputedStyle(document.body).color === 'rgb(69, 77, 83)');
    await page.click('label:has-text("compact")');
    await page.waitForSelector('[data-density=compact]');
    await page.reload();
    await page.waitForSelector('main:not([aria-busy]) h1');
    is(await page.evaluate(() => [document.documentElement.dataset.theme, document.documentElement.dataset.density]), ['light', 'compact']);
    is(await page.evaluate(() => Object.keys(localStorage).filter((k) => !k.startsWith('cargento.'))), []);
    await page.evaluate(() => localStorage.clear());
  });
});
