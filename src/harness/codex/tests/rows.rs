//! Identity, prompts, tokens, model, turn, state.

use super::*;
use crate::harness::codex::Window;
use crate::model::{Code, InstructionLabel, State};
use serde_json::json;

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
}

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

#[test]
fn codex_024_025_028_the_prompt_is_found_behind_any_padding_in_each_of_its_forms() {
    for record in [
        said(NOW - 60.0, "Fix the parser for nested rows"),
        event("user_message", NOW - 60.0, &json!({"message": "Fix the parser for nested rows"})),
        event(
            "item_completed",
            NOW - 60.0,
            &json!({"item": {"type": "UserMessage", "content": [{"type": "text", "text": "Fix the parser for nested rows"}]}}),
        ),
    ] {
        let mut store = Store::new();
        let mut records = vec![record];
        records.extend((0..20).map(|i| padding(NOW - 50.0 + f64::from(i), 60_000)));
        for injected in [
            "<environment_context>\n<cwd>/w</cwd></environment_context>",
            "# AGENTS.md instructions for /w\nBe good",
            "<turn_aborted>x</turn_aborted>",
            "   ",
            "Warmup",
        ] {
            records.push(said(NOW - 20.0, injected));
        }
        store.rollout(ROOT, &json!({}), &records, NOW);
        let row = store.row();
        assert_eq!((row.title.as_deref(), row.instruction), (Some("Fix the parser for nested rows"), None));
        assert_eq!(row.first_prompt, "Fix the parser for nested rows");
    }
}

#[test]
fn codex_026_027_058_059_the_second_line() {
    let work = "Fix the parser so that nested empty rows are accepted again";
    let told = |records: &[Value]| {
        let mut store = Store::new();
        store.rollout(ROOT, &json!({}), records, NOW);
        let row = store.row();
        (row.title.unwrap(), row.instruction.map(|i| (i.label, i.text, i.at)))
    };
    let earlier = Some((InstructionLabel::Earlier, work.to_owned(), NOW - 60.0));
    let go = said(NOW - 40.0, "proceed");
    assert_eq!(told(&[said(NOW - 60.0, work), go.clone()]), ("proceed".into(), earlier.clone()));
    for boundary in [
        event("context_compacted", NOW - 50.0, &json!({})),
        event("compacted", NOW - 50.0, &json!({})),
        event("thread_rolled_back", NOW - 50.0, &json!({"num_turns": 1})),
        event("item_completed", NOW - 50.0, &json!({"item": {"type": "ContextCompaction"}})),
        item("compaction", NOW - 50.0, &json!({"encrypted_content": "g"})),
        record("compacted", NOW - 50.0, json!({"message": "", "replacement_history": [said(1.0, "Never quoted")]})),
    ] {
        assert_eq!(
            told(&[said(NOW - 60.0, work), boundary.clone(), go.clone()]),
            ("proceed".into(), None),
            "{boundary}"
        );
        assert_eq!(
            told(&[said(NOW - 60.0, work), go.clone(), boundary.clone()]),
            ("proceed".into(), earlier.clone()),
            "{boundary}"
        );
    }
    let agent = Some((InstructionLabel::Agent, "I will read it first.".to_owned(), NOW - 30.0));
    let turn = [
        said(NOW - 60.0, work),
        started(NOW - 45.0),
        go.clone(),
        commentary(NOW - 30.0, "I will read it first."),
        commentary(NOW - 20.0, "Now the rest."),
    ];
    assert_eq!(told(&turn), ("proceed".into(), agent.clone()));
    let as_item = json!({"item": {"type": "AgentMessage", "phase": "commentary", "content": [{"type": "Text", "text": "I will read it first."}]}});
    assert_eq!(
        told(&[said(NOW - 60.0, work), started(NOW - 45.0), go.clone(), event("item_completed", NOW - 30.0, &as_item)]),
        ("proceed".into(), agent)
    );
    // No beginning of its own: what the agent said belongs to nobody.
    assert_eq!(
        told(&[said(NOW - 60.0, work), go.clone(), commentary(NOW - 30.0, "I will read it first.")]),
        ("proceed".into(), earlier.clone())
    );
    assert_eq!(
        told(&[
            said(NOW - 60.0, work),
            started(NOW - 55.0),
            said(NOW - 54.0, "yes"),
            complete(NOW - 50.0),
            go.clone(),
            commentary(NOW - 30.0, "x")
        ]),
        ("proceed".into(), earlier.clone())
    );
    // A final answer is no intent.
    assert_eq!(
        told(&[
            said(NOW - 60.0, work),
            started(NOW - 45.0),
            go,
            event("agent_message", NOW - 30.0, &json!({"message": "All done."}))
        ]),
        ("proceed".into(), earlier)
    );
}

#[test]
fn codex_065_the_first_prompt_that_counts() {
    let mut store = Store::new();
    let records = [
        said(NOW - 9.0, "<environment_context>x</environment_context>"),
        said(NOW - 8.0, "/model"),
        said(NOW - 7.0, "Fix it all now please"),
    ];
    store.rollout(ROOT, &json!({}), &records, NOW);
    let row = store.row();
    assert_eq!(
        (row.first_prompt.as_str(), row.first_prompt_at, row.first_prompt_control),
        ("/model", Some(NOW - 8.0), true)
    );
    assert_eq!(row.title.as_deref(), Some("Fix it all now please"));
    let mut empty = Store::new();
    empty.rollout(ROOT, &json!({}), &[], NOW);
    let row = empty.row();
    assert_eq!((row.first_prompt.as_str(), row.first_prompt_at, row.prompt_at), ("", None, None));
}

#[test]
fn codex_031_the_newest_final_answer() {
    let answer = |records: &[Value]| {
        let mut store = Store::new();
        store.rollout(ROOT, &json!({}), records, NOW);
        store.row().last_output
    };
    let message = |at: f64, phase: &Value, text: &str| {
        event(
            "item_completed",
            at,
            &json!({"item": {"type": "AgentMessage", "phase": phase, "content": [{"type": "Text", "text": text}, {"type": "Image", "text": "no"}]}}),
        )
    };
    let done = event("task_complete", NOW - 5.0, &json!({"last_agent_message": "Done.\nAll of it."}));
    assert_eq!(answer(&[]), None);
    assert_eq!(
        answer(&[message(NOW - 9.0, &json!(null), "Half."), done.clone()]).as_deref(),
        Some("Done.\nAll of it.")
    );
    assert_eq!(
        answer(&[done.clone(), message(NOW - 4.0, &json!("commentary"), "I will.")]).as_deref(),
        Some("Done.\nAll of it.")
    );
    assert_eq!(
        answer(&[done.clone(), message(NOW - 4.0, &json!(null), "Perhaps.")]).as_deref(),
        Some("Done.\nAll of it.")
    );
    assert_eq!(answer(&[done, message(NOW - 4.0, &json!("final_answer"), "Newer.")]).as_deref(), Some("Newer."));
    assert_eq!(
        answer(&[
            message(NOW - 4.0, &json!(null), "Only."),
            event("task_complete", NOW, &json!({"last_agent_message": null}))
        ])
        .as_deref(),
        Some("Only.")
    );
    let long = answer(&[event("task_complete", NOW, &json!({"last_agent_message": "é".repeat(9000)}))]).unwrap();
    assert_eq!(long.chars().count(), 4096);
    let key = answer(&[event(
        "task_complete",
        NOW,
        &json!({"last_agent_message": format!("{} ghp_{}", "x".repeat(4090), "a1B2".repeat(9))}),
    )])
    .unwrap();
    assert!(!key.contains("a1B2"), "{}", &key[4080..]);
}

#[test]
fn codex_032_033_field_028_the_rate() {
    for (records, want) in [
        (vec![tokens(NOW - 5.0, 5, 5)], 0),
        (vec![tokens(NOW - 5.0, 15, 15)], 2),
        (vec![tokens(NOW - 700.0, 5000, 5000), tokens(NOW - 5.0, 100, 5100)], 10),
        (vec![tokens(NOW + DAY, 5000, 5000), tokens(NOW - 5.0, 100, 5100)], 10),
        // The same figures again are no new response.
        (
            vec![
                tokens(NOW - 9.0, 100, 100),
                tokens(NOW - 8.0, 100, 100),
                tokens(NOW - 7.0, 100, 100),
                tokens(NOW - 6.0, 30, 130),
            ],
            13,
        ),
        (
            vec![
                event("token_count", NOW - 5.0, &json!({"info": {"last_token_usage": {"output_tokens": 50}}})),
                event("token_count", NOW - 4.0, &json!({"info": {"last_token_usage": {"output_tokens": 50}}})),
            ],
            10,
        ),
        (
            vec![
                event("token_count", NOW - 5.0, &json!({"info": null})),
                event("token_count", NOW - 5.0, &json!({"info": {"last_token_usage": {"output_tokens": "900"}}})),
                event("token_count", NOW - 5.0, &json!({"info": {"last_token_usage": {"output_tokens": true}}})),
                event("token_count", NOW - 5.0, &json!({"info": {"last_token_usage": []}})),
                json!({"timestamp": 7, "type": "event_msg", "payload": {"type": "token_count", "info": {"last_token_usage": {"output_tokens": 900}}}}),
                tokens(NOW - 2.0, 70, 70),
            ],
            7,
        ),
    ] {
        let mut store = Store::new();
        store.rollout(ROOT, &json!({}), &records, NOW);
        assert_eq!(store.row().rate_per_min, Some(want), "{records:?}");
    }
}

#[test]
fn codex_034_the_last_model_that_is_a_name() {
    let mut store = Store::new();
    let records = [
        model(NOW - 9.0, "alpha"),
        model(NOW - 8.0, "  beta\n"),
        record("turn_context", NOW - 7.0, json!({"model": 7})),
        record("turn_context", NOW - 6.0, json!({"model": "  "})),
        record("turn_context", NOW - 5.0, json!({})),
    ];
    store.rollout(ROOT, &json!({}), &records, NOW);
    assert_eq!(store.row().model.as_deref(), Some("beta"));
}

#[test]
fn codex_035_turn_004_starts_ends_and_silences() {
    let mut store = Store::new();
    let records = [
        event("task_started", NOW - 900.0, &json!({"started_at": (NOW - 905.0) * 1000.0})),
        complete(NOW - 800.0),
        started(NOW - 700.0),
        event("turn_aborted", NOW - 650.0, &json!({})),
        said(NOW - 640.0, "A prompt is no signal here"),
        started(NOW - 60.0),
        padding(NOW - 1.0, 10),
    ];
    let path = store.rollout(ROOT, &json!({}), &records, NOW);
    let row = store.row();
    assert_eq!(
        (row.evidence.turn_start, row.evidence.turn_durations.as_slice()),
        (Some(NOW - 60.0), &[105.0, 50.0][..])
    );
    let turn = row.turn.unwrap();
    assert_eq!((turn.elapsed_h.as_str(), turn.eta_h.as_deref(), turn.pct), ("1m", Some("45s"), Some(57)));
    assert_eq!(row.evidence.recorded_stop, None);
    append(&path, lines(&[complete(NOW)]).as_bytes(), NOW);
    let row = store.row();
    assert_eq!((row.turn, row.evidence.recorded_stop), (None, Some(NOW)));
    assert_eq!(row.looping, None);
}

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

#[test]
fn codex_047_malformed_lines_are_counted_and_cost_nothing_else() {
    let mut store = Store::new();
    let path = store.rollout(ROOT, &json!({}), &[], NOW);
    let text = ["not json", "[1,2]", "{", "\"text\"", "", "  ", r#"{"timestamp":7,"type":9,"payload":3}"#, r#"{"type":"event_msg"}"#,
        r#"{"timestamp":"2026-09-21T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":5}}"#].join("\n");
    append(&path, format!("{text}\n{}\n", line(&said(NOW - 4.0, "Still here, read on"))).as_bytes(), NOW);
    append(&path, &[b'{', 0xff, b'}', b'\n'], NOW);
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

#[test]
fn codex_036_061_the_quota_figures() {
    let read = |limits: &[Value]| {
        let mut store = Store::new();
        let records: Vec<Value> = limits
            .iter()
            .enumerate()
            .map(|(n, l)| event("token_count", NOW - 50.0 + n as f64, &json!({"info": null, "rate_limits": l})))
            .collect();
        store.rollout(ROOT, &json!({}), &records, NOW);
        store.collect();
        store.reader.usage(NOW, DAY)
    };
    let window = |used: Value, minutes: i64, resets: i64| json!({"used_percent": used, "window_minutes": minutes, "resets_at": resets});
    let usage = read(&[
        json!({"primary": window(json!(99), 300, 1)}),
        json!({"primary": window(json!(12.5), 300, 1_790_003_600), "secondary": window(json!(141.0), 10_080, 0)}),
        json!(null),
        json!({}),
        json!("none"),
    ])
    .unwrap();
    assert_eq!(usage.as_of, NOW - 49.0);
    assert_eq!(usage.five_hour, Some(Window { pct: 12, window_sec: Some(18_000), resets_at: Some(1_790_003_600.0) }));
    assert_eq!(usage.week, Some(Window { pct: 100, window_sec: Some(604_800), resets_at: None }));
    let usage = read(&[json!({"primary": window(json!(40), 10_080, 1), "secondary": null})]).unwrap();
    assert_eq!((usage.five_hour, usage.week.unwrap().pct), (None, 40));
    let usage = read(&[json!({"primary": window(json!(11), 300, 1), "secondary": window(json!(22), 60, 1)})]).unwrap();
    assert_eq!((usage.five_hour.unwrap().pct, usage.week), (11, None));
    let usage =
        read(&[json!({"primary": window(json!(-3), 1439, 1), "secondary": window(json!(0.5), 1440, 1)})]).unwrap();
    assert_eq!((usage.five_hour.unwrap().pct, usage.week.unwrap().pct), (0, 0));
    for bad in [json!(true), json!("50"), json!(null), json!([]), json!({})] {
        let usage = read(&[json!({"primary": window(bad.clone(), 300, 1), "secondary": window(json!(33), 10_080, 1)})])
            .unwrap();
        assert_eq!((usage.five_hour, usage.week.unwrap().pct), (None, 33), "{bad}");
        assert_eq!(read(&[json!({"primary": window(bad, 300, 1)})]), None);
    }
    assert_eq!(read(&[json!("none"), json!(null), json!([1]), json!({})]), None);
}

#[test]
fn codex_036_the_newest_snapshot_of_the_eight_rollouts_written_last() {
    let mut store = Store::new();
    let limits = |at: f64, used: i64| {
        event("token_count", at, &json!({"rate_limits": {"primary": {"used_percent": used, "window_minutes": 300}}}))
    };
    for n in 0..9 {
        store.rollout(
            &format!("s{n}"),
            &json!({}),
            &[limits(NOW - f64::from(n) - 100.0, i64::from(n))],
            NOW - 100.0 * f64::from(n),
        );
    }
    // The ninth has the newest stamp and is not looked at; a child is.
    store.rollout("s8", &json!({}), &[limits(NOW, 88)], NOW - 900.0);
    store.collect();
    assert_eq!(store.reader.usage(NOW, DAY).unwrap().five_hour.unwrap().pct, 0);
    store.child("kid", "nobody", &json!({}), &[limits(NOW - 10.0, 77), limits(NOW + DAY, 66)], NOW - 5.0);
    store.child("kid2", "nobody", &json!({}), &[limits(NOW - 20.0, 55)], NOW - 4.0);
    store.collect();
    assert_eq!(store.reader.usage(NOW, DAY).unwrap().five_hour.unwrap().pct, 77);
    assert_eq!(store.reader.usage(NOW + DAY, DAY - 60.0), None);
}
