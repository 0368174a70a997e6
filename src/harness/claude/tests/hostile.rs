//! Any bytes, any JSON of about the right shape, any truncation: never a panic, never a lost neighbour (TRUST-080).

use super::home::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!("user")),
        Just(json!("assistant")),
        Just(json!("tool_use")),
        Just(json!("AskUserQuestion")),
        Just(json!("2026-05-01T10:00:00Z")),
        Just(json!("session-27d10654")),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        let key = prop::sample::select(vec![
            "type",
            "timestamp",
            "message",
            "content",
            "id",
            "name",
            "input",
            "questions",
            "question",
            "plan",
            "usage",
            "output_tokens",
            "model",
            "cwd",
            "agentName",
            "teamName",
            "aiTitle",
            "lastPrompt",
            "text",
            "tool_use_id",
            "is_error",
            "isSidechain",
            "uuid",
            "members",
            "agentId",
            "joinedAt",
            "isActive",
            "status",
            "subject",
            "__proto__",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(key.prop_map(str::to_owned), inner, 0..8)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

fn near_json() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        3 => any_json().prop_map(|v| v.to_string().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..60),
        1 => Just(br#"{"type":"user","message":{"content":"\ud800\udfff\ud800 x"}}"#.to_vec()),
    ];
    (prop::collection::vec(line, 0..20), any::<prop::sample::Index>()).prop_map(|(lines, cut)| {
        let mut bytes = lines.join(&b'\n');
        let keep = bytes.len() - cut.index(bytes.len() + 1) / 8;
        bytes.truncate(keep);
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// TRUST-080.
    #[test]
    fn trust_080_any_bytes_in_any_file_of_the_store(
        transcript in near_json(), agent in near_json(), meta in near_json(), task in near_json(), team in near_json(),
    ) {
        let mut home = Home::new();
        home.session("ffffffff", &[ask("The neighbour that is sound", 20.0), say("ok", 10.0)], 5.0);
        let folder = format!("projects/-w-acme-shop/{LEAD}");
        home.write(&format!("{folder}.jsonl"), &transcript, 5.0);
        home.write(&format!("{folder}/subagents/agent-1.jsonl"), &agent, 5.0);
        home.write(&format!("{folder}/subagents/agent-1.meta.json"), &meta, 5.0);
        home.write(&format!("tasks/{LEAD}/1.json"), &task, 5.0);
        home.write(&format!("teams/session-{KEY}/config.json"), &team, 5.0);
        let rows = home.rows();
        let sound = rows.iter().find(|r| r.sid == "ffffffff").expect("the neighbour's row");
        prop_assert_eq!(sound.title.as_deref(), Some("The neighbour that is sound"));
        let text = serde_json::to_string(&rows).unwrap();
        prop_assert!(!text.contains("NaN"));
        // What stands after growth is what a reader that never saw the beginning finds.
        let mut more = transcript.clone();
        more.extend_from_slice(b"\n");
        more.extend_from_slice(lines(&[ask("A last and sound prompt to do", 3.0)]).as_bytes());
        home.write(&format!("{folder}.jsonl"), &more, 4.0);
        let warm = serde_json::to_string(&home.rows()).unwrap();
        home.restart();
        prop_assert_eq!(warm, serde_json::to_string(&home.rows()).unwrap());
    }

    /// TRUST-080.
    #[test]
    fn trust_080_any_notification(payload in any_json(), path in ".{0,30}") {
        let home = Home::new();
        home.session(LEAD, &[ask("Do the thing that was asked for", 20.0)], 5.0);
        let mut object = payload.as_object().cloned().unwrap_or_default();
        object.insert("session_id".into(), json!(LEAD));
        object.insert("transcript_path".into(), json!(path));
        home.hooks.notify(&object, NOW, |_, _| false);
        prop_assert!(home.hooks.standing(KEY).is_none_or(|n| n.baseline.is_none()));
    }
}
