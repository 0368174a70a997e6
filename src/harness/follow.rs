//! Follows an append-only transcript that is read forward: what every harness of that kind does around its records.

use super::degrades;
use super::head::{self, Head};
use super::seek::{self, Before};
use super::story::Moment;
use super::tail::{Fold, Line, Tail};
use crate::config::TURN_SCAN_MAX_BYTES;
use crate::model::Observed;
use crate::surface::read::{ReadError, Stamp};
use std::path::{Path, PathBuf};

/// The records of one transcript as a harness keeps them.
pub trait Records: Sized {
    /// What the first line says of the session.
    type Header: PartialEq;

    /// Judges the first line.
    fn header(line: &[u8]) -> Head<Self::Header>;

    /// Nothing read yet, from the first record on or from somewhere later.
    fn begin(from_start: bool) -> Self;

    /// Takes up what stands before the place where reading began.
    fn resume(&mut self, before: Before);

    /// The moments of a line, in their order.
    fn moments(line: &[u8], out: &mut Vec<Moment>);

    /// Takes a line up; false when it holds no record.
    fn line(&mut self, line: &[u8], now: f64) -> bool;

    /// All lines that are there have been taken up.
    fn settle(&mut self, _now: f64) {}
}

/// One transcript and what was read of it.
pub struct Followed<R: Records> {
    tail: Tail,
    reading: Reading<R>,
    failure: Option<String>,
}

struct Reading<R: Records> {
    path: PathBuf,
    now: f64,
    head: Option<Head<R::Header>>,
    records: R,
    skipped: u64,
    in_part: bool,
    /// A line was handed out since reading began.
    begun: bool,
}

impl<R: Records> Followed<R> {
    /// A transcript of which nothing was read yet.
    pub fn new(path: PathBuf) -> Followed<R> {
        let records = R::begin(true);
        let reading = Reading { path, now: 0.0, head: None, records, skipped: 0, in_part: false, begun: false };
        Followed { tail: Tail::default(), reading, failure: None }
    }

    /// Reads what is new; nothing is opened when the file stands as it stood. False when the file is gone. One that
    /// cannot be read keeps what was read of it and has a [`Followed::failure`].
    pub fn advance(&mut self, stamp: Stamp, now: f64) -> bool {
        if self.tail.stamp() == Some(stamp) && self.failure.is_none() {
            return true;
        }
        self.reading.now = now;
        let outcome = self.read(stamp);
        self.reading.records.settle(now);
        self.failure = outcome.as_ref().err().map(|why| format!("ReadError: {why}"));
        !outcome.is_err_and(|why| why.is_missing())
    }

    fn read(&mut self, stamp: Stamp) -> Result<(), ReadError> {
        // More than the bound unread counts as a file never seen: reading begins that far before its end (TURN-002).
        if self.tail.stamp().is_some() && stamp.len.saturating_sub(self.tail.position()) > TURN_SCAN_MAX_BYTES {
            self.tail = Tail::default();
        }
        let path = self.reading.path.clone();
        self.tail.advance(&path, stamp, TURN_SCAN_MAX_BYTES, &mut self.reading)?;
        // A header that is not closed yet, or lies before the place where reading began.
        if self.reading.head.as_ref().is_none_or(|head| *head == Head::Unfinished) {
            self.reading.head = Some(head::read(&path, R::header)?);
        }
        Ok(())
    }

    /// What the first line says, if it is the harness's header.
    pub fn head(&self) -> Option<&R::Header> {
        self.reading.head.as_ref().and_then(Head::get)
    }

    /// What was read.
    pub fn records(&self) -> &R {
        &self.reading.records
    }

    /// Why the file could not be read, `<Type>: <message>`.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Names on the row, after the file, what was not read of it (TRUST-036).
    pub fn tell(&self, row: &mut Observed) {
        let in_part = self.reading.in_part || self.tail.long_lines > 0;
        degrades::of_file(&self.reading.path, self.failure.is_some(), in_part, self.reading.skipped, row);
    }
}

impl<R: Records> Fold for Reading<R> {
    fn restart(&mut self, from_start: bool) {
        self.head = None;
        self.records = R::begin(from_start);
        self.skipped = 0;
        self.in_part = !from_start;
        self.begun = false;
    }

    fn line(&mut self, line: Line<'_>) {
        if line.at == 0 {
            let head = R::header(line.bytes);
            self.skipped += u64::from(head == Head::Parsed(None));
            self.head = Some(head);
        } else if !self.begun {
            let before = seek::before(&self.path, line.at, &mut R::moments);
            self.records.resume(before);
        }
        self.begun = true;
        let taken = self.records.line(line.bytes, self.now);
        self.skipped += u64::from(!taken && !line.bytes.trim_ascii().is_empty());
    }
}

/// The stem of a transcript's name.
pub fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Longest session id believed, bytes.
const ID_CAP: usize = 256;

/// A recorded session id when it can serve as one: not empty, not over-long, without control characters.
pub fn session_id(id: &str) -> Option<&str> {
    (!id.is_empty() && id.len() <= ID_CAP && !id.contains(char::is_control)).then_some(id)
}

/// Whether a name is a transcript's. Every harness writes the ending in lower case; another file is not its.
pub fn is_jsonl(name: &str) -> bool {
    name.as_bytes().ends_with(b".jsonl")
}
