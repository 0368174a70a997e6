//! The event stream (HTTP spec section 4).

use super::board::{Board, Plan, eventually, parse};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

struct Client {
    stream: TcpStream,
    got: Vec<u8>,
    head: Vec<u8>,
}

impl Client {
    fn open(board: &Board) -> Self {
        let mut stream = board.connect();
        stream
            .write_all(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 1790000000.99\r\n\r\n")
            .unwrap();
        let mut client = Self { stream, got: Vec::new(), head: Vec::new() };
        client.head = client.until(b"\r\n\r\n").unwrap();
        client
    }

    /// Everything up to and including `end`; `None` when the stream ended first.
    fn until(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        let mut chunk = [0; 4096];
        loop {
            if let Some(at) = self.got.windows(end.len()).position(|w| w == end) {
                return Some(self.got.drain(..at + end.len()).collect());
            }
            match self.stream.read(&mut chunk) {
                Ok(n) if n > 0 => self.got.extend_from_slice(&chunk[..n]),
                _ => return None,
            }
        }
    }

    fn event(&mut self) -> String {
        String::from_utf8(self.until(b"\n\n").expect("the stream ended")).unwrap()
    }
}

fn event(revision: &str) -> String {
    format!("id: {revision}\nevent: revision\ndata: {revision}\n\n")
}

/// SSE-003, SSE-004, SSE-005.
#[test]
fn sse_003_004_005_the_current_revision_and_then_each_new_one() {
    let board = Board::new();
    let mut early = Client::open(&board);
    let head = parse(early.head.clone(), false);
    assert_eq!(head.status, 200);
    for (name, want) in [
        ("content-type", Some("text/event-stream")),
        ("cache-control", Some("no-store")),
        ("x-accel-buffering", Some("no")),
        ("content-length", None),
        ("content-security-policy", None),
        ("access-control-allow-origin", None),
    ] {
        assert_eq!(head.header(name), want, "{name}");
    }
    board.get("/api/data");
    assert_eq!(early.event(), event("1790000000.1"), "opened before there was a snapshot");
    let mut late = Client::open(&board);
    assert_eq!(late.event(), event("1790000000.1"), "whatever it last saw");
    board.get("/api/data");
    board.publisher.clear();
    board.get("/api/data");
    assert_eq!(
        (early.event(), late.event()),
        (event("1790000000.2"), event("1790000000.2")),
        "a warm snapshot announces nothing"
    );
}

/// SSE-006, HTTP-092.
#[test]
fn sse_006_http_092_a_quiet_stream_says_that_it_is_alive() {
    let board = Plan { heartbeat: Duration::from_millis(60), ..Plan::default() }.board();
    let mut client = Client::open(&board);
    assert_eq!(client.event(), ": keepalive\n\n");
    assert_eq!(client.event(), ": keepalive\n\n");
}

/// SSE-007.
#[test]
fn sse_007_a_slow_client_skips_to_the_newest() {
    let board = Board::new();
    let mut client = Client::open(&board);
    for _ in 0..500 {
        board.publisher.publish(false, b"{}".to_vec());
    }
    let mut last = String::new();
    let mut events = 0;
    while last != event("1790000000.500") {
        last = client.event();
        events += 1;
    }
    assert!(events <= 500);
}

/// SSE-008.
#[test]
fn sse_008_eight_clients_and_a_slot_that_comes_back() {
    let board = Board::new();
    let mut clients: Vec<_> = (0..8).map(|_| Client::open(&board)).collect();
    let moved = || board.counters.get("stream.full");
    assert_eq!(board.get("/api/stream").status, 503);
    assert_eq!(moved(), 1);
    assert_eq!(board.get("/api/data").status, 200);
    clients.pop();
    let begun = Instant::now();
    eventually("a slot", || board.publisher.watchers() == 7);
    assert!(begun.elapsed() < Duration::from_secs(3), "without any event to write");
    clients.push(Client::open(&board));
    assert_eq!(parse(clients[7].head.clone(), false).status, 200);
}

/// SSE-008.
#[test]
fn sse_008_a_client_that_talks_and_leaves_frees_its_slot() {
    let board = Board::new();
    let mut client = Client::open(&board);
    client.stream.write_all(&[b'x'; 100_000]).unwrap();
    drop(client);
    eventually("the slot", || board.publisher.watchers() == 0);
}

/// SSE-009.
#[test]
fn sse_009_shutdown_ends_every_stream_at_once() {
    let board = Board::new();
    let mut clients: Vec<_> = (0..3).map(|_| Client::open(&board)).collect();
    let begun = Instant::now();
    assert_eq!(board.post("/api/shutdown", b"").status, 200);
    assert!(clients.iter_mut().all(|c| c.until(b"\0").is_none()));
    assert!(begun.elapsed() < Duration::from_secs(1));
}

/// TRUST-060.
#[test]
fn trust_060_a_panicking_stream_costs_itself() {
    use cargento::http::{Feature, Reply};
    let shape = |app: cargento::http::App| {
        app.on(Feature::AskPoll, |_| Reply::stream("text/event-stream", |_| panic!("a planted fault")))
    };
    let board = Plan { shape: Box::new(shape), ..Plan::default() }.board();
    let moved = board.moved(|| {
        board.get("/api/ask/x");
    });
    assert_eq!(moved, [("panic.stream", 1)].into());
    assert_eq!(board.get("/api/health").status, 200);
}
