//! Records a strict reader would refuse, and the text in them.

use super::super::extract::{Text, text};
use super::super::json::{MAX_DEPTH, lenient, record, too_deep};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

/// SAFE-003.
#[test]
fn safe_003_lone_surrogates_cost_no_record() {
    for (line, want) in [
        (r#"{"a":"half \ud83d a \udc00 here"}"#, "half \u{fffd} a \u{fffd} here"),
        (r#"{"a":"\udfff and \uD83D\uDE80"}"#, "\u{fffd} and 🚀"),
        (r#"{"a":"\ud83d\ud83d\ude80"}"#, "\u{fffd}🚀"),
        (r#"{"a":"\ude80\ud83d"}"#, "\u{fffd}\u{fffd}"),
        (r#"{"a":"\\ud800 is text"}"#, "\\ud800 is text"),
        (r#"{"a":"\\\ud800"}"#, "\\\u{fffd}"),
        (r#"{"a":"\ud7ff\ue000"}"#, "\u{d7ff}\u{e000}"),
        (r#"{"a":"\uD8aG"}"#, "refused"),
    ] {
        let value: Value = serde_json::from_str(&lenient(line.as_bytes())).unwrap_or_else(|_| "refused".into());
        assert_eq!(value.get("a").unwrap_or(&value), want, "{line}");
    }
    for cut in 0..12 {
        let line = &br#"{"a\ud8\ud83d"#[..cut];
        assert!(lenient(line).len() <= line.len());
    }
}

/// TRUST-033.
#[test]
fn trust_033_a_mark_and_stray_bytes_are_ordinary_data() {
    assert_eq!(lenient(b"\xEF\xBB\xBF{\"a\":1}"), "{\"a\":1}");
    assert_eq!(lenient(b"{\"a\":\"x\xFFy\"}"), "{\"a\":\"x\u{fffd}y\"}");
    assert_eq!(lenient(b"{\"a\":\"\xE2\x82"), "{\"a\":\"\u{fffd}");
    assert!(matches!(lenient("{\"a\":\"ü \\n \\ud83d\\ude80\"}".as_bytes()), Cow::Borrowed(_)));
}

/// TRUST-033.
#[test]
fn trust_033_nesting_beyond_128_levels_is_skipped() {
    let nested = |n: usize| format!("{{\"a\":{}1{}}}", "[".repeat(n), "]".repeat(n));
    assert!(record(nested(MAX_DEPTH - 1).as_bytes()).is_some());
    assert!(record(nested(MAX_DEPTH).as_bytes()).is_none());
    assert!(too_deep("[{\"a\":".repeat(1_000_000).as_bytes()));
    let flat = format!("[{}]", "[],{},".repeat(500));
    assert!(!too_deep(flat.as_bytes()));
    let quoted = format!("{{\"a\":\"{} \\\" {}\"}}", "[".repeat(300), "{".repeat(300));
    assert!(!too_deep(quoted.as_bytes()));
    for line in ["", " ", "[1]", "\"x\"", "not json", "17"] {
        assert_eq!(record(line.as_bytes()), None, "{line}");
    }
    assert_eq!(record(b"\xEF\xBB\xBF {\"a\":1}\r\n").as_deref(), Some("{\"a\":1}"));
}

/// TEXT-001.
#[test]
fn text_001_text_of_any_shape() {
    let deep = |n: usize| format!("{}\"x\"{}", "[".repeat(n), "]".repeat(n));
    let (four, five, long) = (deep(4), deep(5), format!("\"{}\"", "é".repeat(2500)));
    let twice = format!("[{long},{long}]");
    let cases = [
        (r#""plain""#, "plain".to_owned()),
        (r#""esc\naped""#, "esc\naped".to_owned()),
        (
            r#"[{"type":"text","text":"Fix the"},{"type":"image","source":{}},"",{"type":"text","text":"tax"}]"#,
            "Fix the tax".into(),
        ),
        (r#"{"value":"v","prompt":"p","content":["c"],"text":""}"#, "c".into()),
        (r#"{"message":{"content":{"text":"t"}}}"#, "t".into()),
        (r#"{"other":"x"}"#, String::new()),
        ("null", String::new()),
        ("true", String::new()),
        ("-1.5e3", String::new()),
        ("[]", String::new()),
        (&four, "x".into()),
        (&five, String::new()),
        (&long, "é".repeat(2000)),
        (&twice, "é".repeat(2000)),
    ];
    for (json, want) in cases {
        let value: Value = serde_json::from_str(json).expect("JSON");
        assert_eq!(text(&value), want, "value {json}");
        let read: Text<'_> = serde_json::from_str(json).expect("any shape");
        assert_eq!(read.0, want, "stream {json}");
    }
}

/// TRUST-028.
#[test]
fn trust_028_parts_that_carry_reasoning_yield_nothing() {
    for kind in ["thinking", "redacted_thinking", "reasoning", "summary_text"] {
        let json = format!(r#"[{{"text":"hidden","type":"{kind}"}},{{"type":"text","text":"shown"}}]"#);
        let value: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(text(&value), "shown");
        let read: Text<'_> = serde_json::from_str(&json).expect("any shape");
        assert_eq!(read.0, "shown");
    }
}

/// RED-030.
#[test]
fn red_030_the_bound_of_extracted_text_leaves_no_half_key() {
    let json = format!("\"{} sk-ant-api03-{} tail\"", "x".repeat(1990), "A".repeat(95));
    let read: Text<'_> = serde_json::from_str(&json).expect("any shape");
    assert_eq!(read.0, format!("{} sk-ant-…REDACTED", "x".repeat(1990)));
}

/// TEXT-001.
#[test]
fn text_001_a_plain_string_is_borrowed_from_the_line() {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow, default)]
        content: Text<'a>,
        #[serde(borrow, default)]
        missing: Text<'a>,
    }
    let read: Message<'_> = serde_json::from_str(r#"{"content":"words","x":[1]}"#).expect("JSON");
    assert!(matches!(read.content.0, Cow::Borrowed("words")));
    assert_eq!(read.missing.0, "");
}
