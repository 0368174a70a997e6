//! One session's transcript, folded record by record: every reading of section 3 out of one parse of each line.

use super::prompts::{First, Instructions};
use super::record::{Kind, Message, Record, prompt_text};
use super::window::{Window, digest};
use crate::config::{MAX_CACHE_ENTRIES, TITLE_CAP_CHARS, TOOL_CAP_CHARS, TURN_SCAN_MAX_BYTES};
use crate::harness::identity::blake2b_16;
use crate::harness::line;
use crate::harness::tail::Line;
use crate::model::Loop;
use crate::model::turn::{self, Signal, Turns};
use crate::text::{json, safe_name, safe_text};
use memchr::memmem::Finder;
use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;

/// Longest `uuid` of a user record that is kept as it is, bytes.
const UUID_BYTES: usize = 64;

/// Version of the newest store sample (`fixtures/claude`).
pub const NEWEST_SAMPLE: [u32; 3] = [2, 1, 260];

/// The folded state of one transcript. Small: whatever is not published or needed to go on is not kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    pub window: Window,
    pub turns: Turns,
    pub instructions: Instructions,
    /// The newest generated title (CLAUDE-021).
    pub title: Option<String>,
    pub first: Option<First>,
    /// The newest user record (CLAUDE-033).
    pub user_event: Option<Box<str>>,
    /// Lines that are no records.
    pub skipped: u64,
    version: [u32; 3],
    stop: Stop,
    responses: Responses,
    from_start: bool,
}

impl Story {
    /// A fold that begins at byte 0 (`from_start`) or somewhere inside the transcript.
    pub fn new(from_start: bool) -> Story {
        Story {
            window: Window::new(),
            turns: Turns::new(from_start),
            instructions: Instructions::default(),
            title: None,
            first: None,
            user_event: None,
            skipped: 0,
            version: [0; 3],
            stop: Stop::default(),
            responses: Responses::default(),
            from_start,
        }
    }

    /// Folds the next line of the file.
    pub fn line(&mut self, line: Line<'_>, now: f64) {
        let Some(text) = readable(line.bytes, &mut self.skipped) else { return };
        let Some(record) = Record::parse(&text) else {
            self.skipped += 1;
            return;
        };
        self.version = record.version().map_or(self.version, |v| v.max(self.version));
        self.window.record(line.at, &record, now);
        self.turn(&record);
        match record.kind() {
            Kind::AiTitle => self.title = title(&record).or_else(|| self.title.take()),
            Kind::User => self.user(&record, &text, line),
            Kind::Assistant => self.stop.assistant(&record),
            Kind::LastPrompt | Kind::Other => {}
        }
    }

    fn user(&mut self, record: &Record<'_>, text: &str, line: Line<'_>) {
        self.user_event = Some(user_event(record, line.bytes));
        self.stop.answers(record);
        if record.is_compact_summary() {
            self.instructions.newer_compaction();
        } else if record.is_prompt() {
            self.stop = Stop::default();
            let (text, at) = (prompt_text(text), record.at());
            self.instructions.newer(&text, at);
            if self.first.is_none() && self.from_start && line.at < TURN_SCAN_MAX_BYTES {
                self.first = First::of(&text, at);
            }
        }
    }

    fn turn(&mut self, record: &Record<'_>) {
        let signal = if record.is_prompt() { Signal::Prompt } else { Signal::None };
        let message = record.message();
        let usage = match record.kind() {
            Kind::Assistant => message.and_then(|m| Some((None, self.responses.more(m, m.output_tokens()?)))),
            _ => None,
        };
        let blocks = message.and_then(Message::blocks);
        let issued: Vec<(&str, &str)> = match (record.kind(), blocks) {
            (Kind::Assistant, Some(blocks)) => {
                blocks.calls.iter().filter_map(|c| Some((c.id.as_deref()?, c.name.as_deref()?))).collect()
            }
            _ => Vec::new(),
        };
        let outcomes: Vec<(&str, bool)> = match (record.kind(), blocks) {
            (Kind::User, Some(blocks)) => {
                blocks.results.iter().map(|r| (r.id.as_deref().unwrap_or_default(), r.failed)).collect()
            }
            _ => Vec::new(),
        };
        self.turns.record(&turn::Record { at: record.at(), signal, usage, issued: &issued, outcomes: &outcomes });
    }

    /// The loop reading with its tool's name made safe (TURN-043).
    pub fn looping(&self) -> Option<Loop> {
        let mut looping = self.turns.looping()?;
        looping.tool = looping.tool.and_then(|name| safe_name(&name, TOOL_CAP_CHARS));
        Some(looping)
    }

    /// Whether a version of Claude Code wrote here that is newer than every store sample this reader is tested with
    /// (DECK-020).
    pub fn is_unseen_version(&self) -> bool {
        self.version > NEWEST_SAMPLE
    }

    /// When the session's own agent recorded the end of its turn, if nothing of its own follows (CLAUDE-038).
    pub fn recorded_stop(&self) -> Option<f64> {
        self.stop.at.filter(|_| self.stop.open.is_empty())
    }

    /// Takes the next older line of a walk back from where the fold began; whether the walk can go on.
    pub fn older(&mut self, bytes: &[u8], wanted: &mut Wanted) -> bool {
        let mut skipped = 0;
        let hit = (wanted.title && HINTS.title.find(bytes).is_some())
            || ((wanted.user_event || wanted.instruction) && HINTS.user.find(bytes).is_some());
        if hit
            && let Some(text) = readable(bytes, &mut skipped)
            && let Some(record) = Record::parse(&text)
        {
            match record.kind() {
                Kind::AiTitle if wanted.title => {
                    self.title = title(&record);
                    wanted.title = self.title.is_none();
                }
                Kind::User => {
                    if wanted.user_event {
                        self.user_event = Some(user_event(&record, bytes));
                        wanted.user_event = false;
                    }
                    if wanted.instruction && record.is_compact_summary() {
                        wanted.instruction = !self.instructions.older_compaction();
                    } else if wanted.instruction && record.is_prompt() {
                        wanted.instruction = !self.instructions.older(&prompt_text(&text), record.at());
                    }
                }
                _ => {}
            }
        }
        wanted.any()
    }

    /// What a walk back is to look for.
    pub fn wanted(&self) -> Wanted {
        Wanted {
            title: self.title.is_none(),
            user_event: self.user_event.is_none(),
            instruction: !self.instructions.is_settled(),
        }
    }
}

/// The readings a walk back has still to find.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    title: bool,
    user_event: bool,
    instruction: bool,
}

impl Wanted {
    /// Whether anything is still to be found.
    pub fn any(self) -> bool {
        self.title || self.user_event || self.instruction
    }
}

struct Hints {
    stamp: Finder<'static>,
    title: Finder<'static>,
    prompt: Finder<'static>,
    user: Finder<'static>,
    assistant: Finder<'static>,
}

/// Bytes without which a line cannot matter; whether it does is judged again from its record.
static HINTS: LazyLock<Hints> = LazyLock::new(|| Hints {
    stamp: Finder::new(b"\"timestamp\""),
    title: Finder::new(b"\"aiTitle\""),
    prompt: Finder::new(b"\"lastPrompt\""),
    user: Finder::new(b"\"user\""),
    assistant: Finder::new(b"\"assistant\""),
});

/// A line as the text of a record that may matter; counts one that is none.
pub fn readable<'l>(bytes: &'l [u8], skipped: &mut u64) -> Option<std::borrow::Cow<'l, str>> {
    if bytes.trim_ascii().is_empty() {
        return None;
    }
    let text = json::record(bytes);
    if text.is_none() {
        *skipped += 1;
    }
    let h = &*HINTS;
    let matters = [&h.stamp, &h.user, &h.assistant, &h.title, &h.prompt].iter().any(|f| f.find(bytes).is_some());
    if text.is_some() && !matters && !bytes.trim_ascii_end().ends_with(b"}") {
        // What does not matter is not parsed, but a torn record is told by its end.
        *skipped += 1;
    }
    text.filter(|_| matters)
}

fn title(record: &Record<'_>) -> Option<String> {
    let title = line::nonempty(record.ai_title)?;
    let title = safe_text(&title, TITLE_CAP_CHARS);
    let title = title.trim();
    (!title.is_empty()).then(|| title.to_owned())
}

/// What identifies a user record, whatever its stamp (CLAUDE-033).
pub fn user_event(record: &Record<'_>, raw: &[u8]) -> Box<str> {
    match line::nonempty(record.uuid) {
        Some(uuid) if uuid.len() <= UUID_BYTES => Box::from(&*uuid),
        _ => blake2b_16(raw).into(),
    }
}

/// The end of a turn as the agent recorded it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Stop {
    at: Option<f64>,
    /// Digests of that record's calls that have no result yet.
    open: Vec<u64>,
}

impl Stop {
    fn assistant(&mut self, record: &Record<'_>) {
        if record.is_side_chain() {
            return;
        }
        let ended = |m: &&Message<'_>| line::text(m.stop_reason).as_deref() == Some("end_turn");
        let message = record.message().filter(ended);
        self.at = message.and_then(|_| record.at());
        let calls = message.and_then(Message::blocks).into_iter().flat_map(|blocks| &blocks.calls);
        self.open = calls.map(|call| call.id.as_deref().map_or(0, digest)).collect();
    }

    fn answers(&mut self, record: &Record<'_>) {
        if self.open.is_empty() {
            return;
        }
        let Some(blocks) = record.message().and_then(Message::blocks) else { return };
        for id in blocks.results.iter().filter_map(|r| r.id.as_deref()) {
            let id = digest(id);
            self.open.retain(|open| *open != id);
        }
    }
}

/// Output tokens counted so far of each response, so that the records of one count once (CLAUDE-119).
#[derive(Clone, Debug, Default, PartialEq)]
struct Responses {
    counted: HashMap<u64, u32>,
    order: VecDeque<u64>,
}

impl Responses {
    /// What a record adds to the sums: all of it, or what it counts beyond the earlier records of its response.
    fn more(&mut self, message: &Message<'_>, tokens: u64) -> u64 {
        let Some(id) = line::nonempty(message.id).map(|id| digest(&id)) else { return tokens };
        let short = u32::try_from(tokens).unwrap_or(u32::MAX);
        match self.counted.get_mut(&id) {
            Some(held) => {
                let more = tokens.saturating_sub(u64::from(*held));
                *held = short.max(*held);
                more
            }
            None => {
                if self.order.len() >= MAX_CACHE_ENTRIES
                    && let Some(oldest) = self.order.pop_front()
                {
                    self.counted.remove(&oldest);
                }
                self.counted.insert(id, short);
                self.order.push_back(id);
                tokens
            }
        }
    }
}
