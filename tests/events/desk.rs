//! A dashboard of the real binary on a throw-away home, spoken to over bare sockets.

pub use cargento::model::time::iso as stamp;

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub const BINARY: &str = env!("CARGO_BIN_EXE_cargento");
pub const SOURCES: [&str; 7] = ["claude", "codex", "antigravity", "gemini", "pi", "opencode", "droid"];

/// Seconds since the epoch.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

/// A session id that the source accepts, the `n`th of its kind.
pub fn id(harness: &str, n: usize) -> String {
    match harness {
        "claude" => format!("{:08x}-1111-4222-8333-444455556666", 0x0a00_0000 + n),
        "opencode" => format!("ses_{n:026}"),
        _ => format!("019a0000-1111-4222-8333-{n:012x}"),
    }
}

/// The row key of such an id.
pub fn sid(harness: &str, n: usize) -> String {
    let id = id(harness, n);
    if harness == "claude" { id[..8].to_owned() } else { id }
}

/// A throw-away home; nothing of the caller's environment leaks in.
pub struct Home(pub PathBuf);

impl Home {
    pub fn new(name: &str) -> Home {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let n = COUNT.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("cargento-events-{name}-{}-{n}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Home(path)
    }

    pub fn state(&self, name: &str) -> PathBuf {
        self.0.join(".cargento").join(name)
    }

    /// Writes a Claude session whose last word is `age` seconds old.
    pub fn claude(&self, n: usize, cwd: &str, age: f64) -> PathBuf {
        let id = id("claude", n);
        let folder = self.0.join(".claude/projects").join(cwd.replace('/', "-"));
        std::fs::create_dir_all(&folder).unwrap();
        let at = now() - age;
        let path = folder.join(format!("{id}.jsonl"));
        let lines = [record("user", &id, cwd, at - 5.0, "Sort the shelf"), record("assistant", &id, cwd, at, "Done.")];
        std::fs::write(&path, lines.concat()).unwrap();
        touch(&path, at);
        path
    }

    pub fn command(&self, args: &[&str], env: &[(&str, &str)]) -> Command {
        let mut command = Command::new(BINARY);
        command.args(args).env_clear().env("HOME", &self.0).env("PATH", "/nowhere").env("TZ", "UTC");
        command.envs(env.iter().copied()).current_dir(&self.0);
        command
    }

    /// Runs a client with this on its standard input.
    pub fn client(&self, args: &[&str], env: &[(&str, &str)], input: &[u8]) -> Output {
        run(self.command(args, env), input)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a command with input; one that reads nothing closes the pipe.
pub fn run(mut command: Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// One Claude record at a time, seconds since the epoch.
pub fn record(kind: &str, id: &str, cwd: &str, at: f64, text: &str) -> String {
    let stamp = stamp(at);
    let end = if kind == "assistant" { r#","stop_reason":"end_turn""# } else { "" };
    format!(
        r#"{{"type":"{kind}","sessionId":"{id}","cwd":"{cwd}","isSidechain":false,"timestamp":"{stamp}","uuid":"{kind}-{stamp}","message":{{"role":"{kind}","content":[{{"type":"text","text":"{text}"}}]{end}}}}}"#
    ) + "\n"
}

pub fn touch(path: &Path, at: f64) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs_f64(at)).unwrap();
}

/// What came back: 0 when the peer closed without a reply.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: String,
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

/// Waits for something that another thread or process brings about.
#[track_caller]
pub fn until<T>(what: &str, ready: impl Fn() -> Option<T>) -> T {
    let limit = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(Instant::now() < limit, "{what}: never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A running dashboard.
pub struct Desk {
    pub home: Home,
    pub port: u16,
    pub child: Child,
    pub tokens: BTreeMap<String, String>,
}

impl Desk {
    pub fn start(home: Home) -> Desk {
        Desk::with(home, &[], &[])
    }

    pub fn with(home: Home, flags: &[&str], env: &[(&str, &str)]) -> Desk {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = std::fs::File::create(home.0.join("log")).unwrap();
        let mut command = home.command(&["--port", &port.to_string(), "--no-usage"], env);
        command.args(flags).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let child = command.spawn().unwrap();
        let mut desk = Desk { home, port, child, tokens: BTreeMap::new() };
        let state = desk.home.state(&format!("cargento-{port}.json"));
        until("the dashboard answers", || {
            TcpStream::connect(("127.0.0.1", port)).ok()?;
            (desk.get("/api/health").status == 200).then_some(())
        });
        let state: Value = serde_json::from_slice(&std::fs::read(state).unwrap()).unwrap();
        if let Some(tokens) = state["capabilities"].as_object() {
            desk.tokens = tokens.iter().map(|(k, v)| (k.clone(), v.as_str().unwrap().to_owned())).collect();
        }
        desk
    }

    /// Sends bytes and reads to the end.
    pub fn raw(&self, bytes: &[u8], half_close: bool) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(25))).unwrap();
        // A server may refuse before it has read everything.
        let _ = stream.write_all(bytes);
        if half_close {
            stream.shutdown(Shutdown::Write).unwrap();
        }
        let mut got = Vec::new();
        let _ = stream.read_to_end(&mut got);
        let text = String::from_utf8_lossy(&got).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        Answer { status, body: body.to_owned() }
    }

    pub fn get(&self, path: &str) -> Answer {
        self.raw(format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").as_bytes(), false)
    }

    pub fn post(&self, path: &str, lines: &str, body: &[u8]) -> Answer {
        let head = format!("POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}Content-Length: {}\r\n\r\n", body.len());
        self.raw(&[head.as_bytes(), body].concat(), false)
    }

    /// Posts an event of a session with the source's own token.
    pub fn event(&self, harness: &str, event: &str, id: &str, more: &Value) -> Answer {
        let mut body = serde_json::json!({"v": 1, "event": event, "session_id": id});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        let line = format!("X-Cargento-Capability: {}\r\n", self.tokens[harness]);
        self.post(&format!("/api/events/{harness}"), &line, body.to_string().as_bytes())
    }

    /// The same, which must be accepted.
    #[track_caller]
    pub fn accepted(&self, harness: &str, event: &str, id: &str) {
        let answer = self.event(harness, event, id, &Value::Null);
        assert_eq!((answer.status, answer.body.as_str()), (200, r#"{"ok":true,"outcome":"accepted"}"#), "{event}");
    }

    pub fn overlays(&self) -> Value {
        self.get("/api/overlays").json()
    }

    pub fn counters(&self) -> BTreeMap<String, u64> {
        serde_json::from_value(self.get("/api/health?counters=1").json()["counters"].clone()).unwrap()
    }

    pub fn row(&self, harness: &str, sid: &str) -> Option<Value> {
        let data = self.get("/api/data").json();
        let rows = data["sessions"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["harness"] == harness && row["sid"] == sid)
    }

    /// The row once it is as wanted.
    #[track_caller]
    pub fn row_where(&self, what: &str, harness: &str, sid: &str, fits: impl Fn(&Value) -> bool) -> Value {
        until(what, || self.row(harness, sid).filter(|row| fits(row)))
    }

    /// Resident memory, KiB.
    pub fn rss(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().split(' ').next().unwrap().parse().unwrap()
    }

    /// Asks it to end and waits.
    pub fn stop(&mut self) {
        self.post("/api/shutdown", "", b"");
        self.child.wait().unwrap();
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A listener that keeps what it is sent and answers with the same bytes each time.
pub struct Listener {
    pub port: u16,
    pub got: std::sync::Arc<std::sync::Mutex<Vec<Vec<u8>>>>,
}

impl Listener {
    /// `None` never answers.
    pub fn answering(answer: Option<String>) -> Listener {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let got = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let kept = got.clone();
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for stream in socket.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut bytes = vec![0; 70_000];
                let n = stream.read(&mut bytes).unwrap_or(0);
                bytes.truncate(n);
                kept.lock().unwrap().push(bytes);
                match &answer {
                    Some(answer) => drop(stream.write_all(answer.as_bytes())),
                    None => held.push(stream),
                }
            }
        });
        Listener { port, got }
    }

    pub fn count(&self) -> usize {
        self.got.lock().unwrap().len()
    }
}
