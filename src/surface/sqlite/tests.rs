//! Stores as their owners leave them: live, closed, crashed, locked, foreign, reshaped.

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

/// A database whose owner was killed, with those of its sidecars that are named.
fn crashed(dir: &Scratch, sidecars: &[&str]) -> PathBuf {
    let path = dir.at("a.db");
    let mut live = Owner::open(&path, WAL);
    live.run("INSERT INTO t VALUES(2)");
    live.kill();
    for suffix in ["-wal", "-shm"].iter().filter(|s| !sidecars.contains(s)) {
        std::fs::remove_file(dir.at(&format!("a.db{suffix}"))).unwrap();
    }
    path
}

#[test]
fn a_crashed_owners_log_is_read_without_recovering_it() {
    let dir = Scratch::new("crashed");
    let path = crashed(&dir, &["-wal", "-shm"]);
    let before = dir.look(&[]);
    assert_eq!(read(&path).unwrap(), 2);
    assert_eq!(dir.look(&[]), before);
    // An index of nothing but noise vouches for nothing: the log is read by itself.
    std::fs::write(dir.at("a.db-shm"), vec![0xA5u8; 32_768]).unwrap();
    let before = dir.look(&[]);
    assert_eq!(read(&path).unwrap(), 2);
    assert_eq!(dir.look(&[]), before);
}

#[test]
fn a_log_without_index_is_still_read() {
    let dir = Scratch::new("unindexed");
    let path = crashed(&dir, &["-wal"]);
    let before = dir.look(&[]);
    assert_eq!(read(&path).unwrap(), 2, "never as unchanging: that would show the last checkpoint as the present");
    assert_eq!(dir.look(&["-shm"]), before);
}

/// AGY-015.
#[test]
fn agy_015_an_empty_log_without_index_leaves_the_file_alone() {
    let dir = Scratch::new("empty-log");
    let path = dir.at("a.db");
    made(&path, WAL);
    std::fs::write(dir.at("a.db-wal"), b"").unwrap();
    let before = dir.look(&[]);
    assert_eq!(read(&path).unwrap(), 1);
    assert_eq!(dir.look(&[]), before);
}

#[test]
fn an_empty_file_is_never_opened_since_its_log_would_be_deleted() {
    let dir = Scratch::new("zero");
    std::fs::write(dir.at("a.db"), b"").unwrap();
    std::fs::write(dir.at("a.db-wal"), b"someone's log").unwrap();
    std::fs::write(dir.at("a.db-journal"), b"someone's journal").unwrap();
    let before = dir.look(&[]);
    assert!(matches!(Database::open(&dir.at("a.db")), Err(StoreError::Schema(_))));
    assert_eq!(dir.look(&[]), before);
}

#[test]
fn a_hot_journal_is_left_to_its_owner() {
    let dir = Scratch::new("hot");
    let mut live = Owner::open(&dir.at("a.db"), "CREATE TABLE t(x); INSERT INTO t VALUES(zeroblob(100000))");
    live.run("PRAGMA cache_spill=1; PRAGMA cache_size=1; BEGIN; UPDATE t SET x = zeroblob(200000)");
    live.kill();
    let before = dir.look(&[]);
    assert_eq!(before.len(), 2, "a journal stands beside the file");
    let error = Database::open(&dir.at("a.db")).err().unwrap();
    assert_eq!(error.code(), Code::StoreUnreadable);
    assert!(error.to_string().contains("rolled back"), "{error}");
    assert_eq!(dir.look(&[]), before);
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

/// OC-024.
#[test]
fn oc_024_foreign_files_are_told_apart() {
    let dir = Scratch::new("foreign");
    let code = |name: &str| Database::open(&dir.at(name)).err().map(|e| e.code());
    std::fs::write(dir.at("text"), b"certainly not a database ".repeat(200)).unwrap();
    std::fs::write(dir.at("zeros"), vec![0u8; 4096]).unwrap();
    let mut noise = 1u32;
    let random: Vec<u8> = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (noise >> 24) as u8
    })
    .take(8192)
    .collect();
    std::fs::write(dir.at("cipher"), &random).unwrap();
    std::fs::create_dir(dir.at("folder")).unwrap();
    assert_eq!(code("text"), Some(Code::StoreCorrupt));
    assert_eq!(code("zeros"), Some(Code::StoreCorrupt));
    assert_eq!(code("cipher"), Some(Code::StoreEncrypted));
    assert_eq!(code("folder"), Some(Code::StoreUnreadable));
    assert_eq!(code("gone"), Some(Code::StoreMissing));
    let text = Database::open(&dir.at("text")).err().unwrap().to_string();
    assert_eq!(text, "DatabaseError: file is not a database");
    // Pages of a sound database overwritten: refused where they are read, not before.
    made(&dir.at("torn"), "CREATE TABLE t(x); INSERT INTO t VALUES(zeroblob(9000))");
    let mut bytes = std::fs::read(dir.at("torn")).unwrap();
    bytes[4096..].fill(0xEE);
    std::fs::write(dir.at("torn"), bytes).unwrap();
    assert_eq!(read(&dir.at("torn")).unwrap_err().code(), Code::StoreCorrupt);
}

/// TRUST-031.
#[cfg(unix)]
#[test]
fn trust_031_links_and_pipes_are_refused_and_a_linked_root_is_not() {
    let dir = Scratch::new("links");
    std::fs::create_dir(dir.at("real")).unwrap();
    made(&dir.at("real/a.db"), WAL);
    std::os::unix::fs::symlink(dir.at("real"), dir.at("root")).unwrap();
    std::os::unix::fs::symlink(dir.at("real/a.db"), dir.at("real/link.db")).unwrap();
    std::os::unix::fs::symlink(dir.at("gone"), dir.at("real/dangling.db")).unwrap();
    assert!(Command::new("mkfifo").arg(dir.at("real/pipe.db")).status().unwrap().success());
    assert_eq!(read(&dir.at("root/a.db")).unwrap(), 1);
    for name in ["link.db", "dangling.db", "pipe.db"] {
        let error = Database::open(&dir.at("root").join(name)).err().unwrap();
        assert_eq!(error.code(), Code::StoreUnreadable, "{name}");
    }
}

/// OC-040.
#[test]
fn oc_040_paths_with_every_special_character_open() {
    let dir = Scratch::new("names");
    for name in ["with space.db", "100%.db", "what?.db", "a#b.db", "x&immutable=1.db", "ünï.db", "a:b.db", "%41.db"] {
        made(&dir.at(name), WAL);
        assert_eq!(read(&dir.at(name)).unwrap(), 1, "{name}");
    }
    #[cfg(unix)]
    {
        let raw = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff\xfe.db");
        std::fs::copy(dir.at("100%.db"), dir.0.join(raw)).unwrap();
        assert_eq!(read(&dir.0.join(raw)).unwrap(), 1, "a name that is no Unicode");
    }
    assert_eq!(open::uri_path(b"/srv/a b%?#.db", false), "/srv/a%20b%25%3F%23.db");
    assert_eq!(open::uri_path(b"//srv/x", false), "////srv/x");
    assert_eq!(open::uri_path(b"C:\\Users\\x y", true), "/C:/Users/x%20y");
    assert_eq!(open::uri_path(b"\\\\srv\\share", true), "////srv/share");
    assert_eq!(open::uri_path(b"/a\\b", false), "/a%5Cb");
}

#[test]
fn a_write_through_the_handle_fails() {
    let dir = Scratch::new("readonly");
    let path = dir.at("a.db");
    let live = Owner::open(&path, WAL);
    let refused = |db: &Database| {
        let write = db.connection.execute_batch("INSERT INTO t VALUES(9)").unwrap_err();
        assert!(write.to_string().contains("attempt to write a readonly database"), "{write}");
    };
    refused(&Database::open(&path).unwrap());
    live.close();
    refused(&Database::open(&path).unwrap());
}

/// OC-008, TRUST-035.
#[test]
fn oc_008_trust_035_structure_is_asserted_and_views_are_no_tables() {
    let dir = Scratch::new("schema");
    let path = dir.at("a.db");
    let endless =
        "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i AS x FROM n;";
    made(&path, &format!("CREATE TABLE T(X, y); {endless}"));
    let db = Database::open(&path).unwrap();
    assert!(db.require("t", &["x", "y"]).is_ok());
    assert_eq!(db.require("t", &["z"]), Err(StoreError::Schema("no such column: t.z".into())));
    assert_eq!(db.require("u", &["z"]), Err(StoreError::Schema("no such table: u".into())));
    assert_eq!(db.require("v", &["x"]), Err(StoreError::Schema("no such table: v".into())));
    let view = db.rows("SELECT x FROM v", &[], |_| Ok(true)).unwrap_err();
    assert_eq!(view.code(), Code::SchemaUnknown, "{view}");
    let missing = db.rows("SELECT z FROM t", &[], |_| Ok(true)).unwrap_err();
    assert_eq!(missing.to_string(), "OperationalError: no such column: z");
}

/// TRUST-064.
#[test]
fn trust_064_a_statement_without_end_is_stopped() {
    let dir = Scratch::new("endless");
    let path = dir.at("a.db");
    made(&path, "CREATE TABLE t(x)");
    let db = Database::open(&path).unwrap();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) FROM n";
    db.clock.at.store(0, Ordering::Relaxed);
    db.snapshot.set(true);
    assert_eq!(db.rows(endless, &[], |_| Ok(true)), Err(StoreError::Slow));
    db.snapshot.set(false);
    assert_eq!(count(&db).unwrap(), 0, "the next statement has its own time");
    let huge = db.rows("SELECT zeroblob(100000000)", &[], |_| Ok(true)).unwrap_err();
    assert_eq!(huge.code(), Code::StoreUnreadable, "{huge}");
}

#[test]
fn cells_are_typed_one_by_one() {
    assert_eq!(text(ValueRef::Text("aé".as_bytes()), 2).unwrap(), "a");
    assert_eq!(text(ValueRef::Blob(b"a\xff"), 9).unwrap(), "a\u{fffd}");
    assert_eq!(text(ValueRef::Integer(3), 9), None);
    assert_eq!(number(ValueRef::Text(b" 7.5 ")), Some(7.5));
    assert_eq!(number(ValueRef::Blob(b"7")), None);
    assert_eq!((number(ValueRef::Text(b"nan")), number(ValueRef::Real(f64::INFINITY))), (None, None));
    assert_eq!(epoch(ValueRef::Integer(1_789_900_000_000)), 1_789_900_000.0);
    assert_eq!((epoch(ValueRef::Text(b"1789900000000")), epoch(ValueRef::Integer(-4))), (0.0, 0.0));
    let set = [ValueRef::Integer(1), ValueRef::Real(0.5), ValueRef::Text(b"0")];
    let unset = [ValueRef::Null, ValueRef::Integer(0), ValueRef::Real(0.0), ValueRef::Text(b""), ValueRef::Blob(b"")];
    assert!(set.into_iter().all(truthy) && !unset.into_iter().any(truthy));
}

/// AGY-012, OC-042.
#[test]
fn agy_012_oc_042_the_ends_of_a_cell() {
    let dir = Scratch::new("tail");
    let path = dir.at("a.db");
    made(&path, "CREATE TABLE t(x); INSERT INTO t VALUES(CAST('abcdef' AS BLOB)), ('xy'), (NULL)");
    let db = Database::open(&path).unwrap();
    assert_eq!(db.cell_tail("t", "x", 1, 3).unwrap(), b"def");
    assert_eq!(db.cell_tail("t", "x", 2, 64).unwrap(), b"xy");
    assert_eq!(db.cell_head("t", "x", 1, 3).unwrap(), b"abc");
    assert_eq!(db.cell_head("t", "x", 2, 64).unwrap(), b"xy");
    assert!(db.cell_tail("t", "x", 3, 4).is_err() && db.cell_tail("t", "x", 9, 4).is_err());
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
