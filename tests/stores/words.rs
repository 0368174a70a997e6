//! Typed words over HTTP (file 60).

use crate::home::{ANNOTATIONS, Board, DEPARTURES, HISTORY, Home};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn status(board: &Board, body: &str) -> u16 {
    board.ask("POST", "/api/annotate", &[], body.as_bytes()).unwrap().status
}

fn outcome(board: &Board, sid: &str, more: Value) -> String {
    board.annotate(sid, &more)["outcome"].as_str().unwrap().to_owned()
}

pub fn bytes(home: &Home) -> Vec<u8> {
    std::fs::read(home.file(ANNOTATIONS)).unwrap()
}

/// ANN-040, ANN-042, ANN-043 wrong types are 400, a request that names nothing the store takes is refused, and neither
/// changes a byte.
#[test]
fn ann_042_types_of_the_request() {
    let home = Home::new();
    let board = home.serve();
    assert_eq!(outcome(&board, "s", json!({"goal": "Keep", "lines": ["a"]})), "stored");
    let before = bytes(&home);
    for body in [
        "",
        "{",
        "[]",
        "7",
        "null",
        "{}",
        r#"{"harness":"pi"}"#,
        r#"{"sid":"s","goal":"x"}"#,
        r#"{"harness":"","sid":"s"}"#,
        r#"{"harness":"pi","sid":["s"]}"#,
        r#"{"harness":null,"sid":"s"}"#,
    ] {
        assert_eq!(status(&board, body), 400, "{body}");
    }
    for more in [
        json!({"goal": 7}),
        json!({"goal": false}),
        json!({"lines": "a"}),
        json!({"lines": {}}),
        json!({"lines": [null]}),
        json!({"lines": [{"text": "a", "source": "entry", "source_id": "x"}]}),
        json!({"goal": "x", "expected_revision": "1"}),
        json!({"goal": "x", "expected_revision": true}),
        json!({"goal": "x", "expected_revision": 1.5}),
        json!({"goal": "x", "expected_revision": null}),
        json!({"lines": ["a"], "origins": "0"}),
        json!({"lines": ["a"], "origins": [0, 0]}),
        json!({"lines": ["a"], "origins": [-1]}),
        json!({"lines": ["a"], "origins": [0.5]}),
        json!({"goal": "x", "origins": [0]}),
        json!({"settle_through": "1"}),
        json!({"settle_through": true}),
        json!({"settle_through": null}),
        json!({"clear": 1}),
        json!({"clear": null}),
        json!({"clear": "true", "goal": "x"}),
    ] {
        let mut body = json!({"harness": "pi", "sid": "s"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(status(&board, &body.to_string()), 400, "{body}");
    }
    for more in [
        json!({}),
        json!({"goal": null}),
        json!({"lines": null, "clear": false}),
        json!({"colour": 1}),
        json!({"adopt": "latest-prompt", "prompt": "x", "prompt_at": 5.0}),
    ] {
        assert_eq!(outcome(&board, "s", more.clone()), "refused", "{more}");
    }
    assert_eq!(bytes(&home), before);
    let body = |len: usize| format!(r#"{{"harness":"pi","sid":"big","goal":"x","pad":"{}"}}"#, "p".repeat(len - 48));
    for (len, want) in [(12_288, 200), (12_289, 413)] {
        assert_eq!((body(len).len(), status(&board, &body(len))), (len, want));
    }
}

/// ANN-045, ANN-046, ANN-050, ANN-051, ANN-052, ANN-053, ANN-054, ANN-055, ANN-058, ANN-061 what each request comes to, and
/// that the four outcomes that write nothing write nothing.
#[test]
fn ann_046_outcomes() {
    let home = Home::new();
    let board = home.serve();
    let long = "x".repeat(241);
    let seven: Vec<String> = (0..7).map(|i| i.to_string()).collect();
    let cases = [
        (json!({"clear": true}), "stored", None),
        (json!({"settle_through": 5.0}), "refused", None),
        (json!({"output": " "}), "unchanged", None),
        (json!({"output": "a build"}), "stored", Some((1, "", vec!["a build"]))),
        (json!({"output": "a build"}), "unchanged", Some((1, "", vec!["a build"]))),
        (json!({"output": "another", "expected_revision": 1}), "refused", Some((1, "", vec!["a build"]))),
        (json!({"output": ""}), "refused", Some((1, "", vec!["a build"]))),
        (json!({"goal": "Ship\nit\u{202e}"}), "stored", Some((2, "Ship it ", vec!["a build"]))),
        (json!({"goal": "Ship it ", "lines": ["a build"]}), "unchanged", Some((2, "Ship it ", vec!["a build"]))),
        (json!({"lines": ["b"]}), "refused", Some((2, "Ship it ", vec!["a build"]))),
        (json!({"lines": []}), "refused", Some((2, "Ship it ", vec!["a build"]))),
        (json!({"lines": ["b"], "expected_revision": 1}), "refused", Some((2, "Ship it ", vec!["a build"]))),
        (
            json!({"goal": "x", "lines": [long], "expected_revision": 2}),
            "refused",
            Some((2, "Ship it ", vec!["a build"])),
        ),
        (
            json!({"goal": "x", "lines": seven, "expected_revision": 2}),
            "refused",
            Some((2, "Ship it ", vec!["a build"])),
        ),
        (
            json!({"lines": ["b\nc", " ", "", "d"], "expected_revision": 2}),
            "stored",
            Some((3, "Ship it ", vec!["b c", "d"])),
        ),
        (json!({"goal": long}), "stored", Some((4, &long[..240], vec!["b c", "d"]))),
        (json!({"goal": "", "lines": [], "expected_revision": 4}), "stored", Some((5, "", vec![]))),
        (json!({"goal": "g", "expected_revision": 0}), "refused", Some((5, "", vec![]))),
        (json!({"settle_through": -1.0}), "refused", Some((5, "", vec![]))),
        (json!({"settle_through": 5.0, "expected_revision": 4}), "refused", Some((5, "", vec![]))),
        (json!({"settle_through": 5.0, "goal": "not taken"}), "stored", Some((5, "", vec![]))),
        (json!({"clear": true, "settle_through": 9.0, "goal": "not taken"}), "stored", None),
        (json!({"clear": true}), "stored", None),
        (json!({"settle_through": 5.0}), "refused", None),
        (json!({"goal": "back", "expected_revision": 0}), "stored", Some((6, "back", vec![]))),
    ];
    for (body, want, state) in cases {
        let before = std::fs::read(home.file(ANNOTATIONS)).ok();
        let reply = board.annotate("s", &body);
        let (done, annotation) = (matches!(want, "stored" | "unchanged"), &reply["annotation"]);
        assert_eq!(
            (&reply["outcome"], &reply["ok"], &reply["persisted"]),
            (&json!(want), &json!(done), &json!(done)),
            "{body}"
        );
        let (n, goal, lines) = state.unwrap_or((0, "", vec![]));
        assert_eq!((annotation["revision"].as_u64().unwrap_or(0), &annotation["goal"]), (n, &json!(goal)), "{body}");
        for k in 1..=6 {
            assert_eq!(annotation[format!("line_{k}")], json!(lines.get(k - 1).unwrap_or(&"")), "{body}");
        }
        let after = std::fs::read(home.file(ANNOTATIONS)).ok();
        if want != "stored" {
            assert_eq!(after, before, "{body}");
        }
    }
}

/// ANN-061, ANN-062, ANN-064, ANN-102, ANN-103, UNA-040, UNA-042 a discard: what is withdrawn, what is said when that cannot
/// be written, what stays, and that it is told apart from never typed.
#[test]
fn ann_062_a_discard_withdraws_what_quotes_the_words() {
    let home = Home::new();
    let row = home.claude("3f9c01ab-1111-4222-8333-444455556666", 60.0);
    let raised = |sid: &str, reading: &str| {
        json!({"harness": "claude", "sid": sid, "at": 1_700_002_000.0, "constraint": "goal", "clause": "Ship zebra", "reading": reading,
            "evidence": "claude:x:steer:1", "revision": 1, "cutoff": 1_700_002_000.0, "cutoff_text": "Read 9.", "withdrawn": false})
    };
    let many: Vec<Value> =
        (0..40).map(|i| raised(&format!("other-{i}"), &"r".repeat(200))).chain([raised(&row, "zebra")]).collect();
    home.put(DEPARTURES, json!({"v": 1, "entries": many}).to_string().as_bytes());
    let board = home.serve();
    let save = |body: Value| {
        let mut whole = json!({"harness": "claude", "sid": row});
        whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        board.post("/api/annotate", &whole)
    };
    let of_row = || board.data()["sessions"][0].clone();
    let never = of_row();
    assert_eq!(save(json!({"goal": "Ship zebra", "lines": ["zebra tests"]}))["outcome"], "stored");
    assert_eq!(of_row()["departures"].as_array().unwrap().len(), 1);
    // The words' own file fits the limit, the long one of what was raised does not.
    let limit = |bytes| {
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the record outlives the call; the process is a child of ours.
        assert_eq!(
            unsafe {
                libc::prlimit(board.child.id() as i32, libc::RLIMIT_FSIZE, &raw const limit, std::ptr::null_mut())
            },
            0
        );
    };
    limit(4096);
    let reply = save(json!({"clear": true}));
    assert_eq!(
        (&reply["outcome"], &reply["withdrawn"]),
        (&json!("stored"), &json!(false)),
        "the words are gone, the quotation is not"
    );
    assert!(!String::from_utf8(bytes(&home)).unwrap().contains("zebra"));
    assert!(std::fs::read_to_string(home.file(DEPARTURES)).unwrap().contains("zebra"));
    limit(libc::RLIM_INFINITY);
    let reply = save(json!({"clear": true}));
    assert_eq!((&reply["outcome"], reply.get("withdrawn")), (&json!("stored"), None), "pressed again, it is withdrawn");
    let kept = home.entries(DEPARTURES);
    let own = kept.iter().find(|check| check["sid"] == row).unwrap();
    for name in ["constraint", "clause", "reading", "evidence", "cutoff_text"] {
        assert_eq!(own[name], "", "{name}");
    }
    assert_eq!((&own["withdrawn"], &own["at"], &own["revision"]), (&json!(true), &json!(1_700_002_000.0), &json!(1)));
    assert_eq!(kept.iter().filter(|check| check["clause"] == "Ship zebra").count(), 40);
    let gone = of_row();
    for why in ["annotation_goal_why", "annotation_lines_why"] {
        assert!(gone[why] != never[why] && !gone[why].as_str().unwrap().is_empty(), "{why}");
    }
    assert!(gone["annotation_discarded_at"].is_f64() && never["annotation_discarded_at"].is_null());
    assert!(gone["departures"].as_array().unwrap().is_empty());
    assert!(std::fs::read_to_string(home.file(HISTORY)).unwrap().contains("Ship zebra"), "history keeps its own copy");
}

/// ANN-090, ANN-091, ANN-093, ANN-104 the listing: every entry, newest written first, its members without their prefix, and
/// one token with the board.
#[test]
fn ann_091_the_listing() {
    let home = Home::new();
    let discarded =
        json!({"harness": "codex", "sid": "d", "revisions": [], "discarded": 90.0, "discarded_revision": 2});
    let old = json!({"harness": "pi", "sid": "a-long-session-id", "revisions": [{"n": 3, "at": 50.0, "goal": "Old", "lines": []}], "written": 50.0});
    let timeless =
        json!({"harness": "pi", "sid": "timeless", "revisions": [{"n": 1, "at": "soon", "goal": "G", "lines": []}]});
    home.put(ANNOTATIONS, json!({"v": 2, "entries": [timeless, old, discarded]}).to_string().as_bytes());
    let row = home.claude("3f9c01ab-1111-4222-8333-444455556666", 60.0);
    let board = home.serve();
    let log = board.get("/api/annotations");
    let list = log["annotations"].as_array().unwrap();
    assert_eq!(
        list.iter().map(|entry| entry["sid"].as_str().unwrap()).collect::<Vec<_>>(),
        ["d", "a-long-session-id", "timeless"]
    );
    assert_eq!(log["intent_revision"], board.data()["intent_revision"]);
    assert!(log["intent_revision"].as_str().is_some_and(|text| !text.is_empty() && !text.contains("Old")));
    let data = board.data();
    let published = data["sessions"].as_array().unwrap().iter().find(|r| r["sid"] == row).unwrap().as_object().unwrap();
    let of_row: BTreeSet<&str> = published.keys().filter_map(|name| name.strip_prefix("annotation_")).collect();
    let more = ["harness", "sid", "departures", "departure_why", "departure_checked"];
    for entry in list {
        let names: BTreeSet<&str> = entry.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, of_row.iter().copied().chain(more).collect());
    }
    assert_eq!(
        (list[0]["binding_why"] == "", list[1]["binding_why"] == ""),
        (false, true),
        "an id that is only a prefix says so"
    );
    assert_eq!(
        (&list[2]["at"], &list[2]["window_start"], &list[2]["goal"]),
        (&Value::Null, &Value::Null, &json!("G")),
        "never 0"
    );
    assert_eq!(
        (&list[1]["at"], &list[1]["window_start"], &list[1]["revision_count"]),
        (&json!(50.0), &json!(50.0), &json!(1))
    );
    for headers in [
        &[("Sec-Fetch-Site", "cross-site")][..],
        &[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")],
        &[("Origin", "http://evil.example")],
    ] {
        let answer = board.ask("GET", "/api/annotations", headers, b"").unwrap();
        assert_eq!(answer.status, 403, "{headers:?}");
        assert!(!answer.text().contains("Old"));
    }
    // The token moves with every change, another instance's too, and stands still otherwise.
    let token = || board.get("/api/annotations")["intent_revision"].clone();
    let first = token();
    assert_eq!(token(), first);
    assert_eq!(board.goal("s", "x"), "stored");
    let second = token();
    assert_eq!(board.goal("s", "x"), "unchanged");
    assert_eq!((second != first, token() == second), (true, true));
    let other = home.serve();
    assert_eq!(other.goal("s", "y"), "stored");
    assert!(token() != second && token() == other.get("/api/annotations")["intent_revision"]);
}
