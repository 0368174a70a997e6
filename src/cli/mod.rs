//! The command line: which role the arguments name, the one-shot commands, and the start and end of a serving run.

mod context;
#[cfg(unix)]
mod daemon;
#[cfg(windows)]
#[path = "daemon_windows.rs"]
mod daemon;
mod diagnose;
mod features;
mod forget;
pub mod health;
pub mod instance;
mod say;
mod serve;
pub mod shutdown;
pub mod sources;
pub mod start;
mod status;
mod stop;
mod sub;

pub use context::Context;
pub use say::say;

use crate::env::Env;
use crate::settings::{OneShot, Settings, UsageError, help, typed, usage};
use crate::surface::signal;
use std::ffi::OsString;
use std::process::ExitCode;

/// Success.
pub const OK: u8 = 0;
/// A refusal or failure at run time.
pub const FAILED: u8 = 1;
/// Arguments that were not understood.
pub const USAGE: u8 = 2;

/// Runs the role that the arguments (the program's own name first) name.
pub fn run(args: Vec<OsString>, env: Env) -> ExitCode {
    signal::restore_terminate();
    if let Some((role, rest)) = sub::role(&args) {
        return role(rest, &env);
    }
    let rest = args.into_iter().skip(1);
    match typed(rest) {
        Err(error) => refuse(&error),
        Ok(typed) if typed.help => {
            say::print(&help());
            ExitCode::from(OK)
        }
        Ok(typed) if typed.version => {
            say::print(concat!("cargento ", env!("CARGO_PKG_VERSION"), "\n"));
            ExitCode::from(OK)
        }
        Ok(typed) => match Settings::of(&typed) {
            Err(error) => refuse(&error),
            Ok(settings) => dispatch(settings, env),
        },
    }
}

/// The first one-shot command of a fixed order, else a serving run (CLI-017, CLI-020).
fn dispatch(settings: Settings, env: Env) -> ExitCode {
    let one_shot = settings.one_shot();
    let context = match Context::new(settings, env) {
        Ok(context) => context,
        Err(error) => {
            say(&format!("a private directory for the demo could not be made: {error}"));
            return ExitCode::from(FAILED);
        }
    };
    match one_shot {
        Some(OneShot::Diagnose) => ExitCode::from(diagnose::diagnose(&context, features::readers(&context))),
        Some(OneShot::Forget) => ExitCode::from(forget::forget(&context)),
        Some(OneShot::Stop) => ExitCode::from(stop::stop(&context)),
        Some(OneShot::Status) => ExitCode::from(status::status(&context)),
        None => serve::serve(context),
    }
}

/// A usage error: two lines on standard error, nothing else happens (CLI-002).
fn refuse(error: &UsageError) -> ExitCode {
    say::complain(&format!("{}\nerror: {error}\n", usage()));
    ExitCode::from(USAGE)
}
