//! Stores while their owner writes or holds them, and where they are looked for.

use super::*;
use crate::env::Platform;
use crate::harness::sql::support::{now, pass_at};
use crate::harness::sql::writer::{Written, hold, number};
use crate::harness::testkit::candidates;

/// AGY-015: the owner meets no lock, no row flickers, and a store that nobody writes is never touched.
#[test]
fn agy_015_the_owner_writes_while_the_board_reads() {
    let scene = Scene::new("written");
    let path = scene.store(ROOT, ROOT_SQL, NOW - now());
    scene.store(GRAND, &(steps(&[]) + &trajectory(b"")), NOW - now());
    // A step of "Step " and six digits.
    let commit = "INSERT INTO steps (idx, step_type, metadata) \
        VALUES (10 + {n}, 15, X'0a0608e0e9bed506fa010b5374657020{hex}')";
    let root = scene.root.clone();
    let seen = |row: &Observed| number(row.state_detail.as_deref());
    hold(&Written { path: &path, commit, sids: &[ROOT, GRAND], seen }, || {
        Box::new(Antigravity::new(root.clone(), "/home/dev".into()))
    });
}

/// AGY-001: the root follows Gemini's home, authoritatively.
#[test]
fn agy_001_the_root() {
    let of = |vars: &[(&str, &str)]| candidates("antigravity.root", Platform::Linux, vars);
    let home = ("HOME", "/home/u");
    assert_eq!(of(&[home]), ["/home/u/.gemini/antigravity-cli"]);
    assert_eq!(of(&[home, ("GEMINI_CLI_HOME", "  ")]), ["/home/u/.gemini/antigravity-cli"]);
    assert_eq!(of(&[home, ("GEMINI_CLI_HOME", "/g")]), ["/g/.gemini/antigravity-cli"]);
}

/// AGY-017, DECK-020, TRUST-036: what a store refuses is on its row under the store's name, and once for the harness.
#[test]
fn agy_017_deck_020_what_is_refused_is_named_on_its_row_and_for_the_harness() {
    let mut scene = Scene::new("named");
    scene.file("conversations/text.db", "certainly not a database ".repeat(300), 5.0);
    scene.file("conversations/more.db", "certainly not a database ".repeat(300), 5.0);
    scene.store("half", &trajectory(b""), 5.0);
    let found = scene.read(false);
    let corrupt = Degrade { code: Code::StoreCorrupt, source: "text.db".into(), count: None };
    assert_eq!(row(&found.rows, "text").degrades, [corrupt]);
    let mut named: Vec<(&str, &str)> = found.degrades.iter().map(|d| (d.code.as_str(), d.source.as_str())).collect();
    named.sort_unstable();
    assert_eq!(named, [("schema-unknown", SOURCE), ("store-corrupt", SOURCE)]);
}

/// AGY-013, AGY-017: a generation that cannot be read withdraws the model and nothing else.
#[test]
fn agy_013_agy_017_an_unreadable_generation_costs_the_model_alone() {
    let mut scene = Scene::new("generation");
    let sql = steps(&[(15, step(NOW - 30.0, 100, "Working"))])
        + &trajectory(b"")
        + "CREATE TABLE gen_metadata (idx INTEGER PRIMARY KEY, data BLOB) WITHOUT ROWID; \
           INSERT INTO gen_metadata VALUES (1, X'aa010378797a');";
    scene.store("s", &sql, 5.0);
    scene.store("reshaped", &(steps(&[]) + &trajectory(b"") + "CREATE TABLE gen_metadata (idx INTEGER);"), 5.0);
    let rows = scene.rows(false);
    let s = row(&rows, "s");
    assert_eq!((s.model.as_ref(), s.state_detail.as_deref(), s.rate_per_min), (None, Some("Working"), Some(10)));
    assert!(!s.source_gaps.contains(&"message history") && !s.source_gaps.contains(&"session metadata"));
    assert_eq!((row(&rows, "reshaped").model.as_ref(), row(&rows, "reshaped").source_gaps.len()), (None, 0));
}

/// AGY-009, AGY-029, AGY-030: prompts and responses are told by their type alone; nothing here waits, names a vendor or
/// holds a quota.
#[test]
fn agy_009_agy_029_agy_030_types_of_steps_and_what_is_not_claimed() {
    let mut scene = Scene::new("types");
    let list = [(14, step(NOW - 90.0, 500, "")), (13, step(NOW - 80.0, 500, "")), (21, step(NOW - 70.0, 500, "Run"))];
    scene.store("s", &(steps(&list) + &trajectory(b"")), 5.0);
    scene.store("q", &(steps(&[(15, step(NOW - 80.0, 500, ""))]) + &trajectory(b"")), 5.0);
    let rows = scene.rows(false);
    let s = row(&rows, "s");
    assert_eq!((s.rate_per_min, s.evidence.turn_start), (Some(0), Some(NOW - 90.0)), "only a response's tokens count");
    assert_eq!((row(&rows, "q").rate_per_min, row(&rows, "q").turn.as_ref()), (Some(50), None));
    for row in &rows {
        assert_eq!((row.provider.as_ref(), row.blocked_since, row.state), (None, None, State::Working));
    }
    assert!(pass_at(NOW, false, |pass| scene.reader.quota(pass)).is_none());
}

/// AGY-026, AGY-027: a pill's model is its own, and rates are rounded one by one before they are summed.
#[test]
fn agy_026_agy_027_pills_have_their_own_models_and_rates() {
    let mut scene = Scene::new("pills");
    let generation = |name: &str| {
        let cell = hex(&bytes(1, bytes(21, name)));
        format!(
            "CREATE TABLE gen_metadata (idx INTEGER PRIMARY KEY, data BLOB); INSERT INTO gen_metadata VALUES (1, X'{cell}');"
        )
    };
    scene.store(ROOT, ROOT_SQL, 5.0);
    scene.store(
        "aaaaaaaa-1",
        &(child_of(ROOT, "maker", &[(15, step(NOW - 30.0, 45, ""))]) + &generation("Small")),
        10.0,
    );
    scene.store("bbbbbbbb-2", &child_of(ROOT, "", &[(15, step(NOW - 30.0, 45, ""))]), 89.0);
    scene.store("cccccccc-3", &child_of(ROOT, "quiet", &[(15, step(NOW - 30.0, 45, ""))]), 599.0);
    scene.store("dddddddd-4", &child_of(ROOT, "gone", &[(15, step(NOW - 30.0, 45, ""))]), 601.0);
    let rows = scene.rows(false);
    let root = row(&rows, ROOT);
    let pills: Vec<_> = root.subagents.iter().map(|child| (child.name.as_str(), child.model.as_deref())).collect();
    assert_eq!(pills, [("maker", Some("Small")), ("subagent bbbbbbbb", None)]);
    assert_eq!(root.rate_per_min, Some(60 + 4 + 4 + 4), "the one of 601 seconds ago adds nothing");
}

/// AGY-016, AGY-032: two failures record the last one, once.
#[test]
fn agy_016_agy_032_the_cause_is_recorded_once() {
    let mut scene = Scene::new("once");
    let path = scene.store(ROOT, ROOT_SQL, 20.0);
    let owner = Connection::open(&path).unwrap();
    owner
        .execute_batch("PRAGMA locking_mode=EXCLUSIVE; PRAGMA wal_autocheckpoint=0; UPDATE steps SET status = 4")
        .unwrap();
    let found = scene.read(false);
    let errors: Vec<&str> = found.store_errors.iter().map(|(_, why)| why.as_str()).collect();
    assert_eq!(errors, ["OperationalError: database is locked"], "and the log is never passed over");
    assert_eq!(found.degrades.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::StoreLocked]);
    drop(owner);
}
