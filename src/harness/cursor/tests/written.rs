//! Stores while their owner writes or holds them, and where they are looked for.

use super::*;
use crate::env::Platform;
use crate::harness::sql::support::{now, pass_at};
use crate::harness::sql::writer::{Written, hold, number};
use crate::harness::testkit::candidates;

/// CUR-005: the owner meets no lock, no row flickers, and a store that nobody writes is never touched.
#[test]
fn cur_005_the_owner_writes_while_the_board_reads() {
    let home = Home::new("written");
    for sid in ["quiet", "s"] {
        home.named(sid, &[], THEN - now());
    }
    let commit = "INSERT INTO blobs VALUES ('{n}', zeroblob(2000) || X'{hex}'); \
        UPDATE meta SET value = '{\"name\":\"Name {n}\"}'";
    let (path, root) = (home.path("s"), home.dir.0.clone());
    let seen = |row: &Observed| number(row.title.as_deref());
    hold(&Written { path: &path, commit, sids: &["quiet", "s"], seen }, || {
        Box::new(Cursor::new(root.join("chats"), root.clone()))
    });
}

/// CUR-001, CUR-003: one root on every platform, no variable moves it, and the folder's name is the id, whole.
#[test]
fn cur_001_cur_003_the_root_and_the_id() {
    for (platform, vars, want) in [
        (Platform::Linux, [("HOME", "/home/u"), ("CURSOR_CONFIG_DIR", "/moved")], "/home/u/.cursor/chats"),
        (Platform::MacOs, [("HOME", "/Users/u"), ("XDG_CONFIG_HOME", "/moved")], "/Users/u/.cursor/chats"),
        (Platform::Windows, [("USERPROFILE", "C:\\u"), ("APPDATA", "C:\\r")], "C:\\u\\.cursor\\chats"),
    ] {
        assert_eq!(candidates("cursor.chats", platform, &vars), [want]);
    }
    let mut home = Home::new("ids");
    home.named(PARENT, &[], 10.0);
    // Neither less nor more than two folders deep.
    for odd in ["chats/store.db", "chats/ws1/store.db", "chats/ws1/deep/er/store.db"] {
        drop(owner(&home.dir.0.join(odd), SCHEMA));
    }
    assert_eq!((sids(&home.then()), PARENT.len()), (vec![PARENT], 36));
}

/// CUR-014, CUR-022, CUR-030, DECK-020, TRUST-036: what a store refuses is named on its row, for the harness, and
/// with its cause.
#[test]
fn cur_030_deck_020_a_refused_part_is_named_on_its_row() {
    let mut home = Home::new("refused");
    let payload = format!(r#"{{"name":"Refuses","latestRootBlobId":"{}"}}"#, "a".repeat(64));
    home.chat("s", &payload, &[], 5.0);
    home.named("good", &[], 5.0);
    home.open("s").execute_batch("ALTER TABLE blobs RENAME COLUMN data TO other").unwrap();
    touch(&home.path("s"), THEN - 5.0);
    let found = home.then();
    let refused = Degrade { code: Code::SchemaUnknown, source: STORE.into(), count: None };
    assert_eq!(row(&found, "s").source_gaps, ["block state", "model"]);
    assert_eq!((&row(&found, "s").degrades, &found.degrades), (&vec![refused.clone()], &vec![refused]));
    assert_eq!(row(&found, "good").degrades, []);
    let why: Vec<&str> = found.store_errors.iter().map(|(_, why)| why.as_str()).collect();
    assert!(!why.is_empty() && why.iter().all(|why| *why == "OperationalError: no such column: data"), "{why:?}");
}

/// DECK-020, TRUST-036, CUR-002: a folder that is no store is named although nothing is discovered.
#[test]
fn deck_020_cur_002_something_else_under_its_name_is_named() {
    let mut home = Home::new("absent");
    std::fs::create_dir_all(home.path("s")).unwrap();
    assert!(!home.reader.discovered());
    let found = pass_at(THEN, false, |pass| home.reader.absence(pass));
    assert_eq!((codes(&found), found.rows.len()), (vec!["store-unreadable"], 0));
    assert_eq!(found.store_errors[0].1, "OperationalError: not a regular file");
}

/// CUR-023, CUR-031: a question, a plan or an MCP prompt in the blobs claims nothing, and no quota is read from disk.
#[test]
fn cur_023_cur_031_what_was_not_measured_claims_nothing() {
    let mut home = Home::new("unmeasured");
    let asks: [&[u8]; 3] = [
        br#"{"pendingQuestion":{"id":"q"},"pendingPlanDecision":{"x":1}}"#,
        br#"{"mcpToolApproval":{"pending":true},"pendingToolCallStartedAtMs":1789899960123}"#,
        br#"{"usage":{"used":3,"limit":10}}"#,
    ];
    home.named("s", &asks.map(<[u8]>::to_vec), 5.0);
    assert_eq!(row(&home.then(), "s").state, State::Working);
    assert!(pass_at(THEN, false, |pass| home.reader.quota(pass)).is_none());
}
