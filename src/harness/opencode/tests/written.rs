//! The store while its owner writes or holds it.

use super::*;
use crate::harness::sql::support::now;
use crate::harness::sql::writer::{Written, hold, number};

/// OC-039: the owner meets no lock, no row flickers, and a store that nobody writes is never touched.
#[test]
fn oc_039_the_owner_writes_while_the_board_reads() {
    let home = Home::new("written");
    let quiet = session(1, 0, &format!("time_updated = {}", (now() as i64 - 3600) * 1000));
    drop(
        home.store(&format!(
            "UPDATE session SET time_updated = {} WHERE id = '{PARENT}'; {quiet}",
            now() as i64 * 1000
        )),
    );
    let ms = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
    let commit = format!(
        "INSERT INTO message VALUES (printf('w%06d', {{n}}), '{PARENT}', {ms}, 0, '{USER}'); \
         INSERT INTO part VALUES (printf('p%06d', {{n}}), printf('w%06d', {{n}}), '', 0, 0, '{{\"type\":\"text\",\"text\":\"Prompt {{n}}\"}}'); \
         UPDATE session SET time_updated = {ms} WHERE id = '{PARENT}'"
    );
    let (path, data) = (home.db("opencode.db"), home.dir.0.join("data"));
    let seen = |row: &Observed| number(Some(&row.last_prompt));
    hold(&Written { path: &path, commit: &commit, sids: &["ses_1", PARENT], seen }, || {
        Box::new(OpenCode::new(vec![data.clone()], "/home/dev".into()))
    });
}

/// OC-028, DECK-020, TRUST-036: rows outlive a lock, name it, and are gone with the window at the latest.
#[test]
fn oc_028_deck_020_rows_outlive_a_lock_and_say_so() {
    let mut home = Home::new("locked");
    let live = owner(&home.db("opencode.db"), &STORE_SQL.replace("journal_mode = WAL", "journal_mode = DELETE"));
    assert_eq!(row(&home.now(), PARENT).source_gaps.len(), 0);
    live.execute_batch("BEGIN EXCLUSIVE; UPDATE session SET title = 'x'; ").unwrap();
    // The journal beside it is no sign that the store moved; make one.
    let touched = std::fs::File::options().append(true).open(home.db("opencode.db")).unwrap();
    touched.set_modified(std::time::SystemTime::now()).unwrap();
    for wait in [10.0, 20.0, 40.0] {
        let found = home.pass(NOW + wait, false);
        let kept = row(&found, PARENT);
        assert_eq!((kept.source_gaps.as_slice(), codes(&found)), (&["session metadata"][..], vec!["store-locked"]));
        assert_eq!(
            (kept.degrades[0].code, kept.title.as_deref()),
            (Code::StoreLocked, Some("Importer skips empty rows"))
        );
        assert_eq!(found.store_errors[0].1, "OperationalError: database is locked");
    }
    let cold = home.cold(NOW + 10.0, false);
    assert_eq!((cold.rows.len(), codes(&cold)), (0, vec!["store-locked"]), "a reader that never read it has no rows");
    assert!(home.pass(NOW + WINDOW + 6.0, true).rows.is_empty(), "for one window at most");
    live.execute_batch("COMMIT").unwrap();
    assert_eq!(row(&home.pass(NOW + WINDOW + 70.0, true), PARENT).title.as_deref(), Some("x"));
}

/// OC-025, DECK-020, TRUST-036: what a store refuses is named on the rows it touches, for the harness, and with its
/// cause.
#[test]
fn oc_025_deck_020_a_refused_part_is_named_on_its_rows() {
    let mut home = Home::new("refused");
    drop(home.store(&format!("DROP TABLE part; {}", session(1, 90_000, ""))));
    let found = home.pass(NOW, true);
    let parent = row(&found, PARENT);
    assert_eq!((parent.source_gaps.as_slice(), parent.last_prompt.as_str()), (&["message history"][..], ""));
    assert!(parent.turn.is_some(), "the turn is kept");
    let refused = crate::model::Degrade { code: Code::SchemaUnknown, source: "opencode.db".into(), count: None };
    assert_eq!((parent.degrades.as_slice(), found.degrades.as_slice()), (&[refused.clone()][..], &[refused][..]));
    assert_eq!(row(&found, "ses_1").degrades, [], "a row of which no message is wanted lacks none");
    assert_eq!(found.store_errors[0].1, "OperationalError: no such table: part");
    drop(owner(&home.db("opencode.db"), "DROP TABLE message;"));
    let found = home.now();
    let parent = row(&found, PARENT);
    assert_eq!((parent.source_gaps.as_slice(), parent.turn.as_ref()), (&["message history"][..], None));
    assert_eq!(
        found.store_errors.iter().map(|(_, why)| why.as_str()).collect::<Vec<_>>(),
        ["OperationalError: no such table: message", "OperationalError: no such table: part"]
    );
}
