//! Every statement the reader of Goose runs, all fixed `SELECT`s over three tables, and what comes of them.
//!
//! Schema: Goose from 1.10 to 1.47 (spec 28, sections 2 and 7). Which columns there are decides, not a version.

use super::session::{Kind, Session, kind_of};
use crate::config::{LAST_PROMPT_CAP_CHARS, RATE_WINDOW_SEC, SUBAGENT_NAME_CAP_CHARS, TITLE_CAP_CHARS};
use crate::harness::line::{self, Field};
use crate::harness::sql::cells::{Cell, cell};
use crate::harness::sql::history::{Message, Note, Role};
use crate::harness::sql::ids;
use crate::harness::sql::sessions::{self, Scope};
use crate::harness::sql::walk::Walk;
use crate::model::time;
use crate::surface::sqlite::{self, Database, Row, RowError, StoreError};
use crate::text::extract::Text;
use crate::text::{safe_name, safe_text};
use serde::Deserialize;
use std::collections::HashMap;

/// The session columns in the order [`session_of`] takes them: the newest schema, one without names, the oldest.
const SESSIONS: &str = "SELECT id, name, description, working_dir, updated_at, session_type, parent_session_id, \
    archived_at FROM sessions";
const SESSIONS_WITHOUT_NAME: &str = "SELECT id, NULL, description, working_dir, updated_at, session_type, \
    parent_session_id, archived_at FROM sessions";
const SESSIONS_NAMED_OLD: &str =
    "SELECT id, name, description, working_dir, updated_at, NULL, NULL, NULL FROM sessions";
const SESSIONS_OLD: &str = "SELECT id, NULL, description, working_dir, updated_at, NULL, NULL, NULL FROM sessions";
/// How messages are read. With Goose's own index the cursors are answered from that alone; content is taken only
/// where a person may have written it.
const WALK: Walk = Walk {
    table: ("messages", &["id", "session_id", "role", "created_timestamp", "content_json"]),
    cursors: "SELECT session_id, count(*), max(id), total(id) FROM messages \
        WHERE session_id IN (SELECT value FROM json_each(?1)) GROUP BY session_id",
    newest: "SELECT m.session_id, m.id, m.role, m.created_timestamp, octet_length(m.content_json), \
        CASE WHEN m.role = 'user' AND octet_length(m.content_json) <= ?2 THEN m.content_json END, newest.n \
        FROM (SELECT id AS r, row_number() OVER (PARTITION BY session_id ORDER BY created_timestamp DESC, id DESC) AS n \
              FROM messages WHERE session_id IN (SELECT value FROM json_each(?1))) AS newest \
        JOIN messages AS m ON m.id = newest.r WHERE newest.n <= 400",
    newer: "SELECT session_id, id, role, created_timestamp, octet_length(content_json), \
        CASE WHEN role = 'user' AND octet_length(content_json) <= ?3 THEN content_json END, -id FROM messages \
        WHERE session_id = ?1 AND id > ?2 ORDER BY id LIMIT 400",
    whole: CONTENT_WHOLE as i64,
};
/// The newest entries of sessions in the ledger.
const LEDGER: &str = "SELECT session_id, created_timestamp, output_tokens FROM (SELECT session_id, created_timestamp, \
    output_tokens, row_number() OVER (PARTITION BY session_id ORDER BY created_timestamp DESC) AS n FROM usage_ledger \
    WHERE session_id IN (SELECT value FROM json_each(?1))) WHERE n <= 200";

/// Longest content read whole, bytes; of a longer one its beginning is read.
const CONTENT_WHOLE: usize = 262_144;
/// Longest id, directory or title that is kept, bytes.
const TEXT_CAP: usize = 4096;

/// What one database held when it was last read.
pub type Reading = sessions::Reading<Session>;

/// Reads a database; `before` is what was read of it last.
pub fn read(db: &Database, before: Option<&Reading>, scope: Scope) -> Result<Reading, StoreError> {
    db.require("sessions", &["id", "description", "working_dir", "updated_at"])?;
    let columns = db.columns("sessions")?;
    let has = |name: &str| columns.iter().any(|c| c == name);
    let typed = ["session_type", "parent_session_id", "archived_at"].into_iter().all(has);
    let statement = match (typed, has("name")) {
        (true, true) => SESSIONS,
        (true, false) => SESSIONS_WITHOUT_NAME,
        (false, true) => SESSIONS_NAMED_OLD,
        (false, false) => SESSIONS_OLD,
    };
    let mut reading = Reading::new(scope);
    db.rows(statement, &[], |row| {
        match session_of(row)? {
            Some((id, session)) => drop(reading.sessions.insert(id, session)),
            None => reading.skipped += 1,
        }
        Ok(true)
    })?;
    reading.keep_what_counts();
    let active = reading.rows_that_count();
    let known = |id: &str| before?.sessions.get(id)?.history.as_ref();
    let mut histories = reading.part(|| WALK.histories(db, &active, known, message_of))?;
    let mut usage = reading.part(|| ledger(db, &active, scope.now))?;
    for id in &active {
        let Some(session) = reading.sessions.get_mut(id) else { continue };
        session.asked = true;
        if let Some((history, carried)) = histories.as_mut().and_then(|h| h.remove(id)) {
            reading.carried |= carried;
            session.history = Some(history);
        }
        session.usage = usage.as_mut().map(|u| u.remove(id).unwrap_or_default());
    }
    Ok(reading)
}

fn session_of(row: &Row<'_>) -> Result<Option<(String, Session)>, RowError> {
    let text = |i: usize| Ok::<_, RowError>(sqlite::text(row.get_ref(i)?, TEXT_CAP));
    let Some(id) = text(0)?.filter(|id| !id.is_empty()) else { return Ok(None) };
    let archived = sqlite::truthy(row.get_ref(7)?);
    let kind = if archived { Kind::Hidden } else { kind_of(&text(5)?.unwrap_or_default()) };
    let cap = if kind == Kind::Child { SUBAGENT_NAME_CAP_CHARS } else { TITLE_CAP_CHARS };
    let title = |text: Option<String>| text.and_then(|t| safe_name(t.trim(), cap));
    let session = Session {
        kind,
        parent: text(6)?.filter(|p| !p.is_empty()),
        directory: text(3)?.unwrap_or_default(),
        title: title(text(1)?).or(title(text(2)?)),
        updated: text(4)?.and_then(|t| time::parse_iso(&t)).unwrap_or(0.0),
        asked: false,
        history: None,
        usage: None,
    };
    Ok(Some((id, session)))
}

/// Takes one message; what tells it apart from others in a cursor is its number.
fn message_of(db: &Database, row: &Row<'_>) -> Result<(f64, Message), RowError> {
    let id: i64 = row.get(1)?;
    let at = sqlite::epoch(row.get_ref(3)?);
    let (role, note) = if sqlite::bytes(row.get_ref(2)?) == Some(b"user") {
        let place = ("messages", "content_json");
        prompt(cell(db, place, id, row.get_ref(4)?, row.get_ref(5)?, CONTENT_WHOLE))
    } else {
        (Role::Other, Note::Keep)
    };
    Ok((id as f64, Message { at, role, note }))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
}

/// Whether a user's content is a prompt, and what it says. Goose keeps tool results under the same role (GOOSE-013).
fn prompt(cell: Option<Cell>) -> (Role, Note) {
    let text = cell.as_ref().and_then(Cell::text);
    // What cannot be parsed is an empty list: a prompt without text.
    let Some(content) = text.as_deref().and_then(|t| serde_json::from_str::<&serde_json::value::RawValue>(t).ok())
    else {
        return (Role::Prompt, Note::Keep);
    };
    let is_result = |item: &&serde_json::value::RawValue| {
        let item: Item<'_> = line::object(Some(*item)).unwrap_or_default();
        line::text(item.kind).is_some_and(|kind| is_tool_response(&kind))
    };
    if line::list(Some(content)).is_some_and(|items| items.iter().any(is_result)) {
        return (Role::Other, Note::Keep);
    }
    let text: Text<'_> = serde_json::from_str(content.get()).unwrap_or_default();
    let said = safe_text(text.0.trim(), LAST_PROMPT_CAP_CHARS);
    let said = said.trim();
    (Role::Prompt, if said.is_empty() { Note::Keep } else { Note::Is(said.into()) })
}

fn is_tool_response(kind: &str) -> bool {
    let plain = kind.chars().flat_map(char::to_lowercase).filter(char::is_ascii_alphanumeric);
    plain.eq("toolresponse".chars())
}

/// Output tokens of the rate window by session (GOOSE-014).
fn ledger(db: &Database, active: &[String], now: f64) -> Result<HashMap<String, Vec<(f64, u64)>>, StoreError> {
    db.require("usage_ledger", &["session_id", "created_timestamp", "output_tokens"])?;
    let mut usage: HashMap<String, Vec<(f64, u64)>> = HashMap::new();
    db.rows(LEDGER, sqlite::params![ids(active.iter().map(String::as_str))], |row| {
        let at = sqlite::epoch(row.get_ref(1)?);
        let tokens = sqlite::plain_number(row.get_ref(2)?).filter(|n| *n > 0.0).unwrap_or(0.0) as u64;
        // One whose stamp lies ahead may come into the window yet.
        let counts = time::age(at, now).is_none_or(|age| age <= RATE_WINDOW_SEC);
        if let Some(session) = sqlite::text(row.get_ref(0)?, TEXT_CAP).filter(|_| counts && tokens > 0) {
            usage.entry(session).or_default().push((at, tokens));
        }
        Ok(true)
    })?;
    Ok(usage)
}
