//! Every statement the reader of Cursor's stores runs, all fixed `SELECT`s over two tables, and what comes of them.
//!
//! Schema: Cursor CLI 2026.08 (spec 27, section 2). The payload and the blobs may be encrypted; what does not read is
//! absent, and the key is taken nowhere (CUR-004).

use super::chat::{Blobs, Chat};
use super::{gate, meta, model};
use crate::config::{CURSOR_BLOB_BYTES, CURSOR_META_ROWS, CURSOR_MODEL_PROBE_BLOBS, MODEL_CAP_CHARS};
use crate::harness::pause::Pause;
use crate::harness::sql::rows::{GAP_BLOCK_STATE, GAP_METADATA, GAP_MODEL};
use crate::surface::sqlite::{self, Database, StoreError, ValueRef};
use crate::text::safe_name;
use std::path::Path;

const META: &str = "SELECT CASE WHEN octet_length(value) <= ?2 THEN value END FROM meta LIMIT ?1";
const PLACE: &str = "SELECT rowid, octet_length(data) FROM blobs WHERE id = ?1";
const EXTENT: &str = "SELECT (SELECT count(*) FROM blobs), (SELECT max(rowid) FROM blobs)";
const NEWER: &str = "SELECT count(*) FROM blobs WHERE rowid > ?1";
/// The window around the key in the newest blob that holds it. `instr` finds bytes in bytes only, hence the casts; it
/// is SQLite that walks the blobs, so they are never all in memory.
const CARRIER: &str = "SELECT substr(CAST(data AS BLOB), max(1, instr(CAST(data AS BLOB), ?1) - 4096), 8192) FROM blobs \
    WHERE rowid > ?2 AND octet_length(data) <= ?3 AND instr(CAST(data AS BLOB), ?1) > 0 ORDER BY rowid DESC LIMIT 1";

/// Longest payload read, bytes.
const PAYLOAD_MAX: i64 = 1 << 20;
/// Longest blob searched for the key, bytes.
const SEARCHED_MAX: i64 = 16 << 20;

/// Reads one store; `before` is what was read of it last. Its payload must be readable; model and gate fail alone.
/// The statements name one or two columns each, so that preparing them asserts the whole structure they rest on.
pub fn read(db: &Database, before: Option<&Chat>, dir: &Path, now: f64) -> Result<Chat, StoreError> {
    let (meta, workspace) = meta::beside(dir);
    let mut chat = Chat { meta, ..Chat::default() };
    let payload = payload(db, workspace)?;
    if !payload.is_read() {
        chat.gaps.push(GAP_METADATA);
    }
    if let Some(root) = payload.root() {
        match newest_model(db, root) {
            Ok(model) => chat.model = model,
            Err(error @ (StoreError::Locked | StoreError::Changed)) => return Err(error),
            Err(error) => chat.lacks(GAP_MODEL, error),
        }
    }
    match standing_gate(db, before.map(|b| b.blobs)) {
        Ok(blobs) => {
            chat.blobs = blobs;
            chat.gate = blobs.gate;
        }
        Err(error @ (StoreError::Locked | StoreError::Changed)) => return Err(error),
        // Without a table of blobs nothing can have been asked (CUR-022).
        Err(_) if db.columns("blobs").is_ok_and(|c| c.is_empty()) => {}
        Err(error) => {
            chat.lacks(GAP_BLOCK_STATE, error);
            chat.gate_failed = true;
            chat.pause = longer(before, now);
        }
    }
    payload.into(&mut chat);
    chat.gaps.sort_unstable();
    Ok(chat)
}

/// The pause behind a failure: none behind the first.
fn longer(before: Option<&Chat>, now: f64) -> Pause {
    match before.filter(|b| b.gate_failed) {
        None => Pause::default(),
        Some(before) => {
            let mut pause = before.pause;
            pause.failed(now);
            pause
        }
    }
}

/// The rows of the payload, until nothing better can follow (CUR-006, CUR-010).
fn payload(db: &Database, workspace: Option<String>) -> Result<meta::Payload, StoreError> {
    let mut payload = meta::Payload::new(workspace);
    db.rows(META, sqlite::params![CURSOR_META_ROWS as i64, PAYLOAD_MAX], |row| {
        if let value @ (ValueRef::Text(_) | ValueRef::Blob(_)) = row.get_ref(0)? {
            payload.take(sqlite::bytes(value).unwrap_or_default());
        }
        Ok(!payload.is_complete())
    })?;
    Ok(payload)
}

/// The model of the newest message that names one, within reach of the root blob (CUR-011, CUR-012).
fn newest_model(db: &Database, root: &str) -> Result<Option<String>, StoreError> {
    let Some((rowid, _)) = place(db, root)? else { return Ok(None) };
    let listed = db.cell_tail("blobs", "data", rowid, CURSOR_BLOB_BYTES)?;
    let mut probed = 0;
    for id in model::children(&listed).iter().rev() {
        // An id without a blob is no message: the frame's two bytes also occur in text.
        let Some((rowid, len)) = place(db, id)? else { continue };
        let head = db.cell_head("blobs", "data", rowid, CURSOR_BLOB_BYTES)?;
        if let Some(name) = model::named(&head) {
            return Ok(safe_name(&name, MODEL_CAP_CHARS));
        }
        probed += 1;
        if len > CURSOR_BLOB_BYTES as i64 || probed == CURSOR_MODEL_PROBE_BLOBS {
            return Ok(None);
        }
    }
    Ok(None)
}

/// Row number and length of a blob.
fn place(db: &Database, id: &str) -> Result<Option<(i64, i64)>, StoreError> {
    let mut found = None;
    db.rows(PLACE, sqlite::params![id], |row| {
        found = Some((row.get(0)?, row.get(1)?));
        Ok(false)
    })?;
    Ok(found)
}

/// Whether the newest carrier, by row number, says that somebody is being asked (CUR-015 to CUR-018).
fn standing_gate(db: &Database, before: Option<Blobs>) -> Result<Blobs, StoreError> {
    let mut blobs = Blobs::default();
    db.rows(EXTENT, &[], |row| {
        blobs.count = row.get(0)?;
        blobs.last = row.get::<_, Option<i64>>(1)?.unwrap_or(0);
        Ok(false)
    })?;
    let known = match before {
        Some(known) if appended(db, known, blobs)? => known,
        _ => Blobs::default(),
    };
    blobs.gate = known.gate;
    db.rows(CARRIER, sqlite::params![gate::KEY, known.last, SEARCHED_MAX], |row| {
        let window = sqlite::bytes(row.get_ref(0)?).unwrap_or_default();
        blobs.gate = gate::standing(window);
        Ok(false)
    })?;
    Ok(blobs)
}

/// Whether everything that was searched is still there and only newer blobs were added.
fn appended(db: &Database, known: Blobs, now: Blobs) -> Result<bool, StoreError> {
    let mut newer = 0;
    db.rows(NEWER, sqlite::params![known.last], |row| {
        newer = row.get(0)?;
        Ok(false)
    })?;
    Ok(now.count == known.count + newer)
}
