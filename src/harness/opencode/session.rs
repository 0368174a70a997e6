//! A session of OpenCode and its row.

use crate::config::MODEL_CAP_CHARS;
use crate::harness::Pass;
use crate::harness::sql::history::History;
use crate::harness::sql::lineage::Above;
use crate::harness::sql::rows::{self, Pill};
use crate::harness::sql::sessions::Listed;
use crate::model::{Key, Observed};
use crate::text::{json, safe_name};
use serde_json::Value;
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

/// The model of a session's own column: the `id` of a JSON object, or the text when it is no JSON (OC-017).
pub fn model_of(column: &str) -> Option<String> {
    if json::too_deep(column.as_bytes()) {
        return None;
    }
    let name = match serde_json::from_str::<Value>(column) {
        Ok(Value::Object(object)) => object.get("id")?.as_str()?.to_owned(),
        Ok(Value::String(text)) => text,
        Ok(_) => return None,
        Err(_) => column.to_owned(),
    };
    safe_name(&name, MODEL_CAP_CHARS)
}

impl Listed for Session {
    fn above(&self) -> Above<'_> {
        if self.archived {
            return Above::Gone;
        }
        self.parent.as_deref().map_or(Above::Row, Above::Parent)
    }

    fn updated(&self) -> f64 {
        self.updated
    }

    fn directory(&self) -> &str {
        &self.directory
    }

    fn is_asked(&self) -> bool {
        !matches!(self.messages, Messages::Unread)
    }

    fn pill(&self) -> Pill {
        let name = self.title.clone().unwrap_or_else(|| "subagent".into());
        Pill { at: self.updated, name, model: self.model.clone() }
    }

    fn row(&self, id: &str, pills: Vec<Pill>, pass: &Pass<'_>) -> Observed {
        let mut row = Observed::new(Key::OpenCode, id);
        row.rate_per_min = None;
        row.title.clone_from(&self.title);
        row.model.clone_from(&self.model);
        let turns = self.messages.history().map(|h| h.turns());
        rows::settle(&mut row, self.updated, pills, turns, pass);
        if !row.active {
            return row;
        }
        match &self.messages {
            Messages::Unread => {}
            Messages::Failed => rows::gap(&mut row, rows::GAP_HISTORY),
            Messages::Read { history, parts } => {
                row.last_prompt.clone_from(&self.prompt);
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
}
