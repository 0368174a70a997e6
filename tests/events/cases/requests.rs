//! What comes before a body is read: tokens, routes, framing.

use super::{Cases, envelope, request};

pub fn tokens(c: &mut Cases) {
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

pub fn routes(c: &mut Cases) {
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

pub fn framing(c: &mut Cases) {
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
