// Boot: the route, the transport, the painter and the keys, put together. First paint needs no payload.
import { render } from './preact.js';
import { Boundary, html } from './part-base.js';
import { app } from './app-context.js';
import { boardOf, findSession } from './model.js';
import { dataUrl, start } from './live.js';
import { Banners, Breadcrumb, Header, HarnessStrip, dress } from './shell.js';
import { HOME, build, documentTitle, parent, parse } from './route.js';
import { KEYS, consent, read, readJson, watch, write } from './keep.js';
import { observe } from './ledger.js';
import { painter, byKey } from './hold.js';
import { pause, setClock } from './ticker.js';
import { Sessions } from './view-sessions.js';

// The first view is part of the first load; the others come when a reader opens them or points at a link to one.
const VIEWS = {
  sessions: { draw: Sessions },
  projects: { load: () => import('./view-projects.js') },
  project: { load: () => import('./view-project.js') },
  session: { load: () => import('./view-session.js') },
  attention: { load: () => import('./view-attention.js') },
  intent: { load: () => import('./view-intent.js') },
};

const root = document.getElementById('app');
const state = { route: HOME, board: null, revision: null, live: { failures: 0, stalled: false, busy: false, received: null, every: 0 }, all: false };
app.state = state;

// ---- drawing

function load(name) {
  const view = VIEWS[name];
  if (view.draw || view.coming) return view.coming;
  view.coming = view.load().then((m) => {
    view.draw = m.default;
    view.failed = false;
  }, () => {
    view.coming = null;
    view.failed = true;
  });
  return view.coming;
}

function View() {
  const { route } = state;
  const view = VIEWS[route.view];
  if (view.draw) return html`<${view.draw} state=${{ ...state }} key=${route.view} />`;
  if (view.failed) return html`<h1 class="h1" tabindex="-1">Not loaded</h1><p>This view could not be loaded: the server gave no answer. <button type="button" class="btn btn-plain" data-act="reload-view" onClick=${open}>Try again</button></p>`;
  return html`<p class="absent">Loading…</p>`;
}

function App() {
  const { route, board } = state;
  const row = board && route.view === 'session' ? findSession(board, route) : null;
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the board</a>
    <${Header} state=${state} extra=${app.menu && route.view === 'project' ? html`<${app.menu} state=${state} />` : null} />
    <div class="page">
      <${Breadcrumb} route=${route} title=${row ? row.title || 'Title not published' : null} />
      <${Banners} state=${{ ...state }} />
      ${route.view === 'sessions' && board ? html`<${HarnessStrip} board=${board} />` : null}
      <main id="main" class="main" tabindex="-1" data-view=${route.view} data-stale=${state.live.stalled ? '' : undefined} aria-busy=${board ? undefined : 'true'} data-fk="main">
        <${Boundary} of=${board} what="This view"><${View} /><//></main>
    </div>`;
}

function skip(event) {
  event.preventDefault();
  root.querySelector('main')?.focus();
}

const paint = painter(root, () => {
  render(html`<${App} />`, root);
  const { board, route } = state;
  const waiting = board?.blocks ?? 0;
  const row = board && route.view === 'session' ? findSession(board, route) : null;
  document.title = documentTitle(route, waiting, row?.title || null);
  const icon = document.querySelector('link[rel=icon]');
  const href = waiting > 0 ? '/assets/icon-wait.svg' : '/assets/icon.svg';
  if (icon && icon.getAttribute('href') !== href) icon.setAttribute('href', href);
  // Which board stands on the screen, for whoever looks in the browser's own tools; the last one only.
  performance.clearMarks('drawn');
  performance.mark('drawn', { detail: state.revision });
});

// ---- navigation: the fragment is the only place a route is kept

let entry = 0;
let newest = 0;
const places = new Map();

/** Draws the open route; then gives it the focus a reader who followed a link expects. */
async function open(arrive = null) {
  paint();
  const coming = load(state.route.view);
  if (coming) {
    const wanted = state.route;
    await coming;
    if (state.route !== wanted) return;
    paint();
  }
  arrive?.();
}

function arriveNew() {
  scrollTo(0, 0);
  root.querySelector('main h1')?.focus({ preventScroll: true });
}

/** Where the reader stands: the focused control, and the first row in sight, since rows out of sight only guess their height. */
function placeNow() {
  const seen = [...root.querySelectorAll('main [data-row]')].find((n) => n.getBoundingClientRect().bottom > 0);
  return { y: scrollY, key: document.activeElement?.dataset?.fk, row: seen?.dataset.row, top: seen?.getBoundingClientRect().top };
}

/** Puts that row back at its height, and again while rows above it take their true size. */
function hold(place, frames) {
  const row = byKey(root, place.row, 'row');
  if (!row) return;
  scrollBy(0, row.getBoundingClientRect().top - place.top);
  if (frames) requestAnimationFrame(() => hold(place, frames - 1));
}

function arriveBack() {
  const place = places.get(entry);
  scrollTo(0, place?.y ?? 0);
  if (place?.y > 0) hold(place, 3);
  const node = byKey(root, place?.key) ?? root.querySelector('main h1');
  node?.focus({ preventScroll: true });
}

function readRoute() {
  const route = parse(location.hash);
  const right = build(route ?? HOME);
  // What is not exactly a link of ours is rewritten in place, so that reload and copy give the same page.
  if (location.hash !== right) history.replaceState(history.state, '', `${location.pathname}${location.search}${right}`);
  return parse(right) ?? HOME;
}

addEventListener('hashchange', () => {
  places.set(entry, placeNow());
  const back = Number.isInteger(history.state?.n);
  entry = back ? history.state.n : (newest += 1);
  const was = state.route;
  state.route = readRoute();
  if (!back) history.replaceState({ n: entry }, '');
  // Another tab or scope of the open project is no other page: the focus stays on what was pressed.
  const same = was.view === 'project' && state.route.view === 'project' && was.project === state.route.project;
  open(back ? arriveBack : same ? null : arriveNew);
});

app.go = (route) => {
  const hash = build(route);
  if (hash !== location.hash) location.hash = hash;
};
app.paint = () => paint();
app.showAll = (on) => {
  state.all = on;
  history.replaceState(history.state, '', `${location.pathname}${on ? '?all=1' : ''}${location.hash}`);
  paint();
  transport.now();
};

// ---- keys

const typing = (node) => node?.closest?.('input,select,textarea,[contenteditable]');
const JUMP = { a: 'attention', p: 'projects', s: 'sessions', i: 'intent' };

function stepRow(by) {
  const links = [...root.querySelectorAll('[data-row]:not([hidden]) .row-link')];
  if (!links.length) return;
  const at = links.indexOf(document.activeElement?.closest('[data-row]')?.querySelector('.row-link'));
  links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + by, 0), links.length - 1)].focus();
}

function closeMenu() {
  const menu = root.querySelector('[data-menu][open]');
  if (!menu) return false;
  menu.open = false;
  menu.querySelector('summary').focus();
  return true;
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.key === 'Escape' && closeMenu()) return;
  if (typing(event.target)) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (JUMP[key]) app.go({ view: JUMP[key] });
  else if (key === 'Escape') app.go(parent(state.route));
  else if (key === 'j') stepRow(1);
  else if (key === 'k') stepRow(-1);
  else if (key === '?') {
    const menu = root.querySelector('[data-menu]');
    if (menu) {
      menu.open = true;
      menu.querySelector('summary').focus();
    }
  } else if (key === '/') {
    const box = root.querySelector('[data-filter]');
    if (!box) return;
    event.preventDefault();
    box.focus();
  }
});

// A click anywhere in a row that is not on something else opens it; the link is what keyboards and readers use.
root.addEventListener('click', (event) => {
  const row = event.target.closest?.('[data-row]');
  if (!row || event.target.closest('a,button,input,summary,select,textarea,label,.row-open,code') || String(getSelection())) return;
  row.querySelector('.row-link')?.click();
});

function foresee(event) {
  const link = event.target.closest?.('a[href^="#n="]');
  const route = link && parse(link.getAttribute('href'));
  if (route) load(route.view);
}
root.addEventListener('pointerover', foresee);
root.addEventListener('focusin', foresee);

// ---- start

root.replaceChildren();
dress();
history.scrollRestoration = 'manual';
state.all = new URLSearchParams(location.search).get('all') === '1';
state.route = readRoute();
history.replaceState({ n: entry }, '');

const transport = start({
  fetch: (...a) => fetch(...a), EventSource: globalThis.EventSource, now: () => Date.now(), id: crypto.getRandomValues(new Uint32Array(4)).join('-'),
  setTimeout: (f, ms) => setTimeout(f, ms), clearTimeout: (t) => clearTimeout(t), setInterval: (f, ms) => setInterval(f, ms), clearInterval: (t) => clearInterval(t),
  storage: { read, readJson, write, watch }, keys: KEYS, url: () => dataUrl(state.all, consent() === 'granted'),
}, {
  data(body, { revision }) {
    const first = state.board === null;
    const begun = performance.now();
    state.board = boardOf(body, state.board);
    state.revision = revision;
    observe(state.board);
    hearBoard();
    setClock(state.board.generated);
    paint(first ? 'own' : manual ? 'manual' : 'payload');
    manual = false;
    performance.clearMeasures('board');
    performance.measure('board', { start: begun, detail: revision });
  },
  status(status) {
    const was = state.live;
    state.live = { ...status };
    pause(status.stalled);
    if (was.stalled !== status.stalled || (status.stalled && (was.failures !== status.failures || was.busy !== status.busy))) paint('manual');
  },
});
// Notifications are no part of the first paint.
let notify = null;
function hearBoard() {
  if (notify) notify.hear(state.board, state.live.leading);
  else if (notify === null) {
    notify = false;
    import('./notify.js').then((m) => {
      notify = m;
      state.notify = m.Control;
      hearBoard();
      paint();
    }, () => { notify = null; });
  }
}

let manual = false;
app.refresh = () => {
  manual = true;
  transport.now();
};

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) transport.shown();
});
addEventListener('pagehide', transport.leave);
addEventListener('pageshow', (event) => event.persisted && transport.resume());
open();
