//! OpenCode: one SQLite database per install, shared by all its sessions, written while it is read (spec 26).
//!
//! Only databases named `opencode*.db` directly inside the data folder are opened, and of these only the tables and
//! columns that [`read`] names. Whether a session works is not stored; it follows from how fresh its row is.

mod data;
mod folder;
mod read;
mod session;
#[cfg(test)]
mod tests;

use super::about::About;
use super::identity::Identities;
use super::sql::Trouble;
use super::sql::kept::Kept;
use super::sql::sessions::{self, Place};
use super::{Collected, Collector, Pass};
use crate::model::{Code, Key};
use crate::text::safe;
use folder::{Folder, Found};
use read::{Reading, read};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Name of the store in degrades.
const STORE: &str = "opencode.data";
/// What the reader says of itself.
pub(super) const ABOUT: About = About::of(STORE);

/// The reader of OpenCode's databases.
pub struct OpenCode {
    folders: Vec<Folder>,
    stores: BTreeMap<PathBuf, Kept<Reading>>,
    identities: Identities,
    home: PathBuf,
}

impl OpenCode {
    /// A reader of the data folders `roots`, all of which are searched; `home` shortens project labels.
    pub fn new(roots: Vec<PathBuf>, home: PathBuf) -> OpenCode {
        OpenCode {
            folders: roots.into_iter().map(Folder::new).collect(),
            stores: BTreeMap::new(),
            identities: Identities::default(),
            home,
        }
    }
}

impl Collector for OpenCode {
    fn key(&self) -> Key {
        Key::OpenCode
    }

    fn discovered(&mut self) -> bool {
        self.folders.iter_mut().any(Folder::has_store)
    }

    fn absence(&mut self, pass: &Pass<'_>) -> Collected {
        // A look at what stands there opens nothing, and what changes meanwhile stays known.
        self.collect(pass).unwrap_or_default()
    }

    fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String> {
        let mut out = Collected::default();
        let mut store = Trouble::new(STORE);
        let mut folders = std::mem::take(&mut self.folders);
        for folder in &mut folders {
            match folder.refresh(pass) {
                Found::Names => {}
                Found::Nothing => continue,
                Found::Unreadable(why) => {
                    store.met(folder.root(), Code::StoreUnreadable, &why);
                    continue;
                }
            }
            if folder.names().next().is_none() {
                store.degrade(Code::StoreMissing, None);
            }
            for name in folder.names() {
                let path = folder.root().join(name);
                let label = safe::diagnostic(&name.to_string_lossy());
                let kept = self.stores.entry(path).or_insert_with_key(|path| Kept::new(path.clone()));
                let mut place = Place { home: &self.home, identities: &mut self.identities };
                sessions::collect(kept, &label, read, pass, &mut place, &mut out);
            }
        }
        self.stores.retain(|path, _| folders.iter().any(|f| f.holds(path)));
        self.folders = folders;
        store.into(&mut out);
        Ok(out)
    }
}
