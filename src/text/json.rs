//! Records as harnesses write them, made readable for a strict JSON reader: a byte order mark, bytes that are no UTF-8
//! and halves of surrogate pairs are ordinary data, not errors (SAFE-003, TRUST-033).

use memchr::{memchr, memchr2_iter, memmem};
use std::borrow::Cow;

/// Deepest nesting of a record that is read, levels.
pub const MAX_DEPTH: usize = 128;

/// One line as the text of a record: `None` when it is no object or nests too deep, so that it is skipped before
/// anything recurses over it.
pub fn record(line: &[u8]) -> Option<Cow<'_, str>> {
    let line = line.strip_prefix(BOM).unwrap_or(line).trim_ascii();
    (line.first() == Some(&b'{') && !too_deep(line)).then(|| lenient(line))
}

/// UTF-8's byte order mark.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// `line` without a byte order mark, with U+FFFD for bytes that are no UTF-8 and for escapes of lone surrogates;
/// borrowed when there is nothing to mend.
pub fn lenient(line: &[u8]) -> Cow<'_, str> {
    let line = line.strip_prefix(BOM).unwrap_or(line);
    // Checked at once where possible: the lossy reader goes byte by byte.
    let text = std::str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
    let bytes = text.as_bytes();
    if memmem::find(bytes, br"\ud").is_none() && memmem::find(bytes, br"\uD").is_none() {
        return text;
    }
    let lone = lone_surrogates(bytes);
    if lone.is_empty() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for at in lone {
        out.push_str(text.get(copied..at).unwrap_or_default());
        out.push_str(r"\ufffd");
        copied = at + ESCAPE;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Length of a `\uXXXX` escape.
const ESCAPE: usize = 6;

/// Offsets of surrogate escapes that do not make a pair.
fn lone_surrogates(bytes: &[u8]) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr(b'\\', rest)) {
        at += found;
        match code_unit(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(code_unit(bytes, at + ESCAPE), Some(0xDC00..=0xDFFF)) => {
                at += 2 * ESCAPE;
            }
            Some(0xD800..=0xDFFF) => {
                lone.push(at);
                at += ESCAPE;
            }
            // Whatever is escaped is one character: in `\\ud800` that is the second backslash.
            _ => at += 2,
        }
    }
    lone
}

/// The code unit of the `\uXXXX` escape at `at`.
fn code_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + ESCAPE)?.strip_prefix(br"\u")?;
    digits.iter().try_fold(0, |unit: u16, digit| Some(unit << 4 | char::from(*digit).to_digit(16)? as u16))
}

/// Whether a JSON text nests deeper than [`MAX_DEPTH`] levels.
pub fn too_deep(json: &[u8]) -> bool {
    // Few brackets, wherever they stand, cannot nest deep; only a line with more is looked at byte by byte.
    memchr2_iter(b'{', b'[', json).nth(MAX_DEPTH).is_some() && depth_exceeds(json, MAX_DEPTH)
}

fn depth_exceeds(json: &[u8], most: usize) -> bool {
    let mut depth = 0usize;
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'{' | b'[' => {
                depth += 1;
                if depth > most {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}
