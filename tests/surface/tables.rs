//! The tables of the security document, held against the code they are about.

use super::document::{DOCUMENT, flat, quoted, rows, section};
use super::rule::code_of_each_source;
use cargento::config;
use cargento::env::{Env, Platform};
use cargento::http::gate::Gate;
use cargento::http::route::{Method, Off, Path, ROUTES, Take, To};
use cargento::keep::history;
use cargento::roots::Roots;
use cargento::settings::FLAGS;
use cargento::surface::listen::Limits;
use std::collections::BTreeSet;
use std::fmt::Write as _;

fn gate(gate: Gate) -> &'static str {
    match gate {
        Gate::RELAXED => "relaxed",
        Gate::STRICT => "strict",
        Gate::STRICT_UNFRAMED => "strict, unframed",
        Gate::LOOPBACK => "loopback",
        Gate::PRESS => "loopback, a press on the page",
        other => panic!("a gate without a name: {other:?}"),
    }
}

/// The route inventory as the document has it.
fn routes() -> String {
    let mut table = String::from("| route | gate | body, bytes | while off |\n|---|---|---|---|\n");
    for route in ROUTES {
        let method = if route.method == Method::Get { "GET" } else { "POST" };
        let path = match route.path {
            Path::Exact(path) => path.to_owned(),
            Path::Under(path) => format!("{path}…"),
        };
        let body = match route.take {
            Take::Nothing => "none".to_owned(),
            Take::Object(cap, _) | Take::ObjectFirst(cap, _) => cap.to_string(),
        };
        let off = match route.to {
            To::Feature(_, Off::Unavailable(..)) => "503",
            To::Feature(_, Off::Disabled(_)) => "503 `disabled`",
            To::Feature(_, Off::Absent(_)) | To::TerminalAsset => "404",
            To::Feature(_, Off::Dropped(_)) => "200, dropped",
            _ => "never off",
        };
        let _ = writeln!(table, "| `{method} {path}` | {} | {body} | {off} |", gate(route.gate));
    }
    table
}

/// The bounds as the document has them.
fn caps() -> String {
    let limits = Limits::default();
    let rows: [(&str, String); 28] = [
        ("connections at once", limits.connections.to_string()),
        ("time for a request's head, and for its body, s", format!("{}", limits.head.as_secs())),
        ("a line of a head, bytes", cargento::surface::listen::MAX_HEADER_LINE.to_string()),
        ("headers of a request", cargento::surface::listen::MAX_HEADERS.to_string()),
        ("a head, bytes", cargento::surface::listen::MAX_HEAD.to_string()),
        ("clients of the event stream", config::STREAM_MAX_CLIENTS.to_string()),
        (
            "events of a harness, at once and per second",
            format!("{} and {}", config::EVENT_BURST_MAX, config::EVENT_RATE_PER_SEC),
        ),
        ("sessions with event state", config::EVENT_OVERLAY_MAX_SESSIONS.to_string()),
        ("events waiting for their row", config::EVENT_PENDING_MAX.to_string()),
        ("end of a transcript, bytes", config::TAIL_BYTES.to_string()),
        ("one forward scan, bytes", config::TURN_SCAN_MAX_BYTES.to_string()),
        ("first line of a transcript, bytes", config::FIRST_LINE_JSON_CAP_BYTES.to_string()),
        ("rows of one database query", config::SQL_MESSAGE_LIMIT.to_string()),
        ("entries of each cache", config::MAX_CACHE_ENTRIES.to_string()),
        ("an error text, characters", config::ERROR_TEXT_CAP_CHARS.to_string()),
        ("a prompt on a row, characters", config::LAST_PROMPT_CAP_CHARS.to_string()),
        ("an answer on a row, characters", config::LAST_OUTPUT_CAP_CHARS.to_string()),
        ("the state file, bytes", config::STATE_READ_CAP_BYTES.to_string()),
        (
            "dismissals, bytes and marks",
            format!("{} and {}", config::DISMISSAL_READ_CAP_BYTES, config::DISMISSAL_MAX_ENTRIES),
        ),
        (
            "deliveries, bytes and records",
            format!("{} and {}", config::DELIVERY_READ_CAP_BYTES, config::DELIVERY_MAX_ENTRIES),
        ),
        (
            "annotations, bytes and sessions",
            format!("{} and {}", config::ANNOTATION_READ_CAP_BYTES, config::ANNOTATION_MAX_SESSIONS),
        ),
        ("revisions of a session's words", config::ANNOTATION_MAX_REVISIONS.to_string()),
        ("a goal or a line, characters", config::ANNOTATION_TEXT_CAP_CHARS.to_string()),
        ("session ends, bytes and records", format!("{} and {}", config::END_READ_CAP_BYTES, config::END_MAX_ENTRIES)),
        (
            "departures, bytes and records",
            format!("{} and {}", config::DEPARTURE_READ_CAP_BYTES, config::DEPARTURE_MAX_ENTRIES),
        ),
        (
            "history, bytes and days, unless a flag says otherwise",
            format!("{} and {}", config::HISTORY_MAX_BYTES, config::DEFAULT_HISTORY_DAYS),
        ),
        ("a health reply read by `--status`, bytes", config::PROBE_BODY_CAP_BYTES.to_string()),
        ("Pi's settings file, bytes", config::PI_SETTINGS_READ_CAP_BYTES.to_string()),
    ];
    rows.iter().fold(String::from("| what | bound |\n|---|---|\n"), |table, (what, bound)| {
        format!("{table}| {what} | {bound} |\n")
    })
}

#[track_caller]
fn carries(table: &str) {
    assert!(DOCUMENT.contains(table), "put this into SECURITY.md:\n{table}");
}

/// TRUST-090, HTTP-023, HTTP-024: every POST route with what it changes, and the GET routes that would write.
#[test]
fn trust_090_every_route_that_changes_something_is_explained() {
    let told: BTreeSet<String> =
        rows(section("Routes that change something")).iter().flat_map(|row| quoted(&row[0])).collect();
    let posts: BTreeSet<String> = ROUTES
        .iter()
        .filter(|route| route.method == Method::Post)
        .map(|route| match route.path {
            Path::Exact(path) => format!("POST {path}"),
            Path::Under(path) => format!("POST {path}…"),
        })
        .collect();
    let missing: Vec<_> = posts.difference(&told).collect();
    assert!(missing.is_empty(), "not explained: {missing:?}");
    for get in ["GET /api/observe", "GET /api/ask/…", "GET /api/project-context"] {
        assert!(told.contains(get), "{get}");
    }
    let known = routes();
    for route in &told {
        assert!(known.contains(&format!("`{route}`")), "{route} is explained and does not exist");
    }
}

/// TRUST-094, HTTP-021: the route inventory, POST and GET.
#[test]
fn trust_094_the_document_has_every_route() {
    carries(&routes());
}

/// TRUST-064, TRUST-094: the caps.
#[test]
fn trust_094_the_document_has_every_cap() {
    carries(&caps());
}

/// TRUST-094: the flags.
#[test]
fn trust_094_the_document_has_every_switch_and_names_no_other_flag() {
    let text = flat();
    for flag in FLAGS.iter().filter(|flag| flag.name.starts_with("no-")) {
        assert!(text.contains(&format!("`--{}`", flag.name)), "--{} is not in the document", flag.name);
    }
    // What a started program is given is no flag of ours.
    for quoted in quoted(&DOCUMENT.replace(section("Programs started"), "")) {
        let Some(name) =
            quoted.split([' ', '=']).next().and_then(|word| word.strip_prefix("--")).filter(|name| !name.is_empty())
        else {
            continue;
        };
        let known = FLAGS.iter().any(|flag| flag.name == name || flag.alias == Some(name));
        assert!(known, "the document names --{name}, which does not exist");
    }
}

/// TRUST-094: the fields of an event's envelope, twelve and two.
#[test]
fn trust_094_the_document_has_the_fields_of_the_envelope() {
    let (_, source) =
        code_of_each_source().into_iter().find(|(path, _)| path.ends_with("live/events/envelope.rs")).unwrap();
    let check = &source[source.find("pub fn check").unwrap()..];
    let check = &check[..check.find("\n    }\n").unwrap()];
    let mut read = BTreeSet::new();
    for call in ["body.get(\"", "trimmed(body, \""] {
        read.extend(check.split(call).skip(1).map(|rest| rest[..rest.find('"').unwrap()].to_owned()));
    }
    assert_eq!(read.len(), 14, "{read:?}");
    let told: BTreeSet<String> =
        rows(section("What an event may say")).iter().flat_map(|row| quoted(&row[0])).collect();
    assert_eq!(told, read);
}

/// TRUST-094, HIST-061: the members of a history record, the two that a person typed marked as such.
#[test]
fn trust_094_the_document_has_the_allowlist_of_history() {
    let told: Vec<(String, bool)> = rows(section("What the history holds"))
        .iter()
        .map(|row| (row[0].trim_matches('`').to_owned(), row[1].starts_with("typed by you")))
        .collect();
    let known: Vec<(String, bool)> =
        history::MEMBERS.iter().map(|name| ((*name).to_owned(), history::ALLOWED.contains(name))).collect();
    assert_eq!(told, known);
}

/// `<port>` and `{port}` are one name.
fn pattern(name: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in name.chars() {
        match c {
            '<' | '{' => {
                inside = true;
                out.push('<');
            }
            '>' | '}' => {
                inside = false;
                out.push('>');
            }
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out
}

/// Files that this build names and never makes: another build's.
const NOT_MADE: [&str; 3] =
    ["cargento-copied-corrections.json", "cargento-reading-permission.sqlite3", "cargento-tripwires.json"];

/// TRUST-094, STATE-002: the own files.
#[test]
fn trust_094_the_document_has_every_own_file() {
    let endings = [".json", ".lock", ".log", ".sqlite3", ".unreadable"];
    let mut named = BTreeSet::new();
    for (_, code) in code_of_each_source() {
        for text in code.split('"').skip(1).step_by(2) {
            let own = text.starts_with("cargento-") || text.starts_with("statusline-");
            if own && endings.iter().any(|end| text.ends_with(end)) && !NOT_MADE.contains(&text) {
                named.insert(pattern(text));
            }
        }
    }
    let told: BTreeSet<String> =
        rows(section("What is written")).iter().flat_map(|row| quoted(&row[0])).map(|name| pattern(&name)).collect();
    assert_eq!(told, named);
}

/// TRUST-004, TRUST-012: the programs.
#[test]
fn trust_004_the_document_has_every_program() {
    let mut named = BTreeSet::new();
    for (_, code) in code_of_each_source() {
        let literal = |rest: &str| rest.strip_prefix('"').and_then(|text| text.split('"').next()).map(str::to_owned);
        for call in code.split("Program::find(").skip(1) {
            named.insert(literal(call.trim_start()).expect("a program is found by a name in the source"));
        }
        for call in code.split("Program::at(").skip(1) {
            // One constant, named where it stands.
            assert!(call.starts_with("OSASCRIPT)"), "a program at a place that is no known constant: {call:.60}");
            let at = code.find("None => \"/").unwrap() + "None => ".len();
            named.insert(literal(&code[at..]).unwrap());
        }
        if code.contains("Program::own(") {
            named.insert("this executable".into());
        }
    }
    let told: BTreeSet<String> =
        rows(section("Programs started")).iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    assert_eq!(told, named);
}

/// TRUST-090: every store root, and every table of a database.
#[test]
fn trust_090_the_document_has_every_store_root_and_table() {
    let text = section("What is read");
    let roots = Roots::new(&Env::of(Platform::Linux, [("HOME", "~")]), None);
    for root in roots.iter().flat_map(|root| &root.candidates) {
        assert!(text.contains(&format!("`{}`", root.display())), "{} is not in the document", root.display());
    }
    for variable in cargento::roots::RELOCATION.iter().chain(&["XDG_DATA_HOME"]) {
        assert!(text.contains(&format!("`{variable}`")), "{variable}");
    }
    let mut tables = BTreeSet::new();
    for (path, code) in code_of_each_source() {
        if path.contains("/harness/") {
            for word in code.split("FROM ").skip(1) {
                let name: String = word.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
                // A walk over a JSON cell and the tables of one statement's own are no tables of a store.
                if name.len() > 1 && name != "json_each" {
                    tables.insert(name);
                }
            }
        }
    }
    assert!(tables.len() >= 10, "{tables:?}");
    for table in tables {
        assert!(text.contains(&format!("`{table}`")), "the table {table} is not in the document");
    }
}

/// TRUST-026, TRUST-090: the names that are never opened.
#[test]
fn trust_090_the_document_has_every_name_that_is_never_opened() {
    let told = quoted(section("What is never opened"));
    let mut lists = 0;
    for (path, code) in code_of_each_source() {
        if !path.contains("/harness/") {
            continue;
        }
        let never = path.ends_with("codex/never.rs");
        for item in code.split("const ").skip(1) {
            let name: String = item.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
            if !(name.starts_with("NEVER") || never && ["NAMES", "ENDINGS"].contains(&name.as_str())) {
                continue;
            }
            lists += 1;
            let value = item.split(";\n").next().and_then(|whole| whole.split_once('=')).unwrap().1;
            for text in value.split('"').skip(1).step_by(2) {
                let listed = told.iter().any(|name| name.trim_matches('*') == text || name == text);
                assert!(listed, "{text} of {path} is not in the document");
            }
        }
    }
    assert!(lists >= 11, "{lists} lists were found");
}
