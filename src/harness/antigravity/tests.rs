//! The reader at its boundary: a store in a folder, a clock that is passed, the rows that come out.

mod held;
mod places;
mod steps;

use super::*;
use crate::harness::testkit::{Scratch, pass, touch};
use crate::model::{Observed, State};
use crate::surface::read;
use rusqlite::Connection;

const NOW: f64 = 1_789_900_060.0;
const ROOT: &str = "11111111-1111-1111-1111-111111111111";
const CHILD: &str = "22222222-2222-2222-2222-222222222222";
const GRAND: &str = "33333333-3333-3333-3333-333333333333";
const ROOT_SQL: &str = include_str!("../../../fixtures/antigravity/1.2.11/root.sql");
const CHILD_SQL: &str = include_str!("../../../fixtures/antigravity/1.2.11/child.sql");
const LOG: &str = include_str!("../../../fixtures/antigravity/1.2.11/cli-1.log");
const CACHE: &str = include_str!("../../../fixtures/antigravity/1.2.11/last_conversations.json");

struct Scene {
    dir: Scratch,
    root: PathBuf,
    reader: Antigravity,
}

impl Scene {
    fn new(name: &str) -> Scene {
        let dir = Scratch::new(&format!("agy-{name}"));
        let root = dir.0.join("antigravity-cli");
        for name in ["conversations", "cache", "log"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        let reader = Antigravity::new(root.clone(), "/home/dev".into());
        Scene { dir, root, reader }
    }

    fn db(&self, sid: &str) -> PathBuf {
        self.root.join("conversations").join(format!("{sid}.db"))
    }

    /// Writes a store and stamps it `age` seconds old.
    fn store(&self, sid: &str, sql: &str, age: f64) -> PathBuf {
        let path = self.db(sid);
        drop(std::fs::remove_file(&path));
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        touch(&path, NOW - age);
        path
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>, age: f64) -> PathBuf {
        self.dir.write(&format!("antigravity-cli/{name}"), bytes, NOW - age)
    }

    fn read(&mut self, all: bool) -> Collected {
        pass(&mut self.reader, NOW, all)
    }

    fn at(&mut self, now: f64, all: bool) -> Collected {
        pass(&mut self.reader, now, all)
    }

    fn rows(&mut self, all: bool) -> Vec<Observed> {
        self.read(all).rows
    }
}

fn row<'r>(rows: &'r [Observed], sid: &str) -> &'r Observed {
    rows.iter().find(|row| row.sid == sid).unwrap_or_else(|| panic!("no row {sid} in {rows:?}"))
}

fn sids(rows: &[Observed]) -> Vec<&str> {
    rows.iter().map(|row| row.sid.as_str()).collect()
}

/// A varint (protobuf.dev, Encoding).
fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value > 0x7F {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn bytes(number: u64, value: impl AsRef<[u8]>) -> Vec<u8> {
    [varint(number << 3 | 2), varint(value.as_ref().len() as u64), value.as_ref().to_vec()].concat()
}

fn step(at: f64, tokens: u64, action: &str) -> Vec<u8> {
    let mut out = bytes(1, [varint(8), varint(at as u64)].concat());
    if tokens > 0 {
        out.extend(bytes(9, [varint(24), varint(tokens)].concat()));
    }
    if !action.is_empty() {
        out.extend(bytes(31, action));
    }
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn steps(list: &[(i64, Vec<u8>)]) -> String {
    let mut sql = String::from("CREATE TABLE steps (idx INTEGER PRIMARY KEY, step_type INTEGER, metadata BLOB);");
    for (n, (kind, cell)) in list.iter().enumerate() {
        sql += &format!("INSERT INTO steps VALUES ({n}, {kind}, X'{}');", hex(cell));
    }
    sql
}

fn trajectory(blob: &[u8]) -> String {
    format!(
        "CREATE TABLE trajectory_metadata_blob (id TEXT PRIMARY KEY, data BLOB);
         INSERT INTO trajectory_metadata_blob VALUES ('main', X'{}');",
        hex(blob)
    )
}

/// A store of a conversation that `parent` started.
fn child_of(parent: &str, role: &str, list: &[(i64, Vec<u8>)]) -> String {
    steps(list) + &trajectory(&[bytes(5, parent), bytes(8, bytes(2, role))].concat())
}

/// AGY-002, AGY-005, AGY-010, AGY-011, AGY-012, AGY-022, AGY-023, AGY-028: a complete row, and an untouched store.
#[test]
fn agy_001_to_028_the_fixture_makes_one_complete_row() {
    let mut scene = Scene::new("fixture");
    let path = scene.store(ROOT, ROOT_SQL, 20.0);
    scene.file("cache/last_conversations.json", CACHE, 100.0);
    scene.file("log/cli-1.log", LOG, 100.0);
    let before = (std::fs::read(&path).unwrap(), read::look(&path).unwrap().stamp);
    let found = scene.read(false);
    let row = row(&found.rows, ROOT);
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Working, Some("Running report")));
    assert_eq!((row.model.as_deref(), row.provider.as_deref()), (Some("Gemini 3.1 Pro (High)"), None));
    assert_eq!((row.project.as_str(), row.project_name.as_str()), ("src/atlas", "atlas"));
    assert_eq!(
        (row.title.as_deref(), row.last_prompt.as_str()),
        (Some("show my assigned issues"), "show my assigned issues")
    );
    assert_eq!((row.rate_per_min, row.last_activity, row.active), (Some(60), NOW - 20.0, true));
    let turn = row.turn.clone().unwrap();
    assert_eq!((turn.elapsed_h.as_str(), turn.eta_h, turn.pct), ("1m", None, None));
    assert_eq!((row.evidence.turn_start, row.started_at, row.resume_id.as_deref()), (Some(NOW - 60.0), None, None));
    assert!(row.source_gaps.is_empty() && row.degrades.is_empty() && found.store_errors.is_empty());
    assert!(!serde_json::to_string(&row).unwrap().contains("MARK"));
    assert_eq!((std::fs::read(&path).unwrap(), read::look(&path).unwrap().stamp), before, "the store is untouched");
    assert_eq!(std::fs::read_dir(scene.root.join("conversations")).unwrap().count(), 1, "no sidecar was made");
}

/// AGY-003: an unreadable database discovers as well.
#[test]
fn agy_003_a_store_is_discovered_by_its_databases() {
    let mut scene = Scene::new("discovered");
    assert!(!scene.reader.discovered());
    scene.file("conversations/notes.txt", "x", 1.0);
    scene.read(false);
    assert!(!scene.reader.discovered());
    scene.file(&format!("conversations/{ROOT}.db"), "certainly not a database", 1.0);
    assert!(scene.reader.discovered());
    scene.read(false);
    std::fs::remove_file(scene.db(ROOT)).unwrap();
    assert!(scene.rows(true).is_empty() && !scene.reader.discovered());
    assert!(!Antigravity::new(scene.root.join("gone"), "/".into()).discovered());
}

/// AGY-006, AGY-034: empty logs and stamps ahead.
#[test]
fn agy_006_agy_034_an_empty_or_future_log_is_no_activity() {
    let mut scene = Scene::new("stamps");
    for (name, age, wal) in [
        ("a", 150.0, None),
        ("b", 150.0, Some((0, 5.0))),
        ("c", 50.0, Some((33, -300.0))),
        ("d", 300.0, Some((33, 5.0))),
    ] {
        scene.store(name, "CREATE TABLE t (x)", age);
        if let Some((len, age)) = wal {
            scene.file(&format!("conversations/{name}.db-wal"), vec![b'w'; len], age);
        }
    }
    scene.store("e", "CREATE TABLE t (x)", -500.0);
    let rows = scene.rows(true);
    let state = |sid| (row(&rows, sid).state, NOW - row(&rows, sid).last_activity);
    assert_eq!(state("a"), (State::Idle, 150.0));
    assert_eq!(state("b"), (State::Idle, 150.0));
    assert_eq!(state("c"), (State::Working, 50.0));
    assert_eq!(state("d"), (State::Working, 5.0));
    assert_eq!(sids(&rows), ["a", "b", "c", "d"], "a store without a believable stamp is skipped");
}

/// AGY-024, AGY-025, AGY-026, AGY-027, AGY-035, AGY-036, AGY-037: families of every depth.
#[test]
fn agy_024_to_027_agy_035_descendants_fold_onto_their_root_at_every_depth() {
    let mut scene = Scene::new("family");
    scene.store(ROOT, ROOT_SQL, 90_000.0);
    scene.store(CHILD, CHILD_SQL, 90_000.0);
    let rate = step(NOW - 30.0, 300, "");
    scene.store(GRAND, &child_of(CHILD, "checker", &[(15, rate.clone())]), 20.0);
    for (sid, role) in [("44444444-a", " "), ("55555555-b", "second")] {
        scene.store(
            sid,
            &child_of(ROOT, role, &[(15, step(NOW - 30.0, 45, ""))]),
            if role == " " { 10.0 } else { 200.0 },
        );
    }
    scene.store("own", &child_of("own", "me", &[]), 10.0);
    scene.store("orphan", &child_of("nowhere", "Lost one", &[]), 10.0);
    scene.store("ring-a", &child_of("ring-b", "", &[]), 10.0);
    scene.store("ring-b", &child_of("ring-a", "", &[]), 10.0);
    for all in [false, true, false] {
        let found = scene.read(all);
        assert_eq!(sids(&found.rows), [ROOT, "orphan", "own"], "all {all}");
        let root = row(&found.rows, ROOT);
        let names: Vec<&str> = root.subagents.iter().map(|child| child.name.as_str()).collect();
        assert_eq!(names, ["subagent 44444444", "checker"], "fresh ones, newest first");
        assert!(root.subagents.iter().all(|child| child.model.is_none() && child.active.is_none()));
        assert_eq!((root.state, root.state_detail.as_deref()), (State::Working, Some("running 2 subagents")));
        // 300, 45 and 45 tokens, each rounded by itself (half to even), and 600 of its own.
        assert_eq!((root.rate_per_min, root.last_activity), (Some(30 + 4 + 4 + 60), NOW - 10.0));
        assert_eq!(root.model.as_deref(), Some("Gemini 3.1 Pro (High)"));
        assert_eq!(row(&found.rows, "orphan").title.as_deref(), Some("Lost one"));
        assert_eq!(row(&found.rows, "own").subagents, []);
        let lost = Degrade { code: Code::RecordSkipped, source: SOURCE.into(), count: Some(2) };
        assert!(found.degrades.contains(&lost), "a ring of parents is named, not followed");
    }
}

/// AGY-003, AGY-017, AGY-031: state without content.
#[test]
fn agy_017_agy_031_trust_034_a_broken_store_keeps_its_state_and_costs_no_other() {
    let mut scene = Scene::new("broken");
    scene.store("sound", &(steps(&[(15, step(NOW - 30.0, 100, ""))]) + &trajectory(b"")), 5.0);
    scene.file("conversations/text.db", "certainly not a database ".repeat(300), 5.0);
    scene.store("bare", "CREATE TABLE elsewhere (x)", 5.0);
    scene.store("half", &trajectory(b""), 5.0);
    std::fs::create_dir(scene.db("folder")).unwrap();
    let found = scene.read(false);
    assert_eq!(sids(&found.rows), ["bare", "half", "sound", "text"]);
    let of = |sid: &str| {
        let row = row(&found.rows, sid);
        assert_eq!(row.state, State::Working);
        (row.source_gaps.clone(), row.degrades.first().map(|degrade| degrade.code))
    };
    assert_eq!(of("sound"), (vec![], None));
    assert_eq!(of("text"), (vec!["message history", "session metadata"], Some(Code::StoreCorrupt)));
    assert_eq!(of("bare"), (vec!["message history", "session metadata"], Some(Code::SchemaUnknown)));
    assert_eq!(of("half"), (vec!["message history"], Some(Code::SchemaUnknown)));
    let errors: Vec<String> = found.store_errors.iter().map(|(_, why)| why.clone()).collect();
    assert!(errors.iter().any(|why| why.starts_with("DatabaseError: file is not a database")), "{errors:?}");
    assert!(errors.contains(&"OperationalError: no such table: steps".into()), "{errors:?}");
    // A repaired store comes back at once (its stamp moved), and a failure is not forgotten meanwhile.
    assert_eq!(scene.read(false).store_errors.len(), found.store_errors.len());
    scene.store("half", &(steps(&[(15, step(NOW - 30.0, 100, ""))]) + &trajectory(b"")), 4.0);
    let rows = scene.rows(false);
    assert_eq!((row(&rows, "half").rate_per_min, row(&rows, "half").source_gaps.len()), (Some(10), 0));
}

/// AGY-015, AGY-017, AGY-032: a held log is a gap, never passed over.
#[test]
fn agy_032_a_store_held_by_its_writer_is_a_gap_and_comes_back() {
    let mut scene = Scene::new("held");
    let path = scene.store(ROOT, ROOT_SQL, 20.0);
    let owner = Connection::open(&path).unwrap();
    owner
        .execute_batch("PRAGMA locking_mode=EXCLUSIVE; PRAGMA wal_autocheckpoint=0; UPDATE steps SET status = 4")
        .unwrap();
    let rows = scene.rows(false);
    let held = row(&rows, ROOT);
    assert_eq!(held.source_gaps, ["message history", "session metadata"], "the log is never passed over");
    assert_eq!((held.model.as_deref(), held.state), (None, State::Working));
    drop(owner);
    touch(&path, NOW - 19.0);
    let rows = scene.at(NOW + 30.0, false).rows;
    assert_eq!(
        (row(&rows, ROOT).model.as_deref(), row(&rows, ROOT).source_gaps.len()),
        (Some("Gemini 3.1 Pro (High)"), 0)
    );
}

/// AGY-015, FIELD-042: a live log is read.
#[test]
fn agy_015_a_writer_is_read_live_out_of_its_log() {
    let mut scene = Scene::new("live");
    let path = scene.store(ROOT, ROOT_SQL, 100.0);
    let owner = Connection::open(&path).unwrap();
    owner.execute_batch("PRAGMA wal_autocheckpoint=0").unwrap();
    assert_eq!(row(&scene.rows(false), ROOT).rate_per_min, Some(60));
    let cell = hex(&step(NOW - 5.0, 700, "Searching"));
    owner.execute_batch(&format!("INSERT INTO steps (idx, step_type, metadata) VALUES (2, 15, X'{cell}')")).unwrap();
    touch(&path.with_extension("db-wal"), NOW - 5.0);
    let rows = scene.rows(false);
    let live = row(&rows, ROOT);
    assert_eq!((live.rate_per_min, live.state_detail.as_deref()), (Some(130), Some("Searching")));
}

/// AGY-015, AGY-016, AGY-033: closed stores in a folder of no rights, without an error.
#[cfg(unix)]
#[test]
fn agy_016_agy_033_a_closed_store_in_a_folder_that_is_not_writable_is_read() {
    use std::os::unix::fs::PermissionsExt;
    let mut scene = Scene::new("closed");
    scene.store(ROOT, ROOT_SQL, 20.0);
    scene.store(CHILD, CHILD_SQL, 20.0);
    scene.file(&format!("conversations/{CHILD}.db-wal"), "", 20.0);
    let dir = scene.root.join("conversations");
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o555)).unwrap();
    let found = scene.read(false);
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o755)).unwrap();
    let root = row(&found.rows, ROOT);
    assert_eq!((root.subagents.len(), root.source_gaps.len(), found.store_errors.len()), (1, 0, 0));
}

/// AGY-004: what was said is in no row.
#[test]
fn trust_026_trust_028_agy_004_what_was_said_is_in_no_row() {
    let mut scene = Scene::new("said");
    let carriers =
        ["thinking", "redacted_thinking", "reasoning", "reasoningText", "thoughts", "encrypted_content", "signature"];
    let said: Vec<u8> =
        carriers.iter().enumerate().flat_map(|(n, name)| bytes(40 + n as u64, format!("MARK {name}"))).collect();
    let cell = [step(NOW - 10.0, 5, "Working"), said.clone()].concat();
    let sql = steps(&[(14, step(NOW - 60.0, 0, "")), (15, cell)])
        + &trajectory(&said)
        + &format!(
            "ALTER TABLE steps ADD COLUMN step_payload BLOB; UPDATE steps SET step_payload = X'{0}';
             CREATE TABLE gen_metadata (idx INTEGER PRIMARY KEY, data BLOB); INSERT INTO gen_metadata VALUES (1, X'{0}');",
            hex(&said)
        );
    scene.store(ROOT, &sql, 5.0);
    for name in names::NEVER {
        scene.file(name, "MARK", 1.0);
    }
    for all in [false, true] {
        let found = scene.read(all);
        let told = serde_json::to_string(&found.rows).unwrap() + &format!("{:?} {:?}", found.rows, found.store_errors);
        assert!(told.contains("Working") && !told.contains("MARK"), "{told}");
    }
}

/// AGY-044: a warm pass opens nothing, so rows need no database.
#[test]
fn agy_044_row_011_a_warm_pass_opens_nothing_and_says_the_same() {
    let mut scene = Scene::new("warm");
    let path = scene.store(ROOT, ROOT_SQL, 20.0);
    scene.store(GRAND, &child_of(ROOT, "checker", &[]), 20.0);
    let first = format!("{:?}", scene.rows(false));
    // Content that can no longer be read under the same stamps shows that nothing was opened.
    let stamp = read::look(&path).unwrap().stamp;
    std::fs::write(&path, vec![0; stamp.len as usize]).unwrap();
    touch(&path, stamp.mtime());
    assert_eq!(format!("{:?}", scene.rows(false)), first);
    assert!(!first.contains(&*scene.root.to_string_lossy()), "no path of the store is in a row");
}

#[test]
#[ignore = "needs a measuring home and a release build"]
fn cost_of_cold_and_warm_passes() {
    crate::harness::testkit::cost(&|home| {
        Box::new(Antigravity::new(home.join(".gemini/antigravity-cli"), home.into()))
    });
}
