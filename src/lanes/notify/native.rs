//! The machine's own notification service: which there is, its argument list, and what became of one raise (NOTE-040 to
//! NOTE-043, NOTE-200 to NOTE-202).
//!
//! No shell and no word of ours that the text could become a part of: on Linux title and body are an argument each, on
//! macOS a string literal each.

use crate::env::{Env, Platform};
use crate::keep::deliveries::Outcome;
use crate::surface::process::{Done, Failure, Handle, Input, Lookup, Output, Program, Spec, supervise};
use crate::text::{safe::diagnostic, safe_text};
use std::ffi::OsString;
use std::time::Duration;

/// Longest title and body, characters.
const TITLE_CHARS: usize = 60;
/// See [`TITLE_CHARS`].
pub const BODY_CHARS: usize = 180;
/// How long the program may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Most kept of what macOS's program says about a failure, bytes; more is read and dropped.
const STDERR_BYTES: usize = 4096;
/// Most printed of it, characters.
const STDERR_CHARS: usize = 300;
/// Where macOS has its program; a build for a test may put another there.
const OSASCRIPT: &str = match option_env!("CARGENTO_BUILD_OSASCRIPT") {
    Some(path) => path,
    None => "/usr/bin/osascript",
};

/// Which service it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Osascript,
    NotifySend,
}

/// A notification service with its program, which was looked up once.
#[derive(Clone, Debug)]
pub struct Backend {
    kind: Kind,
    program: Program,
    env: Env,
}

/// What became of a raise, and the line to print about it, if any.
pub type Ended = (Outcome, Option<String>);

impl Backend {
    /// The service of this platform; none where there is none (NOTE-040, NOTE-200).
    pub fn find(env: &Env) -> Option<Backend> {
        let (kind, program) = match env.platform() {
            Platform::MacOs => (Kind::Osascript, Program::at(OSASCRIPT)?),
            Platform::Linux => (Kind::NotifySend, Program::find("notify-send", env, Lookup::Scrub).ok()?),
            Platform::Windows => return None,
        };
        Some(Backend { kind, program, env: env.clone() })
    }

    /// Its name on the board and in counters.
    pub const fn name(&self) -> &'static str {
        match self.kind {
            Kind::Osascript => "osascript",
            Kind::NotifySend => "notify-send",
        }
    }

    /// Runs the program for one notification and waits for it, at most five seconds.
    pub fn raise(&self, title: &str, body: &str, handle: &Handle) -> Ended {
        let spec = Spec {
            program: &self.program,
            args: self.arguments(title, body),
            dir: None,
            env: &self.env,
            stdin: Input::Null,
            stdout: Output::Null,
            // What notify-send says may name the text, and the log is a file: it is not even kept (NOTE-201).
            stderr: if self.kind == Kind::Osascript { Output::Head(STDERR_BYTES) } else { Output::Null },
            timeout: Some(TIMEOUT),
        };
        ended(self.name(), supervise(spec, handle, &|| ()))
    }

    /// The arguments after the program.
    fn arguments(&self, title: &str, body: &str) -> Vec<OsString> {
        let (title, body) = (safe_text(title, TITLE_CHARS), safe_text(body, BODY_CHARS));
        match self.kind {
            Kind::Osascript => {
                let (title, body) = (literal(&title), literal(&body));
                let script = format!("display notification {body} with title {title} sound name \"Glass\"");
                vec!["-e".into(), script.into()]
            }
            Kind::NotifySend => {
                vec!["--app-name=Cargento".into(), "--".into(), markup(&title).into(), markup(&body).into()]
            }
        }
    }
}

/// An AppleScript string.
fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}

/// Text for a service that reads markup.
fn markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn ended(name: &str, result: Result<Done, Failure>) -> Ended {
    match result {
        Ok(done) if done.success() => (Outcome::HandedOver, None),
        Ok(done) => (Outcome::Refused, Some(refusal(name, &done))),
        Err(Failure::NotStarted(error)) => {
            (Outcome::NotLaunched, Some(format!("{name} could not be started: {error}")))
        }
        Err(Failure::TimedOut | Failure::Unstopped) => {
            (Outcome::DidNotReturn, Some(format!("{name} did not return within {} s", TIMEOUT.as_secs())))
        }
        // The run is ending; whether it would have returned will never be known.
        Err(Failure::Cancelled) => (Outcome::DidNotReturn, None),
        Err(Failure::Oversized) => (Outcome::Refused, Some(format!("{name} said too much"))),
    }
}

fn refusal(name: &str, done: &Done) -> String {
    let how = done.code.map_or_else(|| "was ended by a signal".to_owned(), |code| format!("ended with status {code}"));
    let said: String = diagnostic(String::from_utf8_lossy(&done.stderr).trim()).chars().take(STDERR_CHARS).collect();
    if said.is_empty() { format!("{name} {how}") } else { format!("{name} {how}: {said}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backend(kind: Kind) -> Backend {
        let program = Program::at(std::env::temp_dir().join("none")).unwrap();
        Backend { kind, program, env: Env::of(Platform::Linux, [("HOME", "/h")]) }
    }

    fn words(kind: Kind, title: &str, body: &str) -> Vec<String> {
        backend(kind).arguments(title, body).into_iter().map(|arg| arg.into_string().unwrap()).collect()
    }

    /// The value of an AppleScript literal at the start of `text`, and what follows it.
    fn unquote(text: &str) -> (String, &str) {
        let mut value = String::new();
        let mut chars = text.strip_prefix('"').unwrap().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => return (value, &text[at + 2..]),
                '\\' => value.push(chars.next().unwrap().1),
                c => value.push(c),
            }
        }
        panic!("the literal does not end: {text}");
    }

    /// NOTE-041, NOTE-043.
    #[test]
    fn note_041_043_hostile_text_stays_one_literal_each() {
        for hostile in
            [r#""; do shell script "touch x"#, "a trailing backslash \\", r#"\"; beep --"#, "line\nbreak", "\u{202e}x"]
        {
            let [dash_e, script]: [String; 2] = words(Kind::Osascript, hostile, hostile).try_into().unwrap();
            assert_eq!(dash_e, "-e");
            let want = safe_text(hostile, 60);
            let (body, rest) = unquote(script.strip_prefix("display notification ").unwrap());
            let (title, rest) = unquote(rest.strip_prefix(" with title ").unwrap());
            assert_eq!((body.as_str(), title.as_str(), rest), (&*want, &*want, " sound name \"Glass\""), "{hostile}");
            assert!(!script.contains(['\n', '\u{202e}']));
        }
    }

    #[test]
    fn note_201_four_arguments_cut_before_they_are_escaped() {
        assert_eq!(
            words(Kind::NotifySend, "-t <b>", "a & b\u{0}\u{1b}[31m"),
            ["--app-name=Cargento", "--", "-t &lt;b&gt;", "a &amp; b [31m"]
        );
        let [_, _, title, body]: [String; 4] =
            words(Kind::NotifySend, &"&".repeat(70), &"<".repeat(200)).try_into().unwrap();
        assert_eq!((title, body), ("&amp;".repeat(60), "&lt;".repeat(180)));
    }

    #[test]
    fn red_020_popup_text_is_redacted_before_it_is_cut() {
        let body = format!("{} token ghp_{}", "x".repeat(150), "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
        for kind in [Kind::Osascript, Kind::NotifySend] {
            assert!(!words(kind, "t", &body).concat().contains("ghp_A1b2"));
        }
    }

    /// NOTE-042, NOTE-202.
    #[test]
    fn note_042_202_five_outcomes_by_how_the_program_ended() {
        let done = |code, stderr: &str| Done { code, stdout: vec![], stderr: stderr.into() };
        assert_eq!(ended("n", Ok(done(Some(0), "warned"))), (Outcome::HandedOver, None));
        let (outcome, line) = ended("n", Ok(done(Some(3), &"why\n".repeat(200))));
        let line = line.unwrap();
        assert!(outcome == Outcome::Refused && line.starts_with("n ended with status 3: why why") && line.len() < 340);
        assert_eq!(ended("n", Ok(done(None, ""))), (Outcome::Refused, Some("n was ended by a signal".into())));
        assert_eq!(ended("n", Err(Failure::TimedOut)).0, Outcome::DidNotReturn);
        let gone = backend(Kind::NotifySend).raise("t", "b", &Handle::default());
        assert!(gone.0 == Outcome::NotLaunched && gone.1.unwrap().starts_with("notify-send could not be started"));
    }

    #[test]
    fn note_040_200_which_platform_has_what() {
        let of = |platform, path: &str| Backend::find(&Env::of(platform, [("PATH", path)])).map(|b| b.name());
        assert_eq!(of(Platform::MacOs, ""), cfg!(unix).then_some("osascript"));
        assert_eq!(
            (of(Platform::Linux, ""), of(Platform::Linux, ".:bin"), of(Platform::Windows, "C:\\")),
            (None, None, None)
        );
    }
}
