// The goal and the outcome lines of a session, as the reader types them. A field is kept as typed through every redraw;
// nothing leaves this tab before Save.
import { useEffect, useState } from './hooks.js';
import { Absent, Age, T, html } from './part-base.js';
import { CueText } from './part-cue.js';
import { annotate } from './actions.js';
import { app } from './app-context.js';
import { dropCue, setCue } from './cues.js';
import { num, oneLine } from './format.js';
import { moment, str } from './model.js';
import { MOST, changes, dropDraft, goalField, lineFields, offersOf, rebase, revisionLine, saveBodies, savedSays, setDraft, storedOf } from './intent.js';
import { alarm, say } from './say.js';

const DWELL = 1200;
const LAPSE = 30_000;
const armed = new Map();

/** One typed field. Breaks and control characters become a space as they are typed, and the caret stays where it was. */
function Box({ id, field, label, value, cap, change, restore, hint, fallback }) {
  const input = (event) => {
    const box = event.currentTarget;
    const clean = oneLine(box.value);
    if (clean !== box.value) {
      const at = oneLine(box.value.slice(0, box.selectionStart)).length;
      box.value = clean;
      box.setSelectionRange(at, at);
    }
    change(clean);
  };
  const keys = (event) => {
    if (event.key === 'Enter') event.preventDefault();
    if (event.key !== 'Escape') return;
    event.preventDefault();
    restore();
  };
  return html`<textarea class="input box" rows=${field === 'goal' ? 2 : 1} maxlength=${cap} data-field=${field} data-fk=${id} data-fallback=${fallback} aria-label=${label} aria-describedby=${hint}
    spellcheck="true" dir="auto" value=${value} onInput=${input} onKeyDown=${keys}></textarea>`;
}

const Count = ({ text, cap }) => html`<span class="label box-count"><span class="sr">characters used: </span>${[...text].length}/${cap}</span>`;

/** The goal box with what it holds and where that came from. */
function Goal({ row, cap, again }) {
  const field = goalField(row);
  const stored = storedOf(row);
  const { list, untimed } = offersOf(row);
  const id = `goal-box|${row.key}`;
  const set = (text) => {
    if (text === stored.goal && (stored.goal || !list.length)) dropDraft(row, 'goal');
    else setDraft(row, 'goal', text);
    again();
  };
  return html`<div class="intent-field" data-fact="goal"><div class="intent-head"><span class="label">GOAL</span>
      ${field.text ? html`<button type="button" class="btn btn-quiet" data-act="clear-goal" data-fk=${`goal-clear|${row.key}`} data-fallback=${id} onClick=${() => set('')}>clear<span class="sr"> goal</span></button>` : null}<${Count} text=${field.text} cap=${cap} /></div>
    <${Box} id=${id} field="goal" label="Goal" value=${field.text} cap=${cap} change=${set} restore=${() => { dropDraft(row, 'goal'); again(); }} hint="goal-hint" />
    <p class="quiet-text small" id="goal-hint">${field.kind === 'prompt' ? html`${field.offer.source === 'first-prompt' ? 'Your first prompt' : 'Your latest prompt'}, <${Age} since=${field.offer.at} after=" old" />. It is shown, not saved; saving takes it over as the goal.`
      : field.kind === 'saved' ? stored.adopted ? 'from your prompt' : 'typed'
      : field.kind === 'typed' ? 'not saved' : untimed ? 'A prompt is on record but its time is not published, so it cannot be taken over; type a goal.' : 'What this session should achieve.'}</p>
    ${list.length > (field.kind === 'prompt' ? 1 : 0) ? html`<p class="intent-offers">${list.filter((o) => o.source !== field.offer?.source).map((o) => html`<button type="button" class="btn btn-quiet" data-act="use-prompt" data-prompt=${o.source} data-fk=${`goal-use|${row.key}|${o.source}`} data-fallback=${id}
      title=${o.text} onClick=${() => set(o.text)}>use your ${o.source === 'first-prompt' ? 'first' : 'latest'} prompt</button>`)}</p>` : null}</div>`;
}

/** Up to six outcome lines. */
function Lines({ row, cap, facts, again }) {
  const lines = lineFields(row);
  const stored = storedOf(row).lines;
  const full = lines.length >= MOST;
  const cue = `add-line|${row.key}`;
  const put = (next) => {
    setDraft(row, 'lines', next);
    again();
  };
  const restore = (i) => {
    const from = lines[i].from;
    if (from === null || !stored[from]) put(lines.map((l, k) => (k === i ? { ...l, text: '' } : l)));
    else put(lines.map((l, k) => (k === i ? { ...l, text: stored[from].text } : l)));
    if (!changes(row).lines && lines.length === stored.length) dropDraft(row, 'lines');
    again();
  };
  const add = () => {
    if (full) {
      const text = `${MOST} lines are the most. Replace or merge one.`;
      setCue(cue, 'full', text);
      say(text);
      return;
    }
    put([...lines, { text: '', from: null }]);
    requestAnimationFrame(() => [...document.querySelectorAll('[data-field=line]')].at(-1)?.focus());
  };
  return html`<div class="intent-field"><span class="label">EXPECTED OUTCOME</span>
    ${lines.length ? html`<ol class="part">${lines.map((line, i) => {
      const id = `line-box|${row.key}|${i}`;
      const was = line.from === null ? null : stored[line.from];
      const same = was && was.text === line.text;
      return html`<li class="intent-line" key=${i}><${Box} id=${id} field="line" label=${`Outcome line ${i + 1}`} value=${line.text} cap=${cap} restore=${() => restore(i)} hint=${undefined} fallback=${`goal-box|${row.key}`}
          change=${(text) => put(lines.map((l, k) => (k === i ? { ...l, text } : l)))} />
        <span class="intent-tail"><span class="quiet-text">${!same ? 'not saved' : was.source === 'entry' ? html`added from ${entryWords(facts, was.entry)}` : 'typed'}</span>
          <button type="button" class="btn btn-quiet" data-act="remove-line" data-fk=${`line-remove|${row.key}|${i}`} data-fallback=${i > 0 ? `line-box|${row.key}|${i - 1}` : cue}
            onClick=${() => put(lines.filter((l, k) => k !== i))}>remove<span class="sr"> outcome line ${i + 1}</span></button><${Count} text=${line.text} cap=${cap} /></span></li>`;
    })}</ol>` : html`<p><${Absent}>No outcome line ${stored.length ? 'is left' : 'was typed'}.<//></p>`}
    <p class="intent-add"><button type="button" class="btn btn-quiet" data-act="add-line" data-fk=${cue} aria-disabled=${full ? 'true' : undefined} onClick=${add}>add a line</button><${CueText} id=${cue} /></p></div>`;
}

function entryWords(facts, id) {
  const fact = facts?.find((f) => f.id === id);
  return fact ? html`<${T} s=${fact.summary || fact.type} />` : 'a recorded entry';
}

/** Save, undo, and what became of the last save. */
function Acts({ row, again, said: where }) {
  const [busy, setBusy] = useState(false);
  const cue = `save|${row.key}`;
  const c = changes(row);
  const save = async () => {
    if (busy) return;
    const sent = saveBodies(row);
    const before = { goal: goalField(row).text, lines: JSON.stringify(lineFields(row)) };
    setBusy(true);
    let said = null;
    for (const body of sent) {
      if (said && Number.isInteger(said.revision)) body.expected_revision = said.revision;
      const { status, body: reply } = await annotate(body);
      said = { ...savedSays(status, reply ?? {}), revision: reply?.annotation?.revision };
      if (said.kept) break;
    }
    setBusy(false);
    if (!said) return;
    if (!said.kept) {
      if (goalField(row).text === before.goal) dropDraft(row, 'goal');
      if (JSON.stringify(lineFields(row)) === before.lines) dropDraft(row, 'lines');
    } else if (said.refused) {
      rebase(row);
      stale.add(row.key);
    }
    setCue(cue, said.kept ? 'kept' : 'saved', said.text);
    say(said.text);
    again();
    app.refresh();
  };
  const shown = c.goal || c.lines || c.adopt;
  return html`<div class="intent-acts intent-end">${where}${c.drafted ? html`<button type="button" class="btn btn-quiet" data-act="undo-intent" data-fk=${`undo|${row.key}`} data-fallback=${`goal-box|${row.key}`}
      onClick=${() => { dropDraft(row); again(); }}>Undo changes</button>` : null}
    <span class="intent-save">${shown ? html`<button type="button" class="btn btn-plain" data-act="save-intent" data-fk=${cue} data-fallback=${`goal-box|${row.key}`} aria-disabled=${busy ? 'true' : undefined} onClick=${save}>Save intent</button>` : null}</span>
    <${CueText} id=${cue} /></div>`;
}

// Sessions whose last save was refused: the next board's words become the ones to save against.
const stale = new Set();

const WORDS = {
  offer: 'Deletes every revision of these words, and any reading of them. What was raised stops quoting them; that a check ran stays on record.',
  armed: 'Press again to discard. Every revision goes, and any reading of it; what was raised stops quoting the words; that a check ran stays on record.', stored: 'Discarded.', unwithdrawn: 'Discarded; what was raised could not be withdrawn and goes on quoting the words.',
  refused: 'Nothing was discarded.', unwritable: 'The file could not be written; nothing was discarded on disk.', untrusted: 'The store cannot be read, so nothing was discarded.',
  held: 'This session’s words were saved by a build that can read more; nothing was discarded.',
};

/** Discard everything: the first press arms, the second acts, and not as part of a double click. */
export function Discard({ board, row }) {
  const [, again] = useState(null);
  const key = row.key;
  const at = armed.get(key) ?? null;
  const own = board.payload.annotate_discard;
  const word = (name) => str(own?.[name]) || WORDS[name];
  const cue = `discard|${key}`;
  const disarm = () => {
    if (!armed.delete(key)) return;
    alarm('');
    again({});
  };
  useEffect(() => {
    if (at === null) return undefined;
    const lapse = setTimeout(disarm, Math.max(0, at + LAPSE - performance.now()));
    const keys = (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      disarm();
    };
    document.addEventListener('keydown', keys);
    return () => {
      clearTimeout(lapse);
      document.removeEventListener('keydown', keys);
    };
  }, [at, key]);
  const press = async (event) => {
    const now = performance.now();
    const last = armed.get(key);
    if (last === undefined || now - last < DWELL || event.detail > 1) {
      armed.set(key, now);
      alarm(word('armed'));
      again({});
      return;
    }
    armed.delete(key);
    alarm('');
    const { status, body } = await annotate({ harness: row.harness, sid: row.sid, clear: true });
    let name = { stored: body?.withdrawn === false ? 'unwithdrawn' : 'stored', unchanged: 'stored', unwritable: 'unwritable', untrusted: 'untrusted', unreadable: 'held' }[body?.outcome] ?? 'refused';
    if (status === 200 && (name === 'stored' || name === 'unwithdrawn')) dropDraft(row);
    let text = word(name);
    if (status === null) text = 'The result could not be confirmed; nothing is sent again by itself.';
    else if (status !== 200) text = status === 503 ? 'Typed words are off for this run; nothing was discarded.' : `The request was refused (${status}); nothing was discarded.`;
    // What was said of the last save is no longer so.
    dropCue(`save|${key}`);
    setCue(cue, status === 200 ? name : 'failed', text);
    say(text);
    again({});
    app.refresh();
  };
  if (!num(row.raw.annotation_revision)) return html`<${CueText} id=${cue} />`;
  return html`<div class="discard part">${at === null ? null : html`<p class="discard-what" id="discard-what"><${T} s=${word('armed')} /></p>`}
    <button type="button" class=${at === null ? 'btn btn-quiet' : 'btn btn-plain btn-armed'} data-act="discard" data-fk=${cue} data-fallback=${`goal-box|${key}`} data-armed=${at === null ? undefined : ''} title=${word('offer')}
      aria-describedby=${at === null ? undefined : 'discard-what'} onClick=${press}>discard everything</button><${CueText} id=${cue} /></div>`;
}

/** The two groups of fields with their controls. */
export function Intent({ board, row, facts }) {
  const [, set] = useState(null);
  const again = () => set({});
  const cap = num(board.payload.annotate_cap) ?? 240;
  const line = revisionLine(row);
  const { raw } = row;
  useEffect(() => {
    if (stale.delete(row.key)) rebase(row);
  }, [raw]);
  return html`<div class="intent part"><${Goal} row=${row} cap=${cap} again=${again} /><${Lines} row=${row} cap=${cap} facts=${facts} again=${again} />
    <${Acts} row=${row} again=${again} said=${line ? html`<p class="quiet-text">${line.head}${moment(raw.annotation_at) === null ? '' : html` · <${Age} since=${raw.annotation_at} before=${storedOf(row).adopted ? 'saved ' : 'typed '} after=" ago" />`}${line.dropped ? ' · older revisions dropped' : ''}</p>` : null} />
    ${str(raw.annotation_discarded_why) ? html`<p><${Absent}><${T} s=${raw.annotation_discarded_why} />${moment(raw.annotation_discarded_at) === null ? '' : html` <${Age} since=${raw.annotation_discarded_at} before="Discarded " after=" ago." />`}<//></p>` : null}
    ${str(raw.annotation_binding_why) ? html`<p class="note"><i class="note-i" aria-hidden="true">i</i><span><${T} s=${raw.annotation_binding_why} /></span></p>` : null}</div>`;
}
