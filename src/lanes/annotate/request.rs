//! `POST /api/annotate`: the body's types, the one action it names, and the reply (ANN-040 to ANN-048).

use super::{Typed, members};
use crate::counters::Counters;
use crate::http::app::{Call, Handler, Hook};
use crate::http::json::Object;
use crate::http::reply::Reply;
use crate::keep::annotations::{self, Action, Done, EntryKey, Observed, Outcome, Slot, Source, Words, entry_key};
use crate::model::time::Clock;
use serde_json::{Value, json};
use std::sync::Arc;

/// A member of the wrong type; the sentence says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mistyped(&'static str);

/// Answers the route. `look` makes a collection, so that a save knows the session's latest prompt; `changed` tells that
/// the board shows something else now.
pub fn annotate(lane: Arc<Typed>, counters: Arc<Counters>, clock: Clock, look: Hook, changed: Hook) -> Handler {
    Arc::new(move |call: &Call| {
        let (key, action) = match request(&call.object) {
            Ok(request) => request,
            Err(Mistyped(why)) => {
                counters.bump("body.refused");
                return Reply::json(400, &json!({"ok": false, "error": why, "status": 400}));
            }
        };
        if matches!(action, Action::Adopt { .. } | Action::Words(_)) && lane.is_stale(clock()) {
            look();
        }
        let seen: Observed = lane.observed(&key);
        let Done { outcome, slot } = lane.words.save(&key, &action, &seen, clock());
        let withdrawn = outcome != Outcome::Stored
            || action != Action::Clear
            || lane.departures.withdraw(&key.0, &key.1).persisted();
        match outcome {
            Outcome::Stored => changed(),
            // Words that could not be written are held for this run, and shown.
            Outcome::Unwritable => {
                counters.bump("annotate.unwritable");
                changed();
            }
            Outcome::Unchanged => {}
            refusal => counters.bump_in("annotate", refusal.as_str()),
        }
        Reply::json(200, &reply(&lane, &key, outcome, slot.as_deref(), withdrawn))
    })
}

fn reply(lane: &Typed, key: &EntryKey, outcome: Outcome, slot: Option<&Slot>, withdrawn: bool) -> Value {
    let shown = members(annotations::published(slot, &key.1, lane.words.is_untrusted()));
    let done = outcome.persisted();
    let mut body = json!({"ok": done, "persisted": done, "outcome": outcome.as_str(), "annotation": shown});
    if let Some(body) = body.as_object_mut().filter(|_| !withdrawn) {
        body.insert("withdrawn".into(), false.into());
    }
    body
}

/// The session and the one action of a body, in the order of ANN-043.
pub(super) fn request(body: &Object) -> Result<(EntryKey, Action), Mistyped> {
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let key = text("harness").zip(text("sid")).and_then(|(harness, sid)| entry_key(harness, sid));
    let key = key.ok_or(Mistyped("harness and sid must be texts that name a session"))?;
    let goal = optional_text(body, "goal")?;
    let output = optional_text(body, "output")?;
    let lines = lines(body)?;
    let expected = expected(body)?;
    let origins = origins(body, lines.as_ref().map(Vec::len))?;
    let through = match body.get("settle_through") {
        None => None,
        Some(value) => Some(value.as_f64().ok_or(Mistyped("settle_through must be a number"))?),
    };
    let clear = match body.get("clear") {
        None => false,
        Some(value) => value.as_bool().ok_or(Mistyped("clear must be true or false"))?,
    };
    let adopt = adoption(body)?;
    let action = if clear {
        Action::Clear
    } else if let Some(through) = through {
        Action::Settle { through, expected }
    } else if let Some((source, prompt, at)) = adopt {
        Action::Adopt { source, prompt, at, expected }
    } else if goal.is_some() || lines.is_some() || output.is_some() {
        Action::Words(Words { goal, lines, output, expected, origins })
    } else {
        Action::Nothing
    };
    Ok((key, action))
}

fn optional_text(body: &Object, name: &'static str) -> Result<Option<String>, Mistyped> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Mistyped("goal and output must be texts")),
    }
}

fn lines(body: &Object) -> Result<Option<Vec<String>>, Mistyped> {
    let list = match body.get("lines") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Mistyped("lines must be a list of texts")),
    };
    let texts: Option<Vec<String>> = list.iter().map(|line| line.as_str().map(str::to_owned)).collect();
    texts.map(Some).ok_or(Mistyped("lines must be a list of texts"))
}

/// An integer of any size; a fraction, a boolean and a text are none.
fn expected(body: &Object) -> Result<Option<i128>, Mistyped> {
    let Some(value) = body.get("expected_revision") else { return Ok(None) };
    let whole = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    whole.map(Some).ok_or(Mistyped("expected_revision must be a whole number"))
}

fn origins(body: &Object, lines: Option<usize>) -> Result<Option<Vec<Option<u64>>>, Mistyped> {
    const WHY: Mistyped = Mistyped("origins must hold null or a position for each line");
    let Some(value) = body.get("origins") else { return Ok(None) };
    let list = value.as_array().filter(|list| Some(list.len()) == lines).ok_or(WHY)?;
    let position = |value: &Value| if value.is_null() { Some(None) } else { value.as_u64().map(Some) };
    list.iter().map(position).collect::<Option<Vec<_>>>().map(Some).ok_or(WHY)
}

type Adoption = (Option<Source>, String, Option<f64>);

fn adoption(body: &Object) -> Result<Option<Adoption>, Mistyped> {
    const WHY: Mistyped = Mistyped("adopt and prompt must be texts, prompt_at a number");
    let text = |name: &str| match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(WHY),
    };
    let at = match body.get("prompt_at") {
        None | Some(Value::Null) => None,
        Some(value) => Some(value.as_f64().ok_or(WHY)?),
    };
    let prompt = text("prompt")?.unwrap_or_default();
    // A prompt of a kind this board does not offer names no candidate, and is refused as such.
    let offered = |name: String| Source::parse(&name).filter(|source| *source != Source::Chosen);
    Ok(text("adopt")?.map(|name| (offered(name), prompt, at)))
}
