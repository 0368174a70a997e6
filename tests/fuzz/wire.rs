//! What comes over the socket and the command line: request heads, targets, hosts, bodies, event envelopes, arguments.

use super::driver::{Scratch, Target};
use cargento::counters::Counters;
use cargento::http::gate::{Facts, Gate, Here, HostMode};
use cargento::http::json;
use cargento::http::query::Target as Line;
use cargento::live::events::{Envelope, NoEnds, Outcome, Overlays, SOURCES};
use cargento::settings::{QuietHours, Settings, typed};
use cargento::surface::listen::{Extent, MAX_HEAD, Scanner, parse};
use cargento::surface::loopback::{self, Request};
use serde_json::Value;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;
use std::time::Duration;

/// Heads out of the hostile corpus, and plain ones.
fn heads() -> Vec<Vec<u8>> {
    let corpus = include_str!("../../fixtures/hostile/corpus.jsonl");
    let mut seeds: Vec<Vec<u8>> = vec![
        b"GET /api/data?all=1&usage=1 HTTP/1.1\r\nHost: 127.0.0.1:4553\r\nSec-Fetch-Site: same-origin\r\n\r\n".to_vec(),
        b"POST /api/annotate HTTP/1.1\r\nHost: [::1]:4553\r\nOrigin: http://localhost:4553\r\nContent-Length: 2\r\n\r\n{}".to_vec(),
    ];
    for (n, line) in corpus.lines().enumerate() {
        let case: Value = serde_json::from_str(line).unwrap();
        let plain = case["send"].as_array().unwrap().iter().all(Value::is_string);
        if plain && n % 7 == 0 {
            let text: String = case["send"].as_array().unwrap().iter().map(|part| part.as_str().unwrap()).collect();
            seeds.push(text.replace("{port}", "4553").chars().map(|c| c as u32 as u8).collect());
        }
    }
    seeds
}

/// Feeds a head in pieces, as a slow peer sends it.
fn scan(input: &[u8], pieces: &[usize]) -> Result<Option<Extent>, String> {
    let mut scanner = Scanner::default();
    for end in pieces.iter().copied().chain([input.len()]) {
        match scanner.feed(&input[..end.min(input.len())]) {
            Ok(None) => {}
            Ok(found) => return Ok(found),
            Err(fault) => return Err(format!("{fault:?}")),
        }
    }
    Ok(None)
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_request_head_gate_and_target() {
    Target::new("head", 4000, heads()).run(|input, dice| {
        let whole = scan(input, &[]);
        // Wherever the network cuts it, it is the same head.
        let mut cuts: Vec<usize> = (0..dice.below(6)).map(|_| dice.below(input.len() + 1)).collect();
        cuts.sort_unstable();
        assert_eq!(scan(input, &cuts), whole, "cut at {cuts:?}");
        let Ok(Some(extent)) = whole else { return };
        assert!(extent.headers.end <= MAX_HEAD + 2);
        let Ok(head) = parse(input, &extent) else { return };
        assert!(!head.target.contains(char::is_whitespace) && !head.target.contains('\0'));
        assert!(head.headers.all("host").count() <= 1, "two hosts");
        let target = Line::parse(&head.target);
        assert!(!target.path.contains(['?', '#']));
        target.query.members().for_each(drop);
        for (mode, wide) in [(HostMode::Loopback, false), (HostMode::Wide, true)] {
            for peer in [IpAddr::V4(Ipv4Addr::LOCALHOST), "203.0.113.9".parse().unwrap()] {
                let facts = Facts::new(&head.headers, target.authority, peer);
                let here = Here { mode, port: 4553 };
                let relaxed = facts.pass(Gate::RELAXED, here);
                let strict = facts.pass(Gate::STRICT, here);
                let press = facts.pass(Gate::PRESS, here);
                assert!(relaxed.is_ok() || strict.is_err(), "strict admits what relaxed does not");
                assert!(strict.is_ok() || press.is_err(), "a press admits what strict does not");
                assert!(press.is_err() || peer.is_loopback());
                if relaxed.is_ok() {
                    let host = head.headers.all("host").next().unwrap_or_default();
                    let host = String::from_utf8_lossy(host).to_ascii_lowercase();
                    let own = ["127.0.0.1", "localhost", "[::1]", "::1"].iter().any(|own| host.starts_with(own));
                    assert!(own || wide, "admitted {host:?}");
                    assert!(!host.contains("evil"), "admitted {host:?}");
                }
            }
        }
    });
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_bodies() {
    let seeds = [
        r#"{"harness":"claude","sid":"3f9c01ab","goal":"x","lines":["a","b"],"origins":[null,0],"expected_revision":3}"#,
        r#"{"supported":true,"permission":"granted"}"#,
        r#"{"session_id":"3f9c01ab-0000-4000-8000-000000000000","message":"waiting","hook_event_name":"Notification","transcript_path":"/h/x.jsonl"}"#,
        r#"{"question":"Go?","options":["a","b"],"harness":"claude","session_id":"x","project":"p"}"#,
    ];
    Target::new("body", 5000, seeds).run(|input, _| {
        let object = json::object(input);
        let text = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
        let naive = match serde_json::from_slice(text) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        };
        assert_eq!(object, naive);
    });
}

/// TRUST-080, TRUST-081.
/// A refused envelope changes nothing but the counter of its outcome.
#[test]
fn trust_080_081_event_envelope() {
    let seeds = [
        r#"{"v":1,"event":"session_started","session_id":"019fa752-aaaa-4000-8000-000000000001","timestamp":"2026-09-20T10:00:00Z","tmux_socket":"default","tmux_pane":"%3","tmux_server":"42"}"#,
        r#"{"v":1,"event":"input_requested","session_id":"019fa752-aaaa-4000-8000-000000000001","source_instance_id":"a","source_sequence":7,"subagent_id":"s"}"#,
        r#"{"v":1,"event":"session_ended","session_id":"ses_7a1bfe2c3ffeK3m9QeW2xTzv01","cwd":"/home/me","transcript_path":"/h/t.jsonl"}"#,
        r#"{"v":1,"event":"command_shape_reported","session_id":"3f9c01ab-0000-4000-8000-000000000000","pattern_id":"rm-rf","tool_name":"Bash"}"#,
    ];
    let counters = Arc::new(Counters::new());
    let overlays = Overlays::new(Arc::new(NoEnds), Arc::clone(&counters));
    let standing = |now: f64| {
        let listing = overlays.listing(now);
        (listing["overlays"].clone(), listing["pending_rows"].clone())
    };
    let mut now = 1_789_898_400.0;
    Target::new("envelope", 6000, seeds).run(|input, dice| {
        let Some(object) = json::object(input) else { return };
        let key = *dice.pick(&SOURCES);
        now += 0.25;
        let checked = Envelope::check(key, &object, now);
        if let Ok(envelope) = &checked {
            assert!(!envelope.sid.is_empty() && envelope.sid.is_ascii() && envelope.at.is_finite());
            assert!(envelope.at <= now + 120.0);
            assert!(envelope.cwd.as_ref().is_none_or(|cwd| cwd.chars().count() <= 4096));
        }
        let before = standing(now);
        let (outcome, _) = overlays.submit(key, &object, now);
        assert_eq!(outcome == Outcome::Accepted, checked.is_ok());
        if outcome != Outcome::Accepted {
            assert_eq!(standing(now), before, "{outcome:?} changed something");
        }
        assert!(before.0.as_array().unwrap().len() <= 512 * 4);
    });
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_command_line() {
    let seeds = [
        "--port\n4553\n--host=127.0.0.1\n--window-hours\n24\n--no-git",
        "--daemon\n--no-events\n--quiet-hours=22:00-07:00\n--history-days\n2.5\n--history-max-bytes=2048",
        "--claude-reading-model=claude-opus-7-1-20270131\n--reach-url\nhttps://h.example/x\n--interaction-origin-session=claude:x\n--interaction-origin-registration-file=/tmp/r",
        "--diagnose\n--json\n--no-harn\n-h\n--version",
    ];
    let env = cargento::env::Env::of(cargento::env::Platform::Linux, [("HOME", "/h")]);
    Target::new("arguments", 5000, seeds).run(|input, _| {
        let args = input.split(|b| *b == b'\n').map(|arg| OsString::from_vec(arg.to_vec()));
        let Ok(understood) = typed(args) else { return };
        let Ok(mut settings) = Settings::of(&understood) else { return };
        assert!(settings.window_hours.is_finite() && settings.window_hours > 0.0 && settings.port > 0);
        // What a respawned daemon is told means the same (LIFE-032).
        let (args, child) = settings.respawn(&env);
        // A short text stands in any argument by chance.
        let secret = settings.reach_url.as_ref().map_or("", |url| url.reveal());
        assert!(secret.len() < 16 || args.iter().all(|arg| !arg.to_string_lossy().contains(secret)));
        let mut again = Settings::of(&typed(args).expect("a respawn is understood")).expect("and means something");
        again.reach_url = child.text(cargento::env::REACH_URL).map(cargento::settings::Secret::new);
        for own in
            [&mut settings.daemon, &mut settings.demo, &mut settings.status, &mut settings.stop, &mut settings.forget]
        {
            *own = false;
        }
        (settings.diagnose, settings.json) = (false, false);
        assert_eq!(again, settings);
    });
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_quiet_hours() {
    Target::new("quiet-hours", 6000, ["22:00-07:00", "00:00-23:59", "1:2-3:4"]).run(|input, _| {
        let text = String::from_utf8_lossy(input);
        if let Some(hours) = QuietHours::parse(&text) {
            assert_eq!(QuietHours::parse(&hours.to_string()).map(|h| h.to_string()), Some(hours.to_string()));
        }
    });
}

/// TRUST-080.
/// The client that `--status`, `--stop` and every hook use, against replies of any kind.
#[test]
fn trust_080_replies_to_our_own_client() {
    let seeds = [
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 62\r\n\r\n{\"ok\":true,\"pid\":41213,\"port\":4553,\"started\":1790000000.5}    ",
        "HTTP/1.0 200 OK\r\n\r\n{\"ok\":true}",
        "HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ];
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, receive) = std::sync::mpsc::channel::<Vec<u8>>();
    std::thread::spawn(move || {
        for reply in receive {
            let Ok((mut peer, _)) = listener.accept() else { return };
            let _ = peer.set_read_timeout(Some(Duration::from_millis(500)));
            let _ = peer.read(&mut [0; 1024]);
            let _ = peer.write_all(&reply);
        }
    });
    Target::new("reply", 400, seeds).run(|input, _| {
        send.send(input.to_vec()).unwrap();
        let asked = Request { method: "GET", path: "/api/health", ..Request::default() };
        if let Ok(reply) = loopback::request(port, &asked, Duration::from_secs(2), 4096) {
            assert!(reply.body.len() <= 4096);
        }
    });
}

/// TRUST-080.
/// Pi's settings and the state file, which other programs may have written.
#[test]
fn trust_080_small_files_of_others() {
    let scratch = Scratch::new("small");
    let seeds = [
        r#"{"sessionDir":"~/elsewhere","theme":"dark"}"#,
        r#"{"pid":41213,"port":4553,"started":1790000000.5,"capabilities":{"claude":"aaaa"}}"#,
        "22:00-07:00\n",
    ];
    let home = scratch.0.to_str().unwrap().to_owned();
    let env = cargento::env::Env::of(cargento::env::Platform::Linux, [("HOME", home.as_str())]);
    let place = cargento::surface::write::Place::state(&scratch.0);
    Target::new("small-files", 1500, seeds).run(|input, _| {
        let text = String::from_utf8_lossy(input);
        let roots = cargento::roots::Roots::new(&env, Some(&text));
        assert!(roots.primary("pi.sessions").unwrap().is_absolute());
        std::fs::write(scratch.0.join("cargento-4553.json"), input).unwrap();
        if let Some(record) = cargento::cli::instance::read(&place, 4553) {
            cargento::cli::instance::pid(&record);
            cargento::cli::instance::token(&record, "claude");
        }
    });
}
