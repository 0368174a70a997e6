//! Which messages of a recording count, once each, and what they say of the session.

use super::*;

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
