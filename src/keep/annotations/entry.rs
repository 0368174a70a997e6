//! The words of one session as stored: revisions, settlement, reading, or the record that all of it was discarded
//! (ANN-010 to ANN-012), and the typed, refusing reading of a foreign record (ANN-022 to ANN-027).

use super::reading;
use crate::config::{ANNOTATION_MAX_REVISIONS, ANNOTATION_TEXT_CAP_CHARS};
use crate::keep::document::{key, moment, object, text};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Longest harness key, session id and fact id, characters.
pub const KEY_CAP: usize = 64;
/// Outcome lines of a revision.
pub const LINES_MAX: usize = 6;
/// Reading jobs remembered per session.
pub const JOBS_MAX: usize = 32;
/// Longest cited fact id, characters. A fact id holds a session id and more.
const FACT_CAP: usize = 256;

/// Harness key and session id.
pub type EntryKey = (String, String);

/// Where a goal came from when it was not typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Latest,
    First,
    /// Written by a build that offers a choice of prompts; read, never made here.
    Chosen,
}

impl Source {
    /// The word in the file and on the row.
    pub const fn as_str(self) -> &'static str {
        match self {
            Source::Latest => "latest-prompt",
            Source::First => "first-prompt",
            Source::Chosen => "chosen-prompt",
        }
    }

    /// The source of a word.
    pub fn parse(text: &str) -> Option<Source> {
        [Source::Latest, Source::First, Source::Chosen].into_iter().find(|source| source.as_str() == text)
    }
}

/// One expected-outcome line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    pub text: String,
    pub source: &'static str,
    /// The recorded entry it came from; with source `entry` alone.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source_id: String,
}

/// Source of a typed line.
pub const TYPED: &str = "typed";
/// Source of a line taken over from the record.
pub const FROM_ENTRY: &str = "entry";

/// One immutable save. Times are seconds since the epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct Revision {
    pub n: u64,
    pub at: f64,
    pub goal: String,
    pub lines: Vec<Line>,
    /// The prompt the goal was adopted from, and its time.
    pub adopted: Option<(Source, f64)>,
    pub window_start: Option<f64>,
    pub goal_saved_at: Option<f64>,
    /// What another build wrote beside these.
    pub more: More,
}

/// Members this build does not know, as they stand in the file; kept, and never shown.
pub type More = Vec<(String, Arc<str>)>;

/// The reader's word that directions up to a moment change nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settled {
    pub at: f64,
    pub through: f64,
    pub revision: u64,
}

/// A stored reading.
#[derive(Clone, Debug, PartialEq)]
pub enum Assessment {
    Read(Value),
    /// One this build refuses, as it stands in the file (ANN-025).
    Refused(Arc<str>),
}

/// Everything kept for one session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    pub harness: String,
    pub sid: String,
    /// Ascending by number; empty on a discard record.
    pub revisions: Vec<Revision>,
    pub settled: Option<Settled>,
    pub assessment: Option<Assessment>,
    /// Presses that reached the model.
    pub readings: u64,
    /// Why the last press produced nothing; one of the closed sentences, or empty.
    pub withheld: String,
    pub jobs: Vec<String>,
    /// When a change last wrote it; 0 = not recorded.
    pub written: f64,
    /// When everything was discarded, and the number of the last revision then.
    pub discarded: Option<(f64, Option<u64>)>,
    /// What another build wrote beside these; a discard drops it.
    pub more: More,
}

impl Entry {
    /// The newest revision.
    pub fn newest(&self) -> Option<&Revision> {
        self.revisions.last()
    }

    /// Number of the newest revision, 0 when there is none (ANN-052).
    pub fn number(&self) -> u64 {
        self.newest().map_or(0, |revision| revision.n)
    }

    /// Number of the next revision (ANN-013, ANN-058).
    pub fn next_number(&self) -> u64 {
        let last = self.newest().map(|revision| revision.n).or(self.discarded.and_then(|(_, n)| n));
        last.unwrap_or(0).saturating_add(1)
    }

    /// When it was last written, as eviction counts it (ANN-030).
    pub fn recency(&self) -> f64 {
        let read_at = match &self.assessment {
            Some(Assessment::Read(reading)) => moment(reading.get("read_at")),
            _ => None,
        };
        let times = [
            Some(self.written),
            self.discarded.map(|(at, _)| at),
            self.newest().map(|revision| revision.at),
            self.settled.map(|settled| settled.at),
            read_at,
        ];
        times.into_iter().flatten().fold(0.0, f64::max)
    }
}

/// What a stored record turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Words, or a discard record.
    Entry(Box<Entry>),
    /// A record of this key that this build refuses: kept word for word, never evicted (ANN-022).
    Held(EntryKey),
    /// Nothing with a key; dropped alone.
    Nothing,
}

/// Reads one record of the file.
pub fn read(raw: &RawValue) -> Found {
    let Some(record) = object(raw) else {
        // Not even the numbers can be read: whatever it is, it is not ours to drop when it names a session.
        return keyed(raw).map_or(Found::Nothing, Found::Held);
    };
    let Some(key) = key(&record, KEY_CAP) else { return Found::Nothing };
    let revisions = match record.get("revisions") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => revisions(list),
        Some(_) => Err(Refused),
    };
    let Ok(mut revisions) = revisions else { return Found::Held(key) };
    let (harness, sid) = key;
    if revisions.is_empty() {
        let Some(at) = moment(record.get("discarded")) else { return Found::Nothing };
        let number = record.get("discarded_revision").and_then(Value::as_u64).filter(|n| *n > 0);
        let gone = Entry { harness, sid, discarded: Some((at, number)), ..Entry::default() };
        return Found::Entry(Box::new(gone));
    }
    let more = beyond(raw, &record, &mut revisions);
    Found::Entry(Box::new(Entry {
        more,
        harness,
        sid,
        revisions,
        settled: record.get("settled").and_then(settled),
        assessment: assessment(raw, &record),
        readings: record.get("readings").and_then(Value::as_u64).unwrap_or(0),
        withheld: withheld(&record),
        jobs: jobs(&record),
        written: moment(record.get("written")).unwrap_or(0.0),
        discarded: None,
    }))
}

const MEMBERS: [&str; 11] = [
    "harness",
    "sid",
    "revisions",
    "settled",
    "assessment",
    "readings",
    "withheld",
    "jobs",
    "written",
    "discarded",
    "discarded_revision",
];
const OF_A_REVISION: [&str; 9] =
    ["n", "at", "goal", "lines", "output", "goal_source", "goal_source_at", "goal_saved_at", "window_start"];

/// The members of a record this build does not know; those of its revisions go to the revisions. Most records have none,
/// and are not taken apart again for it.
fn beyond(raw: &RawValue, record: &Map<String, Value>, revisions: &mut [Revision]) -> More {
    let strange =
        |object: &Map<String, Value>, known: &[&str]| object.keys().any(|name| !known.contains(&name.as_str()));
    let list = record.get("revisions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let odd = |item: &Value| item.as_object().is_some_and(|item| strange(item, &OF_A_REVISION));
    let (own, theirs) = (strange(record, &MEMBERS), list.iter().any(odd));
    if !own && !theirs {
        return More::new();
    }
    let Ok(members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get()) else { return More::new() };
    let items = members.get("revisions").filter(|_| theirs);
    let items: Vec<&RawValue> = items.and_then(|list| serde_json::from_str(list.get()).ok()).unwrap_or_default();
    for (item, value) in items.into_iter().zip(list) {
        let n = value.get("n").and_then(Value::as_u64);
        let (Some(revision), Ok(members)) =
            (revisions.iter_mut().find(|revision| Some(revision.n) == n), serde_json::from_str(item.get()))
        else {
            continue;
        };
        revision.more = unknown(members, &OF_A_REVISION);
    }
    unknown(members, &MEMBERS)
}

fn unknown(members: BTreeMap<String, &RawValue>, known: &[&str]) -> More {
    let beside = members.into_iter().filter(|(name, _)| !known.contains(&name.as_str()));
    beside.map(|(name, raw)| (name, raw.get().into())).collect()
}

/// The key of a record that is no readable object otherwise.
fn keyed(raw: &RawValue) -> Option<EntryKey> {
    #[derive(serde::Deserialize)]
    struct Key<'a> {
        #[serde(borrow)]
        harness: &'a RawValue,
        #[serde(borrow)]
        sid: &'a RawValue,
    }
    let found: Key = serde_json::from_str(raw.get()).ok()?;
    let mut pair = Map::new();
    for (name, half) in [("harness", found.harness), ("sid", found.sid)] {
        pair.insert(name.into(), serde_json::from_str(half.get()).ok()?);
    }
    key(&pair, KEY_CAP)
}

/// A revision that says what this build cannot.
struct Refused;

/// The readable revisions, ascending, the newest sixteen. One without a number is dropped alone; one that says what this
/// build cannot refuses the record, since dropping it would restore older words.
fn revisions(list: &[Value]) -> Result<Vec<Revision>, Refused> {
    let mut read: Vec<Revision> = Vec::new();
    for item in list {
        let Some(item) = item.as_object() else { continue };
        let Some(n) = item.get("n").and_then(Value::as_u64).filter(|n| *n > 0) else { continue };
        read.push(revision(n, item)?);
    }
    read.sort_by_key(|revision| revision.n);
    // Should a number stand twice, the later one is the save that counts.
    read.reverse();
    read.dedup_by_key(|revision| revision.n);
    read.truncate(ANNOTATION_MAX_REVISIONS);
    read.reverse();
    Ok(read)
}

fn revision(n: u64, item: &Map<String, Value>) -> Result<Revision, Refused> {
    let at = crate::keep::document::epoch(item.get("at"));
    // Absent is fine; present it must be a moment no later than the save.
    let within = |name: &str| match item.get(name) {
        None | Some(Value::Null) => Ok(None),
        value => moment(value).filter(|time| *time <= at).map(Some).ok_or(Refused),
    };
    let adopted = match (item.get("goal_source"), within("goal_source_at")?) {
        (None | Some(Value::Null), None) => None,
        (Some(Value::String(source)), Some(time)) => Some((Source::parse(source).ok_or(Refused)?, time)),
        _ => return Err(Refused),
    };
    let goal = text(item, "goal", ANNOTATION_TEXT_CAP_CHARS);
    let lines = lines(item)?;
    let (window_start, goal_saved_at) = (within("window_start")?, within("goal_saved_at")?);
    let goal_saved_at = goal_saved_at.filter(|_| adopted.is_none() && !goal.is_empty());
    Ok(Revision { n, at, goal, lines, adopted, window_start, goal_saved_at, more: More::new() })
}

/// The lines; a version 1 revision has an `output` instead (ANN-014).
fn lines(item: &Map<String, Value>) -> Result<Vec<Line>, Refused> {
    let list = match item.get("lines") {
        None | Some(Value::Null) => {
            let text = text(item, "output", ANNOTATION_TEXT_CAP_CHARS);
            let typed = (!text.trim().is_empty()).then(|| Line { text, source: TYPED, source_id: String::new() });
            return Ok(typed.into_iter().collect());
        }
        Some(Value::Array(list)) if list.len() <= LINES_MAX => list,
        Some(_) => return Err(Refused),
    };
    list.iter().map(|line| self::line(line).ok_or(Refused)).collect()
}

fn line(line: &Value) -> Option<Line> {
    let line = line.as_object()?;
    line.get("text")?.as_str()?;
    let text = text(line, "text", ANNOTATION_TEXT_CAP_CHARS);
    match line.get("source")?.as_str()? {
        TYPED => Some(Line { text, source: TYPED, source_id: String::new() }),
        FROM_ENTRY => {
            let source_id = self::text(line, "source_id", FACT_CAP);
            (!source_id.trim().is_empty()).then_some(Line { text, source: FROM_ENTRY, source_id })
        }
        _ => None,
    }
}

fn settled(value: &Value) -> Option<Settled> {
    let value = value.as_object()?;
    Some(Settled {
        at: moment(value.get("at"))?,
        through: moment(value.get("through"))?,
        revision: value.get("revision").and_then(Value::as_u64).filter(|n| *n > 0)?,
    })
}

/// The reading, or the bytes of one that is refused whole.
fn assessment(raw: &RawValue, record: &Map<String, Value>) -> Option<Assessment> {
    let value = record.get("assessment").filter(|value| !value.is_null())?;
    if let Some(reading) = reading::read(value) {
        return Some(Assessment::Read(reading));
    }
    #[derive(serde::Deserialize)]
    struct Only<'a> {
        #[serde(borrow)]
        assessment: &'a RawValue,
    }
    let raw = serde_json::from_str::<Only>(raw.get()).map_or_else(|_| value.to_string(), |o| o.assessment.get().into());
    Some(Assessment::Refused(raw.into()))
}

fn withheld(record: &Map<String, Value>) -> String {
    let text = record.get("withheld").and_then(Value::as_str).unwrap_or_default();
    reading::WITHHELD.iter().find(|(_, sentence)| *sentence == text).map_or_else(String::new, |(_, s)| (*s).into())
}

fn jobs(record: &Map<String, Value>) -> Vec<String> {
    let plain = |id: &&str| (1..=64).contains(&id.len()) && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let list = record.get("jobs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let ids: Vec<String> = list.iter().filter_map(Value::as_str).filter(plain).map(str::to_owned).collect();
    ids.get(ids.len().saturating_sub(JOBS_MAX)..).unwrap_or_default().to_vec()
}
