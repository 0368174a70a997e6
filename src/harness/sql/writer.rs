//! For the tests of the readers of SQLite stores: a store that another process writes all the while, as its owner does.
//! A reader may neither stand in its way nor lose sight of a row.

use crate::harness::testkit::WINDOW;
use crate::harness::{Collected, Collector, Pass, degrades};
use crate::model::{Observed, time};
use crate::surface::watch::Watch;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Commits a second.
const RATE: u64 = 200;
/// How long the writers of these tests write, seconds; 1 where it is not set.
const SECONDS: &str = "CARGENTO_WRITER_SECONDS";

const PATH: &str = "CARGENTO_TEST_WRITTEN";
const COMMIT: &str = "CARGENTO_TEST_COMMIT";
const COUNT: &str = "CARGENTO_TEST_COUNT";
const ANSWER: &str = "\u{1}";

/// A store, what its owner writes and what shows it.
pub struct Written<'a> {
    pub path: &'a Path,
    /// One commit: `{n}` is its number, counted from 1, `{hex}` the hex of its six digits.
    pub commit: &'a str,
    /// The rows that have to be there in every pass, in order.
    pub sids: &'a [&'a str],
    /// The number of the newest commit that a row shows; 0 when it shows none.
    pub seen: fn(&Observed) -> u64,
}

/// Reads the store with `make`'s reader, pass after pass, while its owner writes it.
pub fn hold(written: &Written<'_>, make: impl Fn() -> Box<dyn Collector>) {
    let seconds: u64 = std::env::var(SECONDS).ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let count = RATE * seconds;
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "harness::sql::writer::the_writer", "--nocapture", "--test-threads=1"])
        .env(PATH, written.path)
        .env(COMMIT, written.commit)
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut reader, watch) = (make(), Watch::start(|| ()));
    let (mut passes, mut last, mut moved) = (0u64, 0, 0u64);
    while writer.try_wait().unwrap().is_none() {
        let now = shown(written, &pass(&mut *reader, &watch, passes.is_multiple_of(100)));
        assert!(now >= last, "what was seen is not unseen again: {now} after {last}");
        (passes, moved, last) = (passes + 1, moved + u64::from(now > last), now);
        std::thread::sleep(Duration::from_millis(4));
    }
    let said = String::from_utf8(writer.wait_with_output().unwrap().stdout).unwrap();
    let said = said.lines().find_map(|line| Some(line.split_once(ANSWER)?.1)).unwrap_or_default();
    assert_eq!(said, "ok", "the owner, who waits for nobody, met no lock");
    assert_eq!(shown(written, &pass(&mut *reader, &watch, true)), count, "the last commit is seen");
    assert!(moved >= 5 * seconds, "{moved} of {passes} passes saw something new");
    unwritten(written, &mut *reader, &watch, make);
    println!("{}: {count} commits, {passes} passes, {moved} of them with news", written.path.display());
}

/// Nobody writes: however often it is read, the store is the same afterwards, and sound.
fn unwritten(written: &Written<'_>, reader: &mut dyn Collector, watch: &Watch, make: impl Fn() -> Box<dyn Collector>) {
    let before = folder(written.path);
    for _ in 0..10 {
        shown(written, &pass(reader, watch, true));
        shown(written, &pass(&mut *make(), &Watch::off(), true));
    }
    assert_eq!(folder(written.path), before, "names, bytes and times");
    let owner = Connection::open(written.path).unwrap();
    let sound: String = owner.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}

fn pass(reader: &mut dyn Collector, watch: &Watch, sweep: bool) -> Collected {
    let (now, dirty) = (time::system_clock()(), watch.take());
    assert!(reader.discovered());
    degrades::collect(reader, &Pass { now, window: WINDOW, all: false, dirty: &dirty, sweep, watch }).unwrap()
}

/// Everything is there and nothing is amiss; the newest commit that any row shows.
#[track_caller]
fn shown(written: &Written<'_>, found: &Collected) -> u64 {
    let mut sids: Vec<&str> = found.rows.iter().map(|row| row.sid.as_str()).collect();
    sids.sort_unstable();
    assert_eq!(sids, written.sids);
    assert_eq!((found.store_errors.as_slice(), found.degrades.as_slice()), (&[][..], &[][..]));
    for row in &found.rows {
        assert!(row.source_gaps.is_empty() && row.degrades.is_empty(), "{row:?}");
    }
    found.rows.iter().map(written.seen).max().unwrap_or_default()
}

/// Files of the store's folder with their bytes and times, but for the index, which is SQLite's own.
fn folder(path: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let files = std::fs::read_dir(path.parent().unwrap()).unwrap().map(|file| file.unwrap());
    let named = files.map(|file| (file.file_name().into_string().unwrap(), file));
    let kept = named.filter(|(name, file)| !name.ends_with("-shm") && file.path().is_file());
    let look =
        |file: &std::fs::DirEntry| (std::fs::read(file.path()).unwrap(), file.metadata().unwrap().modified().unwrap());
    kept.map(|(name, file)| (name, look(&file))).collect()
}

/// The number at the end of a text.
pub fn number(text: Option<&str>) -> u64 {
    let digits = text.unwrap_or_default().rsplit(' ').next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}

/// Not a test: the process that writes. It commits 200 times a second, folds its log away now and then, and waits for
/// no lock.
#[test]
#[ignore = "the other process of the tests of the readers"]
fn the_writer() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let (commit, count) = (std::env::var(COMMIT).unwrap(), std::env::var(COUNT).unwrap().parse().unwrap());
    let owner = Connection::open(path).unwrap();
    owner.busy_timeout(Duration::ZERO).unwrap();
    let started = Instant::now();
    let outcome = (1..=count).try_for_each(|n: u64| {
        let hex: String = format!("{n:06}").bytes().map(|digit| format!("{digit:02x}")).collect();
        let sql = commit.replace("{n}", &n.to_string()).replace("{hex}", &hex);
        owner.execute_batch(&format!("BEGIN IMMEDIATE; {sql}; COMMIT"))?;
        if n.is_multiple_of(100) {
            owner.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        }
        std::thread::sleep(Duration::from_millis(n * 1000 / RATE).saturating_sub(started.elapsed()));
        Ok::<(), rusqlite::Error>(())
    });
    println!("{ANSWER}{}", outcome.map_or_else(|error| error.to_string(), |()| "ok".into()));
}
