//! What must never leave a transcript: reasoning, and keys.

use super::home::{Home, gaps, lines, row};
use serde_json::{Value, json};

/// Stands in every field that carries reasoning.
const THOUGHT: &str = "MARKED-REASONING-BYTES";
const MARKER: &str = "sk-ant-…REDACTED";
const LEAD: &str = "27d10654-0000-4000-8000-000000000000";
const LEAD_KEY: &str = "27d10654";

/// A key of invented filler.
fn key() -> String {
    format!("sk-ant-api03-{}", "A".repeat(95))
}

/// Every route that answers a GET with something of a session.
const ROUTES: [&str; 8] = [
    "/",
    "/api/data",
    "/api/data?all=1",
    "/api/health?counters=1",
    "/api/overlays",
    "/api/cleared",
    "/api/annotations?harness=claude&sid=27d10654&project=acme%2Fshop",
    "/api/stream",
];

/// What the board says and writes, joined, each piece under its name.
fn everything(home: &Home, board: &super::home::Board) -> Vec<(String, String)> {
    let said = ROUTES.iter().map(|route| {
        let reply = board.get(route);
        assert_eq!(reply.status, 200, "{route}");
        ((*route).to_owned(), reply.body)
    });
    let files = home.own_files().into_iter().map(|(path, bytes)| (path.display().to_string(), bytes));
    said.chain(files).map(|(name, bytes)| (name, String::from_utf8_lossy(&bytes).into_owned())).collect()
}

/// CLAUDE-014, CLAUDE-115: marked bytes in every carrier of reasoning are in no row, no route, no log and no file of ours; nor is what
/// a tool was given and what it gave.
#[test]
fn reasoning_is_nowhere() {
    let home = Home::new();
    let thoughts = json!([
        {"type": "thinking", "thinking": THOUGHT, "signature": THOUGHT},
        {"type": "thinking", "thinking": "", "signature": THOUGHT},
        {"type": "redacted_thinking", "data": THOUGHT},
        {"type": "thinking", "text": THOUGHT, "signature": THOUGHT},
    ]);
    let mut records = Vec::new();
    for (kind, meta) in [("user", false), ("assistant", false), ("user", true)] {
        records.push(
            json!({"type": kind, "isMeta": meta, "timestamp": home.iso(60.0), "message": {"model": "claude-opus-5",
            "stop_reason": "end_turn", "content": thoughts}}),
        );
    }
    records.push(json!({"type": "user", "timestamp": home.iso(50.0), "cwd": "/w/acme/shop",
        "message": {"content": [{"type": "text", "text": "Rewrite the rounding rule and run the tests"}, thoughts[0]]}}));
    records.push(json!({"type": "assistant", "timestamp": home.iso(40.0), "message": {"content": [thoughts[1], thoughts[2],
        {"type": "text", "text": "Done with it."}, {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": THOUGHT, "thinking": THOUGHT}}]}}));
    records.push(json!({"type": "user", "timestamp": home.iso(39.0), "toolUseResult": {"stdout": THOUGHT}, "message": {"content": [
        {"type": "tool_result", "tool_use_id": "t", "is_error": false, "content": [{"type": "text", "text": THOUGHT}]}]}}));
    home.write(&format!(".claude/projects/-w-acme-shop/{LEAD}/tool-results/t.txt"), THOUGHT, 5.0);
    home.write(&format!(".claude/projects/-w-acme-shop/{LEAD}.jsonl"), lines(&records), 5.0);
    home.write(&format!(".claude/projects/-w-acme-shop/{LEAD}/subagents/agent-a1.jsonl"), lines(&records), 5.0);
    let board = home.serve();
    let data = board.data();
    let lead = row(&data, "claude", LEAD_KEY);
    assert_eq!(
        (&lead["last_output"], &lead["title"]),
        (&json!("Done with it."), &json!("Rewrite the rounding rule and run the tests"))
    );
    assert_eq!(gaps(lead), []);
    let notice = json!({"session_id": LEAD, "notification_type": "permission_prompt", "message": "May I?"});
    assert_eq!(board.ask("POST", "/api/notify", notice.to_string().as_bytes()).unwrap().status, 200);
    for (name, text) in everything(&home, &board) {
        assert!(!text.contains(THOUGHT), "{name}: {text}");
    }
}

/// RED-020, RED-021, RED-022, RED-023, RED-027, RED-071, RED-072: a key in every carrier is published as its marker alone, in rows,
/// popups and the files we keep.
#[test]
fn a_key_in_every_carrier_is_a_marker() {
    let home = Home::new();
    home.recorder("notify-send");
    let key = key();
    let at = |name: &str| format!(".claude/projects/-w-acme-shop/{name}");
    let lead = [
        json!({"type": "user", "timestamp": home.iso(30.0), "cwd": format!("/w/acme/{key}"),
               "message": {"content": format!("Rotate {key} in all of the many places it is used in")}}),
        json!({"type": "assistant", "timestamp": home.iso(20.0), "message": {"model": format!("m {key}"),
               "content": [{"type": "text", "text": format!("one\n{key}")}, {"type": "tool_use", "id": "t", "name": key, "input": {}}]}}),
        json!({"type": "ai-title", "aiTitle": format!("Title {key}")}),
        json!({"type": "last-prompt", "lastPrompt": format!("Last {key}")}),
    ];
    home.write(&at(&format!("{LEAD}.jsonl")), lines(&lead), 5.0);
    let task = json!({"id": "1", "subject": format!("Subject {key}"), "activeForm": format!("Form {key}"), "status": "in_progress"});
    home.write(&format!(".claude/tasks/{LEAD}/1.json"), task.to_string(), 5.0);
    home.write(&at(&format!("{LEAD}/subagents/agent-a1.jsonl")), lines(&lead), 5.0);
    home.write(
        &at(&format!("{LEAD}/subagents/agent-a1.meta.json")),
        json!({"name": format!("Agent {key}")}).to_string(),
        5.0,
    );
    let mate = "5c1e0a11-0000-4000-8000-000000000000";
    let team = json!({"type": "user", "agentName": format!("Mate {key}"), "teamName": format!("session-{LEAD_KEY}"), "timestamp": home.iso(9.0)});
    home.write(&at(&format!("{mate}.jsonl")), lines(&[team]), 5.0);
    home.write(&at(&format!("{mate}/subagents/agent-b1.jsonl")), lines(&lead), 5.0);
    // One that waits in words which hold a key, and pops up with them.
    let quiet = "3f000000-0000-4000-8000-000000000000";
    let question = json!({"questions": [{"question": format!("Use {key}?")}]});
    let asks = json!({"type": "assistant", "timestamp": home.iso(200.0), "message": {"content": [
        {"type": "tool_use", "id": "q", "name": "AskUserQuestion", "input": question}]}});
    home.write(&at(&format!("{quiet}.jsonl")), lines(&[lead[0].clone(), asks]), 200.0);

    let board = home.serve();
    let data = board.data();
    let row_of = |sid: &str| row(&data, "claude", sid);
    let lead = row_of(LEAD_KEY);
    let fields: [&Value; 13] = [
        &lead["title"],
        &lead["last_prompt"],
        &lead["last_output"],
        &lead["first_prompt"],
        &lead["instruction"]["text"],
        &lead["state_detail"],
        &lead["model"],
        &lead["project"],
        &lead["project_key"],
        &lead["project_name"],
        &lead["tasks"][0]["subject"],
        &lead["tasks"][0]["activeForm"],
        &row_of("3f000000")["state_detail"],
    ];
    for (n, field) in fields.iter().enumerate() {
        assert!(field.as_str().unwrap().contains(MARKER), "{n}: {field}");
    }
    let members = lead["subagents"].as_array().unwrap();
    let named: Vec<(&str, Option<&str>)> =
        members.iter().map(|m| (m["name"].as_str().unwrap(), m["parent"].as_str())).collect();
    let (agent, mate) = (format!("Agent {MARKER}"), format!("Mate {MARKER}"));
    assert_eq!(named, [(&*agent, None), (&*mate, None), ("subagent", Some(&*mate))]);
    let said = home.at("notify-send.said");
    let popup = board.until("a popup", |b| {
        b.data();
        std::fs::read_to_string(&said).ok().filter(|text| !text.is_empty())
    });
    assert!(popup.contains(MARKER) && !popup.contains(&"A".repeat(20)), "{popup}");
    let notice =
        json!({"session_id": quiet, "notification_type": "permission_prompt", "message": format!("May I use {key}?")});
    assert_eq!(board.ask("POST", "/api/notify", notice.to_string().as_bytes()).unwrap().status, 200);
    for (name, text) in everything(&home, &board) {
        assert!(!text.contains(&"A".repeat(20)), "{name}: {text}");
    }
    assert!(
        home.own_files().iter().any(|(path, _)| path.ends_with("cargento-history.json")),
        "history is kept, and was looked at"
    );
}
