//! Chooses the role from the program's name or its first word; everything else is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargento::run(std::env::args_os().collect())
}
