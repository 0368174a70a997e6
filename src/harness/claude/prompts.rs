//! What a session was told: the first prompt, and which later prompt is its instruction.
//!
//! The ladder of TEXT-010 is kept here so that it can be climbed from both ends: forward, as records are appended, and
//! backward, over the part of a long transcript that the first read left out. Both give what one walk from the newest
//! record back would.

use crate::config::{FIRST_PROMPT_CAP_CHARS, LAST_PROMPT_CAP_CHARS, TITLE_CAP_CHARS};
use crate::model::{Instruction, InstructionLabel};
use crate::text::prompt::{Speaker, is_control, is_injected, states_work, title};
use crate::text::safe_text;

/// One prompt, rendered.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    text: String,
    /// Stamp of its record, 0 when it has none.
    at: f64,
}

/// Where the instruction stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instructions {
    /// The newest prompt of the operator, and whether it states work.
    newest: Option<(Told, bool)>,
    /// The newest older one that states work.
    earlier: Option<Told>,
    /// Nothing older than what is held may be quoted: a compaction lies between it and the newest prompt.
    blocked: bool,
    /// A compaction follows the newest prompt; it blocks what lies before it as soon as a newer prompt is there.
    compacted: bool,
}

impl Instructions {
    /// Takes the next newer prompt.
    pub fn newer(&mut self, text: &str, at: Option<f64>) {
        let Some(told) = told(text, at) else { return };
        let work = states_work(text, Speaker::Claude);
        if self.compacted {
            self.earlier = None;
            self.blocked = true;
        } else if let Some((before, true)) = self.newest.take() {
            self.earlier = Some(before);
        }
        self.compacted = false;
        self.newest = Some((told, work));
    }

    /// Takes a compaction that follows everything taken so far.
    pub fn newer_compaction(&mut self) {
        self.compacted = true;
    }

    /// Takes the next older prompt; whether the walk back can end.
    pub fn older(&mut self, text: &str, at: Option<f64>) -> bool {
        if !self.is_settled()
            && let Some(told) = told(text, at)
        {
            let work = states_work(text, Speaker::Claude);
            if self.newest.is_none() {
                self.newest = Some((told, work));
            } else if work {
                self.earlier = Some(told);
            }
        }
        self.is_settled()
    }

    /// Takes a compaction that precedes everything taken so far; whether the walk back can end.
    pub fn older_compaction(&mut self) -> bool {
        if self.newest.is_some() {
            self.blocked = true;
        } else {
            self.compacted = true;
        }
        self.is_settled()
    }

    /// Whether no older record can change the instruction.
    pub fn is_settled(&self) -> bool {
        self.newest.as_ref().is_some_and(|(_, work)| *work) || self.earlier.is_some() || self.blocked
    }

    /// When the person last wrote, whatever it said.
    pub fn newest_at(&self) -> Option<f64> {
        self.newest.as_ref().map(|(told, _)| told.at).filter(|at| *at > 0.0)
    }

    /// The instruction as published (TEXT-012).
    pub fn instruction(&self) -> Option<Instruction> {
        let (told, label) = match (&self.newest, &self.earlier) {
            (Some((newest, true)), _) => (newest, InstructionLabel::Asked),
            (_, Some(earlier)) => (earlier, InstructionLabel::Earlier),
            _ => return None,
        };
        (!told.text.is_empty()).then(|| Instruction { label, text: told.text.clone(), at: told.at })
    }
}

/// A prompt as an instruction line; `None` for what the harness wrote, and for nothing at all.
fn told(text: &str, at: Option<f64>) -> Option<Told> {
    if is_injected(text, Speaker::Claude) {
        return None;
    }
    let line = title(text, LAST_PROMPT_CAP_CHARS).unwrap_or_default();
    Some(Told { text: safe_text(&line, LAST_PROMPT_CAP_CHARS + 1).into_owned(), at: at.unwrap_or(0.0) })
}

/// The first prompt of a session (CLAUDE-037).
#[derive(Clone, Debug, PartialEq)]
pub struct First {
    /// Rendered and redacted, at most 240 characters.
    pub text: String,
    pub at: Option<f64>,
    /// A command to the harness itself, so that nothing is drafted from it.
    pub control: bool,
    /// The same prompt as a title, for a session without a generated one (CLAUDE-021).
    pub title: String,
}

impl First {
    /// The first prompt out of a prompt's text; `None` when the operator did not write it or it says nothing.
    pub fn of(text: &str, at: Option<f64>) -> Option<First> {
        if is_injected(text, Speaker::Claude) {
            return None;
        }
        let line = title(text, FIRST_PROMPT_CAP_CHARS)?;
        let control = is_control(&line);
        Some(First { text: line, at, control, title: title(text, TITLE_CAP_CHARS)? })
    }
}
