//! Which databases lie in a data folder. Names are judged before a path is joined: beside the databases lie tokens,
//! accounts, logs and snapshots, and nothing of them is looked at (OC-003).

use crate::harness::Pass;
use crate::surface::read::{self, Kind, Stamp};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Most names read from the folder.
const NAMES_CAP: usize = 20_000;
/// Most databases taken from it.
const STORES_CAP: usize = 64;

/// What a look at a folder found.
pub enum Found {
    /// The folder is there.
    Names,
    /// There is no such folder.
    Nothing,
    Unreadable(String),
}

/// A data folder and the names of its databases.
pub struct Folder {
    root: PathBuf,
    /// The folder when it was listed.
    listed: Option<Stamp>,
    names: BTreeSet<OsString>,
}

impl Folder {
    /// A folder of which nothing is known yet.
    pub fn new(root: PathBuf) -> Folder {
        Folder { root, listed: None, names: BTreeSet::new() }
    }

    /// The folder's path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The databases' names, whatever stands under them.
    pub fn names(&self) -> impl Iterator<Item = &OsString> {
        self.names.iter()
    }

    /// Whether a path is one of its databases.
    pub fn holds(&self, path: &Path) -> bool {
        path.parent() == Some(&*self.root) && path.file_name().is_some_and(|n| self.names.contains(n))
    }

    /// Lists the folder anew when it changed.
    pub fn refresh(&mut self, pass: &Pass<'_>) -> Found {
        // Watched before it is looked at, so that nothing written between the two is missed.
        let watched = pass.watch.add(&self.root);
        let changed = pass.sweep || !watched || pass.dirty.everything || pass.dirty.dirs.contains_key(&self.root);
        self.list(changed)
    }

    /// Whether a database stands there as a file (OC-002).
    pub fn has_store(&mut self) -> bool {
        matches!(self.list(false), Found::Names) && self.names.iter().any(|name| read::is_file(&self.root.join(name)))
    }

    fn list(&mut self, changed: bool) -> Found {
        let now = match read::look_through(&self.root) {
            Ok(entry) if entry.kind == Kind::Dir => entry.stamp,
            Ok(_) => return self.without(Found::Unreadable("OperationalError: not a directory".into())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return self.without(Found::Nothing),
            Err(e) => return self.without(Found::Unreadable(format!("OperationalError: {e}"))),
        };
        if !changed && self.listed == Some(now) {
            return Found::Names;
        }
        match read::names(&self.root, NAMES_CAP) {
            Ok((names, _)) => {
                let ours = names.into_iter().map(|n| n.name).filter(|n| is_database(n));
                self.names = ours.take(STORES_CAP).collect();
                self.listed = Some(now);
                Found::Names
            }
            Err(e) => self.without(Found::Unreadable(format!("OperationalError: {e}"))),
        }
    }

    fn without(&mut self, found: Found) -> Found {
        self.names.clear();
        self.listed = None;
        found
    }
}

/// Whether a name is `opencode*.db` (OC-001).
fn is_database(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b"opencode") && name.ends_with(b".db")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OC-001, OC-003: databases by their name alone; nothing beside them is looked at.
    #[test]
    fn oc_001_oc_003_names() {
        let is = |name: &str| is_database(OsStr::new(name));
        assert!(is("opencode.db") && is("opencode-dev.db") && is("opencode 2.db"));
        let others =
            ["auth.json", "account.json", "mcp-auth.json", "log", "snapshot", "repos", "tool-output", "storage"];
        assert!(!others.into_iter().chain(["bin", "project", "backup.db", "opencode.db-wal", "opencode.dbx"]).any(is));
    }
}
