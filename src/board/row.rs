//! The row as published: what the harness reports, and what our own stores and lanes know beside it (ROW-020).
//!
//! Every row of every harness carries every key; absence is the default.

use crate::model::Observed;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// One session on the board.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Displayed id: a prefix of `sid` (ROW-003).
    pub session: String,
    #[serde(flatten)]
    pub seen: Observed,
    /// Last observed turn stop, seconds since the epoch.
    pub finished_at: Option<f64>,
    /// When the session id was observed to end.
    pub ended_at: Option<f64>,
    /// How the state was learnt: `event`, `scan-only` or not said (ROW-080).
    pub acquisition: Option<&'static str>,
    pub dirty: Option<bool>,
    /// Porcelain entries, not files.
    pub changed: Option<u64>,
    pub focusable: bool,
    pub wait_unconfirmed: bool,
    /// None while the feature is off.
    pub command_reports: Option<Vec<Value>>,
    pub cached_goal: Option<CachedGoal>,
    #[serde(flatten)]
    pub annotation: Annotation,
    #[serde(flatten)]
    pub delivery: Delivery,
    pub departures: Vec<Value>,
    pub departure_why: String,
    pub departure_checked: bool,
}

impl Row {
    /// A row about which our own stores and lanes know nothing yet.
    pub fn new(seen: Observed) -> Row {
        Row {
            session: seen.sid.chars().take(crate::config::DISPLAY_ID_LEN).collect(),
            seen,
            finished_at: None,
            ended_at: None,
            acquisition: None,
            dirty: None,
            changed: None,
            focusable: false,
            wait_unconfirmed: false,
            command_reports: None,
            cached_goal: None,
            annotation: Annotation::default(),
            delivery: Delivery::default(),
            departures: Vec::new(),
            departure_why: String::new(),
            departure_checked: false,
        }
    }
}

/// The goal an observer sidecar keeps (OBS-050).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CachedGoal {
    pub goal: String,
    /// Always `deterministic` on a row.
    pub source: &'static str,
    pub observed_at: Option<f64>,
}

/// One outcome line with where it came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    pub text: String,
    pub source: Option<&'static str>,
    pub source_id: String,
}

/// Typed words and what became of them (ANN-100); serialised as its 32 flat members.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    pub goal: String,
    pub goal_why: String,
    pub lines_why: String,
    pub lines: [Line; 6],
    pub revision: Option<u64>,
    pub revision_count: u64,
    pub at: Option<f64>,
    pub goal_source: Option<&'static str>,
    pub goal_source_at: Option<f64>,
    pub goal_saved_at: Option<f64>,
    pub window_start: Option<f64>,
    pub binding_why: String,
    pub settled_at: Option<f64>,
    pub settled_through: Option<f64>,
    pub settled_revision: Option<u64>,
    pub discarded_at: Option<f64>,
    pub discarded_why: String,
    pub assessment: Option<Value>,
    pub reading_count: u64,
    pub reading_withheld: String,
    pub reading_refused: bool,
}

/// Why a session without words has none.
pub const NONE_TYPED: &str = "nothing was typed for this session";

impl Annotation {
    /// The first outcome line that is not empty (ANN-100).
    pub fn output(&self) -> &str {
        self.lines.iter().find(|line| !line.text.is_empty()).map_or("", |line| line.text.as_str())
    }
}

impl Default for Annotation {
    fn default() -> Self {
        Annotation {
            goal: String::new(),
            goal_why: NONE_TYPED.into(),
            lines_why: NONE_TYPED.into(),
            lines: Default::default(),
            revision: None,
            revision_count: 0,
            at: None,
            goal_source: None,
            goal_source_at: None,
            goal_saved_at: None,
            window_start: None,
            binding_why: String::new(),
            settled_at: None,
            settled_through: None,
            settled_revision: None,
            discarded_at: None,
            discarded_why: String::new(),
            assessment: None,
            reading_count: 0,
            reading_withheld: String::new(),
            reading_refused: false,
        }
    }
}

const LINE_KEYS: [[&str; 3]; 6] = [
    ["annotation_line_1", "annotation_line_1_source", "annotation_line_1_source_id"],
    ["annotation_line_2", "annotation_line_2_source", "annotation_line_2_source_id"],
    ["annotation_line_3", "annotation_line_3_source", "annotation_line_3_source_id"],
    ["annotation_line_4", "annotation_line_4_source", "annotation_line_4_source_id"],
    ["annotation_line_5", "annotation_line_5_source", "annotation_line_5_source_id"],
    ["annotation_line_6", "annotation_line_6_source", "annotation_line_6_source_id"],
];

impl Serialize for Annotation {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(None)?;
        map.serialize_entry("annotation_goal", &self.goal)?;
        map.serialize_entry("annotation_goal_why", &self.goal_why)?;
        map.serialize_entry("annotation_lines_why", &self.lines_why)?;
        for (line, [text, source, id]) in self.lines.iter().zip(LINE_KEYS) {
            map.serialize_entry(text, &line.text)?;
            map.serialize_entry(source, &line.source)?;
            map.serialize_entry(id, &line.source_id)?;
        }
        map.serialize_entry("annotation_output", self.output())?;
        map.serialize_entry("annotation_output_why", &self.lines_why)?;
        map.serialize_entry("annotation_revision", &self.revision)?;
        map.serialize_entry("annotation_revision_count", &self.revision_count)?;
        map.serialize_entry("annotation_at", &self.at)?;
        map.serialize_entry("annotation_goal_source", &self.goal_source)?;
        map.serialize_entry("annotation_goal_source_at", &self.goal_source_at)?;
        map.serialize_entry("annotation_goal_saved_at", &self.goal_saved_at)?;
        map.serialize_entry("annotation_window_start", &self.window_start)?;
        map.serialize_entry("annotation_binding_why", &self.binding_why)?;
        map.serialize_entry("annotation_settled_at", &self.settled_at)?;
        map.serialize_entry("annotation_settled_through", &self.settled_through)?;
        map.serialize_entry("annotation_settled_revision", &self.settled_revision)?;
        map.serialize_entry("annotation_discarded_at", &self.discarded_at)?;
        map.serialize_entry("annotation_discarded_why", &self.discarded_why)?;
        map.serialize_entry("annotation_assessment", &self.assessment)?;
        map.serialize_entry("annotation_reading_count", &self.reading_count)?;
        map.serialize_entry("annotation_reading_withheld", &self.reading_withheld)?;
        map.serialize_entry("annotation_reading_refused", &self.reading_refused)?;
        map.end()
    }
}

/// What became of this session's notifications (file 42, section 7) and the browser lane's word.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Delivery {
    pub delivery_outcome: String,
    pub delivery_why: String,
    pub delivery_none_why: String,
    pub delivery_mixed_why: String,
    pub delivery_binding_why: String,
    pub delivery_at: Option<f64>,
    pub delivery_raises: u64,
    pub delivery_mixed: bool,
    pub browser_lane: bool,
    pub browser_lane_at: Option<f64>,
    pub browser_lane_why: String,
}
