//! One line of a Claude transcript, parsed once into what a reading can use; everything else is passed over unbuilt.
//!
//! Reasoning never gets further than this: a `thinking` or `redacted_thinking` block is skipped over in the input, and
//! none of the fields it lies in (`thinking`, `signature`, `data`) is named here (CLAUDE-014). A field of the wrong
//! type is an absent field (CLAUDE-010).

use crate::harness::line::{self, Field};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Most blocks of one kind taken from one record.
const BLOCKS: usize = 1024;

/// The fields of a record that any reading uses (section 2 of the store's description).
#[derive(Deserialize)]
pub struct Record<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    pub uuid: Field<'a>,
    #[serde(borrow)]
    version: Field<'a>,
    #[serde(borrow, rename = "isSidechain")]
    side_chain: Field<'a>,
    #[serde(borrow, rename = "isMeta")]
    meta: Field<'a>,
    #[serde(borrow, rename = "isCompactSummary")]
    compact_summary: Field<'a>,
    #[serde(borrow, rename = "aiTitle")]
    pub ai_title: Field<'a>,
    #[serde(borrow, rename = "lastPrompt")]
    pub last_prompt: Field<'a>,
    #[serde(borrow, default)]
    message: Lenient<Message<'a>>,
}

/// A record's kind, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    User,
    Assistant,
    AiTitle,
    LastPrompt,
    Other,
}

/// The message of a record.
#[derive(Deserialize, Default)]
pub struct Message<'a> {
    /// The response this record is a part of (CLAUDE-119).
    #[serde(borrow, default)]
    pub id: Field<'a>,
    #[serde(borrow, default)]
    pub model: Field<'a>,
    #[serde(borrow, default)]
    pub stop_reason: Field<'a>,
    #[serde(borrow, default)]
    usage: Lenient<Usage<'a>>,
    #[serde(borrow, default)]
    pub content: Content<'a>,
}

#[derive(Deserialize)]
struct Usage<'a> {
    #[serde(borrow, default)]
    output_tokens: Field<'a>,
}

impl<'a> Record<'a> {
    /// Parses a line already made readable by [`crate::text::json::record`].
    pub fn parse(text: &'a str) -> Option<Record<'a>> {
        serde_json::from_str(text).ok()
    }

    pub fn kind(&self) -> Kind {
        match line::text(self.kind).as_deref() {
            Some("user") => Kind::User,
            Some("assistant") => Kind::Assistant,
            Some("ai-title") => Kind::AiTitle,
            Some("last-prompt") => Kind::LastPrompt,
            _ => Kind::Other,
        }
    }

    /// The record's time, seconds since the epoch.
    pub fn at(&self) -> Option<f64> {
        line::stamp(self.timestamp)
    }

    /// The version of Claude Code that wrote the record: major, minor, patch.
    pub fn version(&self) -> Option<[u32; 3]> {
        let version = line::text(self.version)?;
        let mut parts = version.split('.').map(|part| part.parse().ok());
        Some([parts.next()??, parts.next()??, parts.next()??])
    }

    /// Written by an agent that works inside this transcript, not by the session's own.
    pub fn is_side_chain(&self) -> bool {
        line::truthy(self.side_chain)
    }

    /// A summary that stands for everything before it.
    pub fn is_compact_summary(&self) -> bool {
        line::truthy(self.compact_summary)
    }

    pub fn message(&self) -> Option<&Message<'a>> {
        self.message.0.as_ref()
    }

    /// Whether a person's prompt stands here: a user record that is no meta record, no tool's result, no command's
    /// echo and not spoken to a side chain (TEXT-005). What the harness injected still counts; see
    /// [`crate::text::prompt::is_injected`].
    pub fn is_prompt(&self) -> bool {
        if self.kind() != Kind::User || line::truthy(self.meta) || self.is_side_chain() {
            return false;
        }
        match self.message().map(|m| &m.content) {
            Some(Content::Text(text)) => !crate::text::prompt::is_command_echo(text),
            Some(Content::Blocks(blocks)) => blocks.results.is_empty(),
            _ => false,
        }
    }
}

impl Message<'_> {
    /// Output tokens reported with the record; a count that is no whole number of at least 0 is not measured.
    pub fn output_tokens(&self) -> Option<u64> {
        line::count(self.usage.0.as_ref()?.output_tokens)
    }

    /// The blocks of the content, when it is a list.
    pub fn blocks(&self) -> Option<&Blocks<'_>> {
        match &self.content {
            Content::Blocks(blocks) => Some(blocks),
            _ => None,
        }
    }
}

/// The text of a prompt's record, bounded and redacted (TEXT-001). Parsed apart from the record itself, since few
/// records are prompts.
pub fn prompt_text(record: &str) -> String {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow)]
        message: Body<'a>,
    }
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        content: crate::text::extract::Text<'a>,
    }
    serde_json::from_str::<Line>(record).map(|line| line.message.content.0.into_owned()).unwrap_or_default()
}

/// A message's content.
#[derive(Default)]
pub enum Content<'a> {
    #[default]
    Absent,
    Text(Cow<'a, str>),
    Blocks(Blocks<'a>),
}

/// The blocks of a message that matter, by kind, in order.
#[derive(Default)]
pub struct Blocks<'a> {
    pub calls: Vec<Call<'a>>,
    pub results: Vec<Outcome<'a>>,
    texts: Vec<Field<'a>>,
}

/// A tool call.
pub struct Call<'a> {
    pub id: Option<Cow<'a, str>>,
    pub name: Option<Cow<'a, str>>,
    pub input: Field<'a>,
}

/// What became of a tool call.
pub struct Outcome<'a> {
    pub id: Option<Cow<'a, str>>,
    pub failed: bool,
}

impl<'a> Blocks<'a> {
    /// The texts of the content joined by line feeds, at most about `most` bytes; `None` without any.
    pub fn text(&self, most: usize) -> Option<String> {
        let mut joined = String::new();
        for text in self.texts.iter().filter_map(|t| line::nonempty(*t)) {
            if !joined.is_empty() {
                joined.push('\n');
            }
            let room = most.saturating_sub(joined.len());
            joined.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or(&text));
            if joined.len() >= most {
                break;
            }
        }
        (!joined.trim().is_empty()).then_some(joined)
    }

    fn take(&mut self, block: Block<'a>) {
        match line::text(block.kind).as_deref() {
            Some("tool_use") if self.calls.len() < BLOCKS => {
                let (id, name) = (line::nonempty(block.id), line::nonempty(block.name));
                self.calls.push(Call { id, name, input: block.input });
            }
            Some("tool_result") if self.results.len() < BLOCKS => {
                let id = line::nonempty(block.tool_use_id);
                self.results.push(Outcome { id, failed: line::truthy(block.is_error) });
            }
            Some("text") if self.texts.len() < BLOCKS => self.texts.push(block.text),
            _ => {}
        }
    }
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow, default)]
    id: Field<'a>,
    #[serde(borrow, default)]
    name: Field<'a>,
    #[serde(borrow, default)]
    input: Field<'a>,
    #[serde(borrow, default)]
    text: Field<'a>,
    #[serde(borrow, default)]
    tool_use_id: Field<'a>,
    #[serde(borrow, default)]
    is_error: Field<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Contents)
    }
}

struct Contents;

impl<'de> Visitor<'de> for Contents {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Content::Absent)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Content::Absent)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Content::Absent)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Content::Absent)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::Absent)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Blocks::default();
        while let Some(block) = list.next_element::<Lenient<Block<'de>>>()? {
            if let Some(block) = block.0 {
                blocks.take(block);
            }
        }
        Ok(Content::Blocks(blocks))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Content::Absent)
    }
}

/// An object of shape `T`; a value of any other type is an absent one.
pub struct Lenient<T>(pub Option<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Lenient(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Objects(PhantomData))
    }
}

struct Objects<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Objects<T> {
    type Value = Lenient<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|value| Lenient(Some(value)))
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Lenient(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Lenient(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Lenient(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Lenient(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Lenient(None))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Lenient(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Lenient(None))
    }
}
