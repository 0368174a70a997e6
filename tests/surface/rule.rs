//! The surface rule (TRUST-010, TRUST-013, TRUST-015, CONF-001): only `src/surface/` writes, spawns, listens, connects,
//! opens a database or holds unsafe code, and only `src/env.rs` asks for the environment.
//!
//! Reads the sources as tokens ([`super::tokens`]), with comments, texts and test modules taken out, so that a mention is no offence and a
//! macro body is no hiding place. Imports are expanded first: an alias, a glob or a renamed module is an offence by
//! itself. The test proves itself on one planted line of each kind.

use super::tokens::{Token, imports, tokens, without_tests, word};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Functions of `std::fs` that change something.
const CHANGING: &[&str] = &[
    "write",
    "rename",
    "remove_file",
    "remove_dir",
    "remove_dir_all",
    "create_dir",
    "create_dir_all",
    "copy",
    "hard_link",
    "soft_link",
    "symlink",
    "symlink_file",
    "symlink_dir",
    "set_permissions",
    "set_times",
    "chown",
    "fchown",
    "lchown",
    "chroot",
];
/// Names that are an offence wherever they stand.
const NAMES: &[&str] = &[
    "OpenOptions",
    "OpenOptionsExt",
    "DirBuilder",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "UnixStream",
    "UnixListener",
    "UnixDatagram",
    "PermissionsExt",
    "CommandExt",
    "libc",
    "rusqlite",
    "sqlite3_open",
    "ureq",
    "rustls",
    "native_tls",
    "reqwest",
    "hyper",
    "unsafe",
    "asm",
    "global_asm",
    "set_current_dir",
    "set_var",
    "remove_var",
];
/// Pairs `a::b` that are an offence.
const PAIRS: &[(&str, &[&str])] = &[
    ("File", &["create", "create_new", "create_buffered", "options"]),
    ("Command", &["new"]),
    ("process", &["Command"]),
    ("env", &["var", "var_os", "vars", "vars_os", "temp_dir", "home_dir"]),
    ("fs", CHANGING),
];
/// Methods that change an open file.
const METHODS: &[&str] = &["set_permissions", "set_len", "set_times", "set_modified"];
/// Modules that may not be renamed or imported whole.
const MODULES: &[&str] = &[
    "std",
    "std::fs",
    "std::process",
    "std::net",
    "std::env",
    "std::os",
    "std::os::unix",
    "std::os::unix::fs",
    "std::os::unix::net",
];

/// What a source does that only the audit tree may.
fn offences(source: &str) -> Vec<String> {
    let (tokens, _) = without_tests(&tokens(source));
    let mut found = Vec::new();
    for import in imports(&tokens) {
        let (module, last) = import.path.rsplit_once("::").unwrap_or(("", &import.path));
        if last == "*" && MODULES.contains(&module) {
            found.push(format!("imports all of {module}"));
        }
        if import.renamed && MODULES.contains(&import.path.as_str()) {
            found.push(format!("renames {}", import.path));
        }
        let parent = module.rsplit("::").next().unwrap_or_default();
        if PAIRS.iter().any(|(first, seconds)| *first == parent && seconds.contains(&last)) {
            found.push(format!("imports {}", import.path));
        }
    }
    for (i, token) in tokens.iter().enumerate() {
        let Some(name) = word(Some(token)) else { continue };
        if NAMES.contains(&name) {
            found.push(name.to_owned());
        }
        if name == "extern" && tokens.get(i + 1) == Some(&Token::Other('{')) {
            found.push("a foreign block".into());
        }
        if tokens.get(i + 1) == Some(&Token::Mark("::"))
            && let Some(second) = word(tokens.get(i + 2))
            && PAIRS.iter().any(|(first, seconds)| *first == name && seconds.contains(&second))
        {
            found.push(format!("{name}::{second}"));
        }
        if i > 0 && tokens[i - 1] == Token::Other('.') && METHODS.contains(&name) {
            found.push(format!(".{name}"));
        }
    }
    found
}

/// Every source below a folder, but for test files.
/// Every source below a folder.
pub fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The code of every source that is no test: its path, and its text without comment lines and without the tests at its end.
pub fn code_of_each_source() -> Vec<(String, String)> {
    let tests = test_files();
    let kept = sources(&root()).into_iter().filter(|path| !tests.iter().any(|test| path.starts_with(test)));
    kept.map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = &text[..tests_begin(&text)];
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        (path.display().to_string(), lines.map(|line| format!("{line}\n")).collect())
    })
    .collect()
}

/// Where the test module at the end of a source begins; its length without one.
fn tests_begin(text: &str) -> usize {
    let inline = |at: usize| {
        let mut lines = text[at..].lines().skip_while(|line| line.starts_with("#["));
        lines.next().is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    };
    text.match_indices("#[cfg(test)]").map(|(at, _)| at).find(|at| inline(*at)).unwrap_or(text.len())
}

/// Files (and folders) that a parent declares as a test module.
fn test_files() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for path in sources(&root()) {
        let (_, modules) = without_tests(&tokens(&std::fs::read_to_string(&path).unwrap()));
        let stem = path.file_stem().unwrap();
        let folder = if stem == "mod" || stem == "lib" || stem == "main" {
            path.parent().unwrap().to_path_buf()
        } else {
            path.with_extension("")
        };
        for module in modules {
            found.insert(folder.join(&module));
            found.insert(folder.join(format!("{module}.rs")));
        }
    }
    found
}

/// TRUST-010, TRUST-015.
#[test]
fn trust_010_and_015_only_the_audit_tree_acts() {
    let (src, tests) = (root(), test_files());
    let mut offending = Vec::new();
    let mut judged = 0;
    for path in sources(&src) {
        if path.starts_with(src.join("surface")) || tests.iter().any(|test| path.starts_with(test)) {
            continue;
        }
        judged += 1;
        let may_read_the_environment = path == src.join("env.rs");
        for offence in offences(&std::fs::read_to_string(&path).unwrap()) {
            if !(may_read_the_environment && offence == "env::vars_os") {
                offending.push(format!("{}: {offence}", path.strip_prefix(&src).unwrap().display()));
            }
        }
    }
    assert!(judged > 20, "only {judged} sources were judged");
    assert!(offending.is_empty(), "only src/surface/ may do this:\n{}", offending.join("\n"));
}

/// TRUST-010.
#[test]
fn trust_010_proves_itself_on_one_planted_line_of_each_kind() {
    for line in [
        "std::fs::write(p, b);",
        "use std::fs; fn f() { fs::rename(a, b); }",
        "use std::fs::write;",
        "use std::fs::{self, remove_file as gone};",
        "use std::{fs::{read, copy}, io};",
        "use std::fs as files;",
        "use std::fs::{self as files};",
        "use std::fs::*;",
        "use std as s;",
        "use ::std::process as p;",
        "macro_rules! w { ($p:expr) => { std::fs::create_dir_all($p) } }",
        "fn f() { File::create(p); }",
        "fn f() { std::fs::File::options().append(true); }",
        "use std::fs::OpenOptions as O;",
        "fn f(file: &File) { file.set_permissions(p); }",
        "fn f(file: &File) { file.set_len(0); }",
        "fn f() { Command::new(\"ls\"); }",
        "use std::process::Command as C;",
        "use std::process::{ExitCode, Command};",
        "type S = std::net::TcpStream;",
        "use std::net::{IpAddr, TcpListener as L};",
        "use std::net::*;",
        "fn f() { UdpSocket::bind(a); }",
        "use std::os::unix::net::UnixStream;",
        "use std::os::unix::net::UnixListener;",
        "fn f() { libc::open(p, 0); }",
        "use libc as c;",
        "extern crate libc;",
        "use rusqlite::Connection;",
        "fn f() { ureq::get(u); }",
        "fn f() { unsafe { g() } }",
        "extern \"C\" { fn open(); }",
        "fn f() { std::env::var(\"HOME\"); }",
        "use std::env::var_os;",
        "fn f() { std::env::set_var(a, b); }",
        "fn f() { r#unsafe() }",
        "#[cfg(test)] mod t { } fn f() { std::fs::write(p, b); }",
    ] {
        assert!(!offences(line).is_empty(), "not flagged: {line}");
    }
    for line in [
        "use std::fs::{File, read_dir}; fn f() { File::open(p); std::fs::read(p); }",
        "/// std::fs::write is not called here\nfn f() {}",
        "/* Command::new /* nested */ unsafe */ fn f() {}",
        "const A: &str = \"unsafe Command::new\"; const B: &[u8] = b\"libc\\\"\"; const C: &str = r#\"ureq \" unsafe\"#;",
        "const Q: char = '\"'; const L: &'static str = \"x\"; fn f<'a>(x: &'a str) {}",
        "#[cfg(test)]\nmod tests { use std::fs; fn f() { fs::write(p, b); } }\nfn g() {}",
        "#[cfg(test)]\n#[cfg(unix)]\nmod tests { fn f() { unsafe { } } }",
        "#[cfg(all(test, unix))] mod tests;",
        "use std::io::Write; fn f(w: &mut dyn Write) { w.write(b); write!(w, \"x\"); }",
        "enum Command { Stop } fn f(c: Command) {}",
        "use crate::env::Env; fn f(env: &Env) { env.get(\"HOME\"); }",
    ] {
        assert_eq!(offences(line), Vec::<String>::new(), "flagged: {line}");
    }
}

/// TRUST-013: one function builds every child.
#[test]
fn trust_013_one_place_builds_a_command() {
    let tests = test_files();
    let mut found = Vec::new();
    for path in sources(&root().join("surface")) {
        if tests.iter().any(|test| path.starts_with(test)) {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let made = offences(&source).iter().filter(|offence| *offence == "Command::new").count();
        found.extend(std::iter::repeat_n(path.strip_prefix(root()).unwrap().display().to_string(), made));
    }
    assert_eq!(found, ["surface/process/mod.rs"]);
}

/// CLI-038: no code opens, lists or connects to a Unix socket, in the audit tree or anywhere else.
#[test]
fn cli_038_there_is_no_way_into_a_sessions_message_socket() {
    let tests = test_files();
    for path in sources(&root()) {
        if tests.iter().any(|test| path.starts_with(test)) {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let (tokens, _) = without_tests(&tokens(&source));
        for name in ["UnixStream", "UnixListener", "UnixDatagram", "AF_UNIX", "AF_LOCAL", "sockaddr_un"] {
            assert!(!tokens.contains(&Token::Word(name.into())), "{} names {name}", path.display());
        }
        assert!(!source.contains("cc-socks"), "{} names a session's socket", path.display());
    }
}
