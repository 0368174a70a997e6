//! A session of Goose and its row.

use super::read::Reading;
use crate::harness::identity::Identities;
use crate::harness::sql::history::History;
use crate::harness::sql::lineage::{Above, row_above};
use crate::harness::sql::rows::{self, Pill};
use crate::harness::{Pass, place};
use crate::model::{Code, Key, Observed, turn};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

/// What kind of session it is (GOOSE-008).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Row,
    Child,
    /// Goose's own business, or archived: never shown, and neither is what hangs on it.
    Hidden,
}

/// The kind a `session_type` names, in whatever spelling.
pub fn kind_of(session_type: &str) -> Kind {
    let plain: String = session_type.chars().flat_map(char::to_lowercase).filter(char::is_ascii_alphanumeric).collect();
    match plain.as_str() {
        "subagent" => Kind::Child,
        "hidden" | "terminal" | "gateway" | "acp" => Kind::Hidden,
        _ => Kind::Row,
    }
}

/// A session as its row in the database has it, made fit to publish.
pub struct Session {
    pub id: String,
    pub kind: Kind,
    pub parent: Option<String>,
    pub directory: String,
    pub title: Option<String>,
    /// Seconds since the epoch, 0 = unknown.
    pub updated: f64,
    /// Whether messages and ledger were asked for.
    pub asked: bool,
    pub history: Option<Arc<History>>,
    /// Output tokens by time; `None` when the ledger could not be read.
    pub usage: Option<Vec<(f64, u64)>>,
}

impl Session {
    /// Whether it was written within the working window.
    pub fn is_running(&self, now: f64) -> bool {
        rows::is_running(self.updated, now)
    }
}

/// The row a session counts for.
pub fn row_of<'a>(sessions: &'a BTreeMap<String, Session>, id: &'a str) -> Option<&'a str> {
    row_above(id, |id| match sessions.get(id) {
        None => Above::Gone,
        Some(session) => match session.kind {
            Kind::Row => Above::Row,
            Kind::Hidden => Above::Gone,
            Kind::Child => session.parent.as_deref().map_or(Above::Gone, Above::Parent),
        },
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
    for child in reading.sessions.values().filter(|s| s.kind == Kind::Child && s.is_running(pass.now)) {
        let Some(row) = row_of(&reading.sessions, &child.id) else { continue };
        let name = child.title.clone().unwrap_or_else(|| "subagent".into());
        pills.entry(row).or_default().push(Pill { at: child.updated, name, model: None });
    }
    for session in reading.sessions.values().filter(|s| s.kind == Kind::Row) {
        let mut row = row(session, pills.remove(session.id.as_str()).unwrap_or_default(), pass);
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
    let mut row = Observed::new(Key::Goose, session.id.clone());
    row.title.clone_from(&session.title);
    let turns = session.history.as_ref().map(|h| h.turns());
    rows::settle(&mut row, session.updated, pills, turns, pass);
    if !row.active || !session.asked {
        return row;
    }
    match &session.history {
        Some(history) => history.prompt().unwrap_or_default().clone_into(&mut row.last_prompt),
        None => rows::gap(&mut row, rows::GAP_HISTORY),
    }
    match &session.usage {
        Some(usage) => row.rate_per_min = Some(turn::rate_per_min(usage.iter().copied(), pass.now)),
        None => rows::gap(&mut row, rows::GAP_TOKENS),
    }
    row
}
