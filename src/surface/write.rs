//! Writes our own files: owner only, whole or not at all, and nowhere but in the places named here.
//!
//! A [`Place`] is one directory this program may write below (the state directory, `cargento plugin`'s directory, a
//! private temporary one) or one single file (the terminal registration). Files are named relative to it; a name that
//! climbs, a target that is a symlink and a parent that resolves outside are refused. No other function of the program
//! creates, renames or removes a file. It refuses to know what the bytes mean.

use crate::surface::read;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// Somewhere this program may write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    root: PathBuf,
    /// The one file name admitted, when the place is a single file.
    only: Option<OsString>,
    /// Whether an existing directory is tightened to its owner.
    own: bool,
}

impl Place {
    /// The state directory (STATE-001).
    pub fn state(dir: &Path) -> Self {
        Self { root: dir.to_path_buf(), only: None, own: true }
    }

    /// The directory `cargento plugin` fills.
    pub fn plugin(dir: &Path) -> Self {
        Self { root: dir.to_path_buf(), only: None, own: false }
    }

    /// The terminal registration file and nothing beside it; `None` when the path names no file.
    pub fn registration(file: &Path) -> Option<Self> {
        let name = file.file_name()?;
        let parent = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        Some(Self { root: parent.to_path_buf(), only: Some(name.to_os_string()), own: false })
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a file of this place lies.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Makes the directory, with its parents, for its owner alone; an existing state directory that others may enter
    /// is tightened (STATE-001). Fails when it cannot be made.
    pub fn ensure(&self) -> io::Result<()> {
        ensure_directory(&self.root)?;
        if self.own {
            tighten(&self.root);
        }
        Ok(())
    }

    /// Puts `bytes` in place of the named file: written beside it, owner only, flushed, renamed over it (STATE-004).
    /// On any error the old file stands and no temporary file is left. A name may hold one folder, made on demand.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let target = self.target(name)?;
        let mut beside = target.clone().into_os_string();
        beside.push(format!(".{}.{}.tmp", std::process::id(), random_hex()?));
        let beside = PathBuf::from(beside);
        let written = write_new(&beside, bytes).and_then(|()| fs::rename(&beside, &target));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    }

    /// A new, empty, owner-only file; fails when the name is taken.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let target = self.target(name)?;
        open_owner_only(OpenOptions::new().write(true).create_new(true), &target)
    }

    /// The named file opened to append, made owner only when it is not there.
    pub fn append(&self, name: &str) -> io::Result<File> {
        let target = self.target(name)?;
        open_owner_only(OpenOptions::new().append(true).create(true), &target)
    }

    /// Removes the named file; `false` when it was not there.
    pub fn remove(&self, name: &str) -> io::Result<bool> {
        self.check(name)?;
        match self.inside(&self.path(name)).and_then(|()| fs::remove_file(self.path(name))) {
            Ok(()) => Ok(true),
            Err(error) if absent(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Renames one file of this place to another name in it.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.check(from)?;
        self.inside(&self.path(from))?;
        let to = self.target(to)?;
        fs::rename(self.path(from), to)
    }

    /// The bytes of the named file: `None` when it is not there, an error when it is longer than `cap`, no regular
    /// file, or unreadable. Never waits on a pipe and never follows a link.
    pub fn read(&self, name: &str, cap: usize) -> io::Result<Option<Vec<u8>>> {
        self.check(name)?;
        found(read::whole(&self.path(name), cap as u64))
    }

    /// The first bytes of the named file, at most `cap`; otherwise as [`Place::read`].
    pub fn read_head(&self, name: &str, cap: usize) -> io::Result<Option<Vec<u8>>> {
        self.check(name)?;
        found(read::prefix(&self.path(name), cap as u64).map(|(bytes, _)| bytes))
    }

    /// Takes the exclusive lock that the named (empty) file stands for, waiting at most `wait`.
    pub fn lock(&self, name: &str, wait: Duration) -> Result<Lock, LockError> {
        let target = self.target(name).map_err(LockError::Create)?;
        let open = || {
            open_owner_only(OpenOptions::new().read(true).write(true).create(true).truncate(false), &target)
                .map_err(LockError::Open)
        };
        let mut file = open()?;
        let deadline = Instant::now() + wait;
        loop {
            match file.try_lock() {
                Ok(()) if still_at(&file, &target) => return Ok(Lock { _file: file }),
                // Someone removed the file meanwhile: whoever comes next takes another one, so this one locks nothing.
                Ok(()) if Instant::now() >= deadline => return Err(LockError::Busy),
                Ok(()) => file = open()?,
                Err(fs::TryLockError::WouldBlock) if Instant::now() >= deadline => return Err(LockError::Busy),
                Err(fs::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
                Err(fs::TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    return Err(LockError::Unsupported);
                }
                Err(fs::TryLockError::Error(error)) => return Err(LockError::Open(error)),
            }
        }
    }

    /// Removes what a killed process left half-written in the directory or one folder of it: temporary files of ours
    /// whose process is gone, and old ones whose number another process has now, as in a container where it is always
    /// the same.
    pub fn sweep(&self, folder: Option<&str>, alive: &dyn Fn(u32) -> bool) {
        let dir = folder.map_or_else(|| self.root.clone(), |name| self.root.join(name));
        let Ok(entries) = fs::read_dir(dir) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_str().and_then(temporary_owner).is_some_and(|pid| !alive(pid) || is_old(&entry)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// A file this place admits, its parent made and found to lie inside, the file itself no symlink.
    fn target(&self, name: &str) -> io::Result<PathBuf> {
        self.check(name)?;
        self.ensure()?;
        let target = self.path(name);
        let parent = target.parent().ok_or_else(|| refused("no parent"))?;
        if parent != self.root {
            ensure_directory(parent)?;
        }
        self.inside(&target)?;
        match fs::symlink_metadata(&target) {
            Ok(found) if found.file_type().is_symlink() => Err(refused("it is a symlink")),
            Ok(found) if found.is_dir() => Err(refused("it is a directory")),
            _ => Ok(target),
        }
    }

    /// Whether a file's parent, all links followed, lies in the place.
    fn inside(&self, target: &Path) -> io::Result<()> {
        let parent = target.parent().ok_or_else(|| refused("no parent"))?.canonicalize()?;
        if parent.starts_with(self.root.canonicalize()?) { Ok(()) } else { Err(refused("its parent lies outside")) }
    }

    /// Whether a name stays below the place.
    fn check(&self, name: &str) -> io::Result<()> {
        let plain = !name.is_empty()
            && !name.contains(['\0', ':'])
            && Path::new(name).components().all(|c| matches!(c, Component::Normal(_)));
        let admitted = self.only.as_ref().is_none_or(|only| only == OsStr::new(name));
        if plain && admitted { Ok(()) } else { Err(refused("the name leaves its place")) }
    }
}

/// A held lock; letting it go releases it, and so does the end of the process.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Why a lock was not taken.
#[derive(Debug)]
pub enum LockError {
    /// Someone held it for all of the wait.
    Busy,
    /// The file system has no locks.
    Unsupported,
    /// The directory or the file's place cannot be made.
    Create(io::Error),
    /// The file is there and cannot be opened or locked.
    Open(io::Error),
}

/// A private directory that goes when this value goes.
#[derive(Debug)]
pub struct Temporary {
    place: Place,
}

impl Temporary {
    /// Makes `<base>/<prefix>-<16 hex>`, for its owner alone.
    pub fn create(base: &Path, prefix: &str) -> io::Result<Self> {
        let root = base.join(format!("{prefix}-{}{}", random_hex()?, random_hex()?));
        directory_builder(false).create(&root)?;
        exact_mode(&root, 0o700)?;
        Ok(Self { place: Place { root, only: None, own: true } })
    }

    /// The place it is.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.place.root);
    }
}

/// Whether an open file or directory is the one its path leads to now.
pub(super) fn still_at(file: &File, path: &Path) -> bool {
    file.metadata().and_then(|own| Ok(is_same(&own, &fs::metadata(path)?))).unwrap_or(false)
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("not written: {why}"))
}

fn found(outcome: Result<Vec<u8>, read::ReadError>) -> io::Result<Option<Vec<u8>>> {
    match outcome {
        Ok(bytes) => Ok(Some(bytes)),
        Err(read::ReadError::Io(error)) if absent(&error) => Ok(None),
        Err(read::ReadError::Io(error)) => Err(error),
        Err(error @ read::ReadError::TooLong { .. }) => Err(io::Error::new(io::ErrorKind::FileTooLarge, error)),
        Err(error) => Err(io::Error::other(error)),
    }
}

fn absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn ensure_directory(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    directory_builder(true).create(dir)?;
    exact_mode(dir, 0o700)
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = open_owner_only(OpenOptions::new().write(true).create_new(true), path)?;
    file.write_all(bytes)?;
    match file.sync_all() {
        // Some file systems cannot flush on demand; that is no reason to keep the old content.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        other => other,
    }
}

fn random_hex() -> io::Result<String> {
    let mut bytes = [0u8; 4];
    getrandom::fill(&mut bytes).map_err(|_| io::Error::other("no random source"))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

/// No write takes this long; its process answers for a younger file, seconds.
const LEFT_BEHIND_SEC: u64 = 60;

fn is_old(entry: &fs::DirEntry) -> bool {
    let changed = entry.metadata().and_then(|found| found.modified());
    changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age.as_secs() >= LEFT_BEHIND_SEC))
}

/// The process that wrote a temporary file of ours: `<name>.<pid>.<8 hex>.tmp`.
fn temporary_owner(name: &str) -> Option<u32> {
    let rest = name.strip_suffix(".tmp")?;
    let (rest, hex) = rest.rsplit_once('.')?;
    let (stem, pid) = rest.rsplit_once('.')?;
    let ours = hex.len() == 8 && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (ours && !stem.is_empty() && pid.bytes().all(|b| b.is_ascii_digit())).then(|| pid.parse().ok())?
}

#[cfg(unix)]
mod system {
    use super::{DirBuilder, File, OpenOptions, Path, fs, io};
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};

    pub(super) fn directory_builder(parents: bool) -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.recursive(parents).mode(0o700);
        builder
    }

    pub(super) fn no_follow(options: &mut OpenOptions) -> &mut OpenOptions {
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC)
    }

    pub(super) fn open_owner_only(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
        let file = no_follow(options).mode(0o600).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(super::refused("not a regular file"));
        }
        if file.metadata()?.permissions().mode() & 0o7777 != 0o600 {
            // A strange umask took bits away, or an older file is wider than it should be.
            let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
        }
        Ok(file)
    }

    pub(super) fn exact_mode(dir: &Path, mode: u32) -> io::Result<()> {
        if fs::metadata(dir)?.permissions().mode() & 0o7777 == mode {
            return Ok(());
        }
        fs::set_permissions(dir, fs::Permissions::from_mode(mode))
    }

    pub(super) fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
        (one.dev(), one.ino()) == (other.dev(), other.ino())
    }

    pub(super) fn tighten(dir: &Path) {
        if fs::metadata(dir).is_ok_and(|found| found.permissions().mode() & 0o077 != 0) {
            let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
        }
    }
}

/// Windows has no modes: what lies in a user's profile is that user's by inheritance.
#[cfg(windows)]
mod system {
    use super::{DirBuilder, File, OpenOptions, Path, io};
    use std::os::windows::fs::OpenOptionsExt as _;

    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

    pub(super) fn directory_builder(parents: bool) -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.recursive(parents);
        builder
    }

    pub(super) fn no_follow(options: &mut OpenOptions) -> &mut OpenOptions {
        options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
    }

    pub(super) fn open_owner_only(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
        no_follow(options).open(path)
    }

    #[allow(clippy::unnecessary_wraps)] // Its POSIX sibling can fail.
    pub(super) fn exact_mode(_dir: &Path, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    /// An open file keeps its name here.
    pub(super) fn is_same(_one: &std::fs::Metadata, _other: &std::fs::Metadata) -> bool {
        true
    }

    pub(super) fn tighten(_dir: &Path) {}
}

use fs::DirBuilder;
use system::{directory_builder, exact_mode, is_same, open_owner_only, tighten};

#[cfg(test)]
mod tests;
