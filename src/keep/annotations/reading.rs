//! The stored reading of a session against its words, judged on the way out (READ-090, READ-091, READ-099), and the
//! closed set of reasons for a press that produced nothing (READ-052).
//!
//! A reading with anything in it that this build does not know is refused whole: half a verdict would be another one.

use crate::config::ANNOTATION_TEXT_CAP_CHARS;
use crate::text::safe_text;
use serde_json::{Map, Value};

/// Results a criterion may have.
pub const RESULTS: [&str; 3] =
    ["departure", "consistent with the evidence read", "not verifiable from available evidence"];
/// Reasons for a demotion; the empty one is none.
pub const WHYS: [&str; 14] = [
    "",
    "not-asked",
    "unreadable",
    "uncited",
    "no-work-shown",
    "board-quoting-itself",
    "uncorroborated",
    "verdict-stated",
    "check-does-not-show-it",
    "failed-check-unread",
    "changed-after-check",
    "check-read-incomplete",
    "checks-not-read",
    "tells-the-person",
];
/// How far a reading reaches.
pub const SCOPES: [&str; 4] = ["mid-flight", "final", "last-turn", "withdrawn"];
/// Citations of one criterion.
const CITES_MAX: usize = 64;
/// Longest cited fact id, characters.
const FACT_CAP: usize = 256;
/// Longest sentence of a reading, characters.
const SENTENCE_CAP: usize = 2048;

const TIMES: [&str; 5] = ["revision_read_at", "window_start", "read_at", "ended_at_read", "evidence_through"];
const SENTENCES: [&str; 3] = ["stamp", "cutoff", "scope_text"];

/// Token and stored sentence of each reason for which a press produced nothing.
pub const WITHHELD: [(&str, &str); 25] = [
    ("nothing-typed", "Nothing was read: no words are typed for this session to read against."),
    ("discarded", "Nothing was read: the words of this session were discarded."),
    ("turn-stop", "Nothing was read: a turn stopped, and no end of the session was observed."),
    (
        "idle-unknown",
        "Nothing was read: the session is idle and neither a stop nor an end was observed. A reading can run while it works.",
    ),
    ("unobservable", "Nothing was read: no event of this harness can reach this row, so its end cannot be observed."),
    ("settling", "Nothing was read: the session ended moments ago. Ask again in a few seconds."),
    ("stop-settling", "Nothing was read: the turn stopped moments ago. Ask again in a few seconds."),
    ("revision-after-end", "Nothing was read: the words were saved after the session ended."),
    ("ledger-empty", "Nothing was read: no observed entry names this session."),
    ("window-empty", "Nothing was read: every observed entry is older than the words or has no time."),
    ("after-stop", "Nothing was read: everything after the words is also after the last stop."),
    ("record-unread", "Nothing was read: the record of this session was not read."),
    ("record-error", "Nothing was read: reading the record of this session failed."),
    ("no-record-reader", "Nothing was read: on this harness only prompts and titles are read."),
    ("model-unavailable", "Nothing was read: the codex program was not found when the check started."),
    ("claude-unavailable", "Nothing was read: the claude program was not found when the check started."),
    ("job-unrecorded", "Nothing was read: the marker that lets a check survive a restart could not be written."),
    ("stopping", "Nothing was read: Cargento was stopping."),
    ("cancelled-unsent", "Nothing was read: the check was cancelled before anything was sent."),
    ("model-failed", "The call did not complete. Only a fresh press tries again."),
    ("oversized", "The program wrote far more than an answer and was stopped."),
    ("interrupted", "Cargento stopped before the check finished."),
    ("unstored", "The check ran, and its outcome could not be stored at the time."),
    ("cancelled", "The check was cancelled. The attempt counts."),
    ("unstopped", "The check was stopped, and its process may still be running."),
];

/// The sentence of a token.
pub fn sentence(token: &str) -> Option<&'static str> {
    WITHHELD.iter().find(|(known, _)| *known == token).map(|(_, sentence)| *sentence)
}

/// The reading, its texts made safe again; `None` when anything of it is not as READ-099 has it.
pub fn read(value: &Value) -> Option<Value> {
    let reading = value.as_object()?;
    let mut out = Map::new();
    for (name, value) in reading {
        let value = match name.as_str() {
            "revision_read" => whole(value)?,
            "scope" => one_of(value, &SCOPES)?,
            "goal_source" => one_of(value, &["latest-prompt", "first-prompt", "chosen-prompt"])?,
            "goal_source_at" => value.as_f64().map(|_| value.clone())?,
            "criteria" => criteria(value)?,
            name if TIMES.contains(&name) => (value.is_null() || value.is_number()).then(|| value.clone())?,
            name if SENTENCES.contains(&name) => sentence_of(value, SENTENCE_CAP)?,
            _ => return None,
        };
        out.insert(name.clone(), value);
    }
    let required = TIMES.iter().chain(&SENTENCES).chain(&["revision_read", "scope", "criteria"]);
    let complete = required.into_iter().all(|name| out.contains_key(*name));
    (complete && out.contains_key("goal_source") == out.contains_key("goal_source_at")).then_some(Value::Object(out))
}

/// The goal first, then lines without a gap; `output` is what `line_1` was called.
fn criteria(value: &Value) -> Option<Value> {
    let given = value.as_object()?;
    let mut out = Map::new();
    for (name, value) in given {
        let name = if name == "output" { "line_1" } else { name.as_str() };
        if out.insert(name.to_owned(), criterion(value)?).is_some() {
            return None;
        }
    }
    let lines = out.len().checked_sub(1)?;
    let named = out.contains_key("goal") && (1..=lines).all(|k| out.contains_key(&format!("line_{k}")));
    (named && lines <= super::entry::LINES_MAX).then_some(Value::Object(out))
}

fn criterion(value: &Value) -> Option<Value> {
    let given = value.as_object()?;
    let mut out = Map::new();
    for (name, value) in given {
        let value = match name.as_str() {
            "result" => one_of(value, &RESULTS)?,
            "why" => one_of(value, &WHYS)?,
            "detail" => sentence_of(value, ANNOTATION_TEXT_CAP_CHARS + 1)?,
            "clause" => sentence_of(value, ANNOTATION_TEXT_CAP_CHARS)?,
            "cites" => cites(value)?,
            _ => return None,
        };
        out.insert(name.clone(), value);
    }
    // A criterion without a result is one whose reply could not be read.
    ["cites", "detail", "clause", "why"].iter().all(|name| out.contains_key(*name)).then_some(Value::Object(out))
}

fn cites(value: &Value) -> Option<Value> {
    let list = value.as_array().filter(|list| list.len() <= CITES_MAX)?;
    list.iter().map(|id| sentence_of(id, FACT_CAP)).collect::<Option<Vec<_>>>().map(Value::Array)
}

fn whole(value: &Value) -> Option<Value> {
    value.as_u64().filter(|n| *n > 0).map(Value::from)
}

fn one_of(value: &Value, set: &[&str]) -> Option<Value> {
    value.as_str().filter(|text| set.contains(text)).map(Value::from)
}

fn sentence_of(value: &Value, cap: usize) -> Option<Value> {
    value.as_str().map(|text| Value::from(safe_text(text, cap).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sample() -> Value {
        let goal = json!({"result": RESULTS[2], "cites": [], "detail": "", "clause": "Ship it", "why": "uncited"});
        let line = json!({"result": RESULTS[0], "cites": ["claude:3f9c01ab:tool:12"], "detail": "It failed.", "clause": "tests pass", "why": ""});
        json!({"revision_read": 2, "revision_read_at": 1790000300.5, "window_start": 1790000300.5, "read_at": null,
            "stamp": "read by Codex at 14:02", "cutoff": "9 of 11", "scope": "last-turn", "scope_text": "x", "ended_at_read": null,
            "evidence_through": 1790000540.0, "criteria": {"goal": goal, "line_1": line}})
    }

    #[test]
    fn read_099_a_reading_as_it_is_stored() {
        assert_eq!(read(&sample()), Some(sample()));
        let mut legacy = sample();
        let line = legacy["criteria"].as_object_mut().unwrap().remove("line_1").unwrap();
        legacy["criteria"]["output"] = line;
        assert_eq!(read(&legacy), Some(sample()));
        let mut adopted = sample();
        adopted["goal_source"] = "first-prompt".into();
        assert_eq!(read(&adopted), None, "a source without its time");
        adopted["goal_source_at"] = 5.0.into();
        assert!(read(&adopted).is_some());
    }

    #[test]
    fn ann_025_anything_else_is_refused_whole() {
        type Spoil = fn(&mut Value);
        let spoils: [Spoil; 10] = [
            |r| r["more"] = 1.into(),
            |r| drop(r.as_object_mut().unwrap().remove("stamp")),
            |r| r["revision_read"] = true.into(),
            |r| r["scope"] = "all".into(),
            |r| r["read_at"] = "now".into(),
            |r| r["criteria"]["goal"]["result"] = "done".into(),
            |r| r["criteria"]["goal"]["why"] = "later".into(),
            |r| r["criteria"]["line_3"] = r["criteria"]["goal"].clone(),
            |r| drop(r["criteria"].as_object_mut().unwrap().remove("goal")),
            |r| r["criteria"]["line_1"]["cites"] = json!([7]),
        ];
        for (i, spoil) in spoils.iter().enumerate() {
            let mut reading = sample();
            spoil(&mut reading);
            assert_eq!(read(&reading), None, "{i}");
        }
        assert_eq!(read(&json!([])), None);
    }

    #[test]
    fn read_052_one_sentence_a_cause() {
        let sentences: std::collections::HashSet<_> = WITHHELD.iter().map(|(_, sentence)| sentence).collect();
        assert_eq!(sentences.len(), WITHHELD.len());
        assert!(sentence("settling").unwrap().contains("seconds") && sentence("none").is_none());
    }
}
