//! Scratch stores and passes with a given clock, for the tests of the readers.

pub use crate::model::time::iso;

use super::tree::{Judge, Take};
use super::{Collected, Collector, Pass, degrades};
use crate::env::{Env, Platform};
use crate::model::Observed;
use crate::roots::Roots;
use crate::surface::watch::{Dirty, Watch};
use proptest::test_runner::TestCaseError;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, UNIX_EPOCH};

/// The clock of most tests, seconds since the epoch: 2026-09-20T10:00:00Z.
pub const NOW: f64 = 1_789_898_400.0;
/// The default display window, seconds.
pub const WINDOW: f64 = 86_400.0;

/// A folder of its own that goes when the test ends.
pub struct Scratch(pub PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

impl Scratch {
    /// An empty folder for the test of this name; two tests of one name do not share it.
    pub fn new(name: &str) -> Scratch {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let n = MADE.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("cargento-{}-{n}-{name}", std::process::id()));
        drop(std::fs::remove_dir_all(&dir));
        std::fs::create_dir_all(&dir).unwrap();
        Scratch(dir.canonicalize().unwrap())
    }

    /// Writes a file of these bytes, last written at `mtime`.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>, mtime: f64) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        touch(&path, mtime);
        path
    }

    /// Copies a fixture, last written at `mtime`.
    pub fn fixture(&self, fixture: &str, name: &str, mtime: f64) -> PathBuf {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(fixture);
        self.write(name, std::fs::read(from).unwrap(), mtime)
    }
}

/// Appends bytes to a file, last written at `mtime`.
pub fn append(path: &Path, bytes: impl AsRef<[u8]>, mtime: f64) {
    std::fs::OpenOptions::new().append(true).open(path).unwrap().write_all(bytes.as_ref()).unwrap();
    touch(path, mtime);
}

/// Sets the time a file was last written.
pub fn touch(path: &Path, mtime: f64) {
    let file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs_f64(mtime)).unwrap();
}

/// One pass as the scan loop makes it.
pub fn pass(reader: &mut dyn Collector, now: f64, all: bool) -> Collected {
    if !reader.discovered() {
        return Collected::default();
    }
    let watch = Watch::off();
    let dirty = Dirty::default();
    degrades::collect(reader, &Pass { now, window: WINDOW, all, dirty: &dirty, sweep: true, watch: &watch }).unwrap()
}

/// The only row of a pass over the display window.
#[track_caller]
pub fn one(reader: &mut dyn Collector, now: f64) -> Observed {
    let mut rows = pass(reader, now, false).rows;
    assert_eq!(rows.len(), 1, "rows: {:?}", rows.iter().map(|row| &row.sid).collect::<Vec<_>>());
    rows.remove(0)
}

/// What a reader takes of a path below its root, each folder of which it entered.
pub fn judged(judge: Judge, path: &str) -> Take {
    let mut names: Vec<&OsStr> = path.split('/').map(OsStr::new).collect();
    let name = names.pop().unwrap();
    judge(&names, name)
}

/// Where a store is looked for on a platform with these variables set.
pub fn candidates(store: &str, platform: Platform, vars: &[(&str, &str)]) -> Vec<String> {
    let roots = Roots::new(&Env::of(platform, vars.iter().copied()), None);
    roots.candidates(store).iter().map(|path| path.display().to_string()).collect()
}

/// Ends of the pieces of a text of `len` bytes that is cut at these shares of it, unsorted.
pub fn ends(cuts: &[f64], len: usize) -> Vec<usize> {
    cuts.iter().map(|cut| (cut * len as f64) as usize).collect()
}

/// Appends a text to a file in pieces that end at these offsets and at its own end; looks at the file after each.
pub fn grow(
    path: &Path,
    bytes: &[u8],
    mut ends: Vec<usize>,
    mut look: impl FnMut(usize) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    ends.push(bytes.len());
    ends.sort_unstable();
    let mut from = 0;
    for end in ends {
        append(path, &bytes[from..end], NOW);
        from = end;
        look(end)?;
    }
    Ok(())
}

/// Everything a row says, as one text.
pub fn text(row: &Observed) -> String {
    format!("{}{:?}", serde_json::to_string(row).unwrap(), row.evidence)
}

/// Prints what passes of a reader cost on a home written for measuring, which `CARGENTO_SCALE_HOME` names; for tests that
/// are not run by default, in a release build.
pub fn cost(make: &dyn Fn(&Path) -> Box<dyn Collector>) {
    let home = PathBuf::from(std::env::var_os("CARGENTO_SCALE_HOME").unwrap());
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or(0u64)
    };
    let now = crate::model::time::system_clock()();
    for (name, watch) in [("watched", Watch::start(|| ())), ("unwatched", Watch::off())] {
        let before = resident();
        let mut reader = make(&home);
        let passes = ["cold", "warm", "warm", "sweep", "all cold", "all warm", "warm"];
        for what in passes {
            let (all, sweep, dirty) = (what.starts_with("all"), what == "sweep", Dirty::default());
            let pass = Pass { now, window: WINDOW, all, dirty: &dirty, sweep, watch: &watch };
            let start = std::time::Instant::now();
            assert!(reader.discovered());
            let found = reader.collect(&pass).unwrap();
            let took = start.elapsed().as_secs_f64() * 1000.0;
            let more = resident().saturating_sub(before);
            println!("{name:9} {what:8} {took:8.3} ms, {} rows, +{more} KiB", found.rows.len());
        }
    }
}
