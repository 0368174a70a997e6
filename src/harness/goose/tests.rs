//! Rows of invented stores, shaped as Goose 1.47.0 makes them.

mod held;
mod words;

use super::*;
use crate::harness::sql::support::{codes, collect, owner, pass_at, published, row, sids};
use crate::harness::testkit::{NOW, Scratch};
use crate::model::{Observed, State};
use rusqlite::Connection;

const STORE_SQL: &str = include_str!("../../../fixtures/goose/1.47.0/store.sql");
const PARENT: &str = "20260920_7";

struct Home {
    dir: Scratch,
    reader: Goose,
}

impl Home {
    fn new(name: &str) -> Home {
        let dir = Scratch::new(&format!("goose-{name}"));
        let reader = Goose::new(vec![dir.0.join("sessions.db"), dir.0.join("other.db")], "/home/dev".into());
        Home { dir, reader }
    }

    fn store(&self, more: &str) -> Connection {
        owner(&self.dir.0.join("sessions.db"), &format!("{STORE_SQL}\n{more}"))
    }

    fn empty(&self, more: &str) -> Connection {
        self.store(&format!("DELETE FROM sessions; DELETE FROM messages; DELETE FROM usage_ledger; {more}"))
    }

    fn pass(&mut self, now: f64, all: bool) -> Collected {
        collect(&mut self.reader, now, all)
    }

    fn cold(&self, now: f64, all: bool) -> Collected {
        let paths = vec![self.dir.0.join("sessions.db"), self.dir.0.join("other.db")];
        collect(&mut Goose::new(paths, "/home/dev".into()), now, all)
    }
}

/// A session last written `age` seconds before [`NOW`].
fn session(id: &str, age: i64, kind: &str, parent: &str) -> String {
    format!(
        "INSERT INTO sessions (id, description, session_type, working_dir, updated_at, parent_session_id) VALUES \
         ('{id}', 'About {id}', '{kind}', '/home/dev/src/atlas', datetime({}, 'unixepoch'), nullif('{parent}', ''));",
        NOW as i64 - age
    )
}

fn message(session: &str, role: &str, at: f64, content: &str) -> String {
    format!(
        "INSERT INTO messages (session_id, role, created_timestamp, content_json) VALUES ('{session}', '{role}', {at}, '{content}');"
    )
}

fn text(text: &str) -> String {
    format!(r#"[{{"type":"text","text":"{text}"}}]"#)
}

/// GOOSE-010, GOOSE-011, GOOSE-012, GOOSE-013, GOOSE-014, GOOSE-015, GOOSE-016, GOOSE-024: a complete row.
#[test]
fn goose_010_to_015_goose_024_the_fixture_gives_a_complete_row() {
    let mut home = Home::new("complete");
    assert!(!home.reader.discovered());
    let live = home.store("");
    assert!(home.reader.discovered());
    let found = home.pass(NOW + 5.0, false);
    assert_eq!(sids(&found), [PARENT]);
    let row = row(&found, PARENT);
    assert_eq!((row.title.as_deref(), row.project.as_str()), (Some("Fix flaky importer tests"), "src/atlas"));
    assert_eq!((row.last_prompt.as_str(), row.rate_per_min), ("add retries to the importer", Some(41)));
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Working, Some("running 1 subagent")));
    assert_eq!((row.subagents[0].name.as_str(), row.subagents[0].model.as_ref()), ("helper: read logs", None));
    assert_eq!(row.evidence.turn_start, Some(1_789_898_380.0), "a tool's result starts no turn");
    assert!(row.source_gaps.is_empty() && row.model.is_none());
    assert!(!format!("{:?}", found.rows).contains("NEVER-SHOWN"), "TRUST-028");
    drop(live);
}

/// GOOSE-008, GOOSE-009, GOOSE-021, GOOSE-022, GOOSE-023: kinds in any spelling, children of any generation.
#[test]
fn goose_008_goose_009_goose_021_to_023_kinds_in_any_spelling() {
    let mut home = Home::new("kinds");
    let mut sql =
        [session("p", 90_000, "user", ""), session("sch", 5, "scheduled", ""), session("new", 5, "brand", "")].concat();
    for kind in ["hidden", "Terminal", "gate_way", "ACP"] {
        sql += &session(kind, 5, kind, "");
    }
    sql += &session("k1", 20, "sub_agent", "p");
    sql += &session("k2", 10, "SubAgent", "k1");
    sql += &session("k3", 200, "subagent", "p");
    sql += &session("lost", 5, "sub_agent", "");
    sql += &session("hid", 5, "sub_agent", "ACP");
    sql += &session("arch", 5, "user", "");
    sql += "UPDATE sessions SET archived_at = '2026-01-01 00:00:00' WHERE id = 'arch';";
    drop(home.empty(&sql));
    for all in [false, true] {
        let found = home.pass(NOW, all);
        assert_eq!(sids(&found), ["new", "p", "sch"]);
        let parent = row(&found, "p");
        assert_eq!((parent.active, parent.state_detail.as_deref()), (true, Some("running 2 subagents")));
        assert_eq!(parent.subagents.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["About k2", "About k1"]);
    }
}

/// GOOSE-006, GOOSE-007, GOOSE-011, GOOSE-028: each session's own time, as text, in UTC.
#[test]
fn goose_006_goose_007_goose_011_goose_028_times() {
    let mut home = Home::new("times");
    let mut sql: String = ["quiet", "stale", "odd", "null", "num", "iso"].map(|id| session(id, 5, "user", "")).concat();
    for (id, at) in [
        ("quiet", "'2026-09-20 09:57:00'"),
        ("stale", "'2026-09-18 10:00:00'"),
        ("odd", "'now'"),
        ("null", "NULL"),
        ("num", "1789898400"),
        ("iso", "'2026-09-20T12:00:00.5+02:00'"),
    ] {
        sql += &format!("UPDATE sessions SET updated_at = {at} WHERE id = '{id}';");
    }
    drop(home.empty(&(sql + &message("stale", "user", NOW, &text("old")))));
    let found = home.pass(NOW + 1.0, false);
    assert_eq!(sids(&found), ["iso", "quiet"]);
    assert_eq!((row(&found, "iso").last_activity, row(&found, "quiet").state), (NOW + 0.5, State::Idle));
    let all = home.pass(NOW + 1.0, true);
    assert_eq!(all.rows.len(), 6);
    assert_eq!((row(&all, "stale").last_prompt.as_str(), row(&all, "num").last_activity), ("", 0.0));
}

/// GOOSE-013, GOOSE-025, GOOSE-026, GOOSE-033: prompts, stamps in either unit, redaction.
#[test]
fn goose_013_goose_025_goose_026_goose_033_prompts_of_every_shape() {
    let mut home = Home::new("prompts");
    let mut sql = session("s", 5, "user", "") + &message("s", "user", NOW - 100.0, &text("The prompt"));
    for content in ["null", "{", &"[".repeat(2000), "7", r#"[null,4,{"type":9}]"#, r#"[{"type":"tool_response"}]"#] {
        sql += &message("s", "user", NOW - 90.0, content);
    }
    drop(home.empty(&(sql + "UPDATE sessions SET name = 'ghp_' || hex(zeroblob(18));")));
    let found = home.pass(NOW, false);
    assert_eq!(
        (row(&found, "s").last_prompt.as_str(), row(&found, "s").title.as_deref()),
        ("The prompt", Some("ghp_…REDACTED"))
    );
    let live = Connection::open(home.dir.0.join("sessions.db")).unwrap();
    live.execute_batch(&message("s", "user", (NOW - 20.0) * 1000.0, r#""In milliseconds""#)).unwrap();
    let found = home.pass(NOW, false);
    assert_eq!(
        (row(&found, "s").last_prompt.as_str(), row(&found, "s").evidence.turn_start),
        ("In milliseconds", Some(NOW - 20.0))
    );
}

/// GOOSE-014, GOOSE-027: output of ten minutes, the newest 200 entries, no child's.
#[test]
fn goose_014_goose_027_the_rate_of_the_newest_entries() {
    let mut home = Home::new("rate");
    let entry = |s: &str, age: f64, n: &str| {
        format!(
            "INSERT INTO usage_ledger (session_id, created_timestamp, output_tokens) VALUES ('{s}', {}, {n});",
            NOW - age
        )
    };
    let mut sql = session("a", 5, "user", "") + &session("b", 5, "user", "") + &session("k", 5, "sub_agent", "a");
    sql += &[entry("a", 60.0, "1000"), entry("a", 700.0, "9000"), entry("a", 9.0, "NULL"), entry("k", 9.0, "5000")]
        .concat();
    sql += &(0..300).map(|i| entry("b", f64::from(i), "10")).collect::<String>();
    drop(home.empty(&sql));
    let found = home.pass(NOW, false);
    assert_eq!((row(&found, "a").rate_per_min, row(&found, "b").rate_per_min), (Some(100), Some(200)));
}

/// GOOSE-005, GOOSE-017, GOOSE-018, GOOSE-020: an old database beside a broken one.
#[test]
fn goose_005_goose_017_goose_018_goose_020_older_and_broken_databases() {
    let mut home = Home::new("schemas");
    drop(owner(
        &home.dir.0.join("other.db"),
        "CREATE TABLE sessions (id TEXT, description TEXT, working_dir TEXT, updated_at TEXT); INSERT INTO sessions VALUES ('20250101_1', 'Old', '/w/acme/etl', '2026-09-20 09:59:58')",
    ));
    for (bytes, code) in [(b"certainly not a database ".repeat(200), "store-corrupt"), (Vec::new(), "schema-unknown")] {
        std::fs::write(home.dir.0.join("sessions.db"), bytes).unwrap();
        let found = home.pass(NOW, false);
        let old = row(&found, "20250101_1");
        assert_eq!(old.source_gaps, ["message history", "token accounting"]);
        assert_eq!((old.turn.as_ref(), old.last_prompt.as_str(), old.rate_per_min), (None, "", Some(0)));
        assert_eq!((codes(&found)[0], found.degrades[0].source.as_str()), (code, STORE));
    }
}

/// GOOSE-031, FIELD-042: what only the log holds is seen, and a followed store reads like a new one.
#[test]
fn goose_031_trust_081_a_followed_store_reads_like_a_new_one() {
    let mut home = Home::new("follow");
    let live = home.store("PRAGMA wal_autocheckpoint = 0;");
    let steps = [
        message(PARENT, "user", NOW + 1.0, &text("Second, in the log")),
        message(PARENT, "assistant", NOW + 2.0, "[]"),
        "DELETE FROM messages WHERE role = 'assistant';".into(),
        message(PARENT, "user", NOW - 50.0, &text("late")),
        session("x", 0, "user", "") + &message("x", "user", NOW, &text("hello")),
        "DELETE FROM messages;".into(),
        "DROP TABLE usage_ledger;".into(),
    ];
    for (i, step) in steps.iter().enumerate() {
        live.execute_batch(step).unwrap();
        for all in [false, true, false] {
            assert_eq!(published(&home.pass(NOW + 3.0, all)), published(&home.cold(NOW + 3.0, all)), "step {i}");
        }
    }
}

/// GOOSE-004: what must never be read is named nowhere.
#[test]
fn goose_004_what_must_never_be_read_is_named_nowhere() {
    let code = [include_str!("mod.rs"), include_str!("read.rs"), include_str!("session.rs")].concat();
    for never in [
        "extension_data",
        "recipe_json",
        "user_recipe_values",
        "metadata_json",
        "tokens FROM messages",
        "goose_mode",
        "secrets",
    ] {
        assert!(!code.contains(never), "{never}");
    }
}

#[test]
#[ignore = "prints figures; CARGENTO_SCALE_HOME names a home to read"]
fn figures() {
    crate::harness::sql::support::figures(|home| {
        Box::new(Goose::new(vec![home.join(".local/share/goose/sessions/sessions.db")], home.to_path_buf()))
    });
}
