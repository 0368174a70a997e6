//! `cargento notify-hook`: forwards a notification payload (HOOK-020).

use crate::env::Env;
use crate::forward;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the subcommand with the arguments after its name.
pub(super) fn run(args: &[OsString], _env: &Env) -> ExitCode {
    forward::quietly(|| match args.first() {
        None => forward::notify(None),
        // An address that is not Unicode leads nowhere.
        Some(url) => forward::notify(Some(url.to_str().unwrap_or_default())),
    });
    ExitCode::SUCCESS
}
