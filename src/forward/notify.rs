//! `cargento notify-hook [URL]`: passes a notification payload on as it is (HOOK-020..022).

use super::{post, stdin, unmarked};
use serde_json::value::RawValue;

const DEFAULT_PORT: u16 = crate::config::DEFAULT_PORT;
const CAP: u64 = 65_536;

/// Forwards standard input to the URL, by default `/api/notify` of the dashboard on the default port.
pub fn notify(url: Option<&str>) {
    let bytes = stdin(CAP);
    let blank = bytes.iter().all(u8::is_ascii_whitespace);
    let body: &[u8] = if blank { b"{}" } else { &bytes };
    if serde_json::from_slice::<&RawValue>(unmarked(body)).is_err() {
        return;
    }
    let target = match url {
        None => Some((DEFAULT_PORT, "/api/notify".to_owned())),
        Some(url) => local(url),
    };
    if let Some((port, path)) = target {
        post(port, &path, None, body, super::TIME);
    }
}

/// Port and path of a URL that leads to this machine; parsed, never prefix-matched (HOOK-003).
fn local(url: &str) -> Option<(u16, String)> {
    if url.bytes().any(|b| b <= b' ' || b == 0x7f || b == b'\\') {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") {
        return None;
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end)?;
    let (host, port) = match authority.strip_prefix('[') {
        Some(inner) => {
            let (host, after) = inner.split_once(']')?;
            (host, if after.is_empty() { None } else { Some(after.strip_prefix(':')?) })
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if !["127.0.0.1", "localhost", "::1"].iter().any(|own| host.eq_ignore_ascii_case(own)) {
        return None;
    }
    let port = match port {
        None => 80,
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok().filter(|port| *port > 0)?,
        Some(_) => return None,
    };
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    Some((port, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HOOK-003, HOOK-020: parsed, never prefix-matched.
    #[test]
    fn hook_003_the_destination_is_parsed() {
        for (url, want) in [
            ("http://127.0.0.1:4553/api/usage", Some((4553, "/api/usage"))),
            ("HTTP://LocalHost:4600/a?b#c", Some((4600, "/a?b"))),
            ("http://[::1]:9/x", Some((9, "/x"))),
            ("http://127.0.0.1", Some((80, "/"))),
            ("http://127.0.0.1?x", Some((80, "/?x"))),
            ("https://127.0.0.1/", None),
            ("http://localhost.evil.com/", None),
            ("http://localhost@evil.com/", None),
            ("http://evil.com@127.0.0.1/", None),
            ("http://evil.com#@127.0.0.1/", None),
            ("http://127.0.0.1:0/", None),
            ("http://127.0.0.1:99999/", None),
            ("http://127.0.0.1:4553\\@evil.com/", None),
            ("http://127.0.0.1 .evil.com/", None),
            ("http://127.0.0.1/a\r\nHost: x", None),
            ("http://[::1]evil.com/", None),
            ("//127.0.0.1/", None),
            ("127.0.0.1:4553", None),
            ("", None),
        ] {
            assert_eq!(local(url), want.map(|(port, path)| (port, path.to_owned())), "{url}");
        }
    }
}
