//! Every limit, window and cap in one place, with its unit and reason (CONF-010).
//!
//! Constants of the build: nothing changes them after start. What a flag moves is named `DEFAULT_…` (or says so) and
//! lives in [`crate::settings`] once read. A rule that a test must drive takes its limit as a parameter.

/// Seconds of a day.
pub const DAY_SEC: f64 = 86_400.0;
/// Seconds of an hour.
pub const HOUR_SEC: f64 = 3600.0;

// Rates, activity and turns.

/// Averaging window of every token rate, seconds.
pub const RATE_WINDOW_SEC: f64 = 600.0;
/// Newest activity younger than this is work going on, seconds.
pub const WORKING_THRESHOLD_SEC: f64 = 90.0;
/// A silence longer than this re-anchors the current turn, seconds.
pub const TURN_GAP_RESET_SEC: f64 = 300.0;
/// A turn this long, or estimated to be, is marked, seconds.
pub const LONG_TURN_WARN_SEC: f64 = 900.0;
/// Longest a Pi tool call counts as in flight: by then the turn is marked long anyway, seconds.
pub const PI_TOOL_IN_FLIGHT_MAX_SEC: f64 = LONG_TURN_WARN_SEC;
/// Failed tool calls in a row that read as a loop.
pub const LOOP_ERROR_RUN_THRESHOLD: u32 = 4;
/// Failed calls in one request that read as a loop when they outnumber the successes.
pub const LOOP_ERROR_TOTAL_THRESHOLD: u32 = 6;
/// Failed calls in one request without any success that read as a loop.
pub const LOOP_BARREN_FAILURE_THRESHOLD: u32 = 3;
/// A stamp further ahead of the clock than this is not believed, seconds.
pub const FUTURE_SKEW_TOLERANCE_SEC: f64 = 120.0;
/// Rows idle longer than this are hidden unless `--window-hours` says otherwise, hours.
pub const DEFAULT_WINDOW_HOURS: f64 = 24.0;
/// Shortest displayed session id, characters.
pub const DISPLAY_ID_LEN: usize = 8;
/// Longest open question on a row, characters.
pub const INPUT_SUMMARY_CAP_CHARS: usize = 160;
/// Shortest pasted path that is shortened in a prompt, characters.
pub const PROMPT_PATH_COLLAPSE_MIN_LENGTH: usize = 25;

// Caps of published text, characters (SAFE, section 1). A redaction marker at the cut may exceed them by 19.

/// A session's title; a rendered one may hold an ellipsis more.
pub const TITLE_CAP_CHARS: usize = 80;
/// The newest prompt, and the line of an instruction, which may hold an ellipsis more.
pub const LAST_PROMPT_CAP_CHARS: usize = 140;
/// The first prompt as rendered; with its ellipsis it fits a goal.
pub const FIRST_PROMPT_CAP_CHARS: usize = 239;
/// The newest final answer of an agent.
pub const LAST_OUTPUT_CAP_CHARS: usize = 4096;
/// A vendor's model name.
pub const MODEL_CAP_CHARS: usize = 40;
/// A tool's name.
pub const TOOL_CAP_CHARS: usize = 60;
/// A subagent's name, and its parent's.
pub const SUBAGENT_NAME_CAP_CHARS: usize = 70;
/// Text extracted from one record, before any other bound.
pub const RECORD_TEXT_CAP_CHARS: usize = 2000;
/// A store error in diagnostics, its mark of truncation included.
pub const ERROR_TEXT_CAP_CHARS: usize = 1024;
/// Most words of a prompt that only says to go on.
pub const CONTINUATION_WORDS: usize = 6;

// Reading the harness stores.

/// Most read from the end of a transcript, bytes.
pub const TAIL_BYTES: u64 = 400_000;
/// Chunk of a backward walk, bytes.
pub const REVERSE_CHUNK_BYTES: usize = 262_144;
/// Most unread bytes one forward turn scan takes.
pub const TURN_SCAN_MAX_BYTES: u64 = 8_388_608;
/// First-line read of a transcript, bytes.
pub const FIRST_LINE_JSON_CAP_BYTES: usize = 200_000;
/// Bound of each in-memory cache, entries; the oldest inserted goes first.
pub const MAX_CACHE_ENTRIES: usize = 8192;
/// Rows read per SQLite message query.
pub const SQL_MESSAGE_LIMIT: usize = 400;
/// Message ids remembered per Gemini file, since it repeats records.
pub const GEMINI_SEEN_ENTRIES: usize = 2048;
/// Lines of a Claude transcript's head searched for the working directory.
pub const CLAUDE_CWD_SCAN_LINES: usize = 50;
/// Longest of those lines, bytes.
pub const CLAUDE_CWD_SCAN_LINE_BYTES: usize = 200_000;
/// Lines of a Claude transcript's head that may tell an agent's transcript from a person's.
pub const CLAUDE_AGENT_SCAN_LINES: usize = 50;
/// Bytes of that head.
pub const CLAUDE_AGENT_SCAN_BYTES: usize = 16_384;
/// A transcript shorter than this may still turn out to be an agent's, so "it is none" is not remembered, bytes.
pub const CLAUDE_AGENT_CACHE_NEGATIVE_MIN_BYTES: u64 = 16_384;
/// Meta rows read of one Cursor store.
pub const CURSOR_META_ROWS: usize = 50;
/// Largest Cursor blob that is read, bytes.
pub const CURSOR_BLOB_BYTES: usize = 65_536;
/// Children followed from a Cursor root blob.
pub const CURSOR_ROOT_CHILDREN: usize = 64;
/// Blobs probed for a Cursor session's model.
pub const CURSOR_MODEL_PROBE_BLOBS: usize = 12;
/// Head of an Antigravity log, bytes.
pub const ANTIGRAVITY_LOG_HEAD_BYTES: usize = 80_000;
/// Read of Pi's `settings.json` at start, bytes (CONF-024).
pub const PI_SETTINGS_READ_CAP_BYTES: usize = 1_000_001;

// Codex rollouts.

/// Walked backward of one rollout in one pass for what lies before the turn scan; counted in bytes of lines that are
/// passed over, to which each line adds [`CODEX_WALK_LINE_BYTES`] and a parsed one its length several times.
pub const CODEX_WALK_BYTES: u64 = 16 * 1024 * 1024;
/// The same over all rollouts of one pass. What is left is walked in the next pass, which follows at once.
pub const CODEX_WALK_PASS_BYTES: u64 = 6 * CODEX_WALK_BYTES;
/// What one line of a walk costs beside its bytes.
pub const CODEX_WALK_LINE_BYTES: u64 = 2048;
/// What a byte that is parsed costs, in bytes that are passed over.
pub const CODEX_WALK_PARSE_FACTOR: u64 = 6;
/// Head of a long rollout searched for the first prompt, bytes.
pub const CODEX_HEAD_BYTES: u64 = 1_048_576;
/// Steps read of a plan, and characters of each.
pub const CODEX_PLAN_MAX_STEPS: usize = 64;
/// Longest step of a plan, characters.
pub const CODEX_PLAN_STEP_CAP_CHARS: usize = 160;
/// Newest children of a session whose lifecycle is reported.
pub const CODEX_EVENT_CHILDREN: usize = 24;
/// End of a child's rollout searched for its lifecycle, bytes.
pub const CODEX_EVENT_SCAN_BYTES: u64 = 131_072;
/// Lifecycle records per child.
pub const CODEX_EVENTS_PER_CHILD: usize = 12;
/// Lifecycle records per session.
pub const CODEX_EVENTS_PER_ROW: usize = 48;
/// What a child was told to do, characters.
pub const CODEX_ASSIGNMENT_CAP_CHARS: usize = 140;
/// Rollouts searched for the newest quota figures.
pub const CODEX_USAGE_ROLLOUTS: usize = 8;
/// First lines read in one pass to find a parent that is not among the recent rollouts.
pub const CODEX_PARENT_HEADERS: usize = 1000;

// Workflows of a Spacedock project.

/// Part of a transcript searched for a boot envelope, bytes.
pub const SPACEDOCK_BOOT_SCAN_BYTES: u64 = 512_000;
/// Read of a workflow definition, bytes.
pub const SPACEDOCK_README_BYTES: usize = 65_536;
/// Read of an entity's frontmatter, bytes.
pub const SPACEDOCK_ENTITY_BYTES: usize = 8192;
/// Longest frontmatter, lines.
pub const SPACEDOCK_MAX_FRONTMATTER_LINES: usize = 400;
/// Stages of one workflow.
pub const SPACEDOCK_MAX_STAGES: usize = 32;
/// Workflows of one session.
pub const SPACEDOCK_MAX_WORKFLOWS: usize = 8;
/// Entities published per workflow.
pub const SPACEDOCK_MAX_ENTITIES: usize = 12;
/// Entity files read per workflow.
pub const SPACEDOCK_MAX_ENTITY_FILES: usize = 96;
/// Boot records kept per session.
pub const SPACEDOCK_MAX_BOOT_RECORDS: usize = 16;
/// Texts tried as a boot record per session.
pub const SPACEDOCK_MAX_BOOT_CANDIDATES: usize = 64;
/// Workflow title, characters.
pub const SPACEDOCK_GOAL_CAP_CHARS: usize = 120;

// Snapshots and the event stream.

/// A published snapshot younger than this is served again, seconds.
pub const COLLECT_MEMO_SEC: f64 = 2.5;
/// Event-stream clients; above a browser's six sockets per origin on purpose.
pub const STREAM_MAX_CLIENTS: usize = 8;
/// Keepalive of an event stream, seconds.
pub const STREAM_HEARTBEAT_SEC: f64 = 15.0;
/// A blocked event-stream write ends the client, seconds.
pub const STREAM_WRITE_TIMEOUT_SEC: f64 = 10.0;
/// Tick of the producer that stands in for the coordinator, seconds.
pub const STREAM_PRODUCER_INTERVAL_SEC: f64 = 5.0;

// Start and stop.

/// Listening port unless `--port` says otherwise.
pub const DEFAULT_PORT: u16 = 4553;
/// The starting command waits this long for its daemon, seconds.
pub const DAEMON_READY_TIMEOUT_SEC: f64 = 10.0;
/// Pause between two looks at a daemon that cannot announce itself (Windows), seconds.
pub const DAEMON_PROBE_INTERVAL_SEC: f64 = 0.2;
/// Each of those looks, seconds.
pub const DAEMON_PROBE_TIMEOUT_SEC: f64 = 0.5;
/// End of the log that is shown when a daemon did not come up, bytes.
pub const DAEMON_LOG_TAIL_BYTES: u64 = 2000;
/// `--status` waits this long for an answer, seconds.
pub const PROBE_TIMEOUT_SEC: f64 = 1.0;
/// Most of a health reply that is read, bytes.
pub const PROBE_BODY_CAP_BYTES: usize = 4096;
/// The same look during the sweep at start, seconds: there may be many files.
pub const SWEEP_PROBE_TIMEOUT_SEC: f64 = 0.1;
/// `--stop` waits this long for the reply, seconds.
pub const STOP_REQUEST_TIMEOUT_SEC: f64 = 5.0;
/// `--stop` waits this long for the port, seconds.
pub const STOP_RELEASE_TIMEOUT_SEC: f64 = 5.0;
/// Pause between two tries of the port, seconds.
pub const STOP_RELEASE_INTERVAL_SEC: f64 = 0.05;
/// Shutdown waits this long for the producer, seconds.
pub const PRODUCER_STOP_TIMEOUT_SEC: f64 = 2.0;
/// Shutdown waits this long for the coordinator, seconds.
pub const COORDINATOR_STOP_TIMEOUT_SEC: f64 = 5.0;
/// Read of a state file, bytes.
pub const STATE_READ_CAP_BYTES: usize = 65_536;

// Our own stores and the bodies of their routes.

/// Read of the dismissal store, bytes.
pub const DISMISSAL_READ_CAP_BYTES: usize = 65_536;
/// Marks kept.
pub const DISMISSAL_MAX_ENTRIES: usize = 256;
/// Body of `POST /api/dismiss`, bytes.
pub const DISMISSAL_BODY_CAP_BYTES: usize = 1024;
/// Read of the delivery store, bytes.
pub const DELIVERY_READ_CAP_BYTES: usize = 262_144;
/// Delivery records kept.
pub const DELIVERY_MAX_ENTRIES: usize = 1024;
/// Body of `POST /api/lane`, bytes.
pub const LANE_BODY_CAP_BYTES: usize = 512;
/// Read of the annotation store, bytes.
pub const ANNOTATION_READ_CAP_BYTES: usize = 16_777_216;
/// Sessions with typed words kept.
pub const ANNOTATION_MAX_SESSIONS: usize = 256;
/// Revisions kept per session.
pub const ANNOTATION_MAX_REVISIONS: usize = 16;
/// A goal or a line, characters.
pub const ANNOTATION_TEXT_CAP_CHARS: usize = 240;
/// Body of `POST /api/annotate` and `POST /api/reading`, bytes.
pub const ANNOTATION_BODY_CAP_BYTES: usize = 12_288;
/// Longest wait for the annotation store's lock, seconds.
pub const ANNOTATION_LOCK_WAIT_SEC: f64 = 10.0;
/// Unasked checks of one session.
pub const UNASKED_SESSION_CAP: usize = 3;
/// Unasked checks a day.
pub const UNASKED_DAILY_CAP: usize = 12;
/// Least time between two unasked checks of one session, seconds.
pub const UNASKED_SESSION_FLOOR_SEC: f64 = 900.0;
/// Read of the departure store, bytes.
pub const DEPARTURE_READ_CAP_BYTES: usize = 262_144;
/// Departures kept.
pub const DEPARTURE_MAX_ENTRIES: usize = 512;
/// Read of the session-end store, bytes.
pub const END_READ_CAP_BYTES: usize = 65_536;
/// Session ends kept.
pub const END_MAX_ENTRIES: usize = 512;
/// History retention unless `--history-days` says otherwise, days.
pub const DEFAULT_HISTORY_DAYS: f64 = 14.0;
/// The same, seconds.
pub const HISTORY_RETENTION_SEC: f64 = DEFAULT_HISTORY_DAYS * DAY_SEC;
/// History size and read cap unless `--history-max-bytes` says otherwise, bytes.
pub const HISTORY_MAX_BYTES: u64 = 1_048_576;
/// Body of `POST /api/notify`, bytes.
pub const NOTIFICATION_BODY_CAP_BYTES: usize = 65_536;

// Notifications and nudges.

/// Least time between two popups of one session, seconds.
pub const POPUP_COOLDOWN_SEC: f64 = 60.0;
/// Least time between two popups of all sessions, seconds.
pub const GLOBAL_POPUP_COOLDOWN_SEC: f64 = 15.0;
/// The same message for the same session is not repeated within this, seconds.
pub const POPUP_REPEAT_SUPPRESS_SEC: f64 = 600.0;
/// Least time between two off-machine nudges, seconds.
pub const REACH_COOLDOWN_SEC: f64 = 60.0;
/// Read of the `reach_url` file, bytes.
pub const REACH_URL_READ_CAP_BYTES: usize = 2048;
/// Read of the `quiet_hours` file, bytes.
pub const QUIET_HOURS_READ_CAP_BYTES: usize = 256;

// Quota.

/// Least time between two quota fetches, seconds.
pub const USAGE_POLL_FLOOR_SEC: f64 = 300.0;
/// One quota fetch, seconds.
pub const USAGE_FETCH_TIMEOUT_SEC: f64 = 10.0;
/// Read of a credential file, bytes.
pub const USAGE_CREDENTIALS_CAP_BYTES: usize = 65_536;
/// Read of a quota reply, bytes.
pub const USAGE_RESPONSE_CAP_BYTES: usize = 262_144;
/// Body of `POST /api/usage`, bytes.
pub const USAGE_RECEIPT_CAP_BYTES: usize = 131_072;
/// Readings kept per quota window.
pub const USAGE_SAMPLES_MAX: usize = 12;

// Probe and focus.

/// One git probe, seconds.
pub const GIT_PROBE_TIMEOUT_SEC: f64 = 10.0;
/// Git probes at once.
pub const GIT_PROBE_MAX_INFLIGHT: usize = 32;
/// One command of a terminal raise, seconds.
pub const FOCUS_TIMEOUT_SEC: f64 = 2.0;
/// Least time between two raises, seconds.
pub const FOCUS_FLOOR_SEC: f64 = 1.0;
/// Body of `POST /api/focus`, bytes.
pub const FOCUS_BODY_CAP_BYTES: usize = 1024;

// Events and overlays.

/// A transcript may lag its hook by this much, seconds.
pub const OVERLAY_WAIT_ACTIVITY_GRACE_SEC: f64 = 10.0;
/// A reported "working" lasts as long as activity would, seconds.
pub const OVERLAY_WORKING_TTL_SEC: f64 = WORKING_THRESHOLD_SEC;
/// A reported stop must stand this long before the row goes idle, seconds.
pub const OVERLAY_IDLE_DWELL_SEC: f64 = 3.0;
/// A wait that is reported over and over lasts this long past its last report, seconds.
pub const OVERLAY_REPEATING_WAIT_LEASE_SEC: f64 = 300.0;
/// Events this close together cause one collection; fixed, not sliding, seconds.
pub const EVENT_COALESCE_SEC: f64 = 0.1;
/// Sessions with overlays; past it new ones are refused, never evicted.
pub const EVENT_OVERLAY_MAX_SESSIONS: usize = 512;
/// Events that wait for their session's row; past it new ones are refused, never evicted.
pub const EVENT_PENDING_MAX: usize = 256;
/// Such an event waits this long, seconds.
pub const EVENT_PENDING_TTL_SEC: f64 = 60.0;
/// Longest a negative store probe may skip a collection, seconds.
pub const RECONCILE_INTERVAL_SEC: f64 = 30.0;
/// Disputes between event and store kept, a ring.
pub const DISPUTE_LOG_MAX: usize = 50;
/// Body of `POST /api/events/<harness>`, bytes.
pub const EVENT_BODY_CAP_BYTES: usize = 8192;
/// Events admitted in the long run, per second.
pub const EVENT_RATE_PER_SEC: f64 = 20.0;
/// Events admitted at once.
pub const EVENT_BURST_MAX: u32 = 40;

// Questions to the reader.

/// A question stands this long, seconds.
pub const ASK_DEADLINE_SEC: f64 = 300.0;
/// An answer is kept this long for its poll, seconds.
pub const ASK_RETENTION_SEC: f64 = 60.0;
/// One long poll, seconds.
pub const ASK_POLL_TIMEOUT_SEC: f64 = 10.0;
/// Questions standing at once.
pub const ASK_MAX_PENDING: usize = 16;
/// Body of `POST /api/ask`, bytes.
pub const ASK_BODY_CAP_BYTES: usize = 8192;
/// Body of `POST /api/answer` and `POST /api/ask/withdraw`, bytes.
pub const ASK_ANSWER_BODY_CAP_BYTES: usize = 1024;
/// Question, characters.
pub const ASK_QUESTION_CAP_CHARS: usize = 500;
/// One option, characters.
pub const ASK_OPTION_CAP_CHARS: usize = 120;
/// Project of a question, characters.
pub const ASK_PROJECT_CAP_CHARS: usize = 512;
/// Options of one question.
pub const ASK_MAX_OPTIONS: usize = 8;

// Observer and readings.

/// Head of a transcript an observer panel reads, bytes.
pub const OBSERVER_HEAD_BYTES: usize = 65_536;
/// Goal line, characters.
pub const OBSERVER_GOAL_CAP_CHARS: usize = 200;
/// One block line of the observer, characters.
pub const OBSERVER_BLOCK_CAP_CHARS: usize = 200;
/// Evidence handed to a model for a goal line, characters.
pub const OBSERVER_MODEL_CONTEXT_CHARS: usize = 8192;
/// An observed end or stop must be this old before a reading relies on it, seconds.
pub const READING_SETTLE_SEC: f64 = 8.0;
/// The Claude model of a reading unless `--claude-reading-model` says otherwise.
pub const DEFAULT_CLAUDE_READING_MODEL: &str = "claude-sonnet-5-5";

#[cfg(test)]
mod tests {
    use super::*;

    /// CONF-010: pairs that the rules require to be the same number.
    #[test]
    fn conf_010_coupled_values_move_together() {
        assert_eq!(PI_TOOL_IN_FLIGHT_MAX_SEC, LONG_TURN_WARN_SEC);
        assert_eq!(OVERLAY_WORKING_TTL_SEC, WORKING_THRESHOLD_SEC);
        assert_eq!(HISTORY_RETENTION_SEC, 1_209_600.0);
    }
}
