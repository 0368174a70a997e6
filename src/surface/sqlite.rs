//! Read-only reads of SQLite databases that other programs own and write while they are read.
//!
//! What the owner committed is seen, the owner never waits for us, and its files are the same afterwards (how:
//! [`open`]). Nothing is ever opened read-write, so nothing can be checkpointed (FIELD-051). A [`Database`] is meant to
//! live for one read: a handle kept open holds SQLite's shared lock, and then the owner cannot fold its log away when
//! it ends. Whether a read is due at all is told by [`stamps`], without opening anything.

mod cell;
mod error;
mod open;
#[cfg(test)]
mod tests;

use super::read::{self, Kind};
use open::{Guard, Mode};
use rusqlite::Connection;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub use cell::{borrowed, bytes, epoch, number, plain_number, text, truthy};
pub use error::StoreError;
pub use rusqlite::types::ValueRef;
pub use rusqlite::{Error as RowError, Row, Statement, params};

/// How long a lock of the owner is waited for.
pub const PATIENCE: Duration = Duration::from_millis(200);
/// Longest a statement, or all of one snapshot, may take.
const BUDGET: Duration = Duration::from_secs(2);
/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 10_000;

/// Version of the SQLite that is linked in.
pub fn version() -> &'static str {
    rusqlite::version()
}

/// Stamps of a database file and its write-ahead log: equal stamps mean equal content, but for what was written in the
/// same clock tick; where the kernel reports changes, its word comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    pub file: Option<read::Stamp>,
    pub wal: Option<read::Stamp>,
}

impl Moved {
    /// Newest modification of either, seconds since the epoch; a log that holds nothing tells nothing. 0 without a file.
    pub fn newest(&self, now: f64) -> f64 {
        let wal = self.wal.filter(|wal| wal.len > 0);
        let times = [self.file, wal].into_iter().flatten().map(|s| s.mtime());
        crate::model::time::newest_plausible(times, now)
    }

    fn identity(&self) -> Option<(u64, u64)> {
        self.file.map(|s| (s.dev, s.ino))
    }
}

/// The stamps of a database as it stands, at the cost of two looks.
pub fn stamps(path: &Path) -> Moved {
    let stamp = |p: &Path| read::look(p).ok().filter(|e| e.kind == Kind::File).map(|e| e.stamp);
    Moved { file: stamp(path), wal: stamp(&beside(path, "-wal")) }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// An open database.
pub struct Database {
    // Closed before the guard lets go of the note that it is open.
    connection: Connection,
    _guard: Guard,
    path: PathBuf,
    moved: Moved,
    mode: Mode,
    clock: Deadline,
    /// Inside a snapshot, which has one deadline for all its statements.
    snapshot: Cell<bool>,
}

impl Database {
    /// Opens a database read-only. The caller asserts tables and columns before it reads ([`Database::require`]).
    pub fn open(path: &Path) -> Result<Database, StoreError> {
        Database::open_within(path, PATIENCE)
    }

    /// As [`Database::open`], waiting at most `patience` for a lock; for readers of many stores, which must not wait for
    /// each.
    pub fn open_within(path: &Path, patience: Duration) -> Result<Database, StoreError> {
        let mut opened = open::open(path, patience)?;
        let clock = Deadline::start();
        clock.watch(&mut opened.connection)?;
        Ok(Database {
            connection: opened.connection,
            _guard: opened.guard,
            path: path.to_path_buf(),
            moved: opened.moved,
            mode: opened.mode,
            clock,
            snapshot: Cell::new(false),
        })
    }

    /// The stamps as they were before the first read.
    pub fn moved(&self) -> Moved {
        self.moved
    }

    /// Whether this handle still shows what lies on disk: the same file, and none that was opened as unchanging and
    /// moved since. When not, drop it and open anew.
    pub fn is_current(&self) -> bool {
        let now = stamps(&self.path);
        now.identity() == self.moved.identity() && !(self.mode == Mode::Unchanging && now != self.moved)
    }

    /// Asserts that `table` has every one of `columns`; names the first that is missing.
    pub fn require(&self, table: &str, columns: &[&str]) -> Result<(), StoreError> {
        let have = self.columns(table)?;
        if have.is_empty() {
            return Err(StoreError::Schema(format!("no such table: {table}")));
        }
        match columns.iter().find(|c| !have.iter().any(|h| h == *c)) {
            Some(missing) => Err(StoreError::Schema(format!("no such column: {table}.{missing}"))),
            None => Ok(()),
        }
    }

    /// The columns of a table, lower-cased as SQLite compares them; empty when there is no such table. A view is none.
    pub fn columns(&self, table: &str) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        let sql = "SELECT lower(c.name) FROM sqlite_schema AS s, pragma_table_info(s.name) AS c \
                   WHERE s.type = 'table' AND s.name = ?1 COLLATE NOCASE";
        self.rows(sql, &[&table], |row| {
            names.push(row.get(0)?);
            Ok(true)
        })?;
        Ok(names)
    }

    /// Runs one query and hands every row to `each` until it answers false.
    pub fn rows(
        &self,
        sql: &str,
        params: &[&dyn rusqlite::ToSql],
        mut each: impl FnMut(&Row<'_>) -> Result<bool, rusqlite::Error>,
    ) -> Result<(), StoreError> {
        if !self.snapshot.get() {
            self.clock.restart();
        }
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next()? {
            if !each(row)? {
                break;
            }
        }
        Ok(())
    }

    /// Reads inside one transaction, so that several queries see one state of the database.
    pub fn snapshot<T>(&self, read: impl FnOnce(&Database) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.clock.restart();
        let transaction = self.connection.unchecked_transaction()?;
        let result = open::first_read(&self.connection).and_then(|()| {
            self.snapshot.set(true);
            let result = read(self);
            self.snapshot.set(false);
            result
        });
        drop(transaction);
        // Without locks the only proof of one state is that nothing moved meanwhile.
        if self.mode == Mode::Unchanging && stamps(&self.path) != self.moved {
            return Err(StoreError::Changed);
        }
        result
    }

    /// The first `most` bytes of one cell of text or bytes, without building the rest of it in memory.
    pub fn cell_head(&self, table: &str, column: &str, rowid: i64, most: usize) -> Result<Vec<u8>, StoreError> {
        self.cell_part(table, column, rowid, |len| (0, len.min(most)))
    }

    /// The last `most` bytes of one cell, without building the rest of it in memory.
    pub fn cell_tail(&self, table: &str, column: &str, rowid: i64, most: usize) -> Result<Vec<u8>, StoreError> {
        self.cell_part(table, column, rowid, |len| (len - len.min(most), len.min(most)))
    }

    fn cell_part(
        &self,
        table: &str,
        column: &str,
        rowid: i64,
        part: impl FnOnce(usize) -> (usize, usize),
    ) -> Result<Vec<u8>, StoreError> {
        let blob = self.connection.blob_open(rusqlite::MAIN_DB, table, column, rowid, true)?;
        let (from, len) = part(blob.len());
        let mut bytes = vec![0; len];
        let read = blob.read_at(&mut bytes, from)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Where the database lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// When SQLite stops what it is doing, so that no store can hold the collection (a table of any size, a schema built to
/// be slow).
struct Deadline {
    start: Instant,
    /// Milliseconds after `start`.
    at: Arc<AtomicU64>,
}

impl Deadline {
    fn start() -> Deadline {
        Deadline { start: Instant::now(), at: Arc::new(AtomicU64::new(BUDGET.as_millis() as u64)) }
    }

    fn restart(&self) {
        self.at.store((self.start.elapsed() + BUDGET).as_millis() as u64, Ordering::Relaxed);
    }

    fn watch(&self, connection: &mut Connection) -> Result<(), StoreError> {
        let (start, at) = (self.start, Arc::clone(&self.at));
        let over = move || start.elapsed().as_millis() as u64 > at.load(Ordering::Relaxed);
        Ok(connection.progress_handler(STEPS, Some(over))?)
    }
}
