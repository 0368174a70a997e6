//! Codex: append-only rollouts below `<codex home>/sessions/YYYY/MM/DD` (file 21 of the contract).
//!
//! - [`never`]: what may be touched at all; [`survey`]: which sessions there are; [`header`], [`headers`]: whose
//! - [`glance`], [`record`]: a line; [`facts`]: a rollout folded; [`prior`]: what lies before the fold; [`rollout`]: both
//! - [`intent`], [`plan`] and [`script`], [`dispatch`], [`boots`], [`quota`]: single readings; [`row`]: the row
//!
//! Nothing but rollouts is opened, and of those neither reasoning nor tool results are read; a boot envelope that a
//! command printed is the one exception. A wait for the person is never reported from here: Codex keeps no record of
//! one (CODEX-043).

mod boots;
mod dispatch;
mod facts;
mod glance;
mod header;
mod headers;
mod intent;
mod never;
mod plan;
mod prior;
mod quota;
mod record;
mod rollout;
mod row;
mod script;
mod survey;
#[cfg(test)]
mod tests;

pub use quota::{Usage, Window};

use super::about::About;
use super::identity::Identities;
use super::tree::Tree;
use super::{Collected, Collector, Pass, degrades};
use crate::config::{CODEX_EVENT_CHILDREN, CODEX_USAGE_ROLLOUTS, CODEX_WALK_PASS_BYTES, RATE_WINDOW_SEC};
use crate::model::quota::{Gauge, Quota};
use crate::model::time::{fresh, newest_plausible};
use crate::model::{Code, Degrade, Key};
use crate::surface::read::{self, Stamp};
use headers::Headers;
use rollout::{Depth, Rollout};
use row::{Shelf, is_running};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use survey::{Session, Survey};

/// Name of the store in diagnostics.
const STORE: &str = "codex.sessions";
/// What the reader says of itself. Threads that were put away leave the board, since their folder is never entered
/// (FIELD-004); lines passed over are told in words of their own (CODEX-047).
pub(super) const ABOUT: About = About { note: Some("codex: archived threads are not read"), words, ..About::of(STORE) };

fn words(degrade: &Degrade) -> Option<String> {
    let lines = degrade.count.filter(|_| degrade.code == Code::RecordSkipped)?;
    Some(format!("codex: {lines} lines skipped"))
}

/// The reader of one Codex home.
pub struct Codex {
    tree: Tree,
    home: String,
    headers: Headers,
    shelf: Shelf,
    identities: Identities,
    usage: Option<Usage>,
    pass: u64,
}

impl Codex {
    /// A reader of the rollouts below `sessions`; `home` is the person's, from which project labels are counted.
    pub fn new(sessions: PathBuf, home: &Path) -> Codex {
        Codex {
            tree: Tree::new(sessions, never::judge),
            home: home.to_string_lossy().into_owned(),
            headers: Headers::default(),
            shelf: Shelf::default(),
            identities: Identities::default(),
            usage: None,
            pass: 0,
        }
    }

    /// The newest quota figures Codex itself recorded, out of the last [`Collector::collect`]; none when they are older
    /// than `window` seconds or no window of them is usable (CODEX-036). Stands under `--no-usage` too: nothing is
    /// fetched.
    pub fn usage(&self, now: f64, window: f64) -> Option<Usage> {
        self.usage.filter(|usage| usage.says_something() && fresh(usage.as_of, window, now))
    }

    /// Reads every rollout that a row of this pass needs, as deep as it needs it, and drops the others. Returns whether
    /// one of them is not walked to its end yet.
    fn read(&mut self, found: &Survey, pass: &Pass<'_>) -> bool {
        let mut desk = Desk {
            shelf: &mut self.shelf,
            headers: &mut self.headers,
            pass: self.pass,
            now: pass.now,
            budget: CODEX_WALK_PASS_BYTES,
        };
        let mut active: Vec<&Session> =
            found.sessions.values().filter(|session| pass.in_window(session.last_activity)).collect();
        active.sort_by(|a, b| b.last_activity.total_cmp(&a.last_activity));
        for session in active {
            desk.session(session);
        }
        let newest = newest(&found.recent);
        for (path, stamp) in &newest {
            desk.bring(path, *stamp, Depth::Tail);
        }
        self.usage =
            newest.iter().filter_map(|(path, _)| self.shelf.get(path)?.facts.quota).fold(None, |best, next| {
                let stamps = best.map(|best: Usage| best.as_of).into_iter().chain([next.as_of]);
                // A stamp too far ahead hides nothing.
                if newest_plausible(stamps, pass.now) == next.as_of { Some(next) } else { best }
            });
        let this = self.pass;
        self.shelf.retain(|_, rollout| rollout.wanted_in == this);
        self.shelf.values().any(Rollout::is_unfinished)
    }

    /// What went wrong in the store as a whole, and in single files.
    fn report(&self, found: &Survey, out: &mut Collected) {
        if !read::is_dir(self.tree.root()) {
            degrades::tell(out, Code::StoreMissing, STORE, None);
        }
        degrades::of_trees([&self.tree], STORE, out);
        if found.packed > 0 {
            degrades::tell(out, Code::Compressed, STORE, Some(found.packed));
        }
        // Children are no rows; their lines count all the same.
        let roots: HashSet<&Path> = found.sessions.values().map(|session| session.root.path.as_path()).collect();
        let kids = self.shelf.iter().filter(|(path, _)| !roots.contains(path.as_path()));
        let skipped = kids.map(|(_, rollout)| rollout.skipped()).fold(0, u64::saturating_add);
        if skipped > 0 {
            degrades::tell(out, Code::RecordSkipped, STORE, Some(skipped));
        }
        for (path, _) in &found.unreadable {
            degrades::tell(out, Code::StoreUnreadable, &degrades::file_name(path), None);
        }
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let headers = found.unreadable.iter().map(|(path, why)| (text(path), why.clone()));
        let faults =
            self.shelf.iter().filter_map(|(path, rollout)| Some((text(path), rollout.fault.as_ref()?.why.clone())));
        out.store_errors.extend(headers.chain(faults));
    }
}

/// The rollouts written last (CODEX-036).
fn newest(recent: &[(PathBuf, Stamp)]) -> Vec<(PathBuf, Stamp)> {
    let mut newest = recent.to_vec();
    newest.sort_by_key(|(_, stamp)| std::cmp::Reverse(stamp.mtime_ns));
    newest.truncate(CODEX_USAGE_ROLLOUTS);
    newest
}

/// The reading of one pass.
struct Desk<'a> {
    shelf: &'a mut Shelf,
    headers: &'a mut Headers,
    pass: u64,
    now: f64,
    /// What may still be walked backward, bytes.
    budget: u64,
}

impl Desk<'_> {
    fn session(&mut self, session: &Session) {
        if session.root.form == never::Form::Plain {
            self.bring(&session.root.path, session.root.stamp, Depth::Whole);
        }
        for (n, kid) in session.kids.iter().enumerate() {
            let depth = if fresh(kid.rollout.mtime(), RATE_WINDOW_SEC, self.now) { Depth::Turn } else { Depth::Tail };
            if depth == Depth::Turn || n < CODEX_EVENT_CHILDREN {
                self.bring(&kid.rollout.path, kid.rollout.stamp, depth);
            }
        }
        for kid in &session.kids {
            let Some(parent) = &kid.parent else { continue };
            if is_running(kid, self.shelf, self.now) && parent.form == never::Form::Plain {
                self.bring(&parent.path, parent.stamp, Depth::Tail);
            }
        }
    }

    fn bring(&mut self, path: &Path, stamp: Stamp, depth: Depth) {
        let rollout = match self.shelf.get_mut(path) {
            Some(rollout) => rollout,
            None => self.shelf.entry(path.to_path_buf()).or_default(),
        };
        if rollout.wanted_in == self.pass && rollout.depth() >= depth {
            // Brought up in this pass already.
            return;
        }
        rollout.wanted_in = self.pass;
        if rollout.bring(path, stamp, depth, self.now, &mut self.budget) {
            self.headers.doubt(path);
        }
    }
}

impl Collector for Codex {
    fn key(&self) -> Key {
        Key::Codex
    }

    fn discovered(&mut self) -> bool {
        read::is_dir(self.tree.root())
    }

    fn quota(&self, pass: &Pass<'_>) -> Option<Quota> {
        let usage = self.usage(pass.now, pass.window)?;
        let gauge = |w: quota::Window| Gauge { pct: w.pct, window_sec: w.window_sec, resets_at: w.resets_at };
        let (five_hour, week) = (usage.five_hour.map(gauge), usage.week.map(gauge));
        Some(Quota { harness: Key::Codex, as_of: usage.as_of, five_hour, week, used: None })
    }

    fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String> {
        self.pass += 1;
        self.tree.refresh(pass);
        let found = survey::survey(&self.tree, &mut self.headers, pass);
        let more = self.read(&found, pass);
        let mut out = Collected { more, ..Collected::default() };
        for session in found.sessions.values() {
            let mut row = row::row(session, &self.shelf, &self.home, pass);
            if row.active || pass.all {
                let cwd = row.evidence.cwd.clone();
                self.identities.apply(&mut row, cwd.as_deref(), pass.now);
                out.rows.push(row);
            }
        }
        self.report(&found, &mut out);
        Ok(out)
    }
}
