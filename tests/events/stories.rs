//! What hooks report and what a row then shows, told to the real binary.

use super::desk::{Desk, Home, id, now, record, sid, stamp, touch, until};
use serde_json::{Value, json};
use std::io::Write;

fn add(path: &std::path::Path, line: &str) {
    std::fs::OpenOptions::new().append(true).open(path).unwrap().write_all(line.as_bytes()).unwrap();
}

/// FIELD-031, FIELD-035, EVT-130, EVT-131, EVT-132, EVT-133: a wait stands whatever another tool of the session reports, it is this
/// session's and not its neighbour's in the same folder, and the listing says no word of either.
#[test]
fn field_031_035_a_wait_stands_beside_other_tools_and_only_on_its_own_session() {
    let home = Home::new("field-031");
    home.claude(1, "/w/acme/shop", 400.0);
    home.claude(2, "/w/acme/shop", 400.0);
    let desk = Desk::start(home);
    let (mine, other) = (id("claude", 1), sid("claude", 2));
    let asked = now();
    let more = json!({"cwd": "/w/acme/shop", "transcript_path": "/w/secret.jsonl", "timestamp": stamp(asked)});
    assert_eq!(desk.event("claude", "input_requested", &mine, &more).status, 200);
    for hint in ["store_changed", "tasks_changed", "subagent_started", "subagent_stopped"] {
        desk.accepted("claude", hint, &mine);
    }
    let row = desk.row_where("the wait", "claude", &sid("claude", 1), |row| row["state"] == "needs_input");
    assert_eq!((&row["acquisition"], &row["active"]), (&json!("event"), &json!(true)));
    assert!((row["blocked_since"].as_f64().unwrap() - asked).abs() < 0.01);
    let neighbour = desk.row("claude", &other).unwrap();
    assert_eq!((&neighbour["state"], &neighbour["acquisition"]), (&json!("idle"), &Value::Null));
    let listing = desk.overlays();
    let overlays = listing["overlays"].as_array().unwrap();
    assert!(overlays.iter().all(|o| o["sid"] == sid("claude", 1)) && overlays.len() == 2, "{listing}");
    let order: Vec<u64> = overlays.iter().map(|o| o["arrival_seq"].as_u64().unwrap()).collect();
    assert!(order.is_sorted());
    let text = listing.to_string();
    assert!(!text.contains("shop") && !text.contains("secret") && !text.contains(&desk.tokens["claude"]), "{text}");
    assert_eq!(listing["counters"]["event.input_requested"], 1);
}

/// FIELD-034, EVT-064: nothing says that the prompt was answered, and the session's own next activity does.
#[test]
fn field_034_the_sessions_own_next_activity_ends_the_wait() {
    let home = Home::new("field-034");
    let path = home.claude(1, "/w/acme/shop", 400.0);
    let desk = Desk::start(home);
    let (mine, key) = (id("claude", 1), sid("claude", 1));
    // The prompt came half a minute ago; its tool goes on now.
    let stamp = json!({"timestamp": stamp(now() - 30.0)});
    assert_eq!(desk.event("claude", "input_requested", &mine, &stamp).status, 200);
    desk.row_where("the wait", "claude", &key, |row| row["state"] == "needs_input");
    add(&path, &record("assistant", &mine, "/w/acme/shop", now(), "Ran it."));
    touch(&path, now());
    desk.accepted("claude", "store_changed", &mine);
    let row = desk.row_where("the end of the wait", "claude", &key, |row| row["state"] != "needs_input");
    assert_eq!((&row["blocked_since"], &row["acquisition"]), (&Value::Null, &Value::Null));
}

/// EVT-071, EVT-072, EVT-073, EVT-074, EVT-075, EVT-080, EVT-084, EVT-085: a stop is not an end, an end outlives the process, and a start lifts it.
#[test]
fn evt_071_085_ends_are_marked_stored_and_lifted() {
    let home = Home::new("ends");
    home.claude(1, "/w/acme/shop", 400.0);
    let mut desk = Desk::start(home);
    let (mine, key) = (id("claude", 1), sid("claude", 1));
    let file = desk.home.state("cargento-ends.json");
    desk.accepted("claude", "session_started", &mine);
    assert!(!file.exists(), "EVT-084: lifting nothing creates nothing");
    desk.accepted("claude", "turn_stopped", &mine);
    desk.accepted("claude", "session_ended", &mine);
    let row = desk.row_where("both marks", "claude", &key, |row| !row["ended_at"].is_null());
    assert!(row["finished_at"].as_f64().unwrap() <= row["ended_at"].as_f64().unwrap());
    assert_eq!((&row["state"], &row["acquisition"]), (&json!("idle"), &Value::Null), "no overlay is left");
    // `/clear` ends and starts under one id: work after it is work.
    desk.accepted("claude", "turn_started", &mine);
    let row = desk.row_where("work", "claude", &key, |row| row["state"] == "working");
    assert_eq!((&row["ended_at"], &row["finished_at"]), (&Value::Null, &Value::Null));
    let ended = desk.overlays()["counters"]["retired"].clone();
    assert_eq!(ended, 1);
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    desk.stop();
    let stored: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!((stored["v"].clone(), stored["entries"].as_array().unwrap().len()), (json!(1), 1));
    let home = Home(std::mem::take(&mut desk.home.0));
    drop(desk);
    let desk = Desk::start(home);
    let row = desk.row("claude", &key).unwrap();
    assert_eq!((&row["ended_at"], &row["finished_at"]), (&stored["entries"][0]["at"], &Value::Null));
    desk.accepted("claude", "session_started", &mine);
    desk.row_where("the lift", "claude", &key, |row| row["ended_at"].is_null());
    let stored: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(stored["entries"], json!([]));
}

/// EVT-083, EVT-089: an end that cannot be written is named once on standard error and held in memory; a store that was
/// discarded is named on the board.
#[test]
fn evt_083_089_an_unwritable_store_of_ends_loses_nothing_in_memory() {
    let home = Home::new("ends-broken");
    home.claude(1, "/w/acme/shop", 400.0);
    std::fs::create_dir_all(home.state("cargento-ends.json")).unwrap();
    let desk = Desk::start(home);
    desk.accepted("claude", "session_ended", &id("claude", 1));
    desk.row_where("the mark in memory", "claude", &sid("claude", 1), |row| !row["ended_at"].is_null());
    let log = std::fs::read_to_string(desk.home.0.join("log")).unwrap();
    assert_eq!(log.lines().filter(|line| line.contains("cargento-ends.json")).count(), 1, "{log}");
    assert_eq!(desk.get("/api/data").json()["ends_reset"], "unreadable");
    let names: Vec<_> = std::fs::read_dir(desk.home.state(""))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(!names.iter().any(|name| name.contains(".tmp")), "{names:?}");
}

/// EVT-108, EVT-041, EVT-133: an event is collected with no page open, and nothing is read when nothing happens.
#[test]
fn evt_108_an_event_is_collected_for_nobody_and_nothing_else_is() {
    let home = Home::new("evt-108");
    home.claude(1, "/w/acme/shop", 400.0);
    let desk = Desk::start(home);
    assert_eq!(desk.counters()["collected.event"], 0);
    desk.accepted("claude", "turn_started", &id("claude", 1));
    until("a collection", || (desk.counters()["collected.event"] >= 1).then_some(()));
    assert_eq!(desk.overlays()["pending_rows"], json!([]), "its row was found");
    let counters = desk.counters();
    assert_eq!((counters["collected.tick"], counters["skipped.probe"]), (0, 0));
}

/// EVT-140, EVT-141: an event against a waiting row wins and is one record.
#[test]
fn evt_140_a_dispute_is_listed_with_its_numbers_alone() {
    let home = Home::new("dispute");
    let path = home.claude(1, "/w/acme/shop", 400.0);
    let mine = id("claude", 1);
    let ask = record("assistant", &mine, "/w/acme/shop", now() - 60.0, "?").replace(
        r#"[{"type":"text","text":"?"}],"stop_reason":"end_turn""#,
        r#"[{"type":"tool_use","id":"toolu_1","name":"AskUserQuestion","input":{"questions":[{"question":"Which shelf?"}]}}],"stop_reason":"tool_use""#,
    );
    add(&path, &ask);
    touch(&path, now() - 60.0);
    let desk = Desk::start(home);
    let key = sid("claude", 1);
    desk.row_where("the question", "claude", &key, |row| row["state"] == "needs_input");
    assert_eq!(desk.overlays()["dispute_total"], 0);
    desk.accepted("claude", "turn_started", &mine);
    desk.row_where("the event's state", "claude", &key, |row| row["state"] == "working");
    let listing = desk.overlays();
    let record = &listing["disputes"][0];
    assert_eq!((&listing["dispute_total"], &record["overlay_state"]), (&json!(1), &json!("working")));
    assert_eq!((&record["collector_state"], &record["activity_grace_sec"]), (&json!("needs_input"), &json!(10.0)));
    assert!(!listing.to_string().contains("shelf"));
}

/// EVT-010, EVT-011, EVT-013, EVT-014, EVT-015: tokens are 64 hexadecimal digits in the owner's file alone; another run's are refused.
#[test]
fn evt_010_015_tokens_lie_in_the_state_file_and_nowhere_else() {
    let home = Home::new("tokens");
    home.claude(1, "/w/acme/shop", 400.0);
    let mut desk = Desk::start(home);
    let tokens = desk.tokens.clone();
    assert_eq!(tokens.keys().map(String::as_str).collect::<Vec<_>>(), {
        let mut keys = super::desk::SOURCES.to_vec();
        keys.sort_unstable();
        keys
    });
    let hex = |text: &str| text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    assert!(tokens.values().all(|token| hex(token)));
    let state = desk.home.state(&format!("cargento-{}.json", desk.port));
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&state).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    desk.accepted("claude", "turn_started", &id("claude", 1));
    let mut said = String::new();
    for path in ["/", "/api/data", "/api/health", "/api/health?counters=1", "/api/overlays", "/assets/app.js"] {
        said += &desk.get(path).body;
    }
    said += &std::fs::read_to_string(desk.home.0.join("log")).unwrap();
    said += &String::from_utf8(desk.home.client(&["--diagnose", "--json"], &[], b"").stdout).unwrap();
    assert!(tokens.values().all(|token| !said.contains(token.as_str())));
    desk.stop();
    let home = Home(std::mem::take(&mut desk.home.0));
    drop(desk);
    let mut desk = Desk::start(home);
    let fresh = std::mem::replace(&mut desk.tokens, tokens);
    assert_eq!(desk.event("claude", "turn_started", &id("claude", 1), &Value::Null).status, 403, "an earlier run's");
    desk.tokens = fresh;
    desk.accepted("claude", "turn_started", &id("claude", 1));
}

/// EVT-012, EVT-087, EVT-150, EVT-152, EVT-154: with the lane off there is no door, no token and no store, and the rest
/// works.
#[test]
fn evt_150_no_events_is_no_door_no_token_and_no_store() {
    let home = Home::new("no-events");
    home.claude(1, "/w/acme/shop", 400.0);
    std::fs::create_dir_all(home.state("")).unwrap();
    let ends =
        format!(r#"{{"v":1,"entries":[{{"harness":"claude","sid":"{}","at":{}}}]}}"#, sid("claude", 1), now() - 10.0);
    std::fs::write(home.state("cargento-ends.json"), &ends).unwrap();
    let mut desk = Desk::with(home, &["--no-events"], &[]);
    assert!(desk.tokens.is_empty());
    desk.tokens.insert("claude".into(), "0".repeat(64));
    assert_eq!(desk.event("claude", "turn_started", &id("claude", 1), &Value::Null).status, 404);
    assert_eq!(desk.get("/api/overlays").status, 503);
    let data = desk.get("/api/data").json();
    assert_eq!((&data["ends_observable"], &data["sessions"][0]["ended_at"]), (&json!(false), &Value::Null));
    assert_eq!(std::fs::read_to_string(desk.home.state("cargento-ends.json")).unwrap(), ends);
    let body = json!({"session_id": id("claude", 1), "notification_type": "permission_prompt", "message": "May I?"});
    assert_eq!(desk.post("/api/notify", "", body.to_string().as_bytes()).body, r#"{"ok":true}"#);
    desk.row_where("the hook's wait", "claude", &sid("claude", 1), |row| row["state"] == "needs_input");
}

/// NOTE-083, NOTE-023, NOTE-071, NOTE-074: without a service each raise is on record as having had none, and the board
/// publishes three figures that say so.
#[test]
fn note_083_the_boards_three_figures() {
    let home = Home::new("note-083");
    home.claude(1, "/w/acme/shop", 400.0);
    let desk = Desk::start(home);
    let figures = |raises: u64| {
        let departure = json!({"raises": 0, "attempted": 0, "handed_over": 0});
        json!({"raises": raises, "attempted": 0, "handed_over": 0, "departure": departure})
    };
    assert_eq!(desk.get("/api/data").json()["deliveries"], figures(0));
    let body =
        json!({"session_id": id("claude", 1), "notification_type": "idle_prompt", "message": "Waiting, secretly"});
    assert_eq!(desk.post("/api/notify", "", body.to_string().as_bytes()).status, 200);
    until("the figures", || (desk.get("/api/data").json()["deliveries"] == figures(1)).then_some(()));
    let row = desk.row("claude", &sid("claude", 1)).unwrap();
    assert_eq!((&row["delivery_outcome"], &row["delivery_raises"]), (&json!("no-lane"), &json!(1)));
    assert!(!std::fs::read_to_string(desk.home.state("cargento-deliveries.json")).unwrap().contains("secretly"));
}

/// EVT-110, EVT-111, SSE: an accepted event is a revision on an open stream; revisions are this process's and only grow.
#[test]
fn evt_110_111_an_event_reaches_an_open_stream_as_the_next_revision() {
    let home = Home::new("stream");
    home.claude(1, "/w/acme/shop", 400.0);
    let desk = Desk::start(home);
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", desk.port)).unwrap();
    stream.write_all(b"GET /api/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(stream));
    let mut revision = |after: Option<(String, u64)>| loop {
        let line = lines.next().unwrap().unwrap();
        let Some(text) = line.strip_prefix("data:") else { continue };
        let text =
            text.trim().trim_matches('"').trim_start_matches(r#"{"revision":""#).trim_end_matches(r#""}"#).to_owned();
        let (start, n) = text.split_once('.').unwrap_or_else(|| panic!("{line}"));
        let found = (start.to_owned(), n.parse::<u64>().unwrap());
        match &after {
            Some((start, n)) => {
                assert!(found.0 == *start && found.1 >= *n, "{found:?} after {after:?}");
                if found.1 > *n {
                    return found;
                }
            }
            None => return found,
        }
    };
    desk.get("/api/data");
    let mut last = revision(None);
    for event in ["turn_started", "input_requested", "turn_stopped"] {
        let begun = std::time::Instant::now();
        desk.accepted("claude", event, &id("claude", 1));
        last = revision(Some(last));
        assert!(begun.elapsed() < std::time::Duration::from_secs(3), "{event}: {:?}", begun.elapsed());
    }
}

/// EVT-003, EVT-033, EVT-072, EVT-073: the path names the source, the stamp is the event's when it is plausible, and an
/// end alone claims no finish.
#[test]
fn evt_033_072_stamps_and_ends() {
    let home = Home::new("stamps");
    for n in 1..5 {
        home.claude(n, "/w/acme/shop", 4000.0);
    }
    let desk = Desk::start(home);
    let old = now() - 3000.0;
    for (n, when, want) in [
        (1, stamp(old), Some(old)),
        (2, stamp(old).trim_end_matches('Z').to_owned(), Some(old)),
        (3, stamp(now() + 121.0 + 5.0), None),
        (4, "yesterday".to_owned(), None),
    ] {
        let more = json!({"timestamp": when, "harness": "codex"});
        assert_eq!(desk.event("claude", "session_ended", &id("claude", n), &more).status, 200);
        let row = desk.row_where("the end", "claude", &sid("claude", n), |row| !row["ended_at"].is_null());
        let at = row["ended_at"].as_f64().unwrap();
        assert!((at - want.unwrap_or_else(now)).abs() < if want.is_some() { 0.01 } else { 20.0 }, "{when}: {at}");
        assert_eq!(row["finished_at"], Value::Null);
    }
}

/// EVT-081, EVT-082, EVT-086: the store of ends is read record by record; what is no store is no ends and stays as it is.
#[test]
fn evt_081_082_086_a_store_of_ends_is_read_with_care() {
    let key = sid("claude", 1);
    let one = |at: Value| json!({"harness": "claude", "sid": key, "at": at});
    let recent = (now() - 395.0).floor();
    let cases: Vec<(String, Option<f64>, bool)> = vec![
        (json!({"v": 1, "entries": [one(json!(recent - 9.0)), one(json!(recent)), one(json!(recent - 50.0))]}).to_string(), Some(recent), false),
        (json!({"v": 1, "entries": [7, {}, one(json!(true)), one(json!("x")), one(json!(0)), one(json!(-5)), one(json!(null)), one(json!(recent))]}).to_string(), Some(recent), false),
        // Used again more than ten seconds after the end, while no board ran.
        (json!({"v": 1, "entries": [one(json!(recent - 100.0))]}).to_string(), None, false),
        ("{".into(), None, true),
        ("[]".into(), None, true),
        (String::new(), None, true),
        (json!({"v": 1, "entries": [one(json!(recent))], "pad": "x".repeat(65_536)}).to_string(), None, true),
    ];
    for (content, want, reset) in cases {
        let home = Home::new("ends-read");
        home.claude(1, "/w/acme/shop", 400.0);
        std::fs::create_dir_all(home.state("")).unwrap();
        std::fs::write(home.state("cargento-ends.json"), &content).unwrap();
        let desk = Desk::start(home);
        let data = desk.get("/api/data").json();
        assert_eq!(data["sessions"][0]["ended_at"].as_f64(), want, "{content:.90}");
        assert_eq!(data.get("ends_reset").is_some(), reset, "{content:.90}");
        assert_eq!(std::fs::read_to_string(desk.home.state("cargento-ends.json")).unwrap(), content);
    }
}

/// EVT-151, EVT-153: with the lane off an open page is kept current all the same, and nothing is collected for nobody.
#[test]
fn evt_151_without_events_an_open_page_stays_current() {
    let home = Home::new("evt-151");
    let path = home.claude(1, "/w/acme/shop", 400.0);
    let desk = Desk::with(home, &["--no-events"], &[]);
    let collected = |desk: &Desk| desk.counters()["collected.event"] + desk.counters()["collected.tick"];
    add(&path, &record("user", &id("claude", 1), "/w/acme/shop", now(), "For nobody"));
    assert_eq!(collected(&desk), 0);
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", desk.port)).unwrap();
    stream.write_all(b"GET /api/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    desk.get("/api/data");
    let before = collected(&desk);
    add(&path, &record("user", &id("claude", 1), "/w/acme/shop", now(), "For the page"));
    let begun = std::time::Instant::now();
    until("a collection for the page", || (collected(&desk) > before).then_some(()));
    assert!(begun.elapsed() < std::time::Duration::from_secs(6), "{:?}", begun.elapsed());
}
