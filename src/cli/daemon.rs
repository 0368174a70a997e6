//! `--daemon` on POSIX: bind, start the own executable with the listener inherited, wait for its word (LIFE-020 to 025).

use super::start::{bound, log_tail, url};
use super::{Context, FAILED, OK, say};
use crate::config::DAEMON_READY_TIMEOUT_SEC;
use crate::surface::daemon::{self, Heard};
use crate::surface::process::Program;
use std::fs::File;
use std::time::Duration;

/// Starts the daemon and prints one line about it; the exit code, on either side.
pub(super) fn start(context: &Context, log: &File) -> Result<u8, u8> {
    let failed = |error: &dyn std::fmt::Display| {
        say(&format!("the daemon could not be started: {error}"));
        FAILED
    };
    let listener = bound(context)?;
    let program = Program::own().ok_or_else(|| failed(&"this program does not know its own path"))?;
    let (args, env) = context.settings.respawn(&context.env);
    let spec = daemon::Start { program: &program, args, env: &env, log };
    let line = daemon::start(&spec, listener).map_err(|error| failed(&error))?;
    let (text, code) = outcome(context, line.wait(Duration::from_secs_f64(DAEMON_READY_TIMEOUT_SEC)));
    say(&text);
    Ok(code)
}

fn outcome(context: &Context, heard: Heard) -> (String, u8) {
    let log = context.log_path();
    let shown = log.display();
    match heard {
        Heard::Pid(pid) => (format!("{} (pid {pid}, log {shown})", url(context.settings.port)), OK),
        Heard::Closed => (format!("the daemon exited before serving; its log ends:\n{}", log_tail(&log)), FAILED),
        Heard::Broken(error) => (format!("the daemon could not be heard: {error}; check its log {shown}"), FAILED),
        Heard::Late => {
            let line = format!(
                "the daemon was started but is not ready within {DAEMON_READY_TIMEOUT_SEC:.0}s; check its log {shown}"
            );
            (line, FAILED)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Env, Platform};
    use crate::settings::Settings;

    /// LIFE-023.
    #[test]
    fn life_023_what_is_said_of_a_daemon() {
        let env = Env::of(Platform::Linux, [("CARGENTO_HOME", "/nowhere/state")]);
        let context = Context::new(Settings::default(), env).unwrap();
        let say = |heard| outcome(&context, heard);
        let (line, code) = say(Heard::Pid(77));
        assert_eq!(
            (line.as_str(), code),
            ("http://127.0.0.1:4553/ (pid 77, log /nowhere/state/cargento-4553.log)", OK)
        );
        let (line, code) = say(Heard::Closed);
        assert!(line.contains("exited before serving") && line.contains("could not read") && code == FAILED);
        let (line, code) = say(Heard::Broken(std::io::Error::other("odd")));
        assert!(line.contains("odd") && line.contains("cargento-4553.log") && code == FAILED);
        let (line, code) = say(Heard::Late);
        assert!(line.contains("within 10s") && line.contains("log") && code == FAILED);
    }
}
