//! Which entries of a session count: the branch from its newest leaf, whatever else the file holds.

use super::*;

/// PI-013, PI-036: nothing of a sibling branch counts.
#[test]
fn pi_013_036_only_the_active_branch_counts() {
    let lines = [
        user("a", None, NOW - 90.0, "Root prompt"),
        user("x", Some("a"), NOW - 80.0, "Abandoned prompt"),
        message(
            "y",
            Some("x"),
            NOW - 70.0,
            json!({"role": "assistant", "provider": "groq", "model": "abandoned", "content": [{"type": "toolCall", "name": "forbidden"}], "usage": {"output": 9000}, "stopReason": "toolUse"}),
        ),
        entry("custom", "z", Some("y"), NOW - 65.0, json!({"data": "f".repeat(1_000_000)})),
        user("b", Some("a"), NOW - 60.0, "Live prompt"),
        answer("c", "b", NOW - 10.0, Some("toolUse"), Some("bash"), 100),
    ];
    let row = told("sibling", &lines.concat(), NOW);
    assert_eq!(
        (row.title.as_deref(), row.last_prompt.as_str(), row.provider.as_deref()),
        (Some("Root prompt"), "Live prompt", None)
    );
    assert_eq!((shown(&row), row.rate_per_min), ((State::Working, "running bash"), Some(10)));
    assert_eq!(row.evidence.turn_durations.len(), 0);
}

/// PI-015, PI-016, PI-017, PI-035, PI-038, PI-041: appends, cuts, new roots, shrinking.
#[test]
fn pi_015_to_017_035_038_041_appends_extend_cut_and_replace_the_branch() {
    let (s, path) = store("grow", "", NOW);
    let mut pi = reader(&s);
    assert_eq!(one(&mut pi, NOW).title, None);
    append(&path, user("lost", Some("unknown"), NOW - 80.0, "Hanging"), NOW);
    assert_eq!(one(&mut pi, NOW).title, None);
    let first = message(
        "b",
        Some("a"),
        NOW - 60.0,
        json!({"role": "assistant", "provider": "groq", "model": "m1", "content": [], "usage": {"output": 500}, "stopReason": "stop"}),
    );
    append(&path, user("a", None, NOW - 70.0, "First prompt") + &first, NOW);
    let row = one(&mut pi, NOW);
    assert_eq!(
        (row.title.as_deref(), row.model.as_deref(), row.rate_per_min, row.state),
        (Some("First prompt"), Some("m1"), Some(50), State::Idle)
    );
    append(&path, user("c", Some("b"), NOW - 50.0, "Second prompt"), NOW);
    assert_eq!(one(&mut pi, NOW).last_prompt, "Second prompt");
    append(&path, user("d", Some("a"), NOW - 40.0, "Rebranched"), NOW);
    let row = one(&mut pi, NOW);
    assert_eq!(
        (row.title.as_deref(), row.last_prompt.as_str(), row.rate_per_min),
        (Some("First prompt"), "Rebranched", Some(0))
    );
    assert_eq!((row.provider, row.model), (None, None));
    append(&path, answer("e", "d", NOW - 5.0, Some("stop"), None, 0).trim_end(), NOW);
    assert_eq!(shown(&one(&mut pi, NOW)), (State::Working, "thinking"));
    append(&path, "\n", NOW);
    assert_eq!(one(&mut pi, NOW).state, State::Idle);
    append(&path, user("r", None, NOW - 2.0, "A new root"), NOW);
    let row = one(&mut pi, NOW);
    assert_eq!((row.title.as_deref(), row.last_prompt.as_str()), (Some("A new root"), "A new root"));
    // Back to an entry before the root: only the file knows it.
    append(&path, user("f", Some("b"), NOW - 1.0, "Back"), NOW);
    let row = one(&mut pi, NOW);
    assert_eq!(
        (row.title.as_deref(), row.last_prompt.as_str(), row.model.as_deref()),
        (Some("First prompt"), "Back", Some("m1"))
    );
    // A file that shrank is another one.
    std::fs::write(&path, head("x") + &user("a", None, NOW - 5.0, "Anew")).unwrap();
    touch(&path, NOW);
    assert_eq!(one(&mut pi, NOW).title.as_deref(), Some("Anew"));
}

/// PI-014, PI-039, PI-040: the newest branch that reaches a root.
#[test]
fn pi_014_039_040_broken_trees_fall_back_to_a_connected_branch() {
    let whole = user("a", None, NOW - 60.0, "Whole branch") + &answer("b", "a", NOW - 50.0, Some("stop"), None, 0);
    let broken = whole.clone()
        + "{\"type\":\"message\",\"id\":\"c\",\"parentId\":\"b\" BROKEN\n"
        + &answer("d", "c", NOW - 20.0, Some("toolUse"), Some("bash"), 0);
    let row = told("corrupt", &broken, NOW);
    assert_eq!((row.title.as_deref(), row.state), (Some("Whole branch"), State::Idle));
    assert_eq!(row.degrades, [Degrade { code: Code::RecordSkipped, source: "x.jsonl".into(), count: Some(1) }]);
    let cycle = user("a", Some("b"), NOW - 50.0, "Loop a") + &user("b", Some("a"), NOW - 40.0, "Loop b");
    let row = told("cycle", &cycle, NOW);
    assert_eq!((row.title.as_deref(), row.last_prompt.as_str()), (None, ""));
    let odd = "7\n[]\nnull\n{\"type\":\"message\"}\n{\"type\":\"message\",\"id\":4}\n{\"id\":\"\",\"parentId\":null}\n{\"type\":\"message\",\"id\":\"k\",\"parentId\":8,\"timestamp\":5,\"message\":\"text\"}\n";
    let row =
        told("odd", &(odd.to_owned() + &message("l", Some("k"), NOW, json!({"role": ["user"], "content": {}}))), NOW);
    assert_eq!((row.title, row.degrades[0].count), (None, Some(3)));
}

/// FIELD-014: a repeated id is followed once.
#[test]
fn field_014_a_repeated_id_is_followed_once() {
    let lines = [
        user("a", None, NOW - 60.0, "A"),
        user("b", Some("a"), NOW - 50.0, "B"),
        user("c", Some("b"), NOW - 40.0, "C"),
        user("b", Some("a"), NOW - 30.0, "B again"),
        user("d", Some("a"), NOW - 20.0, "D"),
    ];
    let row = told("repeat", &lines.concat(), NOW);
    assert_eq!(
        (row.title.as_deref(), row.last_prompt.as_str(), row.evidence.turn_durations.len()),
        (Some("A"), "D", 0)
    );
}

/// PI-018: a bound on the walk, said and made up for.
#[test]
fn pi_018_a_branch_longer_than_is_walked_says_so() {
    let mut bytes = head("x") + &user("e0", None, NOW - 600.0, "First prompt");
    let filler = "y".repeat(1_000_000);
    for i in 1..=69u32 {
        bytes += &entry("custom", &format!("e{i}"), Some(&format!("e{}", i - 1)), NOW - 500.0, json!({"data": filler}));
    }
    bytes += &user("last", Some("e69"), NOW - 5.0, "Last prompt");
    let s = Scratch::new("pi-huge");
    let path = s.write(&format!("{DIR}/x.jsonl"), bytes, NOW);
    let mut pi = reader(&s);
    let row = one(&mut pi, NOW);
    assert_eq!(
        (row.title.as_deref(), row.last_prompt.as_str(), row.source_gaps.as_slice()),
        (None, "Last prompt", &["message history"][..])
    );
    assert_eq!(row.degrades[0].code, Code::ReadInPart);
    append(&path, answer("z", "last", NOW, Some("stop"), None, 0), NOW);
    assert_eq!(one(&mut pi, NOW).state, State::Idle);
    // A walk this long is not repeated at once; it is owed and made later, though nothing was written since.
    append(&path, user("q", Some("e1"), NOW, "From before the walk"), NOW);
    assert_eq!(one(&mut pi, NOW).last_prompt, "Last prompt");
    assert_eq!(one(&mut pi, NOW + 5.0).last_prompt, "From before the walk");
}
