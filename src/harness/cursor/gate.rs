//! Whether a blob says that a tool call waits for the person.
//!
//! The carrier is a binary frame around something like JSON, so keys are looked for in bytes. A missed gate reads as
//! working; an invented one would raise a popup, so what does not match is no gate (CUR-017).

/// The key whose value is empty once the person has answered.
pub const KEY: &[u8] = b"pendingToolExecutionContracts";
/// The key beside it that says when the wait began; it survives the answer.
const SINCE: &[u8] = b"pendingToolCallStartedAtMs";
/// Most digits of a stamp.
const DIGITS: usize = 20;

/// When the gate in this window of a carrier began, seconds since the epoch, 0 when that is unreadable; `None` when no
/// gate stands.
pub fn standing(window: &[u8]) -> Option<f64> {
    let (at, first) =
        memchr::memmem::find_iter(window, KEY).filter_map(|at| Some((at, contracts(window, at)?))).last()?;
    if first == b'}' {
        return None;
    }
    let stamps = memchr::memmem::find_iter(window, SINCE).filter_map(|found| Some((found, since(window, found)?)));
    // The nearest one is this gate's; an earlier one wins a tie, which `min_by_key` gives.
    let nearest = stamps.min_by_key(|(found, _)| found.abs_diff(at));
    Some(nearest.map_or(0.0, |(_, ms)| ms / 1000.0))
}

/// The first byte inside the contracts whose key stands at `at`.
fn contracts(window: &[u8], at: usize) -> Option<u8> {
    let rest = value(window.get(at + KEY.len()..)?)?;
    rest.strip_prefix(b"{").map(<[u8]>::trim_ascii_start)?.first().copied()
}

/// The stamp whose key stands at `at`, milliseconds since the epoch.
fn since(window: &[u8], at: usize) -> Option<f64> {
    let rest = value(window.get(at + SINCE.len()..)?)?;
    let digits = rest.iter().take(DIGITS).take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
}

/// What stands behind a key, its closing quote and the colon.
fn value(behind: &[u8]) -> Option<&[u8]> {
    let behind = behind.strip_prefix(b"\"").unwrap_or(behind);
    behind.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OPEN: &str = r#""pendingToolExecutionContracts":{"toolu_1":{"toolCallId":"x"}}"#;
    const DONE: &str = r#""pendingToolExecutionContracts":{}"#;

    fn stamp(ms: u64) -> String {
        format!(r#""pendingToolCallStartedAtMs":{ms},"#)
    }

    /// CUR-017, CUR-042: the last contracts of a window decide.
    #[test]
    fn cur_017_cur_042_the_last_contracts_of_a_window_decide() {
        assert_eq!(standing(format!("{OPEN} … {DONE}").as_bytes()), None);
        assert_eq!(standing(format!("{DONE} … {OPEN}").as_bytes()), Some(0.0));
        assert_eq!(standing(br"pendingToolExecutionContracts : { 7"), Some(0.0));
        for none in [
            "",
            "pendingToolExecutionContracts",
            r#"pendingToolExecutionContracts":"#,
            r#"pendingToolExecutionContracts":[1]"#,
            r#"pendingToolExecutionContracts":{  "#,
        ] {
            assert_eq!(standing(none.as_bytes()), None, "{none}");
        }
        assert_eq!(standing(stamp(5).as_bytes()), None, "a stamp alone is no gate: it survives the answer");
    }

    /// CUR-018, CUR-043: the nearest stamp is the gate's.
    #[test]
    fn cur_018_cur_043_the_nearest_stamp_is_the_gates() {
        let far = " ".repeat(3000);
        let window = format!("{}{far}{}{OPEN}{far}{}", stamp(1_000), stamp(1_789_899_960_123), stamp(2_000));
        assert_eq!(standing(window.as_bytes()), Some(1_789_899_960.123));
        assert_eq!(standing(format!("{OPEN}{}", stamp(0)).as_bytes()), Some(0.0));
        assert_eq!(standing(format!(r#"{OPEN}"pendingToolCallStartedAtMs":"soon""#).as_bytes()), Some(0.0));
        assert_eq!(
            standing(format!("{OPEN}pendingToolCallStartedAtMs : {}", "9".repeat(40)).as_bytes()),
            Some(99_999_999_999_999_999.999)
        );
    }

    proptest! {
        #[test]
        fn trust_061_any_bytes_are_taken(head in proptest::collection::vec(any::<u8>(), 0..60), tail in "[\":{ }0-9]{0,40}") {
            for key in [KEY, SINCE] {
                let _ = standing(&[&head, key, tail.as_bytes()].concat());
            }
        }
    }
}
