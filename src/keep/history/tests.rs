use super::*;
use crate::keep::testing::{Bench, listening, quiet};

const FILE: &str = Transitions::FILE;
const DAY: f64 = 86_400.0;
const NOW: f64 = 1_790_000_000.0;

fn store(bench: &Bench) -> History {
    History::new(bench.place().clone(), quiet(), 14.0 * DAY, 1_048_576)
}

fn row(sid: &str, state: &str, at: f64) -> Record {
    Record {
        harness: "claude".into(),
        sid: sid.into(),
        project: "acme/shop".into(),
        state: state.into(),
        last_activity: at,
        ..Record::default()
    }
}

fn sids(history: &History) -> Vec<String> {
    history.records().list().iter().map(|record| record.sid.clone()).collect()
}

#[test]
fn hist_001_010_011_a_transition_is_recorded_and_nothing_else_touches_the_file() {
    let bench = Bench::new();
    let history = store(&bench);
    history.record(&[], NOW);
    assert!(bench.names().is_empty(), "nothing to record makes no file");
    history.record(&[row("a", "working", NOW - 9.5)], NOW);
    assert_eq!(
        bench.text(FILE),
        r#"{"v":2,"entries":[{"harness":"claude","sid":"a","project":"acme/shop","state":"working","last_activity":1789999990.5,"annotation_goal":"","annotation_output":"","annotation_revision":null}]}"#
    );
    let before = std::fs::metadata(bench.place().path(FILE)).unwrap();
    history.record(&[row("a", "working", NOW - 1.0)], NOW);
    let after = std::fs::metadata(bench.place().path(FILE)).unwrap();
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    let goal = Record { annotation_goal: "Ship it".into(), annotation_revision: Some(1), ..row("a", "working", NOW) };
    history.record(std::slice::from_ref(&goal), NOW);
    history.record(&[Record { state: "idle".into(), ..goal.clone() }], NOW);
    assert_eq!(history.records().list().len(), 3);
    let again = store(&bench);
    again.record(&[Record { state: "idle".into(), ..goal }], NOW + 5.0);
    assert_eq!(again.records().list().len(), 3, "a restart records no unchanged state");
    assert_eq!(
        history.records().json().get(),
        bench.text(FILE).strip_prefix(r#"{"v":2,"entries":"#).unwrap().strip_suffix('}').unwrap()
    );
}

#[test]
fn hist_010_rows_without_a_key_or_a_time_are_nothing() {
    for bad in [row("", "idle", 5.0), row("a", "", 5.0), row("a", "idle", 0.0), row("a", "idle", f64::NAN)] {
        assert_eq!(bad.bounded(), None);
    }
    let long = Record { project: "/home/u/work/acme/shop".into(), sid: "x".repeat(300), ..row("", "idle", 5.0) };
    let long = long.bounded().unwrap();
    assert_eq!((long.project.as_str(), long.sid.len()), ("acme/shop", 256));
    let key = format!("sk-ant-api03-{}", "Qz7Rk2Vm9Xt4Wb6Yp3Nd8Hs5Jf1Lg0Cc".repeat(2));
    for lead in 200..256 {
        let words = Record { annotation_goal: format!("{} {key}", "g".repeat(lead)), ..row("a", "idle", 5.0) };
        let goal = words.bounded().unwrap().annotation_goal;
        assert!(goal.chars().count() <= 256 && !goal.contains("Qz7R"), "{goal}");
        assert!(!goal.contains('\u{2026}') || goal.ends_with("REDACTED"), "{goal}");
    }
}

#[test]
fn hist_012_a_deleted_file_takes_the_copy_along() {
    let bench = Bench::new();
    let history = store(&bench);
    history.record(&[row("a", "idle", NOW - 9.0)], NOW);
    bench.remove(FILE);
    history.record(&[row("b", "idle", NOW - 8.0)], NOW);
    assert_eq!(sids(&history), ["b"]);
    assert!(!bench.text(FILE).contains(r#""a""#));
}

#[test]
fn hist_020_021_022_age_first_then_size_in_ascending_order() {
    let bench = Bench::new();
    let history = store(&bench);
    let rows: Vec<Record> = (0..8).map(|i| row(&format!("r{i}"), "idle", NOW - 5000.0 + f64::from(i))).collect();
    history.record(&rows, NOW);
    history.record(&[row("old", "idle", NOW - 15.0 * DAY)], NOW);
    assert_eq!(sids(&history).len(), 8, "past retention is not recorded");
    let size = bench.text(FILE).len() as u64;
    let tight = History::new(bench.place().clone(), quiet(), 14.0 * DAY, size);
    tight.record(&[row("n9", "idle", NOW)], NOW);
    assert!(bench.text(FILE).len() as u64 <= size && bench.text(FILE).len() as u64 > size - 200);
    assert_eq!(sids(&tight).first().map(String::as_str), Some("r1"));
    let short = History::new(bench.place().clone(), quiet(), 4997.5, size);
    short.record(&[], NOW);
    assert_eq!(sids(&short), ["r3", "r4", "r5", "r6", "r7", "n9"], "evicted although nothing was appended");
    let one = History::new(bench.place().clone(), quiet(), 14.0 * DAY, bench.text(FILE).len() as u64);
    one.record(&[row("n9", "working", NOW + 1.0)], NOW + 1.0);
    assert_eq!(sids(&one).len(), 5, "the longer state takes the room of one more");
}

#[test]
fn hist_011_021_a_record_that_does_not_fit_is_not_written_over_and_over() {
    let bench = Bench::new();
    let cap = 400;
    let history = History::new(bench.place().clone(), quiet(), 14.0 * DAY, cap);
    let rows: Vec<Record> = (0..9).map(|i| row(&format!("r{i}"), "idle", NOW - 90.0 + f64::from(i))).collect();
    history.record(&rows, NOW);
    assert_eq!(sids(&history), ["r7", "r8"]);
    let other = History::new(bench.place().clone(), quiet(), 14.0 * DAY, cap);
    let stamp = || std::fs::metadata(bench.place().path(FILE)).unwrap().modified().unwrap();
    let before = stamp();
    for _ in 0..3 {
        history.record(&rows, NOW);
        other.record(&rows, NOW);
    }
    assert_eq!(stamp(), before);
}

#[test]
fn hist_030_031_035_resets_and_their_reasons() {
    let nines = format!(r#"{{"v":2,"entries":[],"x":{}}}"#, "9".repeat(400));
    let long = format!(r#"{{"v":2,"entries":[],"x":"{}"}}"#, "x".repeat(1_048_576));
    let deep = "[".repeat(50_000);
    let unreadable = ["", "{", "[]", r#"{"v":2}"#, r#"{"v":2,"entries":{}}"#, r#"{"v":2,"entries":[],"x":NaN}"#];
    let versions = ["0", "5", "\"2\"", "true", "null", "[2]", "2.5"];
    let files = unreadable
        .iter()
        .map(|text| ((*text).to_owned(), "unreadable"))
        .chain([nines, long, deep].map(|text| (text, "unreadable")))
        .chain(versions.iter().map(|v| (format!(r#"{{"v":{v},"entries":[]}}"#), "version")))
        .chain([(r#"{"entries":[]}"#.to_owned(), "version")]);
    for (content, reason) in files {
        let bench = Bench::new();
        bench.put(FILE, content.as_bytes());
        let history = store(&bench);
        assert_eq!((history.records().list().len(), history.reset()), (0, Some(reason)), "{content:.40}");
        history.record(&[row("a", "idle", NOW)], NOW);
        assert_eq!((sids(&store(&bench)).len(), store(&bench).reset(), history.reset()), (1, None, Some(reason)));
    }
    assert_eq!(store(&Bench::new()).reset(), None);
}

#[test]
fn hist_005_032_033_every_readable_version_and_bad_records_alone() {
    let bench = Bench::new();
    for v in [1, 2, 3, 4] {
        bench.put(
            FILE,
            format!(
                r#"{{"v":{v},"entries":[7,{{}},{{"harness":"pi","sid":"x","project":"","state":4,"last_activity":5}},
                {{"harness":"pi","sid":"o\u202ed\u200bd","project":"a/b","state":"idle","last_activity":5,
                  "annotation_goal":7,"annotation_line_1":"Docs\u200d","annotation_revision":true,"first_prompt":"no"}}]}}"#
            )
            .as_bytes(),
        );
        let history = History::new(bench.place().clone(), quiet(), f64::MAX, 1_048_576);
        let read = Record {
            harness: "pi".into(),
            sid: "o d d".into(),
            project: "a/b".into(),
            state: "idle".into(),
            last_activity: 5.0,
            annotation_output: "Docs\u{200d}".into(),
            ..Record::default()
        };
        assert_eq!((history.records().list(), history.reset()), (&[read][..], None));
    }
}

#[test]
fn hist_015_trust_051_a_failed_write_keeps_the_copy_says_so_once_and_recovers() {
    let bench = Bench::new();
    let (tell, said) = listening();
    std::fs::write(bench.place().root(), b"in the way").unwrap();
    let history = History::new(bench.place().clone(), tell.clone(), 14.0 * DAY, 1_048_576);
    history.record(&[row("a", "idle", NOW)], NOW);
    history.record(&[row("b", "idle", NOW)], NOW);
    assert_eq!(sids(&history), ["a", "b"]);
    assert_eq!(said.lock().unwrap().len(), 1, "{said:?}");
    assert!(said.lock().unwrap()[0].contains(FILE));
    assert_eq!(tell.counters.to_json()["write.failed.history"], 2);
    std::fs::remove_file(bench.place().root()).unwrap();
    history.record(&[row("c", "idle", NOW)], NOW);
    assert_eq!(sids(&store(&bench)), ["a", "b", "c"]);
}

#[test]
fn hist_010_two_boards_record_a_transition_once_and_lose_none() {
    let bench = Bench::new();
    let (one, two) = (store(&bench), store(&bench));
    one.record(&[row("a", "working", NOW - 9.0)], NOW);
    two.record(&[row("a", "working", NOW - 8.0), row("b", "idle", NOW - 7.0)], NOW);
    one.record(&[row("a", "idle", NOW - 6.0), row("b", "idle", NOW - 7.0)], NOW);
    assert_eq!(sids(&store(&bench)), ["a", "b", "a"]);
    for _ in 0..3 {
        one.record(&[row("a", "working", NOW - 20.0)], NOW);
        two.record(&[row("a", "working", NOW - 20.0)], NOW);
    }
    assert_eq!(sids(&store(&bench)).len(), 4, "a stamp that went back is recorded once");
}

#[test]
fn hist_061_allowlist_carriers_and_members_agree() {
    let record = serde_json::to_value(row("a", "idle", 5.0)).unwrap();
    let mut members: Vec<&str> = record.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    let mut listed = MEMBERS;
    listed.sort_unstable();
    assert_eq!(members, listed);
    assert!(ALLOWED.iter().all(|name| members.contains(name)));
    assert!(BANNED.iter().all(|name| !members.contains(name)));
}

proptest::proptest! {
    /// TRUST-061, TRUST-080, TRUST-081 whatever is done to the file: no panic, and what is written back is stable.
    #[test]
    fn trust_081_a_damaged_file_settles(edits in crate::keep::testing::edits()) {
        let seed = r#"{"v":2,"entries":[{"harness":"claude","sid":"a","project":"acme/shop","state":"working","last_activity":1789999990.5,"annotation_goal":"Ship it","annotation_output":"","annotation_revision":1},{"harness":"pi","sid":"b","project":"","state":"idle","last_activity":5,"annotation_line_1":"x"}]}"#;
        crate::keep::testing::settles(&Transitions { cap: 1_048_576 }, seed, &edits)?;
    }
}
