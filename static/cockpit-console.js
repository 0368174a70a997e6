// Console: the figures of operation first, then what this server was started with. A capability that nobody has read yet is
// never called off, and one that is on is never behind a click.
import { useState } from './hooks.js';
import { Absent, Age, Boundary, Label, T, Tool, html } from './part-base.js';
import { CopyCommand, CueButton, CueText, Raise } from './part-cue.js';
import { Capacity } from './part-capacity.js';
import { Disclosure } from './part-disclosure.js';
import { OldNotes } from './part-memo.js';
import { SessionLink } from './part-brief.js';
import { Terminal, bridgeWord, useBridge } from './part-terminal.js';
import { ownsOf } from './cockpit-course.js';
import { summarize } from './record.js';
import { delegationOf } from './flow.js';
import { book } from './ledger.js';
import { conditionsOf } from './project.js';
import { ABSENT, count, many, observed } from './format.js';
import { objects, str } from './model.js';
import { KEYS, choice, write } from './keep.js';
import { setCue } from './cues.js';
import { projectHref } from './route.js';
import { say } from './say.js';

function Delegation({ project, rows }) {
  const figure = delegationOf(book, project, ownsOf(project, rows, null));
  const whose = book.history === null ? ', in this tab; no history is kept in this run' : '';
  const caption = figure && figure.to > figure.from ? `Observed ${observed(figure.to - figure.from)}${whose}` : `Observed since this tab opened${whose}`;
  const facts = figure === null ? [] : [many(figure.turns, 'human turn'), figure.rate === null ? null : `≥ ${count(figure.rate)}/m while delegated`, figure.trend === null ? null : `${figure.trend > 0 ? '+' : ''}${figure.trend} points, ${figure.trend > 0 ? 'up' : figure.trend < 0 ? 'down' : 'level'} on the six hours before`].filter(Boolean);
  return html`<section class="part" data-group="delegation"><div class="group-bar"><h2 class="group-h" tabindex="-1">Delegation</h2></div>
    ${figure === null || figure.pct === null ? html`<p class="brief-main"><${Absent}>no figure yet<//></p><p class="quiet-text">It takes ten minutes in which something works or waits.</p>`
    : html`<p class="proj-tasks"><b class="fact-fig">${figure.pct}%</b> of the time ran without you</p><span class="bar" role="img" aria-label=${`${figure.pct}% of the time ran without you`}><i style=${{ width: `${figure.pct}%` }}></i></span>`}
    ${facts.length ? html`<p>${facts.join(' · ')}</p>` : null}<p class="note">${caption}</p></section>`;
}

function Waiting({ rows }) {
  const waiting = rows.filter((r) => r.blocked).sort((a, b) => (a.waitSince ?? Infinity) - (b.waitSince ?? Infinity));
  return html`<section class="part" data-group="waiting"><div class="group-bar"><h2 class="group-h" tabindex="-1">Waiting on you <span class="fig">(${waiting.length})</span></h2></div>
    ${waiting.length ? html`<ul class="ends">${waiting.map((row) => html`<li class="panel row-wait" key=${row.key}><p class="row-top"><b><${SessionLink} row=${row} place="waiting" /></b> ${row.waitSince === null ? html`<${Absent}>${ABSENT.wait}<//>` : html`<${Age} since=${row.waitSince} longAfter=${900} />`}</p>
      <p class="clamp2" title=${row.block.text}><${Tool} s=${row.block.text} /></p><p class="row-controls"><${Raise} row=${row} place="waiting" /><${CopyCommand} row=${row} place="waiting" /></p></li>`)}</ul>`
    : html`<p><${Absent}>Nothing reported is waiting; a quiet row is not proof.<//></p>`}</section>`;
}

function Tripwires({ project, rows, board, route }) {
  const c = conditionsOf(board.payload, new Set(rows.map((r) => r.key)));
  const saved = c.cards.filter((x) => x.rule);
  const tripped = saved.filter((x) => x.rule.state === 'tripped').length;
  return html`<section class="group part" data-group="tripwires"><div class="group-bar"><h2 class="group-h" tabindex="-1">Tripwires</h2></div>
    ${c.off ? html`<p><${Absent}>Stage conditions are off for this run.<//></p>` : html`<p>${c.cards.length ? html`${many(saved.length, 'stage condition')} saved here, ${tripped} tripped. <a href=${projectHref(project, route.session, 'course')} data-fk="trip-course">Open Course</a>` : 'No workflow is observed here, so there is nothing to set a stage condition on.'}</p>`}
    <${Disclosure} id=${`old|${project}`} summary="Old tripwire notes"><${OldNotes} project=${project} /><//></section>`;
}

const STATUS = {
  disabled: 'Model summaries are off for this run.', 'consent-required': 'Nothing was sent: the consent did not reach the server.', 'not-run': 'No model was called.', 'in-flight': 'A summary of this session is already under way.',
  unavailable: 'No model is available on this machine.', failed: 'The model call failed; the derived goal stands.', unstopped: 'The model call ran out of time and could not be stopped.', oversized: 'The model answered too much; the derived goal stands.',
  'no-goal': 'The model found no goal.', used: 'A model wrote the goal below.', cached: 'A stored summary is shown; nothing was sent.', 'cached-fallback': 'The stored derived goal is shown.',
};

const consentOf = () => choice(KEYS.observer, ['granted', 'declined'], null);

function Summary({ record, focus }) {
  const mine = objects(record.body?.observers).find((o) => `${str(o.harness)}:${str(o.sid)}` === focus.key);
  if (!mine) return null;
  const status = str(mine.model?.status);
  return html`<div><${Label}>DERIVED FROM THE HARNESS<//><p>${str(mine.goal) ? html`<${T} s=${mine.goal} />` : html`<${Absent}>No goal derived<//>`}</p><p class="quiet-text">${STATUS[status] ?? status}</p></div>`;
}

/** Goal summaries by a model: offered by a flag, allowed in this browser, and run once per press. */
function Observer({ on, focus, record }) {
  const [, again] = useState(null);
  if (on === null) return html`<p><${Absent}>Whether this run offers model summaries was not read yet.<//></p>`;
  if (!on) return html`<p>Off. Starting with <code>--observer-model</code> offers a summary of one session at a time.</p>`;
  if (!focus) return html`<p>Select one session under Scope to summarize it.</p>`;
  const disclosure = str(record.body?.observer_model?.disclosure);
  const answer = (value) => {
    write(KEYS.observer, value);
    say(value === 'granted' ? 'Model summaries are allowed. Nothing was sent.' : 'Model summaries are off.');
    again({});
  };
  const press = async () => {
    setCue('summarize', 'busy');
    const status = await summarize();
    const text = status === 200 ? 'The answer stands below.' : 'The result could not be confirmed. It is not tried again by itself.';
    setCue('summarize', status === 200 ? 'done' : 'failed', text);
    say(text);
  };
  if (!disclosure) return html`<p><${Absent}>What a summary reads and sends was not read from the server yet, so nothing can be allowed.<//></p>`;
  return html`<p><${T} s=${disclosure} /></p>
    ${consentOf() === 'granted' ? html`<p class="row-controls"><${CueButton} id="summarize" act="summarize" kind="plain" label="Summarize this session" labels=${{ busy: 'Summarizing', done: 'Summarized', failed: 'Not confirmed' }} onPress=${press} />
        <button type="button" class="btn btn-quiet" data-act="observer-off" data-fk="observer|off" data-fallback="observer|allow" onClick=${() => answer('declined')}>Turn off model summaries</button><${CueText} id="summarize" /></p><${Summary} record=${record} focus=${focus} />`
    : html`<p class="row-controls"><button type="button" class="btn btn-plain" data-act="observer-allow" data-fk="observer|allow" data-fallback="summarize" onClick=${() => answer('granted')}>Allow model summaries</button>
        ${consentOf() === null ? html`<button type="button" class="btn btn-plain" data-act="observer-no" data-fk="observer|no" data-fallback="observer|allow" onClick=${() => answer('declined')}>No thanks</button>` : html`<span class="quiet-text">You declined.</span>`}</p>`}`;
}

const ON = { true: 'on', false: 'off', null: 'not read yet' };

function Coverage({ record, board }) {
  const s = record.body?.sources;
  const read = { loading: 'is being read', failed: 'could not be read', absent: 'is not published by this server', read: record.stale ? 'was read, and its last refresh failed' : 'was read' }[record.state];
  const unavailable = objects(s?.observer?.unavailable);
  const omitted = objects(s?.observer?.omitted);
  return html`<ul class="ends"><li>The observed record ${read}${str(s?.scope) ? `, for the ${s.scope}` : ''}.</li>
    ${unavailable.map((u) => html`<li>${str(u.harness)} ${str(u.sid)}: <${T} s=${str(u.reason) || 'not read'} /></li>`)}${omitted.length ? html`<li>${many(omitted.length, 'session')} left out of the reading: only the newest are analysed.</li>` : null}
    <li>Local history is ${Array.isArray(board.payload.history) ? 'kept' : 'not kept in this run'}; session ends are ${board.payload.ends_observable === true ? 'observable' : 'not observable in this run'}.</li></ul>`;
}

export function Console({ project, rows, focus, board, record, route }) {
  const seen = useBridge(board.generated);
  const bridge = bridgeWord(seen, focus?.key ?? null);
  const model = typeof board.payload.observer_model === 'boolean' ? board.payload.observer_model : null;
  const part = (title, on, name, body) => (on ? html`<section class="group part" data-group=${name}><div class="group-bar"><h3 class="group-h">${title}</h3></div>${body}</section>` : html`<div class="part"><h3><b>${title}</b></h3>${body}</div>`);
  const terminal = part('Read-only terminal', bridge === 'on', 'terminal', html`<${Boundary} of=${seen} what="The terminal"><${Terminal} seen=${seen} focus=${focus} /><//>`);
  const observer = part('Model summaries', model === true, 'observer', html`<${Observer} on=${model} focus=${focus} record=${record} />`);
  return html`<div class="group panels duo"><${Delegation} project=${project} rows=${rows} /><${Waiting} rows=${rows} /></div>
    <div class="group"><${Boundary} of=${board.payload} what="Capacity"><${Capacity} board=${board} /><//></div>
    <${Tripwires} project=${project} rows=${rows} board=${board} route=${route} />
    ${bridge === 'on' ? terminal : null}${model ? observer : null}
    <${Disclosure} id="started" summary=${`How this server was started — terminal bridge ${bridge}, observer model ${ON[model]}`}>${bridge === 'on' ? null : terminal}${model ? null : observer}<${Coverage} record=${record} board=${board} /><//>`;
}
