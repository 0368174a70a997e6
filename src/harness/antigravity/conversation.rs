//! One conversation's database: whose subagent it is, its model, its newest steps.
//!
//! Of a step its type and the metadata cell are read, of a generation the last 64 bytes, of the trajectory the ids and
//! the role. What was said is in none of them and is never decoded (AGY-004). Each statement names every table and
//! column it needs, so that a store of another structure is refused as it is prepared, and costs that reading alone.

use super::wire;
use crate::config::{LAST_PROMPT_CAP_CHARS, MODEL_CAP_CHARS, RATE_WINDOW_SEC, SUBAGENT_NAME_CAP_CHARS};
use crate::harness::sql;
use crate::model::{Code, turn};
use crate::surface::sqlite::{self, Database, StoreError, ValueRef};
use crate::text::safe::{diagnostic, safe_name};
use crate::text::safe_text;
use std::path::Path;
use std::time::Duration;

/// Newest steps read of one conversation.
const STEPS: i64 = 400;
/// Longest cell that is read, bytes; those measured stay below 1 KiB.
const CELL_BYTES: i64 = 65_536;
/// How much of the end of a generation is read, bytes: the model's name is the last field.
const MODEL_BYTES: usize = 64;
/// Longest conversation id that is followed, bytes; they are UUIDs.
const ID_BYTES: usize = 128;
/// Step type of an operator's prompt.
const PROMPT: f64 = 14.0;
/// Step type of a model's response, the only one whose tokens count.
const RESPONSE: f64 = 15.0;

/// What was read of one conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The conversation that started this one; never itself.
    pub parent: Option<String>,
    /// Role or type name, of a subagent alone.
    pub label: Option<String>,
    pub model: Option<String>,
    /// `None` when they were not asked for or could not be read.
    pub steps: Option<Steps>,
    /// Readings that could not be taken (ROW-070), sorted.
    pub gaps: Vec<&'static str>,
    /// Why, as degrades.
    pub codes: Vec<Code>,
    /// A failure may pass although nobody repairs the store, as when its owner held it.
    pub passing: bool,
    /// Why, for diagnostics: `<Type>: <message>`.
    pub errors: Vec<String>,
}

/// The newest steps, folded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// When the newest prompt was given, seconds since the epoch.
    pub start: Option<f64>,
    /// Lengths of finished turns in seconds, oldest first.
    pub durations: Vec<f64>,
    /// What the newest step since that prompt says it does.
    pub action: Option<String>,
    /// Output tokens of responses that count towards a rate now or later, with their times.
    pub usage: Vec<(f64, u64)>,
}

/// Reads a conversation in one open, waiting at most `patience` for its owner's lock. `steps` answers, given the
/// parent, whether the steps are wanted too.
pub fn read(path: &Path, sid: &str, now: f64, patience: Duration, steps: impl Fn(Option<&str>) -> bool) -> Reading {
    let read = sql::snapshot(path, patience, |db| {
        let mut reading = Reading::default();
        reading.fill(db, sid, now, &steps);
        Ok(reading)
    });
    read.map_or_else(|error| Reading::unread(&error), |(reading, _)| reading)
}

impl Reading {
    fn unread(error: &StoreError) -> Reading {
        let mut reading = Reading::default();
        reading.failed("message history", error);
        reading.failed("session metadata", error);
        reading
    }

    fn fill(&mut self, db: &Database, sid: &str, now: f64, steps: impl Fn(Option<&str>) -> bool) {
        match trajectory(db) {
            Ok(cell) => self.place(cell, sid),
            Err(error) => self.failed("session metadata", &error),
        }
        match model(db) {
            Ok(model) => self.model = model,
            // A conversation that never asked a model has no such table.
            Err(StoreError::Schema(_)) => {}
            Err(error) => self.failed("model", &error),
        }
        if !steps(self.parent.as_deref()) {
            return;
        }
        match newest_steps(db, now) {
            Ok((steps, cut)) => {
                self.steps = Some(steps);
                if cut {
                    self.note(Code::ReadInPart);
                }
            }
            Err(error) => self.failed("message history", &error),
        }
    }

    /// Takes the place in the tree of conversations out of the trajectory's metadata (AGY-014).
    fn place(&mut self, cell: Cell, sid: &str) {
        let blob = match cell {
            Cell::Absent => return,
            Cell::TooLong => {
                self.note(Code::ReadInPart);
                self.gaps.push("session metadata");
                return;
            }
            Cell::Blob(blob) => blob,
        };
        self.parent = id(&blob, 5).or_else(|| id(&blob, 6)).filter(|parent| parent != sid);
        if self.parent.is_some()
            && let Some(role) = wire::bytes(&blob, 8)
        {
            let name = |number| wire::bytes(role, number).and_then(label);
            self.label = name(2).or_else(|| name(1));
        }
    }

    fn failed(&mut self, gap: &'static str, error: &StoreError) {
        self.note(error.code());
        self.passing |= error.passes();
        self.gaps.push(gap);
        self.gaps.sort_unstable();
        let error = diagnostic(&error.to_string());
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    fn note(&mut self, code: Code) {
        if !self.codes.contains(&code) {
            self.codes.push(code);
        }
    }

    /// Whether the steps are here, or cannot be had from the database as it stands.
    pub fn has_tried_steps(&self) -> bool {
        self.steps.is_some() || self.gaps.contains(&"message history")
    }

    /// Takes over what an earlier reading knew and this one could not read: a conversation does not change its place
    /// because its owner held the database for a moment.
    pub fn keep(&mut self, earlier: &Reading) {
        if self.gaps.contains(&"session metadata") {
            self.parent.clone_from(&earlier.parent);
            self.label.clone_from(&earlier.label);
        }
        if self.model.is_none() {
            self.model.clone_from(&earlier.model);
        }
        if self.steps.is_none() {
            self.steps.clone_from(&earlier.steps);
        }
    }
}

/// A cell of the type asked for, if it is of a length worth reading.
enum Cell {
    Absent,
    TooLong,
    Blob(Vec<u8>),
}

/// Reads a blob and the mark that it was left out for its length; any other type is nothing (AGY-007).
fn cell(blob: ValueRef<'_>, too_long: ValueRef<'_>) -> Cell {
    match (blob, too_long) {
        (ValueRef::Blob(blob), _) => Cell::Blob(blob.to_vec()),
        (_, ValueRef::Integer(1)) => Cell::TooLong,
        _ => Cell::Absent,
    }
}

// A cell's type and length are told without loading it, so a long one is passed over and not built in memory.

const TRAJECTORY: &str = "SELECT CASE WHEN typeof(data) = 'blob' AND length(data) <= ?1 THEN data END, \
    typeof(data) = 'blob' AND length(data) > ?1 FROM trajectory_metadata_blob WHERE id = 'main' LIMIT 1";

const GENERATION: &str = "SELECT rowid, typeof(data) FROM gen_metadata ORDER BY idx DESC LIMIT 1";

const NEWEST_STEPS: &str = "SELECT step_type, \
    CASE WHEN typeof(metadata) = 'blob' AND length(metadata) <= ?1 THEN metadata END, \
    typeof(metadata) = 'blob' AND length(metadata) > ?1 FROM steps ORDER BY idx DESC LIMIT ?2";

fn trajectory(db: &Database) -> Result<Cell, StoreError> {
    let mut found = Cell::Absent;
    db.rows(TRAJECTORY, &[&CELL_BYTES], |row| {
        found = cell(row.get_ref(0)?, row.get_ref(1)?);
        Ok(false)
    })?;
    Ok(found)
}

fn id(blob: &[u8], number: u128) -> Option<String> {
    let id = std::str::from_utf8(wire::bytes(blob, number)?).ok()?;
    (1..=ID_BYTES).contains(&id.len()).then(|| id.to_owned())
}

fn label(name: &[u8]) -> Option<String> {
    safe_name(std::str::from_utf8(name).ok()?, SUBAGENT_NAME_CAP_CHARS)
}

/// The model of the newest generation (AGY-012). The rest of that cell is a prompt, so no statement may load it.
fn model(db: &Database) -> Result<Option<String>, StoreError> {
    let mut newest = None;
    db.rows(GENERATION, &[], |row| {
        let blob = matches!(row.get_ref(1)?, ValueRef::Text(b"blob"));
        newest = if blob { row.get::<_, Option<i64>>(0)? } else { None };
        Ok(false)
    })?;
    match newest {
        Some(rowid) => Ok(model_name(&db.cell_tail("gen_metadata", "data", rowid, MODEL_BYTES)?)),
        None => Ok(None),
    }
}

/// The name in field 21 of a generation's end, provided that it reaches exactly the last byte. A field behind it makes
/// its length come out wrong, and then nothing is read rather than something else's text.
fn model_name(end: &[u8]) -> Option<String> {
    const KEY: [u8; 2] = [0xAA, 0x01];
    (0..end.len())
        .find_map(|at| {
            let (len, name) = end.get(at..)?.strip_prefix(&KEY)?.split_first()?;
            (usize::from(*len) == name.len()).then_some(())?;
            std::str::from_utf8(name).ok()
        })
        .and_then(|name| safe_name(name, MODEL_CAP_CHARS))
}

/// The newest steps, and whether any was too long to be read (AGY-010, AGY-011).
fn newest_steps(db: &Database, now: f64) -> Result<(Steps, bool), StoreError> {
    let (mut fold, mut cut) = (Newest::default(), false);
    db.rows(NEWEST_STEPS, &[&CELL_BYTES, &STEPS], |row| {
        match cell(row.get_ref(1)?, row.get_ref(2)?) {
            Cell::Blob(blob) => fold.step(sqlite::number(row.get_ref(0)?), &blob, now),
            Cell::TooLong => cut = true,
            Cell::Absent => {}
        }
        Ok(true)
    })?;
    Ok((fold.finish(), cut))
}

/// Folds steps as they come, newest first.
#[derive(Default)]
struct Newest {
    /// Times, and whether the step was a prompt, newest first.
    times: Vec<(f64, bool)>,
    steps: Steps,
    prompted: bool,
}

impl Newest {
    fn step(&mut self, kind: Option<f64>, metadata: &[u8], now: f64) {
        let Some(at) = start_of(metadata) else { return };
        let prompt = kind == Some(PROMPT);
        if !self.prompted && self.steps.action.is_none() {
            self.steps.action = action(metadata);
        }
        self.prompted |= prompt;
        self.times.push((at, prompt));
        if kind == Some(RESPONSE) && at >= now - RATE_WINDOW_SEC {
            let tokens = wire::bytes(metadata, 9).and_then(|usage| wire::varint(usage, 3)).unwrap_or(0);
            // A negative count arrives as a number no signed one holds.
            let tokens = u64::try_from(tokens).ok().filter(|n| i64::try_from(*n).is_ok()).unwrap_or(0);
            if tokens > 0 {
                self.steps.usage.push((at, tokens));
            }
        }
    }

    fn finish(mut self) -> Steps {
        let (start, durations) = turn::from_messages(self.times.into_iter().rev());
        self.steps.start = start;
        self.steps.durations = durations;
        self.steps.usage.shrink_to_fit();
        self.steps
    }
}

/// When a step began, seconds since the epoch; `None` when it does not say.
fn start_of(metadata: &[u8]) -> Option<f64> {
    let stamp = wire::bytes(metadata, 1)?;
    let seconds = wire::varint(stamp, 1).filter(|s| *s > 0)? as f64;
    Some(seconds + wire::varint(stamp, 2).unwrap_or(0) as f64 / 1e9)
}

/// What a step says it does: its action, else its summary.
fn action(metadata: &[u8]) -> Option<String> {
    [31, 30].into_iter().find_map(|number| {
        let said = String::from_utf8_lossy(wire::bytes(metadata, number)?);
        let said = safe_text(&said, LAST_PROMPT_CAP_CHARS);
        let said = said.trim();
        (!said.is_empty()).then(|| said.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        text.as_bytes()
            .chunks(2)
            .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
            .collect()
    }

    /// AGY-008, AGY-009, AGY-010: time, tokens, action and summary.
    #[test]
    fn agy_008_a_step_says_when_what_and_how_much() {
        let answer =
            hex("0a0c08f4e9bed5061080cab5ee014a0318d804f2010a52756e207265706f7274fa010e52756e6e696e67207265706f7274");
        assert_eq!(start_of(&answer), Some(1_789_900_020.5));
        assert_eq!(action(&answer).as_deref(), Some("Running report"));
        assert_eq!(start_of(&hex("0a0608e0e9bed506")), Some(1_789_900_000.0));
        assert_eq!(start_of(&hex("0a020800")), None, "second 0 is no time");
        let summary = hex("0a0608e0e9bed506f2010a52756e207265706f7274fa010120");
        assert_eq!(action(&summary).as_deref(), Some("Run report"), "a blank action gives way to the summary");
        let mut fold = Newest::default();
        fold.step(Some(RESPONSE), &answer, 1_789_900_030.0);
        fold.step(Some(PROMPT), &hex("0a0608e0e9bed506"), 1_789_900_030.0);
        let steps = fold.finish();
        assert_eq!((steps.start, steps.usage), (Some(1_789_900_000.0), vec![(1_789_900_020.5, 600)]));
    }

    /// AGY-012, AGY-038: the very last field or nothing.
    #[test]
    fn agy_012_agy_038_only_a_name_that_is_the_very_last_field_is_read() {
        let cell = hex(
            "0a364a07636f6e74656e749a011267656d696e692d70726f2d64656661756c74aa011547656d696e6920332e312050726f20284869676829",
        );
        assert_eq!(model_name(&cell).as_deref(), Some("Gemini 3.1 Pro (High)"));
        for (name, end) in [
            ("a field behind it", &b"\xaa\x01\x03abc\xb0\x01\x05"[..]),
            ("a small field behind it", b"\xaa\x01\x03abc\x78\x05"),
            ("longer than what is read", b"\xaa\x01\x7fabc"),
            ("no text", b"\xaa\x01\x02\xff\xfe"),
            ("blank", b"\xaa\x01\x02  "),
            ("empty", b"\xaa\x01\x00"),
            ("cut", b"\xaa\x01"),
            ("nothing", b""),
        ] {
            assert_eq!(model_name(end), None, "{name}");
        }
        let mut long = b"\xaa\x01\x3d".to_vec();
        long.extend_from_slice(&[b'N'; 61]);
        assert_eq!(model_name(&long).map(|name| name.len()), Some(MODEL_CAP_CHARS));
    }

    /// AGY-014, AGY-036, AGY-037: parent and role.
    #[test]
    fn agy_014_agy_036_agy_037_the_trajectory_names_parent_and_role() {
        let own = "11111111-1111-1111-1111-111111111111";
        let place = |blob: &[u8], sid: &str| {
            let mut reading = Reading::default();
            reading.place(Cell::Blob(blob.to_vec()), sid);
            (reading.parent, reading.label)
        };
        let root = hex("322431313131313131312d313131312d313131312d313131312d313131313131313131313131");
        assert_eq!(place(&root, own), (None, None), "its own id in field 6");
        assert_eq!(place(&root, "other"), (Some(own.into()), None));
        let child = hex(
            "2a2431313131313131312d313131312d313131312d313131312d313131313131313131313131421b121052657365617263682041756469746f720a0761756469746f72",
        );
        assert_eq!(place(&child, "other"), (Some(own.into()), Some("Research Auditor".into())));
        assert_eq!(place(&child, own), (None, None), "its own id in field 5");
        assert_eq!(place(b"\x2a\x01p\x42\x0a\x12\x01 \x0a\x05audit", "s"), (Some("p".into()), Some("audit".into())));
        assert_eq!(place(b"\x2a\x01p\x42\x06\x12\x01 \x0a\x01 ", "s"), (Some("p".into()), None));
        assert_eq!(place(b"\x2a\x02\xff\xfe\x32\x01q", "s"), (Some("q".into()), None), "undecodable is none");
    }
}
