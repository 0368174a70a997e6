//! Bounds in characters that never end inside a kept prefix or a marker.

use super::marks::combining;
use super::redact::{MARKER, redact_until};
use super::safe::then;
use std::borrow::Cow;

/// How far before a cut a marker may begin and still be finished, characters: all of it but one.
const BEFORE: usize = 8;
/// How far behind it: the longest kept prefix is 11, and one of its characters lies before the cut.
const BEHIND: usize = 10;

/// `text` redacted, then at most `limit` characters of it; up to 19 more when that finishes a marker (RED-030..034).
pub fn redact_clip(text: &str, limit: usize) -> Cow<'_, str> {
    let budget = limit.saturating_add(BEFORE + BEHIND + 2);
    then(redact_until(text, budget), |text| Cow::Borrowed(bound(text, limit)))
}

/// The first `limit` characters, or as many more as finish a marker that begins near the cut.
fn bound(text: &str, limit: usize) -> &str {
    let Some(cut) = offset(text, limit) else { return text };
    text.get(..marker_end(text, limit).unwrap_or(cut)).unwrap_or(text)
}

/// Offset behind the first marker that begins at most 8 characters before `limit` and 10 behind it.
fn marker_end(text: &str, limit: usize) -> Option<usize> {
    let from = offset(text, limit.saturating_sub(BEFORE))?;
    let to = offset(text, limit.saturating_add(BEHIND)).map_or(text.len(), |at| text.len().min(at + MARKER.len()));
    let window = text.as_bytes().get(from..to)?;
    memchr::memmem::find(window, MARKER.as_bytes()).map(|at| from + at + MARKER.len())
}

/// Offset of the character number `chars`; `None` when the text ends before it.
fn offset(text: &str, chars: usize) -> Option<usize> {
    match text.as_bytes().get(..chars) {
        None => None,
        // Plain text is counted many bytes at a time.
        Some(head) if head.is_ascii() => (text.len() > chars).then_some(chars),
        Some(_) => text.char_indices().nth(chars).map(|(at, _)| at),
    }
}

/// A redacted line for people: at most `limit` characters and an ellipsis, cut at a word when one ends in the last
/// third (TEXT-004). Where it must cut inside a word, a marker there is finished instead.
pub fn clip(text: &str, limit: usize) -> Cow<'_, str> {
    let Some(cut) = offset(text, limit) else { return Cow::Borrowed(text) };
    let hard = text.get(..cut).unwrap_or(text).trim_end();
    let word = hard.rfind(' ').filter(|at| hard.get(..*at).is_some_and(|head| head.chars().count() > limit * 2 / 3));
    let line = match word.and_then(|at| text.split_at_checked(at)) {
        Some((line, rest)) => without_prefix(line, rest),
        None => match marker_end(text, limit) {
            Some(end) => return Cow::Borrowed(text.get(..end).unwrap_or(text)),
            None => hard,
        },
    };
    let line = line.trim_end_matches([' ', '.', ',', ';', ':', '-', '_', '/', '(']).trim_end_matches(combining);
    Cow::Owned(format!("{line}…"))
}

/// The one kept prefix with a space in it must not stay behind when the cut takes its marker.
fn without_prefix<'a>(line: &'a str, rest: &str) -> &'a str {
    match line.strip_suffix("-----BEGIN") {
        Some(before) if rest.trim_start_matches(' ').starts_with(MARKER) => before,
        _ => line,
    }
}
