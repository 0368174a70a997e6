//! `cargento event-hook`: forwards one lifecycle event (HOOK-030).

use crate::env::Env;
use crate::forward;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the subcommand with the arguments after its name.
pub(super) fn run(args: &[OsString], env: &Env) -> ExitCode {
    let text = |at: usize| args.get(at).and_then(|a| a.to_str());
    // A harness whose name is not Unicode has no table.
    let harness = args.first().map(|a| a.to_str().unwrap_or_default());
    forward::quietly(|| forward::event(harness, text(1), env));
    ExitCode::SUCCESS
}
