//! What the Codex reader may touch: one list, judged by name before a path is joined, looked at or entered (TRUST-026).
//!
//! Below `sessions` exactly three folders deep, rollouts and nothing else (CODEX-003, CODEX-006). The databases are left
//! alone by decision, since the rollouts are the source (CODEX-009); locks are never opened, even to test them.

use crate::harness::tree::Take;
use std::ffi::OsStr;

/// Names that are refused wherever they stand below the Codex home (CODEX-007).
pub(super) const NAMES: [&str; 24] = [
    "auth.json",
    "config.toml",
    "hooks.json",
    "history.jsonl",
    "session_index.jsonl",
    "installation_id",
    "version.json",
    "models_cache.json",
    ".credentials.json",
    ".env",
    ".coordination.lock",
    "log",
    "logs",
    "memories",
    "archived_sessions",
    "shell_snapshots",
    "plugins",
    "skills",
    "rules",
    "prompts",
    "sqlite",
    "tmp",
    "cache",
    "packages",
];

/// Endings of names that are refused: databases with their sidecars, and locks.
pub(super) const ENDINGS: [&str; 5] = [".sqlite", ".sqlite-wal", ".sqlite-shm", ".db", ".lock"];

/// Folders between `sessions` and a rollout: year, month, day.
const LEVELS: usize = 3;

/// How a rollout is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Plain,
    /// Compressed with zstd after a week of rest.
    Packed,
}

/// Whether a name is on the list. Case does not tell names apart on every file system, so it does not here.
pub fn refuses(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    NAMES.iter().any(|n| name.eq_ignore_ascii_case(n.as_bytes())) || ENDINGS.iter().any(|e| ends_with(name, e))
}

fn ends_with(name: &[u8], ending: &str) -> bool {
    name.len()
        .checked_sub(ending.len())
        .and_then(|at| name.get(at..))
        .is_some_and(|end| end.eq_ignore_ascii_case(ending.as_bytes()))
}

/// The form of a rollout by its name; `None` for any other name.
pub fn form(name: &OsStr) -> Option<Form> {
    let stem = name.as_encoded_bytes().strip_prefix(b"rollout-")?;
    if stem.ends_with(b".jsonl") { Some(Form::Plain) } else { stem.ends_with(b".jsonl.zst").then_some(Form::Packed) }
}

/// Judges a name below `sessions`.
pub fn judge(parents: &[&OsStr], name: &OsStr) -> Take {
    if refuses(name) {
        Take::Skip
    } else if parents.len() < LEVELS {
        if name.as_encoded_bytes().starts_with(b".") { Take::Skip } else { Take::Enter }
    } else if parents.len() == LEVELS && form(name).is_some() {
        Take::File
    } else {
        Take::Skip
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(depth: usize, name: &str) -> Take {
        judge(&[OsStr::new("x"); 8][..depth], OsStr::new(name))
    }

    /// CODEX-003, CODEX-007: only rollouts three folders down.
    #[test]
    fn codex_003_007_only_rollouts_three_folders_down() {
        assert_eq!(take(0, "2026"), Take::Enter);
        assert_eq!(take(2, "31"), Take::Enter);
        assert_eq!(take(3, "rollout-a.jsonl"), Take::File);
        assert_eq!(take(3, "rollout-a.jsonl.zst"), Take::File);
        for (depth, name) in [
            (0, "rollout-a.jsonl.lock"),
            (3, "rollout-a.json"),
            (3, "notes.jsonl"),
            (3, "rollout-a.jsonl.tmp"),
            (3, "04"),
            (4, "rollout-a.jsonl"),
            (0, ".git"),
            (0, "Archived_Sessions"),
            (1, "memories"),
            (3, "rollout-a.sqlite"),
            (3, "auth.json"),
            (3, "rollout-state.DB"),
        ] {
            assert_eq!(take(depth, name), Take::Skip, "{depth} {name}");
        }
    }

    /// CODEX-007, CODEX-009, CODEX-010, TRUST-026: the names stand in one list, and nothing here opens a database, starts
    /// a program or connects to one.
    #[test]
    fn codex_007_009_010_trust_026_the_names_stand_in_one_list() {
        let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/harness/codex");
        let mut folders = vec![here];
        let mut looked_at = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                if path.ends_with("never.rs") || path.to_string_lossy().contains("tests") {
                    continue;
                }
                looked_at += 1;
                let source = std::fs::read_to_string(&path).unwrap();
                for name in NAMES.iter().chain(&ENDINGS) {
                    assert!(!source.contains(&format!("\"{name}\"")), "{name} in {}", path.display());
                }
                for room in ["sqlite", "process", "loopback", "outbound", "listen", "write"] {
                    assert!(!source.contains(&format!("surface::{room}")), "{room} in {}", path.display());
                }
            }
        }
        assert!(looked_at > 5);
        assert!(NAMES.iter().all(|n| refuses(OsStr::new(n))));
    }
}
