//! Rows put together: which, in what order, with which sums, and whatever a lane does.

use super::*;

fn seen(key: Key, sid: &str, project: &str, last: f64) -> Observed {
    let mut row = Observed::new(key, sid);
    row.project = project.into();
    row.last_activity = last;
    row
}

fn run(rows: Vec<Observed>) -> Assembled {
    let variant = Variant { now: 1000.0, window_hours: 24.0, all: false };
    let harnesses = Key::ALL.iter().map(|k| HarnessStatus::new(*k, true)).collect();
    assemble(Source { harnesses, rows, ..Source::default() }, variant, &[], &[], &|_| {})
}

/// PAYLOAD-007, PAYLOAD-013: states and rates of active rows, tasks of every row; a rate nobody measured adds nothing.
#[test]
fn payload_007_sums() {
    let mut rows = Vec::new();
    for (sid, state, last, rate, total, done) in [
        ("a", State::NeedsInput, 900.0, Some(7), 3, 1),
        ("b", State::Working, 900.0, Some(5), 0, 0),
        ("c", State::Working, 900.0, None, 0, 0),
        ("d", State::Idle, 900.0, Some(0), 0, 0),
        // Outside the window.
        ("e", State::Working, -90_000.0, Some(1000), 5, 4),
    ] {
        let mut row = seen(Key::Claude, sid, "p", last);
        (row.state, row.rate_per_min) = (state, rate);
        (row.total, row.done, row.open) = (total, done, total - done);
        rows.push(row);
    }
    let sum = run(rows).top.summary;
    let want = Summary {
        needs_input: 1,
        working: 2,
        active_sessions: 4,
        rate_per_min: 12,
        open_tasks: 3,
        total_tasks: 8,
        total_done: 5,
        progress_pct: 62,
    };
    assert_eq!(sum, want);
    assert_eq!(run(Vec::new()).top.summary, Summary::default());
}

/// ROW-002, ROW-003.
#[test]
fn row_003_display_ids_widen_only_where_they_collide() {
    let board = run(vec![
        seen(Key::Codex, "019fa752-aaaa-1", "a", 1.0),
        seen(Key::Codex, "019fa752-aaaa-2", "a", 1.0),
        seen(Key::Codex, "019fa752-bbbb", "b", 1.0),
        seen(Key::Codex, "short", "a", 1.0),
    ]);
    let shown: HashMap<_, _> = board.rows.iter().map(|r| (r.seen.sid.as_str(), r.session.as_str())).collect();
    assert_eq!(shown["019fa752-aaaa-1"], "019fa752-aaaa-1");
    assert_eq!(shown["019fa752-bbbb"], "019fa752");
    assert_eq!(shown["short"], "short");
}

/// ROW-004.
#[test]
fn row_004_one_row_an_id_the_most_active_one() {
    let board = run(vec![
        seen(Key::Claude, "a", "first", 5.0),
        seen(Key::Claude, "a", "tie", 5.0),
        seen(Key::Codex, "a", "other", 1.0),
        seen(Key::Codex, "a", "newer", 2.0),
    ]);
    let got: Vec<_> = board.rows.iter().map(|r| (r.seen.harness, r.seen.project.as_str())).collect();
    assert_eq!(got, [(Key::Claude, "first"), (Key::Codex, "newer")]);
}

/// PAYLOAD-008.
#[test]
fn payload_008_waits_first_the_longest_ahead_then_by_id() {
    let mut rows = Vec::new();
    for (sid, state, since, last) in [
        ("i", State::Idle, None, 999.0),
        ("w2", State::Working, None, 1.0),
        ("n2", State::NeedsInput, Some(50.0), 1.0),
        ("w1", State::Working, None, 999.0),
        ("n1", State::NeedsInput, None, 20.0),
    ] {
        let mut row = seen(Key::Claude, sid, "p", last);
        row.state = state;
        row.blocked_since = since;
        rows.push(row);
    }
    let board = run(rows);
    assert_eq!(board.rows.iter().map(|r| r.seen.sid.as_str()).collect::<Vec<_>>(), ["n1", "n2", "w1", "w2", "i"]);
    assert_eq!((board.top.summary.needs_input, board.top.summary.working), (2, 2));
}

/// ROW-062, ROW-080.
#[test]
fn row_062_row_080_unmeasured_rates_are_null_and_scan_only_is_said() {
    let board = run(vec![seen(Key::Droid, "d", "p", 1.0), seen(Key::Claude, "c", "p", 1.0)]);
    let of = |key| board.rows.iter().find(|r| r.seen.harness == key).unwrap();
    assert_eq!((of(Key::Droid).seen.rate_per_min, of(Key::Droid).acquisition), (None, Some("scan-only")));
    assert_eq!((of(Key::Claude).seen.rate_per_min, of(Key::Claude).acquisition), (Some(0), None));
}

/// ROW-020.
#[test]
fn row_020_every_row_carries_every_key() {
    let board = run(vec![seen(Key::Goose, "g", "p", 1.0)]);
    let body: Value = serde_json::from_slice(&board.body().unwrap()).unwrap();
    let row = body["sessions"][0].as_object().unwrap();
    for key in "session sid harness project project_key project_name project_identity_source provider model consumption title \
        last_prompt last_output instruction state state_detail active last_activity own_activity started_at finished_at ended_at \
        acquisition blocked_since dirty changed focusable rate_per_min session_output_tokens turn_output_tokens total done open \
        progress_pct eta_h turn loop resume_id subagents subagents_omitted subagent_hierarchy subagent_events tasks spacedock \
        source_gaps first_prompt first_prompt_at first_prompt_control prompt_at prompt_states_work wait_unconfirmed \
        command_reports cached_goal annotation_goal annotation_goal_why annotation_lines_why annotation_line_1 annotation_line_6 \
        annotation_line_6_source annotation_line_6_source_id annotation_output annotation_output_why annotation_revision \
        annotation_revision_count annotation_at annotation_goal_source annotation_goal_source_at annotation_goal_saved_at \
        annotation_window_start annotation_binding_why annotation_settled_at annotation_settled_through \
        annotation_settled_revision annotation_discarded_at annotation_discarded_why annotation_assessment \
        annotation_reading_count annotation_reading_withheld annotation_reading_refused delivery_outcome delivery_why \
        delivery_none_why delivery_mixed_why delivery_binding_why delivery_at delivery_raises delivery_mixed browser_lane \
        browser_lane_at browser_lane_why departures departure_why departure_checked degrades"
        .split_whitespace()
    {
        assert!(row.contains_key(key), "{key}");
    }
    for key in
        "generated window_hours rate_window_sec show_all cleared native_notify harnesses summary annotate unasked \
        observer_model irreversible_enabled ends_observable in_quiet_hours tripwires browser_lane browser_lane_at"
            .split_whitespace()
    {
        assert!(body.get(key).is_some(), "{key}");
    }
}

struct Broken;
impl Lane for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }
    fn overlay(&self, _: &mut [Row], _: Variant, _: &Sampled) {
        panic!("planted");
    }
}
struct Hides;
impl Lane for Hides {
    fn name(&self) -> &'static str {
        "hides"
    }
    fn subtracts(&self, row: &Row) -> bool {
        row.seen.sid == "b"
    }
}

/// TRUST-060.
#[test]
fn trust_060_a_lane_that_panics_costs_its_own_part_only() {
    let faults = std::cell::RefCell::new(Vec::new());
    let variant = Variant { now: 10.0, window_hours: 24.0, all: false };
    let source = Source {
        quotas: vec![],
        harnesses: vec![],
        rows: vec![seen(Key::Pi, "a", "p", 1.0), seen(Key::Pi, "b", "p", 1.0)],
    };
    let lanes: [Arc<dyn Lane>; 2] = [Arc::new(Broken), Arc::new(Hides)];
    let board = assemble(source, variant, &lanes, &[], &|name| faults.borrow_mut().push(name));
    assert_eq!((board.rows.len(), board.top.cleared, faults.into_inner()), (1, 1, vec!["broken"]));
}
