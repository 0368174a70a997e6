//! The row of a session whose store tells nothing but times: activity, state and turn (ROW-053, ROW-054).

use crate::config::WORKING_THRESHOLD_SEC;
use crate::harness::Pass;
use crate::model::{Code, Degrade, Observed, State, Subagent, time, turn};

/// Detail of a session that works at nothing more particular.
pub const GENERATING: &str = "generating…";
/// What a row's reading may lack (ROW-070).
pub const GAP_BLOCK_STATE: &str = "block state";
pub const GAP_HISTORY: &str = "message history";
pub const GAP_METADATA: &str = "session metadata";
pub const GAP_MODEL: &str = "model";
pub const GAP_TOKENS: &str = "token accounting";

/// A child on its parent's row.
#[derive(Clone, Debug, PartialEq)]
pub struct Pill {
    /// Its newest write, seconds since the epoch.
    pub at: f64,
    pub name: String,
    pub model: Option<String>,
}

/// Puts a session's times on its row: its own newest write, its children's, and the turn.
pub fn settle(
    row: &mut Observed,
    own: f64,
    mut pills: Vec<Pill>,
    turns: Option<(Option<f64>, Vec<f64>)>,
    pass: &Pass<'_>,
) {
    pills.sort_by(|a, b| b.at.total_cmp(&a.at));
    let running = pills.iter().filter(|p| is_running(p.at, pass.now)).count();
    row.last_activity = time::newest_plausible(pills.iter().map(|p| p.at).chain([own]), pass.now);
    row.active = pass.in_window(row.last_activity);
    let working = match running {
        0 => GENERATING.into(),
        1 => "running 1 subagent".into(),
        n => format!("running {n} subagents"),
    };
    if is_running(row.last_activity, pass.now) {
        row.state = State::Working;
        row.state_detail = Some(working.clone());
    }
    row.evidence.working_detail = Some(working);
    if let Some((start, durations)) = turns {
        row.turn = turn::estimate(row.state, start, &durations, pass.now);
        row.evidence.turn_start = start;
        row.evidence.turn_durations = durations;
    }
    row.subagents = pills
        .into_iter()
        .map(|p| Subagent { name: p.name, model: p.model, started_at: None, active: None, parent: None })
        .collect();
}

/// Whether something written at `at` is work going on.
pub fn is_running(at: f64, now: f64) -> bool {
    time::fresh(at, WORKING_THRESHOLD_SEC, now)
}

/// Adds a gap to a row, once and in order.
pub fn gap(row: &mut Observed, gap: &'static str) {
    if !row.source_gaps.contains(&gap) {
        row.source_gaps.push(gap);
        row.source_gaps.sort_unstable();
    }
}

/// Says on a row that its store could not be read this time and that an older reading stands.
pub fn stale(row: &mut Observed, code: Code, source: &str) {
    gap(row, GAP_METADATA);
    degrade(row, code, source);
}

/// Names on a row, once, what its source met.
pub fn degrade(row: &mut Observed, code: Code, source: &str) {
    let degrade = Degrade { code, source: source.into(), count: None };
    if !row.degrades.contains(&degrade) {
        row.degrades.push(degrade);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::sql::support::pass_at;
    use crate::model::Key;

    #[test]
    fn row_052_to_054_recency_makes_the_state() {
        let pill = |at: f64| Pill { at, name: format!("{at}"), model: None };
        let row = |own: f64, pills: Vec<Pill>| {
            let mut row = Observed::new(Key::Goose, "s");
            pass_at(1000.0, false, |pass| settle(&mut row, own, pills, Some((Some(980.0), vec![30.0])), pass));
            row
        };
        let busy = row(910.0, vec![]);
        assert_eq!((busy.state, busy.state_detail.as_deref()), (State::Working, Some("generating…")));
        assert_eq!(busy.turn.unwrap().elapsed_h, "20s");
        let quiet = row(909.0, vec![]);
        assert_eq!((quiet.state, quiet.turn, quiet.evidence.turn_start), (State::Idle, None, Some(980.0)));
        let parent = row(1.0, vec![pill(100.0), pill(950.0), pill(1000.0)]);
        assert_eq!((parent.last_activity, parent.state_detail.as_deref()), (1000.0, Some("running 2 subagents")));
        assert_eq!(parent.subagents.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["1000", "950", "100"]);
        let skewed = row(5000.0, vec![pill(400.0)]);
        assert_eq!((skewed.last_activity, skewed.state), (400.0, State::Idle));
    }
}
