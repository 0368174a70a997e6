//! A home with a store of every harness, made of the samples under `fixtures`, and beside each store whatever its reader
//! must never open (TRUST-026).

use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// What stands in every file that must never be opened.
pub const TRIPWIRE: &str = "TRIPWIRE-7f3a";
/// The window that takes the samples in, whenever the test runs.
pub const WINDOW: &str = "--window-hours=1000000";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join(name)).unwrap()
}

fn text(name: &str) -> String {
    String::from_utf8(sample(name)).unwrap()
}

fn put(path: PathBuf, bytes: impl AsRef<[u8]>) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Copies a folder and everything below it.
pub fn copy_tree(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_tree(&path, &target);
        } else {
            put(target, std::fs::read(&path).unwrap());
        }
    }
}

/// A database as its owner leaves it, closed.
fn database(path: PathBuf, sql: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn cursor(chat: &Path) {
    let id = |blob: &[u8]| hex(&Sha256::digest(blob));
    let message = sample("cursor/2026.08.11/message.json");
    let root = [b"\x0a\x20".as_slice(), &Sha256::digest(&message)].concat();
    std::fs::create_dir_all(chat).unwrap();
    let store = Connection::open(chat.join("store.db")).unwrap();
    store.execute_batch(&text("cursor/2026.08.11/schema.sql")).unwrap();
    let payload = text("cursor/2026.08.11/payload.json").replace("@ROOT@", &id(&root));
    store.execute("INSERT INTO meta VALUES ('0', ?1)", [hex(payload.as_bytes())]).unwrap();
    for blob in [message, root, sample("cursor/2026.08.11/carrier-open.bin")] {
        store.execute("INSERT OR REPLACE INTO blobs VALUES (?1, ?2)", (id(&blob), blob)).unwrap();
    }
    drop(store);
    put(chat.join("meta.json"), text("cursor/2026.08.11/meta.json").replace("@CWD@", "/home/me/src/atlas"));
}

/// Plants every harness's store in a home.
pub fn plant(home: &Path) {
    for version in ["1.0.60", "2.1.260"] {
        copy_tree(&fixtures().join("claude").join(version), &home.join(".claude"));
    }
    for version in ["0.98.0", "0.137.0", "0.154.0"] {
        copy_tree(&fixtures().join("codex").join(version), &home.join(".codex/sessions"));
    }
    copy_tree(&fixtures().join("pi/v3"), &home.join(".pi/agent/sessions/--home-me-src-atlas--"));
    for version in ["0.38", "0.53.1"] {
        copy_tree(&fixtures().join("gemini").join(version), &home.join(".gemini/tmp/atlas/chats"));
    }
    let agy = home.join(".gemini/antigravity-cli");
    database(agy.join("conversations/11111111-1111-1111-1111-111111111111.db"), &text("antigravity/1.2.11/root.sql"));
    database(agy.join("conversations/22222222-2222-2222-2222-222222222222.db"), &text("antigravity/1.2.11/child.sql"));
    put(agy.join("log/cli-1.log"), sample("antigravity/1.2.11/cli-1.log"));
    put(agy.join("cache/last_conversations.json"), sample("antigravity/1.2.11/last_conversations.json"));
    let copilot = home.join(".copilot");
    let session = copilot.join("session-state/cb3dfc76-2f57-4d5c-8a4c-3b2b7a4f1c01");
    put(session.join("events.jsonl"), sample("copilot/1.0.78/events.jsonl"));
    database(copilot.join("session-store.db"), &text("copilot/1.0.78/ledger.sql"));
    database(home.join(".local/share/opencode/opencode.db"), &text("opencode/1.18.30/store.sql"));
    database(home.join(".local/share/goose/sessions/sessions.db"), &text("goose/1.47.0/store.sql"));
    cursor(&home.join(".cursor/chats/ws1/5c868fe4-340b-4d4e-a4b5-9540074b612f"));
    copy_tree(&fixtures().join("droid/0.202.0"), &home.join(".factory/sessions/-home-me-src-atlas"));
    copy_tree(&fixtures().join("droid/projects"), &home.join(".factory/projects/atlas"));
}

/// Files and folders that no reader may open, below a home planted by [`plant`]; every one holds [`TRIPWIRE`].
pub fn plant_forbidden(home: &Path) -> Vec<PathBuf> {
    let claude = ".claude/projects/-home-me-acme-shop/27d10654-0000-4000-8000-000000000000";
    let droid = ".factory/sessions/-home-me-src-atlas";
    let mut names: Vec<String> = Vec::new();
    let mut below = |root: &str, list: &[&str]| names.extend(list.iter().map(|name| format!("{root}/{name}")));
    below(
        ".claude",
        &[
            ".credentials.json",
            "settings.json",
            "settings.local.json",
            "history.jsonl",
            "statsig/a.json",
            "shell-snapshots/a.sh",
            "todos/a.json",
            "plugins/config.json",
            "ide/1.lock",
            "debug/a.txt",
            "file-history/a",
        ],
    );
    below(claude, &["tool-results/a.txt", "a.lock", "subagents/tool-results/b.txt"]);
    below(".claude/tasks/27d10654-0000-4000-8000-000000000000", &[".lock"]);
    for root in [".codex", ".codex/sessions", ".codex/sessions/2026/09/20"] {
        below(
            root,
            &[
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
                "state.sqlite",
                "logs.db",
                "log/a",
                "memories/a",
                "archived_sessions/rollout-2026-05-01T09-00-00-019dddd0-2222-7000-8000-0000000000cc.jsonl",
                "shell_snapshots/a",
                "plugins/a",
                "skills/a",
                "rules/a",
                "prompts/a",
                "sqlite/a",
                "tmp/a",
                "cache/a",
                "packages/a",
            ],
        );
    }
    below(".pi/agent", &["auth.json", "models.json", "extensions/a", "skills/a", "prompts/a", "themes/a"]);
    below(
        ".pi/agent/sessions",
        &["settings.json", "auth.json", "models.json", "fork.db", "fork.sqlite", "extensions/a.jsonl"],
    );
    below(".gemini", &["oauth_creds.json", "google_accounts.json", "settings.json", "installation_id"]);
    below(
        ".gemini/tmp/atlas",
        &["logs.json", "checkpoints/a.json", "tool-outputs/a.txt", "oauth_creds.json", "settings.json"],
    );
    below(
        ".gemini/antigravity-cli",
        &[
            "brain/a.db",
            "implicit/a",
            "knowledge/a",
            "browser_recordings/a",
            "oauth_creds.json",
            "installation_id",
            "settings.json",
            "mcp_config.json",
        ],
    );
    below(
        ".copilot",
        &["config.json", "settings.json", "mcp-config.json", "permissions-config.json", "logs/a.log", "workspace.yaml"],
    );
    below(
        ".copilot/session-state/cb3dfc76-2f57-4d5c-8a4c-3b2b7a4f1c01",
        &["workspace.yaml", "checkpoints/a.json", "files/a"],
    );
    below(
        ".local/share/opencode",
        &[
            "auth.json",
            "account.json",
            "account-1.json",
            "mcp-auth.json",
            "log/a",
            "snapshot/a",
            "repos/a",
            "tool-output/a",
            "storage/a",
            "bin/a",
            "project/a",
        ],
    );
    below(".config/opencode", &["opencode.json"]);
    below(".cursor", &["projects/a/agent-transcripts/a.txt", "cli-config.json", "mcp-auth.json", "ide_state.json"]);
    below(".cursor/chats/ws1", &["agent-transcripts/a.txt"]);
    below(".config/goose", &["config.yaml", "secrets.yaml"]);
    below(".local/share/goose/sessions", &["sessions.db.bak", "20260920_1.jsonl"]);
    below(".local/state/goose", &["logs/a"]);
    below(
        ".factory",
        &[
            "settings.json",
            "config.json",
            "mcp.json",
            "history.json",
            "auth.v2.file",
            "auth.v2.key",
            "logs/a",
            "droids/a.md",
            "hooks.json",
            "a.lock",
            "a.bak",
        ],
    );
    below(
        droid,
        &[
            "68abe758-1c58-4c0e-9a41-2f7e5d7d7a10.settings.json",
            "a.lock",
            "a.jsonl.bak",
            "settings.json",
            "logs/a.jsonl",
        ],
    );
    names.into_iter().map(|name| put(home.join(name), TRIPWIRE)).collect()
}
