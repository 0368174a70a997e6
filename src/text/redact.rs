//! Replaces credential-shaped runs by a visible marker and leaves the words around them alone.
//!
//! It reduces what a screenshot can give away and does not close it: a format nobody listed, a key without its cue, a
//! key split by a control character and the part of a run beyond a shape's upper bound are published (RED-060..063).
//! The marker means: replaced before it got here; the original is still in the transcript on disk, rotate the key.

use super::shapes::{Anchor, Keep, SHAPES, can_start, is_token};
use memchr::{memchr, memchr2_iter, memchr3_iter, memmem};
use serde_json::Value;
use std::borrow::Cow;

/// What stands in place of a credential, behind the kept prefix. It holds no shape, so it is never found again.
pub const MARKER: &str = "…REDACTED";

/// Fields of a row that clients key on; redaction never alters them (RED-026).
pub const IDENTITY: [&str; 4] = ["harness", "sid", "session", "resume_id"];

/// `text` with every credential replaced; borrowed when there is none.
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_until(text, usize::MAX)
}

/// Redacts in place; whether anything changed.
pub fn sweep(text: &mut String) -> bool {
    match redact(text) {
        Cow::Borrowed(_) => false,
        Cow::Owned(redacted) => {
            *text = redacted;
            true
        }
    }
}

/// Redacts every string below `value` except the values of the object keys in `except`; whether anything changed
/// (RED-025, RED-028). Walks with a list of its own instead of recursing.
pub fn sweep_value(value: &mut Value, except: &[&str]) -> bool {
    let mut changed = false;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => changed |= sweep(text),
            Value::Array(list) => open.extend(list),
            Value::Object(map) => {
                open.extend(map.iter_mut().filter(|(key, _)| !except.contains(&key.as_str())).map(|(_, value)| value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    changed
}

/// As [`redact`], stopping once `budget` characters are certain; what is beyond them is cut or left as it was.
pub(super) fn redact_until(text: &str, budget: usize) -> Cow<'_, str> {
    if may_match(text) { scan(text, budget) } else { Cow::Borrowed(text) }
}

/// The scan itself, without the gate.
pub(super) fn scan(text: &str, budget: usize) -> Cow<'_, str> {
    let mut out = String::new();
    let mut room = budget;
    // Offsets: up to which the text is in `out`, where to look next, and where looking ends.
    let (mut copied, mut at, mut stop) = (0, 0, offset(text, 0, budget));
    while let Some(start) = next_start(text, at, stop) {
        let Some((length, kept)) = credential(text, start) else {
            // One character on, not behind the near miss: it must not shield a key inside it (RED-012).
            at = start + 1;
            continue;
        };
        let shown = text.get(copied..start + kept).unwrap_or_default();
        out.push_str(shown);
        out.push_str(MARKER);
        at = start + length;
        copied = at;
        if room < usize::MAX {
            room = room.saturating_sub(shown.chars().count() + MARKER.chars().count());
        }
        stop = offset(text, at, room);
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..stop).unwrap_or_default());
    Cow::Owned(out)
}

/// Offset of the character `chars` behind the offset `from`, or the end.
fn offset(text: &str, from: usize, chars: usize) -> usize {
    if chars >= text.len() - from {
        return text.len();
    }
    let rest = text.get(from..).unwrap_or_default();
    if rest.as_bytes().get(..chars).is_some_and(<[u8]>::is_ascii) {
        return from + chars;
    }
    rest.char_indices().nth(chars).map_or(text.len(), |(at, _)| from + at)
}

fn next_start(text: &str, from: usize, to: usize) -> Option<usize> {
    let window = text.as_bytes().get(from..to)?;
    window.iter().position(|b| can_start(*b)).map(|at| from + at)
}

/// Length and kept prefix, in bytes, of the credential that begins at `at`.
fn credential(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let first = bytes.get(at)?;
    let inside = at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(|b| is_token(*b));
    for shape in SHAPES.iter().filter(|shape| shape.starts.contains(first)) {
        if inside && matches!(shape.anchor, Anchor::Token) {
            // Rejected if it matched. Passing on is the same, as any shape behind it has another prefix.
            continue;
        }
        let Some(length) = (shape.find)(text, at) else { continue };
        if inside && matches!(shape.anchor, Anchor::TokenBelow(exempt) if length < exempt) {
            return None;
        }
        let kept = match shape.keep {
            Keep::First(bytes) => bytes,
            Keep::AllButLast(bytes) => length - bytes,
        };
        return Some((length, kept));
    }
    None
}

/// Whether the scan has anything to look for (RED-040): never false for a text that holds a match.
pub(super) fn may_match(text: &str) -> bool {
    let bytes = text.as_bytes();
    if let Some(at) = memmem::find(bytes, b"://") {
        let behind = bytes.get(at + 3..).unwrap_or_default();
        if memchr(b'@', bytes).is_some() || memchr(b':', behind).is_some() {
            return true;
        }
    }
    // No shape but the URL's has fewer than 20 characters.
    bytes.len() >= 20
        && (memchr2_iter(b'-', b'_', bytes).any(|at| has_cue(bytes, at, &JOINED))
            || memchr3_iter(b'A', b'x', b'J', bytes).any(|at| has_cue(bytes, at, &PLAIN)))
}

/// A literal that every match of some shape contains, and the place in it of the byte it is looked for by.
type Cue = (&'static [u8], usize);

/// Cues looked for by their first `-` or `_`, which prose has few of.
const JOINED: [Cue; 17] = [
    (b"sk-", 2),
    (b"sk_", 2),
    (b"rk_", 2),
    (b"ghp_", 3),
    (b"gho_", 3),
    (b"ghu_", 3),
    (b"ghs_", 3),
    (b"ghr_", 3),
    (b"github_pat_", 6),
    (b"glpat-", 5),
    (b"npm_", 3),
    (b"lin_api_", 3),
    (b"xapp-", 4),
    (b"phc_", 3),
    (b"-----BEGIN ", 0),
    (b"secret_access_key", 6),
    (b"SECRET_ACCESS_KEY", 6),
];

/// Cues without either, looked for by their rarest letter.
const PLAIN: [Cue; 6] = [(b"AKIA", 0), (b"ASIA", 0), (b"AIza", 0), (b"secretAccessKey", 6), (b"xox", 0), (b"eyJ", 2)];

fn has_cue(bytes: &[u8], at: usize, cues: &[Cue]) -> bool {
    let byte = bytes.get(at);
    cues.iter().filter(|(cue, pivot)| cue.get(*pivot) == byte).any(|(cue, pivot)| {
        at.checked_sub(*pivot).and_then(|start| bytes.get(start..)).is_some_and(|rest| rest.starts_with(cue))
    })
}
