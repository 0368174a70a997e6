//! Every limit, window and cap in one place, with its unit (CONF-010).

/// Averaging window of every token rate, seconds.
pub const RATE_WINDOW_SEC: f64 = 600.0;
/// Newest activity younger than this is work going on, seconds.
pub const WORKING_THRESHOLD_SEC: f64 = 90.0;
/// A silence longer than this re-anchors the current turn, seconds.
pub const TURN_GAP_RESET_SEC: f64 = 300.0;
/// Most read from the end of a transcript, bytes.
pub const TAIL_BYTES: u64 = 400_000;
/// A turn this long, or estimated to be, is marked, seconds.
pub const LONG_TURN_WARN_SEC: f64 = 900.0;
/// A stamp further ahead of the clock than this is not believed, seconds.
pub const FUTURE_SKEW_TOLERANCE_SEC: f64 = 120.0;
/// Bound of each in-memory cache, entries; the oldest inserted goes first.
pub const MAX_CACHE_ENTRIES: usize = 8192;
/// Chunk of a backward walk, bytes.
pub const REVERSE_CHUNK_BYTES: usize = 262_144;
/// Most unread bytes one forward turn scan takes.
pub const TURN_SCAN_MAX_BYTES: u64 = 8_388_608;
/// Failed tool calls in a row that read as a loop.
pub const LOOP_ERROR_RUN_THRESHOLD: u32 = 4;
/// Failed calls in one request that read as a loop when they outnumber the successes.
pub const LOOP_ERROR_TOTAL_THRESHOLD: u32 = 6;
/// Failed calls in one request without any success that read as a loop.
pub const LOOP_BARREN_FAILURE_THRESHOLD: u32 = 3;
/// Shortest displayed session id, characters.
pub const DISPLAY_ID_LEN: usize = 8;
/// Longest open question on a row, characters.
pub const INPUT_SUMMARY_CAP_CHARS: usize = 160;
/// First-line read of a transcript, bytes.
pub const FIRST_LINE_JSON_CAP_BYTES: usize = 200_000;
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
