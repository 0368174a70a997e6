//! What a statement may do and cost, and what its cells say.

use super::*;

#[test]
fn a_write_through_the_handle_fails() {
    let dir = Scratch::new("readonly");
    let path = dir.at("a.db");
    let live = Owner::open(&path, WAL);
    let refused = |db: &Database| {
        let write = db.connection.execute_batch("INSERT INTO t VALUES(9)").unwrap_err();
        assert!(write.to_string().contains("attempt to write a readonly database"), "{write}");
    };
    refused(&Database::open(&path).unwrap());
    live.close();
    refused(&Database::open(&path).unwrap());
}

/// OC-008, TRUST-035.
#[test]
fn oc_008_trust_035_structure_is_asserted_and_views_are_no_tables() {
    let dir = Scratch::new("schema");
    let path = dir.at("a.db");
    let endless =
        "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i AS x FROM n;";
    made(&path, &format!("CREATE TABLE T(X, y); {endless}"));
    let db = Database::open(&path).unwrap();
    assert!(db.require("t", &["x", "y"]).is_ok());
    assert_eq!(db.require("t", &["z"]), Err(StoreError::Schema("no such column: t.z".into())));
    assert_eq!(db.require("u", &["z"]), Err(StoreError::Schema("no such table: u".into())));
    assert_eq!(db.require("v", &["x"]), Err(StoreError::Schema("no such table: v".into())));
    let view = db.rows("SELECT x FROM v", &[], |_| Ok(true)).unwrap_err();
    assert_eq!(view.code(), Code::SchemaUnknown, "{view}");
    let missing = db.rows("SELECT z FROM t", &[], |_| Ok(true)).unwrap_err();
    assert_eq!(missing.to_string(), "OperationalError: no such column: z");
}

/// TRUST-064.
#[test]
fn trust_064_a_statement_without_end_is_stopped() {
    let dir = Scratch::new("endless");
    let path = dir.at("a.db");
    made(&path, "CREATE TABLE t(x)");
    let db = Database::open(&path).unwrap();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) FROM n";
    db.clock.at.store(0, Ordering::Relaxed);
    db.snapshot.set(true);
    assert_eq!(db.rows(endless, &[], |_| Ok(true)), Err(StoreError::Slow));
    db.snapshot.set(false);
    assert_eq!(count(&db).unwrap(), 0, "the next statement has its own time");
    let huge = db.rows("SELECT zeroblob(100000000)", &[], |_| Ok(true)).unwrap_err();
    assert_eq!(huge.code(), Code::StoreUnreadable, "{huge}");
}

#[test]
fn cells_are_typed_one_by_one() {
    assert_eq!(text(ValueRef::Text("aé".as_bytes()), 2).unwrap(), "a");
    assert_eq!(text(ValueRef::Blob(b"a\xff"), 9).unwrap(), "a\u{fffd}");
    assert_eq!(text(ValueRef::Integer(3), 9), None);
    assert_eq!(number(ValueRef::Text(b" 7.5 ")), Some(7.5));
    assert_eq!(number(ValueRef::Blob(b"7")), None);
    assert_eq!((number(ValueRef::Text(b"nan")), number(ValueRef::Real(f64::INFINITY))), (None, None));
    assert_eq!(epoch(ValueRef::Integer(1_789_900_000_000)), 1_789_900_000.0);
    assert_eq!((epoch(ValueRef::Text(b"1789900000000")), epoch(ValueRef::Integer(-4))), (0.0, 0.0));
    let set = [ValueRef::Integer(1), ValueRef::Real(0.5), ValueRef::Text(b"0")];
    let unset = [ValueRef::Null, ValueRef::Integer(0), ValueRef::Real(0.0), ValueRef::Text(b""), ValueRef::Blob(b"")];
    assert!(set.into_iter().all(truthy) && !unset.into_iter().any(truthy));
}

/// AGY-012, OC-042.
#[test]
fn agy_012_oc_042_the_ends_of_a_cell() {
    let dir = Scratch::new("tail");
    let path = dir.at("a.db");
    made(&path, "CREATE TABLE t(x); INSERT INTO t VALUES(CAST('abcdef' AS BLOB)), ('xy'), (NULL)");
    let db = Database::open(&path).unwrap();
    assert_eq!(db.cell_tail("t", "x", 1, 3).unwrap(), b"def");
    assert_eq!(db.cell_tail("t", "x", 2, 64).unwrap(), b"xy");
    assert_eq!(db.cell_head("t", "x", 1, 3).unwrap(), b"abc");
    assert_eq!(db.cell_head("t", "x", 2, 64).unwrap(), b"xy");
    assert!(db.cell_tail("t", "x", 3, 4).is_err() && db.cell_tail("t", "x", 9, 4).is_err());
}
