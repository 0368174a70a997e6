// Stage conditions: an alert saved for one declared stage of one exact workflow. A condition reports what was observed and
// runs nothing; its controls say what became of each press, and never claim that anybody saw a notification.
import { useState } from './hooks.js';
import { Absent, Age, Boundary, Label, T, html } from './part-base.js';
import { CueButton, CueText } from './part-cue.js';
import { tripwire } from './actions.js';
import { app } from './app-context.js';
import { setCue } from './cues.js';
import { say } from './say.js';
import { clock, many, num } from './format.js';
import { moment, objects, str, strings } from './model.js';
import { sessionHref } from './route.js';

// What the reader picked and did not save yet: source id → stage. Lives as long as the tab.
const drafts = new Map();
let sending = false;

const REPLY = {
  409: 'It was changed elsewhere or its source moved on. The card is refreshed and your choice is kept.',
  503: 'It could not be saved; nothing changed.',
  lost: 'No answer came, so it is not known whether it was saved. The card shows what the board says.',
  refused: 'It was refused as sent; nothing changed.',
};
const DONE = { save: 'Stage condition saved.', rearm: 'Stage condition armed again.', remove: 'Stage condition removed.' };

async function send(id, action, card, stage) {
  // A second press would be sent against a revision that the first is about to replace.
  if (sending) return;
  sending = true;
  setCue(id, 'busy');
  const { status, body } = await tripwire({ action, id: card.id, stage, expected_revision: str(card.rule?.revision) });
  sending = false;
  if (status === 200) {
    if (drafts.get(card.id) === stage || action === 'remove') drafts.delete(card.id);
    setCue(id, 'done', action === 'remove' ? '' : DONE[action]);
    say(DONE[action]);
    app.refresh();
    return;
  }
  const reason = str(body?.error);
  const text = status === null ? REPLY.lost : `${REPLY[status] ?? REPLY.refused}${reason ? ` ${reason}` : ''}`;
  setCue(id, 'failed', text);
  say(text);
  if (status === null || status === 409) app.refresh();
}

function Trip({ trip, generated }) {
  const at = moment(trip.observed_at);
  const [from, to] = [clock(moment(trip.before_observed_at), generated), clock(at, generated)];
  const span = from !== null && from !== to ? ` (between ${from} and ${to})` : ` (${to})`;
  return html`<p><b><${T} s=${str(trip.slug)} /></b> moved from <${T} s=${str(trip.before)} /> to <${T} s=${str(trip.stage)} />${at === null ? ', at a time not published' : html`, observed <${Age} since=${at} after=" ago" /> ${span}`}.</p>`;
}

function Sessions({ source, board }) {
  const list = objects(source.sessions);
  if (!list.length) return null;
  return html` Observed by ${list.map((s, i) => {
    const row = board.byKey.get(`${str(s.harness)}:${str(s.sid)}`);
    const name = html`<${T} s=${str(s.label) || str(s.sid)} />`;
    return html`${i ? ', ' : null}${row ? html`<a href=${sessionHref(row)}>${name}</a>` : name}`;
  })}.`;
}

function Card({ card, board, place, suspended }) {
  const [, again] = useState(null);
  const { source, rule } = card;
  const saved = str(rule?.stage);
  const stages = strings(source?.stages);
  const picked = drafts.get(card.id) ?? saved;
  const key = (what) => `trip|${place}|${card.id}|${what}`;
  const held = suspended || (rule !== null && rule.available !== true);
  const tripped = rule?.state === 'tripped';
  const ambiguous = source?.ambiguous === true;
  const evaluated = num(rule?.evaluated ?? source?.evaluated);
  const partial = (rule ? rule.partial : source?.partial) === true;
  const pick = (event) => {
    drafts.set(card.id, event.currentTarget.value);
    again({});
  };
  const cancel = (event) => {
    if (event.key !== 'Escape' || !drafts.has(card.id)) return;
    event.preventDefault();
    drafts.delete(card.id);
    again({});
  };
  const save = () => {
    if (ambiguous || !picked) {
      const text = ambiguous ? 'Nothing was sent: this workflow cannot be told from its twin.' : 'Nothing was sent: pick a stage first.';
      setCue(key('save'), 'failed', text);
      return say(text);
    }
    return send(key('save'), 'save', card, picked);
  };
  const state = rule === null ? null : held && !tripped ? 'suspended' : tripped ? 'tripped' : 'armed';
  const labels = { busy: 'Sending', done: 'Saved', failed: 'Not saved' };
  const word = source?.workflow ?? rule?.workflow;
  return html`<article class="panel" data-condition=${state ?? 'none'} onKeyDown=${cancel}>
    <h3><b><${T} s=${str(word) || 'Workflow'} /></b>${str(source?.goal) ? html` <span class="quiet-text">· <${T} s=${source.goal} /></span>` : null}</h3>
    <p>${rule === null ? html`<${Absent}>No condition saved<//>` : html`<span class=${`mark ${tripped ? 'mark-drift' : 'mark-plain'}`}>${state}</span> on entering <b><${T} s=${saved} /></b>${moment(rule.saved_at) === null ? null : html` · saved <${Age} since=${rule.saved_at} after=" ago" />`}`}</p>
    ${rule?.trip ? html`<${Trip} trip=${rule.trip} generated=${board.generated} />` : null}
    <p class="quiet-text">${str(rule?.why) ? html`<${T} s=${rule.why} /> ` : null}${evaluated === null ? 'Coverage not measured: no source was read.' : `${many(evaluated, 'entity', 'entities')} considered${partial ? '; coverage is partial' : ''}.`}
      ${source ? html`<${Sessions} source=${source} board=${board} />` : ' No session on the board observes this workflow now.'}</p>
    ${rule && (str(rule.delivery_why) || !board.nativeNotify) ? html`<p class="quiet-text">${str(rule.delivery_why) ? html`<${T} s=${rule.delivery_why} /> ` : null}${board.nativeNotify ? null : board.payload.browser_lane === true ? 'A browser tab has reported that it can notify; whether a banner was seen is not known.' : 'No browser tab has reported that it can notify.'}</p>` : null}
    ${ambiguous ? html`<p>Another workflow has the same name, goal and sessions. Open one of the source sessions alone, or rename one, before saving.</p>` : null}
    <div class="row-controls">
      ${source ? html`<label class="pick"><${Label}>Stage<//> <select class="input" data-fk=${key('stage')} value=${picked} onChange=${pick}>
          ${saved ? null : html`<option value="">pick a stage</option>`}
          ${saved && !stages.includes(saved) ? html`<option value=${saved}>${saved} (no longer declared)</option>` : null}
          ${stages.map((s) => html`<option value=${s}>${s}</option>`)}</select></label>
        <${CueButton} id=${key('save')} act="trip-save" kind="plain" label="Save" labels=${labels} onPress=${save} busy=${ambiguous} describe=${ambiguous ? ', refused while its twin cannot be told apart' : ''} />` : null}
      ${rule && tripped && source ? html`<${CueButton} id=${key('rearm')} act="trip-rearm" kind="plain" label="Rearm" labels=${{ ...labels, done: 'Armed' }} onPress=${() => send(key('rearm'), 'rearm', card, saved)} fallback=${key('save')} />` : null}
      ${rule ? html`<${CueButton} id=${key('remove')} act="trip-remove" label="Remove" labels=${{ ...labels, done: 'Removed' }} onPress=${() => send(key('remove'), 'remove', card, saved)} fallback=${key('stage')} />` : null}
      ${['save', 'rearm', 'remove'].map((what) => html`<${CueText} key=${what} id=${key(what)} />`)}
    </div></article>`;
}

/** The cards of `conditions` (what `conditionsOf` answers); nothing when the feature is off or there is nothing to show. */
export function Conditions({ conditions, board, place }) {
  const { off, error, suspended, cards } = conditions;
  if (off || (!cards.length && !error)) return null;
  return html`<section class="group" data-group=${`conditions-${place}`} aria-labelledby=${`conditions-${place}`}>
    <div class="group-bar"><h2 class="group-h" id=${`conditions-${place}`} tabindex="-1">Stage conditions <span class="fig">(${cards.length})</span></h2><span class="note">alert once when an entity is observed entering a stage; nothing is written into a session</span></div>
    ${error ? html`<div class="banner banner-amber"><p><${T} s=${error} /></p></div>` : null}
    ${suspended ? html`<p class="note">Workflow reads are off for this run, so every condition is suspended.</p>` : null}
    <div class="panels">${cards.map((card) => html`<${Boundary} key=${card.id} of=${card} what="This condition"><${Card} card=${card} board=${board} place=${place} suspended=${suspended} /><//>`)}</div></section>`;
}
