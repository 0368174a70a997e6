//! The beginning of a transcript: whose it is, where it runs, which role it plays, when it began.
//!
//! Read once per file and again only while a young file may still tell more. Nothing of it is kept but the answers.

use super::store::{TEAM_PREFIX, key_of};
use crate::config::{FIRST_LINE_JSON_CAP_BYTES, REVERSE_CHUNK_BYTES};
use crate::harness::line::{self, Field};
use crate::surface::read::{ReadError, Reader, Stamp};
use crate::text::json;
use serde::Deserialize;
use std::path::Path;

/// Bytes of the beginning that identity, role and start are looked for in.
const HEAD_BYTES: u64 = 16_384;
/// Lines of the beginning that are looked at.
const HEAD_LINES: u32 = 50;
/// Longest line, or piece of one, looked at for a working directory or a start, bytes.
const PIECE: usize = FIRST_LINE_JSON_CAP_BYTES;
/// Types of the records a file of which alone is no session (CLAUDE-006).
const BOOKKEEPING: [&str; 3] = ["ai-title", "agent-name", "pr-link"];
/// Longest agent name kept, characters; it is compared whole with the roster.
const NAME_CHARS: usize = 1_000;

/// A Spacedock role (CLAUDE-110).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    FirstOfficer,
    Ensign,
    /// Another agent setting, which hides any later one.
    Other,
}

impl Role {
    /// The role as published.
    pub const fn as_str(self) -> Option<&'static str> {
        match self {
            Role::FirstOfficer => Some("first-officer"),
            Role::Ensign => Some("ensign"),
            Role::Other => None,
        }
    }
}

/// What the beginning of a transcript says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    stamp: Option<Stamp>,
    /// The agent's name as recorded.
    pub agent: Option<Box<str>>,
    /// Key of the session this one works for (CLAUDE-050).
    pub parent: Option<Box<str>>,
    pub role: Option<Role>,
    /// The first stamp (CLAUDE-031).
    pub started: Option<f64>,
    /// The working directory as recorded (CLAUDE-032).
    pub cwd: Option<Box<str>>,
    /// Nothing but titles, names and links: no session (CLAUDE-006).
    pub bookkeeping: bool,
    /// More bytes cannot change identity, role and start.
    settled: bool,
    cwd_scan: Scan,
}

/// How far the working directory has been looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Scan {
    at: u64,
    pieces: u32,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    cwd: Field<'a>,
    #[serde(borrow, rename = "agentName")]
    agent_name: Field<'a>,
    #[serde(borrow, rename = "teamName")]
    team_name: Field<'a>,
    #[serde(borrow, rename = "agentSetting")]
    agent_setting: Field<'a>,
}

impl Head {
    /// Whether a file with this stamp has nothing new to tell.
    pub fn is_current(&self, stamp: Stamp) -> bool {
        match self.stamp {
            Some(then) if then == stamp => true,
            Some(then) => self.settled && self.cwd_is_final() && continues(then, stamp),
            None => false,
        }
    }

    /// Reads what is new in the beginning of the file. `key` is the session key of its own name.
    pub fn refresh(&mut self, path: &Path, key: &str) -> Result<(), ReadError> {
        let mut reader = Reader::open(path)?;
        let stamp = reader.stamp();
        if !self.stamp.is_some_and(|then| continues(then, stamp)) {
            *self = Head::default();
        }
        if !self.settled {
            let scan = self.cwd_scan;
            let cwd = self.cwd.take();
            *self = Head { cwd, cwd_scan: scan, ..Head::default() };
            self.read_head(&mut reader, stamp, key)?;
        }
        if !self.cwd_is_final() {
            self.find_cwd(&mut reader, stamp.len)?;
        }
        self.stamp = Some(stamp);
        Ok(())
    }

    fn cwd_is_final(&self) -> bool {
        self.cwd.is_some() || self.cwd_scan.pieces >= HEAD_LINES
    }

    fn read_head(&mut self, reader: &mut Reader, stamp: Stamp, key: &str) -> Result<(), ReadError> {
        let bytes = reader.range(0, stamp.len.min(HEAD_BYTES))?;
        let mut lines = 0;
        for bytes in whole_lines(&bytes).take(HEAD_LINES as usize) {
            lines += 1;
            if let Some(text) = json::record(bytes)
                && let Ok(line) = serde_json::from_str::<Line>(&text)
            {
                self.take(&line, key);
            }
        }
        self.bookkeeping = stamp.len <= HEAD_BYTES && bytes.ends_with(b"\n") && is_bookkeeping(&bytes);
        let enough = lines >= HEAD_LINES || (stamp.len >= HEAD_BYTES && (lines > 0 || stamp.len >= PIECE as u64));
        self.settled = enough && !self.bookkeeping;
        if self.started.is_none() {
            self.started = first_line_stamp(reader, stamp.len)?;
        }
        Ok(())
    }

    fn take(&mut self, line: &Line<'_>, key: &str) {
        if self.agent.is_none() {
            self.agent = line::nonempty(line.agent_name).map(|name| name.chars().take(NAME_CHARS).collect());
        }
        if self.parent.is_none()
            && let Some(parent) = line::text(line.team_name).as_deref().and_then(|team| team.strip_prefix(TEAM_PREFIX))
        {
            // A lead may name its own team; that makes it nobody's subagent.
            let parent = key_of(parent);
            self.parent = (!parent.is_empty() && parent != key).then(|| parent.into());
        }
        if self.role.is_none() {
            self.role = line::nonempty(line.agent_setting).map(|setting| match &*setting {
                "spacedock:first-officer" => Role::FirstOfficer,
                "spacedock:ensign" => Role::Ensign,
                _ => Role::Other,
            });
        }
        if self.started.is_none() {
            self.started = line::stamp(line.timestamp);
        }
    }

    /// Looks for the working directory on, from where the last look ended.
    fn find_cwd(&mut self, reader: &mut Reader, len: u64) -> Result<(), ReadError> {
        let Scan { at, mut pieces } = self.cwd_scan;
        let mut found = None;
        let ended = for_pieces(reader, at, len, PIECE, &mut |piece| {
            pieces += 1;
            found = json::record(piece)
                .as_deref()
                .and_then(|text| serde_json::from_str::<Line>(text).ok())
                .and_then(|line| line::nonempty(line.cwd).map(|cwd| Box::from(&*cwd)));
            found.is_none() && pieces < HEAD_LINES
        })?;
        self.cwd_scan = Scan { at: ended, pieces };
        self.cwd = found;
        Ok(())
    }
}

/// Whether a file with stamp `now` can be the one that had stamp `then`, with more written to it.
fn continues(then: Stamp, now: Stamp) -> bool {
    (then.dev, then.ino) == (now.dev, now.ino) && now.len > then.len
}

/// The lines that a line end closes, blank ones left out: what is not closed may be the beginning of something else.
fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|b| *b == b'\n').filter(|l| l.ends_with(b"\n") && !l.trim_ascii().is_empty())
}

/// Whether there are records and all of them are of the types of [`BOOKKEEPING`].
fn is_bookkeeping(bytes: &[u8]) -> bool {
    let of_record = |bytes: &[u8]| {
        let text = json::record(bytes)?;
        let line = serde_json::from_str::<Line>(&text).ok()?;
        Some(BOOKKEEPING.contains(&&*line::text(line.kind)?))
    };
    let mut lines = whole_lines(bytes).peekable();
    lines.peek().is_some() && lines.all(|line| of_record(line) == Some(true))
}

/// The stamp of the first line when it is longer than the head.
fn first_line_stamp(reader: &mut Reader, len: u64) -> Result<Option<f64>, ReadError> {
    let mut stamp = None;
    for_pieces(reader, 0, len, PIECE, &mut |piece| {
        let text = json::record(piece);
        let line = text.as_deref().and_then(|t| serde_json::from_str::<Line>(t).ok());
        stamp = line.and_then(|l| line::stamp(l.timestamp));
        false
    })?;
    Ok(stamp)
}

/// Hands the lines of `from..to` to `each` until it answers false, each at most `cap` bytes: a longer line comes in
/// several pieces, an unfinished last one not at all. Returns the offset behind the last piece handed out.
pub fn for_pieces(
    reader: &mut Reader,
    from: u64,
    to: u64,
    cap: usize,
    each: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<u64, ReadError> {
    let mut held: Vec<u8> = Vec::new();
    let mut at = from;
    let mut searched = 0;
    loop {
        let piece = match held.get(searched..).and_then(|rest| memchr::memchr(b'\n', rest)) {
            Some(end) if searched + end < cap => searched + end + 1,
            _ if held.len() >= cap => cap,
            _ => {
                searched = held.len();
                let have = at + held.len() as u64;
                // A little first: most answers stand in the first lines.
                let step = if held.is_empty() { 16 * 1024 } else { REVERSE_CHUNK_BYTES };
                let want = to.saturating_sub(have).min(step as u64);
                let more = reader.range(have, have + want)?;
                if more.is_empty() {
                    return Ok(at);
                }
                held.extend_from_slice(&more);
                continue;
            }
        };
        at += piece as u64;
        let go_on = each(held.get(..piece).unwrap_or_default());
        held.drain(..piece);
        searched = 0;
        if !go_on {
            return Ok(at);
        }
    }
}
