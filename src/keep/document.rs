//! The shape all stores share, `{"v": n, "entries": [...]}`, and the typed reading of one entry's members.
//!
//! Entries stay as they are written until somebody asks for a member, so that what a build does not understand can be
//! written back byte for byte. Nothing here recurses deeper than the record bound (TRUST-033).

use crate::model::time::numeric_epoch;
use crate::text::{json, safe_text};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A parsed file, its entries unread.
pub(super) struct Document<'a> {
    /// The version as written.
    pub v: Option<&'a RawValue>,
    pub entries: Vec<&'a RawValue>,
    /// Members beside the two.
    pub more: Vec<(String, &'a RawValue)>,
}

/// Takes a file apart; `None` when it is not JSON, nests too deep, is no object or has no list of entries.
pub(super) fn document(bytes: &[u8]) -> Option<Document<'_>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if json::too_deep(bytes) {
        return None;
    }
    let mut members: BTreeMap<String, &RawValue> = serde_json::from_slice(bytes).ok()?;
    let entries = Vec::<&RawValue>::deserialize(members.remove("entries")?).ok()?;
    let v = members.remove("v");
    Some(Document { v, entries, more: members.into_iter().collect() })
}

/// One entry as an object; `None` when it is none, or holds what no reader can take (a number beyond a double).
pub(super) fn object(entry: &RawValue) -> Option<Map<String, Value>> {
    serde_json::from_str(&json::lenient(entry.get().as_bytes())).ok()
}

/// Writes a file from entries already written.
pub(super) fn render<'a>(v: u32, entries: impl Iterator<Item = &'a str>, more: &[(String, String)]) -> Vec<u8> {
    let mut out = format!("{{\"v\":{v},\"entries\":[").into_bytes();
    for (i, entry) in entries.enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.extend_from_slice(entry.as_bytes());
    }
    out.push(b']');
    for (name, value) in more {
        out.extend_from_slice(format!(",{}:{value}", Value::from(name.as_str())).as_bytes());
    }
    out.push(b'}');
    out
}

/// Bytes [`render`] adds around entries, their commas included.
pub(super) fn frame(v: u32, entries: usize, more: &[(String, String)]) -> usize {
    render(v, std::iter::empty(), more).len() + entries.saturating_sub(1)
}

/// A key half: safe, at most `cap` characters, trimmed; `None` when it is no string or nothing is left.
pub fn key_half(value: Option<&Value>, cap: usize) -> Option<String> {
    let text = safe_text(value?.as_str()?, cap);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Harness and session of an entry.
pub fn key(entry: &Map<String, Value>, cap: usize) -> Option<(String, String)> {
    Some((key_half(entry.get("harness"), cap)?, key_half(entry.get("sid"), cap)?))
}

/// A stored time: seconds or milliseconds since the epoch, 0 for anything that is none (ROW-056).
pub fn epoch(value: Option<&Value>) -> f64 {
    value.and_then(Value::as_f64).map_or(0.0, numeric_epoch)
}

/// A finite number above zero.
pub fn moment(value: Option<&Value>) -> Option<f64> {
    value.and_then(Value::as_f64).filter(|at| at.is_finite() && *at > 0.0)
}

/// A string member, safe and bounded; `""` for anything else.
pub fn text(entry: &Map<String, Value>, name: &str, cap: usize) -> String {
    entry.get(name).and_then(Value::as_str).map(|text| safe_text(text, cap).into_owned()).unwrap_or_default()
}

/// Entries of a keyed store within its caps: the newest `most` by time, as many as fit `cap` bytes, in ascending order.
/// The one under `kept` is never dropped. `written` holds time, key and the entry's bytes.
pub(super) fn newest<K: PartialEq>(
    mut written: Vec<(f64, K, String)>,
    kept: Option<&K>,
    most: usize,
    cap: usize,
) -> Vec<(f64, K, String)> {
    written.sort_by(|a, b| b.0.total_cmp(&a.0));
    if let Some(at) = kept.and_then(|kept| written.iter().position(|(_, key, _)| key == kept)) {
        let own = written.remove(at);
        written.insert(0, own);
    }
    let mut room = cap.saturating_sub(frame(1, 0, &[]));
    let mut fit = 0;
    for (_, _, entry) in written.iter().take(most) {
        let Some(left) = room.checked_sub(entry.len() + 1) else { break };
        room = left;
        fit += 1;
    }
    written.truncate(fit);
    written.sort_by(|a, b| a.0.total_cmp(&b.0));
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_033_shapes_that_are_no_store() {
        let deep = format!("{{\"entries\":[{}{}]}}", "[".repeat(200), "]".repeat(200));
        for bytes in [&b""[..], b"{", b"[]", b"null", b"{\"v\":1}", b"{\"entries\":{}}", b"\xff{}", deep.as_bytes()] {
            assert!(document(bytes).is_none(), "{}", String::from_utf8_lossy(bytes));
        }
        let read = document(br#"{"entries":[1,{"a":"\ud800"}],"v":2,"x":{"y":1.50}}"#).unwrap();
        assert_eq!((read.v.unwrap().get(), read.entries.len()), ("2", 2));
        assert_eq!(object(read.entries[1]).unwrap()["a"], "\u{fffd}");
        let more: Vec<_> = read.more.iter().map(|(name, raw)| (name.clone(), raw.get().to_owned())).collect();
        let bytes = render(1, read.entries.iter().map(|e| e.get()), &more);
        assert_eq!(bytes, br#"{"v":1,"entries":[1,{"a":"\ud800"}],"x":{"y":1.50}}"#);
        assert_eq!(bytes.len(), frame(1, 2, &more) + 1 + r#"{"a":"\ud800"}"#.len());
    }

    #[test]
    fn dis_005_times_of_any_shape() {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for (text, want) in
            [("1790000000.5", 1790000000.5), ("1790000000500", 1790000000.5), ("-1", 0.0), ("true", 0.0)]
        {
            assert_eq!(epoch(Some(&value(text))), want);
        }
        assert_eq!((epoch(Some(&value("\"1\""))), epoch(None)), (0.0, 0.0));
    }

    /// DIS-006
    #[test]
    fn dis_006_the_newest_are_kept_within_count_and_bytes() {
        let entries = |n: usize| (0..n).map(|i| (i as f64, i, "x".repeat(9))).collect::<Vec<_>>();
        let kept = |n, own: Option<usize>, most, cap| {
            newest(entries(n), own.as_ref(), most, cap).into_iter().map(|e| e.1).collect::<Vec<_>>()
        };
        assert_eq!(kept(5, None, 3, 1000), [2, 3, 4]);
        assert_eq!(kept(5, Some(0), 3, 1000), [0, 3, 4], "what was just written stays");
        assert_eq!(kept(5, None, 5, frame(1, 0, &[]) + 20), [3, 4]);
    }
}
