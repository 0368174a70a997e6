//! The state of a session, in the order its kinds of evidence outrank each other (CLAUDE-090..094, CLAUDE-123, CLAUDE-127).

use super::super::state::Verdict;
use super::home::*;
use crate::model::State;
use serde_json::json;

const WAITING: &str = "awaiting your message";

fn quiet(home: &Home) -> std::path::PathBuf {
    home.session(LEAD, &[ask("Do the thing that was asked for", 400.0), say("ok", 300.0)], 200.0)
}

fn notify(home: &Home, kind: &str, message: &str) {
    let payload = json!({"session_id": LEAD, "notification_type": kind, "message": message});
    home.hooks.notify(payload.as_object().unwrap(), NOW, |_, _| false);
}

fn fresh_child(home: &Home) {
    home.write(&format!("projects/-w-acme-shop/{LEAD}/subagents/agent-a.jsonl"), lines(&[say("x", 5.0)]), 5.0);
}

/// CLAUDE-040, CLAUDE-041, CLAUDE-090.
#[test]
fn claude_040_041_090_an_open_question_outranks_everything() {
    let mut home = Home::new();
    let asked =
        |id: &str, words: &str, ago| call("AskUserQuestion", id, json!({"questions": [{"question": words}]}), ago);
    let path =
        home.session(LEAD, &[ask("Decide it", 400.0), asked("q1", "Which?", 300.0), asked("q2", "Newer?", 200.0)], 3.0);
    assert_eq!(home.state(KEY), (State::NeedsInput, "Newer?, waiting 3m".into(), Some(NOW - 200.0)));
    assert_eq!(home.row(KEY).turn, None);
    home.append(&path, &[result("q2", true, 2.0)], 2.0);
    assert_eq!(home.state(KEY), (State::NeedsInput, "Which?, waiting 5m".into(), Some(NOW - 300.0)));
    home.append(&path, &[result("q1", false, 1.0)], 1.0);
    assert_eq!(home.state(KEY).0, State::Working);
    // Without a stamp it waits since the last activity, for nobody knows how long.
    let mut bare = call("ExitPlanMode", "q", json!({}), 0.0);
    bare.as_object_mut().unwrap().remove("timestamp");
    home.session(LEAD, &[ask("Decide it", 400.0), bare], 200.0);
    let want = "open question (ExitPlanMode), waiting ?".to_owned();
    assert_eq!(home.state(KEY), (State::NeedsInput, want, Some(NOW - 200.0)));
}

/// ROW-051, ROW-054, CLAUDE-127.
#[test]
fn row_051_054_claude_127_freshness() {
    let mut home = Home::new();
    for (i, (stamp, mtime, working)) in
        [(40.0, 300.0, true), (300.0, 90.0, true), (91.0, 91.0, false), (-60.0, 300.0, true), (-86_400.0, 300.0, false)]
            .into_iter()
            .enumerate()
    {
        let id = format!("{i:08}-f");
        home.session(&id, &[ask("Do the thing that was asked for", 400.0), say("x", stamp)], mtime);
        let row = home.row(&id[..8]);
        assert_eq!(row.state == State::Working, working, "{stamp} {mtime}");
        assert_eq!(row.state_detail.as_deref(), Some(if working { "generating…" } else { WAITING }));
        assert_eq!(row.turn.is_some(), working);
        assert_eq!(row.model.as_deref(), Some("claude-opus-5"), "its other evidence still counts");
    }
}

/// CLAUDE-091, CLAUDE-123.
#[test]
fn claude_091_123_what_outranks_a_hook() {
    let mut home = Home::new();
    let path = quiet(&home);
    notify(&home, "permission_prompt", "May I?");
    assert_eq!(home.state(KEY), (State::NeedsInput, "May I?".into(), Some(NOW)));
    fresh_child(&home);
    assert_eq!(home.state(KEY).0, State::NeedsInput, "a recognised type stands over a running child");
    notify(&home, "brand_new_type", "May I?");
    assert_eq!(home.state(KEY), (State::Working, "running 1 subagent".into(), None));
    notify(&home, "permission_prompt", "May I?");
    touch(&path, NOW - 20.0);
    assert_eq!(home.state(KEY).0, State::Working, "the session's own fresh write outranks every hook");
    home.now = NOW + 120.0;
    assert_eq!(home.state(KEY).0, State::NeedsInput, "and it did not clear it");
}

/// CLAUDE-094, CLAUDE-106.
#[test]
fn claude_094_106_a_wait_clears_on_the_next_record() {
    let mut home = Home::new();
    let path = quiet(&home);
    notify(&home, "permission_prompt", "May I?");
    home.append(&path, &[say("older than the notification", 250.0)], 200.0);
    assert_eq!(home.state(KEY).0, State::NeedsInput);
    home.append(&path, &[say("later than the notification", -1.0)], 199.0);
    home.now = NOW + 200.0;
    assert_eq!(home.state(KEY), (State::Idle, WAITING.into(), None));
    assert_eq!(home.hooks.standing(KEY), None, "dropped for good");
    // With a baseline no clock is compared: any other user record clears.
    let payload = json!({"session_id": LEAD, "notification_type": "permission_prompt", "transcript_path": path});
    home.hooks.notify(payload.as_object().unwrap(), NOW, |_, _| false);
    home.append(&path, &[say("an assistant's record is no user event", -2.0)], 199.0);
    assert_eq!(home.state(KEY).0, State::NeedsInput);
    home.append(&path, &[ask("Stamped long before", 390.0)], 199.0);
    assert_eq!(home.state(KEY).0, State::Idle);
}

/// CLAUDE-092.
#[test]
fn claude_092_a_session_that_ended_meanwhile_waits_for_nothing() {
    let waits = || Verdict { state: State::NeedsInput, detail: "May I?".into(), blocked_since: Some(5.0) };
    assert_eq!(waits().unless_ended(false), waits());
    assert_eq!(waits().unless_ended(true), Verdict { state: State::Idle, detail: WAITING.into(), blocked_since: None });
    let works = || Verdict { state: State::Working, detail: "x".into(), blocked_since: None };
    assert_eq!(works().unless_ended(true), works());
}

/// CLAUDE-007.
#[test]
fn claude_007_a_running_child_a_member_and_a_hook_of_a_session_without_transcript() {
    let mut home = Home::new();
    home.write(&format!("tasks/{LEAD}/1.json"), r#"{"id":"1","subject":"Run","status":"pending"}"#, 300.0);
    assert_eq!(home.state(KEY).0, State::Idle);
    notify(&home, "permission_prompt", "May I?");
    assert_eq!(home.state(KEY), (State::NeedsInput, "May I?".into(), Some(NOW)));
    home.session("aaaa0001-mate", &mate("reviewer", KEY, 40.0), 10.0);
    home.hooks.session_ended(KEY);
    assert_eq!(home.state(KEY), (State::Working, "running 1 subagent".into(), None));
}

/// CLAUDE-107, CLAUDE-020: a standing hook is asked for of active rows alone.
#[test]
fn claude_107_an_inactive_row_waits_for_nothing() {
    let mut home = Home::new();
    home.session(LEAD, &[ask("Do the thing that was asked for", 95_000.0)], 90_000.0);
    notify(&home, "permission_prompt", "May I?");
    let row = home.collect(true).rows.remove(0);
    assert_eq!((row.active, row.state, row.blocked_since), (false, State::Idle, None));
    assert!(home.hooks.standing(KEY).is_some());
}

/// CLAUDE-110.
#[test]
fn claude_110_spacedock_roles() {
    let mut home = Home::new();
    for (i, (record, want)) in [
        (json!({"type": "agent-setting", "agentSetting": "spacedock:first-officer"}), Some("first-officer")),
        (json!({"type": "agent-setting", "agentSetting": "spacedock:ensign"}), Some("ensign")),
        (json!({"type": "agent-setting", "agentSetting": "reviewer"}), None),
        (json!({"type": "agent-name", "agentName": "spacedock:first-officer"}), None),
        (json!({"type": "agent-setting", "agentSetting": {"a": 1}}), None),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("{i:08}-r");
        home.session(&id, &[record, json!({"type": "mode"}), json!({"agentSetting": ""})], 5.0);
        let role = home.row(&id[..8]).spacedock;
        assert_eq!(role.as_ref().map(|s| s.role), want);
        assert!(role.is_none_or(|s| s.workflows.is_empty()));
    }
}

/// CLAUDE-129, TURN-044.
#[test]
fn claude_129_turn_044_a_loop_stays_published_after_the_session_went_idle() {
    let mut home = Home::new();
    let mut records = vec![ask("Make the tests pass", 900.0)];
    for i in 0..4 {
        let (id, ago) = (format!("t{i}"), 800.0 - f64::from(i));
        records.extend([call(&"T".repeat(99), &id, json!({}), ago), result(&id, true, ago - 0.5)]);
    }
    home.session(LEAD, &records, 700.0);
    let row = home.row(KEY);
    let looping = row.looping.unwrap();
    assert_eq!((row.state, looping.errors, looping.barren), (State::Idle, 4, Some(true)));
    assert_eq!(looping.tool, Some("T".repeat(60)));
}
