//! What a row needs of a transcript's records, folded one by one in the order in which they count: turns, newest
//! stamp, recent tokens, newest prompt, last tool.
//!
//! Nothing here grows with the transcript. Folding is separate from reading, so that a harness whose records form a
//! tree or can be taken back folds its kept records again instead of undoing them.

use crate::config::{LAST_PROMPT_CAP_CHARS, RATE_WINDOW_SEC, TITLE_CAP_CHARS};
use crate::model::time::{age, newest_plausible};
use crate::model::turn::{self, Record, Signal, Turns};
use crate::model::{Observed, State};
use crate::text::extract::Text;
use crate::text::{safe_lines, safe_text};
use std::sync::Arc;

/// Stamps ahead of the clock that are kept in case the clock reaches them.
const AHEAD_KEPT: usize = 64;
/// Usage events kept; far more than any agent makes in one rate window.
const USAGE_KEPT: usize = 4096;

/// A prompt as it may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Its first line, safe and at most a title long; `None` when it has none.
    pub title: Option<Box<str>>,
    /// The prompt, safe and at most as long as `last_prompt` may be; its lines are kept.
    pub text: Box<str>,
}

impl Prompt {
    /// The prompt of a record's content as it stands in the file; `None` when it holds no text.
    pub fn of_json(content: &str) -> Option<Prompt> {
        let text: Text<'_> = serde_json::from_str(content).ok()?;
        (!text.0.is_empty()).then(|| Prompt::new(&text.0))
    }

    /// The prompt of a record's text, which must not be empty.
    pub fn new(text: &str) -> Prompt {
        let mut lines = text.lines().map(|line| safe_text(line.trim(), TITLE_CAP_CHARS));
        Prompt {
            title: lines.find_map(|line| Some(line.trim()).filter(|line| !line.is_empty()).map(Box::from)),
            text: safe_lines(text, LAST_PROMPT_CAP_CHARS).into(),
        }
    }
}

/// One record as the story sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moment {
    /// The record's time, seconds since the epoch.
    pub at: Option<f64>,
    /// The record is a person's prompt: a turn begins.
    pub opens: bool,
    /// The record says that the turn is over.
    pub ends: bool,
    /// The prompt's text, if the record carries one.
    pub prompt: Option<Arc<Prompt>>,
    /// Output tokens; 0 = none reported.
    pub output: u64,
    /// Name of the last tool the record calls.
    pub tool: Option<Arc<str>>,
}

/// The folded records.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    turns: Turns,
    stamps: Stamps,
    usage: Usage,
    prompt: Option<Arc<Prompt>>,
    tool: Option<Arc<str>>,
}

impl Story {
    /// A story told from the first record on (`from_start`) or from somewhere later.
    pub fn new(from_start: bool) -> Story {
        Story {
            turns: Turns::new(from_start),
            stamps: Stamps::default(),
            usage: Usage::default(),
            prompt: None,
            tool: None,
        }
    }

    /// Takes up what stands before the first record that is folded.
    pub fn resume(&mut self, before: super::seek::Before) {
        self.turns.resume(before.start, before.prev);
        self.prompt = before.prompt;
    }

    /// Folds the next record; `now` only decides which stamps are believed for the time being.
    pub fn take(&mut self, moment: &Moment, now: f64) {
        let signal = match (moment.opens, moment.ends) {
            (true, _) => Signal::Prompt,
            (false, true) => Signal::End,
            (false, false) => Signal::None,
        };
        self.turns.record(&Record { at: moment.at, signal, ..Record::default() });
        if let Some(at) = moment.at {
            self.stamps.note(at, now);
            if moment.output > 0 {
                self.usage.note(at, moment.output, now);
            }
        }
        if moment.prompt.is_some() {
            self.prompt.clone_from(&moment.prompt);
        }
        if moment.tool.is_some() {
            self.tool.clone_from(&moment.tool);
        }
    }

    /// Sets the newest prompt, for readers that take its text up only once it is known to be the newest.
    pub fn said(&mut self, prompt: Option<Prompt>) {
        if let Some(prompt) = prompt {
            self.prompt = Some(Arc::new(prompt));
        }
    }

    /// The newest believable stamp, 0 when there is none.
    pub fn newest(&self, now: f64) -> f64 {
        self.stamps.newest(now)
    }

    /// The newest prompt.
    pub fn prompt(&self) -> Option<&Prompt> {
        self.prompt.as_deref()
    }

    /// The last tool called.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// First stamp of the transcript, if it was told from its first record on.
    pub fn started_at(&self) -> Option<f64> {
        self.turns.started_at()
    }

    /// Output tokens a minute over the rate window.
    pub fn rate_per_min(&self, now: f64) -> u64 {
        self.usage.rate(now)
    }

    /// Fills in the state with its detail and the turn, whose evidence an overlay may judge again. `thinking`: the
    /// model is known to hold the turn, so that an earlier tool is no news.
    pub fn state(&self, row: &mut Observed, state: State, thinking: bool, now: f64) {
        let detail = working_detail(row.subagents.len(), thinking, self.tool());
        row.state = state;
        if state == State::Working {
            row.state_detail = Some(detail.clone());
        }
        row.turn = self.turns.estimate(state, now);
        row.evidence.working_detail = Some(detail);
        row.evidence.turn_start = self.turns.open_since();
        row.evidence.turn_durations = self.turns.durations().collect();
    }
}

/// What a working session does, by the first rule that applies (ROW-054).
pub fn working_detail(subagents: usize, thinking: bool, tool: Option<&str>) -> String {
    match (subagents, tool) {
        (1, _) => "running 1 subagent".into(),
        (2.., _) => format!("running {subagents} subagents"),
        (0, _) if thinking => "thinking".into(),
        (0, Some(tool)) => format!("running {tool}"),
        (0, None) => "generating…".into(),
    }
}

/// The newest stamp that is believed, whichever others lie ahead of the clock (ROW-052).
#[derive(Clone, Debug, Default, PartialEq)]
struct Stamps {
    believed: f64,
    /// Not believed yet, nearest first.
    ahead: Vec<f64>,
}

impl Stamps {
    fn note(&mut self, at: f64, now: f64) {
        if age(at, now).is_some() {
            self.believed = self.believed.max(at);
        } else if at.is_finite() {
            let place = self.ahead.partition_point(|known| *known < at);
            if self.ahead.get(place) != Some(&at) {
                self.ahead.insert(place, at);
                self.ahead.truncate(AHEAD_KEPT);
            }
        }
    }

    fn newest(&self, now: f64) -> f64 {
        newest_plausible(self.ahead.iter().copied().chain([self.believed]), now)
    }
}

/// Output tokens of the rate window, and of stamps ahead of the clock.
#[derive(Clone, Debug, Default, PartialEq)]
struct Usage {
    events: Vec<(f64, u64)>,
}

impl Usage {
    fn note(&mut self, at: f64, tokens: u64, now: f64) {
        let stale = |at: f64| now - at > RATE_WINDOW_SEC;
        if stale(at) {
            return;
        }
        if self.events.len() == self.events.capacity() {
            self.events.retain(|(at, _)| !stale(*at));
            if self.events.len() >= USAGE_KEPT {
                self.events.remove(0);
            }
        }
        self.events.push((at, tokens));
    }

    fn rate(&self, now: f64) -> u64 {
        turn::rate_per_min(self.events.iter().copied(), now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(at: f64) -> Moment {
        Moment { at: Some(at), ..Moment::default() }
    }

    #[test]
    fn row_052_a_skewed_stamp_hides_nothing_and_counts_once_it_is_reached() {
        let mut story = Story::new(true);
        for t in [50.0, 90_000.0, 100.0, 80_000.0] {
            story.take(&at(t), 100.0);
        }
        assert_eq!(story.newest(100.0), 100.0);
        assert_eq!(story.newest(79_880.0), 80_000.0);
        assert_eq!(story.newest(90_000.0), 90_000.0);
        assert_eq!(Story::new(true).newest(1.0), 0.0);
    }

    #[test]
    fn turn_031_only_the_window_counts_and_only_it_is_kept() {
        let mut story = Story::new(true);
        for t in 0..10_000 {
            story.take(&Moment { output: 1, ..at(f64::from(t)) }, f64::from(t));
        }
        assert_eq!(story.rate_per_min(9_999.0), 60);
        assert_eq!(story.rate_per_min(20_000.0), 0);
        assert!(story.usage.events.len() < 2_000);
        story.take(&Moment { output: 900, ..at(90_000.0) }, 10_000.0);
        assert_eq!(story.rate_per_min(9_999.0), 60);
    }

    #[test]
    fn row_054_details() {
        for (subagents, thinking, tool, want) in [
            (1, true, Some("bash"), "running 1 subagent"),
            (3, false, None, "running 3 subagents"),
            (0, true, Some("bash"), "thinking"),
            (0, false, Some("bash"), "running bash"),
            (0, false, None, "generating…"),
        ] {
            assert_eq!(working_detail(subagents, thinking, tool), want);
        }
    }

    #[test]
    fn safe_001_a_prompt_is_safe_and_its_title_is_its_first_line() {
        let prompt = Prompt::new("\n  \u{202e}do it \u{7} now\nsecond line");
        assert_eq!(prompt.title.as_deref(), Some("do it   now"));
        assert!(prompt.text.ends_with("do it   now\nsecond line"));
        let long = Prompt::new(&"x".repeat(500));
        assert_eq!((long.title.unwrap().len(), long.text.len()), (TITLE_CAP_CHARS, LAST_PROMPT_CAP_CHARS));
    }
}
