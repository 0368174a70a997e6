//! `cargento statusline-hook`: the Antigravity status line (HOOK-060).

use crate::env::Env;
use crate::forward;
use crate::model::time::system_clock;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the subcommand with the arguments after its name.
pub(super) fn run(args: &[OsString], env: &Env) -> ExitCode {
    forward::statusline(args.first().and_then(|a| a.to_str()), env, system_clock()());
    ExitCode::SUCCESS
}
