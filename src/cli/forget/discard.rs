//! Takes the discard records out of an annotation store without touching the rest (ANN-022 to ANN-024, ANN-121).
//!
//! Every other entry, understood or not, is carried over byte for byte.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The file is no annotation store this build understands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Untrusted;

/// The store without its discard records and how many there were; `None` when there is none to remove.
pub(super) fn sweep(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Untrusted> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let store: BTreeMap<&str, &RawValue> = serde_json::from_slice(bytes).map_err(|_| Untrusted)?;
    let entries = store.get("entries").ok_or(Untrusted)?;
    let entries = Vec::<&RawValue>::deserialize(*entries).map_err(|_| Untrusted)?;
    let kept: Vec<&RawValue> = entries.iter().copied().filter(|entry| !is_discard_record(entry)).collect();
    if kept.len() == entries.len() {
        return Ok(None);
    }
    let removed = entries.len() - kept.len();
    Ok(Some((rewrite(&store, &kept), removed)))
}

/// The version first, then the entries, then whatever else the file holds.
fn rewrite(store: &BTreeMap<&str, &RawValue>, kept: &[&RawValue]) -> Vec<u8> {
    let list = kept.iter().map(|entry| entry.get()).collect::<Vec<_>>().join(",");
    let mut members = Vec::new();
    if let Some(version) = store.get("v") {
        members.push(format!("\"v\":{}", version.get()));
    }
    members.push(format!("\"entries\":[{list}]"));
    for (name, value) in store.iter().filter(|(name, _)| !matches!(**name, "v" | "entries")) {
        members.push(format!("{}:{}", Value::from(*name), value.get()));
    }
    format!("{{{}}}", members.join(",")).into_bytes()
}

/// A keyed entry with a valid time of discarding and no revision left. An entry with any usable revision is typed words,
/// and one with revisions this build does not understand is held as it is.
fn is_discard_record(entry: &RawValue) -> bool {
    let Ok(Value::Object(entry)) = serde_json::from_str::<Value>(entry.get()) else { return false };
    let keyed = |name: &str| entry.get(name).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
    let malformed = |revision: &Value| revision.get("n").and_then(Value::as_u64).is_none_or(|n| n < 1);
    let empty = match entry.get("revisions") {
        Some(Value::Array(revisions)) => revisions.iter().all(malformed),
        _ => true,
    };
    let discarded = entry.get("discarded").and_then(Value::as_f64).is_some_and(|at| at.is_finite() && at > 0.0);
    keyed("harness") && keyed("sid") && empty && discarded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(entries: &str) -> Option<String> {
        let store = format!(r#"{{"entries":[{entries}],"v":2,"more":{{"x":1.50}}}}"#);
        sweep(store.as_bytes()).unwrap().map(|(bytes, _)| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn ann_121_everything_else_is_carried_over_byte_for_byte() {
        let words = r#"{"harness":"a","sid":"b", "revisions":[{"n":1,"at":1.50,"goal":"\u00e9"}]}"#;
        let gone = r#"{"harness":"a","sid":"c","revisions":[],"discarded":9.0,"note":"hung on"}"#;
        let raw = r#"{"harness":"a","sid":"d","revisions":[{"n":3,"lines":[1,2,3,4,5,6,7]}],"discarded":9.0}"#;
        assert_eq!(
            left(&format!("{words},{gone},7,{raw}")).unwrap(),
            format!(r#"{{"v":2,"entries":[{words},7,{raw}],"more":{{"x":1.50}}}}"#)
        );
    }

    #[test]
    fn ann_022_and_023_what_is_a_discard_record() {
        for entry in [
            r#"{"harness":"a","sid":"b","revisions":[],"discarded":1}"#,
            r#"{"harness":"a","sid":"b","discarded":1.5}"#,
            r#"{"harness":"a","sid":"b","revisions":[{"n":0},{"n":true},5],"discarded":1.5}"#,
        ] {
            assert!(left(entry).is_some(), "{entry}");
        }
        for entry in [
            r#"{"harness":"a","sid":"b","revisions":[]}"#,
            r#"{"harness":"a","sid":"b","revisions":[],"discarded":true}"#,
            r#"{"harness":"a","sid":"b","revisions":[],"discarded":0}"#,
            r#"{"harness":"a","sid":" ","revisions":[],"discarded":1}"#,
            r#"{"sid":"b","revisions":[],"discarded":1}"#,
            r#"{"harness":"a","sid":"b","revisions":[{"n":1}],"discarded":1}"#,
            "[]",
        ] {
            assert_eq!(left(entry), None, "{entry}");
        }
    }

    #[test]
    fn ann_020_untrusted_stores() {
        for bytes in [&b"{"[..], b"[]", b"null", br#"{"v":2}"#, br#"{"entries":{}}"#, br#"{"entries":[}"#, b"\xff"] {
            assert_eq!(sweep(bytes), Err(Untrusted), "{}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(sweep(b""), Ok(None));
        assert_eq!(sweep(br#"{"entries":[]}"#), Ok(None));
    }
}
