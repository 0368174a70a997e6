//! `cargento agy-hook`: the Antigravity hook (HOOK-050).

use crate::env::Env;
use crate::forward;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the subcommand with the arguments after its name.
pub(super) fn run(args: &[OsString], env: &Env) -> ExitCode {
    let text = |at: usize| args.get(at).and_then(|a| a.to_str());
    forward::agy(text(0), text(1), env);
    ExitCode::SUCCESS
}
