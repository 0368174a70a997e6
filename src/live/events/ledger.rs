//! The overlay ledger and the marks beside it (EVT sections 5 and 7). Pure state under the owner's lock: no file, no
//! process and no collection is reached from here.

use super::envelope::{Envelope, Event};
use crate::model::Key;
use std::collections::{HashMap, HashSet};

/// Sessions with overlays, stop marks, instances: refused beyond, never evicted (EVT-051).
pub const MAX_SESSIONS: usize = 512;
/// Sessions whose row no collection has produced yet.
pub const MAX_PENDING: usize = 256;
/// How long such a session is waited for, seconds.
pub const PENDING_TTL: f64 = 60.0;
/// Subagent slots of one session; the oldest goes first (EVT-052).
const MAX_CHILDREN: usize = 64;
const WORKING_TTL: f64 = 90.0;
const IDLE_DWELL: f64 = 3.0;

/// A row's key.
pub type RowKey = (Key, String);

/// What an overlay says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Working,
    NeedsInput,
    Idle,
    Subagent,
}

impl Kind {
    /// The name in the overlay listing.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Working => "working",
            Kind::NeedsInput => "needs_input",
            Kind::Idle => "idle",
            Kind::Subagent => "subagent",
        }
    }
}

/// A patch of a row's state that an event left.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlay {
    pub kind: Kind,
    /// Order of arrival in this process; the only ordering that fences anything (EVT-040).
    pub arrival_seq: u64,
    pub at: f64,
    pub effective_at: f64,
    pub expires_at: Option<f64>,
    pub subagent_id: Option<String>,
}

impl Overlay {
    /// Whether it is in force at `now`.
    pub fn open(&self, now: f64) -> bool {
        now >= self.effective_at && self.expires_at.is_none_or(|until| now < until)
    }
}

/// Where observed session ends are kept beyond this process (EVT-080). Called outside every lock.
pub trait Ends: Send + Sync {
    /// Remembers an end.
    fn mark(&self, key: &RowKey, at: f64);
    /// Forgets one, if there is one.
    fn lift(&self, key: &RowKey);
    /// All that is remembered.
    fn all(&self) -> HashMap<RowKey, f64>;
    /// Why what was stored could not be used, when it could not (EVT-089).
    fn reset(&self) -> Option<&'static str> {
        None
    }
}

/// Keeps nothing beyond the process.
pub struct NoEnds;

impl Ends for NoEnds {
    fn mark(&self, _key: &RowKey, _at: f64) {}
    fn lift(&self, _key: &RowKey) {}
    fn all(&self) -> HashMap<RowKey, f64> {
        HashMap::new()
    }
}

/// What an accepted event asks of others, outside the lock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// Skips the coalescing window.
    pub urgent: bool,
    /// Everything must be looked at again.
    pub reconcile: bool,
    /// Store this end.
    pub mark_end: Option<f64>,
    /// Remove the stored end.
    pub lift_end: bool,
}

/// Overlays, pending sessions and marks.
#[derive(Debug, Default)]
pub struct Ledger {
    pub arrival_seq: u64,
    pub overlays: HashMap<RowKey, Vec<Overlay>>,
    /// Since when a session with overlays has had no row.
    pub pending: HashMap<RowKey, f64>,
    /// Sessions for which there was no room among the pending ones: they stay until a row matches them (EVT-053).
    unlisted: HashSet<RowKey>,
    pub stops: HashMap<RowKey, f64>,
    pub ends: HashMap<RowKey, f64>,
    instances: HashMap<(RowKey, String), u64>,
    /// Rows of the newest collections, to tell pending sessions.
    known: HashSet<RowKey>,
}

impl Ledger {
    /// Counts an arrival, accepted or not.
    pub fn arrive(&mut self) -> u64 {
        self.arrival_seq += 1;
        self.arrival_seq
    }

    /// Records an accepted event. `count` is told the name of every bound or refusal met.
    pub fn record(&mut self, seq: u64, event: &Envelope, now: f64, count: &dyn Fn(&str)) -> Asked {
        let key = (event.harness, event.sid.clone());
        let mut asked = Asked::default();
        if self.is_stale(&key, event) {
            count("overlay.stale");
            // It is late for the row's state and still a hint (EVT-042).
            asked.reconcile = event.event == Event::ReconcileRequired;
            return asked;
        }
        match event.event {
            Event::SessionStarted => {
                self.ends.remove(&key);
                asked.lift_end = true;
            }
            Event::SessionEnded => {
                self.overlays.remove(&key);
                self.pending.remove(&key);
                self.unlisted.remove(&key);
                count("retired");
                let at = self.ends.get(&key).copied().unwrap_or(0.0).max(event.at);
                if self.ends.len() < MAX_SESSIONS || self.ends.contains_key(&key) {
                    self.ends.insert(key, at);
                }
                asked.mark_end = Some(at);
            }
            Event::TurnStarted | Event::InputResolved => self.put(key, overlay(Kind::Working, seq, event), now, count),
            Event::TurnStopped => {
                self.stop(&key, event.at, count);
                self.put(key, overlay(Kind::Idle, seq, event), now, count);
            }
            Event::InputRequested => {
                asked.urgent = true;
                self.put(key, overlay(Kind::NeedsInput, seq, event), now, count);
            }
            Event::SubagentStarted | Event::SubagentStopped => {
                self.put(key, overlay(Kind::Subagent, seq, event), now, count);
            }
            Event::ReconcileRequired => asked.reconcile = true,
            Event::TasksChanged | Event::StoreChanged | Event::CommandShapeReported => {}
        }
        asked
    }

    /// Whether a source that numbers its events sent this one late (EVT-042).
    fn is_stale(&mut self, key: &RowKey, event: &Envelope) -> bool {
        let (Some(instance), Some(sequence)) = (&event.source_instance_id, event.source_sequence) else { return false };
        let slot = (key.clone(), instance.clone());
        if let Some(seen) = self.instances.get_mut(&slot) {
            let stale = sequence <= *seen;
            *seen = sequence.max(*seen);
            return stale;
        }
        if self.instances.len() < MAX_SESSIONS {
            self.instances.insert(slot, sequence);
        }
        false
    }

    fn stop(&mut self, key: &RowKey, at: f64, count: &dyn Fn(&str)) {
        let room = self.stops.len() < MAX_SESSIONS;
        match self.stops.get_mut(key) {
            Some(mark) => *mark = mark.max(at),
            None if room => drop(self.stops.insert(key.clone(), at)),
            None => count("finished.refused"),
        }
    }

    fn put(&mut self, key: RowKey, new: Overlay, now: f64, count: &dyn Fn(&str)) {
        if matches!(new.kind, Kind::Working | Kind::NeedsInput) {
            self.stops.remove(&key);
        }
        if !self.overlays.contains_key(&key) && self.overlays.len() >= MAX_SESSIONS {
            count("overlay.refused");
            return;
        }
        let slots = self.overlays.entry(key.clone()).or_default();
        match slots.iter_mut().find(|o| o.kind == new.kind && o.subagent_id == new.subagent_id) {
            Some(old) if old.arrival_seq < new.arrival_seq => *old = new,
            Some(_) => count("overlay.stale"),
            None => slots.push(new),
        }
        let children = slots.iter().filter(|o| o.kind == Kind::Subagent).count();
        if children > MAX_CHILDREN {
            let oldest = slots.iter().filter(|o| o.kind == Kind::Subagent).map(|o| o.arrival_seq).min();
            slots.retain(|o| o.kind != Kind::Subagent || Some(o.arrival_seq) != oldest);
        }
        if !self.known.contains(&key) && !self.pending.contains_key(&key) {
            if self.pending.len() < MAX_PENDING {
                self.unlisted.remove(&key);
                self.pending.insert(key, now);
            } else {
                count("pending.refused");
                self.unlisted.insert(key);
            }
        }
    }

    /// Squares the books with a collection's rows: sessions that have a row wait no more, those that waited too long
    /// go, marks of rows that are gone go.
    pub fn settle(&mut self, rows: HashSet<RowKey>, now: f64, window: f64, count: &dyn Fn(&str)) {
        self.pending.retain(|key, _| !rows.contains(key));
        self.unlisted.retain(|key| !rows.contains(key));
        for key in self.overlays.keys().filter(|key| !rows.contains(*key) && !self.unlisted.contains(*key)) {
            if !self.pending.contains_key(key) && self.pending.len() < MAX_PENDING {
                self.pending.insert(key.clone(), now);
            }
        }
        let late: Vec<RowKey> =
            self.pending.iter().filter(|(_, since)| now - **since >= PENDING_TTL).map(|(k, _)| k.clone()).collect();
        for key in late {
            self.pending.remove(&key);
            self.overlays.remove(&key);
            count("pending.expired");
        }
        let overlays = &self.overlays;
        self.stops.retain(|key, _| rows.contains(key) || overlays.contains_key(key));
        self.ends.retain(|_, at| now - *at <= window);
        self.instances.retain(|(key, _), _| rows.contains(key) || overlays.contains_key(key));
        self.known = rows;
    }

    /// When the first overlay opens or closes after `now`.
    pub fn next_change(&self, now: f64) -> Option<f64> {
        let times = self.overlays.values().flatten().flat_map(|o| [Some(o.effective_at), o.expires_at]).flatten();
        times.filter(|t| *t > now).min_by(f64::total_cmp)
    }
}

fn overlay(kind: Kind, arrival_seq: u64, event: &Envelope) -> Overlay {
    let (effective_at, expires_at) = match (kind, event.event) {
        (Kind::Working, _) => (0.0, Some(event.at + WORKING_TTL)),
        (Kind::NeedsInput, _) | (Kind::Subagent, Event::SubagentStopped) => (0.0, None),
        (Kind::Idle, _) => (event.at + IDLE_DWELL, None),
        (Kind::Subagent, _) => (event.at, None),
    };
    let subagent_id = if kind == Kind::Subagent { event.subagent_id.clone() } else { None };
    Overlay { kind, arrival_seq, at: event.at, effective_at, expires_at, subagent_id }
}
