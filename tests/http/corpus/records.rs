//! Bodies of the routes that keep something, field by field: events, words, marks.

use super::{Corpus, idle, latin, plain, unusable};
use serde_json::{Value, json};

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
pub fn events(c: &mut Corpus) {
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
pub fn typed_words(c: &mut Corpus) {
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
pub fn marks(c: &mut Corpus) {
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
