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
#[cfg(test)]
pub mod support;

use super::Pass;
use std::ffi::OsStr;
use std::path::Path;

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

/// Ids as the one bound parameter of a statement that takes many (`json_each`).
pub fn ids<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let ids: Vec<&str> = ids.into_iter().collect();
    serde_json::to_string(&ids).unwrap_or_else(|_| "[]".into())
}
