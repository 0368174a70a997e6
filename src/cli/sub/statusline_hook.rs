//! `cargento statusline-hook`: the Antigravity status line (HOOK-060).

use crate::env::Env;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the subcommand with the arguments after its name.
pub(super) fn run(_args: &[OsString], _env: &Env) -> ExitCode {
    super::not_built("statusline-hook")
}
