//! The client every command, forwarder and helper of ours uses to reach the dashboard (TRUST-001).
//!
//! One request over a plain socket to `127.0.0.1`, under one deadline, with the reply's body capped. It takes a port
//! and nothing else: there is no host to name, no proxy to honour and no redirect to follow.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Longest head of a reply, bytes.
const HEAD_CAP: usize = 65_536;

/// One request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// `GET` or `POST`.
    pub method: &'a str,
    /// Path with its query.
    pub path: &'a str,
    /// Further header lines; `Host`, `Connection` and the length of a `POST` are added.
    pub headers: &'a [(&'a str, &'a str)],
    /// Body of a `POST`.
    pub body: &'a [u8],
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status of its first line.
    pub status: u16,
    /// Its body, at most as many bytes as were asked for; the rest is not read.
    pub body: Vec<u8>,
}

/// Why there is none.
#[derive(Debug)]
pub enum Failure {
    /// Nothing listens, or it did not take the connection in time: nothing was sent.
    Unreachable(io::Error),
    /// The connection was made and ended, or the time ran out, before a whole reply: it may have been acted on.
    Lost(io::Error),
    /// What came back is not HTTP.
    NotHttp,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unreachable(error) => write!(f, "could not connect: {error}"),
            Failure::Lost(error) => write!(f, "the connection was lost: {error}"),
            Failure::NotHttp => f.write_str("the reply is not HTTP"),
        }
    }
}

/// Sends one request to the port and reads the reply, all within `limit`; at most `body_cap` body bytes are read.
pub fn request(port: u16, request: &Request<'_>, limit: Duration, body_cap: usize) -> Result<Reply, Failure> {
    let head = head(port, request).map_err(Failure::Unreachable)?;
    let deadline = Instant::now() + limit;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, limit).map_err(Failure::Unreachable)?;
    if stream.local_addr().is_ok_and(|own| own == address) {
        // A free port of the ephemeral range can be connected to itself; that is nobody.
        return Err(Failure::Unreachable(io::ErrorKind::ConnectionRefused.into()));
    }
    let _ = stream.set_nodelay(true);
    let sent = stream
        .set_write_timeout(Some(left(deadline).map_err(Failure::Lost)?))
        .and_then(|()| stream.write_all(&[head.as_bytes(), request.body].concat()));
    match (read_reply(&mut stream, deadline, body_cap), sent) {
        // A server may answer and close before it has read a body it refuses.
        (Ok(reply), _) => Ok(reply),
        (Err(_), Err(error)) => Err(Failure::Lost(error)),
        (Err(failure), Ok(())) => Err(failure),
    }
}

fn head(port: u16, request: &Request<'_>) -> io::Result<String> {
    let mut head = format!(
        "{} {} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n",
        checked(request.method)?,
        checked(request.path)?
    );
    if request.method == "POST" {
        head.push_str("Content-Length: ");
        head.push_str(&request.body.len().to_string());
        head.push_str("\r\n");
    }
    for (name, value) in request.headers {
        head.push_str(checked(name)?);
        head.push_str(": ");
        head.push_str(header_value(value)?);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    Ok(head)
}

/// A token of the request: visible ASCII, so that nothing can end its line.
fn checked(text: &str) -> io::Result<&str> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
    if plain { Ok(text) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain request")) }
}

fn header_value(text: &str) -> io::Result<&str> {
    let plain = text.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
    if plain { Ok(text) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain header")) }
}

fn left(deadline: Instant) -> io::Result<Duration> {
    let rest = deadline.saturating_duration_since(Instant::now());
    if rest.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(rest) }
}

fn read_reply(stream: &mut TcpStream, deadline: Instant, body_cap: usize) -> Result<Reply, Failure> {
    let mut got = Vec::new();
    let (status, body_from, length) = loop {
        if let Some(head) = parse_head(&got)? {
            break head;
        }
        if got.len() > HEAD_CAP {
            return Err(Failure::NotHttp);
        }
        if read_some(stream, deadline, &mut got)? == 0 {
            let ended = io::ErrorKind::UnexpectedEof.into();
            return Err(if got.is_empty() { Failure::Lost(ended) } else { Failure::NotHttp });
        }
    };
    let mut body = got.split_off(body_from.min(got.len()));
    let wanted = length.unwrap_or(usize::MAX).min(body_cap);
    while body.len() < wanted {
        match read_some(stream, deadline, &mut body) {
            Ok(0) if length.is_none() => break,
            Ok(0) => return Err(Failure::Lost(io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => {}
            Err(failure) => return Err(failure),
        }
    }
    body.truncate(wanted);
    Ok(Reply { status, body })
}

fn read_some(stream: &mut TcpStream, deadline: Instant, into: &mut Vec<u8>) -> Result<usize, Failure> {
    let mut buffer = [0u8; 8192];
    loop {
        let rest = left(deadline).map_err(Failure::Lost)?;
        stream.set_read_timeout(Some(rest)).map_err(Failure::Lost)?;
        match stream.read(&mut buffer) {
            Ok(n) => {
                into.extend_from_slice(buffer.get(..n).unwrap_or_default());
                return Ok(n);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(Failure::Lost(io::ErrorKind::TimedOut.into()));
            }
            Err(error) => return Err(Failure::Lost(error)),
        }
    }
}

/// Status, start of the body and its declared length, once the head is complete.
fn parse_head(got: &[u8]) -> Result<Option<(u16, usize, Option<usize>)>, Failure> {
    let mut headers = [httparse::EMPTY_HEADER; 100];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(got) {
        Ok(httparse::Status::Complete(body_from)) => {
            let status = response.code.ok_or(Failure::NotHttp)?;
            let length = response
                .headers
                .iter()
                .find(|header| header.name.eq_ignore_ascii_case("content-length"))
                .map(|header| std::str::from_utf8(header.value).ok().and_then(|v| v.trim().parse().ok()));
            match length {
                Some(None) => Err(Failure::NotHttp),
                Some(Some(length)) => Ok(Some((status, body_from, Some(length)))),
                None => Ok(Some((status, body_from, None))),
            }
        }
        Ok(httparse::Status::Partial) => Ok(None),
        Err(_) => Err(Failure::NotHttp),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    const SECOND: Duration = Duration::from_secs(5);

    /// A server that answers one connection with these bytes, then closes or holds; yields what it was sent.
    fn serve(answer: &'static [u8], hold: bool) -> (u16, std::thread::JoinHandle<Vec<u8>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let served = std::thread::spawn(move || {
            let (mut peer, _) = listener.accept().unwrap();
            let mut got = vec![0; 4096];
            let n = peer.read(&mut got).unwrap();
            got.truncate(n);
            peer.write_all(answer).unwrap();
            if hold {
                let _ = peer.read(&mut [0; 16]);
            }
            got
        });
        (port, served)
    }

    fn get(port: u16, limit: Duration, cap: usize) -> Result<Reply, Failure> {
        request(port, &Request { method: "GET", path: "/api/health", ..Request::default() }, limit, cap)
    }

    /// TRUST-001.
    #[test]
    fn trust_001_request_bytes_and_reply() {
        let (port, served) = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi and more", true);
        let headers = [("X-Cargento-Capability", "abc")];
        let sent = Request { method: "POST", path: "/api/x", headers: &headers, body: b"{}" };
        assert_eq!(request(port, &sent, SECOND, 100).unwrap(), Reply { status: 200, body: b"hi".to_vec() });
        let want = format!(
            "POST /api/x HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Length: 2\r\n\
             X-Cargento-Capability: abc\r\n\r\n{{}}"
        );
        assert_eq!(String::from_utf8(served.join().unwrap()).unwrap(), want);
    }

    /// LIFE-040.
    #[test]
    fn life_040_the_body_is_read_no_further_than_its_cap() {
        let (port, _served) = serve(b"HTTP/1.0 200 OK\r\nContent-Length: 999999\r\n\r\n0123456789", true);
        assert_eq!(get(port, SECOND, 4).unwrap().body, b"0123");
        let (port, _served) = serve(b"HTTP/1.0 404 Nope\r\n\r\nuntil the end", false);
        assert_eq!(get(port, SECOND, 99).unwrap(), Reply { status: 404, body: b"until the end".to_vec() });
    }

    /// HOOK-005.
    #[test]
    fn hook_005_a_redirect_is_only_a_status() {
        let (port, _served) =
            serve(b"HTTP/1.1 307 Away\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", false);
        assert_eq!(get(port, SECOND, 9).unwrap().status, 307);
    }

    /// LIFE-040.
    #[test]
    fn life_040_failures_are_told_apart() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        assert!(matches!(get(free, SECOND, 9), Err(Failure::Unreachable(_))));
        let (port, _served) = serve(b"SSH-2.0-thing\r\n\r\n", false);
        assert!(matches!(get(port, SECOND, 9), Err(Failure::NotHttp)));
        let (port, _served) = serve(b"", false);
        assert!(matches!(get(port, SECOND, 9), Err(Failure::Lost(_))));
        let (port, _served) = serve(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", false);
        assert!(matches!(get(port, SECOND, 9), Err(Failure::NotHttp)));
        let (port, _served) = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", false);
        assert!(matches!(get(port, SECOND, 9), Err(Failure::Lost(_))));
    }

    /// LIFE-040.
    #[test]
    fn life_040_a_peer_that_never_answers_costs_the_limit_and_no_more() {
        let (port, _served) = serve(b"HTTP/1.1 ", true);
        let began = Instant::now();
        assert!(matches!(get(port, Duration::from_millis(150), 9), Err(Failure::Lost(_))));
        assert!(began.elapsed() < Duration::from_secs(2));
    }

    /// HOOK-010.
    #[test]
    fn hook_010_nothing_can_end_a_line_of_the_request() {
        for path in ["/a b", "/a\r\nX: y", "", "/ü"] {
            let sent = Request { method: "GET", path, ..Request::default() };
            assert!(matches!(request(1, &sent, SECOND, 9), Err(Failure::Unreachable(_))), "{path:?}");
        }
    }
}
