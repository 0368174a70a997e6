//! `POST /api/events/<harness>` (EVT section 2): route, capability and budget are judged before the body is looked at;
//! after that the answer is always 200, so that no hook learns to retry.

use super::{Overlays, SOURCES, Tokens};
use crate::counters::Counters;
use crate::http::app::Call;
use crate::http::reply::Reply;
use crate::live::keeper::{Wake, Waker};
use crate::model::Key;
use crate::model::time::Clock;
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

const BURST: f64 = 40.0;
const PER_SEC: f64 = 20.0;

/// The door for events.
pub struct Ingress {
    pub overlays: Arc<Overlays>,
    pub tokens: Arc<Tokens>,
    pub counters: Arc<Counters>,
    pub clock: Clock,
    pub waker: Waker,
    buckets: Mutex<HashMap<Key, (f64, f64)>>,
}

impl Ingress {
    /// A door with full budgets.
    pub fn new(
        overlays: Arc<Overlays>,
        tokens: Arc<Tokens>,
        counters: Arc<Counters>,
        clock: Clock,
        waker: Waker,
    ) -> Ingress {
        Ingress { overlays, tokens, counters, clock, waker, buckets: Mutex::default() }
    }

    /// Refuses before the body: 404, 403, 429, in this order (EVT-002).
    pub fn before_body(&self, call: &Call<'_>) -> Option<Reply> {
        let Some(key) = source(call.tail) else {
            self.counters.bump("http.path");
            return Some(Reply::error(404));
        };
        if !self.tokens.admits(key, call.capability()) {
            self.counters.bump("cap.event");
            return Some(Reply::error(403));
        }
        if !self.spend(key, (self.clock)()) {
            self.counters.bump("reject.rate");
            return Some(Reply::error(429));
        }
        None
    }

    /// Records one event.
    pub fn answer(&self, call: &Call<'_>) -> Reply {
        let Some(key) = source(call.tail) else { return Reply::error(404) };
        let (outcome, asked) = self.overlays.submit(key, &call.object, (self.clock)());
        if outcome == super::Outcome::Accepted {
            self.waker.wake(if asked.reconcile { Wake::Reconcile } else { Wake::Changed });
        }
        Reply::json(200, &json!({"ok": true, "outcome": outcome.as_str()}))
    }

    /// The listing of `GET /api/overlays`.
    pub fn listing(&self) -> Reply {
        Reply::json(200, &self.overlays.listing((self.clock)()))
    }

    /// Takes one from a harness's bucket; a clock set back refills nothing and pins nothing (EVT-161).
    fn spend(&self, key: Key, now: f64) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, at) = buckets.entry(key).or_insert((BURST, now));
        *left = (*left + (now - *at).max(0.0) * PER_SEC).min(BURST);
        *at = now;
        if *left < 1.0 {
            return false;
        }
        *left -= 1.0;
        true
    }
}

fn source(tail: &str) -> Option<Key> {
    Key::parse(tail).filter(|key| SOURCES.contains(key))
}
