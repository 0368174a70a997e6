// What became of the last press of a control: sent, copied, saved, refused. A cue lives thirty seconds, survives redraws, and
// is keyed by the control, so the same button in a row that moved still shows it.
import { useEffect, useState } from './hooks.js';
import { beat } from './ticker.js';

const LIFE = 30_000;
const KEPT = 32;
const cues = new Map();
const ears = new Map();

const tell = (key) => ears.get(key)?.forEach((hear) => hear({}));

/** Sets a control's cue: a state word, and the sentence that explains it (may be empty). */
export function setCue(key, state, text = '') {
  cues.delete(key);
  cues.set(key, { state, text, until: performance.now() + LIFE });
  if (cues.size > KEPT) {
    const oldest = cues.keys().next().value;
    cues.delete(oldest);
    tell(oldest);
  }
  tell(key);
}

/** Removes a control's cue. */
export function dropCue(key) {
  if (cues.delete(key)) tell(key);
}

/** The cue of a control, or null; the component follows it. */
export function useCue(key) {
  const [, hear] = useState(null);
  useEffect(() => {
    if (!ears.has(key)) ears.set(key, new Set());
    ears.get(key).add(hear);
    return () => {
      ears.get(key)?.delete(hear);
      if (!ears.get(key)?.size) ears.delete(key);
    };
  }, [key]);
  return cues.get(key) ?? null;
}

beat(() => {
  const now = performance.now();
  for (const [key, cue] of cues) if (cue.until <= now) dropCue(key);
});
