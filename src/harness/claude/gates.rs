//! Cooldowns of popups: of those a notification asks for, and of those a collection asks for when a row begins to wait.
//!
//! Both share one set of stamps, so that one gate in a harness pops up once (NOTE-020). Raising is not done here.

use super::bounded::Bounded;
use super::hooks::Popup;
use crate::config::{GLOBAL_POPUP_COOLDOWN_SEC, POPUP_COOLDOWN_SEC, POPUP_REPEAT_SUPPRESS_SEC};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Gate of popups without a session.
const ANONYMOUS: &str = "_anonymous";

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
    /// Consumed by the session's own cooldown.
    Consumed,
    /// Nothing new.
    Quiet,
}

impl Gates {
    /// Whether a notification's popup may be raised now; when it may, it counts as raised.
    pub fn admit(&self, popup: &Popup, now: f64) -> bool {
        let key = if popup.key.is_empty() { ANONYMOUS } else { &popup.key };
        let mut held = self.lock();
        let last = held.raised.get(key);
        let open = last.is_none_or(|r| {
            let repeats = r.message == popup.message;
            passed(r.at, if repeats { POPUP_REPEAT_SUPPRESS_SEC } else { POPUP_COOLDOWN_SEC }, now)
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
        let cool = held.raised.get(key).is_none_or(|r| passed(r.at, POPUP_COOLDOWN_SEC, now));
        let entering = waits && held.waiting.get(key) != Some(&true);
        if entering && cool && !held.lane_is_open(now) {
            return Gate::Deferred;
        }
        held.remember(key, waits);
        match (entering, cool) {
            (false, _) => Gate::Quiet,
            (true, false) => Gate::Consumed,
            (true, true) => {
                held.raise(key, message, now);
                Gate::Raise
            }
        }
    }

    /// Remembers a session's state without looking at any cooldown, where nothing can be raised (NOTE-023); whether it
    /// just began to wait.
    pub fn remember(&self, key: &str, waits: bool) -> bool {
        self.lock().remember(key, waits)
    }

    /// When the floor over all sessions opens again, seconds since the epoch; none before the first popup.
    pub fn opens_at(&self) -> Option<f64> {
        self.lock().newest.map(|at| at + GLOBAL_POPUP_COOLDOWN_SEC)
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
    /// A session never seen to wait takes no room.
    fn remember(&mut self, key: &str, waits: bool) -> bool {
        let before = self.waiting.get(key).copied();
        if waits != before.unwrap_or(false) {
            self.waiting.insert(key, waits);
        }
        waits && before != Some(true)
    }

    fn lane_is_open(&self, now: f64) -> bool {
        self.newest.is_none_or(|at| passed(at, GLOBAL_POPUP_COOLDOWN_SEC, now))
    }

    fn raise(&mut self, key: &str, message: &str, now: f64) {
        self.raised.insert(key, Raised { at: now, message: message.to_owned() });
        self.newest = Some(now);
    }
}

/// Whether a time span has passed; a clock set back ends every span rather than stretching it.
fn passed(since: f64, span: f64, now: f64) -> bool {
    !(0.0..span).contains(&(now - since))
}
