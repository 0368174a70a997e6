//! A Gemini conversation as it stands: messages keyed by id, so that a snapshot repeats nothing, a fuller version of a
//! message replaces the earlier one, and a rewind takes back what it took back.

use super::record::{Header, Record, elements, header};
use crate::harness::follow::Records;
use crate::harness::head::Head;
use crate::harness::seek::Before;
use crate::harness::story::{Moment, Story};
use crate::text::json;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

/// Messages kept singly; of more, the older half is folded for good and can no longer be taken back.
const KEPT: usize = 8192;
/// Keys of messages folded for good that are remembered, so that a snapshot does not count them again.
const FOLDED_KEYS: usize = 65_536;

struct Message {
    /// Digest of id and type, or of the whole record when it has no id.
    key: u64,
    /// Digest of the id; 0 = none.
    id: u64,
    /// Digest of the record's bytes, to pass over unchanged repeats.
    bytes: u64,
    moment: Moment,
}

/// The messages of one recording and the story they tell.
pub struct Conversation {
    hasher: RandomState,
    /// What is folded for good.
    base: Story,
    messages: Vec<Message>,
    at: HashMap<u64, usize>,
    folded: HashSet<u64>,
    story: Story,
    /// `story` does not follow from `messages` any more.
    stale: bool,
}

impl Conversation {
    /// The story up to the newest message.
    pub fn story(&self) -> &Story {
        &self.story
    }

    /// How many messages are kept singly.
    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.messages.len()
    }

    /// Takes up one record with its bytes.
    pub fn record(&mut self, record: &Record<'_>, bytes: &str, now: f64) {
        if let Some(id) = record.rewind() {
            self.rewind(self.hasher.hash_one(id));
            return;
        }
        let digest = self.hasher.hash_one(bytes);
        if record.id.nonempty().is_none() && record.moment() == Moment::default() {
            return;
        }
        let id = record.id.nonempty().map_or(0, |id| self.hasher.hash_one(id));
        let key = if id == 0 { self.canonical(bytes) } else { self.hasher.hash_one((id, record.kind.get())) };
        if self.folded.contains(&key) {
            return;
        }
        if let Some(known) = self.at.get(&key).and_then(|at| self.messages.get_mut(*at)) {
            if known.bytes != digest {
                known.bytes = digest;
                let moment = fuller(record.moment(), &known.moment);
                self.stale |= moment != known.moment;
                known.moment = moment;
            }
            return;
        }
        let moment = record.moment();
        if !self.stale {
            self.story.take(&moment, now);
        }
        self.at.insert(key, self.messages.len());
        self.messages.push(Message { key, id, bytes: digest, moment });
        if self.messages.len() > KEPT {
            self.fold_older_half(now);
        }
    }

    /// A digest that neither spacing nor the order of keys changes.
    fn canonical(&self, bytes: &str) -> u64 {
        let value: Option<serde_json::Value> = serde_json::from_str(bytes).ok();
        self.hasher.hash_one(value.map_or_else(|| bytes.to_owned(), |value| value.to_string()))
    }

    /// Drops the message with this id and everything behind it. One that is not known changes nothing.
    fn rewind(&mut self, id: u64) {
        let Some(from) = self.messages.iter().position(|message| message.id == id) else { return };
        for dropped in self.messages.drain(from..) {
            self.at.remove(&dropped.key);
        }
        self.stale = true;
    }

    fn fold_older_half(&mut self, now: f64) {
        if self.folded.len() > FOLDED_KEYS {
            self.folded.clear();
        }
        for message in self.messages.drain(..KEPT / 2) {
            self.base.take(&message.moment, now);
            self.at.remove(&message.key);
            self.folded.insert(message.key);
        }
        for at in self.at.values_mut() {
            *at -= KEPT / 2;
        }
    }
}

/// A message written again: what the later version leaves out stands as it was.
fn fuller(later: Moment, earlier: &Moment) -> Moment {
    Moment {
        at: later.at.or(earlier.at),
        prompt: later.prompt.or_else(|| earlier.prompt.clone()),
        output: if later.output > 0 { later.output } else { earlier.output },
        tool: later.tool.or_else(|| earlier.tool.clone()),
        ..later
    }
}

impl Records for Conversation {
    type Header = Header;

    fn header(line: &[u8]) -> Head<Header> {
        header(line)
    }

    fn begin(from_start: bool) -> Conversation {
        Conversation {
            hasher: RandomState::new(),
            base: Story::new(from_start),
            messages: Vec::new(),
            at: HashMap::new(),
            folded: HashSet::new(),
            story: Story::new(from_start),
            stale: false,
        }
    }

    fn resume(&mut self, before: Before) {
        self.base.resume(before);
        self.story = self.base.clone();
    }

    fn moments(line: &[u8], out: &mut Vec<Moment>) {
        let Some(line) = json::record(line) else { return };
        let Ok(record) = serde_json::from_str::<Record<'_>>(&line) else { return };
        match record.snapshot() {
            Some(list) => elements(Some(list), &mut |record, _| out.push(record.moment())),
            None => out.push(record.moment()),
        }
    }

    fn line(&mut self, line: &[u8], now: f64) -> bool {
        let Some(line) = json::record(line) else { return false };
        let Ok(record) = serde_json::from_str::<Record<'_>>(&line) else { return false };
        match record.snapshot() {
            Some(list) => elements(Some(list), &mut |record, bytes| self.record(record, bytes, now)),
            None => self.record(&record, &line, now),
        }
        true
    }

    fn settle(&mut self, now: f64) {
        if !std::mem::take(&mut self.stale) {
            return;
        }
        self.story = self.base.clone();
        for message in &self.messages {
            self.story.take(&message.moment, now);
        }
    }
}
