//! Files that vanish, rotate, shrink and change their kind while they are read.

use super::home::{Home, harness, lines, row, talk};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Turns the files of a project over, without a pause, until told to stop.
fn churn(home: &Home, stop: &AtomicBool) {
    let at = |name: &str| home.at(&format!(".claude/projects/-w-churn/{name}"));
    let good = lines(&talk(home, "Title of a file that comes and goes", 5.0));
    let names: Vec<String> = (0..8).map(|i| format!("cccc000{i}-0000-4000-8000-000000000000")).collect();
    let mut turn = 0_usize;
    // What is not there any more, or is in the way, is what this is about.
    while !stop.load(Ordering::SeqCst) {
        let name = &names[turn % 8];
        let (file, folder) = (at(&format!("{name}.jsonl")), at(name));
        match turn / 8 % 9 {
            0 => drop(std::fs::write(&file, &good)),
            1 => drop(std::fs::write(&file, good.repeat(50))),
            2 => drop(std::fs::write(&file, &good[..turn % good.len()])),
            3 => {
                drop(std::fs::write(at("new"), &good));
                drop(std::fs::rename(at("new"), &file));
            }
            4 => {
                drop(std::fs::create_dir_all(folder.join("subagents/workflows/run")));
                drop(std::fs::write(folder.join("subagents/workflows/run/agent-a.jsonl"), &good));
            }
            5 => drop(std::fs::remove_file(&file)),
            6 => drop(std::fs::create_dir(&file)),
            7 => {
                drop(std::fs::remove_dir(&file));
                drop(std::os::unix::fs::symlink("/dev/zero", &file));
            }
            _ => {
                drop(std::fs::remove_file(&file));
                drop(std::fs::remove_dir_all(&folder));
            }
        }
        turn += 1;
        if turn.is_multiple_of(997) {
            drop(std::fs::rename(at(""), home.at(".claude/projects/-w-moved")));
            drop(std::fs::rename(home.at(".claude/projects/-w-moved"), at("")));
        }
    }
}

/// CLAUDE-005, CLAUDE-124, TURN-001: files that change under the reader stop nothing, and in the end the board shows what is
/// there.
#[test]
fn files_that_vanish_and_rotate_while_they_are_read() {
    let home = Home::new();
    let good: Vec<String> = (0..20).map(|i| format!("aaaa{i:04}")).collect();
    for key in &good {
        let name = format!(".claude/projects/-w-acme-shop/{key}-0000-4000-8000-000000000000.jsonl");
        home.write(&name, lines(&talk(&home, &format!("Title of {key}"), 300.0)), 200.0);
    }
    home.write(".claude/projects/-w-churn/keep", b"", 0.0);
    let board = home.serve();
    let stop = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| churn(&home, &stop));
        let mut last = json!(null);
        for _ in 0..3 {
            let data = board.until("a later collection", |b| Some(b.data()).filter(|d| d["generated"] != last));
            for key in &good {
                assert_eq!(row(&data, "claude", key)["title"], format!("Title of {key}"));
            }
            assert_eq!(harness(&data, "claude")["error"], Value::Null);
            last = data["generated"].clone();
        }
        stop.store(true, Ordering::SeqCst);
    });
    std::fs::remove_dir_all(home.at(".claude/projects/-w-churn")).unwrap();
    let end = home.write(
        ".claude/projects/-w-churn/cccc0003-0000-4000-8000-000000000000.jsonl",
        lines(&talk(&home, "The file that stayed", 5.0)),
        5.0,
    );
    let data = board.until("the file that stayed", |b| {
        let data = b.data();
        let rows = data["sessions"].as_array().unwrap();
        (rows.iter().any(|r| r["title"] == "The file that stayed") && rows.len() == 21).then(|| data.clone())
    });
    assert_eq!(row(&data, "claude", "cccc0003")["degrades"], json!([]));
    assert!(end.exists() && !board.said().contains("panicked"), "{}", board.said());
}

/// TRUST-052, CLAUDE-002: a store that is moved away takes its rows along, and the one in its place is read at once, not at the
/// next look at everything.
#[test]
fn a_store_that_goes_and_another_that_comes() {
    let home = Home::new();
    let write = |key: &str, title: &str| {
        let name = format!(".claude/projects/-w-acme-shop/{key}-0000-4000-8000-000000000000.jsonl");
        home.write(&name, lines(&talk(&home, title, 5.0)), 5.0)
    };
    let titles = |data: &Value| -> Vec<String> {
        data["sessions"].as_array().unwrap().iter().map(|r| r["title"].as_str().unwrap().to_owned()).collect()
    };
    write("aaaa0001", "Of the first store");
    let board = home.serve();
    assert_eq!(titles(&board.data()), ["Of the first store"]);
    let begun = Instant::now();
    std::fs::rename(home.at(".claude"), home.at("elsewhere")).unwrap();
    board.until("no store", |b| (harness(&b.data(), "claude")["discovered"] == false).then_some(()));
    write("aaaa0002", "Of the second store");
    board.until("the second store", |b| (titles(&b.data()) == ["Of the second store"]).then_some(()));
    write("aaaa0003", "Another one of it");
    board.until("what is written to it", |b| (titles(&b.data()).len() == 2).then_some(()));
    assert!(begun.elapsed().as_secs() < 25, "only a look at everything found it: {:?}", begun.elapsed());
}
