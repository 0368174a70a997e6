//! For the tests of the readers of SQLite stores: stores made as their owners do, and passes at a given time.

use crate::harness::testkit::WINDOW;
use crate::harness::{Collected, Collector, Pass, degrades};
use crate::model::Observed;
use crate::surface::watch::{Dirty, Watch};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// The clock of this machine, for stores that another process writes.
pub fn now() -> f64 {
    crate::model::time::system_clock()()
}

/// The rows as the board publishes them.
pub fn board(found: Collected, now: f64) -> Vec<serde_json::Value> {
    let source = crate::board::Source { rows: found.rows, ..crate::board::Source::default() };
    let variant = crate::board::Variant { now, window_hours: WINDOW / 3600.0, all: false };
    let body = crate::board::assemble(source, variant, &[], &[], &|_| ()).body().expect("a board");
    let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    body["sessions"].as_array().expect("rows").clone()
}

/// Runs something with a pass that nothing announced.
pub fn pass_at<T>(now: f64, all: bool, run: impl FnOnce(&Pass<'_>) -> T) -> T {
    let (watch, dirty) = (Watch::off(), Dirty::default());
    run(&Pass { now, window: WINDOW, all, dirty: &dirty, sweep: false, watch: &watch })
}

/// One collection.
pub fn collect(reader: &mut dyn Collector, now: f64, all: bool) -> Collected {
    pass_at(now, all, |pass| degrades::collect(reader, pass)).expect("a reader of a database fails for no store")
}

/// A database, made or opened as its owner does.
pub fn owner(path: &Path, sql: &str) -> Connection {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("its folder");
    let owner = Connection::open(path).expect("a database");
    owner.execute_batch(sql).expect(sql);
    owner
}

/// The row of a session.
pub fn row<'a>(found: &'a Collected, sid: &str) -> &'a Observed {
    let rows: Vec<&Observed> = found.rows.iter().filter(|r| r.sid == sid).collect();
    assert_eq!(rows.len(), 1, "one row {sid} among {:?}", sids(found));
    rows[0]
}

/// The ids of all rows, sorted.
pub fn sids(found: &Collected) -> Vec<&str> {
    let mut sids: Vec<&str> = found.rows.iter().map(|r| r.sid.as_str()).collect();
    sids.sort_unstable();
    sids
}

/// Codes of the degrades of a harness.
pub fn codes(found: &Collected) -> Vec<&'static str> {
    found.degrades.iter().map(|d| d.code.as_str()).collect()
}

/// Rows as published, for comparing readers.
pub fn published(found: &Collected) -> Vec<serde_json::Value> {
    let mut rows: Vec<&Observed> = found.rows.iter().collect();
    rows.sort_by(|a, b| a.sid.cmp(&b.sid));
    rows.into_iter().map(|r| serde_json::to_value(r).expect("a row")).collect()
}

/// Prints what cold and warm passes over a home cost.
pub fn figures(make: impl Fn(&Path) -> Box<dyn Collector>) {
    let Some(home) = std::env::var_os("CARGENTO_SCALE_HOME").map(PathBuf::from) else { return };
    let now = crate::model::time::system_clock()();
    let time = |name: &str, reader: &mut dyn Collector, watch: &Watch, sweep: bool, all: bool| {
        let dirty = watch.take();
        let pass = Pass { now, window: WINDOW, all, dirty: &dirty, sweep, watch };
        let (started, cpu) = (std::time::Instant::now(), cpu_ms());
        assert!(reader.discovered());
        let found = reader.collect(&pass).expect("rows");
        let degrades = codes(&found);
        let (wall, cpu) = (started.elapsed(), cpu_ms() - cpu);
        println!("{name}: {wall:?}, of that {cpu:.3} ms on a processor, {} rows, {degrades:?}", found.rows.len());
    };
    for _ in 0..3 {
        let (mut reader, watch) = (make(&home), Watch::start(|| ()));
        time("cold", &mut *reader, &watch, true, false);
        for _ in 0..3 {
            time("warm", &mut *reader, &watch, false, false);
        }
        time("sweep", &mut *reader, &watch, true, false);
        time("all, cold", &mut *reader, &watch, false, true);
        time("all, warm", &mut *reader, &watch, false, true);
    }
}

/// Time this thread has spent on a processor, milliseconds; 0 where the kernel does not tell.
fn cpu_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) / 1e6
}
