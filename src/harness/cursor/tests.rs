//! Rows of invented chat stores, shaped as Cursor CLI 2026.08.11 makes them.

mod gates;
mod live;
mod written;

use super::*;
use crate::harness::sql::support::{codes, collect, owner, published, row, sids};
use crate::harness::testkit::{Scratch, WINDOW, touch};
use crate::model::{Degrade, Observed, State};
use rusqlite::Connection;
use sha2::{Digest, Sha256};

const SCHEMA: &str = include_str!("../../../fixtures/cursor/2026.08.11/schema.sql");
const PAYLOAD: &str = include_str!("../../../fixtures/cursor/2026.08.11/payload.json");
const CHILD: &str = include_str!("../../../fixtures/cursor/2026.08.11/payload-child.json");
const MESSAGE: &[u8] = include_bytes!("../../../fixtures/cursor/2026.08.11/message.json");
const STORE_LOG: &str = "store.db-wal";
const META: &str = include_str!("../../../fixtures/cursor/2026.08.11/meta.json");
const OPEN: &[u8] = include_bytes!("../../../fixtures/cursor/2026.08.11/carrier-open.bin");
const ANSWERED: &[u8] = include_bytes!("../../../fixtures/cursor/2026.08.11/carrier-answered.bin");
const PARENT: &str = "5c868fe4-340b-4d4e-a4b5-9540074b612f";
const KID: &str = "9b1f0c22-7e57-4a1c-8d7b-0c9a5d1f3e64";
/// When the fixture's gate began.
const GATE: f64 = 1_789_899_960.123;
/// Forty seconds later.
const THEN: f64 = 1_789_900_000.0;

struct Home {
    dir: Scratch,
    reader: Cursor,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn id(blob: &[u8]) -> String {
    hex(&Sha256::digest(blob))
}

/// A root blob that lists messages.
fn root(messages: &[Vec<u8>]) -> Vec<u8> {
    messages.iter().flat_map(|m| [&b"\x0a\x20"[..], &Sha256::digest(m)].concat()).collect()
}

fn add(store: &Connection, blobs: &[Vec<u8>]) {
    for blob in blobs {
        store.execute("INSERT OR REPLACE INTO blobs VALUES (?1, ?2)", (id(blob), blob)).unwrap();
    }
}

/// An answer by a model, with `pad` bytes of text before its name.
fn answer(model: &str, pad: usize) -> Vec<u8> {
    let text = "x".repeat(pad);
    format!(r#"{{"role":"assistant","content":"{text}","providerOptions":{{"cursor":{{"modelName":"{model}"}}}}}}"#)
        .into()
}

fn gate(since: f64, contracts: &str) -> Vec<u8> {
    let ms = (since * 1000.0) as i64;
    format!("\u{12}{{\"pendingToolCallStartedAtMs\":{ms},\"pendingToolExecutionContracts\":{contracts}}}").into()
}

const ASKED: &str = r#"{"toolu_1":{"toolCallId":"c"}}"#;

impl Home {
    fn new(name: &str) -> Home {
        let dir = Scratch::new(&format!("cursor-{name}"));
        let reader = Cursor::new(dir.0.join("chats"), dir.0.clone());
        Home { dir, reader }
    }

    fn path(&self, sid: &str) -> PathBuf {
        self.dir.0.join("chats/ws1").join(sid).join(STORE_DB)
    }

    /// A chat whose payload is this object, with these blobs, written `age` seconds before [`THEN`] and closed.
    fn chat(&self, sid: &str, payload: &str, blobs: &[Vec<u8>], age: f64) {
        let store = owner(&self.path(sid), SCHEMA);
        store.execute("INSERT INTO meta VALUES ('0', ?1)", [hex(payload.as_bytes())]).unwrap();
        add(&store, blobs);
        drop(store);
        touch(&self.path(sid), THEN - age);
    }

    /// A chat by its name alone.
    fn named(&self, sid: &str, blobs: &[Vec<u8>], age: f64) {
        self.chat(sid, &format!(r#"{{"name":"{sid}"}}"#), blobs, age);
    }

    /// The fixture's chat with more blobs behind its message and root.
    fn fixture(&self, more: &[Vec<u8>], age: f64) {
        let root = root(&[MESSAGE.to_vec()]);
        let blobs: Vec<Vec<u8>> = [MESSAGE.to_vec(), root.clone()].into_iter().chain(more.to_vec()).collect();
        self.chat(PARENT, &PAYLOAD.replace("@ROOT@", &id(&root)), &blobs, age);
        let cwd = self.dir.0.join("src/atlas");
        std::fs::create_dir_all(&cwd).unwrap();
        std::fs::write(self.path(PARENT).with_file_name(META_JSON), META.replace("@CWD@", &cwd.display().to_string()))
            .unwrap();
    }

    fn open(&self, sid: &str) -> Connection {
        Connection::open(self.path(sid)).unwrap()
    }

    fn pass(&mut self, now: f64, all: bool) -> Collected {
        collect(&mut self.reader, now, all)
    }

    fn then(&mut self) -> Collected {
        self.pass(THEN, false)
    }

    fn cold(&self, now: f64, all: bool) -> Collected {
        collect(&mut Cursor::new(self.dir.0.join("chats"), self.dir.0.clone()), now, all)
    }
}

/// CUR-001, CUR-002, CUR-003, CUR-006, CUR-007, CUR-008, CUR-009, CUR-011, CUR-012, CUR-013, CUR-028: a complete row.
#[test]
fn cur_001_to_013_cur_028_the_fixture_gives_a_complete_row() {
    let mut home = Home::new("complete");
    assert!(!home.reader.discovered());
    home.fixture(&[], 10.0);
    assert!(home.reader.discovered());
    let found = home.then();
    let row = row(&found, PARENT);
    assert_eq!((row.title.as_deref(), row.project.as_str()), (Some("Importer fix"), "src/atlas"));
    assert_eq!((row.model.as_deref(), row.provider.as_deref()), (Some("vega"), None));
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Working, Some("generating…")));
    assert_eq!((row.last_activity, row.own_activity), (THEN - 10.0, THEN - 10.0));
    assert_eq!((row.last_prompt.as_str(), row.turn.as_ref(), row.rate_per_min), ("", None, None));
    assert_eq!(row.project_identity_source, "working directory path");
    assert!(row.source_gaps.is_empty() && row.blocked_since.is_none());
    assert!(found.degrades.is_empty() && found.store_errors.is_empty());
}

/// CUR-004, FIELD-008: keys, texts, tools and reasoning reach no row.
#[test]
fn cur_004_trust_028_field_008_keys_texts_tools_and_reasoning_appear_nowhere() {
    let mut home = Home::new("secrets");
    home.fixture(&[OPEN.to_vec()], 10.0);
    home.chat(KID, &CHILD.replace("@ROOT@", "no root"), &[MESSAGE.to_vec(), OPEN.to_vec()], 10.0);
    for all in [false, true] {
        let found = home.pass(THEN, all);
        let rows = format!("{:?} {:?} {:?}", found.rows, found.degrades, found.store_errors);
        assert!(!rows.contains("NEVER-SHOWN"));
    }
    assert!(PAYLOAD.contains("NEVER-SHOWN-KEY") && String::from_utf8_lossy(MESSAGE).contains("NEVER-SHOWN-REASONING"));
    assert!(String::from_utf8_lossy(OPEN).contains("NEVER-SHOWN-TOOL"));
}

/// CUR-005, CUR-028, CUR-029, FIELD-041: activity is the stamp of a store and of a log that holds something.
#[test]
fn cur_005_cur_028_cur_029_field_041_the_stores_stamp_makes_the_state() {
    let mut home = Home::new("stamps");
    for (sid, age) in [("fresh", 50.0), ("quiet", 150.0), ("stale", 90_000.0), ("future", -90_000.0)] {
        home.named(sid, &[], age);
    }
    // A log that holds nothing tells nothing.
    std::fs::write(home.path("stale").with_file_name(STORE_LOG), b"").unwrap();
    let found = home.then();
    assert_eq!(sids(&found), ["fresh", "quiet"]);
    assert_eq!((row(&found, "fresh").state, row(&found, "quiet").state), (State::Working, State::Idle));
    assert!(!home.reader.chats.keys().any(|dir| dir.ends_with("stale")), "a stale store is not opened");
    let all = home.pass(THEN, true);
    let (stale, future) = (row(&all, "stale"), row(&all, "future"));
    assert_eq!((stale.active, stale.title.as_deref(), stale.state), (false, None, State::Idle));
    assert_eq!((future.active, future.last_activity), (false, 0.0), "a stamp that is not believed is no activity");
}

/// CUR-024, CUR-025, CUR-026, CUR-027, CUR-048, CUR-049: children, chains, circles and orphans.
#[test]
fn cur_024_to_027_cur_048_cur_049_children_fold_onto_the_chat_that_started_them() {
    let mut home = Home::new("children");
    let child = |kind: &str, of: &str| {
        format!(r#"{{"name":"New Agent","subagentInfo":{{"parentAgentId":"{of}","typeName":"{kind}"}}}}"#)
    };
    home.fixture(&[], 300.0);
    let (message, listed) = (answer("lyra", 0), root(&[answer("lyra", 0)]));
    home.chat(KID, &CHILD.replace("@ROOT@", &id(&listed)), &[message, listed, gate(THEN - 25.0, ASKED)], 20.0);
    home.chat("k2", &child("  ", PARENT), &[], 250.0);
    home.chat("grandchild", &child("x", KID), &[], 5.0);
    home.chat("self", &child("x", "self"), &[], 20.0);
    home.chat("absent", &child("x", "nowhere"), &[], 20.0);
    home.chat("a", &child("x", "b"), &[], 20.0);
    home.chat("b", &child("x", "a"), &[], 20.0);
    let found = home.then();
    assert_eq!(sids(&found), [PARENT, "a", "absent", "b", "self"], "what no row could hold is a row");
    let parent = row(&found, PARENT);
    let pills: Vec<_> = parent.subagents.iter().map(|s| (s.name.as_str(), s.model.as_deref())).collect();
    assert_eq!(pills, [("cursor-guide", Some("lyra")), ("subagent", None)], "every folded child, newest first");
    assert_eq!((parent.state, parent.state_detail.as_deref()), (State::Working, Some("running 1 subagent")));
    assert_eq!((parent.last_activity, parent.own_activity), (THEN - 20.0, THEN - 300.0));
    assert_eq!((parent.blocked_since, parent.model.as_deref()), (None, Some("vega")), "a child's gate is its own");
}

/// CUR-011, CUR-012, CUR-036, CUR-037, CUR-038, CUR-039, CUR-040, CUR-051: which message names the model.
#[test]
fn cur_011_cur_012_cur_036_to_040_cur_051_the_newest_readable_message_names_the_model() {
    let mut home = Home::new("models");
    let tool = |i: usize| format!("{{\"role\":\"tool\",\"content\":\"result {i}\n \"}}").into_bytes();
    let tools = |n: usize| (0..n).map(tool).collect::<Vec<_>>();
    let chat = |sid: &str, messages: Vec<Vec<u8>>, lead: &[u8], tail: &[u8]| {
        let root = [lead, &root(&messages), tail].concat();
        let payload = format!(r#"{{"name":"x","latestRootBlobId":"{}"}}"#, id(&root));
        home.chat(sid, &payload, &[messages, vec![root]].concat(), 5.0);
    };
    let two = || vec![answer("old", 0), answer("new", 0)];
    chat("seventy", (0..70).map(|i| answer(&format!("m{i}"), 0)).collect(), b"", b"");
    chat("eleven", [two(), tools(11)].concat(), b"", b"");
    chat("thirteen", [two(), tools(13)].concat(), b"", b"");
    chat("oversized", vec![answer("old", 0), answer("hidden", 80_000)], b"", b"");
    chat("long but named", vec![answer("old", 0), [answer("near", 0), vec![b' '; 80_000]].concat()], b"", b"");
    chat("long root", two(), &vec![b'x'; 70_000], b"");
    chat("text behind", two(), b"", b"a line\n \nand more\n  that only looks like frames, forty bytes of it at least");
    chat("nothing", vec![b"{}".to_vec()], b"", b"");
    chat("long name", vec![answer(&format!("a\u{7}{}", "b".repeat(62)), 0)], b"", b"");
    home.chat(
        "no such root",
        &format!(r#"{{"name":"x","latestRootBlobId":"{}"}}"#, "ab".repeat(32)),
        &[answer("m", 0)],
        5.0,
    );
    let found = home.then();
    let of = |sid: &str| row(&found, sid).model.as_deref();
    assert_eq!((of("seventy"), of("eleven"), of("thirteen")), (Some("m69"), Some("new"), None));
    assert_eq!((of("oversized"), of("long but named")), (None, Some("near")));
    assert_eq!((of("long root"), of("text behind")), (Some("new"), Some("new")));
    assert_eq!((of("nothing"), of("no such root")), (None, None));
    assert_eq!(of("long name"), Some(format!("a {}", "b".repeat(38)).as_str()), "CUR-051");
    assert!(found.rows.iter().all(|r: &Observed| r.source_gaps.is_empty()));
}

/// CUR-014, CUR-022, CUR-030, CUR-050, DECK-020, TRUST-036: each broken part costs itself.
#[test]
fn cur_014_cur_022_cur_030_cur_050_what_is_broken_costs_itself() {
    let mut home = Home::new("broken");
    home.named("good", &[], 5.0);
    let payload = format!(r#"{{"name":"No blobs","latestRootBlobId":"{}"}}"#, "a".repeat(64));
    home.chat("no blobs", &payload, &[], 5.0);
    home.open("no blobs").execute_batch("DROP TABLE blobs").unwrap();
    home.chat("odd blobs", &payload, &[], 5.0);
    home.open("odd blobs")
        .execute_batch("DROP TABLE blobs; CREATE TABLE blobs (id TEXT PRIMARY KEY, data) WITHOUT ROWID")
        .unwrap();
    home.named("no payload", &[], 5.0);
    home.open("no payload").execute_batch("UPDATE meta SET value = NULL").unwrap();
    drop(owner(&home.path("reshaped"), "CREATE TABLE settings (k TEXT)"));
    std::fs::create_dir_all(home.path("corrupt").parent().unwrap()).unwrap();
    std::fs::write(home.path("corrupt"), b"certainly not a database ".repeat(200)).unwrap();
    std::fs::create_dir_all(home.path("folder")).unwrap();
    #[cfg(unix)]
    {
        std::fs::create_dir_all(home.path("link").parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(home.path("good"), home.path("link")).unwrap();
    }
    let names = ["no blobs", "odd blobs", "no payload", "reshaped", "corrupt"];
    for sid in names {
        touch(&home.path(sid), THEN - 5.0);
    }
    for _ in 0..2 {
        let found = home.then();
        assert_eq!(sids(&found), ["good", "no blobs", "no payload", "odd blobs"]);
        let gaps = |sid: &str| row(&found, sid).source_gaps.clone();
        assert_eq!(gaps("no blobs"), ["model"], "no table, no gate");
        assert_eq!(gaps("odd blobs"), ["block state", "model"]);
        assert_eq!((gaps("no payload"), gaps("good")), (vec!["session metadata"], vec![]));
        assert_eq!(row(&found, "no blobs").title.as_deref(), Some("No blobs"));
        let mut got = codes(&found);
        got.sort_unstable();
        assert_eq!(got, ["record-skipped", "schema-unknown", "store-corrupt", "store-unreadable"]);
        let skipped = Degrade { code: Code::RecordSkipped, source: STORE.into(), count: Some(1) };
        assert_eq!(row(&found, "no payload").degrades, [skipped]);
        assert!(found.degrades.iter().all(|d| d.source == STORE));
        let why = format!("{:?}", found.store_errors);
        assert!(why.contains("DatabaseError: file is not a database") && why.contains("no such table: meta"), "{why}");
    }
}

/// CUR-004: what must never be read is named nowhere.
#[test]
fn cur_004_trust_026_what_must_never_be_read_is_named_nowhere() {
    let sources = [
        include_str!("mod.rs"),
        include_str!("read.rs"),
        include_str!("row.rs"),
        include_str!("chat.rs"),
        include_str!("meta.rs"),
        include_str!("model.rs"),
        include_str!("gate.rs"),
        include_str!("shelf.rs"),
    ];
    let code = sources.map(|s| s.split("#[cfg(test)]\nmod tests {").next().unwrap()).concat();
    let code: String = code.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
    for never in [
        "blobEncryptionKey",
        "lastUsedModel",
        "toolIdentifier",
        "outerToolName",
        "allowedToolNames",
        "toolCallId",
        "agent-transcripts",
        "cli-config",
        "projects",
    ] {
        assert!(!code.contains(never), "{never}");
    }
}

#[test]
#[ignore = "prints figures; CARGENTO_SCALE_HOME names a home to read"]
fn figures() {
    crate::harness::sql::support::figures(|home| Box::new(Cursor::new(home.join(".cursor/chats"), home.to_path_buf())));
}
