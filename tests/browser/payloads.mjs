// Invented boards for the page's tests and pictures: every member the real server publishes, and the states that are hard to
// put a real one in. Times are given against `now`, so a picture always shows the same ages.

const HARNESSES = [
  ['claude', 'Claude', true, true, true], ['codex', 'Codex', true, true, true], ['pi', 'Pi', true, true, false], ['gemini', 'Gemini', true, false, true],
  ['antigravity', 'Antigravity', true, false, true], ['copilot', 'Copilot', false, true, false], ['opencode', 'OpenCode', false, true, false],
  ['cursor', 'Cursor', false, true, false], ['goose', 'Goose', true, false, false], ['droid', 'Droid', false, false, false],
];

/** The ten harnesses, those in `found` discovered. */
export const harnesses = (found, errors = {}) => HARNESSES.map(([key, label, rate, waits, end]) => ({
  key, label, discovered: found.includes(key), reports_rate: rate, reports_needs_input: waits, reports_needs_input_when: waits ? `${label} hooks are installed and events are on.` : '',
  reports_turn_bounds: key !== 'cursor', reports_turn_end: end, error: errors[key] ?? null,
}));

/** A row with every member at its default, and what `more` says. */
export function row(harness, sid, more = {}) {
  const project = more.project ?? 'acme/shop';
  const base = {
    session: sid.slice(0, 8), sid, harness, project, project_key: project, project_name: project.split('/').pop(), project_identity_source: 'collector project label',
    provider: null, model: null, consumption: null, title: null, last_prompt: '', last_output: null, instruction: null, state: 'idle', state_detail: 'awaiting your message',
    active: true, last_activity: 0, own_activity: 0, started_at: null, finished_at: null, ended_at: null, acquisition: null, blocked_since: null, dirty: null, changed: null,
    focusable: false, rate_per_min: 0, session_output_tokens: null, turn_output_tokens: null, total: 0, done: 0, open: 0, progress_pct: 0, eta_h: null, turn: null, loop: null,
    resume_id: null, subagents: [], subagents_omitted: 0, subagent_hierarchy: null, subagent_events: null, tasks: [], spacedock: null, source_gaps: [], first_prompt: '',
    first_prompt_at: null, first_prompt_control: false, prompt_at: null, prompt_states_work: false, wait_unconfirmed: false, command_reports: [], cached_goal: null,
    annotation_goal: '', annotation_goal_why: 'Nothing was typed for this session.', annotation_lines_why: 'Nothing was typed for this session.', annotation_output: '',
    annotation_output_why: 'Nothing was typed for this session.', annotation_revision: null, annotation_revision_count: 0, annotation_at: null, annotation_goal_source: null,
    annotation_goal_source_at: null, annotation_goal_saved_at: null, annotation_window_start: null, annotation_binding_why: '', annotation_settled_at: null,
    annotation_settled_through: null, annotation_settled_revision: null, annotation_discarded_at: null, annotation_discarded_why: '', annotation_assessment: null,
    annotation_reading_count: 0, annotation_reading_withheld: '', annotation_reading_refused: false, delivery_outcome: '', delivery_why: '', delivery_none_why: '',
    delivery_mixed_why: '', delivery_binding_why: '', delivery_at: null, delivery_raises: 0, delivery_mixed: false, browser_lane: false, browser_lane_at: null,
    browser_lane_why: '', departures: [], departure_why: '', departure_checked: false,
  };
  for (let k = 1; k <= 6; k += 1) Object.assign(base, { [`annotation_line_${k}`]: '', [`annotation_line_${k}_source`]: null, [`annotation_line_${k}_source_id`]: '' });
  const out = { ...base, ...more };
  const tasks = out.tasks;
  if (tasks.length && !more.total) {
    out.total = tasks.length;
    out.done = tasks.filter((t) => t.status === 'completed').length;
    out.open = out.total - out.done;
    out.progress_pct = Math.round((100 * out.done) / out.total);
  }
  return out;
}

/** A task. */
export const task = (subject, status, more = {}) => ({ id: '1', subject, activeForm: subject, status, created: null, updated: null, elapsed_h: null, updated_ago: null, ...more });
/** A subagent. */
export const agent = (name, more = {}) => ({ name, model: null, started_at: null, active: null, parent: null, ...more });

/** The top level around rows. */
export function payload(now, sessions, more = {}) {
  const active = sessions.filter((s) => s?.active);
  return {
    generated: now, window_hours: 24, rate_window_sec: 600, show_all: false, cleared: 0, native_notify: '', harnesses: harnesses(['claude', 'codex', 'pi', 'copilot', 'cursor']),
    summary: {
      needs_input: active.filter((s) => s.state === 'needs_input').length, working: active.filter((s) => s.state === 'working').length,
      rate_per_min: active.reduce((n, s) => n + (s.rate_per_min ?? 0), 0), active_sessions: active.length, open_tasks: 0, progress_pct: 0, total_tasks: 0, total_done: 0,
    },
    sessions, dismiss: true, ask: true, asks: [], annotate: true, annotate_cap: 240, unasked: false, observer_model: false, irreversible_enabled: true, command_reports: [],
    ends_observable: true, in_quiet_hours: false, tripwires: { enabled: true, source_enabled: true, error: '', sources: [], rules: [] }, browser_lane: false, browser_lane_at: null,
    history: [], intent_revision: 'a1', deck: true, ...more,
  };
}

/** An ordinary busy morning. */
export function morning(now) {
  const ago = (s) => now - s;
  const sessions = [
    row('claude', '27d10654', {
      title: 'Fix checkout totals', model: 'claude-opus-5', state: 'needs_input', state_detail: 'Run the migration against staging?', blocked_since: ago(860), last_activity: ago(850), own_activity: ago(850),
      rate_per_min: 412, resume_id: '27d10654-0000-4000-8000-000000000000', focusable: true, annotation_goal: 'Ship the retry queue', annotation_goal_source: 'typed', annotation_revision: 4,
      annotation_revision_count: 4, annotation_at: ago(720), annotation_goal_saved_at: ago(720), instruction: { label: 'asked', text: 'rewrite the rounding rule and run the tax tests again', at: ago(1260) },
      subagents: [agent('reviewer', { active: true, started_at: ago(250), model: 'claude-sonnet-5' }), agent('planner', { active: false }), agent('lint-worker', { active: true, started_at: ago(120), parent: 'planner' }), agent('test-worker', { active: false, parent: 'planner' })],
      tasks: [task('Reproduce the drift', 'completed', { elapsed_h: '10m', updated_ago: '9m ago' }), task('Rewrite the rounding rule', 'completed', { elapsed_h: '6m' }), task('Run the tax tests', 'pending'), task('Update the changelog', 'pending')], eta_h: '14m',
      departures: [{ at: ago(300), constraint: 'goal', clause: 'Ship the retry queue', reading: 'The session moved to the CLI help.', evidence: 'x', revision: 3, cutoff: ago(300), cutoff_text: '', withdrawn: false, follow_up: 'No later check has read this session.' }],
      departure_checked: true,
    }),
    row('codex', '0199f2c4-7a11-7e02-9c55-0a6f3b1d2e4f', {
      title: 'Port the invoice parser to the new grammar', project: 'acme/billing', model: 'gpt-5.6-sol', state: 'needs_input', state_detail: 'Permission: shell', blocked_since: ago(190), last_activity: ago(190),
      rate_per_min: 0, resume_id: '0199f2c4-7a11-7e02-9c55-0a6f3b1d2e4f', prompt_states_work: true, prompt_at: ago(600),
    }),
    row('claude', '5be0c111', {
      title: 'Move the session table to the new store and keep the old reader until the import is through', project: 'acme/shop', model: 'claude-opus-5', state: 'working', state_detail: 'running mcp__claude_ai_Linear__save_issue', last_activity: ago(4), own_activity: ago(4),
      rate_per_min: 1280, turn: { elapsed_h: '21m', eta_h: '6m', pct: 78, long: true }, loop: { errors: 5, tool: 'Bash', failures: 7, barren: false }, started_at: ago(9000),
      instruction: { label: 'asked', text: 'move the sessions over, one table at a time', at: ago(1300) }, first_prompt: 'Move the session table to the new store', first_prompt_at: ago(9000),
      tasks: [task('Copy rows', 'completed'), task('Switch readers over', 'in_progress', { elapsed_h: '12m', updated_ago: '2m ago' }), task('Drop the old table', 'pending')],
      subagents: [agent('importer', { active: true, started_at: ago(700) }), agent('checker', { active: true, started_at: ago(90) })], spacedock: { role: 'first-officer', workflows: [] },
    }),
    row('pi', 'b1f0c7de-1111-4222-8333-444455556666', {
      title: 'Write the release notes', project: 'acme/docs', provider: 'openai-codex', model: 'gpt-5.6-sol', state: 'working', state_detail: 'generating…', last_activity: ago(12), rate_per_min: 96, turn: { elapsed_h: '2m', eta_h: null, pct: null, long: false },
      acquisition: 'scan-only', started_at: ago(1200),
    }),
    row('copilot', 'c0ffee00-aaaa-4bbb-8ccc-dddd00001111', {
      title: 'Look into the flaky upload test', project: 'acme/site', state: 'working', state_detail: 'thinking', last_activity: ago(30), rate_per_min: null, consumption: '16.61 AIU', model: 'gpt-5.1',
      source_gaps: ['token accounting'], acquisition: 'scan-only',
    }),
    row('claude', '9a8b7c6d', {
      title: 'Tidy the changelog', project: 'acme/docs', model: 'claude-haiku-5', state: 'idle', last_activity: ago(1500), finished_at: ago(1490), dirty: true, changed: 3, annotation_goal: 'One line for each release', annotation_goal_source: 'typed',
      annotation_revision: 1, annotation_revision_count: 1, annotation_at: ago(4000), resume_id: '9a8b7c6d-0000-4000-8000-000000000000',
    }),
    row('codex', '0199aaaa-7a11-7e02-9c55-0a6f3b1d2e4f', { title: 'Review the rate limiter', project: 'acme/shop', model: 'gpt-5.6-sol', state: 'idle', last_activity: ago(5400), finished_at: ago(5400), dirty: false, prompt_states_work: true, prompt_at: ago(7000) }),
    row('cursor', 'chat-77aa', { title: '', last_prompt: 'why does the build need the vendored headers', project: 'acme/site', model: 'fast-apple-9', state: 'idle', last_activity: ago(9000), rate_per_min: null, acquisition: 'scan-only' }),
    row('claude', '44e1d0aa', { title: 'Answer the licence question', project: '', model: 'claude-opus-5', state: 'idle', last_activity: ago(20000), ended_at: ago(19000), dirty: null }),
  ];
  return payload(now, sessions, {
    harnesses: harnesses(['claude', 'codex', 'pi', 'copilot', 'cursor', 'goose'], { goose: 'OperationalError: database is locked' }),
    asks: [{ id: 'kq3v0Z9yT1mJx2bQ7cLr8w', harness: 'claude', session_id: '27d10654-0000-4000-8000-000000000000', project: '/home/u/shop', question: 'Run the migration against staging before the tax tests?', options: ['Yes, run it', 'Skip it', 'Stop here'], age_sec: 840 }],
    usage_fetch: true,
    usage: [
      { harness: 'claude', state: 'ok', asOf: now - 60, fiveH: { pct: 78, windowSec: 18000, reset: '18:15', resetAt: now + 8100, recent: { pctPerMin: 0.2667, samples: 4, spanSec: 1800 } }, week: { pct: 34, windowSec: 604800, reset: 'Sun 08:00', resetAt: now + 532000 }, models: [{ label: 'Example Large', pct: 88 }, { label: 'Example Small', pct: 12 }] },
      { harness: 'codex', state: 'ok', asOf: now - 600, week: { pct: 61, windowSec: 604800, reset: 'Thu 02:00', resetAt: now + 211600 } },
      { harness: 'copilot', state: 'ok', asOf: now - 9000, used: '16.61 AIU' },
      { harness: 'cursor', state: 'refused', asOf: now },
    ],
    history: [0, 1, 2].flatMap((i) => [['working', 9000], ['idle', 9000 - 600 * (i + 1)]].map(([state, s]) => ({
      harness: 'claude', sid: `h${i}`, project: 'acme/shop', state, last_activity: ago(s), annotation_goal: '', annotation_output: '', annotation_revision: null,
    }))),
  });
}

/** Text made to break a page. */
export function hostile(now) {
  const bad = ['<img src=x onerror=alert(1)>', '"><script>alert(1)</script>', '\u202egnp.exe\u202c evil', 'x'.repeat(10_000), '\ud800 lone', '${alert(1)}', 'مرحبا بالعالم · 14m', "'; DROP TABLE"];
  const sessions = bad.map((text, i) => row('claude', `0000000${i}`, {
    title: text, project: text.slice(0, 200), state: ['needs_input', 'working', 'idle'][i % 3], state_detail: text, model: text.slice(0, 40), last_activity: now - i * 60, blocked_since: now - 60,
    last_prompt: text, instruction: { label: 'asked', text: `do ${text}`, at: now - 99 }, subagents: [agent(text), agent('child', { parent: text })], tasks: [task(text, 'in_progress'), task(text, 'pending')],
    annotation_goal: text, annotation_revision: 1, source_gaps: [text.slice(0, 60)], resume_id: '--dangerously-skip-permissions',
  }));
  return payload(now, sessions, {
    asks: [{ id: 'q"1', harness: '<b>', session_id: '"><img>', project: '<x>', question: bad[0], options: bad.slice(0, 3), age_sec: 5 }],
    harnesses: harnesses(['claude'], { claude: '<img src=x onerror=alert(2)>' }), annotate_notice: bad[0],
  });
}

/** Wrong types in every place a type is expected. */
export function broken(now) {
  const odd = [null, 7, 'text', [], { a: 1 }, true, NaN];
  const sessions = odd.map((v, i) => ({ ...row('claude', `odd0000${i}`), title: v, state: v, state_detail: v, last_activity: v, tasks: v, subagents: v, turn: v, loop: v, instruction: v, source_gaps: v, departures: v, annotation_assessment: v, spacedock: v, rate_per_min: v, ended_at: v, blocked_since: v, project: v }));
  return { ...payload(now, [...odd, ...sessions]), summary: 'none', asks: { no: 1 }, usage: [null, { harness: 4, state: 'ok', fiveH: 'x' }], history: 'no', tripwires: 3, cleared: 'x' };
}

/** `n` sessions over forty projects with four subagents each. `turn` changes five rows. */
export function crowd(now, n = 500, turn = 0) {
  const sessions = [];
  for (let i = 0; i < n; i += 1) {
    const state = i % 50 === 0 ? 'needs_input' : i % 4 === 0 ? 'working' : 'idle';
    const moved = turn > 0 && i % 100 === 7;
    sessions.push(row(['claude', 'codex', 'pi', 'copilot', 'goose'][i % 5], `s${String(i).padStart(7, '0')}-aaaa-4bbb-8ccc-000000000000`, {
      title: `Session ${i} works on something that has a name`, project: `team/project-${i % 40}`, model: 'some-model-5', state, state_detail: moved ? `Doing step ${turn}…` : 'Doing one thing…', last_activity: now - 30 - (i % 600) - (moved ? 0 : turn),
      blocked_since: state === 'needs_input' ? now - 900 : null, rate_per_min: i % 5 === 3 ? null : i, instruction: { label: 'asked', text: `the request of session ${i}, long enough to be cut`, at: now - 1000 }, turn: state === 'working' ? { elapsed_h: '6m', eta_h: '3m', pct: 60, long: false } : null,
      subagents: [0, 1, 2, 3].map((k) => agent(`worker-${k}`, { active: k % 2 === 0, started_at: now - 300 })), tasks: [task('One', 'completed'), task(moved ? `Two ${turn}` : 'Two', 'in_progress'), task('Three', 'pending')], first_prompt: 'x'.repeat(200), last_output: 'y'.repeat(1500),
    }));
  }
  for (const s of sessions) s.last_activity = now - 100;
  return payload(now, sessions);
}
