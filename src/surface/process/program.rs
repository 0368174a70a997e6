//! Finds the program of a child: an absolute path or a named refusal (TRUST-013, TRUST-014).

use crate::env::Env;
use std::env::{join_paths, split_paths};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// The absolute path of a program. There is no other way to name one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program(PathBuf);

/// What to do with an element of PATH that is not absolute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Drop it: a program of this name elsewhere on PATH is the one meant (`git`, `tmux`, `notify-send`).
    Scrub,
    /// Refuse a hit in it: the person's PATH means that one, and it may not run (`codex`, `claude`, `spacedock`).
    FirstHit,
}

/// Why there is no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// PATH holds none of this name.
    Missing,
    /// The one that would run has no absolute path.
    Relative,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unresolved::Missing => "not found on PATH",
            Unresolved::Relative => "its place on PATH is not absolute",
        })
    }
}

impl Program {
    /// A program at a fixed place, if it is absolute.
    pub fn at(path: impl Into<PathBuf>) -> Option<Self> {
        let path = path.into();
        path.is_absolute().then_some(Self(path))
    }

    /// The first program of this name on the environment's PATH.
    pub fn find(name: &str, env: &Env, lookup: Lookup) -> Result<Self, Unresolved> {
        let list = env.get("PATH").unwrap_or_default();
        for dir in split_paths(list) {
            let rooted = dir.is_absolute();
            if !rooted && lookup == Lookup::Scrub {
                continue;
            }
            if let Some(found) = candidates(&dir, name).into_iter().find(|c| executable(c)) {
                return Self::at(found).ok_or(Unresolved::Relative);
            }
        }
        Err(Unresolved::Missing)
    }

    /// This very executable.
    pub fn own() -> Option<Self> {
        std::env::current_exe().ok().and_then(Self::at)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// A PATH without its elements that are not absolute.
pub fn scrubbed(list: &OsStr) -> OsString {
    join_paths(split_paths(list).filter(|dir| dir.is_absolute())).unwrap_or_default()
}

#[cfg(unix)]
fn candidates(dir: &Path, name: &str) -> Vec<PathBuf> {
    vec![dir.join(name)]
}

#[cfg(windows)]
fn candidates(dir: &Path, name: &str) -> Vec<PathBuf> {
    ["exe", "com", "cmd", "bat"].iter().map(|ext| dir.join(format!("{name}.{ext}"))).collect()
}

#[cfg(unix)]
fn executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(windows)]
fn executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::env::Platform;
    use crate::surface::write::Temporary;
    use std::os::unix::fs::PermissionsExt as _;

    fn path(list: &str) -> Env {
        Env::of(Platform::Linux, [("PATH", list)])
    }

    /// TRUST-014.
    #[test]
    fn trust_014_relative_elements_are_dropped_or_refused() {
        let home = Temporary::create(&std::env::temp_dir(), "cargento-path-test").unwrap();
        let real = home.place().root().join("tool");
        std::fs::write(&real, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o755)).unwrap();
        let dir = home.place().root().to_str().unwrap();
        for list in [format!(":.:relbin:{dir}"), format!("{dir}:."), format!("sub/bin:{dir}:..")] {
            assert_eq!(Program::find("tool", &path(&list), Lookup::Scrub).unwrap().path(), real);
        }
        // The same directory reached by a relative element: skipped by one policy, refused by the other.
        let here = std::env::current_dir().unwrap();
        let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
        let relative = up.join(dir.trim_start_matches('/'));
        let list = format!("{}:{dir}", relative.display());
        assert_eq!(Program::find("tool", &path(&list), Lookup::FirstHit), Err(Unresolved::Relative));
        assert_eq!(Program::find("tool", &path(&list), Lookup::Scrub).unwrap().path(), real);
        for list in ["", ".", "relbin"] {
            assert_eq!(Program::find("tool", &path(list), Lookup::Scrub), Err(Unresolved::Missing));
        }
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(Program::find("tool", &path(dir), Lookup::Scrub), Err(Unresolved::Missing));
    }

    /// GIT-003.
    #[test]
    fn git_003_scrubbed_path() {
        assert_eq!(scrubbed(OsStr::new(":.:./bin:..:/a:relbin:/b:sub/bin")), OsString::from("/a:/b"));
        assert_eq!(scrubbed(OsStr::new("bin")), OsString::new());
        assert!(Program::at("git").is_none());
    }
}
