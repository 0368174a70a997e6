//! Time rules every activity decision goes through (ROW-050..056). Times are seconds since the epoch.

use crate::config::FUTURE_SKEW_TOLERANCE_SEC;
use std::time::{SystemTime, UNIX_EPOCH};

/// The clock a rule is judged by; a collection reads it once.
pub type Clock = std::sync::Arc<dyn Fn() -> f64 + Send + Sync>;

/// The machine's clock.
pub fn system_clock() -> Clock {
    std::sync::Arc::new(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64()))
}

/// Seconds since `t`, never negative; `None` when `t` lies further ahead than the tolerated skew (ROW-050).
pub fn age(t: f64, now: f64) -> Option<f64> {
    (t.is_finite() && t - now <= FUTURE_SKEW_TOLERANCE_SEC).then(|| (now - t).max(0.0))
}

/// Whether `t` is believed and at most `window` seconds old (ROW-051).
pub fn fresh(t: f64, window: f64, now: f64) -> bool {
    age(t, now).is_some_and(|a| a <= window)
}

/// The newest believable time of a set, 0 when there is none (ROW-052).
pub fn newest_plausible(times: impl IntoIterator<Item = f64>, now: f64) -> f64 {
    times.into_iter().filter(|t| age(*t, now).is_some()).fold(0.0, f64::max)
}

/// A numeric epoch of unknown unit: above 1e12 it is milliseconds, at most 0 or not finite it is 0 (ROW-056).
pub fn numeric_epoch(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        0.0
    } else if value > 1e12 {
        value / 1000.0
    } else {
        value
    }
}

/// An ISO 8601 date and time (`2026-05-01T10:00:00.000Z`, any offset, none = UTC, a space for the `T`) in seconds
/// since the epoch; `None` when it is not one (ROW-056).
pub fn parse_iso(text: &str) -> Option<f64> {
    let b = text.trim().as_bytes();
    let digits = |from: usize, to: usize| -> Option<i64> {
        b.get(from..to)?.iter().try_fold(0i64, |n, c| c.is_ascii_digit().then(|| n * 10 + i64::from(c - b'0')))
    };
    let sep = |at: usize, c: u8| b.get(at) == Some(&c);
    if !(sep(4, b'-') && sep(7, b'-')) {
        return None;
    }
    let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return None;
    }
    let days = days_from_civil(year, month, day);
    if b.len() == 10 {
        return Some((days * 86_400) as f64);
    }
    if !matches!(b.get(10), Some(b'T' | b't' | b' ')) || !sep(13, b':') {
        return None;
    }
    let (hour, minute) = (digits(11, 13)?, digits(14, 16)?);
    let mut at = 16;
    let mut second = 0;
    let mut fraction = 0.0;
    if sep(at, b':') {
        second = digits(at + 1, at + 3)?;
        at += 3;
        if matches!(b.get(at), Some(b'.' | b',')) {
            at += 1;
            let mut unit = 0.1;
            let start = at;
            while let Some(c) = b.get(at).filter(|c| c.is_ascii_digit()) {
                fraction += f64::from(c - b'0') * unit;
                unit /= 10.0;
                at += 1;
            }
            if at == start {
                return None;
            }
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let offset = match b.get(at) {
        None => 0,
        Some(b'Z' | b'z') if at + 1 == b.len() => 0,
        Some(sign @ (b'+' | b'-')) => {
            let hours = digits(at + 1, at + 3)?;
            let rest = b.get(at + 3..)?;
            let minutes = match rest {
                [] => 0,
                [b':', ..] if rest.len() == 3 => digits(at + 4, at + 6)?,
                _ if rest.len() == 2 => digits(at + 3, at + 5)?,
                _ => return None,
            };
            let total = hours * 3600 + minutes * 60;
            if *sign == b'-' { -total } else { total }
        }
        _ => return None,
    };
    Some((days * 86_400 + hour * 3600 + minute * 60 + second - offset) as f64 + round_micro(fraction))
}

fn round_micro(fraction: f64) -> f64 {
    (fraction * 1e6).round() / 1e6
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let yoe = y - era * 400;
    let doy = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

/// Year, month and day, the latter two from 1, of a day counted from 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let doe = shifted.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let from_march = (5 * doy + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (yoe + era * 400 + i64::from(month <= 2), month, doy - (153 * from_march + 2) / 5 + 1)
}

/// A time as the harnesses write it: RFC 3339 in UTC, to the nearest millisecond (`2026-05-01T10:00:00.250Z`).
pub fn iso(at: f64) -> String {
    let ms = (at * 1000.0).round() as i64;
    let (secs, ms) = (ms.div_euclid(1000), ms.rem_euclid(1000));
    let (days, rest) = (secs.div_euclid(86_400), secs.rem_euclid(86_400));
    let (year, month, day) = civil_from_days(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{ms:03}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// A duration for people: `Ns`, `Nm`, `Nh Nm`, `Nd Nh`, whole units rounded down; `–` when unknown or negative (ROW-044).
pub fn duration(seconds: Option<f64>) -> String {
    let Some(s) = seconds.filter(|s| s.is_finite() && *s >= 0.0) else { return "–".into() };
    let s = s as u64;
    match s {
        0..60 => format!("{s}s"),
        60..3600 => format!("{}m", s / 60),
        3600..86_400 => format!("{}h {}m", s / 3600, s % 3600 / 60),
        _ => format!("{}d {}h", s / 86_400, s % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ROW-056.
    #[test]
    fn row_056_iso_stamps() {
        for (text, want) in [
            ("1970-01-01T00:00:00Z", Some(0.0)),
            ("2026-05-01T10:00:00.250Z", Some(1_777_629_600.25)),
            ("2026-05-01T12:00:00+02:00", Some(1_777_629_600.0)),
            ("2026-05-01T10:00:00", Some(1_777_629_600.0)),
            ("2026-05-01 10:00:00", Some(1_777_629_600.0)),
            ("2024-02-29T00:00:00Z", Some(1_709_164_800.0)),
            ("2026-02-29T00:00:00Z", None),
            ("2026-13-01T00:00:00Z", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(parse_iso(text), want, "{text}");
        }
    }

    #[test]
    fn a_stamp_is_written_in_utc_to_the_millisecond() {
        for (at, want) in [
            (0.0, "1970-01-01T00:00:00.000Z"),
            (-0.001, "1969-12-31T23:59:59.999Z"),
            (951_782_399.999_6, "2000-02-29T00:00:00.000Z"),
            (1_709_164_800.0, "2024-02-29T00:00:00.000Z"),
            (1_777_629_600.25, "2026-05-01T10:00:00.250Z"),
            (4_102_444_799.999, "2099-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(iso(at), want);
        }
    }

    /// ROW-056: what is written is read.
    #[test]
    fn row_056_a_stamp_is_read_back_as_written() {
        for at in [0.0, 951_782_400.0, 1_709_164_800.0, 1_777_629_600.25, 1_789_898_400.25, 4_102_444_799.999] {
            assert_eq!(parse_iso(&iso(at)), Some(at), "{}", iso(at));
        }
        for days in -800..60_000 {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
            assert!((1..=days_in_month(year, month)).contains(&day));
        }
    }

    /// ROW-050, ROW-051, ROW-052.
    #[test]
    fn row_050_to_052_skew_is_not_believed() {
        assert_eq!(age(1000.0, 900.0), Some(0.0));
        assert_eq!(age(1020.5, 900.0), None);
        assert!(fresh(810.0, 90.0, 900.0));
        assert!(!fresh(809.9, 90.0, 900.0));
        assert_eq!(newest_plausible([5.0, 99999.0, 7.0], 100.0), 7.0);
        assert_eq!(newest_plausible([], 100.0), 0.0);
    }

    /// ROW-044.
    #[test]
    fn row_044_durations() {
        for (s, want) in [(59.9, "59s"), (60.0, "1m"), (3600.0, "1h 0m"), (90061.0, "1d 1h")] {
            assert_eq!(duration(Some(s)), want);
        }
        assert_eq!(duration(None), "–");
        assert_eq!(duration(Some(-1.0)), "–");
    }
}
