//! `POST /api/lane` (HTTP-081, NOTE-060..063): a tab says whether its browser lets it notify. Kept in memory alone,
//! for the board as a whole; a body that names a session is refused, since nothing per session may hang on it.

use super::app::{App, Call};
use super::json::Object;
use super::reply::Reply;
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};

/// When a tab last reported a working notification lane.
#[derive(Default)]
pub struct BrowserLane(Mutex<Option<f64>>);

impl BrowserLane {
    /// Seconds since the epoch, `None` when none has in this run.
    pub fn reported_at(&self) -> Option<f64> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self, at: f64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }
}

/// Stamps the lane when the two values say that it works; anything else well-formed changes nothing.
pub(super) fn reply(app: &App, call: &Call) -> Reply {
    if let Err(why) = judge(&call.object) {
        return app.refusal("lane.refused", Reply::json(400, &json!({"ok": false, "reason": why})));
    }
    let field = |name: &str| call.object.get(name);
    let reported = field("supported") == Some(&Value::Bool(true))
        && field("permission").and_then(Value::as_str) == Some("granted");
    if reported {
        app.lane.report((app.clock)());
        app.publisher.clear();
    }
    Reply::json(200, &json!({"ok": true, "reported": reported}))
}

/// Exactly two members, a boolean and a string.
fn judge(object: &Object) -> Result<(), &'static str> {
    for (name, value) in object {
        match name.as_str() {
            "supported" if value.is_boolean() => {}
            "permission" if value.is_string() => {}
            "supported" => return Err("supported must be true or false"),
            "permission" => return Err("permission must be a string"),
            "harness" | "sid" | "session" | "session_id" | "resume_id" => return Err("a lane belongs to no session"),
            _ => return Err("a lane has supported and permission only"),
        }
    }
    if object.len() == 2 { Ok(()) } else { Err("supported and permission are required") }
}
