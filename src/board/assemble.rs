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
mod tests {
    use super::*;

    fn seen(key: Key, sid: &str, project: &str, last: f64) -> Observed {
        let mut row = Observed::new(key, sid);
        row.project = project.into();
        row.last_activity = last;
        row
    }

    fn run(rows: Vec<Observed>) -> Assembled {
        let variant = Variant { now: 1000.0, window_hours: 24.0, all: false };
        let harnesses = Key::ALL.iter().map(|k| HarnessStatus::new(*k, true)).collect();
        assemble(Source { harnesses, rows, ..Source::default() }, variant, &[], &[], &|_| {})
    }

    /// PAYLOAD-007, PAYLOAD-013: states and rates of active rows, tasks of every row; a rate nobody measured adds nothing.
    #[test]
    fn payload_007_sums() {
        let mut rows = Vec::new();
        for (sid, state, last, rate, total, done) in [
            ("a", State::NeedsInput, 900.0, Some(7), 3, 1),
            ("b", State::Working, 900.0, Some(5), 0, 0),
            ("c", State::Working, 900.0, None, 0, 0),
            ("d", State::Idle, 900.0, Some(0), 0, 0),
            // Outside the window.
            ("e", State::Working, -90_000.0, Some(1000), 5, 4),
        ] {
            let mut row = seen(Key::Claude, sid, "p", last);
            (row.state, row.rate_per_min) = (state, rate);
            (row.total, row.done, row.open) = (total, done, total - done);
            rows.push(row);
        }
        let sum = run(rows).top.summary;
        let want = Summary {
            needs_input: 1,
            working: 2,
            active_sessions: 4,
            rate_per_min: 12,
            open_tasks: 3,
            total_tasks: 8,
            total_done: 5,
            progress_pct: 62,
        };
        assert_eq!(sum, want);
        assert_eq!(run(Vec::new()).top.summary, Summary::default());
    }

    /// ROW-002, ROW-003.
    #[test]
    fn row_003_display_ids_widen_only_where_they_collide() {
        let board = run(vec![
            seen(Key::Codex, "019fa752-aaaa-1", "a", 1.0),
            seen(Key::Codex, "019fa752-aaaa-2", "a", 1.0),
            seen(Key::Codex, "019fa752-bbbb", "b", 1.0),
            seen(Key::Codex, "short", "a", 1.0),
        ]);
        let shown: HashMap<_, _> = board.rows.iter().map(|r| (r.seen.sid.as_str(), r.session.as_str())).collect();
        assert_eq!(shown["019fa752-aaaa-1"], "019fa752-aaaa-1");
        assert_eq!(shown["019fa752-bbbb"], "019fa752");
        assert_eq!(shown["short"], "short");
    }

    /// ROW-004.
    #[test]
    fn row_004_one_row_an_id_the_most_active_one() {
        let board = run(vec![
            seen(Key::Claude, "a", "first", 5.0),
            seen(Key::Claude, "a", "tie", 5.0),
            seen(Key::Codex, "a", "other", 1.0),
            seen(Key::Codex, "a", "newer", 2.0),
        ]);
        let got: Vec<_> = board.rows.iter().map(|r| (r.seen.harness, r.seen.project.as_str())).collect();
        assert_eq!(got, [(Key::Claude, "first"), (Key::Codex, "newer")]);
    }

    /// PAYLOAD-008.
    #[test]
    fn payload_008_waits_first_the_longest_ahead_then_by_id() {
        let mut rows = Vec::new();
        for (sid, state, since, last) in [
            ("i", State::Idle, None, 999.0),
            ("w2", State::Working, None, 1.0),
            ("n2", State::NeedsInput, Some(50.0), 1.0),
            ("w1", State::Working, None, 999.0),
            ("n1", State::NeedsInput, None, 20.0),
        ] {
            let mut row = seen(Key::Claude, sid, "p", last);
            row.state = state;
            row.blocked_since = since;
            rows.push(row);
        }
        let board = run(rows);
        assert_eq!(board.rows.iter().map(|r| r.seen.sid.as_str()).collect::<Vec<_>>(), ["n1", "n2", "w1", "w2", "i"]);
        assert_eq!((board.top.summary.needs_input, board.top.summary.working), (2, 2));
    }

    /// ROW-062, ROW-080.
    #[test]
    fn row_062_row_080_unmeasured_rates_are_null_and_scan_only_is_said() {
        let board = run(vec![seen(Key::Droid, "d", "p", 1.0), seen(Key::Claude, "c", "p", 1.0)]);
        let of = |key| board.rows.iter().find(|r| r.seen.harness == key).unwrap();
        assert_eq!((of(Key::Droid).seen.rate_per_min, of(Key::Droid).acquisition), (None, Some("scan-only")));
        assert_eq!((of(Key::Claude).seen.rate_per_min, of(Key::Claude).acquisition), (Some(0), None));
    }

    /// ROW-020.
    #[test]
    fn row_020_every_row_carries_every_key() {
        let board = run(vec![seen(Key::Goose, "g", "p", 1.0)]);
        let body: Value = serde_json::from_slice(&board.body().unwrap()).unwrap();
        let row = body["sessions"][0].as_object().unwrap();
        for key in "session sid harness project project_key project_name project_identity_source provider model consumption title \
            last_prompt last_output instruction state state_detail active last_activity own_activity started_at finished_at ended_at \
            acquisition blocked_since dirty changed focusable rate_per_min session_output_tokens turn_output_tokens total done open \
            progress_pct eta_h turn loop resume_id subagents subagents_omitted subagent_hierarchy subagent_events tasks spacedock \
            source_gaps first_prompt first_prompt_at first_prompt_control prompt_at prompt_states_work wait_unconfirmed \
            command_reports cached_goal annotation_goal annotation_goal_why annotation_lines_why annotation_line_1 annotation_line_6 \
            annotation_line_6_source annotation_line_6_source_id annotation_output annotation_output_why annotation_revision \
            annotation_revision_count annotation_at annotation_goal_source annotation_goal_source_at annotation_goal_saved_at \
            annotation_window_start annotation_binding_why annotation_settled_at annotation_settled_through \
            annotation_settled_revision annotation_discarded_at annotation_discarded_why annotation_assessment \
            annotation_reading_count annotation_reading_withheld annotation_reading_refused delivery_outcome delivery_why \
            delivery_none_why delivery_mixed_why delivery_binding_why delivery_at delivery_raises delivery_mixed browser_lane \
            browser_lane_at browser_lane_why departures departure_why departure_checked degrades"
            .split_whitespace()
        {
            assert!(row.contains_key(key), "{key}");
        }
        for key in
            "generated window_hours rate_window_sec show_all cleared native_notify harnesses summary annotate unasked \
            observer_model irreversible_enabled ends_observable in_quiet_hours tripwires browser_lane browser_lane_at"
                .split_whitespace()
        {
            assert!(body.get(key).is_some(), "{key}");
        }
    }

    struct Broken;
    impl Lane for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }
        fn overlay(&self, _: &mut [Row], _: Variant, _: &Sampled) {
            panic!("planted");
        }
    }
    struct Hides;
    impl Lane for Hides {
        fn name(&self) -> &'static str {
            "hides"
        }
        fn subtracts(&self, row: &Row) -> bool {
            row.seen.sid == "b"
        }
    }

    /// TRUST-060.
    #[test]
    fn trust_060_a_lane_that_panics_costs_its_own_part_only() {
        let faults = std::cell::RefCell::new(Vec::new());
        let variant = Variant { now: 10.0, window_hours: 24.0, all: false };
        let source = Source {
            quotas: vec![],
            harnesses: vec![],
            rows: vec![seen(Key::Pi, "a", "p", 1.0), seen(Key::Pi, "b", "p", 1.0)],
        };
        let lanes: [Arc<dyn Lane>; 2] = [Arc::new(Broken), Arc::new(Hides)];
        let board = assemble(source, variant, &lanes, &[], &|name| faults.borrow_mut().push(name));
        assert_eq!((board.rows.len(), board.top.cleared, faults.into_inner()), (1, 1, vec!["broken"]));
    }
}
