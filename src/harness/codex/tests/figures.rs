//! Tokens, model, turn, quota.

use super::*;
use crate::harness::codex::Window;
use serde_json::json;

/// CODEX-032, CODEX-033, FIELD-028: the rate.
#[test]
fn codex_032_033_field_028_the_rate() {
    for (records, want) in [
        (vec![tokens(NOW - 5.0, 5, 5)], 0),
        (vec![tokens(NOW - 5.0, 15, 15)], 2),
        (vec![tokens(NOW - 700.0, 5000, 5000), tokens(NOW - 5.0, 100, 5100)], 10),
        (vec![tokens(NOW + DAY, 5000, 5000), tokens(NOW - 5.0, 100, 5100)], 10),
        // The same figures again are no new response.
        (
            vec![
                tokens(NOW - 9.0, 100, 100),
                tokens(NOW - 8.0, 100, 100),
                tokens(NOW - 7.0, 100, 100),
                tokens(NOW - 6.0, 30, 130),
            ],
            13,
        ),
        (
            vec![
                event("token_count", NOW - 5.0, &json!({"info": {"last_token_usage": {"output_tokens": 50}}})),
                event("token_count", NOW - 4.0, &json!({"info": {"last_token_usage": {"output_tokens": 50}}})),
            ],
            10,
        ),
        (
            vec![
                event("token_count", NOW - 5.0, &json!({"info": null})),
                event("token_count", NOW - 5.0, &json!({"info": {"last_token_usage": {"output_tokens": "900"}}})),
                event("token_count", NOW - 5.0, &json!({"info": {"last_token_usage": {"output_tokens": true}}})),
                event("token_count", NOW - 5.0, &json!({"info": {"last_token_usage": []}})),
                json!({"timestamp": 7, "type": "event_msg", "payload": {"type": "token_count", "info": {"last_token_usage": {"output_tokens": 900}}}}),
                tokens(NOW - 2.0, 70, 70),
            ],
            7,
        ),
    ] {
        let mut store = Store::new();
        store.rollout(ROOT, &json!({}), &records, NOW);
        assert_eq!(store.row().rate_per_min, Some(want), "{records:?}");
    }
}

/// CODEX-034: the last model that is a name.
#[test]
fn codex_034_the_last_model_that_is_a_name() {
    let mut store = Store::new();
    let records = [
        model(NOW - 9.0, "alpha"),
        model(NOW - 8.0, "  beta\n"),
        record("turn_context", NOW - 7.0, json!({"model": 7})),
        record("turn_context", NOW - 6.0, json!({"model": "  "})),
        record("turn_context", NOW - 5.0, json!({})),
    ];
    store.rollout(ROOT, &json!({}), &records, NOW);
    assert_eq!(store.row().model.as_deref(), Some("beta"));
}

/// CODEX-035, TURN-004: starts, ends and silences.
#[test]
fn codex_035_turn_004_starts_ends_and_silences() {
    let mut store = Store::new();
    let records = [
        event("task_started", NOW - 900.0, &json!({"started_at": (NOW - 905.0) * 1000.0})),
        complete(NOW - 800.0),
        started(NOW - 700.0),
        event("turn_aborted", NOW - 650.0, &json!({})),
        said(NOW - 640.0, "A prompt is no signal here"),
        started(NOW - 60.0),
        padding(NOW - 1.0, 10),
    ];
    let path = store.rollout(ROOT, &json!({}), &records, NOW);
    let row = store.row();
    assert_eq!(
        (row.evidence.turn_start, row.evidence.turn_durations.as_slice()),
        (Some(NOW - 60.0), &[105.0, 50.0][..])
    );
    let turn = row.turn.unwrap();
    assert_eq!((turn.elapsed_h.as_str(), turn.eta_h.as_deref(), turn.pct), ("1m", Some("45s"), Some(57)));
    assert_eq!(row.evidence.recorded_stop, None);
    append(&path, lines(&[complete(NOW)]).as_bytes(), NOW);
    let row = store.row();
    assert_eq!((row.turn, row.evidence.recorded_stop), (None, Some(NOW)));
    assert_eq!(row.looping, None);
}

/// CODEX-036, CODEX-061: the quota figures.
#[test]
fn codex_036_061_the_quota_figures() {
    let read = |limits: &[Value]| {
        let mut store = Store::new();
        let records: Vec<Value> = limits
            .iter()
            .enumerate()
            .map(|(n, l)| event("token_count", NOW - 50.0 + n as f64, &json!({"info": null, "rate_limits": l})))
            .collect();
        store.rollout(ROOT, &json!({}), &records, NOW);
        store.collect();
        store.reader.usage(NOW, DAY)
    };
    let window = |used: Value, minutes: i64, resets: i64| json!({"used_percent": used, "window_minutes": minutes, "resets_at": resets});
    let usage = read(&[
        json!({"primary": window(json!(99), 300, 1)}),
        json!({"primary": window(json!(12.5), 300, 1_790_003_600), "secondary": window(json!(141.0), 10_080, 0)}),
        json!(null),
        json!({}),
        json!("none"),
    ])
    .unwrap();
    assert_eq!(usage.as_of, NOW - 49.0);
    assert_eq!(usage.five_hour, Some(Window { pct: 12, window_sec: Some(18_000), resets_at: Some(1_790_003_600.0) }));
    assert_eq!(usage.week, Some(Window { pct: 100, window_sec: Some(604_800), resets_at: None }));
    let usage = read(&[json!({"primary": window(json!(40), 10_080, 1), "secondary": null})]).unwrap();
    assert_eq!((usage.five_hour, usage.week.unwrap().pct), (None, 40));
    let usage = read(&[json!({"primary": window(json!(11), 300, 1), "secondary": window(json!(22), 60, 1)})]).unwrap();
    assert_eq!((usage.five_hour.unwrap().pct, usage.week), (11, None));
    let usage =
        read(&[json!({"primary": window(json!(-3), 1439, 1), "secondary": window(json!(0.5), 1440, 1)})]).unwrap();
    assert_eq!((usage.five_hour.unwrap().pct, usage.week.unwrap().pct), (0, 0));
    for bad in [json!(true), json!("50"), json!(null), json!([]), json!({})] {
        let usage = read(&[json!({"primary": window(bad.clone(), 300, 1), "secondary": window(json!(33), 10_080, 1)})])
            .unwrap();
        assert_eq!((usage.five_hour, usage.week.unwrap().pct), (None, 33), "{bad}");
        assert_eq!(read(&[json!({"primary": window(bad, 300, 1)})]), None);
    }
    assert_eq!(read(&[json!("none"), json!(null), json!([1]), json!({})]), None);
}

/// CODEX-036: the newest snapshot of the eight rollouts written last.
#[test]
fn codex_036_the_newest_snapshot_of_the_eight_rollouts_written_last() {
    let mut store = Store::new();
    let limits = |at: f64, used: i64| {
        event("token_count", at, &json!({"rate_limits": {"primary": {"used_percent": used, "window_minutes": 300}}}))
    };
    for n in 0..9 {
        store.rollout(
            &format!("s{n}"),
            &json!({}),
            &[limits(NOW - f64::from(n) - 100.0, i64::from(n))],
            NOW - 100.0 * f64::from(n),
        );
    }
    // The ninth has the newest stamp and is not looked at; a child is.
    store.rollout("s8", &json!({}), &[limits(NOW, 88)], NOW - 900.0);
    store.collect();
    assert_eq!(store.reader.usage(NOW, DAY).unwrap().five_hour.unwrap().pct, 0);
    store.child("kid", "nobody", &json!({}), &[limits(NOW - 10.0, 77), limits(NOW + DAY, 66)], NOW - 5.0);
    store.child("kid2", "nobody", &json!({}), &[limits(NOW - 20.0, 55)], NOW - 4.0);
    store.collect();
    assert_eq!(store.reader.usage(NOW, DAY).unwrap().five_hour.unwrap().pct, 77);
    assert_eq!(store.reader.usage(NOW + DAY, DAY - 60.0), None);
}
