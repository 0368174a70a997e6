// What every view owes the reader beyond its own content: the way around, the words for what is missing, live regions, focus,
// and controls that say what became of them.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { attentionOf } from '../../static/attention.js';
import { ABSENT } from '../../static/format.js';
import { boardOf } from '../../static/model.js';
import { NOW, program, rig } from './rig.mjs';
import { busy, hostileProject, record as cockpitRecord } from './cockpit-scenes.mjs';
import { agent, hostile, morning, payload, row, task } from './payloads.mjs';
import { annotated, deck, intents, readings, record, whole } from './scenes.mjs';

const is = assert.deepEqual;
const SESSION = '#n=session:acme%2Fshop:claude:27d10654';
const PROJECT = '#n=project:acme%2Fshop';
const GETS = { '/api/project-context': { body: record(NOW) }, '/api/session': { body: deck(NOW) }, '/api/annotations': { body: intents(NOW) } };
const board = (rows, more) => boardOf(JSON.parse(JSON.stringify(payload(NOW, rows, more))));

test('UI-073 the words for what is not known are fixed', () => {
  const words = ['Activity not published', 'No state published', 'No pending step published', 'Exact location not published', 'Wait duration not published', 'Git state was not measured', 'No stop or end observed', 'Harness does not report blocks', 'Block state could not be read'];
  is(words.filter((w) => !Object.values(ABSENT).includes(w)), []);
});

test('UI-085 the next step is the first pending task', () => {
  const next = (tasks) => board([row('claude', 'a', { tasks })]).rows[0].next;
  is([next([task('One', 'completed'), task('Two', 'in_progress'), task('Three', 'pending'), task('Four', 'pending')]), next([task('One', 'completed')]), next([])], ['Three', null, null]);
});

test('UI-098 the owner word of a question is the captain where a workflow is aboard', () => {
  const dock = (role) => ({ spacedock: { role, workflows: [] } });
  const rows = board([row('claude', 'a', dock('first-officer')), row('claude', 'b', dock('ensign')), row('claude', 'c', dock('x')), row('claude', 'd')]).rows;
  is(rows.map((x) => [x.role, x.responsibility]), [['FIRST OFFICER', 'CAPTAIN'], ['ENSIGN', 'CAPTAIN'], [null, 'CAPTAIN'], [null, 'NEEDS YOU']]);
});

test('UI-097 members that never started are a wait with their names, and carry no running mark', () => {
  const [x] = board([row('claude', 'a', { state: 'needs_input', state_detail: 'never started: scout, smith', subagents: [] })]).rows;
  is([x.blocked, x.live, x.block.text, x.subagents.list.length], [true, false, 'never started: scout, smith', 0]);
});

test('UI-190 ties fall by harness as published, project, session, then place', () => {
  const wait = (harness, sid, project) => row(harness, sid, { state: 'needs_input', blocked_since: NOW - 9, project });
  const made = attentionOf(board([wait('codex', 'b', 'b/b'), wait('codex', 'a', 'b/b'), wait('codex', 'z', 'a/a'), wait('claude', 'z', 'z/z')]));
  is(made.groups.needs.map((i) => i.key), ['claude:z', 'codex:z', 'codex:a', 'codex:b']);
});

if (!program) test('no browser is installed', { skip: true }, () => {});
else {
  let r;
  let page;
  before(async () => {
    r = await rig();
    page = r.page;
  });
  after(() => r?.close());
  const alone = (more = {}, top = {}) => ({ ...payload(NOW, [row('claude', '27d10654', { title: 'Fix totals', state: 'working', ...more })]), ...readings(), ...top });

  test('UI-030 UI-034 UI-242 landmarks, the open section, the way back, and headings in order on every view', async () => {
    const places = [
      ['#n=sessions', 'Sessions', null], ['#n=projects', 'Projects', null], ['#n=attention', 'Attention', null], ['#n=intent', 'Intent log', null], [PROJECT, 'Projects', 'Projects › acme/shop'],
      [SESSION, 'Projects', 'Projects › acme/shop › Fix checkout totals'], ['#n=session::claude:44e1d0aa', 'Sessions', 'Sessions › Answer the licence question'], ['#n=session:acme%2Fshop:claude:nobody', 'Projects', 'Projects › acme/shop › Session'],
    ];
    for (const [place, section, crumbs] of places) {
      await r.open(place, morning(NOW), GETS);
      await r.quiet();
      is(await page.$$eval('nav[aria-label=Primary] a', (l) => l.map((n) => n.textContent)), ['Sessions', 'Projects', 'Attention', 'Intent log']);
      is(await page.$$eval('nav[aria-label=Primary] [aria-current=page]', (l) => l.map((n) => n.textContent)), [section], place);
      is(await page.$$eval('.crumbs li', (l) => (l.length ? l.map((n) => n.textContent).join(' › ') : null)), crumbs, place);
      is(await page.evaluate(() => [...document.querySelectorAll('#app > .skip, header, main')].map((n) => n.tagName)), ['A', 'HEADER', 'MAIN'], place);
      is(await page.$$eval('main :is(h1,h2,h3,h4,h5)', (l) => l.filter((n) => n.checkVisibility()).map((n) => Number(n.tagName[1])).filter((n, i, a) => (i === 0 ? n !== 1 : n > a[i - 1] + 1)).length), 0, place);
      assert.equal(await page.locator('h1').count(), 1, place);
    }
    await r.open('#n=sessions', morning(NOW), GETS);
    await page.keyboard.press('Tab');
    is(await page.evaluate(() => [document.activeElement.className, document.activeElement.getBoundingClientRect().top >= 0]), ['skip', true]);
    await page.keyboard.press('Enter');
    is(await page.evaluate(() => [document.activeElement.tagName, location.hash]), ['MAIN', '#n=sessions']);
  });

  test('UI-032 UI-232 the button that counts the blocks opens Attention by Space and by Enter', async () => {
    for (const key of ['Space', 'Enter']) {
      await r.open('#n=sessions', morning(NOW), GETS);
      await page.focus('[data-act=blocks]');
      await page.keyboard.press(key);
      await page.waitForSelector('[data-view=attention] h1');
      assert.equal(await page.locator('[data-act=blocks]').evaluate((n) => n.tagName), 'BUTTON');
    }
  });

  test('UI-012 UI-039 the menu holds keys, help, version and licences, and on a project the briefing', async () => {
    await r.open('#n=sessions', { ...morning(NOW), sessions: [row('claude', 'a', { title: 'token sk-…REDACTED here' })] });
    await r.sees('.row-link', 'token sk-…REDACTED here');
    assert.equal(await page.locator('.row-link a, .row-link [href]').count(), 0);
    await page.click('[data-menu] > summary');
    await r.sees('.menu-body', 'Attention', 'filter sessions', '…REDACTED', 'rotated', 'cargento 0.0.0-fake', 'Licences');
    assert.equal(await page.getAttribute('.menu-end a', 'href'), '/assets/licenses.txt');
    assert.equal(await page.locator('[data-act=copy-briefing]').count(), 0);
    await page.mouse.click(20, 600);
    await page.waitForSelector('[data-menu]:not([open])', { state: 'attached' });
    await r.open(PROJECT, busy(NOW), { '/api/project-context': { body: cockpitRecord(NOW) } });
    await page.click('[data-menu] > summary');
    await page.waitForSelector('.menu-body [data-act=copy-briefing]');
  });

  test('UI-035 UI-037 UI-038 what the board has to confess stands above every view', async () => {
    const body = { ...morning(NOW), in_quiet_hours: true, annotate_notice: 'The store of typed words cannot be trusted.', history_reset: 'unreadable' };
    for (const place of ['#n=sessions', '#n=intent', SESSION, PROJECT]) {
      await r.open(place, body, GETS);
      await r.sees('header', 'quiet hours');
      await r.sees('[data-notice=annotations]', 'cannot be trusted');
      assert.equal(await page.locator('[data-reset]').count(), 1, place);
      assert.ok(await page.evaluate(() => Boolean(document.querySelector('.banners').compareDocumentPosition(document.querySelector('main')) & Node.DOCUMENT_POSITION_FOLLOWING)));
    }
  });

  test('UI-009 UI-010 a style carries numbers, an id carries none of the payload, a link is a route', async () => {
    const { label, board: bad, body } = hostileProject(NOW);
    for (const [place, scene, gets] of [['#n=sessions', hostile(NOW), {}], ['#n=attention', hostile(NOW), {}], [`#n=project:${encodeURIComponent(label)}:course`, bad, { '/api/project-context': { body } }], [SESSION, whole(NOW), GETS]]) {
      await r.open(place, scene, gets);
      await r.quiet();
      is(await page.$$eval('#app [style]', (l) => l.map((n) => n.getAttribute('style')).filter((s) => !/^((width|height|left|top|transform|inset): (max\(\dpx, )?(translateY\()?-?[\d.]+(px|%)?\)?;? ?)+$/.test(s))), [], place);
      is(await page.$$eval('#app [id]', (l) => l.map((n) => n.id).filter((id) => !/^[a-z]+(-[a-z0-9]+)*$/.test(id))), [], place);
      is(await page.$$eval('#app [href]', (l) => l.map((n) => n.getAttribute('href')).filter((h) => !/^(#n=|#main$|\?all=1$|\/assets\/licenses\.txt$)/.test(h))), [], place);
    }
  });

  test('UI-013 the capability goes into one header of one route and is kept nowhere', async () => {
    await r.open('#n=sessions', morning(NOW), GETS);
    await page.click('[data-act=raise]');
    await r.sent('/api/focus', 1);
    await page.click('[data-act=copy-id] >> nth=0');
    await r.quiet();
    is(r.server.requests.filter((q) => JSON.stringify([q.path, q.query, q.body, q.headers]).includes('abc123')).map((q) => [q.path, q.headers['x-cargento-capability']]), [['/api/focus', 'abc123']]);
    is(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]).includes('abc123')), false);
  });

  test('UI-040 UI-047 the shell stands before the first payload', async () => {
    await page.goto('about:blank');
    r.server.fail('hang');
    await page.goto(`${r.url}#n=sessions`);
    await page.waitForSelector('main[aria-busy=true] .skeleton', { state: 'attached' });
    is([await page.locator('nav[aria-label=Primary] a').count(), await page.locator('h1').innerText(), /\d/.test(await r.text('main'))], [4, 'Session operations', false]);
    r.server.fail(null);
  });

  test('UI-052 a paint waits for a disclosure in motion, and not where motion is unwanted', async () => {
    const waited = async (reducedMotion) => {
      await page.emulateMedia({ reducedMotion });
      await r.open('#n=sessions', morning(NOW), GETS);
      // The page publishes to itself: its next answer comes at once after its own click.
      return page.evaluate(async () => {
        document.querySelector('.fold > summary').click();
        const from = performance.now();
        const before = performance.getEntriesByName('drawn')[0].startTime;
        dispatchEvent(new StorageEvent('storage', { key: 'cargento.next.revision', newValue: '1999999999.1' }));
        while (performance.getEntriesByName('drawn')[0].startTime === before) await new Promise((d) => setTimeout(d, 5));
        return [performance.getEntriesByName('drawn')[0].startTime - from, performance.getEntriesByName('board')[0].startTime - from];
      });
    };
    const [drawn] = await waited('no-preference');
    assert.ok(drawn >= 210, `drawn after ${drawn} ms`);
    const [at, taken] = await waited('reduce');
    assert.ok(at - taken < 210, `drawn ${at - taken} ms after it was taken`);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
  });

  test('UI-070 UI-072 UI-102 UI-107 UI-109 titles that are not published, groups and their states, shared labels', async () => {
    await r.open('#n=sessions', payload(NOW, [row('claude', 'aaaa0001', { title: '', last_prompt: 'tidy up', state: 'working' }), row('claude', 'aaaa0002', { title: 'Quiet' }), row('claude', 'aaaa0003', { title: 'Over', ended_at: NOW - 60, project: 'x/y' })]));
    await r.sees('[data-row="claude:aaaa0001"]', 'Title not published', 'LAST PROMPT · tidy up', '2 sessions share this display label');
    is(await page.$$eval('[data-group] h2', (l) => l.map((n) => n.textContent)), ['Active now (1)', 'Recent history (2)']);
    is(await page.$$eval('.row-history .row-fig .label', (l) => l.map((n) => n.textContent)), ['QUIET', 'ENDED']);
    assert.doesNotMatch(await r.text('[data-row="claude:aaaa0003"]'), /share/);
    await page.click('summary:has-text("What recent means")');
    await r.sees('.group-history details[open]', /no proof that a process is open or closed/);
  });

  test('UI-088 UI-094 UI-099 what a session page says of an unsure wait, a long turn and a workflow', async () => {
    await r.open(SESSION, alone({ state: 'needs_input', state_detail: 'Permission: shell', wait_unconfirmed: true, blocked_since: NOW - 400 }), GETS);
    await r.sees('[data-part=question]', 'No sign of it for 5 minutes; the prompt may still stand');
    const flow = { workflow: 'tax', goal: '', stages: ['one', 'two', 'three'], entities: [{ slug: 'a', stage: 'two', cycle: '', live: true }, { slug: 'b', stage: 'two', cycle: '', live: false }] };
    await r.open(SESSION, alone({ turn: { elapsed_h: '20m', eta_h: null, pct: null, long: true }, spacedock: { role: 'ensign', workflows: [flow] } }), GETS);
    await r.sees('.health', /LONG TURN This request runs, or is estimated to run, 15 minutes or more/);
    is(await page.$$eval('.stage-step', (l) => l.map((n) => [n.querySelector('.stage-name').textContent, [...n.querySelectorAll('.stage-item')].map((e) => [e.firstChild.textContent, e.classList.contains('stage-live')])])), [['one', []], ['two', [['a', true], ['b', false]]], ['three', []]]);
    await r.sees('[data-part=stages]', 'would say nothing about whether a workflow exists');
  });

  test('UI-124 UI-136 UI-149 the panel in its order, each word with its source, and an opened caveat stays open', async () => {
    await r.open(SESSION, alone({ ...annotated(NOW), annotation_goal_source: 'first-prompt', annotation_goal_source_at: NOW - 3600 }), GETS);
    await r.quiet();
    const panel = await r.text('[data-part=panel]');
    const order = ['Intent and drift', 'A check happens only when you ask', 'Intent GOAL', 'EXPECTED OUTCOME', 'Drift Analyze drift', 'Conflict to settle', 'DEPARTURES RAISED TO YOU', 'discard everything'].map((w) => [w, panel.indexOf(w)]);
    is(order.map(([, at]) => at), order.map(([, at]) => at).sort((a, b) => a - b));
    assert.ok(order.every(([, at]) => at >= 0), JSON.stringify(order));
    for (const words of ['from your prompt', 'added from', 'revision 4 of 4 · ', ' 12m ago', 'only the first 8 characters']) assert.ok(panel.includes(words), words);
    await page.click('summary:has-text("what it reads and sends")');
    await page.waitForSelector('details[open] >> text=sends session content off this machine');
    await r.publish({ ...alone({ ...annotated(NOW), state_detail: 'next' }), generated: NOW + 5 });
    assert.ok(await page.locator('details[open] >> text=sends session content off this machine').count());
    is(await page.$$eval('details', (l) => l.filter((n) => !n.querySelector('summary').textContent.trim()).length), 0);
  });

  test('UI-127 UI-128 the record names its limits by harness, and a raise is never called seen', async () => {
    const sids = [['claude', '27d10654', /Checks that ran and files that were written/], ['pi', 'p1', /Work results that a session demonstrated/], ['codex', 'c1', /instructions, dispatches and gate decisions only/]];
    const rows = sids.map(([harness, sid]) => row(harness, sid, { title: sid, delivery_raises: harness === 'codex' ? 0 : 1, delivery_at: NOW - 60, delivery_why: 'It was handed over.', browser_lane_why: 'No tab can show it.' }));
    for (const [harness, sid, limit] of sids) {
      await r.open(`#n=session:acme%2Fshop:${harness}:${sid}`, payload(NOW, rows), GETS);
      await r.sees('[data-part=record]', limit);
      const raised = page.locator('[data-part=notifications]');
      if (harness === 'codex') assert.equal(await raised.count(), 0);
      else await r.sees('[data-part=notifications]', 'One notification was raised', 'It was handed over.', 'No tab can show it.');
      assert.doesNotMatch(await r.text('[data-part=activity]'), /\bseen\b/);
    }
  });

  test('UI-179 UI-270 a refused copy says so and leaves the words to be selected', async () => {
    await r.open(SESSION, whole(NOW), GETS);
    await page.evaluate(() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); });
    await page.click('.sess-acts [data-act=copy-command]');
    await page.waitForSelector('.sess-acts [data-cue=failed]');
    await r.sees('.copy-out', 'claude --resume 27d10654');
    await r.sees('#polite', 'could not be copied');
    assert.equal(await page.$eval('.copy-out', (n) => getComputedStyle(n).userSelect), 'all');
  });

  test('UI-195 three subjects are named that this board does not have yet', async () => {
    await r.open('#n=attention', morning(NOW), GETS);
    is(await page.$$eval('[data-group=not-yet] li', (l) => l.length), 3);
    await r.sees('[data-group=not-yet]', 'Not on this board yet'.toUpperCase(), /attention/, /pushed/, /read/);
  });

  test('UI-200 UI-202 UI-205 UI-252 capacity: no panel without figures, six columns with their heads, what is withheld in words', async () => {
    await r.open('#n=sessions', payload(NOW, [row('claude', 'a', { title: 'a' })], { usage: [], usage_fetch: false }));
    assert.equal(await page.locator('[data-part=capacity]').count(), 0);
    await r.open('#n=sessions', payload(NOW, [row('claude', 'a', { title: 'a' })], { usage: [], usage_fetch: true }));
    is([await page.locator('[data-act=consent-yes]').count(), await page.locator('.cap-row').count()], [1, 0]);
    await r.open('#n=sessions', morning(NOW), GETS);
    is(await page.$$eval('.cap-table [role=columnheader]', (l) => l.map((n) => n.textContent)), ['Window', 'Used', 'Budget against clock', 'Pace', 'Budget ends', 'Resets']);
    is(await page.$$eval('.cap-table [role=row]', (l) => l.slice(1).map((n) => n.querySelectorAll('[role=rowheader], [role=cell]').length)), [6, 7, 6]);
    await r.sees('[data-part=capacity]', '16.61 AIU', 'Cursor: withheld', 'per-model limits have no clock');
    assert.doesNotMatch(await r.text('[data-part=capacity]'), /Cursor[^.]*\b0%/);
    assert.ok(await page.evaluate(() => Boolean(document.querySelector('[data-group=history]').compareDocumentPosition(document.querySelector('[data-part=capacity]')) & Node.DOCUMENT_POSITION_FOLLOWING)));
    is(await page.evaluate(() => Object.keys(localStorage).filter((k) => /reading/.test(k))), []);
  });

  test('UI-240 both live regions are there from the start, empty, outside the app, and a redraw says nothing', async () => {
    await r.open('#n=sessions', morning(NOW), GETS);
    is(await page.$$eval('body > [aria-live]', (l) => l.map((n) => [n.id, n.getAttribute('aria-live'), n.getAttribute('role')])), [['polite', 'polite', 'status'], ['assertive', 'assertive', 'alert']]);
    await page.evaluate(() => {
      window.heard = [];
      new MutationObserver((l) => l.forEach((m) => window.heard.push(m.target.textContent))).observe(document.querySelector('#polite'), { childList: true, characterData: true, subtree: true });
    });
    await r.publish({ ...morning(NOW + 5), sessions: morning(NOW + 5).sessions.reverse() });
    is(await page.evaluate(() => window.heard), []);
    await page.click('[data-act=copy-id] >> nth=0');
    await r.until(() => page.evaluate(() => window.heard.length > 0), 'the first word');
    const once = await page.evaluate(() => window.heard.length);
    await page.click('[data-act=copy-id] >> nth=0');
    await r.until(() => page.evaluate((n) => window.heard.length >= n + 2, once), 'emptied, and said again');
    assert.equal(await page.innerText('#assertive'), '');
  });

  test('UI-243 a link leads to the new heading, and back to the place and the focus', async () => {
    await r.open('#n=sessions', { ...morning(NOW), sessions: [...morning(NOW).sessions, ...Array.from({ length: 20 }, (_, i) => row('codex', `more${i}`, { title: `More ${i}`, state: 'working', subagents: [agent('x')] }))] }, GETS);
    const link = page.locator('[data-row="codex:more9"] .row-link');
    await link.scrollIntoViewIfNeeded();
    const top = () => link.evaluate((n) => n.getBoundingClientRect().top);
    // Rows above take their true size only once they come near: measured when the row has come to rest.
    let at = NaN;
    await r.quiet();
    await r.until(async () => at === (at = await top()), 'a row at rest');
    assert.ok(await page.evaluate(() => scrollY) > 0);
    await link.click();
    await page.waitForFunction(() => document.activeElement.tagName === 'H1' && document.title.startsWith('(2) More 9'));
    assert.equal(await page.evaluate(() => scrollY), 0);
    await page.goBack();
    await page.waitForFunction(() => document.activeElement.closest('[data-row]')?.dataset.row === 'codex:more9');
    await r.until(async () => Math.abs(await top() - at) < 40, 'the old place, to less than a row');
  });
}
