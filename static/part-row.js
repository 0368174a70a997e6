// One session on the board. Its model object is replaced only when something about it changed, so an unchanged row is not
// looked at again; the one main link is its title, and every control keeps its focus when the row moves.
import { Component } from './preact.js';
import { useState } from './hooks.js';
import { Absent, Age, Boundary, Glyph, Label, T, Tool, html } from './part-base.js';
import { Badge, Dot, Harness, LongTurn, Loop, Note, Outcome, Role } from './part-badge.js';
import { Spark, TaskBar, TurnBar } from './part-bars.js';
import { CopyCommand, CopyId, Raise } from './part-cue.js';
import { ABSENT, RATE_WHY, rate, many } from './format.js';
import { projectHref, sessionHref } from './route.js';
import { opened } from './app-context.js';

const PILLS = 6;
const LONG_WAIT = 900;

/** The caveat a label carries when several sessions publish it. */
export const SHARED_WHY = 'The label is the last two parts of a path; sharing it does not prove a shared directory.';

/** `4 sessions share this display label`, in short for the eye. */
export const Shared = ({ n }) => html`<span class="row-shared" title=${`${n} sessions share this display label. ${SHARED_WHY}`}><span aria-hidden="true">${n} share this label</span><span class="sr">${n} sessions share this display label. ${SHARED_WHY}</span></span>`;

/** The time that belongs to a row's state. */
function StateAge({ row }) {
  if (row.blocked) return row.waitSince === null ? html`<${Absent}>${ABSENT.wait}<//>` : html`<${Age} since=${row.waitSince} fixed=${row.needs} before=${row.needs ? '' : 'asked '} longAfter=${LONG_WAIT} />`;
  return row.working && row.turn.elapsed ? html`<span class="age age-fixed">${row.turn.elapsed}</span>` : null;
}

/** A recorded departure: a mark, never a count. */
export function Drift({ drift }) {
  return html`<span class="mark mark-drift">Drift · ${drift.at === null ? 'age unknown' : html`<${Age} since=${drift.at} />`}${drift.someUnknown ? ', another of unknown age' : ''}</span>`;
}

/** Title, or that none was published. */
export function Title({ row }) {
  return html`<a class="row-link" href=${sessionHref(row)} data-fk=${`link|${row.key}`} title=${row.title || undefined}>${row.title ? html`<${T} s=${row.title} />` : html`<${Absent}>${ABSENT.title}<//>`}</a>`;
}

function Where({ row }) {
  return html`<span class="row-where" data-fact="where">${row.project ? html`<a class="plain" href=${projectHref(row.project)} data-fk=${`where|${row.key}`}><${T} s=${row.project} /></a>` : html`<${Absent}>${ABSENT.location}<//>`}
    ${row.shared > 1 ? html`<${Shared} n=${row.shared} />` : null}</span>`;
}

const Sid = ({ row }) => html`<span class="row-sid"><span class="fig">${row.session}</span><${CopyId} row=${row} /></span>`;

/** What the harness itself said it is doing, or the fixed words for silence. */
export function Now({ row }) {
  const { now } = row;
  if (!now.known) return html`<${Absent}>${now.text}<//>`;
  if (now.word) return html`${now.text}, <${Age} since=${now.at} before=${`${now.word} `} after=" ago" />`;
  if (now.tail) return html`<${Age} since=${now.at} before=${`${now.text} `} after=" ago" />`;
  return html`<${Tool} s=${now.text} />`;
}

/** `asked, 4m: …`. */
export const Instruction = ({ line }) => html`<p class="row-line" title=${line.text}>${line.label === 'asked' ? html`<span class="sr">ASSIGNMENT </span>` : null}<span class="row-said">${line.label}${line.at === null ? '' : html`, <${Age} since=${line.at} />`}:</span> <${T} s=${line.text} /></p>`;

function Goal({ row }) {
  const { goal } = row;
  if (goal.kind === 'off') return html`<${Label}>GOAL<//><p class="row-value"><${Absent}>Annotations off<//></p>`;
  const own = goal.kind === 'typed' || goal.kind === 'adopted';
  return html`<${Label}>${goal.label}<//><p class="row-value clamp2" title=${goal.text}>${own ? html`<${T} s=${goal.text} />`
    : html`<a class=${goal.kind === 'add' ? 'quiet' : 'plain'} href=${sessionHref(row)} data-act="goal" data-fk=${`goal|${row.key}`} onClick=${() => opened.set('goal-focus', row.key)}><${T} s=${goal.text} /></a>`}</p>`;
}

function Blocked({ row }) {
  const { block } = row;
  if (block.kind !== 'waiting') return html`<p class="row-inline" data-fact="blocked"><${Label}>BLOCKED<//> <span class="quiet-text">${block.kind === 'none' ? block.text : html`<${Absent}>${block.text}<//>`}</span></p>`;
  return html`<div data-fact="blocked"><${Label}>BLOCKED · ${row.responsibility}<//>
    <p class="row-value row-need clamp3" title=${block.text}><span class="sr">Waiting on you: </span><${Tool} s=${block.text} /></p>
    ${row.unconfirmed ? html`<p class="note">No sign of it for 5 minutes; the prompt may still stand.</p>` : null}
    <p class="row-controls"><${Raise} row=${row} /><${CopyCommand} row=${row} /></p></div>`;
}

const Next = ({ row, inline }) => (inline
  ? html`<p class="row-inline" data-fact="next"><${Label}>NEXT<//> <span class="quiet-text clamp1" title=${row.next || ABSENT.next}>${row.next ? html`<${Tool} s=${row.next} />` : html`<${Absent}>${ABSENT.next}<//>`}</span></p>`
  : html`<div data-fact="next"><${Label}>NEXT<//><p class="row-value clamp2">${row.next ? html`<${Tool} s=${row.next} />` : html`<${Absent}>${ABSENT.next}<//>`}</p></div>`);

/** Subagents as pills, live first. */
export function Pills({ row, shown = PILLS }) {
  const { subagents } = row;
  if (!subagents.list.length) return null;
  const rest = subagents.list.length - shown;
  return html`<ul class="pills" aria-label=${subagents.heading}>
    ${subagents.liveFirst.slice(0, shown).map((s) => html`<li class=${s.live ? 'pill' : 'pill pill-gone'} title=${s.name}><${Dot} state=${s.live ? 'working' : 'stopped'} live=${s.live} /><${T} s=${s.name} />
      ${s.live ? s.startedAt === null ? null : html`<${Age} since=${s.startedAt} live=${row.live} />` : ' stopped'}${s.parent ? html`<span class="pill-by">· by <${T} s=${s.parent} /></span>` : null}</li>`)}
    ${rest > 0 ? html`<li class="pill-rest">+${rest} more</li>` : null}
    ${subagents.omitted > 0 ? html`<li class="pill-rest">+${subagents.omitted} older finished ${subagents.omitted === 1 ? 'worker' : 'workers'} omitted</li>` : null}</ul>`;
}

const TASK_WORD = { completed: ['✓', 'done'], in_progress: ['●', 'in progress'], pending: ['○', 'pending'] };

/** One line for each task. Codex plan steps carry no times and get none. */
export function TaskList({ row }) {
  return html`<ol class="tasks">${row.tasks.list.map((t) => {
    const [glyph, word] = TASK_WORD[t.status] ?? ['?', t.status];
    return html`<li class=${`task task-${t.status === 'in_progress' ? 'now' : t.status === 'completed' ? 'done' : 'open'}`}><${Glyph}>${glyph}<//><span class="quiet-text">${word}</span>
      <span class="task-what"><${Tool} s=${t.subject} /></span>
      ${row.harness === 'codex' ? null : html`<span class="fig quiet-text">${[t.age === '–' ? '' : t.age, t.updated ? `updated ${t.updated}` : ''].filter(Boolean).join(' · ')}</span>`}</li>`;
  })}</ol>
  ${row.harness !== 'codex' && row.tasks.eta ? html`<p class="note">est. remaining ${row.tasks.eta}</p>` : null}`;
}

/** The token rate, or that it is not reported. */
export const Rate = ({ row }) => (row.rate === null ? html`<${Absent}>${ABSENT.rate}<//>` : html`<span class="fig" title=${RATE_WHY}>${rate(row.rate)}</span>`);

/** How a row was read, when that limits what it can say. */
export const Reading = ({ row }) => html`${row.scanOnly ? html`<${Note}>Read by scanning: no turn end can be observed here<//>` : null}
  ${row.gaps.length ? html`<${Note}>Source not fully read: ${row.gaps.join(', ')}<//>` : null}`;

function Marks({ row }) {
  return html`${row.long ? html`<${LongTurn} />` : null}${row.loop ? html`<${Loop} loop=${row.loop} />` : null}${row.role ? html`<${Role} role=${row.role} />` : null}${row.drift ? html`<${Drift} drift=${row.drift} />` : null}`;
}

const tasksOpen = (row) => opened.get(`tasks|${row.key}`) === true;

/** `1 of 3 tasks`: opens one line for each. */
const TasksButton = ({ row, again }) => (row.tasks.total ? html`<button type="button" class="btn btn-quiet row-tasks-btn" data-act="tasks" data-fk=${`tasks|${row.key}`} data-fallback=${`link|${row.key}`} aria-expanded=${tasksOpen(row) ? 'true' : 'false'}
  onClick=${() => { opened.set(`tasks|${row.key}`, !tasksOpen(row)); again({}); }}><${TaskBar} tasks=${row.tasks} /><span>${row.tasks.done} of ${many(row.tasks.total, 'task')}</span></button>` : null);

const Tasks = ({ row }) => (tasksOpen(row) && row.tasks.list.length ? html`<div class="row-open"><${TaskList} row=${row} /></div>` : null);

function Active({ row, spark }) {
  const [, again] = useState(null);
  return html`<div class="row-left"><div class="row-who-cell">
      <p class="row-top"><${Badge} state=${row.state} live=${row.live} /><${StateAge} row=${row} />
        <span class="row-by"><${Harness} harness=${row.harness} label=${row.harnessLabel} />${row.authority ? html`<span class="row-model"><${T} s=${row.authority} /></span>` : null}</span></p>
      <h3 class="row-title"><span class="clamp2"><${Title} row=${row} /></span><${Marks} row=${row} /></h3>
      ${!row.title && row.lastPrompt ? html`<p class="row-line"><${Label}>LAST PROMPT<//> · <${T} s=${row.lastPrompt} /></p>` : null}
      <p class="row-meta"><${Where} row=${row} /><${Sid} row=${row} /></p>
      ${row.drift?.moved ? html`<p class="note">${row.drift.moved}</p>` : null}
      <${Reading} row=${row} />
      <${Pills} row=${row} />
    </div>
    <div class="row-goal" data-fact="goal"><${Goal} row=${row} /></div></div>
    <div class="row-right"><div class="row-now" data-fact="now"><${Label}>NOW<//><p class=${`row-value clamp2 ${row.blocked ? 'quiet-text' : 'row-doing'}`}><${Now} row=${row} /></p>
      ${row.working || row.needs ? html`<${TurnBar} turn=${row.turn} />` : null}
      ${row.line ? html`<${Instruction} line=${row.line} />` : null}</div>
    <div class="row-next">${row.blocked ? html`<${Blocked} row=${row} /><${Next} row=${row} inline=${true} />` : html`<${Next} row=${row} /><${Blocked} row=${row} />`}</div>
    <div class="row-fig"><p class="row-rate"><${Rate} row=${row} /></p><${Spark} path=${spark} />
      <${TasksButton} row=${row} again=${again} /></div></div><${Tasks} row=${row} />`;
}

function Past({ row }) {
  const [, again] = useState(null);
  return html`<div class="row-left"><div class="row-who-cell">
      <div class="row-past"><${Badge} state=${row.state} live=${false} /><h3 class="row-title"><span class="clamp2"><${Title} row=${row} /></span><${Marks} row=${row} /></h3></div>
      ${!row.title && row.lastPrompt ? html`<p class="row-line"><${Label}>LAST PROMPT<//> · <${T} s=${row.lastPrompt} /></p>` : null}
      <p class="row-meta"><span class="row-by"><${Harness} harness=${row.harness} label=${row.harnessLabel} />${row.authority ? html`<span class="row-model"><${T} s=${row.authority} /></span>` : null}</span>
        <${Where} row=${row} /></p>
      <${Reading} row=${row} />
    </div>
    <div class="row-goal" data-fact="goal"><${Goal} row=${row} /></div></div>
    <div class="row-right"><div class="row-now" data-fact="now"><p class="row-value clamp2"><${Now} row=${row} /></p>
      ${row.outcome ? html`<p class="row-inline"><${Outcome} outcome=${row.outcome} />${row.git && row.outcome.tone === 'bad' ? html` <span class="quiet-text">${row.git}</span>` : null}</p>` : null}
      ${row.line ? html`<${Instruction} line=${row.line} />` : null}</div>
    <div class="row-fig"><${Label}>${row.ended ? 'ENDED' : row.quiet ? 'QUIET' : 'NO STATE'}<//><${Sid} row=${row} />
      ${row.subagents.list.length ? html`<span class="quiet-text">${many(row.subagents.list.length, 'agent')}</span>` : null}<${TasksButton} row=${row} again=${again} /></div></div><${Tasks} row=${row} />`;
}

/** A row of a group. `kind` is `active` or `history`. It is drawn again only for another row object. */
export class Row extends Component {
  shouldComponentUpdate(next) {
    const now = this.props;
    return next.row !== now.row || next.kind !== now.kind || next.spark !== now.spark;
  }

  render({ row, kind, spark }) {
    return html`<article class=${`row row-${kind}${row.blocked ? ' row-wait' : ''}`} data-row=${row.key} data-state=${row.state}>
      <${Boundary} of=${row} what="This session">${kind === 'active' ? html`<${Active} row=${row} spark=${spark} />` : html`<${Past} row=${row} />`}<//></article>`;
  }
}
