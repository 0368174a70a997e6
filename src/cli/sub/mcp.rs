//! `cargento mcp`: the stdio server of the question tool (ASK-060).

use crate::env::Env;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the subcommand with the arguments after its name.
pub(super) fn run(_args: &[OsString], _env: &Env) -> ExitCode {
    super::not_built("mcp")
}
