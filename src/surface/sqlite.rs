//! Read-only SQLite opens of databases that other programs own.
//!
//! A live WAL database is opened read-only through its own `-shm`, so that what the owner committed is seen and the
//! owner is never blocked. `immutable` is used only for a WAL-mode file beside which no `-wal` lies (nobody has it
//! open): a plain open would have to make sidecars in a folder that is not ours (FIELD-050). Nothing is ever opened
//! read-write, so nothing can be checkpointed (FIELD-051).

use super::read::{self, Kind};
use rusqlite::{Connection, OpenFlags};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use rusqlite::types::ValueRef;
pub use rusqlite::{Row, Statement, params};

/// Why a database could not be read; the message says what was met (DECK-020 codes through [`StoreError::code`]).
#[derive(Debug)]
pub enum StoreError {
    Missing,
    Unreadable(String),
    Locked,
    Corrupt(String),
    Encrypted,
    /// A table or column that the reader needs is not there.
    Schema(String),
}

impl StoreError {
    /// The degrade that names this failure.
    pub fn code(&self) -> crate::model::Code {
        use crate::model::Code;
        match self {
            StoreError::Missing => Code::StoreMissing,
            StoreError::Unreadable(_) => Code::StoreUnreadable,
            StoreError::Locked => Code::StoreLocked,
            StoreError::Corrupt(_) => Code::StoreCorrupt,
            StoreError::Encrypted => Code::StoreEncrypted,
            StoreError::Schema(_) => Code::SchemaUnknown,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Missing => out.write_str("OperationalError: the database file is missing"),
            StoreError::Unreadable(why) => write!(out, "OperationalError: {why}"),
            StoreError::Locked => out.write_str("OperationalError: database is locked"),
            StoreError::Corrupt(why) => write!(out, "DatabaseError: {why}"),
            StoreError::Encrypted => out.write_str("DatabaseError: file is not a database (encrypted or foreign)"),
            StoreError::Schema(what) => write!(out, "SchemaUnsupported: {what}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as E;
        match error.sqlite_error_code() {
            Some(E::DatabaseBusy | E::DatabaseLocked) => StoreError::Locked,
            Some(E::DatabaseCorrupt) => StoreError::Corrupt(error.to_string()),
            Some(E::NotADatabase) => StoreError::Encrypted,
            _ => match &error {
                rusqlite::Error::SqliteFailure(_, Some(text)) if text.starts_with("no such") => {
                    StoreError::Schema(text.clone())
                }
                _ => StoreError::Unreadable(error.to_string()),
            },
        }
    }
}

/// Version of the SQLite that is linked in.
pub fn version() -> &'static str {
    rusqlite::version()
}

/// An open database and the stamps that tell whether it moved.
pub struct Database {
    connection: Connection,
    path: PathBuf,
    moved: Moved,
    immutable: bool,
}

/// Stamps of a database file and its write-ahead log: equal stamps mean equal content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    pub file: Option<read::Stamp>,
    pub wal: Option<read::Stamp>,
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

impl Database {
    /// Opens a database read-only. The caller asserts tables and columns before it reads ([`Database::require`]).
    pub fn open(path: &Path) -> Result<Database, StoreError> {
        match read::look(path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err(StoreError::Missing),
            Err(e) => return Err(StoreError::Unreadable(e.to_string())),
            Ok(entry) if entry.kind != Kind::File => return Err(StoreError::Unreadable("not a regular file".into())),
            Ok(_) => {}
        }
        let moved = stamps(path);
        let immutable = moved.wal.is_none() && wal_mode(path);
        let connection = connect(path, immutable)?;
        Ok(Database { connection, path: path.to_path_buf(), moved, immutable })
    }

    /// Whether this handle still shows what lies on disk: the same file, and none that was opened as unchanging and
    /// moved since. When not, drop it and open anew.
    pub fn is_current(&self) -> bool {
        let now = stamps(&self.path);
        let identity = |m: Moved| m.file.map(|s| (s.dev, s.ino));
        identity(now) == identity(self.moved) && !(self.immutable && now != self.moved)
    }

    /// Asserts that `table` has every one of `columns`; names the first that is missing.
    pub fn require(&self, table: &str, columns: &[&str]) -> Result<(), StoreError> {
        let have = self.columns(table)?;
        if have.is_empty() {
            return Err(StoreError::Schema(format!("no table {table}")));
        }
        match columns.iter().find(|c| !have.iter().any(|h| h == *c)) {
            Some(missing) => Err(StoreError::Schema(format!("no column {table}.{missing}"))),
            None => Ok(()),
        }
    }

    /// The columns of a table; empty when there is no such table.
    pub fn columns(&self, table: &str) -> Result<Vec<String>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map([table], |row| row.get::<_, String>(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// Runs one query and hands every row to `each` until it answers false.
    pub fn rows(
        &self,
        sql: &str,
        params: &[&dyn rusqlite::ToSql],
        mut each: impl FnMut(&Row<'_>) -> Result<bool, rusqlite::Error>,
    ) -> Result<(), StoreError> {
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
        let transaction = self.connection.unchecked_transaction()?;
        let result = read(self);
        drop(transaction);
        result
    }

    /// Where the database lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether the header names write-ahead logging: read version 2 at byte 19 (SQLite file format, section 1.3).
fn wal_mode(path: &Path) -> bool {
    read::prefix(path, 20).is_ok_and(|(head, _)| head.get(19) == Some(&2))
}

fn connect(path: &Path, immutable: bool) -> Result<Connection, StoreError> {
    let uri = format!("file:{}?mode=ro{}", encode(path)?, if immutable { "&immutable=1" } else { "" });
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.busy_timeout(Duration::from_millis(50))?;
    connection
        .execute_batch("PRAGMA query_only=1; PRAGMA cache_size=-256; PRAGMA mmap_size=0; PRAGMA trusted_schema=0;")?;
    // The header is read by the first query only; ask now, so that a foreign file is refused here.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// A path as a URI: everything but unreserved characters and `/` percent-encoded.
fn encode(path: &Path) -> Result<String, StoreError> {
    let text = path.to_str().ok_or_else(|| StoreError::Unreadable("path is not Unicode".into()))?;
    let text = if cfg!(windows) { format!("/{}", text.replace('\\', "/")) } else { text.to_string() };
    let mut out = String::with_capacity(text.len());
    for b in text.bytes() {
        if b.is_ascii_alphanumeric() || matches!(b, b'/' | b'-' | b'_' | b'.' | b'~') {
            out.push(b as char);
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    Ok(out)
}

/// A cell as text: text as is, blobs and text with invalid UTF-8 replaced, at most `cap` bytes; `None` for null and numbers.
pub fn text(value: ValueRef<'_>, cap: usize) -> Option<String> {
    let (ValueRef::Text(bytes) | ValueRef::Blob(bytes)) = value else { return None };
    Some(String::from_utf8_lossy(bytes.get(..cap.min(bytes.len())).unwrap_or_default()).into_owned())
}

/// A cell as a number: integers and reals as they are, numeric text parsed; else `None`.
pub fn number(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Integer(n) => Some(n as f64),
        ValueRef::Real(n) => Some(n).filter(|n| n.is_finite()),
        ValueRef::Text(b) => std::str::from_utf8(b).ok()?.trim().parse().ok().filter(|n: &f64| n.is_finite()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn scratch(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("cargento-sqlite-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    fn listing(dir: &Path) -> BTreeSet<String> {
        std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn count(db: &Database) -> i64 {
        let mut n = 0;
        db.rows("SELECT count(*) FROM t", &[], |row| {
            n = row.get(0)?;
            Ok(true)
        })
        .unwrap();
        n
    }

    #[test]
    fn field_050_a_wal_database_without_sidecars_is_read_and_the_folder_stays_as_it_was() {
        let dir = scratch("bare");
        let path = dir.join("a.db");
        let owner = Connection::open(&path).unwrap();
        owner.execute_batch("PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES(1)").unwrap();
        drop(owner);
        let (before, bytes) = (listing(&dir), std::fs::read(&path).unwrap());
        let db = Database::open(&path).unwrap();
        assert_eq!(count(&db), 1);
        assert_eq!(listing(&dir), before);
        let owner = Connection::open(&path).unwrap();
        owner.execute_batch("INSERT INTO t VALUES(2)").unwrap();
        assert!(!db.is_current(), "a handle opened as unchanging must be given up once the owner writes");
        let again = Database::open(&path).unwrap();
        assert_eq!(count(&again), 2);
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "never checkpointed");
        drop((db, again, owner));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_live_writer_is_seen_and_structure_is_asserted() {
        let dir = scratch("live");
        let path = dir.join("with space %.db");
        let owner = Connection::open(&path).unwrap();
        owner.execute_batch("PRAGMA journal_mode=WAL; CREATE TABLE t(x, y)").unwrap();
        let db = Database::open(&path).unwrap();
        owner.execute_batch("INSERT INTO t VALUES(1, 2)").unwrap();
        assert_eq!(count(&db), 1);
        assert!(db.is_current());
        assert!(db.require("t", &["x", "y"]).is_ok());
        assert!(matches!(db.require("t", &["z"]), Err(StoreError::Schema(_))));
        assert!(matches!(db.require("u", &["z"]), Err(StoreError::Schema(_))));
        std::fs::write(dir.join("b.db"), vec![7u8; 4096]).unwrap();
        assert!(matches!(Database::open(&dir.join("b.db")), Err(StoreError::Encrypted)));
        assert!(matches!(Database::open(&dir.join("c.db")), Err(StoreError::Missing)));
        drop((db, owner));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
