//! The hostile corpus over a real socket: exact status, exact counters, nothing else moved (TRUST-045..047).

use super::board::{Board, Plan, finish};
#[cfg(unix)]
use super::home::{Home, contents, free_port};
use super::{corpus, stores};
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

/// TRUST-045.
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

/// The bytes of a case: characters 0 to 255 are bytes, `{port}` is the port, `{token:<harness>}` that harness's token.
fn bytes(case: &Value, port: u16, tokens: &BTreeMap<String, String>) -> Vec<u8> {
    let mut out = Vec::new();
    for part in case["send"].as_array().unwrap() {
        let (text, times) = match part {
            Value::String(text) => (text.as_str(), 1),
            other => (other["repeat"].as_str().unwrap(), other["times"].as_u64().unwrap() as usize),
        };
        let mut text = text.replace("{port}", &port.to_string());
        for (harness, token) in tokens {
            text = text.replace(&format!("{{token:{harness}}}"), token);
        }
        let piece: Vec<u8> = text.chars().map(|c| u8::try_from(c as u32).unwrap()).collect();
        out.extend(piece.repeat(times));
    }
    out
}

/// Plays one case; the status, 0 when the peer closed without a reply, and the body.
fn play(case: &Value, port: u16, tokens: &BTreeMap<String, String>) -> (u16, Vec<u8>) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let _ = stream.write_all(&bytes(case, port, tokens));
    match case["end"].as_str() {
        Some("half") => stream.shutdown(Shutdown::Write).unwrap(),
        // Lets what was sent arrive, then goes without a word.
        Some("reset") => {
            std::thread::sleep(Duration::from_millis(20));
            return (0, Vec::new());
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
    (answer.status, answer.body)
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
        // The real loop collects in its own time; that is no refusal.
        let counts = |name: &str| !name.starts_with("collected.") && !name.starts_with("skipped.");
        let changed = now.iter().filter(|(name, n)| counts(name) && **n != before[*name]);
        let moved: BTreeMap<_, _> = changed.map(|(name, n)| (name.clone(), n - before[name])).collect();
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
        let (status, _) = play(case, port, &BTreeMap::new());
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
                assert_eq!(u64::from(play(case, port, &BTreeMap::new()).0), case["status"], "{}", case["name"]);
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

/// TRUST-045, TRUST-046, TRUST-047.
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

/// TRUST-045, HTTP-020.
#[test]
fn trust_045_http_020_replayed_with_every_switch() {
    let board = Plan { features: vec![Feature::Notify, Feature::Usage], ..Plan::default() }.board();
    let cases: Vec<_> = read().into_iter().filter(|c| c["board"] == "off").collect();
    replay(board.port, &cases, || published(&board));
}

/// Whether a case of the stand-ins says the same of the real binary: it is refused before any feature, or reaches
/// none.
fn holds_for_the_real_one(case: &Value) -> bool {
    let counters = wanted(case);
    let early =
        ["gate.", "http.malformed", "http.version", "http.too-long", "http.headers", "http.method", "http.path"];
    let refused = counters.keys().any(|name| early.iter().any(|start| name.starts_with(start)));
    let name = case["name"].as_str().unwrap();
    case["board"] == "on"
        && case.get("drip").is_none()
        && case.get("revision").is_none()
        && (refused
            || ["/api/lane", "/api/dismiss:", "interaction"].iter().any(|start| name.starts_with(start))
            || ["/api/notify: length", "/api/annotate: length"].iter().any(|start| name.starts_with(start)))
        // An event's source is judged by the feature, and its answer comes before a wrong method's.
        && !name.contains("/api/events")
}

/// TRUST-045 to TRUST-048: the real binary at its shipped caps, with a session on the board: exact status, exact counters,
/// and not one byte of its own files changed unless the case says which.
#[cfg(unix)]
#[test]
fn trust_045_replayed_against_the_real_binary() {
    let home = Home::new();
    stores::plant(&home.path);
    let board = home.serve(free_port(), &[stores::WINDOW]);
    let port = board.port;
    let record = std::fs::read(home.state().join(format!("cargento-{port}.json"))).unwrap();
    let tokens: BTreeMap<String, String> =
        serde_json::from_value(serde_json::from_slice::<Value>(&record).unwrap()["capabilities"].clone()).unwrap();
    super::home::data(port, "");
    let own = || {
        let mut own = contents(&home.state());
        // What the loop observes it records in its own time.
        own.retain(|name, _| !["cargento-history", "cargento-deliveries"].iter().any(|its| name.starts_with(its)));
        own
    };
    let cases: Vec<Value> = read().into_iter().filter(|c| c["board"] == "real" || holds_for_the_real_one(c)).collect();
    assert!(cases.len() >= 400, "{} cases", cases.len());
    for case in &cases {
        let (name, want) = (&case["name"], wanted(case));
        let (before, kept) = (counters(port), own());
        let (status, body) = play(case, port, &tokens);
        assert_eq!(u64::from(status), case["status"], "{name}: {}", String::from_utf8_lossy(&body));
        assert_eq!(moved(port, &before, &want), want, "counters of {name}");
        if let Some(outcome) = case.get("outcome") {
            let reply: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(reply, serde_json::json!({"ok": true, "outcome": outcome}), "{name}");
        }
        for token in tokens.values() {
            assert!(!String::from_utf8_lossy(&body).contains(token.as_str()), "{name} tells a token");
        }
        let may: Vec<&str> = case["files"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let now = own();
        for file in now.keys().chain(kept.keys()) {
            assert!(may.contains(&file.as_str()) || now.get(file) == kept.get(file), "{name} changed {file}");
        }
        if want.contains_key("cap.event")
            || want.keys().any(|name| name.starts_with("reject."))
            || case["outcome"].is_string()
        {
            // A harness's budget of events is not what is on trial.
            std::thread::sleep(Duration::from_millis(52));
        }
    }
    let said = std::fs::read_to_string(&board.log).unwrap();
    assert_eq!(said, format!("Cargento: http://127.0.0.1:{port}/\n"), "no request is printed (HTTP-016, LIFE-008)");
}
