// Where things go in a tree, a graph and a strip. Pure and deterministic: the same input gives the same drawing, in payload
// order, with nothing that moves by itself.
import { clock, duration } from './format.js';

/** Branches of stopped agents fold above this many nodes. */
export const FOLD = 12;

/**
 * A forest from a flat list of `{id, parent, ...}`. A parent that is not in the list, or that would close a ring, hangs its
 * child at the root with `by` naming it. Order is the list's own.
 */
export function forest(list) {
  const nodes = new Map(list.map((item) => [item.id, { ...item, children: [], by: null }]));
  const roots = [];
  for (const node of nodes.values()) {
    const parent = node.parent === null || node.parent === undefined ? null : nodes.get(node.parent);
    if (parent && !rings(nodes, node)) parent.children.push(node);
    else {
      if (node.parent !== null && node.parent !== undefined) node.by = String(node.parentName ?? node.parent);
      roots.push(node);
    }
  }
  return roots;
}

function rings(nodes, node) {
  const seen = new Set([node.id]);
  for (let at = nodes.get(node.parent); at; at = nodes.get(at.parent)) {
    if (seen.has(at.id)) return true;
    seen.add(at.id);
  }
  return false;
}

/** A row's subagents as input for `forest`: the parent is published as a name, and the first of that name is meant. */
export function agentsOf(subagents) {
  const first = new Map();
  subagents.list.forEach((s, i) => first.has(s.name) || first.set(s.name, i));
  return subagents.list.map((s, i) => {
    const at = s.parent === null ? null : first.get(s.parent) ?? `?${s.parent}`;
    return { id: i, parent: at === i ? `?${s.parent}` : at, parentName: s.parent, name: s.name, model: s.model, since: s.startedAt, state: s.live ? 'working' : 'stopped', live: s.live };
  });
}

/** Splits siblings into those drawn and the stopped leaves folded away, once a tree has grown past `FOLD` nodes. */
export function folded(nodes, total) {
  if (total <= FOLD) return { shown: nodes, hidden: [] };
  const stopped = (n) => n.state === 'stopped' && n.children.every(stopped);
  return { shown: nodes.filter((n) => !stopped(n)), hidden: nodes.filter(stopped) };
}

/** A forest with the stopped leaves of each parent as one node, for a graph that must stay within a glance. */
export function pruned(nodes, total) {
  const { shown, hidden } = folded(nodes, total);
  const list = shown.map((n) => ({ ...n, children: pruned(n.children, total) }));
  if (hidden.length) list.push({ id: `fold-${hidden[0].id}`, name: `${hidden.length} stopped`, state: 'folded', live: false, children: [], since: null, model: null, by: null });
  return list;
}

/** How many agents are in each state, most urgent first, as `[state, n]`. */
export function tally(list) {
  const order = ['waiting', 'working', 'idle', 'not-started', 'unknown', 'stopped'];
  return order.map((state) => [state, list.filter((n) => n.state === state).length]).filter(([, n]) => n > 0);
}

// A name that needs a second or third line makes its box taller.
const tall = (node) => 44 + 16 * Math.min(2, Math.max(0, Math.floor((String(node.name ?? '').length - 1) / 22)));

/**
 * Places for a graph: a column for each depth, leaves one beneath the other, parents level with their first child. Edges meet
 * a box at its first line. Sizes in px.
 */
export function graph(roots, { width = 190, gapX = 24, gapY = 8, line = 22 } = {}) {
  const boxes = [];
  const edges = [];
  let depthMost = 0;
  // Answers the first free height beneath what it placed.
  const place = (node, depth, y) => {
    depthMost = Math.max(depthMost, depth);
    const box = { node, x: depth * (width + gapX), y, height: tall(node) };
    boxes.push(box);
    const x1 = box.x + width;
    let free = y;
    for (const child of node.children) {
      const at = free;
      edges.push({ path: `M${x1} ${y + line}H${x1 + gapX / 2}V${at + line}H${x1 + gapX}`, live: child.live });
      free = place(child, depth + 1, at);
    }
    return Math.max(free, y + box.height + gapY);
  };
  const end = roots.reduce((free, root) => place(root, 0, free), 0);
  return { boxes, edges, width: (depthMost + 1) * (width + gapX) - gapX, height: Math.max(0, end - gapY), box: { width } };
}

const STEPS = [10, 30, 60, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];

/** Times for the marks under a strip: at most about seven, at whole minutes or hours of the local clock. */
export function ticks(from, to) {
  const span = to - from;
  if (!(span > 0)) return [];
  const step = STEPS.find((s) => span / s <= 7) ?? STEPS[STEPS.length - 1];
  const shift = new Date(from * 1000).getTimezoneOffset() * 60;
  const out = [];
  for (let t = Math.ceil((from - shift) / step) * step + shift; t <= to && out.length < 16; t += step) {
    out.push({ at: t, left: (100 * (t - from)) / span, text: clock(t, to) });
  }
  return out;
}

/** Neighbouring blocks of one state become one; what is outside the window is cut; order is by time. */
export function blocks(list, from, to) {
  const out = [];
  for (const b of [...list].sort((a, z) => a.from - z.from)) {
    const start = Math.max(b.from, from);
    const end = Math.min(b.to, to);
    if (!(end >= start)) continue;
    const last = out[out.length - 1];
    if (last && last.state === b.state && start - last.to < 1) last.to = Math.max(last.to, end);
    else out.push({ state: b.state, from: start, to: end });
  }
  return out.map((b) => ({
    ...b, left: (100 * (b.from - from)) / (to - from), width: (100 * (b.to - b.from)) / (to - from),
    words: `${clock(b.from, to)}–${clock(b.to, to)} ${b.state.replace('_', ' ')}, ${duration(b.to - b.from)}`,
  }));
}
