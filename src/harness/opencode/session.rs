//! A session of OpenCode and its row.

use super::read::Reading;
use crate::config::MODEL_CAP_CHARS;
use crate::harness::Pass;
use crate::harness::identity::Identities;
use crate::harness::place;
use crate::harness::sql::history::History;
use crate::harness::sql::lineage::{Above, row_above};
use crate::harness::sql::rows::{self, Pill};
use crate::model::{Code, Key, Observed};
use crate::text::safe_name;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

/// What is known of a session's messages.
pub enum Messages {
    /// Not asked for.
    Unread,
    /// Asked for in vain.
    Failed,
    Read {
        history: Arc<History>,
        /// The parts of the newest prompt were read.
        parts: bool,
    },
}

impl Messages {
    /// The folded messages, when they were read.
    pub fn history(&self) -> Option<&Arc<History>> {
        match self {
            Messages::Read { history, .. } => Some(history),
            _ => None,
        }
    }
}

/// A session as its row in the database has it, made fit to publish.
pub struct Session {
    pub id: String,
    /// The session it was started by; a child is never a row (OC-013).
    pub parent: Option<String>,
    pub directory: String,
    /// A row's title, or a child's name.
    pub title: Option<String>,
    /// Seconds since the epoch, 0 = unknown.
    pub updated: f64,
    pub archived: bool,
    /// Its own, never its parent's.
    pub model: Option<String>,
    pub messages: Messages,
    /// The newest prompt.
    pub prompt: String,
}

impl Session {
    /// Whether it was written within the working window.
    pub fn is_running(&self, now: f64) -> bool {
        rows::is_running(self.updated, now)
    }
}

/// The model of a session's own column: the `id` of a JSON object, or the text when it is no JSON (OC-017).
pub fn model_of(column: &str) -> Option<String> {
    let name = match serde_json::from_str::<Value>(column) {
        Ok(Value::Object(object)) => object.get("id")?.as_str()?.to_owned(),
        Ok(Value::String(text)) => text,
        Ok(_) => return None,
        Err(_) => column.to_owned(),
    };
    safe_name(&name, MODEL_CAP_CHARS)
}

/// The row a session counts for.
pub fn row_of<'a>(sessions: &'a BTreeMap<String, Session>, id: &'a str) -> Option<&'a str> {
    row_above(id, |id| match sessions.get(id) {
        None => Above::Gone,
        Some(session) if session.archived => Above::Gone,
        Some(session) => session.parent.as_deref().map_or(Above::Row, Above::Parent),
    })
}

/// The rows of a reading. `stale` names why the store could not be read this time, when it could not.
pub fn rows(
    reading: &Reading,
    stale: Option<(Code, &str)>,
    pass: &Pass<'_>,
    home: &Path,
    identities: &mut Identities,
    out: &mut Vec<Observed>,
) {
    let mut pills: HashMap<&str, Vec<Pill>> = HashMap::new();
    for child in reading.sessions.values().filter(|s| s.parent.is_some() && s.is_running(pass.now)) {
        let Some(row) = row_of(&reading.sessions, &child.id) else { continue };
        let name = child.title.clone().unwrap_or_else(|| "subagent".into());
        pills.entry(row).or_default().push(Pill { at: child.updated, name, model: child.model.clone() });
    }
    for session in reading.sessions.values().filter(|s| s.parent.is_none() && !s.archived) {
        let pills = pills.remove(session.id.as_str()).unwrap_or_default();
        let mut row = row(session, pills, pass);
        if !row.active && !pass.all {
            continue;
        }
        if let Some((code, source)) = stale {
            rows::stale(&mut row, code, source);
        }
        place::settle(&mut row, Some(&session.directory), None, home, identities, pass.now);
        out.push(row);
    }
}

fn row(session: &Session, pills: Vec<Pill>, pass: &Pass<'_>) -> Observed {
    let mut row = Observed::new(Key::OpenCode, session.id.clone());
    row.rate_per_min = None;
    row.title.clone_from(&session.title);
    row.model.clone_from(&session.model);
    let turns = session.messages.history().map(|h| h.turns());
    rows::settle(&mut row, session.updated, pills, turns, pass);
    if !row.active {
        return row;
    }
    match &session.messages {
        Messages::Unread => {}
        Messages::Failed => rows::gap(&mut row, rows::GAP_HISTORY),
        Messages::Read { history, parts } => {
            row.last_prompt.clone_from(&session.prompt);
            if row.model.is_none() {
                row.model = history.answer().map(str::to_owned);
            }
            if history.has_unknown() || !parts {
                rows::gap(&mut row, rows::GAP_HISTORY);
            }
        }
    }
    row
}
