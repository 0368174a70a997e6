// Course and Decisions: how the project moved, as far as it was observed. Nothing here approves or changes anything.
import { useState } from './hooks.js';
import { Absent, Age, Boundary, T, Tool, html } from './part-base.js';
import { Mono } from './part-badge.js';
import { TaskBar } from './part-bars.js';
import { More } from './part-disclosure.js';
import { StateStrip } from './part-strip.js';
import { Conditions } from './part-trip.js';
import { MODES, changesOf, filtered, lanesOf, windowOf } from './flow.js';
import { book } from './ledger.js';
import { completed, conditionsOf, decisionsOf, members } from './project.js';
import { clock, many, observed } from './format.js';
import { moment, objects, str } from './model.js';
import { KEYS, choice, readJson, write } from './keep.js';
import { opened } from './app-context.js';

const LANES = 8;
const CHANGES = 20;
const KEPT = 200;

const isModes = (v) => v !== null && typeof v === 'object' && !Array.isArray(v) && Object.values(v).every((m) => MODES.includes(m));

/** The filter of a session; a whole project's is this tab's alone. */
export function modeOf(project, session) {
  if (session) return readJson(KEYS.graph, isModes)?.[session] ?? 'active';
  return opened.get(`mode|${project}`) ?? 'active';
}

function pickMode(project, session, mode) {
  if (!session) return opened.set(`mode|${project}`, mode);
  const map = readJson(KEYS.graph, isModes) ?? {};
  delete map[session];
  const kept = [...Object.entries(map).slice(1 - KEPT), [session, mode]];
  return write(KEYS.graph, JSON.stringify(Object.fromEntries(kept)));
}

/** Which sessions a scope means: the one in focus, else everything that stands or stood under the label. */
export function ownsOf(project, rows, focus) {
  if (focus) return (key) => key === focus.key;
  const keys = new Set(rows.map((r) => r.key));
  return (key, label) => keys.has(key) || label === project;
}

/** What the timeline shows under `mode`: `{owns, mode, changes, shown, window}`. */
export function courseOf(project, rows, focus, mode) {
  const owns = ownsOf(project, rows, focus);
  const changes = changesOf(book, owns);
  return { owns, mode, changes, shown: mode === 'decisions' ? [] : filtered(changes, mode), window: windowOf(book, owns) };
}

function Change({ change, board }) {
  const row = board.byKey.get(change.key);
  return html`<li class="change"><span class="fig quiet-text">${clock(change.at, board.generated)}</span><i class=${change.yours ? 'node node-you' : 'node'} aria-hidden="true"></i><span class="sr">${change.turn ? 'your turn: ' : change.yours ? 'with you: ' : 'without you: '}</span>
    <span><b><${Tool} s=${change.words} /></b> <span class="quiet-text"><${T} s=${row ? row.title || row.session : change.key.slice(change.key.indexOf(':') + 1)} /></span></span><span><${Mono} harness=${change.harness} /><span class="sr">${row?.harnessLabel ?? change.harness}</span></span></li>`;
}

function Timeline({ project, rows, focus, board, course, record }) {
  const [, again] = useState(null);
  const [shut, fold] = useState(choice(KEYS.collapsed, ['1', '0'], '0') === '1');
  const session = focus?.key ?? null;
  const { mode, changes, shown, window } = course;
  const pick = (value) => {
    pickMode(project, session, value);
    again({});
    course.redraw();
  };
  const toggle = (event) => {
    const closed = !event.currentTarget.open;
    if (closed === shut) return;
    write(KEYS.collapsed, closed ? '1' : '0');
    fold(closed);
  };
  const scope = focus ? [focus] : members(rows);
  const from = window === null ? null : Math.max(window.from, window.to - 86_400);
  const lanes = window === null ? [] : lanesOf(book, scope, course.owns).filter((l) => l.blocks.some((b) => b.to >= from));
  const caption = window === null ? 'Observed since this tab opened' : `Observed ${observed(window.to - window.from)}${book.history === null ? ', in this tab; no history is kept in this run' : ''}`;
  const drawn = lanes.length ? `. ${from > window.from ? 'The newest 24 hours are drawn. ' : ''}${lanes.length > LANES ? `${LANES} of ${lanes.length} sessions are drawn. ` : ''}A dotted line was not observed; triangles are your turns.` : '';
  return html`<section class="group" data-group="changes"><details class="fold" open=${!shut} onToggle=${toggle}><summary class="group-bar fold-bar" data-fk="fold|changes"><h2 class="group-h">OBSERVED STATE CHANGES <span class="fig">(${shown.length})</span></h2></summary>
    <div class="change-bar"><p class="lead">${caption}${drawn}</p><span class="row-controls" role="group" aria-label="Show">${MODES.map((m) => html`<button type="button" class="btn btn-quiet" data-act="mode" data-fk=${`mode|${m}`} aria-pressed=${m === mode ? 'true' : 'false'} onClick=${() => pick(m)}>${m}</button>`)}</span></div>
    ${lanes.length ? html`<${StateStrip} lanes=${lanes.slice(0, LANES)} from=${from} to=${window.to} caption=${html`<span class="sr">States over the time observed</span>`} />` : null}
    ${mode === 'decisions' ? html`<${DecisionList} record=${record} project=${project} board=${board} />`
    : shown.length ? html`<ol class="changes"><${More} id=${`changes|${project}|${session ?? ''}`} items=${shown} shown=${CHANGES} draw=${(c) => html`<${Change} key=${`${c.key}${c.at}${c.kind}`} change=${c} board=${board} />`} /></ol>`
    : html`<p class="note" data-absent="">${window === null ? 'A first look is where things stood, not a change; the next ones are told against it.' : changes.length ? `None that this filter shows; ${many(changes.length, 'change')} under all.` : 'No change of state was observed in this window.'}</p>`}</details></section>`;
}

const EVENT = {
  operator_direction: 'your direction', observed_goal: 'goal observed', goal_shift: 'goal changed', assignment: 'assignment', stage_transition: 'stage', progress_head: 'progress', gate_decision: 'decision',
  result: 'result', checkpoint: 'checkpoint', final_output: 'final answer',
};

/** Words for a record that is not there to be shown, or null when it was read. */
export function missing(record, what) {
  if (record.state === 'loading') return `${what} not loaded yet.`;
  if (record.state === 'absent') return `${what} not published: this server keeps no observed record.`;
  return record.state === 'failed' ? `${what} could not be read.` : null;
}

const Stale = ({ record }) => (record.stale ? html`<p class="note">The last refresh of the observed record failed; this is an older answer.</p>` : null);

function Semantic({ record, project, board }) {
  const none = missing(record, 'Semantic history');
  const history = record.body?.semantic?.history;
  const list = objects(history?.events).filter((e) => str(e.summary)).sort((a, b) => (moment(b.at) ?? 0) - (moment(a.at) ?? 0));
  const line = (e) => html`<li class="change" key=${str(e.event_id)}><span class="fig quiet-text">${clock(moment(e.at), board.generated) ?? html`<${Absent}>no time<//>`}</span><i class=${e.event_type === 'operator_direction' ? 'node node-you' : 'node'} aria-hidden="true"></i>
    <span><span class="quiet-text">${EVENT[e.event_type] ?? str(e.event_type)}</span> <${T} s=${e.summary} /></span><span><${Mono} harness=${str(e.source_identity).split(':')[0]} /></span></li>`;
  return html`<section class="group" data-group="semantic"><div class="group-bar"><h2 class="group-h" tabindex="-1">SEMANTIC HISTORY ${none ? null : html`<span class="fig">(${list.length})</span>`}</h2></div><${Stale} record=${record} />
    ${none ? html`<p class="note" data-absent="">${none}</p>` : list.length ? html`<ol class="changes"><${More} id=${`semantic|${project}`} items=${list} shown=${CHANGES} draw=${line} /></ol>` : html`<p class="note" data-absent="">Nothing was recorded in the last 24 hours.</p>`}
    ${history?.persisted === false ? html`<p class="note">The newest of it could not be saved.</p>` : null}</section>`;
}

function Tasks({ rows, project }) {
  const done = completed(rows);
  const tracked = rows.filter((r) => r.tasks.total > 0);
  const sum = { list: [], total: tracked.reduce((n, r) => n + r.tasks.total, 0), done: tracked.reduce((n, r) => n + r.tasks.done, 0) };
  return html`<section class="group" data-group="completed"><div class="group-bar"><h2 class="group-h" tabindex="-1">COMPLETED TASKS · ${done.length}</h2>${sum.total ? html`<p class="proj-tasks"><${TaskBar} tasks=${sum} />${sum.done} of ${many(sum.total, 'task')}</p>` : null}</div>
    ${done.length ? html`<ol class="ends"><${More} id=${`done|${project}`} items=${done} shown=${CHANGES} draw=${({ task, row }, i) => html`<li class="end" key=${`${row.key}${i}`}><span class="outcome-ok"><span class="glyph" aria-hidden="true">✓</span><span class="sr">done: </span></span><${Tool} s=${task.subject} /> <span class="quiet-text"><${T} s=${row.title || row.session} />${row.harness !== 'codex' && task.updated ? `, updated ${task.updated}` : ''}</span></li>`} /></ol>`
    : html`<p class="note" data-absent="">${sum.total ? 'No task here is completed yet.' : 'No session here tracks tasks.'}</p>`}</section>`;
}

export function Course(props) {
  const { project, rows, focus, board, record } = props;
  const scope = focus ? [focus] : rows;
  return html`<${Boundary} of=${props.course} what="The timeline"><${Timeline} key=${focus?.key ?? ''} ...${props} /><//>
    <${Boundary} of=${record.body} what="The semantic history"><${Semantic} record=${record} project=${project} board=${board} /><//>
    <${Tasks} rows=${scope} project=${project} />
    <${Conditions} conditions=${conditionsOf(board.payload, new Set(scope.map((r) => r.key)))} board=${board} place="course" />`;
}

function DecisionList({ record, project, board }) {
  const none = missing(record, 'Decisions');
  if (none) return html`<p class="note" data-absent="">${none}</p>`;
  const { list } = decisionsOf(record.body);
  if (!list.length) return html`<p class="note" data-absent="">No decisions observed.</p>`;
  // A summary that opens with the decision's own word goes on after it.
  const rest = (d) => (d.what.startsWith(d.text) ? d.what.slice(d.text.length).trim() : d.what);
  return html`<ol class="lines"><${More} id=${`decisions|${project}`} items=${list} shown=${CHANGES} draw=${(d, i) => html`<li key=${d.id || i}><span class="fig quiet-text">${clock(d.at, board.generated) ?? html`<${Absent}>no time<//>`}</span><i class="node node-you" aria-hidden="true"></i>
    <span><b><${T} s=${d.text} /></b> <${T} s=${rest(d)} /></span><span class="quiet-text">${d.by ? html`by <${T} s=${d.by} />, ` : null}${d.stage ? html`at <${T} s=${d.stage} />` : 'stage not published'}${d.target ? html` to <${T} s=${d.target} />` : null}${d.at === null ? '' : html`, <${Age} since=${d.at} after=" ago" />`}</span>
    <span class=${`mark mark-${d.kind === 'pending' ? 'drift' : 'plain'}`}><${T} s=${d.state} /></span></li>`} /></ol>`;
}

export function Decisions({ record, project, board }) {
  const { list, sum } = decisionsOf(record.body);
  return html`<section class="group" data-group="decisions"><div class="group-bar"><h2 class="group-h" tabindex="-1">RECORDED DECISIONS ${record.state === 'read' ? html`<span class="fig">(${list.length})</span>` : null}</h2>${record.state === 'read' ? html`<p class="note">pending ${sum.pending} · unknown ${sum.unknown} · superseded ${sum.superseded} · consumed/applied ${sum.applied}</p>` : null}</div><${Stale} record=${record} />
    <${DecisionList} record=${record} project=${project} board=${board} /></section>`;
}

