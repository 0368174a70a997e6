// The agents and calls inside one session: who spawned whom, which call is open, where time went.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from './hooks.js';
import { Absent, T, html } from './part-base.js';
import { Note } from './part-badge.js';
import { StateStrip } from './part-strip.js';
import { Tree } from './part-tree.js';
import { opened } from './app-context.js';
import { sentence } from './degrades.js';
import { agentsOfDeck, callsOf, chosen, findingsOf, lanesOf, limitsOf, parkedOf } from './deck.js';
import { clock, many, observed } from './format.js';
import { blocks } from './layout.js';
import { objects } from './model.js';
import { build } from './route.js';
import { say } from './say.js';

// A call is one line in columns where the list is wide enough, else two; its height grows with the reader's text.
const WIDE = 32;
const LINES = { wide: 1.75, narrow: 2.75 };
const SHOWN = { wide: 12, narrow: 8 };

/** How a list of this width is drawn: `wide` or `narrow`, and the height of one call in px. */
function useForm(box) {
  const [form, set] = useState({ kind: 'wide', height: 28 });
  useLayoutEffect(() => {
    const measure = () => {
      const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
      const kind = box.current.clientWidth >= WIDE * rem ? 'wide' : 'narrow';
      const height = LINES[kind] * rem;
      set((was) => (was.kind === kind && was.height === height ? was : { kind, height }));
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return form;
}

/** The tree of all agents, or of one agent and those beneath it. Each node leads to its own tree. */
export function AgentTree({ row, deck, agent }) {
  const made = agentsOfDeck(deck, agent);
  if (!made) return html`<p><${Absent}>No agent of this session could be read<//></p>`;
  const place = (id) => build({ view: 'session', project: row.project, harness: row.harness, sid: row.sid, agent: id === made.top ? null : id });
  const parked = parkedOf(deck);
  const found = findingsOf(deck);
  return html`<div class="agents" data-part="agents">
    ${made.whole ? null : html`<p><a href=${place(made.top)} data-fk=${`agents|${row.key}|all`}>All agents</a> › <${T} s=${made.root.name} /></p>`}
    <${Tree} id=${`${row.key}|${made.root.id}`} root=${made.root} list=${made.list} omitted=${made.whole ? row.subagents.omitted : 0} href=${(node) => place(node.id)} head=${html`<h4 class="label">${many(made.list.length + 1, 'agent')}${made.whole ? row.subagents.heading ? ` · ${row.subagents.heading}` : '' : ' in this branch'}</h4>`} />
    ${parked.length ? html`<div><p class="label">Not placed</p><ul>${parked.map((p) => html`<li key=${p.id}><${T} s=${p.name} /> <span class="quiet-text">${p.why}</span></li>`)}</ul></div>` : null}
    ${found.length ? html`<div>${found.map((t) => html`<${Note}>${t}<//>`)}</div>` : null}</div>`;
}

function Pick({ id, label, value, options, change }) {
  return html`<label class="pick who"><span class="label">${label}</span> <select class="input" data-fk=${id} value=${value} onChange=${(e) => change(e.currentTarget.value)}><option value="">all</option>
    ${options.map(([key, name]) => html`<option key=${key} value=${key}>${name}</option>`)}</select></label>`;
}

const NONE = { gap: 'The first record of its agent has no gap', took: 'The store writes no end for this call' };

function Call({ call: c, wide, place, of, top, height }) {
  // In columns the heads say what a figure is; the words stay for the ear.
  const word = (text) => (wide ? html`<span class="sr">${text} </span>` : `${text} `);
  const figure = (name) => html`<span class="call-fig fig quiet-text" title=${c[name] === null ? NONE[name] : undefined}>${word(name)}${c[name] ?? html`—<span class="sr"> ${NONE[name]}</span>`}</span>`;
  return html`<li class=${`call${c.stalled ? ' call-late' : ''}`} aria-setsize=${of} aria-posinset=${place} style=${{ top: `${top}px`, height: `${height}px` }}>
    <span class="call-what"><b title=${c.tool}><${T} s=${c.label} /></b> <span class=${c.status === 'error' ? 'mark-clay' : c.status === 'open' ? 'call-open' : 'quiet-text'}>${c.status === 'unknown' ? 'end not recorded' : c.status}</span>${c.stalled ? html` <span class="mark-amber">stalled, silent ${c.stalled}</span>` : null}${c.spawned ? html` <span class="quiet-text" title=${c.spawned}>spawned <${T} s=${c.spawned} /></span>` : null}</span>
    <span class="call-by quiet-text" title=${c.by}><${T} s=${c.by} /></span><span class="call-fig fig quiet-text">${word('at')}${c.offset === null ? 'no time' : `+${c.offset}`}</span>${figure('gap')}${figure('took')}</li>`;
}

/** Only the calls in sight are in the document; the list follows its newest end until the reader scrolls away from it. */
function List({ calls, newest, id }) {
  const box = useRef(null);
  const [top, setTop] = useState(0);
  const held = useRef(false);
  const { kind, height } = useForm(box);
  const wide = kind === 'wide';
  useEffect(() => {
    if (newest || held.current || !box.current) return;
    box.current.scrollTop = box.current.scrollHeight;
  }, [calls, newest, height]);
  const from = Math.max(0, Math.floor(top / height) - 4);
  const to = Math.min(calls.length, from + SHOWN[kind] + 9);
  const scroll = (event) => {
    const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
    held.current = newest ? scrollTop > 4 : scrollTop + clientHeight < scrollHeight - 4;
    setTop(scrollTop);
  };
  return html`<div class=${wide ? 'calls-wide' : null}>${wide ? html`<div class="calls-head" aria-hidden="true"><span class="label">call</span><span class="label">agent</span><span class="call-fig label">at</span><span class="call-fig label" title="Since the record of its agent before it">gap</span><span class="call-fig label">took</span></div>` : null}
    <div class="calls" ref=${box} tabindex="0" role="region" aria-label=${`Calls, ${calls.length}`} data-fk=${id} onScroll=${scroll} style=${{ height: `${Math.min(calls.length, SHOWN[kind]) * height}px` }}>
      <ol class="calls-in" style=${{ height: `${calls.length * height}px` }}>${calls.slice(from, to).map((c, i) => html`<${Call} key=${c.id} call=${c} wide=${wide} place=${from + i + 1} of=${calls.length} top=${(from + i) * height} height=${height} />`)}</ol></div></div>`;
}

/** The strip with a cursor that the arrow keys move from block to block. */
function Time({ made }) {
  const [at, set] = useState(-1);
  const all = useMemo(() => made.lanes.flatMap((l) => blocks(l.blocks, made.from, made.to).map((b) => `${l.label}: ${b.words}`)), [made]);
  const keys = (event) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || !all.length) return;
    event.preventDefault();
    const next = Math.min(Math.max(to, 0), all.length - 1);
    set(next);
    say(all[next]);
  };
  return html`<div class="strip-step" tabindex="0" role="group" aria-label="Calls over time; arrow keys step through them" data-fk="calls-time" onKeyDown=${keys}><${StateStrip} lanes=${made.lanes} from=${made.from} to=${made.to}
    caption=${at >= 0 && all[at] ? all[at] : `${observed(made.to - made.from)}. Solid: a call; outlined: silence.`} /></div>`;
}

/** The calls of a session, or of one agent of it. */
export function Calls({ board, row, deck, agent, turns = [] }) {
  const [, again] = useState(null);
  const key = `calls|${row.key}`;
  const calls = useMemo(() => callsOf(deck.body, turns), [deck.body, turns.length]);
  const made = useMemo(() => lanesOf(deck.body, calls, turns), [calls]);
  const pick = { agent: agent ?? '', tool: '', status: '', newest: true, ...opened.get(key) };
  const set = (change) => {
    opened.set(key, { ...opened.get(key), ...change });
    again({});
  };
  const head = (inner) => html`<section class="part" data-part="calls" aria-label="Calls"><h3 class="sub-h">CALLS</h3>${inner}</section>`;
  if (!board.deck) return head(html`<p><${Absent}>Agents and calls inside a session are not read in this run.<//></p>`);
  if (!deck.body) return head(deck.failed ? html`<p><${Absent}>The calls could not be read: ${deck.failed}.<//></p>` : html`<p class="quiet-text" aria-busy="true">Reading the calls…</p>`);
  const list = chosen(calls, pick);
  const tools = [...new Map(calls.map((c) => [c.tool, c.label])).entries()];
  const agents = [...new Map(calls.map((c) => [c.agent, c.by])).entries()];
  return head(html`${deck.failed ? html`<p><${Absent}>These calls may be old: the last read failed, ${deck.failed}.<//></p>` : null}
    ${calls.length ? html`${made ? html`<${Time} made=${made} />` : null}
      <div class="picks"><${Pick} id=${`${key}|agent`} label="agent" value=${pick.agent} options=${agents} change=${(v) => set({ agent: v })} /><${Pick} id=${`${key}|tool`} label="tool" value=${pick.tool} options=${tools} change=${(v) => set({ tool: v })} />
        <${Pick} id=${`${key}|status`} label="status" value=${pick.status} options=${['open', 'stalled', 'ok', 'error', 'unknown'].map((s) => [s, s])} change=${(v) => set({ status: v })} />
        <button type="button" class="btn btn-quiet" data-act="calls-order" data-fk=${`${key}|order`} onClick=${() => set({ newest: !pick.newest })}>${pick.newest ? 'newest first' : 'in order'}</button><span class="quiet-text">${list.length} of ${calls.length}</span></div>
      ${list.length ? html`<${List} calls=${list} newest=${pick.newest} id=${`${key}|list`} />` : html`<p><${Absent}>No call fits this filter.<//></p>`}` : html`<p><${Absent}>No call of this session is on record.<//></p>`}
    ${objects(deck.body?.degrades).map((d) => sentence(d, row.harnessLabel)).filter(Boolean).map((t) => html`<${Note}><${T} s=${t} /><//>`)}
    ${limitsOf(deck.body, (t) => clock(t, board.generated)).map((t) => html`<${Note}>${t}<//>`)}`);
}
