//! Every hostile shape a Claude transcript can have, all at once in one home.

use super::home::{Home, gaps, harness, lines, row, talk};
use serde_json::{Value, json};
use std::io::{Seek, SeekFrom, Write};
use std::time::Instant;

const MIB: usize = 1024 * 1024;

/// A session that is broken somewhere, and what the board must say of it.
struct Plant {
    key: &'static str,
    title: Option<String>,
    /// Code and count of the one gap; none where nothing is lost.
    gap: Option<(&'static str, u64)>,
}

fn name(key: &str) -> String {
    format!(".claude/projects/-w-acme-shop/{key}-0000-4000-8000-000000000000.jsonl")
}

/// Plants a transcript around a good conversation: `before` and `after` are written as they are.
fn plant(home: &Home, key: &'static str, before: &[u8], after: &[u8], gap: Option<(&'static str, u64)>) -> Plant {
    let good = lines(&talk(home, &format!("Title of {key}"), 300.0));
    home.write(&name(key), [before, &good, after].concat(), 200.0);
    Plant { key, title: Some(format!("Title of {key}")), gap }
}

/// Fields of every wrong type, none of which makes a line unreadable.
fn confused(home: &Home) -> Vec<u8> {
    let wrong =
        [json!(null), json!(true), json!(-1), json!(1e308), json!("x"), json!([]), json!([{}]), json!({"a": [1]})];
    let mut records = Vec::new();
    for w in &wrong {
        records.push(json!({"type": w, "timestamp": w, "message": w, "uuid": w}));
        records.push(json!({"type": "user", "timestamp": home.iso(250.0), "isMeta": true, "cwd": w, "teamName": w,
                            "agentName": w, "agentSetting": w, "message": {"content": w}}));
        records.push(
            json!({"type": "assistant", "timestamp": w, "message": {"id": w, "model": w, "usage": w, "content": [
            w, {"type": w}, {"type": "text", "text": w}, {"type": "tool_use", "id": w, "name": w, "input": w},
            {"type": "tool_use", "id": "q", "name": "AskUserQuestion", "input": w}]}}),
        );
        records.push(json!({"type": "user", "isMeta": true, "message": {"content": [
            {"type": "tool_result", "tool_use_id": "q", "is_error": w}, {"type": "tool_result", "tool_use_id": w}]}}));
        records.push(json!({"type": "assistant", "message": {"usage": {"output_tokens": w}, "content": w}}));
        records.push(json!({"type": "ai-title", "aiTitle": w}));
        records.push(json!({"type": "last-prompt", "lastPrompt": w}));
    }
    // The two above that are texts are texts: take them back.
    records.retain(|r| r["aiTitle"] != "x" && r["lastPrompt"] != "x");
    lines(&records)
}

/// Bytes without any order; the same every time.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn plants(home: &Home) -> Vec<Plant> {
    let skipped = |count| Some(("record-skipped", count));
    let mut plants = vec![
        plant(home, "aaaa0001", b"", b"", None),
        plant(home, "aaaa0002", b"", br#"{"type":"assistant","timestamp":"2026-05-0"#, None),
        plant(home, "aaaa0003", b"\0\0\0\n{\"type\":\"ai-title\",\"aiTitle\":\"N\0L\"}\n", b"\0\n", skipped(3)),
        plant(
            home,
            "aaaa0004",
            b"\xff\xfe\n\xc3\x28\n",
            b"{\"type\":\"system\",\"timestamp\":\"\xf0\x9f\"}\n",
            skipped(2),
        ),
        plant(
            home,
            "aaaa0005",
            b"not json\n[1,2]\n\"text\"\n17\nnull\n{\n{\"type\":\"user\"\n\n \t\n",
            b"",
            skipped(7),
        ),
        plant(
            home,
            "aaaa0006",
            format!("{{\"type\":\"user\",\"a\":{}\n", "[".repeat(200_000)).as_bytes(),
            b"",
            skipped(1),
        ),
        plant(
            home,
            "aaaa0007",
            format!("{{\"type\":\"user\",\"message\":{}1{}\n", "{\"a\":".repeat(50_000), "}".repeat(50_001)).as_bytes(),
            b"",
            skipped(1),
        ),
        plant(home, "aaaa0008", &confused(home), b"", None),
    ];
    let crlf = String::from_utf8(lines(&talk(home, "Title of aaaa0009", 300.0))).unwrap().replace('\n', "\r\n");
    home.write(&name("aaaa0009"), format!("\u{feff}{crlf}"), 200.0);
    plants.push(Plant { key: "aaaa0009", title: Some("Title of aaaa0009".into()), gap: None });

    // A clock a day ahead in the records, and in the file's own time.
    home.write(&name("aaaa0010"), lines(&talk(home, "Title of aaaa0010", -86_400.0)), 200.0);
    plants.push(Plant { key: "aaaa0010", title: Some("Title of aaaa0010".into()), gap: None });
    plant(home, "aaaa0011", b"", b"", None);
    super::home::touch(&home.at(&name("aaaa0011")), home.now + 90_000.0);

    home.write(&name("aaaa0012"), b"", 200.0);
    plants.push(Plant { key: "aaaa0012", title: None, gap: None });
    let bytes = [noise(65_536), b"\n".to_vec()].concat();
    let count = bytes.split(|b| *b == b'\n').filter(|l| !l.trim_ascii().is_empty()).count() as u64;
    home.write(&name("aaaa0013"), &bytes, 200.0);
    plants.push(Plant { key: "aaaa0013", title: None, gap: skipped(count) });

    // A record of a hundred mebibytes between others, and alone; a file of five gibibytes.
    let (good, path) = (talk(home, "Title of aaaa0014", 300.0), home.place(&name("aaaa0014")));
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(&lines(&good[..1])).unwrap();
    file.write_all(br#"{"type":"assistant","message":{"content":[{"type":"text","text":""#).unwrap();
    let block = vec![b'x'; MIB];
    (0..100).for_each(|_| file.write_all(&block).unwrap());
    file.write_all(b"\"}]}}\n").unwrap();
    file.write_all(&lines(&good[1..])).unwrap();
    super::home::touch(&path, home.now - 200.0);
    plants.push(Plant { key: "aaaa0014", title: Some("Title of aaaa0014".into()), gap: Some(("read-in-part", 0)) });
    let path = home.write(&name("aaaa0015"), b"{\"type\":\"user\",\"message\":\"", 0.0);
    std::fs::File::options().write(true).open(&path).unwrap().set_len(100 * MIB as u64).unwrap();
    super::home::touch(&path, home.now - 200.0);
    plants.push(Plant { key: "aaaa0015", title: None, gap: Some(("read-in-part", 0)) });
    let path = home.write(&name("aaaa0016"), b"", 0.0);
    let mut file = std::fs::File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(5 * 1024 * MIB as u64)).unwrap();
    file.write_all(b"\n").unwrap();
    file.write_all(&lines(&talk(home, "Title of aaaa0016", 300.0))).unwrap();
    super::home::touch(&path, home.now - 200.0);
    plants.push(Plant { key: "aaaa0016", title: Some("Title of aaaa0016".into()), gap: Some(("read-in-part", 0)) });

    plant(home, "aaaa0017", b"", b"", None);
    home.mode(&name("aaaa0017"), 0o000);
    plants.push(Plant { key: "aaaa0017", title: None, gap: Some(("store-unreadable", 0)) });
    plants
}

/// What is no transcript, whatever its name says. Returns how many of them lie among the projects.
fn traps(home: &Home) -> u64 {
    let at = |name: &str| format!(".claude/projects/-w-acme-shop/{name}");
    home.fifo(&at("bbbb0001.jsonl"));
    // A socket's path has to be short; not every system's temporary folder is.
    let socket = std::os::unix::net::UnixListener::bind(home.place(&at("bbbb0002.jsonl"))).is_ok();
    home.link("bbbb0003.jsonl", &at("bbbb0003.jsonl"));
    home.link("/dev/zero", &at("bbbb0004.jsonl"));
    home.link("../..", &at("bbbb0005"));
    home.link(".", ".claude/projects/-w-loop");
    std::fs::create_dir_all(home.at(&at("bbbb0006.jsonl/subagents"))).unwrap();
    // A folder nobody may look into.
    home.write(
        ".claude/projects/-w-closed/cccc0001-0000-4000-8000-000000000000.jsonl",
        lines(&talk(home, "Closed", 60.0)),
        60.0,
    );
    home.mode(".claude/projects/-w-closed", 0o000);
    // What lies beside a transcript.
    let beside = |name: &str| at(&format!("aaaa0001-0000-4000-8000-000000000000/{name}"));
    home.fifo(&beside("subagents/agent-fifo.jsonl"));
    home.write(&beside("subagents/agent-torn.jsonl"), b"{\"type\":\"assis", 10.0);
    home.write(&beside("subagents/agent-torn.meta.json"), b"\0", 10.0);
    home.link(".", &beside("subagents/workflows"));
    home.write(".claude/tasks/aaaa0001/1.json", br#"{"id":"1","subject":"Good","status":"completed"}"#, 210.0);
    home.write(".claude/tasks/aaaa0001/2.json", b"{\"id\":", 210.0);
    home.write(".claude/tasks/aaaa0001/3.json", b"\xff", 210.0);
    home.fifo(".claude/tasks/aaaa0001/4.json");
    home.write(".claude/teams/session-aaaa0001/config.json", "[".repeat(10_000), 210.0);
    home.fifo(".claude/teams/session-aaaa0002/config.json");
    // FIFO, four links; the FIFO and the link among the subagents; the socket.
    7 + u64::from(socket)
}

#[track_caller]
fn judge(data: &Value, plants: &[Plant], trapped: u64) {
    for plant in plants {
        let row = row(data, "claude", plant.key);
        assert_eq!(row["title"].as_str(), plant.title.as_deref(), "{}", plant.key);
        let file = format!("{}-0000-4000-8000-000000000000.jsonl", plant.key);
        let beside = ("record-skipped".to_owned(), "claude.tasks".to_owned(), 2);
        let mut want: Vec<_> =
            plant.gap.iter().map(|(code, count)| ((*code).to_owned(), file.clone(), *count)).collect();
        want.extend(Some(beside).filter(|_| plant.key == "aaaa0001"));
        assert_eq!(gaps(row), want, "{}", plant.key);
        let (working, last) = (plant.key == "aaaa0001", row["last_activity"].as_f64().unwrap());
        assert_eq!(row["state"] == "working", working, "{}: {row:#}", plant.key);
        assert!(last > 0.0 && row["active"] == true, "{}", plant.key);
    }
    let mut sids: Vec<&str> = data["sessions"].as_array().unwrap().iter().map(|r| r["sid"].as_str().unwrap()).collect();
    sids.retain(|sid| plants.iter().all(|p| p.key != *sid));
    assert!(sids.is_empty(), "{sids:?}");
    // What single rows lack is said of the harness once more; two of the records are tasks.
    let records = 2 + plants
        .iter()
        .filter_map(|p| p.gap)
        .filter(|(code, _)| *code == "record-skipped")
        .map(|(_, n)| n)
        .sum::<u64>();
    let claude = harness(data, "claude");
    assert_eq!(claude["error"], Value::Null);
    let gap = |code: &str, source: &str, count| (code.to_owned(), source.to_owned(), count);
    let want = [
        gap("store-unreadable", "claude.projects", 0),
        gap("record-skipped", "claude.projects", trapped + records),
        gap("record-skipped", "claude.tasks", 1),
        gap("record-skipped", "claude.teams", 1),
        gap("read-in-part", "claude.projects", 0),
    ];
    assert_eq!(gaps(claude), want);
}

/// CLAUDE-005, CLAUDE-010, CLAUDE-127, FIELD-044, FIELD-048, FIELD-056, FIELD-059, PAYLOAD-004, PAYLOAD-005, ROW-011,
/// TRUST-033:
/// every hostile shape at once costs itself alone, is named, and neither time nor memory grows with it.
#[test]
fn every_hostile_transcript_at_once() {
    let home = Home::new();
    let plants = plants(&home);
    let trapped = traps(&home);
    let board = home.serve();
    let begun = Instant::now();
    let first = board.data();
    let cold = begun.elapsed();
    judge(&first, &plants, trapped);
    for path in [home.path.to_str().unwrap(), "/w/acme"] {
        assert!(!first["sessions"].to_string().contains(path), "no row names a path");
    }
    let skewed = row(&first, "claude", "aaaa0010");
    assert_eq!((&skewed["last_activity"], &skewed["own_activity"]), (&json!(home.now - 200.0), &json!(0.0)));
    // Once more, from what is kept.
    let again = board.until("a later collection", |b| Some(b.data()).filter(|d| d["generated"] != first["generated"]));
    judge(&again, &plants, trapped);
    // A file whose clock is ahead is there when every session is asked for.
    assert_eq!(row(&board.get("/api/data?all=1").json(), "claude", "aaaa0011")["active"], false);
    let counters = board.get("/api/health?counters=1").json();
    assert!(!counters.to_string().contains("panic\":1"), "{counters}");
    assert!(!board.said().contains("panicked"), "{}", board.said());
    assert!(cold.as_secs() < 60, "{cold:?}");
    if let Some(peak) = board.peak_kib() {
        assert!(peak < 120 * 1024, "{peak} KiB");
    }
    println!("cold {cold:?}, peak {:?} KiB", board.peak_kib());
}
