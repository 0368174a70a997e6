//! The one table of flags. Parsing, `--help`, the arguments of a respawned daemon and the options table of the README are
//! all read off it; a flag that lacks one of them does not compile or fails a test.

use super::model_id;
use super::quiet_hours::QuietHours;
use super::{Secret, Settings};
use crate::config;
use crate::model::Key;
use crate::surface::bind::Host;
use std::ffi::{OsStr, OsString};
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// One flag.
pub struct Flag {
    /// Its name without the dashes.
    pub name: &'static str,
    /// A second name for it.
    pub alias: Option<&'static str>,
    /// What its value is called; `None` for a switch.
    pub value: Option<&'static str>,
    /// The heading it stands under.
    pub group: Group,
    /// What it does, one or more sentences.
    pub help: &'static str,
    /// Reads its value into the settings; the error is the reason of the usage error.
    pub read: fn(&mut Settings, &OsStr) -> Result<(), String>,
    /// What a respawned daemon is told of it (LIFE-032).
    pub forward: fn(&Settings) -> Forward,
}

/// Headings of the help, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Serving,
    Commands,
    Board,
    Models,
    Switches,
    Away,
    Terminal,
}

impl Group {
    /// Every heading in order.
    pub const ALL: [Group; 7] =
        [Group::Serving, Group::Commands, Group::Board, Group::Models, Group::Switches, Group::Away, Group::Terminal];

    /// The heading's text.
    pub const fn title(self) -> &'static str {
        match self {
            Group::Serving => "Serving",
            Group::Commands => "One-shot commands",
            Group::Board => "The board",
            Group::Models => "Model calls",
            Group::Switches => "Off switches, for this run",
            Group::Away => "Away from the desk",
            Group::Terminal => "Read-only terminal (prototype)",
        }
    }
}

/// What a respawned daemon is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forward {
    /// Nothing: not given, the default, or the starter's own business.
    Nothing,
    /// The switch.
    Switch,
    /// The flag with this value.
    Value(OsString),
    /// A secret, which travels in this variable of the child's environment and never in its arguments.
    Environment(&'static str, OsString),
}

impl Forward {
    fn when(on: bool) -> Self {
        if on { Forward::Switch } else { Forward::Nothing }
    }

    fn unless(default: bool, value: impl ToString) -> Self {
        if default { Forward::Nothing } else { Forward::Value(value.to_string().into()) }
    }
}

/// A one-shot command ends before anything could be respawned, and the flags that shape one go with it.
const fn never(_: &Settings) -> Forward {
    Forward::Nothing
}

macro_rules! switch {
    ($name:literal, $alias:expr, $group:ident, $field:ident, $forward:expr, $help:literal) => {
        Flag {
            name: $name,
            alias: $alias,
            value: None,
            group: Group::$group,
            help: $help,
            read: |s, _| {
                s.$field = true;
                Ok(())
            },
            forward: $forward,
        }
    };
    ($name:literal, $field:ident, $help:literal) => {
        switch!($name, None, Switches, $field, |s| Forward::when(s.$field), $help)
    };
}

/// Every flag, in the order of the help and of a respawn's arguments.
pub static FLAGS: &[Flag] = &[
    Flag {
        name: "port",
        alias: None,
        value: Some("N"),
        group: Group::Serving,
        help: "Listening port, 1 to 65535 (default 4553), and the instance that --status, --stop and --forget address.",
        read: |s, v| {
            s.port = text(v)?.parse().ok().filter(|port| *port != 0).ok_or("must be an integer from 1 to 65535")?;
            Ok(())
        },
        forward: |s| Forward::Value(s.port.to_string().into()),
    },
    Flag {
        name: "host",
        alias: None,
        value: Some("A"),
        group: Group::Serving,
        help: "Bind address: 127.0.0.1 (default) or 0.0.0.0, and the only way off loopback. Nothing authenticates a reader: \
               under 0.0.0.0 whoever can reach the port reads every session's titles, prompts and project labels, may stop \
               the server and answer questions, and may use every POST route but the event one. Use it on a network you \
               would hand the transcripts to; otherwise prefer ssh -L 4553:127.0.0.1:4553 HOST.",
        read: |s, v| {
            s.host = host(v)?;
            Ok(())
        },
        forward: |s| Forward::unless(s.host == Host::Loopback, s.host.as_str()),
    },
    switch!(
        "daemon",
        None,
        Serving,
        daemon,
        never,
        "Detach and keep running after the starting session ends. Prints URL, pid and log path."
    ),
    switch!(
        "demo",
        None,
        Serving,
        demo,
        never,
        "Serve invented sessions of all ten harnesses instead of this machine's. Reads no store, starts no program and \
         keeps its state in a private temporary directory. Combines with --port, --host and --window-hours."
    ),
    switch!(
        "status",
        None,
        Commands,
        status,
        never,
        "Say whether a dashboard is on --port: running, not running, or another process. Exits 0 only when running."
    ),
    switch!(
        "stop",
        None,
        Commands,
        stop,
        never,
        "Stop the dashboard on --port. Returns once the port is free, so a restart on it works."
    ),
    switch!(
        "forget",
        None,
        Commands,
        forget,
        never,
        "Delete the local history and the session ends, remove discard records and revoke the permission for readings. \
         Deletes nothing you typed. Refused while a dashboard answers on --port."
    ),
    switch!(
        "diagnose",
        None,
        Commands,
        diagnose,
        never,
        "Print where each harness's store was searched for and what was found there. Writes and transmits nothing; the \
         output names your paths, so read it before sharing."
    ),
    switch!("json", None, Commands, json, never, "Machine-readable --diagnose; ignored without it."),
    Flag {
        name: "window-hours",
        alias: None,
        value: Some("H"),
        group: Group::Board,
        help: "Sessions idle longer than H hours are hidden (default 24).",
        read: |s, v| {
            s.window_hours = positive(v)?;
            Ok(())
        },
        forward: |s| Forward::Value(s.window_hours.to_string().into()),
    },
    Flag {
        name: "history-days",
        alias: None,
        value: Some("N"),
        group: Group::Board,
        help: "Keep the local history for N days (default 14).",
        read: |s, v| {
            s.history_days = positive(v)?;
            Ok(())
        },
        forward: |s| Forward::unless(s.history_days == config::DEFAULT_HISTORY_DAYS, s.history_days),
    },
    Flag {
        name: "history-max-bytes",
        alias: None,
        value: Some("N"),
        group: Group::Board,
        help: "Largest local history, bytes (default 1048576).",
        read: |s, v| {
            let bytes = text(v)?.parse().ok().filter(|bytes| *bytes > 0);
            s.history_max_bytes = bytes.ok_or("must be an integer greater than 0")?;
            Ok(())
        },
        forward: |s| Forward::unless(s.history_max_bytes == config::HISTORY_MAX_BYTES, s.history_max_bytes),
    },
    switch!("no-spacedock", no_spacedock, "Read no workflow definitions: stage strips go, role badges stay."),
    switch!("no-tripwires", no_tripwires, "Neither read nor write saved stage conditions."),
    switch!(
        "no-usage",
        no_usage,
        "Never fetch vendor quota and ignore quota a harness pushes in. Quota on disk (Codex, Copilot) stays."
    ),
    switch!(
        "no-observer-model",
        Some("no-harness-usage"),
        Models,
        no_observer_model,
        |s| Forward::when(s.no_observer_model),
        "Refuse every model call of the run; wins over --observer-model and --unasked-readings."
    ),
    switch!("no-git", no_git, "Do not run the git probe at a session's end; dirty and changed stay empty."),
    switch!("no-focus", no_focus, "Raise no terminal, record no terminal identity, offer no control for it."),
    switch!(
        "no-events",
        no_events,
        "Accept no lifecycle events: no overlays, no store probe, no capability, no session-end store, no terminal raise."
    ),
    switch!(
        "no-irreversible",
        no_irreversible,
        "No command-shape matching, report or publication. Implied by --no-events."
    ),
    switch!("no-dismiss", no_dismiss, "Neither read nor write the marks of handled sessions; they all come back."),
    switch!("no-annotations", no_annotations, "Neither read nor write the words you typed against sessions."),
    switch!("no-ask", no_ask, "Let no session ask you a question."),
    switch!("no-history", no_history, "Keep no local history and do not read an existing one."),
    switch!("no-deck", no_deck, "No agents-and-calls view of a session."),
    switch!("no-reach", no_reach, "Resolve no webhook and post no nudge."),
    switch!("no-quiet-hours", no_quiet_hours, "Ignore quiet hours."),
    switch!(
        "observer-model",
        None,
        Models,
        observer_model,
        |s| Forward::when(s.observer_model),
        "Offer goal summaries written by a model; each browser still asks before the first."
    ),
    switch!(
        "unasked-readings",
        None,
        Models,
        unasked_readings,
        |s| Forward::when(s.unasked_readings),
        "Check sessions against their typed goal without being asked."
    ),
    Flag {
        name: "claude-reading-model",
        alias: None,
        value: Some("ID"),
        group: Group::Models,
        help: "The Claude model a reading uses (default claude-sonnet-5-5); a dated or numbered id, no floating alias.",
        read: |s, v| {
            // The value is never shown: whatever was pasted here by mistake stays out of a log.
            let id = v.to_str().filter(|id| model_id::accepted(id)).ok_or(
                "must be claude-sonnet-N or claude-opus-N with N from 5, optionally followed by -M and by a date \
                 -YYYYMMDD",
            )?;
            id.clone_into(&mut s.claude_reading_model);
            Ok(())
        },
        forward: |s| {
            let default = s.claude_reading_model == config::DEFAULT_CLAUDE_READING_MODEL;
            Forward::unless(default, &s.claude_reading_model)
        },
    },
    Flag {
        name: "reach-url",
        alias: None,
        value: Some("URL"),
        group: Group::Away,
        help: "Webhook that gets two counts, waiting and finished unread, and nothing else. Overrides CARGENTO_REACH_URL and \
               the file reach_url of the state directory. Off until one of them is set.",
        read: |s, v| {
            s.reach_url = Some(text(v)?.trim()).filter(|url| !url.is_empty()).map(Secret::new);
            Ok(())
        },
        forward: |s| match &s.reach_url {
            Some(url) => Forward::Environment(crate::env::REACH_URL, url.reveal().into()),
            None => Forward::Nothing,
        },
    },
    Flag {
        name: "quiet-hours",
        alias: None,
        value: Some("HH:MM-HH:MM"),
        group: Group::Away,
        help: "Local window without popups, unasked alerts and nudges; questions still come. Overrides \
               CARGENTO_QUIET_HOURS and the file quiet_hours of the state directory.",
        read: |s, v| {
            s.quiet_hours = Some(QuietHours::parse(text(v)?).ok_or("must be HH:MM-HH:MM, 24-hour local time")?);
            Ok(())
        },
        forward: |s| s.quiet_hours.map_or(Forward::Nothing, |hours| Forward::Value(hours.to_string().into())),
    },
    Flag {
        name: "interaction-origin-session",
        alias: None,
        value: Some("HARNESS:SID"),
        group: Group::Terminal,
        help: "Offer the read-only terminal for exactly this session. Needs the flag below.",
        read: |s, v| {
            s.origin_session = Some(origin(text(v)?).ok_or("must be a harness key, a colon and a session id")?);
            Ok(())
        },
        forward: |s| s.origin_session.as_ref().map_or(Forward::Nothing, |session| Forward::Value(session.into())),
    },
    Flag {
        name: "interaction-origin-registration-file",
        alias: None,
        value: Some("PATH"),
        group: Group::Terminal,
        help: "Where the one-use registration capability is written. Needs the flag above.",
        read: |s, v| {
            if v.is_empty() {
                return Err("must be a path".into());
            }
            s.origin_registration = Some(PathBuf::from(v));
            Ok(())
        },
        forward: |s| s.origin_registration.as_ref().map_or(Forward::Nothing, |path| Forward::Value(path.into())),
    },
];

fn text(value: &OsStr) -> Result<&str, String> {
    value.to_str().ok_or_else(|| "must be text".to_owned())
}

fn positive(value: &OsStr) -> Result<f64, String> {
    let number = text(value)?.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
    number.ok_or_else(|| "must be a number greater than 0".to_owned())
}

fn host(value: &OsStr) -> Result<Host, String> {
    match value.to_str() {
        Some("127.0.0.1") => Ok(Host::Loopback),
        Some("0.0.0.0") => Ok(Host::Any),
        Some(other) if other.parse::<Ipv4Addr>().is_ok() => Err("must be 127.0.0.1 or 0.0.0.0: a dashboard on another \
             address would be out of reach of --status, --stop, the hook forwarders and the MCP server, which come over \
             loopback only"
            .to_owned()),
        _ => Err("must be 127.0.0.1 or 0.0.0.0".to_owned()),
    }
}

fn origin(text: &str) -> Option<String> {
    let (harness, sid) = text.split_once(':')?;
    (Key::ALL.iter().any(|key| key.as_str() == harness) && !sid.trim().is_empty()).then(|| text.to_owned())
}
