//! What became of each raised notification: `cargento-deliveries.json` (file 42, section 7).
//!
//! A record says which session, when, by which lane and with which of five outcomes; no words. None of the outcomes
//! means that somebody saw it. An unwritable store never stops a raise.

use super::document::{document, moment, object, render};
use super::store::{Applied, Format, OnBroken, Saved, Store, Tell, TooLarge};
use crate::config::{DELIVERY_MAX_ENTRIES, DELIVERY_READ_CAP_BYTES};
use crate::surface::write::Place;
use crate::text::safe::clean;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// Longest text member, characters.
const TEXT_CAP: usize = 200;
/// Longest wait for other writers.
const WAIT: Duration = Duration::from_secs(5);

/// What a raise ended with; a closed set (NOTE-070).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    HandedOver,
    Refused,
    NotLaunched,
    DidNotReturn,
    NoLane,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 5] =
        [Outcome::HandedOver, Outcome::Refused, Outcome::NotLaunched, Outcome::DidNotReturn, Outcome::NoLane];

    /// The word in the file and on the row.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::HandedOver => "handed-over",
            Outcome::Refused => "refused",
            Outcome::NotLaunched => "not-launched",
            Outcome::DidNotReturn => "did-not-return",
            Outcome::NoLane => "no-lane",
        }
    }

    fn parse(text: &str) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == text)
    }
}

/// One raise on record.
#[derive(Clone, Debug, PartialEq)]
pub struct Raise {
    pub harness: String,
    pub sid: String,
    /// The server's clock at the attempt, seconds since the epoch.
    pub at: f64,
    /// `gate`, `stage-tripwire`, `departure`, `hook` or `ask`.
    pub lane: String,
    /// `None`: a word this build does not know, published as the empty string.
    pub outcome: Option<Outcome>,
}

/// The store of raises.
pub struct Deliveries(Store<Delivering>);

impl Deliveries {
    /// The store of a home; nothing is read yet.
    pub fn new(place: Place, tell: Tell) -> Self {
        Self(Store::new(Delivering, place, tell, WAIT))
    }

    /// Puts a raise on record. One that names no session, or has no time, is not recorded.
    pub fn record(&self, harness: &str, sid: &str, lane: &str, outcome: Outcome, at: f64) -> Saved {
        let raise = Raise { harness: bound(harness), sid: bound(sid), at, lane: bound(lane), outcome: Some(outcome) };
        if raise.harness.trim().is_empty() || raise.sid.trim().is_empty() || !at.is_finite() || at <= 0.0 {
            return Saved::Nothing;
        }
        self.0.update(|_| (Some(raise.clone()), ())).0
    }

    /// Reads what another instance wrote.
    pub fn refresh(&self) {
        self.0.refresh();
    }

    /// The raises as known, ascending by time.
    pub fn raises(&self) -> Arc<Vec<Raise>> {
        self.0.value()
    }

    /// Why what was stored was discarded in this run, if it was (NOTE-076).
    pub fn reset(&self) -> Option<&'static str> {
        self.0.reset()
    }
}

fn bound(text: &str) -> String {
    clean(text).chars().take(TEXT_CAP).collect()
}

/// The file's format.
struct Delivering;

#[derive(Serialize)]
struct Written<'a> {
    harness: &'a str,
    sid: &'a str,
    at: f64,
    lane: &'a str,
    outcome: &'a str,
}

impl Format for Delivering {
    type Value = Vec<Raise>;
    /// One more raise.
    type Change = Raise;
    const FILE: &'static str = "cargento-deliveries.json";
    const NAME: &'static str = "deliveries";
    const ON_BROKEN: OnBroken = OnBroken::Discard;
    const LASTS: bool = false;

    fn cap(&self) -> usize {
        DELIVERY_READ_CAP_BYTES
    }

    fn parse(&self, bytes: &[u8]) -> Result<Vec<Raise>, &'static str> {
        let read = document(bytes).ok_or("unreadable")?;
        let mut raises: Vec<Raise> =
            read.entries.into_iter().filter_map(|e| object(e).as_ref().and_then(raise)).collect();
        raises.sort_by(|a, b| a.at.total_cmp(&b.at));
        let beyond = raises.len().saturating_sub(DELIVERY_MAX_ENTRIES);
        raises.drain(..beyond);
        Ok(raises)
    }

    fn apply(&self, raises: &mut Vec<Raise>, raise: &Raise) -> Applied {
        let at = raises.partition_point(|known| known.at <= raise.at);
        raises.insert(at, raise.clone());
        Applied::Changed
    }

    fn render(&self, raises: &mut Vec<Raise>, change: Option<&Raise>) -> Result<Vec<u8>, TooLarge> {
        let mut written = Vec::with_capacity(raises.len());
        for (i, raise) in raises.iter().enumerate() {
            let outcome = raise.outcome.map_or("", Outcome::as_str);
            let entry = Written { harness: &raise.harness, sid: &raise.sid, at: raise.at, lane: &raise.lane, outcome };
            written.push((raise.at, i, serde_json::to_string(&entry).map_err(|_| TooLarge)?));
        }
        let own = change.and_then(|change| raises.iter().rposition(|raise| raise == change));
        let kept = super::document::newest(written, own.as_ref(), DELIVERY_MAX_ENTRIES, self.cap());
        let mut index = 0;
        let keep: std::collections::HashSet<usize> = kept.iter().map(|(_, i, _)| *i).collect();
        raises.retain(|_| {
            index += 1;
            keep.contains(&(index - 1))
        });
        Ok(render(1, kept.iter().map(|(_, _, entry)| entry.as_str()), &[]))
    }
}

fn raise(entry: &Map<String, Value>) -> Option<Raise> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).map(bound);
    let required = |name: &str| text(name).filter(|text| !text.trim().is_empty());
    Some(Raise {
        harness: required("harness")?,
        sid: required("sid")?,
        at: moment(entry.get("at"))?,
        lane: text("lane").unwrap_or_default(),
        outcome: Outcome::parse(&text("outcome").unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keep::testing::{Bench, quiet};

    const FILE: &str = Delivering::FILE;

    fn store(bench: &Bench) -> Deliveries {
        Deliveries::new(bench.place().clone(), quiet())
    }

    #[test]
    fn note_070_071_five_outcomes_and_five_members() {
        let bench = Bench::new();
        let deliveries = store(&bench);
        assert_eq!(deliveries.record("claude", "", "gate", Outcome::Refused, 5.0), Saved::Nothing);
        assert_eq!(deliveries.record("claude", "s", "gate", Outcome::Refused, 0.0), Saved::Nothing);
        assert!(bench.names().is_empty());
        deliveries.record("claude", "s", "gate", Outcome::HandedOver, 5.5);
        assert_eq!(
            bench.text(FILE),
            r#"{"v":1,"entries":[{"harness":"claude","sid":"s","at":5.5,"lane":"gate","outcome":"handed-over"}]}"#
        );
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::parse(outcome.as_str()), Some(outcome));
        }
    }

    #[test]
    fn note_070_073_076_an_unknown_word_is_blank_bad_records_go_alone_a_bad_file_is_named() {
        let bench = Bench::new();
        bench.put(
            FILE,
            br#"{"v":1,"entries":[{"harness":"claude","sid":"b","at":9.0,"lane":"ask","outcome":"seen"},
                {"harness":"claude","sid":"a","at":3.0,"lane":"gate","outcome":"no-lane"},{"sid":"x","at":1},7,
                {"harness":"claude","sid":"c","at":true}]}"#,
        );
        let deliveries = store(&bench);
        let read: Vec<_> = deliveries.raises().iter().map(|r| (r.sid.clone(), r.outcome)).collect();
        assert_eq!(read, [("a".to_owned(), Some(Outcome::NoLane)), ("b".to_owned(), None)]);
        bench.put(FILE, b"{broken");
        let deliveries = store(&bench);
        assert_eq!((deliveries.raises().len(), deliveries.reset()), (0, Some("unreadable")));
    }

    #[test]
    fn note_072_trust_063_the_newest_1024_are_kept_and_every_raise_of_two_instances() {
        let bench = Bench::new();
        let many: Vec<String> = (1..=1024)
            .map(|i| format!(r#"{{"harness":"claude","sid":"s{i}","at":{i}.0,"lane":"gate","outcome":"no-lane"}}"#))
            .collect();
        bench.put(FILE, format!(r#"{{"v":1,"entries":[{}]}}"#, many.join(",")).as_bytes());
        let (one, two) = (store(&bench), store(&bench));
        one.record("claude", "one", "gate", Outcome::Refused, 2000.0);
        two.record("claude", "two", "gate", Outcome::Refused, 2001.0);
        one.refresh();
        let sids: Vec<_> = one.raises().iter().map(|r| r.sid.clone()).collect();
        assert_eq!(
            (sids.len(), sids[0].as_str(), sids[1022].as_str(), sids[1023].as_str()),
            (1024, "s3", "one", "two")
        );
    }

    proptest::proptest! {
        /// TRUST-061, TRUST-080, TRUST-081 whatever is done to the file: no panic, and what is written back is stable.
        #[test]
        fn trust_081_a_damaged_file_settles(edits in crate::keep::testing::edits()) {
            crate::keep::testing::settles(&Delivering, r#"{"v":1,"entries":[{"harness":"claude","sid":"s","at":5.5,"lane":"gate","outcome":"handed-over"},{"harness":"pi","sid":"t","at":6.5,"lane":"ask","outcome":"seen"}]}"#, &edits)?;
        }
    }
}
