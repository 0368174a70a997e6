//! `cargento hooks`: prints what to add for a harness (CLI-032).

use crate::env::Env;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the subcommand with the arguments after its name.
pub(super) fn run(_args: &[OsString], _env: &Env) -> ExitCode {
    super::not_built("hooks")
}
