//! Shapes, anchors, gate, bounds and cost of the redactor.

use super::super::redact::{IDENTITY, may_match, scan, sweep_value};
use super::super::shapes::{SHAPES, WORK, can_start};
use super::super::{MARKER, redact, redact_clip, safe_text, sweep};
use super::{oracle, table};
use proptest::collection::vec;
use proptest::prelude::*;

/// Per shape: the shortest matching text, what is kept of it, and one character that stops a longer body.
const MINIMAL: [(&str, &str, usize, &str); 17] = [
    ("anthropic", "sk-ant-", 16, ""),
    ("openai", "sk-", 32, ""),
    ("stripe", "rk_live_", 20, ""),
    ("aws", "AKIA", 16, ""),
    ("aws_secret", "secretAccessKey:", 40, ""),
    ("aws_secret, env", "AWS_SECRET_ACCESS_KEY=", 40, ""),
    ("github", "ghr_", 36, ""),
    ("github_fine", "github_pat_", 40, ""),
    ("gitlab", "glpat-", 20, ""),
    ("npm", "npm_", 36, ""),
    ("linear", "lin_api_", 40, ""),
    ("slack", "xoxs-", 15, ""),
    ("slack app", "xapp-", 15, ""),
    ("posthog", "phc_", 32, ""),
    ("google", "AIza", 35, ""),
    ("jwt", "eyJ", 8, ".ABCDEFGH.ABCDEFGH"),
    ("pem", "-----BEGIN ", 0, "PRIVATE KEY-----"),
];

/// RED-002, RED-004, RED-005, RED-006, RED-007, RED-009, RED-011, RED-013, RED-014, RED-015, RED-016, RED-017, RED-060,
/// RED-062, RED-065, RED-066, RED-070: each stands in a row of the table, and the table is read twice, once by an engine that
/// knows nothing but the patterns.
#[test]
fn red_070_every_row_of_the_table_holds() {
    let rows = table();
    assert_eq!(rows.len(), 84);
    for row in rows {
        assert_eq!(row.result.chars().count(), row.length, "row {} is written down wrongly", row.number);
        assert_eq!(safe_text(&row.input, row.limit), row.result, "safe_text, row {}", row.number);
        if !row.input.contains(['\0', '\n']) {
            assert_eq!(redact_clip(&row.input, row.limit), row.result, "redact_clip, row {}", row.number);
        }
        assert_eq!(redact(&row.input), oracle::redact(&row.input), "oracle, row {}", row.number);
    }
}

/// RED-041.
#[test]
fn red_041_a_minimal_text_of_every_shape_passes_the_gate_and_one_character_less_is_none() {
    for (name, prefix, body, tail) in MINIMAL {
        let text = format!("{prefix}{}{tail}", "A".repeat(body));
        assert!(may_match(&text), "{name} is stopped by the gate");
        assert_eq!(redact(&text), format!("{prefix}{MARKER}"), "{name}");
        if body > 0 {
            let short = format!("{prefix}{}{tail}", "A".repeat(body - 1));
            assert_eq!(redact(&short), short, "{name}, one short");
        }
    }
    for url in ["://:p@", "://u:p", "a://b:c@d"] {
        assert!(may_match(url) && redact(url).contains(MARKER), "{url}");
    }
}

/// SAFE-011.
#[test]
fn safe_011_text_without_a_cue_does_not_reach_the_shapes() {
    for text in [
        "fix the login form, then run every test again",
        "as-k me, ris-k_y task a_b--c x-y",
        "http://host/path-to_file",
        "",
    ] {
        assert!(!may_match(text), "{text}");
    }
}

/// RED-001.
#[test]
fn red_001_each_shape_is_reached_by_the_bytes_it_starts_with() {
    for shape in &SHAPES {
        assert!(shape.starts.iter().all(|b| can_start(*b)));
    }
    for byte in 0..=u8::MAX {
        assert_eq!(can_start(byte), SHAPES.iter().any(|s| s.starts.contains(&byte)), "{byte}");
    }
}

/// RED-003, RED-061.
#[test]
fn red_003_and_061_a_body_is_cut_at_its_upper_bound() {
    let bounds = [
        ("sk-ant-", 110),
        ("sk-", 180),
        ("sk_test_", 120),
        ("gho_", 255),
        ("github_pat_", 96),
        ("glpat-", 64),
        ("lin_api_", 64),
        ("xoxp-", 96),
        ("phc_", 64),
        ("eyJ23456789.23456789.", 1024),
    ];
    for (prefix, most) in bounds {
        let kept = if prefix.starts_with("eyJ") { "eyJ" } else { prefix };
        assert_eq!(redact(&format!("{prefix}{}", "B".repeat(most))), format!("{kept}{MARKER}"));
        assert_eq!(redact(&format!("{prefix}{}", "B".repeat(most + 3))), format!("{kept}{MARKER}BBB"));
    }
    for (first, second, hit) in [(1024, 4096, true), (1025, 20, false), (20, 4097, false)] {
        let jwt = format!("eyJ{}.{}.{}", "a".repeat(first), "b".repeat(second), "c".repeat(8));
        assert_eq!(redact(&jwt) == format!("eyJ{MARKER}"), hit, "segments of {first} and {second}");
    }
}

/// RED-012.
#[test]
fn red_012_a_near_miss_does_not_shield_a_key_inside_it() {
    let inner = format!("x_sk-ant-api03-AKIA{}", "Z".repeat(16));
    assert_eq!(redact(&inner), format!("x_sk-ant-api03-AKIA{MARKER}"));
}

/// RED-018, RED-019.
#[test]
fn red_018_and_019_a_private_key_ends_where_its_body_does() {
    let body = "M".repeat(64);
    let cases = [
        (format!("-----BEGIN EC PRIVATE KEY----- {body} {body} MMMM -----END EC PRIVATE KEY----- then"), " then"),
        (format!("-----BEGIN PRIVATE KEY-----\r\n{body}\r\nMM==\r\n-----END PRIVATE KEY-----\nthen"), "\nthen"),
        (format!("-----BEGIN PRIVATE KEY----- {body} short words"), " short words"),
        (format!("-----BEGIN PRIVATE KEY-----     {body}"), &*format!("     {body}")),
        ("-----BEGIN PGP PRIVATE KEY BLOCK----- it says".to_owned(), " it says"),
    ];
    for (text, rest) in cases {
        assert_eq!(redact(&text), format!("-----BEGIN {MARKER}{rest}"), "{text}");
    }
}

/// RED-064, RED-010.
#[test]
fn red_064_and_010_ordinary_text_survives_beside_an_at_sign() {
    let words = [
        "commit da39a3ee5e6b4b0d3255bfef95601890afd80709 broke it",
        "id 27d10654-0000-4000-8000-000000000000",
        "QUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJD",
        "/home/me/very/long/path/to/some/project/file_name_here.rs",
        "http://127.0.0.1:4553/ and http://localhost:4553",
        "git@github.com:acme/app.git",
        "ssh://git@github.com/acme/app",
        "image postgres:16 pulled",
        "pk_live_SSSSSSSSSSSSSSSSSSSSSSSS",
        "C:/Users/x:y and a://b:/c",
    ];
    for text in words {
        for line in [text.to_owned(), format!("{text} cc @maria"), format!("@maria {text} end")] {
            assert_eq!(redact(&line), line);
        }
    }
}

/// RED-022.
#[test]
fn red_022_the_sweep_tells_whether_it_changed_anything() {
    let mut text = format!("key ghp_{} here", "g".repeat(36));
    assert!(sweep(&mut text));
    assert_eq!(text, "key ghp_…REDACTED here");
    assert!(!sweep(&mut text));
}

/// RED-025, RED-026.
#[test]
fn red_025_and_026_every_string_but_the_identity_is_swept() {
    let key = format!("sk-ant-api03-{}", "A".repeat(95));
    let mut row = serde_json::json!({
        "sid": key, "session": key, "resume_id": key, "title": key, "n": 1,
        "tasks": [{"subject": key, "id": 3}, 7, "plain", key], "instruction": {"text": key, "at": 0.0},
    });
    assert!(sweep_value(&mut row, &IDENTITY));
    let want = serde_json::json!({
        "sid": key, "session": key, "resume_id": key, "title": "sk-ant-…REDACTED", "n": 1,
        "tasks": [{"subject": "sk-ant-…REDACTED", "id": 3}, 7, "plain", "sk-ant-…REDACTED"],
        "instruction": {"text": "sk-ant-…REDACTED", "at": 0.0},
    });
    assert_eq!(row, want);
    assert!(!sweep_value(&mut row, &IDENTITY));
}

/// A name and the text of about a length.
type Decoy = (&'static str, fn(usize) -> String);

/// Texts that make a careless matcher read the same stretch again and again.
fn decoys() -> Vec<Decoy> {
    vec![
        ("AWS prefixes", |n| "AKIA".repeat(n / 4)),
        ("AWS prefixes, one short", |n| "AKIAZZZZZZZZZZZZZZZ ".repeat(n / 20)),
        ("header and base64", |n| format!("-----BEGIN PRIVATE KEY-----{}", "M".repeat(n))),
        ("headers", |n| "-----BEGIN A B C ".repeat(n / 17)),
        ("words of a header", |n| format!("-----BEGIN {}", "A ".repeat(n / 2))),
        ("header and footer", |n| "-----BEGIN PRIVATE KEY-----\n-----END".repeat(n / 36)),
        ("URL near misses", |n| "://user:pw".repeat(n / 10)),
        ("URL users", |n| "://user".repeat(n / 7)),
        ("URL colons", |n| format!("://{}", ":".repeat(n))),
        ("nested prefixes", |n| "sk-ant-".repeat(n / 7)),
        ("nested prefixes at token starts", |n| ".sk-ant-".repeat(n / 8)),
        ("token heads", |n| "eyJ".repeat(n / 3)),
        ("token heads behind dots", |n| ".eyJ".repeat(n / 4)),
        ("token segments", |n| format!("eyJ{}", ".eyJaaaaaaaa".repeat(n / 12))),
        ("long segments", |n| format!(".eyJ{}.{}", "a".repeat(1000), "b".repeat(5000)).repeat(n / 6005 + 1)),
        ("cues", |n| "secretAccessKey = ".repeat(n / 18)),
        ("fine-grained prefixes", |n| "github_pat_".repeat(n / 11)),
        ("dashes", |n| "-".repeat(n)),
        ("slack prefixes", |n| "xoxb-".repeat(n / 5)),
    ]
}

/// RED-042.
#[test]
fn red_042_work_grows_with_the_text_and_no_faster() {
    let work = |text: &str| {
        let before = WORK.with(std::cell::Cell::get);
        scan(text, usize::MAX);
        (WORK.with(std::cell::Cell::get) - before) as f64
    };
    for (name, decoy) in decoys() {
        let text = decoy(32_000);
        assert!(work(&text) <= 40.0 * text.len() as f64, "{name}: {} steps for {}", work(&text), text.len());
        let long = decoy(256_000);
        let (a, b) = (work(&text) / text.len() as f64, work(&long) / long.len() as f64);
        assert!(b <= 1.5 * a + 0.1, "{name}: {a} steps a byte, {b} at eight times the length");
    }
}

/// Prints what the measured bars are about: `cargo test --release -- --ignored --nocapture red_042_figures`.
#[test]
#[ignore = "prints timings"]
fn red_042_figures() {
    let time = |name: &str, text: &str, f: &dyn Fn(&str) -> usize| {
        let start = std::time::Instant::now();
        let mut sum = 0;
        for _ in 0..2000 {
            sum += f(std::hint::black_box(text));
        }
        println!("{name}: {:.2} µs ({} bytes, {sum})", start.elapsed().as_secs_f64() * 1e6 / 2000.0, text.len());
    };
    let line = "rewrite the rounding rule in the checkout module, then run the tax tests again and tell me which of the \
        three totals are still wrong today";
    time("safe_text, a plain line", line, &|t| safe_text(t, 140).len());
    let key = format!("rotate sk-ant-api03-{} now and tell me when it is done", "A".repeat(95));
    time("safe_text, a line with a key", &key, &|t| safe_text(t, 140).len());
    time("gate, 64 KiB of prose", &line.repeat(480), &|t| usize::from(may_match(t)));
    for (name, decoy) in decoys() {
        time(name, &decoy(4000), &|t| redact(t).len());
    }
}

/// Pieces whose chains come near every edge of the table.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "sk-ant-",
        "sk-",
        "sk_live_",
        "rk_test_",
        "pk_live_",
        "AKIA",
        "ASIA",
        "ghp_",
        "gha_",
        "github_pat_",
        "glpat-",
        "npm_",
        "lin_api_",
        "xoxb-",
        "xoxz-",
        "xapp-",
        "phc_",
        "AIza",
        "eyJ",
        ".",
        "-----BEGIN ",
        "RSA ",
        "PRIVATE KEY",
        " BLOCK",
        "-----",
        "-----END",
        "://",
        ":",
        "@",
        "/",
        "aws_secret_access_key",
        "AWS_SECRET_ACCESS_KEY",
        "secretAccessKey",
        " = ",
        "\"",
        "'",
        " ",
        "    ",
        "\n",
        "\r\n",
        "\u{2003}",
        "é",
        "…REDACTED",
        "…",
        "12345",
        "x",
        "_",
        "host/path",
    ];
    let lengths =
        [1usize, 8, 15, 16, 17, 19, 20, 31, 32, 35, 36, 39, 40, 41, 64, 76, 77, 83, 90, 95, 110, 111, 120, 200];
    let runs =
        (prop::sample::select(vec!["A", "a", "9", "-", "_", "=", "Ab1"]), prop::sample::select(lengths.to_vec()));
    prop_oneof![
        4 => prop::sample::select(words.to_vec()).prop_map(str::to_owned),
        3 => runs.prop_map(|(what, n)| what.repeat(n / what.len() + 1).chars().take(n).collect()),
        1 => "\\PC{0,6}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    vec(piece(), 0..9).prop_map(|pieces| pieces.concat())
}

fn markers(text: &str) -> usize {
    text.matches(MARKER).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// RED-002..019: the scan equals the table read by the letter; RED-041: so does the gated one.
    #[test]
    fn red_041_scan_gate_and_oracle_agree(text in text()) {
        let want = oracle::redact(&text);
        prop_assert_eq!(&*scan(&text, usize::MAX), &want);
        prop_assert_eq!(&*redact(&text), &want);
    }

    /// RED-031, RED-032, RED-033.
    /// RED-030..034: stopping early gives what redacting everything first gives, and never half a marker.
    #[test]
    fn red_032_the_bound_of_the_whole_is_the_bound(text in text(), limit in 0usize..180) {
        let whole: Vec<char> = oracle::redact(&text).chars().collect();
        let marker: Vec<char> = MARKER.chars().collect();
        let window = (limit.saturating_sub(8)..=limit + 10).find(|at| whole.get(*at..at + 9) == Some(&marker[..]));
        let end = if whole.len() <= limit { whole.len() } else { window.map_or(limit, |at| at + 9) };
        let got = redact_clip(&text, limit);
        prop_assert_eq!(&*got, &whole[..end].iter().collect::<String>());
        prop_assert!(got.chars().count() <= limit + 19);
    }

    /// SAFE-010: a second pass reveals nothing, and adds no marker where the first was not cut. A cut may end a run that
    /// was too long to be a secret at just the length of one; marking it then is the safe side.
    #[test]
    fn safe_010_twice_is_once_in_effect(text in text(), limit in 0usize..300) {
        let once = safe_text(&text, limit).into_owned();
        let twice = safe_text(&once, limit).into_owned();
        let cut = once.chars().count() >= limit;
        prop_assert!(cut || markers(&twice) <= markers(&once), "{:?} then {:?}", once, twice);
        prop_assert!(twice.len() <= once.len() || twice.ends_with(MARKER), "{:?} then {:?}", once, twice);
        let visible = |t: &str| t.replace(MARKER, "").len();
        prop_assert!(visible(&twice) <= visible(&once), "{:?} then {:?}", once, twice);
    }

    /// RED-008: whatever words stand around a key, they stay, and its body goes.
    #[test]
    fn red_008_words_stay_and_the_key_goes(
        n in 0..MINIMAL.len(),
        before in "[a-z ,(]{0,30}[ (=\"]",
        after in "[ )\"';][a-z ,)]{0,30}",
    ) {
        let (_, prefix, body, tail) = MINIMAL[n];
        let text = format!("{before}{prefix}{}{tail}{after}", "Q".repeat(body));
        prop_assert_eq!(redact(&text).into_owned(), format!("{before}{prefix}{MARKER}{after}"));
    }
}
