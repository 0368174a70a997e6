//! However a rollout arrives, it reads the same; whatever its bytes, it reads.

use super::*;
use crate::harness::codex::rollout::{Depth, Rollout};
use crate::surface::read;
use proptest::prelude::*;
use serde_json::json;

/// One of every kind of record, picked by number.
fn any_record(kind: u8, at: f64) -> String {
    let record = match kind {
        0 => said(at, &format!("Fix the defect seen at {at}")),
        1 => said(at, "go ahead"),
        2 => commentary(at, &format!("I will look at {at}")),
        3 => started(at),
        4 => event("task_complete", at, &json!({"last_agent_message": format!("Done at {at}")})),
        5 => event("turn_aborted", at, &json!({})),
        6 => tokens(at, 40, at as u64),
        7 => model(at, &format!("model-{at}")),
        8 => item("function_call", at, &json!({"name": format!("tool{at}"), "arguments": "{}"})),
        9 => item(
            "function_call",
            at,
            &json!({"name": "update_plan", "arguments": json!({"plan": [{"step": format!("Step {at}"), "status": "in_progress"}]}).to_string()}),
        ),
        10 => event("context_compacted", at, &json!({})),
        11 => padding(at, 700),
        12 => event(
            "token_count",
            at,
            &json!({"rate_limits": {"primary": {"used_percent": at % 100.0, "window_minutes": 300}}}),
        ),
        13 => said(at, "<environment_context>x</environment_context>"),
        14 => return "no record\n".into(),
        15 => event("agent_message", at, &json!({"message": format!("Perhaps {at}")})),
        16 => record("compacted", at, json!({"replacement_history": []})),
        _ => return String::from_utf8_lossy(&[b'{', 0xf0, b'}', b'\n']).into_owned(),
    };
    line(&record) + "\n"
}

fn published(row: &Observed) -> String {
    let mut row = serde_json::to_value(row).unwrap();
    row.as_object_mut().unwrap().remove("degrades");
    row.to_string()
}

fn story(kinds: &[(u8, u16)]) -> String {
    let mut at = NOW - 4000.0;
    let mut text = lines(&[record("session_meta", at, json!({"id": ROOT, "session_id": ROOT, "cwd": "/w/x"}))]);
    for (kind, step) in kinds {
        // Most steps are short; some are long silences, some go back in time.
        at += match step % 17 {
            0 => 400.0,
            1 => -30.0,
            n => f64::from(n),
        };
        text += &any_record(*kind, at.min(NOW + 1000.0));
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// TRUST-081, TURN-001: any split reads as the whole.
    #[test]
    fn trust_081_turn_001_any_split_reads_as_the_whole(kinds in proptest::collection::vec((0..18u8, any::<u16>()), 0..40), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..5)) {
        let text = story(&kinds);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut store = Store::new();
        let path = store.path("2026/09/20", ROOT);
        write(&path, "", NOW);
        for pair in cuts.windows(2) {
            append(&path, &text.as_bytes()[pair[0]..pair[1]], NOW);
            store.collect();
        }
        let row = store.row();
        let cold = store.cold_row();
        prop_assert_eq!(published(&row), published(&cold));
        prop_assert_eq!(row.degrades, cold.degrades);
        prop_assert_eq!(row.evidence.turn_start, cold.evidence.turn_start);
        prop_assert_eq!(row.evidence.turn_durations, cold.evidence.turn_durations);
        prop_assert_eq!(row.evidence.recorded_stop, cold.evidence.recorded_stop);
    }

    /// TURN-006, CODEX-024, CODEX-034, CODEX-037: a scan begun anywhere finds what lies before.
    #[test]
    fn turn_006_codex_024_034_037_a_scan_begun_anywhere_finds_what_lies_before(
        kinds in proptest::collection::vec((0..18u8, 2..17u16), 0..40), cold in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>(),
    ) {
        let text = story(&kinds);
        let store = Store::new();
        let path = store.path("2026/09/20", ROOT);
        let cut = cut.index(text.len() + 1);
        // A line that began before the scan and is not finished is nobody's; only one longer than any that is read can be.
        let cut = text.as_bytes()[..cut].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let (mut whole, mut partly) = (Rollout::new(Depth::Whole), Rollout::new(Depth::Whole));
        write(&path, &text[..cut], NOW);
        let stamp = |path| read::look(path).unwrap().stamp;
        partly.fold(&path, stamp(&path), cold.index(cut + 1) as u64, NOW, &mut u64::MAX.clone()).unwrap();
        append(&path, &text.as_bytes()[cut..], NOW);
        partly.fold(&path, stamp(&path), 0, NOW, &mut u64::MAX.clone()).unwrap();
        whole.fold(&path, stamp(&path), u64::MAX, NOW, &mut u64::MAX.clone()).unwrap();
        prop_assert_eq!(partly.intent(), whole.intent());
        prop_assert_eq!((partly.model(), partly.plan()), (whole.model(), whole.plan()));
        prop_assert_eq!(partly.facts.turn_start(), whole.facts.turn_start());
        let both = (&partly.facts.first, &whole.facts.first);
        prop_assert!(both.0 == both.1 || both.0.is_none(), "{:?}", both);
    }

    /// TRUST-033, TRUST-061: any bytes and any values are survived.
    #[test]
    fn trust_033_061_any_bytes_and_any_values_are_survived(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        shape in any_value(), kind in 0..14usize, member in 0..16usize, cut in any::<prop::sample::Index>(),
    ) {
        let mut store = Store::new();
        let path = store.path("2026/09/20", ROOT);
        const KINDS: [&str; 14] = ["message", "function_call", "custom_tool_call", "compaction", "token_count", "user_message", "agent_message", "item_completed", "task_started", "task_complete", "turn_aborted", "session_meta", "turn_context", "thread_rolled_back"];
        const MEMBERS: [&str; 16] = ["role", "content", "message", "phase", "item", "name", "arguments", "input", "started_at", "last_agent_message", "info", "rate_limits", "model", "id", "source", "agent_path"];
        let mut payload = json!({"type": KINDS[kind], "role": "user", "name": "update_plan"});
        payload[MEMBERS[member]] = shape.clone();
        let mut text = Vec::new();
        for outer in ["session_meta", "event_msg", "response_item", "turn_context"] {
            text.extend(json!({"timestamp": iso(NOW), "type": outer, "payload": payload}).to_string().bytes());
            text.push(b'\n');
            text.extend(json!({"timestamp": shape, "type": outer, "payload": shape}).to_string().bytes());
            text.push(b'\n');
        }
        text.extend(&bytes);
        text.push(b'\n');
        let end = cut.index(text.len() + 1);
        write_bytes(&path, &text[..end], NOW);
        store.collect();
        append(&path, &text[end..], NOW);
        let rows = store.all().rows;
        prop_assert!(rows.len() <= 1);
        prop_assert!(serde_json::to_string(&rows).is_ok());
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(|n| json!(n)),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json!("commentary")),
        Just(json!("user")),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map(
                prop_oneof![
                    Just("type".to_owned()),
                    Just("text".to_owned()),
                    Just("content".to_owned()),
                    Just("subagent".to_owned()),
                    Just("primary".to_owned()),
                    Just("plan".to_owned()),
                    "[a-z]{1,4}"
                ],
                inner,
                0..4
            )
            .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}
