//! The local history: what the board showed is recorded at each transition, and published whole (HIST-010 to HIST-013,
//! HIST-040). Off with `--no-history`: then nothing is read, written or published.

use crate::board::{Lane, Row, Top, Variant, Written};
use crate::keep::history::{History, Record};
use crate::model::State;
use std::sync::Arc;

/// The lane over the store.
pub struct Remembered(pub Arc<History>);

impl Lane for Remembered {
    fn name(&self) -> &'static str {
        "history"
    }

    fn record(&self, rows: &[Row], variant: Variant) {
        let records: Vec<Record> = rows.iter().filter_map(|row| record(row).bounded()).collect();
        self.0.record(&records, variant.now);
    }

    fn publish(&self, top: &mut Top, _rows: &[Row], _variant: Variant) {
        top.history = Some(Written(self.0.records().json()));
        if let Some(reason) = self.0.reset() {
            top.more.insert("history_reset".into(), reason.into());
        }
    }
}

/// A row as history keeps it: members the row publishes, and no other.
fn record(row: &Row) -> Record {
    let state = match row.seen.state {
        State::NeedsInput => "needs_input",
        State::Working => "working",
        State::Idle => "idle",
    };
    Record {
        harness: row.seen.harness.as_str().into(),
        sid: row.seen.sid.clone(),
        project: row.seen.project.clone(),
        state: state.into(),
        last_activity: row.seen.last_activity,
        annotation_goal: row.annotation.goal.clone(),
        annotation_output: row.annotation.output().to_owned(),
        annotation_revision: row.annotation.revision,
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::keep::testing::{Bench, quiet};
    use crate::model::{Key, Observed};

    #[test]
    fn hist_003_060_a_record_holds_members_of_the_row_and_no_prompt() {
        let bench = Bench::new();
        let lane = Remembered(Arc::new(History::new(bench.place().clone(), quiet(), 1e6, 1_000_000)));
        let mut seen = Observed::new(Key::Pi, "full-sid");
        (seen.project, seen.last_activity) = ("acme/shop".into(), 900.5);
        seen.title = Some("MARKER".into());
        (seen.last_prompt, seen.first_prompt, seen.state_detail) =
            ("MARKER".into(), "MARKER".into(), Some("MARKER".into()));
        let mut row = Row::new(seen);
        row.annotation.goal = "Ship it".into();
        row.annotation.lines[1].text = "docs".into();
        row.annotation.revision = Some(2);
        let published = serde_json::to_value(&row).unwrap();
        lane.record(&[row], Variant { now: 1000.0, window_hours: 24.0, all: false });
        let text = bench.text("cargento-history.json");
        assert!(!text.contains("MARKER"));
        let file: serde_json::Value = serde_json::from_str(&text).unwrap();
        for (name, value) in file["entries"][0].as_object().unwrap() {
            assert_eq!(&published[name], value, "{name} is what the row publishes");
        }
        assert_eq!(file["entries"][0]["annotation_output"], "docs");
    }
}
