// What a session does and did, as far as its harness published it: the right half of its page.
import { Absent, Age, Boundary, Label, T, Tool, html } from './part-base.js';
import { Dot, Note, Outcome, Role } from './part-badge.js';
import { TaskBar, TurnBar } from './part-bars.js';
import { Disclosure, More } from './part-disclosure.js';
import { Instruction, Now, Reading, SHARED_WHY, TaskList } from './part-row.js';
import { StageStrip, StateGlance, StateStrip } from './part-strip.js';
import { Tree } from './part-tree.js';
import { canRaise } from './actions.js';
import { sentence } from './degrades.js';
import { ABSENT, num, observed, rate, repeatsTitle, tokenLine } from './format.js';
import { agentsOf } from './layout.js';
import { statesSeen } from './ledger.js';
import { STATE_WORD, moment, objects, str } from './model.js';
import { projectHref } from './route.js';
import { claimOf, endOf, gitLimit, recordLimit, reportsOf, sharesOf, statesOf } from './session-facts.js';

/** One labelled fact. */
const Fact = ({ label, name, children }) => html`<div class="kv"><dt class="label">${label}</dt><dd data-fact=${name}>${children}</dd></div>`;

/** A part of the column under its own heading. */
const Part = ({ name, title, of, children }) => html`<section class="part" data-part=${name} aria-label=${title}><h3 class="sub-h">${title}</h3><${Boundary} of=${of} what=${title}>${children}<//></section>`;

/** The session's own agent as the root of its tree. */
export const rootOf = (row) => ({
  id: 'root', name: row.title || row.session, state: row.ended ? 'stopped' : row.needs ? 'waiting' : row.working ? 'working' : row.quiet ? 'idle' : 'unknown', live: row.live,
  model: str(row.raw.model) || null, since: null, turn: row.working && row.turn.elapsed ? `turn ${row.turn.elapsed}` : null, parent: null,
});

function Current({ row, agents, states }) {
  return html`<${Part} name="current" title="CURRENT ACTIVITY" of=${row}><p class="now-line row-doing"><${Dot} state=${row.state} live=${row.live} /><b>${STATE_WORD[row.state]}</b> · <span data-fact="now"><${Now} row=${row} /></span></p>
    ${row.instruction && !repeatsTitle(row.title, row.instruction.text) ? html`<${Instruction} line=${row.instruction} />` : null}
    ${states ? html`<${StateGlance} made=${states} words=${sharesOf(states)} />` : null}
    ${agents ?? html`${row.subagents.list.length || row.subagents.omitted ? html`<div class="agents"><${Tree} id=${row.key} root=${rootOf(row)} list=${agentsOf(row.subagents)} omitted=${row.subagents.omitted} head=${row.subagents.heading ? html`<p class="label">${row.subagents.heading}</p>` : null} /></div>` : html`<p><${Absent}>No subagent observed<//></p>`}`}<//>`;
}

function Blocked({ row }) {
  if (row.block.kind !== 'waiting') return row.block.kind === 'none' ? row.block.text : html`<${Absent}>${row.block.text}<//>`;
  return html`<span class="row-need">Waiting on you: <${Tool} s=${row.block.text} /></span>${row.unconfirmed ? html` <span class="quiet-text">No sign of it for 5 minutes; the prompt may still stand.</span>` : null}`;
}

function Facts({ row }) {
  return html`<dl class="part">
    <${Fact} label="NEXT STEP" name="next">${row.next ? html`<${Tool} s=${row.next} />` : html`<${Absent}>${ABSENT.next}<//>`}<//>
    <${Fact} label="TURN" name="turn">${row.turn.elapsed ? html`<${TurnBar} turn=${row.turn} />` : html`<${Absent}>${row.turn.why}<//>`}<//>
    <${Fact} label="BLOCKED" name="blocked"><${Blocked} row=${row} /><//>
    <${Fact} label="OUTCOME" name="outcome">${row.outcome ? html`<${Outcome} outcome=${row.outcome} />` : html`<${Absent}>${ABSENT.end}<//>`}<//>
    <${Fact} label="GIT STATE" name="git">${row.git ?? html`<${Absent}>${ABSENT.git}<//>`}<//>
    <${Fact} label="PROJECT" name="where">${row.project ? html`<a href=${projectHref(row.project)} data-fk=${`project|${row.key}`}><${T} s=${row.project} /></a>` : html`<${Absent}>${ABSENT.location}<//>`}
      ${row.shared > 1 ? html` <span class="quiet-text">${row.shared} sessions share this display label. ${SHARED_WHY}</span>` : null}<//>
    <${Fact} label="MODEL" name="model">${row.authority ? html`<${T} s=${row.authority} />` : html`<${Absent}>Model not published<//>`}<//></dl>`;
}

function Coverage({ row, harness }) {
  const degrades = objects(row.raw.degrades).map((d) => sentence(d, row.harnessLabel)).filter(Boolean);
  const how = row.raw.acquisition === 'event' ? 'Its state was corrected by events its harness sent.' : row.scanOnly ? null : 'Its state was read from the harness’s own files.';
  return html`${how ? html`<p class="quiet-text">${how}</p>` : null}<${Reading} row=${row} />
    ${degrades.map((words) => html`<${Note}><${T} s=${words} /><//>`)}
    ${harness?.error ? html`<${Note}>${harness.label} read error: <${T} s=${harness.error} /><//>` : null}`;
}

function Assignment({ row, harness }) {
  const said = row.instruction;
  const prompt = row.lastPrompt && !repeatsTitle(row.lastPrompt, said?.text ?? '') && !repeatsTitle(row.title, row.lastPrompt) ? row.lastPrompt : '';
  return html`<${Part} name="assignment" title="ASSIGNMENT" of=${row}>
    ${said ? html`<p><span class="row-said">${said.label}${said.at === null ? '' : html`, <${Age} since=${said.at} />`}:</span> <${T} s=${said.text} /></p>` : null}
    ${prompt ? html`<p><${Label}>LAST PROMPT<//> · <${T} s=${prompt} /></p>` : null}
    ${said || prompt ? null : html`<p><${Absent}>${row.title ? 'No request beyond the title published' : 'No request published'}<//></p>`}
    <${Coverage} row=${row} harness=${harness} /><//>`;
}

function Health({ row }) {
  if (!row.long && !row.loop && !row.role) return null;
  return html`<div class="health part">${row.long ? html`<p class="mark-amber"><b>⚠ LONG TURN</b> This request runs, or is estimated to run, 15 minutes or more.</p>` : null}
    ${row.loop ? html`<p class="mark-clay"><b>↻ FAILED TOOL LOOP</b> ${row.loop.text}</p>` : null}
    ${row.role ? html`<p><${Role} role=${row.role} /></p>` : null}</div>`;
}

function Tokens({ row }) {
  const line = tokenLine(row.working, row.raw.turn_output_tokens, row.raw.session_output_tokens);
  return html`<dl class="part" data-part="tokens">${row.tasks.total ? null : html`<${Fact} label="TASKS"><${Absent}>No task list published<//><//>`}
    <${Fact} label="TOKENS">${line ? html`<span class="fig">${line.split(' ')[0]}</span>${line.slice(line.indexOf(' '))}` : html`<${Absent}>Output tokens not measured<//>`} · ${row.rate === null ? html`<${Absent}>${ABSENT.rate}<//>` : html`<span class="fig">${rate(row.rate)}</span>`}${str(row.raw.consumption) ? html` · <span class="fig"><${T} s=${row.raw.consumption} /></span>` : null}<//></dl>`;
}

function Reports({ row, enabled }) {
  const r = reportsOf(row, enabled);
  return html`<${Part} name="reports" title="COMMAND-SHAPE REPORTS" of=${row}>${r.list ? html`<ul class="reports">${r.list.map((x) => html`<li>Command shape reported: <b><${T} s=${x.label} /></b> · <${T} s=${x.tool} /> · ${x.iso ? html`<time class="age">${x.iso}</time>` : html`<${Absent}>time not published<//>`}</li>`)}</ul>` : html`<p><${Absent}>${r.why}<//></p>`}
    ${r.limits ? html`<${Disclosure} id=${`report-limits|${row.key}`} summary="what a report does not say"><p>${r.limits}</p><//>` : null}<//>`;
}

function Notifications({ row }) {
  const { raw } = row;
  const n = num(raw.delivery_raises) ?? 0;
  if (n < 1) return null;
  const lines = [raw.delivery_why, raw.delivery_mixed === true ? raw.delivery_mixed_why : '', raw.delivery_binding_why, raw.browser_lane_why].map(str).filter(Boolean);
  return html`<${Part} name="notifications" title="NOTIFICATIONS" of=${row}><p>${n === 1 ? 'One notification was raised:' : `${n} notifications were raised. The most recent:`}${moment(raw.delivery_at) === null ? null : html` <${Age} since=${raw.delivery_at} after=" ago" />`}</p>${lines.map((t) => html`<p><${T} s=${t} /></p>`)}<//>`;
}

/** What the ways back into a session can and cannot do here. */
function Reentry({ row }) {
  const lines = [row.resume ? 'The copied command opens the session again in a terminal of yours; it does not join one that runs.' : `No resume command is offered: ${['claude', 'codex'].includes(row.harness) ? 'this session published no id its CLI accepts' : `${row.harnessLabel} has none Cargento knows`}.`,
    row.focusable ? canRaise ? 'Raising shows a terminal window; it types nothing.' : 'Raising terminals is off for this run, or the page is older than the server.' : 'No terminal of this session is held, so none can be raised.'];
  return html`<${Disclosure} id=${`reentry|${row.key}`} summary="ways back into this session">${lines.map((t) => html`<p>${t}</p>`)}<//>`;
}

function Landed({ row, facts }) {
  const claim = claimOf(facts);
  return html`<${Part} name="landed" title="HOW IT LANDED" of=${row}><dl class="part"><${Fact} label="WHAT ENDED" name="ended">${endOf(row)}${row.endedAt ?? row.finishedAt ? html` <${Age} since=${row.endedAt ?? row.finishedAt} after=" ago" />` : null}<//>
    <${Fact} label="WHO CLAIMS IT" name="claim">${claim.known ? claim.text : html`<${Absent}>${claim.text}<//>`}${claim.claim?.summary ? html`: <${T} s=${claim.claim.summary} />` : null}<//></dl>
    <${Note}>${gitLimit(row)}<//><//>`;
}

function Record({ row, facts, record }) {
  return html`<${Part} name="record" title="OBSERVED RECORD" of=${record.body}>
    ${record.failed ? html`<p><${Absent}>${facts ? `This record may be old: the last read failed, ${record.failed}.` : `The record could not be read: ${record.failed}.`}<//></p>` : null}
    ${record.loading ? html`<p class="quiet-text" aria-busy="true">Reading the record…</p>` : null}
    ${facts && !facts.length ? html`<p><${Absent}>No entry of the record names this session.<//></p>` : null}
    ${facts?.length ? html`<ul class="part"><${More} list=${true} id=${`record|${row.key}`} items=${facts} shown=${12} noun="older entries" draw=${(f) => html`<li class="kv" key=${f.id}>${f.at === null ? html`<${Absent}>no time<//>` : html`<${Age} since=${f.at} after=" ago" fixed=${true} />`}
      <span><code><${T} s=${f.type} /></code> ${f.summary ? html`<${Tool} s=${f.summary} />` : html`<${Absent}>no summary<//>`}${f.result ? html` <b><${T} s=${f.result} /></b>` : null} <span class="quiet-text">${f.source ? html`<${T} s=${f.source} />` : 'source not named'}</span></span></li>`} /></ul>` : null}
    <${Note}>${recordLimit(row.harness)}<//><//>`;
}

/** The column. `agents` replaces the tree of the row when the deck gives a better one. */
export function Activity({ board, row, facts, record, agents, deck }) {
  const harness = board.byHarness.get(row.harness);
  const states = statesOf(board.payload.history, row, statesSeen(row.key), board.generated);
  return html`<div class="col" data-part="activity"><h2 class="col-h">Session activity</h2>
    <${Current} row=${row} agents=${agents} states=${states} /><${Boundary} of=${row} what="The facts"><${Facts} row=${row} /><//>
    <${Assignment} row=${row} harness=${harness} /><${Health} row=${row} />
    ${row.tasks.total ? html`<${Part} name="tasks" title=${`TASKS · ${row.tasks.done} OF ${row.tasks.total} DONE`} of=${row}><${TaskBar} tasks=${row.tasks} /><${TaskList} row=${row} /><//>` : null}
    <${Tokens} row=${row} /><${Reports} row=${row} enabled=${board.payload.irreversible_enabled === true} /><${Notifications} row=${row} /><${Reentry} row=${row} />
    ${row.workflows.length ? html`<${Part} name="stages" title="WORKFLOW STAGES" of=${row}>${row.workflows.map((w, i) => html`<${StageStrip} key=${i} workflow=${w} />`)}<p class="quiet-text">A missing strip would say nothing about whether a workflow exists.</p><//>` : null}
    ${deck}
    ${states ? html`<${Part} name="states" title="STATES OVER TIME" of=${states}><${StateStrip} lanes=${[{ key: row.key, label: '', blocks: states.blocks, turns: states.turns }]} from=${states.from} to=${states.to} caption=${`${observed(states.to - states.from)}. Blank above the dots: nobody observed it.`} /><//>` : null}
    <${Landed} row=${row} facts=${facts} /><${Record} row=${row} facts=${facts} record=${record} /></div>`;
}

