//! What the board observed: state transitions of sessions, `cargento-history.json` (file 52, section 2).
//!
//! A record holds only what the row publishes, out of a fixed list of members: never a tool's input, a path, a file's
//! content, or a prompt-derived text that is not on the allowlist. Age evicts first, then size. A file that cannot be
//! read is discarded, the reason is published, and the next transition overwrites it.

use super::document::{document, render};
use super::store::{Applied, Format, OnBroken, Store, Tell, TooLarge, remove};
use crate::surface::write::Place;
use crate::text::safe::clean;
use crate::text::safe_text;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Schema version written.
pub const SCHEMA: u32 = 2;
/// Versions read.
const READABLE: [u64; 4] = [1, 2, 3, 4];
/// Longest string of a record, characters.
const TEXT_CAP: usize = 256;
/// Longest wait for other writers. A collection waits with it, and what is not written now is written later.
const WAIT: Duration = Duration::from_millis(500);
/// A record that could not be written is tried again this often when nothing new comes.
const RETRY: Duration = Duration::from_secs(5);

/// Prompt-derived members admitted to a record (HIST-004); the security document has a line for each.
pub const ALLOWED: [&str; 2] = ["annotation_goal", "annotation_output"];
/// Every member of a record.
pub const MEMBERS: [&str; 8] = [
    "harness",
    "sid",
    "project",
    "state",
    "last_activity",
    "annotation_goal",
    "annotation_output",
    "annotation_revision",
];
/// Carriers of prompt-derived text that stay out (HIST-003, HIST-061): the nine of RED-023 and their kin.
pub const BANNED: [&str; 17] = [
    "title",
    "last_prompt",
    "state_detail",
    "project_key",
    "project_name",
    "tasks",
    "subject",
    "activeForm",
    "subagents",
    "name",
    "parent",
    "instruction",
    "goal",
    "spacedock",
    "annotation_goal_why",
    "annotation_output_why",
    "annotation_lines_why",
];

/// One observed transition.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    pub harness: String,
    pub sid: String,
    /// Two-segment label, never a path.
    pub project: String,
    pub state: String,
    /// The row's own stamp, seconds since the epoch.
    pub last_activity: f64,
    pub annotation_goal: String,
    pub annotation_output: String,
    pub annotation_revision: Option<u64>,
}

impl Record {
    /// The record bounded as it is stored; `None` when it names no session or has no time (HIST-010).
    pub fn bounded(mut self) -> Option<Record> {
        if !self.last_activity.is_finite() || self.last_activity <= 0.0 {
            return None;
        }
        for text in [&mut self.harness, &mut self.sid, &mut self.state] {
            *text = plain(text);
            if text.trim().is_empty() {
                return None;
            }
        }
        self.project = two_segments(&plain(&self.project));
        self.annotation_goal = words(&self.annotation_goal);
        self.annotation_output = words(&self.annotation_output);
        Some(self)
    }

    fn key(&self) -> (String, String) {
        (self.harness.clone(), self.sid.clone())
    }

    /// Whether the other says the same of the session; a later activity alone is no transition.
    fn says(&self, other: &Record) -> bool {
        self.state == other.state
            && self.annotation_goal == other.annotation_goal
            && self.annotation_output == other.annotation_output
            && self.annotation_revision == other.annotation_revision
    }
}

fn plain(text: &str) -> String {
    clean(text).chars().take(TEXT_CAP).collect()
}

/// Redacted before it is bounded; a marker at the bound is kept whole within it.
fn words(text: &str) -> String {
    let text = safe_text(text, TEXT_CAP);
    if text.chars().count() <= TEXT_CAP { text.into_owned() } else { safe_text(&text, TEXT_CAP - 20).into_owned() }
}

/// The last two segments of a label.
fn two_segments(label: &str) -> String {
    let segments: Vec<&str> = label.split('/').filter(|part| !part.is_empty()).collect();
    segments.get(segments.len().saturating_sub(2)..).unwrap_or_default().join("/")
}

/// The kept records.
#[derive(Clone, Default)]
pub struct Records {
    /// Ascending by activity.
    list: Vec<Record>,
    /// The last thing recorded of each session.
    latest: HashMap<(String, String), Record>,
    written: OnceLock<Arc<RawValue>>,
}

impl Records {
    fn of(mut list: Vec<Record>) -> Self {
        list.sort_by(|a, b| a.last_activity.total_cmp(&b.last_activity));
        let latest = list.iter().map(|record| (record.key(), record.clone())).collect();
        Self { list, latest, written: OnceLock::new() }
    }

    /// The records, ascending by activity.
    pub fn list(&self) -> &[Record] {
        &self.list
    }

    /// The list as JSON, written once for all who publish it (HIST-040).
    pub fn json(&self) -> Arc<RawValue> {
        let make = || serde_json::value::to_raw_value(&self.list).unwrap_or_else(|_| RawValue::NULL.to_owned());
        self.written.get_or_init(|| Arc::from(make())).clone()
    }

    /// Whether the record is a transition of its session.
    fn is_news(&self, record: &Record) -> bool {
        let Some(latest) = self.latest.get(&record.key()) else { return true };
        // An older stamp than the newest record's is news once, or two boards would record it in turns for ever.
        let repeats = record.last_activity < latest.last_activity && self.list.contains(record);
        !latest.says(record) && !repeats
    }

    fn has_expired(&self, oldest: f64) -> bool {
        self.list.first().is_some_and(|record| record.last_activity < oldest)
    }

    fn add(&mut self, records: &[Record]) {
        for record in records {
            self.latest.insert(record.key(), record.clone());
        }
        self.list.extend_from_slice(records);
        self.list.sort_by(|a, b| a.last_activity.total_cmp(&b.last_activity));
        self.written = OnceLock::new();
    }

    fn drop_first(&mut self, count: usize) {
        if count > 0 {
            self.list.drain(..count.min(self.list.len()));
            let kept: HashSet<_> = self.list.iter().map(Record::key).collect();
            self.latest.retain(|key, _| kept.contains(key));
            self.written = OnceLock::new();
        }
    }
}

/// The store of transitions.
pub struct History {
    store: Store<Transitions>,
    format: Transitions,
    /// Retention, seconds.
    retention: f64,
    tried: Mutex<Option<Instant>>,
}

impl History {
    /// The store of a home; nothing is read yet. `retention` is in seconds, `max_bytes` bounds file and read.
    pub fn new(place: Place, tell: Tell, retention: f64, max_bytes: u64) -> Self {
        let cap = usize::try_from(max_bytes).unwrap_or(usize::MAX - 1);
        let format = Transitions { cap };
        Self { store: Store::new(format, place, tell, WAIT), format, retention, tried: Mutex::new(None) }
    }

    /// Records what changed since the newest record of each session, and drops what is past retention. Where nothing
    /// changed and nothing expired the file is not touched (HIST-010 to HIST-012). `now` is seconds since the epoch.
    pub fn record(&self, rows: &[Record], now: f64) {
        let oldest = now - self.retention;
        let decide = |known: &Records| {
            let news: Vec<Record> =
                rows.iter().filter(|row| row.last_activity >= oldest && known.is_news(row)).cloned().collect();
            let change = Change { news, oldest };
            (self.format.matters(known, &change).then_some(change), ())
        };
        self.store.refresh();
        let needed = decide(&self.store.value()).0.is_some();
        if needed || (self.store.owes() && self.may_retry()) {
            self.store.update(decide);
        }
    }

    /// The records as known.
    pub fn records(&self) -> Arc<Records> {
        self.store.value()
    }

    /// Why what was stored was discarded in this run, if it was: `unreadable` or `version` (HIST-035).
    pub fn reset(&self) -> Option<&'static str> {
        self.store.reset()
    }

    fn may_retry(&self) -> bool {
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        let due = tried.is_none_or(|at| at.elapsed() >= RETRY);
        if due {
            *tried = Some(Instant::now());
        }
        due
    }
}

/// Deletes the store; `false` when there was none (HIST-052).
pub fn forget(place: &Place) -> io::Result<bool> {
    remove::<Transitions>(place)
}

/// The file's format.
#[derive(Clone, Copy)]
struct Transitions {
    cap: usize,
}

impl Transitions {
    /// Whether a change leaves other records than before. One whose records would all be evicted at once does not, and
    /// is not written over and over.
    fn matters(self, known: &Records, change: &Change) -> bool {
        if change.news.is_empty() {
            return known.has_expired(change.oldest);
        }
        let mut next = known.clone();
        self.apply(&mut next, change);
        self.render(&mut next, Some(change)).is_ok() && next.list != known.list
    }
}

#[derive(Clone)]
struct Change {
    news: Vec<Record>,
    /// What is older goes, seconds since the epoch.
    oldest: f64,
}

impl Format for Transitions {
    type Value = Records;
    type Change = Change;
    const FILE: &'static str = "cargento-history.json";
    const NAME: &'static str = "history";
    const ON_BROKEN: OnBroken = OnBroken::Discard;
    const FORGETS: bool = true;
    const LASTS: bool = false;

    fn cap(&self) -> usize {
        self.cap
    }

    fn parse(&self, bytes: &[u8]) -> Result<Records, &'static str> {
        let read = document(bytes).ok_or("unreadable")?;
        // Every number must be one a double holds, in members nobody reads as well (HIST-031).
        let whole: Value = serde_json::from_slice(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes))
            .or_else(|_| serde_json::from_str(&crate::text::json::lenient(bytes)))
            .map_err(|_| "unreadable")?;
        let version = read.v.and_then(|v| serde_json::from_str::<Value>(v.get()).ok()?.as_u64());
        if !version.is_some_and(|v| READABLE.contains(&v)) {
            return Err("version");
        }
        let entries = whole.get("entries").and_then(Value::as_array).ok_or("unreadable")?;
        Ok(Records::of(entries.iter().filter_map(|entry| record(entry.as_object()?)).collect()))
    }

    fn apply(&self, records: &mut Records, change: &Change) -> Applied {
        records.add(&change.news);
        let gone = records.list.partition_point(|record| record.last_activity < change.oldest);
        records.drop_first(gone);
        if gone > 0 || !change.news.is_empty() { Applied::Changed } else { Applied::Same }
    }

    fn render(&self, records: &mut Records, _change: Option<&Change>) -> Result<Vec<u8>, TooLarge> {
        let mut written = Vec::with_capacity(records.list.len());
        for record in &records.list {
            written.push(serde_json::to_string(record).map_err(|_| TooLarge)?);
        }
        // From the newest back, as far as they fit: one pass, however much must go (HIST-021).
        let mut room = self.cap.saturating_sub(super::document::frame(SCHEMA, 0, &[]) - 1);
        let fit = written
            .iter()
            .rev()
            .take_while(|entry| match room.checked_sub(entry.len() + 1) {
                Some(left) => {
                    room = left;
                    true
                }
                None => false,
            })
            .count();
        let gone = written.len() - fit;
        records.drop_first(gone);
        Ok(render(SCHEMA, written.iter().skip(gone).map(String::as_str), &[]))
    }
}

/// A stored record, or `None` when it is malformed (HIST-032, HIST-033).
fn record(entry: &Map<String, Value>) -> Option<Record> {
    let required = |name: &str| entry.get(name)?.as_str().map(str::to_owned);
    let typed = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let output = match entry.get("annotation_output") {
        None => typed("annotation_line_1"),
        Some(_) => typed("annotation_output"),
    };
    Record {
        harness: required("harness")?,
        sid: required("sid")?,
        project: required("project")?,
        state: required("state")?,
        last_activity: entry.get("last_activity")?.as_f64()?,
        annotation_goal: typed("annotation_goal"),
        annotation_output: output,
        annotation_revision: entry.get("annotation_revision").and_then(Value::as_u64),
    }
    .bounded()
}

#[cfg(test)]
mod tests;
