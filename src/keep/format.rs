//! What the stores share in words: the format a store has to name, what a change came to, and how a file was found.
//! Nothing here opens, writes or waits.

use crate::counters::Counters;
use std::sync::Arc;

/// Where a store says what went wrong.
#[derive(Clone)]
pub struct Tell {
    /// Prints one diagnostic line.
    pub say: Arc<dyn Fn(&str) + Send + Sync>,
    /// Counts refusals and failed writes.
    pub counters: Arc<Counters>,
}

/// What holds other processes off during a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The directory's own lock, best effort.
    Folder,
    /// A lock file of this name; without it nothing is written (ANN-005).
    File(&'static str),
}

/// What a write does to a file whose content is not a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBroken {
    /// Leaves it: nothing is written while it stands.
    Leave,
    /// Writes over it: the reset was published.
    Discard,
    /// Moves it to this name first.
    Aside(&'static str),
}

/// What applying a change came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The value is different now.
    Changed,
    /// It said so already.
    Same,
    /// The change was made for a value that is gone; it is dropped.
    Stale,
}

/// The kept entries do not fit the file even when everything that may go is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// The format of one store: its one owner.
pub trait Format: Send + Sync + 'static {
    /// What the file says.
    type Value: Clone + Default + Send + Sync;
    /// One change of it, decided and ready to be made.
    type Change: Clone + Send;
    /// The file below the state directory.
    const FILE: &'static str;
    /// Its name in messages, and the member of the counter family `write.failed`.
    const NAME: &'static str;
    /// How other processes are held off.
    const GUARD: Guard = Guard::Folder;
    /// What a write does to a file that is not a store.
    const ON_BROKEN: OnBroken;
    /// Whether a file that vanished takes along what was not yet written (HIST-012).
    const FORGETS: bool = false;
    /// Whether an acknowledged change outlives a power cut, not only the end of the process: so for what a person did.
    /// What the board merely observed costs one flush less a write.
    const LASTS: bool = true;

    /// Longest file read and written, bytes.
    fn cap(&self) -> usize;
    /// Reads a file; the error names the reset.
    fn parse(&self, bytes: &[u8]) -> Result<Self::Value, &'static str>;
    /// Makes a change.
    fn apply(&self, value: &mut Self::Value, change: &Self::Change) -> Applied;
    /// Drops what is beyond the caps, never what `change` is about, and writes the rest down.
    fn render(&self, value: &mut Self::Value, change: Option<&Self::Change>) -> Result<Vec<u8>, TooLarge>;
}

/// Why a change is not on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The file is there and cannot be read whole; it was left alone.
    Untrusted,
    /// Another writer held the lock for all of the wait, or the lock cannot be had by this user.
    Locked,
    /// The write failed, or the home cannot be made.
    Write,
    /// It does not fit even alone.
    TooLarge,
}

/// What a change came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// Nothing had to be written: the file says so already.
    Nothing,
    /// It is on disk.
    Written,
    /// It is not on disk; `held` tells whether it holds for this run.
    Not { why: Why, held: bool },
}

impl Saved {
    /// Whether what was asked for is on disk.
    pub fn persisted(&self) -> bool {
        !matches!(self, Saved::Not { .. })
    }
}

/// How much of a file there is to rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Read whole, or not there.
    Sound,
    /// Its content is not a store; the reset reason.
    Broken(&'static str),
    /// It could not be read: no permission, no regular file, a failing disk.
    Unreadable,
}
