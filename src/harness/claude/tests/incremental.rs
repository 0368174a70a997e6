//! Read as it grows or read whole: the same (TURN-001, TRUST-081), and both as plain walks over all lines would have it.

use super::super::prompts::Instructions;
use super::super::transcript::{Child, Limits, Transcript};
use super::home::*;
use crate::model::{Instruction, InstructionLabel};
use crate::surface::read;
use crate::text::ladder::{Ladder, Rung};
use crate::text::prompt::Speaker;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Small bounds, so that short transcripts slide and are cut.
const SMALL: Limits = Limits { tail: 900, scan: 1_000_000, back: 1_000_000 };
const CUT: Limits = Limits { tail: 900, scan: 2_500, back: 1_000_000 };

fn record() -> impl Strategy<Value = Value> {
    let ago = -200.0..900.0f64;
    let words = prop_oneof![
        Just("go on"),
        Just("Sort the invoices by their due date now"),
        Just("<system-reminder>x</system-reminder>"),
        Just("Größere Änderung an allen Rechnungen bitte jetzt 🚀")
    ];
    prop_oneof![
        (words, ago.clone(), any::<bool>()).prop_map(|(w, ago, compact)| {
            let mut record = ask(w, ago);
            if compact && ago > 600.0 {
                record["isCompactSummary"] = json!(true);
            }
            record
        }),
        ("[a-c]", 0u64..600, ago.clone(), any::<bool>()).prop_map(|(id, tokens, ago, side)| {
            let mut record = spend(&format!("model-{id}"), Some(&id), tokens, "wörds", ago);
            record["isSidechain"] = json!(side);
            record
        }),
        ("[a-c]", ago.clone(), any::<bool>()).prop_map(|(id, ago, asks)| {
            call(if asks { "AskUserQuestion" } else { "Bash" }, &id, json!({"questions": [{"question": "Q?"}]}), ago)
        }),
        ("[a-c]", any::<bool>(), ago).prop_map(|(id, failed, ago)| result(&id, failed, ago)),
        "[a-z]{0,9}".prop_map(|t| json!({"type": "ai-title", "aiTitle": t})),
        "[a-z]{1,9}".prop_map(|t| json!({"type": "last-prompt", "lastPrompt": t})),
        Just(json!("{broken")),
        Just(json!("")),
        (0usize..400).prop_map(|n| json!({"type": "system", "content": "ß".repeat(n)})),
    ]
}

struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("cargento-claude-grow-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        Scratch(std::env::temp_dir().join(name))
    }

    fn put(&self, bytes: &[u8]) -> read::Stamp {
        std::fs::write(&self.0, bytes).unwrap();
        // A stamp of its own per length: the clock of a file system may be too coarse for a test.
        touch(&self.0, NOW - 1_000.0 + bytes.len() as f64 / 1000.0);
        read::look(&self.0).unwrap().stamp
    }

    fn read(&self, transcript: &mut Transcript, child: &mut Child, bytes: &[u8], limits: Limits) {
        let stamp = self.put(bytes);
        transcript.refresh(&self.0, stamp, NOW, limits).unwrap();
        child.refresh(&self.0, stamp, NOW, limits).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The readings of the window, as published.
fn windowed(w: &super::super::window::Window) -> impl PartialEq + std::fmt::Debug {
    let own = |t: Option<&str>| t.map(str::to_owned);
    (
        own(w.model()),
        own(w.child_model()),
        own(w.last_tool()),
        own(w.last_output()),
        w.last_prompt().to_owned(),
        w.own_activity(NOW),
        w.newest_stamp(NOW),
        w.rate_per_min(NOW),
        w.question().cloned(),
    )
}

/// The readings of the whole file that do not depend on where reading began.
fn whole(t: &Transcript) -> impl PartialEq + std::fmt::Debug {
    let s = &t.story;
    (s.title.clone(), s.instructions.instruction(), s.user_event.clone(), s.recorded_stop(), s.first.clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// TRUST-081, TURN-001.
    #[test]
    fn trust_081_turn_001_read_as_it_grows_equals_read_whole(
        records in prop::collection::vec(record(), 1..40),
        cuts in prop::collection::vec(0.0..1.0f64, 0..6),
    ) {
        let bytes = lines(&records).into_bytes();
        let mut ends: Vec<usize> = cuts.iter().map(|c| (c * bytes.len() as f64) as usize).collect();
        ends.push(bytes.len());
        ends.sort_unstable();
        let file = Scratch::new();
        let (mut grown, mut child) = (Transcript::new(), Child::new());
        let (mut cut, mut unused) = (Transcript::new(), Child::new());
        for end in ends {
            let part = &bytes[..end];
            file.read(&mut grown, &mut child, part, SMALL);
            file.read(&mut cut, &mut unused, part, CUT);
            let (mut cold, mut cold_child) = (Transcript::new(), Child::new());
            file.read(&mut cold, &mut cold_child, part, SMALL);
            prop_assert_eq!(windowed(&grown.story.window), windowed(&cold.story.window));
            prop_assert_eq!(windowed(&child.window), windowed(&cold_child.window));
            prop_assert_eq!(windowed(&child.window), windowed(&cold.story.window));
            let (mut a, mut b) = (grown.story.clone(), cold.story.clone());
            a.window = super::super::window::Window::new();
            b.window = super::super::window::Window::new();
            prop_assert_eq!(a, b);
            // Begun behind the start, with a walk back: the same readings of the whole file.
            let (mut late, mut late_child) = (Transcript::new(), Child::new());
            file.read(&mut late, &mut late_child, part, CUT);
            prop_assert_eq!(windowed(&late.story.window), windowed(&cold.story.window));
            let first = |t: &Transcript| t.story.first.clone();
            if first(&late) == first(&cold) {
                prop_assert_eq!(whole(&late), whole(&cold));
            } else {
                prop_assert_eq!(first(&late), None, "only the bound of its search may hide the first prompt");
            }
            prop_assert_eq!(windowed(&cut.story.window), windowed(&cold.story.window));
            prop_assert_eq!(cut.story.instructions.instruction(), cold.story.instructions.instruction());
            prop_assert_eq!(&cut.story.title, &cold.story.title);
        }
    }

    /// The instruction kept going forward is the one a single walk back would choose (TEXT-010).
    #[test]
    fn text_010_forward_and_backward_agree(steps in prop::collection::vec(0u8..4, 0..12), split in 0usize..12) {
        let words = ["go on", "Sort the invoices by their due date now", "<channel>x</channel>"];
        let mut ladder = Ladder::new(Speaker::Claude);
        for (i, step) in steps.iter().enumerate().rev() {
            match words.get(usize::from(*step)) {
                Some(text) => ladder.prompt(&format!("{text} {i}"), i as f64),
                None => ladder.compaction(),
            };
        }
        let want = ladder.instruction(None, false).map(|(rung, told)| Instruction {
            label: if rung == Rung::Asked { InstructionLabel::Asked } else { InstructionLabel::Earlier },
            text: told.text,
            at: told.at,
        });
        // The newer part forward, then the older part backward, as a long transcript is read.
        let split = split.min(steps.len());
        let mut kept = Instructions::default();
        for (i, step) in steps.iter().enumerate().skip(split) {
            match words.get(usize::from(*step)) {
                Some(text) => kept.newer(&format!("{text} {i}"), Some(i as f64)),
                None => kept.newer_compaction(),
            }
        }
        for (i, step) in steps.iter().enumerate().take(split).rev() {
            if kept.is_settled() {
                break;
            }
            match words.get(usize::from(*step)) {
                Some(text) => kept.older(&format!("{text} {i}"), Some(i as f64)),
                None => kept.older_compaction(),
            };
        }
        prop_assert_eq!(kept.instruction(), want);
    }
}

/// TURN-001.
#[test]
fn turn_001_a_torn_line_waits_and_a_shorter_file_starts_over() {
    let file = Scratch::new();
    let (mut t, mut c) = (Transcript::new(), Child::new());
    let first = lines(&[ask("Do the thing that was asked for", 60.0), spend("m", None, 100, "x", 50.0)]);
    let all = [first.clone(), lines(&[spend("m", None, 23, "y", 5.0)])].concat();
    for (bytes, want) in [(&first[..], 100), (&all[..first.len() + 60], 100), (&all[..], 123), (&first[..], 100)] {
        file.read(&mut t, &mut c, bytes.as_bytes(), Limits::default());
        assert_eq!(t.story.turns.session_tokens(), Some(want));
    }
}
