//! What is known of one rollout, folded record by record in file order (CODEX-031..035).

use super::boots;
use super::dispatch::Dispatch;
use super::intent::{Event, First, Prompt, Recent, Statement};
use super::plan::Plan;
use super::quota::Usage;
use super::record::{self, Answer, Call, Tokens, What};
use crate::config::{
    CODEX_EVENT_SCAN_BYTES, CODEX_EVENTS_PER_CHILD, LAST_OUTPUT_CAP_CHARS, RATE_WINDOW_SEC, TAIL_BYTES,
    TURN_GAP_RESET_SEC,
};
use crate::harness::boot::{Boot, KEPT};
use crate::harness::tail::Line;
use crate::model::SubagentEventKind;
use crate::model::time::{age, fresh, newest_plausible};
use crate::model::turn::{self, Signal, Turns};
use crate::text::safe_lines;
use std::collections::VecDeque;

/// Usage events kept: more than ten minutes of responses can hold.
const USAGE_EVENTS: usize = 4096;
/// Dispatches kept.
const DISPATCHES: usize = 64;

/// A lifecycle record: where it stands in the file, when, what.
type Lived = (u64, f64, SubagentEventKind);

/// The folded state of one rollout.
#[derive(Debug)]
pub struct Facts {
    from_start: bool,
    turns: Turns,
    /// Newest stamp in file order.
    prev: Option<f64>,
    /// A turn began or ended in what was folded, so what lies before it decides nothing about the open turn.
    bounded: bool,
    /// Last record behind a long silence, while that is not so.
    anchor: Option<f64>,
    last_start: Option<f64>,
    last_event: f64,
    /// Smallest stamp that lies too far ahead to be believed yet.
    ahead: Option<f64>,
    pub model: Option<String>,
    pub tool: Option<String>,
    usage: VecDeque<(f64, u64)>,
    so_far: Option<(Option<u64>, Option<u64>)>,
    pub quota: Option<Usage>,
    fresh_answer: Option<Answer>,
    answer: Option<String>,
    answer_sure: bool,
    pub intent: Recent,
    pub first: Option<First>,
    pub plan: Option<Plan>,
    dispatches: VecDeque<(u64, Dispatch)>,
    lived: VecDeque<Lived>,
    /// The first boot envelopes that commands printed.
    pub boots: Vec<Boot>,
    /// Lines that were no records.
    pub skipped: u64,
    /// Stamp of the newest recorded end of a turn, unless another began since.
    pub stopped: Option<f64>,
}

impl Facts {
    /// Nothing known yet of a rollout that is read from its first byte or from somewhere inside it.
    pub fn new(from_start: bool) -> Facts {
        Facts {
            from_start,
            turns: Turns::new(from_start),
            prev: None,
            bounded: from_start,
            anchor: None,
            last_start: None,
            last_event: 0.0,
            ahead: None,
            model: None,
            tool: None,
            usage: VecDeque::new(),
            so_far: None,
            quota: None,
            fresh_answer: None,
            answer: None,
            answer_sure: false,
            intent: Recent::default(),
            first: None,
            plan: None,
            dispatches: VecDeque::new(),
            lived: VecDeque::new(),
            boots: Vec::new(),
            skipped: 0,
            stopped: None,
        }
    }

    /// Whether the rollout was read from its first byte.
    pub fn is_whole(&self) -> bool {
        self.from_start
    }

    /// Whether what lies before the reading decides nothing about the open turn.
    pub fn is_bounded(&self) -> bool {
        self.bounded
    }

    /// Folds one line.
    pub fn line(&mut self, line: Line<'_>, now: f64) {
        let Some(record) = record::read(line.bytes) else {
            self.skipped += u64::from(!line.bytes.trim_ascii().is_empty());
            return;
        };
        let signal = match &record.what {
            What::Start(own) => Signal::Start(*own),
            What::Complete(_) | What::Aborted => Signal::End,
            _ => Signal::None,
        };
        if self.boots.len() < KEPT {
            self.boots.extend(boots::read(line.bytes));
            self.boots.truncate(KEPT);
        }
        self.tick(record.at, signal, now);
        self.take(record.what, record.at, line.at, now);
    }

    fn tick(&mut self, at: Option<f64>, signal: Signal, now: f64) {
        if let (Some(prev), Some(at)) = (self.prev, at)
            && at - prev > TURN_GAP_RESET_SEC
        {
            self.anchor = Some(at);
        }
        self.turns.record(&turn::Record { at, signal, ..turn::Record::default() });
        self.bounded |= signal != Signal::None && at.is_some();
        if let Some(start) = self.turns.open_since() {
            self.last_start = Some(start);
        }
        let Some(at) = at else { return };
        self.prev = Some(at);
        if age(at, now).is_some() {
            self.last_event = self.last_event.max(at);
        } else {
            self.ahead = Some(self.ahead.map_or(at, |ahead| ahead.min(at)));
        }
    }

    fn take(&mut self, what: What, at: Option<f64>, offset: u64, now: f64) {
        match what {
            What::Nothing => {}
            What::Model(name) => self.model = Some(name),
            What::User(text) => self.user(&text, at),
            What::Commentary(text) => {
                if self.intent.wants_statement()
                    && let Some(said) = Statement::read(&text, at)
                {
                    self.intent.push(Event::Statement(Box::new(said)));
                }
            }
            What::Answer(answer) => self.answered(answer),
            What::Start(_) => {
                self.stopped = None;
                self.lives(offset, at, SubagentEventKind::TaskStarted);
                self.intent.push(Event::Start);
            }
            What::Complete(words) => {
                self.stopped = at;
                self.lives(offset, at, SubagentEventKind::Complete);
                self.intent.push(Event::End);
                if let Some(text) = words {
                    self.answered(Answer { text, sure: true });
                }
            }
            What::Aborted => {
                self.stopped = None;
                self.lives(offset, at, SubagentEventKind::Interrupted);
                self.intent.push(Event::End);
            }
            What::Compaction => self.intent.push(Event::Compaction),
            What::Tokens(tokens) => self.tokens(tokens, at, now),
            What::Call(call) => self.called(call, offset),
        }
    }

    fn user(&mut self, text: &str, at: Option<f64>) {
        if self.from_start && self.first.is_none() {
            self.first = First::read(text, at);
        }
        if let Some(prompt) = Prompt::read(text, at) {
            self.stopped = None;
            self.intent.push(Event::Prompt(Box::new(prompt)));
        }
    }

    /// A record that calls itself an answer is never replaced by one of which that is only likely.
    fn answered(&mut self, answer: Answer) {
        let sure = self.answer_sure || self.fresh_answer.as_ref().is_some_and(|a| a.sure);
        if answer.sure || !sure {
            self.fresh_answer = Some(answer);
        }
    }

    fn tokens(&mut self, tokens: Tokens, at: Option<f64>, now: f64) {
        let Some(at) = at else { return };
        // Codex writes a record again when only the quota moved.
        let repeated = tokens.so_far.is_some() && tokens.so_far == self.so_far;
        if let Some(output) = tokens.output.filter(|_| !repeated && fresh(at, RATE_WINDOW_SEC, now)) {
            if self.usage.len() >= USAGE_EVENTS {
                self.usage.pop_front();
            }
            self.usage.push_back((at, output));
        }
        if tokens.so_far.is_some() {
            self.so_far = tokens.so_far;
        }
        // A stamp too far ahead would hide the figures before it.
        if tokens.usage.is_some() && age(at, now).is_some() {
            self.quota = tokens.usage;
        }
    }

    fn called(&mut self, call: Call, offset: u64) {
        if call.tool.is_some() {
            self.tool = call.tool;
        }
        if call.plan.is_some() {
            self.plan = call.plan;
        }
        if let Some(dispatch) = call.dispatch {
            if self.dispatches.len() >= DISPATCHES {
                self.dispatches.pop_front();
            }
            self.dispatches.push_back((offset, dispatch));
        }
    }

    fn lives(&mut self, offset: u64, at: Option<f64>, kind: SubagentEventKind) {
        let Some(at) = at else { return };
        if self.lived.len() >= CODEX_EVENTS_PER_CHILD {
            self.lived.pop_front();
        }
        self.lived.push_back((offset, at, kind));
    }

    /// Brings the open turn over from before the reading: its start, and the newest stamp there (TURN-006).
    pub fn resume(&mut self, start: Option<f64>, prev: Option<f64>) {
        self.turns.resume(start, prev);
        self.last_start = start;
        self.prev = prev;
    }

    /// The same, found only after some records were folded.
    pub fn resume_late(&mut self, start: Option<f64>) {
        if self.bounded || self.turns.open_since().is_some() {
            return;
        }
        if let Some(start) = start.map(|start| self.anchor.unwrap_or(start)) {
            self.turns.resume(Some(start), self.prev);
            self.last_start = Some(start);
        }
    }

    /// Ends one reading: cleans the newest answer, forgets what can no longer count.
    pub fn settle(&mut self, now: f64) {
        if let Some(answer) = self.fresh_answer.take() {
            let text = safe_lines(&answer.text, LAST_OUTPUT_CAP_CHARS);
            self.answer = (!text.trim().is_empty()).then(|| text.into_owned());
            self.answer_sure = answer.sure;
        }
        self.usage.retain(|(at, _)| fresh(*at, RATE_WINDOW_SEC, now));
    }

    /// First stamp, only when the rollout was read from its first byte.
    pub fn started_at(&self) -> Option<f64> {
        self.turns.started_at()
    }

    /// Start of the open turn.
    pub fn turn_start(&self) -> Option<f64> {
        self.turns.open_since()
    }

    /// Lengths of finished turns in seconds.
    pub fn turn_durations(&self) -> Vec<f64> {
        self.turns.durations().collect()
    }

    /// Newest believed stamp, 0 when there is none.
    pub fn last_event(&self, now: f64) -> f64 {
        newest_plausible([self.last_event, self.ahead.unwrap_or(0.0)], now)
    }

    /// Newest final answer, cleaned.
    pub fn answer(&self) -> Option<&str> {
        self.answer.as_deref()
    }

    /// Output tokens a minute.
    pub fn rate(&self, now: f64) -> u64 {
        turn::rate_per_min(self.usage.iter().copied(), now)
    }

    /// Output tokens a minute since the last turn began: a fork carries its parent's older ones (CODEX-020).
    pub fn rate_of_turn(&self, now: f64) -> u64 {
        let Some(start) = self.last_start else { return 0 };
        turn::rate_per_min(self.usage.iter().copied().filter(|(at, _)| *at >= start), now)
    }

    /// The newest dispatch to a child, out of the last bytes of a rollout this long.
    pub fn dispatch_to(&self, agent_path: &str, len: u64) -> Option<&Dispatch> {
        let from = len.saturating_sub(TAIL_BYTES);
        let newest = self.dispatches.iter().rev().take_while(|(at, _)| *at >= from);
        newest.map(|(_, dispatch)| dispatch).find(|dispatch| dispatch.is_for(agent_path))
    }

    /// The lifecycle records in the last bytes of a rollout this long, oldest first: stamp and what happened.
    pub fn lived(&self, len: u64) -> impl Iterator<Item = (f64, SubagentEventKind)> {
        let from = len.saturating_sub(CODEX_EVENT_SCAN_BYTES);
        self.lived.iter().filter(move |(offset, _, _)| *offset >= from).map(|(_, at, kind)| (*at, *kind))
    }
}
