//! Request bodies: a JSON object, or nothing (HTTP-012).
//!
//! The parser stops at 128 levels, so a body of a hundred thousand brackets costs a look at the first of them.

use serde_json::{Map, Value};

/// A parsed body.
pub type Object = Map<String, Value>;

/// How a route takes a body that is no JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// As an empty object.
    Lenient,
    /// As an empty object too, which the feature refuses and counts itself: one refusal, one counter (TRUST-041).
    Judged,
    /// As a bad request.
    Strict,
}

/// The object a body holds; `None` when it is empty, unparsable, nested deeper than 128 levels, or something else.
/// A UTF-8 byte order mark in front is skipped, since some shells put one there. A repeated key counts once, the last.
pub fn object(body: &[u8]) -> Option<Object> {
    let text = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    // The first byte decides for most junk, before anything is built.
    if text.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    match serde_json::from_slice(text) {
        Ok(Value::Object(object)) => Some(object),
        Ok(_) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HTTP-012.
    #[test]
    fn http_012_objects_and_everything_else() {
        for (body, want) in [
            (b"{}".as_slice(), Some(0)),
            (b" \n{\"a\":1}\n", Some(1)),
            (b"\xef\xbb\xbf{\"a\":1}", Some(1)),
            (b"{\"a\":1,\"a\":2}", Some(1)),
            (b"{\"__proto__\":{},\"constructor\":{\"prototype\":1}}", Some(2)),
            (b"", None),
            (b"[]", None),
            (b"7", None),
            (b"null", None),
            (b"\"{}\"", None),
            (b"{", None),
            (b"{\"a\":", None),
            (b"{} x", None),
            (b"{\"a\":NaN}", None),
            (b"{\"a\":1e999}", None),
            (b"\xff\xfe{\x00}\x00", None),
            (b"{\"a\":\"\xff\"}", None),
            (b"{\"a\":\"\\ud800\"}", None),
            (b"{\"a\":\"\x01\"}", None),
        ] {
            assert_eq!(object(body).map(|o| o.len()), want, "{:?}", String::from_utf8_lossy(body));
        }
    }

    /// HTTP-012, TRUST-033.
    #[test]
    fn http_012_trust_033_depth_never_costs_the_stack() {
        let nested = |n: usize| format!("{{\"a\":{}1{}}}", "[".repeat(n), "]".repeat(n));
        assert!(object(nested(126).as_bytes()).is_some());
        assert!(object(nested(128).as_bytes()).is_none());
        assert!(object(nested(100_000).as_bytes()).is_none());
        assert!(object("{\"a\":".repeat(100_000).as_bytes()).is_none());
    }
}
