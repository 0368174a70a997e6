// Controls that say in place what became of their press: copy, raise, and the options of a question.
import { useEffect, useState } from './hooks.js';
import { html, T } from './part-base.js';
import { answer, canRaise, focusTerminal } from './actions.js';
import { app } from './app-context.js';
import { setCue, useCue } from './cues.js';
import { say } from './say.js';

/**
 * A button whose label is its cue for a while. `id` keys both cue and focus; `labels` maps cue states to words; `wide` is the
 * longest of them, so that nothing shifts. `fallback` names the focus key to use when the control has gone.
 */
export function CueButton({ id, act, label, labels = {}, onPress, title, busy = false, kind = 'quiet', fallback, describe }) {
  const cue = useCue(id);
  const words = (cue && labels[cue.state]) || label;
  const wide = Object.values(labels).reduce((a, b) => (b.length > a.length ? b : a), label);
  return html`<button type="button" class=${`btn btn-${kind}`} data-act=${act} data-cue=${cue?.state} data-fk=${id} data-fallback=${fallback}
      title=${title} aria-disabled=${busy ? 'true' : undefined} onClick=${() => !busy && onPress()}>
    <span class="btn-wide" aria-hidden="true">${wide}</span><span class="btn-now">${words}</span>${describe ? html`<span class="sr">${describe}</span>` : null}
  </button>`;
}

/** What a cue has to say beyond its label. */
export function CueText({ id }) {
  const cue = useCue(id);
  return cue?.text ? html`<span class="cue-text">${cue.text}</span>` : null;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Copies `text`. A refused copy says so and leaves the text where it can be selected. */
export function Copy({ id, act, label, text, what, kind }) {
  const [failed, setFailed] = useState(false);
  async function press() {
    const done = await copy(text);
    setFailed(!done);
    setCue(id, done ? 'copied' : 'failed');
    say(done ? `${what} copied.` : `${what} could not be copied. It stands beside the control and can be selected.`);
  }
  return html`<${CueButton} id=${id} act=${act} label=${label} labels=${{ copied: 'COPIED', failed: 'NOT COPIED' }} onPress=${press} title=${text} kind=${kind} />
    ${failed ? html`<code class="copy-out">${text}</code>` : null}`;
}

/** The session's identity. */
export const CopyId = ({ row, place = 'row', kind }) => html`<${Copy} kind=${kind} id=${`${place}|${row.key}|id`} act="copy-id" label="COPY ID" text=${row.sid} what="Session id" />`;

/** The command that re-enters the session, on the harnesses that have one. */
export const CopyCommand = ({ row, place = 'row', kind }) => (row.resume
  ? html`<${Copy} kind=${kind} id=${`${place}|${row.key}|command`} act="copy-command" label="COPY COMMAND" text=${row.resume} what="Resume command" />` : null);

// One raise at a time on the whole page: every raise control is held while one is under way.
let raising = false;
const watchers = new Set();

function useRaising() {
  const [, hear] = useState(null);
  useEffect(() => {
    watchers.add(hear);
    return () => watchers.delete(hear);
  }, []);
  return raising;
}

function setRaising(on) {
  raising = on;
  for (const hear of watchers) hear({});
}

const RAISED = {
  sent: 'Sent. The window itself may still be behind others.',
  none: 'No terminal was raised.',
  busy: 'Another raise was too recent; try again in a moment.',
  reload: 'The dashboard restarted since this page was loaded. Reload the page to raise terminals.',
  lost: 'The raise could not be sent.',
};

/** Asks for the session's terminal, where one is held and this document may. */
export function Raise({ row, place = 'row', kind = 'plain' }) {
  const busy = useRaising();
  const id = `${place}|${row.key}|raise`;
  if (!row.focusable || !canRaise || !row.harness || !row.sid) return null;
  async function press() {
    if (raising) return;
    setRaising(true);
    setCue(id, 'sending');
    const { status, body } = await focusTerminal(row.harness, row.sid);
    let state = 'lost';
    if (status === 200) state = body.focused === true ? 'sent' : 'none';
    else if (status === 429) state = 'busy';
    else if (status === 403) state = 'reload';
    setCue(id, state, RAISED[state]);
    setRaising(false);
    say(RAISED[state]);
  }
  return html`<${CueButton} id=${id} act="raise" kind=${kind} label="RAISE" busy=${busy} onPress=${press} fallback=${`link|${row.key}`}
      labels=${{ sending: 'SENDING', sent: 'SENT', none: 'NONE', busy: 'LATER', reload: 'RELOAD', lost: 'FAILED' }}
      title="Shows this session in the terminal that runs it" /><${CueText} id=${id} />`;
}

/** A question's options, in the offered order, none of them preferred. */
export function Options({ question, place, fallback }) {
  const id = `${place}|ask|${question.id}`;
  const [busy, setBusy] = useState(false);
  if (!question.options.some(Boolean)) return html`<p class="absent" data-absent="">No options were supplied with this question.</p>`;
  async function press(index, label) {
    if (busy) return;
    setBusy(true);
    const { status, body } = await answer(question.id, index);
    setBusy(false);
    if (status === 200 && body.answered === true) {
      say(`Answered: ${label}`);
      app.refresh();
      return;
    }
    const text = status === 503 ? 'The ask lane is off; nothing was recorded.' : 'No confirmation came back; the question may already have been answered.';
    setCue(id, 'unconfirmed', text);
    say(text);
  }
  return html`<div class="options" role="group" aria-label="Answer">
    ${question.options.map((label, i) => label && html`<button type="button" class="btn btn-plain btn-option" data-act="answer" data-fk=${`${id}|${i}`} data-fallback=${fallback}
      aria-disabled=${busy ? 'true' : undefined} onClick=${() => press(i, label)}><${T} s=${label} /></button>`)}
  </div><${CueText} id=${id} />`;
}
