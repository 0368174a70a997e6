//! What a session does now, out of its evidence, in the order in which one kind outranks the next (section 6).

use super::hooks::Notification;
use super::roster::Pending;
use super::window::Question;
use crate::config::WORKING_THRESHOLD_SEC;
use crate::model::State;
use crate::model::observed::AWAITING;
use crate::model::time::{age, duration, fresh};

/// The evidence about one session at one moment.
pub struct Signs<'a> {
    pub question: Option<&'a Question>,
    pub pending: &'a [Pending],
    /// Newest believable write of the session itself.
    pub own: f64,
    pub running: usize,
    pub hook: Option<&'a Notification>,
    pub last_activity: f64,
    /// What it does when it works.
    pub working_detail: &'a str,
}

/// The state with its words.
#[derive(Debug, PartialEq)]
pub struct Verdict {
    pub state: State,
    pub detail: String,
    pub blocked_since: Option<f64>,
}

impl Verdict {
    /// A session that waits for nothing but a message.
    pub fn idle() -> Verdict {
        Verdict { state: State::Idle, detail: AWAITING.into(), blocked_since: None }
    }

    /// What is left of this verdict when the session ended while it was worked out: a wait is over (CLAUDE-092).
    #[must_use]
    pub fn unless_ended(self, ended: bool) -> Verdict {
        if ended && self.state == State::NeedsInput { Verdict::idle() } else { self }
    }

    fn waits(since: f64, detail: String) -> Verdict {
        Verdict { state: State::NeedsInput, detail, blocked_since: Some(since) }
    }
}

/// Judges a session at `now` (CLAUDE-090).
pub fn judge(signs: &Signs<'_>, now: f64) -> Verdict {
    if let Some(question) = signs.question {
        return open_question(question, signs.last_activity, now);
    }
    if let Some(verdict) = never_started(signs.pending, now) {
        return verdict;
    }
    let recognised = signs.hook.is_some_and(|hook| hook.recognised);
    if fresh(signs.own, WORKING_THRESHOLD_SEC, now) || (signs.running > 0 && !recognised) {
        return Verdict { state: State::Working, detail: signs.working_detail.to_owned(), blocked_since: None };
    }
    match signs.hook {
        Some(hook) => {
            let words = hook.message.trim();
            Verdict::waits(hook.at, if words.is_empty() { "waiting for your input" } else { words }.to_owned())
        }
        None => Verdict::idle(),
    }
}

fn open_question(question: &Question, last_activity: f64, now: f64) -> Verdict {
    let stamped = question.asked > 0.0;
    let since = if stamped { question.asked } else { last_activity };
    let waited = age(question.asked, now).filter(|_| stamped).map_or_else(|| "?".into(), |a| duration(Some(a)));
    let words = match question.line.as_str() {
        "" => format!("open question ({})", question.tool.as_str()),
        line => line.to_owned(),
    };
    Verdict::waits(since, format!("{words}, waiting {waited}"))
}

fn never_started(pending: &[Pending], now: f64) -> Option<Verdict> {
    let earliest = pending.iter().map(|p| p.joined).reduce(f64::min)?;
    let waited = duration(age(earliest, now));
    let who = match pending {
        [one] => format!("{} has not started", one.label),
        more => format!("{} subagents have not started", more.len()),
    };
    Some(Verdict::waits(earliest, format!("{who}, waiting {waited}")))
}

/// What a working session does, by what is known of it (ROW-054).
pub fn working_detail(task: Option<String>, running: usize, last_tool: Option<&str>) -> String {
    match (task, running, last_tool) {
        (Some(task), _, _) => task,
        (None, 1, _) => "running 1 subagent".into(),
        (None, 2.., _) => format!("running {running} subagents"),
        (None, 0, Some(tool)) => format!("running {tool}"),
        (None, 0, None) => "generating…".into(),
    }
}
