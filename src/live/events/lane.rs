//! The overlays as a lane of the board, and their listing (EVT-060..063, EVT-130..142).

use super::disputes::{Disputes, Episode};
use super::ledger::{Asked, Ends, Ledger, Overlay, RowKey};
use super::reduce::{GRACE, Marks, reduce};
use super::silence::Silence;
use super::{Envelope, Outcome};
use crate::board::{Lane, Row, Sampled, Top, Variant};
use crate::counters::Counters;
use crate::model::{Code, Degrade, Key, State};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The coordinator's state: overlays, marks and disputes.
pub struct Overlays {
    ledger: Mutex<Ledger>,
    disputes: Mutex<Disputes>,
    silence: Mutex<Silence>,
    /// Whether the sessions shown have hooks that could speak; those of the demo have none.
    listens: bool,
    ends: Arc<dyn Ends>,
    counters: Arc<Counters>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panicked holder leaves is at worst one event short; refusing all later ones would be worse.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Overlays {
    /// An empty ledger over the stored ends.
    pub fn new(ends: Arc<dyn Ends>, counters: Arc<Counters>) -> Overlays {
        Overlays {
            ledger: Mutex::default(),
            disputes: Mutex::default(),
            silence: Mutex::default(),
            listens: true,
            ends,
            counters,
        }
    }

    /// The same for invented sessions, whose silence means nothing.
    #[must_use]
    pub fn of_demo(mut self, demo: bool) -> Overlays {
        self.listens = !demo;
        self
    }

    /// Checks and records an envelope that arrived at `now`; never collects and opens no store but that of ends.
    pub fn submit(&self, harness: Key, body: &Map<String, Value>, now: f64) -> (Outcome, Asked) {
        let checked = Envelope::check(harness, body, now);
        let count = |name: &str| self.counters.bump(name);
        let (key, asked) = {
            let mut ledger = lock(&self.ledger);
            let seq = ledger.arrive();
            match checked {
                Ok(envelope) => {
                    self.counters.bump_in("event", envelope.event.as_str());
                    let asked = ledger.record(seq, &envelope, now, &count);
                    ((envelope.harness, envelope.sid), asked)
                }
                Err(outcome) => {
                    self.counters.bump_in("reject", outcome.as_str());
                    return (outcome, Asked::default());
                }
            }
        };
        lock(&self.silence).hear(harness, now);
        // The store of ends is written with no lock held (EVT-088).
        if let Some(at) = asked.mark_end {
            self.ends.mark(&key, at);
        }
        if asked.lift_end {
            self.ends.lift(&key);
        }
        (Outcome::Accepted, asked)
    }

    /// The listing of `GET /api/overlays`: ids, kinds, times and numbers, nothing of any session's content.
    pub fn listing(&self, now: f64) -> Value {
        let (arrival_seq, overlays, pending) = {
            let ledger = lock(&self.ledger);
            let mut all: Vec<(RowKey, Overlay)> =
                ledger.overlays.iter().flat_map(|(key, list)| list.iter().map(|o| (key.clone(), o.clone()))).collect();
            all.sort_by(|(ka, a), (kb, b)| {
                (ka.0.as_str(), &ka.1, a.arrival_seq).cmp(&(kb.0.as_str(), &kb.1, b.arrival_seq))
            });
            let mut pending: Vec<String> =
                ledger.pending.keys().map(|(h, sid)| format!("{}/{sid}", h.as_str())).collect();
            pending.sort();
            (ledger.arrival_seq, all, pending)
        };
        let list = |key: &RowKey, o: &Overlay| listed(key, o, now);
        let (total, disputes) = {
            let disputes = lock(&self.disputes);
            (disputes.total(), disputes.records(&list))
        };
        json!({
            "now": now,
            "arrival_seq": arrival_seq,
            "overlays": overlays.iter().map(|(key, o)| list(key, o)).collect::<Vec<_>>(),
            "pending_rows": pending,
            "counters": self.counted(&["event.", "reject.", "retired", "overlay.", "finished.", "pending.", "git.", "focus.", "skipped.", "reused.", "collected."]),
            "dispute_total": total,
            "disputes": disputes,
        })
    }

    fn counted(&self, families: &[&str]) -> Value {
        let ours = self.counters.all().filter(|(name, n)| *n > 0 && families.iter().any(|f| name.starts_with(f)));
        Value::Object(ours.map(|(name, n)| (name.to_string(), n.into())).collect())
    }

    /// When the overlays next change what the board shows, if nothing else happens.
    pub fn next_change(&self, now: f64) -> Option<f64> {
        let overlays = lock(&self.ledger).next_change(now);
        let silence = lock(&self.silence).next_change(now);
        overlays.into_iter().chain(silence).min_by(f64::total_cmp)
    }

    /// Says on the rows of a source that moves that no event comes of it (DECK-020).
    fn tell_silence(&self, rows: &mut [Row], now: f64) {
        if !self.listens {
            return;
        }
        let seen: Vec<(Key, f64)> = rows.iter().map(|row| (row.seen.harness, row.seen.last_activity)).collect();
        let mut silence = lock(&self.silence);
        silence.observe(&seen, now);
        for row in rows.iter_mut().filter(|row| silence.touches(row.seen.harness, row.seen.last_activity, now)) {
            row.seen.degrades.push(silent(row.seen.harness));
        }
    }
}

fn silent(key: Key) -> Degrade {
    Degrade { code: Code::HooksSilent, source: key.as_str().into(), count: None }
}

fn listed(key: &RowKey, o: &Overlay, now: f64) -> Value {
    json!({"harness": key.0, "sid": key.1, "kind": o.kind.as_str(), "arrival_seq": o.arrival_seq, "at": o.at,
        "effective_at": o.effective_at, "expires_at": o.expires_at, "subagent_id": o.subagent_id,
        "time_gate_open": o.open(now)})
}

impl Lane for Overlays {
    fn name(&self) -> &'static str {
        "overlays"
    }

    fn overlay(&self, rows: &mut [Row], variant: Variant, _sampled: &Sampled) {
        let stored = self.ends.all();
        let now = variant.now;
        self.tell_silence(rows, now);
        let keys: HashSet<RowKey> = rows.iter().map(|r| (r.seen.harness, r.seen.sid.clone())).collect();
        let mut disputed = Vec::new();
        {
            let mut ledger = lock(&self.ledger);
            let count = |name: &str| self.counters.bump(name);
            ledger.settle(keys, now, variant.window_hours * 3600.0, &count);
            for row in rows {
                let key = (row.seen.harness, row.seen.sid.clone());
                let none = Vec::new();
                let overlays = ledger.overlays.get(&key).unwrap_or(&none);
                let end = ledger.ends.get(&key).copied().or_else(|| {
                    // A stored end is void once the id was used again while no board ran (EVT-086).
                    stored.get(&key).copied().filter(|at| row.seen.last_activity <= at + GRACE)
                });
                let marks = Marks { stop: ledger.stops.get(&key).copied(), end, git: None };
                let patch = reduce(overlays, marks, now, row.seen.own_activity, row.seen.last_activity);
                if row.seen.state == State::NeedsInput
                    && let Some(overlay_state) = patch.state.filter(|s| *s != State::NeedsInput)
                {
                    disputed.push(Episode {
                        key,
                        overlay_state,
                        own_activity: row.seen.own_activity,
                        last_activity: row.seen.last_activity,
                        overlays: overlays.clone(),
                    });
                }
                patch.apply(row, now);
            }
        }
        let drops = || self.counted(&["reject.", "overlay.", "pending.", "retired"]);
        lock(&self.disputes).observe(disputed, now, &drops);
    }

    fn publish(&self, top: &mut Top, _rows: &[Row], variant: Variant) {
        top.ends_observable = true;
        let silence = lock(&self.silence);
        for harness in top.harnesses.iter_mut().filter(|harness| silence.holds(harness.key, variant.now)) {
            harness.degrades.push(silent(harness.key));
        }
        drop(silence);
        if let Some(why) = self.ends.reset() {
            top.more.insert("ends_reset".into(), why.into());
        }
    }

    fn due(&self, now: f64) -> Option<f64> {
        self.next_change(now)
    }
}

#[cfg(test)]
mod tests {
    use super::super::NoEnds;
    use super::*;
    use crate::board::{HarnessStatus, Source, assemble};
    use crate::model::Observed;

    const UUID: &str = "019fa752-aaaa-4000-8000-000000000001";

    fn lane() -> (Arc<Overlays>, Arc<Counters>) {
        let counters = Arc::new(Counters::new());
        (Arc::new(Overlays::new(Arc::new(NoEnds), Arc::clone(&counters))), counters)
    }

    fn send(lane: &Overlays, event: &str, id: &str, now: f64) -> Outcome {
        let body = json!({"v": 1, "event": event, "session_id": id});
        lane.submit(Key::Codex, body.as_object().unwrap(), now).0
    }

    fn collect(lane: &Arc<Overlays>, rows: Vec<Observed>, now: f64) -> Vec<Row> {
        let variant = Variant { now, window_hours: 24.0, all: false };
        let harnesses = vec![HarnessStatus::new(Key::Codex, true)];
        let lanes: [Arc<dyn Lane>; 1] = [Arc::clone(lane) as Arc<dyn Lane>];
        assemble(Source { harnesses, rows, ..Source::default() }, variant, &lanes, &[], &|name| panic!("{name}")).rows
    }

    fn row(state: State, last: f64) -> Observed {
        let mut row = Observed::new(Key::Codex, UUID);
        row.state = state;
        row.last_activity = last;
        row
    }

    #[test]
    fn evt_053_054_an_event_without_a_row_waits_a_minute_and_makes_none() {
        let (lane, counters) = lane();
        send(&lane, "turn_started", UUID, 1000.0);
        assert!(collect(&lane, vec![], 1010.0).is_empty());
        assert_eq!(lane.listing(1010.0)["pending_rows"], json!([format!("codex/{UUID}")]));
        collect(&lane, vec![], 1060.0);
        assert_eq!(lane.listing(1060.0)["overlays"], json!([]));
        assert_eq!(counters.get("pending.expired"), 1);
    }

    /// EVT-051: refused, not made room for.
    #[test]
    fn evt_051_a_513th_session_is_refused_and_none_evicted() {
        let (lane, counters) = lane();
        for n in 0..513 {
            assert_eq!(
                send(&lane, "turn_started", &format!("019fa752-aaaa-4000-8000-{n:012x}"), 1000.0),
                Outcome::Accepted
            );
        }
        assert_eq!(counters.get("overlay.refused"), 1);
        assert_eq!(counters.get("pending.refused"), 512 - 256);
        assert_eq!(lane.listing(1000.0)["overlays"].as_array().unwrap().len(), 512);
    }

    /// EVT-053: who found no room among the pending stays until a row comes; EVT-133 counts both.
    #[test]
    fn evt_053_beyond_256_pending_an_overlay_stays_until_it_is_matched() {
        let (lane, counters) = lane();
        let id = |n: usize| format!("019fa752-aaaa-4000-8000-{n:012x}");
        for n in 0..260 {
            send(&lane, "turn_started", &id(n), 1000.0);
        }
        assert_eq!(counters.get("pending.refused"), 4);
        for now in [1010.0, 1061.0, 1070.0, 1200.0, 5000.0] {
            collect(&lane, vec![], now);
        }
        assert_eq!(counters.get("pending.expired"), 256);
        let listing = lane.listing(5000.0);
        assert_eq!((listing["overlays"].as_array().unwrap().len(), &listing["pending_rows"]), (4, &json!([])));
        let mut late = row(State::Idle, 990.0);
        late.sid = id(259);
        collect(&lane, vec![late], 5001.0);
        collect(&lane, vec![], 5002.0);
        collect(&lane, vec![], 5063.0);
        assert_eq!(lane.listing(5063.0)["overlays"].as_array().unwrap().len(), 3, "once matched it can expire");
        send(&lane, "session_ended", &id(258), 5064.0);
        send(&lane, "turn_started", &id(257), 5064.0);
        assert_eq!(lane.listing(5064.0)["pending_rows"], json!([format!("codex/{}", id(257))]), "there is room now");
        collect(&lane, vec![], 5125.0);
        assert_eq!(lane.listing(5125.0)["overlays"].as_array().unwrap().len(), 1);
    }

    /// EVT-042: a numbered event that comes late is a hint and no more.
    #[test]
    fn evt_042_a_late_number_is_a_hint_without_an_overlay() {
        let (lane, counters) = lane();
        let numbered = |event: &str, instance: &str, n: u64, now: f64| {
            let body = json!({"v": 1, "event": event, "session_id": UUID, "source_instance_id": instance, "source_sequence": n});
            lane.submit(Key::Codex, body.as_object().unwrap(), now)
        };
        assert_eq!(numbered("input_requested", "a", 2, 1000.0).0, Outcome::Accepted);
        for (event, n) in [("input_resolved", 1), ("input_resolved", 2), ("session_ended", 2)] {
            let (outcome, asked) = numbered(event, "a", n, 1001.0);
            assert_eq!((outcome, asked.mark_end), (Outcome::Accepted, None), "{event} {n}");
        }
        assert!(numbered("reconcile_required", "a", 2, 1001.0).1.reconcile, "a hint is a hint");
        assert_eq!((counters.get("overlay.stale"), counters.get("event.input_resolved")), (4, 2));
        let kinds = |lane: &Overlays| -> Vec<String> {
            let listing = lane.listing(1001.0);
            listing["overlays"].as_array().unwrap().iter().map(|o| o["kind"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(kinds(&lane), ["needs_input"]);
        numbered("input_resolved", "b", 1, 1002.0);
        assert_eq!(kinds(&lane), ["needs_input", "working"], "another instance counts for itself");
    }

    /// EVT-062, ROW-080: six harnesses say that only a scan tells their state, until an event does.
    #[test]
    fn evt_062_scan_only_until_an_event_patches_the_row() {
        let (lane, _) = lane();
        let variant = Variant { now: 1001.0, window_hours: 24.0, all: false };
        let board = || {
            let rows = Key::ALL.iter().map(|key| {
                let mut row = Observed::new(*key, UUID);
                row.last_activity = 995.0;
                row
            });
            let lanes: [Arc<dyn Lane>; 1] = [Arc::clone(&lane) as Arc<dyn Lane>];
            let source = Source { rows: rows.collect(), ..Source::default() };
            let rows = assemble(source, variant, &lanes, &[], &|name| panic!("{name}")).rows;
            rows.iter().map(|row| (row.seen.harness, row.acquisition)).collect::<std::collections::BTreeMap<_, _>>()
        };
        for (key, acquisition) in board() {
            let scanned = !matches!(key, Key::Claude | Key::Codex | Key::Gemini | Key::Antigravity);
            assert_eq!(acquisition, scanned.then_some("scan-only"), "{key:?}");
        }
        let body = json!({"v": 1, "event": "input_requested", "session_id": UUID});
        lane.submit(Key::Pi, body.as_object().unwrap(), 1000.0);
        let after = board();
        assert_eq!((after[&Key::Pi], after[&Key::Droid]), (Some("event"), Some("scan-only")));
    }

    /// DECK-020 (`hooks-silent`): on the rows that move, in the harness strip, and gone with the next event.
    #[test]
    fn deck_020_silent_hooks_are_named_on_the_row_and_the_harness() {
        let (lane, _) = lane();
        let board = |now: f64, last: f64| {
            let variant = Variant { now, window_hours: 24.0, all: false };
            let harnesses = vec![HarnessStatus::new(Key::Codex, true), HarnessStatus::new(Key::Gemini, true)];
            let lanes: [Arc<dyn Lane>; 1] = [Arc::clone(&lane) as Arc<dyn Lane>];
            let mut old = row(State::Idle, 1000.0);
            old.sid = "old".into();
            let rows = vec![row(State::Working, last), old];
            let board =
                assemble(Source { harnesses, rows, ..Source::default() }, variant, &lanes, &[], &|n| panic!("{n}"));
            serde_json::from_slice::<Value>(&board.body().unwrap()).unwrap()
        };
        board(1000.0, 1000.0);
        board(1601.0, 1600.0);
        let body = board(1620.0, 1619.0);
        let silent = json!([{"code": "hooks-silent", "source": "codex"}]);
        assert_eq!((&body["sessions"][0]["degrades"], &body["sessions"][1]["degrades"]), (&silent, &json!([])));
        assert_eq!((&body["harnesses"][0]["degrades"], &body["harnesses"][1]["degrades"]), (&silent, &json!([])));
        send(&lane, "store_changed", UUID, 1621.0);
        let body = board(1622.0, 1621.5);
        assert_eq!((&body["sessions"][0]["degrades"], &body["harnesses"][0]["degrades"]), (&json!([]), &json!([])));
    }

    /// EVT-140, EVT-141, EVT-142: one record an episode; agreement in between, or a row that is gone, closes it.
    #[test]
    fn evt_140_141_a_dispute_is_one_record_an_episode() {
        let (lane, _) = lane();
        let waits = || {
            let mut row = row(State::NeedsInput, 990.0);
            row.state_detail = Some("Run it?".into());
            vec![row]
        };
        send(&lane, "turn_started", UUID, 1000.0);
        assert_eq!(collect(&lane, waits(), 1001.0)[0].seen.state, State::Working);
        collect(&lane, waits(), 1002.0);
        let listing = lane.listing(1002.0);
        assert_eq!((&listing["dispute_total"], &listing["disputes"][0]["repeats"]), (&json!(1), &json!(1)));
        collect(&lane, vec![row(State::Idle, 990.0)], 1003.0);
        collect(&lane, waits(), 1004.0);
        assert_eq!(lane.listing(1004.0)["dispute_total"], json!(2));
    }

    /// EVT-061, EVT-071, EVT-072.
    #[test]
    fn evt_061_071_072_text_stays_and_marks_keep_apart() {
        let (lane, _) = lane();
        send(&lane, "input_requested", UUID, 1000.0);
        let mut waiting = row(State::NeedsInput, 995.0);
        waiting.state_detail = Some("Which one?".into());
        let got = collect(&lane, vec![waiting], 1001.0);
        assert_eq!(
            (got[0].seen.state_detail.as_deref(), got[0].seen.blocked_since),
            (Some("Which one?"), Some(1000.0))
        );
        send(&lane, "session_ended", UUID, 1002.0);
        let got = collect(&lane, vec![row(State::Idle, 995.0)], 1003.0);
        assert_eq!((got[0].ended_at, got[0].finished_at, got[0].acquisition), (Some(1002.0), None, None));
        send(&lane, "session_started", UUID, 1004.0);
        assert_eq!(collect(&lane, vec![row(State::Idle, 995.0)], 1005.0)[0].ended_at, None);
    }
}
