//! `--demo`: an invented home of all ten harnesses with scripted activity, so that a newcomer without agents sees a
//! working board (CLI-033). Everything lies in a private temporary folder that goes with the process; no store,
//! credential or program of this machine is touched. People, projects and words are made up.

mod cast;
mod databases;
mod records;
mod script;

use crate::board::{Lane, Row, Top, Variant};
use crate::model::time::Clock;
use crate::surface::write::Place;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two steps of the script.
const STEP: Duration = Duration::from_millis(1700);

/// The playing demo; stops when dropped.
pub struct Demo {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Demo {
    /// Writes the opening scene below `home` and plays on.
    pub fn start(home: Place, clock: Clock) -> io::Result<Demo> {
        let mut script = script::Script::open(home, clock())?;
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name("demo".into()).spawn(move || {
            while stopped.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                // A step that cannot be written is a step not seen; the next one tries again.
                drop(script.step(clock()));
            }
        })?;
        Ok(Demo { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Says on the board that its data is invented.
pub struct Marked;

impl Lane for Marked {
    fn name(&self) -> &'static str {
        "demo"
    }

    fn publish(&self, top: &mut Top, _rows: &[Row], _variant: Variant) {
        top.more.insert("demo".into(), true.into());
    }
}
