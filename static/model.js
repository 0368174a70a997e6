// From the payload to what the page shows. Pure: no DOM, no clock, no storage. The payload is untrusted: a wrong type counts
// as absent, a list holds only what fits it, nothing throws. A row that did not change keeps its object, so a list of 500
// sessions redraws the five that moved. Times stay times here; ages are worked out where they are printed.
import { ABSENT, authority, many, num, repeatsTitle, resumeCommand, since, toolText } from './format.js';

/** A string, else empty. */
export const str = (v) => (typeof v === 'string' ? v : '');
/** The objects of a list; anything else in it, and anything that is no list, is skipped. */
export const objects = (v) => (Array.isArray(v) ? v.filter((x) => x !== null && typeof x === 'object' && !Array.isArray(x)) : []);
/** The non-empty strings of a list. */
export const strings = (v) => (Array.isArray(v) ? v.filter((x) => typeof x === 'string' && x) : []);
/** A time in seconds after the epoch, else null: 0 and below mean unknown, and no date has a name beyond the last. */
export const moment = (v) => (num(v) > 0 && v < 8.64e12 ? v : null);
const object = (v) => (v !== null && typeof v === 'object' && !Array.isArray(v) ? v : null);
const int = (v) => (Number.isInteger(v) ? v : null);

/** Two-letter marks of the ten harnesses. */
export const MONOGRAM = {
  claude: 'CC', codex: 'CX', pi: 'PI', gemini: 'GE', antigravity: 'AG', copilot: 'CP', opencode: 'OC', cursor: 'CU', goose: 'GO', droid: 'DR',
};

/** The word of each state. */
export const STATE_WORD = { needs_input: 'needs input', working: 'working', idle: 'idle', ended: 'ended', unknown: 'no state' };

const DEPTH = 24;

/** `next` with every part that equals its counterpart in `last` replaced by it, so that equal means identical. */
export function share(last, next, depth = 0) {
  if (last === next) return last;
  if (typeof last !== 'object' || typeof next !== 'object' || !last || !next || depth > DEPTH) return next;
  if (Array.isArray(last) !== Array.isArray(next)) return next;
  if (Array.isArray(next)) {
    let same = last.length === next.length;
    for (let i = 0; i < next.length; i += 1) {
      next[i] = share(last[i], next[i], depth + 1);
      if (next[i] !== last[i]) same = false;
    }
    return same ? last : next;
  }
  const keys = Object.keys(next);
  let same = keys.length === Object.keys(last).length;
  for (const key of keys) {
    next[key] = share(last[key], next[key], depth + 1);
    if (next[key] !== last[key] || !(key in last)) same = false;
  }
  return same ? last : next;
}

// ---- one session

const WAITS = ['needs_input', 'working', 'idle'];

function goalOf(raw, harness, title, instruction, annotate) {
  if (!annotate) return { kind: 'off', label: 'GOAL', text: 'Annotations off' };
  const typed = str(raw.annotation_goal);
  if (typed) {
    const adopted = ['latest-prompt', 'first-prompt'].includes(raw.annotation_goal_source);
    return { kind: adopted ? 'adopted' : 'typed', label: adopted ? 'GOAL · FROM YOUR PROMPT' : 'GOAL · YOUR WORDS', text: typed };
  }
  const offers = prompts(raw, harness, title, instruction);
  const shown = offers.latest ?? offers.first;
  if (!shown) return { kind: 'add', label: 'GOAL', text: 'Add a goal' };
  return { kind: shown.source, label: shown.source === 'first-prompt' ? 'GOAL · YOUR FIRST PROMPT' : 'GOAL · YOUR LATEST PROMPT', text: shown.text, at: shown.at };
}

/** The prompts a goal may be taken from, exactly as published: `{first, latest}`, each `{source, text, at}` or null. */
export function prompts(raw, harness, title, instruction) {
  const offer = (source, text, at) => (text ? { source, text, at: moment(at) } : null);
  if (harness !== 'claude' && harness !== 'codex') return { first: null, latest: null };
  const first = raw.first_prompt_control === true ? null : offer('first-prompt', str(raw.first_prompt), raw.first_prompt_at);
  let latest = null;
  if (harness === 'claude' && instruction?.label === 'asked') latest = offer('latest-prompt', instruction.text, instruction.at);
  if (harness === 'codex' && raw.prompt_states_work === true) latest = offer('latest-prompt', title, raw.prompt_at);
  return { first, latest };
}

/** The stored reading, when it has the shape of one. */
export function readingOf(raw) {
  const reading = object(raw.annotation_assessment);
  return reading && object(reading.criteria) ? reading : null;
}

/** True while the person said something after the saved words that nothing has settled: then a reading states no departure. */
export function unsettled(raw, instruction) {
  const floor = Math.max(
    moment(raw.annotation_settled_through) ?? 0,
    moment(raw.annotation_goal_source_at) ?? moment(raw.annotation_goal_saved_at) ?? moment(raw.annotation_at) ?? 0,
  );
  const later = Math.max(instruction?.label === 'asked' ? instruction.at ?? 0 : 0, moment(raw.prompt_at) ?? 0);
  return floor > 0 && later > floor;
}

function driftOf(raw, instruction, annotate) {
  if (!annotate) return null;
  const times = [];
  const revisions = [];
  for (const d of objects(raw.departures)) {
    if (!str(d.constraint)) continue;
    times.push(moment(d.at));
    revisions.push(int(d.revision) > 0 ? d.revision : null);
  }
  const reading = readingOf(raw);
  if (reading && !unsettled(raw, instruction)) {
    const departs = Object.values(reading.criteria).some((c) => object(c) && c.result === 'departure' && strings(c.cites).length > 0);
    if (departs) {
      times.push(moment(reading.read_at));
      revisions.push(int(reading.revision_read));
    }
  }
  if (!times.length) return null;
  const known = times.filter((t) => t !== null);
  const now = int(raw.annotation_revision);
  const read = revisions.filter((r) => r !== null);
  const newest = read.length ? Math.max(...read) : null;
  return {
    at: known.length ? Math.max(...known) : null,
    someUnknown: known.length > 0 && known.length < times.length,
    moved: newest !== null && now !== null && newest !== now ? `read revision ${newest}, ${now} is current` : null,
  };
}

/** True when something has compared this session with its words, whoever asked for it. */
function checked(raw) {
  return raw.departure_checked === true || readingOf(raw) !== null || num(raw.annotation_reading_count) > 0 || objects(raw.departures).length > 0;
}

function loopOf(raw) {
  const loop = object(raw.loop);
  if (!loop) return null;
  const run = int(loop.errors) ?? 0;
  const total = int(loop.failures) ?? 0;
  let text = `${many(run, 'tool call')} in a row came back as errors`;
  if (loop.barren === true) text = `${many(total, 'tool call')} failed this turn and none succeeded`;
  else if (total > run) text = `${many(total, 'tool call')} failed this turn, ${run} of them consecutive`;
  const tool = str(loop.tool);
  return { run, total, text: `${text}${tool ? ` (most recently ${toolText(tool)})` : ''}. Evidence of a loop, not proof.` };
}

function tasksOf(raw) {
  const list = objects(raw.tasks).map((t) => ({
    subject: str(t.subject) || '(untitled)', status: str(t.status) || 'pending', age: str(t.elapsed_h), updated: str(t.updated_ago),
  }));
  const total = Math.max(int(raw.total) ?? 0, 0);
  return { list, total, done: Math.min(Math.max(int(raw.done) ?? 0, 0), total), eta: str(raw.eta_h) || null };
}

function subagentsOf(raw, model) {
  const list = objects(raw.subagents).map((s) => ({
    name: str(s.name) || 'subagent', startedAt: moment(s.started_at), live: s.active !== false, parent: str(s.parent) || null,
    model: model && str(s.model) && s.model !== model ? s.model : null,
  }));
  const direct = list.filter((s) => !s.parent);
  const live = direct.filter((s) => s.live).length;
  const beneath = list.length - direct.length - list.filter((s) => s.parent && !s.live).length;
  let heading = null;
  if (list.length) {
    heading = live > 0 ? `${live} RUNNING ${live === 1 ? 'SUBAGENT' : 'SUBAGENTS'}` : `${direct.length} ${direct.length === 1 ? 'SUBAGENT' : 'SUBAGENTS'} · NONE RUNNING`;
    if (beneath > 0) heading += ` · ${beneath} ${beneath === 1 ? 'WORKER' : 'WORKERS'} RUNNING BENEATH`;
  }
  const liveFirst = [...list.filter((s) => s.live), ...list.filter((s) => !s.live)];
  return { list, liveFirst, live: list.filter((s) => s.live).length, heading, omitted: Math.max(int(raw.subagents_omitted) ?? 0, 0) };
}

function outcomeOf(raw, state, ended) {
  const stopped = !ended && state === 'idle' && moment(raw.finished_at) !== null;
  if (!ended && !stopped) return null;
  const what = ended ? 'Session ended' : 'Stop observed';
  const kind = ended ? 'end' : 'stop';
  if (raw.dirty === true) return { kind: `${kind}-dirty`, tone: 'bad', glyph: '△', words: `${what} with uncommitted work` };
  if (raw.dirty === false) return { kind: `${kind}-clean`, tone: 'ok', glyph: '✓', words: `${what}; git state clean` };
  return { kind: `${kind}-unknown`, tone: 'unknown', glyph: '◦', words: `${what}; git state not measured` };
}

function gitText(raw) {
  if (raw.dirty === true) return int(raw.changed) >= 0 && int(raw.changed) !== null ? many(raw.changed, 'changed entry', 'changed entries') : 'Uncommitted work observed';
  return raw.dirty === false ? 'Git state reported clean' : null;
}

function nowOf(row, raw) {
  if (row.ended) return { text: 'Session reported its own end', known: true, at: row.endedAt, word: 'ended' };
  const doing = row.tasks.list.find((t) => t.status === 'in_progress');
  if (doing) return { text: doing.subject, known: true };
  const detail = str(raw.state_detail);
  // What a harness says of a quiet row is never shown, and a question beside it does not make it news.
  if (row.quiet && (!row.questions.length || /^awaiting your message$/i.test(detail))) {
    return row.lastActivity ? { text: 'last active', known: true, at: row.lastActivity, tail: true } : { text: 'quiet', known: true };
  }
  return detail ? { text: detail, known: true } : { text: ABSENT.activity, known: false };
}

function blockedOf(row, raw) {
  if (row.blocked) return { kind: 'waiting', text: row.questions[0]?.question || str(raw.state_detail) || 'Block reported' };
  if (row.gaps.includes('block state')) return { kind: 'unread', text: ABSENT.blocksUnread };
  return row.reportsWaits ? { kind: 'none', text: 'No reported block' } : { kind: 'unreported', text: ABSENT.blocks };
}

function turnOf(raw, row, harness) {
  const turn = object(raw.turn);
  if (turn && str(turn.elapsed_h)) {
    return { elapsed: turn.elapsed_h, eta: str(turn.eta_h) || null, pct: num(turn.pct), long: turn.long === true };
  }
  const why = row.quiet || row.ended ? 'No turn in progress' : harness.reportsTurns ? 'Turn bounds not published' : 'Harness does not report turn bounds';
  return { elapsed: null, eta: null, pct: null, long: turn?.long === true, why };
}

/** What one published row says, with the fixed words for what it does not. `around` is what the rest of the payload adds. */
export function rowOf(raw, around) {
  const { harness } = around;
  const endedAt = moment(raw.ended_at);
  const ended = endedAt !== null;
  const published = WAITS.includes(raw.state) ? raw.state : 'unknown';
  const state = ended ? 'ended' : published;
  const title = str(raw.title);
  const model = str(raw.model) || null;
  const said = object(raw.instruction);
  const instruction = said && ['asked', 'agent', 'earlier'].includes(said.label) && str(said.text)
    ? { label: said.label, text: said.text, at: moment(said.at) } : null;
  const row = {
    raw, key: `${harness.key}:${str(raw.sid)}`, harness: harness.key, harnessLabel: harness.label, sid: str(raw.sid), session: str(raw.session) || str(raw.sid),
    project: str(raw.project), projectKey: str(raw.project_key), title, state, ended, endedAt,
    working: state === 'working', needs: state === 'needs_input', quiet: state === 'idle',
    recent: raw.active === true, lastActivity: moment(raw.last_activity), startedAt: moment(raw.started_at), finishedAt: moment(raw.finished_at),
    questions: around.questions, gaps: strings(raw.source_gaps), model, authority: authority(harness.key, str(raw.provider), model, str(raw.consumption)),
    reportsWaits: harness.reportsWaits, rate: num(raw.rate_per_min) >= 0 ? num(raw.rate_per_min) : null, reportsRate: harness.reportsRate,
    lastPrompt: str(raw.last_prompt), resume: resumeCommand(harness.key, raw.resume_id), focusable: raw.focusable === true,
    shared: around.shared, unconfirmed: raw.wait_unconfirmed === true, tasks: tasksOf(raw), subagents: subagentsOf(raw, model),
    git: gitText(raw), loop: loopOf(raw), role: null, workflows: [], checked: checked(raw), reports: objects(raw.command_reports),
  };
  row.live = row.working && row.recent;
  row.blocked = row.needs || row.questions.length > 0;
  row.active = row.working || row.blocked;
  row.blockKnown = harness.reportsWaits && !row.gaps.includes('block state');
  const dock = object(raw.spacedock);
  if (dock) {
    row.role = { 'first-officer': 'FIRST OFFICER', ensign: 'ENSIGN' }[dock.role] ?? null;
    row.workflows = objects(dock.workflows);
  }
  row.responsibility = dock ? 'CAPTAIN' : 'NEEDS YOU';
  const asked = row.questions.filter((q) => q.ageKnown).map((q) => q.since);
  row.waitSince = !row.blocked ? null : asked.length ? Math.min(...asked) : moment(raw.blocked_since);
  row.turn = turnOf(raw, row, harness);
  row.long = (row.working || row.needs) && row.turn.long;
  row.now = nowOf(row, raw);
  row.next = row.tasks.list.find((t) => t.status === 'pending')?.subject ?? null;
  row.block = blockedOf(row, raw);
  row.outcome = outcomeOf(raw, state, ended);
  row.scanOnly = !harness.reportsTurnEnd(raw) && row.finishedAt === null;
  row.instruction = instruction;
  row.goal = goalOf(raw, harness.key, title, instruction, around.annotate);
  row.line = instruction && !repeatsTitle(title, instruction.text) ? instruction : null;
  row.drift = driftOf(raw, instruction, around.annotate);
  if (row.outcome) row.tone = row.outcome.tone;
  else if (row.blocked || row.loop || row.long) row.tone = 'want';
  else row.tone = row.blockKnown && (row.working || row.quiet) ? 'ok' : 'unknown';
  row.search = [title, row.project, harness.label, harness.key, model ?? '', row.sid].join('\n').toLowerCase();
  return row;
}

// ---- the board

const SCANNED = ['pi', 'copilot', 'opencode', 'cursor', 'goose', 'droid'];

function harnessOf(raw) {
  const key = str(raw.key);
  const told = typeof raw.reports_turn_end === 'boolean' ? raw.reports_turn_end : null;
  return {
    raw, key, label: str(raw.label) || key, discovered: raw.discovered === true, error: str(raw.error) || null,
    reportsRate: raw.reports_rate === true, reportsWaits: raw.reports_needs_input === true, waitsWhen: str(raw.reports_needs_input_when),
    reportsTurns: typeof raw.reports_turn_bounds === 'boolean' ? raw.reports_turn_bounds : key !== 'cursor',
    reportsTurnEnd: (row) => told ?? row.acquisition !== 'scan-only',
  };
}

/** True when question `q` claims the session of `row`: the full id, or an id that row's short one begins. */
export const claims = (q, harness, sid) => q.harness === harness && sid !== '' && (q.session === sid || (harness === 'claude' && sid.length === 8 && q.session.startsWith(sid)));

function questionsOf(payload, rows) {
  if (payload.ask !== true) return { owned: new Map(), loose: [] };
  const owned = new Map();
  const loose = [];
  const generated = num(payload.generated) ?? 0;
  for (const raw of objects(payload.asks)) {
    const seconds = num(raw.age_sec);
    const q = {
      id: str(raw.id), harness: str(raw.harness), session: str(raw.session_id), project: str(raw.project), question: str(raw.question),
      // An answer is the place of an option, so what is no text keeps its place and is not drawn.
      options: (Array.isArray(raw.options) ? raw.options : []).map(str), since: generated - Math.max(seconds ?? 0, 0), ageKnown: seconds !== null && seconds >= 0,
    };
    const owners = rows.filter((r) => claims(q, str(r.harness), str(r.sid)));
    if (owners.length !== 1) loose.push(q);
    else if (owned.has(owners[0])) owned.get(owners[0]).push(q);
    else owned.set(owners[0], [q]);
  }
  return { owned, loose };
}

const less = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const laneRank = (r) => (r.needs ? 0 : r.working ? 1 : r.quiet ? 2 : 3);

/** Lane order: waiting as published, working with long turns first, idle newest first, the rest as published. */
export function lanes(rows) {
  return rows.map((row, i) => ({ row, i })).sort((a, b) => {
    const rank = laneRank(a.row) - laneRank(b.row);
    if (rank) return rank;
    if (a.row.working && b.row.working) return Number(b.row.long) - Number(a.row.long) || less(a.row.sid, b.row.sid) || a.i - b.i;
    if (a.row.quiet && b.row.quiet) return (b.row.lastActivity ?? 0) - (a.row.lastActivity ?? 0) || less(a.row.sid, b.row.sid) || a.i - b.i;
    return a.i - b.i;
  }).map((x) => x.row);
}

/** Active now and Recent history, each in its order. A recorded departure lifts a quiet or ended row too. */
export function groups(rows) {
  const rank = (r) => (r.blocked ? 0 : r.drift ? 1 : 2);
  const lane = lanes(rows);
  const active = lane.filter((r) => r.active || r.drift).map((row, i) => ({ row, i }))
    .sort((a, b) => rank(a.row) - rank(b.row) || a.i - b.i).map((x) => x.row);
  return { active, history: lane.filter((r) => !r.active && !r.drift) };
}

const sameList = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);

// Keeps what did not change. Sessions are matched by identity, not place: one new row must not make every row below it new.
function settle(last, data) {
  for (const name of Object.keys(data)) {
    if (name === 'sessions' && Array.isArray(data.sessions)) {
      data.sessions = data.sessions.map((r) => (object(r) ? share(last.byKey.get(`${r.harness}:${r.sid}`)?.raw, r) : r));
    } else data[name] = share(last.payload[name], data[name]);
  }
}

/** Everything the views draw from, or null for a payload that is none. `last` is the board before, whose equal parts are kept. */
export function boardOf(payload, last = null) {
  const data = object(payload);
  if (!data) return null;
  if (last) settle(last, data);
  const harnesses = objects(data.harnesses).map((raw) => last?.harnesses.find((h) => h.raw === raw) ?? harnessOf(raw));
  const byHarness = new Map(harnesses.map((h) => [h.key, h]));
  const raws = objects(data.sessions).filter((r) => str(r.sid) && str(r.harness));
  const { owned, loose } = questionsOf(data, raws);
  const annotate = data.annotate === true;
  const shared = new Map();
  for (const r of raws) if (str(r.project)) shared.set(r.project, (shared.get(r.project) ?? 0) + 1);

  const rows = [];
  const byKey = new Map();
  for (const raw of raws) {
    const key = `${raw.harness}:${raw.sid}`;
    if (byKey.has(key)) continue;
    const questions = owned.get(raw) ?? [];
    const harness = byHarness.get(raw.harness) ?? harnessOf({ key: raw.harness });
    const old = last?.byKey.get(key);
    const kept = old && old.raw === raw && old.shared === (shared.get(raw.project) ?? 1) && last.annotate === annotate
      && !questions.length && !old.questions.length && (harness === last.byHarness.get(raw.harness) || !byHarness.has(raw.harness));
    const row = kept ? old : rowOf(raw, { harness, questions, annotate, shared: shared.get(raw.project) ?? 1 });
    rows.push(row);
    byKey.set(key, row);
  }
  const split = groups(rows);
  const keep = (name, list) => (last && sameList(last[name], list) ? last[name] : list);
  const rates = object(data.summary);
  const floor = rows.some((r) => !r.reportsRate || (r.recent && r.rate === null));
  return {
    payload: data, generated: num(data.generated), rows: keep('rows', rows), byKey, harnesses: keep('harnesses', harnesses), byHarness,
    active: keep('active', split.active), history: keep('history', split.history), loose, annotate,
    ask: data.ask === true, deck: data.deck === true, unasked: data.unasked === true,
    cleared: Math.max(int(data.cleared) ?? 0, 0), windowHours: num(data.window_hours), showAll: data.show_all === true,
    nativeNotify: str(data.native_notify), quietHours: data.in_quiet_hours === true, annotateNotice: str(data.annotate_notice) || null,
    resets: resetsOf(data), fleet: fleetOf(rows), rate: rates ? num(rates.rate_per_min) : null, rateFloor: floor,
    running: rows.filter((r) => r.working && r.recent).length,
    subagents: rows.reduce((n, r) => n + r.subagents.list.length, 0),
    blocks: rows.filter((r) => r.blocked).length,
    unchecked: annotate && rows.length > 0 && !rows.some((r) => r.checked),
  };
}

function fleetOf(rows) {
  const of = (test) => rows.filter(test).length;
  return {
    total: rows.length, active: of((r) => r.active), working: of((r) => r.working), waiting: of((r) => r.blocked),
    requests: of((r) => r.instruction?.label === 'asked'), blocksKnown: of((r) => r.blockKnown),
  };
}

const RESETS = [
  ['history_reset', 'history', 'The local history', ' The timeline and the delegation figure start now.'],
  ['ends_reset', 'ends', 'The record of observed session ends', ''],
  ['deliveries_reset', 'deliveries', 'The record of notifications', ''],
  ['departures_reset', 'departures', 'The record of departures', ''],
];

function resetsOf(data) {
  const out = [];
  for (const [member, key, name, after] of RESETS) {
    const why = { unreadable: 'could not be read', version: 'was written in a form this version does not know' }[data[member]];
    if (why) out.push({ key: `${key}:${data[member]}`, text: `${name} ${why} and was set aside.${after}` });
  }
  return out;
}

/** The one row a session route names, or null: no match and two matches are the same to the reader. */
export function findSession(board, route) {
  const hits = board.rows.filter((r) => r.project === route.project && r.sid === route.sid && (!route.harness || r.harness === route.harness));
  return hits.length === 1 ? hits[0] : null;
}

/** Seconds a row has waited, by the payload's clock; null when not known. */
export const waited = (row, generated) => since(generated, row.waitSince);
