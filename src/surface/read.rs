//! Opens and reads what others wrote: regular files only, never through a link, never blocking, never unbounded.
//!
//! Every read names its cap. A path is judged (lstat) before it is opened, and what was opened must be what was
//! judged (TRUST-031). FIFOs, sockets, devices and links are refused, so nothing here can hang (HTTP-095).

use std::ffi::OsString;
use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What identifies one version of a file: when it is unchanged, nothing needs to be read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    pub dev: u64,
    pub ino: u64,
    /// Length in bytes.
    pub len: u64,
    /// Modification time, nanoseconds since the epoch; negative before it.
    pub mtime_ns: i64,
}

impl Stamp {
    /// Modification time in seconds since the epoch.
    pub fn mtime(&self) -> f64 {
        self.mtime_ns as f64 / 1e9
    }
}

/// What stands at a path, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Dir,
    Link,
    /// FIFO, socket or device: never opened.
    Special,
}

/// A path as it stands, links not followed.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub kind: Kind,
    pub stamp: Stamp,
    /// Birth time where the platform keeps it, seconds since the epoch.
    pub birth: Option<f64>,
}

/// Why a read yielded nothing.
#[derive(Debug)]
pub enum ReadError {
    /// Not a regular file.
    NotAFile,
    /// Replaced or changed in kind between being judged and being opened.
    Changed,
    /// Longer than the cap of this read.
    TooLong {
        len: u64,
        cap: u64,
    },
    Io(io::Error),
}

impl ReadError {
    /// Whether the path simply was not there.
    pub fn is_missing(&self) -> bool {
        matches!(self, ReadError::Io(e) if e.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::NotAFile => out.write_str("not a regular file"),
            ReadError::Changed => out.write_str("replaced while it was being opened"),
            ReadError::TooLong { len, cap } => write!(out, "{len} bytes long, at most {cap} are read"),
            ReadError::Io(e) => write!(out, "{e}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(e: io::Error) -> Self {
        ReadError::Io(e)
    }
}

/// Judges a path without following a link.
pub fn look(path: &Path) -> io::Result<Entry> {
    std::fs::symlink_metadata(path).map(|m| entry_of(&m))
}

/// Judges a path, following links; for store roots, which a person may have linked elsewhere.
pub fn look_through(path: &Path) -> io::Result<Entry> {
    std::fs::metadata(path).map(|m| entry_of(&m))
}

/// Whether a directory stands at `path`, through links; any error reads as no (PAYLOAD-004).
pub fn is_dir(path: &Path) -> bool {
    look_through(path).is_ok_and(|e| e.kind == Kind::Dir)
}

/// Whether a regular file stands at `path`, through links; any error reads as no.
pub fn is_file(path: &Path) -> bool {
    look_through(path).is_ok_and(|e| e.kind == Kind::File)
}

/// The path with every link resolved.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// A name in a directory with its kind as the directory tells it; `None` when only a look can tell.
#[derive(Debug)]
pub struct Name {
    pub name: OsString,
    pub kind: Option<Kind>,
}

/// The names in a directory, at most `cap`, in no order. The second value tells whether names were left out.
pub fn names(dir: &Path, cap: usize) -> io::Result<(Vec<Name>, bool)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        if found.len() >= cap {
            return Ok((found, true));
        }
        let entry = entry?;
        let kind = entry.file_type().ok().map(kind_of);
        found.push(Name { name: entry.file_name(), kind });
    }
    Ok((found, false))
}

/// An opened regular file.
#[derive(Debug)]
pub struct Reader {
    file: File,
    stamp: Stamp,
}

impl Reader {
    /// Opens a regular file that is not a link.
    pub fn open(path: &Path) -> Result<Reader, ReadError> {
        let seen = look(path)?;
        if seen.kind != Kind::File {
            return Err(ReadError::NotAFile);
        }
        let file = open_plain(path)?;
        let now = entry_of(&file.metadata()?);
        if now.kind != Kind::File || (now.stamp.dev, now.stamp.ino) != (seen.stamp.dev, seen.stamp.ino) {
            return Err(ReadError::Changed);
        }
        Ok(Reader { file, stamp: now.stamp })
    }

    /// The file as it stood when it was opened.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Fills `buf` from `offset` as far as the file reaches; returns the bytes read.
    pub fn read_at(&mut self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.file.seek(SeekFrom::Start(offset))?;
        let mut filled = 0;
        while let Some(rest) = buf.get_mut(filled..).filter(|r| !r.is_empty()) {
            match self.file.read(rest) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(filled)
    }

    /// The bytes of `from..to`, fewer when the file ends before.
    pub fn range(&mut self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut buf = vec![0; to.saturating_sub(from) as usize];
        let n = self.read_at(from, &mut buf)?;
        buf.truncate(n);
        Ok(buf)
    }
}

/// The whole of a file that is at most `cap` bytes long.
pub fn whole(path: &Path, cap: u64) -> Result<Vec<u8>, ReadError> {
    let mut reader = Reader::open(path)?;
    let len = reader.stamp.len;
    if len > cap {
        return Err(ReadError::TooLong { len, cap });
    }
    // One byte more than the cap tells a file that grew past it while it was read.
    let bytes = reader.range(0, len.saturating_add(4096).min(cap + 1))?;
    if bytes.len() as u64 > cap {
        return Err(ReadError::TooLong { len: bytes.len() as u64, cap });
    }
    Ok(bytes)
}

/// The first `cap` bytes of a file, and whether that was all of it.
pub fn prefix(path: &Path, cap: u64) -> Result<(Vec<u8>, bool), ReadError> {
    let mut reader = Reader::open(path)?;
    let len = reader.stamp.len;
    Ok((reader.range(0, len.min(cap))?, len <= cap))
}

fn entry_of(meta: &Metadata) -> Entry {
    Entry { kind: kind_of(meta.file_type()), stamp: stamp_of(meta), birth: birth_of(meta) }
}

fn kind_of(kind: std::fs::FileType) -> Kind {
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Dir
    } else if kind.is_symlink() {
        Kind::Link
    } else {
        Kind::Special
    }
}

fn birth_of(meta: &Metadata) -> Option<f64> {
    let born = meta.created().ok()?;
    born.duration_since(std::time::UNIX_EPOCH).ok().map(|d| d.as_secs_f64())
}

#[cfg(unix)]
fn stamp_of(meta: &Metadata) -> Stamp {
    use std::os::unix::fs::MetadataExt;
    let mtime_ns = meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec());
    Stamp { dev: meta.dev(), ino: meta.ino(), len: meta.len(), mtime_ns }
}

#[cfg(not(unix))]
fn stamp_of(meta: &Metadata) -> Stamp {
    let since = meta.modified().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    let mtime_ns = since.map_or(0, |d| i64::try_from(d.as_nanos()).unwrap_or(i64::MAX));
    // Birth time stands in for the identity std does not give on this platform: a replaced file is a younger one.
    let ino = birth_of(meta).map_or(0, f64::to_bits);
    Stamp { dev: 0, ino, len: meta.len(), mtime_ns }
}

#[cfg(unix)]
fn open_plain(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC).open(path)
}

#[cfg(windows)]
fn open_plain(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    // Read, write and delete stay shared, so that a harness may rotate the file while it is read (CONF-026);
    // FILE_FLAG_OPEN_REPARSE_POINT keeps a link from being followed.
    OpenOptions::new().read(true).share_mode(7).custom_flags(0x0020_0000).open(path)
}

#[cfg(not(any(unix, windows)))]
fn open_plain(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn scratch(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("cargento-read-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    /// TRUST-031.
    #[test]
    fn trust_031_links_folders_and_fifos_are_refused_without_blocking() {
        let dir = scratch("kinds");
        std::fs::write(dir.join("plain"), b"abc").unwrap();
        symlink(dir.join("plain"), dir.join("link")).unwrap();
        symlink(dir.join("loop"), dir.join("loop")).unwrap();
        let fifo = std::ffi::CString::new(dir.join("fifo").to_str().unwrap()).unwrap();
        // SAFETY: a NUL-terminated path that outlives the call.
        assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
        for name in ["link", "loop", "fifo", "."] {
            assert!(matches!(Reader::open(&dir.join(name)), Err(ReadError::NotAFile)), "{name}");
        }
        assert_eq!(whole(&dir.join("plain"), 3).unwrap(), b"abc");
        assert!(matches!(whole(&dir.join("plain"), 2), Err(ReadError::TooLong { len: 3, cap: 2 })));
        assert_eq!(prefix(&dir.join("plain"), 2).unwrap(), (b"ab".to_vec(), false));
        assert!(whole(&dir.join("gone"), 9).unwrap_err().is_missing());
        std::fs::remove_dir_all(dir).unwrap();
    }
}
