//! The head of a request out of the bytes a peer sent. Pure: no socket, no clock.
//!
//! Refuses what could be read in two ways: two `Host` lines, lengths that contradict each other, a length beside
//! `Transfer-Encoding`, folded lines, control characters.

use super::Fault;

/// Longest request line with its line end, bytes (HTTP-004).
pub const MAX_REQUEST_LINE: usize = 65_536;
/// Longest header line with its line end, bytes (HTTP-004).
pub const MAX_HEADER_LINE: usize = 65_536;
/// Most header lines (HTTP-004).
pub const MAX_HEADERS: usize = 100;
/// Longest head altogether, bytes; a hundred lines of the longest kind would be six megabytes.
pub const MAX_HEAD: usize = 262_144;

/// Where the head ends, found in bytes that arrive piece by piece. Looks at each byte once.
#[derive(Debug, Default)]
pub struct Scanner {
    /// Bytes looked at.
    seen: usize,
    /// Where the unfinished line begins.
    line: usize,
    /// Lines finished after leading empty ones; the first is the request line.
    lines: usize,
    /// Where the request line begins and ends, its line end excluded.
    request: (usize, usize),
}

/// A complete head inside the buffer it was scanned in.
#[derive(Debug, PartialEq, Eq)]
pub struct Extent {
    /// The request line without its line end.
    pub request: std::ops::Range<usize>,
    /// The header lines up to and including the empty line.
    pub headers: std::ops::Range<usize>,
}

impl Scanner {
    /// Takes note of `buffer`, which begins with everything given before; the extent once the head is complete.
    pub fn feed(&mut self, buffer: &[u8]) -> Result<Option<Extent>, Fault> {
        while let Some(at) = buffer.get(self.seen..).and_then(|rest| memchr::memchr(b'\n', rest)) {
            let end = self.seen + at + 1;
            let line = buffer.get(self.line..end).unwrap_or_default();
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            self.judge(line.len(), end)?;
            if self.lines == 0 {
                if !text.is_empty() {
                    self.request = (self.line, self.line + text.len());
                    self.lines = 1;
                }
            } else if text.is_empty() {
                let headers_start = self.request_end(buffer);
                return Ok(Some(Extent { request: self.request.0..self.request.1, headers: headers_start..end }));
            } else {
                self.lines += 1;
                if self.lines - 1 > MAX_HEADERS {
                    return Err(Fault::HeadersTooLarge);
                }
            }
            (self.seen, self.line) = (end, end);
        }
        self.seen = buffer.len();
        self.judge(buffer.len() - self.line, buffer.len())?;
        Ok(None)
    }

    fn judge(&self, line: usize, total: usize) -> Result<(), Fault> {
        if self.lines == 0 && line > MAX_REQUEST_LINE {
            return Err(Fault::LineTooLong);
        }
        if (self.lines > 0 && line > MAX_HEADER_LINE) || total > MAX_HEAD {
            return Err(Fault::HeadersTooLarge);
        }
        Ok(())
    }

    /// The first byte after the request line's own line end.
    fn request_end(&self, buffer: &[u8]) -> usize {
        match buffer.get(self.request.1) {
            Some(b'\r') => self.request.1 + 2,
            _ => self.request.1 + 1,
        }
    }
}

/// Header lines in the order sent; names lower-case, values without surrounding blanks.
#[derive(Clone, Debug, Default)]
pub struct Headers(Vec<(String, Vec<u8>)>);

impl Headers {
    /// Every value sent under a name (given in lower case), in order.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
        self.0.iter().filter(move |(n, _)| n == name).map(|(_, value)| value.as_slice())
    }

    /// Header lines made by hand.
    #[cfg(test)]
    pub fn from_lines(lines: &[(&str, &str)]) -> Self {
        Self(lines.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect())
    }

    /// The first value sent under a name, when it is ASCII.
    pub fn text(&self, name: &str) -> Option<&str> {
        let value = self.0.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_slice())?;
        std::str::from_utf8(value).ok().filter(|text| text.is_ascii())
    }
}

/// The body length a peer declared (HTTP-011).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// So many bytes; none when no length was sent, or a transfer encoding instead.
    Bytes(u64),
    /// Not a number, or one no reply needs to fear to refuse.
    Unusable,
}

/// A parsed head.
#[derive(Clone, Debug)]
pub struct Head {
    /// The method as sent.
    pub method: String,
    /// The request target as sent.
    pub target: String,
    /// The header lines.
    pub headers: Headers,
    /// The length of the body.
    pub declared: Declared,
    /// Whether the peer waits for leave to send its body.
    pub expects_continue: bool,
}

/// Parses a complete head.
pub fn parse(buffer: &[u8], extent: &Extent) -> Result<Head, Fault> {
    let line = buffer.get(extent.request.clone()).unwrap_or_default();
    let (method, target) = request_line(line)?;
    let headers = header_lines(buffer.get(extent.headers.clone()).unwrap_or_default())?;
    if headers.all("host").count() > 1 {
        return Err(Fault::Malformed);
    }
    let declared = declared(&headers)?;
    let expects_continue = headers.text("expect").is_some_and(|v| v.eq_ignore_ascii_case("100-continue"));
    Ok(Head { method, target, headers, declared, expects_continue })
}

/// `METHOD target HTTP/1.x`, single spaces, nothing else.
fn request_line(line: &[u8]) -> Result<(String, String), Fault> {
    let mut parts = line.split(|b| *b == b' ');
    let (Some(method), Some(target), Some(version), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Fault::Malformed);
    };
    match major_version(version) {
        Some(1) => {}
        Some(2..) => return Err(Fault::Version),
        _ => return Err(Fault::Malformed),
    }
    if method.is_empty() || !method.iter().all(|b| is_token(*b)) {
        return Err(Fault::Malformed);
    }
    if target.is_empty() || target.iter().any(|b| *b <= b' ' || *b == 0x7f) {
        return Err(Fault::Malformed);
    }
    Ok((String::from_utf8_lossy(method).into_owned(), String::from_utf8_lossy(target).into_owned()))
}

/// The number before the dot of `HTTP/<digits>.<digits>`; leading zeros are not a version.
fn major_version(version: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(version.strip_prefix(b"HTTP/")?).ok()?;
    let (major, minor) = text.split_once('.')?;
    let number = |digits: &str| -> Option<u64> {
        let plain = !digits.is_empty() && digits.len() <= 10 && digits.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| digits.parse().ok()).flatten()
    };
    number(minor)?;
    number(major)
}

/// A character of an HTTP token.
fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)
}

fn header_lines(bytes: &[u8]) -> Result<Headers, Fault> {
    let mut slots = [httparse::EMPTY_HEADER; MAX_HEADERS];
    match httparse::parse_headers(bytes, &mut slots) {
        Ok(httparse::Status::Complete((_, lines))) => {
            Ok(Headers(lines.iter().map(|h| (h.name.to_ascii_lowercase(), h.value.trim_ascii().to_vec())).collect()))
        }
        Err(httparse::Error::TooManyHeaders) => Err(Fault::HeadersTooLarge),
        Ok(httparse::Status::Partial) | Err(_) => Err(Fault::Malformed),
    }
}

/// Several lines of one equal length count as one; different lengths, or a length beside a transfer encoding, are two
/// answers to where the request ends and are refused.
fn declared(headers: &Headers) -> Result<Declared, Fault> {
    let mut lengths = headers.all("content-length");
    let Some(first) = lengths.next() else { return Ok(Declared::Bytes(0)) };
    if lengths.any(|other| other != first) || headers.all("transfer-encoding").next().is_some() {
        return Err(Fault::Malformed);
    }
    let digits = !first.is_empty() && first.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(first).ok().filter(|_| digits).and_then(|text| text.parse().ok());
    Ok(number.map_or(Declared::Unusable, Declared::Bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Result<Option<Head>, Fault> {
        let extent = Scanner::default().feed(bytes)?;
        extent.map(|extent| parse(bytes, &extent)).transpose()
    }

    fn head(bytes: &[u8]) -> Head {
        read(bytes).unwrap().unwrap()
    }

    /// HTTP-004.
    #[test]
    fn http_004_a_plain_head() {
        let head = head(b"POST /api/notify?x=1 HTTP/1.1\r\nHost:  127.0.0.1 \r\nContent-Length: 12\r\n\r\n{}");
        assert_eq!((head.method.as_str(), head.target.as_str()), ("POST", "/api/notify?x=1"));
        assert_eq!(head.headers.text("host"), Some("127.0.0.1"));
        assert_eq!(head.declared, Declared::Bytes(12));
    }

    /// HTTP-004.
    #[test]
    fn http_004_leading_empty_lines_and_bare_line_feeds_are_tolerated() {
        let head = head(b"\r\n\nGET / HTTP/1.0\nHost: a\n\n");
        assert_eq!((head.target.as_str(), head.headers.text("host")), ("/", Some("a")));
    }

    /// HTTP-004.
    #[test]
    fn http_004_lines_at_and_over_their_limit() {
        let line = |n: usize| [b"GET /".as_slice(), &vec![b'a'; n - 5 - 11], b" HTTP/1.1\r\n\r\n"].concat();
        assert!(read(&line(MAX_REQUEST_LINE)).unwrap().is_some());
        assert_eq!(read(&line(MAX_REQUEST_LINE + 1)).unwrap_err(), Fault::LineTooLong);
        assert_eq!(read(&vec![b'a'; MAX_REQUEST_LINE + 1]).unwrap_err(), Fault::LineTooLong, "without a line end too");
        let header = |n: usize| [b"GET / HTTP/1.1\r\nX: ".as_slice(), &vec![b'a'; n - 5], b"\r\n\r\n"].concat();
        assert!(read(&header(MAX_HEADER_LINE)).unwrap().is_some());
        assert_eq!(read(&header(MAX_HEADER_LINE + 1)).unwrap_err(), Fault::HeadersTooLarge);
        let many = |n: usize| [b"GET / HTTP/1.1\r\n".to_vec(), b"X: a\r\n".repeat(n), b"\r\n".to_vec()].concat();
        assert!(read(&many(MAX_HEADERS)).unwrap().is_some());
        assert_eq!(read(&many(MAX_HEADERS + 1)).unwrap_err(), Fault::HeadersTooLarge);
        let fat = [
            b"GET / HTTP/1.1\r\n".to_vec(),
            [b"X: ".to_vec(), vec![b'a'; 60_000], b"\r\n".to_vec()].concat().repeat(5),
        ];
        assert_eq!(read(&fat.concat()).unwrap_err(), Fault::HeadersTooLarge, "a head that never ends");
    }

    /// HTTP-004.
    #[test]
    fn http_004_versions() {
        for (version, want) in [
            ("HTTP/1.0", None),
            ("HTTP/1.1", None),
            ("HTTP/1.9", None),
            ("HTTP/2.0", Some(Fault::Version)),
            ("HTTP/10.1", Some(Fault::Version)),
            ("HTTP/0.9", Some(Fault::Malformed)),
            ("HTTP/1", Some(Fault::Malformed)),
            ("HTTP/1.", Some(Fault::Malformed)),
            ("HTTP/+1.1", Some(Fault::Malformed)),
            ("HTTP/99999999999.1", Some(Fault::Malformed)),
            ("http/1.1", Some(Fault::Malformed)),
        ] {
            assert_eq!(read(format!("GET / {version}\r\n\r\n").as_bytes()).err(), want, "{version}");
        }
    }

    /// HTTP-004.
    #[test]
    fn http_004_malformed_heads() {
        for bytes in [
            b"GET /\r\n\r\n".as_slice(),
            b"GET\r\n\r\n",
            b"GET  / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1 \r\n\r\n",
            b" GET / HTTP/1.1\r\n\r\n",
            b"GET /a b HTTP/1.1\r\n\r\n",
            b"GET /\x01 HTTP/1.1\r\n\r\n",
            b"GET /\t HTTP/1.1\r\n\r\n",
            b"G\xc3\xa9T / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
            b"GET / HTTP/1.1\r\n: a\r\n\r\n",
            b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
            b"GET / HTTP/1.1\r\nX: a\x00b\r\n\r\n",
            b"GET / HTTP/1.1\r\nX: a\rb\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        ] {
            assert_eq!(read(bytes).err(), Some(Fault::Malformed), "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    /// HTTP-011.
    #[test]
    fn http_011_declared_lengths() {
        let with =
            |lines: &str| read(format!("POST / HTTP/1.1\r\n{lines}\r\n").as_bytes()).map(|h| h.unwrap().declared);
        assert_eq!(with(""), Ok(Declared::Bytes(0)));
        assert_eq!(with("Transfer-Encoding: chunked\r\n"), Ok(Declared::Bytes(0)));
        assert_eq!(with("Content-Length:  5 \r\n"), Ok(Declared::Bytes(5)));
        assert_eq!(with("Content-Length: 5\r\ncontent-length: 5\r\n"), Ok(Declared::Bytes(5)));
        for junk in ["-1", "+5", "abc", "1e3", "0x10", "12;", "5,5", "5 5", "", "99999999999999999999999", "٥"] {
            assert_eq!(with(&format!("Content-Length: {junk}\r\n")), Ok(Declared::Unusable), "{junk:?}");
        }
        assert_eq!(with("Content-Length: 5\r\nContent-Length: 6\r\n"), Err(Fault::Malformed));
        assert_eq!(with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), Err(Fault::Malformed));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// TRUST-080: no bytes make the head reader panic, and a head read in pieces is the head read at once.
        #[test]
        fn trust_080_pieces_and_whole_agree(tail in proptest::collection::vec(any::<u8>(), 0..200), seed in 0usize..6, cut in 1usize..40) {
            let starts: [&[u8]; 6] = [b"", b"GET / HTTP/1.1\r\n", b"POST /a HTTP/1.1\r\nContent-Length: ", b"GET / HTTP/1.1\r\nHost:", b"\r\n\r\n", b"GET http://a/ HTTP/1.1\nX: "];
            let bytes = [starts[seed], &tail, b"\r\n\r\n"].concat();
            let whole = Scanner::default().feed(&bytes);
            let (mut pieces, mut at) = (Scanner::default(), 0);
            let piecewise = loop {
                at = (at + cut).min(bytes.len());
                match pieces.feed(&bytes[..at]) {
                    Ok(None) if at < bytes.len() => {}
                    other => break other,
                }
            };
            prop_assert_eq!(&whole, &piecewise);
            if let Ok(Some(extent)) = whole
                && let Ok(head) = parse(&bytes, &extent)
            {
                prop_assert!(head.headers.all("host").count() <= 1);
                prop_assert!(!head.target.bytes().any(|b| b <= b' '));
            }
        }
    }
}
