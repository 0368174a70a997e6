//! Which Claude models a reading may name (CLI-015, READ-111): pinned ids of generation 5 and later, never an alias.

use crate::model::time::parse_iso;

/// Whether an id is `claude-(sonnet|opus)-N[-M][-YYYYMMDD]` with `N` from 5, both numbers of one or two digits without a
/// leading zero, and a real date.
pub fn accepted(id: &str) -> bool {
    let Some(rest) = id.strip_prefix("claude-sonnet-").or_else(|| id.strip_prefix("claude-opus-")) else {
        return false;
    };
    let parts: Vec<&str> = rest.split('-').collect();
    match parts.as_slice() {
        [n] => generation(n),
        [n, last] => generation(n) && (number(last).is_some() || date(last)),
        [n, m, last] => generation(n) && number(m).is_some() && date(last),
        _ => false,
    }
}

fn generation(text: &str) -> bool {
    number(text).is_some_and(|n| n >= 5)
}

fn number(text: &str) -> Option<u32> {
    let plain = (1..=2).contains(&text.len()) && digits(text) && !text.starts_with('0');
    plain.then(|| text.parse().ok())?
}

fn date(text: &str) -> bool {
    let Some((year, rest)) = text.split_at_checked(4) else { return false };
    let Some((month, day)) = rest.split_at_checked(2) else { return false };
    let real = text.len() == 8 && digits(text) && year != "0000";
    real && parse_iso(&format!("{year}-{month}-{day}")).is_some()
}

fn digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CLI-015.
    #[test]
    fn cli_015_accepted_and_refused_ids() {
        for id in [
            "claude-sonnet-5",
            "claude-sonnet-5-5",
            "claude-opus-10-1-20260930",
            "claude-opus-6-20240229",
            "claude-opus-99-99-20281231",
        ] {
            assert!(accepted(id), "{id}");
        }
        for id in [
            "",
            "sonnet",
            "claude-sonnet-latest",
            "claude-sonnet-4-5",
            "claude-haiku-5",
            "claude-sonnet-05",
            "claude-sonnet-5 ",
            "claude-sonnet-5-5-5",
            "claude-sonnet-5-",
            "claude-sonnet-5-0",
            "claude-sonnet-100",
            "claude-opus-5-20261340",
            "claude-opus-5-20260230",
            "claude-opus-5-2026023",
            "claude-opus-5-1-20260101-1",
            "claude-opus-5-00000101",
            "Claude-opus-5",
            "claude-opus-\u{665}",
            "claude-opus-5-2026\u{661}\u{661}",
        ] {
            assert!(!accepted(id), "{id}");
        }
    }
}
