//! What the steps and generations of one conversation say: turns, rate, action, model.

use super::*;

/// AGY-010, AGY-040: the newest 400.
#[test]
fn agy_010_agy_040_only_the_newest_400_steps_are_read() {
    let mut scene = Scene::new("many");
    let mut list = vec![(14, step(NOW - 600.0, 0, ""))];
    list.extend((0..500).map(|n| (15, step(NOW - 500.0 + f64::from(n), 1, ""))));
    scene.store("s", &steps(&list), 5.0);
    let rows = scene.rows(false);
    assert_eq!((row(&rows, "s").rate_per_min, &row(&rows, "s").turn), (Some(40), &None));
}

/// AGY-009, AGY-010, AGY-011, AGY-041: turns, rate and action.
#[test]
fn agy_010_agy_011_agy_041_turns_rate_and_action() {
    let mut scene = Scene::new("steps");
    let list = [
        (14, step(NOW - 400.0, 0, "")),
        (15, step(NOW - 350.0, 200, "Before")),
        (15, step(NOW - 300.0, 300, "")),
        (14, step(NOW - 60.0, 0, "")),
        (15, step(NOW - 50.0, 600, "Reading")),
        (21, step(NOW - 40.0, 9000, "Running tests")),
        (15, step(NOW - 30.0, 400, "")),
    ];
    scene.store("s", &steps(&list), 5.0);
    scene.store("q", &steps(&list[..4]), 5.0);
    let rows = scene.rows(false);
    let s = row(&rows, "s");
    assert_eq!((s.rate_per_min, s.state_detail.as_deref()), (Some(150), Some("Running tests")));
    assert_eq!((s.evidence.turn_start, &s.evidence.turn_durations), (Some(NOW - 60.0), &vec![100.0]));
    assert_eq!(s.turn.as_ref().and_then(|turn| turn.eta_h.as_deref()), Some("40s"));
    let q = row(&rows, "q");
    assert_eq!(q.state_detail.as_deref(), Some("generating…"), "a prompt resets what was being done");
    // The same store, quiet: no turn, and the rate dies away with the clock alone.
    let later = scene.at(NOW + 560.0, false).rows;
    let s = row(&later, "s");
    assert_eq!((s.state, &s.turn, s.rate_per_min), (State::Idle, &None, Some(40)));
}

/// AGY-007, AGY-039: a malformed step is skipped alone.
#[test]
fn agy_039_a_malformed_step_is_skipped_alone() {
    let mut scene = Scene::new("malformed");
    let mut sql = steps(&[(14, step(NOW - 60.0, 0, "")), (15, step(NOW - 30.0, 500, ""))]);
    for (n, cell) in
        ["NULL", "'text'", "7", "X'0aff'", "X'0b01'", "X'0001'", "X''", "zeroblob(200000)"].into_iter().enumerate()
    {
        sql += &format!("INSERT INTO steps VALUES ({}, 15, {cell});", n + 10);
    }
    // Times no clock has, one of them ahead, one of 70 bits; a negative token count.
    sql += &format!("INSERT INTO steps VALUES (30, 15, X'{}');", hex(&step(NOW + 86_400.0, 9000, "")));
    let odd = [bytes(1, b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), bytes(9, [varint(24), varint(9)].concat())];
    sql += &format!("INSERT INTO steps VALUES (31, 15, X'{}');", hex(&odd.concat()));
    sql += &format!("INSERT INTO steps VALUES (32, '15', X'{}');", hex(&step(NOW - 20.0, u64::MAX, "")));
    scene.store("s", &sql, 5.0);
    let rows = scene.rows(false);
    let s = row(&rows, "s");
    assert_eq!((s.rate_per_min, s.turn.is_some()), (Some(50), true));
    assert_eq!(s.degrades.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::SchemaUnknown, Code::ReadInPart]);
}

/// AGY-012, AGY-013: no older generation stands in, and none is no gap.
#[test]
fn agy_012_agy_013_the_newest_generation_alone_names_the_model() {
    let mut scene = Scene::new("model");
    let generation = |name: &str| bytes(1, [bytes(1, "MARK".repeat(50_000)), bytes(21, name)].concat());
    let table = "CREATE TABLE gen_metadata (idx INTEGER PRIMARY KEY, data BLOB);";
    let cell = |n: usize, name: &str| format!("INSERT INTO gen_metadata VALUES ({n}, X'{}');", hex(&generation(name)));
    let base = steps(&[]) + &trajectory(b"") + table;
    scene.store("long", &(base.clone() + &cell(1, "Older") + &cell(2, "Newest")), 5.0);
    scene.store("hidden", &(base.clone() + &cell(1, "Older") + &cell(2, &"N".repeat(62))), 5.0);
    scene.store("empty", &base, 5.0);
    scene.store("null", &(base.clone() + "INSERT INTO gen_metadata VALUES (1, NULL);"), 5.0);
    scene.store("text", &(base.clone() + "INSERT INTO gen_metadata VALUES (1, 'text');"), 5.0);
    scene.store("none", &(steps(&[]) + &trajectory(b"")), 5.0);
    let rows = scene.rows(false);
    let model = |sid| row(&rows, sid).model.as_deref();
    assert_eq!(model("long"), Some("Newest"));
    for sid in ["hidden", "empty", "null", "text", "none"] {
        assert_eq!((model(sid), row(&rows, sid).source_gaps.len()), (None, 0), "{sid}");
    }
}
