//! Task files: one JSON object each, written by the harness as it plans (section 5).

use super::cache::{Kept, Look};
use crate::harness::line::{self, Field};
use crate::harness::tree::File;
use crate::model::{Task, task};
use crate::surface::read;
use crate::text::safe_text;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// Longest task file that is read, bytes.
const FILE_BYTES: u64 = 262_144;
/// Longest subject or active form kept, characters.
const WORDS_CHARS: usize = 1_000;
/// Longest status kept, characters.
const STATUS_CHARS: usize = 40;
/// Longest id kept, characters.
const ID_CHARS: usize = 256;

/// A task as its file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    id: Value,
    subject: Box<str>,
    active_form: Box<str>,
    status: Box<str>,
}

#[derive(Deserialize)]
struct TaskFile<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    subject: Field<'a>,
    #[serde(borrow, rename = "activeForm")]
    active_form: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
}

/// The tasks read so far; `None` for a file that holds no task.
pub type Tasks = Kept<Option<Stored>>;

/// What a task file gave.
pub enum Found {
    Task(Task),
    /// No JSON object (CLAUDE-080).
    Malformed,
    Unreadable(String),
    Gone,
}

/// The task in a file, with its ages at `now` (CLAUDE-081).
pub fn read(tasks: &mut Tasks, path: &Path, file: &File, now: f64) -> Found {
    let read = |stored: &mut Option<Stored>| {
        *stored = parse(&read::whole(path, FILE_BYTES)?);
        Ok(())
    };
    match tasks.look(path, file.stamp, now, || None, read) {
        Look::Gone => Found::Gone,
        Look::Failed { why, .. } => Found::Unreadable(why.to_owned()),
        Look::Read(None) => Found::Malformed,
        Look::Read(Some(t)) => {
            let updated = file.stamp.mtime();
            let times = Some((file.birth.unwrap_or(updated), updated));
            Found::Task(task::task(t.id.clone(), &t.subject, &t.active_form, &t.status, times, now))
        }
    }
}

fn parse(bytes: &[u8]) -> Option<Stored> {
    // A byte order mark is accepted; bytes that are no UTF-8 are not (FIELD-059, CLAUDE-080).
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii();
    let text = std::str::from_utf8(bytes).ok()?;
    let text = crate::text::json::record(text.as_bytes())?;
    let file: TaskFile = serde_json::from_str(&text).ok()?;
    let words = |field, cap| line::text(field).map(|t| Box::from(&*safe_text(&t, cap))).unwrap_or_default();
    Some(Stored {
        id: file.id.and_then(|raw| scalar(raw.get())).unwrap_or(Value::Null),
        subject: words(file.subject, WORDS_CHARS),
        active_form: words(file.active_form, WORDS_CHARS),
        status: words(file.status, STATUS_CHARS),
    })
}

/// A scalar as stored, text bounded; lists and objects are no ids.
fn scalar(raw: &str) -> Option<Value> {
    if raw.starts_with(['[', '{']) {
        return None;
    }
    match serde_json::from_str(raw).ok()? {
        Value::String(text) => Some(Value::String(safe_text(&text, ID_CHARS).into_owned())),
        other => Some(other),
    }
}
