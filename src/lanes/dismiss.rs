//! Rows marked handled: left out of every list and count until their session is written to again (DIS-010 to DIS-024).
//!
//! Off with `--no-dismiss`: then neither this lane nor its routes are there and the file is not opened. It takes no time
//! from a request and serves none of the marks' activity stamps.

use crate::board::{Lane, Row, Sampled, Top, Variant};
use crate::http::app::{Call, Handler, Hook};
use crate::http::reply::Reply;
use crate::keep::dismissals::{Dismissals, Marks, holds, mark_key};
use crate::model::time::Clock;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// The lane: one set of marks a collection.
pub struct Handled {
    store: Arc<Dismissals>,
    /// The marks this collection works with; `None` before the first.
    current: Mutex<Option<Arc<Marks>>>,
}

impl Handled {
    /// The lane over a store.
    pub fn new(store: Arc<Dismissals>) -> Self {
        Self { store, current: Mutex::new(None) }
    }

    /// Whether the collection under way leaves this row out, read on demand before the first one (DIS-009, DIS-012).
    pub fn leaves_out(&self, row: &Row) -> bool {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let marks = current.unwrap_or_else(|| self.store.marks());
        holds(&marks, row.seen.harness.as_str(), &row.seen.sid, row.seen.last_activity)
    }

    /// Whether a session is marked and its transcript was not written since: for a hook, which comes between
    /// collections. `mtime` is seconds since the epoch.
    pub fn is_handled(&self, harness: &str, sid: &str, mtime: f64) -> bool {
        holds(&self.store.marks(), harness, sid, mtime)
    }
}

impl Lane for Handled {
    fn name(&self) -> &'static str {
        "dismiss"
    }

    fn sample(&self, _now: f64) -> Sampled {
        self.store.refresh();
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.store.marks());
        None
    }

    fn subtracts(&self, row: &Row) -> bool {
        self.leaves_out(row)
    }

    fn publish(&self, top: &mut Top, _rows: &[Row], _variant: Variant) {
        top.more.insert("dismiss".into(), true.into());
    }
}

/// Answers `POST /api/dismiss`: marks, or restores when `clear` is exactly `false`.
pub fn dismiss(store: Arc<Dismissals>, clock: Clock, changed: Hook) -> Handler {
    Arc::new(move |call: &Call| {
        let text = |name: &str| call.object.get(name).and_then(Value::as_str).unwrap_or_default();
        let persisted = mark_key(text("harness"), text("sid")).is_some_and(|key| {
            let saved = match call.object.get("clear") {
                Some(Value::Bool(false)) => store.restore(key),
                _ => store.mark(key, clock()),
            };
            changed();
            saved.persisted()
        });
        Reply::json(200, &json!({"ok": true, "persisted": persisted, "cleared": store.marks().len()}))
    })
}

/// Answers `GET /api/cleared`: every mark, lapsed ones included, newest first.
pub fn cleared(store: Arc<Dismissals>) -> Handler {
    Arc::new(move |_: &Call| {
        let list: Vec<Value> = store
            .list()
            .into_iter()
            .map(|((harness, sid), mark)| json!({"harness": harness, "sid": sid, "at": mark.at}))
            .collect();
        Reply::json(200, &json!({"cleared": list}))
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::keep::testing::{Bench, quiet};
    use crate::model::{Key, Observed};

    #[test]
    fn dis_009_payload_011_one_set_a_collection() {
        let bench = Bench::new();
        let store = Arc::new(Dismissals::new(bench.place().clone(), quiet()));
        let lane = Handled::new(store.clone());
        let row = |at: f64| {
            let mut seen = Observed::new(Key::Claude, "a");
            seen.last_activity = at;
            Row::new(seen)
        };
        store.mark(mark_key("claude", "a").unwrap(), 10.0);
        assert!(lane.leaves_out(&row(10.0)), "before the first collection it is read on demand");
        lane.sample(0.0);
        store.restore(mark_key("claude", "a").unwrap());
        assert!(lane.subtracts(&row(10.0)) && !lane.is_handled("claude", "a", 9.0));
        assert!(!lane.subtracts(&row(10.5)), "any later write brings it back");
        lane.sample(0.0);
        assert!(!lane.subtracts(&row(10.0)));
    }
}
