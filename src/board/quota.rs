//! The `usage` list of `/api/data`: quota figures as published (USE section 6).

use super::HarnessStatus;
use crate::model::Key;
use crate::model::quota::{Gauge, Quota};
use crate::surface::localtime::{LocalTime, local_time};
use serde_json::{Map, Value};

/// Latest reset that is believed, seconds since the epoch (USE-041).
const RESET_MAX: f64 = 3_155_760_000.0;
const DAY: f64 = 86_400.0;
const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The list, sorted by harness key; `None` when no discovered harness keeps figures on disk, so that the page draws no
/// capacity at all (PAYLOAD-006).
pub(super) fn usage(harnesses: &[HarnessStatus], quotas: &[Quota], now: f64) -> Option<Value> {
    if !harnesses.iter().any(|h| h.discovered && matches!(h.key, Key::Codex | Key::Copilot)) {
        return None;
    }
    let mut list: Vec<&Quota> = quotas.iter().collect();
    list.sort_by_key(|quota| quota.harness.as_str());
    Some(list.into_iter().map(|quota| entry(quota, now)).collect())
}

fn entry(quota: &Quota, now: f64) -> Value {
    let mut entry = Map::new();
    entry.insert("harness".into(), quota.harness.as_str().into());
    entry.insert("state".into(), "ok".into());
    entry.insert("asOf".into(), (quota.as_of as i64).into());
    for (name, slot) in [("fiveH", quota.five_hour), ("week", quota.week)] {
        if let Some(slot) = slot {
            entry.insert(name.into(), gauge(slot, now));
        }
    }
    if let Some(used) = &quota.used {
        entry.insert("used".into(), used.as_str().into());
    }
    Value::Object(entry)
}

fn gauge(slot: Gauge, now: f64) -> Value {
    let mut gauge = Map::new();
    gauge.insert("pct".into(), slot.pct.into());
    if let Some(length) = slot.window_sec {
        gauge.insert("windowSec".into(), length.into());
    }
    // The words and the number always come together (USE-042).
    if let Some(at) = slot.resets_at.filter(|at| *at > 0.0 && *at <= RESET_MAX)
        && let Some(words) = local_time(at).zip(local_time(now)).map(|(then, today)| words(then, today, at - now))
    {
        gauge.insert("reset".into(), words.into());
        gauge.insert("resetAt".into(), (at as i64).into());
    }
    Value::Object(gauge)
}

/// `HH:MM` today, `Www HH:MM` within a week ahead, else `Mon DD`.
fn words(then: LocalTime, today: LocalTime, ahead: f64) -> String {
    let clock = format!("{:02}:{:02}", then.hour, then.minute);
    let name = |table: &[&'static str], at: usize| table.get(at).copied().unwrap_or_default();
    if (then.year, then.month, then.day) == (today.year, today.month, today.day) {
        clock
    } else if (0.0..=7.0 * DAY).contains(&ahead) {
        format!("{} {clock}", name(&WEEKDAYS, usize::from(then.weekday)))
    } else {
        format!("{} {:02}", name(&MONTHS, usize::from(then.month).wrapping_sub(1)), then.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn use_042_043_060_entries_carry_what_is_known_and_no_more() {
        let codex = Quota {
            harness: Key::Codex,
            as_of: 1_789_999_400.7,
            five_hour: None,
            week: Some(Gauge { pct: 34, window_sec: Some(604_800), resets_at: None }),
            used: None,
        };
        let copilot =
            Quota { harness: Key::Copilot, as_of: 5.0, five_hour: None, week: None, used: Some("1.00 AIU".into()) };
        let found = |key| HarnessStatus::new(key, true);
        let list = usage(&[found(Key::Codex)], &[copilot, codex], 1_790_000_000.0).unwrap();
        assert_eq!(
            list,
            json!([{"harness": "codex", "state": "ok", "asOf": 1_789_999_400, "week": {"pct": 34, "windowSec": 604_800}},
                {"harness": "copilot", "state": "ok", "asOf": 5, "used": "1.00 AIU"}])
        );
        assert_eq!(usage(&[found(Key::Claude)], &[], 0.0), None);
        assert_eq!(usage(&[found(Key::Copilot)], &[], 0.0), Some(json!([])));
    }

    #[test]
    fn use_042_reset_words() {
        let at = |day, weekday| LocalTime { year: 2026, month: 9, day, weekday, hour: 8, minute: 5 };
        assert_eq!(words(at(21, 1), at(21, 1), 100.0), "08:05");
        assert_eq!(words(at(24, 4), at(21, 1), 3.0 * DAY), "Thu 08:05");
        assert_eq!(words(at(30, 3), at(21, 1), 9.0 * DAY), "Sep 30");
    }
}
