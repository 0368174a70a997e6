//! The newest messages of sessions, read once and then followed.
//!
//! A cursor tells which messages of a session have been read, so that a store that grew costs its new messages only; a
//! session whose cursor does not fit what is known is read anew. The statements are the harness's own.

use super::history::{Cursor, History, Message};
use super::ids;
use crate::surface::sqlite::{self, Database, Row, RowError, StoreError};
use std::collections::HashMap;
use std::sync::Arc;

/// Longest session id that is followed, bytes.
const ID_CAP: usize = 4096;
/// Most new messages that are added to a history; one that grew by more is read anew.
const NEWER_MOST: i64 = 400;

/// How one store's messages are read. Rows of `newest` and `newer` begin with session and number and end, in their
/// seventh column, with a rank that is larger for older messages.
pub struct Walk {
    /// The table, and the columns that the statements name.
    pub table: (&'static str, &'static [&'static str]),
    /// Session, count, largest number and sum, of the sessions in the JSON list `?1`.
    pub cursors: &'static str,
    /// The newest messages of the sessions in the JSON list `?1`, contents of at most `?2` bytes whole.
    pub newest: &'static str,
    /// The messages of session `?1` behind number `?2`, contents of at most `?3` bytes whole.
    pub newer: &'static str,
    /// Longest content read whole, bytes.
    pub whole: i64,
}

/// A message and what it adds to its session's cursor.
pub type Take = fn(&Database, &Row<'_>) -> Result<(f64, Message), RowError>;

/// Histories by session, and whether each was carried over from an earlier reading.
pub type Histories = HashMap<String, (Arc<History>, bool)>;

/// Messages with their ranks.
type Ranked = Vec<(i64, Message)>;

impl Walk {
    /// The histories of the sessions `active`; `known` gives what was read of one before.
    pub fn histories<'k>(
        &self,
        db: &Database,
        active: &[String],
        known: impl Fn(&str) -> Option<&'k Arc<History>>,
        take: Take,
    ) -> Result<Histories, StoreError> {
        db.require(self.table.0, self.table.1)?;
        let cursors = self.cursors_of(db, active)?;
        let (mut found, mut anew) = (Histories::new(), Vec::new());
        for (id, cursor) in &cursors {
            match known(id).map_or(Ok(None), |known| self.continued(db, id, known, *cursor, take))? {
                Some(history) => drop(found.insert(id.clone(), (history, true))),
                None => anew.push(id.as_str()),
            }
        }
        let mut read = self.newest_of(db, &anew, take)?;
        for id in anew {
            let cursor = cursors.get(id).copied().unwrap_or_default();
            let messages = in_order(read.remove(id).unwrap_or_default());
            found.insert(id.to_owned(), (Arc::new(History::new(cursor, messages)), false));
        }
        Ok(found)
    }

    fn cursors_of(&self, db: &Database, active: &[String]) -> Result<HashMap<String, Cursor>, StoreError> {
        let mut cursors: HashMap<String, Cursor> = active.iter().map(|id| (id.clone(), Cursor::default())).collect();
        db.rows(self.cursors, sqlite::params![ids(active.iter().map(String::as_str))], |row| {
            if let Some(id) = sqlite::borrowed(row.get_ref(0)?, ID_CAP)
                && let Some(cursor) = cursors.get_mut(&*id)
            {
                *cursor = Cursor { count: row.get(1)?, last: row.get(2)?, sum: row.get(3)? };
            }
            Ok(true)
        })?;
        Ok(cursors)
    }

    fn newest_of(&self, db: &Database, sessions: &[&str], take: Take) -> Result<HashMap<String, Ranked>, StoreError> {
        let mut read: HashMap<String, Ranked> = HashMap::new();
        if sessions.is_empty() {
            return Ok(read);
        }
        db.rows(self.newest, sqlite::params![ids(sessions.iter().copied()), self.whole], |row| {
            if let Some(session) = sqlite::text(row.get_ref(0)?, ID_CAP) {
                let (_, message) = take(db, row)?;
                read.entry(session).or_default().push((row.get(6)?, message));
            }
            Ok(true)
        })?;
        Ok(read)
    }

    /// A known history brought up to its new cursor, when reading what is new suffices.
    fn continued(
        &self,
        db: &Database,
        id: &str,
        known: &Arc<History>,
        cursor: Cursor,
        take: Take,
    ) -> Result<Option<Arc<History>>, StoreError> {
        if known.cursor == cursor {
            return Ok(Some(Arc::clone(known)));
        }
        let new = cursor.count - known.cursor.count;
        if cursor.last <= known.cursor.last || !(1..=NEWER_MOST).contains(&new) {
            return Ok(None);
        }
        let (mut read, mut sum) = (Ranked::new(), 0.0);
        db.rows(self.newer, sqlite::params![id, known.cursor.last, self.whole], |row| {
            let (adds, message) = take(db, row)?;
            sum += adds;
            read.push((row.get(6)?, message));
            Ok(true)
        })?;
        Ok(known.extended(cursor, sum, in_order(read)).map(Arc::new))
    }
}

/// Oldest first.
fn in_order(mut ranked: Ranked) -> Vec<Message> {
    ranked.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
    ranked.into_iter().map(|(_, message)| message).collect()
}
