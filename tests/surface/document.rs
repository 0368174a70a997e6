//! `SECURITY.md` against the code (TRUST-004, TRUST-090, TRUST-094): every list in it is compared with the inventory it was
//! written from, so that a change in one without the other fails here. Where a table can be written by the code it is,
//! and a failing test prints it.

use super::rule::code_of_each_source;
use std::collections::BTreeSet;

pub const DOCUMENT: &str = include_str!("../../SECURITY.md");

/// The document with its line breaks taken out, for sentences.
pub fn flat() -> String {
    DOCUMENT.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text below a heading, up to the next of its level.
#[track_caller]
pub fn section(title: &str) -> &'static str {
    let at = DOCUMENT.find(&format!("\n## {title}\n")).unwrap_or_else(|| panic!("no section {title:?}"));
    let rest = &DOCUMENT[at + 4..];
    rest.find("\n## ").map_or(rest, |end| &rest[..end])
}

/// The cells of every table row of a text, without head and rule.
pub fn rows(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |line: &str| line.starts_with("|---");
    let rows = lines.iter().enumerate().filter(|(n, line)| {
        line.starts_with('|') && !is_rule(line) && !lines.get(n + 1).is_some_and(|next| is_rule(next))
    });
    rows.map(|(_, line)| cells(line)).collect()
}

/// Everything between backticks.
pub fn quoted(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// TRUST-005, TRUST-006, TRUST-020, TRUST-021: nothing in this build can call out, and nothing names a place to.
#[test]
fn trust_021_there_is_no_client_and_no_address() {
    let lock = include_str!("../../Cargo.lock");
    for name in [
        "ureq",
        "reqwest",
        "hyper",
        "curl",
        "isahc",
        "attohttpc",
        "minreq",
        "surf",
        "rustls",
        "native-tls",
        "openssl",
        "openssl-sys",
        "ring",
        "webpki",
        "webpki-roots",
        "schannel",
        "security-framework",
        "hickory-resolver",
        "h2",
        "quinn",
        "socket2",
        "tokio",
        "mio",
    ] {
        assert!(!lock.contains(&format!("name = \"{name}\"\n")), "{name} is linked");
    }
    let mut found = BTreeSet::new();
    for (path, code) in code_of_each_source() {
        for scheme in ["http://", "https://", "wss://", "ftp://"] {
            for rest in code.split(scheme).skip(1) {
                let end = rest.find(|c: char| c.is_whitespace() || "\"'`<>)".contains(c)).unwrap_or(rest.len());
                found.insert((path.rsplit('/').next().unwrap().to_owned(), format!("{scheme}{}", &rest[..end])));
            }
        }
    }
    // Each is compared with, printed for a person, or read out of a request; none is a place anything is sent to.
    for (file, url) in &found {
        let scheme_alone = ["http://", "https://"].contains(&url.as_str());
        let own =
            ["http://127.0.0.1:", "http://{host}:", "http://127.0.0.1/"].iter().any(|start| url.starts_with(start));
        assert!(scheme_alone || own, "{file} names {url}");
    }
}

/// TRUST-061: what could abort on a stranger's bytes is denied by lint, and numbers never wrap in a release.
#[test]
fn trust_061_the_lints_that_keep_a_stranger_from_ending_the_run() {
    let manifest = include_str!("../../Cargo.toml");
    for line in
        ["unwrap_used = \"deny\"", "expect_used = \"deny\"", "indexing_slicing = \"deny\"", "overflow-checks = true"]
    {
        assert!(manifest.contains(line), "{line}");
    }
    assert!(!manifest.contains("panic = \"abort\""), "a panic is caught at its boundary");
}

/// TRUST-092: every test the document relies on exists.
#[test]
fn trust_092_the_tests_it_names_exist() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = String::new();
    for folder in ["src", "tests"] {
        for path in super::rule::sources(&root.join(folder)) {
            sources.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    let mut named = 0;
    for row in rows(section("How it is held")) {
        for name in quoted(&row[1]) {
            named += 1;
            let exists =
                if name.contains('/') { root.join(&name).exists() } else { sources.contains(&format!("fn {name}()")) };
            assert!(exists, "{name} does not exist");
        }
    }
    assert!(named >= 30, "only {named} tests are named");
    let corpus = include_str!("../../fixtures/hostile/corpus.jsonl").lines().count();
    assert!(flat().contains(&format!("{corpus} cases")), "the corpus has {corpus} cases");
}

/// TRUST-091, TRUST-092, TRUST-093, TRUST-095: what is accepted, unmeasured, reported and not offered.
#[test]
fn trust_091_093_095_what_it_must_say() {
    let text = flat();
    for words in [
        "no boundary between users",
        "answer a question",
        "nothing authenticates a reader",
        "unverified",
        "File modes are advisory",
        "Redaction knows sixteen shapes",
        "never rotated",
        "`--diagnose` names your home",
        "a count leaks that someone works",
        "macOS and Windows compile; they are unmeasured",
        "Measured on Linux x86-64",
        "Report privately",
        "Only the latest release gets fixes",
        "writing into a session",
        "answering a harness's own permission prompt",
        "launching or wrapping a harness",
        "free text from reader to agent",
        "telemetry",
        "is a security bug",
    ] {
        assert!(text.contains(words), "SECURITY.md does not say {words:?}");
    }
}
