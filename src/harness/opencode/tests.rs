//! Rows of invented stores, shaped as OpenCode 1.18.30 makes them, and the ways such a store fails.

use super::*;
use crate::harness::sql::support::{DAY, Scratch, codes, collect, owner, published, row, sids};
use crate::model::{Observed, State};
use rusqlite::Connection;

const STORE_SQL: &str = include_str!("../../../fixtures/opencode/1.18.30/store.sql");
const PARENT: &str = "ses_7a1bfe2c3ffeK3m9QeW2xTzv01";
/// Five seconds after the fixture's last write.
const NOW: f64 = 1_789_900_005.0;
const MS: i64 = 1_789_900_000_000;

struct Home {
    dir: Scratch,
    reader: OpenCode,
}

impl Home {
    fn new(name: &str) -> Home {
        let dir = Scratch::new(&format!("opencode-{name}"));
        let reader = OpenCode::new(vec![dir.at("data")], "/home/dev".into());
        Home { dir, reader }
    }

    fn db(&self, name: &str) -> PathBuf {
        self.dir.at("data").join(name)
    }

    /// The fixture, with more statements run on it.
    fn store(&self, more: &str) -> Connection {
        owner(&self.db("opencode.db"), &format!("{STORE_SQL}\n{more}"))
    }

    /// The fixture's tables without its rows.
    fn empty(&self, more: &str) -> Connection {
        self.store(&format!("DELETE FROM session; DELETE FROM message; DELETE FROM part;\n{more}"))
    }

    fn pass(&mut self, now: f64, all: bool) -> Collected {
        collect(&mut self.reader, now, all)
    }

    fn now(&mut self) -> Collected {
        self.pass(NOW, false)
    }

    /// What a reader that knows nothing finds.
    fn cold(&self, now: f64, all: bool) -> Collected {
        collect(&mut OpenCode::new(vec![self.dir.at("data")], "/home/dev".into()), now, all)
    }
}

/// A session row `n`, last written `age` seconds before [`NOW`].
fn session(n: u32, age: i64, more: &str) -> String {
    let stamp = NOW as i64 * 1000 - age * 1000;
    let set = if more.is_empty() { String::new() } else { format!("UPDATE session SET {more} WHERE id = 'ses_{n}';") };
    format!(
        "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) \
         VALUES ('ses_{n}', 'p', 's', '/home/dev/src/atlas', 'Title {n}', '1', 0, {stamp}); {set}"
    )
}

fn message(id: &str, n: u32, at: i64, data: &str) -> String {
    format!("INSERT INTO message VALUES ('{id}', 'ses_{n}', {}, 0, '{data}');", MS + at * 1000)
}

fn part(id: &str, of: &str, data: &str) -> String {
    format!("INSERT INTO part VALUES ('{id}', '{of}', '', 0, 0, '{data}');")
}

const USER: &str = r#"{"role":"user"}"#;
const ASSISTANT: &str = r#"{"role":"assistant","modelID":"from-message"}"#;

#[test]
fn oc_012_to_020_the_fixture_gives_a_complete_row() {
    let mut home = Home::new("complete");
    let live = home.store("");
    assert!(home.reader.discovered());
    let found = home.now();
    assert_eq!(sids(&found), [PARENT], "the child is no row");
    let row = row(&found, PARENT);
    assert_eq!(row.title.as_deref(), Some("Importer skips empty rows"));
    assert_eq!(row.last_prompt, "Make the importer skip empty rows");
    assert_eq!((row.project.as_str(), row.model.as_deref()), ("src/atlas", Some("claude-sonnet-4-5")));
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Working, Some("running 1 subagent")));
    assert_eq!((row.last_activity, row.rate_per_min, row.active), (1_789_900_000.0, None, true));
    assert_eq!((row.subagents[0].name.as_str(), &row.subagents[0].model), ("Find callers (@explore subagent)", &None));
    assert_eq!(row.turn.as_ref().unwrap().elapsed_h, "1m");
    assert_eq!((row.started_at, row.provider.as_ref(), row.blocked_since), (None, None, None));
    assert_eq!(row.project_identity_source, "collector project label");
    assert!(row.source_gaps.is_empty() && row.degrades.is_empty());
    assert!(found.degrades.is_empty() && found.store_errors.is_empty());
    drop(live);
}

#[test]
fn oc_022_trust_028_reasoning_tool_calls_and_attachments_appear_nowhere() {
    let mut home = Home::new("reasoning");
    drop(home.store(&format!("UPDATE message SET data = '{USER}' WHERE id = 'msg_02';")));
    for all in [false, true] {
        let rows = format!("{:?}", home.pass(NOW, all).rows);
        for never in ["REASONING-BYTES", "NEVER-SHOWN", "secret-plan", "base64"] {
            assert!(!rows.contains(never) && STORE_SQL.contains(never), "{never}");
        }
    }
}

#[test]
fn oc_011_oc_029_archived_sessions_are_gone_with_their_children() {
    let mut home = Home::new("archived");
    let child = |n, parent: &str| session(n, 5, &format!("parent_id = '{parent}'"));
    let sql = [
        session(1, 5, "time_archived = 1789900000000"),
        child(2, "ses_1"),
        session(3, 5, "time_archived = 0"),
        session(4, 5, "time_archived = 1, parent_id = 'ses_3'"),
        child(5, "ses_absent"),
        child(6, "ses_6"),
    ];
    drop(home.empty(&sql.concat()));
    for all in [false, true] {
        let found = home.pass(NOW, all);
        assert_eq!(sids(&found), ["ses_3"]);
        assert!(row(&found, "ses_3").subagents.is_empty());
    }
}

#[test]
fn oc_013_oc_034_children_make_their_parent_work_through_any_generation() {
    let mut home = Home::new("children");
    let sql = [
        session(1, 90_000, ""),
        session(2, 20, r#"parent_id = 'ses_1', model = '{"id":"child-model"}'"#),
        session(3, 200, "parent_id = 'ses_1'"),
        session(4, 10, "parent_id = 'ses_3', title = ' '"),
    ];
    drop(
        home.empty(
            &(sql.concat() + &message("m", 1, -90_000, USER) + &part("p", "m", r#"{"type":"text","text":"go"}"#)),
        ),
    );
    let found = home.now();
    let parent = row(&found, "ses_1");
    assert_eq!((parent.state, parent.active), (State::Working, true));
    assert_eq!(parent.state_detail.as_deref(), Some("running 2 subagents"));
    let pills: Vec<_> = parent.subagents.iter().map(|s| (s.name.as_str(), s.model.as_deref())).collect();
    assert_eq!(pills, [("subagent", None), ("Title 2", Some("child-model"))], "newest first, each its own model");
    assert_eq!((parent.model.as_deref(), parent.last_prompt.as_str()), (None, "go"));
    assert_eq!(home.pass(NOW + 100.0, false).rows.len(), 0, "and parked again once they are quiet");
    assert_eq!(home.pass(NOW + 100.0, true).rows.len(), 1);
}

#[test]
fn oc_007_oc_010_oc_030_show_all_lists_everything_and_children_push_nobody_out() {
    let mut home = Home::new("many");
    let old: String = (10..260).map(|n| session(n, 172_800, "")).collect();
    let fan: String = (1000..1300).map(|n| session(n, 1, "parent_id = 'ses_1'")).collect();
    drop(home.empty(&(old + &fan + &session(1, 3600, "") + &session(2, 7200, ""))));
    assert_eq!(sids(&home.now()), ["ses_1", "ses_2"]);
    assert_eq!(home.pass(NOW, true).rows.len(), 252);
    assert_eq!(row(&home.now(), "ses_1").subagents.len(), 300);
    assert_eq!(home.pass(NOW, true).rows.len(), 252);
}

#[test]
fn oc_014_oc_033_only_numbers_are_times() {
    let mut home = Home::new("times");
    let sql = [
        session(1, 5, "time_updated = CAST('1789900000000' AS TEXT)"),
        session(2, 5, "time_updated = 1789900000"),
        session(3, 5, "time_updated = 1789900000000 + 86400000"),
        session(4, 5, "time_updated = x'00'"),
        session(5, 5, "time_updated = -1"),
    ];
    let live = home.empty("");
    live.execute_batch(
        "ALTER TABLE session RENAME COLUMN time_updated TO t; ALTER TABLE session ADD COLUMN time_updated",
    )
    .unwrap();
    live.execute_batch(
        &sql.concat()
            .replace("time_created, time_updated", "t, time_created, time_updated")
            .replace(", 0, ", ", 0, 0, "),
    )
    .unwrap();
    assert_eq!(sids(&home.now()), ["ses_2"]);
    assert_eq!(home.pass(NOW, true).rows.len(), 5);
    let later = NOW + DAY;
    assert_eq!(sids(&home.pass(later, false)), ["ses_3"], "what was ahead is believed once its time has come");
    assert_eq!(row(&home.pass(later, false), "ses_3").state, State::Working);
}

#[test]
fn oc_015_a_quiet_session_waits_for_its_message() {
    let mut home = Home::new("quiet");
    drop(home.store(""));
    let found = home.pass(NOW + 120.0, false);
    let row = row(&found, PARENT);
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Idle, Some("awaiting your message")));
    assert_eq!((row.turn.as_ref(), row.subagents.len()), (None, 0));
    assert_eq!(row.evidence.turn_start, Some(1_789_899_900.0));
    assert_eq!(row.evidence.working_detail.as_deref(), Some("generating…"));
}

#[test]
fn oc_017_oc_038_models_in_their_many_shapes() {
    let mut home = Home::new("models");
    let answers = |n: u32| message(&format!("a{n}"), n, -50, ASSISTANT);
    let model = |n, model: &str| session(n, 5, &format!("model = {model}")) + &answers(n);
    let sql = [
        model(1, r#"'{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}'"#),
        model(2, "'gpt-5'"),
        model(3, "NULL"),
        model(4, "'[]'"),
        model(5, "'{}'"),
        session(6, 5, "model = '{}'"),
        session(7, 5, "model = '[]'"),
        model(8, "'   '") + &message("b8", 8, -40, r#"{"role":"assistant"}"#),
        session(9, 120, r#"model = '{"id":"for idle rows too"}'"#),
        session(10, 5, r#"model = '{"id":7}'"#),
        session(11, 5, &format!("model = '{}'", "x".repeat(60))),
    ];
    drop(home.empty(&sql.concat()));
    let found = home.now();
    let of = |n: u32| row(&found, &format!("ses_{n}")).model.as_deref();
    assert_eq!((of(1), of(2)), (Some("claude-sonnet-4-5"), Some("gpt-5")));
    assert_eq!((of(3), of(4), of(5)), (Some("from-message"), Some("from-message"), Some("from-message")));
    assert_eq!((of(6), of(7), of(10)), (None, None, None));
    assert_eq!(of(8), None, "an older answer's model does not stand in");
    assert_eq!(of(9), Some("for idle rows too"));
    assert_eq!(of(11).map(str::len), Some(40));
}

#[test]
fn oc_018_oc_035_turns_and_messages_that_do_not_say_whose_they_are() {
    let mut home = Home::new("turns");
    let sql = [
        session(1, 5, ""),
        message("a", 1, -300, USER),
        message("b", 1, -200, ASSISTANT),
        message("c", 1, -100, USER),
        message("d", 1, -90, "not json"),
        session(2, 5, ""),
        message("e", 2, -100, USER),
        message("f", 2, -10, r#"{"role":7}"#),
        session(3, 5, ""),
        message("g", 3, -60, USER),
        "INSERT INTO message VALUES ('h', 'ses_3', 0, 0, '{\"role\":\"user\"}');".into(),
    ];
    drop(home.empty(&sql.concat()));
    let found = home.now();
    let (one, two, three) = (row(&found, "ses_1"), row(&found, "ses_2"), row(&found, "ses_3"));
    assert_eq!(
        (one.evidence.turn_start, one.evidence.turn_durations.as_slice()),
        (Some(MS as f64 / 1e3 - 100.0), &[100.0][..])
    );
    assert_eq!(one.turn.as_ref().unwrap().elapsed_h, "1m");
    assert_eq!((&one.source_gaps, &two.source_gaps), (&vec!["message history"], &vec!["message history"]));
    assert_eq!(three.evidence.turn_start, Some(MS as f64 / 1e3 - 60.0), "a message without a time moves no clock");
    assert!(three.source_gaps.is_empty());
}

#[test]
fn oc_019_oc_036_oc_037_prompts() {
    let mut home = Home::new("prompts");
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let sql = [
        session(1, 5, ""),
        message("m1", 1, -50, USER),
        part("p1", "m1", &text("Make it skip")),
        part("p2", "m1", r#"{"type":"file","filename":"x.pdf"}"#),
        part("p3", "m1", r#"{"type":"agent","name":"explore"}"#),
        part("p4", "m1", &text("empty rows")),
        part("p5", "m1", r#"{"type":"text","text":"ignored","ignored":true}"#),
        part("p6", "m1", "not json"),
        part("p7", "m1", r#"{"type":"text","text":["no","text"]}"#),
        session(2, 5, ""),
        message("m2", 2, -60, USER),
        part("q1", "m2", &text("Older prompt")),
        message("m3", 2, -50, USER),
        part("q2", "m3", r#"{"type":"file","filename":"y.pdf"}"#),
        session(3, 5, ""),
        message("m4", 3, -50, USER),
        part("r1", "m4", &text(r"two\nlines \u202eand sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")),
    ];
    drop(home.empty(&sql.concat()));
    let found = home.now();
    assert_eq!(row(&found, "ses_1").last_prompt, "Make it skip empty rows");
    assert_eq!(row(&found, "ses_2").last_prompt, "", "no older prompt stands in");
    assert_eq!(row(&found, "ses_3").last_prompt, "two lines  and sk-ant-…REDACTED");
}

#[test]
fn oc_042_a_prompt_of_five_megabytes_is_read_by_its_beginning() {
    let mut home = Home::new("huge");
    let live = home.empty(&(session(1, 5, "") + &message("m1", 1, -50, USER)));
    let body = "é".repeat(2_500_000);
    live.execute(
        "INSERT INTO part VALUES ('p', 'm1', '', 0, 0, ?1)",
        [format!(r#"{{"type":"text","text":"{body}"}}"#)],
    )
    .unwrap();
    let summary = format!(r#"{{"role":"user","summary":{{"diffs":"{body}"}}}}"#);
    live.execute("UPDATE message SET data = ?1", [summary]).unwrap();
    let found = home.now();
    let row = row(&found, "ses_1");
    assert_eq!(row.last_prompt, "é".repeat(140));
    assert!(row.source_gaps.is_empty() && row.turn.is_some());
}

#[test]
fn oc_043_titles_are_redacted_before_they_are_cut() {
    let mut home = Home::new("title");
    let title = format!("{} ghp_{}", "word ".repeat(14), "A".repeat(36));
    drop(home.empty(&session(1, 5, &format!("title = '{title}'"))));
    let found = home.now();
    let title = row(&found, "ses_1").title.clone().unwrap();
    assert!(title.ends_with("ghp_…REDACTED"), "{title}");
}

#[test]
fn oc_007_oc_008_oc_031_field_005_older_and_newer_schemas() {
    let mut home = Home::new("schemas");
    let columns = "id TEXT, parent_id TEXT, directory TEXT, title TEXT, time_updated INTEGER";
    let insert =
        |n: u32, more: &str| format!("INSERT INTO session VALUES ('ses_{n}', NULL, '/w/acme/x', 'Old', {MS}{more});");
    let make = |name: &str, sql: String| drop(owner(&home.db(name), &sql));
    make("opencode-a.db", format!("CREATE TABLE session ({columns}); {}", insert(1, "")));
    make(
        "opencode-b.db",
        format!(
            "CREATE TABLE session ({columns}, time_archived INTEGER); {} {}",
            insert(2, ", NULL"),
            insert(3, ", 7")
        ),
    );
    make(
        "opencode-c.db",
        format!(
            "CREATE TABLE session ({columns}, time_archived, model, goal, novelty); {}",
            insert(4, ", NULL, 'm', 'g', x'00'")
        ),
    );
    make("opencode-d.db", format!("CREATE TABLE session ({}); ", columns.replace("title TEXT, ", "")));
    make("opencode-e.db", "CREATE TABLE other (id TEXT)".into());
    let found = home.now();
    assert_eq!(sids(&found), ["ses_1", "ses_2", "ses_4"]);
    assert_eq!(row(&found, "ses_4").model.as_deref(), Some("m"));
    for sid in ["ses_1", "ses_2", "ses_4"] {
        let row = row(&found, sid);
        assert_eq!(
            (row.source_gaps.as_slice(), row.turn.as_ref()),
            (&["message history"][..], None),
            "no message table"
        );
        assert_eq!((row.state, row.project.as_str()), (State::Working, "acme/x"));
    }
    assert_eq!(codes(&found), ["schema-unknown", "schema-unknown"]);
    let errors: Vec<&str> = found.store_errors.iter().map(|(_, why)| why.as_str()).collect();
    assert_eq!(errors, ["OperationalError: no such column: session.title", "OperationalError: no such table: session"]);
}

#[test]
fn oc_025_without_parts_the_turn_stays() {
    let mut home = Home::new("parts");
    drop(home.store("DROP TABLE part;"));
    let found = home.now();
    let row = row(&found, PARENT);
    assert_eq!((row.source_gaps.as_slice(), row.last_prompt.as_str()), (&["message history"][..], ""));
    assert!(row.turn.is_some());
}

#[test]
fn oc_024_oc_032_oc_044_one_spoilt_database_costs_itself() {
    type Spoil = fn(&Path);
    let spoils: [(&str, Spoil); 5] = [
        ("store-corrupt", |p| std::fs::write(p, b"certainly not a database ".repeat(200)).unwrap()),
        ("schema-unknown", |p| drop(owner(p, "CREATE TABLE session (uid TEXT, label TEXT)"))),
        ("schema-unknown", |p| std::fs::write(p, b"").unwrap()),
        ("store-unreadable", |p| std::fs::create_dir(p).unwrap()),
        #[cfg(unix)]
        ("store-unreadable", |p| std::os::unix::fs::symlink(p.with_file_name("gone"), p).unwrap()),
    ];
    for (i, (code, spoil)) in spoils.into_iter().enumerate() {
        let mut home = Home::new(&format!("spoilt-{i}"));
        drop(home.store(""));
        let bad = home.db("opencode-bad.db");
        spoil(&bad);
        for _ in 0..3 {
            let found = home.now();
            assert_eq!((sids(&found), codes(&found)), (vec![PARENT], vec![code]));
            assert_eq!((found.degrades[0].source.as_str(), found.store_errors.len()), ("opencode-bad.db", 1));
        }
        let _ = std::fs::remove_file(&bad).or_else(|_| std::fs::remove_dir(&bad));
        assert!(home.now().degrades.is_empty(), "gone with its cause (TRUST-037)");
    }
}

#[test]
fn oc_002_oc_024_a_folder_without_database() {
    let mut home = Home::new("missing");
    assert!(!home.reader.discovered());
    assert!(home.now().degrades.is_empty(), "no folder, nothing to say");
    std::fs::create_dir(home.dir.at("data")).unwrap();
    assert!(!home.reader.discovered());
    assert_eq!(codes(&home.now()), ["store-missing"]);
    drop(home.store(""));
    assert!(home.reader.discovered());
    assert_eq!(sids(&home.now()), [PARENT]);
}

#[test]
fn oc_028_rows_outlive_a_lock_and_say_so() {
    let mut home = Home::new("locked");
    let live = owner(&home.db("opencode.db"), &STORE_SQL.replace("journal_mode = WAL", "journal_mode = DELETE"));
    assert_eq!(row(&home.now(), PARENT).source_gaps.len(), 0);
    live.execute_batch("BEGIN EXCLUSIVE; UPDATE session SET title = 'x'; ").unwrap();
    // The journal beside it is no sign that the store moved; make one.
    let touched = std::fs::File::options().append(true).open(home.db("opencode.db")).unwrap();
    touched.set_modified(std::time::SystemTime::now()).unwrap();
    let found = home.pass(NOW + 10.0, false);
    let kept = row(&found, PARENT);
    assert_eq!((kept.source_gaps.as_slice(), codes(&found)), (&["session metadata"][..], vec!["store-locked"]));
    assert_eq!((kept.degrades[0].code, kept.title.as_deref()), (Code::StoreLocked, Some("Importer skips empty rows")));
    assert!(home.cold(NOW + 10.0, false).rows.is_empty(), "a reader that never read it has no rows");
    live.execute_batch("COMMIT").unwrap();
    assert_eq!(row(&home.pass(NOW + 11.0, false), PARENT).title.as_deref(), Some("x"));
    drop(touched);
}

#[test]
fn oc_026_a_session_that_cannot_be_identified_costs_itself() {
    let mut home = Home::new("faults");
    let live =
        home.empty("CREATE TABLE s AS SELECT * FROM session; DROP TABLE session; ALTER TABLE s RENAME TO session;");
    live.execute_batch(
        &[
            session(1, 5, ""),
            session(2, 5, "id = NULL"),
            session(3, 5, "title = 7, directory = x'ff', parent_id = '', model = 3"),
        ]
        .concat(),
    )
    .unwrap();
    let found = home.now();
    assert_eq!(sids(&found), ["ses_1", "ses_3"]);
    let odd = row(&found, "ses_3");
    assert_eq!((odd.title.as_deref(), odd.project.as_str(), odd.model.as_deref()), (Some("7"), "opencode", None));
    assert_eq!((codes(&found), found.degrades[0].count), (vec!["record-skipped"], Some(1)));
}

#[test]
fn oc_039_field_042_what_only_the_log_holds_is_seen_at_once() {
    let mut home = Home::new("wal");
    let live = home.store("PRAGMA wal_autocheckpoint = 0;");
    assert_eq!(row(&home.pass(NOW + 200.0, false), PARENT).state, State::Idle);
    let stamp = MS + 200_000;
    live.execute_batch(&format!(
        "BEGIN; UPDATE session SET time_updated = {stamp} WHERE parent_id IS NULL; \
         INSERT INTO message VALUES ('msg_03', '{PARENT}', {stamp}, {stamp}, '{USER}'); \
         INSERT INTO part VALUES ('prt_09', 'msg_03', '', 0, 0, '{{\"type\":\"text\",\"text\":\"Second, in the log\"}}'); COMMIT"
    ))
    .unwrap();
    let found = home.pass(NOW + 200.0, false);
    let row = row(&found, PARENT);
    assert_eq!((row.state, row.last_prompt.as_str()), (State::Working, "Second, in the log"));
    assert_eq!(row.evidence.turn_durations, [3.0]);
}

/// Whatever is done to a store, a reader that has followed it and one that sees it first agree (TRUST-081).
#[test]
fn trust_081_a_followed_store_reads_like_a_new_one() {
    let mut home = Home::new("follow");
    let live = home.store("");
    let more = |id: &str, at: i64, data: &str| message(id, 0, at, data).replace("ses_0", PARENT);
    let steps = [
        more("msg_10", 1, USER) + &part("x1", "msg_10", r#"{"type":"text","text":"next"}"#),
        more("msg_11", 2, ASSISTANT) + &more("msg_12", 3, ASSISTANT),
        part("x2", "msg_10", r#"{"type":"text","text":"and one part later"}"#),
        // Undone and said anew: as many rows, under the same numbers.
        "DELETE FROM message WHERE id >= 'msg_11';".to_owned() + &more("msg_13", 4, USER) + &more("msg_14", 5, "x"),
        more("msg_09", -20, USER),
        "DELETE FROM message WHERE id = 'msg_13';".into(),
        "UPDATE part SET data = '{\"type\":\"text\",\"text\":\"changed\"}';".into(),
        session(1, -6, "") + &message("n1", 1, 6, USER),
        "DELETE FROM session WHERE id = 'ses_1';".into(),
        format!("UPDATE session SET parent_id = '{PARENT}', time_updated = {MS};"),
        (0..500).map(|i| more(&format!("z{i:03}"), 10 + i, if i % 9 == 0 { USER } else { ASSISTANT })).collect(),
        (0..30).map(|i| more(&format!("zz{i:03}"), 600 + i, ASSISTANT)).collect(),
        "DROP TABLE part;".into(),
    ];
    for (i, step) in steps.iter().enumerate() {
        live.execute_batch(step).unwrap();
        // Passes with and without the rest, as a page and its list of all ask for them in turn.
        for all in [false, true, false] {
            let now = NOW + i as f64;
            assert_eq!(
                published(&home.pass(now, all)),
                published(&home.cold(now, all)),
                "step {i}, all {all}: {step:.80}"
            );
        }
    }
}

#[test]
fn a_pass_in_which_nothing_moved_opens_nothing() {
    let mut home = Home::new("warm");
    drop(home.store(""));
    let first = published(&home.now());
    let path = home.db("opencode.db");
    let stamp = std::fs::metadata(&path).unwrap().modified().unwrap();
    // The same stamps over other bytes: whoever opens the file now sees no database.
    let len = std::fs::metadata(&path).unwrap().len();
    std::fs::write(&path, vec![b'x'; len as usize]).unwrap();
    std::fs::File::options().append(true).open(&path).unwrap().set_modified(stamp).unwrap();
    assert_eq!(published(&home.now()), first);
}

#[test]
fn oc_005_trust_026_what_must_never_be_read_is_named_nowhere() {
    let sources = [
        include_str!("mod.rs"),
        include_str!("data.rs"),
        include_str!("read.rs"),
        include_str!("session.rs"),
        include_str!("folder.rs"),
    ];
    let code = sources.map(|s| s.split("#[cfg(test)]\nmod tests {").next().unwrap()).concat();
    let code: String = code.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
    let tables = ["account", "control_account", "credential", "session_share", "account_state", "session_message"];
    let files = ["auth.json", "mcp-auth", "snapshot/", "tool-output", "repos"];
    let columns = ["share_url", "revert", "cost", "tokens_", "summary_", "permission"];
    for never in tables.into_iter().chain(files).chain(columns) {
        assert!(!code.contains(never), "{never}");
    }
    for table in tables {
        assert!(
            !STORE_SQL.contains(&format!("`{table}`")) && !STORE_SQL.contains(&format!("TABLE {table}")),
            "{table}"
        );
    }
    assert!(code.contains("json_each") && !code.contains("format!(\"SELECT"));
}

#[test]
fn oc_041_one_session_in_two_databases_is_reported_by_both_for_the_board_to_choose() {
    let mut home = Home::new("twice");
    drop(home.store(""));
    drop(owner(
        &home.db("opencode-dev.db"),
        &format!("{STORE_SQL} UPDATE session SET title = 'Older', time_updated = 1;"),
    ));
    let found = home.pass(NOW, true);
    assert_eq!(found.rows.iter().map(|r: &Observed| r.sid.as_str()).collect::<Vec<_>>(), [PARENT, PARENT]);
}

#[cfg(unix)]
#[test]
fn oc_040_field_050_odd_paths_open_and_the_folder_stays_as_it_was() {
    let dir = Scratch::new("opencode-odd");
    let root = dir.at("100% #odd? dir");
    drop(owner(&root.join("opencode.db"), STORE_SQL));
    let listing = || std::fs::read_dir(&root).unwrap().map(|e| e.unwrap().file_name()).collect::<Vec<_>>();
    let before = (listing(), std::fs::read(root.join("opencode.db")).unwrap());
    let mut reader = OpenCode::new(vec![root.clone()], "/home/dev".into());
    assert_eq!(sids(&collect(&mut reader, NOW, false)), [PARENT]);
    assert_eq!((listing(), std::fs::read(root.join("opencode.db")).unwrap()), before);
}

#[test]
#[ignore = "prints figures; CARGENTO_SCALE_HOME names a home to read"]
fn figures() {
    crate::harness::sql::support::figures(|home| {
        Box::new(OpenCode::new(vec![home.join(".local/share/opencode")], home.to_path_buf()))
    });
}

#[test]
#[ignore = "prints figures"]
fn figures_of_a_store_of_months() {
    let mut home = Home::new("months");
    let live = home.empty("");
    let body = "x".repeat(600);
    live.execute_batch("BEGIN").unwrap();
    for n in 0..2000 {
        let age = if n < 55 { i64::from(n) * 100 } else { 200_000 + i64::from(n) };
        live.execute_batch(&session(n, age, "")).unwrap();
        for m in 0..(if n < 55 { 400 } else { 30 }) {
            let data =
                if m % 10 == 0 { USER.to_owned() } else { ASSISTANT.replace('}', &format!(r#","x":"{body}"}}"#)) };
            live.execute_batch(&message(&format!("m{n}-{m:04}"), n, i64::from(m) - age - 400, &data)).unwrap();
            live.execute_batch(&part(
                &format!("p{n}-{m:04}"),
                &format!("m{n}-{m:04}"),
                &format!(r#"{{"type":"text","text":"{body}"}}"#),
            ))
            .unwrap();
        }
    }
    live.execute_batch("COMMIT").unwrap();
    for i in 0..20 {
        if i > 2 {
            live.execute_batch(&message(&format!("new{i}"), 3, i, ASSISTANT)).unwrap();
        }
        let started = std::time::Instant::now();
        let rows = home.pass(NOW + i as f64, false).rows.len();
        println!("pass {i}: {:?}, {rows} rows", started.elapsed());
    }
}
