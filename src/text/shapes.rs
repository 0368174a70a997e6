//! The sixteen credential shapes, in order of precedence: the one list every redaction point uses (RED-001).
//!
//! Each shape is a hand-written matcher over bytes: at a position it tells how long the match is, reading a bounded
//! number of bytes or a stretch no other start reads again, so the whole scan stays linear (RED-042).

/// How much of a match stays in front of the marker.
#[derive(Clone, Copy)]
pub(super) enum Keep {
    /// The first bytes: they name the kind and never reach the key's body.
    First(usize),
    /// All but the last bytes: the cue, the separator and the quote.
    AllButLast(usize),
}

/// Whether a match may begin inside a token (RED-011).
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    /// Anywhere.
    Free,
    /// Only where a token begins.
    Token,
    /// Only where a token begins, unless the match has at least this many characters.
    TokenBelow(usize),
}

/// One kind of credential.
pub(super) struct Shape {
    pub keep: Keep,
    pub anchor: Anchor,
    /// Bytes a match can begin with.
    pub starts: &'static [u8],
    /// Length in bytes of the match that begins at an offset.
    pub find: fn(&str, usize) -> Option<usize>,
}

const fn shape(keep: Keep, anchor: Anchor, starts: &'static [u8], find: fn(&str, usize) -> Option<usize>) -> Shape {
    Shape { keep, anchor, starts, find }
}

use Anchor::{Free, Token, TokenBelow};
use Keep::{AllButLast, First};

/// Every shape. No two share a prefix but the first two, and of those the second is anchored without exemption.
pub(super) const SHAPES: [Shape; 16] = [
    // Anthropic
    shape(First(7), TokenBelow(90), b"s", |t, at| keyed(t, at, &["sk-ant-"], is_token, 16, 110)),
    // OpenAI and its kin; its body is as long as hyphenated names get, hence no exemption (RED-014)
    shape(First(3), Token, b"s", |t, at| keyed(t, at, &["sk-"], is_token, 32, 180)),
    // Stripe; publishable keys are public on purpose (RED-010)
    shape(First(8), Token, b"sr", |t, at| {
        keyed(t, at, &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], is_alnum, 20, 120)
    }),
    // AWS access key id
    shape(First(4), TokenBelow(20), b"A", |t, at| {
        let end = keyed(t, at, &["AKIA", "ASIA"], is_upper_digit, 16, 16)?;
        closed(t, at, end, is_token)
    }),
    // AWS secret access key, known by its cue alone
    shape(AllButLast(40), Free, b"asA", aws_secret),
    // GitHub classic, then fine-grained
    shape(First(4), Token, b"g", |t, at| keyed(t, at, &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], is_alnum, 36, 255)),
    shape(First(11), TokenBelow(51), b"g", |t, at| keyed(t, at, &["github_pat_"], is_word, 40, 96)),
    // GitLab
    shape(First(6), Token, b"g", |t, at| keyed(t, at, &["glpat-"], is_token, 20, 64)),
    // npm
    shape(First(4), Token, b"n", |t, at| keyed(t, at, &["npm_"], is_alnum, 36, 36)),
    // Linear
    shape(First(8), TokenBelow(48), b"l", |t, at| keyed(t, at, &["lin_api_"], is_alnum, 40, 64)),
    // Slack
    shape(First(5), Token, b"x", |t, at| {
        keyed(t, at, &["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xapp-"], is_alnum_dash, 15, 96)
    }),
    // PostHog
    shape(First(4), Token, b"p", |t, at| keyed(t, at, &["phc_"], is_alnum, 32, 64)),
    // Google
    shape(First(4), Token, b"A", |t, at| {
        let end = keyed(t, at, &["AIza"], is_token, 35, 35)?;
        closed(t, at, end, is_token)
    }),
    shape(First(3), Token, b"e", jwt),
    shape(First(11), Free, b"-", pem),
    shape(First(3), Free, b":", url_credential),
];

/// Whether some shape can begin with this byte.
pub(super) fn can_start(byte: u8) -> bool {
    matches!(byte, b's' | b'r' | b'A' | b'a' | b'g' | b'n' | b'l' | b'x' | b'p' | b'e' | b'-' | b':')
}

/// Letters, digits, `_` and `-`, of ASCII.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_alnum_dash(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn is_upper_digit(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+' | b'=')
}

fn is_line_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\r' | b'\n')
}

/// One of `prefixes`, then `min` to `max` bytes of `class`.
fn keyed(text: &str, at: usize, prefixes: &[&str], class: fn(u8) -> bool, min: usize, max: usize) -> Option<usize> {
    let prefix = prefixes.iter().find(|p| begins(text, at, p))?.len();
    let body = run(text, at + prefix, max, class);
    (body >= min).then_some(prefix + body)
}

/// `length`, unless a byte of `class` follows the match.
fn closed(text: &str, at: usize, length: usize, class: fn(u8) -> bool) -> Option<usize> {
    let next = text.as_bytes().get(at + length);
    next.is_none_or(|b| !class(*b)).then_some(length)
}

fn aws_secret(text: &str, at: usize) -> Option<usize> {
    let cue = ["aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "secretAccessKey"];
    let mut end = at + cue.iter().find(|c| begins(text, at, c))?.len();
    end += run(text, end, 1, is_quote);
    end += white(text, end);
    text.as_bytes().get(end).filter(|b| matches!(b, b':' | b'='))?;
    end += 1;
    end += white(text, end);
    end += run(text, end, 1, is_quote);
    (run(text, end, 41, is_base64) == 40).then_some(end + 40 - at)
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

/// JSON web token: three segments. One alone is a payload, and those are everywhere.
fn jwt(text: &str, at: usize) -> Option<usize> {
    if !begins(text, at, "eyJ") {
        return None;
    }
    let mut end = at + 3;
    for most in [1024, 4096] {
        let body = run(text, end, most + 1, is_token);
        end += body;
        if !(8..=most).contains(&body) || text.as_bytes().get(end) != Some(&b'.') {
            return None;
        }
        end += 1;
    }
    let body = run(text, end, 1024, is_token);
    (body >= 8).then_some(end + body - at)
}

/// A private key: its header, and as much behind it as is body and footer. Line breaks may have become spaces, so
/// the body is told from a sentence by the length of its runs (RED-018, RED-019).
fn pem(text: &str, at: usize) -> Option<usize> {
    let mut end = pem_header(text, at)?;
    for _ in 0..200 {
        let gap = run(text, end, 4, is_line_space);
        let body = run(text, end + gap, 76, is_base64);
        if body < 16 {
            break;
        }
        end += gap + body;
    }
    let gap = run(text, end, 4, is_line_space);
    let last = run(text, end + gap, 16, is_base64);
    if (1..=15).contains(&last) && pem_footer(text, end + gap + last).is_some() {
        end += gap + last;
    }
    if let Some(footer) = pem_footer(text, end) {
        let line = text.as_bytes().get(footer..).unwrap_or_default();
        let line = line.get(..memchr::memchr(b'\n', line).unwrap_or(line.len())).unwrap_or_default();
        spend(line.len());
        if let Some(dashes) = memchr::memmem::rfind(line, b"-----") {
            end = footer + dashes + 5;
        }
    }
    Some(end - at)
}

fn pem_header(text: &str, at: usize) -> Option<usize> {
    if !begins(text, at, "-----BEGIN ") {
        return None;
    }
    let mut end = at + 11;
    loop {
        let close = ["PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"];
        if let Some(close) = close.iter().find(|c| begins(text, end, c)) {
            return Some(end + close.len());
        }
        let word = run(text, end, usize::MAX, is_upper_digit);
        if word == 0 || text.as_bytes().get(end + word) != Some(&b' ') {
            return None;
        }
        end += word + 1;
    }
}

/// Offset behind `-----END`, when only up to four spaces and line breaks stand before it.
fn pem_footer(text: &str, at: usize) -> Option<usize> {
    let start = at + run(text, at, 4, is_line_space);
    begins(text, start, "-----END").then_some(start + 8)
}

/// User name and password of a URL; the `@` stays outside, so the host stays visible (RED-009). A password that runs
/// to the end of the text counts, since its `@` may have been cut off, unless it is all digits: that is a port.
fn url_credential(text: &str, at: usize) -> Option<usize> {
    if !begins(text, at, "://") {
        return None;
    }
    let rest = text.get(at + 3..)?;
    let user = rest.find(|c: char| matches!(c, '/' | ':' | '@') || c.is_whitespace()).unwrap_or(rest.len());
    spend(user);
    let password = rest.get(user..)?.strip_prefix(':')?;
    let length = password.find(|c: char| matches!(c, '/' | '@') || c.is_whitespace()).unwrap_or(password.len());
    spend(length);
    let (word, behind) = password.split_at_checked(length)?;
    let port = word.bytes().all(|b| b.is_ascii_digit());
    let ends = behind.starts_with('@') || (behind.is_empty() && !port);
    (ends && length > 0).then_some(3 + user + 1 + length)
}

fn begins(text: &str, at: usize, prefix: &str) -> bool {
    spend(1);
    text.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(prefix.as_bytes()))
}

/// How many bytes of `class` stand at `at`, counting at most `max`.
fn run(text: &str, at: usize, max: usize, class: fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let length = rest.iter().take(max).take_while(|b| class(**b)).count();
    spend(length + 1);
    length
}

/// Bytes of up to four characters of white space at `at`.
fn white(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.chars().take(4).take_while(|c| c.is_whitespace()).map(char::len_utf8).sum()
}

/// Counts bytes looked at, for the test that holds the scan to linear work.
#[cfg(test)]
fn spend(bytes: usize) {
    WORK.with(|work| work.set(work.get() + bytes));
}

#[cfg(not(test))]
fn spend(_: usize) {}

#[cfg(test)]
thread_local! {
    /// Bytes the matchers have looked at on this thread.
    pub(super) static WORK: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
