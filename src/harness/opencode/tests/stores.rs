//! Stores that are broken, locked, old, moving or large.

use super::*;
use std::path::Path;

/// OC-007, OC-008, OC-025, OC-031, FIELD-005, DECK-021: which columns there are decides, never a version.
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
    assert!(codes(&found).iter().all(|code| *code == "schema-unknown"));
    let named: Vec<&str> = found.degrades.iter().map(|d| d.source.as_str()).collect();
    let each = ["opencode-a.db", "opencode-b.db", "opencode-c.db", "opencode-d.db", "opencode-e.db"];
    assert_eq!(named, each, "those without messages, too");
    let errors = |name: &str| -> Vec<&str> {
        let of = found.store_errors.iter().filter(|(path, _)| path.ends_with(name));
        of.map(|(_, why)| why.as_str()).collect()
    };
    assert_eq!(errors("opencode-d.db"), ["OperationalError: no such column: session.title"]);
    assert_eq!(errors("opencode-e.db"), ["OperationalError: no such table: session"]);
}

/// OC-024, OC-027, OC-032, OC-044, DECK-020, TRUST-036: each way a database can be spoilt has its name and costs that
/// database alone.
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

/// OC-002, OC-024: a folder without a database is a missing store, and no harness.
#[test]
fn oc_002_oc_024_a_folder_without_database() {
    let mut home = Home::new("missing");
    assert!(!home.reader.discovered());
    assert!(home.now().degrades.is_empty(), "no folder, nothing to say");
    std::fs::create_dir(home.dir.0.join("data")).unwrap();
    assert!(!home.reader.discovered());
    assert_eq!(codes(&home.now()), ["store-missing"]);
    drop(home.store(""));
    assert!(home.reader.discovered());
    assert_eq!(sids(&home.now()), [PARENT]);
}

/// OC-026: a session that nothing names is counted, recorded, and costs no other.
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

/// OC-039, FIELD-042: a message that only the log holds is seen, and the session works.
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

/// OC-004, OC-005, OC-006, OC-009, OC-021, OC-023: the statements are fixed; accounts, credentials, shares,
/// approvals, costs and sockets are named nowhere.
#[test]
fn oc_005_trust_026_what_must_never_be_read_is_named_nowhere() {
    let sources = [
        include_str!("../mod.rs"),
        include_str!("../data.rs"),
        include_str!("../read.rs"),
        include_str!("../session.rs"),
        include_str!("../folder.rs"),
    ];
    let code = sources.map(|s| s.split("#[cfg(test)]\nmod tests {").next().unwrap()).concat();
    let code: String = code.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
    let tables = ["account", "control_account", "credential", "session_share", "account_state", "session_message"];
    let files = ["auth.json", "mcp-auth", "snapshot/", "tool-output", "repos"];
    let columns = ["share_url", "revert", "cost", "tokens_", "summary_", "permission"];
    let sockets = ["loopback", "outbound", "listen", "Stream", "http", "event_sequence"];
    for never in tables.into_iter().chain(files).chain(columns).chain(sockets) {
        assert!(!code.contains(never), "{never}");
    }
    let mut fixtures = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/opencode")];
    while let Some(path) = fixtures.pop() {
        if path.is_dir() {
            fixtures.extend(std::fs::read_dir(path).unwrap().map(|file| file.unwrap().path()));
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).to_lowercase();
        for table in tables {
            for made in
                [format!("`{table}`"), format!("\"{table}\""), format!("table {table}"), format!("into {table}")]
            {
                assert!(!text.contains(&made), "{made} in {}", path.display());
            }
        }
    }
    assert!(code.contains("json_each") && !code.contains("format!(\"SELECT"));
}

/// OC-041: one session in two databases.
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

/// OC-040, FIELD-050: a folder of any name opens and stays as it was.
#[cfg(unix)]
#[test]
fn oc_040_field_050_odd_paths_open_and_the_folder_stays_as_it_was() {
    let dir = Scratch::new("opencode-odd");
    let root = dir.0.join("100% #odd? dir");
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
