//! Which names of the store are read (AGY-002) and which never (AGY-004), in this one place.

use crate::harness::tree::Take;
use std::ffi::OsStr;

/// Directory of the conversations' databases.
pub const CONVERSATIONS: &str = "conversations";
/// Directory of [`LAST_CONVERSATIONS`].
pub const CACHE: &str = "cache";
/// The CLI's memory of the last conversation of each workspace.
pub const LAST_CONVERSATIONS: &str = "last_conversations.json";
/// Directory of the CLI's logs.
pub const LOGS: &str = "log";
/// Suffix of a conversation's database.
pub const DATABASE: &str = ".db";
/// Suffix of a database's write-ahead log.
pub const WAL: &str = ".db-wal";

/// Names below the root that are never opened, listed or looked at: credentials, configuration, and what was said.
/// Everything not asked for is passed over anyway; these are refused first, whatever else changes.
pub const NEVER: [&str; 8] = [
    "brain",
    "implicit",
    "knowledge",
    "browser_recordings",
    "oauth_creds.json",
    "installation_id",
    "settings.json",
    "mcp_config.json",
];

/// Judges a name of the store before its path is joined.
pub fn judge(parents: &[&OsStr], name: &OsStr) -> Take {
    let is_conversation = conversation(name).is_some();
    let Some(name) = name.to_str().filter(|name| !NEVER.contains(name)) else { return Take::Skip };
    let mut above = parents.iter().map(|parent| parent.to_str());
    match (above.next(), above.next()) {
        (None, None) if [CONVERSATIONS, CACHE, LOGS].contains(&name) => Take::Enter,
        (Some(Some(CONVERSATIONS)), None) if is_conversation || name.ends_with(WAL) => Take::File,
        (Some(Some(CACHE)), None) if name == LAST_CONVERSATIONS => Take::File,
        (Some(Some(LOGS)), None) if is_log(name) => Take::File,
        _ => Take::Skip,
    }
}

/// The conversation that a file of the conversations' directory is the database of (AGY-005).
pub fn conversation(name: &OsStr) -> Option<&str> {
    let sid = name.to_str()?.strip_suffix(DATABASE)?;
    (!sid.is_empty() && !sid.contains(char::is_control)).then_some(sid)
}

fn is_log(name: &str) -> bool {
    name.strip_prefix("cli-").and_then(|rest| rest.strip_suffix(".log")).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::testkit::judged;

    fn takes(path: &str) -> Take {
        judged(judge, path)
    }

    /// AGY-002, AGY-004, AGY-005: names are judged first.
    #[test]
    fn agy_002_agy_004_names_are_judged_before_anything_is_touched() {
        for path in ["conversations/a.db", "conversations/a.db-wal", "cache/last_conversations.json", "log/cli-1.log"] {
            assert_eq!(takes(path), Take::File, "{path}");
        }
        for name in NEVER {
            assert_eq!(takes(name), Take::Skip);
            assert_eq!(takes(&format!("cache/{name}")), Take::Skip);
        }
        for path in [
            "anything",
            "a.db",
            "conversations/.db",
            "conversations/a.db-shm",
            "conversations/a.pb",
            "log/other.log",
            "log/cli-1.txt",
            "cache/onboarding.json",
            "log/old/cli-1.log",
            "conversations/x/a.db",
            "conversations/a\n.db",
        ] {
            assert_eq!(takes(path), Take::Skip, "{path}");
        }
        assert_eq!(takes("conversations"), Take::Enter);
    }
}
