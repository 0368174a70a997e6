// The page's own notifications: only where the server has no native ones and the reader allowed them here. The first payload
// only primes; after that an edge is an edge once. Nothing of a session is ever sent anywhere: the one report says that this
// browser can show a notification, and no more.
import { useState } from './hooks.js';
import { html } from './part-base.js';
import { reportLane } from './actions.js';
import { app } from './app-context.js';
import { edges } from './edges.js';
import { num } from './format.js';
import { say } from './say.js';

const ATTEMPTS = 3;

/** `granted`, `denied`, `default`, or `unsupported` where the browser has none. */
const permission = () => ('Notification' in globalThis ? Notification.permission : 'unsupported');

const follow = edges();
let reported = null;
let failures = 0;

function raise({ title, body, tag, route }) {
  try {
    const shown = new Notification(title, { body, tag });
    shown.onclick = () => {
      globalThis.focus();
      app.go(route);
      shown.close();
    };
  } catch { /* a browser that refuses here refused; nothing is claimed about it */ }
}

async function report(board) {
  if (board.payload.browser_lane === true || failures >= ATTEMPTS) return;
  const generated = num(board.generated);
  if (generated === null || (reported !== null && generated <= reported)) return;
  reported = generated;
  const { status } = await reportLane();
  if (status !== 200) failures += 1;
}

/** Takes one payload: raises what changed, where this tab may, and reports once that it can. */
export function hear(board, leading) {
  const list = follow.hear(board, { leading, now: performance.now() });
  if (board.nativeNotify || permission() !== 'granted') return;
  list.forEach(raise);
  report(board);
}

/** The control in the header: a button while the browser was not asked, a sentence once it refused, nothing otherwise. */
export function Control({ board }) {
  const [, again] = useState(null);
  if (!board || board.nativeNotify) return null;
  const now = permission();
  const press = async () => {
    const got = await Notification.requestPermission();
    again({});
    say(got === 'granted' ? 'Notifications are on for this browser.' : got === 'denied' ? 'Notifications are blocked.' : 'The question was closed; notifications stay off.');
    if (got === 'granted') report(board);
  };
  if (now === 'default') return html`<button type="button" class="btn btn-quiet notify" data-act="notify" data-fk="notify" data-fallback="menu" onClick=${press}>Enable notifications</button>`;
  const how = 'Allow notifications for this address in the browser’s site settings, then reload.';
  return now === 'denied' ? html`<span class="quiet-text notify" title=${how}>notifications blocked<span class="sr">. ${how}</span></span>` : null;
}
