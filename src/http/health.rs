//! `GET /api/health` (HTTP-033, HTTP-034): which process this is. Takes no lock a collection holds and reads no file.

use super::app::{App, Call};
use super::reply::Reply;
use serde::Serialize;

#[derive(Serialize)]
struct Health {
    ok: bool,
    pid: u32,
    port: u16,
    started: f64,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<serde_json::Map<String, serde_json::Value>>,
}

/// Process, port and start; with `counters=1` every counter as well.
pub(super) fn reply(app: &App, call: &Call) -> Reply {
    let counters = (call.query.first("counters").as_deref() == Some("1")).then(|| app.counters.to_json());
    let (pid, version) = (std::process::id(), env!("CARGO_PKG_VERSION"));
    Reply::json(200, &Health { ok: true, pid, port: app.here.port, started: app.started, version, counters })
}
