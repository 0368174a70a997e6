//! A dashboard for the tests: every feature on, a collection that is counted, raw requests and raw replies.

use cargento::counters::Counters;
use cargento::http::route::{ROUTES, To};
use cargento::http::{App, Feature, HostMode, Reply, Setup, Shutdown};
use cargento::live::publish::Publisher;
use cargento::model::time::system_clock;
use cargento::surface::listen::{Limits, Server};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub const STARTED: f64 = 1_790_000_000.25;
pub const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Every feature that a route is for.
pub fn every() -> Vec<Feature> {
    let mut all: Vec<Feature> = ROUTES
        .iter()
        .filter_map(|route| match route.to {
            To::Feature(feature, _) => Some(feature),
            _ => None,
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

pub struct Board {
    pub port: u16,
    pub publisher: Arc<Publisher>,
    pub counters: Arc<Counters>,
    pub collections: Arc<AtomicUsize>,
    pub quota_asked: Arc<AtomicUsize>,
    /// What happened around a shutdown, in order.
    pub log: Arc<Mutex<Vec<&'static str>>>,
    pub server: Mutex<Server>,
}

pub struct Plan {
    pub mode: HostMode,
    pub limits: Limits,
    pub heartbeat: Duration,
    pub features: Vec<Feature>,
    pub collect: Arc<dyn Fn(bool) -> Result<Vec<u8>, String> + Send + Sync>,
    #[allow(clippy::type_complexity)]
    pub shape: Box<dyn FnOnce(App) -> App>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            mode: HostMode::Loopback,
            limits: Limits::default(),
            heartbeat: Duration::from_secs(15),
            features: every(),
            collect: Arc::new(|all| Ok(format!("{{\"show_all\":{all}}}").into_bytes())),
            shape: Box::new(|app| app),
        }
    }
}

impl Plan {
    pub fn without(mut self, off: &[Feature]) -> Self {
        self.features.retain(|f| !off.contains(f));
        self
    }

    pub fn board(self) -> Board {
        let wide = self.mode == HostMode::Wide;
        let listener = TcpListener::bind((if wide { "0.0.0.0" } else { "127.0.0.1" }, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (collections, quota_asked, log) =
            (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default(), Arc::<Mutex<Vec<_>>>::default());
        let counters = Arc::new(Counters::new());
        let (counted, collect) = (collections.clone(), self.collect);
        let publisher = Arc::new(Publisher::new(
            STARTED,
            system_clock(),
            Arc::new(move |all| {
                counted.fetch_add(1, Ordering::SeqCst);
                collect(all)
            }),
        ));
        let note = |word: &'static str| {
            let log = log.clone();
            Arc::new(move || log.lock().unwrap().push(word)) as Arc<dyn Fn() + Send + Sync>
        };
        let asked = quota_asked.clone();
        let mut app = App::new(Setup {
            port,
            mode: self.mode,
            started: STARTED,
            clock: system_clock(),
            publisher: publisher.clone(),
            counters: counters.clone(),
            focus_token: Some(TOKEN.into()),
            terminal: false,
            shutdown: Shutdown { quieten: note("quieten"), stop: note("stop") },
            refresh_usage: Some(Arc::new(move || {
                asked.fetch_add(1, Ordering::SeqCst);
            })),
            heartbeat: self.heartbeat,
        });
        for feature in self.features {
            // A stand-in says what reached it.
            app = app.on(feature, |call| {
                Reply::json(200, &serde_json::json!({"ok": true, "tail": call.tail, "members": call.object.len()}))
            });
        }
        let app = (self.shape)(app);
        let server = Mutex::new(Server::start(listener, Arc::new(app), self.limits).unwrap());
        Board { port, publisher, counters, collections, quota_asked, log, server }
    }
}

#[derive(Debug)]
pub struct Answer {
    /// 0 when the peer closed without a reply.
    pub status: u16,
    pub reason: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub raw: Vec<u8>,
    pub closed: bool,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

pub fn parse(raw: Vec<u8>, closed: bool) -> Answer {
    let end = raw.windows(4).position(|w| w == b"\r\n\r\n");
    let head = String::from_utf8_lossy(&raw[..end.unwrap_or(raw.len())]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().splitn(3, ' ');
    let status = first.nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    let reason = first.next().unwrap_or_default().to_owned();
    let headers = lines.filter_map(|l| l.split_once(':')).map(|(n, v)| (n.to_owned(), v.trim().to_owned())).collect();
    let body = end.map_or(Vec::new(), |at| raw[at + 4..].to_vec());
    Answer { status, reason, headers, body, raw, closed }
}

impl Board {
    pub fn new() -> Self {
        Plan::default().board()
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Exactly these bytes on a fresh socket, and the reply up to the peer's close.
    pub fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes);
        finish(&mut stream)
    }

    pub fn ask(&self, method: &str, target: &str, lines: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut head = format!("{method} {target} HTTP/1.1\r\n");
        let names = |name: &str| lines.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
        if !names("host") {
            head += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        for (name, value) in lines {
            head += &format!("{name}: {value}\r\n");
        }
        if method == "POST" && !names("content-length") && !names("transfer-encoding") {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        self.send(&[head.as_bytes(), b"\r\n", body].concat())
    }

    pub fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, &[], b"")
    }

    pub fn post(&self, target: &str, body: &[u8]) -> Answer {
        self.ask("POST", target, &[], body)
    }

    /// The counters that moved while `act` ran.
    pub fn moved(&self, act: impl FnOnce()) -> BTreeMap<&'static str, u64> {
        let before: BTreeMap<_, _> = self.counters.all().collect();
        act();
        // Whatever is counted after a reply is counted on its way out.
        self.settle();
        self.counters.all().filter(|(name, n)| *n > before[name]).map(|(name, n)| (name, n - before[name])).collect()
    }

    /// Waits until no connection is left.
    pub fn settle(&self) {
        eventually("every connection to end", || self.server.lock().unwrap().connections() == 0);
    }
}

pub fn finish(stream: &mut TcpStream) -> Answer {
    let (mut raw, mut chunk) = (Vec::new(), [0; 65536]);
    let closed = loop {
        match stream.read(&mut chunk) {
            Ok(0) => break true,
            Ok(n) => raw.extend_from_slice(&chunk[..n]),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break false,
            Err(_) => break true,
        }
    };
    parse(raw, closed)
}

#[track_caller]
pub fn eventually(what: &str, mut yes: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !yes() {
        assert!(Instant::now() < until, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
