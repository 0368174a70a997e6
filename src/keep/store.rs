//! The one mechanism behind every store of ours: bounded no-follow read, schema check, caps, eviction, a policy for a
//! file that cannot be trusted, owner-only atomic write, and a re-read whenever another process wrote.
//!
//! A store is shared by every instance on its home. A change is decided against the file as it stands under the lock,
//! never against a copy; what could not be written is laid over whatever is read later, for this run. What cannot be
//! read is not written over, unless the format says that a discarded file may be (and then the reset is published).
//! Nothing here collects, waits for a reader, or knows what the bytes mean.

pub use super::format::{Applied, Format, Guard, Health, OnBroken, Saved, Tell, TooLarge, Why};
use super::turn::Turn;
use crate::surface::folder;
use crate::surface::read::{self, Kind, ReadError, Stamp};
use crate::surface::write::{Lock, LockError, Place};
use sha2::{Digest as _, Sha256};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A file stamped this recently may have changed again under the same stamp, so it is read again, seconds.
const UNSETTLED_SEC: f64 = 2.0;
/// Changes that could not be written, kept for this run; beyond them the oldest goes (TRUST-063).
const PENDING_MAX: usize = 1024;

/// A file replaced this often in a row between look and open is not read this time.
const REPLACED_TRIES: u32 = 64;

enum Read<V> {
    Absent,
    Whole(V, [u8; 32]),
    /// The same bytes as last time.
    Same,
    Broken(&'static str),
    Failed(io::Error),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Absent,
    File { stamp: Stamp, settled: bool },
    Odd,
}

struct Memory<F: Format> {
    /// What was read, with `pending` laid over it.
    value: Arc<F::Value>,
    pending: Vec<F::Change>,
    seen: Option<Seen>,
    health: Health,
    reset: Option<&'static str>,
    /// Commits and holds of this process, to drop a read that began before one (ANN-007).
    moves: u64,
    digest: Option<[u8; 32]>,
    /// The failure last said, until a write succeeds.
    said: Option<String>,
}

/// One store of ours.
pub struct Store<F: Format> {
    format: F,
    place: Place,
    tell: Tell,
    /// Longest wait for both locks together.
    wait: Duration,
    memory: Mutex<Memory<F>>,
    turn: Turn,
    lockless: AtomicBool,
}

impl<F: Format> Store<F> {
    /// A store of a home; nothing is read yet. `wait` bounds the wait for other writers.
    pub fn new(format: F, place: Place, tell: Tell, wait: Duration) -> Self {
        let memory = Memory {
            value: Arc::default(),
            pending: Vec::new(),
            seen: None,
            health: Health::Sound,
            reset: None,
            moves: 0,
            digest: None,
            said: None,
        };
        let (memory, turn) = (Mutex::new(memory), Turn::default());
        Self { format, place, tell, wait, memory, turn, lockless: AtomicBool::new(false) }
    }

    /// What is known, read for the first time if it was not yet; otherwise no file is touched.
    pub fn value(&self) -> Arc<F::Value> {
        if self.memory().seen.is_none() {
            self.refresh();
        }
        self.memory().value.clone()
    }

    /// How the file was found last.
    pub fn health(&self) -> Health {
        self.memory().health
    }

    /// Why a stored file was discarded in this run, if one was; never taken back.
    pub fn reset(&self) -> Option<&'static str> {
        self.memory().reset
    }

    /// What tells two contents apart, held changes included; equal while nothing changed (ANN-093).
    pub fn mark(&self) -> Vec<u8> {
        let memory = self.memory();
        let held = if memory.pending.is_empty() { 0 } else { memory.moves };
        let seen = match (memory.health, memory.seen) {
            (Health::Sound, _) => String::new(),
            // That a stamp is old by now is no change.
            (health, Some(Seen::File { stamp, .. })) => format!("{health:?}{stamp:?}"),
            (health, seen) => format!("{health:?}{seen:?}"),
        };
        [memory.digest.map_or_else(Vec::new, Vec::from), held.to_be_bytes().to_vec(), seen.into_bytes()].concat()
    }

    /// Reads the file again when it is not the one that was read last. Waits for no writer.
    pub fn refresh(&self) {
        let (moves, before, digest) = {
            let memory = self.memory();
            (memory.moves, memory.seen, memory.digest)
        };
        let seen = self.look();
        if before.is_some_and(|before| before == seen && !matches!(seen, Seen::File { settled: false, .. })) {
            return;
        }
        let read = self.read(digest);
        let mut memory = self.memory();
        if memory.moves == moves {
            self.install(&mut memory, seen, read);
        }
    }

    /// Decides a change against the file as it stands and makes it. `decide` is asked once without the lock, so that
    /// what changes nothing neither waits nor leaves a trace, and again under it; it returns the change, if there is
    /// one, and its own answer.
    pub fn update<R>(&self, decide: impl Fn(&F::Value) -> (Option<F::Change>, R)) -> (Saved, R) {
        self.refresh();
        let (value, health, owed) = {
            let memory = self.memory();
            (memory.value.clone(), memory.health, !memory.pending.is_empty())
        };
        let (change, answer) = decide(&value);
        if change.is_none() && !owed {
            return (Saved::Nothing, answer);
        }
        if !Self::may_write(health) {
            return (self.hold(change, Why::Untrusted), answer);
        }
        let deadline = Instant::now() + self.wait;
        let Some(_turn) = self.turn.take(deadline) else {
            self.complain("another save is taking all the time there is");
            return (self.hold(change, Why::Locked), answer);
        };
        match self.lock(deadline) {
            Ok(lock) => {
                let saved = self.write(&decide);
                drop(lock);
                self.turn.give_way();
                saved
            }
            Err(why) => (self.hold(change, why), answer),
        }
    }

    /// Whether something waits to be written with the next change.
    pub fn owes(&self) -> bool {
        !self.memory().pending.is_empty()
    }

    /// Whether a change like this waits to be written.
    pub fn holds(&self, like: impl Fn(&F::Change) -> bool) -> bool {
        self.memory().pending.iter().any(like)
    }

    /// The path, for messages.
    pub fn path(&self) -> String {
        self.place.path(F::FILE).display().to_string()
    }

    fn memory(&self) -> MutexGuard<'_, Memory<F>> {
        // What it guards is replaced whole, so a panicked thread leaves it sound.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the file as it was found may be replaced. A discarded one was published as reset; what cannot be renamed
    /// over, a directory or a link, is refused by the write itself.
    fn may_write(health: Health) -> bool {
        health == Health::Sound || F::ON_BROKEN != OnBroken::Leave
    }

    fn look(&self) -> Seen {
        match read::look(&self.place.path(F::FILE)) {
            Ok(entry) if entry.kind == Kind::File => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
                Seen::File { stamp: entry.stamp, settled: now - entry.stamp.mtime() > UNSETTLED_SEC }
            }
            Ok(_) => Seen::Odd,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Seen::Absent
            }
            Err(_) => Seen::Odd,
        }
    }

    fn read(&self, known: Option<[u8; 32]>) -> Read<F::Value> {
        match self.bytes() {
            Ok(None) => Read::Absent,
            Ok(Some(bytes)) => {
                let digest = Sha256::digest(&bytes).into();
                if known == Some(digest) {
                    return Read::Same;
                }
                match self.format.parse(&bytes) {
                    Ok(value) => Read::Whole(value, digest),
                    Err(reason) => Read::Broken(reason),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Read::Broken("unreadable"),
            Err(error) => Read::Failed(error),
        }
    }

    /// The file's bytes. One that another instance replaces between the look and the open is tried again: that says
    /// nothing against it.
    fn bytes(&self) -> io::Result<Option<Vec<u8>>> {
        let mut tries = 0;
        loop {
            let read = self.place.read(F::FILE, self.format.cap());
            let replaced = read.as_ref().is_err_and(|error| {
                let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<ReadError>());
                matches!(cause, Some(ReadError::Changed))
            });
            tries += 1;
            if !replaced || tries >= REPLACED_TRIES {
                return read;
            }
        }
    }

    /// Takes over what was read, with what is held for this run laid over it.
    fn install(&self, memory: &mut Memory<F>, seen: Seen, read: Read<F::Value>) {
        if F::FORGETS && matches!(read, Read::Absent) && matches!(memory.seen, Some(Seen::File { .. })) {
            memory.pending.clear();
        }
        let mut value = match read {
            Read::Same => {
                memory.seen = Some(seen);
                return;
            }
            // It says nothing about the file: what was known stands, and the next look reads again. Nothing known is
            // not the same as nothing there.
            Read::Failed(error) if folder::is_passing(&error) => {
                if memory.seen.is_none() {
                    memory.health = Health::Unreadable;
                }
                return;
            }
            Read::Whole(value, digest) => {
                (memory.health, memory.digest) = (Health::Sound, Some(digest));
                value
            }
            Read::Absent => {
                (memory.health, memory.digest) = (Health::Sound, None);
                F::Value::default()
            }
            Read::Broken(reason) => {
                (memory.health, memory.digest) = (Health::Broken(reason), None);
                memory.reset.get_or_insert(reason);
                F::Value::default()
            }
            Read::Failed(_) => {
                (memory.health, memory.digest) = (Health::Unreadable, None);
                memory.reset.get_or_insert("unreadable");
                F::Value::default()
            }
        };
        memory.seen = Some(seen);
        memory.pending.retain(|change| self.format.apply(&mut value, change) != Applied::Stale);
        memory.value = Arc::new(value);
    }

    /// Keeps a change that could not be written for this run, where the reason allows it.
    fn hold(&self, change: Option<F::Change>, why: Why) -> Saved {
        let held = match why {
            // Typed words are answered for one by one; a mark always holds for the run (DIS-021, ANN-046).
            Why::Untrusted | Why::Locked => F::GUARD == Guard::Folder,
            Why::Write => true,
            Why::TooLarge => false,
        };
        if let Some(change) = change.filter(|_| held) {
            let mut memory = self.memory();
            let mut value = (*memory.value).clone();
            self.format.apply(&mut value, &change);
            // Brought within its caps; the bytes are not needed.
            let _ = self.format.render(&mut value, Some(&change));
            memory.value = Arc::new(value);
            if memory.pending.len() >= PENDING_MAX {
                memory.pending.remove(0);
            }
            memory.pending.push(change);
            memory.moves += 1;
        }
        match why {
            Why::Untrusted => self.complain("it cannot be read whole, so it was left alone; move or repair it"),
            Why::Write => self.tell.counters.bump_in("write.failed", F::NAME),
            Why::Locked | Why::TooLarge => {}
        }
        Saved::Not { why, held }
    }

    /// The lock against other processes.
    fn lock(&self, deadline: Instant) -> Result<Guarded, Why> {
        let left = deadline.saturating_duration_since(Instant::now());
        let Guard::File(name) = F::GUARD else {
            if let Err(error) = self.place.ensure() {
                self.complain(&error.to_string());
                return Err(Why::Write);
            }
            // Writing on without the turn could lose what the one who has it is about to acknowledge.
            let Ok(turn) = folder::turn(self.place.root(), left) else {
                self.complain("another process is writing in its directory");
                return Err(Why::Locked);
            };
            return Ok(Guarded { _folder: turn, _file: None });
        };
        match self.place.lock(name, left) {
            Ok(lock) => Ok(Guarded { _folder: None, _file: Some(lock) }),
            Err(LockError::Unsupported) => {
                if !self.lockless.swap(true, Ordering::Relaxed) {
                    (self.tell.say)(&format!(
                        "the file system of {} has no locks: saves from another instance on this home may overwrite \
                         each other",
                        self.path()
                    ));
                }
                Ok(Guarded { _folder: None, _file: None })
            }
            Err(LockError::Busy) => {
                self.complain("another process holds its lock");
                Err(Why::Locked)
            }
            Err(LockError::Create(error)) => {
                self.complain(&error.to_string());
                Err(Why::Write)
            }
            Err(LockError::Open(error)) => {
                self.complain(&format!("its lock file: {error}"));
                // A lock that is there and not ours to take; without one the home itself cannot be written.
                let there = read::look(&self.place.path(name)).is_ok();
                let full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::ReadOnlyFilesystem);
                Err(if there && !full { Why::Locked } else { Why::Write })
            }
        }
    }

    /// The second half of an update, under both locks.
    fn write<R>(&self, decide: &impl Fn(&F::Value) -> (Option<F::Change>, R)) -> (Saved, R) {
        let seen = self.look();
        let read = self.read(None);
        let aside = match (&read, F::ON_BROKEN) {
            (Read::Broken(_) | Read::Failed(_), OnBroken::Aside(name)) => Some(name),
            _ => None,
        };
        let passing = match &read {
            Read::Failed(error) if folder::is_passing(error) => Some(error.to_string()),
            _ => None,
        };
        let (mut value, health) = {
            let mut memory = self.memory();
            self.install(&mut memory, seen, read);
            ((*memory.value).clone(), memory.health)
        };
        let (change, answer) = decide(&value);
        if let Some(why) = passing {
            // The file is as good as it was; what is in it is not known at this moment, so nothing is put over it.
            self.complain(&why);
            return (self.hold(change, Why::Write), answer);
        }
        if !Self::may_write(health) {
            return (self.hold(change, Why::Untrusted), answer);
        }
        let changed = change.as_ref().is_some_and(|change| self.format.apply(&mut value, change) == Applied::Changed);
        if !changed && self.memory().pending.is_empty() {
            return (Saved::Nothing, answer);
        }
        let Ok(bytes) = self.format.render(&mut value, change.as_ref()) else {
            self.complain("what is to be saved does not fit it");
            return (self.hold(change, Why::TooLarge), answer);
        };
        let moved = aside.map_or(Ok(()), |name| self.place.rename(F::FILE, name));
        if let Err(error) = moved.and_then(|()| self.place.replace(F::FILE, &bytes)) {
            self.complain(&error.to_string());
            return (self.hold(change, Why::Write), answer);
        }
        if F::LASTS {
            folder::settle(self.place.root());
        }
        let seen = self.look();
        let mut memory = self.memory();
        memory.value = Arc::new(value);
        memory.pending.clear();
        memory.seen = Some(seen);
        memory.health = Health::Sound;
        memory.digest = Some(Sha256::digest(&bytes).into());
        memory.moves += 1;
        memory.said = None;
        (Saved::Written, answer)
    }

    /// Says why nothing was written, once until a write succeeds or another reason comes up.
    fn complain(&self, why: &str) {
        let line = format!("could not write {}: {why}", self.path());
        let mut memory = self.memory();
        if memory.said.as_deref() != Some(&line) {
            memory.said = Some(line.clone());
            drop(memory);
            (self.tell.say)(&line);
        }
    }
}

/// The lock of one write, released with it.
struct Guarded {
    _folder: Option<folder::Turn>,
    _file: Option<Lock>,
}

/// Longest wait of a removal for the writer whose turn it is.
const REMOVE_WAIT: Duration = Duration::from_secs(5);

/// Removes a store's file; `false` when it was not there. It waits for a writer's turn to end: one that has read the file
/// already would put back what is removed here. Fails when the turn does not end.
pub fn remove<F: Format>(place: &Place) -> io::Result<bool> {
    let turn = folder::turn(place.root(), REMOVE_WAIT);
    let _turn = turn.map_err(|_| io::Error::other("another process is writing in its directory"))?;
    place.remove(F::FILE)
}
