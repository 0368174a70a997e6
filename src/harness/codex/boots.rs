//! Spacedock's boot envelopes in what commands printed: they tell a first officer (CODEX-044, SPD-002).
//!
//! The fold meets them in the lines it takes. What lies before the fold of a long rollout is walked forward here, a
//! bounded piece a pass. Nothing but the output of a command is looked at: not its arguments, not what anybody said.

use super::glance::glance;
use super::record::Envelope;
use crate::config::SPACEDOCK_BOOT_SCAN_BYTES;
use crate::harness::boot::{self, Boot, CUE, KEPT};
use crate::harness::line::{self, Field};
use crate::surface::read::{ReadError, Reader};
use crate::text::json;
use memchr::memmem;
use serde::Deserialize;
use std::path::Path;

/// The types of record that hold what a command printed.
const OUTPUTS: [&str; 2] = ["function_call_output", "custom_tool_call_output"];

#[derive(Deserialize)]
struct Output<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    text: Field<'a>,
}

#[derive(Deserialize)]
struct Wrapper<'a> {
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    value: Field<'a>,
}

#[derive(Deserialize)]
struct Outcome<'a> {
    #[serde(borrow)]
    exit_code: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
}

/// The envelopes in a line, in their order; most lines are judged by their head and a search for one word (SPD-011).
pub fn read(bytes: &[u8]) -> Vec<Boot> {
    let other = glance(bytes).and_then(|seen| seen.inner).is_some_and(|inner| !OUTPUTS.contains(&inner));
    if other || memmem::find(bytes, CUE).is_none() {
        return Vec::new();
    }
    json::record(bytes).and_then(|text| printed(&text)).unwrap_or_default()
}

/// The envelopes in a record, if it is one of what a command printed (SPD-010).
fn printed(record: &str) -> Option<Vec<Boot>> {
    let record: Envelope<'_> = serde_json::from_str(record).ok()?;
    let payload: Output<'_> = line::object(record.payload)?;
    if line::text(record.kind)? != "response_item" || !OUTPUTS.contains(&&*line::text(payload.kind)?) {
        return None;
    }
    let mut found = Vec::new();
    if let Some(text) = line::text(payload.output) {
        found.extend(of_text(&text));
    }
    for part in line::list(payload.output).unwrap_or_default() {
        if let Some(text) = line::object::<Part<'_>>(Some(part)).and_then(|part| line::text(part.text)) {
            found.extend(of_text(&text));
        }
    }
    found.truncate(KEPT);
    Some(found)
}

fn of_text(text: &str) -> Vec<Boot> {
    match serde_json::from_str::<Wrapper<'_>>(text) {
        Ok(Wrapper { status: Some(status), value: Some(value) }) if text.trim_ascii_start().starts_with('{') => {
            fulfilled(status, value).into_iter().collect()
        }
        _ => boot::envelopes(text),
    }
}

/// The envelope in a wrapped result: of one that came to its end with status 0 and printed nothing else (SPD-014).
fn fulfilled(status: &serde_json::value::RawValue, value: &serde_json::value::RawValue) -> Option<Boot> {
    let outcome: Outcome<'_> = line::object(Some(value))?;
    let ended_well = line::text(Some(status))? == "fulfilled" && line::count(outcome.exit_code) == Some(0);
    boot::envelope(&line::text(outcome.output).filter(|_| ended_well)?)
}

/// The walk over what lies before the fold.
#[derive(Debug, Default)]
pub struct Scan {
    /// Everything before this offset is walked.
    at: u64,
    /// Where the fold begins.
    end: u64,
    /// A line longer than one piece is being passed over.
    in_long_line: bool,
    found: Vec<Boot>,
}

impl Scan {
    /// A walk over the first `end` bytes.
    pub fn up_to(end: u64) -> Scan {
        Scan { end, ..Scan::default() }
    }

    /// Walks one piece on: at most [`SPACEDOCK_BOOT_SCAN_BYTES`], whole lines (SPD-016).
    pub fn go_on(&mut self, path: &Path) -> Result<(), ReadError> {
        if self.at >= self.end || self.found.len() >= KEPT {
            return Ok(());
        }
        let to = (self.at + SPACEDOCK_BOOT_SCAN_BYTES).min(self.end);
        let piece = Reader::open(path)?.range(self.at, to)?;
        let mut rest = &piece[..];
        if self.in_long_line {
            let begin = memchr::memchr(b'\n', rest).map(|end| end + 1);
            self.in_long_line = begin.is_none();
            rest = begin.and_then(|begin| rest.get(begin..)).unwrap_or_default();
        }
        let whole = memchr::memrchr(b'\n', rest).map_or(0, |end| end + 1);
        for line in rest.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n') {
            self.found.extend(read(line));
        }
        self.found.truncate(KEPT);
        // The piece of a line that is not whole is read again, unless the line is longer than any piece.
        let left = rest.len() - whole;
        let walked = (piece.len() - left) as u64;
        if walked == 0 || piece.is_empty() {
            self.in_long_line = true;
            self.at = to;
        } else {
            self.at += walked;
        }
        Ok(())
    }

    /// Whether an envelope was found.
    pub fn has_any(&self) -> bool {
        !self.found.is_empty()
    }
}
