//! `GET /api/stream` (SSE-004..009): tells a client the number of each new board, and nothing else.

use super::app::App;
use super::reply::Reply;
use crate::live::publish::{News, Subscription};
use crate::surface::listen::Wire;
use std::time::{Duration, Instant};

/// How often a stream with nothing to say looks whether its client is still there, so that its slot comes back.
const LOOK: Duration = Duration::from_secs(1);

/// A stream, or 503 when eight are open or the server stops.
pub(super) fn reply(app: &App) -> Reply {
    let Some(subscription) = app.publisher.subscribe() else {
        return app.refusal("stream.full", Reply::error_because(503, "all streams are taken"));
    };
    let heartbeat = app.heartbeat;
    Reply::stream("text/event-stream", move |wire| pump(&subscription, wire, heartbeat)).with("X-Accel-Buffering", "no")
}

/// Writes events until the client leaves, takes nothing for too long, or the server stops.
fn pump(subscription: &Subscription, wire: &mut Wire, heartbeat: Duration) {
    let mut last = Instant::now();
    loop {
        let wait = heartbeat.saturating_sub(last.elapsed()).min(LOOK);
        let written = match subscription.wait(wait) {
            News::Closed => return,
            News::Revision(r) => wire.write(format!("id: {r}\nevent: revision\ndata: {r}\n\n").as_bytes()),
            News::Quiet if last.elapsed() >= heartbeat => wire.write(b": keepalive\n\n"),
            News::Quiet if wire.gone() => return,
            News::Quiet => continue,
        };
        if written.is_err() {
            return;
        }
        last = Instant::now();
    }
}
