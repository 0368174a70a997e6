//! Where raises are carried out: off the scan loop and off every request (NOTE-033, NOTE-203).
//!
//! One thread takes them in order and waits for nothing but the next; each that needs a program runs on a thread of its
//! own. The same thread wakes the scan loop when a popup that was put off can come.

use super::native::Backend;
use crate::keep::deliveries::{Deliveries, Outcome};
use crate::keep::store::Tell;
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

fn attend(works: Arc<Works>, children: &Supervisor, inbox: &Receiver<Order>) {
    let mut wake_at: Option<Instant> = None;
    loop {
        let order = match wake_at {
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        match order {
            Ok(Order::Raise(raise)) => carry_out(&works, children, raise),
            Ok(Order::Wake(wait)) => {
                let at = Instant::now() + wait;
                wake_at = Some(wake_at.map_or(at, |known| known.min(at)));
            }
            Err(RecvTimeoutError::Timeout) => {
                wake_at = None;
                (works.wake)();
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
