//! The file of the words: its forms, what is refused of it, and what stands after damage.

use super::*;

/// The sample of the format's description.
const SAMPLE: &str = r#"{"v": 2, "entries": [
  {"harness": "pi", "sid": "3f9c01ab",
   "revisions": [
     {"n": 1, "at": 1790000000.25, "goal": "Ship the retry queue", "lines": [], "goal_saved_at": 1790000000.25, "window_start": 1790000000.25},
     {"n": 2, "at": 1790000300.5, "goal": "Ship the retry queue",
      "lines": [{"text": "unit tests pass", "source": "typed"},
                {"text": "also log the drop count", "source": "entry", "source_id": "claude:3f9c01ab:steer:77"}],
      "goal_saved_at": 1790000000.25, "window_start": 1790000300.5}],
   "settled": {"at": 1790000400.0, "through": 1790000390.0, "revision": 2},
   "assessment": {"see": "elsewhere"},
   "readings": 3, "withheld": "", "jobs": ["9f0a1b2c3d4e5f60"], "written": 1790000500.0},
  {"harness": "pi", "sid": "b1f0",
   "revisions": [{"n": 4, "at": 1790000900.0, "goal": "Rename the flag", "lines": [],
                  "goal_source": "latest-prompt", "goal_source_at": 1790000850.0, "window_start": 1790000850.0}],
   "written": 1790000900.0},
  {"harness": "codex", "sid": "0197", "revisions": [], "discarded": 1790001000.0, "discarded_revision": 2}
]}"#;

#[test]
fn ann_010_the_sample_round_trips_and_is_written_back_byte_for_byte() {
    let bench = Bench::new();
    bench.put(FILE, SAMPLE.as_bytes());
    let words = store(&bench);
    let first = shown(&words, "3f9c01ab");
    assert_eq!((first.goal.as_str(), first.revision, first.revision_count), ("Ship the retry queue", Some(2), 2));
    assert_eq!((first.lines[1].source, first.lines[1].source_id.as_str()), ("entry", "claude:3f9c01ab:steer:77"));
    assert_eq!((first.settled_through, first.reading_count, first.reading_refused), (Some(1790000390.0), 3, true));
    let second = shown(&words, "b1f0");
    assert_eq!((second.goal_source, second.goal_saved_at), (Some("latest-prompt"), None));
    assert_eq!(words.slots().get("codex", "0197").unwrap().entry().unwrap().next_number(), 3);
    assert_eq!(save(&words, "other", &goal("x"), 1790002000.0), Outcome::Stored);
    let after = bench.text(FILE);
    for entry in SAMPLE.split("\n  {\"harness\"").skip(1) {
        let entry = entry.trim_end_matches([',', '\n', ']', '}']);
        assert!(after.contains(entry), "{entry}\n not in {after}");
    }
    assert_eq!(save(&words, "3f9c01ab", &goal("y"), 1790002001.0), Outcome::Stored);
    let entry = &file(&bench)["entries"][0];
    assert_eq!(
        (&entry["assessment"], &entry["readings"], &entry["jobs"]),
        (&json!({"see": "elsewhere"}), &json!(3), &json!(["9f0a1b2c3d4e5f60"]))
    );
    assert_eq!(
        (entry["revisions"][1]["lines"][1]["source_id"].as_str(), entry["revisions"][2]["n"].as_u64()),
        (Some("claude:3f9c01ab:steer:77"), Some(3))
    );
    assert_eq!((bench.mode(FILE), bench.mode(LOCK), bench.names().len()), (0o600, 0o600, 2));
}

#[test]
fn ann_014_version_one_is_read_and_rewritten_by_its_own_next_save_alone() {
    let bench = Bench::new();
    let old = r#"{"harness":"pi","sid":"old","revisions":[{"n":1,"at":5.0,"goal":"g","output":"one thing"},{"n":2,"at":6.0,"goal":"g","output":" "}]}"#;
    bench.put(FILE, format!(r#"{{"v":99,"note":"n","entries":[{old},"junk",7,{{"harness":"pi"}}]}}"#).as_bytes());
    let words = store(&bench);
    assert_eq!(words.slots().list().len(), 1);
    save(&words, "new", &goal("x"), 10.0);
    assert!(bench.text(FILE).contains(old) && bench.text(FILE).contains(r#""note":"n""#));
    assert_eq!(file(&bench)["v"], 2);
    save(&words, "old", &lines(&["a"], None), 11.0);
    assert_eq!(file(&bench)["entries"][0]["revisions"][0]["lines"], json!([{"text": "one thing", "source": "typed"}]));
}

#[test]
fn ann_020_021_an_untrusted_file_is_never_written_over() {
    let deep = format!(r#"{{"entries":[{}{}]}}"#, "[".repeat(500), "]".repeat(500));
    for content in ["{", "[]", r#"{"v":2}"#, r#"{"entries":{}}"#, r#"{"v":2,"entries":[{"harness":"pi""#, &deep] {
        let bench = Bench::new();
        bench.put(FILE, content.as_bytes());
        let words = store(&bench);
        let settle = Action::Settle { through: 5.0, expected: None };
        for action in [goal("x"), lines(&["a"], None), Action::Clear, settle] {
            assert_eq!(save(&words, "s", &action, 9.0), Outcome::Untrusted);
        }
        assert_eq!((words.sweep(), shown(&words, "s").goal_why), (Swept::Untrusted, say::NOTICE));
        assert_eq!((bench.text(FILE).as_str(), bench.names()), (content, vec![FILE.to_owned()]));
        bench.remove(FILE);
        assert_eq!(save(&words, "s", &goal("x"), 9.0), Outcome::Stored);
    }
    let bench = Bench::new();
    bench.put(FILE, b"");
    assert_eq!(save(&store(&bench), "s", &goal("x"), 9.0), Outcome::Stored, "an empty file is an empty store");
    bench.put(FILE, &vec![b' '; crate::config::ANNOTATION_READ_CAP_BYTES + 1]);
    assert_eq!(save(&store(&bench), "s", &goal("x"), 9.0), Outcome::Untrusted);
}

#[test]
fn ann_020_no_regular_file_is_untrusted_and_nothing_blocks_or_is_followed() {
    let bench = Bench::new();
    bench.place().ensure().unwrap();
    let path = bench.place().path(FILE);
    let victim = bench.outside().path("victim");
    std::fs::write(&victim, SAMPLE).unwrap();
    std::os::unix::fs::symlink(&victim, &path).unwrap();
    assert_eq!(save(&store(&bench), "s", &goal("x"), 9.0), Outcome::Untrusted);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(save(&store(&bench), "s", &goal("x"), 9.0), Outcome::Untrusted);
    std::fs::remove_dir(&path).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(fifo.success());
    assert_eq!(save(&store(&bench), "s", &goal("x"), 9.0), Outcome::Untrusted);
    assert_eq!((std::fs::read_to_string(victim).unwrap().as_str(), bench.names()), (SAMPLE, vec![FILE.to_owned()]));
}

#[test]
fn ann_022_a_record_this_build_refuses_is_held_word_for_word() {
    let seven: Vec<Value> = (0..7).map(|i| json!({"text": i.to_string(), "source": "typed"})).collect();
    let refusals = [
        json!({"n": 2, "at": 5.0, "goal": "g", "lines": seven}),
        json!({"n": 2, "at": 5.0, "goal": "g", "lines": [{"text": "a", "source": "model"}]}),
        json!({"n": 2, "at": 5.0, "goal": "g", "lines": [{"text": "a", "source": "entry"}]}),
        json!({"n": 2, "at": 5.0, "goal": "g", "lines": ["a"]}),
        json!({"n": 2, "at": 5.0, "goal": "g", "lines": "a"}),
        json!({"n": 2, "at": 5.0, "goal": "g", "lines": [], "goal_source": "latest-prompt"}),
        json!({"n": 2, "at": 5.0, "goal": "g", "lines": [], "goal_source": "other", "goal_source_at": 4.0}),
        json!({"n": 2, "at": 5.0, "goal": "g", "lines": [], "goal_source": "first-prompt", "goal_source_at": 5.5}),
        json!({"n": 2, "at": 5.0, "goal": "g", "lines": [], "window_start": 6.0}),
        json!({"n": 2, "at": 5.0, "goal": "g", "lines": [], "window_start": true}),
        json!({"n": 2, "at": 5.0, "goal": "g", "lines": [], "goal_saved_at": 5.1}),
    ];
    for (i, refused) in refusals.iter().enumerate() {
        let bench = Bench::new();
        let foreign = json!({"harness": "pi", "sid": "raw", "later": "kept", "revisions": [{"n": 1, "at": 1.0, "goal": "older", "lines": []}, refused]});
        bench.put(FILE, format!(r#"{{"v":2,"entries":[{foreign}]}}"#).as_bytes());
        let words = store(&bench);
        let before = bench.text(FILE);
        for action in
            [goal("mine"), lines(&["a"], Some(2)), Action::Clear, Action::Settle { through: 1.0, expected: None }]
        {
            assert_eq!(save(&words, "raw", &action, 9.0), Outcome::Unreadable, "{i}");
        }
        assert_eq!((bench.text(FILE), shown(&words, "raw").goal_why), (before, say::HELD));
        assert_eq!(save(&words, "other", &goal("x"), 9.0), Outcome::Stored);
        assert!(bench.text(FILE).contains(&foreign.to_string()), "{i}");
        assert!(matches!(words.sweep(), Swept::Nothing));
    }
    for odd in [
        r#"{"harness":"pi","sid":"raw","revisions":{"n":1}}"#,
        r#"{"harness":"pi","sid":"raw","revisions":[{"n":1e999}]}"#,
    ] {
        let bench = Bench::new();
        bench.put(FILE, format!(r#"{{"v":2,"entries":[{odd}]}}"#).as_bytes());
        let words = store(&bench);
        assert_eq!(save(&words, "raw", &goal("x"), 9.0), Outcome::Unreadable, "{odd}");
        save(&words, "other", &goal("x"), 9.0);
        assert!(bench.text(FILE).contains(odd));
    }
}

/// ANN-023, ANN-024, ANN-026, ANN-027
#[test]
fn ann_023_024_026_027_malformed_parts_go_alone_and_texts_are_made_safe() {
    let bench = Bench::new();
    let secret = format!("sk-ant-api03-{}", "Qz7Rk2Vm9Xt4Wb6Yp3Nd8Hs5Jf1Lg0Cc".repeat(2));
    let entry = json!({"harness": "pi", "sid": "s", "readings": -1, "withheld": "made up", "jobs": ["../x", "ab", 7], "written": "x",
        "settled": {"at": 1.0, "through": "x", "revision": 1},
        "revisions": [{"n": true, "at": 1.0}, {"n": 0, "at": 1.0}, 7, {"n": 2, "at": 2.0, "goal": format!("use {secret}"), "lines": []},
                      {"n": 1, "at": 1.0, "goal": 7, "lines": []}]});
    let gone = json!({"harness": "pi", "sid": "gone", "revisions": [], "discarded": 5.0, "discarded_revision": 2, "goal": "hung on"});
    let none = json!({"harness": "pi", "sid": "none", "revisions": [], "discarded": true});
    bench.put(FILE, format!(r#"{{"v":2,"entries":[{entry},{gone},{none}]}}"#).as_bytes());
    let words = store(&bench);
    let read = words.slots();
    let s = read.get("pi", "s").unwrap().entry().unwrap().clone();
    assert_eq!((s.number(), s.revisions.len(), s.revisions[0].goal.as_str()), (2, 2, ""));
    assert_eq!((s.readings, s.withheld.as_str(), s.jobs, s.settled), (0, "", vec!["ab".to_owned()], None));
    assert!(!shown(&words, "s").goal.contains("Qz7Rk2Vm"));
    assert!(read.get("pi", "none").is_none());
    let gone = read.get("pi", "gone").unwrap().entry().unwrap();
    assert_eq!((gone.discarded, gone.revisions.len()), (Some((5.0, Some(2))), 0));
    assert_eq!(shown(&words, "gone").goal_why, say::DISCARDED);
}

/// ANN-026
#[test]
fn ann_026_no_usable_head_of_a_key_survives_the_bound() {
    let bench = Bench::new();
    let words = store(&bench);
    let secret = format!("sk-ant-api03-{}", "Qz7Rk2Vm9Xt4Wb6Yp3Nd8Hs5Jf1Lg0Cc".repeat(2));
    for lead in 190..250 {
        save(&words, "s", &goal(&format!("{} {secret}", "g".repeat(lead))), 10.0 + lead as f64);
        assert!(!bench.text(FILE).contains("Qz7R") && !shown(&words, "s").goal.contains("Qz7R"));
    }
}

proptest::proptest! {
    /// TRUST-061, TRUST-080, TRUST-081 whatever is done to the file: no panic, and what is written back is stable.
    #[test]
    fn trust_081_a_damaged_file_settles(edits in crate::keep::testing::edits()) {
        crate::keep::testing::settles(&slots::Words, SAMPLE, &edits)?;
    }
}

proptest::proptest! {
    // Each case flushes a file.
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    /// TRUST-081, ANN-022 a save of another session changes no byte of a record, whatever was done to it.
    #[test]
    fn trust_081_another_sessions_save_keeps_every_record(edits in crate::keep::testing::edits()) {
        let mut text = SAMPLE.as_bytes().to_vec();
        for (at, gone, piece) in &edits {
            let at = at % (text.len() + 1);
            text.splice(at..(at + gone).min(text.len()), piece.bytes());
        }
        let bench = Bench::new();
        bench.put(FILE, &text);
        let words = store(&bench);
        let kept: Vec<String> = words.slots().list().iter().map(|slot| slot.raw().to_owned()).collect();
        match save(&words, "another session", &goal("x"), 1_790_002_000.0) {
            Outcome::Stored => {
                let after = bench.text(FILE);
                for raw in kept {
                    proptest::prop_assert!(after.contains(&raw), "{} is not in {}", raw, after);
                }
            }
            outcome => {
                proptest::prop_assert_eq!(outcome, Outcome::Untrusted);
                proptest::prop_assert_eq!(std::fs::read(bench.place().path(FILE)).unwrap(), text);
            }
        }
    }
}
