//! Ten thousand events over two hundred sessions: against an oracle of the written rules, and against the real binary.

use super::desk::{Desk, Home, SOURCES, id, sid};
use cargento::board::{HarnessStatus, Lane, Row, Source, Variant, assemble};
use cargento::counters::Counters;
use cargento::live::events::{NoEnds, Outcome, Overlays};
use cargento::model::{Key, Observed, State};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const SESSIONS: usize = 200;
const EVENTS: usize = 10_000;
const T: f64 = 1_790_000_000.0;

/// A small generator, so that every run is the same.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides
    }
}

/// What one session was told, and nothing else: the rules of section 6 are worked out from it anew each time.
#[derive(Clone, Default)]
struct Told(Vec<(u64, &'static str, f64)>);

#[derive(Debug, Default, PartialEq)]
struct Shown {
    state: Option<&'static str>,
    active: Option<bool>,
    blocked_since: Option<f64>,
    finished_at: Option<f64>,
    ended_at: Option<f64>,
}

impl Told {
    /// The written algorithm, step by step; `None` fields leave the reader's own.
    fn shown(&self, now: f64, own: f64, last: f64) -> Shown {
        let (mut stop, mut end, mut since) = (0.0_f64, 0.0_f64, 0);
        for (seq, event, at) in &self.0 {
            match *event {
                "session_ended" => (end, since) = (end.max(*at), *seq),
                "session_started" => end = 0.0,
                "turn_stopped" => stop = stop.max(*at),
                "turn_started" | "input_resolved" | "input_requested" => stop = 0.0,
                _ => {}
            }
        }
        let kind = |event: &str| match event {
            "turn_started" | "input_resolved" => Some("working"),
            "input_requested" => Some("needs_input"),
            "turn_stopped" => Some("idle"),
            _ => None,
        };
        let live = self.0.iter().filter(|(seq, ..)| *seq > since);
        let slots: BTreeMap<&str, (u64, f64)> =
            live.filter_map(|(seq, event, at)| Some((kind(event)?, (*seq, *at)))).collect();
        let ender = slots.iter().filter(|(k, _)| **k != "needs_input").map(|(_, (seq, _))| *seq).max().unwrap_or(0);
        let mut shown = Shown::default();
        if stop > 0.0 && last <= stop + 10.0 {
            shown.finished_at = Some(stop);
        }
        if end > 0.0 {
            shown.ended_at = Some(end);
        }
        let mut order: Vec<_> = slots.into_iter().collect();
        order.sort_by_key(|(_, (seq, _))| *seq);
        for (kind, (seq, at)) in order {
            match kind {
                "working" if now < at + 90.0 => {
                    shown = Shown { state: Some(kind), active: Some(true), ..Shown::default() };
                }
                "needs_input" if seq >= ender && own <= at + 10.0 => {
                    shown =
                        Shown { state: Some(kind), active: Some(true), blocked_since: Some(at), ..Shown::default() };
                }
                "idle" if last <= at + 10.0 && now >= at + 3.0 => {
                    shown.state = Some(kind);
                    (shown.active, shown.blocked_since, shown.finished_at) = (Some(false), None, Some(at));
                }
                _ => {}
            }
        }
        shown
    }
}

fn seen(row: &Row) -> Shown {
    let name = match row.seen.state {
        State::Working => "working",
        State::NeedsInput => "needs_input",
        State::Idle => "idle",
    };
    let patched = row.acquisition == Some("event");
    Shown {
        state: patched.then_some(name),
        active: patched.then_some(row.seen.active),
        blocked_since: row.seen.blocked_since,
        finished_at: row.finished_at,
        ended_at: row.ended_at,
    }
}

/// EVT-040, EVT-050, EVT-052, EVT-054, EVT-060, EVT-063, EVT-070, EVT-071, EVT-072, EVT-073, EVT-074, EVT-075: whatever the order, every row of every collection is
/// what the written rules make of the events heard so far, none is lost, and the ledger holds one overlay a kind.
#[test]
fn evt_060_ten_thousand_events_leave_every_row_as_the_rules_say() {
    let counters = Arc::new(Counters::new());
    let lane = Arc::new(Overlays::new(Arc::new(NoEnds), Arc::clone(&counters)));
    let mut dice = Dice(20_260_920);
    let mut told = vec![Told::default(); SESSIONS];
    let (mut now, mut sent) = (T, BTreeMap::<String, u64>::new());
    // The readers' own word: some sessions wrote long ago, some write while the events come.
    let activity: Vec<(f64, f64)> = (0..SESSIONS)
        .map(|n| if n % 4 == 0 { (T + n as f64, T + n as f64 + 40.0) } else { (T - 400.0, T - 300.0) })
        .collect();
    let collect = |now: f64| {
        let rows = activity.iter().enumerate().map(|(n, (own, last))| {
            let mut row = Observed::new(Key::Codex, id("codex", n));
            (row.own_activity, row.last_activity, row.state) = (*own, *last, State::Idle);
            row
        });
        let source =
            Source { harnesses: vec![HarnessStatus::new(Key::Codex, true)], rows: rows.collect(), ..Source::default() };
        let lanes: [Arc<dyn Lane>; 1] = [Arc::clone(&lane) as Arc<dyn Lane>];
        assemble(source, Variant { now, window_hours: 24.0, all: false }, &lanes, &[], &|name| panic!("{name}")).rows
    };
    for n in 1..=EVENTS {
        let (session, event) = (
            dice.roll(SESSIONS),
            [
                "turn_started",
                "turn_started",
                "turn_stopped",
                "turn_stopped",
                "input_requested",
                "input_resolved",
                "session_ended",
                "session_started",
                "store_changed",
                "subagent_started",
            ][dice.roll(10)],
        );
        now += dice.roll(40) as f64 / 1000.0;
        let body = json!({"v": 1, "event": event, "session_id": id("codex", session), "subagent_id": format!("a{}", dice.roll(90))});
        assert_eq!(lane.submit(Key::Codex, body.as_object().unwrap(), now).0, Outcome::Accepted);
        told[session].0.push((n as u64, event, now));
        *sent.entry(format!("event.{event}")).or_default() += 1;
        if n % 250 == 0 {
            // Now and then time passes without an event, so that overlays lapse.
            now += [0.0, 2.9, 3.1, 91.0][dice.roll(4)];
            let rows = collect(now);
            assert_eq!(rows.len(), SESSIONS, "events make no row and remove none");
            for row in rows {
                let at = (0..SESSIONS).find(|n| id("codex", *n) == row.seen.sid).unwrap();
                let (own, last) = activity[at];
                assert_eq!(
                    seen(&row),
                    told[at].shown(now, own, last),
                    "session {at} after {n} events: {:?}",
                    told[at].0
                );
            }
        }
    }
    for (name, count) in &sent {
        assert_eq!(counters.get(name), *count, "{name}");
    }
    assert_eq!(sent.values().sum::<u64>(), EVENTS as u64);
    assert_eq!(counters.get("retired"), sent["event.session_ended"]);
    for refusal in ["overlay.refused", "overlay.stale", "finished.refused", "pending.expired", "reject.rate"] {
        assert_eq!(counters.get(refusal), 0, "{refusal}");
    }
    let listing = lane.listing(now);
    let overlays = listing["overlays"].as_array().unwrap();
    assert_eq!(listing["arrival_seq"], EVENTS);
    assert!(overlays.len() <= SESSIONS * (3 + 64), "{} overlays", overlays.len());
    let mut slots: Vec<String> =
        overlays.iter().map(|o| format!("{}{}{}", o["sid"], o["kind"], o["subagent_id"])).collect();
    slots.sort();
    slots.dedup();
    assert_eq!(slots.len(), overlays.len(), "one overlay a kind and child");
}

/// What a session's events leave in the ledger: its kinds in the order of their newest event.
#[derive(Default)]
struct Heard(Vec<&'static str>);

impl Heard {
    fn hear(&mut self, kind: &'static str) {
        self.0.retain(|known| *known != kind);
        self.0.push(kind);
    }
}

/// EVT-020, EVT-040, TRUST-040, TRUST-066: ten thousand posts to the real binary with the real tokens. What is within the
/// budget is kept in order, what is beyond it is refused and counted, nothing is lost silently, and memory stays flat.
#[test]
fn evt_020_trust_040_a_burst_is_kept_or_counted_and_costs_no_memory() {
    let home = Home::new("burst");
    for n in 0..29 {
        home.claude(n, "/w/acme/shop", 400.0);
    }
    let desk = Desk::start(home);
    desk.get("/api/data");
    let before = desk.rss();
    let heard: Mutex<BTreeMap<(usize, usize), Heard>> = Mutex::default();
    let (kept, refused) = (Mutex::new(BTreeMap::<&str, u64>::new()), Mutex::new(0u64));
    // One thread a source: of a session, the order sent is the order heard.
    std::thread::scope(|scope| {
        for (source, harness) in SOURCES.into_iter().enumerate() {
            let (desk, heard, kept, refused) = (&desk, &heard, &kept, &refused);
            scope.spawn(move || {
                let mut dice = Dice(source as u64 + 7);
                let sessions = SESSIONS / SOURCES.len() + usize::from(source < SESSIONS % SOURCES.len());
                let posts = EVENTS / SOURCES.len() + usize::from(source < EVENTS % SOURCES.len());
                for _ in 0..posts {
                    let n = dice.roll(sessions);
                    let (event, kind) = [
                        ("turn_started", "working"),
                        ("input_resolved", "working"),
                        ("turn_stopped", "idle"),
                        ("input_requested", "needs_input"),
                    ][dice.roll(4)];
                    let answer = desk.event(harness, event, &id(harness, n), &Value::Null);
                    match answer.status {
                        200 => {
                            *kept.lock().unwrap().entry(event).or_default() += 1;
                            heard.lock().unwrap().entry((source, n)).or_default().hear(kind);
                        }
                        429 => *refused.lock().unwrap() += 1,
                        other => panic!("{harness}: {other} {}", answer.body),
                    }
                }
            });
        }
    });
    let (kept, refused) = (kept.into_inner().unwrap(), refused.into_inner().unwrap());
    assert_eq!(kept.values().sum::<u64>() + refused, EVENTS as u64);
    assert!(kept.values().sum::<u64>() >= 7 * 40 && refused > 0, "{kept:?}, {refused} refused");
    let listing = desk.overlays();
    assert_eq!(listing["arrival_seq"], kept.values().sum::<u64>());
    let counters = desk.counters();
    for (event, count) in &kept {
        assert_eq!(counters[&format!("event.{event}")], *count, "{event}");
    }
    assert_eq!(counters["reject.rate"], refused);
    for (name, n) in &counters {
        let expected = name.starts_with("event.") || name.starts_with("collected.") || name == "reject.rate";
        assert!(*n == 0 || expected || name == "notify.suppressed", "{name} is {n}");
    }
    let mut found: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for overlay in listing["overlays"].as_array().unwrap() {
        let key = (overlay["harness"].as_str().unwrap().to_owned(), overlay["sid"].as_str().unwrap().to_owned());
        found.entry(key).or_default().push(overlay["kind"].as_str().unwrap());
    }
    let want: BTreeMap<_, _> = heard
        .into_inner()
        .unwrap()
        .into_iter()
        .map(|((source, n), heard)| ((SOURCES[source].to_owned(), sid(SOURCES[source], n)), heard.0))
        .collect();
    assert_eq!(found, want, "each session's kinds, in the order of their newest event");
    // Once it has settled, each row shows what its newest event says.
    for ((harness, sid), kinds) in want.iter().filter(|((harness, _), _)| harness == "claude") {
        let newest = kinds.last().copied().unwrap();
        desk.row_where("the row shows its newest event", harness, sid, |row| row["state"] == newest);
    }
    let grown = desk.rss().saturating_sub(before);
    assert!(grown < 16 * 1024, "{grown} KiB more than before");
}
