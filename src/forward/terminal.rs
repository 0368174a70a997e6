//! Which tmux pane a session was started in, from three environment variables and nothing else (HOOK-040..043).

use crate::env::Env;
use crate::surface::read;
use std::path::{Path, PathBuf};

/// All three, or no identity at all.
pub(super) struct Place {
    pub socket: String,
    pub pane: String,
    pub server: String,
}

pub(super) fn identity(env: &Env) -> Option<Place> {
    let uid = crate::surface::process::user_id()?;
    identity_of(env.text("TMUX")?, env.text("TMUX_PANE")?, env.text("TMUX_TMPDIR"), uid)
}

fn identity_of(tmux: &str, pane: &str, tmpdir: Option<&str>, uid: u32) -> Option<Place> {
    let mut fields = tmux.split(',');
    let (path, server) = (Path::new(fields.next()?), fields.next()?);
    let digits = |text: &str, cap: usize| (1..=cap).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(server, 10) || !pane.strip_prefix('%').is_some_and(|n| digits(n, 9)) {
        return None;
    }
    let socket = path.file_name()?.to_str().filter(|name| is_socket_name(name))?;
    let own = PathBuf::from(tmpdir.unwrap_or("/tmp")).join(format!("tmux-{uid}"));
    // Links are resolved on both sides: on macOS /tmp is one.
    if resolved(path.parent()?)? != resolved(&own)? {
        return None;
    }
    Some(Place { socket: socket.to_owned(), pane: pane.to_owned(), server: server.to_owned() })
}

/// The path with its links resolved, as far as it exists.
fn resolved(path: &Path) -> Option<PathBuf> {
    match read::real(path) {
        Ok(real) => Some(real),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Some(read::real(path.parent()?).ok()?.join(path.file_name()?))
        }
        Err(_) => None,
    }
}

fn is_socket_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    name.len() <= 64
        && bytes.next().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    /// HOOK-040, HOOK-041, HOOK-042, HOOK-043.
    #[test]
    fn hook_041_042_three_fields_or_none() {
        let dir = std::env::temp_dir().join(format!("cargento-tmux-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("tmux-7")).unwrap();
        std::fs::create_dir_all(dir.join("other")).unwrap();
        let (base, tmpdir) = (dir.to_str().unwrap(), dir.to_str());
        let place = identity_of(&format!("{base}/tmux-7/default,123,0"), "%3", tmpdir, 7).unwrap();
        assert_eq!((place.socket.as_str(), place.pane.as_str(), place.server.as_str()), ("default", "%3", "123"));
        for (tmux, pane, uid) in [
            (format!("{base}/other/default,123,0"), "%3", 7),
            (format!("{base}/tmux-7/default,123,0"), "-x", 7),
            (format!("{base}/tmux-7/default,123,0"), "%", 7),
            (format!("{base}/tmux-7/default"), "%3", 7),
            (format!("{base}/tmux-7/default,12345678901"), "%3", 7),
            (format!("{base}/tmux-7/-default,123"), "%3", 7),
            (format!("{base}/tmux-7/default,123,0"), "%3", 8),
        ] {
            assert!(identity_of(&tmux, pane, tmpdir, uid).is_none(), "{tmux} {pane} {uid}");
        }
        // The server's directory need not be there yet, and a relative path leads nowhere.
        assert!(identity_of(&format!("{base}/tmux-9/default,123,0"), "%3", tmpdir, 9).is_some());
        assert!(identity_of(&format!("{base}/no/tmux-9/default,123,0"), "%3", tmpdir, 9).is_none());
        assert!(identity_of("default,123,0", "%3", tmpdir, 7).is_none());
        std::fs::remove_dir_all(dir).unwrap();
    }
}
