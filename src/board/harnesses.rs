//! What each harness can tell at all (PAYLOAD-003): one table, published and shown beside every absence.

use crate::model::{Degrade, Key};
use serde::Serialize;

/// What the store of one harness can supply.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub reports_rate: bool,
    pub reports_needs_input: bool,
    /// Under which condition a wait is reported, in one sentence; empty when none is.
    pub reports_needs_input_when: &'static str,
    pub reports_turn_bounds: bool,
    pub reports_turn_end: bool,
}

/// The facts of a harness.
pub const fn facts(key: Key) -> Facts {
    Facts {
        reports_rate: matches!(key, Key::Claude | Key::Codex | Key::Pi | Key::Gemini | Key::Antigravity | Key::Goose),
        reports_needs_input: !needs_input_when(key).is_empty(),
        reports_needs_input_when: needs_input_when(key),
        reports_turn_bounds: !matches!(key, Key::Cursor),
        reports_turn_end: matches!(key, Key::Claude | Key::Codex | Key::Gemini | Key::Antigravity),
    }
}

const fn needs_input_when(key: Key) -> &'static str {
    match key {
        Key::Claude => {
            "Through its hooks while events are on, from an open question in the transcript, or from a teammate on the \
             roster that never started; a restart loses a wait that only a hook reported."
        }
        Key::Codex => "Through its trusted hook while events are on; a restart loses a standing wait.",
        Key::Copilot => "From its own store; nothing has to be installed.",
        Key::Cursor => "From its own store, on fresh rows; shell prompts are what was measured.",
        Key::OpenCode => {
            "Through the project plugin while events are on, for permissions of a parent session; a restart loses a \
             standing wait."
        }
        Key::Pi => {
            "Through the extension on Pi 0.85.1 while events are on, for sessions that are kept on disk; a restart \
             loses a standing wait."
        }
        Key::Gemini | Key::Antigravity | Key::Goose | Key::Droid => "",
    }
}

/// One harness of a collection as published (HTTP-045).
#[derive(Clone, Debug, Serialize)]
pub struct HarnessStatus {
    pub key: Key,
    pub label: &'static str,
    pub discovered: bool,
    pub reports_rate: bool,
    pub reports_needs_input: bool,
    pub reports_needs_input_when: &'static str,
    pub reports_turn_bounds: bool,
    pub reports_turn_end: bool,
    /// `<Type>: <message>` when the whole harness failed this time.
    pub error: Option<String>,
    pub degrades: Vec<Degrade>,
}

impl HarnessStatus {
    /// A harness with its fixed facts.
    pub fn new(key: Key, discovered: bool) -> HarnessStatus {
        let f = facts(key);
        HarnessStatus {
            key,
            label: key.label(),
            discovered,
            reports_rate: f.reports_rate,
            reports_needs_input: f.reports_needs_input,
            reports_needs_input_when: f.reports_needs_input_when,
            reports_turn_bounds: f.reports_turn_bounds,
            reports_turn_end: f.reports_turn_end,
            error: None,
            degrades: Vec::new(),
        }
    }
}
