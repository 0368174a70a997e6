//! The SQLite stores of the demo: OpenCode, Cursor CLI, Goose, Antigravity CLI, with the tables their readers assert.

use super::cast;
use crate::model::time::iso;
use crate::surface::invent::{Cell, Statement, database};
use crate::surface::write::Place;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::io;

const OPENCODE: &str = ".local/share/opencode/opencode.db";
const GOOSE: &str = ".local/share/goose/sessions/sessions.db";

/// The databases of a playing demo.
pub struct Databases {
    antigravity: String,
}

impl Databases {
    /// Makes the four stores.
    pub fn open(home: &Place, now: f64) -> io::Result<Databases> {
        let antigravity = format!(".gemini/antigravity-cli/conversations/{}.db", cast::MAPS.0);
        opencode(home, now)?;
        goose(home, now)?;
        cursor(home)?;
        database(
            home,
            &antigravity,
            &[
                ("CREATE TABLE steps (idx INTEGER PRIMARY KEY, step_type INTEGER, metadata BLOB)", vec![]),
                ("CREATE TABLE trajectory_metadata_blob (id TEXT PRIMARY KEY, data BLOB)", vec![]),
                ("CREATE TABLE gen_metadata (idx INTEGER PRIMARY KEY, data BLOB)", vec![]),
                step(0, now - 95.0, 120, "Reading tile sources"),
                step(1, now - 30.0, 260, "Comparing projections"),
            ],
        )?;
        let known = json!({cast::MAPS.1: cast::MAPS.0}).to_string();
        home.replace(".gemini/antigravity-cli/cache/last_conversations.json", known.as_bytes())?;
        Ok(Databases { antigravity })
    }

    /// One of them writes something.
    pub fn step(&self, home: &Place, n: u64, now: f64) -> io::Result<()> {
        match n / 7 % 3 {
            0 => database(home, OPENCODE, &[opencode_message(n, now, "assistant"), opencode_touch(now)]),
            1 => database(home, GOOSE, &[goose_message(now, "assistant", "Four of nine partitions are backfilled.")]),
            _ => {
                database(home, &self.antigravity, &[step(n as i64 + 10, now, 140, "Measuring the seam between tiles")])
            }
        }
    }
}

fn text(value: impl Into<String>) -> Cell {
    Cell::Text(value.into())
}

fn millis(at: f64) -> Cell {
    Cell::Whole((at * 1000.0) as i64)
}

fn opencode(home: &Place, now: f64) -> io::Result<()> {
    let (id, cwd, title) = cast::DATA;
    database(
        home,
        OPENCODE,
        &[
            (
                "CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text NOT NULL, \
                 title text NOT NULL, version text, model text, time_created integer NOT NULL, time_updated integer NOT NULL, \
                 time_compacting integer, time_archived integer)",
                vec![],
            ),
            (
                "CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, \
                 time_updated integer NOT NULL, data text NOT NULL)",
                vec![],
            ),
            (
                "CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, \
                 time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL)",
                vec![],
            ),
            (
                "CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, time_created integer, \
                 time_updated integer, data text)",
                vec![],
            ),
            (
                "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) \
                 VALUES (?1, 'prj', 'calm-otter', ?2, ?3, '1.18.20', ?4, ?5)",
                vec![text(id), text(cwd), text(title), millis(now - 900.0), millis(now - 15.0)],
            ),
            opencode_message(1, now - 900.0, "user"),
            opencode_message(2, now - 15.0, "assistant"),
        ],
    )
}

fn opencode_message(n: u64, at: f64, role: &str) -> Statement {
    let data = json!({"role": role, "modelID": "claude-opus-5", "providerID": "anthropic"}).to_string();
    (
        "INSERT OR REPLACE INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
        vec![text(format!("msg_{n:06}")), text(cast::DATA.0), millis(at), text(data)],
    )
}

fn opencode_touch(at: f64) -> Statement {
    ("UPDATE session SET time_updated = ?1 WHERE id = ?2", vec![millis(at), text(cast::DATA.0)])
}

fn goose(home: &Place, now: f64) -> io::Result<()> {
    let (id, cwd, title) = cast::ETL;
    let sql_time = |at: f64| text(iso(at).replace('T', " ").chars().take(19).collect::<String>());
    database(
        home,
        GOOSE,
        &[
            (
                "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT NOT NULL DEFAULT '', user_set_name BOOLEAN \
                 DEFAULT FALSE, session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP, \
                 updated_at TIMESTAMP, parent_session_id TEXT, archived_at TIMESTAMP, provider_name TEXT, model_config_json TEXT)",
                vec![],
            ),
            (
                "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL, role TEXT \
                 NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP, tokens INTEGER, \
                 metadata_json TEXT)",
                vec![],
            ),
            (
                "CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, created_timestamp \
                 INTEGER NOT NULL, model TEXT, input_tokens INTEGER, output_tokens INTEGER)",
                vec![],
            ),
            (
                "INSERT INTO sessions (id, name, description, session_type, working_dir, created_at, updated_at) \
                 VALUES (?1, ?2, ?2, 'user', ?3, ?4, ?5)",
                vec![text(id), text(title), text(cwd), sql_time(now - 1200.0), sql_time(now - 25.0)],
            ),
            goose_message(now - 1200.0, "user", "Backfill the March events from the archive, one partition at a time."),
            goose_message(now - 25.0, "assistant", "Three of nine partitions are backfilled."),
        ],
    )
}

fn goose_message(at: f64, role: &str, words: &str) -> Statement {
    (
        "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?1, ?2, ?3, ?4)",
        vec![
            text(cast::ETL.0),
            text(role),
            text(json!([{"type": "text", "text": words}]).to_string()),
            Cell::Whole(at as i64),
        ],
    )
}

fn cursor(home: &Place) -> io::Result<()> {
    let (id, cwd, title) = cast::SHADERS;
    let hash = |bytes: &[u8]| Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect::<String>();
    let message = json!({"role": "user", "providerOptions": {"cursor": {"modelName": "vega"}},
        "content": [{"type": "text", "text": "Trim the shader cache to what the first level needs."}]})
    .to_string();
    let root = field(1, &Sha256::digest(message.as_bytes()));
    let meta = json!({"agentId": id, "latestRootBlobId": hash(&root), "name": title, "mode": "default"}).to_string();
    let hex: String = meta.bytes().map(|b| format!("{b:02x}")).collect();
    let folder = format!(".cursor/chats/ws-acme/{id}");
    home.replace(&format!("{folder}/meta.json"), json!({"cwd": cwd}).to_string().as_bytes())?;
    database(
        home,
        &format!("{folder}/store.db"),
        &[
            ("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)", vec![]),
            ("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)", vec![]),
            ("INSERT INTO meta VALUES ('0', ?1)", vec![text(hex)]),
            (
                "INSERT INTO blobs VALUES (?1, ?2)",
                vec![text(hash(message.as_bytes())), Cell::Bytes(message.clone().into_bytes())],
            ),
            ("INSERT INTO blobs VALUES (?1, ?2)", vec![text(hash(&root)), Cell::Bytes(root.clone())]),
        ],
    )
}

/// The metadata of one Antigravity step: start stamp, output tokens, tool summary (protobuf wire format).
fn step(index: i64, at: f64, tokens: u64, summary: &str) -> Statement {
    let stamp = [number(1, at as u64), number(2, (at.fract() * 1e9) as u64)].concat();
    let metadata = [field(1, &stamp), field(9, &number(3, tokens)), field(30, summary.as_bytes())].concat();
    (
        "INSERT OR REPLACE INTO steps VALUES (?1, ?2, ?3)",
        vec![Cell::Whole(index), Cell::Whole(if index == 0 { 14 } else { 15 }), Cell::Bytes(metadata)],
    )
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn number(id: u64, value: u64) -> Vec<u8> {
    [varint(id << 3), varint(value)].concat()
}

fn field(id: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(id << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}
