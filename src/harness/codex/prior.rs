//! What lies in a long rollout before its turn scan: walked backward, in slices of bounded size, until nothing more is
//! wanted of it (CODEX-024, CODEX-034, CODEX-037, TURN-006).
//!
//! Every byte is passed once: the next slice begins where the last one ended, in a later pass if need be.

use super::facts::Facts;
use super::glance::{Glance, glance};
use super::intent::{self, Event, First, Older, Prompt, Statement};
use super::plan::{self, Plan};
use super::record::{self, What};
use super::rollout::Depth;
use crate::config::{CODEX_HEAD_BYTES, CODEX_WALK_LINE_BYTES, CODEX_WALK_PARSE_FACTOR, TURN_GAP_RESET_SEC};
use crate::harness::tail::{Backward, LINE_CAP, Line};
use crate::model::time::parse_iso;
use crate::surface::read::{ReadError, Reader};
use std::path::Path;

/// The part of a rollout before its turn scan.
#[derive(Debug, Default)]
pub struct Prior {
    /// What lies before this offset is not walked yet.
    end: u64,
    turn: Boundary,
    pub model: Option<String>,
    pub plan: Option<Plan>,
    pub older: Older,
}

/// Whether a turn was open where the turn scan began.
#[derive(Debug)]
enum Boundary {
    Sought {
        newest: Option<f64>,
        /// Stamp of the record met last, the next in file order.
        later: Option<f64>,
    },
    /// Start of the open turn, none when no turn was open; and the newest stamp before the scan.
    Found { start: Option<f64>, newest: Option<f64> },
}

impl Default for Boundary {
    fn default() -> Self {
        Boundary::Sought { newest: None, later: None }
    }
}

impl Boundary {
    fn is_sought(&self) -> bool {
        matches!(self, Boundary::Sought { .. })
    }

    /// Takes the next older record of a stamp (TURN-006).
    fn meet(&mut self, what: &What, at: f64) {
        let Boundary::Sought { newest, later } = self else { return };
        let newest = Some(newest.unwrap_or(at));
        let found = match (what, *later) {
            (_, Some(later)) if later - at > TURN_GAP_RESET_SEC => Some(later),
            (What::Start(own), _) => Some(own.unwrap_or(at)),
            (What::Complete(_) | What::Aborted, _) => None,
            _ => {
                *self = Boundary::Sought { newest, later: Some(at) };
                return;
            }
        };
        *self = Boundary::Found { start: found, newest };
    }
}

/// What a slice is walked for.
#[derive(Clone, Copy, Default)]
struct Wanted {
    turn: bool,
    model: bool,
    plan: bool,
    intent: bool,
}

impl Wanted {
    fn nothing(self) -> bool {
        !(self.turn || self.model || self.plan || self.intent)
    }
}

/// What a line cost.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    Passed,
    Parsed,
}

impl Prior {
    /// Enters a rollout whose turn scan begins at `begin`: finds the open turn there and the first prompt of all.
    /// `budget` is what may be walked in this pass, bytes.
    pub fn enter(&mut self, path: &Path, begin: u64, budget: &mut u64, facts: &mut Facts) -> Result<(), ReadError> {
        self.end = begin;
        let mut reader = Reader::open(path)?;
        facts.first = first_prompt(&mut reader, begin)?;
        self.slice(&mut reader, budget, |prior| {
            let sought = prior.turn.is_sought();
            Wanted { turn: sought, model: sought, plan: sought, intent: sought }
        });
        match self.turn {
            Boundary::Found { start, newest } => facts.resume(start, newest),
            Boundary::Sought { newest, .. } => facts.resume(None, newest),
        }
        Ok(())
    }

    /// Walks on for what is still wanted, at most one slice.
    pub fn go_on(&mut self, path: &Path, budget: &mut u64, facts: &mut Facts, depth: Depth) -> Result<(), ReadError> {
        if !self.is_unfinished(facts, depth) {
            return Ok(());
        }
        let sought = self.turn.is_sought();
        self.slice(&mut Reader::open(path)?, budget, |prior| prior.wanted(facts, depth));
        if let (true, Boundary::Found { start, .. }) = (sought, &self.turn) {
            facts.resume_late(*start);
        }
        Ok(())
    }

    /// What is not known yet, nor found in the scan behind it. Nobody asks for a child's plan or prompt.
    fn wanted(&self, facts: &Facts, depth: Depth) -> Wanted {
        let whole = depth == Depth::Whole;
        Wanted {
            turn: self.turn.is_sought() && !facts.is_bounded(),
            model: facts.model.is_none() && self.model.is_none(),
            plan: whole && facts.plan.is_none() && self.plan.is_none(),
            intent: whole && !intent::is_closed(&facts.intent, &self.older),
        }
    }

    /// Whether the walk can still find something.
    pub fn is_unfinished(&self, facts: &Facts, depth: Depth) -> bool {
        self.end > 0 && !self.wanted(facts, depth).nothing()
    }

    fn slice(&mut self, reader: &mut Reader, budget: &mut u64, wanted: impl Fn(&Prior) -> Wanted) {
        let end = self.end;
        let size = end.min(*budget);
        // A slice must have room for the longest line that is read, or that line would be left out.
        if size < end && size < LINE_CAP as u64 {
            return;
        }
        let floor = end - size;
        let (mut reached, mut cost) = (end, 0);
        let mut open = wanted(self);
        Backward::new(reader, floor, end).walk(None, &mut |line| {
            reached = line.at;
            let length = line.bytes.len() as u64;
            cost += CODEX_WALK_LINE_BYTES + length;
            match self.line(line, open) {
                Taken::Passed => {}
                Taken::Parsed => {
                    cost += CODEX_WALK_PARSE_FACTOR * length;
                    open = wanted(self);
                }
            }
            !open.nothing() && cost < *budget
        });
        // Without a whole line in it, a slice lies within one that is too long to be read.
        self.end = if reached < end { reached } else { floor };
        if self.end == 0
            && let Boundary::Sought { newest, .. } = self.turn
        {
            self.turn = Boundary::Found { start: None, newest };
        }
        *budget = budget.saturating_sub(cost.max(end - self.end));
    }

    fn line(&mut self, line: Line<'_>, wanted: Wanted) -> Taken {
        let seen = glance(line.bytes);
        if !matters(line.bytes, seen.as_ref(), wanted) {
            return Taken::Passed;
        }
        if let Some(seen) = seen.filter(Glance::is_quiet) {
            if let Some(at) = parse_iso(seen.stamp) {
                self.turn.meet(&What::Nothing, at);
            }
            // Only a bound of the turn changes what is wanted.
            return if self.turn.is_sought() { Taken::Passed } else { Taken::Parsed };
        }
        let Some(record) = record::read(line.bytes) else { return Taken::Parsed };
        if let (true, Some(at)) = (wanted.turn, record.at) {
            self.turn.meet(&record.what, at);
        }
        match record.what {
            What::Model(name) if self.model.is_none() => self.model = Some(name),
            What::Call(call) if self.plan.is_none() => self.plan = call.plan,
            what => self.meet(what, record.at),
        }
        Taken::Parsed
    }

    fn meet(&mut self, what: What, at: Option<f64>) {
        let event = match what {
            What::User(text) => Prompt::read(&text, at).map(|prompt| Event::Prompt(Box::new(prompt))),
            What::Commentary(text) if self.older.wants_statement() => {
                Statement::read(&text, at).map(|said| Event::Statement(Box::new(said)))
            }
            What::Start(_) => Some(Event::Start),
            What::Complete(_) | What::Aborted => Some(Event::End),
            What::Compaction => Some(Event::Compaction),
            _ => None,
        };
        if let Some(event) = event {
            self.older.push(event);
        }
    }
}

/// Byte strings one of which every record that can matter to the walk holds (CODEX-025, CODEX-034, CODEX-037).
const NEEDLES: [&str; 9] = [
    "\"user",
    "UserMessage",
    "agent_message",
    "AgentMessage",
    "task_",
    "turn_",
    "ompact",
    "thread_rolled_back",
    plan::TOOL,
];

/// Whether a line has to be read for what is wanted; most of a rollout has not.
fn matters(line: &[u8], seen: Option<&Glance<'_>>, wanted: Wanted) -> bool {
    let holds = |needle: &str| memchr::memmem::find(line, needle.as_bytes()).is_some();
    // Every stamp counts while a silence may bound the turn.
    if wanted.turn {
        return true;
    }
    let Some(seen) = seen else { return NEEDLES.iter().any(|needle| holds(needle)) };
    match (seen.outer, seen.inner) {
        ("turn_context", _) => wanted.model,
        ("response_item", Some("function_call" | "custom_tool_call")) => wanted.plan && holds(plan::TOOL),
        ("event_msg", Some("token_count")) => false,
        _ => wanted.intent && !seen.is_quiet(),
    }
}

/// The first prompt in the head of a long rollout (CODEX-065).
fn first_prompt(reader: &mut Reader, begin: u64) -> Result<Option<First>, ReadError> {
    let head = reader.range(0, begin.min(CODEX_HEAD_BYTES))?;
    let complete = memchr::memrchr(b'\n', &head).and_then(|end| head.get(..end)).unwrap_or_default();
    let wanted = Wanted { intent: true, ..Wanted::default() };
    let lines = complete.split(|b| *b == b'\n').filter(|line| matters(line, glance(line).as_ref(), wanted));
    let first = lines.filter_map(record::read).find_map(|record| match record.what {
        What::User(text) => First::read(&text, record.at),
        _ => None,
    });
    Ok(first)
}
