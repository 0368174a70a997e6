//! The turn estimator and the loop reading, folded record by record (TURN-001..046).
//!
//! A harness feeds each record once, in file order; evaluation against a clock costs nothing that grows with the
//! transcript.

use super::observed::{Loop, State, Turn};
use super::time::{age, duration};
use crate::config::{
    LONG_TURN_WARN_SEC, LOOP_BARREN_FAILURE_THRESHOLD, LOOP_ERROR_RUN_THRESHOLD, LOOP_ERROR_TOTAL_THRESHOLD,
    TURN_GAP_RESET_SEC,
};
use std::collections::VecDeque;

/// Finished turns remembered per transcript.
const DURATIONS_KEPT: usize = 50;

/// What a record says about the turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Signal {
    #[default]
    None,
    /// A turn begins; the epoch overrides the record's stamp when the record names its own start.
    Start(Option<f64>),
    /// A person's prompt: the turn before it is over.
    Prompt,
    /// The turn is over.
    End,
}

/// One record of a transcript as the estimator sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record<'a> {
    /// The record's time; one without moves no clock.
    pub at: Option<f64>,
    pub signal: Signal,
    /// Output tokens, and the id that repeated records of one response share (CLAUDE-119).
    pub usage: Option<(Option<&'a str>, u64)>,
    /// Tool calls issued, as (call id, tool name); replaces the batch before when not empty.
    pub issued: &'a [(&'a str, &'a str)],
    /// Outcomes of calls, as (call id, failed).
    pub outcomes: &'a [(&'a str, bool)],
}

/// The folded state of one transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Turns {
    from_start: bool,
    first_stamp: Option<f64>,
    start: Option<f64>,
    prev: Option<f64>,
    durations: VecDeque<f64>,
    session_tokens: u64,
    turn_tokens: u64,
    /// The current request was seen from its opening.
    complete: bool,
    response: Option<(String, u64)>,
    batch: Vec<(String, String)>,
    run: u32,
    peak: u32,
    peak_tool: Option<String>,
    failures: u32,
    successes: u32,
}

impl Turns {
    /// A fold that begins at byte 0 (`from_start`) or somewhere inside the transcript.
    pub fn new(from_start: bool) -> Turns {
        Turns {
            from_start,
            first_stamp: None,
            start: None,
            prev: None,
            durations: VecDeque::new(),
            session_tokens: 0,
            turn_tokens: 0,
            complete: from_start,
            response: None,
            batch: Vec::new(),
            run: 0,
            peak: 0,
            peak_tool: None,
            failures: 0,
            successes: 0,
        }
    }

    /// Sets the open turn found by looking backward from where the fold begins (TURN-006); none when no turn is open.
    pub fn resume(&mut self, start: Option<f64>, prev: Option<f64>) {
        self.start = start;
        self.prev = prev;
    }

    /// Folds one record (TURN-003, TURN-004).
    pub fn record(&mut self, record: &Record<'_>) {
        if let Some(at) = record.at {
            if self.first_stamp.is_none() {
                self.first_stamp = Some(at);
            }
            self.gap(at);
            self.signal(at, record.signal);
        }
        if let Some((id, tokens)) = record.usage {
            self.usage(id, tokens);
        }
        self.outcomes(record);
        if record.at.is_some() {
            self.prev = record.at;
        }
    }

    fn gap(&mut self, at: f64) {
        let (Some(start), Some(prev)) = (self.start, self.prev) else { return };
        if at - prev > TURN_GAP_RESET_SEC {
            if prev > start {
                self.keep(prev - start);
            }
            self.start = Some(at);
            self.run = 0;
            self.peak = 0;
            self.peak_tool = None;
        }
    }

    fn signal(&mut self, at: f64, signal: Signal) {
        match signal {
            Signal::None => return,
            Signal::End => {
                if let Some(start) = self.start.take()
                    && at > start
                {
                    self.keep(at - start);
                }
                return;
            }
            Signal::Prompt => {
                if let (Some(start), Some(prev)) = (self.start, self.prev)
                    && prev > start
                {
                    self.keep(prev - start);
                }
                self.start = Some(at);
            }
            Signal::Start(own) => self.start = Some(own.unwrap_or(at)),
        }
        self.complete = true;
        self.turn_tokens = 0;
        self.response = None;
        self.batch.clear();
        self.run = 0;
        self.peak = 0;
        self.peak_tool = None;
        self.failures = 0;
        self.successes = 0;
    }

    fn usage(&mut self, id: Option<&str>, tokens: u64) {
        let counted = match (&self.response, id.filter(|i| !i.is_empty())) {
            (Some((last, n)), Some(id)) if last == id => *n,
            _ => 0,
        };
        // A record of the same response replaces what its earlier ones counted, never below it.
        let more = tokens.saturating_sub(counted);
        self.session_tokens = self.session_tokens.saturating_add(more);
        self.turn_tokens = self.turn_tokens.saturating_add(more);
        self.response = id.filter(|i| !i.is_empty()).map(|i| (i.to_string(), counted.max(tokens)));
    }

    fn outcomes(&mut self, record: &Record<'_>) {
        for (id, failed) in record.outcomes {
            if !failed {
                self.run = 0;
                self.successes = self.successes.saturating_add(1);
                continue;
            }
            self.run = self.run.saturating_add(1);
            self.failures = self.failures.saturating_add(1);
            if self.run > self.peak {
                self.peak = self.run;
                self.peak_tool = self.batch.iter().find(|(known, _)| known == id).map(|(_, name)| name.clone());
            }
        }
        if !record.issued.is_empty() {
            self.batch = record.issued.iter().map(|(id, name)| ((*id).to_string(), (*name).to_string())).collect();
        }
    }

    fn keep(&mut self, seconds: f64) {
        self.durations.push_back(seconds);
        if self.durations.len() > DURATIONS_KEPT {
            self.durations.pop_front();
        }
    }

    /// First stamp of the transcript, only when it was folded from byte 0 (CLAUDE-030).
    pub fn started_at(&self) -> Option<f64> {
        self.first_stamp.filter(|_| self.from_start)
    }

    /// Start of the open turn.
    pub fn open_since(&self) -> Option<f64> {
        self.start
    }

    /// Lengths of finished turns in seconds, oldest first.
    pub fn durations(&self) -> impl Iterator<Item = f64> {
        self.durations.iter().copied()
    }

    /// Output tokens of the whole transcript, only when all of it was folded.
    pub fn session_tokens(&self) -> Option<u64> {
        self.from_start.then_some(self.session_tokens)
    }

    /// Output tokens of the current request, only when it was seen from its opening.
    pub fn turn_tokens(&self) -> Option<u64> {
        self.complete.then_some(self.turn_tokens)
    }

    /// The running turn as published (TURN-020).
    pub fn estimate(&self, state: State, now: f64) -> Option<Turn> {
        estimate(state, self.start, &self.durations.iter().copied().collect::<Vec<_>>(), now)
    }

    /// The loop reading of the current request (TURN-041). Tool names are wire names, not yet cleaned.
    pub fn looping(&self) -> Option<Loop> {
        let by_run = self.peak >= LOOP_ERROR_RUN_THRESHOLD;
        let by_total = self.complete && self.failures >= LOOP_ERROR_TOTAL_THRESHOLD && self.failures > self.successes;
        let barren = self.complete && self.successes == 0 && self.failures >= LOOP_BARREN_FAILURE_THRESHOLD;
        (by_run || by_total || barren).then(|| Loop {
            errors: self.peak,
            tool: self.peak_tool.clone(),
            failures: self.complete.then_some(self.failures),
            barren: self.complete.then_some(barren),
        })
    }
}

/// The running turn from its start and the finished turns' lengths (TURN-020); also used again when an overlay changes
/// the state (TURN-022).
pub fn estimate(state: State, start: Option<f64>, durations: &[f64], now: f64) -> Option<Turn> {
    if state != State::Working {
        return None;
    }
    let elapsed = age(start?, now)?;
    let mut longer: Vec<f64> = durations.iter().copied().filter(|d| *d >= elapsed).collect();
    longer.sort_by(f64::total_cmp);
    let elapsed_h = duration(Some(elapsed));
    Some(match longer.get(longer.len() / 2).copied() {
        Some(est) => Turn {
            elapsed_h,
            eta_h: Some(duration(Some(est - elapsed))),
            pct: Some(if est == 0.0 { 99 } else { percent(elapsed, est).min(99) }),
            long: est.max(elapsed) >= LONG_TURN_WARN_SEC,
        },
        None => Turn {
            elapsed_h,
            eta_h: None,
            pct: (!durations.is_empty()).then_some(99),
            long: elapsed >= LONG_TURN_WARN_SEC,
        },
    })
}

/// `part` of `whole` in percent, rounded half to even.
pub fn percent(part: f64, whole: f64) -> u32 {
    (part * 100.0 / whole).round_ties_even() as u32
}

/// Closes and opens turns from the messages of a database harness: sorted `(epoch, is user)` pairs, no gap rule
/// (TURN-007). Returns the open turn's start and the finished turns' lengths.
pub fn from_messages(messages: impl IntoIterator<Item = (f64, bool)>) -> (Option<f64>, Vec<f64>) {
    let (mut start, mut prev) = (None::<f64>, None::<f64>);
    let mut durations = VecDeque::new();
    for (at, is_user) in messages {
        if is_user {
            if let (Some(s), Some(p)) = (start, prev)
                && p > s
            {
                durations.push_back(p - s);
                if durations.len() > DURATIONS_KEPT {
                    durations.pop_front();
                }
            }
            start = Some(at);
        }
        prev = Some(at);
    }
    (start, durations.into())
}

/// Output tokens a minute over the rate window: the fresh events' sum, a tenth of it, rounded half to even (TURN-031).
pub fn rate_per_min(events: impl IntoIterator<Item = (f64, u64)>, now: f64) -> u64 {
    let window = crate::config::RATE_WINDOW_SEC;
    let fresh = events.into_iter().filter(|(at, _)| super::time::fresh(*at, window, now));
    let sum = fresh.fold(0u64, |sum, (_, tokens)| sum.saturating_add(tokens));
    (sum as f64 / (window / 60.0)).round_ties_even() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(story: &str) -> Turns {
        let mut turns = Turns::new(true);
        let mut at = 1000.0;
        turns.record(&Record { at: Some(at), signal: Signal::Prompt, ..Record::default() });
        for step in story.chars() {
            at += 1.0;
            match step {
                'f' | 'o' => {
                    turns.record(&Record { at: Some(at), issued: &[("c", "Bash")], ..Record::default() });
                    turns.record(&Record { at: Some(at), outcomes: &[("c", step == 'f')], ..Record::default() });
                }
                'g' => at += 360.0,
                _ => turns.record(&Record { at: Some(at), signal: Signal::Prompt, ..Record::default() }),
            }
        }
        turns
    }

    /// TURN-041, TURN-042, TURN-045.
    #[test]
    fn turn_045_loop_cases() {
        for (story, want) in [
            ("ffff", Some((4, 4, true))),
            ("offfo", None),
            ("offffo", Some((4, 4, false))),
            ("fffofff", Some((3, 6, false))),
            ("fofofofofofooooooooo", None),
            ("fofofofooo", None),
            ("fff", Some((3, 3, true))),
            ("fof", None),
            ("ff", None),
            ("ooooogfff", None),
            ("fffp", None),
        ] {
            let got = results(story).looping();
            assert_eq!(got.map(|l| (l.errors, l.failures.unwrap(), l.barren.unwrap())), want, "{story}");
        }
        let tail = results("ffff").looping().unwrap();
        assert_eq!(tail.tool.as_deref(), Some("Bash"));
    }

    /// TURN-040.
    #[test]
    fn turn_040_a_request_joined_midway_claims_no_totals() {
        let mut turns = Turns::new(false);
        for at in 0..4 {
            turns.record(&Record { at: Some(f64::from(at)), outcomes: &[("c", true)], ..Record::default() });
        }
        let l = turns.looping().unwrap();
        assert_eq!((l.errors, l.failures, l.barren, l.tool), (4, None, None, None));
        assert_eq!((turns.session_tokens(), turns.turn_tokens(), turns.started_at()), (None, None, None));
    }

    /// TURN-004, TURN-005.
    #[test]
    fn turn_004_005_gaps_reset_the_clock_but_not_the_request() {
        let mut turns = Turns::new(true);
        let mut feed = |at: f64, signal, tokens| {
            turns.record(&Record { at: Some(at), signal, usage: Some((None, tokens)), ..Record::default() });
        };
        feed(0.0, Signal::Prompt, 0);
        feed(100.0, Signal::None, 5);
        feed(400.0, Signal::None, 5);
        feed(701.0, Signal::None, 7);
        assert_eq!(turns.open_since(), Some(701.0));
        assert_eq!(turns.durations().collect::<Vec<_>>(), [400.0]);
        assert_eq!((turns.turn_tokens(), turns.session_tokens()), (Some(17), Some(17)));
        turns.record(&Record { at: Some(720.0), signal: Signal::Prompt, ..Record::default() });
        assert_eq!((turns.turn_tokens(), turns.session_tokens()), (Some(0), Some(17)));
        turns.record(&Record { at: Some(730.0), signal: Signal::End, ..Record::default() });
        assert_eq!(turns.open_since(), None);
        assert_eq!(turns.durations().collect::<Vec<_>>(), [400.0, 10.0]);
    }

    /// TURN-020.
    #[test]
    fn turn_020_estimate() {
        let past = [60.0, 120.0, 300.0, 600.0];
        let turn = estimate(State::Working, Some(1000.0), &past, 1100.0).unwrap();
        assert_eq!(turn, Turn { elapsed_h: "1m".into(), eta_h: Some("3m".into()), pct: Some(33), long: false });
        let turn = estimate(State::Working, Some(1000.0), &past, 2000.0).unwrap();
        assert_eq!((turn.eta_h, turn.pct, turn.long), (None, Some(99), true));
        let turn = estimate(State::Working, Some(1000.0), &[], 1010.0).unwrap();
        assert_eq!((turn.pct, turn.long), (None, false));
        assert_eq!(estimate(State::Idle, Some(1000.0), &past, 1100.0), None);
        assert_eq!(estimate(State::Working, Some(9000.0), &past, 1100.0), None);
    }

    /// CLAUDE-119, FIELD-025, FIELD-026.
    #[test]
    fn claude_119_field_025_026_one_response_counts_once_and_whole() {
        let mut turns = Turns::new(true);
        for tokens in [3, 512, 512] {
            turns.record(&Record { at: Some(1.0), usage: Some((Some("msg_1"), tokens)), ..Record::default() });
        }
        turns.record(&Record { at: Some(2.0), usage: Some((Some("msg_2"), 8)), ..Record::default() });
        assert_eq!(turns.session_tokens(), Some(520));
    }

    /// TURN-043: the name comes from the newest batch of calls, at the moment the peak rose.
    #[test]
    fn turn_043_whose_call_failed() {
        let mut turns = Turns::new(true);
        let mut at = 0.0;
        let mut feed = |issued: &[(&str, &str)], outcomes: &[(&str, bool)]| {
            at += 1.0;
            turns.record(&Record { at: Some(at), issued, outcomes, ..Record::default() });
            turns.looping().map(|l| (l.errors, l.tool))
        };
        assert_eq!(feed(&[("a", "Read"), ("b", "Bash")], &[]), None);
        assert_eq!(feed(&[], &[("a", true), ("b", true), ("a", true)]), Some((3, Some("Read".into()))));
        assert_eq!(
            feed(&[("c", "Edit")], &[("b", true)]),
            Some((4, Some("Bash".into()))),
            "issued with it, not yet known"
        );
        assert_eq!(feed(&[], &[("a", true)]), Some((5, None)), "its batch was replaced");
        assert_eq!(feed(&[], &[("c", false), ("c", true)]), Some((5, None)), "a success resets the run, not the peak");
    }

    /// TURN-007.
    #[test]
    fn turn_007_database_messages() {
        let (start, past) = from_messages([(10.0, true), (40.0, false), (50.0, true), (55.0, false)]);
        assert_eq!((start, past), (Some(50.0), vec![30.0]));
        assert_eq!(from_messages([]), (None, vec![]));
    }

    /// TURN-031.
    #[test]
    fn turn_031_rate() {
        assert_eq!(rate_per_min([(0.0, 999), (500.0, 25), (700.0, 20)], 1000.0), 4);
    }
}
