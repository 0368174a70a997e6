//! Claude Code: transcripts, subagents, teams, tasks and hook waits, read out of `~/.claude` and turned into rows.
//!
//! - [`store`]: what lies where, and the names that are never looked at
//! - [`survey`]: what a pass has to look at, by names and times alone
//! - [`head`], [`transcript`] ([`story`], [`window`], [`prompts`], [`question`], [`record`]): one transcript
//! - [`family`], [`roster`], [`tasks`]: what belongs to a session beside its transcript
//! - [`hooks`]: waits that Claude's hooks report; [`gates`]: when they may pop up; [`state`]: what all of it amounts to; [`row`]: the row
//!
//! Nothing here writes, and nothing but the three store folders is entered.

mod bounded;
mod cache;
mod family;
pub mod gates;
mod head;
pub mod hooks;
mod prompts;
mod question;
mod record;
mod roster;
mod row;
mod state;
mod store;
mod story;
mod survey;
mod tasks;
mod transcript;
mod window;

#[cfg(test)]
mod tests;

pub use gates::{Gate, Gates};
pub use hooks::{Hooks, Notified, NotifyReply, Popup};
pub use store::ClaudeRoots;

use crate::config::MAX_CACHE_ENTRIES;
use crate::harness::about::About;
use crate::harness::degrades;
use crate::harness::identity::Identities;
use crate::harness::tree::Tree;
use crate::harness::{Collected, Collector, Pass};
use crate::model::Key;
use crate::surface::read;
use cache::Kept;
use family::Mate;
use head::Head;
use row::Case;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use survey::{Survey, Top};
use transcript::{Child, Limits, Transcript};

/// How long beginnings of old transcripts are kept after a look at every session, seconds.
const OLD_HEADS_SEC: f64 = 120.0;
/// A clock that steps back further than this makes everything read be read anew, seconds.
const STEP_BACK_SEC: f64 = 1.0;
/// Store key of the transcripts, named in degrades.
const STORE: &str = "claude.projects";
/// What the reader says of itself.
pub(super) const ABOUT: About = About::of(STORE);

/// The reader of a Claude store.
pub struct Claude {
    roots: ClaudeRoots,
    hooks: Arc<Hooks>,
    spacedock: bool,
    projects: Tree,
    tasks: Tree,
    teams: Tree,
    readers: Readers,
    /// Clock of the newest pass, and of the newest one over every session.
    last_pass: f64,
    last_all: f64,
}

/// What has been read of files, kept from pass to pass.
struct Readers {
    heads: Kept<Head>,
    transcripts: Kept<Transcript>,
    children: Kept<Child>,
    labels: Kept<Option<Box<str>>>,
    tasks: tasks::Tasks,
    rosters: roster::Rosters,
    identities: Identities,
    limits: Limits,
}

impl Claude {
    /// A reader of the store at `roots`; `spacedock` tells whether workflow definitions may be read.
    pub fn new(roots: ClaudeRoots, hooks: Arc<Hooks>, spacedock: bool) -> Claude {
        Claude {
            projects: Tree::new(roots.projects.clone(), store::judge_projects),
            tasks: Tree::new(roots.tasks.clone(), store::judge_tasks),
            teams: Tree::new(roots.teams.clone(), store::judge_teams),
            roots,
            hooks,
            spacedock,
            readers: Readers::new(),
            last_pass: 0.0,
            last_all: f64::NEG_INFINITY,
        }
    }

    /// Whether workflow definitions of Spacedock sessions may be read.
    pub fn reads_workflows(&self) -> bool {
        self.spacedock
    }

    fn begin(&mut self, pass: &Pass<'_>) {
        if pass.now < self.last_pass - STEP_BACK_SEC {
            // What was believable by the later clock may not be by this one.
            self.readers = Readers::new();
        }
        self.last_pass = pass.now;
        if pass.all {
            self.last_all = pass.now;
        }
        self.projects.refresh(pass);
        self.tasks.refresh(pass);
        self.teams.refresh(pass);
        self.readers.begin();
    }

    /// Directories that could not be listed and links that were passed over.
    fn disclose(&self, found: &mut Collected) {
        for (tree, source) in [(&self.projects, STORE), (&self.tasks, "claude.tasks"), (&self.teams, "claude.teams")] {
            degrades::of_trees([tree], source, found);
        }
    }
}

impl Collector for Claude {
    fn key(&self) -> Key {
        Key::Claude
    }

    fn discovered(&mut self) -> bool {
        read::is_dir(&self.roots.projects)
    }

    fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String> {
        self.begin(pass);
        let mut found = Collected::default();
        self.disclose(&mut found);
        let survey = Survey::new(&self.projects, &self.tasks, &self.teams, pass);
        let sorted = Sorted::new(&survey, &mut self.readers, pass, &mut found);
        for key in sorted.keys(&survey, pass) {
            let case = Case {
                key: &key,
                session: sorted.sessions.get(&key),
                mates: sorted.mates.get(&key).map(Vec::as_slice).unwrap_or_default(),
                survey: &survey,
                home: &self.roots.home,
                hooks: &self.hooks,
            };
            found.rows.extend(case.row(&mut self.readers, pass, &mut found.store_errors));
        }
        let spare = if pass.now - self.last_all < OLD_HEADS_SEC { MAX_CACHE_ENTRIES } else { 0 };
        self.readers.end(spare);
        found.store_errors.sort();
        found.store_errors.dedup();
        Ok(found)
    }
}

impl Readers {
    fn new() -> Readers {
        Readers {
            heads: Kept::new(),
            transcripts: Kept::new(),
            children: Kept::new(),
            labels: Kept::new(),
            tasks: Kept::new(),
            rosters: Kept::new(),
            identities: Identities::default(),
            limits: Limits::default(),
        }
    }

    fn begin(&mut self) {
        self.heads.begin();
        self.transcripts.begin();
        self.children.begin();
        self.labels.begin();
        self.tasks.begin();
        self.rosters.begin();
    }

    /// Drops what no session in sight needs; `spare` beginnings of old transcripts may stay.
    fn end(&mut self, spare: usize) {
        self.heads.end(spare);
        self.transcripts.end(0);
        self.children.end(0);
        self.labels.end(0);
        self.tasks.end(0);
        self.rosters.end(0);
    }
}

/// The surveyed transcripts, told apart.
struct Sorted {
    /// The newest transcript of each session key.
    sessions: HashMap<String, Session>,
    /// Teammates inside the window by the key of the session they work for, in order of path.
    mates: HashMap<String, Vec<Mate>>,
    /// Keys of transcripts that are no sessions.
    others: HashSet<String>,
}

/// A session's transcript and its beginning.
struct Session {
    top: Top,
    head: Head,
    /// Why the beginning could not be read now.
    why: Option<String>,
}

impl Sorted {
    fn new(survey: &Survey<'_>, readers: &mut Readers, pass: &Pass<'_>, found: &mut Collected) -> Sorted {
        let mut sorted = Sorted { sessions: HashMap::new(), mates: HashMap::new(), others: HashSet::new() };
        for top in &survey.tops {
            sorted.take(top, readers, pass, found);
        }
        let parents = sorted.mates.keys().filter(|key| !sorted.sessions.contains_key(*key)).cloned();
        let parents: Vec<String> = parents.collect();
        for top in &survey.older(&parents.iter().map(String::as_str).collect(), pass) {
            sorted.take(top, readers, pass, found);
        }
        sorted
    }

    fn take(&mut self, top: &Top, readers: &mut Readers, pass: &Pass<'_>, found: &mut Collected) {
        let windowed = pass.in_window(top.stamp.mtime());
        let Some((head, why)) = beginning(top, windowed, &mut readers.heads, pass.now) else { return };
        if let Some(why) = &why {
            found.store_errors.push((top.path.display().to_string(), why.clone()));
        }
        if head.bookkeeping {
            self.others.insert(top.key.clone());
        } else if let Some(parent) = &head.parent {
            self.others.insert(top.key.clone());
            if windowed {
                let mates = self.mates.entry(parent.to_string()).or_default();
                mates.push(Mate { top: top.clone(), head });
            }
        } else {
            let newer = |s: &Session| top.stamp.mtime_ns > s.top.stamp.mtime_ns;
            if self.sessions.get(&top.key).is_none_or(newer) {
                self.sessions.insert(top.key.clone(), Session { top: top.clone(), head, why });
            }
        }
    }

    /// Every session key there may be a row for, in order.
    fn keys(&self, survey: &Survey<'_>, pass: &Pass<'_>) -> BTreeSet<String> {
        let mut keys: BTreeSet<String> = self.sessions.keys().cloned().collect();
        let is_free = |key: &&str| !self.others.contains(*key);
        let tasked = |key: &&str| pass.all || survey.tasked.contains(*key) || self.mates.contains_key(*key);
        keys.extend(survey.task_keys().filter(tasked).filter(is_free).map(str::to_owned));
        // A folder of subagents without its session's transcript is shown while one of them runs (FIELD-020).
        let runs = |g: &survey::Group| g.agents.first().is_some_and(|a| family::is_running(a.stamp, pass.now));
        let orphans = survey.groups.iter().filter(|(_, group)| runs(group)).map(|(stem, _)| store::key_of(stem));
        keys.extend(orphans.filter(is_free).map(str::to_owned));
        keys
    }
}

/// The beginning of a transcript, and why it could not be read; `None` when the file is gone.
fn beginning(top: &Top, windowed: bool, heads: &mut Kept<Head>, now: f64) -> Option<(Head, Option<String>)> {
    if !windowed && heads.len() >= MAX_CACHE_ENTRIES && !heads.has(&top.path) {
        // The cache is full of others: read it for this pass alone.
        let mut head = Head::default();
        return match head.refresh(&top.path, &top.key) {
            Ok(()) => Some((head, None)),
            Err(why) if why.is_missing() => None,
            Err(why) => Some((head, Some(cache::describe(&why)))),
        };
    }
    let stamp = top.stamp;
    let read = |head: &mut Head| if head.is_current(stamp) { Ok(()) } else { head.refresh(&top.path, &top.key) };
    let (head, why) = heads.look(&top.path, stamp, now, Head::default, read).parts()?;
    Some((head.clone(), why.map(str::to_owned)))
}

/// The groups of subagents that belong to a session without a transcript.
fn stray_groups<'s>(groups: &'s BTreeMap<String, survey::Group>, key: &str) -> impl Iterator<Item = &'s survey::Group> {
    groups.iter().filter(move |(stem, _)| store::key_of(stem) == key).map(|(_, group)| group)
}
