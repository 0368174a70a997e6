//! What Claude's own hooks told us by `POST /api/notify`: standing waits, in memory only (section 7).
//!
//! Shared by the route, which tells of notifications, and the reader, which judges whether they still stand. Nothing of
//! a payload is written to disk, and the one path a payload may name is opened only inside the projects store.

use super::bounded::Bounded;
use super::gates::Gates;
use super::store::{self, Place};
use super::transcript::last_user_event;
use crate::surface::read::{self, Kind, Stamp};
use crate::text::safe_text;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Longest message kept, characters.
const MESSAGE_CHARS: usize = 500;
/// What a notification without words says.
const DEFAULT_MESSAGE: &str = "Claude is waiting for your input";
/// How an untyped message that only nudges begins, lower case.
const NUDGE: &str = "claude is waiting for your input";
/// Most names read from one directory.
const DIR_CAP: usize = 200_000;

/// What a notification's type asks for (CLAUDE-102, CLAUDE-103).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Disposition {
    waits: bool,
    popup: bool,
    clears: bool,
    /// A known type that stands even over a running child (CLAUDE-091).
    recognised: bool,
}

impl Disposition {
    fn of(kind: &str, message: &str) -> Disposition {
        let (waits, popup, clears, recognised) = match kind {
            "idle_prompt" | "idle_timeout" => (false, true, true, false),
            "agent_completed" | "elicitation_complete" | "elicitation_response" => (false, false, true, false),
            "auth_success" | "computer_use_enter" | "computer_use_exit" | "push_notification" => {
                (false, false, false, false)
            }
            "agent_needs_input" | "elicitation_dialog" | "permission_prompt" | "worker_permission_prompt" => {
                (true, true, false, true)
            }
            "" if message.trim().to_lowercase().starts_with(NUDGE) => (false, true, true, false),
            _ => (true, true, false, false),
        };
        Disposition { waits, popup, clears, recognised }
    }
}

/// A standing wait that a hook reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// When it arrived, seconds since the epoch.
    pub at: f64,
    pub message: String,
    pub recognised: bool,
    /// The newest user record of the transcript when it arrived; the outer `None` when no safe transcript was named.
    pub baseline: Option<Option<Box<str>>>,
}

impl Notification {
    /// Whether the session has gone on since: another user record where there is a baseline, else a record stamped
    /// later than the arrival (CLAUDE-106).
    pub fn is_answered(&self, user_event: Option<&str>, newest_stamp: f64) -> bool {
        match &self.baseline {
            Some(baseline) => baseline.as_deref() != user_event,
            None => newest_stamp > self.at,
        }
    }
}

/// The answer to a notification, byte for byte (HTTP-071).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotifyReply {
    Ok,
    SessionEnd,
    Subagent,
    /// The session is dismissed: no popup.
    Cleared,
    Superseded,
}

impl NotifyReply {
    pub const fn as_json(self) -> &'static str {
        match self {
            NotifyReply::Ok => r#"{"ok":true}"#,
            NotifyReply::SessionEnd => r#"{"ok":true,"cleared":"session_end"}"#,
            NotifyReply::Subagent => r#"{"ok":true,"suppressed":"subagent"}"#,
            NotifyReply::Cleared => r#"{"ok":true,"suppressed":"cleared"}"#,
            NotifyReply::Superseded => r#"{"ok":true,"superseded":true}"#,
        }
    }
}

/// A popup that a notification asks for; raising it is the notification lane's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Popup {
    /// Session key; empty when the payload named no session.
    pub key: String,
    pub message: String,
}

/// What a notification led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notified {
    pub reply: NotifyReply,
    pub popup: Option<Popup>,
}

impl Notified {
    fn only(reply: NotifyReply) -> Notified {
        Notified { reply, popup: None }
    }
}

/// The side state of Claude's hooks. Internally locked; no lock is held while a file is read.
pub struct Hooks {
    projects: PathBuf,
    state: Mutex<State>,
    /// Cooldowns of popups, shared with the popups that collections raise (NOTE-020).
    pub gates: Gates,
}

#[derive(Default)]
struct State {
    standing: Bounded<Notification>,
    /// Of each session, the value of `ends` when it last ended.
    generations: Bounded<u64>,
    /// Session ends heard of so far.
    ends: u64,
}

impl Hooks {
    /// Side state that knows nothing yet, for the store whose `projects` folder this is.
    pub fn new(projects: PathBuf) -> Hooks {
        Hooks { projects, state: Mutex::default(), gates: Gates::default() }
    }

    /// Takes a hook's payload (CLAUDE-100..109). `dismissed` tells whether the session with this key is dismissed and
    /// its transcript's modification time has not passed the mark (0 when there is no transcript).
    pub fn notify(
        &self,
        payload: &Map<String, Value>,
        now: f64,
        dismissed: impl FnOnce(&str, f64) -> bool,
    ) -> Notified {
        let text = |name: &str| payload.get(name).and_then(Value::as_str).unwrap_or_default();
        let key = store::key_of(text("session_id"));
        if text("hook_event_name").eq_ignore_ascii_case("sessionend") {
            self.session_ended(key);
            return Notified::only(NotifyReply::SessionEnd);
        }
        let before = self.generation(key);
        let newest = self.newest_transcript(key);
        if newest.as_ref().is_some_and(|(path, _)| is_subagent(path, key)) {
            return Notified::only(NotifyReply::Subagent);
        }
        let kind = text("notification_type").trim().to_lowercase();
        let message = Some(text("message")).filter(|m| !m.is_empty()).unwrap_or(DEFAULT_MESSAGE);
        let disposition = Disposition::of(&kind, message);
        let message = safe_text(message, MESSAGE_CHARS).into_owned();
        let baseline = self.safe_transcript(text("transcript_path"), key).map(|path| last_user_event(&path));
        let notification =
            Notification { at: now, message: message.clone(), recognised: disposition.recognised, baseline };
        if !self.store(key, before, disposition, notification) {
            return Notified::only(NotifyReply::Superseded);
        }
        if !key.is_empty() && dismissed(key, newest.map_or(0.0, |(_, stamp)| stamp.mtime())) {
            return Notified::only(NotifyReply::Cleared);
        }
        let popup = disposition.popup.then(|| Popup { key: key.to_owned(), message });
        Notified { reply: NotifyReply::Ok, popup }
    }

    /// A number that grows whenever this session ends (CLAUDE-092): compared before and after an analysis.
    pub fn generation(&self, key: &str) -> u64 {
        self.lock().generations.get(key).copied().unwrap_or(0)
    }

    /// How many session ends were heard of; a session whose generation is beyond it has ended since.
    pub fn ends(&self) -> u64 {
        self.lock().ends
    }

    /// Ends what stands for a session. Called for hooks here and for the event lane's session end.
    pub fn session_ended(&self, key: &str) {
        if key.is_empty() {
            return;
        }
        let mut state = self.lock();
        state.standing.remove(key);
        state.ends += 1;
        let ends = state.ends;
        state.generations.insert(key, ends);
        drop(state);
        self.gates.forget_state(key);
    }

    /// The standing notification of a session.
    pub fn standing(&self, key: &str) -> Option<Notification> {
        self.lock().standing.get(key).cloned()
    }

    /// Drops a notification that is answered, unless a newer one took its place.
    pub fn answered(&self, key: &str, notification: &Notification) {
        let mut state = self.lock();
        if state.standing.get(key) == Some(notification) {
            state.standing.remove(key);
        }
    }

    /// Stores or clears; false when the session ended since `before`.
    fn store(&self, key: &str, before: u64, disposition: Disposition, notification: Notification) -> bool {
        let mut state = self.lock();
        if state.generations.get(key).copied().unwrap_or(0) != before {
            return false;
        }
        if disposition.clears {
            state.standing.remove(key);
            drop(state);
            self.gates.forget_state(key);
        } else if disposition.waits && !key.is_empty() {
            state.standing.insert(key, notification);
        }
        true
    }

    #[cfg(test)]
    pub fn store_for_test(&self, key: &str, before: u64) -> bool {
        let notification = Notification { at: 0.0, message: String::new(), recognised: true, baseline: None };
        self.store(key, before, Disposition::of("permission_prompt", ""), notification)
    }

    /// The newest transcript below the projects store whose name starts with the key.
    fn newest_transcript(&self, key: &str) -> Option<(PathBuf, Stamp)> {
        if key.is_empty() {
            return None;
        }
        let mut newest: Option<(PathBuf, Stamp)> = None;
        let (folders, _) = read::names(&self.projects, DIR_CAP).ok()?;
        for folder in folders.iter().filter(|f| !matches!(f.kind, Some(Kind::File | Kind::Link | Kind::Special))) {
            let folder = self.projects.join(&folder.name);
            let Ok((names, _)) = read::names(&folder, DIR_CAP) else { continue };
            for name in names.iter().map(|n| &n.name) {
                let name = name.to_string_lossy();
                if store::key_of(&name) != key || !store::is_top_level(&name) {
                    continue;
                }
                let path = folder.join(&*name);
                let Ok(entry) = read::look(&path) else { continue };
                if entry.kind == Kind::File && newest.as_ref().is_none_or(|(_, s)| entry.stamp.mtime_ns > s.mtime_ns) {
                    newest = Some((path, entry.stamp));
                }
            }
        }
        newest
    }

    /// The transcript a payload names, when it is a file of this session inside the projects store (CLAUDE-105).
    fn safe_transcript(&self, named: &str, key: &str) -> Option<PathBuf> {
        let named = Path::new(named);
        if key.is_empty() || !named.is_absolute() {
            return None;
        }
        let real = read::real(named).ok()?;
        let root = read::real(&self.projects).ok()?;
        let name = real.file_name()?.to_string_lossy();
        let fits = real.starts_with(&root) && name.starts_with(key) && name.ends_with(".jsonl");
        let inside = matches!(store::place(&root, real.parent()?), Place::Project(_) | Place::Agents { .. });
        (fits && inside).then(|| real.clone())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panicked holder leaves at worst a wait that was not stored.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_subagent(path: &Path, key: &str) -> bool {
    let mut head = super::head::Head::default();
    head.refresh(path, key).is_ok() && head.parent.is_some()
}
