//! The plugin's manifests. Plugin name and server key are both `cargento`: together they make the name of the question
//! tool that people grant, so that changing either would break their grants (ASK-090).

use super::Launcher;
use serde_json::{Value, json};

const NAME: &str = "cargento";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const DESCRIPTION: &str = "Shows on one local page what every coding agent on this machine is doing";

/// `.claude-plugin/plugin.json`. Its hooks are found at their usual place.
pub fn claude(launcher: &Launcher) -> Value {
    manifest([("author", json!({"name": NAME})), ("mcpServers", servers(launcher))])
}

/// `.claude-plugin/marketplace.json`: lets the directory itself be added as a marketplace of one plugin.
pub fn claude_marketplace() -> Value {
    json!({"name": NAME, "owner": {"name": NAME}, "plugins": [{"name": NAME, "source": "./", "description": DESCRIPTION}]})
}

/// `.codex-plugin/plugin.json`, which names its parts; what it does not name is not loaded.
pub fn codex(launcher: &Launcher) -> Value {
    manifest([
        ("skills", json!("./skills/")),
        ("hooks", json!("./hooks/codex-hooks.json")),
        ("mcpServers", servers(launcher)),
    ])
}

/// `plugin.json` at the root, which makes the directory an Antigravity plugin.
pub fn antigravity() -> Value {
    manifest([])
}

/// `gemini-extension.json` of the Gemini extension.
pub fn gemini() -> Value {
    manifest([])
}

/// `.factory-plugin/plugin.json` of the Droid plugin.
pub fn droid() -> Value {
    manifest([])
}

/// The server entry of a Codex `config.toml` (ASK-092).
pub fn codex_toml(launcher: &Launcher) -> String {
    // A JSON string of printable characters is a TOML basic string.
    format!("[mcp_servers.{NAME}]\ncommand = {}\nargs = [\"mcp\"]\n", Value::from(launcher.path()))
}

fn manifest<const N: usize>(more: [(&str, Value); N]) -> Value {
    let basic =
        [("name", NAME), ("version", VERSION), ("description", DESCRIPTION)].map(|(name, text)| (name, json!(text)));
    Value::Object(basic.into_iter().chain(more).map(|(name, value)| (name.to_owned(), value)).collect())
}

fn servers(launcher: &Launcher) -> Value {
    json!({NAME: {"command": launcher.path(), "args": ["mcp"]}})
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn ask_090_both_manifests_carry_the_server_under_the_granted_name() {
        let launcher = Launcher::new(Path::new("/opt/it works/cargento")).unwrap();
        for manifest in [claude(&launcher), codex(&launcher)] {
            assert_eq!(manifest["name"], "cargento");
            assert_eq!(
                manifest["mcpServers"],
                json!({"cargento": {"command": "/opt/it works/cargento", "args": ["mcp"]}})
            );
        }
        assert_eq!(codex(&launcher)["hooks"], "./hooks/codex-hooks.json");
        assert_eq!(
            codex_toml(&launcher),
            "[mcp_servers.cargento]\ncommand = \"/opt/it works/cargento\"\nargs = [\"mcp\"]\n"
        );
    }
}
