//! The newest messages of one session, folded to what a row needs: when turns began, the newest prompt, the newest
//! answer. Kept from read to read, so that a store that grew costs its new messages only.

use crate::config::SQL_MESSAGE_LIMIT;
use crate::model::turn;
use std::collections::VecDeque;

/// What a message says about the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A person's prompt.
    Prompt,
    Other,
    /// It does not say; it neither starts a turn nor extends one.
    Unknown,
}

/// Which messages of a session have been read: equal cursors mean the same messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cursor {
    pub count: i64,
    /// Largest row number.
    pub last: i64,
    /// Sum over a column that tells messages apart, since row numbers may be given out again.
    pub sum: f64,
}

/// One message.
#[derive(Clone, Debug)]
pub struct Message {
    /// Seconds since the epoch, 0 = no stamp.
    pub at: f64,
    pub role: Role,
    /// The newest prompt's and the newest answer's own word: a text, an id, a model.
    pub note: Note,
}

/// What a message leaves to be remembered while it is the newest of its role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    Is(Box<str>),
    /// It has none, and an older message's does not stand in.
    None,
    /// It has none, and an older message's stands.
    Keep,
}

/// The folded messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub cursor: Cursor,
    entries: VecDeque<(f64, Role)>,
    /// Messages ever pushed.
    pushed: usize,
    /// The note and which push it came with.
    prompt: Option<(usize, Box<str>)>,
    answer: Option<(usize, Box<str>)>,
}

impl History {
    /// A history of messages, oldest first; those of equal time in the order given.
    pub fn new(cursor: Cursor, mut messages: Vec<Message>) -> History {
        messages.sort_by(|a, b| a.at.total_cmp(&b.at));
        let mut history = History { cursor, ..History::default() };
        for message in messages {
            history.push(message);
        }
        history.entries.shrink_to_fit();
        history
    }

    /// This history with newer messages, when they are all that changed: no message went and none is older than what
    /// is known. `None`: the session has to be read anew.
    pub fn extended(&self, cursor: Cursor, sum: f64, messages: Vec<Message>) -> Option<History> {
        let newest = self.entries.iter().map(|(at, _)| *at).fold(0.0, f64::max);
        let only_new = cursor.count == self.cursor.count + messages.len() as i64
            && cursor.sum == self.cursor.sum + sum
            && messages.iter().all(|m| m.at >= newest);
        only_new.then(|| {
            let mut history = History { cursor, ..self.clone() };
            let mut messages = messages;
            messages.sort_by(|a, b| a.at.total_cmp(&b.at));
            for message in messages {
                history.push(message);
            }
            history
        })
    }

    fn push(&mut self, message: Message) {
        self.pushed += 1;
        self.entries.push_back((message.at, message.role));
        if self.entries.len() > SQL_MESSAGE_LIMIT {
            self.entries.pop_front();
        }
        let slot = match message.role {
            Role::Prompt => &mut self.prompt,
            Role::Other => &mut self.answer,
            Role::Unknown => return,
        };
        match message.note {
            Note::Is(note) => *slot = Some((self.pushed, note)),
            Note::None => *slot = None,
            Note::Keep => {}
        }
    }

    fn kept<'a>(&self, slot: Option<&'a (usize, Box<str>)>) -> Option<&'a str> {
        slot.filter(|(push, _)| self.pushed - push < SQL_MESSAGE_LIMIT).map(|(_, note)| &**note)
    }

    /// The note of the newest prompt among the messages kept.
    pub fn prompt(&self) -> Option<&str> {
        self.kept(self.prompt.as_ref())
    }

    /// The note of the newest answer among the messages kept.
    pub fn answer(&self) -> Option<&str> {
        self.kept(self.answer.as_ref())
    }

    /// Whether a message kept does not say whose it is.
    pub fn has_unknown(&self) -> bool {
        self.entries.iter().any(|(_, role)| *role == Role::Unknown)
    }

    /// Start of the open turn and the lengths of finished ones, seconds (TURN-007).
    pub fn turns(&self) -> (Option<f64>, Vec<f64>) {
        let stamped = self.entries.iter().filter(|(at, role)| *at > 0.0 && *role != Role::Unknown);
        turn::from_messages(stamped.map(|(at, role)| (*at, *role == Role::Prompt)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(at: f64, role: Role, note: Note) -> Message {
        Message { at, role, note }
    }

    fn is(text: &str) -> Note {
        Note::Is(text.into())
    }

    /// OC-018, GOOSE-013: turns, prompts and answers.
    #[test]
    fn oc_018_goose_013_turns_prompts_and_answers() {
        let history = History::new(
            Cursor::default(),
            vec![
                message(30.0, Role::Prompt, is("second")),
                message(10.0, Role::Prompt, is("first")),
                message(0.0, Role::Other, is("unstamped")),
                message(20.0, Role::Other, is("m1")),
                message(40.0, Role::Prompt, Note::Keep),
                message(45.0, Role::Unknown, Note::Keep),
            ],
        );
        assert_eq!(history.turns(), (Some(40.0), vec![10.0]));
        assert_eq!((history.prompt(), history.answer()), (Some("second"), Some("m1")));
        assert!(history.has_unknown());
        let cleared = history.extended(
            Cursor { count: 1, last: 9, sum: 50.0 },
            50.0,
            vec![message(50.0, Role::Other, Note::None)],
        );
        assert_eq!(cleared.unwrap().answer(), None);
        let late = vec![message(44.0, Role::Other, Note::None)];
        assert_eq!(history.extended(Cursor { count: 1, last: 9, sum: 44.0 }, 44.0, late), None, "an older one came");
        assert_eq!(history.extended(Cursor { count: 2, last: 9, sum: 1.0 }, 1.0, Vec::new()), None, "one is missing");
    }

    /// OC-018, GOOSE-012: the newest 400.
    #[test]
    fn goose_012_no_more_than_the_newest_400_count() {
        let mut messages = vec![message(1.0, Role::Prompt, is("old"))];
        messages.extend((0..399).map(|i| message(2.0 + f64::from(i), Role::Other, Note::Keep)));
        let history = History::new(Cursor::default(), messages);
        assert_eq!((history.prompt(), history.turns().0), (Some("old"), Some(1.0)));
        let next = history.extended(
            Cursor { count: 1, last: 0, sum: 500.0 },
            500.0,
            vec![message(500.0, Role::Other, Note::Keep)],
        );
        let next = next.unwrap();
        assert_eq!((next.prompt(), next.turns().0), (None, None));
    }

    proptest! {
        /// Read in two parts, at every split, is the same as read at once (TRUST-081).
        #[test]
        fn trust_081_split_reads_agree(
            steps in proptest::collection::vec((0u32..3, 0u8..3, 0u8..3), 0..30), split in 0usize..30,
        ) {
            let mut at = 0.0;
            let messages: Vec<Message> = steps.iter().enumerate().map(|(i, (step, role, note))| {
                at += f64::from(*step);
                let role = [Role::Prompt, Role::Other, Role::Unknown][usize::from(*role)];
                let note = [is(&i.to_string()), Note::None, Note::Keep][usize::from(*note)].clone();
                message(at, role, note)
            }).collect();
            let cursor = |m: &[Message]| {
                Cursor { count: m.len() as i64, last: m.len() as i64, sum: m.iter().map(|m| m.at).sum() }
            };
            let (head, tail) = messages.split_at(split.min(messages.len()));
            let first = History::new(cursor(head), head.to_vec());
            let sum = tail.iter().map(|m| m.at).sum();
            let second = first.extended(cursor(&messages), sum, tail.to_vec()).unwrap();
            prop_assert_eq!(second, History::new(cursor(&messages), messages));
        }
    }
}
