//! The reader at its boundary: which files are sessions, whose they are, and the rows that come out.

mod any;
mod messages;

use super::*;
use crate::harness::testkit::{NOW, Scratch, append, iso, one, pass, text, touch};
use crate::model::Code;

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
