//! `kill -9` at any moment of a stream of saves.

use crate::home::{ANNOTATIONS, Board, DEPARTURES, DISMISSALS, Dice, ENDS, Ends, Home, watch};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const LANES: u64 = 4;
const KILLS: u64 = 50;
/// Discards a board may make.
const QUOTES: u64 = 4;
/// Sessions of a client: few, so that each is saved often.
const SESSIONS: u64 = 5;

/// What one client asked of one board, and what was acknowledged of it.
#[derive(Default)]
struct Told {
    /// Newest acknowledged revision and goal of a session.
    goals: HashMap<String, (u64, String)>,
    /// Whether a session is marked, as acknowledged last.
    marks: HashMap<String, bool>,
    /// Ends acknowledged.
    ends: Vec<String>,
    /// What was asked last and not answered: it may be there or not.
    asked: Option<String>,
}

/// Saves until the board is gone.
fn save(board: &Board, home: &Home, told: &mut Told, count: &AtomicUsize, client: u64, turn: u64) {
    for i in 0.. {
        let sid = format!("c{client}-{}", i % SESSIONS);
        match i % 3 {
            0 => {
                let goal = format!("goal {turn} {i}");
                told.asked = Some(sid.clone());
                let body = json!({"harness": "pi", "sid": sid, "goal": goal}).to_string();
                let Some(answer) = board.ask("POST", "/api/annotate", &[], body.as_bytes()) else { return };
                let reply = answer.json();
                assert_eq!((answer.status, &reply["outcome"]), (200, &json!("stored")), "{reply}");
                assert_eq!(reply["annotation"]["goal"], goal, "the reply speaks of this save");
                told.goals.insert(sid, (reply["annotation"]["revision"].as_u64().unwrap(), goal));
            }
            1 => {
                let marked = !told.marks.get(&sid).copied().unwrap_or(false);
                told.asked = Some(sid.clone());
                let body = json!({"harness": "pi", "sid": sid, "clear": marked}).to_string();
                let Some(answer) = board.ask("POST", "/api/dismiss", &[], body.as_bytes()) else { return };
                assert_eq!((answer.status, &answer.json()["persisted"]), (200, &json!(true)));
                told.marks.insert(sid, marked);
            }
            _ => {
                let sid = format!("{client:08x}-0000-4000-8000-{:012x}", turn * 1000 + i);
                let Some(answer) = board.end(home, &sid) else { return };
                if answer.status == 200 && answer.json()["outcome"] == "accepted" {
                    told.ends.push(sid);
                }
            }
        }
        told.asked = None;
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whatever was acknowledged is there after the next start.
fn check(board: &Board, home: &Home, told: &[Told], turn: u64) {
    home.no_leftovers();
    let listed = board.get("/api/annotations");
    assert!(listed.get("notice").is_none(), "{listed}");
    let cleared = board.get("/api/cleared");
    for told in told {
        for (sid, (revision, goal)) in &told.goals {
            let entry = listed["annotations"].as_array().unwrap().iter().find(|entry| entry["sid"] == *sid);
            let entry = entry.unwrap_or_else(|| panic!("turn {turn}: {sid} is gone"));
            let found = entry["revision"].as_u64().unwrap();
            let unanswered = told.asked.as_ref() == Some(sid);
            let same = found == *revision && entry["goal"] == *goal;
            assert!(same || (unanswered && found == revision + 1), "turn {turn}: {sid} {revision} {goal:?} is {entry}");
        }
        for (sid, marked) in told.marks.iter().filter(|(sid, _)| told.asked.as_ref() != Some(*sid)) {
            let found = cleared["cleared"].as_array().unwrap().iter().any(|mark| mark["sid"] == *sid);
            assert_eq!(found, *marked, "turn {turn}: the mark of {sid}");
        }
    }
    let ends: Vec<_> = told.iter().flat_map(|told| &told.ends).collect();
    if !ends.is_empty() {
        let stored = home.entries(ENDS);
        for sid in ends.iter().rev().take(100) {
            assert!(
                stored.iter().any(|end| end["sid"] == sid[..8] || end["sid"] == **sid),
                "turn {turn}: the end of {sid}"
            );
        }
    }
}

/// What was acknowledged, and how often a kill struck in the middle of a write.
fn lane(seed: u64) -> (usize, usize) {
    let home = if seed.is_multiple_of(2) { Home::in_memory() } else { Home::new() };
    let row = home.claude("3f9c01ab-1111-4222-8333-444455556666", 60.0);
    let mut dice = Dice(seed);
    let mut told = [Told::default(), Told::default()];
    let quotes: Vec<_> = (0..KILLS * QUOTES)
        .map(|i| json!({"harness": "pi", "sid": format!("q{i}"), "at": 5.0, "constraint": "goal", "clause": "quoted"}))
        .collect();
    home.put(DEPARTURES, json!({"v": 1, "entries": quotes}).to_string().as_bytes());
    let (mut acknowledged, mut struck, mut withdrawn) = (0, 0, Vec::<String>::new());
    for turn in 0..KILLS {
        let mut board = home.serve();
        check(&board, &home, &told, turn);
        let checks = home.entries(DEPARTURES);
        assert_eq!(checks.len() as u64, KILLS * QUOTES, "the fact that a check ran stays");
        for sid in &withdrawn {
            let check = checks.iter().find(|check| check["sid"] == **sid).unwrap();
            assert_eq!((&check["withdrawn"], &check["clause"]), (&json!(true), &json!("")), "turn {turn}: {sid}");
        }
        // So many acknowledged saves, and then so long: however fast the disk is, the moment is any.
        let (many, after) = (dice.below(7) as usize, Duration::from_micros(dice.below(15_000)));
        let (done, count) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            let _end = Ends(&done);
            let watching = scope.spawn(|| watch(&home.state, &done));
            let pid = libc::pid_t::try_from(board.child.id()).unwrap();
            let (board, home, row, count) = (&board, &home, &row, &count);
            // A discard that is acknowledged has withdrawn what quoted the words.
            let discarding = scope.spawn(move || {
                let mut withdrawn = Vec::new();
                for i in turn * QUOTES..(turn + 1) * QUOTES {
                    let ask = |more: Value| {
                        let mut body = json!({"harness": "pi", "sid": format!("q{i}")});
                        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                        board.ask("POST", "/api/annotate", &[], body.to_string().as_bytes())
                    };
                    let cleared = ask(json!({"goal": "quoted"})).and_then(|_| ask(json!({"clear": true})));
                    let Some(answer) = cleared else { return withdrawn };
                    assert_eq!(answer.json()["outcome"], "stored");
                    withdrawn.push(format!("q{i}"));
                }
                withdrawn
            });
            // Each look at the board after a save is a transition for history.
            let looking = scope.spawn(move || {
                for i in 0.. {
                    let body = json!({"harness": "claude", "sid": row, "goal": format!("{turn} {i}")}).to_string();
                    if board.ask("POST", "/api/annotate", &[], body.as_bytes()).is_none() {
                        return;
                    }
                    let Some(answer) = board.ask("GET", "/api/data", &[], b"") else { return };
                    assert!(answer.json().get("history_reset").is_none());
                }
            });
            let saving: Vec<_> = told
                .iter_mut()
                .zip(0..)
                .map(|(told, client)| scope.spawn(move || save(board, home, told, count, client, turn)))
                .collect();
            let patience = Instant::now() + Duration::from_secs(5);
            while count.load(Ordering::Relaxed) < many && Instant::now() < patience {
                std::thread::sleep(Duration::from_micros(200));
            }
            std::thread::sleep(after);
            // SAFETY: a child of ours that has not been waited for.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            saving.into_iter().chain([looking]).for_each(|client| client.join().unwrap());
            withdrawn.extend(discarding.join().unwrap());
            done.store(true, Ordering::Relaxed);
            watching.join().unwrap();
        });
        board.kill();
        acknowledged += count.into_inner();
        struck += home.half_written().len();
        // An unanswered save may have come through: what is there now is what counts from here on.
        settle(&home, &mut told);
    }
    check(&home.serve(), &home, &told, KILLS);
    (acknowledged, struck)
}

/// Takes over what became of the unanswered saves.
fn settle(home: &Home, told: &mut [Told]) {
    let read = |name: &str| if home.file(name).exists() { home.entries(name) } else { Vec::new() };
    let (words, marks) = (read(ANNOTATIONS), read(DISMISSALS));
    for told in told {
        let Some(sid) = told.asked.take() else { continue };
        if let Some(newest) = words.iter().find(|e| e["sid"] == sid).and_then(|e| e["revisions"].as_array()?.last()) {
            let (n, goal) = (newest["n"].as_u64().unwrap(), newest["goal"].as_str().unwrap().to_owned());
            let known = told.goals.get(&sid).map_or(0, |(n, _)| *n);
            assert!(n == known || n == known + 1, "{sid}: {n} after {known}");
            told.goals.insert(sid.clone(), (n, goal));
        }
        told.marks.insert(sid.clone(), marks.iter().any(|mark| mark["sid"] == sid));
    }
}

/// TRUST-050 200 kills over four homes lose nothing that was acknowledged, leave every store whole at every instant, and
/// nothing half-written past the next start. TRUST-073, STATE-001, DIS-007, ANN-002, HIST-016 modes hold under umask 000
/// from the first byte.
#[test]
fn trust_050_kill_at_any_moment_loses_nothing_acknowledged() {
    let started = Instant::now();
    let lanes: Vec<_> = (1..=LANES).map(|seed| std::thread::spawn(move || lane(seed * 7919))).collect();
    let lanes: Vec<_> = lanes.into_iter().map(|lane| lane.join().unwrap()).collect();
    let (acknowledged, struck) = lanes.iter().fold((0, 0), |sum, lane| (sum.0 + lane.0, sum.1 + lane.1));
    assert!(acknowledged > 500 && struck > 10, "so few prove nothing: {acknowledged} saves, {struck} cut short");
    assert!(started.elapsed() < Duration::from_mins(5), "{:?}", started.elapsed());
}
