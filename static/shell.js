// What stands around every view: the header with its facts, the harness strip, the breadcrumb and the banners.
import { useEffect, useMemo, useRef, useState } from './hooks.js';
import { Boundary, T, html } from './part-base.js';
import { Mono, Note } from './part-badge.js';
import { Disclosure } from './part-disclosure.js';
import { app } from './app-context.js';
import { sentence } from './degrades.js';
import { RATE_WHY, duration, many, rate } from './format.js';
import { get } from './actions.js';
import { KEYS, choice, write } from './keep.js';
import { objects } from './model.js';
import { build, projectHref } from './route.js';

const VIEWS = [['sessions', 'Sessions'], ['projects', 'Projects'], ['attention', 'Attention'], ['intent', 'Intent log']];

/** The view the navigation marks as open: a project's sessions stand under Projects. */
function section(route) {
  if (route.view === 'project') return 'projects';
  if (route.view === 'session') return route.project ? 'projects' : 'sessions';
  return route.view;
}

function Nav({ route }) {
  const open = section(route);
  return html`<nav class="nav" aria-label="Primary"><ul>${VIEWS.map(([view, name]) => html`<li><a class="nav-a" href=${build({ view })} data-fk=${`nav|${view}`}
    aria-current=${view === open ? 'page' : undefined}>${name}</a></li>`)}</ul></nav>`;
}

function Facts({ board }) {
  const figure = board.rows.length ? rate(board.rate, board.rateFloor) : null;
  return html`<p class="facts"><i class=${`dot dot-working${board.running ? ' dot-live' : ' dot-none'}`} aria-hidden="true"></i>
    <span><b>${board.running}</b> running</span><span class="facts-sub"><b>${board.subagents}</b> ${board.subagents === 1 ? 'subagent' : 'subagents'} observed</span>
    ${figure === null ? null : html`<span class="facts-rate fig" title=${RATE_WHY}>${figure}</span>`}</p>`;
}

const THEMES = ['auto', 'dark', 'light'];
const DENSITIES = ['comfortable', 'compact'];

/** Puts the reader's stored looks on the document. */
export function dress() {
  const root = document.documentElement;
  root.dataset.theme = choice(KEYS.theme, THEMES, 'auto');
  root.dataset.density = choice(KEYS.density, DENSITIES, 'comfortable');
}

function Choice({ name, label, options, initial }) {
  const [value, set] = useState(choice(name, options, initial));
  const pick = (option) => {
    write(name, option);
    set(option);
    dress();
  };
  return html`<fieldset class="choice"><legend class="label">${label}</legend>${options.map((option) => html`<label class="choice-o"><input type="radio" name=${label} value=${option} checked=${value === option}
    data-fk=${`choice|${label}|${option}`} onChange=${() => pick(option)} />${option}</label>`)}</fieldset>`;
}

const SHORTCUTS = [['a', 'Attention'], ['p', 'Projects'], ['s', 'Sessions'], ['i', 'Intent log'], ['/', 'filter sessions'], ['j  k', 'next and previous session'], ['Esc', 'back, close or restore'], ['?', 'this list']];

/** The More menu: looks, shortcuts, help. A disclosure; it takes no focus from what stands behind it. */
function More({ extra }) {
  const [version, setVersion] = useState(null);
  const ref = useRef(null);
  const toggle = async (event) => {
    if (!event.currentTarget.open || version !== null) return;
    const { body } = await get('/api/health');
    if (typeof body?.version === 'string') setVersion(body.version);
  };
  useEffect(() => {
    const outside = (event) => {
      if (ref.current?.open && !ref.current.contains(event.target)) ref.current.open = false;
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, []);
  return html`<details class="menu" ref=${ref} data-menu="" onToggle=${toggle}><summary class="btn btn-quiet" data-fk="menu">More</summary><div class="menu-body">
    ${extra}
    <${Choice} name=${KEYS.theme} label="Colours" options=${THEMES} initial="auto" />
    <${Choice} name=${KEYS.density} label="Density" options=${DENSITIES} initial="comfortable" />
    <p class="label">Keyboard</p><dl class="keys">${SHORTCUTS.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
    <p class="label">Help</p>
    <p>Text that reads <code>…REDACTED</code> was withheld here. The original still stands in the session's own transcript; a real credential should be rotated.</p>
    <p>Words in italics name what a source does not publish. They are never a zero.</p>
    <p><code>cargento --stop</code> ends this board; <code>cargento hooks claude</code> (or another harness) prints how one reports at once.</p>
    <p class="menu-end">${version ? `cargento ${version} · ` : ''}<a href="/assets/licenses.txt">Licences</a></p></div></details>`;
}

/** True while the window is as narrow as `query` says. */
function useMedia(query) {
  const [, again] = useState(null);
  const list = useMemo(() => matchMedia(query), [query]);
  useEffect(() => {
    const hear = () => again({});
    list.addEventListener('change', hear);
    return () => list.removeEventListener('change', hear);
  }, [list]);
  return list.matches;
}

export function Header({ state, extra }) {
  const { board, route } = state;
  // Where the header has no room for it, the notification control stands in the menu.
  const narrow = useMedia('(max-width: 1023px)');
  const notify = state.notify ? html`<${state.notify} board=${board} />` : null;
  return html`<header class="head"><div class="head-in"><a class="brand" href="#n=sessions" data-fk="brand">cargento</a><${Nav} route=${route} />
    <div class="head-end">${board ? html`<${Facts} board=${board} />` : null}
      ${board && board.blocks > 0 ? html`<button type="button" class="btn btn-need" data-act="blocks" data-fk="blocks" data-fallback="nav|attention" onClick=${() => app.go({ view: 'attention' })}>${board.blocks} reported ${board.blocks === 1 ? 'block' : 'blocks'}</button>` : null}
      ${board?.quietHours ? html`<span class="quiet-hours">quiet hours</span>` : null}
      ${narrow ? null : notify}
      <${More} extra=${html`${extra}${narrow ? notify : null}`} /></div></div>${board?.payload.demo === true ? html`<p class="demo" data-notice="demo"><b>Demo.</b> Every session shown is invented; nothing of this machine is read. <code>cargento</code> without <code>--demo</code> shows yours.</p>` : null}</header>`;
}

/** What could not be read of a harness, in sentences. */
const notesOf = (harness) => (harness.discovered ? [...objects(harness.raw.degrades).map((d) => sentence(d, harness.label)), harness.error ? `${harness.label} read error: ${harness.error}` : ''].filter(Boolean) : []);

function Chip({ harness, n, notes }) {
  const look = !harness.discovered ? 'off' : harness.error ? 'warn' : 'on';
  const said = harness.discovered ? `${many(n, 'session')}${harness.error ? `, read error: ${harness.error}` : ''}` : 'not discovered';
  return html`<li class=${`hx hx-${look}`} title=${harness.discovered ? notes.join('\n') || undefined : 'not discovered'}><span aria-hidden="true" class="hx-in"><${Mono} harness=${harness.key} /><span class="hx-name">${harness.label}</span>
    ${harness.discovered ? html`<b class="fig">${n}</b>` : null}${harness.error ? html`<span class="hx-err">!</span>` : null}</span><span class="sr">${harness.label}, ${said}</span></li>`;
}

/** All ten harnesses, found or not. */
export function HarnessStrip({ board }) {
  const counts = new Map();
  for (const r of board.rows) counts.set(r.harness, (counts.get(r.harness) ?? 0) + 1);
  const found = board.harnesses.filter((h) => h.discovered).length;
  const lacks = board.harnesses.map(notesOf);
  const notes = lacks.flat();
  const list = html`<ul class="hx-list" aria-label="Discovered harnesses">${board.harnesses.map((h, i) => html`<${Boundary} key=${h.key} of=${h} what="A harness"><${Chip} harness=${h} n=${counts.get(h.key) ?? 0} notes=${lacks[i]} /><//>`)}</ul>`;
  return html`<section class="strip-hx" aria-label="Discovered harnesses"><div class="hx-wide"><span class="label" aria-hidden="true">Discovered harnesses</span>${list}</div>
    <details class="hx-small fold"><summary data-fk="fold|harnesses">${found} of ${board.harnesses.length} harnesses discovered</summary>${list}</details>
    ${notes.length ? html`<${Disclosure} id="sources" summary=${`${many(notes.length, 'note')} on what could be read`}>${notes.map((text) => html`<${Note}><${T} s=${text} /><//>`)}<//>` : null}</section>`;
}

/** The way back, on project and session pages. */
export function Breadcrumb({ route, title }) {
  if (route.view !== 'project' && route.view !== 'session') return null;
  const steps = [];
  if (route.project) {
    steps.push(html`<a href="#n=projects" data-fk="crumb|projects">Projects</a>`);
    steps.push(route.view === 'session' ? html`<a href=${projectHref(route.project)} data-fk="crumb|project"><${T} s=${route.project} /></a>` : html`<span aria-current="page"><${T} s=${route.project} /></span>`);
  } else steps.push(html`<a href="#n=sessions" data-fk="crumb|sessions">Sessions</a>`);
  if (route.view === 'session') steps.push(html`<span aria-current="page">${title ? html`<${T} s=${title} />` : 'Session'}</span>`);
  return html`<nav class="crumbs" aria-label="Breadcrumb"><ol>${steps.map((s) => html`<li>${s}</li>`)}</ol></nav>`;
}

function Stalled({ live, shown }) {
  const when = live.received === null ? null : new Date(live.received);
  const time = when ? when.toLocaleTimeString('en-GB') : '';
  const old = when ? duration((Date.now() - live.received) / 1000) : null;
  return html`<div class="banner banner-amber" role="status" data-state="stalled"><p><b>Stalled.</b> The last ${live.failures} refreshes failed in a row. ${shown
    ? `What is shown may be stale; it was last updated at ${time}${old ? `, ${old} ago` : ''}.` : 'No data was received in this tab yet.'} Trying again every ${duration(live.every / 1000)}.</p>
    <p class="banner-acts"><button type="button" class="btn btn-plain" data-act="retry" data-fk="retry" data-fallback="nav|sessions" disabled=${live.busy} onClick=${() => app.refresh()}>Retry now</button></p></div>`;
}

const dismissed = new Set();

/** Everything the whole board has to confess, above the view. */
export function Banners({ state }) {
  const { board, live } = state;
  const [, again] = useState(null);
  const resets = board ? board.resets.filter((r) => !dismissed.has(r.key)) : [];
  return html`<section class="banners" aria-label=${live.stalled || resets.length || board?.annotateNotice || state.all ? 'Notices' : undefined}>
    ${live.stalled ? html`<${Stalled} live=${live} shown=${board !== null} />` : null}
    ${resets.map((r) => html`<div class="banner banner-amber" key=${r.key} data-reset=${r.key}><p>${r.text}</p><p class="banner-acts"><button type="button" class="btn btn-quiet" data-act="dismiss-notice" data-fk=${`reset|${r.key}`} data-fallback="nav|sessions"
      onClick=${() => { dismissed.add(r.key); again({}); }}>Dismiss</button></p></div>`)}
    ${board?.annotateNotice ? html`<div class="banner banner-amber" data-notice="annotations"><p><${T} s=${board.annotateNotice} /></p></div>` : null}
    ${state.all ? html`<p class="chip-line"><span class="chip">Showing all sessions <button type="button" class="btn btn-quiet" data-act="all-off" data-fk="all-off" data-fallback="nav|sessions" onClick=${() => app.showAll(false)}>remove</button></span></p>` : null}
  </section>`;
}
