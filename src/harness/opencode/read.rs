//! Every statement the reader of OpenCode runs, and what comes of them. All are fixed `SELECT`s over three tables; ids
//! come in as one bound JSON list. The tables that hold accounts, credentials and shares are named nowhere (OC-004),
//! and neither is the table of messages that no build fills (OC-009).
//!
//! Schema: OpenCode 1.18 and earlier (spec 26, section 2). Which columns there are decides, not a version.

use super::data;
use super::session::{Messages, Session, model_of};
use crate::config::{SUBAGENT_NAME_CAP_CHARS, TITLE_CAP_CHARS};
use crate::harness::sql::history::{Cursor, History, Message};
use crate::harness::sql::{cells::cell, ids};
use crate::model::time;
use crate::surface::sqlite::{self, Database, Row, RowError, StoreError};
use crate::text::{safe_name, safe_text};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The session columns in the order [`session_of`] takes them; the newest schema's. Only what a pass may publish is
/// handed over: everything with `?1`, else what was written since `?2` (milliseconds) or `?3` (seconds), by whichever
/// unit a stamp is in. Text compares above every number, so it is left to the reader to judge.
const SESSIONS: &str = "SELECT id, parent_id, directory, title, time_updated, time_archived, model FROM session \
    WHERE (time_archived IS NULL OR time_archived IN (0, '')) \
    AND (?1 OR CASE WHEN time_updated > 1e12 THEN time_updated >= ?2 ELSE time_updated >= ?3 END)";
const SESSIONS_WITHOUT_MODEL: &str = "SELECT id, parent_id, directory, title, time_updated, time_archived, NULL \
    FROM session WHERE (time_archived IS NULL OR time_archived IN (0, '')) \
    AND (?1 OR CASE WHEN time_updated > 1e12 THEN time_updated >= ?2 ELSE time_updated >= ?3 END)";
const SESSIONS_WITHOUT_ARCHIVE: &str = "SELECT id, parent_id, directory, title, time_updated, NULL, NULL FROM session \
    WHERE ?1 OR CASE WHEN time_updated > 1e12 THEN time_updated >= ?2 ELSE time_updated >= ?3 END";
/// The same by id, for parents that are older than what the list holds.
const PARENTS: &str = "SELECT id, parent_id, directory, title, time_updated, time_archived, model FROM session \
    WHERE id IN (SELECT value FROM json_each(?1))";
const PARENTS_WITHOUT_MODEL: &str = "SELECT id, parent_id, directory, title, time_updated, time_archived, NULL \
    FROM session WHERE id IN (SELECT value FROM json_each(?1))";
const PARENTS_WITHOUT_ARCHIVE: &str = "SELECT id, parent_id, directory, title, time_updated, NULL, NULL \
    FROM session WHERE id IN (SELECT value FROM json_each(?1))";
/// Cursors of sessions; with OpenCode's own index answered from that alone.
const CURSORS: &str = "SELECT session_id, count(*), max(rowid), total(time_created) FROM message \
    WHERE session_id IN (SELECT value FROM json_each(?1)) GROUP BY session_id";
/// The newest messages of sessions. Which they are is found without touching their data.
const MESSAGES: &str = "SELECT m.session_id, m.rowid, m.id, m.time_created, octet_length(m.data), \
    CASE WHEN octet_length(m.data) <= ?2 THEN m.data END, newest.n \
    FROM (SELECT rowid AS r, row_number() OVER (PARTITION BY session_id ORDER BY time_created DESC, id DESC) AS n \
          FROM message WHERE session_id IN (SELECT value FROM json_each(?1))) AS newest \
    JOIN message AS m ON m.rowid = newest.r WHERE newest.n <= 400";
/// A session's messages behind a row number.
const NEWER: &str = "SELECT session_id, rowid, id, time_created, octet_length(data), \
    CASE WHEN octet_length(data) <= ?3 THEN data END, -rowid FROM message \
    WHERE session_id = ?1 AND rowid > ?2 ORDER BY rowid LIMIT 400";
/// The parts of messages.
const PARTS: &str = "SELECT message_id, rowid, octet_length(data), CASE WHEN octet_length(data) <= ?2 THEN data END \
    FROM part WHERE message_id IN (SELECT value FROM json_each(?1)) ORDER BY message_id, id";

/// Sessions kept of one database when not all are asked for; far more than a day brings (OC-010).
const KEPT: usize = 20_000;
/// Parents looked up by id in one read.
const PARENTS_CAP: usize = 1000;
/// Rounds of looking up parents of parents.
const PARENT_ROUNDS: usize = 8;
/// Parts read of one message.
const PARTS_CAP: usize = 400;
/// Longest message data read whole, bytes; of a longer one its beginning is read, which names the role.
const MESSAGE_WHOLE: usize = 65_536;
/// Longest part read whole, bytes; the beginning of a longer one holds more than a prompt publishes.
const PART_WHOLE: usize = 131_072;
/// Longest id, directory, title or model that is kept, bytes.
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

    /// Whether a session belongs in a reading by itself: it is active, or may yet become so.
    fn wants(&self, session: &Session) -> bool {
        let ahead = time::age(session.updated, self.now).is_none();
        match session.parent {
            None => self.all || ahead || self.active(session.updated),
            Some(_) => ahead || session.is_running(self.now),
        }
    }
}

/// What one database held when it was last read.
pub struct Reading {
    scope: Scope,
    /// By id: rows, children that run, and the parents between them.
    pub sessions: BTreeMap<String, Session>,
    /// Sessions that could not be identified.
    pub skipped: u64,
    /// Some histories were carried over from the reading before.
    carried: bool,
}

impl Reading {
    /// Whether this reading answers what a pass asks. On a sweep one that was built on another does not: a message may
    /// have been changed in place.
    pub fn suffices(&self, scope: Scope, sweep: bool) -> bool {
        let unread =
            |s: &Session| s.parent.is_none() && matches!(s.messages, Messages::Unread) && scope.active(s.updated);
        (self.scope.all || !scope.all)
            && scope.window <= self.scope.window
            && !(sweep && self.carried)
            && !self.sessions.values().any(unread)
    }

    /// Drops what only a list of all sessions needs.
    pub fn forget_old(&mut self, scope: Scope) {
        if !std::mem::take(&mut self.scope.all) {
            return;
        }
        let parents: HashSet<String> = self.sessions.values().filter_map(|s| s.parent.clone()).collect();
        self.sessions.retain(|id, session| scope.wants(session) || parents.contains(id));
    }
}

/// Reads a database; `before` is what was read of it last.
pub fn read(db: &Database, before: Option<&Reading>, scope: Scope) -> Result<Reading, StoreError> {
    let statements = Statements::of(db)?;
    let mut reading = Reading { scope, sessions: BTreeMap::new(), skipped: 0, carried: false };
    list(db, &statements, &mut reading)?;
    parents(db, &statements, &mut reading)?;
    messages(db, before, &mut reading)?;
    Ok(reading)
}

struct Statements {
    sessions: &'static str,
    parents: &'static str,
}

impl Statements {
    /// The statements this schema allows; five columns are required (OC-007, OC-008).
    fn of(db: &Database) -> Result<Statements, StoreError> {
        db.require("session", &["id", "parent_id", "directory", "title", "time_updated"])?;
        let columns = db.columns("session")?;
        let has = |name: &str| columns.iter().any(|c| c == name);
        let (sessions, parents) = match (has("time_archived"), has("model")) {
            (true, true) => (SESSIONS, PARENTS),
            (true, false) => (SESSIONS_WITHOUT_MODEL, PARENTS_WITHOUT_MODEL),
            (false, _) => (SESSIONS_WITHOUT_ARCHIVE, PARENTS_WITHOUT_ARCHIVE),
        };
        Ok(Statements { sessions, parents })
    }
}

/// Lists the sessions a pass may publish.
fn list(db: &Database, statements: &Statements, reading: &mut Reading) -> Result<(), StoreError> {
    let scope = reading.scope;
    let since = scope.now - scope.window;
    db.rows(statements.sessions, sqlite::params![scope.all, since * 1000.0, since], |row| {
        match session_of(row)? {
            None => reading.skipped += 1,
            Some(session) if scope.wants(&session) => {
                reading.sessions.insert(session.id.clone(), session);
            }
            Some(_) => {}
        }
        Ok(scope.all || reading.sessions.len() < KEPT)
    })
}

/// Fetches the parents of children, and theirs, that the list did not hold.
fn parents(db: &Database, statements: &Statements, reading: &mut Reading) -> Result<(), StoreError> {
    for _ in 0..PARENT_ROUNDS {
        let wanted = reading.sessions.values().filter_map(|s| s.parent.as_deref());
        let missing: Vec<&str> = wanted.filter(|p| !reading.sessions.contains_key(*p)).take(PARENTS_CAP).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let asked = ids(missing);
        let known = reading.sessions.len();
        db.rows(statements.parents, sqlite::params![asked], |row| {
            if let Some(session) = session_of(row)? {
                reading.sessions.insert(session.id.clone(), session);
            }
            Ok(true)
        })?;
        if reading.sessions.len() == known {
            return Ok(());
        }
    }
    Ok(())
}

fn session_of(row: &Row<'_>) -> Result<Option<Session>, RowError> {
    let text = |i: usize| Ok::<_, RowError>(sqlite::text(row.get_ref(i)?, TEXT_CAP));
    let Some(id) = text(0)?.filter(|id| !id.is_empty()) else { return Ok(None) };
    let parent = text(1)?.filter(|p| !p.is_empty());
    let title = text(3)?.unwrap_or_default();
    let cap = if parent.is_some() { SUBAGENT_NAME_CAP_CHARS } else { TITLE_CAP_CHARS };
    Ok(Some(Session {
        id,
        parent,
        directory: text(2)?.unwrap_or_default(),
        title: safe_name(title.trim(), cap),
        updated: sqlite::epoch(row.get_ref(4)?),
        archived: sqlite::truthy(row.get_ref(5)?),
        model: text(6)?.as_deref().and_then(model_of),
        messages: Messages::Unread,
        prompt: String::new(),
    }))
}

/// Reads the messages of every active row and the parts of each one's newest prompt.
fn messages(db: &Database, before: Option<&Reading>, reading: &mut Reading) -> Result<(), StoreError> {
    let active: Vec<String> = rows_that_count(reading);
    let read = histories(db, before, &active);
    if let Err(error @ (StoreError::Locked | StoreError::Changed)) = read {
        return Err(error);
    }
    let mut histories = read.unwrap_or_default();
    let prompts: Vec<&str> = histories.values().filter_map(|(h, _)| h.prompt()).collect();
    let texts = match prompt_texts(db, &prompts) {
        Err(error @ (StoreError::Locked | StoreError::Changed)) => return Err(error),
        other => other.ok(),
    };
    for id in active {
        let Some(session) = reading.sessions.get_mut(&id) else { continue };
        session.messages = match histories.remove(&id) {
            None => Messages::Failed,
            Some((history, carried)) => {
                reading.carried |= carried;
                let prompt = texts.as_ref().map(|t| history.prompt().and_then(|p| t.get(p)));
                if let Some(Some(text)) = prompt {
                    text.clone_into(&mut session.prompt);
                }
                Messages::Read { history, parts: prompt.is_some() }
            }
        };
    }
    Ok(())
}

/// The rows whose messages are published: active by themselves or through a child that runs.
fn rows_that_count(reading: &Reading) -> Vec<String> {
    let now = reading.scope.now;
    let parents = reading.sessions.values().filter(|s| s.parent.is_some() && s.is_running(now));
    let through: Vec<&str> = parents.filter_map(|s| super::session::row_of(&reading.sessions, &s.id)).collect();
    let counts = |s: &&Session| {
        s.parent.is_none() && !s.archived && (reading.scope.active(s.updated) || through.contains(&s.id.as_str()))
    };
    reading.sessions.values().filter(counts).map(|s| s.id.clone()).collect()
}

/// Histories by session, and whether each was carried over from the reading before.
type Histories = HashMap<String, (Arc<History>, bool)>;

fn histories(db: &Database, before: Option<&Reading>, active: &[String]) -> Result<Histories, StoreError> {
    db.require("message", &["id", "session_id", "time_created", "data"])?;
    let mut cursors: HashMap<String, Cursor> = active.iter().map(|id| (id.clone(), Cursor::default())).collect();
    db.rows(CURSORS, sqlite::params![ids(active.iter().map(String::as_str))], |row| {
        if let Some(id) = sqlite::borrowed(row.get_ref(0)?, TEXT_CAP)
            && let Some(cursor) = cursors.get_mut(&*id)
        {
            *cursor = Cursor { count: row.get(1)?, last: row.get(2)?, sum: row.get(3)? };
        }
        Ok(true)
    })?;
    let mut found = Histories::new();
    let mut anew: Vec<&str> = Vec::new();
    for (id, cursor) in &cursors {
        let known = before.and_then(|b| b.sessions.get(id)).and_then(|s| s.messages.history());
        match known.map_or(Ok(None), |known| continued(db, id, known, *cursor))? {
            Some(history) => {
                found.insert(id.clone(), (history, true));
            }
            None => anew.push(id),
        }
    }
    let mut read: HashMap<String, Vec<(i64, Message)>> = HashMap::new();
    if !anew.is_empty() {
        let params = sqlite::params![ids(anew.iter().copied()), MESSAGE_WHOLE as i64];
        db.rows(MESSAGES, params, |row| message_of(db, row, &mut read))?;
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
    db.rows(NEWER, sqlite::params![id, known.cursor.last, MESSAGE_WHOLE as i64], |row| {
        sum += sqlite::number(row.get_ref(3)?).unwrap_or(0.0);
        message_of(db, row, &mut read)
    })?;
    let messages = in_order(read.remove(id).unwrap_or_default());
    Ok(known.extended(cursor, sum, messages).map(Arc::new))
}

/// Oldest first: larger numbers are older.
fn in_order(mut numbered: Vec<(i64, Message)>) -> Vec<Message> {
    numbered.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
    numbered.into_iter().map(|(_, message)| message).collect()
}

fn message_of(db: &Database, row: &Row<'_>, into: &mut HashMap<String, Vec<(i64, Message)>>) -> Result<bool, RowError> {
    let Some(session) = sqlite::text(row.get_ref(0)?, TEXT_CAP) else { return Ok(true) };
    let at = sqlite::epoch(row.get_ref(3)?);
    let id = sqlite::text(row.get_ref(2)?, TEXT_CAP);
    let cell = cell(db, ("message", "data"), row.get(1)?, row.get_ref(4)?, row.get_ref(5)?, MESSAGE_WHOLE);
    let (role, note) = data::message(cell, id);
    into.entry(session).or_default().push((row.get(6)?, Message { at, role, note }));
    Ok(true)
}

/// What was typed in each of these messages, as published.
fn prompt_texts(db: &Database, messages: &[&str]) -> Result<HashMap<String, String>, StoreError> {
    db.require("part", &["id", "message_id", "data"])?;
    let mut texts: HashMap<String, (usize, String)> = HashMap::new();
    if messages.is_empty() {
        return Ok(HashMap::new());
    }
    db.rows(PARTS, sqlite::params![ids(messages.iter().copied()), PART_WHOLE as i64], |row| {
        let Some(message) = sqlite::text(row.get_ref(0)?, TEXT_CAP) else { return Ok(true) };
        let (parts, text) = texts.entry(message).or_default();
        *parts += 1;
        if *parts <= PARTS_CAP
            && let Some(cell) = cell(db, ("part", "data"), row.get(1)?, row.get_ref(2)?, row.get_ref(3)?, PART_WHOLE)
        {
            data::typed(&cell, text);
        }
        Ok(true)
    })?;
    let cap = crate::config::LAST_PROMPT_CAP_CHARS;
    Ok(texts.into_iter().map(|(id, (_, text))| (id, safe_text(text.trim(), cap).trim().to_owned())).collect())
}
