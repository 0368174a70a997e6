//! Sessions marked handled: `cargento-dismissals.json` (file 52, section 1).
//!
//! A mark holds while nothing in the session's tree was written after it; no clock ends it. It holds a key and two
//! server times, nothing of the session. A file that is no store hides nothing, is left as it is, and says so by no
//! notice: every row is visible then.

use super::document::{document, epoch, key, newest, object, render};
use super::store::{Applied, Format, Health, OnBroken, Saved, Store, Tell, TooLarge, Why};
use crate::config::{DISMISSAL_MAX_ENTRIES, DISMISSAL_READ_CAP_BYTES};
use crate::surface::write::Place;
use crate::text::safe_text;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Longest harness key and session id, characters.
const KEY_CAP: usize = 64;
/// Longest wait for other writers.
const WAIT: Duration = Duration::from_secs(5);

/// Harness key and session id.
pub type MarkKey = (String, String);

/// When a session was marked, and up to which activity the mark holds, seconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    pub at: f64,
    pub seen_activity: f64,
}

/// All marks.
pub type Marks = HashMap<MarkKey, Mark>;

/// A session as a mark names it: safe, bounded, trimmed; `None` when nothing is left of a half.
pub fn mark_key(harness: &str, sid: &str) -> Option<MarkKey> {
    let half = |text: &str| {
        let text = safe_text(text, KEY_CAP);
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    Some((half(harness)?, half(sid)?))
}

/// Whether a session is marked and nothing was written in its tree since (DIS-003, PAYLOAD-011).
pub fn holds(marks: &Marks, harness: &str, sid: &str, last_activity: f64) -> bool {
    !marks.is_empty()
        && mark_key(harness, sid).and_then(|key| marks.get(&key)).is_some_and(|m| last_activity <= m.seen_activity)
}

/// The store of marks.
pub struct Dismissals(Store<Marking>);

impl Dismissals {
    /// The store of a home; nothing is read yet.
    pub fn new(place: Place, tell: Tell) -> Self {
        Self(Store::new(Marking, place, tell, WAIT))
    }

    /// Marks a session handled as of `now`, the server's clock (DIS-004).
    pub fn mark(&self, key: MarkKey, now: f64) -> Saved {
        let mark = Mark { at: now, seen_activity: now };
        self.0.update(|_| (Some((key.clone(), Some(mark))), ())).0
    }

    /// Takes a mark back.
    pub fn restore(&self, key: MarkKey) -> Saved {
        let saved = self.0.update(|marks| (marks.contains_key(&key).then(|| (key.clone(), None)), ())).0;
        match saved {
            // A file that cannot be read may hold the mark all the same.
            Saved::Nothing if self.0.health() != Health::Sound => Saved::Not { why: Why::Untrusted, held: false },
            saved => saved,
        }
    }

    /// Reads what another instance wrote; once a collection, before the stores are read (DIS-009).
    pub fn refresh(&self) {
        self.0.refresh();
    }

    /// The marks as known, lapsed ones included.
    pub fn marks(&self) -> Arc<Marks> {
        self.0.value()
    }

    /// Every mark, newest first (DIS-024).
    pub fn list(&self) -> Vec<(MarkKey, Mark)> {
        self.refresh();
        let mut list: Vec<_> = self.marks().iter().map(|(key, mark)| (key.clone(), *mark)).collect();
        list.sort_by(|a, b| b.1.at.total_cmp(&a.1.at).then_with(|| a.0.cmp(&b.0)));
        list
    }
}

/// The file's format.
struct Marking;

#[derive(Serialize)]
struct Written<'a> {
    harness: &'a str,
    sid: &'a str,
    at: f64,
    seen_activity: f64,
}

impl Format for Marking {
    type Value = Marks;
    /// A mark, or its absence.
    type Change = (MarkKey, Option<Mark>);
    const FILE: &'static str = "cargento-dismissals.json";
    const NAME: &'static str = "dismissals";
    const ON_BROKEN: OnBroken = OnBroken::Leave;

    fn cap(&self) -> usize {
        DISMISSAL_READ_CAP_BYTES
    }

    fn parse(&self, bytes: &[u8]) -> Result<Marks, &'static str> {
        if bytes.is_empty() {
            return Ok(Marks::new());
        }
        let read = document(bytes).ok_or("unreadable")?;
        let mut list: Vec<(MarkKey, Mark)> = Vec::with_capacity(read.entries.len());
        for entry in read.entries {
            let Some(entry) = object(entry) else { continue };
            let Some(key) = key(&entry, KEY_CAP) else { continue };
            list.push((key, Mark { at: epoch(entry.get("at")), seen_activity: epoch(entry.get("seen_activity")) }));
        }
        list.sort_by(|a, b| b.1.at.total_cmp(&a.1.at));
        list.truncate(DISMISSAL_MAX_ENTRIES);
        // Should a key stand twice, the newer mark is the one that counts.
        Ok(list.into_iter().rev().collect())
    }

    fn apply(&self, marks: &mut Marks, (key, mark): &Self::Change) -> Applied {
        let before = match mark {
            Some(mark) => marks.insert(key.clone(), *mark),
            None => marks.remove(key),
        };
        if before == *mark { Applied::Same } else { Applied::Changed }
    }

    fn render(&self, marks: &mut Marks, change: Option<&Self::Change>) -> Result<Vec<u8>, TooLarge> {
        let mut written = Vec::with_capacity(marks.len());
        for (key, mark) in marks.iter() {
            let entry = Written { harness: &key.0, sid: &key.1, at: mark.at, seen_activity: mark.seen_activity };
            written.push((mark.at, key.clone(), serde_json::to_string(&entry).map_err(|_| TooLarge)?));
        }
        written.sort_by(|a, b| a.1.cmp(&b.1));
        let kept = newest(written, change.map(|c| &c.0), DISMISSAL_MAX_ENTRIES, self.cap());
        let keys: std::collections::HashSet<_> = kept.iter().map(|(_, key, _)| key).collect();
        marks.retain(|key, _| keys.contains(key));
        Ok(render(1, kept.iter().map(|(_, _, entry)| entry.as_str()), &[]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keep::testing::{Bench, names, quiet};

    const FILE: &str = Marking::FILE;

    fn store(bench: &Bench) -> Dismissals {
        Dismissals::new(bench.place().clone(), quiet())
    }

    fn k(sid: &str) -> MarkKey {
        mark_key("claude", sid).unwrap()
    }

    #[test]
    fn dis_001_to_004_four_fields_one_entry_and_the_servers_clock() {
        let bench = Bench::new();
        let dismissals = store(&bench);
        assert!(dismissals.marks().is_empty() && bench.names().is_empty(), "reading makes nothing");
        assert_eq!(dismissals.mark(k("a"), 10.5), Saved::Written);
        assert_eq!(dismissals.mark(k("a"), 20.5), Saved::Written);
        assert_eq!(
            bench.text(FILE),
            r#"{"v":1,"entries":[{"harness":"claude","sid":"a","at":20.5,"seen_activity":20.5}]}"#
        );
        let marks = dismissals.marks();
        assert!(holds(&marks, "claude", "a", 20.5) && !holds(&marks, "claude", "a", 20.6));
        assert!(!holds(&marks, "codex", "a", 1.0));
        assert_eq!(bench.mode(FILE), 0o600);
    }

    #[test]
    fn dis_002_a_restore_of_nothing_writes_nothing() {
        let bench = Bench::new();
        let dismissals = store(&bench);
        assert_eq!(dismissals.restore(k("a")), Saved::Nothing);
        assert!(names(bench.place()).is_empty());
        dismissals.mark(k("a"), 1.0);
        assert_eq!(dismissals.restore(k("a")), Saved::Written);
        assert_eq!(bench.text(FILE), r#"{"v":1,"entries":[]}"#);
    }

    #[test]
    fn dis_005_a_broken_file_hides_nothing_and_is_never_written_over() {
        let deep = "[".repeat(60_000);
        let long = format!(r#"{{"v":1,"entries":[],"x":"{}"}}"#, "x".repeat(66_000));
        for content in ["{", "[]", "null", r#"{"v":1}"#, r#"{"entries":{}}"#, &deep, &long] {
            let bench = Bench::new();
            bench.put(FILE, content.as_bytes());
            let dismissals = store(&bench);
            dismissals.refresh();
            assert!(dismissals.marks().is_empty());
            assert!(!dismissals.mark(k("a"), 5.0).persisted());
            assert!(holds(&dismissals.marks(), "claude", "a", 4.0), "it holds for this run");
            assert_eq!(bench.text(FILE), content);
            assert_eq!(bench.names(), [FILE]);
            bench.remove(FILE);
            assert_eq!(dismissals.mark(k("b"), 6.0), Saved::Written, "recovery needs no restart");
            assert!(bench.text(FILE).contains(r#""sid":"a""#), "and what was held is written with it");
        }
    }

    /// DIS-005, DIS-006 one bad entry goes alone; 256 count.
    #[test]
    fn dis_005_006_bad_entries_go_alone_and_the_newest_256_count() {
        let bench = Bench::new();
        let many: Vec<String> =
            (0..300).map(|i| format!(r#"{{"harness":"claude","sid":"s{i}","at":{i}.5,"seen_activity":9}}"#)).collect();
        let bad = r#"7,null,{},{"harness":"","sid":"a"},{"harness":5,"sid":"a"},{"harness":"claude","sid":" "},
            {"harness":"claude","sid":"odd","at":"soon","seen_activity":true},
            {"harness":"claude","sid":"ms","at":1790000000000,"seen_activity":1790000000000}"#;
        bench.put(FILE, format!(r#"{{"v":9,"entries":[{bad},{}]}}"#, many.join(",")).as_bytes());
        let marks = store(&bench).marks();
        assert_eq!(marks.len(), 256);
        assert!(marks.contains_key(&k("s299")) && !marks.contains_key(&k("s44")) && !marks.contains_key(&k("odd")));
        assert_eq!(marks[&k("ms")], Mark { at: 1790000000.0, seen_activity: 1790000000.0 });
    }

    #[test]
    fn trust_063_the_257th_mark_evicts_the_oldest_and_a_clock_set_back_loses_none() {
        let bench = Bench::new();
        let dismissals = store(&bench);
        for i in 0..257 {
            assert_eq!(dismissals.mark(k(&format!("s{i}")), 1000.0 + f64::from(i)), Saved::Written);
        }
        assert_eq!((dismissals.marks().len(), dismissals.marks().contains_key(&k("s0"))), (256, false));
        assert_eq!(dismissals.mark(k("late"), 5.0), Saved::Written);
        assert!(store(&bench).marks().contains_key(&k("late")), "persisted is true, so it is there");
    }

    #[test]
    fn trust_063_the_file_never_outgrows_what_is_read_back() {
        let bench = Bench::new();
        let dismissals = store(&bench);
        for i in 0..256 {
            let sid = format!("{i:03}{}", "\u{1f980}".repeat(61));
            assert_eq!(dismissals.mark(mark_key("claude", &sid).unwrap(), f64::from(i) + 1.0), Saved::Written);
        }
        assert!(bench.text(FILE).len() <= DISMISSAL_READ_CAP_BYTES);
        let read = store(&bench).marks();
        assert_eq!(*read, *dismissals.marks());
        assert!(read.len() > 180);
    }

    #[test]
    fn dis_008_another_instances_marks_are_carried_forward() {
        let bench = Bench::new();
        let (one, two) = (store(&bench), store(&bench));
        one.mark(k("a"), 1.0);
        two.mark(k("b"), 2.0);
        one.mark(k("c"), 3.0);
        two.restore(k("a"));
        one.refresh();
        let mut sids: Vec<_> = one.marks().keys().map(|key| key.1.clone()).collect();
        sids.sort();
        assert_eq!(sids, ["b", "c"]);
        assert_eq!(one.list().iter().map(|(key, _)| key.1.as_str()).collect::<Vec<_>>(), ["c", "b"]);
    }

    proptest::proptest! {
        /// TRUST-061, TRUST-080, TRUST-081 whatever is done to the file: no panic, and what is written back is stable.
        #[test]
        fn trust_081_a_damaged_file_settles(edits in crate::keep::testing::edits()) {
            crate::keep::testing::settles(&Marking, r#"{"v":1,"entries":[{"harness":"claude","sid":"a","at":20.5,"seen_activity":20.5},{"harness":"pi","sid":"b","at":1790000000.25,"seen_activity":1790000000.25}]}"#, &edits)?;
        }
    }
}
