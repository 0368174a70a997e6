// The standing briefing of a project: what it is assigned, what runs, what waits on the reader; then the latest evidence and
// direction. Typed words and derived ones stand side by side and are never merged; each line names its source.
import { Absent, Age, Label, T, Tool, html } from './part-base.js';
import { Dot } from './part-badge.js';
import { CopyCommand, Raise } from './part-cue.js';
import { Disclosure } from './part-disclosure.js';
import { Tree } from './part-tree.js';
import { agentsOf } from './layout.js';
import { ABSENT, many } from './format.js';
import { moment, objects, str } from './model.js';
import { atRisk, derivedGoals, directionOf, evidenceOf, openRequests, plansOf } from './project.js';
import { sessionHref } from './route.js';

const WORDS = 3;
const RUNNING = 3;
const LINES = 6;

/** A session's title as a link to its page. */
export const SessionLink = ({ row, place }) => html`<a class="row-link" href=${sessionHref(row)} data-fk=${`${place}|${row.key}`}>${row.title ? html`<${T} s=${row.title} />` : html`<${Absent}>Session title not published<//>`}</a>`;

const Ago = ({ at, word = '' }) => (at === null ? html`<span class="quiet-text">${word} at a time not published</span>` : html`<span class="quiet-text">${word} <${Age} since=${at} after=" ago" /></span>`);

function Item({ rows, body, board }) {
  const entities = plansOf(rows, objects(board.payload.tripwires?.sources), board.generated).flatMap((p) => p.entities.map((e) => ({ ...e, plan: p })));
  const item = entities.find((e) => e.live) ?? entities[0];
  if (item) {
    return html`<p class="brief-main clamp3"><${T} s=${item.slug} /> · <${T} s=${item.stage} />${item.late ? html` <span class="stage-late">${item.late}</span>` : null}</p>
      <p class="quiet-text">workflow <${T} s=${item.plan.workflow} />${item.plan.goal ? html` · <${T} s=${item.plan.goal} />` : null}; source: the workflow files its session names</p>`;
  }
  const said = directionOf(rows, body);
  if (!said) return html`<p><${Absent}>No workflow item and no exact direction published<//></p>`;
  return html`<p class="brief-main clamp3" title=${said.text}><${T} s=${said.text} /></p><p class="quiet-text">your direction, <${Ago} at=${said.at} />; source: <${T} s=${said.source} /></p>`;
}

function typedWords(rows) {
  const out = [];
  for (const row of rows) {
    if (str(row.raw.annotation_goal)) out.push({ row, label: 'YOUR WORDS · GOAL', text: row.raw.annotation_goal });
    for (let n = 1; n <= 6; n += 1) if (str(row.raw[`annotation_line_${n}`])) out.push({ row, label: `YOUR WORDS · EXPECTED OUTCOME ${n}`, text: row.raw[`annotation_line_${n}`] });
  }
  return out;
}

function Stated({ label, text, row, many: several, children }) {
  return html`<div><${Label}>${label}<//><p class="clamp3" title=${text}><${T} s=${text} /></p>${children}${several ? html`<p class="quiet-text clamp1">for <${T} s=${row.title || row.session} /></p>` : null}</div>`;
}

function whyNone(rows, record) {
  const why = objects(record.body?.sources?.observer?.unavailable).map((u) => str(u.reason)).find(Boolean);
  if (why) return why;
  if (record.state === 'loading') return 'No goal is known yet: the observed record is still being read.';
  if (record.state === 'absent') return 'No goal is available: nothing was typed, and this server publishes no observed record.';
  if (record.state === 'failed') return 'No goal is available: nothing was typed, and the observed record could not be read.';
  return rows.length ? 'No goal is available: nothing was typed and none was derived.' : 'No session in this scope.';
}

function Goals({ rows, record, board }) {
  const several = rows.length > 1;
  const typed = board.annotate ? typedWords(rows) : [];
  const derived = derivedGoals(rows, record.body);
  const line = (w, i, list) => html`<${Stated} key=${`${w.row.key}${w.label}`} label=${w.label} text=${w.text} row=${w.row} many=${several && list[i + 1]?.row !== w.row} />`;
  return html`${typed.slice(0, several ? WORDS : 7).map(line)}
    ${several && typed.length > WORDS ? html`<p class="quiet-text">and ${many(typed.length - WORDS, 'more typed line')} on the sessions' own pages</p>` : null}
    ${derived.slice(0, WORDS).map((g) => html`<${Stated} key=${`d${g.row.key}`} label="DERIVED FROM THE HARNESS" text=${g.text} row=${g.row} many=${several}><p class="quiet-text"><${T} s=${g.source} />; <${Ago} at=${g.at} word="observed" /></p><//>`)}
    ${board.annotate ? null : html`<p><${Absent}>Annotations off<//></p>`}
    ${typed.length || derived.length ? null : html`<p><${Absent}>${whyNone(rows, record)}<//></p>`}`;
}

function Running({ row }) {
  const root = { name: row.title || 'Session title not published', state: 'working', live: row.live, since: null, model: row.model, turn: row.turn.elapsed };
  const list = agentsOf(row.subagents);
  return html`<div class="brief-run"><${Tree} id=${`brief|${row.key}`} root=${root} list=${list.slice(0, LINES)} omitted=${row.subagents.omitted} />
    ${list.length > LINES ? html`<p class="quiet-text">+${list.length - LINES} more <a href=${sessionHref(row)}>on its page</a></p>` : null}</div>`;
}

function Children({ body }) {
  const list = objects(body?.child_assignments);
  if (!list.length) return null;
  return html`<ul class="brief-kids" aria-label="Assignments of its subagents">${list.map((c) => html`<li class="clamp3"><b><${T} s=${str(c.name) || 'subagent'} /></b> ${str(c.assignment) ? html`<${T} s=${c.assignment} />` : html`<${Absent}>assignment not available<//>`}
    <span class="quiet-text"> ${str(c.confidence) || 'confidence not published'}${moment(c.observed_at) === null ? '' : html`, <${Age} since=${c.observed_at} after=" ago" />`}</span></li>`)}</ul>`;
}

function Execution({ rows, body }) {
  const running = rows.filter((r) => r.working);
  if (!running.length) return html`<p><${Absent}>No working session observed<//></p><${Children} body=${body} />`;
  return html`${running.slice(0, RUNNING).map((row) => html`<${Running} key=${row.key} row=${row} />`)}
    ${running.length > RUNNING ? html`<p class="quiet-text">+${running.length - RUNNING} more working, under Now</p>` : null}<${Children} body=${body} />`;
}

function Followed({ rows, record }) {
  const asked = openRequests(record.body);
  const risk = rows.filter((r) => !r.blocked && atRisk(r)).slice(0, WORDS);
  if (!asked.length && !risk.length) return null;
  return html`<ul class="brief-kids" aria-label="To look at">${asked.map((a) => html`<li class="clamp3"><${T} s=${a.text} />${a.at === null ? null : html` <${Ago} at=${a.at} />`}</li>`)}
    ${risk.map((row) => html`<li key=${row.key}>inspect <${SessionLink} row=${row} place="risk" />: <span class="quiet-text">${row.outcome?.tone === 'bad' ? row.outcome.words : row.loop ? row.loop.text : 'a long turn'}</span></li>`)}</ul>`;
}

function Command({ rows, record }) {
  const waiting = rows.filter((r) => r.blocked).sort((a, b) => (a.waitSince ?? Infinity) - (b.waitSince ?? Infinity));
  const [row] = waiting;
  if (!row) return html`<p class="quiet-text">${rows.every((r) => r.blockKnown) ? 'No session here reports that it waits on you.' : `No reported wait; ${rows.filter((r) => r.blockKnown).length} of ${rows.length} sessions report block state.`}</p><${Followed} rows=${rows} record=${record} />`;
  return html`<p class="row-controls"><${Dot} state="needs_input" live=${false} /><span class="label row-need">WAITING ON YOU</span> ${row.waitSince === null ? html`<${Absent}>${ABSENT.wait}<//>` : html`<${Age} since=${row.waitSince} longAfter=${900} />`}</p>
    <p class="brief-main"><${SessionLink} row=${row} place="command" /></p>
    <p class="clamp3" title=${row.block.text}><${Tool} s=${row.block.text} /></p>
    ${row.unconfirmed ? html`<p class="note">No sign of it for 5 minutes; the prompt may still stand.</p>` : null}
    <p class="row-controls"><${Raise} row=${row} place="command" /><${CopyCommand} row=${row} place="command" />${row.questions.length ? html`<a href=${sessionHref(row)} data-fk="command|answer">answer on its page</a>` : null}</p>
    ${waiting.length > 1 ? html`<p><a href="#n=attention" data-fk="command|more">${waiting.length - 1} more waiting</a></p>` : null}
    <${Followed} rows=${rows} record=${record} />`;
}

function Latest({ name, what, none, id }) {
  return html`<div class="brief-last row-controls"><${Label}>${name}<//>${what ? html`<p class="clamp2" title=${what.text}>${what.label ? html`<span class="quiet-text"><${T} s=${what.label} />: </span>` : null}<${T} s=${what.text} /> <${Ago} at=${what.at} /></p>
    <${Disclosure} id=${id} summary="Source"><p><${T} s=${what.source} /></p><//>` : html`<p><${Absent}>${none}<//></p>`}</div>`;
}

/** The whole briefing. `rows` are the project's sessions, `focus` the one selected or null, `record` what `useContext` answers. */
export function Briefing({ project, rows, focus, record, board }) {
  const scope = focus ? [focus] : rows;
  const unread = { loading: ' (the observed record is still being read)', failed: ' (the observed record could not be read)', absent: ' (this server publishes no observed record)', read: '' }[record.state];
  return html`<section class="brief" aria-label="Briefing">
      <div class="brief-cell"><h2 class="label">ASSIGNMENT</h2><${Item} rows=${scope} body=${record.body} board=${board} /><${Goals} rows=${scope} record=${record} board=${board} /></div>
      <div class="brief-cell brief-exec"><h2 class="label">EXECUTION</h2><${Execution} rows=${scope} body=${record.body} /></div>
      <div class=${`brief-cell${rows.some((r) => r.blocked) ? ' row-wait' : ''}`}><h2 class="label">COMMAND</h2><${Command} rows=${rows} record=${record} /></div>
      <${Latest} name="LATEST EVIDENCE" id=${`evidence|${project}`} what=${evidenceOf(scope, record.body)} none=${`No evidence observed${unread}`} />
      <${Latest} name="DIRECTION" id=${`direction|${project}`} what=${directionOf(scope, record.body)} none=${`No direction published${unread}`} /></section>`;
}
