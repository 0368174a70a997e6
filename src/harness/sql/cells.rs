//! Cells that hold JSON: read whole where they are short, by their beginning where they are not.

use super::json;
use crate::surface::sqlite::{self, Database, ValueRef};
use std::borrow::Cow;

/// The bytes of a cell, or of its beginning.
pub struct Cell {
    bytes: Vec<u8>,
    cut: bool,
}

impl Cell {
    /// Its JSON as text that a strict reader takes; `None` when it nests too deep.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        json::text(&self.bytes, self.cut)
    }

    /// Its bytes as they are.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The cell `place` (table and column) of row `rowid`: `whole` as a statement yields it when it is at most `cap` bytes
/// long, else read anew by its beginning. `None` when it holds neither text nor bytes.
pub fn cell(
    db: &Database,
    place: (&str, &str),
    rowid: i64,
    len: ValueRef<'_>,
    whole: ValueRef<'_>,
    cap: usize,
) -> Option<Cell> {
    if let Some(bytes) = sqlite::bytes(whole) {
        return Some(Cell { bytes: bytes.to_vec(), cut: false });
    }
    if sqlite::plain_number(len)? <= cap as f64 {
        return None;
    }
    let bytes = db.cell_head(place.0, place.1, rowid, cap).ok()?;
    Some(Cell { bytes, cut: true })
}
