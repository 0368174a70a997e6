//! Processes and registries that say a session lives, which only its transcript can tell.

use super::home::{Home, lines, row, talk};
use serde_json::json;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// FIELD-036, FIELD-038, FIELD-068: a helper process that stands in a session's folder, and a registry that names a process
/// which lives, keep no dead session alive.
#[test]
fn a_cold_session_is_idle_whatever_runs() {
    let home = Home::new();
    std::fs::create_dir(home.at("shop")).unwrap();
    let mut records = talk(&home, "Cold", 900.0);
    records[0]["cwd"] = json!(home.at("shop"));
    let id = "27d10654-0000-4000-8000-000000000000";
    home.write(&format!(".claude/projects/-shop/{id}.jsonl"), lines(&records), 600.0);
    let mut helper = Command::new("/bin/sh")
        .arg0("claude")
        .args(["-c", "sleep 60; :", "--bg-spare"])
        .current_dir(home.at("shop"))
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    for folder in ["sessions", "ide"] {
        let entry =
            json!({"pid": helper.id(), "sessionId": id, "cwd": home.at("shop"), "status": "busy", "startedAt": 1});
        home.write(&format!(".claude/{folder}/{}.json", helper.id()), entry.to_string(), 0.0);
    }
    let board = home.serve();
    let data = board.data();
    // SAFETY: the group of a child of ours that has not been waited for.
    unsafe { libc::kill(-(helper.id() as libc::pid_t), libc::SIGKILL) };
    helper.wait().unwrap();
    let row = row(&data, "claude", "27d10654");
    assert_eq!((&row["state"], &row["state_detail"]), (&json!("idle"), &json!("awaiting your message")));
    assert_eq!(row["last_activity"], json!(home.now - 600.0));
}
