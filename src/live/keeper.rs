//! The scan loop: the one thread that reads stores, when somebody asks and, while a page is open, when something
//! changed.
//!
//! Nothing is read for nobody (EVT-108): without a stream, an event or a request the loop sleeps. While a page is open
//! a change noticed by the kernel is on the board within milliseconds, and the faster a collection is the sooner the
//! next may follow, so that a busy home costs a tenth of a core at most.

use super::publish::Publisher;
use super::scan::Scanner;
use crate::board::{Lane, Sampled, Variant, assemble};
use crate::model::State;
use crate::model::time::Clock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a first change waits for its neighbours.
const SETTLE: Duration = Duration::from_millis(8);
/// Unasked collections may use one part in this many of the time.
const SHARE: u32 = 10;
/// What may be saved up of it, so that a change after some quiet is collected at once even if the one before was dear.
const SAVINGS: Duration = Duration::from_millis(60);
/// Time between two unasked collections, at least and at most.
const REST_MIN: Duration = Duration::from_millis(40);
const REST_MAX: Duration = Duration::from_secs(2);
/// While a page is open, how often a look decides whether time alone changed anything.
const TICK: Duration = Duration::from_secs(5);
/// Sessions that stop being believed to work are noticed together, at most this much late, seconds.
const TOGETHER: f64 = 2.0;
/// While a page is open, a collection is made at least this often.
const RECONCILE: Duration = Duration::from_secs(30);

/// What wakes the loop.
pub enum Wake {
    /// A reader wants a variant now.
    Collect {
        all: bool,
        reply: SyncSender<Result<Vec<u8>, String>>,
    },
    /// The kernel noticed a change in a store.
    Dirty,
    /// Something the board shows was changed by an event or a reader: collect soon, also with no page open.
    Changed,
    /// As [`Wake::Changed`], and everything must be looked at again.
    Reconcile,
    /// The set of open pages changed.
    Watchers,
    Stop,
}

/// Tells the loop things; cheap to clone and to call from anywhere.
#[derive(Clone)]
pub struct Waker(Sender<Wake>);

impl Waker {
    /// A message to a loop that has ended is no error: there is nothing left to keep current.
    pub fn wake(&self, wake: Wake) {
        drop(self.0.send(wake));
    }

    /// One collection by the loop, waited for.
    pub fn collect(&self, all: bool) -> Result<Vec<u8>, String> {
        let (reply, answer) = sync_channel(1);
        self.wake(Wake::Collect { all, reply });
        answer.recv().unwrap_or_else(|_| Err("the scan loop has ended".into()))
    }
}

/// The receiving end, to be handed to [`Keeper::start`].
pub struct Wakes(Receiver<Wake>);

/// The two ends of the loop's channel.
pub fn channel_to_loop() -> (Waker, Wakes) {
    let (tx, rx) = channel();
    (Waker(tx), Wakes(rx))
}

/// What the loop works with.
pub struct Works {
    pub scanner: Scanner,
    pub lanes: Vec<Arc<dyn Lane>>,
    pub publisher: Arc<Publisher>,
    pub clock: Clock,
    pub window_hours: f64,
    /// While a page is open, collect at every tick whether or not anything changed: the producer of a run without
    /// events (LIFE-006).
    pub every_tick: bool,
    /// Told of every failure at a boundary, as the counter's member name.
    pub fault: Arc<dyn Fn(&'static str) + Send + Sync>,
    /// Told why an unasked collection was made: `event` or `tick`, or that one was skipped.
    pub count: Arc<dyn Fn(&'static str) + Send + Sync>,
    /// Prints one diagnostic line.
    pub say: Arc<dyn Fn(&str) + Send + Sync>,
}

/// The running loop.
pub struct Keeper {
    waker: Waker,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Keeper {
    /// Starts the loop's thread.
    pub fn start(works: Works, waker: Waker, wakes: Wakes) -> std::io::Result<Keeper> {
        let thread = std::thread::Builder::new()
            .name("scan".into())
            .stack_size(super::scan::STACK)
            .spawn(move || Loop::new(works).run(&wakes.0))?;
        Ok(Keeper { waker, thread: Mutex::new(Some(thread)) })
    }

    /// Ends the loop, waiting at most `limit` for a collection under way.
    pub fn stop(&self, limit: Duration) {
        self.waker.wake(Wake::Stop);
        let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let until = Instant::now() + limit;
        while !thread.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        if thread.is_finished() {
            drop(thread.join());
        }
    }
}

struct Loop {
    works: Works,
    /// When the first change not yet collected was noticed.
    dirty_since: Option<Instant>,
    /// A change that is collected also with no page open.
    owed: bool,
    budget: Budget,
    /// When to look whether time alone changed anything.
    tick_at: Instant,
    /// When time alone changes the board next, by the collection's clock.
    due_by_clock: Option<f64>,
}

impl Loop {
    fn new(works: Works) -> Loop {
        Loop {
            works,
            dirty_since: None,
            owed: false,
            budget: Budget::default(),
            tick_at: Instant::now(),
            due_by_clock: None,
        }
    }

    fn run(mut self, wakes: &Receiver<Wake>) {
        loop {
            let wake = match self.sleep() {
                None => wakes.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(time) => wakes.recv_timeout(time),
            };
            match wake {
                Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Wake::Collect { all, reply }) => {
                    let body = self.collect(all);
                    // A requester that has gone away needs no answer.
                    drop(reply.send(body));
                }
                Ok(Wake::Dirty) => {
                    self.dirty_since.get_or_insert_with(Instant::now);
                }
                Ok(Wake::Changed) => {
                    self.owed = true;
                    self.dirty_since.get_or_insert_with(Instant::now);
                }
                Ok(Wake::Reconcile) => {
                    self.works.scanner.doubt();
                    self.owed = true;
                    self.dirty_since.get_or_insert_with(Instant::now);
                }
                Ok(Wake::Watchers) => {}
                Err(RecvTimeoutError::Timeout) => self.unasked(),
            }
        }
    }

    fn watched(&self) -> bool {
        self.works.publisher.watchers() > 0
    }

    /// How long until something is due unasked; none = until woken.
    fn sleep(&self) -> Option<Duration> {
        let watched = self.watched();
        if !watched && !self.owed {
            return None;
        }
        let due = match self.change_due() {
            Some(change) if watched => change.min(self.tick_at),
            Some(change) => change,
            None => self.tick_at,
        };
        Some(due.saturating_duration_since(Instant::now()))
    }

    /// When the change that was noticed is collected; none without one.
    fn change_due(&self) -> Option<Instant> {
        let settled = self.dirty_since? + SETTLE;
        Some(self.budget.ready().map_or(settled, |ready| ready.max(settled)))
    }

    /// A timer ran out: collects when there is a reason to.
    fn unasked(&mut self) {
        let now = Instant::now();
        let changed = self.change_due().is_some_and(|due| now >= due);
        if !changed && !self.ticked(now) {
            return;
        }
        (self.works.count)(if changed { "collected.event" } else { "collected.tick" });
        let generation = self.works.publisher.generation();
        match self.collect(false) {
            Ok(body) => drop(self.works.publisher.publish_begun_at(generation, false, body)),
            Err(why) => (self.works.say)(&format!("a collection failed: {why}")),
        }
    }

    /// Whether a tick is due and there is a reason to collect at it: time alone changed a state, directories are not
    /// reported on, or the last collection is long ago.
    fn ticked(&mut self, now: Instant) -> bool {
        if now < self.tick_at {
            return false;
        }
        self.tick_at = now + TICK;
        let by_clock = self.due_by_clock.is_some_and(|due| (self.works.clock)() >= due);
        let due = self.works.every_tick
            || by_clock
            || self.works.scanner.is_blind()
            || self.budget.last.is_none_or(|at| now.duration_since(at) >= RECONCILE);
        if !due {
            (self.works.count)("skipped.probe");
        }
        due
    }

    fn collect(&mut self, all: bool) -> Result<Vec<u8>, String> {
        let started = Instant::now();
        let now = (self.works.clock)();
        let variant = Variant { now, window_hours: self.works.window_hours, all };
        // What is noticed from here on belongs to the next collection.
        self.dirty_since = None;
        self.owed = false;
        let sampled: Vec<Sampled> = self.works.lanes.iter().map(|lane| lane.sample(now)).collect();
        let found = self.works.scanner.pass(now, self.works.window_hours * 3600.0, all);
        for _ in 0..found.panics {
            (self.works.fault)("collector");
        }
        let fault = Arc::clone(&self.works.fault);
        let board = assemble(found.source, variant, &self.works.lanes, &sampled, &|_| fault("lane"));
        let lanes = self.works.lanes.iter().filter_map(|lane| lane.due(now));
        self.due_by_clock = lanes.chain(next_by_clock(&board.rows, now)).min_by(f64::total_cmp);
        let body = board.body();
        let ended = Instant::now();
        let until_due = self.due_by_clock.map_or(TICK, |due| Duration::from_secs_f64((due - now).clamp(0.05, 5.0)));
        self.tick_at = ended + until_due;
        self.budget.spend(started, ended);
        if found.more {
            // What was begun for somebody is read to its end, also when nobody watches.
            self.owed = true;
            self.dirty_since.get_or_insert(ended);
        }
        body
    }
}

/// The time unasked collections may use: it grows with the clock, and what a collection cost is taken from it.
struct Budget {
    /// Left over when the last collection ended; below zero it is owed.
    left: f64,
    /// When the last collection ended.
    last: Option<Instant>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { left: SAVINGS.as_secs_f64(), last: None }
    }
}

impl Budget {
    /// Takes what a collection cost.
    fn spend(&mut self, started: Instant, ended: Instant) {
        let since = self.last.map_or(Duration::ZERO, |last| ended.saturating_duration_since(last));
        let saved = (self.left + since.as_secs_f64() / f64::from(SHARE)).min(SAVINGS.as_secs_f64());
        self.left = saved - ended.saturating_duration_since(started).as_secs_f64();
        self.last = Some(ended);
    }

    /// When the next unasked collection may come; none before the first.
    fn ready(&self) -> Option<Instant> {
        let owed = Duration::try_from_secs_f64(-self.left * f64::from(SHARE)).unwrap_or_default();
        Some(self.last? + owed.clamp(REST_MIN, REST_MAX))
    }
}

/// When the first working session stops being believed to work, if nothing is written until then.
fn next_by_clock(rows: &[crate::board::Row], now: f64) -> Option<f64> {
    rows.iter()
        .filter(|row| row.seen.state == State::Working)
        .map(|row| (row.seen.last_activity + crate::config::WORKING_THRESHOLD_SEC).max(now + TOGETHER))
        .min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Collected, Collector, Pass};
    use crate::model::Key;
    use crate::surface::watch::Watch;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const MS: Duration = Duration::from_millis(1);

    /// EVT-101 in its own terms: a change after quiet is collected at once, a storm costs a tenth of the time.
    #[test]
    fn evt_101_quiet_is_saved_up_and_a_storm_is_held_to_its_share() {
        let begin = Instant::now();
        let mut budget = Budget::default();
        budget.spend(begin, begin + MS * 20);
        assert_eq!(budget.ready(), Some(begin + MS * 60), "one dear collection is not held against the next");

        let (mut at, mut busy) = (begin, Duration::ZERO);
        let mut budget = Budget::default();
        while at < begin + MS * 10_000 {
            budget.spend(at, at + MS * 20);
            busy += MS * 20;
            at = budget.ready().unwrap();
        }
        assert!(busy <= (at - begin) / SHARE + SAVINGS + MS * 20, "{busy:?} of {:?}", at - begin);
        assert!(busy >= (at - begin) / (SHARE * 2), "nor is it starved: {busy:?}");

        let ended = at + MS * 60_000;
        budget.spend(at, ended);
        assert_eq!(
            budget.ready(),
            Some(ended + REST_MAX),
            "a collection as dear as a minute is tried again all the same"
        );
    }

    /// A reader that is not done before its fourth pass.
    struct Long(Arc<AtomicUsize>);

    impl Collector for Long {
        fn key(&self) -> Key {
            Key::Codex
        }
        fn discovered(&mut self) -> bool {
            true
        }
        fn collect(&mut self, _: &Pass<'_>) -> Result<Collected, String> {
            let more = self.0.fetch_add(1, Ordering::SeqCst) < 3;
            Ok(Collected { more, ..Collected::default() })
        }
    }

    /// FIELD-044, EVT-108: what a bound cut is read on until it is whole, asked for by nobody; then the loop sleeps.
    #[test]
    fn field_044_a_reading_that_was_begun_goes_on_to_its_end() {
        let passes = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&passes);
        let scanner =
            Scanner::new(vec![(Key::Codex, Box::new(move || Box::new(Long(Arc::clone(&counted)))))], Watch::off());
        let clock: Clock = Arc::new(|| 1000.0);
        let works = Works {
            scanner,
            lanes: Vec::new(),
            publisher: Arc::new(Publisher::new(1.0, Arc::clone(&clock), Arc::new(|_| Ok(Vec::new())))),
            clock,
            window_hours: 24.0,
            every_tick: false,
            fault: Arc::new(|_| ()),
            count: Arc::new(|_| ()),
            say: Arc::new(|_| ()),
        };
        let (waker, wakes) = channel_to_loop();
        let keeper = Keeper::start(works, waker.clone(), wakes).unwrap();
        assert_eq!(passes.load(Ordering::SeqCst), 0);
        waker.collect(false).unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while passes.load(Ordering::SeqCst) < 4 {
            assert!(Instant::now() < until, "{passes:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(REST_MIN * 4);
        assert_eq!(passes.load(Ordering::SeqCst), 4);
        keeper.stop(Duration::from_secs(5));
    }
}
