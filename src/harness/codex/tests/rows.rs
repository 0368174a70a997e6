//! Identity, state, what is never published, what is skipped.

use super::*;
use crate::model::{Code, State};
use serde_json::json;

/// CODEX-001, CODEX-012, CODEX-016, CODEX-032, CODEX-034, CODEX-042: a running session is a whole row.
#[test]
fn codex_001_012_016_032_034_042_a_running_session_is_a_whole_row() {
    let mut store = Store::new();
    let records = [
        event("task_started", NOW - 40.0, &json!({"started_at": NOW - 41.0})),
        model(NOW - 39.0, "gpt-5.6-sol"),
        said(NOW - 38.0, "Make the importer skip empty rows"),
        item("function_call", NOW - 20.0, &json!({"name": "exec_command", "arguments": "{}"})),
        tokens(NOW - 10.0, 412, 412),
        tokens(NOW - 5.0, 88, 500),
    ];
    let path = store.rollout(ROOT, &json!({}), &records, NOW - 5.0);
    let row = store.row();
    assert_eq!((row.sid.as_str(), row.resume_id.as_deref()), (ROOT, Some(ROOT)));
    assert_eq!(
        (row.project.as_str(), row.project_key.as_str(), row.project_name.as_str()),
        ("acme/api", "acme/api", "api")
    );
    assert_eq!(row.title.as_deref(), Some("Make the importer skip empty rows"));
    assert_eq!(
        (row.last_prompt.as_str(), row.prompt_at, row.prompt_states_work),
        (row.title.as_deref().unwrap(), Some(NOW - 38.0), true)
    );
    assert_eq!(
        (row.first_prompt.as_str(), row.first_prompt_at, row.first_prompt_control),
        (row.title.as_deref().unwrap(), Some(NOW - 38.0), false)
    );
    assert_eq!((row.model.as_deref(), row.provider), (Some("gpt-5.6-sol"), None));
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Working, Some("running exec_command")));
    assert_eq!((row.rate_per_min, row.started_at), (Some(50), Some(NOW - 3600.0)));
    assert_eq!((row.last_activity, row.own_activity), (NOW - 5.0, NOW - 5.0));
    let turn = row.turn.unwrap();
    assert_eq!((turn.elapsed_h.as_str(), turn.eta_h, turn.pct, turn.long), ("41s", None, None, false));
    assert_eq!(row.evidence.transcript, Some(path));
    assert_eq!((row.subagents.len(), row.subagent_hierarchy, row.subagent_events), (0, Some(vec![]), Some(vec![])));
    assert!(row.degrades.is_empty());
}

/// CODEX-012, CODEX-013, CODEX-015, CODEX-050: ids of odd headers.
#[test]
fn codex_012_013_015_050_ids_of_odd_headers() {
    let stem = "0".repeat(3) + ROOT;
    for (meta, sid, resume) in [
        (json!({"session_id": null}), "thread-1", Some("thread-1")),
        (json!({"session_id": 7, "id": {}}), "0-0a1b2c3d4e5f", None),
        (json!({"session_id": "a b; rm -rf"}), "a b; rm -rf", None),
        (json!({"session_id": "-rf"}), "-rf", None),
        (json!({"session_id": "x".repeat(201), "id": "line\nbreak"}), "0-0a1b2c3d4e5f", None),
        (json!({"session_id": ""}), "thread-1", Some("thread-1")),
    ] {
        let mut store = Store::new();
        let mut payload = json!({"id": "thread-1", "session_id": "s", "agent_nickname": 5, "source": "cli", "thread_source": ["subagent"]});
        payload.as_object_mut().unwrap().extend(meta.as_object().unwrap().clone());
        let path = store.path("2026/09/20", &stem);
        write(&path, &lines(&[record("session_meta", NOW, payload)]), NOW);
        let row = store.row();
        let whole: String = path.file_stem().unwrap().to_str().unwrap().chars().rev().take(36).collect();
        let whole: String = whole.chars().rev().collect();
        if sid.starts_with("0-") {
            assert_eq!((row.sid.as_str(), row.resume_id.as_deref()), (whole.as_str(), Some(whole.as_str())), "{meta}");
        } else {
            assert_eq!((row.sid.as_str(), row.resume_id.as_deref()), (sid, resume), "{meta}");
        }
    }
}

/// CODEX-011, CODEX-048, CODEX-050: a payload that is a number leaves the stem.
#[test]
fn codex_011_050_a_payload_that_is_a_number_leaves_the_stem() {
    let mut store = Store::new();
    let path = store.path("2026/09/20", ROOT);
    write(
        &path,
        &format!("{}\n{}\n", json!({"type": "session_meta", "payload": 7}), line(&said(NOW, "Number payload"))),
        NOW,
    );
    let row = store.row();
    assert_eq!((row.sid.as_str(), row.title.as_deref(), row.project.as_str()), (ROOT, Some("Number payload"), "codex"));
    assert_eq!((row.degrades[0].code, row.degrades[0].count), (Code::RecordSkipped, Some(1)));
    let whole = &store.collect().degrades[0];
    assert_eq!((whole.code, whole.count, whole.source.as_str()), (Code::RecordSkipped, Some(1), "codex.sessions"));
}

/// CODEX-014: resumes are one row of the file written last.
#[test]
fn codex_014_resumes_are_one_row_of_the_file_written_last() {
    let mut store = Store::new();
    store.rollout(ROOT, &json!({}), &[said(NOW - 4000.0, "First sitting")], NOW - 4000.0);
    store.rollout(
        "01994fff-0000-7000-8000-000000000009",
        &json!({"session_id": ROOT}),
        &[said(NOW - 9.0, "Second sitting")],
        NOW - 9.0,
    );
    assert_eq!(store.row().title.as_deref(), Some("Second sitting"));
    // One that claims to be from tomorrow hides nothing.
    store.rollout(
        "01994fff-0000-7000-8000-000000000010",
        &json!({"session_id": ROOT}),
        &[said(NOW, "Tomorrow")],
        NOW + DAY,
    );
    assert_eq!(store.row().title.as_deref(), Some("Second sitting"));
    assert_eq!(store.all().rows.len(), 1);
}

/// CODEX-041, CODEX-042, CODEX-043, CODEX-055: state goes by recency and by believable stamps.
#[test]
fn codex_041_042_043_055_state_goes_by_recency_and_by_believable_stamps() {
    let at = |stamp: f64, mtime: f64| {
        let mut store = Store::new();
        store.rollout(
            ROOT,
            &json!({}),
            &[said(stamp, "Look at this"), event("exec_approval_request", stamp, &json!({"command": ["rm"]}))],
            mtime,
        );
        let found = store.collect();
        found.rows.first().map(|row| (row.state, row.state_detail.clone().unwrap(), row.last_activity))
    };
    assert_eq!(at(NOW - 90.0, NOW - 90.0), Some((State::Working, "generating…".into(), NOW - 90.0)));
    assert_eq!(at(NOW - 91.0, NOW - 91.0), Some((State::Idle, "awaiting your message".into(), NOW - 91.0)));
    // A record may be newer than the file's time.
    assert_eq!(at(NOW - 10.0, NOW - 300.0).unwrap().0, State::Working);
    // One from tomorrow counts for nothing, and hides nothing.
    assert_eq!(at(NOW + DAY, NOW - 5.0), Some((State::Working, "generating…".into(), NOW - 5.0)));
    assert_eq!(at(NOW + DAY, NOW - 300.0).unwrap().0, State::Idle);
    assert_eq!(at(NOW, NOW + 3600.0), None);
    assert_eq!(at(NOW, NOW - 25.0 * 3600.0), None);
}

/// CODEX-024, CODEX-055: rows outside the window are shown unread.
#[test]
fn codex_024_055_rows_outside_the_window_are_shown_unread() {
    let mut store = Store::new();
    store.rollout("old", &json!({}), &[said(NOW, "Unread"), model(NOW, "m")], NOW - 25.0 * 3600.0);
    store.rollout("ahead", &json!({}), &[said(NOW, "Unread")], NOW + 3600.0);
    assert!(store.collect().rows.is_empty());
    let found = store.all();
    assert_eq!(sids(&found), ["ahead", "old"]);
    for row in &found.rows {
        assert_eq!(
            (row.state, row.active, row.title.as_deref(), row.last_prompt.as_str(), row.model.as_deref()),
            (State::Idle, false, None, "", None)
        );
        assert_eq!((row.project.as_str(), row.subagent_hierarchy.as_ref()), ("acme/api", None));
    }
    assert_eq!(found.rows[0].last_activity, 0.0);
    assert_eq!(found.rows[1].last_activity, NOW - 25.0 * 3600.0);
    assert!(store.reader.shelf.is_empty());
}

/// CODEX-045, CODEX-046, TRUST-028: nothing of reasoning tools or instructions is published.
#[test]
fn codex_045_046_trust_028_nothing_of_reasoning_tools_or_instructions_is_published() {
    let mut store = Store::new();
    let m = |what: &str| format!("MARK-{what}");
    let records = [
        said(NOW - 60.0, "Visible prompt that states work"),
        item(
            "reasoning",
            NOW - 50.0,
            &json!({"summary": [{"type": "summary_text", "text": m("a")}], "content": [{"type": "reasoning_text", "text": m("b")}], "encrypted_content": m("c")}),
        ),
        event(
            "item_completed",
            NOW - 48.0,
            &json!({"item": {"type": "Reasoning", "summary_text": [m("d")], "raw_content": [m("e")], "content": [{"type": "Text", "text": m("f")}], "phase": "commentary"}}),
        ),
        event("agent_reasoning", NOW - 47.0, &json!({"text": m("g"), "message": m("h")})),
        event("agent_reasoning_raw_content", NOW - 46.0, &json!({"text": m("i")})),
        event("agent_reasoning_section_break", NOW - 46.0, &json!({"message": m("j")})),
        item(
            "function_call",
            NOW - 40.0,
            &json!({"name": "exec_command", "arguments": format!("{{\"cmd\":\"{}\"}}", m("k"))}),
        ),
        item(
            "function_call",
            NOW - 40.0,
            &json!({"name": "spawn_agent", "arguments": json!({"task_name": "plain_name", "message": format!("gAAAA{}", m("m"))}).to_string()}),
        ),
        item("custom_tool_call", NOW - 40.0, &json!({"name": "exec_command", "input": m("n")})),
        item("function_call_output", NOW - 39.0, &json!({"output": m("o").repeat(40_000)})),
        item("custom_tool_call_output", NOW - 39.0, &json!({"output": [{"text": m("p")}]})),
        record(
            "turn_context",
            NOW - 38.0,
            json!({"model": "m1", "developer_instructions": m("q"), "cwd": "/MARK-r/x", "user_instructions": m("s")}),
        ),
        record("compacted", NOW - 37.0, json!({"message": m("t"), "replacement_history": [said(1.0, &m("u"))]})),
        // Members in another order, so that the full reader sees them.
        json!({"payload": {"summary_text": m("v"), "type": "reasoning", "message": m("w"), "text": m("x")}, "timestamp": iso(NOW - 36.0), "type": "response_item"}),
    ];
    let path = store.rollout(ROOT, &json!({"base_instructions": {"text": m("y")}}), &records, NOW);
    // The last one again with its members turned round, byte for byte.
    append(&path, br#"{"payload":{"raw_content":["MARK-z"],"content":"MARK-z","type":"Reasoning"},"type":"event_msg","timestamp":"2026-09-21T00:00:00Z"}"#, NOW);
    append(&path, b"\n", NOW);
    let bytes = std::fs::read_to_string(&path).unwrap();
    assert!(('a'..='z').filter(|c| *c != 'l').all(|c| bytes.contains(&format!("MARK-{c}"))));
    let found = store.all();
    let row = &found.rows[0];
    assert_eq!(
        (row.title.as_deref(), row.model.as_deref(), row.last_output.as_deref()),
        (Some("Visible prompt that states work"), Some("m1"), None)
    );
    assert_eq!(row.evidence.working_detail.as_deref(), Some("running exec_command"));
    let published = serde_json::to_string(&found.rows).unwrap();
    assert!(!published.contains("MARK-"), "{published}");
    assert!(!format!("{:?}", store.reader.shelf).contains("MARK-"), "kept in memory");
}

/// CODEX-047: malformed lines are counted and cost nothing else.
#[test]
fn codex_047_malformed_lines_are_counted_and_cost_nothing_else() {
    let mut store = Store::new();
    let path = store.rollout(ROOT, &json!({}), &[], NOW);
    let text = ["not json", "[1,2]", "{", "\"text\"", "", "  ", r#"{"timestamp":7,"type":9,"payload":3}"#, r#"{"type":"event_msg"}"#,
        r#"{"timestamp":"2026-09-21T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":5}}"#].join("\n");
    append(&path, format!("{text}\n{}\n", line(&said(NOW - 4.0, "Still here, read on"))).as_bytes(), NOW);
    append(&path, [b'{', 0xff, b'}', b'\n'], NOW);
    append(&path, (format!("{{\"a\":{}", "[".repeat(100_000)) + "\n").as_bytes(), NOW);
    append(&path, b"{\"unterminated\":", NOW);
    let found = store.collect();
    let row = &found.rows[0];
    assert_eq!(row.title.as_deref(), Some("Still here, read on"));
    assert_eq!((row.degrades[0].code, row.degrades[0].count), (Code::RecordSkipped, Some(6)));
    assert_eq!(
        (found.degrades[0].code, found.degrades[0].count, found.degrades[0].source.as_str()),
        (Code::RecordSkipped, Some(6), "codex.sessions")
    );
}
