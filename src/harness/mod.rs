//! One reader per harness behind one trait. No harness knows another; what they share is in the modules without a
//! harness's name: [`tree`] (which files there are), [`tail`] (new lines of a file), [`line`] (records).

pub mod about;
pub mod antigravity;
pub mod blocks;
pub mod boot;
pub mod claude;
pub mod codex;
pub mod copilot;
pub mod cursor;
pub mod degrades;
pub mod droid;
pub mod follow;
pub mod gemini;
pub mod goose;
pub mod head;
pub mod identity;
pub mod late;
pub mod line;
pub mod opencode;
pub mod pause;
pub mod pi;
pub mod place;
pub mod probe;
pub mod registry;
pub mod seek;
pub mod shape;
pub mod sql;
pub mod story;
pub mod tail;
#[cfg(test)]
mod testkit;
pub mod tree;

use crate::model::quota::Quota;
use crate::model::{Degrade, Key, Observed};
use crate::surface::watch::{Dirty, Watch};

/// One pass over the stores, handed to every reader.
pub struct Pass<'a> {
    /// The collection's single clock reading, seconds since the epoch.
    pub now: f64,
    /// Display window in seconds; with `all` sessions outside it are reported too, unread.
    pub window: f64,
    /// Every session ever is wanted (`all=1`).
    pub all: bool,
    /// What the kernel said changed since the last pass.
    pub dirty: &'a Dirty,
    /// Look at everything once more, whatever the kernel said.
    pub sweep: bool,
    pub watch: &'a Watch,
}

impl Pass<'_> {
    /// Whether a session with this newest activity belongs to the display window (ROW-053).
    pub fn in_window(&self, last_activity: f64) -> bool {
        crate::model::time::fresh(last_activity, self.window, self.now)
    }
}

/// What one reader found in one pass.
#[derive(Default)]
pub struct Collected {
    pub rows: Vec<Observed>,
    /// Stores or files that failed, path to `<Type>: <message>` (PAYLOAD-005); shown by `--diagnose` alone.
    pub store_errors: Vec<(String, String)>,
    /// Degrades of the harness as a whole; what its rows lack is added where they are joined ([`degrades::collect`]).
    pub degrades: Vec<Degrade>,
    /// A bound ended the reading: another pass takes it up, although nothing changed.
    pub more: bool,
}

/// A reader of one harness's store. It keeps its own caches from pass to pass and never writes to the store.
pub trait Collector: Send {
    fn key(&self) -> Key;

    /// Whether the harness has a store here; cheap, asked every pass.
    fn discovered(&mut self) -> bool;

    /// What stands where the store should be although none is there, asked while the harness is not discovered; no
    /// rows.
    fn absence(&mut self, _pass: &Pass<'_>) -> Collected {
        Collected::default()
    }

    /// Reads what changed and reports every session. An `Err` is an error that invalidates the whole harness for this
    /// pass (`<Type>: <message>`); anything smaller costs its session or file only.
    fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String>;

    /// Quota figures the store itself holds, as of the last [`Collector::collect`].
    fn quota(&self, _pass: &Pass<'_>) -> Option<Quota> {
        None
    }
}
