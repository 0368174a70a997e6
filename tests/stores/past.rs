//! The local history over HTTP and the command line (file 52, section 2).

use crate::home::{HISTORY, Home, free_port, now};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;

const ROW: &str = "3f9c01ab-1111-4222-8333-444455556666";
const MEMBERS: [&str; 8] = [
    "annotation_goal",
    "annotation_output",
    "annotation_revision",
    "harness",
    "last_activity",
    "project",
    "sid",
    "state",
];

/// HIST-001, HIST-002, HIST-003, HIST-004, HIST-005, HIST-010, HIST-011, HIST-016, HIST-030, HIST-040 a transition is
/// recorded out of members the row publishes, and nothing else touches the file.
#[test]
fn hist_001_a_transition_is_recorded() {
    let home = Home::new();
    let row = home.claude(ROW, 60.0);
    let path = home.path.join(format!(".claude/projects/-w-acme-shop/{ROW}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap().replace("Tidy the queue", "MARKER /w/acme/shop/secret.rs");
    std::fs::write(&path, text).unwrap();
    let board = home.serve();
    let data = board.data();
    assert_eq!(data.get("history_reset"), None, "no file is no reset");
    let file = home.json(HISTORY);
    assert_eq!((&file["v"], &file["entries"]), (&json!(2), &data["history"]));
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(home.file(HISTORY)), 0o600);
    let stamp = std::fs::metadata(home.file(HISTORY)).unwrap().modified().unwrap();
    let goal = json!({"harness": "claude", "sid": row, "goal": "Ship it", "lines": ["tests pass", "docs"]});
    assert!(board.mark("another"), "a new collection with nothing to record");
    assert_eq!(board.data()["history"], data["history"]);
    assert_eq!(std::fs::metadata(home.file(HISTORY)).unwrap().modified().unwrap(), stamp);
    board.post("/api/annotate", &goal);
    let data = board.data();
    let published = &data["sessions"][0];
    let last = data["history"].as_array().unwrap().last().unwrap().clone();
    let mut names: Vec<_> = last.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, MEMBERS);
    for name in MEMBERS {
        assert_eq!(last[name], published[name], "{name} is what the row publishes");
    }
    assert_eq!((&last["annotation_output"], &last["annotation_revision"]), (&json!("tests pass"), &json!(1)));
    let text = std::fs::read_to_string(home.file(HISTORY)).unwrap();
    assert!(!text.contains("MARKER") && !text.contains("/w/") && !text.contains("secret.rs"), "{text}");
    home.no_leftovers();
    // A restart reads it back and records no unchanged state again.
    drop(board);
    let again = home.serve();
    assert_eq!(again.data()["history"], data["history"]);
    assert_eq!(std::fs::read_to_string(home.file(HISTORY)).unwrap(), text);
}

/// ANN-105, HIST-004, HIST-061 history keeps the goal, the first line that is not empty, and the revision, redacted and
/// bounded; never another line, nor the recorded entry a line came from.
#[test]
fn ann_105_what_history_keeps_of_the_words() {
    let home = Home::new();
    let row = home.claude(ROW, 60.0);
    let lines = json!([{"text": "log the drops", "source": "entry", "source_id": "claude:x:steer:77"}, {"text": "docs", "source": "typed"}]);
    let words =
        json!({"harness": "claude", "sid": row, "revisions": [{"n": 4, "at": 5.0, "goal": "Ship it", "lines": lines}]});
    home.put("cargento-annotations.json", json!({"v": 2, "entries": [words]}).to_string().as_bytes());
    let board = home.serve();
    let kept = board.data()["history"][0].clone();
    assert_eq!(
        (&kept["annotation_goal"], &kept["annotation_output"], &kept["annotation_revision"]),
        (&json!("Ship it"), &json!("log the drops"), &json!(4))
    );
    let key = format!("sk-ant-api03-{}", "Qz7Rk2Vm9Xt4Wb6Yp3Nd8Hs5Jf1Lg0Cc".repeat(2));
    let goal = format!("{} {key}", "g".repeat(225));
    let body = json!({"harness": "claude", "sid": row, "goal": goal});
    assert_eq!(board.post("/api/annotate", &body)["outcome"], "stored");
    assert_eq!(board.data()["history"].as_array().unwrap().len(), 2);
    let text = std::fs::read_to_string(home.file(HISTORY)).unwrap();
    for never in ["steer:77", "docs", "typed", "Qz7R", "annotation_line"] {
        assert!(!text.contains(never), "{never}: {text}");
    }
    assert!(home.entries(HISTORY)[1]["annotation_goal"].as_str().unwrap().chars().count() <= 256);
}

/// HIST-014, HIST-051, HIST-060, CLI-039 `--no-history` alone decides; `--diagnose` never records.
#[test]
fn hist_014_the_one_switch() {
    let home = Home::new();
    home.claude(ROW, 60.0);
    for args in [&["--diagnose"][..], &["--diagnose", "--json"]] {
        assert!(home.command(args).output().unwrap().status.success());
        assert!(home.names().is_empty(), "{args:?}");
    }
    let off = home.serve_with(&["--no-history"]);
    let data = off.data();
    assert_eq!((data.get("history"), data.get("history_reset"), home.file(HISTORY).exists()), (None, None, false));
    drop(off);
    home.put(HISTORY, b"{broken");
    let off = home.serve_with(&["--no-history"]);
    assert_eq!(off.data().get("history_reset"), None);
    assert_eq!(std::fs::read(home.file(HISTORY)).unwrap(), b"{broken");
    drop(off);
    std::fs::remove_file(home.file(HISTORY)).unwrap();
    let board = home.serve_with(&["--no-events"]);
    assert_eq!(board.data()["history"].as_array().unwrap().len(), 1);
    assert_eq!(home.entries(HISTORY).len(), 1);
}

/// HIST-041, HIST-060 the file has no route of its own.
#[test]
fn hist_041_no_route_serves_or_clears_it() {
    let home = Home::new();
    home.claude(ROW, 60.0);
    let board = home.serve();
    assert_eq!(board.data()["history"].as_array().unwrap().len(), 1);
    let before = std::fs::read(home.file(HISTORY)).unwrap();
    for target in [
        "/api/history",
        "/cargento-history.json",
        "/api/forget",
        "/.cargento/cargento-history.json",
        "/api/history/clear",
    ] {
        for method in ["GET", "POST"] {
            assert_eq!(board.ask(method, target, &[], b"").unwrap().status, 404, "{method} {target}");
        }
        assert_eq!(board.ask("DELETE", target, &[], b"").unwrap().status, 501);
    }
    assert_eq!(std::fs::read(home.file(HISTORY)).unwrap(), before);
}

/// HIST-050, CLI-012 what the two flags take, and that a refusal touches nothing.
#[test]
fn hist_050_flags() {
    let home = Home::new();
    for (flag, bad) in [
        ("--history-days", &["0", "-1", "nan", "inf", "-inf", "x", "", "0.0"][..]),
        ("--history-max-bytes", &["0", "-1", "1.5", "x", "", "1e6", "nan"]),
    ] {
        for value in bad {
            let output =
                home.command(&["--port", &free_port().to_string(), &format!("{flag}={value}")]).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{flag} {value}");
            assert!(said.contains(&format!("argument {flag}: ")), "{said}");
            assert!(home.names().is_empty());
        }
    }
}

/// HIST-020, HIST-021, HIST-022 age first, then the size of the bytes that are written, oldest first; the order in the file
/// is ascending, and what went does not come back.
#[test]
fn hist_020_both_bounds_hold() {
    let home = Home::new();
    let row = home.claude(ROW, 60.0);
    let record = |i: u32, age: f64| {
        json!({"harness": "pi", "sid": format!("r{i:03}"), "project": "acme/shop", "state": "idle", "last_activity": now() - age,
            "annotation_goal": "", "annotation_output": "", "annotation_revision": null})
    };
    let old = (0..5).map(|i| record(i, 20.0 * 86_400.0));
    let entries: Vec<Value> = (5..25).map(|i| record(i, 5000.0 - f64::from(i))).chain(old).collect();
    home.put(HISTORY, json!({"v": 2, "entries": entries}).to_string().as_bytes());
    let sids = || home.entries(HISTORY).iter().map(|r| r["sid"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let young: Vec<String> = (5..25).map(|i| format!("r{i:03}")).chain([row.clone()]).collect();
    let kept = |board: &crate::home::Board| board.data()["history"].as_array().unwrap().len();
    let board = home.serve();
    assert_eq!((kept(&board), sids()), (21, young.clone()));
    drop(board);
    let size = std::fs::metadata(home.file(HISTORY)).unwrap().len();
    for cap in [size + 2, size - 2, 700] {
        // A second session's record needs the room of the oldest.
        let sid = format!("{:08x}-1111-4222-8333-444455556666", 0x9000_0000 + cap);
        std::fs::remove_dir_all(home.path.join(".claude")).unwrap();
        home.claude(&sid, 50.0);
        home.put(HISTORY, json!({"v": 2, "entries": entries[..20]}).to_string().as_bytes());
        let board = home.serve_with(&["--history-max-bytes", &cap.to_string()]);
        let (count, written) = (kept(&board), std::fs::metadata(home.file(HISTORY)).unwrap().len());
        let reset = board.data().get("history_reset").is_some();
        assert!(written <= cap && sids().len() == count, "{written} of {cap}");
        assert_eq!(sids().last().unwrap(), &sid[..8], "the newest stays");
        if cap == 700 {
            assert!(reset && count == 1, "a file over the cap is not read; the run starts anew");
            continue;
        }
        assert!(!reset && written + 220 > cap, "no more went than had to: {written} of {cap}");
        assert_eq!(sids()[..count - 1], young[20 - (count - 1)..20], "the oldest went");
    }
    let board = home.serve();
    assert!(kept(&board) < 21, "raising a bound brings nothing back");
}
