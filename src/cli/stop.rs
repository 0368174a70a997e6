//! `--stop`: asks the dashboard on the port to end, and returns once the port is free (LIFE-050 to LIFE-052).

use super::health::{Health, probe};
use super::{Context, FAILED, OK, instance, say, status};
use crate::config::{STOP_RELEASE_INTERVAL_SEC, STOP_RELEASE_TIMEOUT_SEC, STOP_REQUEST_TIMEOUT_SEC};
use crate::surface::bind::{port_free, wait_free};
use crate::surface::loopback::{Failure, Reply, Request, request};
use std::time::Duration;

/// Prints one line and yields the exit code.
pub fn stop(context: &Context) -> u8 {
    let port = context.settings.port;
    let (line, code) = match probe(port) {
        Health::Foreign => (status::foreign(port), FAILED),
        Health::Cargento { pid, .. } => {
            let asked = Request { method: "POST", path: "/api/shutdown", ..Request::default() };
            let reply = request(port, &asked, Duration::from_secs_f64(STOP_REQUEST_TIMEOUT_SEC), 1024);
            asked_to_stop(port, pid, reply, &|| {
                let seconds = Duration::from_secs_f64;
                wait_free(port, seconds(STOP_RELEASE_TIMEOUT_SEC), seconds(STOP_RELEASE_INTERVAL_SEC))
            })
        }
        Health::Closed if !port_free(port) => (
            format!("nothing answers as a dashboard on port {port}, but something still holds it; nothing was removed"),
            FAILED,
        ),
        Health::Closed => nobody_there(context),
    };
    say(&line);
    code
}

fn nobody_there(context: &Context) -> (String, u8) {
    let port = context.settings.port;
    if instance::read(&context.place, port).is_none() {
        return (format!("nothing running on port {port}"), OK);
    }
    match instance::remove(&context.place, port) {
        Ok(_) => (format!("nothing running on port {port}; removed the stale state file"), OK),
        Err(error) => (format!("nothing running on port {port}; its stale state file stays: {error}"), FAILED),
    }
}

fn asked_to_stop(port: u16, pid: u64, reply: Result<Reply, Failure>, freed: &dyn Fn() -> bool) -> (String, u8) {
    let stopped = || (format!("stopped (pid {pid}) on port {port}"), OK);
    match reply {
        Ok(reply) if reply.status == 200 => {
            if freed() {
                return stopped();
            }
            let line = format!(
                "the dashboard on port {port} (pid {pid}) agreed to stop and is still listening after \
                 {STOP_RELEASE_TIMEOUT_SEC:.0} s; check --status"
            );
            (line, FAILED)
        }
        Ok(reply) => {
            let status = reply.status;
            (format!("the dashboard on port {port} (pid {pid}) refused to stop, with status {status}"), FAILED)
        }
        // It may have stopped before its reply was out.
        Err(_) if freed() => stopped(),
        Err(error) => (format!("could not stop the dashboard on port {port} (pid {pid}): {error}"), FAILED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LIFE-050.
    #[test]
    fn life_050_outcomes_of_the_request() {
        let reply = |status| Ok(Reply { status, body: Vec::new() });
        let lost = || Err(Failure::Lost(std::io::ErrorKind::ConnectionReset.into()));
        for (reply, freed, word, code) in [
            (reply(200), true, "stopped (pid 7) on port 4553", OK),
            (reply(200), false, "still listening", FAILED),
            (reply(403), true, "status 403", FAILED),
            (lost(), true, "stopped (pid 7) on port 4553", OK),
            (lost(), false, "could not stop", FAILED),
        ] {
            let (line, got) = asked_to_stop(4553, 7, reply, &|| freed);
            assert!(line.contains(word) && got == code, "{line}");
        }
    }
}
