//! Transcripts whose file time lies before the display window though their records do not, as a copy's may that kept the
//! time of another file (DROID-016, PI-024).
//!
//! Only the end of such a file is looked at, once for each state of the file, on sweeps and a few files in each pass, so
//! that a store of old sessions costs next to nothing.

use super::Pass;
use super::tree::File;
use crate::config::MAX_CACHE_ENTRIES;
use crate::model::time::age;
use crate::surface::read::{Reader, Stamp};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// How much of a file's end is looked at, bytes.
const LOOK: u64 = 16 * 1024;
/// Files looked at in one pass.
const TURNS: usize = 64;

/// The time of a record, seconds since the epoch; `None` when the line is none or bears none.
pub type StampOf = fn(&[u8]) -> Option<f64>;

/// What is known of the ends of old files.
pub struct Late {
    stamp_of: StampOf,
    known: HashMap<PathBuf, (Stamp, f64)>,
    /// Those with a record in the window when they were last judged.
    fresh: HashMap<PathBuf, f64>,
    /// Some files were not looked at yet.
    pending: bool,
}

impl Late {
    /// Nothing is known yet.
    pub fn new(stamp_of: StampOf) -> Late {
        Late { stamp_of, known: HashMap::new(), fresh: HashMap::new(), pending: true }
    }

    /// Looks at files that changed, given by directory, name and stamp: on a sweep, and while some are left from one.
    pub fn refresh<'t>(&mut self, files: impl Iterator<Item = (&'t Path, &'t OsStr, &'t File)>, pass: &Pass<'_>) {
        if !pass.sweep && !self.pending {
            return;
        }
        let before = std::mem::take(&mut self.known);
        self.fresh.clear();
        self.pending = false;
        let mut turns = TURNS;
        for (dir, name, file) in files.filter(|(_, _, file)| is_old(file.stamp, pass)) {
            let path = dir.join(name);
            let at = match before.get(&path) {
                Some((stamp, at)) if *stamp == file.stamp => *at,
                _ if turns > 0 && self.known.len() < MAX_CACHE_ENTRIES => {
                    turns -= 1;
                    newest(&path, self.stamp_of, pass.now)
                }
                _ => {
                    self.pending |= self.known.len() < MAX_CACHE_ENTRIES;
                    continue;
                }
            };
            if pass.in_window(at) {
                self.fresh.insert(path.clone(), at);
            }
            self.known.insert(path, (file.stamp, at));
        }
    }

    /// Whether a file counts for its records although it is old.
    pub fn counts(&self, path: &Path, pass: &Pass<'_>) -> bool {
        self.fresh.get(path).is_some_and(|at| pass.in_window(*at))
    }

    /// As [`Late::counts`], for a name in a directory; costs nothing where no file counts.
    pub fn counts_in(&self, dir: &Path, name: &OsStr, pass: &Pass<'_>) -> bool {
        !self.fresh.is_empty() && self.counts(&dir.join(name), pass)
    }
}

/// Written before the window, by a time that is believed.
fn is_old(stamp: Stamp, pass: &Pass<'_>) -> bool {
    age(stamp.mtime(), pass.now).is_some_and(|age| age > pass.window)
}

/// The newest believable stamp in the end of a file, 0 when there is none.
fn newest(path: &Path, stamp_of: StampOf, now: f64) -> f64 {
    let Ok(mut file) = Reader::open(path) else { return 0.0 };
    let len = file.stamp().len;
    let bytes = file.range(len.saturating_sub(LOOK), len).unwrap_or_default();
    // A line that is cut at the beginning is no record, and one without an end is not there yet.
    let end = memchr::memrchr(b'\n', &bytes).unwrap_or(0);
    let lines = bytes.get(..end).unwrap_or_default().split(|byte| *byte == b'\n');
    let stamps = lines.filter_map(stamp_of).filter(|at| age(*at, now).is_some());
    stamps.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::testkit::{NOW, Scratch, WINDOW};
    use crate::harness::tree::{Take, Tree};
    use crate::surface::watch::{Dirty, Watch};

    fn stamp(line: &[u8]) -> Option<f64> {
        std::str::from_utf8(line).ok()?.parse().ok()
    }

    /// DROID-016, PI-024: old files with new records are found, a few in each pass, and looked at once.
    #[test]
    fn droid_016_pi_024_old_files_with_new_records_are_found_in_turns() {
        let s = Scratch::new("late");
        for i in 0..100 {
            s.write(&format!("old{i:03}"), format!("{}\n", NOW - 2.0 * WINDOW), NOW - 2.0 * WINDOW);
        }
        s.write("zz copy", format!("{}\n{}\nunfinished", NOW - 5.0, NOW + 1e6), NOW - 2.0 * WINDOW);
        s.write("zz long", "x".repeat(40_000) + &format!("\n{}\n", NOW - 7.0), NOW - 2.0 * WINDOW);
        s.write("zz ahead", format!("{}\n", NOW - 5.0), NOW + WINDOW);
        s.write("zz empty", "", NOW - 2.0 * WINDOW);
        let (watch, dirty) = (Watch::off(), Dirty::default());
        let pass = |now| Pass { now, window: WINDOW, all: false, dirty: &dirty, sweep: true, watch: &watch };
        let mut tree = Tree::new(s.0.clone(), |_, _| Take::File);
        tree.refresh(&pass(NOW));
        let mut late = Late::new(stamp);
        let counts = |late: &Late, now: f64| -> Vec<String> {
            let files = tree.files().filter(|(dir, name, _)| late.counts_in(dir, name, &pass(now)));
            files.map(|(_, name, _)| name.to_string_lossy().into_owned()).collect()
        };
        late.refresh(tree.files(), &pass(NOW));
        assert_eq!((late.known.len(), late.pending, counts(&late, NOW).len()), (TURNS, true, 0));
        late.refresh(tree.files(), &pass(NOW));
        assert_eq!((late.pending, counts(&late, NOW)), (false, vec!["zz copy".to_owned(), "zz long".to_owned()]));
        std::fs::write(s.0.join("zz copy"), "gone").unwrap();
        late.refresh(tree.files(), &pass(NOW));
        assert_eq!(counts(&late, NOW).len(), 2, "nothing is opened again");
        assert_eq!(counts(&late, NOW + WINDOW - 6.0), ["zz copy"], "and each leaves the window by its records");
    }
}
