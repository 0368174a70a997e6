//! What the real binary does to files, sockets and programs, seen from the kernel's side by `strace`: a home with a store of
//! every harness is served, looked at, written to by every route and stopped, and the record of the calls is judged.

use super::calls::{Call, HOLDING, NAMING, NETWORK, calls};
use super::home::{Board, Home, ask, contents, data, free_port};
use super::stores::{self, TRIPWIRE, plant, plant_forbidden};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Whether calls can be recorded here. Without `strace` the test says so where it is seen; without the leave to trace
/// another process, as in some containers, too.
fn can_trace() -> bool {
    let tried = Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    let can = tried.is_ok_and(|status| status.success());
    if !can {
        let _ = writeln!(
            std::io::stderr(),
            "\n!! SKIPPED: strace is not there or may not trace; scripts/test installs it\n"
        );
    }
    can
}

/// The binary in a home, with its calls recorded.
struct Traced {
    home: Home,
    record: PathBuf,
}

impl Traced {
    fn new(home: Home, name: &str) -> Self {
        let record = std::env::temp_dir().join(format!("cargento-trace-{}-{name}", std::process::id()));
        Self { home, record }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-y", "-s", "4096", "-e"]).arg(format!("trace={NAMING},{HOLDING},{NETWORK}"));
        command.args(["-e", "signal=none", "-o"]).arg(&self.record);
        let plain = self.home.command(args);
        // The environment is the program's; strace itself keeps a path on which it is found.
        for (name, value) in plain.get_envs() {
            let mut set = name.to_os_string();
            set.push("=");
            set.push(value.unwrap_or_default());
            command.arg("-E").arg(set);
        }
        command.arg(plain.get_program()).args(plain.get_args()).env_clear().env("PATH", "/usr/bin:/bin");
        command.current_dir(&self.home.path).stdin(Stdio::null());
        command
    }

    fn calls(&self) -> Vec<Call> {
        calls(&std::fs::read_to_string(&self.record).unwrap())
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.record);
    }
}

/// A home of all harnesses with everything forbidden beside the stores, a third of it readable, a third without any
/// permission, a third as pipes that would hang their reader.
fn scene() -> (Home, Vec<PathBuf>) {
    let home = Home::new();
    // No program is found, so that a notification starts none.
    std::fs::create_dir(home.path.join("empty")).unwrap();
    let empty = home.path.join("empty").display().to_string();
    let home = home.env("PATH", &empty);
    plant(&home.path);
    let forbidden = plant_forbidden(&home.path);
    for (n, path) in forbidden.iter().enumerate() {
        match n % 3 {
            0 => {}
            1 => std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap(),
            _ => {
                std::fs::remove_file(path).unwrap();
                assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
            }
        }
    }
    (home, forbidden)
}

/// Bytes, mode, size and time of everything below a folder, own files excepted.
fn picture(dir: &Path, but: &Path, into: &mut BTreeMap<PathBuf, (u32, u64, i64, i64, Vec<u8>)>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path == but || path.file_name().is_some_and(|name| name == "out") {
            continue;
        }
        let meta = std::fs::symlink_metadata(&path).unwrap();
        let kind = meta.file_type();
        let bytes = if kind.is_file() && !kind.is_fifo() { std::fs::read(&path).unwrap() } else { Vec::new() };
        into.insert(path.clone(), (meta.mode(), meta.len(), meta.mtime(), meta.mtime_nsec(), bytes));
        if kind.is_dir() {
            picture(&path, but, into);
        }
    }
}

/// Everything a page, a hook and a stranger can ask.
fn use_everything(home: &Home, port: u16) -> Vec<Vec<u8>> {
    let mut said: Vec<Vec<u8>> = Vec::new();
    let mut get = |path: &str| said.push(ask(port, "GET", path, &[], "").body);
    let routes = [
        "/",
        "/assets/app.js",
        "/assets/app.css",
        "/api/data",
        "/api/data?all=1",
        "/api/data?usage=1",
        "/api/health?counters=1",
        "/api/overlays",
        "/api/cleared",
        "/api/annotations",
        "/api/session?harness=claude&sid=27d10654",
        "/api/project-context?project=shop",
        "/api/observe?harness=claude&sid=27d10654",
        "/api/ask/x",
        "/api/interaction/state",
        "/../../../../etc/passwd",
        "/assets/../../../../etc/passwd",
        "/assets/%2e%2e/Cargo.toml",
        "/.cargento/cargento-history.json",
        "/api/observe?harness=claude&sid=../../etc/passwd",
    ];
    routes.into_iter().for_each(&mut get);
    let record: Value =
        serde_json::from_slice(&std::fs::read(home.state().join(format!("cargento-{port}.json"))).unwrap()).unwrap();
    let session = json!({"harness": "claude", "sid": "27d10654"});
    for (path, body) in [
        ("/api/annotate", json!({"harness": "claude", "sid": "27d10654", "goal": "Round to even"})),
        ("/api/dismiss", session.clone()),
        (
            "/api/notify",
            json!({"session_id": "27d10654-0000-4000-8000-000000000000", "message": "Claude needs you",
                               "transcript_path": "/etc/passwd", "cwd": "/etc"}),
        ),
        ("/api/usage", json!({})),
        ("/api/lane", json!({"supported": true, "permission": "granted"})),
        ("/api/focus", session.clone()),
        ("/api/tripwire", json!({})),
        ("/api/reading", session.clone()),
        ("/api/reading/cancel", session),
        (
            "/api/ask",
            json!({"question": "Go?", "options": ["a", "b"], "harness": "claude", "session_id": "x", "project": "/"}),
        ),
        ("/api/interaction/register", json!({})),
    ] {
        said.push(ask(port, "POST", path, &[], &body.to_string()).body);
    }
    for (harness, sid) in [
        ("claude", "27d10654-0000-4000-8000-000000000000"),
        ("codex", "01994f10-7a1c-7c30-9f4e-0a1b2c3d4e5f"),
        ("opencode", "ses_7a1bfe2c3ffeK3m9QeW2xTzv01"),
    ] {
        let token = record["capabilities"][harness].as_str().unwrap().to_owned();
        for event in ["session_started", "turn_started", "input_requested", "reconcile_required", "session_ended"] {
            let body =
                json!({"v": 1, "event": event, "session_id": sid, "cwd": "/etc", "transcript_path": "/etc/passwd"});
            let path = format!("/api/events/{harness}");
            said.push(ask(port, "POST", &path, &[("X-Cargento-Capability", &token)], &body.to_string()).body);
        }
    }
    // A page stays open for a moment: the loop keeps its stores in sight.
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(700))).unwrap();
    let mut seen = Vec::new();
    let _ = stream.read_to_end(&mut seen);
    said.push(seen);
    said.push(ask(port, "GET", "/api/data?all=1", &[], "").body);
    said
}

/// Whether a path may be opened for reading: a store, our own folder, or what any program of this system reads.
fn readable(path: &Path, home: &Path) -> bool {
    let stores = [
        ".claude/projects",
        ".claude/tasks",
        ".claude/teams",
        ".codex/sessions",
        ".pi/agent/sessions",
        ".pi/agent/settings.json",
        ".gemini/tmp",
        ".gemini/antigravity-cli",
        ".copilot",
        ".local/share/opencode",
        ".local/share/goose/sessions",
        ".cursor/chats",
        ".factory/sessions",
        ".factory/projects",
        ".cargento",
    ];
    let system =
        ["/lib", "/lib64", "/usr/lib", "/etc/ld.so", "/etc/localtime", "/usr/share/zoneinfo", "/proc/", "/sys/"];
    let text = path.to_string_lossy();
    stores.iter().any(|root| path.starts_with(home.join(root)))
        || system.iter().any(|root| text.starts_with(root))
        || ["/dev/null", "/dev/urandom"].contains(&&*text)
        // The project a session worked in is known by its checkout (ROW-010).
        || path.file_name().is_some_and(|name| name == ".git" || name == "commondir")
}

/// TRUST-001, TRUST-002, TRUST-003, TRUST-022, TRUST-024, TRUST-025, TRUST-026, TRUST-029, TRUST-048, STATE-003: a run
/// with everything used, from start to stop.
#[test]
fn trust_024_a_served_home_seen_by_the_kernel() {
    if !can_trace() {
        return;
    }
    let (home, forbidden) = scene();
    let traced = Traced::new(home, "serve");
    let home = &traced.home;
    let mut before = BTreeMap::new();
    picture(&home.path, &home.state(), &mut before);

    let port = free_port();
    let log = std::fs::File::create(home.path.join("out")).unwrap();
    let port_text = port.to_string();
    let mut command = traced.command(&["--port", &port_text, stores::WINDOW]);
    let child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
    let mut board = Board { child, port, log: home.path.join("out") };
    board.answers();
    let said = use_everything(home, port);
    let shown = data(port, "?all=1");
    assert_eq!(ask(port, "POST", "/api/shutdown", &[], "").status, 200);
    assert_eq!(board.ends(), Some(0));

    // Every harness was really read, or the record would prove nothing.
    for harness in shown["harnesses"].as_array().unwrap() {
        let key = &harness["key"];
        assert!(harness["discovered"] == true && harness["error"].is_null(), "{harness}");
        assert!(shown["sessions"].as_array().unwrap().iter().any(|row| row["harness"] == *key), "no row of {key}");
    }
    let mut after = BTreeMap::new();
    picture(&home.path, &home.state(), &mut after);
    let changed: Vec<_> = before.iter().filter(|(path, was)| after.get(*path) != Some(*was)).map(|(p, _)| p).collect();
    let made: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    assert!(changed.is_empty() && made.is_empty(), "changed {changed:?}, made {made:?}");

    let calls = traced.calls();
    judge_files(&calls, home, &forbidden);
    judge_network(&calls, port);
    let started: Vec<_> = calls.iter().filter(|call| call.name.starts_with("execve")).map(|call| &call.text).collect();
    assert_eq!(started.len(), 1, "programs started: {started:?}");
    for piece in &said {
        assert!(!String::from_utf8_lossy(piece).contains(TRIPWIRE));
        assert!(!String::from_utf8_lossy(piece).contains("root:x:0:0"));
    }
    for (name, bytes) in contents(&home.state()) {
        assert!(!String::from_utf8_lossy(&bytes).contains(TRIPWIRE), "{name}");
    }
}

#[track_caller]
fn judge_files(calls: &[Call], home: &Home, forbidden: &[PathBuf]) {
    let state = home.state();
    let mut own = 0;
    for call in calls {
        for path in &call.paths {
            assert!(!forbidden.contains(path), "named what is never looked at: {call:?}");
            if call.writes() {
                assert!(path.starts_with(&state) || path == Path::new("/dev/null"), "{call:?}");
                own += 1;
            } else if call.opens() {
                assert!(readable(path, &home.path), "opened outside every documented root: {call:?}");
            }
            let lock = path.extension().is_some_and(|ending| ending == "lock");
            assert!(!lock || path.starts_with(&state), "another program's lock: {call:?}");
        }
        if HOLDING.split(',').any(|name| name == call.name) {
            let held =
                call.text.split_once('<').and_then(|(_, rest)| rest.split_once('>')).map_or("", |(path, _)| path);
            assert!(Path::new(held).starts_with(&state), "{call:?}");
        }
    }
    assert!(own > 10, "only {own} of its own writes were seen");
}

#[track_caller]
fn judge_network(calls: &[Call], port: u16) {
    let texts = |name: &str| -> Vec<&str> {
        calls.iter().filter(|call| call.name == name).map(|call| call.text.as_str()).collect()
    };
    let binds = texts("bind");
    assert!(binds.len() == 1 && binds[0].contains("AF_INET,"), "{binds:?}");
    assert!(binds[0].contains(&format!("htons({port})")) && binds[0].contains("\"127.0.0.1\""), "{binds:?}");
    assert_eq!(texts("listen").len(), 1);
    // It calls nobody but itself, once, to wake its own acceptor at the end.
    let own = [format!("htons({port})"), "\"127.0.0.1\"".to_owned()];
    let connects = texts("connect");
    assert!(
        connects.len() <= 1 && connects.iter().all(|text| own.iter().all(|piece| text.contains(piece))),
        "{connects:?}"
    );
    let sockets = texts("socket");
    assert!(sockets.iter().all(|text| text.contains("AF_INET,") && text.contains("SOCK_STREAM")), "{sockets:?}");
    for text in texts("sendto").into_iter().chain(texts("sendmsg")) {
        assert!(text.contains("NULL, 0") || !text.contains("sin_addr"), "{text}");
    }
}

/// DIAG-001, TRUST-001, TRUST-024, LIFE-041: the one-shot commands look and leave everything as it is.
#[test]
fn trust_024_one_shot_commands_seen_by_the_kernel() {
    if !can_trace() {
        return;
    }
    let (home, forbidden) = scene();
    let traced = Traced::new(home, "oneshot");
    let port = free_port().to_string();
    let event = ["event-hook", "claude", &port];
    for (args, calls_home) in [
        (&["--diagnose"][..], false),
        (&["--diagnose", "--json"], false),
        (&["--port", &port, "--status"], true),
        (&["--port", &port, "--stop"], true),
        (&["--port", &port, "--forget"], true),
        (&["--help"], false),
        (&event, true),
    ] {
        let mut before = BTreeMap::new();
        picture(&traced.home.path, Path::new(""), &mut before);
        let output = traced.command(args).output().unwrap();
        let mut after = BTreeMap::new();
        picture(&traced.home.path, Path::new(""), &mut after);
        assert!(before == after, "{args:?} changed something");
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains(TRIPWIRE), "{args:?}");
        let calls = traced.calls();
        for call in &calls {
            assert!(call.paths.iter().all(|path| !forbidden.contains(path)), "{args:?}: {call:?}");
            let quiet = !call.writes() || call.paths.iter().all(|path| path == Path::new("/dev/null"));
            assert!(quiet, "{args:?}: {call:?}");
            if call.name == "connect" {
                assert!(calls_home && call.text.contains("\"127.0.0.1\""), "{args:?}: {call:?}");
            }
            // A port is tried by binding it, on loopback and for no longer than that.
            assert!(call.name != "bind" || calls_home && call.text.contains("\"127.0.0.1\""), "{args:?}: {call:?}");
        }
        let started = calls.iter().filter(|call| call.name.starts_with("execve")).count();
        assert_eq!(started, 1, "{args:?} started a program");
    }
}

/// TRUST-024.
/// A record that would offend is seen to: the judge is not blind.
#[test]
fn trust_024_the_judge_sees_each_kind() {
    let record = "7 openat(AT_FDCWD</h>, \"x/../.codex/auth.json\", O_RDONLY|O_CLOEXEC) = 3</h/.codex/auth.json>\n\
                  7 openat(5</h/.codex>, \"log\", O_WRONLY|O_CREAT, 0600 <unfinished ...>\n\
                  8 rename(\"/h/a\", \"/h/b\") = 0\n\
                  8 <... openat resumed>) = 4\n\
                  8 unlinkat(3</h>, \"c\", 0) = -1 ENOENT (No such file or directory)\n\
                  8 mkdir(\"/h/d\", 0777) = 0\n\
                  8 statx(AT_FDCWD</h>, \"/h/e\", 0, STATX_ALL, 0x7f) = 0\n";
    let calls = calls(record);
    assert_eq!(calls.len(), 6);
    let path = |n: usize| calls[n].paths.iter().map(|p| p.to_str().unwrap()).collect::<Vec<_>>();
    assert_eq!((path(0), calls[0].writes()), (vec!["/h/.codex/auth.json"], false));
    assert_eq!((path(1), calls[1].writes()), (vec!["/h/.codex/log"], true));
    assert_eq!((path(2), calls[2].writes()), (vec!["/h/a", "/h/b"], true));
    assert_eq!((path(3), calls[3].writes()), (vec!["/h/c"], true));
    assert!(calls[4].writes() && !calls[5].writes());
}
