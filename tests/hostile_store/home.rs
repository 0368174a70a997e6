//! A throw-away home full of stores, and the real binary serving it.

use cargento::model::time::iso;
use serde_json::{Value, json};
use std::ffi::CString;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The binary under test.
const BINARY: &str = env!("CARGO_BIN_EXE_cargento");
/// Whom the board runs as when the tests run as root, whom no permission stops.
const NOBODY: u32 = 65_534;

/// A home of its own.
pub struct Home {
    pub path: PathBuf,
    /// When the stores were written, seconds since the epoch.
    pub now: f64,
}

impl Home {
    pub fn new() -> Home {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("cargento-hostile-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64().floor();
        Home { path, now }
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where a file is to lie; its folders are made.
    pub fn place(&self, name: &str) -> PathBuf {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    /// Writes a file, last written `ago` seconds before [`Home::now`].
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>, ago: f64) -> PathBuf {
        let path = self.place(name);
        std::fs::write(&path, bytes).unwrap();
        touch(&path, self.now - ago);
        path
    }

    pub fn fifo(&self, name: &str) {
        let path = CString::new(self.place(name).as_os_str().as_bytes()).unwrap();
        // SAFETY: a NUL-terminated path that outlives the call.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    }

    pub fn link(&self, target: &str, name: &str) {
        std::os::unix::fs::symlink(target, self.place(name)).unwrap();
    }

    pub fn mode(&self, name: &str, mode: u32) {
        std::fs::set_permissions(self.at(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// An ISO stamp `ago` seconds before [`Home::now`].
    pub fn iso(&self, ago: f64) -> String {
        iso(self.now - ago)
    }

    /// An executable that notes its arguments in `<name>.said`.
    pub fn recorder(&self, name: &str) {
        let said = self.at(&format!("{name}.said"));
        let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{}'\n", said.display());
        self.write(&format!("bin/{name}"), script, 0.0);
        self.mode(&format!("bin/{name}"), 0o755);
    }

    /// Serves this home.
    pub fn serve(&self) -> Board {
        let root = is_root();
        let binary = if root { self.at("cargento") } else { PathBuf::from(BINARY) };
        if root {
            // Where the build lies may be closed to everybody else.
            std::fs::copy(BINARY, &binary).unwrap();
            give(&self.path);
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = std::fs::File::create(self.at("log")).unwrap();
        let search = format!("{}:/usr/bin:/bin", self.at("bin").display());
        let mut command = Command::new(binary);
        command.args(["--port", &port.to_string(), "--no-usage"]).env_clear().env("TZ", "UTC").env("PATH", search);
        command.env("HOME", &self.path).current_dir(&self.path).stdin(Stdio::null());
        command.stdout(log.try_clone().unwrap()).stderr(log).process_group(0);
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let board = Board { child: command.spawn().unwrap(), port, log: self.at("log") };
        board.until("an answer", |board| board.ask("GET", "/api/health", b"").filter(|r| r.status == 200));
        board
    }

    /// Every file the board wrote, log included; not one that is being renamed into its place just now.
    pub fn own_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut open = vec![self.at(".cargento")];
        let mut found = vec![(self.at("log"), std::fs::read(self.at("log")).unwrap())];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    match std::fs::read(&path) {
                        Ok(bytes) => found.push((path, bytes)),
                        Err(e) => assert_eq!(e.kind(), std::io::ErrorKind::NotFound, "{}", path.display()),
                    }
                }
            }
        }
        found
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let closed = self.at(".claude/projects/-w-closed");
        if closed.exists() {
            let _ = std::fs::set_permissions(closed, std::fs::Permissions::from_mode(0o700));
        }
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn is_root() -> bool {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() == 0 }
}

/// Gives everything below a folder away; links themselves, not what they point to.
fn give(path: &Path) {
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path());
        }
    }
}

pub fn touch(path: &Path, at: f64) {
    let when = UNIX_EPOCH + Duration::from_secs_f64(at);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(when).unwrap();
}

/// The binary at work.
pub struct Board {
    pub child: Child,
    port: u16,
    log: PathBuf,
}

pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Board {
    /// One request; `None` when nothing answers.
    pub fn ask(&self, method: &str, path: &str, body: &[u8]) -> Option<Reply> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_mins(1))).ok()?;
        let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
        let (port, length) = (self.port, body.len());
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{kind}Content-Length: {length}\r\n\r\n")
            .ok()?;
        stream.write_all(body).ok()?;
        let mut reply = Vec::new();
        if path == "/api/stream" {
            // Never ends by itself: the first piece of it will do.
            let mut piece = vec![0; 65_536];
            while !reply.windows(8).any(|w| w == b"revision") {
                let n = stream.read(&mut piece).ok().filter(|n| *n > 0)?;
                reply.extend_from_slice(&piece[..n]);
            }
        } else {
            stream.read_to_end(&mut reply).ok()?;
        }
        let end = reply.windows(4).position(|w| w == b"\r\n\r\n")?;
        let head = String::from_utf8(reply[..end].to_vec()).ok()?;
        Some(Reply { status: head.get(9..12)?.parse().ok()?, head, body: reply[end + 4..].to_vec() })
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, b"").unwrap_or_else(|| panic!("no answer to GET {path}: {}", self.said()))
    }

    #[track_caller]
    pub fn data(&self) -> Value {
        let reply = self.get("/api/data");
        assert_eq!(reply.status, 200, "{}", reply.head);
        reply.json()
    }

    /// The answer of `probe` as soon as there is one.
    #[track_caller]
    pub fn until<T>(&self, what: &str, probe: impl Fn(&Board) -> Option<T>) -> T {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            if let Some(found) = probe(self) {
                return found;
            }
            assert!(Instant::now() < deadline, "never: {what}; {}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn said(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap()).into_owned()
    }

    /// The most memory the board ever held, KiB; none where the kernel does not tell.
    pub fn peak_kib(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?.trim().trim_end_matches(" kB").parse().ok()
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The row of a session.
#[track_caller]
pub fn row<'d>(data: &'d Value, harness: &str, sid: &str) -> &'d Value {
    let rows = data["sessions"].as_array().unwrap();
    let is = |r: &&Value| r["harness"] == harness && r["sid"] == sid;
    rows.iter().find(is).unwrap_or_else(|| panic!("no row {harness} {sid} in {rows:#?}"))
}

/// The degrades of a row or a harness as (code, source, count).
pub fn gaps(of: &Value) -> Vec<(String, String, u64)> {
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let gap = |d: &Value| (text(&d["code"]), text(&d["source"]), d["count"].as_u64().unwrap_or(0));
    of["degrades"].as_array().unwrap().iter().map(gap).collect()
}

/// The entry of a harness.
#[track_caller]
pub fn harness<'d>(data: &'d Value, key: &str) -> &'d Value {
    data["harnesses"].as_array().unwrap().iter().find(|h| h["key"] == key).unwrap()
}

/// Records as lines.
pub fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().flat_map(|r| format!("{r}\n").into_bytes()).collect()
}

/// A prompt, an answer and a generated title of a Claude session.
pub fn talk(home: &Home, title: &str, ago: f64) -> Vec<Value> {
    vec![
        json!({"type": "user", "uuid": "u1", "timestamp": home.iso(ago + 20.0), "cwd": "/w/acme/shop",
               "message": {"role": "user", "content": "Rewrite the rounding rule and run the tax tests"}}),
        json!({"type": "assistant", "uuid": "a1", "timestamp": home.iso(ago), "isSidechain": false,
               "message": {"id": "msg_1", "model": "claude-opus-5", "usage": {"output_tokens": 220},
                           "content": [{"type": "text", "text": "On it."}]}}),
        json!({"type": "ai-title", "aiTitle": title}),
    ]
}
