//! A look at the head of a line in the form Codex writes it, so that records whose kind cannot matter are never parsed.
//!
//! Codex writes `{"timestamp":…,"type":…,"payload":{"type":…` in this order. Tool results and encrypted reasoning make up
//! most of a rollout; of those only the stamp counts. A line of any other form is left to the full reader.

/// The head of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance<'a> {
    pub stamp: &'a str,
    /// Type of the record.
    pub outer: &'a str,
    /// Type of its payload, when that comes first in it.
    pub inner: Option<&'a str>,
}

/// Longest word of a head, bytes.
const WORD_CAP: usize = 64;

/// The head of a line, `None` when it does not begin (or end) as Codex writes it.
pub fn glance(line: &[u8]) -> Option<Glance<'_>> {
    if line.last() != Some(&b'}') {
        return None;
    }
    let mut head = Head(line);
    head.mark(b'{')?;
    let stamp = head.member("timestamp")?;
    head.mark(b',')?;
    let outer = head.member("type")?;
    head.mark(b',')?;
    head.key("payload")?;
    head.mark(b'{')?;
    let inner = head.member("type");
    Some(Glance { stamp, outer, inner })
}

impl Glance<'_> {
    /// Whether nothing but the stamp of such a record can matter.
    pub fn is_quiet(&self) -> bool {
        match (self.outer, self.inner) {
            ("response_item", Some(kind)) => {
                !matches!(kind, "message" | "function_call" | "custom_tool_call" | "compaction")
            }
            ("event_msg", Some(kind)) => !matches!(
                kind,
                "token_count"
                    | "user_message"
                    | "agent_message"
                    | "item_completed"
                    | "task_started"
                    | "task_complete"
                    | "turn_aborted"
                    | "compacted"
                    | "context_compacted"
                    | "thread_rolled_back"
            ),
            ("response_item" | "event_msg", None) | ("turn_context" | "compacted", _) => false,
            _ => true,
        }
    }
}

/// What is left of a head.
struct Head<'a>(&'a [u8]);

impl<'a> Head<'a> {
    fn mark(&mut self, mark: u8) -> Option<()> {
        self.0 = self.0.trim_ascii_start().strip_prefix(&[mark])?;
        Some(())
    }

    fn key(&mut self, key: &str) -> Option<()> {
        (self.word()? == key).then_some(())?;
        self.mark(b':')
    }

    fn member(&mut self, key: &str) -> Option<&'a str> {
        self.key(key)?;
        self.word()
    }

    /// A short string without escapes.
    fn word(&mut self) -> Option<&'a str> {
        self.mark(b'"')?;
        let head = self.0.get(..self.0.len().min(WORD_CAP + 1))?;
        let end = memchr::memchr(b'"', head)?;
        let word = std::str::from_utf8(head.get(..end)?).ok()?;
        self.0 = self.0.get(end + 1..)?;
        (!word.contains('\\')).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CODEX-046: a head tells what need not be parsed.
    #[test]
    fn codex_046_a_head_tells_what_need_not_be_parsed() {
        let line = br#"{"timestamp":"T","type":"response_item","payload":{"type":"reasoning","summary":[]}}"#;
        let seen = glance(line).unwrap();
        assert_eq!((seen.stamp, seen.outer, seen.inner), ("T", "response_item", Some("reasoning")));
        assert!(seen.is_quiet());
        let spaced = br#"{ "timestamp": "T", "type" : "event_msg", "payload": { "type": "task_started" } }"#;
        assert!(!glance(spaced).unwrap().is_quiet());
        let keyless = br#"{"timestamp":"T","type":"response_item","payload":{"role":"user","type":"message"}}"#;
        assert_eq!(glance(keyless).unwrap().inner, None);
        assert!(!glance(keyless).unwrap().is_quiet());
        for other in [
            &br#"{"type":"event_msg","timestamp":"T","payload":{}}"#[..],
            br#"{"timestamp":"T","type":"event_msg","payload":{"type":"x""#,
            br#"{"timestamp":7,"type":"event_msg","payload":{}}"#,
            br#"{"timestamp":"T","type":"ev\u0065nt_msg","payload":{}}"#,
            b"{}",
            b"",
        ] {
            assert_eq!(glance(other), None, "{}", String::from_utf8_lossy(other));
        }
    }
}
