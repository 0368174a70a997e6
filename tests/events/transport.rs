//! Whom a forwarder reaches, what it opens on the way, and what it costs when nobody answers.

use super::desk::{BINARY, Desk, Home, Listener, id, run};
use super::forward::{SECRET, UUID, call, forms, name_tokens, payload, quiet};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// HOOK-004, HOOK-005, HOOK-006, HOOK-010, HOOK-014: one post to one address, with a redirect to follow, proxies to use,
/// and a state file that names other places.
#[test]
fn hook_004_005_014_one_post_to_one_address_and_only_what_the_envelope_names() {
    let home = Home::new("redirect");
    let elsewhere = Listener::answering(Some("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".into()));
    let proxy = format!("http://127.0.0.1:{}", elsewhere.port);
    let names =
        ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"];
    let env: Vec<(&str, &str)> =
        names.iter().map(|name| (*name, if name.to_lowercase() == "no_proxy" { "" } else { &proxy })).collect();
    for status in [301, 302, 303, 307, 308] {
        let answer = format!("HTTP/1.1 {status} Away\r\nLocation: {proxy}/stolen\r\nContent-Length: 0\r\n\r\n");
        let desk = Listener::answering(Some(answer));
        name_tokens(&home, desk.port);
        let state = home.state(&format!("cargento-{}.json", desk.port));
        let mut named: Value = serde_json::from_slice(&std::fs::read(&state).unwrap()).unwrap();
        (named["port"], named["host"], named["url"]) = (json!(elsewhere.port), json!("evil.example"), json!(proxy));
        std::fs::write(&state, named.to_string()).unwrap();
        for (n, (name, args, want)) in forms(desk.port).into_iter().enumerate() {
            quiet(name, &call(&home, &args, &env, &payload()), want);
            assert_eq!((desk.count(), elsewhere.count()), (n + 1, 0), "{name} at {status}: one post, here");
        }
        let got = desk.got.lock().unwrap();
        for (post, path) in got.iter().zip(["notify", "events/codex", "events/antigravity", "events/antigravity"]) {
            let text = String::from_utf8_lossy(post);
            assert!(text.starts_with(&format!("POST /api/{path} HTTP/1.1\r\n")), "{text}");
            assert!(text.contains("\r\nContent-Type: application/json\r\n"));
            assert_eq!(text.contains("\r\nX-Cargento-Capability: t1\r\n"), path != "notify", "{text}");
            // The notification goes through unchanged; envelopes are built field by field.
            assert_eq!(text.contains(SECRET), path == "notify", "{text}");
        }
        let body = String::from_utf8_lossy(&got[1]).split_once("\r\n\r\n").unwrap().1.to_owned();
        assert_eq!(body, format!(r#"{{"v":1,"event":"input_requested","session_id":"{UUID}","cwd":"/w/p"}}"#));
    }
}

/// What a traced run connected to and which files it opened or looked at.
fn traced(home: &Home, args: &[String], env: &[(&str, &str)]) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    let log = home.0.join("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", "trace=%file,%network", "-o"]).arg(&log).arg(BINARY).args(args);
    command.env_clear().env("HOME", &home.0).env("PATH", "/usr/bin:/bin").envs(env.iter().copied());
    let done = run(command, &payload());
    if !done.status.success() {
        return None;
    }
    let text = std::fs::read_to_string(&log).unwrap();
    let quoted = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
    let calls = |names: &[&str]| -> Vec<&str> {
        text.lines()
            .filter(|l| names.iter().any(|n| l.split_whitespace().nth(1).is_some_and(|c| c.starts_with(n))))
            .collect()
    };
    let connects = calls(&["connect(", "sendto(", "bind("]);
    let reached =
        connects.iter().filter(|l| l.contains("sin_addr") || l.contains("sun_path") || l.contains("sin6")).map(|l| {
            let port = l.split("htons(").nth(1).and_then(|r| r.split(')').next()).unwrap_or("?");
            let host = l.split("inet_addr(\"").nth(1).and_then(|r| r.split('"').next()).unwrap_or("?");
            format!("{host}:{port}")
        });
    let files =
        calls(&["open", "stat", "statx(", "lstat", "newfstatat(", "access", "readlink", "rename", "unlink", "mkdir"]);
    let opened = files.iter().map(|l| quoted(l)).filter(|path| {
        let system = [
            "/lib",
            "/usr/lib",
            "/etc/ld.so",
            "/proc/self/maps",
            "/proc/sys",
            "/sys/fs/cgroup",
            "/proc/self/cgroup",
            "/proc/self/mountinfo",
        ];
        !path.is_empty() && !system.iter().any(|start| path.starts_with(start))
    });
    Some((reached.collect(), opened.collect()))
}

/// HOOK-004, HOOK-007, HOOK-010, HOOK-011, TRUST-001, TRUST-022: under strace each forwarder connects to 127.0.0.1 alone
/// and touches the state file alone, the status line its memo as well; a payload with nothing to say touches nothing.
#[test]
fn hook_011_trust_022_a_traced_forwarder_reaches_loopback_and_the_state_file_alone() {
    if !Command::new("strace")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
    {
        eprintln!("not run: strace is not installed here");
        return;
    }
    let home = Home::new("strace");
    let elsewhere = Listener::answering(None);
    let proxy = format!("http://127.0.0.1:{}", elsewhere.port);
    let answer = format!("HTTP/1.1 307 Away\r\nLocation: {proxy}/\r\nContent-Length: 0\r\n\r\n");
    let desk = Listener::answering(Some(answer));
    name_tokens(&home, desk.port);
    let env = [("http_proxy", proxy.as_str()), ("HTTP_PROXY", &proxy), ("all_proxy", &proxy), ("ALL_PROXY", &proxy)];
    let state = home.state(&format!("cargento-{}.json", desk.port)).display().to_string();
    let memo = home.state(&format!("statusline-antigravity-{UUID}.json")).display().to_string();
    for (name, args, _) in forms(desk.port) {
        let Some((reached, opened)) = traced(&home, &args, &env) else {
            eprintln!("not run: processes cannot be traced here");
            return;
        };
        assert_eq!(reached, BTreeSet::from([format!("127.0.0.1:{}", desk.port)]), "{name}");
        let want = match name {
            "notify" => BTreeSet::new(),
            "statusline" => BTreeSet::from([state.clone(), memo.clone()]),
            _ => BTreeSet::from([state.clone()]),
        };
        assert_eq!(opened.into_iter().filter(|path| *path != BINARY).collect::<BTreeSet<_>>(), want, "{name}");
    }
    assert_eq!((desk.count(), elsewhere.count()), (4, 0));
    let mute = ["event-hook", "gemini", &desk.port.to_string()].map(str::to_owned).to_vec();
    let (reached, opened) = traced(&home, &mute, &env).unwrap();
    assert!(reached.is_empty() && opened.iter().all(|path| *path == BINARY), "{reached:?} {opened:?}");
}

/// HOOK-055, TRUST-057: a board that accepts and never answers costs two seconds and a half at most, the status line with
/// two things to say included; it has drawn its line by then.
#[test]
fn hook_055_trust_057_a_board_that_never_answers_costs_its_limit() {
    let home = Home::new("mute");
    let mute = Listener::answering(None);
    name_tokens(&home, mute.port);
    let mut both: Value = serde_json::from_slice(&payload()).unwrap();
    both["quota"] = json!({"model": {"remaining": 0.5}});
    let input = both.to_string().into_bytes();
    std::thread::scope(|scope| {
        for (name, args, want) in forms(mute.port) {
            let (home, input) = (&home, &input);
            scope.spawn(move || {
                let begun = Instant::now();
                quiet(name, &call(home, &args, &[], input), want);
                let took = begun.elapsed();
                assert!(took >= Duration::from_millis(1500) && took < Duration::from_secs(3), "{name} took {took:?}");
            });
        }
    });
    assert_eq!(mute.count(), 5, "the status line had its second say");
}

/// FIELD-066, HOOK-015: a hundred calls with the board up, down and stopped in its tracks; each ends with 0 and in time.
#[test]
fn field_066_hook_015_what_a_call_costs_is_bounded_in_every_state_of_the_board() {
    let home = Home::new("field-066");
    home.claude(1, "/w/acme/shop", 400.0);
    let desk = Desk::start(home);
    let input = json!({"hook_event_name": "PostToolUse", "session_id": id("claude", 1), "cwd": "/w"}).to_string();
    let p95 = |port: u16, calls: usize| {
        let mut times: Vec<Duration> = (0..calls)
            .map(|_| {
                let begun = Instant::now();
                let done = desk.home.client(&["event-hook", "claude", &port.to_string()], &[], input.as_bytes());
                quiet("event", &done, b"");
                begun.elapsed()
            })
            .collect();
        times.sort();
        times[calls * 95 / 100]
    };
    let down = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (up, gone) = (p95(desk.port, 100), p95(down, 100));
    // Generous: a debug build on a machine that does other things. The figures are in scripts/bench.
    assert!(up < Duration::from_millis(500) && gone < Duration::from_millis(500), "up {up:?}, down {gone:?}");
    let process = desk.child.id().to_string();
    let signal = |name: &str| assert!(Command::new("/bin/kill").args([name, &process]).status().unwrap().success());
    signal("-STOP");
    let stopped = p95(desk.port, 2);
    signal("-CONT");
    assert!(stopped < Duration::from_millis(2500), "stopped {stopped:?}");
    desk.accepted("claude", "turn_started", &id("claude", 1));
}

/// HOOK-008, HOOK-009: what stands in the state file's place and is none sends nothing and holds nothing up.
#[test]
fn hook_008_009_no_usable_state_file_sends_nothing() {
    let home = Home::new("state-file");
    let desk = Listener::answering(Some("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".into()));
    name_tokens(&home, desk.port);
    let state = home.state(&format!("cargento-{}.json", desk.port));
    let args = ["event-hook".to_owned(), "claude".to_owned(), desk.port.to_string()];
    let good = std::fs::read(&state).unwrap();
    for content in [
        b"".to_vec(),
        b"{".to_vec(),
        b"[]".to_vec(),
        b"{\"capabilities\":null}".to_vec(),
        b"{\"capabilities\":{\"codex\":\"t\"}}".to_vec(),
        b"{\"capabilities\":{\"claude\":\"\"}}".to_vec(),
        b"{\"capabilities\":{\"claude\":7}}".to_vec(),
        b"{\"capabilities\":{\"claude\":\"a\\r\\nHost: evil\"}}".to_vec(),
        [good.clone(), vec![b'x'; 65_536]].concat(),
    ] {
        std::fs::write(&state, &content).unwrap();
        quiet("a broken file", &call(&home, &args, &[], &payload()), b"");
    }
    std::fs::remove_file(&state).unwrap();
    quiet("no file", &call(&home, &args, &[], &payload()), b"");
    std::fs::create_dir(&state).unwrap();
    quiet("a directory", &call(&home, &args, &[], &payload()), b"");
    std::fs::remove_dir(&state).unwrap();
    assert!(Command::new("/usr/bin/mkfifo").arg(&state).status().unwrap().success());
    let begun = Instant::now();
    quiet("a pipe", &call(&home, &args, &[], &payload()), b"");
    assert!(begun.elapsed() < Duration::from_secs(2));
    std::fs::remove_file(&state).unwrap();
    assert_eq!(desk.count(), 0);
    // The file is read at every call: the next one finds the new token.
    std::fs::write(&state, &good).unwrap();
    quiet("a good file", &call(&home, &args, &[], &payload()), b"");
    assert_eq!(desk.count(), 1);
}
