//! What the manual must say, each by words it cannot say it without (CLI-034, CLI-035, CLI-037, DIAG-007, DIAG-008).

const MANUAL: &str = include_str!("../docs/manual.md");

#[track_caller]
fn says(words: &[&str]) {
    let flat = MANUAL.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = flat.as_str();
    for word in words {
        let at =
            rest.find(word).unwrap_or_else(|| panic!("the manual does not say {word:?} in its place of {words:?}"));
        rest = &rest[at + word.len()..];
    }
}

/// CLI-034.
#[test]
fn cli_034_what_a_start_tells_in_order() {
    says(&[
        "http://127.0.0.1:4553/>",
        "keeps itself current",
        "until it is stopped",
        "popups need the dashboard to be running",
    ]);
}

/// CLI-035.
#[test]
fn cli_035_every_topic_is_covered() {
    says(&["Write `127.0.0.1`, not `localhost`", "IPv4 only"]);
    says(&["ssh -L 4553:127.0.0.1:4553 HOST", "systemd", "*user* unit", "another home"]);
    says(&["Ask it before ending anything on a busy port"]);
    says(&["cargento --stop"]);
    says(&["last resort", "*listens*", "Linux:", "macOS:", "-sTCP:LISTEN", "Windows PowerShell", "-State Listen"]);
    says(&["A harness is missing", "cargento --diagnose", "Run this first"]);
    says(&["Needs input that stays", "own next write", "end of the session", "restart"]);
    says(&["Copilot or Cursor row may outlive its terminal"]);
    says(&["Ages of tasks", "birth times", "degrade"]);
}

/// CLI-037.
#[test]
fn cli_037_what_a_wide_bind_costs() {
    says(&[
        "only way off loopback",
        "titles, prompts and project labels",
        "stop the dashboard",
        "answer questions",
        "hand the transcripts to",
    ]);
}

/// DIAG-006, DIAG-007, DIAG-008.
#[test]
fn diag_006_to_008_reading_and_sharing_a_report() {
    says(&[
        "there is no store",
        "cannot be read",
        "no recent sessions",
        "Flatpak or Snap",
        "Redact the report before sharing it",
    ]);
}

/// CONF-024, LIFE-061, LIFE-062.
#[test]
fn conf_024_and_life_062_limits_are_stated() {
    says(&["`--session-dir`", ".pi/settings.json"]);
    says(&["spend timestamps", "nothing you typed", "semantic-work-history.json"]);
}

/// CLI-031, CLI-032, HOOK-022, HOOK-070, HOOK-086: what `plugin` and `hooks` print, their flags, and the way back.
#[test]
fn cli_031_032_hook_086_plugin_and_hooks_and_how_to_undo_them() {
    says(&[
        "### `cargento plugin DIR`",
        "absent or empty",
        "It prints one line",
        "exits with 1",
        "`--help`",
        "To remove it",
    ]);
    says(&["### `cargento hooks HARNESS`", "changes nothing", "and 2", "`--help`", "nothing to remove"]);
    for harness in ["Claude Code", "Codex", "Gemini CLI", "Antigravity status line", "Droid", "OpenCode", "Pi"] {
        says(&["Remove again", &format!("| {harness} |")]);
    }
    says(&["uninstall cargento@cargento", "extensions uninstall", "delete the copy"]);
    says(&["Codex skips a hook you have not approved"]);
    says(&[
        "### Hooks of which nothing is heard",
        "ten minutes",
        "hooks-silent",
        "is not known",
        "A quiet board never says so",
    ]);
    says(&[
        "### Hooks of which nothing is heard",
        "`cargento hooks HARNESS` prints how",
        "`cargento plugin DIR` writes",
    ]);
}

/// EVT-016: what the event token keeps out, and what it does not.
#[test]
fn evt_016_what_the_token_buys() {
    says(&[
        "mode 0600",
        "a page in a browser, another account",
        "Windows ignores it, root reads anyway",
        "any process of yours",
    ]);
}
