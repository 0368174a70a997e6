//! The hostile corpus (TRUST-045..047): what is sent, and exactly what it may cost.
//!
//! The bytes that count are those of `fixtures/hostile/corpus.jsonl`; this is where they come from. A case holds
//! whatever the features behind the routes do: it is refused before them, or reaches one with nothing to do.
//! Run the tests with `CARGENTO_WRITE_CORPUS=1` after a change here.

use serde_json::{Value, json};

/// Body cap of every route that reads one, and how it takes what is no object.
const LENIENT: [(&str, usize); 5] = [
    ("/api/notify", 65_536),
    ("/api/usage", 131_072),
    ("/api/dismiss", 1024),
    ("/api/ask/withdraw", 1024),
    ("/api/answer", 1024),
];
const STRICT: [(&str, usize); 4] =
    [("/api/tripwire", 1024), ("/api/lane", 512), ("/api/reading", 12_288), ("/api/reading/cancel", 12_288)];
const TYPED: [(&str, usize); 2] = [("/api/annotate", 12_288), ("/api/ask", 8192)];
const GETS: [&str; 13] = [
    "/",
    "/assets/app.js",
    "/assets/none.js",
    "/api/data",
    "/api/health",
    "/api/stream",
    "/api/overlays",
    "/api/cleared",
    "/api/annotations",
    "/api/session",
    "/api/project-context",
    "/api/observe",
    "/api/ask/x",
];
/// Routes with a switch, and the counter of it.
const SWITCHED: [(&str, &str, &str, u16); 13] = [
    ("GET", "/api/overlays", "off.events", 503),
    ("GET", "/api/cleared", "off.dismiss", 503),
    ("GET", "/api/annotations", "off.annotations", 503),
    ("GET", "/api/session", "off.deck", 503),
    ("GET", "/api/ask/x", "off.ask", 503),
    ("POST", "/api/events/claude", "off.events", 404),
    ("POST", "/api/focus", "off.focus", 503),
    ("POST", "/api/dismiss", "off.dismiss", 503),
    ("POST", "/api/annotate", "off.annotations", 503),
    ("POST", "/api/tripwire", "off.tripwires", 503),
    ("POST", "/api/ask", "off.ask", 503),
    ("POST", "/api/ask/withdraw", "off.ask", 503),
    ("POST", "/api/answer", "off.ask", 503),
];

/// The corpus under construction.
struct Corpus {
    cases: Vec<Value>,
    /// `on` with a stand-in for every feature, `off` with every switch, `real` with the features of the real binary.
    board: &'static str,
}

/// Bytes as text of the code points 0 to 255, as the file has them.
fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|b| *b as char).collect()
}

impl Corpus {
    /// One case: the parts sent, the status (0: closed without a reply), the one counter that moves.
    fn case(&mut self, name: impl Into<String>, send: Vec<Value>, status: u16, counter: &str) -> &mut Value {
        let counters = if counter.is_empty() { json!({}) } else { json!({counter: 1}) };
        self.cases.push(
            json!({"name": name.into(), "board": self.board, "send": send, "status": status, "counters": counters}),
        );
        let last = self.cases.len() - 1;
        &mut self.cases[last]
    }

    /// A case of one head and nothing else.
    fn head(&mut self, name: impl Into<String>, head: &str, status: u16, counter: &str) -> &mut Value {
        self.case(name, vec![json!(head)], status, counter)
    }

    /// A POST with a body of its declared length.
    fn post(
        &mut self,
        name: &str,
        path: &str,
        body: Vec<Value>,
        length: usize,
        status: u16,
        counter: &str,
    ) -> &mut Value {
        let head = format!("POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\n\r\n");
        self.case(format!("{path}: {name}"), [vec![json!(head)], body].concat(), status, counter)
    }
}

fn plain(method: &str, path: &str, lines: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}\r\n")
}

/// Bodies that are no object, with their lengths.
fn unusable() -> Vec<(&'static str, Vec<Value>, usize)> {
    let text: [(&str, &[u8]); 17] = [
        ("nothing", b""),
        ("nonsense", b"nonsense"),
        ("an unfinished object", b"{\"a\":1"),
        ("truncation inside a token", b"{\"a\":tru"),
        ("truncation inside a string", b"{\"a\":\"x"),
        ("a missing colon", b"{\"a\" 1}"),
        ("a trailing comma", b"{\"a\":1,}"),
        ("text behind the object", b"{}{}"),
        ("null", b"null"),
        ("a number", b"7"),
        ("a string", b"\"{}\""),
        ("a list", b"[{}]"),
        ("raw control characters", b"{\"a\":\"\x00\x01\x1f\"}"),
        ("invalid UTF-8", b"{\"a\":\"\xff\xfe\"}"),
        ("UTF-16", b"\xff\xfe{\x00}\x00"),
        ("a lone surrogate", b"{\"a\":\"\\ud800\"}"),
        ("not a number", b"{\"a\":NaN,\"b\":Infinity}"),
    ];
    let mut bodies: Vec<_> =
        text.into_iter().map(|(name, body)| (name, vec![json!(latin(body))], body.len())).collect();
    for (name, piece) in [("100,000 lists", "["), ("100,000 objects", "{\"a\":")] {
        bodies.push((name, vec![json!({"repeat": piece, "times": 100_000})], piece.len() * 100_000));
    }
    bodies.push((
        "200 levels",
        vec![json!({"repeat": "{\"a\":", "times": 200}), json!({"repeat": "}", "times": 200})],
        1200,
    ));
    bodies
}

/// Objects that mean nothing to the routes of [`LENIENT`].
fn idle() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("an empty object", b"{}".to_vec()),
        ("a byte order mark", b"\xef\xbb\xbf{}".to_vec()),
        ("escaped control characters", b"{\"zz\":\"\\u0000\\u0001\\u001f\"}".to_vec()),
        ("__proto__", b"{\"__proto__\":{\"ok\":false}}".to_vec()),
        ("constructor.prototype", b"{\"constructor\":{\"prototype\":{\"ok\":false}}}".to_vec()),
        ("unknown members", b"{\"zz\":[1,{\"y\":null}],\"\":0}".to_vec()),
        ("a repeated unknown member", b"{\"zz\":1,\"zz\":2}".to_vec()),
        ("a hundred levels", format!("{{\"zz\":{}{}}}", "[".repeat(100), "]".repeat(100)).into_bytes()),
    ]
}

fn gates(c: &mut Corpus) {
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

fn lengths(c: &mut Corpus) {
    for (path, cap) in LENIENT.into_iter().chain(STRICT).chain(TYPED) {
        for declared in [
            (cap + 1).to_string(),
            "-1".into(),
            "+5".into(),
            "5,5".into(),
            "0x10".into(),
            "99999999999999999999".into(),
        ] {
            let head = plain("POST", path, &format!("Content-Length: {declared}\r\n"));
            c.head(format!("{path}: length {declared}"), &head, 413, "http.length");
        }
        c.post(
            "one byte over the cap",
            path,
            vec![json!({"repeat": " ", "times": cap + 1})],
            cap + 1,
            413,
            "http.length",
        );
        let two = plain("POST", path, "Content-Length: 2\r\nContent-Length: 5\r\n");
        c.head(format!("{path}: two lengths"), &format!("{two}{{}}abc"), 400, "http.malformed");
        let chunked = plain("POST", path, "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n");
        c.head(format!("{path}: a length beside chunks"), &format!("{chunked}{{}}"), 400, "http.malformed");
    }
    for (path, cap) in LENIENT {
        for length in [cap - 1, cap] {
            c.post(
                &format!("{length} bytes of junk, the cap or one below"),
                path,
                vec![json!({"repeat": "x", "times": length})],
                length,
                200,
                "body.empty-object",
            );
        }
        let chunks = format!("{}2\r\n{{}}\r\n0\r\n\r\n", plain("POST", path, "Transfer-Encoding: chunked\r\n"));
        c.head(format!("{path}: chunks alone count as no body"), &chunks, 200, "body.empty-object");
        let same = format!("{}{{}}", plain("POST", path, "Content-Length: 2\r\nContent-Length: 2\r\n"));
        c.head(format!("{path}: one length twice"), &same, 200, "");
        let more = format!("{}{{}}{{\"x\":1}}", plain("POST", path, "Content-Length: 2\r\n"));
        c.head(format!("{path}: an understated length"), &more, 200, "");
        for kind in ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", ""] {
            let typed =
                format!("{}{{}}", plain("POST", path, &format!("Content-Type: {kind}\r\nContent-Length: 2\r\n")));
            c.head(format!("{path}: content type {kind:?}"), &typed, 200, "");
        }
    }
    for (path, cap) in STRICT {
        for length in [cap - 1, cap] {
            c.post(
                &format!("{length} bytes of junk, the cap or one below"),
                path,
                vec![json!({"repeat": "x", "times": length})],
                length,
                400,
                "body.refused",
            );
        }
    }
}

fn bodies(c: &mut Corpus) {
    for (path, cap, status, counter) in LENIENT
        .into_iter()
        .map(|(path, cap)| (path, cap, 200, "body.empty-object"))
        .chain(STRICT.into_iter().map(|(path, cap)| (path, cap, 400, "body.refused")))
    {
        for (name, body, length) in unusable() {
            let (status, counter) = if length > cap { (413, "http.length") } else { (status, counter) };
            c.post(name, path, body, length, status, counter);
        }
    }
    for (path, _) in LENIENT {
        for (name, body) in idle() {
            c.post(name, path, vec![json!(latin(&body))], body.len(), 200, "");
        }
    }
    let kinds = ["null", "true", "false", "0", "-1.5e300", "\"\"", "\"granted\"", "[]", "[true]", "{}"];
    for kind in kinds {
        for (field, fits, other) in [
            ("supported", ["true", "false"].as_slice(), "\"permission\":\"denied\""),
            ("permission", &["\"\"", "\"granted\""], "\"supported\":false"),
        ] {
            let body = format!("{{\"{field}\":{kind},{other}}}");
            let (status, counter) = if fits.contains(&kind) { (200, "") } else { (400, "lane.refused") };
            c.post(&format!("{field} {kind}"), "/api/lane", vec![json!(body)], body.len(), status, counter);
        }
    }
    for more in ["harness", "sid", "session", "session_id", "resume_id", "outcome", "at", "__proto__"] {
        let body = format!("{{\"supported\":true,\"permission\":\"granted\",\"{more}\":\"x\"}}");
        c.post(&format!("with {more}"), "/api/lane", vec![json!(body)], body.len(), 400, "lane.refused");
    }
    let body = "{\"supported\":true,\"permission\":\"granted\"}";
    c.post("a working lane", "/api/lane", vec![json!(body)], body.len(), 200, "")["revision"] = json!("dropped");
}

fn sockets(c: &mut Corpus) {
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

fn switched_off(c: &mut Corpus) {
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

/// One value of every kind that JSON has.
const KINDS: [&str; 8] = ["null", "true", "0", "1.0", "-1", "\"\"", "[]", "{}"];
const EVENT: &str = "/api/events/claude";
const SESSION: &str = "019fa752-aaaa-4000-8000-000000000001";

/// An event with a harness's own token, which stands for the case in the file.
fn event<'c>(
    c: &'c mut Corpus,
    name: &str,
    body: Vec<Value>,
    length: usize,
    status: u16,
    counters: Value,
) -> &'c mut Value {
    let lines = format!("X-Cargento-Capability: {{token:claude}}\r\nContent-Length: {length}\r\n");
    let case = c.case(format!("event: {name}"), [vec![json!(plain("POST", EVENT, &lines))], body].concat(), status, "");
    case["counters"] = counters;
    case
}

/// The event route: whose it is, whose token, and what an envelope may say (EVT-002, EVT-030).
fn events(c: &mut Corpus) {
    let path = |tail: &str| format!("/api/events/{tail}");
    for tail in ["", "nobody", "claude/", "claude/x", "CLAUDE", "%63laude", "copilot", "cursor", "goose"] {
        let head = plain("POST", &path(tail), "X-Cargento-Capability: {token:claude}\r\nContent-Length: 2\r\n");
        c.head(format!("event: source {tail:?}"), &format!("{head}{{}}"), 404, "http.path");
    }
    for (name, lines) in [
        ("no token", String::new()),
        ("an empty token", "X-Cargento-Capability:\r\n".into()),
        ("a made-up token", format!("X-Cargento-Capability: {}\r\n", "0".repeat(64))),
        ("another harness's token", "X-Cargento-Capability: {token:codex}\r\n".into()),
        (
            "the token twice",
            "X-Cargento-Capability: {token:claude}\r\nX-Cargento-Capability: {token:claude}\r\n".into(),
        ),
        ("the token and a blank more", "X-Cargento-Capability: {token:claude} x\r\n".into()),
        ("the token as a bearer", "Authorization: Bearer {token:claude}\r\n".into()),
        ("the token as a cookie", "Cookie: X-Cargento-Capability={token:claude}\r\n".into()),
        ("a token of another alphabet", "X-Cargento-Capability: \u{e9}\r\n".into()),
    ] {
        // Judged before the length: an over-long body changes nothing about it.
        for length in ["2", "99999999"] {
            let head = plain("POST", EVENT, &format!("{lines}Content-Length: {length}\r\n"));
            c.head(format!("event: {name}, length {length}"), &format!("{head}{{}}"), 403, "cap.event");
        }
    }
    let head = plain("POST", &format!("{EVENT}?capability={{token:claude}}"), "Content-Length: 2\r\n");
    c.head("event: the token in the query", &format!("{head}{{}}"), 403, "cap.event");
    for declared in ["8193", "-1", "+5", "5,5", "99999999999999999999"] {
        let lines = format!("X-Cargento-Capability: {{token:claude}}\r\nContent-Length: {declared}\r\n");
        c.head(format!("event: length {declared}"), &plain("POST", EVENT, &lines), 413, "http.length");
    }
    let nothing = || json!({"reject.incompatible": 1});
    for length in [8191, 8192] {
        event(
            c,
            &format!("{length} bytes of junk"),
            vec![json!({"repeat": "x", "times": length})],
            length,
            200,
            nothing(),
        );
    }
    for (name, body, length) in unusable() {
        if length <= 8192 {
            event(c, name, body, length, 200, nothing())["outcome"] = json!("incompatible");
        } else {
            event(c, name, body, length, 413, json!({"http.length": 1}));
        }
    }
    let mut say = |name: String, body: String, outcome: &str| {
        let counter = format!("reject.{outcome}");
        event(c, &name, vec![json!(body)], body.len(), 200, json!({counter: 1}))["outcome"] = json!(outcome);
    };
    for kind in KINDS.into_iter().chain(["\"1\"", "2", "[1]"]) {
        say(
            format!("v {kind}"),
            format!("{{\"v\":{kind},\"event\":\"turn_started\",\"session_id\":\"{SESSION}\"}}"),
            "incompatible",
        );
    }
    for kind in
        KINDS.into_iter().chain(["\"nap\"", "\"TURN_STARTED\"", "\"turn_started\\u0000\"", "[\"turn_started\"]"])
    {
        say(
            format!("event {kind}"),
            format!("{{\"v\":1,\"event\":{kind},\"session_id\":\"{SESSION}\"}}"),
            "unknown-event",
        );
    }
    for kind in KINDS.into_iter().chain(["\"  \"", "[\"x\"]"]) {
        say(
            format!("session_id {kind}"),
            format!("{{\"v\":1,\"event\":\"turn_started\",\"session_id\":{kind}}}"),
            "malformed",
        );
    }
    let long = format!("\"{}\"", "a".repeat(201));
    say(
        "a session_id of 201 characters".into(),
        format!("{{\"v\":1,\"event\":\"turn_started\",\"session_id\":{long}}}"),
        "malformed",
    );
    for id in
        ["short", "../../../etc/passwd", "zzzzzzzz-zzzz", "\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9"]
    {
        say(
            format!("session id {id:?}"),
            format!("{{\"v\":1,\"event\":\"turn_started\",\"session_id\":\"{id}\"}}"),
            "unmappable-id",
        );
    }
    say("a version that is said twice".into(), "{\"v\":1,\"v\":2,\"event\":\"turn_started\"}".into(), "incompatible");
}

/// Typed words: every member of every kind, and nothing of a refused request is kept (ANN-041 to ANN-043).
fn typed_words(c: &mut Corpus) {
    const PATH: &str = "/api/annotate";
    let two = || json!({"body.refused": 1});
    for (name, body, length) in unusable() {
        let status = if length <= 12_288 { 400 } else { 413 };
        let counters = if length <= 12_288 { two() } else { json!({"http.length": 1}) };
        c.post(name, PATH, body, length, status, "")["counters"] = counters;
    }
    for length in [12_287, 12_288] {
        let body = vec![json!({"repeat": "x", "times": length})];
        c.post(&format!("{length} bytes of junk"), PATH, body, length, 400, "")["counters"] = two();
    }
    for (name, body) in idle() {
        c.post(name, PATH, vec![json!(latin(&body))], body.len(), 400, "body.refused");
    }
    let mut refused = |name: String, body: String| {
        c.post(&name, PATH, vec![json!(body)], body.len(), 400, "body.refused");
    };
    for field in ["harness", "sid"] {
        for kind in KINDS {
            let other = if field == "sid" { "harness" } else { "sid" };
            refused(format!("{field} {kind}"), format!("{{\"{field}\":{kind},\"{other}\":\"claude\",\"goal\":\"x\"}}"));
        }
    }
    for (field, fits) in [
        ("goal", ["null", "\"\""].as_slice()),
        ("output", &["null", "\"\""]),
        ("lines", &["null", "[]"]),
        ("expected_revision", &["0", "-1"]),
        ("origins", &[]),
        ("settle_through", &["0", "1.0", "-1"]),
        ("clear", &["true"]),
        ("adopt", &["null", "\"\""]),
    ] {
        for kind in KINDS.into_iter().filter(|kind| !fits.contains(kind)) {
            // A list of origins fits a list of as many lines.
            let beside = if field == "origins" { ",\"lines\":[\"a\"]" } else { "" };
            refused(
                format!("{field} {kind}"),
                format!("{{\"harness\":\"claude\",\"sid\":\"x\",\"{field}\":{kind}{beside}}}"),
            );
        }
    }
    for (name, lines) in [("a line that is no text", "[\"a\",1]"), ("a list in a list", "[[\"a\"]]")] {
        refused(name.into(), format!("{{\"harness\":\"claude\",\"sid\":\"x\",\"lines\":{lines}}}"));
    }
    for origins in ["[0,1]", "[-1]", "[true]", "[1.5]", "[\"0\"]"] {
        refused(
            format!("origins {origins}"),
            format!("{{\"harness\":\"claude\",\"sid\":\"x\",\"lines\":[\"a\"],\"origins\":{origins}}}"),
        );
    }
    let nothing = "{\"harness\":\"claude\",\"sid\":\"x\"}";
    c.post("a session and nothing else", PATH, vec![json!(nothing)], nothing.len(), 200, "annotate.refused");
    let words = "{\"harness\":\"claude\",\"sid\":\"27d10654\",\"goal\":\"Round \\u0000to\\u202e even\",\"__proto__\":{\"goal\":\"x\"}}";
    let case = c.post("words", PATH, vec![json!(words)], words.len(), 200, "");
    case["files"] = json!(["cargento-annotations.json", "cargento-annotations.json.lock"]);
}

/// Marks: a body that names nothing marks nothing (DIS-020).
fn marks(c: &mut Corpus) {
    for field in ["harness", "sid"] {
        for kind in KINDS {
            let other = if field == "sid" { "harness" } else { "sid" };
            let body = format!("{{\"{field}\":{kind},\"{other}\":\"claude\"}}");
            c.post(&format!("{field} {kind}"), "/api/dismiss", vec![json!(body)], body.len(), 200, "");
        }
    }
    let body = "{\"harness\":\"claude\",\"sid\":\"nobody\",\"clear\":false}";
    c.post("a restore of what was never marked", "/api/dismiss", vec![json!(body)], body.len(), 200, "");
    let body = "{\"harness\":\"claude\",\"sid\":\"nobody\",\"at\":1,\"__proto__\":{}}";
    let case = c.post("a mark", "/api/dismiss", vec![json!(body)], body.len(), 200, "");
    case["files"] = json!(["cargento-dismissals.json"]);
}

/// Every case, in order.
pub fn cases() -> Vec<Value> {
    let mut c = Corpus { cases: Vec::new(), board: "on" };
    gates(&mut c);
    lengths(&mut c);
    bodies(&mut c);
    sockets(&mut c);
    switched_off(&mut c);
    c.board = "real";
    events(&mut c);
    typed_words(&mut c);
    marks(&mut c);
    c.cases
}
