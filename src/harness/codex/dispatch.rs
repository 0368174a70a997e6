//! What a parent told a child to do, out of the call that started or resumed it (CODEX-022).
//!
//! Newer builds encrypt the message; such a one is never decoded and yields nothing.

use crate::config::CODEX_ASSIGNMENT_CAP_CHARS;
use crate::harness::line::{self, Field};
use crate::text::{redact, safe_text};
use serde::Deserialize;

/// Longest task name or agent path that is compared, bytes.
const NAME_BYTES: usize = 512;
/// Beginning of an encrypted message.
const ENCRYPTED: &str = "gAAAA";
/// Beginnings of lines that frame a message and say nothing of the task.
const FRAMES: [&str; 5] = ["<", "```", "Message Type:", "Task name:", "Sender:"];

/// A call that gave a child its task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    to: To,
    /// The task in one line; none when the message does not tell.
    pub assignment: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum To {
    /// The last segment of the child's agent path.
    Task(String),
    /// The whole of it.
    Path(String),
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    task_name: Field<'a>,
    #[serde(borrow)]
    target: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
}

/// The dispatch in a call of `tool`, if that is a tool that makes one.
pub fn read(tool: &str, arguments: Field<'_>) -> Option<Dispatch> {
    if !matches!(tool, "spawn_agent" | "followup_task") {
        return None;
    }
    let json = line::text(arguments);
    let arguments: Arguments = match &json {
        Some(json) => serde_json::from_str(json).ok()?,
        None => line::object(arguments)?,
    };
    let name = |field| line::nonempty(field).filter(|n| n.len() <= NAME_BYTES).map(std::borrow::Cow::into_owned);
    let to =
        if tool == "spawn_agent" { To::Task(name(arguments.task_name)?) } else { To::Path(name(arguments.target)?) };
    Some(Dispatch { to, assignment: line::text(arguments.message).and_then(|message| summary(&message)) })
}

impl Dispatch {
    /// Whether it was for the child with this agent path.
    pub fn is_for(&self, agent_path: &str) -> bool {
        match &self.to {
            To::Task(name) => agent_path.rsplit('/').next() == Some(name),
            To::Path(path) => agent_path == path,
        }
    }
}

/// The first line of a message that says something, to the end of its first sentence.
fn summary(message: &str) -> Option<String> {
    if message.starts_with(ENCRYPTED) {
        return None;
    }
    let message = redact(message);
    let line = message
        .lines()
        .map(|line| line.trim_start_matches(['#', '*', '-', ' ']).trim())
        .find(|line| !line.is_empty() && !FRAMES.iter().any(|frame| line.starts_with(frame)))?;
    let sentence = line.split_once(". ").map_or(line, |(sentence, _)| sentence);
    let sentence = safe_text(sentence.trim_end_matches('.'), CODEX_ASSIGNMENT_CAP_CHARS).trim().to_owned();
    (!sentence.is_empty()).then_some(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use serde_json::value::to_raw_value;

    fn call(tool: &str, arguments: &serde_json::Value) -> Option<Dispatch> {
        let raw = to_raw_value(&arguments.to_string()).unwrap();
        read(tool, Some(&raw))
    }

    /// CODEX-022: a dispatch names its child and its task.
    #[test]
    fn codex_022_a_dispatch_names_its_child_and_its_task() {
        let spawn = call(
            "spawn_agent",
            &json!({"task_name": "review", "message": "<ctx>\n\n## Review the importer. Then stop."}),
        );
        let spawn = spawn.unwrap();
        assert_eq!(spawn.assignment.as_deref(), Some("Review the importer"));
        assert!(spawn.is_for("/root/review") && spawn.is_for("review"));
        assert!(!spawn.is_for("/root/review/deeper") && !spawn.is_for("/root/preview"));
        let follow =
            call("followup_task", &json!({"target": "/root/review", "message": "Sender: x\n- Now check dates."}));
        let follow = follow.unwrap();
        assert_eq!(follow.assignment.as_deref(), Some("Now check dates"));
        assert!(follow.is_for("/root/review") && !follow.is_for("review"));
        assert_eq!(call("followup_task", &json!({"task_name": "review", "message": "x"})), None);
        assert_eq!(call("exec", &json!({"task_name": "review", "message": "x"})), None);
    }

    /// CODEX-022, TRUST-028: an encrypted or odd message yields nothing.
    #[test]
    fn codex_022_trust_028_an_encrypted_or_odd_message_yields_nothing() {
        for message in
            [json!("gAAAAABsecret"), json!(7), json!(null), json!("```\n<a>\nTask name: x\nMessage Type: y"), json!("")]
        {
            let dispatch = call("spawn_agent", &json!({"task_name": "t", "message": message}));
            assert_eq!(dispatch.unwrap().assignment, None, "{message}");
        }
        let long = call("spawn_agent", &json!({"task_name": "t", "message": "x".repeat(500)})).unwrap();
        assert_eq!(long.assignment.unwrap().chars().count(), 140);
    }
}
