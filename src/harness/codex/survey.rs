//! Which sessions there are: rollouts by their first lines, resumes made one, children hung below their root
//! (CODEX-012..017).

use super::header::Meta;
use super::headers::{Headers, Whose};
use super::never::{Form, form};
use crate::config::CODEX_PARENT_HEADERS;
use crate::harness::Pass;
use crate::harness::tree::Tree;
use crate::model::time::{age, newest_plausible};
use crate::surface::read::Stamp;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

/// Most steps from a child up to its root.
const DEEPEST: u32 = 64;

/// A rollout of a session or of a child.
#[derive(Clone, Debug)]
pub struct Listed {
    pub path: PathBuf,
    pub stamp: Stamp,
    pub meta: Arc<Meta>,
    pub form: Form,
}

impl Listed {
    /// Last write, seconds since the epoch.
    pub fn mtime(&self) -> f64 {
        self.stamp.mtime()
    }
}

/// A child that was written to inside the display window.
#[derive(Clone, Debug)]
pub struct Kid {
    pub rollout: Listed,
    /// Steps up to the session.
    pub depth: u32,
    /// The thread that started it.
    pub parent: Option<Listed>,
}

/// A session with its children, newest written first.
#[derive(Debug)]
pub struct Session {
    pub root: Listed,
    pub kids: Vec<Kid>,
    /// Newest believed write of the session and its children, 0 when there is none (CODEX-041).
    pub last_activity: f64,
}

/// What a survey found.
#[derive(Default)]
pub struct Survey {
    /// By session id.
    pub sessions: BTreeMap<String, Session>,
    /// Files whose first line could not be read, with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Compressed rollouts without a plain one beside them.
    pub packed: u64,
    /// Every plain rollout written inside the display window, children of nobody included.
    pub recent: Vec<(PathBuf, Stamp)>,
}

/// Looks through the store.
pub fn survey(tree: &Tree, headers: &mut Headers, pass: &Pass<'_>) -> Survey {
    let mut found = Survey::default();
    let mut kids = Vec::new();
    let mut files = 0;
    let mut plain = None;
    for (dir, name, file) in tree.files() {
        files += 1;
        let Some(form) = form(name) else { continue };
        if form == Form::Plain {
            plain = Some((dir, name));
        } else if plain.is_some_and(|(beside, twin)| beside == dir && is_packed_from(name, twin)) {
            // Both stand there for a moment while Codex swaps one for the other: the plain one is the session.
            continue;
        } else {
            found.packed += 1;
        }
        let recent = pass.in_window(file.stamp.mtime());
        if !pass.all && !recent {
            continue;
        }
        let path = dir.join(name);
        let meta = match headers.of(&path, file.stamp, pass.now) {
            Whose::Of(meta) => meta,
            Whose::Nobody => continue,
            Whose::Unreadable(why) => {
                found.unreadable.push((path, why));
                continue;
            }
        };
        if recent && form == Form::Plain {
            found.recent.push((path.clone(), file.stamp));
        }
        let listed = Listed { path, stamp: file.stamp, meta, form };
        if listed.meta.is_child {
            if recent {
                kids.push(listed);
            }
        } else {
            found.root(listed, pass.now);
        }
    }
    headers.prune(files, |path| tree.file(path).is_some());
    let mut kin = Kin { tree, headers, pass, files, searched: false };
    for kid in kids {
        found.kid(kid, &mut kin);
    }
    for session in found.sessions.values_mut() {
        session.kids.sort_by_key(|kid| std::cmp::Reverse(kid.rollout.stamp.mtime_ns));
        let kids = session.kids.iter().map(|kid| kid.rollout.mtime());
        session.last_activity = newest_plausible(kids.chain([session.root.mtime()]), pass.now);
    }
    found
}

impl Survey {
    /// A root's rollout: of several with one session id the one written last is read (CODEX-014).
    fn root(&mut self, rollout: Listed, now: f64) {
        match self.sessions.get_mut(&rollout.meta.session) {
            Some(known) => {
                if rank(&rollout, now) > rank(&known.root, now) {
                    known.root = rollout;
                }
            }
            None => {
                let id = rollout.meta.session.clone();
                self.sessions.insert(id, Session { root: rollout, kids: Vec::new(), last_activity: 0.0 });
            }
        }
    }

    fn kid(&mut self, rollout: Listed, kin: &mut Kin<'_, '_>) {
        let Some((roots, depth, parent)) = kin.root_of(&rollout.meta) else { return };
        let Some(id) = roots.first().map(|root| root.meta.session.clone()) else { return };
        if !self.sessions.contains_key(&id) {
            for root in roots {
                self.root(root, kin.pass.now);
            }
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            session.kids.push(Kid { rollout, depth, parent });
        }
    }
}

/// Whether a compressed rollout is one of the plain rollout `plain`, which stands right before it in the tree's order.
fn is_packed_from(packed: &OsStr, plain: &OsStr) -> bool {
    packed.as_encoded_bytes().strip_suffix(b".zst") == Some(plain.as_encoded_bytes())
}

/// A stamp too far ahead never hides a believable one; a plain file goes before a compressed one.
fn rank(rollout: &Listed, now: f64) -> (bool, bool, i64) {
    (rollout.form == Form::Plain, age(rollout.mtime(), now).is_some(), rollout.stamp.mtime_ns)
}

/// Follows the links from child to parent.
struct Kin<'a, 'p> {
    tree: &'a Tree,
    headers: &'a mut Headers,
    pass: &'a Pass<'p>,
    /// How many files the store holds.
    files: usize,
    /// The whole store was searched for a parent in this pass.
    searched: bool,
}

impl Kin<'_, '_> {
    /// The rollouts of the root above a child, the steps to it, and the immediate parent (CODEX-017).
    fn root_of(&mut self, child: &Meta) -> Option<(Vec<Listed>, u32, Option<Listed>)> {
        let mut seen = HashSet::from([child.thread.clone()]);
        let mut id = child.parent.clone()?;
        let mut parent = None;
        for depth in 1..=DEEPEST {
            if !seen.insert(id.clone()) {
                return None;
            }
            let mut files = self.files_of(&id);
            if files.is_empty() {
                self.search(&id);
                files = self.files_of(&id);
            }
            let newest = files.iter().max_by_key(|file| file.stamp.mtime_ns).cloned()?;
            let roots: Vec<Listed> = files.into_iter().filter(|file| !file.meta.is_child).collect();
            if depth == 1 {
                parent = Some(newest.clone());
            }
            if !roots.is_empty() {
                return Some((roots, depth, parent));
            }
            id = newest.meta.parent.clone()?;
        }
        None
    }

    fn files_of(&self, id: &str) -> Vec<Listed> {
        let files = self.headers.files_of(id).filter_map(|(path, meta)| {
            let stamp = self.tree.file(path)?.stamp;
            let form = form(path.file_name()?)?;
            Some(Listed { path: path.clone(), stamp, meta: Arc::clone(meta), form })
        });
        files.collect()
    }

    /// Looks for a thread among the rollouts that were not written to lately: by name first, then by what their first
    /// lines say, a bounded number of them in one pass. One that is nowhere is not looked for again and again.
    fn search(&mut self, id: &str) {
        let Some(more) = self.headers.seek(id, self.files) else { return };
        let tree = self.tree;
        let named = |name: &OsStr| name.to_string_lossy().contains(id);
        let by_name: Vec<(PathBuf, Stamp)> = tree
            .files()
            .filter(|(_, name, _)| named(name))
            .map(|(dir, name, file)| (dir.join(name), file.stamp))
            .collect();
        for (path, stamp) in by_name {
            self.headers.of(&path, stamp, self.pass.now);
        }
        let met = self.headers.files_of(id).next().is_some();
        if met || !more || std::mem::replace(&mut self.searched, true) {
            return;
        }
        let unknown: Vec<(PathBuf, Stamp)> = tree
            .files()
            .map(|(dir, name, file)| (dir.join(name), file.stamp))
            .filter(|(path, _)| !self.headers.has(path))
            .collect();
        self.headers.sought(id);
        // The newest days come last in the tree.
        for (path, stamp) in unknown.into_iter().rev().take(CODEX_PARENT_HEADERS) {
            self.headers.of(&path, stamp, self.pass.now);
        }
    }
}
