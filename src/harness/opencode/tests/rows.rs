//! What a sound store gives.

use super::*;

/// OC-012, OC-013, OC-014, OC-016, OC-017, OC-018, OC-019, OC-020: a complete row.
#[test]
fn oc_012_to_020_the_fixture_gives_a_complete_row() {
    let mut home = Home::new("complete");
    let live = home.store("");
    assert!(home.reader.discovered());
    let found = home.now();
    assert_eq!(sids(&found), [PARENT], "the child is no row");
    let row = row(&found, PARENT);
    assert_eq!(row.title.as_deref(), Some("Importer skips empty rows"));
    assert_eq!(row.last_prompt, "Make the importer skip empty rows");
    assert_eq!((row.project.as_str(), row.model.as_deref()), ("src/atlas", Some("claude-sonnet-4-5")));
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Working, Some("running 1 subagent")));
    assert_eq!((row.last_activity, row.rate_per_min, row.active), (1_789_900_000.0, None, true));
    assert_eq!((row.subagents[0].name.as_str(), &row.subagents[0].model), ("Find callers (@explore subagent)", &None));
    assert_eq!(row.turn.as_ref().unwrap().elapsed_h, "1m");
    assert_eq!((row.started_at, row.provider.as_ref(), row.blocked_since), (None, None, None));
    assert_eq!(row.project_identity_source, "collector project label");
    assert!(row.source_gaps.is_empty() && row.degrades.is_empty());
    assert!(found.degrades.is_empty() && found.store_errors.is_empty());
    drop(live);
}

/// OC-022, OC-023: reasoning, tools and attachments reach no row.
#[test]
fn oc_022_trust_028_reasoning_tool_calls_and_attachments_appear_nowhere() {
    let mut home = Home::new("reasoning");
    drop(home.store(&format!("UPDATE message SET data = '{USER}' WHERE id = 'msg_02';")));
    for all in [false, true] {
        let rows = format!("{:?}", home.pass(NOW, all).rows);
        for never in ["REASONING-BYTES", "NEVER-SHOWN", "secret-plan", "base64"] {
            assert!(!rows.contains(never) && STORE_SQL.contains(never), "{never}");
        }
    }
}

/// OC-011, OC-029: archived sessions, children and whole families.
#[test]
fn oc_011_oc_029_archived_sessions_are_gone_with_their_children() {
    let mut home = Home::new("archived");
    let child = |n, parent: &str| session(n, 5, &format!("parent_id = '{parent}'"));
    let sql = [
        session(1, 5, "time_archived = 1789900000000"),
        child(2, "ses_1"),
        session(3, 5, "time_archived = 0"),
        session(4, 5, "time_archived = 1, parent_id = 'ses_3'"),
        child(5, "ses_absent"),
        child(6, "ses_6"),
    ];
    drop(home.empty(&sql.concat()));
    for all in [false, true] {
        let found = home.pass(NOW, all);
        assert_eq!(sids(&found), ["ses_3"]);
        assert!(row(&found, "ses_3").subagents.is_empty());
    }
}

/// OC-013, OC-014, OC-034: children by freshness, each with its own name and model.
#[test]
fn oc_013_oc_034_children_make_their_parent_work_through_any_generation() {
    let mut home = Home::new("children");
    let sql = [
        session(1, 90_000, ""),
        session(2, 20, r#"parent_id = 'ses_1', model = '{"id":"child-model"}'"#),
        session(3, 200, "parent_id = 'ses_1'"),
        session(4, 10, "parent_id = 'ses_3', title = ' '"),
    ];
    drop(
        home.empty(
            &(sql.concat() + &message("m", 1, -90_000, USER) + &part("p", "m", r#"{"type":"text","text":"go"}"#)),
        ),
    );
    let found = home.now();
    let parent = row(&found, "ses_1");
    assert_eq!((parent.state, parent.active), (State::Working, true));
    assert_eq!(parent.state_detail.as_deref(), Some("running 2 subagents"));
    let pills: Vec<_> = parent.subagents.iter().map(|s| (s.name.as_str(), s.model.as_deref())).collect();
    assert_eq!(pills, [("subagent", None), ("Title 2", Some("child-model"))], "newest first, each its own model");
    assert_eq!((parent.model.as_deref(), parent.last_prompt.as_str()), (None, "go"));
    assert_eq!(home.pass(NOW + 100.0, false).rows.len(), 0, "and parked again once they are quiet");
    assert_eq!(home.pass(NOW + 100.0, true).rows.len(), 1);
}

/// OC-007, OC-010, OC-030: no limit hides a session, and no fan of children either.
#[test]
fn oc_007_oc_010_oc_030_show_all_lists_everything_and_children_push_nobody_out() {
    let mut home = Home::new("many");
    let old: String = (10..260).map(|n| session(n, 172_800, "")).collect();
    let fan: String = (1000..1300).map(|n| session(n, 1, "parent_id = 'ses_1'")).collect();
    drop(home.empty(&(old + &fan + &session(1, 3600, "") + &session(2, 7200, ""))));
    assert_eq!(sids(&home.now()), ["ses_1", "ses_2"]);
    assert_eq!(home.pass(NOW, true).rows.len(), 252);
    assert_eq!(row(&home.now(), "ses_1").subagents.len(), 300);
    assert_eq!(home.pass(NOW, true).rows.len(), 252);
}

/// OC-014, OC-033: times are numbers, in either unit.
#[test]
fn oc_014_oc_033_only_numbers_are_times() {
    let mut home = Home::new("times");
    let sql = [
        session(1, 5, "time_updated = CAST('1789900000000' AS TEXT)"),
        session(2, 5, "time_updated = 1789900000"),
        session(3, 5, "time_updated = 1789900000000 + 86400000"),
        session(4, 5, "time_updated = x'00'"),
        session(5, 5, "time_updated = -1"),
    ];
    let live = home.empty("");
    live.execute_batch(
        "ALTER TABLE session RENAME COLUMN time_updated TO t; ALTER TABLE session ADD COLUMN time_updated",
    )
    .unwrap();
    live.execute_batch(
        &sql.concat()
            .replace("time_created, time_updated", "t, time_created, time_updated")
            .replace(", 0, ", ", 0, 0, "),
    )
    .unwrap();
    assert_eq!(sids(&home.now()), ["ses_2"]);
    assert_eq!(home.pass(NOW, true).rows.len(), 5);
    let later = NOW + WINDOW;
    assert_eq!(sids(&home.pass(later, false)), ["ses_3"], "what was ahead is believed once its time has come");
    assert_eq!(row(&home.pass(later, false), "ses_3").state, State::Working);
}

/// OC-015: idle past the working window.
#[test]
fn oc_015_a_quiet_session_waits_for_its_message() {
    let mut home = Home::new("quiet");
    drop(home.store(""));
    let found = home.pass(NOW + 120.0, false);
    let row = row(&found, PARENT);
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Idle, Some("awaiting your message")));
    assert_eq!((row.turn.as_ref(), row.subagents.len()), (None, 0));
    assert_eq!(row.evidence.turn_start, Some(1_789_899_900.0));
    assert_eq!(row.evidence.working_detail.as_deref(), Some("generating…"));
}

/// OC-017, OC-038: every shape of a model.
#[test]
fn oc_017_oc_038_models_in_their_many_shapes() {
    let mut home = Home::new("models");
    let answers = |n: u32| message(&format!("a{n}"), n, -50, ASSISTANT);
    let model = |n, model: &str| session(n, 5, &format!("model = {model}")) + &answers(n);
    let sql = [
        model(1, r#"'{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}'"#),
        model(2, "'gpt-5'"),
        model(3, "NULL"),
        model(4, "'[]'"),
        model(5, "'{}'"),
        session(6, 5, "model = '{}'"),
        session(7, 5, "model = '[]'"),
        model(8, "'   '") + &message("b8", 8, -40, r#"{"role":"assistant"}"#),
        session(9, 120, r#"model = '{"id":"for idle rows too"}'"#),
        session(10, 5, r#"model = '{"id":7}'"#),
        session(11, 5, &format!("model = '{}'", "x".repeat(60))),
    ];
    drop(home.empty(&sql.concat()));
    let found = home.now();
    let of = |n: u32| row(&found, &format!("ses_{n}")).model.as_deref();
    assert_eq!((of(1), of(2)), (Some("claude-sonnet-4-5"), Some("gpt-5")));
    assert_eq!((of(3), of(4), of(5)), (Some("from-message"), Some("from-message"), Some("from-message")));
    assert_eq!((of(6), of(7), of(10)), (None, None, None));
    assert_eq!(of(8), None, "an older answer's model does not stand in");
    assert_eq!(of(9), Some("for idle rows too"));
    assert_eq!(of(11).map(str::len), Some(40));
}

/// OC-018, OC-035: roles make turns; a message without one is a gap.
#[test]
fn oc_018_oc_035_turns_and_messages_that_do_not_say_whose_they_are() {
    let mut home = Home::new("turns");
    let sql = [
        session(1, 5, ""),
        message("a", 1, -300, USER),
        message("b", 1, -200, ASSISTANT),
        message("c", 1, -100, USER),
        message("d", 1, -90, "not json"),
        session(2, 5, ""),
        message("e", 2, -100, USER),
        message("f", 2, -10, r#"{"role":7}"#),
        session(3, 5, ""),
        message("g", 3, -60, USER),
        "INSERT INTO message VALUES ('h', 'ses_3', 0, 0, '{\"role\":\"user\"}');".into(),
    ];
    drop(home.empty(&sql.concat()));
    let found = home.now();
    let (one, two, three) = (row(&found, "ses_1"), row(&found, "ses_2"), row(&found, "ses_3"));
    assert_eq!(
        (one.evidence.turn_start, one.evidence.turn_durations.as_slice()),
        (Some(MS as f64 / 1e3 - 100.0), &[100.0][..])
    );
    assert_eq!(one.turn.as_ref().unwrap().elapsed_h, "1m");
    assert_eq!((&one.source_gaps, &two.source_gaps), (&vec!["message history"], &vec!["message history"]));
    assert_eq!(three.evidence.turn_start, Some(MS as f64 / 1e3 - 60.0), "a message without a time moves no clock");
    assert!(three.source_gaps.is_empty());
}

/// OC-019, OC-036, OC-037: what was typed, of the newest prompt alone.
#[test]
fn oc_019_oc_036_oc_037_prompts() {
    let mut home = Home::new("prompts");
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let sql = [
        session(1, 5, ""),
        message("m1", 1, -50, USER),
        part("p1", "m1", &text("Make it skip")),
        part("p2", "m1", r#"{"type":"file","filename":"x.pdf"}"#),
        part("p3", "m1", r#"{"type":"agent","name":"explore"}"#),
        part("p4", "m1", &text("empty rows")),
        part("p5", "m1", r#"{"type":"text","text":"ignored","ignored":true}"#),
        part("p6", "m1", "not json"),
        part("p7", "m1", r#"{"type":"text","text":["no","text"]}"#),
        session(2, 5, ""),
        message("m2", 2, -60, USER),
        part("q1", "m2", &text("Older prompt")),
        message("m3", 2, -50, USER),
        part("q2", "m3", r#"{"type":"file","filename":"y.pdf"}"#),
        session(3, 5, ""),
        message("m4", 3, -50, USER),
        part("r1", "m4", &text(r"two\nlines \u202eand sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")),
    ];
    drop(home.empty(&sql.concat()));
    let found = home.now();
    assert_eq!(row(&found, "ses_1").last_prompt, "Make it skip empty rows");
    assert_eq!(row(&found, "ses_2").last_prompt, "", "no older prompt stands in");
    assert_eq!(row(&found, "ses_3").last_prompt, "two lines  and sk-ant-…REDACTED");
}

/// OC-042: five megabytes cost no more than their beginning.
#[test]
fn oc_042_a_prompt_of_five_megabytes_is_read_by_its_beginning() {
    let mut home = Home::new("huge");
    let live = home.empty(&(session(1, 5, "") + &message("m1", 1, -50, USER)));
    let body = "é".repeat(2_500_000);
    live.execute(
        "INSERT INTO part VALUES ('p', 'm1', '', 0, 0, ?1)",
        [format!(r#"{{"type":"text","text":"{body}"}}"#)],
    )
    .unwrap();
    let summary = format!(r#"{{"role":"user","summary":{{"diffs":"{body}"}}}}"#);
    live.execute("UPDATE message SET data = ?1", [summary]).unwrap();
    let found = home.now();
    let row = row(&found, "ses_1");
    assert_eq!(row.last_prompt, "é".repeat(140));
    assert!(row.source_gaps.is_empty() && row.turn.is_some());
    // Of each part two thousand characters are considered, blanks or not.
    let blanks = format!(r#"{{"type":"text","text":"{} too late"}}"#, " ".repeat(2000));
    live.execute("UPDATE part SET data = ?1", [blanks]).unwrap();
    live.execute_batch(&part("q", "m1", r#"{"type":"text","text":"in time"}"#)).unwrap();
    assert_eq!(home.now().rows[0].last_prompt, "in time");
}

/// OC-016, OC-043: redacted, then cut.
#[test]
fn oc_043_titles_are_redacted_before_they_are_cut() {
    let mut home = Home::new("title");
    let title = format!("{} ghp_{}", "word ".repeat(14), "A".repeat(36));
    drop(home.empty(&session(1, 5, &format!("title = '{title}'"))));
    let found = home.now();
    let title = row(&found, "ses_1").title.clone().unwrap();
    assert!(title.ends_with("ghp_…REDACTED"), "{title}");
}
