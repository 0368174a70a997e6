//! What single routes answer once a request is let through.

use super::board::{Board, Plan, STARTED, TOKEN, eventually};
use super::routes::targets;
use cargento::http::{Feature, Reply};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// HTTP-030, HTTP-032, HTTP-094.
#[test]
fn http_030_032_094_the_page() {
    let board = Board::new();
    let page = board.get("/");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(board.get("/?all=1&x=2").body, page.body);
    assert!(page.text().contains(&format!("<meta name=\"cargento-focus\" content=\"{TOKEN}\"></head>")));
    for target in [
        "/?next",
        "/?next=1",
        "/?x&next=",
        "/assets/",
        "/assets/none.js",
        "/assets/../Cargo.toml",
        "/assets/%61pp.js",
        "/assets/xterm.js",
        "/assets/xterm.css",
    ] {
        assert_eq!(board.get(target).status, 404, "{target}");
    }
    let script = board.get("/assets/app.js?v=1");
    assert_eq!(
        (script.header("content-type"), script.header("x-content-type-options")),
        (Some("text/javascript"), Some("nosniff"))
    );
    assert_eq!(board.get("/assets/app.css").header("content-type"), Some("text/css"));
    for path in ["/api/data", "/api/health?counters=1", "/assets/app.js", "/nope"] {
        assert!(!board.get(path).text().contains(TOKEN), "{path}");
    }
}

/// HTTP-033, HTTP-034.
#[test]
fn http_033_034_health() {
    let board = Board::new();
    let reply = board.get("/api/health");
    let health = reply.json();
    assert!(reply.body.len() < 1024);
    assert_eq!(health["ok"], true);
    assert_eq!(
        (health["pid"].as_u64(), health["port"].as_u64()),
        (Some(u64::from(std::process::id())), Some(u64::from(board.port)))
    );
    assert_eq!(health["started"].as_f64(), Some(STARTED));
    assert!(health.get("counters").is_none());
    board.get("/nope");
    let counters = board.get("/api/health?counters=1").json()["counters"].clone();
    assert_eq!(counters["http.path"], 1);
    assert_eq!(counters.as_object().unwrap().len(), cargento::counters::NAMES.len());
    assert!(counters.as_object().unwrap().values().all(serde_json::Value::is_u64));
}

/// HTTP-040, HTTP-041, HTTP-091.
#[test]
fn http_040_041_091_the_board_is_collected_once_and_names_its_revision() {
    let board = Plan {
        collect: Arc::new(|all| {
            std::thread::sleep(Duration::from_millis(150));
            Ok(format!("{{\"show_all\":{all},\"pad\":\"{}\"}}", "x".repeat(300_000)).into_bytes())
        }),
        ..Plan::default()
    }
    .board();
    let replies: Vec<_> = std::thread::scope(|scope| {
        let hands: Vec<_> = (0..50).map(|_| scope.spawn(|| board.get("/api/data"))).collect();
        hands.into_iter().map(|hand| hand.join().unwrap()).collect()
    });
    assert_eq!(board.collections.load(Ordering::SeqCst), 1);
    assert!(
        replies.iter().all(|r| r.header("x-cargento-revision") == Some("1790000000.1") && r.body == replies[0].body)
    );
    for (query, all) in [("?all=1", true), ("?all=0&all=1", false), ("?all=true", false), ("?x=1&all=1", true)] {
        assert_eq!(board.get(&format!("/api/data{query}")).json()["show_all"], all, "{query}");
    }
    assert!(board.get("/api/health").header("x-cargento-revision").is_none());
}

/// HTTP-092.
#[test]
fn http_092_a_stalled_collection_delays_nobody_else() {
    let (gate, enter) = std::sync::mpsc::channel::<()>();
    let enter = std::sync::Mutex::new(enter);
    let board = Plan {
        collect: Arc::new(move |_| {
            let _ = enter.lock().unwrap().recv();
            Ok(b"{}".to_vec())
        }),
        ..Plan::default()
    }
    .board();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| board.get("/api/data"));
        eventually("the collection to begin", || board.collections.load(Ordering::SeqCst) == 1);
        let begun = Instant::now();
        assert_eq!(board.get("/api/health").status, 200);
        assert_eq!(board.post("/api/notify", b"{}").status, 200);
        assert!(begun.elapsed() < Duration::from_millis(200));
        drop(gate);
        assert_eq!(waiting.join().unwrap().status, 200);
    });
}

/// HTTP-040, USE-003.
#[test]
fn http_040_use_003_quota_is_asked_for_by_a_page_and_not_by_a_link() {
    let board = Board::new();
    let link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    board.ask("GET", "/api/data?usage=1", &link, b"");
    board.ask("GET", "/api/data?usage=1", &[("Host", "evil.example")], b"");
    board.get("/api/data?usage=0&usage=1");
    assert_eq!(board.quota_asked.load(Ordering::SeqCst), 0);
    board.get("/api/data?usage=1");
    assert_eq!(board.quota_asked.load(Ordering::SeqCst), 1);
}

/// HTTP-014, TRUST-043, TRUST-060.
#[test]
fn http_014_trust_060_a_panicking_handler_costs_its_own_connection() {
    let shape = |app: cargento::http::App| app.on(Feature::Dismiss, |_| panic!("a planted fault"));
    let board =
        Plan { shape: Box::new(shape), collect: Arc::new(|_| panic!("a planted fault")), ..Plan::default() }.board();
    for _ in 0..3 {
        let moved = board.moved(|| assert_eq!(board.post("/api/dismiss", b"{}").status, 500));
        assert_eq!(moved, [("panic.handler", 1)].into());
        assert_eq!(board.get("/api/data").status, 500);
        assert_eq!(board.get("/api/health").status, 200);
    }
}

/// HTTP-081, NOTE-060.
#[test]
fn http_081_note_060_the_browser_lane() {
    let board = Board::new();
    let lane = |body: &str| board.post("/api/lane", body.as_bytes());
    let mut seen = board.get("/api/data").header("x-cargento-revision").map(str::to_owned);
    for (body, reported) in [
        (r#"{"supported":true,"permission":"denied"}"#, false),
        (r#"{"supported":false,"permission":"granted"}"#, false),
        (r#"{"supported":true,"permission":"granted"}"#, true),
    ] {
        assert_eq!(lane(body).text(), format!("{{\"ok\":true,\"reported\":{reported}}}"));
        let now = board.get("/api/data").header("x-cargento-revision").map(str::to_owned);
        assert_eq!(now != seen, reported, "HTTP-022: {body}");
        seen = now;
    }
    for body in [
        r#"{"supported":1,"permission":"granted"}"#,
        r#"{"supported":true,"permission":true}"#,
        r#"{"supported":true}"#,
        r#"{"supported":true,"permission":"granted","sid":"x"}"#,
        r#"{"supported":true,"permission":"granted","at":1}"#,
        "{}",
    ] {
        let moved = board.moved(|| assert_eq!(lane(body).status, 400, "{body}"));
        assert_eq!(moved, [("lane.refused", 1)].into(), "{body}");
    }
    assert!(lane(r#"{"sid":"x"}"#).json()["reason"].is_string());
}

/// HTTP-070, LIFE-071.
#[test]
fn http_070_life_071_shutdown_in_its_order() {
    let board = Board::new();
    let reply = board.ask("POST", "/api/shutdown", &[("Content-Length", "5")], b"junk!");
    assert_eq!(reply.text(), r#"{"ok":true,"stopping":true}"#);
    eventually("the word to stop", || board.log.lock().unwrap().len() == 2);
    assert_eq!(*board.log.lock().unwrap(), ["quieten", "stop"]);
    assert_eq!(board.get("/api/stream").status, 503, "no stream is opened any more");
}

/// HTTP-023.
#[test]
fn http_023_no_plain_get_moves_the_published_revision() {
    let board = Board::new();
    board.get("/api/data");
    let before = board.publisher.current(false).unwrap().revision;
    for (method, path) in targets() {
        if method == "GET" && !path.contains("stream") {
            board.get(&path);
        }
    }
    assert_eq!(board.publisher.current(false).unwrap().revision, before);
    assert_eq!(board.collections.load(Ordering::SeqCst), 1);
}

/// HTTP-065.
#[test]
fn http_065_a_reply_without_content() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let shape = move |app: cargento::http::App| {
        app.on(Feature::AskPoll, move |call| {
            counted.fetch_add(1, Ordering::SeqCst);
            assert_eq!(call.tail, "a1");
            Reply::no_content()
        })
    };
    let board = Plan { shape: Box::new(shape), ..Plan::default() }.board();
    let reply = board.get("/api/ask/a1");
    assert_eq!((reply.status, reply.header("cache-control"), reply.body.len()), (204, Some("no-store"), 0));
    assert_eq!((reply.header("content-security-policy"), reply.header("content-length")), (None, None));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}
