//! The path of untrusted text to a published field: unsafe characters out, credentials out, then the bound (SAFE-001).
//!
//! It neither trims, nor collapses, nor escapes (SAFE-006, SAFE-009): escaping belongs to the page, which does it at
//! every place it draws.

use super::clip::redact_clip;
use super::redact::{MARKER, redact};
use crate::config::ERROR_TEXT_CAP_CHARS;
use serde_json::Value;
use std::borrow::Cow;

/// Mark at the end of a diagnostic text that was cut.
const TRUNCATED: &str = "... [truncated]";

/// `text` made fit to publish: each run of unsafe characters one space, credentials replaced, at most `limit`
/// characters, up to 19 more when that finishes a marker.
pub fn safe_text(text: &str, limit: usize) -> Cow<'_, str> {
    then(clean(text), |text| redact_clip(text, limit))
}

/// As [`safe_text`] with line breaks kept, for text shown over several lines (`last_output`).
pub fn safe_lines(text: &str, limit: usize) -> Cow<'_, str> {
    then(clean_lines(text), |text| redact_clip(text, limit))
}

/// A vendor's name for a model or tool: safe, trimmed, `None` when nothing is left of it (SAFE-012).
pub fn safe_name(name: &str, limit: usize) -> Option<String> {
    let name = safe_text(name, limit);
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// [`safe_name`] of an untyped value; anything but a string is "not reported".
pub fn safe_name_of(value: &Value, limit: usize) -> Option<String> {
    value.as_str().and_then(|name| safe_name(name, limit))
}

/// [`safe_text`] of an untyped value (SAFE-002): absent, null, false, zero and empty values give the empty string,
/// other scalars their JSON form.
pub fn safe_value(value: &Value, limit: usize) -> Cow<'_, str> {
    let text = match value {
        Value::String(text) => return safe_text(text, limit),
        Value::Null | Value::Bool(false) => return Cow::Borrowed(""),
        Value::Number(n) if n.as_f64() == Some(0.0) => return Cow::Borrowed(""),
        Value::Array(list) if list.is_empty() => return Cow::Borrowed(""),
        Value::Object(map) if map.is_empty() => return Cow::Borrowed(""),
        other => other.to_string(),
    };
    Cow::Owned(safe_text(&text, limit).into_owned())
}

/// A text for diagnostics, such as a store's error: safe, redacted, at most 1,024 characters, its cut marked (RED-068).
pub fn diagnostic(text: &str) -> String {
    let text = then(clean(text), redact);
    let Some((end, _)) = text.char_indices().nth(ERROR_TEXT_CAP_CHARS) else { return text.into_owned() };
    let chars = ERROR_TEXT_CAP_CHARS - TRUNCATED.len();
    // A cut inside a kept prefix or a marker moves before both: 11 + 9 characters at most.
    let near: String = text.get(..end).unwrap_or_default().chars().skip(chars - 8).take(8 + 10 + 9).collect();
    let chars = if near.contains(MARKER) { chars - 20 } else { chars };
    text.chars().take(chars).chain(TRUNCATED.chars()).collect()
}

/// Each run of unsafe characters replaced by one space (SAFE-004, SAFE-007).
pub fn clean(text: &str) -> Cow<'_, str> {
    replace(text, is_unsafe)
}

/// As [`clean`] with line feeds kept; a carriage return before one goes without leaving a space.
fn clean_lines(text: &str) -> Cow<'_, str> {
    let text = if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) };
    then(text, |text| replace(text, |c| c != '\n' && is_unsafe(c)))
}

/// Controls, invisible marks and everything that reorders text. The joiners U+200C and U+200D are not in it: Persian,
/// Indic and emoji spelling needs them and they reorder nothing (SAFE-005).
fn is_unsafe(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
    )
}

fn replace(text: &str, class: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Nearly every line is plain; that is told many bytes at a time.
    let plain = |chunk: &[u8]| chunk.iter().fold(true, |plain, byte| plain & matches!(byte, 0x20..0x7f));
    if text.as_bytes().chunks(64).all(plain) {
        return Cow::Borrowed(text);
    }
    let Some((head, rest)) = text.find(&class).and_then(|at| text.split_at_checked(at)) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    out.push_str(head);
    let mut open = false;
    for c in rest.chars() {
        let bad = class(c);
        if !bad {
            out.push(c);
        } else if !open {
            out.push(' ');
        }
        open = bad;
    }
    Cow::Owned(out)
}

/// Applies `step` without copying what neither step changed.
pub(super) fn then<'a>(text: Cow<'a, str>, step: impl for<'b> FnOnce(&'b str) -> Cow<'b, str>) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => step(text),
        Cow::Owned(text) => match step(&text) {
            Cow::Borrowed(same) if same.len() == text.len() => Cow::Owned(text),
            changed => Cow::Owned(changed.into_owned()),
        },
    }
}
