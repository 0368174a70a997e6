use super::*;
use crate::harness::testkit::{NOW, Scratch, append, iso, one, pass, text, touch};
use proptest::prelude::*;

const SID: &str = "3f2c9a10-8f5e-4a77-9c55-0d5b1b0f6c21";
const FIXTURE: &str = "session-2026-09-20T09-58-3f2c9a10.jsonl";
const DOCUMENT: &str = "session-2026-09-20T09-50-1a2b3c4d.json";

fn reader(s: &Scratch) -> Gemini {
    Gemini::new(s.0.join("tmp"), PathBuf::from("/home/dev"))
}

fn head(sid: &str) -> String {
    format!("{{\"sessionId\":\"{sid}\",\"kind\":\"main\",\"directories\":[\"/w/acme/docs\"]}}\n")
}

fn user(id: &str, at: f64, content: &str) -> String {
    format!("{{\"id\":\"{id}\",\"timestamp\":\"{}\",\"type\":\"user\",\"content\":{content}}}", iso(at))
}

fn reply(id: &str, at: f64, output: u64, tool: &str) -> String {
    let stamp = iso(at);
    format!(
        "{{\"id\":\"{id}\",\"timestamp\":\"{stamp}\",\"type\":\"gemini\",\"content\":\"Words.\",\"tokens\":{{\"output\":{output}}},\"toolCalls\":[{{\"name\":\"{tool}\"}}]}}"
    )
}

fn snapshot(messages: &[&str]) -> String {
    format!("{{\"$set\":{{\"messages\":[{}]}}}}\n", messages.join(","))
}

fn main_file(s: &Scratch, project: &str, sid: &str, lines: &str, mtime: f64) -> PathBuf {
    s.write(
        &format!("tmp/{project}/chats/session-2026-01-01T00-00-{}.jsonl", &sid[..sid.len().min(8)]),
        head(sid) + lines,
        mtime,
    )
}

/// GEM-002, GEM-005, GEM-006, GEM-007, GEM-009, GEM-010, GEM-011, GEM-012, GEM-014, GEM-015, GEM-019, TRUST-028: a
/// recording of 0.53.1.
#[test]
fn gem_002_to_019_a_recording_of_0_53_1() {
    let s = Scratch::new("gemini-fixture");
    s.fixture(&format!("gemini/0.53.1/{FIXTURE}"), &format!("tmp/atlas/chats/{FIXTURE}"), NOW - 50.0);
    let row = one(&mut reader(&s), NOW);
    assert_eq!((row.sid.as_str(), row.project.as_str()), (SID, "src/atlas"));
    assert_eq!(
        (row.title.as_deref(), row.last_prompt.as_str()),
        (Some("Explain the importer"), "Explain the importer")
    );
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Working, Some("running read_file")));
    // 164 tokens once, whatever the snapshot and the fuller version repeat (GEM-010, GEM-011).
    assert_eq!((row.rate_per_min, row.model.clone(), row.provider.clone()), (Some(16), None, None));
    assert_eq!(row.turn.as_ref().unwrap().elapsed_h, "1m");
    assert_eq!((row.started_at, row.blocked_since), (Some(NOW - 115.0), None));
    assert!(row.evidence.turn_durations.is_empty() && row.degrades.is_empty());
    // TRUST-028, GEM-005: the fixture holds them, the row does not.
    assert!(!text(&row).contains("MARK-"));
}

/// FIELD-001, GEM-003: both shapes side by side and never two rows for one id.
#[test]
fn field_001_both_shapes_side_by_side_and_never_two_rows_for_one_id() {
    let s = Scratch::new("gemini-shapes");
    let document = s.fixture(&format!("gemini/0.38/{DOCUMENT}"), &format!("tmp/atlas/chats/{DOCUMENT}"), NOW - 30.0);
    let mut gemini = reader(&s);
    // GEM-003: a document alone does not make the harness known.
    assert!(!gemini.discovered());
    s.fixture(&format!("gemini/0.53.1/{FIXTURE}"), &format!("tmp/atlas/chats/{FIXTURE}"), NOW - 50.0);
    s.write(&format!("tmp/atlas/chats/{SID}/x.jsonl"), "{}\n", NOW - 40.0);
    let rows = pass(&mut gemini, NOW, false).rows;
    assert_eq!(rows.len(), 2);
    let old = rows.iter().find(|row| row.sid.starts_with("1a2b3c4d")).unwrap();
    assert_eq!(
        (old.title.as_deref(), old.rate_per_min, old.state_detail.as_deref()),
        (Some("Count the rows"), Some(7), Some("running run_shell_command"))
    );
    assert!(!text(old).contains("MARK-"));
    assert_eq!(rows.iter().find(|row| row.sid == SID).unwrap().subagents.len(), 1);
    // The CLI turns a document into lines on resume: one session, whichever file is newer.
    let lines = main_file(
        &s,
        "atlas",
        "1a2b3c4d-0000-4000-8000-000000000001",
        &(user("n", NOW - 5.0, "\"Resumed\"") + "\n"),
        NOW - 5.0,
    );
    let rows = pass(&mut gemini, NOW, true).rows;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows.iter().find(|row| row.sid.starts_with("1a2b")).unwrap().title.as_deref(), Some("Resumed"));
    touch(&lines, NOW - 30.0);
    assert_eq!(
        pass(&mut gemini, NOW, false).rows.iter().find(|row| row.sid.starts_with("1a2b")).unwrap().title.as_deref(),
        Some("Resumed")
    );
    // A document that is being written keeps what was read; one outside the window is only named.
    std::fs::remove_file(lines).unwrap();
    std::fs::write(&document, "{\"sessionId\": \"1a2b").unwrap();
    touch(&document, NOW - 1.0);
    assert_eq!(
        pass(&mut gemini, NOW, false).rows.iter().find(|row| row.sid.starts_with("1a2b")).unwrap().title.as_deref(),
        Some("Count the rows")
    );
    s.fixture(&format!("gemini/0.38/{DOCUMENT}"), &format!("tmp/atlas/chats/{DOCUMENT}"), NOW - 90_000.0);
    let rows = pass(&mut gemini, NOW, true).rows;
    assert_eq!(rows.iter().find(|row| row.sid.starts_with("1a2b")).unwrap().title, None);
}

/// GEM-031: a document that is no chat is nothing.
#[test]
fn gem_031_a_document_that_is_no_chat_is_nothing() {
    let s = Scratch::new("gemini-nochat");
    main_file(&s, "p", "real", "", NOW);
    for (name, bytes) in [
        ("a", "{\"sessionId\":\"legacy\"}\n"),
        ("b", "[]"),
        ("c", "{\"messages\":[]}"),
        ("d", "{\"sessionId\":\"x\",\"messages\":{}}"),
        ("e", ""),
    ] {
        s.write(&format!("tmp/p/chats/session-{name}.json"), bytes, NOW);
        s.write(&format!("tmp/p/chats/session-old-{name}.json"), bytes, NOW - 90_000.0);
    }
    let rows = pass(&mut reader(&s), NOW, true).rows;
    assert_eq!(rows.iter().map(|row| row.sid.as_str()).collect::<Vec<_>>(), ["real"]);
}

/// GEM-003, GEM-005, GEM-008, TRUST-026: what is looked at.
#[test]
fn gem_003_005_008_trust_026_what_is_looked_at() {
    let [p, chats, dir] = [OsStr::new("p"), OsStr::new(CHATS), OsStr::new("3f2c")];
    for name in NEVER {
        for parents in [&[p][..], &[p, chats][..], &[p, chats, dir][..]] {
            assert_eq!(judge(parents, OsStr::new(name)), Take::Skip, "{name}");
        }
    }
    for (parents, name, want) in [
        (&[][..], "p", Take::Enter),
        (&[p][..], "chats", Take::Enter),
        (&[p][..], ".project_root", Take::File),
        (&[p][..], "session-a.jsonl", Take::Skip),
        (&[p, chats][..], "session-a.jsonl", Take::File),
        (&[p, chats][..], "session-a.json", Take::File),
        (&[p, chats][..], "3f2c", Take::Enter),
        (&[p, chats, dir][..], "a.jsonl", Take::File),
        (&[p, chats, dir][..], "session-a.json", Take::Skip),
        (&[p, p, dir][..], "a.jsonl", Take::Skip),
        (&[p, chats, dir, dir][..], "a.jsonl", Take::Skip),
    ] {
        assert_eq!(judge(parents, OsStr::new(name)), want, "{parents:?} {name}");
    }
    let s = Scratch::new("gemini-looked");
    s.write("tmp/p/chats/3f2c/x.jsonl", "{}\n", NOW);
    s.write("tmp/p/chats/notes.jsonl", head("notes"), NOW);
    assert!(!reader(&s).discovered());
    let sub = "{\"sessionId\":\"sub\",\"kind\":\"subagent\"}\n";
    s.write("tmp/p/chats/session-sub.jsonl", sub, NOW);
    s.write("tmp/p/chats/session-oldsub.jsonl", sub.replace("sub\",", "oldsub\","), NOW - 90_000.0);
    let mut gemini = reader(&s);
    assert!(gemini.discovered());
    assert!(pass(&mut gemini, NOW, true).rows.is_empty());
}

/// GEM-008, GEM-029: the newest copy of a session wins.
#[test]
fn gem_008_029_the_newest_copy_of_a_session_wins() {
    let s = Scratch::new("gemini-copies");
    main_file(&s, "p1", "twice", &(user("a", NOW - 9.0, "\"Old copy\"") + "\n"), NOW - 900.0);
    main_file(&s, "p2", "twice", &(user("a", NOW - 9.0, "\"New copy\"") + "\n"), NOW);
    assert_eq!(one(&mut reader(&s), NOW).title.as_deref(), Some("New copy"));
}

/// GEM-007, GEM-021, GEM-022, GEM-033: odd and unfinished headers.
#[test]
fn gem_007_021_022_033_odd_and_unfinished_headers() {
    let s = Scratch::new("gemini-headers");
    let dir = "tmp/my-cool-shop/chats";
    for (name, extra) in [
        ("text", ",\"directories\":\"/w/x\""),
        ("empty", ",\"directories\":[]"),
        ("relative", ",\"directories\":[\"a/b\"]"),
        ("none", ""),
    ] {
        s.write(
            &format!("{dir}/session-{name}.jsonl"),
            format!("{{\"sessionId\":\"{name}\",\"kind\":\"main\"{extra}}}\n"),
            NOW,
        );
    }
    let path = s.write(&format!("{dir}/session-2026-09-20T10-00-3f2c9a10.jsonl"), "{\"sessionId\":\"la", NOW);
    let mut gemini = reader(&s);
    let rows = pass(&mut gemini, NOW, false).rows;
    assert_eq!(rows.len(), 5);
    assert!(rows.iter().all(|row| row.project == "my-cool-shop"));
    assert!(rows.iter().any(|row| row.sid == "session-2026-09-20T10-00-3f2c9a10"));
    append(
        &path,
        format!("te\",\"directories\":[\"/w/acme/late\"]}}\n{}\n{{\"half\":", user("a", NOW, "\"Whole now\"")),
        NOW,
    );
    let rows = pass(&mut gemini, NOW, false).rows;
    let late = rows.iter().find(|row| row.sid == "late").unwrap();
    assert_eq!((late.title.as_deref(), late.project.as_str(), rows.len()), (Some("Whole now"), "acme/late", 5));
}

/// GEM-009: the project's own note stands in for a missing directory.
#[test]
fn gem_009_the_projects_own_note_stands_in_for_a_missing_directory() {
    let s = Scratch::new("gemini-note");
    s.write("tmp/slug/.project_root", "/home/dev/src/atlas\nmore", NOW);
    s.write("tmp/slug/chats/session-a.jsonl", "{\"sessionId\":\"a\"}\n", NOW);
    s.write("tmp/other/.project_root", "relative", NOW);
    s.write("tmp/other/chats/session-b.jsonl", "{\"sessionId\":\"b\"}\n", NOW);
    let rows = pass(&mut reader(&s), NOW, false).rows;
    let project = |sid: &str| rows.iter().find(|row| row.sid == sid).unwrap().project.clone();
    assert_eq!((project("a"), project("b")), ("src/atlas".into(), "other".into()));
}

/// GEM-016, GEM-017, GEM-030: subagents fold onto their session.
#[test]
fn gem_016_017_030_subagents_fold_onto_their_session() {
    let s = Scratch::new("gemini-children");
    let path = main_file(&s, "p", SID, &(user("a", NOW - 300.0, "\"Parent\"") + "\n"), NOW - 200.0);
    let folder = SID.replace('-', "_").to_uppercase();
    for (name, age) in [("7b1d44e2-1111", 20.0), ("aaaaaaaa-2222", 5.0), ("bbbbbbbb-3333", 150.0)] {
        s.write(&format!("tmp/p/chats/{folder}/{name}.jsonl"), reply("x", NOW, 6000, "grep"), NOW - age);
    }
    s.write("tmp/p/chats/unmatched/cccccccc.jsonl", "{}\n", NOW);
    let mut gemini = reader(&s);
    let row = one(&mut gemini, NOW);
    assert_eq!(
        row.subagents.iter().map(|kid| kid.name.as_str()).collect::<Vec<_>>(),
        ["subagent aaaaaaaa", "subagent 7b1d44e2"]
    );
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Working, Some("running 2 subagents")));
    assert_eq!((row.last_activity, row.rate_per_min), (NOW - 5.0, Some(0)));
    assert!(row.subagents.iter().all(|kid| kid.model.is_none() && kid.started_at.is_none() && kid.active.is_none()));
    // A session outside the window by its own file is on the board for its subagent's sake.
    touch(&path, NOW - 90_000.0);
    let row = one(&mut gemini, NOW);
    assert_eq!((row.subagents.len(), row.title.as_deref()), (2, Some("Parent")));
}

/// GEM-018, GEM-019, GEM-028: state follows recency.
#[test]
fn gem_018_019_028_state_follows_recency() {
    let s = Scratch::new("gemini-recency");
    for (sid, age) in [("fresh", 90.0), ("quiet", 91.0), ("stale", 90_000.0)] {
        main_file(&s, sid, sid, &(user("a", NOW - age, "\"Prompt\"") + "\n"), NOW - age);
    }
    main_file(
        &s,
        "skew",
        "skew",
        &(user("a", NOW + 86_400.0, "\"x\"") + "\n" + &reply("b", NOW + 86_400.0, 5000, "t") + "\n"),
        NOW - 150.0,
    );
    main_file(&s, "warm", "warm", &(user("a", NOW + 86_400.0, "\"x\"") + "\n"), NOW - 1.0);
    let mut gemini = reader(&s);
    let rows = pass(&mut gemini, NOW, false).rows;
    let of = |sid: &str| rows.iter().find(|row| row.sid == sid);
    assert_eq!(of("fresh").unwrap().state, State::Working);
    assert_eq!((of("quiet").unwrap().state, of("quiet").unwrap().turn.is_some()), (State::Idle, false));
    assert_eq!((of("skew").unwrap().state, of("skew").unwrap().rate_per_min), (State::Idle, Some(0)));
    assert_eq!(of("warm").unwrap().state, State::Working);
    assert!(of("stale").is_none());
    let rows = pass(&mut gemini, NOW, true).rows;
    let stale = rows.iter().find(|row| row.sid == "stale").unwrap();
    assert_eq!((stale.title.as_deref(), stale.last_prompt.as_str(), stale.last_activity), (None, "", NOW - 90_000.0));
}

/// GEM-010, GEM-011, GEM-013, GEM-024, GEM-034: snapshots count once.
#[test]
fn gem_010_011_013_024_034_snapshots_count_once() {
    let s = Scratch::new("gemini-snapshots");
    let (a, b) = (user("m1", NOW - 400.0, "[{\"text\":\"First\"}]"), reply("m2", NOW - 390.0, 300, "ls"));
    let path = main_file(&s, "p", "s", &format!("{a}\n{b}\n"), NOW);
    let mut gemini = reader(&s);
    append(
        &path,
        format!("{{\"$set\":{{\"lastUpdated\":\"{}\"}}}}\n", iso(NOW)) + &snapshot(&[&a, &b, "\"noise\"", "7"]),
        NOW,
    );
    let row = one(&mut gemini, NOW);
    assert_eq!((row.rate_per_min, row.evidence.turn_durations.len()), (Some(30), 0));
    append(
        &path,
        snapshot(&[&a])
            + &snapshot(&[
                &a,
                &b,
                &user("m3", NOW - 50.0, "\"From a snapshot\""),
                &reply("m4", NOW - 4.0, 100, "grep"),
            ]),
        NOW,
    );
    let row = one(&mut gemini, NOW);
    assert_eq!(
        (row.title.as_deref(), row.rate_per_min, row.state_detail.as_deref()),
        (Some("From a snapshot"), Some(40), Some("running grep"))
    );
    // 390 s of silence re-anchor nothing: one finished turn, from the first prompt to the last record before the next.
    assert_eq!(row.evidence.turn_durations, [10.0]);
    // A record without an id is known by its content, whatever the order of its keys.
    append(
        &path,
        format!(
            "{{\"type\":\"gemini\",\"timestamp\":\"{0}\",\"tokens\":{{\"output\":50}}}}\n{{\"tokens\":{{\"output\":50}},\"timestamp\":\"{0}\", \"type\":\"gemini\"}}\n",
            iso(NOW - 3.0)
        ),
        NOW,
    );
    assert_eq!(one(&mut gemini, NOW).rate_per_min, Some(45));
}

/// GEM-023: a snapshot of 5000 messages 50 times.
#[test]
fn gem_023_a_snapshot_of_5000_messages_50_times() {
    let s = Scratch::new("gemini-many");
    let path = main_file(&s, "p", "s", "", NOW);
    let messages: Vec<String> = (0..5000u32)
        .map(|i| {
            let at = NOW - 5000.0 + f64::from(i);
            if i % 100 == 0 { user(&format!("u{i}"), at, "\"Go on\"") } else { reply(&format!("g{i}"), at, 1, "t") }
        })
        .collect();
    let all: Vec<&str> = messages.iter().map(String::as_str).collect();
    let mut gemini = reader(&s);
    for _ in 0..50 {
        append(&path, snapshot(&all), NOW);
        let row = one(&mut gemini, NOW);
        assert_eq!((row.evidence.turn_durations.len(), row.rate_per_min), (49, Some(59)));
    }
    // Read cold, from inside, the same is told of the end.
    let row = one(&mut reader(&s), NOW);
    assert_eq!((row.rate_per_min, row.last_prompt.as_str(), row.started_at), (Some(59), "Go on", None));
}

/// GEM-011: a rewind takes back and a fuller version replaces.
#[test]
fn gem_011_a_rewind_takes_back_and_a_fuller_version_replaces() {
    let s = Scratch::new("gemini-rewind");
    let path = main_file(
        &s,
        "p",
        "s",
        &[
            user("m1", NOW - 80.0, "\"Kept\""),
            reply("m2", NOW - 70.0, 100, "ls"),
            user("m3", NOW - 60.0, "\"Taken back\""),
            reply("m4", NOW - 50.0, 500, "rm"),
        ]
        .map(|line| line + "\n")
        .concat(),
        NOW,
    );
    let mut gemini = reader(&s);
    assert_eq!(one(&mut gemini, NOW).rate_per_min, Some(60));
    append(&path, "{\"$rewindTo\":\"m3\"}\n{\"$rewindTo\":\"unknown\"}\n", NOW);
    let row = one(&mut gemini, NOW);
    assert_eq!(
        (row.title.as_deref(), row.rate_per_min, row.state_detail.as_deref()),
        (Some("Kept"), Some(10), Some("running ls"))
    );
    assert_eq!(row.turn.unwrap().elapsed_h, "1m");
    append(&path, reply("m2", NOW - 70.0, 250, "cat") + "\n", NOW);
    let row = one(&mut gemini, NOW);
    assert_eq!((row.rate_per_min, row.state_detail.as_deref()), (Some(25), Some("running cat")));
}

/// GEM-014, GEM-025, GEM-026, GEM-027: odd messages.
#[test]
fn gem_014_025_026_027_odd_messages() {
    let s = Scratch::new("gemini-odd");
    let path = main_file(&s, "p", "s", "", NOW);
    let mut gemini = reader(&s);
    let mut after = |line: &str| {
        append(&path, format!("{line}\n"), NOW);
        let row = one(&mut gemini, NOW);
        (row.last_prompt, row.rate_per_min, row.evidence.turn_start)
    };
    let none = (String::new(), Some(0), None);
    for line in [
        "nope",
        "[]",
        "3",
        "{\"type\":4,\"timestamp\":9}",
        "{\"$set\":5}",
        "{\"$set\":{\"messages\":{\"a\":1}}}",
        "{\"$rewindTo\":7}",
    ] {
        assert_eq!(after(line), none, "{line}");
    }
    let stamp = iso(NOW - 50.0);
    for tail in [
        "\"tokens\":null",
        "\"tokens\":[]",
        "\"tokens\":{\"output\":\"12\"}",
        "\"tokens\":{\"output\":true}",
        "\"toolCalls\":{}",
        "\"toolCalls\":[7,null,{\"name\":3}]",
    ] {
        assert_eq!(
            after(&format!("{{\"id\":\"{}\",\"type\":\"gemini\",\"timestamp\":\"{stamp}\",{tail}}}", tail.len())),
            none,
            "{tail}"
        );
    }
    assert_eq!(after(&user("f", NOW - 40.0, "[{\"functionResponse\":{\"name\":\"x\"}}]")), none);
    assert_eq!(after(&user("b", NOW - 30.0, "\"bare\"")), ("bare".into(), Some(0), Some(NOW - 30.0)));
    assert_eq!(after(&user("c", NOW - 20.0, "[{\"text\":\"a\"},{\"text\":\"b\"}]")).0, "a b");
    assert_eq!(after(&user("d", NOW - 10.0, "{\"content\":{\"text\":\"nested\"}}")).0, "nested");
    assert_eq!(after(&user("e", NOW - 5.0, "[]")), ("nested".into(), Some(0), Some(NOW - 5.0)));
}

/// GEM-032: a file that goes between listing and reading is skipped.
#[test]
fn gem_032_a_file_that_goes_between_listing_and_reading_is_skipped() {
    let s = Scratch::new("gemini-gone");
    let path = main_file(&s, "p", "s", "", NOW);
    let mut gemini = reader(&s);
    assert!(gemini.discovered());
    let main = Main { stamp: read::look(&path).unwrap().stamp, shape: Shape::Lines, path: path.clone() };
    std::fs::remove_file(&path).unwrap();
    let (watch, dirty) = (crate::surface::watch::Watch::off(), crate::surface::watch::Dirty::default());
    let pass = Pass { now: NOW, window: 86_400.0, all: true, dirty: &dirty, sweep: true, watch: &watch };
    assert!(gemini.row(&main, &Children::default(), &pass).is_none());
}

#[test]
fn messages_beyond_the_bound_are_folded_and_not_counted_again() {
    let s = Scratch::new("gemini-folded");
    let lines: String = (0..20_000u32).map(|i| reply(&format!("g{i}"), NOW - 100.0, 1, "t") + "\n").collect();
    let path = main_file(&s, "p", "s", &lines, NOW);
    let mut gemini = reader(&s);
    let before = one(&mut gemini, NOW).rate_per_min;
    append(&path, snapshot(&lines.lines().collect::<Vec<_>>()), NOW);
    assert_eq!(one(&mut gemini, NOW).rate_per_min, before);
    let held = &gemini.sessions[&path].records();
    assert!(held.kept() <= 8192);
}

/// GEM-012: the title is the first line of the newest prompt, the prompt keeps its lines, both are redacted before they are
/// cut.
#[test]
fn gem_012_title_and_prompt() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    for (content, title, last) in [
        (
            serde_json::json!("Explain the importer\nand its tests"),
            "Explain the importer",
            "Explain the importer\nand its tests".to_owned(),
        ),
        (serde_json::json!([{"text": "a"}, {"text": "b\nc"}]), "a b", "a b\nc".into()),
        (serde_json::json!("x".repeat(200)), &"x".repeat(80), "x".repeat(140)),
    ] {
        let s = Scratch::new("gemini-title");
        main_file(&s, "p", "s", &(user("a", NOW - 9.0, &content.to_string()) + "\n"), NOW);
        let row = one(&mut reader(&s), NOW);
        assert_eq!((row.title.as_deref(), &row.last_prompt), (Some(title), &last));
    }
    let s = Scratch::new("gemini-key");
    main_file(&s, "p", "s", &(user("a", NOW - 9.0, &format!("\"{} {key} more\"", "y".repeat(60))) + "\n"), NOW);
    assert!(!text(&one(&mut reader(&s), NOW)).contains("a1B2"));
    // No text, no title.
    let s = Scratch::new("gemini-untitled");
    main_file(&s, "p", "s", &(user("a", NOW - 9.0, "[]") + "\n"), NOW);
    assert_eq!(one(&mut reader(&s), NOW).title, None);
}

/// GEM-020: whatever the store says of a call that waits, of an error or of a warning, no wait is reported from it.
#[test]
fn gem_020_no_wait_is_reported_from_the_store() {
    let s = Scratch::new("gemini-wait");
    let at = iso(NOW - 5.0);
    let lines = format!(
        "{}\n{{\"id\":\"b\",\"timestamp\":\"{at}\",\"type\":\"gemini\",\"content\":\"\",\"toolCalls\":[{{\"name\":\"write_file\",\"status\":\"awaiting_approval\"}}]}}\n{{\"id\":\"c\",\"timestamp\":\"{at}\",\"type\":\"error\",\"content\":\"MARK quota\"}}\n{{\"id\":\"d\",\"timestamp\":\"{at}\",\"type\":\"warning\",\"content\":\"MARK confirm?\"}}\n",
        user("a", NOW - 9.0, "\"Write it\"")
    );
    main_file(&s, "p", "s", &lines, NOW);
    let mut gemini = reader(&s);
    for (now, state) in [(NOW, State::Working), (NOW + 400.0, State::Idle)] {
        let row = one(&mut gemini, now);
        assert_eq!((row.state, row.blocked_since), (state, None));
        assert!(!text(&row).contains("MARK"));
    }
}

/// GEM-011, GEM-010: a message that a snapshot repeats with less than it had keeps what it had.
#[test]
fn gem_011_a_leaner_repeat_takes_nothing_away() {
    let s = Scratch::new("gemini-leaner");
    let lean = format!(
        "{{\"id\":\"b\",\"timestamp\":\"{}\",\"type\":\"gemini\",\"content\":\"Words.\",\"tokens\":{{\"output\":164}}}}",
        iso(NOW - 5.0)
    );
    let prompt = user("a", NOW - 9.0, "\"Explain\"");
    let path = main_file(&s, "p", "s", &format!("{prompt}\n{}\n", reply("b", NOW - 5.0, 164, "read_file")), NOW);
    append(&path, snapshot(&[&prompt, &lean]), NOW);
    let row = one(&mut reader(&s), NOW);
    assert_eq!((row.state_detail.as_deref(), row.rate_per_min), (Some("running read_file"), Some(16)));
}

/// TRUST-036, TRUST-052: a document that cannot be read any more keeps its row and is named.
#[cfg(unix)]
#[test]
fn trust_036_052_a_document_that_is_refused_keeps_its_row() {
    let s = Scratch::new("gemini-refused");
    let path = s.fixture(&format!("gemini/0.38/{DOCUMENT}"), &format!("tmp/p/chats/{DOCUMENT}"), NOW - 30.0);
    let mut chat = legacy::Chat::default();
    let stamp = read::look(&path).unwrap().stamp;
    assert!(chat.advance(&path, stamp, NOW) && chat.failure.is_none());
    // A folder in its place is refused to everybody.
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(chat.advance(&path, Stamp::default(), NOW) && chat.failure.is_some() && chat.get().is_some());
    std::fs::remove_dir(&path).unwrap();
    assert!(!chat.advance(&path, Stamp::default(), NOW));
}

/// DECK-020, TRUST-036: what could not be read is named on the row and for the harness; FIELD-056: a link is passed over.
#[cfg(unix)]
#[test]
fn deck_020_field_056_what_is_not_read_is_named() {
    let s = Scratch::new("gemini-named");
    let path = main_file(&s, "p", "s", "no record\n[]\n", NOW);
    main_file(&s, "q", "t", "{\"half\":\n", NOW);
    std::os::unix::fs::symlink(&path, path.with_file_name("session-link.jsonl")).unwrap();
    let found = pass(&mut reader(&s), NOW, false);
    assert_eq!(found.rows.iter().map(|row| row.degrades[0].count).max(), Some(Some(2)));
    let whole = &found.degrades[0];
    assert_eq!((whole.code, whole.count, whole.source.as_str()), (Code::RecordSkipped, Some(4), STORE));
    assert_eq!((found.degrades.len(), found.store_errors.len()), (1, 1));
    assert!(found.store_errors[0].1.starts_with("NotAFile: "));
}

#[test]
#[ignore = "measures; needs CARGENTO_SCALE_HOME"]
fn scale() {
    crate::harness::testkit::cost(&|home| Box::new(Gemini::new(home.join(".gemini/tmp"), home.into())));
}

/// A line out of the shapes a recording may hold, damaged ones included.
fn any_line() -> impl Strategy<Value = String> {
    let content = prop_oneof![
        Just("\"words\""),
        Just("[{\"text\":\"a\"},{\"text\":\"b\"}]"),
        Just("[{\"functionResponse\":{}}]"),
        Just("[]"),
        Just("null")
    ];
    let id = prop_oneof![Just("a"), Just("b"), Just("c"), Just("d"), Just("")];
    let message = (id.clone(), 0.0..900.0f64, content, any::<bool>(), 0..500u64).prop_map(
        |(id, age, content, is_user, tokens)| {
            let at = NOW - age.round();
            if is_user { user(id, at, content) } else { reply(id, at, tokens, "ls") }
        },
    );
    prop_oneof![
        6 => message.clone().prop_map(|line| line + "\n"),
        2 => prop::collection::vec(message, 0..5).prop_map(|list| snapshot(&list.iter().map(String::as_str).collect::<Vec<_>>())),
        1 => id.prop_map(|id| format!("{{\"$rewindTo\":\"{id}\"}}\n")),
        1 => Just(head("other")),
        1 => Just("{\"half\":\n".into()),
        1 => Just("{\"type\":\"info\",\"timestamp\":\"2099-01-01T00:00:00Z\"}\n".into()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// TURN-001: growing reads as cold at every split.
    #[test]
    fn turn_001_growing_reads_as_cold_at_every_split(lines in prop::collection::vec(any_line(), 0..20), cuts in prop::collection::vec(0.0..1.0f64, 1..5)) {
        let s = Scratch::new("gemini-split");
        let bytes = (head("s") + &lines.concat()).into_bytes();
        let path = s.write("tmp/p/chats/session-x.jsonl", b"", NOW);
        let mut warm = reader(&s);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| (cut * bytes.len() as f64) as usize).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let mut from = 0;
        for cut in cuts {
            append(&path, &bytes[from..cut], NOW);
            from = cut;
            prop_assert_eq!(text(&one(&mut warm, NOW)), text(&one(&mut reader(&s), NOW)));
        }
    }

    /// TRUST-033: any bytes are read without a fault.
    #[test]
    fn trust_033_any_bytes_are_read_without_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let s = Scratch::new("gemini-bytes");
        s.write("tmp/p/chats/session-x.jsonl", &bytes, NOW);
        s.write("tmp/p/chats/session-y.json", &bytes, NOW);
        prop_assert_eq!(pass(&mut reader(&s), NOW, true).rows.len(), 1);
    }

    /// TRUST-033: any value in any field.
    #[test]
    fn trust_033_any_value_in_any_field(which in 0usize..7) {
        let value = ["7", "null", "[[{}],\"x\"]", "{\"a\":{}}", "true", "\"t\"", "-1e300"][which];
        for key in ["sessionId", "kind", "directories", "id", "type", "timestamp", "content", "tokens", "toolCalls", "$set", "$rewindTo"] {
            for base in ["", "\"type\":\"user\",", "\"type\":\"gemini\",\"id\":\"x\","] {
                let line = format!("{{{base}\"{key}\":{value}}}");
                record::header(line.as_bytes());
                crate::harness::follow::Records::line(&mut <Conversation as crate::harness::follow::Records>::begin(true), line.as_bytes(), NOW);
            }
        }
    }
}
