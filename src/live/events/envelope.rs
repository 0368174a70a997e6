//! The event envelope: twelve fields are read, two more for command-shape reports; everything else is discarded
//! unread (EVT section 3).

use crate::model::Key;
use crate::model::time::parse_iso;
use serde_json::{Map, Value};

/// Harnesses that have an adapter which reports events (EVT-001).
pub const SOURCES: [Key; 7] =
    [Key::Claude, Key::Codex, Key::Antigravity, Key::Gemini, Key::Pi, Key::OpenCode, Key::Droid];

const ID_CAP: usize = 200;
const PATH_CAP: usize = 4096;
const TERMINAL_CAP: usize = 128;

/// What happened (EVT section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    SessionStarted,
    SessionEnded,
    TurnStarted,
    TurnStopped,
    InputRequested,
    InputResolved,
    SubagentStarted,
    SubagentStopped,
    TasksChanged,
    StoreChanged,
    ReconcileRequired,
    CommandShapeReported,
}

impl Event {
    const ALL: [(Event, &'static str); 12] = [
        (Event::SessionStarted, "session_started"),
        (Event::SessionEnded, "session_ended"),
        (Event::TurnStarted, "turn_started"),
        (Event::TurnStopped, "turn_stopped"),
        (Event::InputRequested, "input_requested"),
        (Event::InputResolved, "input_resolved"),
        (Event::SubagentStarted, "subagent_started"),
        (Event::SubagentStopped, "subagent_stopped"),
        (Event::TasksChanged, "tasks_changed"),
        (Event::StoreChanged, "store_changed"),
        (Event::ReconcileRequired, "reconcile_required"),
        (Event::CommandShapeReported, "command_shape_reported"),
    ];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        Event::ALL.iter().find(|(event, _)| *event == self).map_or("", |(_, name)| name)
    }

    fn parse(name: &str) -> Option<Event> {
        Event::ALL.iter().find(|(_, known)| *known == name).map(|(event, _)| *event)
    }
}

/// What became of a submitted envelope; the word on the wire (EVT-005).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Accepted,
    Incompatible,
    UnknownEvent,
    Malformed,
    UnknownHarness,
    UnmappableId,
    Disabled,
}

impl Outcome {
    /// The word on the wire; for a refusal also the member of its counter.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Accepted => "accepted",
            Outcome::Incompatible => "incompatible",
            Outcome::UnknownEvent => "unknown-event",
            Outcome::Malformed => "malformed",
            Outcome::UnknownHarness => "unknown-harness",
            Outcome::UnmappableId => "unmappable-id",
            Outcome::Disabled => "disabled",
        }
    }
}

/// A checked envelope.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    pub harness: Key,
    pub event: Event,
    /// The row's key.
    pub sid: String,
    /// When it happened, by the sender's clock where that is plausible, else its arrival.
    pub at: f64,
    pub source_instance_id: Option<String>,
    pub source_sequence: Option<u64>,
    /// Matching hint and git-probe directory; never published.
    pub cwd: Option<String>,
    /// Hint; never published.
    pub transcript_path: Option<String>,
    pub subagent_id: Option<String>,
    pub tmux_socket: Option<String>,
    pub tmux_pane: Option<String>,
    pub tmux_server: Option<String>,
    pub pattern_id: Option<String>,
    pub tool_name: Option<String>,
}

impl Envelope {
    /// Checks in the fixed order: version, event, session id, harness, identity; the first failure names the outcome
    /// (EVT-030). An optional field that is not usable counts as absent (EVT-031).
    pub fn check(harness: Key, body: &Map<String, Value>, arrival: f64) -> Result<Envelope, Outcome> {
        if body.get("v").and_then(Value::as_i64) != Some(1) {
            return Err(Outcome::Incompatible);
        }
        let event = body.get("event").and_then(Value::as_str).and_then(Event::parse).ok_or(Outcome::UnknownEvent)?;
        // Reports of command shapes are not kept in this build, which answers as one that has them switched off (IRR-053).
        if event == Event::CommandShapeReported {
            return Err(Outcome::Disabled);
        }
        let id = trimmed(body, "session_id", ID_CAP).ok_or(Outcome::Malformed)?;
        if !SOURCES.contains(&harness) {
            return Err(Outcome::UnknownHarness);
        }
        let sid = sid(harness, &id).ok_or(Outcome::UnmappableId)?;
        let stamped = trimmed(body, "timestamp", ID_CAP).and_then(|t| parse_iso(&t));
        let at = stamped.filter(|t| crate::model::time::age(*t, arrival).is_some()).unwrap_or(arrival);
        Ok(Envelope {
            harness,
            event,
            sid,
            at,
            source_instance_id: trimmed(body, "source_instance_id", ID_CAP),
            source_sequence: body.get("source_sequence").and_then(Value::as_u64),
            cwd: trimmed(body, "cwd", PATH_CAP),
            transcript_path: trimmed(body, "transcript_path", PATH_CAP),
            subagent_id: trimmed(body, "subagent_id", ID_CAP),
            tmux_socket: trimmed(body, "tmux_socket", TERMINAL_CAP),
            tmux_pane: trimmed(body, "tmux_pane", TERMINAL_CAP),
            tmux_server: trimmed(body, "tmux_server", TERMINAL_CAP),
            pattern_id: trimmed(body, "pattern_id", ID_CAP),
            tool_name: trimmed(body, "tool_name", ID_CAP),
        })
    }
}

/// A string of 1 to `cap` characters once trimmed (EVT-032).
fn trimmed(body: &Map<String, Value>, name: &str, cap: usize) -> Option<String> {
    let text = body.get(name)?.as_str()?.trim();
    (!text.is_empty() && text.chars().take(cap + 1).count() <= cap).then(|| text.to_string())
}

/// The row key of a harness's own session id; `None` when it does not have that harness's form (EVT-035).
pub fn sid(harness: Key, id: &str) -> Option<String> {
    let hexish = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    match harness {
        Key::Claude => (id.len() >= 8 && hexish(id)).then(|| id.chars().take(8).collect()),
        Key::Codex | Key::Antigravity | Key::Gemini | Key::Droid => {
            (id.len() == 36 && hexish(id)).then(|| id.to_string())
        }
        Key::Pi => is_uuid(id).then(|| id.to_string()),
        Key::OpenCode => {
            let rest = id.strip_prefix("ses_")?;
            (rest.len() == 26 && rest.bytes().all(|b| b.is_ascii_alphanumeric())).then(|| id.to_string())
        }
        Key::Copilot | Key::Cursor | Key::Goose => None,
    }
}

fn is_uuid(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(harness: Key, body: Value) -> Result<Envelope, Outcome> {
        Envelope::check(harness, body.as_object().unwrap(), 1000.0)
    }

    const UUID: &str = "019fa752-aaaa-4000-8000-000000000001";

    /// EVT-030: the first failing check names the outcome.
    #[test]
    fn evt_030_the_first_failure_names_the_outcome() {
        for (body, want) in [
            (json!({}), Outcome::Incompatible),
            (json!({"v": true, "event": "x"}), Outcome::Incompatible),
            (json!({"v": 1.0, "event": "turn_started", "session_id": UUID}), Outcome::Incompatible),
            (json!({"v": "1"}), Outcome::Incompatible),
            (json!({"v": 2}), Outcome::Incompatible),
            (json!({"v": 1, "event": "nap"}), Outcome::UnknownEvent),
            (json!({"v": 1, "event": 7}), Outcome::UnknownEvent),
            (json!({"v": 1, "event": "turn_started"}), Outcome::Malformed),
            (json!({"v": 1, "event": "turn_started", "session_id": "  "}), Outcome::Malformed),
            (json!({"v": 1, "event": "turn_started", "session_id": "a".repeat(201)}), Outcome::Malformed),
            (json!({"v": 1, "event": "turn_started", "session_id": "short"}), Outcome::UnmappableId),
        ] {
            assert_eq!(check(Key::Claude, body.clone()), Err(want), "{body}");
        }
        let body = json!({"v": 1, "event": "turn_started", "session_id": UUID});
        assert_eq!(check(Key::Goose, body), Err(Outcome::UnknownHarness));
    }

    /// EVT-035: each source has its own identity rule.
    #[test]
    fn evt_035_identity_rules() {
        assert_eq!(sid(Key::Claude, UUID).as_deref(), Some("019fa752"));
        assert_eq!(sid(Key::Claude, "0b1c2d3").as_deref(), None);
        assert_eq!(sid(Key::Codex, UUID).as_deref(), Some(UUID));
        assert_eq!(sid(Key::Codex, &UUID[1..]), None);
        assert_eq!(sid(Key::Pi, &UUID.replace('-', "a")), None);
        let opencode = format!("ses_{}", "aB3".repeat(9).chars().take(26).collect::<String>());
        assert_eq!(sid(Key::OpenCode, &opencode).as_deref(), Some(opencode.as_str()));
        assert_eq!(sid(Key::OpenCode, "ses_short"), None);
        assert_eq!(sid(Key::Cursor, UUID), None);
    }

    /// EVT-031, EVT-032, EVT-033, EVT-034: what is unusable counts as absent, what is not in the table is not kept.
    #[test]
    fn evt_031_033_optional_fields_and_stamps() {
        let ok = check(
            Key::Claude,
            json!({"v": 1, "event": "turn_started", "session_id": format!(" {UUID} "), "timestamp": "1970-01-01T00:10:00Z",
                "cwd": 7, "source_sequence": true, "subagent_id": "x".repeat(201), "harness": "codex", "prompt": "secret"}),
        )
        .unwrap();
        assert_eq!(
            (ok.sid.as_str(), ok.at, ok.cwd, ok.source_sequence, ok.subagent_id),
            ("019fa752", 600.0, None, None, None)
        );
        for stamp in ["", "soon", "1970-01-01T01:00:00Z"] {
            let body = json!({"v": 1, "event": "turn_started", "session_id": UUID, "timestamp": stamp});
            assert_eq!(check(Key::Claude, body).unwrap().at, 1000.0, "{stamp}");
        }
    }
}
