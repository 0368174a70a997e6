// Analyze drift: what a press would read and send, the reading it brought, what the reader has to settle, and what was raised.
// A model is called by a press and by nothing else; a second press while one runs sends nothing.
import { useEffect, useState } from './hooks.js';
import { Absent, Age, Boundary, Glyph, T, html } from './part-base.js';
import { Note } from './part-badge.js';
import { CopyCommand, CueText, Raise } from './part-cue.js';
import { Disclosure } from './part-disclosure.js';
import { annotate, canRaise, cancelReading, startReading } from './actions.js';
import { app } from './app-context.js';
import { setCue } from './cues.js';
import { clock, many, num } from './format.js';
import { moment, str, strings } from './model.js';
import { goalField, onDraft, revisionOf, storedOf, unsaved } from './intent.js';
import { CAVEAT, awayDepartures, conflicts, inert, pressed, readingDepartures, readingView } from './reading.js';
import { readsWork } from './session-facts.js';
import { say } from './say.js';

const object = (v) => (v !== null && typeof v === 'object' && !Array.isArray(v) ? v : null);

// Where each session's control stands: `idle`, `confirming`, `starting`; a published job outranks all of them.
const stages = new Map();
// What a reply named before the board did: the job it started, and a receiver that is not the one last shown.
const begun = new Map();
const turned = new Map();
const watched = new Map();

/** The job of a session that runs now, or null: the board's, or one just begun that no newer board has spoken of. */
export function jobOf(board, row) {
  const own = begun.get(row.key);
  if (own && own.at !== board.generated) begun.delete(row.key);
  return object(object(board.payload.reading_jobs)?.[row.key]) ?? begun.get(row.key)?.job ?? null;
}

function routeOf(board, row) {
  const shown = object(object(board.payload.reading_routes)?.[row.harness]);
  const other = turned.get(row.harness);
  return other && other.over === shown ? other.route : shown;
}

/** Says once that a reading began or ended, whoever asked for it. */
function useJobSaid(key, job) {
  useEffect(() => {
    const had = watched.get(key);
    watched.set(key, Boolean(job));
    if (had === undefined || had === Boolean(job)) return;
    say(job ? 'Analyzing drift.' : 'The analysis ended.');
  }, [key, Boolean(job)]);
}

function Job({ board, row, job, used }) {
  const [busy, setBusy] = useState(false);
  const id = `cancel|${row.key}`;
  const cancelling = job.cancelling === true || busy;
  const steps = Array.isArray(job.steps) ? job.steps.filter(object) : [];
  const at = steps.findIndex((s) => s.phase === job.phase);
  const press = async () => {
    if (cancelling) return;
    setBusy(true);
    const { status, body } = await cancelReading({ harness: row.harness, sid: row.sid, job: str(job.id) });
    const done = status === 200 && body.cancelling === true;
    if (!done) setBusy(false);
    const text = done ? 'Cancelling.' : status === 409 ? 'It was no longer running under that name; the board shows what became of it.' : 'The cancel could not be confirmed.';
    setCue(id, done ? 'cancelling' : 'failed', done ? '' : text);
    say(text);
    app.refresh();
  };
  return html`<div class="job" data-part="job" role="group" aria-label="Analyzing drift"><p class="job-head"><b>Analyzing drift</b>${moment(job.started_at) === null ? null : html` <${Age} since=${job.started_at} live=${true} />`}</p>
    <ol class="job-steps">${steps.map((s, i) => html`<li aria-current=${i === at ? 'step' : undefined} class=${i === at ? 'job-now' : ''}><${Glyph}>${i < at ? '■' : i === at ? '▶' : '□'}<//><${T} s=${str(s.text) || str(s.phase)} />${i === at ? ' (now)' : i < at ? ' (past)' : ''}</li>`)}</ol>
    <p class="intent-acts"><button type="button" class="btn btn-plain" data-act="cancel-reading" data-fk=${id} data-fallback=${`analyze|${row.key}`} aria-disabled=${cancelling ? 'true' : undefined} onClick=${press}>${cancelling ? 'cancelling' : 'Cancel'}</button>
      ${used}<${CueText} id=${id} /></p></div>`;
}

/** The control with everything that stands beside it. */
function Control({ board, row, primary }) {
  const [, again] = useState(null);
  const key = row.key;
  const reading = board.annotate ? object(board.payload.reading) : null;
  const route = routeOf(board, row);
  const job = jobOf(board, row);
  useJobSaid(key, job);
  useEffect(() => onDraft(() => again({})), []);
  const [refusal, refuse] = useState(null);
  const stage = stages.get(key) ?? 'idle';
  const move = (to) => {
    stages.set(key, to);
    again({});
  };
  useEffect(() => {
    if (job) stages.set(key, 'idle');
  }, [Boolean(job)]);
  const stored = storedOf(row);
  const goal = goalField(row);
  const adopting = goal.kind === 'prompt';
  const words = Boolean(stored.goal || stored.lines.length || adopting);
  const why = inert(board, row, { unsavedWords: unsaved(row), words, reading, route });
  const provider = str(route?.provider);
  const used = reading ? html`<span class="quiet-text" data-part="attempts">${num(reading.used) ?? 0} of ${num(reading.limit) ?? 12} attempts in the last 24 hours</span>` : null;
  // A refusal is shown for as long as its reason holds.
  const shown = refusal && refusal.why === why && refusal.provider === provider ? refusal.text : why;
  if (job) return html`<${Job} board=${board} row=${row} job=${job} used=${used} /><${Sends} row=${row} route=${route} open=${false} adopting=${false} />`;
  const noReader = board.annotate && reading && reading.reason !== 'run-disabled' && route && !provider;
  if (noReader) return html`<p data-absent="" class="absent"><${T} s=${str(route.note) || 'No reader for this harness was found on this machine.'} /></p>`;

  const given = object(reading?.providers)?.[provider] === true;
  const output = str(route?.tool_output);
  const outputGiven = !output || strings(object(reading?.tool_output)?.[provider]).includes(output);
  const send = async (allow) => {
    if ((stages.get(key) ?? 'idle') === 'starting') return;
    move('starting');
    const body = { harness: row.harness, sid: row.sid, provider, press: true, observer_model: 1 };
    if (allow) {
      body.allow = true;
      if (output) body.tool_output = output;
    }
    if (adopting && !stored.goal) body.adopt = { source: goal.offer.source, text: goal.offer.text, at: goal.offer.at };
    const { status, body: reply } = await startReading(body);
    const said = pressed(status, reply ?? {}, board.generated);
    const next = object(reply?.route);
    if (next && (status === 403 || status === 409)) turned.set(row.harness, { route: next, over: object(object(board.payload.reading_routes)?.[row.harness]) });
    if (said.started && object(reply.job)) begun.set(key, { job: reply.job, at: board.generated });
    move(said.confirm ? 'confirming' : 'idle');
    refuse(said.text ? { text: said.text, why: null, provider: next && status === 409 ? str(next.provider) : provider } : null);
    if (said.text) say(said.text);
    app.refresh();
  };
  const press = () => {
    if (stage !== 'idle') return;
    if (why) {
      refuse({ text: why, why, provider });
      say(why);
    } else if (given && outputGiven) send(false);
    else move('confirming');
  };
  const revoke = async () => {
    const { status } = await startReading({ consent: 'off', press: true, observer_model: 1 });
    const text = status === 200 ? 'Readings are turned off. Attempts already made still count.' : 'It could not be confirmed that readings are turned off.';
    setCue(`revoke|${key}`, status === 200 ? 'off' : 'failed', text);
    say(text);
    app.refresh();
  };
  const confirming = stage === 'confirming' && !why;
  return html`<div class="analyze part">
    <p class="intent-acts"><button type="button" class=${primary && !confirming && !why ? 'btn btn-primary' : 'btn btn-plain'} data-act="analyze" data-fk=${`analyze|${key}`} data-fallback=${`cancel|${key}`} aria-disabled=${why || stage !== 'idle' ? 'true' : undefined}
        aria-describedby=${shown ? 'analyze-why' : undefined} aria-expanded=${provider ? (confirming ? 'true' : 'false') : undefined} onClick=${press}>${stage === 'starting' ? 'Starting…' : 'Analyze drift'}</button>
      ${used}${given ? html`<button type="button" class="btn btn-quiet" data-act="revoke" data-fk=${`revoke|${key}`} data-fallback=${`analyze|${key}`} onClick=${revoke}>Turn off readings</button>` : null}<${CueText} id=${`revoke|${key}`} /></p>
    ${shown ? html`<p class="analyze-why" id="analyze-why">${shown}</p>` : null}
    ${provider && !confirming ? html`<${Sends} row=${row} route=${route} adopting=${adopting} />` : null}
    ${confirming ? html`<div class="confirm part" data-part="confirm"><${Said} route=${route} adopting=${adopting} output=${output} />
      <p class="banner-acts"><button type="button" class="btn btn-plain" data-act="allow" data-fk=${`allow|${key}`} data-fallback=${`analyze|${key}`} onClick=${() => send(true)}>Allow and analyze</button>
        <button type="button" class="btn btn-plain" data-act="not-now" data-fk=${`not-now|${key}`} data-fallback=${`analyze|${key}`} onClick=${() => move('idle')}>Not now</button></p></div>` : null}</div>`;
}

function Said({ route, adopting, output }) {
  return html`<p><${T} s=${str(route.disclosure) || 'Your goal, your outcome lines and a bounded list of entries from the record are sent to the named reader, which spends its own capacity.'} /></p>
    ${str(route.note) ? html`<p><${T} s=${route.note} /></p>` : null}
    ${output ? html`<p>For this session the commands of checks, their results and the last 180 characters they printed go to <${T} s=${output} /> too.</p>` : null}
    ${adopting ? html`<p>The prompt shown in the goal box is taken over as the goal, with its time, before the reading.</p>` : null}`;
}

const Sends = ({ row, route, adopting }) => (route && str(route.provider) ? html`<${Disclosure} id=${`sends|${row.key}`} summary=${html`what it reads and sends${str(route.label) ? html`, to <${T} s=${route.label} />${str(route.vendor) ? html` (<${T} s=${route.vendor} />)` : ''}` : ''}`}>
  <${Said} route=${route} adopting=${adopting} output=${str(route.tool_output)} /><//>` : null);

/** A reading: one answer, then one row for each line, never blended. */
function Reading({ row, view }) {
  return html`<section class="reading part" aria-label="Reading" data-part="reading"><h4 class="sub-h">Reading</h4>
    <p class=${`reading-answer reading-${view.answer.kind}`}>${view.answer.text}</p>
    <p class="quiet-text small">${[view.stamp, view.when, view.moved ? '' : `read revision ${view.revision}`].filter(Boolean).join(' · ')}</p>
    ${view.moved ? html`<p class="reading-stale">${view.moved}. Analyze again to read the current words.</p>` : null}
    ${view.newer ? html`<p class="reading-stale">${view.newer} Analyze again to include them.</p>` : null}
    ${[view.scope, view.cutoff].filter(Boolean).map((t) => html`<p class="quiet-text small"><${T} s=${t} /></p>`)}
    <ul class="part">${view.lines.map((l) => html`<li class="reading-line part" key=${l.key} data-constraint=${l.key}><p><span class="label">${l.name}</span> ${l.clause ? html`<${T} s=${l.clause} />` : html`<${Absent}>the words it read were not kept<//>`}</p>
      <p class=${`reading-answer reading-${l.kind}`}>${l.text}</p>${l.detail ? html`<p><${T} s=${l.detail} /> <span class="quiet-text small">(the model’s sentence)</span></p>` : null}
      ${l.why ? html`<p class="quiet-text small">${l.why}</p>` : null}
      ${l.cites.length ? html`<ul class="small" aria-label="Cited entries">${l.cites.map((c) => html`<li class="quiet-text small">${c.type ? html`<${T} s=${c.type} /> · ` : ''}${c.source ? html`<${T} s=${c.source} /> · ` : ''}<${T} s=${c.summary} /></li>`)}</ul>` : null}</li>`)}</ul>
    <${Note}>${CAVEAT}<//></section>`;
}

/** Directions given after the words: a question, never a finding. */
function Conflict({ row, list }) {
  const id = `settle|${row.key}`;
  const settle = async () => {
    const { status, body } = await annotate({ harness: row.harness, sid: row.sid, settle_through: list[0].at, expected_revision: revisionOf(row) });
    const done = status === 200 && (body.outcome === 'stored' || body.outcome === 'unchanged');
    const text = done ? 'Settled: your words still apply.' : status === null ? 'The result could not be confirmed.' : 'Not taken: the saved words moved on or could not be written.';
    setCue(id, done ? 'settled' : 'failed', text);
    say(text);
    app.refresh();
  };
  return html`<section class="part" aria-label="Conflict to settle" data-part="conflict"><h4 class="sub-h">Conflict to settle</h4>
    <p>You said this after the words above. Do they still apply?</p>
    <ul class="part">${list.map((s) => html`<li><${Age} since=${s.at} after=" ago" fixed=${true} /> <${T} s=${s.text} /></li>`)}</ul>
    <p class="intent-acts"><button type="button" class="btn btn-plain" data-act="settle" data-fk=${id} data-fallback=${`goal-box|${row.key}`} onClick=${settle}>still applies</button>
      <button type="button" class="btn btn-quiet" data-act="retype" data-fk=${`retype|${row.key}`} data-fallback=${`goal-box|${row.key}`} onClick=${() => document.querySelector('[data-field=goal]')?.focus()}>retype</button></p></section>`;
}

/** What stands beside each departure: the way back into the session. */
const Ways = ({ row, place }) => html`<span class="row-controls"><${Raise} row=${row} place=${place} kind="quiet" /><${CopyCommand} row=${row} place=${place} /></span>`;

function Departures({ board, row, view }) {
  const asked = readingDepartures(view);
  const away = awayDepartures(row);
  const missing = [row.resume ? null : 'no resume command exists for this session', row.focusable && canRaise ? null : 'no terminal of it is held'].filter(Boolean);
  const raises = num(row.raw.delivery_raises) ?? 0;
  const fate = (asker) => (raises > 0 && asker === 'away' ? str(row.raw.delivery_why) : asker === 'away' ? str(row.raw.delivery_none_why) || 'No delivery record exists.' : 'A reading you asked for raises nothing by itself; no delivery record exists.');
  const why = str(row.raw.departure_why);
  const tally = object(object(board.payload.deliveries)?.departure);
  const figure = (n, one, none) => (num(n) !== null && n >= 0 ? `${many(n, one)} for departures on this board` : none);
  return html`<section class="departures part" aria-label="Departures raised to you" data-part="departures"><h4 class="sub-h">DEPARTURES RAISED TO YOU</h4>
    ${board.unasked ? null : html`<p class="quiet-text small">Checks while you are away are off: nothing new is being checked.</p>`}
    <h5 class="label">From the reading you asked for</h5>
    ${asked.length ? html`<ul class="part">${asked.map((l) => html`<li class="reading-line part" key=${l.key} data-departure="reading"><p><span class="label">${l.name}</span> <${T} s=${l.clause} /></p>${l.detail ? html`<p class="reading-answer"><${T} s=${l.detail} /></p>` : null}
      <p class="quiet-text small">${view.moved ?? `read revision ${view.revision}`} · ${view.stamp || view.when}</p><${Ways} row=${row} place=${`dep-r-${l.key}`} /></li>`)}</ul><p class="quiet-text small">${fate('reading')}</p>`
      : html`<p><${Absent}>${view ? 'It states none.' : 'No reading has been made.'}<//></p>`}
    <h5 class="label">From the checks while you were away</h5>
    ${away.length ? html`<ul class="part">${away.map((d) => html`<li class="reading-line part" key=${d.id} data-departure="away"><p><span class="label">${d.name}</span> <${T} s=${d.clause} /></p>${d.text ? html`<p class="reading-answer"><${T} s=${d.text} /></p>` : null}
      <p class="quiet-text small">${d.at === null ? 'age unknown' : html`<${Age} since=${d.at} after=" ago" />`} · ${d.moved ?? `read revision ${d.revision}`}${d.cutoff === null ? '' : ` · evidence stops at ${clock(d.cutoff, board.generated)}`}</p>
      ${d.cutoffText ? html`<p class="quiet-text small"><${T} s=${d.cutoffText} /></p>` : null}<p class="quiet-text small"><${T} s=${d.after} /></p><${Ways} row=${row} place=${`dep-a-${d.id}`} /></li>`)}</ul><p class="quiet-text small"><${T} s=${fate('away')} /></p>`
      : html`<p><${Absent}>${why ? html`<${T} s=${why} />` : 'These checks raised nothing on record.'}<//></p>`}
    ${away.length && board.unasked && why ? html`<p class="quiet-text small"><${T} s=${why} /></p>` : null}
    ${asked.length + away.length && missing.length ? html`<p class="quiet-text small">Beside a departure: ${missing.join('; ')}.</p>` : null}
    <ul class="figures quiet-text small"><li>${many(asked.length, 'departure')} the reading raised</li><li>${row.raw.departure_checked === true || away.length ? `${many(away.length, 'departure')} the away checks raised` : 'Departures the away checks raised: not measured'}</li>
      <li>${raises > 0 ? `${many(raises, 'raise')} on record for this session` : 'No raise on record for this session'}</li>
      <li>${figure(tally?.raises, 'raise', 'Raises for departures: not published')}</li><li>${figure(tally?.attempted, 'attempt', 'Attempts: not published')}</li><li>${figure(tally?.handed_over, 'hand-over', 'Hand-overs: not published')}</li></ul></section>`;
}

/** The Drift half of the panel. */
export function Drift({ board, row, facts, primary }) {
  const later = board.annotate ? conflicts(row, facts) : [];
  const view = board.annotate ? readingView(row, facts, later.length > 0, board.generated) : null;
  const { raw } = row;
  const count = num(raw.annotation_reading_count) ?? 0;
  const withheld = str(raw.annotation_reading_withheld);
  const away = awayDepartures(row).length > 0;
  return html`<div class="drift part"><h3 class="sub-h">Drift</h3>
    ${readsWork(row.harness) ? null : html`<p class="note"><span>Cargento can't read work from this harness</span></p>`}
    <${Control} board=${board} row=${row} primary=${primary} />
    ${withheld ? html`<p class="reading-stale">The last press produced nothing: <${T} s=${withheld} /></p>` : null}
    ${raw.annotation_reading_refused === true ? html`<p class="reading-stale">A stored reading is in a form this version does not read; it is kept as it is.</p>` : null}
    <${Boundary} of=${row} what="The reading">${view ? html`<${Reading} row=${row} view=${view} />` : board.annotate ? html`<p><${Absent}>${count > 0 ? `${many(count, 'reading')} asked for, none readable.` : 'No reading has been made.'}<//></p>` : null}<//>
    ${later.length ? html`<${Conflict} row=${row} list=${later} />` : null}
    ${board.annotate && (board.unasked || view || away) ? html`<${Boundary} of=${row} what="The departures"><${Departures} board=${board} row=${row} view=${view} /><//>` : null}</div>`;
}
