//! One pass over every harness: who is there, what changed, one failure never another's.
//!
//! The scanner owns every reader and its caches; it lives on the scan loop's thread.

use crate::board::{HarnessStatus, Source};
use crate::harness::{Collected, Collector, Pass, degrades};
use crate::model::quota::Quota;
use crate::model::{Code, Degrade, Key};
use crate::surface::watch::Watch;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// Everything is looked at again this often, whatever the kernel said, seconds (EVT-107).
pub const SWEEP_SEC: f64 = 30.0;
/// Most threads that look at everything at once, the scan loop's own among them.
const WORKERS: usize = 4;
/// Stack of such a thread, bytes; as the scan loop's.
pub const STACK: usize = 4 * 1024 * 1024;
/// Longest store error kept, characters (SAFE caps table).
const ERROR_CAP: usize = 1024;

/// Makes a reader; called again after one panicked, since nothing it kept can be trusted then.
pub type Make = Box<dyn Fn() -> Box<dyn Collector> + Send>;

struct Reader {
    key: Key,
    make: Make,
    /// None after a panic, until the next pass makes it anew.
    collector: Option<Box<dyn Collector>>,
    /// Its store was not there in the last pass: what was noticed since went past it.
    absent: bool,
}

/// What a pass found beside the rows.
#[derive(Default)]
pub struct Findings {
    pub source: Source,
    /// Path to `<Type>: <message>`, of this pass only; for `--diagnose`.
    pub store_errors: Vec<(String, String)>,
    /// Readers that panicked.
    pub panics: u64,
    /// Some reader has more to read, although nothing changed.
    pub more: bool,
}

/// All readers and what they share.
pub struct Scanner {
    readers: Vec<Reader>,
    watch: Watch,
    last_sweep: f64,
}

impl Scanner {
    /// A scanner over readers in registry order. Nothing is read yet.
    pub fn new(makes: Vec<(Key, Make)>, watch: Watch) -> Scanner {
        let readers =
            makes.into_iter().map(|(key, make)| Reader { key, collector: Some(make()), make, absent: false }).collect();
        Scanner { readers, watch, last_sweep: f64::NEG_INFINITY }
    }

    /// Whether some directory is not reported on by the kernel, so that only looking can tell.
    pub fn is_blind(&self) -> bool {
        self.watch.lost()
    }

    /// Reads what changed and reports every session of every discovered harness.
    pub fn pass(&mut self, now: f64, window_sec: f64, all: bool) -> Findings {
        let dirty = self.watch.take();
        // A clock set back makes the distance negative: sweep then, too.
        let sweep = !(0.0..SWEEP_SEC).contains(&(now - self.last_sweep));
        if sweep {
            self.last_sweep = now;
        }
        let pass = Pass { now, window: window_sec, all, dirty: &dirty, sweep, watch: &self.watch };
        let lost = self.watch.lost();
        let mut findings = Findings::default();
        for (key, outcome) in run(&mut self.readers, &pass) {
            let Outcome { mut status, collected, quota, panicked } = outcome;
            findings.panics += u64::from(panicked);
            findings.source.quotas.extend(quota);
            if let Some(collected) = collected {
                findings.more |= collected.more;
                status.degrades = collected.degrades;
                if lost && status.discovered {
                    let source = key.as_str().into();
                    status.degrades.push(Degrade { code: Code::WatchLost, source, count: None });
                }
                findings.source.rows.extend(collected.rows);
                let bounded = |(path, why): (String, String)| (path, bound(&why));
                findings.store_errors.extend(collected.store_errors.into_iter().map(bounded));
            }
            findings.source.harnesses.push(status);
        }
        for key in Key::ALL {
            if !findings.source.harnesses.iter().any(|h| h.key == key) {
                findings.source.harnesses.push(HarnessStatus::new(key, false));
            }
        }
        findings.source.harnesses.sort_by_key(|h| h.key);
        findings
    }

    /// Tells the watch that everything must be looked at in the next pass.
    pub fn doubt(&mut self) {
        self.last_sweep = f64::NEG_INFINITY;
    }
}

/// What came of one reader in one pass.
struct Outcome {
    status: HarnessStatus,
    /// None when it could not be read at all; without rows when the harness has no store here.
    collected: Option<Collected>,
    quota: Option<Quota>,
    panicked: bool,
}

/// Runs every reader, in registry order. Looking at everything is mostly waiting and parsing, so harnesses share the
/// processor's cores then; a pass over what changed is not worth a thread.
fn run(readers: &mut [Reader], pass: &Pass<'_>) -> Vec<(Key, Outcome)> {
    let found: Vec<Option<bool>> = readers.iter_mut().map(Reader::discovered).collect();
    let there = found.iter().filter(|found| **found == Some(true)).count();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let hands = if pass.sweep { there.min(cores).min(WORKERS) } else { 1 };
    let mut slots: Vec<(Key, Option<Outcome>)> = readers.iter().map(|reader| (reader.key, None)).collect();
    let work = Mutex::new(readers.iter_mut().zip(found).zip(&mut slots));
    let labour = || {
        loop {
            let Some(((reader, found), slot)) = work.lock().unwrap_or_else(PoisonError::into_inner).next() else {
                return;
            };
            slot.1 = Some(reader.run(found, pass));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..hands {
            let thread = std::thread::Builder::new().name("scan".into()).stack_size(STACK);
            if thread.spawn_scoped(scope, labour).is_err() {
                // The threads there are do it all.
                break;
            }
        }
        labour();
    });
    slots.into_iter().filter_map(|(key, outcome)| Some((key, outcome?))).collect()
}

impl Reader {
    /// Whether there is a store; `None` after a panic.
    fn discovered(&mut self) -> Option<bool> {
        // A reader made anew knows nothing of what was noticed before: it walks its store in full.
        let collector = self.collector.get_or_insert_with(&self.make);
        catch_unwind(AssertUnwindSafe(|| collector.discovered())).ok()
    }

    /// Figures that cannot be told are none; a reader that fails here is made anew in the next pass.
    fn quota(&mut self, pass: &Pass<'_>) -> Option<Quota> {
        let collector = self.collector.as_ref()?;
        let outcome = catch_unwind(AssertUnwindSafe(|| collector.quota(pass)));
        outcome.unwrap_or_else(|_| {
            self.collector = None;
            None
        })
    }

    fn run(&mut self, found: Option<bool>, pass: &Pass<'_>) -> Outcome {
        let status = HarnessStatus::new(self.key, found.unwrap_or(true));
        let mut outcome = Outcome { status, collected: None, quota: None, panicked: false };
        // A store that came back is looked at whole.
        let sweep = pass.sweep || (self.absent && found == Some(true));
        self.absent = found == Some(false);
        let pass =
            &Pass { now: pass.now, window: pass.window, all: pass.all, dirty: pass.dirty, sweep, watch: pass.watch };
        let collector = self.collector.get_or_insert_with(&self.make);
        let mut read = |there: bool| {
            if there {
                return degrades::collect(collector.as_mut(), pass);
            }
            // There is nothing to show of it, but what stands in its place is named.
            Ok(Collected { rows: Vec::new(), ..collector.absence(pass) })
        };
        let collected = found.and_then(|there| catch_unwind(AssertUnwindSafe(|| read(there))).ok());
        match collected {
            Some(Ok(collected)) => {
                outcome.collected = Some(collected);
                if found == Some(true) {
                    outcome.quota = self.quota(pass);
                }
            }
            Some(Err(why)) => outcome.status.error = Some(bound(&why)),
            None => {
                self.collector = None;
                outcome.status.error = Some("Panic: the reader failed and was started anew".into());
                outcome.panicked = true;
            }
        }
        outcome
    }
}

/// An error text: redacted, then bounded with a visible mark.
fn bound(text: &str) -> String {
    const MARK: &str = "... [truncated]";
    let text = crate::text::redact(text);
    if text.chars().count() <= ERROR_CAP {
        return text.into_owned();
    }
    text.chars().take(ERROR_CAP - MARK.len()).chain(MARK.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Observed;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Fake {
        key: Key,
        behave: fn() -> Result<Collected, String>,
    }
    impl Collector for Fake {
        fn key(&self) -> Key {
            self.key
        }
        fn discovered(&mut self) -> bool {
            true
        }
        fn collect(&mut self, _: &Pass<'_>) -> Result<Collected, String> {
            (self.behave)()
        }
    }

    /// A store that is none.
    struct Absent;
    impl Collector for Absent {
        fn key(&self) -> Key {
            Key::OpenCode
        }
        fn discovered(&mut self) -> bool {
            false
        }
        fn absence(&mut self, _: &Pass<'_>) -> Collected {
            let degrades = vec![Degrade { code: Code::StoreMissing, source: "opencode.data".into(), count: None }];
            Collected { degrades, store_errors: vec![("/x".into(), "why".into())], ..one(Key::OpenCode) }
        }
        fn collect(&mut self, _: &Pass<'_>) -> Result<Collected, String> {
            panic!("what is not discovered is not read")
        }
    }

    /// DECK-020, OC-024: what stands in the place of a store is named although the harness is not discovered.
    #[test]
    fn deck_020_oc_024_an_absent_store_is_named_and_has_no_rows() {
        let mut scanner = Scanner::new(vec![(Key::OpenCode, Box::new(|| Box::new(Absent)))], Watch::off());
        let found = scanner.pass(1.0, 1.0, false);
        let status = found.source.harnesses.iter().find(|h| h.key == Key::OpenCode).unwrap();
        assert_eq!((status.discovered, status.error.as_ref(), found.source.rows.len()), (false, None, 0));
        assert_eq!((status.degrades[0].code, found.store_errors.len(), found.panics), (Code::StoreMissing, 1, 0));
    }

    /// DECK-020, DECK-022, TRUST-036: what a row lacks stands at its harness, and at no other.
    #[test]
    fn deck_020_deck_022_what_a_row_lacks_is_told_of_its_harness_alone() {
        let lacking = || {
            let mut found = one(Key::Codex);
            found.rows[0].degrades = vec![Degrade { code: Code::ReadInPart, source: "a.jsonl".into(), count: None }];
            Ok(found)
        };
        let makes: Vec<(Key, Make)> = vec![
            (Key::Claude, Box::new(|| Box::new(Fake { key: Key::Claude, behave: || Ok(one(Key::Claude)) }))),
            (Key::Codex, Box::new(move || Box::new(Fake { key: Key::Codex, behave: lacking }))),
        ];
        let found = Scanner::new(makes, Watch::off()).pass(1.0, 1.0, false).source;
        let told = |at: usize| found.harnesses[at].degrades.iter().map(|d| (d.code, d.source.as_str()));
        assert_eq!((told(0).count(), told(1).collect::<Vec<_>>()), (0, vec![(Code::ReadInPart, "codex.sessions")]));
        assert_eq!(found.rows.len(), 2);
    }

    fn one(key: Key) -> Collected {
        Collected { rows: vec![Observed::new(key, "s")], ..Collected::default() }
    }

    /// TRUST-052: a store that went away and came back is looked at whole at once, since its notices were nobody's.
    #[test]
    fn trust_052_a_store_that_came_back_is_swept() {
        static PASSES: AtomicUsize = AtomicUsize::new(0);
        struct Comes;
        impl Collector for Comes {
            fn key(&self) -> Key {
                Key::Claude
            }
            fn discovered(&mut self) -> bool {
                PASSES.fetch_add(1, Ordering::SeqCst) % 3 != 1
            }
            fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String> {
                Err(pass.sweep.to_string())
            }
        }
        let makes: Vec<(Key, Make)> = vec![(Key::Claude, Box::new(|| Box::new(Comes)))];
        let mut scanner = Scanner::new(makes, Watch::off());
        let mut swept = |now| scanner.pass(now, 1.0, false).source.harnesses[0].error.clone();
        let told: Vec<_> = (0..5).map(|n| swept(100.0 + f64::from(n))).collect();
        let (yes, no) = (Some("true".to_owned()), Some("false".to_owned()));
        assert_eq!(told, [yes.clone(), None, yes, no, None]);
    }

    #[test]
    fn payload_004_trust_060_a_failing_reader_costs_itself_and_comes_back() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let made = Arc::new(());
        let makes: Vec<(Key, Make)> = vec![
            (Key::Claude, Box::new(|| Box::new(Fake { key: Key::Claude, behave: || Ok(one(Key::Claude)) }))),
            (Key::Codex, Box::new(|| Box::new(Fake { key: Key::Codex, behave: || Err("IoError: x".repeat(500)) }))),
            (
                Key::Pi,
                Box::new(move || {
                    let _ = &made;
                    let first = MADE.fetch_add(1, Ordering::SeqCst) == 0;
                    Box::new(Fake {
                        key: Key::Pi,
                        behave: if first { || panic!("planted") } else { || Ok(one(Key::Pi)) },
                    })
                }),
            ),
        ];
        let mut scanner = Scanner::new(makes, Watch::off());
        let found = scanner.pass(1.0, 1.0, false);
        let error = |f: &Findings, key: Key| f.source.harnesses.iter().find(|h| h.key == key).unwrap().error.clone();
        assert_eq!(found.source.harnesses.len(), 10);
        assert_eq!((found.source.rows.len(), found.panics), (1, 1));
        assert!(error(&found, Key::Codex).unwrap().ends_with("... [truncated]"));
        assert!(error(&found, Key::Pi).unwrap().starts_with("Panic: "));
        let found = scanner.pass(2.0, 1.0, false);
        assert_eq!((found.source.rows.len(), found.panics), (2, 0));
        assert_eq!(error(&found, Key::Pi), None);
    }
}
