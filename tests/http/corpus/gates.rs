//! Heads that no route may ever see: hosts, origins, methods, targets.

use super::{Corpus, GETS, LENIENT, STRICT, TYPED, plain};

pub fn gates(c: &mut Corpus) {
    let posts = LENIENT.iter().chain(&STRICT).chain(&TYPED).map(|(path, _)| ("POST", *path));
    let others = [
        ("POST", "/api/shutdown"),
        ("POST", "/api/events/claude"),
        ("POST", "/api/focus"),
        ("POST", "/api/interaction/register"),
    ];
    let all: Vec<_> = GETS.iter().map(|path| ("GET", *path)).chain(posts).chain(others).collect();
    for (method, path) in all {
        let head = |host: &str, lines: &str| format!("{method} {path} HTTP/1.1\r\n{host}{lines}\r\n");
        c.head(format!("{method} {path}: a foreign host"), &head("Host: evil.example\r\n", ""), 403, "gate.host");
        let spoof = "X-Forwarded-Host: 127.0.0.1\r\nX-Forwarded-For: 127.0.0.1\r\nX-Real-IP: ::1\r\nForwarded: for=127.0.0.1;host=localhost\r\n";
        c.head(
            format!("{method} {path}: a foreign host with forwarding headers"),
            &head("Host: evil.example\r\n", spoof),
            403,
            "gate.host",
        );
        c.head(format!("{method} {path}: no host"), &head("", ""), 403, "gate.host");
        c.head(
            format!("{method} {path}: a foreign origin"),
            &head("Host: localhost\r\n", "Origin: http://evil.example\r\n"),
            403,
            "gate.origin",
        );
        c.head(
            format!("{method} {path}: another site"),
            &head("Host: localhost\r\n", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"),
            403,
            "gate.site",
        );
        let other = if method == "GET" { "POST" } else { "GET" };
        if !["/api/ask/x", "/api/ask", "/api/ask/withdraw", "/api/interaction/register"].contains(&path) {
            c.head(format!("{other} {path}: the other method"), &plain(other, path, ""), 404, "http.path");
        }
        c.head(format!("PUT {path}"), &plain("PUT", path, ""), 501, "http.method");
    }
    let link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
    for path in [
        "/api/overlays",
        "/api/cleared",
        "/api/annotations",
        "/api/session",
        "/api/project-context",
        "/api/observe",
        "/api/stream",
        "/api/ask/x",
    ] {
        c.head(format!("GET {path}: a link from another site"), &plain("GET", path, link), 403, "gate.site");
    }
    for path in ["/", "/api/data", "/api/health"] {
        c.head(format!("GET {path}: a link from another site"), &plain("GET", path, link), 200, "");
    }
    for dest in ["iframe", "frame", "embed", "object", "fencedframe"] {
        for path in ["/api/stream", "/api/session", "/api/ask/x"] {
            c.head(
                format!("GET {path}: inside {dest}"),
                &plain("GET", path, &format!("Sec-Fetch-Dest: {dest}\r\n")),
                403,
                "gate.frame",
            );
        }
    }
    let press = "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
    for path in ["/api/reading", "/api/reading/cancel"] {
        c.head(format!("POST {path}: a navigation"), &plain("POST", path, press), 403, "gate.navigation");
        c.head(
            format!("POST {path}: inside a frame"),
            &plain("POST", path, "Sec-Fetch-Dest: iframe\r\n"),
            403,
            "gate.frame",
        );
        c.head(
            format!("POST {path}: a sibling site"),
            &plain("POST", path, "Sec-Fetch-Site: same-site\r\n"),
            403,
            "gate.site",
        );
    }
    for origin in [
        "null",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "http://localhost.:{port}",
        "http://127.0.0.1:{port}0",
        "http://user@127.0.0.1:{port}",
        "file://",
    ] {
        c.head(
            format!("origin {origin}"),
            &plain("POST", "/api/notify", &format!("Origin: {origin}\r\n")),
            403,
            "gate.origin",
        );
    }
    for origin in ["http://127.0.0.1:{port}", "http://localhost:{port}", "http://[::1]:{port}"] {
        c.head(format!("origin {origin}"), &plain("GET", "/api/data", &format!("Origin: {origin}\r\n")), 200, "");
    }
}
