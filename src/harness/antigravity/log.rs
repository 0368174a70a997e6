//! One CLI log: which workspace and which prompt go with which conversation (AGY-019, AGY-020).
//!
//! Identity stands at a log's head and the newest prompt at its tail, so both are read and the middle is not. What is
//! kept is the few marked lines with their places, so that a log read while it grows says what a fresh read would.

use crate::config::{LAST_PROMPT_CAP_CHARS, RECORD_TEXT_CAP_CHARS, TAIL_BYTES};
use crate::harness::tail::{Fold, Line, Tail};
use crate::surface::read::{self, ReadError, Stamp};
use crate::text::{json, redact_clip, safe_text};
use memchr::memmem;
use std::path::Path;

/// How much of a log's beginning is read, bytes.
pub const HEAD_BYTES: u64 = 80_000;
/// Most marked lines kept of one log; the oldest go first.
const MARKS: usize = 4096;
/// Longest workspace text that is kept, bytes; a longer one is no list of folders.
const CONTEXT_BYTES: usize = 4096;

/// A conversation id as logs write it: 36 characters of hex digits and dashes.
pub type Id = [u8; 36];

/// What a line says.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    /// The workspace of what follows; `None` when it is blank.
    Workspace(Option<Box<str>>),
    /// A conversation was created or goes on.
    Conversation(Id),
    /// The operator typed a prompt; where it goes is said later.
    Prompt(Box<str>),
    /// The typed prompt went to this conversation.
    Forward(Id),
}

#[derive(Clone, Debug, PartialEq)]
struct Mark {
    at: u64,
    /// The whole line lies in the log's head.
    head: bool,
    said: Said,
}

/// What a log tells about a conversation at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    pub conversation: &'a Id,
    /// Text of the workspace list in force, one or several folders.
    pub context: Option<&'a str>,
    pub prompt: Option<&'a str>,
}

/// A log as far as it was read.
#[derive(Debug, Default)]
pub struct Log {
    tail: Tail,
    marks: Marks,
}

#[derive(Debug, Default)]
struct Marks(Vec<Mark>);

impl Fold for Marks {
    fn restart(&mut self, _: bool) {
        self.0.clear();
    }

    fn line(&mut self, line: Line<'_>) {
        self.0.extend(mark(line));
    }
}

impl Log {
    /// Brings the log up to the file. True when it says something new.
    pub fn read(&mut self, path: &Path, stamp: Stamp) -> Result<bool, ReadError> {
        use crate::harness::tail::Advance;
        let advance = self.tail.advance(path, stamp, TAIL_BYTES, &mut self.marks)?;
        let len = self.tail.stamp().map_or(0, |stamp| stamp.len);
        let from = len.saturating_sub(TAIL_BYTES);
        match advance {
            Advance::Same => return Ok(false),
            Advance::Anew { from_start: false } => {
                let behind = self.marks.0.split_off(0);
                self.marks.0 = head(path)?;
                self.marks.0.retain(|mark| mark.at < from);
                self.marks.0.extend(behind);
            }
            Advance::Anew { from_start: true } => {}
            Advance::Grown => self.marks.0.retain(|mark| mark.head || mark.at >= from),
        }
        let spare = self.marks.0.len().saturating_sub(MARKS);
        self.marks.0.drain(..spare);
        Ok(true)
    }

    /// What it tells, in order. The last event of a conversation is the one that holds.
    pub fn events(&self) -> Vec<Event<'_>> {
        events(&self.marks.0)
    }
}

/// The head alone of a log that is too old for anything but identity: which conversations belong to which workspace.
#[derive(Debug, Default)]
pub struct Head(Vec<Mark>);

impl Head {
    /// Reads a log's head.
    pub fn read(path: &Path) -> Result<Head, ReadError> {
        let mut marks = head(path)?;
        marks.retain(|mark| matches!(mark.said, Said::Workspace(_) | Said::Conversation(_) | Said::Forward(_)));
        Ok(Head(marks))
    }

    /// Conversations with their workspaces, in order.
    pub fn events(&self) -> Vec<Event<'_>> {
        events(&self.0)
    }
}

fn head(path: &Path) -> Result<Vec<Mark>, ReadError> {
    let (bytes, _) = read::prefix(path, HEAD_BYTES)?;
    let mut marks = Vec::new();
    let mut at = 0;
    for end in memchr::memchr_iter(b'\n', &bytes) {
        let line = bytes.get(at..end).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        marks.extend(mark(Line { at: at as u64, bytes: line }).filter(|mark| mark.head));
        at = end + 1;
    }
    Ok(marks)
}

fn events(marks: &[Mark]) -> Vec<Event<'_>> {
    let (mut context, mut pending) = (None, None);
    let mut events = Vec::new();
    for mark in marks {
        match &mark.said {
            Said::Workspace(text) => context = text.as_deref(),
            Said::Prompt(text) => pending = Some(&**text),
            Said::Conversation(id) => events.push(Event { conversation: id, context, prompt: None }),
            Said::Forward(id) => events.push(Event { conversation: id, context, prompt: pending.take() }),
        }
    }
    events
}

fn mark(line: Line<'_>) -> Option<Mark> {
    // Room for either line end, so that the judgement does not depend on which one it was.
    let head = line.at + line.bytes.len() as u64 + 2 <= HEAD_BYTES;
    said(line.bytes).map(|said| Mark { at: line.at, head, said })
}

/// What a line says, one thing at most. A prompt can quote a line of a log, so nothing behind the mark of a prompt is
/// taken for one.
fn said(line: &[u8]) -> Option<Said> {
    const PROMPT: &[u8] = b"HandleUserInput called with text: ";
    let typed = memmem::find(line, PROMPT).and_then(|at| line.split_at_checked(at));
    let (own, typed) = match typed {
        Some((own, typed)) => (own, typed.strip_prefix(PROMPT)),
        None => (line, None),
    };
    if let Some(text) = workspace(own) {
        let text = String::from_utf8_lossy(text);
        let text = text.trim();
        return Some(Said::Workspace((!text.is_empty() && text.len() <= CONTEXT_BYTES).then(|| text.into())));
    }
    if let Some(id) = id_after(own, b"Created conversation ").or_else(|| id_after(own, b"Streaming conversation ")) {
        return Some(Said::Conversation(id));
    }
    match typed {
        Some(text) => Some(Said::Prompt(prompt(text))),
        None => id_after(own, b"Forwarding user message to conversation ").map(Said::Forward),
    }
}

/// The text of `workspaceDirs=[…] appDataDir=`, up to the first bracket that white space and the second name follow.
fn workspace(line: &[u8]) -> Option<&[u8]> {
    const OPEN: &[u8] = b"workspaceDirs=[";
    let from = memmem::find(line, OPEN)? + OPEN.len();
    let rest = line.get(from..)?;
    memmem::find_iter(rest, b"appDataDir=").find_map(|at| {
        let before = rest.get(..at)?;
        let list = before.trim_ascii_end();
        (list.len() < before.len()).then_some(())?;
        list.strip_suffix(b"]")
    })
}

/// The id right behind the first `words` that an id follows.
fn id_after(line: &[u8], words: &[u8]) -> Option<Id> {
    memmem::find_iter(line, words).find_map(|at| {
        let id: Id = line.get(at + words.len()..)?.first_chunk().copied()?;
        id.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-').then_some(id)
    })
}

/// A prompt as it is logged, a JSON string as a rule: bounded to what a row can show of it.
fn prompt(text: &[u8]) -> Box<str> {
    let text = json::lenient(text);
    let parsed = serde_json::from_str::<String>(text.trim());
    let text = parsed.as_deref().unwrap_or_else(|_| text.trim_matches('"'));
    let text = safe_text(text, RECORD_TEXT_CAP_CHARS);
    redact_clip(text.trim(), LAST_PROMPT_CAP_CHARS).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;
    use std::path::PathBuf;

    const ID: &str = "c38d2d70-a01e-46f8-9286-60493c4c0e7e";

    fn id() -> Id {
        *ID.as_bytes().first_chunk().unwrap()
    }

    /// AGY-020, AGY-043: one match a line, in the order of the table.
    #[test]
    fn agy_020_one_match_a_line_in_the_order_of_the_table() {
        let of = |line: &str| said(line.as_bytes());
        let workspace = |text: &str| Some(Said::Workspace(Some(text.into())));
        let prompt = |text: &str| Some(Said::Prompt(text.into()));
        assert_eq!(of("x: workspaceDirs=[/a /b] appDataDir=/c"), workspace("/a /b"));
        assert_eq!(of("workspaceDirs=[/a] more] \t appDataDir=/c appDataDir="), workspace("/a] more"));
        assert_eq!(of("workspaceDirs=[ ] appDataDir=/c"), Some(Said::Workspace(None)));
        assert_eq!(of("workspaceDirs=[/a]appDataDir=/c"), None);
        assert_eq!(of("workspaceDirs=[/a appDataDir=/c"), None);
        assert_eq!(of(&format!("s.go:9] Created conversation {ID}")), Some(Said::Conversation(id())));
        assert_eq!(of(&format!("Streaming conversation {ID} (x)")), Some(Said::Conversation(id())));
        assert_eq!(of(&format!("Deleted conversation {ID}")), None);
        assert_eq!(of(&format!("Created conversation {}", &ID[1..])), None);
        assert_eq!(of(&format!("Forwarding user message to conversation {ID} (items=1)")), Some(Said::Forward(id())));
        assert_eq!(of("HandleUserInput called with text: \"show my issues\""), prompt("show my issues"));
        assert_eq!(
            of(r#"HandleUserInput called with text: "a \"quoted\" word\n2nd line""#),
            prompt("a \"quoted\" word 2nd line"),
            "AGY-043"
        );
        assert_eq!(of("HandleUserInput called with text: \"unterminated"), prompt("unterminated"), "AGY-043");
        assert_eq!(
            of(&format!("HandleUserInput called with text: \"Created conversation {ID}\"")),
            prompt(&format!("Created conversation {ID}")),
            "a prompt that quotes a log line is a prompt"
        );
        assert_eq!(of("nothing of note"), None);
    }

    /// AGY-023: redacted before it is cut.
    #[test]
    fn agy_023_a_key_in_a_prompt_is_redacted_before_it_is_cut() {
        let key = format!("sk-ant-api03-{}", "k".repeat(90));
        let Some(Said::Prompt(text)) =
            said(format!("HandleUserInput called with text: \"{}{key}\"", "x ".repeat(65)).as_bytes())
        else {
            panic!("a prompt")
        };
        assert!(text.ends_with("sk-ant-…REDACTED"), "{text}");
    }

    fn file(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("cargento-agy-log-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    fn stamp(path: &Path) -> Stamp {
        read::look(path).unwrap().stamp
    }

    /// AGY-019, AGY-042: head and tail, not the middle.
    #[test]
    fn agy_019_agy_042_head_and_tail_are_read_and_the_middle_is_not() {
        let path = file("long");
        let mut text = format!("workspaceDirs=[/w/acme/maps] appDataDir=/x\nCreated conversation {ID}\n");
        text.push_str(&format!("{}\n", "x".repeat(99)).repeat(900));
        text.push_str("HandleUserInput called with text: \"in the middle\"\n");
        text.push_str(&format!("{}\n", "x".repeat(99)).repeat(4100));
        text.push_str("HandleUserInput called with text: \"at the end\"\n");
        text.push_str(&format!("Forwarding user message to conversation {ID} (items=1)\n"));
        std::fs::write(&path, &text).unwrap();
        let mut log = Log::default();
        assert!(log.read(&path, stamp(&path)).unwrap());
        assert!(!log.read(&path, stamp(&path)).unwrap(), "an unchanged log is not opened");
        let id = id();
        let context = Some("/w/acme/maps");
        assert_eq!(
            log.events(),
            [
                Event { conversation: &id, context, prompt: None },
                Event { conversation: &id, context, prompt: Some("at the end") }
            ]
        );
        assert_eq!(log.marks.0.len(), 4);
        let head = Head::read(&path).unwrap();
        assert_eq!(head.events(), [Event { conversation: &id, context, prompt: None }]);
        std::fs::remove_file(path).unwrap();
    }

    fn any_line() -> impl Strategy<Value = String> {
        prop_oneof![
            Just(format!("Created conversation {ID}")),
            Just(format!("Forwarding user message to conversation {ID} (items=1)")),
            "[a-c]{1,3}".prop_map(|p| format!("HandleUserInput called with text: \"{p}\"")),
            "[a-c]{1,3}".prop_map(|w| format!("workspaceDirs=[/w/{w}] appDataDir=/x")),
            (0usize..150_000).prop_map(|n| "x".repeat(n)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn a_log_read_as_it_grows_says_what_a_fresh_read_says(
            lines in proptest::collection::vec(any_line(), 0..14), cuts in proptest::collection::vec(0.0..1.0f64, 0..5)
        ) {
            let path = file("grow");
            let text = lines.join("\r\n") + "\n";
            let mut ends: Vec<usize> = cuts.iter().map(|cut| (cut * text.len() as f64) as usize).collect();
            ends.sort_unstable();
            ends.push(text.len());
            let mut grown = Log::default();
            let mut out = std::fs::File::create(&path).unwrap();
            let mut from = 0;
            for end in ends {
                out.write_all(&text.as_bytes()[from..end]).unwrap();
                from = end;
                grown.read(&path, stamp(&path)).unwrap();
                let mut fresh = Log::default();
                fresh.read(&path, stamp(&path)).unwrap();
                prop_assert_eq!(&grown.marks.0, &fresh.marks.0);
            }
            std::fs::remove_file(path).unwrap();
        }

        #[test]
        fn any_line_ends_without_a_fault(line in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = said(&line);
            let _ = said(&[b"workspaceDirs=[", line.as_slice(), b"appDataDir="].concat());
            let _ = said(&[b"HandleUserInput called with text: ", line.as_slice()].concat());
        }
    }
}
