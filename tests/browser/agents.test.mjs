// The inside of a session in a browser: its agents as a tree and a graph, its calls, its states over time.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { NOW, suite } from './rig.mjs';
import { deck, forty, lone, record, whole } from './scenes.mjs';

const is = assert.deepEqual;
const PLACE = '#n=session:acme%2Fshop:claude:27d10654';
const GETS = { '/api/project-context': { body: record(NOW) }, '/api/session': { body: deck(NOW) } };
let r;
let page;

const alone = (more, top) => lone(NOW, more, top);
const act = (name) => page.locator(`[data-act=${name}]`);

suite((made) => {
  r = made;
  page = r.page;
}, () => {

  test('LOOK-047 DECK-040 forty agents: a tally, a folded tree, a graph, and each agent its own branch', async () => {
    await r.open(PLACE, forty(NOW));
    await r.sees('.tree', /26 working · 14 stopped/);
    assert.ok(await page.locator('.tree-node').count() < 40);
    const height = await page.evaluate(() => document.querySelector('.tree').getBoundingClientRect().height);
    assert.ok(height < 900, `a tree of forty is ${height}px high`);
    await act('tree-graph').click();
    assert.ok(await page.locator('.graph-box').count() < 40);
    await page.evaluate(() => { document.querySelector('[data-act=tree-graph]').click(); });
    await r.open(PLACE, whole(NOW), GETS);
    await page.waitForSelector('[data-part=agents]');
    await r.sees('[data-part=agents]', /6 AGENTS.*orphan the record of its parent was not found.*called Bash 6 times in a row/);
    await page.click('[data-part=agents] a:has-text("planner-1")');
    await page.waitForFunction(() => location.hash.endsWith(':~a1'));
    await r.sees('[data-part=agents]', /All agents › planner-1/);
    await page.keyboard.press('Escape');
    await page.waitForFunction((p) => location.hash === p, PLACE);
  });

  test('DECK-041 calls filter, order and window; what a store does not say is a dash with its reason', async () => {
    await r.open(PLACE, whole(NOW), { ...GETS, '/api/session': { body: deck(NOW, 6, 5000) } });
    await page.waitForSelector('.call');
    assert.ok(await page.locator('.call').count() < 40, 'only what is in sight is in the document');
    assert.match(await page.locator('.call').first().innerText(), /open/);
    await act('calls-order').click();
    await page.waitForFunction(() => document.querySelector('.calls').scrollTop > 100_000);
    await page.selectOption('.pick select >> nth=2', 'error');
    await page.waitForFunction(() => [...document.querySelectorAll('.call')].every((n) => n.textContent.includes('error')));
    await page.locator('[data-fk="calls-time"]').focus();
    await page.keyboard.press('ArrowRight');
    await r.sees('#polite', /main: .*working/);
    assert.equal(await page.locator('.call [title="The store writes no end for this call"]').count() >= 0, true);
  });

  test('LOOK-047 LOOK-073 DECK-031 agents stand in columns over all depths, with words for what the eye alone would read', async () => {
    await r.open(PLACE, whole(NOW), { ...GETS, '/api/session': { body: deck(NOW, 9, 60) } });
    await page.waitForSelector('[data-part=agents]');
    const edges = (part) => page.$$eval(`[data-part=agents] ${part}`, (l) => [...new Set(l.map((n) => Math.round(n.getBoundingClientRect().right)))]);
    for (const part of ['.tree-out', '.tree-age']) assert.equal((await edges(part)).length, 1, `${part} ${await edges(part)}`);
    assert.equal((await page.$$eval('[data-part=agents] .tree-kind', (l) => [...new Set(l.map((n) => Math.round(n.getBoundingClientRect().left)))])).length, 1);
    const line = (name) => page.locator('.tree-line').filter({ hasText: name }).evaluate((n) => n.textContent.replace(/\s+/g, ' '));
    assert.match(await line('planner-1'), /worker working.*for 1h 6m.*on average since it started/);
    assert.match(await line('importer-2'), /worker waiting/);
    assert.match(await line('lint-worker-4'), /2.errors/);
    assert.match(await line('test-worker-5'), /stopped.*—.*Its output tokens are not published/);
    assert.doesNotMatch(await line('main'), /claude-haiku/);
    is(await page.$$eval('.tree-head', (l) => l.map((n) => n.getAttribute('aria-hidden'))), ['true']);
    await page.setViewportSize({ width: 390, height: 844 });
    await r.settle();
    assert.equal((await edges('.tree-out')).length, 1);
    assert.ok(await page.locator('.tree-line').filter({ hasText: 'importer-2' }).evaluate((n) => n.querySelector('.tree-kind').getBoundingClientRect().top >= n.querySelector('.tree-name').getBoundingClientRect().bottom - 2), 'the facts wrap under the name');
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('LOOK-047 the graph draws every agent apart and scrolls inside itself', async () => {
    for (const n of [9, 24, 40]) {
      await r.open(PLACE, whole(NOW), { ...GETS, '/api/session': { body: deck(NOW, n, 60) } });
      await page.waitForSelector('[data-part=agents]');
      await act('tree-graph').click();
      const seen = await page.$$eval('.graph-box', (l) => l.map((b) => { const { left, right, top, bottom } = b.getBoundingClientRect(); return { left, right, top, bottom, over: b.scrollHeight > b.clientHeight + 1 }; }));
      assert.ok(seen.length >= 9 && seen.every((a) => !a.over), 'no box cuts its words');
      for (const a of seen) for (const b of seen) assert.ok(a === b || a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top, 'boxes overlap');
      assert.ok(await page.evaluate(() => document.querySelector('.graph').clientHeight <= 640 && document.documentElement.scrollWidth <= document.documentElement.clientWidth));
      is(await page.$$eval('.graph-box a', (l) => l.every((x) => x.tabIndex === -1 && x.closest('[aria-hidden=true]'))), true);
      const list = () => page.locator('.tree-list').first().evaluate((n) => { const { width, height } = n.parentElement.getBoundingClientRect(); return width > 100 && height > 100; });
      is(await list(), false);
      await page.focus('.tree-list a');
      is(await list(), true, 'the keyboard is never in what cannot be seen');
      await act('tree-graph').focus();
      is(await list(), false);
      await act('tree-graph').click();
    }
  });

  test('DECK-023 what could not be read inside a session is said with its remedy', async () => {
    const body = { ...deck(NOW, 3, 5), degrades: [{ code: 'read-in-part', source: '27d10654.jsonl' }, { code: 'schema-unknown', source: 'claude.subagents' }, null] };
    await r.open(PLACE, whole(NOW), { ...GETS, '/api/session': { body } });
    await page.waitForSelector('.call');
    await r.sees('[data-part=activity]', 'Claude, 27d10654.jsonl: only the newest part was read', 'Claude, claude.subagents: in a form this version does not know');
  });

  test('DECK-041 a call is one line in columns where there is room and two where there is not, and the window follows', async () => {
    await r.open(PLACE, whole(NOW), { ...GETS, '/api/session': { body: deck(NOW, 6, 5000) } });
    await page.waitForSelector('.call');
    const drawn = () => page.$$eval('.call', (l) => [...new Set(l.slice(1).map((n, i) => Math.round(n.getBoundingClientRect().top - l[i].getBoundingClientRect().top)))]);
    const tall = () => page.$eval('.calls', (n) => n.scrollHeight);
    is([await drawn(), await tall()], [[28], 140_000]);
    is(await page.$$eval('.calls-head .label', (l) => l.map((n) => n.textContent)), ['call', 'agent', 'at', 'gap', 'took']);
    is(await page.$$eval('.calls-head .call-fig, .call .call-fig', (l) => new Set(l.map((n) => Math.round(n.getBoundingClientRect().right))).size), 3, 'heads stand over their figures');
    await page.evaluate(() => { document.querySelector('.calls').scrollTop = 70_000; });
    await page.waitForFunction(() => document.querySelector('.call').ariaPosInSet > 2000);
    const inside = () => page.evaluate(() => { const box = document.querySelector('.calls').getBoundingClientRect(); const l = [...document.querySelectorAll('.call')].map((n) => n.getBoundingClientRect()); return l[0].top <= box.top && l.at(-1).bottom >= box.bottom; });
    assert.ok(await inside(), 'the calls drawn cover the window');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.waitForFunction(() => document.querySelector('.calls').scrollHeight === 220_000);
    is(await drawn(), [44]);
    assert.equal(await page.locator('.calls-head').count(), 0);
    await page.evaluate(() => { document.querySelector('.calls').scrollTop = 50_000; });
    await page.waitForFunction(() => Math.abs(document.querySelector('.call').ariaPosInSet - 1136) < 12);
    assert.ok(await inside(), 'also where a call is two lines');
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('LOOK-048 the states of a session stand in one lane beside what it does, with a sentence for everyone; lanes with names share one axis', async () => {
    await r.open(PLACE, whole(NOW), GETS);
    await page.waitForSelector('[data-part=calls] .strip-lane');
    await r.sees('[data-part=current]', /Last 2h 30m: working .*, waiting on you .*, idle .*; .* not observed\./);
    assert.equal(await page.getAttribute('[data-part=current] .strip-glance', 'aria-hidden'), 'true');
    const left = await page.$$eval('[data-part=calls] :is(.strip-track, .strip-ticks)', (l) => [...new Set(l.map((n) => Math.round(n.getBoundingClientRect().left)))]);
    assert.equal(left.length, 1, `tracks and ticks begin at ${left}`);
    is(await page.$$eval('[data-part=calls] .strip-label', (l) => l.every((n) => n.title === n.textContent && n.getBoundingClientRect().right < document.querySelector('[data-part=calls] .strip-track').getBoundingClientRect().left)), true);
  });

  test('UI-096 DECK-040 the heading over the subagents stands beside the tree of the deck', async () => {
    const kid = (name, active) => ({ name, model: null, started_at: NOW - 60, active, parent: null });
    await r.open(PLACE, { ...alone({ subagents: [kid('a', true), kid('b', false)], subagents_omitted: 3 }), deck: true }, GETS);
    await page.waitForSelector('[data-part=agents]');
    await r.sees('[data-part=current]', '1 RUNNING SUBAGENT', '+3 older finished workers omitted');
    assert.equal(await page.locator('[data-part=agents] h4').count(), 1);
  });
});
