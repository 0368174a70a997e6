//! `cargento event-hook HARNESS [PORT]`: a native lifecycle event becomes an envelope (HOOK-030..043).

use super::{Envelope, object, post_event, stdin, terminal, words};
use crate::env::Env;
use serde_json::{Map, Value};

/// Reports the event on standard input, if it is one that is mapped for the harness. Prints nothing: to Codex an empty
/// output is "no opinion", and anything else could decide a tool call (HOOK-036).
pub fn event(harness: Option<&str>, port: Option<&str>, env: &Env) {
    let harness = harness.unwrap_or("claude");
    let Some(payload) = object(&stdin(super::STDIN_CAP)) else { return };
    let Some(built) = build(harness, &payload, env) else { return };
    post_event(env, super::port(port), harness, &built, super::TIME);
}

fn build(harness: &str, payload: &Map<String, Value>, env: &Env) -> Option<Envelope> {
    let name = mapped(harness, payload.get("hook_event_name")?.as_str()?)?;
    let mut built = Envelope::new(name, words(payload, "session_id")?, words(payload, "cwd"));
    for (member, native) in [("transcript_path", "transcript_path"), ("subagent_id", "agent_id")] {
        if let Some(value) = words(payload, native) {
            built.put(member, value);
        }
    }
    if name == "session_started"
        && let Some(place) = terminal::identity(env)
    {
        built.put("tmux_socket", place.socket);
        built.put("tmux_pane", place.pane);
        built.put("tmux_server", place.server);
    }
    Some(built)
}

/// The event of a harness's own name for it (HOOK-031, HOOK-032).
pub(super) fn mapped(harness: &str, native: &str) -> Option<&'static str> {
    let claude_or_codex = matches!(harness, "claude" | "codex");
    let all = matches!(harness, "claude" | "codex" | "gemini" | "droid");
    Some(match native {
        "SessionStart" if all => "session_started",
        "SessionEnd" if all && harness != "codex" => "session_ended",
        "UserPromptSubmit" if claude_or_codex => "turn_started",
        "BeforeAgent" if harness == "gemini" => "turn_started",
        "Stop" if claude_or_codex => "turn_stopped",
        "AfterAgent" if harness == "gemini" => "turn_stopped",
        "PermissionRequest" if claude_or_codex => "input_requested",
        "PostToolUse" if claude_or_codex => "store_changed",
        "AfterTool" if harness == "gemini" => "store_changed",
        "SubagentStart" if claude_or_codex => "subagent_started",
        "SubagentStop" if claude_or_codex => "subagent_stopped",
        "TaskCompleted" if harness == "claude" => "tasks_changed",
        "PostCompact" if claude_or_codex => "reconcile_required",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Platform;
    use serde_json::json;

    /// HOOK-031, HOOK-032: one table a harness.
    #[test]
    fn hook_031_032_each_harness_has_its_own_table() {
        let count = |harness| {
            "SessionStart SessionEnd UserPromptSubmit BeforeAgent Stop AfterAgent PermissionRequest PostToolUse AfterTool SubagentStart \
             SubagentStop TaskCompleted PostCompact Notification PreToolUse PreCompact BeforeTool BeforeModel AfterModel"
                .split_whitespace()
                .filter(|native| mapped(harness, native).is_some())
                .count()
        };
        assert_eq!(["claude", "codex", "gemini", "droid", "goose", ""].map(count), [10, 8, 5, 2, 0, 0]);
        assert_eq!(mapped("codex", "SessionEnd"), None);
    }

    /// HOOK-014, HOOK-033, HOOK-034, HOOK-037: the parent's id, the child's beside it, and nothing else.
    #[test]
    fn hook_014_034_only_named_members_leave() {
        let payload = json!({"hook_event_name": "SubagentStart", "session_id": " 019a ", "agent_id": "019b", "cwd": "/w/p",
            "transcript_path": " ", "prompt": "secret", "tool_input": {"command": "secret"}, "email": "secret"});
        let env = Env::of(Platform::Linux, [("HOME", "/h")]);
        let built = build("codex", payload.as_object().unwrap(), &env).unwrap();
        assert_eq!(
            String::from_utf8(built.bytes()).unwrap(),
            r#"{"v":1,"event":"subagent_started","session_id":"019a","cwd":"/w/p","subagent_id":"019b"}"#
        );
        for broken in [json!({}), json!({"hook_event_name": 7}), json!({"hook_event_name": "Stop", "session_id": "  "})]
        {
            assert_eq!(build("claude", broken.as_object().unwrap(), &env), None, "{broken}");
        }
    }
}
