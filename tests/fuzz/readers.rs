//! The ten readers over mutated stores: whatever a file holds, it costs its own session and nothing else, and what a
//! reader has kept from before a file grew is what a new reader finds (TRUST-081).

use super::driver::{Dice, Scratch, Target};
use super::stores;
use cargento::env::{Env, Platform};
use cargento::harness::claude::Hooks;
use cargento::harness::registry::makes;
use cargento::harness::{Collector, Pass};
use cargento::model::Key;
use cargento::roots::Roots;
use cargento::surface::watch::{Dirty, Watch};
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

const NOW: f64 = 1_789_900_060.0;

struct Home {
    scratch: Scratch,
    key: Key,
}

impl Home {
    fn new(key: Key, name: &str) -> Self {
        let scratch = Scratch::new(&format!("home-{name}"));
        stores::plant(&scratch.0);
        Self { scratch, key }
    }

    fn reader(&self) -> Box<dyn Collector> {
        let home = self.scratch.0.to_str().unwrap();
        let roots = Roots::new(&Env::of(Platform::Linux, [("HOME", home)]), None);
        let hooks = Arc::new(Hooks::new(roots.primary("claude.projects").unwrap().to_path_buf()));
        let (_, make) =
            makes(&roots, &self.scratch.0, &hooks, true).into_iter().find(|(key, _)| *key == self.key).unwrap();
        make()
    }

    /// Files of the store whose names end so, with what they hold.
    fn files(&self, root: &str, endings: &[&str]) -> Vec<(PathBuf, Vec<u8>)> {
        let (mut folders, mut found) = (vec![self.scratch.0.join(root)], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if endings.iter().any(|end| path.to_string_lossy().ends_with(end)) {
                    found.push((path.clone(), std::fs::read(&path).unwrap()));
                }
            }
        }
        found.sort();
        assert!(!found.is_empty(), "no file of {}", self.key.as_str());
        found
    }
}

/// Every row as one text, sorted.
fn rows(reader: &mut dyn Collector) -> Vec<String> {
    let (watch, dirty) = (Watch::off(), Dirty::default());
    let pass = Pass { now: NOW, window: 86_400.0 * 1e4, all: true, dirty: &dirty, sweep: true, watch: &watch };
    if !reader.discovered() {
        return Vec::new();
    }
    let found = reader.collect(&pass).unwrap_or_default();
    let mut rows = Vec::new();
    for row in &found.rows {
        let mut shown = serde_json::to_value(row).unwrap();
        let sid = shown.as_object_mut().unwrap().remove("sid").unwrap();
        let shown = shown.to_string();
        // What a row says is safe whatever the store held; its identity alone stays as it is (RED-026).
        assert!(!shown.contains("\\u00") && !shown.contains('\u{202e}'), "unsafe text in {shown}");
        rows.push(format!("{sid} {shown} {:?}", row.evidence));
    }
    rows.sort();
    rows
}

/// Two readings agree, or the first place where they do not is shown.
#[track_caller]
fn same(warm: &[String], cold: &[String], who: &str) {
    for n in 0..warm.len().max(cold.len()) {
        let (a, b) = (warm.get(n).map_or("", String::as_str), cold.get(n).map_or("", String::as_str));
        let at = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        let piece = |text: &str| {
            String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(60).min(text.len())..(at + 200).min(text.len())])
                .into_owned()
        };
        assert!(a == b, "{who} says\n  {}\nand a new one\n  {}", piece(a), piece(b));
    }
}

fn put(path: &Path, bytes: &[u8], mtime: f64) {
    std::fs::write(path, bytes).unwrap();
    let file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs_f64(mtime)).unwrap();
}

/// Line files: a reader that saw a part, then the whole, against one that sees the whole.
fn lines(name: &'static str, key: Key, root: &str, endings: &[&str], rounds: u32) {
    let home = Home::new(key, name);
    let files = home.files(root, endings);
    let seeds: Vec<Vec<u8>> = files.iter().map(|(_, bytes)| bytes.clone()).collect();
    Target::new(name, rounds, seeds).run(|input, dice| {
        let (path, original) = dice.pick(&files);
        std::fs::remove_file(path).unwrap();
        let cut = dice.below(input.len() + 1);
        let mut kept = home.reader();
        put(path, &input[..cut], NOW - 20.0);
        rows(kept.as_mut());
        put(path, input, NOW - 10.0);
        let warm = rows(kept.as_mut());
        let cold = rows(home.reader().as_mut());
        same(&warm, &cold, &format!("a reader that saw {cut} of {} bytes of {} first", input.len(), path.display()));
        assert_eq!(rows(kept.as_mut()), warm, "nothing changed, and the rows did");
        put(path, original, NOW - 10.0);
    });
}

/// TRUST-082, FIELD-003: a packed rollout that was looked at while it was being written is read once it is whole.
#[test]
fn trust_082_a_rollout_seen_while_it_was_compressed() {
    let home = Home::new(Key::Codex, "half-packed");
    let (path, bytes) = home.files(".codex", &[".zst"]).remove(0);
    let mut kept = home.reader();
    put(&path, &bytes[..103], NOW - 20.0);
    rows(kept.as_mut());
    put(&path, &bytes, NOW - 10.0);
    same(&rows(kept.as_mut()), &rows(home.reader().as_mut()), "a reader that saw a quarter of it");
}

/// Databases: cells of any kind in place of the owner's, then bytes of any kind in place of the file's.
fn database(name: &'static str, key: Key, root: &str, ending: &str, rounds: u32) {
    let home = Home::new(key, name);
    let files = home.files(root, &[ending]);
    let sample = |path: &Path| -> Vec<(String, String)> {
        let db = Connection::open(path).unwrap();
        let mut tables = db
            .prepare("SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'")
            .unwrap();
        tables.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    };
    let columns: Vec<Vec<(String, String)>> = files.iter().map(|(path, _)| sample(path)).collect();
    // Seeds are the cells themselves: JSON, protobuf, ids.
    let mut seeds: Vec<Vec<u8>> = vec![b"x".to_vec()];
    for ((path, _), columns) in files.iter().zip(&columns) {
        let db = Connection::open(path).unwrap();
        for (table, column) in columns {
            let mut all =
                db.prepare(&format!("SELECT CAST({column} AS BLOB) FROM {table} WHERE {column} IS NOT NULL")).unwrap();
            seeds.extend(all.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap().map(Result::unwrap));
        }
    }
    seeds.sort();
    seeds.dedup();
    Target::new(name, rounds, seeds).run(|input, dice| {
        let at = dice.below(files.len());
        let (path, original) = &files[at];
        let mut kept = home.reader();
        rows(kept.as_mut());
        if dice.below(4) == 0 {
            // The file itself, cut and overwritten.
            let mut bytes = original.clone();
            let from = dice.below(bytes.len());
            let end = (from + input.len()).min(bytes.len());
            bytes.splice(from..end, input.iter().copied());
            if dice.below(2) == 0 {
                bytes.truncate(dice.below(bytes.len() + 1));
            }
            put(path, &bytes, NOW - 10.0);
            rows(home.reader().as_mut());
        } else {
            let db = Connection::open(path).unwrap();
            for _ in 0..=dice.below(3) {
                let (table, column) = dice.pick(&columns[at]);
                let value = cell(input, dice);
                let set = format!("UPDATE {table} SET {column} = ?1 WHERE rowid = (SELECT rowid FROM {table} ORDER BY random() LIMIT 1)");
                // A value the schema refuses is one no owner writes.
                let _ = db.execute(&set, [value]);
            }
            drop(db);
            let warm = rows(kept.as_mut());
            let cold = rows(home.reader().as_mut());
            same(&warm, &cold, &format!("a reader that knew {} before", path.display()));
        }
        for end in ["-wal", "-shm", "-journal"] {
            let _ = std::fs::remove_file(format!("{}{end}", path.display()));
        }
        std::fs::remove_file(path).unwrap();
        put(path, original, NOW - 10.0);
    });
}

fn cell(input: &[u8], dice: &mut Dice) -> Cell {
    match dice.below(8) {
        0 => Cell::Null,
        1 => Cell::Integer(dice.next() as i64),
        2 => Cell::Integer(dice.below(3) as i64 - 1),
        3 => Cell::Real(f64::from_bits(dice.next())),
        4 | 5 => Cell::Blob(input.to_vec()),
        _ => Cell::Text(String::from_utf8_lossy(input).into_owned()),
    }
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_claude() {
    lines("claude", Key::Claude, ".claude", &[".jsonl", ".json"], 120);
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_codex() {
    lines("codex", Key::Codex, ".codex", &[".jsonl", ".zst"], 120);
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_pi() {
    lines("pi", Key::Pi, ".pi", &[".jsonl"], 150);
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_gemini() {
    lines("gemini", Key::Gemini, ".gemini/tmp", &[".jsonl", ".json"], 150);
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_droid() {
    lines("droid", Key::Droid, ".factory", &[".jsonl"], 150);
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_copilot_events() {
    lines("copilot", Key::Copilot, ".copilot/session-state", &[".jsonl"], 150);
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_copilot_ledger() {
    database("copilot-ledger", Key::Copilot, ".copilot", "session-store.db", 80);
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_antigravity_logs() {
    lines("antigravity-logs", Key::Antigravity, ".gemini/antigravity-cli", &[".log", ".json"], 100);
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_antigravity() {
    database("antigravity", Key::Antigravity, ".gemini/antigravity-cli", ".db", 100);
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_opencode() {
    database("opencode", Key::OpenCode, ".local/share/opencode", ".db", 100);
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_goose() {
    database("goose", Key::Goose, ".local/share/goose", ".db", 100);
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_cursor() {
    database("cursor", Key::Cursor, ".cursor", ".db", 100);
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_cursor_meta() {
    lines("cursor-meta", Key::Cursor, ".cursor", &["meta.json"], 80);
}
