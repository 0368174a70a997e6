//! Eight clients that save as fast as they can.

use crate::home::{ANNOTATIONS, DISMISSALS, Ends, Home, watch};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: usize = 8;
const FOR: Duration = Duration::from_secs(3);

/// ANN-013, ANN-032, ANN-045, ANN-052, DIS-002, DIS-021, TRUST-063 every reply is true of its own save, revisions rise by
/// one and are given once, guarded saves never pass each other, caps hold, and the files are whole at every instant.
#[test]
fn ann_013_eight_clients_at_once() {
    let home = Home::in_memory();
    let board = home.serve();
    let (done, until) = (AtomicBool::new(false), Instant::now() + FOR);
    let mut given: Vec<u64> = Vec::new();
    let mut guarded: Vec<u64> = Vec::new();
    let mut own: Vec<(String, u64, String)> = Vec::new();
    std::thread::scope(|scope| {
        let _end = Ends(&done);
        let watching = scope.spawn(|| watch(&home.state, &done));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let board = &board;
                scope.spawn(move || {
                    let (mut given, mut guarded, mut last, mut i) = (Vec::new(), Vec::new(), (0, String::new()), 0);
                    let name = format!("own-{client}");
                    while Instant::now() < until {
                        i += 1;
                        let goal = format!("{client} {i}");
                        let shared = board.annotate("shared", &json!({"goal": goal}));
                        assert_eq!(
                            (&shared["outcome"], &shared["annotation"]["goal"]),
                            (&json!("stored"), &json!(goal))
                        );
                        given.push(shared["annotation"]["revision"].as_u64().unwrap());
                        assert!(shared["annotation"]["revision_count"].as_u64().unwrap() <= 16);

                        let seen = board.listed("guarded").map_or(0, |entry| entry["revision"].as_u64().unwrap());
                        let body = json!({"lines": [goal], "expected_revision": seen});
                        let reply = board.annotate("guarded", &body);
                        match reply["outcome"].as_str().unwrap() {
                            "stored" => {
                                assert_eq!(reply["annotation"]["revision"], seen + 1);
                                assert_eq!(reply["annotation"]["line_1"], goal);
                                guarded.push(seen + 1);
                            }
                            other => assert_eq!(other, "refused", "someone else was faster"),
                        }

                        let reply = board.annotate(&name, &json!({"goal": goal}));
                        assert_eq!(reply["annotation"]["revision"], last.0 + 1, "one writer, one by one");
                        last = (last.0 + 1, goal);
                        assert!(board.mark(&format!("m{client}-{i}")));
                    }
                    (given, guarded, (name, last.0, last.1))
                })
            })
            .collect();
        for client in clients {
            let (some, more, last) = client.join().unwrap();
            assert!(some.windows(2).all(|pair| pair[0] < pair[1]), "a client sees revisions rise");
            given.extend(some);
            guarded.extend(more);
            own.push(last);
        }
        done.store(true, Ordering::Relaxed);
        assert!(watching.join().unwrap() > 100, "the reader read often enough to matter");
    });
    for (numbers, sid) in [(&mut given, "shared"), (&mut guarded, "guarded")] {
        numbers.sort_unstable();
        let whole: Vec<u64> = (1..=numbers.len() as u64).collect();
        assert_eq!(*numbers, whole, "{sid}: each number once, none left out");
    }
    let entries = home.entries(ANNOTATIONS);
    let entry = |sid: &str| entries.iter().find(|entry| entry["sid"] == sid).unwrap();
    for (sid, revision, goal) in &own {
        let newest = entry(sid)["revisions"].as_array().unwrap().last().unwrap();
        assert_eq!((newest["n"].as_u64(), newest["goal"].as_str()), (Some(*revision), Some(goal.as_str())));
    }
    let kept: Vec<u64> =
        entry("shared")["revisions"].as_array().unwrap().iter().map(|r: &Value| r["n"].as_u64().unwrap()).collect();
    let last = given.len() as u64;
    assert_eq!(kept, (last.saturating_sub(15).max(1)..=last).collect::<Vec<_>>(), "the newest sixteen");
    assert!(home.entries(DISMISSALS).len() <= 256 && entries.len() == CLIENTS + 2);
    home.no_leftovers();
}

/// ANN-030, ANN-046, DIS-006, TRUST-063 eight clients past the caps: what was just acknowledged is never what is evicted, and
/// the oldest go.
#[test]
fn ann_030_eight_clients_past_the_caps() {
    let home = Home::new();
    let words: Vec<Value> = (0..250)
        .map(|i| json!({"harness": "pi", "sid": format!("old-{i}"), "revisions": [{"n": 1, "at": 1000.0 + f64::from(i), "goal": "g", "lines": []}]}))
        .collect();
    let marks: Vec<Value> = (0..250)
        .map(|i| json!({"harness": "pi", "sid": format!("old-{i}"), "at": 1000.0 + f64::from(i), "seen_activity": 1.0}))
        .collect();
    home.put(ANNOTATIONS, json!({"v": 2, "entries": words}).to_string().as_bytes());
    home.put(DISMISSALS, json!({"v": 1, "entries": marks}).to_string().as_bytes());
    let board = home.serve();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let board = &board;
            scope.spawn(move || {
                for i in 0..6 {
                    let sid = format!("new-{client}-{i}");
                    assert_eq!((board.goal(&sid, "mine"), board.mark(&sid)), ("stored".into(), true));
                }
            });
        }
    });
    for name in [ANNOTATIONS, DISMISSALS] {
        let sids: Vec<String> = home.entries(name).iter().map(|e| e["sid"].as_str().unwrap().to_owned()).collect();
        assert_eq!(sids.len(), 256, "{name}");
        assert_eq!(sids.iter().filter(|sid| sid.starts_with("new-")).count(), CLIENTS * 6, "{name}");
        // 298 in all: the 42 oldest went.
        assert!(!sids.contains(&"old-41".to_owned()) && sids.contains(&"old-42".to_owned()), "{name}");
    }
}
