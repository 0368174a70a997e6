//! Whatever stands in a recording, and however it grew.

use super::*;
use crate::harness::testkit::{ends, grow};
use proptest::prelude::*;

/// A line out of the shapes a recording may hold, damaged ones included.
fn any_line() -> impl Strategy<Value = String> {
    let content = prop_oneof![
        Just("\"words\""),
        Just("[{\"text\":\"a\"},{\"text\":\"b\"}]"),
        Just("[{\"functionResponse\":{}}]"),
        Just("[]"),
        Just("null")
    ];
    let id = prop_oneof![Just("a"), Just("b"), Just("c"), Just("d"), Just("")];
    let message = (id.clone(), 0.0..900.0f64, content, any::<bool>(), 0..500u64).prop_map(
        |(id, age, content, is_user, tokens)| {
            let at = NOW - age.round();
            if is_user { user(id, at, content) } else { reply(id, at, tokens, "ls") }
        },
    );
    prop_oneof![
        6 => message.clone().prop_map(|line| line + "\n"),
        2 => prop::collection::vec(message, 0..5).prop_map(|list| snapshot(&list.iter().map(String::as_str).collect::<Vec<_>>())),
        1 => id.prop_map(|id| format!("{{\"$rewindTo\":\"{id}\"}}\n")),
        1 => Just(head("other")),
        1 => Just("{\"half\":\n".into()),
        1 => Just("{\"type\":\"info\",\"timestamp\":\"2099-01-01T00:00:00Z\"}\n".into()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// TURN-001: growing reads as cold at every split.
    #[test]
    fn turn_001_growing_reads_as_cold_at_every_split(lines in prop::collection::vec(any_line(), 0..20), cuts in prop::collection::vec(0.0..1.0f64, 1..5)) {
        let s = Scratch::new("gemini-split");
        let bytes = (head("s") + &lines.concat()).into_bytes();
        let path = s.write("tmp/p/chats/session-x.jsonl", b"", NOW);
        let mut warm = reader(&s);
        grow(&path, &bytes, ends(&cuts, bytes.len()), |_| {
            prop_assert_eq!(text(&one(&mut warm, NOW)), text(&one(&mut reader(&s), NOW)));
            Ok(())
        })?;
    }

    /// TRUST-033: any bytes are read without a fault.
    #[test]
    fn trust_033_any_bytes_are_read_without_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let s = Scratch::new("gemini-bytes");
        s.write("tmp/p/chats/session-x.jsonl", &bytes, NOW);
        s.write("tmp/p/chats/session-y.json", &bytes, NOW);
        prop_assert_eq!(pass(&mut reader(&s), NOW, true).rows.len(), 1);
    }

    /// TRUST-033: any value in any field.
    #[test]
    fn trust_033_any_value_in_any_field(which in 0usize..7) {
        let value = ["7", "null", "[[{}],\"x\"]", "{\"a\":{}}", "true", "\"t\"", "-1e300"][which];
        for key in ["sessionId", "kind", "directories", "id", "type", "timestamp", "content", "tokens", "toolCalls", "$set", "$rewindTo"] {
            for base in ["", "\"type\":\"user\",", "\"type\":\"gemini\",\"id\":\"x\","] {
                let line = format!("{{{base}\"{key}\":{value}}}");
                record::header(line.as_bytes());
                crate::harness::follow::Records::line(&mut <Conversation as crate::harness::follow::Records>::begin(true), line.as_bytes(), NOW);
            }
        }
    }
}
