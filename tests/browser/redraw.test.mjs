// What a new board may change and what it must leave, in a browser: focus, folds, scroll, nodes, memory, tabs and failures.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { NOW, suite } from './rig.mjs';
import { agent, crowd, morning, payload, row } from './payloads.mjs';

const is = assert.deepEqual;
let r;
let page;
let server;
let faults;

const open = (place = '#n=sessions', body = morning(NOW)) => r.open(place, body);
const publish = (body, how) => r.publish(body, how);

suite((made) => {
  r = made;
  ({ page, server, faults } = r);
}, () => {

  test('UI-047 LOOK-036 two failures say stalled, nothing is hidden, and recovery clears it', async () => {
    await open();
    server.fail('500');
    const n = r.asked('/api/data').length;
    server.set(morning(NOW + 1));
    await r.until(() => r.asked('/api/data').length === n + 1, 'the failing refresh');
    await r.quiet();
    assert.equal(await page.locator('[data-state=stalled]').count(), 0, 'one failure says nothing');
    server.set(morning(NOW + 1));
    await page.waitForSelector('[data-state=stalled]');
    await r.sees('[data-state=stalled]', /2 refreshes failed in a row.*may be stale.*last updated at.*every 20s/s);
    assert.ok(await page.locator('main[data-stale]').count());
    assert.equal(await page.locator('[data-row]').count(), 9);
    server.fail(null);
    await page.click('[data-act=retry]');
    await page.waitForSelector('[data-state=stalled]', { state: 'detached' });
    assert.equal(await page.locator('main[data-stale]').count(), 0);
  });

  test('UI-047 without any payload the banner says that none arrived', async () => {
    await page.goto('about:blank');
    server.requests.length = 0;
    server.fail('drop');
    await page.goto(`${server.url}#n=sessions`);
    await page.waitForSelector('.skeleton', { state: 'attached' });
    await r.until(() => r.asked('/api/data').length > 0, 'the first refresh');
    await r.quiet();
    assert.equal(await page.getAttribute('main', 'aria-busy'), 'true');
    assert.doesNotMatch(await page.innerText('main'), /\b0\b/);
    server.set(morning(NOW));
    await page.waitForSelector('[data-state=stalled]');
    await r.sees('[data-state=stalled]', /No data was received in this tab/);
    server.fail(null);
  });

  test('UI-049 UI-050 focus stays on the same control when its row moves, and finds a neighbour when it goes', async () => {
    await open();
    const second = page.locator('[data-row^="codex:0199f2c4"]');
    await second.locator('[data-act=copy-command]').focus();
    await page.evaluate(() => { window.kept = document.querySelector('[data-row^="codex:0199f2c4"]'); });
    const moved = morning(NOW + 5);
    [moved.sessions[0], moved.sessions[1]] = [moved.sessions[1], moved.sessions[0]];
    moved.sessions.splice(0, 0, row('claude', 'newcomer', { state: 'needs_input', title: 'Newcomer' }));
    moved.sessions[1].state_detail = 'Permission: network';
    await publish(moved);
    assert.equal((await page.$$eval('[data-row]', (l) => l.map((n) => n.dataset.row)))[0], 'claude:newcomer');
    is(await page.evaluate(() => [document.activeElement.dataset.act, document.activeElement.closest('[data-row]') === window.kept, window.kept.isConnected]), ['copy-command', true, true]);
    moved.sessions[1].resume_id = null;
    moved.generated += 5;
    await publish(moved);
    assert.equal(await page.evaluate(() => document.activeElement.className), 'row-link');
    await page.locator('[data-row="claude:newcomer"] .row-link').focus();
    moved.sessions.shift();
    await publish(moved);
    assert.equal(await page.evaluate(() => document.activeElement.closest('[data-group]')?.dataset.group), 'active');
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H2');
  });

  test('UI-049 open disclosures, tasks and the page position survive a revision', async () => {
    await open();
    await page.click('summary:has-text("How rows are split")');
    await page.click('[data-row="claude:27d10654"] [data-act=tasks]');
    await page.waitForSelector('.row-open');
    await page.evaluate(() => scrollTo(0, 300));
    await page.waitForFunction(() => scrollY === 300 && document.querySelector('.fold[open]') && !document.getAnimations().some((a) => a.transitionProperty));
    const next = morning(NOW + 5);
    next.sessions[2].state_detail = 'another';
    await publish(next);
    assert.ok(await page.locator('details[open] >> text=Waiting sessions come first').count());
    assert.match(await r.text('.row-open'), /Run the tax tests/);
    assert.equal(await page.evaluate(() => scrollY), 300);
    await page.goto(`${server.url}#n=attention`);
    await page.goto(`${server.url}#n=sessions`);
    await page.waitForSelector('.row-open');
  });

  test('UI-049 UI-050 the row under a moving pointer stays under it, and a resting pointer hides nothing new', async () => {
    const box = page.locator('[data-row="claude:5be0c111"]');
    const top = () => box.evaluate((n) => Math.round(n.getBoundingClientRect().top));
    const grown = (at) => {
      const next = morning(at);
      next.sessions[0].subagents = Array.from({ length: 6 }, (_, i) => agent(`a rather long name of a worker ${i}`, { started_at: NOW - 9 }));
      next.sessions[1].source_gaps = ['tokens', 'block state'];
      return next;
    };
    await open();
    await page.setViewportSize({ width: 1440, height: 600 });
    await page.mouse.move(400, 300);
    await page.mouse.move(400, await top() + 30);
    const was = await top();
    await page.evaluate(() => { window.node = document.querySelector('[data-row="claude:5be0c111"]'); });
    await publish(grown(NOW + 5));
    assert.equal(await top(), was, 'the row under the pointer did not move');
    assert.ok(await page.evaluate(() => scrollY > 0 && window.node.isConnected && window.node.matches(':hover')));
    await open();
    await page.mouse.move(400, await top() + 30);
    await page.waitForFunction((t) => performance.now() > t + 1100, await page.evaluate(() => performance.now()));
    await publish(grown(NOW + 5));
    assert.equal(await page.evaluate(() => scrollY), 0, 'a pointer at rest scrolls nothing');
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('UI-260 eight hours of refreshes leave the heap, the document and its listeners as they were', async () => {
    await page.addInitScript(() => {
      let skipped = 0;
      const [now, date] = [performance.now.bind(performance), Date.now];
      performance.now = () => now() + skipped;
      Date.now = () => date() + skipped;
      globalThis.skip = (ms) => { skipped += ms; };
    });
    const cdp = await r.context.newCDPSession(page);
    await cdp.send('Performance.enable');
    const held = async () => {
      for (let i = 0; i < 2; i += 1) await cdp.send('HeapProfiler.collectGarbage');
      const { metrics } = await cdp.send('Performance.getMetrics');
      return Object.fromEntries(['JSHeapUsedSize', 'Nodes', 'JSEventListeners'].map((n) => [n, metrics.find((m) => m.name === n).value]));
    };
    const step = 144;
    const turn = async (i) => {
      await page.evaluate((ms) => globalThis.skip(ms), step * 1000);
      const board = crowd(NOW + i * step, 60, i);
      for (const n of [3, 9, 21]) board.sessions[n].state = (i + n) % 5 < 2 ? 'working' : 'idle';
      await publish(board);
    };
    await open('#n=sessions', crowd(NOW, 60));
    // Whole twice over: what is kept for a while (rates, cues, notifications) has filled by then.
    for (let i = 1; i <= 60; i += 1) await turn(i);
    const start = await held();
    for (let i = 61; i <= 200; i += 1) await turn(i);
    const end = await held();
    const more = (n) => (100 * end[n]) / start[n] - 100;
    assert.ok(more('JSHeapUsedSize') < 10, `heap ${more('JSHeapUsedSize').toFixed(1)} %, ${start.JSHeapUsedSize} → ${end.JSHeapUsedSize}`);
    assert.ok(more('Nodes') < 5 && more('JSEventListeners') < 5, JSON.stringify([start, end]));
    is(faults, []);
    await cdp.detach();
  });

  test('UI-042 two tabs share one stream, and the other leads when the first closes', async () => {
    await open();
    const other = await r.context.newPage();
    await other.goto(server.url);
    await other.waitForSelector('[data-row]');
    // Both have held an election and one of them yielded: its lease is renewed by the same tab twice in a row.
    const lease = () => page.evaluate(() => JSON.parse(localStorage.getItem('cargento.next.leader')));
    const held = async () => {
      const first = await lease();
      await r.until(async () => (await lease())?.ts > (first?.ts ?? 0), 'a renewed lease');
    };
    await held();
    await held();
    assert.equal(server.streams(), 1);
    const next = morning(NOW + 60);
    next.sessions[2].title = 'Heard in both';
    await publish(next);
    await other.waitForSelector('text=Heard in both');
    await page.goto('about:blank');
    await r.until(() => server.streams() === 0 || server.streams() === 1, 'the first tab to close its stream');
    await r.until(() => other.evaluate(() => localStorage.getItem('cargento.next.leader') !== null), 'the other tab to lead');
    await r.until(() => server.streams() === 1, 'one stream again');
    await other.close();
  });

  test('UI-053 a hidden tab does not paint, and paints the newest when shown', async () => {
    await open();
    await page.evaluate(() => { Object.defineProperty(document, 'hidden', { value: true, configurable: true }); });
    const next = morning(NOW + 60);
    next.sessions[2].title = 'While away';
    await publish(next, { taken: true });
    assert.doesNotMatch(await page.innerText('main'), /While away/);
    await page.evaluate(() => { Object.defineProperty(document, 'hidden', { value: false, configurable: true }); document.dispatchEvent(new Event('visibilitychange')); });
    await page.waitForSelector('text=While away');
  });

  test('UI-263 the same board again changes nothing but age text', async () => {
    await open();
    await page.evaluate(() => {
      window.seen = [];
      new MutationObserver((l) => window.seen.push(...l.map((r) => [r.type, r.target.nodeName, r.attributeName]))).observe(document.querySelector('#app'), { childList: true, subtree: true, attributes: true, characterData: true });
    });
    await publish(morning(NOW));
    await publish({ ...morning(NOW), generated: NOW });
    is((await page.evaluate(() => window.seen)).filter((r) => r[1] !== 'TIME'), []);
  });

  test('UI-261 nodes of rows that did not change are kept', async () => {
    await open('#n=sessions', crowd(NOW, 200));
    await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 200);
    await page.evaluate(() => { window.nodes = new Map([...document.querySelectorAll('[data-row]')].map((n) => [n.dataset.row, n])); });
    await publish(crowd(NOW + 5, 200, 1));
    const [kept, all, touched] = await page.evaluate(() => {
      const now = [...document.querySelectorAll('[data-row]')];
      return [now.filter((n) => window.nodes.get(n.dataset.row) === n).length, now.length, now.filter((n) => n.textContent.includes('Two 1')).length];
    });
    is([kept, all, touched], [200, 200, 2]);
  });

  test('UI-048 ages of live rows move between payloads and others stand still', async () => {
    await open('#n=sessions', payload(NOW, [row('claude', 'a', { title: 'x', state: 'working', subagents: [agent('w', { active: true, started_at: NOW - 5 })] }), row('claude', 'b', { title: 'y', state: 'needs_input', blocked_since: NOW - 5 })]));
    await page.waitForFunction(() => document.querySelector('.pill .age').textContent !== '5s', null);
    assert.equal(await page.innerText('[data-row="claude:b"] .age'), '5s');
  });
});
