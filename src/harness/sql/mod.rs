//! What the readers of SQLite stores have in common: a reading kept from pass to pass, the history of a session's
//! messages, cells that hold JSON, and the row that recency makes of it all.
//!
//! A pass in which nothing moved opens nothing. When a store moved, one handle is opened for one snapshot: the sessions
//! are listed, the messages that are new are read, and the handle is gone again before a row is built.

pub mod cells;
pub mod history;
pub mod json;
pub mod kept;
pub mod lineage;
pub mod rows;
pub mod sessions;
#[cfg(test)]
pub mod support;
pub mod walk;
#[cfg(test)]
pub mod writer;

use super::{Collected, Pass};
use crate::model::{Code, Degrade};
use crate::surface::sqlite::{Database, Moved, StoreError};
use crate::text::safe::diagnostic;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

/// Whether the kernel named a database, or its log, as changed since the last pass.
pub fn named(pass: &Pass<'_>, dir: &Path, name: &OsStr) -> bool {
    let ours = |changed: &OsStr| {
        let rest = changed.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        matches!(rest, Some(b"" | b"-wal"))
    };
    // A directory without names changed in some way that was not told.
    let told = pass.dirty.dirs.get(dir).is_some_and(|names| names.is_empty() || names.iter().any(|n| ours(n)));
    pass.dirty.everything || told
}

/// Tries at a database that is changed under a reader which cannot follow changes.
const TRIES: usize = 4;

/// Opens a database, waiting at most `patience` for a lock, and reads it in one snapshot; its stamps are those before
/// the read. A store that its owner just begins to write is met as unchanging and moves: it is opened anew at once,
/// so that nothing is said to be missing that is there.
pub fn snapshot<T>(
    path: &Path,
    patience: Duration,
    mut read: impl FnMut(&Database) -> Result<T, StoreError>,
) -> Result<(T, Moved), StoreError> {
    let mut once = || {
        let db = Database::open_within(path, patience)?;
        Ok((db.snapshot(&mut read)?, db.moved()))
    };
    for _ in 1..TRIES {
        match once() {
            Err(StoreError::Changed) => {}
            done => return done,
        }
    }
    once()
}

/// Ids as the one bound parameter of a statement that takes many (`json_each`).
pub fn ids<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let ids: Vec<&str> = ids.into_iter().collect();
    serde_json::to_string(&ids).unwrap_or_else(|_| "[]".into())
}

/// What could not be read in one pass: each failure by its path for diagnostics, each kind once per source for people.
pub struct Trouble<'a> {
    source: &'a str,
    out: Collected,
}

impl<'a> Trouble<'a> {
    /// Nothing yet, of a source by the name people see.
    pub fn new(source: &'a str) -> Trouble<'a> {
        Trouble { source, out: Collected::default() }
    }

    /// Notes that `path` failed, and why (`<Type>: <message>`).
    pub fn met(&mut self, path: &Path, code: Code, why: &str) {
        self.out.store_errors.push((path.display().to_string(), diagnostic(why)));
        self.degrade(code, None);
    }

    /// Notes that `count` records of `path` were passed over, and why.
    pub fn counted(&mut self, path: &Path, count: u64, why: &str) {
        self.out.store_errors.push((path.display().to_string(), diagnostic(why)));
        self.degrade(Code::RecordSkipped, Some(count));
    }

    /// Notes a degrade alone.
    pub fn degrade(&mut self, code: Code, count: Option<u64>) {
        let degrade = Degrade { code, source: self.source.into(), count };
        if !self.out.degrades.contains(&degrade) {
            self.out.degrades.push(degrade);
        }
    }

    /// Adds all of it to what a pass collected.
    pub fn into(self, out: &mut Collected) {
        out.store_errors.extend(self.out.store_errors);
        out.degrades.extend(self.out.degrades);
    }
}
