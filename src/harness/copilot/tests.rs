//! The reader at its boundary: a store in a folder, a clock that is passed, the rows that come out.

mod held;

use super::*;
use crate::harness::testkit::{NOW, Scratch, WINDOW, append, iso, one, pass, text, touch};
use crate::surface::watch::{Dirty, Watch};
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::{Value, json};

const SID: &str = "cb3dfc76-2f57-4d5c-8a4c-3b2b7a4f1c01";
const EVENTS: &str = include_str!("../../../fixtures/copilot/1.0.78/events.jsonl");
const LEDGER_SQL: &str = include_str!("../../../fixtures/copilot/1.0.78/ledger.sql");

struct Home {
    dir: Scratch,
    reader: Copilot,
}

impl Home {
    fn new(name: &str) -> Home {
        let dir = Scratch::new(&format!("copilot-{name}"));
        let reader = Copilot::new(dir.0.clone(), "/home/dev".into());
        Home { dir, reader }
    }

    fn events(&self, sid: &str, lines: &str, mtime: f64) -> PathBuf {
        self.dir.write(&format!("session-state/{sid}/events.jsonl"), lines, mtime)
    }

    fn ledger(&self, sql: &str) -> PathBuf {
        let path = self.dir.0.join("session-store.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        path
    }

    fn at(&mut self, now: f64, all: bool) -> Collected {
        pass(&mut self.reader, now, all)
    }

    fn usage(&self, now: f64) -> Option<(i64, String)> {
        let (dirty, watch) = (Dirty::default(), Watch::off());
        let pass = Pass { now, window: WINDOW, all: false, dirty: &dirty, sweep: false, watch: &watch };
        self.reader.usage(&pass).map(|usage| (usage.as_of, usage.used))
    }
}

fn event(kind: &str, at: f64, data: Value) -> String {
    format!("{}\n", json!({"type": kind, "timestamp": iso(at), "data": data}))
}

fn prompt(at: f64, words: &str) -> String {
    event("user.message", at, json!({"content": words}))
}

fn asked(at: f64, id: &str, kind: &str) -> String {
    event("permission.requested", at, json!({"requestId": id, "permissionRequest": {"kind": kind}}))
}

fn answered(at: f64, id: &str) -> String {
    event("permission.completed", at, json!({"requestId": id, "result": {"kind": "approved"}}))
}

fn agent(kind: &str, at: f64, id: &str) -> String {
    format!("{}\n", json!({"type": kind, "timestamp": iso(at), "agentId": id, "id": "e", "data": {"name": id}}))
}

fn row<'r>(rows: &'r [Observed], sid: &str) -> &'r Observed {
    rows.iter().find(|row| row.sid == sid).unwrap_or_else(|| panic!("no row {sid} in {rows:?}"))
}

fn names(row: &Observed) -> Vec<&str> {
    row.subagents.iter().map(|subagent| subagent.name.as_str()).collect()
}

/// COP-002, COP-005, COP-007, COP-009, COP-013, COP-021, COP-026, COP-027, COP-028, COP-042: a complete row and its
/// tile.
#[test]
fn cop_001_to_021_the_fixture_makes_one_complete_row_and_says_nothing_else() {
    let mut home = Home::new("fixture");
    let path = home.events(SID, EVENTS, NOW + 120.0);
    home.ledger(LEDGER_SQL);
    let row = one(&mut home.reader, NOW + 130.0);
    assert_eq!((row.sid.as_str(), row.project.as_str()), (SID, "src/atlas"));
    assert_eq!(
        (row.title.as_deref(), row.last_prompt.as_str()),
        (Some("Run the importer tests"), "Run the importer tests")
    );
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Working, Some("running bash")));
    assert_eq!((row.rate_per_min, &row.turn, row.subagents.len()), (None, &None, 0));
    assert_eq!((row.started_at, row.last_activity, row.own_activity), (Some(NOW), NOW + 120.0, 0.0));
    assert_eq!(row.evidence.turn_durations, [67.0], "from the prompt to the end of the task (COP-013)");
    assert_eq!((row.consumption.as_deref(), row.model.as_deref()), (Some("16.61 AIU"), Some("gpt-5.6-terra")));
    assert!(row.degrades.is_empty() && row.source_gaps.is_empty());
    let kept = format!("{:?}", home.reader.sessions[&path].records());
    assert!(!text(&row).contains("MARK") && !kept.contains("MARK"), "{kept}");
    assert_eq!(home.usage(NOW + 130.0), Some((NOW as i64 + 50, "17.61 AIU".into())), "COP-028, COP-042");
}

/// COP-002, COP-003, COP-004, COP-006, COP-038: sessions of both directories.
#[test]
fn cop_003_cop_004_cop_006_cop_038_sessions_of_both_directories() {
    let mut home = Home::new("both");
    assert!(!home.reader.discovered());
    home.dir.write("history-session-state/old/events.jsonl", prompt(NOW - 5.0, "Old place"), NOW - 5.0);
    home.dir.write("history-session-state/both/events.jsonl", prompt(NOW - 5.0, "Same moment, older place"), NOW - 5.0);
    home.dir.write("history-session-state/newer/events.jsonl", prompt(NOW - 5.0, "Written last"), NOW - 5.0);
    home.events("both", &prompt(NOW - 5.0, "Same moment"), NOW - 5.0);
    home.events("newer", &prompt(NOW - 9.0, "Written before"), NOW - 90_000.0);
    std::fs::create_dir_all(home.dir.0.join("session-state/bare")).unwrap();
    std::fs::create_dir_all(home.dir.0.join("session-state/dir/events.jsonl")).unwrap();
    for all in [false, true] {
        let rows = home.at(NOW, all).rows;
        let mut told: Vec<(&str, Option<&str>)> = rows.iter().map(|r| (r.sid.as_str(), r.title.as_deref())).collect();
        told.sort_unstable();
        let want = [("both", Some("Same moment")), ("newer", Some("Written last")), ("old", Some("Old place"))];
        assert_eq!(told, want, "all {all}");
    }
}

/// COP-014, COP-017, COP-031, COP-032, COP-034, COP-035: an answer or a new prompt ends a wait.
#[test]
fn cop_014_cop_017_cop_031_cop_032_cop_035_only_an_answer_or_a_new_prompt_ends_a_wait() {
    let mut home = Home::new("wait");
    let text = prompt(NOW - 60.0, "Go") + &asked(NOW - 40.0, "a", "shell") + &asked(NOW - 20.0, "b", "url");
    let path = home.events("s", &text, NOW - 20.0);
    let told = |home: &mut Home| {
        let row = one(&mut home.reader, NOW);
        (row.state, row.blocked_since, row.state_detail.unwrap_or_default())
    };
    let wait = |since: f64, detail: &str| (State::NeedsInput, Some(since), detail.to_owned());
    assert_eq!(told(&mut home), wait(NOW - 40.0, "permission request (shell), waiting 40s"));
    append(&path, answered(NOW - 10.0, "a") + &answered(NOW - 9.0, "unknown"), NOW - 10.0);
    assert_eq!(told(&mut home), wait(NOW - 20.0, "permission request (url), waiting 20s"));
    append(&path, event("assistant.message", NOW - 8.0, json!({})), NOW - 8.0);
    assert_eq!(told(&mut home).0, State::NeedsInput, "other events end nothing");
    append(&path, prompt(NOW - 5.0, "Never mind"), NOW - 5.0);
    assert_eq!(told(&mut home), (State::Working, None, "generating…".into()));
    append(&path, asked(NOW - 4.0, "c", "memory"), NOW - 4.0);
    assert_eq!(told(&mut home), wait(NOW - 4.0, "permission request, waiting 4s"));
    append(&path, answered(NOW - 3.0, "c"), NOW - 3.0);
    assert_eq!(told(&mut home).0, State::Working);
}

/// COP-016, COP-030: a headless denial is never red.
#[test]
fn cop_016_cop_030_a_headless_denial_is_never_reported() {
    let mut home = Home::new("headless");
    let path = home.events("s", &(prompt(NOW - 3.0, "Go") + &asked(NOW - 0.001, "a", "shell")), NOW);
    assert_eq!(one(&mut home.reader, NOW).state, State::Working, "the answer may be half written");
    let answer = answered(NOW, "a");
    append(&path, &answer[..40], NOW);
    assert_eq!(one(&mut home.reader, NOW + 1.0).state, State::Working);
    append(&path, &answer[40..], NOW);
    assert_eq!(one(&mut home.reader, NOW + 60.0).state, State::Working);
}

/// COP-015, COP-018, COP-021, COP-039: recency, undated requests, stamps ahead.
#[test]
fn cop_018_cop_021_cop_039_state_follows_recency_and_an_inactive_gate_is_withheld() {
    let mut home = Home::new("recency");
    for (sid, age) in [("fresh", 50.0), ("quiet", 150.0), ("stale", 90_000.0)] {
        home.events(sid, &prompt(NOW - age, "Go"), NOW - age);
    }
    let start = event("session.start", NOW - 90_000.0, json!({"context": {"cwd": "/w/acme/gone"}}));
    let gone = start + &asked(NOW - 90_000.0, "r", "shell");
    home.events("abandoned", &gone, NOW - 90_000.0);
    home.events("hours", &(prompt(NOW - 7200.0, "Go") + &asked(NOW - 7200.0, "r", "shell")), NOW - 7200.0);
    home.events("undated", &asked(NOW, "r", "shell").replace("timestamp", "when"), NOW - 600.0);
    home.events("ahead", &prompt(NOW, "Go"), NOW + 86_400.0);
    let rows = home.at(NOW, false).rows;
    let state = |sid| row(&rows, sid).state;
    assert_eq!((state("fresh"), state("quiet"), state("hours")), (State::Working, State::Idle, State::NeedsInput));
    assert_eq!(row(&rows, "quiet").state_detail.as_deref(), Some("awaiting your message"));
    assert_eq!(row(&rows, "hours").state_detail.as_deref(), Some("permission request (shell), waiting 2h 0m"));
    assert_eq!(row(&rows, "undated").blocked_since, Some(NOW - 600.0), "the file's last write (COP-015)");
    assert_eq!(rows.len(), 4);
    let rows = home.at(NOW, true).rows;
    let old = row(&rows, "abandoned");
    assert_eq!((old.state, old.active, old.project.as_str()), (State::Idle, false, "acme/gone"));
    assert_eq!((old.title.as_deref(), old.blocked_since), (None, None), "not read but for its first line");
    assert_eq!((row(&rows, "ahead").active, rows.len()), (false, 7));
}

/// COP-007, COP-020, COP-037: pills until they end.
#[test]
fn cop_007_cop_020_cop_037_subagents_are_pills_until_they_end() {
    let mut home = Home::new("subagents");
    let begin =
        prompt(NOW - 60.0, "Go") + &["a", "b", "c"].map(|id| agent("subagent.started", NOW - 50.0, id)).concat();
    let path = home.events("s", &begin, NOW - 5.0);
    let row = one(&mut home.reader, NOW);
    assert_eq!((names(&row), row.state_detail.as_deref()), (vec!["a", "b", "c"], Some("running 3 subagents")));
    append(&path, agent("subagent.failed", NOW - 5.0, "b"), NOW - 5.0);
    assert_eq!(names(&one(&mut home.reader, NOW)), ["a", "c"]);
    append(&path, event("subagent.completed", NOW - 5.0, json!({})), NOW - 5.0);
    assert_eq!(names(&one(&mut home.reader, NOW)), ["c"], "an end of nobody known ends the oldest");
    assert_eq!(names(&one(&mut home.reader, NOW + 300.0)), [""; 0], "an idle row has none");
    append(&path, asked(NOW - 4.0, "r", "url"), NOW - 4.0);
    let row = one(&mut home.reader, NOW + 300.0);
    assert_eq!((row.state, names(&row)), (State::NeedsInput, vec!["c"]), "a wait shows who runs beside it");
}

/// COP-007, COP-008, COP-009, COP-044: prompts and directory.
#[test]
fn cop_008_cop_009_cop_044_prompts_and_directory() {
    let mut home = Home::new("prompts");
    for (sid, data, want) in [
        ("content", json!({"content": "By content"}), "By content"),
        ("text", json!({"text": "By text", "content": "x"}), "By text"),
        ("nested", json!({"message": {"content": [{"type": "text", "text": "By"}, {"text": "parts"}]}}), "By parts"),
        ("earlier", json!({"content": "", "attachments": [1]}), "Before"),
        ("reasoning", json!({"content": [{"type": "reasoning", "text": "MARK"}]}), "Before"),
        ("number", json!({"content": 7}), "Before"),
        ("typed", json!({"type": "thinking", "content": "MARK"}), "Before"),
    ] {
        home.events(sid, &(prompt(NOW - 9.0, "Before") + &event("user.message", NOW - 8.0, data)), NOW - 5.0);
        let rows = home.at(NOW, false).rows;
        assert_eq!(
            (row(&rows, sid).title.as_deref(), row(&rows, sid).last_prompt.as_str()),
            (Some(want), want),
            "{sid}"
        );
    }
    let key = format!("sk-ant-api03-{}", "k".repeat(90));
    home.events("key", &prompt(NOW - 9.0, &format!("\n{} {key}\nsecond\u{202e}", "x".repeat(70))), NOW - 5.0);
    let rows = home.at(NOW, false).rows;
    let redacted = row(&rows, "key");
    assert_eq!(redacted.title.as_deref(), Some(&*format!("{} sk-ant-…REDACTED", "x".repeat(70))));
    assert!(!redacted.last_prompt.contains("kkk") && !redacted.last_prompt.contains('\u{202e}'));
    let moved =
        event("session.start", NOW - 7.0, json!({"cwd": "/w/acme/two"})) + &event("session.start", NOW, json!({}));
    home.events(
        "content",
        &(event("session.start", NOW - 9.0, json!({"context": {"cwd": "/w/acme/one"}})) + &moved),
        NOW,
    );
    let rows = home.at(NOW, false).rows;
    assert_eq!((row(&rows, "content").project.as_str(), row(&rows, "key").project.as_str()), ("acme/two", "copilot"));
}

/// COP-029: a broken ledger costs charge and model alone.
#[test]
fn cop_029_trust_034_a_broken_ledger_costs_charge_and_model_alone() {
    type Break = fn(&Path);
    let breaks: [(&str, Break, &str, bool); 5] = [
        ("absent", |_| (), "", false),
        (
            "reshaped",
            |path| drop(Connection::open(path).unwrap().execute("CREATE TABLE other (x)", [])),
            "OperationalError: no such table: assistant_usage_events",
            true,
        ),
        (
            "column",
            |path| drop(Connection::open(path).unwrap().execute("CREATE TABLE assistant_usage_events (id)", [])),
            "OperationalError: no such column: session_id",
            true,
        ),
        (
            "corrupt",
            |path| std::fs::write(path, "not a database at all".repeat(99)).unwrap(),
            "DatabaseError: file is not a database",
            true,
        ),
        ("folder", |path| std::fs::create_dir(path).unwrap(), "OperationalError: not a regular file", false),
    ];
    for (name, break_it, error, gap) in breaks {
        let mut home = Home::new(&format!("ledger-{name}"));
        home.events("s", &prompt(NOW - 5.0, "Go on"), NOW - 5.0);
        home.events("old", &prompt(NOW - 90_000.0, "Gone"), NOW - 90_000.0);
        let path = home.dir.0.join("session-store.db");
        break_it(&path);
        let found = home.at(NOW, true);
        for row in &found.rows {
            assert_eq!((row.consumption.as_deref(), row.model.as_deref()), (None, None), "{name}");
            assert_eq!(row.source_gaps, if gap { vec!["token accounting"] } else { vec![] }, "{name}");
        }
        assert_eq!(row(&found.rows, "s").title.as_deref(), Some("Go on"), "{name}");
        let errors: Vec<&str> = found.store_errors.iter().map(|(_, why)| why.as_str()).collect();
        assert_eq!(errors, if error.is_empty() { vec![] } else { vec![error] }, "{name}");
        assert_eq!((found.degrades.len(), home.usage(NOW)), (errors.len(), None), "{name}");
        drop((std::fs::remove_file(&path), std::fs::remove_dir(&path)));
        home.ledger(LEDGER_SQL);
        let found = home.at(NOW + 120.0, false);
        assert_eq!(
            (found.rows[0].consumption.as_deref(), found.degrades.len()),
            (Some("0.00 AIU"), 0),
            "{name} repaired"
        );
    }
}

fn charges(rows: &[(&str, &str, &str, &str, &str)]) -> String {
    let mut sql = String::from(
        "CREATE TABLE assistant_usage_events (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id, agent_id, model, total_nano_aiu, created_at);",
    );
    for (session, agent, model, amount, at) in rows {
        let values = format!("({session}, {agent}, {model}, {amount}, {at});");
        sql += &format!(
            "INSERT INTO assistant_usage_events (session_id, agent_id, model, total_nano_aiu, created_at) VALUES {values}"
        );
    }
    sql
}

/// COP-022, COP-023, COP-024, COP-026, COP-027, COP-040, COP-041: what counts.
#[test]
fn cop_022_to_027_cop_040_cop_041_what_counts_and_what_is_withdrawn() {
    let mut home = Home::new("counting");
    let at = |ago: f64| format!("'{}'", iso(NOW - ago));
    let (soon, old, ahead) = (at(60.0), at(90_000.0), at(-86_400.0));
    let plain = format!("'{}'", iso(NOW - 60.0).replace('T', " ").replace('Z', ""));
    let rows = [
        ("'sum'", "NULL", "'older'", "9", old.as_str()),
        ("'sum'", "NULL", "X'6f776e'", "1900000000.9", plain.as_str()),
        ("'sum'", "'sidekick-x-1'", "'mini'", "5100000000", soon.as_str()),
        ("'idle'", "NULL", "'idle-model'", "10000000", soon.as_str()),
        ("'text'", "NULL", "'m'", "'5'", soon.as_str()),
        ("'negative'", "NULL", "'m'", "-1", soon.as_str()),
        ("'unplaced'", "NULL", "'m'", "1", "'yesterday'"),
        ("'ahead'", "NULL", "'m'", "1", ahead.as_str()),
        ("'null time'", "NULL", "'m'", "1", "NULL"),
        ("'old only'", "NULL", "'old-model'", "'odd'", old.as_str()),
        ("'unusable'", "NULL", "'older'", "1", soon.as_str()),
        ("'unusable'", "NULL", "7", "1", soon.as_str()),
        ("'blank'", "' '", "'blank-model'", "1", soon.as_str()),
        ("'subagents'", "'sidekick'", "'mini'", "1", soon.as_str()),
    ];
    home.ledger(&charges(&rows));
    for (sid, ..) in rows.iter().chain([&("'none'", "", "", "", "")]) {
        home.events(sid.trim_matches('\''), &prompt(NOW - 5.0, "Go"), NOW - if *sid == "'idle'" { 500.0 } else { 5.0 });
    }
    home.events("stale", &prompt(NOW - 90_000.0, "Go"), NOW - 90_000.0);
    let found = home.at(NOW, true);
    let told = |sid| (row(&found.rows, sid).consumption.as_deref(), row(&found.rows, sid).model.as_deref());
    assert_eq!(told("sum"), (Some("7.00 AIU"), Some("own")), "fractions dropped, blobs read as text");
    assert_eq!(told("idle"), (Some("0.01 AIU"), Some("idle-model")));
    for withdrawn in ["text", "negative", "unplaced", "ahead", "null time"] {
        assert_eq!(told(withdrawn), (None, Some("m")), "{withdrawn}: the charge alone is withdrawn");
    }
    assert_eq!(told("old only"), (Some("0.00 AIU"), Some("old-model")), "rows beyond the window still name a model");
    assert_eq!(told("unusable"), (Some("0.00 AIU"), None), "no older row replaces an unusable model");
    assert_eq!((told("blank").1, told("subagents").1), (Some("blank-model"), None));
    assert_eq!((told("none").0, told("stale").0), (Some("0.00 AIU"), None), "a real zero only where it is active");
    assert_eq!(home.usage(NOW), None, "one row that cannot be counted withdraws the total");
    // A day later the odd rows are beyond the window, or still not placed.
    let path = home.dir.0.join("session-store.db");
    let done =
        "DELETE FROM assistant_usage_events WHERE created_at IS NULL OR created_at LIKE 'yes%' OR session_id = 'ahead'";
    Connection::open(path).unwrap().execute_batch(done).unwrap();
    home.at(NOW + 86_300.0, false);
    assert_eq!(home.usage(NOW + 86_300.0), None);
    assert_eq!(home.usage(NOW + 86_400.0), None, "nothing is counted, and that is no zero");
}

/// COP-025: more rows than are read.
#[test]
fn cop_025_more_rows_than_are_read_withdraw_everything_unless_one_lies_beyond() {
    let mut home = Home::new("many");
    home.events("s", &prompt(NOW - 5.0, "Go"), NOW - 5.0);
    let fill = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         INSERT INTO assistant_usage_events (session_id, model, total_nano_aiu, created_at) SELECT 's', 'm', 1000000, '{}' FROM n;",
        iso(NOW - 60.0)
    );
    let path = home.ledger(&(charges(&[]) + &fill));
    let told = |home: &mut Home| {
        let found = home.at(NOW, false);
        (found.rows[0].consumption.clone(), found.rows[0].source_gaps.len(), found.degrades.len())
    };
    assert_eq!(told(&mut home), (Some("5.00 AIU".into()), 0, 0));
    let owner = Connection::open(&path).unwrap();
    let one = |at: f64| {
        let sql = "INSERT INTO assistant_usage_events (session_id, model, total_nano_aiu, created_at) VALUES ('s', 'm', 1000000, ?1)";
        owner.execute(sql, [iso(at)]).unwrap();
    };
    one(NOW - 60.0);
    assert_eq!(told(&mut home), (None, 1, 1));
    assert_eq!(home.usage(NOW), None);
    one(NOW - 90_000.0);
    assert_eq!(told(&mut home), (Some("5.00 AIU".into()), 0, 0));
}

/// COP-036, FIELD-009: odd lines are counted and cost themselves.
#[test]
fn cop_036_field_009_odd_lines_cost_only_themselves_and_are_counted() {
    let mut home = Home::new("odd");
    let mut lines = String::from(
        "junk\n[]\n4\n\n{\"type\":5}\n{\"type\":\"user.message\",\"data\":7}\n{\"type\":\"permission.requested\",\"data\":\"x\"}\n",
    );
    lines += "{\"type\":\"session.compaction_complete\",\"data\":{\"x\":[{}]}}\n{\"type\":\"subagent.started\",\"agentId\":[1],\"data\":{\"id\":{}}}\n";
    lines += &format!("\u{feff}{}", prompt(NOW - 9.0, "Half a pair \\ud800").replace("\\\\ud800", "\\ud800"));
    let path = home.events("s", &lines, NOW - 5.0);
    append(&path, b"{\"type\":\"user.message\",\"data\":{\"content\":\"\xff\xfe ok\"}}\n", NOW - 5.0);
    home.dir.write("session-state/bin/events.jsonl", (0..=255u8).cycle().take(20_000).collect::<Vec<u8>>(), NOW - 5.0);
    let rows = home.at(NOW, false).rows;
    let odd = row(&rows, "s");
    assert_eq!(odd.last_prompt, "\u{fffd}\u{fffd} ok");
    assert_eq!(odd.degrades, [Degrade { code: Code::RecordSkipped, source: "events.jsonl".into(), count: Some(4) }]);
    assert_eq!(row(&rows, "bin").state, State::Working);
}

/// FIELD-044: a long file is read in part and says so.
#[test]
fn turn_002_turn_006_field_044_a_long_file_is_read_in_part_and_says_so() {
    let mut home = Home::new("long");
    let start = event("session.start", NOW - 400.0, json!({"context": {"cwd": "/w/acme/long"}}));
    let filler = event("assistant.message", NOW - 200.0, json!({"content": "y".repeat(1 << 20)})).repeat(9);
    let text = start.clone() + &prompt(NOW - 300.0, "Long ago") + &filler;
    let path = home.events("s", &text, NOW - 5.0);
    let row = one(&mut home.reader, NOW);
    assert_eq!((row.project.as_str(), row.last_prompt.as_str()), ("acme/long", "Long ago"));
    assert_eq!((row.evidence.turn_start, row.started_at), (Some(NOW - 300.0), None));
    assert_eq!(row.degrades.iter().map(|degrade| degrade.code).collect::<Vec<_>>(), [Code::ReadInPart]);
    std::fs::write(&path, start + &prompt(NOW - 300.0, "Ended") + &event("abort", NOW - 250.0, json!({})) + &filler)
        .unwrap();
    touch(&path, NOW - 4.0);
    let row = one(&mut home.reader, NOW);
    assert_eq!((row.last_prompt.as_str(), row.evidence.turn_start), ("Ended", None));
}

/// COP-005: what is never read is in no row.
#[test]
fn trust_026_trust_028_what_is_never_read_is_in_no_row() {
    let mut home = Home::new("never");
    let carriers = [
        "thinking",
        "redacted_thinking",
        "redactedThinking",
        "reasoning",
        "reasoningText",
        "reasoningOpaque",
        "thoughts",
        "encrypted_content",
        "summary_text",
        "raw_content",
        "signature",
        "thinkingSignature",
    ];
    let mut lines = prompt(NOW - 60.0, "Plain words");
    for carrier in carriers {
        let marked = json!({carrier: "MARK", "content": [{"type": carrier, carrier: "MARK"}], "name": {"x": "MARK"}});
        for kind in [
            "assistant.message",
            "assistant.reasoning",
            "tool.execution_start",
            "subagent.started",
            "user.message",
            "abort",
            "permission.requested",
        ] {
            let mut data = marked.clone();
            data["requestId"] = json!("r");
            data["permissionRequest"] = json!({"kind": "MARK", carrier: "MARK"});
            lines += &event(kind, NOW - 30.0, data);
        }
    }
    let path = home.events("s", &lines, NOW - 5.0);
    for name in names::NEVER {
        home.dir.write(&format!("{name}{}", if name.contains('.') { "" } else { "/x" }), "MARK", NOW);
        home.dir.write(&format!("session-state/s/{name}{}", if name.contains('.') { "" } else { "/x" }), "MARK", NOW);
    }
    let found = home.at(NOW, true);
    let told = text(&found.rows[0]) + &format!("{:?}{:?}", found.store_errors, home.reader.sessions[&path].records());
    assert!(told.contains("Plain words") && !told.contains("MARK"), "{told}");
}

#[test]
fn a_warm_pass_opens_nothing_and_says_the_same() {
    let mut home = Home::new("warm");
    let path = home.events("s", EVENTS, NOW);
    home.ledger(LEDGER_SQL);
    let first = format!("{:?}", home.at(NOW + 60.0, false).rows);
    std::fs::write(&path, vec![b'x'; EVENTS.len()]).unwrap();
    touch(&path, NOW);
    assert_eq!(format!("{:?}", home.at(NOW + 60.0, false).rows), first);
    std::fs::remove_file(&path).unwrap();
    assert!(home.at(NOW + 60.0, false).rows.is_empty());
}

fn any_event() -> impl Strategy<Value = String> {
    let at = (0..90u32).prop_map(|ago| NOW - f64::from(ago));
    let id = prop_oneof![Just("a"), Just("b"), Just("c")];
    (at, id, 0..9u8).prop_map(|(at, id, kind)| match kind {
        0 => prompt(at, id),
        1 => asked(at, id, "shell"),
        2 => answered(at, id),
        3 => agent("subagent.started", at, id),
        4 => agent("subagent.completed", at, id),
        5 => event("tool.execution_start", at, json!({"name": id})),
        6 => event("session.task_complete", at, json!({})),
        7 => event("user.message", at, json!({"content": [], "text": if id == "a" { "" } else { id }})),
        _ => "{\"type\": \"odd\r\n".into(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn read_as_it_grows_a_session_is_what_a_cold_read_makes_of_it(
        events in proptest::collection::vec(any_event(), 1..30), cuts in proptest::collection::vec(0.0..1.0f64, 0..5)
    ) {
        let mut home = Home::new("split");
        let text = events.concat();
        let mut ends: Vec<usize> = cuts.iter().map(|cut| (cut * text.len() as f64) as usize).collect();
        ends.sort_unstable();
        ends.push(text.len());
        let path = home.events("s", "", NOW - 1.0);
        let mut from = 0;
        for end in ends {
            append(&path, &text.as_bytes()[from..end], NOW - 1.0);
            from = end;
            let warm = home.at(NOW, false).rows;
            let cold = pass(&mut Copilot::new(home.dir.0.clone(), "/home/dev".into()), NOW, false).rows;
            prop_assert_eq!(format!("{warm:?}"), format!("{cold:?}"));
        }
    }

    #[test]
    fn trust_033_any_bytes_make_a_row_and_no_fault(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut home = Home::new("bytes");
        home.dir.write("session-state/s/events.jsonl", &bytes, NOW);
        home.dir.write("session-store.db", &bytes, NOW);
        prop_assert_eq!(home.at(NOW, false).rows.len(), 1);
    }
}

#[test]
#[ignore = "needs a measuring home and a release build"]
fn cost_of_cold_and_warm_passes() {
    crate::harness::testkit::cost(&|home| Box::new(Copilot::new(home.join(".copilot"), home.into())));
}
