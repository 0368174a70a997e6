//! One Pi session file, followed as it grows: new lines extend its branch, and where they cannot, the branch is found
//! in the file anew.

use super::branch::Branch;
use super::build::build;
use super::entry::{Header, Name, header, parse, prompt_on};
use crate::config::TURN_SCAN_MAX_BYTES;
use crate::harness::boot::{self, Boot};
use crate::harness::degrades::{self, file_name};
use crate::harness::head::{Head, first_line};
use crate::harness::story::Prompt;
use crate::harness::tail::{Advance, Fold, LINE_CAP, Line, Tail};
use crate::model::{Code, Degrade, Observed};
use crate::surface::read::{ReadError, Reader, Stamp};
use std::collections::BTreeMap;
use std::hash::RandomState;
use std::path::PathBuf;

/// A walk over more than this many bytes is not repeated at once, bytes.
const CHEAP_WALK: u64 = 1024 * 1024;
/// How long the next walk waits for each byte of the last, seconds: a file that forces walks costs a few percent of a
/// core at most.
const PAUSE_PER_BYTE: f64 = 1.0 / (16.0 * 1024.0 * 1024.0);
/// Bytes of a prompt's line read at first.
const PROMPT_READ: usize = 16 * 1024;

/// One session file and what was read of it.
pub struct Session {
    path: PathBuf,
    tail: Tail,
    head: Option<Head<Header>>,
    reading: Reading,
    /// The branch's first prompt as a title, by the offset of its line.
    title: Option<(u64, Option<Box<str>>)>,
    /// Its newest prompt.
    prompt: Option<(u64, Box<str>)>,
    /// No walk before this time.
    next_walk: f64,
    failure: Option<String>,
}

struct Reading {
    hasher: RandomState,
    now: f64,
    branch: Branch,
    name: Name,
    boots: BTreeMap<u64, Vec<Boot>>,
    skipped: u64,
    in_part: bool,
    /// Only a walk can tell what the branch is.
    lost: bool,
}

impl Session {
    /// A file of which nothing was read yet.
    pub fn new(path: PathBuf) -> Session {
        Session {
            path,
            tail: Tail::default(),
            head: None,
            reading: Reading::new(),
            title: None,
            prompt: None,
            next_walk: 0.0,
            failure: None,
        }
    }

    /// Reads what is new; nothing is opened when the file stands as it stood and nothing is owed. False when it is
    /// gone; one that cannot be read keeps what was read of it (PI-033).
    pub fn advance(&mut self, stamp: Stamp, now: f64) -> bool {
        let owed = self.reading.lost && self.is_due(now);
        if self.tail.stamp() == Some(stamp) && !owed && self.failure.is_none() {
            return true;
        }
        self.reading.now = now;
        let outcome = self.read(stamp);
        self.failure = outcome.as_ref().err().map(|why| format!("ReadError: {why}"));
        !outcome.is_err_and(|why| why.is_missing())
    }

    fn is_due(&self, now: f64) -> bool {
        // A clock set back makes the distance large: then it is due, too.
        now >= self.next_walk || self.next_walk - now > 60.0
    }

    fn read(&mut self, stamp: Stamp) -> Result<(), ReadError> {
        let known = self.tail.stamp().is_some() && self.head().is_some();
        let near = stamp.len.saturating_sub(self.tail.position()) <= TURN_SCAN_MAX_BYTES;
        let goes_on = known
            && near
            && !matches!(self.tail.advance(&self.path, stamp, 0, &mut self.reading)?, Advance::Anew { .. });
        if !goes_on {
            return self.cold();
        }
        if self.reading.lost && self.is_due(self.reading.now) {
            let mut reader = Reader::open(&self.path)?;
            let end = self.tail.position().min(reader.stamp().len);
            self.walk(&mut reader, end);
            return self.texts(Some(reader));
        }
        self.texts(None)
    }

    /// Reads the file as one never seen.
    fn cold(&mut self) -> Result<(), ReadError> {
        let mut reader = Reader::open(&self.path)?;
        self.reading = Reading { now: self.reading.now, ..Reading::new() };
        (self.title, self.prompt) = (None, None);
        self.head = Some(first_line(&mut reader)?.map_or(Head::Unfinished, |line| header(&line)));
        let end = self.tail.seek_end(&mut reader)?;
        if self.head().is_none() {
            return Ok(());
        }
        self.walk(&mut reader, end);
        self.texts(Some(reader))
    }

    fn walk(&mut self, reader: &mut Reader, end: u64) {
        let now = self.reading.now;
        let built = build(reader, end, &self.reading.hasher, now);
        let pause = if built.walked > CHEAP_WALK { built.walked as f64 * PAUSE_PER_BYTE } else { 0.0 };
        self.next_walk = now + pause;
        let reading = &mut self.reading;
        reading.branch = built.branch;
        if let Some(name) = built.name {
            reading.name = name;
        }
        for (from, boots) in built.boots {
            reading.keep_boots(from, boots);
        }
        reading.skipped = reading.skipped.max(built.skipped);
        reading.in_part |= built.in_part;
        reading.lost = false;
    }

    /// Brings the two prompts that are shown up to the branch; their text is read from the file when it is needed.
    fn texts(&mut self, mut reader: Option<Reader>) -> Result<(), ReadError> {
        let branch = &self.reading.branch;
        let first = branch.told().first_prompt.filter(|_| !branch.partial);
        let last = branch.told().last_prompt;
        let known = (self.title.as_ref().map(|(at, _)| *at), self.prompt.as_ref().map(|(at, _)| *at));
        if known == (first, last) {
            return Ok(());
        }
        let path = &self.path;
        let mut prompt_at = |at: u64| -> Result<Option<Prompt>, ReadError> {
            let reader = match &mut reader {
                Some(reader) => reader,
                None => reader.insert(Reader::open(path)?),
            };
            Ok(prompt_on(&line_from(reader, at)?))
        };
        if known.0 != first {
            self.title = match first {
                Some(at) => Some((at, prompt_at(at)?.and_then(|prompt| prompt.title))),
                None => None,
            };
        }
        if known.1 != last {
            self.prompt = match last {
                Some(at) => Some((at, prompt_at(at)?.map(|prompt| prompt.text).unwrap_or_default())),
                None => None,
            };
        }
        Ok(())
    }

    /// The session's header; `None` when the file is none of Pi's.
    pub fn head(&self) -> Option<&Header> {
        self.head.as_ref().and_then(Head::get)
    }

    /// The active branch.
    pub fn branch(&self) -> &Branch {
        &self.reading.branch
    }

    /// The title: the name a person gave, else the first prompt of the branch (PI-019).
    pub fn title(&self) -> Option<&str> {
        self.reading.name.0.as_deref().or_else(|| self.title.as_ref().and_then(|(_, title)| title.as_deref()))
    }

    /// The newest prompt of the branch.
    pub fn prompt(&self) -> Option<&str> {
        self.prompt.as_ref().map(|(_, text)| &**text)
    }

    /// The Spacedock boot envelopes met in command output, in the order of the file, at most [`boot::KEPT`].
    pub fn boots(&self) -> impl Iterator<Item = &Boot> {
        self.reading.boots.values().flatten().take(boot::KEPT)
    }

    /// Why the file could not be read, `<Type>: <message>`.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Names on the row what was not read of the file (PI-018, TRUST-036).
    pub fn tell(&self, row: &mut Observed) {
        let in_part = self.reading.in_part || self.tail.long_lines > 0;
        degrades::of_file(&self.path, self.failure.is_some(), in_part, self.reading.skipped, row);
        if self.head().is_some_and(|head| head.is_unseen) {
            let source = file_name(&self.path);
            row.degrades.push(Degrade { code: Code::VersionUnseen, source, count: None });
        }
        if self.reading.branch.partial {
            row.source_gaps.push("message history");
        }
    }
}

impl Reading {
    fn new() -> Reading {
        Reading {
            hasher: RandomState::new(),
            now: 0.0,
            branch: Branch::new(),
            name: Name::default(),
            boots: BTreeMap::new(),
            skipped: 0,
            in_part: false,
            lost: false,
        }
    }

    fn keep_boots(&mut self, from: u64, boots: Vec<Boot>) {
        if !boots.is_empty() {
            self.boots.insert(from, boots);
            if self.boots.len() > boot::KEPT {
                self.boots.pop_last();
            }
        }
    }
}

impl Fold for Reading {
    /// The file is another one: it is read cold, and this reading with it.
    fn restart(&mut self, _from_start: bool) {}

    fn line(&mut self, line: Line<'_>) {
        // The first line is the header and on no branch.
        if line.at == 0 {
            return;
        }
        let Some(parsed) = parse(line.bytes, line.at, &self.hasher) else {
            self.skipped += u64::from(!line.bytes.trim_ascii().is_empty());
            return;
        };
        if let Some(name) = parsed.name {
            self.name = name;
        }
        self.keep_boots(line.at, parsed.boots);
        if let Some((entry, parent)) = parsed.entry {
            self.lost = self.lost || !self.branch.add(entry, parent, self.now);
        }
    }
}

/// The line that begins at an offset, without its line end; cut at the longest line that is kept.
fn line_from(reader: &mut Reader, at: u64) -> Result<Vec<u8>, ReadError> {
    let mut size = PROMPT_READ;
    loop {
        let mut bytes = reader.range(at, at + size as u64)?;
        if let Some(end) = memchr::memchr(b'\n', &bytes) {
            bytes.truncate(end);
            return Ok(bytes);
        }
        if bytes.len() < size || size >= LINE_CAP {
            return Ok(bytes);
        }
        size = (size * 8).min(LINE_CAP);
    }
}
