//! What a pass has to look at: out of everything the store holds, the transcripts, subagents, task folders and rosters
//! that can make a row. Decided from names and file times alone; nothing is opened here.

use super::store::{self, Place};
use crate::harness::Pass;
use crate::harness::tree::{File, Tree};
use crate::model::time::newest_plausible;
use crate::surface::read::Stamp;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A transcript directly in a project folder.
#[derive(Clone, Debug)]
pub struct Top {
    pub path: PathBuf,
    pub key: String,
    pub stamp: Stamp,
}

impl Top {
    /// The encoded name of the project folder.
    pub fn folder(&self) -> String {
        let folder = self.path.parent().and_then(Path::file_name).unwrap_or_default();
        folder.to_string_lossy().into_owned()
    }

    /// The file's name.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// A subagent's transcript in its session's folder.
#[derive(Clone, Debug)]
pub struct Agent {
    pub path: PathBuf,
    pub id: String,
    pub stamp: Stamp,
    /// The sidecar that names it, when there is one.
    pub meta: Option<Stamp>,
}

/// The subagents of the session with one stem.
#[derive(Debug, Default)]
pub struct Group {
    /// Encoded name of a project folder that holds them.
    pub folder: String,
    /// Newest believable write of any of them.
    pub newest: f64,
    /// Those inside the display window, newest first.
    pub agents: Vec<Agent>,
}

/// What a pass looks at.
pub struct Survey<'t> {
    /// Transcripts inside the window, or of a session that something else makes worth a row; in order of path.
    pub tops: Vec<Top>,
    /// Subagents by their session's stem.
    pub groups: BTreeMap<String, Group>,
    /// Task folders by session key.
    tasks: HashMap<String, Vec<&'t Path>>,
    /// Keys with a task file written inside the window.
    pub tasked: HashSet<String>,
    rosters: HashMap<String, Vec<&'t Path>>,
    projects: &'t Tree,
    task_tree: &'t Tree,
    team_tree: &'t Tree,
}

impl<'t> Survey<'t> {
    /// Surveys the three trees as they stand.
    pub fn new(projects: &'t Tree, tasks: &'t Tree, teams: &'t Tree, pass: &Pass<'_>) -> Survey<'t> {
        let groups = groups(projects, pass);
        let (task_dirs, tasked) = task_dirs(tasks, pass);
        let live = groups.iter().filter(|(_, group)| !group.agents.is_empty());
        let mut wanted: HashSet<&str> = live.map(|(stem, _)| store::key_of(stem)).collect();
        wanted.extend(tasked.iter().map(String::as_str));
        let wanted = |name: &OsStr| !wanted.is_empty() && wanted.contains(store::key_of(&name.to_string_lossy()));
        // Times first: a name costs more to look at, and there may be many thousands.
        let tops = tops(projects, |stamp, name| pass.all || pass.in_window(stamp.mtime()) || wanted(name));
        Survey {
            tops,
            projects,
            tasks: task_dirs,
            tasked,
            rosters: rosters(teams),
            task_tree: tasks,
            team_tree: teams,
            groups,
        }
    }

    /// The transcripts of these sessions that lie outside the window, so that a teammate's parent is found however
    /// long it has been quiet.
    pub fn older(&self, keys: &HashSet<&str>, pass: &Pass<'_>) -> Vec<Top> {
        if pass.all || keys.is_empty() {
            return Vec::new();
        }
        let wanted = |name: &OsStr| keys.contains(store::key_of(&name.to_string_lossy()));
        tops(self.projects, |stamp, name| !pass.in_window(stamp.mtime()) && wanted(name))
    }

    /// The task files of a session, in order of path.
    pub fn tasks(&self, key: &str) -> impl Iterator<Item = (PathBuf, File)> {
        let dirs = self.tasks.get(key).into_iter().flatten();
        dirs.flat_map(|dir| self.task_tree.files_in(dir).map(move |(name, file)| (dir.join(name), *file)))
    }

    /// Every session key that has a task folder.
    pub fn task_keys(&self) -> impl Iterator<Item = &str> {
        self.tasks.keys().map(String::as_str)
    }

    /// The registries of the team a session leads.
    pub fn rosters(&self, key: &str) -> impl Iterator<Item = (PathBuf, File)> {
        let dirs = self.rosters.get(key).into_iter().flatten();
        dirs.flat_map(|dir| self.team_tree.files_in(dir).map(move |(name, file)| (dir.join(name), *file)))
    }
}

fn groups(projects: &Tree, pass: &Pass<'_>) -> BTreeMap<String, Group> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for dir in projects.dirs() {
        let Place::Agents { project, stem } = store::place(projects.root(), dir) else { continue };
        let group = groups.entry(stem.to_string_lossy().into_owned()).or_default();
        group.folder = project.to_string_lossy().into_owned();
        for (name, file) in projects.files_in(dir) {
            let name = name.to_string_lossy();
            let Some(id) = store::agent_id(&name) else { continue };
            let mtime = file.stamp.mtime();
            group.newest = newest_plausible([group.newest, mtime], pass.now);
            if pass.in_window(mtime) {
                let path = dir.join(&*name);
                let meta = projects.file(&store::sidecar(&path)).map(|f| f.stamp);
                group.agents.push(Agent { path, id: id.to_owned(), stamp: file.stamp, meta });
            }
        }
    }
    for group in groups.values_mut() {
        group.agents.sort_by_key(|a| std::cmp::Reverse(a.stamp.mtime_ns));
    }
    groups
}

fn task_dirs<'t>(tasks: &'t Tree, pass: &Pass<'_>) -> (HashMap<String, Vec<&'t Path>>, HashSet<String>) {
    let mut dirs: HashMap<String, Vec<&Path>> = HashMap::new();
    let mut tasked = HashSet::new();
    for dir in tasks.dirs() {
        let mut files = tasks.files_in(dir).peekable();
        if files.peek().is_none() {
            continue;
        }
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        let Some(key) = store::folder_key(&name) else { continue };
        dirs.entry(key.to_owned()).or_default().push(dir);
        if files.any(|(_, file)| pass.in_window(file.stamp.mtime())) {
            tasked.insert(key.to_owned());
        }
    }
    (dirs, tasked)
}

fn rosters(teams: &Tree) -> HashMap<String, Vec<&Path>> {
    let mut dirs: HashMap<String, Vec<&Path>> = HashMap::new();
    for dir in teams.dirs() {
        if teams.files_in(dir).next().is_none() {
            continue;
        }
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        if let Some(key) = store::folder_key(&name) {
            dirs.entry(key.to_owned()).or_default().push(dir);
        }
    }
    dirs
}

/// The transcripts that `wanted` picks by stamp and name, in order of path.
fn tops(projects: &Tree, wanted: impl Fn(&Stamp, &OsStr) -> bool) -> Vec<Top> {
    let mut tops = Vec::new();
    for dir in projects.dirs() {
        if !matches!(store::place(projects.root(), dir), Place::Project(_)) {
            continue;
        }
        for (name, file) in projects.files_in(dir) {
            if wanted(&file.stamp, name) {
                let key = store::key_of(&name.to_string_lossy()).to_owned();
                tops.push(Top { path: dir.join(name), key, stamp: file.stamp });
            }
        }
    }
    tops
}
