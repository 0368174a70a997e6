//! Where raises are carried out: off the scan loop and off every request (NOTE-033, NOTE-203).
//!
//! One thread takes them in order and waits for nothing but the next; each that needs a program runs on a thread of its
//! own. The same thread wakes the scan loop when a popup that was put off can come.

use super::native::Backend;
use crate::keep::deliveries::{Deliveries, Outcome};
use crate::keep::store::Tell;
use crate::model::time::system_clock;
use crate::surface::process::Supervisor;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// One notification, decided on.
#[derive(Clone, Debug, PartialEq)]
pub struct Raise {
    /// What it is about: a harness key or another lane's own subject; empty when nothing names it.
    pub harness: String,
    /// The subject's id; without one nothing is recorded.
    pub sid: String,
    /// Which lane raised it, as recorded.
    pub lane: &'static str,
    pub title: String,
    pub body: String,
    /// The server's clock at the attempt, seconds since the epoch.
    pub at: f64,
}

enum Order {
    Raise(Raise),
    /// Wake the scan loop after this long.
    Wake(Duration),
}

/// What the desk works with.
pub struct Works {
    /// The service; `None` records every raise as having no lane.
    pub backend: Option<Backend>,
    pub records: Arc<Deliveries>,
    pub tell: Tell,
    /// Called after each record, since the board shows it.
    pub recorded: Arc<dyn Fn() + Send + Sync>,
    /// Asks the scan loop for a collection.
    pub wake: Arc<dyn Fn() + Send + Sync>,
}

/// The sending end of the desk; its thread ends with the last of them.
#[derive(Clone)]
pub struct Desk {
    orders: Sender<Order>,
    children: Supervisor,
}

impl Desk {
    /// Starts the desk's thread.
    pub fn open(works: Works) -> std::io::Result<Desk> {
        let (orders, inbox) = channel();
        let children = Supervisor::default();
        let running = children.clone();
        std::thread::Builder::new().name("notify".into()).spawn(move || attend(Arc::new(works), &running, &inbox))?;
        Ok(Desk { orders, children })
    }

    /// Carries a raise out; returns at once.
    pub fn raise(&self, raise: Raise) {
        // A desk whose thread has gone has nothing to hand over to.
        drop(self.orders.send(Order::Raise(raise)));
    }

    /// Has the scan loop woken after a while; the earliest of several counts.
    pub fn wake_after(&self, wait: Duration) {
        drop(self.orders.send(Order::Wake(wait)));
    }

    /// Ends every program under way, and every one that would start.
    pub fn close(&self) {
        self.children.close();
    }
}

/// Longest sleep while something is waited for: a machine that slept meanwhile is noticed within it.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// A moment to wake at. It comes by whichever clock runs ahead: the one that counts running time stands still while the
/// machine sleeps, and the other may be set back.
#[derive(Clone, Copy, Debug)]
struct Alarm {
    wait: Duration,
    set: Instant,
    /// The same moment on the wall clock, seconds since the epoch.
    wall: f64,
}

impl Alarm {
    fn left(&self, now: Instant, wall: f64) -> Duration {
        let by_wall = Duration::try_from_secs_f64(wall - self.wall).unwrap_or_default();
        self.wait.saturating_sub(now.saturating_duration_since(self.set).max(by_wall))
    }
}

fn attend(works: Arc<Works>, children: &Supervisor, inbox: &Receiver<Order>) {
    let clock = system_clock();
    let mut alarm: Option<Alarm> = None;
    loop {
        let left = alarm.map(|alarm| alarm.left(Instant::now(), clock()));
        let order = match left {
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(left) => inbox.recv_timeout(left.min(LOOK_EVERY)),
        };
        match order {
            Ok(Order::Raise(raise)) => carry_out(&works, children, raise),
            Ok(Order::Wake(wait)) => {
                if left.is_none_or(|left| wait < left) {
                    alarm = Some(Alarm { wait, set: Instant::now(), wall: clock() });
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                if alarm.is_some_and(|alarm| alarm.left(Instant::now(), clock()).is_zero()) {
                    alarm = None;
                    (works.wake)();
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn carry_out(works: &Arc<Works>, children: &Supervisor, raise: Raise) {
    let Some(backend) = works.backend.clone() else { return record(works, &raise, Outcome::NoLane) };
    let (here, handle, subject) = (Arc::clone(works), children.handle(), raise.clone());
    let run = move || {
        let (outcome, line) = backend.raise(&raise.title, &raise.body, &handle);
        if outcome == Outcome::DidNotReturn {
            here.tell.counters.bump_in("child.timeout", backend.name());
        }
        if let Some(line) = line {
            (here.tell.say)(&line);
        }
        record(&here, &raise, outcome);
    };
    if let Err(error) = std::thread::Builder::new().name("notify-one".into()).spawn(run) {
        (works.tell.say)(&format!("no thread for a notification: {error}"));
        record(works, &subject, Outcome::NotLaunched);
    }
}

fn record(works: &Works, raise: &Raise, outcome: Outcome) {
    works.records.record(&raise.harness, &raise.sid, raise.lane, outcome, raise.at);
    (works.recorded)();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TRUST-056: a machine that slept, or whose clock was set, wakes the loop no later than it should, nor at once.
    #[test]
    fn trust_056_an_alarm_comes_by_the_clock_that_runs_ahead() {
        let (set, second) = (Instant::now(), Duration::from_secs(1));
        let alarm = Alarm { wait: second * 100, set, wall: 5000.0 };
        for (ran, wall, want) in [
            (0, 5000.0, 100),
            (40, 5040.0, 60),
            (1, 8600.0, 0),
            (40, 5000.0 - 86_400.0, 60),
            (40, f64::NAN, 60),
            (200, 5000.0, 0),
        ] {
            assert_eq!(alarm.left(set + second * ran, wall), second * want, "{ran} s later, at {wall}");
        }
    }
}
