//! Bodies: no envelopes, envelopes with one field amiss, and those that are taken.

use super::super::desk::{SOURCES, id};
use super::{Cases, envelope, request};
use serde_json::json;

pub fn unusable(c: &mut Cases) {
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

pub fn fields(c: &mut Cases) {
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
pub fn accepted(c: &mut Cases) {
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
