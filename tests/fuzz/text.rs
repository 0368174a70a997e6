//! Pure text: the redactor, safe text, prompts, records, times.

use super::driver::{Target, samples};
use cargento::harness::boot;
use cargento::model::time;
use cargento::text::prompt::Speaker;
use cargento::text::{clip, extract, json, label, ladder, prompt, redact, redact_clip, safe, safe_text, sweep};

#[path = "../../src/text/tests/oracle.rs"]
mod oracle;

fn prompts() -> Vec<Vec<u8>> {
    let mut seeds = samples("text");
    seeds.extend(samples("claude"));
    for text in [
        "rotate sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA now",
        "aws_secret_access_key = kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
        "ghp_gggggggggggggggggggggggggggggggggggg https://user:pass@host/path",
        "<system-reminder>never mind</system-reminder> please continue with /home/me/a/very/long/path/to/a/file.rs",
        "/compact\n# Title\n\n```sh\nls -la\n```\nyes",
    ] {
        seeds.push(text.into());
    }
    seeds
}

/// TRUST-080, TRUST-081.
/// What the redactor may leave is what a second, slow one leaves, and nothing more the second time.
#[test]
fn trust_080_081_redactor() {
    Target::new("redactor", 1500, prompts()).run(|input, dice| {
        let text = String::from_utf8_lossy(input);
        // The oracle is cubic; a window of the text is enough of it.
        let from =
            (0..=text.len()).nth(dice.below(text.len() + 1)).filter(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let window: String = text[from..].chars().take(300).collect();
        let once = redact::redact(&window);
        assert_eq!(once, oracle::redact(&window), "another result than the oracle's for {window:?}");
        assert_eq!(redact::redact(&once), once, "not idempotent for {window:?}");
        let mut whole = text.clone().into_owned();
        sweep(&mut whole);
        assert!(!sweep(&mut whole), "a second sweep finds more");
    });
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_safe_text_and_bounds() {
    Target::new("safe-text", 3000, prompts()).run(|input, dice| {
        let text = String::from_utf8_lossy(input);
        let limit = dice.below(300);
        let shown = safe_text(&text, limit);
        assert!(shown.chars().all(|c| !c.is_control()), "a control character in {shown:?}");
        // A marker at the cut may be finished (SAFE-006).
        assert!(shown.chars().count() <= limit + 19, "{} characters of {limit}", shown.chars().count());
        redact_clip(&text, limit);
        clip::clip(&text, limit);
        safe::clean(&text);
        assert!(safe::diagnostic(&text).chars().count() <= 1024);
        cargento::text::safe_name(&text, limit);
        cargento::text::safe_lines(&text, limit);
    });
}

/// TRUST-080.
#[test]
fn trust_080_prompts_titles_and_labels() {
    Target::new("prompts", 3000, prompts()).run(|input, _| {
        let text = String::from_utf8_lossy(input);
        if let Some(title) = prompt::title(&text, 80) {
            assert!(title.chars().count() <= 80 + 20, "{title}");
            assert!(!title.trim().is_empty());
        }
        for speaker in [Speaker::Claude, Speaker::Codex, Speaker::Other] {
            prompt::is_injected(&text, speaker);
            prompt::is_bare_continuation(&text, speaker);
            prompt::states_work(&text, speaker);
            let mut rungs = ladder::Ladder::new(speaker);
            for (n, line) in text.lines().enumerate().take(50) {
                rungs.prompt(line, n as f64);
            }
            rungs.instruction(None, true);
        }
        prompt::is_command_echo(&text);
        prompt::is_control(&text);
        for host in [label::Host::Posix, label::Host::Windows] {
            label::project_label(&text, "/home/me", host);
            label::encoded_label(&text, "/home/me", host);
        }
        if let Some(token) = label::resume_id(&text) {
            assert!(!token.contains(char::is_whitespace) && !token.starts_with('-'), "{token:?}");
        }
    });
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_records_that_a_strict_reader_refuses() {
    Target::new("records", 3000, [samples("claude"), samples("codex"), samples("pi")].concat()).run(|input, _| {
        json::too_deep(input);
        let lenient = json::lenient(input);
        // What a strict reader takes is taken, and means the same.
        if let Ok(value @ serde_json::Value::Object(_)) = serde_json::from_slice(input) {
            let record = json::record(input).expect("a record");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&record).ok(), Some(value));
        }
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(&lenient) {
            extract::text(&value);
        }
        extract::speaks(&lenient);
    });
}

/// TRUST-080.
#[test]
fn trust_080_boot_envelopes() {
    let seeds = [
        r#"{"command":"boot","id_style":"slug","dispatchable":[{"slug":"case-7","current":"verify","next":"uat"},7],"definition_dir":"/w/one","entity_dir":"/w/one/.state"}"#,
        "command: \"boot\"\ndispatchable:\n  -\n    slug: \"case-7\"\n    current: \"verify\"\ndefinition_dir: \"/w/one\"\nentity_dir: \"/w/one/.s\"\n",
    ];
    Target::new("boot", 3000, seeds).run(|input, _| {
        let text = String::from_utf8_lossy(input);
        let found = boot::envelopes(&text);
        assert!(found.len() <= boot::KEPT);
        for one in found {
            let long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > 4096);
            assert!(!long(&one.definition_dir) && !long(&one.entity_dir) && one.dispatchable.len() <= 96);
        }
        boot::envelope(&text);
    });
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_times() {
    let seeds = [
        "2026-09-20T10:00:00Z",
        "2026-09-20T10:00:00.123456+02:00",
        "2026-09-20 10:00",
        "1789898400",
        "2024-02-29T24:00:00-00:00",
    ];
    Target::new("times", 6000, seeds).run(|input, _| {
        let text = String::from_utf8_lossy(input);
        let parsed = time::parse_iso(&text);
        assert!(parsed.is_none_or(f64::is_finite), "{parsed:?} of {text:?}");
        if let Ok(number) = text.parse::<f64>() {
            assert!(time::numeric_epoch(number).is_finite());
            assert!(!time::duration(Some(number)).is_empty());
            assert!(time::age(number, 1_789_898_400.0).is_none_or(|age| age >= 0.0), "a negative age of {number}");
        }
    });
}

/// A parser that is quadratic would show at a megabyte (TRUST-065).
#[test]
fn trust_065_a_megabyte_of_decoys_is_read_in_linear_time() {
    let decoys = [
        "sk-ant-",
        "-----BEGIN PRIVATE KEY-----",
        "aws_secret_access_key=",
        "https://a:",
        "eyJ",
        "ghp_",
        "{\"command\"",
        "<a",
        "`",
        "definition_dir: ",
    ];
    for decoy in decoys {
        let text = decoy.repeat((1 << 20) / decoy.len());
        Target::new("decoys", 0, [text]).unchanged(|input| {
            let text = std::str::from_utf8(input).unwrap();
            redact::redact(text);
            safe_text(text, 140);
            prompt::title(text, 80);
            boot::envelopes(text);
            json::lenient(input);
        });
    }
}
