//! Every statement the reader of Goose runs, all fixed `SELECT`s over three tables, and what comes of them.
//!
//! Schema: Goose from 1.10 to 1.47 (spec 28, sections 2 and 7). Which columns there are decides, not a version.

use super::session::{Kind, Session, kind_of, row_of};
use crate::config::{LAST_PROMPT_CAP_CHARS, RATE_WINDOW_SEC, SUBAGENT_NAME_CAP_CHARS, TITLE_CAP_CHARS};
use crate::harness::line::{self, Field};
use crate::harness::sql::cells::{Cell, cell};
use crate::harness::sql::history::{Cursor, History, Message, Note, Role};
use crate::harness::sql::ids;
use crate::model::time;
use crate::surface::sqlite::{self, Database, Row, RowError, StoreError};
use crate::text::extract::Text;
use crate::text::{safe_name, safe_text};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The session columns in the order [`session_of`] takes them: the newest schema, one without names, the oldest.
const SESSIONS: &str = "SELECT id, name, description, working_dir, updated_at, session_type, parent_session_id, \
    archived_at FROM sessions";
const SESSIONS_WITHOUT_NAME: &str = "SELECT id, NULL, description, working_dir, updated_at, session_type, \
    parent_session_id, archived_at FROM sessions";
const SESSIONS_NAMED_OLD: &str =
    "SELECT id, name, description, working_dir, updated_at, NULL, NULL, NULL FROM sessions";
const SESSIONS_OLD: &str = "SELECT id, NULL, description, working_dir, updated_at, NULL, NULL, NULL FROM sessions";
/// Cursors of sessions; with Goose's own index answered from that alone.
const CURSORS: &str = "SELECT session_id, count(*), max(id), total(id) FROM messages \
    WHERE session_id IN (SELECT value FROM json_each(?1)) GROUP BY session_id";
/// The newest messages of sessions; content only where a person may have written it.
const MESSAGES: &str = "SELECT m.session_id, m.id, m.role, m.created_timestamp, octet_length(m.content_json), \
    CASE WHEN m.role = 'user' AND octet_length(m.content_json) <= ?2 THEN m.content_json END, newest.n \
    FROM (SELECT id AS r, row_number() OVER (PARTITION BY session_id ORDER BY created_timestamp DESC, id DESC) AS n \
          FROM messages WHERE session_id IN (SELECT value FROM json_each(?1))) AS newest \
    JOIN messages AS m ON m.id = newest.r WHERE newest.n <= 400";
/// A session's messages behind a number.
const NEWER: &str = "SELECT session_id, id, role, created_timestamp, octet_length(content_json), \
    CASE WHEN role = 'user' AND octet_length(content_json) <= ?3 THEN content_json END, -id FROM messages \
    WHERE session_id = ?1 AND id > ?2 ORDER BY id LIMIT 400";
/// The newest entries of sessions in the ledger.
const LEDGER: &str = "SELECT session_id, created_timestamp, output_tokens FROM (SELECT session_id, created_timestamp, \
    output_tokens, row_number() OVER (PARTITION BY session_id ORDER BY created_timestamp DESC) AS n FROM usage_ledger \
    WHERE session_id IN (SELECT value FROM json_each(?1))) WHERE n <= 200";

/// Longest content read whole, bytes; of a longer one its beginning is read.
const CONTENT_WHOLE: usize = 262_144;
/// Longest id, directory or title that is kept, bytes.
const TEXT_CAP: usize = 4096;

/// What one pass wants to know.
#[derive(Clone, Copy)]
pub struct Scope {
    pub now: f64,
    pub window: f64,
    pub all: bool,
}

impl Scope {
    fn active(&self, at: f64) -> bool {
        time::fresh(at, self.window, self.now)
    }
}

/// What one database held when it was last read.
pub struct Reading {
    scope: Scope,
    /// By id: rows that may be published, children that run, and everything above those.
    pub sessions: BTreeMap<String, Session>,
    /// Sessions that could not be identified.
    pub skipped: u64,
    /// Some histories were carried over from the reading before.
    carried: bool,
}

impl Reading {
    /// Whether this reading answers what a pass asks. On a sweep one that was built on another does not.
    pub fn suffices(&self, scope: Scope, sweep: bool) -> bool {
        let unread = |s: &Session| s.kind == Kind::Row && !s.asked && scope.active(s.updated);
        (self.scope.all || !scope.all)
            && scope.window <= self.scope.window
            && !(sweep && self.carried)
            && !self.sessions.values().any(unread)
    }
}

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
    let mut reading = Reading { scope, sessions: BTreeMap::new(), skipped: 0, carried: false };
    db.rows(statement, &[], |row| {
        match session_of(row)? {
            Some(session) => drop(reading.sessions.insert(session.id.clone(), session)),
            None => reading.skipped += 1,
        }
        Ok(true)
    })?;
    keep_what_counts(&mut reading);
    let active = rows_that_count(&reading);
    let mut histories = missing_is_none(histories(db, before, &active))?;
    let mut usage = missing_is_none(ledger(db, &active, scope.now))?;
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

/// A part of the reading that failed is missing (GOOSE-018); a store that was changed or locked is read anew as a whole.
fn missing_is_none<T>(read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Err(error @ (StoreError::Locked | StoreError::Changed)) => Err(error),
        other => Ok(other.ok()),
    }
}

fn session_of(row: &Row<'_>) -> Result<Option<Session>, RowError> {
    let text = |i: usize| Ok::<_, RowError>(sqlite::text(row.get_ref(i)?, TEXT_CAP));
    let Some(id) = text(0)?.filter(|id| !id.is_empty()) else { return Ok(None) };
    let archived = sqlite::truthy(row.get_ref(7)?);
    let kind = if archived { Kind::Hidden } else { kind_of(&text(5)?.unwrap_or_default()) };
    let cap = if kind == Kind::Child { SUBAGENT_NAME_CAP_CHARS } else { TITLE_CAP_CHARS };
    let title = |text: Option<String>| text.and_then(|t| safe_name(t.trim(), cap));
    Ok(Some(Session {
        id,
        kind,
        parent: text(6)?.filter(|p| !p.is_empty()),
        directory: text(3)?.unwrap_or_default(),
        title: title(text(1)?).or(title(text(2)?)),
        updated: text(4)?.and_then(|t| time::parse_iso(&t)).unwrap_or(0.0),
        asked: false,
        history: None,
        usage: None,
    }))
}

/// Drops the sessions that neither may be published nor stand above one that may.
fn keep_what_counts(reading: &mut Reading) {
    let scope = reading.scope;
    let own = |s: &Session| {
        let ahead = time::age(s.updated, scope.now).is_none();
        match s.kind {
            Kind::Row => scope.all || ahead || scope.active(s.updated),
            Kind::Child => ahead || s.is_running(scope.now),
            Kind::Hidden => false,
        }
    };
    let mut kept: Vec<String> = reading.sessions.values().filter(|s| own(s)).map(|s| s.id.clone()).collect();
    let mut above: Vec<String> = Vec::new();
    for id in &kept {
        let mut session = reading.sessions.get(id);
        for _ in 0..crate::harness::sql::lineage::LEVELS {
            let Some(parent) = session.filter(|s| s.kind == Kind::Child).and_then(|s| s.parent.clone()) else { break };
            session = reading.sessions.get(&parent);
            above.push(parent);
        }
    }
    kept.append(&mut above);
    kept.sort_unstable();
    reading.sessions.retain(|id, _| kept.binary_search(id).is_ok());
}

/// The rows whose messages are published: active by themselves or through a child that runs.
fn rows_that_count(reading: &Reading) -> Vec<String> {
    let running = reading.sessions.values().filter(|s| s.kind == Kind::Child && s.is_running(reading.scope.now));
    let through: Vec<&str> = running.filter_map(|s| row_of(&reading.sessions, &s.id)).collect();
    let counts =
        |s: &&Session| s.kind == Kind::Row && (reading.scope.active(s.updated) || through.contains(&s.id.as_str()));
    reading.sessions.values().filter(counts).map(|s| s.id.clone()).collect()
}

/// Histories by session, and whether each was carried over from the reading before.
type Histories = HashMap<String, (Arc<History>, bool)>;

fn histories(db: &Database, before: Option<&Reading>, active: &[String]) -> Result<Histories, StoreError> {
    db.require("messages", &["id", "session_id", "role", "created_timestamp", "content_json"])?;
    let mut cursors: HashMap<String, Cursor> = active.iter().map(|id| (id.clone(), Cursor::default())).collect();
    db.rows(CURSORS, sqlite::params![ids(active.iter().map(String::as_str))], |row| {
        if let Some(id) = sqlite::borrowed(row.get_ref(0)?, TEXT_CAP)
            && let Some(cursor) = cursors.get_mut(&*id)
        {
            *cursor = Cursor { count: row.get(1)?, last: row.get(2)?, sum: row.get(3)? };
        }
        Ok(true)
    })?;
    let (mut found, mut anew) = (Histories::new(), Vec::new());
    for (id, cursor) in &cursors {
        let known = before.and_then(|b| b.sessions.get(id)).and_then(|s| s.history.as_ref());
        match known.map_or(Ok(None), |known| continued(db, id, known, *cursor))? {
            Some(history) => drop(found.insert(id.clone(), (history, true))),
            None => anew.push(id.as_str()),
        }
    }
    let mut read: HashMap<String, Vec<(i64, Message)>> = HashMap::new();
    if !anew.is_empty() {
        let params = sqlite::params![ids(anew.iter().copied()), CONTENT_WHOLE as i64];
        db.rows(MESSAGES, params, |row| message_of(db, row, &mut read).map(|_| true))?;
    }
    for id in anew {
        let cursor = cursors.get(id).copied().unwrap_or_default();
        let messages = in_order(read.remove(id).unwrap_or_default());
        found.insert(id.to_owned(), (Arc::new(History::new(cursor, messages)), false));
    }
    Ok(found)
}

/// A known history brought up to its new cursor, when reading what is new suffices.
fn continued(
    db: &Database,
    id: &str,
    known: &Arc<History>,
    cursor: Cursor,
) -> Result<Option<Arc<History>>, StoreError> {
    if known.cursor == cursor {
        return Ok(Some(Arc::clone(known)));
    }
    let new = cursor.count - known.cursor.count;
    if cursor.last <= known.cursor.last || !(1..=400).contains(&new) {
        return Ok(None);
    }
    let mut read: HashMap<String, Vec<(i64, Message)>> = HashMap::new();
    let mut sum = 0.0;
    db.rows(NEWER, sqlite::params![id, known.cursor.last, CONTENT_WHOLE as i64], |row| {
        sum += message_of(db, row, &mut read)? as f64;
        Ok(true)
    })?;
    let messages = in_order(read.remove(id).unwrap_or_default());
    Ok(known.extended(cursor, sum, messages).map(Arc::new))
}

/// Oldest first: larger numbers are older.
fn in_order(mut numbered: Vec<(i64, Message)>) -> Vec<Message> {
    numbered.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
    numbered.into_iter().map(|(_, message)| message).collect()
}

/// Takes one message; its number is the answer.
fn message_of(db: &Database, row: &Row<'_>, into: &mut HashMap<String, Vec<(i64, Message)>>) -> Result<i64, RowError> {
    let id: i64 = row.get(1)?;
    let Some(session) = sqlite::text(row.get_ref(0)?, TEXT_CAP) else { return Ok(id) };
    let at = sqlite::epoch(row.get_ref(3)?);
    let (role, note) = if sqlite::bytes(row.get_ref(2)?) == Some(b"user") {
        let place = ("messages", "content_json");
        prompt(cell(db, place, id, row.get_ref(4)?, row.get_ref(5)?, CONTENT_WHOLE))
    } else {
        (Role::Other, Note::Keep)
    };
    into.entry(session).or_default().push((row.get(6)?, Message { at, role, note }));
    Ok(id)
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
