//! Children on POSIX: a session of their own, one poll loop for their pipes, SIGKILL to the group, then the reaping.

use super::{Done, Failure, Handle, Input, Output, Spec};
use std::io::{self, Read, Write as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Longest pause between two looks at a child that is silent.
const LOOK: Duration = Duration::from_millis(25);
/// How long a killed child may take to go.
const KILL_GRACE: Duration = Duration::from_secs(2);
/// How long a pipe may stay open after its child has gone and its group was killed.
const DRAIN_GRACE: Duration = Duration::from_millis(200);

/// Descriptors of the caller that a daemon is kept from holding, at most.
const MOST_INHERITED: libc::c_long = 4096;

/// A process group whose leader has not been reaped.
pub(super) struct Tree(libc::pid_t);

impl Tree {
    pub(super) fn kill(&self) {
        if self.0 > 1 {
            // SAFETY: plain system call; the number is a group of ours, since its leader is unreaped.
            unsafe { libc::kill(-self.0, libc::SIGKILL) };
        }
    }
}

pub(super) fn execute(
    mut command: Command,
    spec: &Spec<'_>,
    handle: &Handle,
    started: &dyn Fn(),
) -> Result<Done, Failure> {
    // SAFETY: the closure only makes async-signal-safe system calls.
    unsafe { command.pre_exec(lead_session) };
    let mut child = command.spawn().map_err(Failure::NotStarted)?;
    drop(command);
    handle.hold(Tree(child.id() as libc::pid_t));
    let ended = catch_unwind(AssertUnwindSafe(|| {
        started();
        watch(&mut child, spec, handle)
    }));
    handle.release();
    let reaped = reap(child);
    let ended = ended.unwrap_or_else(|panic| resume_unwind(panic));
    match (reaped, ended) {
        (None, _) => Err(Failure::Unstopped),
        (Some(_), Err(failure)) => Err(failure),
        (Some(_), Ok(_)) if handle.cancelled() => Err(Failure::Cancelled),
        (Some(code), Ok((stdout, stderr))) => Ok(Done { code, stdout, stderr }),
    }
}

fn lead_session() -> io::Result<()> {
    // SAFETY: async-signal-safe calls in the forked child.
    unsafe {
        if libc::setsid() < 0 {
            return Err(io::Error::last_os_error());
        }
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
    Ok(())
}

/// Feeds and empties the pipes until the child has exited, its time is up, or it said too much. The child is not reaped.
fn watch(child: &mut Child, spec: &Spec<'_>, handle: &Handle) -> Result<(Vec<u8>, Vec<u8>), Failure> {
    let deadline = spec.timeout.map(|limit| Instant::now() + limit);
    let mut feed = match (&spec.stdin, child.stdin.take()) {
        (Input::Bytes(bytes), Some(pipe)) => Some((pipe, *bytes)),
        _ => None,
    };
    if let Some((pipe, _)) = &feed {
        nonblocking(pipe.as_raw_fd());
    }
    let mut out = Sink::new(&spec.stdout, child.stdout.take().map(|p| Box::new(p) as Box<dyn Pipe>));
    let mut err = Sink::new(&spec.stderr, child.stderr.take().map(|p| Box::new(p) as Box<dyn Pipe>));
    let pid = child.id() as libc::pid_t;
    let mut pause = Duration::from_millis(1);
    let mut drained_by: Option<Instant> = None;
    loop {
        let exited = drained_by.is_some() || has_exited(pid);
        if exited && drained_by.is_none() {
            // What the child left running holds no right to its pipes: it goes now, while its leader is unreaped.
            Tree(pid).kill();
            drained_by = Some(Instant::now() + DRAIN_GRACE);
            feed = None;
        }
        let moved = out.drain()? | err.drain()? | feed_some(&mut feed);
        if spec.stdout.outgrown() || spec.stderr.outgrown() {
            return Err(Failure::Oversized);
        }
        let now = Instant::now();
        if exited && (out.closed() && err.closed() || drained_by.is_some_and(|by| now >= by)) {
            return Ok((out.kept, err.kept));
        }
        if handle.cancelled() {
            return Err(Failure::Cancelled);
        }
        if !exited && deadline.is_some_and(|at| now >= at) {
            return Err(Failure::TimedOut);
        }
        pause = if moved { Duration::from_millis(1) } else { (pause * 2).min(LOOK) };
        let left = deadline.map_or(pause, |at| pause.min(at.saturating_duration_since(now)));
        wait_ready(&[out.fd(), err.fd()], feed.as_ref().map(|(pipe, _)| pipe.as_raw_fd()), left);
    }
}

/// Writes what the child takes now; whether anything moved.
fn feed_some(feed: &mut Option<(std::process::ChildStdin, &[u8])>) -> bool {
    let Some((pipe, rest)) = feed else { return false };
    match pipe.write(rest) {
        Ok(n) => *rest = rest.get(n..).unwrap_or_default(),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return true,
        // A child that closed its input has read what it wanted.
        Err(_) => *rest = &[],
    }
    if rest.is_empty() {
        *feed = None;
    }
    true
}

trait Pipe: Read + std::os::fd::AsRawFd {}
impl<T: Read + std::os::fd::AsRawFd> Pipe for T {}

/// The reading end of one output.
struct Sink {
    pipe: Option<Box<dyn Pipe>>,
    kept: Vec<u8>,
    cap: usize,
    /// Whether one byte past the cap ends the child.
    strict: bool,
}

impl Sink {
    fn new(output: &Output, pipe: Option<Box<dyn Pipe>>) -> Self {
        if let Some(pipe) = &pipe {
            nonblocking(pipe.as_raw_fd());
        }
        let (cap, strict) = match output {
            Output::Capture(cap) => (*cap, true),
            Output::Head(cap) => (*cap, false),
            Output::Null | Output::File(..) => (0, false),
        };
        Self { pipe, kept: Vec::new(), cap, strict }
    }

    fn closed(&self) -> bool {
        self.pipe.is_none()
    }

    fn fd(&self) -> Option<RawFd> {
        self.pipe.as_ref().map(|pipe| pipe.as_raw_fd())
    }

    /// Reads what is there now, at most one buffer; whether anything moved.
    fn drain(&mut self) -> Result<bool, Failure> {
        let Some(pipe) = &mut self.pipe else { return Ok(false) };
        let mut buffer = [0u8; 16_384];
        match pipe.read(&mut buffer) {
            Ok(0) => self.pipe = None,
            Ok(n) => {
                let room = self.cap.saturating_sub(self.kept.len());
                self.kept.extend_from_slice(buffer.get(..n.min(room)).unwrap_or_default());
                if n > room && self.strict {
                    return Err(Failure::Oversized);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.pipe = None,
        }
        Ok(true)
    }
}

impl Output {
    fn outgrown(&self) -> bool {
        match self {
            Output::File(file, Some(limit)) => file.metadata().is_ok_and(|found| found.len() > *limit),
            _ => false,
        }
    }
}

fn nonblocking(fd: RawFd) {
    // SAFETY: flag calls on a descriptor we own.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        if flags >= 0 {
            libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK);
        }
    }
}

fn wait_ready(reads: &[Option<RawFd>], write: Option<RawFd>, limit: Duration) {
    let wanted = |fd: RawFd, events| libc::pollfd { fd, events, revents: 0 };
    let mut set: Vec<libc::pollfd> = reads.iter().flatten().map(|fd| wanted(*fd, libc::POLLIN)).collect();
    set.extend(write.map(|fd| wanted(fd, libc::POLLOUT)));
    // Rounded up, so that a rest below a millisecond does not spin.
    let millis = limit.as_micros().div_ceil(1000) as libc::c_int;
    // SAFETY: the array outlives the call and its length is its own.
    unsafe { libc::poll(set.as_mut_ptr(), set.len() as libc::nfds_t, millis) };
}

/// Whether the process has exited; it stays unreaped.
fn has_exited(pid: libc::pid_t) -> bool {
    // SAFETY: `info` is a plain record the call fills in.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        let answer = libc::waitid(libc::P_PID, pid as libc::id_t, &raw mut info, flags);
        if answer != 0 {
            return io::Error::last_os_error().kind() != io::ErrorKind::Interrupted;
        }
        info.si_pid() == pid
    }
}

/// The exit status of a child that was killed or has exited; `None` when it does not go.
#[allow(clippy::option_option)]
fn reap(mut child: Child) -> Option<Option<i32>> {
    let deadline = Instant::now() + KILL_GRACE;
    let mut pause = Duration::from_micros(100);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code().filter(|_| status.signal().is_none())),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(pause),
            Ok(None) => break,
            Err(_) => return Some(None),
        }
        pause = (pause * 2).min(LOOK);
    }
    // It is stuck in the kernel; someone must still be there when it goes.
    let _ = std::thread::Builder::new().name("reap".into()).spawn(move || child.wait());
    None
}

pub(super) fn detach(mut command: Command, keep: &[i32]) -> io::Result<Child> {
    let keep = keep.to_vec();
    // SAFETY: the closure only makes async-signal-safe system calls, and the list was made before the fork.
    unsafe { command.pre_exec(move || leave(&keep)) };
    let mut child = command.spawn()?;
    child.wait()?;
    Ok(child)
}

/// In the forked child: a new session, then one more fork so that its leader is gone and no terminal can be acquired.
fn leave(keep: &[i32]) -> io::Result<()> {
    // SAFETY: async-signal-safe calls in the forked child.
    unsafe {
        if libc::setsid() < 0 {
            return Err(io::Error::last_os_error());
        }
        match libc::fork() {
            -1 => return Err(io::Error::last_os_error()),
            0 => {}
            _ => libc::_exit(0),
        }
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
        // Whatever else the caller had open is not ours to hold for as long as a daemon lives.
        for fd in 3..libc::sysconf(libc::_SC_OPEN_MAX).clamp(3, MOST_INHERITED) as RawFd {
            libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        for fd in keep {
            if libc::fcntl(*fd, libc::F_SETFD, 0) < 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    Ok(())
}

pub(super) fn alive(pid: u32) -> bool {
    let Ok(pid) = libc::pid_t::try_from(pid) else { return false };
    if pid <= 0 {
        return false;
    }
    // SAFETY: signal 0 only asks.
    let answer = unsafe { libc::kill(pid, 0) };
    answer == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

// Some platforms have no numeric users; this one always answers.
#[allow(clippy::unnecessary_wraps)]
pub(super) fn user_id() -> Option<u32> {
    // SAFETY: takes no argument and cannot fail.
    Some(unsafe { libc::getuid() })
}
