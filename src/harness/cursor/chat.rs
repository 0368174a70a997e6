//! What is remembered of one chat store.

use super::META_JSON;
use crate::harness::pause::Pause;
use crate::surface::read::{self, Kind, Stamp};
use crate::surface::sqlite::StoreError;
use std::path::Path;

/// One chat, made fit to publish.
#[derive(Default)]
pub struct Chat {
    pub name: Option<String>,
    /// Codename of the newest readable message's model, verbatim (CUR-013).
    pub model: Option<String>,
    /// The agent that started it.
    pub parent: Option<String>,
    /// What kind of subagent it is.
    pub kind: Option<String>,
    /// An existing directory.
    pub workspace: Option<String>,
    /// A standing permission gate: when it began, seconds since the epoch, 0 when that is unreadable.
    pub gate: Option<f64>,
    /// Readings that could not be taken (ROW-070).
    pub gaps: Vec<&'static str>,
    /// Why, where the store refused them.
    pub faults: Vec<StoreError>,
    /// The file beside the store when it was read.
    pub meta: Option<Stamp>,
    pub blobs: Blobs,
    /// The gate was asked for in vain, so the store is read again although it does not move: a standing gate freezes
    /// it (CUR-022).
    pub gate_failed: bool,
    pub pause: Pause,
}

/// How far the blobs have been searched. They are only ever appended; when that does not hold, all are searched anew.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Blobs {
    pub count: i64,
    /// Largest row number.
    pub last: i64,
    /// When the gate began that the newest carrier shows, as in [`Chat::gate`]; `None` when it shows none or there is
    /// no carrier.
    pub gate: Option<f64>,
}

impl Chat {
    /// Notes a reading that the store refused.
    pub fn lacks(&mut self, gap: &'static str, why: StoreError) {
        self.gaps.push(gap);
        if !self.faults.contains(&why) {
            self.faults.push(why);
        }
    }

    /// Whether the file beside the store is another one than was read.
    pub fn meta_moved(&self, dir: &Path) -> bool {
        let now = read::look(&dir.join(META_JSON)).ok().filter(|e| e.kind == Kind::File);
        now.map(|e| e.stamp) != self.meta
    }

    /// Whether the gate has to be asked for again now.
    pub fn owes_gate(&self, now: f64) -> bool {
        self.gate_failed && self.pause.is_over(now)
    }
}
