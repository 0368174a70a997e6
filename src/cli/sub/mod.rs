//! Subcommands (section 1.2 of the chassis): recognised as the first argument alone, and by the name the program was
//! started under, so that a link called `notify_hook` is the notification forwarder (HOOK-016).

mod agy_hook;
mod event_hook;
mod hooks;
mod mcp;
mod notify_hook;
mod plugin;
mod statusline_hook;
mod terminal_register;

use super::{USAGE, say};
use crate::env::Env;
use crate::settings::usage;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// A subcommand, given the arguments after its name.
pub type Role = fn(&[OsString], &Env) -> ExitCode;

/// The subcommand the arguments (the program's own name first) mean, and what is left for it.
pub fn role(args: &[OsString]) -> Option<(Role, &[OsString])> {
    let (program, rest) = args.split_first()?;
    if let Some(role) = by_program(Path::new(program)) {
        return Some((role, rest));
    }
    let (first, rest) = rest.split_first()?;
    Some((by_name(first.to_str()?)?, rest))
}

fn by_name(name: &str) -> Option<Role> {
    Some(match name {
        "mcp" => mcp::run,
        "notify-hook" => notify_hook::run,
        "event-hook" => event_hook::run,
        "agy-hook" => agy_hook::run,
        "statusline-hook" => statusline_hook::run,
        "terminal-register" => terminal_register::run,
        "plugin" => plugin::run,
        "hooks" => hooks::run,
        _ => return None,
    })
}

fn by_program(path: &Path) -> Option<Role> {
    let name = path.file_name()?.to_str()?;
    let name = [".py", ".exe"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    Some(match name {
        "notify_hook" => notify_hook::run,
        "event_hook" => event_hook::run,
        "agy_hook" => agy_hook::run,
        "statusline_hook" => statusline_hook::run,
        "mcp_server" => mcp::run,
        _ => return None,
    })
}

/// The answer of a subcommand whose feature this build does not have.
fn not_built(name: &str) -> ExitCode {
    say::complain(&format!("{}\nerror: {name} is not part of this build\n", usage()));
    ExitCode::from(USAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(args: &[&str]) -> Option<Vec<OsString>> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        role(&args).map(|(_, rest)| rest.to_vec())
    }

    /// CLI-030.
    #[test]
    fn cli_030_a_subcommand_is_the_first_argument_alone() {
        for name in
            ["mcp", "notify-hook", "event-hook", "agy-hook", "statusline-hook", "terminal-register", "plugin", "hooks"]
        {
            assert_eq!(rest(&["cargento", name, "x"]), Some(vec!["x".into()]), "{name}");
            assert_eq!(rest(&["cargento", "--port=1", name]), None, "{name}");
        }
        assert_eq!(rest(&["cargento"]), None);
        assert_eq!(rest(&["cargento", "mc"]), None);
    }

    /// HOOK-016.
    #[test]
    fn hook_016_the_programs_own_name_is_a_role() {
        for name in ["notify_hook", "event_hook.py", "agy_hook", "statusline_hook.py", "mcp_server", "mcp_server.exe"] {
            let path = format!("/x/{name}");
            assert_eq!(rest(&[&path, "--port", "9"]), Some(vec!["--port".into(), "9".into()]), "{name}");
        }
        assert_eq!(rest(&["/x/mcp", "9"]), None);
    }
}
