use super::*;
use crate::harness::testkit::{NOW, Scratch, append, candidates, ends, grow, iso, one, pass, text};
use proptest::prelude::*;

const SID: &str = "68abe758-1c58-4c0e-9a41-2f7e5d7d7a10";

fn reader(scratch: &Scratch) -> Droid {
    let factory = scratch.0.join(".factory");
    Droid::new(vec![factory.join("sessions"), factory.join("projects")], PathBuf::from("/home/dev"))
}

fn start(sid: &str, title: &str) -> String {
    format!("{{\"type\":\"session_start\",\"id\":\"{sid}\",\"title\":\"{title}\",\"cwd\":\"/w/acme/ops\"}}\n")
}

fn message(at: f64, role: &str, content: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"timestamp\":\"{}\",\"message\":{{\"role\":\"{role}\",\"content\":{content}}}}}\n",
        iso(at)
    )
}

fn tool(name: &str) -> String {
    format!("[{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"{name}\",\"input\":{{}}}}]")
}

const RESULT: &str = "[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"never a prompt\"}]";

/// DROID-001, DROID-002, DROID-005, DROID-006, DROID-008, DROID-009, DROID-010, DROID-011, DROID-012, DROID-013,
/// DROID-014, DROID-022, DROID-030: a complete row.
#[test]
fn droid_001_to_014_022_030_a_transcript_of_0_202_0() {
    let s = Scratch::new("droid-fixture");
    s.fixture(
        &format!("droid/0.202.0/{SID}.jsonl"),
        &format!(".factory/sessions/-home-dev-src-atlas/{SID}.jsonl"),
        NOW - 30.0,
    );
    let row = one(&mut reader(&s), NOW);
    assert_eq!((row.sid.as_str(), row.project.as_str()), (SID, "src/atlas"));
    assert_eq!(
        (row.title.as_deref(), row.last_prompt.as_str()),
        (Some("Ship importer"), "Make the importer skip empty rows")
    );
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Working, Some("running Read")));
    assert_eq!(row.turn.as_ref().unwrap().elapsed_h, "55s");
    assert_eq!(
        (row.rate_per_min, row.model.clone(), row.looping.is_some(), row.subagents.len()),
        (None, None, false, 0)
    );
    assert_eq!((row.session_output_tokens, row.turn_output_tokens), (None, None));
    assert_eq!((row.started_at, row.last_activity), (Some(NOW - 55.0), NOW - 30.0));
    assert!(row.degrades.is_empty());
    // TRUST-028, DROID-004: the fixture holds them, the row does not.
    assert!(!text(&row).contains("MARK-"));
}

/// DROID-001, DROID-002, DROID-003, DROID-027: either root alone, one directory deep.
#[test]
fn droid_001_003_027_the_older_root_alone() {
    let s = Scratch::new("droid-older");
    let mut droid = reader(&s);
    assert!(!droid.discovered());
    s.write(".factory/projects/toplevel.jsonl", start("top", "x"), NOW);
    s.write(".factory/projects/a/b/deep.jsonl", start("deep", "x"), NOW);
    assert!(!droid.discovered());
    s.fixture("droid/projects/d1d2d3d4.jsonl", ".factory/projects/atlas/d1d2d3d4.jsonl", NOW);
    assert!(droid.discovered());
    let row = one(&mut droid, NOW);
    assert_eq!((row.sid.as_str(), row.last_prompt.as_str()), ("d1d2d3d4", "Count the rows"));
    assert_eq!(row.state_detail.as_deref(), Some("generating…"));
}

/// DROID-007, DROID-025: one row a session, the more recent.
#[test]
fn droid_007_025_one_row_a_session_the_more_recent() {
    let s = Scratch::new("droid-copy");
    s.write(".factory/sessions/-w/x.jsonl", start("x", "Newer"), NOW - 5.0);
    s.write(".factory/projects/w/x.jsonl", start("x", "Older"), NOW - 50.0);
    assert_eq!(one(&mut reader(&s), NOW).title.as_deref(), Some("Newer"));
    s.write(".factory/projects/w/x.jsonl", start("x", "Newest"), NOW - 1.0);
    assert_eq!(one(&mut reader(&s), NOW).title.as_deref(), Some("Newest"));
    s.write(".factory/sessions/-w/x.jsonl", start("x", "Tie goes to the first root"), NOW - 1.0);
    assert_eq!(one(&mut reader(&s), NOW).title.as_deref(), Some("Tie goes to the first root"));
}

/// DROID-005, DROID-006, DROID-008, DROID-009, DROID-017, DROID-018, DROID-024, DROID-031: first lines of every
/// shape.
#[test]
fn droid_005_006_008_017_018_024_031_odd_headers() {
    let s = Scratch::new("droid-headers");
    let prompt = message(NOW - 5.0, "user", "\"Bare prompt\\nmore\"");
    let cases = [
        (
            "my.proj-x-y/stem-one",
            format!("{{\"type\":\"message\"}}\n{prompt}"),
            "stem-one",
            "my.proj-x-y",
            Some("Bare prompt"),
        ),
        (
            "p2/stem-two",
            format!("{{\"type\":\"session_start\",\"id\":12345,\"title\":\"   \",\"cwd\":7}}\n{prompt}"),
            "12345",
            "p2",
            Some("Bare prompt"),
        ),
        (
            "-home-dev-acme-shop/stem-three",
            "{\"type\":\"session_start\",\"id\":\"three\",\"title\":\"Plain\",\"sessionTitle\":\"Better\"}\n".into(),
            "three",
            "acme-shop",
            Some("Better"),
        ),
        (
            "p4/stem-four",
            format!("{{\"type\":\"session_start\",\"id\":[1],\"title\":\"key sk-ant-api03-{}\"}}\n", "A".repeat(95)),
            "stem-four",
            "p4",
            Some("key sk-ant-…REDACTED"),
        ),
        ("p5/stem-five", "not json\n".into(), "stem-five", "p5", None),
        ("p6/stem-six", String::new(), "stem-six", "p6", None),
    ];
    for (path, bytes, ..) in &cases {
        s.write(&format!(".factory/sessions/{path}.jsonl"), bytes, NOW);
    }
    let rows = pass(&mut reader(&s), NOW, false).rows;
    assert_eq!(rows.len(), cases.len());
    for (_, _, sid, project, title) in &cases {
        let row = rows.iter().find(|row| row.sid == *sid).unwrap();
        assert_eq!((row.project.as_str(), row.title.as_deref()), (*project, *title), "{sid}");
    }
}

/// DROID-013, DROID-014, DROID-015, DROID-020, DROID-021: state follows recency alone.
#[test]
fn droid_013_to_015_020_021_state_follows_recency() {
    let s = Scratch::new("droid-recency");
    for (sid, age) in [("fresh", 90.0), ("quiet", 91.0), ("stale", 90_000.0), ("ahead", -86_400.0)] {
        s.write(
            &format!(".factory/sessions/-w/{sid}.jsonl"),
            start(sid, sid) + &message(NOW - f64::max(age, 95.0), "user", "\"x\""),
            NOW - age,
        );
    }
    s.write(
        ".factory/sessions/-w/skew.jsonl",
        start("skew", "s") + &message(NOW + 86_400.0, "user", "\"x\""),
        NOW - 150.0,
    );
    s.write(
        ".factory/sessions/-w/warm.jsonl",
        start("warm", "s") + &message(NOW + 86_400.0, "user", "\"x\""),
        NOW - 1.0,
    );
    let mut droid = reader(&s);
    let state = |rows: &[Observed], sid: &str| rows.iter().find(|row| row.sid == sid).map(|row| row.state);
    let rows = pass(&mut droid, NOW, false).rows;
    assert_eq!(state(&rows, "fresh"), Some(State::Working));
    assert_eq!(state(&rows, "quiet"), Some(State::Idle));
    assert_eq!(state(&rows, "skew"), Some(State::Idle));
    assert_eq!(state(&rows, "warm"), Some(State::Working));
    assert_eq!((state(&rows, "stale"), state(&rows, "ahead")), (None, None));
    assert!(rows.iter().all(|row| row.blocked_since.is_none() && row.provider.is_none()));
    let rows = pass(&mut droid, NOW, true).rows;
    for sid in ["stale", "ahead"] {
        let row = rows.iter().find(|row| row.sid == sid).unwrap();
        // Line 1 is read and nothing after it: the title is known, the prompt is not.
        assert_eq!((row.state, row.title.as_deref(), row.last_prompt.as_str()), (State::Idle, Some(sid), ""), "{sid}");
    }
    assert_eq!(rows.iter().find(|row| row.sid == "ahead").unwrap().last_activity, 0.0);
}

/// DROID-001: where transcripts are looked for; no variable moves them.
#[test]
fn droid_001_the_two_roots() {
    let vars = [("HOME", "/home/u"), ("FACTORY_DIR", "/moved"), ("XDG_DATA_HOME", "/moved")];
    let found = candidates("droid.projects", crate::env::Platform::Linux, &vars);
    assert_eq!(found, ["/home/u/.factory/sessions", "/home/u/.factory/projects"]);
}

/// DROID-016: a copy that kept an old file time stays active by its records; one from tomorrow does not (DROID-021).
#[test]
fn droid_016_a_copy_with_an_old_file_time_is_judged_by_its_records() {
    let s = Scratch::new("droid-old-time");
    let fresh = |sid: &str| start(sid, sid) + &message(NOW - 5.0, "user", "\"Go\"");
    s.write(".factory/sessions/-w/copy.jsonl", fresh("copy"), NOW - 90_000.0);
    s.write(".factory/sessions/-w/ahead.jsonl", fresh("ahead"), NOW + 86_400.0);
    s.write(".factory/sessions/-w/old.jsonl", start("old", "old"), NOW - 90_000.0);
    let mut droid = reader(&s);
    let row = one(&mut droid, NOW);
    assert_eq!((row.sid.as_str(), row.last_activity, row.state), ("copy", NOW - 5.0, State::Working));
    assert_eq!(row.last_prompt, "Go");
    assert!(pass(&mut droid, NOW + 86_396.0, false).rows.iter().all(|row| row.sid != "copy"));
}

/// DROID-019, FIELD-056, DECK-020, TRUST-036: what is passed over, damaged, or of a newer format is named on its row
/// and for the harness.
#[cfg(unix)]
#[test]
fn deck_020_droid_019_what_is_not_read_is_named_on_the_row_and_for_the_harness() {
    let s = Scratch::new("droid-named");
    let newer = start("new", "New").replace("\"cwd\"", "\"version\":3,\"cwd\"");
    let path = s.write(".factory/sessions/-w/new.jsonl", newer + "junk\n", NOW);
    s.write(".factory/sessions/-w/known.jsonl", start("known", "x").replace("\"cwd\"", "\"version\":2,\"cwd\""), NOW);
    std::os::unix::fs::symlink(&path, path.with_file_name("link.jsonl")).unwrap();
    let found = pass(&mut reader(&s), NOW, false);
    let of = |sid: &str| found.rows.iter().find(|row| row.sid == sid).unwrap().degrades.clone();
    let degrade = |code, source: &str, count| Degrade { code, source: source.into(), count };
    let want = [degrade(Code::RecordSkipped, "new.jsonl", Some(1)), degrade(Code::VersionUnseen, "new.jsonl", None)];
    assert_eq!((of("new"), of("known")), (want.to_vec(), vec![]));
    let want = [degrade(Code::RecordSkipped, STORE, Some(2)), degrade(Code::VersionUnseen, STORE, None)];
    assert_eq!(found.degrades, want);
}

/// DROID-016: the newer of stamp and file time.
#[test]
fn droid_016_a_newer_record_counts_beside_the_file_time() {
    let s = Scratch::new("droid-newer");
    s.write(".factory/sessions/-w/x.jsonl", start("x", "t") + &message(NOW - 5.0, "user", "\"x\""), NOW - 3600.0);
    let row = one(&mut reader(&s), NOW);
    assert_eq!((row.last_activity, row.state), (NOW - 5.0, State::Working));
}

/// DROID-010, DROID-011, DROID-022, DROID-023: what is a prompt.
#[test]
fn droid_010_011_022_023_what_is_a_prompt() {
    let s = Scratch::new("droid-prompts");
    let path = s.write(".factory/sessions/-w/x.jsonl", start("x", ""), NOW);
    let mut droid = reader(&s);
    let mut expect = |more: &str, prompt: &str, turn: Option<&str>, detail: &str| {
        append(&path, more, NOW);
        let row = one(&mut droid, NOW);
        let elapsed = row.turn.as_ref().map(|turn| turn.elapsed_h.clone());
        assert_eq!(
            (row.last_prompt.as_str(), elapsed.as_deref(), row.state_detail.as_deref()),
            (prompt, turn, Some(detail))
        );
    };
    expect(&message(NOW - 80.0, "user", "\"First\""), "First", Some("1m"), "generating…");
    expect(&message(NOW - 70.0, "assistant", &tool("Bash")), "First", Some("1m"), "running Bash");
    expect(&message(NOW - 60.0, "user", RESULT), "First", Some("1m"), "running Bash");
    expect(
        &message(NOW - 55.0, "assistant", "[4,null,{\"type\":\"tool_use\",\"name\":9}]"),
        "First",
        Some("1m"),
        "running Bash",
    );
    expect(
        &message(NOW - 50.0, "user", "[{\"type\":\"text\",\"text\":\"Second\"}]"),
        "Second",
        Some("50s"),
        "running Bash",
    );
    expect(&message(NOW - 40.0, "user", "[]"), "Second", Some("40s"), "running Bash");
    expect(&message(NOW - 30.0, "system", "\"Not a person\""), "Second", Some("40s"), "running Bash");
    let row = one(&mut droid, NOW);
    assert_eq!(row.evidence.turn_durations, [25.0]);
}

/// DROID-019, DROID-028: damage, a half-written first line, a file that goes.
#[test]
fn droid_019_028_trust_036_damage_costs_only_itself() {
    let s = Scratch::new("droid-damage");
    let path = s.write(".factory/sessions/-w/x.jsonl", "{\"type\":\"session_start\",\"id\":\"x\",\"ti", NOW);
    let mut droid = reader(&s);
    let row = one(&mut droid, NOW);
    assert_eq!((row.sid.as_str(), row.title.as_deref()), ("x", None));
    append(&path, "tle\":\"Whole at last\",\"cwd\":\"/w/acme/late\"}\njunk\n[]\n\n{\"half\":", NOW);
    let row = one(&mut droid, NOW);
    assert_eq!((row.title.as_deref(), row.project.as_str()), (Some("Whole at last"), "acme/late"));
    assert_eq!(row.degrades, [Degrade { code: Code::RecordSkipped, source: "x.jsonl".into(), count: Some(2) }]);
    append(&path, message(NOW, "user", "\"Glued\"") + &message(NOW, "user", "\"After the damage\""), NOW);
    let row = one(&mut droid, NOW);
    assert_eq!((row.last_prompt.as_str(), row.degrades[0].count), ("After the damage", Some(3)));
    std::fs::remove_file(&path).unwrap();
    assert!(pass(&mut droid, NOW, true).rows.is_empty());
}

/// DROID-002, DROID-004, DROID-026: names that are never looked at.
#[test]
fn droid_004_026_trust_026_names_that_are_never_looked_at() {
    let dir = OsStr::new("-w");
    for name in NEVER.iter().copied().chain(["auth.v2.file", "auth.v2.key", "x.settings.json", "x.jsonl.bak", "x.lock"])
    {
        for parents in [&[][..], &[dir][..], &[dir, dir][..]] {
            assert_eq!(judge(parents, OsStr::new(name)), Take::Skip, "{name} below {parents:?}");
        }
    }
    assert_eq!(judge(&[], OsStr::new("-w-acme")), Take::Enter);
    assert_eq!(judge(&[dir], OsStr::new("a.jsonl")), Take::File);
    assert_eq!(judge(&[dir], OsStr::new("a.json")), Take::Skip);
    assert_eq!(judge(&[dir, dir], OsStr::new("a.jsonl")), Take::Skip);
}

/// DROID-029: tail and bound.
#[test]
fn droid_029_a_long_transcript_is_read_in_part_and_keeps_its_turn() {
    let s = Scratch::new("droid-long");
    let mut bytes = start("x", "Long") + &message(NOW - 500.0, "user", "\"Old prompt\"");
    let filler = format!("\"{}\"", "y".repeat(100_000));
    for i in 0..120 {
        bytes += &message(NOW - 480.0 + f64::from(i) * 4.0, "assistant", &filler);
    }
    let path = s.write(".factory/sessions/-w/x.jsonl", &bytes, NOW);
    let mut droid = reader(&s);
    let row = one(&mut droid, NOW);
    assert_eq!((row.title.as_deref(), row.last_prompt.as_str(), row.started_at), (Some("Long"), "Old prompt", None));
    assert_eq!(row.turn.unwrap().elapsed_h, "8m");
    assert_eq!(row.degrades, [Degrade { code: Code::ReadInPart, source: "x.jsonl".into(), count: None }]);
    // More than the bound unread at once: the file counts as never seen.
    append(&path, bytes.replace("Old prompt", "New prompt"), NOW);
    assert_eq!(one(&mut droid, NOW).last_prompt, "New prompt");
}

#[test]
fn droid_034_a_store_that_goes_and_comes_back() {
    let s = Scratch::new("droid-back");
    let mut droid = reader(&s);
    for _ in 0..2 {
        s.write(".factory/sessions/-w/x.jsonl", start("x", "t"), NOW);
        assert_eq!(one(&mut droid, NOW).sid, "x");
        std::fs::remove_dir_all(s.0.join(".factory")).unwrap();
        pass(&mut droid, NOW, false);
        assert!(!droid.discovered());
    }
    s.write(".factory", "a file where a folder should be", NOW);
    assert!(!droid.discovered());
}

#[test]
#[ignore = "measures; needs CARGENTO_SCALE_HOME"]
fn scale() {
    crate::harness::testkit::cost(&|home| {
        Box::new(Droid::new(vec![home.join(".factory/sessions"), home.join(".factory/projects")], home.into()))
    });
}

/// A line out of the shapes a transcript may hold, damaged ones included.
fn any_line() -> impl Strategy<Value = String> {
    let content = prop_oneof![
        Just("\"words\"".to_owned()),
        Just("[]".into()),
        Just(RESULT.into()),
        Just(tool("Bash")),
        Just(tool("Read")),
        Just("[{\"type\":\"text\",\"text\":\"parts\"},7]".into()),
        Just("{\"text\":[1]}".into()),
        Just("null".into()),
    ];
    let role = prop_oneof![Just("user"), Just("assistant"), Just("tool")];
    prop_oneof![
        6 => (0.0..900.0, role, content).prop_map(|(age, role, content)| message(NOW - f64::round(age), role, &content)),
        1 => Just(start("x", "Title")),
        1 => Just("{\"type\":\"todo\",\"timestamp\":\"2099-01-01T00:00:00Z\"}\n".into()),
        1 => Just("{\"half\":\n".into()),
        1 => Just("\n".into()),
    ]
}

fn told(mut row: Observed) -> String {
    row.degrades.clear();
    text(&row)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn turn_001_growing_reads_as_cold_at_every_split(lines in prop::collection::vec(any_line(), 0..20), cuts in prop::collection::vec(0.0..1.0f64, 1..5)) {
        let s = Scratch::new("droid-split");
        let bytes = lines.concat().into_bytes();
        let path = s.write(".factory/sessions/-w/x.jsonl", b"", NOW);
        let mut warm = reader(&s);
        grow(&path, &bytes, ends(&cuts, bytes.len()), |_| {
            prop_assert_eq!(told(one(&mut warm, NOW)), told(one(&mut reader(&s), NOW)));
            Ok(())
        })?;
    }

    #[test]
    fn trust_033_any_bytes_are_read_without_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let s = Scratch::new("droid-bytes");
        s.write(".factory/sessions/-w/x.jsonl", &bytes, NOW);
        prop_assert_eq!(pass(&mut reader(&s), NOW, true).rows.len(), 1);
    }

    #[test]
    fn trust_033_any_value_in_any_field(value in "[ -~]{0,40}", field in 0usize..6) {
        let values = ["7", "null", "[[{}]]", "{\"a\":{}}", "true", "\"t\""];
        let v = if serde_json::from_str::<serde_json::Value>(&value).is_ok() { value.as_str() } else { values[field] };
        for key in ["type", "id", "sessionTitle", "cwd", "timestamp", "message"] {
            let line = format!("{{\"{key}\":{v}}}");
            record::header(line.as_bytes());
            record::moment(line.as_bytes());
        }
        for key in ["role", "content"] {
            let line = format!("{{\"type\":\"message\",\"message\":{{\"{key}\":{v},\"role\":\"user\"}}}}");
            record::moment(line.as_bytes());
        }
    }
}
