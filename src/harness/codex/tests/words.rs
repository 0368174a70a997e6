//! Prompts, instructions, answers.

use super::*;
use crate::model::InstructionLabel;
use serde_json::json;

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
