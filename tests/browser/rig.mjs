// What every browser test of a view needs: a page that reports its faults, a way to open a place on a board, to publish the
// next one and wait until it is drawn, and the accessibility rules.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { browser, program } from './chrome.mjs';
import { fake } from './fake.mjs';
import { morning } from './payloads.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const NOW = 1_790_000_000;
export { program };

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
  await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (e) => console.error(`CSP ${e.violatedDirective} ${e.blockedURI}`)));
  const settle = () => page.waitForFunction(() => new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(() => d(true)))));
  const asked = (path) => server.requests.filter((r) => r.path === path);
  return {
    page, server, faults, url: at, settle, asked,
    /** Opens `place` on `body` with the given GET replies, in a fresh document. */
    async open(place, body, gets = {}) {
      if (server) {
        server.fail(null);
        server.gets.clear();
        for (const [path, reply] of Object.entries(gets)) server.gets.set(path, reply);
        server.replies.clear();
        server.set(body);
      }
      await page.goto('about:blank');
      if (server) server.requests.length = 0;
      faults.length = 0;
      await page.goto(at + place);
      await page.waitForSelector('main:not([aria-busy])');
      await page.waitForSelector('main h1');
    },
    /** Publishes a board and waits until the page has drawn it. */
    async publish(body) {
      const n = asked('/api/data').length;
      server.set(body);
      for (let i = 0; i < 100 && asked('/api/data').length === n; i += 1) await new Promise((d) => setTimeout(d, 20));
      await settle();
      await settle();
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
