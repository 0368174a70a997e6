//! Cargento shows, in one local page, what every coding agent on this machine is doing.
//!
//! The rooms of the house, from the ground up; an arrow never points back up:
//!
//! - [`config`]: every limit, window and cap, with its unit
//! - [`counters`]: every refusal, bound and fault by name
//! - [`env`](mod@env): the environment, read once; [`roots`]: where each harness keeps its store
//! - [`settings`]: what was typed and what it means, from one table of flags
//! - [`text`]: pure text rules: safe text, redaction, clipping, prompts, durations
//! - [`surface`]: the audit tree, the only code that opens, writes, spawns, listens or connects
//! - [`model`]: what a harness reports about a session, and the pure rules over it (time, turns, loops, identity)
//! - [`harness`]: one reader per harness, behind one trait
//! - [`board`]: rows put together, ordered, summed up and serialised, once a revision
//! - [`live`]: the scan loop that owns every reader, and what wakes it
//! - [`keep`]: our own small stores below the Cargento home
//! - [`lanes`]: features that act, one module each, each with its off switch
//! - [`http`]: gate, routes, event stream, page
//! - [`forward`] and [`mcp`]: the clients a harness starts
//! - [`demo`]: the invented home of `--demo`
//! - [`cli`]: flags, one-shot commands, start and stop

pub mod board;
pub mod cli;
pub mod config;
pub mod counters;
pub mod demo;
pub mod env;
pub mod forward;
pub mod harness;
pub mod http;
pub mod keep;
pub mod lanes;
pub mod live;
pub mod model;
pub mod roots;
pub mod settings;
pub mod surface;
pub mod text;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the role that the arguments, the program's own name first, name.
pub fn run(args: Vec<OsString>) -> ExitCode {
    cli::run(args, env::Env::capture())
}
