//! Hostile ingress with the real event tokens against the real binary: exact status, exact word, exact counter, and no
//! effect on the board, the overlays or the state directory (TRUST-045 to TRUST-047, EVT-001 to EVT-035).

use super::cases::{self, Case, request};
use super::desk::{Answer, Desk, Home, id, sid, until};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

fn moved(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let changed = after.iter().filter(|(name, n)| **n != before[*name] && !name.starts_with("collected."));
    changed.map(|(name, n)| (name.clone(), n - before[name])).collect()
}

/// Every file of the state directory but the log, with its bytes.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap());
    let file =
        |e: std::fs::DirEntry| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).unwrap_or_default());
    entries.map(file).filter(|(name, _)| !name.contains(".log") && !name.contains("history")).collect()
}

/// What of a row an event could have changed.
fn shown(desk: &Desk) -> Vec<Value> {
    let data = desk.get("/api/data").json();
    let members = [
        "sid",
        "state",
        "state_detail",
        "active",
        "blocked_since",
        "acquisition",
        "finished_at",
        "ended_at",
        "dirty",
        "changed",
        "degrades",
    ];
    data["sessions"].as_array().unwrap().iter().map(|row| members.iter().map(|m| row[*m].clone()).collect()).collect()
}

#[track_caller]
fn judge(case: &Case, answer: &Answer) {
    assert_eq!(answer.status, case.status, "{}: {}", case.name, answer.body);
    if let Some(word) = case.outcome {
        assert_eq!(answer.body, format!(r#"{{"ok":true,"outcome":"{word}"}}"#), "{}", case.name);
    }
}

/// EVT-001, EVT-002, EVT-003, EVT-004, EVT-005, EVT-006, EVT-007, EVT-013, EVT-014, EVT-030, EVT-031, EVT-032, EVT-033,
/// EVT-035, TRUST-041, TRUST-045, TRUST-046, TRUST-047, TRUST-048.
#[test]
fn trust_045_evt_002_hostile_ingress_costs_its_one_counter_and_nothing_else() {
    let home = Home::new("hostile");
    home.claude(1, "/w/acme/shop", 400.0);
    let desk = Desk::start(home);
    let cases = cases::all(&desk);
    assert!(cases.len() >= 280, "{} cases", cases.len());
    let (rows, stored) = (shown(&desk), files(&desk.home.state("")));
    assert_eq!(rows[0][0], sid("claude", 1));
    let mut submitted = 0;
    for case in &cases {
        let before = desk.counters();
        let mut answer = desk.raw(&case.bytes, case.half_close);
        while answer.status == 429 && case.status != 429 {
            // The machine was faster than the budget refills; that refusal is not what this case is about.
            std::thread::sleep(Duration::from_millis(60));
            answer = desk.raw(&case.bytes, case.half_close);
        }
        judge(case, &answer);
        submitted += u64::from(case.outcome.is_some());
        let want = BTreeMap::from([(case.counter.to_owned(), 1)]);
        let until = Instant::now() + Duration::from_secs(3);
        loop {
            let mut found = moved(&before, &desk.counters());
            found.remove("reject.rate");
            // A peer that left is counted after it has left.
            if found == want || Instant::now() > until {
                assert_eq!(found, want, "counters of {}", case.name);
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let listing = desk.overlays();
        assert_eq!((&listing["overlays"], &listing["pending_rows"]), (&json!([]), &json!([])), "{}", case.name);
        assert_eq!(listing["arrival_seq"], submitted, "{}: refused before it is submitted, or counted", case.name);
    }
    assert_eq!(shown(&desk), rows, "no row was touched");
    assert_eq!(files(&desk.home.state("")), stored, "nor a file");
    slow(&desk);
    // And the door still opens.
    desk.accepted("claude", "turn_started", &id("claude", 1));
    desk.row_where("the row moves", "claude", &sid("claude", 1), |row| row["state"] == "working");
}

/// A head and a body that never come, and a body byte by byte: closed without a reply, one counter each.
fn slow(desk: &Desk) {
    let before = desk.counters();
    let line = format!("X-Cargento-Capability: {}\r\n", desk.tokens["codex"]);
    let starts = [b"POST /api/events/codex HTTP/1.1\r\n".to_vec(), request("codex", &line, "900", b"{\"v\":1")];
    std::thread::scope(|scope| {
        for start in &starts {
            scope.spawn(move || {
                let begun = Instant::now();
                assert_eq!(desk.raw(start, false).status, 0);
                assert!((9..20).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
            });
        }
    });
    let found = until("both are counted", || {
        let found = moved(&before, &desk.counters());
        (found.get("http.slow") == Some(&2)).then_some(found)
    });
    assert_eq!(found, BTreeMap::from([("http.slow".to_owned(), 2)]));
}

/// EVT-020, EVT-021: forty at once and then twenty a second; a refusal spends nothing, and neither does a stranger.
#[test]
fn evt_021_the_budget_is_per_source_and_spent_by_the_admitted_alone() {
    let desk = Desk::start(Home::new("budget"));
    let post = |harness: &str| desk.event(harness, "store_changed", &id(harness, 1), &Value::Null).status;
    for _ in 0..60 {
        assert_eq!(desk.post("/api/events/codex", "X-Cargento-Capability: x\r\n", b"{}").status, 403);
    }
    let begun = Instant::now();
    let mut admitted = 0;
    while post("codex") == 200 {
        admitted += 1;
    }
    let refill = begun.elapsed().as_secs_f64() * 20.0;
    assert!(admitted >= 40 && f64::from(admitted) <= 41.0 + refill, "{admitted} in {:?}", begun.elapsed());
    assert_eq!(post("claude"), 200, "another source has a budget of its own");
    assert_eq!(desk.counters()["reject.rate"], 1);
    assert_eq!(desk.counters()["event.store_changed"], u64::from(admitted as u32) + 1);
}
