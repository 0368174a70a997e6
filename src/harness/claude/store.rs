//! What the Claude store holds and where: names are judged here before any path is joined, looked at or entered.
//!
//! ```text
//! projects/<encoded cwd>/<stem>.jsonl                                   a session, or a teammate of one
//! projects/<encoded cwd>/<stem>/subagents/agent-<id>.jsonl              a subagent, with agent-<id>.meta.json beside it
//! projects/<encoded cwd>/<stem>/subagents/workflows/<run>/agent-<id>.jsonl
//! tasks/<session id>/<n>.json                                           older: tasks/session-<key>/<n>.json
//! teams/session-<key>/config.json
//! ```

use crate::harness::tree::Take;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where the parts of a Claude store are, and whose home it is (CLAUDE-001).
#[derive(Clone, Debug)]
pub struct ClaudeRoots {
    pub projects: PathBuf,
    pub tasks: PathBuf,
    pub teams: PathBuf,
    /// The person's home directory, for labels; nothing is read from it.
    pub home: PathBuf,
}

/// Names that are never looked at, at any depth (CLAUDE-016). Directly below the Claude root nothing is listed at all:
/// the three folders above are opened by their own paths.
const NEVER: [&str; 1] = ["tool-results"];
/// Endings of names that are never looked at.
const NEVER_ENDINGS: [&str; 1] = [".lock"];
/// Helpers that compact a session: its own doing, no agents (FIELD-020).
const COMPACTION: &str = "agent-acompact-";

fn never(name: &str) -> bool {
    NEVER.contains(&name) || NEVER_ENDINGS.iter().any(|end| name.ends_with(end))
}

/// Judges names below `projects`.
pub fn judge_projects(parents: &[&OsStr], name: &OsStr) -> Take {
    let name = &*name.to_string_lossy();
    if never(name) {
        return Take::Skip;
    }
    let in_workflows = parents.get(3).is_some_and(|p| *p == "workflows");
    match parents.len() {
        1 if is_top_level(name) => Take::File,
        1 if name.ends_with(JSONL) || name == "memory" => Take::Skip,
        0 | 1 => Take::Enter,
        2 if name == "subagents" => Take::Enter,
        3 if name == "workflows" => Take::Enter,
        4 if in_workflows => Take::Enter,
        3 | 5 if is_agent_file(name) => Take::File,
        _ => Take::Skip,
    }
}

/// Judges names below `tasks`.
pub fn judge_tasks(parents: &[&OsStr], name: &OsStr) -> Take {
    let name = &*name.to_string_lossy();
    match parents.len() {
        _ if never(name) => Take::Skip,
        0 => Take::Enter,
        1 if name.ends_with(TASK) && !name.starts_with('.') => Take::File,
        _ => Take::Skip,
    }
}

/// Judges names below `teams`.
pub fn judge_teams(parents: &[&OsStr], name: &OsStr) -> Take {
    match parents.len() {
        _ if never(&name.to_string_lossy()) => Take::Skip,
        0 => Take::Enter,
        1 if name == "config.json" => Take::File,
        _ => Take::Skip,
    }
}

const JSONL: &str = ".jsonl";
const TASK: &str = ".json";
const META: &str = ".meta.json";

/// Whether a file name below a project folder can be a session's or a teammate's transcript (CLAUDE-003).
pub fn is_top_level(name: &str) -> bool {
    name.ends_with(JSONL) && !name.starts_with("agent-") && !name.contains("-agent-")
}

fn is_agent_file(name: &str) -> bool {
    name.starts_with("agent-") && !name.starts_with(COMPACTION) && (name.ends_with(JSONL) || name.ends_with(META))
}

/// The id of a subagent's transcript by its name; `None` for any other file.
pub fn agent_id(name: &str) -> Option<&str> {
    name.strip_prefix("agent-")?.strip_suffix(JSONL)
}

/// The sidecar beside a subagent's transcript.
pub fn sidecar(transcript: &Path) -> PathBuf {
    transcript.with_extension(META.trim_start_matches('.'))
}

/// What a directory below `projects` is, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'p> {
    /// A project folder, by its encoded name.
    Project(&'p OsStr),
    /// A folder of subagents' transcripts of the session with this stem.
    Agents {
        project: &'p OsStr,
        stem: &'p OsStr,
    },
    Other,
}

/// What `dir` below `root` is.
pub fn place<'p>(root: &Path, dir: &'p Path) -> Place<'p> {
    let Ok(rest) = dir.strip_prefix(root) else { return Place::Other };
    let names: Vec<&OsStr> = rest.iter().take(6).collect();
    match names.as_slice() {
        [project] => Place::Project(project),
        [project, stem, agents] | [project, stem, agents, _, _] if *agents == "subagents" => {
            Place::Agents { project, stem }
        }
        _ => Place::Other,
    }
}

/// The first eight characters of a name: what a session is keyed by (CLAUDE-004).
pub fn key_of(name: &str) -> &str {
    name.char_indices().nth(KEY_CHARS).and_then(|(at, _)| name.get(..at)).unwrap_or(name)
}

const KEY_CHARS: usize = 8;

/// The session key of a folder below `tasks` or `teams`; `None` when nothing is left of the name (CLAUDE-070, CLAUDE-080).
pub fn folder_key(name: &str) -> Option<&str> {
    let key = key_of(name.strip_prefix(TEAM_PREFIX).unwrap_or(name));
    (!key.is_empty()).then_some(key)
}

/// What a team's name starts with, before the key of the session that leads it.
pub const TEAM_PREFIX: &str = "session-";

/// The stem of a transcript's file name.
pub fn stem(name: &str) -> &str {
    name.strip_suffix(JSONL).unwrap_or(name)
}
