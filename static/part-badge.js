// State and its marks: always a shape and a word, colour only on top.
import { Glyph, T, html } from './part-base.js';
import { MONOGRAM, STATE_WORD } from './model.js';

/** The shape of a state, alone; the word must stand beside it. */
export const Dot = ({ state, live }) => html`<i class=${`dot dot-${state}${live ? ' dot-live' : ''}`} aria-hidden="true"></i>`;

/** The badge of a row: shape and word at a fixed width. */
export const Badge = ({ state, live }) => html`<span class=${`badge badge-${state}`}><${Dot} state=${state} live=${live} />${STATE_WORD[state]}</span>`;

/** Two letters for a harness; its name stands beside them as text. */
export const Mono = ({ harness }) => html`<span class="mono-mark" aria-hidden="true">${MONOGRAM[harness] ?? harness.slice(0, 2).toUpperCase()}</span>`;

/** A harness by mark and name. */
export const Harness = ({ harness, label }) => html`<span class="who"><${Mono} harness=${harness} /><${T} s=${label} /></span>`;

/** ⚠ LONG TURN. */
export const LongTurn = () => html`<span class="mark mark-amber" title="This request runs, or is estimated to run, 15 minutes or more"><${Glyph}>⚠<//>LONG TURN</span>`;

/** ↻ LOOP, with what was counted as its description. */
export const Loop = ({ loop }) => html`<span class="mark mark-clay" title=${loop.text}><${Glyph}>↻<//>LOOP<span class="sr">: ${loop.text}</span></span>`;

/** FIRST OFFICER or ENSIGN. */
export const Role = ({ role }) => html`<span class="mark mark-plain">${role}</span>`;

/** What ended, with its git reading. */
export const Outcome = ({ outcome }) => html`<span class=${`outcome outcome-${outcome.tone}`}><${Glyph}>${outcome.glyph}<//>${outcome.words}</span>`;

/** A sentence about how the reading was made. */
export const Note = ({ children }) => html`<p class="note"><i class="note-i" aria-hidden="true">i</i><span>${children}</span></p>`;
