// What a reader can set in the cockpit, in a browser: stage conditions, the console, the terminal, notes, the briefing.
import { afterEach, test } from 'node:test';
import assert from 'node:assert/strict';
import { NOW, suite } from './rig.mjs';
import { busy, openCockpit, record } from './cockpit-scenes.mjs';
import { morning, payload, row } from './payloads.mjs';

const is = assert.deepEqual;
const SHOP = '#n=project:acme%2Fshop';
const TABLE = `${SHOP}:claude%3A5be0c111`;
let r;
let page;
let server;
let faults;

const open = (place = SHOP, body = busy(NOW), context = { body: record(NOW) }) => openCockpit(r, place, body, context);

const publish = (body) => r.publish(body);
const asksOf = (path) => r.asked(path);

suite((made) => {
  r = made;
  ({ page, server, faults } = r);
}, () => {
  afterEach(() => page.unroute('**/api/project-context*'));

  test('UI-167 a second press while one is under way sends nothing', async () => {
    await open('#n=projects');
    server.replies.set('/api/tripwire', { delay: 300, body: { ok: true, error: '', status: 200, rule: null } });
    await page.locator('[data-act=trip-remove]').first().dblclick();
    await page.waitForFunction(() => document.querySelector('#polite').textContent.includes('removed'));
    assert.equal(asksOf('/api/tripwire').length, 1);
  });

  test('UI-166 UI-167 a stage condition is saved, rearmed and removed, and says what became of it', async () => {
    await open('#n=projects');
    const card = page.locator('article:has(h3:has-text("docs"))');
    await card.locator('[data-act=trip-save]').click();
    await r.sees('article:has(h3:has-text("docs"))', /pick a stage first/);
    assert.equal(asksOf('/api/tripwire').length, 0);
    await card.locator('select').selectOption('build');
    await publish(busy(NOW + 5));
    assert.equal(await card.locator('select').inputValue(), 'build', 'a draft survives a revision');
    await card.locator('select').press('Escape');
    await r.until(async () => await card.locator('select').inputValue() === '', 'the saved stage again');
    is([await card.locator('select').inputValue(), await page.getAttribute('main', 'data-view')], ['', 'projects']);
    await card.locator('select').selectOption('build');
    for (const [reply, words] of [[{ status: 409, body: { error: 'The revision moved.' } }, /changed elsewhere.*choice is kept. The revision moved/], [{ status: 503 }, /could not be saved; nothing changed/], [{ status: 413 }, /refused as sent/], [{ drop: true }, /not known whether it was saved/]]) {
      server.replies.set('/api/tripwire', reply);
      await card.locator('[data-act=trip-save]').click();
      await page.waitForFunction((w) => new RegExp(w, 's').test([...document.querySelectorAll('article')].find((a) => a.innerText.startsWith('docs')).innerText), words.source);
      assert.equal(await card.locator('select').inputValue(), 'build');
    }
    server.replies.set('/api/tripwire', { body: { ok: true, error: '', status: 200 } });
    await card.locator('[data-act=trip-save]').click();
    await card.locator('[data-cue=done]').waitFor();
    is(JSON.parse(asksOf('/api/tripwire').at(-1).body), { action: 'save', id: 'b'.repeat(64), stage: 'build', expected_revision: '' });
    assert.equal(await page.evaluate(() => document.activeElement.dataset.act), 'trip-save', 'focus stays on the pressed control');
    const tables = page.locator('article:has(h3:has-text("tables"))');
    await r.sees('article:has(h3:has-text("tables"))', /tripped on entering review.*case-9 moved from build to review.*notification service accepted/);
    await tables.locator('[data-act=trip-rearm]').click();
    await tables.locator('[data-cue=done]').waitFor();
    is(JSON.parse(asksOf('/api/tripwire').at(-1).body), { action: 'rearm', id: 'a'.repeat(64), stage: 'review', expected_revision: 'a'.repeat(32) });
    const gone = page.locator('article:has(h3:has-text("gone"))');
    is([await gone.getAttribute('data-condition'), await gone.locator('select').count(), await gone.locator('[data-act=trip-remove]').count()], ['suspended', 0, 1]);
    const twin = page.locator('article:has(h3:has-text("billing"))');
    assert.equal(await twin.locator('[data-act=trip-save]').getAttribute('aria-disabled'), 'true');
    await r.sees('article:has(h3:has-text("billing"))', /Open one of the source sessions alone, or rename/);
  });

  test('UI-051 an open select holds back payload paints, twelve in a row at most, and a manual refresh paints', async () => {
    await open('#n=projects');
    const select = page.locator('article:has(h3:has-text("docs")) select');
    const named = (at, title) => {
      const body = busy(NOW + at);
      body.sessions[0].title = title;
      return body;
    };
    const shown = (title) => page.locator(`text=${title}`).count();
    await select.focus();
    await r.publish(named(1, 'Held back'), { taken: true });
    await r.settle();
    assert.equal(await shown('Held back'), 0, 'taken, and not painted');
    await select.blur();
    await page.waitForSelector('text=Held back');
    await select.focus();
    await r.publish(named(2, 'Until a choice'), { taken: true });
    assert.equal(await shown('Until a choice'), 0);
    await select.selectOption('build');
    await page.waitForSelector('text=Until a choice');
    await page.evaluate(() => document.activeElement.blur());
    await select.focus();
    for (let i = 1; i <= 12; i += 1) await r.publish(named(10 + i, `Turn ${i} of many`), { taken: true });
    await r.settle();
    assert.equal(await page.locator('text=of many').count(), 0);
    await r.publish(named(30, 'The thirteenth'));
    await page.waitForSelector('text=The thirteenth');
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'SELECT', 'and the select keeps the focus');
    server.fail('500');
    for (const at of [40, 41]) {
      const n = asksOf('/api/data').length;
      server.set(named(at, 'By hand'));
      await r.until(() => asksOf('/api/data').length > n, 'a failing refresh');
      await r.quiet();
    }
    server.fail(null);
    await page.waitForSelector('[data-act=retry]');
    await select.focus();
    await page.evaluate(() => document.querySelector('[data-act=retry]').click());
    await page.waitForSelector('text=By hand');
  });

  test('UI-168 off draws no card, an untrusted store is said, reads off suspend', async () => {
    await open('#n=projects', morning(NOW));
    assert.equal(await page.locator('[data-condition]').count(), 0);
    await open('#n=projects', { ...morning(NOW), tripwires: { ...busy(NOW).tripwires, enabled: false } });
    assert.equal(await page.locator('[data-group=conditions-projects]').count(), 0);
    await open('#n=projects', { ...busy(NOW), tripwires: { ...busy(NOW).tripwires, source_enabled: false, error: 'The store cannot be trusted.', rules: [] } });
    await r.sees('[data-group=conditions-projects]', /The store cannot be trusted.*every condition is suspended/);
  });

  test('UI-160 UI-161 Console leads with operations; a capability that is on stands in the open', async () => {
    await open(`${TABLE}:console`);
    is(await page.$$eval('[role=tabpanel] h2', (l) => l.map((n) => n.textContent.trim().replace(/ \(.*/, ''))), ['Delegation', 'Waiting on you', 'Capacity', 'Tripwires']);
    await r.sees('[data-group=delegation]', /94% of the time ran without you 3 human turns Observed last 3h 3m/);
    await r.sees('[role=tabpanel]', /How this server was started — terminal bridge off, observer model on/);
    assert.equal(asksOf('/api/interaction/state').length, 0, 'a run without a terminal is not asked for one');
    await page.click('[data-act=observer-allow]');
    await page.waitForSelector('[data-act=summarize]');
    await r.quiet();
    assert.ok(asksOf('/api/project-context').every((r) => !/observer_model/.test(r.query)), 'allowing sends nothing');
    const done = record(NOW);
    done.observers[0].goal = 'Summed up by the model';
    done.observers[0].model = { status: 'used' };
    server.gets.set('/api/project-context', { body: done });
    await page.click('[data-act=summarize]');
    await page.waitForFunction(() => document.querySelector('[data-group=observer]').innerText.includes('Summed up by the model'));
    is(asksOf('/api/project-context').filter((r) => r.query.includes('observer_model')).map((r) => r.query), ['?project=acme%2Fshop&session=claude%3A5be0c111&refresh=1&observer_model=1']);
    await page.click('[data-act=observer-off]');
    await page.waitForFunction(() => localStorage.getItem('cargento.observer-model-consent.v1') === 'declined');
    await page.evaluate(() => localStorage.clear());
    await open(`${SHOP}:console`, { ...busy(NOW), observer_model: false });
    await page.click('summary:has-text("How this server was started")');
    await page.waitForSelector('text=The observed record was read');
    await r.sees('[role=tabpanel]', /observer model off.*--interaction-origin-session.*--observer-model.*The observed record was read/);
    await open(`${SHOP}:console`, { ...busy(NOW), observer_model: undefined, history: [] });
    await r.sees('[role=tabpanel]', /no figure yet.*observer model not read yet/);
  });

  test('UI-169 the terminal: states, screen, no input, and a screen that outlives its tab', async () => {
    const bridge = (more) => ({ origin_state: 'unregistered', cargento_session_id: 'claude:5be0c111', ...more });
    const shell = await page.context().newPage();
    await shell.addInitScript(() => {
      window.sent = 0;
      window.WebSocket = class { constructor(url) { window.wsUrl = url; window.ws = this; setTimeout(() => this.say({ state: 'streamed', sequence: 1, reset: true, data: 'hello\nworld', cols: 80, rows: 24, chunks: [{ sequence: 1, data: 'hello\nworld', cols: 80, rows: 24 }] }), 20); } say(m) { this.onmessage({ data: JSON.stringify(m) }); } send() { window.sent += 1; } close() {} };
    });
    await shell.route((u) => u.pathname === '/', async (route) => { const r = await route.fetch(); await route.fulfill({ response: r, body: (await r.text()).replace("style-src 'self';", "style-src 'self' 'unsafe-inline';") }); });
    server.set(busy(NOW));
    server.gets.set('/api/project-context', { body: record(NOW) });
    server.gets.set('/api/interaction/state', { body: bridge({}) });
    const panel = () => shell.innerText('[data-group=terminal]');
    await shell.goto(`${server.url}${SHOP}:console`);
    await shell.waitForSelector('text=terminal bridge per-session');
    await shell.goto(`${server.url}${TABLE}:console`);
    await shell.waitForSelector('[data-group=terminal]');
    assert.match(await panel(), /Not registered.*How to register the session.*not redacted/s);
    server.gets.set('/api/interaction/state', { body: bridge({ origin_state: 'registered' }) });
    server.set(busy(NOW + 5));
    await shell.click('[data-act=term-open]');
    await shell.waitForFunction(() => document.querySelector('.xterm-rows')?.innerText.includes('world'));
    assert.match(await shell.evaluate(() => window.wsUrl), /^ws:\/\/127\.0\.0\.1:\d+\/api\/interaction\/stream$/);
    assert.ok(await shell.$eval('.xterm textarea', (n) => n.disabled && n.tabIndex === -1));
    await shell.click('.xterm');
    await shell.keyboard.type('rm -rf');
    await shell.focus('.term');
    await shell.keyboard.press('Tab');
    assert.ok(await shell.evaluate(() => !document.activeElement.closest('.term')), 'Tab leaves it');
    await shell.click('#cockpit-tab-now');
    await shell.waitForSelector('.term', { state: 'detached' });
    await shell.click('#cockpit-tab-console');
    await shell.waitForFunction(() => document.querySelector('.xterm-rows')?.innerText.includes('world'));
    await shell.evaluate(() => { window.ws.say({ state: 'unknown', reason: 'origin-changed' }); window.ws.onclose(); });
    await shell.waitForSelector('[data-act=term-again]');
    assert.match(await panel(), /stream was lost: origin-changed/);
    await shell.click('[data-act=term-close]');
    await shell.waitForSelector('[data-act=term-open]');
    assert.equal(await shell.evaluate(() => window.sent), 0);
    await shell.close();
  });

  test('UI-162 UI-163 notes stay in the tab, human context and old notes in the browser, and none is sent', async () => {
    await open();
    const posts = () => server.requests.filter((r) => r.method === 'POST' && r.path !== '/api/lane').length;
    await page.fill('[data-fk=note]', 'ask about <b>rounding</b>');
    await publish(busy(NOW + 5));
    assert.equal(await page.inputValue('[data-fk=note]'), 'ask about <b>rounding</b>');
    await page.keyboard.press('Enter');
    await r.until(async () => await page.inputValue('[data-fk=note]') === '', 'an emptied box');
    await r.sees('#polite', /Recorded here in this tab, not delivered/);
    await page.click('summary:has-text("1 note in this tab")');
    await page.waitForSelector('li:has-text("ask about <b>rounding</b>")');
    await page.click('summary:has-text("Human context")');
    await page.fill('[data-fk="memo|outcome"]', 'calm release');
    await page.reload();
    await page.waitForSelector('main:not([aria-busy]) h1');
    // A page that arrives puts the focus where its reader stood; what is typed before that goes nowhere.
    await r.quiet();
    // A fold that was open may have come back open.
    if (!await page.isVisible('[data-fk="memo|outcome"]')) await page.click('summary:has-text("Human context")');
    await page.waitForSelector('[data-fk="memo|outcome"]');
    assert.equal(await page.inputValue('[data-fk="memo|outcome"]'), 'calm release');
    await page.focus('[data-fk="memo|outcome"]');
    await page.keyboard.type('xx');
    await page.keyboard.press('Escape');
    await r.until(async () => await page.inputValue('[data-fk="memo|outcome"]') === 'calm release', 'the words as they were');
    is([await page.inputValue('[data-fk="memo|outcome"]'), await page.evaluate(() => localStorage.getItem('cargento.cockpit.memo.v2:acme%2Fshop:project:outcome')), await page.getAttribute('main', 'data-view')], ['calm release', 'calm release', 'project']);
    await page.click('#cockpit-tab-console');
    await page.click('summary:has-text("Old tripwire notes")');
    await page.fill('[data-fk=rule-new]', 'never push');
    await page.keyboard.press('Enter');
    await page.click('[data-fk="rule|0"]');
    await page.waitForFunction(() => localStorage.getItem('cargento.next.guardrails.acme%2Fshop') === '[{"enabled":false,"text":"never push"}]');
    await r.quiet();
    assert.equal(posts(), 0);
    await page.evaluate(() => localStorage.clear());
  });

  test('UI-165 the briefing is copied from the More menu until the scope changes', async () => {
    await open();
    await page.click('[data-menu] summary');
    await page.click('[data-act=copy-briefing]');
    await page.waitForSelector('[data-act=copy-briefing][data-cue=copied]');
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    for (const words of ['Project: acme/shop', 'Scope: whole project', 'cargo test: 41 passed', 'hold at review, pending']) assert.ok(copied.includes(words), words);
    await page.goto(server.url + TABLE);
    await page.waitForSelector('[data-act=copy-briefing]:has-text("Copy briefing")', { state: 'attached' });
    await page.goto(`${server.url}#n=projects`);
    await page.waitForSelector('[data-act=copy-briefing]', { state: 'detached' });
  });
});
