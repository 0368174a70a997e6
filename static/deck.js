// The agents and calls of one session, from the deck's reply to what the page draws. Names and times only: nothing is derived
// from a model's name, and silence is measured, never read as waiting. Pure.
import { duration, many, num, rate, tokens } from './format.js';
import { moment, objects, str, strings } from './model.js';

const LIVE = ['working', 'waiting'];
const STATES = ['working', 'waiting', 'idle', 'stopped', 'not-started', 'unknown'];
const WAITS = ['AskUserQuestion', 'ExitPlanMode'];
/** Seconds of silence after which an open call is marked. */
export const STALL = 120;

/**
 * Output of an agent as a mean over its own time, `{words, of}`, or `{why}` it cannot be given. Over less than ten seconds a
 * mean says nothing.
 */
export function outputOf(agent, generated) {
  const made = num(agent.output_tokens);
  const from = moment(agent.started_at);
  const to = LIVE.includes(agent.state) ? generated : moment(agent.last_activity);
  if (agent.state === 'not-started') return { why: 'It has not started' };
  if (made === null || made < 0) return { why: 'Its output tokens are not published' };
  if (from === null || to === null) return { why: 'How long it has run is not published' };
  if (to - from < 10) return { why: 'It has run for less than ten seconds' };
  const mean = made / ((to - from) / 60);
  return { words: made > 0 && mean < 0.5 ? '<1/m' : rate(mean), of: `${tokens(made)} output tokens in ${duration(to - from)}` };
}

/** `{root, list}` for the tree, rooted at `agent` when that one exists; null without agents. */
export function agentsOfDeck(body, agent = null) {
  const all = objects(body?.agents).filter((a) => str(a.id));
  if (!all.length) return null;
  const names = new Map(all.map((a) => [a.id, str(a.name) || a.id]));
  const top = all[0];
  const generated = num(body.generated);
  // A model stands where it differs from that of the first agent, and beside that one.
  const node = (a) => {
    const since = moment(a.started_at);
    const last = moment(a.last_activity);
    return {
      id: a.id, parent: str(a.parent) || null, parentName: names.get(a.parent) ?? str(a.parent), name: names.get(a.id), model: a === top || str(a.model) !== str(top.model) ? str(a.model) || null : null, kind: str(a.type) || null,
      state: STATES.includes(a.state) ? a.state : 'unknown', live: LIVE.includes(a.state), since, ran: since === null || last === null ? null : duration(last - since), out: outputOf(a, generated), errors: num(a.errors) ?? 0,
    };
  };
  const root = all.find((a) => a.id === agent) ?? top;
  const inside = new Set([root.id]);
  for (let grew = true; grew;) {
    grew = false;
    for (const a of all) {
      if (inside.has(a.id) || !inside.has(a.parent)) continue;
      inside.add(a.id);
      grew = true;
    }
  }
  const list = all.filter((a) => a !== root && (root === top || inside.has(a.id))).map(node).map((n) => ({ ...n, parent: n.parent === root.id ? null : n.parent }));
  return { root: node(root), list, whole: root === top, names, top: top.id };
}

/** Calls with what the page says of each, in file order. `turns` are times at which the person spoke, ascending. */
export function callsOf(body, turns = []) {
  const names = new Map(objects(body?.agents).map((a) => [a.id, str(a.name) || a.id]));
  const quiet = new Map(objects(body?.agents).map((a) => [a.id, moment(a.last_activity)]));
  const generated = num(body?.generated);
  const calls = objects(body?.calls);
  const first = calls.length ? moment(calls[0].at) : null;
  let turn = -1;
  return calls.map((c, i) => {
    const at = moment(c.at);
    const ended = moment(c.ended_at);
    while (at !== null && turn + 1 < turns.length && turns[turn + 1] <= at) turn += 1;
    const from = turn >= 0 ? turns[turn] : first;
    const status = ['open', 'ok', 'error', 'unknown'].includes(c.status) ? c.status : 'unknown';
    const silent = status === 'open' && generated !== null ? generated - (quiet.get(c.agent) ?? at ?? generated) : 0;
    const gap = num(c.gap);
    return {
      id: str(c.id) || String(i), agent: str(c.agent), by: names.get(c.agent) ?? str(c.agent), tool: str(c.tool), label: str(c.label) || str(c.tool) || 'tool not named', at, ended, status,
      offset: at === null || from === null ? null : duration(at - from), gap: gap === null ? null : duration(gap), took: at === null || ended === null ? null : duration(ended - at),
      stalled: silent > STALL && !WAITS.includes(c.tool) ? duration(silent) : null, spawned: str(c.spawned) ? names.get(c.spawned) ?? c.spawned : null,
    };
  });
}

/** The calls a reader's filter leaves, newest first when `newest`. */
export function chosen(calls, { agent, tool, status, newest }) {
  const list = calls.filter((c) => (!agent || c.agent === agent) && (!tool || c.tool === tool) && (!status || (status === 'stalled' ? c.stalled : c.status === status)));
  return newest ? list.reverse() : list;
}

function joined(blocks, least) {
  const out = [];
  for (const b of [...blocks].sort((a, z) => a.from - z.from)) {
    const last = out[out.length - 1];
    if (last && last.state === b.state && b.from - last.to < least) last.to = Math.max(last.to, b.to);
    else out.push({ ...b });
  }
  return out;
}

/** Lanes for a strip: an agent's calls as work, its silences as quiet; at most eight agents, those with calls first met. */
export function lanesOf(body, calls, turns) {
  const lanes = new Map();
  const lane = (agent, name) => {
    if (!lanes.has(agent) && lanes.size < 8) lanes.set(agent, { key: agent, label: name, blocks: [], turns: [] });
    return lanes.get(agent);
  };
  const generated = num(body?.generated);
  for (const c of calls) {
    if (c.at === null) continue;
    lane(c.agent, c.by)?.blocks.push({ state: 'working', from: c.at, to: c.ended ?? (c.status === 'open' ? generated ?? c.at : c.at + 1) });
  }
  for (const s of objects(body?.silences)) if (moment(s.from) && moment(s.to)) lanes.get(s.agent)?.blocks.push({ state: 'idle', from: s.from, to: s.to });
  const list = [...lanes.values()];
  const times = list.flatMap((l) => l.blocks.flatMap((b) => [b.from, b.to]));
  if (times.length < 2) return null;
  const from = times.reduce((a, b) => Math.min(a, b));
  const to = times.reduce((a, b) => Math.max(a, b));
  // Thousands of calls are drawn as what the eye can tell apart: those closer than a three-hundredth of the window join.
  const least = (to - from) / 300;
  for (const l of list) l.blocks = joined(l.blocks, least);
  if (list[0]) list[0].turns = turns.filter((t) => t >= from && t <= to);
  return to > from ? { lanes: list, from, to } : null;
}

/** Findings as sentences; each is evidence and says so by its words. */
export function findingsOf(body) {
  const names = new Map(objects(body?.agents).map((a) => [a.id, str(a.name) || a.id]));
  return objects(body?.findings).map((f) => {
    const who = names.get(f.agent) ?? str(f.agent);
    const n = num(f.count) ?? 0;
    return {
      repeat: `${who} called ${str(f.tool)} ${n} times in a row; whether the inputs were the same was not compared.`,
      churn: `${who} met ${n} failures of ${str(f.tool)} one after the other, each followed by the same tool.`,
      'silent-agent': `${who} has written nothing for more than two minutes while its parent works.`,
      compactions: `${many(n, 'compaction')} of the context ${n === 1 ? 'is' : 'are'} on record.`,
    }[f.kind];
  }).filter(Boolean);
}

const PARKED = { 'parent-not-found': 'the record of its parent was not found', cycle: 'its parents form a ring', 'too-many': 'more agents than are read' };

/** Agents that could not be placed, with the reason. */
export const parkedOf = (body) => objects(body?.parked).map((p) => ({ id: str(p.id), name: str(p.name) || str(p.id), why: PARKED[p.reason] ?? 'it could not be placed' }));

/** What the reading of this session left out. */
export function limitsOf(body, words) {
  const out = [];
  const read = body?.read !== null && typeof body?.read === 'object' ? body.read : {};
  if (read.whole === false) out.push(`Only the newest part of its record was read${moment(read.from) && words(read.from) ? `, from ${words(read.from)} on` : ''}.`);
  const cannot = strings(body?.cannot);
  if (cannot.length) out.push(`This harness's store does not say: ${cannot.join(', ').replaceAll('.', ' ')}.`);
  return out;
}
