//! Long rollouts: what lies far before their ends, and what it may cost to find it.

use super::*;
use crate::config::{CODEX_WALK_BYTES, TURN_SCAN_MAX_BYTES};
use crate::model::{Code, InstructionLabel};

/// A rollout with `head` far before its turn scan and `tail` at its end.
fn long(store: &Store, head: &[Value], bytes: u64, tail: &[Value]) -> PathBuf {
    let path = store.rollout(ROOT, &json!({}), head, NOW);
    let filler = (line(&padding(NOW - 100.0, 200_000)) + "\n").repeat((bytes / 200_000 + 1) as usize);
    append(&path, filler.as_bytes(), NOW);
    append(&path, lines(tail).as_bytes(), NOW);
    path
}

/// CODEX-024, CODEX-034, CODEX-037, CODEX-062, TURN-006: what lies far before the turn scan is found.
#[test]
fn codex_024_034_037_062_turn_006_what_lies_far_before_the_turn_scan_is_found() {
    let mut store = Store::new();
    let plan = item(
        "function_call",
        NOW - 150.0,
        &json!({"name": "update_plan", "arguments": json!({"plan": [{"step": "One", "status": "completed"}]}).to_string()}),
    );
    let head = [
        said(NOW - 400.0, "Fix the parser for nested rows"),
        complete(NOW - 390.0),
        event("task_started", NOW - 200.0, &json!({"started_at": NOW - 201.0})),
        model(NOW - 199.0, "far"),
        plan,
        said(NOW - 140.0, "go ahead"),
        commentary(NOW - 130.0, "I will read on."),
    ];
    long(&store, &head, 20_000_000, &[]);
    let row = store.row();
    assert_eq!((row.title.as_deref(), row.model.as_deref(), row.total), (Some("go ahead"), Some("far"), 1));
    let said = row.instruction.unwrap();
    assert_eq!((said.label, said.text.as_str(), said.at), (InstructionLabel::Agent, "I will read on.", NOW - 130.0));
    assert_eq!((row.started_at, row.evidence.turn_start), (None, Some(NOW - 201.0)));
    assert_eq!((row.first_prompt.as_str(), row.first_prompt_at), ("Fix the parser for nested rows", Some(NOW - 400.0)));
    assert_eq!(row.degrades.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::ReadInPart]);
    // What the end holds goes before what lies further back.
    let mut store = Store::new();
    long(&store, &head, 20_000_000, &[model(NOW - 9.0, "near"), said_("Now write the tests for it"), complete(NOW)]);
    let row = store.row();
    assert_eq!(
        (row.title.as_deref(), row.model.as_deref(), row.instruction),
        (Some("Now write the tests for it"), Some("near"), None)
    );
    assert_eq!((row.evidence.turn_start, row.evidence.turn_durations.as_slice()), (None, &[201.0][..]));
}

fn said_(text: &str) -> Value {
    said(NOW - 8.0, text)
}

/// TURN-006: a silence before the turn scan bounds the turn.
#[test]
fn turn_006_a_silence_before_the_turn_scan_bounds_the_turn() {
    let mut store = Store::new();
    long(&store, &[started(NOW - 900.0), padding(NOW - 800.0, 10), padding(NOW - 400.0, 10)], 12_000_000, &[]);
    assert_eq!(store.row().evidence.turn_start, Some(NOW - 400.0));
}

/// FIELD-044, TRUST-036: a walk that a bound ended goes on pass by pass although nothing changes in the file, is asked
/// for by the pass itself, names what it is, and ends.
#[test]
fn field_044_a_long_walk_goes_on_in_later_passes() {
    let mut store = Store::new();
    let bytes = CODEX_WALK_BYTES * 2 + TURN_SCAN_MAX_BYTES;
    let head = [started(NOW - 200.0), said(NOW - 199.0, "Far away, but stated as work"), model(NOW - 198.0, "far")];
    let path = long(&store, &head, bytes, &[]);
    let first = store.collect();
    let row = &first.rows[0];
    assert_eq!((row.title.as_ref(), row.model.as_ref(), row.evidence.turn_start), (None, None, None));
    assert_eq!((row.degrades[0].code, first.more), (Code::ReadInPart, true));
    assert_eq!((first.degrades[0].code, first.degrades[0].source.as_str()), (Code::ReadInPart, "codex.sessions"));
    let passes = (1..9).find(|_| !store.collect().more);
    assert!(passes.is_some_and(|n| n <= 4), "{passes:?}");
    let row = store.row();
    assert_eq!(
        (row.title.as_deref(), row.model.as_deref(), row.evidence.turn_start),
        (Some("Far away, but stated as work"), Some("far"), Some(NOW - 200.0))
    );
    // What comes later costs its own bytes alone.
    append(&path, lines(&[padding(NOW, 10)]).as_bytes(), NOW);
    assert!(!store.collect().more);
    // A file that cannot be read asks for nothing.
    let mut store = Store::new();
    let path = long(&store, &head, bytes, &[]);
    assert!(store.collect().more);
    std::fs::remove_file(path).unwrap();
    assert!(!store.collect().more);
    let mut short = Store::new();
    short.rollout(ROOT, &json!({}), &head, NOW);
    assert!(!short.collect().more);
}

/// FIELD-044, TRUST-064: sparse and endless files cost what is looked at.
#[test]
fn field_044_trust_064_sparse_and_endless_files_cost_what_is_looked_at() {
    let mut store = Store::new();
    let path = store.rollout("sparse", &json!({}), &[], NOW);
    std::fs::File::options().write(true).open(&path).unwrap().set_len(5_000_000_000).unwrap();
    append(&path, format!("\n{}\n", line(&said(NOW, "The end of a hole in a file"))).as_bytes(), NOW);
    let endless = store.rollout("endless", &json!({}), &[said(NOW, "Before one endless line of work")], NOW);
    append(&endless, "x".repeat(20_000_000).as_bytes(), NOW);
    let begun = std::time::Instant::now();
    let title = |found: &Collected, sid: &str| found.rows.iter().find(|r| r.sid == sid).unwrap().title.clone();
    let found = store.collect();
    assert_eq!(title(&found, "sparse").as_deref(), Some("The end of a hole in a file"));
    assert!(found.more);
    let found = store.collect();
    assert_eq!(title(&found, "endless").as_deref(), Some("Before one endless line of work"));
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    append(&endless, format!("\n{}\n", line(&said(NOW, "And behind it there is more"))).as_bytes(), NOW);
    let found = store.collect();
    let row = found.rows.iter().find(|r| r.sid == "endless").unwrap();
    assert_eq!(row.title.as_deref(), Some("And behind it there is more"));
}

/// CODEX-018, CODEX-034: of a long child what bounds its turn and names its model is found, and no more is walked for.
#[test]
fn codex_018_034_a_long_child_is_walked_for_its_turn_and_model_alone() {
    let mut store = Store::new();
    store.rollout(ROOT, &json!({}), &[], NOW);
    let path = store.child("kid", ROOT, &json!({}), &[started(NOW - 200.0), model(NOW - 199.0, "far")], NOW);
    let filler = (line(&padding(NOW - 100.0, 200_000)) + "\n").repeat(60);
    append(&path, filler.as_bytes(), NOW);
    let found = store.collect();
    let kid = &found.rows[0].subagents[0];
    assert_eq!((kid.model.as_deref(), found.more), (Some("far"), false));
    let filler = filler.repeat(4);
    append(&path, (lines(&[started(NOW - 90.0), model(NOW - 89.0, "near")]) + &filler).as_bytes(), NOW);
    assert!(store.collect().more, "its turn is not bounded yet");
    let passes = (1..9).find(|_| !store.collect().more);
    assert!(passes.is_some_and(|n| n <= 3), "{passes:?}");
    assert_eq!(store.row().subagents[0].model.as_deref(), Some("near"));
}
