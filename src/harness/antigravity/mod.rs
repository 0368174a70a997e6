//! Antigravity CLI: one SQLite store per conversation, a workspace cache and the CLI's logs.
//!
//! A conversation's activity is told by the stamps of its files, so a store that cannot be opened still has a row. A
//! database is opened when its stamps moved and closed again at once.
//!
//! What was said is never decoded (AGY-004): see [`names`] for what is not opened and [`conversation`] for what is not
//! read.

mod conversation;
mod family;
mod log;
mod names;
mod wire;
mod workspace;

#[cfg(test)]
mod tests;

use super::about::About;
use super::identity::Identities;
use super::pause::Pause;
use super::tree::Tree;
use super::{Collected, Collector, Pass, degrades, probe};
use crate::config::{MAX_CACHE_ENTRIES, RATE_WINDOW_SEC};
use crate::model::time::fresh;
use crate::model::{Code, Degrade, Key};
use crate::surface::read::Stamp;
use crate::surface::sqlite::{Moved, PATIENCE};
use conversation::Reading;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use workspace::Workspaces;

/// Store key of the root, named in degrades.
const SOURCE: &str = "antigravity.root";
/// What the reader says of itself.
pub(super) const ABOUT: About = About::of(SOURCE);
/// Locked databases that are waited for in one pass; the rest of them is not, so that many hold up nobody.
const WAITS: usize = 2;

/// The reader of the Antigravity CLI's store.
pub struct Antigravity {
    tree: Tree,
    /// Generation of the tree that `stores` was made from.
    generation: Option<u64>,
    stores: Vec<Store>,
    index: HashMap<Arc<str>, usize>,
    read: HashMap<Arc<str>, Read>,
    workspaces: Workspaces,
    identities: Identities,
    /// Locked databases that were waited for in this pass.
    waits: usize,
}

/// The files of one conversation.
struct Store {
    sid: Arc<str>,
    path: PathBuf,
    moved: Moved,
}

/// A conversation as last read, and what it was read from.
struct Read {
    moved: Moved,
    reading: Reading,
    pause: Pause,
}

impl Antigravity {
    /// A reader of the store at `root` (`<gemini home>/antigravity-cli`); `home` shortens project labels.
    pub fn new(root: PathBuf, home: PathBuf) -> Antigravity {
        Antigravity {
            tree: Tree::new(root, names::judge),
            generation: None,
            stores: Vec::new(),
            index: HashMap::new(),
            read: HashMap::new(),
            workspaces: Workspaces::new(home),
            identities: Identities::default(),
            waits: 0,
        }
    }

    /// Takes the conversations out of the tree when it changed.
    fn list(&mut self) {
        if self.generation == Some(self.tree.generation()) {
            return;
        }
        self.generation = Some(self.tree.generation());
        let dir = self.tree.root().join(names::CONVERSATIONS);
        let mut logs: HashMap<&str, Stamp> = HashMap::new();
        for (name, file) in self.tree.files_in(&dir) {
            if let Some(stem) = name.to_str().and_then(|name| name.strip_suffix(names::WAL)) {
                logs.insert(stem, file.stamp);
            }
        }
        let stores = self.tree.files_in(&dir).filter_map(|(name, file)| {
            let sid = names::conversation(name)?;
            let moved = Moved { file: Some(file.stamp), wal: logs.get(sid).copied() };
            Some(Store { sid: sid.into(), path: dir.join(name), moved })
        });
        self.stores = stores.collect();
        self.index = self.stores.iter().enumerate().map(|(n, store)| (Arc::clone(&store.sid), n)).collect();
        let index = &self.index;
        self.read.retain(|sid, _| index.contains_key(sid));
    }

    /// Reads what has to be: every conversation in the window and whose subagent it is, transitively; on `all` the rest
    /// too (AGY-024). Returns which were.
    fn inspect(&mut self, activity: &[f64], pass: &Pass<'_>) -> Vec<bool> {
        let mut inspected = vec![false; self.stores.len()];
        let mut ancestors = vec![false; self.stores.len()];
        for (n, at) in activity.iter().enumerate() {
            if !pass.in_window(*at) || *at <= 0.0 {
                continue;
            }
            let mut next = self.look(n, *at, false, pass, &mut inspected);
            while let Some(parent) = next {
                let Some(known) = ancestors.get_mut(parent).filter(|known| !**known) else { break };
                *known = true;
                let at = activity.get(parent).copied().unwrap_or_default();
                next = self.look(parent, at, true, pass, &mut inspected);
            }
        }
        if pass.all {
            for (n, at) in activity.iter().enumerate() {
                if *at > 0.0 && inspected.get(n) == Some(&false) {
                    self.look(n, *at, false, pass, &mut inspected);
                }
            }
        }
        inspected
    }

    /// Brings the reading of one conversation up to date and returns the store of its parent. The steps are wanted of a
    /// root that is active, by its own activity or a subagent's (`ancestor`), and of a subagent with a rate.
    fn look(&mut self, n: usize, at: f64, ancestor: bool, pass: &Pass<'_>, inspected: &mut [bool]) -> Option<usize> {
        let store = self.stores.get(n)?;
        let index = &self.index;
        let wanted = |parent: Option<&str>| match parent.and_then(|parent| index.get(parent)) {
            Some(_) => fresh(at, RATE_WINDOW_SEC, pass.now),
            None => ancestor || pass.in_window(at),
        };
        if let Some(inspected) = inspected.get_mut(n) {
            *inspected = true;
        }
        let known = self.read.get_mut(&store.sid);
        let due = match &known {
            Some(read) => {
                let moved = read.moved != store.moved;
                let unread = wanted(read.reading.parent.as_deref()) && !read.reading.has_tried_steps();
                // Who holds a database writes to it too: only the pause tells when to ask again.
                let again = read.pause.is_failing() && read.pause.is_over(pass.now);
                again || ((moved || unread) && !read.reading.passing)
            }
            None => true,
        };
        if due {
            let patience = if self.waits < WAITS { PATIENCE } else { Duration::ZERO };
            let mut reading = conversation::read(&store.path, &store.sid, pass.now, patience, wanted);
            self.waits += usize::from(reading.codes.contains(&Code::StoreLocked));
            let mut pause = Pause::default();
            if !reading.errors.is_empty() {
                pause = known.as_ref().map(|read| read.pause).unwrap_or_default();
                pause.failed(pass.now);
            }
            if let Some(read) = known
                && reading.passing
            {
                reading.keep(&read.reading);
            }
            let read = Read { moved: store.moved, reading, pause };
            self.read.insert(Arc::clone(&store.sid), read);
        } else if let Some(read) = known
            && !wanted(read.reading.parent.as_deref())
        {
            read.reading.steps = None;
        }
        let parent = self.read.get(&store.sid)?.reading.parent.as_deref()?;
        self.index.get(parent).copied()
    }

    /// Forgets readings when they would be too many, those of old conversations first.
    fn bound(&mut self, inspected: &[bool]) {
        if self.read.len() > MAX_CACHE_ENTRIES {
            let (index, stores) = (&self.index, inspected);
            self.read.retain(|sid, _| index.get(sid).and_then(|n| stores.get(*n)) == Some(&true));
        }
    }

    fn faults(&self, inspected: &[bool], out: &mut Collected) {
        degrades::of_trees([&self.tree], SOURCE, out);
        for (store, _) in self.stores.iter().zip(inspected).filter(|(_, inspected)| **inspected) {
            for error in self.read.get(&store.sid).iter().flat_map(|read| &read.reading.errors) {
                out.store_errors.push((store.path.to_string_lossy().into_owned(), error.clone()));
            }
        }
    }
}

impl Collector for Antigravity {
    fn key(&self) -> Key {
        Key::Antigravity
    }

    /// Whether there is a conversation, even an unreadable one (AGY-003).
    fn discovered(&mut self) -> bool {
        let mut is_store = |path: &Path| path.file_name().is_some_and(|name| names::conversation(name).is_some());
        let found = !self.stores.is_empty() || probe::any_file(self.tree.root(), names::judge, &mut is_store);
        if !found {
            // What changes from now on is noticed by nobody here: the next walk is a whole one.
            self.tree = Tree::new(self.tree.root().to_path_buf(), names::judge);
            self.generation = None;
        }
        found
    }

    fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String> {
        let mut out = Collected::default();
        self.waits = 0;
        self.tree.refresh(pass);
        self.list();
        self.workspaces.refresh(&self.tree, pass, &mut out.store_errors);
        if !out.store_errors.is_empty() {
            out.degrades.push(Degrade { code: Code::StoreUnreadable, source: SOURCE.into(), count: None });
        }
        let activity: Vec<f64> = self.stores.iter().map(|store| store.moved.newest(pass.now)).collect();
        let inspected = self.inspect(&activity, pass);
        self.bound(&inspected);
        let members: Vec<Option<family::Member<'_>>> = self
            .stores
            .iter()
            .zip(activity.iter().zip(&inspected))
            .map(|(store, (at, inspected))| {
                let read = self.read.get(&store.sid).filter(|_| *inspected)?;
                Some(family::Member { sid: &store.sid, activity: *at, reading: &read.reading })
            })
            .collect();
        family::Family::new(&members, &self.index).rows(pass, &self.workspaces, &mut self.identities, &mut out);
        self.faults(&inspected, &mut out);
        Ok(out)
    }
}
