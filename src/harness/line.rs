//! Records of a line file, parsed into borrowed, partial shapes: a field of the wrong type is an absent field, and
//! what is not named is skipped unread.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A field of open type, kept as its bytes: nothing of it is built before it is asked for.
pub type Field<'a> = Option<&'a RawValue>;

/// Parses a line as a record of shape `T`; `None` when it is not one.
pub fn parse<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Option<T> {
    if line.first() != Some(&b'{') {
        return None;
    }
    serde_json::from_slice(line).ok()
}

/// A field as text; `None` when it is absent or of another type.
pub fn text<'a>(field: Field<'a>) -> Option<Cow<'a, str>> {
    let raw = field?.get();
    if !raw.starts_with('"') {
        return None;
    }
    let inner = raw.get(1..raw.len().checked_sub(1)?)?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(raw).ok().map(Cow::Owned)
}

/// A field as text that is not empty.
pub fn nonempty<'a>(field: Field<'a>) -> Option<Cow<'a, str>> {
    text(field).filter(|t| !t.is_empty())
}

/// A field as a finite number; booleans are not numbers.
pub fn number(field: Field<'_>) -> Option<f64> {
    field?.get().parse().ok().filter(|n: &f64| n.is_finite())
}

/// A field as a whole number of at least 0, written without fraction or exponent; booleans are not numbers.
pub fn count(field: Field<'_>) -> Option<u64> {
    field?.get().parse().ok()
}

/// Whether a field counts as true: absent, null, false, 0, "", [] and {} do not.
pub fn truthy(field: Field<'_>) -> bool {
    let Some(raw) = field else { return false };
    match raw.get() {
        "null" | "false" | "\"\"" | "0" => false,
        other if other.starts_with(['[', '{']) => {
            other.get(1..other.len() - 1).is_some_and(|inner| !inner.trim().is_empty())
        }
        other => other.parse::<f64>() != Ok(0.0),
    }
}

/// A field as an object of shape `T`.
pub fn object<'a, T: Deserialize<'a>>(field: Field<'a>) -> Option<T> {
    let raw = field?.get();
    if !raw.starts_with('{') {
        return None;
    }
    serde_json::from_str(raw).ok()
}

/// A field as a list, its elements of open type.
pub fn list<'a>(field: Field<'a>) -> Option<Vec<&'a RawValue>> {
    let raw = field?.get();
    if !raw.starts_with('[') {
        return None;
    }
    serde_json::from_str(raw).ok()
}

/// A field as a time: an ISO 8601 string, seconds since the epoch; `None` when it is neither.
pub fn stamp(field: Field<'_>) -> Option<f64> {
    crate::model::time::parse_iso(&text(field)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Record<'a> {
        #[serde(borrow, rename = "type")]
        kind: Field<'a>,
        #[serde(borrow)]
        n: Field<'a>,
    }

    /// CLAUDE-010.
    #[test]
    fn claude_010_a_wrong_type_is_an_absent_field() {
        let r: Record = parse(br#"{"type":7,"n":"x","other":[[[]]]}"#).unwrap();
        assert_eq!((text(r.kind), number(r.n), count(r.n)), (None, None, None));
        let r: Record = parse(br#"{"type":"a\nb","n":3}"#).unwrap();
        assert_eq!((text(r.kind).unwrap(), count(r.n)), ("a\nb".into(), Some(3)));
        let r: Record = parse(br#"{"type":null,"n":true}"#).unwrap();
        assert_eq!((text(r.kind), count(r.n)), (None, None));
        assert!(parse::<Record>(b"[1]").is_none());
        assert!(parse::<Record>(b"{\"type\":").is_none());
    }

    #[test]
    fn truth_of_fields() {
        let of = |json: &str| truthy(Some(&*serde_json::from_str::<Box<RawValue>>(json).unwrap()));
        for (json, want) in [("true", true), ("1", true), ("\"x\"", true), ("[1]", true), ("{\"a\":1}", true)] {
            assert_eq!(of(json), want, "{json}");
        }
        for json in ["null", "false", "0", "0.0", "\"\"", "[]", "{ }"] {
            assert!(!of(json), "{json}");
        }
    }
}
