//! How a foreign database is opened without leaving a trace in its folder or standing in its owner's way.
//!
//! Four situations, told apart by what lies beside the file:
//!
//! | `-wal` | `-shm` | header | opened |
//! |---|---|---|---|
//! | there | there | – | through the owner's index, mapped read-only: no recovery, no write to either sidecar |
//! | holds frames | none | – | plainly, so that what is committed in the log is seen; SQLite makes its own index |
//! | empty or none | none | WAL | as unchanging: the file alone is the whole database, and a plain open would have to make sidecars |
//! | none | – | rollback | plainly, under SQLite's shared lock, which needs no sidecar |
//!
//! An unchanging open takes no lock, so what it yields counts only if the file and its log are the same afterwards.
//! An empty file is never opened: SQLite, even read-only, deletes a log or journal it finds beside one.

use super::{Moved, StoreError, beside, stamps};
use crate::surface::read::{self, Kind};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, ffi};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Page cache of one connection, KiB.
const CACHE_KIB: u32 = 256;
/// Longest cell or row that SQLite may build, bytes.
const CELL_MAX: i32 = 64 << 20;
/// How much of a file without SQLite's header is judged, bytes.
const FOREIGN_LOOK: u64 = 1024;
/// Different byte values in that much random data: 251 expected, text has below 100.
const RANDOM_VALUES: usize = 200;

/// How a connection treats locks and sidecars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    /// Through the existing `-shm`, which is not written.
    Guest,
    /// No lock, no log.
    Unchanging,
}

impl Mode {
    fn parameters(self) -> &'static str {
        match self {
            Mode::Plain => "",
            Mode::Guest => "&readonly_shm=1",
            Mode::Unchanging => "&immutable=1",
        }
    }
}

/// What an open yields.
pub(super) struct Opened {
    pub connection: Connection,
    pub mode: Mode,
    /// Taken before the first read.
    pub moved: Moved,
    pub guard: Guard,
}

/// Opens a database read-only; `patience` is how long a lock of the owner is waited for.
pub(super) fn open(path: &Path, patience: Duration) -> Result<Opened, StoreError> {
    let moved = judge(path)?;
    let mut refused = StoreError::Missing;
    for mode in modes(path, moved) {
        let guard = Guard::new(moved, *mode);
        match connect(path, *mode, patience) {
            Ok(connection) => {
                // What was opened must be what was judged.
                let now = read::look(path).ok().filter(|e| e.kind == Kind::File);
                if now.map(|e| (e.stamp.dev, e.stamp.ino)) != moved.identity() {
                    return Err(StoreError::Changed);
                }
                return Ok(Opened { connection, mode: *mode, moved, guard });
            }
            // The index could not be used as it stands: the next mode makes its own.
            Err(error @ (StoreError::Changed | StoreError::Unreadable(_))) if *mode == Mode::Guest => refused = error,
            Err(StoreError::Corrupt(why)) => return Err(foreign(path, why)),
            Err(error) => return Err(error),
        }
    }
    Err(refused)
}

/// Refuses everything but a regular file that holds something.
fn judge(path: &Path) -> Result<Moved, StoreError> {
    let moved = stamps(path);
    match moved.file {
        Some(file) if file.len == 0 => Err(StoreError::Schema("no tables, the file is empty".into())),
        Some(_) => Ok(moved),
        None => Err(match read::look(path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => StoreError::Missing,
            Err(e) => StoreError::Unreadable(e.to_string()),
            Ok(_) => StoreError::Unreadable("not a regular file".into()),
        }),
    }
}

/// The ways to open, best first.
fn modes(path: &Path, moved: Moved) -> &'static [Mode] {
    let logged = moved.wal.is_some_and(|wal| wal.len > 0);
    let indexed = moved.wal.is_some() && read::look(&beside(path, "-shm")).is_ok_and(|e| e.kind == Kind::File);
    if indexed {
        // A plain open is the way out when the index is of no use and nobody is there to mend it.
        &[Mode::Guest, Mode::Plain]
    } else if logged || !wal_mode(path, moved) {
        &[Mode::Plain]
    } else {
        &[Mode::Unchanging]
    }
}

/// Whether the header names write-ahead logging: read version 2 at byte 19 (SQLite file format, section 1.3).
fn wal_mode(path: &Path, moved: Moved) -> bool {
    // Closing any descriptor of a file drops every lock this process holds on it (POSIX), so a file that is open
    // already is not opened once more behind SQLite's back.
    match Guard::held(moved) {
        Some(mode) => mode == Mode::Unchanging,
        None => read::prefix(path, 20).is_ok_and(|(head, _)| head.get(19) == Some(&2)),
    }
}

/// Names a file that SQLite does not know: random bytes of whole sectors are an encrypted database.
fn foreign(path: &Path, why: String) -> StoreError {
    let Ok((head, _)) = read::prefix(path, FOREIGN_LOOK) else { return StoreError::Corrupt(why) };
    let sectors = read::look(path).is_ok_and(|e| e.stamp.len % 512 == 0);
    let mut seen = [false; 256];
    for byte in &head {
        if let Some(seen) = seen.get_mut(usize::from(*byte)) {
            *seen = true;
        }
    }
    let random = seen.iter().filter(|s| **s).count() >= RANDOM_VALUES;
    if sectors && random && !head.starts_with(b"SQLite format 3\0") {
        StoreError::Encrypted
    } else {
        StoreError::Corrupt(why)
    }
}

fn connect(path: &Path, mode: Mode, patience: Duration) -> Result<Connection, StoreError> {
    let connection = match connect_to(path, mode) {
        // Some folder above the file is a link, which is the reader's business; the file itself was judged to be none.
        Err(error) if error.sqlite_error().is_some_and(|e| e.extended_code == ffi::SQLITE_CANTOPEN_SYMLINK) => {
            connect_to(&resolved(path)?, mode)
        }
        other => other,
    }?;
    connection.busy_timeout(patience)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, CELL_MAX)?;
    // A view runs whatever its author wrote; the readers want tables.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // The header is read by the first query only; ask now, so that a foreign file is refused here.
    first_read(&connection)?;
    connection.pragma_update(None, "cache_size", -i64::from(CACHE_KIB))?;
    // What a sort cannot hold must not become a file somewhere.
    connection.pragma_update(None, "temp_store", 2)?;
    Ok(connection)
}

/// The read that fixes what a transaction sees. The index may be met in the middle of an update by its writer, and a
/// guest may not wait for it under a lock: look again.
pub(super) fn first_read(connection: &Connection) -> Result<(), StoreError> {
    let mut left = 8;
    loop {
        let read = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
        match read {
            Err(rusqlite::Error::SqliteFailure(code, _))
                if left > 0 && code.extended_code == ffi::SQLITE_READONLY_RECOVERY =>
            {
                left -= 1;
                std::thread::sleep(Duration::from_micros(50));
            }
            other => return Ok(other?),
        }
    }
}

/// Opens a path in which no part is a link; Windows has no such check.
fn connect_to(path: &Path, mode: Mode) -> Result<Connection, rusqlite::Error> {
    let uri = format!("file:{}?mode=ro{}", encode(path), mode.parameters());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let no_follow = if cfg!(windows) { OpenFlags::empty() } else { OpenFlags::SQLITE_OPEN_NOFOLLOW };
    Connection::open_with_flags(uri, flags | no_follow)
}

/// The path with the links above the file followed.
fn resolved(path: &Path) -> Result<PathBuf, StoreError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(StoreError::Unreadable("not a file path".into()));
    };
    let parent = read::real(parent).map_err(|e| StoreError::Unreadable(e.to_string()))?;
    Ok(parent.join(name))
}

/// A path as the path part of a URI.
fn encode(path: &Path) -> String {
    uri_path(path.as_os_str().as_encoded_bytes(), cfg!(windows))
}

/// Everything but unreserved characters, `/` and `:` percent-encoded; a leading `//` behind an empty authority, and on
/// Windows separators turned and a drive led by `/`.
pub(super) fn uri_path(path: &[u8], windows: bool) -> String {
    let mut out = String::with_capacity(path.len() + 8);
    let turned = |b: &u8| if windows && *b == b'\\' { b'/' } else { *b };
    let mut lead = path.iter().map(turned);
    match (lead.next(), lead.next()) {
        (Some(b'/'), Some(b'/')) => out.push_str("//"),
        (Some(_), Some(b':')) if windows => out.push('/'),
        _ => {}
    }
    for b in path.iter().map(turned) {
        if b.is_ascii_alphanumeric() || matches!(b, b'/' | b':' | b'-' | b'_' | b'.' | b'~') {
            out.push(b as char);
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    out
}

/// The databases this process has open: device, inode and mode.
static OPEN: Mutex<Vec<(u64, u64, Mode)>> = Mutex::new(Vec::new());

/// Notes a database as open for as long as it lives.
pub(super) struct Guard(Option<(u64, u64, Mode)>);

impl Guard {
    fn new(moved: Moved, mode: Mode) -> Guard {
        let entry = moved.identity().map(|(dev, ino)| (dev, ino, mode));
        if let Some(entry) = entry {
            OPEN.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        }
        Guard(entry)
    }

    fn held(moved: Moved) -> Option<Mode> {
        let (dev, ino) = moved.identity()?;
        let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().find(|(d, i, _)| (*d, *i) == (dev, ino)).map(|(_, _, mode)| *mode)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(entry) = self.0 else { return };
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = open.iter().position(|e| *e == entry) {
            open.swap_remove(at);
        }
    }
}
