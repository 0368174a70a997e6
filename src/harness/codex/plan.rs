//! Codex's own plan: the newest `update_plan` call, in either of the two forms a build writes (CODEX-037..040).

use super::script;
use crate::config::{CODEX_PLAN_MAX_STEPS, CODEX_PLAN_STEP_CAP_CHARS};
use crate::harness::line::{self, Field};
use crate::model::{Task, task};
use crate::text::safe_text;
use serde::Deserialize;
use serde_json::Value;

/// The tool that writes a plan.
pub const TOOL: &str = "update_plan";

/// A step that says something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its place in the plan as written, blank steps counted.
    index: usize,
    subject: String,
    status: &'static str,
}

/// A plan with at least one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(Box<[Step]>);

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    plan: Field<'a>,
}

#[derive(Deserialize)]
struct Written<'a> {
    #[serde(borrow)]
    step: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
}

impl Plan {
    /// The plan in the arguments of a function call: JSON text, or an object (CODEX-038).
    pub fn from_arguments(arguments: Field<'_>) -> Option<Plan> {
        if let Some(json) = line::text(arguments) {
            return Plan::from_list(serde_json::from_str::<Arguments>(&json).ok()?.plan);
        }
        Plan::from_list(line::object::<Arguments>(arguments)?.plan)
    }

    fn from_list(plan: Field<'_>) -> Option<Plan> {
        let list = line::list(plan)?;
        Plan::new(list.into_iter().map(|item| {
            let written: Written = line::object(Some(item))?;
            Some((line::text(written.step)?.into_owned(), line::text(written.status).map(Into::into)))
        }))
    }

    /// The plan in the source of a script that calls the tool (CODEX-039).
    pub fn from_script(source: &str) -> Option<Plan> {
        if !source.contains(TOOL) {
            return None;
        }
        Plan::new(script::steps(source)?.into_iter().map(Some))
    }

    fn new(entries: impl Iterator<Item = Option<script::Entry>>) -> Option<Plan> {
        let steps: Box<[Step]> = entries
            .take(CODEX_PLAN_MAX_STEPS)
            .enumerate()
            .filter_map(|(index, entry)| {
                let (words, status) = entry?;
                let subject = safe_text(&words, CODEX_PLAN_STEP_CAP_CHARS).trim().to_owned();
                let status = match status.as_deref() {
                    Some("completed") => "completed",
                    Some("in_progress") => "in_progress",
                    _ => "pending",
                };
                (!subject.is_empty()).then_some(Step { index, subject, status })
            })
            .collect();
        (!steps.is_empty()).then_some(Plan(steps))
    }

    /// The steps as task rows. A step carries no time, so neither does its row (ROW-042).
    pub fn tasks(&self, now: f64) -> Vec<Task> {
        let row = |step: &Step| {
            task::task(Value::String(format!("plan-{}", step.index)), &step.subject, "", step.status, None, now)
        };
        self.0.iter().map(row).collect()
    }
}
