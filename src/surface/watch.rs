//! Kernel notice of changed directories, so that a pass costs what changed and not what exists.
//!
//! Linux alone has it here (inotify through libc); everywhere else, and on filesystems that send none (network and
//! 9p mounts, FIELD-063), [`Watch::add`] answers no and the caller stats instead. A watch only ever saves work: what
//! it misses is found by the sweep.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What changed since the last [`Watch::take`].
#[derive(Debug, Default)]
pub struct Dirty {
    /// Notices were lost: anything may have changed.
    pub everything: bool,
    /// Changed directories with the names that changed in them; without names, the directory itself is to be looked at.
    pub dirs: HashMap<PathBuf, HashSet<OsString>>,
}

impl Dirty {
    /// Whether nothing is known to have changed.
    pub fn is_empty(&self) -> bool {
        !self.everything && self.dirs.is_empty()
    }
}

#[derive(Default)]
struct Table {
    dirs: HashMap<i32, PathBuf>,
    known: HashMap<PathBuf, i32>,
    dirty: Dirty,
    lost: bool,
}

/// The watched directories and what happened in them.
pub struct Watch {
    table: Arc<Mutex<Table>>,
    kernel: Option<kernel::Notify>,
}

fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    // A panicked holder leaves a table that is at worst too dirty, which costs a stat and no truth.
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watch {
    /// Starts the watcher; `wake` is called from its thread whenever something changed.
    pub fn start(wake: impl Fn() + Send + 'static) -> Watch {
        let table = Arc::new(Mutex::new(Table::default()));
        let kernel = kernel::Notify::start(Arc::clone(&table), wake);
        Watch { table, kernel }
    }

    /// A watcher that never notices anything, for one-shot commands and platforms without notice.
    pub fn off() -> Watch {
        Watch { table: Arc::default(), kernel: None }
    }

    /// Watches a directory (not what lies below it). False: its changes must be found by looking.
    pub fn add(&self, dir: &Path) -> bool {
        let Some(kernel) = &self.kernel else { return false };
        if lock(&self.table).known.contains_key(dir) {
            return true;
        }
        // The table is filled under the lock that the reader thread takes, so no notice can arrive unnamed.
        let mut table = lock(&self.table);
        match kernel.add(dir) {
            Ok(wd) => {
                table.dirs.insert(wd, dir.to_path_buf());
                table.known.insert(dir.to_path_buf(), wd);
                true
            }
            Err(exhausted) => {
                table.lost |= exhausted;
                false
            }
        }
    }

    /// Forgets a directory that no reader asks for any more.
    pub fn remove(&self, dir: &Path) {
        let mut table = lock(&self.table);
        if let (Some(wd), Some(kernel)) = (table.known.remove(dir), &self.kernel) {
            table.dirs.remove(&wd);
            kernel.remove(wd);
        }
    }

    /// Takes what changed since the last call.
    pub fn take(&self) -> Dirty {
        std::mem::take(&mut lock(&self.table).dirty)
    }

    /// Whether a directory had to be left unwatched although the platform has notices (degrade `watch-lost`).
    pub fn lost(&self) -> bool {
        lock(&self.table).lost
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use super::{Table, lock};
    use std::collections::HashSet;
    use std::ffi::{CString, OsStr};
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    const EVENTS: u32 = libc::IN_MODIFY
        | libc::IN_CREATE
        | libc::IN_DELETE
        | libc::IN_MOVED_FROM
        | libc::IN_MOVED_TO
        | libc::IN_ATTRIB
        | libc::IN_DELETE_SELF
        | libc::IN_MOVE_SELF
        | libc::IN_ONLYDIR;

    /// Filesystems on which other machines or a hypervisor write without notice: 9p, NFS, SMB1, SMB2, FUSE.
    const SILENT: [i64; 6] = [0x0102_1997, 0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x517B];

    pub struct Notify {
        fd: Arc<OwnedFd>,
    }

    impl Notify {
        pub fn start(table: Arc<Mutex<Table>>, wake: impl Fn() + Send + 'static) -> Option<Notify> {
            // SAFETY: no pointer is passed; the result is checked before it is owned.
            let raw = unsafe { libc::inotify_init1(libc::IN_CLOEXEC) };
            if raw < 0 {
                return None;
            }
            // SAFETY: `raw` is a descriptor just made and owned by nobody else.
            let fd = Arc::new(unsafe { OwnedFd::from_raw_fd(raw) });
            let reading = Arc::clone(&fd);
            std::thread::Builder::new()
                .name("watch".into())
                .stack_size(128 * 1024)
                .spawn(move || follow(&reading, &table, &wake))
                .ok()?;
            Some(Notify { fd })
        }

        /// The watch made, or whether it failed because the kernel has no more of them to give.
        pub fn add(&self, dir: &Path) -> Result<i32, bool> {
            let path = CString::new(dir.as_os_str().as_bytes()).map_err(|_| false)?;
            if silent(&path) {
                return Err(false);
            }
            // SAFETY: a live descriptor and a NUL-terminated path that outlives the call.
            let wd = unsafe { libc::inotify_add_watch(self.fd.as_raw_fd(), path.as_ptr(), EVENTS) };
            if wd >= 0 {
                return Ok(wd);
            }
            let why = std::io::Error::last_os_error().raw_os_error();
            Err(matches!(why, Some(libc::ENOSPC | libc::ENOMEM | libc::EMFILE)))
        }

        pub fn remove(&self, wd: i32) {
            // SAFETY: no pointer is passed; an unknown watch is an error that changes nothing.
            unsafe { libc::inotify_rm_watch(self.fd.as_raw_fd(), wd) };
        }
    }

    fn silent(path: &CString) -> bool {
        // SAFETY: statfs is plain data, for which all zeroes is a value.
        let mut info: libc::statfs = unsafe { std::mem::zeroed() };
        // SAFETY: a NUL-terminated path and a struct of the right type, both alive over the call.
        let known = unsafe { libc::statfs(path.as_ptr(), &raw mut info) } == 0;
        known && SILENT.contains(&(info.f_type as i64))
    }

    fn follow(fd: &OwnedFd, table: &Mutex<Table>, wake: &impl Fn()) {
        let mut buf = vec![0u8; 16 * 1024];
        loop {
            // SAFETY: the buffer is writable for the length given.
            let n = unsafe { libc::read(fd.as_raw_fd(), buf.as_mut_ptr().cast(), buf.len()) };
            if n < 0 {
                if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted {
                    continue;
                }
                lock(table).dirty.everything = true;
                wake();
                return;
            }
            if note(buf.get(..n as usize).unwrap_or_default(), table, fd) {
                wake();
            }
        }
    }

    /// Notes a buffer of inotify events (inotify(7)); tells whether any concerned a known directory.
    fn note(mut events: &[u8], table: &Mutex<Table>, fd: &OwnedFd) -> bool {
        const HEAD: usize = 16;
        let mut table = lock(table);
        let mut any = false;
        while let Some((head, rest)) = events.split_at_checked(HEAD) {
            let word = |at: usize| head.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_ne_bytes);
            let (wd, mask, len) = (word(0) as i32, word(4), word(12) as usize);
            let (name, rest) = rest.split_at_checked(len).unwrap_or((rest, &[]));
            events = rest;
            if mask & libc::IN_Q_OVERFLOW != 0 {
                table.dirty.everything = true;
                any = true;
                continue;
            }
            if mask & (libc::IN_IGNORED | libc::IN_MOVE_SELF) != 0 {
                if let Some(dir) = table.dirs.remove(&wd) {
                    if mask & libc::IN_MOVE_SELF != 0 {
                        // The watch went along; what stands at the path now, if anything, is another directory.
                        // SAFETY: no pointer is passed; an unknown watch is an error that changes nothing.
                        unsafe { libc::inotify_rm_watch(fd.as_raw_fd(), wd) };
                    }
                    table.known.remove(&dir);
                    // Names noticed before are of the directory that was.
                    table.dirty.dirs.insert(dir, HashSet::new());
                    any = true;
                }
                continue;
            }
            let Some(dir) = table.dirs.get(&wd).cloned() else { continue };
            let name = name.split(|b| *b == 0).next().unwrap_or_default();
            let names = table.dirty.dirs.entry(dir).or_default();
            if !name.is_empty() {
                names.insert(OsStr::from_bytes(name).to_os_string());
            }
            any = true;
        }
        any
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use super::Table;
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    pub struct Notify {}

    // The signatures are those of the platform that has notices.
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)]
    impl Notify {
        pub fn start(_table: Arc<Mutex<Table>>, _wake: impl Fn() + Send + 'static) -> Option<Notify> {
            None
        }

        pub fn add(&self, _dir: &Path) -> Result<i32, bool> {
            Err(false)
        }

        pub fn remove(&self, _wd: i32) {}
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn a_written_file_is_noticed_by_name() {
        let dir = std::env::temp_dir().join(format!("cargento-watch-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let (tx, rx) = mpsc::channel();
        let watch = Watch::start(move || tx.send(()).unwrap_or(()));
        assert!(watch.add(&dir));
        assert!(!watch.add(&dir.join("absent")));
        std::fs::write(dir.join("a.jsonl"), b"x").unwrap();
        rx.recv_timeout(Duration::from_secs(5)).unwrap();
        let dirty = watch.take();
        assert!(dirty.dirs[&dir].contains(std::ffi::OsStr::new("a.jsonl")));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
