//! When a store that failed is tried again: after a growing pause, so that a broken one costs next to nothing and a
//! repaired one comes back by itself (TRUST-037).

/// First pause, seconds; it doubles with each failure.
const FIRST_SEC: f64 = 2.0;
/// Longest pause, seconds.
const LONGEST_SEC: f64 = 60.0;

/// The standing of one store.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pause {
    failed_at: f64,
    length: f64,
}

impl Pause {
    /// Notes a failure at `now`.
    pub fn failed(&mut self, now: f64) {
        self.failed_at = now;
        self.length = if self.length > 0.0 { (self.length * 2.0).min(LONGEST_SEC) } else { FIRST_SEC };
    }

    /// Whether the last attempt failed.
    pub fn is_failing(&self) -> bool {
        self.length > 0.0
    }

    /// Whether it may be tried now: always, unless it failed and the pause is not over. A clock set back ends it.
    pub fn is_over(&self, now: f64) -> bool {
        !(self.failed_at..self.failed_at + self.length).contains(&now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_037_the_pause_grows_to_a_minute_and_ends() {
        let mut pause = Pause::default();
        assert!(pause.is_over(5.0) && !pause.is_failing());
        let mut lengths = Vec::new();
        for _ in 0..7 {
            pause.failed(100.0);
            lengths.push((1..=100).find(|s| pause.is_over(100.0 + f64::from(*s))).unwrap());
        }
        assert_eq!(lengths, [2, 4, 8, 16, 32, 60, 60]);
        assert!(pause.is_failing() && !pause.is_over(159.9) && pause.is_over(99.0));
    }
}
