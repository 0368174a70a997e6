//! Cursor CLI: one SQLite store per chat, a table of content-addressed blobs and a payload that names the newest, with
//! a small JSON file beside it (spec 27).
//!
//! Only `store.db`, its log and index, and `meta.json` two levels below the chats folder are looked at. A store outside the display
//! window is not opened unless every session is asked for, and one that did not move is not opened again. No message
//! text, no key and no tool is taken out of it.

mod chat;
mod gate;
mod meta;
mod model;
mod read;
mod row;
mod shelf;
#[cfg(test)]
mod tests;

use super::about::About;
use super::identity::Identities;
use super::sql::kept::{Kept, Look};
use super::sql::{self, Trouble};
use super::{Collected, Collector, Pass};
use crate::config::MAX_CACHE_ENTRIES;
use crate::model::{Code, Key};
use crate::surface::sqlite::{Moved, PATIENCE, StoreError};
use chat::Chat;
use row::Seen;
use shelf::Shelf;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the store in degrades.
const STORE: &str = "cursor.chats";
/// What the reader says of itself.
pub(super) const ABOUT: About = About::of(STORE);
const STORE_DB: &str = "store.db";
const META_JSON: &str = "meta.json";

/// Locked stores that are waited for in one pass; the rest of them is not.
const WAITS: usize = 2;

type Chats = BTreeMap<PathBuf, Kept<Chat>>;

/// The reader of Cursor's chat stores.
pub struct Cursor {
    shelf: Shelf,
    /// By the chat's folder.
    chats: Chats,
    identities: Identities,
    home: PathBuf,
}

impl Cursor {
    /// A reader of the chats folder `root`; `home` shortens project labels.
    pub fn new(root: PathBuf, home: PathBuf) -> Cursor {
        Cursor { shelf: Shelf::new(root), chats: BTreeMap::new(), identities: Identities::default(), home }
    }
}

impl Collector for Cursor {
    fn key(&self) -> Key {
        Key::Cursor
    }

    fn discovered(&mut self) -> bool {
        self.shelf.has_store()
    }

    fn absence(&mut self, pass: &Pass<'_>) -> Collected {
        // A look at what stands there opens nothing, and what changes meanwhile stays known.
        self.collect(pass).unwrap_or_default()
    }

    fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String> {
        self.shelf.refresh(pass);
        let mut trouble = Trouble::new(STORE);
        for (path, why) in self.shelf.unreadable() {
            trouble.met(path, Code::StoreUnreadable, &format!("OperationalError: {why}"));
        }
        let stores: Vec<(&Path, Moved)> = self.shelf.stores(pass).collect();
        let mut waits = 0;
        for (dir, moved) in &stores {
            let kept = self.chats.entry(dir.to_path_buf()).or_insert_with(|| Kept::new(dir.join(STORE_DB)));
            let patience = if waits < WAITS { PATIENCE } else { Duration::ZERO };
            let look = Look { patience, ..look(kept, dir, *moved, pass) };
            let tried = kept.refresh(&look, |db, before| read::read(db, before, dir, pass.now));
            if let Some(error) = kept.trouble() {
                waits += usize::from(tried && error.code() == Code::StoreLocked);
                trouble.met(kept.path(), error.code(), &error.to_string());
            }
            for fault in kept.value(pass.now, pass.window).into_iter().flat_map(|chat| &chat.faults) {
                trouble.met(kept.path(), fault.code(), &fault.to_string());
            }
        }
        let seen: Vec<Seen<'_>> = stores.iter().filter_map(|store| seen(&self.chats, *store, pass)).collect();
        let mut out = Collected::default();
        row::rows(&seen, pass, &self.home, &mut self.identities, &mut out.rows);
        trouble.into(&mut out);
        drop(seen);
        forget(&mut self.chats, &self.shelf, &stores, pass);
        Ok(out)
    }
}

/// A store of this pass with what is known of it.
fn seen<'a>(chats: &'a Chats, (dir, moved): (&'a Path, Moved), pass: &Pass<'_>) -> Option<Seen<'a>> {
    let kept = chats.get(dir)?;
    let chat = kept.value(pass.now, pass.window)?;
    let stale = kept.trouble().map(StoreError::code);
    Some(Seen { sid: dir.file_name()?.to_string_lossy(), at: moved.newest(pass.now), chat, stale })
}

/// Drops what is known of stores that are gone. Readings of stores outside the window are small and stay, so that a
/// list of all sessions is not read from disk each time; too many of them go together.
fn forget(chats: &mut Chats, shelf: &Shelf, stores: &[(&Path, Moved)], pass: &Pass<'_>) {
    if chats.len() == stores.len() && chats.keys().zip(stores).all(|(known, (dir, _))| known == dir) {
        return;
    }
    let many = !pass.all && chats.len() > MAX_CACHE_ENTRIES;
    let counts = |dir: &Path| stores.binary_search_by(|(known, _)| (*known).cmp(dir)).is_ok();
    chats.retain(|dir, _| shelf.holds(dir) && (!many || counts(dir)));
}

/// Why a store is looked at now.
fn look(kept: &Kept<Chat>, dir: &Path, moved: Moved, pass: &Pass<'_>) -> Look {
    let told = |name: &str| pass.dirty.dirs.get(dir).is_some_and(|names| names.contains(OsStr::new(name)));
    let chat = kept.value(pass.now, pass.window);
    let again = chat.is_some_and(|chat| {
        let beside = told(META_JSON) || (pass.sweep && chat.meta_moved(dir));
        beside || chat.owes_gate(pass.now)
    });
    Look::new(pass.now, moved, sql::named(pass, dir, OsStr::new(STORE_DB)), again)
}
