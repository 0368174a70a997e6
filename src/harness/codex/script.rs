//! The plan inside JavaScript source: the current tool call carries it as code, not as JSON (CODEX-039).
//!
//! Only literals are read: lists, objects, strings, numbers and words. Anything that would have to be run (a call, a
//! name, an interpolated template) makes its list unreadable. Nothing here is evaluated.

/// Deepest nesting of brackets or literals that is followed.
const DEEPEST: usize = 64;

/// A step's words and its status, when it has one.
pub type Entry = (String, Option<String>);

/// The last list in `source` that is made of objects with a text `step` each.
pub fn steps(source: &str) -> Option<Vec<Entry>> {
    // Spans may nest; each byte is read a few times at most, however they do.
    let mut left = source.len().saturating_mul(4);
    let mut spans = spans(source);
    spans.sort_unstable();
    spans.into_iter().rev().find_map(|(start, end)| {
        let span = source.get(start..=end)?;
        left = left.checked_sub(span.len())?;
        let mut reader = Reader { rest: span.as_bytes(), span };
        let list = reader.list_of_steps()?;
        (!list.is_empty()).then_some(list)
    })
}

/// Offsets of the balanced `[…]` that could hold a plan: the brackets themselves, strings and comments passed over.
fn spans(source: &str) -> Vec<(usize, usize)> {
    let bytes = source.as_bytes();
    let mut open = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'"' | b'\'' | b'`' => string_end(bytes, at),
            b'/' => comment_end(bytes, at).unwrap_or(at + 1),
            b'[' => {
                open.push(at);
                at + 1
            }
            b']' => {
                if let Some(start) = open.pop()
                    && may_hold_steps(bytes.get(start..=at).unwrap_or_default())
                {
                    found.push((start, at));
                }
                at + 1
            }
            _ => at + 1,
        };
    }
    found
}

fn may_hold_steps(span: &[u8]) -> bool {
    let inside = span.get(1..).unwrap_or_default().trim_ascii_start();
    matches!(inside.first(), Some(b'{' | b'/')) && memchr::memmem::find(span, b"step").is_some()
}

/// Offset behind the string that begins at `at`. A quoted one ends with its line at the latest, so that a stray
/// apostrophe does not swallow the rest.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let quote = bytes.get(at).copied().unwrap_or_default();
    let mut at = at + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' if quote != b'`' => return at,
            b if *b == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Offset behind the comment that begins at `at`, if one does.
fn comment_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    if rest.starts_with(b"//") {
        return Some(memchr::memchr(b'\n', rest).map_or(bytes.len(), |end| at + end));
    }
    let body = rest.strip_prefix(b"/*")?;
    Some(memchr::memmem::find(body, b"*/").map_or(bytes.len(), |end| at + 2 + end + 2))
}

/// A value as far as a plan needs it.
enum Value {
    Text(String),
    Other,
}

/// Reads literals off the front of a span.
struct Reader<'a> {
    rest: &'a [u8],
    span: &'a str,
}

impl Reader<'_> {
    fn list_of_steps(&mut self) -> Option<Vec<Entry>> {
        self.mark(b'[')?;
        let mut list = Vec::new();
        while self.mark(b']').is_none() {
            list.push(self.step()?);
            if self.mark(b',').is_none() {
                self.mark(b']')?;
                break;
            }
        }
        Some(list)
    }

    /// An object with a text `step`; a key that comes twice counts as its last.
    fn step(&mut self) -> Option<Entry> {
        self.mark(b'{')?;
        let (mut step, mut status) = (None, None);
        self.members(0, |key, value| match (key, value) {
            ("step", Value::Text(text)) => step = Some(text),
            ("status", Value::Text(text)) => status = Some(text),
            _ => {}
        })?;
        Some((step?, status))
    }

    /// The members of an object behind its opening brace, the closing one included.
    fn members(&mut self, depth: usize, mut each: impl FnMut(&str, Value)) -> Option<()> {
        while self.mark(b'}').is_none() {
            let key = self.key()?;
            self.mark(b':')?;
            let value = self.value(depth + 1)?;
            each(&key, value);
            if self.mark(b',').is_none() {
                return self.mark(b'}');
            }
        }
        Some(())
    }

    fn key(&mut self) -> Option<String> {
        self.blank();
        match self.rest.first()? {
            b'"' | b'\'' => self.string(),
            _ => self.word(),
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        self.blank();
        match self.rest.first()? {
            b'"' | b'\'' | b'`' => self.string().map(Value::Text),
            b'{' => {
                self.mark(b'{')?;
                self.members(depth, |_, _| {})?;
                Some(Value::Other)
            }
            b'[' => {
                self.mark(b'[')?;
                while self.mark(b']').is_none() {
                    self.value(depth + 1)?;
                    if self.mark(b',').is_none() {
                        self.mark(b']')?;
                        break;
                    }
                }
                Some(Value::Other)
            }
            b'0'..=b'9' | b'-' | b'+' | b'.' => {
                let number = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.' | b'_');
                let length = self.rest.iter().take_while(|b| number(b)).count();
                self.rest = self.rest.get(length..)?;
                Some(Value::Other)
            }
            _ => matches!(self.word()?.as_str(), "true" | "false" | "null" | "undefined").then_some(Value::Other),
        }
    }

    /// A bare name or number used as a key.
    fn word(&mut self) -> Option<String> {
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$') || *b >= 0x80;
        let length = self.rest.iter().take_while(|b| part(b)).count();
        let (word, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        (length > 0).then(|| String::from_utf8_lossy(word).into_owned())
    }

    /// A string in any of the three quotes, its escapes decoded.
    fn string(&mut self) -> Option<String> {
        let from = self.span.len() - self.rest.len();
        let quote = *self.rest.first()?;
        let mut chars = self.span.get(from + 1..)?.chars();
        let mut out = Units::default();
        loop {
            match chars.next()? {
                c if c == char::from(quote) => break,
                '\\' => escape(&mut chars, &mut out)?,
                '\n' if quote != b'`' => return None,
                // What would be put in here is not known without running it.
                '$' if quote == b'`' && chars.as_str().starts_with('{') => return None,
                c => out.push(c),
            }
        }
        self.rest = self.rest.get(self.rest.len() - chars.as_str().len()..)?;
        Some(out.finish())
    }

    fn mark(&mut self, mark: u8) -> Option<()> {
        self.blank();
        self.rest = self.rest.strip_prefix(&[mark])?;
        Some(())
    }

    /// Passes over white space and comments.
    fn blank(&mut self) {
        loop {
            self.rest = self.rest.trim_ascii_start();
            match comment_end(self.rest, 0) {
                Some(end) => self.rest = self.rest.get(end..).unwrap_or_default(),
                None => return,
            }
        }
    }
}

/// Text put together from characters and UTF-16 code units.
#[derive(Default)]
struct Units {
    text: String,
    high: Option<u16>,
}

impl Units {
    fn push(&mut self, c: char) {
        if self.high.take().is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        self.text.push(c);
    }

    fn unit(&mut self, unit: u16) {
        match (self.high.take(), unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                let pair = char::decode_utf16([high, unit]).next().and_then(Result::ok);
                self.text.push(pair.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (high, unit) => {
                if high.is_some() {
                    self.text.push(char::REPLACEMENT_CHARACTER);
                }
                if matches!(unit, 0xD800..=0xDBFF) {
                    self.high = Some(unit);
                } else {
                    self.text.push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
            }
        }
    }

    fn finish(mut self) -> String {
        if self.high.is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        self.text
    }
}

/// What stands behind a backslash.
fn escape(chars: &mut std::str::Chars<'_>, out: &mut Units) -> Option<()> {
    match chars.next()? {
        'n' => out.push('\n'),
        't' => out.push('\t'),
        'r' => out.push('\r'),
        'b' => out.push('\u{8}'),
        'f' => out.push('\u{c}'),
        'v' => out.push('\u{b}'),
        '0' => out.push('\0'),
        // A line continued on the next.
        '\n' => {}
        'x' => out.unit(hex(chars, 2)?),
        'u' if chars.as_str().starts_with('{') => {
            let (digits, rest) = chars.as_str().get(1..)?.split_once('}')?;
            out.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
            *chars = rest.chars();
        }
        'u' => out.unit(hex(chars, 4)?),
        other => out.push(other),
    }
    Some(())
}

fn hex(chars: &mut std::str::Chars<'_>, digits: usize) -> Option<u16> {
    (0..digits).try_fold(0, |n: u16, _| Some(n << 4 | chars.next()?.to_digit(16)? as u16))
}
