// One clock for every age on the page. Ages are measured against the payload's own time, so two columns cannot disagree;
// between payloads those of live rows move on by the time since it arrived, and stand still while the board is stalled or hidden.
import { duration } from './format.js';

const ages = new Set();
const beats = new Set();
let generated = null;
let arrived = 0;
let paused = false;

const ahead = () => (paused || document.hidden ? 0 : Math.max(0, (performance.now() - arrived) / 1000));

function text(entry, extra) {
  const base = generated === null || entry.since === null ? null : Math.max(0, generated - entry.since);
  const words = base === null ? null : duration(entry.live ? base + extra : base);
  return words === null ? '' : `${entry.before}${words}${entry.after}`;
}

function draw(entry, extra) {
  const now = text(entry, extra);
  if (entry.node.textContent !== now) entry.node.textContent = now;
  const long = entry.longAfter > 0 && generated !== null && generated - entry.since > entry.longAfter;
  if (entry.node.classList.contains('age-long') !== long) entry.node.classList.toggle('age-long', long);
}

/** Registers an element whose text is an age; answers how to drop it. */
export function track(entry) {
  ages.add(entry);
  draw(entry, ahead());
  return () => ages.delete(entry);
}

/** A new payload: its clock rules from now on. */
export function setClock(time) {
  generated = time;
  arrived = performance.now();
  for (const entry of ages) draw(entry, 0);
}

/** Stops and restarts the movement between payloads. */
export function pause(on) {
  paused = on;
}

/** Calls back about once a second; answers how to stop. */
export function beat(call) {
  beats.add(call);
  return () => beats.delete(call);
}

setInterval(() => {
  for (const call of beats) call();
  if (paused || document.hidden) return;
  const extra = ahead();
  for (const entry of ages) if (entry.live) draw(entry, extra);
}, 1000);
