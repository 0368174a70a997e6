//! Serves until stopped.

use super::start::{Start, begin};
use super::{Context, FAILED, say};
use std::process::ExitCode;

/// Binds the port; this build has nothing to answer on it with.
pub fn serve(context: Context) -> ExitCode {
    match begin(&context) {
        Start::Exit(code) => ExitCode::from(code),
        Start::Serve(_) => {
            say("serving is not part of this build");
            ExitCode::from(FAILED)
        }
    }
}
