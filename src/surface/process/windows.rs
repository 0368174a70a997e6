//! Children on Windows: started suspended, put into a job that dies with us, resumed; one thread for each pipe.

use super::{Done, Failure, Handle, Input, Output, Spec};
use crate::surface::win32;
use std::io::{self, Read, Write as _};
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::os::windows::process::CommandExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longest pause between two looks at a child.
const LOOK: Duration = Duration::from_millis(25);
/// How long a killed child may take to go, and its pipes to close.
const KILL_GRACE: Duration = Duration::from_secs(2);

/// A job object holding the child and all it starts.
pub(super) struct Tree(OwnedHandle);

impl Tree {
    fn new() -> io::Result<Self> {
        // SAFETY: no pointers but null; the handle is owned from here on.
        let job = unsafe { win32::CreateJobObjectW(std::ptr::null(), std::ptr::null()) };
        if job.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a fresh, valid handle.
        let job = Self(unsafe { OwnedHandle::from_raw_handle(job) });
        let limits =
            win32::JobLimits { limit_flags: win32::JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, ..win32::JobLimits::default() };
        // SAFETY: the record outlives the call and its size is its own.
        let set = unsafe {
            win32::SetInformationJobObject(
                job.0.as_raw_handle(),
                win32::JOB_OBJECT_EXTENDED_LIMIT_INFORMATION,
                (&raw const limits).cast(),
                size_of::<win32::JobLimits>() as u32,
            )
        };
        if set == 0 { Err(io::Error::last_os_error()) } else { Ok(job) }
    }

    fn take(&self, child: &Child) -> io::Result<()> {
        // SAFETY: both handles are valid and owned.
        let taken = unsafe { win32::AssignProcessToJobObject(self.0.as_raw_handle(), child.as_raw_handle()) };
        if taken == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    pub(super) fn kill(&self) {
        // SAFETY: the handle is valid and owned.
        unsafe { win32::TerminateJobObject(self.0.as_raw_handle(), 1) };
    }
}

pub(super) fn execute(
    mut command: Command,
    spec: &Spec<'_>,
    handle: &Handle,
    started: &dyn Fn(),
) -> Result<Done, Failure> {
    let tree = Tree::new().map_err(Failure::NotStarted)?;
    command.creation_flags(win32::CREATE_SUSPENDED | win32::CREATE_NO_WINDOW);
    let mut child = command.spawn().map_err(Failure::NotStarted)?;
    drop(command);
    if let Err(error) = tree.take(&child).and_then(|()| resume(child.id())) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(Failure::NotStarted(error));
    }
    handle.hold(tree);
    let told = catch_unwind(AssertUnwindSafe(started));
    if told.is_err() {
        handle.cancel();
    }
    let mut feeder = None;
    if let (Input::Bytes(bytes), Some(mut pipe)) = (&spec.stdin, child.stdin.take()) {
        let bytes = bytes.to_vec();
        feeder = std::thread::Builder::new().name("stdin".into()).spawn(move || pipe.write_all(&bytes)).ok();
    }
    let out = Sink::new(&spec.stdout, child.stdout.take());
    let err = Sink::new(&spec.stderr, child.stderr.take());
    let ended = watch(&mut child, spec, handle, [&out, &err]);
    handle.release();
    drop(feeder);
    let code = reap(child)?;
    told.unwrap_or_else(|panic| resume_unwind(panic));
    ended?;
    let (stdout, stderr) = (out.finish()?, err.finish()?);
    if handle.cancelled() { Err(Failure::Cancelled) } else { Ok(Done { code, stdout, stderr }) }
}

fn watch(child: &mut Child, spec: &Spec<'_>, handle: &Handle, sinks: [&Sink; 2]) -> Result<(), Failure> {
    let deadline = spec.timeout.map(|limit| Instant::now() + limit);
    let mut pause = Duration::from_millis(1);
    loop {
        if sinks.iter().any(|sink| sink.full.try_recv().is_ok()) || spec.stdout.outgrown() || spec.stderr.outgrown() {
            return Err(Failure::Oversized);
        }
        if child.try_wait().map_err(Failure::NotStarted)?.is_some() {
            return Ok(());
        }
        if handle.cancelled() {
            return Err(Failure::Cancelled);
        }
        if deadline.is_some_and(|at| Instant::now() >= at) {
            return Err(Failure::TimedOut);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LOOK);
    }
}

fn reap(mut child: Child) -> Result<Option<i32>, Failure> {
    let deadline = Instant::now() + KILL_GRACE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.code()),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(LOOK),
            Ok(None) | Err(_) => return Err(Failure::Unstopped),
        }
    }
}

/// Reads one output on its own thread.
struct Sink {
    /// Sent once, when a strict cap was passed.
    full: Receiver<()>,
    kept: Receiver<Result<Vec<u8>, ()>>,
    piped: bool,
}

impl Sink {
    fn new(output: &Output, pipe: Option<impl Read + Send + 'static>) -> Self {
        let (cap, strict) = match output {
            Output::Capture(cap) => (*cap, true),
            Output::Head(cap) => (*cap, false),
            Output::Null | Output::File(..) => (0, false),
        };
        let (tell_full, full) = channel();
        let (tell_kept, kept) = channel();
        let piped = pipe.is_some();
        if let Some(mut pipe) = pipe {
            let read = move || {
                let mut all = Vec::new();
                let mut buffer = [0u8; 16_384];
                while let Ok(n @ 1..) = pipe.read(&mut buffer) {
                    let room = cap.saturating_sub(all.len());
                    all.extend_from_slice(buffer.get(..n.min(room)).unwrap_or_default());
                    if n > room && strict {
                        let _ = tell_full.send(());
                        let _ = tell_kept.send(Err(()));
                        return;
                    }
                }
                let _ = tell_kept.send(Ok(all));
            };
            let _ = std::thread::Builder::new().name("output".into()).spawn(read);
        }
        Self { full, kept, piped }
    }

    fn finish(self) -> Result<Vec<u8>, Failure> {
        if !self.piped {
            return Ok(Vec::new());
        }
        match self.kept.recv_timeout(KILL_GRACE) {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(())) => Err(Failure::Oversized),
            Err(_) => Ok(Vec::new()),
        }
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

/// Lets a process that was started suspended run: resumes its threads, found by a snapshot of the system's.
fn resume(process: u32) -> io::Result<()> {
    // SAFETY: the entry is a plain record whose size is stated; every handle is closed before the end.
    unsafe {
        let snapshot = win32::CreateToolhelp32Snapshot(win32::TH32CS_SNAPTHREAD, 0);
        if snapshot == win32::INVALID_HANDLE {
            return Err(io::Error::last_os_error());
        }
        let mut entry =
            win32::ThreadEntry { size: size_of::<win32::ThreadEntry>() as u32, ..win32::ThreadEntry::default() };
        let mut resumed = false;
        let mut more = win32::Thread32First(snapshot, &raw mut entry);
        while more != 0 {
            if entry.process == process {
                let thread = win32::OpenThread(win32::THREAD_SUSPEND_RESUME, 0, entry.thread);
                if !thread.is_null() {
                    resumed |= win32::ResumeThread(thread) != u32::MAX;
                    win32::CloseHandle(thread);
                }
            }
            more = win32::Thread32Next(snapshot, &raw mut entry);
        }
        win32::CloseHandle(snapshot);
        if resumed { Ok(()) } else { Err(io::Error::other("the child has no thread to resume")) }
    }
}

pub(super) fn detach(mut command: Command, _keep: &[i32]) -> io::Result<Child> {
    command.creation_flags(win32::DETACHED_PROCESS | win32::CREATE_NEW_PROCESS_GROUP);
    command.spawn()
}

pub(super) fn alive(pid: u32) -> bool {
    // SAFETY: plain calls; the handle is closed before the end.
    unsafe {
        let process = win32::OpenProcess(win32::SYNCHRONIZE, 0, pid);
        if process.is_null() {
            return io::Error::last_os_error().raw_os_error() == Some(win32::ERROR_ACCESS_DENIED);
        }
        let running = win32::WaitForSingleObject(process, 0) == win32::WAIT_TIMEOUT;
        win32::CloseHandle(process);
        running
    }
}

pub(super) fn user_id() -> Option<u32> {
    None
}
