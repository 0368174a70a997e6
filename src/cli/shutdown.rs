//! The one way down, whatever asked for it (LIFE-070): every step runs, and none can stop the next.
//!
//! The order is fixed by the caller's list: kill supervised model processes; stop the producer; stop the coordinator;
//! close the event streams; decline outstanding questions; remove the state file; close the listener.

use super::say;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One step: what it does, in a few words, and the doing.
pub struct Step<'a> {
    name: &'static str,
    act: Box<dyn FnOnce() -> Result<(), String> + 'a>,
}

impl<'a> Step<'a> {
    /// A step that may fail with words.
    pub fn new(name: &'static str, act: impl FnOnce() -> Result<(), String> + 'a) -> Self {
        Self { name, act: Box::new(act) }
    }
}

/// Runs every step in order; a failing or panicking one is reported in one line. Yields how many failed.
pub fn run(steps: Vec<Step<'_>>) -> usize {
    run_reporting(steps, &mut |line| say(line))
}

fn run_reporting(steps: Vec<Step<'_>>, report: &mut dyn FnMut(&str)) -> usize {
    let mut failed = 0;
    for Step { name, act } in steps {
        let outcome = catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| Err("it panicked".into()));
        if let Err(reason) = outcome {
            failed += 1;
            report(&format!("while stopping, could not {name}: {reason}"));
        }
    }
    failed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// LIFE-070.
    #[test]
    fn life_070_a_failing_step_never_stops_the_next() {
        let ran = RefCell::new(Vec::new());
        let step = |name, outcome: Result<(), String>| {
            let ran = &ran;
            Step::new(name, move || {
                ran.borrow_mut().push(name);
                outcome
            })
        };
        let steps = vec![step("one", Err("no".into())), Step::new("two", || panic!("gone")), step("three", Ok(()))];
        let mut said = Vec::new();
        assert_eq!(run_reporting(steps, &mut |line| said.push(line.to_owned())), 2);
        assert_eq!(*ran.borrow(), ["one", "three"]);
        assert_eq!(said, ["while stopping, could not one: no", "while stopping, could not two: it panicked"]);
    }
}
