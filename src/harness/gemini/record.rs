//! Records of a Gemini chat recording: a metadata line, messages, `$set` updates that may hold a whole snapshot, and
//! rewinds.
//!
//! Thoughts, tool arguments and tool results are passed over as bytes and never become a value here (GEM-005).

use crate::config::TOOL_CAP_CHARS;
use crate::harness::follow::session_id;
use crate::harness::head::Head;
use crate::harness::line::{Field, number, object, text};
use crate::harness::shape::{Maybe, Str, each};
use crate::harness::story::{Moment, Prompt};
use crate::text::{json, safe_name};
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// What the metadata of a recording says of its session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub id: Option<String>,
    /// The recording is a subagent's.
    pub subagent: bool,
    /// First of the recorded directories.
    pub cwd: Option<String>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, default, rename = "sessionId")]
    session_id: Str<'a>,
    #[serde(borrow, default)]
    kind: Str<'a>,
    #[serde(borrow, default)]
    directories: Field<'a>,
}

/// Longest directory taken from the metadata, bytes.
const CWD_CAP: usize = 4096;

/// The header in an object's identity fields.
pub fn header_of(session: &Str<'_>, kind: &Str<'_>, directories: Field<'_>) -> Header {
    let mut first = None;
    let mut met = false;
    each(directories, &mut |entry| {
        if !met {
            first = text(Some(entry)).filter(|cwd| !cwd.is_empty() && cwd.len() <= CWD_CAP);
        }
        met = true;
    });
    Header {
        id: session.get().and_then(session_id).map(str::to_owned),
        subagent: kind.is("subagent"),
        cwd: first.map(std::borrow::Cow::into_owned),
    }
}

/// Judges the first line (GEM-006).
pub fn header(line: &[u8]) -> Head<Header> {
    let Some(line) = json::record(line) else { return Head::Unfinished };
    let Ok(data) = serde_json::from_str::<Metadata<'_>>(&line) else { return Head::Unfinished };
    Head::Parsed(Some(header_of(&data.session_id, &data.kind, data.directories)))
}

/// A message, or any other record, in its parts.
#[derive(Deserialize)]
pub struct Record<'a> {
    #[serde(borrow, default)]
    pub id: Str<'a>,
    #[serde(borrow, default, rename = "type")]
    pub kind: Str<'a>,
    #[serde(borrow, default)]
    timestamp: Str<'a>,
    #[serde(borrow, default)]
    content: Field<'a>,
    #[serde(borrow, default)]
    tokens: Maybe<Tokens<'a>>,
    #[serde(borrow, default, rename = "toolCalls")]
    tool_calls: Field<'a>,
    #[serde(borrow, default, rename = "$set")]
    set: Maybe<Set<'a>>,
    #[serde(borrow, default, rename = "$rewindTo")]
    rewind: Str<'a>,
}

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow, default)]
    output: Field<'a>,
}

#[derive(Deserialize)]
struct Set<'a> {
    #[serde(borrow, default)]
    messages: Field<'a>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow, default)]
    name: Str<'a>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default, rename = "functionResponse")]
    function_response: Field<'a>,
}

impl<'a> Record<'a> {
    /// The list of a snapshot (GEM-010).
    pub fn snapshot(&self) -> Field<'a> {
        self.set.0.as_ref().and_then(|set| set.messages).filter(|list| list.get().starts_with('['))
    }

    /// The message that a rewind goes back to.
    pub fn rewind(&self) -> Option<&str> {
        self.rewind.nonempty()
    }

    /// The record as the story sees it (GEM-011, GEM-014).
    pub fn moment(&self) -> Moment {
        let mut moment = Moment { at: self.timestamp.stamp(), ..Moment::default() };
        match self.kind.get() {
            Some("user") => {
                moment.opens = !is_tool_result(self.content);
                moment.prompt = prompt(self.content);
            }
            Some("gemini") => {
                let output = self.tokens.0.as_ref().and_then(|tokens| number(tokens.output));
                moment.output = output.map_or(0, |tokens| tokens.max(0.0) as u64);
                moment.tool = last_tool(self.tool_calls);
            }
            _ => {}
        }
        moment
    }
}

/// The elements of a snapshot that are objects, each with its bytes.
pub fn elements<'a>(snapshot: Field<'a>, take: &mut dyn FnMut(&Record<'a>, &'a str)) {
    each(snapshot, &mut |raw: &'a RawValue| {
        if let Some(record) = object::<Record<'a>>(Some(raw)) {
            take(&record, raw.get());
        }
    });
}

fn prompt(content: Field<'_>) -> Option<Arc<Prompt>> {
    Prompt::of_json(content?.get()).map(Arc::new)
}

fn is_tool_result(content: Field<'_>) -> bool {
    let content = content.filter(|raw| memmem::find(raw.get().as_bytes(), b"functionResponse").is_some());
    let mut found = false;
    each(content, &mut |raw| {
        found |= object::<Part<'_>>(Some(raw)).is_some_and(|part| part.function_response.is_some());
    });
    found
}

fn last_tool(calls: Field<'_>) -> Option<Arc<str>> {
    let mut last = None;
    each(calls, &mut |raw| {
        if let Some(name) =
            object::<ToolCall<'_>>(Some(raw)).and_then(|call| safe_name(call.name.get()?, TOOL_CAP_CHARS))
        {
            last = Some(name.into());
        }
    });
    last
}
