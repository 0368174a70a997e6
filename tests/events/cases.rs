//! What is thrown at the event door: what each case sends, and exactly what it may cost.

use super::desk::{Desk, SOURCES, id};
use serde_json::json;

/// What one case sends, and exactly what it may cost.
pub struct Case {
    pub name: String,
    pub bytes: Vec<u8>,
    pub half_close: bool,
    pub status: u16,
    /// The outcome word; none for a refusal.
    pub outcome: Option<&'static str>,
    pub counter: &'static str,
}

struct Cases<'a> {
    desk: &'a Desk,
    list: Vec<Case>,
    /// Whose budget the next case spends: they take turns.
    turn: usize,
}

impl Cases<'_> {
    fn next(&mut self) -> &'static str {
        self.turn += 1;
        SOURCES[self.turn % SOURCES.len()]
    }

    fn token_line(&self, harness: &str) -> String {
        format!("X-Cargento-Capability: {}\r\n", self.desk.tokens[harness])
    }

    fn raw(&mut self, name: &str, bytes: Vec<u8>, status: u16, outcome: Option<&'static str>, counter: &'static str) {
        self.list.push(Case { name: name.into(), bytes, half_close: false, status, outcome, counter });
    }

    /// A body with its exact length and the source's own token.
    fn of(&mut self, name: &str, harness: &str, body: &[u8], outcome: &'static str) {
        let bytes = request(harness, &self.token_line(harness), &body.len().to_string(), body);
        let counter = match outcome {
            "accepted" => "event.store_changed",
            "incompatible" => "reject.incompatible",
            "unknown-event" => "reject.unknown-event",
            "malformed" => "reject.malformed",
            "unmappable-id" => "reject.unmappable-id",
            "disabled" => "reject.disabled",
            other => panic!("{other}"),
        };
        self.raw(&format!("{harness}: {name}"), bytes, 200, Some(outcome), counter);
    }

    fn body(&mut self, name: &str, body: &[u8], outcome: &'static str) {
        let harness = self.next();
        self.of(name, harness, body, outcome);
    }

    /// A hint of a session that is on the board, with members replaced or added: raw JSON of each.
    fn with(&mut self, name: &str, more: &[(&str, &str)], outcome: &'static str) {
        let harness = self.next();
        let body = envelope(harness, more);
        self.of(name, harness, body.as_bytes(), outcome);
    }

    /// The same with lines of one's own before the length.
    fn lines(&mut self, name: &str, lines: &str, status: u16, counter: &'static str) {
        let harness = self.next();
        let (lines, body) = (lines.replace("{token}", &self.desk.tokens[harness]), envelope(harness, &[]));
        let outcome = (status == 200).then_some("accepted");
        self.raw(name, request(harness, &lines, &body.len().to_string(), body.as_bytes()), status, outcome, counter);
    }
}

pub fn request(tail: &str, lines: &str, length: &str, body: &[u8]) -> Vec<u8> {
    let length = if length.is_empty() { String::new() } else { format!("Content-Length: {length}\r\n") };
    let head = format!("POST /api/events/{tail} HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}{length}\r\n");
    [head.as_bytes(), body].concat()
}

/// `store_changed` of the source's first session; `more` replaces or adds, an empty value removes.
fn envelope(harness: &str, more: &[(&str, &str)]) -> String {
    let first = json!(id(harness, 1)).to_string();
    let mut members = vec![("v", "1"), ("event", r#""store_changed""#), ("session_id", first.as_str())];
    for (name, value) in more {
        members.retain(|(known, _)| known != name);
        members.push((name, value));
    }
    let members: Vec<String> = members
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", members.join(","))
}

fn unusable(c: &mut Cases) {
    let long = |piece: &str, times: usize| piece.repeat(times).into_bytes();
    for (name, body) in [
        ("nothing", b"".to_vec()),
        ("nonsense", b"nonsense".to_vec()),
        ("an unfinished object", b"{\"v\":1".to_vec()),
        ("truncation inside a token", b"{\"v\":tru".to_vec()),
        ("truncation inside a string", b"{\"v\":1,\"event\":\"store_ch".to_vec()),
        ("a missing colon", b"{\"v\" 1}".to_vec()),
        ("a trailing comma", b"{\"v\":1,}".to_vec()),
        ("text behind the object", [envelope("claude", &[]).as_bytes(), b"{}"].concat()),
        ("single quotes", b"{'v':1}".to_vec()),
        ("a comment", b"{/* */\"v\":1}".to_vec()),
        ("null", b"null".to_vec()),
        ("true", b"true".to_vec()),
        ("a number", b"7".to_vec()),
        ("a string", json!(envelope("claude", &[])).to_string().into_bytes()),
        ("a list", format!("[{}]", envelope("claude", &[])).into_bytes()),
        ("an empty object", b"{}".to_vec()),
        ("raw control characters", b"{\"v\":1,\"event\":\"store\x00\x01changed\"}".to_vec()),
        ("invalid UTF-8", b"{\"v\":1,\"x\":\"\xff\xfe\"}".to_vec()),
        ("UTF-16", b"\xff\xfe{\x00}\x00".to_vec()),
        ("two byte order marks", b"\xef\xbb\xbf\xef\xbb\xbf{}".to_vec()),
        ("a lone surrogate", b"{\"v\":1,\"x\":\"\\ud800\"}".to_vec()),
        ("a pair the wrong way round", b"{\"v\":1,\"x\":\"\\udc00\\ud800\"}".to_vec()),
        ("not a number", b"{\"v\":NaN,\"b\":Infinity}".to_vec()),
        ("a number beyond every range", b"{\"v\":1e999}".to_vec()),
        ("8,000 lists", long("[", 8000)),
        ("1,600 objects", long("{\"a\":", 1600)),
        (
            "200 levels inside a good envelope",
            envelope("claude", &[("x", &format!("{}1{}", "[".repeat(200), "]".repeat(200)))]).into_bytes(),
        ),
        ("8,192 bytes of junk", long("x", 8192)),
        ("8,192 blanks", long(" ", 8192)),
    ] {
        c.body(name, &body, "incompatible");
    }
}

fn fields(c: &mut Cases) {
    for v in
        ["", "null", "true", "false", "\"1\"", "1.0", "1e0", "0", "2", "-1", "1.5", "[1]", "{}", "18446744073709551617"]
    {
        c.with(&format!("v {v}"), &[("v", v)], "incompatible");
    }
    for event in [
        "",
        "null",
        "true",
        "7",
        "\"\"",
        "\"STORE_CHANGED\"",
        "\" store_changed\"",
        "\"store_changed\\u0000\"",
        "[\"store_changed\"]",
        "{}",
        "\"nap\"",
        "\"session\"",
    ] {
        c.with(&format!("event {event}"), &[("event", event)], "unknown-event");
    }
    let long = format!("\"{}\"", "a".repeat(201));
    for session in ["", "null", "true", "7", "[]", "{}", "\"\"", "\" \\t\\n \"", "\"\\u2003\\u00a0\"", long.as_str()] {
        c.with(&format!("session_id {session:.20}"), &[("session_id", session)], "malformed");
    }
    c.with("version before event", &[("v", "2"), ("event", "7"), ("session_id", "7")], "incompatible");
    c.with("event before session", &[("event", "7"), ("session_id", "7")], "unknown-event");
    c.with("session before identity", &[("session_id", "\" \"")], "malformed");
    for harness in SOURCES {
        let id = id(harness, 1);
        let other = if harness == "opencode" {
            "019a0000-1111-4222-8333-444455556666"
        } else {
            "ses_00000000000000000000000001"
        };
        let mut odd = vec![
            format!("../../{id}"),
            format!("{id}\u{0}"),
            format!("{}\u{e9}", &id[1..]),
            other.to_owned(),
            "a".repeat(7),
        ];
        match harness {
            "claude" => odd.push(format!("{id}g")),
            "pi" => odd.extend([id.replace('-', "a"), id.replace('-', ""), format!("{{{id}}}")]),
            "opencode" => odd.extend([id.to_uppercase(), format!("{id}0"), id.replace("00", "-0")]),
            _ => odd.extend([id[1..].to_owned(), format!("{id}0"), id.replace('1', "g")]),
        }
        for odd in odd {
            let body = envelope(harness, &[("session_id", &json!(odd).to_string())]);
            c.of(&format!("id {odd:?}"), harness, body.as_bytes(), "unmappable-id");
        }
    }
    let shape =
        [("event", "\"command_shape_reported\""), ("pattern_id", "\"git_force_push\""), ("tool_name", "\"Bash\"")];
    for harness in ["claude", "codex"] {
        c.of("a command shape", harness, envelope(harness, &shape).as_bytes(), "disabled");
    }
    for (name, body, outcome) in [
        ("a second v wins", r#"{"v":1,"event":"store_changed","session_id":"{id}","v":2}"#, "incompatible"),
        (
            "a second event wins",
            r#"{"v":1,"event":"store_changed","session_id":"{id}","event":"nap"}"#,
            "unknown-event",
        ),
        ("a second id wins", r#"{"v":1,"event":"store_changed","session_id":"{id}","session_id":""}"#, "malformed"),
        (
            "members only of a prototype",
            r#"{"__proto__":{"v":1,"event":"store_changed","session_id":"{id}"}}"#,
            "incompatible",
        ),
    ] {
        let harness = c.next();
        c.of(name, harness, body.replace("{id}", &id(harness, 1)).as_bytes(), outcome);
    }
}

/// Odd and harmless: taken as a hint, with no overlay and nothing shown.
fn accepted(c: &mut Cases) {
    let long = |n: usize| format!("\"{}\"", "x".repeat(n));
    for (field, cap) in [
        ("source_instance_id", 200),
        ("subagent_id", 200),
        ("cwd", 4096),
        ("transcript_path", 4096),
        ("tmux_socket", 128),
        ("tmux_pane", 128),
        ("tmux_server", 128),
        ("pattern_id", 200),
        ("tool_name", 200),
        ("timestamp", 200),
    ] {
        let over = long(cap + 1);
        for value in ["null", "7", "[\"/w\"]", over.as_str()] {
            c.with(&format!("{field} {value:.12}"), &[(field, value)], "accepted");
        }
    }
    for value in ["true", "-1", "1.5", "\"1\"", "18446744073709551616"] {
        c.with(
            &format!("source_sequence {value}"),
            &[("source_sequence", value), ("source_instance_id", "\"i\"")],
            "accepted",
        );
    }
    for value in
        ["\"2999-01-01T00:00:00Z\"", "\"1969-01-01\"", "\"soon\"", "\"2026-13-45T99:99:99Z\"", "\"0000-00-00\""]
    {
        c.with(&format!("timestamp {value}"), &[("timestamp", value)], "accepted");
    }
    c.with(
        "unknown members",
        &[
            ("prompt", "\"secret\""),
            ("harness", "\"codex\""),
            ("capabilities", "{}"),
            ("__proto__", "{\"v\":2}"),
            ("constructor", "{\"prototype\":{\"v\":2}}"),
            ("x", "\"\\u0000\\u001b[31m\""),
        ],
        "accepted",
    );
    c.with("blanks around the id", &[("session_id", "\"{id}\"")], "unmappable-id");
    let harness = c.next();
    let marked = ["\u{feff}", &envelope(harness, &[])].concat();
    c.of("a byte order mark", harness, marked.as_bytes(), "accepted");
    for length in [8191, 8192] {
        let harness = c.next();
        let body = format!("{:<length$}", envelope(harness, &[]));
        c.of(&format!("exactly {length} bytes"), harness, body.as_bytes(), "accepted");
    }
    for lines in [
        "X-Forwarded-For: 203.0.113.9\r\n",
        "Forwarded: for=203.0.113.9;host=evil\r\n",
        "X-Real-IP: 203.0.113.9\r\n",
        "Content-Type: text/plain\r\n",
        "Content-Type: \r\n",
        "Expect: 100-continue\r\n",
        "Origin: http://localhost:{port}\r\n",
    ] {
        let lines = lines.replace("{port}", &c.desk.port.to_string());
        c.lines(
            &format!("with {lines:?}"),
            &format!("X-Cargento-Capability: {{token}}\r\n{lines}"),
            200,
            "event.store_changed",
        );
    }
    let harness = c.next();
    let (body, line) = (envelope(harness, &[]), c.token_line(harness));
    let twice = format!("{line}Content-Length: {}\r\n", body.len());
    c.raw(
        "one length twice",
        request(harness, &twice, &body.len().to_string(), body.as_bytes()),
        200,
        Some("accepted"),
        "event.store_changed",
    );
    c.raw(
        "a query",
        request(&format!("{harness}?x=1&/claude"), &line, &body.len().to_string(), body.as_bytes()),
        200,
        Some("accepted"),
        "event.store_changed",
    );
    let first = request(harness, &line, &body.len().to_string(), body.as_bytes());
    c.raw("a second event in the same packet", first.repeat(2), 200, Some("accepted"), "event.store_changed");
    c.raw(
        "more than the length says",
        request(harness, &line, &body.len().to_string(), format!("{body}{body}").as_bytes()),
        200,
        Some("accepted"),
        "event.store_changed",
    );
}

fn tokens(c: &mut Cases) {
    let foreign = c.desk.tokens["codex"].clone();
    let own = c.desk.tokens["claude"].clone();
    let body = envelope("claude", &[]);
    for (name, lines) in [
        ("no token", String::new()),
        ("an empty token", "X-Cargento-Capability: \r\n".into()),
        ("another source's token", format!("X-Cargento-Capability: {foreign}\r\n")),
        ("an earlier run's token", format!("X-Cargento-Capability: {}\r\n", "5e".repeat(32))),
        ("a token cut short", format!("X-Cargento-Capability: {}\r\n", &own[..63])),
        ("a token and more", format!("X-Cargento-Capability: {own}0\r\n")),
        ("a token in capitals", format!("X-Cargento-Capability: {}\r\n", own.to_uppercase())),
        ("a token twice", format!("X-Cargento-Capability: {own}\r\nX-Cargento-Capability: {own}\r\n")),
        ("two tokens in one line", format!("X-Cargento-Capability: {own}, {foreign}\r\n")),
        ("a token as a bearer", format!("X-Cargento-Capability: Bearer {own}\r\n")),
        ("a token as authorization", format!("Authorization: Bearer {own}\r\n")),
        ("a token as a cookie", format!("Cookie: X-Cargento-Capability={own}\r\n")),
        ("a header under_scored", format!("X_Cargento_Capability: {own}\r\n")),
    ] {
        c.raw(name, request("claude", &lines, &body.len().to_string(), body.as_bytes()), 403, None, "cap.event");
        if name.starts_with("no token") || name.starts_with("another") {
            c.raw(&format!("{name}, and too long"), request("claude", &lines, "99999999", b""), 403, None, "cap.event");
        }
    }
    let mut odd = request("claude", "X-Cargento-Capability: @\r\n", &body.len().to_string(), body.as_bytes());
    let at = odd.iter().position(|b| *b == b'@').unwrap();
    odd.splice(at..=at, [0xc3, 0xa9]);
    c.raw("a token that is not ASCII", odd, 403, None, "cap.event");
    c.raw(
        "a token in the query alone",
        request(&format!("claude?X-Cargento-Capability={own}"), "", &body.len().to_string(), body.as_bytes()),
        403,
        None,
        "cap.event",
    );
}

fn routes(c: &mut Cases) {
    let line = c.token_line("claude");
    let body = envelope("claude", &[]);
    for tail in [
        "copilot",
        "cursor",
        "goose",
        "",
        "Claude",
        "CLAUDE",
        "claude/",
        "claude/x",
        "claude%20",
        "%63laude",
        "..",
        "../events/claude",
        "claude;x",
        "claude,codex",
        "claude\u{301}",
        "/claude",
        "none",
    ] {
        for lines in [line.as_str(), ""] {
            let name = format!("the source {tail:?}{}", if lines.is_empty() { " without a token" } else { "" });
            c.raw(&name, request(tail, lines, &body.len().to_string(), body.as_bytes()), 404, None, "http.path");
        }
    }
    c.raw(
        "no source at all",
        format!("POST /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n{line}\r\n").into_bytes(),
        404,
        None,
        "http.path",
    );
    for (method, status, counter) in [
        ("GET", 404, "http.path"),
        ("PUT", 501, "http.method"),
        ("DELETE", 501, "http.method"),
        ("PATCH", 501, "http.method"),
        ("OPTIONS", 501, "http.method"),
        ("HEAD", 501, "http.method"),
        ("post", 501, "http.method"),
    ] {
        let head = format!("{method} /api/events/claude HTTP/1.1\r\nHost: 127.0.0.1\r\n{line}\r\n");
        c.raw(&format!("the method {method}"), head.into_bytes(), status, None, counter);
    }
    for (name, bad, counter) in [
        ("a foreign host", "Host: evil.example\r\n", "gate.host"),
        ("a foreign origin", "Host: 127.0.0.1\r\nOrigin: http://evil.example\r\n", "gate.origin"),
        ("a null origin", "Host: 127.0.0.1\r\nOrigin: null\r\n", "gate.origin"),
        ("another site", "Host: 127.0.0.1\r\nSec-Fetch-Site: cross-site\r\n", "gate.site"),
        (
            "a link from another site",
            "Host: 127.0.0.1\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n",
            "gate.site",
        ),
    ] {
        for path in ["claude", "none"] {
            let head = format!("POST /api/events/{path} HTTP/1.1\r\n{bad}{line}Content-Length: 99999999\r\n\r\n");
            c.raw(&format!("{name} to {path}"), head.into_bytes(), 403, None, counter);
        }
    }
}

fn framing(c: &mut Cases) {
    for length in
        ["8193", "65536", "99999999", "-1", "+5", "5,5", "0x10", "1e3", "5 5", "99999999999999999999", "\u{665}"]
    {
        let harness = c.next();
        let line = c.token_line(harness);
        c.raw(
            &format!("length {length}, nothing sent"),
            request(harness, &line, length, b""),
            413,
            None,
            "http.length",
        );
    }
    let harness = c.next();
    let (line, body) = (c.token_line(harness), envelope(harness, &[]));
    c.raw(
        "8,193 bytes sent",
        request(harness, &line, "8193", format!("{body:<8193}").as_bytes()),
        413,
        None,
        "http.length",
    );
    c.raw(
        "two lengths",
        request(harness, &format!("{line}Content-Length: 2\r\n"), &body.len().to_string(), body.as_bytes()),
        400,
        None,
        "http.malformed",
    );
    c.raw(
        "a length beside chunks",
        request(harness, &format!("{line}Transfer-Encoding: chunked\r\n"), &body.len().to_string(), body.as_bytes()),
        400,
        None,
        "http.malformed",
    );
    let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    c.raw(
        "chunks alone count as no body",
        request(harness, &format!("{line}Transfer-Encoding: chunked\r\n"), "", chunks.as_bytes()),
        200,
        Some("incompatible"),
        "reject.incompatible",
    );
    c.raw("no length", request(harness, &line, "", body.as_bytes()), 200, Some("incompatible"), "reject.incompatible");
    c.raw(
        "a length one short",
        request(harness, &line, &(body.len() - 1).to_string(), body.as_bytes()),
        200,
        Some("incompatible"),
        "reject.incompatible",
    );
    c.raw(
        "a length of zero",
        request(harness, &line, "0", body.as_bytes()),
        200,
        Some("incompatible"),
        "reject.incompatible",
    );
    for (name, bytes) in [
        ("a folded line", request(harness, &format!("X: a\r\n b\r\n{line}"), "2", b"{}")),
        ("a NUL in a header", request(harness, &format!("X: a\0b\r\n{line}"), "2", b"{}")),
        ("a blank before the colon", request(harness, &line.replace(": ", " : "), "2", b"{}")),
        ("two hosts", request(harness, &format!("Host: localhost\r\n{line}"), "2", b"{}")),
    ] {
        c.raw(name, bytes, 400, None, "http.malformed");
    }
    let old = String::from_utf8(request(harness, &line, "2", b"{}")).unwrap().replace("HTTP/1.1", "HTTP/2.0");
    c.raw("another version", old.into_bytes(), 505, None, "http.version");
    for (name, bytes) in [
        ("half a head", request(harness, &line, "2", b"")[..40].to_vec()),
        ("a body cut short", request(harness, &line, &body.len().to_string(), &body.as_bytes()[..20])),
        ("no body where one was announced", request(harness, &line, "8192", b"")),
    ] {
        c.raw(name, bytes, 0, None, "http.disconnect");
        c.list.last_mut().unwrap().half_close = true;
    }
}

/// Every case, with the tokens of a running dashboard.
pub fn all(desk: &Desk) -> Vec<Case> {
    let mut cases = Cases { desk, list: Vec::new(), turn: 0 };
    for part in [unusable, fields, accepted, tokens, routes, framing] {
        part(&mut cases);
    }
    cases.list
}
