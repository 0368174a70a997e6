//! The quiet hours as a run keeps them: the window on the reader's clock (NOTE-090).

use crate::settings::QuietHours;
use crate::surface::localtime::local_time;

/// A window, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quiet(Option<QuietHours>);

impl Quiet {
    /// The window of a run.
    pub const fn new(hours: Option<QuietHours>) -> Quiet {
        Quiet(hours)
    }

    /// Whether a moment, seconds since the epoch, lies in the window; one that cannot be placed does not.
    pub fn holds(self, now: f64) -> bool {
        self.0.is_some_and(|hours| local_time(now).is_some_and(|t| hours.contains(t.minute_of_day())))
    }

    /// When the window next begins or ends, seconds since the epoch. Reckoned on a day of 24 hours: where the clock is
    /// changed meanwhile it is too early or late by that, and whoever waits for it asks again.
    pub fn next_edge(self, now: f64) -> Option<f64> {
        let minutes = self.0?.minutes_to_edge(local_time(now)?.minute_of_day())?;
        let minute_began = (now / 60.0).floor() * 60.0;
        Some(minute_began + f64::from(minutes) * 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds in every zone whose offset is whole minutes, since the window is put around the local time found.
    #[test]
    fn note_090_092_the_window_and_its_next_edge_on_the_local_clock() {
        let now = 1_790_000_025.0;
        let here = local_time(now).unwrap().minute_of_day();
        let at = |minutes: u16| format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60);
        let window =
            |from: u16, to: u16| Quiet::new(QuietHours::parse(&format!("{}-{}", at(here + from), at(here + to))));
        let minute = (now / 60.0_f64).floor() * 60.0;
        let (inside, before) = (window(0, 10), window(5, 10));
        assert!(inside.holds(now) && !inside.holds(minute + 600.0) && !before.holds(now));
        assert_eq!((inside.next_edge(now), before.next_edge(now)), (Some(minute + 600.0), Some(minute + 300.0)));
        assert_eq!((Quiet::default().next_edge(now), window(3, 3).next_edge(now)), (None, None));
        assert!(!inside.holds(f64::NAN) && inside.next_edge(f64::INFINITY).is_none());
    }
}
