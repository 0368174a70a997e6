//! A session of Goose and its row.

use crate::harness::Pass;
use crate::harness::sql::history::History;
use crate::harness::sql::lineage::Above;
use crate::harness::sql::rows::{self, Pill};
use crate::harness::sql::sessions::Listed;
use crate::model::{Key, Observed, turn};
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

impl Listed for Session {
    fn above(&self) -> Above<'_> {
        match self.kind {
            Kind::Row => Above::Row,
            Kind::Hidden => Above::Gone,
            Kind::Child => self.parent.as_deref().map_or(Above::Gone, Above::Parent),
        }
    }

    fn updated(&self) -> f64 {
        self.updated
    }

    fn directory(&self) -> &str {
        &self.directory
    }

    fn is_asked(&self) -> bool {
        self.asked
    }

    fn pill(&self) -> Pill {
        let name = self.title.clone().unwrap_or_else(|| "subagent".into());
        Pill { at: self.updated, name, model: None }
    }

    fn row(&self, id: &str, pills: Vec<Pill>, pass: &Pass<'_>) -> Observed {
        let mut row = Observed::new(Key::Goose, id);
        row.title.clone_from(&self.title);
        let turns = self.history.as_ref().map(|h| h.turns());
        rows::settle(&mut row, self.updated, pills, turns, pass);
        if !row.active || !self.asked {
            return row;
        }
        match &self.history {
            Some(history) => history.prompt().unwrap_or_default().clone_into(&mut row.last_prompt),
            None => rows::gap(&mut row, rows::GAP_HISTORY),
        }
        match &self.usage {
            Some(usage) => row.rate_per_min = Some(turn::rate_per_min(usage.iter().copied(), pass.now)),
            None => rows::gap(&mut row, rows::GAP_TOKENS),
        }
        row
    }
}
