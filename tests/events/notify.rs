//! Notifications of hooks against the real binary, with a notifier that writes down what it was called with.

use super::desk::{Answer, Desk, Home, id, now, record, sid, touch, until};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const CANARY: &str = "canary-8e1f-not-on-disk";

/// A notifier in a folder of its own, which is to be the whole PATH.
fn notifier(home: &Home) -> PathBuf {
    let folder = home.0.join("bin");
    std::fs::create_dir_all(folder.join("calls")).unwrap();
    let program = folder.join("notify-send");
    let calls = folder.join("calls").display().to_string();
    let text = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{calls}/.'$$ && /bin/mv '{calls}/.'$$ '{calls}/'$$\n");
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// The calls so far, each as its lines.
fn calls(folder: &Path) -> Vec<Vec<String>> {
    let entries = std::fs::read_dir(folder.join("calls")).unwrap().map(|e| e.unwrap());
    let whole = entries.filter(|e| !e.file_name().to_string_lossy().starts_with('.'));
    whole.map(|e| std::fs::read_to_string(e.path()).unwrap().lines().map(str::to_owned).collect()).collect()
}

/// A dashboard whose sessions 0 to `count` are quiet.
fn quiet(name: &str, count: usize) -> Desk {
    let home = Home::new(name);
    for n in 0..count {
        home.claude(n, "/w/acme/shop", 400.0);
    }
    Desk::start(home)
}

fn tell(desk: &Desk, n: usize, kind: Option<&str>, more: &Value) -> Answer {
    let mut body = json!({"session_id": id("claude", n), "message": "May I run it?", "cwd": format!("/{CANARY}")});
    if let Some(kind) = kind {
        body["notification_type"] = json!(kind);
    }
    body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    desk.post("/api/notify", "", body.to_string().as_bytes())
}

fn raised(desk: &Desk, n: usize) -> usize {
    let stored = std::fs::read(desk.home.state("cargento-deliveries.json")).unwrap_or(b"{\"entries\":[]}".to_vec());
    let stored: Value = serde_json::from_slice(&stored).unwrap();
    let of = |e: &&Value| e["sid"] == sid("claude", n) && e["lane"] == "hook";
    stored["entries"].as_array().unwrap().iter().filter(of).count()
}

fn state(desk: &Desk, n: usize) -> Value {
    desk.row("claude", &sid("claude", n)).unwrap()["state"].clone()
}

/// NOTE-004, NOTE-006, NOTE-012, NOTE-025, NOTE-061, NOTE-063: the table row by row, on a fresh session and on one that waits. With
/// no service no floor holds a raise back, so the record counts the popups.
#[test]
fn note_004_each_type_marks_pops_and_clears_as_its_row_says() {
    // type, message, marks, pops, clears
    let table: [(Option<&str>, &str, bool, bool, bool); 20] = [
        (Some("idle_prompt"), "m", false, true, true),
        (Some("idle_timeout"), "m", false, true, true),
        (Some("agent_completed"), "m", false, false, true),
        (Some("elicitation_complete"), "m", false, false, true),
        (Some("elicitation_response"), "m", false, false, true),
        (Some("auth_success"), "m", false, false, false),
        (Some("computer_use_enter"), "m", false, false, false),
        (Some("computer_use_exit"), "m", false, false, false),
        (Some("push_notification"), "m", false, false, false),
        (Some("agent_needs_input"), "m", true, true, false),
        (Some("elicitation_dialog"), "m", true, true, false),
        (Some("permission_prompt"), "m", true, true, false),
        (Some("worker_permission_prompt"), "m", true, true, false),
        (Some("a type of later years"), "Claude is waiting for your input", true, true, false),
        (Some("  Permission_PROMPT\t"), "m", true, true, false),
        (Some(" Idle_Prompt "), "m", false, true, true),
        (None, " \t CLAUDE is waiting for your input, still", false, true, true),
        (None, "Something else", true, true, false),
        (Some("  "), "", false, true, true),
        (Some(""), "Something else", true, true, false),
    ];
    let desk = quiet("note-004", table.len() * 2);
    for (n, (kind, message, ..)) in table.iter().enumerate() {
        assert_eq!(tell(&desk, n, *kind, &json!({"message": message})).body, r#"{"ok":true}"#, "{kind:?}");
        assert_eq!(tell(&desk, n + table.len(), Some("permission_prompt"), &Value::Null).status, 200);
    }
    let want: usize = table.iter().filter(|row| row.3).count() + table.len();
    until("every raise is on record", || {
        ((0..table.len() * 2).map(|n| raised(&desk, n)).sum::<usize>() >= want).then_some(())
    });
    desk.row_where("the last wait", "claude", &sid("claude", table.len() * 2 - 1), |row| row["state"] == "needs_input");
    for (n, (kind, _, marks, pops, _)) in table.iter().enumerate() {
        assert_eq!(state(&desk, n) == "needs_input", *marks, "{kind:?} marks");
        assert_eq!(raised(&desk, n) == 1, *pops, "{kind:?} pops");
        assert_eq!(state(&desk, n + table.len()), "needs_input", "{kind:?} before");
    }
    // A page that says it can notify changes no row and no count.
    let before = desk.get("/api/data").json();
    assert_eq!(
        desk.post("/api/lane", "", br#"{"supported":true,"permission":"granted"}"#).body,
        r#"{"ok":true,"reported":true}"#
    );
    let after = desk.get("/api/data").json();
    assert_eq!((&before["summary"], &before["deliveries"]), (&after["summary"], &after["deliveries"]));
    assert!(after["browser_lane"] == true && after["sessions"][0]["delivery_outcome"] == "no-lane");
    for (n, (kind, message, ..)) in table.iter().enumerate() {
        tell(&desk, n + table.len(), *kind, &json!({"message": message}));
    }
    let last = table.iter().rposition(|row| row.4).unwrap() + table.len();
    desk.row_where("the last cleared", "claude", &sid("claude", last), |row| row["state"] == "idle");
    for (n, (kind, .., clears)) in table.iter().enumerate() {
        assert_eq!(state(&desk, n + table.len()) == "idle", *clears, "{kind:?} clears");
    }
    for entry in std::fs::read_dir(desk.home.state("")).unwrap() {
        let path = entry.unwrap().path();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
        assert!(!text.contains(CANARY) && !text.contains("May I run"), "{}", path.display());
    }
}

/// NOTE-001, NOTE-002, NOTE-003: the key is eight characters, the end of a session clears it, words are cleaned and cut.
#[test]
fn note_001_002_003_key_end_and_words() {
    let desk = quiet("note-001", 2);
    let long = json!({"message": format!("a\u{0}b\u{202e}c\n{}", "m".repeat(900)), "session_id": sid("claude", 0)});
    assert_eq!(tell(&desk, 0, Some("permission_prompt"), &long).body, r#"{"ok":true}"#);
    let row = desk.row_where("the wait", "claude", &sid("claude", 0), |row| row["state"] == "needs_input");
    let detail = row["state_detail"].as_str().unwrap();
    assert!(detail.starts_with("a b c m") && detail.chars().count() == 500, "{detail}");
    for (body, reply) in [
        (
            json!({"hook_event_name": "SESSIONend", "session_id": id("claude", 0), "message": "x"}),
            r#"{"ok":true,"cleared":"session_end"}"#,
        ),
        (json!({"hook_event_name": "sessionend"}), r#"{"ok":true,"cleared":"session_end"}"#),
        (json!({"hook_event_name": "SessionEnd", "session_id": 7}), r#"{"ok":true,"cleared":"session_end"}"#),
        (
            json!({"hook_event_name": "SessionEnds", "session_id": "nobody-at-all", "notification_type": "auth_success"}),
            r#"{"ok":true}"#,
        ),
        (json!({"hook_event_name": 7, "session_id": ["a"], "message": 7, "notification_type": {}}), r#"{"ok":true}"#),
        (json!({}), r#"{"ok":true}"#),
    ] {
        assert_eq!(desk.post("/api/notify", "", body.to_string().as_bytes()).body, reply, "{body}");
    }
    desk.row_where("no wait", "claude", &sid("claude", 0), |row| row["state"] == "idle");
    assert_eq!(state(&desk, 1), "idle", "a payload without a session marks nobody");
}

/// NOTE-005, NOTE-006, NOTE-008, NOTE-011: a child's notice, a path outside the store, the end of a wait, a handled row.
#[test]
fn note_005_006_008_011_what_a_transcript_and_a_mark_decide() {
    let home = Home::new("note-005");
    let paths: Vec<PathBuf> = (0..4).map(|n| home.claude(n, "/w/acme/shop", 400.0)).collect();
    let child = home.claude(9, "/w/acme/shop", 300.0);
    let named = format!(r#""isSidechain":false,"agentName":"reviewer","teamName":"session-{}""#, sid("claude", 0));
    let text = std::fs::read_to_string(&child).unwrap().replace(r#""isSidechain":false"#, &named);
    std::fs::write(&child, text).unwrap();
    touch(&child, now() - 300.0);
    let desk = Desk::start(home);
    assert_eq!(tell(&desk, 9, Some("permission_prompt"), &Value::Null).body, r#"{"ok":true,"suppressed":"subagent"}"#);
    // A pipe outside the store would hold whoever opened it; a link inside leads nowhere we go.
    let outside = desk.home.0.join(format!("{}.jsonl", id("claude", 1)));
    assert!(Command::new("/usr/bin/mkfifo").arg(&outside).status().unwrap().success());
    let begun = std::time::Instant::now();
    tell(&desk, 1, Some("permission_prompt"), &json!({"transcript_path": outside}));
    assert!(begun.elapsed() < std::time::Duration::from_secs(5));
    tell(&desk, 2, Some("permission_prompt"), &json!({"transcript_path": paths[2]}));
    for n in [1, 2] {
        desk.row_where("the wait", "claude", &sid("claude", n), |row| row["state"] == "needs_input");
    }
    // With a transcript the newest user record decides, whatever its stamp; without one, a later record of any kind.
    for (n, line) in [
        (2, record("user", &id("claude", 2), "/w/acme/shop", now() - 200.0, "Go on")),
        (1, record("assistant", &id("claude", 1), "/w/acme/shop", now() + 1.0, "Going on")),
    ] {
        let mut text = std::fs::read_to_string(&paths[n]).unwrap();
        text += &line;
        std::fs::write(&paths[n], text).unwrap();
        desk.row_where("the end of the wait", "claude", &sid("claude", n), |row| row["state"] != "needs_input");
    }
    desk.row("claude", &sid("claude", 3)).unwrap();
    let mark = json!({"harness": "claude", "sid": sid("claude", 3)});
    assert_eq!(desk.post("/api/dismiss", "", mark.to_string().as_bytes()).status, 200);
    assert_eq!(tell(&desk, 3, Some("permission_prompt"), &Value::Null).body, r#"{"ok":true,"suppressed":"cleared"}"#);
    assert_eq!(raised(&desk, 3), 0, "NOTE-074: what is suppressed leaves no record");
}

/// NOTE-010, NOTE-020, NOTE-022, NOTE-042, NOTE-071, NOTE-074, NOTE-200, NOTE-201: one gate pops once, hook and event
/// together, and a second session waits for the floor.
#[test]
fn note_010_020_one_gate_one_popup() {
    let home = Home::new("note-010");
    for n in 0..2 {
        home.claude(n, "/w/acme/shop", 400.0);
    }
    let bin = notifier(&home);
    let desk = Desk::with(home, &[], &[("PATH", bin.to_str().unwrap())]);
    assert_eq!(desk.get("/api/data").json()["native_notify"], "notify-send");
    let hostile = json!({"message": "-x <b>\"; do shell script \"touch x` & $(id)\\"});
    tell(&desk, 0, Some("permission_prompt"), &hostile);
    let call = until("the popup", || calls(&bin).pop());
    assert_eq!(call[..3], ["--app-name=Cargento", "--", "Claude is waiting on you"]);
    assert_eq!(call[3..], ["-x &lt;b&gt;\"; do shell script \"touch x` &amp; $(id)\\"]);
    desk.accepted("claude", "input_requested", &id("claude", 0));
    desk.row_where("the event's wait", "claude", &sid("claude", 0), |row| row["acquisition"] == "event");
    tell(&desk, 0, Some("permission_prompt"), &hostile);
    tell(&desk, 1, Some("permission_prompt"), &json!({"message": "Another?"}));
    until("three were held back", || (desk.counters()["notify.suppressed"] >= 2).then_some(()));
    assert_eq!(calls(&bin).len(), 1);
    let stored: Value =
        serde_json::from_slice(&std::fs::read(desk.home.state("cargento-deliveries.json")).unwrap()).unwrap();
    let entries = stored["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{stored}");
    let mut members: Vec<_> = entries[0].as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!(members, ["at", "harness", "lane", "outcome", "sid"]);
    assert_eq!((&entries[0]["lane"], &entries[0]["outcome"]), (&json!("hook"), &json!("handed-over")));
}

/// NOTE-024, NOTE-072, NOTE-073, NOTE-075, NOTE-204: the one-shot commands raise nothing and forget nothing of it; the
/// store is read record by record, and its newest 1,024 stand.
#[test]
fn note_024_073_075_one_shots_raise_nothing_and_the_store_is_read_with_care() {
    let home = Home::new("note-073");
    home.claude(0, "/w/acme/shop", 400.0);
    let bin = notifier(&home);
    let path = bin.to_str().unwrap().to_owned();
    std::fs::create_dir_all(home.state("")).unwrap();
    let one = |sid: &str, at: Value, outcome: &str| json!({"harness": "claude", "sid": sid, "at": at, "lane": "gate", "outcome": outcome});
    let key = sid("claude", 0);
    let mut entries: Vec<Value> = (0..1030)
        .map(|n| one(if n < 6 { &key } else { "another" }, json!(1_000_000.0 + f64::from(n)), "refused"))
        .collect();
    entries.extend([
        one(&key, json!(2_000_000.0), "seen"),
        one(&key, json!(-1.0), "refused"),
        one(&key, json!(true), "refused"),
        json!(7),
        json!({"harness": "claude"}),
    ]);
    std::fs::write(home.state("cargento-deliveries.json"), json!({"v": 1, "entries": entries}).to_string()).unwrap();
    let before = std::fs::read(home.state("cargento-deliveries.json")).unwrap();
    for command in ["--diagnose", "--status", "--stop", "--forget"] {
        home.client(&[command, "--port", "9"], &[("PATH", &path)], b"");
    }
    assert_eq!(std::fs::read(home.state("cargento-deliveries.json")).unwrap(), before);
    let desk = Desk::with(home, &[], &[("PATH", &path)]);
    let row = desk.row("claude", &key).unwrap();
    assert_eq!(
        (&row["delivery_outcome"], &row["delivery_raises"], &row["delivery_at"]),
        (&json!(""), &json!(1), &json!(2_000_000.0))
    );
    assert!(!row["delivery_why"].as_str().unwrap().is_empty() && row["delivery_none_why"] == "");
    let figures = &desk.get("/api/data").json()["deliveries"];
    assert_eq!(
        (&figures["raises"], &figures["attempted"], &figures["handed_over"]),
        (&json!(1024), &json!(1023), &json!(0))
    );
    tell(&desk, 0, Some("idle_prompt"), &Value::Null);
    let stored = until("one more record", || {
        let stored: Value =
            serde_json::from_slice(&std::fs::read(desk.home.state("cargento-deliveries.json")).ok()?).ok()?;
        let last = stored["entries"].as_array()?.last()?.clone();
        (last["outcome"] == "handed-over").then(|| stored["entries"].as_array().unwrap().len())
    });
    assert_eq!((stored, calls(&bin).len()), (1024, 1));
    let mode = std::fs::metadata(desk.home.state("cargento-deliveries.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// NOTE-091, NOTE-092, NOTE-093, NOTE-095, EVT-153: the whole day is quiet but a minute; both switches reach a daemon.
#[test]
fn note_092_095_quiet_hours_are_published_and_forwarded() {
    let home = Home::new("note-092");
    home.claude(0, "/w/acme/shop", 400.0);
    let bin = notifier(&home);
    let path = bin.to_str().unwrap().to_owned();
    let minute = (now() as u64 / 60) % 1440;
    let at = |minute: u64| format!("{:02}:{:02}", minute / 60 % 24, minute % 60);
    // From a minute ago until two minutes before that, tomorrow.
    let window = format!("{}-{}", at(minute + 1439), at(minute + 1437));
    let desk = Desk::with(home, &["--quiet-hours", &window], &[("PATH", &path)]);
    assert_eq!(desk.get("/api/data").json()["in_quiet_hours"], true);
    tell(&desk, 0, Some("idle_prompt"), &Value::Null);
    desk.accepted("claude", "input_requested", &id("claude", 0));
    desk.row_where("the wait", "claude", &sid("claude", 0), |row| row["state"] == "needs_input");
    assert!(calls(&bin).is_empty() && desk.counters()["notify.suppressed"] >= 1);
    assert!(!desk.home.state("cargento-deliveries.json").exists(), "no record, no cooldown spent");
    let port = (desk.port + 1).to_string();
    for flags in [&["--quiet-hours", "01:00-02:00", "--no-events"][..], &["--no-quiet-hours", "--no-events"]] {
        let args = [&["--daemon", "--no-usage", "--port", &port], flags].concat();
        assert!(desk.home.client(&args, &[("PATH", &path)], b"").status.success());
        let state = desk.home.state(&format!("cargento-{port}.json"));
        let state: Value = serde_json::from_slice(&std::fs::read(state).unwrap()).unwrap();
        let line = std::fs::read(format!("/proc/{}/cmdline", state["pid"])).unwrap();
        let words: Vec<String> = line.split(|b| *b == 0).map(|w| String::from_utf8_lossy(w).into_owned()).collect();
        assert!(desk.home.client(&["--stop", "--port", &port], &[], b"").status.success());
        assert!(
            flags
                .iter()
                .all(|flag| words.iter().any(|w| w == flag || w.ends_with(&format!("={flag}")) || w.contains(flag))),
            "{words:?}"
        );
        assert!(state.get("capabilities").is_none());
    }
}

/// NOTE-073, NOTE-076: a record that cannot be written costs one line, and the popup comes all the same.
#[test]
fn note_073_076_an_unwritable_record_stops_no_popup() {
    let home = Home::new("note-unwritable");
    home.claude(0, "/w/acme/shop", 400.0);
    let bin = notifier(&home);
    std::fs::create_dir_all(home.state("cargento-deliveries.json")).unwrap();
    let desk = Desk::with(home, &[], &[("PATH", bin.to_str().unwrap())]);
    assert_eq!(desk.get("/api/data").json()["deliveries_reset"], "unreadable");
    tell(&desk, 0, Some("idle_prompt"), &Value::Null);
    assert_eq!(until("the popup", || calls(&bin).pop())[2], "Claude is waiting on you");
    let log = || std::fs::read_to_string(desk.home.0.join("log")).unwrap();
    let lines = || log().lines().filter(|line| line.contains("cargento-deliveries.json")).count();
    until("the line", || (lines() >= 1).then_some(()));
    assert_eq!(lines(), 1, "{}", log());
    let body = desk.get("/api/data").json();
    assert!(body["sessions"][0]["delivery_raises"].as_u64().unwrap() <= 1, "{}", body["sessions"][0]);
}

/// NOTE-009: what a session writes itself outranks every hook while it is fresh; then each type stands.
#[test]
fn note_009_fresh_activity_of_its_own_outranks_a_hook() {
    let home = Home::new("note-009");
    let fresh = home.claude(0, "/w/acme/shop", 5.0);
    home.claude(1, "/w/acme/shop", 400.0);
    let desk = Desk::start(home);
    for n in 0..2 {
        for kind in ["permission_prompt", "a type of later years"] {
            assert_eq!(tell(&desk, n, Some(kind), &Value::Null).body, r#"{"ok":true}"#);
        }
    }
    desk.row_where("the quiet one waits", "claude", &sid("claude", 1), |row| row["state"] == "needs_input");
    assert_eq!(state(&desk, 0), "working");
    // Once its own writing has gone cold, the hook that still stands is what is known.
    let text = std::fs::read_to_string(&fresh).unwrap();
    let old = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["timestamp"] = json!(super::desk::stamp(now() - 300.0));
        line.to_string() + "\n"
    });
    std::fs::write(&fresh, old.collect::<String>()).unwrap();
    touch(&fresh, now() - 300.0);
    desk.row_where("the other one waits", "claude", &sid("claude", 0), |row| row["state"] == "needs_input");
}
