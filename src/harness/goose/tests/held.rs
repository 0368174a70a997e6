//! The store while its owner writes or holds it, and stores that refuse a part of what is asked.

use super::*;
use crate::harness::sql::support::now;
use crate::harness::sql::writer::{Written, hold, number};
use crate::harness::testkit::WINDOW;
use crate::model::{Code, Degrade};

/// GOOSE-031: the owner meets no lock, no row flickers, and a store that nobody writes is never touched.
#[test]
fn goose_031_the_owner_writes_while_the_board_reads() {
    let home = Home::new("written");
    let at = |id: &str, age: i64| {
        format!("UPDATE sessions SET updated_at = datetime({}, 'unixepoch') WHERE id = '{id}';", now() as i64 - age)
    };
    drop(home.store(&(session("quiet", 0, "user", "") + &at("quiet", 3600) + &at(PARENT, 0))));
    let commit = format!(
        "INSERT INTO messages (session_id, role, created_timestamp, content_json) \
         VALUES ('{PARENT}', 'user', unixepoch(), '[{{\"type\":\"text\",\"text\":\"Prompt {{n}}\"}}]'); \
         INSERT INTO usage_ledger (session_id, created_timestamp, output_tokens) VALUES ('{PARENT}', unixepoch(), 10); \
         UPDATE sessions SET updated_at = strftime('%Y-%m-%d %H:%M:%f', 'now') WHERE id = '{PARENT}'"
    );
    let path = home.dir.0.join("sessions.db");
    let seen = |row: &Observed| number(Some(&row.last_prompt));
    hold(&Written { path: &path, commit: &commit, sids: &[PARENT, "quiet"], seen }, || {
        Box::new(Goose::new(vec![path.clone()], "/home/dev".into()))
    });
}

/// GOOSE-017, GOOSE-031, DECK-020, TRUST-036: under a lock the rows stand, with the gap and the cause named; a reader
/// that never read the store has the error alone, and the other database is read all the same.
#[test]
fn goose_017_goose_031_deck_020_rows_outlive_a_lock_and_say_so() {
    let mut home = Home::new("locked");
    let live =
        owner(&home.dir.0.join("sessions.db"), &STORE_SQL.replace("journal_mode = WAL", "journal_mode = DELETE"));
    drop(owner(
        &home.dir.0.join("other.db"),
        &format!("{STORE_SQL} DELETE FROM sessions; {}", session("beside", 5, "user", "")),
    ));
    let free = home.pass(NOW + 5.0, false);
    assert_eq!((sids(&free), row(&free, PARENT).degrades.len()), (vec![PARENT, "beside"], 0));
    live.execute_batch("BEGIN EXCLUSIVE; UPDATE sessions SET description = 'x';").unwrap();
    crate::harness::testkit::touch(&home.dir.0.join("sessions.db"), NOW + 6.0);
    for wait in [6.0, 7.0, 12.0] {
        let found = home.pass(NOW + wait, false);
        assert_eq!(sids(&found), [PARENT, "beside"]);
        let kept = row(&found, PARENT);
        assert_eq!((kept.title.as_deref(), kept.state), (Some("Fix flaky importer tests"), State::Working));
        let locked = Degrade { code: Code::StoreLocked, source: STORE.into(), count: None };
        assert_eq!((kept.source_gaps.as_slice(), &kept.degrades), (&["session metadata"][..], &vec![locked.clone()]));
        assert!(row(&found, "beside").source_gaps.is_empty());
        assert_eq!(found.degrades, [locked]);
        assert_eq!(found.store_errors[0].1, "OperationalError: database is locked");
    }
    let cold = home.cold(NOW + 6.0, false);
    assert_eq!((sids(&cold), codes(&cold)), (vec!["beside"], vec!["store-locked"]));
    assert_eq!(sids(&home.pass(NOW + WINDOW + 6.0, true)), ["beside"], "for one window at most");
    live.execute_batch("COMMIT").unwrap();
    let found = home.pass(NOW + WINDOW + 70.0, true);
    assert_eq!((row(&found, PARENT).title.as_deref(), found.degrades.len()), (Some("x"), 0));
}

/// GOOSE-018, DECK-020, TRUST-036: a table that is not there costs its own reading, named on the row and for the
/// harness.
#[test]
fn goose_018_deck_020_a_refused_part_is_named_on_its_rows() {
    let mut home = Home::new("refused");
    drop(home.store("DROP TABLE usage_ledger;"));
    let found = home.pass(NOW, false);
    let kept = row(&found, PARENT);
    assert_eq!((kept.last_prompt.as_str(), kept.rate_per_min), ("add retries to the importer", Some(0)));
    let refused = Degrade { code: Code::SchemaUnknown, source: STORE.into(), count: None };
    assert_eq!((kept.source_gaps.as_slice(), &kept.degrades), (&["token accounting"][..], &vec![refused.clone()]));
    assert_eq!(
        (found.degrades.as_slice(), found.store_errors[0].1.as_str()),
        (&[refused][..], "OperationalError: no such table: usage_ledger")
    );
}

/// GOOSE-019, DECK-020, TRUST-036: a session that nothing names costs itself, is counted and recorded.
#[test]
fn goose_019_deck_020_a_session_without_an_id_costs_itself() {
    let mut home = Home::new("nameless");
    let odd = "INSERT INTO sessions (id, working_dir) VALUES (NULL, '/x'), (X'', '/y');";
    drop(home.store(odd));
    let found = home.pass(NOW, false);
    assert_eq!((sids(&found), codes(&found), found.degrades[0].count), (vec![PARENT], vec!["record-skipped"], Some(2)));
    assert_eq!(found.store_errors[0].1, "ValueError: 2 sessions have no usable id");
}

/// GOOSE-003, GOOSE-017, DECK-020, TRUST-036: what stands where the database should be and is none is named,
/// discovered or not.
#[test]
fn goose_003_goose_017_something_else_under_its_name_is_named() {
    let mut home = Home::new("folder");
    std::fs::create_dir(home.dir.0.join("sessions.db")).unwrap();
    assert!(!home.reader.discovered());
    for _ in 0..2 {
        let found = pass_at(NOW, false, |pass| home.reader.absence(pass));
        assert_eq!((codes(&found), found.rows.len()), (vec!["store-unreadable"], 0));
        assert_eq!(found.store_errors[0].1, "OperationalError: not a regular file");
    }
    std::fs::remove_dir(home.dir.0.join("sessions.db")).unwrap();
    assert!(pass_at(NOW, false, |pass| home.reader.absence(pass)).degrades.is_empty());
    drop(home.store(""));
    assert!(home.reader.discovered() && sids(&home.pass(NOW, false)) == [PARENT]);
}
