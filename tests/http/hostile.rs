//! The hostile corpus over a real socket: exact status, exact counters, nothing else moved (TRUST-045..047).

use super::board::{Board, Plan, finish};
use super::corpus;
use cargento::http::Feature;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/hostile/corpus.jsonl")
}

fn read() -> Vec<Value> {
    std::fs::read_to_string(file()).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn trust_045_the_corpus_is_what_its_table_says() {
    let lines: String = corpus::cases().iter().map(|case| format!("{case}\n")).collect();
    if std::env::var_os("CARGENTO_WRITE_CORPUS").is_some() {
        std::fs::create_dir_all(file().parent().unwrap()).unwrap();
        std::fs::write(file(), &lines).unwrap();
    }
    assert!(std::fs::read_to_string(file()).unwrap() == lines, "written again with CARGENTO_WRITE_CORPUS=1");
    let cases = read();
    assert!(cases.len() >= 300, "{} cases", cases.len());
    let names: std::collections::BTreeSet<_> = cases.iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), cases.len(), "every case has a name of its own");
}

/// The bytes of a case: characters 0 to 255 are bytes, `{port}` is the port.
fn bytes(case: &Value, port: u16) -> Vec<u8> {
    let mut out = Vec::new();
    for part in case["send"].as_array().unwrap() {
        let (text, times) = match part {
            Value::String(text) => (text.as_str(), 1),
            other => (other["repeat"].as_str().unwrap(), other["times"].as_u64().unwrap() as usize),
        };
        let piece: Vec<u8> =
            text.replace("{port}", &port.to_string()).chars().map(|c| u8::try_from(c as u32).unwrap()).collect();
        out.extend(piece.repeat(times));
    }
    out
}

/// Plays one case; the status, 0 when the peer closed without a reply.
fn play(case: &Value, port: u16) -> u16 {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let _ = stream.write_all(&bytes(case, port));
    match case["end"].as_str() {
        Some("half") => stream.shutdown(Shutdown::Write).unwrap(),
        // Lets what was sent arrive, then goes without a word.
        Some("reset") => {
            std::thread::sleep(Duration::from_millis(20));
            return 0;
        }
        _ => {}
    }
    if let Some(drip) = case["drip"].as_str() {
        let mut more = stream.try_clone().unwrap();
        let drip = drip.as_bytes().to_vec();
        std::thread::spawn(move || {
            for _ in 0..15 {
                std::thread::sleep(Duration::from_secs(1));
                if more.write_all(&drip).is_err() {
                    return;
                }
            }
        });
    }
    let answer = finish(&mut stream);
    assert!(answer.closed, "{}: the connection ends", case["name"]);
    answer.status
}

/// The counters over the wire, as anybody may read them.
fn counters(port: u16) -> BTreeMap<String, u64> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"GET /api/health?counters=1 HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    serde_json::from_value(finish(&mut stream).json()["counters"].clone()).unwrap()
}

fn wanted(case: &Value) -> BTreeMap<String, u64> {
    serde_json::from_value(case["counters"].clone()).unwrap()
}

/// The counters that moved since `before`, once they are as many as wanted; some are counted after the peer has left.
fn moved(port: u16, before: &BTreeMap<String, u64>, want: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let until = Instant::now() + Duration::from_secs(3);
    loop {
        let now = counters(port);
        let moved: BTreeMap<_, _> =
            now.iter().filter(|(n, v)| **v != before[*n]).map(|(n, v)| (n.clone(), v - before[n])).collect();
        if moved == *want || Instant::now() > until {
            return moved;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Replays cases against whatever listens on a port. `revision` tells what is published there now.
fn replay(port: u16, cases: &[Value], revision: impl Fn() -> String) {
    let (slow, quick): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case.get("drip").is_some());
    for case in quick {
        let (before, published) = (counters(port), revision());
        let status = play(case, port);
        assert_eq!(u64::from(status), case["status"], "{}", case["name"]);
        assert_eq!(moved(port, &before, &wanted(case)), wanted(case), "counters of {}", case["name"]);
        let dropped = case.get("revision").is_some();
        assert_eq!(revision() != published, dropped, "published revision after {}", case["name"]);
    }
    let before = counters(port);
    std::thread::scope(|scope| {
        for case in &slow {
            scope.spawn(move || {
                let begun = Instant::now();
                assert_eq!(u64::from(play(case, port)), case["status"], "{}", case["name"]);
                assert!((9..15).contains(&begun.elapsed().as_secs()), "{} took {:?}", case["name"], begun.elapsed());
            });
        }
    });
    let mut want = BTreeMap::new();
    for (name, n) in slow.iter().flat_map(|case| wanted(case)) {
        *want.entry(name).or_insert(0) += n;
    }
    assert_eq!(moved(port, &before, &want), want, "counters of the slow cases");
}

/// The publisher's own word, so that looking at it publishes nothing.
fn published(board: &Board) -> String {
    board.publisher.current(false).map(|p| p.revision.to_string()).unwrap_or_default()
}

#[test]
fn trust_045_046_047_replayed_with_every_feature() {
    let board = Plan::default().without(&[Feature::Interaction]).board();
    let cases: Vec<_> = read().into_iter().filter(|c| c["board"] == "on").collect();
    board.publisher.publish(false, b"{}".to_vec());
    replay(board.port, &cases, || {
        // A case may drop the snapshot or let a reader make a new one; only the first is its own doing.
        match published(&board) {
            none if none.is_empty() => {
                board.publisher.publish(false, b"{}".to_vec());
                published(&board)
            }
            some => {
                board.publisher.still_current(false);
                some
            }
        }
    });
    board.settle();
    assert_eq!(board.server.lock().unwrap().connections(), 0);
}

#[test]
fn trust_045_http_020_replayed_with_every_switch() {
    let board = Plan { features: vec![Feature::Notify, Feature::Usage], ..Plan::default() }.board();
    let cases: Vec<_> = read().into_iter().filter(|c| c["board"] == "off").collect();
    replay(board.port, &cases, || published(&board));
}
