//! The features of a serving run, each plugged in where it has its say: readers, lanes of the board, routes.

use super::Context;
use crate::board::{Lane, Row, Top, Variant};
use crate::demo::{self, Demo};
use crate::harness::registry;
use crate::live::keeper::Waker;
use crate::live::publish::Publisher;
use crate::live::scan::Make;
use crate::model::Key;
use crate::model::time::Clock;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Everything that is switched on in this run.
pub struct Parts {
    lanes: Vec<Arc<dyn Lane>>,
    /// The playing demo; it ends with the parts.
    _demo: Option<Demo>,
}

impl Parts {
    /// Makes the parts; reads nothing. Fails only when the demo's home cannot be written.
    pub fn new(context: &Context, clock: &Clock, _publisher: &Arc<Publisher>, _waker: &Waker) -> io::Result<Parts> {
        let settings = &context.settings;
        let flags = Flags { observer_model: settings.observer_model_enabled(), unasked: settings.unasked_enabled() };
        let mut lanes: Vec<Arc<dyn Lane>> = vec![Arc::new(flags)];
        let mut demo = None;
        if let Some(private) = &context.private {
            demo = Some(Demo::start(private.place().clone(), clock.clone())?);
            lanes.push(Arc::new(demo::Marked));
        }
        Ok(Parts { lanes, _demo: demo })
    }

    /// The readers of this run's stores.
    pub fn makes(context: &Context) -> Vec<(Key, Make)> {
        registry::makes(&context.roots, Path::new(&context.env.home()))
    }

    /// The lanes in the order in which they have their say.
    pub fn lanes(&self) -> Vec<Arc<dyn Lane>> {
        self.lanes.clone()
    }
}

/// Publishes what the switches of this run say about features that have no store.
struct Flags {
    observer_model: bool,
    unasked: bool,
}

impl Lane for Flags {
    fn name(&self) -> &'static str {
        "flags"
    }

    fn publish(&self, top: &mut Top, _rows: &[Row], _variant: Variant) {
        top.observer_model = self.observer_model;
        top.unasked = self.unasked;
    }
}
