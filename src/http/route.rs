//! The route table, in one screen (HTTP spec section 3). A route that is not here does not exist.

use super::gate::Gate;
use super::json::Rule::{self, Judged, Lenient, Strict};

/// The two methods there are; any other is 501 (HTTP-005).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// POST
    Post,
}

/// What a handler may be registered for. Without one, the feature answers as when it is switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Feature {
    Notify,
    Usage,
    Events,
    Overlays,
    Focus,
    Dismiss,
    Cleared,
    Annotate,
    Annotations,
    Reading,
    ReadingCancel,
    Tripwire,
    Ask,
    AskPoll,
    AskWithdraw,
    Answer,
    Session,
    ProjectContext,
    Observe,
    Interaction,
}

/// How a switched-off feature answers, and the counter that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Off {
    /// 503 with a reason (HTTP-020).
    Unavailable(&'static str, &'static str),
    /// 404, as if the route were not there.
    Absent(&'static str),
    /// 503 with the JSON body `{"ok":false,"reason":"disabled"}`.
    Disabled(&'static str),
    /// 200: what was sent is dropped (USE-071).
    Dropped(&'static str),
}

/// How a path is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// These bytes.
    Exact(&'static str),
    /// These bytes and any tail.
    Under(&'static str),
}

/// What happens to a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// There is none, or it is not read.
    Nothing,
    /// An object of at most so many bytes.
    Object(u64, Rule),
    /// The same, judged before the off switch (READ-020).
    ObjectFirst(u64, Rule),
}

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// The page.
    Page,
    /// A file compiled in.
    Asset,
    /// A file of the terminal, there with the terminal only.
    TerminalAsset,
    /// The board.
    Data,
    /// This process.
    Health,
    /// The event stream.
    Stream,
    /// The end of this process.
    Shutdown,
    /// The browser's notification lane.
    Lane,
    /// A registered handler, and the answer without one.
    Feature(Feature, Off),
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The method; the same path with the other one is 404.
    pub method: Method,
    /// The path.
    pub path: Path,
    /// Who may ask.
    pub gate: Gate,
    /// The body.
    pub take: Take,
    /// Who answers.
    pub to: To,
}

const R: Gate = Gate::RELAXED;
const S: Gate = Gate::STRICT;
const SF: Gate = Gate::STRICT_UNFRAMED;
const L: Gate = Gate::LOOPBACK;
const PRESS: Gate = Gate::PRESS;

const NO_EVENTS: Off = Off::Unavailable("off.events", "no event coordinator on this server");
const NO_FOCUS: Off = Off::Unavailable("off.focus", "raising terminals is off on this server");
const NO_DISMISS: Off = Off::Unavailable("off.dismiss", "marking handled is off on this server");
const NO_WORDS: Off = Off::Unavailable("off.annotations", "annotations are off on this server");
const NO_READING: Off = Off::Unavailable("off.reading", "readings are off on this server");
const NO_TRIPWIRES: Off = Off::Unavailable("off.tripwires", "stage conditions are off on this server");
const NO_ASK: Off = Off::Unavailable("off.ask", "the ask lane is off on this server");
const NO_ASK_JSON: Off = Off::Disabled("off.ask");
const NO_DECK: Off = Off::Unavailable("off.deck", "agents and calls are off on this server");
const NO_NOTIFY: Off = Off::Unavailable("off.notify", "notifications are off on this server");
const NO_CONTEXT: Off = Off::Unavailable("off.project-context", "project context is off on this server");
const NO_OBSERVE: Off = Off::Unavailable("off.observe", "observing is off on this server");
const NO_INTERACTION: Off = Off::Absent("off.interaction");

/// Every route.
#[rustfmt::skip]
pub const ROUTES: &[Route] = &[
    get("/",                       R,  To::Page),
    get("/assets/xterm.js",        L,  To::TerminalAsset),
    get("/assets/xterm.css",       L,  To::TerminalAsset),
    under("/assets/",              R,  To::Asset),
    get("/api/data",               R,  To::Data),
    get("/api/health",             R,  To::Health),
    get("/api/stream",             SF, To::Stream),
    get("/api/overlays",           S,  To::Feature(Feature::Overlays, NO_EVENTS)),
    get("/api/cleared",            S,  To::Feature(Feature::Cleared, NO_DISMISS)),
    get("/api/annotations",        S,  To::Feature(Feature::Annotations, NO_WORDS)),
    get("/api/session",            SF, To::Feature(Feature::Session, NO_DECK)),
    get("/api/project-context",    S,  To::Feature(Feature::ProjectContext, NO_CONTEXT)),
    get("/api/observe",            S,  To::Feature(Feature::Observe, NO_OBSERVE)),
    under("/api/ask/",             SF, To::Feature(Feature::AskPoll, NO_ASK)),
    get("/api/interaction/state",  R,  To::Feature(Feature::Interaction, NO_INTERACTION)),
    get("/api/interaction/view",   R,  To::Feature(Feature::Interaction, NO_INTERACTION)),
    get("/api/interaction/origin", R,  To::Feature(Feature::Interaction, NO_INTERACTION)),
    get("/api/interaction/stream", R,  To::Feature(Feature::Interaction, NO_INTERACTION)),

    post("/api/shutdown",       S,     Take::Nothing,                       To::Shutdown),
    post("/api/notify",         S,     Take::Object(65_536, Lenient),       To::Feature(Feature::Notify, NO_NOTIFY)),
    post("/api/usage",          S,     Take::Object(131_072, Lenient),      To::Feature(Feature::Usage, Off::Dropped("usage.dropped"))),
    posts_under("/api/events/", S,     Take::Object(8192, Judged),          To::Feature(Feature::Events, Off::Absent("off.events"))),
    post("/api/focus",          S,     Take::Object(1024, Lenient),         To::Feature(Feature::Focus, NO_FOCUS)),
    post("/api/dismiss",        S,     Take::Object(1024, Lenient),         To::Feature(Feature::Dismiss, NO_DISMISS)),
    post("/api/annotate",       S,     Take::Object(12_288, Judged),        To::Feature(Feature::Annotate, NO_WORDS)),
    post("/api/reading",        PRESS, Take::ObjectFirst(12_288, Strict),   To::Feature(Feature::Reading, NO_READING)),
    post("/api/reading/cancel", PRESS, Take::ObjectFirst(12_288, Strict),   To::Feature(Feature::ReadingCancel, NO_READING)),
    post("/api/tripwire",       S,     Take::Object(1024, Strict),          To::Feature(Feature::Tripwire, NO_TRIPWIRES)),
    post("/api/ask",            S,     Take::Object(8192, Lenient),         To::Feature(Feature::Ask, NO_ASK_JSON)),
    post("/api/ask/withdraw",   S,     Take::Object(1024, Lenient),         To::Feature(Feature::AskWithdraw, NO_ASK_JSON)),
    post("/api/answer",         S,     Take::Object(1024, Lenient),         To::Feature(Feature::Answer, NO_ASK)),
    post("/api/lane",           S,     Take::Object(512, Strict),           To::Lane),
    posts_under("/api/interaction/", S, Take::Object(8192, Strict),         To::Feature(Feature::Interaction, NO_INTERACTION)),
];

const fn get(path: &'static str, gate: Gate, to: To) -> Route {
    Route { method: Method::Get, path: Path::Exact(path), gate, take: Take::Nothing, to }
}

const fn under(path: &'static str, gate: Gate, to: To) -> Route {
    Route { method: Method::Get, path: Path::Under(path), gate, take: Take::Nothing, to }
}

const fn post(path: &'static str, gate: Gate, take: Take, to: To) -> Route {
    Route { method: Method::Post, path: Path::Exact(path), gate, take, to }
}

const fn posts_under(path: &'static str, gate: Gate, take: Take, to: To) -> Route {
    Route { method: Method::Post, path: Path::Under(path), gate, take, to }
}

/// The route of a method and path, and what follows a prefix (HTTP-006).
pub fn find(method: Method, path: &str) -> Option<(&'static Route, &str)> {
    ROUTES.iter().filter(|route| route.method == method).find_map(|route| match route.path {
        Path::Exact(own) => (own == path).then_some((route, "")),
        Path::Under(own) => path.strip_prefix(own).map(|tail| (route, tail)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HTTP-021.
    #[test]
    fn http_021_the_post_surface_is_exactly_the_table() {
        let posts: Vec<_> = ROUTES.iter().filter(|r| r.method == Method::Post).map(|r| r.path).collect();
        use Path::{Exact, Under};
        assert_eq!(
            posts,
            [
                Exact("/api/shutdown"),
                Exact("/api/notify"),
                Exact("/api/usage"),
                Under("/api/events/"),
                Exact("/api/focus"),
                Exact("/api/dismiss"),
                Exact("/api/annotate"),
                Exact("/api/reading"),
                Exact("/api/reading/cancel"),
                Exact("/api/tripwire"),
                Exact("/api/ask"),
                Exact("/api/ask/withdraw"),
                Exact("/api/answer"),
                Exact("/api/lane"),
                Under("/api/interaction/"),
            ]
        );
        assert!(ROUTES.iter().all(|r| r.method == Method::Get || !r.gate.relaxed), "every POST is strict (GATE-009)");
    }

    /// HTTP-006.
    #[test]
    fn http_006_paths_match_exactly() {
        for path in [
            "",
            "/index.html",
            "/api",
            "/api/data/",
            "/API/data",
            "/api//data",
            "/api/data%20",
            "/api/ask",
            "/favicon.ico",
        ] {
            assert!(find(Method::Get, path).is_none(), "GET {path}");
        }
        for path in
            ["/", "/api/data", "/api/notify/", "/api/forget", "/api/events", "/api/dismiss/all", "/assets/app.js"]
        {
            assert!(find(Method::Post, path).is_none(), "POST {path}");
        }
        assert_eq!(find(Method::Get, "/api/ask/a/b").map(|(_, tail)| tail), Some("a/b"));
        assert_eq!(find(Method::Get, "/assets/xterm.js").map(|(route, _)| route.to), Some(To::TerminalAsset));
    }
}
