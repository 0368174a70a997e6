//! One connection: reading within a total time, writing within a bounded one, and leaving politely.

use super::head::{self, Declared, Head, Scanner};
use super::{Fault, Limits, Payload};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Bytes of a head that cost the shared budget nothing.
const HEAD_FREE: usize = 8192;
/// Read at a time into a stack buffer, bytes.
const CHUNK: usize = 4096;
/// Most unread bytes drained before or after a reply (HTTP-010).
const DRAIN_MAX: u64 = 1 << 20;
/// Longest reply sent as one write together with its head, bytes.
const ONE_WRITE: usize = 16 << 10;
/// How long a connection that is turned away may block the acceptor.
const TELL: Duration = Duration::from_millis(50);

/// What a connection is at; the acceptor may end it in some of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Its head has not come yet.
    Head,
    /// Its body has not come yet.
    Body,
    /// The service is at work.
    Busy,
    /// A reply is being written.
    Writing,
    /// A stream is open.
    Stream,
    /// The reply is out and the peer has not hung up.
    Closing,
    /// Ended by the acceptor.
    Cut,
}

impl Phase {
    fn from(value: u8) -> Self {
        [Self::Head, Self::Body, Self::Busy, Self::Writing, Self::Stream, Self::Closing]
            .into_iter()
            .find(|phase| *phase as u8 == value)
            .unwrap_or(Self::Cut)
    }
}

/// A socket and what it is at.
pub struct Conn {
    stream: TcpStream,
    peer: SocketAddr,
    since: Instant,
    phase: AtomicU8,
    /// Milliseconds from `since` to the last headway of a reply.
    moved: AtomicU64,
}

impl Conn {
    pub fn new(stream: TcpStream, peer: SocketAddr) -> Self {
        Self { stream, peer, since: Instant::now(), phase: AtomicU8::new(Phase::Head as u8), moved: AtomicU64::new(0) }
    }

    pub fn peer(&self) -> IpAddr {
        self.peer.ip().to_canonical()
    }

    pub fn phase(&self) -> Phase {
        Phase::from(self.phase.load(Ordering::SeqCst))
    }

    /// Moves from one phase to the next; false when the acceptor has ended the connection.
    pub fn enter(&self, from: Phase, to: Phase) -> bool {
        self.moved();
        self.phase.compare_exchange(from as u8, to as u8, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Takes a connection that can be spared; the phase it was in, `None` when it cannot be any more.
    pub fn seize(&self) -> Option<Phase> {
        let phase = self.phase();
        let spare = matches!(phase, Phase::Head | Phase::Body | Phase::Writing | Phase::Closing);
        (spare && self.enter(phase, Phase::Cut)).then_some(phase)
    }

    /// How long a reply has made no headway.
    pub fn still_for(&self) -> Duration {
        self.since.elapsed().saturating_sub(Duration::from_millis(self.moved.load(Ordering::Relaxed)))
    }

    fn moved(&self) {
        self.moved.store(self.since.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// Ends both directions; a thread blocked on the socket returns.
    pub fn close(&self) {
        // Fails only when the peer has ended it already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Replies go out at once, not when the next packet is full.
    pub fn prepare(&self) {
        let _ = self.stream.set_nodelay(true);
    }

    /// Reads what is there, waiting until `deadline` at most; 0 at the end of the stream.
    fn read_until(&self, deadline: Instant, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
            match (&self.stream).read(into) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                // A timer that fired early is no reason to give up early.
                Err(e) if is_timeout(&e) => {}
                other => return other,
            }
        }
    }

    /// The head, and what came behind it. An error without a fault is a peer that never said anything.
    pub fn read_head(&self, limits: &Limits, budget: &Arc<AtomicUsize>) -> Result<(Head, Vec<u8>), Option<Fault>> {
        let deadline = self.since + limits.head;
        let mut held = Held { budget: budget.clone(), bytes: 0 };
        let mut scanner = Scanner::default();
        let mut buffer = Vec::new();
        let mut chunk = [0; CHUNK];
        loop {
            let n = match self.read_until(deadline, &mut chunk) {
                Ok(0) if buffer.is_empty() => return Err(None),
                Ok(0) => return Err(Some(Fault::Disconnected)),
                Ok(n) => n,
                Err(e) if is_timeout(&e) => return Err(Some(Fault::Slow)),
                Err(_) if buffer.is_empty() => return Err(None),
                Err(_) => return Err(Some(Fault::Disconnected)),
            };
            buffer.extend_from_slice(chunk.get(..n).unwrap_or_default());
            if let Some(extent) = scanner.feed(&buffer)? {
                let head = head::parse(&buffer, &extent)?;
                return Ok((head, buffer.split_off(extent.headers.end)));
            }
            if !held.grow(buffer.capacity().saturating_sub(HEAD_FREE), limits.head_bytes) {
                return Err(Some(Fault::Busy));
            }
        }
    }

    /// Writes a whole reply; false when the peer left, did not read, or took too long in all.
    pub fn write_reply(&self, head: &[u8], body: &[u8], limits: &Limits) -> bool {
        let deadline = Instant::now() + limits.reply;
        if head.len() + body.len() <= ONE_WRITE {
            return self.write_until(&[head, body].concat(), limits.stall, deadline).is_ok();
        }
        self.write_until(head, limits.stall, deadline).is_ok() && self.write_until(body, limits.stall, deadline).is_ok()
    }

    fn write_until(&self, mut bytes: &[u8], stall: Duration, deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_write_timeout(Some(left.min(stall).max(Duration::from_millis(1))))?;
            match (&self.stream).write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => {
                    self.moved();
                    bytes = bytes.get(n..).unwrap_or_default();
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// A short answer from the acceptor's thread, which must not wait for the peer.
    pub fn tell(&self, head: &[u8], payload: &Payload) {
        let bytes = [head, payload.bytes()].concat();
        if self.stream.set_nonblocking(true).is_ok() {
            // What has come is read away, or closing would turn the answer into a reset.
            let mut sink = [0; CHUNK];
            for _ in 0..16 {
                if !matches!((&self.stream).read(&mut sink), Ok(n) if n > 0) {
                    break;
                }
            }
            let _ = self.stream.set_nonblocking(false);
        }
        let _ = self.write_until(&bytes, TELL, Instant::now() + TELL);
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// After the reply: says that nothing follows and reads away what the peer still sends, until it hangs up or the
    /// time is over. Closing at once would reset the connection and could cost the peer the reply.
    pub fn linger(&self, time: Duration) {
        let phase = self.phase();
        if !self.enter(phase, Phase::Closing) || phase == Phase::Cut || self.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        self.discard(DRAIN_MAX, Instant::now() + time);
    }

    /// Reads and drops at most `most` bytes; how many there were.
    fn discard(&self, most: u64, deadline: Instant) -> u64 {
        let mut sink = [0; CHUNK];
        let mut gone = 0;
        while gone < most {
            let room = usize::try_from(most - gone).unwrap_or(CHUNK).min(CHUNK);
            match self.read_until(deadline, sink.get_mut(..room).unwrap_or_default()) {
                Ok(n) if n > 0 => gone += n as u64,
                _ => break,
            }
        }
        gone
    }
}

/// Bytes taken out of the budget all unfinished heads share; given back when the head is done with.
struct Held {
    budget: Arc<AtomicUsize>,
    bytes: usize,
}

impl Held {
    /// Takes up to `bytes` in all; false when the budget does not hold that much.
    fn grow(&mut self, bytes: usize, most: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return true;
        }
        self.bytes += more;
        self.budget.fetch_add(more, Ordering::SeqCst) + more <= most
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.fetch_sub(self.bytes, Ordering::SeqCst);
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// The declared length is no number or over the cap; nothing was read.
    Length,
    /// It did not come within its time.
    Slow,
    /// The peer left, or the connection was ended to make room.
    Gone,
}

/// A body that is read when it is asked for, once.
pub struct Body {
    conn: Arc<Conn>,
    declared: Declared,
    /// Came behind the head; bytes past the declared length belong to no request.
    rest: Vec<u8>,
    time: Duration,
    expects_continue: bool,
    /// Bytes of the declared length still in the socket.
    unread: u64,
}

impl Body {
    pub(super) fn new(conn: Arc<Conn>, head: &Head, mut rest: Vec<u8>, time: Duration) -> Self {
        let length = match head.declared {
            Declared::Bytes(n) => n,
            Declared::Unusable => 0,
        };
        rest.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        let unread = length - rest.len() as u64;
        Self { conn, declared: head.declared, rest, time, expects_continue: head.expects_continue, unread }
    }

    /// The declared length.
    pub fn declared(&self) -> Declared {
        self.declared
    }

    /// Whether [`Self::read`] with this cap would refuse the declared length.
    pub fn fits(&self, cap: u64) -> bool {
        matches!(self.declared, Declared::Bytes(n) if n <= cap)
    }

    /// The whole body, at most `cap` bytes. A length over the cap is refused before anything is read; memory grows
    /// with what arrives, not with what was declared.
    pub fn read(&mut self, cap: u64) -> Result<Vec<u8>, BodyError> {
        if !self.fits(cap) {
            return Err(BodyError::Length);
        }
        let mut body = std::mem::take(&mut self.rest);
        if self.unread == 0 {
            return Ok(body);
        }
        if !self.conn.enter(Phase::Busy, Phase::Body) {
            return Err(BodyError::Gone);
        }
        let deadline = Instant::now() + self.time;
        if self.expects_continue && body.is_empty() {
            let leave = b"HTTP/1.1 100 Continue\r\n\r\n";
            self.conn.write_until(leave, self.time, deadline).map_err(|_| BodyError::Gone)?;
        }
        let mut chunk = [0; CHUNK];
        while self.unread > 0 {
            let room = usize::try_from(self.unread).unwrap_or(CHUNK).min(CHUNK);
            match self.conn.read_until(deadline, chunk.get_mut(..room).unwrap_or_default()) {
                Ok(n) if n > 0 => {
                    body.extend_from_slice(chunk.get(..n).unwrap_or_default());
                    self.unread = self.unread.saturating_sub(n as u64);
                }
                Err(e) if is_timeout(&e) => return Err(BodyError::Slow),
                Ok(_) | Err(_) => return Err(BodyError::Gone),
            }
        }
        if self.conn.enter(Phase::Body, Phase::Busy) { Ok(body) } else { Err(BodyError::Gone) }
    }

    /// Reads away what was declared and not read, so that the peer sees the reply and not a reset (HTTP-010).
    pub(super) fn drain(&mut self, time: Duration) {
        if self.unread > 0 && !self.expects_continue {
            self.unread -= self.conn.discard(self.unread.min(DRAIN_MAX), Instant::now() + time);
        }
    }
}

/// The socket of a stream, after its head.
pub struct Wire {
    conn: Arc<Conn>,
    stall: Duration,
}

impl Wire {
    pub(super) fn new(conn: Arc<Conn>, stall: Duration) -> Self {
        Self { conn, stall }
    }

    /// Writes everything, or fails when the peer left or took nothing for the stall time.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.conn.write_until(bytes, self.stall, Instant::now() + self.stall)
    }

    /// Reads what the peer sends, waiting at most `wait`: `None` when nothing came, 0 bytes when it hung up.
    pub fn read(&mut self, into: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
        match self.conn.read_until(Instant::now() + wait, into) {
            Ok(n) => Ok(Some(n)),
            Err(e) if is_timeout(&e) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Whether the peer hung up. What it sent meanwhile is dropped.
    pub fn gone(&mut self) -> bool {
        if self.conn.stream.set_nonblocking(true).is_err() {
            return true;
        }
        let mut sink = [0; CHUNK];
        // Bounded: a peer that keeps talking is there, and must not hold this thread.
        let gone = (0..16).find_map(|_| match (&self.conn.stream).read(&mut sink) {
            Ok(0) => Some(true),
            Ok(_) => None,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => None,
            Err(e) => Some(!is_timeout(&e)),
        });
        gone.unwrap_or(false) || self.conn.stream.set_nonblocking(false).is_err()
    }
}
