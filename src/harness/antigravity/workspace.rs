//! Workspace and newest prompt of each conversation, out of the CLI's cache and its logs (AGY-018 to AGY-023).
//!
//! The cache names one workspace of a conversation and is believed first; a log names the folders its process was
//! started with, and is the only place where a prompt stands outside a conversation's content.

use super::log::{Event, HEAD_BYTES, Head, Id, Log};
use super::names;
use crate::harness::Pass;
use crate::harness::tree::{File, Tree};
use crate::surface::read::{self, Stamp};
use crate::text::json;
use crate::text::label::{Host, project_label};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// Most read of the cache, bytes.
const CACHE_BYTES: u64 = 1024 * 1024;
/// Most logs read of one store, the newest ones; a CLI starts one per run.
const LOGS: usize = 256;
/// Longest workspace path that is kept, bytes.
const PATH_BYTES: usize = 4096;

/// What is known of a conversation outside its database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// Working directory, or the log's list of folders when nothing tells which of them it was.
    pub cwd: Option<String>,
    /// The newest prompt, safe and bounded.
    pub prompt: Option<String>,
}

/// Reads cache and logs, each again only when it changed.
pub struct Workspaces {
    home: PathBuf,
    cache_stamp: Option<Stamp>,
    /// Why the cache could not be read.
    cache_error: Option<(String, String)>,
    /// Workspaces by conversation.
    cached: HashMap<String, String>,
    logs: HashMap<OsString, Log>,
    /// The logs that counted last time, oldest first.
    order: Vec<OsString>,
    heads: HashMap<OsString, (Stamp, Head)>,
    known: HashMap<String, Known>,
}

impl Workspaces {
    /// Nothing is read before [`Workspaces::refresh`].
    pub fn new(home: PathBuf) -> Workspaces {
        Workspaces {
            home,
            cache_stamp: None,
            cache_error: None,
            cached: HashMap::new(),
            logs: HashMap::new(),
            order: Vec::new(),
            heads: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// What is known of a conversation.
    pub fn of(&self, sid: &str) -> Option<&Known> {
        self.known.get(sid)
    }

    /// The home directory that labels are counted from.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Brings everything up to date; failures go to `errors`.
    pub fn refresh(&mut self, tree: &Tree, pass: &Pass<'_>, errors: &mut Vec<(String, String)>) {
        let mut changed = self.read_cache(tree);
        errors.extend(self.cache_error.clone());
        let (recent, older) = sorted(tree, pass);
        changed |= self.read_logs(&recent, errors);
        let order: Vec<OsString> = recent.into_iter().map(|log| log.name).collect();
        changed |= order != self.order;
        self.order = order;
        if changed {
            self.merge(&older);
        }
    }

    fn read_cache(&mut self, tree: &Tree) -> bool {
        let path = tree.root().join(names::CACHE).join(names::LAST_CONVERSATIONS);
        let stamp = tree.file(&path).map(|file| file.stamp);
        if stamp == self.cache_stamp {
            return false;
        }
        self.cache_stamp = stamp;
        self.cache_error = None;
        self.cached.clear();
        if stamp.is_none() {
            return true;
        }
        let label = |workspace: &str| project_label(workspace, &self.home.to_string_lossy(), Host::current());
        match read::whole(&path, CACHE_BYTES) {
            Ok(bytes) => {
                let text = json::lenient(&bytes);
                let pairs =
                    if json::too_deep(text.as_bytes()) { None } else { serde_json::from_str::<Pairs>(&text).ok() };
                for (workspace, sid) in pairs.map(|pairs| pairs.0).unwrap_or_default() {
                    if workspace.len() <= PATH_BYTES && label(&workspace).is_some() {
                        self.cached.insert(sid, workspace);
                    }
                }
            }
            Err(error) if error.is_missing() => self.cache_stamp = None,
            Err(error) => self.cache_error = Some(failure(&path, &error)),
        }
        true
    }

    fn read_logs(&mut self, recent: &[LogFile], errors: &mut Vec<(String, String)>) -> bool {
        let mut changed = false;
        for file in recent {
            let log = self.logs.entry(file.name.clone()).or_default();
            match log.read(&file.path, file.stamp) {
                Ok(news) => changed |= news,
                Err(error) => {
                    changed |= self.logs.remove(&file.name).is_some();
                    // Rotated away between the listing and the reading: not a fault.
                    if !error.is_missing() {
                        errors.push(failure(&file.path, &error));
                    }
                }
            }
        }
        if self.logs.len() > recent.len() + LOGS {
            let kept: HashSet<&OsString> = recent.iter().map(|file| &file.name).collect();
            self.logs.retain(|name, _| kept.contains(name));
        }
        changed
    }

    /// Puts cache and logs together (AGY-021, AGY-022).
    fn merge(&mut self, older: &[LogFile]) {
        let logs: Vec<Vec<Event<'_>>> =
            self.order.iter().filter_map(|name| self.logs.get(name)).map(Log::events).collect();
        let mut primaries: HashMap<&str, &str> = HashMap::new();
        for event in logs.iter().flatten() {
            if let (Some(context), Some(workspace)) = (event.context, self.cached.get(text(event.conversation))) {
                primaries.insert(context, workspace);
            }
        }
        let mut missing: HashSet<&str> = logs.iter().flatten().filter_map(|event| event.context).collect();
        missing.retain(|context| !primaries.contains_key(context));
        let found = from_heads(&mut self.heads, &self.cached, older, missing);
        let mut known: HashMap<String, Known> = HashMap::new();
        for event in logs.iter().flatten() {
            let entry = known.entry(text(event.conversation).to_owned()).or_default();
            if let Some(context) = event.context {
                let primary = primaries.get(context).copied().or_else(|| found.get(context).map(String::as_str));
                entry.cwd = Some(primary.unwrap_or(context).to_owned());
            }
            if let Some(prompt) = event.prompt.filter(|prompt| !prompt.is_empty()) {
                entry.prompt = Some(prompt.to_owned());
            }
        }
        for (sid, workspace) in &self.cached {
            known.entry(sid.clone()).or_default().cwd = Some(workspace.clone());
        }
        self.known = known;
    }
}

struct LogFile {
    path: PathBuf,
    name: OsString,
    stamp: Stamp,
}

/// The logs that count, oldest first, and those whose heads may still tell a workspace, newest first.
fn sorted(tree: &Tree, pass: &Pass<'_>) -> (Vec<LogFile>, Vec<LogFile>) {
    let dir = tree.root().join(names::LOGS);
    let file = |(name, file): (&std::ffi::OsStr, &File)| LogFile {
        path: dir.join(name),
        name: name.to_os_string(),
        stamp: file.stamp,
    };
    let mut logs: Vec<LogFile> = tree.files_in(&dir).map(file).collect();
    logs.sort_by(|a, b| (b.stamp.mtime_ns, &b.name).cmp(&(a.stamp.mtime_ns, &a.name)));
    let (mut recent, mut older): (Vec<_>, Vec<_>) =
        logs.into_iter().partition(|log| pass.all || pass.in_window(log.stamp.mtime()));
    recent.truncate(LOGS);
    older.truncate(LOGS);
    recent.reverse();
    (recent, older)
}

/// Workspaces of the `missing` lists of folders, out of the heads of older logs, newest first.
fn from_heads<'c>(
    heads: &mut HashMap<OsString, (Stamp, Head)>,
    cached: &HashMap<String, String>,
    older: &[LogFile],
    mut missing: HashSet<&'c str>,
) -> HashMap<&'c str, String> {
    let mut found = HashMap::new();
    if cached.is_empty() || older.is_empty() {
        return found;
    }
    if heads.len() > 2 * LOGS {
        heads.clear();
    }
    for file in older {
        if missing.is_empty() {
            break;
        }
        // A log that is full to its head's length never changes there.
        let mut stamp = file.stamp;
        if stamp.len >= HEAD_BYTES {
            (stamp.len, stamp.mtime_ns) = (HEAD_BYTES, 0);
        }
        if heads.get(&file.name).is_none_or(|(seen, _)| *seen != stamp) {
            let Ok(head) = Head::read(&file.path) else { continue };
            heads.insert(file.name.clone(), (stamp, head));
        }
        let Some((_, head)) = heads.get(&file.name) else { continue };
        let mut here: HashMap<&str, &String> = HashMap::new();
        for event in head.events() {
            if let Some(context) = event.context.and_then(|context| missing.get(context).copied())
                && let Some(workspace) = cached.get(text(event.conversation))
            {
                here.insert(context, workspace);
            }
        }
        for (context, workspace) in here {
            missing.remove(context);
            found.insert(context, workspace.clone());
        }
    }
    found
}

fn text(id: &Id) -> &str {
    // Ids hold hex digits and dashes alone.
    std::str::from_utf8(id).unwrap_or_default()
}

fn failure(path: &Path, error: &dyn fmt::Display) -> (String, String) {
    (path.to_string_lossy().into_owned(), crate::text::safe::diagnostic(&format!("OSError: {error}")))
}

/// The entries of an object whose values are text, in the order they stand; a later one counts more.
struct Pairs(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    if pairs.len() >= crate::config::MAX_CACHE_ENTRIES {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    }
                    let value = map.next_value::<&RawValue>()?;
                    if let Ok(sid) = serde_json::from_str::<String>(value.get()) {
                        pairs.push((key, sid));
                    }
                }
                Ok(Pairs(pairs))
            }
        }

        from.deserialize_map(Entries)
    }
}
