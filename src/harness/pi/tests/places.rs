//! Where Pi's store is, which of its files are sessions, and what of them could not be read.

use super::*;
use crate::env::{Env, Platform};
use crate::roots::Roots;

fn root(vars: &[(&str, &str)], settings: Option<&str>) -> String {
    let vars = [&[("HOME", "/home/u")], vars].concat();
    let roots = Roots::new(&Env::of(Platform::Linux, vars), settings);
    let found = roots.candidates("pi.sessions");
    assert_eq!(found.len(), 1, "exactly one root is searched");
    found[0].display().to_string()
}

/// PI-001, PI-002, PI-003, PI-049: the variable, the global setting, the default, in this order.
#[test]
fn pi_001_pi_002_pi_003_pi_049_the_one_root() {
    let (dir, sessions) = ("PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR");
    assert_eq!(root(&[], None), "/home/u/.pi/agent/sessions");
    assert_eq!(root(&[(dir, "/cfg")], None), "/cfg/sessions");
    assert_eq!(root(&[(dir, " "), (sessions, "\t")], None), "/home/u/.pi/agent/sessions", "blank is not set");
    assert_eq!(root(&[(dir, "/cfg"), (sessions, "/flat")], Some(r#"{"sessionDir":"/set"}"#)), "/flat");
    for (value, want) in [
        ("\"~/pi-sessions\"", "/home/u/pi-sessions"),
        ("\"~\"", "/home/u"),
        ("\"/abs\"", "/abs"),
        ("\"s\"", "/cfg/s"),
        ("\"  \"", "/cfg/sessions"),
        ("7", "/cfg/sessions"),
        ("null", "/cfg/sessions"),
    ] {
        assert_eq!(root(&[(dir, "/cfg")], Some(&format!("{{\"sessionDir\":{value}}}"))), want, "{value}");
    }
    // Two megabytes, cut where reading ends, are no JSON any more.
    let long = format!("{{\"sessionDir\":\"/set\",\"pad\":\"{}\"}}", "x".repeat(2_000_000));
    for unusable in ["", "[]", "{", "not json", &long[..1_000_001]] {
        assert_eq!(root(&[(dir, "/cfg")], Some(unusable)), "/cfg/sessions");
    }
}

/// PI-034: a root that cannot be listed holds nothing and stops nothing.
#[test]
fn pi_034_a_root_that_is_none_discovers_nothing() {
    let s = Scratch::new("pi-root");
    let mut pi = reader(&s);
    assert!(!pi.discovered());
    s.write("sessions", "a file where a folder should be", NOW);
    assert!(!pi.discovered() && pass(&mut pi, NOW, true).rows.is_empty());
    std::fs::remove_file(s.0.join("sessions")).unwrap();
    s.write(&format!("{DIR}/x.jsonl"), head("x"), NOW);
    assert!(pi.discovered());
}

/// PI-012, PI-033: entries without an id are on no branch, as the first format wrote them all; the header stands alone.
#[test]
fn pi_012_pi_033_a_file_of_the_first_format_shows_its_header() {
    let line = |role: &str, words: &str| {
        format!(
            "{}\n",
            json!({"type": "message", "timestamp": iso(NOW - 9.0), "message": {"role": role, "content": words}})
        )
    };
    let named = format!("{}\n", json!({"type": "session_info", "name": "Linear"}));
    let row = told("linear", &(line("user", "First") + &line("assistant", "Answer") + &named), NOW);
    assert_eq!((row.title.as_deref(), row.last_prompt.as_str(), row.evidence.turn_start), (Some("Linear"), "", None));
    assert_eq!((row.rate_per_min, row.degrades.len()), (Some(0), 0));
    // A parent that is no text means the root.
    let odd = user("a", None, NOW - 60.0, "First") + &user("b", Some("a"), NOW - 50.0, "Second").replace("\"a\"", "7");
    let row = told("parent", &odd, NOW);
    assert_eq!((row.title.as_deref(), row.last_prompt.as_str()), (Some("Second"), "Second"));
}

/// PI-031, PI-052: what Pi's store never tells keeps its default, whatever the leaf says.
#[test]
fn pi_031_pi_052_no_wait_no_subagent_no_sums() {
    let lines = user("a", None, NOW - 60.0, "Go")
        + &answer("b", "a", NOW - 50.0, Some("toolUse"), Some("ask_user"), 40)
        + &entry(
            "custom_message",
            "c",
            Some("b"),
            NOW - 40.0,
            json!({"customType": "question", "content": "Proceed?"}),
        );
    let row = told("defaults", &lines, NOW - 40.0);
    assert_eq!((row.state, row.blocked_since, row.subagents.len()), (State::Working, None, 0));
    assert_eq!((row.started_at, row.session_output_tokens, row.turn_output_tokens), (None, None, None));
    assert_eq!((row.own_activity, row.consumption, row.last_output, row.resume_id), (0.0, None, None, None));
}

/// PI-017, PI-021, PI-022: an unterminated record is not there yet; the newest named call and the usage of every kind
/// count.
#[test]
fn pi_017_pi_021_pi_022_tools_and_usage_of_whole_records() {
    let tools = json!({"role": "assistant", "usage": {"output": 60}, "stopReason": "length", "content": [
        {"type": "toolCall", "name": "read"}, {"type": "toolCall", "name": 7}, {"type": "text", "text": "x", "name": "no"}]});
    let lines = user("a", None, NOW - 60.0, "Go")
        + &message("b", Some("a"), NOW - 50.0, tools)
        + &entry("compaction", "c", Some("b"), NOW - 40.0, json!({"usage": {"output": 30}}))
        + &entry("branch_summary", "d", Some("c"), NOW - 30.0, json!({"usage": {"output": 20}}))
        + &message("e", Some("d"), NOW - 20.0, json!({"role": "toolResult", "content": [], "usage": {"output": 10}}))
        + &entry("label", "f", Some("e"), NOW - 10.0, json!({"usage": {"output": 1.9}}));
    let (s, path) = store("usage", &lines, NOW);
    let mut pi = reader(&s);
    let row = one(&mut pi, NOW);
    assert_eq!((row.rate_per_min, shown(&row)), (Some(12), (State::Working, "running read")));
    append(&path, answer("g", "f", NOW - 5.0, Some("stop"), None, 6000).trim_end(), NOW);
    assert_eq!(one(&mut pi, NOW).rate_per_min, Some(12));
    append(&path, "\n", NOW);
    assert_eq!((one(&mut pi, NOW).rate_per_min, one(&mut pi, NOW).state), (Some(612), State::Idle));
}

/// DECK-020, TRUST-036: a format newer than any sample, damage and bounds are named on the row and once for the
/// harness.
#[test]
fn deck_020_format_and_damage_are_named_on_the_row_and_for_the_harness() {
    let s = Scratch::new("pi-named");
    s.write(&format!("{DIR}/new.jsonl"), head("new").replace("\"version\":3", "\"version\":4"), NOW);
    s.write(&format!("{DIR}/odd.jsonl"), head("odd") + "junk\nmore junk\n" + &user("a", None, NOW - 9.0, "Go"), NOW);
    s.write(&format!("{DIR}/old.jsonl"), head("old").replace("\"version\":3", "\"version\":1") + "junk\n", NOW);
    let found = pass(&mut reader(&s), NOW, false);
    let of = |sid: &str| found.rows.iter().find(|row| row.sid == sid).unwrap().degrades.clone();
    let degrade = |code, source: &str, count| Degrade { code, source: source.into(), count };
    assert_eq!(of("new"), [degrade(Code::VersionUnseen, "new.jsonl", None)]);
    assert_eq!(of("odd"), [degrade(Code::RecordSkipped, "odd.jsonl", Some(2))]);
    let want = [degrade(Code::RecordSkipped, STORE, Some(3)), degrade(Code::VersionUnseen, STORE, None)];
    assert_eq!(found.degrades, want);
}

/// PI-024: the newest of stamps and file time decides, whichever is older.
#[test]
fn pi_024_a_copy_with_an_old_file_time_is_judged_by_its_records() {
    let (s, _) = store("copy", &user("a", None, NOW - 20.0, "Go"), NOW - 90_000.0);
    s.write(&format!("{DIR}/old.jsonl"), head("old") + &user("a", None, NOW - 90_000.0, "Old"), NOW - 90_000.0);
    let mut pi = reader(&s);
    let row = one(&mut pi, NOW);
    assert_eq!((row.sid.as_str(), row.last_activity, shown(&row)), ("x", NOW - 20.0, (State::Working, "thinking")));
    assert_eq!(row.last_prompt, "Go");
    assert!(pass(&mut pi, NOW + 86_400.0, false).rows.is_empty());
}

/// PI-033, FIELD-056, DECK-020, TRUST-036: a link among the files is passed over and named; the rest is read.
#[cfg(unix)]
#[test]
fn pi_033_field_056_a_link_is_passed_over_and_named() {
    let (s, path) = store("links", "", NOW);
    std::os::unix::fs::symlink(&path, path.with_file_name("link.jsonl")).unwrap();
    std::os::unix::fs::symlink(s.0.join("sessions"), s.0.join("sessions/loop")).unwrap();
    let found = pass(&mut reader(&s), NOW, false);
    assert_eq!(found.rows.len(), 1);
    assert_eq!(found.degrades, [Degrade { code: Code::RecordSkipped, source: STORE.into(), count: Some(2) }]);
    assert!(found.store_errors.iter().all(|(_, why)| why.starts_with("NotAFile: ")));
}
