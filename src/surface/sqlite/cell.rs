//! Cells of foreign tables. SQLite types each cell, not each column: text may arrive as a blob and a number as text, so
//! every field says what it takes, and what does not fit is absent.

use rusqlite::types::ValueRef;
use std::borrow::Cow;

/// The bytes of a text or blob; `None` for null and numbers.
pub fn bytes(value: ValueRef<'_>) -> Option<&[u8]> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
        _ => None,
    }
}

/// A cell as text: text as is, blobs and text with invalid UTF-8 replaced, at most `cap` bytes, never ending inside a
/// character that was whole; `None` for null and numbers.
pub fn text(value: ValueRef<'_>, cap: usize) -> Option<String> {
    borrowed(value, cap).map(Cow::into_owned)
}

/// As [`text`], borrowed where nothing has to be replaced.
pub fn borrowed(value: ValueRef<'_>, cap: usize) -> Option<Cow<'_, str>> {
    let bytes = bytes(value)?;
    let whole = std::str::from_utf8(bytes).ok();
    if let Some(text) = whole {
        return text.get(..text.floor_char_boundary(cap)).map(Cow::Borrowed);
    }
    Some(String::from_utf8_lossy(bytes.get(..cap.min(bytes.len())).unwrap_or_default()))
}

/// A cell as a number: integers and reals as they are, numeric text parsed; else `None`.
pub fn number(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Text(b) => std::str::from_utf8(b).ok()?.trim().parse().ok().filter(|n: &f64| n.is_finite()),
        other => plain_number(other),
    }
}

/// A cell that is stored as a number; text that only looks like one is none.
pub fn plain_number(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Integer(n) => Some(n as f64),
        ValueRef::Real(n) => Some(n).filter(|n| n.is_finite()),
        _ => None,
    }
}

/// A cell as an epoch number, seconds; 0 when it is not stored as one (ROW-056).
pub fn epoch(value: ValueRef<'_>) -> f64 {
    plain_number(value).map_or(0.0, crate::model::time::numeric_epoch)
}

/// Whether a cell counts as set: null, zero and empty ones do not.
pub fn truthy(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Null => false,
        ValueRef::Integer(n) => n != 0,
        ValueRef::Real(n) => n != 0.0,
        ValueRef::Text(b) | ValueRef::Blob(b) => !b.is_empty(),
    }
}
