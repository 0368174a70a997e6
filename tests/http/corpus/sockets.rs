//! What is done with a connection itself, and routes that are switched off.

use super::{Corpus, SWITCHED, latin, plain};
use serde_json::json;

pub fn sockets(c: &mut Corpus) {
    let ok = |c: &mut Corpus, name: &str, text: &str| {
        c.head(name, text, 200, "");
    };
    ok(c, "bare line feeds", "GET /api/health HTTP/1.1\nHost: localhost\n\n");
    ok(c, "an empty line first", "\r\nGET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ok(c, "pipelined requests", &plain("GET", "/api/health", "").repeat(5));
    ok(
        c,
        "a shutdown behind a request",
        &format!("{}{}", plain("GET", "/api/health", ""), plain("POST", "/api/shutdown", "Content-Length: 0\r\n")),
    );
    ok(c, "an absolute target", "GET http://localhost:{port}/api/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ok(c, "a body on a GET", &format!("{}{{}}", plain("GET", "/api/health", "Content-Length: 2\r\n")));
    ok(c, "a useless length on a GET", &plain("GET", "/api/health", "Content-Length: x\r\n"));
    ok(
        c,
        "forwarding headers from this machine",
        &plain("GET", "/api/health", "X-Forwarded-For: 203.0.113.9\r\nForwarded: for=203.0.113.9\r\n"),
    );
    c.head(
        "a foreign absolute target",
        "GET http://evil.example/api/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
        403,
        "gate.host",
    );
    for (name, bytes) in [
        ("one word", b"GET\r\n\r\n".as_slice()),
        ("no version", b"GET /api/health\r\nHost: localhost\r\n\r\n"),
        ("two blanks", b"GET  /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ("a blank in the target", b"GET /api /health HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ("a tab in the target", b"GET /api\t/health HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ("a NUL in the target", b"GET /api\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ("a method that is no token", b"G(T / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ("version nine tenths", b"GET / HTTP/0.9\r\nHost: localhost\r\n\r\n"),
        ("version without a minor", b"GET / HTTP/1\r\nHost: localhost\r\n\r\n"),
        ("a folded line", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n"),
        ("a blank before the colon", b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n"),
        ("a NUL in a header", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n"),
        ("a bare carriage return in a header", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n"),
        ("a line without a colon", b"GET / HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n"),
        ("a nameless line", b"GET / HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n"),
        ("two hosts", b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"),
        ("two hosts, the foreign one first", b"GET / HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\n\r\n"),
        ("a TLS greeting", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n"),
    ] {
        c.case(name, vec![json!(latin(bytes))], 400, "http.malformed");
    }
    for (name, head) in [
        ("HTTP/2", "GET / HTTP/2.0\r\nHost: localhost\r\n\r\n"),
        ("the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("HTTP/3", "GET / HTTP/3.0\r\n\r\n"),
    ] {
        c.head(name, head, 505, "http.version");
    }
    let start = "GET /api/health HTTP/1.1\r\nHost: localhost\r\n";
    c.case(
        "a request line too long",
        vec![json!("GET /"), json!({"repeat": "a", "times": 65_532})],
        414,
        "http.too-long",
    );
    c.case(
        "a header line too long",
        vec![json!(start), json!("X: "), json!({"repeat": "a", "times": 65_534})],
        431,
        "http.headers",
    );
    c.case(
        "too many headers",
        vec![json!(start), json!({"repeat": "X: a\r\n", "times": 100}), json!("\r\n")],
        431,
        "http.headers",
    );
    c.case("a hundred headers", vec![json!(start), json!({"repeat": "X: a\r\n", "times": 99}), json!("\r\n")], 200, "");
    c.case(
        "a head that never ends",
        vec![json!(start), json!({"repeat": format!("X: {}\r\n", "a".repeat(9000)), "times": 40})],
        431,
        "http.headers",
    );
    c.case(
        "a long path",
        vec![json!("GET /"), json!({"repeat": "a", "times": 60_000}), json!(" HTTP/1.1\r\nHost: localhost\r\n\r\n")],
        404,
        "http.path",
    );
    for target in [
        "/../../etc/passwd",
        "/assets/../../etc/passwd",
        "/assets/..%2f..%2fetc/passwd",
        "/assets/%2e%2e/Cargo.toml",
        "/assets//etc/passwd",
        "/assets/",
        "/assets/index.html",
        "/assets/APP.JS",
        "/assets/app.js/",
        "/assets/app.js%00",
        "/static/app.js",
        "/index.html",
        "/.cargento/cargento-4553.json",
        "/%61pi/data",
        "/api/../api/data",
        "/api/data/",
        "/api//data",
        "/API/data",
        "//api/data",
        "/?next",
        "/?next=1",
        "/assets/xterm.js",
        "/api/interaction/x",
        "localhost:4553",
        "*",
        "https://localhost/api/data",
        "file:///etc/passwd",
        "/\u{e9}",
    ] {
        c.head(format!("target {target}"), &plain("GET", target, ""), 404, "http.path");
    }
    for op in ["state", "view", "origin", "stream"] {
        c.head(
            format!("interaction {op} while off"),
            &plain("GET", &format!("/api/interaction/{op}"), ""),
            404,
            "off.interaction",
        );
    }
    for op in ["register", "renew", "input", "x"] {
        let path = format!("/api/interaction/{op}");
        c.post("while off", &path, vec![json!("{}")], 2, 404, "off.interaction");
    }
    for (name, head, end, counter) in [
        ("half a head, closed", "GET /api/hea", "half", "http.disconnect"),
        ("half a head, reset", "GET /api/hea", "reset", "http.disconnect"),
        ("no byte, closed", "", "half", ""),
        (
            "half a body, closed",
            "POST /api/notify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
            "half",
            "http.disconnect",
        ),
        (
            "half a body, reset",
            "POST /api/notify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
            "reset",
            "http.disconnect",
        ),
    ] {
        c.head(name, head, 0, counter)["end"] = json!(end);
    }
    c.head("a whole request, closed", &plain("GET", "/api/health", ""), 200, "")["end"] = json!("half");
    for (name, head, drip) in [
        ("a silent connection", "", ""),
        ("a head byte by byte", "GET / HTTP/1.1\r\nX: ", "a"),
        ("a body that never comes", "POST /api/notify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n", ""),
        ("a body byte by byte", "POST /api/notify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n", " "),
    ] {
        let case = c.head(name, head, 0, "http.slow");
        case["drip"] = json!(drip);
    }
}

pub fn switched_off(c: &mut Corpus) {
    c.board = "off";
    for (method, path, counter, status) in SWITCHED {
        c.head(format!("off: {method} {path}"), &plain(method, path, ""), status, counter);
        c.head(
            format!("off: {method} {path}: a foreign host"),
            &format!("{method} {path} HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
            403,
            "gate.host",
        );
        if method == "POST" {
            for declared in ["99999999", "junk", "2"] {
                let head = plain(method, path, &format!("Content-Length: {declared}\r\n"));
                c.head(format!("off: {path}: length {declared}, nothing sent"), &head, status, counter);
            }
        }
    }
}
