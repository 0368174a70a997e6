// The agents of a session: an indented tree whose elbows are borders, and on wide screens with four or more live agents a
// graph of the same. The list is always there; it is what assistive technology reads.
import { useState } from './hooks.js';
import { Age, T, html } from './part-base.js';
import { Dot } from './part-badge.js';
import { opened } from './app-context.js';
import { FOLD, folded, forest, graph, pruned, tally } from './layout.js';

// A folded node already says `stopped`.
const SHAPE = { folded: 'stopped', working: 'working', waiting: 'needs_input', idle: 'idle', stopped: 'stopped', 'not-started': 'unknown', unknown: 'unknown' };
const SAID = { waiting: 'waiting', idle: 'idle', stopped: 'stopped', 'not-started': 'not started', unknown: 'state not read' };

function Name({ node, href }) {
  return html`<${Dot} state=${SHAPE[node.state] ?? 'unknown'} live=${node.live && node.state === 'working'} />
    <span class="tree-name">${href ? html`<a href=${href(node)}><${T} s=${node.name} /></a>` : html`<${T} s=${node.name} />`}</span>
    ${node.model ? html`<span class="tree-meta"><${T} s=${node.model} /></span>` : null}
    ${node.by ? html`<span class="tree-meta">by <${T} s=${node.by} /></span>` : null}
    ${SAID[node.state] ? html`<span class="tree-meta">${SAID[node.state]}</span>` : null}
    ${node.live && node.since ? html`<${Age} since=${node.since} live=${true} fixed=${true} />` : null}`;
}

function Branch({ nodes, total, id, href }) {
  const [, again] = useState(null);
  const key = `tree|${id}`;
  const { shown, hidden } = folded(nodes, total);
  const open = opened.get(key) === true;
  const list = open ? nodes : shown;
  return html`<ul class="tree-list">
    ${list.map((n) => html`<li class="tree-node" key=${n.id}><div class="tree-line"><${Name} node=${n} href=${href} /></div>
      ${n.children.length ? html`<${Branch} nodes=${n.children} total=${total} id=${`${id}/${n.id}`} href=${href} />` : null}</li>`)}
    ${hidden.length ? html`<li class="tree-node"><button type="button" class="btn btn-quiet" data-act="tree-fold" data-fk=${key} aria-expanded=${open ? 'true' : 'false'}
      onClick=${() => { opened.set(key, !open); again({}); }}>${open ? `Fold ${hidden.length} stopped` : `${hidden.length} stopped`}</button></li>` : null}
  </ul>`;
}

// One mark for each agent, in their order: a crowd is seen before it is read.
function Crowd({ list }) {
  return html`<p class="crowd"><span class="crowd-dots" aria-hidden="true">${list.map((n) => html`<${Dot} state=${SHAPE[n.state] ?? 'unknown'} live=${false} />`)}</span>
    <span>${tally(list).map(([state, n]) => `${n} ${SAID[state] ?? state}`).join(' · ')}</span></p>`;
}

function Graph({ roots, total }) {
  const g = graph(roots.map((root) => ({ ...root, children: pruned(root.children, total) })));
  return html`<div class="graph" aria-hidden="true"><div class="graph-in" style=${{ width: `${g.width}px`, height: `${g.height}px` }}>
    <svg class="graph-lines" width=${g.width} height=${g.height} viewBox=${`0 0 ${g.width} ${g.height}`} focusable="false">
      ${g.edges.map((e) => html`<path class=${e.live ? 'graph-edge' : 'graph-edge graph-gone'} d=${e.path} />`)}</svg>
    ${g.boxes.map((b) => html`<div class=${`graph-box${b.node.live ? '' : ' graph-still'}`} style=${{ left: `${b.x}px`, top: `${b.y}px`, width: `${g.box.width}px`, height: `${g.box.height}px` }}>
      <${Name} node=${b.node} /></div>`)}
  </div></div>`;
}

/**
 * `root` is the session's own agent as a node; `list` its children as `forest` takes them; `omitted` older workers left out;
 * `href(node)` makes a node a link.
 */
export function Tree({ id, root, list, omitted = 0, href = null }) {
  const [, again] = useState(null);
  const roots = [{ ...root, id: root.id ?? 'root', children: forest(list), by: null }];
  const mayGraph = list.filter((n) => n.live).length >= 4;
  const key = `graph|${id}`;
  const asGraph = mayGraph && opened.get(key) === true;
  const many = list.length >= FOLD;
  return html`<div class=${`tree${asGraph ? ' tree-graphed' : ''}${many ? ' tree-many' : ''}`}>
    ${many ? html`<${Crowd} list=${list} />` : null}
    ${mayGraph ? html`<button type="button" class="btn btn-quiet tree-switch" data-act="tree-graph" data-fk=${key} aria-pressed=${asGraph ? 'true' : 'false'}
      onClick=${() => { opened.set(key, !asGraph); again({}); }}>Graph</button>` : null}
    ${asGraph ? html`<${Graph} roots=${roots} />` : null}
    <div class="tree-text"><${Branch} nodes=${roots} total=${list.length + 1} id=${id} href=${href} /></div>
    ${omitted > 0 ? html`<p class="absent" data-absent="">+${omitted} older finished ${omitted === 1 ? 'worker' : 'workers'} omitted</p>` : null}
  </div>`;
}
