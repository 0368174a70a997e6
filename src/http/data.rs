//! `GET /api/data` (HTTP-040..043): the board, collected at most once for all who ask together.

use super::app::{App, Call};
use super::reply::Reply;

/// The board of the variant asked for. A request for fresh quota only leaves word: the reply never waits for it, a
/// navigation never asks for it, and neither does another machine (USE-076).
pub(super) fn reply(app: &App, call: &Call) -> Reply {
    if let Some(refresh) = &app.refresh_usage
        && call.query.first("usage").as_deref() == Some("1")
        && !call.is_document_navigation()
        && call.is_loopback_peer()
    {
        refresh();
    }
    let all = call.query.first("all").as_deref() == Some("1");
    match app.publisher.get(all) {
        Ok(published) => {
            Reply::json_shared(200, published.body.clone()).with("X-Cargento-Revision", published.revision.to_string())
        }
        Err(_) => Reply::error(500),
    }
}
