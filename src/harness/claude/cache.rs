//! Readings kept per file between passes: read again only when the file's stamp moved, dropped when no pass asks for
//! them any more, and left alone for a while when the file cannot be read (TRUST-037).

use crate::surface::read::{ReadError, Stamp};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Longest pause before a file that failed is tried again, seconds.
const LONGEST_PAUSE_SEC: f64 = 60.0;

/// What is kept of each file of one kind.
pub struct Kept<T> {
    files: HashMap<PathBuf, Entry<T>>,
    pass: u64,
}

struct Entry<T> {
    value: T,
    stamp: Option<Stamp>,
    seen: u64,
    trouble: Option<Trouble>,
}

struct Trouble {
    why: String,
    pause: f64,
    /// Not tried again before.
    until: f64,
}

/// What became of a look at a file.
#[derive(Debug)]
pub enum Look<'k, T> {
    Read(&'k mut T),
    /// Could not be read now; what was read before stands.
    Failed {
        value: &'k mut T,
        why: &'k str,
    },
    /// Not there any more.
    Gone,
}

impl<'k, T> Look<'k, T> {
    /// The value, read now or before, and why it could not be read now.
    pub fn parts(self) -> Option<(&'k mut T, Option<&'k str>)> {
        match self {
            Look::Read(value) => Some((value, None)),
            Look::Failed { value, why } => Some((value, Some(why))),
            Look::Gone => None,
        }
    }
}

impl<T> Kept<T> {
    pub fn new() -> Kept<T> {
        Kept { files: HashMap::new(), pass: 0 }
    }

    /// Begins a pass; what it does not ask for is dropped by [`Kept::end`].
    pub fn begin(&mut self) {
        self.pass += 1;
    }

    /// Drops everything the pass did not ask for, but for at most `spare` of it.
    pub fn end(&mut self, spare: usize) {
        let pass = self.pass;
        let mut left = spare;
        self.files.retain(|_, entry| {
            entry.seen == pass || {
                let keep = left > 0;
                left -= usize::from(keep);
                keep
            }
        });
        self.files.shrink_to(self.files.len().saturating_mul(2));
    }

    /// Whether something is kept of this file.
    pub fn has(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    /// What is kept of a file.
    #[cfg(test)]
    pub fn look_at(&self, path: &Path) -> Option<&T> {
        self.files.get(path).map(|entry| &entry.value)
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// The value of the file as it stands: `read` is asked to bring it up to date when its stamp moved.
    pub fn look(
        &mut self,
        path: &Path,
        stamp: Stamp,
        now: f64,
        fresh: impl FnOnce() -> T,
        read: impl FnOnce(&mut T) -> Result<(), ReadError>,
    ) -> Look<'_, T> {
        if !self.files.contains_key(path) {
            let entry = Entry { value: fresh(), stamp: None, seen: 0, trouble: None };
            self.files.insert(path.to_path_buf(), entry);
        }
        let Some(entry) = self.files.get_mut(path) else { return Look::Gone };
        entry.seen = self.pass;
        let waits = entry.trouble.as_ref().is_some_and(|t| now < t.until && now >= t.until - t.pause);
        if !waits && (entry.stamp != Some(stamp) || entry.trouble.is_some()) {
            match read(&mut entry.value) {
                Ok(()) => {
                    entry.stamp = Some(stamp);
                    entry.trouble = None;
                }
                Err(why) if why.is_missing() => {
                    entry.seen = 0;
                    entry.stamp = None;
                    return Look::Gone;
                }
                Err(why) => {
                    let pause = entry.trouble.as_ref().map_or(1.0, |t| (t.pause * 2.0).min(LONGEST_PAUSE_SEC));
                    entry.trouble = Some(Trouble { why: describe(&why), pause, until: now + pause });
                }
            }
        }
        let Entry { value, trouble, .. } = entry;
        match trouble {
            Some(trouble) => Look::Failed { value, why: &trouble.why },
            None => Look::Read(value),
        }
    }
}

/// A read error as `<Type>: <message>` (PAYLOAD-005).
pub fn describe(why: &ReadError) -> String {
    match why {
        ReadError::Io(e) => format!("{:?}: {e}", e.kind()),
        other => format!("ReadError: {other}"),
    }
}
