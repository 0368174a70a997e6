//! The ledger while its owner writes or holds it, and where the store is looked for.

use super::*;
use crate::env::Platform;
use crate::harness::sql::support::now;
use crate::harness::sql::writer::{Written, hold};
use crate::harness::testkit::candidates;

/// COP-022: the owner meets no lock, no figure flickers, and a ledger that nobody writes is never touched.
#[test]
fn cop_022_the_owner_writes_while_the_board_reads() {
    let home = Home::new("written");
    for sid in ["quiet", "s"] {
        home.events(sid, &prompt(now(), "Go on"), now());
    }
    let path = home.ledger(LEDGER_SQL);
    let commit = "INSERT INTO assistant_usage_events (session_id, model, total_nano_aiu, created_at) \
        VALUES ('s', 'gpt', 10000000, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))";
    // A hundredth of a unit each.
    let seen = |row: &Observed| {
        let units = row.consumption.as_deref().expect("a figure").trim_end_matches(" AIU");
        units.replace('.', "").parse().expect("digits")
    };
    let root = home.dir.0.clone();
    hold(&Written { path: &path, commit, sids: &["quiet", "s"], seen }, || {
        Box::new(Copilot::new(root.clone(), "/home/dev".into()))
    });
}

/// COP-001: the root, which a variable moves authoritatively.
#[test]
fn cop_001_the_root() {
    let of = |vars: &[(&str, &str)]| candidates("copilot.root", Platform::Linux, vars);
    let home = ("HOME", "/home/u");
    assert_eq!(of(&[home]), ["/home/u/.copilot"]);
    assert_eq!(of(&[home, ("COPILOT_HOME", " ")]), ["/home/u/.copilot"]);
    assert_eq!(of(&[home, ("COPILOT_HOME", "/c")]), ["/c"]);
}

/// COP-029, DECK-020, TRUST-036: a held ledger keeps its figures for a while and says so; one that was never read has
/// none.
#[test]
fn cop_029_deck_020_a_lock_takes_no_figure_away() {
    let mut home = Home::new("held");
    home.events("s", &prompt(NOW - 5.0, "Go on"), NOW - 5.0);
    let sql = charges(&[("'s'", "NULL", "'m'", "5000000000", &format!("'{}'", iso(NOW - 60.0)))]);
    let path = home.ledger(&sql);
    let told = |found: &Collected| (found.rows[0].consumption.clone(), found.rows[0].model.clone());
    let figures = (Some("5.00 AIU".to_owned()), Some("m".to_owned()));
    assert_eq!(told(&home.at(NOW, false)), figures);
    let owner = Connection::open(&path).unwrap();
    owner.execute_batch("BEGIN EXCLUSIVE; UPDATE assistant_usage_events SET total_nano_aiu = 7000000000").unwrap();
    touch(&path, NOW + 1.0);
    let locked = Degrade { code: Code::StoreLocked, source: "session-store.db".into(), count: None };
    for wait in [1.0, 2.0, 9.0] {
        let found = home.at(NOW + wait, false);
        assert_eq!(told(&found), figures);
        assert_eq!((&found.rows[0].degrades, &found.degrades), (&vec![locked.clone()], &vec![locked.clone()]));
        assert_eq!(found.rows[0].source_gaps, ["token accounting"]);
        assert_eq!(found.store_errors[0].1, "OperationalError: database is locked");
    }
    let cold = pass(&mut Copilot::new(home.dir.0.clone(), "/home/dev".into()), NOW + 1.0, false);
    assert_eq!((told(&cold), cold.rows[0].source_gaps.as_slice()), ((None, None), &["token accounting"][..]));
    owner.execute_batch("COMMIT").unwrap();
    let found = home.at(NOW + 60.0, false);
    assert_eq!(told(&found), (Some("7.00 AIU".to_owned()), Some("m".to_owned())));
    assert!(found.degrades.is_empty() && found.rows[0].source_gaps.is_empty());
}

/// COP-019, COP-043: a long run without any request is never red, and a request behind the bound is lost, not invented.
#[test]
fn cop_019_cop_043_nothing_is_waited_for_that_was_not_asked() {
    let mut home = Home::new("long");
    let work =
        event("tool.execution_start", NOW - 60.0, json!({"toolName": "bash", "arguments": {"x": "y".repeat(4096)}}));
    home.events("allowed", &(prompt(NOW - 300.0, "Go") + &work.repeat(300)), NOW - 5.0);
    let filler = event("assistant.message", NOW - 200.0, json!({"content": "y".repeat(1 << 20)})).repeat(9);
    home.events("behind", &(prompt(NOW - 300.0, "Go") + &asked(NOW - 290.0, "r", "shell") + &filler), NOW - 5.0);
    home.events("late answer", &(filler + &answered(NOW - 5.0, "r")), NOW - 5.0);
    for row in home.at(NOW, false).rows {
        assert_eq!((row.state, row.blocked_since), (State::Working, None), "{}", row.sid);
    }
}

/// COP-024, COP-028: a row that cannot be counted withdraws the total and its own session's figure, and nothing else.
#[test]
fn cop_024_cop_028_what_cannot_be_counted_costs_its_session_and_the_total() {
    let mut home = Home::new("withdrawn");
    for sid in ["a", "b"] {
        home.events(sid, &prompt(NOW - 5.0, "Go on"), NOW - 5.0);
    }
    let soon = format!("'{}'", iso(NOW - 60.0));
    let odd = |rows: &[(&str, &str, &str, &str, &str)]| charges(rows);
    let path = home.ledger(&odd(&[
        ("'a'", "NULL", "'m'", "1000000000", &soon),
        ("'b'", "NULL", "'m'", "2000000000", &soon),
        ("NULL", "NULL", "'m'", "'odd'", &soon),
    ]));
    let told = |home: &mut Home| {
        let found = home.at(NOW, false);
        let of = |sid: &str| row(&found.rows, sid).consumption.clone();
        (of("a"), of("b"), home.usage(NOW).map(|(_, used)| used))
    };
    let units = |n: &str| Some(format!("{n} AIU"));
    assert_eq!(told(&mut home), (units("1.00"), units("2.00"), None), "of no session: the total alone");
    let owner = Connection::open(path).unwrap();
    owner.execute_batch("UPDATE assistant_usage_events SET session_id = 'a' WHERE session_id IS NULL").unwrap();
    assert_eq!(told(&mut home), (None, units("2.00"), None));
    owner.execute_batch("UPDATE assistant_usage_events SET total_nano_aiu = 3 WHERE total_nano_aiu = 'odd'").unwrap();
    assert_eq!(told(&mut home), (units("1.00"), units("2.00"), units("3.00")));
}

/// DECK-020, TRUST-036: events of a newer CLI than any sample, and events that were read in part, are named on the
/// row and once for the harness.
#[test]
fn deck_020_version_and_bound_are_named_on_the_row_and_for_the_harness() {
    let mut home = Home::new("named");
    let start = |version: &str| event("session.start", NOW - 90.0, json!({"copilotVersion": version}));
    home.events("new", &(start("9.0.0") + &prompt(NOW - 60.0, "Go")), NOW - 5.0);
    home.events("known", &(start("1.0.78") + &prompt(NOW - 60.0, "Go")), NOW - 5.0);
    let filler = event("assistant.message", NOW - 50.0, json!({"content": "y".repeat(1 << 20)})).repeat(9);
    home.events("long", &(start("9.0.0") + &prompt(NOW - 60.0, "Go") + &filler), NOW - 5.0);
    let found = home.at(NOW, false);
    let of = |sid: &str| row(&found.rows, sid).degrades.iter().map(|d| d.code.as_str()).collect::<Vec<_>>();
    assert_eq!((of("new"), of("known")), (vec!["version-unseen"], vec![]));
    assert_eq!(of("long"), ["read-in-part", "version-unseen"], "the first line is read wherever reading began");
    let mut named: Vec<(&str, &str)> = found.degrades.iter().map(|d| (d.code.as_str(), d.source.as_str())).collect();
    named.sort_unstable();
    assert_eq!(named, [("read-in-part", SOURCE), ("version-unseen", SOURCE)]);
}
