//! What a row's overlays and marks make of its state (EVT section 6). Pure.

use super::ledger::{Kind, Overlay};
use crate::board::Row;
use crate::model::{State, turn};

/// How long after an event the store may still be catching up with it, seconds.
pub const GRACE: f64 = 10.0;

/// What is known of a row beside its overlays.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    /// Last observed turn stop.
    pub stop: Option<f64>,
    /// Observed end of the session id.
    pub end: Option<f64>,
    /// End-of-session git reading: dirty, and how many entries.
    pub git: Option<(bool, u64)>,
}

/// The nine fields an overlay may set (EVT-060); `None` leaves the reader's value.
#[derive(Clone, Debug, Default, PartialEq)]
// The outer option says whether the field is set, the inner one is the field's own absence.
#[allow(clippy::option_option)]
pub struct Patch {
    pub state: Option<State>,
    pub active: Option<bool>,
    pub blocked_since: Option<Option<f64>>,
    pub event: bool,
    pub finished_at: Option<Option<f64>>,
    pub ended_at: Option<Option<f64>>,
    pub dirty: Option<Option<bool>>,
    pub changed: Option<Option<u64>>,
}

/// Reduces a row's overlays to one patch.
pub fn reduce(overlays: &[Overlay], marks: Marks, now: f64, own_activity: f64, last_activity: f64) -> Patch {
    let mut patch = Patch::default();
    if let Some(stop) = marks.stop.filter(|stop| *stop > 0.0 && last_activity <= stop + GRACE) {
        patch.finished_at = Some(Some(stop));
        if let Some((dirty, changed)) = marks.git {
            patch.dirty = Some(Some(dirty));
            patch.changed = Some(Some(changed));
        }
    }
    if let Some(end) = marks.end.filter(|end| *end > 0.0) {
        patch.ended_at = Some(Some(end));
    }
    // Ended for good by a later working or idle overlay, even after that one has lapsed.
    let ender = overlays.iter().filter(|o| matches!(o.kind, Kind::Working | Kind::Idle)).map(|o| o.arrival_seq).max();
    let mut ordered: Vec<&Overlay> = overlays.iter().collect();
    ordered.sort_by_key(|o| o.arrival_seq);
    for overlay in ordered {
        let moved_on = match overlay.kind {
            Kind::NeedsInput => ender.is_some_and(|w| overlay.arrival_seq < w) || own_activity > overlay.at + GRACE,
            Kind::Idle => last_activity > overlay.at + GRACE,
            Kind::Working | Kind::Subagent => false,
        };
        if !moved_on && overlay.open(now) {
            patch.lay(overlay);
        }
    }
    patch
}

impl Patch {
    fn lay(&mut self, overlay: &Overlay) {
        let (state, active, blocked) = match overlay.kind {
            Kind::Working => (State::Working, true, None),
            Kind::NeedsInput => (State::NeedsInput, true, Some(overlay.at)),
            Kind::Idle => (State::Idle, false, None),
            Kind::Subagent => return,
        };
        self.state = Some(state);
        self.active = Some(active);
        self.blocked_since = Some(blocked);
        self.event = true;
        self.dirty = Some(None);
        self.changed = Some(None);
        if overlay.kind == Kind::Idle {
            self.finished_at = Some(Some(overlay.at));
        } else {
            self.finished_at = Some(None);
            self.ended_at = Some(None);
        }
    }

    /// Writes the patch on a row. The reader's own question text stays on a row that both say is waiting (EVT-061).
    pub fn apply(self, row: &mut Row, now: f64) {
        if let Some(state) = self.state {
            let both_wait = state == State::NeedsInput && row.seen.state == State::NeedsInput;
            let keeps = both_wait && row.seen.state_detail.as_deref().is_some_and(|d| !d.is_empty());
            if !keeps {
                row.seen.state_detail = None;
            }
            if state != row.seen.state {
                row.seen.state = state;
                let evidence = &row.seen.evidence;
                row.seen.turn = turn::estimate(state, evidence.turn_start, &evidence.turn_durations, now);
            }
        }
        if let Some(active) = self.active {
            row.seen.active = active;
        }
        if let Some(since) = self.blocked_since {
            row.seen.blocked_since = since;
        }
        if self.event {
            row.acquisition = Some("event");
        }
        if let Some(at) = self.finished_at {
            row.finished_at = at;
        }
        if let Some(at) = self.ended_at {
            row.ended_at = at;
        }
        if let Some(dirty) = self.dirty {
            row.dirty = dirty;
        }
        if let Some(changed) = self.changed {
            row.changed = changed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlay(kind: Kind, arrival_seq: u64, at: f64) -> Overlay {
        let (effective_at, expires_at) = match kind {
            Kind::Working => (0.0, Some(at + 90.0)),
            Kind::Idle => (at + 3.0, None),
            _ => (0.0, None),
        };
        Overlay { kind, arrival_seq, at, effective_at, expires_at, subagent_id: None }
    }

    fn state(overlays: &[Overlay], now: f64, own: f64, last: f64) -> Option<State> {
        reduce(overlays, Marks::default(), now, own, last).state
    }

    /// EVT-060, EVT-064, EVT-074: the worked cases of section 6.
    #[test]
    fn evt_060_worked_cases() {
        let t = 1000.0;
        let (working, waiting, idle) = (Kind::Working, Kind::NeedsInput, Kind::Idle);
        assert_eq!(state(&[overlay(working, 1, t)], t + 89.9, 0.0, 0.0), Some(State::Working));
        assert_eq!(state(&[overlay(working, 1, t)], t + 90.0, 0.0, 0.0), None);
        let answered = [overlay(waiting, 1, t), overlay(working, 2, t + 5.0)];
        assert_eq!(state(&answered, t + 200.0, 0.0, 0.0), None, "the wait never returns");
        assert_eq!(state(&[overlay(waiting, 1, t)], t + 40.0, t + 30.0, t + 30.0), None);
        let patch = reduce(&[overlay(waiting, 1, t)], Marks::default(), t + 40.0, t - 5.0, t + 30.0);
        assert_eq!((patch.state, patch.blocked_since), (Some(State::NeedsInput), Some(Some(t))));
        let next = [overlay(idle, 1, t), overlay(working, 2, t + 1.0)];
        assert_eq!(state(&next, t + 1.5, 0.0, 0.0), Some(State::Working));
        let marks = Marks { stop: Some(t), ..Marks::default() };
        let patch = reduce(&[overlay(idle, 1, t)], marks, t + 70.0, 0.0, t + 60.0);
        assert_eq!((patch.state, patch.finished_at), (None, None));
        let marks = Marks { stop: Some(t), end: Some(t), ..Marks::default() };
        let patch = reduce(&[], marks, t + 1.0, t, t);
        assert_eq!((patch.finished_at, patch.ended_at, patch.state), (Some(Some(t)), Some(Some(t)), None));
    }

    #[test]
    fn evt_064_equality_is_not_staleness() {
        let wait = [overlay(Kind::NeedsInput, 1, 100.0)];
        assert_eq!(state(&wait, 200.0, 110.0, 110.0), Some(State::NeedsInput));
        assert_eq!(state(&wait, 200.0, 110.001, 110.001), None);
        let idle = [overlay(Kind::Idle, 1, 100.0)];
        assert_eq!(state(&idle, 102.9, 0.0, 0.0), None);
        assert_eq!(state(&idle, 103.0, 0.0, 110.0), Some(State::Idle));
        assert_eq!(state(&idle, 103.0, 0.0, 110.1), None);
    }
}
