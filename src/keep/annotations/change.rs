//! What a request does to the words of one session: pure, decided against what is stored at that moment (ANN-050 to
//! ANN-082). Knows no file, no lock and no route.

use super::entry::{Entry, FROM_ENTRY, LINES_MAX, Line, Revision, Settled, Source, TYPED};
use crate::config::{ANNOTATION_MAX_REVISIONS, ANNOTATION_TEXT_CAP_CHARS};
use crate::text::{redact, safe, safe_text};

/// One well-typed request.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Discards everything (ANN-060).
    Clear,
    /// Settles the directions up to a moment, seconds since the epoch (ANN-070).
    Settle { through: f64, expected: Option<i128> },
    /// Adopts a prompt as the goal; the client says which prompt it showed (ANN-081).
    Adopt { source: Option<Source>, prompt: String, at: Option<f64>, expected: Option<i128> },
    /// Saves a goal, a list of lines, or both; what is absent is left alone.
    Words(Words),
    /// The request names nothing.
    Nothing,
}

/// A goal, a checklist, or both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    pub goal: Option<String>,
    pub lines: Option<Vec<String>>,
    /// The legacy single line.
    pub output: Option<String>,
    /// The revision the change was drafted against; 0 = nothing saved.
    pub expected: Option<i128>,
    /// For each line the saved position it came from.
    pub origins: Option<Vec<Option<u64>>>,
}

/// What the board knows of the session at the time of the save.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// The latest message of the person, seconds since the epoch; `None` when the record does not tell.
    pub messages: Vec<f64>,
    /// The prompts that may be adopted, with their times.
    pub candidates: Vec<(Source, String, f64)>,
}

/// What becomes of the entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// This takes its place.
    Store(Box<Entry>),
    /// Nothing to write, and the request is done all the same.
    Done,
    /// The same words again.
    Unchanged,
    /// Nothing the store takes.
    Refused,
}

/// Decides a request. `entry` is what is stored, `now` the server's clock in seconds since the epoch.
pub fn decide(key: &super::EntryKey, entry: Option<&Entry>, action: &Action, seen: &Observed, now: f64) -> Decision {
    match action {
        Action::Nothing => Decision::Refused,
        Action::Clear => clear(entry, now),
        Action::Settle { through, expected } => settle(entry, *through, *expected, now),
        Action::Adopt { source, prompt, at, expected } => {
            let offered = source.zip(*at).filter(|(source, at)| {
                *at > 0.0 && *at <= now && seen.candidates.iter().any(|(s, p, t)| s == source && p == prompt && t == at)
            });
            offered.map_or(Decision::Refused, |adopted| adopt(key, entry, prompt, adopted, *expected, now))
        }
        Action::Words(words) => save(key, entry, words, seen, now),
    }
}

fn clear(entry: Option<&Entry>, now: f64) -> Decision {
    match entry {
        Some(entry) if !entry.revisions.is_empty() => Decision::Store(Box::new(Entry {
            harness: entry.harness.clone(),
            sid: entry.sid.clone(),
            discarded: Some((now, Some(entry.number()))),
            ..Entry::default()
        })),
        // Nothing was there, or everything was discarded before: the first record's time stands.
        _ => Decision::Done,
    }
}

fn settle(entry: Option<&Entry>, through: f64, expected: Option<i128>, now: f64) -> Decision {
    let Some(entry) = entry.filter(|entry| !entry.revisions.is_empty()) else { return Decision::Refused };
    if !through.is_finite() || is_stale(Some(entry), expected) {
        return Decision::Refused;
    }
    let before = entry.settled.map_or(0.0, |settled| settled.through);
    let settled = Settled { at: now, through: through.min(now).max(before), revision: entry.number() };
    if settled.through <= 0.0 {
        // No moment: it would not be read back.
        return Decision::Refused;
    }
    Decision::Store(Box::new(Entry { settled: Some(settled), written: now, ..entry.clone() }))
}

fn is_stale(entry: Option<&Entry>, expected: Option<i128>) -> bool {
    expected.is_some_and(|expected| expected != i128::from(entry.map_or(0, Entry::number)))
}

fn adopt(
    key: &super::EntryKey,
    entry: Option<&Entry>,
    prompt: &str,
    adopted: (Source, f64),
    expected: Option<i128>,
    now: f64,
) -> Decision {
    let has_goal = entry.and_then(Entry::newest).is_some_and(|revision| !revision.goal.is_empty());
    if is_stale(entry, expected) || (expected.is_none() && has_goal) {
        return Decision::Refused;
    }
    let goal = clean_goal(prompt);
    if goal.is_empty() {
        return Decision::Refused;
    }
    let lines = entry.and_then(Entry::newest).map(|revision| revision.lines.clone()).unwrap_or_default();
    mint(key, entry, Draft { goal, lines, adopted: Some(adopted) }, &Observed::default(), now)
}

fn save(key: &super::EntryKey, entry: Option<&Entry>, words: &Words, seen: &Observed, now: f64) -> Decision {
    let newest = entry.and_then(Entry::newest);
    let stored: &[Line] = newest.map_or(&[], |revision| &revision.lines);
    if is_stale(entry, words.expected) {
        return Decision::Refused;
    }
    let lines = match (&words.lines, &words.output) {
        (Some(lines), _) => {
            let Some(lines) = clean_lines(lines, words.origins.as_deref()) else { return Decision::Refused };
            let differs = !lines.iter().map(|(text, _)| text).eq(stored.iter().map(|line| &line.text));
            if differs && !stored.is_empty() && words.expected.is_none() {
                return Decision::Refused;
            }
            sourced(&lines, stored)
        }
        (None, Some(output)) => {
            let Some(lines) = clean_lines(std::slice::from_ref(output), None) else { return Decision::Refused };
            let differs = !lines.iter().map(|(text, _)| text).eq(stored.iter().map(|line| &line.text));
            if differs && !stored.is_empty() {
                return Decision::Refused;
            }
            sourced(&lines, stored)
        }
        (None, None) => stored.to_vec(),
    };
    let (goal, adopted) = match &words.goal {
        Some(goal) => (clean_goal(goal), None),
        None => newest.map_or((String::new(), None), |revision| (revision.goal.clone(), revision.adopted)),
    };
    mint(key, entry, Draft { goal, lines, adopted }, seen, now)
}

struct Draft {
    goal: String,
    lines: Vec<Line>,
    adopted: Option<(Source, f64)>,
}

/// Appends the revision, unless it would say what the newest one says.
fn mint(key: &super::EntryKey, entry: Option<&Entry>, draft: Draft, seen: &Observed, now: f64) -> Decision {
    let newest = entry.and_then(Entry::newest);
    let Draft { goal, lines, adopted } = draft;
    match newest {
        Some(newest) if newest.goal == goal && newest.lines == lines && newest.adopted == adopted => {
            return Decision::Unchanged;
        }
        // Emptying what is empty is nothing new either.
        None if goal.is_empty() && lines.is_empty() => return Decision::Unchanged,
        _ => {}
    }
    let latest = seen.messages.iter().copied().filter(|at| *at > 0.0 && *at <= now).fold(0.0, f64::max);
    let window_start = match adopted {
        Some((_, at)) => at.min(now),
        None if latest > 0.0 => latest,
        None => now,
    };
    let goal_saved_at = match newest {
        _ if goal.is_empty() || adopted.is_some() => None,
        Some(newest) if newest.goal == goal && newest.adopted.is_none() => newest.goal_saved_at.map(|at| at.min(now)),
        _ => Some(now),
    };
    // A clock that went back must not date the prompt after the save.
    let adopted = adopted.map(|(source, at)| (source, at.min(now)));
    let mut next = entry.cloned().unwrap_or_default();
    (next.harness, next.sid) = key.clone();
    let n = next.next_number();
    next.discarded = None;
    next.written = now;
    let window_start = Some(window_start);
    next.revisions.push(Revision { n, at: now, goal, lines, adopted, window_start, goal_saved_at, more: Vec::new() });
    let beyond = next.revisions.len().saturating_sub(ANNOTATION_MAX_REVISIONS);
    next.revisions.drain(..beyond);
    Decision::Store(Box::new(next))
}

/// A goal is cut, never refused; one without a visible character is none.
fn clean_goal(goal: &str) -> String {
    let goal = safe_text(goal, ANNOTATION_TEXT_CAP_CHARS);
    if goal.trim().is_empty() { String::new() } else { goal.into_owned() }
}

/// The lines with the saved positions they came from; `None` when one is too long or there are too many (ANN-051).
fn clean_lines(lines: &[String], origins: Option<&[Option<u64>]>) -> Option<Vec<(String, Option<u64>)>> {
    let mut kept = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let line = safe::clean(line);
        let line = redact::redact(&line);
        if line.trim().is_empty() {
            continue;
        }
        if line.chars().count() > ANNOTATION_TEXT_CAP_CHARS {
            return None;
        }
        let origin = origins.and_then(|origins| origins.get(i).copied().flatten());
        kept.push((line.into_owned(), origin));
    }
    (kept.len() <= LINES_MAX).then_some(kept)
}

/// Gives each line its source: a saved entry line lends its own to one new line of the same text, first to the one that
/// says it came from there, then to the one in its place, then to the first (ANN-056).
fn sourced(lines: &[(String, Option<u64>)], stored: &[Line]) -> Vec<Line> {
    let mut out: Vec<Line> =
        lines.iter().map(|(text, _)| Line { text: text.clone(), source: TYPED, source_id: String::new() }).collect();
    let mut taken = vec![false; lines.len()];
    let mut lent = vec![false; stored.len()];
    // A typed line keeps its own place in the same way, so that an entry line cannot lend to a line that says it came
    // from a typed one of the same text.
    let fits = |saved: usize, new: usize, rule: usize| match rule {
        0 => lines.get(new).is_some_and(|(_, origin)| *origin == Some(saved as u64)),
        1 => saved == new,
        _ => true,
    };
    for rule in 0..3 {
        for (saved, line) in stored.iter().enumerate() {
            let free = |new: usize| !taken.get(new).copied().unwrap_or(true);
            let same = |new: usize| lines.get(new).is_some_and(|(text, _)| *text == line.text);
            if lent.get(saved).copied().unwrap_or(true) {
                continue;
            }
            let Some(new) = (0..lines.len()).find(|new| free(*new) && same(*new) && fits(saved, *new, rule)) else {
                continue;
            };
            if let (Some(slot), Some(taken), Some(lent)) = (out.get_mut(new), taken.get_mut(new), lent.get_mut(saved)) {
                (*taken, *lent) = (true, true);
                if line.source == FROM_ENTRY {
                    *slot = line.clone();
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> super::super::EntryKey {
        ("pi".into(), "s".into())
    }

    fn run(entry: Option<&Entry>, action: &Action, now: f64) -> Decision {
        decide(&key(), entry, action, &Observed::default(), now)
    }

    fn words(goal: Option<&str>, lines: Option<&[&str]>, expected: Option<i128>) -> Action {
        let lines = lines.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect());
        Action::Words(Words { goal: goal.map(str::to_owned), lines, expected, ..Words::default() })
    }

    #[track_caller]
    fn stored(decision: Decision) -> Entry {
        match decision {
            Decision::Store(entry) => *entry,
            other => panic!("{other:?}"),
        }
    }

    /// ANN-054, ANN-055
    #[test]
    fn ann_054_055_fields_are_independent_and_the_same_words_mint_nothing() {
        let one = stored(run(None, &words(None, Some(&["a"]), None), 10.0));
        let two = stored(run(Some(&one), &words(Some("g"), None, None), 11.0));
        let newest = two.newest().unwrap();
        assert_eq!((newest.n, newest.goal.as_str(), newest.lines.len()), (2, "g", 1));
        for same in
            [words(Some("g"), None, None), words(None, Some(&["a"]), None), words(Some("g"), Some(&["a"]), Some(2))]
        {
            assert_eq!(run(Some(&two), &same, 12.0), Decision::Unchanged);
        }
        assert_eq!(run(None, &words(Some(" "), Some(&[""]), None), 1.0), Decision::Unchanged, "nothing over nothing");
        let three = stored(run(Some(&two), &words(Some(""), None, Some(2)), 12.0));
        assert_eq!((three.newest().unwrap().goal.as_str(), three.newest().unwrap().goal_saved_at), ("", None));
    }

    /// ANN-051, ANN-052, ANN-070
    #[test]
    fn ann_051_052_what_is_refused_whole() {
        let one = stored(run(None, &words(Some("g"), Some(&["a"]), Some(0)), 10.0));
        let long = "x".repeat(241);
        let seven = ["1", "2", "3", "4", "5", "6", "7"];
        for refused in [
            words(None, Some(&["b"]), None),
            words(None, Some(&[]), None),
            words(Some("h"), None, Some(0)),
            words(Some("h"), None, Some(2)),
            words(Some("h"), None, Some(-1)),
            words(Some("h"), Some(&[&long]), Some(1)),
            words(Some("h"), Some(&seven), Some(1)),
            Action::Nothing,
            Action::Settle { through: 5.0, expected: Some(2) },
            Action::Settle { through: f64::NAN, expected: None },
        ] {
            assert_eq!(run(Some(&one), &refused, 11.0), Decision::Refused, "{refused:?}");
        }
        assert!(matches!(run(Some(&one), &words(None, Some(&["b", " ", "\n"]), Some(1)), 11.0), Decision::Store(_)));
        assert!(matches!(run(Some(&one), &words(Some("h"), Some(&["a"]), None), 11.0), Decision::Store(_)));
    }

    /// ANN-016, ANN-032, ANN-058, ANN-060
    #[test]
    fn ann_016_032_058_numbers_times_and_the_seventeenth() {
        let mut entry = stored(run(None, &words(Some("g"), None, None), 10.0));
        for i in 0..17 {
            entry = stored(run(Some(&entry), &words(None, Some(&[&i.to_string()]), Some(entry.number().into())), 9.0));
        }
        assert_eq!((entry.revisions.len(), entry.revisions[0].n, entry.number()), (16, 3, 18));
        let newest = entry.newest().unwrap();
        assert!(newest.goal_saved_at.unwrap() <= newest.at && newest.window_start.unwrap() <= newest.at);
        let gone = stored(run(Some(&entry), &Action::Clear, 20.0));
        assert_eq!((gone.revisions.len(), gone.discarded, gone.written), (0, Some((20.0, Some(18))), 0.0));
        assert_eq!(run(Some(&gone), &Action::Clear, 21.0), Decision::Done);
        assert_eq!(run(None, &Action::Clear, 21.0), Decision::Done);
        assert_eq!(run(Some(&gone), &Action::Settle { through: 5.0, expected: None }, 21.0), Decision::Refused);
        let back = stored(run(Some(&gone), &words(Some("again"), None, Some(0)), 22.0));
        assert_eq!((back.number(), back.discarded), (19, None));
    }

    #[test]
    fn ann_056_two_lines_of_one_text_keep_their_own_sources() {
        let entry_line = |text: &str, id: &str| Line { text: text.into(), source: FROM_ENTRY, source_id: id.into() };
        let typed = |text: &str| Line { text: text.into(), source: TYPED, source_id: String::new() };
        let saved = [typed("a"), entry_line("b", "x"), entry_line("b", "y")];
        let run = |lines: &[(&str, Option<u64>)]| {
            let lines: Vec<_> = lines.iter().map(|(text, origin)| ((*text).to_owned(), *origin)).collect();
            sourced(&lines, &saved).into_iter().map(|line| line.source_id).collect::<Vec<_>>()
        };
        assert_eq!(run(&[("b", Some(2)), ("b", Some(1))]), ["y", "x"]);
        assert_eq!(run(&[("b", None), ("b", None)]), ["y", "x"], "its own place first, then the first match");
        assert_eq!(run(&[("b", None)]), ["x"]);
        assert_eq!(run(&[("b!", Some(1)), ("a", Some(0))]), ["", ""]);
        assert_eq!(
            sourced(&[("a".into(), Some(1)), ("a".into(), Some(0))], &[entry_line("a", "x"), typed("a")])
                .into_iter()
                .map(|line| line.source_id)
                .collect::<Vec<_>>(),
            ["", "x"]
        );
    }

    /// ANN-015, ANN-057, ANN-071, ANN-081, ANN-082
    #[test]
    fn ann_015_057_071_windows_adoption_and_settlements() {
        let seen = Observed {
            messages: vec![4.0, 8.0, 99.0],
            candidates: vec![(Source::First, "Fix it".into(), 7.0), (Source::Latest, "Later".into(), 999.0)],
        };
        let take = |entry: Option<&Entry>, action: Action, now| decide(&key(), entry, &action, &seen, now);
        let adopt = |prompt: &str, at, expected| Action::Adopt {
            source: Some(Source::First),
            prompt: prompt.into(),
            at: Some(at),
            expected,
        };
        assert_eq!(stored(take(None, words(Some("g"), None, None), 10.0)).newest().unwrap().window_start, Some(8.0));
        let one = stored(take(None, adopt("Fix it", 7.0, None), 10.0));
        let newest = one.newest().unwrap();
        assert_eq!(
            (newest.adopted, newest.window_start, newest.goal_saved_at),
            (Some((Source::First, 7.0)), Some(7.0), None)
        );
        for refused in [adopt("Fix", 7.0, Some(1)), adopt("Fix it", 7.5, Some(1)), adopt("Fix it", 7.0, None)] {
            assert_eq!(take(Some(&one), refused, 11.0), Decision::Refused);
        }
        let future =
            Action::Adopt { source: Some(Source::Latest), prompt: "Later".into(), at: Some(999.0), expected: None };
        assert_eq!(take(None, future, 10.0), Decision::Refused);
        let lines = stored(take(Some(&one), words(None, Some(&["a"]), None), 11.0));
        assert_eq!(lines.newest().unwrap().adopted, Some((Source::First, 7.0)));
        let typed = stored(take(Some(&lines), words(Some("Fix it"), None, None), 12.0));
        assert_eq!((typed.newest().unwrap().adopted, typed.newest().unwrap().goal_saved_at), (None, Some(12.0)));
        let settle =
            |entry: &Entry, through| stored(take(Some(entry), Action::Settle { through, expected: None }, 20.0));
        let settled = settle(&typed, 15.0);
        assert_eq!(settled.settled, Some(Settled { at: 20.0, through: 15.0, revision: 3 }));
        assert_eq!(settle(&settled, 9.0).settled.unwrap().through, 15.0);
        assert_eq!(settle(&settled, -9.0).settled.unwrap().through, 15.0, "never moved back");
        let nowhere = Action::Settle { through: 0.0, expected: None };
        assert_eq!(take(Some(&typed), nowhere, 20.0), Decision::Refused, "no moment");
        assert_eq!(settle(&settled, 9e12).settled.unwrap().through, 20.0);
    }
}
