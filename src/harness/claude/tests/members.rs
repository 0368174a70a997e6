//! Subagents, teammates and members that never began (CLAUDE-050..078, CLAUDE-122..125).

use super::super::store;
use super::home::*;
use crate::model::State;
use serde_json::{Value, json};

fn lead(home: &Home) -> std::path::PathBuf {
    home.session(LEAD, &[ask("Spread the work over several helpers", 400.0), say("ok", 300.0)], 300.0)
}

fn agent(home: &Home, parent: &str, name: &str, records: &[Value], ago: f64) -> std::path::PathBuf {
    home.write(&format!("projects/-w-acme-shop/{parent}/subagents/{name}.jsonl"), lines(records), ago)
}

fn members(home: &mut Home) -> Vec<(String, Option<bool>, Option<String>)> {
    home.row(KEY).subagents.into_iter().map(|s| (s.name, s.active, s.parent)).collect()
}

fn running(name: &str) -> (String, Option<bool>, Option<String>) {
    (name.into(), Some(true), None)
}

/// CLAUDE-050, CLAUDE-052, CLAUDE-058.
#[test]
fn claude_050_052_058_teammates_belong_to_their_lead_alone() {
    let mut home = Home::new();
    lead(&home);
    home.session("aaaa0001-mate", &mate("reviewer", KEY, 40.0), 10.0);
    home.session("aaaa0002-mate", &mate(&"n".repeat(120), KEY, 40.0), 10.0);
    let mut nameless = mate("x", KEY, 30.0);
    nameless[0].as_object_mut().unwrap().remove("agentName");
    home.session("aaaa0003-mate", &nameless, 10.0);
    home.session("aaaa0004-lost", &mate("lost", "00000000", 30.0), 10.0);
    let mut launched = ask("Started with a named agent at top level", 20.0);
    launched["agentName"] = json!("planner");
    home.session("aaaa0005-flag", &[launched], 10.0);
    // A lead that names its own team is nobody's subagent.
    home.session("aaaa0006-own", &mate("team-lead", "aaaa0006", 30.0), 10.0);
    assert_eq!(home.sids(), [KEY, "aaaa0005", "aaaa0006"]);
    assert_eq!(members(&mut home), [running("reviewer"), running(&"n".repeat(70)), running("subagent")]);
    let row = home.row(KEY);
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Working, Some("running 3 subagents")));
    assert_eq!((row.last_activity, row.own_activity.round()), (NOW - 10.0, NOW - 300.0));
    assert!((row.subagents[0].started_at.unwrap() - (NOW - 40.0)).abs() < 0.01);
}

/// CLAUDE-051.
#[test]
fn claude_051_a_young_file_may_become_a_teammates() {
    let mut home = Home::new();
    lead(&home);
    let young = home.session("aaaa0001-mate", &[json!({"type": "permission-mode"})], 3.0);
    assert_eq!(home.sids(), [KEY, "aaaa0001"]);
    home.append(&young, &mate("reviewer", KEY, 2.0), 2.0);
    assert_eq!(home.sids(), [KEY]);
    assert_eq!(members(&mut home), [running("reviewer")]);
}

/// CLAUDE-013, CLAUDE-120, CLAUDE-121.
#[test]
fn claude_120_121_a_name_behind_the_head_or_in_a_torn_record_is_not_known() {
    let mut home = Home::new();
    lead(&home);
    let mut records = vec![json!({"type": "system", "timestamp": iso(50.0)}); 50];
    records.extend(mate("late", KEY, 40.0));
    home.session("aaaa0001-late", &records, 10.0);
    let wide = json!({"type": "system", "content": "z".repeat(16_300)});
    home.session("aaaa0002-cut", &[vec![wide], mate("cut", KEY, 40.0)].concat(), 10.0);
    assert_eq!(home.sids(), [KEY, "aaaa0001", "aaaa0002"]);
}

/// CLAUDE-026, CLAUDE-031, CLAUDE-053, CLAUDE-054, ROW-032.
#[test]
fn claude_026_031_053_054_legacy_subagents() {
    let mut home = Home::new();
    home.session(LEAD, &[ask("Spread the work", 400.0), spend("claude-lead", None, 1, "x", 300.0)], 300.0);
    let unstamped = vec![json!({"type": "mode"}); 3];
    let mut side = spend("claude-side", None, 10, "x", 30.0);
    side["isSidechain"] = json!(true);
    agent(
        &home,
        LEAD,
        "agent-a",
        &[unstamped.clone(), vec![ask("go", 50.0), spend("claude-main", None, 1, "x", 40.0), side]].concat(),
        10.0,
    );
    agent(&home, LEAD, "agent-b", &[spend("claude-kid", None, 100, "x", 45.0)], 20.0);
    agent(&home, LEAD, "agent-c", &unstamped, 30.0);
    let meta = |name: &str, body: &str| {
        home.write(&format!("projects/-w-acme-shop/{LEAD}/subagents/{name}.meta.json"), body, 5.0)
    };
    meta("agent-a", r#"{"name":"first"}"#);
    meta("agent-b", r#"{"name":"","description":"second","agentType":"t"}"#);
    meta("agent-c", "{broken");
    let row = home.row(KEY);
    let got: Vec<_> = row.subagents.iter().map(|s| (s.name.as_str(), s.model.as_deref())).collect();
    assert_eq!(got, [("first", Some("claude-side")), ("second", Some("claude-kid")), ("subagent", None)]);
    assert!((row.subagents[0].started_at.unwrap() - (NOW - 50.0)).abs() < 0.01);
    assert_eq!((row.subagents[2].started_at, row.model.as_deref()), (None, Some("claude-lead")));
    assert_eq!(row.rate_per_min, Some(11), "own 1 of 10 rounds to 0; children 1.1 and 10 are rounded each");
    // A first line longer than the head is read as far as 200,000 bytes.
    let mut wide = say("x", 70.0);
    wide["pad"] = json!("z".repeat(20_000));
    agent(&home, LEAD, "agent-d", &[wide], 5.0);
    assert!((home.row(KEY).subagents[0].started_at.unwrap() - (NOW - 70.0)).abs() < 0.01);
}

/// CLAUDE-055, CLAUDE-122, CLAUDE-124.
#[test]
fn claude_055_122_124_workflow_agents_of_a_quiet_parent() {
    let mut home = Home::new();
    home.session(LEAD, &[ask("Run the nightly workflow", 95_000.0), say("started", 94_000.0)], 93_000.0);
    assert!(home.sids().is_empty(), "its own file is outside the window");
    let run = |run: &str, name: &str, ago: f64| {
        home.write(
            &format!("projects/-w-acme-shop/{LEAD}/subagents/workflows/{run}/{name}"),
            lines(&[say("x", ago)]),
            ago,
        )
    };
    let first = run("wf_1", "agent-ef56.jsonl", 8.0);
    run("wf_1", "journal.jsonl", 8.0);
    let row = home.row(KEY);
    assert_eq!(
        (row.state, row.state_detail.as_deref(), row.active),
        (State::Working, Some("running 1 subagent"), true)
    );
    assert_eq!((row.last_activity, row.own_activity.round()), (NOW - 8.0, NOW - 94_000.0));
    // The first file of a run folder that was empty when listed, a replaced file, a vanished one.
    std::fs::create_dir_all(home.path(&format!("projects/-w-acme-shop/{LEAD}/subagents/workflows/wf_2"))).unwrap();
    assert_eq!(home.row(KEY).subagents.len(), 1);
    home.write(
        &format!("projects/-w-acme-shop/{LEAD}/subagents/workflows/wf_2/agent-1.jsonl"),
        lines(&[say("x", 2.0)]),
        2.0,
    );
    assert_eq!(home.row(KEY).subagents.len(), 2);
    std::fs::remove_file(&first).unwrap();
    home.write(
        &format!("projects/-w-acme-shop/{LEAD}/subagents/workflows/wf_1/agent-ef56.jsonl"),
        lines(&[spend("new", None, 5, "x", 1.0)]),
        1.0,
    );
    assert_eq!(home.row(KEY).subagents[0].model.as_deref(), Some("new"));
    std::fs::remove_dir_all(home.path(&format!("projects/-w-acme-shop/{LEAD}"))).unwrap();
    assert!(home.sids().is_empty());
}

/// CLAUDE-060, CLAUDE-061, CLAUDE-062, CLAUDE-063.
#[test]
fn claude_060_to_063_quiet_members_and_grandchildren() {
    let mut home = Home::new();
    lead(&home);
    home.session("aaaa0001-mate", &mate("reviewer", KEY, 900.0), 800.0);
    agent(&home, LEAD, "agent-q", &[say("x", 700.0)], 700.0);
    agent(&home, LEAD, "agent-y", &[say("x", 90_000.0)], 90_000.0);
    let row = home.row(KEY);
    assert_eq!((row.state, row.last_activity), (State::Idle, NOW - 300.0));
    let quiet = |name: &str| (name.to_owned(), Some(false), None);
    assert_eq!(members(&mut home), [quiet("subagent"), quiet("reviewer")]);
    // The teammate's own helpers: a fresh one is listed beside it and counts, a quiet one is dropped.
    agent(&home, "aaaa0001-mate", "agent-g", &[spend("m", None, 500, "x", 20.0)], 8.0);
    agent(&home, "aaaa0001-mate", "agent-h", &[say("x", 700.0)], 700.0);
    assert_eq!(
        members(&mut home),
        [quiet("subagent"), quiet("reviewer"), ("subagent".into(), Some(true), Some("reviewer".into()))]
    );
    let row = home.row(KEY);
    assert_eq!((row.state, row.rate_per_min, row.last_activity), (State::Working, Some(54), NOW - 8.0));
    assert_eq!(row.state_detail.as_deref(), Some("running 1 subagent"));
}

/// CLAUDE-069, ROW-021.
#[test]
fn claude_069_the_oldest_quiet_members_above_fifty_are_left_out() {
    let mut home = Home::new();
    lead(&home);
    for i in 0..60 {
        agent(&home, LEAD, &format!("agent-{i:02}"), &[say("x", 1000.0)], 1000.0 + f64::from(i));
    }
    for i in 0..3 {
        agent(&home, LEAD, &format!("agent-r{i}"), &[say("x", 10.0)], 10.0);
    }
    let row = home.row(KEY);
    assert_eq!((row.subagents.len(), row.subagents_omitted), (53, 10));
    assert_eq!(row.subagents.iter().filter(|s| s.active == Some(true)).count(), 3);
}

fn roster(home: &Home, members: &[Value]) {
    let path = home.path(&format!("teams/session-{KEY}/config.json"));
    // Each version of the file is longer than the one before, so that its stamp differs.
    let before = std::fs::metadata(path).map_or(0, |m| m.len());
    let body = json!({"name": format!("session-{KEY}"), "members": members, "pad": "x".repeat(before as usize)});
    home.write(&format!("teams/session-{KEY}/config.json"), body.to_string(), 5.0);
}

fn member(name: &str, ago: f64) -> Value {
    json!({"agentId": format!("{name}@session-{KEY}"), "name": name, "joinedAt": (NOW - ago) * 1000.0, "prompt": "MARK-PROMPT"})
}

/// CLAUDE-070, CLAUDE-071, CLAUDE-072, CLAUDE-073, CLAUDE-074, CLAUDE-075, CLAUDE-076, CLAUDE-078, CLAUDE-125.
#[test]
fn claude_070_to_076_125_members_that_never_began() {
    let mut home = Home::new();
    lead(&home);
    let idle = (State::Idle, "awaiting your message".to_owned(), None);
    for (what, members, want) in [
        ("60 s ago", vec![member("reviewer", 60.0)], None),
        ("90 s ago", vec![member("reviewer", 90.0)], None),
        ("100 s ago", vec![member("reviewer", 100.0)], Some(("reviewer has not started, waiting 1m", 100.0))),
        ("before the window", vec![member("reviewer", 90_000.0)], None),
        ("the lead itself", vec![member("team-lead", 9000.0)], None),
        (
            "two",
            vec![member("a", 150.0), member("b", 370.0)],
            Some(("2 subagents have not started, waiting 6m", 370.0)),
        ),
        ("stopped", vec![json!({"agentId": "a@x", "joinedAt": (NOW - 150.0) * 1000.0, "isActive": false})], None),
        (
            "seconds, no name",
            vec![json!({"agentId": "a@x", "name": "", "joinedAt": NOW - 150.0})],
            Some(("a has not started, waiting 2m", 150.0)),
        ),
        ("odd elements", vec![json!(null), json!(5), json!({}), json!({"agentId": 7}), json!({"agentId": ""})], None),
    ] {
        roster(&home, &members);
        let want = want.map_or(idle.clone(), |(detail, ago)| (State::NeedsInput, detail.to_owned(), Some(NOW - ago)));
        assert_eq!(home.state(KEY), want, "{what}");
    }
    // Without a time the registry's own counts.
    home.write(
        &format!("teams/session-{KEY}/config.json"),
        r#"{"members":[{"agentId":"a@x","joinedAt":true}]}"#,
        200.0,
    );
    assert_eq!(home.state(KEY), (State::NeedsInput, "a has not started, waiting 3m".into(), Some(NOW - 200.0)));
    roster(&home, &[member("reviewer", 150.0)]);
    let row = home.row(KEY);
    let listed = &row.subagents[0];
    assert_eq!((listed.name.as_str(), listed.active, listed.started_at), ("reviewer", Some(false), Some(NOW - 150.0)));
    assert_eq!(row.last_activity, NOW - 300.0);
    assert!(!serde_json::to_string(&row).unwrap().contains("MARK-"), "claude_078");
    // A transcript of its name, or a subagent's file of its id, shows that it began.
    home.session("aaaa0001-mate", &mate(&format!("reviewer@session-{KEY}"), KEY, 120.0), 100.0);
    assert_eq!(home.row(KEY).state, State::Idle);
    roster(&home, &[json!({"agentId": "ab12", "joinedAt": NOW - 150.0})]);
    assert_eq!(home.row(KEY).state, State::NeedsInput);
    agent(&home, LEAD, "agent-ab12", &[say("x", 700.0)], 700.0);
    assert_eq!(home.row(KEY).state, State::Idle);
}

/// CLAUDE-064, CLAUDE-073: what the registry says of a member decides nothing but that one stopped before it began; names
/// are compared whole.
#[test]
fn claude_064_the_registry_claims_nothing() {
    let mut home = Home::new();
    lead(&home);
    let mut with = |name: &str, active: Value| {
        let mut member = member(name, 150.0);
        member["isActive"] = active;
        roster(&home, &[member]);
        home.row(KEY)
    };
    for says in [json!(true), json!("false"), json!(0), json!(null)] {
        assert_eq!(with("reviewer", says.clone()).state, State::NeedsInput, "{says}");
    }
    assert_eq!(with("reviewer", json!(false)).state, State::Idle);
    let mut home = Home::new();
    lead(&home);
    home.session("aaaa0001-mate", &mate("reviewer", KEY, 40.0), 10.0);
    for says in [json!(false), json!(true)] {
        let mut member = member("reviewer", 150.0);
        member["isActive"] = says;
        roster(&home, &[member]);
        assert_eq!(members(&mut home), [running("reviewer")], "a fresh transcript runs, whatever stands on the roster");
    }
    let (one, other) = (format!("{}-one", "n".repeat(70)), format!("{}-other", "n".repeat(70)));
    home.session("aaaa0002-mate", &mate(&one, KEY, 40.0), 100.0);
    roster(&home, &[member(&one, 150.0), member(&other, 150.0), member("team-lead", 150.0)]);
    let row = home.row(KEY);
    assert_eq!(row.state_detail, Some(format!("{} has not started, waiting 2m", "n".repeat(70))));
    assert_eq!(row.subagents.len(), 3);
}

/// CLAUDE-070.
#[test]
fn claude_070_broken_registries_are_skipped() {
    let mut home = Home::new();
    lead(&home);
    for body in ["", "{", "[]", "null", r#"{"members":5}"#, r#"{"members":{"a":1}}"#, "\0\u{1}", &"[".repeat(5000)] {
        home.write(&format!("teams/session-{KEY}/config.json"), body, 5.0);
        let found = home.collect(false);
        assert_eq!((found.rows[0].state, found.store_errors.len()), (State::Idle, 0), "{body:.20}");
    }
    assert_eq!(store::folder_key("session-"), None);
    assert_eq!(store::folder_key("session-27d10654"), Some(KEY));
    assert_eq!(store::folder_key(LEAD), Some(KEY));
}

/// CLAUDE-058.
#[test]
fn claude_058_a_parent_outside_the_window_stays_while_a_teammate_writes() {
    let mut home = Home::new();
    home.session(LEAD, &[ask("Run the whole migration over night", 95_000.0), say("ok", 94_000.0)], 93_000.0);
    home.session("aaaa0001-mate", &mate("reviewer", KEY, 40.0), 10.0);
    assert_eq!(home.sids(), [KEY]);
    assert_eq!(home.row(KEY).state_detail.as_deref(), Some("running 1 subagent"));
    // The same for one that is known by its tasks alone.
    home.write("tasks/bbbb0001-x/1.json", "{}", 93_000.0);
    home.session("aaaa0002-mate", &mate("tester", "bbbb0001", 40.0), 10.0);
    assert_eq!(home.sids(), [KEY, "bbbb0001"]);
}
