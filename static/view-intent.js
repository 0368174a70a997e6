// The Intent log. Typed words come from a route of their own, read when the log opens and when the board says that they
// changed; words that may have been withdrawn leave the screen before the newer ones are asked for. It derives nothing.
import { useEffect, useMemo, useState } from './hooks.js';
import { Absent, Age, Boundary, Label, T, html } from './part-base.js';
import { Harness, Note } from './part-badge.js';
import { More } from './part-disclosure.js';
import { BOUNDS, entriesOf, leadOf } from './intent-log.js';
import { get } from './actions.js';
import { ABSENT } from './format.js';
import { sessionHref } from './route.js';

const TIMEOUT = 20_000;
const RETRY = 20_000;
const PIECE = 120;

// What was loaded, and against which revision of the words; lives as long as the tab.
const log = { token: undefined, records: null, notice: null, why: null, asked: 0, serial: 0 };

/** Loads for `token`, unless that is what is shown or what was just tried. `told` hears when something changed. */
async function load(token, told, opening) {
  const now = performance.now();
  const same = log.token === token;
  if (same && !opening && (log.records || log.why === null || now - log.asked < RETRY)) return;
  if (!same) Object.assign(log, { token, records: null, notice: null });
  log.why = null;
  log.asked = now;
  const mine = (log.serial += 1);
  told();
  const { status, body } = await get('/api/annotations', TIMEOUT);
  if (mine !== log.serial) return;
  if (status === 200 && Array.isArray(body.annotations)) Object.assign(log, { records: body.annotations, notice: typeof body.notice === 'string' ? body.notice : null, why: null });
  else log.why = status === null ? 'no answer came' : status === 503 ? 'typed words are off or their store is not available' : `the server answered ${status}`;
  if (log.why) log.records = null;
  told();
}

function useRecords(board) {
  const [, hear] = useState(null);
  const [opening, opened] = useState(true);
  const token = board?.annotate ? board.payload.intent_revision ?? '' : null;
  useEffect(() => {
    if (token === null) return;
    load(token, () => hear({}), opening);
    opened(false);
  }, [token, board?.payload]);
  if (token === null) return { records: null, why: 'Annotations are off for this run: typed words are withheld.' };
  if (log.token !== token || (!log.records && !log.why)) return { records: null, why: 'Reading the typed words…', loading: true };
  return { records: log.records, notice: log.notice, why: log.why ? `The typed words could not be read: ${log.why}.` : null };
}

const Line = ({ label, children }) => html`<p class="item-line"><${Label}>${label}<//> ${children}</p>`;

function Words({ words }) {
  return html`<${Line} label=${words.adopted ? 'GOAL · FROM YOUR PROMPT' : 'GOAL'}>${words.goal ? html`<${T} s=${words.goal} />` : html`<${Absent}>No goal typed<//>`}<//>
    ${words.lines.length ? words.lines.map((t, i) => html`<${Line} key=${i} label=${`OUTCOME ${i + 1}`}><${T} s=${t} /><//>`) : html`<${Line} label="OUTCOME"><${Absent}>No outcome line typed<//><//>`}`;
}

function Standing({ entry }) {
  const { words } = entry;
  return html`<div class="item-ask">${words ? html`<p>${words.revision ?? 'revision not recorded'}${words.at === null ? '' : html` · <${Age} since=${words.at} before=${words.adopted ? 'saved ' : 'typed '} after=" ago" />`}${words.dropped ? ' · older revisions dropped' : ''}</p><p>${html`<${T} s=${words.reading} />`}</p>` : null}
    ${entry.discarded ? html`<p><${Absent}><${T} s=${entry.discarded.text} /><//></p>${entry.discarded.at === null ? null : html`<p><${Age} since=${entry.discarded.at} before="discarded " after=" ago" /></p>`}` : null}
    ${entry.departures.map((d, i) => html`<p key=${i} class="mark-amber">Departure raised: <b>${d.name}</b> <${T} s=${d.text} />${d.at === null ? '' : html` · <${Age} since=${d.at} after=" ago" />`}${d.moved ? ` · ${d.moved}` : ''}</p>`)}
    ${words?.binding ? html`<${Note}><${T} s=${words.binding} /><//>` : null}</div>`;
}

function Entry({ entry, board, withheld }) {
  const { row } = entry;
  const name = row ? row.title ? html`<${T} s=${row.title} />` : html`<${Absent}>${ABSENT.title}<//>` : html`<span class="fig"><${T} s=${entry.sid} /></span>`;
  return html`<li class="item log-item" data-row=${entry.key} data-state=${row?.state} data-entry=${entry.discarded ? 'discarded' : entry.words ? 'typed' : 'board'}>
    <div class="item-main"><h2 class="row-title">${row ? html`<a class="row-link" href=${sessionHref(row)} data-fk=${`intent|${entry.key}`}>${name}</a>` : name}</h2>
      <p class="item-src"><${Harness} harness=${entry.harness} label=${row?.harnessLabel ?? board.byHarness.get(entry.harness)?.label ?? entry.harness} />${row ? html`<span class="fig"><${T} s=${row.session} /></span>` : null}</p>
      ${row ? null : html`<p><${Absent}>It is not on the board now.<//></p>`}</div>
    <div class="item-body log-body"><div class="item-ask">${entry.words ? html`<${Words} words=${entry.words} />` : entry.discarded ? null : withheld ? html`<p><${Absent}>Typed words withheld<//></p>` : html`<p><${Absent}>Nothing typed<//></p>`}
        ${entry.cached ? html`<${Line} label="DERIVED GOAL"><${T} s=${entry.cached.goal} /> <span class="quiet-text">currentness has not been checked · ${entry.cached.at === null ? 'its observation time is unknown' : html`<${Age} since=${entry.cached.at} before="observed " after=" ago" />`}</span><//>` : null}
        ${entry.workflows.map((w, i) => html`<${Line} key=${i} label="WORKFLOW GOAL"><${T} s=${w.goal} />${w.name ? html` <span class="quiet-text"><${T} s=${w.name} /></span>` : ''}<//>`)}</div>
      <${Standing} entry=${entry} /></div></li>`;
}

export default function View({ state }) {
  const { board } = state;
  const loaded = useRecords(board);
  const made = useMemo(() => (board ? entriesOf(board, loaded.records) : null), [board?.payload, loaded.records]);
  if (!board) return html`<h1 class="h1" tabindex="-1">Intent log</h1><p class="empty-lead" role="status">The first payload has not arrived yet.</p>`;
  return html`<div class="view-head"><h1 class="h1" tabindex="-1">Intent log</h1><div class="summary">${loaded.records ? html`<p>${leadOf(made.typed, made.discarded)}</p>` : html`<p aria-busy=${loaded.loading ? 'true' : undefined}><${Absent}>${loaded.why}<//></p>`}
      ${loaded.notice ? html`<p class="mark-amber"><${T} s=${loaded.notice} /></p>` : null}<p class="quiet-text">${BOUNDS}</p></div></div>
    ${made.list.length ? html`<ol class="items log"><${More} list=${true} id="intent" items=${made.list} shown=${PIECE} draw=${(entry) => html`<${Boundary} key=${entry.key} of=${entry} what="An entry"><${Entry} entry=${entry} board=${board} withheld=${!loaded.records} /><//>`} /></ol>`
      : html`<p class="empty-lead" data-absent="">No session is on the board${loaded.records ? ', and no typed word is kept. A goal typed on a session’s page stands here' : ''}.</p>`}`;
}
