//! Rollouts written into a scratch store and read back through the collector, by a clock that stands still.

mod boots;
mod equal;
mod figures;
mod files;
mod fixtures;
mod kin;
mod long;
mod plans;
mod rows;
mod scale;
mod words;

pub use crate::harness::testkit::{append, iso, touch};

use super::Codex;
use crate::harness::{Collected, Collector, Pass, degrades};
use crate::model::Observed;
use crate::surface::watch::{Dirty, Watch};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The time of every test, seconds since the epoch.
pub const NOW: f64 = 1_790_000_000.0;
pub const DAY: f64 = 86_400.0;
pub const ROOT: &str = "01994f10-7a1c-7c30-9f4e-0a1b2c3d4e5f";

/// A scratch store with its reader.
pub struct Store {
    pub home: PathBuf,
    pub reader: Codex,
}

impl Store {
    pub fn new() -> Store {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let n = MADE.fetch_add(1, Ordering::Relaxed);
        let home = std::env::temp_dir().join(format!("cargento-codex-{}-{n}", std::process::id()));
        let _ = std::fs::remove_dir_all(&home);
        let sessions = home.join(".codex/sessions");
        std::fs::create_dir_all(&sessions).unwrap();
        Store { reader: Codex::new(sessions, &home), home }
    }

    pub fn sessions(&self) -> PathBuf {
        self.home.join(".codex/sessions")
    }

    /// The path of a thread's rollout.
    pub fn path(&self, day: &str, thread: &str) -> PathBuf {
        let name = format!("rollout-{}T08-14-02-{thread}.jsonl", day.replace('/', "-"));
        self.sessions().join(day).join(name)
    }

    /// Writes a rollout: a header for `thread` with the members of `meta`, then `records`; last written at `mtime`.
    pub fn rollout(&self, thread: &str, meta: &Value, records: &[Value], mtime: f64) -> PathBuf {
        let mut payload = json!({"id": thread, "session_id": thread, "cwd": "/w/acme/api", "source": "cli"});
        payload.as_object_mut().unwrap().extend(meta.as_object().cloned().unwrap_or_default());
        let mut all = vec![json!({"timestamp": iso(NOW - 3600.0), "type": "session_meta", "payload": payload})];
        all.extend(records.iter().cloned());
        let path = self.path("2026/09/20", thread);
        write(&path, &lines(&all), mtime);
        path
    }

    /// A child of `parent` in the tree of `root`.
    pub fn child(&self, thread: &str, parent: &str, meta: &Value, records: &[Value], mtime: f64) -> PathBuf {
        let mut all = json!({"session_id": ROOT, "thread_source": "subagent",
            "source": {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}});
        all.as_object_mut().unwrap().extend(meta.as_object().cloned().unwrap_or_default());
        self.rollout(thread, &all, records, mtime)
    }

    pub fn collect_at(&mut self, now: f64, all: bool) -> Collected {
        let (dirty, watch) = (Dirty::default(), Watch::off());
        let pass = Pass { now, window: DAY, all, dirty: &dirty, sweep: true, watch: &watch };
        degrades::collect(&mut self.reader, &pass).unwrap()
    }

    pub fn collect(&mut self) -> Collected {
        self.collect_at(NOW, false)
    }

    pub fn all(&mut self) -> Collected {
        self.collect_at(NOW, true)
    }

    /// The one row there is.
    pub fn row(&mut self) -> Observed {
        let mut rows = self.collect().rows;
        assert_eq!(rows.len(), 1, "{:?}", rows.iter().map(|r| &r.sid).collect::<Vec<_>>());
        rows.remove(0)
    }

    /// The row of a reader that never saw the store before.
    pub fn cold_row(&self) -> Observed {
        let mut cold = Store { home: self.home.clone(), reader: Codex::new(self.sessions(), &self.home) };
        let row = cold.row();
        std::mem::forget(cold);
        row
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

pub fn sids(found: &Collected) -> Vec<&str> {
    found.rows.iter().map(|row| row.sid.as_str()).collect()
}

pub fn record(kind: &str, at: f64, payload: Value) -> Value {
    json!({"timestamp": iso(at), "type": kind, "payload": payload})
}

/// An `event_msg` record, `more` added to its payload.
pub fn event(kind: &str, at: f64, more: &Value) -> Value {
    record("event_msg", at, typed(kind, more))
}

/// A `response_item` record, `more` added to its payload.
pub fn item(kind: &str, at: f64, more: &Value) -> Value {
    record("response_item", at, typed(kind, more))
}

fn typed(kind: &str, more: &Value) -> Value {
    let mut payload = json!({ "type": kind });
    payload.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    payload
}

pub fn said(at: f64, text: &str) -> Value {
    item("message", at, &json!({"role": "user", "content": [{"type": "input_text", "text": text}]}))
}

pub fn commentary(at: f64, text: &str) -> Value {
    event("agent_message", at, &json!({"phase": "commentary", "message": text}))
}

pub fn started(at: f64) -> Value {
    event("task_started", at, &json!({}))
}

pub fn complete(at: f64) -> Value {
    event("task_complete", at, &json!({}))
}

pub fn model(at: f64, name: &str) -> Value {
    record("turn_context", at, json!({"cwd": "/w/acme/api", "model": name}))
}

/// A response of `last` output tokens, `total` so far.
pub fn tokens(at: f64, last: u64, total: u64) -> Value {
    let info = json!({"last_token_usage": {"output_tokens": last}, "total_token_usage": {"output_tokens": total}});
    event("token_count", at, &json!({ "info": info }))
}

/// Encrypted reasoning, as most of a rollout is.
pub fn padding(at: f64, bytes: usize) -> Value {
    item("reasoning", at, &json!({"summary": [], "encrypted_content": "g".repeat(bytes)}))
}

/// Members in the order Codex writes them, which a JSON object here does not keep.
pub fn line(record: &Value) -> String {
    let Some(object) = record.as_object() else { return record.to_string() };
    let payload = object.get("payload").map_or("{}".into(), |payload| match payload.as_object() {
        Some(payload) => {
            let mut parts: Vec<String> = payload.iter().map(|(k, v)| format!("{}:{v}", json!(k))).collect();
            parts.sort_by_key(|part| !part.starts_with("\"type\""));
            format!("{{{}}}", parts.join(","))
        }
        None => payload.to_string(),
    });
    let member = |key: &str| object.get(key).map_or("null".into(), Value::to_string);
    format!("{{\"timestamp\":{},\"type\":{},\"payload\":{payload}}}", member("timestamp"), member("type"))
}

pub fn lines(records: &[Value]) -> String {
    records.iter().map(|record| line(record) + "\n").collect()
}

pub fn write(path: &Path, text: &str, mtime: f64) {
    write_bytes(path, text.as_bytes(), mtime);
}

pub fn write_bytes(path: &Path, bytes: &[u8], mtime: f64) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
    touch(path, mtime);
}
