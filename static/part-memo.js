// The reader's own jottings about a project. None of them reaches a session or the server: notes live in this tab, human
// context and old tripwire notes in this browser, and each says so where it stands.
import { useState } from './hooks.js';
import { Label, T, html } from './part-base.js';
import { Disclosure } from './part-disclosure.js';
import { KEYS, read, readJson, write } from './keep.js';
import { setCue, useCue } from './cues.js';
import { say } from './say.js';
import { many } from './format.js';

const LIMIT = 500;
const NOTES = 20;
const RULES = 50;
const RECEIPT = 'Recorded here in this tab, not delivered. Nothing writes into a session.';
const notes = new Map();
const drafts = new Map();

/** The box for a note to oneself, and what was noted. */
export function Composer({ project }) {
  const [, again] = useState(null);
  const cue = useCue(`note|${project}`);
  const draft = drafts.get(project) ?? '';
  const list = notes.get(project) ?? [];
  const type = (event) => {
    drafts.set(project, event.currentTarget.value);
    again({});
  };
  const submit = (event) => {
    event.preventDefault();
    const text = draft.trim();
    if (!text) return;
    notes.set(project, [{ text, key: `${Date.now()}${list.length}` }, ...list].slice(0, NOTES));
    drafts.delete(project);
    setCue(`note|${project}`, 'kept', RECEIPT);
    say(RECEIPT);
    again({});
  };
  const restore = (event) => {
    if (event.key !== 'Escape' || !draft) return;
    event.preventDefault();
    drafts.delete(project);
    again({});
  };
  return html`<form onSubmit=${submit}><label class="memo-box"><span class="sr">Note to yourself</span><input class="input" maxlength=${LIMIT} placeholder="Note to yourself" data-fk="note" value=${draft} onInput=${type} onKeyDown=${restore} /></label>
      <button class="btn btn-plain" data-act="keep-note" data-fk="note-keep">Keep note</button><span class="note">${cue?.text || 'stays in this tab; nothing is sent'}</span></form>
    ${list.length ? html`<${Disclosure} id=${`notes|${project}`} summary=${many(list.length, 'note in this tab', 'notes in this tab')}><ol class="ends">${list.map((n) => html`<li key=${n.key}><${T} s=${n.text} /></li>`)}</ol><//>` : null}`;
}

function Field({ project, name, label }) {
  const key = KEYS.memo(project, 'project', name);
  const [text, set] = useState(() => (read(key) ?? '').slice(0, LIMIT));
  const [start, begin] = useState(text);
  const keep = (value) => {
    set(value);
    write(key, value || null);
  };
  const restore = (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    keep(start);
  };
  return html`<label><${Label}>${label}<//><textarea class="input" rows="2" maxlength=${LIMIT} data-fk=${`memo|${name}`} value=${text} onFocus=${() => begin(text)} onInput=${(e) => keep(e.currentTarget.value)} onKeyDown=${restore}></textarea></label>`;
}

/** What the reader wants of a project, for their own eyes. */
export const HumanContext = ({ project }) => html`<${Disclosure} id=${`human|${project}`} summary="Human context"><p>Kept in this browser as you type. It instructs no agent and is sent nowhere.</p>
  <${Field} project=${project} name="outcome" label="Outcome you want" /><${Field} project=${project} name="focus" label="Focus now" /><//>`;

const isRules = (v) => Array.isArray(v) && v.every((r) => r && typeof r === 'object' && typeof r.enabled === 'boolean' && typeof r.text === 'string');

/** Tripwire notes of old: switches that switch nothing. */
export function OldNotes({ project }) {
  const key = KEYS.guardrails(project);
  const [list, set] = useState(() => (readJson(key, isRules) ?? []).slice(0, RULES).map((r) => ({ enabled: r.enabled, text: r.text.slice(0, LIMIT) })));
  const [draft, type] = useState('');
  const keep = (next) => {
    set(next);
    write(key, next.length ? JSON.stringify(next) : null);
  };
  const keys = (event) => {
    if (event.key === 'Escape') {
      event.preventDefault();
      type('');
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (!draft.trim() || list.length >= RULES) return;
      keep([...list, { enabled: true, text: draft.trim() }]);
      type('');
    }
  };
  return html`<div><p class="quiet-text">Notes of yours, kept in this browser. They watch nothing, stop nothing and reach no agent; a switch only marks a note.</p>
    <ul class="ends">${list.map((r, i) => html`<li class="end" key=${`${i}${r.text}`}><label class="choice-o"><input type="checkbox" checked=${r.enabled} data-fk=${`rule|${i}`} onChange=${() => keep(list.map((x, k) => (k === i ? { ...x, enabled: !x.enabled } : x)))} /><${T} s=${r.text} /></label>
      <button type="button" class="btn btn-quiet" data-act="rule-drop" data-fk=${`rule-drop|${i}`} data-fallback="rule-new" onClick=${() => keep(list.filter((_, k) => k !== i))}>remove<span class="sr"> this note</span></button></li>`)}</ul>
    <label class="memo-box"><span class="sr">Add a note; Enter adds it, Escape clears the box</span><input class="input" maxlength=${LIMIT} placeholder=${list.length >= RULES ? 'Fifty notes are kept at most' : 'Add a note, Enter keeps it'} data-fk="rule-new" value=${draft} onInput=${(e) => type(e.currentTarget.value)} onKeyDown=${keys} /></label></div>`;
}
