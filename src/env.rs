//! The environment, read once at process start and passed down (CONF-001).
//!
//! Nothing else in the program asks the system for a variable: what a feature needs it takes from here, and what a
//! child gets is made from here. A variable that holds only white space counts as unset.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// The platform whose path rules and store locations apply; a value, so that each can be tested on any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    Linux,
    MacOs,
    Windows,
}

impl Platform {
    /// The platform this build runs on; an unlisted POSIX system counts as Linux.
    pub const fn current() -> Self {
        if cfg!(windows) {
            Platform::Windows
        } else if cfg!(target_os = "macos") {
            Platform::MacOs
        } else {
            Platform::Linux
        }
    }

    /// The name `--diagnose` publishes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Platform::Linux => "linux",
            Platform::MacOs => "darwin",
            Platform::Windows => "win32",
        }
    }
}

/// Name of the variable that carries the webhook URL, a secret no child but our own daemon may see (NOTE-110).
pub const REACH_URL: &str = "CARGENTO_REACH_URL";
/// Name of the variable by which a starting command hands its listener to the daemon it starts.
pub const DETACHED: &str = "CARGENTO_DETACHED";

/// A snapshot of the environment.
#[derive(Clone)]
pub struct Env {
    platform: Platform,
    vars: BTreeMap<OsString, OsString>,
}

impl Env {
    /// The environment of this process. Called once, first thing.
    pub fn capture() -> Self {
        Self::of(Platform::current(), std::env::vars_os())
    }

    /// An environment made of pairs, for tests and for the demo.
    pub fn of<K: Into<OsString>, V: Into<OsString>>(
        platform: Platform,
        vars: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        Self { platform, vars: vars.into_iter().map(|(k, v)| (k.into(), v.into())).collect() }
    }

    /// The platform whose rules apply.
    pub const fn platform(&self) -> Platform {
        self.platform
    }

    /// A variable that is set to more than white space.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        let value = match self.platform {
            // Windows compares names without case.
            Platform::Windows => {
                self.vars.iter().find(|(k, _)| k.to_str().is_some_and(|k| k.eq_ignore_ascii_case(name))).map(|(_, v)| v)
            }
            Platform::Linux | Platform::MacOs => self.vars.get(OsStr::new(name)),
        }?;
        let blank = value.to_str().is_some_and(|text| text.trim().is_empty());
        (!blank).then_some(value.as_os_str())
    }

    /// The same as text; a value that is not Unicode counts as unset.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.to_str()
    }

    /// The home directory, empty when none is set.
    pub fn home(&self) -> OsString {
        let names: &[&str] = match self.platform {
            Platform::Windows => &["USERPROFILE", "HOME"],
            Platform::Linux | Platform::MacOs => &["HOME"],
        };
        names.iter().find_map(|name| self.get(name)).unwrap_or_default().to_os_string()
    }

    /// The state directory: `CARGENTO_HOME` as typed, else `<home>/.cargento` (STATE-001, CONF-002).
    pub fn state_dir(&self) -> PathBuf {
        match self.get("CARGENTO_HOME") {
            Some(dir) => PathBuf::from(dir),
            None => PathBuf::from(crate::roots::join(self.platform, &self.home(), &[".cargento"])),
        }
    }

    /// The directory for temporary files.
    pub fn temp_dir(&self) -> PathBuf {
        let (names, default): (&[&str], &str) = match self.platform {
            Platform::Windows => (&["TMP", "TEMP"], r"C:\Windows\Temp"),
            Platform::Linux | Platform::MacOs => (&["TMPDIR"], "/tmp"),
        };
        PathBuf::from(names.iter().find_map(|name| self.get(name)).unwrap_or_else(|| OsStr::new(default)))
    }

    /// Every variable, for a child's environment.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.vars.iter().map(|(k, v)| (k.as_os_str(), v.as_os_str()))
    }

    /// This environment without the named variables.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let mut next = self.clone();
        next.vars.retain(|k, _| {
            !names.iter().any(|name| match self.platform {
                Platform::Windows => k.to_str().is_some_and(|k| k.eq_ignore_ascii_case(name)),
                Platform::Linux | Platform::MacOs => k == name,
            })
        });
        next
    }

    /// This environment with one variable set.
    #[must_use]
    pub fn with(&self, name: &str, value: impl Into<OsString>) -> Self {
        let mut next = self.without(&[name]);
        next.vars.insert(name.into(), value.into());
        next
    }
}

/// Names only: a value may be a secret.
impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.vars.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CONF-001.
    #[test]
    fn conf_001_white_space_counts_as_unset() {
        let env = Env::of(Platform::Linux, [("A", "x"), ("B", " \t"), ("C", "")]);
        assert_eq!(env.get("A"), Some(OsStr::new("x")));
        assert_eq!((env.get("B"), env.get("C"), env.get("D")), (None, None, None));
        assert_eq!(env.get("a"), None);
    }

    /// CONF-002.
    #[test]
    fn conf_002_state_dir_is_kept_as_typed() {
        let env = Env::of(Platform::Windows, [("USERPROFILE", r"C:\Users\u"), ("CARGENTO_HOME", "D:/state")]);
        assert_eq!(env.state_dir(), PathBuf::from("D:/state"));
        assert_eq!(env.without(&["cargento_home"]).state_dir(), PathBuf::from(r"C:\Users\u\.cargento"));
        let blank = Env::of(Platform::Linux, [("HOME", "/home/u"), ("CARGENTO_HOME", "  ")]);
        assert_eq!(blank.state_dir(), PathBuf::from("/home/u/.cargento"));
    }

    /// CONF-001.
    #[test]
    fn conf_001_windows_home_prefers_userprofile_and_ignores_case() {
        let env = Env::of(Platform::Windows, [("HOME", "/h"), ("UserProfile", r"C:\u")]);
        assert_eq!(env.home(), OsString::from(r"C:\u"));
        assert_eq!(Env::of(Platform::Linux, [("USERPROFILE", "x")]).home(), OsString::new());
    }

    /// NOTE-111: nothing that prints an environment prints a value.
    #[test]
    fn note_111_debug_shows_no_value() {
        let env = Env::of(Platform::Linux, [(REACH_URL, "https://hook.example/secret")]);
        assert!(!format!("{env:?}").contains("secret"));
    }
}
