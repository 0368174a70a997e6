//! The hostile corpus (TRUST-045..047): what is sent, and exactly what it may cost.
//!
//! The bytes that count are those of `fixtures/hostile/corpus.jsonl`; this is where they come from. A case holds
//! whatever the features behind the routes do: it is refused before them, or reaches one with nothing to do.
//! Run the tests with `CARGENTO_WRITE_CORPUS=1` after a change here.

mod bodies;
mod gates;
mod records;
mod sockets;

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

/// Every case, in order.
pub fn cases() -> Vec<Value> {
    let mut c = Corpus { cases: Vec::new(), board: "on" };
    gates::gates(&mut c);
    bodies::lengths(&mut c);
    bodies::bodies(&mut c);
    sockets::sockets(&mut c);
    sockets::switched_off(&mut c);
    c.board = "real";
    records::events(&mut c);
    records::typed_words(&mut c);
    records::marks(&mut c);
    c.cases
}
