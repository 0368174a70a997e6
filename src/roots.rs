//! Where each harness keeps its store (section 4 of the chassis: CONF-020 to CONF-025).
//!
//! Computed from platform, environment and home alone, with the target platform's path rules. Nothing is looked up on
//! disk here, with one exception that the caller does and hands in: the text of Pi's `settings.json`.

use crate::env::{Env, Platform};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The relocation variables, in the order `--diagnose` prints them.
pub const RELOCATION: [&str; 6] = [
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "COPILOT_HOME",
    "PI_CODING_AGENT_DIR",
    "PI_CODING_AGENT_SESSION_DIR",
];

/// The candidate locations of one store, best first, without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its name, such as `claude.projects`.
    pub key: &'static str,
    /// Never empty.
    pub candidates: Vec<PathBuf>,
}

/// Every store's candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    list: Vec<Root>,
}

impl Roots {
    /// The table of CONF-021. `pi_settings` is the text of the file [`pi_settings_path`] names, if it could be read.
    pub fn new(env: &Env, pi_settings: Option<&str>) -> Self {
        let platform = env.platform();
        let home = env.home();
        let at = |base: &OsStr, parts: &[&str]| join(platform, base, parts);
        // A set variable is authoritative: its default is never a fallback (CONF-022).
        let moved =
            |name: &str, default: &[&str]| env.get(name).map_or_else(|| at(&home, default), OsStr::to_os_string);

        let claude = moved("CLAUDE_CONFIG_DIR", &[".claude"]);
        let gemini = env.get("GEMINI_CLI_HOME").map_or_else(|| at(&home, &[".gemini"]), |dir| at(dir, &[".gemini"]));
        let xdg = moved("XDG_DATA_HOME", &[".local", "share"]);
        let mut opencode = vec![at(&xdg, &["opencode"])];
        let mut goose = vec![at(&xdg, &["goose", "sessions", "sessions.db"])];
        if platform == Platform::Windows {
            if let Some(local) = env.get("LOCALAPPDATA") {
                opencode.extend([at(local, &["opencode", "data"]), at(local, &["opencode"])]);
            }
            opencode.push(at(&home, &[".local", "share", "opencode"]));
            for base in ["APPDATA", "LOCALAPPDATA"].iter().filter_map(|name| env.get(name)) {
                goose.push(at(base, &["Block", "goose", "data", "sessions", "sessions.db"]));
            }
        }
        let table: [(&'static str, Vec<OsString>); 12] = [
            ("claude.projects", vec![at(&claude, &["projects"])]),
            ("claude.tasks", vec![at(&claude, &["tasks"])]),
            ("codex.sessions", vec![at(&moved("CODEX_HOME", &[".codex"]), &["sessions"])]),
            ("pi.sessions", vec![pi_sessions(env, pi_settings)]),
            ("gemini.tmp", vec![at(&gemini, &["tmp"])]),
            ("antigravity.root", vec![at(&gemini, &["antigravity-cli"])]),
            ("copilot.root", vec![moved("COPILOT_HOME", &[".copilot"])]),
            ("opencode.data", opencode),
            ("cursor.chats", vec![at(&home, &[".cursor", "chats"])]),
            ("goose.db", goose),
            ("droid.projects", vec![at(&home, &[".factory", "sessions"]), at(&home, &[".factory", "projects"])]),
            ("claude.teams", vec![at(&claude, &["teams"])]),
        ];
        let list =
            table.into_iter().map(|(key, candidates)| Root { key, candidates: unique(platform, candidates) }).collect();
        Self { list }
    }

    /// Every store, in the order `--diagnose` publishes them.
    pub fn iter(&self) -> impl Iterator<Item = &Root> {
        self.list.iter()
    }

    /// The candidates of one store, best first; empty for an unknown key.
    pub fn candidates(&self, key: &str) -> &[PathBuf] {
        self.list.iter().find(|root| root.key == key).map_or(&[], |root| root.candidates.as_slice())
    }

    /// The best candidate of one store.
    pub fn primary(&self, key: &str) -> Option<&Path> {
        self.candidates(key).first().map(PathBuf::as_path)
    }
}

/// Pi's own settings file, which may name another session directory (CONF-024).
pub fn pi_settings_path(env: &Env) -> PathBuf {
    PathBuf::from(join(env.platform(), &pi_config(env), &["settings.json"]))
}

fn pi_config(env: &Env) -> OsString {
    env.get("PI_CODING_AGENT_DIR")
        .map_or_else(|| join(env.platform(), &env.home(), &[".pi", "agent"]), OsStr::to_os_string)
}

fn pi_sessions(env: &Env, settings: Option<&str>) -> OsString {
    if let Some(dir) = env.get("PI_CODING_AGENT_SESSION_DIR") {
        return dir.to_os_string();
    }
    let config = pi_config(env);
    match settings.and_then(session_dir) {
        Some(dir) => resolve(env.platform(), &env.home(), &config, &dir),
        None => join(env.platform(), &config, &["sessions"]),
    }
}

/// The nonblank string `sessionDir` of Pi's settings.
fn session_dir(settings: &str) -> Option<String> {
    let document: serde_json::Value = serde_json::from_str(settings).ok()?;
    let dir = document.as_object()?.get("sessionDir")?.as_str()?;
    (!dir.trim().is_empty()).then(|| dir.to_owned())
}

/// `~` is the home, an absolute path stays, anything else lies below the config directory.
fn resolve(platform: Platform, home: &OsStr, config: &OsStr, dir: &str) -> OsString {
    if dir == "~" {
        return home.to_os_string();
    }
    if let Some(rest) = dir.strip_prefix("~/").or_else(|| dir.strip_prefix("~\\")) {
        return join(platform, home, &[rest]);
    }
    // A Windows path that only lacks its drive is not relative either: it names the root of the current drive.
    let rooted = platform == Platform::Windows && dir.starts_with(['\\', '/']);
    if rooted || absolute(platform, dir) { OsString::from(dir) } else { join(platform, config, &[dir]) }
}

/// Whether a text is an absolute path by a platform's rules; Windows wants a drive with its root, or a share.
pub fn absolute(platform: Platform, path: &str) -> bool {
    match platform {
        Platform::Linux | Platform::MacOs => path.starts_with('/'),
        Platform::Windows => {
            let bytes = path.as_bytes();
            let sep = |at: usize| matches!(bytes.get(at), Some(b'\\' | b'/'));
            let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':') && sep(2);
            drive || (sep(0) && sep(1))
        }
    }
}

/// Path components below a base by a platform's rules. An empty base is the root, so that a missing home never turns
/// a store into a path relative to wherever the program was started.
pub fn join(platform: Platform, base: &OsStr, parts: &[&str]) -> OsString {
    let mut path = base.to_os_string();
    for part in parts {
        let last = path.as_encoded_bytes().last().copied();
        match platform {
            Platform::Linux | Platform::MacOs if last != Some(b'/') => path.push("/"),
            Platform::Windows if !matches!(last, Some(b'\\' | b'/')) => path.push("\\"),
            _ => {}
        }
        path.push(part);
    }
    path
}

fn unique(platform: Platform, candidates: Vec<OsString>) -> Vec<PathBuf> {
    let same = |a: &OsStr, b: &OsStr| match platform {
        Platform::Windows => a.to_string_lossy().to_lowercase() == b.to_string_lossy().to_lowercase(),
        Platform::Linux | Platform::MacOs => a == b,
    };
    let mut kept: Vec<PathBuf> = Vec::new();
    for candidate in candidates {
        if !kept.iter().any(|k| same(k.as_os_str(), &candidate)) {
            kept.push(PathBuf::from(candidate));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(platform: Platform, vars: &[(&str, &str)]) -> Roots {
        Roots::new(&Env::of(platform, vars.iter().copied()), None)
    }

    #[track_caller]
    fn expect(roots: &Roots, key: &str, want: &[&str]) {
        let got: Vec<_> = roots.candidates(key).iter().map(|p| p.to_str().unwrap()).collect();
        assert_eq!(got, want, "{key}");
    }

    /// CONF-021.
    #[test]
    fn conf_021_defaults_on_linux() {
        let r = roots(Platform::Linux, &[("HOME", "/home/u")]);
        expect(&r, "claude.projects", &["/home/u/.claude/projects"]);
        expect(&r, "claude.tasks", &["/home/u/.claude/tasks"]);
        expect(&r, "claude.teams", &["/home/u/.claude/teams"]);
        expect(&r, "codex.sessions", &["/home/u/.codex/sessions"]);
        expect(&r, "pi.sessions", &["/home/u/.pi/agent/sessions"]);
        expect(&r, "gemini.tmp", &["/home/u/.gemini/tmp"]);
        expect(&r, "antigravity.root", &["/home/u/.gemini/antigravity-cli"]);
        expect(&r, "copilot.root", &["/home/u/.copilot"]);
        expect(&r, "opencode.data", &["/home/u/.local/share/opencode"]);
        expect(&r, "cursor.chats", &["/home/u/.cursor/chats"]);
        expect(&r, "goose.db", &["/home/u/.local/share/goose/sessions/sessions.db"]);
        expect(&r, "droid.projects", &["/home/u/.factory/sessions", "/home/u/.factory/projects"]);
        expect(&r, "nothing", &[]);
    }

    /// DIAG-002.
    #[test]
    fn diag_002_order_of_keys() {
        let keys: Vec<_> = roots(Platform::Linux, &[]).iter().map(|r| r.key).collect();
        assert_eq!(keys.first(), Some(&"claude.projects"));
        assert_eq!(keys.last(), Some(&"claude.teams"));
        assert_eq!(keys.len(), 12);
    }

    /// CONF-022, CONF-023.
    #[test]
    fn conf_022_and_023_relocation_is_authoritative() {
        let r = roots(
            Platform::MacOs,
            &[
                ("HOME", "/Users/u"),
                ("CLAUDE_CONFIG_DIR", "/c"),
                ("CODEX_HOME", "/x/"),
                ("GEMINI_CLI_HOME", "/g"),
                ("COPILOT_HOME", "/cop"),
                ("XDG_DATA_HOME", "/data"),
                ("PI_CODING_AGENT_DIR", "/pi"),
            ],
        );
        expect(&r, "claude.projects", &["/c/projects"]);
        expect(&r, "codex.sessions", &["/x/sessions"]);
        expect(&r, "gemini.tmp", &["/g/.gemini/tmp"]);
        expect(&r, "antigravity.root", &["/g/.gemini/antigravity-cli"]);
        expect(&r, "copilot.root", &["/cop"]);
        expect(&r, "opencode.data", &["/data/opencode"]);
        expect(&r, "goose.db", &["/data/goose/sessions/sessions.db"]);
        expect(&r, "pi.sessions", &["/pi/sessions"]);
        expect(&r, "cursor.chats", &["/Users/u/.cursor/chats"]);
    }

    /// CONF-020.
    #[test]
    fn conf_020_windows_table_and_duplicates() {
        let r = roots(
            Platform::Windows,
            &[
                ("USERPROFILE", r"C:\Users\u"),
                ("LOCALAPPDATA", r"C:\Users\u\AppData\Local"),
                ("APPDATA", r"C:\Users\u\AppData\Roaming"),
            ],
        );
        expect(&r, "claude.projects", &[r"C:\Users\u\.claude\projects"]);
        expect(
            &r,
            "opencode.data",
            &[
                r"C:\Users\u\.local\share\opencode",
                r"C:\Users\u\AppData\Local\opencode\data",
                r"C:\Users\u\AppData\Local\opencode",
            ],
        );
        expect(
            &r,
            "goose.db",
            &[
                r"C:\Users\u\.local\share\goose\sessions\sessions.db",
                r"C:\Users\u\AppData\Roaming\Block\goose\data\sessions\sessions.db",
                r"C:\Users\u\AppData\Local\Block\goose\data\sessions\sessions.db",
            ],
        );
        let moved = roots(Platform::Windows, &[("USERPROFILE", r"C:\U"), ("XDG_DATA_HOME", r"c:\u\.LOCAL\share")]);
        expect(&moved, "opencode.data", &[r"c:\u\.LOCAL\share\opencode"]);
    }

    /// CONF-024.
    #[test]
    fn conf_024_pi_precedence() {
        let at = |platform, vars: &[(&str, &str)], settings: Option<&str>| {
            let r = Roots::new(&Env::of(platform, vars.iter().copied()), settings);
            r.primary("pi.sessions").unwrap().to_str().unwrap().to_owned()
        };
        let home = [("HOME", "/h")];
        assert_eq!(at(Platform::Linux, &home, Some(r#"{"sessionDir":"~"}"#)), "/h");
        assert_eq!(at(Platform::Linux, &home, Some(r#"{"sessionDir":"~/s"}"#)), "/h/s");
        assert_eq!(at(Platform::Linux, &home, Some(r#"{"sessionDir":"~\\s"}"#)), "/h/s");
        assert_eq!(at(Platform::Linux, &home, Some(r#"{"sessionDir":"/abs"}"#)), "/abs");
        assert_eq!(at(Platform::Linux, &home, Some(r#"{"sessionDir":"rel/x"}"#)), "/h/.pi/agent/rel/x");
        for ignored in [r#"{"sessionDir":"  "}"#, r#"{"sessionDir":7}"#, "[]", "{", ""] {
            assert_eq!(at(Platform::Linux, &home, Some(ignored)), "/h/.pi/agent/sessions", "{ignored}");
        }
        let env = [("HOME", "/h"), ("PI_CODING_AGENT_SESSION_DIR", "/one")];
        assert_eq!(at(Platform::Linux, &env, Some(r#"{"sessionDir":"/two"}"#)), "/one");
        let win = [("USERPROFILE", r"C:\u")];
        assert_eq!(at(Platform::Windows, &win, Some(r#"{"sessionDir":"D:\\s"}"#)), r"D:\s");
        assert_eq!(at(Platform::Windows, &win, Some(r#"{"sessionDir":"\\s"}"#)), r"\s");
        assert_eq!(at(Platform::Windows, &win, Some(r#"{"sessionDir":"s"}"#)), r"C:\u\.pi\agent\s");
    }

    /// CONF-020.
    /// A missing home gives absolute locations, never ones below the working directory.
    #[test]
    fn conf_020_empty_home_is_the_root() {
        expect(&roots(Platform::Linux, &[]), "claude.projects", &["/.claude/projects"]);
    }
}
