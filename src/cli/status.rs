//! `--status`: says who is on the port, changes nothing (LIFE-041).

use super::health::{Health, probe};
use super::{Context, FAILED, OK, instance, say};
use crate::surface::localtime::local_time;

/// Prints one line and yields the exit code.
pub fn status(context: &Context) -> u8 {
    let port = context.settings.port;
    let (line, code) = match probe(port) {
        Health::Cargento { pid, started } => {
            let since =
                local_time(started).map_or_else(|| "unknown".into(), |t| format!("{:02}:{:02}", t.hour, t.minute));
            (format!("running on port {port} (pid {pid}, since {since}): http://127.0.0.1:{port}/"), OK)
        }
        Health::Foreign => (foreign(port), FAILED),
        Health::Closed => match instance::read(&context.place, port) {
            Some(record) => {
                let pid = instance::pid(&record).map_or_else(|| "unknown".into(), |pid| pid.to_string());
                let line = format!(
                    "not running on port {port}; a stale state file of pid {pid} is left over, and --stop removes it"
                );
                (line, FAILED)
            }
            None => (format!("not running on port {port}"), FAILED),
        },
    };
    say(&line);
    code
}

/// What both commands say of a stranger on the port.
pub fn foreign(port: u16) -> String {
    format!("port {port} is held by another process that is not Cargento; nothing was stopped or removed")
}
