//! Quota figures that a harness keeps on disk (CODEX-036, COP-028): no account is asked and nothing is fetched.

use super::Key;

/// The newest figures of one harness.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    pub harness: Key,
    /// When the figures were true, seconds since the epoch.
    pub as_of: f64,
    /// The window shorter than a day.
    pub five_hour: Option<Gauge>,
    /// The window of a day or more.
    pub week: Option<Gauge>,
    /// Spend in the vendor's own unit.
    pub used: Option<String>,
}

/// One window of a quota.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge {
    /// Used, 0 to 100.
    pub pct: u32,
    /// Length in seconds, where it is known.
    pub window_sec: Option<u64>,
    /// When it starts anew, seconds since the epoch, where that is known.
    pub resets_at: Option<f64>,
}
