//! A directory as a whole: one writer at a time across processes, and renames that last.
//!
//! The lock is on the directory itself, so it leaves no file behind. It is advisory and best effort: where a system has
//! no such lock the caller goes on without it.

use super::write::still_at;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// The writer's turn in a directory; letting it go ends it, and so does the end of the process.
#[derive(Debug)]
pub struct Turn {
    _file: File,
}

/// Someone else had the turn for all of the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// Waits at most `wait` for the turn; `None` where directories cannot be locked.
pub fn turn(dir: &Path, wait: Duration) -> Result<Option<Turn>, Busy> {
    let Ok(mut file) = File::open(dir) else { return Ok(None) };
    let deadline = Instant::now() + wait;
    loop {
        match file.try_lock() {
            // A directory that was moved away or made anew meanwhile is another one.
            Ok(()) if !still_at(&file, dir) && Instant::now() < deadline => match File::open(dir) {
                Ok(found) => file = found,
                Err(_) => return Ok(None),
            },
            Ok(()) => return Ok(Some(Turn { _file: file })),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            Err(TryLockError::WouldBlock) => return Err(Busy),
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}

/// Flushes the directory, so that a rename in it outlives a power cut where the platform can do that (ANN-002).
pub fn settle(dir: &Path) {
    if let Ok(dir) = File::open(dir) {
        let _ = dir.sync_all();
    }
}

/// Whether an error says something about this moment and nothing about the file: descriptors or memory ran out, or a
/// signal came (TRUST-052).
#[cfg(unix)]
pub fn is_passing(error: &io::Error) -> bool {
    error
        .raw_os_error()
        .is_some_and(|code| [libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::EINTR, libc::EAGAIN].contains(&code))
}

/// As on Unix: too many open files, no memory, or another process has the file for a moment.
#[cfg(not(unix))]
pub fn is_passing(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| [4, 8, 14, 32, 33].contains(&code))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::surface::write::Temporary;

    /// DIS-008.
    #[test]
    fn dis_008_one_writer_at_a_time_and_no_file_left() {
        let home = Temporary::create(&std::env::temp_dir(), "cargento-folder-test").unwrap();
        let dir = home.place().root();
        let held = turn(dir, Duration::ZERO).unwrap();
        assert!(held.is_some() && turn(dir, Duration::from_millis(3)).is_err());
        drop(held);
        assert!(turn(dir, Duration::ZERO).unwrap().is_some());
        assert_eq!(std::fs::read_dir(dir).unwrap().count(), 0);
        assert!(turn(&dir.join("none"), Duration::ZERO).unwrap().is_none());
        settle(dir);
    }

    /// TRUST-052.
    #[test]
    fn trust_052_what_passes_by_itself() {
        assert!(is_passing(&io::Error::from_raw_os_error(libc::EMFILE)));
        assert!(!is_passing(&io::Error::from_raw_os_error(libc::EACCES)));
        assert!(!is_passing(&io::Error::other("odd")));
    }
}
