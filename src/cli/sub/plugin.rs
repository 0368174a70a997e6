//! `cargento plugin DIR`: writes the installable plugin (CLI-031).
//!
//! Writes into a directory that is not there or is empty, and nowhere else; it changes no harness's settings and opens
//! no socket.

use super::super::{FAILED, OK, USAGE, say as told};
use super::say;
use crate::env::Env;
use crate::forward::plugin::{self, Launcher};
use crate::surface::process::Program;
use crate::surface::read;
use crate::surface::write::Place;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

const FORM: &str = "usage: cargento plugin DIR";

/// Runs the subcommand with the arguments after its name.
pub(super) fn run(args: &[OsString], _env: &Env) -> ExitCode {
    ExitCode::from(match args {
        [help] if help == "--help" || help == "-h" => {
            say::print(&format!("{FORM}\n\nWrites the installable plugin into DIR, which must be absent or empty.\n"));
            OK
        }
        [dir] if !dir.is_empty() && !dir.to_string_lossy().starts_with('-') => match write(Path::new(dir)) {
            Ok(count) => {
                told(&format!("wrote {count} files of the plugin to {}", Path::new(dir).display()));
                OK
            }
            Err(why) => {
                told(&why);
                FAILED
            }
        },
        _ => {
            say::complain(&format!("{FORM}\nerror: exactly one directory is needed\n"));
            USAGE
        }
    })
}

/// Writes every file; the number of them, or why nothing was, or not everything.
fn write(dir: &Path) -> Result<usize, String> {
    let launcher = Program::own()
        .and_then(|own| Launcher::new(own.path()))
        .ok_or("the path of this program is not known or is not Unicode, so no command can name it")?;
    let dir = std::path::absolute(dir).map_err(|e| format!("{} is no usable path: {e}", dir.display()))?;
    vacant(&dir)?;
    let place = Place::plugin(&dir);
    let files = plugin::files(&launcher);
    for (name, text) in &files {
        place
            .replace(name, text.as_bytes())
            .map_err(|e| format!("could not write {}: {e}", place.path(name).display()))?;
    }
    Ok(files.len())
}

/// Refuses a directory with anything in it, and what is no directory.
fn vacant(dir: &Path) -> Result<(), String> {
    let shown = dir.display();
    match read::names(dir, 1) {
        Ok((names, _)) if names.is_empty() => Ok(()),
        Ok(_) => Err(format!("{shown} is not empty; nothing was written")),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(format!("{shown} cannot be used: {e}; nothing was written")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_name;
    use super::*;
    use crate::surface::write::Temporary;
    use serde_json::Value;
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    fn written() -> (Temporary, PathBuf) {
        let home = Temporary::create(&std::env::temp_dir(), "cargento-plugin-test").unwrap();
        let dir = home.place().path("plugin");
        write(&dir).unwrap();
        (home, dir)
    }

    fn commands(node: &Value, found: &mut Vec<String>) {
        match node {
            Value::Object(map) => {
                found.extend(map.get("command").and_then(Value::as_str).map(str::to_owned));
                map.values().for_each(|value| commands(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| commands(value, found)),
            _ => {}
        }
    }

    /// HOOK-054, HOOK-080, HOOK-085.
    /// The event sets are written out here, apart from the code that registers them.
    #[test]
    fn hook_054_080_085_the_five_files_name_their_events_their_harness_and_a_subcommand() {
        let (_home, dir) = written();
        for (file, harness, events) in [
            (
                "hooks/hooks.json",
                "event-hook claude",
                "SessionStart SessionEnd UserPromptSubmit Stop PermissionRequest PostToolUse SubagentStart SubagentStop \
                 TaskCompleted PostCompact",
            ),
            (
                "hooks/codex-hooks.json",
                "event-hook codex",
                "SessionStart UserPromptSubmit PermissionRequest PostToolUse Stop PostCompact SubagentStart SubagentStop",
            ),
            ("hooks.json", "agy-hook", "PostToolUse PostInvocation"),
            (
                "gemini/hooks/hooks.json",
                "event-hook gemini",
                "SessionStart BeforeAgent AfterTool AfterAgent SessionEnd",
            ),
            ("droid/hooks/hooks.json", "event-hook droid", "SessionStart SessionEnd"),
        ] {
            let text = std::fs::read_to_string(dir.join(file)).unwrap();
            let document: Value = serde_json::from_str(&text).unwrap();
            let wrapper = if harness == "agy-hook" { "cargento" } else { "hooks" };
            let names: Vec<_> = document.as_object().unwrap().keys().collect();
            assert_eq!(names, [wrapper], "{file}");
            let registered = document[wrapper].as_object().unwrap();
            assert_eq!(
                registered.keys().map(String::as_str).collect::<BTreeSet<_>>(),
                events.split_whitespace().collect(),
                "{file}"
            );
            for (event, groups) in registered {
                let mut found = Vec::new();
                commands(groups, &mut found);
                let rest = if harness == "agy-hook" { format!("agy-hook {event}") } else { harness.to_owned() };
                assert!(found.len() == 1 && found[0].ends_with(&rest), "{file} {event}: {found:?}");
                assert!(by_name(rest.split(' ').next().unwrap()).is_some());
                assert!(!groups.to_string().contains("timeout") || harness == "event-hook gemini", "{file} {event}");
            }
            for gating in ["PreToolUse", "BeforeTool", "PreInvocation", "PreCompact", "Notification"] {
                assert!(!text.contains(gating), "{file} {gating}");
            }
        }
    }

    /// CLI-031.
    #[test]
    fn cli_031_what_is_not_empty_is_left_alone() {
        let (_home, dir) = written();
        let count = |dir: &Path| std::fs::read_dir(dir).unwrap().count();
        let before = count(&dir);
        assert!(write(&dir).unwrap_err().contains("not empty"));
        assert_eq!(count(&dir), before);
        let file = dir.join("plugin.json");
        assert!(write(&file).unwrap_err().contains("nothing was written"));
        let empty = dir.join("empty");
        std::fs::create_dir(&empty).unwrap();
        assert!(write(&empty).is_ok());
    }
}
