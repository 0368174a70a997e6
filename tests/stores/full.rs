//! Disks without room and folders that may not be written: what is not on disk is not acknowledged, the old content
//! stands, the board serves, and it goes on by itself once there is room.

use crate::home::{ANNOTATIONS, Board, DISMISSALS, ENDS, HISTORY, Home, STORES};
use crate::wire::eventually;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Says something that a passing run shows as well.
fn loudly(line: &str) {
    let _ = writeln!(std::io::stderr(), "\n*** {line}");
}

fn is_root() -> bool {
    // SAFETY: plain call.
    unsafe { libc::geteuid() == 0 }
}

/// A small file system in memory; `None`, said loudly, where this test may not mount one.
struct Disk(PathBuf);

impl Disk {
    fn at(path: &Path, options: &str) -> Option<Disk> {
        std::fs::create_dir_all(path).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(path).output();
        if mounted.as_ref().is_ok_and(|out| out.status.success()) {
            return Some(Disk(path.to_path_buf()));
        }
        loudly(&format!(
            "MOUNT REFUSED ({}): the tests of a full and of a read-only disk run with a file size limit and a read-only \
             folder instead",
            mounted.map_or_else(|e| e.to_string(), |out| String::from_utf8_lossy(&out.stderr).trim().to_owned())
        ));
        None
    }

    fn remount(&self, options: &str) {
        let done = Command::new("mount").args(["-o", options]).arg(&self.0).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// The stores that are there, with their bytes.
fn bytes(home: &Home) -> BTreeMap<&'static str, Vec<u8>> {
    STORES.iter().filter_map(|name| Some((*name, std::fs::read(home.file(name)).ok()?))).collect()
}

/// The whole of it, whatever takes the room away and gives it back.
fn starved(home: &Home, starve: impl FnOnce(&Board), feed: impl FnOnce(&Board), heard: bool) {
    let row = home.claude("3f9c01ab-1111-4222-8333-444455556666", 60.0);
    let mut board = home.serve();
    assert_eq!((board.goal("kept", "before"), board.mark("kept")), ("stored".into(), true));
    assert_eq!(board.goal("discarded", "words to go"), "stored");
    assert_eq!(board.end(home, "aaaaaaaa-1111-4222-8333-444455556666").unwrap().status, 200);
    assert_eq!(board.data()["history"].as_array().unwrap().len(), 1);
    let before = bytes(home);
    assert!([ANNOTATIONS, DISMISSALS, HISTORY, ENDS].iter().all(|name| before.contains_key(name)), "{before:?}");

    starve(&board);
    for goal in ["during", "during, too"] {
        let reply = board.annotate("kept", &json!({"goal": goal}));
        assert_eq!(
            (&reply["outcome"], &reply["ok"], &reply["persisted"], &reply["annotation"]["goal"]),
            (&json!("unwritable"), &json!(false), &json!(false), &json!(goal)),
            "told as not saved, and held for this run"
        );
    }
    assert_eq!(board.annotate("discarded", &json!({"clear": true}))["outcome"], "unwritable");
    assert_eq!(board.annotate("kept", &json!({"goal": "x", "expected_revision": 1}))["outcome"], "refused");
    assert!(!board.mark("new") && !board.mark("newer"));
    assert_eq!(board.end(home, "bbbbbbbb-1111-4222-8333-444455556666").unwrap().status, 200);
    let reply = board.post("/api/annotate", &json!({"harness": "claude", "sid": row, "goal": "a transition"}));
    assert_eq!(reply["outcome"], "unwritable");
    let data = board.data();
    let shown = data["sessions"].as_array().unwrap().iter().find(|r| r["sid"] == row).expect("the row is served");
    assert_eq!((&shown["annotation_goal"], data.get("annotate_notice")), (&json!("a transition"), None));
    assert_eq!(data["history"].as_array().unwrap().len(), 2, "history goes on in memory");
    assert_eq!(board.listed("kept").unwrap()["goal"], "during, too");
    let cleared = board.get("/api/cleared")["cleared"].as_array().unwrap().len();
    assert_eq!(cleared, 3, "marks hold for this run");
    assert_eq!(bytes(home), before, "the old content stands");
    home.no_leftovers();
    let counters = board.get("/api/health?counters=1")["counters"].clone();
    assert!(counters["write.failed.annotations"].as_u64() >= Some(3), "{counters}");
    assert!(
        counters["write.failed.dismissals"].as_u64() >= Some(2) && counters["write.failed.history"].as_u64() >= Some(1)
    );
    if heard {
        for name in [ANNOTATIONS, DISMISSALS, ENDS, HISTORY] {
            let path = home.file(name).display().to_string();
            let said = board.said().lines().filter(|line| line.contains(&path)).count();
            assert!((1..=2).contains(&said), "{said} lines about {name}: {}", board.said());
        }
    }

    feed(&board);
    assert_eq!((board.goal("after", "room again"), board.mark("after")), ("stored".into(), true));
    assert_eq!(board.goal("kept", "during, too"), "unchanged", "what was held is on disk now");
    let goals = |sid: &str| -> Vec<String> {
        let entries = home.entries(ANNOTATIONS);
        let entry = entries.iter().find(|entry| entry["sid"] == sid).unwrap();
        entry["revisions"].as_array().unwrap().iter().map(|r| r["goal"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (goals("kept"), goals("after")),
        (vec!["before".into(), "during".into(), "during, too".into()], vec!["room again".into()])
    );
    assert_eq!(goals("discarded"), Vec::<String>::new(), "the discard is made up for");
    let marked: Vec<_> = home.entries(DISMISSALS).iter().map(|mark| mark["sid"].as_str().unwrap().to_owned()).collect();
    assert_eq!(marked, ["kept", "new", "newer", "after"]);
    assert_eq!(board.end(home, "cccccccc-1111-4222-8333-444455556666").unwrap().status, 200);
    let ended: Vec<_> = home.entries(ENDS).iter().map(|end| end["sid"].as_str().unwrap()[..8].to_owned()).collect();
    assert_eq!(ended, ["aaaaaaaa", "bbbbbbbb", "cccccccc"]);
    eventually("history to be written", || {
        board.mark("again") && home.entries(HISTORY).len() == board.data()["history"].as_array().unwrap().len()
    });
    assert!(home.entries(HISTORY).len() >= 2);
    board.kill();
    let board = home.serve();
    assert_eq!(board.listed("kept").unwrap()["goal"], "during, too");
    home.no_leftovers();
}

/// TRUST-051, ANN-006, DIS-007, DIS-021, HIST-015, EVT-083 a disk without a free byte.
#[test]
fn trust_051_a_full_disk() {
    let home = Home::new();
    let Some(_disk) = Disk::at(&home.state, "size=256k,mode=700") else { return };
    let filler = home.file("filler");
    let fill = || {
        let mut file = std::fs::File::create(&filler).unwrap();
        while file.write_all(&[b'x'; 64]).is_ok() {}
    };
    starved(&home, |_| fill(), |_| std::fs::remove_file(&filler).unwrap(), true);
}

/// TRUST-051, ANN-006 a disk without a free inode: not even a lock can be made. Words are held, and written later.
#[test]
fn ann_006_a_disk_without_inodes() {
    let home = Home::new();
    let Some(_disk) = Disk::at(&home.state, "size=1m,nr_inodes=8,mode=700") else { return };
    let board = home.serve();
    let fillers: Vec<PathBuf> = (0..16).map(|i| home.file(&format!("filler-{i}"))).collect();
    for path in &fillers {
        let _ = std::fs::write(path, b"");
    }
    let reply = board.annotate("s", &json!({"goal": "held"}));
    assert_eq!((&reply["outcome"], &reply["annotation"]["goal"]), (&json!("unwritable"), &json!("held")));
    assert!(!board.mark("s") && !home.file(ANNOTATIONS).exists());
    for path in &fillers {
        let _ = std::fs::remove_file(path);
    }
    assert_eq!((board.goal("s", "held"), board.mark("t")), ("unchanged".into(), true));
    assert_eq!((home.entries(ANNOTATIONS).len(), home.entries(DISMISSALS).len()), (1, 2));
    home.no_leftovers();
}

/// TRUST-051 a write that ends halfway, by the limit on the size of a file; it needs no privilege and no mount.
#[test]
fn trust_051_a_write_that_ends_halfway() {
    let home = Home::new();
    let limit = |board: &Board, bytes: u64| {
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
        let pid = libc::pid_t::try_from(board.child.id()).unwrap();
        // SAFETY: the record outlives the call; the process is a child of ours.
        let set = unsafe { libc::prlimit(pid, libc::RLIMIT_FSIZE, &raw const limit, std::ptr::null_mut()) };
        assert_eq!(set, 0);
    };
    starved(&home, |board| limit(board, 24), |board| limit(board, libc::RLIM_INFINITY), false);
}

/// TRUST-051 EROFS: the file system turns read-only.
#[test]
fn trust_051_a_disk_that_turns_read_only() {
    let home = Home::new();
    let Some(disk) = Disk::at(&home.state, "size=4m,mode=700") else { return };
    starved(&home, |_| disk.remount("remount,ro"), |_| disk.remount("remount,rw"), true);
}

/// TRUST-051 EACCES: the folder may not be written.
#[test]
fn trust_051_a_read_only_folder() {
    let mut home = Home::new();
    if is_root() {
        home.user = Some(65_534);
        std::os::unix::fs::chown(&home.path, home.user, home.user).unwrap();
        std::fs::create_dir(&home.state).unwrap();
        std::os::unix::fs::chown(&home.state, home.user, home.user).unwrap();
    }
    let mode = |mode| std::fs::set_permissions(&home.state, std::fs::Permissions::from_mode(mode)).unwrap();
    if home.state.exists() {
        mode(0o700);
    }
    starved(&home, |_| mode(0o500), |_| mode(0o700), true);
}

/// TRUST-051, STATE-007, ANN-006, ANN-020, DIS-021, LIFE-005 homes that cannot be made or written from the start: the board
/// serves, holds for the run what it was told, acknowledges none of it, and writes it once the home can be had.
#[test]
fn trust_051_a_home_that_cannot_be_had() {
    for kind in ["below a read-only folder", "a file", "a read-only folder"] {
        let mut home = Home::new();
        let below = home.path.join("below");
        std::fs::create_dir(&below).unwrap();
        home.state = below.join("state");
        match kind {
            "a file" => std::fs::write(&home.state, b"in the way").unwrap(),
            "a read-only folder" => std::fs::create_dir(&home.state).unwrap(),
            _ => {}
        }
        let locked = if kind == "a read-only folder" { &home.state } else { &below };
        if is_root() {
            home.user = Some(65_534);
            for path in [&home.path, &below, locked] {
                std::os::unix::fs::chown(path, home.user, home.user).unwrap();
            }
        }
        let mode = |mode| std::fs::set_permissions(locked, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o500);
        let row = home.claude("3f9c01ab-1111-4222-8333-444455556666", 60.0);
        let board = home.serve();
        let data = board.data();
        assert_eq!((&data["sessions"][0]["sid"], data.get("annotate_notice")), (&json!(row), None), "{kind}");
        assert_eq!((board.goal("s", "held"), board.mark("s")), ("unwritable".into(), false), "{kind}");
        assert_eq!(board.listed("s").unwrap()["goal"], "held", "{kind}");
        assert_eq!(board.get("/api/cleared")["cleared"].as_array().unwrap().len(), 1, "{kind}");
        mode(0o700);
        if kind == "a file" {
            assert_eq!(std::fs::read(&home.state).unwrap(), b"in the way");
            std::fs::remove_file(&home.state).unwrap();
        }
        assert_eq!((board.goal("s", "held"), board.mark("t")), ("unchanged".into(), true), "{kind}");
        assert_eq!((home.entries(ANNOTATIONS).len(), home.entries(DISMISSALS).len()), (1, 2), "{kind}");
        home.no_leftovers();
    }
}

/// STATE-001, TRUST-011 a home that a person has linked elsewhere is written there; a link inside it is not gone through.
#[test]
fn state_001_a_linked_home() {
    let home = Home::new();
    let real = home.path.join("elsewhere");
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &home.state).unwrap();
    let board = home.serve();
    assert_eq!((board.goal("s", "words"), board.mark("s")), ("stored".into(), true));
    assert!(real.join(ANNOTATIONS).is_file() && real.join(DISMISSALS).is_file());
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o7777, 0o700);
}
