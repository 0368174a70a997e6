//! The window without popups and nudges (NOTE-090, NOTE-093): `HH:MM-HH:MM`, local, start inside, end outside.

use std::fmt;

/// A window of the local day; one whose start is its end is no window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    start: u16,
    end: u16,
}

impl QuietHours {
    /// Reads `HH:MM-HH:MM`, white space around it ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let (start, end) = text.trim().split_once('-')?;
        Some(Self { start: minute(start)?, end: minute(end)? })
    }

    /// Whether a minute of the local day (0 to 1439) lies in the window, which may cross midnight.
    pub const fn contains(self, minute: u16) -> bool {
        if self.start <= self.end {
            self.start <= minute && minute < self.end
        } else {
            minute >= self.start || minute < self.end
        }
    }

    /// Minutes from a minute of the local day to the next one at which the window begins or ends, 1 to 1440; none for
    /// what is no window.
    pub fn minutes_to_edge(self, minute: u16) -> Option<u16> {
        let until = |edge: u16| (edge + 1440 - minute % 1440 - 1) % 1440 + 1;
        (self.start != self.end).then(|| until(self.start).min(until(self.end)))
    }
}

impl fmt::Display for QuietHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = (self.start, self.end);
        write!(f, "{:02}:{:02}-{:02}:{:02}", start / 60, start % 60, end / 60, end % 60)
    }
}

fn minute(text: &str) -> Option<u16> {
    let [h1, h2, b':', m1, m2] = text.as_bytes() else { return None };
    let digit = |b: &u8| b.is_ascii_digit().then(|| u16::from(b - b'0'));
    let (hour, minute) = (digit(h1)? * 10 + digit(h2)?, digit(m1)? * 10 + digit(m2)?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NOTE-093.
    #[test]
    fn note_093_grammar() {
        for (text, want) in [("22:00-07:30", "22:00-07:30"), (" 00:00-23:59\n", "00:00-23:59")] {
            assert_eq!(QuietHours::parse(text).unwrap().to_string(), want);
        }
        for text in
            ["", "22:00", "24:00-01:00", "22:60-01:00", "2:00-03:00", "22:00-07:30-", "22:00 - 07:30", "aa:bb-cc:dd"]
        {
            assert_eq!(QuietHours::parse(text), None, "{text}");
        }
    }

    /// NOTE-094.
    #[test]
    fn note_094_minutes_to_the_next_edge() {
        let night = QuietHours::parse("22:00-07:00").unwrap();
        for (minute, want) in [(1319, 1), (1320, 540), (0, 420), (419, 1), (420, 900)] {
            assert_eq!(night.minutes_to_edge(minute), Some(want), "{minute}");
        }
        assert_eq!(QuietHours::parse("08:00-08:00").unwrap().minutes_to_edge(5), None);
    }

    /// NOTE-090.
    #[test]
    fn note_090_start_inside_end_outside_across_midnight() {
        let night = QuietHours::parse("22:00-07:00").unwrap();
        for (minute, want) in [(1320, true), (1319, false), (0, true), (419, true), (420, false)] {
            assert_eq!(night.contains(minute), want, "{minute}");
        }
        let none = QuietHours::parse("08:00-08:00").unwrap();
        assert!((0..1440).all(|minute| !none.contains(minute)));
    }
}
