//! The clients a harness starts at its hooks: they read one payload, say one thing to a dashboard on loopback, and never
//! influence the harness (HOOK-001..015).
//!
//! Exit status 0 and an empty standard error on every path. What a hook prints, if anything, is what its harness reads
//! as "no opinion". Prompts, tool inputs and outputs in a payload end here: envelopes are built field by field.

mod agy;
mod event;
mod notify;
pub mod plugin;
mod statusline;
mod terminal;

pub use agy::agy;
pub use event::event;
pub use notify::notify;
pub use statusline::statusline;

use crate::config::DEFAULT_PORT;
use crate::env::Env;
use crate::surface::loopback::{self, Request};
use crate::surface::read;
use serde_json::{Map, Value};
use std::io::{IsTerminal, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Most read of a payload by every client but the notification one, bytes.
const STDIN_CAP: u64 = 1_048_576;
/// For connecting, sending and the answer's head together.
const TIME: Duration = Duration::from_secs(2);
/// Most read of the state file, bytes.
const STATE_CAP: u64 = 65_536;
/// Longest body that the event route takes, bytes.
const EVENT_CAP: usize = 8192;
/// Members every envelope has; the others are hints.
const REQUIRED: usize = 3;
/// Enough of a reply to know its status; the body is not interpreted (HOOK-006).
const REPLY_CAP: usize = 256;

/// Runs a client so that nothing it does can reach the harness: a panic is silent, too.
pub fn quietly(run: impl FnOnce()) {
    std::panic::set_hook(Box::new(|_| {}));
    drop(catch_unwind(AssertUnwindSafe(run)));
}

/// Standard input to its end or the cap; empty when there is none or a person sits at it (HOOK-012).
fn stdin(cap: u64) -> Vec<u8> {
    let input = std::io::stdin();
    let mut bytes = Vec::new();
    if !input.is_terminal() {
        // What came before an error is judged like any payload: cut off, it does not parse.
        drop(input.take(cap).read_to_end(&mut bytes));
    }
    bytes
}

/// A payload that is one JSON object; a byte order mark in front, which some shells put there, is skipped.
fn object(bytes: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::from_slice(unmarked(bytes)).ok()? {
        Value::Object(map) => Some(map),
        _ => None,
    }
}

/// Bytes without the byte order mark in front of them.
fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// A member that is a string with something in it, trimmed.
fn words<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    map.get(name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// The port an argument names; anything that is not one means the default (HOOK-013).
fn port(argument: Option<&str>) -> u16 {
    let plain = argument.filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
    plain.and_then(|text| text.parse().ok()).filter(|port| *port > 0).unwrap_or(DEFAULT_PORT)
}

/// The event token of a harness out of a port's state file, read at every call since a restart changes it (HOOK-008).
/// Nothing else is ever taken from that file.
fn token(env: &Env, port: u16, harness: &str) -> Option<String> {
    let bytes = read::whole(&env.state_dir().join(format!("cargento-{port}.json")), STATE_CAP).ok()?;
    let state = object(&bytes)?;
    let token = state.get("capabilities")?.get(harness)?.as_str()?;
    // A token goes into a header line; whatever else stands in the file does not.
    let plain = !token.is_empty() && token.len() <= 256 && token.bytes().all(|b| b.is_ascii_graphic());
    plain.then(|| token.to_owned())
}

/// Posts an envelope to a harness's event route; whether the dashboard took it.
fn post_event(env: &Env, port: u16, harness: &str, envelope: &Envelope, limit: Duration) -> bool {
    let bytes = envelope.bytes();
    let Some(token) = token(env, port, harness) else { return false };
    post(port, &format!("/api/events/{harness}"), Some(&token), &bytes, limit)
}

/// One POST to the port: no retry, no redirect, no proxy; the body of the answer is not read on.
fn post(port: u16, path: &str, token: Option<&str>, body: &[u8], limit: Duration) -> bool {
    let mut headers = vec![("Content-Type", "application/json")];
    if let Some(token) = token {
        headers.push(("X-Cargento-Capability", token));
    }
    let request = Request { method: "POST", path, headers: &headers, body };
    loopback::request(port, &request, limit, REPLY_CAP).is_ok_and(|reply| (200..300).contains(&reply.status))
}

/// An envelope, its members in the order in which they were put in.
#[derive(Debug, PartialEq)]
struct Envelope(Vec<(&'static str, Value)>);

impl Envelope {
    /// The members every envelope begins with.
    fn new(event: &str, session: &str, cwd: Option<&str>) -> Envelope {
        let mut members = vec![("v", 1.into()), ("event", event.into()), ("session_id", session.into())];
        members.extend(cwd.map(|cwd| ("cwd", cwd.into())));
        Envelope(members)
    }

    fn put(&mut self, name: &'static str, value: impl Into<Value>) {
        self.0.push((name, value.into()));
    }

    /// Compact JSON. What would make it longer than the event route takes is left out, the longest hint first, since
    /// an event without a hint is worth more than none.
    fn bytes(&self) -> Vec<u8> {
        let mut members = self.0.clone();
        loop {
            let bytes = compact(&members);
            let length = |at: &usize| members.get(*at).and_then(|(_, value)| value.as_str()).map_or(0, str::len);
            match (REQUIRED..members.len()).max_by_key(length) {
                Some(longest) if bytes.len() > EVENT_CAP => drop(members.remove(longest)),
                _ => return bytes,
            }
        }
    }
}

fn compact(members: &[(&'static str, Value)]) -> Vec<u8> {
    let mut out = Vec::new();
    let members = members.iter().map(|(name, value)| (name, value));
    // Writing to memory does not fail, and every member is a plain value.
    if serde::Serializer::collect_map(&mut serde_json::Serializer::new(&mut out), members).is_err() {
        out.clear();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hook_013_ports() {
        for (argument, want) in [
            (None, 4553),
            (Some("4600"), 4600),
            (Some("0"), 4553),
            (Some("65536"), 4553),
            (Some("+5"), 4553),
            (Some("x"), 4553),
        ] {
            assert_eq!(port(argument), want, "{argument:?}");
        }
    }

    /// HOOK-034: two paths of the greatest length do not fit into one event; it goes without the longer one.
    #[test]
    fn hook_034_an_event_never_outgrows_the_route() {
        let mut envelope = Envelope::new("turn_started", "019a", Some(&"c".repeat(4096)));
        envelope.put("transcript_path", "t".repeat(3900));
        envelope.put("subagent_id", "s");
        assert!(envelope.bytes().len() <= EVENT_CAP && envelope.bytes().ends_with(br#"","subagent_id":"s"}"#));
        envelope.put("tmux_pane", "%3".repeat(60));
        let fitted = String::from_utf8(envelope.bytes()).unwrap();
        assert!(!fitted.contains("\"cwd\"") && fitted.contains("transcript_path") && fitted.contains("tmux_pane"));
        let huge = Envelope::new("turn_started", &"x".repeat(9000), Some("/w"));
        assert!(!String::from_utf8(huge.bytes()).unwrap().contains("cwd"));
    }

    /// FIELD-059: a byte order mark kills no reader.
    #[test]
    fn field_059_a_byte_order_mark_is_skipped() {
        assert!(object(b"\xef\xbb\xbf{\"a\":1}\r\n").is_some());
        assert!(object(b"\xef\xbb\xbf\xef\xbb\xbf{}").is_none() && object(b"\xff\xfe{\x00}\x00").is_none());
    }
}
