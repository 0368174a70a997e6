//! The installable plugin: hook registrations of five harnesses, two adapters, the manifests and the skill, as texts
//! (HOOK-080..104, ASK-090, CLI-031). Makes them; who writes them, and where, is decided elsewhere.

mod manifests;
mod registrations;

pub use manifests::codex_toml;
pub use registrations::{claude_hooks, codex_hooks, notifications, status_line};

use serde_json::Value;
use std::path::Path;

/// The plugin OpenCode loads from a project (section 8). Each adapter is one file to copy: what both do to deliver, then
/// its own part.
pub const OPENCODE_PLUGIN: &str =
    concat!(include_str!("../adapters/delivery.js"), "\n", include_str!("../adapters/opencode_plugin.js"));
/// The extension Pi loads (section 9).
pub const PI_EXTENSION: &str =
    concat!(include_str!("../adapters/delivery.js"), "\n", include_str!("../adapters/pi_extension.js"));
const SKILL: &str = include_str!("../adapters/skill.md");

/// Where in the skill text this executable's command is put.
const COMMAND_MARK: &str = "@CARGENTO@";

/// The executable that the written commands start: an absolute path, so that no harness has to search for it and a
/// command cannot fail before it starts for want of a PATH (HOOK-087).
#[derive(Clone, Debug)]
pub struct Launcher {
    path: String,
    word: String,
}

impl Launcher {
    /// `None` when the path is not absolute or not Unicode, which JSON could not carry.
    pub fn new(executable: &Path) -> Option<Launcher> {
        let path = executable.to_str().filter(|_| executable.is_absolute())?;
        Some(Launcher { path: path.to_owned(), word: shell_word(path) })
    }

    /// Left to the PATH of whoever runs it; for a text that a person reads and can correct.
    pub fn by_name() -> Launcher {
        Launcher { path: "cargento".into(), word: "cargento".into() }
    }

    /// The path itself, for a place that runs no shell.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// A command line for a place that runs one through a shell.
    pub fn command(&self, rest: &str) -> String {
        format!("{} {rest}", self.word)
    }
}

/// One word of a command line: as it is when plain, else quoted for the platform's shell.
fn shell_word(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c) || (cfg!(windows) && c == '\\');
    if path.chars().all(plain) {
        path.to_owned()
    } else if cfg!(windows) {
        format!("\"{path}\"")
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

/// Every file of the plugin: its name below the plugin's directory, and its text.
pub fn files(launcher: &Launcher) -> Vec<(&'static str, String)> {
    vec![
        (".claude-plugin/plugin.json", pretty(&manifests::claude(launcher))),
        (".claude-plugin/marketplace.json", pretty(&manifests::claude_marketplace())),
        (".codex-plugin/plugin.json", pretty(&manifests::codex(launcher))),
        ("plugin.json", pretty(&manifests::antigravity())),
        ("hooks/hooks.json", pretty(&claude_hooks(launcher))),
        ("hooks/codex-hooks.json", pretty(&codex_hooks(launcher))),
        ("hooks.json", pretty(&registrations::antigravity_hooks(launcher))),
        ("gemini/gemini-extension.json", pretty(&manifests::gemini())),
        ("gemini/hooks/hooks.json", pretty(&registrations::gemini_hooks(launcher))),
        ("droid/.factory-plugin/plugin.json", pretty(&manifests::droid())),
        ("droid/hooks/hooks.json", pretty(&registrations::droid_hooks(launcher))),
        ("adapters/opencode_plugin.js", OPENCODE_PLUGIN.to_owned()),
        ("adapters/pi_extension.js", PI_EXTENSION.to_owned()),
        ("skills/cargento/SKILL.md", SKILL.replace(COMMAND_MARK, &launcher.word)),
    ]
}

/// A document as a person would write it, with its last line ended.
pub fn pretty(document: &Value) -> String {
    // A tree of strings, lists and numbers has a text.
    serde_json::to_string_pretty(document).map(|text| text + "\n").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hook_087_the_launcher_is_one_absolute_word() {
        assert!(Launcher::new(Path::new("cargento")).is_none());
        for (path, want) in [
            ("/usr/local/bin/cargento", "/usr/local/bin/cargento mcp"),
            ("/home/a b/cargento", "'/home/a b/cargento' mcp"),
            ("/x/$(id)/it's", r"'/x/$(id)/it'\''s' mcp"),
        ] {
            let launcher = Launcher::new(Path::new(path)).unwrap();
            assert_eq!((launcher.path(), launcher.command("mcp").as_str()), (path, want));
        }
    }

    #[test]
    fn cli_031_every_document_parses_and_the_skill_names_the_command() {
        let launcher = Launcher::new(Path::new("/opt/it works/cargento")).unwrap();
        let files = files(&launcher);
        for (name, text) in &files {
            assert!(!text.is_empty() && text.ends_with('\n'), "{name}");
            if Path::new(name).extension().is_some_and(|end| end == "json") {
                assert!(serde_json::from_str::<Value>(text).is_ok_and(|v| v.is_object()), "{name}");
            }
        }
        let text = |name: &str| files.iter().find(|(n, _)| *n == name).map(|(_, text)| text.as_str()).unwrap();
        let skill = text("skills/cargento/SKILL.md");
        assert!(skill.starts_with("---\nname: cargento\ndescription: "));
        assert!(!skill.contains(COMMAND_MARK) && skill.contains("'/opt/it works/cargento' --daemon"));
        for (name, _) in &files {
            let count = files.iter().filter(|(n, _)| n == name).count();
            assert_eq!(count, 1, "{name}");
        }
    }
}
