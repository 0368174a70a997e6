//! Which harness sends no event although its sessions move on disk (DECK-020, code `hooks-silent`).
//!
//! That is all it says: whether hooks were ever installed, approved or reached this board is not known here. The way to
//! find out is `cargento hooks HARNESS`, which prints what that harness needs.
//!
//! A quiet board proves nothing (TRUST-057): only a session that moves after ten minutes without a word does, and only
//! while it moves. A source that reports at rare moments alone, such as a prompt, has proved itself with one event.

use super::envelope::SOURCES;
use crate::model::Key;
use crate::model::time::age;
use std::collections::HashMap;

/// How long a source may say nothing while its sessions move, seconds.
const SILENT_SEC: f64 = 600.0;
/// How long an event may come behind the write it belongs to, seconds.
const LAG_SEC: f64 = 10.0;

/// When each source was last heard of, and when it was first found late.
#[derive(Debug, Default)]
pub struct Silence {
    /// When this run began to listen.
    begun: Option<f64>,
    heard: HashMap<Key, f64>,
    late: HashMap<Key, f64>,
}

/// Sources that report prompts, or the ends of a session, and nothing while it works.
const fn speaks_rarely(key: Key) -> bool {
    matches!(key, Key::Pi | Key::OpenCode | Key::Droid)
}

impl Silence {
    /// An event of a source was taken.
    pub fn hear(&mut self, key: Key, now: f64) {
        self.heard.insert(key, now);
        self.late.remove(&key);
    }

    /// Looks at one collection: the harness and the last activity of every row.
    pub fn observe(&mut self, rows: &[(Key, f64)], now: f64) {
        // A clock set back begins the wait anew rather than ending it.
        let begun = self.begun.filter(|at| *at <= now).unwrap_or(now);
        self.begun = Some(begun);
        for key in SOURCES {
            let heard = self.heard.get(&key).copied();
            let since = heard.filter(|at| *at <= now).unwrap_or(begun);
            let moves = rows.iter().any(|(of, at)| {
                *of == key && *at >= since + SILENT_SEC && age(*at, now).is_some_and(|a| a <= SILENT_SEC)
            });
            if moves && !(speaks_rarely(key) && heard.is_some()) {
                self.late.entry(key).or_insert(now);
            } else {
                self.late.remove(&key);
            }
        }
    }

    /// Whether a source is silent.
    pub fn holds(&self, key: Key, now: f64) -> bool {
        self.late.get(&key).is_some_and(|at| now - at >= LAG_SEC)
    }

    /// Whether a row shows the silence of its source: one that moves while it holds.
    pub fn touches(&self, key: Key, last_activity: f64, now: f64) -> bool {
        self.holds(key, now) && age(last_activity, now).is_some_and(|a| a <= SILENT_SEC)
    }

    /// When a source found late counts as silent, if nothing comes until then.
    pub fn next_change(&self, now: f64) -> Option<f64> {
        self.late.values().map(|at| at + LAG_SEC).filter(|at| *at > now).min_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: f64 = 1_790_000_000.0;

    /// DECK-020 (`hooks-silent`), FIELD-006: ten minutes of movement without an event, and not before.
    #[test]
    fn deck_020_field_006_movement_without_a_word_for_ten_minutes() {
        for key in SOURCES {
            let mut silence = Silence::default();
            for minute in 0..10 {
                let now = T + f64::from(minute) * 60.0;
                silence.observe(&[(key, now)], now);
                assert!(!silence.holds(key, now), "{key:?} minute {minute}");
            }
            silence.observe(&[(key, T + 600.0)], T + 600.5);
            assert!(!silence.holds(key, T + 600.5), "an event may come a moment behind the write");
            assert_eq!(silence.next_change(T + 600.5), Some(T + 610.5));
            silence.observe(&[(key, T + 605.0)], T + 610.5);
            assert!(silence.holds(key, T + 610.5));
            assert!(SOURCES.iter().filter(|other| **other != key).all(|other| !silence.holds(*other, T + 610.5)));
            silence.hear(key, T + 611.0);
            silence.observe(&[(key, T + 611.0)], T + 611.0);
            assert!(!silence.holds(key, T + 611.0), "one event ends it");
        }
    }

    /// TRUST-057: a quiet board is never read as proof that hooks stopped firing.
    #[test]
    fn trust_057_a_quiet_board_proves_nothing() {
        let mut silence = Silence::default();
        silence.observe(&[(Key::Claude, T)], T);
        for hour in 1..48 {
            let now = T + f64::from(hour) * 3600.0;
            silence.observe(&[(Key::Claude, T + 30.0)], now);
            assert!(!silence.holds(Key::Claude, now + 60.0), "nothing moved in hour {hour}");
        }
        let now = T + 48.0 * 3600.0;
        silence.observe(&[(Key::Claude, now - 700.0), (Key::Claude, now + 500.0), (Key::Copilot, now)], now);
        assert!(!silence.holds(Key::Claude, now + 60.0), "moved long ago, or by a clock nobody has");
        // The first write after a long pause comes just before its event.
        silence.observe(&[(Key::Claude, now)], now);
        silence.hear(Key::Claude, now + 0.2);
        silence.observe(&[(Key::Claude, now)], now + 60.0);
        assert!(!silence.holds(Key::Claude, now + 60.0));
    }

    #[test]
    fn deck_020_a_source_that_speaks_rarely_has_proved_itself_with_one_event() {
        for (key, silent) in [(Key::Pi, false), (Key::OpenCode, false), (Key::Droid, false), (Key::Claude, true)] {
            let mut silence = Silence::default();
            silence.hear(key, T);
            for second in [0.0, 4000.0, 4020.0] {
                silence.observe(&[(key, T + second)], T + second);
            }
            assert_eq!(silence.holds(key, T + 4020.0), silent, "{key:?}");
        }
    }

    /// TRUST-056: a clock set back begins the wait anew, and a cause that is gone takes its degrade along (TRUST-037).
    #[test]
    fn trust_056_a_step_of_the_clock_neither_fires_nor_sticks() {
        let mut silence = Silence::default();
        silence.observe(&[(Key::Codex, T)], T);
        silence.observe(&[(Key::Codex, T - 86_400.0)], T - 86_400.0);
        silence.observe(&[(Key::Codex, T - 86_340.0)], T - 86_340.0);
        assert!(!silence.holds(Key::Codex, T - 86_300.0));
        silence.observe(&[(Key::Codex, T - 85_700.0)], T - 85_700.0);
        assert!(silence.holds(Key::Codex, T - 85_690.0));
        silence.observe(&[(Key::Codex, T - 85_700.0)], T - 85_000.0);
        assert!(!silence.holds(Key::Codex, T - 85_000.0), "its sessions rest again");
    }
}
