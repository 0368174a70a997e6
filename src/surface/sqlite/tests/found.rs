//! What may stand where a database should: logs without an owner, foreign files, links, odd paths.

use super::*;

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
