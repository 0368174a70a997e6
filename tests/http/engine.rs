//! The engine's manners and bounds (HTTP spec section 2, TRUST-047, TRUST-052, TRUST-053).

use super::board::{Answer, Board, Plan, eventually, finish};
use cargento::surface::listen::Limits;
use std::io::Write;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const HEALTH: &[u8] = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/// Bounds short enough for a test.
fn quick() -> Limits {
    Limits {
        head: Duration::from_millis(400),
        body: Duration::from_millis(400),
        stall: Duration::from_millis(400),
        reply: Duration::from_secs(2),
        ..Limits::default()
    }
}

fn board(limits: Limits) -> Board {
    Plan { limits, ..Plan::default() }.board()
}

fn open(board: &Board, bytes: &[u8]) -> TcpStream {
    let mut stream = board.connect();
    stream.write_all(bytes).unwrap();
    stream
}

/// HTTP-002.
#[test]
fn http_002_one_request_and_one_reply_per_connection() {
    let board = Board::new();
    for extra in [HEALTH, b"POST /api/shutdown HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"junk\r\n\r\n"] {
        let reply = board.send(&[HEALTH, extra].concat());
        assert_eq!((reply.status, reply.closed), (200, true));
        assert_eq!(String::from_utf8_lossy(&reply.raw).matches("HTTP/1.").count(), 1);
    }
    assert!(board.log.lock().unwrap().is_empty(), "nothing behind the first request was a request");
    let reply = board.ask("GET", "/api/health", &[("Connection", "keep-alive")], b"");
    assert!(reply.closed && reply.header("connection") == Some("close"));
}

/// HTTP-004.
#[test]
fn http_004_limits_and_malformed_heads() {
    let board = Board::new();
    let start = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n";
    let many = |n: usize| [start.as_slice(), &b"X-A: a\r\n".repeat(n), b"\r\n"].concat();
    for (bytes, status, counter) in [
        ([b"GET /".as_slice(), &vec![b'a'; 65_532]].concat(), 414, "http.too-long"),
        ([start.as_slice(), b"X: ", &vec![b'a'; 65_534]].concat(), 431, "http.headers"),
        (many(101), 431, "http.headers"),
        (b"GET /api/health HTTP/2.0\r\nHost: 127.0.0.1\r\n\r\n".to_vec(), 505, "http.version"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), 505, "http.version"),
        (b"nonsense\r\n\r\n".to_vec(), 400, "http.malformed"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n".to_vec(), 400, "http.malformed"),
        (b"POST /api/notify HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\n{}abc".to_vec(), 400, "http.malformed"),
        (b"POST /api/notify HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}".to_vec(), 400, "http.malformed"),
    ] {
        let moved = board.moved(|| assert_eq!(board.send(&bytes).status, status, "{:.40}", String::from_utf8_lossy(&bytes)));
        assert_eq!(moved, [(counter, 1)].into());
    }
    assert_eq!(board.send(&many(90)).status, 200);
    assert_eq!(board.send(&[start.as_slice(), b"X: ", &vec![b'a'; 60_000], b"\r\n\r\n"].concat()).status, 200);
    assert_eq!(board.get(&format!("/{}", "a".repeat(60_000))).status, 404);
}

/// HTTP-002, HTTP-011.
#[test]
fn http_002_011_lengths_that_lie() {
    let board = Board::new();
    let members =
        |lines: &[(&str, &str)], body: &[u8]| board.ask("POST", "/api/dismiss", lines, body).json()["members"].clone();
    assert_eq!(
        members(&[("Content-Length", "2")], b"{}{\"a\":1}"),
        0,
        "bytes past the length are no part of the request"
    );
    assert_eq!(
        members(&[("Transfer-Encoding", "chunked")], b"7\r\n{\"a\":1}\r\n0\r\n\r\n"),
        0,
        "a chunked body counts as absent"
    );
    assert_eq!(members(&[], b"{\"a\":1}"), 1);
}

/// HTTP-003, TRUST-047.
#[test]
fn http_003_trust_047_a_head_has_its_time_in_all_and_then_no_reply() {
    let board = board(quick());
    for piece in [b"".as_slice(), b"G", b"GET / HTTP/1.1\r\nX: "] {
        let begun = Instant::now();
        let mut stream = open(&board, piece);
        // A byte now and then buys no time.
        while begun.elapsed() < Duration::from_millis(380) && !piece.is_empty() {
            let _ = stream.write_all(b"a");
            std::thread::sleep(Duration::from_millis(40));
        }
        let reply = finish(&mut stream);
        assert!(reply.closed && reply.raw.is_empty(), "{reply:?}");
        assert!((300..1500).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
    }
    board.settle();
    assert_eq!(board.counters.get("http.slow"), 3);
}

/// HTTP-003.
#[test]
fn http_003_a_body_has_its_time_in_all_and_holds_nobody_else() {
    let board = board(quick());
    let begun = Instant::now();
    let mut stream = open(&board, b"POST /api/notify HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900\r\n\r\n{");
    assert_eq!(board.post("/api/notify", b"{}").status, 200, "the same route meanwhile");
    assert!(finish(&mut stream).raw.is_empty());
    assert!(begun.elapsed() < Duration::from_secs(2));
    let mut half = open(&board, b"POST /api/notify HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900\r\n\r\n{");
    half.shutdown(Shutdown::Write).unwrap();
    assert!(finish(&mut half).raw.is_empty());
    board.settle();
    assert_eq!((board.counters.get("http.slow"), board.counters.get("http.disconnect")), (1, 1));
}

/// HTTP-015.
#[test]
fn http_015_peers_that_leave_at_any_stage_cost_nothing() {
    let board = Board::new();
    for piece in [b"".as_slice(), HEALTH, b"GET / HTT"] {
        for abrupt in [false, true] {
            let stream = open(&board, piece);
            if !abrupt {
                stream.shutdown(Shutdown::Write).unwrap();
            }
        }
    }
    eventually("the two cut heads", || board.counters.get("http.disconnect") == 2);
    board.settle();
    let others = board.counters.all().filter(|(name, n)| *n > 0 && *name != "http.disconnect").count();
    assert_eq!(others, 0, "a connection without a byte is no refusal, nor is one that left before its reply");
    assert_eq!(board.send(HEALTH).status, 200);
}

/// HTTP-004, TRUST-053.
#[test]
fn http_004_trust_053_an_endless_head_is_cut_and_bounded() {
    let board = Board::new();
    let mut stream = open(&board, b"GET / HTTP/1.1\r\nHost: a\r\n");
    let line = [b"X: ".as_slice(), &vec![b'a'; 4000], b"\r\n"].concat();
    let sent = (0..10_000).take_while(|_| stream.write_all(&line).is_ok()).count();
    assert!(sent < 2000, "cut after {sent} lines of 4,005 bytes");
    board.settle();
    assert_eq!(board.counters.get("http.headers"), 1);
}

/// TRUST-066.
#[test]
fn trust_066_unfinished_heads_share_one_budget() {
    let board = board(Limits { head_bytes: 100_000, ..Limits::default() });
    let piece = [b"GET / HTTP/1.1\r\nX: ".as_slice(), &vec![b'a'; 40_000]].concat();
    let mut held: Vec<_> = (0..6).map(|_| open(&board, &piece)).collect();
    eventually("the budget to run out", || board.counters.get("http.busy") > 0);
    let small = board.send(HEALTH).status;
    assert_eq!(small, 200, "a small head needs none of it");
    held.truncate(1);
    drop(held);
    board.settle();
    assert_eq!(
        board
            .send(
                &[b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX: ".as_slice(), &vec![b'a'; 60_000], b"\r\n\r\n"]
                    .concat()
            )
            .status,
        200,
        "all of it was given back"
    );
}

/// HTTP-001, TRUST-053.
#[test]
fn http_001_trust_053_silent_connections_give_way_and_a_client_that_speaks_is_served() {
    let board = board(Limits { connections: 32, ..Limits::default() });
    let mut silent: Vec<_> = (0..120).map(|n| open(&board, if n % 2 == 0 { b"" } else { b"GET /api/da" })).collect();
    let begun = Instant::now();
    for _ in 0..5 {
        assert_eq!(board.get("/api/data").status, 200);
    }
    assert!(begun.elapsed() < Duration::from_millis(250), "{:?}", begun.elapsed());
    let first = finish(&mut silent[0]);
    assert_eq!((first.status, first.closed), (503, true), "the oldest was told");
    assert!(board.counters.get("http.busy") >= 88);
    eventually("the ceiling to hold", || board.server.lock().unwrap().connections() <= 32);
}

/// HTTP-001.
#[test]
fn http_001_bodies_that_never_come_give_way_too_and_work_does_not() {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let working = Arc::new(AtomicUsize::new(0));
    let counted = working.clone();
    let shape = move |app: cargento::http::App| {
        app.on(cargento::http::Feature::Observe, move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = wait.lock().unwrap().recv();
            cargento::http::Reply::json(200, &1)
        })
    };
    let plan =
        Plan { limits: Limits { connections: 8, ..Limits::default() }, shape: Box::new(shape), ..Plan::default() };
    let board = plan.board();
    let half: Vec<_> = (0..8)
        .map(|_| open(&board, b"POST /api/notify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"))
        .collect();
    eventually("eight bodies awaited", || board.server.lock().unwrap().connections() == 8);
    assert_eq!(board.get("/api/data").status, 200);
    drop(half);
    board.settle();
    let mut busy: Vec<_> =
        (0..8).map(|_| open(&board, b"GET /api/observe HTTP/1.1\r\nHost: localhost\r\n\r\n")).collect();
    eventually("eight at work", || working.load(Ordering::SeqCst) == 8);
    assert_eq!(board.send(HEALTH).status, 503, "nobody can be spared");
    drop(release);
    assert!(busy.iter_mut().map(finish).filter(|reply| reply.status == 200).count() == 8);
}

/// TRUST-053.
#[test]
fn trust_053_peers_that_never_read_are_cut() {
    let body = format!("{{\"pad\":\"{}\"}}", "x".repeat(20_000_000)).into_bytes();
    let collect = std::sync::Arc::new(move |_| Ok(body.clone()));
    let board = Plan { collect, limits: quick(), ..Plan::default() }.board();
    let deaf: Vec<_> = (0..8).map(|_| open(&board, b"GET /api/data HTTP/1.1\r\nHost: localhost\r\n\r\n")).collect();
    assert_eq!(board.send(HEALTH).status, 200);
    let begun = Instant::now();
    board.settle();
    assert!(begun.elapsed() < Duration::from_secs(5));
    drop(deaf);
}

/// HTTP-007.
#[test]
fn http_007_a_client_that_waits_for_leave_gets_it() {
    let board = Board::new();
    let head = b"POST /api/dismiss HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 7\r\n\r\n";
    let mut stream = open(&board, head);
    let mut leave = [0; 25];
    std::io::Read::read_exact(&mut stream, &mut leave).unwrap();
    assert_eq!(&leave, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"{\"a\":1}").unwrap();
    assert_eq!(finish(&mut stream).json()["members"], 1);
    let refused: Answer =
        board.ask("POST", "/api/dismiss", &[("Expect", "100-continue"), ("Content-Length", "9999")], b"");
    assert_eq!(refused.status, 413, "a refusal comes instead of leave");
}

/// LIFE-071.
#[test]
fn life_071_stop_frees_the_port_within_half_a_second() {
    let board = Board::new();
    let held = [
        open(&board, b""),
        open(&board, b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        open(&board, b"POST /api/notify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"),
    ];
    eventually("three connections", || board.server.lock().unwrap().connections() == 3);
    let begun = Instant::now();
    board.server.lock().unwrap().stop(Duration::ZERO);
    assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
    drop(TcpListener::bind(("127.0.0.1", board.port)).expect("the port is free"));
    assert!(TcpStream::connect(("127.0.0.1", board.port)).is_err());
    drop(held);
    board.settle();
}

/// LIFE-071.
#[test]
fn life_071_a_reply_under_way_is_given_its_grace() {
    let shape = |app: cargento::http::App| {
        app.on(cargento::http::Feature::Observe, |_| {
            std::thread::sleep(Duration::from_millis(200));
            cargento::http::Reply::json(200, &1)
        })
    };
    let board = Plan { shape: Box::new(shape), ..Plan::default() }.board();
    let mut stream = open(&board, b"GET /api/observe HTTP/1.1\r\nHost: localhost\r\n\r\n");
    eventually("the request", || board.server.lock().unwrap().connections() == 1);
    std::thread::sleep(Duration::from_millis(50));
    board.server.lock().unwrap().stop(Duration::from_secs(1));
    assert_eq!(finish(&mut stream).status, 200);
}
