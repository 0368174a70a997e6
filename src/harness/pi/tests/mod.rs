//! What the reader tells of a store, requirement by requirement; `tree` holds it against a plain model.

mod branch;
mod places;
mod tree;

use super::*;
use crate::harness::testkit::{NOW, Scratch, append, iso, one, pass, text, touch};
use crate::model::{Code, Degrade};
use serde_json::{Value, json};

const FIXTURE: &str = "2026-09-20T09-50-00-000Z_0b7f3e52-5d5f-4a63-9d0e-6f1f5a0c9b11.jsonl";
const DIR: &str = "sessions/--w-acme-lab--";

fn reader(s: &Scratch) -> Pi {
    Pi::new(s.0.join("sessions"), PathBuf::from("/home/dev"))
}

fn head(id: &str) -> String {
    format!("{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"cwd\":\"/w/acme/lab\"}}\n")
}

fn entry(kind: &str, id: &str, parent: Option<&str>, at: f64, more: Value) -> String {
    let mut line = json!({"type": kind, "id": id, "parentId": parent, "timestamp": iso(at)});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    format!("{line}\n")
}

fn message(id: &str, parent: Option<&str>, at: f64, message: Value) -> String {
    entry("message", id, parent, at, json!({"message": message}))
}

fn user(id: &str, parent: Option<&str>, at: f64, words: &str) -> String {
    message(id, parent, at, json!({"role": "user", "content": [{"type": "text", "text": words}]}))
}

/// An assistant message with a stop reason, a called tool and output tokens, each when given.
fn answer(id: &str, parent: &str, at: f64, stop: Option<&str>, tool: Option<&str>, output: u64) -> String {
    let mut content = vec![json!({"type": "text", "text": "Words."})];
    content.extend(tool.map(|tool| json!({"type": "toolCall", "id": "c", "name": tool, "arguments": {}})));
    let mut m = json!({"role": "assistant", "content": content, "usage": {"output": output}});
    if let Some(stop) = stop {
        m["stopReason"] = stop.into();
    }
    message(id, Some(parent), at, m)
}

fn result(id: &str, parent: &str, at: f64, words: &str) -> String {
    message(id, Some(parent), at, json!({"role": "toolResult", "content": [{"type": "text", "text": words}]}))
}

/// A store with one session of these lines, last written at `mtime`.
fn store(name: &str, lines: &str, mtime: f64) -> (Scratch, PathBuf) {
    let s = Scratch::new(&format!("pi-{name}"));
    let path = s.write(&format!("{DIR}/x.jsonl"), head("x") + lines, mtime);
    (s, path)
}

/// The row of a session of these lines.
fn told(name: &str, lines: &str, mtime: f64) -> Observed {
    let (s, _) = store(name, lines, mtime);
    one(&mut reader(&s), NOW)
}

fn shown(row: &Observed) -> (State, &str) {
    (row.state, row.state_detail.as_deref().unwrap())
}

/// PI-004, PI-006, PI-007, PI-010, PI-011, PI-013, PI-019, PI-020, PI-021, PI-022, PI-023, PI-024, PI-025, PI-052: a
/// complete row.
#[test]
fn pi_004_to_025_a_session_of_format_v3() {
    let s = Scratch::new("pi-fixture");
    s.fixture(&format!("pi/v3/{FIXTURE}"), &format!("sessions/--home-dev-src-atlas--/{FIXTURE}"), NOW - 60.0);
    let row = one(&mut reader(&s), NOW);
    assert_eq!((row.sid.as_str(), row.project.as_str()), ("0b7f3e52-5d5f-4a63-9d0e-6f1f5a0c9b11", "src/atlas"));
    assert_eq!((row.title.as_deref(), row.last_prompt.as_str()), (Some("Importer tests"), "Run the importer tests"));
    assert_eq!((row.provider.as_deref(), row.model.as_deref()), (Some("openai-codex"), Some("gpt-5.6-sol")));
    // 88, 12 and the compaction's own 310.
    assert_eq!(row.rate_per_min, Some(41));
    assert_eq!(shown(&row), (State::Working, "running bash"));
    // A silence of 200 s re-anchors nothing, 240 s neither.
    assert_eq!(row.turn.as_ref().unwrap().elapsed_h, "9m");
    assert_eq!((row.last_activity, row.started_at, row.own_activity), (NOW - 60.0, None, 0.0));
    assert!(
        row.subagents.is_empty() && row.spacedock.is_none() && row.degrades.is_empty() && row.source_gaps.is_empty()
    );
    assert_eq!((row.session_output_tokens, row.turn_output_tokens, row.blocked_since), (None, None, None));
    // TRUST-028, PI-006: the fixture holds them, the row does not.
    assert!(!text(&row).contains("MARK-") && !text(&row).contains("77.123456"));
}

/// PI-004, PI-005, PI-007, PI-008, PI-009, PI-048: which files are sessions.
#[test]
fn pi_004_005_007_008_009_048_which_files_are_sessions() {
    let s = Scratch::new("pi-files");
    let mut pi = reader(&s);
    assert!(!pi.discovered());
    s.write("sessions/stray.jsonl", "{\"type\":\"message\",\"id\":\"x\"}\n", NOW);
    s.write("sessions/half.jsonl", "{\"type\":\"session\",\"id\":\"ha", NOW);
    s.write(&format!("{DIR}/deeper/deep.jsonl"), head("deep"), NOW);
    s.write(&format!("{DIR}/numeric.jsonl"), "{\"type\":\"session\",\"id\":5}\n", NOW);
    assert!(!pi.discovered());
    s.write("sessions/flat.jsonl", head("twice") + &user("a", None, NOW - 500.0, "Older copy"), NOW - 500.0);
    s.write(&format!("{DIR}/nested.jsonl"), head("twice") + &user("a", None, NOW - 5.0, "Newer copy"), NOW);
    let fork = head("fork").replace("\"cwd\"", "\"parentSession\":\"/w/nested.jsonl\",\"cwd\"");
    s.write(&format!("{DIR}/fork.jsonl"), fork, NOW);
    assert!(pi.discovered());
    let mut rows: Vec<_> = pass(&mut pi, NOW, true).rows.into_iter().map(|row| (row.sid, row.title)).collect();
    rows.sort();
    assert_eq!(rows, [("fork".into(), None), ("twice".into(), Some("Newer copy".into()))]);
    // A header that is completed makes a session.
    append(&s.0.join("sessions/half.jsonl"), "lf\"}\n", NOW);
    assert!(pass(&mut pi, NOW, false).rows.iter().any(|row| row.sid == "half"));
}

/// PI-004, PI-006: names that are never looked at.
#[test]
fn pi_006_trust_026_names_that_are_never_looked_at() {
    let dir = OsStr::new("--w--");
    for name in NEVER.iter().copied().chain(["sessions.db", "store.sqlite", "store.sqlite3"]) {
        for parents in [&[][..], &[dir][..]] {
            assert_eq!(judge(parents, OsStr::new(name)), Take::Skip, "{name}");
        }
    }
    assert_eq!(judge(&[], OsStr::new("flat.jsonl")), Take::Either);
    assert_eq!(judge(&[], OsStr::new("--w--")), Take::Enter);
    assert_eq!(judge(&[dir], OsStr::new("x.jsonl")), Take::File);
    assert_eq!(judge(&[dir, dir], OsStr::new("x.jsonl")), Take::Skip);
}

/// PI-010, PI-033: a header alone.
#[test]
fn pi_010_033_a_header_alone_is_a_row() {
    let row = told("header", "", NOW - 10.0);
    assert_eq!((row.title.as_deref(), row.last_prompt.as_str(), row.project.as_str()), (None, "", "acme/lab"));
    assert_eq!(shown(&row), (State::Working, "generating…"));
    let s = Scratch::new("pi-nocwd");
    s.write(&format!("{DIR}/x.jsonl"), "{\"type\":\"session\",\"id\":\"x\",\"cwd\":9}", NOW - 91.0);
    let row = one(&mut reader(&s), NOW);
    assert_eq!((row.project.as_str(), shown(&row)), ("pi", (State::Idle, "awaiting your message")));
}

/// PI-026, PI-027, PI-028, PI-029, PI-030, PI-046, PI-047, PI-050: the leaf decides, then recency.
#[test]
fn pi_027_to_030_046_047_050_the_leaf_decides() {
    let prompt = |age: f64| user("a", None, NOW - age, "Go");
    let call = |age: f64, stop, tool| prompt(age + 10.0) + &answer("b", "a", NOW - age, Some(stop), tool, 0);
    let idle = (State::Idle, "awaiting your message");
    let cases = [
        ("in flight 899", call(899.0, "toolUse", Some("bash")), 899.0, (State::Working, "running bash")),
        ("in flight 901", call(901.0, "toolUse", Some("bash")), 901.0, idle),
        ("unnamed", call(10.0, "toolUse", None), 10.0, (State::Working, "running tool")),
        ("stop", call(1.0, "stop", Some("bash")), 1.0, idle),
        ("aborted", call(1.0, "aborted", None), 1.0, idle),
        ("error", call(1.0, "error", None), 1.0, idle),
        ("prompt", prompt(90.0), 90.0, (State::Working, "thinking")),
        ("prompt old", prompt(91.0), 91.0, idle),
        (
            "result",
            call(20.0, "toolUse", Some("bash")) + &result("c", "b", NOW - 10.0, "ok"),
            10.0,
            (State::Working, "thinking"),
        ),
        ("length", call(10.0, "length", Some("grep")), 10.0, (State::Working, "running grep")),
        ("length old", call(91.0, "length", Some("grep")), 91.0, idle),
        (
            "compaction",
            call(20.0, "stop", None) + &entry("compaction", "c", Some("b"), NOW - 10.0, json!({})),
            10.0,
            (State::Working, "generating…"),
        ),
        (
            "shell",
            prompt(20.0) + &message("b", Some("a"), NOW - 10.0, json!({"role": "bashExecution", "command": "ls"})),
            10.0,
            (State::Working, "generating…"),
        ),
    ];
    for (name, lines, age, want) in cases {
        let row = told("leaf", &lines, NOW - age);
        assert_eq!(shown(&row), want, "{name}");
        assert_eq!((row.provider, row.model), (None, None), "{name}");
    }
}

/// PI-019, PI-037: the newest name anywhere, until it is cleared.
#[test]
fn pi_019_037_a_name_titles_the_row_until_it_is_cleared() {
    let (s, path) = store("name", &user("a", None, NOW - 60.0, "First prompt"), NOW);
    let mut pi = reader(&s);
    for (name, want) in [
        (json!("Importer tests"), "Importer tests"),
        (json!(""), "First prompt"),
        (json!("  Renamed\u{7} "), "Renamed"),
        (json!(null), "First prompt"),
        (json!(7), "First prompt"),
    ] {
        // On a side branch and without an id it counts all the same.
        append(&path, format!("{}\n", json!({"type": "session_info", "parentId": "nowhere", "name": name})), NOW);
        assert_eq!(one(&mut pi, NOW).title.as_deref(), Some(want));
        assert_eq!(one(&mut reader(&s), NOW).title.as_deref(), Some(want));
    }
    let key = format!("key sk-ant-api03-{}", "A".repeat(95));
    append(&path, entry("session_info", "n", Some("a"), NOW, json!({"name": key})), NOW);
    assert_eq!(one(&mut pi, NOW).title.as_deref(), Some("key sk-ant-…REDACTED"));
}

/// PI-019, PI-051: the first prompt as a title.
#[test]
fn pi_019_051_the_first_prompt_is_rendered_as_a_title() {
    let command = "<command-name>/plan</command-name>\n<command-args>the <b>importer</b></command-args>";
    let row = told("command", &user("a", None, NOW, command), NOW);
    assert_eq!(row.title.as_deref(), Some("/plan the importer"));
    let long = format!("look at /home/dev/src/atlas/importer/rows.rs and {}", "words ".repeat(40));
    let title = told("long", &user("a", None, NOW, &long), NOW).title.unwrap();
    assert!(title.starts_with("look at rows.rs and words") && title.ends_with("words…"), "{title}");
}

/// PI-020: text makes a prompt.
#[test]
fn pi_020_what_is_a_prompt() {
    let image =
        message("b", Some("a"), NOW - 40.0, json!({"role": "user", "content": [{"type": "image", "data": "x"}]}));
    let bare = message("c", Some("b"), NOW - 30.0, json!({"role": "user", "content": "bare text"}));
    let thinking =
        message("d", Some("c"), NOW - 20.0, json!({"role": "user", "content": [{"type": "thinking", "text": "MARK"}]}));
    let row = told("prompts", &(user("a", None, NOW - 50.0, "First") + &image), NOW);
    assert_eq!((row.last_prompt.as_str(), shown(&row).1), ("First", "thinking"));
    let row = told("prompts", &(user("a", None, NOW - 50.0, "First") + &image + &bare + &thinking), NOW);
    assert_eq!((row.title.as_deref(), row.last_prompt.as_str()), (Some("First"), "bare text"));
    assert_eq!(row.evidence.turn_start, Some(NOW - 30.0));
}

/// PI-023: prompts and silences of five minutes.
#[test]
fn pi_023_turns_close_at_the_next_prompt_and_at_a_silence() {
    let lines = user("a", None, NOW - 1000.0, "One")
        + &answer("b", "a", NOW - 900.0, Some("stop"), None, 0)
        + &user("c", Some("b"), NOW - 700.0, "Two")
        + &answer("d", "c", NOW - 650.0, Some("length"), None, 0)
        + &answer("e", "d", NOW - 50.0, Some("length"), None, 0);
    let row = told("turns", &lines, NOW);
    assert_eq!((row.evidence.turn_durations, row.evidence.turn_start), (vec![100.0, 50.0], Some(NOW - 50.0)));
}

/// PI-025, PI-026, PI-043, PI-044: one entry names both.
#[test]
fn pi_025_026_043_044_provider_and_model_come_from_one_entry() {
    let base = user("a", None, NOW - 60.0, "Go")
        + &message(
            "b",
            Some("a"),
            NOW - 50.0,
            json!({"role": "assistant", "provider": "anthropic", "model": "claude-x", "content": []}),
        );
    let change = |provider: Value, model: Value| {
        let lines = base.clone()
            + &entry("model_change", "c", Some("b"), NOW - 40.0, json!({"provider": provider, "modelId": model}));
        let row = told("authority", &lines, NOW);
        (row.provider, row.model)
    };
    assert_eq!(change(json!("groq"), json!("llama-9")), (Some("groq".into()), Some("llama-9".into())));
    assert_eq!(change(json!("groq"), json!(null)), (Some("groq".into()), None));
    assert_eq!(change(json!(""), json!(["x"])), (Some("anthropic".into()), Some("claude-x".into())));
    let (provider, model) = change(json!(format!("p\u{7}{}", "q".repeat(200))), json!(7));
    assert_eq!((provider.unwrap().chars().count(), model), (40, None));
}

/// PI-022, PI-024, PI-042, PI-045: stamps ahead and usage that is no number.
#[test]
fn pi_024_042_045_future_stamps_and_odd_usage_count_for_nothing() {
    let usage = |id: &str, parent: &str, at: f64, output: Value| {
        message(
            id,
            Some(parent),
            at,
            json!({"role": "assistant", "content": [], "usage": {"output": output}, "stopReason": "length"}),
        )
    };
    let lines = user("a", None, NOW - 200.0, "Go")
        + &usage("b", "a", NOW - 190.0, json!(true))
        + &usage("c", "b", NOW - 185.0, json!("12"))
        + &usage("d", "c", NOW + 86_400.0, json!(999))
        + &usage("e", "d", NOW - 180.0, json!(120))
        + &message("f", Some("e"), NOW - 170.0, json!({"role": "toolResult", "content": [], "usage": {"output": 80}}))
        + &usage("g", "f", NOW - 160.0, json!(-5));
    let row = told("usage", &lines, NOW - 150.0);
    assert_eq!((row.rate_per_min, row.last_activity, row.state), (Some(20), NOW - 150.0, State::Idle));
    // A file whose own time lies ahead is judged by its records.
    let row = told("ahead", &user("a", None, NOW - 20.0, "Go"), NOW + 86_400.0);
    assert_eq!((row.last_activity, row.state), (NOW - 20.0, State::Working));
}

/// PI-032: a boot in command output, and only there.
#[test]
fn pi_032_spd_002_010_016_a_boot_in_command_output_makes_a_first_officer() {
    let boot = "{\"command\":\"boot\",\"dispatchable\":[],\"definition_dir\":\"/w/one\"}";
    let go = user("a", None, NOW - 60.0, "Go");
    let row = told("boot", &(go.clone() + &result("b", "a", NOW - 50.0, boot)), NOW);
    assert_eq!(row.spacedock, Some(Spacedock { role: "first-officer", workflows: vec![] }));
    let said = user("b", Some("a"), NOW, boot)
        + &message("c", Some("b"), NOW, json!({"role": "assistant", "content": [{"type": "text", "text": boot}]}));
    assert_eq!(told("said", &(go.clone() + &said), NOW).spacedock, None);
    for odd in [json!(boot), json!([{"text": 7}]), json!([{"text": "definition_dir"}]), json!(null)] {
        let line = message("b", Some("a"), NOW, json!({"role": "toolResult", "content": odd}));
        assert_eq!(told("oddboot", &(go.clone() + &line), NOW).spacedock, None);
    }
    // On an abandoned branch, before the root, and late in the file it counts as well.
    let (s, path) = store("lateboot", &(result("z", "nowhere", NOW - 90.0, boot) + &go), NOW);
    assert!(one(&mut reader(&s), NOW).spacedock.is_some());
    std::fs::write(&path, head("x") + &go).unwrap();
    touch(&path, NOW);
    let mut pi = reader(&s);
    assert!(one(&mut pi, NOW).spacedock.is_none());
    append(&path, result("b", "a", NOW, boot), NOW);
    assert!(one(&mut pi, NOW).spacedock.is_some());
}

#[test]
fn pi_055_sessions_outside_the_window_are_named_unread() {
    let (s, _) = store("cold", &user("a", None, NOW - 90_000.0, "Old"), NOW - 90_000.0);
    let mut pi = reader(&s);
    assert!(pass(&mut pi, NOW, false).rows.is_empty());
    let row = &pass(&mut pi, NOW, true).rows[0];
    assert_eq!(
        (row.sid.as_str(), row.title.as_deref(), row.state, row.last_activity),
        ("x", None, State::Idle, NOW - 90_000.0)
    );
    assert!(pi.sessions.is_empty());
}

#[test]
#[ignore = "measures; needs CARGENTO_SCALE_HOME"]
fn scale() {
    crate::harness::testkit::cost(&|home| Box::new(Pi::new(home.join(".pi/agent/sessions"), home.into())));
}
