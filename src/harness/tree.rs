//! Which files a store holds, kept from pass to pass: one walk at first, then only what changed.
//!
//! Names are judged before any path is joined, looked at or entered (TRUST-026). Links and special files inside a
//! store are passed over and counted; the root itself may be a link.

use super::Pass;
use crate::surface::read::{self, Entry, Kind, Stamp};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What to do with a name, judged by depth (0 = directly below the root), name and the path of names above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// Not ours: never looked at.
    Skip,
    /// Keep it if it is a regular file.
    File,
    /// Enter it if it is a directory.
    Enter,
    /// If it is a directory, look for these files in it, without listing it: for stores that keep a directory of their own
    /// for every session.
    Only(&'static [&'static str]),
    /// Keep it as a file or enter it as a directory, whatever it is.
    Either,
}

/// Judges a name. `parents` are the names from the root to the directory that holds it.
pub type Judge = fn(parents: &[&OsStr], name: &OsStr) -> Take;

/// Most names read from one directory.
const DIR_CAP: usize = 200_000;

struct Dir {
    /// Modification time and identity when it was listed; `None` when it could not be.
    stamp: Option<Stamp>,
    watched: bool,
    /// Not listed: these files alone are looked for.
    only: Option<&'static [&'static str]>,
    dirs: BTreeSet<OsString>,
    files: BTreeMap<OsString, File>,
}

/// A file of the store as last looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct File {
    pub stamp: Stamp,
    /// Birth time where the platform keeps it, seconds since the epoch.
    pub birth: Option<f64>,
}

/// The files below one root.
pub struct Tree {
    root: PathBuf,
    judge: Judge,
    dirs: BTreeMap<PathBuf, Dir>,
    /// Links, FIFOs, sockets and devices where a store file belongs, by path.
    skipped: BTreeSet<PathBuf>,
    /// Directories that could not be listed, with the reason.
    unreadable: BTreeMap<PathBuf, String>,
    generation: u64,
}

impl Tree {
    /// An empty tree; nothing is read before [`Tree::refresh`].
    pub fn new(root: PathBuf, judge: Judge) -> Tree {
        Tree {
            root,
            judge,
            dirs: BTreeMap::new(),
            skipped: BTreeSet::new(),
            unreadable: BTreeMap::new(),
            generation: 0,
        }
    }

    /// The root the tree was made for.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Grows whenever a refresh found any difference.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Every file, ordered by directory path and name.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &OsStr, &File)> {
        self.dirs
            .iter()
            .flat_map(|(path, dir)| dir.files.iter().map(move |(name, file)| (path.as_path(), name.as_os_str(), file)))
    }

    /// The files of one directory, ordered by name.
    pub fn files_in(&self, dir: &Path) -> impl Iterator<Item = (&OsStr, &File)> {
        self.dirs.get(dir).into_iter().flat_map(|d| d.files.iter().map(|(name, file)| (name.as_os_str(), file)))
    }

    /// The file at a path, if the tree holds it.
    pub fn file(&self, path: &Path) -> Option<&File> {
        self.dirs.get(path.parent()?)?.files.get(path.file_name()?)
    }

    /// The directories entered, ordered by path.
    pub fn dirs(&self) -> impl Iterator<Item = &Path> {
        self.dirs.keys().map(PathBuf::as_path)
    }

    /// Links and special files that were passed over.
    pub fn skipped(&self) -> impl Iterator<Item = &Path> {
        self.skipped.iter().map(PathBuf::as_path)
    }

    /// Directories that could not be listed, with the reason.
    pub fn unreadable(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.unreadable.iter().map(|(p, why)| (p.as_path(), why.as_str()))
    }

    /// Brings the tree up to date: a walk at first, on a sweep and after lost notices; else only the directories the
    /// kernel named and those it does not watch. Returns whether anything differs.
    pub fn refresh(&mut self, pass: &Pass<'_>) -> bool {
        let before = self.generation;
        let root = self.root.clone();
        if self.dirs.is_empty() {
            self.enter(&root, pass);
        } else if pass.sweep || pass.dirty.everything {
            for dir in self.dirs.keys().cloned().collect::<Vec<_>>() {
                self.recheck(&dir, pass);
            }
        } else {
            let due: Vec<PathBuf> = if pass.dirty.dirs.len() < self.dirs.len() {
                let named = pass.dirty.dirs.keys().filter(|d| self.dirs.contains_key(*d)).cloned();
                named.chain(self.dirs.iter().filter(|(_, d)| !d.watched).map(|(p, _)| p.clone())).collect()
            } else {
                let due = |(path, dir): &(&PathBuf, &Dir)| !dir.watched || pass.dirty.dirs.contains_key(*path);
                self.dirs.iter().filter(due).map(|(p, _)| p.clone()).collect()
            };
            for dir in due {
                match pass.dirty.dirs.get(&dir).filter(|names| !names.is_empty()) {
                    Some(names) if self.dirs.get(&dir).is_some_and(|d| d.watched) => {
                        for name in names {
                            self.place(&dir, name, None, pass);
                        }
                    }
                    _ => self.recheck(&dir, pass),
                }
            }
        }
        self.generation != before
    }

    /// The names from the root to `dir`.
    fn parents<'p>(&self, dir: &'p Path) -> Vec<&'p OsStr> {
        dir.strip_prefix(&self.root).map(|rest| rest.iter().collect()).unwrap_or_default()
    }

    /// Lists a directory anew and everything below it that is not known yet.
    fn enter(&mut self, dir: &Path, pass: &Pass<'_>) {
        // Watched before it is listed, so that nothing written between the two is missed.
        let watched = pass.watch.add(dir);
        let stamp = read::look_through(dir).ok().map(|e| e.stamp);
        let listing = read::names(dir, DIR_CAP);
        let mut names: Vec<(OsString, Option<Kind>)> = Vec::new();
        match listing {
            Ok((found, _)) => {
                if self.unreadable.remove(dir).is_some() {
                    self.generation += 1;
                }
                names.extend(found.into_iter().map(|n| (n.name, n.kind)));
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                self.forget(dir, pass);
                return;
            }
            Err(e) => {
                // Not being able to look says nothing about what is there: what was known stands (TRUST-052).
                self.unreadable.insert(dir.to_path_buf(), e.to_string());
                self.generation += 1;
                if self.dirs.contains_key(dir) {
                    return;
                }
            }
        }
        let gone: Vec<PathBuf> = match self.dirs.get(dir) {
            Some(known) => {
                let there: BTreeSet<&OsStr> = names.iter().map(|(n, _)| n.as_os_str()).collect();
                let missing = known.files.keys().chain(&known.dirs).filter(|n| !there.contains(n.as_os_str()));
                let passed = self.skipped.range(dir.to_path_buf()..).take_while(|p| p.starts_with(dir));
                let passed =
                    passed.filter(|p| p.parent() == Some(dir) && p.file_name().is_some_and(|n| !there.contains(n)));
                missing.map(|n| dir.join(n)).chain(passed.cloned()).collect()
            }
            None => {
                self.generation += 1;
                Vec::new()
            }
        };
        for path in gone {
            self.forget(&path, pass);
        }
        let known = self.dirs.entry(dir.to_path_buf()).or_insert_with(|| Dir {
            stamp,
            watched,
            only: None,
            dirs: BTreeSet::new(),
            files: BTreeMap::new(),
        });
        known.stamp = stamp;
        known.watched = watched;
        for (name, kind) in names {
            // A name that the directory itself calls special is never looked at further.
            if kind != Some(Kind::Special) {
                self.place(dir, &name, kind, pass);
            } else if self.judged(dir, &name) != Take::Skip && self.skipped.insert(dir.join(&name)) {
                self.generation += 1;
            }
        }
    }

    /// Looks for the files of a directory that is not listed.
    fn hold(&mut self, dir: &Path, only: &'static [&'static str], pass: &Pass<'_>) {
        // Again each time: one that was removed and made anew is another one to the kernel.
        let watched = pass.watch.add(dir);
        let (dirs, files) = (BTreeSet::new(), BTreeMap::new());
        match self.dirs.get_mut(dir) {
            Some(known) => known.watched = watched,
            None => {
                self.dirs.insert(dir.to_path_buf(), Dir { stamp: None, watched, only: Some(only), dirs, files });
                self.generation += 1;
            }
        }
        if self.unreadable.remove(dir).is_some() {
            self.generation += 1;
        }
        for name in only {
            self.place(dir, OsStr::new(name), None, pass);
        }
    }

    /// Looks again at a directory the kernel does not report on: listed anew when its stamp moved, its files always.
    fn recheck(&mut self, dir: &Path, pass: &Pass<'_>) {
        if let Some(only) = self.dirs.get(dir).and_then(|known| known.only) {
            self.hold(dir, only, pass);
            return;
        }
        let now = read::look_through(dir).ok().map(|e| e.stamp);
        let Some(known) = self.dirs.get(dir) else { return };
        let same = now.is_some() && known.stamp == now && !self.unreadable.contains_key(dir);
        let id = |stamp: Option<Stamp>| stamp.map(|s| (s.dev, s.ino));
        if now.is_some() && known.stamp.is_some() && id(known.stamp) != id(now) {
            // Another directory stands here: nothing that was known of the one before it holds, its watches least.
            self.forget_dir(dir, pass);
            self.enter(dir, pass);
            return;
        }
        if !same {
            self.enter(dir, pass);
            return;
        }
        for name in known.files.keys().cloned().collect::<Vec<_>>() {
            self.place(dir, &name, None, pass);
        }
    }

    fn judged(&self, dir: &Path, name: &OsStr) -> Take {
        (self.judge)(&self.parents(dir), name)
    }

    /// Looks at one name of a directory and notes what stands there now. What the directory itself says is a directory
    /// needs no look.
    fn place(&mut self, dir: &Path, name: &OsStr, told: Option<Kind>, pass: &Pass<'_>) {
        let take = self.judged(dir, name);
        if take == Take::Skip {
            return;
        }
        let path = dir.join(name);
        let entry = match told {
            Some(kind @ Kind::Dir) => Ok(Entry { kind, stamp: Stamp::default(), birth: None }),
            _ => read::look(&path),
        };
        match entry {
            Ok(Entry { kind: Kind::File, stamp, birth }) if matches!(take, Take::File | Take::Either) => {
                let file = File { stamp, birth };
                self.skipped.remove(&path);
                let Some(known) = self.dirs.get_mut(dir) else { return };
                let entered = known.dirs.contains(name);
                if known.files.get(name) != Some(&file) {
                    known.files.insert(name.to_os_string(), file);
                    self.generation += 1;
                }
                if entered {
                    self.forget_dir(&path, pass);
                }
            }
            Ok(Entry { kind: Kind::Dir, .. }) if matches!(take, Take::Enter | Take::Only(_) | Take::Either) => {
                let Some(known) = self.dirs.get_mut(dir) else { return };
                let fresh = known.dirs.insert(name.to_os_string());
                if known.files.remove(name).is_some() {
                    self.generation += 1;
                }
                self.skipped.remove(&path);
                if fresh || !self.dirs.contains_key(&path) {
                    match take {
                        Take::Only(only) => self.hold(&path, only, pass),
                        _ => self.enter(&path, pass),
                    }
                }
            }
            Ok(Entry { kind: Kind::Link | Kind::Special, .. }) => {
                self.forget(&path, pass);
                if self.skipped.insert(path) {
                    self.generation += 1;
                }
            }
            // Not being able to look says nothing about what is there.
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
                if self.unreadable.insert(dir.to_path_buf(), e.to_string()).is_none() {
                    self.generation += 1;
                }
            }
            _ => self.forget(&path, pass),
        }
    }

    /// Drops a name that is not there any more, with everything below it.
    fn forget(&mut self, path: &Path, pass: &Pass<'_>) {
        let mut found = self.skipped.remove(path);
        if let (Some(dir), Some(name)) = (path.parent(), path.file_name())
            && let Some(known) = self.dirs.get_mut(dir)
        {
            found |= known.files.remove(name).is_some();
            found |= known.dirs.remove(name);
        }
        if found {
            self.generation += 1;
        }
        self.forget_dir(path, pass);
    }

    fn forget_dir(&mut self, path: &Path, pass: &Pass<'_>) {
        let below: Vec<PathBuf> = self
            .dirs
            .range(path.to_path_buf()..)
            .map(|(p, _)| p)
            .take_while(|p| p.starts_with(path))
            .cloned()
            .collect();
        for dir in below {
            self.dirs.remove(&dir);
            self.unreadable.remove(&dir);
            pass.watch.remove(&dir);
            self.generation += 1;
        }
        let passed: Vec<PathBuf> =
            self.skipped.range(path.to_path_buf()..).take_while(|p| p.starts_with(path)).cloned().collect();
        for path in passed {
            self.skipped.remove(&path);
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
