//! Puts one collection together, in the order that PAYLOAD-001 fixes.

use super::harnesses::HarnessStatus;
use super::row::Row;
use super::sweep::sweep;
use crate::config::{DISPLAY_ID_LEN, RATE_WINDOW_SEC};
use crate::model::quota::Quota;
use crate::model::{Key, Observed, State};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What the readers of one pass found.
#[derive(Default)]
pub struct Source {
    /// All ten, in registry order.
    pub harnesses: Vec<HarnessStatus>,
    /// Rows in registry order, repeats included.
    pub rows: Vec<Observed>,
    /// Quota figures found on disk.
    pub quotas: Vec<Quota>,
}

/// Which variant of the board is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The collection's clock reading.
    pub now: f64,
    pub window_hours: f64,
    pub all: bool,
}

/// What a lane sampled before the stores were read, so that a change during the pass is not half seen.
pub type Sampled = Option<Box<dyn std::any::Any + Send>>;

/// A feature that has its say on the board. Every step has a default that does nothing; each is called once a
/// collection, on the scan loop's thread, and may not collect.
pub trait Lane: Send + Sync {
    /// For counters and messages when the lane fails.
    fn name(&self) -> &'static str;
    /// Before the stores are read.
    fn sample(&self, _now: f64) -> Sampled {
        None
    }
    /// Corrects states (overlays). May not add or remove rows.
    fn overlay(&self, _rows: &mut [Row], _variant: Variant, _sampled: &Sampled) {}
    /// Fills members from the lane's own store.
    fn decorate(&self, _rows: &mut [Row], _variant: Variant) {}
    /// Sees the rows as they will be shown, to raise what just began to wait.
    fn notice(&self, _rows: &[Row], _variant: Variant) {}
    /// Whether a row is left out because it was marked handled.
    fn subtracts(&self, _row: &Row) -> bool {
        false
    }
    /// Sees the final rows of a default-window collection, to record them.
    fn record(&self, _rows: &[Row], _variant: Variant) {}
    /// When time alone changes what the lane shows next, seconds since the epoch.
    fn due(&self, _now: f64) -> Option<f64> {
        None
    }
    /// Sets top-level members.
    fn publish(&self, _top: &mut Top, _rows: &[Row], _variant: Variant) {}
}

/// The top level of `/api/data` (HTTP-044).
#[derive(Clone, Debug, Serialize)]
pub struct Top {
    pub generated: f64,
    pub window_hours: f64,
    pub rate_window_sec: f64,
    pub show_all: bool,
    pub cleared: u64,
    /// Native popup backend; empty = the page alerts by itself.
    pub native_notify: String,
    pub harnesses: Vec<HarnessStatus>,
    pub summary: Summary,
    pub annotate: bool,
    pub unasked: bool,
    pub observer_model: bool,
    pub irreversible_enabled: bool,
    pub ends_observable: bool,
    pub in_quiet_hours: bool,
    pub browser_lane: bool,
    pub browser_lane_at: Option<f64>,
    pub tripwires: Value,
    /// The local history, while it is on: written once for many collections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Written>,
    /// Members that are there only while their feature is on.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A member already written as JSON, shared from collection to collection.
#[derive(Clone, Debug)]
pub struct Written(pub Arc<serde_json::value::RawValue>);

impl Serialize for Written {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

/// Sums over the rows (HTTP-046).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    pub needs_input: u64,
    pub working: u64,
    pub active_sessions: u64,
    pub rate_per_min: u64,
    pub open_tasks: u64,
    pub total_tasks: u64,
    pub total_done: u64,
    pub progress_pct: u32,
}

#[derive(Serialize)]
struct Payload<'a> {
    #[serde(flatten)]
    top: &'a Top,
    sessions: &'a [Row],
}

/// A finished collection.
pub struct Assembled {
    pub top: Top,
    pub rows: Vec<Row>,
}

impl Assembled {
    /// The reply of `GET /api/data`.
    pub fn body(&self) -> Result<Vec<u8>, String> {
        serde_json::to_vec(&Payload { top: &self.top, sessions: &self.rows })
            .map_err(|e| format!("the board could not be written as JSON: {e}"))
    }
}

/// Runs the steps of one collection over what the readers found. `fault` is told the name of a lane that panicked;
/// its part is left out and the others stand (TRUST-060).
pub fn assemble(
    source: Source,
    variant: Variant,
    lanes: &[Arc<dyn Lane>],
    sampled: &[Sampled],
    fault: &dyn Fn(&'static str),
) -> Assembled {
    let mut rows: Vec<Row> = unique(source.rows).into_iter().map(|seen| finish(seen, variant)).collect();
    let each = |step: &mut dyn FnMut(usize, &dyn Lane)| {
        for (i, lane) in lanes.iter().enumerate() {
            let run = std::panic::AssertUnwindSafe(|| step(i, lane.as_ref()));
            if std::panic::catch_unwind(run).is_err() {
                fault(lane.name());
            }
        }
    };
    each(&mut |i, lane| lane.overlay(&mut rows, variant, sampled.get(i).unwrap_or(&None)));
    each(&mut |_, lane| lane.decorate(&mut rows, variant));
    each(&mut |_, lane| lane.notice(&rows, variant));
    let before = rows.len();
    each(&mut |_, lane| rows.retain(|row| !lane.subtracts(row)));
    let cleared = (before - rows.len()) as u64;
    widen(&mut rows);
    rows.sort_by(order);
    let usage = super::quota::usage(&source.harnesses, &source.quotas, variant.now);
    let mut top = Top {
        generated: variant.now,
        window_hours: variant.window_hours,
        rate_window_sec: RATE_WINDOW_SEC,
        show_all: variant.all,
        cleared,
        native_notify: String::new(),
        harnesses: source.harnesses,
        summary: summary(&rows),
        annotate: false,
        unasked: false,
        observer_model: false,
        irreversible_enabled: false,
        ends_observable: false,
        in_quiet_hours: false,
        browser_lane: false,
        browser_lane_at: None,
        tripwires: serde_json::json!({"enabled": false, "error": "", "sources": [], "rules": []}),
        history: None,
        more: usage.map(|list| ("usage".to_owned(), list)).into_iter().collect(),
    };
    if !variant.all {
        each(&mut |_, lane| lane.record(&rows, variant));
    }
    each(&mut |_, lane| lane.publish(&mut top, &rows, variant));
    Assembled { top, rows }
}

/// One row an id: the one with the strictly greatest activity, ties to the first met (ROW-004).
fn unique(rows: Vec<Observed>) -> Vec<Observed> {
    let mut kept: Vec<Observed> = Vec::with_capacity(rows.len());
    let mut at: HashMap<(Key, String), usize> = HashMap::with_capacity(rows.len());
    for row in rows {
        match at.get(&(row.harness, row.sid.clone())).and_then(|i| kept.get_mut(*i)) {
            Some(known) => {
                if row.last_activity > known.last_activity {
                    *known = row;
                }
            }
            None => {
                at.insert((row.harness, row.sid.clone()), kept.len());
                kept.push(row);
            }
        }
    }
    kept
}

fn finish(mut seen: Observed, variant: Variant) -> Row {
    sweep(&mut seen);
    let facts = super::harnesses::facts(seen.harness);
    if !facts.reports_rate {
        seen.rate_per_min = None;
    }
    seen.active = crate::model::time::fresh(seen.last_activity, variant.window_hours * 3600.0, variant.now);
    let mut row = Row::new(seen);
    if !facts.reports_turn_end {
        row.acquisition = Some("scan-only");
    }
    row
}

/// Widens the displayed ids of each project until they tell its sessions apart (ROW-003).
fn widen(rows: &mut [Row]) {
    let mut groups: HashMap<(Key, &str), Vec<&str>> = HashMap::new();
    for row in rows.iter() {
        groups.entry((row.seen.harness, &row.seen.project)).or_default().push(&row.seen.sid);
    }
    let widths: HashMap<(Key, String), usize> =
        groups.into_iter().map(|((key, project), sids)| ((key, project.to_string()), width(&sids))).collect();
    for row in rows {
        let group = (row.seen.harness, std::mem::take(&mut row.seen.project));
        let width = widths.get(&group).copied().unwrap_or(DISPLAY_ID_LEN);
        row.seen.project = group.1;
        row.session = row.seen.sid.chars().take(width).collect();
    }
}

fn width(sids: &[&str]) -> usize {
    let distinct: HashSet<&str> = sids.iter().copied().collect();
    let longest = distinct.iter().map(|s| s.chars().count()).max().unwrap_or(0);
    let prefixes =
        |width: usize| distinct.iter().map(|s| s.chars().take(width).collect::<String>()).collect::<HashSet<_>>();
    let mut width = DISPLAY_ID_LEN;
    while width < longest && prefixes(width).len() != distinct.len() {
        width += 1;
    }
    width
}

/// State first, the longest wait first, then the id; never by activity, so that rows do not shuffle (PAYLOAD-008).
fn order(a: &Row, b: &Row) -> std::cmp::Ordering {
    let wait = |row: &Row| match row.seen.state {
        State::NeedsInput => row.seen.blocked_since.unwrap_or(row.seen.last_activity),
        _ => 0.0,
    };
    a.seen
        .state
        .cmp(&b.seen.state)
        .then_with(|| wait(a).total_cmp(&wait(b)))
        .then_with(|| a.seen.sid.cmp(&b.seen.sid))
        .then_with(|| a.seen.harness.cmp(&b.seen.harness))
}

fn summary(rows: &[Row]) -> Summary {
    let mut sum = Summary::default();
    for row in rows {
        let seen = &row.seen;
        sum.open_tasks += u64::from(seen.open);
        sum.total_tasks += u64::from(seen.total);
        sum.total_done += u64::from(seen.done);
        if seen.active {
            sum.active_sessions += 1;
            sum.needs_input += u64::from(seen.state == State::NeedsInput);
            sum.working += u64::from(seen.state == State::Working);
            sum.rate_per_min = sum.rate_per_min.saturating_add(seen.rate_per_min.unwrap_or(0));
        }
    }
    if sum.total_tasks > 0 {
        sum.progress_pct = crate::model::turn::percent(sum.total_done as f64, sum.total_tasks as f64);
    }
    sum
}

#[cfg(test)]
mod tests;
