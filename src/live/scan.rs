//! One pass over every harness: who is there, what changed, one failure never another's.
//!
//! The scanner owns every reader and its caches; it lives on the scan loop's thread.

use crate::board::{HarnessStatus, Source};
use crate::harness::{Collected, Collector, Pass};
use crate::model::quota::Quota;
use crate::model::{Code, Degrade, Key};
use crate::surface::watch::Watch;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Everything is looked at again this often, whatever the kernel said, seconds (EVT-107).
pub const SWEEP_SEC: f64 = 30.0;
/// Longest store error kept, characters (SAFE caps table).
const ERROR_CAP: usize = 1024;

/// Makes a reader; called again after one panicked, since nothing it kept can be trusted then.
pub type Make = Box<dyn Fn() -> Box<dyn Collector> + Send>;

struct Reader {
    key: Key,
    make: Make,
    /// None after a panic, until the next pass makes it anew.
    collector: Option<Box<dyn Collector>>,
}

/// What a pass found beside the rows.
#[derive(Default)]
pub struct Findings {
    pub source: Source,
    /// Path to `<Type>: <message>`, of this pass only; for `--diagnose`.
    pub store_errors: Vec<(String, String)>,
    /// Readers that panicked.
    pub panics: u64,
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
        let readers = makes.into_iter().map(|(key, make)| Reader { key, collector: Some(make()), make }).collect();
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
        for reader in &mut self.readers {
            let (mut status, collected, panicked) = reader.run(&pass);
            findings.panics += u64::from(panicked);
            if collected.is_some() {
                findings.source.quotas.extend(reader.quota(&pass));
            }
            if let Some(collected) = collected {
                status.degrades = collected.degrades;
                if lost && status.discovered {
                    status.degrades.push(Degrade {
                        code: Code::WatchLost,
                        source: reader.key.as_str().into(),
                        count: None,
                    });
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

impl Reader {
    /// Figures that cannot be told are none; a reader that fails here is made anew in the next pass.
    fn quota(&mut self, pass: &Pass<'_>) -> Option<Quota> {
        let collector = self.collector.as_ref()?;
        let outcome = catch_unwind(AssertUnwindSafe(|| collector.quota(pass)));
        outcome.unwrap_or_else(|_| {
            self.collector = None;
            None
        })
    }

    fn run(&mut self, pass: &Pass<'_>) -> (HarnessStatus, Option<Collected>, bool) {
        // A reader made anew knows nothing of what was noticed before: it walks its store in full.
        let collector = self.collector.get_or_insert_with(&self.make);
        let outcome = catch_unwind(AssertUnwindSafe(|| collector.discovered().then(|| collector.collect(pass))));
        match outcome {
            Ok(None) => (HarnessStatus::new(self.key, false), None, false),
            Ok(Some(Ok(collected))) => (HarnessStatus::new(self.key, true), Some(collected), false),
            Ok(Some(Err(why))) => {
                let mut status = HarnessStatus::new(self.key, true);
                status.error = Some(bound(&why));
                (status, None, false)
            }
            Err(_) => {
                self.collector = None;
                let mut status = HarnessStatus::new(self.key, true);
                status.error = Some("Panic: the reader failed and was started anew".into());
                (status, None, true)
            }
        }
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

    fn one(key: Key) -> Collected {
        Collected { rows: vec![Observed::new(key, "s")], ..Collected::default() }
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
