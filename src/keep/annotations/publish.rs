//! A stored entry as it is published: on the row, in the reply to a save, in the Intent log (ANN-100 to ANN-104).

use super::entry::{Assessment, Entry, LINES_MAX, Line, TYPED};
use super::say;
use super::slots::{Body, Slot};
use serde_json::Value;

/// Longest session id that is only the prefix of one, characters.
const PREFIX_MAX: usize = 8;

/// The members of a session's words; an absence says why. Times are seconds since the epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    pub goal: String,
    pub goal_why: &'static str,
    pub lines: Vec<Line>,
    pub lines_why: &'static str,
    pub revision: Option<u64>,
    pub revision_count: u64,
    pub at: Option<f64>,
    pub goal_source: Option<&'static str>,
    pub goal_source_at: Option<f64>,
    pub goal_saved_at: Option<f64>,
    pub window_start: Option<f64>,
    pub binding_why: &'static str,
    pub settled_at: Option<f64>,
    pub settled_through: Option<f64>,
    pub settled_revision: Option<u64>,
    pub discarded_at: Option<f64>,
    pub discarded_why: &'static str,
    pub assessment: Option<Value>,
    pub reading_count: u64,
    pub reading_withheld: String,
    pub reading_refused: bool,
}

/// What is published for a session; `untrusted` when the store cannot be read.
pub fn published(slot: Option<&Slot>, sid: &str, untrusted: bool) -> Published {
    let absent = |why| Published { goal_why: why, lines_why: why, ..Published::default() };
    let mut shown = match slot.map(|slot| &slot.body) {
        _ if untrusted => absent(say::NOTICE),
        None => absent(say::NONE_TYPED),
        Some(Body::Held) => absent(say::HELD),
        Some(Body::Entry(entry)) => of(entry),
    };
    if sid.chars().count() <= PREFIX_MAX {
        shown.binding_why = say::PREFIX;
    }
    shown
}

fn of(entry: &Entry) -> Published {
    let Some(newest) = entry.newest() else {
        return Published {
            goal_why: say::DISCARDED,
            lines_why: say::DISCARDED,
            discarded_at: entry.discarded.map(|(at, _)| at),
            discarded_why: say::RECORD,
            ..Published::default()
        };
    };
    // A time that was no time in the file is none here.
    let at = Some(newest.at).filter(|at| *at > 0.0);
    let wordless = newest.goal.is_empty() && newest.lines.is_empty();
    let why = |empty: bool, partly: &'static str| match (empty, wordless) {
        (false, _) => "",
        (true, true) => say::NONE_TYPED,
        (true, false) => partly,
    };
    let (assessment, reading_refused) = match &entry.assessment {
        None => (None, false),
        Some(Assessment::Read(reading)) => (Some(reading.clone()), false),
        Some(Assessment::Refused(_)) => (None, true),
    };
    Published {
        goal: newest.goal.clone(),
        goal_why: why(newest.goal.is_empty(), say::NO_GOAL),
        lines: newest.lines.iter().take(LINES_MAX).cloned().collect(),
        lines_why: why(newest.lines.is_empty(), say::NO_LINES),
        revision: Some(newest.n),
        revision_count: entry.revisions.len() as u64,
        at,
        goal_source: Some(newest.adopted.map_or(TYPED, |(source, _)| source.as_str())),
        goal_source_at: newest.adopted.map(|(_, at)| at),
        goal_saved_at: newest.goal_saved_at,
        window_start: newest.window_start.or(newest.adopted.map(|(_, at)| at)).or(at),
        binding_why: "",
        settled_at: entry.settled.map(|settled| settled.at),
        settled_through: entry.settled.map(|settled| settled.through),
        settled_revision: entry.settled.map(|settled| settled.revision),
        discarded_at: None,
        discarded_why: "",
        assessment,
        reading_count: entry.readings,
        reading_withheld: entry.withheld.clone(),
        reading_refused,
    }
}
