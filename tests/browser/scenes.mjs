// Invented scenes for the session page, Attention and the Intent log: typed words, a reading, departures, the record of a
// session, and the agents and calls inside one.
import { agent, morning, payload, row, task } from './payloads.mjs';

const ago = (now) => (s) => now - s;

/** What the server says about readings when they are offered. */
export const readings = (more = {}) => ({
  reading: { consent: true, used: 3, limit: 12, retry_at: null, reason: '', providers: { codex: true, claude: true }, tool_output: { claude: ['Anthropic'] }, ...more },
  reading_check: 'accepted', reading_jobs: {},
  reading_routes: Object.fromEntries(['claude', 'codex', 'pi', 'copilot', 'cursor'].map((harness) => [harness, {
    harness, provider: harness === 'claude' ? 'claude' : 'codex', label: harness === 'claude' ? 'Claude' : 'Codex', vendor: harness === 'claude' ? 'Anthropic' : 'OpenAI', model: 'example-model',
    reason: harness === 'claude' ? 'own-harness' : 'no-own-producer', note: 'It is read by the program that is installed here.',
    disclosure: 'Your goal, your outcome lines and a bounded list of entries from the record go to a subprocess of the named program, which uses its own sign-in. This sends session content off this machine and spends that program’s capacity.',
    fallback: false, destination: harness === 'claude' ? 'Anthropic' : 'OpenAI', tool_output: harness === 'claude' ? 'Anthropic' : '',
  }])),
  annotate_discard: {
    offer: 'Every revision of these words goes, and any reading of them.', armed: 'Press again to discard. Every revision of these words goes; any reading goes; raises stop quoting them; that a check ran stays.', stored: 'Discarded; what was raised no longer quotes it.', unwithdrawn: 'Discarded; what was raised goes on quoting it.',
    refused: 'Nothing to discard.', unwritable: 'Not discarded: the file could not be written.', untrusted: 'Not discarded: the store cannot be read.', held: 'Not discarded: a newer build wrote this record.', record: 'You discarded these words.', record_standing: 'You discarded these words; the history keeps its own copy for fourteen days.',
  },
});

/** The fields of a session with a goal, two lines, and a reading of an older revision. */
export function annotated(now) {
  const at = ago(now);
  return {
    annotation_goal: 'Ship the retry queue', annotation_goal_why: '', annotation_goal_source: 'typed', annotation_goal_saved_at: at(3600), annotation_revision: 4, annotation_revision_count: 4, annotation_at: at(720),
    annotation_window_start: at(3600), annotation_lines_why: '', annotation_line_1: 'unit tests pass', annotation_line_1_source: 'typed', annotation_line_2: 'also log the drop count', annotation_line_2_source: 'entry', annotation_line_2_source_id: 'fact:2',
    annotation_reading_count: 2, annotation_binding_why: 'The harness publishes only the first 8 characters of its id; another session sharing them would share these words.',
    annotation_assessment: {
      revision_read: 3, revision_read_at: at(1800), window_start: at(3600), read_at: at(300), stamp: 'read by Claude at 14:02', cutoff: '9 of 11 entries newer than the words were used; you wrote 2 of them, the agent 7.', scope: 'mid-flight', scope_text: 'It covers the work so far.',
      ended_at_read: null, evidence_through: at(320), criteria: {
        goal: { result: 'not verifiable from available evidence', cites: [], detail: '', clause: 'Ship the retry queue', why: 'uncited' },
        line_1: { result: 'departure', cites: ['fact:3'], detail: 'The latest test run failed.', clause: 'unit tests pass', why: '' },
        line_2: { result: 'consistent with the evidence read', cites: ['fact:4', 'fact:gone'], detail: '', clause: 'also log the drop count', why: '' },
      },
    },
    delivery_raises: 2, delivery_outcome: 'handed-over', delivery_why: 'The notification was handed to the system.', delivery_at: at(290), delivery_mixed: true, delivery_mixed_why: 'Not all raises ended alike.', browser_lane_why: 'No tab reported that it can show notifications; that proves nothing.',
  };
}

/** The record of one session, as the project route gives it. */
export function record(now, harness = 'claude', sid = '27d10654') {
  const at = ago(now);
  const fact = (n, seconds, type, summary, more = {}) => ({ fact_id: `fact:${n}`, at: at(seconds), type, source_kind: type, summary, scope: 'session', evidence: { source: 'root transcript', confidence: 'exact' }, source_session: { harness, sid }, ...more });
  const facts = [
    fact(5, 30, 'tool_report', 'src/queue/retry.rs', { evidence: { source: 'Claude Write call', confidence: 'exact' } }),
    fact(4, 200, 'tool_report', 'cargo test queue', { result: 'passed', evidence: { source: 'Claude Bash call and paired result', confidence: 'exact' } }),
    fact(3, 340, 'tool_report', 'cargo test', { result: 'failed', evidence: { source: 'Claude Bash call and paired result', confidence: 'exact' } }),
    fact(2, 3000, 'user_message', 'Also log the drop count'), fact(1, 3900, 'user_message', 'Ship the retry queue before the release'),
    { fact_id: 'fact:other', at: at(10), type: 'user_message', summary: 'of another session', evidence: { source: 'x', confidence: 'exact' }, source_session: { harness: 'codex', sid: 'else' } },
  ];
  return { project: 'acme/shop', focus: { harness, sid, observed: true }, observer_model: { enabled: false, max_prompt_bytes: 16384, disclosure: '' }, observers: [], events: [], semantic: { facts, work_items: [], contributors: [], relations: [], projections: {}, history: {} }, workflow_discovery: { state: 'none', source: '', workflows: [] }, child_assignments: [], prompt_choices: [], sources: {} };
}

/** Agents and calls inside one session: `n` agents in three levels, `k` calls. */
export function deck(now, n = 6, k = 40) {
  const at = ago(now);
  const agents = [{ id: 'main', parent: null, name: 'main', type: null, model: 'claude-opus-5', state: 'working', started_at: at(5000), last_activity: at(5), output_tokens: 5120, calls: k, errors: 1, open_call: 'c0', spawned_by_call: null }];
  for (let i = 1; i < n; i += 1) {
    agents.push({ id: `a${i}`, parent: i < 5 ? 'main' : `a${1 + ((i - 5) % 4)}`, name: `${['reviewer', 'planner', 'importer', 'doc-writer', 'lint-worker', 'test-worker', 'checker'][i % 7]}-${i}`, type: 'worker', model: i % 9 === 0 ? 'claude-haiku-5' : 'claude-opus-5', state: i % 3 === 1 ? 'working' : i % 7 === 2 ? 'waiting' : 'stopped', started_at: at(4000 - i * 40), last_activity: at(60 + 300 * (i % 4)), output_tokens: i % 8 === 5 ? null : 1700 * i, calls: 3, errors: i % 11 === 4 ? 2 : 0, open_call: null, spawned_by_call: null });
  }
  const tools = [['Bash', 'Bash'], ['Read', 'Read'], ['mcp__claude_ai_Linear__save_issue', 'Linear · save issue'], ['Edit', 'Edit'], ['Task', 'Task']];
  const calls = Array.from({ length: k }, (_, i) => ({ id: `c${i}`, agent: agents[i % Math.min(agents.length, 4)].id, tool: tools[i % 5][0], label: tools[i % 5][1], at: at(4000 - (i * 3800) / k), ended_at: i === k - 1 ? null : at(3990 - (i * 3800) / k), status: i === k - 1 ? 'open' : i % 11 === 3 ? 'error' : 'ok', gap: 12, spawned: i % 5 === 4 && i < 10 ? 'a1' : null }));
  return {
    harness: 'claude', sid: '27d10654', generated: now, agents, parked: [{ id: 'ff', name: 'orphan', reason: 'parent-not-found' }], calls, silences: [{ agent: 'main', from: at(900), to: at(500) }],
    findings: [{ kind: 'repeat', agent: 'main', tool: 'Bash', count: 6 }, { kind: 'compactions', agent: 'main', tool: '', count: 1 }], read: { whole: false, from: at(4000) }, degrades: [], cannot: ['calls.duration'],
  };
}

/** A morning whose first session carries everything its page can show. */
export function whole(now, more = {}) {
  const at = ago(now);
  const body = morning(now);
  Object.assign(body, readings(), { unasked: true, annotate_cap: 240 }, more);
  Object.assign(body.sessions[0], annotated(now), {
    spacedock: { role: 'first-officer', workflows: [{ workflow: 'release', goal: 'Cut 2.4', stages: ['intake', 'build', 'review', 'done'], entities: [{ slug: 'tax-rules', stage: 'build', live: true, cycle: '' }, { slug: 'queue', stage: 'review', live: false, cycle: 'cycle 2' }] }] },
    command_reports: [{ harness: 'claude', sid: '27d10654', pattern_id: 'git_force_push', label: 'force push', tool_name: 'Bash', timestamp: at(400) }], turn_output_tokens: 3120, session_output_tokens: 90211,
  });
  body.command_reports = body.sessions[0].command_reports;
  body.history = [[9000, 'working'], [6400, 'needs_input'], [5900, 'working'], [4100, 'idle'], [3300, 'working'], [860, 'needs_input']].map(([s, state]) => ({ harness: 'claude', sid: '27d10654', project: 'acme/shop', state, last_activity: at(s), annotation_goal: '', annotation_output: '', annotation_revision: null }));
  return body;
}

/** One session with forty subagents in three levels, on a board that reads no deck. */
export function forty(now) {
  const at = ago(now);
  const names = ['reviewer', 'planner', 'importer', 'doc-writer', 'lint-worker', 'test-worker', 'checker'];
  const list = Array.from({ length: 40 }, (_, i) => agent(`${names[i % 7]}-${i}`, { active: i % 3 !== 0, started_at: at(3600 - i * 60), parent: i < 6 ? null : `${names[(i % 6) % 7]}-${i % 6}`, model: i % 10 === 4 ? 'claude-haiku-5' : null }));
  return payload(now, [row('claude', '27d10654', { title: 'Move forty modules at once', model: 'claude-opus-5', state: 'working', state_detail: 'running 26 subagents', last_activity: at(3), rate_per_min: 5120, subagents: list, subagents_omitted: 3, turn: { elapsed_h: '14m', eta_h: '4m', pct: 70, long: false } })], { deck: false });
}

/** Attention with every group filled. */
export function pressed(now) {
  const at = ago(now);
  const body = whole(now);
  body.asks.push({ id: 'loose1', harness: 'unknown', session_id: '', project: '/home/u/else', question: 'Which branch should be deleted?', options: ['old-a', 'old-b'], age_sec: 300 });
  for (let i = 0; i < 5; i += 1) body.sessions.push(row('codex', `0199bbbb-000${i}`, { title: `Waiting for leave ${i}`, project: 'acme/queue', state: 'needs_input', state_detail: 'Permission: network', blocked_since: i === 3 ? null : at(100 * (i + 1)), last_activity: at(60), resume_id: `0199bbbb-000${i}` }));
  body.sessions.push(row('claude', 'eeee0001', { title: 'Left with changes', project: 'acme/queue', state: 'idle', ended_at: at(700), last_activity: at(720), dirty: true, changed: 7 }));
  body.sessions.push(row('claude', 'eeee0002', { title: 'Stopped clean', project: 'acme/queue', state: 'idle', finished_at: at(900), last_activity: at(900), dirty: false }));
  body.sessions.push(row('codex', 'eeee0003', { title: 'Working through a list', project: 'acme/lists', state: 'working', last_activity: at(3), tasks: [task('Sort the inputs', 'completed'), task('Merge the halves', 'in_progress'), task('Write it down', 'pending')] }));
  body.sessions.push(row('claude', 'eeee0004', { title: 'Idle with a list', project: 'acme/lists', state: 'idle', last_activity: at(300), tasks: [task('Pick this up again', 'pending')] }));
  return body;
}

/** What the Intent log's route answers: current sessions, one that has left the board, and one whose words were discarded. */
export function intents(now) {
  const at = ago(now);
  return {
    intent_revision: 'a1', annotations: [
      { harness: 'claude', sid: '27d10654', goal: 'Ship the retry queue', goal_source: 'typed', line_1: 'unit tests pass', line_1_source: 'typed', line_2: 'also log the drop count', line_2_source: 'entry', revision: 4, revision_count: 4, at: at(720), assessment: annotated(now).annotation_assessment, reading_count: 2, reading_withheld: '', reading_refused: false, binding_why: 'Only an 8-character prefix is published.', discarded_at: null, discarded_why: '', departures: [{ at: at(300), constraint: 'goal', clause: 'Ship the retry queue', reading: 'The session moved to the CLI help.', revision: 3, follow_up: 'No later check has read this session.' }], departure_why: '', departure_checked: true },
      { harness: 'claude', sid: '9a8b7c6d', goal: 'One line for each release', goal_source: 'typed', revision: 1, revision_count: 1, at: at(4000), assessment: null, reading_count: 0, reading_withheld: '', reading_refused: false, binding_why: '', discarded_at: null, discarded_why: '', departures: [], departure_why: 'Nobody checked this session.', departure_checked: false },
      { harness: 'codex', sid: '0198gone', goal: 'Rename the flag', goal_source: 'latest-prompt', line_1: '', revision: 2, revision_count: 2, at: at(90000), assessment: null, reading_count: 1, reading_withheld: '', reading_refused: false, binding_why: '', discarded_at: null, discarded_why: '', departures: [], departure_why: '', departure_checked: false },
      { harness: 'codex', sid: '0197dead', goal: '', revision: null, revision_count: 0, at: null, assessment: null, reading_count: 0, reading_withheld: '', reading_refused: false, binding_why: '', discarded_at: at(5000), discarded_why: 'You discarded these words; the history keeps its own copy for fourteen days.', departures: [], departure_why: '', departure_checked: false },
    ],
  };
}

/** A board with one Claude session and what `more` says of it. */
export const lone = (now, more = {}, top = {}) => ({ ...payload(now, [row('claude', '27d10654', { title: 'Fix totals', state: 'working', last_activity: now - 5, ...more })]), ...readings(), ...top });
