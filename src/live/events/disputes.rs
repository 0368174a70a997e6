//! Where an event and a reader disagreed about a waiting row (EVT-140..142): a ring of episodes.

use super::ledger::{Overlay, RowKey};
use crate::model::State;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet, VecDeque};

const KEPT: usize = 50;

/// One disagreement as it was first seen.
#[derive(Clone, Debug)]
pub struct Episode {
    pub key: RowKey,
    pub overlay_state: State,
    pub own_activity: f64,
    pub last_activity: f64,
    pub overlays: Vec<Overlay>,
}

struct Kept {
    episode: Episode,
    at: f64,
    last_seen_at: f64,
    repeats: u64,
    drops: Value,
}

/// The newest disagreements, and how many there were.
#[derive(Default)]
pub struct Disputes {
    ring: VecDeque<Kept>,
    /// Open episodes: shape by row.
    open: HashMap<RowKey, (State, u64)>,
    total: u64,
}

impl Disputes {
    /// Squares the log with one collection: `seen` are the disagreements in it.
    pub fn observe(&mut self, seen: Vec<Episode>, now: f64, drops: &dyn Fn() -> Value) {
        let keys: HashSet<RowKey> = seen.iter().map(|e| e.key.clone()).collect();
        self.open.retain(|key, _| keys.contains(key));
        for episode in seen {
            let newest = episode
                .overlays
                .iter()
                .filter(|o| o.kind != super::ledger::Kind::Subagent)
                .map(|o| o.arrival_seq)
                .max();
            let shape = (episode.overlay_state, newest.unwrap_or(0));
            if self.open.get(&episode.key) == Some(&shape) {
                if let Some(kept) = self.ring.iter_mut().rev().find(|k| k.episode.key == episode.key) {
                    kept.repeats += 1;
                    kept.last_seen_at = now;
                }
                continue;
            }
            self.open.insert(episode.key.clone(), shape);
            self.total += 1;
            if self.ring.len() >= KEPT {
                self.ring.pop_front();
            }
            self.ring.push_back(Kept { episode, at: now, last_seen_at: now, repeats: 0, drops: drops() });
        }
    }

    /// Episodes so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The kept records, oldest first; `list` renders overlays.
    pub fn records(&self, list: &dyn Fn(&RowKey, &Overlay) -> Value) -> Vec<Value> {
        self.ring
            .iter()
            .map(|kept| {
                let e = &kept.episode;
                json!({
                    "at": kept.at, "last_seen_at": kept.last_seen_at, "repeats": kept.repeats,
                    "harness": e.key.0, "sid": e.key.1,
                    "collector_state": State::NeedsInput, "overlay_state": e.overlay_state,
                    "own_activity": e.own_activity, "last_activity": e.last_activity,
                    "activity_grace_sec": super::reduce::GRACE,
                    "overlays": e.overlays.iter().map(|o| list(&e.key, o)).collect::<Vec<_>>(),
                    "drop_counters": kept.drops,
                })
            })
            .collect()
    }
}
