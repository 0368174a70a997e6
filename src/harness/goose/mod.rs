//! Goose: one SQLite database for all sessions (spec 28).
//!
//! Activity is each session's own `updated_at`; the file's time says nothing about any one of them. Only the databases
//! given are opened, no other file of Goose.

mod read;
mod session;
#[cfg(test)]
mod tests;

use super::identity::Identities;
use super::sql::kept::{Kept, Look};
use super::sql::{self, Trouble};
use super::{Collected, Collector, Pass};
use crate::model::{Code, Key};
use crate::surface::read as files;
use crate::surface::sqlite::{self, StoreError};
use read::{Reading, Scope};
use std::path::PathBuf;

/// Name of the store in degrades.
const STORE: &str = "goose.db";

/// The reader of Goose's databases.
pub struct Goose {
    stores: Vec<Kept<Reading>>,
    identities: Identities,
    home: PathBuf,
}

impl Goose {
    /// A reader of the databases at `paths`, every one that exists; `home` shortens project labels.
    pub fn new(paths: Vec<PathBuf>, home: PathBuf) -> Goose {
        Goose { stores: paths.into_iter().map(Kept::new).collect(), identities: Identities::default(), home }
    }
}

impl Collector for Goose {
    fn key(&self) -> Key {
        Key::Goose
    }

    fn discovered(&mut self) -> bool {
        self.stores.iter().any(|store| files::is_file(store.path()))
    }

    fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String> {
        let mut out = Collected::default();
        let scope = Scope { now: pass.now, window: pass.window, all: pass.all };
        for kept in &mut self.stores {
            let path = kept.path().to_path_buf();
            let mut trouble = Trouble::new(STORE);
            let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { continue };
            pass.watch.add(dir);
            let moved = sqlite::stamps(&path);
            if moved.file.is_none() {
                *kept = Kept::new(path.clone());
                if files::look(&path).is_ok() {
                    trouble.met(&path, Code::StoreUnreadable, "OperationalError: not a regular file");
                    trouble.into(&mut out);
                }
                continue;
            }
            let again = kept.value(pass.now, pass.window).is_some_and(|r| !r.suffices(scope, pass.sweep));
            let look = Look::new(pass.now, moved, sql::named(pass, dir, name), again);
            kept.refresh(&look, |db, before| read::read(db, before.filter(|_| !pass.sweep), scope));
            let stale = kept.trouble().map(StoreError::code);
            if let Some(error) = kept.trouble() {
                trouble.met(&path, error.code(), &error.to_string());
            }
            if let Some(reading) = kept.value(pass.now, pass.window) {
                let stale = stale.map(|code| (code, STORE));
                session::rows(reading, stale, pass, &self.home, &mut self.identities, &mut out.rows);
                if reading.skipped > 0 {
                    trouble.degrade(Code::RecordSkipped, Some(reading.skipped));
                }
            }
            trouble.into(&mut out);
        }
        Ok(out)
    }
}
