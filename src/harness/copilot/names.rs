//! Which names of the store are read (COP-002) and which never (COP-005), in this one place.

use crate::harness::tree::Take;
use std::ffi::OsStr;

/// Directory of the sessions, and the one that older builds used.
pub const SESSIONS: [&str; 2] = ["session-state", "history-session-state"];
/// A session's events.
pub const EVENTS: &str = "events.jsonl";
/// The billing ledger, below the root.
pub const LEDGER: &str = "session-store.db";

/// Names that are never opened, listed or looked at, wherever they stand: configuration, logs, and what sessions keep
/// beside their events.
pub const NEVER: [&str; 8] = [
    "config.json",
    "settings.json",
    "mcp-config.json",
    "permissions-config.json",
    "logs",
    "workspace.yaml",
    "checkpoints",
    "files",
];

/// Judges a name of the store before its path is joined.
pub fn judge(parents: &[&OsStr], name: &OsStr) -> Take {
    let Some(name) = name.to_str().filter(|name| !NEVER.contains(name)) else { return Take::Skip };
    match parents {
        [] if SESSIONS.contains(&name) => Take::Enter,
        [_] => Take::Only(&[EVENTS]),
        [_, _] if name == EVENTS => Take::File,
        _ => Take::Skip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::testkit::judged;

    fn takes(path: &str) -> Take {
        judged(judge, path)
    }

    /// COP-002, COP-005: names are judged first.
    #[test]
    fn cop_002_cop_005_names_are_judged_before_anything_is_touched() {
        assert_eq!(takes("session-state/a/events.jsonl"), Take::File);
        assert_eq!(takes("history-session-state/a/events.jsonl"), Take::File);
        assert_eq!((takes("session-state"), takes("session-state/a")), (Take::Enter, Take::Only(&[EVENTS])));
        for name in NEVER {
            for path in [name.to_owned(), format!("session-state/{name}"), format!("session-state/a/{name}")] {
                assert_eq!(takes(&path), Take::Skip, "{path}");
            }
        }
        for path in ["other", "events.jsonl", "session-state/a/other.jsonl", "session-state/a/b/events.jsonl"] {
            assert_eq!(takes(path), Take::Skip, "{path}");
        }
    }
}
