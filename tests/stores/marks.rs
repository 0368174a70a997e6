//! Marks of handled sessions over HTTP (file 52, section 1).

use crate::home::{DISMISSALS, HISTORY, Home, now};
use serde_json::{Value, json};

const ROW: &str = "3f9c01ab-1111-4222-8333-444455556666";
const OTHER: &str = "77aa01ab-1111-4222-8333-444455556666";

fn shown(data: &Value) -> Vec<&str> {
    data["sessions"].as_array().unwrap().iter().map(|row| row["sid"].as_str().unwrap()).collect()
}

/// DIS-001, DIS-002, DIS-004, DIS-010, DIS-011, DIS-020, DIS-021, DIS-022, DIS-023, DIS-024 one mark: what it hides, what it
/// stores, what the replies say. No token, and no member of the body sets a time.
#[test]
fn dis_010_a_mark_and_its_restore() {
    let home = Home::new();
    let (row, other) = (home.claude(ROW, 60.0), home.claude(OTHER, 70.0));
    let board = home.serve();
    let before = board.data();
    assert_eq!(
        (shown(&before), &before["cleared"], &before["dismiss"]),
        (vec![&*row, &*other], &json!(0), &json!(true))
    );
    let mark = |sid: &str, more: Value| {
        let mut body = json!({"harness": "claude", "sid": sid});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        board.post("/api/dismiss", &body)
    };
    let reply = mark(&row, json!({"at": 9e12, "seen_activity": 9e12, "v": 7, "title": "MARKER"}));
    assert_eq!(reply, json!({"ok": true, "persisted": true, "cleared": 1}));
    let data = board.data();
    assert_eq!((shown(&data), &data["cleared"]), (vec![&*other], &json!(1)));
    let active = |data: &Value| data["summary"]["active_sessions"].as_i64().unwrap();
    assert_eq!(active(&data), active(&before) - 1);
    let stored = home.json(DISMISSALS);
    let entry = stored["entries"][0].as_object().unwrap();
    let mut members: Vec<_> = entry.keys().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!((&stored["v"], members), (&json!(1), vec!["at", "harness", "seen_activity", "sid"]));
    for time in ["at", "seen_activity"] {
        assert!((entry[time].as_f64().unwrap() - now()).abs() < 30.0 && entry[time].is_f64(), "{entry:?}");
    }
    assert_eq!(mark(&row, json!({}))["cleared"], 1, "one entry a session");
    assert_eq!(mark("gone-long-ago", json!({}))["cleared"], 2, "marks held, not rows hidden");
    assert_eq!(board.data()["cleared"], 1);
    let listed = board.get("/api/cleared");
    let list = listed["cleared"].as_array().unwrap();
    assert_eq!((list.len(), &list[0]["sid"], &list[1]["sid"]), (2, &json!("gone-long-ago"), &json!(row)));
    assert!(list.iter().all(|mark| mark.as_object().unwrap().len() == 3 && mark.get("seen_activity").is_none()));

    for odd in [json!(0), json!("false"), Value::Null, json!({}), json!(true)] {
        assert_eq!(mark(&row, json!({"clear": odd}))["cleared"], 2, "only the boolean false restores");
    }
    assert_eq!(mark(&row, json!({"clear": false})), json!({"ok": true, "persisted": true, "cleared": 1}));
    assert_eq!(mark(&row, json!({"clear": false})), json!({"ok": true, "persisted": true, "cleared": 1}));
    assert_eq!(shown(&board.data()), [&*row, &*other]);
    let bytes = std::fs::read(home.file(DISMISSALS)).unwrap();
    for nothing in [
        "",
        "{",
        "[]",
        "7",
        "null",
        "{}",
        r#"{"harness":"claude"}"#,
        r#"{"harness":"","sid":"x"}"#,
        r#"{"harness":"claude","sid":7}"#,
        r#"{"harness":"claude","sid":" \u202e "}"#,
    ] {
        let answer = board.ask("POST", "/api/dismiss", &[], nothing.as_bytes()).unwrap();
        assert_eq!(
            (answer.status, answer.json()),
            (200, json!({"ok": true, "persisted": false, "cleared": 1})),
            "{nothing}"
        );
    }
    assert_eq!(std::fs::read(home.file(DISMISSALS)).unwrap(), bytes);
    let body = |len: usize| format!(r#"{{"harness":"claude","sid":"x","pad":"{}"}}"#, "p".repeat(len - 40 + 1));
    for (len, status) in [(1024, 200), (1025, 413)] {
        let body = body(len);
        assert_eq!(body.len(), len);
        assert_eq!(board.ask("POST", "/api/dismiss", &[], body.as_bytes()).unwrap().status, status);
    }
}

/// DIS-003, HIST-013 a mark lapses with the next write in the tree and stays in the file; a held row is not recorded in
/// history.
#[test]
fn dis_003_a_mark_lapses_with_the_next_write() {
    let home = Home::new();
    let row = home.claude(ROW, 60.0);
    let mark =
        |seen: f64| json!({"v": 9, "entries": [{"harness": "claude", "sid": row, "at": seen, "seen_activity": seen}]});
    home.put(DISMISSALS, mark(now() - 30.0).to_string().as_bytes());
    let board = home.serve();
    let data = board.data();
    assert_eq!((shown(&data), &data["cleared"], &data["history"]), (vec![], &json!(1), &json!([])));
    assert!(!home.file(HISTORY).exists());
    drop(board);
    home.put(DISMISSALS, mark(now() - 120.0).to_string().as_bytes());
    let board = home.serve();
    let data = board.data();
    assert_eq!((shown(&data), &data["cleared"]), (vec![&*row], &json!(0)));
    assert_eq!(board.get("/api/cleared")["cleared"][0]["sid"], *row, "lapsed ones are listed");
    assert_eq!(data["history"].as_array().unwrap().len(), 1);
}

/// DIS-025, DIS-011, CLI-039 off: the file is neither read nor written, nothing is subtracted, the routes refuse.
#[test]
fn dis_025_no_dismiss() {
    let home = Home::new();
    let row = home.claude(ROW, 60.0);
    let held =
        json!({"v": 1, "entries": [{"harness": "claude", "sid": row, "at": 9e9, "seen_activity": 9e9}]}).to_string();
    home.put(DISMISSALS, held.as_bytes());
    let board = home.serve_with(&["--no-dismiss"]);
    let data = board.data();
    assert_eq!((shown(&data), &data["cleared"], data.get("dismiss")), (vec![&*row], &json!(0), None));
    let body = json!({"harness": "claude", "sid": "x"}).to_string();
    assert_eq!(board.ask("POST", "/api/dismiss", &[], body.as_bytes()).unwrap().status, 503);
    assert_eq!(board.ask("GET", "/api/cleared", &[], b"").unwrap().status, 503);
    assert_eq!(std::fs::read_to_string(home.file(DISMISSALS)).unwrap(), held);
}

/// DIS-005, DIS-021 over a store that cannot be read neither a mark nor a restore is said to be on disk.
#[test]
fn dis_005_a_restore_over_a_broken_store_is_not_acknowledged() {
    let home = Home::new();
    home.put(DISMISSALS, b"{broken");
    let board = home.serve();
    let restore = json!({"harness": "claude", "sid": "x", "clear": false});
    assert_eq!(board.post("/api/dismiss", &restore)["persisted"], false);
    assert!(!board.mark("x"));
    assert_eq!(std::fs::read(home.file(DISMISSALS)).unwrap(), b"{broken");
}

/// DIS-008, TRUST-051 another process that keeps the directory's lock costs a mark its place on disk, truthfully, and holds
/// up nobody who reads; with the lock free again the held mark is written with the next.
#[test]
fn dis_008_a_busy_directory_is_told_and_holds_up_no_reader() {
    let home = Home::new();
    home.claude(ROW, 60.0);
    let board = home.serve();
    assert!(board.mark("before"));
    let held = std::fs::File::open(&home.state).unwrap();
    held.lock().unwrap();
    std::thread::scope(|scope| {
        let marking: Vec<_> = (0..12)
            .map(|i| {
                scope.spawn({
                    let board = &board;
                    move || board.mark(&format!("m{i}"))
                })
            })
            .collect();
        std::thread::sleep(std::time::Duration::from_millis(200));
        for target in ["/api/data", "/api/cleared", "/api/annotations", "/"] {
            let started = std::time::Instant::now();
            assert_eq!(board.ask("GET", target, &[], b"").unwrap().status, 200);
            assert!(started.elapsed() < std::time::Duration::from_secs(3), "{target}: {:?}", started.elapsed());
        }
        assert!(marking.into_iter().all(|mark| !mark.join().unwrap()));
    });
    assert_eq!(home.entries(DISMISSALS).len(), 1);
    assert_eq!(board.get("/api/cleared")["cleared"].as_array().unwrap().len(), 13);
    held.unlock().unwrap();
    assert!(board.mark("after"));
    assert_eq!(home.entries(DISMISSALS).len(), 14);
}
