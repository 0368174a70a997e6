//! What a pass costs. Not run by default: needs a home written for measuring, named by `CARGENTO_SCALE_HOME`, and a
//! release build (`cargo test --release --lib claude::tests::scale -- --ignored --nocapture`).

use super::super::*;
use crate::surface::watch::{Dirty, Watch};
use std::time::Instant;

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
}

#[test]
#[ignore = "needs a measuring home and a release build"]
fn cost_of_cold_and_warm_passes() {
    let home = std::path::PathBuf::from(std::env::var("CARGENTO_SCALE_HOME").expect("CARGENTO_SCALE_HOME"));
    let store = home.join(".claude");
    let roots =
        ClaudeRoots { projects: store.join("projects"), tasks: store.join("tasks"), teams: store.join("teams"), home };
    let now = crate::model::time::system_clock()();
    for watch in [Watch::start(|| ()), Watch::off()] {
        let before = resident_kib();
        let hooks = Arc::new(Hooks::new(roots.projects.clone()));
        let mut claude = Claude::new(roots.clone(), hooks, true);
        for (what, all, sweep) in [
            ("cold", false, false),
            ("warm", false, false),
            ("warm", false, false),
            ("sweep", false, true),
            ("all, cold", true, false),
            ("all, warm", true, false),
            ("warm", false, false),
        ] {
            let dirty = Dirty::default();
            let pass = Pass { now, window: 86_400.0, all, dirty: &dirty, sweep, watch: &watch };
            let start = Instant::now();
            let found = claude.collect(&pass).unwrap();
            let took = start.elapsed().as_secs_f64() * 1000.0;
            let rows = found.rows.len();
            println!(
                "{what:10} {took:8.2} ms, {rows} rows, {} errors, +{} KiB",
                found.store_errors.len(),
                resident_kib() - before
            );
        }
    }
}
