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

use super::identity::Identities;
use super::sql::kept::{Kept, Look};
use super::sql::{self, Trouble};
use super::{Collected, Collector, Pass};
use crate::model::{Code, Key};
use crate::surface::sqlite::{self, StoreError};
use crate::text::safe;
use folder::{Folder, Found};
use read::{Reading, Scope};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Name of the store in degrades.
const STORE: &str = "opencode.data";

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

    /// Looks at one name of a data folder, reads it when that is due, and adds its rows.
    fn store(&mut self, root: &Path, name: &OsString, pass: &Pass<'_>, out: &mut Collected) {
        let path = root.join(name);
        let moved = sqlite::stamps(&path);
        let label = safe::diagnostic(&name.to_string_lossy());
        let mut trouble = Trouble::new(&label);
        if moved.file.is_none() {
            self.stores.remove(&path);
            trouble.met(&path, Code::StoreUnreadable, "OperationalError: not a regular file");
            return trouble.into(out);
        }
        let kept = self.stores.entry(path.clone()).or_insert_with(|| Kept::new(path.clone()));
        let scope = Scope { now: pass.now, window: pass.window, all: pass.all };
        let again = kept.value(pass.now, pass.window).is_some_and(|r| !r.suffices(scope, pass.sweep));
        let look = Look::new(pass.now, moved, sql::named(pass, root, name), again);
        kept.refresh(&look, |db, before| read::read(db, before.filter(|_| !pass.sweep), scope));
        if let Some(reading) = kept.value_mut().filter(|_| !pass.all) {
            reading.forget_old(scope);
        }
        let stale = kept.trouble().map(StoreError::code);
        if let Some(error) = kept.trouble() {
            trouble.met(&path, error.code(), &error.to_string());
        }
        if let Some(reading) = kept.value(pass.now, pass.window) {
            let stale = stale.map(|code| (code, label.as_str()));
            session::rows(reading, stale, pass, &self.home, &mut self.identities, &mut out.rows);
            if reading.skipped > 0 {
                trouble.degrade(Code::RecordSkipped, Some(reading.skipped));
            }
        }
        trouble.into(out);
    }
}

impl Collector for OpenCode {
    fn key(&self) -> Key {
        Key::OpenCode
    }

    fn discovered(&mut self) -> bool {
        self.folders.iter_mut().any(Folder::has_store)
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
                self.store(folder.root(), name, pass, &mut out);
            }
        }
        self.stores.retain(|path, _| folders.iter().any(|f| f.holds(path)));
        self.folders = folders;
        store.into(&mut out);
        Ok(out)
    }
}
