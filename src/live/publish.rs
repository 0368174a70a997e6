//! The published snapshots of the board, their revisions, and the clients told about each new one (SSE-001..003, HTTP-042).
//!
//! One collection runs at a time for the whole process; fifty readers who arrive cold share its bytes. The lock over
//! the snapshots is held for a look or a swap only, never across a collection or a socket write, so neither a slow
//! store nor a slow reader delays the other.

use crate::model::time::Clock;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A snapshot younger than this is served as it is, seconds.
pub const COLLECT_MEMO_SEC: f64 = 2.5;
/// Stream clients at once; above the six sockets a browser opens for one origin.
pub const STREAM_MAX_CLIENTS: usize = 8;

/// Makes the body of one variant (`true` = every session ever); the error is one sentence.
pub type Collect = Arc<dyn Fn(bool) -> Result<Vec<u8>, String> + Send + Sync>;

/// Which collection of which process: `<start in whole seconds>.<n>` on the wire (SSE-001).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revision {
    /// Process start, whole seconds since the epoch.
    pub stamp: i64,
    /// Collections made by this process up to and including this one.
    pub number: u64,
}

impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.stamp, self.number)
    }
}

/// One published snapshot; never changed once made.
#[derive(Debug)]
pub struct Published {
    /// The collection that made it.
    pub revision: Revision,
    /// The reply of `GET /api/data`, shared by all who ask.
    pub body: Arc<[u8]>,
    /// When it was published, seconds since the epoch.
    pub at: f64,
}

struct Snapshots {
    number: u64,
    generation: u64,
    /// Default window, then every session.
    variants: [Option<Arc<Published>>; 2],
    clients: Vec<Arc<Mailbox>>,
    closed: bool,
}

/// Holds the newest snapshot of each variant and hands out revisions.
pub struct Publisher {
    stamp: i64,
    clock: Clock,
    collect: Collect,
    collection: Mutex<()>,
    snapshots: Mutex<Snapshots>,
    /// Told whenever a stream client came or went.
    on_watchers: std::sync::OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// A poisoned lock only says that another thread panicked; what it guards is replaced whole, so it is still sound.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Publisher {
    /// A publisher of a process that started at `started` (seconds since the epoch).
    pub fn new(started: f64, clock: Clock, collect: Collect) -> Self {
        Self {
            stamp: started.round_ties_even() as i64,
            clock,
            collect,
            collection: Mutex::new(()),
            snapshots: Mutex::new(Snapshots {
                number: 0,
                generation: 0,
                variants: [None, None],
                clients: Vec::new(),
                closed: false,
            }),
            on_watchers: std::sync::OnceLock::new(),
        }
    }

    /// The snapshot to answer with: the current one while it is warm, else a new collection (HTTP-042).
    ///
    /// Callers that waited for another's collection take its result. A failed or panicking collection is an error
    /// for this caller alone and leaves the lock free.
    pub fn get(&self, all: bool) -> Result<Arc<Published>, String> {
        if let Some(warm) = self.warm(all) {
            return Ok(warm);
        }
        let turn = lock(&self.collection);
        if let Some(warm) = self.warm(all) {
            return Ok(warm);
        }
        let made = self.collect_now(all);
        drop(turn);
        made
    }

    /// A collection begun after this call, whatever is warm (TRIP-041).
    pub fn fresh(&self, all: bool) -> Result<Arc<Published>, String> {
        let _turn = lock(&self.collection);
        self.collect_now(all)
    }

    /// The newest snapshot of a variant, however old; never collects.
    pub fn current(&self, all: bool) -> Option<Arc<Published>> {
        lock(&self.snapshots).variants.get(usize::from(all)).cloned().flatten()
    }

    /// Publishes a body the caller collected itself: takes the next number, keeps it, announces it.
    pub fn publish(&self, all: bool, body: Vec<u8>) -> Arc<Published> {
        let generation = self.generation();
        self.keep(all, body, generation)
    }

    /// As [`Self::publish`] for a collection begun at `generation`: after a [`Self::clear`] since then the body is
    /// returned and its number spent, but it is neither kept nor announced (SSE-002).
    pub fn publish_begun_at(&self, generation: u64, all: bool, body: Vec<u8>) -> Arc<Published> {
        self.keep(all, body, generation)
    }

    /// Says that a collection just found what is already published: the snapshot counts as made now, its revision
    /// stands and nothing is announced. Without a snapshot nothing happens.
    pub fn still_current(&self, all: bool) {
        let at = (self.clock)();
        let mut snapshots = lock(&self.snapshots);
        if let Some(Some(entry)) = snapshots.variants.get_mut(usize::from(all)) {
            *entry = Arc::new(Published { revision: entry.revision, body: entry.body.clone(), at });
        }
    }

    /// Drops every snapshot: something the board shows was changed, so the next reader collects (HTTP-022).
    pub fn clear(&self) {
        let mut snapshots = lock(&self.snapshots);
        snapshots.variants = [None, None];
        snapshots.generation += 1;
    }

    /// How often [`Self::clear`] was called; taken before a collection, handed back with its body.
    pub fn generation(&self) -> u64 {
        lock(&self.snapshots).generation
    }

    /// Stream clients connected now; a timed collection is only worth its cost while there is one (SSE-010).
    pub fn watchers(&self) -> usize {
        lock(&self.snapshots).clients.len()
    }

    /// Names whom to tell when a stream client came or went; the first call counts.
    pub fn on_watchers(&self, tell: impl Fn() + Send + Sync + 'static) {
        drop(self.on_watchers.set(Box::new(tell)));
    }

    fn watchers_changed(&self) {
        if let Some(tell) = self.on_watchers.get() {
            tell();
        }
    }

    /// A place on the list of those told about new revisions; `None` when eight have one or the server stops (SSE-008).
    pub fn subscribe(self: &Arc<Self>) -> Option<Subscription> {
        let mut snapshots = lock(&self.snapshots);
        if snapshots.closed || snapshots.clients.len() >= STREAM_MAX_CLIENTS {
            return None;
        }
        let current = snapshots.variants.first().and_then(Option::as_ref).map(|entry| entry.revision);
        let mailbox = Arc::new(Mailbox { slot: Mutex::new((current, false)), filled: Condvar::new() });
        snapshots.clients.push(mailbox.clone());
        drop(snapshots);
        self.watchers_changed();
        Some(Subscription { publisher: self.clone(), mailbox })
    }

    /// Ends every stream at once and admits no new one (SSE-009).
    pub fn close(&self) {
        let clients = {
            let mut snapshots = lock(&self.snapshots);
            snapshots.closed = true;
            std::mem::take(&mut snapshots.clients)
        };
        for client in clients {
            lock(&client.slot).1 = true;
            client.filled.notify_all();
        }
    }

    fn warm(&self, all: bool) -> Option<Arc<Published>> {
        let now = (self.clock)();
        // A clock set back makes the age negative: then nothing is warm, rather than everything for hours.
        self.current(all).filter(|entry| (0.0..COLLECT_MEMO_SEC).contains(&(now - entry.at)))
    }

    /// One collection; the caller holds the collection lock.
    fn collect_now(&self, all: bool) -> Result<Arc<Published>, String> {
        let generation = self.generation();
        let collect = self.collect.clone();
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || collect(all)));
        let body = made.map_err(|_| "the collection failed".to_owned())??;
        Ok(self.keep(all, body, generation))
    }

    fn keep(&self, all: bool, body: Vec<u8>, generation: u64) -> Arc<Published> {
        let at = (self.clock)();
        let mut snapshots = lock(&self.snapshots);
        snapshots.number += 1;
        let revision = Revision { stamp: self.stamp, number: snapshots.number };
        let entry = Arc::new(Published { revision, body: body.into(), at });
        if snapshots.generation != generation {
            return entry;
        }
        if let Some(slot) = snapshots.variants.get_mut(usize::from(all)) {
            *slot = Some(entry.clone());
        }
        for client in &snapshots.clients {
            lock(&client.slot).0 = Some(revision);
            client.filled.notify_one();
        }
        entry
    }
}

/// Room for one revision, the newest, and whether the stream is to end (SSE-007).
struct Mailbox {
    slot: Mutex<(Option<Revision>, bool)>,
    filled: Condvar,
}

/// What a wait on a subscription ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A revision not handed out before; older ones were skipped.
    Revision(Revision),
    /// Nothing within the time given.
    Quiet,
    /// The server stops.
    Closed,
}

/// One stream client's place; giving it up frees the slot.
pub struct Subscription {
    publisher: Arc<Publisher>,
    mailbox: Arc<Mailbox>,
}

impl Subscription {
    /// Waits for the next revision, at most `wait`. A revision published before the first call is handed out at once.
    pub fn wait(&self, wait: Duration) -> News {
        let until = Instant::now() + wait;
        let mut slot = lock(&self.mailbox.slot);
        loop {
            if slot.1 {
                return News::Closed;
            }
            if let Some(revision) = slot.0.take() {
                return News::Revision(revision);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return News::Quiet;
            }
            slot = self.mailbox.filled.wait_timeout(slot, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        lock(&self.publisher.snapshots).clients.retain(|client| !Arc::ptr_eq(client, &self.mailbox));
        self.publisher.watchers_changed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    struct Bench {
        publisher: Arc<Publisher>,
        now: Arc<AtomicU64>,
        runs: Arc<AtomicUsize>,
    }

    /// A publisher whose clock stands still and whose collections are counted.
    fn bench(collect: impl Fn(usize, bool) -> Result<Vec<u8>, String> + Send + Sync + 'static) -> Bench {
        let (now, runs) = (Arc::new(AtomicU64::new(1_790_000_000_000)), Arc::new(AtomicUsize::new(0)));
        let (clock_now, counted) = (now.clone(), runs.clone());
        let clock: Clock = Arc::new(move || clock_now.load(Ordering::SeqCst) as f64 / 1000.0);
        let publisher = Publisher::new(
            1_789_999_999.6,
            clock,
            Arc::new(move |all| collect(counted.fetch_add(1, Ordering::SeqCst) + 1, all)),
        );
        Bench { publisher: Arc::new(publisher), now, runs }
    }

    fn numbered() -> Bench {
        bench(|n, all| Ok(format!("{n} {all}").into_bytes()))
    }

    #[test]
    fn sse_001_wire_form_and_counter_across_variants() {
        let b = numbered();
        assert_eq!(b.publisher.get(false).unwrap().revision.to_string(), "1790000000.1");
        assert_eq!(b.publisher.get(true).unwrap().revision.to_string(), "1790000000.2");
        assert_eq!(b.publisher.get(false).unwrap().revision.number, 1, "still warm");
    }

    #[test]
    fn http_042_warm_for_two_and_a_half_seconds() {
        let b = numbered();
        b.publisher.get(false).unwrap();
        b.now.fetch_add(2499, Ordering::SeqCst);
        assert_eq!(&*b.publisher.get(false).unwrap().body, b"1 false");
        b.now.fetch_add(1, Ordering::SeqCst);
        assert_eq!(&*b.publisher.get(false).unwrap().body, b"2 false");
        b.now.fetch_sub(60_000, Ordering::SeqCst);
        assert_eq!(&*b.publisher.get(false).unwrap().body, b"3 false", "a clock set back keeps nothing warm");
    }

    #[test]
    fn http_091_fifty_cold_readers_make_one_collection() {
        let b = bench(|n, _| {
            std::thread::sleep(Duration::from_millis(40));
            Ok(n.to_string().into_bytes())
        });
        let replies: Vec<_> = std::thread::scope(|scope| {
            let hands: Vec<_> = (0..50).map(|_| scope.spawn(|| b.publisher.get(false).unwrap())).collect();
            hands.into_iter().map(|hand| hand.join().unwrap()).collect()
        });
        assert_eq!(b.runs.load(Ordering::SeqCst), 1);
        assert!(replies.iter().all(|r| r.revision.number == 1 && &*r.body == b"1"));
    }

    #[test]
    fn http_042_a_failed_or_panicking_collection_releases_the_lock() {
        let b = bench(|n, _| match n {
            1 => Err("no".into()),
            2 => panic!("a planted fault"),
            _ => Ok(b"ok".to_vec()),
        });
        assert_eq!(b.publisher.get(false).unwrap_err(), "no");
        assert!(b.publisher.get(false).is_err());
        assert_eq!(b.publisher.get(false).unwrap().revision.number, 1, "a failure spends no number");
    }

    #[test]
    fn sse_002_a_collection_begun_before_a_clear_is_answered_but_not_kept() {
        let slot: Arc<Mutex<Option<Arc<Publisher>>>> = Arc::default();
        let inside = slot.clone();
        let b = bench(move |n, _| {
            if n == 1
                && let Some(publisher) = lock(&inside).as_ref()
            {
                publisher.clear();
            }
            Ok(n.to_string().into_bytes())
        });
        *lock(&slot) = Some(b.publisher.clone());
        let client = b.publisher.subscribe().unwrap();
        assert_eq!(&*b.publisher.get(false).unwrap().body, b"1");
        assert!(b.publisher.current(false).is_none());
        assert_eq!(client.wait(Duration::ZERO), News::Quiet);
        assert_eq!(b.publisher.get(false).unwrap().revision.number, 2, "its number was spent");
        assert!(matches!(client.wait(Duration::ZERO), News::Revision(r) if r.number == 2));
    }

    #[test]
    fn sse_003_007_the_newest_revision_alone_waits_in_the_mailbox() {
        let b = numbered();
        let client = b.publisher.subscribe().unwrap();
        assert_eq!(client.wait(Duration::ZERO), News::Quiet, "a stream collects nothing by itself");
        for _ in 0..3 {
            b.publisher.publish(false, b"x".to_vec());
        }
        b.publisher.get(false).unwrap();
        assert!(matches!(client.wait(Duration::ZERO), News::Revision(r) if r.number == 3));
        assert_eq!(client.wait(Duration::ZERO), News::Quiet);
        b.publisher.still_current(false);
        assert_eq!(client.wait(Duration::ZERO), News::Quiet, "nothing new is announced");
        assert_eq!(b.runs.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn sse_005_the_default_variant_is_announced_on_arrival() {
        let b = numbered();
        b.publisher.publish(true, b"x".to_vec());
        assert_eq!(b.publisher.subscribe().unwrap().wait(Duration::ZERO), News::Quiet);
        b.publisher.publish(false, b"x".to_vec());
        assert!(matches!(b.publisher.subscribe().unwrap().wait(Duration::ZERO), News::Revision(r) if r.number == 2));
    }

    #[test]
    fn sse_008_009_eight_places_freed_on_leaving_and_closed_for_good() {
        let b = numbered();
        let mut clients: Vec<_> = (0..8).map(|_| b.publisher.subscribe().unwrap()).collect();
        assert!(b.publisher.subscribe().is_none());
        clients.pop();
        clients.push(b.publisher.subscribe().unwrap());
        assert_eq!(b.publisher.watchers(), 8);
        b.publisher.close();
        assert!(clients.iter().all(|c| c.wait(Duration::from_secs(5)) == News::Closed));
        assert!(b.publisher.subscribe().is_none());
    }

    #[test]
    fn http_042_still_current_keeps_a_snapshot_warm_under_its_revision() {
        let b = numbered();
        b.publisher.get(false).unwrap();
        b.now.fetch_add(2400, Ordering::SeqCst);
        b.publisher.still_current(false);
        b.now.fetch_add(2400, Ordering::SeqCst);
        assert_eq!(b.publisher.get(false).unwrap().revision.number, 1);
    }
}
