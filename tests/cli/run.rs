//! Arguments, one-shot commands, start and end.

use super::home::{Board, Fake, Home, ask, files, free_port, health};
use super::{stores, switches};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// CLI-003, CLI-004, CLI-002.
#[test]
fn cli_002_usage_errors_go_to_stderr_and_touch_nothing() {
    let home = Home::new();
    for (args, words) in [
        (&["--nonsense"][..], "error: unrecognized argument: --nonsense"),
        (&["extra"], "error: unrecognized argument: extra"),
        (&["--port", "0"], "error: argument --port: must be an integer from 1 to 65535"),
        (&["--daemon", "--stop"], "error: --daemon cannot be combined with --diagnose, --stop, --status or --forget"),
        (&["--status", "--history-days=nan"], "error: argument --history-days: "),
        (&["--no-handoff"], "error: unrecognized argument: --no-handoff"),
        (&["--demo", "--status"], "error: --demo cannot be combined"),
    ] {
        let said = home.run(args);
        said.expect(2, &[]);
        assert!(
            said.out.is_empty() && said.err.starts_with("usage: ") && said.err.contains(words),
            "{args:?}: {}",
            said.err
        );
    }
    assert!(files(&home.path).is_empty());
}

/// CLI-002.
#[test]
fn cli_002_help_and_version_go_to_stdout() {
    let home = Home::new();
    let said = home.run(&["--help"]);
    said.expect(0, &["usage: cargento", "--no-harness-usage", "terminal-register --config PATH"]);
    assert!(said.err.is_empty());
    home.run(&["--version"]).expect(0, &[concat!("cargento ", env!("CARGO_PKG_VERSION"))]);
    assert!(files(&home.path).is_empty());
}

/// LIFE-041, LIFE-050.
#[test]
fn life_041_and_050_with_nobody_there() {
    let home = Home::new();
    let port = free_port().to_string();
    home.run(&["--port", &port, "--status"]).expect(1, &[&format!("Cargento: not running on port {port}\n")]);
    home.run(&["--port", &port, "--stop"]).expect(0, &[&format!("Cargento: nothing running on port {port}\n")]);
    assert!(files(&home.path).is_empty(), "neither makes a state directory");
    std::fs::create_dir(home.state()).unwrap();
    let file = home.state().join(format!("cargento-{port}.json"));
    std::fs::write(&file, r#"{"pid":4242,"future":[1]}"#).unwrap();
    home.run(&["--port", &port, "--status"]).expect(1, &["not running", "stale", "4242", "--stop"]);
    assert!(file.exists());
    home.run(&["--port", &port, "--stop"]).expect(0, &["nothing running", "removed the stale state file"]);
    assert!(!file.exists());
    std::fs::write(&file, "[]").unwrap();
    home.run(&["--port", &port, "--status"]).expect(1, &[&format!("Cargento: not running on port {port}\n")]);
    home.run(&["--port", &port, "--stop"]).expect(0, &[]);
    assert!(file.exists(), "what is no state file is not removed");
}

/// LIFE-041.
#[test]
fn life_041_a_running_dashboard_is_known_by_its_answer() {
    let home = Home::new();
    let fake = Fake::ours(Some(200), true);
    let port = fake.port.to_string();
    let line = format!("Cargento: running on port {port} (pid 4242, since 14:13): http://127.0.0.1:{port}/\n");
    assert_eq!(home.run(&["--port", &port, "--status"]).expect(0, &[]).out, line);
    let odd = Fake::start(r#"{"ok":true,"pid":1,"port":PORT,"started":1e300}"#, None, true);
    home.run(&["--port", &odd.port.to_string(), "--status"]).expect(0, &["since unknown"]);
    assert_eq!(*fake.asked.lock().unwrap(), ["GET /api/health HTTP/1.1"]);
}

/// LIFE-050.
#[test]
fn life_050_what_a_stop_comes_to() {
    let home = Home::new();
    let stop = |fake: &Fake| home.run(&["--port", &fake.port.to_string(), "--stop"]);
    let agreed = Fake::ours(Some(200), false);
    stop(&agreed).expect(0, &[&format!("stopped (pid 4242) on port {}", agreed.port)]);
    assert_eq!(*agreed.asked.lock().unwrap(), ["GET /api/health HTTP/1.1", "POST /api/shutdown HTTP/1.1"]);
    let lost = Fake::ours(None, false);
    stop(&lost).expect(0, &["stopped (pid 4242)"]);
    let refusing = Fake::ours(Some(403), true);
    stop(&refusing).expect(1, &["refused to stop", "403"]);
    let foreign = Fake::start(r#"{"ok":true}"#, Some(200), true);
    stop(&foreign).expect(1, &["not Cargento", "nothing was stopped"]);
    assert_eq!(*foreign.asked.lock().unwrap(), ["GET /api/health HTTP/1.1"]);
    // Holds the port and never answers as HTTP.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port().to_string();
    std::thread::spawn(move || silent.incoming().for_each(drop));
    home.run(&["--port", &port, "--stop"]).expect(1, &["still holds it"]);
    home.run(&["--port", &port, "--status"]).expect(1, &["not running"]);
}

/// LIFE-060, LIFE-061.
#[test]
fn life_060_and_061_forget() {
    let home = Home::new();
    std::fs::create_dir(home.state()).unwrap();
    for name in
        ["cargento-history.json", "cargento-ends.json", "cargento-dismissals.json", "semantic-work-history.json"]
    {
        std::fs::write(home.state().join(name), "{}").unwrap();
    }
    let fake = Fake::ours(Some(200), true);
    let refused = home.run(&["--port", &fake.port.to_string(), "--forget"]);
    refused.expect(1, &["history store", "session-end store", "annotation store", "discard records", "--stop"]);
    assert_eq!(files(&home.state()).len(), 4);
    let port = free_port().to_string();
    let said = home.run(&["--port", &port, "--forget", "--no-history", "--no-events"]);
    said.expect(0, &["the local history was deleted", "the session-end store was deleted", "no discard records"]);
    assert!(said.out.lines().all(|line| line.starts_with("Cargento: ")));
    assert_eq!(files(&home.state()), ["cargento-dismissals.json", "semantic-work-history.json"]);
    let bare = Home::new();
    bare.run(&["--port", &port, "--forget"])
        .expect(0, &["no local history was there", "no session-end store was there"]);
    assert!(files(&bare.path).is_empty(), "forgetting nothing makes nothing");
}

/// DIAG-001, DIAG-008.
#[test]
fn diag_001_and_008_a_look_writes_nothing_and_warns_on_stderr() {
    let home = Home::new().env("CODEX_HOME", "/nowhere/codex");
    let json = home.run(&["--diagnose", "--json"]);
    json.expect(0, &[]);
    assert!(json.err.is_empty());
    let report: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(report["env"], serde_json::json!({"CODEX_HOME": "/nowhere/codex"}));
    assert_eq!(report["stores"]["codex.sessions"]["primary"], "/nowhere/codex/sessions");
    assert_eq!(report["harnesses"].as_array().unwrap().len(), 10);
    let text = home.run(&["--diagnose"]);
    text.expect(
        0,
        &["Cargento diagnostics\n", "overrides: CODEX_HOME=/nowhere/codex\n", "Stores searched (in order)\n"],
    );
    assert!(text.err.starts_with("Cargento: ") && text.err.lines().count() == 1);
    assert!(files(&home.path).is_empty());
}

/// DECK-020, DIAG-005, DIAG-006, TRUST-036, FIELD-004: what could not be read stands at its harness with its code, in
/// both forms; and what is left out by decision is said.
#[test]
fn deck_020_a_report_names_every_degrade() {
    let home = Home::new();
    stores::plant(&home.path);
    let droid = home.path.join(".factory/sessions/-home-me-src-atlas/68abe758-1c58-4c0e-9a41-2f7e5d7d7a10.jsonl");
    let text = std::fs::read_to_string(&droid).unwrap();
    std::fs::write(&droid, text + "junk\n{\"broken\n").unwrap();
    std::fs::write(home.path.join(".local/share/goose/sessions/sessions.db"), "no database ".repeat(100)).unwrap();
    std::fs::write(home.path.join(".local/share/opencode/opencode.db"), "").unwrap();
    let json = home.run(&["--diagnose", "--json", stores::WINDOW]);
    let report: Value = serde_json::from_str(&json.expect(0, &[]).out).unwrap();
    let said = |key: &str| {
        let harness = report["harnesses"].as_array().unwrap().iter().find(|h| h["key"] == key).unwrap();
        let list = harness["degrades"].as_array().unwrap().iter();
        list.map(|d| format!("{} {}", d["code"].as_str().unwrap(), d["count"])).collect::<Vec<_>>()
    };
    assert_eq!(said("claude"), Vec::<String>::new());
    assert_eq!(said("codex"), ["compressed 1"]);
    assert_eq!(said("droid"), ["record-skipped 2"]);
    assert_eq!(said("goose"), ["store-corrupt null"]);
    assert_eq!(said("opencode"), ["schema-unknown null"]);
    home.run(&["--diagnose", stores::WINDOW]).expect(
        0,
        &[
            "         record-skipped in droid.projects, 2 of them\n",
            "         compressed in codex.sessions, 1 of them\n         codex: archived threads are not read\n",
            "         store-corrupt in goose.db\n",
            "         schema-unknown in opencode.db\n",
        ],
    );
}

/// CLI-017.
#[test]
fn cli_017_the_first_one_shot_wins() {
    let home = Home::new();
    let said = home.run(&["--status", "--stop", "--forget", "--diagnose", "--json"]);
    assert!(serde_json::from_str::<Value>(&said.expect(0, &[]).out).is_ok());
}

/// CLI-022, STATE-009, LIFE-005, LIFE-008, LIFE-070.
#[test]
fn life_070_every_way_out_is_orderly() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
        let home = Home::new();
        let mut board = home.serve(free_port(), &[]);
        assert_eq!(files(&home.state()), [format!("cargento-{}.json", board.port)]);
        board.signal(signal);
        assert_eq!(board.ends(), Some(0), "signal {signal}");
        assert!(files(&home.state()).is_empty(), "signal {signal}");
        let said = std::fs::read_to_string(&board.log).unwrap();
        assert_eq!(said, format!("Cargento: http://127.0.0.1:{}/\n", board.port));
    }
}

/// CLI-024, LIFE-075: what was inherited as ignored; SIGTERM alone is restored.
#[test]
fn cli_024_an_ignored_sigterm_is_restored_and_nohup_is_honoured() {
    let home = Home::new();
    let port = free_port();
    let mut command = home.command(&["--port", &port.to_string()]);
    // SAFETY: async-signal-safe calls between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGTERM, libc::SIG_IGN);
            libc::signal(libc::SIGHUP, libc::SIG_IGN);
            Ok(())
        });
    }
    let log = home.path.join("out");
    let child = command.stdout(std::fs::File::create(&log).unwrap()).spawn().unwrap();
    let mut board = Board { child, port, log };
    board.answers();
    board.signal(libc::SIGHUP);
    assert!(health(port).is_some());
    board.signal(libc::SIGTERM);
    assert_eq!(board.ends(), Some(0));
}

/// LIFE-004, LIFE-022, LIFE-023, LIFE-020 to LIFE-025, NOTE-106: one daemon from start to stop.
#[test]
fn life_023_a_daemon_from_start_to_stop() {
    let home = Home::new();
    let port = free_port();
    let port_text = port.to_string();
    let url = "https://hook.example/secret-path";
    let said = home.run(&["--port", &port_text, "--daemon", "--no-git", "--window-hours=2", "--reach-url", url]);
    let record: Value =
        serde_json::from_slice(&std::fs::read(home.state().join(format!("cargento-{port}.json"))).unwrap()).unwrap();
    let pid = record["pid"].as_u64().unwrap();
    let log = home.state().join(format!("cargento-{port}.log"));
    let line = format!("Cargento: http://127.0.0.1:{port}/ (pid {pid}, log {})\n", log.display());
    assert_eq!(said.expect(0, &[]).out, line);
    if cfg!(target_os = "linux") {
        let leads = |fd: u32| std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).unwrap();
        assert_eq!(leads(0), std::path::Path::new("/dev/null"));
        assert!([1, 2].iter().all(|fd| leads(*fd) == log.canonicalize().unwrap()));
    }
    if let Ok(bytes) = std::fs::read(format!("/proc/{pid}/cmdline")) {
        let args: Vec<_> = bytes.split(|b| *b == 0).map(|arg| String::from_utf8_lossy(arg).into_owned()).collect();
        assert_eq!(args[1..args.len() - 1], [&format!("--port={port}"), "--window-hours=2", "--no-git"]);
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
        assert!(String::from_utf8_lossy(&environment).contains(&format!("CARGENTO_REACH_URL={url}")));
    }
    // SAFETY: asks about, and signals, the daemon this test started.
    unsafe {
        assert_ne!(libc::getsid(pid as libc::pid_t), libc::getsid(0));
        assert_ne!(libc::getsid(pid as libc::pid_t), pid as libc::pid_t);
        libc::kill(pid as libc::pid_t, libc::SIGHUP);
    }
    let answer = health(port).expect("a daemon ignores SIGHUP");
    assert_eq!((answer["pid"].as_u64(), &answer["started"]), (Some(pid), &record["started"]));
    let again = home.run(&["--port", &port_text, "--daemon"]);
    again.expect(1, &["is in use", "--port"]);
    home.run(&["--port", &port_text, "--stop"]).expect(0, &["stopped"]);
    assert_eq!(files(&home.state()), [format!("cargento-{port}.log")]);
    assert!(!std::fs::read_to_string(&log).unwrap().contains("secret-path"));
}

/// LIFE-020.
#[test]
fn life_020_a_daemon_without_a_place_for_its_log_is_explained() {
    let home = Home::new();
    std::fs::write(home.path.join("blocker"), "x").unwrap();
    let home = home.env("CARGENTO_HOME", "blocker/state");
    let port = free_port();
    let said = home.run(&["--port", &port.to_string(), "--daemon"]);
    said.expect(1, &["blocker/state", "CARGENTO_HOME", "--daemon"]);
    assert!(health(port).is_none());
    assert_eq!(files(&home.path), ["blocker"]);
}

/// CLI-033: the demo leaves nothing behind, in this home or in the temporary directory.
#[test]
fn cli_033_the_demo_is_private() {
    let home = Home::new();
    std::fs::create_dir(home.path.join("tmp")).unwrap();
    let tmp = home.path.join("tmp");
    let home = home.env("TMPDIR", tmp.to_str().unwrap());
    let mut board = home.serve(free_port(), &["--demo"]);
    assert_eq!(files(&tmp).len(), 1);
    assert!(!home.state().exists());
    board.signal(libc::SIGTERM);
    assert_eq!(board.ends(), Some(0));
    assert!(files(&tmp).is_empty());
}

/// FIELD-068, STATE-010: a killed board's file goes when the next one starts.
#[test]
fn state_010_a_killed_board_is_swept_by_the_next() {
    let home = Home::new();
    let mut dead = home.serve(free_port(), &[]);
    dead.signal(libc::SIGKILL);
    dead.ends();
    assert_eq!(files(&home.state()), [format!("cargento-{}.json", dead.port)]);
    let next = home.serve(free_port(), &[]);
    assert_eq!(files(&home.state()), [format!("cargento-{}.json", next.port)]);
}

/// CONF-003, TRUST-001: a proxy of the environment is asked by none of the clients.
#[test]
fn conf_003_no_proxy_comes_between_us() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let url = format!("http://{}", proxy.local_addr().unwrap());
    let mut home = Home::new();
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        home = home.env(name, &url);
    }
    let fake = Fake::ours(Some(200), false);
    let port = fake.port.to_string();
    home.run(&["--port", &port, "--status"]).expect(0, &["running on port"]);
    home.run(&["event-hook", "claude", &port]).expect(0, &[]);
    home.run(&["notify-hook", &format!("http://127.0.0.1:{port}/api/notify")]).expect(0, &[]);
    home.run(&["--port", &port, "--stop"]).expect(0, &["stopped"]);
    assert!(proxy.accept().is_err(), "somebody came to the proxy");
}

/// CLI-023: a reader that has gone makes nothing fail.
#[test]
fn cli_023_a_closed_output_is_no_failure() {
    let home = Home::new();
    for (args, code) in
        [(&["--help"][..], 0), (&["--diagnose"], 0), (&["--status", "--port", "1"], 1), (&["hooks", "claude"], 0)]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = home.command(args).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// TRUST-073, STATE-001, STATE-002: every own file is its owner's alone in a folder that is, under a umask that forbids
/// nothing and in a folder that was open before.
#[test]
fn trust_073_modes_of_every_own_file_under_any_umask() {
    let home = Home::new();
    stores::plant(&home.path);
    std::fs::create_dir(home.state()).unwrap();
    std::fs::set_permissions(home.state(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let port = free_port();
    let plain = home.command(&["--daemon", "--port", &port.to_string(), stores::WINDOW]);
    let mut open = Command::new("/bin/sh");
    open.args(["-c", "umask 000; exec \"$0\" \"$@\""]).arg(plain.get_program()).args(plain.get_args()).env_clear();
    open.envs(plain.get_envs().filter_map(|(k, v)| v.map(|v| (k, v)))).current_dir(&home.path);
    assert!(open.output().unwrap().status.success());
    switches::use_everything(&home, port);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&home.state()), 0o700);
    let names = files(&home.state());
    assert!(names.len() >= 7, "{names:?}");
    for name in &names {
        assert_eq!(mode(&home.state().join(name)), 0o600, "{name}");
    }
    home.run(&["--port", &port.to_string(), "--stop"]).expect(0, &[]);
}

/// LIFE-006, SSE-010: without events a producer keeps an open page current, though nothing changed; without a page
/// nothing is collected.
#[test]
fn life_006_without_events_a_page_gets_a_revision_every_five_seconds() {
    let home = Home::new();
    let board = home.serve(free_port(), &["--no-events"]);
    let collected = |name: &str| {
        let health = ask(board.port, "GET", "/api/health?counters=1", &[], "").json();
        health["counters"][name].as_u64().unwrap()
    };
    assert_eq!(collected("collected.tick"), 0, "nobody looks");
    let mut stream = TcpStream::connect(("127.0.0.1", board.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(stream, "GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream).lines().map(|line| line.unwrap());
    let mut revision = || lines.find(|line| line.starts_with("data: ")).unwrap();
    let first = revision();
    let begun = Instant::now();
    assert_ne!(revision(), first);
    assert!((3.5..6.5).contains(&begun.elapsed().as_secs_f64()), "after {:?}", begun.elapsed());
    assert!(collected("collected.tick") >= 1);
}

/// LIFE-007, TERM: a terminal that was asked for and cannot be had is no dashboard without one.
#[test]
fn life_007_a_terminal_that_cannot_start_ends_the_run() {
    let home = Home::new();
    let port = free_port();
    let pair = ["--interaction-origin-session=claude:27d10654", "--interaction-origin-registration-file=registration"];
    let said = home.run(&["--port", &port.to_string(), pair[0], pair[1]]);
    said.expect(1, &["Cargento: the read-only terminal cannot start"]);
    assert!(!said.out.contains("http://"));
    assert!(health(port).is_none());
    assert!(files(&home.state()).is_empty() && !home.path.join("registration").exists());
    let said = home.run(&["--daemon", "--port", &port.to_string(), pair[0], pair[1]]);
    said.expect(1, &["exited before serving", "the read-only terminal cannot start"]);
    assert!(health(port).is_none());
}

/// CLI-036, NOTE-106: a webhook that this build cannot post to is answered with one line, which does not quote it.
#[test]
fn cli_036_a_webhook_that_goes_nowhere_is_said() {
    let home = Home::new();
    let board = home.serve(free_port(), &["--reach-url", "https://hook.example/secret-path"]);
    let said = std::fs::read_to_string(&board.log).unwrap();
    assert!(said.contains("cannot post") && !said.contains("secret-path"), "{said}");
    drop(board);
    let board = home.serve(free_port(), &["--no-reach", "--reach-url", "https://hook.example/secret-path"]);
    assert!(!std::fs::read_to_string(&board.log).unwrap().contains("post"));
}

/// LIFE-003, LIFE-074: two boards on two ports; a third on the second's port changes nothing.
#[test]
fn life_003_life_074_a_busy_port_is_named_and_nothing_is_written() {
    let home = Home::new();
    let first = home.serve(free_port(), &[]);
    let second = home.serve(free_port(), &[]);
    let before =
        (files(&home.state()), std::fs::read(home.state().join(format!("cargento-{}.json", second.port))).unwrap());
    let port = second.port.to_string();
    let said = home.run(&["--port", &port]);
    said.expect(1, &[&port, &format!("http://127.0.0.1:{port}/api/data"), "--port"]);
    assert!(said.err.is_empty());
    let after =
        (files(&home.state()), std::fs::read(home.state().join(format!("cargento-{}.json", second.port))).unwrap());
    assert_eq!(before, after);
    assert!(health(first.port).is_some() && health(second.port).is_some());
}
