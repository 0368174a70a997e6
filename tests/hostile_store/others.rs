//! The same faults in the stores of the other harnesses that keep transcripts, and databases that are none.

use super::home::{Home, gaps, harness, lines, row};
use serde_json::{Value, json};

/// Lines that are no records.
const BROKEN: &[u8] = b"\0\0\n[1]\nnot json\n{\"type\":\n\xff\xfe\n";
const BROKEN_LINES: u64 = 5;

fn id(n: u32) -> String {
    format!("0199{n:04x}-aaaa-7000-8000-000000000000")
}

/// A transcript store: where the session with an id lies, and its records.
struct Kind {
    key: &'static str,
    name: fn(&str) -> String,
    records: fn(&Home, &str) -> Vec<Value>,
}

fn kinds() -> [Kind; 5] {
    [
        Kind {
            key: "codex",
            name: |id| format!(".codex/sessions/2026/05/01/rollout-2026-05-01T10-00-00-{id}.jsonl"),
            records: |home, id| {
                vec![
                    json!({"timestamp": home.iso(60.0), "type": "session_meta", "payload": {"id": id, "timestamp": home.iso(60.0),
                           "cwd": "/w/acme/api", "originator": "codex_cli_rs", "cli_version": "0.153.4", "source": "cli"}}),
                    json!({"timestamp": home.iso(30.0), "type": "event_msg",
                           "payload": {"type": "user_message", "message": "Rewrite the rounding rule and test it"}}),
                ]
            },
        },
        Kind {
            key: "pi",
            name: |id| format!(".pi/agent/sessions/--w-acme-lab--/2026-05-01T10-00-00-000Z_{id}.jsonl"),
            records: |home, id| {
                vec![
                    json!({"type": "session", "version": 3, "id": id, "timestamp": home.iso(60.0), "cwd": "/w/acme/lab"}),
                    json!({"type": "message", "id": "aaaa0001", "parentId": null, "timestamp": home.iso(30.0),
                           "message": {"role": "user", "content": [{"type": "text", "text": "Rewrite the rounding rule"}]}}),
                ]
            },
        },
        Kind {
            key: "gemini",
            name: |id| format!(".gemini/tmp/a1b2c3/chats/session-2026-05-01T10-00-{}.jsonl", &id[..8]),
            records: |home, id| {
                vec![
                    json!({"sessionId": id, "projectHash": "a1b2c3", "startTime": home.iso(60.0), "lastUpdated": home.iso(30.0),
                           "kind": "main", "directories": ["/w/acme/docs"]}),
                    json!({"id": "g1", "type": "user", "timestamp": home.iso(30.0), "content": "Rewrite the rounding rule"}),
                ]
            },
        },
        Kind {
            key: "copilot",
            name: |id| format!(".copilot/session-state/{id}/events.jsonl"),
            records: |home, id| {
                vec![
                    json!({"type": "session.start", "timestamp": home.iso(60.0),
                           "data": {"sessionId": id, "version": 1, "context": {"cwd": "/w/acme/web"}}}),
                    json!({"type": "user.message", "id": "e1", "timestamp": home.iso(30.0), "data": {"content": "Rewrite the rule"}}),
                ]
            },
        },
        Kind {
            key: "droid",
            name: |id| format!(".factory/sessions/-w-acme-ops/{id}.jsonl"),
            records: |home, id| {
                vec![
                    json!({"type": "session_start", "id": id, "title": "Rewrite the rule", "sessionTitle": "Rewrite the rule",
                           "version": 2, "cwd": "/w/acme/ops"}),
                    json!({"type": "message", "id": "d1", "timestamp": home.iso(30.0),
                           "message": {"role": "user", "content": [{"type": "text", "text": "Rewrite the rule"}]}}),
                ]
            },
        },
    ]
}

/// PAYLOAD-004, PAYLOAD-005, ROW-072, TRUST-033: in every store one broken transcript, one that is a FIFO and one nobody can
/// read cost themselves; databases that are none cost their harness's rows and nobody else's.
#[test]
fn broken_stores_of_every_harness_beside_good_ones() {
    let home = Home::new();
    for (n, kind) in kinds().iter().enumerate() {
        let of = |which: u32| id(which * 256 + n as u32);
        let good = lines(&(kind.records)(&home, &of(1)));
        home.write(&(kind.name)(&of(1)), good, 20.0);
        let broken = [lines(&(kind.records)(&home, &of(2))), BROKEN.to_vec()].concat();
        home.write(&(kind.name)(&of(2)), broken, 20.0);
        home.fifo(&(kind.name)(&of(3)));
        home.link("/dev/zero", &(kind.name)(&of(4)));
        home.write(&(kind.name)(&of(5)), b"\0\xff", 20.0);
        home.write(&(kind.name)(&of(6)), b"", 20.0);
    }
    for name in [".local/share/opencode/opencode.db", ".local/share/goose/sessions/sessions.db"] {
        home.write(name, b"SQLite format 3\0 but torn".repeat(500), 20.0);
    }
    home.write(".cursor/chats/ws1/0b0b0b0b-0000-4000-8000-000000000000/store.db", b"no database", 20.0);
    home.fifo(".cursor/chats/ws1/0b0b0b0c-0000-4000-8000-000000000000/store.db");
    home.write(".gemini/antigravity-cli/conversations/0b0b0b0d-0000-4000-8000-000000000000.db", b"\0", 20.0);
    home.write(".gemini/antigravity-cli/log/cli.log", b"\xff\0", 20.0);

    let board = home.serve();
    let data = board.data();
    for (n, kind) in kinds().iter().enumerate() {
        let of = |which: u32| id(which * 256 + n as u32);
        let status = harness(&data, kind.key);
        assert_eq!((&status["error"], &status["discovered"]), (&Value::Null, &json!(true)), "{}", kind.key);
        assert_eq!(gaps(row(&data, kind.key, &of(1))), [], "{}", kind.key);
        let told = gaps(row(&data, kind.key, &of(2)));
        let records = told.iter().find(|(code, _, _)| code == "record-skipped");
        assert_eq!(records.map(|(_, _, count)| *count), Some(BROKEN_LINES), "{}: {told:?}", kind.key);
        let passed_over = gaps(status).iter().any(|(code, _, count)| code == "record-skipped" && *count >= 2);
        assert!(passed_over, "{}: {:?}", kind.key, gaps(status));
    }
    for (key, named) in [("opencode", true), ("goose", true), ("cursor", true), ("antigravity", false)] {
        let status = harness(&data, key);
        assert_eq!((&status["error"], &status["discovered"]), (&Value::Null, &json!(true)), "{key}");
        assert!(!named || gaps(status).iter().any(|(code, _, _)| code == "store-corrupt"), "{key}: {:?}", gaps(status));
    }
    assert!(!data.to_string().contains("store_errors"), "those are for diagnosis alone");
    assert!(!board.said().contains("panicked"), "{}", board.said());
}
