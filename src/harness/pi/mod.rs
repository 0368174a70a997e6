//! Pi: session files that are trees, in a nested store (`--<encoded cwd>--/`) or a flat one.
//!
//! Pi is the one harness whose store tells how a turn stands: the leaf of the active branch says that a tool runs, that
//! the turn is over or that the model holds it, and recency decides only where it says nothing (ROW-055). The store
//! records neither a wait nor a subagent.

mod branch;
mod build;
mod entry;
mod session;
#[cfg(test)]
mod tests;

use super::about::About;
use super::follow::is_jsonl;
use super::head::{self, Heads};
use super::identity::Identities;
use super::late::Late;
use super::tree::{Take, Tree};
use super::{Collected, Collector, Pass, degrades, place, probe};
use crate::config::WORKING_THRESHOLD_SEC;
use crate::model::time::{age, fresh, newest_plausible};
use crate::model::{Key, Observed, Spacedock, State};
use crate::surface::read::{self, Stamp};
use entry::{Class, Header};
use session::Session;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Names of Pi's that are never looked at, should the store be where they are (PI-006).
const NEVER: [&str; 7] = ["settings.json", "auth.json", "models.json", "extensions", "skills", "prompts", "themes"];
/// Ends of such names: the databases of forks.
const NEVER_ENDS: [&str; 3] = [".db", ".sqlite", ".sqlite3"];

/// Store key.
const STORE: &str = "pi.sessions";
/// What the reader says of itself.
pub(super) const ABOUT: About = About::of(STORE);
/// A tool call whose result is not written is believed to run this long, seconds: a store can record that a tool
/// started and never that its process died (PI-027).
const TOOL_IN_FLIGHT_SEC: f64 = 900.0;

/// Flat files and one directory level (PI-004).
fn judge(parents: &[&OsStr], name: &OsStr) -> Take {
    let name = &*name.to_string_lossy();
    if NEVER.contains(&name) || NEVER_ENDS.iter().any(|end| name.ends_with(end)) {
        return Take::Skip;
    }
    match parents {
        [] if is_jsonl(name) => Take::Either,
        [] => Take::Enter,
        [_] if is_jsonl(name) => Take::File,
        _ => Take::Skip,
    }
}

/// The reader of Pi's store.
pub struct Pi {
    tree: Tree,
    sessions: HashMap<PathBuf, Session>,
    heads: Heads<Header>,
    late: Late,
    /// A file known to be a session.
    witness: Option<PathBuf>,
    identify: Identify,
}

/// Gives rows their identity.
struct Identify {
    home: PathBuf,
    ids: Identities,
}

impl Pi {
    /// A reader of the session files below `root`; `home` shortens labels.
    pub fn new(root: PathBuf, home: PathBuf) -> Pi {
        Pi {
            tree: Tree::new(root, judge),
            sessions: HashMap::new(),
            heads: Heads::new(|path| head::read(path, entry::header)),
            late: Late::new(entry::stamp),
            witness: None,
            identify: Identify { home, ids: Identities::default() },
        }
    }

    /// The row of one file, `None` when it is not asked for, gone or no session.
    fn row(&mut self, path: &Path, stamp: Stamp, pass: &Pass<'_>) -> Option<Observed> {
        if self.is_read(path, stamp, pass) {
            if !self.sessions.contains_key(path) {
                self.sessions.insert(path.to_path_buf(), Session::new(path.to_path_buf()));
            }
            let session = self.sessions.get_mut(path)?;
            if !session.advance(stamp, pass.now) {
                return None;
            }
            let header = session.head()?;
            let newest = newest_plausible([session.branch().told().story.newest(pass.now), stamp.mtime()], pass.now);
            if pass.in_window(newest) {
                let mut row = self.identify.row(path, header, pass.now);
                row.last_activity = newest;
                tell(&mut row, session, pass.now);
                return Some(row);
            }
        }
        if !pass.all {
            return None;
        }
        let head = self.heads.of(path, stamp).ok()?;
        let mut row = self.identify.row(path, head.get()?, pass.now);
        row.last_activity = newest_plausible([stamp.mtime()], pass.now);
        Some(row)
    }
}

/// Whether a file's time alone says that its records are read: it was written inside the display window, or its time
/// says nothing.
fn is_read(stamp: Stamp, pass: &Pass<'_>) -> bool {
    pass.in_window(stamp.mtime()) || age(stamp.mtime(), pass.now).is_none()
}

/// Fills in what a session's active branch tells.
fn tell(row: &mut Observed, session: &Session, now: f64) {
    let told = session.branch().told();
    row.title = session.title().map(String::from);
    row.last_prompt = session.prompt().map(String::from).unwrap_or_default();
    if let Some(authority) = &told.authority {
        row.provider.clone_from(&authority.provider);
        row.model.clone_from(&authority.model);
    }
    row.rate_per_min = Some(told.story.rate_per_min(now));
    state(row, session, now);
    if session.boots().next().is_some() {
        row.spacedock = Some(Spacedock { role: "first-officer", workflows: Vec::new() });
    }
    session.tell(row);
}

/// Working or idle, by the leaf first (PI-027 to PI-030).
fn state(row: &mut Observed, session: &Session, now: f64) {
    let leaf = session.branch().leaf();
    let class = leaf.map_or(Class::None, |leaf| leaf.class);
    let within = |window| if fresh(row.last_activity, window, now) { State::Working } else { State::Idle };
    let state = match class {
        Class::ToolInFlight => within(TOOL_IN_FLIGHT_SEC),
        Class::Finished => State::Idle,
        Class::Responding | Class::None => within(WORKING_THRESHOLD_SEC),
    };
    session.branch().told().story.state(row, state, class == Class::Responding, now);
    if class == Class::ToolInFlight {
        let detail = format!("running {}", leaf.and_then(|leaf| leaf.tool.as_deref()).unwrap_or("tool"));
        if state == State::Working {
            row.state_detail = Some(detail.clone());
        }
        row.evidence.working_detail = Some(detail);
    }
}

impl Identify {
    /// A row with its identity and nothing else (PI-010).
    fn row(&mut self, path: &Path, header: &Header, now: f64) -> Observed {
        let mut row = Observed::new(Key::Pi, header.id.as_str());
        row.evidence.transcript = Some(path.to_path_buf());
        place::settle(&mut row, header.cwd.as_deref(), None, &self.home, &mut self.ids, now);
        row
    }
}

impl Collector for Pi {
    fn key(&self) -> Key {
        Key::Pi
    }

    /// A file without a session header does not make Pi known (PI-005).
    fn discovered(&mut self) -> bool {
        let heads = &mut self.heads;
        let mut is_session = |path: &Path| {
            let stamp = read::look(path).ok().map(|entry| entry.stamp);
            stamp.is_some_and(|stamp| heads.of(path, stamp).is_ok_and(|head| head.get().is_some()))
        };
        if self.witness.as_deref().is_some_and(&mut is_session) {
            return true;
        }
        let mut found = None;
        probe::any_file(self.tree.root(), judge, &mut |path| {
            let is_session = is_session(path);
            found = is_session.then(|| path.to_path_buf());
            is_session
        });
        self.witness = found;
        if self.witness.is_none() {
            // What is noticed from now on is noticed by nobody here: the next walk is a whole one.
            self.tree = Tree::new(self.tree.root().to_path_buf(), judge);
            self.sessions.clear();
        }
        self.witness.is_some()
    }

    fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String> {
        let mut out = Collected::default();
        let moved = self.tree.refresh(pass);
        self.late.refresh(self.tree.files(), pass);
        let files: Vec<(PathBuf, Stamp)> = self
            .tree
            .files()
            .filter(|(dir, name, file)| pass.all || is_read(file.stamp, pass) || self.late.counts_in(dir, name, pass))
            .map(|(dir, name, file)| (dir.join(name), file.stamp))
            .collect();
        // One row a session; the file written last wins (PI-009).
        let mut at: HashMap<String, (usize, f64)> = HashMap::new();
        for (path, stamp) in &files {
            let Some(row) = self.row(path, *stamp, pass) else { continue };
            let mtime = newest_plausible([stamp.mtime()], pass.now);
            match at.get_mut(&row.sid) {
                Some((i, newest)) if mtime > *newest => {
                    *newest = mtime;
                    if let Some(known) = out.rows.get_mut(*i) {
                        *known = row;
                    }
                }
                Some(_) => {}
                None => {
                    at.insert(row.sid.clone(), (out.rows.len(), mtime));
                    out.rows.push(row);
                }
            }
        }
        let live = files.iter().filter(|(path, stamp)| self.is_read(path, *stamp, pass));
        let live: HashSet<&Path> = live.map(|(path, _)| path.as_path()).collect();
        self.sessions.retain(|path, _| live.contains(path.as_path()));
        if moved {
            self.heads.keep(|path| self.tree.file(path).is_some());
        }
        self.report(&mut out);
        Ok(out)
    }
}

impl Pi {
    /// Whether a file is read for its records.
    fn is_read(&self, path: &Path, stamp: Stamp, pass: &Pass<'_>) -> bool {
        is_read(stamp, pass) || self.late.counts(path, pass)
    }

    /// Names what could not be read.
    fn report(&self, out: &mut Collected) {
        for (path, session) in &self.sessions {
            if let Some(why) = session.failure() {
                out.store_errors.push((path.to_string_lossy().into_owned(), why.to_owned()));
            }
        }
        degrades::of_trees([&self.tree], STORE, out);
    }
}
