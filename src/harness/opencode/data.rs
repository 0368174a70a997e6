//! What is taken out of the JSON of a message or a part. Everything else of it, reasoning before all, is skipped unbuilt
//! (OC-022, OC-023).

use crate::config::{MODEL_CAP_CHARS, RECORD_TEXT_CAP_CHARS};
use crate::harness::line::{self, Field};
use crate::harness::sql::cells::Cell;
use crate::harness::sql::history::{Note, Role};
use crate::text::safe_name;
use serde::Deserialize;

/// Most text gathered of one prompt, bytes; more than it publishes of any.
const PROMPT_GATHERED: usize = 65_536;

/// Of a message's data, its role and its model.
#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageData<'a> {
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow, rename = "modelID")]
    model: Field<'a>,
}

/// Whose message it is, and what is remembered of it: a prompt's id, an answer's model.
pub fn message(cell: Option<Cell>, id: Option<String>) -> (Role, Note) {
    let text = cell.as_ref().and_then(Cell::text);
    let data: MessageData<'_> = text.as_deref().and_then(|t| line::parse(t.as_bytes())).unwrap_or_default();
    match (line::text(data.role).as_deref(), id) {
        // A prompt that nothing names has no parts, and an older prompt does not stand in for it.
        (Some("user"), id) => (Role::Prompt, id.map_or(Note::None, |id| Note::Is(id.into()))),
        (Some("assistant"), _) => {
            let model = line::text(data.model).and_then(|m| safe_name(&m, MODEL_CAP_CHARS));
            (Role::Other, model.map_or(Note::None, |m| Note::Is(m.into())))
        }
        _ => (Role::Unknown, Note::Keep),
    }
}

/// Of a part's data, its kind and its text.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PartData<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    synthetic: Field<'a>,
    #[serde(borrow)]
    ignored: Field<'a>,
}

/// Joins what was typed in a part to what was typed before it; parts of another kind, and those the harness wrote
/// itself, hold nothing typed (OC-019).
pub fn typed(cell: &Cell, into: &mut String) {
    let Some(text) = cell.text() else { return };
    let part: PartData<'_> = line::parse(text.as_bytes()).unwrap_or_default();
    if line::text(part.kind).as_deref() != Some("text") || line::truthy(part.synthetic) || line::truthy(part.ignored) {
        return;
    }
    let Some(text) = line::nonempty(part.text).filter(|_| into.len() < PROMPT_GATHERED) else { return };
    if !into.is_empty() {
        into.push(' ');
    }
    into.extend(text.chars().take(RECORD_TEXT_CAP_CHARS));
}
