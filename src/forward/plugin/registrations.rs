//! Which native events of which harness start which command.
//!
//! Registered are events that a harness reports and goes on. Never one whose answer decides about a tool call or a
//! prompt before it happens: there even an empty answer can be one (HOOK-054, HOOK-085).

use super::Launcher;
use serde_json::{Map, Value, json};

/// Events of the Claude plugin (HOOK-080).
const CLAUDE: [&str; 10] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "Stop",
    "PermissionRequest",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "PostCompact",
];

/// Events of the Codex plugin (HOOK-081).
const CODEX: [&str; 8] = [
    "SessionStart",
    "UserPromptSubmit",
    "PermissionRequest",
    "PostToolUse",
    "Stop",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
];

/// Hooks of the Antigravity plugin (HOOK-082).
const ANTIGRAVITY: [&str; 2] = ["PostToolUse", "PostInvocation"];

/// Events of the Gemini extension and the names of their handlers (HOOK-083).
const GEMINI: [(&str, &str); 5] = [
    ("SessionStart", "cargento-session-started"),
    ("BeforeAgent", "cargento-turn-started"),
    ("AfterTool", "cargento-store-changed"),
    ("AfterAgent", "cargento-turn-stopped"),
    ("SessionEnd", "cargento-session-ended"),
];
/// Time Gemini gives a handler, milliseconds.
const GEMINI_TIMEOUT_MS: u64 = 5000;

/// Events of the Droid plugin (HOOK-084).
const DROID: [&str; 2] = ["SessionStart", "SessionEnd"];

/// `hooks/hooks.json` of the Claude plugin.
pub fn claude_hooks(launcher: &Launcher) -> Value {
    lifecycle(&CLAUDE, &launcher.command("event-hook claude"))
}

/// `hooks/codex-hooks.json` of the Codex plugin. A handler has no time limit of its own: the one on
/// `PermissionRequest` would become part of a gate.
pub fn codex_hooks(launcher: &Launcher) -> Value {
    lifecycle(&CODEX, &launcher.command("event-hook codex"))
}

/// `hooks/hooks.json` of the Droid plugin.
pub fn droid_hooks(launcher: &Launcher) -> Value {
    lifecycle(&DROID, &launcher.command("event-hook droid"))
}

/// `hooks/hooks.json` of the Gemini extension.
pub fn gemini_hooks(launcher: &Launcher) -> Value {
    let command = launcher.command("event-hook gemini");
    let handler =
        |name: &str| json!({"name": name, "type": "command", "command": command, "timeout": GEMINI_TIMEOUT_MS});
    wrapped(GEMINI.iter().map(|(event, name)| ((*event).to_owned(), group(handler(name)))))
}

/// `hooks.json` of the Antigravity plugin: wrapped in a name, and `PostInvocation` without groups.
pub fn antigravity_hooks(launcher: &Launcher) -> Value {
    let handler = |hook: &str| json!({"type": "command", "command": launcher.command(&format!("agy-hook {hook}"))});
    let [tool, invocation] = ANTIGRAVITY;
    json!({"cargento": {tool: group(handler(tool)), invocation: [handler(invocation)]}})
}

/// The settings block for Claude's notifications, which no plugin carries (HOOK-022).
pub fn notifications(launcher: &Launcher) -> Value {
    let command = launcher.command("notify-hook");
    wrapped([
        ("Notification".to_owned(), group(json!({"type": "command", "command": command, "async": true}))),
        ("SessionEnd".to_owned(), group(json!({"type": "command", "command": command}))),
    ])
}

/// The settings line for Antigravity's status line (HOOK-070).
pub fn status_line(launcher: &Launcher) -> Value {
    json!({"statusLine": {"command": launcher.command("statusline-hook"), "enabled": true}})
}

/// One command on every one of the events.
fn lifecycle(events: &[&str], command: &str) -> Value {
    wrapped(events.iter().map(|event| ((*event).to_owned(), group(json!({"type": "command", "command": command})))))
}

fn wrapped(events: impl IntoIterator<Item = (String, Value)>) -> Value {
    json!({"hooks": events.into_iter().collect::<Map<_, _>>()})
}

/// The one group of an event: any matcher, one handler.
fn group(handler: Value) -> Value {
    json!([{"matcher": "", "hooks": [handler]}])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forward::event::mapped;
    use std::path::Path;

    fn launcher() -> Launcher {
        Launcher::new(Path::new("/opt/cargento")).unwrap()
    }

    #[test]
    fn hook_031_085_what_is_registered_is_forwarded_and_what_is_forwarded_is_registered() {
        let gemini = GEMINI.map(|(event, _)| event);
        for (harness, events) in [("claude", &CLAUDE[..]), ("codex", &CODEX), ("gemini", &gemini), ("droid", &DROID)] {
            for event in CLAUDE.iter().chain(&CODEX).chain(&gemini).chain(&DROID) {
                assert_eq!(mapped(harness, event).is_some(), events.contains(event), "{harness} {event}");
            }
        }
    }

    #[test]
    fn hook_080_084_the_shapes() {
        let plain = |harness: &str| json!([{"matcher": "", "hooks": [{"type": "command", "command": format!("/opt/cargento event-hook {harness}")}]}]);
        for (harness, file) in [
            ("claude", claude_hooks(&launcher())),
            ("codex", codex_hooks(&launcher())),
            ("droid", droid_hooks(&launcher())),
        ] {
            assert!(file["hooks"].as_object().unwrap().values().all(|groups| *groups == plain(harness)), "{harness}");
        }
        assert_eq!(
            antigravity_hooks(&launcher()),
            json!({"cargento": {
                "PostToolUse": [{"matcher": "", "hooks": [{"type": "command", "command": "/opt/cargento agy-hook PostToolUse"}]}],
                "PostInvocation": [{"type": "command", "command": "/opt/cargento agy-hook PostInvocation"}]}})
        );
        assert_eq!(
            gemini_hooks(&launcher())["hooks"]["BeforeAgent"],
            json!([{"matcher": "", "hooks": [{"name": "cargento-turn-started", "type": "command",
                "command": "/opt/cargento event-hook gemini", "timeout": 5000}]}])
        );
    }

    #[test]
    fn hook_022_070_the_blocks_a_person_adds() {
        assert_eq!(
            notifications(&launcher()),
            json!({"hooks": {
                "Notification": [{"matcher": "", "hooks": [{"type": "command", "command": "/opt/cargento notify-hook", "async": true}]}],
                "SessionEnd": [{"matcher": "", "hooks": [{"type": "command", "command": "/opt/cargento notify-hook"}]}]}})
        );
        assert_eq!(
            status_line(&launcher()),
            json!({"statusLine": {"command": "/opt/cargento statusline-hook", "enabled": true}})
        );
    }
}
