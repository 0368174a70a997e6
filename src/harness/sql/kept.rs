//! One database and what was last read of it: read again only when it moved, kept while its owner holds it locked,
//! asked ever more rarely while it cannot be read.

use crate::surface::sqlite::{Database, Moved, PATIENCE, StoreError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest pause between two tries, seconds (TRUST-037).
const PAUSE_MAX_SEC: f64 = 60.0;

/// Why and how a store is looked at now.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The collection's clock.
    pub now: f64,
    /// The store as it stands.
    pub moved: Moved,
    /// The kernel named it or its log as changed since the last pass.
    pub named: bool,
    /// What was read does not suffice for this pass.
    pub again: bool,
    pub patience: Duration,
}

impl Look {
    /// A look with the usual patience.
    pub fn new(now: f64, moved: Moved, named: bool, again: bool) -> Look {
        Look { now, moved, named, again, patience: PATIENCE }
    }
}

struct Reading<T> {
    value: T,
    moved: Moved,
    /// Clock of the pass that read it.
    at: f64,
}

struct Trouble {
    error: StoreError,
    moved: Moved,
    at: f64,
    /// Tries that failed in a row.
    tries: u32,
}

impl Trouble {
    /// Seconds until the next try: none after the first failure, then 1, 2, 4 and so on.
    fn pause(&self) -> f64 {
        match self.tries {
            0 | 1 => 0.0,
            n => f64::from(2u32.saturating_pow(n - 2)).min(PAUSE_MAX_SEC),
        }
    }

    fn is_over(&self, look: &Look) -> bool {
        // A lock leaves no trace when it goes, and a store that is written under one must not be tried at every write.
        let waits = matches!(self.error, StoreError::Locked | StoreError::Changed | StoreError::Slow);
        let moved = !waits && (look.named || look.moved != self.moved);
        moved || !(0.0..self.pause()).contains(&(look.now - self.at))
    }
}

/// A database with its reading.
pub struct Kept<T> {
    path: PathBuf,
    reading: Option<Reading<T>>,
    trouble: Option<Trouble>,
}

impl<T> Kept<T> {
    /// A database of which nothing is read yet.
    pub fn new(path: PathBuf) -> Kept<T> {
        Kept { path, reading: None, trouble: None }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a read is due.
    pub fn is_due(&self, look: &Look) -> bool {
        match (&self.trouble, &self.reading) {
            (Some(trouble), _) => trouble.is_over(look),
            (None, None) => true,
            (None, Some(reading)) => {
                // A clock set back makes every age wrong that was judged when the reading was made.
                look.again || look.named || look.moved != reading.moved || look.now + 1.0 < reading.at
            }
        }
    }

    /// Reads the store when that is due. `read` gets what was read before; whatever it answers, a handle lives no longer
    /// than this call. Returns whether the store was tried.
    pub fn refresh(&mut self, look: &Look, read: impl FnOnce(&Database, Option<&T>) -> Result<T, StoreError>) -> bool {
        if !self.is_due(look) {
            return false;
        }
        let before = self.reading.as_ref().map(|r| &r.value);
        let outcome = Database::open_within(&self.path, look.patience).and_then(|db| {
            let value = db.snapshot(|db| read(db, before))?;
            Ok(Reading { value, moved: db.moved(), at: look.now })
        });
        match outcome {
            Ok(reading) => {
                self.reading = Some(reading);
                self.trouble = None;
            }
            Err(error) => {
                if !error.passes() {
                    self.reading = None;
                }
                let tries = self.trouble.as_ref().map_or(0, |t| t.tries).saturating_add(1);
                self.trouble = Some(Trouble { error, moved: look.moved, at: look.now, tries });
            }
        }
        true
    }

    /// What was last read. It outlives a lock, or another obstacle that may pass, for `window` seconds (OC-028).
    pub fn value(&self, now: f64, window: f64) -> Option<&T> {
        let reading = self.reading.as_ref()?;
        (self.trouble.is_none() || now - reading.at <= window).then_some(&reading.value)
    }

    /// As [`Kept::value`], to be changed in place.
    pub fn value_mut(&mut self) -> Option<&mut T> {
        self.reading.as_mut().map(|r| &mut r.value)
    }

    /// What the last try met, until one succeeds.
    pub fn trouble(&self) -> Option<&StoreError> {
        self.trouble.as_ref().map(|t| &t.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::read::Stamp;

    fn moved(n: u64) -> Moved {
        Moved { file: Some(Stamp { len: n, ..Stamp::default() }), wal: None }
    }

    fn troubled(error: StoreError, tries: u32) -> Kept<()> {
        let trouble = Trouble { error, moved: moved(1), at: 100.0, tries };
        Kept { path: PathBuf::new(), reading: None, trouble: Some(trouble) }
    }

    #[test]
    fn trust_037_field_046_a_failing_store_is_tried_with_a_growing_pause() {
        let due = |error: StoreError, tries, now, n, named| {
            troubled(error, tries).is_due(&Look::new(now, moved(n), named, true))
        };
        assert!(due(StoreError::Locked, 1, 100.0, 1, false), "once more at the next pass");
        assert!(!due(StoreError::Locked, 2, 100.5, 1, false));
        assert!(!due(StoreError::Locked, 2, 100.5, 2, true), "a writer under its lock is not tried at every write");
        assert!(due(StoreError::Locked, 2, 101.0, 1, false));
        assert!(!due(StoreError::Locked, 5, 107.0, 1, false) && due(StoreError::Locked, 5, 108.0, 1, false));
        assert!(!due(StoreError::Locked, 40, 159.0, 1, false) && due(StoreError::Locked, 40, 160.0, 1, false));
        assert!(due(StoreError::Locked, 40, 99.0, 1, false), "a clock set back freezes nothing");
        let corrupt = || StoreError::Corrupt("x".into());
        assert!(!due(corrupt(), 9, 101.0, 1, false));
        assert!(due(corrupt(), 9, 101.0, 2, false), "another file stands there");
        assert!(due(corrupt(), 9, 101.0, 1, true));
    }

    #[test]
    fn oc_028_a_reading_outlives_a_lock_for_one_window() {
        let reading = || Some(Reading { value: 7, moved: moved(1), at: 100.0 });
        let trouble = Some(Trouble { error: StoreError::Locked, moved: moved(1), at: 110.0, tries: 1 });
        let kept = Kept { path: PathBuf::new(), reading: reading(), trouble };
        assert_eq!((kept.value(150.0, 50.0), kept.value(151.0, 50.0)), (Some(&7), None));
        let kept = Kept { path: PathBuf::new(), reading: reading(), trouble: None };
        assert_eq!(kept.value(1e9, 50.0), Some(&7), "an unchanged store is never stale");
        assert!(!kept.is_due(&Look::new(200.0, moved(1), false, false)));
        assert!(kept.is_due(&Look::new(200.0, moved(2), false, false)));
        assert!(kept.is_due(&Look::new(200.0, moved(1), true, false)));
        assert!(kept.is_due(&Look::new(50.0, moved(1), false, false)), "the clock was set back");
    }
}
