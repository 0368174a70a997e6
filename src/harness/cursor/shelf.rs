//! Which chat stores there are: `<workspace hash>/<agent id>/store.db` below the chats folder (CUR-001).
//!
//! Most chats are long over, and there may be thousands of them. So their folders are not listed; a store is judged by
//! one look at first; those that may count are watched and looked at with their log, and the rest takes turns, a few in
//! each pass, until the kernel reports on every one. Nothing in a chat's folder is looked at but the store and its log,
//! and links are passed over (CUR-004).

use super::STORE_DB;
use crate::harness::Pass;
use crate::surface::read::{self, Kind, Stamp};
use crate::surface::sqlite::{self, Moved};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Most names read from one folder.
const NAMES_CAP: usize = 50_000;
/// Stores that take their turn in one pass.
const TURNS: usize = 128;

/// A folder of folders as it was listed.
#[derive(Default)]
struct Listed {
    stamp: Option<Stamp>,
    watched: bool,
}

/// A chat's store as last looked at.
#[derive(Default)]
struct Store {
    moved: Moved,
    /// Its log was looked at, too.
    whole: bool,
    watched: bool,
    /// Something stands there that is no file.
    odd: bool,
    /// The pass that looked last; 0 = none.
    turn: u64,
}

impl Store {
    /// Looks at the store and its log; tells whether they moved.
    fn look(&mut self, dir: &Path, turn: u64) -> bool {
        let path = dir.join(STORE_DB);
        let now = sqlite::stamps(&path);
        self.odd = now.file.is_none() && read::look(&path).is_ok();
        (self.whole, self.turn) = (true, turn);
        std::mem::replace(&mut self.moved, now) != now
    }

    /// Whether it may count in a pass by what is known of it; one that is not there yet may be made any moment.
    fn may_count(&self, pass: &Pass<'_>) -> bool {
        self.moved.file.is_none() || pass.in_window(self.moved.newest(pass.now))
    }
}

/// The chats folder.
pub struct Shelf {
    root: PathBuf,
    listed: Listed,
    workspaces: BTreeMap<PathBuf, Listed>,
    /// By the chat's folder, also those without a store.
    stores: BTreeMap<PathBuf, Store>,
    /// Stores that may be in the window, as of `generation`.
    recent: Vec<PathBuf>,
    unreadable: BTreeMap<PathBuf, String>,
    /// Chats listed in this pass for the first time.
    new: Vec<PathBuf>,
    turn: u64,
    changed: bool,
}

impl Shelf {
    /// A folder of which nothing is known yet.
    pub fn new(root: PathBuf) -> Shelf {
        Shelf {
            root,
            listed: Listed::default(),
            workspaces: BTreeMap::new(),
            stores: BTreeMap::new(),
            recent: Vec::new(),
            unreadable: BTreeMap::new(),
            new: Vec::new(),
            turn: 0,
            changed: false,
        }
    }

    /// Whether some chat holds a store (CUR-002); looked for without keeping anything while none is known.
    pub fn has_store(&self) -> bool {
        let known = self.stores.values().any(|s| s.moved.file.is_some());
        known
            || folders(&self.root).is_ok_and(|w| {
                w.iter().any(|ws| {
                    folders(ws).is_ok_and(|chats| chats.iter().any(|chat| read::is_file(&chat.join(STORE_DB))))
                })
            })
    }

    /// The stores that count in a pass, ordered by path.
    pub fn stores<'a>(&'a self, pass: &'a Pass<'_>) -> impl Iterator<Item = (&'a Path, Moved)> {
        let all = pass.all.then(|| self.stores.iter().map(|(dir, store)| (dir.as_path(), store.moved)));
        let recent =
            (!pass.all).then(|| self.recent.iter().filter_map(|dir| Some((&**dir, self.stores.get(dir)?.moved))));
        let counts = move |m: &Moved| m.file.is_some() && (pass.all || pass.in_window(m.newest(pass.now)));
        all.into_iter().flatten().chain(recent.into_iter().flatten()).filter(move |(_, moved)| counts(moved))
    }

    /// Whether a chat's folder is there.
    pub fn holds(&self, dir: &Path) -> bool {
        self.stores.contains_key(dir)
    }

    /// Folders that could not be listed, and stores that are no files, with the reason.
    pub fn unreadable(&self) -> impl Iterator<Item = (&Path, &str)> {
        let folders = self.unreadable.iter().map(|(p, why)| (p.as_path(), why.as_str()));
        let recent = self.recent.iter().filter(|dir| self.stores.get(*dir).is_some_and(|s| s.odd));
        folders.chain(recent.map(|dir| (dir.as_path(), "not a regular file")))
    }

    /// Brings the shelf up to date.
    pub fn refresh(&mut self, pass: &Pass<'_>) {
        self.turn += 1;
        self.workspaces_of(pass);
        let workspaces: Vec<PathBuf> = self.workspaces.keys().cloned().collect();
        for workspace in workspaces {
            self.chats_of(&workspace, pass);
        }
        self.look_at_told(pass);
        self.look_at_new();
        self.look_at_recent(pass);
        self.take_turns(pass);
        if pass.all {
            let turn = self.turn;
            for (dir, store) in self.stores.iter_mut().filter(|(_, s)| !s.whole) {
                self.changed |= store.look(dir, turn);
            }
        }
        // A store whose stamp lay ahead may have come into the window by itself.
        if std::mem::take(&mut self.changed) || pass.sweep {
            self.recent = self.stores.iter().filter(|(_, s)| s.may_count(pass)).map(|(dir, _)| dir.clone()).collect();
        }
    }

    /// Looks at what the kernel named.
    fn look_at_told(&mut self, pass: &Pass<'_>) {
        if pass.dirty.everything {
            for (dir, store) in &mut self.stores {
                self.changed |= store.look(dir, self.turn);
            }
            return;
        }
        for dir in pass.dirty.dirs.keys() {
            if let Some(store) = self.stores.get_mut(dir) {
                self.changed |= store.look(dir, self.turn);
            }
        }
    }

    /// Gives every new chat one look.
    fn look_at_new(&mut self) {
        for dir in std::mem::take(&mut self.new) {
            let Some(store) = self.stores.get_mut(&dir) else { continue };
            let file = read::look(&dir.join(STORE_DB)).ok().filter(|e| e.kind == Kind::File);
            store.moved.file = file.map(|e| e.stamp);
            self.recent.push(dir);
            self.changed = true;
        }
    }

    /// Watches and looks at what may count, as often as the kernel does not report on it.
    fn look_at_recent(&mut self, pass: &Pass<'_>) {
        for dir in &self.recent {
            let Some(store) = self.stores.get_mut(dir).filter(|s| s.may_count(pass)) else { continue };
            if store.watched && store.whole && !pass.sweep {
                continue;
            }
            // Watched before it is looked at, so that nothing written between the two is missed.
            store.watched = pass.watch.add(dir);
            self.changed |= store.look(dir, self.turn);
        }
    }

    /// Watches and looks at some of the rest: those the kernel does not report on, and on a sweep any, longest unseen
    /// and newest first.
    fn take_turns(&mut self, pass: &Pass<'_>) {
        let turn = self.turn;
        let due = self.stores.iter().filter(|(_, s)| s.turn < turn && (!s.watched || pass.sweep));
        let mut due: Vec<(u64, i64, PathBuf)> =
            due.map(|(dir, s)| (s.turn, s.moved.file.map_or(i64::MIN, |f| -f.mtime_ns), dir.clone())).collect();
        if due.len() > TURNS {
            due.select_nth_unstable(TURNS);
            due.truncate(TURNS);
        }
        for (_, _, dir) in due {
            if let Some(store) = self.stores.get_mut(&dir) {
                store.watched = pass.watch.add(&dir);
                self.changed |= store.look(&dir, turn);
            }
        }
    }

    /// Lists the workspaces anew when the chats folder changed.
    fn workspaces_of(&mut self, pass: &Pass<'_>) {
        let Some(found) = due(&self.root, &mut self.listed, pass).then(|| folders(&self.root)) else { return };
        let found = self.note(&self.root.clone(), found);
        let gone: Vec<PathBuf> = self.workspaces.keys().filter(|w| found.binary_search(w).is_err()).cloned().collect();
        for workspace in gone {
            self.workspaces.remove(&workspace);
            self.unreadable.remove(&workspace);
            pass.watch.remove(&workspace);
            self.keep_only(&workspace, &[], pass);
        }
        for workspace in found {
            self.workspaces.entry(workspace).or_default();
        }
    }

    /// Lists a workspace's chats anew when its folder changed.
    fn chats_of(&mut self, workspace: &Path, pass: &Pass<'_>) {
        let Some(listed) = self.workspaces.get_mut(workspace) else { return };
        if !due(workspace, listed, pass) {
            return;
        }
        let found = self.note(workspace, folders(workspace));
        self.keep_only(workspace, &found, pass);
        for chat in found {
            if !self.stores.contains_key(&chat) {
                self.new.push(chat.clone());
                self.stores.insert(chat, Store::default());
            }
        }
    }

    /// Drops the chats of a workspace that are not among `found`, which is in order.
    fn keep_only(&mut self, workspace: &Path, found: &[PathBuf], pass: &Pass<'_>) {
        let below = self.stores.range(workspace.to_path_buf()..).map(|(dir, _)| dir);
        let below = below.take_while(|dir| dir.starts_with(workspace));
        let gone: Vec<PathBuf> = below.filter(|dir| found.binary_search(dir).is_err()).cloned().collect();
        for chat in gone {
            self.stores.remove(&chat);
            pass.watch.remove(&chat);
            self.changed = true;
        }
    }

    /// Notes whether a folder could be listed; what is not there is no failure.
    fn note(&mut self, dir: &Path, found: std::io::Result<Vec<PathBuf>>) -> Vec<PathBuf> {
        match found {
            Ok(found) => {
                self.unreadable.remove(dir);
                found
            }
            Err(e) => {
                if e.kind() == std::io::ErrorKind::NotFound {
                    self.unreadable.remove(dir);
                } else {
                    self.unreadable.insert(dir.to_path_buf(), e.to_string());
                }
                Vec::new()
            }
        }
    }
}

/// Whether a folder has to be listed anew; it is watched from then on, where that is possible.
fn due(dir: &Path, listed: &mut Listed, pass: &Pass<'_>) -> bool {
    let told = pass.dirty.everything || pass.dirty.dirs.contains_key(dir);
    if listed.watched && listed.stamp.is_some() && !told && !pass.sweep {
        return false;
    }
    // Watched before it is looked at, so that nothing made between the two is missed.
    listed.watched = pass.watch.add(dir);
    let now = read::look_through(dir).ok().filter(|e| e.kind == Kind::Dir).map(|e| e.stamp);
    let same = now.is_some() && now == listed.stamp && !told;
    listed.stamp = now;
    !same
}

/// The folders in a folder, in order.
fn folders(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let (names, _) = read::names(dir, NAMES_CAP)?;
    let is_folder = |name: &OsString, kind: Option<Kind>| match kind {
        Some(kind) => kind == Kind::Dir,
        None => read::look(&dir.join(name)).is_ok_and(|e| e.kind == Kind::Dir),
    };
    let mut found: Vec<PathBuf> =
        names.into_iter().filter(|n| is_folder(&n.name, n.kind)).map(|n| dir.join(n.name)).collect();
    found.sort_unstable();
    Ok(found)
}
