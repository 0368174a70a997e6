//! Two boards on one home, another build's records, and `--forget` beside a running board.

use crate::home::{ANNOTATIONS, DISMISSALS, ENDS, Ends, HISTORY, Home, free_port, now, watch};
use crate::wire::eventually;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

fn sids(home: &Home, name: &str) -> Vec<String> {
    let mut sids: Vec<_> = home.entries(name).iter().map(|e| e["sid"].as_str().unwrap().to_owned()).collect();
    sids.sort();
    sids
}

/// ANN-005, ANN-008, DIS-008, STATE-012 four clients on two boards: every acknowledged save of words, marks and ends is in
/// the files, and both boards show all of it.
#[test]
fn ann_005_dis_008_two_boards_lose_nothing_of_each_other() {
    let home = Home::new();
    let boards = [home.serve(), home.serve()];
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = Ends(&done);
        let watching = scope.spawn(|| watch(&home.state, &done));
        let clients: Vec<_> = (0..4)
            .map(|client| {
                let (board, home) = (&boards[client % 2], &home);
                scope.spawn(move || {
                    for i in 0..40 {
                        let sid = format!("c{client}-{i}");
                        assert_eq!(board.goal(&sid, "own"), "stored");
                        assert_eq!(board.goal("shared", &sid), "stored");
                        assert!(board.mark(&sid));
                        if i < 9 {
                            let ended = format!("{client}{i}aaaaaa-1111-4222-8333-444455556666");
                            assert_eq!(board.end(home, &ended).unwrap().status, 200);
                        }
                    }
                })
            })
            .collect();
        for client in clients {
            client.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        watching.join().unwrap();
    });
    let mut want: Vec<_> = (0..4).flat_map(|client| (0..40).map(move |i| format!("c{client}-{i}"))).collect();
    want.sort();
    assert_eq!(sids(&home, DISMISSALS), want);
    assert_eq!(sids(&home, ENDS).len(), 36);
    want.push("shared".into());
    want.sort();
    assert_eq!(sids(&home, ANNOTATIONS), want);
    for board in &boards {
        assert_eq!(board.listed("shared").unwrap()["revision"], 160);
        assert_eq!(board.get("/api/annotations")["annotations"].as_array().unwrap().len(), 161);
        assert_eq!(board.get("/api/cleared")["cleared"].as_array().unwrap().len(), 160);
    }
    home.no_leftovers();
}

/// ANN-003, ANN-011, ANN-022 what another build wrote is kept: a record this one refuses word for word, members it does not
/// know beside those it does, also when the very session is saved again; a discard leaves none of it.
#[test]
fn ann_022_another_builds_members_and_records_stay() {
    let home = Home::new();
    let foreign = json!({"harness": "pi", "sid": "newer", "later": {"a": [1, 2.50]}, "revisions": [
        {"n": 1, "at": 1.0, "goal": "Older", "lines": []}, {"n": 2, "at": 2.0, "goal": "Newer", "lines": [], "goal_source": "voice", "goal_source_at": 1.5}]});
    let known = json!({"harness": "pi", "sid": "known", "colour": "MARKER", "big": 123_456_789_012_345_678_u64, "written": 3.0, "revisions": [
        {"n": 7, "at": 3.0, "goal": "Chosen", "lines": [], "goal_source": "chosen-prompt", "goal_source_at": 2.0, "weight": {"x": null}}]});
    home.put(ANNOTATIONS, json!({"v": 3, "entries": [foreign, known], "index": {"k": 1}}).to_string().as_bytes());
    let board = home.serve();
    assert_eq!(board.goal("newer", "x"), "unreadable");
    assert_eq!(board.annotate("known", &json!({"lines": ["a line"]}))["annotation"]["goal_source"], "chosen-prompt");
    let file = home.json(ANNOTATIONS);
    assert_eq!((&file["entries"][0], &file["index"]), (&foreign, &json!({"k": 1})));
    let entry = &file["entries"][1];
    assert_eq!((&entry["colour"], &entry["big"]), (&known["colour"], &known["big"]));
    assert_eq!(entry["revisions"][0], known["revisions"][0], "a revision is immutable");
    assert_eq!((&entry["revisions"][1]["n"], entry["revisions"][1].get("weight")), (&json!(8), None));
    assert_eq!(board.annotate("known", &json!({"clear": true}))["outcome"], "stored");
    let kept = &home.entries(ANNOTATIONS)[1];
    assert_eq!((kept["discarded_revision"].as_u64(), kept.to_string().contains("MARKER")), (Some(8), false));
}

fn record(sid: &str, age: f64) -> Value {
    json!({"harness": "pi", "sid": sid, "project": "acme/shop", "state": "idle", "last_activity": now() - age,
        "annotation_goal": "", "annotation_output": "", "annotation_revision": null})
}

/// HIST-012, HIST-052, HIST-053, ANN-121, ANN-122, LIFE-060, LIFE-062 `--forget` aimed at another port while a board writes history with every
/// save: what was deleted never comes back, discard records go, and no acknowledged save is lost.
#[test]
fn hist_012_a_forget_beside_a_busy_board_sticks() {
    let home = Home::new();
    let row = home.claude("3f9c01ab-1111-4222-8333-444455556666", 60.0);
    home.put(HISTORY, json!({"v": 2, "entries": [record("gone-first", 7200.0)]}).to_string().as_bytes());
    let board = home.serve();
    assert_eq!(board.data()["history"].as_array().unwrap().len(), 2);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = Ends(&done);
        let saving = scope.spawn(|| {
            let mut i = 0;
            while !done.load(Ordering::Relaxed) {
                i += 1;
                let goal = format!("goal {i}");
                let body = json!({"harness": "claude", "sid": row, "goal": goal});
                assert_eq!(board.post("/api/annotate", &body)["outcome"], "stored");
                // Whoever reads the board sees the save, and history has recorded it by then.
                let seen = board.data()["history"].as_array().unwrap().last().unwrap()["annotation_goal"].clone();
                assert_eq!(seen, goal);
                assert!(board.mark(&format!("m{i}")));
            }
            i
        });
        for round in 0..25 {
            // Another board's record comes in, is known to this one, and is forgotten.
            let sid = format!("gone-{round}");
            let known = || board.data()["history"].as_array().unwrap().iter().any(|r| r["sid"] == sid);
            while !known() {
                let mut entries = if home.file(HISTORY).exists() { home.entries(HISTORY) } else { Vec::new() };
                entries.insert(0, record(&sid, 7200.0));
                let beside = home.file("beside");
                std::fs::write(&beside, json!({"v": 2, "entries": entries}).to_string()).unwrap();
                std::fs::rename(&beside, home.file(HISTORY)).unwrap();
            }
            assert_eq!(board.goal(&format!("d{round}"), "to go"), "stored");
            assert_eq!(board.annotate(&format!("d{round}"), &json!({"clear": true}))["outcome"], "stored");
            let (code, said) = home.forget(free_port());
            assert_eq!(code, Some(0), "{said}");
            assert!(said.contains("1 discard record was removed"), "{said}");
            let back = || std::fs::read_to_string(home.file(HISTORY)).is_ok_and(|text| text.contains(&sid));
            assert!(!back(), "round {round}: it came back");
            // What was collected before may still be published once.
            eventually("the board to drop it", || !known());
            for _ in 0..3 {
                assert!(!known() && !back(), "round {round}: it came back");
            }
        }
        done.store(true, Ordering::Relaxed);
        let saves: u64 = saving.join().unwrap();
        let entries = home.entries(ANNOTATIONS);
        assert_eq!(entries.len(), 1, "typed words stay, discard records are gone: {entries:?}");
        assert_eq!(entries[0]["revisions"].as_array().unwrap().last().unwrap()["n"], saves);
        assert_eq!(home.entries(DISMISSALS).len() as u64, saves.min(256), "dismissals are not reached");
    });
    // Aimed at the board itself it is refused whole.
    assert_eq!(board.annotate("d", &json!({"goal": "to go"}))["outcome"], "stored");
    assert_eq!(board.annotate("d", &json!({"clear": true}))["outcome"], "stored");
    let files = || [ANNOTATIONS, HISTORY, DISMISSALS].map(|name| std::fs::read(home.file(name)).ok());
    let before = files();
    let (code, said) = home.forget(board.port);
    assert_eq!((code, files()), (Some(1), before), "{said}");
    for word in ["history", "session-end", "annotation", "--stop"] {
        assert!(said.contains(word), "{said}");
    }
    home.no_leftovers();
}

/// LIFE-061, LIFE-062, HIST-052, EVT-087, DIS-026, NOTE-075, UNA-035 what `--forget` takes, and what it leaves to the byte.
#[test]
fn life_061_forget_takes_two_stores_and_the_discard_records() {
    let home = Home::new();
    let discarded = json!({"harness": "pi", "sid": "d", "revisions": [], "discarded": 5.0, "discarded_revision": 2});
    let raw = json!({"harness": "pi", "sid": "raw", "revisions": [{"n": 1, "at": 1.0, "lines": 7}]});
    let typed = json!({"harness": "pi", "sid": "t", "revisions": [{"n": 1, "at": 1.0, "goal": "g", "lines": []}], "written": 1.0});
    home.put(ANNOTATIONS, json!({"v": 2, "entries": [discarded, raw, typed]}).to_string().as_bytes());
    home.put(HISTORY, json!({"v": 2, "entries": [record("h", 10.0)]}).to_string().as_bytes());
    home.put(ENDS, json!({"v": 1, "entries": [{"harness": "pi", "sid": "e", "at": 5.0}]}).to_string().as_bytes());
    let left = [
        DISMISSALS,
        "cargento-deliveries.json",
        "cargento-departures.json",
        "cargento-tripwires.json",
        "semantic-work-history.json",
    ];
    for name in left {
        home.put(name, name.as_bytes());
    }
    let (code, said) = home.forget(free_port());
    let lines: Vec<_> = said.lines().collect();
    assert_eq!((code, lines.len()), (Some(0), 5), "{said}");
    for (line, word) in
        lines.iter().zip(["history", "session-end", "1 discard record", "copied-correction", "permission"])
    {
        assert!(line.starts_with("Cargento: ") && line.contains(word), "{said}");
    }
    assert_eq!(home.entries(ANNOTATIONS), [raw, typed]);
    assert!(left.iter().all(|name| std::fs::read(home.file(name)).unwrap() == name.as_bytes()));
    let mut names: Vec<_> = left.iter().map(|name| (*name).to_owned()).collect();
    names.extend([ANNOTATIONS.to_owned(), format!("{ANNOTATIONS}.lock")]);
    names.sort();
    assert_eq!(home.names(), names);
    // Once more: there is nothing left, and that is no failure.
    let (code, said) = home.forget(free_port());
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("no local history") && said.contains("no session-end") && said.contains("no discard"),
        "{said}"
    );
}
