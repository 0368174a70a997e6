//! What the reader typed: on its row, at the top of the board, and in the Intent log (file 60, sections 3 to 5).
//!
//! Off with `--no-annotations`: then neither this lane nor its routes are there and the files are not opened. The lane
//! judges no words; it adopts no prompt but one that the board itself shows.

mod request;

pub use request::annotate;

use crate::board::{Annotation, Lane, Line, Row, Sampled, Top, Variant};
use crate::config::ANNOTATION_TEXT_CAP_CHARS;
use crate::http::app::{Call, Handler};
use crate::http::reply::Reply;
use crate::keep::annotations::{self, Annotations, EntryKey, Observed, Published, Slot, Source, entry_key, say};
use crate::keep::departures::{self, Departures, Kept};
use crate::model::time::Clock;
use crate::model::{InstructionLabel, Key};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sessions whose prompts are remembered from one collection to the next (TRUST-063).
const KNOWN_MAX: usize = 8192;
/// What was observed this recently is used without another collection, seconds.
const FRESH_SEC: f64 = 2.5;

/// The lane over the two stores that hold or quote typed words.
pub struct Typed {
    words: Arc<Annotations>,
    departures: Arc<Departures>,
    known: Mutex<Known>,
}

/// What the newest collections told about prompts.
#[derive(Default)]
struct Known {
    sessions: HashMap<EntryKey, Observed>,
    /// When the default variant was collected, seconds since the epoch.
    at: Option<f64>,
}

impl Typed {
    /// The lane over its stores.
    pub fn new(words: Arc<Annotations>, departures: Arc<Departures>) -> Self {
        Self { words, departures, known: Mutex::default() }
    }

    /// The store of words.
    pub fn words(&self) -> &Arc<Annotations> {
        &self.words
    }

    /// The store of unasked checks.
    pub fn departures(&self) -> &Arc<Departures> {
        &self.departures
    }

    /// An opaque text that differs after any change of either store (ANN-093).
    pub fn intent_revision(&self) -> String {
        let mut hash = Sha256::new();
        for mark in [self.words.mark(), self.departures.mark()] {
            hash.update((mark.len() as u64).to_be_bytes());
            hash.update(mark);
        }
        hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the last collection is too old to say when the person last wrote.
    fn is_stale(&self, now: f64) -> bool {
        self.known().at.is_none_or(|at| !(0.0..FRESH_SEC).contains(&(now - at)))
    }

    fn observed(&self, key: &EntryKey) -> Observed {
        self.known().sessions.get(key).cloned().unwrap_or_default()
    }

    fn remember(&self, rows: &[Row], variant: Variant) {
        let mut known = self.known();
        if variant.all || known.sessions.len() + rows.len() > KNOWN_MAX {
            known.sessions.clear();
        }
        for row in rows.iter().take(KNOWN_MAX) {
            if let Some(key) = entry_key(row.seen.harness.as_str(), &row.seen.sid) {
                known.sessions.insert(key, observed(row));
            }
        }
        known.at = Some(variant.now);
    }
}

/// The person's messages and the prompts that may be adopted, as the row shows them (ANN-015, ANN-080).
fn observed(row: &Row) -> Observed {
    let seen = &row.seen;
    let asked = seen.instruction.as_ref().filter(|said| said.label == InstructionLabel::Asked);
    let person = seen.instruction.as_ref().filter(|said| said.label != InstructionLabel::Agent);
    let messages = [seen.evidence.person_wrote, seen.prompt_at, seen.first_prompt_at, person.map(|said| said.at)];
    let mut candidates = Vec::new();
    if matches!(seen.harness, Key::Claude | Key::Codex)
        && let Some(at) = seen.first_prompt_at.filter(|_| !seen.first_prompt.is_empty())
    {
        candidates.push((Source::First, seen.first_prompt.clone(), at));
    }
    let latest = match seen.harness {
        Key::Claude => asked.map(|said| (said.text.clone(), said.at)),
        Key::Codex if seen.prompt_states_work => seen.title.clone().zip(seen.prompt_at),
        _ => None,
    };
    candidates.extend(latest.map(|(text, at)| (Source::Latest, text, at)));
    Observed { messages: messages.into_iter().flatten().filter(|at| *at > 0.0).collect(), candidates }
}

impl Lane for Typed {
    fn name(&self) -> &'static str {
        "annotate"
    }

    fn sample(&self, _now: f64) -> Sampled {
        self.words.refresh();
        self.departures.refresh();
        None
    }

    fn decorate(&self, rows: &mut [Row], variant: Variant) {
        self.remember(rows, variant);
        let (slots, checks, untrusted) = (self.words.slots(), self.departures.checks(), self.words.is_untrusted());
        let index: HashMap<(&str, &str), &Slot> =
            slots.list().iter().rev().map(|slot| ((slot.key.0.as_str(), slot.key.1.as_str()), slot.as_ref())).collect();
        for row in rows {
            let Some(key) = entry_key(row.seen.harness.as_str(), &row.seen.sid) else { continue };
            let slot = index.get(&(key.0.as_str(), key.1.as_str())).copied();
            let raised = raised(&checks, &key, slot, variant.now);
            row.annotation = shown(annotations::published(slot, &row.seen.sid, untrusted));
            (row.departures, row.departure_why, row.departure_checked) =
                (raised.departures, raised.why, raised.checked);
        }
    }

    fn publish(&self, top: &mut Top, _rows: &[Row], _variant: Variant) {
        top.annotate = true;
        let more = &mut top.more;
        more.insert("annotate_cap".into(), ANNOTATION_TEXT_CAP_CHARS.into());
        more.insert("annotate_discard".into(), say::DISCARD.iter().map(|(n, s)| (*n, Value::from(*s))).collect());
        more.insert("intent_revision".into(), self.intent_revision().into());
        if self.words.is_untrusted() {
            more.insert("annotate_notice".into(), say::NOTICE.into());
        }
        if let Some(reason) = self.departures.reset() {
            more.insert("departures_reset".into(), reason.into());
        }
    }
}

fn raised(checks: &[Kept], key: &EntryKey, slot: Option<&Slot>, now: f64) -> departures::Published {
    let entry = slot.and_then(Slot::entry);
    let newest = entry.and_then(|entry| entry.newest());
    let goal = newest.filter(|revision| !revision.goal.trim().is_empty());
    let words = departures::Words {
        discarded: entry.is_some_and(|entry| entry.revisions.is_empty()),
        goal: goal.is_some(),
        typed: goal.is_some_and(|revision| revision.adopted.is_none()),
    };
    departures::published(checks, &key.0, &key.1, words, now)
}

/// The published words as the members of a row.
fn shown(words: Published) -> Annotation {
    let mut lines: [Line; 6] = Default::default();
    for (line, stored) in lines.iter_mut().zip(words.lines) {
        *line = Line { text: stored.text, source: Some(stored.source), source_id: stored.source_id };
    }
    Annotation {
        goal: words.goal,
        goal_why: words.goal_why.into(),
        lines_why: words.lines_why.into(),
        lines,
        revision: words.revision,
        revision_count: words.revision_count,
        at: words.at,
        goal_source: words.goal_source,
        goal_source_at: words.goal_source_at,
        goal_saved_at: words.goal_saved_at,
        window_start: words.window_start,
        binding_why: words.binding_why.into(),
        settled_at: words.settled_at,
        settled_through: words.settled_through,
        settled_revision: words.settled_revision,
        discarded_at: words.discarded_at,
        discarded_why: words.discarded_why.into(),
        assessment: words.assessment,
        reading_count: words.reading_count,
        reading_withheld: words.reading_withheld,
        reading_refused: words.reading_refused,
    }
}

/// The members of a session's words without their prefix, as the two routes serve them.
fn members(words: Published) -> Map<String, Value> {
    let Ok(Value::Object(flat)) = serde_json::to_value(shown(words)) else { return Map::new() };
    flat.into_iter().map(|(name, value)| (name.trim_start_matches("annotation_").to_owned(), value)).collect()
}

/// Answers `GET /api/annotations`: every stored entry, newest written first, with what was raised against it.
pub fn annotations(lane: Arc<Typed>, clock: Clock) -> Handler {
    Arc::new(move |_: &Call| {
        lane.sample(0.0);
        let (slots, checks, untrusted) = (lane.words.slots(), lane.departures.checks(), lane.words.is_untrusted());
        let mut list: Vec<&Slot> = slots.list().iter().map(AsRef::as_ref).collect();
        list.sort_by(|a, b| b.recency().total_cmp(&a.recency()));
        let one = |slot: &Slot| {
            let raised = raised(&checks, &slot.key, Some(slot), clock());
            let mut entry = members(annotations::published(Some(slot), &slot.key.1, untrusted));
            entry.insert("harness".into(), slot.key.0.clone().into());
            entry.insert("sid".into(), slot.key.1.clone().into());
            entry.insert("departures".into(), raised.departures.into());
            entry.insert("departure_why".into(), raised.why.into());
            entry.insert("departure_checked".into(), raised.checked.into());
            Value::Object(entry)
        };
        let entries: Vec<Value> = if untrusted { Vec::new() } else { list.into_iter().map(one).collect() };
        let mut body = json!({"annotations": entries, "intent_revision": lane.intent_revision()});
        if let Some(body) = body.as_object_mut().filter(|_| untrusted) {
            body.insert("notice".into(), say::NOTICE.into());
        }
        Reply::json(200, &body)
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
