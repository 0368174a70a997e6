//! What a session has cost, out of the ledger beside the events.

use super::*;

/// COP-029: a broken ledger costs charge and model alone.
#[test]
fn cop_029_trust_034_a_broken_ledger_costs_charge_and_model_alone() {
    type Break = fn(&Path);
    let breaks: [(&str, Break, &str, bool); 5] = [
        ("absent", |_| (), "", false),
        (
            "reshaped",
            |path| drop(Connection::open(path).unwrap().execute("CREATE TABLE other (x)", [])),
            "OperationalError: no such table: assistant_usage_events",
            true,
        ),
        (
            "column",
            |path| drop(Connection::open(path).unwrap().execute("CREATE TABLE assistant_usage_events (id)", [])),
            "OperationalError: no such column: session_id",
            true,
        ),
        (
            "corrupt",
            |path| std::fs::write(path, "not a database at all".repeat(99)).unwrap(),
            "DatabaseError: file is not a database",
            true,
        ),
        ("folder", |path| std::fs::create_dir(path).unwrap(), "OperationalError: not a regular file", false),
    ];
    for (name, break_it, error, gap) in breaks {
        let mut home = Home::new(&format!("ledger-{name}"));
        home.events("s", &prompt(NOW - 5.0, "Go on"), NOW - 5.0);
        home.events("old", &prompt(NOW - 90_000.0, "Gone"), NOW - 90_000.0);
        let path = home.dir.0.join("session-store.db");
        break_it(&path);
        let found = home.at(NOW, true);
        for row in &found.rows {
            assert_eq!((row.consumption.as_deref(), row.model.as_deref()), (None, None), "{name}");
            assert_eq!(row.source_gaps, if gap { vec!["token accounting"] } else { vec![] }, "{name}");
        }
        assert_eq!(row(&found.rows, "s").title.as_deref(), Some("Go on"), "{name}");
        let errors: Vec<&str> = found.store_errors.iter().map(|(_, why)| why.as_str()).collect();
        assert_eq!(errors, if error.is_empty() { vec![] } else { vec![error] }, "{name}");
        assert_eq!((found.degrades.len(), home.usage(NOW)), (errors.len(), None), "{name}");
        drop((std::fs::remove_file(&path), std::fs::remove_dir(&path)));
        home.ledger(LEDGER_SQL);
        let found = home.at(NOW + 120.0, false);
        assert_eq!(
            (found.rows[0].consumption.as_deref(), found.degrades.len()),
            (Some("0.00 AIU"), 0),
            "{name} repaired"
        );
    }
}

/// COP-022, COP-023, COP-024, COP-026, COP-027, COP-040, COP-041: what counts.
#[test]
fn cop_022_to_027_cop_040_cop_041_what_counts_and_what_is_withdrawn() {
    let mut home = Home::new("counting");
    let at = |ago: f64| format!("'{}'", iso(NOW - ago));
    let (soon, old, ahead) = (at(60.0), at(90_000.0), at(-86_400.0));
    let plain = format!("'{}'", iso(NOW - 60.0).replace('T', " ").replace('Z', ""));
    let rows = [
        ("'sum'", "NULL", "'older'", "9", old.as_str()),
        ("'sum'", "NULL", "X'6f776e'", "1900000000.9", plain.as_str()),
        ("'sum'", "'sidekick-x-1'", "'mini'", "5100000000", soon.as_str()),
        ("'idle'", "NULL", "'idle-model'", "10000000", soon.as_str()),
        ("'text'", "NULL", "'m'", "'5'", soon.as_str()),
        ("'negative'", "NULL", "'m'", "-1", soon.as_str()),
        ("'unplaced'", "NULL", "'m'", "1", "'yesterday'"),
        ("'ahead'", "NULL", "'m'", "1", ahead.as_str()),
        ("'null time'", "NULL", "'m'", "1", "NULL"),
        ("'old only'", "NULL", "'old-model'", "'odd'", old.as_str()),
        ("'unusable'", "NULL", "'older'", "1", soon.as_str()),
        ("'unusable'", "NULL", "7", "1", soon.as_str()),
        ("'blank'", "' '", "'blank-model'", "1", soon.as_str()),
        ("'subagents'", "'sidekick'", "'mini'", "1", soon.as_str()),
    ];
    home.ledger(&charges(&rows));
    for (sid, ..) in rows.iter().chain([&("'none'", "", "", "", "")]) {
        home.events(sid.trim_matches('\''), &prompt(NOW - 5.0, "Go"), NOW - if *sid == "'idle'" { 500.0 } else { 5.0 });
    }
    home.events("stale", &prompt(NOW - 90_000.0, "Go"), NOW - 90_000.0);
    let found = home.at(NOW, true);
    let told = |sid| (row(&found.rows, sid).consumption.as_deref(), row(&found.rows, sid).model.as_deref());
    assert_eq!(told("sum"), (Some("7.00 AIU"), Some("own")), "fractions dropped, blobs read as text");
    assert_eq!(told("idle"), (Some("0.01 AIU"), Some("idle-model")));
    for withdrawn in ["text", "negative", "unplaced", "ahead", "null time"] {
        assert_eq!(told(withdrawn), (None, Some("m")), "{withdrawn}: the charge alone is withdrawn");
    }
    assert_eq!(told("old only"), (Some("0.00 AIU"), Some("old-model")), "rows beyond the window still name a model");
    assert_eq!(told("unusable"), (Some("0.00 AIU"), None), "no older row replaces an unusable model");
    assert_eq!((told("blank").1, told("subagents").1), (Some("blank-model"), None));
    assert_eq!((told("none").0, told("stale").0), (Some("0.00 AIU"), None), "a real zero only where it is active");
    assert_eq!(home.usage(NOW), None, "one row that cannot be counted withdraws the total");
    // A day later the odd rows are beyond the window, or still not placed.
    let path = home.dir.0.join("session-store.db");
    let done =
        "DELETE FROM assistant_usage_events WHERE created_at IS NULL OR created_at LIKE 'yes%' OR session_id = 'ahead'";
    Connection::open(path).unwrap().execute_batch(done).unwrap();
    home.at(NOW + 86_300.0, false);
    assert_eq!(home.usage(NOW + 86_300.0), None);
    assert_eq!(home.usage(NOW + 86_400.0), None, "nothing is counted, and that is no zero");
}

/// COP-025: more rows than are read.
#[test]
fn cop_025_more_rows_than_are_read_withdraw_everything_unless_one_lies_beyond() {
    let mut home = Home::new("many");
    home.events("s", &prompt(NOW - 5.0, "Go"), NOW - 5.0);
    let fill = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         INSERT INTO assistant_usage_events (session_id, model, total_nano_aiu, created_at) SELECT 's', 'm', 1000000, '{}' FROM n;",
        iso(NOW - 60.0)
    );
    let path = home.ledger(&(charges(&[]) + &fill));
    let told = |home: &mut Home| {
        let found = home.at(NOW, false);
        (found.rows[0].consumption.clone(), found.rows[0].source_gaps.len(), found.degrades.len())
    };
    assert_eq!(told(&mut home), (Some("5.00 AIU".into()), 0, 0));
    let owner = Connection::open(&path).unwrap();
    let one = |at: f64| {
        let sql = "INSERT INTO assistant_usage_events (session_id, model, total_nano_aiu, created_at) VALUES ('s', 'm', 1000000, ?1)";
        owner.execute(sql, [iso(at)]).unwrap();
    };
    one(NOW - 60.0);
    assert_eq!(told(&mut home), (None, 1, 1));
    assert_eq!(home.usage(NOW), None);
    one(NOW - 90_000.0);
    assert_eq!(told(&mut home), (Some("5.00 AIU".into()), 0, 0));
}
