//! Replies and their header lines (HTTP-007..009, HTTP-013).
//!
//! Every composed reply forbids framing and caching; an error reply is a few fixed words and repeats nothing of the
//! request. No reply carries an `Access-Control-*` line, and no header value can break out of its line.

use crate::model::time::civil_from_days;
use crate::surface::listen::{self, Payload, Wire};
use serde::Serialize;
use std::fmt::Write as _;
use std::sync::Arc;

/// The one framing policy of every composed reply (HTTP-007).
pub const FRAME_POLICY: &str = "frame-ancestors 'none'";

/// One answer, before it is bytes.
pub struct Reply {
    status: u16,
    reason: &'static str,
    /// `None` for a reply without a body of its own.
    media_type: Option<&'static str>,
    lines: Vec<(&'static str, String)>,
    shape: Shape,
    payload: Payload,
    after: Option<Box<dyn FnOnce() + Send>>,
}

/// Which fixed header lines a reply carries (HTTP-008).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Composed,
    Error,
    Empty,
    Stream,
    Upgrade,
}

impl Reply {
    fn new(status: u16, shape: Shape, media_type: Option<&'static str>, payload: Payload) -> Self {
        Self { status, reason: reason(status), media_type, lines: Vec::new(), shape, payload, after: None }
    }

    /// A JSON object, already serialised.
    pub fn json_bytes(status: u16, body: Vec<u8>) -> Self {
        Self::new(status, Shape::Composed, Some("application/json"), Payload::Owned(body))
    }

    /// A JSON object shared with other replies.
    pub fn json_shared(status: u16, body: Arc<[u8]>) -> Self {
        Self::new(status, Shape::Composed, Some("application/json"), Payload::Shared(body))
    }

    /// A value as compact JSON; one that cannot be serialised is a 500.
    pub fn json(status: u16, value: &impl Serialize) -> Self {
        serde_json::to_vec(value).map_or_else(|_| Self::error(500), |body| Self::json_bytes(status, body))
    }

    /// Bytes of the binary under a media type.
    pub fn asset(media_type: &'static str, bytes: &'static [u8]) -> Self {
        Self::new(200, Shape::Composed, Some(media_type), Payload::Static(bytes))
    }

    /// A document made at start.
    pub fn document(bytes: Arc<[u8]>) -> Self {
        Self::new(200, Shape::Composed, Some("text/html; charset=utf-8"), Payload::Shared(bytes))
    }

    /// The error reply of a status (HTTP-009).
    pub fn error(status: u16) -> Self {
        Self::error_because(status, reason(status))
    }

    /// An error reply with a reason of its own in its status line and body. The reason is fixed text: it is never
    /// made from a request.
    pub fn error_because(status: u16, reason: &'static str) -> Self {
        let body = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{status}</title></head>\
             <body><h1>{status}</h1><p>{reason}</p></body></html>\n"
        );
        let media_type = Some("text/html;charset=utf-8");
        Self { reason, ..Self::new(status, Shape::Error, media_type, Payload::Owned(body.into_bytes())) }
    }

    /// 204: nothing to say yet (HTTP-065).
    pub fn no_content() -> Self {
        Self::new(204, Shape::Empty, None, Payload::Static(&[]))
    }

    /// A stream of a media type, written as it happens (SSE-004).
    pub fn stream(media_type: &'static str, write: impl FnOnce(&mut Wire) + Send + 'static) -> Self {
        Self::new(200, Shape::Stream, Some(media_type), Payload::Stream(Box::new(write)))
    }

    /// 101: the connection changes its protocol; the accepting header lines are added with [`Self::with`].
    pub fn upgrade(write: impl FnOnce(&mut Wire) + Send + 'static) -> Self {
        Self::new(101, Shape::Upgrade, None, Payload::Stream(Box::new(write)))
    }

    /// A further header line. Control characters are left out of the value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        let mut value: String = value.into();
        value.retain(|c| !c.is_control());
        self.lines.push((name, value));
        self
    }

    /// Something to do once the reply was written, also when the peer had left by then.
    #[must_use]
    pub fn then(mut self, after: impl FnOnce() + Send + 'static) -> Self {
        self.after = Some(Box::new(after));
        self
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The bytes of the body, when it is not a stream.
    pub fn body(&self) -> &[u8] {
        match &self.payload {
            Payload::Static(bytes) => bytes,
            Payload::Shared(bytes) => bytes,
            Payload::Owned(bytes) => bytes,
            Payload::Stream(_) => &[],
        }
    }

    /// The reply as the engine writes it; `now` is seconds since the epoch.
    pub fn compose(self, now: f64) -> listen::Reply {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, self.reason);
        let mut line = |name: &str, value: &str| {
            // Writing to a string does not fail.
            let _ = write!(head, "{name}: {value}\r\n");
        };
        if let Some(media_type) = self.media_type {
            line("Content-Type", media_type);
        }
        if !matches!(self.shape, Shape::Stream | Shape::Upgrade | Shape::Empty) {
            line("Content-Length", &self.body().len().to_string());
        }
        if self.shape != Shape::Upgrade {
            line("Connection", "close");
        }
        if !self.lines.iter().any(|(name, _)| *name == "Cache-Control") {
            line("Cache-Control", "no-store");
        }
        if matches!(self.shape, Shape::Composed | Shape::Upgrade | Shape::Error) {
            line("Content-Security-Policy", FRAME_POLICY);
        }
        // Refusals of one kind are the same bytes whenever they are given (HTTP-009), so they carry no date.
        if self.shape != Shape::Error {
            line("Date", &http_date(now));
        }
        line("Server", "cargento");
        for (name, value) in &self.lines {
            line(name, value);
        }
        head.push_str("\r\n");
        listen::Reply { head: head.into_bytes(), payload: self.payload, after: self.after }
    }
}

/// The reason phrase of a status this server sends.
fn reason(status: u16) -> &'static str {
    match status {
        101 => "Switching Protocols",
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        409 => "Conflict",
        413 => "Content Too Large",
        414 => "URI Too Long",
        426 => "Upgrade Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Status",
    }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(now: f64) -> String {
    let seconds = now.max(0.0) as i64;
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"].get(days.rem_euclid(7) as usize).unwrap_or(&"Thu");
    let (year, month, day) = civil_from_days(days);
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let name = names.get(month as usize - 1).unwrap_or(&"Jan");
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{weekday}, {day:02} {name} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(reply: Reply) -> String {
        String::from_utf8(reply.compose(784_111_777.0).head).unwrap()
    }

    /// HTTP-007.
    #[test]
    fn http_007_composed_replies_carry_the_fixed_lines() {
        let head = head(Reply::json(200, &serde_json::json!({"ok": true})));
        for line in [
            "HTTP/1.1 200 OK\r\n",
            "Content-Type: application/json\r\n",
            "Content-Length: 11\r\n",
            "Connection: close\r\n",
            "Cache-Control: no-store\r\n",
            "Content-Security-Policy: frame-ancestors 'none'\r\n",
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
            "Server: cargento\r\n",
        ] {
            assert!(head.contains(line), "{line:?} in {head:?}");
        }
        assert!(head.ends_with("\r\n\r\n"));
    }

    /// HTTP-007.
    #[test]
    fn http_007_dates() {
        for (now, want) in [
            (0.0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400.0, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_790_000_000.9, "Mon, 21 Sep 2026 14:13:20 GMT"),
            (4_102_444_799.0, "Thu, 31 Dec 2099 23:59:59 GMT"),
        ] {
            assert_eq!(http_date(now), want);
        }
    }

    /// HTTP-008, SSE-004.
    #[test]
    fn http_008_sse_004_a_stream_has_neither_length_nor_policy() {
        let head = head(Reply::stream("text/event-stream", |_| {}).with("X-Accel-Buffering", "no"));
        assert!(head.contains("X-Accel-Buffering: no\r\n") && head.contains("Cache-Control: no-store\r\n"));
        assert!(!head.contains("Content-Length") && !head.contains("Security-Policy"));
    }

    /// HTTP-009.
    #[test]
    fn http_009_errors_name_code_and_reason_alone() {
        let reply = Reply::error_because(503, "notifications are off");
        let body = String::from_utf8(reply.body().to_vec()).unwrap();
        assert!(body.contains("503") && body.contains("notifications are off") && !body.contains("<script"));
        let head = head(reply);
        assert!(head.starts_with("HTTP/1.1 503 notifications are off\r\nContent-Type: text/html;charset=utf-8\r\n"));
        assert!(!head.contains("Date:"));
    }

    /// HTTP-009.
    #[test]
    fn http_009_a_header_value_cannot_break_its_line() {
        let head = head(Reply::json(200, &1).with("Retry-After", "5\r\nSet-Cookie: a"));
        assert!(head.contains("Retry-After: 5Set-Cookie: a\r\n"));
    }
}
