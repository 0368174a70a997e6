//! The rows of the chats of one pass: children folded onto the chat that started them, gates judged.

use super::STORE;
use super::chat::Chat;
use crate::harness::identity::Identities;
use crate::harness::sql::lineage::LEVELS;
use crate::harness::sql::rows::{self, Pill};
use crate::harness::{Pass, place};
use crate::model::{Code, Degrade, Key, Observed, State, time};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

/// One chat of this pass.
pub struct Seen<'a> {
    /// The name of its folder.
    pub sid: Cow<'a, str>,
    /// When its store was last written, seconds since the epoch; 0 = unknown.
    pub at: f64,
    pub chat: &'a Chat,
    /// Why its store could not be read this time, when it could not.
    pub stale: Option<Code>,
}

/// Makes the rows.
pub fn rows(seen: &[Seen<'_>], pass: &Pass<'_>, home: &Path, identities: &mut Identities, out: &mut Vec<Observed>) {
    let by_id: HashMap<&str, &Seen<'_>> = seen.iter().map(|s| (&*s.sid, s)).collect();
    let mut pills: HashMap<&str, Vec<Pill>> = HashMap::new();
    let mut own = Vec::new();
    for chat in seen {
        match folds_onto(chat, &by_id) {
            None => own.push(chat),
            Some(parent) => {
                let name = chat.chat.kind.clone().unwrap_or_else(|| "subagent".into());
                let pill = Pill { at: chat.at, name, model: chat.chat.model.clone() };
                pills.entry(parent).or_default().push(pill);
            }
        }
    }
    for chat in own {
        let mut row = row(chat, pills.remove(&*chat.sid).unwrap_or_default(), pass);
        if !row.active && !pass.all {
            continue;
        }
        place::settle(&mut row, chat.chat.workspace.as_deref(), None, home, identities, pass.now);
        out.push(row);
    }
}

/// The chat this one counts for: the one it names, when that is among the chats of this pass (CUR-024). Chats that name
/// each other in a circle are rows, for no row would be left to hold them.
fn folds_onto<'a>(chat: &'a Seen<'_>, by_id: &HashMap<&str, &'a Seen<'_>>) -> Option<&'a str> {
    let up = |of: &'a Seen<'_>| by_id.get(of.chat.parent.as_deref()?).copied().filter(|p| p.sid != of.sid);
    let parent = up(chat)?;
    let mut above = parent;
    for _ in 0..LEVELS {
        match up(above) {
            None => return Some(&parent.sid),
            Some(next) if next.sid == chat.sid => return None,
            Some(next) => above = next,
        }
    }
    None
}

fn row(seen: &Seen<'_>, pills: Vec<Pill>, pass: &Pass<'_>) -> Observed {
    let chat = seen.chat;
    let mut row = Observed::new(Key::Cursor, seen.sid.clone());
    row.rate_per_min = None;
    row.model.clone_from(&chat.model);
    row.own_activity = seen.at;
    row.source_gaps.clone_from(&chat.gaps);
    if chat.gaps.contains(&rows::GAP_METADATA) {
        // A payload of which nothing could be read.
        row.degrades.push(Degrade { code: Code::RecordSkipped, source: STORE.into(), count: Some(1) });
    }
    chat.faults.iter().for_each(|fault| rows::degrade(&mut row, fault.code(), STORE));
    rows::settle(&mut row, seen.at, pills, None, pass);
    if row.active {
        row.title.clone_from(&chat.name);
    }
    match seen.stale {
        None => wait(&mut row, seen, pass),
        Some(code) => {
            rows::stale(&mut row, code, STORE);
            rows::gap(&mut row, rows::GAP_BLOCK_STATE);
        }
    }
    row
}

/// Publishes a standing gate (CUR-019 to CUR-021). An abandoned chat keeps its gate for ever, so only a fresh row's
/// counts; and what stands in the store longer before its last write than a window is not what froze it.
fn wait(row: &mut Observed, seen: &Seen<'_>, pass: &Pass<'_>) {
    let Some(since) = seen.chat.gate.filter(|_| row.active) else { return };
    let since = if since > 0.0 { since } else { seen.at };
    if !time::fresh(since, pass.window, seen.at) {
        return;
    }
    row.state = State::NeedsInput;
    row.blocked_since = Some(since);
    row.state_detail = Some(format!("permission request, waiting {}", time::duration(time::age(since, pass.now))));
}
