//! The service behind the engine, and the order every request goes through (GATE-009, HTTP-020):
//!
//! method → gate → route → the route's own gate → off switch → the feature's look before the body → length → body →
//! parse → handler. A refused caller cannot learn which routes exist; nothing of a body is read before everything
//! that can refuse without it has had its turn.

use super::gate::{Clause, Facts, Gate, Here, HostMode};
use super::json::{self, Object, Rule};
use super::page::Page;
use super::query::{Query, Target};
use super::reply::Reply;
use super::route::{self, Feature, Method, Off, Route, Take, To};
use super::{data, health, lane, stream};
use crate::counters::Counters;
use crate::live::publish::Publisher;
use crate::model::time::Clock;
use crate::surface::listen::{self, BodyError, Fault, Headers, Request, Service};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Something to be told; takes and gives nothing.
pub type Hook = Arc<dyn Fn() + Send + Sync>;
/// Answers a feature's request. A handler that changes what the board shows clears the publisher itself (HTTP-022).
pub type Handler = Arc<dyn Fn(&Call) -> Reply + Send + Sync>;
/// Looks at a request before its body is judged; a reply refuses it there (EVT-002, FOCUS-020).
pub type BeforeBody = Arc<dyn Fn(&Call) -> Option<Reply> + Send + Sync>;

/// What `POST /api/shutdown` sets off (LIFE-071).
#[derive(Clone)]
pub struct Shutdown {
    /// Before the reply, after the streams were closed: declines questions, stops the terminal.
    pub quieten: Hook,
    /// After the reply: asks the process to end. Must return at once.
    pub stop: Hook,
}

/// What an [`App`] is made of.
pub struct Setup {
    /// The bound port.
    pub port: u16,
    /// The bind.
    pub mode: HostMode,
    /// Process start, seconds since the epoch (CLI-018).
    pub started: f64,
    /// Where the time comes from.
    pub clock: Clock,
    /// The snapshots.
    pub publisher: Arc<Publisher>,
    /// The counters.
    pub counters: Arc<Counters>,
    /// The focus capability, when focus is on (HTTP-031).
    pub focus_token: Option<String>,
    /// Whether the read-only terminal is on.
    pub terminal: bool,
    /// The way out.
    pub shutdown: Shutdown,
    /// Told of a request that asks for fresh quota (HTTP-040); absent when quota is off.
    pub refresh_usage: Option<Hook>,
    /// Silence after which a stream says that it is alive (SSE-006).
    pub heartbeat: Duration,
}

/// Silence after which a stream says that it is alive, by default.
pub const STREAM_HEARTBEAT: Duration = Duration::from_secs(15);

/// The dashboard as a service.
pub struct App {
    pub(super) here: Here,
    pub(super) started: f64,
    pub(super) clock: Clock,
    pub(super) publisher: Arc<Publisher>,
    pub(super) counters: Arc<Counters>,
    pub(super) page: Page,
    pub(super) lane: Arc<lane::BrowserLane>,
    pub(super) shutdown: Shutdown,
    pub(super) refresh_usage: Option<Hook>,
    pub(super) heartbeat: Duration,
    handlers: BTreeMap<Feature, Handler>,
    guards: BTreeMap<Feature, BeforeBody>,
}

/// One admitted request as a handler sees it.
pub struct Call<'a> {
    /// What follows the route's prefix; the whole path of an exact route.
    pub tail: &'a str,
    /// The query.
    pub query: Query<'a>,
    /// The body; empty on a GET, before it was read, and for an unusable one on a lenient route.
    pub object: Object,
    /// The other end of the socket.
    pub peer: IpAddr,
    facts: &'a Facts<'a>,
    headers: &'a Headers,
    here: Here,
}

impl Call<'_> {
    /// A header value, the first under its lower-case name, when it is ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.text(name)
    }

    /// The one value of `X-Cargento-Capability`; none when it is missing, repeated or not ASCII.
    pub fn capability(&self) -> Option<&str> {
        let mut values = self.headers.all("x-cargento-capability");
        match (values.next(), values.next()) {
            (Some(one), None) => std::str::from_utf8(one).ok().filter(|text| text.is_ascii()),
            _ => None,
        }
    }

    /// Whether a browser opens this as a document (GATE-007).
    pub fn is_document_navigation(&self) -> bool {
        self.facts.is_document_navigation()
    }

    /// Whether the loopback-resource gate lets the request through as well (GATE-008, HTTP-063).
    pub fn passes_loopback_gate(&self) -> bool {
        self.facts.pass(Gate::LOOPBACK, self.here).is_ok()
    }

    /// Whether the peer is this machine.
    pub fn is_loopback_peer(&self) -> bool {
        self.facts.is_loopback_peer()
    }
}

impl App {
    /// An app in which every feature is off.
    pub fn new(setup: Setup) -> Self {
        Self {
            here: Here { mode: setup.mode, port: setup.port },
            started: setup.started,
            clock: setup.clock,
            publisher: setup.publisher,
            counters: setup.counters,
            page: Page::new(setup.focus_token.as_deref(), setup.terminal),
            lane: Arc::default(),
            shutdown: setup.shutdown,
            refresh_usage: setup.refresh_usage,
            heartbeat: setup.heartbeat,
            handlers: BTreeMap::new(),
            guards: BTreeMap::new(),
        }
    }

    /// Switches a feature on.
    #[must_use]
    pub fn on(mut self, feature: Feature, handler: impl Fn(&Call) -> Reply + Send + Sync + 'static) -> Self {
        self.handlers.insert(feature, Arc::new(handler));
        self
    }

    /// Gives a feature a look at its requests before their bodies.
    #[must_use]
    pub fn guard(mut self, feature: Feature, look: impl Fn(&Call) -> Option<Reply> + Send + Sync + 'static) -> Self {
        self.guards.insert(feature, Arc::new(look));
        self
    }

    /// The browser's notification lane, which the board publishes (NOTE-062).
    pub fn browser_lane(&self) -> Arc<lane::BrowserLane> {
        self.lane.clone()
    }

    /// Counts a refusal and makes its reply.
    pub(super) fn refusal(&self, counter: &str, reply: Reply) -> Reply {
        self.counters.bump(counter);
        reply
    }

    fn forbidden(&self, clause: Clause) -> Reply {
        self.refusal(clause.counter(), Reply::error(403))
    }

    fn absent(&self) -> Reply {
        self.refusal("http.path", Reply::error(404))
    }

    /// The whole way of one request; `None` closes without a reply.
    fn reply(&self, request: &mut Request) -> Option<Reply> {
        let method = match request.method.as_str() {
            "GET" => Method::Get,
            "POST" => Method::Post,
            _ => return Some(self.refusal("http.method", Reply::error(501))),
        };
        let target = Target::parse(&request.target);
        let facts = Facts::new(&request.headers, target.authority, request.peer);
        let first = if method == Method::Get { Gate::RELAXED } else { Gate::STRICT };
        if let Err(clause) = facts.pass(first, self.here) {
            return Some(self.forbidden(clause));
        }
        let Some((route, tail)) = route::find(method, target.path) else { return Some(self.absent()) };
        if let Err(clause) = facts.pass(route.gate, self.here) {
            return Some(self.forbidden(clause));
        }
        let mut call = Call {
            tail: if tail.is_empty() && matches!(route.path, route::Path::Exact(_)) { target.path } else { tail },
            query: target.query,
            object: Object::new(),
            peer: request.peer,
            facts: &facts,
            headers: &request.headers,
            here: self.here,
        };
        let early = self.before_body(route, &call);
        if early.is_some() && !matches!(route.take, Take::ObjectFirst(..)) {
            return early;
        }
        match self.take(route.take, &mut request.body)? {
            Ok(object) => call.object = object,
            Err(reply) => return Some(reply),
        }
        Some(early.unwrap_or_else(|| self.dispatch(route, &call)))
    }

    /// The off switch, then the feature's own look.
    fn before_body(&self, route: &Route, call: &Call) -> Option<Reply> {
        let To::Feature(feature, off) = route.to else { return None };
        if !self.handlers.contains_key(&feature) && !matches!(off, Off::Dropped(_)) {
            return Some(self.switched_off(off));
        }
        self.guards.get(&feature).and_then(|look| look(call))
    }

    fn switched_off(&self, off: Off) -> Reply {
        match off {
            Off::Unavailable(counter, why) => self.refusal(counter, Reply::error_because(503, why)),
            Off::Absent(counter) => self.refusal(counter, Reply::error(404)),
            Off::Disabled(counter) => {
                self.refusal(counter, Reply::json_bytes(503, br#"{"ok":false,"reason":"disabled"}"#.to_vec()))
            }
            Off::Dropped(counter) => {
                self.refusal(counter, Reply::json_bytes(200, br#"{"ok":true,"usage":0}"#.to_vec()))
            }
        }
    }

    /// The body under the route's rule: an object, a refusal, or nothing to answer at all.
    fn take(&self, take: Take, body: &mut listen::Body) -> Option<Result<Object, Reply>> {
        let (Take::Object(cap, rule) | Take::ObjectFirst(cap, rule)) = take else { return Some(Ok(Object::new())) };
        let bytes = match body.read(cap) {
            Ok(bytes) => bytes,
            Err(BodyError::Length) => return Some(Err(self.refusal("http.length", Reply::error(413)))),
            Err(BodyError::Slow) => {
                self.counters.bump("http.slow");
                return None;
            }
            Err(BodyError::Gone) => {
                self.counters.bump("http.disconnect");
                return None;
            }
        };
        Some(match (json::object(&bytes), rule) {
            (Some(object), _) => Ok(object),
            (None, Rule::Lenient) => {
                self.counters.bump("body.empty-object");
                Ok(Object::new())
            }
            (None, Rule::Judged) => Ok(Object::new()),
            (None, Rule::Strict) => {
                let body = br#"{"ok":false,"error":"the body is not a JSON object","status":400}"#;
                Err(self.refusal("body.refused", Reply::json_bytes(400, body.to_vec())))
            }
        })
    }

    fn dispatch(&self, route: &Route, call: &Call) -> Reply {
        match route.to {
            To::Page if call.query.has("next") => self.absent(),
            To::Page => self.page.document(),
            To::Asset => self.page.asset(call.tail).unwrap_or_else(|| self.absent()),
            To::TerminalAsset => self.page.terminal_asset(call.tail).unwrap_or_else(|| self.absent()),
            To::Data => data::reply(self, call),
            To::Health => health::reply(self, call),
            To::Stream => stream::reply(self),
            To::Shutdown => self.shut_down(),
            To::Lane => lane::reply(self, call),
            To::Feature(feature, off) => match self.handlers.get(&feature) {
                Some(handler) => handler(call),
                None => self.switched_off(off),
            },
        }
    }

    /// Streams and questions end before the reply, the listener after it; a peer that vanishes changes nothing.
    fn shut_down(&self) -> Reply {
        self.publisher.close();
        (self.shutdown.quieten)();
        let stop = self.shutdown.stop.clone();
        Reply::json_bytes(200, br#"{"ok":true,"stopping":true}"#.to_vec()).then(move || stop())
    }
}

impl Service for App {
    fn answer(&self, request: &mut Request) -> Option<listen::Reply> {
        self.reply(request).map(|reply| reply.compose((self.clock)()))
    }

    fn refuse(&self, fault: Fault) -> Option<listen::Reply> {
        let (counter, status) = match fault {
            Fault::Malformed => ("http.malformed", Some(400)),
            Fault::LineTooLong => ("http.too-long", Some(414)),
            Fault::HeadersTooLarge => ("http.headers", Some(431)),
            Fault::Version => ("http.version", Some(505)),
            Fault::Slow => ("http.slow", None),
            Fault::Disconnected => ("http.disconnect", None),
            Fault::Busy => ("http.busy", Some(503)),
            Fault::Descriptors => ("fd.exhausted", Some(503)),
            Fault::Panicked => ("panic.handler", Some(500)),
            Fault::StreamPanicked => ("panic.stream", None),
        };
        self.counters.bump(counter);
        status.map(|status| Reply::error(status).compose((self.clock)()))
    }
}
