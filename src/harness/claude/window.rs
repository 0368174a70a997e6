//! Readings of the last 400,000 bytes of a transcript, kept current line by line.
//!
//! Every value remembers where its line began and goes when that place slides out of the window, so that what is read
//! as the file grows equals what one read of its end would give, at every moment (TRUST-081).

use super::question::{self, Tool};
use super::record::{Kind, Record};
use crate::config::{LAST_OUTPUT_CAP_CHARS, LAST_PROMPT_CAP_CHARS, MODEL_CAP_CHARS, TOOL_CAP_CHARS};
use crate::harness::line;
use crate::model::time::{age, newest_plausible};
use crate::model::turn::rate_per_min;
use crate::text::{redact_clip, safe_lines, safe_name};
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A model name that says the harness itself wrote the record; judged by value alone (CLAUDE-025).
const SYNTHETIC: &str = "<synthetic>";
/// Most bytes of a final answer held before it is made safe: room for a key behind the last published character.
const OUTPUT_BYTES: usize = 4 * LAST_OUTPUT_CAP_CHARS + 32_768;
/// Most open questions held.
const QUESTIONS: usize = 64;

/// The windowed readings of one transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    last_prompt: Slot<String>,
    model: Slot<String>,
    side_model: Slot<String>,
    last_tool: Slot<String>,
    output: Slot<String>,
    /// `output` is as recorded, not yet made safe.
    output_raw: bool,
    own: Newest,
    any: Newest,
    spent: VecDeque<Spent>,
    questions: Vec<Question>,
}

/// A call that waits for a person's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    at: u64,
    id: u64,
    /// When it was asked, 0 when unstamped.
    pub asked: f64,
    pub tool: Tool,
    /// What is asked; empty when the input held nothing usable.
    pub line: String,
}

/// Output tokens of one record.
#[derive(Clone, Debug, PartialEq)]
struct Spent {
    at: u64,
    /// Digest of the response's id; `None` counts by itself.
    response: Option<u64>,
    stamp: f64,
    tokens: u64,
}

impl Window {
    pub fn new() -> Window {
        Window {
            last_prompt: Slot(None),
            model: Slot(None),
            side_model: Slot(None),
            last_tool: Slot(None),
            output: Slot(None),
            output_raw: false,
            own: Newest::default(),
            any: Newest::default(),
            spent: VecDeque::new(),
            questions: Vec::new(),
        }
    }

    /// Folds the record whose line begins at `at`.
    pub fn record(&mut self, at: u64, record: &Record<'_>, now: f64) {
        let stamp = record.at();
        if let Some(stamp) = stamp {
            self.any.push(at, stamp, now);
        }
        match record.kind() {
            Kind::Assistant => self.assistant(at, record, stamp, now),
            Kind::User => self.answers(record),
            Kind::LastPrompt => {
                let text = line::text(record.last_prompt).unwrap_or_default();
                self.last_prompt.set(at, redact_clip(&text, LAST_PROMPT_CAP_CHARS).into_owned());
            }
            Kind::AiTitle | Kind::Other => {}
        }
    }

    fn assistant(&mut self, at: u64, record: &Record<'_>, stamp: Option<f64>, now: f64) {
        if let Some(stamp) = stamp.filter(|_| !record.is_side_chain()) {
            self.own.push(at, stamp, now);
        }
        let Some(message) = record.message() else { return };
        if let Some(name) = line::text(message.model).filter(|name| *name != SYNTHETIC) {
            let slot = if record.is_side_chain() { &mut self.side_model } else { &mut self.model };
            slot.name(at, &name, MODEL_CAP_CHARS);
        }
        if let (Some(stamp), Some(tokens @ 1..)) = (stamp, message.output_tokens()) {
            let response = line::nonempty(message.id).map(|id| digest(&id));
            self.spent.push_back(Spent { at, response, stamp, tokens });
        }
        let Some(blocks) = message.blocks() else { return };
        if let Some(text) = (!record.is_side_chain()).then(|| blocks.text(OUTPUT_BYTES)).flatten() {
            self.output.set(at, text);
            self.output_raw = true;
        }
        for call in &blocks.calls {
            let Some(name) = call.name.as_deref() else { continue };
            self.last_tool.name(at, name, TOOL_CAP_CHARS);
            if let (Some(tool), Some(id)) = (Tool::parse(name), call.id.as_deref()) {
                if self.questions.len() >= QUESTIONS {
                    self.questions.remove(0);
                }
                let line = question::summary(tool, call.input);
                self.questions.push(Question { at, id: digest(id), asked: stamp.unwrap_or(0.0), tool, line });
            }
        }
    }

    fn answers(&mut self, record: &Record<'_>) {
        let Some(blocks) = record.message().and_then(|m| m.blocks()) else { return };
        if self.questions.is_empty() {
            return;
        }
        for id in blocks.results.iter().filter_map(|r| r.id.as_deref()) {
            let id = digest(id);
            self.questions.retain(|q| q.id != id);
        }
    }

    /// Drops what lies before the window of a file of `len` bytes, and readies what is published.
    pub fn slide(&mut self, len: u64, span: u64) {
        let floor = len.saturating_sub(span);
        for slot in
            [&mut self.last_prompt, &mut self.model, &mut self.side_model, &mut self.last_tool, &mut self.output]
        {
            slot.slide(floor);
        }
        self.own.slide(floor);
        self.any.slide(floor);
        while self.spent.front().is_some_and(|s| s.at < floor) {
            self.spent.pop_front();
        }
        self.questions.retain(|q| q.at >= floor);
        if self.output_raw
            && let Some((_, text)) = &mut self.output.0
        {
            *text = safe_lines(text, LAST_OUTPUT_CAP_CHARS).into_owned();
        }
        self.output_raw = false;
    }

    /// The newest prompt as the harness recorded it (CLAUDE-023).
    pub fn last_prompt(&self) -> &str {
        self.last_prompt.get().unwrap_or_default()
    }

    /// The model of the session's own agent (CLAUDE-025).
    pub fn model(&self) -> Option<&str> {
        self.model.get()
    }

    /// The model of a child's transcript, whose records may all be side-chain ones (CLAUDE-026).
    pub fn child_model(&self) -> Option<&str> {
        self.side_model.get().or(self.model.get())
    }

    pub fn last_tool(&self) -> Option<&str> {
        self.last_tool.get()
    }

    /// The newest final answer, safe and bounded (CLAUDE-035).
    pub fn last_output(&self) -> Option<&str> {
        self.output.get()
    }

    /// Newest believable stamp of an assistant record of the session's own agent, else 0 (CLAUDE-029).
    pub fn own_activity(&self, now: f64) -> f64 {
        self.own.value(now)
    }

    /// Newest believable stamp of any record, else 0.
    pub fn newest_stamp(&self, now: f64) -> f64 {
        self.any.value(now)
    }

    /// The open question that counts: the one asked last (CLAUDE-040).
    pub fn question(&self) -> Option<&Question> {
        self.questions.iter().max_by(|a, b| a.asked.total_cmp(&b.asked))
    }

    /// Output tokens a minute; records of one response count once, with their largest count, at the stamp of the last
    /// (CLAUDE-027, CLAUDE-119).
    pub fn rate_per_min(&self, now: f64) -> u64 {
        let mut responses: HashMap<u64, (f64, u64)> = HashMap::new();
        let mut alone = Vec::new();
        for spent in &self.spent {
            match spent.response {
                Some(id) => {
                    let held = responses.entry(id).or_default();
                    *held = (spent.stamp, held.1.max(spent.tokens));
                }
                None => alone.push((spent.stamp, spent.tokens)),
            }
        }
        rate_per_min(responses.into_values().chain(alone), now)
    }
}

/// A digest of an identifier, to compare and not to keep it.
pub fn digest(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// The newest value of a kind, with the place of its line.
#[derive(Clone, Debug, PartialEq)]
struct Slot<T>(Option<(u64, T)>);

impl<T> Slot<T> {
    fn set(&mut self, at: u64, value: T) {
        self.0 = Some((at, value));
    }

    fn slide(&mut self, floor: u64) {
        if self.0.as_ref().is_some_and(|(at, _)| *at < floor) {
            self.0 = None;
        }
    }
}

impl Slot<String> {
    fn get(&self) -> Option<&str> {
        self.0.as_ref().map(|(_, value)| value.as_str())
    }

    /// Takes a vendor's name; one that is empty when made safe is not reported and withdraws nothing.
    fn name(&mut self, at: u64, name: &str, cap: usize) {
        match &mut self.0 {
            Some((held, value)) if value == name => *held = at,
            _ => {
                if let Some(name) = safe_name(name, cap) {
                    self.set(at, name);
                }
            }
        }
    }
}

/// The largest believable stamp in the window, without holding every stamp: one that a later line's believable stamp
/// reaches can never be the largest again.
#[derive(Clone, Debug, Default, PartialEq)]
struct Newest(VecDeque<(u64, f64)>);

impl Newest {
    fn push(&mut self, at: u64, stamp: f64, now: f64) {
        if age(stamp, now).is_some() {
            while self.0.back().is_some_and(|(_, held)| *held <= stamp) {
                self.0.pop_back();
            }
        }
        self.0.push_back((at, stamp));
    }

    fn slide(&mut self, floor: u64) {
        while self.0.front().is_some_and(|(at, _)| *at < floor) {
            self.0.pop_front();
        }
    }

    fn value(&self, now: f64) -> f64 {
        newest_plausible(self.0.iter().map(|(_, stamp)| *stamp), now)
    }
}
