//! The real binary in a home of its own, and what a test asks of the two.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A throw-away home; nothing of the caller's environment leaks in.
pub struct Home {
    pub path: PathBuf,
    pub env: Vec<(String, String)>,
}

impl Home {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("cargento-cli-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self { path, env: Vec::new() }
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    pub fn state(&self) -> PathBuf {
        self.path.join(".cargento")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargento"));
        command.args(args).env_clear().env("HOME", &self.path).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        command.envs(self.env.iter().map(|(k, v)| (k, v))).current_dir(&self.path).stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Said {
        Said::of(self.command(args).output().unwrap())
    }

    /// A foreground board that answers.
    pub fn serve(&self, port: u16, args: &[&str]) -> Board {
        let port_text = port.to_string();
        let args = [&["--port", &port_text], args].concat();
        let log = std::fs::File::create(self.path.join("out")).unwrap();
        let mut command = self.command(&args);
        let child = command.stdout(log.try_clone().unwrap()).stderr(log).process_group(0).spawn().unwrap();
        let mut board = Board { child, port, log: self.path.join("out") };
        board.answers();
        board
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    #[track_caller]
    pub fn expect(&self, code: i32, words: &[&str]) -> &Self {
        let all = format!("exit {:?}\nstdout: {}\nstderr: {}", self.code, self.out, self.err);
        assert_eq!(self.code, Some(code), "{all}");
        for word in words {
            assert!(self.out.contains(word), "no {word:?} in {all}");
        }
        self
    }
}

pub struct Board {
    pub child: Child,
    pub port: u16,
    pub log: PathBuf,
}

impl Board {
    #[track_caller]
    pub fn answers(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while health(self.port).is_none() {
            let said = std::fs::read_to_string(&self.log).unwrap();
            assert!(self.child.try_wait().unwrap().is_none(), "the board ended: {said}");
            assert!(Instant::now() < deadline, "the board never answered: {said}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn signal(&self, signal: libc::c_int) {
        // SAFETY: a child of ours that has not been waited for.
        unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
    }

    #[track_caller]
    pub fn ends(&mut self) -> Option<i32> {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < deadline, "the board does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

pub fn health(port: u16) -> Option<Value> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(stream, "GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n").ok()?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).ok()?;
    serde_json::from_str(reply.split_once("\r\n\r\n")?.1).ok()
}

/// Answers health as a dashboard of ours would, and a shutdown with `status` or by hanging up; `linger` keeps the port.
pub struct Fake {
    pub port: u16,
    pub asked: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    pub fn start(health: &str, status: Option<u16>, linger: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (body, list) = (health.replace("PORT", &port.to_string()), Arc::clone(&asked));
        std::thread::spawn(move || {
            for peer in listener.incoming() {
                let mut peer = peer.unwrap();
                let mut head = [0u8; 4096];
                let n = peer.read(&mut head).unwrap_or(0);
                let line = String::from_utf8_lossy(&head[..n]).lines().next().unwrap_or_default().to_owned();
                let shutdown = line.starts_with("POST /api/shutdown ");
                list.lock().unwrap().push(line);
                let (code, text) = if shutdown { (status.unwrap_or(0), "{}") } else { (200, body.as_str()) };
                if code > 0 {
                    let _ = write!(peer, "HTTP/1.0 {code} X\r\nContent-Length: {}\r\n\r\n{text}", text.len());
                }
                drop(peer);
                if shutdown && !linger {
                    return;
                }
            }
        });
        Self { port, asked }
    }

    pub fn ours(status: Option<u16>, linger: bool) -> Self {
        Self::start(r#"{"ok":true,"pid":4242,"port":PORT,"started":1790000000.5}"#, status, linger)
    }
}

pub fn files(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .map_or_else(|_| Vec::new(), |list| list.map(|e| e.unwrap().file_name().into_string().unwrap()).collect());
    names.sort();
    names
}

/// The files of a directory with their bytes; not one that is renamed into its place just now.
pub fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for name in files(dir).into_iter().filter(|name| dir.join(name).is_file()) {
        match std::fs::read(dir.join(&name)) {
            Ok(bytes) => drop(found.insert(name, bytes)),
            Err(e) => assert_eq!(e.kind(), std::io::ErrorKind::NotFound, "{name}"),
        }
    }
    found
}

/// One request over a fresh socket: status, head, body. Status 0 when nothing came back.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }
}

/// Asks a board on this machine; `lines` are further header lines.
pub fn ask(port: u16, method: &str, path: &str, lines: &[(&str, &str)], body: &str) -> Answer {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n");
    if method == "POST" {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    for (name, value) in lines {
        head += &format!("{name}: {value}\r\n");
    }
    let mut raw = Vec::new();
    if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
        let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
        let _ = stream.read_to_end(&mut raw);
    }
    let end = raw.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(raw.len());
    let head = String::from_utf8_lossy(&raw[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    Answer { status, head, body: raw.get(end + 4..).unwrap_or_default().to_vec() }
}

/// What a board publishes.
#[track_caller]
pub fn data(port: u16, query: &str) -> Value {
    let answer = ask(port, "GET", &format!("/api/data{query}"), &[], "");
    assert_eq!(answer.status, 200, "{}", answer.head);
    answer.json()
}
