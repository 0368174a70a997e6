//! What stands at each candidate location of a store.

use super::excerpt;
use crate::roots::Root;
use serde::Serialize;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

/// One store and all the places it may be in.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Store {
    #[serde(skip)]
    pub key: &'static str,
    /// The best candidate.
    pub primary: String,
    pub candidates: Vec<Candidate>,
}

/// One place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Candidate {
    pub path: String,
    pub kind: &'static str,
    /// Whether it could be listed or opened.
    pub readable: bool,
    /// Entries of a directory that could be listed.
    pub entries: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Looks at every candidate of a store.
pub(super) fn inspect(root: &Root) -> Store {
    let candidates: Vec<_> = root.candidates.iter().map(|path| look(path)).collect();
    let primary = candidates.first().map(|first| first.path.clone()).unwrap_or_default();
    Store { key: root.key, primary, candidates }
}

fn look(path: &Path) -> Candidate {
    let mut found = Candidate {
        path: path.to_string_lossy().into_owned(),
        kind: "missing",
        readable: false,
        entries: None,
        error: None,
    };
    let outcome = match fs::symlink_metadata(path) {
        Ok(own) if own.file_type().is_symlink() => match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                found.kind = "broken symlink";
                return found;
            }
            other => other,
        },
        other => other,
    };
    match outcome {
        Ok(there) => open(path, &there, &mut found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        // Something on the way refused: whether the store is there cannot be told.
        Err(error) => {
            found.kind = "inaccessible";
            found.error = Some(excerpt(&error));
        }
    }
    found
}

fn open(path: &Path, there: &Metadata, found: &mut Candidate) {
    let outcome = if there.is_dir() {
        found.kind = "directory";
        count(path).map(Some)
    } else if there.is_file() {
        found.kind = "file";
        File::open(path).map(|_| None)
    } else {
        // A pipe or a device is never opened.
        found.kind = "special file";
        return;
    };
    match outcome {
        Ok(entries) => {
            found.readable = true;
            found.entries = entries;
        }
        Err(error) => found.error = Some(excerpt(&error)),
    }
}

/// Entries of a directory, counted one by one so that a huge one costs no memory.
fn count(path: &Path) -> io::Result<u64> {
    let mut entries = 0;
    for entry in fs::read_dir(path)? {
        entry?;
        entries += 1;
    }
    Ok(entries)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::surface::write::Temporary;
    use std::os::unix::fs::symlink;

    /// DIAG-002, DIAG-006.
    #[test]
    fn diag_002_and_006_kinds_are_told_apart() {
        let home = Temporary::create(&std::env::temp_dir(), "cargento-stores-test").unwrap();
        let place = home.place();
        place.replace("dir/a", b"x").unwrap();
        place.replace("file", b"x").unwrap();
        symlink(place.path("dir"), place.path("link")).unwrap();
        symlink(place.path("nowhere"), place.path("broken")).unwrap();
        symlink(place.path("loop"), place.path("loop")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
        let kind = |name: &str| {
            let found = look(&place.path(name));
            (found.kind, found.readable, found.entries, found.error.is_some())
        };
        assert_eq!(kind("none"), ("missing", false, None, false));
        assert_eq!(kind("dir"), ("directory", true, Some(1), false));
        assert_eq!(kind("link"), ("directory", true, Some(1), false));
        assert_eq!(kind("file"), ("file", true, None, false));
        assert_eq!(kind("broken"), ("broken symlink", false, None, false));
        assert_eq!(kind("loop"), ("inaccessible", false, None, true));
        assert_eq!(kind("file/below"), ("inaccessible", false, None, true));
        assert_eq!(kind("socket"), ("special file", false, None, false));
        drop(socket);
    }
}
