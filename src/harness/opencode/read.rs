//! Every statement the reader of OpenCode runs, and what comes of them. All are fixed `SELECT`s over three tables; ids
//! come in as one bound JSON list. The tables that hold accounts, credentials and shares are named nowhere (OC-004),
//! and neither is the table of messages that no build fills (OC-009).
//!
//! Schema: OpenCode 1.18 and earlier (spec 26, section 2). Which columns there are decides, not a version.

use super::data;
use super::session::{Messages, Session, model_of};
use crate::config::{SUBAGENT_NAME_CAP_CHARS, TITLE_CAP_CHARS};
use crate::harness::sql::history::Message;
use crate::harness::sql::sessions::{self, Scope};
use crate::harness::sql::walk::Walk;
use crate::harness::sql::{cells::cell, ids};
use crate::surface::sqlite::{self, Database, Row, RowError, StoreError};
use crate::text::{safe_name, safe_text};
use std::collections::HashMap;

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
/// How messages are read. With OpenCode's own index the cursors are answered from that alone, and which messages are
/// the newest is found without touching their data.
const WALK: Walk = Walk {
    table: ("message", &["id", "session_id", "time_created", "data"]),
    cursors: "SELECT session_id, count(*), max(rowid), total(time_created) FROM message \
        WHERE session_id IN (SELECT value FROM json_each(?1)) GROUP BY session_id",
    newest: "SELECT m.session_id, m.rowid, m.id, m.time_created, octet_length(m.data), \
        CASE WHEN octet_length(m.data) <= ?2 THEN m.data END, newest.n \
        FROM (SELECT rowid AS r, row_number() OVER (PARTITION BY session_id ORDER BY time_created DESC, id DESC) AS n \
              FROM message WHERE session_id IN (SELECT value FROM json_each(?1))) AS newest \
        JOIN message AS m ON m.rowid = newest.r WHERE newest.n <= 400",
    newer: "SELECT session_id, rowid, id, time_created, octet_length(data), \
        CASE WHEN octet_length(data) <= ?3 THEN data END, -rowid FROM message \
        WHERE session_id = ?1 AND rowid > ?2 ORDER BY rowid LIMIT 400",
    whole: MESSAGE_WHOLE as i64,
};
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
/// Longest id, directory or title that is kept, bytes.
const TEXT_CAP: usize = 4096;
/// Longest model column that is read, bytes; of a longer one no model is taken.
const MODEL_TEXT_CAP: usize = 65_536;

/// What one database held when it was last read.
pub type Reading = sessions::Reading<Session>;

/// Reads a database; `before` is what was read of it last.
pub fn read(db: &Database, before: Option<&Reading>, scope: Scope) -> Result<Reading, StoreError> {
    let statements = Statements::of(db)?;
    let mut reading = Reading::new(scope);
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
            Some((id, session)) if scope.wants(&session) => drop(reading.sessions.insert(id, session)),
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
            if let Some((id, session)) = session_of(row)? {
                reading.sessions.insert(id, session);
            }
            Ok(true)
        })?;
        if reading.sessions.len() == known {
            return Ok(());
        }
    }
    Ok(())
}

fn session_of(row: &Row<'_>) -> Result<Option<(String, Session)>, RowError> {
    let text = |i: usize| Ok::<_, RowError>(sqlite::text(row.get_ref(i)?, TEXT_CAP));
    let Some(id) = text(0)?.filter(|id| !id.is_empty()) else { return Ok(None) };
    let parent = text(1)?.filter(|p| !p.is_empty());
    let title = text(3)?.unwrap_or_default();
    let cap = if parent.is_some() { SUBAGENT_NAME_CAP_CHARS } else { TITLE_CAP_CHARS };
    // A model that is cut is none: half of an object would pass for a name.
    let model = sqlite::text(row.get_ref(6)?, MODEL_TEXT_CAP + 1).filter(|model| model.len() <= MODEL_TEXT_CAP);
    let session = Session {
        parent,
        directory: text(2)?.unwrap_or_default(),
        title: safe_name(title.trim(), cap),
        updated: sqlite::epoch(row.get_ref(4)?),
        archived: sqlite::truthy(row.get_ref(5)?),
        model: model.as_deref().and_then(model_of),
        messages: Messages::Unread,
        prompt: String::new(),
    };
    Ok(Some((id, session)))
}

/// Reads the messages of every active row and the parts of each one's newest prompt.
fn messages(db: &Database, before: Option<&Reading>, reading: &mut Reading) -> Result<(), StoreError> {
    let active = reading.rows_that_count();
    let known = |id: &str| before?.sessions.get(id)?.messages.history();
    let mut histories = reading.part(|| WALK.histories(db, &active, known, message_of))?.unwrap_or_default();
    let prompts: Vec<&str> = histories.values().filter_map(|(history, _)| history.prompt()).collect();
    let texts = reading.part(|| prompt_texts(db, &prompts))?;
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

/// Takes one message; what tells it apart from others in a cursor is its time.
fn message_of(db: &Database, row: &Row<'_>) -> Result<(f64, Message), RowError> {
    let time = row.get_ref(3)?;
    let id = sqlite::text(row.get_ref(2)?, TEXT_CAP);
    let cell = cell(db, ("message", "data"), row.get(1)?, row.get_ref(4)?, row.get_ref(5)?, MESSAGE_WHOLE);
    let (role, note) = data::message(cell, id);
    Ok((sqlite::number(time).unwrap_or(0.0), Message { at: sqlite::epoch(time), role, note }))
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
