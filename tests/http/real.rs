//! The routes of the real binary, over a home with a store of every harness: what one broken store costs, and what no
//! reply tells.

use super::home::{Home, ask, contents, data, free_port};
use super::routes::targets;
use super::stores;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

pub fn planted() -> Home {
    let home = Home::new();
    stores::plant(&home.path);
    home
}

/// What a row says apart from ages, by harness and session.
pub fn rows(shown: &Value) -> BTreeMap<(String, String), Value> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let lasting =
        ["title", "last_prompt", "model", "project", "last_activity", "first_prompt", "session_output_tokens"];
    let rows = shown["sessions"].as_array().unwrap().iter();
    rows.map(|row| {
        let said = lasting.iter().map(|name| (*name, row[*name].clone())).collect::<BTreeMap<_, _>>();
        ((text(row, "harness"), text(row, "sid")), json!(said))
    })
    .collect()
}

fn capability(home: &Home, port: u16) -> BTreeMap<String, String> {
    let record = std::fs::read(home.state().join(format!("cargento-{port}.json"))).unwrap();
    serde_json::from_value(serde_json::from_slice::<Value>(&record).unwrap()["capabilities"].clone()).unwrap()
}

fn event(home: &Home, port: u16, harness: &str, name: &str, sid: &str) -> Value {
    let token = capability(home, port).remove(harness).unwrap();
    let body = json!({"v": 1, "event": name, "session_id": sid}).to_string();
    ask(port, "POST", &format!("/api/events/{harness}"), &[("X-Cargento-Capability", &token)], &body).json()
}

/// What a new collection says: a report of the browser's lane drops the snapshots (HTTP-022).
#[track_caller]
pub fn anew(port: u16) -> Value {
    let lane = r#"{"supported":true,"permission":"granted"}"#;
    assert_eq!(ask(port, "POST", "/api/lane", &[], lane).status, 200);
    data(port, "?all=1")
}

/// Waits for a collection that says so.
#[track_caller]
fn until(port: u16, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let shown = anew(port);
        if holds(&shown) {
            return shown;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// HTTP-043, TRUST-034, TRUST-037, HTTP-095: each harness's store broken in turn, by a file in its place and by pipes,
/// loops and folders where its files belong, costs the rows of that harness and no other's; they come back by
/// themselves; and events move a row meanwhile.
#[test]
fn trust_034_a_broken_store_costs_its_own_rows_alone() {
    let home = planted();
    let board = home.serve(free_port(), &[stores::WINDOW]);
    let whole = rows(&data(board.port, "?all=1"));
    let roots = [
        ("codex", ".codex/sessions"),
        ("pi", ".pi/agent/sessions"),
        ("gemini", ".gemini/tmp"),
        ("antigravity", ".gemini/antigravity-cli"),
        ("copilot", ".copilot"),
        ("opencode", ".local/share/opencode"),
        ("cursor", ".cursor/chats"),
        ("goose", ".local/share/goose/sessions"),
        ("droid", ".factory/sessions"),
    ];
    for (harness, root) in roots {
        let (path, aside) = (home.path.join(root), home.path.join(format!("aside-{harness}")));
        std::fs::rename(&path, &aside).unwrap();
        std::fs::write(&path, "not a folder").unwrap();
        // Its rows go, or stay as last read under a degrade that says so (TRUST-052).
        let told = |shown: &Value| {
            let listed = shown["harnesses"].as_array().unwrap().iter().find(|h| h["key"] == harness).unwrap().clone();
            let gone = !rows(shown).keys().any(|(own, _)| own == harness);
            gone || listed["degrades"].as_array().is_some_and(|list| !list.is_empty())
        };
        let shown = until(board.port, &format!("{harness} to be told as broken"), told);
        let without = |mut rows: BTreeMap<(String, String), Value>| {
            rows.retain(|(own, _), _| own != harness);
            rows
        };
        assert_eq!(without(rows(&shown)), without(whole.clone()), "while {harness} is broken");
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&aside, &path).unwrap();
        until(board.port, &format!("{harness} to come back"), |shown| rows(shown) == whole);
    }
    // Where files belong stands what would hang or loop a reader.
    let pipe = |path: PathBuf| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    };
    pipe(home.path.join(".claude/projects/-home-me-acme-shop/aaaaaaaa-0000-4000-8000-000000000000.jsonl"));
    pipe(
        home.path
            .join(".codex/sessions/2026/09/20/rollout-2026-09-20T08-14-02-01994f10-0000-7000-8000-0000000000ff.jsonl"),
    );
    pipe(home.path.join(".pi/agent/sessions/--home-me-src-atlas--/pipe.jsonl"));
    pipe(home.path.join(".gemini/tmp/atlas/chats/session-2026-01-01T00-00-ffffffff.jsonl"));
    pipe(home.path.join(".copilot/session-state/ffffffff-0000-4000-8000-000000000000/events.jsonl"));
    pipe(home.path.join(".cursor/chats/ws1/ffffffff-0000-4000-8000-000000000000/store.db"));
    pipe(home.path.join(".local/share/opencode/opencode-other.db"));
    std::fs::create_dir_all(home.path.join(".factory/sessions/-home-me-src-atlas/folder.jsonl")).unwrap();
    std::os::unix::fs::symlink(".", home.path.join(".claude/projects/loop")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", home.path.join(".pi/agent/sessions/--home-me-src-atlas--/zero.jsonl"))
        .unwrap();
    let begun = Instant::now();
    assert_eq!(rows(&anew(board.port)), whole, "beside pipes and loops");
    assert_eq!(ask(board.port, "GET", "/api/health", &[], "").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    // With every transcript of a harness unreadable its events still move what is known (DECK-022).
    let (path, aside) = (home.path.join(".claude/projects"), home.path.join("aside-claude"));
    let said = event(&home, board.port, "claude", "input_requested", "27d10654-0000-4000-8000-000000000000");
    assert_eq!(said, json!({"ok": true, "outcome": "accepted"}));
    std::fs::rename(&path, &aside).unwrap();
    let overlays = ask(board.port, "GET", "/api/overlays", &[], "").json();
    assert!(
        overlays["overlays"].as_array().unwrap().iter().any(|overlay| overlay.to_string().contains("27d10654")),
        "{overlays}"
    );
    std::fs::rename(&aside, &path).unwrap();
}

/// HTTP-047: needs input first, then working, then idle; the longest wait first, then by id.
#[test]
fn http_047_rows_stand_in_their_order() {
    let home = planted();
    let board = home.serve(free_port(), &[stores::WINDOW]);
    let shown = data(board.port, "?all=1");
    let key = |row: &Value| {
        let rank = ["needs_input", "working", "idle"].iter().position(|state| row["state"] == *state).unwrap_or(3);
        let since = row["blocked_since"].as_f64().or_else(|| row["last_activity"].as_f64()).unwrap_or(0.0);
        (rank, if rank == 0 { since.to_bits() } else { 0 }, row["sid"].as_str().unwrap().to_owned())
    };
    let keys: Vec<_> = shown["sessions"].as_array().unwrap().iter().map(key).collect();
    assert!(keys.windows(2).all(|pair| pair[0] <= pair[1]), "{keys:?}");
    assert!(keys.len() >= 12 && keys.iter().any(|key| key.0 == 0) && keys.iter().any(|key| key.0 > 0));
    let summary = &shown["summary"];
    let active = |state: &str| {
        let rows = shown["sessions"].as_array().unwrap().iter();
        rows.filter(|row| row["state"] == state && row["active"] == true).count() as u64
    };
    assert_eq!(summary["needs_input"].as_u64(), Some(active("needs_input")), "HTTP-046");
    assert_eq!(summary["working"].as_u64(), Some(active("working")), "HTTP-046");
}

/// Every reply this board gives to anybody, by who asked for it.
fn everything_said(home: &Home, port: u16) -> Vec<(String, String)> {
    let mut said = Vec::new();
    for (method, path) in targets() {
        if path == "/api/stream" || path == "/api/shutdown" {
            continue;
        }
        for query in ["", "?all=1&counters=1&usage=1&harness=claude&sid=27d10654&project=shop"] {
            let answer = ask(port, method, &format!("{path}{query}"), &[], "{}");
            said.push((
                format!("{method} {path}{query}"),
                format!("{}\n{}", answer.head, String::from_utf8_lossy(&answer.body)),
            ));
        }
    }
    for (path, body) in [
        ("/api/annotate", json!({"harness": "claude", "sid": "27d10654", "goal": "Round to even"})),
        ("/api/dismiss", json!({"harness": "pi", "sid": "x"})),
        ("/api/notify", json!({"session_id": "x", "message": "waiting", "transcript_path": "/home/me/t.jsonl"})),
    ] {
        let answer = ask(port, "POST", path, &[], &body.to_string());
        said.push((path.into(), String::from_utf8_lossy(&answer.body).into_owned()));
    }
    let answer = event(home, port, "claude", "turn_started", "27d10654-0000-4000-8000-000000000000");
    said.push(("event".into(), answer.to_string()));
    said
}

/// HTTP-051, HTTP-094, GATE-012, STATE-006, TRUST-028, TRUST-070, TRUST-071: marked secrets, reasoning, tool payloads,
/// directories and tokens stand verbatim in the stores, in the state file and in the environment, and in no reply,
/// own file, log or argument.
#[test]
fn trust_070_what_no_reply_and_no_file_tells() {
    let home = planted().env("CARGENTO_REACH_URL", "https://hook.example/CANARY-reach");
    let mut planted_somewhere = String::new();
    let mut folders = vec![home.path.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                planted_somewhere += &String::from_utf8_lossy(&std::fs::read(path).unwrap());
            }
        }
    }
    let key = "sk-ant-api03-CANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCA";
    let transcript = home.path.join(".claude/projects/-home-me-acme-shop/27d10654-0000-4000-8000-000000000000.jsonl");
    let line = json!({"type": "last-prompt", "lastPrompt": format!("rotate {key} now")});
    let mut text = std::fs::read_to_string(&transcript).unwrap();
    text += &format!("\n{line}\n");
    std::fs::write(&transcript, text).unwrap();

    let board = home.serve(free_port(), &[stores::WINDOW]);
    let shown = data(board.port, "?all=1").to_string();
    assert!(shown.contains("REDACTED"), "the key was read and hidden");
    let mut said = everything_said(&home, board.port);
    for (name, bytes) in contents(&home.state()) {
        if name != format!("cargento-{}.json", board.port) {
            said.push((name, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    said.push(("the output".into(), std::fs::read_to_string(&board.log).unwrap()));
    let arguments = std::fs::read(format!("/proc/{}/cmdline", board.child.id())).unwrap_or_default();
    said.push(("the arguments".into(), String::from_utf8_lossy(&arguments).into_owned()));

    let mut canaries: Vec<String> =
        ["CANARY", "NEVER-SHOWN", "MARK-", "MARKED", "/home/me/acme/shop", "/home/dev/src/atlas"]
            .map(String::from)
            .into();
    for canary in ["NEVER-SHOWN", "MARK-", "/home/me/acme/shop", "/home/dev/src/atlas"] {
        assert!(planted_somewhere.contains(canary), "{canary} is nowhere to be found");
    }
    let tokens = capability(&home, board.port);
    assert_eq!(tokens.len(), 7);
    for token in tokens.values() {
        assert!(
            token.len() == 64 && token.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)),
            "GATE-013"
        );
    }
    canaries.extend(tokens.values().cloned());
    for (who, text) in &said {
        for canary in &canaries {
            assert!(!text.contains(canary.as_str()), "{who} tells {canary}");
        }
    }
    let record = std::fs::read_to_string(home.state().join(format!("cargento-{}.json", board.port))).unwrap();
    assert!(!record.contains("focus") && !record.contains("CANARY"), "STATE-006");
    // Another process, other tokens.
    drop(board);
    let again = home.serve(free_port(), &[]);
    assert!(capability(&home, again.port).values().all(|token| !canaries.contains(token)), "GATE-013");
}

/// FIELD-065, GATE-001, GATE-009, GATE-011: a rebound name reads nothing, on any route, the stream included; and no reply
/// is shared across origins.
#[test]
fn field_065_a_rebound_name_is_refused_on_every_route() {
    let home = Home::new();
    let board = home.serve(free_port(), &[]);
    let mut first: Option<(String, Vec<u8>)> = None;
    for (method, path) in targets() {
        let mut stream = TcpStream::connect(("127.0.0.1", board.port)).unwrap();
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: evil.example:{}\r\nContent-Length: 0\r\n\r\n", board.port);
        std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
        let answer = super::board::finish(&mut stream);
        assert_eq!(answer.status, 403, "{method} {path}");
        let text = String::from_utf8_lossy(&answer.raw).into_owned();
        let same = first.get_or_insert_with(|| (text.clone(), answer.raw.clone()));
        assert_eq!(same.1, answer.raw, "{method} {path} is told apart");
        assert!(!text.to_ascii_lowercase().contains("access-control"));
    }
    for (method, path) in targets() {
        if path != "/api/stream" && path != "/api/shutdown" {
            let origin = format!("http://127.0.0.1:{}", board.port);
            let answer = ask(board.port, method, &path, &[("Origin", &origin)], "{}");
            assert!(!answer.head.to_ascii_lowercase().contains("access-control"), "{path}");
        }
    }
}

/// HTTP-022, HTTP-060, HTTP-061, HTTP-062, HTTP-071, HTTP-072, HTTP-073, HTTP-075, HTTP-076: the envelopes of the routes there are.
#[test]
fn http_060_envelopes_of_the_routes_there_are() {
    let home = planted();
    let board = home.serve(free_port(), &[stores::WINDOW]);
    let port = board.port;
    data(port, "?all=1");
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let post = |path: &str, body: Value| {
        let answer = ask(port, "POST", path, &[], &body.to_string());
        (answer.status, String::from_utf8(answer.body).unwrap())
    };
    let overlays = ask(port, "GET", "/api/overlays", &[], "").json();
    assert_eq!(
        keys(&overlays),
        ["arrival_seq", "counters", "dispute_total", "disputes", "now", "overlays", "pending_rows"]
    );
    event(&home, port, "claude", "turn_started", "ffffffff-0000-4000-8000-000000000000");
    let overlays = ask(port, "GET", "/api/overlays", &[], "").json();
    assert_eq!(overlays["pending_rows"], json!(["claude/ffffffff"]));
    assert_eq!(overlays["arrival_seq"], 1);

    let mark = json!({"harness": "claude", "sid": "27d10654"});
    assert_eq!(post("/api/dismiss", mark.clone()), (200, r#"{"cleared":1,"ok":true,"persisted":true}"#.into()));
    let cleared = ask(port, "GET", "/api/cleared", &[], "").json();
    assert_eq!(keys(&cleared), ["cleared"]);
    assert_eq!(keys(&cleared["cleared"][0]), ["at", "harness", "sid"]);
    assert_eq!(data(port, "?all=1")["cleared"], 1, "the snapshot was dropped (HTTP-022)");
    // Anything but exactly `false` marks; a body that names nothing is no change.
    for (clear, left) in [(json!(0), 1), (json!("false"), 1), (json!(null), 1), (json!(false), 0)] {
        let body = json!({"harness": "claude", "sid": "27d10654", "clear": clear, "at": 1});
        let (status, said) = post("/api/dismiss", body);
        assert_eq!((status, said), (200, format!("{{\"cleared\":{left},\"ok\":true,\"persisted\":true}}")));
    }
    assert_eq!(post("/api/dismiss", json!({})), (200, r#"{"cleared":0,"ok":true,"persisted":false}"#.into()));
    assert_eq!(data(port, "?all=1")["cleared"], 0);

    let save = json!({"harness": "claude", "sid": "27d10654", "goal": "Round to even", "lines": ["Taxes agree"]});
    let saved = ask(port, "POST", "/api/annotate", &[], &save.to_string()).json();
    assert_eq!((&saved["ok"], &saved["persisted"], &saved["outcome"]), (&json!(true), &json!(true), &json!("stored")));
    let listing = ask(port, "GET", "/api/annotations", &[], "").json();
    assert_eq!(keys(&listing), ["annotations", "intent_revision"]);
    let row = &listing["annotations"][0];
    assert_eq!((&row["harness"], &row["sid"]), (&json!("claude"), &json!("27d10654")));
    for member in ["goal", "line_1", "departures", "departure_why", "departure_checked"] {
        assert!(row.get(member).is_some(), "{member} in {row}");
    }
    assert_eq!(data(port, "?all=1")["intent_revision"], listing["intent_revision"], "HTTP-044");
    let (status, said) = post("/api/annotate", json!({"harness": "claude", "sid": 7}));
    assert_eq!(status, 400, "{said}");

    assert_eq!(post("/api/usage", json!({"quota": {"a": 1}})), (200, r#"{"ok":true,"usage":0}"#.into()));
    let (status, said) =
        post("/api/notify", json!({"session_id": "27d10654-0000-4000-8000-000000000000", "message": "m"}));
    assert!(status == 200 && said.starts_with(r#"{"ok":true"#) && !said.contains(' '), "{said}");
    // A revision's first half is the start stamp, rounded (SSE-001, CLI-018).
    let started = ask(port, "GET", "/api/health", &[], "").json()["started"].as_f64().unwrap();
    let head = ask(port, "GET", "/api/data", &[], "").head;
    let revision = head.lines().find_map(|line| line.strip_prefix("X-Cargento-Revision: ")).unwrap();
    assert_eq!(revision.split('.').next().unwrap(), format!("{}", started.round()));
}

/// HTTP-023: every GET leaves the state directory as it is.
#[test]
fn http_023_no_get_writes() {
    let home = planted();
    let board = home.serve(free_port(), &[stores::WINDOW]);
    data(board.port, "?all=1");
    data(board.port, "");
    std::thread::sleep(Duration::from_millis(300));
    let own = || contents(&home.state());
    let before = own();
    for (method, path) in targets() {
        if method == "GET" && path != "/api/stream" {
            ask(board.port, "GET", &format!("{path}?harness=claude&sid=27d10654&project=shop"), &[], "");
        }
    }
    assert!(own() == before);
}
