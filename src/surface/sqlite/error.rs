//! Why a database could not be read, in SQLite's words and under the degrade that names it.

use crate::model::Code;
use rusqlite::ffi;
use std::fmt;

/// Why a database could not be read; the message says what was met (DECK-020 codes through [`StoreError::code`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    Missing,
    Unreadable(String),
    /// Another program holds it and did not let go in time.
    Locked,
    /// It was changed under a read that cannot follow changes; the next read sees it whole.
    Changed,
    /// The read took longer than it may.
    Slow,
    Corrupt(String),
    Encrypted,
    /// A table or column that the reader needs is not there.
    Schema(String),
}

impl StoreError {
    /// The degrade that names this failure.
    pub fn code(&self) -> Code {
        match self {
            StoreError::Missing => Code::StoreMissing,
            StoreError::Unreadable(_) => Code::StoreUnreadable,
            StoreError::Locked | StoreError::Changed => Code::StoreLocked,
            StoreError::Slow => Code::ReadInPart,
            StoreError::Corrupt(_) => Code::StoreCorrupt,
            StoreError::Encrypted => Code::StoreEncrypted,
            StoreError::Schema(_) => Code::SchemaUnknown,
        }
    }

    /// Whether the same read may succeed later although nobody repairs the store, so that what was read before it
    /// still stands.
    pub fn passes(&self) -> bool {
        matches!(self, StoreError::Locked | StoreError::Changed | StoreError::Slow | StoreError::Unreadable(_))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Missing => out.write_str("OperationalError: the database file is missing"),
            StoreError::Unreadable(why) => write!(out, "OperationalError: {why}"),
            StoreError::Locked => out.write_str("OperationalError: database is locked"),
            StoreError::Changed => out.write_str("OperationalError: the database was changed while it was read"),
            StoreError::Slow => out.write_str("OperationalError: interrupted, the read took too long"),
            StoreError::Corrupt(why) => write!(out, "DatabaseError: {why}"),
            StoreError::Encrypted => out.write_str("DatabaseError: file is not a database (encrypted or foreign)"),
            // SQLite's own words keep SQLite's own type.
            StoreError::Schema(what) if what.starts_with("no such") => write!(out, "OperationalError: {what}"),
            StoreError::Schema(what) => write!(out, "SchemaUnsupported: {what}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let (code, text) = match error {
            rusqlite::Error::SqliteFailure(code, text) => {
                let text = text.unwrap_or_else(|| ffi::code_to_str(code.extended_code).to_owned());
                (code.extended_code, text)
            }
            rusqlite::Error::SqlInputError { error, msg, .. } => (error.extended_code, msg),
            other => return StoreError::Unreadable(other.to_string()),
        };
        match code {
            // The log's index was met half written, or nobody who could vouch for it is there.
            ffi::SQLITE_READONLY_RECOVERY | ffi::SQLITE_READONLY_CANTINIT => return StoreError::Changed,
            ffi::SQLITE_READONLY_ROLLBACK => {
                return StoreError::Unreadable("a journal waits to be rolled back by the database's owner".into());
            }
            _ => {}
        }
        match code & 0xff {
            ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED | ffi::SQLITE_PROTOCOL | ffi::SQLITE_SCHEMA => StoreError::Locked,
            ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB => StoreError::Corrupt(text),
            ffi::SQLITE_INTERRUPT => StoreError::Slow,
            // A statement that names a missing table or column fails while it is prepared.
            ffi::SQLITE_ERROR if text.starts_with("no such") => StoreError::Schema(text),
            _ => StoreError::Unreadable(text),
        }
    }
}
