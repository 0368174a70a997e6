//! What a row says about its notifications: what became of them, and how the pages' own lane stands to them (NOTE-080 to
//! NOTE-082). No sentence claims that anybody saw anything.

use crate::board::{Delivery, Row};
use crate::keep::deliveries::{Outcome, Raise};
use crate::model::Key;
use serde::Serialize;
use std::sync::Arc;

/// Length of the prefix by which Claude's rows are named, bytes.
const PREFIX: usize = 8;
/// Outcomes there are, and the one that no build of ours knows.
const KINDS: usize = 6;

/// Raises of one session.
#[derive(Clone, Copy, Debug)]
struct Tally {
    at: f64,
    latest: Option<Outcome>,
    count: u64,
    /// Per outcome in the order of [`Outcome::ALL`], then the unknown ones.
    ended: [u64; KINDS],
}

impl Tally {
    fn of(raise: &Raise) -> Tally {
        let mut ended = [0; KINDS];
        let kind = Outcome::ALL.iter().position(|o| Some(*o) == raise.outcome).unwrap_or(KINDS - 1);
        if let Some(slot) = ended.get_mut(kind) {
            *slot = 1;
        }
        Tally { at: raise.at, latest: raise.outcome, count: 1, ended }
    }

    fn add(&mut self, other: &Tally) {
        if other.at >= self.at {
            (self.at, self.latest) = (other.at, other.latest);
        }
        self.count += other.count;
        for (mine, theirs) in self.ended.iter_mut().zip(other.ended) {
            *mine += theirs;
        }
    }
}

/// The raises on record by session, made anew only when the record changed.
#[derive(Default)]
pub struct Book {
    raises: Arc<Vec<Raise>>,
    /// Sorted by harness and session id.
    sessions: Vec<((String, String), Tally)>,
}

impl Book {
    /// Takes over a record; nothing to do when it is the one already taken.
    pub fn take(&mut self, raises: Arc<Vec<Raise>>) {
        if Arc::ptr_eq(&raises, &self.raises) {
            return;
        }
        let mut all: Vec<_> = raises.iter().map(|r| ((r.harness.clone(), r.sid.clone()), Tally::of(r))).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        self.sessions.clear();
        for (key, tally) in all {
            match self.sessions.last_mut() {
                Some((last, sum)) if *last == key => sum.add(&tally),
                _ => self.sessions.push((key, tally)),
            }
        }
        self.raises = raises;
    }

    /// The raises of a row, and whether some were found by Claude's prefix alone.
    fn of(&self, key: Key, sid: &str) -> Option<(Tally, bool)> {
        let (harness, prefixed) = (key.as_str(), key == Key::Claude && sid.len() >= PREFIX);
        let from = self.sessions.partition_point(|((h, s), _)| (h.as_str(), s.as_str()) < (harness, sid));
        let fits = |h: &str, s: &str| h == harness && (s == sid || prefixed && s.starts_with(sid));
        let mut found: Option<(Tally, bool)> = None;
        for ((_, s), tally) in self.sessions.iter().skip(from).take_while(|((h, s), _)| fits(h, s)) {
            let by_prefix = s != sid;
            match &mut found {
                Some((sum, any)) => {
                    sum.add(tally);
                    *any |= by_prefix;
                }
                None => found = Some((*tally, by_prefix)),
            }
        }
        found
    }

    /// Fills a row's members. `lane_at` is when a page last reported that it can notify; `lost` says that an earlier
    /// record could not be read.
    pub fn tell(&self, row: &mut Row, lane_at: Option<f64>, lost: bool) {
        let mut told = Delivery { browser_lane: lane_at.is_some(), browser_lane_at: lane_at, ..Delivery::default() };
        match self.of(row.seen.harness, &row.seen.sid) {
            None => told.delivery_none_why = none_why(lost).into(),
            Some((tally, by_prefix)) => {
                told.delivery_outcome = tally.latest.map_or("", Outcome::as_str).into();
                told.delivery_why = why(tally.latest).into();
                told.delivery_at = Some(tally.at);
                told.delivery_raises = tally.count;
                let kinds = tally.ended.iter().filter(|n| **n > 0).count();
                if kinds > 1 {
                    told.delivery_mixed = true;
                    told.delivery_mixed_why = mixed_why(&tally);
                }
                if by_prefix {
                    told.delivery_binding_why = BINDING_WHY.into();
                }
                told.browser_lane_why = lane_why(lane_at, tally.at);
            }
        }
        row.delivery = told;
    }
}

/// Three figures that say nothing about each other (NOTE-083).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Raises on record.
    pub raises: u64,
    /// Those for which there was a service to ask.
    pub attempted: u64,
    /// Those it took.
    pub handed_over: u64,
}

/// What the board publishes as `deliveries`: the figures of all raises, and of those for departures apart.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    /// Of every lane.
    #[serde(flatten)]
    pub all: Counts,
    /// Of the lane `departure` alone.
    pub departure: Counts,
}

/// The figures of one lane, or of all.
pub fn counts(raises: &[Raise], lane: Option<&str>) -> Counts {
    let mut sum = Counts::default();
    for raise in raises.iter().filter(|r| lane.is_none_or(|lane| r.lane == lane)) {
        sum.raises += 1;
        sum.attempted += u64::from(raise.outcome.is_some_and(|o| o != Outcome::NoLane));
        sum.handed_over += u64::from(raise.outcome == Some(Outcome::HandedOver));
    }
    sum
}

const BINDING_WHY: &str = "Matched by the eight characters that Claude's sessions go by here; another session whose id \
                           begins alike is counted with it.";

const fn none_why(lost: bool) -> &'static str {
    if lost {
        "The record of notifications could not be read, so what was raised about this session before is not known."
    } else {
        "No notification about this session is on record."
    }
}

const fn why(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::HandedOver) => {
            "This machine's notification service took it. Whether a banner was drawn, or anyone was at the desk, it does \
             not say."
        }
        Some(Outcome::Refused) => "This machine's notification service answered with an error.",
        Some(Outcome::NotLaunched) => "The program that hands notifications over could not be started.",
        Some(Outcome::DidNotReturn) => {
            "The program that hands notifications over gave no answer in its time and was ended; what it had done by then \
             is not known."
        }
        Some(Outcome::NoLane) => {
            "This run has no notification service on this machine, so nothing was handed over; an open page alerts by \
             itself."
        }
        None => "What became of it was recorded in a word that this version does not know.",
    }
}

fn mixed_why(tally: &Tally) -> String {
    let words = ["handed over", "refused", "not launched", "did not return", "without a service", "unreadable"];
    let parts: Vec<String> =
        tally.ended.iter().zip(words).filter(|(n, _)| **n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    format!("They did not all end alike: {}.", parts.join(", "))
}

/// How a page's report stands to a raise (NOTE-081).
fn lane_why(lane_at: Option<f64>, raised_at: f64) -> String {
    match lane_at {
        None => "No page has reported in this run that it can notify. That proves nothing: one that can may not have \
                 reported."
            .into(),
        Some(at) if at <= raised_at => {
            format!("A page reported that it can notify {} before this notification.", gap(raised_at - at))
        }
        Some(at) => format!(
            "A page reported that it can notify {} after this notification, which says nothing about this one.",
            gap(at - raised_at)
        ),
    }
}

fn gap(seconds: f64) -> String {
    let of = |n: f64, unit: &str| {
        let n = n.round() as u64;
        format!("{n} {unit}{}", if n == 1 { "" } else { "s" })
    };
    let (minutes, hours) = (seconds / 60.0, seconds / 3600.0);
    if seconds < 90.0 {
        "moments".into()
    } else if minutes < 48.0 {
        of(minutes, "minute")
    } else if hours < 48.0 {
        of(hours, "hour")
    } else {
        of(hours / 24.0, "day")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Observed;
    use std::collections::BTreeSet;

    fn raise(harness: &str, sid: &str, at: f64, outcome: Option<Outcome>) -> Raise {
        Raise { harness: harness.into(), sid: sid.into(), at, lane: "gate".into(), outcome }
    }

    fn told(raises: Vec<Raise>, key: Key, sid: &str, lane_at: Option<f64>) -> Delivery {
        let mut book = Book::default();
        book.take(Arc::new(raises));
        let mut row = Row::new(Observed::new(key, sid));
        book.tell(&mut row, lane_at, false);
        row.delivery
    }

    #[test]
    fn note_080_exact_and_for_claude_by_prefix_one_way() {
        let uuid = "0b1c2d3e-1111-4222-8333-444455556666";
        let all = vec![
            raise("claude", uuid, 3.0, Some(Outcome::Refused)),
            raise("claude", "0b1c2d3e", 2.0, Some(Outcome::HandedOver)),
            raise("claude", "0b1c2d3", 9.0, Some(Outcome::NoLane)),
            raise("claude", "0b1c2d3f", 9.0, Some(Outcome::NoLane)),
            raise("codex", uuid, 9.0, Some(Outcome::NoLane)),
            raise("codex", &format!("{uuid}9"), 9.0, Some(Outcome::NoLane)),
        ];
        let claude = told(all.clone(), Key::Claude, "0b1c2d3e", None);
        assert_eq!(
            (claude.delivery_raises, claude.delivery_at, claude.delivery_outcome.as_str()),
            (2, Some(3.0), "refused")
        );
        assert!(claude.delivery_mixed && !claude.delivery_binding_why.is_empty());
        assert_eq!(claude.delivery_mixed_why, "They did not all end alike: 1 handed over, 1 refused.");
        let codex = told(all.clone(), Key::Codex, uuid, None);
        assert_eq!((codex.delivery_raises, codex.delivery_binding_why.as_str(), codex.delivery_mixed), (1, "", false));
        let other = told(all, Key::Gemini, uuid, Some(1.0));
        assert_eq!((other.delivery_raises, other.delivery_at, other.delivery_why.as_str()), (0, None, ""));
        assert!(!other.delivery_none_why.is_empty() && other.browser_lane_why.is_empty() && other.browser_lane);
    }

    #[test]
    fn note_070_082_six_sentences_none_of_which_claims_a_reader() {
        let outcomes = Outcome::ALL.into_iter().map(Some).chain([None]);
        let sentences: BTreeSet<&str> = outcomes.map(why).collect();
        assert_eq!(sentences.len(), 6);
        let unknown = told(vec![raise("codex", "a", 1.0, None)], Key::Codex, "a", None);
        assert_eq!((unknown.delivery_outcome.as_str(), unknown.delivery_raises), ("", 1));
        for sentence in sentences.into_iter().chain([none_why(true), none_why(false), BINDING_WHY]) {
            assert!(!sentence.contains("seen") && !sentence.contains("reach") && sentence.ends_with('.'), "{sentence}");
        }
    }

    #[test]
    fn note_081_the_gap_in_words_and_on_which_side() {
        for (seconds, words) in [
            (0.0, "moments"),
            (89.9, "moments"),
            (90.0, "2 minutes"),
            (47.9 * 60.0, "48 minutes"),
            (48.0 * 60.0, "1 hour"),
            (47.9 * 3600.0, "48 hours"),
            (48.0 * 3600.0, "2 days"),
        ] {
            assert_eq!(gap(seconds), words);
        }
        let (never, before, after) = (lane_why(None, 100.0), lane_why(Some(90.0), 100.0), lane_why(Some(400.0), 100.0));
        assert!(never.contains("proves nothing"));
        assert!(before.contains("moments before") && !before.contains("nothing"));
        assert!(after.contains("5 minutes after") && after.contains("says nothing about this one"));
    }

    #[test]
    fn note_083_three_figures_and_a_lane_of_its_own() {
        let mut all: Vec<Raise> = Outcome::ALL.iter().map(|o| raise("c", "s", 1.0, Some(*o))).collect();
        all.push(raise("c", "s", 1.0, None));
        all.push(Raise { lane: "departure".into(), ..raise("c", "s", 1.0, Some(Outcome::HandedOver)) });
        assert_eq!(counts(&all, None), Counts { raises: 7, attempted: 5, handed_over: 2 });
        assert_eq!(counts(&all, Some("departure")), Counts { raises: 1, attempted: 1, handed_over: 1 });
    }
}
