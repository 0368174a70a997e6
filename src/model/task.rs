//! Tasks of a session: order, ages, counts and the estimate of what remains (ROW-040..044, TURN-030).

use super::observed::{Observed, Task};
use super::time::{age, duration};
use serde_json::Value;

/// Shortest finished task that an estimate is drawn from, seconds.
const SAMPLE_MIN_SEC: f64 = 30.0;

/// A task with its ages worked out at `now` (ROW-041).
pub fn task(id: Value, subject: &str, active_form: &str, status: &str, times: Option<(f64, f64)>, now: f64) -> Task {
    let status = if status.is_empty() { "pending" } else { status };
    let (created, updated) = times.unzip();
    let elapsed = times.map(|(created, updated)| match status {
        "completed" => Some(updated - created),
        _ => age(created, now),
    });
    Task {
        id,
        subject: if subject.is_empty() { "(untitled)".into() } else { subject.into() },
        active_form: active_form.into(),
        status: status.into(),
        created,
        updated,
        elapsed_h: elapsed.map(duration),
        updated_ago: updated.map(|t| format!("{} ago", duration(age(t, now)))),
    }
}

/// Puts tasks on a row: ordered by integer id, counted, with the progress and the estimate.
pub fn attach(row: &mut Observed, mut tasks: Vec<Task>) {
    tasks.sort_by_key(|t| order(&t.id));
    row.total = tasks.len() as u32;
    row.done = tasks.iter().filter(|t| t.status == "completed").count() as u32;
    row.open = row.total - row.done;
    row.progress_pct = if row.total == 0 { 0 } else { super::turn::percent(f64::from(row.done), f64::from(row.total)) };
    row.eta_h = remaining(&tasks, row.open);
    row.tasks = tasks;
}

/// What the row does now by its tasks: the task in progress (ROW-054).
pub fn in_progress(tasks: &[Task]) -> Option<String> {
    let task = tasks.iter().find(|t| t.status == "in_progress")?;
    let words = if task.active_form.is_empty() { &task.subject } else { &task.active_form };
    Some(format!("{words}…"))
}

fn order(id: &Value) -> i64 {
    match id {
        Value::Number(n) => n.as_i64().unwrap_or(0),
        Value::String(s) => s.trim().parse().unwrap_or(0),
        _ => 0,
    }
}

fn remaining(tasks: &[Task], open: u32) -> Option<String> {
    let sample: Vec<f64> = tasks
        .iter()
        .filter(|t| t.status == "completed")
        .filter_map(|t| Some(t.updated? - t.created?))
        .filter(|d| *d >= SAMPLE_MIN_SEC)
        .collect();
    if sample.is_empty() || open == 0 {
        return None;
    }
    let left = sample.iter().sum::<f64>() / sample.len() as f64 * f64::from(open);
    (left > 0.0).then(|| duration(Some(left)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Key;
    use serde_json::json;

    /// ROW-040, ROW-041, ROW-042, ROW-043, TURN-030.
    #[test]
    fn row_040_to_043_turn_030_tasks() {
        let now = 10_000.0;
        let mut row = Observed::new(Key::Claude, "s");
        attach(
            &mut row,
            vec![
                task(json!("10"), "", "", "", Some((9_000.0, 9_400.0)), now),
                task(json!(2), "Two", "Doing two", "in_progress", Some((9_940.0, 9_990.0)), now),
                task(json!("x"), "X", "", "completed", Some((100.0, 700.0)), now),
                task(json!("1"), "One", "", "completed", Some((100.0, 110.0)), now),
            ],
        );
        assert_eq!(
            row.tasks.iter().map(|t| t.id.clone()).collect::<Vec<_>>(),
            [json!("x"), json!("1"), json!(2), json!("10")]
        );
        assert_eq!((row.total, row.done, row.open, row.progress_pct), (4, 2, 2, 50));
        assert_eq!(row.eta_h.as_deref(), Some("20m"));
        assert_eq!(in_progress(&row.tasks).as_deref(), Some("Doing two…"));
        let last = &row.tasks[3];
        assert_eq!((last.subject.as_str(), last.status.as_str()), ("(untitled)", "pending"));
        assert_eq!((last.elapsed_h.as_deref(), last.updated_ago.as_deref()), (Some("16m"), Some("10m ago")));
        let step = task(json!(1), "s", "", "pending", None, now);
        assert_eq!((step.elapsed_h, step.updated_ago, step.created), (None, None, None));
    }
}
