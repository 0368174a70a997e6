//! The text of a record whose shape is open: a string, a list of parts, or an object that holds one (TEXT-001).
//!
//! Depth and length are bounded, and the bound comes after redaction. Parts that carry an agent's reasoning yield
//! nothing, whatever key their text is under (TRUST-028).

use super::clip::redact_clip;
use super::safe::then;
use crate::config::RECORD_TEXT_CAP_CHARS;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// Deepest level that is read, counted from 0.
const DEEPEST: u8 = 4;
/// Most bytes gathered before redaction and the bound: room for a whole private key behind the last kept character.
const GATHER_BYTES: usize = 4 * RECORD_TEXT_CAP_CHARS + 32_768;
/// Keys of an object that hold its text, in order of preference.
const KEYS: [&str; 5] = ["text", "content", "message", "prompt", "value"];
/// Part types that carry reasoning.
const REASONING: [&str; 8] = [
    "thinking",
    "redacted_thinking",
    "redactedThinking",
    "reasoning",
    "reasoning_text",
    "reasoningText",
    "summary_text",
    "thoughts",
];

/// Text taken straight from a JSON stream, without building the value: a field of this type reads any shape and never
/// fails on well-formed JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Level(0).deserialize(from)?;
        Ok(Text(then(text, |text| redact_clip(text, RECORD_TEXT_CAP_CHARS))))
    }
}

/// Whether a JSON value holds any such text, told without redacting it.
pub fn speaks(json: &str) -> bool {
    Level(0).deserialize(&mut serde_json::Deserializer::from_str(json)).is_ok_and(|text| !text.is_empty())
}

/// Text of a value already built.
pub fn text(value: &Value) -> Cow<'_, str> {
    then(gather(value, 0), |text| redact_clip(text, RECORD_TEXT_CAP_CHARS))
}

fn gather(value: &Value, level: u8) -> Cow<'_, str> {
    match value {
        _ if level > DEEPEST => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(head(text)),
        Value::Array(list) => {
            let mut out = Cow::Borrowed("");
            for part in list {
                join(&mut out, gather(part, level + 1));
                if out.len() >= GATHER_BYTES {
                    break;
                }
            }
            out
        }
        Value::Object(map) => {
            if map.get("type").and_then(Value::as_str).is_some_and(is_reasoning) {
                return Cow::Borrowed("");
            }
            let texts = KEYS.iter().filter_map(|key| map.get(*key)).map(|part| gather(part, level + 1));
            texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Cow::Borrowed(""),
    }
}

fn is_reasoning(kind: &str) -> bool {
    REASONING.contains(&kind)
}

/// The part of `text` worth gathering.
fn head(text: &str) -> &str {
    if text.len() <= GATHER_BYTES { text } else { text.get(..text.floor_char_boundary(GATHER_BYTES)).unwrap_or(text) }
}

fn join<'a>(out: &mut Cow<'a, str>, part: Cow<'a, str>) {
    if part.is_empty() {
        return;
    }
    if out.is_empty() {
        *out = part;
        return;
    }
    let out = out.to_mut();
    out.push(' ');
    out.push_str(&part);
}

/// Reads a value at a level of nesting.
struct Level(u8);

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        if self.0 > DEEPEST {
            return from.deserialize_ignored_any(IgnoredAny).map(|_| Cow::Borrowed(""));
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(head(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(head(text).to_owned()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut out = Cow::Borrowed("");
        while out.len() < GATHER_BYTES {
            let Some(part) = list.next_element_seed(Level(self.0 + 1))? else { return Ok(out) };
            join(&mut out, part);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(out)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut reasoning = false;
        // The preferred key wins, not the first met; a repeated key counts as its last.
        let mut texts: [Cow<'de, str>; KEYS.len()] = Default::default();
        while let Some(key) = map.next_key_seed(Level(DEEPEST))? {
            if let Some(slot) = KEYS.iter().position(|k| **k == *key).and_then(|n| texts.get_mut(n)) {
                *slot = map.next_value_seed(Level(self.0 + 1))?;
            } else if *key == *"type" {
                reasoning = is_reasoning(&map.next_value_seed(Level(DEEPEST))?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(if reasoning { None } else { texts.into_iter().find(|text| !text.is_empty()) }.unwrap_or_default())
    }
}
