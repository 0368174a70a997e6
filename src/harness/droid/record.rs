//! Records of a Droid transcript: an Anthropic-style message a line, behind one `session_start` line.
//!
//! Only role, prompt text, tool names and stamps are taken. Thinking, tool inputs and tool results are passed over as
//! bytes and never become a value here (DROID-004).

use crate::harness::blocks;
use crate::harness::follow::{Records, session_id};
use crate::harness::head::Head;
use crate::harness::line::{Field, number, text};
use crate::harness::seek::Before;
use crate::harness::shape::{Maybe, Str};
use crate::harness::story::{Moment, Prompt, Story};
use crate::text::extract::speaks;
use crate::text::json;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// What line 1 says of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub id: Option<String>,
    /// As recorded, trimmed; never empty.
    pub title: Option<String>,
    pub cwd: Option<String>,
    /// The file is of a newer format than any sample that was seen.
    pub is_unseen: bool,
}

/// Newest format of the samples (DECK-020).
const NEWEST_FORMAT: f64 = 2.0;

#[derive(Deserialize)]
struct Start<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    id: Field<'a>,
    #[serde(borrow, default, rename = "sessionTitle")]
    session_title: Str<'a>,
    #[serde(borrow, default)]
    title: Str<'a>,
    #[serde(borrow, default)]
    cwd: Str<'a>,
    #[serde(borrow, default)]
    version: Field<'a>,
}

/// Longest title and directory taken from line 1, bytes.
const HEADER_TEXT_CAP: usize = 8192;

/// Judges the first line: a `session_start`, another record, or not whole yet (DROID-005, DROID-028).
pub fn header(line: &[u8]) -> Head<Header> {
    let Some(start) = json::record(line) else { return Head::Unfinished };
    let Ok(start) = serde_json::from_str::<Start<'_>>(&start) else { return Head::Unfinished };
    if !start.kind.is("session_start") {
        return Head::Parsed(None);
    }
    let title =
        [&start.session_title, &start.title].into_iter().find_map(|t| t.get().map(str::trim).filter(|t| !t.is_empty()));
    let bounded = |text: &&str| text.len() <= HEADER_TEXT_CAP;
    Head::Parsed(Some(Header {
        id: id(start.id),
        title: title.map(|title| title.get(..title.floor_char_boundary(HEADER_TEXT_CAP)).unwrap_or(title).to_owned()),
        cwd: start.cwd.get().filter(bounded).map(str::to_owned),
        is_unseen: number(start.version).is_some_and(|version| version > NEWEST_FORMAT),
    }))
}

/// An id as text; a number counts as its digits (DROID-018).
fn id(field: Field<'_>) -> Option<String> {
    let id = match text(field) {
        Some(text) => text.into_owned(),
        None => number(field).and(field).map(|raw| raw.get().to_owned())?,
    };
    session_id(&id).map(str::to_owned)
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    timestamp: Str<'a>,
    #[serde(borrow, default)]
    message: Maybe<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Str<'a>,
    #[serde(borrow, default)]
    content: Field<'a>,
}

/// What a transcript tells.
pub struct Talk {
    story: Story,
    /// Content of the newest prompt that was not taken up yet.
    said: Option<Box<str>>,
}

impl Talk {
    /// The story so far.
    pub fn story(&self) -> &Story {
        &self.story
    }
}

impl Records for Talk {
    type Header = Header;

    fn header(line: &[u8]) -> Head<Header> {
        header(line)
    }

    fn begin(from_start: bool) -> Talk {
        Talk { story: Story::new(from_start), said: None }
    }

    fn resume(&mut self, before: Before) {
        self.story.resume(before);
    }

    fn moments(line: &[u8], out: &mut Vec<Moment>) {
        if let Some((mut moment, said)) = moment(line) {
            moment.prompt = said.and_then(|said| Prompt::of_json(&said)).map(Arc::new);
            out.push(moment);
        }
    }

    fn line(&mut self, line: &[u8], now: f64) -> bool {
        let Some((moment, said)) = moment(line) else { return false };
        self.story.take(&moment, now);
        self.said = said.or(self.said.take());
        true
    }

    fn settle(&mut self, _now: f64) {
        self.story.said(self.said.take().and_then(|said| Prompt::of_json(&said)));
    }
}

/// A line as the story sees it, with the content of the prompt it may be; `None` when it holds no record (DROID-010,
/// DROID-011).
pub fn moment(line: &[u8]) -> Option<(Moment, Option<Box<str>>)> {
    let line = json::record(line)?;
    let line: Line<'_> = serde_json::from_str(&line).ok()?;
    let mut moment = Moment { at: line.timestamp.stamp(), ..Moment::default() };
    let mut said = None;
    let Some(message) = line.message.0.filter(|_| line.kind.is("message")) else { return Some((moment, said)) };
    match message.role.get() {
        Some("user") if !blocks::holds(message.content, "tool_result") => {
            moment.opens = true;
            said = message.content.map(RawValue::get).filter(|content| speaks(content)).map(Box::from);
        }
        Some("assistant") => moment.tool = blocks::last_tool(message.content, "tool_use"),
        _ => {}
    }
    Some((moment, said))
}
