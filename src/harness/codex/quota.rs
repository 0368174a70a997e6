//! The quota figures Codex writes into its rollouts (CODEX-036, USE-050). Read from disk alone: no account, no request.

use crate::harness::line::{self, Field};
use serde::Deserialize;

/// Windows shorter than this are the short one of the two, minutes.
const DAY_MINUTES: f64 = 1440.0;

/// Codex's newest quota figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Stamp of the record they stand in, seconds since the epoch.
    pub as_of: f64,
    /// The window shorter than a day.
    pub five_hour: Option<Window>,
    /// The window of a day or more.
    pub week: Option<Window>,
}

/// One quota window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Used, 0 to 100.
    pub pct: u32,
    /// Length in seconds, when the record gives one.
    pub window_sec: Option<u64>,
    /// When it starts anew, seconds since the epoch, when the record says so.
    pub resets_at: Option<f64>,
}

#[derive(Deserialize)]
struct Limits<'a> {
    #[serde(borrow)]
    primary: Field<'a>,
    #[serde(borrow)]
    secondary: Field<'a>,
}

#[derive(Deserialize)]
struct Written<'a> {
    #[serde(borrow)]
    used_percent: Field<'a>,
    #[serde(borrow)]
    window_minutes: Field<'a>,
    #[serde(borrow)]
    resets_at: Field<'a>,
}

impl Usage {
    /// The figures of a `rate_limits` object, none of them usable perhaps; `None` when there is no such object or it
    /// is empty.
    pub fn read(limits: Field<'_>, as_of: f64) -> Option<Usage> {
        if !line::truthy(limits) {
            return None;
        }
        let limits: Limits = line::object(limits)?;
        let mut usage = Usage { as_of, five_hour: None, week: None };
        for written in [limits.primary, limits.secondary] {
            let Some((minutes, window)) = window(written) else { continue };
            let slot = if minutes < DAY_MINUTES { &mut usage.five_hour } else { &mut usage.week };
            slot.get_or_insert(window);
        }
        Some(usage)
    }

    /// Whether any window is known.
    pub fn says_something(&self) -> bool {
        self.five_hour.is_some() || self.week.is_some()
    }
}

fn window(written: Field<'_>) -> Option<(f64, Window)> {
    let written: Written = line::object(written)?;
    let used = line::number(written.used_percent)?;
    let minutes = line::number(written.window_minutes)?;
    let window = Window {
        pct: used.round_ties_even().clamp(0.0, 100.0) as u32,
        window_sec: (minutes > 0.0).then_some((minutes * 60.0) as u64),
        resets_at: line::number(written.resets_at).filter(|at| *at > 0.0),
    };
    Some((minutes, window))
}
