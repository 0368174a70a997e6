//! Taking connections in, and making room for them. The acceptor outlives every shortage.

use super::conn::Conn;
use super::{Fault, Inner, MAX_PAUSE, Reply, STACK_BYTES, lock};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::{io, panic, thread};

/// The acceptor: ends only when the server stops.
pub(super) fn run(inner: &Arc<Inner>, listener: &TcpListener) {
    let mut id = 0;
    let mut pause = Duration::ZERO;
    loop {
        let accepted = listener.accept();
        if inner.stopping.load(Ordering::SeqCst) {
            return;
        }
        match accepted {
            Ok((stream, peer)) => {
                pause = Duration::ZERO;
                id += 1;
                // Nothing in here is expected to panic; if it does, one connection is lost and not the listener.
                let _ = panic::catch_unwind(panic::AssertUnwindSafe(|| admit(inner, id, stream, peer)));
                if let Ok(mut reserve) = inner.reserve.lock()
                    && reserve.is_none()
                {
                    *reserve = listener.try_clone().ok();
                }
            }
            Err(error) => {
                pause = (pause * 2).clamp(Duration::from_millis(2), MAX_PAUSE);
                if out_of_descriptors(&error) {
                    let told = inner.service.refuse(Fault::Descriptors);
                    if !inner.make_room() {
                        turn_away(inner, listener, told);
                    }
                }
                thread::sleep(pause);
            }
        }
    }
}

/// Gives up the reserve descriptor to tell one waiting peer that there is no room.
fn turn_away(inner: &Inner, listener: &TcpListener, reply: Option<Reply>) {
    let mut reserve = lock(&inner.reserve);
    if reserve.take().is_some() && listener.set_nonblocking(true).is_ok() {
        if let (Ok((stream, peer)), Some(reply)) = (listener.accept(), reply) {
            Conn::new(stream, peer).tell(&reply.head, &reply.payload);
        }
        // Were this to fail the acceptor would only spin gently: every failure rests.
        let _ = listener.set_nonblocking(false);
    }
    *reserve = listener.try_clone().ok();
}

/// Starts a connection's thread, or says that there is no room.
fn admit(inner: &Arc<Inner>, id: u64, stream: TcpStream, peer: SocketAddr) {
    let conn = Arc::new(Conn::new(stream, peer));
    let full = || lock(&inner.connections).len() >= inner.limits.connections;
    // A second try: the one chosen may have begun to speak just then.
    let room = !full() || (inner.make_room() && !full()) || (inner.make_room() && !full());
    let started = room && {
        lock(&inner.connections).insert(id, conn.clone());
        let (inner, conn) = (inner.clone(), conn.clone());
        thread::Builder::new()
            .name("http".into())
            .stack_size(STACK_BYTES)
            .spawn(move || super::run(&inner, id, &conn))
            .is_ok()
    };
    if !started {
        inner.forget(id);
        if let Some(reply) = inner.service.refuse(Fault::Busy) {
            conn.tell(&reply.head, &reply.payload);
        }
    }
}

/// Half of what the process may open, so that stores and children keep the other half. The soft limit is first
/// raised towards 1,024 where a system starts programs with less.
#[cfg(unix)]
pub(super) fn affordable_connections() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a pointer to a live, initialised rlimit of this frame and keep no reference to it.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) != 0 {
            return usize::MAX;
        }
        if limit.rlim_cur < 1024 && limit.rlim_cur < limit.rlim_max {
            let raised = libc::rlimit { rlim_cur: limit.rlim_max.min(1024), rlim_max: limit.rlim_max };
            if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) == 0 {
                limit = raised;
            }
        }
    }
    usize::try_from(limit.rlim_cur / 2).unwrap_or(usize::MAX)
}

#[cfg(not(unix))]
pub(super) fn affordable_connections() -> usize {
    usize::MAX
}

/// Whether an accept failed because the process, or the machine, has no descriptor or buffer left.
fn out_of_descriptors(error: &io::Error) -> bool {
    #[cfg(unix)]
    let codes = [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM];
    #[cfg(not(unix))]
    let codes = [10_024, 10_055];
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}
