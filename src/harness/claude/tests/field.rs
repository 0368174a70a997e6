//! Faults met in the field, as far as a Claude store can hold them (FIELD-015..063).

use super::home::*;
use crate::model::{Code, State};
use serde_json::{Value, json};

fn with_session_id(mut record: Value) -> Value {
    record["sessionId"] = json!(LEAD);
    record
}

fn agent(home: &Home, session: &str, name: &str, ago: f64) {
    let records = [with_session_id(say("x", ago))];
    home.write(&format!("projects/-w-acme-shop/{session}/subagents/{name}"), lines(&records), ago);
}

/// FIELD-015.
#[test]
fn field_015_a_subagents_file_with_its_parents_session_id() {
    let mut home = Home::new();
    home.session(LEAD, &[with_session_id(ask("The lead's own prompt is this one", 20.0))], 15.0);
    agent(&home, LEAD, "agent-1.jsonl", 5.0);
    let rows = home.rows();
    assert_eq!((rows.len(), rows[0].subagents.len()), (1, 1));
    assert_eq!(rows[0].title.as_deref(), Some("The lead's own prompt is this one"));
}

/// FIELD-016.
#[test]
fn field_016_workflow_journals_and_sidecars_are_no_sessions() {
    let mut home = Home::new();
    home.session(LEAD, &[ask("Run the workflow over all of them", 20.0)], 15.0);
    for name in ["agent-1.jsonl", "agent-1.meta.json", "journal.jsonl"] {
        agent(&home, LEAD, &format!("workflows/wf_1/{name}"), 5.0);
    }
    let rows = home.collect(true).rows;
    assert_eq!((rows.len(), rows[0].subagents.len()), (1, 1));
}

/// FIELD-017.
#[test]
fn field_017_a_child_without_any_parent_field_is_attached_by_its_place() {
    let mut home = Home::new();
    home.session(LEAD, &[ask("Spread the work over several helpers", 20.0)], 15.0);
    let child = json!({"type": "assistant", "agentId": "1", "timestamp": iso(5.0), "message": {"content": []}});
    home.write(&format!("projects/-w-acme-shop/{LEAD}/subagents/agent-1.jsonl"), lines(&[child]), 5.0);
    let meta = r#"{"agentType":"Explore","description":"Look around","toolUseId":"toolu_1","spawnDepth":2}"#;
    home.write(&format!("projects/-w-acme-shop/{LEAD}/subagents/agent-1.meta.json"), meta, 5.0);
    assert_eq!(home.row(KEY).subagents[0].name, "Look around");
}

/// FIELD-019.
#[test]
fn field_019_every_agent_under_its_own_parent_only() {
    let mut home = Home::new();
    let other = "ffffffff-0000-4000-8000-000000000000";
    for id in [LEAD, other] {
        home.session(id, &[ask("Spread the work over several helpers", 20.0)], 15.0);
    }
    agent(&home, LEAD, "agent-1.jsonl", 5.0);
    agent(&home, LEAD, "agent-2.jsonl", 5.0);
    agent(&home, other, "agent-3.jsonl", 5.0);
    assert_eq!((home.row(KEY).subagents.len(), home.row("ffffffff").subagents.len()), (2, 1));
}

/// FIELD-020.
#[test]
fn field_020_compaction_helpers_and_orphaned_folders() {
    let mut home = Home::new();
    agent(&home, LEAD, "agent-acompact-1.jsonl", 5.0);
    assert!(home.sids().is_empty(), "a compaction helper is no agent");
    agent(&home, LEAD, "agent-1.jsonl", 5.0);
    let row = home.row(KEY);
    assert_eq!((row.subagents.len(), row.state), (1, State::Working));
    assert_eq!(row.degrades.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::StoreMissing]);
    home.now += 100.0;
    assert!(home.sids().is_empty(), "an orphan is shown only while it is fresh");
}

/// FIELD-022, FIELD-054.
#[test]
fn field_022_054_two_sessions_of_one_folder_stay_two_rows() {
    let mut home = Home::new();
    let at = |cwd: &str, ago| {
        let mut record = ask("Work in one of the two places here", ago);
        record["cwd"] = json!(cwd);
        record
    };
    home.session(LEAD, &[at("/w/日本", 20.0)], 5.0);
    home.session("ffffffff", &[at("/w/中国", 20.0), json!({"type": "ai-title", "aiTitle": "T (fork)"})], 5.0);
    assert_eq!((home.row(KEY).project, home.row("ffffffff").project), ("w/日本".into(), "w/中国".into()));
}

/// FIELD-032, FIELD-035.
#[test]
fn field_032_035_questions_and_hooks_belong_to_their_session() {
    let mut home = Home::new();
    for id in [LEAD, "ffffffff"] {
        home.session(id, &[ask("Work in the same place as another", 400.0)], 300.0);
    }
    let payload = json!({"session_id": LEAD, "notification_type": "permission_prompt", "cwd": "/w/acme/shop"});
    home.hooks.notify(payload.as_object().unwrap(), NOW, |_, _| false);
    assert_eq!((home.row(KEY).state, home.row("ffffffff").state), (State::NeedsInput, State::Idle));
    let question = call("AskUserQuestion", "q", json!({"questions": [{"question": "Which?"}]}), 200.0);
    home.append(&home.path("projects/-w-acme-shop/ffffffff.jsonl"), &[question], 200.0);
    assert_eq!(home.row("ffffffff").state, State::NeedsInput, "no hook is needed for an open question");
}

/// FIELD-044.
#[test]
fn field_044_a_sparse_gigantic_file_is_read_in_part() {
    use std::io::{Seek, SeekFrom, Write};
    let mut home = Home::new();
    let path = home.path("projects/-w-acme-shop").join(format!("{LEAD}.jsonl"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = std::fs::File::create(&path).unwrap();
    file.seek(SeekFrom::Start(5_000_000_000)).unwrap();
    let tail = lines(&[ask("A prompt behind five gigabytes of nothing", 20.0), say("ok", 5.0)]);
    file.write_all(format!("\n{tail}").as_bytes()).unwrap();
    drop(file);
    touch(&path, NOW - 5.0);
    let row = home.row(KEY);
    assert_eq!((row.model.as_deref(), row.session_output_tokens), (Some("claude-opus-5"), None));
    assert_eq!(row.instruction.unwrap().text, "A prompt behind five gigabytes of nothing");
    assert!(row.degrades.iter().any(|d| d.code == Code::ReadInPart));
}

/// FIELD-044.
#[test]
fn field_044_one_line_of_a_hundred_megabytes() {
    let mut home = Home::new();
    let long = format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "z".repeat(100_000_000));
    let bytes = [lines(&[ask("The prompt before the long line", 30.0)]), long, lines(&[say("ok", 5.0)])].concat();
    home.write(&format!("projects/-w-acme-shop/{LEAD}.jsonl"), bytes, 5.0);
    let row = home.row(KEY);
    assert_eq!((row.model.as_deref(), row.project.as_str()), (Some("claude-opus-5"), "acme/shop"));
    assert_eq!(row.title.as_deref(), Some("The prompt before the long line"));
    assert!(row.degrades.iter().any(|d| d.code == Code::ReadInPart));
}

/// FIELD-048, FIELD-059.
#[test]
fn field_048_059_a_single_record_behind_a_byte_order_mark() {
    let mut home = Home::new();
    let bytes = format!("\u{feff}{}", lines(&[ask("The one record of this file", 20.0)]).replace('\n', "\r\n"));
    home.write(&format!("projects/-w-acme-shop/{LEAD}.jsonl"), bytes, 5.0);
    let row = home.row(KEY);
    assert_eq!((row.title.as_deref(), row.project.as_str()), (Some("The one record of this file"), "acme/shop"));
    assert_eq!(row.degrades, []);
}

/// FIELD-053.
#[test]
fn field_053_the_folders_name_is_the_last_resort() {
    let mut home = Home::new();
    let bare = json!({"type": "user", "timestamp": iso(20.0), "message": {"content": "hello"}});
    for (folder, want) in [("C--Users-x-my-app", "my-app"), ("-srv-data--config", "data-config")] {
        let path = home.write(&format!("projects/{folder}/{LEAD}.jsonl"), lines(std::slice::from_ref(&bare)), 5.0);
        let row = home.row(KEY);
        assert_eq!((row.project.as_str(), row.project_identity_source), (want, "collector project label"));
        std::fs::remove_file(path).unwrap();
    }
}

#[cfg(unix)]
/// FIELD-056, FIELD-057.
#[test]
fn field_056_057_links_are_passed_over_and_named() {
    let mut home = Home::new();
    home.session(LEAD, &[ask("Do the thing that was asked for", 20.0)], 5.0);
    let elsewhere = home.write(&format!("elsewhere/{LEAD}.jsonl"), lines(&[ask("linked", 20.0)]), 5.0);
    let link = |to: &std::path::Path, name: &str| std::os::unix::fs::symlink(to, home.path(name)).unwrap();
    link(elsewhere.parent().unwrap(), "projects/linked");
    link(&home.path("projects"), "projects/-w-acme-shop/memory");
    link(&home.path("projects"), "projects/-w-acme-shop/loop");
    let found = home.collect(false);
    assert_eq!(found.rows.len(), 1);
    let skipped: Vec<_> = found.degrades.iter().map(|d| (d.code, d.source.as_str(), d.count)).collect();
    assert_eq!(skipped, [(Code::RecordSkipped, "claude.projects", Some(2))]);
}

/// FIELD-041.
#[test]
fn field_041_a_file_stamped_far_ahead_is_neither_active_nor_working() {
    let mut home = Home::new();
    home.session(LEAD, &[ask("Do the thing that was asked for", 20.0)], -86_400.0 * 365.0);
    assert!(home.sids().is_empty());
    let row = home.collect(true).rows.remove(0);
    assert_eq!((row.active, row.state, row.last_activity), (false, State::Idle, 0.0));
}

/// What is unchanged is not opened: other bytes under the same stamp go unseen (FIELD-045, FIELD-046).
#[test]
fn field_045_unchanged_files_are_not_opened() {
    let mut home = Home::new();
    let title =
        |t: &str| lines(&[ask("Do the thing that was asked for", 20.0), json!({"type": "ai-title", "aiTitle": t})]);
    let path = home.write(&format!("projects/-w-acme-shop/{LEAD}.jsonl"), title("AAAA"), 5.0);
    home.write(&format!("tasks/{LEAD}/1.json"), r#"{"subject":"AAAA"}"#, 5.0);
    let seen = |home: &mut Home| {
        let row = home.row(KEY);
        (row.title.unwrap(), row.tasks[0].subject.clone())
    };
    assert_eq!(seen(&mut home), ("AAAA".into(), "AAAA".into()));
    home.write(&format!("projects/-w-acme-shop/{LEAD}.jsonl"), title("BBBB"), 5.0);
    home.write(&format!("tasks/{LEAD}/1.json"), r#"{"subject":"BBBB"}"#, 5.0);
    assert_eq!(seen(&mut home), ("AAAA".into(), "AAAA".into()));
    touch(&path, NOW - 4.0);
    assert_eq!(seen(&mut home).0, "BBBB");
}

/// TRUST-034, TRUST-037, TRUST-052.
/// A file that cannot be read costs itself, is named, keeps what was read before, and is tried again after a pause.
#[test]
fn trust_034_037_052_a_file_that_cannot_be_read() {
    use super::super::cache::{Kept, Look};
    use crate::surface::read::{ReadError, Stamp};
    let path = std::path::Path::new("/x");
    let stamp = |len| Stamp { dev: 1, ino: 1, len, mtime_ns: 1 };
    let mut kept: Kept<u32> = Kept::new();
    let mut tries = 0;
    let mut at = |now: f64, len, outcome: Option<u32>| {
        kept.begin();
        let look = kept.look(
            path,
            stamp(len),
            now,
            || 0,
            |value| {
                tries += 1;
                *value = outcome.ok_or(ReadError::NotAFile)?;
                Ok(())
            },
        );
        let (value, failed) = match look {
            Look::Read(value) => (*value, false),
            Look::Failed { value, .. } => (*value, true),
            Look::Gone => panic!(),
        };
        (value, failed, tries)
    };
    assert_eq!(at(0.0, 1, Some(7)), (7, false, 1));
    assert_eq!(at(1.0, 1, Some(8)), (7, false, 1), "same stamp, not read");
    assert_eq!(at(2.0, 2, None), (7, true, 2));
    assert_eq!(at(2.5, 3, Some(8)), (7, true, 2), "not before a second has passed");
    assert_eq!(at(3.0, 3, None), (7, true, 3));
    assert_eq!(at(4.9, 3, Some(8)), (7, true, 3), "then two");
    assert_eq!(at(5.0, 3, Some(8)), (8, false, 4));
}

/// TRUST-054.
#[test]
fn trust_054_a_store_that_changes_while_it_is_read() {
    let mut home = Home::new();
    let records = [ask("Do the thing that was asked for", 20.0), spend("m", None, 5, "x", 10.0)];
    let path = home.session(LEAD, &records, 5.0);
    assert_eq!(home.row(KEY).session_output_tokens, Some(5));
    std::fs::write(&path, lines(&records[..1])).unwrap();
    touch(&path, NOW - 4.0);
    assert_eq!((home.row(KEY).session_output_tokens, home.row(KEY).model), (Some(0), None), "truncated: read anew");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(home.sids().is_empty());
    std::fs::remove_dir(&path).unwrap();
    home.session(LEAD, &records, 5.0);
    assert_eq!(home.row(KEY).session_output_tokens, Some(5));
}

/// TRUST-056.
#[test]
fn trust_056_a_clock_that_steps_back_makes_everything_be_read_anew() {
    let mut home = Home::new();
    home.session(LEAD, &[ask("Do the thing that was asked for", 400.0), say("x", 300.0), say("y", 10.0)], 200.0);
    assert_eq!(home.row(KEY).own_activity.round(), NOW - 10.0);
    home.now = NOW - 250.0;
    assert_eq!(home.row(KEY).own_activity.round(), NOW - 300.0);
}
