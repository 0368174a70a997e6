// The page against the real binary: it serves its own files, and its demo board draws in each of these views. Set CARGENTO_BIN
// to the program; without it nothing here runs, and the run says so.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { STATIC, assets } from './fake.mjs';
import { dwell, program, rig } from './rig.mjs';

const BIN = process.env.CARGENTO_BIN;
const is = assert.deepEqual;

async function free() {
  const s = createServer().listen(0, '127.0.0.1');
  await once(s, 'listening');
  const { port } = s.address();
  s.close();
  await once(s, 'close');
  return port;
}

/** Starts the demo and waits until it answers with sessions. */
async function demo() {
  const port = await free();
  const child = spawn(BIN, ['--demo', '--port', String(port)], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}/`;
  const until = Date.now() + 20_000;
  for (;;) {
    const body = await fetch(`${url}api/data`).then((x) => x.json(), () => null);
    if (body?.sessions?.length) return { child, url, body };
    assert.ok(child.exitCode === null && Date.now() < until, 'the demo never answered');
    await new Promise((d) => setTimeout(d, 150));
  }
}

if (!BIN) {
  console.error('\n*** CARGENTO_BIN is not set: the page is NOT tested against the real binary ***\n');
  test('the real binary: CARGENTO_BIN is not set', { skip: 'CARGENTO_BIN is not set' }, () => {});
} else if (!program) test('the real binary: no browser is installed', { skip: true }, () => {});
else {
  let server;
  let r;
  let page;
  const text = (selector) => r.text(selector);
  const now = () => fetch(`${server.url}api/data`).then((x) => x.json());
  const href = (s) => `#n=session:${encodeURIComponent(s.project)}:${s.harness}:${s.sid}`;

  before(async () => {
    server = await demo();
    r = await rig(server.url);
    page = r.page;
  });
  after(async () => {
    await r?.close();
    if (server) {
      server.child.kill('SIGTERM');
      if (server.child.exitCode === null) await once(server.child, 'exit');
    }
  });

  test('CLI-033 UI-002 UI-007 the demo board draws, says that it is invented, and stays at home', async () => {
    await r.open('#n=sessions');
    await r.sees('[data-notice=demo]', /invented/);
    assert.ok(await page.locator('[data-row]').count() > 0);
    is(r.faults, []);
  });

  test('UI-001 UI-002 UI-004 UI-006 the bytes in static/ are the bytes served, the document is the same each time, and the terminal’s files are withheld', async () => {
    for (const [name, path] of assets()) {
      const reply = await fetch(`${server.url}assets/${name}`);
      if (name.startsWith('xterm')) assert.equal(reply.status, 404, name);
      else assert.ok(Buffer.from(await reply.arrayBuffer()).equals(readFileSync(path)), `${name} is not the file of this checkout`);
    }
    const [one, two] = await Promise.all([0, 1].map(() => fetch(server.url).then((x) => x.text())));
    assert.equal(one, two);
    assert.equal(one.replace(/<meta name="cargento-focus"[^>]*>\s*/, '').trim(), readFileSync(join(STATIC, 'index.html'), 'utf8').trim());
    await r.open('#n=sessions');
    await r.quiet();
    is(await page.evaluate(() => performance.getEntriesByType('resource').filter((e) => /xterm/.test(e.name)).length), 0);
  });

  test('UI-120 UI-125 every session of the demo has its page, and everything it cannot say is said in words', async () => {
    for (const s of (await now()).sessions) {
      await r.open(href(s));
      await page.waitForSelector('[data-part=panel]');
      await r.quiet();
      const main = await r.sees('main', 'Intent and drift', 'Session activity', 'CURRENT ACTIVITY', 'ASSIGNMENT', 'HOW IT LANDED', 'OBSERVED RECORD');
      if (s.title) await r.sees('h1', s.title.slice(0, 20));
      assert.doesNotMatch(main, /undefined|NaN|\[object|could not be drawn/, s.harness);
      for (const a of s.subagents) assert.ok(main.includes(a.name) || /\d+ stopped/.test(main), a.name);
      is(r.faults, [], s.harness);
    }
  });

  test('UI-139 UI-140 the panel follows what this server publishes', async () => {
    const body = await now();
    await r.open(href(body.sessions[0]));
    await page.waitForSelector('[data-part=panel]');
    assert.equal(await page.locator('[data-field=goal]').count(), body.annotate ? 1 : 0);
    assert.equal(await page.locator('[data-act=analyze]').count() <= 1, true);
    if (!body.annotate) {
      assert.equal(await page.getAttribute('[data-act=analyze]', 'aria-disabled'), 'true');
      await r.sees('#analyze-why', /Annotations are off/);
    }
    if (!body.deck) await r.sees('[data-part=calls]', /not read in this run/);
  });

  test('UI-181 UI-184 Attention counts the demo’s sessions and shows who waits', async () => {
    await r.open('#n=attention');
    const body = await now();
    await r.sees('main', new RegExp(`of ${body.sessions.length} session`));
    const waiting = body.sessions.filter((s) => s.state === 'needs_input' && !s.ended_at);
    if (waiting.length) await r.sees('[data-group=needs]', waiting[0].title);
    is(r.faults, []);
  });

  test('UI-210 UI-216 the Intent log lists the demo’s sessions once', async () => {
    await r.open('#n=intent');
    const body = await now();
    await page.waitForSelector('.log-item');
    const listed = await page.$$eval('.log-item', (l) => l.map((n) => n.dataset.row));
    is(new Set(listed).size, listed.length);
    for (const s of body.sessions) assert.ok(listed.includes(`${s.harness}:${s.sid}`), s.sid);
    is(r.faults, []);
  });

  test('UI-133 UI-138 UI-210 ANN-060 words are typed, kept, listed and discarded by the real store', async (t) => {
    const body = await now();
    if (!body.annotate) return t.skip('this build keeps no typed words');
    const s = body.sessions.find((x) => x.harness === 'claude');
    await r.open(href(s));
    await page.waitForSelector('[data-field=goal]');
    await page.fill('[data-field=goal]', 'Totals right to the cent');
    await page.click('[data-act=add-line]');
    await page.waitForFunction(() => document.activeElement.dataset.field === 'line');
    await page.keyboard.type('tax tests pass');
    await page.click('[data-act=save-intent]');
    await page.waitForSelector('text=Saved as revision 1.');
    await page.waitForSelector('[data-act=save-intent]', { state: 'detached' });
    await page.fill('[data-field=goal]', 'Totals right to the cent, always');
    await page.click('[data-act=save-intent]');
    await page.waitForSelector('text=Saved as revision 2.');
    await page.reload();
    await page.waitForSelector('text=revision 2 of 2');
    is(await page.$$eval('[data-field]', (l) => l.map((n) => n.value)), ['Totals right to the cent, always', 'tax tests pass']);
    await page.goto(`${server.url}#n=intent`);
    await page.waitForSelector('[data-entry=typed]');
    await r.sees('[data-entry=typed]', /GOAL Totals right to the cent, always.*OUTCOME 1 tax tests pass.*revision 2 of 2.*No reading asked for/);
    await page.goto(server.url + href(s));
    await page.click('[data-act=discard]');
    await dwell(page);
    await page.click('[data-act=discard]');
    await page.waitForSelector('.discard, [data-act=discard]', { state: 'detached' });
    await page.goto(`${server.url}#n=intent`);
    await page.waitForSelector('[data-entry=discarded]');
    assert.doesNotMatch(await text('main'), /Totals right to the cent/);
    is(r.faults, []);
    return undefined;
  });

  test('UI-043 the page follows the demo as it plays, and keeps the reader’s place', async () => {
    await r.open('#n=sessions');
    const first = await page.evaluate(() => document.querySelector('main').innerText);
    await page.locator('.row-link').first().focus();
    await page.waitForFunction((was) => document.querySelector('main').innerText !== was, first, { timeout: 20_000 });
    assert.equal(await page.evaluate(() => document.activeElement.className), 'row-link');
    is(r.faults, []);
  });

  test('UI-244 LOOK-070 no accessibility violation on the real board', async () => {
    const s = (await now()).sessions.find((x) => x.subagents.length) ?? (await now()).sessions[0];
    for (const place of ['#n=attention', '#n=intent', href(s)]) {
      await r.open(place);
      await r.quiet();
      await r.accessible(place);
    }
  });
}
