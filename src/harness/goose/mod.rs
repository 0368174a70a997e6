//! Goose: one SQLite database for all sessions (spec 28).
//!
//! Activity is each session's own `updated_at`; the file's time says nothing about any one of them. Only the databases
//! given are opened, no other file of Goose.

mod read;
mod session;
#[cfg(test)]
mod tests;

use super::about::About;
use super::identity::Identities;
use super::sql::kept::Kept;
use super::sql::sessions::{self, Place};
use super::{Collected, Collector, Pass};
use crate::model::Key;
use crate::surface::read as files;
use read::{Reading, read};
use std::path::PathBuf;

/// Name of the store in degrades.
const STORE: &str = "goose.db";
/// What the reader says of itself.
pub(super) const ABOUT: About = About::of(STORE);

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

    fn absence(&mut self, pass: &Pass<'_>) -> Collected {
        // A look at what stands there opens nothing, and what changes meanwhile stays known.
        self.collect(pass).unwrap_or_default()
    }

    fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String> {
        let mut out = Collected::default();
        let mut place = Place { home: &self.home, identities: &mut self.identities };
        for kept in &mut self.stores {
            if let Some(dir) = kept.path().parent() {
                pass.watch.add(dir);
            }
            sessions::collect(kept, STORE, read, pass, &mut place, &mut out);
        }
        Ok(out)
    }
}
