// What every browser test of a view needs: a page that reports its faults, a way to open a place on a board, to publish the
// next one and wait until it is drawn, and the accessibility rules.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { browser, program } from './chrome.mjs';
import { fake } from './fake.mjs';
import { morning } from './payloads.mjs';

/** The source of the accessibility rules, to be evaluated in a page. */
export const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const NOW = 1_790_000_000;
/** How long a thing that must come is waited for, in ms: a bound for what is broken, not a time anything takes. */
const PATIENCE = 30_000;
export { program };

/** Lets the time pass in which a second press of an armed discard is taken for a double click: the page's own clock says when. */
export const dwell = (page) => page.evaluate(() => performance.now()).then((t) => page.waitForFunction((from) => performance.now() - from > 1250, t));

/** A suite of browser tests: `hear` gets the rig before the first of them; where no browser is, one skip says so. */
export function suite(hear, tests) {
  if (!program) {
    test('no browser is installed', { skip: true }, () => {});
    return;
  }
  let made;
  before(async () => {
    made = await rig();
    hear(made);
  });
  after(() => made?.close());
  tests();
}

/** A browser and a page on `url` (the stand-in server when none is given). */
export async function rig(url = null) {
  const faults = [];
  const server = url ? null : await fake({ payload: morning(NOW) });
  const at = url ?? server.url;
  const chrome = await browser();
  await chrome.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: at });
  const page = await chrome.context.newPage();
  page.on('pageerror', (e) => faults.push(`error: ${e.message}`));
  page.on('console', (m) => m.type() === 'error' && !/ERR_|50\d|40\d/.test(m.text()) && faults.push(`console: ${m.text()}`));
  page.on('request', (r) => { if (!r.url().startsWith(at) && !/^(about|data|blob):/.test(r.url())) faults.push(`left the origin: ${r.url()}`); });
  // The stream stays open for as long as the page; everything else ends.
  const under = new Set();
  let begun = 0;
  page.on('request', (r) => {
    if (r.url().includes('/api/stream')) return;
    begun += 1;
    under.add(r);
  });
  for (const end of ['requestfinished', 'requestfailed']) page.on(end, (r) => under.delete(r));
  // What failed is not read to its end.
  page.on('response', (r) => r.ok() || under.delete(r.request()));
  await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (e) => console.error(`CSP ${e.violatedDirective} ${e.blockedURI}`)));
  const settle = () => page.waitForFunction(() => new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(() => d(true)))));
  const asked = (path) => server.requests.filter((r) => r.path === path);
  const text = (selector = 'main') => page.locator(selector).first().innerText({ timeout: 5000 }).then((t) => t.replace(/\s+/g, ' '));

  /** Waits until `holds()` is true; `what` is said when it never is. */
  async function until(holds, what) {
    const end = Date.now() + PATIENCE;
    while (!await holds()) {
      assert.ok(Date.now() < end, `never: ${what}`);
      await new Promise((d) => setTimeout(d, 20));
    }
  }

  return {
    page, context: chrome.context, server, faults, url: at, settle, asked, text, until,
    /** Waits until the text at `selector` holds every one of `wanted` (words or patterns), and answers it. */
    async sees(selector, ...wanted) {
      let shown = '';
      let missing = wanted;
      await until(async () => {
        shown = await text(selector).catch(() => '');
        missing = wanted.filter((w) => (w instanceof RegExp ? !w.test(shown) : !shown.includes(w)));
        return !missing.length;
      }).catch(() => assert.fail(`${selector} lacks ${missing.join(' | ')}\nin: ${shown}`));
      return shown;
    },
    /** Waits until nothing is under way: all that was asked has been answered, and drawing it asked for nothing more. */
    async quiet() {
      let count = -1;
      await until(async () => {
        const same = count === begun && under.size === 0;
        count = begun;
        await settle();
        await settle();
        return same;
      }, 'quiet');
    },
    /** Opens `place` on `body` with the given GET replies, in a fresh document. */
    async open(place, body, gets = {}) {
      let revision = null;
      await page.goto('about:blank');
      if (server) {
        server.fail(null);
        server.gets.clear();
        for (const [path, reply] of Object.entries(gets)) server.gets.set(path, reply);
        server.replies.clear();
        revision = server.set(body);
        server.requests.length = 0;
      }
      faults.length = 0;
      await page.goto(at + place);
      await page.waitForSelector('main:not([aria-busy]) h1');
      if (revision) await until(() => page.evaluate((r) => performance.getEntriesByName('drawn').at(-1)?.detail === r, revision), 'the first board');
      // The capacity strip is fetched by the first board that has something in it.
      if (/^(#n=sessions)?$/.test(place) && ((Array.isArray(body?.usage) && body.usage.some((u) => u !== null && typeof u === 'object' && !Array.isArray(u))) || body?.usage_fetch === true)) {
        const strip = await page.waitForFunction(() => performance.getEntriesByType('resource').find((e) => /part-capacity/.test(e.name))?.name);
        await page.evaluate((name) => import(name).then(() => null), await strip.jsonValue());
      }
      await settle();
    },
    /** Publishes a board and waits until the page has drawn it; `taken` waits only until it was received. */
    async publish(body, { taken = false } = {}) {
      const revision = server.set(body);
      await until(() => page.evaluate(([name, r]) => performance.getEntriesByName(name).at(-1)?.detail === r, [taken ? 'board' : 'drawn', revision]), `the board ${revision}`);
      await settle();
      await settle();
    },
    /** Waits until `count` bodies were posted to a path, and answers them. */
    async sent(path, count) {
      const bodies = () => server.requests.filter((r) => r.method === 'POST' && r.path === path).map((r) => JSON.parse(r.body));
      await until(() => bodies().length >= count, `${count} posts to ${path}`);
      return bodies();
    },
    /** The bodies posted to a path, oldest first. */
    posted: (path) => server.requests.filter((r) => r.method === 'POST' && r.path === path).map((r) => JSON.parse(r.body)),
    /** No violation of level A or AA in either scheme at two widths. */
    async accessible(what) {
      for (const scheme of ['dark', 'light']) {
        await page.emulateMedia({ colorScheme: scheme });
        for (const width of [1440, 390]) {
          await page.setViewportSize({ width, height: 900 });
          await settle();
          await page.evaluate(axe);
          const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }));
          assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.failureSummary}`).join(' | ')}`), [], `${what} ${scheme} ${width}`);
          const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          assert.equal(over, 0, `${what} ${width}: ${over}px too wide`);
        }
      }
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 1440, height: 900 });
    },
    async close() {
      await chrome.close();
      await server?.close();
    },
  };
}
