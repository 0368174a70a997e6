//! The format of `cargento-annotations.json`: entries in the order of the file, each with its own bytes, so that what a
//! save does not touch, and what this build does not understand, is written back as it was (ANN-003, ANN-022, ANN-030).

use super::entry::{self, Entry, EntryKey, Found};
use crate::config::{ANNOTATION_MAX_SESSIONS, ANNOTATION_READ_CAP_BYTES};
use crate::keep::document::{document, frame, render};
use crate::keep::store::{Applied, Format, Guard, OnBroken, TooLarge};
use std::sync::Arc;

/// Schema version written; on read any number is taken, field by field.
const SCHEMA: u32 = 2;

/// What one record of the file is.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Words, or a discard record.
    Entry(Box<Entry>),
    /// Kept word for word (ANN-022).
    Held,
}

/// One record with its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    pub key: EntryKey,
    pub body: Body,
    raw: Arc<str>,
}

impl Slot {
    /// A record to be written.
    pub fn of(entry: Entry) -> Result<Slot, TooLarge> {
        let raw = entry.to_json().map_err(|_| TooLarge)?.into();
        Ok(Slot { key: (entry.harness.clone(), entry.sid.clone()), body: Body::Entry(Box::new(entry)), raw })
    }

    /// The words or the discard record, when this build reads it.
    pub fn entry(&self) -> Option<&Entry> {
        match &self.body {
            Body::Entry(entry) => Some(entry),
            Body::Held => None,
        }
    }

    /// When it was last written; a record held as it is counts as never.
    pub fn recency(&self) -> f64 {
        self.entry().map_or(0.0, Entry::recency)
    }

    /// Its bytes in the file.
    #[cfg(test)]
    pub(super) fn raw(&self) -> &str {
        &self.raw
    }

    fn is_discard(&self) -> bool {
        self.entry().is_some_and(|entry| entry.revisions.is_empty())
    }
}

/// The kept records in file order.
#[derive(Clone, Debug, Default)]
pub struct Slots {
    list: Vec<Arc<Slot>>,
    /// Members of the file beside version and entries, as written.
    more: Vec<(String, String)>,
}

impl Slots {
    /// The record of a session.
    pub fn get(&self, harness: &str, sid: &str) -> Option<&Arc<Slot>> {
        self.list.iter().find(|slot| slot.key.0 == harness && slot.key.1 == sid)
    }

    /// All records.
    pub fn list(&self) -> &[Arc<Slot>] {
        &self.list
    }

    /// How many discard records there are.
    pub fn discards(&self) -> usize {
        self.list.iter().filter(|slot| slot.is_discard()).count()
    }

    fn position(&self, key: &EntryKey) -> Option<usize> {
        self.list.iter().position(|slot| slot.key == *key)
    }

    /// The record that goes first: a discard record, else the least recently written words (ANN-030).
    fn weakest(&self, spared: Option<&EntryKey>) -> Option<usize> {
        let may_go = |slot: &Slot| slot.body != Body::Held && spared != Some(&slot.key);
        let rank = |slot: &Slot| (!slot.is_discard(), slot.recency());
        let candidates = self.list.iter().enumerate().filter(|(_, slot)| may_go(slot));
        let order = |a: &Slot, b: &Slot| {
            let (a, b) = (rank(a), rank(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        };
        candidates.min_by(|(_, a), (_, b)| order(a, b)).map(|(at, _)| at)
    }
}

/// A change of the store.
#[derive(Clone, Debug)]
pub enum Change {
    /// Puts a record in the place of the one it was decided on.
    Put { over: Option<Arc<str>>, slot: Arc<Slot> },
    /// Takes every discard record out (ANN-121).
    Sweep,
}

impl Change {
    /// The change that puts `slot` where `before` is.
    pub fn put(before: Option<&Arc<Slot>>, slot: Arc<Slot>) -> Change {
        Change::Put { over: before.map(|slot| slot.raw.clone()), slot }
    }

    /// Whether it is about the words of this session.
    pub fn is_of(&self, key: &EntryKey) -> bool {
        matches!(self, Change::Put { slot, .. } if slot.key == *key)
    }
}

/// The file's format.
pub(super) struct Words;

impl Format for Words {
    type Value = Slots;
    type Change = Change;
    const FILE: &'static str = "cargento-annotations.json";
    const NAME: &'static str = "annotations";
    const GUARD: Guard = Guard::File("cargento-annotations.json.lock");
    const ON_BROKEN: OnBroken = OnBroken::Leave;

    fn cap(&self) -> usize {
        ANNOTATION_READ_CAP_BYTES
    }

    fn parse(&self, bytes: &[u8]) -> Result<Slots, &'static str> {
        if bytes.is_empty() {
            return Ok(Slots::default());
        }
        let read = document(bytes).ok_or("unreadable")?;
        let mut slots = Slots::default();
        for raw in read.entries {
            let (key, body) = match entry::read(raw) {
                Found::Entry(entry) => ((entry.harness.clone(), entry.sid.clone()), Body::Entry(entry)),
                Found::Held(key) => (key, Body::Held),
                Found::Nothing => continue,
            };
            let slot = Arc::new(Slot { key, body, raw: raw.get().into() });
            // Should a key stand twice, a record held as it is stays beside the one that is read.
            match slots.position(&slot.key).and_then(|at| slots.list.get_mut(at)) {
                Some(known) if known.body != Body::Held && slot.body != Body::Held => *known = slot,
                _ => slots.list.push(slot),
            }
        }
        slots.more = read.more.into_iter().map(|(name, raw)| (name, raw.get().to_owned())).collect();
        Ok(slots)
    }

    fn apply(&self, slots: &mut Slots, change: &Change) -> Applied {
        match change {
            Change::Sweep => {
                let before = slots.list.len();
                slots.list.retain(|slot| !slot.is_discard());
                if slots.list.len() == before { Applied::Same } else { Applied::Changed }
            }
            Change::Put { over, slot } => {
                let at = slots.position(&slot.key);
                let known = at.and_then(|at| slots.list.get_mut(at));
                match known {
                    Some(known) if known.raw == slot.raw => Applied::Same,
                    Some(known) if over.as_ref() == Some(&known.raw) => {
                        *known = slot.clone();
                        Applied::Changed
                    }
                    None if over.is_none() => {
                        slots.list.push(slot.clone());
                        Applied::Changed
                    }
                    // Another instance saved, or the record is gone: what was held was drafted against something else.
                    _ => Applied::Stale,
                }
            }
        }
    }

    fn render(&self, slots: &mut Slots, change: Option<&Change>) -> Result<Vec<u8>, TooLarge> {
        let spared = match change {
            Some(Change::Put { slot, .. }) => Some(&slot.key),
            _ => None,
        };
        let mut entries: usize = slots.list.iter().map(|slot| slot.raw.len()).sum();
        let size = |entries: usize, slots: &Slots| entries + frame(SCHEMA, slots.list.len(), &slots.more);
        while slots.list.len() > ANNOTATION_MAX_SESSIONS || size(entries, slots) > self.cap() {
            let Some(at) = slots.weakest(spared) else { break };
            entries -= slots.list.remove(at).raw.len();
        }
        if size(entries, slots) > self.cap() {
            return Err(TooLarge);
        }
        Ok(render(SCHEMA, slots.list.iter().map(|slot| &*slot.raw), &slots.more))
    }
}
