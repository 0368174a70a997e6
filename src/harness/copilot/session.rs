//! The events of one session, folded as they come (COP-007, COP-013).

use super::event::{self, Said};
use super::permission::Pending;
use crate::harness::follow::Records;
use crate::harness::head::Head;
use crate::harness::line::Field;
use crate::harness::seek::Before;
use crate::harness::story::{Moment, Prompt, Story};
use crate::model::Subagent;
use crate::text::extract::Text;
use std::sync::Arc;

/// Most subagents kept as running; the oldest go first.
const RUNNING_KEPT: usize = 256;
/// Longest working directory kept, bytes.
const CWD_BYTES: usize = 4096;

/// What the first line says: where the session works.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    pub cwd: Option<String>,
    /// The CLI is newer than any whose events were seen.
    pub is_unseen: bool,
}

/// A session as far as its events were read.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    story: Story,
    cwd: Option<String>,
    pending: Pending,
    running: Vec<Running>,
    /// The newest message of the operator, not looked into yet: only the last one of many is ever shown.
    message: Option<Vec<u8>>,
    is_unseen: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Running {
    key: String,
    name: String,
    model: Option<String>,
}

impl Session {
    /// Turns, newest stamp, newest prompt and last tool.
    pub fn story(&self) -> &Story {
        &self.story
    }

    /// Working directory, as last recorded.
    pub fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// Whether a CLI wrote here that is newer than any whose events were seen.
    pub fn is_unseen(&self) -> bool {
        self.is_unseen
    }

    /// Requests that wait for an answer.
    pub fn pending(&self) -> &Pending {
        &self.pending
    }

    /// Subagents that started and did not end, oldest first.
    pub fn subagents(&self) -> Vec<Subagent> {
        let subagent = |running: &Running| Subagent {
            name: running.name.clone(),
            model: running.model.clone(),
            started_at: None,
            active: None,
            parent: None,
        };
        self.running.iter().map(subagent).collect()
    }

    fn take(&mut self, at: Option<f64>, said: Said<'_>, now: f64) {
        self.story.take(&moment(at, &said), now);
        match said {
            Said::Start { cwd, is_unseen } => {
                self.is_unseen |= is_unseen;
                if let Some(cwd) = cwd.filter(|cwd| cwd.len() <= CWD_BYTES) {
                    self.cwd = Some(cwd);
                }
            }
            Said::Prompt(data) => {
                self.pending.clear();
                self.message(data, now);
            }
            Said::Asked { id, kind } => self.pending.ask(id, at, kind),
            Said::Answered { id } => self.pending.answer(&id),
            Said::SubagentStarted { key, name, model } => self.started(Running { key, name, model }),
            Said::SubagentOver { key } => self.over(&key),
            Said::Tool(_) | Said::End | Said::Other => {}
        }
    }

    fn message(&mut self, data: &str, now: f64) {
        // One that may turn out to say nothing must not take the place of an earlier one.
        if !has_text(data) {
            self.settle(now);
        }
        let held = self.message.get_or_insert_default();
        held.clear();
        held.extend_from_slice(data.as_bytes());
    }

    fn started(&mut self, running: Running) {
        if let Some(known) = self.running.iter_mut().find(|known| known.key == running.key) {
            *known = running;
            return;
        }
        if self.running.len() >= RUNNING_KEPT {
            self.running.remove(0);
        }
        self.running.push(running);
    }

    /// An end that names nobody known ends the oldest.
    fn over(&mut self, key: &str) {
        let at = self.running.iter().position(|known| known.key == key).unwrap_or(0);
        if at < self.running.len() {
            self.running.remove(at);
        }
    }
}

/// Whether a message certainly has text, told without building it.
fn has_text(data: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Message<'a> {
        // What is marked as something else than plain words has to be looked into.
        #[serde(borrow, default, rename = "type")]
        kind: Field<'a>,
        #[serde(borrow, default)]
        content: Field<'a>,
    }
    // As the CLI writes it, told without reading the words.
    if data.strip_prefix("{\"content\":\"").is_some_and(|words| !words.starts_with('"'))
        && memchr::memmem::find(data.as_bytes(), b"\"type\"").is_none()
    {
        return true;
    }
    let Ok(message) = serde_json::from_str::<Message>(data) else { return false };
    // `text`, which would come first, can only make more of it.
    let words = message.content.is_some_and(|content| content.get().starts_with('"') && content.get().len() > 2);
    words && message.kind.is_none()
}

/// The prompt of a message's data (COP-009, COP-044); `None` when it says nothing.
fn prompt(data: &str) -> Option<Arc<Prompt>> {
    let Text(text) = serde_json::from_str(data).ok()?;
    (!text.is_empty()).then(|| Arc::new(Prompt::new(&text)))
}

fn moment(at: Option<f64>, said: &Said<'_>) -> Moment {
    let tool = match said {
        Said::Tool(tool) => tool.as_deref().map(Arc::from),
        _ => None,
    };
    let (opens, ends) = (matches!(said, Said::Prompt(_)), *said == Said::End);
    Moment { at, opens, ends, tool, ..Moment::default() }
}

impl Records for Session {
    type Header = Header;

    fn header(line: &[u8]) -> Head<Header> {
        let header = |_, said: Said<'_>| match said {
            Said::Start { cwd, is_unseen } => Header { cwd: cwd.filter(|cwd| cwd.len() <= CWD_BYTES), is_unseen },
            // Any other event may stand first: it only tells no directory.
            _ => Header { cwd: None, is_unseen: false },
        };
        event::read(line, header).map_or(Head::Unfinished, |header| Head::Parsed(Some(header)))
    }

    fn begin(from_start: bool) -> Self {
        let (pending, running) = (Pending::default(), Vec::new());
        Session { story: Story::new(from_start), cwd: None, pending, running, message: None, is_unseen: false }
    }

    fn resume(&mut self, before: Before) {
        self.story.resume(before);
    }

    fn moments(line: &[u8], out: &mut Vec<Moment>) {
        out.extend(event::read(line, |at, said| {
            let mut moment = moment(at, &said);
            if let Said::Prompt(data) = said {
                moment.prompt = prompt(data);
            }
            moment
        }));
    }

    fn line(&mut self, line: &[u8], now: f64) -> bool {
        event::read(line, |at, said| self.take(at, said, now)).is_some()
    }

    fn settle(&mut self, now: f64) {
        let Some(message) = self.message.take() else { return };
        if let Some(prompt) = std::str::from_utf8(&message).ok().and_then(prompt) {
            self.story.take(&Moment { prompt: Some(prompt), ..Moment::default() }, now);
        }
    }
}
