//! `POST /api/notify` as the side state sees it (CLAUDE-100..109, NOTE-001..012, NOTE-020..023).

use super::super::{Gate, Gates, Notified, NotifyReply, Popup};
use super::home::*;
use serde_json::{Value, json};

fn notify(home: &Home, payload: Value) -> Notified {
    home.hooks.notify(payload.as_object().unwrap(), NOW, |_, _| false)
}

fn of(kind: Option<&str>, message: &str) -> Value {
    let mut payload = json!({"session_id": LEAD, "hook_event_name": "Notification", "message": message});
    if let Some(kind) = kind {
        payload["notification_type"] = json!(kind);
    }
    payload
}

/// CLAUDE-102, CLAUDE-103, NOTE-004.
#[test]
fn claude_102_103_note_004_the_table_of_types() {
    let home = Home::new();
    let words = "Claude needs your permission";
    for (kind, message, waits, popup, clears) in [
        (Some("idle_prompt"), words, false, true, true),
        (Some("idle_timeout"), words, false, true, true),
        (Some("agent_completed"), words, false, false, true),
        (Some("elicitation_complete"), words, false, false, true),
        (Some("elicitation_response"), words, false, false, true),
        (Some("auth_success"), words, false, false, false),
        (Some("computer_use_enter"), words, false, false, false),
        (Some("computer_use_exit"), words, false, false, false),
        (Some("push_notification"), words, false, false, false),
        (Some("agent_needs_input"), words, true, true, false),
        (Some(" Elicitation_Dialog "), words, true, true, false),
        (Some("permission_prompt"), words, true, true, false),
        (Some("worker_permission_prompt"), words, true, true, false),
        (Some("brand_new_type"), words, true, true, false),
        (None, words, true, true, false),
        (None, "  Claude is waiting for your input", false, true, true),
        (Some(""), "", false, true, true),
    ] {
        for stood in [false, true] {
            home.hooks.session_ended(KEY);
            if stood {
                notify(&home, of(Some("permission_prompt"), "before"));
            }
            let said = notify(&home, of(kind, message));
            assert_eq!((said.reply, said.popup.is_some()), (NotifyReply::Ok, popup), "{kind:?}");
            let standing = home.hooks.standing(KEY).map(|n| n.message);
            let want = if waits { Some(message) } else { Some("before").filter(|_| stood && !clears) };
            assert_eq!(standing.as_deref(), want, "{kind:?} {stood}");
        }
    }
    notify(&home, of(Some("brand_new_type"), words));
    assert!(!home.hooks.standing(KEY).unwrap().recognised);
    notify(&home, of(Some("permission_prompt"), &format!("a\nb\u{202e}{}", "c".repeat(600))));
    let standing = home.hooks.standing(KEY).unwrap();
    assert_eq!((standing.recognised, standing.at), (true, NOW));
    assert_eq!((standing.message.chars().count(), &standing.message[..5]), (500, "a b c"));
}

/// CLAUDE-100.
#[test]
fn claude_100_a_session_end_drops_what_stands() {
    let home = Home::new();
    notify(&home, of(Some("permission_prompt"), "May I?"));
    let ended = notify(&home, json!({"session_id": LEAD, "hook_event_name": "SESSIONEND"}));
    assert_eq!(ended.reply.as_json(), r#"{"ok":true,"cleared":"session_end"}"#);
    assert_eq!((home.hooks.standing(KEY), home.hooks.generation(KEY)), (None, 1));
    for odd in [json!({"hook_event_name": "sessionEnd"}), json!({"hook_event_name": "SessionEnd", "session_id": 5})] {
        assert_eq!(notify(&home, odd).reply, NotifyReply::SessionEnd);
    }
    assert_eq!(home.hooks.generation(""), 0);
}

/// NOTE-001, NOTE-003.
#[test]
fn note_001_003_a_payload_without_anything_is_an_idle_nudge_of_nobody() {
    let home = Home::new();
    for payload in
        [json!({}), json!({"session_id": [], "message": 7, "notification_type": null, "transcript_path": {}})]
    {
        let said = notify(&home, payload);
        assert_eq!(said.reply.as_json(), r#"{"ok":true}"#);
        assert_eq!(said.popup, Some(Popup { key: String::new(), message: "Claude is waiting for your input".into() }));
    }
    assert_eq!(home.hooks.standing(""), None);
}

/// CLAUDE-101.
#[test]
fn claude_101_a_subagents_notification_is_suppressed() {
    let home = Home::new();
    home.session("aaaa0001-mate", &mate("reviewer", KEY, 40.0), 10.0);
    home.write("projects/-w-other/aaaa0001-old.jsonl", lines(&[ask("An older session of that key", 900.0)]), 800.0);
    let mut payload = of(Some("permission_prompt"), "May I?");
    payload["session_id"] = json!("aaaa0001-mate");
    assert_eq!(notify(&home, payload).reply.as_json(), r#"{"ok":true,"suppressed":"subagent"}"#);
    assert_eq!(home.hooks.standing("aaaa0001"), None);
}

/// CLAUDE-109, NOTE-011.
#[test]
fn claude_109_note_011_superseded_and_dismissed() {
    let home = Home::new();
    let path = home.session(LEAD, &[ask("Do the thing that was asked for", 40.0)], 10.0);
    let payload = of(Some("permission_prompt"), "May I?");
    let seen = std::cell::Cell::new(None);
    let said = home.hooks.notify(payload.as_object().unwrap(), NOW, |key, mtime| {
        seen.set(Some((key.to_owned(), mtime)));
        true
    });
    assert_eq!(said.reply.as_json(), r#"{"ok":true,"suppressed":"cleared"}"#);
    assert_eq!((said.popup, seen.take()), (None, Some((KEY.into(), NOW - 10.0))));
    assert!(home.hooks.standing(KEY).is_some(), "the wait is stored all the same");
    std::fs::remove_file(path).unwrap();
    home.hooks.notify(payload.as_object().unwrap(), NOW, |_, mtime| {
        assert_eq!(mtime, 0.0);
        false
    });
    assert_eq!(NotifyReply::Superseded.as_json(), r#"{"ok":true,"superseded":true}"#);
}

/// NOTE-007.
/// A session end that arrives between the look-ups and the store wins.
#[test]
fn note_007_a_session_end_during_the_lookups_supersedes() {
    let home = Home::new();
    let hooks = &home.hooks;
    let before = hooks.generation(KEY);
    notify(&home, json!({"session_id": LEAD, "hook_event_name": "SessionEnd"}));
    assert!(!hooks.store_for_test(KEY, before), "nothing is stored under an older generation");
    assert!(hooks.store_for_test(KEY, hooks.generation(KEY)));
}

#[cfg(unix)]
/// CLAUDE-104, CLAUDE-105.
#[test]
fn claude_104_105_which_transcripts_are_opened_for_a_baseline() {
    let home = Home::new();
    let path = home.session(LEAD, &[ask("Do the thing that was asked for", 40.0)], 10.0);
    let empty = home.write(&format!("projects/-w-b/{LEAD}.jsonl"), lines(&[say("x", 9.0)]), 900.0);
    let outside = home.write(&format!("elsewhere/{LEAD}.jsonl"), lines(&[ask("outside", 9.0)]), 9.0);
    let link = home.path(&format!("projects/-w-acme-shop/{KEY}-link.jsonl"));
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let other = home.session("ffffffff", &[ask("another session's", 9.0)], 9.0);
    let text = home.write(&format!("projects/-w-b/{LEAD}.txt"), lines(&[ask("no transcript", 9.0)]), 9.0);
    let climbing = home.path(&format!("projects/../elsewhere/{LEAD}.jsonl"));
    let relative = std::path::PathBuf::from(format!("-w-acme-shop/{LEAD}.jsonl"));
    let user = |id: &str| Some(Some(Box::from(id)));
    for (named, want) in [
        (&path, user("u-40")),
        (&empty, Some(None)),
        (&outside, None),
        (&link, None),
        (&other, None),
        (&text, None),
        (&climbing, None),
        (&relative, None),
    ] {
        let mut payload = of(Some("permission_prompt"), "May I?");
        payload["transcript_path"] = json!(named);
        notify(&home, payload);
        assert_eq!(home.hooks.standing(KEY).unwrap().baseline, want, "{}", named.display());
    }
}

/// NOTE-010.
#[test]
fn note_010_the_cooldowns_of_popups() {
    let gates = Gates::default();
    let popup = |key: &str, message: &str| Popup { key: key.into(), message: message.into() };
    assert!(gates.admit(&popup("a", "x"), 1000.0));
    assert!(!gates.admit(&popup("b", "x"), 1014.0), "15 s in all");
    assert!(gates.admit(&popup("b", "x"), 1015.0));
    assert!(!gates.admit(&popup("a", "y"), 1059.0), "60 s per session");
    assert!(gates.admit(&popup("a", "y"), 1060.0));
    assert!(!gates.admit(&popup("a", "y"), 1659.0), "the same words once in 600 s");
    assert!(gates.admit(&popup("a", "y"), 1660.0));
    assert!(gates.admit(&popup("", "y"), 1675.0));
    assert!(!gates.admit(&popup("", "z"), 1734.0), "popups of nobody share a gate");
}

/// NOTE-021, NOTE-023.
#[test]
fn note_021_023_popups_of_collections() {
    let gates = Gates::default();
    assert_eq!(gates.enter("a", true, "m", 1000.0), Gate::Raise);
    assert_eq!(gates.enter("a", true, "m", 1001.0), Gate::Quiet, "still the same wait");
    assert_eq!(gates.enter("b", true, "m", 1001.0), Gate::Deferred, "the floor is closed: asked again");
    assert_eq!(gates.enter("b", true, "m", 1015.0), Gate::Raise);
    assert_eq!(gates.enter("a", false, "m", 1020.0), Gate::Quiet);
    assert_eq!(gates.enter("a", true, "m", 1030.0), Gate::Consumed, "its own cooldown consumes the wait");
    assert_eq!(gates.enter("a", true, "m", 1100.0), Gate::Quiet);
    gates.forget_state("a");
    assert_eq!(gates.enter("a", true, "m", 1100.0), Gate::Raise);
    assert!(gates.remember("c", true) && !gates.remember("c", true));
    assert_eq!(gates.enter("c", true, "m", 1200.0), Gate::Quiet, "remembered where nothing could be raised");
}
