//! What a session was told to do, by its prompts and by what its agent said it would do (CODEX-026, CODEX-027).
//!
//! The rule is a walk from the newest record back. A rollout grows at its end and is too long to walk again each time,
//! so what the walk would meet is kept as a short list of events: [`Recent`] is fed forward as records arrive, [`Older`]
//! backward from where the forward reading began. Both forget an event as soon as no walk could be changed by it; a
//! test compares them with the plain walk over every record.

use crate::config::{FIRST_PROMPT_CAP_CHARS, LAST_PROMPT_CAP_CHARS, TITLE_CAP_CHARS};
use crate::model::{Instruction, InstructionLabel};
use crate::text::prompt::{Speaker, is_control, is_injected, states_work, title};
use crate::text::safe_text;

/// A prompt the person typed, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// Line 1 of the row.
    pub title: Option<String>,
    pub last_prompt: String,
    /// The same as an instruction line.
    line: Option<String>,
    /// Stamp of its record, seconds since the epoch.
    pub at: Option<f64>,
    pub states_work: bool,
}

impl Prompt {
    /// A user text as a prompt; `None` when it is blank or the harness wrote it (CODEX-028).
    pub fn read(text: &str, at: Option<f64>) -> Option<Prompt> {
        if is_injected(text, Speaker::Codex) {
            return None;
        }
        Some(Prompt {
            title: title(text, TITLE_CAP_CHARS).map(|t| safe_text(&t, TITLE_CAP_CHARS + 1).into_owned()),
            last_prompt: safe_text(text, LAST_PROMPT_CAP_CHARS).into_owned(),
            line: line(text),
            at,
            states_work: states_work(text, Speaker::Codex),
        })
    }
}

/// The first prompt of a session, from which a goal may be drafted (CODEX-065).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct First {
    pub text: String,
    pub at: Option<f64>,
    /// It only steers the harness, such as `/clear`.
    pub control: bool,
}

impl First {
    /// A user text as the first prompt; `None` when it is blank, says nothing, or the harness wrote it.
    pub fn read(text: &str, at: Option<f64>) -> Option<First> {
        if is_injected(text, Speaker::Codex) {
            return None;
        }
        let line = title(text, FIRST_PROMPT_CAP_CHARS)?;
        Some(First { control: is_control(&line), text: safe_text(&line, FIRST_PROMPT_CAP_CHARS + 1).into_owned(), at })
    }
}

/// What the agent said it would do in a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    line: String,
    at: f64,
}

impl Statement {
    /// A commentary as a statement; `None` when it says nothing.
    pub fn read(text: &str, at: Option<f64>) -> Option<Statement> {
        Some(Statement { line: line(text)?, at: at.unwrap_or(0.0) })
    }
}

fn line(text: &str) -> Option<String> {
    title(text, LAST_PROMPT_CAP_CHARS).map(|t| safe_text(&t, LAST_PROMPT_CAP_CHARS + 1).into_owned())
}

/// Something the walk can meet.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Prompt(Box<Prompt>),
    Statement(Box<Statement>),
    /// A turn begins: the floor of the statements of that turn.
    Start,
    /// A turn is over: a statement behind it has no beginning of its own (CODEX-059).
    End,
    /// What lies before is out of the model's sight.
    Compaction,
}

impl Event {
    fn is_prompt(&self) -> bool {
        matches!(self, Event::Prompt(_))
    }

    fn states_work(&self) -> bool {
        matches!(self, Event::Prompt(p) if p.states_work)
    }

    fn is_bound(&self) -> bool {
        matches!(self, Event::Start | Event::End)
    }
}

/// Events as they arrive, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Recent(Vec<Event>);

impl Recent {
    /// Whether a statement arriving now could ever be quoted; asked before one is rendered.
    pub fn wants_statement(&self) -> bool {
        // The oldest of a turn wins; behind an end without a start in between there is no turn it could belong to.
        !self.0.iter().any(|e| matches!(e, Event::Statement(_) | Event::End))
    }

    /// Takes the next event.
    pub fn push(&mut self, event: Event) {
        match &event {
            Event::Prompt(prompt) => {
                // Of the prompts before it only the newest that states work can be quoted, and none behind one that
                // states work itself.
                let newest_work = if prompt.states_work { None } else { self.0.iter().rposition(Event::states_work) };
                let mut at = 0;
                self.0.retain(|e| {
                    let keep = match e {
                        Event::Prompt(_) => newest_work == Some(at),
                        Event::Statement(_) => false,
                        Event::Compaction => !prompt.states_work,
                        Event::Start | Event::End => true,
                    };
                    at += 1;
                    keep
                });
            }
            Event::Start => self.0.retain(|e| !e.is_bound() && !matches!(e, Event::Statement(_))),
            Event::End if !self.0.contains(&Event::End) => {}
            Event::Statement(_) if self.wants_statement() => {}
            Event::Compaction if !compacted_since_prompt(&self.0) => {}
            Event::End | Event::Statement(_) | Event::Compaction => return,
        }
        self.0.push(event);
    }
}

/// Whether a compaction stands behind the last prompt of a list.
fn compacted_since_prompt(events: &[Event]) -> bool {
    events.iter().rev().take_while(|e| !e.is_prompt()).any(|e| *e == Event::Compaction)
}

/// Events before the forward reading, newest first.
#[derive(Clone, Debug, Default)]
pub struct Older(Vec<Event>);

impl Older {
    /// Whether an older statement could ever be quoted.
    pub fn wants_statement(&self) -> bool {
        !self.0.iter().any(|e| e.is_prompt() || *e == Event::Start)
    }

    /// Takes the next older event.
    pub fn push(&mut self, event: Event) {
        let started = self.0.contains(&Event::Start);
        let worked = self.0.iter().any(Event::states_work);
        let wanted = match &event {
            Event::Prompt(prompt) => !worked && (prompt.states_work || !self.0.iter().any(Event::is_prompt)),
            Event::Statement(_) => self.wants_statement(),
            Event::Start => !started,
            Event::End => !started && !self.0.contains(&Event::End),
            Event::Compaction => !worked && !compacted_since_prompt(&self.0),
        };
        // An older statement of the turn takes the place of a newer one; one behind an end belongs to no turn.
        if (wanted && matches!(event, Event::Statement(_))) || (event == Event::End && !started) {
            self.0.retain(|e| !matches!(e, Event::Statement(_)));
        }
        if wanted {
            self.0.push(event);
        }
    }
}

/// Whether no record older than `older` can change what the walk finds, now or later.
pub fn is_closed(recent: &Recent, older: &Older) -> bool {
    let mut all = recent.0.iter().chain(&older.0);
    all.clone().any(Event::states_work) && all.any(Event::is_bound)
}

/// What the walk finds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading<'a> {
    pub prompt: Option<&'a Prompt>,
    pub instruction: Option<Instruction>,
}

/// The walk of CODEX-026, newest event first.
pub fn read<'a>(recent: &'a Recent, older: &'a Older) -> Reading<'a> {
    walk(recent.0.iter().rev().chain(&older.0))
}

fn walk<'a>(events: impl Iterator<Item = &'a Event>) -> Reading<'a> {
    let mut prompt: Option<&Prompt> = None;
    let mut earlier: Option<&Prompt> = None;
    let mut preamble: Option<&Statement> = None;
    let (mut floor, mut compacted) = (false, false);
    for event in events {
        match event {
            Event::Statement(said) => {
                if prompt.is_none() && !floor {
                    preamble = Some(said);
                }
            }
            Event::Start => floor = true,
            Event::End => preamble = preamble.filter(|_| floor),
            Event::Compaction => {
                compacted |= prompt.is_some();
                if compacted && floor {
                    break;
                }
            }
            Event::Prompt(met) if prompt.is_none() => {
                prompt = Some(met);
                if met.states_work {
                    break;
                }
            }
            Event::Prompt(met) => {
                if met.states_work && !compacted {
                    earlier = Some(met);
                    break;
                }
            }
        }
    }
    let instruction = match prompt {
        // Line 1 shows it already.
        Some(prompt) if prompt.states_work => None,
        _ => agent(preamble.filter(|_| floor)).or_else(|| quoted(earlier)),
    };
    Reading { prompt, instruction }
}

fn agent(said: Option<&Statement>) -> Option<Instruction> {
    let said = said?;
    Some(Instruction { label: InstructionLabel::Agent, text: said.line.clone(), at: said.at })
}

fn quoted(prompt: Option<&Prompt>) -> Option<Instruction> {
    let prompt = prompt?;
    let text = prompt.line.clone()?;
    Some(Instruction { label: InstructionLabel::Earlier, text, at: prompt.at.unwrap_or(0.0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One letter an event: `w` a prompt that states work, `p` one that does not, `c` commentary, `s` and `e` the
    /// bounds of a turn, `k` a compaction. Texts tell positions apart.
    fn story(letters: &str) -> Vec<Event> {
        letters
            .chars()
            .enumerate()
            .map(|(n, letter)| {
                let at = Some(n as f64);
                match letter {
                    'w' => Event::Prompt(Box::new(Prompt::read(&format!("Fix defect number {n}"), at).unwrap())),
                    'p' => Event::Prompt(Box::new(Prompt::read("go ahead", at).unwrap())),
                    'c' => Event::Statement(Box::new(Statement::read(&format!("I read file {n}"), at).unwrap())),
                    's' => Event::Start,
                    'e' => Event::End,
                    _ => Event::Compaction,
                }
            })
            .collect()
    }

    fn kept(events: &[Event], split: usize) -> (Recent, Older) {
        let (mut recent, mut older) = (Recent::default(), Older::default());
        events[split..].iter().for_each(|e| recent.push(e.clone()));
        events[..split].iter().rev().for_each(|e| older.push(e.clone()));
        (recent, older)
    }

    fn shown(reading: &Reading<'_>) -> (Option<f64>, Option<(InstructionLabel, f64)>) {
        (reading.prompt.and_then(|p| p.at), reading.instruction.as_ref().map(|i| (i.label, i.at)))
    }

    /// CODEX-026, CODEX-058, CODEX-059: what the walk finds.
    #[test]
    fn codex_026_058_059_what_the_walk_finds() {
        use InstructionLabel::{Agent, Earlier};
        for (letters, want) in [
            ("", (None, None)),
            ("w", (Some(0.0), None)),
            ("p", (Some(0.0), None)),
            ("wp", (Some(1.0), Some((Earlier, 0.0)))),
            ("wkp", (Some(2.0), None)),
            ("wpk", (Some(1.0), Some((Earlier, 0.0)))),
            ("wspc", (Some(2.0), Some((Agent, 3.0)))),
            ("wspcc", (Some(2.0), Some((Agent, 3.0)))),
            ("wspce", (Some(2.0), Some((Agent, 3.0)))),
            ("wpc", (Some(1.0), Some((Earlier, 0.0)))),
            ("sw", (Some(1.0), None)),
            ("swc", (Some(1.0), None)),
            ("wspepc", (Some(4.0), Some((Earlier, 0.0)))),
            ("swkspc", (Some(4.0), Some((Agent, 5.0)))),
            ("spwp", (Some(3.0), Some((Earlier, 2.0)))),
            ("wpp", (Some(2.0), Some((Earlier, 0.0)))),
        ] {
            let events = story(letters);
            assert_eq!(shown(&walk(events.iter().rev())), want, "{letters}");
        }
    }

    proptest! {
        /// CODEX-026: the kept events tell what the whole walk tells.
        #[test]
        fn codex_026_the_kept_events_tell_what_the_whole_walk_tells(
            letters in "[wpcsek]{0,24}", at in 0.0..1.0f64, later in "[wpcsek]{0,12}",
        ) {
            let events = story(&(letters.clone() + &later));
            let split = (letters.len() as f64 * at) as usize;
            let (recent, older) = kept(&events, split);
            prop_assert_eq!(shown(&read(&recent, &older)), shown(&walk(events.iter().rev())));
            prop_assert!(recent.0.len() <= 8 && older.0.len() <= 8, "{:?} {:?}", recent, older);
        }

        /// CODEX-026: a closed walk needs nothing older.
        #[test]
        fn codex_026_a_closed_walk_needs_nothing_older(letters in "[wpcsek]{0,24}", before in "[wpcsek]{0,12}", later in "[wpcsek]{0,12}") {
            let events = story(&(before.clone() + &letters + &later));
            let mut recent = Recent::default();
            events[before.len()..before.len() + letters.len()].iter().for_each(|e| recent.push(e.clone()));
            if is_closed(&recent, &Older::default()) {
                events[before.len() + letters.len()..].iter().for_each(|e| recent.push(e.clone()));
                prop_assert_eq!(shown(&read(&recent, &Older::default())), shown(&walk(events.iter().rev())));
            }
        }
    }
}
