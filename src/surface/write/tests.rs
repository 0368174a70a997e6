use super::*;

fn scratch() -> Temporary {
    Temporary::create(&std::env::temp_dir(), "cargento-write-test").unwrap()
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// STATE-001, STATE-004.
#[cfg(unix)]
#[test]
fn state_001_and_004_modes_of_directory_and_file() {
    let home = scratch();
    let place = Place::state(&home.place().root().join("a b").join("state"));
    place.replace("cargento-1.json", b"{}").unwrap();
    assert_eq!((mode(place.root()), mode(&place.path("cargento-1.json"))), (0o700, 0o600));
    fs::set_permissions(place.root(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place.replace("observer/claude_x.json", b"x").unwrap();
    assert_eq!((mode(place.root()), mode(&place.path("observer"))), (0o700, 0o700));
    assert_eq!(mode(&place.path("observer/claude_x.json")), 0o600);
    place.append("cargento-1.log").unwrap();
    assert_eq!(mode(&place.path("cargento-1.log")), 0o600);
}

/// STATE-004.
#[test]
fn state_004_replaces_whole_and_leaves_no_temporary_file() {
    let home = scratch();
    let place = home.place();
    place.replace("s.json", b"one").unwrap();
    place.replace("s.json", b"two").unwrap();
    assert_eq!(place.read("s.json", 3).unwrap().unwrap(), b"two");
    assert_eq!(names(place.root()), ["s.json"]);
}

/// STATE-004.
#[test]
fn state_004_a_failed_rename_leaves_the_old_file_and_no_temporary_one() {
    let home = scratch();
    let place = home.place();
    fs::create_dir(place.path("taken")).unwrap();
    assert!(place.replace("taken", b"x").is_err());
    assert_eq!(names(place.root()), ["taken"]);
}

/// TRUST-011.
#[test]
fn trust_011_names_that_leave_the_place_are_refused() {
    let home = scratch();
    let place = home.place();
    for name in ["", "..", "../x", "a/../../x", "/etc/x", "a\0b", "./x/..", "c:x"] {
        assert!(place.replace(name, b"x").is_err(), "{name:?}");
        assert!(place.remove(name).is_err(), "{name:?}");
        assert!(place.read(name, 9).is_err(), "{name:?}");
    }
    let only = Place::registration(&place.path("reg.json")).unwrap();
    assert!(only.replace("other.json", b"x").is_err());
    only.replace("reg.json", b"x").unwrap();
    assert_eq!(names(place.root()), ["reg.json"]);
}

/// TRUST-011.
#[cfg(unix)]
#[test]
fn trust_011_symlinks_are_neither_written_through_nor_left_by() {
    let home = scratch();
    let outside = scratch();
    let place = Place::state(&home.place().root().join("state"));
    place.ensure().unwrap();
    std::os::unix::fs::symlink(outside.place().path("victim"), place.path("s.json")).unwrap();
    std::os::unix::fs::symlink(outside.place().root(), place.path("observer")).unwrap();
    assert!(place.replace("s.json", b"x").is_err());
    assert!(place.append("s.json").is_err());
    assert!(place.replace("observer/x.json", b"x").is_err());
    fs::write(outside.place().path("y.json"), b"x").unwrap();
    assert!(place.remove("observer/y.json").is_err() && place.rename("observer/y.json", "y").is_err());
    fs::remove_file(outside.place().path("y.json")).unwrap();
    assert_eq!(names(outside.place().root()), Vec::<String>::new());
}

/// STATE-008.
#[test]
fn state_008_reads_are_capped_and_absence_is_no_error() {
    let home = scratch();
    let place = home.place();
    assert!(place.read("none.json", 10).unwrap().is_none());
    place.replace("big.json", &[b'x'; 11]).unwrap();
    assert_eq!(place.read("big.json", 10).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    assert_eq!(place.read("big.json", 11).unwrap().unwrap().len(), 11);
    fs::create_dir(place.path("dir")).unwrap();
    assert!(place.read("dir", 10).is_err());
}

/// TRUST-050.
#[test]
fn trust_050_only_dead_processes_temporary_files_are_swept() {
    let home = scratch();
    let place = home.place();
    for name in ["s.json.12.0123abcd.tmp", "s.json.13.0123abcd.tmp", "mine.tmp", "s.json.12.0123ABCD.tmp", "s.12.0"] {
        place.replace(name, b"x").unwrap();
    }
    let reused = File::create(place.path("s.json.13.89abcdef.tmp")).unwrap();
    reused.set_modified(std::time::SystemTime::now() - Duration::from_secs(LEFT_BEHIND_SEC + 1)).unwrap();
    place.sweep(None, &|pid| pid == 13);
    assert_eq!(names(place.root()), ["mine.tmp", "s.12.0", "s.json.12.0123ABCD.tmp", "s.json.13.0123abcd.tmp"]);
}

/// ANN-005.
#[test]
fn ann_005_a_lock_is_exclusive_and_ends_with_its_holder() {
    let home = scratch();
    let place = home.place();
    let held = place.lock("x.lock", Duration::ZERO).unwrap();
    assert!(matches!(place.lock("x.lock", Duration::ZERO), Err(LockError::Busy)));
    drop(held);
    assert!(place.lock("x.lock", Duration::ZERO).is_ok());
}

/// ANN-005 a lock file that was removed locks nothing: who waited for it takes the one that is there.
#[cfg(unix)]
#[test]
fn ann_005_a_removed_lock_file_is_no_lock() {
    let home = scratch();
    let place = home.place();
    let first = place.lock("x.lock", Duration::ZERO).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| place.lock("x.lock", Duration::from_secs(20)).unwrap());
        std::thread::sleep(Duration::from_millis(20));
        assert!(place.remove("x.lock").unwrap());
        let third = place.lock("x.lock", Duration::ZERO).unwrap();
        drop(first);
        std::thread::sleep(Duration::from_millis(20));
        assert!(!waiting.is_finished(), "the new file is the lock, and it is taken");
        drop(third);
        drop(waiting.join().unwrap());
    });
}

#[test]
fn a_temporary_directory_goes_with_its_value() {
    let home = scratch();
    let root = home.place().root().to_path_buf();
    home.place().replace("a/b.json", b"x").unwrap();
    drop(home);
    assert!(!root.exists());
}
