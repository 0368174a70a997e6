//! The forwarders as a harness starts them: what they take, what they say and what they print.

use super::desk::{BINARY, Desk, Home, Listener, now, run};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output};

pub const UUID: &str = "019a0000-1111-4222-8333-444455556666";
pub const SECRET: &str = "canary-51c2-never-leaves";

/// The four forwarders: arguments before the port or address, and what each prints, whatever happens.
pub fn forms(port: u16) -> [(&'static str, Vec<String>, &'static [u8]); 4] {
    let port = port.to_string();
    let list = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
    [
        ("notify", list(&["notify-hook", &format!("http://127.0.0.1:{port}/api/notify")]), b""),
        ("event", list(&["event-hook", "codex", &port]), b""),
        ("agy", list(&["agy-hook", "PostToolUse", &port]), b"{}\n"),
        ("statusline", list(&["statusline-hook", &port]), b"\n"),
    ]
}

/// A payload in which each of the four finds something to say, and much that it must not.
pub fn payload() -> Vec<u8> {
    json!({
        "hook_event_name": "PermissionRequest", "session_id": UUID, "conversationId": UUID, "conversation_id": UUID,
        "agent_state": "working", "cwd": "/w/p", "prompt": SECRET, "tool_input": {"command": SECRET},
        "tool_response": SECRET, "email": SECRET, "last_assistant_message": SECRET, "model": SECRET,
    })
    .to_string()
    .into_bytes()
}

pub fn call(home: &Home, args: &[String], env: &[(&str, &str)], input: &[u8]) -> Output {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    home.client(&args, env, input)
}

#[track_caller]
pub fn quiet(what: &str, done: &Output, want: &[u8]) {
    assert_eq!(
        (done.status.code(), done.stdout.as_slice(), done.stderr.as_slice()),
        (Some(0), want, &b""[..]),
        "{what}: {} / {}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
}

/// A state file that names a token for every source.
pub fn name_tokens(home: &Home, port: u16) {
    std::fs::create_dir_all(home.state("")).unwrap();
    let tokens =
        json!({"capabilities": {"claude": "t1", "codex": "t1", "antigravity": "t1", "gemini": "t1", "droid": "t1"}});
    std::fs::write(home.state(&format!("cargento-{port}.json")), tokens.to_string()).unwrap();
}

/// HOOK-001, HOOK-002, HOOK-012, HOOK-036, HOOK-050, HOOK-060, TRUST-049: the bodies of the hostile corpus and worse on
/// standard input, beside a running dashboard. Exit 0, the stated output and no overlay of anybody.
#[test]
fn trust_049_hook_001_no_payload_makes_a_forwarder_fail_talk_or_move_a_row() {
    let home = Home::new("stdin");
    home.claude(1, "/w/acme/shop", 400.0);
    let desk = Desk::start(home);
    let corpus =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/hostile/corpus.jsonl")).unwrap();
    let mut bodies: BTreeSet<Vec<u8>> = BTreeSet::new();
    for case in corpus.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let mut bytes = Vec::new();
        for part in case["send"].as_array().unwrap() {
            let (text, times) = match part {
                Value::String(text) => (text.as_str(), 1),
                other => (other["repeat"].as_str().unwrap(), other["times"].as_u64().unwrap() as usize),
            };
            let piece: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
            bytes.extend(piece.repeat(times));
        }
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            bodies.insert(bytes.split_off(at + 4));
        }
    }
    let half = payload().len() / 2;
    bodies.extend([
        payload()[..half].to_vec(),
        vec![b' '; 3000],
        vec![0xff; 3000],
        "[".repeat(100_000).into_bytes(),
        [vec![b' '; 2 * 1024 * 1024], payload()].concat(),
        json!({"hook_event_name": "Stop", "session_id": "x".repeat(20_000), "conversationId": UUID.repeat(3)})
            .to_string()
            .into_bytes(),
        json!({"hook_event_name": ["Stop"], "session_id": {"a": 1}, "workspacePaths": 7, "agent_state": []})
            .to_string()
            .into_bytes(),
    ]);
    assert!(bodies.len() >= 50, "{} bodies", bodies.len());
    let before = desk.counters();
    for (name, args, want) in forms(desk.port) {
        for body in &bodies {
            let done = call(&desk.home, &args, &[], body);
            quiet(&format!("{name} {:.60}", String::from_utf8_lossy(body)), &done, want);
        }
    }
    let after = desk.counters();
    let listing = desk.overlays();
    assert_eq!((&listing["overlays"], &listing["pending_rows"]), (&json!([]), &json!([])));
    for (name, n) in &after {
        if name.starts_with("panic.") || name.starts_with("cap.") || name.starts_with("event.") {
            assert_eq!(*n, before[name], "{name}");
        }
    }
    for (n, args) in [
        vec!["event-hook"],
        vec!["event-hook", "nobody"],
        vec!["agy-hook"],
        vec!["notify-hook", "", "x"],
        vec!["statusline-hook", "x"],
    ]
    .iter()
    .enumerate()
    {
        let done = desk.home.client(args, &[], b"{}");
        assert!(done.status.success() && done.stderr.is_empty(), "{n}: {args:?}");
    }
}

/// HOOK-012, HOOK-001: closed descriptors instead of empty ones.
#[test]
fn hook_012_closed_standard_descriptors_are_no_failure() {
    let home = Home::new("closed");
    for (name, args, _) in forms(9) {
        let line = format!("exec '{BINARY}' {} <&- >&- 2>&-", args.join(" "));
        let status = Command::new("/bin/sh").args(["-c", &line]).env_clear().env("HOME", &home.0).status().unwrap();
        assert_eq!(status.code(), Some(0), "{name}");
    }
}

/// HOOK-051, HOOK-054: whatever `agy` is asked, it has no opinion.
#[test]
fn hook_050_agy_prints_its_braces_and_nothing_else_ever() {
    let home = Home::new("agy");
    let desk = Listener::answering(Some("HTTP/1.1 500 No\r\n\r\nnonsense".into()));
    name_tokens(&home, desk.port);
    let port = desk.port.to_string();
    let huge = [payload(), vec![b' '; 1024 * 1024 - payload().len()]].concat();
    let cut = [b"{\"a\":\"".to_vec(), vec![b'x'; 2 * 1024 * 1024], b"\"}".to_vec()].concat();
    for hook in ["PostToolUse", "PostInvocation", "PreToolUse", "PreInvocation", "", "--help", "posttooluse"] {
        for input in [b"".as_slice(), b"{", b"[]", b"null", &payload(), &huge, &cut, b"\xff\xfe"] {
            let before = desk.count();
            quiet(hook, &home.client(&["agy-hook", hook, &port], &[], input), b"{}\n");
            let speaks = matches!(hook, "PostToolUse" | "PostInvocation") && (input == payload() || input == huge);
            assert_eq!(desk.count() - before, usize::from(speaks), "{hook} {} bytes", input.len());
        }
    }
}

fn render(home: &Home, port: u16, state: &Value) -> Output {
    home.client(&["statusline-hook", &port.to_string()], &[], state.to_string().as_bytes())
}

/// HOOK-061, HOOK-062, HOOK-063, HOOK-064, HOOK-065, HOOK-066, HOOK-067, HOOK-068, HOOK-069: changes alone are said, quota first, alone and once a minute; what was not taken is said again.
#[test]
fn hook_063_069_the_status_line_remembers_what_was_taken() {
    let home = Home::new("statusline");
    let taken = Listener::answering(Some("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".into()));
    let memo = home.state(&format!("statusline-antigravity-{UUID}.json"));
    let body = |listener: &Listener, n: usize| {
        let got = listener.got.lock().unwrap();
        let (head, body) =
            String::from_utf8_lossy(&got[n]).split_once("\r\n\r\n").map(|(h, b)| (h.to_owned(), b.to_owned())).unwrap();
        (head.lines().next().unwrap().to_owned(), body)
    };
    let state = |agent: &str| json!({"conversation_id": format!(" {UUID} "), "agent_state": agent, "cwd": "/w/p", "email": SECRET});
    quiet("without a token", &render(&home, taken.port, &state("working")), b"\n");
    assert!((taken.count(), memo.exists()) == (0, false), "HOOK-068: what found no token is not remembered");
    name_tokens(&home, taken.port);
    for agent in ["tool_use", "authenticating", "", "WORKING"] {
        quiet(agent, &render(&home, taken.port, &state(agent)), b"\n");
    }
    assert!((taken.count(), memo.exists()) == (0, false), "HOOK-062, HOOK-069");
    for agent in ["working", "working", "idle", "idle", "working"] {
        quiet(agent, &render(&home, taken.port, &state(agent)), b"\n");
    }
    let events: Vec<String> = (0..taken.count()).map(|n| body(&taken, n).1).collect();
    let of = |event: &str| format!(r#"{{"v":1,"event":"{event}","session_id":"{UUID}","cwd":"/w/p"}}"#);
    assert_eq!(events, [of("turn_started"), of("turn_stopped"), of("turn_started")]);
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&memo).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "HOOK-067");
    // Quota goes first and carries nothing else; then not again within the minute.
    let mut full = state("idle");
    full["quota"] = json!({"model": {"remaining": 0.5}});
    for _ in 0..2 {
        quiet("quota", &render(&home, taken.port, &full), b"\n");
    }
    assert_eq!(body(&taken, 3), ("POST /api/usage HTTP/1.1".into(), r#"{"quota":{"model":{"remaining":0.5}}}"#.into()));
    assert!(body(&taken, 4).1.contains("turn_stopped") && taken.count() == 5);
    let kept: Value = serde_json::from_slice(&std::fs::read(&memo).unwrap()).unwrap();
    assert!(kept["event"] == "turn_stopped" && (now() - kept["quota_at"].as_f64().unwrap()).abs() < 60.0);
    // A minute later, and with a memo that is no memo.
    for old in
        [json!({"event": "turn_stopped", "quota_at": now() - 60.5}), json!({"event": "turn_stopped", "quota_at": "x"})]
    {
        std::fs::write(&memo, old.to_string()).unwrap();
        let before = taken.count();
        render(&home, taken.port, &full);
        assert_eq!(taken.count() - before, 1, "{old}");
    }
    let before = taken.count();
    std::fs::write(&memo, "{broken").unwrap();
    render(&home, taken.port, &full);
    assert_eq!(taken.count() - before, 2, "an unreadable memo is none");
    // HOOK-066: an id that is no plain name posts nothing and writes nothing, quota included.
    let names = || std::fs::read_dir(home.state("")).unwrap().count();
    let (before, files) = (taken.count(), names());
    for id in ["../../../../../../../../etc/passwd-xx", "019a0000_1111_4222_8333_444455556666", "short", ""] {
        render(&home, taken.port, &json!({"conversation_id": id, "agent_state": "working", "quota": {"a": 1}}));
    }
    assert_eq!((taken.count(), names()), (before, files));
    // HOOK-068: what was refused is said again at the next render.
    let refusing = Listener::answering(Some("HTTP/1.1 429 No\r\nContent-Length: 0\r\n\r\n".into()));
    name_tokens(&home, refusing.port);
    for n in 1..=2 {
        render(&home, refusing.port, &state("working"));
        assert_eq!(refusing.count(), n);
    }
}

/// HOOK-016: the name the binary is started under is the subcommand.
#[test]
fn hook_016_the_binary_acts_by_its_name() {
    let home = Home::new("names");
    let taken = Listener::answering(Some("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".into()));
    name_tokens(&home, taken.port);
    let port = taken.port.to_string();
    let url = format!("http://127.0.0.1:{port}/api/notify");
    for (n, (name, args, want)) in [
        ("notify_hook", vec![url.as_str()], b"".as_slice()),
        ("event_hook", vec!["codex", &port], b""),
        ("agy_hook", vec!["PostToolUse", &port], b"{}\n"),
        ("statusline_hook", vec![&port], b"\n"),
    ]
    .into_iter()
    .enumerate()
    {
        for end in ["", ".py"] {
            let mut command = home.command(&args, &[]);
            command.arg0(format!("/opt/{name}{end}"));
            quiet(name, &run(command, &payload()), want);
        }
        // The status line says nothing twice.
        assert_eq!(taken.count(), if n == 3 { 7 } else { 2 * (n + 1) }, "{name}");
    }
}

/// HOOK-020, HOOK-021, HOOK-022: bytes go through as they are, blank input is an empty object, what is no JSON stays here.
#[test]
fn hook_021_notifications_pass_unchanged_or_not_at_all() {
    let home = Home::new("notify");
    let desk = Listener::answering(Some("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".into()));
    let url = format!("http://localhost:{}/api/usage?x=1", desk.port);
    let odd: &[u8] = b" {\"b\" : 1.50,\n\"a\":\"\\u00e9\"}\n";
    for (input, want) in [
        (odd, Some(odd)),
        (b"[1, 2]".as_slice(), Some(b"[1, 2]".as_slice())),
        (b"", Some(b"{}")),
        (b" \r\n\t ", Some(b"{}")),
        (b"{", None),
        (b"nonsense", None),
        (b"{} {}", None),
        (b"\"\xff\"", None),
    ] {
        let before = desk.count();
        quiet("notify", &home.client(&["notify-hook", &url], &[], input), b"");
        let got = desk.got.lock().unwrap();
        assert_eq!(got.len() - before, usize::from(want.is_some()), "{input:?}");
        if let Some(want) = want {
            let text = got.last().unwrap();
            let at = text.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
            let head = String::from_utf8_lossy(&text[..at]).into_owned();
            assert_eq!(&text[at + 4..], want);
            assert!(head.starts_with("POST /api/usage?x=1 HTTP/1.1\r\n") && !head.contains("Capability"), "{head}");
        }
    }
    for url in
        ["https://127.0.0.1/", "http://localhost.evil.com/", "http://localhost@evil.com/", "http://evil.com/", "", "x"]
    {
        quiet(url, &home.client(&["notify-hook", url], &[], b"{}"), b"");
    }
    // Exactly at the cap it passes; one byte more is cut and is no JSON any more.
    for (length, posts) in [(65_536, 1), (65_537, 0)] {
        let before = desk.count();
        let input = format!("\"{}\"", "m".repeat(length - 2));
        quiet("the cap", &home.client(&["notify-hook", &url], &[], input.as_bytes()), b"");
        assert_eq!(desk.count() - before, posts, "{length}");
    }
}
