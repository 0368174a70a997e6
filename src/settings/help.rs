//! Texts made from the table of flags: the usage line, `--help`, and the options table of the README.

use super::{FLAGS, Flag, Group};
use std::fmt::Write as _;

/// Widest line of the help, characters.
const WIDTH: usize = 96;
/// Column where the explanations start.
const COLUMN: usize = 30;

/// Subcommands: form and purpose (section 1.2 of the chassis).
pub const SUBCOMMANDS: [(&str, &str); 8] = [
    ("mcp [PORT...]", "The server that the plugin registers; without questions in the build it offers no tool."),
    ("notify-hook [URL]", "Forward one hook notification to the dashboard."),
    ("event-hook HARNESS [PORT]", "Forward one lifecycle event to the dashboard."),
    ("agy-hook HOOK [PORT]", "The hook of Antigravity."),
    ("statusline-hook [PORT]", "The status line of Antigravity."),
    ("terminal-register --config PATH", "Register this tmux pane for the read-only terminal (not in this build)."),
    ("plugin DIR", "Write the installable plugin into an empty directory."),
    ("hooks HARNESS", "Print what to add or approve so that a harness reports its events."),
];

/// What a first reader wants to do, and the command for it.
const FIRST: [(&str, &str); 6] = [
    ("cargento", "Serve in this terminal until Ctrl-C; the page is http://127.0.0.1:4553/"),
    ("cargento --daemon", "The same in the background."),
    ("cargento --status", "Does one run, and where?"),
    ("cargento --stop", "End it."),
    ("cargento --demo --port 4554", "Look at invented sessions first."),
    ("cargento hooks claude", "What to add so that a harness reports at once (optional)."),
];

/// Where its own things are, and what the environment may say.
const PLACES: [(&str, &str); 5] = [
    (
        "~/.cargento",
        "The state directory, the only place it writes to: what you typed, history, and the log of --daemon, cargento-PORT.log.",
    ),
    ("CARGENTO_HOME", "Another state directory; hooks need the same."),
    ("CARGENTO_PORT", "The port for hooks and plugins; the server takes --port alone."),
    ("CARGENTO_REACH_URL, CARGENTO_QUIET_HOURS", "As --reach-url and --quiet-hours."),
    (
        "CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, COPILOT_HOME, PI_CODING_AGENT_DIR, XDG_DATA_HOME",
        "Where stores lie, as their harnesses read them.",
    ),
];

/// What the flags promise and this build does not have; the README says the same.
pub const ABSENT: &str = "Not in this build: questions from sessions to you, vendor quota, the webhook, the git probe, raising a terminal and \
    the read-only terminal, command reports, workflows and stage conditions, the agents-and-calls view, readings and goal summaries. \
    Their flags are accepted, so that a command line means the same in every build.";

/// The line a usage error starts with.
pub const fn usage() -> &'static str {
    "usage: cargento [OPTIONS], or cargento SUBCOMMAND ...; see cargento --help"
}

/// The whole help.
pub fn help() -> String {
    let mut page = String::from(
        "usage: cargento [OPTIONS]\n       cargento SUBCOMMAND ...\n\n\
         Shows in one local page what every coding agent on this machine is doing.\n\
         Without a one-shot command it serves until stopped.\n\nFirst steps:\n",
    );
    for (command, purpose) in FIRST {
        entry(&mut page, command, purpose);
    }
    for group in Group::ALL {
        let _ = write!(page, "\n{}:\n", group.title());
        for flag in FLAGS.iter().filter(|flag| flag.group == group) {
            entry(&mut page, &spelled(flag), flag.help);
        }
        if group == Group::Commands {
            entry(&mut page, "--version", "Print the version.");
            entry(&mut page, "-h, --help", "Print this help.");
        }
    }
    page.push_str("\nSubcommands:\n");
    for (form, purpose) in SUBCOMMANDS {
        entry(&mut page, form, purpose);
    }
    page.push_str("\nPlaces and environment:\n");
    for (name, meaning) in PLACES {
        entry(&mut page, name, meaning);
    }
    page.push('\n');
    wrap(&mut page, String::new(), ABSENT, 0);
    page.push_str("\nA flag may be shortened as long as it stays unambiguous, and --flag=VALUE works as well.\n");
    page.push_str("Exit status: 0 success, 1 refusal or failure, 2 wrong arguments.\n");
    page
}

/// The options table of the README.
pub fn markdown_table() -> String {
    let mut table = String::from("| Flag | Effect |\n|---|---|\n");
    for flag in Group::ALL.iter().flat_map(|group| FLAGS.iter().filter(move |flag| flag.group == *group)) {
        let names = [Some(flag.name), flag.alias].into_iter().flatten();
        let forms: Vec<String> = names.map(|name| form(name, flag.value, "`")).collect();
        let _ = writeln!(table, "| {} | {} |", forms.join(", "), flag.help);
    }
    table
}

fn spelled(flag: &Flag) -> String {
    let names = [Some(flag.name), flag.alias].into_iter().flatten();
    names.map(|name| form(name, flag.value, "")).collect::<Vec<_>>().join(", ")
}

fn form(name: &str, value: Option<&str>, quote: &str) -> String {
    match value {
        Some(value) => format!("{quote}--{name} {value}{quote}"),
        None => format!("{quote}--{name}{quote}"),
    }
}

fn entry(page: &mut String, form: &str, text: &str) {
    let mut line = format!("  {form}");
    if line.len() + 2 > COLUMN {
        page.push_str(&line);
        page.push('\n');
        line.clear();
    }
    let _ = write!(line, "{:width$}", "", width = COLUMN - line.len());
    wrap(page, line, text, COLUMN);
}

/// Puts words behind what a line holds already; the lines after it are indented.
fn wrap(page: &mut String, mut line: String, text: &str, indent: usize) {
    for word in text.split_whitespace() {
        if line.len() + word.len() > WIDTH {
            page.push_str(line.trim_end());
            page.push('\n');
            line = " ".repeat(indent);
        }
        line.push_str(word);
        line.push(' ');
    }
    page.push_str(line.trim_end());
    page.push('\n');
}
