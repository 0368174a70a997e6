// Now: what runs in the whole project, how sessions here ended, and what its workflows say. It stays project-wide whatever
// session is in focus.
import { Absent, Age, Boundary, Label, T, Tool, html } from './part-base.js';
import { Badge, Harness, LongTurn, Loop, Outcome } from './part-badge.js';
import { TurnBar } from './part-bars.js';
import { CopyCommand, Raise } from './part-cue.js';
import { More } from './part-disclosure.js';
import { StageStrip } from './part-strip.js';
import { Instruction, Now as NowText, Pills, Rate } from './part-row.js';
import { SessionLink } from './part-brief.js';
import { plansOf } from './project.js';
import { ABSENT } from './format.js';
import { objects, str } from './model.js';

const ENDED = 8;

function Card({ row }) {
  return html`<article class=${`panel${row.blocked ? ' row-wait' : ''}`} data-row=${row.key} data-state=${row.state}>
    <p class="row-top"><${Badge} state=${row.state} live=${row.live} />${row.blocked ? row.waitSince === null ? html`<${Absent}>${ABSENT.wait}<//>` : html`<${Age} since=${row.waitSince} before=${row.needs ? '' : 'asked '} longAfter=${900} />` : html`<${Rate} row=${row} />`}
      <span class="row-by"><${Harness} harness=${row.harness} label=${row.harnessLabel} /></span></p>
    <h3 class="row-title"><span class="clamp2"><${SessionLink} row=${row} place="now" /></span>${row.long ? html`<${LongTurn} />` : null}${row.loop ? html`<${Loop} loop=${row.loop} />` : null}</h3>
    ${row.blocked ? html`<p class="row-need clamp3" title=${row.block.text} data-fact="blocked"><span class="sr">Waiting on you: </span><${Tool} s=${row.block.text} /></p><p class="row-controls"><${Raise} row=${row} place="now" /><${CopyCommand} row=${row} place="now" /></p>`
    : null}
    ${row.blocked && row.block.text === row.now.text ? null : html`<p class="row-doing clamp2" data-fact="now"><${NowText} row=${row} /></p>`}
    ${row.working || row.needs ? html`<${TurnBar} turn=${row.turn} />` : null}
    ${row.line ? html`<${Instruction} line=${row.line} />` : null}
    <p class="row-inline" data-fact="next"><${Label}>NEXT<//> <span class="quiet-text clamp1">${row.next ? html`<${Tool} s=${row.next} />` : html`<${Absent}>${ABSENT.next}<//>`}</span></p>
    <${Pills} row=${row} /></article>`;
}

const End = (row) => html`<li key=${row.key}><${Outcome} outcome=${row.outcome} /><span><${SessionLink} row=${row} place="end" /></span>
  <span class="quiet-text">${row.git ?? ABSENT.git} · <${T} s=${row.harnessLabel} />, <${Age} since=${row.endedAt ?? row.finishedAt} after=" ago" /></span></li>`;

function Plan({ plan }) {
  const late = new Map(plan.entities.map((e) => [e.slug, e.late]));
  return html`<div class="panel"><${StageStrip} workflow=${plan} stalled=${(slug) => late.get(slug) ?? null} /></div>`;
}

export function Now({ rows, board, project, record }) {
  const going = rows.filter((r) => r.active).sort((a, b) => Number(b.blocked) - Number(a.blocked));
  const ended = rows.filter((r) => r.outcome).sort((a, b) => (b.endedAt ?? b.finishedAt) - (a.endedAt ?? a.finishedAt));
  const plans = plansOf(rows, objects(board.payload.tripwires?.sources), board.generated, record.body);
  const unread = str(record.body?.workflow_discovery?.reason);
  return html`<section class="group" data-group="going-on"><div class="group-bar"><h2 class="group-h" tabindex="-1">GOING ON <span class="fig">(${going.length})</span></h2></div>
      ${going.length ? html`<div class="panels">${going.map((row) => html`<${Boundary} key=${row.key} of=${row} what="This session"><${Card} row=${row} /><//>`)}</div>` : html`<p class="note" data-absent="">Nothing here is working and nothing waits on you.</p>`}</section>
    <section class="group" data-group="ended"><div class="group-bar"><h2 class="group-h" tabindex="-1">HOW THINGS ENDED <span class="fig">(${ended.length})</span></h2></div>
      ${ended.length ? html`<ul class="lines"><${More} id=${`ended|${project}`} items=${ended} shown=${ENDED} draw=${End} /></ul>` : html`<p class="note" data-absent="">No stop or end was observed here. A session without one may still be running.</p>`}</section>
    <section class="group" data-group="workflows"><div class="group-bar"><h2 class="group-h" tabindex="-1">WORKFLOW EVIDENCE <span class="fig">(${plans.length})</span></h2></div>
      ${plans.length ? html`<div class="panels">${plans.map((plan) => html`<${Boundary} key=${plan.workflow} of=${plan} what="This workflow"><${Plan} plan=${plan} /><//>`)}</div>` : html`<p class="note" data-absent="">No session here publishes a workflow. That says nothing about whether one exists.</p>`}
      ${unread ? html`<p class="note">The project's workflow files were not read: <${T} s=${unread} />.</p>` : null}</section>`;
}
