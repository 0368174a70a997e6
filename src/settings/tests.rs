use super::*;
use crate::env::{Platform, REACH_URL};
use std::ffi::OsStr;

fn parse(args: &[&str]) -> Result<Settings, UsageError> {
    Settings::of(&typed(args.iter().map(OsString::from))?)
}

#[track_caller]
fn refused(args: &[&str], names: &str) -> String {
    let error = parse(args).unwrap_err().to_string();
    assert!(error.contains(names), "{args:?}: {error}");
    error
}

/// A value other than the default for every flag that takes one; a new flag without one fails the tests below.
fn sample(flag: &Flag) -> &'static str {
    match flag.name {
        "port" => "4601",
        "host" => "0.0.0.0",
        "window-hours" => "0.25",
        "history-days" => "2.5",
        "history-max-bytes" => "2048",
        "claude-reading-model" => "claude-opus-7-1-20270131",
        "reach-url" => "https://hook.example/secret-path",
        "quiet-hours" => "22:15-06:45",
        "interaction-origin-session" => "codex:0199",
        "interaction-origin-registration-file" => "/tmp/-reg file.json",
        _ if flag.value.is_none() => "",
        other => panic!("no sample for --{other}"),
    }
}

fn given(flag: &Flag) -> Vec<String> {
    let one = |flag: &Flag| match flag.value {
        None => format!("--{}", flag.name),
        Some(_) => format!("--{}={}", flag.name, sample(flag)),
    };
    let mut args = vec![one(flag)];
    // The two of the pair come together or not at all.
    if flag.group == Group::Terminal {
        args.extend(FLAGS.iter().filter(|f| f.group == Group::Terminal && f.name != flag.name).map(one));
    }
    args
}

/// LIFE-032, CLI-039: walks the table; every flag but the starter's own arrives in the daemon's child as it was given.
#[test]
fn life_032_every_flag_is_forwarded_to_a_respawn() {
    let own = ["daemon", "demo", "status", "stop", "forget", "diagnose", "json"];
    let env = Env::of(Platform::Linux, [("HOME", "/h")]);
    for flag in FLAGS.iter().filter(|flag| !own.contains(&flag.name)) {
        let args = given(flag);
        let settings = Settings::of(&typed(args.iter().map(OsString::from)).unwrap()).unwrap();
        assert_ne!(settings, Settings::default(), "--{} changes nothing", flag.name);
        let (args, child_env) = settings.respawn(&env);
        let mut again = Settings::of(&typed(args).unwrap()).unwrap();
        if let Some(url) = child_env.text(REACH_URL) {
            again.reach_url = Some(Secret::new(url));
        }
        assert_eq!(again, settings, "--{} is not forwarded", flag.name);
    }
    let daemon = parse(&["--daemon", "--no-git"]).unwrap();
    assert_eq!(daemon.respawn(&env).0, ["--port=4553", "--window-hours=24", "--no-git"]);
}

/// NOTE-106.
#[test]
fn note_106_the_webhook_travels_in_the_environment_alone() {
    let settings = parse(&["--reach-url", "https://hook.example/secret"]).unwrap();
    let (args, env) = settings.respawn(&Env::of(Platform::Linux, [(REACH_URL, "https://older.example/")]));
    assert!(args.iter().all(|arg| !arg.to_string_lossy().contains("hook.example")));
    assert_eq!(env.get(REACH_URL), Some(OsStr::new("https://hook.example/secret")));
    assert!(!format!("{settings:?}").contains("hook.example"));
}

/// CLI-001.
#[test]
fn cli_001_both_spellings_prefixes_and_the_alias() {
    assert_eq!(parse(&["--port", "4600"]).unwrap(), parse(&["--port=4600"]).unwrap());
    assert!(parse(&["--diag"]).unwrap().diagnose);
    assert!(parse(&["--stat"]).unwrap().status);
    assert!(parse(&["--no-harness-usage"]).unwrap().no_observer_model);
    assert!(parse(&["--no-harn"]).unwrap().no_observer_model);
    assert_eq!(parse(&["--port=1", "--port=2"]).unwrap().port, 2);
    let error = refused(&["--no-"], "ambiguous");
    assert!(error.contains("--no-git") && error.contains("--no-harness-usage"));
    assert!(typed(["--hel".into()]).unwrap().help && typed(["-h".into()]).unwrap().help);
    assert!(typed(["--ver".into()]).unwrap().version);
}

/// CLI-001.
/// Every prefix of a name that no other name shares stands for it.
#[test]
fn cli_001_prefixes_are_unambiguous_or_refused() {
    let names: Vec<&str> =
        FLAGS.iter().flat_map(|f| [Some(f.name), f.alias]).flatten().chain(["help", "version"]).collect();
    for name in &names {
        for end in 1..=name.len() {
            let prefix = &name[..end];
            let count = names.iter().filter(|n| n.starts_with(prefix)).count();
            let understood = typed([OsString::from(format!("--{prefix}=1"))]);
            let exact = names.contains(&prefix);
            let ambiguous = understood.as_ref().is_err_and(|e| e.to_string().starts_with("ambiguous"));
            assert_eq!(ambiguous, count > 1 && !exact, "{prefix}");
        }
    }
}

/// CLI-002, CLI-004.
#[test]
fn cli_002_and_004_what_is_not_understood() {
    for (args, names) in [
        (&["--nonsense"][..], "--nonsense"),
        (&["extra"], "extra"),
        (&["--status", "extra"], "extra"),
        (&["-z"], "-z"),
        (&["--port"], "argument --port: "),
        (&["--port", "--status"], "argument --port: "),
        (&["--daemon=yes"], "argument --daemon: "),
        (&["--no-handoff"], "--no-handoff"),
    ] {
        refused(args, names);
    }
}

/// CLI-010.
#[test]
fn cli_010_port_range() {
    for port in ["0", "-1", "65536", "99999999999", "http", "45.5", ""] {
        let error = refused(&[&format!("--port={port}")], "argument --port: ");
        assert!(error.contains('1') && error.contains("65535"));
    }
    refused(&["--port", "-1"], "argument --port: must be");
    assert_eq!(parse(&["--port", "65535"]).unwrap().port, 65535);
}

/// CLI-011.
#[test]
fn cli_011_two_addresses_and_why() {
    for host in [
        "localhost",
        "::1",
        "::",
        "0",
        "127.1",
        "0.0.0.0\n",
        " 127.0.0.1",
        "+127.0.0.1",
        "127.0.0.1:80",
        "",
        "evil.example",
        "127.0.0.\u{661}",
        "127.0.0.2",
        "10.0.0.2",
        "192.168.1.5",
        "255.255.255.255",
    ] {
        let error = refused(&[&format!("--host={host}")], "argument --host: ");
        assert!(error.contains("127.0.0.1") && error.contains("0.0.0.0"), "{error}");
        let plain = host.parse::<std::net::Ipv4Addr>().is_ok();
        assert_eq!(error.contains("loopback"), plain, "{error}");
    }
    assert_eq!(parse(&["--host", "0.0.0.0"]).unwrap().host, Host::Any);
}

/// CLI-012, CLI-014.
#[test]
fn cli_012_and_014_numbers_are_refused_never_clamped() {
    for flag in ["--history-days", "--window-hours"] {
        for value in ["0", "-1", "nan", "inf", "-inf", "soon", ""] {
            refused(&[&format!("{flag}={value}")], &format!("argument {flag}: "));
        }
    }
    for value in ["0", "-5", "1.5", "1e6", "many", ""] {
        refused(&[&format!("--history-max-bytes={value}")], "argument --history-max-bytes: ");
    }
    assert_eq!(parse(&["--window-hours=0.5"]).unwrap().window_sec(), 1800.0);
    assert_eq!(parse(&["--history-days", "0.5"]).unwrap().history_retention_sec(), 43_200.0);
}

/// CLI-013, CLI-016, CLI-033.
#[test]
fn cli_013_016_033_combinations() {
    for other in ["--diagnose", "--stop", "--status", "--forget"] {
        let error = refused(&["--daemon", other], "--daemon");
        assert!(["--diagnose", "--stop", "--status", "--forget"].iter().all(|name| error.contains(name)));
        refused(&["--demo", other], "--demo");
        refused(&["--daemon", other, "--port=0"], "argument --port: ");
    }
    refused(&["--demo", "--daemon"], "--demo");
    for one in ["--interaction-origin-session=claude:abc", "--interaction-origin-registration-file=/tmp/r"] {
        let error = refused(&[one], "--interaction-origin-session");
        assert!(error.contains("--interaction-origin-registration-file"));
    }
    for bad in ["claude", "nobody:x", "claude:", ":x", ""] {
        let arg = format!("--interaction-origin-session={bad}");
        refused(&[&arg, "--interaction-origin-registration-file=/tmp/r"], "argument --interaction-origin-session: ");
    }
}

/// CLI-015.
#[test]
fn cli_015_a_refused_model_is_not_echoed() {
    let error = refused(&["--claude-reading-model=claude-zzz-marker"], "argument --claude-reading-model: ");
    assert!(!error.contains("marker"));
}

/// CLI-017.
#[test]
fn cli_017_the_first_one_shot_wins() {
    let all = ["--status", "--stop", "--forget", "--diagnose"];
    let order = [OneShot::Status, OneShot::Stop, OneShot::Forget, OneShot::Diagnose];
    for n in 1..=4 {
        assert_eq!(parse(&all[..n]).unwrap().one_shot(), Some(order[n - 1]));
    }
    assert_eq!(parse(&["--json"]).unwrap().one_shot(), None);
}

/// NOTE-093.
#[test]
fn note_093_a_bad_window_is_a_usage_error() {
    refused(&["--quiet-hours", "22-7"], "argument --quiet-hours: ");
    assert!(parse(&["--quiet-hours", "22:00-07:00"]).unwrap().quiet_hours.unwrap().contains(0));
}

/// CONF-011.
#[test]
fn conf_011_what_switches_mean_together() {
    let s = parse(&["--observer-model", "--unasked-readings"]).unwrap();
    assert!(s.observer_model_enabled() && s.unasked_enabled() && s.irreversible_enabled() && s.focus_enabled());
    let s = parse(&["--observer-model", "--unasked-readings", "--no-observer-model", "--no-events"]).unwrap();
    assert!(!s.observer_model_enabled() && !s.unasked_enabled() && !s.irreversible_enabled() && !s.focus_enabled());
    assert!(!s.git_enabled() && !s.events_enabled());
    assert!(!parse(&["--no-irreversible"]).unwrap().irreversible_enabled());
}

/// CLI-033.
#[test]
fn cli_033_the_demo_starts_nothing_and_reaches_nobody() {
    let s = parse(&["--demo", "--observer-model", "--reach-url=https://h.example"]).unwrap().for_demo();
    assert!(s.no_git && s.no_usage && s.no_reach && s.no_focus && s.no_spacedock && !s.observer_model_enabled());
    assert_eq!(s.reach_url, None);
}

/// CLI-001.
#[test]
fn cli_001_help_names_every_flag_and_stays_narrow() {
    let page = help();
    for flag in FLAGS {
        assert!(page.contains(&format!("--{}", flag.name)), "--{}", flag.name);
        assert!(flag.alias.is_none_or(|alias| page.contains(&format!("--{alias}"))));
        assert!(flag.help.ends_with('.'), "--{}", flag.name);
    }
    for words in
        ["http://127.0.0.1:4553/", "cargento --stop", "Not in this build:", "CARGENTO_HOME", "cargento-PORT.log"]
    {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.lines().all(|line| line.len() <= 100 && !line.ends_with(' ')), "{page}");
}

/// CLI-004.
#[test]
fn cli_004_a_slip_of_the_key_is_told_what_was_meant() {
    for (typed, meant) in [
        ("--prot", "--port"),
        ("--stauts", "--status"),
        ("--no-gti", "--no-git"),
        ("--deamon", "--daemon"),
        ("--demoo", "--demo"),
        ("--mcp", "cargento mcp"),
        ("stop", "--stop"),
        ("help", "--help"),
        ("-V", "--version"),
        ("hook", "cargento hooks"),
        ("plugins", "cargento plugin"),
    ] {
        let error = refused(&[typed], "unrecognized argument: ");
        assert_eq!(error, format!("unrecognized argument: {typed} (did you mean {meant}?)"));
    }
    for typed in ["--nonsense", "extra", "--no-handoff", "-z", "--xy", "ab", "é"] {
        assert_eq!(refused(&[typed], "unrecognized"), format!("unrecognized argument: {typed}"));
    }
}

/// CLI-037.
#[test]
fn cli_037_the_cost_of_the_host_flag_is_in_its_help() {
    let flag = FLAGS.iter().find(|flag| flag.name == "host").unwrap();
    for word in ["titles", "prompts", "project labels", "stop the server", "answer questions", "POST", "ssh -L"] {
        assert!(flag.help.contains(word), "{word}");
    }
}

/// CLI-039.
/// The README's options table is the table of flags.
#[test]
fn cli_039_the_readme_carries_the_table() {
    let readme = include_str!("../../README.md");
    assert!(readme.contains(&markdown_table()), "put this into README.md:\n{}", markdown_table());
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(readme).contains(&flat(super::help::ABSENT)), "the README says what this build does not have");
}
