//! Makes the invented stores of `--demo`, below its private home only (TRUST-011): SQLite files and back-dated times.
//! No other part of the program can create a database or set a file's time.

use super::write::Place;
use rusqlite::{Connection, ToSql};
use std::io;
use std::time::{Duration, UNIX_EPOCH};

/// One SQL statement with its values.
pub type Statement = (&'static str, Vec<Cell>);

/// A value of a statement.
#[derive(Clone, Debug)]
pub enum Cell {
    Text(String),
    Whole(i64),
    Bytes(Vec<u8>),
    Null,
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        match self {
            Cell::Text(text) => text.to_sql(),
            Cell::Whole(n) => n.to_sql(),
            Cell::Bytes(bytes) => bytes.to_sql(),
            Cell::Null => Ok(rusqlite::types::Null.into()),
        }
    }
}

/// Runs statements on a database file of the place, made when it is not there.
pub fn database(place: &Place, name: &str, statements: &[Statement]) -> io::Result<()> {
    // Opened to append first: that checks the place, makes the folders, and makes the file its owner's alone.
    drop(place.append(name)?);
    let connection = Connection::open(place.path(name)).map_err(io::Error::other)?;
    connection.execute_batch("BEGIN").map_err(io::Error::other)?;
    for (sql, values) in statements {
        connection.execute(sql, rusqlite::params_from_iter(values)).map_err(io::Error::other)?;
    }
    connection.execute_batch("COMMIT").map_err(io::Error::other)
}

/// Sets when a file of the place was last written, seconds since the epoch.
pub fn date(place: &Place, name: &str, at: f64) -> io::Result<()> {
    place.append(name)?.set_modified(UNIX_EPOCH + Duration::from_secs_f64(at.max(0.0)))
}
