//! Gate, route table, bodies and envelopes (HTTP spec sections 1 to 3).

use super::board::{Board, Plan, every};
use cargento::http::route::{Method, Off, Path, ROUTES, Take, To};
use cargento::http::{Feature, HostMode, Reply};
use cargento::surface::listen::Limits;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A request line for every row of the table.
pub fn targets() -> Vec<(&'static str, String)> {
    ROUTES
        .iter()
        .map(|route| {
            let method = if route.method == Method::Get { "GET" } else { "POST" };
            let path = match route.path {
                Path::Exact(path) => path.to_owned(),
                Path::Under("/assets/") => "/assets/app.js".into(),
                Path::Under(path) => format!("{path}claude"),
            };
            (method, path)
        })
        .collect()
}

/// GATE-009, GATE-010.
#[test]
fn gate_009_010_a_foreign_host_or_origin_is_403_everywhere_in_the_same_bytes() {
    let board = Board::new();
    let mut replies = Vec::new();
    let mut all = targets();
    all.extend([("GET", "/nowhere".into()), ("POST", "/nowhere".into())]);
    for (method, path) in all {
        replies.push(board.ask(method, &path, &[("Host", "evil.example:4553")], b"{}").raw);
        replies.push(board.ask(method, &path, &[("Origin", "http://evil.example")], b"{}").raw);
        replies.push(
            board.ask(method, &path, &[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")], b"{}").raw,
        );
    }
    assert!(replies[0].starts_with(b"HTTP/1.1 403 Forbidden\r\n"));
    assert!(replies.iter().all(|raw| *raw == replies[0]));
    assert_eq!(board.collections.load(Ordering::SeqCst), 0, "a refused caller makes nothing run");
}

/// GATE-010.
#[test]
fn gate_010_links_open_the_page_and_the_board_but_no_frame_and_no_post() {
    let board = Board::new();
    let link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    let frame = [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")];
    for path in ["/", "/api/data", "/api/health"] {
        assert_eq!(board.ask("GET", path, &link, b"").status, 200, "{path}");
    }
    for path in ["/api/cleared", "/api/session", "/api/ask/x", "/api/stream"] {
        assert_eq!(board.ask("GET", path, &link, b"").status, 403, "{path}");
    }
    assert_eq!(board.ask("GET", "/", &frame, b"").status, 200);
    for path in ["/api/stream", "/api/ask/x", "/api/session"] {
        let moved = board.moved(|| assert_eq!(board.ask("GET", path, &frame, b"").status, 403, "{path}"));
        assert_eq!(moved, [("gate.frame", 1)].into());
    }
    let moved = board.moved(|| assert_eq!(board.ask("POST", "/api/notify", &link, b"{}").status, 403));
    assert_eq!(moved, [("gate.site", 1)].into());
    let press = [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    let moved = board.moved(|| assert_eq!(board.ask("POST", "/api/reading", &press, b"{}").status, 403));
    assert_eq!(moved, [("gate.navigation", 1)].into());
}

/// GATE-014.
#[test]
fn gate_014_two_hosts_are_400_and_a_foreign_absolute_target_is_403() {
    let board = Board::new();
    for hosts in [["127.0.0.1", "evil.example"], ["evil.example", "127.0.0.1"], ["127.0.0.1", "127.0.0.1"]] {
        let moved = board.moved(|| {
            assert_eq!(board.ask("GET", "/api/data", &[("Host", hosts[0]), ("Host", hosts[1])], b"").status, 400)
        });
        assert_eq!(moved, [("http.malformed", 1)].into());
    }
    assert_eq!(board.get(&format!("http://localhost:{}/api/data?all=1", board.port)).json()["show_all"], true);
    let moved = board.moved(|| assert_eq!(board.get("http://evil.example/api/data").status, 403));
    assert_eq!(moved, [("gate.host", 1)].into());
    assert_eq!(board.get("https://127.0.0.1/api/data").status, 404);
}

/// GATE-015.
#[test]
fn gate_015_a_wide_bind_admits_literals_and_keeps_names_out() {
    let board = Plan { mode: HostMode::Wide, ..Plan::default() }.board();
    let (own, named) = (format!("192.168.1.5:{}", board.port), format!("evil.example:{}", board.port));
    assert_eq!(board.ask("GET", "/api/data", &[("Host", &own), ("Origin", &format!("http://{own}"))], b"").status, 200);
    assert_eq!(board.ask("GET", "/api/data", &[("Host", &named)], b"").status, 403);
    assert_eq!(
        board.ask("GET", "/api/data", &[("Host", &own), ("Origin", &format!("http://{named}"))], b"").status,
        403
    );
    assert_eq!(board.ask("GET", "/api/data", &[("Host", &own), ("Sec-Fetch-Site", "cross-site")], b"").status, 403);
}

/// An address of this machine that is not loopback; nothing is sent to find it.
fn own_address() -> Option<std::net::IpAddr> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    socket.local_addr().ok().map(|a| a.ip()).filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

/// GATE-008, GATE-015.
#[test]
fn gate_008_015_from_another_address_the_loopback_routes_stay_shut() {
    let Some(address) = own_address() else { return };
    let board = Plan { mode: HostMode::Wide, ..Plan::default() }.board();
    let ask = |method: &str, path: &str, more: &str| {
        let mut stream = std::net::TcpStream::connect((address, board.port)).unwrap();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nX-Forwarded-For: 127.0.0.1\r\n{more}\r\n");
        std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
        super::board::finish(&mut stream).status
    };
    for (method, path) in [("GET", "/assets/xterm.js"), ("POST", "/api/reading"), ("POST", "/api/reading/cancel")] {
        let moved = board.moved(|| assert_eq!(ask(method, path, ""), 403, "{method} {path}"));
        assert_eq!(moved, [("gate.peer", 1)].into());
    }
    assert_eq!(
        (ask("GET", "/", ""), ask("GET", "/assets/app.js", ""), ask("GET", "/api/data?usage=1", "")),
        (200, 200, 200)
    );
    assert_eq!(board.quota_asked.load(Ordering::SeqCst), 0, "USE-076");
    assert_eq!(ask("GET", "/", "Sec-Fetch-Site: cross-site\r\n"), 403);
}

/// HTTP-005, HTTP-021.
#[test]
fn http_005_021_other_methods_are_501_and_other_paths_404() {
    let board = Board::new();
    for method in ["HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "BREW", "get", "POSTS"] {
        for target in ["/", "/api/data", "/nowhere", "*"] {
            let moved =
                board.moved(|| assert_eq!(board.ask(method, target, &[], b"").status, 501, "{method} {target}"));
            assert_eq!(moved, [("http.method", 1)].into());
        }
    }
    for (method, path) in targets() {
        let other = if method == "GET" { "POST" } else { "GET" };
        // The one path that has both methods below one prefix.
        if !path.starts_with("/api/interaction/") && !path.starts_with("/api/ask") {
            let moved = board.moved(|| assert_eq!(board.ask(other, &path, &[], b"").status, 404, "{other} {path}"));
            assert_eq!(moved, [("http.path", 1)].into(), "{other} {path}");
        }
    }
}

/// HTTP-007, HTTP-008, HTTP-093.
#[test]
fn http_007_008_093_composed_replies_carry_the_policy_and_none_is_shared_across_origins() {
    let board = Board::new();
    let mut replies: Vec<_> = [
        "/",
        "/?all=1",
        "/assets/app.js",
        "/assets/app.css",
        "/api/data",
        "/api/health",
        "/api/cleared",
        "/api/overlays",
    ]
    .map(|path| board.get(path))
    .into();
    replies.extend(["/api/notify", "/api/usage", "/api/dismiss"].map(|path| board.post(path, b"{}")));
    for reply in &replies {
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("content-security-policy"), Some("frame-ancestors 'none'"));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("content-length"), Some(reply.body.len().to_string().as_str()));
        assert!(reply.header("date").is_some() && reply.header("x-frame-options").is_none() && reply.closed);
    }
    replies.extend([
        board.get("/nope"),
        board.ask("PUT", "/", &[], b""),
        board.ask("POST", "/api/notify", &[("Content-Length", "99999999")], b""),
    ]);
    for reply in replies {
        assert!(!reply.headers.iter().any(|(name, _)| name.to_ascii_lowercase().starts_with("access-control-")));
        if reply.status != 200 {
            assert_eq!(reply.header("content-type"), Some("text/html;charset=utf-8"));
            assert!(reply.text().contains(&reply.status.to_string()) && !reply.text().contains("nope"));
        }
    }
}

/// HTTP-011, HTTP-020, HTTP-090.
#[test]
fn http_011_020_090_every_post_route_in_the_order_of_its_refusals() {
    // A body that never comes is waited for before each refusal; HTTP-010's own test has the real time.
    let limits = Limits { drain: Duration::from_millis(10), ..Limits::default() };
    let board = Plan { limits: limits.clone(), ..Plan::default() }.board();
    let off = Plan { limits, ..Plan::default() }.without(&every()).board();
    for route in ROUTES.iter().filter(|r| r.method == Method::Post) {
        let (Path::Exact(base) | Path::Under(base)) = route.path;
        let path = if matches!(route.path, Path::Under(_)) { format!("{base}claude") } else { base.to_owned() };
        let (Take::Object(cap, _) | Take::ObjectFirst(cap, _)) = route.take else { continue };
        // On: the length is judged before anything is read, and nothing is ever sent.
        for declared in
            [(cap + 1).to_string(), "10000000000".into(), "-1".into(), "+5".into(), "abc".into(), "5,5".into()]
        {
            let begun = Instant::now();
            let moved = board.moved(|| {
                assert_eq!(
                    board.ask("POST", &path, &[("Content-Length", &declared)], b"").status,
                    413,
                    "{path} {declared}"
                )
            });
            assert_eq!(moved, [("http.length", 1)].into(), "{path} {declared}");
            assert!(begun.elapsed() < Duration::from_millis(900), "{path} {declared}");
        }
        // Exactly the cap is read; one byte more is not.
        let body = format!("{{\"pad\":\"{}\"}}", "x".repeat(cap as usize - 10));
        let status = if path == "/api/lane" { 400 } else { 200 };
        assert_eq!(board.post(&path, body.as_bytes()).status, status, "{path}");
        assert_eq!(board.post(&path, format!("{body} ").as_bytes()).status, 413, "{path}");
        // Off: whatever the length says, but the gate still comes first.
        if let To::Feature(_, off_answer) = route.to {
            assert_eq!(off.ask("POST", &path, &[("Host", "evil.example")], b"{}").status, 403, "{path}");
            let (status, counter) = match off_answer {
                Off::Unavailable(counter, _) | Off::Disabled(counter) => (503, counter),
                Off::Absent(counter) => (404, counter),
                Off::Dropped(counter) => (200, counter),
            };
            let first = matches!(route.take, Take::ObjectFirst(..)) || matches!(off_answer, Off::Dropped(_));
            let moved = off.moved(|| assert_eq!(off.post(&path, b"{}").status, status, "{path}"));
            assert_eq!(moved, [(counter, 1)].into(), "{path}");
            for declared in ["99999999", "junk"] {
                let want = if first { 413 } else { status };
                assert_eq!(
                    off.ask("POST", &path, &[("Content-Length", declared)], b"").status,
                    want,
                    "{path} {declared}"
                );
            }
        }
    }
    assert_eq!(off.post("/api/ask", b"{}").text(), r#"{"ok":false,"reason":"disabled"}"#);
    assert_eq!(off.post("/api/usage", b"{}").text(), r#"{"ok":true,"usage":0}"#);
    assert_eq!(off.get("/api/overlays").reason, "no event coordinator on this server");
}

/// HTTP-012.
#[test]
fn http_012_lenient_and_strict_bodies() {
    let board = Board::new();
    let deep = ["[".repeat(500), "{\"a\":".repeat(150)];
    for body in ["", "nonsense", "[]", "7", "null", "\"text\"", "{", "{\"a\":", &deep[0], &deep[1]] {
        let moved =
            board.moved(|| assert_eq!(board.post("/api/dismiss", body.as_bytes()).json()["members"], 0, "{body:.9}"));
        assert_eq!(moved, [("body.empty-object", 1)].into());
        for path in ["/api/tripwire", "/api/lane", "/api/interaction/register"] {
            let moved = board.moved(|| {
                assert_eq!(board.post(path, &body.as_bytes()[..body.len().min(500)]).status, 400, "{path} {body:.9}")
            });
            assert_eq!(moved, [("body.refused", 1)].into());
        }
    }
    assert_eq!(board.post("/api/usage", "[".repeat(131_072).as_bytes()).status, 200);
    assert_eq!(board.post("/api/tripwire", b"[]").json()["status"], 400, "HTTP-078");
}

/// HTTP-010.
#[test]
fn http_010_an_unsent_body_holds_a_refusal_for_a_quarter_second_at_most() {
    let board = Plan::default().without(&every()).board();
    for (path, lines) in [
        ("/api/dismiss", [("Content-Length", "900")]),
        ("/nowhere", [("Content-Length", "900")]),
        ("/api/notify", [("Content-Length", "9000000")]),
    ] {
        let begun = Instant::now();
        assert!([404, 413, 503].contains(&board.ask("POST", path, &lines, b"").status), "{path}");
        assert!(begun.elapsed() < Duration::from_millis(500), "{path} took {:?}", begun.elapsed());
    }
    // A megabyte on its way is read away, so the status is seen and not a reset.
    let reply = board.ask("POST", "/api/notify", &[("Content-Length", "1000000")], &vec![b'x'; 1_000_000]);
    assert_eq!(reply.status, 503);
}

/// HTTP-073, HTTP-074.
#[test]
fn http_073_074_a_guard_comes_after_the_switch_and_before_the_length() {
    let shape = |app: cargento::http::App| {
        app.guard(Feature::Events, |call| match (call.tail, call.capability()) {
            ("claude", Some("right")) => None,
            ("claude", _) => Some(Reply::error(403)),
            _ => Some(Reply::error(404)),
        })
    };
    let board = Plan { shape: Box::new(shape), ..Plan::default() }.board();
    let too_long = ("Content-Length", "999999");
    assert_eq!(board.ask("POST", "/api/events/nobody", &[too_long], b"").status, 404);
    assert_eq!(board.ask("POST", "/api/events/", &[too_long], b"").status, 404);
    for lines in [
        vec![too_long],
        vec![("X-Cargento-Capability", ""), too_long],
        vec![("X-Cargento-Capability", "é"), too_long],
        vec![("X-Cargento-Capability", "right"), ("X-Cargento-Capability", "right"), too_long],
    ] {
        assert_eq!(board.ask("POST", "/api/events/claude", &lines, b"").status, 403, "{lines:?}");
    }
    assert_eq!(
        board.ask("POST", "/api/events/claude", &[("X-Cargento-Capability", "right"), too_long], b"").status,
        413
    );
    assert_eq!(
        board.ask("POST", "/api/events/claude?x=1", &[("X-Cargento-Capability", "right")], b"{}").json()["tail"],
        "claude"
    );
}
