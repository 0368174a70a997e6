//! Gemini CLI: chat recordings below `~/.gemini/tmp/<project>/chats`, with those of subagents in a folder named after
//! their session.
//!
//! The store shows neither a wait nor the end of a turn; state follows recency. Old stores are read like live ones:
//! their sessions are simply outside the display window (GEM-004).

mod children;
mod conversation;
mod legacy;
mod record;
#[cfg(test)]
mod tests;

use super::about::About;
use super::follow::{Followed, is_jsonl, stem};
use super::head::{self, Head, Heads};
use super::identity::Identities;
use super::story::Story;
use super::tree::{Take, Tree};
use super::{Collected, Collector, Pass, degrades, place, probe};
use crate::config::WORKING_THRESHOLD_SEC;
use crate::model::time::{fresh, newest_plausible};
use crate::model::{Key, Observed, State};
use crate::surface::read::{self, ReadError, Stamp};
use children::Children;
use conversation::Conversation;
use record::Header;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Names below a project that are never looked at (GEM-005); credentials stand outside the store.
const NEVER: [&str; 6] =
    ["oauth_creds.json", "google_accounts.json", "settings.json", "logs.json", "checkpoints", "tool-outputs"];

/// Store key.
const STORE: &str = "gemini.tmp";
/// What the reader says of itself.
pub(super) const ABOUT: About = About::of(STORE);
/// Folder of a project's recordings.
const CHATS: &str = "chats";
/// File in which the CLI notes a project's directory.
const PROJECT_ROOT: &str = ".project_root";
/// Most read of that file, bytes.
const PROJECT_ROOT_CAP: u64 = 4096;

fn judge(parents: &[&OsStr], name: &OsStr) -> Take {
    let text = &*name.to_string_lossy();
    match parents {
        [] => Take::Enter,
        _ if NEVER.contains(&text) => Take::Skip,
        [_] if name == CHATS => Take::Enter,
        [_] if name == PROJECT_ROOT => Take::File,
        [_, chats] if *chats == CHATS && shape(text).is_some() => Take::File,
        [_, chats] if *chats == CHATS => Take::Enter,
        [_, chats, _] if *chats == CHATS && is_jsonl(text) => Take::File,
        _ => Take::Skip,
    }
}

/// The two shapes of a main session's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Append-only records.
    Lines,
    /// One document, before 0.39.
    Document,
}

fn shape(name: &str) -> Option<Shape> {
    let name = name.strip_prefix("session-")?.as_bytes();
    if name.ends_with(b".jsonl") { Some(Shape::Lines) } else { name.ends_with(b".json").then_some(Shape::Document) }
}

/// A main session's file as the tree holds it.
struct Main {
    path: PathBuf,
    stamp: Stamp,
    shape: Shape,
}

impl Main {
    fn mtime(&self) -> f64 {
        self.stamp.mtime()
    }
}

/// The reader of Gemini's store.
pub struct Gemini {
    tree: Tree,
    sessions: HashMap<PathBuf, Followed<Conversation>>,
    chats: HashMap<PathBuf, legacy::Chat>,
    heads: Heads<Header>,
    identify: Identify,
}

/// Gives rows their identity.
struct Identify {
    home: PathBuf,
    ids: Identities,
    /// The directory each project's own note names.
    roots: HashMap<PathBuf, (Stamp, Option<String>)>,
}

impl Gemini {
    /// A reader of the recordings below `root` (`…/.gemini/tmp`); `home` shortens labels.
    pub fn new(root: PathBuf, home: PathBuf) -> Gemini {
        Gemini {
            tree: Tree::new(root, judge),
            sessions: HashMap::new(),
            chats: HashMap::new(),
            heads: Heads::new(head_of),
            identify: Identify { home, ids: Identities::default(), roots: HashMap::new() },
        }
    }

    fn depth(&self, dir: &Path) -> usize {
        dir.strip_prefix(self.tree.root()).map_or(0, |rest| rest.components().count())
    }

    fn mains(&self) -> impl Iterator<Item = Main> {
        self.tree.files().filter(|(dir, ..)| self.depth(dir) == 2).filter_map(|(dir, name, file)| {
            let shape = shape(&name.to_string_lossy())?;
            Some(Main { path: dir.join(name), stamp: file.stamp, shape })
        })
    }

    /// The row of one main session, `None` when it is not asked for, gone, or a subagent's.
    fn row(&mut self, main: &Main, children: &Children, pass: &Pass<'_>) -> Option<Observed> {
        if pass.in_window(main.mtime()) {
            return self.active(main, children, pass);
        }
        // A session that is quiet itself may have a subagent at work; whose it is only the recording's id tells.
        if !pass.all && !children.stir(&main.path, pass) {
            return None;
        }
        let header = match self.heads.of(&main.path, main.stamp) {
            Ok(head) => head.get().cloned(),
            Err(why) if why.is_missing() => return None,
            Err(_) => None,
        };
        if header.is_none() && main.shape == Shape::Document {
            return None;
        }
        let header = header.unwrap_or_default();
        let newest = newest_plausible([main.mtime(), children.newest(&sid(&header, &main.path), pass.now)], pass.now);
        if pass.in_window(newest) {
            return self.active(main, children, pass);
        }
        if !pass.all || header.subagent {
            return None;
        }
        let mut row = self.identify.row(main, &header, &self.tree, pass.now);
        row.last_activity = newest;
        Some(row)
    }

    /// The row of a session inside the display window, read as far as it is new.
    fn active(&mut self, main: &Main, children: &Children, pass: &Pass<'_>) -> Option<Observed> {
        let path = &main.path;
        match main.shape {
            Shape::Lines => {
                if !self.sessions.contains_key(path) {
                    self.sessions.insert(path.clone(), Followed::new(path.clone()));
                }
                let session = self.sessions.get_mut(path)?;
                let there = session.advance(main.stamp, pass.now);
                let header = session.head().cloned().unwrap_or_default();
                if !there || header.subagent {
                    return None;
                }
                let mut row = self.identify.row(main, &header, &self.tree, pass.now);
                tell(&mut row, main, session.records().story(), children, pass.now);
                session.tell(&mut row);
                Some(row)
            }
            Shape::Document => {
                let chat = self.chats.entry(path.clone()).or_default();
                if !chat.advance(path, main.stamp, pass.now) {
                    return None;
                }
                let (header, conversation) = chat.get().filter(|(header, _)| !header.subagent)?;
                let mut row = self.identify.row(main, header, &self.tree, pass.now);
                tell(&mut row, main, conversation.story(), children, pass.now);
                degrades::of_file(path, chat.failure.is_some(), chat.in_part, 0, &mut row);
                Some(row)
            }
        }
    }
}

/// The header of a main session's file, read without the rest of it.
fn head_of(path: &Path) -> Result<Head<Header>, ReadError> {
    match path.file_name().and_then(|name| shape(&name.to_string_lossy())) {
        Some(Shape::Document) => Ok(Head::Parsed(legacy::identity(path)?)),
        _ => head::read(path, record::header),
    }
}

/// The id of a session: what its recording says, else the file's stem (GEM-007).
fn sid(header: &Header, path: &Path) -> String {
    header.id.clone().unwrap_or_else(|| stem(path))
}

/// Fills in what a conversation and its subagents tell (GEM-012, GEM-018, GEM-019).
fn tell(row: &mut Observed, main: &Main, story: &Story, children: &Children, now: f64) {
    if let Some(prompt) = story.prompt() {
        row.title = prompt.title.as_deref().map(String::from);
        row.last_prompt = prompt.text.to_string();
    }
    row.subagents = children.working(&row.sid, now);
    row.last_activity = newest_plausible([main.mtime(), children.newest(&row.sid, now)], now);
    row.started_at = story.started_at();
    row.rate_per_min = Some(story.rate_per_min(now));
    let newest = newest_plausible([story.newest(now), row.last_activity], now);
    let state = if fresh(newest, WORKING_THRESHOLD_SEC, now) { State::Working } else { State::Idle };
    story.state(row, state, false, now);
}

impl Identify {
    /// A row with its identity and nothing else (GEM-009).
    fn row(&mut self, main: &Main, header: &Header, tree: &Tree, now: f64) -> Observed {
        let mut row = Observed::new(Key::Gemini, sid(header, &main.path));
        row.evidence.transcript = Some(main.path.clone());
        let project = main.path.parent().and_then(Path::parent).unwrap_or(Path::new(""));
        let recorded = header.cwd.clone().filter(|cwd| Path::new(cwd).is_absolute());
        let cwd = recorded.or_else(|| self.noted(project, tree));
        let dir = project.file_name().map(OsStr::to_string_lossy);
        place::settle(&mut row, cwd.as_deref(), dir.as_deref(), &self.home, &mut self.ids, now);
        row
    }

    /// The directory that a project's own note names, if it is absolute.
    fn noted(&mut self, project: &Path, tree: &Tree) -> Option<String> {
        let path = project.join(PROJECT_ROOT);
        let stamp = tree.file(&path)?.stamp;
        if let Some((then, root)) = self.roots.get(&path)
            && *then == stamp
        {
            return root.clone();
        }
        let (bytes, _) = read::prefix(&path, PROJECT_ROOT_CAP).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let root = text.lines().next().map(str::trim).filter(|root| Path::new(root).is_absolute()).map(String::from);
        self.roots.insert(path, (stamp, root.clone()));
        root
    }
}

impl Collector for Gemini {
    fn key(&self) -> Key {
        Key::Gemini
    }

    fn discovered(&mut self) -> bool {
        let is_main =
            |path: &Path| path.file_name().is_some_and(|name| shape(&name.to_string_lossy()) == Some(Shape::Lines));
        let known = self.mains().any(|main| main.shape == Shape::Lines);
        let found = known
            || probe::any_file(self.tree.root(), judge, &mut |path| {
                is_main(path) && path.parent().is_some_and(|dir| dir.ends_with(CHATS))
            });
        if !found {
            // What is noticed from now on is noticed by nobody here: the next walk is a whole one.
            self.tree = Tree::new(self.tree.root().to_path_buf(), judge);
            self.sessions.clear();
            self.chats.clear();
        }
        found
    }

    fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String> {
        let mut out = Collected::default();
        let moved = self.tree.refresh(pass);
        let children = Children::of(&self.tree, pass.now);
        let mains: Vec<Main> = self
            .mains()
            .filter(|main| pass.all || pass.in_window(main.mtime()) || children.stir(&main.path, pass))
            .collect();
        // One row a session; the file written last wins, and the current shape over a document as old (GEM-008).
        let mut at: HashMap<String, (usize, f64, Shape)> = HashMap::new();
        for main in &mains {
            let Some(row) = self.row(main, &children, pass) else { continue };
            let mtime = newest_plausible([main.mtime()], pass.now);
            match at.get_mut(&row.sid) {
                Some((i, newest, shape)) => {
                    let newer = mtime > *newest
                        || (mtime == *newest && *shape == Shape::Document && main.shape == Shape::Lines);
                    if let Some(known) = out.rows.get_mut(*i).filter(|_| newer) {
                        (*newest, *shape) = (mtime, main.shape);
                        *known = row;
                    }
                }
                None => {
                    at.insert(row.sid.clone(), (out.rows.len(), mtime, main.shape));
                    out.rows.push(row);
                }
            }
        }
        let live = mains.iter().filter(|main| pass.in_window(main.mtime()) || children.stir(&main.path, pass));
        let live: HashSet<&Path> = live.map(|main| main.path.as_path()).collect();
        self.sessions.retain(|path, _| live.contains(path.as_path()));
        self.chats.retain(|path, _| live.contains(path.as_path()));
        if moved {
            self.heads.keep(|path| self.tree.file(path).is_some());
            self.identify.roots.retain(|path, _| self.tree.file(path).is_some());
        }
        self.report(&mut out);
        Ok(out)
    }
}

impl Gemini {
    /// Names what could not be read.
    fn report(&self, out: &mut Collected) {
        let lines = self.sessions.iter().filter_map(|(path, session)| Some((path, session.failure()?)));
        let documents = self.chats.iter().filter_map(|(path, chat)| Some((path, chat.failure.as_deref()?)));
        let failures = lines.chain(documents).map(|(path, why)| (path.to_string_lossy().into_owned(), why.to_owned()));
        out.store_errors.extend(failures);
        degrades::of_trees([&self.tree], STORE, out);
    }
}
