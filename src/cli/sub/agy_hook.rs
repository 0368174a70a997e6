//! `cargento agy-hook`: the Antigravity hook (HOOK-050).

use crate::env::Env;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the subcommand with the arguments after its name.
pub(super) fn run(_args: &[OsString], _env: &Env) -> ExitCode {
    super::not_built("agy-hook")
}
