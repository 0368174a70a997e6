//! `--daemon` on Windows: start the own executable detached and ask the port until it answers (LIFE-030, LIFE-031).

use super::health::{Health, probe_within};
use super::start::{log_tail, url};
use super::{Context, FAILED, OK, say};
use crate::config::{DAEMON_PROBE_INTERVAL_SEC, DAEMON_PROBE_TIMEOUT_SEC, DAEMON_READY_TIMEOUT_SEC};
use crate::surface::daemon;
use crate::surface::process::Program;
use std::fs::File;
use std::process::Child;
use std::time::{Duration, Instant};

/// Starts the daemon and prints one line about it; the exit code, on either side.
pub(super) fn start(context: &Context, log: &File) -> Result<u8, u8> {
    let failed = |error: &dyn std::fmt::Display| {
        say(&format!("the daemon could not be started: {error}"));
        FAILED
    };
    let program = Program::own().ok_or_else(|| failed(&"this program does not know its own path"))?;
    let (args, env) = context.settings.respawn(&context.env);
    let spec = daemon::Start { program: &program, args, env: &env, log };
    let mut child = daemon::start(&spec).map_err(|error| failed(&error))?;
    let (text, code) = wait(context, &mut child);
    say(&text);
    Ok(code)
}

/// Success is the child's own number in the reply: another dashboard on the port is not it.
fn wait(context: &Context, child: &mut Child) -> (String, u8) {
    let port = context.settings.port;
    let log = context.log_path();
    let shown = log.display();
    let deadline = Instant::now() + Duration::from_secs_f64(DAEMON_READY_TIMEOUT_SEC);
    let mut other = false;
    while Instant::now() < deadline {
        if let Health::Cargento { pid, .. } = probe_within(port, Duration::from_secs_f64(DAEMON_PROBE_TIMEOUT_SEC)) {
            if pid == u64::from(child.id()) {
                return (format!("{} (pid {pid}, log {shown})", url(port)), OK);
            }
            other = true;
        }
        if let Ok(Some(status)) = child.try_wait() {
            let code = status.code().map_or_else(|| "none".to_owned(), |code| code.to_string());
            let tail = log_tail(&log);
            return (format!("the daemon exited before serving, with code {code}; its log ends:\n{tail}"), FAILED);
        }
        std::thread::sleep(Duration::from_secs_f64(DAEMON_PROBE_INTERVAL_SEC));
    }
    if other {
        let line =
            format!("another dashboard answers on port {port}; see --status, or choose another port with --port");
        return (line, FAILED);
    }
    let limit = DAEMON_READY_TIMEOUT_SEC;
    (format!("the daemon was started but is not ready within {limit:.0}s; check its log {shown}"), FAILED)
}
