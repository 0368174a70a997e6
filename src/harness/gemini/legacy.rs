//! Chats of Gemini CLI before 0.39: one JSON document a session, written anew at every message.
//!
//! They are read only beside recordings of the current shape: alone they do not make the harness known, and a document
//! that is not such a chat is nothing (FIELD-001).

use super::conversation::Conversation;
use super::record::{Header, elements, header_of};
use crate::harness::follow::{Records, session_id};
use crate::harness::line::Field;
use crate::harness::shape::Str;
use crate::surface::read::{self, ReadError, Stamp};
use crate::text::json;
use memchr::memmem;
use serde::Deserialize;
use std::path::Path;

/// Longest document read, bytes.
const CAP: u64 = 8 * 1024 * 1024;
/// Where identity stands in a document, bytes from its start.
const HEAD: u64 = 4096;

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow, default, rename = "sessionId")]
    session_id: Str<'a>,
    #[serde(borrow, default)]
    kind: Str<'a>,
    #[serde(borrow, default)]
    directories: Field<'a>,
    #[serde(borrow, default)]
    messages: Field<'a>,
}

/// One legacy chat and what was read of it.
#[derive(Default)]
pub struct Chat {
    stamp: Option<Stamp>,
    read: Option<(Header, Conversation)>,
    /// The document is longer than is read.
    pub in_part: bool,
    /// Why it could not be read, `<Type>: <message>`.
    pub failure: Option<String>,
}

impl Chat {
    /// Reads the document anew if it changed; false when it is gone. One that cannot be read, or is being written, keeps
    /// what was read.
    pub fn advance(&mut self, path: &Path, stamp: Stamp, now: f64) -> bool {
        if self.stamp == Some(stamp) {
            return true;
        }
        let outcome = self.read(path, stamp, now);
        self.failure = outcome.as_ref().err().map(|why| format!("ReadError: {why}"));
        !outcome.is_err_and(|why| why.is_missing())
    }

    fn read(&mut self, path: &Path, stamp: Stamp, now: f64) -> Result<(), ReadError> {
        match read::whole(path, CAP) {
            Ok(bytes) => {
                self.stamp = Some(stamp);
                self.in_part = false;
                if let Some(read) = parse(&bytes, now) {
                    self.read = Some(read);
                }
                Ok(())
            }
            Err(ReadError::TooLong { .. }) => {
                self.stamp = Some(stamp);
                self.in_part = true;
                if self.read.is_none() {
                    self.read = identity(path)?.map(|header| (header, Conversation::begin(false)));
                }
                Ok(())
            }
            Err(why) => Err(why),
        }
    }

    /// The chat, if the document is one.
    pub fn get(&self) -> Option<(&Header, &Conversation)> {
        self.read.as_ref().map(|(header, conversation)| (header, conversation))
    }
}

fn parse(bytes: &[u8], now: f64) -> Option<(Header, Conversation)> {
    let document = json::record(bytes)?;
    let document: Document<'_> = serde_json::from_str(&document).ok()?;
    let header = header_of(&document.session_id, &document.kind, document.directories);
    if header.id.is_none() || !document.messages?.get().starts_with('[') {
        return None;
    }
    let mut conversation = Conversation::begin(true);
    elements(document.messages, &mut |record, bytes| conversation.record(record, bytes, now));
    conversation.settle(now);
    Some((header, conversation))
}

/// Who a document belongs to, by its beginning alone: the identity stands before the messages.
pub fn identity(path: &Path) -> Result<Option<Header>, ReadError> {
    let (head, _) = read::prefix(path, HEAD)?;
    let value = |key: &[u8]| {
        let at = memmem::find(&head, key)?;
        let rest = head.get(at + key.len()..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        Some(rest)
    };
    let is_chat = value(b"\"messages\"").is_some_and(|list| list.starts_with(b"["));
    let id = value(b"\"sessionId\"").filter(|_| is_chat).and_then(|rest| {
        let text = String::from_utf8_lossy(rest);
        serde_json::Deserializer::from_str(&text).into_iter::<String>().next()?.ok()
    });
    Ok(id.and_then(|id| session_id(&id).map(str::to_owned)).map(|id| Header { id: Some(id), ..Header::default() }))
}
