//! `--diagnose`: where each store was searched for, what stands there, and what one full collection made of it
//! (DIAG-001 to DIAG-008).
//!
//! It runs the readers once, over everything, with no lane: nothing is written, sent or started, and a broken store is
//! a line of the report, never a failure of the command.

mod report;
mod stores;

use super::{Context, OK, say};
use crate::board::{Variant, assemble};
use crate::config::{ERROR_TEXT_CAP_CHARS, STATE_READ_CAP_BYTES};
use crate::live::scan::{Make, Scanner};
use crate::model::Key;
use crate::roots::RELOCATION;
use crate::surface::sqlite;
use crate::surface::watch::Watch;
use report::{Harness, Report, Sqlite, Tripwires};
use serde_json::Value;
use std::fmt::Display;

/// Most bytes of the stage-condition store that are read (TRIP-011).
const TRIPWIRES_READ_CAP_BYTES: usize = 4 * STATE_READ_CAP_BYTES;

/// Prints the report over these readers, as text or as JSON; always success.
pub(super) fn diagnose(context: &Context, readers: Vec<(Key, Make)>) -> u8 {
    let report = collect(context, readers);
    if context.settings.json {
        say::print(&report.json());
    } else {
        say::print(&report.text());
        say::complain(
            "Cargento: this report names your home, your paths and parts of read errors; look it over before sharing it\n",
        );
    }
    OK
}

/// The one place that knows how sessions are read.
fn collect(context: &Context, readers: Vec<(Key, Make)>) -> Report {
    let window_hours = context.settings.window_hours;
    let variant = Variant { now: context.started, window_hours, all: true };
    let found = Scanner::new(readers, Watch::off()).pass(variant.now, context.settings.window_sec(), true);
    let board = assemble(found.source, variant, &[], &[], &|_| ());
    let sessions = |key: Key| board.rows.iter().filter(|row| row.seen.harness == key).count();
    let harnesses =
        board.top.harnesses.iter().map(|status| Harness::new(status.clone(), sessions(status.key))).collect();
    Report {
        platform: context.env.platform().as_str(),
        version: env!("CARGO_PKG_VERSION"),
        executable: context.executable.to_string_lossy().into_owned(),
        home: context.env.home().to_string_lossy().into_owned(),
        sqlite: Sqlite { available: true, error: None, version: sqlite::version() },
        overrides: overrides(context),
        store_errors: found.store_errors,
        stores: context.roots.iter().map(stores::inspect).collect(),
        harnesses,
        tripwires: tripwires(context),
    }
}

/// The relocation variables that are set.
fn overrides(context: &Context) -> Vec<(String, String)> {
    let set = |name: &&str| Some(((*name).to_owned(), context.env.get(name)?.to_string_lossy().into_owned()));
    RELOCATION.iter().filter_map(set).collect()
}

/// The stage-condition store's path and whether it can be read (DIAG-003). Nothing is evaluated, and a run that may not
/// read the store does not.
fn tripwires(context: &Context) -> Tripwires {
    const NAME: &str = "cargento-tripwires.json";
    let error = if context.settings.no_tripwires {
        None
    } else {
        match context.place.read(NAME, TRIPWIRES_READ_CAP_BYTES) {
            Ok(None) => None,
            Ok(Some(bytes)) => match serde_json::from_slice::<Value>(&bytes) {
                Ok(document) if is_rule_store(&document) => None,
                Ok(_) => Some("not a store of stage conditions".to_owned()),
                Err(error) => Some(excerpt(&error)),
            },
            Err(error) => Some(excerpt(&error)),
        }
    };
    Tripwires { path: context.place.path(NAME).to_string_lossy().into_owned(), error }
}

fn is_rule_store(document: &Value) -> bool {
    document.get("v").and_then(Value::as_u64) == Some(1) && document.get("rules").is_some_and(Value::is_array)
}

/// An error's text as a report may hold it: redacted, then bounded with a visible mark.
fn excerpt(error: &dyn Display) -> String {
    const MARK: &str = "... [truncated]";
    let text = error.to_string();
    let text = crate::text::redact(&text);
    if text.chars().count() <= ERROR_TEXT_CAP_CHARS {
        return text.into_owned();
    }
    text.chars().take(ERROR_TEXT_CAP_CHARS - MARK.len()).chain(MARK.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Env, Platform};
    use crate::harness::{Collected, Collector, Pass};
    use crate::settings::{Settings, typed};
    use crate::surface::write::Temporary;

    fn scratch() -> Temporary {
        Temporary::create(&std::env::temp_dir(), "cargento-diagnose-test").unwrap()
    }

    fn context(home: &Temporary, args: &[&str]) -> Context {
        let root = home.place().root().to_str().unwrap();
        let vars = [("HOME", root), ("CODEX_HOME", "/data/codex"), ("COPILOT_HOME", " ")];
        let env = Env::of(Platform::Linux, vars);
        Context::new(Settings::of(&typed(args.iter().map(Into::into)).unwrap()).unwrap(), env).unwrap()
    }

    struct Broken;
    impl Collector for Broken {
        fn key(&self) -> Key {
            Key::Goose
        }
        fn discovered(&mut self) -> bool {
            true
        }
        fn collect(&mut self, pass: &Pass<'_>) -> Result<Collected, String> {
            assert!(pass.all, "every session is asked for");
            Err(format!("DatabaseError: key {} near\nline two", "sk-ant-api03-".to_owned() + &"a".repeat(40)))
        }
    }

    /// DIAG-005, DIAG-008.
    #[test]
    fn diag_005_and_008_a_broken_store_is_a_line_and_its_error_is_redacted() {
        let home = scratch();
        let readers: Vec<(Key, Make)> = vec![(Key::Goose, Box::new(|| Box::new(Broken)))];
        let report = collect(&context(&home, &[]), readers);
        assert_eq!(report.harnesses.len(), 10);
        let text = report.text();
        assert!(text.contains("DatabaseError: key") && !text.contains("sk-ant-api03-aaaa"), "{text}");
        let json: Value = serde_json::from_str(&report.json()).unwrap();
        let goose = &json["harnesses"][8];
        assert_eq!((goose["key"].as_str(), goose["discovered"].as_bool()), (Some("goose"), Some(true)));
        assert!(goose["error"].as_str().unwrap().starts_with("DatabaseError") && goose["sessions"] == 0);
    }

    /// DIAG-002.
    #[test]
    fn diag_002_only_set_overrides_are_published() {
        let home = scratch();
        let report = collect(&context(&home, &[]), Vec::new());
        assert_eq!(report.overrides, [("CODEX_HOME".to_owned(), "/data/codex".to_owned())]);
        assert!(report.text().contains("overrides: CODEX_HOME=/data/codex\n"));
    }

    /// DIAG-003.
    #[test]
    fn diag_003_the_stage_condition_store() {
        let home = scratch();
        let state = home.place().path(".cargento");
        let error = |args: &[&str]| collect(&context(&home, args), Vec::new()).tripwires.error;
        assert_eq!(error(&[]), None);
        assert!(!state.exists(), "a look makes nothing");
        let place = crate::surface::write::Place::state(&state);
        for (bytes, bad) in [
            (&b"{broken"[..], true),
            (b"[]", true),
            (br#"{"v":2,"rules":[]}"#, true),
            (br#"{"v":1,"rules":[]}"#, false),
        ] {
            place.replace("cargento-tripwires.json", bytes).unwrap();
            assert_eq!(error(&[]).is_some(), bad, "{}", String::from_utf8_lossy(bytes));
            assert_eq!(error(&["--no-tripwires"]), None);
        }
    }

    /// DIAG-002.
    #[test]
    fn diag_002_long_errors_are_marked() {
        let text = excerpt(&"x".repeat(2000));
        assert_eq!(text.chars().count(), ERROR_TEXT_CAP_CHARS);
        assert!(text.ends_with("x... [truncated]"));
    }
}
