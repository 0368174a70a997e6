//! Odd, long and growing files, and any bytes at all.

use super::*;
use proptest::prelude::*;

/// COP-036, FIELD-009: odd lines are counted and cost themselves.
#[test]
fn cop_036_field_009_odd_lines_cost_only_themselves_and_are_counted() {
    let mut home = Home::new("odd");
    let mut lines = String::from(
        "junk\n[]\n4\n\n{\"type\":5}\n{\"type\":\"user.message\",\"data\":7}\n{\"type\":\"permission.requested\",\"data\":\"x\"}\n",
    );
    lines += "{\"type\":\"session.compaction_complete\",\"data\":{\"x\":[{}]}}\n{\"type\":\"subagent.started\",\"agentId\":[1],\"data\":{\"id\":{}}}\n";
    lines += &format!("\u{feff}{}", prompt(NOW - 9.0, "Half a pair \\ud800").replace("\\\\ud800", "\\ud800"));
    let path = home.events("s", &lines, NOW - 5.0);
    append(&path, b"{\"type\":\"user.message\",\"data\":{\"content\":\"\xff\xfe ok\"}}\n", NOW - 5.0);
    home.dir.write("session-state/bin/events.jsonl", (0..=255u8).cycle().take(20_000).collect::<Vec<u8>>(), NOW - 5.0);
    let rows = home.at(NOW, false).rows;
    let odd = row(&rows, "s");
    assert_eq!(odd.last_prompt, "\u{fffd}\u{fffd} ok");
    assert_eq!(odd.degrades, [Degrade { code: Code::RecordSkipped, source: "events.jsonl".into(), count: Some(4) }]);
    assert_eq!(row(&rows, "bin").state, State::Working);
}

/// FIELD-044: a long file is read in part and says so.
#[test]
fn turn_002_turn_006_field_044_a_long_file_is_read_in_part_and_says_so() {
    let mut home = Home::new("long");
    let start = event("session.start", NOW - 400.0, json!({"context": {"cwd": "/w/acme/long"}}));
    let filler = event("assistant.message", NOW - 200.0, json!({"content": "y".repeat(1 << 20)})).repeat(9);
    let text = start.clone() + &prompt(NOW - 300.0, "Long ago") + &filler;
    let path = home.events("s", &text, NOW - 5.0);
    let row = one(&mut home.reader, NOW);
    assert_eq!((row.project.as_str(), row.last_prompt.as_str()), ("acme/long", "Long ago"));
    assert_eq!((row.evidence.turn_start, row.started_at), (Some(NOW - 300.0), None));
    assert_eq!(row.degrades.iter().map(|degrade| degrade.code).collect::<Vec<_>>(), [Code::ReadInPart]);
    std::fs::write(&path, start + &prompt(NOW - 300.0, "Ended") + &event("abort", NOW - 250.0, json!({})) + &filler)
        .unwrap();
    touch(&path, NOW - 4.0);
    let row = one(&mut home.reader, NOW);
    assert_eq!((row.last_prompt.as_str(), row.evidence.turn_start), ("Ended", None));
}

fn any_event() -> impl Strategy<Value = String> {
    let at = (0..90u32).prop_map(|ago| NOW - f64::from(ago));
    let id = prop_oneof![Just("a"), Just("b"), Just("c")];
    (at, id, 0..9u8).prop_map(|(at, id, kind)| match kind {
        0 => prompt(at, id),
        1 => asked(at, id, "shell"),
        2 => answered(at, id),
        3 => agent("subagent.started", at, id),
        4 => agent("subagent.completed", at, id),
        5 => event("tool.execution_start", at, json!({"name": id})),
        6 => event("session.task_complete", at, json!({})),
        7 => event("user.message", at, json!({"content": [], "text": if id == "a" { "" } else { id }})),
        _ => "{\"type\": \"odd\r\n".into(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn read_as_it_grows_a_session_is_what_a_cold_read_makes_of_it(
        events in proptest::collection::vec(any_event(), 1..30), cuts in proptest::collection::vec(0.0..1.0f64, 0..5)
    ) {
        let mut home = Home::new("split");
        let text = events.concat();
        let mut ends: Vec<usize> = cuts.iter().map(|cut| (cut * text.len() as f64) as usize).collect();
        ends.sort_unstable();
        ends.push(text.len());
        let path = home.events("s", "", NOW - 1.0);
        let mut from = 0;
        for end in ends {
            append(&path, &text.as_bytes()[from..end], NOW - 1.0);
            from = end;
            let warm = home.at(NOW, false).rows;
            let cold = pass(&mut Copilot::new(home.dir.0.clone(), "/home/dev".into()), NOW, false).rows;
            prop_assert_eq!(format!("{warm:?}"), format!("{cold:?}"));
        }
    }

    #[test]
    fn trust_033_any_bytes_make_a_row_and_no_fault(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut home = Home::new("bytes");
        home.dir.write("session-state/s/events.jsonl", &bytes, NOW);
        home.dir.write("session-store.db", &bytes, NOW);
        prop_assert_eq!(home.at(NOW, false).rows.len(), 1);
    }
}
