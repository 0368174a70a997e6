//! The real binary over Codex and Gemini stores: where they are searched for, what the report says of them, and how a
//! rollout too long for one pass is read to its end.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use serde_json::{Value, json};
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A throw-away home that goes when the test ends.
struct Home(PathBuf);

impl Drop for Home {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

impl Home {
    fn new() -> Home {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("cargento-stores-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Home(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn rollout(&self, home: &str, id: &str, more: &str) -> PathBuf {
        let head = json!({"timestamp": "2026-09-20T08:14:03Z", "type": "session_meta", "payload": {"id": id, "session_id": id, "cwd": "/w/acme/api"}});
        self.write(
            &format!("{home}/sessions/2026/09/20/rollout-2026-09-20T08-14-02-{id}.jsonl"),
            &format!("{head}\n{more}"),
        )
    }

    fn command(&self, args: &[&str], env: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargento"));
        command.args(args).env_clear().env("HOME", &self.0).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        command.envs(env.iter().copied()).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    /// What the report says of one harness: whether it is there, and its sessions; and of a store, where it is.
    fn report(&self, harness: &str, store: &str, env: &[(&str, &str)]) -> (bool, u64, PathBuf) {
        let out = self.command(&["--diagnose", "--json"], env).output().unwrap();
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        let found = report["harnesses"].as_array().unwrap().iter().find(|h| h["key"] == harness).unwrap();
        let primary = report["stores"][store]["primary"].as_str().unwrap();
        (found["discovered"].as_bool().unwrap(), found["sessions"].as_u64().unwrap(), PathBuf::from(primary))
    }
}

/// CODEX-001, CODEX-002, CODEX-004: the variable of the process decides, alone, and only when it says something.
#[test]
fn codex_001_002_004_the_environment_of_the_process_decides() {
    let home = Home::new();
    home.rollout(".codex", "one", "");
    home.rollout("moved", "two", "");
    home.rollout("moved", "three", "");
    std::fs::create_dir_all(home.0.join("empty/sessions")).unwrap();
    let moved = home.0.join("moved").to_string_lossy().into_owned();
    let empty = home.0.join("empty").to_string_lossy().into_owned();
    let report = |value: Option<&str>| {
        let env: Vec<(&str, &str)> = value.map(|value| ("CODEX_HOME", value)).into_iter().collect();
        home.report("codex", "codex.sessions", &env)
    };
    let usual = (true, 1, home.0.join(".codex/sessions"));
    assert_eq!(report(None), usual);
    assert_eq!(report(Some("")), usual);
    assert_eq!(report(Some("  ")), usual);
    assert_eq!(report(Some(&moved)), (true, 2, home.0.join("moved/sessions")));
    assert_eq!(report(Some(&empty)), (true, 0, home.0.join("empty/sessions")));
    assert_eq!(report(Some("/nowhere/at/all")), (false, 0, PathBuf::from("/nowhere/at/all/sessions")));
}

/// GEM-001, GEM-003: the CLI makes its folder inside the variable's; nothing but a recording discovers it.
#[test]
fn gem_001_003_the_environment_of_the_process_decides() {
    let home = Home::new();
    let chat = |root: &str, id: &str| {
        home.write(
            &format!("{root}.gemini/tmp/p/chats/session-2026-{id}.jsonl"),
            &format!("{{\"sessionId\":\"{id}\"}}\n"),
        )
    };
    chat("", "one");
    chat("moved/", "two");
    chat("moved/", "three");
    home.write("old/.gemini/tmp/p/chats/session-2026-four.json", "{\"sessionId\":\"four\",\"messages\":[]}");
    std::fs::create_dir_all(home.0.join("old/.gemini/antigravity-cli/conversations")).unwrap();
    let report = |value: &str| {
        let (found, sessions, primary) = home.report("gemini", "gemini.tmp", &[("GEMINI_CLI_HOME", value)]);
        (found, sessions, primary.strip_prefix(&home.0).map(Path::to_path_buf).unwrap_or(primary))
    };
    assert_eq!(report(" "), (true, 1, ".gemini/tmp".into()));
    assert_eq!(report(home.0.join("moved").to_str().unwrap()), (true, 2, "moved/.gemini/tmp".into()));
    assert_eq!(report(home.0.join("old").to_str().unwrap()), (false, 0, "old/.gemini/tmp".into()));
}

/// CODEX-047, CODEX-048, FIELD-004: the report counts the lines that were skipped and says what is never read.
#[test]
fn codex_047_048_field_004_the_report_says_what_is_not_read() {
    let home = Home::new();
    home.rollout(".codex", "one", "no record\n[]\n{\"type\":\n\n");
    home.write(".codex/archived_sessions/rollout-x-away.jsonl", "{}\n");
    let text = |home: &Home| String::from_utf8(home.command(&["--diagnose"], &[]).output().unwrap().stdout).unwrap();
    let said = text(&home);
    assert!(said.contains("\n         codex: 3 lines skipped\n"), "{said}");
    assert!(said.contains("[ok  ] Codex: 1 session(s)\n"), "{said}");
    assert!(said.contains("\n         codex: archived threads are not read\n"), "{said}");
    let bare = text(&Home::new());
    assert!(!bare.contains("codex: archived"), "{bare}");
}

/// A board that is stopped when the test ends.
struct Board(Child, u16);

impl Drop for Board {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Board {
    fn start(home: &Home) -> Board {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = home.command(&["--port", &port.to_string()], &[]);
        Board(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap(), port)
    }

    fn data(&self) -> Option<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.1)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let ask = format!("GET /api/data HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", self.1);
        stream.write_all(ask.as_bytes()).ok()?;
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).ok()?;
        let body = reply.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
        serde_json::from_slice(&reply[body..]).ok()
    }
}

/// FIELD-044, CODEX-024: a request is answered before a very long rollout is read to its end, and a later answer has
/// what lies far back in it.
#[test]
fn field_044_a_long_rollout_is_answered_first_and_read_to_its_end() {
    let home = Home::new();
    let said = json!({"timestamp": "2026-09-20T08:14:05Z", "type": "response_item", "payload": {"type": "message",
        "role": "user", "content": [{"type": "input_text", "text": "Far away, but stated as work"}]}});
    let path = home.rollout(".codex", "long", &format!("{said}\n"));
    let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    // A hole takes no room on the disk and is walked like any other bytes.
    file.seek(SeekFrom::Start(160_000_000)).unwrap();
    file.write_all(b"\n{\"timestamp\":\"2026-09-20T08:14:06Z\",\"type\":\"event_msg\",\"payload\":{\"type\":\"x\"}}\n")
        .unwrap();
    let board = Board::start(&home);
    let row = |until: Instant| loop {
        let found =
            board.data().and_then(|data| data["sessions"].as_array()?.iter().find(|row| row["sid"] == "long").cloned());
        match found {
            Some(row) => return row,
            None => assert!(Instant::now() < until, "no row"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let first = row(Instant::now() + Duration::from_secs(20));
    assert_eq!(first["title"], Value::Null);
    assert_eq!(first["degrades"][0]["code"], "read-in-part");
    let until = Instant::now() + Duration::from_mins(1);
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let title = row(until)["title"].clone();
        if title == "Far away, but stated as work" {
            break;
        }
        assert!(Instant::now() < until, "still {title}");
    }
}
