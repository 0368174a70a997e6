//! Starts and ends children: the one place that does (TRUST-012 to TRUST-014, LIFE-073).
//!
//! A child has an absolute program, a literal argument list, a stated environment, a closed or stated input, a time
//! limit and an output cap. It leads a process group (POSIX: a new session; Windows: a job that dies with us), so that
//! the whole tree is killed, and it is reaped on every path. There is no shell and no default: what a caller does not
//! state does not happen. The webhook URL never reaches a child (NOTE-110).

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

mod program;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use program::{Lookup, Program, Unresolved, scrubbed};

use crate::env::{DETACHED, Env, REACH_URL};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// The user this process runs as; none where there are no numeric users.
pub fn user_id() -> Option<u32> {
    system::user_id()
}

/// One child, wholly stated.
pub struct Spec<'a> {
    /// What runs.
    pub program: &'a Program,
    /// Its arguments, each one element.
    pub args: Vec<OsString>,
    /// Its working directory; ours when `None`.
    pub dir: Option<&'a Path>,
    /// Its whole environment; the webhook URL is taken out.
    pub env: &'a Env,
    /// Its input.
    pub stdin: Input<'a>,
    /// Its output.
    pub stdout: Output,
    /// Its error output.
    pub stderr: Output,
    /// Killed with its tree after this; `None` only for the control-mode client, which ends with its lease.
    pub timeout: Option<Duration>,
}

/// Where a child reads from.
pub enum Input<'a> {
    /// The null device.
    Null,
    /// These bytes, then the end.
    Bytes(&'a [u8]),
    /// An open file or terminal.
    File(File),
}

/// Where a child writes to.
pub enum Output {
    /// The null device.
    Null,
    /// Kept; one byte more than the cap ends the child as [`Failure::Oversized`].
    Capture(usize),
    /// The first bytes kept, the rest read and dropped.
    Head(usize),
    /// An open file or terminal; a regular file that grows past the limit ends the child as oversized.
    File(File, Option<u64>),
}

/// How a child ended by itself, and what it said.
#[derive(Debug, PartialEq, Eq)]
pub struct Done {
    /// Its exit status; `None` when a signal ended it.
    pub code: Option<i32>,
    /// What [`Output::Capture`] or [`Output::Head`] kept.
    pub stdout: Vec<u8>,
    /// The same of the error output.
    pub stderr: Vec<u8>,
}

impl Done {
    /// Whether it exited with status 0.
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }
}

/// Why there is no such ending.
#[derive(Debug)]
pub enum Failure {
    /// It could not be started.
    NotStarted(io::Error),
    /// Its time ran out; the tree was killed and reaped.
    TimedOut,
    /// It wrote more than its cap; the tree was killed and reaped.
    Oversized,
    /// Its [`Handle`] was cancelled; the tree, if any, was killed and reaped.
    Cancelled,
    /// It was killed and has not gone.
    Unstopped,
}

/// Runs one child to its end.
pub fn run(spec: Spec<'_>) -> Result<Done, Failure> {
    supervise(spec, &Handle::default(), &|| ())
}

/// Runs one child to its end under a handle another thread may cancel; `started` is called once it exists.
pub fn supervise(mut spec: Spec<'_>, handle: &Handle, started: &dyn Fn()) -> Result<Done, Failure> {
    if handle.cancelled() {
        return Err(Failure::Cancelled);
    }
    let command = command(&mut spec).map_err(Failure::NotStarted)?;
    system::execute(command, &spec, handle, started)
}

/// The command of a child: the only one the program builds.
fn command(spec: &mut Spec<'_>) -> io::Result<Command> {
    let mut command = Command::new(spec.program.path());
    command.args(&spec.args).env_clear();
    command.envs(spec.env.without(&[REACH_URL, DETACHED]).iter());
    if let Some(dir) = spec.dir {
        command.current_dir(dir);
    }
    // A file goes to the child and is closed here once the command is dropped: a terminal must see its last end close.
    command.stdin(match std::mem::replace(&mut spec.stdin, Input::Null) {
        Input::Null => Stdio::null(),
        Input::File(file) => Stdio::from(file),
        bytes @ Input::Bytes(_) => {
            spec.stdin = bytes;
            Stdio::piped()
        }
    });
    command.stdout(sink(&mut spec.stdout)?);
    command.stderr(sink(&mut spec.stderr)?);
    Ok(command)
}

fn sink(output: &mut Output) -> io::Result<Stdio> {
    Ok(match output {
        Output::Null => Stdio::null(),
        Output::Capture(_) | Output::Head(_) => Stdio::piped(),
        Output::File(file, Some(_)) => Stdio::from(file.try_clone()?),
        Output::File(_, None) => match std::mem::replace(output, Output::Null) {
            Output::File(file, _) => Stdio::from(file),
            _ => Stdio::null(),
        },
    })
}

/// What a daemon is started with: it outlives us, so it has neither limit nor pipe.
pub struct Detached<'a> {
    /// Our own executable.
    pub program: &'a Program,
    /// The rebuilt arguments.
    pub args: Vec<OsString>,
    /// Its whole environment, the webhook URL included.
    pub env: &'a Env,
    /// Where its output and error output go.
    pub log: &'a File,
    /// Descriptors it inherits under the same numbers (POSIX).
    pub keep: Vec<i32>,
}

/// Starts a process of its own session (Windows: detached, in a process group of its own) that is no session leader
/// and has no terminal. The child returned is the one to wait for on Windows; on POSIX it has already exited.
pub fn detach(spec: &Detached<'_>) -> io::Result<std::process::Child> {
    let mut command = command(&mut Spec {
        program: spec.program,
        args: spec.args.clone(),
        dir: None,
        env: spec.env,
        stdin: Input::Null,
        stdout: Output::File(spec.log.try_clone()?, None),
        stderr: Output::File(spec.log.try_clone()?, None),
        timeout: None,
    })?;
    for name in [REACH_URL, DETACHED] {
        if let Some(value) = spec.env.get(name) {
            command.env(name, value);
        }
    }
    system::detach(command, &spec.keep)
}

/// Whether a process of this number is alive; one we may not signal counts as alive (STATE-011).
pub fn alive(pid: u32) -> bool {
    system::alive(pid)
}

/// Cancels one child from another thread, at any moment: before it starts, while it runs, or when it is gone.
#[derive(Clone, Default)]
pub struct Handle(Arc<Mutex<HandleState>>);

#[derive(Default)]
struct HandleState {
    cancelled: bool,
    /// The living tree; taken out before its leader is reaped, so that a number used anew is never signalled.
    tree: Option<system::Tree>,
}

impl Handle {
    /// Kills the child's tree, now or as soon as it exists.
    pub fn cancel(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.cancelled = true;
        if let Some(tree) = &state.tree {
            tree.kill();
        }
    }

    /// Whether it was cancelled.
    pub fn cancelled(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).cancelled
    }

    /// Takes a tree under the handle; a handle cancelled meanwhile kills it at once.
    fn hold(&self, tree: system::Tree) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.cancelled {
            tree.kill();
        }
        state.tree = Some(tree);
    }

    /// Kills what is left of the tree and lets go of it; its leader may be reaped afterwards.
    fn release(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tree) = state.tree.take() {
            tree.kill();
        }
    }
}

/// Every supervised child of a kind, so that a stop can end them all (LIFE-070, step 1).
#[derive(Clone, Default)]
pub struct Supervisor(Arc<Mutex<SupervisorState>>);

#[derive(Default)]
struct SupervisorState {
    closed: bool,
    running: Vec<Weak<Mutex<HandleState>>>,
}

impl Supervisor {
    /// A handle under this supervisor; already cancelled once the supervisor was closed.
    pub fn handle(&self) -> Handle {
        let handle = Handle::default();
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.running.retain(|weak| weak.strong_count() > 0);
        state.running.push(Arc::downgrade(&handle.0));
        let closed = state.closed;
        drop(state);
        if closed {
            handle.cancel();
        }
        handle
    }

    /// Cancels every child, and every one that would start from now on.
    pub fn close(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.closed = true;
        let running = std::mem::take(&mut state.running);
        drop(state);
        for handle in running.iter().filter_map(Weak::upgrade) {
            Handle(handle).cancel();
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
