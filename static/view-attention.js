// Attention: what needs the reader, what is at risk, what ended, what comes next. Nothing here marks anything as answered: an
// item leaves when the payload says so.
import { useEffect, useMemo, useRef } from './hooks.js';
import { Absent, Age, Boundary, Glyph, Label, T, Tool, html } from './part-base.js';
import { Harness, Outcome } from './part-badge.js';
import { CopyCommand, Options, Raise } from './part-cue.js';
import { Disclosure, More } from './part-disclosure.js';
import { Now } from './part-row.js';
import { attentionOf, countsText, coverageOf } from './attention.js';
import { canRaise } from './actions.js';
import { ABSENT, many } from './format.js';
import { projectHref, sessionHref } from './route.js';
import { say } from './say.js';

const SHOWN = 3;
const LONG_WAIT = 900;
const EMPTY = {
  needs: 'Nothing reported is waiting; a quiet row is not proof that nothing is.',
  risk: 'Nothing observed is at risk.',
};

/** What the item is about: its request, else its one workflow's goal, else who it is. */
function Subject({ row }) {
  const flows = row.workflows.map((w) => w.goal).filter((g) => typeof g === 'string' && g);
  const text = row.instruction?.text || (flows.length === 1 ? flows[0] : '');
  if (text) return html`<p class="item-line"><${Label}>OUTCOME<//> <${T} s=${text} /></p>`;
  return html`<p class="item-line"><${Label}>IDENTITY<//> ${row.project ? html`<${T} s=${row.project} />` : html`<${Absent}>${ABSENT.location}<//>`} · ${row.harnessLabel} · <span class="fig">${row.session}</span></p>`;
}

function Source({ row, category }) {
  const since = category === 'needs' ? row.waitSince : row.endedAt ?? row.finishedAt ?? row.lastActivity;
  const who = category === 'needs' ? row.responsibility : { risk: 'YOURS TO JUDGE', close: 'YOURS TO CLOSE', next: 'ADVISORY' }[category];
  return html`<p class="item-src"><${Label}>${who}<//> <${Harness} harness=${row.harness} label=${row.harnessLabel} />${since === null ? html` <${Absent}>${category === 'needs' ? ABSENT.wait : 'time not published'}<//>` : html` <${Age} since=${since} longAfter=${category === 'needs' ? LONG_WAIT : 0} />`}</p>`;
}

function Why({ item }) {
  const { row, kind } = item;
  if (kind === 'loop') return html`<p class="mark-clay">${row.loop.text}</p>`;
  if (kind === 'long-turn') return html`<p class="mark-amber">⚠ The request runs, or is estimated to run, 15 minutes or more${row.turn.elapsed ? `: ${row.turn.elapsed} into turn` : ''}.</p>`;
  if (kind === 'attribution') return html`<p>${row.finishedAt !== null ? 'A stop was observed, yet the session works.' : 'Git was read at an end that nobody observed.'}</p>`;
  // The label above says which outcome it is; here stands what git counted.
  if (kind === row.outcome?.kind) return html`<p class=${`outcome-${row.outcome.tone}`}><${Glyph}>${row.outcome.glyph}<//>${row.git ?? ABSENT.git}</p>`;
  return row.outcome ? html`<p><${Outcome} outcome=${row.outcome} /></p>` : null;
}

function Ask({ row }) {
  if (row.questions.length) return row.questions.map((q) => html`<div class="item-ask" key=${q.id}><p class="ask-q"><${T} s=${q.question} /></p><${Options} question=${q} place="attention" fallback=${`item|${row.key}`} /></div>`);
  return html`<p class="row-need"><${Tool} s=${row.block.text} /></p><p class="quiet-text">Answer it in that session's own terminal.${row.unconfirmed ? ' No sign of it for 5 minutes; the prompt may still stand.' : ''}</p>`;
}

function Item({ item }) {
  const { row, category, kind } = item;
  const task = row.tasks.list.find((t) => t.status === 'in_progress');
  return html`<li class=${`item${category === 'needs' ? ' item-wait' : ''}`} data-kind=${kind} data-row=${row.key} data-state=${row.state}>
    <div class="item-main"><p class="item-kind"><span class=${category === 'needs' ? 'row-need' : ''}>${item.label}</span>${item.more.length ? html` <span class="quiet-text" title=${item.more.join(', ')}>+ ${many(item.more.length, 'more signal')}<span class="sr">: ${item.more.join(', ')}</span></span>` : null}</p>
      <h3 class="row-title"><a class="row-link" href=${sessionHref(row)} data-fk=${`item|${row.key}`}>${row.title ? html`<${T} s=${row.title} />` : html`<${Absent}>${ABSENT.title}<//>`}</a></h3>
      <${Source} row=${row} category=${category} /></div>
    <div class="item-body">${category === 'needs' ? html`<${Ask} row=${row} />` : category === 'next' ? null : html`<${Why} item=${item} />`}
      <${Subject} row=${row} />
      ${category === 'needs' && row.block.text === row.now.text ? null : html`<p class="item-line"><${Label}>NOW<//> <${Now} row=${row} /></p>`}
      ${category === 'next' && task && row.now.text === task.subject ? null : row.next || category === 'next' ? html`<p class="item-line"><${Label}>NEXT<//> ${row.next ? html`<${Tool} s=${row.next} />` : html`<${Absent}>${ABSENT.next}<//>`}</p>` : null}
      ${category === 'needs' ? html`<p class="row-controls"><${Raise} row=${row} place="item" /><${CopyCommand} row=${row} place="item" /></p>` : null}
      ${item.others?.length ? html`<${Disclosure} id=${`others|${row.project}`} summary=${`${item.others.length} more in this project`}><ul class="item-others">${item.others.map((o) => html`<li key=${o.key}><a href=${sessionHref(o.row)} data-fk=${`item|${o.key}`}><${T} s=${o.row.title || o.row.session} /></a> <span class="quiet-text"><${Now} row=${o.row} /></span></li>`)}</ul><//>` : null}</div></li>`;
}

function BoardItem({ item }) {
  const q = item.question;
  return html`<li class=${`item${q ? ' item-wait' : ''}`} data-kind=${item.kind}><div class="item-main"><p class="item-kind"><span class=${q ? 'row-need' : ''}>${item.label}</span></p>
      ${item.kind === 'quota' ? html`<p class="quiet-text">${item.reason}</p><a href="#n=sessions" data-fk=${`item|${item.key}`}>Capacity, below the sessions</a>` : null}
      ${item.kind === 'label' ? html`<h3 class="row-title"><a class="row-link" href=${projectHref(item.project)} data-fk=${`item|${item.key}`}><${T} s=${item.project} /></a></h3>` : null}
      ${q ? html`<p class="item-src">${q.harness && q.harness !== 'unknown' ? html`<${T} s=${q.harness} />` : html`<${Absent}>harness not named<//>`} ${q.project ? html`· <${T} s=${q.project} />` : null} ${q.ageKnown ? html`· <${Age} since=${q.since} longAfter=${LONG_WAIT} />` : null}</p>` : null}</div>
    <div class="item-body">${q ? html`<div class="item-ask"><p class="ask-q"><${T} s=${q.question} /></p><${Options} question=${q} place="attention" fallback="attention|board" /></div><p class="quiet-text">No session on the board is the one that asked.</p>` : html`<p><${T} s=${item.text} /></p>`}</div></li>`;
}

function Group({ name, title, items, draw, note }) {
  if (!items.length && !EMPTY[name]) return null;
  return html`<section class="group" data-group=${name} aria-labelledby=${`att-${name}`}><div class="group-bar"><h2 class="group-h" id=${`att-${name}`} tabindex="-1" data-fk=${`attention|${name}`}>${title} <span class="fig">(${items.length})</span></h2>${note}</div>
    ${items.length ? html`<ol class="items"><${More} list=${true} id=${`attention|${name}`} items=${items} shown=${SHOWN} draw=${(item) => html`<${Boundary} key=${item.key} of=${item.row ?? item} what="An item"><${draw} item=${item} /><//>`} /></ol>` : html`<p class="empty" data-absent="">${EMPTY[name]}</p>`}</section>`;
}

function Coverage({ board }) {
  const c = coverageOf(board);
  return html`<${Disclosure} id="coverage" summary="per-harness detail"><p>${c.line}</p>
    <ul>${c.harnesses.map((h) => html`<li key=${h.key}><b>${h.label}</b>: ${many(h.n, 'session')}; ${h.waits}; ${h.rate}${h.error ? html`; read error: <${T} s=${h.error} />` : ''}.</li>`)}</ul>
    <p>${c.ends}</p><p>${canRaise ? `Terminal raise: ${c.reachable} of ${c.waiting} waiting rows carry a terminal Cargento can reach.` : 'Terminal raise: off for this run.'}</p>
    <p>A harness that is not measured is never an all-clear, and a source that was read in part may hide a wait.</p><//>`;
}

function Reports({ board, reports }) {
  if (board.payload.irreversible_enabled !== true) return html`<p><${Absent}>Command-shape reports are off for this run.<//></p>`;
  if (!reports.length) return html`<p><${Absent}>None received; missing hooks and unmatched commands can look the same.<//></p>`;
  return html`<ul class="reports"><${More} list=${true} id="attention|reports" items=${reports} shown=${SHOWN} draw=${(r, i) => {
    const row = board.byKey.get(`${r.harness}:${r.sid}`);
    return html`<li key=${i}>Command shape reported: <b><${T} s=${r.label} /></b> · <${T} s=${r.tool} /> · ${r.iso ? html`<time class="fig">${r.iso}</time>` : html`<${Absent}>time not published<//>`} · ${row ? html`<a href=${sessionHref(row)} data-fk=${`report|${i}`}><${T} s=${row.title || row.session} /></a>` : html`<span class="quiet-text"><${T} s=${r.sid} />, not on the board</span>`}</li>`;
  }} /></ul><p class="quiet-text">A matching shape does not prove that the command succeeded.</p>`;
}

const NOT_YET = ['What each project took of your attention over time is not measured.', 'Sessions that ended with commits nobody pushed are not told apart: remotes are not asked.', 'Whether you ever read a finished session is not known.'];

export default function View({ state }) {
  const { board } = state;
  const made = useMemo(() => (board ? attentionOf(board) : null), [board?.payload]);
  const said = useRef(null);
  useEffect(() => {
    if (!made) return;
    const now = countsText(made.groups);
    if (said.current !== null && said.current !== now) say(now);
    said.current = now;
  }, [made]);
  if (!made) return html`<h1 class="h1" tabindex="-1">Attention</h1><p class="empty-lead" role="status">The first payload has not arrived yet.</p>`;
  const { groups, brief, reports } = made;
  return html`<div class="view-head"><h1 class="h1" tabindex="-1">Attention</h1><div class="summary"><p>${brief[0]}</p><p class="quiet-text">${brief[1]}</p><${Coverage} board=${board} /></div></div>
    <${Group} name="needs" title="NEEDS YOU NOW" items=${groups.needs} draw=${Item} />
    <${Group} name="risk" title="At risk" items=${groups.risk} draw=${Item} />
    <${Group} name="close" title="CLOSE THE LOOP" items=${groups.close} draw=${Item} note=${html`<p class="lead">What was observed to end. It does not say that you read it, or why it ended.</p>`} />
    <${Group} name="next" title="COMING NEXT" items=${groups.next} draw=${Item} note=${html`<p class="lead">Published tasks, by project. Nothing is sent.</p>`} />
    <${Group} name="board" title="Also at risk, off the session count" items=${groups.board} draw=${BoardItem} />
    <section class="group" data-group="reports" aria-labelledby="att-reports"><div class="group-bar"><h2 class="group-h" id="att-reports">Command-shape reports</h2></div><div class="summary"><${Reports} board=${board} reports=${reports} /></div></section>
    <section class="group" data-group="not-yet" aria-labelledby="att-not-yet"><div class="group-bar"><h2 class="group-h" id="att-not-yet">Not on this board yet</h2></div><ul class="summary">${NOT_YET.map((t) => html`<li class="quiet-text">${t}</li>`)}</ul></section>`;
}
