//! Every store of ours, damaged in every way: nothing that could not be read whole is written over unless its own rule
//! says so, the reason is published, and the board serves.

use crate::home::{ANNOTATIONS, Board, DELIVERIES, DEPARTURES, DISMISSALS, ENDS, HISTORY, Home, STORES, now};
use crate::wire::eventually;
use serde_json::{Value, json};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

const ROW: &str = "3f9c01ab-1111-4222-8333-444455556666";
const ENDED: &str = "aaaaaaaa-1111-4222-8333-444455556666";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Damage {
    Empty,
    Truncated,
    Garbage,
    WrongShape,
    TooDeep,
    Oversized,
    Link,
    DanglingLink,
    Fifo,
    Directory,
    NotOurs,
    Future,
}

use Damage::{
    DanglingLink, Directory, Empty, Fifo, Future, Garbage, Link, NotOurs, Oversized, TooDeep, Truncated, WrongShape,
};

const ALL: [Damage; 12] =
    [Empty, Truncated, Garbage, WrongShape, TooDeep, Oversized, Link, DanglingLink, Fifo, Directory, NotOurs, Future];

fn cap(name: &str) -> usize {
    match name {
        ANNOTATIONS => 16_777_216,
        HISTORY => 1_048_576,
        DELIVERIES | DEPARTURES => 262_144,
        _ => 65_536,
    }
}

/// One good record of a store, of a session that is on no board.
fn record(name: &str) -> Value {
    let at = now() - 500.0;
    let key = json!({"harness": "pi", "sid": "known"});
    let more = match name {
        ANNOTATIONS => json!({"revisions": [{"n": 1, "at": at, "goal": "Ship it", "lines": []}], "written": at}),
        DISMISSALS => json!({"at": at, "seen_activity": at}),
        HISTORY => json!({"project": "acme/shop", "state": "idle", "last_activity": at, "annotation_goal": "",
            "annotation_output": "", "annotation_revision": null}),
        ENDS => json!({"at": at}),
        DELIVERIES => json!({"at": at, "lane": "gate", "outcome": "handed-over"}),
        _ => {
            json!({"at": at, "constraint": "goal", "clause": "Ship it", "reading": "It did not.", "evidence": "pi:known:steer:1",
            "revision": 1, "cutoff": at, "cutoff_text": "Read 9.", "withdrawn": false})
        }
    };
    let mut key = key;
    key.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    key
}

fn put(home: &Home, name: &str, damage: Damage) {
    let path = home.file(name);
    let good = json!({"v": 2, "entries": [record(name)]}).to_string();
    match damage {
        Empty => home.put(name, b""),
        Truncated => home.put(name, &good.as_bytes()[..good.len() / 2]),
        Garbage => home.put(name, b"\x00\xff\xfe not a store \x1b[31m"),
        WrongShape => home.put(name, br#"{"v":2,"entries":{"0":{}}}"#),
        TooDeep => {
            home.put(name, format!(r#"{{"v":2,"entries":[{}{}]}}"#, "[".repeat(20_000), "]".repeat(20_000)).as_bytes())
        }
        Oversized => {
            let pad = "x".repeat(cap(name) + 1 - good.len() - 9);
            let long = good.replacen("{\"", &format!("{{\"pad\":\"{pad}\",\""), 1);
            assert!(long.len() > cap(name) && long.len() < cap(name) + 64);
            home.put(name, long.as_bytes());
        }
        Link => {
            let elsewhere = home.path.join(format!("elsewhere-{name}"));
            std::fs::write(&elsewhere, good).unwrap();
            std::os::unix::fs::symlink(elsewhere, path).unwrap();
        }
        DanglingLink => std::os::unix::fs::symlink(home.path.join(format!("nowhere-{name}")), path).unwrap(),
        Fifo => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        Directory => {
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("inside"), b"x").unwrap();
        }
        NotOurs => {
            home.put(name, good.as_bytes());
            // Root may read all; then the board is another user's.
            let mode = if home.user.is_some() { 0o600 } else { 0o000 };
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        Future => home.put(name, good.replace("\"v\":2", "\"v\":99").as_bytes()),
    }
}

/// What stands at a path, closely enough to tell whether it was touched.
fn what(path: &Path) -> String {
    let Ok(found) = std::fs::symlink_metadata(path) else { return "nothing".into() };
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    let kind = found.file_type();
    if kind.is_symlink() {
        let to = std::fs::read_link(path).unwrap();
        return format!("link to {} holding {:?}", to.display(), std::fs::read(&to).ok());
    }
    if kind.is_fifo() || kind.is_dir() {
        return format!("{kind:?} {}", found.ino());
    }
    format!("{} {:?} {:o}", found.len(), std::fs::read(path), found.mode())
}

fn reset(name: &str) -> Option<&'static str> {
    match name {
        HISTORY => Some("history_reset"),
        ENDS => Some("ends_reset"),
        DELIVERIES => Some("deliveries_reset"),
        DEPARTURES => Some("departures_reset"),
        _ => None,
    }
}

fn home_with(damage: Damage) -> Home {
    let mut home = Home::new();
    std::fs::create_dir(&home.state).unwrap();
    std::fs::set_permissions(&home.state, std::fs::Permissions::from_mode(0o700)).unwrap();
    home.claude(ROW, 60.0);
    // SAFETY: plain call.
    if damage == NotOurs && unsafe { libc::geteuid() } == 0 {
        home.user = Some(65_534);
        for path in [&home.path, &home.state] {
            std::os::unix::fs::chown(path, home.user, home.user).unwrap();
        }
    }
    for name in STORES {
        put(&home, name, damage);
    }
    home
}

/// Does to each store what it is there for.
fn use_all(board: &Board, home: &Home) -> (String, bool) {
    let raised =
        json!({"session_id": ROW, "message": "Claude needs your permission", "hook_event_name": "Notification"});
    board.post("/api/notify", &raised);
    assert_eq!(board.end(home, ENDED).unwrap().status, 200);
    let cleared = board.annotate("known", &json!({"clear": true}))["outcome"].as_str().unwrap().to_owned();
    let outcome = board.goal("new", "words");
    assert!(cleared == outcome || cleared == "stored", "{cleared} {outcome}");
    (outcome, board.mark("new"))
}

/// TRUST-038, TRUST-034, ANN-020, ANN-021, ANN-092, ANN-101, DIS-005, HIST-031, HIST-034, EVT-082, EVT-089, NOTE-073,
/// NOTE-076, UNA-033, UNA-036, TRUST-031 six stores, twelve kinds of damage.
#[test]
fn trust_038_every_store_damaged_in_every_way() {
    for damage in ALL {
        let home = home_with(damage);
        let before: Vec<_> = STORES.iter().map(|name| what(&home.file(name))).collect();
        let board = home.serve();
        let data = board.data();
        let row = data["sessions"].as_array().unwrap().iter().find(|row| row["sid"] == ROW[..8]);
        assert!(row.expect("the board serves")["state"].is_string(), "{damage:?}");
        for name in STORES {
            let Some(member) = reset(name) else { continue };
            let want = match (name, damage) {
                (HISTORY, Future) => Some("version"),
                (_, Future) => None,
                _ => Some("unreadable"),
            };
            assert_eq!(data.get(member).and_then(Value::as_str), want, "{damage:?} {name}");
        }
        // A zero-length file is an empty store of words, and an unknown version is read field by field.
        let words = matches!(damage, Empty | Future);
        assert_eq!(data.get("annotate_notice").is_some(), !words, "{damage:?}");
        let log = board.get("/api/annotations");
        assert_eq!(log.get("notice").is_some(), !words, "{damage:?}");
        let known = log["annotations"].as_array().unwrap().len();
        assert_eq!(known, usize::from(damage == Future), "{damage:?}");
        if !words {
            let row = row.unwrap();
            assert_eq!((&row["annotation_goal"], &row["annotation_revision"]), (&json!(""), &Value::Null));
            let why = row["annotation_goal_why"].as_str().unwrap();
            assert!(why.contains("cannot be read"), "{damage:?}: {why}");
        }
        let marks = board.get("/api/cleared")["cleared"].as_array().unwrap().len();
        assert_eq!(marks, usize::from(damage == Future), "{damage:?}: every row visible");

        let (outcome, marked) = use_all(&board, &home);
        assert_eq!(outcome, if words { "stored" } else { "untrusted" }, "{damage:?}");
        assert_eq!(marked, words, "{damage:?}: a mark that is not on disk is not acknowledged");
        assert_eq!(board.data()["sessions"].as_array().unwrap().len(), 1, "{damage:?}");
        for (name, before) in STORES.iter().zip(&before) {
            let written = match *name {
                ANNOTATIONS | DISMISSALS => words,
                // Published as reset, and written over by their own rules; a link or a folder is never gone through.
                HISTORY | ENDS | DELIVERIES => !matches!(damage, Link | DanglingLink | Directory),
                _ => damage == Future,
            };
            if written && *name == DELIVERIES {
                // A raise is put on record by its own lane, after the reply.
                eventually("the raise on record", || what(&home.file(name)) != *before);
            }
            let after = what(&home.file(name));
            assert_eq!(after != *before, written, "{damage:?} {name}: {after:.200}");
            if written {
                assert!(!home.entries(name).is_empty(), "{damage:?} {name}");
            }
        }
        home.no_leftovers();
        drop(board);
        let again = home.serve();
        assert_eq!(again.data()["sessions"].as_array().unwrap().len(), 1, "{damage:?}: and after a restart");
    }
}

/// ANN-021, TRUST-037, DIS-005 what was moved away or repaired is read without a restart, and what was held is written.
#[test]
fn trust_037_a_repaired_store_is_read_again() {
    for damage in [Truncated, Oversized, Link, Fifo, Directory] {
        let home = home_with(damage);
        let board = home.serve();
        assert_eq!(use_all(&board, &home), ("untrusted".into(), false));
        for name in [ANNOTATIONS, DISMISSALS] {
            std::fs::rename(home.file(name), home.path.join(format!("moved-{name}"))).unwrap();
        }
        home.put(ANNOTATIONS, json!({"v": 2, "entries": [record(ANNOTATIONS)]}).to_string().as_bytes());
        assert_eq!(board.listed("known").unwrap()["goal"], "Ship it", "{damage:?}");
        assert_eq!((board.goal("known", "repaired"), board.mark("other")), ("stored".into(), true));
        let marks: Vec<_> = home.entries(DISMISSALS).iter().map(|m| m["sid"].as_str().unwrap().to_owned()).collect();
        assert_eq!(marks, ["new", "other"], "{damage:?}: the mark that was held for the run is kept with the next");
    }
}

/// ANN-006 whatever stands where the lock should: the answer is true, the words stay, nothing is followed or blocks.
#[test]
fn ann_006_a_lock_that_cannot_be_had() {
    let lock = "cargento-annotations.json.lock";
    for damage in [Link, DanglingLink, Fifo, Directory] {
        let home = Home::new();
        std::fs::create_dir(&home.state).unwrap();
        home.put(ANNOTATIONS, json!({"v": 2, "entries": [record(ANNOTATIONS)]}).to_string().as_bytes());
        put(&home, lock, damage);
        let before = (what(&home.file(ANNOTATIONS)), what(&home.file(lock)));
        let board = home.serve();
        assert_eq!((board.goal("new", "words"), board.mark("new")), ("unwritable".into(), true), "{damage:?}");
        assert_eq!(
            board.goal("known", "Ship it"),
            "unchanged",
            "{damage:?}: a save that changes nothing needs no lock"
        );
        assert_eq!((what(&home.file(ANNOTATIONS)), what(&home.file(lock))), before, "{damage:?}");
        assert_eq!(board.listed("known").unwrap()["goal"], "Ship it");
    }
}

/// HOOK-060, STATE-003, TRUST-031 the memo of the status line, damaged: the forwarder says its empty line and ends, nothing
/// is followed, and a sound memo is written again where a file may stand.
#[test]
fn hook_060_a_damaged_memo() {
    let id = "019a0000-1111-4222-8333-444455556666";
    let memo = &format!("statusline-antigravity-{id}.json");
    let state =
        json!({"conversation_id": id, "agent_state": "idle", "quota": {"gemini": {"remaining": 0.5}}}).to_string();
    for damage in
        [Empty, Truncated, Garbage, WrongShape, TooDeep, Oversized, Link, DanglingLink, Fifo, Directory, Future]
    {
        let home = Home::new();
        std::fs::create_dir(&home.state).unwrap();
        let board = home.serve();
        put(&home, memo, damage);
        let before = what(&home.file(memo));
        let mut hook = home.command(&["statusline-hook", &board.port.to_string()]);
        let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        hook.stdin.take().unwrap().write_all(state.as_bytes()).unwrap();
        let output = hook.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stdout), (Some(0), b"\n".to_vec()), "{damage:?}");
        if matches!(damage, Link | DanglingLink | Directory) {
            assert_eq!(what(&home.file(memo)), before, "{damage:?}");
        } else {
            assert!(home.json(memo)["quota_at"].is_f64(), "{damage:?}");
            assert_eq!(std::fs::metadata(home.file(memo)).unwrap().permissions().mode() & 0o7777, 0o600);
        }
        home.no_leftovers();
    }
}

/// TRUST-031, HTTP-095 the two files that are only read, as pipes and folders: a start does not wait for them.
#[test]
fn trust_031_settings_that_are_no_files() {
    for damage in [Fifo, Directory, DanglingLink, Oversized, Garbage] {
        let home = Home::new();
        std::fs::create_dir(&home.state).unwrap();
        home.claude(ROW, 60.0);
        for name in ["quiet_hours", "reach_url"] {
            put(&home, name, damage);
        }
        let before: Vec<_> = ["quiet_hours", "reach_url"].iter().map(|name| what(&home.file(name))).collect();
        let board = home.serve();
        assert_eq!(board.data()["sessions"].as_array().unwrap().len(), 1, "{damage:?}");
        let after: Vec<_> = ["quiet_hours", "reach_url"].iter().map(|name| what(&home.file(name))).collect();
        assert_eq!(after, before);
    }
}

/// STATE-001, STATE-002, TRUST-073 every file of ours is its owner's alone, whatever the umask, also in a directory that was
/// open to all before and over files that were.
#[test]
fn trust_073_modes_under_any_umask() {
    for umask in [0, 0o022, 0o777] {
        let mut home = Home::new();
        home.umask = umask;
        std::fs::create_dir(&home.state).unwrap();
        home.claude(ROW, 60.0);
        for name in STORES {
            put(&home, name, Future);
        }
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        for path in STORES.iter().map(|name| home.file(name)) {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).unwrap();
        }
        std::fs::set_permissions(&home.state, std::fs::Permissions::from_mode(0o777)).unwrap();
        let board = home.serve();
        assert_eq!(use_all(&board, &home), ("stored".into(), true));
        board.data();
        eventually("the raise on record", || home.entries(DELIVERIES).len() == 2);
        assert_eq!(mode(&home.state), 0o700, "{umask:o}");
        let names = home.names();
        assert!(
            STORES.iter().all(|name| names.contains(&(*name).to_owned())) && names.len() == STORES.len() + 2,
            "{names:?}"
        );
        for name in names {
            assert_eq!(mode(&home.file(&name)), 0o600, "{umask:o}: {name}");
        }
    }
}
