//! One database and what was last read of it: read again only when it moved, kept while its owner holds it locked,
//! asked ever more rarely while it cannot be read.

use crate::harness::pause::Pause;
use crate::surface::sqlite::{Database, Moved, PATIENCE, StoreError};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    /// None after the first failure: what was met may be gone at the next pass.
    pause: Pause,
}

impl Trouble {
    fn is_over(&self, look: &Look) -> bool {
        // A lock leaves no trace when it goes, and a store that is written under one must not be tried at every write.
        let waits = matches!(self.error, StoreError::Locked | StoreError::Changed | StoreError::Slow);
        (!waits && (look.named || look.moved != self.moved)) || self.pause.is_over(look.now)
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

    /// Reads the store when that is due. `read` gets what was read before; whatever it answers, a handle lives no
    /// longer than this call. Returns whether the store was tried.
    pub fn refresh(&mut self, look: &Look, read: impl Fn(&Database, Option<&T>) -> Result<T, StoreError>) -> bool {
        if !self.is_due(look) {
            return false;
        }
        let before = self.reading.as_ref().map(|r| &r.value);
        let outcome = super::snapshot(&self.path, look.patience, |db| read(db, before));
        let outcome = outcome.map(|(value, moved)| Reading { value, moved, at: look.now });
        match outcome {
            Ok(reading) => {
                self.reading = Some(reading);
                self.trouble = None;
            }
            Err(error) => {
                if !error.passes() {
                    self.reading = None;
                }
                let mut pause = Pause::default();
                if let Some(before) = &self.trouble {
                    pause = before.pause;
                    pause.failed(look.now);
                }
                self.trouble = Some(Trouble { error, moved: look.moved, pause });
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

    fn troubled(error: StoreError, failures: u32) -> Kept<()> {
        let mut pause = Pause::default();
        (1..failures).for_each(|_| pause.failed(100.0));
        let trouble = Trouble { error, moved: moved(1), pause };
        Kept { path: PathBuf::new(), reading: None, trouble: Some(trouble) }
    }

    /// FIELD-046: a failing store backs off.
    #[test]
    fn trust_037_field_046_a_failing_store_is_tried_with_a_growing_pause() {
        let due = |error: StoreError, failures, now, n, named| {
            troubled(error, failures).is_due(&Look::new(now, moved(n), named, true))
        };
        assert!(due(StoreError::Locked, 1, 100.0, 1, false), "once more at the next pass");
        assert!(!due(StoreError::Locked, 2, 101.5, 1, false));
        assert!(!due(StoreError::Locked, 2, 101.5, 2, true), "a writer under its lock is not tried at every write");
        assert!(due(StoreError::Locked, 2, 102.0, 1, false));
        assert!(!due(StoreError::Locked, 40, 159.0, 1, false) && due(StoreError::Locked, 40, 160.0, 1, false));
        assert!(due(StoreError::Locked, 40, 99.0, 1, false), "a clock set back freezes nothing");
        let corrupt = || StoreError::Corrupt("x".into());
        assert!(!due(corrupt(), 9, 101.0, 1, false));
        assert!(due(corrupt(), 9, 101.0, 2, false), "another file stands there");
        assert!(due(corrupt(), 9, 101.0, 1, true));
    }

    #[test]
    fn a_store_that_fails_again_and_again_is_asked_more_and_more_rarely() {
        let mut kept: Kept<()> = Kept::new(PathBuf::from("/nonexistent/store.db"));
        let tries = (0..600)
            .filter(|now| kept.refresh(&Look::new(f64::from(*now), Moved::default(), false, false), |_, _| Ok(())));
        assert_eq!(tries.collect::<Vec<_>>()[..8], [0, 1, 3, 7, 15, 31, 63, 123]);
        assert_eq!(kept.trouble(), Some(&StoreError::Missing));
    }

    /// OC-028: one display window.
    #[test]
    fn oc_028_a_reading_outlives_a_lock_for_one_window() {
        let reading = || Some(Reading { value: 7, moved: moved(1), at: 100.0 });
        let trouble = Some(Trouble { error: StoreError::Locked, moved: moved(1), pause: Pause::default() });
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
