//! Asks a port who is there (LIFE-040). Running is decided by the answer, never by a file.

use crate::config::{PROBE_BODY_CAP_BYTES, PROBE_TIMEOUT_SEC};
use crate::surface::loopback::{Request, request};
use serde_json::Value;
use std::time::Duration;

/// Who answers on a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Health {
    /// A dashboard of ours: its process and when it started, seconds since the epoch.
    Cargento { pid: u64, started: f64 },
    /// Something that speaks HTTP and is no dashboard.
    Foreign,
    /// Nobody, or nobody who speaks HTTP.
    Closed,
}

/// Asks `/api/health` with the time `--status` allows.
pub fn probe(port: u16) -> Health {
    probe_within(port, Duration::from_secs_f64(PROBE_TIMEOUT_SEC))
}

/// Asks `/api/health`.
pub fn probe_within(port: u16, limit: Duration) -> Health {
    let asked = Request { method: "GET", path: "/api/health", ..Request::default() };
    match request(port, &asked, limit, PROBE_BODY_CAP_BYTES) {
        Err(_) => Health::Closed,
        Ok(reply) if reply.status != 200 => Health::Foreign,
        Ok(reply) => plausible(&reply.body, port).unwrap_or(Health::Foreign),
    }
}

/// A health reply of ours: `ok` exactly true, a process, this very port, a finite start. Booleans are no numbers and
/// further members do not matter.
fn plausible(body: &[u8], port: u16) -> Option<Health> {
    let document: Value = serde_json::from_slice(body).ok()?;
    let ok = document.get("ok")?.as_bool()?;
    let pid = document.get("pid")?.as_u64()?;
    let named = document.get("port")?.as_u64()?;
    let started = document.get("started")?.as_f64()?;
    let ours = document.is_object() && ok && pid > 0 && named == u64::from(port) && started.is_finite();
    ours.then_some(Health::Cargento { pid, started })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LIFE-040.
    #[test]
    fn life_040_what_a_dashboard_answers() {
        let good = br#"{"ok": true, "pid": 41213, "port": 4553, "started": 1790000000.5, "version": "9", "more": [1]}"#;
        assert_eq!(plausible(good, 4553), Some(Health::Cargento { pid: 41213, started: 1_790_000_000.5 }));
        assert!(plausible(br#"{"ok":true,"pid":5,"port":4553,"started":1790000000}"#, 4553).is_some());
        assert!(plausible(good, 4554).is_none());
    }

    /// LIFE-040.
    #[test]
    fn life_040_lookalikes() {
        for body in [
            r#"{"ok":1,"pid":5,"port":4553,"started":1.0}"#,
            r#"{"ok":false,"pid":5,"port":4553,"started":1.0}"#,
            r#"{"ok":true,"pid":0,"port":4553,"started":1.0}"#,
            r#"{"ok":true,"pid":-5,"port":4553,"started":1.0}"#,
            r#"{"ok":true,"pid":true,"port":4553,"started":1.0}"#,
            r#"{"ok":true,"pid":5.5,"port":4553,"started":1.0}"#,
            r#"{"ok":true,"pid":5,"port":1,"started":1.0}"#,
            r#"{"ok":true,"pid":5,"port":4553,"started":true}"#,
            r#"{"ok":true,"pid":5,"port":4553,"started":"1"}"#,
            r#"{"ok":true,"pid":5,"port":4553,"started":1e999}"#,
            r#"{"ok":true,"pid":5,"port":4553}"#,
            r#"[{"ok":true}]"#,
            "null",
            "<html>",
            "",
        ] {
            assert_eq!(plausible(body.as_bytes(), 4553), None, "{body}");
        }
        assert_eq!(plausible("[".repeat(4096).as_bytes(), 4553), None);
    }
}
