// Sessions: everything the board holds, what moves first, what is past below it, what is left of the budgets last.
import { Component } from './preact.js';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from './hooks.js';
import { html } from './part-base.js';
import { Row } from './part-row.js';
import { Disclosure } from './part-disclosure.js';
import { many } from './format.js';
import { spark } from './ledger.js';
import { objects } from './model.js';
import { say } from './say.js';

// The filter outlives a visit to another view; it is never stored.
let typed = '';

// A long first list is put up a piece at a time, so that no single task holds the page; once whole, it stays whole.
const FIRST = 60;
const PIECE = 110;
let grown = FIRST;

function Fact({ label, figure, of, note }) {
  return html`<div class="fact"><dt class="label">${label}</dt><dd class="fact-fig">${figure}${of === undefined ? null : html`<span class="fact-of"> of ${of}</span>`}</dd><dd class="fact-note">${note}</dd></div>`;
}

function Fleet({ board }) {
  const { fleet } = board;
  return html`<dl class="fleet">
    <${Fact} label="ACTIVE NOW" figure=${fleet.active} note=${`${fleet.total} recently observed`} />
    <${Fact} label="WORKING" figure=${fleet.working} note=${html`<span class=${fleet.waiting ? 'fact-need' : undefined}>${fleet.waiting} waiting on you</span>`} />
    <${Fact} label="EXACT REQUESTS" figure=${fleet.requests} note=${fleet.total ? `${fleet.requests} of ${fleet.total} publish the request they are on` : ''} />
    <${Fact} label="REPORTED BLOCKS" figure=${fleet.blocksKnown} of=${fleet.total} note=${`${fleet.blocksKnown} of ${fleet.total} sessions report block state`} />
  </dl>`;
}

// A list is drawn again for another list or another clock, and not while a filter is typed.
class List extends Component {
  shouldComponentUpdate(next) {
    return next.rows !== this.props.rows || next.generated !== this.props.generated || next.upTo !== this.props.upTo;
  }

  render({ rows, kind, generated, upTo }) {
    return (upTo < rows.length ? rows.slice(0, Math.max(upTo, 0)) : rows).map((row) => html`<${Row} key=${row.key} row=${row} kind=${kind} spark=${kind === 'active' ? spark(row.key, generated) : ''} />`);
  }
}

function Group({ name, title, rows, kind, generated, upTo, empty, children }) {
  return html`<section class=${`group group-${kind}`} data-group=${name} aria-label=${title}>
    <div class="group-bar"><h2 class="group-h" tabindex="-1">${title} <span class="fig">(${rows.length})</span></h2>${children}</div>
    ${rows.length ? html`<${List} rows=${rows} kind=${kind} generated=${generated} upTo=${upTo} />` : html`<p class="empty" data-absent="">${empty}</p>`}
  </section>`;
}

/** The filter box: what it hides stays in its group and in its order. */
function Filter({ value, change, shown, total }) {
  return html`<label class="filter"><span class="sr">Filter sessions</span><span class="filter-n fig">${value ? `${shown} of ${total}` : ''}</span><span class="filter-box"><input class="input filter-in" type="search" placeholder="Filter" data-fk="filter" data-filter="" value=${value}
    onInput=${(e) => change(e.currentTarget.value)} onKeyDown=${(e) => { if (e.key === 'Escape' && value) { e.stopPropagation(); change(''); } }} />${value ? null : html`<kbd aria-hidden="true">/</kbd>`}</span></label>`;
}

function Loading() {
  return html`<div class="skeletons" aria-hidden="true">${[0, 1, 2, 3, 4].map(() => html`<div class="skeleton"><i class="bone bone-a"></i><i class="bone bone-b"></i><i class="bone bone-c"></i></div>`)}</div><p class="sr">Loading sessions.</p>`;
}

/** Sums up why nothing is listed at all. */
function Nothing({ board }) {
  const found = board.harnesses.some((h) => h.discovered);
  if (!found) return html`<p class="empty-lead">No harness store was found on this machine. Start a session in any of these ten; it comes up here by itself. <code>cargento --diagnose</code> says where it looked.</p>`;
  const hours = board.windowHours;
  return html`<p class="empty-lead">No session was observed${hours > 0 && !board.showAll ? ` in the last ${hours} hours` : ''}. <code>cargento --diagnose</code> says what was read; <a href="?all=1">show all sessions</a>.</p>`;
}

let Capacity = null;

/** The capacity strip, fetched once a board has something to show in it. */
function Budgets({ board }) {
  const [, again] = useState(null);
  const wanted = objects(board.payload.usage).length > 0 || board.payload.usage_fetch === true;
  useEffect(() => {
    if (!wanted || Capacity) return;
    // A load that failed is tried again with the next board.
    import('./part-capacity.js').then((m) => {
      Capacity = m.Capacity;
      again({});
    }, () => {});
  }, [wanted, board.payload]);
  return wanted && Capacity ? html`<${Capacity} board=${board} />` : null;
}

export function Sessions({ state }) {
  const { board } = state;
  const [query, setQuery] = useState(typed);
  const words = query.trim().toLowerCase();
  const matches = useMemo(() => {
    if (!board || !words) return null;
    const parts = words.split(/\s+/);
    return new Set(board.rows.filter((r) => parts.every((w) => r.search.includes(w))).map((r) => r.key));
  }, [board?.rows, words]);
  useEffect(() => {
    if (!matches) return undefined;
    const settled = setTimeout(() => say(`${many(matches.size, 'session')} of ${board.rows.length} match.`), 400);
    return () => clearTimeout(settled);
  }, [words]);
  const [upTo, grow] = useState(grown);
  useEffect(() => {
    if (!board || board.rows.length <= upTo) return undefined;
    const next = setTimeout(() => {
      grown = upTo + PIECE;
      grow(grown);
    }, 0);
    return () => clearTimeout(next);
  }, [board?.rows, upTo]);
  // Hiding is done on the elements: typing must not make the lists be drawn again.
  const lists = useRef(null);
  useLayoutEffect(() => {
    for (const node of lists.current?.querySelectorAll('[data-row]') ?? []) {
      const hide = matches !== null && !matches.has(node.dataset.row);
      if (node.hidden !== hide) node.hidden = hide;
    }
  });
  const change = (value) => {
    typed = value;
    setQuery(value);
  };
  if (!board) return html`<h1 class="h1" tabindex="-1">Session operations</h1><${Loading} />`;
  return html`<div class="view-head"><h1 class="h1" tabindex="-1">Session operations</h1>
      ${board.unchecked ? html`<p class="lead">No session has been checked for drift yet; open one to check it.</p>` : null}
      ${board.annotate ? null : html`<p class="lead">Annotations are off for this run: no goal is kept and no drift is marked.</p>`}
      ${board.rows.length > 1 ? html`<${Filter} value=${query} change=${change} shown=${matches?.size ?? 0} total=${board.rows.length} />` : null}</div>
    <${Fleet} board=${board} />
    ${board.rows.length ? null : html`<${Nothing} board=${board} />`}
    <div ref=${lists}><${Group} name="active" title="Active now" rows=${board.active} kind="active" generated=${board.generated} upTo=${upTo} empty="Nothing is working and nothing waits on you.">
      <div class="fold-row"><${Disclosure} id="how-split" cls="fold-side" summary="How rows are split"><p>Waiting sessions come first, then those with a recorded departure, then working ones. Everything else observed lately stands under Recent history.
        A row never moves because of its activity alone.</p><//>
      <${Disclosure} id="goal-sources" cls="fold-side" summary="Goal sources"><p>A goal is what you typed, or a prompt you took over as your goal. Without one, Claude and Codex sessions show the prompt their own record holds; other harnesses show typed words only. Showing a prompt saves nothing.</p><//></div><//>
    <${Group} name="history" title="Recent history" rows=${board.history} kind="history" generated=${board.generated} upTo=${upTo - board.active.length} empty="No quiet or ended session was observed lately.">
      <${Disclosure} id="what-recent" cls="fold-side" summary="What recent means"><p>Recently observed is no proof that a process is open or closed. A session without an observed end may still be running, and one that went quiet may never come back.</p><//><//></div>
    ${board.cleared > 0 ? html`<p class="note">${many(board.cleared, 'session')} marked handled and left out.</p>` : null}
    <${Budgets} board=${board} />`;
}

export default Sessions;
