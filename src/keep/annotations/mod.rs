//! What the reader typed against a session: `cargento-annotations.json` (file 60).
//!
//! A save is decided under a lock all instances share, against the file as it is then. Nothing expires; counts and bytes
//! bound it. A file that cannot be read whole is never written over, and a record of a build that can read more is kept
//! word for word. Nothing here judges the words.

pub mod change;
pub mod entry;
mod publish;
pub mod reading;
pub mod say;
mod slots;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod written;

pub use change::{Action, Observed, Words};
pub use entry::{Assessment, Entry, EntryKey, Source};
pub use publish::{Published, published};
pub use slots::{Body, Slot, Slots};

use super::store::{Format, Health, Saved, Store, Tell, Why};
use crate::config::ANNOTATION_LOCK_WAIT_SEC;
use crate::surface::write::Place;
use change::{Decision, decide};
use entry::{JOBS_MAX, KEY_CAP};
use slots::Change;
use std::sync::Arc;
use std::time::Duration;

/// What a request came to (ANN-046).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Stored,
    Unchanged,
    Refused,
    Unwritable,
    Untrusted,
    Unreadable,
}

impl Outcome {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Stored => "stored",
            Outcome::Unchanged => "unchanged",
            Outcome::Refused => "refused",
            Outcome::Unwritable => "unwritable",
            Outcome::Untrusted => "untrusted",
            Outcome::Unreadable => "unreadable",
        }
    }

    /// Whether the words named are on disk.
    pub const fn persisted(self) -> bool {
        matches!(self, Outcome::Stored | Outcome::Unchanged)
    }
}

/// What a request came to, and the record of its session as this very request left it: another save may follow before
/// the reply is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    pub outcome: Outcome,
    pub slot: Option<Arc<Slot>>,
}

/// What a press for a reading left behind (READ-050, READ-051).
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// A reading; it clears the reason of an earlier press.
    Reading(serde_json::Value),
    /// A token of [`reading::WITHHELD`]; the previous reading stays.
    Withheld(&'static str),
}

/// What became of the discard records (ANN-121).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swept {
    Removed(usize),
    Nothing,
    NotWritable,
    /// The file cannot be read whole; nothing was written.
    Untrusted,
}

/// The store of typed words.
pub struct Annotations(Store<slots::Words>);

impl Annotations {
    /// The store of a home; nothing is read yet.
    pub fn new(place: Place, tell: Tell) -> Self {
        Self::waiting(place, tell, Duration::from_secs_f64(ANNOTATION_LOCK_WAIT_SEC))
    }

    /// As [`Annotations::new`] with another bound on the wait for the lock.
    pub fn waiting(place: Place, tell: Tell, wait: Duration) -> Self {
        Self(Store::new(slots::Words, place, tell, wait))
    }

    /// Does what a request asks, at `now` (seconds since the epoch).
    pub fn save(&self, key: &EntryKey, action: &Action, seen: &Observed, now: f64) -> Done {
        if *action == Action::Nothing {
            return Done { outcome: Outcome::Refused, slot: self.slots().get(&key.0, &key.1).cloned() };
        }
        self.change(key, |entry| decide(key, entry, action, seen, now))
    }

    /// Records what a press came to. `spent` tells whether the model was reached; a job the entry already lists counts
    /// once (READ-042). A session without words takes nothing.
    pub fn record_attempt(&self, key: &EntryKey, job: &str, spent: bool, attempt: &Attempt, now: f64) -> Outcome {
        self.change(key, |entry| {
            let Some(entry) = entry.filter(|entry| !entry.revisions.is_empty()) else { return Decision::Refused };
            if entry.jobs.iter().any(|known| known == job) {
                return Decision::Unchanged;
            }
            let mut next = entry.clone();
            next.jobs.push(job.to_owned());
            let beyond = next.jobs.len().saturating_sub(JOBS_MAX);
            next.jobs.drain(..beyond);
            next.readings += u64::from(spent);
            next.written = now;
            match attempt {
                Attempt::Reading(reading) => {
                    let Some(reading) = reading::read(reading) else { return Decision::Refused };
                    next.assessment = Some(Assessment::Read(reading));
                    next.withheld.clear();
                }
                Attempt::Withheld(token) => reading::sentence(token).unwrap_or_default().clone_into(&mut next.withheld),
            }
            Decision::Store(Box::new(next))
        })
        .outcome
    }

    /// Takes every discard record out and leaves all that was typed. Makes neither a home nor a lock where there is no
    /// store or nothing to take out.
    pub fn sweep(&self) -> Swept {
        let (saved, count) = self.0.update(|slots| {
            let count = slots.discards();
            ((count > 0).then_some(Change::Sweep), count)
        });
        match saved {
            _ if self.0.health() != Health::Sound => Swept::Untrusted,
            Saved::Nothing => Swept::Nothing,
            Saved::Written => Swept::Removed(count),
            Saved::Not { .. } => Swept::NotWritable,
        }
    }

    /// Reads what another instance wrote; never waits for the lock (ANN-007, ANN-008).
    pub fn refresh(&self) {
        self.0.refresh();
    }

    /// The records as known, held words included.
    pub fn slots(&self) -> Arc<Slots> {
        self.0.value()
    }

    /// Whether the file is there and cannot be read whole (ANN-021).
    pub fn is_untrusted(&self) -> bool {
        self.0.health() != Health::Sound
    }

    /// What tells two contents apart (ANN-093).
    pub fn mark(&self) -> Vec<u8> {
        self.0.mark()
    }

    fn change(&self, key: &EntryKey, decide: impl Fn(Option<&Entry>) -> Decision) -> Done {
        let (saved, (outcome, slot, made)) = self.0.update(|slots| {
            let known = slots.get(&key.0, &key.1);
            let as_it_is = |outcome| (None, (outcome, known.cloned(), false));
            if known.is_some_and(|slot| slot.body == Body::Held) {
                return as_it_is(Outcome::Unreadable);
            }
            match decide(known.and_then(|slot| slot.entry())) {
                Decision::Store(entry) => match Slot::of(*entry) {
                    Ok(slot) => {
                        let slot = Arc::new(slot);
                        (Some(Change::put(known, slot.clone())), (Outcome::Stored, Some(slot), true))
                    }
                    Err(_) => as_it_is(Outcome::Unwritable),
                },
                Decision::Done => as_it_is(Outcome::Stored),
                Decision::Unchanged => as_it_is(Outcome::Unchanged),
                Decision::Refused => as_it_is(Outcome::Refused),
            }
        });
        // While the file cannot be read every entry reads as absent, and every change is answered the same.
        if self.is_untrusted() {
            return Done { outcome: Outcome::Untrusted, slot: None };
        }
        // A request that changes nothing is as good as what is on disk of its session, whatever else waits to be written.
        let owed = || made || self.0.holds(|change| change.is_of(key));
        let outcome = match (saved, outcome) {
            (Saved::Not { why: Why::Untrusted, .. }, _) => Outcome::Untrusted,
            (Saved::Not { .. }, Outcome::Stored | Outcome::Unchanged) if owed() => Outcome::Unwritable,
            (_, outcome) => outcome,
        };
        let slot = if outcome == Outcome::Unwritable { self.slots().get(&key.0, &key.1).cloned() } else { slot };
        Done { outcome, slot }
    }
}

/// The session a request or a row names: safe, bounded, trimmed; `None` when nothing is left of a half.
pub fn entry_key(harness: &str, sid: &str) -> Option<EntryKey> {
    let half = |text: &str| super::document::key_half(Some(&serde_json::Value::from(text)), KEY_CAP);
    Some((half(harness)?, half(sid)?))
}

/// The file below the state directory.
pub const FILE: &str = slots::Words::FILE;
