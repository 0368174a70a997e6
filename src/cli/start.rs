//! From parsed arguments to a bound listener, in the one order that holds (LIFE-001): sweep, home and log, bind,
//! detach. Everything a serving run prints or records of itself on the way is here.

use super::{Context, FAILED, daemon, instance, say};
use crate::config::DAEMON_LOG_TAIL_BYTES;
use crate::env::DETACHED;
use crate::surface::bind::{BindError, Listener, bind};
use crate::surface::daemon::{Announce, inherit};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// What a start comes to.
pub enum Start {
    /// This process serves.
    Serve(Serving),
    /// This process is done; its exit code.
    Exit(u8),
}

/// What a serving process has.
#[derive(Debug)]
pub struct Serving {
    /// The bound listener.
    pub listener: Listener,
    /// Whether this is a daemon: it ignores SIGHUP.
    pub detached: bool,
    /// Where to say that it serves, once it does: a starter waits for it.
    pub announce: Option<Announce>,
}

/// Sweeps, then binds, or starts a daemon and waits for it. Every failure has been explained when this returns.
pub fn begin(context: &Context) -> Start {
    let port = context.settings.port;
    if let Some(inherited) = context.env.get(DETACHED).and_then(|value| inherit(value, port)) {
        let announce = Some(inherited.announce);
        return match inherited.listener {
            Some(listener) => Start::Serve(Serving { listener, detached: true, announce }),
            None => bound(context)
                .map_or_else(Start::Exit, |listener| Start::Serve(Serving { listener, detached: true, announce })),
        };
    }
    instance::sweep(&context.place);
    if !context.settings.daemon {
        return bound(context)
            .map_or_else(Start::Exit, |listener| Start::Serve(Serving { listener, detached: false, announce: None }));
    }
    match context.place.append(&context.log_name()) {
        Ok(log) => Start::Exit(daemon::start(context, &log).unwrap_or_else(|code| code)),
        Err(error) => {
            say(&format!(
                "the state directory {} cannot be used: {error}. Set CARGENTO_HOME to a directory that can be written, \
                 or drop --daemon",
                context.place.root().display()
            ));
            Start::Exit(FAILED)
        }
    }
}

/// The listener, or the exit code after the reason was printed.
pub(super) fn bound(context: &Context) -> Result<Listener, u8> {
    let settings = &context.settings;
    match bind(settings.host, settings.port) {
        Ok((listener, warning)) => {
            if let Some(warning) = warning {
                say(&warning);
            }
            Ok(listener)
        }
        Err(error) => {
            say(&unbound(settings.host.as_str(), settings.port, &error));
            Err(FAILED)
        }
    }
}

/// Why the port was not bound, and what to do about it (LIFE-003).
fn unbound(host: &str, port: u16, error: &BindError) -> String {
    match error {
        BindError::InUse => format!(
            "port {port} is in use. A dashboard may already be running there: open http://127.0.0.1:{port}/ (or read it at \
             http://127.0.0.1:{port}/api/data), ask with --status --port {port}, or choose another port with --port"
        ),
        BindError::NotPermitted => format!(
            "port {port} may not be used: another program holds it, or the system has reserved or blocked it. Choose \
             another port with --port"
        ),
        BindError::Other(error) => format!("could not listen on {host}:{port}: {error}"),
    }
}

/// The line that tells where the page is: always the loopback address (LIFE-005).
pub fn say_url(context: &Context) {
    say(&url(context.settings.port));
}

/// Address of the page.
pub fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/")
}

/// Records this process as the instance on its port; a failure is said once and serving goes on (STATE-007).
/// `capabilities` are the event tokens by harness, `None` when no events are taken.
pub fn record(context: &Context, capabilities: Option<&[(&'static str, String)]>) {
    let port = context.settings.port;
    let instance = instance::Instance {
        pid: std::process::id(),
        port,
        started: context.started,
        log: context.log_path().to_string_lossy().into_owned(),
        executable: context.executable.to_string_lossy().into_owned(),
        irreversible_enabled: capabilities.is_some() && context.settings.irreversible_enabled(),
        capabilities,
        host: context.settings.host.as_str(),
    };
    if let Err(error) = instance::write(&context.place, &instance) {
        let path = context.place.path(&instance::file_name(port));
        say(&format!(
            "could not write {}: {error}; --status will not see this instance by its file, and \
             no event of a harness is taken, since their tokens are in it",
            path.display()
        ));
    }
}

/// The end of a log for a person: its last bytes as text, or why there are none (LIFE-024).
pub(super) fn log_tail(path: &Path) -> String {
    match tail(path) {
        Ok(text) if text.is_empty() => format!("({} is empty)", path.display()),
        Ok(text) => text,
        Err(_) => format!("(could not read {})", path.display()),
    }
}

fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let from = file.metadata()?.len().saturating_sub(DAEMON_LOG_TAIL_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(DAEMON_LOG_TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::write::Temporary;

    /// LIFE-003.
    #[test]
    fn life_003_what_a_busy_port_says() {
        let line = unbound("0.0.0.0", 4553, &BindError::InUse);
        assert!(
            [
                "port 4553",
                "open http://127.0.0.1:4553/ ",
                "http://127.0.0.1:4553/api/data",
                "--status --port 4553",
                "with --port"
            ]
            .iter()
            .all(|words| line.contains(words)),
            "{line}"
        );
        let line = unbound("127.0.0.1", 80, &BindError::NotPermitted);
        assert!(["holds", "reserved", "blocked", "--port"].iter().all(|word| line.contains(word)), "{line}");
        let line = unbound("0.0.0.0", 80, &BindError::Other(io::Error::other("odd")));
        assert!(line.contains("0.0.0.0:80") && line.contains("odd"));
    }

    /// LIFE-024.
    #[test]
    fn life_024_the_end_of_a_log() {
        let home = Temporary::create(&std::env::temp_dir(), "cargento-start-test").unwrap();
        let path = home.place().path("a.log");
        assert!(log_tail(&path).starts_with("(could not read "));
        home.place().replace("a.log", b"\n \n").unwrap();
        assert!(log_tail(&path).ends_with(" is empty)"));
        home.place().replace("a.log", &[vec![b'a'; 100], vec![b'b'; 1998], vec![0xff, b'\n']].concat()).unwrap();
        assert_eq!(log_tail(&path), format!("{}\u{fffd}", "b".repeat(1998)));
    }
}
