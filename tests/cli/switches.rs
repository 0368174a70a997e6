//! Every off switch over the real binary (CLI-039): what it takes from the board, which routes answer as switched off,
//! which of our own files stay untouched, and that the respawn of `--daemon` is told the same (LIFE-032).
//!
//! Each case is played on a daemon, so that whatever is asserted holds for the respawned process, and against a home in
//! which everything was used before with every feature on.

use super::home::{Home, ask, contents, data, free_port};
use super::stores;
use cargento::settings::{FLAGS, Group};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::time::{SystemTime, UNIX_EPOCH};

/// One switch and what it takes.
struct Switch {
    name: &'static str,
    /// Members of `/api/data` that go.
    gone: &'static [&'static str],
    /// Members of `/api/data` by pointer, and what they say with the switch on.
    says: &'static [(&'static str, Published)],
    /// Routes that answer as switched off.
    off: &'static [(&'static str, &'static str, u16)],
    /// Own files that are neither changed nor made.
    untouched: &'static [&'static str],
    /// What would otherwise be done with these arguments.
    beside: &'static [&'static str],
}

#[derive(Clone, Copy)]
enum Published {
    Flag(bool),
    Zero,
    Null,
    Empty,
    Blank,
}

impl Published {
    fn is(self, value: Option<&Value>) -> bool {
        match self {
            Published::Flag(flag) => value == Some(&Value::Bool(flag)),
            Published::Zero => value == Some(&json!(0)),
            Published::Null => value == Some(&Value::Null),
            Published::Blank => value == Some(&json!("")),
            Published::Empty => value.and_then(Value::as_array).is_some_and(Vec::is_empty),
        }
    }
}

use Published::{Blank, Empty, Flag, Null, Zero};

const NOTHING: Switch = Switch { name: "", gone: &[], says: &[], off: &[], untouched: &[], beside: &[] };

/// Stands for quiet hours that hold whenever the test runs.
const QUIET: &str = "--quiet-hours=NOW";
/// Routes of features that this build does not have: they answer as switched off, with and without the switch.
const ABSENT: [&str; 9] = [
    "/api/tripwire",
    "/api/reading",
    "/api/reading/cancel",
    "/api/focus",
    "/api/ask",
    "/api/ask/withdraw",
    "/api/answer",
    "/api/ask/x",
    "/api/session?harness=claude&sid=27d10654",
];
/// Members that no run of this build publishes, for the same reason, or that say what did not happen here.
const NEVER: [&str; 13] = [
    "usage_fetch",
    "command_reports",
    "annotate_notice",
    "reading",
    "reading_check",
    "reading_routes",
    "reading_jobs",
    "ask",
    "asks",
    "history_reset",
    "deck",
    "demo",
    "ends_reset",
];
/// Programs that a run could start; each stands in for the real one and notes that it was started.
const PROGRAMS: [&str; 6] = ["git", "tmux", "notify-send", "codex", "claude", "spacedock"];

const SWITCHES: &[Switch] = &[
    Switch { name: "no-spacedock", says: &[("/tripwires/sources", Empty)], ..NOTHING },
    Switch {
        name: "no-tripwires",
        says: &[("/tripwires/enabled", Flag(false)), ("/tripwires/rules", Empty), ("/tripwires/sources", Empty)],
        off: &[("POST", "/api/tripwire", 503)],
        untouched: &["cargento-tripwires.json"],
        ..NOTHING
    },
    Switch { name: "no-usage", gone: &["usage_fetch"], ..NOTHING },
    Switch {
        name: "no-observer-model",
        says: &[("/observer_model", Flag(false)), ("/unasked", Flag(false))],
        off: &[("POST", "/api/reading", 503)],
        beside: &["--observer-model", "--unasked-readings"],
        ..NOTHING
    },
    Switch { name: "no-git", says: &[("/sessions/0/dirty", Null), ("/sessions/0/changed", Null)], ..NOTHING },
    Switch { name: "no-focus", off: &[("POST", "/api/focus", 503)], ..NOTHING },
    Switch {
        name: "no-events",
        gone: &["command_reports"],
        says: &[("/ends_observable", Flag(false)), ("/irreversible_enabled", Flag(false))],
        off: &[("POST", "/api/events/claude", 404), ("GET", "/api/overlays", 503), ("POST", "/api/focus", 503)],
        untouched: &["cargento-ends.json"],
        ..NOTHING
    },
    Switch {
        name: "no-irreversible",
        gone: &["command_reports"],
        says: &[("/irreversible_enabled", Flag(false))],
        ..NOTHING
    },
    Switch {
        name: "no-dismiss",
        gone: &["dismiss"],
        says: &[("/cleared", Zero)],
        off: &[("POST", "/api/dismiss", 503), ("GET", "/api/cleared", 503)],
        untouched: &["cargento-dismissals.json"],
        ..NOTHING
    },
    Switch {
        name: "no-annotations",
        gone: &[
            "annotate_cap",
            "annotate_discard",
            "annotate_notice",
            "intent_revision",
            "reading",
            "reading_check",
            "reading_routes",
            "reading_jobs",
        ],
        says: &[("/annotate", Flag(false)), ("/sessions/0/annotation_goal", Blank)],
        off: &[
            ("POST", "/api/annotate", 503),
            ("GET", "/api/annotations", 503),
            ("POST", "/api/reading", 503),
            ("POST", "/api/reading/cancel", 503),
        ],
        untouched: &["cargento-annotations.json", "cargento-annotations.json.lock", "cargento-departures.json"],
        ..NOTHING
    },
    Switch {
        name: "no-ask",
        gone: &["ask", "asks"],
        off: &[
            ("POST", "/api/ask", 503),
            ("POST", "/api/ask/withdraw", 503),
            ("POST", "/api/answer", 503),
            ("GET", "/api/ask/x", 503),
        ],
        ..NOTHING
    },
    Switch {
        name: "no-history",
        gone: &["history", "history_reset"],
        untouched: &["cargento-history.json"],
        ..NOTHING
    },
    Switch {
        name: "no-deck",
        gone: &["deck"],
        off: &[("GET", "/api/session?harness=claude&sid=27d10654", 503)],
        ..NOTHING
    },
    Switch { name: "no-reach", beside: &["--reach-url=http://127.0.0.1:1/x"], ..NOTHING },
    Switch { name: "no-quiet-hours", says: &[("/in_quiet_hours", Flag(false))], beside: &[QUIET], ..NOTHING },
];

/// `HH:MM-HH:MM` of UTC, an hour before and after now.
fn quiet_now() -> String {
    let minute = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 60 % 1440;
    let at = |minute: u64| format!("{:02}:{:02}", minute / 60 % 24, minute % 60);
    format!("--quiet-hours={}-{}", at(minute + 1380), at(minute + 60))
}

/// A home with stores of two harnesses and programs that tell on themselves, in which every feature was used.
fn used_home() -> Home {
    let home = Home::new();
    let bin = home.path.join("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in PROGRAMS {
        let path = bin.join(program);
        std::fs::write(&path, format!("#!/bin/sh\necho {program} >>'{}/started'\n", home.path.display())).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    stores::plant(&home.path);
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let home = home.env("PATH", &path);
    let mut board = home.serve(free_port(), &[stores::WINDOW]);
    use_everything(&home, board.port);
    data(board.port, "");
    board.signal(libc::SIGTERM);
    assert_eq!(board.ends(), Some(0));
    home
}

/// Presses everything a page or a hook can; a feature that is off refuses.
pub fn use_everything(home: &Home, port: u16) {
    data(port, "");
    let session = json!({"harness": "claude", "sid": "27d10654"});
    let other = json!({"harness": "codex", "sid": "01994f10-7a1c-7c30-9f4e-0a1b2c3d4e5f"});
    let with = |base: &Value, more: Value| {
        let mut all = base.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all.to_string()
    };
    ask(
        port,
        "POST",
        "/api/annotate",
        &[],
        &with(&session, json!({"goal": "Round to even", "lines": ["Taxes agree"]})),
    );
    ask(port, "POST", "/api/dismiss", &[], &other.to_string());
    ask(port, "POST", "/api/notify", &[], &json!({"session_id": "x", "message": "waiting"}).to_string());
    ask(port, "POST", "/api/usage", &[], "{}");
    ask(port, "POST", "/api/tripwire", &[], "{}");
    ask(port, "POST", "/api/focus", &[], &session.to_string());
    ask(port, "POST", "/api/ask", &[], &with(&session, json!({"question": "Go?", "options": ["Yes", "No"]})));
    let record = std::fs::read(home.state().join(format!("cargento-{port}.json"))).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    let token = record["capabilities"]["claude"].as_str().unwrap_or("none");
    let ended = json!({"v": 1, "event": "session_ended", "session_id": "5c1e0a11-2222-4333-8444-555566667777",
                       "cwd": home.path});
    ask(port, "POST", "/api/events/claude", &[("X-Cargento-Capability", token)], &ended.to_string());
    data(port, "");
}

fn arguments(pid: u64) -> Option<Vec<String>> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(bytes.split(|b| *b == 0).map(|arg| String::from_utf8_lossy(arg).into_owned()).collect())
}

/// Asks a route for nothing in particular.
fn status(port: u16, method: &str, path: &str) -> u16 {
    ask(port, method, path, &[], "{}").status
}

/// CLI-039.
#[test]
fn cli_039_the_table_has_every_off_switch() {
    let flags: Vec<&str> = FLAGS
        .iter()
        .filter(|flag| flag.group == Group::Switches || flag.name.starts_with("no-"))
        .map(|flag| flag.name)
        .collect();
    let mut known: Vec<&str> = SWITCHES.iter().map(|switch| switch.name).collect();
    known.sort_unstable();
    let mut wanted = flags.clone();
    wanted.sort_unstable();
    assert_eq!(known, wanted, "a switch of the table of flags without a row here, or the reverse");
}

/// CLI-039: what the switches take away is there without them; what is not belongs to a feature this build lacks.
#[test]
fn cli_039_without_a_switch_everything_is_there() {
    let home = used_home();
    let kept: Vec<String> = contents(&home.state()).into_keys().collect();
    for name in ["cargento-annotations.json", "cargento-dismissals.json", "cargento-ends.json", "cargento-history.json"]
    {
        assert!(kept.iter().any(|own| own == name), "{name} among {kept:?}");
    }
    let hours = quiet_now();
    let board = home.serve(free_port(), &[stores::WINDOW, "--observer-model", "--unasked-readings", &hours]);
    let shown = data(board.port, "");
    for switch in SWITCHES {
        for member in switch.gone {
            assert_eq!(shown.get(member).is_some(), !NEVER.contains(member), "{member} of --{}", switch.name);
        }
        for (method, path, refused) in switch.off {
            let absent = ABSENT.contains(path);
            assert_eq!(status(board.port, method, path) == *refused, absent, "{path}");
        }
    }
    for pointer in ["/ends_observable", "/observer_model", "/unasked", "/in_quiet_hours", "/annotate", "/dismiss"] {
        assert_eq!(shown.pointer(pointer), Some(&json!(true)), "{pointer}");
    }
    assert!(shown["cleared"].as_u64() > Some(0));
    let words = shown["sessions"].as_array().unwrap().iter().any(|row| row["annotation_goal"] == "Round to even");
    assert!(words, "what was typed is shown");
}

/// CLI-039, LIFE-032, STATE-006: each switch, on a daemon.
#[test]
fn cli_039_each_switch_on_a_daemon() {
    let first = used_home();
    for switch in SWITCHES {
        let name = switch.name;
        let home = Home::new();
        stores::copy_tree(&first.path, &home.path);
        let home = home.env("PATH", &format!("{}:/usr/bin:/bin", first.path.join("bin").display()));
        let before = contents(&home.state());
        let port = free_port();
        let (flag, port_text, hours) = (format!("--{name}"), port.to_string(), quiet_now());
        let beside = switch.beside.iter().map(|arg| if *arg == QUIET { hours.as_str() } else { arg });
        let args: Vec<&str> =
            ["--daemon", "--port", &port_text, stores::WINDOW, &flag].into_iter().chain(beside).collect();
        home.run(&args).expect(0, &[]);
        let record = std::fs::read(home.state().join(format!("cargento-{port}.json"))).unwrap();
        let record: Value = serde_json::from_slice(&record).unwrap();
        if let Some(args) = arguments(record["pid"].as_u64().unwrap()) {
            assert!(args.contains(&flag), "{flag} is not among the daemon's arguments {args:?}");
        }
        use_everything(&home, port);
        let shown = data(port, "");
        judge(switch, &home, port, &shown, &record);
        home.run(&["--port", &port_text, "--stop"]).expect(0, &["stopped"]);
        let after = contents(&home.state());
        for own in switch.untouched {
            assert!(before.get(*own) == after.get(*own), "{own} was touched under {flag}");
        }
        // What belongs to another feature is still kept.
        let bystander = if name == "no-dismiss" { "cargento-history.json" } else { "cargento-dismissals.json" };
        assert!(after.contains_key(bystander), "{flag}");
        let started = std::fs::read_to_string(first.path.join("started")).unwrap_or_default();
        let never = match name {
            "no-git" => "git",
            "no-focus" | "no-events" => "tmux",
            "no-observer-model" => "codex",
            _ => "spacedock",
        };
        assert!(!started.lines().any(|line| line == never), "{never} was started under {flag}");
    }
}

#[track_caller]
fn judge(switch: &Switch, home: &Home, port: u16, shown: &Value, record: &Value) {
    let name = switch.name;
    for member in switch.gone {
        assert!(shown.get(member).is_none(), "{member} is published under --{name}");
    }
    for (pointer, want) in switch.says {
        assert!(want.is(shown.pointer(pointer)), "{pointer} is {:?} under --{name}", shown.pointer(pointer));
    }
    for (method, path, refused) in switch.off {
        assert_eq!(status(port, method, path), *refused, "{method} {path} under --{name}");
    }
    assert_eq!(record.get("capabilities").is_none(), name == "no-events", "tokens under --{name}");
    assert_eq!(
        record["irreversible_enabled"],
        !["no-events", "no-irreversible"].contains(&name),
        "irreversible_enabled under --{name}"
    );
    let page = String::from_utf8(ask(port, "GET", "/", &[], "").body).unwrap();
    assert!(!page.contains("cargento-focus"), "a focus token under --{name}");
    assert!(!shown["sessions"].as_array().unwrap().is_empty(), "rows under --{name}");
    assert_eq!(ask(port, "POST", "/api/usage", &[], "{}").body, br#"{"ok":true,"usage":0}"#, "USE-071");
    assert!(home.path.is_dir());
}
