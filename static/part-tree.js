// The agents of a session: an indented tree whose elbows are borders and whose figures stand in columns over all depths, and on
// wide screens with four or more live agents a graph of the same. The list is always there; it is what assistive technology reads.
import { useState } from './hooks.js';
import { Age, T, html } from './part-base.js';
import { Dot } from './part-badge.js';
import { opened } from './app-context.js';
import { many } from './format.js';
import { FOLD, folded, forest, graph, pruned, tally } from './layout.js';

// A folded node already says `stopped`.
const SHAPE = { folded: 'stopped', working: 'working', waiting: 'needs_input', idle: 'idle', stopped: 'stopped', 'not-started': 'unknown', unknown: 'unknown' };
const SAID = { waiting: 'waiting', idle: 'idle', stopped: 'stopped', 'not-started': 'not started', unknown: 'state not read' };

/** A figure that is not there: a dash, with the reason for the pointer and for the reader's ear. */
const Dash = ({ why }) => html`<span class="absent" data-absent="" title=${why}>—<span class="sr"> ${why}</span></span>`;

const Shape = ({ node }) => html`<${Dot} state=${SHAPE[node.state] ?? 'unknown'} live=${node.live && node.state === 'working'} />`;

function Elapsed({ node }) {
  if (node.turn) return html`<span title="The turn it is in">${node.turn}</span>`;
  if (node.live && node.since) return html`<span class="sr">for </span><${Age} since=${node.since} live=${true} />`;
  if (node.ran) return html`<span title="From its start to its last record"><span class="sr">ran </span>${node.ran}</span>`;
  return node.out && node.state !== 'not-started' ? html`<${Dash} why="When it started is not published" />` : null;
}

function Output({ out }) {
  if (!out.words) return html`<${Dash} why=${out.why} />`;
  return html`<span title=${`${out.of}, on average since it started`}>${out.words}<span class="sr"> on average since it started, ${out.of}</span></span>`;
}

function Line({ node, href }) {
  const of = [node.kind === node.name ? null : node.kind, node.model].filter(Boolean);
  return html`<div class="tree-line"><span class="tree-who"><${Shape} node=${node} /><span class="tree-name">${href ? html`<a href=${href(node)}><${T} s=${node.name} /></a>` : html`<${T} s=${node.name} />`}</span>${node.errors > 0 ? html`${'\u2002'}<span class="mark-clay">${many(node.errors, 'error').replace(' ', '\u00a0')}</span>` : null}</span>
    ${' '}<span class="tree-facts quiet-text"><span class="tree-kind">${of.map((t, i) => html`${i ? ' · ' : ''}<${T} s=${t} />`)}${node.by ? html`${of.length ? ' · ' : ''}by <${T} s=${node.by} />` : null}</span>
      ${' '}${SAID[node.state] ? html`<span class=${`tree-state${node.state === 'waiting' ? ' row-need' : ''}`}>${SAID[node.state]}</span>` : html`<span class="sr">${node.state}</span>`}</span>
    ${' '}<span class="tree-age fig quiet-text"><${Elapsed} node=${node} /></span>${node.out ? html` <span class="tree-out fig quiet-text"><${Output} out=${node.out} /></span>` : null}</div>`;
}

function Branch({ nodes, total, id, href, deep = false }) {
  const [, again] = useState(null);
  const key = `tree|${id}`;
  const { shown, hidden } = folded(nodes, total);
  const open = opened.get(key) === true;
  const list = open ? nodes : shown;
  const cls = deep ? 'tree-node tree-sub' : 'tree-node';
  return html`<ul class="tree-list">
    ${list.map((n) => html`<li class=${cls} key=${n.id}><${Line} node=${n} href=${href} />
      ${n.children.length ? html`<${Branch} nodes=${n.children} total=${total} id=${`${id}/${n.id}`} href=${href} deep=${true} />` : null}</li>`)}
    ${hidden.length ? html`<li class=${cls}><button type="button" class="btn btn-quiet" data-act="tree-fold" data-fk=${key} aria-expanded=${open ? 'true' : 'false'}
      onClick=${() => { opened.set(key, !open); again({}); }}>${open ? `Fold ${hidden.length} stopped` : `${hidden.length} stopped`}</button></li>` : null}
  </ul>`;
}

// One mark for each agent, like beside like: a crowd is seen before it is read.
function Crowd({ list }) {
  const all = tally(list);
  return html`<p class="pills crowd-dots" aria-hidden="true">${all.map(([state, n]) => html`<span class="pills">${Array.from({ length: n }, () => html`<${Dot} state=${SHAPE[state]} live=${false} />`)}</span>`)}</p>
    <p class="strip-caption quiet-text">${all.map(([state, n]) => `${n} ${SAID[state] ?? state}`).join(' · ')}</p>`;
}

function Graph({ roots, total, href }) {
  const g = graph(roots.map((root) => ({ ...root, children: pruned(root.children, total) })));
  return html`<div class="graph panel" tabindex="0" role="group" aria-label="Graph of the agents in the list below"><div class="graph-in" aria-hidden="true" style=${{ width: `${g.width}px`, height: `${g.height}px` }}>
    <svg class="quiet-text" fill="none" stroke="currentColor" width=${g.width} height=${g.height} viewBox=${`0 0 ${g.width} ${g.height}`} focusable="false">
      ${g.edges.map((e) => html`<path stroke-dasharray=${e.live ? undefined : '3 3'} d=${e.path} />`)}</svg>
    ${g.boxes.map(({ node, x, y, height }) => html`<div class=${`graph-box${node.live ? '' : ' graph-still'}`} title=${[node.kind, node.model].filter(Boolean).join(' · ') || undefined} style=${{ left: `${x}px`, top: `${y}px`, width: `${g.box.width}px`, height: `${height}px` }}>
      <div class="tree-who"><${Shape} node=${node} /><span class="tree-name">${href && node.state !== 'folded' ? html`<a href=${href(node)} tabindex="-1"><${T} s=${node.name} /></a>` : html`<${T} s=${node.name} />`}</span></div>
      ${node.state === 'folded' ? null : html`<div class="graph-facts quiet-text">${SAID[node.state] ? html`<span class=${node.state === 'waiting' ? 'row-need' : null}>${SAID[node.state]}</span>` : null}<span class="fig"><${Elapsed} node=${{ ...node, out: null }} /></span>${node.out?.words ? html`<span class="fig">${node.out.words}</span>` : null}</div>`}</div>`)}
  </div></div>`;
}

/**
 * `root` is the session's own agent as a node; `list` its children as `forest` takes them; `omitted` older workers left out;
 * `href(node)` makes a node a link; `head` is what stands on one line with the switch.
 */
export function Tree({ id, root, list, omitted = 0, href = null, head = null }) {
  const [, again] = useState(null);
  const roots = [{ ...root, id: root.id ?? 'root', children: forest(list), by: null }];
  const mayGraph = list.filter((n) => n.live).length >= 4;
  const key = `graph|${id}`;
  const asGraph = mayGraph && opened.get(key) === true;
  return html`<div class="tree">
    ${head || mayGraph ? html`<div class="tree-top">${head}${mayGraph ? html`<button type="button" class="btn btn-quiet tree-switch" data-act="tree-graph" data-fk=${key} aria-pressed=${asGraph ? 'true' : 'false'}
      onClick=${() => { opened.set(key, !asGraph); again({}); }}>Graph</button>` : null}</div>` : null}
    ${list.length >= FOLD ? html`<${Crowd} list=${list} />` : null}
    ${asGraph ? html`<${Graph} roots=${roots} total=${list.length + 1} href=${href} />` : null}
    ${/* Behind a graph the list is hidden, until the keyboard walks through it. */ null}
    <div class=${asGraph ? 'sr' : null}>${root.out ? html`<div class="tree-line tree-head" aria-hidden="true"><span class="label">agent</span><span class="tree-facts"><span class="tree-kind label">type · model</span><span class="tree-state label">state</span></span><span class="tree-age label">elapsed</span><span class="tree-out label" title="Output tokens a minute, on average since it started">output</span></div>` : null}
      <${Branch} nodes=${roots} total=${list.length + 1} id=${id} href=${href} /></div>
    ${omitted > 0 ? html`<p class="absent" data-absent="">+${omitted} older finished ${omitted === 1 ? 'worker' : 'workers'} omitted</p>` : null}
  </div>`;
}
