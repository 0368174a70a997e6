//! What is a session, which file it is read from, and what is never looked at (CLAUDE-001..016, CLAUDE-032, CLAUDE-120).

use super::super::store;
use super::home::*;
use crate::harness::Collector;
use crate::harness::tree::Take;
use crate::model::{Code, State};
use serde_json::json;
use std::ffi::OsStr;

/// CLAUDE-002.
#[test]
fn claude_002_a_store_is_discovered_by_its_projects_folder() {
    let mut home = Home::new();
    assert!(home.claude.discovered());
    std::fs::remove_dir(home.path("projects")).unwrap();
    assert!(!home.claude.discovered());
    std::fs::write(home.path("projects"), b"a file").unwrap();
    assert!(!home.claude.discovered());
}

/// CLAUDE-003, CLAUDE-008, CLAUDE-126.
#[test]
fn claude_003_126_which_names_are_sessions_and_a_root_with_glob_characters() {
    let mut home = Home::named("ho[me]*?");
    let records = [ask("Do the thing that was asked for", 20.0), say("ok", 10.0)];
    home.session(LEAD, &records, 5.0);
    for name in
        ["agent-ab12cd34.jsonl", "ab12cd34-agent-7.jsonl", "notes.json", "sub/deep1234.jsonl", "../flat1234.jsonl"]
    {
        home.write(&format!("projects/-w-acme-shop/{name}"), lines(&records), 5.0);
    }
    assert_eq!(home.sids(), [KEY]);
    assert_eq!(home.collect(true).rows.len(), 1);
}

/// CLAUDE-004.
#[test]
fn claude_004_the_newest_file_of_a_key_is_the_session() {
    let mut home = Home::new();
    let other = "27d10654-ffff-4000-8000-000000000000";
    home.session(LEAD, &[ask("The older words of the two files", 400.0)], 300.0);
    home.write(&format!("projects/-w-x/{other}.jsonl"), lines(&[ask("The newer words of the two files", 30.0)]), 5.0);
    let row = home.row(KEY);
    assert_eq!(row.title.as_deref(), Some("The newer words of the two files"));
    assert_eq!(row.resume_id.as_deref(), Some(other));
    assert_eq!(home.sids().len(), 1);
}

/// CLAUDE-006, CLAUDE-128.
#[test]
fn claude_006_128_files_of_bookkeeping_alone_are_no_sessions() {
    let mut home = Home::new();
    let (title, name, link) = (
        json!({"type": "ai-title", "aiTitle": "T"}),
        json!({"type": "agent-name", "agentName": "n"}),
        json!({"type": "pr-link"}),
    );
    for i in 0..438 {
        home.session(&format!("{i:08x}-title"), &[title.clone(), name.clone(), link.clone()][..=(i % 3)], 5.0);
    }
    assert!(home.sids().is_empty());
    for (id, records) in [
        ("aaaaaaa1", vec![title.clone(), json!({"type": "mode"})]),
        ("aaaaaaa2", vec![json!({"aiTitle": "T"})]),
        ("aaaaaaa3", vec![json!({"type": 7})]),
        ("aaaaaaa4", vec![title.clone(), json!("{\"type\":\"ai-ti")]),
        ("aaaaaaa5", vec![]),
        ("aaaaaaa6", vec![json!({"type": "ai-title", "aiTitle": "T".repeat(9000)}); 2]),
    ] {
        home.session(id, &records, 5.0);
    }
    assert_eq!(home.sids(), ["aaaaaaa1", "aaaaaaa2", "aaaaaaa3", "aaaaaaa4", "aaaaaaa5", "aaaaaaa6"]);
    // A torn title is judged anew when it is whole, and a title file that gains a prompt becomes a session.
    home.write("projects/-w-acme-shop/aaaaaaa5.jsonl", r#"{"type":"ai-title","aiTitle":"T"}"#, 5.0);
    assert!(home.sids().contains(&"aaaaaaa5".into()));
    home.write("projects/-w-acme-shop/aaaaaaa5.jsonl", lines(&[title]), 5.0);
    assert!(!home.sids().contains(&"aaaaaaa5".into()));
    home.append(
        &home.path("projects/-w-acme-shop/00000001-title.jsonl"),
        &[ask("A prompt at last, in this file", 3.0)],
        2.0,
    );
    assert_eq!(home.row("00000001").title.as_deref(), Some("T"));
}

/// CLAUDE-007.
#[test]
fn claude_007_a_session_of_tasks_alone() {
    let mut home = Home::new();
    home.write(&format!("tasks/{LEAD}/1.json"), r#"{"id":"1","subject":"Run","status":"in_progress"}"#, 3.0);
    let row = home.row(KEY);
    assert_eq!((row.project.as_str(), row.title, row.last_prompt.as_str()), ("unknown", None, ""));
    assert_eq!((row.turn, row.resume_id, row.own_activity), (None, None, 0.0));
    assert_eq!((row.state, row.last_activity, row.total), (State::Idle, NOW - 3.0, 1));
    home.write(&format!("tasks/{LEAD}/1.json"), "{}", 90_000.0);
    assert!(home.sids().is_empty());
}

/// CLAUDE-009, CLAUDE-020.
#[test]
fn claude_009_020_old_sessions_are_listed_by_all_and_not_analysed() {
    let mut home = Home::new();
    let old = [
        ask("Words of the day before yesterday", 90_100.0),
        say("x", 90_050.0),
        json!({"type": "ai-title", "aiTitle": "T"}),
    ];
    home.session(LEAD, &old, 90_000.0);
    assert!(home.sids().is_empty());
    let row = home.collect(true).rows.remove(0);
    assert_eq!(
        (row.active, row.title, row.model, row.instruction, row.rate_per_min),
        (false, None, None, None, Some(0))
    );
    assert_eq!(row.project, "acme/shop");
    assert_eq!(row.resume_id.as_deref(), Some(LEAD));
}

/// CLAUDE-015, CLAUDE-016, TRUST-026.
#[test]
fn claude_015_016_trust_026_refused_names() {
    let judge = |path: &str| {
        let names: Vec<&OsStr> = path.split('/').map(OsStr::new).collect();
        let (name, parents) = names.split_last().unwrap();
        store::judge_projects(parents, name)
    };
    for path in
        ["tool-results", "p/tool-results", "p/s/tool-results", "p/s/subagents/tool-results", "p/x.lock", "p/memory"]
    {
        assert_eq!(judge(path), Take::Skip, "{path}");
    }
    for path in ["p/s/notes.jsonl", "p/s/subagents/journal.jsonl", "p/s/subagents/workflows/r/journal.jsonl"] {
        assert_eq!(judge(path), Take::Skip, "{path}");
    }
    assert_eq!(store::judge_tasks(&[OsStr::new("s")], OsStr::new(".lock")), Take::Skip);
    assert_eq!(store::judge_tasks(&[OsStr::new("s")], OsStr::new(".hidden.json")), Take::Skip);
    assert_eq!(store::judge_teams(&[OsStr::new("s")], OsStr::new("inboxes")), Take::Skip);
}

/// TRUST-026.
/// Each refused name stands in one place of this harness's sources.
#[test]
fn trust_026_one_list() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/harness/claude");
    let mut holders = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let code: String = text.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
        for name in [
            "tool-results",
            ".lock\"",
            "settings",
            "history.jsonl",
            "statsig",
            "shell-snapshots",
            "\"todos",
            "\"plugins",
            "\"ide",
            "\"debug",
            "file-history",
            ".credentials",
        ] {
            if code.contains(name) {
                holders.push((name, path.file_name().unwrap().to_owned()));
            }
        }
    }
    holders.sort();
    assert_eq!(holders, [(".lock\"", "store.rs".into()), ("tool-results", "store.rs".into())]);
}

#[cfg(unix)]
/// TRUST-026, TRUST-031.
#[test]
fn trust_026_031_nothing_but_regular_files_is_opened() {
    let mut home = Home::new();
    home.session(LEAD, &[ask("Do the thing that was asked for", 20.0)], 5.0);
    let folder = home.path(&format!("projects/-w-acme-shop/{LEAD}"));
    std::fs::create_dir_all(folder.join("tool-results")).unwrap();
    std::fs::create_dir_all(folder.join("subagents")).unwrap();
    for fifo in [
        folder.join("tool-results/a.txt"),
        folder.join("subagents/agent-x.jsonl"),
        home.path("projects/-w-acme-shop/ffffffff.jsonl"),
    ] {
        let path = std::ffi::CString::new(fifo.to_str().unwrap()).unwrap();
        // SAFETY: a NUL-terminated path that outlives the call.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    }
    let found = home.collect(false);
    assert_eq!(found.rows.iter().map(|r| r.sid.as_str()).collect::<Vec<_>>(), [KEY]);
    assert_eq!(found.rows[0].subagents, []);
    assert!(
        found
            .degrades
            .iter()
            .any(|d| d.code == Code::RecordSkipped && d.source == "claude.projects" && d.count == Some(2))
    );
}

/// CLAUDE-032, CLAUDE-120.
#[test]
fn claude_032_120_the_working_directory_is_looked_for_in_the_head() {
    let mut home = Home::new();
    let bare = json!({"type": "system", "timestamp": iso(50.0)});
    let with = |before: Vec<serde_json::Value>, cwd: &str| {
        let mut records = before;
        records.push(json!({"type": "user", "timestamp": iso(20.0), "cwd": cwd, "message": {"content": "hello"}}));
        records
    };
    let wide = json!({"type": "system", "content": "z".repeat(210_000)});
    let cases = [
        ("c0000001", with(vec![bare.clone(); 49], "/w/acme/late"), "acme/late"),
        ("c0000002", with(vec![bare.clone(); 50], "/w/acme/toolate"), "x-folder"),
        ("c0000003", with(vec![json!({"cwd": 7}), json!({"cwd": ""})], "/w/acme/third"), "acme/third"),
        ("c0000004", with(vec![], "acme/relative"), "x-folder"),
        ("c0000005", with(vec![], "/w/acme/../up"), "x-folder"),
        // A line of 210,000 bytes is two pieces, so the record behind 25 of them is the 51st.
        ("c0000006", with(vec![wide.clone(); 24], "/w/acme/wide"), "acme/wide"),
        ("c0000007", with(vec![wide.clone(); 25], "/w/acme/wider"), "x-folder"),
        ("c0000008", vec![json!({"type": "user", "cwd": "/w/acme/long", "x": "y".repeat(200_001)})], "x-folder"),
    ];
    for (id, records, _) in &cases {
        home.write(&format!("projects/-srv-x-folder/{id}.jsonl"), lines(records), 5.0);
    }
    for (id, _, project) in &cases {
        assert_eq!(home.row(id).project, *project, "{id}");
    }
    // Absence is not remembered: the directory may still be written.
    let young = home.write("projects/-srv-x-folder/c0000009.jsonl", lines(&vec![bare; 3]), 5.0);
    assert_eq!(home.row("c0000009").project, "x-folder");
    home.append(&young, &with(vec![], "/w/acme/now"), 4.0);
    assert_eq!(home.row("c0000009").project, "acme/now");
}

/// CLAUDE-034, ROW-005.
#[test]
fn claude_034_row_005_resume_tokens() {
    let mut home = Home::new();
    for (stem, fine) in
        [(LEAD, true), ("--dangerously-skip-permissions", false), ("has space here", false), ("_under-score1", true)]
    {
        home.session(stem, &[ask("Something to do in this session", 20.0)], 5.0);
        assert_eq!(home.row(store::key_of(stem)).resume_id.as_deref(), fine.then_some(stem), "{stem}");
    }
}

/// CLAUDE-081, CLAUDE-082, ROW-041, TURN-030: a task is as old as its file, from its birth where the platform tells that.
#[test]
fn claude_081_082_ages_and_what_remains() {
    use super::super::tasks::{self, Found, Tasks};
    use crate::harness::tree::File;
    use crate::model::{Key, Observed, task};
    let home = Home::new();
    let mut kept = Tasks::new();
    let mut read = |n: u32, status: &str, birth: Option<f64>, updated: f64| {
        let body = json!({"id": n, "subject": "s", "status": status}).to_string();
        let path = home.write(&format!("tasks/{LEAD}/{n}.json"), body, updated);
        let stamp = crate::surface::read::look(&path).unwrap().stamp;
        match tasks::read(&mut kept, &path, &File { stamp, birth: birth.map(|ago| NOW - ago) }, NOW) {
            Found::Task(task) => task,
            _ => panic!("no task"),
        }
    };
    let tasks = vec![
        read(1, "completed", Some(4000.0), 3400.0),
        read(2, "completed", Some(3400.0), 3380.0),
        read(3, "in_progress", Some(300.0), 30.0),
        read(4, "pending", None, 7300.0),
        // Copied here: born after it was written.
        read(5, "completed", Some(10.0), 5000.0),
    ];
    let mut row = Observed::new(Key::Claude, KEY);
    task::attach(&mut row, tasks);
    let told: Vec<_> = row.tasks.iter().map(|t| (t.elapsed_h.as_deref(), t.updated_ago.as_deref())).collect();
    let want = [
        (Some("10m"), Some("56m ago")),
        (Some("20s"), Some("56m ago")),
        (Some("5m"), Some("30s ago")),
        (Some("2h 1m"), Some("2h 1m ago")),
        (Some("–"), Some("1h 23m ago")),
    ];
    assert_eq!(told, want);
    assert_eq!((row.total, row.done, row.open, row.progress_pct, row.eta_h.as_deref()), (5, 3, 2, 60, Some("20m")));
}

/// CLAUDE-080, CLAUDE-081, ROW-040, ROW-043.
#[test]
fn claude_080_081_tasks_of_both_folder_shapes() {
    let mut home = Home::new();
    home.session(LEAD, &[ask("Reproduce the error and then fix it", 60.0), say("ok", 5.0)], 5.0);
    home.write(
        &format!("tasks/{LEAD}/2.json"),
        r#"{"id":"2","subject":"Run tests","activeForm":"Running tests","status":"in_progress"}"#,
        20.0,
    );
    home.write(&format!("tasks/session-{KEY}/1.json"), "\u{feff}{\"id\":1,\"subject\":7}", 30.0);
    home.write(&format!("tasks/{LEAD}/x.json"), r#"{"id":["no"],"subject":"Odd"}"#, 30.0);
    let long = "9".repeat(60);
    home.write(
        &format!("tasks/{LEAD}/y.json"),
        json!({"id": long, "subject": "Long", "status": "blocked"}).to_string(),
        30.0,
    );
    for (name, body) in
        [(".h.json", "{}"), ("bad.json", "{"), ("list.json", "[]"), ("note.txt", "{}"), ("a.json.lock", "{}")]
    {
        home.write(&format!("tasks/{LEAD}/{name}"), body, 30.0);
    }
    home.write(&format!("tasks/{LEAD}/latin.json"), b"{\"id\":\"\xff\"}", 30.0);
    let row = home.row(KEY);
    let tasks: Vec<_> = row.tasks.iter().map(|t| (t.id.clone(), t.subject.as_str(), t.status.as_str())).collect();
    assert_eq!(
        tasks,
        [
            (json!(null), "Odd", "pending"),
            (json!(long), "Long", "blocked"),
            (json!(1), "(untitled)", "pending"),
            (json!("2"), "Run tests", "in_progress")
        ]
    );
    assert_eq!((row.total, row.open, row.state_detail.as_deref()), (4, 4, Some("Running tests…")));
    assert_eq!(row.tasks[3].updated, Some(NOW - 20.0));
    assert_eq!(row.degrades.iter().map(|d| (d.code, d.count)).collect::<Vec<_>>(), [(Code::RecordSkipped, Some(3))]);
    std::fs::remove_dir_all(home.path("tasks")).unwrap();
    assert_eq!(home.row(KEY).total, 0);
}
