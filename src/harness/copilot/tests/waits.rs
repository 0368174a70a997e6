//! When a session waits for the person, and what a wait looks like in its state.

use super::*;

/// COP-014, COP-017, COP-031, COP-032, COP-034, COP-035: an answer or a new prompt ends a wait.
#[test]
fn cop_014_cop_017_cop_031_cop_032_cop_035_only_an_answer_or_a_new_prompt_ends_a_wait() {
    let mut home = Home::new("wait");
    let text = prompt(NOW - 60.0, "Go") + &asked(NOW - 40.0, "a", "shell") + &asked(NOW - 20.0, "b", "url");
    let path = home.events("s", &text, NOW - 20.0);
    let told = |home: &mut Home| {
        let row = one(&mut home.reader, NOW);
        (row.state, row.blocked_since, row.state_detail.unwrap_or_default())
    };
    let wait = |since: f64, detail: &str| (State::NeedsInput, Some(since), detail.to_owned());
    assert_eq!(told(&mut home), wait(NOW - 40.0, "permission request (shell), waiting 40s"));
    append(&path, answered(NOW - 10.0, "a") + &answered(NOW - 9.0, "unknown"), NOW - 10.0);
    assert_eq!(told(&mut home), wait(NOW - 20.0, "permission request (url), waiting 20s"));
    append(&path, event("assistant.message", NOW - 8.0, json!({})), NOW - 8.0);
    assert_eq!(told(&mut home).0, State::NeedsInput, "other events end nothing");
    append(&path, prompt(NOW - 5.0, "Never mind"), NOW - 5.0);
    assert_eq!(told(&mut home), (State::Working, None, "generating…".into()));
    append(&path, asked(NOW - 4.0, "c", "memory"), NOW - 4.0);
    assert_eq!(told(&mut home), wait(NOW - 4.0, "permission request, waiting 4s"));
    append(&path, answered(NOW - 3.0, "c"), NOW - 3.0);
    assert_eq!(told(&mut home).0, State::Working);
}

/// COP-016, COP-030: a headless denial is never red.
#[test]
fn cop_016_cop_030_a_headless_denial_is_never_reported() {
    let mut home = Home::new("headless");
    let path = home.events("s", &(prompt(NOW - 3.0, "Go") + &asked(NOW - 0.001, "a", "shell")), NOW);
    assert_eq!(one(&mut home.reader, NOW).state, State::Working, "the answer may be half written");
    let answer = answered(NOW, "a");
    append(&path, &answer[..40], NOW);
    assert_eq!(one(&mut home.reader, NOW + 1.0).state, State::Working);
    append(&path, &answer[40..], NOW);
    assert_eq!(one(&mut home.reader, NOW + 60.0).state, State::Working);
}

/// COP-015, COP-018, COP-021, COP-039: recency, undated requests, stamps ahead.
#[test]
fn cop_018_cop_021_cop_039_state_follows_recency_and_an_inactive_gate_is_withheld() {
    let mut home = Home::new("recency");
    for (sid, age) in [("fresh", 50.0), ("quiet", 150.0), ("stale", 90_000.0)] {
        home.events(sid, &prompt(NOW - age, "Go"), NOW - age);
    }
    let start = event("session.start", NOW - 90_000.0, json!({"context": {"cwd": "/w/acme/gone"}}));
    let gone = start + &asked(NOW - 90_000.0, "r", "shell");
    home.events("abandoned", &gone, NOW - 90_000.0);
    home.events("hours", &(prompt(NOW - 7200.0, "Go") + &asked(NOW - 7200.0, "r", "shell")), NOW - 7200.0);
    home.events("undated", &asked(NOW, "r", "shell").replace("timestamp", "when"), NOW - 600.0);
    home.events("ahead", &prompt(NOW, "Go"), NOW + 86_400.0);
    let rows = home.at(NOW, false).rows;
    let state = |sid| row(&rows, sid).state;
    assert_eq!((state("fresh"), state("quiet"), state("hours")), (State::Working, State::Idle, State::NeedsInput));
    assert_eq!(row(&rows, "quiet").state_detail.as_deref(), Some("awaiting your message"));
    assert_eq!(row(&rows, "hours").state_detail.as_deref(), Some("permission request (shell), waiting 2h 0m"));
    assert_eq!(row(&rows, "undated").blocked_since, Some(NOW - 600.0), "the file's last write (COP-015)");
    assert_eq!(rows.len(), 4);
    let rows = home.at(NOW, true).rows;
    let old = row(&rows, "abandoned");
    assert_eq!((old.state, old.active, old.project.as_str()), (State::Idle, false, "acme/gone"));
    assert_eq!((old.title.as_deref(), old.blocked_since), (None, None), "not read but for its first line");
    assert_eq!((row(&rows, "ahead").active, rows.len()), (false, 7));
}

/// COP-007, COP-020, COP-037: pills until they end.
#[test]
fn cop_007_cop_020_cop_037_subagents_are_pills_until_they_end() {
    let mut home = Home::new("subagents");
    let begin =
        prompt(NOW - 60.0, "Go") + &["a", "b", "c"].map(|id| agent("subagent.started", NOW - 50.0, id)).concat();
    let path = home.events("s", &begin, NOW - 5.0);
    let row = one(&mut home.reader, NOW);
    assert_eq!((names(&row), row.state_detail.as_deref()), (vec!["a", "b", "c"], Some("running 3 subagents")));
    append(&path, agent("subagent.failed", NOW - 5.0, "b"), NOW - 5.0);
    assert_eq!(names(&one(&mut home.reader, NOW)), ["a", "c"]);
    append(&path, event("subagent.completed", NOW - 5.0, json!({})), NOW - 5.0);
    assert_eq!(names(&one(&mut home.reader, NOW)), ["c"], "an end of nobody known ends the oldest");
    assert_eq!(names(&one(&mut home.reader, NOW + 300.0)), [""; 0], "an idle row has none");
    append(&path, asked(NOW - 4.0, "r", "url"), NOW - 4.0);
    let row = one(&mut home.reader, NOW + 300.0);
    assert_eq!((row.state, names(&row)), (State::NeedsInput, vec!["c"]), "a wait shows who runs beside it");
}
