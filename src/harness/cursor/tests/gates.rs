//! Whether a chat waits for an approval, told from the order of its blobs.

use super::*;

/// CUR-015, CUR-016, CUR-017, CUR-018, CUR-021, CUR-041: the newest carrier decides.
#[test]
fn cur_015_to_021_cur_041_a_gate_stands_until_a_newer_blob_says_it_does_not() {
    let mut home = Home::new("gate");
    home.fixture(&[OPEN.to_vec()], 30.0);
    let found = home.then();
    let waiting = row(&found, PARENT);
    assert_eq!((waiting.state, waiting.blocked_since), (State::NeedsInput, Some(GATE)));
    assert_eq!(waiting.state_detail.as_deref(), Some("permission request, waiting 39s"));
    assert_eq!(waiting.evidence.working_detail.as_deref(), Some("generating…"));
    let steps = [
        (vec![ANSWERED.to_vec()], State::Working),
        (vec![gate(GATE + 5.0, ASKED)], State::NeedsInput),
        (vec![gate(GATE, "{}"), b"later".to_vec()], State::Working),
    ];
    for (age, (blobs, want)) in (1..).zip(steps) {
        add(&home.open(PARENT), &blobs);
        touch(&home.path(PARENT), THEN - f64::from(age));
        let found = home.then();
        let row = row(&found, PARENT);
        assert_eq!((row.state, row.blocked_since.is_some()), (want, want == State::NeedsInput));
    }
}

/// CUR-018, CUR-019, CUR-020, CUR-044, CUR-046: stamps that do not fit the store, and rows that are not fresh.
#[test]
fn cur_018_cur_019_cur_020_cur_044_cur_046_gates_that_are_not_believed() {
    let mut home = Home::new("doubt");
    home.named("unstamped", &[b"pendingToolExecutionContracts\": {\"x\"".to_vec()], 30.0);
    home.named("quoted", &[gate(THEN - 3.0 * WINDOW, ASKED)], 30.0);
    home.named("later", &[gate(THEN - 30.0 + 121.0, ASKED)], 30.0);
    home.named("skewed", &[gate(THEN - 30.0 + 119.0, ASKED)], 30.0);
    home.named("hours", &[gate(THEN - 7200.0, ASKED)], 7200.0);
    home.named("abandoned", &[gate(THEN - 29.0 * 3600.0, ASKED)], 29.0 * 3600.0);
    home.named("stamp only", &[br#"{"pendingToolCallStartedAtMs":1789899960123}"#.to_vec()], 30.0);
    let found = home.pass(THEN, true);
    let of = |sid: &str| (row(&found, sid).state, row(&found, sid).blocked_since);
    assert_eq!(of("unstamped"), (State::NeedsInput, Some(THEN - 30.0)), "a known limit: it reads as a gate");
    assert_eq!((of("quoted"), of("later")), ((State::Working, None), (State::Working, None)));
    assert_eq!(of("skewed").0, State::NeedsInput);
    assert_eq!(of("hours"), (State::NeedsInput, Some(THEN - 7200.0)));
    assert_eq!((of("abandoned"), of("stamp only")), ((State::Idle, None), (State::Working, None)));
}

/// CUR-015, CUR-016, CUR-041, CUR-045: by row number, in text as in bytes.
#[test]
fn cur_015_cur_045_text_blobs_and_row_order() {
    let mut home = Home::new("order");
    home.named("text", &[], 30.0);
    let text = String::from_utf8(gate(THEN - 40.0, ASKED)).unwrap();
    home.open("text").execute("INSERT INTO blobs VALUES ('t', ?1)", [text]).unwrap();
    home.named("order", &[], 30.0);
    let store = home.open("order");
    // The answer was appended first by number: the number decides, not the id.
    store.execute("INSERT INTO blobs (rowid, id, data) VALUES (10, 'zz', ?1)", [gate(THEN - 40.0, ASKED)]).unwrap();
    store.execute("INSERT INTO blobs (rowid, id, data) VALUES (11, 'aa', ?1)", [gate(THEN - 40.0, "{}")]).unwrap();
    drop(store);
    for sid in ["text", "order"] {
        touch(&home.path(sid), THEN - 30.0);
    }
    let found = home.then();
    assert_eq!((row(&found, "text").state, row(&found, "order").state), (State::NeedsInput, State::Working));
}

/// CUR-022, CUR-047: a gate that could not be read is owed.
#[test]
fn cur_022_cur_047_a_gate_that_could_not_be_read_is_asked_for_again_although_nothing_moves() {
    let mut home = Home::new("owed");
    home.named("s", &[gate(THEN - 40.0, ASKED)], 30.0);
    // The statement fails while the table has no rows by number; nothing else of the store changes with it.
    let rename = |home: &Home, from: &str, to: &str| {
        home.open("s").execute_batch(&format!("ALTER TABLE blobs RENAME COLUMN {from} TO {to}")).unwrap();
        touch(&home.path("s"), THEN - 30.0);
    };
    rename(&home, "data", "other");
    let first = home.then();
    assert_eq!(
        (row(&first, "s").state, row(&first, "s").source_gaps.as_slice()),
        (State::Working, &["block state"][..])
    );
    rename(&home, "other", "data");
    let second = home.pass(THEN + 1.0, false);
    assert_eq!((row(&second, "s").state, row(&second, "s").source_gaps.len()), (State::NeedsInput, 0));
}

/// CUR-022, CUR-030, DECK-020, TRUST-036: a locked store keeps its row and claims no gate.
#[test]
fn oc_028_cur_022_a_locked_store_keeps_its_row_and_claims_no_gate() {
    let mut home = Home::new("locked");
    let store = owner(&home.path("s"), &SCHEMA.replace("= WAL", "= DELETE"));
    store.execute("INSERT INTO meta VALUES ('0', '{\"name\":\"Kept\"}')", []).unwrap();
    add(&store, &[gate(THEN - 40.0, ASKED)]);
    touch(&home.path("s"), THEN - 30.0);
    assert_eq!(row(&home.then(), "s").state, State::NeedsInput);
    store.execute_batch("BEGIN EXCLUSIVE").unwrap();
    touch(&home.path("s"), THEN - 29.0);
    let found = home.pass(THEN + 1.0, false);
    let kept = row(&found, "s");
    assert_eq!((kept.title.as_deref(), kept.state), (Some("Kept"), State::Working));
    assert_eq!(
        (kept.source_gaps.as_slice(), codes(&found)),
        (&["block state", "session metadata"][..], vec!["store-locked"])
    );
    store.execute_batch("ROLLBACK").unwrap();
    assert_eq!(row(&home.pass(THEN + 2.0, false), "s").state, State::NeedsInput);
}
