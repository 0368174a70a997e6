//! GitHub Copilot CLI: one file of typed events per session, and a billing ledger.
//!
//! The store itself tells that somebody is waited for: a permission request stands in the events when its dialog opens
//! and its answer only once a person gave one. Nothing tells that a process ended, so a session killed at its dialog
//! waits until it leaves the display window (COP-018).

mod event;
mod ledger;
mod names;
mod permission;
mod session;

#[cfg(test)]
mod tests;

use super::about::About;
use super::follow::{Followed, session_id};
use super::head::Heads;
use super::identity::Identities;
use super::tree::Tree;
use super::{Collected, Collector, Pass, degrades, place};
use crate::config::WORKING_THRESHOLD_SEC;
use crate::model::quota::Quota;
use crate::model::time::{fresh, newest_plausible};
use crate::model::{Code, Degrade, Key, Observed, State};
use crate::surface::read::{self, Stamp};
use crate::text::safe::diagnostic;
pub use ledger::Consumption;
use ledger::{Account, Ledger};
use session::{Header, Session};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Store key of the root, named in degrades.
const SOURCE: &str = "copilot.root";
/// What the reader says of itself.
pub(super) const ABOUT: About = About::of(SOURCE);

/// The reader of Copilot's store.
pub struct Copilot {
    tree: Tree,
    sessions: HashMap<PathBuf, Followed<Session>>,
    heads: Heads<Header>,
    ledger: Ledger,
    place: Placing,
}

/// Gives rows their working directory.
struct Placing {
    home: PathBuf,
    identities: Identities,
}

/// A session's events as they stand.
struct Found {
    sid: String,
    path: PathBuf,
    stamp: Stamp,
}

impl Copilot {
    /// A reader of the store at `root` (`~/.copilot`); `home` shortens project labels.
    pub fn new(root: PathBuf, home: PathBuf) -> Copilot {
        Copilot {
            ledger: Ledger::new(root.join(names::LEDGER)),
            tree: Tree::new(root, names::judge),
            sessions: HashMap::new(),
            heads: Heads::new(|path| super::head::read(path, <Session as super::follow::Records>::header)),
            place: Placing { home, identities: Identities::default() },
        }
    }

    /// What was consumed inside the display window, for the harness's tile: out of the ledger as it was last collected.
    pub fn usage(&self, pass: &Pass<'_>) -> Option<Consumption> {
        self.ledger.account(pass)?.total().cloned()
    }

    /// The sessions that are asked for. One that stands in both directories counts where it was written last, and where
    /// it belongs when that is the same moment (COP-006).
    fn found(&self, pass: &Pass<'_>) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        let mut legacy: HashMap<&str, usize> = HashMap::new();
        // Ordered by path: the older directory comes first.
        for (dir, name, file) in self.tree.files() {
            let Some(sid) = dir.file_name().and_then(|sid| session_id(sid.to_str()?)) else { continue };
            let here = || Found { sid: sid.into(), path: dir.join(name), stamp: file.stamp };
            match legacy.get(sid).and_then(|n| found.get_mut(*n)) {
                Some(known) if file.stamp.mtime_ns >= known.stamp.mtime_ns => *known = here(),
                Some(_) => {}
                None => {
                    if dir.parent().is_some_and(|above| above.ends_with(names::SESSIONS[1])) {
                        legacy.insert(sid, found.len());
                    } else if !pass.all && !pass.in_window(file.stamp.mtime()) {
                        continue;
                    }
                    found.push(here());
                }
            }
        }
        found.retain(|found| pass.all || pass.in_window(found.stamp.mtime()));
        found
    }

    /// The row of one session, `None` when its events are gone.
    fn row(&mut self, found: &Found, pass: &Pass<'_>) -> Option<Observed> {
        let mut row = Observed::new(Key::Copilot, found.sid.as_str());
        row.rate_per_min = None;
        row.last_activity = newest_plausible([found.stamp.mtime()], pass.now);
        row.active = pass.in_window(found.stamp.mtime());
        row.evidence.transcript = Some(found.path.clone());
        if !row.active {
            // Not read, but for where it worked (COP-008, COP-018).
            let head = self.heads.of(&found.path, found.stamp);
            if head.as_ref().is_err_and(read::ReadError::is_missing) {
                return None;
            }
            let head = head.ok();
            self.place.settle(&mut row, head.as_ref().and_then(|head| head.get()?.cwd.as_deref()), pass.now);
            return Some(row);
        }
        if !self.sessions.contains_key(&found.path) {
            self.sessions.insert(found.path.clone(), Followed::new(found.path.clone()));
        }
        let session = self.sessions.get_mut(&found.path)?;
        if !session.advance(found.stamp, pass.now) {
            return None;
        }
        let records = session.records();
        let cwd = records.cwd().or_else(|| session.head()?.cwd.as_deref());
        self.place.settle(&mut row, cwd, pass.now);
        describe(&mut row, records, found.stamp.mtime(), pass.now);
        session.tell(&mut row);
        if records.is_unseen() || session.head().is_some_and(|head| head.is_unseen) {
            row.degrades.push(Degrade { code: Code::VersionUnseen, source: names::EVENTS.into(), count: None });
        }
        Some(row)
    }

    fn faults(&self, pass: &Pass<'_>, out: &mut Collected) {
        for (path, session) in &self.sessions {
            if let Some(why) = session.failure() {
                out.store_errors.push((path.to_string_lossy().into_owned(), diagnostic(why)));
            }
        }
        degrades::of_trees([&self.tree], SOURCE, out);
        self.ledger.tell(pass, &mut out.store_errors, &mut out.degrades);
    }
}

impl Placing {
    fn settle(&mut self, row: &mut Observed, cwd: Option<&str>, now: f64) {
        place::settle(row, cwd, None, &self.home, &mut self.identities, now);
    }
}

/// What an active session's events say. `written` is the last write of their file, seconds since the epoch.
fn describe(row: &mut Observed, session: &Session, written: f64, now: f64) {
    let story = session.story();
    if let Some(prompt) = story.prompt() {
        row.title = prompt.title.as_deref().map(str::to_owned);
        row.last_prompt = prompt.text.to_string();
    }
    row.started_at = story.started_at();
    let wait = session.pending().wait(written, now);
    let busy = fresh(newest_plausible([story.newest(now), written], now), WORKING_THRESHOLD_SEC, now);
    let state = match (&wait, busy) {
        (Some(_), _) => State::NeedsInput,
        (None, true) => State::Working,
        (None, false) => State::Idle,
    };
    if state != State::Idle {
        row.subagents = session.subagents();
    }
    story.state(row, state, false, now);
    if let Some(wait) = wait {
        row.blocked_since = Some(wait.since);
        row.state_detail = Some(wait.detail);
    }
}

/// What the ledger says of a session (COP-026, COP-027).
fn charge(row: &mut Observed, account: Option<&Account<'_>>, gap: Option<Code>) {
    if let Some(account) = account {
        row.consumption = account.consumption(&row.sid, row.active);
        row.model = account.model(&row.sid).map(str::to_owned);
    }
    if let Some(code) = gap {
        row.source_gaps = vec!["token accounting"];
        row.degrades.push(Degrade { code, source: names::LEDGER.into(), count: None });
    }
}

impl Collector for Copilot {
    fn key(&self) -> Key {
        Key::Copilot
    }

    fn discovered(&mut self) -> bool {
        let found = names::SESSIONS.iter().any(|dir| read::is_dir(&self.tree.root().join(dir)));
        if !found {
            // What changes from now on is noticed by nobody here: the next walk is a whole one.
            self.tree = Tree::new(self.tree.root().to_path_buf(), names::judge);
            self.sessions.clear();
        }
        found
    }

    fn quota(&self, pass: &Pass<'_>) -> Option<Quota> {
        let Consumption { as_of, used } = self.usage(pass)?;
        Some(Quota { harness: Key::Copilot, as_of: as_of as f64, five_hour: None, week: None, used: Some(used) })
    }

    fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String> {
        let mut out = Collected::default();
        let moved = self.tree.refresh(pass);
        let found = self.found(pass);
        out.rows = found.iter().filter_map(|found| self.row(found, pass)).collect();
        let active = |found: &&Found| pass.in_window(found.stamp.mtime());
        let kept: HashSet<&Path> = found.iter().filter(active).map(|found| found.path.as_path()).collect();
        self.sessions.retain(|path, _| kept.contains(path.as_path()));
        if moved {
            self.heads.keep(|path| self.tree.file(path).is_some());
        }
        self.ledger.refresh(pass.now);
        let (account, gap) = (self.ledger.account(pass), self.ledger.gap(pass));
        for row in &mut out.rows {
            charge(row, account.as_ref(), gap);
        }
        self.faults(pass, &mut out);
        Ok(out)
    }
}
