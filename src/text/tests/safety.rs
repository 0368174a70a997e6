//! Safe text, names, diagnostics and clipping.

use super::super::clip::clip;
use super::super::safe::{clean, diagnostic, safe_lines, safe_name, safe_name_of, safe_value};
use super::super::{MARKER, redact_clip, safe_text};
use serde_json::json;
use std::borrow::Cow;

/// SAFE-004, SAFE-007.
#[test]
fn safe_004_and_007_every_unsafe_character_becomes_a_space() {
    let ranges = [
        (0, 0x1F),
        (0x7F, 0x9F),
        (0x200B, 0x200B),
        (0x200E, 0x200F),
        (0x2028, 0x202E),
        (0x2066, 0x2069),
        (0xFEFF, 0xFEFF),
    ];
    let unsafe_char = |c: u32| ranges.iter().any(|(a, b)| (*a..=*b).contains(&c));
    for code in (0..=0x2_FFFF).filter_map(char::from_u32) {
        let want = if unsafe_char(code as u32) { "left right".to_owned() } else { format!("left{code}right") };
        assert_eq!(safe_text(&format!("left{code}right"), 40), want, "U+{:04X}", code as u32);
    }
    let all: String = ranges.iter().flat_map(|(a, b)| *a..=*b).filter_map(char::from_u32).collect();
    assert_eq!(safe_text(&format!("left{all}right{all}{all}"), 40), "left right ");
}

/// SAFE-005, SAFE-006.
#[test]
fn safe_005_and_006_joiners_spaces_and_markup_stay() {
    for text in ["می\u{200c}خواهم 👩\u{200d}👧 क\u{094d}\u{200d}ष", "  a   b  ", "<b>&amp; \"x\" 'y'</b>", ""]
    {
        assert!(matches!(safe_text(text, 80), Cow::Borrowed(same) if same == text), "{text}");
    }
    assert_eq!(safe_text(&"🚀".repeat(100), 80), "🚀".repeat(80));
}

/// SAFE-001.
#[test]
fn safe_001_controls_go_before_shapes_and_the_bound_comes_last() {
    let key = format!("sk-ant-\u{200b}api03-{}", "A".repeat(95));
    assert_eq!(safe_text(&key, 10), "sk-ant- ap", "a split key is a known limit (RED-060)");
    let pem = format!("-----BEGIN PRIVATE KEY-----\u{b}{}", "M".repeat(64));
    assert_eq!(safe_text(&pem, 140), format!("-----BEGIN {MARKER}"));
}

/// SAFE-002.
#[test]
fn safe_002_values_become_text() {
    for (value, want) in [
        (json!(null), ""),
        (json!(false), ""),
        (json!(0), ""),
        (json!(0.0), ""),
        (json!(""), ""),
        (json!([]), ""),
        (json!({}), ""),
        (json!(true), "true"),
        (json!(12345), "12345"),
        (json!(1.5), "1.5"),
        (json!("a\tb"), "a b"),
    ] {
        assert_eq!(safe_value(&value, 40), want, "{value}");
    }
}

/// SAFE-012.
#[test]
fn safe_012_names_are_strings_safe_trimmed_and_not_empty() {
    assert_eq!(safe_name("\u{7} claude-one \u{202e}", 40).as_deref(), Some("claude-one"));
    assert_eq!(safe_name("\0\u{200b} ", 40), None);
    assert_eq!(safe_name_of(&json!("m".repeat(90)), 40), Some("m".repeat(40)));
    for value in [json!(4), json!({"id": "m"}), json!(null), json!(["m"])] {
        assert_eq!(safe_name_of(&value, 40), None);
    }
}

#[test]
fn safe_lines_keep_line_breaks_alone() {
    assert_eq!(safe_lines("one\r\ntwo\n\n\tthree\u{202e}", 80), "one\ntwo\n\n three ");
    assert!(matches!(safe_lines("one\ntwo", 80), Cow::Borrowed(_)));
    let pem = format!("see\n-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\nend", "M".repeat(64));
    assert_eq!(safe_lines(&pem, 80), format!("see\n-----BEGIN {MARKER}\nend"));
}

/// SAFE-008.
#[test]
fn safe_008_only_a_marker_overruns_the_limit() {
    let key = format!("sk-ant-api03-{}", "A".repeat(95));
    for at in 0..40 {
        let text = format!("{}{key} tail", "w".repeat(at).trim_end_matches('w').to_owned() + &"- ".repeat(at / 2));
        let got = safe_text(&text, 20).into_owned();
        assert!(got.chars().count() <= 20 || got.ends_with(MARKER), "{got}");
        assert!(got.chars().count() <= 39, "{got}");
        assert!(!got.ends_with("sk-ant-"), "{got}");
    }
}

/// RED-068.
#[test]
fn red_068_diagnostics_are_redacted_cut_and_marked() {
    assert_eq!(diagnostic("disk\nfull"), "disk full");
    assert_eq!(diagnostic(&"x".repeat(1024)), "x".repeat(1024));
    assert_eq!(diagnostic(&"x".repeat(1025)), format!("{}... [truncated]", "x".repeat(1009)));
    let key = format!(" sk-ant-api03-{} ", "A".repeat(95));
    for at in 960..1030 {
        let got = diagnostic(&format!("{}{key}{}", "x".repeat(at), "y".repeat(60)));
        let body = got.strip_suffix("... [truncated]").expect("marked");
        assert!(got.chars().count() <= 1024 && !body.replace(MARKER, "").contains('…'), "{got}");
        assert!(!body.ends_with("sk-ant-") && !body.contains("AAA"), "{got}");
    }
}

/// TEXT-004.
#[test]
fn text_004_clip() {
    let x = |s: &str, n| s.repeat(n);
    for (text, limit, want) in [
        (x("y", 80), 80, x("y", 80)),
        (x("x", 200), 80, x("x", 80) + "…"),
        (x("a", 60) + " " + &x("b", 60), 80, x("a", 60) + "…"),
        (x("a", 50) + " " + &x("b", 60), 80, x("a", 50) + " " + &x("b", 29) + "…"),
        (x("a", 53) + " " + &x("b", 60), 80, x("a", 53) + " " + &x("b", 26) + "…"),
        (x("a", 54) + " " + &x("b", 60), 80, x("a", 54) + "…"),
        (x("z", 76) + " (-_ " + &x("q", 30), 80, x("z", 76) + "…"),
        (x("e", 78) + "e\u{301}\u{301}\u{301}", 80, x("e", 79) + "…"),
        (x("é", 30), 10, x("é", 10) + "…"),
        ("word ".repeat(40), 80, "word ".repeat(14) + "word…"),
    ] {
        assert_eq!(clip(&text, limit), want, "{text}");
    }
}

/// RED-034.
#[test]
fn red_034_a_clipped_line_ends_in_no_bare_prefix_and_no_half_marker() {
    for kept in ["sk-ant-", "github_pat_", "-----BEGIN ", "://"] {
        for at in 0..60 {
            for gap in [" ", "."] {
                let text = format!("{}{gap}{kept}{MARKER}{}", "x".repeat(at), "y".repeat(60));
                let got = clip(&text, 40);
                let shown = got.trim_end_matches('…');
                assert!(got.chars().count() <= 59, "{got}");
                assert!(!shown.ends_with(kept.trim_end()), "{got}");
                assert!(
                    !shown.replace(MARKER, "").contains("REDA") && !shown.replace(MARKER, "").contains('…'),
                    "{got}"
                );
            }
        }
    }
}

/// RED-035.
#[test]
fn red_035_a_cut_in_the_cue_loses_the_name_alone() {
    let text = format!("{}aws_secret_access_key = {}", "x".repeat(20), "k".repeat(40));
    assert_eq!(redact_clip(&text, 30), format!("{}aws_secret", "x".repeat(20)));
}

#[test]
fn clean_borrows_what_it_does_not_change() {
    assert!(matches!(clean("nothing to do — ünïcode"), Cow::Borrowed(_)));
}
