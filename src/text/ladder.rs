//! Which prompt is a session's instruction (TEXT-010, TEXT-011).
//!
//! A reader walks its transcript newest record first and tells the ladder what it meets; the ladder says when nothing
//! older can matter.

use super::prompt::{Speaker, is_injected, states_work, title};
use super::safe::safe_text;
use crate::config::LAST_PROMPT_CAP_CHARS;

/// Where an instruction comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// The newest prompt, which states work.
    Asked,
    /// The agent's own statement for this turn.
    Agent,
    /// An older prompt that states work; the newest only says to go on.
    Earlier,
}

/// A text with the stamp of its record, seconds since the epoch, 0 when it has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    pub text: String,
    pub at: f64,
}

/// The prompts of a session as far as an instruction needs them.
#[derive(Clone, Debug)]
pub struct Ladder {
    speaker: Speaker,
    newest: Option<Told>,
    newest_states_work: bool,
    earlier: Option<Told>,
    compacted: bool,
}

impl Ladder {
    /// A walk that has met nothing yet.
    pub fn new(speaker: Speaker) -> Ladder {
        Ladder { speaker, newest: None, newest_states_work: false, earlier: None, compacted: false }
    }

    /// Tells of a user text, blank and injected ones included (they are passed over); whether the walk can end.
    pub fn prompt(&mut self, text: &str, at: f64) -> bool {
        if !self.is_done() && !is_injected(text, self.speaker) {
            let work = states_work(text, self.speaker);
            let told = || Told { text: text.to_owned(), at };
            if self.newest.is_none() {
                self.newest = Some(told());
                self.newest_states_work = work;
            } else if work {
                self.earlier = Some(told());
            }
        }
        self.is_done()
    }

    /// Tells of a compaction boundary: no prompt behind it may be quoted once the newest is in hand.
    pub fn compaction(&mut self) -> bool {
        self.compacted |= self.newest.is_some();
        self.is_done()
    }

    /// Whether no older record can change the outcome.
    pub fn is_done(&self) -> bool {
        self.newest_states_work || self.earlier.is_some() || self.compacted
    }

    /// The newest genuine prompt, whole.
    pub fn newest(&self) -> Option<&Told> {
        self.newest.as_ref()
    }

    /// Whether the newest genuine prompt states work.
    pub fn newest_states_work(&self) -> bool {
        self.newest_states_work
    }

    /// The instruction: its rung, its line (at most 141 characters, redacted) and its stamp. `statement` is what the
    /// agent itself said it would do in this turn; `shown` tells that the row's title already is the newest prompt.
    pub fn instruction(&self, statement: Option<&Told>, shown: bool) -> Option<(Rung, Told)> {
        if self.newest_states_work {
            return if shown { None } else { line(Rung::Asked, self.newest.as_ref()) };
        }
        line(Rung::Agent, statement).or_else(|| line(Rung::Earlier, self.earlier.as_ref()))
    }
}

fn line(rung: Rung, told: Option<&Told>) -> Option<(Rung, Told)> {
    let told = told?;
    let text = title(&told.text, LAST_PROMPT_CAP_CHARS)?;
    let text = safe_text(&text, LAST_PROMPT_CAP_CHARS + 1).into_owned();
    Some((rung, Told { text, at: told.at }))
}
