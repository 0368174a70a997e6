// The look, held where a browser computes it: sizes, shapes, places and what stands in for colour.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { STATIC } from './fake.mjs';
import { NOW, program, rig } from './rig.mjs';
import { busy, record as cockpitRecord } from './cockpit-scenes.mjs';
import { crowd, morning, payload, row, task } from './payloads.mjs';
import { deck, intents, pressed, record, whole } from './scenes.mjs';

const is = assert.deepEqual;
const css = readFileSync(join(STATIC, 'app.css'), 'utf8');
const SESSION = '#n=session:acme%2Fshop:claude:27d10654';
const PROJECT = '#n=project:acme%2Fshop';
const GETS = { '/api/project-context': { body: record(NOW) }, '/api/session': { body: deck(NOW) }, '/api/annotations': { body: intents(NOW) } };
const COCKPIT = { '/api/project-context': { body: cockpitRecord(NOW) } };
const EVERY = [['#n=sessions', morning, GETS], ['#n=projects', busy, COCKPIT], ['#n=attention', pressed, GETS], ['#n=intent', whole, GETS], [SESSION, whole, GETS], ...['', ':course', ':decisions', ':console'].map((tab) => [`${PROJECT}${tab}`, busy, COCKPIT])];

test('LOOK-020 the tokens have the values that were decided', () => {
  const decided = {
    dark: 'bg-0 #0F1214 bg-1 #15191C bg-2 #1C2125 bg-3 #252B30 line #2A3136 line-2 #3C454C line-ctl #6A757D ink-1 #ECEFF1 ink-2 #B7C0C6 ink-3 #8F9AA2 need #FF7A6B work #6FB1FF idle #9AA5AD accent #5CC8B4 amber #F2B84B clay #E28B63 ok #7CCB8A need-ink #FFB3A8 need-bg #3A1714 work-ink #B3D5FF work-bg #12263D amber-ink #F7D48B amber-bg #33270F primary-ink #06231E primary-bg #5CC8B4',
    light: 'bg-0 #F6F5F1 bg-1 #FFFFFF bg-2 #EFEEE9 bg-3 #E5E3DC line #DAD7CF line-2 #BDB9AE line-ctl #7C8086 ink-1 #171A1C ink-2 #454D53 ink-3 #5B646B need #B3261E work #1B5FB8 idle #59636A accent #0B6F5F amber #855500 clay #9A4320 ok #2C6E3A need-ink #8C1D16 need-bg #FBE3E0 work-ink #164C94 work-bg #DFEBFA amber-ink #6B4400 amber-bg #FBEFD5 primary-ink #FFFFFF primary-bg #0B6F5F',
  };
  for (const [scheme, start] of [['dark', '@layer tokens {'], ['light', '[data-theme=light]']]) {
    const block = css.slice(css.indexOf(start)).match(/\{[^{}]*--bg-0[^}]*\}/)[0];
    const words = decided[scheme].split(' ');
    for (let i = 0; i < words.length; i += 2) assert.ok(block.includes(`--${words[i]}: ${words[i + 1]};`), `${scheme} ${words[i]}`);
  }
});

test('LOOK-001 LOOK-030 one shadow, no glass, no picture', () => {
  assert.equal(css.match(/box-shadow/g).length, 1);
  assert.match(css, /\.menu-body \{[^}]*box-shadow: 0 8px 24px rgb\(0 0 0 \/ \.35\)/);
  assert.doesNotMatch(css, /backdrop-filter|text-shadow|[^-]filter:|url\((?!\/assets\/[a-z-]+\d00\.woff2\))/);
});

test('LOOK-010 the extended subset is asked for by range, and two files are preloaded', () => {
  const faces = css.match(/@font-face \{[^}]*\}/g);
  is([faces.length, faces.filter((f) => /latin-ext/.test(f)).every((f) => /unicode-range: U\+100-2BA/.test(f)), faces.every((f) => /font-display: swap/.test(f))], [12, true, true]);
  const shell = readFileSync(join(STATIC, 'index.html'), 'utf8');
  is([...shell.matchAll(/rel="preload"[^>]*href="([^"]+)"/g)].map((m) => m[1]), ['/assets/ibm-plex-sans-latin-400.woff2', '/assets/ibm-plex-mono-latin-400.woff2']);
});

if (!program) test('no browser is installed', { skip: true }, () => {});
else {
  let r;
  let page;
  const style = (selector, ...names) => page.locator(selector).first().evaluate((n, list) => list.map((name) => getComputedStyle(n)[name]), names);
  const size = (width, height = 900) => page.setViewportSize({ width, height });
  before(async () => {
    r = await rig();
    page = r.page;
  });
  after(() => r?.close());

  test('LOOK-002 a row carries at most three sizes of type', async () => {
    for (const width of [1440, 900, 390]) {
      await size(width);
      for (const [place, scene, gets] of EVERY) {
        await r.open(place, scene(NOW), gets);
        await r.quiet();
        const over = await page.evaluate(() => [...document.querySelectorAll('.row, .item, .proj, .log-item, .panel[data-row], .cap-row')].map((unit) => {
          const walk = document.createTreeWalker(unit, NodeFilter.SHOW_TEXT);
          const sizes = new Set();
          while (walk.nextNode()) if (walk.currentNode.data.trim() && !walk.currentNode.parentElement.closest('.sr, .note-i, .mono-mark')) sizes.add(getComputedStyle(walk.currentNode.parentElement).fontSize);
          return [...sizes];
        }).filter((sizes) => sizes.length > 3));
        is(over, [], `${place} at ${width}`);
      }
    }
    await size(1440);
  });

  test('LOOK-011 LOOK-014 nothing is set below eleven pixels, eleven are for labels and figures, and sentences keep to 72 characters', async () => {
    for (const [place, scene, gets] of EVERY) {
      await r.open(place, scene(NOW), gets);
      await r.quiet();
      const odd = await page.evaluate(() => {
        const out = [];
        const walk = document.createTreeWalker(document.querySelector('#app'), NodeFilter.SHOW_TEXT);
        for (let t = walk.nextNode(); t; t = walk.nextNode()) {
          const text = t.data.trim();
          const at = t.parentElement;
          if (!text || at.closest('.sr, .btn-wide') || !at.checkVisibility()) continue;
          const s = getComputedStyle(at);
          const px = parseFloat(s.fontSize);
          const shown = s.textTransform === 'uppercase' ? text.toUpperCase() : text;
          if (px < 10.95) out.push(`${px}px ${text}`);
          // A figure with its unit is no label.
          if (px < 11.9 && /[a-z]{2}/.test(shown)) out.push(`${px}px in small letters: ${shown}`);
          if (at.tagName === 'P' && text.length > 90 && at.getBoundingClientRect().width > 74 * parseFloat(s.fontSize) * 0.62) out.push(`wide: ${text}`);
        }
        return out;
      });
      is(odd, [], place);
    }
  });

  test('LOOK-012 LOOK-073 figures keep their columns: tabular, an age with a reserved width, and one left edge for each column of a group', async () => {
    await r.open('#n=sessions', morning(NOW), GETS);
    is(await style('.row .fig', 'fontVariantNumeric'), ['tabular-nums slashed-zero']);
    assert.match((await style('.row .fig', 'fontFamily'))[0], /^"IBM Plex Mono"/);
    is(await page.$$eval('.age-fixed', (l) => l.map((n) => n.getBoundingClientRect().width - 4.2 * parseFloat(getComputedStyle(n).fontSize)).filter((room) => room < -0.5)), [], 'seven figures of 0.6em');
    for (const kind of ['active', 'history']) for (const cell of ['goal', 'now']) is(await page.$$eval(`.row-${kind} > * > .row-${cell}`, (l) => new Set(l.map((n) => Math.round(n.getBoundingClientRect().left))).size), 1, `${kind} ${cell}`);
  });

  test('LOOK-013 a title takes two lines at most and is whole in its tooltip; a detail page cuts nothing', async () => {
    const long = Array.from({ length: 40 }, (_, i) => `word${i}`).join(' ');
    const body = payload(NOW, [row('claude', 'aaaa0001', { title: long, state: 'working', state_detail: long }), row('claude', 'aaaa0002', { title: long })]);
    await r.open('#n=sessions', body);
    for (const kind of ['active', 'history']) assert.ok(await page.locator(`.row-${kind} .clamp2`).first().evaluate((n) => n.getBoundingClientRect().height <= 2.2 * parseFloat(getComputedStyle(n).lineHeight) && n.scrollHeight > n.clientHeight), kind);
    assert.equal(await page.getAttribute('.row-link', 'title'), long);
    await r.open('#n=session:acme%2Fshop:claude:aaaa0001', body);
    assert.ok(await page.locator('h1').evaluate((n) => n.scrollHeight <= n.clientHeight + 2 && getComputedStyle(n).webkitLineClamp === 'none'));
  });

  test('LOOK-003 LOOK-005 LOOK-024 LOOK-040 LOOK-091 five states tell apart by shape and word, with no colour at all', async () => {
    const states = [['a', { state: 'needs_input' }], ['b', { state: 'working', active: true }], ['c', { state: 'idle' }], ['d', { ended_at: NOW - 9 }], ['e', { state: 'odd' }]];
    await r.open('#n=sessions', payload(NOW, states.map(([sid, more]) => row('claude', sid, { title: sid, ...more })), { departures: [] }));
    const badges = await page.$$eval('.badge', (l) => l.map((n) => {
      const dot = n.querySelector('.dot');
      const s = getComputedStyle(dot);
      const bare = (c) => c === 'rgba(0, 0, 0, 0)';
      return { word: n.textContent.trim(), shape: [s.borderRadius, s.transform, s.borderStyle, s.width, bare(s.backgroundColor)].join(), upper: getComputedStyle(n).textTransform, family: getComputedStyle(n).fontFamily };
    }));
    is(badges.map((b) => b.word), ['needs input', 'working', 'idle', 'ended', 'no state']);
    assert.equal(new Set(badges.map((b) => b.shape)).size, 5, JSON.stringify(badges));
    assert.ok(badges.every((b) => b.upper === 'uppercase' && /IBM Plex Mono/.test(b.family)));
    is(new Set(await page.$$eval('.row-active .badge', (l) => l.map((n) => n.getBoundingClientRect().width))).size, 1, 'one width for every state');
    is(await page.$$eval('.hx-wide .mono-mark', (l) => l.map((n) => n.textContent)), ['CC', 'CX', 'PI', 'GE', 'AG', 'CP', 'OC', 'CU', 'GO', 'DR']);
    await page.emulateMedia({ forcedColors: 'active' });
    const edge = await page.$$eval('.row-wait, .row-active:not(.row-wait)', (l) => l.map((n) => getComputedStyle(n).borderLeftColor));
    assert.notEqual(edge[0], edge[1], 'a waiting row keeps its rule');
    await page.emulateMedia({ forcedColors: 'none' });
  });

  test('LOOK-004 UI-072 an absence is in italics and in the ink of absences, everywhere', async () => {
    for (const [place, scene, gets] of EVERY) {
      await r.open(place, scene(NOW), gets);
      await r.quiet();
      is(await page.$$eval('.absent', (l) => [...new Set(l.map((n) => `${getComputedStyle(n).fontStyle} ${getComputedStyle(n).color} ${n.hasAttribute('data-absent')}`))].filter((s) => s !== 'italic rgb(143, 154, 162) true')), [], place);
    }
  });

  test('LOOK-025 UI-232 a control that the keyboard reaches shows a two-pixel ring two pixels off', async () => {
    for (const [place, scene, gets] of [EVERY[0], EVERY[4], EVERY[8]]) {
      await r.open(place, scene(NOW), gets);
      await r.quiet();
      for (let i = 0; i < 40; i += 1) {
        await page.keyboard.press('Tab');
        const ring = await page.evaluate(() => {
          const n = document.activeElement;
          if (!n || n === document.body || n.matches('.tab-panel')) return null;
          const s = getComputedStyle(n);
          return `${n.className || n.tagName}: ${s.outlineStyle} ${s.outlineWidth} ${s.outlineOffset} ${s.outlineColor}`;
        });
        if (ring) assert.match(ring, /: solid 2px 2px rgb\(92, 200, 180\)$/, place);
      }
    }
  });

  test('LOOK-025 UI-232 the ring is drawn and not only computed: around a title that is cut at two lines, a goal, a tab', async () => {
    for (const [place, scene, gets, selector] of [['#n=sessions', morning, GETS, '.row-active .row-link'], ['#n=sessions', morning, GETS, '.row-history .row-link'], ['#n=sessions', morning, GETS, '.row-goal a'], [PROJECT, busy, COCKPIT, '.row-title .row-link'], [PROJECT, busy, COCKPIT, '.tab']]) {
      for (const width of [1440, 320]) {
        await size(width);
        await r.open(place, scene(NOW), gets);
        await r.quiet();
        const link = page.locator(selector).first();
        if (!await link.count()) continue;
        await page.keyboard.press('Tab');
        await link.focus();
        // Below the words and beside them: the ring alone is there.
        const accents = await page.evaluate((css) => {
          const n = document.querySelector(css);
          const holders = [];
          for (let p = n; p && p !== document.body; p = p.parentElement) holders.push(p);
          const ringed = holders.filter((p) => getComputedStyle(p).outlineStyle === 'solid');
          const outermost = ringed.at(-1);
          const box = outermost.getBoundingClientRect();
          for (let p = outermost.parentElement; p && p !== document.body; p = p.parentElement) {
            if (getComputedStyle(p).overflowX === 'visible') continue;
            const edge = p.getBoundingClientRect();
            if (box.left - 4 < edge.left - 0.5 || box.right + 4 > edge.right + 0.5 || box.top - 4 < edge.top - 0.5 || box.bottom + 4 > edge.bottom + 0.5) return `cut by ${p.className || p.tagName}`;
          }
          return 'whole';
        }, selector);
        is(accents, 'whole', `${place} ${selector} ${width}`);
      }
    }
    await size(1440);
  });

  test('LOOK-030 LOOK-031 LOOK-032 LOOK-062 shapes, densities and gutters', async () => {
    await r.open('#n=sessions', { ...pressed(NOW), sessions: [...pressed(NOW).sessions, row('claude', 'plain001', { title: 'Plain', state: 'working' })] });
    is([...await style('.row', 'borderRadius'), ...await style('.btn-plain', 'borderRadius'), ...await style('.row-active', 'minHeight')], ['0px', '2px', '64px']);
    assert.ok(parseFloat((await style('.row-history', 'minHeight'))[0]) < 64);
    for (const [width, gutter] of [[1440, '32px'], [900, '20px'], [390, '12px']]) {
      await size(width);
      is(await style('.page', 'paddingLeft', 'maxWidth'), [gutter, '1600px'], width);
    }
    await size(1440);
    await page.evaluate(() => { document.documentElement.dataset.density = 'compact'; });
    is(await style('.row-active', 'minHeight'), ['44px']);
    const plain = await page.locator('[data-row="claude:plain001"]').evaluate((n) => n.getBoundingClientRect().height);
    assert.ok(plain <= 54, `a plain compact row is ${plain}px high`);
    // Title and state share the first line; who and where stand under them, and a label over its value.
    const tops = await page.locator('[data-row="claude:plain001"]').evaluate((n) => ['.badge', '.row-title', '.row-by', '.row-where', '.row-goal > .label', '.row-goal > .row-value'].map((s) => n.querySelector(s).getBoundingClientRect()).map((b) => Math.round((b.top + b.bottom) / 2)));
    assert.ok(Math.abs(tops[0] - tops[1]) < 5 && Math.abs(tops[2] - tops[3]) < 5 && tops[2] - tops[1] > 12 && tops[5] - tops[4] > 12, String(tops));
  });

  test('LOOK-023 LOOK-041 LOOK-061 only a wait has a filled edge, and a long one is set in bold', async () => {
    await r.open('#n=sessions', payload(NOW, [row('claude', 'a', { title: 'a', state: 'needs_input', blocked_since: NOW - 901 }), row('claude', 'b', { title: 'b', state: 'needs_input', blocked_since: NOW - 899 }), row('claude', 'c', { title: 'c', state: 'working' })]));
    is(await page.$$eval('.row', (l) => l.map((n) => [getComputedStyle(n).borderLeftWidth, getComputedStyle(n).borderLeftColor])), [['3px', 'rgb(255, 122, 107)'], ['3px', 'rgb(255, 122, 107)'], ['3px', 'rgba(0, 0, 0, 0)']]);
    is(await page.$$eval('.row-wait .row-top .age', (l) => l.map((n) => [getComputedStyle(n).fontWeight, getComputedStyle(n).color])), [['600', 'rgb(236, 239, 241)'], ['400', 'rgb(183, 192, 198)']]);
    is(await page.$$eval('.row-wait *', (l) => l.filter((n) => getComputedStyle(n).animationName !== 'none').length), 0);
  });

  test('LOOK-044 LOOK-045 LOOK-046 LOOK-049 bars have their height, their parts and their words', async () => {
    const tasks = (n) => Array.from({ length: n }, (_, i) => task(`t${i}`, i ? 'pending' : 'completed'));
    const turn = (more) => ({ elapsed_h: '6m', eta_h: null, pct: null, long: false, ...more });
    await r.open('#n=sessions', { ...morning(NOW), sessions: [row('claude', 'a', { title: 'a', state: 'working', turn: turn({ eta_h: '3m', pct: 66 }), tasks: tasks(12) }), row('claude', 'b', { title: 'b', state: 'working', turn: turn({}), tasks: tasks(13) }), row('claude', 'c', { title: 'c', state: 'working', turn: turn({ pct: 90, long: true, eta_h: '9m' }) })] });
    const of = (sid, selector) => page.locator(`[data-row="claude:${sid}"] ${selector}`);
    is([await of('a', '.turn .bar').evaluate((n) => n.getBoundingClientRect().height), await of('a', 'progress').getAttribute('value'), await of('b', '.turn .bar').count(), await of('b', '.turn').innerText()], [4, '66', 0, '6m into turn']);
    assert.equal(await of('c', '.bar i').evaluate((n) => getComputedStyle(n).backgroundColor), 'rgb(242, 184, 75)');
    is([await of('a', '.seg').count(), await of('b', '.seg').count(), await of('b', '.bar-tasks').count()], [12, 0, 1]);
    is(await page.$$eval('.cap-bar', (l) => l.map((n) => [n.getBoundingClientRect().height, n.getAttribute('role'), n.getAttribute('aria-label')]))
      .then((l) => l.map(([h, role, name]) => [h, role, /^\d+% of budget used, \d+% of the window elapsed/.test(name)])), Array.from({ length: 3 }, () => [10, 'img', true]));
    await r.sees('.cap-row:nth-child(2)', /spent \d+%.*\d+% of time gone/);
    for (let i = 1; i <= 6; i += 1) await r.publish({ ...morning(NOW + 40 * i), sessions: [row('claude', 'a', { title: 'a', state: 'working', rate_per_min: 100 * i })] });
    is(await page.$eval('.spark', (n) => [n.getAttribute('width'), n.getAttribute('height'), n.getAttribute('aria-hidden')]), ['60', '16', 'true']);
  });

  test('LOOK-051 LOOK-052 UI-130 options are alike and none is primary, and a cue changes no width', async () => {
    await r.open(SESSION, whole(NOW), GETS);
    const widths = await page.$$eval('.btn-option', (l) => l.map((n) => Math.round(n.getBoundingClientRect().width)));
    is([new Set(widths).size, await page.locator('.btn-option.btn-primary').count()], [1, 0]);
    const button = page.locator('.sess-acts [data-act=copy-command]');
    const before = await button.boundingBox();
    await button.click();
    await page.waitForSelector('.sess-acts [data-cue=copied]');
    is(await button.boundingBox(), before);
  });

  test('LOOK-053 LOOK-056 LOOK-057 LOOK-058 LOOK-063 disclosures are native, tabs carry their cue, a question stands on its rule', async () => {
    await r.open(SESSION, whole(NOW), GETS);
    await r.quiet();
    is([await page.$$eval('.fold', (l) => l.every((n) => n.tagName === 'DETAILS' && n.querySelector('summary').textContent.trim() !== '')), ...await style('.ask', 'borderLeftWidth', 'borderLeftColor'), ...await style('.ask-q', 'fontSize', 'fontWeight')], [true, '3px', 'rgb(255, 122, 107)', '16px', '500']);
    is(await page.$$eval('.stage-item', (l) => l.map((n) => [n.firstChild.textContent, getComputedStyle(n).fontWeight])), [['tax-rules', '600'], ['queue', '400']]);
    await r.open(PROJECT, busy(NOW), COCKPIT);
    await r.quiet();
    is(await page.$$eval('.tab', (l) => l.map((n) => [n.firstChild.textContent.trim(), getComputedStyle(n).borderBottomColor === 'rgb(92, 200, 180)'])), [['Now', true], ['Course', false], ['Decisions', false], ['Console', false]]);
    is(await page.$$eval('.group-h', (l) => [...new Set(l.map((n) => [getComputedStyle(n).textTransform, getComputedStyle(n).fontWeight, getComputedStyle(n.parentElement).position].join()))]), ['uppercase,600,static']);
  });

  test('LOOK-035 LOOK-059 a skeleton is flat and still, and an empty state is a sentence at the left with a command', async () => {
    await page.goto('about:blank');
    r.server.fail('hang');
    await page.goto(r.url);
    await page.waitForSelector('.bone', { state: 'attached' });
    is(await style('.bone', 'animationName', 'backgroundImage', 'backgroundColor'), ['none', 'none', 'rgb(28, 33, 37)']);
    await r.open('#n=sessions', payload(NOW, []));
    is([await page.locator('main img, main svg').count(), ...await style('.empty-lead', 'textAlign'), await page.locator('.empty-lead code').innerText()], [0, 'start', 'cargento --diagnose']);
  });

  test('LOOK-037 in print the bars go and their figures stay', async () => {
    await r.open('#n=sessions', morning(NOW), GETS);
    await page.emulateMedia({ media: 'print' });
    is([await page.locator('.cap-bar').first().isVisible(), await page.locator('.turn .bar').first().isVisible(), await page.locator('.head-end').isVisible()], [false, false, false]);
    is([await page.locator('.cap-used').first().innerText(), /21m into turn/.test(await r.text('.turn-long'))], ['78%', true]);
    is([await style('body', 'color'), await page.locator('.turn-long').first().evaluate((n) => n.getBoundingClientRect().height < 30)], [['rgb(69, 77, 83)'], true], 'dark words on white paper, each on its line');
    await page.emulateMedia({ media: 'screen' });
  });

  test('LOOK-060 LOOK-070 LOOK-072 LOOK-091 at twice the text size nothing is cut off or pushed aside, and above the rows stands one sentence at most', async () => {
    for (const [place, scene, gets] of EVERY) {
      await r.open(place, scene(NOW), gets);
      await page.evaluate(() => { document.documentElement.style.fontSize = '200%'; });
      await r.quiet();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(wide, 0, place);
      is(await page.$$eval('.badge, .btn-now, .label, .mark', (l) => l.filter((n) => n.checkVisibility() && !n.closest('.sr') && n.scrollWidth > n.clientWidth + 1 && getComputedStyle(n).overflow !== 'visible').map((n) => n.textContent)), [], place);
      is(await page.$$eval('.mono-mark', (l) => l.filter((n) => n.checkVisibility() && n.scrollHeight > n.clientHeight + 6).length), 0, `${place}: two letters on one line`);
      is(await page.$$eval('.row-who-cell, .row-goal, .row-now, .row-next, .item-main, .item-body', (l) => l.flatMap((cell) => [...cell.querySelectorAll('*')].filter((n) => n.checkVisibility() && !n.closest('.sr, .clamp1, .pill, .row-line') && n.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1).map((n) => n.outerHTML.slice(0, 80)))), [], `${place}: nothing reaches into its neighbour`);
    }
    await r.open('#n=sessions', crowd(NOW, 20));
    assert.ok(await page.locator('.view-head .lead').count() <= 1);
    is(await page.evaluate(() => [...document.querySelectorAll('main p')].filter((n) => n.compareDocumentPosition(document.querySelector('[data-row]')) & Node.DOCUMENT_POSITION_FOLLOWING && !n.closest('details, .view-head, dl')).length), 0);
  });

  test('LOOK-070 LOOK-091 UI-241 at twice the text size on a phone, and with the widest spacing of text, no view is pushed aside', async () => {
    for (const [place, scene, gets] of EVERY) {
      await size(390);
      await r.open(place, scene(NOW), gets);
      await r.quiet();
      const over = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      await page.evaluate(() => { document.documentElement.style.fontSize = '200%'; });
      is(await over(), 0, `${place} large`);
      await page.evaluate(() => {
        document.documentElement.style.fontSize = '';
        const spaced = new CSSStyleSheet();
        spaced.replaceSync('* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; } p { margin-bottom: 2em !important; }');
        document.adoptedStyleSheets = [spaced];
      });
      await size(320);
      is(await over(), 0, `${place} spaced`);
    }
    await size(1440);
  });

  test('LOOK-074 UI-241 a finger finds 44 pixels, and what hovering shows is also said', async () => {
    const { browser } = await import('./chrome.mjs');
    const phone = await browser({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const hand = await phone.context.newPage();
    r.server.set(pressed(NOW));
    await hand.goto(`${r.url}#n=attention`);
    await hand.waitForSelector('.item');
    const small = await hand.$$eval('.btn, summary, .nav-a, .row-link', (l) => l.filter((n) => n.checkVisibility()).map((n) => [n.textContent.trim().slice(0, 20), Math.round(n.getBoundingClientRect().height)]).filter(([, h]) => h < 44));
    is(small, []);
    // What stands in a row of its own: a field, a tab, a link that is no part of a sentence.
    for (const [place, scene, gets] of EVERY) {
      r.server.set(scene(NOW));
      for (const [path, reply] of Object.entries(gets)) r.server.gets.set(path, reply);
      await hand.goto('about:blank');
      await hand.goto(r.url + place);
      await hand.waitForSelector('main:not([aria-busy])');
      is(await hand.$$eval('.brand, .crumbs a, .input, .tab, .plain, .proj-link, .proj-member a, .row-controls > a', (l) => l.filter((n) => n.checkVisibility()).map((n) => [n.className || n.parentElement.className, n.textContent.trim().slice(0, 20), Math.round(n.getBoundingClientRect().height)]).filter(([, , h]) => h < 43)), [], place);
      assert.equal(await hand.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, place);
    }
    assert.equal(await hand.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
    await phone.close();
    await r.open('#n=sessions', morning(NOW), GETS);
    const silent = await page.$$eval('[data-row] .mark[title], [data-row] .row-shared[title]', (l) => l.filter((n) => n.title && !n.textContent.includes(n.title.slice(0, 12)) && !n.querySelector('.sr')).map((n) => n.title));
    is(silent.filter((t) => !/15 minutes or more/.test(t)), [], 'the session page says this one in full');
  });

  test('LOOK-042 LOOK-043 LOOK-050 LOOK-054 LOOK-055 marks, pills, the delegation figure, fields and banners', async () => {
    await r.open('#n=sessions', { ...morning(NOW), history_reset: 'version' }, GETS);
    is(await page.$$eval('[data-row="claude:5be0c111"] .mark', (l) => l.map((n) => [n.textContent.replace(/:.*/, ''), getComputedStyle(n).color, getComputedStyle(n).borderStyle])), [['⚠LONG TURN', 'rgb(242, 184, 75)', 'none'], ['↻LOOP', 'rgb(226, 139, 99)', 'none'], ['FIRST OFFICER', 'rgb(183, 192, 198)', 'solid']]);
    is(await style('.mark-drift', 'color', 'borderTopColor', 'borderTopStyle'), ['rgb(242, 184, 75)', 'rgb(242, 184, 75)', 'solid']);
    is(await page.$$eval('[data-row="claude:27d10654"] .pill', (l) => l.map((n) => [n.textContent.trim().replace(/\s+/g, ' '), getComputedStyle(n.querySelector('.dot')).backgroundColor !== 'rgba(0, 0, 0, 0)'])), [['reviewer4m', true], ['lint-worker2m· by planner', true], ['planner stopped', false], ['test-worker stopped· by planner', false]]);
    is(await page.$$eval('.banner', (l) => l.map((n) => { const s = getComputedStyle(n); return [s.position, s.backgroundColor, s.borderLeftWidth, s.borderLeftColor]; })), [['static', 'rgb(28, 33, 37)', '3px', 'rgb(242, 184, 75)'], ['static', 'rgb(28, 33, 37)', '3px', 'rgb(92, 200, 180)']]);
    await r.open(`${PROJECT}:console`, busy(NOW), COCKPIT);
    is(await page.$$eval('[data-group=delegation] *', (l) => Math.max(...l.map((n) => parseFloat(getComputedStyle(n).fontSize)))), 32);
    await r.open(SESSION, whole(NOW), GETS);
    const box = page.locator('[data-field=goal]');
    const line = await box.evaluate((n) => n.getBoundingClientRect().height);
    await box.fill(`${'word '.repeat(47)}end`);
    assert.ok(await box.evaluate((n) => n.getBoundingClientRect().height) > line + 10, 'a field grows with its words');
    await r.sees('.intent', '238/240');
    is(await style('.box-count', 'marginLeft', 'fontFamily').then(([, family]) => /^"IBM Plex Mono"/.test(family)), true);
  });

  test('LOOK-081 what is hidden is not drawn', async () => {
    await r.open('#n=sessions', morning(NOW), GETS);
    await page.evaluate(() => { document.querySelector('.row').hidden = true; document.querySelector('.fleet').hidden = true; });
    is([await page.locator('.row').first().isVisible(), await page.locator('.fleet').isVisible()], [false, false]);
  });
}
