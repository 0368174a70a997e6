//! `cargento hooks HARNESS`: prints what a person has to add or approve so that a harness reports (CLI-032).
//!
//! It prints and changes nothing: a harness's settings are the person's.

use super::super::{OK, USAGE};
use super::say;
use crate::env::Env;
use crate::forward::plugin::{Launcher, claude_hooks, codex_hooks, codex_toml, notifications, pretty, status_line};
use crate::model::Key;
use crate::surface::process::Program;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::ExitCode;

const FORM: &str = "usage: cargento hooks HARNESS";

/// Runs the subcommand with the arguments after its name.
pub(super) fn run(args: &[OsString], _env: &Env) -> ExitCode {
    ExitCode::from(match args {
        [help] if help == "--help" || help == "-h" => {
            say::print(&format!("{FORM}\n\nPrints what to add or approve for one of: {}.\n", keys()));
            OK
        }
        [name] => match name.to_str().and_then(Key::parse) {
            Some(key) => {
                say::print(&text(key, &launcher()));
                OK
            }
            None => refuse("no harness has this name"),
        },
        [] => refuse("a harness is needed"),
        _ => refuse("one harness at a time"),
    })
}

fn refuse(why: &str) -> u8 {
    say::complain(&format!("{FORM}\nerror: {why}; they are {}\n", keys()));
    USAGE
}

fn keys() -> String {
    Key::ALL.iter().map(|key| key.as_str()).collect::<Vec<_>>().join(", ")
}

/// This executable; where the system does not tell its path, the name that a PATH finds.
fn launcher() -> Launcher {
    Program::own().and_then(|own| Launcher::new(own.path())).unwrap_or_else(Launcher::by_name)
}

/// The whole text for a harness.
fn text(key: Key, launcher: &Launcher) -> String {
    match key {
        Key::Claude => claude(launcher),
        Key::Codex => codex(launcher),
        Key::Antigravity => antigravity(launcher),
        Key::Gemini => gemini(launcher),
        Key::Droid => droid(launcher),
        Key::OpenCode => opencode(launcher),
        Key::Pi => pi(launcher),
        Key::Copilot => {
            "Copilot CLI: nothing to install.\n\nIts own store records every permission prompt and its answer.\n".into()
        }
        Key::Cursor => {
            "Cursor CLI: nothing to install.\n\nIts own store records an open permission request and when it began.\n"
                .into()
        }
        Key::Goose => {
            "Goose: no adapter exists.\n\nIts sessions are read from its store; a wait for you is not reported there.\n"
                .into()
        }
    }
}

/// The step all plugins share.
fn unpack(page: &mut String, launcher: &Launcher) {
    let _ = write!(
        page,
        "1. Write the plugin into an empty directory of your choice, below DIR:\n\n    {}\n\n",
        launcher.command("plugin DIR")
    );
}

/// A settings block with one event a line, which is how a person can compare it with what they have.
fn settings(page: &mut String, document: &Value) {
    let events = document.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let lines: Vec<String> = events.map(|(event, groups)| format!("  {}: {groups}", json!(event))).collect();
    block(page, &format!("{{\"hooks\": {{\n{}\n}}}}", lines.join(",\n")));
}

fn block(page: &mut String, text: &str) {
    for line in text.trim_end().lines() {
        let _ = writeln!(page, "    {line}");
    }
    page.push('\n');
}

fn claude(launcher: &Launcher) -> String {
    let mut page = String::from("Claude Code\n\nLifecycle events come with the plugin.\n\n");
    unpack(&mut page, launcher);
    page.push_str(
        "2. Install it:\n\n    claude plugin marketplace add DIR\n    claude plugin install cargento@cargento\n\n",
    );
    page.push_str(
        "Notifications are not part of the plugin. To have permission prompts and idle waits reported as well, add these\n\
         two hooks to ~/.claude/settings.json:\n\n",
    );
    settings(&mut page, &notifications(launcher));
    page.push_str(
        "For another port, put the whole address behind notify-hook: http://127.0.0.1:PORT/api/notify\n\n\
         Then open /hooks once in Claude Code, or restart it, so that it reads its hooks again.\n\n\
         The plugin's server is there for questions to you. This build has none, so the server offers no tool; where one has,\n\
         this in the project's .claude/settings.local.json lets it ask without a prompt for each:\n\n    \
         {\"permissions\":{\"allow\":[\"mcp__plugin_cargento_cargento__ask_operator\"]}}\n\n\
         Without the plugin, the lifecycle events can be added by hand instead (never both). Behind the harness's name a\n\
         port may follow:\n\n",
    );
    settings(&mut page, &claude_hooks(launcher));
    page.push_str(&format!(
        "Try it: echo '{{\"session_id\":\"0b1c2d3e\",\"message\":\"test\"}}' | {}\n",
        launcher.command("notify-hook")
    ));
    page
}

fn codex(launcher: &Launcher) -> String {
    let mut page = String::from("Codex\n\nLifecycle events come as eight hooks.\n\n");
    unpack(&mut page, launcher);
    page.push_str(
        "2. Install the plugin from DIR through a marketplace of yours, or add its hooks by hand to ~/.codex/hooks.json:\n\n",
    );
    settings(&mut page, &codex_hooks(launcher));
    page.push_str(
        "3. Trust them: Codex asks once for each hook (/hooks shows them all) and skips one that was not approved without a\n\
         word. Until then its rows know what is on disk and no more. A hook that changed is asked for again.\n\n\
         The hook on PermissionRequest prints nothing, which Codex takes as no opinion: the prompt is yours to answer.\n\n\
         The server for questions to you, which offers no tool in this build, for ~/.codex/config.toml when the plugin is not\n\
         installed:\n\n",
    );
    block(&mut page, &codex_toml(launcher));
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn antigravity(launcher: &Launcher) -> String {
    let mut page = String::from("Antigravity CLI\n\nTwo hooks keep its rows fresh. They come with the plugin.\n\n");
    unpack(&mut page, launcher);
    page.push_str(
        "2. Install it:\n\n    agy plugin install DIR\n\n\
         Working and idle come from the status line, which a plugin cannot set. Add to Antigravity's settings.json:\n\n",
    );
    block(&mut page, &pretty(&status_line(launcher)));
    let _ = writeln!(
        page,
        "For another port, put it behind statusline-hook. The older line `{}` still works and forwards quota alone.",
        launcher.command("notify-hook http://127.0.0.1:4553/api/usage")
    );
    page
}

fn gemini(launcher: &Launcher) -> String {
    let mut page = String::from("Gemini CLI\n\nFive hooks come as an extension.\n\n");
    unpack(&mut page, launcher);
    page.push_str(
        "2. Install it:\n\n    gemini extensions install DIR/gemini\n\n\
         3. Start Gemini CLI anew: extensions are read when it starts.\n",
    );
    page
}

fn droid(launcher: &Launcher) -> String {
    let mut page =
        String::from("Factory Droid\n\nThe start and the end of a session come as two hooks of a plugin.\n\n");
    unpack(&mut page, launcher);
    page.push_str(
        "2. Install it:\n\n    droid plugin marketplace add DIR/droid\n    droid plugin install cargento@droid\n\n\
         3. Start Droid anew: hooks are read when it starts.\n",
    );
    page
}

fn opencode(launcher: &Launcher) -> String {
    let mut page =
        String::from("OpenCode\n\nA plugin in each project reports permission prompts. It never answers them.\n\n");
    unpack(&mut page, launcher);
    page.push_str(
        "2. Copy it into every project that should report:\n\n    \
         mkdir -p PROJECT/.opencode/plugin\n    \
         cp DIR/adapters/opencode_plugin.js PROJECT/.opencode/plugin/cargento.js\n\n\
         3. Start a fresh OpenCode session there. To undo it, remove the copy and start a fresh session.\n\n",
    );
    variables(&mut page);
    page
}

fn pi(launcher: &Launcher) -> String {
    let mut page = String::from("Pi\n\nAn extension reports the prompts that Pi shows you. It never answers them.\n\n");
    unpack(&mut page, launcher);
    page.push_str(
        "2. Copy it:\n\n    \
         mkdir -p ~/.pi/agent/extensions\n    \
         cp DIR/adapters/pi_extension.js ~/.pi/agent/extensions/cargento.js\n\n\
         3. Run /reload in Pi, or start it anew. To undo it, remove the copy and do the same.\n\n",
    );
    variables(&mut page);
    page
}

fn variables(page: &mut String) {
    page.push_str(
        "Set CARGENTO_PORT there for a dashboard that is not on 4553, and the same CARGENTO_HOME as the dashboard has.\n",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn of(key: Key) -> String {
        text(key, &Launcher::new(Path::new("/opt/it works/cargento")).unwrap())
    }

    /// CLI-032.
    #[test]
    fn cli_032_each_text_says_what_to_add_and_what_to_approve() {
        for (key, words) in [
            (
                Key::Claude,
                &["\"async\":true", "notify-hook", "/hooks", "marketplace add DIR", "offers no tool", "ask_operator"][..],
            ),
            (Key::Codex, &["Trust them", "skips", "event-hook codex", "[mcp_servers.cargento]"]),
            (Key::Antigravity, &["\"statusLine\"", "statusline-hook", "agy plugin install", "/api/usage"]),
            (Key::Gemini, &["gemini extensions install DIR/gemini"]),
            (Key::Droid, &["droid plugin marketplace add DIR/droid"]),
            (
                Key::OpenCode,
                &["cp DIR/adapters/opencode_plugin.js PROJECT/.opencode/plugin/cargento.js", "CARGENTO_PORT"],
            ),
            (Key::Pi, &["cp DIR/adapters/pi_extension.js ~/.pi/agent/extensions/cargento.js", "/reload"]),
            (Key::Copilot, &["nothing to install"]),
            (Key::Cursor, &["nothing to install"]),
            (Key::Goose, &["no adapter exists"]),
        ] {
            let page = of(key);
            for word in words {
                assert!(page.contains(word), "{key:?} says {word}:\n{page}");
            }
            assert!(page.ends_with('\n') && !page.contains("\n\n\n"), "{key:?}");
        }
    }

    /// HOOK-087.
    #[test]
    fn hook_087_every_command_is_one_absolute_word() {
        for key in [Key::Claude, Key::Codex, Key::Antigravity] {
            let page = of(key);
            let commands: Vec<&str> = page.split("\"command\":").skip(1).map(str::trim_start).collect();
            assert!(!commands.is_empty());
            assert!(commands.iter().all(|text| text.starts_with("\"'/opt/it works/cargento' ")), "{page}");
        }
    }
}
