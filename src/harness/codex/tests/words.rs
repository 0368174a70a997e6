//! Prompts, instructions, answers.

use super::*;
use crate::model::InstructionLabel;
use serde_json::json;

/// CODEX-024, CODEX-025, CODEX-028: the prompt is found behind any padding in each of its forms.
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

/// CODEX-026, CODEX-027, CODEX-058, CODEX-059: the second line.
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

/// CODEX-065: the first prompt that counts.
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

/// CODEX-031: the newest final answer.
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

/// What is shown of a text typed after a first task: the title, the whole prompt, whether it states work.
fn shown(text: &str) -> (String, String, bool) {
    let mut store = Store::new();
    store.rollout(ROOT, &json!({}), &[said(NOW - 60.0, "Base task"), said(NOW - 40.0, text)], NOW);
    let row = store.row();
    (row.title.unwrap_or_default(), row.last_prompt, row.prompt_states_work)
}

/// CODEX-028: what the harness itself writes under the person's role is no prompt.
#[test]
fn codex_028_texts_of_the_harness_are_no_prompts() {
    let tags = "recommended_plugins skill teammate-message environment_context subagent_notification task-notification \
        local-command-stdout bash-input bash-stdout user_shell_command turn_aborted permissions multi_agent_mode \
        skills_instructions collaboration_mode app-context apps_instructions plugins_instructions";
    let mut injected: Vec<String> = Vec::new();
    for tag in tags.split_whitespace() {
        injected.extend([
            format!("<{tag}>words</{tag}>"),
            format!("</{tag} >words"),
            format!("<{} a=\"b\">x", tag.to_uppercase()),
        ]);
        injected.push(format!("\u{feff}\u{200b}\u{2060} \u{202a}<{tag}/>words\u{2069}"));
    }
    for start in [
        "# AGENTS.md instructions",
        "Analyze this conversation and determine",
        "Another Claude session sent a message:",
        "Base directory for this skill:",
        "Caveat: The messages below were generated by the user while running",
        "Stop hook feedback:",
        "This session is being continued from a previous conversation",
        "[Request interrupted by user",
        "[external_agent_tool_result]",
    ] {
        injected.push(format!("{start} and more"));
    }
    for whole in [
        "",
        " \n\t",
        "\u{200e}\u{feff}",
        "Warmup",
        "[Image #1]",
        "[Image: a] <image x>\n</image> Warmup",
        "<IMAGE></IMAGE>",
    ] {
        injected.push(whole.into());
    }
    for text in injected {
        assert_eq!(shown(&text).0, "Base task", "{text:?}");
    }
    for (text, title) in [
        ("<other>Fix the parser</other>", "Fix the parser"),
        ("<other>Warmup", "Warmup"),
        ("Warmup now", "Warmup now"),
        ("[Image #1] Fix the parser", "[Image #1] Fix the parser"),
        ("Fix the <skill> tag", "Fix the <skill> tag"),
        ("<skills>Fix it all</skills>", "Fix it all"),
        ("[Imagery] Fix it all", "[Imagery] Fix it all"),
    ] {
        assert_eq!(shown(text).0, title.replace("<skill> ", ""), "{text:?}");
    }
}

/// CODEX-029: what states work, on texts of which every rule for a bare continuation says the same.
#[test]
fn codex_029_what_states_work() {
    for text in
        ["Fix it", "/review the diff", "/help", "go ahead and rename the table", "<b>Fix it</b>", "proceed\nwith care"]
    {
        let want = !text.starts_with("proceed");
        assert_eq!(shown(text).2, want, "{text:?}");
    }
    for text in ["/clear", "/MODEL", "/reload-plugins", "proceed", "Yes, please!", "ok", "2", "...", "go ahead"] {
        assert!(!shown(text).2, "{text:?}");
    }
}

/// CODEX-027, CODEX-030: how a prompt becomes a title.
#[test]
fn codex_030_a_prompt_becomes_a_title() {
    for (text, title) in [
        (
            "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the <b>diff</b></command-args>",
            "/review the diff",
        ),
        ("<command-name> /compact\n</command-name><command-args> </command-args>", "/compact"),
        ("\n\n  Fix\t the   parser \nsecond line", "Fix the parser"),
        ("Read /home/dev/src/atlas/importer/rows.rs again", "Read rows.rs again"),
        ("Read ~/source/atlas/importer/rows.rs again", "Read rows.rs again"),
        ("Read /a/b/c.rs again", "Read /a/b/c.rs again"),
        (
            "See https://example.org/some/long/path/of/a/page now",
            "See https://example.org/some/long/path/of/a/page now",
        ),
        ("Rename a/very/long/relative/path/to/some/file.rs", "Rename a/very/long/relative/path/to/some/file.rs"),
    ] {
        assert_eq!(shown(text).0, title, "{text:?}");
    }
    let words = "word ".repeat(40);
    let title = shown(&words).0;
    assert!(title.ends_with("word…") && title.chars().count() <= 81, "{title}");
    let solid = shown(&"x".repeat(300));
    assert_eq!((solid.0.chars().count(), solid.0.ends_with('…'), solid.1.chars().count()), (81, true, 140));
    assert_eq!(shown("one\ntwo\u{202e} three").1, "one two  three");
}
