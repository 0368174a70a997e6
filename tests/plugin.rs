//! What `cargento plugin` and `cargento hooks` hand out, used as a harness or a person uses it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use serde_json::Value;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_cargento");

/// A throw-away home.
struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Home {
        let path = std::env::temp_dir().join(format!("cargento-plugin-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Home(path)
    }

    /// Runs a program there, with input.
    fn run(&self, program: &Path, args: &[&str], env: &[(&str, &str)], input: &[u8]) -> Output {
        let mut command = Command::new(program);
        command.args(args).env_clear().env("HOME", &self.0).env("PATH", "/usr/bin:/bin").envs(env.iter().copied());
        command.current_dir(&self.0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that reads nothing closes the pipe.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    fn cargento(&self, args: &[&str]) -> Output {
        self.run(Path::new(BINARY), args, &[], b"")
    }

    fn names(&self, dir: &str) -> Vec<String> {
        let mut found: Vec<String> = std::fs::read_dir(self.0.join(dir))
            .map(|entries| entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect())
            .unwrap_or_default();
        found.sort();
        found
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Every command string of a document.
fn commands(node: &Value, found: &mut Vec<String>) {
    match node {
        Value::Object(map) => {
            found.extend(map.get("command").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| commands(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| commands(value, found)),
        _ => {}
    }
}

#[test]
fn cli_031_the_plugin_goes_into_an_empty_folder_and_nowhere_else() {
    let home = Home::new("write");
    assert_eq!(home.cargento(&["plugin", "made"]).status.code(), Some(0));
    assert_eq!(home.names(""), ["made"]);
    assert_eq!(
        home.names("made"),
        [
            ".claude-plugin",
            ".codex-plugin",
            "adapters",
            "droid",
            "gemini",
            "hooks",
            "hooks.json",
            "plugin.json",
            "skills"
        ]
    );
    let again = home.cargento(&["plugin", "made"]);
    assert_eq!((again.status.code(), home.names("made").len()), (Some(1), 9));
    for args in [&["plugin"][..], &["plugin", "a", "b"], &["plugin", ""], &["plugin", "--force"]] {
        let refused = home.cargento(args);
        assert_eq!((refused.status.code(), refused.stdout.is_empty()), (Some(2), true), "{args:?}");
    }
    assert_eq!(home.names(""), ["made"]);
}

/// Measured from the command string that the file really carries, with nothing listening and with a board that accepts
/// and never answers.
#[test]
fn trust_057_a_registered_command_ends_fast_and_quietly() {
    let home = Home::new("command");
    assert!(home.cargento(&["plugin", "made"]).status.success());
    let mut found = Vec::new();
    for file in [
        "hooks/hooks.json",
        "hooks/codex-hooks.json",
        "hooks.json",
        "gemini/hooks/hooks.json",
        "droid/hooks/hooks.json",
    ] {
        let text = std::fs::read(home.0.join("made").join(file)).unwrap();
        commands(&serde_json::from_slice(&text).unwrap(), &mut found);
    }
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 6);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let state = home.0.join(".cargento");
    std::fs::create_dir(&state).unwrap();
    let tokens: String =
        ["claude", "codex", "antigravity", "gemini", "droid"].map(|h| format!("\"{h}\":\"t\"")).join(",");
    std::fs::write(state.join(format!("cargento-{port}.json")), format!("{{\"capabilities\":{{{tokens}}}}}")).unwrap();
    let payload = br#"{"hook_event_name":"SessionStart","session_id":"019a0000-1111-4222-8333-444455556666",
        "conversationId":"019a0000-1111-4222-8333-444455556666"}"#;
    for command in found {
        let want: &[u8] = if command.contains("agy-hook") { b"{}\n" } else { b"" };
        for (line, limit) in [(command.clone(), 1500), (format!("{command} {port}"), 2500)] {
            let began = Instant::now();
            let done = home.run(Path::new("/bin/sh"), &["-c", &line], &[], payload);
            assert!(began.elapsed() < Duration::from_millis(limit), "{line} took {:?}", began.elapsed());
            assert_eq!((done.status.code(), &*done.stdout, &*done.stderr), (Some(0), want, &b""[..]), "{line}");
        }
    }
}

#[test]
fn cli_032_hooks_prints_for_ten_harnesses_and_refuses_others() {
    let home = Home::new("hooks");
    for (harness, word) in [
        ("claude", "notify-hook"),
        ("codex", "approved"),
        ("pi", "pi_extension.js"),
        ("gemini", "gemini extensions install"),
        ("antigravity", "statusLine"),
        ("copilot", "nothing to install"),
        ("opencode", "opencode_plugin.js"),
        ("cursor", "nothing to install"),
        ("goose", "no adapter exists"),
        ("droid", "droid plugin install"),
    ] {
        let done = home.cargento(&["hooks", harness]);
        let page = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success() && done.stderr.is_empty() && page.contains(word), "{harness}: {page}");
    }
    for args in [&["hooks"][..], &["hooks", "Claude"], &["hooks", "aider"], &["hooks", "claude", "codex"]] {
        let refused = home.cargento(args);
        assert_eq!((refused.status.code(), refused.stdout.is_empty()), (Some(2), true), "{args:?}");
    }
    assert!(home.names("").is_empty(), "nothing is written");
}

/// The scripts of the same names, with the binary beside them, in `CARGENTO_BIN`, on PATH and nowhere.
#[test]
fn hook_016_the_scripts_become_the_binary_with_the_same_arguments() {
    if !has("python3") {
        eprintln!("not run: python3 is not installed here");
        return;
    }
    let home = Home::new("compat");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/compat");
    let dir = home.0.join("compat");
    std::fs::create_dir(&dir).unwrap();
    for entry in std::fs::read_dir(&source).unwrap() {
        let entry = entry.unwrap();
        if entry.path().extension().is_some_and(|end| end == "py") {
            std::fs::copy(entry.path(), dir.join(entry.file_name())).unwrap();
        }
    }
    let python = Path::new("/usr/bin/env");
    let run = |name: &str, args: &[&str], env: &[(&str, &str)]| {
        let script = dir.join(name);
        let args = [&["python3", script.to_str().unwrap()], args].concat();
        home.run(python, &args, env, b"")
    };
    for (name, answer, code) in [
        ("notify_hook.py", "", 0),
        ("event_hook.py", "", 0),
        ("agy_hook.py", "{}\n", 0),
        ("statusline_hook.py", "\n", 0),
        ("mcp_server.py", "", 0),
        ("server.py", "", 1),
    ] {
        let done = run(name, &["x"], &[]);
        assert_eq!(
            (done.stdout, done.status.code()),
            (answer.as_bytes().to_vec(), Some(code)),
            "{name} without a binary"
        );
        assert_eq!(done.stderr.is_empty(), name.ends_with("hook.py"), "{name}");
    }
    let folder = Path::new(BINARY).parent().unwrap();
    let on_path = format!("{}:/usr/bin:/bin", folder.display());
    for env in [[("CARGENTO_BIN", BINARY)], [("PATH", &on_path)]] {
        let version = run("server.py", &["--version"], &env);
        assert!(String::from_utf8(version.stdout).unwrap().starts_with("cargento "), "{env:?}");
        assert_eq!(run("agy_hook.py", &["PreToolUse", "x"], &env).stdout, b"{}\n");
    }
    // Beside the scripts wins over everything.
    std::os::unix::fs::symlink(BINARY, dir.join("cargento")).unwrap();
    let beside = run("server.py", &["--version"], &[("CARGENTO_BIN", "/bin/false")]);
    assert!(String::from_utf8(beside.stdout).unwrap().starts_with("cargento "));
    assert!(!dir.join("__pycache__").exists(), "the scripts write nothing beside themselves");
}

/// HOOK-090 to HOOK-104 in node, against the files that `cargento plugin` writes.
#[test]
fn hook_090_104_the_adapters_behave() {
    if !has("node") {
        eprintln!("not run: node is not installed here");
        return;
    }
    let home = Home::new("adapters");
    assert!(home.cargento(&["plugin", "made"]).status.success());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["tests/adapters/opencode.test.mjs", "tests/adapters/pi.test.mjs"] {
        let done = Command::new("node")
            .arg("--test")
            .arg(root.join(file))
            .env("CARGENTO_ADAPTERS", home.0.join("made/adapters"))
            .output()
            .unwrap();
        assert!(done.status.success(), "{file}\n{}", String::from_utf8_lossy(&done.stdout));
    }
}
