//! What unasked checks found: `cargento-departures.json` (file 62, sections 5, 6 and 8).
//!
//! Every check that ran is a row, whether it raised something or not: the rows are what bounds the lane. Withdrawing
//! blanks the quotations and keeps the fact. A file that cannot be trusted is moved aside before anything is written.

use super::document::{document, key_half, moment, newest, object, render, text};
use super::store::{Applied, Format, OnBroken, Saved, Store, Tell, TooLarge};
use crate::config::{
    ANNOTATION_TEXT_CAP_CHARS, DAY_SEC, DEPARTURE_MAX_ENTRIES, DEPARTURE_READ_CAP_BYTES, UNASKED_DAILY_CAP,
    UNASKED_SESSION_CAP,
};
use crate::surface::write::Place;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Longest harness key and session id, characters.
const KEY_CAP: usize = 64;
/// Longest constraint name, characters.
const CONSTRAINT_CAP: usize = 32;
/// Longest list of cited ids and longest cutoff sentence, characters.
const LONG_CAP: usize = 2048;
/// Longest wait for other writers.
const WAIT: Duration = Duration::from_secs(5);

/// One check that ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Check {
    pub harness: String,
    pub sid: String,
    /// When it ran, seconds since the epoch.
    pub at: f64,
    /// `goal` when the session departed from it; empty when nothing was raised.
    pub constraint: String,
    /// The reader's words it read against.
    pub clause: String,
    /// The model's sentence.
    pub reading: String,
    /// Cited fact ids, joined by `", "`.
    pub evidence: String,
    /// Revision read; 0 = not recorded.
    pub revision: u64,
    /// When the evidence stopped.
    pub cutoff: f64,
    pub cutoff_text: String,
    /// The words were discarded since.
    pub withdrawn: bool,
    /// The call ran and failed (UNA-023).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// A check with its bytes in the file.
#[derive(Clone, Debug)]
pub struct Kept {
    pub check: Check,
    raw: Arc<str>,
}

/// What the words of a session are, as far as departures depend on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words {
    pub discarded: bool,
    /// The newest revision holds a goal.
    pub goal: bool,
    /// And it was typed.
    pub typed: bool,
}

/// The three members of a row (UNA-060).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    pub departures: Vec<Value>,
    pub why: String,
    pub checked: bool,
}

/// The store of checks.
pub struct Departures(Store<Departing>);

impl Departures {
    /// The store of a home; nothing is read yet.
    pub fn new(place: Place, tell: Tell) -> Self {
        Self(Store::new(Departing, place, tell, WAIT))
    }

    /// Puts the rows of one check on record in one write.
    pub fn record(&self, checks: Vec<Check>) -> Saved {
        if checks.is_empty() {
            return Saved::Nothing;
        }
        self.0.update(|_| (Some(Change::Record(checks.clone())), ())).0
    }

    /// Blanks what was quoted of a session (UNA-040). Where nothing is on record nothing is written or made.
    pub fn withdraw(&self, harness: &str, sid: &str) -> Saved {
        let of = |kept: &Kept| kept.check.harness == harness && kept.check.sid == sid && !kept.check.is_withdrawn();
        let change = || Change::Withdraw(harness.to_owned(), sid.to_owned());
        self.0.update(|kept| (kept.iter().any(of).then(change), ())).0
    }

    /// Reads what another instance wrote.
    pub fn refresh(&self) {
        self.0.refresh();
    }

    /// The checks as known, ascending by time.
    pub fn checks(&self) -> Arc<Vec<Kept>> {
        self.0.value()
    }

    /// Why what was stored was discarded in this run, if it was (UNA-036).
    pub fn reset(&self) -> Option<&'static str> {
        self.0.reset()
    }

    /// What tells two contents apart.
    pub fn mark(&self) -> Vec<u8> {
        self.0.mark()
    }
}

impl Check {
    fn is_withdrawn(&self) -> bool {
        let quoted = [&self.constraint, &self.clause, &self.reading, &self.evidence, &self.cutoff_text];
        self.withdrawn && quoted.iter().all(|text| text.is_empty())
    }

    fn withdraw(&mut self) {
        for text in
            [&mut self.constraint, &mut self.clause, &mut self.reading, &mut self.evidence, &mut self.cutoff_text]
        {
            text.clear();
        }
        self.withdrawn = true;
    }
}

const DISCARDED: &str =
    "the words typed for this session were discarded, so nothing here says whether a check would have found anything";
const NO_GOAL: &str = "never checked: no goal is typed for this session now, and only a typed goal is checked";
const NEVER: &str = "never checked: nothing here says whether a check would have found anything";
const DAY_SPENT: &str =
    "today's limit of unasked checks is spent: this is a limit and does not say that the board is on track";
const SESSION_SPENT: &str =
    "this session's limit of unasked checks is spent: this is a limit and does not say that the session is on track";
const NOTHING: &str = "checked, and the check found nothing to raise";

/// What is published for a session: departures newest first, why there is none, whether its goal was checked.
/// `checks` ascend by time; `now` is seconds since the epoch (UNA-060 to UNA-063).
pub fn published(checks: &[Kept], harness: &str, sid: &str, words: Words, now: f64) -> Published {
    let own: Vec<&Check> =
        checks.iter().map(|kept| &kept.check).filter(|c| c.harness == harness && c.sid == sid).collect();
    let departures: Vec<Value> = own
        .iter()
        .rev()
        .filter(|check| !check.constraint.is_empty() && !check.withdrawn)
        .map(|check| raised(check, &own))
        .collect();
    let today = checks.iter().filter(|kept| (0.0..DAY_SEC).contains(&(now - kept.check.at))).count();
    let why = if words.discarded {
        DISCARDED
    } else if !words.typed {
        NO_GOAL
    } else if own.is_empty() {
        NEVER
    } else if today >= UNASKED_DAILY_CAP {
        DAY_SPENT
    } else if own.len() >= UNASKED_SESSION_CAP {
        SESSION_SPENT
    } else if departures.is_empty() {
        NOTHING
    } else {
        ""
    };
    let checked = words.goal && own.iter().any(|check| !check.failed && !check.withdrawn);
    Published { departures, why: why.into(), checked }
}

/// A departure with what later checks of its session say about it, derived and never read from the file.
fn raised(check: &Check, own: &[&Check]) -> Value {
    let later: Vec<_> = own.iter().filter(|other| other.at > check.at && !other.failed).collect();
    let read: Vec<_> = later.iter().filter(|other| other.cutoff >= check.cutoff).collect();
    let follow_up = if later.is_empty() {
        "no later check has read this session"
    } else if read.is_empty() {
        "a later check ran, but its evidence stops before this raise"
    } else if read.iter().any(|other| other.constraint == check.constraint) {
        "later evidence raised it again"
    } else {
        "later evidence did not raise it again"
    };
    let mut row = json!(check);
    if let Some(row) = row.as_object_mut() {
        row.insert("follow_up".into(), follow_up.into());
    }
    row
}

/// The file's format.
struct Departing;

#[derive(Clone)]
enum Change {
    Record(Vec<Check>),
    Withdraw(String, String),
}

impl Kept {
    fn of(check: Check) -> Kept {
        let raw = serde_json::to_string(&check).unwrap_or_default().into();
        Kept { check, raw }
    }
}

impl Format for Departing {
    type Value = Vec<Kept>;
    type Change = Change;
    const FILE: &'static str = "cargento-departures.json";
    const NAME: &'static str = "departures";
    const ON_BROKEN: OnBroken = OnBroken::Aside("cargento-departures.json.unreadable");

    fn cap(&self) -> usize {
        DEPARTURE_READ_CAP_BYTES
    }

    fn parse(&self, bytes: &[u8]) -> Result<Vec<Kept>, &'static str> {
        let mut kept = Vec::new();
        for entry in document(bytes).ok_or("unreadable")?.entries {
            if let Some(check) = object(entry).as_ref().and_then(check) {
                kept.push(Kept { check, raw: entry.get().into() });
            }
        }
        kept.sort_by(|a, b| a.check.at.total_cmp(&b.check.at));
        Ok(kept)
    }

    fn apply(&self, kept: &mut Vec<Kept>, change: &Change) -> Applied {
        match change {
            Change::Record(checks) => {
                kept.extend(checks.iter().cloned().map(Kept::of));
                kept.sort_by(|a, b| a.check.at.total_cmp(&b.check.at));
                Applied::Changed
            }
            Change::Withdraw(harness, sid) => {
                let mut applied = Applied::Same;
                for one in kept.iter_mut() {
                    if one.check.harness == *harness && one.check.sid == *sid && !one.check.is_withdrawn() {
                        let mut check = one.check.clone();
                        check.withdraw();
                        *one = Kept::of(check);
                        applied = Applied::Changed;
                    }
                }
                applied
            }
        }
    }

    fn render(&self, kept: &mut Vec<Kept>, _change: Option<&Change>) -> Result<Vec<u8>, TooLarge> {
        let written: Vec<_> = kept.iter().enumerate().map(|(i, k)| (k.check.at, i, k.raw.to_string())).collect();
        let fit = newest(written, None, DEPARTURE_MAX_ENTRIES, self.cap());
        let keep: HashSet<usize> = fit.iter().map(|(_, i, _)| *i).collect();
        let mut index = 0;
        kept.retain(|_| {
            index += 1;
            keep.contains(&(index - 1))
        });
        Ok(render(1, fit.iter().map(|(_, _, entry)| entry.as_str()), &[]))
    }
}

fn check(entry: &Map<String, Value>) -> Option<Check> {
    let flag = |name: &str| entry.get(name) == Some(&Value::Bool(true));
    Some(Check {
        harness: key_half(entry.get("harness"), KEY_CAP)?,
        sid: key_half(entry.get("sid"), KEY_CAP)?,
        at: moment(entry.get("at"))?,
        constraint: text(entry, "constraint", CONSTRAINT_CAP),
        clause: text(entry, "clause", ANNOTATION_TEXT_CAP_CHARS),
        reading: text(entry, "reading", ANNOTATION_TEXT_CAP_CHARS),
        evidence: text(entry, "evidence", LONG_CAP),
        revision: entry.get("revision").and_then(Value::as_u64).unwrap_or(0),
        cutoff: moment(entry.get("cutoff")).unwrap_or(0.0),
        cutoff_text: text(entry, "cutoff_text", LONG_CAP),
        withdrawn: flag("withdrawn"),
        failed: flag("failed"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keep::testing::{Bench, quiet};

    const FILE: &str = Departing::FILE;
    const ASIDE: &str = "cargento-departures.json.unreadable";
    const WORDS: Words = Words { discarded: false, goal: true, typed: true };

    fn store(bench: &Bench) -> Departures {
        Departures::new(bench.place().clone(), quiet())
    }

    fn found(sid: &str, at: f64, constraint: &str) -> Check {
        Check {
            harness: "pi".into(),
            sid: sid.into(),
            at,
            cutoff: at,
            constraint: constraint.into(),
            clause: "Ship it".into(),
            ..Check::default()
        }
    }

    #[test]
    fn una_030_040_recorded_and_withdrawn_with_the_fact_left() {
        let bench = Bench::new();
        let departures = store(&bench);
        assert_eq!(departures.withdraw("pi", "a"), Saved::Nothing);
        assert!(bench.names().is_empty(), "a withdrawal makes no file");
        departures.record(vec![found("a", 5.0, "goal"), found("b", 6.0, "")]);
        assert_eq!(departures.withdraw("pi", "a"), Saved::Written);
        let read: Vec<Check> = store(&bench).checks().iter().map(|kept| kept.check.clone()).collect();
        let gone = Check { clause: String::new(), constraint: String::new(), withdrawn: true, ..found("a", 5.0, "") };
        assert_eq!(read, [gone, found("b", 6.0, "")]);
        assert_eq!(departures.withdraw("pi", "a"), Saved::Nothing);
        assert!(!bench.text(FILE).contains("failed"));
    }

    #[test]
    fn una_033_034_036_a_bad_file_is_no_record_and_is_moved_aside_before_a_write() {
        let bench = Bench::new();
        bench.put(FILE, b"{broken");
        let departures = store(&bench);
        assert_eq!((departures.checks().len(), departures.reset()), (0, Some("unreadable")));
        assert_eq!(bench.names(), [FILE]);
        departures.record(vec![found("a", 5.0, "")]);
        assert_eq!((bench.text(ASIDE).as_str(), bench.names().len()), ("{broken", 2));
        bench.put(FILE, br#"{"entries":[{"harness":"pi","sid":"a","at":5,"revision":"x","more":[1]},{"sid":"a"},8]}"#);
        let departures = store(&bench);
        assert_eq!((departures.checks().len(), departures.checks()[0].check.revision), (1, 0));
        departures.record(vec![found("z", 9.0, "")]);
        assert!(bench.text(FILE).contains(r#""more":[1]"#), "what this build does not know stays");
    }

    #[test]
    fn una_060_061_062_why_in_order() {
        let kept = |checks: Vec<Check>| checks.into_iter().map(Kept::of).collect::<Vec<_>>();
        let why = |checks: &[Kept], words| published(checks, "pi", "a", words, 1000.0).why;
        let none = kept(vec![]);
        assert_eq!(why(&none, Words { discarded: true, ..Words::default() }), DISCARDED);
        assert_eq!(why(&none, Words { goal: true, ..Words::default() }), NO_GOAL);
        assert_eq!(why(&none, WORDS), NEVER);
        let full = kept((0..12).map(|i| found("other", 900.0 + f64::from(i), "")).collect());
        assert_eq!(why(&full, WORDS), NEVER, "an unchecked session never reads as held off by a cap");
        let mut day = full.clone();
        day.push(Kept::of(found("a", 950.0, "")));
        assert_eq!(why(&day, WORDS), DAY_SPENT);
        assert_eq!(why(&kept((0..3).map(|i| found("a", 900.0 + f64::from(i), "")).collect()), WORDS), SESSION_SPENT);
        assert_eq!(why(&kept(vec![found("a", 900.0, "")]), WORDS), NOTHING);
        assert_eq!(why(&kept(vec![found("a", 900.0, "goal")]), WORDS), "");
        let failed = kept(vec![Check { failed: true, ..found("a", 900.0, "") }]);
        assert!(!published(&failed, "pi", "a", WORDS, 1000.0).checked);
        assert!(published(&kept(vec![found("a", 900.0, "")]), "pi", "a", WORDS, 1000.0).checked);
    }

    #[test]
    fn una_063_what_later_checks_say() {
        let follow = |later: Vec<Check>| {
            let checks: Vec<_> = [vec![found("a", 5.0, "goal")], later].concat().into_iter().map(Kept::of).collect();
            let shown = published(&checks, "pi", "a", WORDS, 10.0).departures;
            shown.last().unwrap()["follow_up"].as_str().unwrap().to_owned()
        };
        assert!(follow(vec![]).starts_with("no later"));
        assert!(follow(vec![Check { failed: true, ..found("a", 6.0, "") }]).starts_with("no later"));
        assert!(follow(vec![Check { cutoff: 4.0, ..found("a", 6.0, "") }]).contains("stops before"));
        assert!(follow(vec![found("a", 6.0, "goal")]).ends_with("raised it again"));
        assert!(follow(vec![found("a", 6.0, "")]).contains("did not"));
    }

    proptest::proptest! {
        /// TRUST-061, TRUST-080, TRUST-081 whatever is done to the file: no panic, and what is written back is stable.
        #[test]
        fn trust_081_a_damaged_file_settles(edits in crate::keep::testing::edits()) {
            crate::keep::testing::settles(&Departing, r#"{"v":1,"entries":[{"harness":"pi","sid":"a","at":5.5,"constraint":"goal","clause":"Ship it","reading":"No.","evidence":"x","revision":1,"cutoff":5.5,"cutoff_text":"Read 9.","withdrawn":false,"more":[1]}]}"#, &edits)?;
        }
    }
}
