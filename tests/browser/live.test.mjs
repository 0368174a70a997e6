// Who holds the stream and when a board is fetched, without a browser: a world of tabs with a clock of its own.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { dataUrl, newer, start } from '../../static/live.js';

const is = assert.deepEqual;

// ---- transport, on a clock of its own

function world({ stream = true } = {}) {
  const w = { t: 0, timers: new Map(), n: 0, store: new Map(), tabs: [], streams: [], fetches: [], reply: () => ({ ok: true, revision: '1.1' }) };
  w.after = (f, ms, every) => { w.n += 1; w.timers.set(w.n, { f, at: w.t + ms, every }); return w.n; };
  w.run = async (ms) => {
    const end = w.t + ms;
    for (;;) {
      await new Promise((d) => setImmediate(d));
      const due = [...w.timers].filter(([, x]) => x.at <= end).sort((a, b) => a[1].at - b[1].at)[0];
      if (!due) break;
      const [id, x] = due;
      w.t = x.at;
      if (x.every) x.at += x.every;
      else w.timers.delete(id);
      x.f();
    }
    w.t = end;
    await new Promise((d) => setImmediate(d));
  };
  w.tab = (id) => {
    const tab = { id, data: [], status: null, watch: [], storage: w.store };
    tab.live = start({
      id, now: () => w.t, url: () => '/api/data', keys: { leader: 'L', revision: 'R' },
      setTimeout: (f, ms) => w.after(f, ms), clearTimeout: (n) => w.timers.delete(n), setInterval: (f, ms) => w.after(f, ms, ms), clearInterval: (n) => w.timers.delete(n),
      storage: {
        read: (k) => w.store.get(k) ?? null, readJson: (k, ok) => { const v = w.store.has(k) ? JSON.parse(w.store.get(k)) : null; return ok(v) ? v : null; },
        write: (k, v) => { if (v === null) w.store.delete(k); else w.store.set(k, v); w.tabs.filter((o) => o !== tab).forEach((o) => o.watch.filter(([key]) => key === k).forEach(([, call]) => call(v))); },
        watch: (k, call) => { tab.watch.push([k, call]); return () => {}; },
      },
      EventSource: stream ? class { constructor() { this.readyState = 1; this.on = {}; this.tab = id; w.streams.push(this); } addEventListener(k, call) { this.on[k] = call; } close() { this.readyState = 2; w.streams.splice(w.streams.indexOf(this), 1); } } : undefined,
      fetch: (url, { signal }) => new Promise((done, no) => {
        const asked = { url, tab: id, answer: (r) => (r.fail ? no(new Error('x')) : done({ ok: r.ok !== false, json: async () => r.body ?? { sessions: [] }, headers: new Map([['X-Cargento-Revision', r.revision ?? null]]) })), signal };
        signal.addEventListener('abort', () => no(new Error('aborted')));
        w.fetches.push(asked);
        const r = w.reply(asked);
        if (r) asked.answer(r);
      }),
    }, { data: (body, meta) => tab.data.push(meta.revision), status: (s) => { tab.status = { ...s }; } });
    w.tabs.push(tab);
    return tab;
  };
  return w;
}

test('UI-041 what a data request asks for', () => {
  is([dataUrl(false, false), dataUrl(true, false), dataUrl(false, true), dataUrl(true, true)], ['/api/data', '/api/data?all=1', '/api/data?usage=1', '/api/data?all=1&usage=1']);
});

test('UI-043 newer revisions', () => {
  is([newer('1.2', '1.1'), newer('1.1', '1.1'), newer('1.10', '1.9'), newer('2.1', '1.9'), newer('1.1', null), newer('', '1.1')], [true, false, true, true, true, false]);
});

test('UI-042 one tab of a browser holds the stream, and another takes over', async () => {
  const w = world();
  const a = w.tab('a');
  const b = w.tab('b');
  await w.run(10_000);
  is([w.streams.map((s) => s.tab), a.status.leading, b.status.leading], [['a'], true, false]);
  a.live.leave();
  await w.run(2_000);
  is([w.streams.map((s) => s.tab), b.status.leading], [['b'], true]);
});

test('UI-042 a leader that dies silently is replaced within eight seconds, and yields if it comes back', async () => {
  const w = world();
  w.tab('a');
  w.store.set('L', JSON.stringify({ id: 'ghost', ts: w.t }));
  const b = w.tab('b');
  await w.run(8_000);
  is(w.streams.length, 1);
  assert.ok(b.status.leading !== w.tabs[0].status.leading);
});

test('UI-043 a revision wakes every tab once, and a reply that covers it satisfies it', async () => {
  const w = world();
  let n = 1;
  w.reply = () => ({ revision: `1.${n}` });
  const a = w.tab('a');
  const b = w.tab('b');
  await w.run(100);
  is([a.data, b.data], [['1.1'], ['1.1']]);
  n = 5;
  w.streams[0].on.revision({ data: '1.4' });
  await w.run(100);
  is([a.data, b.data], [['1.1', '1.5'], ['1.1', '1.5']]);
  w.streams[0].on.revision({ data: '1.5' });
  await w.run(100);
  is(a.data.length, 2);
});

test('UI-044 polling: twenty seconds beside the stream, five without', async () => {
  for (const [stream, want] of [[true, 3], [false, 9]]) {
    const w = world({ stream });
    const tab = w.tab('a');
    await w.run(41_000);
    is(tab.data.length, want);
    is(tab.status.every, stream ? 20_000 : 5_000);
  }
});

test('UI-044 a stream that ended for good is opened again at the next election', async () => {
  const w = world();
  w.tab('a');
  await w.run(100);
  const [dead] = w.streams;
  dead.readyState = 2;
  dead.on.error();
  w.streams.length = 0;
  await w.run(2_000);
  is(w.streams.length, 1);
});

test('UI-045 a newer request supersedes, a wake queues one more, an old answer is dropped', async () => {
  const w = world();
  w.reply = () => null;
  const a = w.tab('a');
  await w.run(10);
  a.live.now();
  is(w.fetches.length, 2);
  assert.ok(w.fetches[0].signal.aborted);
  w.streams[0].on.revision({ data: '1.7' });
  w.streams[0].on.revision({ data: '1.8' });
  is(w.fetches.length, 2, 'a wake during a fetch starts none');
  w.fetches[0].answer({ revision: '1.1' });
  w.fetches[1].answer({ revision: '1.6' });
  await w.run(10);
  is(a.data, ['1.6']);
  is(w.fetches.length, 3, 'exactly one more');
  w.fetches[2].answer({ revision: '1.8' });
  await w.run(10);
  is([a.data, w.fetches.length], [['1.6', '1.8'], 3]);
});

test('UI-045 UI-047 hung requests do not hold the board, and count as missed', async () => {
  const w = world();
  w.reply = () => null;
  const a = w.tab('a');
  await w.run(41_000);
  is([w.fetches.length, a.status.failures, a.status.stalled], [3, 2, true]);
  w.fetches[2].answer({ revision: '1.1' });
  await w.run(10);
  is([a.status.failures, a.status.stalled, a.data], [0, false, ['1.1']]);
});

test('UI-046 UI-047 one failure says nothing, two say stalled, a success clears it', async () => {
  const w = world();
  let bad = true;
  w.reply = () => (bad ? { fail: true } : { revision: '1.1' });
  const a = w.tab('a');
  await w.run(1_000);
  is([a.status.failures, a.status.stalled], [1, false]);
  await w.run(20_000);
  is([a.status.failures, a.status.stalled, a.status.received], [2, true, null]);
  bad = false;
  await w.run(20_000);
  is([a.status.failures, a.status.stalled], [0, false]);
  for (const body of [[], 'x', null, 7]) {
    w.reply = () => ({ body: body ?? 3, revision: '1.2' });
    a.live.now();
    await w.run(10);
  }
  is(a.status.failures, 4, 'what is no payload is a failure');
});

test('UI-054 a new server counts as newer', async () => {
  const w = world();
  w.reply = () => ({ revision: '200.1' });
  const a = w.tab('a');
  w.store.set('R', '100.900');
  await w.run(10);
  w.streams[0].on.revision({ data: '300.1' });
  w.reply = () => ({ revision: '300.1' });
  await w.run(10);
  is(a.data.at(-1), '300.1');
});
