//! Stores that are written while they are read, and passes in which nothing moves.

use super::*;

/// CUR-005, FIELD-042: what only the log holds is read.
#[test]
fn cur_005_a_writer_holding_the_log_open_is_read_live() {
    let mut home = Home::new("live");
    home.named("s", &[], 30.0);
    assert_eq!(row(&home.then(), "s").title.as_deref(), Some("s"));
    let store = home.open("s");
    store.execute_batch("PRAGMA wal_autocheckpoint = 0").unwrap();
    store.execute("UPDATE meta SET value = ?1", [hex(br#"{"name":"In the log"}"#)]).unwrap();
    add(&store, &[gate(THEN - 1.0, ASKED)]);
    touch(&home.path("s").with_file_name(STORE_LOG), THEN - 1.0);
    let found = home.then();
    assert_eq!((row(&found, "s").title.as_deref(), row(&found, "s").state), (Some("In the log"), State::NeedsInput));
}

/// Whatever is appended, changed or removed, a followed store reads like a new one (TRUST-081).
#[test]
fn trust_081_a_followed_store_reads_like_a_new_one() {
    let mut home = Home::new("follow");
    home.fixture(&[], 30.0);
    let carrier = |n: u32| gate(THEN - f64::from(n), ASKED);
    let delete = |blob: Vec<u8>| format!("DELETE FROM blobs WHERE id = '{}'", id(&blob));
    let steps: Vec<(Vec<Vec<u8>>, String)> = vec![
        (vec![carrier(50)], String::new()),
        (vec![b"unrelated".to_vec()], String::new()),
        (vec![gate(THEN, "{}")], String::new()),
        (vec![], delete(gate(THEN, "{}"))),
        (vec![carrier(40)], delete(carrier(50))),
        (vec![], delete(carrier(40))),
        (vec![carrier(30)], "UPDATE meta SET value = '{\"name\":\"Renamed\"}'".into()),
        (vec![], "DROP TABLE blobs".into()),
    ];
    for (i, (blobs, sql)) in steps.into_iter().enumerate() {
        let store = home.open(PARENT);
        store.execute_batch(&sql).unwrap();
        add(&store, &blobs);
        drop(store);
        touch(&home.path(PARENT), THEN - 20.0 + i as f64);
        for all in [false, true] {
            assert_eq!(published(&home.pass(THEN, all)), published(&home.cold(THEN, all)), "step {i}");
        }
    }
}

#[test]
fn a_pass_in_which_nothing_moved_opens_nothing() {
    let mut home = Home::new("warm");
    home.fixture(&[], 10.0);
    let first = published(&home.then());
    let len = std::fs::metadata(home.path(PARENT)).unwrap().len();
    std::fs::write(home.path(PARENT), vec![b'x'; len as usize]).unwrap();
    touch(&home.path(PARENT), THEN - 10.0);
    assert_eq!(published(&home.then()), first);
    std::fs::remove_dir_all(home.path(PARENT).parent().unwrap()).unwrap();
    assert!(home.then().rows.is_empty() && home.reader.chats.is_empty());
}

#[test]
fn trust_056_every_chat_is_watched_in_the_end_and_seen_at_once_before() {
    let mut home = Home::new("shelf");
    for i in 0..300 {
        home.named(&format!("old{i:03}"), &[], 2.0 * WINDOW);
    }
    home.named("new", &[], 10.0);
    let watch = crate::surface::watch::Watch::start(|| ());
    let pass = |reader: &mut Cursor, sweep: bool| {
        let dirty = watch.take();
        let pass = Pass { now: THEN, window: WINDOW, all: false, dirty: &dirty, sweep, watch: &watch };
        reader.collect(&pass).unwrap().rows.into_iter().map(|r| r.sid).collect::<Vec<_>>()
    };
    assert_eq!(pass(&mut home.reader, true), ["new"]);
    touch(&home.path("old299"), THEN - 5.0);
    let turns: Vec<usize> = (0..3).map(|_| pass(&mut home.reader, false).len()).collect();
    assert_eq!(turns[2], 2, "every store has had its turn by then: {turns:?}");
    std::fs::remove_dir_all(home.path("old299").parent().unwrap()).unwrap();
    home.named("made", &[], 5.0);
    std::fs::create_dir_all(home.dir.0.join("chats/ws0")).unwrap();
    std::fs::rename(home.path("new").parent().unwrap(), home.dir.0.join("chats/ws0/moved")).unwrap();
    touch(&home.path("old001"), THEN - 5.0);
    let started = std::time::Instant::now();
    let mut found = Vec::new();
    while found != ["made", "moved", "old001"] && started.elapsed().as_secs() < 10 {
        found = pass(&mut home.reader, false);
        found.sort_unstable();
    }
    assert_eq!(found, ["made", "moved", "old001"]);
    std::fs::remove_dir_all(home.dir.0.join("chats")).unwrap();
    while !pass(&mut home.reader, false).is_empty() && started.elapsed().as_secs() < 10 {}
    assert!(!home.reader.discovered() && home.reader.chats.is_empty());
}
