//! Hands a bound listener to a detached copy of this program, and tells its starter when it serves (LIFE-021 to 023).
//!
//! POSIX: the starter binds, then starts its own executable in a session of its own with two descriptors inherited, the
//! listener and the writing end of a pipe; a line with the new process's number comes back through the pipe. Windows:
//! nothing is inherited, the detached copy binds for itself and the starter asks the port.

use crate::env::{DETACHED, Env};
use crate::surface::process::{Detached, Program, detach};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::net::TcpListener;

/// What a daemon is started with.
pub struct Start<'a> {
    /// Our own executable.
    pub program: &'a Program,
    /// Its arguments, without `--daemon`.
    pub args: Vec<OsString>,
    /// Its environment.
    pub env: &'a Env,
    /// Its log, opened to append.
    pub log: &'a File,
}

/// What a starter heard from its daemon.
#[derive(Debug)]
pub enum Heard {
    /// It serves, as this process.
    Pid(u32),
    /// It is gone without having served.
    Closed,
    /// It could not be heard.
    Broken(io::Error),
    /// It said nothing in time.
    Late,
}

/// What a detached process was handed.
#[derive(Debug)]
pub struct Inherited {
    /// The bound listener; `None` on Windows, where the process binds for itself.
    pub listener: Option<TcpListener>,
    /// Where to say that it serves.
    pub announce: Announce,
}

#[cfg(unix)]
pub use posix::{Announce, start};
#[cfg(windows)]
pub use windows::{Announce, start};

/// What this process was handed, when its environment says that it is a detached one; the listener must be bound to
/// `port`.
pub fn inherit(value: &OsStr, port: u16) -> Option<Inherited> {
    #[cfg(unix)]
    return posix::inherit(value.to_str()?, port);
    #[cfg(windows)]
    return windows::inherit(value.to_str()?, port);
}

#[cfg(unix)]
mod posix {
    use super::{DETACHED, Detached, Heard, Inherited, Start, TcpListener, detach, io};
    use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
    use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
    use std::time::{Duration, Instant};

    /// The starter's end of the pipe.
    #[derive(Debug)]
    pub struct Line(PipeReader);

    /// The daemon's end of the pipe.
    #[derive(Debug)]
    pub struct Announce(PipeWriter);

    impl Announce {
        /// Tells the starter that this process serves. A starter that has gone does not mind.
        pub fn ready(mut self, pid: u32) {
            let _ = self.0.write_all(format!("{pid}\n").as_bytes());
        }
    }

    /// Starts the daemon with the listener inherited; ours is closed before this returns.
    pub fn start(spec: &Start<'_>, listener: TcpListener) -> io::Result<Line> {
        let (reader, writer) = io::pipe()?;
        let keep = vec![listener.as_raw_fd(), writer.as_raw_fd()];
        let value = format!("{}:{}", listener.as_raw_fd(), writer.as_raw_fd());
        let env = spec.env.with(DETACHED, value);
        detach(&Detached { program: spec.program, args: spec.args.clone(), env: &env, log: spec.log, keep })?;
        drop((listener, writer));
        Ok(Line(reader))
    }

    impl Line {
        /// Waits for the daemon's word.
        pub fn wait(mut self, limit: Duration) -> Heard {
            let deadline = Instant::now() + limit;
            let mut got = Vec::new();
            loop {
                let left = deadline.saturating_duration_since(Instant::now());
                match readable(self.0.as_raw_fd(), left) {
                    Ok(false) => return Heard::Late,
                    Ok(true) => {}
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Heard::Broken(error),
                }
                let mut buffer = [0u8; 64];
                match self.0.read(&mut buffer) {
                    Ok(0) => return Heard::Closed,
                    Ok(n) => got.extend_from_slice(buffer.get(..n).unwrap_or_default()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Heard::Broken(error),
                }
                let line = std::str::from_utf8(&got).unwrap_or_default();
                if let Some(pid) = line.strip_suffix('\n').and_then(|line| line.parse().ok()) {
                    return Heard::Pid(pid);
                }
                if got.len() > 64 {
                    return Heard::Broken(io::Error::new(io::ErrorKind::InvalidData, "not a process number"));
                }
            }
        }
    }

    fn readable(fd: RawFd, limit: Duration) -> io::Result<bool> {
        let mut set = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let millis = limit.as_micros().div_ceil(1000) as libc::c_int;
        // SAFETY: one record that outlives the call.
        match unsafe { libc::poll(&raw mut set, 1, millis) } {
            -1 => Err(io::Error::last_os_error()),
            n => Ok(n > 0),
        }
    }

    pub(super) fn inherit(value: &str, port: u16) -> Option<Inherited> {
        let (listener, pipe) = value.split_once(':')?;
        let (listener, pipe): (RawFd, RawFd) = (listener.parse().ok()?, pipe.parse().ok()?);
        // The standard three are never handed over, and neither is what is not of the stated kind.
        if listener <= 2 || pipe <= 2 || listener == pipe || !is_listening(listener) || !is_pipe(pipe) {
            return None;
        }
        // SAFETY: both are open, of the right kind, and ours alone: the starter made them for this process.
        let (listener, pipe) =
            unsafe { (TcpListener::from(OwnedFd::from_raw_fd(listener)), OwnedFd::from_raw_fd(pipe)) };
        for fd in [listener.as_raw_fd(), pipe.as_raw_fd()] {
            // SAFETY: flag call on an open descriptor; no child of ours inherits it.
            unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        let bound = listener.local_addr().is_ok_and(|at| at.is_ipv4() && at.port() == port);
        bound.then(|| Inherited { listener: Some(listener), announce: Announce(PipeWriter::from(pipe)) })
    }

    fn is_listening(fd: RawFd) -> bool {
        let mut value: libc::c_int = 0;
        let mut length = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: value and length outlive the call.
        let answer = unsafe {
            libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ACCEPTCONN, (&raw mut value).cast(), &raw mut length)
        };
        answer == 0 && value != 0
    }

    fn is_pipe(fd: RawFd) -> bool {
        // SAFETY: the record is plain and filled in by the call.
        unsafe {
            let mut found: libc::stat = std::mem::zeroed();
            libc::fstat(fd, &raw mut found) == 0 && found.st_mode & libc::S_IFMT == libc::S_IFIFO
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn line(said: &[u8], close: bool) -> Heard {
            let (reader, mut writer) = io::pipe().unwrap();
            writer.write_all(said).unwrap();
            let held = (!close).then_some(writer);
            let heard = Line(reader).wait(Duration::from_millis(50));
            drop(held);
            heard
        }

        /// LIFE-023.
        #[test]
        fn life_023_what_a_starter_hears() {
            assert!(matches!(line(b"4242\n", false), Heard::Pid(4242)));
            assert!(matches!(line(b"", true), Heard::Closed));
            assert!(matches!(line(b"42", true), Heard::Closed));
            assert!(matches!(line(b"", false), Heard::Late));
            assert!(matches!(line(&[b'x'; 70], false), Heard::Broken(_)));
        }

        /// LIFE-021.
        #[test]
        fn life_021_only_a_listener_on_the_port_and_a_pipe_are_taken_over() {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let (_reader, writer) = io::pipe().unwrap();
            let file = std::fs::File::open("/dev/null").unwrap();
            for value in [
                String::new(),
                "1:2".into(),
                format!("{}:{}", file.as_raw_fd(), writer.as_raw_fd()),
                format!("{}:{}", listener.as_raw_fd(), file.as_raw_fd()),
                format!("{}:99999", listener.as_raw_fd()),
            ] {
                assert!(inherit(&value, port).is_none(), "{value}");
            }
            let value = format!("{}:{}", listener.as_raw_fd(), writer.as_raw_fd());
            let taken = inherit(&value, port).unwrap();
            assert_eq!(taken.listener.as_ref().unwrap().local_addr().unwrap().port(), port);
            // The test's own values would close the same numbers again.
            std::mem::forget((listener, writer));
        }
    }
}

#[cfg(windows)]
mod windows {
    use super::{DETACHED, Detached, Inherited, Start, detach, io};

    /// A detached process on Windows is asked over its port; it has nothing to say itself.
    #[derive(Debug)]
    pub struct Announce;

    impl Announce {
        /// Nothing to do: the starter asks the port.
        pub fn ready(self, _pid: u32) {}
    }

    /// Starts the detached copy, which binds for itself.
    pub fn start(spec: &Start<'_>) -> io::Result<std::process::Child> {
        let env = spec.env.with(DETACHED, "1");
        detach(&Detached { program: spec.program, args: spec.args.clone(), env: &env, log: spec.log, keep: Vec::new() })
    }

    pub(super) fn inherit(value: &str, _port: u16) -> Option<Inherited> {
        (value == "1").then_some(Inherited { listener: None, announce: Announce })
    }
}
