// The read-only terminal of one registered session. The page only listens: there is no key handler, nothing that takes a
// paste, and no message from here to the server after the stream is opened. The screen lives as long as it is not closed,
// also while another tab of the cockpit is open.
import { useEffect, useLayoutEffect, useRef, useState } from './hooks.js';
import { html } from './part-base.js';
import { Disclosure } from './part-disclosure.js';
import { get } from './actions.js';
import { say } from './say.js';
import { str } from './model.js';

// The document carries a looser style rule exactly when the run has a terminal, so a run without one is never asked.
const offered = document.querySelector('meta[http-equiv="Content-Security-Policy"]')?.content.includes("'unsafe-inline'") === true;
const REOPEN = 5000;

let bridge = { state: offered ? 'unread' : 'off', body: null };
let screen = null;
const ears = new Set();

function tell() {
  for (const hear of ears) hear({});
}

async function ask() {
  const { status, body } = await get('/api/interaction/state');
  if (status === 200) bridge = { state: 'read', body };
  else if (status === 404) bridge = { state: 'off', body: null };
  tell();
}

/** What is known of the bridge: `{state: unread | off | read, body}`; asked for again with every newer payload. */
export function useBridge(generated) {
  const [, hear] = useState(null);
  useEffect(() => {
    ears.add(hear);
    return () => ears.delete(hear);
  }, []);
  useEffect(() => {
    if (offered) ask();
  }, [generated]);
  return bridge;
}

/** One word for the bridge, as seen from the session in focus. */
export function bridgeWord({ state, body }, key) {
  if (state === 'unread') return 'not read yet';
  if (state === 'off') return 'off';
  return key !== null && str(body.cargento_session_id) === key ? 'on' : 'per-session';
}

function style() {
  if (document.querySelector('link[href="/assets/xterm.css"]')) return;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = '/assets/xterm.css';
  document.head.append(link);
}

function frame(mine, text) {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    return;
  }
  if (message.state !== 'streamed') {
    mine.lost = str(message.reason) || 'the stream ended';
    return;
  }
  const { term } = mine;
  if (message.reset === true) term.reset();
  for (const chunk of Array.isArray(message.chunks) ? message.chunks : []) {
    if (chunk.cols > 0 && chunk.rows > 0 && (chunk.cols !== term.cols || chunk.rows !== term.rows)) term.resize(Math.min(chunk.cols, 1000), Math.min(chunk.rows, 500));
    // A snapshot is lines of text; what follows it is what the terminal itself was sent.
    term.write(message.reset === true ? str(chunk.data).replaceAll(/\r?\n/g, '\r\n') : str(chunk.data));
  }
}

async function open(key) {
  screen = { key, state: 'opening', at: performance.now(), host: document.createElement('div'), term: null, socket: null, lost: null };
  const mine = screen;
  tell();
  try {
    style();
    const { Terminal } = await import('./xterm.js');
    const looks = getComputedStyle(document.documentElement);
    const colour = (name) => looks.getPropertyValue(name).trim();
    mine.term = new Terminal({ disableStdin: true, cursorBlink: false, scrollback: 2000, fontSize: 12, fontFamily: 'IBM Plex Mono, ui-monospace, monospace', theme: { background: colour('--bg-0'), foreground: colour('--ink-1'), cursor: colour('--bg-0') } });
  } catch {
    Object.assign(mine, { state: 'lost', lost: 'its script could not be loaded' });
    return tell();
  }
  if (screen !== mine) return undefined;
  mine.socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/interaction/stream`);
  mine.socket.onmessage = (event) => {
    if (mine.state !== 'open') {
      mine.state = 'open';
      tell();
    }
    frame(mine, event.data);
  };
  mine.socket.onclose = () => {
    if (screen !== mine) return;
    mine.state = 'lost';
    mine.lost ??= 'the stream ended';
    say('The terminal stream was lost.');
    tell();
  };
  return undefined;
}

function close() {
  const mine = screen;
  screen = null;
  mine?.socket?.close();
  mine?.term?.dispose();
  tell();
}

function Screen({ mine }) {
  const place = useRef(null);
  useLayoutEffect(() => {
    place.current.append(mine.host);
    if (mine.term && !mine.term.element) {
      mine.term.attachCustomKeyEventHandler(() => false);
      mine.term.open(mine.host);
      // The library's own input box must take neither focus nor paste.
      if (mine.term.textarea) Object.assign(mine.term.textarea, { disabled: true, tabIndex: -1 });
    }
    return () => mine.host.remove();
  }, [mine, mine.term]);
  return html`<div class="term panel" ref=${place} role="region" aria-label="Terminal output, read only" tabindex="0"></div>`;
}

const Recipe = () => html`<${Disclosure} id="recipe" summary="How to register the session"><p>Run this inside the session's own tmux pane, with the file this dashboard was started with:</p>
  <p><code>cargento terminal-register --config FILE</code></p><p>It registers that pane once, renews its lease, and stops with the dashboard. No other pane is ever shown.</p><//>`;

function Controls({ mine }) {
  const again = () => {
    if (performance.now() - mine.at < REOPEN) return say('Wait a few seconds before opening it again.');
    close();
    return open(mine.key);
  };
  return html`<p class="row-controls">${mine.state === 'lost' ? html`<button type="button" class="btn btn-plain" data-act="term-again" data-fk="term|again" onClick=${again}>Open again</button>`
    : html`<button type="button" class="btn btn-plain" data-act="term-live" data-fk="term|live" data-fallback="term|again" onClick=${() => mine.term?.scrollToBottom()}>Jump to live</button>`}
    <button type="button" class="btn btn-quiet" data-act="term-up" data-fk="term|up" onClick=${() => mine.term?.scrollPages(-1)}>Page up</button><button type="button" class="btn btn-quiet" data-act="term-down" data-fk="term|down" onClick=${() => mine.term?.scrollPages(1)}>Page down</button>
    <button type="button" class="btn btn-quiet" data-act="term-close" data-fk="term|close" data-fallback="term|open" onClick=${close}>Close</button></p>`;
}

/** The panel. `seen` is what `useBridge` answers, `focus` the session in focus or null. */
export function Terminal({ seen, focus }) {
  if (seen.state === 'unread') return html`<p class="absent" data-absent="">The state of the terminal bridge was not read yet.</p>`;
  if (seen.state === 'off') return html`<p>Off for this run. <code>--interaction-origin-session</code> and <code>--interaction-origin-registration-file</code> turn it on for one session.</p>`;
  const key = focus?.key ?? null;
  if (bridgeWord(seen, key) !== 'on') return html`<p>On for one session of this run: <code>${str(seen.body.cargento_session_id)}</code>. ${key ? 'It is not the one in focus.' : 'Select it under Scope.'}</p>`;
  const mine = screen?.key === key ? screen : null;
  const registered = seen.body.origin_state === 'registered';
  return html`${mine ? html`<p>${mine.state === 'opening' ? 'Opening.' : mine.state === 'lost' ? html`The stream was lost: ${mine.lost}. What was last shown stands below.` : 'Live. Nothing typed here goes anywhere.'}</p><${Controls} mine=${mine} /><${Screen} mine=${mine} />`
    : registered ? html`<p>Registered. The output of that pane can be shown; nothing can be typed into it.</p><p><button type="button" class="btn btn-plain" data-act="term-open" data-fk="term|open" onClick=${() => open(key)}>Open read-only terminal</button></p>`
    : html`<p>${seen.body.origin_state === 'stale' ? 'Its registration ran out.' : 'Not registered: the session has not offered its pane yet.'}</p><${Recipe} />`}
    <p class="quiet-text">Terminal output is shown as it is and not redacted. Whoever may read this page may read it.</p>`;
}
