//! What was typed, and what it means.
//!
//! [`typed`] turns arguments into a list of flags with their raw values; [`Settings`] is what they mean. Only the
//! second step judges a value. Neither touches a file, a socket or the clock (CLI-019).

mod flags;
mod help;
mod model_id;
mod quiet_hours;
mod typed;

pub use flags::{FLAGS, Flag, Forward, Group};
use help::SUBCOMMANDS;
pub use help::{help, markdown_table, usage};
pub use quiet_hours::QuietHours;
pub use typed::{Typed, typed};

use crate::config;
use crate::env::Env;
use crate::surface::bind::Host;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// A text that no print of a structure may show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret, for the one use it has.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// Why arguments were not understood: the whole line after `error: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The commands that report or change something and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneShot {
    Diagnose,
    Forget,
    Stop,
    Status,
}

/// Everything a run was told. The members named after a flag hold what was given; what that means together is answered
/// by the methods (CONF-011), which is what features ask.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Listening port.
    pub port: u16,
    /// Bind address.
    pub host: Host,
    pub daemon: bool,
    pub demo: bool,
    pub status: bool,
    pub stop: bool,
    pub forget: bool,
    pub diagnose: bool,
    pub json: bool,
    /// Rows idle longer than this are hidden, hours.
    pub window_hours: f64,
    /// History retention, days.
    pub history_days: f64,
    /// History size and read cap, bytes.
    pub history_max_bytes: u64,
    pub no_spacedock: bool,
    pub no_tripwires: bool,
    pub no_usage: bool,
    pub no_observer_model: bool,
    pub no_git: bool,
    pub no_focus: bool,
    pub no_events: bool,
    pub no_irreversible: bool,
    pub no_dismiss: bool,
    pub no_annotations: bool,
    pub no_ask: bool,
    pub no_history: bool,
    pub no_deck: bool,
    pub no_reach: bool,
    pub no_quiet_hours: bool,
    pub observer_model: bool,
    pub unasked_readings: bool,
    /// The Claude model of a reading.
    pub claude_reading_model: String,
    /// The webhook as given by its flag; [`crate::cli::sources`] knows the other places.
    pub reach_url: Option<Secret>,
    /// The window as given by its flag.
    pub quiet_hours: Option<QuietHours>,
    /// `harness:sid` of the session whose terminal may be shown.
    pub origin_session: Option<String>,
    /// Where its registration capability is written.
    pub origin_registration: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            port: config::DEFAULT_PORT,
            host: Host::Loopback,
            daemon: false,
            demo: false,
            status: false,
            stop: false,
            forget: false,
            diagnose: false,
            json: false,
            window_hours: config::DEFAULT_WINDOW_HOURS,
            history_days: config::DEFAULT_HISTORY_DAYS,
            history_max_bytes: config::HISTORY_MAX_BYTES,
            no_spacedock: false,
            no_tripwires: false,
            no_usage: false,
            no_observer_model: false,
            no_git: false,
            no_focus: false,
            no_events: false,
            no_irreversible: false,
            no_dismiss: false,
            no_annotations: false,
            no_ask: false,
            no_history: false,
            no_deck: false,
            no_reach: false,
            no_quiet_hours: false,
            observer_model: false,
            unasked_readings: false,
            claude_reading_model: config::DEFAULT_CLAUDE_READING_MODEL.to_owned(),
            reach_url: None,
            quiet_hours: None,
            origin_session: None,
            origin_registration: None,
        }
    }
}

impl Settings {
    /// What was typed means this, or why it means nothing. Values are judged first, combinations after (CLI-013).
    pub fn of(typed: &Typed) -> Result<Self, UsageError> {
        let mut settings = Self::default();
        for flag in FLAGS {
            if let Some(value) = typed.value(flag) {
                (flag.read)(&mut settings, value)
                    .map_err(|reason| UsageError(format!("argument --{}: {reason}", flag.name)))?;
            }
        }
        settings.combinations()?;
        Ok(settings)
    }

    fn combinations(&self) -> Result<(), UsageError> {
        let refuse = |reason: &str| Err(UsageError(reason.to_owned()));
        if self.daemon && self.one_shot().is_some() {
            return refuse("--daemon cannot be combined with --diagnose, --stop, --status or --forget");
        }
        if self.demo && (self.daemon || self.one_shot().is_some()) {
            return refuse("--demo cannot be combined with --daemon, --diagnose, --stop, --status or --forget");
        }
        if self.origin_session.is_some() != self.origin_registration.is_some() {
            return refuse(
                "--interaction-origin-session and --interaction-origin-registration-file must be given together",
            );
        }
        Ok(())
    }

    /// The one-shot command, the first in a fixed order when several were given (CLI-017).
    pub const fn one_shot(&self) -> Option<OneShot> {
        if self.diagnose {
            Some(OneShot::Diagnose)
        } else if self.forget {
            Some(OneShot::Forget)
        } else if self.stop {
            Some(OneShot::Stop)
        } else if self.status {
            Some(OneShot::Status)
        } else {
            None
        }
    }

    /// These settings for invented sessions: everything that would start a program, read a credential or leave the
    /// machine is off (CLI-033).
    #[must_use]
    pub fn for_demo(mut self) -> Self {
        for switch in [
            &mut self.no_spacedock,
            &mut self.no_usage,
            &mut self.no_observer_model,
            &mut self.no_git,
            &mut self.no_focus,
            &mut self.no_reach,
        ] {
            *switch = true;
        }
        self.reach_url = None;
        self.origin_session = None;
        self.origin_registration = None;
        self
    }

    /// Whether goal summaries by a model are offered.
    pub const fn observer_model_enabled(&self) -> bool {
        self.observer_model && !self.no_observer_model
    }

    /// Whether unasked checks run.
    pub const fn unasked_enabled(&self) -> bool {
        self.unasked_readings && !self.no_observer_model
    }

    /// Whether command shapes are matched, reported and published.
    pub const fn irreversible_enabled(&self) -> bool {
        !self.no_irreversible && !self.no_events
    }

    /// Whether lifecycle events are accepted: a coordinator exists.
    pub const fn events_enabled(&self) -> bool {
        !self.no_events
    }

    /// Whether a terminal may be raised.
    pub const fn focus_enabled(&self) -> bool {
        !self.no_focus && !self.no_events
    }

    /// Whether the git probe runs; it is started by an event.
    pub const fn git_enabled(&self) -> bool {
        !self.no_git && !self.no_events
    }

    /// The window of the board, seconds.
    pub fn window_sec(&self) -> f64 {
        self.window_hours * config::HOUR_SEC
    }

    /// History retention, seconds.
    pub fn history_retention_sec(&self) -> f64 {
        self.history_days * config::DAY_SEC
    }

    /// Arguments and environment of a respawned daemon, so that a restart never re-enables what was disabled
    /// (LIFE-032). `--daemon` is not among them; a secret travels in the environment alone.
    pub fn respawn(&self, env: &Env) -> (Vec<OsString>, Env) {
        let mut args = Vec::new();
        let mut env = env.clone();
        for flag in FLAGS {
            match (flag.forward)(self) {
                Forward::Nothing => {}
                Forward::Switch => args.push(format!("--{}", flag.name).into()),
                Forward::Value(value) => {
                    // One element, so that a value that begins with a dash stays a value.
                    let mut arg = OsString::from(format!("--{}=", flag.name));
                    arg.push(value);
                    args.push(arg);
                }
                Forward::Environment(name, value) => env = env.with(name, value),
            }
        }
        (args, env)
    }
}

#[cfg(test)]
mod tests;
