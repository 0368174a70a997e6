// One session: what it asks of you first, then your words and how it stands against them, then what it does and did.
import { useEffect, useMemo, useRef } from './hooks.js';
import { Absent, Age, Boundary, Label, T, Tool, html } from './part-base.js';
import { Badge, Harness } from './part-badge.js';
import { Activity } from './part-activity.js';
import { Copy, CopyCommand, CopyId, Options, Raise } from './part-cue.js';
import { AgentTree, Calls } from './part-deck.js';
import { Drift } from './part-drift.js';
import { Discard, Intent } from './part-intent.js';
import { Drift as DriftMark } from './part-row.js';
import { canRaise } from './actions.js';
import { opened } from './app-context.js';
import { ABSENT, rate } from './format.js';
import { findSession } from './model.js';
import { deckPath, recordPath, useJson } from './record.js';
import { build } from './route.js';
import { factsOf } from './session-facts.js';
import { goalField } from './intent.js';

const LONG_WAIT = 900;

/** Nothing on the board answers to the link. */
function Missing({ state }) {
  const { board, route } = state;
  if (!board) return html`<h1 class="h1" tabindex="-1">Session</h1><p class="empty-lead" role="status">The first payload has not arrived yet.</p>`;
  const hours = board.windowHours;
  return html`<h1 class="h1" tabindex="-1">Session</h1><p class="empty-lead" data-absent="">This session is not in the current payload.</p>
    <p class="quiet-text">${route.harness ? html`<${T} s=${board.byHarness.get(route.harness)?.label ?? route.harness} /> · ` : ''}<span class="fig"><${T} s=${route.sid} /></span></p>
    ${hours > 0 && !board.showAll ? html`<p class="quiet-text">The board holds sessions observed in the last ${hours} hours.</p>` : null}
    <p><a href="#n=sessions" data-fk="all-sessions">All sessions</a></p>`;
}

/** The time that belongs to the state. */
function When({ row }) {
  if (row.ended) return html`<${Age} since=${row.endedAt} before="ended " after=" ago" />`;
  if (row.blocked) return row.waitSince === null ? html`<${Absent}>${ABSENT.wait}<//>` : html`<${Age} since=${row.waitSince} before="blocked " longAfter=${LONG_WAIT} />`;
  if (row.working && row.turn.elapsed) return html`turn started ${row.turn.elapsed} ago`;
  return row.startedAt ? html`<${Age} since=${row.startedAt} before="session started " after=" ago" />` : null;
}

function Head({ row }) {
  const link = `${location.origin}${location.pathname}${build({ view: 'session', project: row.project, harness: row.harness, sid: row.sid })}`;
  const detail = row.ended ? '' : row.raw.state_detail;
  return html`<div class="sess-head" data-row=${row.key} data-state=${row.state}>
    <div class="sess-title"><${Badge} state=${row.state} live=${row.live} /><h1 class="h1" tabindex="-1">${row.title ? html`<${T} s=${row.title} />` : html`<${Absent}>${ABSENT.title}<//>`}</h1>${row.drift ? html`<${DriftMark} drift=${row.drift} />` : null}</div>
    <p class="sess-id small"><${Harness} harness=${row.harness} label=${row.harnessLabel} /> · <span class="fig" title=${row.sid}>${row.session}</span> · ${row.rate === null ? html`<${Absent}>${ABSENT.rate}<//>` : html`<span class="fig">${rate(row.rate)}</span>`}</p>
    <p class="sess-meta">${[typeof detail === 'string' && detail && !row.quiet ? html`<${Tool} s=${detail} />` : null, When({ row })].filter(Boolean).map((x, i) => html`${i ? ' · ' : ''}${x}`)}</p>
    <p class="sess-acts"><${CopyId} row=${row} place="head" kind="plain" /><${Copy} kind="plain" id=${`head|${row.key}|link`} act="copy-link" label="COPY LINK" text=${link} what="Link" /><${CopyCommand} row=${row} place="head" kind="plain" />
      ${row.blocked ? html`<${Raise} row=${row} place="head" kind="primary" />` : null}</p></div>`;
}

/** What the session waits for, before everything else on the page. */
function Ask({ row }) {
  if (!row.blocked) return null;
  const head = html`<p class="ask-head small"><${Label}>ASKED YOU<//>${row.waitSince === null ? html` · <${Absent}>${ABSENT.wait}<//>` : html` · <${Age} since=${row.waitSince} longAfter=${LONG_WAIT} />`} · <b>${row.responsibility}</b></p>`;
  if (!row.questions.length) {
    return html`<section class="ask part" data-part="question" aria-label="Asked you">${head}<p class="ask-q"><${Tool} s=${row.block.text} /></p>
      <p class="quiet-text">It must be answered in that session's own terminal; nothing here answers it.${row.unconfirmed ? ' No sign of it for 5 minutes; the prompt may still stand.' : ''}</p></section>`;
  }
  return row.questions.map((q) => html`<section class="ask part" data-part="question" aria-label="Asked you" key=${q.id}>
    <p class="ask-head small"><${Label}>ASKED YOU<//> · ${q.ageKnown ? html`<${Age} since=${q.since} longAfter=${LONG_WAIT} />` : html`<${Absent}>${ABSENT.wait}<//>`} · <b>${row.responsibility}</b></p>
    <p class="ask-q"><${T} s=${q.question} /></p><${Options} question=${q} place="detail" fallback=${`head|${row.key}|id`} /></section>`);
}

/** The reader's words, and how the session stands against them. */
function Panel({ board, row, facts }) {
  const head = useRef(null);
  useEffect(() => {
    if (opened.get('goal-focus') !== row.key) return;
    opened.delete('goal-focus');
    const box = document.querySelector('[data-field=goal]');
    (box && goalField(row).kind !== 'prompt' ? box : head.current)?.focus();
  }, [row.key]);
  const raise = row.blocked && row.focusable && canRaise;
  return html`<div class="col" data-part="panel"><h2 class="col-h" tabindex="-1" ref=${head}>Intent and drift</h2>
    <p class="quiet-text">A check happens only when you ask for one, and nothing is ever written into the session.</p>
    ${board.annotate ? html`<h3 class="sub-h">Intent</h3><${Boundary} of=${row} what="The intent fields"><${Intent} board=${board} row=${row} facts=${facts} /><//>` : html`<p><${Absent}>Annotations are off for this run: nothing typed is kept or shown.<//></p>`}
    <${Boundary} of=${row} what="The drift panel"><${Drift} board=${board} row=${row} facts=${facts} primary=${!row.blocked && !raise} /><//>
    ${board.annotate ? html`<${Discard} board=${board} row=${row} />` : null}</div>`;
}

function Session({ board, row, route }) {
  const record = useJson(recordPath(row), board.payload);
  const deck = useJson(board.deck ? deckPath(row) : null, board.payload);
  const facts = record.body ? factsOf(record.body, row) : null;
  const turns = useMemo(() => (facts ?? []).filter((f) => f.type === 'user_message' && f.at !== null).map((f) => f.at).reverse(), [record.body]);
  const tree = deck.body ? html`<${Boundary} of=${deck.body} what="The agents"><${AgentTree} row=${row} deck=${deck.body} agent=${route.agent} /><//>` : null;
  return html`<${Head} row=${row} /><${Ask} row=${row} />
    <div class="cols"><${Panel} board=${board} row=${row} facts=${facts} />
      <${Activity} board=${board} row=${row} facts=${facts} record=${record} agents=${tree} deck=${html`<${Boundary} of=${deck.body} what="The calls"><${Calls} board=${board} row=${row} deck=${deck} agent=${route.agent} turns=${turns} /><//>`} /></div>`;
}

export default function View({ state }) {
  const row = state.board ? findSession(state.board, state.route) : null;
  return row ? html`<${Session} key=${row.key} board=${state.board} row=${row} route=${state.route} />` : html`<${Missing} state=${state} />`;
}
