//! What is thrown at the event door: what each case sends, and exactly what it may cost.

mod envelopes;
mod requests;

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

/// Every case, with the tokens of a running dashboard.
pub fn all(desk: &Desk) -> Vec<Case> {
    let mut cases = Cases { desk, list: Vec::new(), turn: 0 };
    for part in [
        envelopes::unusable,
        envelopes::fields,
        envelopes::accepted,
        requests::tokens,
        requests::routes,
        requests::framing,
    ] {
        part(&mut cases);
    }
    cases.list
}
