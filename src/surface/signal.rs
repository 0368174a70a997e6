//! What ends the server, from wherever it comes: a signal, a request, a fault (LIFE-070, LIFE-072, LIFE-075, CLI-024).
//!
//! The handlers only count and write one byte; a small thread turns it into a message. SIGTERM, SIGQUIT and, in a
//! foreground run, SIGHUP end the server in order; a daemon ignores SIGHUP. A second Ctrl-C is ignored until the
//! listener is closed, a third ends the process at once.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Why the server ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A signal or a console event.
    Signal,
    /// `POST /api/shutdown`.
    Requested,
    /// Something the server cannot run without failed: what, in words.
    Failed(String),
}

/// Asks the server to end; cheap to clone and hand to any thread.
#[derive(Clone, Debug)]
pub struct Stopper(Sender<Cause>);

impl Stopper {
    /// Asks; a server that is already ending does not mind.
    pub fn stop(&self, cause: Cause) {
        let _ = self.0.send(cause);
    }
}

/// Waits for the end.
#[derive(Debug)]
pub struct Waiter(Receiver<Cause>);

impl Waiter {
    /// Blocks until someone or something asks.
    pub fn wait(&self) -> Cause {
        self.0.recv().unwrap_or(Cause::Signal)
    }
}

static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
static CLOSED: AtomicBool = AtomicBool::new(false);
static SENDER: OnceLock<Sender<Cause>> = OnceLock::new();

/// Takes over the signals of this process; to be called once, by a serving run.
pub fn install(detached: bool) -> io::Result<(Waiter, Stopper)> {
    let (sender, receiver) = channel();
    let _ = SENDER.set(sender.clone());
    system::install(detached)?;
    Ok((Waiter(receiver), Stopper(sender)))
}

/// A channel without signals, for tests of a server.
pub fn unattended() -> (Waiter, Stopper) {
    let (sender, receiver) = channel();
    (Waiter(receiver), Stopper(sender))
}

/// The listener is closed: from here on one more Ctrl-C ends the process.
pub fn listener_closed() {
    CLOSED.store(true, Ordering::SeqCst);
}

/// A SIGTERM inherited as ignored ends the process again, so that a service manager can stop it (CLI-024).
pub fn restore_terminate() {
    system::restore_terminate();
}

/// Whether this Ctrl-C, the one after `before` others, ends the process at once.
fn at_once(before: u32, closed: bool) -> bool {
    before >= 2 || (before >= 1 && closed)
}

#[cfg(unix)]
mod system {
    use super::{CLOSED, Cause, INTERRUPTS, Ordering, SENDER, at_once, io};
    use std::io::Read as _;
    use std::os::fd::IntoRawFd as _;
    use std::sync::atomic::AtomicI32;

    static PIPE: AtomicI32 = AtomicI32::new(-1);

    extern "C" fn on_signal(signal: libc::c_int) {
        if signal == libc::SIGINT {
            let before = INTERRUPTS.fetch_add(1, Ordering::SeqCst);
            if at_once(before, CLOSED.load(Ordering::SeqCst)) {
                // SAFETY: async-signal-safe.
                unsafe { libc::_exit(1) };
            }
            if before > 0 {
                return;
            }
        }
        let byte = 1u8;
        // SAFETY: async-signal-safe; the byte outlives the call. The interrupted code must not see our error number.
        unsafe {
            let errno = errno_place();
            let kept = *errno;
            libc::write(PIPE.load(Ordering::SeqCst), (&raw const byte).cast(), 1);
            *errno = kept;
        }
    }

    unsafe fn errno_place() -> *mut libc::c_int {
        // SAFETY: the address of this thread's error number is always valid.
        unsafe {
            #[cfg(any(target_os = "linux", target_os = "emscripten", target_os = "dragonfly"))]
            return libc::__errno_location();
            #[cfg(any(target_os = "macos", target_os = "ios", target_os = "freebsd"))]
            return libc::__error();
            #[cfg(any(target_os = "android", target_os = "netbsd", target_os = "openbsd"))]
            return libc::__errno();
        }
    }

    pub(super) fn install(detached: bool) -> io::Result<()> {
        let (mut reader, writer) = io::pipe()?;
        PIPE.store(writer.into_raw_fd(), Ordering::SeqCst);
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            let mut byte = [0u8; 1];
            while reader.read(&mut byte).is_ok_and(|n| n == 1) {
                if let Some(sender) = SENDER.get() {
                    let _ = sender.send(Cause::Signal);
                }
            }
        })?;
        // A file that may not grow further is a failed write, which its writer tells; it does not end the board.
        // SAFETY: plain call.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        handle(libc::SIGTERM, true);
        // What the caller chose to ignore (`nohup`, a background job) stays ignored.
        handle(libc::SIGINT, false);
        handle(libc::SIGQUIT, false);
        if detached {
            // SAFETY: plain call.
            unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        } else {
            handle(libc::SIGHUP, false);
        }
        Ok(())
    }

    fn handle(signal: libc::c_int, always: bool) {
        // SAFETY: the record is zeroed and filled in; the handler is async-signal-safe.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut old);
            if old.sa_sigaction == libc::SIG_IGN && !always {
                return;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = on_signal as *const () as libc::sighandler_t;
            new.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const new, std::ptr::null_mut());
        }
    }

    pub(super) fn restore_terminate() {
        // SAFETY: as above.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGTERM, std::ptr::null(), &raw mut old);
            if old.sa_sigaction == libc::SIG_IGN {
                libc::signal(libc::SIGTERM, libc::SIG_DFL);
            }
        }
    }
}

#[cfg(windows)]
mod system {
    use super::{CLOSED, Cause, INTERRUPTS, Ordering, SENDER, at_once, io};
    use crate::surface::win32;

    const CTRL_C_EVENT: u32 = 0;

    /// Runs on a thread the system makes for it.
    unsafe extern "system" fn on_event(event: u32) -> i32 {
        if event == CTRL_C_EVENT {
            let before = INTERRUPTS.fetch_add(1, Ordering::SeqCst);
            if at_once(before, CLOSED.load(Ordering::SeqCst)) {
                std::process::exit(1);
            }
            if before > 0 {
                return 1;
            }
        }
        if let Some(sender) = SENDER.get() {
            let _ = sender.send(Cause::Signal);
        }
        1
    }

    pub(super) fn install(detached: bool) -> io::Result<()> {
        // SAFETY: the handler lives as long as the program.
        let set = unsafe { win32::SetConsoleCtrlHandler(Some(on_event), 1) };
        // A detached process has no console and gets no events.
        if set == 0 && !detached { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    pub(super) fn restore_terminate() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LIFE-072.
    #[test]
    fn life_072_second_and_third_interrupt() {
        assert!(!at_once(0, false) && !at_once(0, true));
        assert!(!at_once(1, false), "a second Ctrl-C is ignored while the server is ending");
        assert!(at_once(1, true), "once the listener is closed it is not");
        assert!(at_once(2, false), "a third ends the process at once");
    }

    /// LIFE-070.
    #[test]
    fn life_070_the_first_cause_is_the_one_that_counts() {
        let (waiter, stopper) = unattended();
        stopper.clone().stop(Cause::Requested);
        stopper.stop(Cause::Signal);
        assert_eq!(waiter.wait(), Cause::Requested);
    }
}
