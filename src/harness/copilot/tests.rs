//! The reader at its boundary: a store in a folder, a clock that is passed, the rows that come out.

mod any;
mod held;
mod ledger;
mod waits;

use super::*;
use crate::harness::testkit::{NOW, Scratch, WINDOW, append, iso, one, pass, text, touch};
use crate::surface::watch::{Dirty, Watch};
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

#[test]
#[ignore = "needs a measuring home and a release build"]
fn cost_of_cold_and_warm_passes() {
    crate::harness::testkit::cost(&|home| Box::new(Copilot::new(home.join(".copilot"), home.into())));
}
