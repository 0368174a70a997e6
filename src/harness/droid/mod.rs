//! Factory Droid: append-only transcripts below two roots, `~/.factory/sessions` (0.202.0 and later) and
//! `~/.factory/projects` (older).
//!
//! Droid's store shows neither a wait nor the end of a turn, and no tokens: state follows recency alone. The settings
//! file beside a transcript holds totals and is never opened (DROID-004).

mod record;
#[cfg(test)]
mod tests;

use super::about::About;
use super::follow::{Followed, is_jsonl, stem};
use super::head::{self, Head, Heads};
use super::identity::Identities;
use super::late::Late;
use super::tree::{Take, Tree};
use super::{Collected, Collector, Pass, degrades, place, probe};
use crate::config::{TITLE_CAP_CHARS, WORKING_THRESHOLD_SEC};
use crate::model::time::{fresh, newest_plausible};
use crate::model::{Code, Degrade, Key, Observed, State};
use crate::surface::read::Stamp;
use crate::text::safe_text;
use record::{Header, Talk};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Names of Droid's that are never looked at, wherever they stand (DROID-004).
const NEVER: [&str; 7] = ["settings.json", "config.json", "mcp.json", "history.json", "logs", "droids", "hooks.json"];
/// Beginning of such names.
const NEVER_BEGINS: &str = "auth.v2.";
/// Ends of such names.
const NEVER_ENDS: [&str; 3] = [".settings.json", ".lock", ".bak"];

/// Store key of both roots.
const STORE: &str = "droid.projects";
/// What the reader says of itself.
pub(super) const ABOUT: About = About::of(STORE);

/// Exactly one directory level (DROID-002).
fn judge(parents: &[&OsStr], name: &OsStr) -> Take {
    let name = &*name.to_string_lossy();
    if NEVER.contains(&name) || name.starts_with(NEVER_BEGINS) || NEVER_ENDS.iter().any(|end| name.ends_with(end)) {
        return Take::Skip;
    }
    match parents {
        [] => Take::Enter,
        [_] if is_jsonl(name) => Take::File,
        _ => Take::Skip,
    }
}

/// The reader of Droid's store.
pub struct Droid {
    trees: Vec<Tree>,
    sessions: HashMap<PathBuf, Followed<Talk>>,
    heads: Heads<Header>,
    late: Late,
    identify: Identify,
}

/// Gives rows their identity.
struct Identify {
    home: PathBuf,
    ids: Identities,
}

impl Droid {
    /// A reader of the transcripts below `roots`, best root first; `home` shortens labels.
    pub fn new(roots: Vec<PathBuf>, home: PathBuf) -> Droid {
        Droid {
            trees: roots.into_iter().map(|root| Tree::new(root, judge)).collect(),
            sessions: HashMap::new(),
            heads: Heads::new(|path| head::read(path, record::header)),
            late: Late::new(|line| record::moment(line)?.0.at),
            identify: Identify { home, ids: Identities::default() },
        }
    }

    /// The row of one transcript, `None` when it is not asked for or gone (DROID-013).
    fn row(&mut self, path: &Path, stamp: Stamp, pass: &Pass<'_>) -> Option<Observed> {
        if pass.in_window(stamp.mtime()) || self.late.counts(path, pass) {
            if !self.sessions.contains_key(path) {
                self.sessions.insert(path.to_path_buf(), Followed::new(path.to_path_buf()));
            }
            let session = self.sessions.get_mut(path)?;
            return session.advance(stamp, pass.now).then(|| active(session, path, stamp, &mut self.identify, pass));
        }
        if !pass.all {
            return None;
        }
        let head = match self.heads.of(path, stamp) {
            Ok(head) => head,
            Err(why) if why.is_missing() => return None,
            Err(_) => Head::Unfinished,
        };
        let mut row = self.identify.row(path, head.get(), pass.now);
        row.last_activity = newest_plausible([stamp.mtime()], pass.now);
        Some(row)
    }
}

/// The row of a transcript inside the display window.
fn active(session: &Followed<Talk>, path: &Path, stamp: Stamp, identify: &mut Identify, pass: &Pass<'_>) -> Observed {
    let (now, story, head) = (pass.now, session.records().story(), session.head());
    let mut row = identify.row(path, head, now);
    if let Some(prompt) = story.prompt() {
        row.title = row.title.or_else(|| prompt.title.as_deref().map(String::from));
        row.last_prompt = prompt.text.to_string();
    }
    row.last_activity = newest_plausible([story.newest(now), stamp.mtime()], now);
    row.started_at = story.started_at();
    let working = fresh(row.last_activity, WORKING_THRESHOLD_SEC, now);
    story.state(&mut row, if working { State::Working } else { State::Idle }, false, now);
    session.tell(&mut row);
    if head.is_some_and(|head| head.is_unseen) {
        let source = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default().into_owned();
        row.degrades.push(Degrade { code: Code::VersionUnseen, source, count: None });
    }
    row
}

impl Identify {
    /// A row with what line 1 tells, and nothing else.
    fn row(&mut self, path: &Path, head: Option<&Header>, now: f64) -> Observed {
        let sid = head.and_then(|head| head.id.clone()).unwrap_or_else(|| stem(path));
        let mut row = Observed::new(Key::Droid, sid);
        // Droid's store holds no tokens of single messages (ROW-062).
        row.rate_per_min = None;
        row.evidence.transcript = Some(path.to_path_buf());
        // Line 1 names the session, so one that is not read further has its title, too.
        let title = head.and_then(|head| head.title.as_deref()).map(|title| safe_text(title, TITLE_CAP_CHARS));
        row.title = title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
        let dir = path.parent().and_then(Path::file_name).map(OsStr::to_string_lossy);
        let cwd = head.and_then(|head| head.cwd.as_deref());
        place::settle(&mut row, cwd, dir.as_deref(), &self.home, &mut self.ids, now);
        row
    }
}

impl Collector for Droid {
    fn key(&self) -> Key {
        Key::Droid
    }

    fn discovered(&mut self) -> bool {
        let known = self.trees.iter().any(|tree| tree.files().next().is_some());
        let found = known || self.trees.iter().any(|tree| probe::any_file(tree.root(), judge, &mut |_| true));
        if !found {
            // What is noticed from now on is noticed by nobody here: the next walk is a whole one.
            self.trees = self.trees.iter().map(|tree| Tree::new(tree.root().to_path_buf(), judge)).collect();
            self.sessions.clear();
        }
        found
    }

    fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String> {
        let mut out = Collected::default();
        let mut moved = false;
        for tree in &mut self.trees {
            moved |= tree.refresh(pass);
        }
        let late = &mut self.late;
        late.refresh(self.trees.iter().flat_map(Tree::files), pass);
        let files: Vec<(PathBuf, Stamp)> = self
            .trees
            .iter()
            .flat_map(Tree::files)
            .filter(|(dir, name, file)| {
                pass.all || pass.in_window(file.stamp.mtime()) || late.counts_in(dir, name, pass)
            })
            .map(|(dir, name, file)| (dir.join(name), file.stamp))
            .collect();
        let mut at: HashMap<String, usize> = HashMap::new();
        for (path, stamp) in &files {
            let Some(row) = self.row(path, *stamp, pass) else { continue };
            match at.get(&row.sid).and_then(|i| out.rows.get_mut(*i)) {
                Some(known) if row.last_activity > known.last_activity => *known = row,
                Some(_) => {}
                None => {
                    at.insert(row.sid.clone(), out.rows.len());
                    out.rows.push(row);
                }
            }
        }
        if moved || self.sessions.len() > files.len() {
            self.heads.keep(|path| self.trees.iter().any(|tree| tree.file(path).is_some()));
        }
        let is_read = |(path, stamp): &&(PathBuf, Stamp)| pass.in_window(stamp.mtime()) || self.late.counts(path, pass);
        let now: HashSet<&Path> = files.iter().filter(is_read).map(|(path, _)| path.as_path()).collect();
        self.sessions.retain(|path, _| now.contains(path.as_path()));
        self.tell(&mut out);
        Ok(out)
    }
}

impl Droid {
    /// Names what could not be read.
    fn tell(&self, out: &mut Collected) {
        for (path, session) in &self.sessions {
            if let Some(why) = session.failure() {
                out.store_errors.push((path.to_string_lossy().into_owned(), why.to_owned()));
            }
        }
        degrades::of_trees(&self.trees, STORE, out);
    }
}
