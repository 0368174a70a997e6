//! What a pass costs. Not run by default: they need a release build
//! (`cargo test --release --lib codex::tests::scale -- --ignored --nocapture`).

use super::*;
use std::time::Instant;

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn timed(reader: &mut Codex, watch: &Watch, now: f64, what: &str, (all, sweep): (bool, bool)) {
    let dirty = watch.take();
    let pass = Pass { now, window: DAY, all, dirty: &dirty, sweep, watch };
    let start = Instant::now();
    let found = reader.collect(&pass).unwrap();
    let took = start.elapsed().as_secs_f64() * 1000.0;
    let (rows, errors) = (found.rows.len(), found.store_errors.len());
    println!("{what:12} {took:8.2} ms, {rows} rows, {errors} errors, {} KiB resident", resident_kib());
}

/// A home named by `CARGENTO_SCALE_HOME`, written for measuring.
#[test]
#[ignore = "needs a measuring home and a release build"]
fn cost_of_cold_and_warm_passes() {
    let home = PathBuf::from(std::env::var("CARGENTO_SCALE_HOME").expect("CARGENTO_SCALE_HOME"));
    let now = crate::model::time::system_clock()();
    for watch in [Watch::start(|| ()), Watch::off()] {
        let mut reader = Codex::new(home.join(".codex/sessions"), &home);
        for (what, how) in [
            ("cold", (false, false)),
            ("warm", (false, false)),
            ("warm", (false, false)),
            ("sweep", (false, true)),
            ("all, cold", (true, false)),
            ("all, warm", (true, false)),
            ("warm", (false, false)),
        ] {
            timed(&mut reader, &watch, now, what, how);
        }
    }
}

/// One rollout of a gigabyte in lines of 200 KB, of one endless turn, without anything that the walk looks for; then of
/// a few other kinds of line.
#[test]
#[ignore = "writes a gigabyte and needs a release build"]
fn cost_of_one_huge_rollout() {
    let output = item(
        "function_call_output",
        NOW - 100.0,
        &serde_json::json!({"output": "fn x(a: [u8; 4]) { \"b\" }\n".repeat(7000)}),
    );
    let turned = format!(
        "{{\"payload\":{},\"type\":\"response_item\",\"timestamp\":\"{}\"}}",
        serde_json::json!({"encrypted_content": "g".repeat(200_000), "type": "reasoning"}),
        iso(NOW - 100.0)
    );
    for (what, filler, bytes) in [
        ("reasoning", line(&padding(NOW - 100.0, 200_000)), 1_000_000_000),
        ("output", line(&output), 1_000_000_000),
        ("4 MB lines", line(&padding(NOW - 100.0, 4_000_000)), 300_000_000),
        ("small lines", line(&padding(NOW - 100.0, 300)), 300_000_000),
        ("turned", turned, 300_000_000),
    ] {
        let store = Store::new();
        let path = store.rollout(
            ROOT,
            &serde_json::json!({}),
            &[started(NOW - 200.0), said(NOW - 199.0, "Far away, but stated as work")],
            NOW,
        );
        let block = (filler + "\n").repeat(16);
        let mut written = 0;
        while written < bytes {
            append(&path, block.as_bytes(), NOW);
            written += block.len();
        }
        drop(block);
        println!("-- {what}, {} KiB resident", resident_kib());
        let watch = Watch::start(|| ());
        let mut reader = Codex::new(store.sessions(), &store.home);
        timed(&mut reader, &watch, NOW, "cold", (false, false));
        append(&path, lines(&[said(NOW, "One more thing to do for you")]).as_bytes(), NOW);
        std::thread::sleep(std::time::Duration::from_millis(50));
        timed(&mut reader, &watch, NOW, "grown", (false, false));
        for _ in 0..18 {
            timed(&mut reader, &watch, NOW, "unchanged", (false, false));
        }
    }
}
