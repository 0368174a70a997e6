//! Saves, their locks and bounds, and what becomes of words that could not be written.

mod file;

use super::*;
use crate::keep::testing::{Bench, listening, quiet};
use serde_json::{Value, json};
use std::time::Instant;

const LOCK: &str = "cargento-annotations.json.lock";

fn store(bench: &Bench) -> Annotations {
    Annotations::waiting(bench.place().clone(), quiet(), Duration::from_millis(200))
}

fn k(sid: &str) -> EntryKey {
    entry_key("pi", sid).unwrap()
}

fn goal(text: &str) -> Action {
    Action::Words(Words { goal: Some(text.into()), ..Words::default() })
}

fn lines(lines: &[&str], expected: Option<i128>) -> Action {
    let lines = Some(lines.iter().map(|line| (*line).to_owned()).collect());
    Action::Words(Words { lines, expected, ..Words::default() })
}

fn save(store: &Annotations, sid: &str, action: &Action, now: f64) -> Outcome {
    store.save(&k(sid), action, &Observed::default(), now).outcome
}

fn shown(store: &Annotations, sid: &str) -> Published {
    store.refresh();
    published(store.slots().get("pi", sid).map(AsRef::as_ref), sid, store.is_untrusted())
}

fn file(bench: &Bench) -> Value {
    serde_json::from_str(&bench.text(FILE)).unwrap()
}

/// ANN-030, ANN-031
#[test]
fn ann_030_031_trust_063_discards_go_first_then_the_least_recently_written_never_the_saved_one() {
    let bench = Bench::new();
    let entry = |i: usize| {
        format!(r#"{{"harness":"pi","sid":"s{i}","revisions":[{{"n":1,"at":{}.0,"goal":"g","lines":[]}}]}}"#, 1000 + i)
    };
    let gone = r#"{"harness":"pi","sid":"gone","revisions":[],"discarded":99999.0}"#;
    let all: Vec<String> = (0..255).map(entry).chain([gone.to_owned()]).collect();
    bench.put(FILE, format!(r#"{{"v":2,"entries":[{}]}}"#, all.join(",")).as_bytes());
    let words = store(&bench);
    save(&words, "new", &goal("x"), 5.0);
    assert!(words.slots().get("pi", "gone").is_none() && words.slots().get("pi", "s0").is_some());
    save(&words, "newer", &goal("x"), 4.0);
    let slots = words.slots();
    assert_eq!(slots.list().len(), 256);
    assert!(
        slots.get("pi", "new").is_none() && slots.get("pi", "newer").is_some(),
        "the clock went back: least recent is `new`"
    );
}

/// ANN-031
#[test]
fn ann_031_bytes_bound_the_store_and_what_does_not_fit_alone_is_not_held() {
    let cap = crate::config::ANNOTATION_READ_CAP_BYTES;
    let bench = Bench::new();
    let big = |sid: &str, at: u32, pad: usize| {
        let revision = format!(r#"{{"n":1,"at":{at}.0,"goal":"g","lines":[],"pad":"{}"}}"#, "x".repeat(pad));
        format!(r#"{{"harness":"pi","sid":"{sid}","revisions":[{revision}]}}"#)
    };
    bench.put(
        FILE,
        format!(r#"{{"v":2,"entries":[{},{}]}}"#, big("one", 6, 8_000_000), big("two", 5, 8_777_000)).as_bytes(),
    );
    let words = store(&bench);
    assert_eq!(words.slots().list().len(), 2);
    assert_eq!(save(&words, "s", &goal(&"y".repeat(240)), 100.0), Outcome::Stored);
    let left: Vec<_> = words.slots().list().iter().map(|slot| slot.key.1.clone()).collect();
    assert_eq!(left, ["one", "s"], "the least recently written went");
    assert!(bench.text(FILE).len() <= cap && store(&bench).slots().list().len() == 2);
    let lines = "x".repeat(cap - 120);
    let held = format!(r#"{{"harness":"pi","sid":"raw","revisions":[{{"n":1,"at":1.0,"lines":"{lines}"}}]}}"#);
    bench.put(FILE, format!(r#"{{"v":2,"entries":[{held}]}}"#).as_bytes());
    let before = bench.text(FILE).len();
    assert_eq!(save(&words, "s", &goal("x"), 200.0), Outcome::Unwritable);
    assert!(words.slots().get("pi", "s").is_none() && bench.text(FILE).len() == before);
}

#[test]
fn ann_005_007_a_busy_lock_bounds_the_wait_and_holds_up_no_reader() {
    let bench = Bench::new();
    let words = store(&bench);
    save(&words, "s", &goal("before"), 5.0);
    let held = bench.place().lock(LOCK, Duration::ZERO).unwrap();
    let before = bench.text(FILE);
    std::thread::scope(|scope| {
        let started = Instant::now();
        let saving = scope.spawn(|| save(&words, "s", &goal("during"), 6.0));
        let second = scope.spawn(|| save(&words, "s", &goal("also"), 6.0));
        assert_eq!(shown(&words, "s").goal, "before");
        assert!(started.elapsed() < Duration::from_millis(150), "a reader waits for no lock");
        assert_eq!((saving.join().unwrap(), second.join().unwrap()), (Outcome::Unwritable, Outcome::Unwritable));
        assert!(started.elapsed() < Duration::from_secs(2), "both locks together are waited for once");
    });
    assert_eq!((bench.text(FILE), shown(&words, "s").goal.as_str()), (before, "before"), "not held either");
    drop(held);
    assert_eq!(save(&words, "s", &goal("after"), 7.0), Outcome::Stored);
    assert_eq!(save(&words, "s", &goal("after"), 8.0), Outcome::Unchanged);
}

#[test]
fn ann_005_an_unchanged_or_refused_save_needs_no_lock() {
    let bench = Bench::new();
    let words = store(&bench);
    assert_eq!(save(&words, "s", &Action::Clear, 1.0), Outcome::Stored);
    assert_eq!(save(&words, "s", &Action::Settle { through: 1.0, expected: None }, 1.0), Outcome::Refused);
    assert!(bench.names().is_empty(), "what changes nothing leaves no trace");
    save(&words, "s", &goal("x"), 5.0);
    let _held = bench.place().lock(LOCK, Duration::ZERO).unwrap();
    assert_eq!(save(&words, "s", &goal("x"), 6.0), Outcome::Unchanged);
}

#[test]
fn ann_006_trust_051_words_that_cannot_be_written_hold_for_the_run_and_are_written_later() {
    let bench = Bench::new();
    std::fs::write(bench.place().root(), b"in the way").unwrap();
    let (tell, said) = listening();
    let words = Annotations::waiting(bench.place().clone(), tell, Duration::from_millis(200));
    let mark = words.mark();
    assert_eq!(save(&words, "s", &goal("held"), 5.0), Outcome::Unwritable);
    assert_eq!(save(&words, "s", &lines(&["a"], Some(1)), 6.0), Outcome::Unwritable, "drafted against what is shown");
    assert_eq!((shown(&words, "s").goal.as_str(), shown(&words, "s").revision), ("held", Some(2)));
    assert_ne!(words.mark(), mark);
    assert_eq!((said.lock().unwrap().len(), std::fs::read(bench.place().root()).unwrap()), (1, b"in the way".to_vec()));
    std::fs::remove_file(bench.place().root()).unwrap();
    assert_eq!(save(&words, "s", &goal("held"), 7.0), Outcome::Unchanged);
    assert_eq!(file(&bench)["entries"][0]["revisions"].as_array().unwrap().len(), 2, "unchanged says: it is on disk");
    assert_eq!(shown(&store(&bench), "s").goal, "held");
}

#[test]
fn ann_008_held_words_give_way_to_another_instances_save() {
    let bench = Bench::new();
    let (one, two) = (store(&bench), store(&bench));
    save(&one, "s", &goal("first"), 5.0);
    std::fs::rename(bench.place().root(), bench.outside().path("aside")).unwrap();
    std::fs::write(bench.place().root(), b"").unwrap();
    assert_eq!(save(&one, "s", &goal("held"), 6.0), Outcome::Unwritable);
    std::fs::remove_file(bench.place().root()).unwrap();
    std::fs::rename(bench.outside().path("aside"), bench.place().root()).unwrap();
    save(&two, "s", &goal("theirs"), 7.0);
    assert_eq!(shown(&one, "s").goal, "theirs");
    assert_eq!(save(&one, "s", &goal("mine"), 8.0), Outcome::Stored);
    let goals: Vec<_> = two_goals(&bench);
    assert_eq!(goals, ["first", "theirs", "mine"]);
}

fn two_goals(bench: &Bench) -> Vec<String> {
    let file = file(bench);
    let revisions = file["entries"][0]["revisions"].as_array().unwrap().clone();
    revisions.iter().map(|r| r["goal"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn ann_005_eight_writers_on_two_instances_lose_nothing_and_numbers_rise() {
    let bench = Bench::new();
    let wait = Duration::from_secs(30);
    let instances = [0, 1].map(|_| Annotations::waiting(bench.place().clone(), quiet(), wait));
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let words = &instances[writer % 2];
            scope.spawn(move || {
                for i in 0..15 {
                    let own = format!("w{writer}-{i}");
                    assert_eq!(save(words, &own, &goal(&own), 5.0), Outcome::Stored);
                    assert_eq!(save(words, "shared", &goal(&own), 5.0), Outcome::Stored);
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..300 {
                if let Ok(bytes) = std::fs::read(bench.place().path(FILE)) {
                    serde_json::from_slice::<Value>(&bytes).expect("whole at every instant");
                }
            }
        });
    });
    let read = store(&bench);
    let slots = read.slots();
    assert_eq!(slots.list().len(), 121);
    let shared = slots.get("pi", "shared").unwrap().entry().unwrap();
    assert_eq!((shared.number(), shared.revisions.len()), (120, 16));
    assert!(shared.revisions.windows(2).all(|pair| pair[1].n == pair[0].n + 1));
    assert_eq!(bench.names(), [FILE, LOCK]);
}

#[test]
fn ann_060_a_discard_leaves_no_text_and_ann_121_a_sweep_leaves_the_words() {
    let bench = Bench::new();
    let words = store(&bench);
    save(&words, "s", &goal("zebra"), 5.0);
    save(&words, "t", &goal("kept"), 5.5);
    save(&words, "s", &Action::Settle { through: 4.0, expected: Some(1) }, 6.0);
    save(&words, "s", &Action::Clear, 7.5);
    assert!(!bench.text(FILE).contains("zebra"));
    assert_eq!(
        file(&bench)["entries"][0],
        json!({"harness": "pi", "sid": "s", "revisions": [], "discarded": 7.5, "discarded_revision": 1})
    );
    assert_eq!(shown(&words, "s").discarded_at, Some(7.5));
    assert_eq!(store(&bench).sweep(), Swept::Removed(1));
    assert_eq!((shown(&words, "s").goal_why, shown(&words, "t").goal.as_str()), (say::NONE_TYPED, "kept"));
    assert_eq!(words.sweep(), Swept::Nothing);
}

#[test]
fn read_042_050_051_attempts_count_once_and_only_what_reached_the_model() {
    let bench = Bench::new();
    let words = store(&bench);
    let attempt = |job: &str, spent, what: &Attempt| words.record_attempt(&k("s"), job, spent, what, 50.0);
    let held_off = Attempt::Withheld("settling");
    assert_eq!(attempt("a1", false, &held_off), Outcome::Refused, "no words, nothing to hang it on");
    save(&words, "s", &goal("g"), 5.0);
    assert_eq!(attempt("a1", false, &held_off), Outcome::Stored);
    assert_eq!(attempt("a2", true, &Attempt::Withheld("model-failed")), Outcome::Stored);
    assert_eq!(attempt("a2", true, &Attempt::Withheld("model-failed")), Outcome::Unchanged);
    let read = shown(&store(&bench), "s");
    assert_eq!((read.reading_count, read.reading_withheld.as_str()), (1, reading::sentence("model-failed").unwrap()));
    assert_eq!(attempt("a3", true, &Attempt::Reading(json!({"half": 1}))), Outcome::Refused);
    save(&words, "s", &goal("h"), 51.0);
    assert_eq!(shown(&words, "s").reading_count, 1, "carried across a save");
}
