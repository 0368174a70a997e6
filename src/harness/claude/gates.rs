//! Cooldowns of popups: of those a notification asks for, and of those a collection asks for when a row begins to wait.
//!
//! Both share one set of stamps, so that one gate in a harness pops up once (NOTE-020). Raising is not done here.

use super::bounded::Bounded;
use super::hooks::Popup;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Gate of popups without a session.
const ANONYMOUS: &str = "_anonymous";
/// Shortest time between two popups of one session, seconds.
const SESSION_COOLDOWN_SEC: f64 = 60.0;
/// Shortest time between two popups of any session, seconds.
const LANE_COOLDOWN_SEC: f64 = 15.0;
/// Time over which the same words of the same session pop up once, seconds.
const REPEAT_SEC: f64 = 600.0;

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
