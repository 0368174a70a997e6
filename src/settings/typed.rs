//! What was typed: flags with their raw values, by name, unambiguous prefix or alias (CLI-001, CLI-004).

use super::{FLAGS, Flag, SUBCOMMANDS, UsageError};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// The flags given, each with its last value (empty for a switch).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Typed {
    given: BTreeMap<&'static str, OsString>,
    /// `--help` or `-h` was reached.
    pub help: bool,
    /// `--version` was reached.
    pub version: bool,
}

impl Typed {
    /// The value of a flag that was given.
    pub fn value(&self, flag: &Flag) -> Option<&OsStr> {
        self.given.get(flag.name).map(OsString::as_os_str)
    }
}

enum Name {
    Flag(&'static Flag),
    Help,
    Version,
}

/// Reads arguments, without the program's own name. `--help` and `--version` end the reading.
pub fn typed(args: impl IntoIterator<Item = OsString>) -> Result<Typed, UsageError> {
    let mut typed = Typed::default();
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next().map_err(|error| UsageError(error.to_string()))? {
        let name = match arg {
            lexopt::Arg::Long(name) => resolve(name)?,
            lexopt::Arg::Short('h') => Name::Help,
            lexopt::Arg::Short(short) => return Err(unknown(&format!("-{short}"))),
            lexopt::Arg::Value(value) => return Err(unknown(&value.to_string_lossy())),
        };
        match name {
            Name::Flag(flag) => {
                let value = value(&mut parser, flag)?;
                typed.given.insert(flag.name, value);
            }
            Name::Help => {
                typed.help = true;
                return Ok(typed);
            }
            Name::Version => {
                typed.version = true;
                return Ok(typed);
            }
        }
    }
    Ok(typed)
}

/// The flag a name or an unambiguous beginning of one stands for.
fn resolve(typed: &str) -> Result<Name, UsageError> {
    let flags =
        || FLAGS.iter().flat_map(|flag| [Some(flag.name), flag.alias].into_iter().flatten().map(move |n| (n, flag)));
    if let Some((_, flag)) = flags().find(|(name, _)| *name == typed) {
        return Ok(Name::Flag(flag));
    }
    let mut hits: Vec<&str> = flags().map(|(name, _)| name).filter(|name| name.starts_with(typed)).collect();
    hits.extend(["help", "version"].iter().filter(|name| name.starts_with(typed)));
    match hits.as_slice() {
        ["help"] => Ok(Name::Help),
        ["version"] => Ok(Name::Version),
        [name] => flags()
            .find(|(n, _)| n == name)
            .map(|(_, flag)| Name::Flag(flag))
            .ok_or_else(|| unknown(&format!("--{typed}"))),
        [] => Err(unknown(&format!("--{typed}"))),
        several => {
            let list = several.iter().map(|name| format!("--{name}")).collect::<Vec<_>>().join(", ");
            Err(UsageError(format!("ambiguous option: --{typed} could be {list}")))
        }
    }
}

fn unknown(typed: &str) -> UsageError {
    let shown = typed.escape_debug();
    UsageError(match meant(typed) {
        Some(meant) => format!("unrecognized argument: {shown} (did you mean {meant}?)"),
        None => format!("unrecognized argument: {shown}"),
    })
}

/// What was probably meant: a flag or a subcommand that is one slip of a key away, or the same word without its dashes.
fn meant(typed: &str) -> Option<String> {
    if typed.eq_ignore_ascii_case("-v") {
        return Some("--version".to_owned());
    }
    let word = typed.trim_start_matches('-');
    let subcommands = SUBCOMMANDS.iter().filter_map(|(form, _)| form.split(' ').next());
    if !typed.starts_with('-')
        && let Some(name) = subcommands.clone().find(|name| one_slip(word, name))
    {
        return Some(format!("cargento {name}"));
    }
    let flags = FLAGS.iter().flat_map(|flag| [Some(flag.name), flag.alias]).flatten().chain(["help", "version"]);
    if let Some(name) =
        flags.clone().find(|name| *name == word).or_else(|| flags.clone().find(|name| one_slip(word, name)))
    {
        return Some(format!("--{name}"));
    }
    subcommands.into_iter().find(|name| *name == word).map(|name| format!("cargento {name}"))
}

/// Whether one letter too many, one missing, one wrong, or two neighbours swapped tell two words of some length apart.
fn one_slip(typed: &str, name: &str) -> bool {
    let (typed, name) = (typed.as_bytes(), name.as_bytes());
    if typed.len() < 3 || typed.len().abs_diff(name.len()) > 1 {
        return false;
    }
    let head = typed.iter().zip(name).take_while(|(one, other)| one == other).count();
    match (typed.get(head..).unwrap_or_default(), name.get(head..).unwrap_or_default()) {
        ([_, left @ ..], [_, right @ ..]) if left == right => true,
        ([one, two, left @ ..], [three, four, right @ ..]) if one == four && two == three && left == right => true,
        ([_, left @ ..], right) | (right, [_, left @ ..]) if left == right => true,
        _ => false,
    }
}

fn value(parser: &mut lexopt::Parser, flag: &Flag) -> Result<OsString, UsageError> {
    let wrong = |reason: &str| UsageError(format!("argument --{}: {reason}", flag.name));
    let attached = parser.optional_value();
    match (flag.value, attached) {
        (None, None) => Ok(OsString::new()),
        (None, Some(_)) => Err(wrong("takes no value")),
        (Some(_), Some(value)) => Ok(value),
        (Some(_), None) => {
            let mut rest = parser.raw_args().map_err(|_| wrong("expected one value"))?;
            let next = rest.next_if(|next| !looks_like_a_flag(next));
            next.ok_or_else(|| wrong("expected one value"))
        }
    }
}

/// A dash and no number: a forgotten value must not swallow the next flag.
fn looks_like_a_flag(arg: &OsStr) -> bool {
    let Some(text) = arg.to_str() else { return false };
    text.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && rest.parse::<f64>().is_err())
}
