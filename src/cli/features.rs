//! The features of a serving run, each plugged in where it has its say: readers, lanes of the board, routes.

use super::{Context, say, sources};
use crate::board::{Lane, Row, Top, Variant};
use crate::counters::Counters;
use crate::demo::{self, Demo};
use crate::harness::claude::Hooks;
use crate::harness::registry;
use crate::http::app::App;
use crate::http::reply::Reply;
use crate::http::route::Feature;
use crate::keep::annotations::Annotations;
use crate::keep::deliveries::Deliveries;
use crate::keep::departures::Departures;
use crate::keep::dismissals::Dismissals;
use crate::keep::ends::StoredEnds;
use crate::keep::history::History;
use crate::keep::store::Tell;
use crate::lanes::annotate::Typed;
use crate::lanes::dismiss::Handled;
use crate::lanes::history::Remembered;
use crate::lanes::notify::{self, Backend, Notify};
use crate::lanes::quiet::Quiet;
use crate::lanes::{annotate, dismiss};
use crate::live::events::{Ingress, Overlays, Tokens};
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
    /// The notification lane, for the lanes that raise.
    pub notify: Arc<Notify>,
    kept: Kept,
    counters: Arc<Counters>,
    publisher: Arc<Publisher>,
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
        let tell = Tell { say: Arc::new(say), counters: Arc::clone(&given.counters) };
        let kept = Kept::new(context, &tell);
        let projects = context.roots.primary("claude.projects").map(Path::to_path_buf).unwrap_or_default();
        let hooks = Arc::new(Hooks::new(projects));
        let notify = Arc::new(notify_lane(given, &kept, &hooks, &tell, &changed)?);
        let mut events = None;
        if settings.events_enabled() {
            let ends = Arc::new(StoredEnds::new(context.place.clone(), tell));
            let overlays =
                Arc::new(Overlays::new(ends, Arc::clone(&given.counters)).of_demo(context.private.is_some()));
            lanes.push(Arc::clone(&overlays) as Arc<dyn Lane>);
            let (counters, clock) = (Arc::clone(&given.counters), given.clock.clone());
            let door = Ingress::new(overlays, Arc::new(Tokens::new()?), counters, clock, given.waker.clone());
            events = Some(Arc::new(door));
        }
        lanes.extend(kept.lanes());
        lanes.push(Arc::clone(&notify) as Arc<dyn Lane>);
        let mut demo = None;
        if let Some(private) = &context.private {
            demo = Some(Demo::start(private.place().clone(), given.clock.clone())?);
            lanes.push(Arc::new(demo::Marked));
        }
        Ok(Parts {
            lanes,
            hooks,
            notify,
            spacedock: !settings.no_spacedock,
            events,
            kept,
            counters: Arc::clone(&given.counters),
            publisher: Arc::clone(&given.publisher),
            clock: given.clock.clone(),
            changed,
            _demo: demo,
        })
    }

    /// Ends the programs that parts of this run have started.
    pub fn close(&self) {
        self.notify.close();
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
        app = self.kept_routes(app);
        self.notify.watch_pages(app.browser_lane());
        let (hooks, clock, changed) = (Arc::clone(&self.hooks), self.clock.clone(), Arc::clone(&self.changed));
        let notify = Arc::clone(&self.notify);
        let handled = self.kept.dismiss.as_ref().map(|(_, lane)| Arc::clone(lane));
        app.on(Feature::Notify, move |call| {
            let is_handled = |key: &str, mtime: f64| {
                handled.as_ref().is_some_and(|lane| lane.is_handled(Key::Claude.as_str(), key, mtime))
            };
            let now = clock();
            let notified = hooks.notify(&call.object, now, is_handled);
            if let Some(popup) = notified.popup {
                notify.hook(popup, now);
            }
            changed();
            Reply::json_bytes(200, notified.reply.as_json().as_bytes().to_vec())
        })
    }
}

impl Parts {
    /// The routes of the stores that the reader's clicks and words go to.
    fn kept_routes(&self, mut app: App) -> App {
        if let Some((store, _)) = &self.kept.dismiss {
            let mark = dismiss::dismiss(Arc::clone(store), self.clock.clone(), Arc::clone(&self.changed));
            let listing = dismiss::cleared(Arc::clone(store));
            app = app.on(Feature::Dismiss, move |call| mark(call)).on(Feature::Cleared, move |call| listing(call));
        }
        if let Some(typed) = &self.kept.typed {
            let publisher = Arc::clone(&self.publisher);
            // A save goes on without a collection that fails: its words then open at the save.
            let look: Arc<dyn Fn() + Send + Sync> = Arc::new(move || drop(publisher.get(false)));
            let (counters, changed) = (Arc::clone(&self.counters), Arc::clone(&self.changed));
            let save = annotate::annotate(Arc::clone(typed), counters, self.clock.clone(), look, changed);
            let listing = annotate::annotations(Arc::clone(typed), self.clock.clone());
            app = app.on(Feature::Annotate, move |call| save(call)).on(Feature::Annotations, move |call| listing(call));
        }
        app
    }
}

/// The notification lane of this run. The demo raises nothing on the machine it runs on (CLI-033).
fn notify_lane(
    given: &Given<'_>,
    kept: &Kept,
    hooks: &Arc<Hooks>,
    tell: &Tell,
    changed: &Arc<dyn Fn() + Send + Sync>,
) -> io::Result<Notify> {
    let context = given.context;
    let hours = sources::quiet_hours(context);
    if let Some(line) = hours.diagnostic {
        say(&line);
    }
    let handled = kept.dismiss.as_ref().map(|(_, lane)| Arc::clone(lane));
    let waker = given.waker.clone();
    Notify::new(notify::Setup {
        backend: if context.private.is_some() { None } else { Backend::find(&context.env) },
        hooks: Arc::clone(hooks),
        records: Arc::new(Deliveries::new(context.place.clone(), tell.clone())),
        quiet: Quiet::new(hours.value),
        handled: Arc::new(move |row| handled.as_ref().is_some_and(|lane| lane.leaves_out(row))),
        tell: tell.clone(),
        recorded: Arc::clone(changed),
        wake: Arc::new(move || waker.wake(Wake::Changed)),
    })
}

/// The stores of this run with their lanes; what is switched off is neither read nor written.
struct Kept {
    dismiss: Option<(Arc<Dismissals>, Arc<Handled>)>,
    typed: Option<Arc<Typed>>,
    history: Option<Arc<History>>,
}

impl Kept {
    fn new(context: &Context, tell: &Tell) -> Kept {
        let settings = &context.settings;
        let place = || context.place.clone();
        let dismiss = (!settings.no_dismiss).then(|| {
            let store = Arc::new(Dismissals::new(place(), tell.clone()));
            (Arc::clone(&store), Arc::new(Handled::new(store)))
        });
        let typed = (!settings.no_annotations).then(|| {
            let words = Arc::new(Annotations::new(place(), tell.clone()));
            Arc::new(Typed::new(words, Arc::new(Departures::new(place(), tell.clone()))))
        });
        let (retention, most) = (settings.history_retention_sec(), settings.history_max_bytes);
        let history = (!settings.no_history).then(|| Arc::new(History::new(place(), tell.clone(), retention, most)));
        Kept { dismiss, typed, history }
    }

    /// Words before history, which records them.
    fn lanes(&self) -> Vec<Arc<dyn Lane>> {
        let mut lanes: Vec<Arc<dyn Lane>> = Vec::new();
        if let Some((_, handled)) = &self.dismiss {
            lanes.push(Arc::clone(handled) as Arc<dyn Lane>);
        }
        if let Some(typed) = &self.typed {
            lanes.push(Arc::clone(typed) as Arc<dyn Lane>);
        }
        if let Some(history) = &self.history {
            lanes.push(Arc::new(Remembered(Arc::clone(history))));
        }
        lanes
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
