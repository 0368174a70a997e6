//! Many connections, few descriptors and a state directory that cannot be, against the real binary.

use super::home::{Board, Home, ask, data, free_port};
use super::real::{anew, planted, rows};
use super::stores;
use serde_json::json;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

fn status_of(pid: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// TRUST-053, TRUST-066: three storms of silent, half-spoken and whole requests; then memory is near what it was, and
/// threads and descriptors are what they were.
#[cfg(target_os = "linux")]
#[test]
fn trust_066_a_storm_leaves_nothing_behind() {
    let home = planted();
    let board = home.serve(free_port(), &[stores::WINDOW]);
    let (port, pid) = (board.port, board.child.id());
    data(port, "?all=1");
    data(port, "");
    let look = || (status_of(pid, "VmRSS:"), status_of(pid, "Threads:"), descriptors(pid));
    // What served the two requests above ends a moment after its answer.
    let mut idle = look();
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let now = look();
        if (now.1, now.2) == (idle.1, idle.2) {
            break;
        }
        idle = now;
    }
    for _ in 0..3 {
        let mut held = Vec::new();
        for n in 0..400 {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let piece: &[u8] = match n % 4 {
                0 => b"",
                1 => b"GET /api/data HTTP/1.1\r\nHost: local",
                2 => b"POST /api/notify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n{",
                _ => b"GET /api/data?all=1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
            };
            let _ = std::io::Write::write_all(&mut stream, piece);
            held.push(stream);
        }
        let begun = Instant::now();
        assert_eq!(ask(port, "GET", "/api/data", &[], "").status, 200);
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
        drop(held);
    }
    let end = Instant::now() + Duration::from_secs(15);
    loop {
        let now = look();
        if now.1 == idle.1 && now.2 == idle.2 && now.0 < idle.0 + 60 * 1024 {
            break;
        }
        assert!(Instant::now() < end, "idle {idle:?}, after the storms {now:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A board that may open only so many descriptors.
fn narrow(home: &Home, port: u16, most: u32) -> Board {
    let plain = home.command(&["--port", &port.to_string(), stores::WINDOW]);
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", &format!("ulimit -n {most}; exec \"$0\" \"$@\"")])
        .arg(plain.get_program())
        .args(plain.get_args());
    command.env_clear().envs(plain.get_envs().filter_map(|(k, v)| v.map(|v| (k, v)))).current_dir(&home.path);
    let log = std::fs::File::create(home.path.join("out")).unwrap();
    let child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
    let mut board = Board { child, port, log: home.path.join("out") };
    board.answers();
    board
}

/// TRUST-052: with 64 descriptors and a storm of sockets the listener survives, answers within a second of its end, and
/// no store was taken for empty.
#[test]
fn trust_052_a_storm_with_few_descriptors_loses_no_row() {
    let home = planted();
    let board = narrow(&home, free_port(), 64);
    let whole = rows(&data(board.port, "?all=1"));
    assert!(whole.len() >= 12);
    for _ in 0..2 {
        let held: Vec<_> = (0..200).filter_map(|_| TcpStream::connect(("127.0.0.1", board.port)).ok()).collect();
        std::thread::sleep(Duration::from_millis(300));
        drop(held);
        let begun = Instant::now();
        while ask(board.port, "GET", "/api/health", &[], "").status != 200 {
            assert!(begun.elapsed() < Duration::from_secs(1), "no answer a second after the storm");
        }
        assert_eq!(rows(&anew(board.port)), whole);
    }
}

/// TRUST-051, STATE-007, LIFE-005: a state directory that cannot be is said once; serving goes on, and a press tells that
/// it was not kept.
#[test]
fn state_007_a_state_directory_that_cannot_be_is_said_and_served_without() {
    let home = planted();
    std::fs::write(home.path.join("blocker"), "x").unwrap();
    let home = home.env("CARGENTO_HOME", "blocker/state");
    let board = home.serve(free_port(), &[stores::WINDOW]);
    let port = board.port;
    let said = std::fs::read_to_string(&board.log).unwrap();
    let path = format!("blocker/state/cargento-{port}.json");
    assert!(said.contains(&path) && said.contains("--status"), "{said}");
    assert!(!data(port, "?all=1")["sessions"].as_array().unwrap().is_empty());
    let mark = ask(port, "POST", "/api/dismiss", &[], r#"{"harness":"claude","sid":"27d10654"}"#).json();
    assert_eq!((&mark["ok"], &mark["persisted"]), (&json!(true), &json!(false)));
    let words = ask(port, "POST", "/api/annotate", &[], r#"{"harness":"claude","sid":"27d10654","goal":"x"}"#).json();
    assert_eq!((&words["ok"], &words["outcome"]), (&json!(false), &json!("unwritable")));
    assert_eq!(home.run(&["--port", &port.to_string(), "--status"]).code, Some(0), "it is known by its answer");
    // Once there is room it is used, without a restart.
    std::fs::remove_file(home.path.join("blocker")).unwrap();
    let mark = ask(port, "POST", "/api/dismiss", &[], r#"{"harness":"claude","sid":"0a0a0a0a"}"#).json();
    assert_eq!(mark["persisted"], true);
    assert!(Path::new(&home.path).join("blocker/state/cargento-dismissals.json").exists());
}
