// The page's own notifications: only where the server has no native ones and the reader allowed them here. The first payload
// only primes; after that an edge is an edge once. Nothing of a session is ever sent anywhere: the one report says that this
// browser can show a notification, and no more.
import { useState } from './hooks.js';
import { html } from './part-base.js';
import { reportLane } from './actions.js';
import { app } from './app-context.js';
import { num } from './format.js';
import { objects, str } from './model.js';
import { say } from './say.js';

const QUIET = 600_000;
const ATTEMPTS = 3;
const SEEN = 4096;

/** `granted`, `denied`, `default`, or `unsupported` where the browser has none. */
const permission = () => ('Notification' in globalThis ? Notification.permission : 'unsupported');

/**
 * Follows payloads and says what to raise. `hear(board, {leading, now})` answers a list of `{title, body, tag, route}`; the
 * first call answers none. Pure but for what it remembers, so a test can drive it.
 */
export function edges() {
  let states = null;
  const quieted = new Map();
  const asked = new Set();
  const tripped = new Set();

  function sessions(board, now, first) {
    const out = [];
    const next = new Map();
    for (const row of board.rows) {
      const state = row.raw.state;
      const was = states?.get(row.key);
      next.set(row.key, state);
      if (first || was === undefined || was === state || board.quietHours) continue;
      const body = (fallback) => `[${row.project || 'no project'}] ${str(row.raw.state_detail) || fallback}`;
      const route = { view: 'session', project: row.project, harness: row.harness, sid: row.sid };
      if (was === 'working' && state === 'idle') {
        if (now - (quieted.get(row.key) ?? -Infinity) < QUIET) continue;
        quieted.set(row.key, now);
        out.push({ title: `${row.harnessLabel} has gone quiet`, body: body('It stopped writing.'), tag: row.key, route });
      } else if (state === 'needs_input' && row.recent) {
        out.push({ title: `${row.harnessLabel} is waiting on you`, body: body('It reported that it needs your input.'), tag: row.key, route });
      }
    }
    // A session that left the board and comes back later starts anew; one seen waiting before stays known.
    states = next;
    return out;
  }

  function questions(board, first) {
    const fresh = [];
    for (const q of board.ask ? objects(board.payload.asks) : []) {
      const id = str(q.id);
      if (!id || asked.has(id)) continue;
      asked.add(id);
      if (!first) fresh.push(q);
    }
    if (!fresh.length) return [];
    if (fresh.length > 1) return [{ title: `${fresh.length} questions are waiting for your answer`, body: 'Open Attention to answer them.', tag: 'cargento-ask', route: { view: 'attention' } }];
    const [q] = fresh;
    const label = board.byHarness.get(str(q.harness))?.label;
    const project = str(q.project);
    const whole = `${str(q.question)}${project ? ` · ${project}` : ''}`;
    return [{ title: `${label ?? 'An agent'} is asking you`, body: whole.length <= 180 ? whole : str(q.question), tag: `cargento-ask:${q.id}`, route: { view: 'attention' } }];
  }

  function conditions(board, leading, first) {
    const out = [];
    for (const rule of objects(board.payload.tripwires?.rules)) {
      const id = str(rule.event_id);
      if (!id || tripped.has(id)) continue;
      tripped.add(id);
      if (!first && leading && !board.quietHours) out.push({ title: 'A stage condition was met', body: [str(rule.workflow), str(rule.stage)].filter(Boolean).join(' · ') || 'A saved condition on a workflow stage.', tag: `cargento-stage:${id}`, route: { view: 'projects' } });
    }
    return out;
  }

  return {
    hear(board, { leading, now }) {
      const first = states === null;
      const out = [...sessions(board, now, first), ...questions(board, first), ...conditions(board, leading, first)];
      for (const set of [asked, tripped]) while (set.size > SEEN) set.delete(set.values().next().value);
      return out;
    },
  };
}

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
