//! Which folder a conversation belongs to, out of the log and the cache beside the stores.

use super::*;

/// AGY-018, AGY-019, AGY-021, AGY-022, AGY-042: workspaces of cache and logs.
#[test]
fn agy_018_agy_021_agy_022_one_folder_of_several_is_told_by_the_cache() {
    let mut scene = Scene::new("workspaces");
    let id = |n: u32| format!("{n:08x}-0000-4000-8000-000000000000");
    for n in 1..=6 {
        scene.store(&id(n), "CREATE TABLE t (x)", 5.0);
    }
    let begin = |folders: &str| format!("workspaceDirs=[{folders}] appDataDir=/x\n");
    let talk = |n: u32| format!("Created conversation {}\n", id(n));
    let typed = |n: u32, text: &str| {
        format!(
            "HandleUserInput called with text: {text:?}\nForwarding user message to conversation {} (items=1)\n",
            id(n)
        )
    };
    scene.file("log/cli-1.log", begin("/w/acme/one /w/acme/two") + &talk(1) + &talk(2) + &typed(2, "first"), 50.0);
    scene.file("log/cli-2.log", begin("/w/acme/solo") + &talk(3) + &typed(2, "second") + &begin(" ") + &talk(6), 40.0);
    scene.file("log/cli-3.log", begin("/w/acme/three /w/acme/four") + &talk(4), 30.0);
    scene.file("log/cli-0.log", begin("/w/acme/three /w/acme/four") + &talk(5) + &typed(4, "old words"), 90_000.0);
    let cache = format!(
        r#"{{"/w/acme/two": "{}", "relative/path": "{}", "/w/x": 7, "/w/acme/four": "{}", "/": "{}"}}"#,
        id(1),
        id(3),
        id(5),
        id(3)
    );
    scene.file("cache/last_conversations.json", cache, 10.0);
    let rows = scene.rows(false);
    let told = |n: u32| (row(&rows, &id(n)).project.as_str(), row(&rows, &id(n)).last_prompt.as_str());
    assert_eq!(told(1), ("acme/two", ""), "its own entry");
    assert_eq!(told(2), ("acme/solo", "second"), "a later log wins");
    assert_eq!(told(3), ("acme/solo", ""), "a relative path or the root is no workspace (AGY-042)");
    assert_eq!(told(4), ("acme/four", ""), "the head of an older log tells the folder, never a prompt");
    assert_eq!(told(6), ("antigravity", ""), "a blank list is none");
    let rows = scene.rows(true);
    assert_eq!(row(&rows, &id(4)).last_prompt, "old words", "all logs are read when every session is asked for");
}

/// AGY-018, AGY-045: useless caches and rotated logs.
#[test]
fn agy_018_agy_045_a_useless_cache_or_a_log_rotated_away_costs_nothing_else() {
    let mut scene = Scene::new("rotated");
    scene.store(ROOT, ROOT_SQL, 20.0);
    let deep = "[".repeat(5000);
    for cache in ["", "[]", "7", "{\"/w/a\":", &format!("{{\"/w/a\":{deep}"), "\u{feff}{}"] {
        scene.file("cache/last_conversations.json", cache, 10.0);
        assert_eq!(row(&scene.rows(false), ROOT).project, "antigravity", "{cache:.20}");
    }
    let log = scene.file("log/cli-1.log", LOG, 10.0);
    assert_eq!(row(&scene.rows(false), ROOT).last_prompt, "show my assigned issues");
    std::fs::remove_file(log).unwrap();
    let found = scene.read(false);
    assert_eq!((row(&found.rows, ROOT).last_prompt.as_str(), found.store_errors.len()), ("", 0));
    scene.file("cache/last_conversations.json", vec![b' '; 1024 * 1024 + 1], 5.0);
    assert_eq!(scene.read(false).store_errors.len(), 1, "a cache that is too long is named");
    assert_eq!(scene.read(false).store_errors.len(), 1, "for as long as it is");
}
