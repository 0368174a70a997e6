//! A transcript file and how far it has been read: one pass over new bytes, and for a long file one bounded walk back.

use super::head::for_pieces;
use super::prompts::First;
use super::record::{Kind, Record, prompt_text};
use super::story::{Story, readable, user_event};
use super::window::Window;
use crate::config::{TAIL_BYTES, TURN_GAP_RESET_SEC, TURN_SCAN_MAX_BYTES};
use crate::harness::tail::{Advance, Backward, Fold, LINE_CAP, Line, Tail};
use crate::surface::read::{ReadError, Reader, Stamp};
use std::path::Path;

/// How much of a file each kind of look takes, bytes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The window at the end that the newest readings are taken from.
    pub tail: u64,
    /// Most that is read forward at once.
    pub scan: u64,
    /// Most that is walked back over for what a long file's end does not hold.
    pub back: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { tail: TAIL_BYTES, scan: TURN_SCAN_MAX_BYTES, back: BACK_BYTES }
    }
}

/// Far beyond any transcript met in the field; keeps a file of gigabytes from stopping the board.
const BACK_BYTES: u64 = 256 * 1024 * 1024;

/// A session's transcript.
#[derive(Clone, Debug)]
pub struct Transcript {
    tail: Tail,
    pub story: Story,
    /// A bound left a part of the file unread.
    pub in_part: bool,
}

impl Transcript {
    pub fn new() -> Transcript {
        Transcript { tail: Tail::default(), story: Story::new(true), in_part: false }
    }

    /// Brings the readings up to the file as it stands; opens nothing when its stamp is the one read last.
    pub fn refresh(&mut self, path: &Path, stamp: Stamp, now: f64, limits: Limits) -> Result<(), ReadError> {
        if stamp.len.saturating_sub(self.tail.position()) > limits.scan {
            self.tail = Tail::default();
        }
        let mut fold = Folding { story: &mut self.story, path, now, limits, begin: None, cut: false };
        let advance = self.tail.advance(path, stamp, limits.scan, &mut fold)?;
        let (begin, cut) = (fold.begin, fold.cut);
        if matches!(advance, Advance::Anew { .. }) {
            self.in_part = cut;
            if cut {
                let begin = begin.unwrap_or_else(|| self.tail.position());
                self.read_older(path, begin, limits);
            }
        }
        self.in_part |= self.tail.long_lines > 0;
        let len = self.tail.stamp().map_or(0, |s| s.len);
        self.story.window.slide(len, limits.tail);
        Ok(())
    }

    /// Looks through the part before `begin` for readings of the whole file. What cannot be read stays unfound.
    fn read_older(&mut self, path: &Path, begin: u64, limits: Limits) {
        let Ok(mut reader) = Reader::open(path) else { return };
        let story = &mut self.story;
        let mut wanted = story.wanted();
        if wanted.any() {
            let floor = begin.saturating_sub(limits.back);
            Backward::new(&mut reader, floor, begin).walk(None, &mut |line| story.older(line.bytes, &mut wanted));
        }
        let mut first = None;
        let until = begin.min(limits.scan);
        // An error leaves the first prompt unknown, as its absence does.
        let _ = for_pieces(&mut reader, 0, until, LINE_CAP, &mut |piece| {
            first = first_prompt(piece);
            first.is_none()
        });
        story.first = first;
    }
}

/// The first prompt, when it stands on this line.
fn first_prompt(bytes: &[u8]) -> Option<First> {
    let text = readable(bytes, &mut 0)?;
    let record = Record::parse(&text).filter(|r| r.is_prompt() && !r.is_compact_summary())?;
    First::of(&prompt_text(&text), record.at())
}

struct Folding<'s> {
    story: &'s mut Story,
    path: &'s Path,
    now: f64,
    limits: Limits,
    /// Where the fold of a file read from somewhere inside began.
    begin: Option<u64>,
    cut: bool,
}

impl Fold for Folding<'_> {
    fn restart(&mut self, from_start: bool) {
        *self.story = Story::new(from_start);
        self.cut = !from_start;
    }

    fn line(&mut self, line: Line<'_>) {
        if self.cut && self.begin.is_none() {
            self.begin = Some(line.at);
            let (start, prev) = open_turn(self.path, line.at, self.limits.back);
            self.story.turns.resume(start, prev);
        }
        self.story.line(line, self.now);
    }
}

/// The turn that is open at `begin` and the newest stamp before it, found by walking back (TURN-006).
fn open_turn(path: &Path, begin: u64, back: u64) -> (Option<f64>, Option<f64>) {
    let Ok(mut reader) = Reader::open(path) else { return (None, None) };
    let (mut start, mut newest, mut later) = (None, None, None::<f64>);
    Backward::new(&mut reader, begin.saturating_sub(back), begin).walk(None, &mut |line| {
        let Some(text) = readable(line.bytes, &mut 0) else { return true };
        let Some(record) = Record::parse(&text) else { return true };
        let Some(at) = record.at() else { return true };
        newest = newest.or(Some(at));
        start = match later {
            Some(later) if later - at > TURN_GAP_RESET_SEC => Some(later),
            _ if record.is_prompt() => Some(at),
            _ => None,
        };
        later = Some(at);
        start.is_none()
    });
    (start, newest)
}

/// A child's transcript: what is read of its end, for the rate and the model.
#[derive(Clone, Debug)]
pub struct Child {
    tail: Tail,
    pub window: Window,
}

impl Child {
    pub fn new() -> Child {
        Child { tail: Tail::default(), window: Window::new() }
    }

    /// Brings the readings up to the file as it stands; opens nothing when its stamp is the one read last.
    pub fn refresh(&mut self, path: &Path, stamp: Stamp, now: f64, limits: Limits) -> Result<(), ReadError> {
        if stamp.len.saturating_sub(self.tail.position()) > limits.scan {
            self.tail = Tail::default();
        }
        self.tail.advance(path, stamp, limits.tail, &mut Watching { window: &mut self.window, now })?;
        let len = self.tail.stamp().map_or(0, |s| s.len);
        self.window.slide(len, limits.tail);
        Ok(())
    }
}

struct Watching<'w> {
    window: &'w mut Window,
    now: f64,
}

impl Fold for Watching<'_> {
    fn restart(&mut self, _from_start: bool) {
        *self.window = Window::new();
    }

    fn line(&mut self, line: Line<'_>) {
        let Some(text) = readable(line.bytes, &mut 0) else { return };
        if let Some(record) = Record::parse(&text) {
            self.window.record(line.at, &record, self.now);
        }
    }
}

/// The newest user record of a transcript, by itself (CLAUDE-033); `None` when there is none or it cannot be read.
pub fn last_user_event(path: &Path) -> Option<Box<str>> {
    let mut reader = Reader::open(path).ok()?;
    let len = reader.stamp().len;
    let mut found = None;
    Backward::new(&mut reader, len.saturating_sub(BACK_BYTES), len).walk(Some(b"\"user\""), &mut |line| {
        if let Some(text) = readable(line.bytes, &mut 0)
            && let Some(record) = Record::parse(&text)
            && record.kind() == Kind::User
        {
            found = Some(user_event(&record, line.bytes));
        }
        found.is_none()
    });
    found
}
