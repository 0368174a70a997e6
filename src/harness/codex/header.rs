//! Line 1 of a rollout: whose it is and where it ran (CODEX-011..016).

use super::record::Envelope;
use crate::config::{FIRST_LINE_JSON_CAP_BYTES, SUBAGENT_NAME_CAP_CHARS};
use crate::harness::line::{self, Field};
use crate::surface::read::{ReadError, Reader};
use crate::text::{json, safe, safe_text};
use serde::Deserialize;
use std::path::Path;

/// Version of the newest store sample (`fixtures/codex`).
pub const NEWEST_SAMPLE: [u32; 3] = [0, 154, 0];
/// Longest id, bytes; a longer one counts as absent.
const ID_BYTES: usize = 200;
/// Longest path that is kept, bytes.
const PATH_BYTES: usize = 4096;
/// Characters of an id at the end of a file's stem.
const STEM_ID_CHARS: usize = 36;
/// Bytes read at first for a line 1; it is read on only when that was not enough.
const FIRST_READ: usize = 16 * 1024;

/// What line 1 says, with what the file's name says in its stead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Id of the row: the session's, else the end of the file's stem (CODEX-012).
    pub session: String,
    /// Id of the thread: a child's own, while its session is its root's (CODEX-013).
    pub thread: String,
    pub cwd: Option<String>,
    /// A child, or a thread that Codex runs for itself: never a row.
    pub is_child: bool,
    pub parent: Option<String>,
    /// Cleaned.
    pub label: Option<String>,
    pub agent_path: Option<String>,
    /// The version of Codex that began it, when it says one of three numbers.
    pub version: Option<[u32; 3]>,
    /// False: line 1 told nothing, the stem stands in.
    pub known: bool,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    cwd: Field<'a>,
    #[serde(borrow)]
    thread_source: Field<'a>,
    #[serde(borrow)]
    source: Field<'a>,
    #[serde(borrow)]
    parent_thread_id: Field<'a>,
    #[serde(borrow)]
    agent_nickname: Field<'a>,
    #[serde(borrow)]
    agent_role: Field<'a>,
    #[serde(borrow)]
    agent_type: Field<'a>,
    #[serde(borrow)]
    agent_path: Field<'a>,
    #[serde(borrow)]
    cli_version: Field<'a>,
}

#[derive(Deserialize)]
struct Source<'a> {
    #[serde(borrow)]
    subagent: Field<'a>,
    #[serde(borrow)]
    internal: Field<'a>,
}

#[derive(Deserialize)]
struct Subagent<'a> {
    #[serde(borrow)]
    thread_spawn: Field<'a>,
}

#[derive(Deserialize)]
struct Spawn<'a> {
    #[serde(borrow)]
    parent_thread_id: Field<'a>,
}

/// Origins of threads that no person talks to. An unnamed origin is a product's surface, and its thread the person's.
const OWN_THREADS: [&str; 3] = ["subagent", "guardian_review", "memory_consolidation"];

impl Meta {
    /// What the name of a rollout says.
    pub fn of_name(path: &Path) -> Meta {
        let name = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
        let stem = name.strip_suffix(".zst").unwrap_or(&name);
        let stem = stem.strip_suffix(".jsonl").unwrap_or(stem);
        let skip = stem.chars().count().saturating_sub(STEM_ID_CHARS);
        let id: String = safe::clean(stem).chars().skip(skip).collect();
        Meta {
            session: id.clone(),
            thread: id,
            cwd: None,
            is_child: false,
            parent: None,
            label: None,
            agent_path: None,
            version: None,
            known: false,
        }
    }

    /// What a line 1 says; `None` when it is no `session_meta` record.
    pub fn read(line: &[u8], path: &Path) -> Option<Meta> {
        let text = json::record(line)?;
        let record: Envelope = serde_json::from_str(&text).ok()?;
        if line::text(record.kind).as_deref() != Some("session_meta") {
            return None;
        }
        let mut meta = Meta::of_name(path);
        let Some(payload) = line::object::<Payload>(record.payload) else { return Some(meta) };
        let (session, thread) = (id(payload.session_id), id(payload.id));
        meta.known = session.is_some() || thread.is_some();
        if let Some(session) = session.clone().or_else(|| thread.clone()) {
            meta.session = session;
        }
        if let Some(thread) = thread.or(session) {
            meta.thread = thread;
        }
        let source = line::object::<Source>(payload.source);
        let origin = line::text(payload.thread_source);
        // Older builds name no origin, and Codex's own reviews name no parent either (FIELD-023).
        meta.is_child = origin.is_some_and(|origin| OWN_THREADS.contains(&&*origin))
            || source.as_ref().is_some_and(|s| s.subagent.is_some() || s.internal.is_some());
        meta.parent = source.and_then(|s| spawned_by(s.subagent)).or_else(|| id(payload.parent_thread_id));
        meta.cwd = path_of(payload.cwd);
        meta.version = version(payload.cli_version);
        meta.agent_path = path_of(payload.agent_path);
        meta.label = name(payload.agent_nickname)
            .or_else(|| meta.agent_path.as_deref().and_then(basename))
            .or_else(|| name(payload.agent_role))
            .or_else(|| name(payload.agent_type));
        Some(meta)
    }

    /// The name a child is shown under (CODEX-019).
    pub fn child_name(&self) -> &str {
        self.label.as_deref().unwrap_or("subagent")
    }
}

fn id(field: Field<'_>) -> Option<String> {
    let id = line::nonempty(field)?;
    (id.len() <= ID_BYTES && safe::clean(&id) == id).then(|| id.into_owned())
}

/// A version as three numbers, what follows a hyphen left out.
fn version(field: Field<'_>) -> Option<[u32; 3]> {
    let version = line::text(field)?;
    let mut parts = version.split('-').next()?.split('.').map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}

fn path_of(field: Field<'_>) -> Option<String> {
    line::nonempty(field).filter(|path| path.len() <= PATH_BYTES).map(std::borrow::Cow::into_owned)
}

fn name(field: Field<'_>) -> Option<String> {
    label(&line::nonempty(field)?)
}

fn basename(path: &str) -> Option<String> {
    let separates = |c| c == '/' || (cfg!(windows) && c == '\\');
    label(path.trim_end_matches(separates).rsplit(separates).next()?)
}

fn label(text: &str) -> Option<String> {
    let label = safe_text(text, SUBAGENT_NAME_CAP_CHARS);
    (!label.trim().is_empty()).then(|| label.into_owned())
}

fn spawned_by(subagent: Field<'_>) -> Option<String> {
    let subagent: Subagent = line::object(subagent)?;
    let spawn: Spawn = line::object(subagent.thread_spawn)?;
    id(spawn.parent_thread_id)
}

/// The first line of a rollout.
pub enum First {
    Whole(Vec<u8>),
    /// The file ends before the line does: its writer is perhaps not done with it.
    Begun(Vec<u8>),
    /// Cut by the cap.
    TooLong,
    /// Inside a compressed file.
    Packed,
}

/// Reads it, at most [`FIRST_LINE_JSON_CAP_BYTES`] of it.
pub fn first_line(path: &Path) -> Result<First, ReadError> {
    let mut reader = Reader::open(path)?;
    let mut held = Vec::new();
    for want in [FIRST_READ, FIRST_LINE_JSON_CAP_BYTES] {
        let from = held.len();
        held.resize(want, 0);
        let got = reader.read_at(from as u64, held.get_mut(from..).unwrap_or_default())?;
        held.truncate(from + got);
        if let Some(end) = held.get(from..).and_then(|fresh| memchr::memchr(b'\n', fresh)) {
            held.truncate(from + end);
            return Ok(First::Whole(held));
        }
        if from + got < want {
            return Ok(First::Begun(held));
        }
    }
    Ok(First::TooLong)
}
