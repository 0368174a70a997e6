//! Files: where they may stand, how they grow, how long they get, how they fail.

use super::*;
use crate::config::{CODEX_WALK_BYTES, TURN_SCAN_MAX_BYTES};
use crate::model::{Code, InstructionLabel};
use serde_json::json;

#[test]
fn codex_003_004_only_three_folders_down_and_an_empty_store_is_there() {
    let mut store = Store::new();
    assert!(store.reader.discovered());
    assert!(store.collect().rows.is_empty());
    let path = store.rollout("deep", &json!({}), &[], NOW);
    let text = std::fs::read_to_string(&path).unwrap().replace("deep", "wrong");
    for wrong in [
        "rollout-a.jsonl",
        "2026/rollout-b.jsonl",
        "2026/09/20/21/rollout-c.jsonl",
        "2026/09/20/notes.jsonl",
        "2026/09/20/rollout-d.json",
    ] {
        write(&store.sessions().join(wrong), &text, NOW);
    }
    write(&store.sessions().join("1999/12/31/rollout-[x]*-odd.jsonl"), &text.replace("wrong", "odd"), NOW);
    assert_eq!(sids(&store.all()), ["deep", "odd"]);
    let mut gone = Codex::new(store.home.join("nowhere"), &store.home);
    assert!(!gone.discovered());
}

#[cfg(unix)]
#[test]
fn codex_005_007_trust_031_links_and_special_files_are_passed_over_unopened() {
    let mut store = Store::new();
    let path = store.rollout("real", &json!({}), &[], NOW);
    let dir = path.parent().unwrap();
    std::os::unix::fs::symlink(&path, dir.join("rollout-x-link.jsonl")).unwrap();
    std::os::unix::fs::symlink(store.home.join("gone"), dir.join("rollout-x-dangling.jsonl")).unwrap();
    std::os::unix::fs::symlink(dir, store.sessions().join("2026/10")).unwrap();
    std::fs::create_dir(dir.join("rollout-x-folder.jsonl")).unwrap();
    for name in ["rollout-x-pipe.jsonl", "auth.json", "rollout-x.jsonl.lock"] {
        // A pipe of any of these names would hold whoever opened it.
        let made = std::process::Command::new("mkfifo").arg(dir.join(name)).status().unwrap();
        assert!(made.success());
    }
    for name in crate::harness::codex::never::NAMES {
        let hidden = if name.contains('.') { format!("2026/{name}") } else { name.to_owned() };
        std::fs::create_dir_all(store.sessions().join(&hidden).join("01/02")).unwrap();
        std::fs::copy(&path, store.sessions().join(&hidden).join("01/02/rollout-x-hidden.jsonl")).unwrap();
        std::fs::copy(&path, store.sessions().join(&hidden).join("01/rollout-x-hidden.jsonl")).unwrap();
    }
    let found = store.all();
    assert_eq!(sids(&found), ["real"]);
    let passed: Vec<&str> = found.store_errors.iter().map(|(path, _)| path.rsplit('/').next().unwrap()).collect();
    assert_eq!(passed, ["rollout-x-dangling.jsonl", "rollout-x-link.jsonl", "rollout-x-pipe.jsonl", "10"]);
}

#[test]
fn codex_056_057_turn_001_a_growing_and_a_rewritten_rollout_are_followed() {
    let mut store = Store::new();
    let path = store.rollout(
        ROOT,
        &json!({}),
        &[said(NOW - 50.0, "First task of the day"), model(NOW - 50.0, "alpha")],
        NOW - 50.0,
    );
    assert_eq!(store.row().model.as_deref(), Some("alpha"));
    let more = lines(&[model(NOW - 20.0, "beta"), said(NOW - 18.0, "Second task of the day"), started(NOW - 17.0)]);
    let (half, rest) = more.split_at(more.len() - 9);
    append(&path, half.as_bytes(), NOW);
    let row = store.row();
    assert_eq!(
        (row.title.as_deref(), row.model.as_deref(), row.evidence.turn_start),
        (Some("Second task of the day"), Some("beta"), None)
    );
    append(&path, rest.as_bytes(), NOW);
    assert_eq!(store.row().evidence.turn_start, Some(NOW - 17.0));
    let head = std::fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned();
    write(&path, &format!("{head}\n{}\n", line(&said(NOW, "Rewritten task of today"))), NOW + 1.0);
    let row = store.row();
    assert_eq!(
        (row.title.as_deref(), row.model, row.evidence.turn_start),
        (Some("Rewritten task of today"), None, None)
    );
    // Another thread in the same file: its own id, in the next pass at the latest.
    let other =
        head.replace(ROOT, "another") + "\n" + &lines(&[said(NOW, "Of another thread altogether"), padding(NOW, 5000)]);
    write(&path, &other, NOW + 2.0);
    store.collect();
    assert_eq!(
        (store.row().sid.as_str(), store.row().title.as_deref()),
        ("another", Some("Of another thread altogether"))
    );
    std::fs::remove_file(&path).unwrap();
    assert!(store.all().rows.is_empty());
}

#[test]
fn codex_049_a_first_line_without_end_is_asked_for_again() {
    let mut store = Store::new();
    let path = store.path("2026/09/20", ROOT);
    let head = line(&record(
        "session_meta",
        NOW,
        json!({"id": "whole", "session_id": "whole", "filler": "x".repeat(250_000)}),
    ));
    write(&path, &head, NOW);
    assert_eq!(store.row().sid, ROOT);
    assert_eq!(store.row().degrades[0].code, Code::RecordSkipped);
    let short = line(&record("session_meta", NOW, json!({"id": "whole", "session_id": "whole"})));
    write(&path, &short[..40], NOW);
    assert!(store.collect().rows.is_empty(), "not yet anybody's");
    assert_eq!(store.collect_at(NOW + 4.0, false).rows[0].sid, ROOT);
    append(&path, &short.as_bytes()[40..], NOW);
    assert_eq!(store.row().sid, "whole");
    append(&path, b"\n", NOW);
    let row = store.row();
    assert_eq!((row.sid.as_str(), row.degrades.len()), ("whole", 0));
}

#[test]
fn field_059_a_byte_order_mark_and_dos_line_ends_are_nothing() {
    let mut store = Store::new();
    let path = store.rollout(ROOT, &json!({"session_id": "bom"}), &[said(NOW, "With a mark in front of it")], NOW);
    let text = std::fs::read_to_string(&path).unwrap().replace('\n', "\r\n");
    write(&path, &format!("\u{feff}{text}"), NOW);
    let row = store.row();
    assert_eq!(
        (row.sid.as_str(), row.title.as_deref(), row.degrades.len()),
        ("bom", Some("With a mark in front of it"), 0)
    );
}

/// A rollout with `head` far before its turn scan and `tail` at its end.
fn long(store: &Store, head: &[Value], bytes: u64, tail: &[Value]) -> PathBuf {
    let path = store.rollout(ROOT, &json!({}), head, NOW);
    let filler = (line(&padding(NOW - 100.0, 200_000)) + "\n").repeat((bytes / 200_000 + 1) as usize);
    append(&path, filler.as_bytes(), NOW);
    append(&path, lines(tail).as_bytes(), NOW);
    path
}

#[test]
fn codex_024_034_037_062_turn_006_what_lies_far_before_the_turn_scan_is_found() {
    let mut store = Store::new();
    let plan = item(
        "function_call",
        NOW - 150.0,
        &json!({"name": "update_plan", "arguments": json!({"plan": [{"step": "One", "status": "completed"}]}).to_string()}),
    );
    let head = [
        said(NOW - 400.0, "Fix the parser for nested rows"),
        complete(NOW - 390.0),
        event("task_started", NOW - 200.0, &json!({"started_at": NOW - 201.0})),
        model(NOW - 199.0, "far"),
        plan,
        said(NOW - 140.0, "go ahead"),
        commentary(NOW - 130.0, "I will read on."),
    ];
    long(&store, &head, 20_000_000, &[]);
    let row = store.row();
    assert_eq!((row.title.as_deref(), row.model.as_deref(), row.total), (Some("go ahead"), Some("far"), 1));
    let said = row.instruction.unwrap();
    assert_eq!((said.label, said.text.as_str(), said.at), (InstructionLabel::Agent, "I will read on.", NOW - 130.0));
    assert_eq!((row.started_at, row.evidence.turn_start), (None, Some(NOW - 201.0)));
    assert_eq!((row.first_prompt.as_str(), row.first_prompt_at), ("Fix the parser for nested rows", Some(NOW - 400.0)));
    assert_eq!(row.degrades.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::ReadInPart]);
    // What the end holds goes before what lies further back.
    let mut store = Store::new();
    long(&store, &head, 20_000_000, &[model(NOW - 9.0, "near"), said_("Now write the tests for it"), complete(NOW)]);
    let row = store.row();
    assert_eq!(
        (row.title.as_deref(), row.model.as_deref(), row.instruction),
        (Some("Now write the tests for it"), Some("near"), None)
    );
    assert_eq!((row.evidence.turn_start, row.evidence.turn_durations.as_slice()), (None, &[201.0][..]));
}

fn said_(text: &str) -> Value {
    said(NOW - 8.0, text)
}

#[test]
fn turn_006_a_silence_before_the_turn_scan_bounds_the_turn() {
    let mut store = Store::new();
    long(&store, &[started(NOW - 900.0), padding(NOW - 800.0, 10), padding(NOW - 400.0, 10)], 12_000_000, &[]);
    assert_eq!(store.row().evidence.turn_start, Some(NOW - 400.0));
}

#[test]
fn field_044_a_long_walk_goes_on_in_later_passes() {
    let mut store = Store::new();
    let bytes = CODEX_WALK_BYTES * 2 + TURN_SCAN_MAX_BYTES;
    let path = long(
        &store,
        &[started(NOW - 200.0), said(NOW - 199.0, "Far away, but stated as work"), model(NOW - 198.0, "far")],
        bytes,
        &[],
    );
    let row = store.row();
    assert_eq!((row.title, row.model, row.evidence.turn_start), (None, None, None));
    assert_eq!(row.degrades[0].code, Code::ReadInPart);
    append(&path, lines(&[padding(NOW, 10)]).as_bytes(), NOW);
    assert_eq!(store.row().title, None);
    store.row();
    let row = store.row();
    assert_eq!(
        (row.title.as_deref(), row.model.as_deref(), row.evidence.turn_start),
        (Some("Far away, but stated as work"), Some("far"), Some(NOW - 200.0))
    );
}

#[test]
fn field_044_trust_064_sparse_and_endless_files_cost_what_is_looked_at() {
    let mut store = Store::new();
    let path = store.rollout("sparse", &json!({}), &[], NOW);
    std::fs::File::options().write(true).open(&path).unwrap().set_len(5_000_000_000).unwrap();
    append(&path, format!("\n{}\n", line(&said(NOW, "The end of a hole in a file"))).as_bytes(), NOW);
    let endless = store.rollout("endless", &json!({}), &[said(NOW, "Before one endless line of work")], NOW);
    append(&endless, "x".repeat(20_000_000).as_bytes(), NOW);
    let begun = std::time::Instant::now();
    let found = store.collect();
    let title = |sid: &str| found.rows.iter().find(|r| r.sid == sid).unwrap().title.clone();
    assert_eq!(title("sparse").as_deref(), Some("The end of a hole in a file"));
    assert_eq!(title("endless").as_deref(), Some("Before one endless line of work"));
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    append(&endless, format!("\n{}\n", line(&said(NOW, "And behind it there is more"))).as_bytes(), NOW);
    let found = store.collect();
    let row = found.rows.iter().find(|r| r.sid == "endless").unwrap();
    assert_eq!(row.title.as_deref(), Some("And behind it there is more"));
}

#[test]
fn field_003_a_compressed_rollout_is_one_row_and_says_so() {
    let mut store = Store::new();
    let plain =
        store.rollout(ROOT, &json!({"cwd": "/w/acme/cold"}), &[said(NOW, "Once read, now packed")], NOW - 9.0 * DAY);
    let pack = |path: &Path| {
        let packed = ruzstd::encoding::compress_to_vec(
            &std::fs::read(path).unwrap()[..],
            ruzstd::encoding::CompressionLevel::Fastest,
        );
        let to = path.with_extension("jsonl.zst");
        write_bytes(&to, &packed, NOW - 9.0 * DAY);
        to
    };
    let packed = pack(&plain);
    let both = store.all();
    assert_eq!((sids(&both), both.rows[0].degrades.len(), both.degrades.len()), (vec![ROOT], 0, 0));
    std::fs::remove_file(&plain).unwrap();
    // Not opened for a board that does not show it, and named all the same.
    let usual = store.collect();
    assert_eq!((usual.rows.len(), usual.degrades[0].code, usual.degrades[0].count), (0, Code::Compressed, Some(1)));
    let alone = store.all();
    assert_eq!((sids(&alone), alone.rows[0].project.as_str()), (vec![ROOT], "acme/cold"));
    assert_eq!(
        (alone.rows[0].degrades[0].code, alone.rows[0].title.as_deref(), alone.rows[0].active),
        (Code::Compressed, None, false)
    );
    assert_eq!(alone.rows[0].evidence.transcript, None);
    // One that is not what its name says is a row by that name.
    write(&packed.with_file_name("rollout-x-garbage.jsonl.zst"), "no frame", NOW - 9.0 * DAY);
    assert_eq!(sids(&store.all()), [ROOT, "rollout-x-garbage"]);
    // A child's is none.
    let kid = store.child("kid", ROOT, &json!({}), &[], NOW - 9.0 * DAY);
    pack(&kid);
    std::fs::remove_file(&kid).unwrap();
    assert_eq!(sids(&store.all()), [ROOT, "rollout-x-garbage"]);
    // Resumed, the plain file is back, and the swap never shows two.
    store.rollout(ROOT, &json!({}), &[said(NOW, "Resumed and stated as work")], NOW);
    assert_eq!(store.all().rows.len(), 2);
    assert_eq!(store.row().title.as_deref(), Some("Resumed and stated as work"));
}

#[test]
fn field_004_a_thread_that_is_put_away_leaves_the_board() {
    let mut store = Store::new();
    let path = store.rollout(ROOT, &json!({}), &[], NOW);
    assert_eq!(store.collect().rows.len(), 1);
    let away = store.home.join(".codex/archived_sessions");
    std::fs::create_dir_all(&away).unwrap();
    std::fs::rename(&path, away.join(path.file_name().unwrap())).unwrap();
    assert!(store.all().rows.is_empty());
}

#[cfg(unix)]
#[test]
fn codex_048_trust_036_037_052_what_is_refused_is_named_and_costs_itself() {
    use std::os::unix::fs::PermissionsExt;
    let mut store = Store::new();
    let path = store.rollout("refused", &json!({}), &[said(NOW, "Read before it was refused")], NOW);
    store.rollout("sound", &json!({}), &[said(NOW, "Sound and stated as work")], NOW);
    if std::fs::File::open("/etc/shadow").is_ok() {
        // The superuser is refused nothing: stand a folder in the file's place instead.
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_eq!(sids(&store.collect()), ["sound"]);
        return;
    }
    let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o000);
    let found = store.collect();
    assert_eq!(sids(&found), ["sound"]);
    assert_eq!(found.degrades[0].code, Code::StoreUnreadable);
    assert!(
        found.store_errors[0].0.ends_with("refused.jsonl") && found.store_errors[0].1.starts_with("PermissionDenied: ")
    );
    mode(0o600);
    assert_eq!(store.collect().rows.len(), 1, "left alone for a moment");
    assert_eq!(store.collect_at(NOW + 3.0, false).rows.len(), 2);
    mode(0o000);
    append(&store.path("2026/09/20", "sound"), b"\n", NOW);
    let found = store.collect_at(NOW + 4.0, false);
    assert_eq!(found.rows.len(), 2, "what was read stands");
}

#[test]
fn codex_048_a_store_that_is_gone_is_named() {
    let mut store = Store::new();
    store.rollout(ROOT, &json!({}), &[], NOW);
    assert_eq!(store.collect().rows.len(), 1);
    std::fs::remove_dir_all(store.sessions()).unwrap();
    let found = store.collect();
    assert_eq!((found.rows.len(), found.degrades[0].code), (0, Code::StoreMissing));
}

#[test]
fn codex_063_ids_of_one_millisecond_stay_whole() {
    let mut store = Store::new();
    for n in 0..8 {
        store.rollout(&format!("019fa752-aabb-7000-8000-00000000000{n}"), &json!({}), &[], NOW);
    }
    let found = store.collect();
    assert!(found.rows.iter().all(|row| row.sid.len() == 36 && row.resume_id.as_deref() == Some(&row.sid)));
    assert_eq!(found.rows.len(), 8);
}
