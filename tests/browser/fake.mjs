// A stand-in for the server: the page's files exactly as the real one serves them, a board that a test sets, an event stream,
// and failures on command. It exists for states a real server cannot easily be put in. `node fake.mjs [scene]` shows one.
import { createServer } from 'node:http';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const STATIC = join(dirname(fileURLToPath(import.meta.url)), '../../static');
const TYPES = { '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.woff2': 'font/woff2', '.svg': 'image/svg+xml', '.txt': 'text/plain; charset=utf-8' };

/** Every served file by its base name. Names are flat: a module imports its neighbour as `./name.js`. */
export function assets() {
  const table = new Map();
  for (const folder of ['', 'vendor', 'fonts']) {
    for (const name of readdirSync(join(STATIC, folder))) {
      if (!/^[a-z0-9][a-z0-9._-]*$/.test(name) || !TYPES[extname(name)] || name === 'index.html') continue;
      if (table.has(name)) throw new Error(`two files are served as ${name}`);
      table.set(name, join(STATIC, folder, name));
    }
  }
  return table;
}

/**
 * Starts one. `options.payload` is the first board, `options.token` a focus capability. The handle: `url`, `set(payload)`
 * publishes a revision and answers its name, `fail(mode)` one of null, `500`, `drop`, `hang`, `garbage` for `/api/data`, `streams()` how many tabs
 * listen, `requests` what was asked, `replies` answers for POST paths, `restart()` counts as a new server, `close()`.
 */
export async function fake({ payload, token = 'abc123', port = 0 } = {}) {
  const files = assets();
  const streams = new Set();
  const requests = [];
  const replies = new Map();
  const gets = new Map();
  let board = payload;
  let started = 1_790_000_000;
  let n = 1;
  let mode = null;
  const revision = () => `${started}.${n}`;
  const headers = { 'Cache-Control': 'no-store', 'Content-Security-Policy': "frame-ancestors 'none'", 'X-Content-Type-Options': 'nosniff' };
  const send = (res, status, type, body, more = {}) => res.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body), ...headers, ...more }).end(body);
  const announce = () => streams.forEach((res) => res.write(`id: ${revision()}\nevent: revision\ndata: ${revision()}\n\n`));

  const server = createServer((req, res) => {
    const url = new URL(req.url, 'http://x');
    let body = '';
    req.on('data', (d) => { body += d; });
    req.on('end', () => {
      requests.push({ method: req.method, path: url.pathname, query: url.search, body, headers: req.headers });
      if (req.method === 'POST') {
        const reply = replies.get(url.pathname) ?? { status: 200, body: { ok: true } };
        const made = typeof reply === 'function' ? reply(JSON.parse(body || '{}')) : reply;
        if (made.drop) return res.destroy();
        return setTimeout(() => send(res, made.status ?? 200, 'application/json', JSON.stringify(made.body ?? {})), made.delay ?? 0);
      }
      if (url.pathname === '/') {
        const page = readFileSync(join(STATIC, 'index.html'), 'utf8');
        return send(res, 200, 'text/html; charset=utf-8', token ? page.replace('</head>', `<meta name="cargento-focus" content="${token}"></head>`) : page);
      }
      if (url.pathname.startsWith('/assets/')) {
        const path = files.get(url.pathname.slice(8));
        if (!path) return send(res, 404, 'text/html;charset=utf-8', '404');
        return res.writeHead(200, { 'Content-Type': TYPES[extname(path)], ...headers }).end(readFileSync(path));
      }
      if (url.pathname === '/api/data') {
        if (mode === '500') return send(res, 500, 'text/html;charset=utf-8', '500');
        if (mode === 'drop') return res.destroy();
        if (mode === 'garbage') return send(res, 200, 'application/json', '[1,2');
        if (mode === 'hang') return undefined;
        return send(res, 200, 'application/json', JSON.stringify(typeof board === 'function' ? board() : board), { 'X-Cargento-Revision': revision() });
      }
      if (url.pathname === '/api/stream') {
        res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
        res.write(`id: ${revision()}\nevent: revision\ndata: ${revision()}\n\n`);
        streams.add(res);
        return res.on('close', () => streams.delete(res));
      }
      if (url.pathname === '/api/health') return send(res, 200, 'application/json', JSON.stringify({ ok: true, version: '0.0.0-fake' }));
      const made = gets.get(url.pathname);
      if (made) return send(res, made.status ?? 200, 'application/json', JSON.stringify(typeof made.body === 'function' ? made.body(url) : made.body));
      return send(res, 404, 'text/html;charset=utf-8', '404');
    });
  });
  const sockets = new Set();
  server.on('connection', (s) => sockets.add(s.on('close', () => sockets.delete(s))));
  const listen = (p) => new Promise((done, no) => server.once('error', no).listen(p, '127.0.0.1', done));
  await listen(port);
  const at = server.address().port;
  const stop = () => {
    sockets.forEach((s) => s.destroy());
    return new Promise((done) => server.close(done));
  };
  return {
    url: `http://127.0.0.1:${at}/`, requests, replies, gets, streams: () => streams.size,
    set(next) {
      board = next;
      n += 1;
      announce();
      return revision();
    },
    fail(how) { mode = how; },
    stop, start: () => listen(at),
    restart() {
      started += 100;
      n = 1;
      announce();
    },
    close: stop,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const scenes = { ...await import('./payloads.mjs'), ...await import('./scenes.mjs') };
  const scene = scenes[process.argv[2] ?? 'morning'];
  const handle = await fake({ payload: () => scene(Date.now() / 1000), port: Number(process.env.PORT ?? 4599) });
  console.log(handle.url);
}
