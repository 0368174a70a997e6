// Typed words before they are saved. Drafts live in the memory of this tab, keyed by session and field; they are never stored
// and never sent before the reader saves. Pure but for that memory.
import { num } from './format.js';
import { prompts, str } from './model.js';

/** Most outcome lines of a session. */
export const MOST = 6;
const drafts = new Map();
const ears = new Set();
const tell = () => ears.forEach((hear) => hear());

/** Calls back whenever a draft changed; answers how to stop. */
export function onDraft(hear) {
  ears.add(hear);
  return () => ears.delete(hear);
}

/** The draft of a field (`goal` a string, `lines` a list of `{text, from}`), with the revision it began from; null without one. */
export const draftOf = (row, field) => drafts.get(`${row.key}|${field}`) ?? null;

/** Keeps a draft. The revision it was begun against stays the first one. */
export function setDraft(row, field, value) {
  const key = `${row.key}|${field}`;
  drafts.set(key, { value, base: drafts.get(key)?.base ?? revisionOf(row) });
  tell();
}

/** Drops one field's draft, or both. */
export function dropDraft(row, field = null) {
  for (const name of field ? [field] : ['goal', 'lines']) drafts.delete(`${row.key}|${name}`);
  tell();
}

/** From now on the drafts stand against the words that are stored now: the reader was told that they moved on. */
export function rebase(row) {
  for (const name of ['goal', 'lines']) {
    const draft = draftOf(row, name);
    if (draft) draft.base = revisionOf(row);
  }
}

/** The newest saved revision, 0 for none. */
export const revisionOf = (row) => (Number.isInteger(row.raw.annotation_revision) ? row.raw.annotation_revision : 0);

/** What is saved: the goal and the lines that hold text, each with its source. */
export function storedOf(row) {
  const lines = [];
  for (let k = 1; k <= MOST; k += 1) {
    const text = str(row.raw[`annotation_line_${k}`]);
    if (text) lines.push({ text, source: row.raw[`annotation_line_${k}_source`] === 'entry' ? 'entry' : 'typed', entry: str(row.raw[`annotation_line_${k}_source_id`]) });
  }
  const adopted = ['first-prompt', 'latest-prompt'].includes(row.raw.annotation_goal_source);
  return { goal: str(row.raw.annotation_goal), adopted, lines };
}

/** The prompts a goal may be taken from now: none once a goal is saved. Those without a time cannot be taken. */
export function offersOf(row) {
  const { first, latest } = storedOf(row).goal ? { first: null, latest: null } : prompts(row.raw, row.harness, row.title, row.instruction);
  const list = [latest, first].filter(Boolean);
  return { list: list.filter((o, i) => o.at !== null && (i === 0 || o.text !== list[0].text)), untimed: list.length > 0 && list.every((o) => o.at === null) };
}

/** What the goal box holds and why: `typed`, `saved`, `prompt` (shown, not saved) or `empty`. */
export function goalField(row) {
  const stored = storedOf(row).goal;
  const draft = draftOf(row, 'goal');
  const offers = offersOf(row).list;
  const text = draft?.value ?? (stored || offers[0]?.text || '');
  const offer = stored ? null : offers.find((o) => o.text === text) ?? null;
  if (offer) return { text, kind: 'prompt', offer };
  if (draft && draft.value !== stored) return { text, kind: 'typed', offer: null };
  return { text, kind: stored ? 'saved' : 'empty', offer: null };
}

/** What the line boxes hold: `{text, from}` where `from` is the saved position a line came from, or null. */
export const lineFields = (row) => draftOf(row, 'lines')?.value ?? storedOf(row).lines.map((l, i) => ({ text: l.text, from: i }));

/** Which of the two differ from what is saved, and whether a shown prompt could be saved. */
export function changes(row) {
  const stored = storedOf(row);
  const field = goalField(row);
  const lines = lineFields(row).map((l) => l.text.trim()).filter(Boolean);
  return {
    goal: field.kind === 'typed' && field.text.trim() !== stored.goal,
    adopt: field.kind === 'prompt',
    lines: lines.length !== stored.lines.length || lines.some((text, i) => text !== stored.lines[i].text),
    drafted: Boolean(draftOf(row, 'goal') || draftOf(row, 'lines')),
  };
}

/** True while something typed is not saved; a prompt that is only shown does not count. */
export function unsaved(row) {
  const c = changes(row);
  return c.goal || c.lines;
}

/** The requests that save what differs, in order: one, or two when a prompt is taken over beside changed lines. */
export function saveBodies(row) {
  const c = changes(row);
  const field = goalField(row);
  const base = Math.min(...['goal', 'lines'].map((f) => draftOf(row, f)?.base ?? Infinity), revisionOf(row));
  const about = { harness: row.harness, sid: row.sid };
  const out = [];
  if (c.adopt) out.push({ ...about, adopt: field.offer.source, prompt: field.offer.text, prompt_at: field.offer.at, expected_revision: base });
  if (c.goal || c.lines) {
    const kept = lineFields(row).filter((l) => l.text.trim());
    out.push({
      ...about, goal: c.goal ? field.text.trim() : null, lines: c.lines ? kept.map((l) => l.text.trim()) : null,
      ...(c.lines ? { origins: kept.map((l) => l.from) } : {}), expected_revision: base,
    });
  }
  return out;
}

/** One sentence for what became of a save; `kept` says whether the draft stays in the box. */
export function savedSays(status, body) {
  if (status === null) return { kept: true, text: 'The result could not be confirmed; your words are still in the box. Nothing is sent again by itself.' };
  if (status === 503) return { kept: true, text: 'Typed words are off or their store is not available; your words are still in the box.' };
  if (status !== 200) return { kept: true, text: `The request was refused (${status}) and nothing changed; your words are still in the box.` };
  const outcome = str(body.outcome) || (body.persisted === true ? 'stored' : 'refused');
  const revision = num(body.annotation?.revision);
  switch (outcome) {
    case 'stored': return { kept: false, text: revision === null ? 'Saved.' : `Saved as revision ${revision}.` };
    case 'unchanged': return { kept: false, text: 'These words were already saved; no revision was made.' };
    case 'unwritable': return { kept: true, text: 'The file could not be written: the words hold for this run only. They are still in the box.' };
    case 'untrusted': return { kept: true, text: 'The store of typed words cannot be read, and nothing is saved over it. Move or repair the file; your words are still in the box.' };
    case 'unreadable': return { kept: true, text: 'This session’s words were saved by a build that can read more, and were kept. Yours are still in the box.' };
    case 'refused': return { kept: true, refused: true, text: 'Not taken: the saved words moved on, or the record no longer says what was shown. Review them; yours are still in the box, and saving again stands against what is saved now.' };
    default: return body.persisted === true ? { kept: false, text: 'Saved.' } : { kept: true, text: 'Not saved; your words are still in the box.' };
  }
}

/** The sentence that says where the saved words stand, or null when nothing was ever saved. */
export function revisionLine(row) {
  const n = revisionOf(row);
  if (!n) return null;
  const kept = num(row.raw.annotation_revision_count) ?? n;
  return { head: kept < n ? `revision ${n}, ${kept} kept` : `revision ${n} of ${n}`, dropped: kept < n };
}
