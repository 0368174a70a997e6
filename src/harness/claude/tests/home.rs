//! A throw-away Claude store and a reader over it.

pub use crate::harness::testkit::touch;

use super::super::*;
use crate::harness::testkit;
use crate::model::{Observed, State};
use crate::surface::watch::{Dirty, Watch};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The moment most tests happen at, seconds since the epoch.
pub const NOW: f64 = 1_780_000_000.0;
/// A session id; its key is `27d10654`.
pub const LEAD: &str = "27d10654-0000-4000-8000-000000000000";
pub const KEY: &str = "27d10654";

pub struct Home {
    pub root: PathBuf,
    pub claude: Claude,
    pub hooks: Arc<Hooks>,
    pub now: f64,
}

impl Home {
    pub fn new() -> Home {
        Home::named("home")
    }

    /// A home whose path ends in `name`.
    pub fn named(name: &str) -> Home {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let unique = format!("cargento-claude-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        let root = std::env::temp_dir().join(unique).join(name);
        std::fs::create_dir_all(root.join(".claude/projects")).unwrap();
        let mut home = Home {
            hooks: Arc::new(Hooks::new(PathBuf::new())),
            claude: reader(&root, &Arc::default()),
            root,
            now: NOW,
        };
        home.restart();
        home
    }

    /// A reader that has read nothing yet, over the same store.
    pub fn restart(&mut self) {
        self.hooks = Arc::new(Hooks::new(self.root.join(".claude/projects")));
        self.claude = reader(&self.root, &self.hooks);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(".claude").join(name)
    }

    /// Writes a file of the store, last written `ago` seconds before now.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>, ago: f64) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        touch(&path, self.now - ago);
        path
    }

    /// Writes a session's transcript in the project `acme/shop`.
    pub fn session(&self, id: &str, records: &[Value], ago: f64) -> PathBuf {
        self.write(&format!("projects/-w-acme-shop/{id}.jsonl"), lines(records), ago)
    }

    /// Appends records, last written `ago` seconds before now.
    pub fn append(&self, path: &Path, records: &[Value], ago: f64) {
        let mut bytes = std::fs::read(path).unwrap();
        bytes.extend(lines(records).into_bytes());
        std::fs::write(path, bytes).unwrap();
        touch(path, self.now - ago);
    }

    pub fn collect(&mut self, all: bool) -> Collected {
        let dirty = Dirty::default();
        let watch = Watch::off();
        let pass = Pass { now: self.now, window: 86_400.0, all, dirty: &dirty, sweep: false, watch: &watch };
        degrades::collect(&mut self.claude, &pass).unwrap()
    }

    pub fn rows(&mut self) -> Vec<Observed> {
        self.collect(false).rows
    }

    pub fn row(&mut self, key: &str) -> Observed {
        self.rows().into_iter().find(|r| r.sid == key).unwrap_or_else(|| panic!("no row {key}"))
    }

    pub fn sids(&mut self) -> Vec<String> {
        self.rows().into_iter().map(|r| r.sid).collect()
    }

    /// State, detail and start of the wait of a row.
    pub fn state(&mut self, key: &str) -> (State, String, Option<f64>) {
        let row = self.row(key);
        (row.state, row.state_detail.unwrap_or_default(), row.blocked_since)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.root.parent().unwrap());
    }
}

impl Default for Hooks {
    fn default() -> Hooks {
        Hooks::new(PathBuf::new())
    }
}

fn reader(root: &Path, hooks: &Arc<Hooks>) -> Claude {
    let at = |name: &str| root.join(".claude").join(name);
    let roots =
        ClaudeRoots { projects: at("projects"), tasks: at("tasks"), teams: at("teams"), home: root.to_path_buf() };
    Claude::new(roots, Arc::clone(hooks), true)
}

pub fn lines(records: &[Value]) -> String {
    records.iter().map(|r| r.as_str().map_or_else(|| r.to_string(), str::to_owned) + "\n").collect()
}

/// An ISO stamp `ago` seconds before [`NOW`].
pub fn iso(ago: f64) -> String {
    testkit::iso(NOW - ago)
}

pub fn ask(words: impl Into<Value>, ago: f64) -> Value {
    json!({"type": "user", "uuid": format!("u-{ago}"), "timestamp": iso(ago), "cwd": "/w/acme/shop",
           "message": {"role": "user", "content": words.into()}})
}

pub fn say(words: &str, ago: f64) -> Value {
    spend("claude-opus-5", None, 40, words, ago)
}

/// An assistant record with a model, a response id and an output count.
pub fn spend(model: &str, id: Option<&str>, tokens: u64, words: &str, ago: f64) -> Value {
    let mut record = json!({"type": "assistant", "uuid": format!("a-{ago}"), "timestamp": iso(ago), "isSidechain": false,
           "message": {"model": model, "usage": {"input_tokens": 9000, "output_tokens": tokens},
                       "content": [{"type": "text", "text": words}]}});
    if let Some(id) = id {
        record["message"]["id"] = json!(id);
    }
    record
}

pub fn call(name: &str, id: &str, input: Value, ago: f64) -> Value {
    json!({"type": "assistant", "timestamp": iso(ago), "isSidechain": false,
           "message": {"model": "claude-opus-5", "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}})
}

pub fn result(id: &str, failed: bool, ago: f64) -> Value {
    json!({"type": "user", "uuid": format!("r-{id}-{ago}"), "timestamp": iso(ago),
           "message": {"content": [{"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": "out"}]}})
}

/// A teammate's records.
pub fn mate(name: &str, lead: &str, ago: f64) -> Vec<Value> {
    let mut asked = ask("review it", ago);
    asked["agentName"] = json!(name);
    asked["teamName"] = json!(format!("session-{lead}"));
    vec![asked, say("Reviewing.", ago - 1.0)]
}
