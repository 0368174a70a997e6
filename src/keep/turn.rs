//! One writer at a time inside the process, with a bound on the wait (ANN-005).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whose turn it is.
#[derive(Default)]
pub(super) struct Turn {
    taken: Mutex<bool>,
    free: Condvar,
    waiting: AtomicUsize,
}

/// Long enough for a process that polls the lock to get it.
const COURTESY: Duration = Duration::from_millis(3);

/// A taken turn; letting it go passes it on.
pub(super) struct Taken<'a>(&'a Turn);

impl Turn {
    /// Waits for the turn until `deadline`.
    pub(super) fn take(&self, deadline: Instant) -> Option<Taken<'_>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        while *taken {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                return None;
            }
            taken = self.free.wait_timeout(taken, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        *taken = true;
        Some(Taken(self))
    }

    /// Lets another process have the lock that was just released, when the next writer of this one stands by to take it
    /// at once: a busy instance must not starve a second one.
    pub(super) fn give_way(&self) {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            std::thread::sleep(COURTESY);
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ann_005_the_wait_is_bounded_and_the_turn_passes_on() {
        let turn = Turn::default();
        let held = turn.take(Instant::now()).unwrap();
        assert!(turn.take(Instant::now() + Duration::from_millis(5)).is_none());
        drop(held);
        assert!(turn.take(Instant::now()).is_some());
    }
}
