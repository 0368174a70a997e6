//! The one listener: a bounded HTTP engine on plain sockets.
//!
//! One thread and one request per connection, then it closes. Everything a peer can make it hold is bounded: the
//! connections, the bytes of a head, the time a head, a body or a reply may take in all. It knows nothing of routes:
//! a [`Service`] gets a [`Request`] and gives back a [`Reply`].
//!
//! At the ceiling the connection that has kept us waiting longest for its request gives way, so a client that speaks
//! is served however many stay silent. Running out of descriptors never ends the acceptor.

mod accept;
mod conn;
mod head;

pub use conn::{Body, BodyError, Wire};
pub use head::{Declared, Extent, Head, Headers, MAX_HEAD, MAX_HEADER_LINE, MAX_HEADERS, Scanner, parse};

use conn::{Conn, Phase};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{io, panic, thread};

/// Why a connection got no regular answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not an HTTP/1 request, or one that can be read in two ways.
    Malformed,
    /// The request line is over its limit.
    LineTooLong,
    /// A header line, their number or the whole head is over its limit.
    HeadersTooLarge,
    /// A later major version of HTTP.
    Version,
    /// The head did not come within its time.
    Slow,
    /// The peer left in the middle of the head.
    Disconnected,
    /// Every connection there may be is at work, or the head memory is taken.
    Busy,
    /// The process has no descriptor left for a connection.
    Descriptors,
    /// The service panicked.
    Panicked,
    /// A stream panicked after its head was sent.
    StreamPanicked,
}

/// One request, its body still unread.
pub struct Request {
    /// The method as sent.
    pub method: String,
    /// The request target as sent.
    pub target: String,
    /// The header lines.
    pub headers: Headers,
    /// The other end of the socket; no header is ever consulted for it.
    pub peer: IpAddr,
    /// The port listened on.
    pub port: u16,
    /// The body.
    pub body: Body,
}

/// What follows the head of a reply.
pub enum Payload {
    /// Bytes of the binary.
    Static(&'static [u8]),
    /// Bytes shared with other replies.
    Shared(Arc<[u8]>),
    /// Bytes of this reply alone.
    Owned(Vec<u8>),
    /// Written as it happens; the connection ends when the function returns.
    Stream(Box<dyn FnOnce(&mut Wire) + Send>),
}

/// The answer to one request.
pub struct Reply {
    /// Status line and header lines with the empty line.
    pub head: Vec<u8>,
    /// What follows.
    pub payload: Payload,
    /// Run once the reply was written, also when the peer had left.
    pub after: Option<Box<dyn FnOnce() + Send>>,
}

/// What answers.
pub trait Service: Send + Sync + 'static {
    /// Answers one request; `None` closes without a reply.
    fn answer(&self, request: &mut Request) -> Option<Reply>;
    /// Told of every connection that never became a request, and of panics; `None` closes without a reply.
    fn refuse(&self, fault: Fault) -> Option<Reply>;
}

/// The engine's bounds.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at once; lowered when the process may not open twice as many descriptors.
    pub connections: usize,
    /// For the whole head, from accept.
    pub head: Duration,
    /// For the whole body, from its first read.
    pub body: Duration,
    /// For one blocked write of a reply or a stream.
    pub stall: Duration,
    /// For a whole reply that is not a stream.
    pub reply: Duration,
    /// For the rest of an unread body, before a reply and again after it.
    pub drain: Duration,
    /// Bytes of unfinished heads beyond the first 8 KiB of each, over all connections.
    pub head_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            head: Duration::from_secs(10),
            body: Duration::from_secs(10),
            stall: Duration::from_secs(10),
            reply: Duration::from_mins(1),
            drain: Duration::from_millis(250),
            head_bytes: 16 << 20,
        }
    }
}

/// Stack of a connection's thread, bytes of address space; only the pages used cost memory.
const STACK_BYTES: usize = 512 << 10;
/// A reply that has made no headway for this long may be cut when room is needed.
const STALLED: Duration = Duration::from_secs(2);
/// Longest rest of the acceptor after a failed accept.
const MAX_PAUSE: Duration = Duration::from_millis(100);

struct Inner {
    address: SocketAddr,
    service: Arc<dyn Service>,
    limits: Limits,
    stopping: AtomicBool,
    connections: Mutex<BTreeMap<u64, Arc<Conn>>>,
    emptied: Condvar,
    head_bytes: Arc<AtomicUsize>,
    /// A descriptor kept to be given up: with it a peer can be told, and the acceptor woken, when none is left.
    reserve: Mutex<Option<TcpListener>>,
}

/// A running listener.
pub struct Server {
    inner: Arc<Inner>,
    acceptor: Option<JoinHandle<()>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// Serves a bound socket on threads of its own. An error means that the socket has no address or no thread
    /// could be started.
    pub fn start(listener: TcpListener, service: Arc<dyn Service>, mut limits: Limits) -> io::Result<Self> {
        listener.set_nonblocking(false)?;
        limits.connections = limits.connections.min(accept::affordable_connections()).max(4);
        let inner = Arc::new(Inner {
            address: listener.local_addr()?,
            service,
            limits,
            stopping: AtomicBool::new(false),
            connections: Mutex::default(),
            emptied: Condvar::new(),
            head_bytes: Arc::default(),
            reserve: Mutex::new(listener.try_clone().ok()),
        });
        let acceptor = {
            let inner = inner.clone();
            thread::Builder::new()
                .name("accept".into())
                .stack_size(STACK_BYTES)
                .spawn(move || accept::run(&inner, &listener))?
        };
        Ok(Self { inner, acceptor: Some(acceptor) })
    }

    /// The port listened on.
    pub fn port(&self) -> u16 {
        self.inner.address.port()
    }

    /// Connections held now.
    pub fn connections(&self) -> usize {
        lock(&self.inner.connections).len()
    }

    /// Closes the listener, ends streams, and gives replies under way at most `grace` before they are cut.
    pub fn stop(&mut self, grace: Duration) {
        let Some(acceptor) = self.acceptor.take() else { return };
        self.inner.stopping.store(true, Ordering::SeqCst);
        while !acceptor.is_finished() {
            lock(&self.inner.reserve).take();
            // Accept has no portable interruption; a connection wakes it, and a failure means that it is awake.
            let _ = TcpStream::connect_timeout(&self.inner.knock(), MAX_PAUSE);
            thread::sleep(Duration::from_millis(2));
        }
        let _ = acceptor.join();
        // A copy of the listening socket: the port is free only without it.
        lock(&self.inner.reserve).take();
        self.inner.cut(|phase| phase == Phase::Stream);
        let until = Instant::now() + grace;
        let mut held = lock(&self.inner.connections);
        while !held.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            held = self.inner.emptied.wait_timeout(held, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(held);
        self.inner.cut(|_| true);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}

impl Inner {
    /// The address that reaches this listener from here.
    fn knock(&self) -> SocketAddr {
        let ip = match self.address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        SocketAddr::new(ip, self.address.port())
    }

    fn cut(&self, which: impl Fn(Phase) -> bool) {
        for conn in lock(&self.connections).values().filter(|conn| which(conn.phase())) {
            conn.close();
        }
    }

    /// Ends the connection that can best be spared; false when all are at work.
    fn make_room(&self) -> bool {
        let spared = {
            let held = lock(&self.connections);
            let oldest = |wanted: &dyn Fn(&Conn) -> bool| held.iter().find(|(_, c)| wanted(c)).map(|(id, _)| *id);
            oldest(&|c| c.phase() == Phase::Closing)
                .or_else(|| oldest(&|c| c.phase() == Phase::Head))
                .or_else(|| oldest(&|c| c.phase() == Phase::Body))
                .or_else(|| oldest(&|c| c.phase() == Phase::Writing && c.still_for() > STALLED))
                .and_then(|id| held.get(&id).cloned().map(|conn| (id, conn)))
        };
        let Some((id, conn)) = spared else { return false };
        match conn.seize() {
            // It had asked for something, so it is told; a peer in the middle of a reply cannot be.
            Some(Phase::Head | Phase::Body) => {
                if let Some(reply) = self.service.refuse(Fault::Busy) {
                    conn.tell(&reply.head, &reply.payload);
                }
            }
            Some(_) => {}
            // Its request has come in the meantime.
            None => return true,
        }
        conn.close();
        self.forget(id);
        true
    }

    fn forget(&self, id: u64) {
        let mut held = lock(&self.connections);
        held.remove(&id);
        if held.is_empty() {
            self.emptied.notify_all();
        }
    }
}

/// One connection from its first byte to its last. A panic anywhere in it is this connection's alone.
fn run(inner: &Arc<Inner>, id: u64, conn: &Arc<Conn>) {
    let served = panic::catch_unwind(panic::AssertUnwindSafe(|| serve(inner, conn)));
    if served.is_err() {
        let fault = if conn.phase() == Phase::Stream { Fault::StreamPanicked } else { Fault::Panicked };
        let _ = inner.service.refuse(fault);
    }
    conn.close();
    inner.forget(id);
}

fn serve(inner: &Inner, conn: &Arc<Conn>) {
    let limits = &inner.limits;
    conn.prepare();
    let mut drain_body = None;
    let reply = match conn.read_head(limits, &inner.head_bytes) {
        Ok((head, rest)) => {
            if !conn.enter(Phase::Head, Phase::Busy) {
                return;
            }
            let body = Body::new(conn.clone(), &head, rest, limits.body);
            let mut request = Request {
                method: head.method,
                target: head.target,
                headers: head.headers,
                peer: conn.peer(),
                port: inner.address.port(),
                body,
            };
            let answered = panic::catch_unwind(panic::AssertUnwindSafe(|| inner.service.answer(&mut request)));
            drain_body = Some(request.body);
            answered.unwrap_or_else(|_| inner.service.refuse(Fault::Panicked))
        }
        Err(fault) => {
            // Cut by the acceptor: it has counted and told.
            if !conn.enter(Phase::Head, Phase::Busy) {
                return;
            }
            fault.and_then(|fault| inner.service.refuse(fault))
        }
    };
    let Some(reply) = reply else { return };
    if let Some(body) = &mut drain_body {
        body.drain(limits.drain);
    }
    write(conn, limits, reply);
}

fn write(conn: &Arc<Conn>, limits: &Limits, reply: Reply) {
    let Reply { head, payload, after } = reply;
    let whole = match payload {
        Payload::Stream(write) => {
            conn.enter(Phase::Busy, Phase::Stream);
            let mut wire = Wire::new(conn.clone(), limits.stall);
            if wire.write(&head).is_ok() {
                write(&mut wire);
            }
            true
        }
        fixed => {
            conn.enter(Phase::Busy, Phase::Writing);
            conn.write_reply(&head, fixed.bytes(), limits)
        }
    };
    if let Some(after) = after {
        after();
    }
    if whole {
        conn.linger(limits.drain);
    }
}

impl Payload {
    /// The bytes of a payload that is not a stream.
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Shared(bytes) => bytes,
            Self::Owned(bytes) => bytes,
            Self::Stream(_) => &[],
        }
    }
}
