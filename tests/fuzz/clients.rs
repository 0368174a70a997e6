//! The forwarders as a harness starts them: whatever stands on their standard input, they end with 0, say nothing on
//! standard error, and on standard output what their harness reads as no opinion (TRUST-049, HOOK-001).

use super::driver::Target;
use super::home::{Home, free_port};
use std::io::Write;
use std::process::Stdio;

const PAYLOADS: [&str; 5] = [
    r#"{"hook_event_name":"SessionStart","session_id":"3f9c01ab-0000-4000-8000-000000000000","cwd":"/home/me","transcript_path":"/h/t.jsonl","agent_id":"a"}"#,
    r#"{"hook_event_name":"PermissionRequest","session_id":"3f9c01ab-0000-4000-8000-000000000000","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#,
    r#"{"session_id":"3f9c01ab-0000-4000-8000-000000000000","message":"Claude needs your permission","hook_event_name":"Notification"}"#,
    r#"{"conversation_id":"019a0000-1111-4222-8333-444455556666","agent_state":"working","quota":{"a":1},"cwd":"/home/me"}"#,
    r#"{"conversationId":"019a0000-1111-4222-8333-444455556666","workspacePaths":["/home/me"],"stopReason":"done"}"#,
];

/// Runs one client on inputs; `says` is what it may print.
fn client(name: &'static str, args: &[&str], says: &[&str]) {
    let home = Home::new();
    let port = free_port().to_string();
    let args: Vec<&str> = args.iter().map(|arg| if *arg == "PORT" { port.as_str() } else { arg }).collect();
    Target::new(name, 40, PAYLOADS).run(|input, dice| {
        let mut command = home.command(&args);
        // A terminal that may or may not be one.
        let tmux = ["", "/tmp/tmux-0/default,42,0", ",,,", "/tmp/../etc/passwd,1,2"];
        command.env("TMUX", dice.pick(&tmux)).env("TMUX_PANE", "%3");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It may have read all it wants before everything is written.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(says.contains(&said.as_str()), "it said {said:?}");
    });
}

/// TRUST-049, TRUST-080.
#[test]
fn trust_049_080_event_hook() {
    for harness in ["claude", "codex", "gemini"] {
        client("event-hook", &["event-hook", harness, "PORT"], &[""]);
    }
}

/// TRUST-049, TRUST-080.
#[test]
fn trust_049_080_notify_hook() {
    client("notify-hook", &["notify-hook", "http://127.0.0.1:1/api/notify"], &[""]);
}

/// TRUST-049, TRUST-080.
#[test]
fn trust_049_080_agy_hook() {
    client("agy-hook", &["agy-hook", "Stop", "PORT"], &["{}\n", "{}", ""]);
}

/// TRUST-049, TRUST-080.
#[test]
fn trust_049_080_statusline_hook() {
    client("statusline-hook", &["statusline-hook", "PORT"], &["\n"]);
}
