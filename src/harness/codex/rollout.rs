//! One rollout as far as it is read: its new lines, and what lies before them.

use super::boots::Scan;
use super::facts::Facts;
use super::intent::{self, Reading};
use super::plan::Plan;
use super::prior::Prior;
use crate::config::{CODEX_WALK_BYTES, TAIL_BYTES, TURN_SCAN_MAX_BYTES};
use crate::harness::pause::Pause;
use crate::harness::tail::{Advance, Fold, Line, Tail};
use crate::surface::read::{ReadError, Stamp};
use crate::text::safe::diagnostic;
use std::path::Path;

/// How much of a rollout is read when it is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Its last bytes: enough for a child at rest.
    Tail,
    /// The turn scan, and what bounds its turn and names its model before it: enough for a child at work.
    Turn,
    /// The turn scan and the walk before it.
    Whole,
}

impl Depth {
    const fn bytes(self) -> u64 {
        match self {
            Depth::Tail => TAIL_BYTES,
            Depth::Turn | Depth::Whole => TURN_SCAN_MAX_BYTES,
        }
    }
}

/// Why a file is not read for now.
#[derive(Debug)]
pub struct Fault {
    /// `<Type>: <message>`, redacted and bounded.
    pub why: String,
    stamp: Stamp,
    pause: Pause,
}

impl Fault {
    /// A failure met at `now`, after an earlier one perhaps.
    pub fn new(error: &ReadError, before: Option<&Fault>, stamp: Stamp, now: f64) -> Fault {
        let mut pause = before.map_or_else(Pause::default, |fault| fault.pause);
        pause.failed(now);
        Fault { why: why(error), stamp, pause }
    }

    /// Whether the file is to be left alone yet: it is the one that failed, and the pause is not over.
    pub fn holds(&self, stamp: Stamp, now: f64) -> bool {
        self.stamp == stamp && !self.pause.is_over(now)
    }
}

/// An error as diagnostics print it.
fn why(error: &ReadError) -> String {
    diagnostic(&match error {
        ReadError::Io(e) => format!("{:?}: {e}", e.kind()),
        ReadError::NotAFile => format!("NotAFile: {error}"),
        ReadError::Changed => format!("Changed: {error}"),
        ReadError::TooLong { .. } => format!("TooLong: {error}"),
    })
}

/// A rollout and how far it is read.
#[derive(Debug)]
pub struct Rollout {
    tail: Tail,
    depth: Depth,
    prior: Prior,
    boots: Scan,
    pub facts: Facts,
    pub fault: Option<Fault>,
    /// Pass in which it was last wanted.
    pub wanted_in: u64,
}

impl Default for Rollout {
    fn default() -> Self {
        Rollout::new(Depth::Tail)
    }
}

impl Rollout {
    /// A rollout of which nothing is read yet.
    pub(super) fn new(depth: Depth) -> Rollout {
        Rollout {
            tail: Tail::default(),
            depth,
            prior: Prior::default(),
            boots: Scan::default(),
            facts: Facts::new(false),
            fault: None,
            wanted_in: 0,
        }
    }
}

impl Rollout {
    /// Brings the reading up to the file as it stands. Returns whether the file turned out to be another one, or
    /// rewritten, since it was last read. `budget` is what may be walked backward in this pass, bytes.
    pub fn bring(&mut self, path: &Path, stamp: Stamp, depth: Depth, now: f64, budget: &mut u64) -> bool {
        if self.fault.as_ref().is_some_and(|fault| fault.holds(stamp, now)) {
            return false;
        }
        let known = self.tail.stamp().is_some();
        let too_shallow = depth > self.depth && !self.facts.is_whole();
        let unread = stamp.len.saturating_sub(self.tail.position());
        if known && (too_shallow || unread > depth.bytes()) {
            self.tail = Tail::default();
        }
        self.depth = self.depth.max(depth);
        match self.advance(path, stamp, now, budget) {
            Ok(advance) => {
                self.fault = None;
                known && matches!(advance, Advance::Anew { .. }) && !too_shallow
            }
            Err(error) => {
                self.fault = Some(Fault::new(&error, self.fault.as_ref(), stamp, now));
                false
            }
        }
    }

    fn advance(&mut self, path: &Path, stamp: Stamp, now: f64, budget: &mut u64) -> Result<Advance, ReadError> {
        // One long rollout must not use up what is there for all.
        let share = (*budget).min(CODEX_WALK_BYTES);
        let mut left = share;
        let advance = self.fold(path, stamp, self.depth.bytes(), now, &mut left);
        *budget -= share - left;
        advance
    }

    /// Takes what is new; a file met for the first time is read from `cold` bytes before its end.
    pub(super) fn fold(
        &mut self,
        path: &Path,
        stamp: Stamp,
        cold: u64,
        now: f64,
        budget: &mut u64,
    ) -> Result<Advance, ReadError> {
        let mut reading = Folding {
            path,
            now,
            deep: self.depth >= Depth::Turn,
            entering: false,
            budget,
            facts: &mut self.facts,
            prior: &mut self.prior,
            boots: &mut self.boots,
        };
        let advance = self.tail.advance(path, stamp, cold, &mut reading)?;
        if reading.entering {
            reading.enter(self.tail.position());
        }
        self.facts.settle(now);
        if self.depth == Depth::Whole {
            self.boots.go_on(path)?;
        }
        if self.depth >= Depth::Turn {
            self.prior.go_on(path, budget, &mut self.facts, self.depth)?;
        }
        Ok(advance)
    }

    /// Whether there is more to walk before its turn scan, which another pass takes up although nothing changed.
    pub fn is_unfinished(&self) -> bool {
        self.depth >= Depth::Turn && self.fault.is_none() && self.prior.is_unfinished(&self.facts, self.depth)
    }

    /// Whether a command printed a boot envelope of Spacedock's (CODEX-044).
    pub fn has_booted(&self) -> bool {
        self.boots.has_any() || !self.facts.boots.is_empty()
    }

    /// How deep it is read.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// Whether anything of it could ever be read.
    pub fn is_read(&self) -> bool {
        self.tail.stamp().is_some()
    }

    /// Lines that were no records, or too long to be one.
    pub fn skipped(&self) -> u64 {
        self.facts.skipped + self.tail.long_lines
    }

    /// The newest model it names.
    pub fn model(&self) -> Option<&String> {
        self.facts.model.as_ref().or(self.prior.model.as_ref())
    }

    /// The newest plan it holds.
    pub fn plan(&self) -> Option<&Plan> {
        self.facts.plan.as_ref().or(self.prior.plan.as_ref())
    }

    /// Prompt and instruction.
    pub fn intent(&self) -> Reading<'_> {
        intent::read(&self.facts.intent, &self.prior.older)
    }
}

/// Folds lines into the facts; enters the part before them once it is known where they begin.
struct Folding<'a> {
    path: &'a Path,
    now: f64,
    deep: bool,
    entering: bool,
    budget: &'a mut u64,
    facts: &'a mut Facts,
    prior: &'a mut Prior,
    boots: &'a mut Scan,
}

impl Folding<'_> {
    fn enter(&mut self, begin: u64) {
        self.entering = false;
        *self.boots = Scan::up_to(begin);
        // What cannot be read there is wanted again when the walk goes on, which reports it.
        let _ = self.prior.enter(self.path, begin, self.budget, self.facts);
    }
}

impl Fold for Folding<'_> {
    fn restart(&mut self, from_start: bool) {
        *self.facts = Facts::new(from_start);
        *self.prior = Prior::default();
        *self.boots = Scan::default();
        self.entering = self.deep && !from_start;
    }

    fn line(&mut self, line: Line<'_>) {
        if self.entering {
            self.enter(line.at);
        }
        self.facts.line(line, self.now);
    }
}
