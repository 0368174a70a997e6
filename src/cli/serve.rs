//! Serves until stopped: the readers, the scan loop, the routes and the listener put together, and taken down in the
//! one order that holds (LIFE-005, LIFE-070).

use super::shutdown::{self, Step};
use super::start::{Serving, Start, begin, record, say_url};
use super::{Context, FAILED, OK, features, instance, say};
use crate::counters::Counters;
use crate::http::app::{App, STREAM_HEARTBEAT, Setup, Shutdown};
use crate::http::gate::HostMode;
use crate::live::keeper::{Keeper, Wake, Works, channel_to_loop};
use crate::live::publish::Publisher;
use crate::live::scan::Scanner;
use crate::model::time::system_clock;
use crate::surface::bind::Host;
use crate::surface::daemon::Announce;
use crate::surface::listen::{Limits, Server};
use crate::surface::signal::{self, Cause};
use crate::surface::watch::Watch;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longest the scan loop may take to end, and replies under way to finish.
const LOOP_END: Duration = Duration::from_secs(5);
const REPLIES_END: Duration = Duration::from_millis(500);

/// Binds the port and serves until a signal, a request or a failure ends it.
pub fn serve(context: Context) -> ExitCode {
    match begin(&context) {
        Start::Exit(code) => ExitCode::from(code),
        Start::Serve(mut serving) => {
            // Kept to the end: who waits for word takes its end for this run's, and then reads the log.
            let mut announce = serving.announce.take();
            match run(&context, serving, &mut announce) {
                Ok(()) => ExitCode::from(OK),
                Err(why) => {
                    say(&why);
                    ExitCode::from(FAILED)
                }
            }
        }
    }
}

fn run(context: &Context, serving: Serving, announce: &mut Option<Announce>) -> Result<(), String> {
    let (waiter, stopper) = signal::install(serving.detached).map_err(|e| format!("could not take signals: {e}"))?;
    let settings = &context.settings;
    if settings.origin_session.is_some() {
        // Asked for and not to be had: nothing is served instead of it (LIFE-007).
        return Err("the read-only terminal cannot start: this build does not have it. Leave out \
                    --interaction-origin-session and --interaction-origin-registration-file"
            .into());
    }
    if settings.reach_url.is_some() && !settings.no_reach {
        say("this build cannot post: --reach-url has no effect");
    }
    let clock = system_clock();
    let counters = Arc::new(Counters::new());
    let (waker, wakes) = channel_to_loop();

    let collecting = waker.clone();
    let publisher =
        Arc::new(Publisher::new(context.started, clock.clone(), Arc::new(move |all| collecting.collect(all))));
    let watching = waker.clone();
    publisher.on_watchers(move || watching.wake(Wake::Watchers));

    let parts = features::Parts::new(&features::Given {
        context,
        clock: clock.clone(),
        publisher: Arc::clone(&publisher),
        counters: Arc::clone(&counters),
        waker: waker.clone(),
    })
    .map_err(|e| format!("could not set up: {e}"))?;
    let noticing = waker.clone();
    let watch = Watch::start(move || noticing.wake(Wake::Dirty));
    let faults = Arc::clone(&counters);
    let works = Works {
        scanner: Scanner::new(parts.makes(context), watch),
        lanes: parts.lanes(),
        publisher: Arc::clone(&publisher),
        clock: clock.clone(),
        window_hours: settings.window_hours,
        every_tick: !settings.events_enabled(),
        fault: Arc::new(move |boundary| faults.bump_in("panic", boundary)),
        count: {
            let counters = Arc::clone(&counters);
            Arc::new(move |name| counters.bump(name))
        },
        say: Arc::new(say),
    };
    let keeper = Keeper::start(works, waker, wakes).map_err(|e| format!("could not start the scan loop: {e}"))?;

    let stopping = stopper.clone();
    let app = App::new(Setup {
        port: settings.port,
        mode: match settings.host {
            Host::Loopback => HostMode::Loopback,
            Host::Any => HostMode::Wide,
        },
        started: context.started,
        clock,
        publisher: Arc::clone(&publisher),
        counters,
        focus_token: None,
        terminal: false,
        shutdown: Shutdown { quieten: Arc::new(|| {}), stop: Arc::new(move || stopping.stop(Cause::Requested)) },
        refresh_usage: None,
        heartbeat: STREAM_HEARTBEAT,
    });
    let app = parts.routes(app);
    // Recorded before the first answer: who finds the dashboard by its answer finds its file as well.
    say_url(context);
    record(context, parts.capabilities().as_deref());
    let server = Server::start(serving.listener, Arc::new(app), Limits::default()).map_err(|e| {
        let _ = instance::remove(&context.place, settings.port);
        format!("could not serve on the bound port: {e}")
    })?;
    let server = Mutex::new(server);
    if let Some(announce) = announce.take() {
        announce.ready(std::process::id());
    }
    if let Cause::Failed(why) = waiter.wait() {
        say(&why);
    }
    shutdown::run(vec![
        Step::new("end the programs started", || {
            parts.close();
            Ok(())
        }),
        Step::new("end the scan loop", || {
            keeper.stop(LOOP_END);
            Ok(())
        }),
        Step::new("close the event streams", || {
            publisher.close();
            Ok(())
        }),
        Step::new("remove the state file", || {
            instance::remove(&context.place, settings.port).map(drop).map_err(|e| e.to_string())
        }),
        Step::new("close the listener", || {
            server.lock().unwrap_or_else(PoisonError::into_inner).stop(REPLIES_END);
            signal::listener_closed();
            Ok(())
        }),
    ]);
    Ok(())
}
