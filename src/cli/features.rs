//! The features of a serving run, each plugged in where it has its say: readers, lanes of the board, routes.

use super::Context;
use crate::board::{Lane, Row, Top, Variant};
use crate::counters::Counters;
use crate::demo::{self, Demo};
use crate::harness::claude::Hooks;
use crate::harness::registry;
use crate::http::app::App;
use crate::http::reply::Reply;
use crate::http::route::Feature;
use crate::live::events::{Ingress, NoEnds, Overlays, Tokens};
use crate::live::keeper::{Wake, Waker};
use crate::live::publish::Publisher;
use crate::live::scan::Make;
use crate::model::Key;
use crate::model::time::Clock;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What the parts are made from.
pub struct Given<'a> {
    pub context: &'a Context,
    pub clock: Clock,
    pub publisher: Arc<Publisher>,
    pub counters: Arc<Counters>,
    pub waker: Waker,
}

/// Everything that is switched on in this run.
pub struct Parts {
    lanes: Vec<Arc<dyn Lane>>,
    hooks: Arc<Hooks>,
    spacedock: bool,
    events: Option<Arc<Ingress>>,
    clock: Clock,
    /// Drops the snapshots and collects anew: something the board shows was changed.
    changed: Arc<dyn Fn() + Send + Sync>,
    /// The playing demo; it ends with the parts.
    _demo: Option<Demo>,
}

impl Parts {
    /// Makes the parts; reads nothing. Fails when the demo's home cannot be written or there is no random source.
    pub fn new(given: &Given<'_>) -> io::Result<Parts> {
        let (context, settings) = (given.context, &given.context.settings);
        let (publisher, waker) = (Arc::clone(&given.publisher), given.waker.clone());
        let changed: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
            publisher.clear();
            waker.wake(Wake::Changed);
        });
        let flags = Flags { observer_model: settings.observer_model_enabled(), unasked: settings.unasked_enabled() };
        let mut lanes: Vec<Arc<dyn Lane>> = vec![Arc::new(flags)];
        let mut events = None;
        if settings.events_enabled() {
            let overlays = Arc::new(Overlays::new(Arc::new(NoEnds), Arc::clone(&given.counters)));
            lanes.push(Arc::clone(&overlays) as Arc<dyn Lane>);
            let (counters, clock) = (Arc::clone(&given.counters), given.clock.clone());
            let door = Ingress::new(overlays, Arc::new(Tokens::new()?), counters, clock, given.waker.clone());
            events = Some(Arc::new(door));
        }
        let mut demo = None;
        if let Some(private) = &context.private {
            demo = Some(Demo::start(private.place().clone(), given.clock.clone())?);
            lanes.push(Arc::new(demo::Marked));
        }
        let projects = context.roots.primary("claude.projects").map(Path::to_path_buf).unwrap_or_default();
        Ok(Parts {
            lanes,
            hooks: Arc::new(Hooks::new(projects)),
            spacedock: !settings.no_spacedock,
            events,
            clock: given.clock.clone(),
            changed,
            _demo: demo,
        })
    }

    /// The readers of this run's stores.
    pub fn makes(&self, context: &Context) -> Vec<(Key, Make)> {
        registry::makes(&context.roots, Path::new(&context.env.home()), &self.hooks, self.spacedock)
    }

    /// The lanes in the order in which they have their say.
    pub fn lanes(&self) -> Vec<Arc<dyn Lane>> {
        self.lanes.clone()
    }

    /// The event tokens for the state file; none without events.
    pub fn capabilities(&self) -> Option<Vec<(&'static str, String)>> {
        self.events.as_ref().map(|door| door.tokens.published())
    }

    /// The app with every feature's routes.
    pub fn routes(&self, mut app: App) -> App {
        if let Some(door) = &self.events {
            let (before, answer, listing) = (Arc::clone(door), Arc::clone(door), Arc::clone(door));
            app = app
                .guard(Feature::Events, move |call| before.before_body(call))
                .on(Feature::Events, move |call| answer.answer(call))
                .on(Feature::Overlays, move |_| listing.listing());
        }
        let (hooks, clock, changed) = (Arc::clone(&self.hooks), self.clock.clone(), Arc::clone(&self.changed));
        app.on(Feature::Notify, move |call| {
            let notified = hooks.notify(&call.object, clock(), |_, _| false);
            changed();
            Reply::json_bytes(200, notified.reply.as_json().as_bytes().to_vec())
        })
    }
}

/// The readers of a one-shot report, which hears no hook.
pub fn readers(context: &Context) -> Vec<(Key, Make)> {
    let projects = context.roots.primary("claude.projects").map(Path::to_path_buf).unwrap_or_default();
    let spacedock = !context.settings.no_spacedock;
    registry::makes(&context.roots, Path::new(&context.env.home()), &Arc::new(Hooks::new(projects)), spacedock)
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
