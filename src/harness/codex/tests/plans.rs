//! Plans in both forms, and the readers beneath them.

use super::*;
use crate::harness::codex::script;
use serde_json::json;

fn call(plan: &Value, at: f64) -> Value {
    item("function_call", at, &json!({"name": "update_plan", "arguments": json!({ "plan": plan }).to_string()}))
}

fn script_call(source: &str) -> Value {
    item("custom_tool_call", NOW - 5.0, &json!({"name": "exec", "input": source}))
}

fn tasks(records: &[Value]) -> Vec<(String, String, String)> {
    let mut store = Store::new();
    store.rollout(ROOT, &json!({}), records, NOW);
    let row = store.row();
    row.tasks.iter().map(|t| (t.id.as_str().unwrap().into(), t.subject.clone(), t.status.clone())).collect()
}

/// CODEX-037, CODEX-038, CODEX-040, CODEX-042, ROW-042: the newest plan becomes task rows.
#[test]
fn codex_037_038_040_042_row_042_the_newest_plan_becomes_task_rows() {
    let mut store = Store::new();
    let plan = json!([{"step": "Read importer", "status": "completed"}, {"step": "Add\ttest", "status": "in_progress"}, {"step": "Ship it", "status": "weird"}, {"step": "  "}, {"step": "Last", "status": 7}]);
    let mut records = vec![
        call(&json!([{"step": "Old", "status": "pending"}]), NOW - 190.0),
        call(&plan, NOW - 180.0),
        event("context_compacted", NOW - 120.0, &json!({})),
    ];
    records.extend((0..10).map(|_| padding(NOW - 100.0, 60_000)));
    // None of these holds a plan, so none takes its place.
    records.extend([
        call(&json!([]), NOW - 90.0),
        call(&json!("x"), NOW - 90.0),
        call(&json!([{"step": ""}, 7]), NOW - 90.0),
    ]);
    records.push(item("function_call", NOW - 80.0, &json!({"name": "update_plan", "arguments": "{not json"})));
    records.push(said(NOW - 70.0, "update_plan [{step: 'From a person', status: 'pending'}] and then go on with it"));
    store.rollout(ROOT, &json!({}), &records, NOW);
    let row = store.row();
    let rows: Vec<_> = row.tasks.iter().map(|t| (t.id.clone(), t.subject.as_str(), t.status.as_str())).collect();
    assert_eq!(
        rows,
        [
            (json!("plan-0"), "Read importer", "completed"),
            (json!("plan-1"), "Add test", "in_progress"),
            (json!("plan-2"), "Ship it", "pending"),
            (json!("plan-4"), "Last", "pending")
        ]
    );
    assert!(row.tasks.iter().all(|t| t.created.is_none()
        && t.updated.is_none()
        && t.elapsed_h.is_none()
        && t.updated_ago.is_none()
        && t.active_form.is_empty()));
    assert_eq!((row.total, row.done, row.open, row.progress_pct, row.eta_h), (4, 1, 3, 25, None));
    assert_eq!(row.state_detail.as_deref(), Some("Add test…"));
}

/// CODEX-038: arguments may be an object.
#[test]
fn codex_038_arguments_may_be_an_object() {
    let record = item(
        "function_call",
        NOW,
        &json!({"name": "update_plan", "arguments": {"plan": [{"step": "Only", "status": "completed"}]}}),
    );
    assert_eq!(tasks(&[record]), [("plan-0".into(), "Only".into(), "completed".into())]);
}

/// CODEX-040: bounds.
#[test]
fn codex_040_bounds() {
    let many: Vec<Value> =
        (0..70).map(|n| json!({"step": format!("{n} {}", "x".repeat(200)), "status": "pending"})).collect();
    let found = tasks(&[call(&json!(many), NOW)]);
    assert_eq!((found.len(), found[0].1.chars().count(), found[63].0.as_str()), (64, 160, "plan-63"));
}

/// CODEX-039, CODEX-060: plans in script form.
#[test]
fn codex_039_060_plans_in_script_form() {
    let steps = |source: &str| {
        tasks(&[script_call(source)]).into_iter().map(|(_, subject, status)| (subject, status)).collect::<Vec<_>>()
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    for source in [
        "const plan = [{step: 'Read importer', status: 'completed'}, {step: \"Add test\", status: 'in_progress',},];\nawait tools.update_plan({plan});",
        "await tools.update_plan({plan: [{\"step\": \"Read importer\", \"status\": \"completed\"}, {\"step\": \"Add test\", \"status\": \"in_progress\"}]})",
        "// don't stop\ntools.update_plan({explanation: \"it's\", plan: [ /* first */ {step: `Read importer`, status: `completed`, n: [1, {a: null}], done: true},\n {status: 'in_progress', step: 'Add test'}]})",
        "let x = ['a', [1, 2]]; f(x[0]); tools.update_plan({plan: [{step: 'Read importer', status: 'completed'}, {step: 'Add test', status: 'in_progress'}]}); g([x])",
        "tools.update_plan({plan: [{step: 'Not this', status: 'pending'}]}); tools.update_plan({plan: [{step: 'Read importer', status: 'completed'}, {step: 'Add test', status: 'in_progress'}]})",
    ] {
        assert_eq!(steps(source), [pair("Read importer", "completed"), pair("Add test", "in_progress")], "{source}");
    }
    for (source, step) in [
        (
            "update_plan([{\"step\": \"Keep note: it's [fine], really\", \"status\": \"pending\"}])",
            "Keep note: it's [fine], really",
        ),
        ("update_plan([{step: 'It\\'s word: a, b', status: 'pending'}])", "It's word: a, b"),
        (
            "update_plan([{step: 'a\\nb\\tc \\u00e9\\x41 \\u{1F600} \\ud83d\\ude00 \\\"q\\\"', status: 'pending'}])",
            "a b c éA 😀 😀 \"q\"",
        ),
        ("update_plan([{step: '\\ud83d half', status: 'pending'}])", "\u{fffd} half"),
    ] {
        assert_eq!(steps(source), [pair(step, "pending")], "{source}");
    }
    for source in [
        "const plan = [{step: 'Never', status: 'pending'}]; console.log(plan)",
        "update_plan([{step: name, status: 'pending'}])",
        "update_plan([{step: `a ${name}`, status: 'pending'}])",
        "update_plan([{step: 'a', status: f()}])",
        "update_plan([{title: 'step', status: 'pending'}])",
        "update_plan([{step: 'a'}, 'b'])",
        "update_plan([])",
        "update_plan([{step: 'unclosed",
        "update_plan([{step: 7}])",
    ] {
        assert_eq!(steps(source), [], "{source}");
    }
}

/// CODEX-039, TRUST-065: decoys cost linear time.
#[test]
fn codex_039_trust_065_decoys_cost_linear_time() {
    let begun = std::time::Instant::now();
    for decoy in ["[", "[{step:", "[{step:'x'},", "'", "[{\"step\":\"a\"}", "/*", "`", "\\"] {
        script::steps(&decoy.repeat(400_000 / decoy.len()));
        script::steps(&(decoy.repeat(2000) + &"]".repeat(4000)));
    }
    assert!(script::steps(&format!("{}{{step: 'x'}}{}", "[{a:".repeat(300), "}]".repeat(300))).is_none());
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}

proptest::proptest! {
    /// CODEX-039, TRUST-061: any source is survived.
    #[test]
    fn codex_039_trust_061_any_source_is_survived(source in "[\\[\\]{}'\"`,:\\\\/*$ nux0-9a-z\n😀]{0,80}") {
        script::steps(&source);
        script::steps(&format!("update_plan([{{step: '{source}', status: 'pending'}}])"));
    }

    /// CODEX-039: any words survive the script form.
    #[test]
    fn codex_039_any_words_survive_the_script_form(words in "\\PC{1,60}") {
        let source = format!("update_plan([{{step: {}, status: 'pending'}}])", json!(words));
        proptest::prop_assert_eq!(script::steps(&source).unwrap(), vec![(words, Some("pending".to_owned()))]);
    }
}
