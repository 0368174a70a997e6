//! The store samples under `fixtures/claude`, read as they stand.

use super::home::*;
use crate::model::State;
use std::path::Path;

/// The moment the samples were taken at: 2026-05-01T10:03:00Z.
const TAKEN: f64 = 1_777_629_780.0;

/// A copy of a sample, each file written `ago` seconds before it was taken.
fn sample(version: &str, ago: impl Fn(&str) -> f64) -> Home {
    let mut home = Home::new();
    home.now = TAKEN;
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/claude").join(version);
    let mut due = vec![from.clone()];
    while let Some(folder) = due.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                due.push(path);
                continue;
            }
            let name = path.strip_prefix(&from).unwrap().to_str().unwrap();
            home.write(name, std::fs::read(&path).unwrap(), ago(name));
        }
    }
    home
}

#[test]
fn a_team_at_work_as_2_1_260_writes_it() {
    let mut home = sample("2.1.260", |name| if name.contains("5c1e0a11") { 5.0 } else { 20.0 });
    let rows = home.rows();
    assert_eq!(rows.iter().map(|r| r.sid.as_str()).collect::<Vec<_>>(), ["27d10654"]);
    let row = &rows[0];
    assert_eq!((row.title.as_deref(), row.model.as_deref()), (Some("Fix checkout totals"), Some("claude-opus-5")));
    assert_eq!(row.project, "acme/shop");
    assert_eq!(row.state_detail.as_deref(), Some("Which rounding? (+1 more), waiting 2m"));
    assert_eq!((row.state, row.blocked_since), (State::NeedsInput, Some(TAKEN - 120.0)));
    assert_eq!(row.last_prompt, "rewrite the rounding rule and run the tax tests");
    assert_eq!(row.spacedock.as_ref().map(|s| s.role), Some("first-officer"));
    // Two records repeat one response: 220 once, then 384 once.
    assert_eq!((row.session_output_tokens, row.rate_per_min), (Some(604), Some(60)));
    let members: Vec<_> = row.subagents.iter().map(|s| (s.name.as_str(), s.active)).collect();
    assert_eq!(members, [("Sort the invoices", Some(true)), ("reviewer", Some(true)), ("tester", Some(false))]);
    assert_eq!((row.total, row.done, row.open), (2, 1, 1));
    assert_eq!(row.started_at, Some(TAKEN - 180.0));
    assert!(row.degrades.is_empty());
}

#[test]
fn a_session_with_a_side_chain_as_1_0_60_writes_it() {
    let mut home = sample("1.0.60", |_| 20.0);
    let row = home.row("9b0e7c44");
    assert_eq!(
        (row.title.as_deref(), row.model.as_deref()),
        (Some("Sort the imports of every module in the library"), Some("claude-sonnet-4"))
    );
    assert_eq!(row.instruction.as_ref().unwrap().text, "Sort the imports of every module in the library");
    assert_eq!(row.last_output.as_deref(), Some("All imports are sorted."));
    assert_eq!(row.tasks[0].subject, "Sort imports");
    assert_eq!(row.resume_id.as_deref(), Some("9b0e7c44-1111-4222-8333-444455556666"));
}

/// DECK-020.
#[test]
fn deck_020_a_version_newer_than_the_newest_sample_is_a_note() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/claude");
    let versions = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let parts = |v: String| v.split('.').map(|n| n.parse::<u32>().unwrap()).collect::<Vec<_>>();
    assert_eq!(versions.map(parts).max().unwrap(), crate::harness::claude::story::NEWEST_SAMPLE);
    let mut home = Home::new();
    for (id, version, noted) in
        [("aaaaaaa1", "2.1.260", false), ("aaaaaaa2", "2.1.261", true), ("aaaaaaa3", "next", false)]
    {
        let mut record = ask("Do the thing that was asked for", 20.0);
        record["version"] = serde_json::json!(version);
        home.session(id, &[record], 5.0);
        let degrades = home.row(id).degrades;
        assert_eq!(degrades.iter().any(|d| d.code == crate::model::Code::VersionUnseen), noted, "{version}");
    }
}
