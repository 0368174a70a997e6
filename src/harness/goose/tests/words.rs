//! What messages, columns and ids of every shape make of a row.

use super::*;
use crate::env::Platform;
use crate::harness::sql::support::board;
use crate::harness::testkit::candidates;

/// GOOSE-001, GOOSE-002: where the database is looked for; Goose's own root variable moves nothing.
#[test]
fn goose_001_goose_002_candidates() {
    let of = |platform, vars: &[(&str, &str)]| candidates("goose.db", platform, vars);
    let home = ("HOME", "/home/u");
    assert_eq!(of(Platform::Linux, &[home]), ["/home/u/.local/share/goose/sessions/sessions.db"]);
    assert_eq!(of(Platform::Linux, &[home, ("XDG_DATA_HOME", "/data")]), ["/data/goose/sessions/sessions.db"]);
    for blank in [("XDG_DATA_HOME", "  "), ("GOOSE_PATH_ROOT", "/elsewhere")] {
        assert_eq!(of(Platform::Linux, &[home, blank]), ["/home/u/.local/share/goose/sessions/sessions.db"]);
    }
    let (user, roaming, local) = (("USERPROFILE", "C:\\u"), ("APPDATA", "C:\\r"), ("LOCALAPPDATA", "C:\\l"));
    let windows = [
        "C:\\u\\.local\\share\\goose\\sessions\\sessions.db",
        "C:\\r\\Block\\goose\\data\\sessions\\sessions.db",
        "C:\\l\\Block\\goose\\data\\sessions\\sessions.db",
    ];
    assert_eq!(of(Platform::Windows, &[user, roaming, local]), windows);
    assert_eq!(of(Platform::Windows, &[user, ("APPDATA", "C:\\l"), local])[1..], windows[2..], "no candidate twice");
}

/// GOOSE-005, GOOSE-010, GOOSE-020: stores of the schema's versions open, and the name titles a row where there is one.
#[test]
fn goose_005_goose_010_goose_020_versions_of_the_schema() {
    let stamp = "2026-09-20 09:59:58";
    let base = "id TEXT PRIMARY KEY, description TEXT, working_dir TEXT, updated_at TIMESTAMP";
    let versions = [
        (base.to_owned(), "", "About"),
        (format!("{base}, name TEXT"), ", 'Named'", "Named"),
        (format!("{base}, name TEXT, session_type TEXT"), ", ' ', 'user'", "About"),
        (format!("{base}, name TEXT, session_type TEXT, archived_at TIMESTAMP"), ", '', 'user', NULL", "About"),
        (
            format!("{base}, name TEXT, session_type TEXT, archived_at TIMESTAMP, parent_session_id TEXT, novelty"),
            ", 'Named', 'user', NULL, NULL, x'00'",
            "Named",
        ),
    ];
    for (i, (columns, values, title)) in versions.iter().enumerate() {
        let mut home = Home::new(&format!("version-{i}"));
        let sql = format!(
            "CREATE TABLE sessions ({columns}); INSERT INTO sessions VALUES ('20260920_{i}', ' About ', '/w/acme/etl', '{stamp}'{values});"
        );
        drop(owner(&home.dir.0.join("sessions.db"), &sql));
        let found = home.pass(NOW, false);
        let row = row(&found, &format!("20260920_{i}"));
        assert_eq!((row.title.as_deref(), row.project.as_str()), (Some(*title), "acme/etl"), "{columns}");
        assert_eq!((row.state, row.source_gaps.len()), (State::Working, 2));
    }
}

/// GOOSE-012, GOOSE-016, FIELD-012: the newest 400 messages count; thousands of thoughts cost nothing, and what asks
/// for a confirmation is no wait.
#[test]
fn goose_012_goose_016_field_012_only_the_newest_messages_and_no_thoughts() {
    let mut home = Home::new("many");
    let mut sql = session("s", 5, "user", "") + &session("t", 5, "user", "");
    sql += &message("s", "user", NOW - 600.0, &text("Too old to count"));
    sql += &(0..400).map(|i| message("s", "assistant", NOW - 500.0 + f64::from(i), "[]")).collect::<String>();
    let thought = r#"{"type":"thinking","thinking":"NEVER"}"#;
    sql += &message("t", "user", NOW - 50.0, &text("Think"));
    sql += &message("t", "assistant", NOW - 40.0, &format!("[{}]", vec![thought; 1500].join(",")));
    sql += &message("t", "assistant", NOW - 30.0, r#"[{"type":"toolConfirmationRequest","id":"c"}]"#);
    sql += &message("t", "user", NOW - 20.0, &format!("[{thought}]"));
    drop(home.empty(&sql));
    // The older store of single transcripts lies beside it and is not read.
    std::fs::write(home.dir.0.join("20250101_1.jsonl"), "{\"working_dir\":\"/w\"}\n").unwrap();
    let started = std::time::Instant::now();
    let found = home.pass(NOW, false);
    assert!(started.elapsed().as_secs() < 2);
    assert_eq!(sids(&found), ["s", "t"]);
    let (long, thoughtful) = (row(&found, "s"), row(&found, "t"));
    assert_eq!((long.last_prompt.as_str(), long.turn.as_ref()), ("", None));
    assert_eq!((thoughtful.last_prompt.as_str(), thoughtful.model.as_ref()), ("Think", None));
    assert_eq!((thoughtful.state, thoughtful.blocked_since), (State::Working, None));
    assert!(!format!("{found:?}", found = found.rows).contains("NEVER"));
}

/// GOOSE-013, GOOSE-025, GOOSE-032: content of every shape; a slash command typed behind the turn is a prompt like any.
#[test]
fn goose_013_goose_025_goose_032_what_is_a_prompt() {
    for (content, prompt, opens) in [
        (r#"[{"type":"text","text":"/compact"}]"#, "/compact", true),
        (r#""bare words""#, "bare words", true),
        (r#"{"text":"of an object"}"#, "of an object", true),
        ("null", "Before", true),
        ("{", "Before", true),
        ("[]", "Before", true),
        (&"[".repeat(2000), "Before", true),
        (r#"[{"type":"image","data":"x"}]"#, "Before", true),
        (r#"[{"type":"text","text":"two"},{"type":"text","text":"parts"}]"#, "two parts", true),
        (r#"[{"type":"text","text":"beside a result"},{"type":"toolResponse"}]"#, "Before", false),
        (r#"[{"type":"Tool_Response"}]"#, "Before", false),
    ] {
        let mut home = Home::new("shapes");
        let sql = session("s", 5, "user", "")
            + &message("s", "user", NOW - 60.0, &text("Before"))
            + &message("s", "assistant", NOW - 40.0, &text("An answer"))
            + &message("s", "user", NOW - 10.0, content);
        drop(home.empty(&sql));
        let found = home.pass(NOW, false);
        let row = row(&found, "s");
        let start = if opens { NOW - 10.0 } else { NOW - 60.0 };
        assert_eq!((row.last_prompt.as_str(), row.evidence.turn_start), (prompt, Some(start)), "{content:.60}");
    }
}

/// GOOSE-029, GOOSE-030: one id in two databases is one row, the fresher; ids that share their date stay apart.
#[test]
fn goose_029_goose_030_display_ids_of_one_day_are_distinct() {
    let mut home = Home::new("ids");
    let sql: String = (1..=60).map(|n| session(&format!("20260920_{n}"), 5 + n, "user", "")).collect();
    drop(home.empty(&sql));
    let twice = session("20260920_7", 2, "user", "").replace("About 20260920_7", "Fresher");
    drop(owner(&home.dir.0.join("other.db"), &format!("{STORE_SQL} DELETE FROM sessions; {twice}")));
    let rows = board(home.pass(NOW, false), NOW);
    let mut shown: Vec<&str> = rows.iter().map(|row| row["session"].as_str().unwrap()).collect();
    shown.sort_unstable();
    shown.dedup();
    assert_eq!((rows.len(), shown.len()), (60, 60));
    assert!(rows.iter().all(|row| row["sid"].as_str().unwrap().starts_with(row["session"].as_str().unwrap())));
    let seven = rows.iter().find(|row| row["sid"] == "20260920_7").unwrap();
    assert_eq!(seven["title"], "Fresher");
}
