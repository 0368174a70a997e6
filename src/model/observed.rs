//! One session as its harness reports it: the published reading plus the evidence later rules need.

use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// The ten harnesses, in registry order (PAYLOAD-002).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Key {
    Claude,
    Codex,
    Pi,
    Gemini,
    Antigravity,
    Copilot,
    OpenCode,
    Cursor,
    Goose,
    Droid,
}

impl Key {
    /// Every harness in registry order.
    pub const ALL: [Key; 10] = [
        Key::Claude,
        Key::Codex,
        Key::Pi,
        Key::Gemini,
        Key::Antigravity,
        Key::Copilot,
        Key::OpenCode,
        Key::Cursor,
        Key::Goose,
        Key::Droid,
    ];

    /// The key on the wire, in routes and in our own files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Key::Claude => "claude",
            Key::Codex => "codex",
            Key::Pi => "pi",
            Key::Gemini => "gemini",
            Key::Antigravity => "antigravity",
            Key::Copilot => "copilot",
            Key::OpenCode => "opencode",
            Key::Cursor => "cursor",
            Key::Goose => "goose",
            Key::Droid => "droid",
        }
    }

    /// The name shown to people.
    pub const fn label(self) -> &'static str {
        match self {
            Key::Claude => "Claude",
            Key::Codex => "Codex",
            Key::Pi => "Pi",
            Key::Gemini => "Gemini",
            Key::Antigravity => "Antigravity",
            Key::Copilot => "Copilot",
            Key::OpenCode => "OpenCode",
            Key::Cursor => "Cursor",
            Key::Goose => "Goose",
            Key::Droid => "Droid",
        }
    }

    /// The harness of a wire key.
    pub fn parse(text: &str) -> Option<Key> {
        Key::ALL.into_iter().find(|k| k.as_str() == text)
    }
}

/// State of a session. The order is the order of rows (PAYLOAD-008).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    NeedsInput,
    Working,
    #[default]
    Idle,
}

/// A session as its harness reports it. Absence is each field's default, never a guess (ROW-020, ROW-022).
#[derive(Clone, Debug, Serialize)]
pub struct Observed {
    pub sid: String,
    pub harness: Key,
    /// Display label (ROW-006, ROW-007).
    pub project: String,
    pub project_key: String,
    pub project_name: String,
    pub project_identity_source: &'static str,
    pub provider: Option<String>,
    pub model: Option<String>,
    pub consumption: Option<String>,
    pub title: Option<String>,
    pub last_prompt: String,
    pub last_output: Option<String>,
    pub instruction: Option<Instruction>,
    pub state: State,
    pub state_detail: Option<String>,
    pub active: bool,
    /// Newest plausible write of the whole subtree; 0 = unknown.
    pub last_activity: f64,
    /// Newest record the session's own agent wrote; 0 = not reported.
    pub own_activity: f64,
    pub started_at: Option<f64>,
    pub blocked_since: Option<f64>,
    pub rate_per_min: Option<u64>,
    pub session_output_tokens: Option<u64>,
    pub turn_output_tokens: Option<u64>,
    pub total: u32,
    pub done: u32,
    pub open: u32,
    pub progress_pct: u32,
    pub eta_h: Option<String>,
    pub turn: Option<Turn>,
    #[serde(rename = "loop")]
    pub looping: Option<Loop>,
    pub resume_id: Option<String>,
    pub subagents: Vec<Subagent>,
    pub subagents_omitted: u32,
    pub subagent_hierarchy: Option<Vec<SubagentNode>>,
    pub subagent_events: Option<Vec<SubagentEvent>>,
    pub tasks: Vec<Task>,
    pub spacedock: Option<Spacedock>,
    /// Readings missing from a store that was opened, out of ROW-070's vocabulary.
    pub source_gaps: Vec<&'static str>,
    pub first_prompt: String,
    pub first_prompt_at: Option<f64>,
    pub first_prompt_control: bool,
    pub prompt_at: Option<f64>,
    pub prompt_states_work: bool,
    /// What could not be read of this session, out of DECK-020's closed set.
    pub degrades: Vec<Degrade>,
    #[serde(skip)]
    pub evidence: Evidence,
}

impl Observed {
    /// A session about which nothing but its identity is known yet.
    pub fn new(harness: Key, sid: impl Into<String>) -> Observed {
        let sid = sid.into();
        Observed {
            sid,
            harness,
            project: harness.as_str().into(),
            project_key: String::new(),
            project_name: String::new(),
            project_identity_source: "collector project label",
            provider: None,
            model: None,
            consumption: None,
            title: None,
            last_prompt: String::new(),
            last_output: None,
            instruction: None,
            state: State::Idle,
            state_detail: Some(AWAITING.into()),
            active: false,
            last_activity: 0.0,
            own_activity: 0.0,
            started_at: None,
            blocked_since: None,
            rate_per_min: Some(0),
            session_output_tokens: None,
            turn_output_tokens: None,
            total: 0,
            done: 0,
            open: 0,
            progress_pct: 0,
            eta_h: None,
            turn: None,
            looping: None,
            resume_id: None,
            subagents: Vec::new(),
            subagents_omitted: 0,
            subagent_hierarchy: None,
            subagent_events: None,
            tasks: Vec::new(),
            spacedock: None,
            source_gaps: Vec::new(),
            first_prompt: String::new(),
            first_prompt_at: None,
            first_prompt_control: false,
            prompt_at: None,
            prompt_states_work: false,
            degrades: Vec::new(),
            evidence: Evidence::default(),
        }
    }
}

/// Detail of a session that waits for nothing and does nothing.
pub const AWAITING: &str = "awaiting your message";

/// What a reader knows of a session and does not publish.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Transcript the session is read from, for lanes that read it further.
    pub transcript: Option<PathBuf>,
    /// Working directory as recorded, absolute.
    pub cwd: Option<PathBuf>,
    /// Start of the open turn and the finished turns' lengths in seconds, to judge `turn` again when an overlay
    /// changes the state (TURN-022).
    pub turn_start: Option<f64>,
    pub turn_durations: Vec<f64>,
    /// Detail the session would have if it were idle or working; used when an overlay changes the state.
    pub working_detail: Option<String>,
    /// Time of a recorded turn end (CLAUDE-038 and its like).
    pub recorded_stop: Option<f64>,
    /// When the person last wrote, where the reader tells it apart from what the harness wrote (ANN-015).
    pub person_wrote: Option<f64>,
}

/// Line 2 of a row: what the session was told to do (TEXT-010).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Instruction {
    pub label: InstructionLabel,
    pub text: String,
    /// 0 = unstamped.
    pub at: f64,
}

/// Where an instruction came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InstructionLabel {
    Asked,
    Agent,
    Earlier,
}

/// Estimate of the running turn (TURN-020).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Turn {
    pub elapsed_h: String,
    pub eta_h: Option<String>,
    pub pct: Option<u32>,
    pub long: bool,
}

/// Evidence of a loop of failing tool calls (TURN-040).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loop {
    pub errors: u32,
    pub tool: Option<String>,
    /// Absent when the request was not seen from its opening.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barren: Option<bool>,
}

/// A child of a session (ROW-030).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Subagent {
    pub name: String,
    pub model: Option<String>,
    pub started_at: Option<f64>,
    pub active: Option<bool>,
    pub parent: Option<String>,
}

/// A running child with its place in the tree (CODEX-021).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubagentNode {
    pub name: String,
    pub model: Option<String>,
    pub started_at: Option<f64>,
    /// Steps up to the session, 1 for a direct child.
    pub depth: u32,
    /// Label of the immediate parent, only when that is a child itself.
    pub parent_name: Option<String>,
    /// What the child was told to do, one line.
    pub assignment: Option<String>,
    pub assignment_status: AssignmentStatus,
    /// The child's own thread id, by which an observer finds its rollout.
    pub observer_sid: String,
}

/// How a child's assignment is known (CODEX-021).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum AssignmentStatus {
    #[serde(rename = "exact parent dispatch")]
    ExactParentDispatch,
    #[serde(rename = "structured dispatch artifact")]
    StructuredDispatchArtifact,
    #[serde(rename = "unavailable")]
    Unavailable,
}

/// A lifecycle record of a child (CODEX-023).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubagentEvent {
    /// Seconds since the epoch, as recorded.
    pub at: f64,
    pub kind: SubagentEventKind,
    pub name: String,
    pub model: Option<String>,
    pub depth: u32,
    pub parent_name: Option<String>,
    /// Where the record was read, in words.
    pub source: &'static str,
}

/// What happened to a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum SubagentEventKind {
    #[serde(rename = "subagent_task_started")]
    TaskStarted,
    #[serde(rename = "subagent_complete")]
    Complete,
    #[serde(rename = "subagent_interrupted")]
    Interrupted,
}

/// A task or plan step (ROW-040).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Task {
    /// Any JSON scalar, as stored.
    pub id: serde_json::Value,
    pub subject: String,
    #[serde(rename = "activeForm")]
    pub active_form: String,
    pub status: String,
    pub created: Option<f64>,
    pub updated: Option<f64>,
    pub elapsed_h: Option<String>,
    pub updated_ago: Option<String>,
}

/// A Spacedock role and the workflows it drives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spacedock {
    pub role: &'static str,
    pub workflows: Vec<serde_json::Value>,
}

/// One named thing that could not be read (DECK-020).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Degrade {
    #[serde(serialize_with = "code")]
    pub code: Code,
    /// Which source: a store key (`claude.projects`) or a file name, never an absolute path.
    pub source: String,
    /// How many records, for `record-skipped`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// The closed set of degrade codes (DECK-020).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    StoreMissing,
    StoreUnreadable,
    StoreLocked,
    StoreCorrupt,
    StoreEncrypted,
    SchemaUnknown,
    RecordSkipped,
    ReadInPart,
    Compressed,
    VersionUnseen,
    /// Sessions move and no event comes; whether hooks are installed is not known.
    HooksSilent,
    WatchLost,
}

impl Code {
    /// The code on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Code::StoreMissing => "store-missing",
            Code::StoreUnreadable => "store-unreadable",
            Code::StoreLocked => "store-locked",
            Code::StoreCorrupt => "store-corrupt",
            Code::StoreEncrypted => "store-encrypted",
            Code::SchemaUnknown => "schema-unknown",
            Code::RecordSkipped => "record-skipped",
            Code::ReadInPart => "read-in-part",
            Code::Compressed => "compressed",
            Code::VersionUnseen => "version-unseen",
            Code::HooksSilent => "hooks-silent",
            Code::WatchLost => "watch-lost",
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn code<S: Serializer>(value: &Code, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(value.as_str())
}
