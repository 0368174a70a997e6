//! `cargento statusline-hook [PORT]`: Antigravity's status line as a source of turns and quota (HOOK-060..070).
//!
//! The harness calls it at every render; a small memo keeps it from saying the same thing twice.

use super::{Envelope, object, post, post_event, stdin, words};
use crate::env::Env;
use crate::surface::write::Place;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

/// Shortest time between two quota posts, seconds.
const QUOTA_EVERY: f64 = 60.0;
const MEMO_CAP: usize = 4096;

/// Both posts of one render together; the first leaves the second its share when there are two.
const BOTH: Duration = Duration::from_millis(2400);
/// See [`BOTH`].
const FIRST: Duration = Duration::from_millis(1600);

/// Prints an empty status line, then reports what changed since the last render.
pub fn statusline(port: Option<&str>, env: &Env, now: f64) {
    // First, so that no dashboard holds up what the harness draws.
    drop(std::io::stdout().write_all(b"\n"));
    super::quietly(|| report(port, env, now));
}

fn report(port: Option<&str>, env: &Env, now: f64) {
    let Some(state) = object(&stdin(super::STDIN_CAP)) else { return };
    let Some(id) = conversation(&state) else { return };
    let quota = state.get("quota").filter(|quota| quota.as_object().is_some_and(|map| !map.is_empty()));
    let turn = turn(&state);
    // With nothing to say not even the memo is looked at (HOOK-011).
    if quota.is_none() && turn.is_none() {
        return;
    }
    let port = super::port(port);
    let place = Place::state(&env.state_dir());
    let name = format!("statusline-antigravity-{id}.json");
    let mut memo = place.read(&name, MEMO_CAP).ok().flatten().and_then(|bytes| object(&bytes)).unwrap_or_default();
    let before = memo.clone();
    let event = turn.filter(|event| memo.get("event").and_then(Value::as_str) != Some(event));
    let began = Instant::now();

    if let Some(quota) = quota {
        let last = memo.get("quota_at").and_then(Value::as_f64).unwrap_or(0.0);
        let limit = if event.is_some() { FIRST } else { super::TIME };
        // A memo from the future is one written under another clock.
        if !(0.0..QUOTA_EVERY).contains(&(now - last))
            && post(port, "/api/usage", None, json!({"quota": quota}).to_string().as_bytes(), limit)
        {
            memo.insert("quota_at".into(), now.into());
        }
    }
    if let Some(event) = event {
        let built = Envelope::new(event, &id, words(&state, "cwd"));
        let limit = BOTH.saturating_sub(began.elapsed()).min(super::TIME);
        // What was not taken is said again at the next render.
        if post_event(env, port, "antigravity", &built, limit) {
            memo.insert("event".into(), event.into());
        }
    }
    if memo != before {
        drop(place.replace(&name, Value::Object(memo).to_string().as_bytes()));
    }
}

/// The conversation's id; it enters a file name and must look like one (HOOK-066).
fn conversation(state: &Map<String, Value>) -> Option<String> {
    let id = words(state, "conversation_id").or_else(|| words(state, "session_id"))?;
    let plain = id.len() == 36 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    plain.then(|| id.to_owned())
}

fn turn(state: &Map<String, Value>) -> Option<&'static str> {
    match state.get("agent_state")?.as_str()? {
        "working" => Some("turn_started"),
        "idle" => Some("turn_stopped"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HOOK-061, HOOK-062, HOOK-066.
    #[test]
    fn hook_061_062_066_ids_and_states() {
        let id = "019a0000-1111-4222-8333-444455556666";
        let of = |body: Value| conversation(body.as_object().unwrap());
        assert_eq!(of(json!({"conversation_id": id, "session_id": "x"})).as_deref(), Some(id));
        assert_eq!(of(json!({"session_id": id})).as_deref(), Some(id));
        for bad in ["short", "../../../../../../../../etc/passwd-xxx", &"a".repeat(37)] {
            assert_eq!(of(json!({"conversation_id": bad})), None, "{bad}");
        }
        for (state, want) in [("working", Some("turn_started")), ("idle", Some("turn_stopped")), ("tool_use", None)] {
            assert_eq!(turn(json!({"agent_state": state}).as_object().unwrap()), want);
        }
    }
}
