//! Stores that list all sessions in one table: which of them count, which row a child counts for, and the rows.
//!
//! OpenCode and Goose keep such a store. Each says what its table holds; what follows from it is the same for both.

use super::kept::{Kept, Look};
use super::lineage::{Above, LEVELS, row_above};
use super::rows::{self, Pill};
use super::{Trouble, named};
use crate::harness::identity::Identities;
use crate::harness::pause::Pause;
use crate::harness::{Collected, Pass, place};
use crate::model::{Code, Observed, time};
use crate::surface::read as files;
use crate::surface::sqlite::{self, Database, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// How long all sessions stay at hand after a list of them was last asked for, seconds: pages ask for it again and
/// again, and between two times the store is not read anew.
const ALL_KEPT_SEC: f64 = 60.0;

/// What one pass wants to know.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    pub now: f64,
    pub window: f64,
    pub all: bool,
    /// Parts that took too long are not asked for before it is over.
    pub pause: Pause,
}

impl Scope {
    /// What a pass wants to know.
    pub fn of(pass: &Pass<'_>) -> Scope {
        Scope { now: pass.now, window: pass.window, all: pass.all, pause: Pause::default() }
    }

    /// Whether something written at `at` lies in the display window.
    pub fn active(&self, at: f64) -> bool {
        time::fresh(at, self.window, self.now)
    }

    /// Whether a session belongs in a reading by itself: it is shown, or may yet be.
    pub fn wants(&self, session: &impl Listed) -> bool {
        let at = session.updated();
        let ahead = time::age(at, self.now).is_none();
        match session.above() {
            Above::Row => self.all || ahead || self.active(at),
            Above::Parent(_) => ahead || rows::is_running(at, self.now),
            Above::Gone => false,
        }
    }
}

/// A session as its row of the table has it, made fit to publish.
pub trait Listed {
    /// What stands above it.
    fn above(&self) -> Above<'_>;

    /// Its newest write, seconds since the epoch; 0 = unknown.
    fn updated(&self) -> f64;

    /// Where it works, as recorded.
    fn directory(&self) -> &str;

    /// Whether its messages were asked for.
    fn is_asked(&self) -> bool;

    /// It as a child on its parent's row.
    fn pill(&self) -> Pill;

    /// Its row under its id, but for its place.
    fn row(&self, id: &str, pills: Vec<Pill>, pass: &Pass<'_>) -> Observed;
}

/// What one database held when it was last read.
pub struct Reading<S> {
    /// What it was read for.
    pub scope: Scope,
    /// By id: rows that may be shown, children that run, and everything above those.
    pub sessions: BTreeMap<String, S>,
    /// Sessions that could not be identified.
    pub skipped: u64,
    /// Some histories were carried over from the reading before.
    pub carried: bool,
    /// Why a part of it could not be read.
    pub faults: Vec<StoreError>,
    /// Clock of the last pass that asked for all sessions.
    all_at: f64,
}

impl<S: Listed> Reading<S> {
    /// Nothing yet.
    pub fn new(scope: Scope) -> Reading<S> {
        Reading { scope, sessions: BTreeMap::new(), skipped: 0, carried: false, faults: Vec::new(), all_at: scope.now }
    }

    /// Whether it answers what a pass asks. On a sweep one that was built on another does not: a message may have been
    /// changed in place.
    fn suffices(&self, scope: Scope, sweep: bool) -> bool {
        let unread = |s: &S| s.above() == Above::Row && !s.is_asked() && scope.active(s.updated());
        (self.scope.all || !scope.all)
            && scope.window <= self.scope.window
            && !(sweep && self.carried)
            && !(self.is_slow() && self.scope.pause.is_over(scope.now))
            && !self.sessions.values().any(unread)
    }

    /// The row that a session counts for.
    pub fn row_of<'a>(&'a self, id: &'a str) -> Option<&'a str> {
        row_above(id, |id| self.sessions.get(id).map_or(Above::Gone, Listed::above))
    }

    fn running(&self, now: f64) -> impl Iterator<Item = (&String, &S)> {
        let runs = move |s: &S| matches!(s.above(), Above::Parent(_)) && rows::is_running(s.updated(), now);
        self.sessions.iter().filter(move |(_, session)| runs(session))
    }

    /// The rows whose messages are shown: active by themselves or through a child that runs.
    pub fn rows_that_count(&self) -> Vec<String> {
        let through: Vec<&str> = self.running(self.scope.now).filter_map(|(id, _)| self.row_of(id)).collect();
        let counts = |(id, session): &(&String, &S)| {
            session.above() == Above::Row && (self.scope.active(session.updated()) || through.contains(&id.as_str()))
        };
        self.sessions.iter().filter(counts).map(|(id, _)| id.clone()).collect()
    }

    /// Drops the sessions that neither may be shown nor stand above one that may.
    pub fn keep_what_counts(&mut self) {
        let wanted = self.sessions.iter().filter(|(_, session)| self.scope.wants(*session));
        let mut kept: Vec<String> = wanted.map(|(id, _)| id.clone()).collect();
        let mut above: Vec<String> = Vec::new();
        for id in &kept {
            let mut session = self.sessions.get(id);
            for _ in 0..LEVELS {
                let Some(Above::Parent(parent)) = session.map(Listed::above) else { break };
                session = self.sessions.get(parent);
                above.push(parent.to_owned());
            }
        }
        kept.append(&mut above);
        kept.sort_unstable();
        self.sessions.retain(|id, _| kept.binary_search(id).is_ok());
    }

    /// Drops what only a list of all sessions needs, when nobody has asked for one for a while.
    fn forget_old(&mut self, scope: Scope) {
        if scope.all {
            self.all_at = scope.now;
        } else if self.scope.all && !(0.0..ALL_KEPT_SEC).contains(&(scope.now - self.all_at)) {
            self.scope.all = false;
            self.scope.now = scope.now;
            self.keep_what_counts();
        }
    }

    /// A part of the reading, `None` when it failed, and then the fault is remembered. A store that was changed or
    /// locked is read anew as a whole; one that took too long is left alone for a while.
    pub fn part<T>(&mut self, read: impl FnOnce() -> Result<T, StoreError>) -> Result<Option<T>, StoreError> {
        let waits = !self.scope.pause.is_over(self.scope.now);
        match if waits { Err(StoreError::Slow) } else { read() } {
            Err(error @ (StoreError::Locked | StoreError::Changed)) => Err(error),
            Err(error) => {
                if error == StoreError::Slow && !waits {
                    self.scope.pause.failed(self.scope.now);
                }
                if !self.faults.contains(&error) {
                    self.faults.push(error);
                }
                Ok(None)
            }
            Ok(part) => Ok(Some(part)),
        }
    }

    fn is_slow(&self) -> bool {
        self.faults.contains(&StoreError::Slow)
    }

    fn rows(&self, source: &str, stale: Option<Code>, pass: &Pass<'_>, at: &mut Place<'_>, out: &mut Vec<Observed>) {
        let mut pills: HashMap<&str, Vec<Pill>> = HashMap::new();
        for (id, child) in self.running(pass.now) {
            if let Some(row) = self.row_of(id) {
                pills.entry(row).or_default().push(child.pill());
            }
        }
        for (id, session) in self.sessions.iter().filter(|(_, s)| s.above() == Above::Row) {
            let mut row = session.row(id, pills.remove(id.as_str()).unwrap_or_default(), pass);
            if !row.active && !pass.all {
                continue;
            }
            if !row.source_gaps.is_empty() {
                self.faults.iter().for_each(|fault| rows::degrade(&mut row, fault.code(), source));
            }
            if let Some(code) = stale {
                rows::stale(&mut row, code, source);
            }
            place::settle(&mut row, Some(session.directory()), None, at.home, at.identities, pass.now);
            out.push(row);
        }
    }
}

/// What gives rows their place.
pub struct Place<'a> {
    pub home: &'a Path,
    pub identities: &'a mut Identities,
}

/// Reads a database as a harness knows it; handed what was read of it last.
pub type Read<S> = fn(&Database, Option<&Reading<S>>, Scope) -> Result<Reading<S>, StoreError>;

/// Reads a database when that is due, and adds its rows and what could not be read of it. `source` is its name in
/// degrades.
pub fn collect<S: Listed>(
    kept: &mut Kept<Reading<S>>,
    source: &str,
    read: Read<S>,
    pass: &Pass<'_>,
    at: &mut Place<'_>,
    out: &mut Collected,
) {
    let path = kept.path().to_path_buf();
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return };
    let mut trouble = Trouble::new(source);
    let moved = sqlite::stamps(&path);
    if moved.file.is_none() {
        *kept = Kept::new(path.clone());
        if files::look(&path).is_ok() {
            trouble.met(&path, Code::StoreUnreadable, "OperationalError: not a regular file");
            trouble.into(out);
        }
        return;
    }
    let before = kept.value(pass.now, pass.window).filter(|r| r.is_slow()).map(|r| r.scope.pause);
    let scope = Scope { pause: before.unwrap_or_default(), ..Scope::of(pass) };
    let again = kept.value(pass.now, pass.window).is_some_and(|r| !r.suffices(scope, pass.sweep));
    let look = Look::new(pass.now, moved, named(pass, dir, name), again);
    kept.refresh(&look, |db, before| read(db, before.filter(|_| !pass.sweep), scope));
    if let Some(reading) = kept.value_mut() {
        reading.forget_old(scope);
    }
    if let Some(error) = kept.trouble() {
        trouble.met(&path, error.code(), &error.to_string());
    }
    if let Some(reading) = kept.value(pass.now, pass.window) {
        reading.rows(source, kept.trouble().map(StoreError::code), pass, at, &mut out.rows);
        for fault in &reading.faults {
            trouble.met(&path, fault.code(), &fault.to_string());
        }
        if reading.skipped > 0 {
            let why = format!("ValueError: {} sessions have no usable id", reading.skipped);
            trouble.counted(&path, reading.skipped, &why);
        }
    }
    trouble.into(out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::sql::support::{collect as pass, owner, published, sids};
    use crate::harness::testkit::{NOW, Scratch, WINDOW};
    use crate::harness::{goose::Goose, opencode::OpenCode};

    struct Fake {
        parent: Option<&'static str>,
        at: f64,
    }

    impl Listed for Fake {
        fn above(&self) -> Above<'_> {
            self.parent.map_or(Above::Row, |parent| if parent == "gone" { Above::Gone } else { Above::Parent(parent) })
        }
        fn updated(&self) -> f64 {
            self.at
        }
        fn directory(&self) -> &'static str {
            ""
        }
        fn is_asked(&self) -> bool {
            true
        }
        fn pill(&self) -> Pill {
            Pill { at: self.at, name: String::new(), model: None }
        }
        fn row(&self, id: &str, _: Vec<Pill>, _: &Pass<'_>) -> Observed {
            Observed::new(crate::model::Key::Goose, id)
        }
    }

    fn scope(all: bool) -> Scope {
        Scope { now: NOW, window: WINDOW, all, pause: Pause::default() }
    }

    fn reading(all: bool) -> Reading<Fake> {
        let mut reading = Reading::new(scope(all));
        for (id, parent, age) in [
            ("row", None, 5.0),
            ("old", None, 2.0 * WINDOW),
            ("ahead", None, -WINDOW),
            ("above", None, 2.0 * WINDOW),
            ("child", Some("above"), 50.0),
            ("quiet", Some("row"), 200.0),
            ("grandchild", Some("quiet"), 5.0),
            ("hidden", Some("gone"), 5.0),
            ("a", Some("b"), 5.0),
            ("b", Some("a"), 5.0),
        ] {
            reading.sessions.insert(id.into(), Fake { parent, at: NOW - age });
        }
        reading
    }

    /// OC-013, OC-014, GOOSE-009: what is kept, and whose messages are read.
    #[test]
    fn oc_013_goose_009_sessions_that_count() {
        let mut day = reading(false);
        assert_eq!(day.rows_that_count(), ["above", "row"], "by itself, or through a child that runs");
        day.keep_what_counts();
        let kept: Vec<&str> = day.sessions.keys().map(String::as_str).collect();
        assert_eq!(kept, ["a", "above", "ahead", "b", "child", "grandchild", "quiet", "row"]);
        assert_eq!(
            (day.row_of("grandchild"), day.row_of("child"), day.row_of("a")),
            (Some("row"), Some("above"), None)
        );
        let mut every = reading(true);
        every.keep_what_counts();
        assert!(every.sessions.contains_key("old") && !every.sessions.contains_key("hidden"));
        every.forget_old(Scope { now: NOW + 10.0, ..scope(false) });
        assert!(every.sessions.contains_key("old"), "somebody may ask for all of them again");
        every.forget_old(Scope { now: NOW + 70.0, ..scope(false) });
        assert!(!every.sessions.contains_key("old") && !every.suffices(scope(true), false));
    }

    /// FIELD-046: a part that took too long is left alone for a growing while, and its gap named meanwhile.
    #[test]
    fn field_046_a_slow_part_is_left_alone_for_a_while() {
        let mut first = reading(false);
        assert_eq!(first.part(|| Err::<(), _>(StoreError::Slow)), Ok(None));
        assert!(first.is_slow() && first.suffices(scope(false), false), "not again at once");
        let later = Scope { now: NOW + 2.0, ..scope(false) };
        assert!(!first.suffices(later, false), "but when the pause is over");
        let mut second = Reading::<Fake>::new(Scope { now: NOW + 1.0, pause: first.scope.pause, ..scope(false) });
        assert_eq!(second.part(|| -> Result<(), _> { panic!("it is not asked") }), Ok(None));
        assert_eq!(second.faults, [StoreError::Slow]);
        let mut third = Reading::<Fake>::new(Scope { pause: first.scope.pause, ..later });
        assert_eq!(third.part(|| Ok(7)), Ok(Some(7)));
        assert!(third.faults.is_empty());
        assert_eq!(third.part(|| Err::<(), _>(StoreError::Locked)), Err(StoreError::Locked), "a lock costs the whole");
    }

    /// OC-039: no pass opens a store that did not move, whichever list is asked for in turn.
    #[test]
    fn passes_over_a_store_that_did_not_move_open_nothing() {
        let s = Scratch::new("sessions-warm");
        let goose = include_str!("../../../fixtures/goose/1.47.0/store.sql");
        let opencode = include_str!("../../../fixtures/opencode/1.18.30/store.sql");
        drop(owner(&s.0.join("sessions.db"), goose));
        drop(owner(&s.0.join("data/opencode.db"), opencode));
        let readers: [(&str, Box<dyn crate::harness::Collector>); 2] = [
            ("sessions.db", Box::new(Goose::new(vec![s.0.join("sessions.db")], "/home/dev".into()))),
            ("data/opencode.db", Box::new(OpenCode::new(vec![s.0.join("data")], "/home/dev".into()))),
        ];
        for (name, mut reader) in readers {
            let read = |reader: &mut dyn crate::harness::Collector, all| published(&pass(reader, NOW + 1605.0, all));
            let first = (read(&mut *reader, false), read(&mut *reader, true));
            assert_eq!(sids(&pass(&mut *reader, NOW + 1605.0, false)).len(), 1);
            let path = s.0.join(name);
            let (len, stamp) = std::fs::metadata(&path).map(|m| (m.len(), m.modified().unwrap())).unwrap();
            // The same stamps over other bytes: whoever opens the file now sees no database.
            std::fs::write(&path, vec![b'x'; len as usize]).unwrap();
            std::fs::File::options().append(true).open(&path).unwrap().set_modified(stamp).unwrap();
            for _ in 0..3 {
                assert_eq!((read(&mut *reader, false), read(&mut *reader, true)), first, "{name}");
            }
        }
    }
}
