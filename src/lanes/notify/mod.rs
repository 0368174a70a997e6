//! Says that somebody is waited for: native popups, what became of each, and the page's own lane (file 42).
//!
//! Raised are rows that just began to wait, notifications of Claude's hooks, questions, and what other lanes ask for.
//! Exactly one layer alerts: with a native service the page stays quiet, without one it alerts by itself and the raise is
//! on record as having no lane. Nothing here waits for a notifier on the scan loop or in a request, and no word of a
//! notification is written anywhere.

mod desk;
mod native;
mod told;

pub use desk::Raise;
pub use native::Backend;
pub use told::Counts;

use crate::board::{Lane, Row, Sampled, Top, Variant};
use crate::harness::claude::{Gate, Hooks, Popup};
use crate::http::BrowserLane;
use crate::keep::deliveries::Deliveries;
use crate::keep::store::Tell;
use crate::lanes::quiet::Quiet;
use crate::model::{Key, State};
use desk::Desk;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use told::{Book, Figures};

/// Shortest time between two popups of questions, seconds.
const ASK_FLOOR_SEC: f64 = 15.0;

/// Whether a row was marked handled.
pub type Handled = Arc<dyn Fn(&Row) -> bool + Send + Sync>;

/// What the lane is made of.
pub struct Setup {
    /// The service; `None` where there is none.
    pub backend: Option<Backend>,
    /// Claude's hook state, whose cooldowns all popups share.
    pub hooks: Arc<Hooks>,
    pub records: Arc<Deliveries>,
    pub quiet: Quiet,
    pub handled: Handled,
    pub tell: Tell,
    /// Called after each record, since the board shows it.
    pub recorded: Arc<dyn Fn() + Send + Sync>,
    /// Asks the scan loop for a collection.
    pub wake: Arc<dyn Fn() + Send + Sync>,
}

/// A question for the reader, as its popup needs it.
pub struct Question<'a> {
    /// The harness that claims to ask.
    pub harness: Option<&'a str>,
    pub session: Option<&'a str>,
    pub text: &'a str,
    pub project: &'a str,
}

/// The notification lane.
pub struct Notify {
    backend: Option<&'static str>,
    hooks: Arc<Hooks>,
    records: Arc<Deliveries>,
    quiet: Quiet,
    handled: Handled,
    tell: Tell,
    desk: Desk,
    /// Session ends heard of before the collection under way.
    ends_before: AtomicU64,
    /// When a question last popped up.
    asked: Mutex<Option<f64>>,
    book: Mutex<Book>,
    browser: OnceLock<Arc<BrowserLane>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panicked holder leaves is at worst one cooldown unstamped or a book to be made anew.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Notify {
    /// The lane, with its thread. Fails when there is no thread to be had.
    pub fn new(setup: Setup) -> std::io::Result<Notify> {
        let name = setup.backend.as_ref().map(Backend::name);
        let desk = Desk::open(desk::Works {
            backend: setup.backend,
            records: Arc::clone(&setup.records),
            tell: setup.tell.clone(),
            recorded: setup.recorded,
            wake: setup.wake,
        })?;
        Ok(Notify {
            backend: name,
            hooks: setup.hooks,
            records: setup.records,
            quiet: setup.quiet,
            handled: setup.handled,
            tell: setup.tell,
            desk,
            ends_before: AtomicU64::new(0),
            asked: Mutex::new(None),
            book: Mutex::default(),
            browser: OnceLock::new(),
        })
    }

    /// Names the pages' own lane; the first call counts.
    pub fn watch_pages(&self, browser: Arc<BrowserLane>) {
        drop(self.browser.set(browser));
    }

    /// Raises what a hook's notification asked for, unless it is too soon or a quiet hour; then it is dropped (NOTE-010,
    /// NOTE-094).
    pub fn hook(&self, popup: Popup, now: f64) {
        // Quiet hours come first: they spend no cooldown, and neither does a raise that nothing can show.
        let quiet = self.quiet.holds(now);
        if quiet || self.backend.is_some() && !self.hooks.gates.admit(&popup, now) {
            return self.suppress();
        }
        self.raise(Key::Claude.as_str(), &popup.key, "hook", waiting_title(Key::Claude), popup.message, now);
    }

    /// Raises a question that was just registered (NOTE-030 to NOTE-032). No quiet hour, no mark and no other popup holds
    /// it back; only another question within 15 s does.
    pub fn question(&self, question: &Question<'_>, now: f64) {
        if self.backend.is_some() {
            let mut asked = lock(&self.asked);
            if asked.is_some_and(|at| (0.0..ASK_FLOOR_SEC).contains(&(now - at))) {
                return self.suppress();
            }
            *asked = Some(now);
        }
        let key = question.harness.and_then(Key::parse);
        let title = format!("{} is asking you", key.map_or("An agent", Key::label));
        let sid = question.session.unwrap_or_default();
        self.raise(key.map_or("", Key::as_str), sid, "ask", title, question_body(question), now);
    }

    /// Raises what another lane found, such as a stage condition or a departure. False, and nothing is raised, in quiet
    /// hours (NOTE-091).
    pub fn alert(&self, subject: (&str, &str), lane: &'static str, title: String, body: String, now: f64) -> bool {
        if self.quiet.holds(now) {
            self.suppress();
            return false;
        }
        self.raise(subject.0, subject.1, lane, title, body, now);
        true
    }

    /// The figures of one lane's raises, or of all, which the board publishes as `deliveries` (NOTE-083).
    pub fn counts(&self, lane: Option<&str>) -> Counts {
        told::counts(&self.records.raises(), lane)
    }

    /// Ends the programs under way; for the end of the run.
    pub fn close(&self) {
        self.desk.close();
    }

    fn suppress(&self) {
        self.tell.counters.bump("notify.suppressed");
    }

    fn raise(&self, harness: &str, sid: &str, lane: &'static str, title: String, body: String, at: f64) {
        self.desk.raise(Raise { harness: harness.to_owned(), sid: sid.to_owned(), lane, title, body, at });
    }

    /// Judges one row of a collection (NOTE-021).
    fn judge(&self, row: &Row, quiet: bool, now: f64) {
        let (sid, waits) = (&row.seen.sid, row.seen.state == State::NeedsInput);
        if (self.handled)(row) || self.hooks.generation(sid) > self.ends_before.load(Ordering::Relaxed) {
            return;
        }
        let gates = &self.hooks.gates;
        if quiet {
            // A wait that begins now stays a new one until the window ends (NOTE-094).
            if waits {
                self.wake_at(self.quiet.next_edge(now), now);
            } else {
                gates.remember(sid, false);
            }
            return;
        }
        if self.backend.is_none() {
            if gates.remember(sid, waits) {
                self.gate(row, gate_body(row), now);
            }
            return;
        }
        let body = if waits { gate_body(row) } else { String::new() };
        match gates.enter(sid, waits, &body, now) {
            Gate::Raise => self.gate(row, body, now),
            Gate::Deferred => self.wake_at(gates.opens_at(), now),
            Gate::Consumed => self.suppress(),
            Gate::Quiet => {}
        }
    }

    fn gate(&self, row: &Row, body: String, now: f64) {
        let key = row.seen.harness;
        self.raise(key.as_str(), &row.seen.sid, "gate", waiting_title(key), body, now);
    }

    /// A popup put off comes also while no page is open and nothing else happens.
    fn wake_at(&self, at: Option<f64>, now: f64) {
        if let Some(at) = at {
            self.desk.wake_after(Duration::from_secs_f64((at - now).clamp(0.05, 86_400.0)));
        }
    }
}

fn waiting_title(key: Key) -> String {
    format!("{} is waiting on you", key.label())
}

fn gate_body(row: &Row) -> String {
    match row.seen.state_detail.as_deref() {
        Some(detail) if !detail.is_empty() => detail.to_owned(),
        _ => format!("Session {} needs your input", row.seen.sid),
    }
}

/// The question, and the project behind it when both fit whole.
fn question_body(question: &Question<'_>) -> String {
    let whole = format!("{} · {}", question.text, question.project);
    let fits = !question.project.is_empty() && whole.chars().take(native::BODY_CHARS + 1).count() <= native::BODY_CHARS;
    if fits { whole } else { question.text.to_owned() }
}

impl Lane for Notify {
    fn name(&self) -> &'static str {
        "notify"
    }

    fn sample(&self, _now: f64) -> Sampled {
        self.ends_before.store(self.hooks.ends(), Ordering::Relaxed);
        self.records.refresh();
        None
    }

    fn decorate(&self, rows: &mut [Row], _variant: Variant) {
        let lane_at = self.browser.get().and_then(|lane| lane.reported_at());
        let lost = self.records.reset().is_some();
        let mut book = lock(&self.book);
        book.take(self.records.raises());
        for row in rows {
            book.tell(row, lane_at, lost);
        }
    }

    fn notice(&self, rows: &[Row], variant: Variant) {
        let quiet = self.quiet.holds(variant.now);
        // An inactive row waits for nobody any more (PAYLOAD-009).
        for row in rows.iter().filter(|row| row.seen.active) {
            self.judge(row, quiet, variant.now);
        }
    }

    fn due(&self, now: f64) -> Option<f64> {
        self.quiet.next_edge(now)
    }

    fn publish(&self, top: &mut Top, _rows: &[Row], variant: Variant) {
        top.native_notify = self.backend.unwrap_or_default().into();
        top.in_quiet_hours = self.quiet.holds(variant.now);
        top.browser_lane_at = self.browser.get().and_then(|lane| lane.reported_at());
        top.browser_lane = top.browser_lane_at.is_some();
        let figures = Figures { all: self.counts(None), departure: self.counts(Some("departure")) };
        top.more.insert("deliveries".into(), serde_json::json!(figures));
        if let Some(why) = self.records.reset() {
            top.more.insert("deliveries_reset".into(), why.into());
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
