//! The store samples under `fixtures/codex`, read as they stand: one folder per version of Codex.

use super::*;
use crate::harness::codex::Window;
use crate::model::{AssignmentStatus, Code, InstructionLabel, State};

/// A store that holds the sample of a version, last written at `mtime`.
fn sample(version: &str, mtime: f64) -> Store {
    let store = Store::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex").join(version);
    copy(&from, &store.sessions(), mtime);
    store
}

fn copy(from: &Path, to: &Path, mtime: f64) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to, mtime);
        } else {
            write_bytes(&to, &std::fs::read(entry.path()).unwrap(), mtime);
        }
    }
}

/// The sample of a compressed rollout.
pub const PACKED: &str =
    "0.137.0/2026/05/01/rollout-2026-05-01T09-00-00-019dddd0-2222-7000-8000-0000000000bb.jsonl.zst";

/// 2026-09-20T08:14:25Z
const AUTUMN: f64 = 1_789_892_065.0;
/// 2026-02-03T10:00:10Z
const WINTER: f64 = 1_770_112_810.0;

#[test]
fn codex_sample_0_154_0() {
    let mut store = sample("0.154.0", AUTUMN - 2.0);
    let rows = store.collect_at(AUTUMN, false).rows;
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(
        (row.sid.as_str(), row.project.as_str(), row.model.as_deref()),
        (ROOT, "src/atlas", Some("gpt-5.6-sol"))
    );
    assert_eq!(
        (row.title.as_deref(), row.first_prompt.as_str()),
        (Some("Make the importer skip empty rows"), "Make the importer skip empty rows")
    );
    assert_eq!((row.instruction.as_ref(), row.prompt_states_work, row.last_output.as_deref()), (None, true, None));
    assert_eq!(
        (row.state, row.state_detail.as_deref(), row.total, row.done),
        (State::Working, Some("Add test…"), 2, 1)
    );
    // 412 of the session's own and 58 of its child's, each over ten minutes.
    assert_eq!((row.rate_per_min, row.started_at), (Some(47), Some(1_789_892_043.12)));
    assert_eq!(row.turn.as_ref().map(|t| t.elapsed_h.as_str()), Some("20s"));
    assert!(row.degrades.is_empty());
    let node = &row.subagent_hierarchy.as_ref().unwrap()[0];
    assert_eq!((node.name.as_str(), node.model.as_deref(), node.depth), ("Harriet", Some("gpt-5.6-sol-mini"), 1));
    assert_eq!(
        (node.assignment.as_deref(), node.assignment_status),
        (Some("Review the importer for empty rows"), AssignmentStatus::ExactParentDispatch)
    );
    let usage = store.reader.usage(AUTUMN, DAY).unwrap();
    assert_eq!(usage.as_of, 1_789_892_060.5);
    assert_eq!(usage.five_hour, Some(Window { pct: 12, window_sec: Some(18_000), resets_at: Some(1_789_906_000.0) }));
    assert_eq!(usage.week, Some(Window { pct: 41, window_sec: Some(604_800), resets_at: Some(1_790_300_000.0) }));
    // The agent's own words for the turn, once the prompt only waves it on.
    let root = store.path("2026/09/20", ROOT);
    append(&root, lines(&[said(AUTUMN, "go ahead")]).as_bytes(), AUTUMN);
    let row = store.collect_at(AUTUMN, false).rows.remove(0);
    let told = row.instruction.unwrap();
    assert_eq!((told.label, told.text.as_str()), (InstructionLabel::Earlier, "Make the importer skip empty rows"));
}

#[test]
fn codex_sample_0_98_0() {
    let mut store = sample("0.98.0", WINTER);
    let found = store.collect_at(WINTER, false);
    let row = &found.rows[0];
    assert_eq!(
        (row.sid.as_str(), row.model.as_deref()),
        ("019c2222-1111-7000-8000-0000000000aa", Some("gpt-5.2-codex"))
    );
    assert_eq!(
        (row.title.as_deref(), row.last_output.as_deref()),
        (Some("Port the date parser to the new library"), Some("Ported; the tests pass."))
    );
    assert_eq!((row.state_detail.as_deref(), row.total, row.progress_pct), (Some("Port it…"), 3, 33));
    // The second token record only moved the quota.
    assert_eq!(row.rate_per_min, Some(64));
    assert_eq!((row.turn.as_ref(), row.evidence.turn_start), (None, None));
    let usage = store.reader.usage(WINTER, DAY).unwrap();
    assert_eq!((usage.five_hour, usage.week.unwrap().pct), (None, 8));
    assert!(!serde_json::to_string(&found.rows).unwrap().to_lowercase().contains("never"));
}

/// FIELD-003, CODEX-006: a compressed sample of 0.137.0 is a row by its name.
#[test]
fn field_003_codex_sample_0_137_0_compressed() {
    let mut store = sample("0.137.0", WINTER);
    let found = store.collect_at(AUTUMN, true);
    let row = &found.rows[0];
    assert_eq!((row.sid.as_str(), row.project.as_str()), ("019dddd0-2222-7000-8000-0000000000bb", "codex"));
    assert_eq!((row.degrades.len(), row.degrades[0].code, row.active), (1, Code::Compressed, false));
}
