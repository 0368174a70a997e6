//! Entries of a Pi session file: one a line, each naming its parent, so that the file is a tree (format v3).
//!
//! Of an entry only the projection of PI-011 is kept. Thinking, tool arguments and costs never become a value here;
//! a tool's result is looked at for a boot envelope alone, and only where the line holds that envelope's cue.

use crate::config::{FIRST_LINE_JSON_CAP_BYTES, LAST_PROMPT_CAP_CHARS, MODEL_CAP_CHARS, TITLE_CAP_CHARS};
use crate::harness::blocks;
use crate::harness::boot::{self, Boot};
use crate::harness::follow::session_id;
use crate::harness::head::Head;
use crate::harness::line::{Field, number, object, text};
use crate::harness::shape::{Maybe, Str, each};
use crate::harness::story::Prompt;
use crate::text::extract::{Text, speaks};
use crate::text::{json, prompt, safe_name, safe_text};
use memchr::memmem;
use serde::Deserialize;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// What line 1 says of a session (PI-007).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub id: String,
    pub cwd: Option<String>,
    /// The file is of a newer format than any sample that was seen.
    pub is_unseen: bool,
}

/// Newest format of the samples (DECK-020).
const NEWEST_FORMAT: f64 = 3.0;

/// Judges the first line; `parentSession` names a fork's origin and changes nothing (PI-008).
pub fn header(line: &[u8]) -> Head<Header> {
    let Some(line) = json::record(line) else { return Head::Unfinished };
    let Ok(first) = serde_json::from_str::<Line<'_>>(&line) else { return Head::Unfinished };
    let id = first.id.get().and_then(session_id).filter(|_| first.kind.is("session"));
    let cwd = first.cwd.nonempty().filter(|cwd| cwd.len() <= FIRST_LINE_JSON_CAP_BYTES);
    let is_unseen = number(first.version).is_some_and(|version| version > NEWEST_FORMAT);
    Head::Parsed(id.map(|id| Header { id: id.to_owned(), cwd: cwd.map(str::to_owned), is_unseen }))
}

/// Whose allowance an entry spends, in the vendors' own words (PI-025).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority {
    pub provider: Option<String>,
    pub model: Option<String>,
}

/// What an entry says of the turn if it is the leaf (section 6 of the format).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing: recency decides.
    None,
    /// A tool call whose result is not written yet.
    ToolInFlight,
    /// The turn is over.
    Finished,
    /// The model holds the turn.
    Responding,
}

/// One entry as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Digest of the entry's id.
    pub id: u64,
    /// Offset of its line in the file.
    pub from: u64,
    pub at: Option<f64>,
    pub class: Class,
    /// A person's prompt; its text stays in the file.
    pub is_prompt: bool,
    /// Output tokens; 0 = none reported.
    pub output: u64,
    pub tool: Option<Arc<str>>,
    pub authority: Option<Arc<Authority>>,
}

/// The name that a record gives its session; nothing clears it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name(pub Option<Box<str>>);

/// One line taken apart.
pub struct Parsed {
    /// The entry and the digest of its parent's id; `None` for a record without an id, which is on no branch.
    pub entry: Option<(Entry, Option<u64>)>,
    pub name: Option<Name>,
    pub boots: Vec<Boot>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    id: Str<'a>,
    #[serde(borrow, default, rename = "parentId")]
    parent: Str<'a>,
    #[serde(borrow, default)]
    timestamp: Str<'a>,
    #[serde(borrow, default)]
    version: Field<'a>,
    #[serde(borrow, default)]
    cwd: Str<'a>,
    #[serde(borrow, default)]
    name: Str<'a>,
    #[serde(borrow, default)]
    provider: Str<'a>,
    #[serde(borrow, default, rename = "modelId")]
    model: Str<'a>,
    #[serde(borrow, default)]
    usage: Maybe<Usage<'a>>,
    #[serde(borrow, default)]
    message: Maybe<Message<'a>>,
}

#[derive(Deserialize)]
struct Usage<'a> {
    #[serde(borrow, default)]
    output: Field<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Str<'a>,
    #[serde(borrow, default)]
    content: Field<'a>,
    #[serde(borrow, default)]
    provider: Str<'a>,
    #[serde(borrow, default)]
    model: Str<'a>,
    #[serde(borrow, default)]
    usage: Maybe<Usage<'a>>,
    #[serde(borrow, default, rename = "stopReason")]
    stop: Str<'a>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default)]
    text: Field<'a>,
}

/// Takes the line at offset `from` apart; `None` when it holds no record.
pub fn parse(line: &[u8], from: u64, hasher: &RandomState) -> Option<Parsed> {
    let line = json::record(line)?;
    let record: Line<'_> = serde_json::from_str(&line).ok()?;
    let entry = record.id.nonempty().map(|id| {
        let mut entry = Entry {
            id: hasher.hash_one(id),
            from,
            at: record.timestamp.stamp(),
            class: Class::None,
            is_prompt: false,
            output: 0,
            tool: None,
            authority: None,
        };
        fill(&mut entry, &record);
        (entry, record.parent.get().map(|parent| hasher.hash_one(parent)))
    });
    let name = record.kind.is("session_info").then(|| name(&record.name));
    Some(Parsed { entry, name, boots: boots(&record, &line) })
}

/// The time of a line's record, seconds since the epoch.
pub fn stamp(line: &[u8]) -> Option<f64> {
    let line = json::record(line)?;
    serde_json::from_str::<Line<'_>>(&line).ok()?.timestamp.stamp()
}

fn fill(entry: &mut Entry, record: &Line<'_>) {
    let Some("message") = record.kind.get() else {
        entry.output = tokens(&record.usage);
        if record.kind.is("model_change") {
            entry.authority = authority(&record.provider, &record.model);
        }
        return;
    };
    let Some(message) = &record.message.0 else { return };
    match message.role.get() {
        Some("user") => {
            entry.class = Class::Responding;
            entry.is_prompt = message.content.is_some_and(|content| speaks(content.get()));
        }
        Some("toolResult") => {
            entry.class = Class::Responding;
            entry.output = tokens(&message.usage);
        }
        Some("assistant") => {
            entry.class = match message.stop.get() {
                Some("toolUse") => Class::ToolInFlight,
                Some("stop" | "aborted" | "error") => Class::Finished,
                _ => Class::None,
            };
            entry.output = tokens(&message.usage);
            entry.authority = authority(&message.provider, &message.model);
            entry.tool = blocks::last_tool(message.content, "toolCall");
        }
        _ => {}
    }
}

fn tokens(usage: &Maybe<Usage<'_>>) -> u64 {
    usage.0.as_ref().and_then(|usage| number(usage.output)).map_or(0, |tokens| tokens.max(0.0) as u64)
}

fn authority(provider: &Str<'_>, model: &Str<'_>) -> Option<Arc<Authority>> {
    let name = |text: &Str<'_>| text.get().and_then(|text| safe_name(text, MODEL_CAP_CHARS));
    let (provider, model) = (name(provider), name(model));
    (provider.is_some() || model.is_some()).then(|| Arc::new(Authority { provider, model }))
}

fn name(name: &Str<'_>) -> Name {
    let name = name.get().map(|name| safe_text(name, TITLE_CAP_CHARS));
    Name(name.as_deref().map(str::trim).filter(|name| !name.is_empty()).map(Box::from))
}

/// Command output alone can carry an envelope (SPD-010).
fn boots(record: &Line<'_>, line: &str) -> Vec<Boot> {
    let mut found = Vec::new();
    let Some(message) = record.message.0.as_ref().filter(|message| message.role.is("toolResult")) else { return found };
    if record.kind.is("message") && memmem::find(line.as_bytes(), boot::CUE).is_some() {
        each(message.content, &mut |raw| {
            let block = object::<Block<'_>>(Some(raw));
            if let Some(output) = block.and_then(|block| text(block.text)) {
                found.extend(boot::envelopes(&output));
            }
        });
        found.truncate(boot::KEPT);
    }
    found
}

/// The prompt on a line, its title rendered as PI-051 has it.
pub fn prompt_on(line: &[u8]) -> Option<Prompt> {
    let line = json::record(line)?;
    let record: Line<'_> = serde_json::from_str(&line).ok()?;
    let text: Text<'_> = serde_json::from_str(record.message.0?.content?.get()).ok()?;
    if text.0.is_empty() {
        return None;
    }
    let title = prompt::title(&text.0, TITLE_CAP_CHARS).map(String::into_boxed_str);
    Some(Prompt { title, text: safe_text(&text.0, LAST_PROMPT_CAP_CHARS).into() })
}
