//! Observed session ends beyond the life of a process: `cargento-ends.json` (file 40, section 7).
//!
//! A record is a key and a time. A file that is no store is no ends; that it was discarded is published for the life of
//! the process (EVT-089), and the next end is written over it.

use super::document::{document, moment, newest, object, render};
use super::store::{Applied, Format, OnBroken, Saved, Store, Tell, TooLarge, remove};
use crate::config::{END_MAX_ENTRIES, END_READ_CAP_BYTES};
use crate::live::events::Ends;
use crate::model::Key;
use crate::surface::write::Place;
use crate::text::safe::clean;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::time::Duration;

/// Longest harness key and session id, characters.
const KEY_CAP: usize = 200;
/// Longest wait for other writers.
const WAIT: Duration = Duration::from_secs(5);

/// A row's key.
type RowKey = (Key, String);
type EndKey = (String, String);

/// The store of ends.
pub struct StoredEnds(Store<Ending>);

impl StoredEnds {
    /// The store of a home; nothing is read yet.
    pub fn new(place: Place, tell: Tell) -> Self {
        Self(Store::new(Ending, place, tell, WAIT))
    }

    /// Remembers an end; an earlier time than the known one changes nothing (EVT-071).
    pub fn mark(&self, key: &RowKey, at: f64) -> Saved {
        let Some(at) = (at.is_finite() && at > 0.0).then_some(at) else { return Saved::Nothing };
        let key = end_key(key);
        self.0.update(|ends| (ends.get(&key).is_none_or(|known| *known < at).then(|| (key.clone(), Some(at))), ())).0
    }

    /// Forgets an end. Where there is none nothing is written and nothing made (EVT-084).
    pub fn lift(&self, key: &RowKey) -> Saved {
        let key = end_key(key);
        self.0.update(|ends| (ends.contains_key(&key).then(|| (key.clone(), None)), ())).0
    }

    /// Every end of a known harness, another instance's included.
    pub fn all(&self) -> HashMap<RowKey, f64> {
        self.0.refresh();
        let known = |(key, at): (&EndKey, &f64)| Some(((Key::parse(&key.0)?, key.1.clone()), *at));
        self.0.value().iter().filter_map(known).collect()
    }

    /// Why what was stored was discarded in this run, if it was (EVT-089).
    pub fn reset(&self) -> Option<&'static str> {
        self.0.reset()
    }
}

impl Ends for StoredEnds {
    fn mark(&self, key: &RowKey, at: f64) {
        StoredEnds::mark(self, key, at);
    }

    fn lift(&self, key: &RowKey) {
        StoredEnds::lift(self, key);
    }

    fn all(&self) -> HashMap<RowKey, f64> {
        StoredEnds::all(self)
    }

    fn reset(&self) -> Option<&'static str> {
        StoredEnds::reset(self)
    }
}

/// Deletes the store; `false` when there was none (EVT-087).
pub fn forget(place: &Place) -> io::Result<bool> {
    remove::<Ending>(place)
}

fn end_key(key: &RowKey) -> EndKey {
    (key.0.as_str().to_owned(), bounded(&key.1))
}

fn bounded(text: &str) -> String {
    clean(text).chars().take(KEY_CAP).collect()
}

/// The file's format.
struct Ending;

#[derive(Serialize)]
struct Written<'a> {
    harness: &'a str,
    sid: &'a str,
    at: f64,
}

impl Format for Ending {
    type Value = BTreeMap<EndKey, f64>;
    /// An end, or its absence.
    type Change = (EndKey, Option<f64>);
    const FILE: &'static str = "cargento-ends.json";
    const NAME: &'static str = "ends";
    const ON_BROKEN: OnBroken = OnBroken::Discard;

    fn cap(&self) -> usize {
        END_READ_CAP_BYTES
    }

    fn parse(&self, bytes: &[u8]) -> Result<Self::Value, &'static str> {
        let mut list: Vec<(EndKey, f64)> = Vec::new();
        for entry in document(bytes).ok_or("unreadable")?.entries {
            if let Some(end) = object(entry).as_ref().and_then(end) {
                list.push(end);
            }
        }
        list.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut ends = BTreeMap::new();
        for (key, at) in list {
            if ends.len() < END_MAX_ENTRIES {
                ends.entry(key).or_insert(at);
            }
        }
        Ok(ends)
    }

    fn apply(&self, ends: &mut Self::Value, (key, end): &Self::Change) -> Applied {
        let before = match end {
            Some(at) => ends.insert(key.clone(), *at),
            None => ends.remove(key),
        };
        if before == *end { Applied::Same } else { Applied::Changed }
    }

    fn render(&self, ends: &mut Self::Value, change: Option<&Self::Change>) -> Result<Vec<u8>, TooLarge> {
        let mut written = Vec::with_capacity(ends.len());
        for (key, at) in ends.iter() {
            let entry = Written { harness: &key.0, sid: &key.1, at: *at };
            written.push((*at, key.clone(), serde_json::to_string(&entry).map_err(|_| TooLarge)?));
        }
        let kept = newest(written, change.map(|c| &c.0), END_MAX_ENTRIES, self.cap());
        let keys: HashSet<_> = kept.iter().map(|(_, key, _)| key).collect();
        ends.retain(|key, _| keys.contains(key));
        Ok(render(1, kept.iter().map(|(_, _, entry)| entry.as_str()), &[]))
    }
}

fn end(entry: &Map<String, Value>) -> Option<(EndKey, f64)> {
    let half = |name: &str| entry.get(name)?.as_str().map(bounded).filter(|text| !text.trim().is_empty());
    Some(((half("harness")?, half("sid")?), moment(entry.get("at"))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keep::testing::{Bench, quiet};

    const FILE: &str = Ending::FILE;

    fn store(bench: &Bench) -> StoredEnds {
        StoredEnds::new(bench.place().clone(), quiet())
    }

    fn k(sid: &str) -> RowKey {
        (Key::Claude, sid.to_owned())
    }

    #[test]
    fn evt_080_081_084_one_record_the_latest_wins_and_a_lift_of_nothing_makes_nothing() {
        let bench = Bench::new();
        let ends = store(&bench);
        assert_eq!(ends.lift(&k("a")), Saved::Nothing);
        assert!(ends.all().is_empty() && bench.names().is_empty());
        ends.mark(&k("a"), 20.5);
        assert_eq!(ends.mark(&k("a"), 10.0), Saved::Nothing);
        ends.mark(&k("b"), 15.0);
        assert_eq!(
            bench.text(FILE),
            r#"{"v":1,"entries":[{"harness":"claude","sid":"b","at":15.0},{"harness":"claude","sid":"a","at":20.5}]}"#
        );
        assert_eq!(bench.mode(FILE), 0o600);
        let again = store(&bench);
        assert_eq!(again.all(), HashMap::from([(k("a"), 20.5), (k("b"), 15.0)]));
        again.lift(&k("a"));
        assert_eq!(ends.all(), HashMap::from([(k("b"), 15.0)]), "another instance's lift is seen");
        assert_eq!((ends.mark(&k("c"), 0.0), ends.mark(&k("c"), f64::NAN)), (Saved::Nothing, Saved::Nothing));
    }

    #[test]
    fn evt_081_082_089_bad_records_go_alone_and_a_discarded_file_is_named() {
        let bench = Bench::new();
        let bad = r#"7,{},{"harness":"claude","sid":"t","at":true},{"harness":"claude","sid":"t","at":-4},
            {"harness":"claude","sid":"t","at":"x"},{"harness":"claude","at":5}"#;
        bench.put(
            FILE,
            format!(
                r#"{{"v":3,"entries":[{bad},{{"harness":"claude","sid":"g","at":7.5}},{{"harness":"later","sid":"g","at":9}}]}}"#
            )
            .as_bytes(),
        );
        let ends = store(&bench);
        assert_eq!((ends.all(), ends.reset()), (HashMap::from([(k("g"), 7.5)]), None));
        ends.mark(&k("h"), 8.0);
        assert!(bench.text(FILE).contains(r#"{"harness":"later","sid":"g","at":9.0}"#), "a harness unknown here stays");
        for content in ["", "{", "[]", r#"{"entries":7}"#, &format!("\"{}\"", "x".repeat(66_000))] {
            bench.put(FILE, content.as_bytes());
            let ends = store(&bench);
            assert_eq!((ends.all().len(), ends.reset()), (0, Some("unreadable")));
            assert_eq!(bench.text(FILE), content, "reading leaves it");
            assert_eq!(ends.mark(&k("h"), 8.0), Saved::Written);
            assert_eq!((ends.all().len(), ends.reset()), (1, Some("unreadable")), "latched for the process");
        }
        bench.remove(FILE);
        assert_eq!(store(&bench).reset(), None);
    }

    #[test]
    fn trust_063_the_513th_end_evicts_the_oldest_within_what_is_read_back() {
        let bench = Bench::new();
        let many: Vec<String> =
            (1..=512).map(|i| format!(r#"{{"harness":"claude","sid":"s{i}","at":{i}.0}}"#)).collect();
        bench.put(FILE, format!(r#"{{"v":1,"entries":[{}]}}"#, many.join(",")).as_bytes());
        let ends = store(&bench);
        assert_eq!(ends.mark(&k("new"), 0.5), Saved::Written);
        let all = store(&bench).all();
        assert!(all.len() == 512 && all.contains_key(&k("new")) && !all.contains_key(&k("s1")));
        for i in 0..100 {
            ends.mark(&k(&format!("{i}{}", "\u{1f980}".repeat(300))), 1000.0 + f64::from(i));
        }
        assert!(bench.text(FILE).len() <= END_READ_CAP_BYTES);
        assert_eq!(store(&bench).all(), ends.all());
    }

    proptest::proptest! {
        /// TRUST-061, TRUST-080, TRUST-081 whatever is done to the file: no panic, and what is written back is stable.
        #[test]
        fn trust_081_a_damaged_file_settles(edits in crate::keep::testing::edits()) {
            crate::keep::testing::settles(&Ending, r#"{"v":1,"entries":[{"harness":"claude","sid":"b","at":15.0},{"harness":"later","sid":"a","at":20.5}]}"#, &edits)?;
        }
    }
}
