//! Clock time where the reader is: the only use of the system's time zone.

/// A moment of the local calendar, to the minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime {
    pub year: i32,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// 0 = Sunday.
    pub weekday: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
}

impl LocalTime {
    /// Minutes since midnight.
    pub const fn minute_of_day(self) -> u16 {
        self.hour as u16 * 60 + self.minute as u16
    }
}

/// Local hour and minute of seconds since the epoch; `None` for a stamp the system cannot convert.
pub fn local_time(epoch: f64) -> Option<LocalTime> {
    // The years 1902 to 9999: every zone database covers them.
    let plausible = epoch.is_finite() && (-2_145_916_800.0..253_402_300_800.0).contains(&epoch);
    plausible.then(|| system::convert(epoch.floor() as i64)).flatten()
}

#[cfg(unix)]
mod system {
    use super::LocalTime;

    pub(super) fn convert(epoch: i64) -> Option<LocalTime> {
        let epoch = libc::time_t::try_from(epoch).ok()?;
        // SAFETY: both records outlive the call, which fills in the second one.
        let parts = unsafe {
            let mut parts: libc::tm = std::mem::zeroed();
            if libc::localtime_r(&raw const epoch, &raw mut parts).is_null() {
                return None;
            }
            parts
        };
        Some(LocalTime {
            year: parts.tm_year.checked_add(1900)?,
            month: u8::try_from(parts.tm_mon + 1).ok()?,
            day: u8::try_from(parts.tm_mday).ok()?,
            weekday: u8::try_from(parts.tm_wday).ok()?,
            hour: u8::try_from(parts.tm_hour).ok()?,
            minute: u8::try_from(parts.tm_min).ok()?,
        })
    }
}

#[cfg(windows)]
mod system {
    use super::LocalTime;
    use crate::surface::win32;

    /// Seconds from 1601, where file times begin, to 1970.
    const FILE_TIME_EPOCH: i64 = 11_644_473_600;

    pub(super) fn convert(epoch: i64) -> Option<LocalTime> {
        let ticks = u64::try_from(epoch.checked_add(FILE_TIME_EPOCH)?.checked_mul(10_000_000)?).ok()?;
        let time = win32::FileTime { low: ticks as u32, high: (ticks >> 32) as u32 };
        let (mut universal, mut local) = (win32::SystemTime::default(), win32::SystemTime::default());
        // SAFETY: plain records that outlive the calls; a null zone is the current one.
        let converted = unsafe {
            win32::FileTimeToSystemTime(&raw const time, &raw mut universal) != 0
                && win32::SystemTimeToTzSpecificLocalTime(std::ptr::null(), &raw const universal, &raw mut local) != 0
        };
        converted.then_some(LocalTime {
            year: i32::from(local.year),
            month: u8::try_from(local.month).ok()?,
            day: u8::try_from(local.day).ok()?,
            weekday: u8::try_from(local.weekday).ok()?,
            hour: u8::try_from(local.hour).ok()?,
            minute: u8::try_from(local.minute).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LIFE-041.
    #[test]
    fn life_041_a_stamp_that_cannot_be_converted_is_none() {
        for stamp in [f64::NAN, f64::INFINITY, 1e300, -1e300] {
            assert_eq!(local_time(stamp), None);
        }
        let now = local_time(1_790_000_000.0).unwrap();
        assert!(now.hour < 24 && now.minute < 60);
        assert_eq!((now.year, now.month), (2026, 9));
        assert!((20..=22).contains(&now.day) && now.weekday < 7);
        // Every zone in use is a whole number of quarter hours away, so the minute of 14:13:20 UTC keeps its rest.
        assert_eq!(now.minute % 15, 13);
    }
}
