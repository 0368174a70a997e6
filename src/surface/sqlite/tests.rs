//! Stores as their owners leave them: live, closed, crashed, locked, foreign, reshaped.

mod found;
mod statements;

use super::*;
use crate::harness::identity::blake2b_16;
use crate::model::Code;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("cargento-sqlite-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Every file with the digest of its bytes and its modification time, but for the named suffixes.
    fn look(&self, but: &[&str]) -> BTreeMap<String, (String, std::time::SystemTime)> {
        let files = std::fs::read_dir(&self.0).unwrap().map(|e| e.unwrap());
        let named = files.map(|e| (e.file_name().into_string().unwrap(), e));
        let kept = named.filter(|(name, e)| !but.iter().any(|b| name.ends_with(b)) && e.path().is_file());
        kept.map(|(name, e)| {
            let mtime = e.metadata().unwrap().modified().unwrap();
            (name, (blake2b_16(&std::fs::read(e.path()).unwrap()), mtime))
        })
        .collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Makes a database and closes it.
fn made(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

/// A database held open by a process of its own, as a harness holds it: within one process SQLite shares what two
/// processes may not.
struct Owner {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

const OWNED: &str = "CARGENTO_TEST_OWNED_DATABASE";
const ANSWER: &str = "\u{1}";

impl Owner {
    fn open(path: &Path, sql: &str) -> Owner {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "surface::sqlite::tests::the_owner", "--nocapture", "--test-threads=1"])
            .env(OWNED, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut owner = Owner { process, to, from };
        owner.run(sql);
        owner
    }

    fn say(&mut self, line: &str) {
        assert!(!line.contains('\n'));
        writeln!(self.to, "{line}").unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "the owner is gone");
            if let Some((_, answer)) = line.split_once(ANSWER) {
                return answer.trim().to_owned();
            }
        }
    }

    /// Runs statements; whatever SQLite objects to fails the test.
    fn run(&mut self, sql: &str) {
        self.say(sql);
        assert_eq!(self.hear(), "ok", "{sql}");
    }

    /// Closes the database properly.
    fn close(mut self) {
        self.say("close");
        assert!(self.process.wait().unwrap().success());
    }

    /// Ends the process without its noticing.
    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Not a test: the other process of [`Owner`]. `write N` makes N commits, 200 a second, without patience.
#[test]
#[ignore = "the other process of the tests below"]
fn the_owner() {
    let Some(path) = std::env::var_os(OWNED) else { return };
    let owner = Connection::open(path).unwrap();
    owner.busy_timeout(Duration::ZERO).unwrap();
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let done = match line.strip_prefix("write ") {
            _ if line == "close" => break,
            Some(n) => commit(&owner, n.parse().unwrap()),
            None => owner.execute_batch(&line),
        };
        println!("{ANSWER}{}", done.map_or_else(|e| e.to_string(), |()| "ok".into()));
    }
    owner.close().unwrap();
}

fn commit(owner: &Connection, n: u32) -> Result<(), rusqlite::Error> {
    let started = Instant::now();
    for i in 1..=n {
        owner.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES(1); INSERT INTO twin VALUES(1); COMMIT")?;
        if i % 100 == 0 {
            owner.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        }
        std::thread::sleep((Duration::from_millis(5) * i).saturating_sub(started.elapsed()));
    }
    Ok(())
}

fn count(db: &Database) -> Result<i64, StoreError> {
    let mut n = -1;
    db.rows("SELECT count(*) FROM t", &[], |row| {
        n = row.get(0)?;
        Ok(true)
    })?;
    Ok(n)
}

fn read(path: &Path) -> Result<i64, StoreError> {
    Database::open(path)?.snapshot(count)
}

const WAL: &str = "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(x); INSERT INTO t VALUES(1);";

/// FIELD-050.
#[test]
fn field_050_a_wal_database_without_sidecars_is_read_and_the_folder_stays_as_it_was() {
    let dir = Scratch::new("bare");
    let path = dir.at("a.db");
    made(&path, WAL);
    let before = dir.look(&[]);
    assert_eq!(before.len(), 1);
    let db = Database::open(&path).unwrap();
    assert_eq!(db.snapshot(count).unwrap(), 1);
    assert_eq!(dir.look(&[]), before);
    let live = Owner::open(&path, "INSERT INTO t VALUES(2)");
    assert!(!db.is_current(), "what was opened as unchanging is given up once its owner writes");
    assert_eq!(db.snapshot(count), Err(StoreError::Changed));
    assert_eq!(read(&path).unwrap(), 2);
    live.close();
}

/// FIELD-051.
#[test]
fn field_051_the_owners_files_are_the_same_after_a_live_read() {
    let dir = Scratch::new("live");
    let path = dir.at("a.db");
    let mut live = Owner::open(&path, WAL);
    let before = dir.look(&[]);
    assert_eq!(before.len(), 3, "file, log and index");
    assert_eq!(read(&path).unwrap(), 1, "what only the log holds is seen");
    assert_eq!(dir.look(&[]), before, "not a byte and no time changed, of the sidecars either");
    live.run("INSERT INTO t VALUES(2)");
    assert_eq!(read(&path).unwrap(), 2);
    live.run("BEGIN; INSERT INTO t VALUES(3)");
    assert_eq!(read(&path).unwrap(), 2, "an open transaction hides nothing and shows nothing");
    live.run("COMMIT");
    assert_eq!(read(&path).unwrap(), 3);
    live.close();
    assert_eq!(dir.look(&[]).len(), 1, "the owner folds its log away at its end: nothing of ours holds it");
}

/// OC-028, GOOSE-031.
#[test]
fn oc_028_goose_031_an_exclusive_lock_is_waited_for_a_fifth_of_a_second_and_named() {
    let dir = Scratch::new("locked");
    let path = dir.at("a.db");
    let mut live = Owner::open(&path, "CREATE TABLE t(x); BEGIN EXCLUSIVE");
    let started = Instant::now();
    let error = Database::open(&path).err().unwrap();
    assert_eq!((error.code(), error.to_string().as_str()), (Code::StoreLocked, "OperationalError: database is locked"));
    assert!(started.elapsed() >= Duration::from_millis(150) && started.elapsed() < Duration::from_millis(900));
    let started = Instant::now();
    assert_eq!(Database::open_within(&path, Duration::ZERO).err(), Some(StoreError::Locked));
    assert!(started.elapsed() < Duration::from_millis(100), "no patience, no wait");
    live.run("ROLLBACK");
    assert_eq!(read(&path).unwrap(), 0);
    live.run("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; INSERT INTO t VALUES(1)");
    let before = dir.look(&[]);
    assert_eq!(Database::open(&path).err(), Some(StoreError::Locked), "a log of an owner that wants nobody beside it");
    assert_eq!(dir.look(&[]), before);
    live.close();
}

/// Both counts in one snapshot of a new handle.
fn both(path: &Path) -> Result<(i64, i64), StoreError> {
    Database::open(path)?.snapshot(|db| {
        let mut twin = -1;
        db.rows("SELECT count(*) FROM twin", &[], |row| {
            twin = row.get(0)?;
            Ok(true)
        })?;
        Ok((count(db)?, twin))
    })
}

/// OC-039.
#[test]
fn oc_039_a_busy_writer_never_meets_a_lock_and_every_read_is_whole() {
    let dir = Scratch::new("busy");
    let path = dir.at("a.db");
    let mut live = Owner::open(&path, "PRAGMA journal_mode=WAL; CREATE TABLE t(x); CREATE TABLE twin(x)");
    live.say("write 400");
    let started = Instant::now();
    let (mut last, mut reads) = (0, 0);
    while last < 400 {
        let (a, b) = both(&path).unwrap();
        assert_eq!(a, b, "one state of the database");
        assert!(a >= last, "what was seen is not unseen again");
        (last, reads) = (a, reads + 1);
        assert!(started.elapsed() < Duration::from_secs(30), "{last} of 400 seen");
    }
    assert_eq!(live.hear(), "ok", "the writer, who waits for nobody, met no lock");
    assert!(reads >= 100, "{reads} reads");
    live.close();
    assert_eq!(both(&path), Ok((400, 400)));
    assert_eq!(dir.look(&[]).len(), 1);
}

#[test]
#[ignore = "prints figures"]
fn figures() {
    let dir = Scratch::new("figures");
    let path = dir.at("a.db");
    let live = Owner::open(&path, "PRAGMA journal_mode=WAL; CREATE TABLE t(x); CREATE TABLE twin(x)");
    for (name, path) in [("live", path.clone()), ("closed", dir.at("b.db"))] {
        if name == "closed" {
            made(&path, "PRAGMA journal_mode=WAL; CREATE TABLE t(x); CREATE TABLE twin(x)");
        }
        let started = Instant::now();
        for _ in 0..1000 {
            both(&path).unwrap();
        }
        println!("{name}: {:?} a read", started.elapsed() / 1000);
        let started = Instant::now();
        for _ in 0..1000 {
            drop(Database::open(&path).unwrap());
        }
        println!("{name}: {:?} an open", started.elapsed() / 1000);
    }
    live.close();
}
