//! The first lines read so far, by file and by the ids in them: each is read once per file, bounded in number.

use super::header::{First, Meta, first_line};
use super::never::{Form, form};
use super::rollout::Fault;
use crate::config::{CODEX_PARENT_HEADERS, MAX_CACHE_ENTRIES};
use crate::model::time::fresh;
use crate::surface::read::Stamp;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file without a whole line 1 is left alone this long after it was written to, seconds.
const BEGUN_SEC: f64 = 3.0;
/// Passes in which first lines are read for one thread: as many as fill the memory of them.
const ROUNDS: usize = MAX_CACHE_ENTRIES / CODEX_PARENT_HEADERS + 1;
/// Threads that are remembered as looked for.
const LOST: usize = 1024;

/// The headers read so far, by file and by the ids in them.
#[derive(Default)]
pub struct Headers {
    known: HashMap<PathBuf, Entry>,
    /// Files of a thread, or of a root's session.
    index: HashMap<String, Vec<PathBuf>>,
    /// Threads that were looked for in the whole store.
    lost: HashMap<String, Lost>,
}

/// A thread that was looked for.
#[derive(Default)]
struct Lost {
    /// Files the store held then.
    files: usize,
    /// Passes in which first lines were read for it.
    rounds: usize,
}

struct Entry {
    stamp: Stamp,
    /// Believed for good; else asked for again when the file changed.
    settled: bool,
    meta: Arc<Meta>,
    fault: Option<Fault>,
}

/// The answer to whose a file is.
pub enum Whose {
    Of(Arc<Meta>),
    /// Not there any more, or only just begun.
    Nobody,
    /// `<Type>: <message>`.
    Unreadable(String),
}

impl Headers {
    /// Whose the rollout at `path` is, as it stands now.
    pub fn of(&mut self, path: &Path, stamp: Stamp, now: f64) -> Whose {
        if let Some(entry) = self.known.get_mut(path) {
            let same = (entry.stamp.dev, entry.stamp.ino) == (stamp.dev, stamp.ino) && entry.stamp.len <= stamp.len;
            match &entry.fault {
                Some(fault) if fault.holds(stamp, now) => return Whose::Unreadable(fault.why.clone()),
                None if same && (entry.settled || entry.stamp == stamp) => {
                    entry.stamp = stamp;
                    return Whose::Of(Arc::clone(&entry.meta));
                }
                _ => {}
            }
        }
        self.read(path, stamp, now)
    }

    fn read(&mut self, path: &Path, stamp: Stamp, now: f64) -> Whose {
        // A compressed one is never opened: its name tells all that is told of it (CODEX-006).
        let packed = path.file_name().and_then(form) == Some(Form::Packed);
        let line = if packed { Ok(First::Packed) } else { first_line(path) };
        let before = self.forget(path);
        match line {
            Ok(line) => {
                let read = match &line {
                    First::Whole(line) | First::Begun(line) => Meta::read(line, path),
                    First::TooLong | First::Packed => None,
                };
                // A child's rollout would be a session for the moment its first line takes to be written.
                if read.is_none() && matches!(line, First::Begun(_)) && fresh(stamp.mtime(), BEGUN_SEC, now) {
                    return Whose::Nobody;
                }
                let settled = read.is_some() || packed;
                let meta = Arc::new(read.unwrap_or_else(|| Meta::of_name(path)));
                self.keep(path, Entry { stamp, settled, meta: Arc::clone(&meta), fault: None });
                Whose::Of(meta)
            }
            Err(error) if error.is_missing() => Whose::Nobody,
            Err(error) => {
                let fault = Fault::new(&error, before.and_then(|entry| entry.fault).as_ref(), stamp, now);
                let why = fault.why.clone();
                let meta = Arc::new(Meta::of_name(path));
                self.keep(path, Entry { stamp, settled: false, meta, fault: Some(fault) });
                Whose::Unreadable(why)
            }
        }
    }

    fn keep(&mut self, path: &Path, entry: Entry) {
        if self.known.len() >= MAX_CACHE_ENTRIES {
            self.make_room();
        }
        if entry.fault.is_none() {
            for id in ids(&entry.meta) {
                self.index.entry(id.to_owned()).or_default().push(path.to_path_buf());
            }
        }
        self.known.insert(path.to_path_buf(), entry);
    }

    /// Forgets the quarter of the files that was written to longest ago: the others are the ones that are asked for.
    fn make_room(&mut self) {
        let mut files: Vec<(i64, PathBuf)> =
            self.known.iter().map(|(path, entry)| (entry.stamp.mtime_ns, path.clone())).collect();
        files.sort_unstable();
        for (_, path) in files.iter().take(MAX_CACHE_ENTRIES / 4) {
            self.forget(path);
        }
    }

    /// Whether a thread that is not among the known files is worth looking for in a store of this many files, and then
    /// whether first lines are to be read for it too.
    pub fn seek(&mut self, id: &str, files: usize) -> Option<bool> {
        if self.lost.len() >= LOST && !self.lost.contains_key(id) {
            self.lost.clear();
        }
        let lost = self.lost.entry(id.to_owned()).or_default();
        let more = lost.rounds < ROUNDS;
        let changed = std::mem::replace(&mut lost.files, files) != files;
        (more || changed).then_some(more)
    }

    /// First lines were read for a thread.
    pub fn sought(&mut self, id: &str) {
        if let Some(lost) = self.lost.get_mut(id) {
            lost.rounds += 1;
        }
    }

    /// Forgets one file, so that it is read again.
    fn forget(&mut self, path: &Path) -> Option<Entry> {
        let entry = self.known.remove(path)?;
        for id in ids(&entry.meta) {
            if let Some(files) = self.index.get_mut(id) {
                files.retain(|file| file != path);
                if files.is_empty() {
                    self.index.remove(id);
                }
            }
        }
        Some(entry)
    }

    /// Has the file at `path` read again, since it is not the one it was.
    pub fn doubt(&mut self, path: &Path) {
        self.forget(path);
    }

    /// Drops files that are gone once there are more than the store holds.
    pub fn prune(&mut self, files: usize, is_there: impl Fn(&Path) -> bool) {
        if self.known.len() <= files {
            return;
        }
        let gone: Vec<PathBuf> = self.known.keys().filter(|path| !is_there(path)).cloned().collect();
        for path in gone {
            self.forget(&path);
        }
    }

    /// Whether the file's line 1 has been asked for.
    pub fn has(&self, path: &Path) -> bool {
        self.known.contains_key(path)
    }

    /// The files of a thread or of a root's session.
    pub fn files_of(&self, id: &str) -> impl Iterator<Item = (&PathBuf, &Arc<Meta>)> {
        let files = self.index.get(id).into_iter().flatten();
        files.filter_map(|path| Some((path, &self.known.get(path)?.meta)))
    }
}

fn ids(meta: &Meta) -> impl Iterator<Item = &str> {
    // A child's session is its root's id, under which it must not be found.
    let session = (!meta.is_child && meta.session != meta.thread).then_some(meta.session.as_str());
    session.into_iter().chain([meta.thread.as_str()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(at: i64) -> Stamp {
        Stamp { mtime_ns: at * 1_000_000_000, len: 9, ..Stamp::default() }
    }

    fn keep(headers: &mut Headers, n: usize) -> PathBuf {
        let path = PathBuf::from(format!("/s/rollout-{n}.jsonl"));
        let meta = Arc::new(Meta { thread: format!("thread-{n}"), ..Meta::of_name(&path) });
        headers.keep(&path, Entry { stamp: stamp(n as i64), settled: true, meta, fault: None });
        path
    }

    /// FIELD-046, CODEX-017: however many rollouts there are, those written last are remembered and found by their ids.
    #[test]
    fn field_046_the_newest_stay_in_a_full_memory() {
        let mut headers = Headers::default();
        for n in 0..MAX_CACHE_ENTRIES {
            keep(&mut headers, n);
        }
        assert_eq!(headers.known.len(), MAX_CACHE_ENTRIES);
        let newest = keep(&mut headers, 100_000);
        assert!(headers.known.len() <= MAX_CACHE_ENTRIES * 3 / 4 + 1);
        assert!(headers.has(&newest) && headers.has(Path::new("/s/rollout-8191.jsonl")));
        assert!(!headers.has(Path::new("/s/rollout-0.jsonl")));
        assert_eq!(headers.files_of("thread-100000").count(), 1);
        assert_eq!(headers.files_of("thread-0").count(), 0);
        // Old ones are remembered as well, for the next that asks, and never push out what is newer.
        keep(&mut headers, 0);
        for n in 0..MAX_CACHE_ENTRIES {
            keep(&mut headers, n);
            assert!(headers.known.len() <= MAX_CACHE_ENTRIES);
        }
        assert!(headers.has(&newest));
    }

    /// FIELD-046, CODEX-053: a parent that is nowhere is looked for a bounded number of times, and by name again only
    /// when the store holds another number of files.
    #[test]
    fn field_046_a_thread_that_is_nowhere_is_not_sought_for_ever() {
        let mut headers = Headers::default();
        for _ in 0..ROUNDS {
            assert_eq!(headers.seek("gone", 20_000), Some(true));
            headers.sought("gone");
        }
        assert_eq!(headers.seek("gone", 20_000), None);
        assert_eq!(headers.seek("gone", 20_001), Some(false));
        assert_eq!(headers.seek("gone", 20_001), None);
        assert_eq!(headers.seek("other", 20_001), Some(true));
        for n in 0..LOST {
            headers.seek(&n.to_string(), 1);
        }
        assert!(headers.lost.len() <= LOST);
    }
}
