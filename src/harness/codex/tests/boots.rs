//! A first officer is told by what its commands printed.

use super::*;
use crate::harness::codex::boots;
use crate::model::Spacedock;
use serde_json::json;

const BOOT: &str = r#"{"command":"boot","id_style":"slug","dispatchable":[{"slug":"case-7","current":"verify","next":"uat"}],"definition_dir":"/w/one","entity_dir":"/w/one/.spacedock-state"}"#;
const RENDERED: &str = "command: \"boot\"\ndispatchable:\n  -\n    slug: \"case-7\"\n    current: \"verify\"\ndefinition_dir: \"/w/one\"\n";

fn printed(output: &Value) -> Value {
    item("function_call_output", NOW - 20.0, &json!({"call_id": "c", "output": output}))
}

fn wrapped(status: &Value, exit_code: &Value, output: &str) -> Value {
    printed(&json!(json!({"status": status, "value": {"exit_code": exit_code, "output": output}}).to_string()))
}

fn officer(records: &[Value]) -> bool {
    let mut store = Store::new();
    store.rollout(ROOT, &json!({}), records, NOW);
    let told = store.row().spacedock;
    assert!(told.is_none() || told == Some(Spacedock { role: "first-officer", workflows: vec![] }));
    told.is_some()
}

/// CODEX-044, SPD-002, SPD-010, SPD-011: command output alone counts, as text or as a list of texts.
#[test]
fn codex_044_output_alone_tells_a_first_officer() {
    for record in [
        printed(&json!(BOOT)),
        printed(&json!(format!("Chunk ID: 1\nOutput:\n{BOOT}\n"))),
        printed(&json!(RENDERED)),
        printed(&json!([{"type": "input_text", "text": 7}, 9, null, {"type": "input_text", "text": BOOT}])),
        item("custom_tool_call_output", NOW, &json!({"output": BOOT})),
        item("custom_tool_call_output", NOW, &json!({"output": [{"type": "input_text", "text": RENDERED}]})),
    ] {
        assert!(officer(std::slice::from_ref(&record)), "{record}");
    }
    for record in [
        printed(&json!({"text": BOOT})),
        printed(&json!({"output": [{"text": BOOT}]})),
        printed(&json!([BOOT])),
        printed(&json!([[{"text": BOOT}]])),
        printed(&json!([{"text": {"text": BOOT}}])),
        printed(&json!(null)),
        printed(&json!(RENDERED.replace("definition_dir", "  definition_dir"))),
        printed(&json!(BOOT.replace("\"boot\"", "\"list\""))),
        // Without the word a line is not parsed at all.
        printed(&json!(r#"{"command":"boot","entity_dir":"/w/one"}"#)),
        item("function_call", NOW, &json!({"name": "exec_command", "arguments": BOOT, "output": BOOT})),
        item("custom_tool_call", NOW, &json!({"name": "exec", "input": BOOT})),
        item("reasoning", NOW, &json!({"summary": [{"text": BOOT}], "output": BOOT})),
        item("message", NOW, &json!({"role": "assistant", "content": [{"type": "output_text", "text": BOOT}]})),
        said(NOW, BOOT),
        event("function_call_output", NOW, &json!({"output": BOOT})),
        event("agent_message", NOW, &json!({"message": BOOT})),
    ] {
        assert!(!officer(std::slice::from_ref(&record)), "{record}");
    }
    // Members in another order than Codex writes them.
    let turned = format!(
        "{{\"payload\":{{\"output\":{},\"type\":\"function_call_output\"}},\"type\":\"response_item\"}}",
        json!(BOOT)
    );
    assert_eq!(boots::read(turned.as_bytes()).len(), 1);
    assert_eq!(boots::read(turned.replace("response_item", "event_msg").as_bytes()), []);
}

/// SPD-014: the wrapper counts when it came to its end with the integer 0 and holds one whole envelope and no more.
#[test]
fn spd_014_a_wrapped_result_counts_by_its_end_alone() {
    let done = json!("fulfilled");
    assert!(officer(&[wrapped(&done, &json!(0), BOOT)]));
    assert!(officer(&[wrapped(&done, &json!(0), &format!("{BOOT}\n"))]));
    for exit_code in [json!(1), json!(-1), json!(false), json!(true), json!("0"), json!(0.0), json!(null), json!([0])] {
        assert!(!officer(&[wrapped(&done, &exit_code, BOOT)]), "{exit_code}");
    }
    for status in [json!("rejected"), json!("Fulfilled"), json!(""), json!(true), json!(null)] {
        assert!(!officer(&[wrapped(&status, &json!(0), BOOT)]), "{status}");
    }
    for output in
        [format!("{BOOT}{BOOT}"), format!("x {BOOT}"), format!("{BOOT} x"), RENDERED.into(), format!("[{BOOT}]")]
    {
        assert!(!officer(&[wrapped(&done, &json!(0), &output)]), "{output}");
    }
    let bare = json!({"status": "fulfilled", "value": BOOT}).to_string();
    assert!(!officer(&[printed(&json!(bare))]));
}

/// SPD-016, CODEX-044: what lies before the turn scan of a long rollout is walked forward, a piece a pass, past a line
/// longer than a piece; a file read anew is walked anew; and a row outside the window is not read for it.
#[test]
fn spd_016_a_late_boot_of_a_long_rollout_is_found_after_several_passes() {
    let filler = |bytes: usize| (line(&padding(NOW - 100.0, 100_000)) + "\n").repeat(bytes / 100_000);
    let mut store = Store::new();
    let path = store.rollout(ROOT, &json!({}), &[padding(NOW - 100.0, 700_000)], NOW);
    append(&path, filler(1_200_000).as_bytes(), NOW);
    append(&path, lines(&[printed(&json!(BOOT))]).as_bytes(), NOW);
    append(&path, filler(12_000_000).as_bytes(), NOW);
    let passes = (1..9).find(|_| store.row().spacedock.is_some());
    assert!(passes.is_some_and(|n| (4..=6).contains(&n)), "{passes:?}");
    let head = line(&record("session_meta", NOW, json!({"id": ROOT, "session_id": ROOT})));
    write(&path, &(head + "\n" + &lines(&[said(NOW, "Start again from nothing")])), NOW + 1.0);
    assert_eq!(store.row().spacedock, None);
    append(&path, lines(&[printed(&json!(BOOT))]).as_bytes(), NOW + 2.0);
    assert!(store.row().spacedock.is_some());
    touch(&path, NOW - 2.0 * DAY);
    assert_eq!(store.all().rows[0].spacedock, None);
}

/// SPD-016: the first sixteen are kept.
#[test]
fn spd_016_sixteen_envelopes_are_kept() {
    let mut store = Store::new();
    let many: Vec<Value> = (0..20).map(|n| printed(&json!(BOOT.replace("one", &format!("w{n}"))))).collect();
    let path = store.rollout(ROOT, &json!({}), &many, NOW);
    store.row();
    let kept = &store.reader.shelf[&path].facts.boots;
    assert_eq!((kept.len(), kept[0].definition_dir.as_deref()), (16, Some("/w/w0")));
}
