//! A throw-away home, a board on it, and a client that knows what was acknowledged.

use crate::wire::{Answer, parse};
use cargento::model::time::iso;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub const ANNOTATIONS: &str = "cargento-annotations.json";
pub const DISMISSALS: &str = "cargento-dismissals.json";
pub const HISTORY: &str = "cargento-history.json";
pub const ENDS: &str = "cargento-ends.json";
pub const DELIVERIES: &str = "cargento-deliveries.json";
pub const DEPARTURES: &str = "cargento-departures.json";
/// Every store this build writes.
pub const STORES: [&str; 6] = [ANNOTATIONS, DISMISSALS, HISTORY, ENDS, DELIVERIES, DEPARTURES];

/// A home of its own; nothing of the caller's environment leaks in.
pub struct Home {
    pub path: PathBuf,
    /// The state directory.
    pub state: PathBuf,
    /// Whom the boards run as, when this test may choose.
    pub user: Option<u32>,
    pub umask: libc::mode_t,
}

impl Home {
    pub fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// A home in memory where there is such a place: a flush costs nothing there, so many more saves come to pass.
    pub fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let writable = std::fs::create_dir_all(memory.join(format!("cargento-stores-{}", std::process::id()))).is_ok();
        let _ = std::fs::remove_dir(memory.join(format!("cargento-stores-{}", std::process::id())));
        if writable { Self::below(memory) } else { Self::new() }
    }

    fn below(base: &Path) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("cargento-stores-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        let path = base.join(name);
        std::fs::create_dir(&path).unwrap();
        Self { state: path.join(".cargento"), path, user: None, umask: 0 }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.state.join(name)
    }

    /// Puts a file where a board will look for it.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::create_dir_all(&self.state).unwrap();
        std::fs::write(self.file(name), bytes).unwrap();
        std::fs::set_permissions(self.file(name), std::fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.file(name)).unwrap()).unwrap()
    }

    /// The entries of a store.
    pub fn entries(&self, name: &str) -> Vec<Value> {
        self.json(name)["entries"].as_array().unwrap().clone()
    }

    /// Names in the state directory, sorted.
    pub fn names(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.state) else { return Vec::new() };
        let mut names: Vec<_> = entries.flatten().map(|e| e.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Temporary files in the state directory.
    pub fn half_written(&self) -> Vec<String> {
        self.names().into_iter().filter(|name| Path::new(name).extension().is_some_and(|end| end == "tmp")).collect()
    }

    #[track_caller]
    pub fn no_leftovers(&self) {
        let left = self.half_written();
        assert!(left.is_empty(), "temporary files left: {left:?}");
    }

    /// A quiet Claude Code session, last written `age` seconds ago; the id it is published under.
    pub fn claude(&self, sid: &str, age: f64) -> String {
        let dir = self.path.join(".claude/projects/-w-acme-shop");
        std::fs::create_dir_all(&dir).unwrap();
        let line = |kind: &str, age: f64, content: Value| {
            json!({"type": kind, "uuid": format!("{sid}-{kind}"), "sessionId": sid, "cwd": "/w/acme/shop", "isSidechain": false,
                "userType": "external", "version": "2.1.260", "timestamp": iso(now() - age),
                "message": {"role": kind, "content": content, "stop_reason": "end_turn", "model": "claude-opus-4-6"}})
        };
        let done = json!([{"type": "text", "text": "Done."}]);
        let text = format!("{}\n{}\n", line("user", age + 3.0, "Tidy the queue".into()), line("assistant", age, done));
        let path = dir.join(format!("{sid}.jsonl"));
        std::fs::write(&path, text).unwrap();
        let at = SystemTime::now() - Duration::from_secs_f64(age);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
        sid.chars().take(8).collect()
    }

    /// Beside the home: where the build lies may be closed to everybody else.
    fn lent(&self) -> PathBuf {
        self.path.with_extension("program")
    }

    /// The program, where whoever runs it can reach it.
    fn program(&self) -> PathBuf {
        let built = Path::new(env!("CARGO_BIN_EXE_cargento"));
        if self.user.is_none() {
            return built.to_path_buf();
        }
        let lent = self.lent();
        if !lent.exists() {
            std::fs::hard_link(built, &lent).or_else(|_| std::fs::copy(built, &lent).map(drop)).unwrap();
        }
        lent
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.program());
        command.args(args).env_clear().env("HOME", &self.path).env("CARGENTO_HOME", &self.state);
        // No notifier there, so that nothing pops up on the machine of whoever runs this.
        command.env("PATH", "/nowhere").env("TZ", "UTC").current_dir(&self.path).stdin(Stdio::null());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// `--forget` aimed at a port: the exit code and what was said.
    pub fn forget(&self, port: u16) -> (Option<i32>, String) {
        let output = self.command(&["--forget", "--port", &port.to_string()]).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    }

    pub fn serve(&self) -> Board {
        self.serve_with(&[])
    }

    /// A foreground board that answers, under the widest of umasks unless the home has another.
    #[track_caller]
    pub fn serve_with(&self, args: &[&str]) -> Board {
        let port = free_port();
        let log = self.path.join(format!("out-{port}"));
        let out = std::fs::File::create(&log).unwrap();
        let mut command = self.command(&[&["--port", &port.to_string()], args].concat());
        let umask = self.umask;
        // SAFETY: umask is async-signal-safe and touches the child alone.
        unsafe {
            command.pre_exec(move || {
                libc::umask(umask);
                Ok(())
            });
        }
        let child = command.stdout(out.try_clone().unwrap()).stderr(out).spawn().unwrap();
        let mut board = Board { child, port, log };
        let deadline = Instant::now() + Duration::from_secs(20);
        while board.ask("GET", "/api/health", &[], b"").is_none() {
            assert!(board.child.try_wait().unwrap().is_none(), "the board ended: {}", board.said());
            assert!(Instant::now() < deadline, "the board never answered: {}", board.said());
            std::thread::sleep(Duration::from_millis(3));
        }
        board
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
        let _ = std::fs::remove_file(self.lent());
    }
}

/// A running board.
pub struct Board {
    pub child: Child,
    pub port: u16,
    log: PathBuf,
}

impl Board {
    /// A whole reply, or `None` when there was none: only a whole one acknowledges anything.
    pub fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Option<Answer> {
        ask(self.port, method, target, headers, body)
    }

    #[track_caller]
    pub fn get(&self, target: &str) -> Value {
        let answer = self.ask("GET", target, &[], b"").expect("a reply");
        assert_eq!(answer.status, 200, "{target}: {}", answer.text());
        answer.json()
    }

    pub fn data(&self) -> Value {
        self.get("/api/data")
    }

    #[track_caller]
    pub fn post(&self, target: &str, body: &Value) -> Value {
        let answer = self.ask("POST", target, &[], body.to_string().as_bytes()).expect("a reply");
        assert_eq!(answer.status, 200, "{target} {body}: {}", answer.text());
        answer.json()
    }

    #[track_caller]
    pub fn annotate(&self, sid: &str, more: &Value) -> Value {
        let mut body = json!({"harness": "pi", "sid": sid});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.post("/api/annotate", &body)
    }

    /// Saves a goal and answers the outcome.
    #[track_caller]
    pub fn goal(&self, sid: &str, goal: &str) -> String {
        self.annotate(sid, &json!({"goal": goal}))["outcome"].as_str().unwrap().to_owned()
    }

    /// Marks a session handled; whether that reached the disk.
    #[track_caller]
    pub fn mark(&self, sid: &str) -> bool {
        self.post("/api/dismiss", &json!({"harness": "pi", "sid": sid}))["persisted"].as_bool().unwrap()
    }

    /// Tells the end of a Claude session; the reply, `None` when the board was gone.
    pub fn end(&self, home: &Home, sid: &str) -> Option<Answer> {
        let record = std::fs::read(home.file(&format!("cargento-{}.json", self.port))).ok()?;
        let record: Value = serde_json::from_slice(&record).ok()?;
        let token = record["capabilities"]["claude"].as_str()?;
        let body = json!({"v": 1, "event": "session_ended", "session_id": sid}).to_string();
        self.ask("POST", "/api/events/claude", &[("X-Cargento-Capability", token)], body.as_bytes())
    }

    /// The entry of a session in the Intent log.
    pub fn listed(&self, sid: &str) -> Option<Value> {
        let list = self.get("/api/annotations")["annotations"].as_array().unwrap().clone();
        list.into_iter().find(|entry| entry["sid"] == sid)
    }

    pub fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// `kill -9`, and its end.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn ask(port: u16, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Option<Answer> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_mins(1))).ok()?;
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("Content-Length: {}\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
    let mut raw = Vec::new();
    stream.read_to_end(&mut raw).ok()?;
    let answer = parse(raw, true);
    let whole = answer.header("content-length").and_then(|n| n.parse().ok()) == Some(answer.body.len());
    (answer.status != 0 && whole).then_some(answer)
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

/// A small generator with a seed, so that a failing run can be had again.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % end
    }
}

/// Looks at every file of a state directory over and over until told to stop: a store must be whole JSON at every
/// instant, and nothing may ever be open to others. Answers how often it looked.
pub fn watch(state: &Path, done: &AtomicBool) -> u64 {
    let mut looks = 0;
    while !done.load(Ordering::Relaxed) {
        let Ok(entries) = std::fs::read_dir(state) else { continue };
        let mode = |path: &Path| std::fs::symlink_metadata(path).ok().map(|found| found.permissions().mode() & 0o7777);
        assert!(mode(state).is_none_or(|mode| mode == 0o700), "the state directory: {:o}", mode(state).unwrap());
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            assert!(mode(&path).is_none_or(|mode| mode == 0o600), "{name}: {:o}", mode(&path).unwrap());
            if STORES.contains(&name.as_str()) {
                let Ok(bytes) = std::fs::read(&path) else { continue };
                let read: Result<Value, _> = serde_json::from_slice(&bytes);
                assert!(
                    read.is_ok_and(|read| read["entries"].is_array()),
                    "{name}: {}",
                    String::from_utf8_lossy(&bytes)
                );
                looks += 1;
            }
        }
    }
    looks
}

/// Ends a watch also when the test that started it fails.
pub struct Ends<'a>(pub &'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
