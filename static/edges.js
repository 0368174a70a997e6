// Which changes between two payloads are worth a notification. Pure but for what it remembers: no DOM, no clock of its own.
import { objects, str } from './model.js';

const QUIET = 600_000;
const SEEN = 4096;

/**
 * Follows payloads and says what to raise. `hear(board, {leading, now})` answers a list of `{title, body, tag, route}`; the
 * first call answers none. Pure but for what it remembers, so a test can drive it.
 */
export function edges() {
  let states = null;
  const quieted = new Map();
  const asked = new Set();
  const tripped = new Set();

  function sessions(board, now, first) {
    const out = [];
    const next = new Map();
    for (const row of board.rows) {
      const state = row.raw.state;
      const was = states?.get(row.key);
      next.set(row.key, state);
      if (first || was === undefined || was === state || board.quietHours) continue;
      const body = (fallback) => `[${row.project || 'no project'}] ${str(row.raw.state_detail) || fallback}`;
      const route = { view: 'session', project: row.project, harness: row.harness, sid: row.sid };
      if (was === 'working' && state === 'idle') {
        if (now - (quieted.get(row.key) ?? -Infinity) < QUIET) continue;
        quieted.set(row.key, now);
        out.push({ title: `${row.harnessLabel} has gone quiet`, body: body('It stopped writing.'), tag: row.key, route });
      } else if (state === 'needs_input' && row.recent) {
        out.push({ title: `${row.harnessLabel} is waiting on you`, body: body('It reported that it needs your input.'), tag: row.key, route });
      }
    }
    // A session that left the board and comes back later starts anew; one seen waiting before stays known.
    states = next;
    for (const [key, at] of quieted) if (now - at >= QUIET) quieted.delete(key);
    return out;
  }

  function questions(board, first) {
    const fresh = [];
    for (const q of board.ask ? objects(board.payload.asks) : []) {
      const id = str(q.id);
      if (!id || asked.has(id)) continue;
      asked.add(id);
      if (!first) fresh.push(q);
    }
    if (!fresh.length) return [];
    if (fresh.length > 1) return [{ title: `${fresh.length} questions are waiting for your answer`, body: 'Open Attention to answer them.', tag: 'cargento-ask', route: { view: 'attention' } }];
    const [q] = fresh;
    const label = board.byHarness.get(str(q.harness))?.label;
    const project = str(q.project);
    const whole = `${str(q.question)}${project ? ` · ${project}` : ''}`;
    return [{ title: `${label ?? 'An agent'} is asking you`, body: whole.length <= 180 ? whole : str(q.question), tag: `cargento-ask:${q.id}`, route: { view: 'attention' } }];
  }

  function conditions(board, leading, first) {
    const out = [];
    for (const rule of objects(board.payload.tripwires?.rules)) {
      const id = str(rule.event_id);
      if (!id || tripped.has(id)) continue;
      tripped.add(id);
      if (!first && leading && !board.quietHours) out.push({ title: 'A stage condition was met', body: [str(rule.workflow), str(rule.stage)].filter(Boolean).join(' · ') || 'A saved condition on a workflow stage.', tag: `cargento-stage:${id}`, route: { view: 'projects' } });
    }
    return out;
  }

  return {
    hear(board, { leading, now }) {
      const first = states === null;
      const out = [...sessions(board, now, first), ...questions(board, first), ...conditions(board, leading, first)];
      for (const set of [asked, tripped]) while (set.size > SEEN) set.delete(set.values().next().value);
      return out;
    },
  };
}
