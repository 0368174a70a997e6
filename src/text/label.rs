//! Project labels out of working directories, and the grammar of resume tokens. No path is opened or resolved.
//!
//! A label is for reading: two sessions with one label need not share a directory (ROW-008).

use super::safe::clean;

/// Whose path rules hold. Chosen at run time, so that both are tested everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// `/` separates; a backslash is a character of a name.
    Posix,
    /// Both separate; a drive or share comes first; case does not tell names apart.
    Windows,
}

impl Host {
    /// The rules of the machine this program runs on.
    pub const fn current() -> Host {
        if cfg!(windows) { Host::Windows } else { Host::Posix }
    }

    fn separates(self, c: char) -> bool {
        c == '/' || (self == Host::Windows && c == '\\')
    }

    fn same(self, a: &str, b: &str) -> bool {
        match self {
            Host::Posix => a == b,
            Host::Windows => a.to_lowercase() == b.to_lowercase(),
        }
    }
}

/// Label of the home directory itself.
pub const HOME: &str = "(home)";

/// The last two segments of a working directory, below home counted from home; `None` when the directory is empty,
/// relative, holds `..` or is the root: the caller then uses its fallback (ROW-006).
pub fn project_label(cwd: &str, home: &str, host: Host) -> Option<String> {
    let cwd = Place::of(cwd, host)?;
    let below = Place::of(home, host).and_then(|home| cwd.below(&home, host));
    let rest = match below {
        Some([]) => return Some(HOME.to_owned()),
        Some(rest) => rest,
        None => cwd.names.as_slice(),
    };
    let last = rest.get(rest.len().saturating_sub(2)..).unwrap_or_default();
    (!last.is_empty()).then(|| clean(&last.join("/")).into_owned())
}

/// Label out of a store's encoded directory name, such as `-home-me-acme-shop`: the encoded home off, then the last
/// two pieces (ROW-007).
pub fn encoded_label(directory: &str, home: &str, host: Host) -> String {
    let home = home.trim_end_matches(|c| host.separates(c));
    let separators: String = home.chars().map(|c| if matches!(c, '/' | '\\' | ':') { '-' } else { c }).collect();
    // Some writers encode everything but letters and digits.
    let narrow: String = home.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let rest = [separators, narrow]
        .iter()
        .filter(|prefix| !prefix.is_empty())
        .find_map(|prefix| without_home(directory, prefix, host))
        .unwrap_or(directory);
    let pieces: Vec<&str> = rest.split('-').filter(|piece| !piece.is_empty()).collect();
    match pieces.get(pieces.len().saturating_sub(2)..) {
        Some(last) if !last.is_empty() => clean(&last.join("-")).into_owned(),
        _ => HOME.to_owned(),
    }
}

fn without_home<'a>(directory: &'a str, prefix: &str, host: Host) -> Option<&'a str> {
    let (head, rest) = directory.split_at_checked(prefix.len())?;
    (host.same(head, prefix) && (rest.is_empty() || rest.starts_with('-'))).then_some(rest)
}

/// Short name out of a label: what follows its last `/` (ROW-009).
pub fn short_name(label: &str) -> &str {
    label.rsplit('/').next().unwrap_or(label)
}

/// `token` when a harness's resume command may be given it: 1 to 64 of `[A-Za-z0-9_-]`, not led by a dash, which a
/// command line would read as a flag (ROW-005).
pub fn resume_id(token: &str) -> Option<&str> {
    let fits = (1..=64).contains(&token.len()) && !token.starts_with('-');
    (fits && token.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))).then_some(token)
}

/// An absolute path taken apart.
struct Place<'a> {
    /// Drive or share, empty on POSIX and for a Windows path without either.
    volume: String,
    names: Vec<&'a str>,
}

impl<'a> Place<'a> {
    /// `None` for a path that is empty, relative, or climbs.
    fn of(path: &'a str, host: Host) -> Option<Place<'a>> {
        let (volume, rest) = match host {
            Host::Posix => (String::new(), path),
            Host::Windows => volume(path),
        };
        let share = volume.contains('\\');
        if !(rest.starts_with(|c| host.separates(c)) || (share && rest.is_empty())) {
            return None;
        }
        let names: Vec<&str> = rest.split(|c| host.separates(c)).filter(|name| !matches!(*name, "" | ".")).collect();
        (!names.contains(&"..")).then_some(Place { volume, names })
    }

    /// The names behind `home`, when this place is home or below it.
    fn below(&self, home: &Place<'_>, host: Host) -> Option<&[&'a str]> {
        let volumes = host.same(&self.volume, &home.volume) || self.volume.is_empty() || home.volume.is_empty();
        let (head, rest) = self.names.split_at_checked(home.names.len())?;
        (volumes && head.iter().zip(&home.names).all(|(a, b)| host.same(a, b))).then_some(rest)
    }
}

/// A Windows path's drive (`c:`) or share (`server\share`) and what follows it.
fn volume(path: &str) -> (String, &str) {
    let separates = |c| Host::Windows.separates(c);
    // `\\?\` only switches off limits; `\\?\UNC\` stands for the two separators of a share.
    if let Some(plain) = path.strip_prefix(r"\\?\") {
        return match plain.strip_prefix(r"UNC\") {
            Some(share) => share_of(share),
            None => volume(plain),
        };
    }
    let mut chars = path.chars();
    match (chars.next(), chars.next()) {
        (Some(letter), Some(':')) if letter.is_ascii_alphabetic() => (format!("{letter}:"), chars.as_str()),
        (Some(a), Some(b)) if separates(a) && separates(b) => share_of(chars.as_str()),
        _ => (String::new(), path),
    }
}

fn share_of(path: &str) -> (String, &str) {
    let mut parts = path.splitn(3, |c| Host::Windows.separates(c));
    let (server, share) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let rest = path.get(server.len() + 1 + share.len()..).unwrap_or_default();
    (format!(r"{server}\{share}"), rest)
}
