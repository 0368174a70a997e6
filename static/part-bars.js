// Bars. Each carries its figure as text; the drawing is for the eye only.
import { html } from './part-base.js';
import { barSentence, paceWord } from './capacity.js';
import { turnText } from './format.js';

/** The progress of the turn: a bar only where an estimate is known, else the elapsed time alone. */
export function TurnBar({ turn }) {
  const words = turnText(turn.elapsed, turn.eta);
  if (words === null) return null;
  if (turn.pct === null) return html`<p class="turn"><span>${words}</span></p>`;
  const pct = Math.min(Math.max(turn.pct, 0), 100);
  return html`<p class=${turn.long ? 'turn turn-long' : 'turn'}>
    <progress class="sr" max="100" value=${pct} aria-label=${words}></progress>
    <span class="bar" aria-hidden="true"><i style=${{ width: `${pct}%` }}></i></span>
    <span>${words}</span></p>`;
}

/** Tasks as segments up to twelve, then as one bar. */
export function TaskBar({ tasks }) {
  if (!tasks.total) return null;
  const pct = Math.round((100 * tasks.done) / tasks.total);
  if (tasks.list.length !== tasks.total || tasks.total > 12) {
    return html`<span class="bar bar-tasks" aria-hidden="true"><i style=${{ width: `${pct}%` }}></i></span>`;
  }
  return html`<span class="segments" aria-hidden="true">${tasks.list.map((t) => html`<i class=${`seg seg-${t.status === 'completed' ? 'done' : t.status === 'in_progress' ? 'now' : 'open'}`}></i>`)}</span>`;
}

/** A session's own rate over the last ten minutes. */
export const Spark = ({ path }) => (path ? html`<svg class="spark" viewBox="0 0 60 16" width="60" height="16" aria-hidden="true" focusable="false"><path d=${path} /></svg>` : null);

/** Budget against clock: the fill is spent, the tick is time gone. */
export function CapacityBar({ row }) {
  const over = paceWord(row);
  const label = `${barSentence(row)}${over ? `, ${over}` : ''}`;
  return html`<span class=${`cap-bar cap-${row.tone}`} role="img" aria-label=${label}>
    <i class="cap-fill" style=${{ width: `${row.pct}%` }}></i>
    ${row.elapsed === null ? null : html`<i class="cap-tick" style=${{ left: `${(row.elapsed * 100).toFixed(2)}%` }}></i>`}
  </span>`;
}
