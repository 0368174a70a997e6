//! The lane against a stand-in notifier, with the clock passed in.

use super::*;
use crate::env::{Env, Platform};
use crate::keep::deliveries::Outcome;
use crate::keep::testing::{Bench, quiet};
use crate::model::Observed;
use crate::settings::QuietHours;
use crate::surface::localtime::local_time;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

const NOW: f64 = 1_790_000_025.0;

/// A lane, its records, and a notifier that writes down what it was called with.
struct Stand {
    bench: Bench,
    hooks: Arc<Hooks>,
    lane: Notify,
    woken: Arc<AtomicUsize>,
    handled: Arc<Mutex<Vec<String>>>,
}

struct Wanted<'a> {
    /// The notifier's script after it has written its arguments down; `None` = there is none.
    script: Option<&'a str>,
    quiet: Quiet,
}

const PLAIN: Wanted<'static> = Wanted { script: Some(""), quiet: Quiet::new(None) };

impl Stand {
    fn new(wanted: &Wanted<'_>) -> Stand {
        let bench = Bench::new();
        bench.place().ensure().unwrap();
        let dir = bench.outside().root().to_path_buf();
        if let Some(script) = wanted.script {
            // One file a call, whole before it has its name: whoever waits for it never reads half of one.
            let log = dir.join("calls");
            std::fs::create_dir(&log).unwrap();
            let text = format!(
                "#!/bin/sh\nt=$(mktemp '{0}/.XXXXXX')\nprintf '%s\\n' \"$@\" > \"$t\"\nmv \"$t\" \"{0}/$$\"\n{script}\n",
                log.display()
            );
            let program = dir.join("notify-send");
            std::fs::write(&program, text).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = format!("{}:/usr/bin:/bin", dir.display());
        let env = Env::of(Platform::Linux, [("PATH", path)]);
        let hooks = Arc::new(Hooks::new(PathBuf::from("/nowhere")));
        let (woken, handled) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::<String>::new())));
        let (waking, marked) = (Arc::clone(&woken), Arc::clone(&handled));
        let lane = Notify::new(Setup {
            backend: wanted.script.and(Backend::find(&env)),
            hooks: Arc::clone(&hooks),
            records: Arc::new(Deliveries::new(bench.place().clone(), quiet())),
            quiet: wanted.quiet,
            handled: Arc::new(move |row| lock(&marked).contains(&row.seen.sid)),
            tell: quiet(),
            recorded: Arc::new(|| {}),
            wake: Arc::new(move || {
                waking.fetch_add(1, Ordering::SeqCst);
            }),
        })
        .unwrap();
        Stand { bench, hooks, lane, woken, handled }
    }

    /// One collection at `now` that finds these rows.
    fn collect(&self, now: f64, rows: &[(Key, &str, State)]) {
        self.lane.sample(now);
        let rows: Vec<Row> = rows.iter().map(|(key, sid, state)| row(*key, sid, *state)).collect();
        self.lane.notice(&rows, variant(now));
    }

    /// Title and body of every call so far, in the order of their files, once there are `count`.
    fn calls(&self, count: usize) -> Vec<(String, String)> {
        let dir = self.bench.outside().path("calls");
        let read = || -> Vec<(String, String)> {
            let names = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
            names.sort();
            let text = |name: &String| std::fs::read_to_string(dir.join(name)).unwrap();
            names.iter().map(|name| lines(&text(name))).collect()
        };
        wait(|| (read().len() >= count).then(read))
    }

    /// The outcomes on record, once there are `count`.
    fn outcomes(&self, count: usize) -> Vec<(String, String, Option<Outcome>)> {
        let read = || -> Vec<_> {
            let all = self.lane.records.raises();
            all.iter().map(|r| (r.lane.clone(), r.sid.clone(), r.outcome)).collect()
        };
        wait(|| (read().len() >= count).then(read))
    }

    fn popup(&self, key: &str, message: &str, now: f64) {
        self.lane.hook(Popup { key: key.into(), message: message.into() }, now);
    }
}

fn lines(text: &str) -> (String, String) {
    let mut lines = text.lines().skip(2);
    (lines.next().unwrap().to_owned(), lines.next().unwrap().to_owned())
}

/// Waits for what another thread brings about.
#[track_caller]
fn wait<T>(ready: impl Fn() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(Instant::now() < until, "it never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn row(key: Key, sid: &str, state: State) -> Row {
    let mut seen = Observed::new(key, sid);
    seen.state = state;
    // As an overlay leaves a row that waits without a question of its own.
    seen.state_detail = None;
    seen.active = true;
    Row::new(seen)
}

const fn variant(now: f64) -> Variant {
    Variant { now, window_hours: 24.0, all: false }
}

/// A window of the local day around NOW, in minutes from it.
fn window(from: i32, to: i32) -> Quiet {
    let here = i32::from(local_time(NOW).unwrap().minute_of_day());
    let at = |minutes: i32| {
        let minute = (here + minutes).rem_euclid(1440);
        format!("{:02}:{:02}", minute / 60, minute % 60)
    };
    Quiet::new(QuietHours::parse(&format!("{}-{}", at(from), at(to))))
}

use State::{Idle, NeedsInput, Working};

/// NOTE-020, NOTE-022.
#[test]
fn note_020_022_a_row_that_begins_to_wait_pops_once_under_its_label() {
    let stand = Stand::new(&PLAIN);
    stand.collect(NOW, &[(Key::Codex, "thread", Working)]);
    for later in [1.0, 2.0, 3.0] {
        stand.collect(NOW + later, &[(Key::Codex, "thread", NeedsInput)]);
    }
    let mut asking = row(Key::Claude, "0b1c2d3e", NeedsInput);
    asking.seen.state_detail = Some("Ship it?".into());
    stand.lane.notice(&[asking], variant(NOW + 20.0));
    stand.outcomes(2);
    let mut calls = stand.calls(2);
    calls.sort();
    assert_eq!(
        calls,
        [
            ("Claude is waiting on you".into(), "Ship it?".into()),
            ("Codex is waiting on you".to_owned(), "Session thread needs your input".to_owned()),
        ]
    );
    assert_eq!(stand.lane.tell.counters.get("notify.suppressed"), 0);
}

/// NOTE-021: dismissed, ended since, deferred, remembered, consumed, in this order.
#[test]
fn note_021_payload_009_the_order_of_the_gate() {
    let stand = Stand::new(&PLAIN);
    // Marked handled: nothing is remembered, so the wait is new once the mark is gone.
    lock(&stand.handled).push("h".into());
    stand.collect(NOW, &[(Key::Codex, "h", NeedsInput)]);
    // Ended since before the collection: nothing is judged.
    stand.lane.sample(NOW);
    stand.hooks.session_ended("0b1c2d3e");
    stand.lane.notice(&[row(Key::Claude, "0b1c2d3e", NeedsInput)], variant(NOW));
    // Not active: nobody is waited for.
    let mut gone = row(Key::Copilot, "old", NeedsInput);
    gone.seen.active = false;
    stand.lane.notice(&[gone], variant(NOW));
    lock(&stand.handled).clear();
    let all = [(Key::Codex, "h", NeedsInput), (Key::Claude, "0b1c2d3e", NeedsInput)];
    stand.collect(NOW + 1.0, &all);
    assert_eq!(stand.outcomes(1)[0].1, "h", "the first pops, the second waits for the floor");
    stand.collect(NOW + 15.9, &all);
    assert_eq!(stand.lane.records.raises().len(), 1);
    stand.collect(NOW + 16.0, &all);
    assert_eq!(stand.outcomes(2).len(), 2, "deferred, not lost");
    // Its own cooldown consumes a new wait of the same session.
    stand.collect(NOW + 40.0, &[(Key::Codex, "h", Idle)]);
    stand.collect(NOW + 41.0, &[(Key::Codex, "h", NeedsInput)]);
    stand.collect(NOW + 100.0, &[(Key::Codex, "h", NeedsInput)]);
    assert_eq!(stand.lane.records.raises().len(), 2);
    assert_eq!(stand.lane.tell.counters.get("notify.suppressed"), 1);
}

/// EVT-108: a popup that the floor over all sessions put off wakes the loop with no page open.
#[test]
fn evt_108_note_021_a_deferred_popup_wakes_the_loop_by_itself() {
    let stand = Stand::new(&PLAIN);
    stand.popup("0b1c2d3e", "May I?", NOW);
    stand.collect(NOW + 14.99, &[(Key::Codex, "thread", NeedsInput)]);
    wait(|| (stand.woken.load(Ordering::SeqCst) == 1).then_some(()));
}

#[test]
fn note_010_020_a_hook_and_a_row_share_their_cooldowns() {
    let stand = Stand::new(&PLAIN);
    stand.popup("0b1c2d3e", "May I?", NOW);
    stand.collect(NOW + 30.0, &[(Key::Claude, "0b1c2d3e", NeedsInput)]);
    stand.popup("0b1c2d3e", "May I now?", NOW + 59.0);
    stand.popup("0b1c2d3e", "May I?", NOW + 599.0);
    stand.popup("", "nobody's", NOW + 20.0);
    assert_eq!(stand.outcomes(1), [("hook".to_owned(), "0b1c2d3e".to_owned(), Some(Outcome::HandedOver))]);
    assert_eq!(stand.calls(2).len(), 2, "one of the session, and one of nobody, which is not on record");
    assert_eq!(stand.lane.tell.counters.get("notify.suppressed"), 3);
}

#[test]
fn note_023_without_a_service_no_floor_is_read_and_each_raise_is_on_record() {
    let stand = Stand::new(&Wanted { script: None, ..PLAIN });
    for second in [0.0, 1.0] {
        stand.popup("0b1c2d3e", "May I?", NOW + second);
        stand.collect(NOW + second, &[(Key::Codex, "a", NeedsInput), (Key::Codex, "b", NeedsInput)]);
    }
    for _ in 0..2 {
        let question = Question { harness: Some("codex"), session: Some("a"), text: "?", project: "" };
        stand.lane.question(&question, NOW);
    }
    let on_record = stand.outcomes(6);
    assert!(on_record.iter().all(|(_, _, outcome)| *outcome == Some(Outcome::NoLane)));
    let of = |lane: &str| on_record.iter().filter(|(l, _, _)| l == lane).count();
    assert_eq!((of("hook"), of("gate"), of("ask"), on_record.len()), (2, 2, 2, 6));
}

/// NOTE-030, NOTE-031, NOTE-032, NOTE-091.
#[test]
fn note_030_032_a_question_has_its_own_title_floor_and_body() {
    let stand = Stand::new(&Wanted { quiet: window(-5, 5), ..PLAIN });
    stand.popup("0b1c2d3e", "May I?", NOW);
    let ask = |harness, text: &str, project: &str, now| {
        stand.lane.question(&Question { harness, session: None, text, project }, now);
    };
    ask(Some("codex"), "Ship it?", "acme/shop", NOW);
    ask(None, "Another?", "", NOW + 14.9);
    ask(Some("<b>mine</b>"), &"q".repeat(175), "acme/shop", NOW + 15.0);
    let mut calls = stand.calls(2);
    calls.sort();
    assert_eq!(
        calls,
        [
            ("An agent is asking you".to_owned(), "q".repeat(175)),
            ("Codex is asking you".to_owned(), "Ship it? · acme/shop".to_owned()),
        ]
    );
    assert!(stand.lane.records.raises().is_empty(), "neither names a session, and the hook's was a quiet hour's");
}

#[test]
fn note_091_094_quiet_hours_drop_a_hook_keep_a_gate_and_spend_nothing() {
    let stand = Stand::new(&Wanted { quiet: window(-5, 5), ..PLAIN });
    let until = stand.lane.quiet.next_edge(NOW).unwrap();
    stand.popup("0b1c2d3e", "May I?", NOW);
    assert!(!stand.lane.alert(("spacedock", "1:2"), "stage-tripwire", "t".into(), "b".into(), NOW));
    stand.collect(NOW, &[(Key::Codex, "a", NeedsInput), (Key::Codex, "b", NeedsInput)]);
    stand.collect(NOW + 1.0, &[(Key::Codex, "a", NeedsInput), (Key::Codex, "b", Working)]);
    assert!(stand.lane.records.raises().is_empty());
    stand.collect(until, &[(Key::Codex, "a", NeedsInput), (Key::Codex, "b", Working)]);
    assert_eq!(stand.outcomes(1), [("gate".to_owned(), "a".to_owned(), Some(Outcome::HandedOver))]);
    assert!(stand.lane.alert(("spacedock", "1:2"), "stage-tripwire", "t".into(), "b".into(), until));
    assert_eq!(stand.outcomes(2)[1].0, "stage-tripwire", "no floor holds another lane back");
}

#[test]
fn note_042_202_203_the_outcome_is_what_the_program_did_and_nothing_waits_for_it() {
    for (script, want) in [("exit 3", Outcome::Refused), ("kill -9 $$", Outcome::Refused)] {
        let stand = Stand::new(&Wanted { script: Some(script), ..PLAIN });
        stand.popup("0b1c2d3e", "May I?", NOW);
        assert_eq!(stand.outcomes(1)[0].2, Some(want), "{script}");
    }
    let stand = Stand::new(&Wanted { script: Some("exec sleep 60"), ..PLAIN });
    let began = Instant::now();
    stand.popup("0b1c2d3e", "May I?", NOW);
    stand.lane.question(&Question { harness: None, session: None, text: "?", project: "" }, NOW);
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(stand.calls(2).len(), 2, "a hanging one does not hold up the next");
    stand.lane.close();
    assert_eq!(stand.outcomes(1)[0].2, Some(Outcome::DidNotReturn), "ended with the run");
}

#[test]
fn note_062_076_and_the_top_level_says_who_alerts() {
    let stand = Stand::new(&PLAIN);
    stand.bench.put("cargento-deliveries.json", b"{broken");
    stand.lane.sample(NOW);
    let board = |lane: Notify| {
        let lanes: [Arc<dyn Lane>; 1] = [Arc::new(lane)];
        let rows = vec![Observed::new(Key::Codex, "a")];
        let source = crate::board::Source { rows, ..crate::board::Source::default() };
        let board = crate::board::assemble(source, variant(NOW), &lanes, &[], &|name| panic!("{name}"));
        serde_json::from_slice::<serde_json::Value>(&board.body().unwrap()).unwrap()
    };
    let body = board(stand.lane);
    assert_eq!(
        (&body["native_notify"], &body["deliveries_reset"], &body["in_quiet_hours"]),
        (&"notify-send".into(), &"unreadable".into(), &false.into())
    );
    assert_eq!((&body["browser_lane"], &body["browser_lane_at"]), (&false.into(), &serde_json::Value::Null));
    assert!(body["sessions"][0]["delivery_none_why"].as_str().unwrap().contains("could not be read"));
    let none = board(Stand::new(&Wanted { script: None, quiet: window(-5, 5) }).lane);
    assert_eq!((&none["native_notify"], &none["in_quiet_hours"]), (&"".into(), &true.into()));
    assert!(none.get("deliveries_reset").is_none());
    assert_eq!(
        none["deliveries"],
        serde_json::json!({"raises": 0, "attempted": 0, "handed_over": 0, "departure": {"raises": 0, "attempted": 0, "handed_over": 0}})
    );
}

/// NOTE-083: three figures, no ratio; a raise without a service is raised and not attempted.
#[test]
fn note_083_the_board_publishes_three_figures() {
    let stand = Stand::new(&Wanted { script: Some("exit 3"), ..PLAIN });
    stand.popup("0b1c2d3e", "May I?", NOW);
    stand.outcomes(1);
    stand.lane.records.record("codex", "a", "gate", Outcome::NoLane, NOW + 1.0);
    stand.lane.records.record("codex", "a", "departure", Outcome::HandedOver, NOW + 2.0);
    assert_eq!(stand.lane.counts(Some("departure")), Counts { raises: 1, attempted: 1, handed_over: 1 });
    let lanes: [Arc<dyn Lane>; 1] = [Arc::new(stand.lane)];
    let board = crate::board::assemble(crate::board::Source::default(), variant(NOW), &lanes, &[], &|n| panic!("{n}"));
    let body: serde_json::Value = serde_json::from_slice(&board.body().unwrap()).unwrap();
    assert_eq!(
        body["deliveries"],
        serde_json::json!({"raises": 3, "attempted": 2, "handed_over": 1, "departure": {"raises": 1, "attempted": 1, "handed_over": 1}})
    );
}

/// EVT-108, NOTE-094: what the quiet hours held back wakes the loop when they end, with no page open.
#[test]
fn evt_108_note_094_the_end_of_quiet_hours_wakes_the_loop() {
    let stand = Stand::new(&Wanted { quiet: window(-5, 5), ..PLAIN });
    let until = stand.lane.quiet.next_edge(NOW).unwrap();
    stand.collect(until - 0.06, &[(Key::Codex, "a", NeedsInput)]);
    wait(|| (stand.woken.load(Ordering::SeqCst) == 1).then_some(()));
    stand.collect(until + 0.01, &[(Key::Codex, "a", NeedsInput)]);
    assert_eq!(stand.outcomes(1), [("gate".to_owned(), "a".to_owned(), Some(Outcome::HandedOver))]);
}
