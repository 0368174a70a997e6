//! How long typed words stay, and who they wait for.

use crate::home::{ANNOTATIONS, Home};
use crate::words::bytes;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// ANN-001, ANN-004 the file lies in the state directory, and nothing in it expires.
#[test]
fn ann_004_nothing_expires() {
    let home = Home::new();
    let old = json!({"harness": "pi", "sid": "old", "revisions": [{"n": 1, "at": 1.0, "goal": "Old", "lines": []}], "written": 1.0});
    home.put(ANNOTATIONS, json!({"v": 2, "entries": [old]}).to_string().as_bytes());
    let board = home.serve();
    assert_eq!(board.goal("new", "x"), "stored");
    drop(board);
    assert_eq!(home.serve().listed("old").unwrap()["goal"], "Old");
    assert_eq!(home.entries(ANNOTATIONS).len(), 2);
}

/// ANN-041, ANN-101, ANN-120, CLI-039 off: neither opened nor written, the routes refuse, rows say that nothing was typed.
#[test]
fn ann_120_no_annotations() {
    let home = Home::new();
    let row = home.claude("3f9c01ab-1111-4222-8333-444455556666", 60.0);
    let words =
        json!({"harness": "claude", "sid": row, "revisions": [{"n": 1, "at": 1.0, "goal": "Before", "lines": []}]});
    let text = json!({"v": 2, "entries": [words]}).to_string();
    home.put(ANNOTATIONS, text.as_bytes());
    let board = home.serve_with(&["--no-annotations"]);
    let data = board.data();
    let shown = &data["sessions"][0];
    assert_eq!(
        (&data["annotate"], &shown["annotation_goal"], &shown["annotation_revision"]),
        (&json!(false), &json!(""), &Value::Null)
    );
    assert!(!shown["annotation_goal_why"].as_str().unwrap().is_empty() && !data.to_string().contains("Before"));
    let body = json!({"harness": "pi", "sid": "s", "goal": "x"}).to_string();
    assert_eq!(board.ask("POST", "/api/annotate", &[], body.as_bytes()).unwrap().status, 503);
    assert_eq!(board.ask("POST", "/api/annotate", &[], b"{broken").unwrap().status, 503);
    for (method, target) in [("GET", "/api/annotations"), ("POST", "/api/reading"), ("POST", "/api/reading/cancel")] {
        assert_eq!(board.ask(method, target, &[], b"{}").unwrap().status, 503, "{target}");
    }
    assert_eq!(std::fs::read_to_string(home.file(ANNOTATIONS)).unwrap(), text);
    drop(board);
    std::fs::remove_file(home.file(ANNOTATIONS)).unwrap();
    let board = home.serve_with(&["--no-annotations"]);
    board.ask("POST", "/api/annotate", &[], body.as_bytes());
    board.data();
    assert!(!home.names().iter().any(|name| name.starts_with(ANNOTATIONS)), "{:?}", home.names());
}

/// ANN-005, ANN-007 a lock another process keeps: twenty saves wait for it, ten seconds at most, while every reader is
/// served at once, and none of them is told that it is on disk.
#[test]
fn ann_007_readers_wait_for_no_lock() {
    let home = Home::new();
    home.claude("3f9c01ab-1111-4222-8333-444455556666", 60.0);
    let board = home.serve();
    assert_eq!(board.goal("s", "before"), "stored");
    let before = bytes(&home);
    let held = std::fs::File::open(home.file(&format!("{ANNOTATIONS}.lock"))).unwrap();
    held.lock().unwrap();
    let started = Instant::now();
    std::thread::scope(|scope| {
        let saving: Vec<_> = (0..20)
            .map(|i| {
                scope.spawn({
                    let board = &board;
                    move || board.goal("s", &format!("during {i}"))
                })
            })
            .collect();
        while started.elapsed() < Duration::from_secs(3) {
            for target in ["/api/data", "/api/annotations", "/api/cleared"] {
                let asked = Instant::now();
                assert_eq!(board.ask("GET", target, &[], b"").unwrap().status, 200);
                assert!(asked.elapsed() < Duration::from_secs(3), "{target}: {:?}", asked.elapsed());
            }
            assert!(board.mark("m"), "another store's saves do not wait for this one");
        }
        for save in saving {
            assert_eq!(save.join().unwrap(), "unwritable");
        }
    });
    assert!((9.0..20.0).contains(&started.elapsed().as_secs_f64()), "{:?}", started.elapsed());
    assert_eq!((bytes(&home), board.listed("s").unwrap()["goal"].as_str()), (before, Some("before")));
    held.unlock().unwrap();
    assert_eq!(board.goal("s", "after"), "stored");
}

/// ANN-057, ANN-080, ANN-081, ANN-082, ANN-083, ANN-085 a prompt is adopted as the board shows it, by a press and never by
/// being shown; an edit makes it typed.
#[test]
fn ann_081_adoption() {
    let home = Home::new();
    let row = home.claude("3f9c01ab-1111-4222-8333-444455556666", 60.0);
    let board = home.serve();
    let shown = board.data()["sessions"][0].clone();
    assert!(!home.file(ANNOTATIONS).exists(), "showing a prompt saves nothing");
    let (prompt, at) = (shown["first_prompt"].clone(), shown["first_prompt_at"].clone());
    assert_eq!((&prompt, at.is_f64()), (&json!("Tidy the queue"), true), "{shown}");
    let adopt = |more: Value| {
        let mut body =
            json!({"harness": "claude", "sid": row, "adopt": "first-prompt", "prompt": prompt, "prompt_at": at});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        board.post("/api/annotate", &body)
    };
    for more in [
        json!({"prompt": "Tidy the queues"}),
        json!({"prompt_at": at.as_f64().unwrap() + 0.001}),
        json!({"prompt_at": null}),
        json!({"adopt": "latest"}),
        json!({"adopt": "chosen-prompt"}),
        json!({"expected_revision": 1}),
        json!({"harness": "codex"}),
        json!({"sid": "other"}),
    ] {
        assert_eq!(adopt(more.clone())["outcome"], "refused", "{more}");
    }
    let saved = adopt(json!({"goal": "not what is saved"}));
    let annotation = &saved["annotation"];
    assert_eq!((&saved["outcome"], &annotation["goal"]), (&json!("stored"), &prompt));
    assert_eq!((&annotation["goal_source"], &annotation["goal_source_at"]), (&json!("first-prompt"), &at));
    assert_eq!((&annotation["window_start"], &annotation["goal_saved_at"]), (&at, &Value::Null));
    assert!(board.data()["sessions"][0]["departure_why"].as_str().unwrap().contains("only a typed goal is checked"));
    assert_eq!(adopt(json!({}))["outcome"], "refused", "a goal is saved already");
    assert_eq!(adopt(json!({"expected_revision": 1}))["outcome"], "unchanged");
    let save = |body: Value| {
        let mut whole = json!({"harness": "claude", "sid": row});
        whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        board.post("/api/annotate", &whole)["annotation"].clone()
    };
    assert_eq!(
        save(json!({"lines": ["tests pass"]}))["goal_source"],
        "first-prompt",
        "lines leave the goal's source alone"
    );
    let typed = save(json!({"goal": prompt}));
    assert_eq!(
        (&typed["goal_source"], &typed["goal_source_at"], &typed["revision"]),
        (&json!("typed"), &Value::Null, &json!(3))
    );
    assert!(typed["goal_saved_at"].is_f64());
    assert_eq!(save(json!({"goal": ""}))["goal"], "");
    assert_eq!(adopt(json!({}))["annotation"]["goal"], prompt, "an empty saved goal may be replaced");
}

/// ANN-016, ANN-025, ANN-027, ANN-056, ANN-059, ANN-071, ANN-100 what a save of words carries across, and what it does not
/// touch.
#[test]
fn ann_059_what_a_save_carries() {
    let home = Home::new();
    let criterion = json!({"result": "not verifiable from available evidence", "cites": [], "detail": "", "clause": "Ship it", "why": "uncited"});
    let reading = json!({"revision_read": 1, "revision_read_at": 50.0, "window_start": 50.0, "read_at": 60.0, "stamp": "read by Codex", "cutoff": "9 of 11",
        "scope": "last-turn", "scope_text": "x", "ended_at_read": null, "evidence_through": 59.0, "criteria": {"goal": criterion, "line_1": criterion}});
    let line = json!({"text": "log the drops", "source": "entry", "source_id": "pi:carried:steer:77"});
    let words = |sid: &str, assessment: &Value| {
        json!({"harness": "pi", "sid": sid, "revisions": [{"n": 1, "at": 50.0, "goal": "Ship it", "lines": [line], "goal_saved_at": 40.0, "window_start": 45.0}],
            "settled": {"at": 70.0, "through": 65.0, "revision": 1}, "assessment": assessment, "readings": 3, "withheld": "", "jobs": ["9f0a1b2c"], "written": 70.0})
    };
    let refused = json!({"see": "elsewhere"});
    let entries = [words("a-long-session-id", &reading), words("another-session-id", &refused)];
    home.put(ANNOTATIONS, json!({"v": 2, "entries": entries}).to_string().as_bytes());
    let board = home.serve();
    for (sid, assessment) in [("a-long-session-id", &reading), ("another-session-id", &refused)] {
        let reply = board
            .annotate(sid, &json!({"lines": ["docs", "log the drops"], "expected_revision": 1, "origins": [null, 0]}));
        let shown = &reply["annotation"];
        assert_eq!((&shown["revision"], &shown["goal_saved_at"]), (&json!(2), &json!(40.0)), "the goal was left alone");
        assert_eq!(
            (&shown["line_1_source"], &shown["line_2_source"], &shown["line_2_source_id"]),
            (&json!("typed"), &json!("entry"), &json!("pi:carried:steer:77"))
        );
        assert_eq!(
            (&shown["settled_at"], &shown["settled_through"], &shown["settled_revision"]),
            (&json!(70.0), &json!(65.0), &json!(1))
        );
        assert_eq!((&shown["reading_count"], &shown["reading_withheld"]), (&json!(3), &json!("")));
        let is_refused = assessment == &refused;
        assert_eq!((&shown["reading_refused"], shown["assessment"].is_null()), (&json!(is_refused), is_refused));
        let stored = home.entries(ANNOTATIONS).into_iter().find(|entry| entry["sid"] == sid).unwrap();
        assert_eq!(
            (&stored["assessment"], &stored["jobs"], &stored["readings"]),
            (assessment, &json!(["9f0a1b2c"]), &json!(3))
        );
        let edited = board.annotate(sid, &json!({"goal": "Ship it all"}))["annotation"].clone();
        assert!(edited["goal_saved_at"].as_f64() > Some(50.0) && edited["line_2_source"] == "entry");
        let settled = |through: f64| board.annotate(sid, &json!({"settle_through": through}))["annotation"].clone();
        let (back, far) = (settled(-1.0), settled(9e12));
        assert_eq!(
            (&back["settled_through"], &back["settled_revision"], &back["revision"]),
            (&json!(65.0), &json!(3), &json!(3))
        );
        assert!((far["settled_through"].as_f64().unwrap() - crate::home::now()).abs() < 30.0, "clamped to now");
    }
}
