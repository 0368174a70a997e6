//! What Claude's own hooks told us by `POST /api/notify`: standing waits, in memory only (section 7).
//!
//! Shared by the route, which tells of notifications, and the reader, which judges whether they still stand. Nothing of
//! a payload is written to disk, and the one path a payload may name is opened only inside the projects store.

use super::store::{self, Place};
use super::transcript::last_user_event;
use crate::config::MAX_CACHE_ENTRIES;
use crate::surface::read::{self, Kind, Stamp};
use crate::text::safe_text;
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Longest message kept, characters.
const MESSAGE_CHARS: usize = 500;
/// What a notification without words says.
const DEFAULT_MESSAGE: &str = "Claude is waiting for your input";
/// How an untyped message that only nudges begins, lower case.
const NUDGE: &str = "claude is waiting for your input";
/// Title of a popup out of a notification (NOTE-010).
pub const POPUP_TITLE: &str = "Claude is waiting on you";
/// Gate of popups without a session.
const ANONYMOUS: &str = "_anonymous";
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
    generations: Bounded<u64>,
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

    /// How often this session has ended so far (CLAUDE-092): compared before and after an analysis.
    pub fn generation(&self, key: &str) -> u64 {
        self.lock().generations.get(key).copied().unwrap_or(0)
    }

    /// Ends what stands for a session. Called for hooks here and for the event lane's session end.
    pub fn session_ended(&self, key: &str) {
        if key.is_empty() {
            return;
        }
        let mut state = self.lock();
        state.standing.remove(key);
        let next = state.generations.get(key).copied().unwrap_or(0).wrapping_add(1);
        state.generations.insert(key, next);
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

/// When popups may be raised: 60 s apart per session, 15 s apart in all, the same words of a session once in 600 s
/// (NOTE-010), and what state a session was in when collections last looked (NOTE-020). One lock over all of it.
#[derive(Default)]
pub struct Gates {
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    raised: Bounded<Raised>,
    newest: Option<f64>,
    waiting: Bounded<bool>,
}

#[derive(Clone, Debug)]
struct Raised {
    at: f64,
    message: String,
}

/// Shortest time between two popups of one session, seconds.
const SESSION_COOLDOWN_SEC: f64 = 60.0;
/// Shortest time between two popups of any session, seconds.
const LANE_COOLDOWN_SEC: f64 = 15.0;
/// Time over which the same words of the same session pop up once, seconds.
const REPEAT_SEC: f64 = 600.0;

/// What becomes of a popup that a collection asks for (NOTE-021).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    Raise,
    /// Not now; asked again at the next collection.
    Deferred,
    /// Nothing new, or consumed by the session's own cooldown.
    Quiet,
}

impl Gates {
    /// Whether a notification's popup may be raised now; when it may, it counts as raised.
    pub fn admit(&self, popup: &Popup, now: f64) -> bool {
        let key = if popup.key.is_empty() { ANONYMOUS } else { &popup.key };
        let mut held = self.lock();
        let last = held.raised.get(key);
        let open = last.is_none_or(|r| {
            let since = now - r.at;
            since >= SESSION_COOLDOWN_SEC && (since >= REPEAT_SEC || r.message != popup.message)
        });
        if !open || !held.lane_is_open(now) {
            return false;
        }
        held.raise(key, &popup.message, now);
        true
    }

    /// Judges a session's state as a collection found it: whether it just began to wait and may pop up now.
    pub fn enter(&self, key: &str, waits: bool, message: &str, now: f64) -> Gate {
        let mut held = self.lock();
        let entering = waits && held.waiting.get(key) != Some(&true);
        let cool = held.raised.get(key).is_none_or(|r| now - r.at >= SESSION_COOLDOWN_SEC);
        if entering && cool && !held.lane_is_open(now) {
            return Gate::Deferred;
        }
        held.waiting.insert(key, waits);
        if !entering || !cool {
            return Gate::Quiet;
        }
        held.raise(key, message, now);
        Gate::Raise
    }

    /// Remembers a session's state without looking at any cooldown, where nothing can be raised (NOTE-023).
    pub fn remember(&self, key: &str, waits: bool) {
        self.lock().waiting.insert(key, waits);
    }

    /// Forgets the state a session was in, so that its next wait is a new one.
    pub fn forget_state(&self, key: &str) {
        self.lock().waiting.remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        // A panicked holder leaves at worst a cooldown unstamped.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn lane_is_open(&self, now: f64) -> bool {
        self.newest.is_none_or(|at| now - at >= LANE_COOLDOWN_SEC)
    }

    fn raise(&mut self, key: &str, message: &str, now: f64) {
        self.raised.insert(key, Raised { at: now, message: message.to_owned() });
        self.newest = Some(now);
    }
}

/// A map of at most 8,192 entries; the oldest inserted goes first.
struct Bounded<T> {
    map: HashMap<String, T>,
    order: VecDeque<String>,
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Bounded { map: HashMap::new(), order: VecDeque::new() }
    }
}

impl<T> Bounded<T> {
    fn get(&self, key: &str) -> Option<&T> {
        self.map.get(key)
    }

    fn insert(&mut self, key: &str, value: T) {
        if self.map.insert(key.to_owned(), value).is_some() {
            return;
        }
        self.order.push_back(key.to_owned());
        if self.order.len() > MAX_CACHE_ENTRIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.map.remove(&oldest);
        }
    }

    fn remove(&mut self, key: &str) {
        if self.map.remove(key).is_some() {
            self.order.retain(|held| held != key);
        }
    }
}
