//! Files: where they may stand, how they grow, how they fail.

use super::*;
use crate::model::Code;
use serde_json::json;

/// CODEX-003, CODEX-004: only three folders down and an empty store is there.
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

/// CODEX-007, CODEX-008, CODEX-064, TRUST-031, FIELD-056, FIELD-057: links, special files and refused names are passed
/// over unopened.
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

/// CODEX-056, CODEX-057, TURN-001: a growing and a rewritten rollout are followed.
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

/// CODEX-049: a first line without end is asked for again.
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

/// FIELD-059: a byte order mark and DOS line ends are nothing.
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

/// CODEX-006, FIELD-003: a compressed rollout is one row by its name, is never opened, and is named as what it is.
#[test]
fn field_003_a_compressed_rollout_is_one_row_and_says_so() {
    let mut store = Store::new();
    let plain = store.rollout(ROOT, &json!({}), &[said(NOW, "Once read, now packed")], NOW - 9.0 * DAY);
    let beside = |path: &Path, bytes: &[u8], mtime: f64| {
        let to = path.with_extension("jsonl.zst");
        write_bytes(&to, bytes, mtime);
        to
    };
    let frame =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex").join(super::fixtures::PACKED));
    let packed = beside(&plain, &frame.unwrap(), NOW - 9.0 * DAY);
    let both = store.all();
    assert_eq!((sids(&both), both.rows[0].degrades.len(), both.degrades.len()), (vec![ROOT], 0, 0));
    std::fs::remove_file(&plain).unwrap();
    let usual = store.collect();
    assert_eq!((usual.rows.len(), usual.degrades[0].code, usual.degrades[0].count), (0, Code::Compressed, Some(1)));
    assert_eq!(usual.degrades[0].source, "codex.sessions");
    let alone = store.all();
    let row = &alone.rows[0];
    assert_eq!((sids(&alone), row.degrades[0].code, row.degrades.len()), (vec![ROOT], Code::Compressed, 1));
    // The frame names a directory of its own; nobody looked.
    assert_eq!((row.project.as_str(), row.title.as_deref(), row.active), ("codex", None, false));
    assert_eq!((row.resume_id.as_deref(), row.evidence.transcript.as_ref()), (Some(ROOT), None));
    // One just written is on the board, at rest: compressing is no work.
    beside(&store.path("2026/09/21", "01994fff-0000-7000-8000-000000000009"), b"", NOW);
    let fresh = store.row();
    assert_eq!((fresh.sid.as_str(), fresh.state), ("01994fff-0000-7000-8000-000000000009", crate::model::State::Idle));
    assert_eq!(fresh.degrades[0].code, Code::Compressed);
    std::fs::remove_dir_all(store.sessions().join("2026/09/21")).unwrap();
    // Resumed, the plain file is back beside it, and the swap never shows two.
    assert!(packed.exists());
    store.rollout(ROOT, &json!({}), &[said(NOW, "Resumed and stated as work")], NOW);
    assert_eq!(store.all().rows.len(), 1);
    assert_eq!((store.row().title.as_deref(), store.row().degrades.len()), (Some("Resumed and stated as work"), 0));
}

/// FIELD-004: a thread that is put away leaves the board.
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

/// CODEX-048, TRUST-036, TRUST-037, TRUST-052: what is refused is named and costs itself.
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

/// CODEX-048: a store that is gone is named.
#[test]
fn codex_048_a_store_that_is_gone_is_named() {
    let mut store = Store::new();
    store.rollout(ROOT, &json!({}), &[], NOW);
    assert_eq!(store.collect().rows.len(), 1);
    std::fs::remove_dir_all(store.sessions()).unwrap();
    let found = store.collect();
    assert_eq!((found.rows.len(), found.degrades[0].code), (0, Code::StoreMissing));
}

/// CODEX-063: ids of one millisecond stay whole.
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

/// CODEX-005: a rollout that goes between listing and reading is nobody's, and nothing is said of it.
#[test]
fn codex_005_a_rollout_that_goes_before_it_is_read_is_skipped() {
    use crate::harness::codex::headers::{Headers, Whose};
    let store = Store::new();
    let path = store.rollout(ROOT, &json!({}), &[], NOW);
    let stamp = crate::surface::read::look(&path).unwrap().stamp;
    std::fs::remove_file(&path).unwrap();
    let mut headers = Headers::default();
    assert!(matches!(headers.of(&path, stamp, NOW), Whose::Nobody));
    assert!(!headers.has(&path));
}

/// CODEX-003: the root is a path and no pattern, and no day is composed from the clock.
#[test]
fn codex_003_a_root_with_odd_characters_is_taken_as_it_is() {
    let store = Store::new();
    for root in ["[ab]*", "a?{b,c}", "**"] {
        let home = store.home.join(root);
        let (from, to) = (store.rollout(ROOT, &json!({}), &[], NOW), home.join("1987/02/30"));
        std::fs::create_dir_all(&to).unwrap();
        std::fs::rename(&from, to.join(from.file_name().unwrap())).unwrap();
        let mut reader = Codex::new(home, &store.home);
        let (dirty, watch) = (Dirty::default(), Watch::off());
        let pass = Pass { now: NOW, window: DAY, all: false, dirty: &dirty, sweep: true, watch: &watch };
        assert_eq!(sids(&reader.collect(&pass).unwrap()), [ROOT], "{root}");
    }
}

/// FIELD-045, CODEX-024: what stands as it stood is looked at and not opened again; FIELD-048: a file of one line is
/// read from its first byte.
#[cfg(unix)]
#[test]
fn field_045_048_unchanged_rollouts_are_not_opened() {
    let mut store = Store::new();
    let head =
        line(&record("session_meta", NOW, json!({"id": "one", "session_id": "one", "cwd": "/w/acme/api"}))) + "\n";
    write(&store.path("2026/09/20", "one"), &head, NOW);
    store.rollout(ROOT, &json!({}), &[said(NOW, "Read once and no more")], NOW);
    let first = store.collect();
    assert_eq!(first.rows.iter().map(|row| row.project.as_str()).collect::<Vec<_>>(), ["acme/api", "acme/api"]);
    // A file that cannot be opened any more, but stands as it stood, tells what it told.
    for thread in ["one", ROOT] {
        let path = store.path("2026/09/20", thread);
        let (aside, stamp) = (path.with_extension("aside"), crate::surface::read::look(&path).unwrap().stamp);
        let rollout = store.reader.shelf.get_mut(&path).unwrap();
        std::fs::rename(&path, &aside).unwrap();
        assert!(!rollout.bring(&path, stamp, crate::harness::codex::rollout::Depth::Whole, NOW, &mut 0));
        assert!(rollout.fault.is_none(), "{thread} was opened");
        std::fs::rename(&aside, &path).unwrap();
    }
}

/// DECK-020, DECK-021: a version newer than the newest sample is a note on the row, and unknown members are no fault.
#[test]
fn deck_020_021_a_version_newer_than_the_newest_sample_is_a_note() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex");
    let versions = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let parts = |v: String| v.split('.').map(|n| n.parse::<u32>().unwrap()).collect::<Vec<_>>();
    assert_eq!(versions.map(parts).max().unwrap(), crate::harness::codex::header::NEWEST_SAMPLE);
    for (version, noted) in [
        (json!("0.154.0"), false),
        (json!("0.98.7"), false),
        (json!("0.155.0-alpha.3"), true),
        (json!("1.0.0"), true),
        (json!("next"), false),
        (json!(155), false),
    ] {
        let mut store = Store::new();
        store.rollout(
            ROOT,
            &json!({"cli_version": version, "unheard_of": {"a": [1]}}),
            &[said(NOW, "Do it all again")],
            NOW,
        );
        let row = store.row();
        let codes: Vec<Code> = row.degrades.iter().map(|d| d.code).collect();
        assert_eq!(codes, if noted { vec![Code::VersionUnseen] } else { vec![] }, "{version}");
        let whole: Vec<Code> = store.collect().degrades.iter().map(|d| d.code).collect();
        assert_eq!(whole, codes, "{version}");
        assert_eq!(row.title.as_deref(), Some("Do it all again"));
    }
}
