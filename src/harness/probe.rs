//! Whether a store holds any session file, asked before anything else of it is read.

use super::tree::{Judge, Take};
use crate::surface::read::{self, Kind};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Most names looked at in one directory.
const NAMES: usize = 200_000;
/// Deepest directory entered, counted from the root.
const DEPTH: usize = 8;

/// Looks below `root`, by the names `judge` admits, until `accept` says yes to a regular file; links are not followed
/// and what cannot be listed holds nothing.
pub fn any_file(root: &Path, judge: Judge, accept: &mut dyn FnMut(&Path) -> bool) -> bool {
    look(root, &mut Vec::new(), judge, accept)
}

fn look(dir: &Path, parents: &mut Vec<OsString>, judge: Judge, accept: &mut dyn FnMut(&Path) -> bool) -> bool {
    let Ok((names, _)) = read::names(dir, NAMES) else { return false };
    let mut below = Vec::new();
    for found in names {
        let above: Vec<&OsStr> = parents.iter().map(OsString::as_os_str).collect();
        let take = judge(&above, &found.name);
        if take == Take::Skip {
            continue;
        }
        let path = dir.join(&found.name);
        match found.kind.or_else(|| read::look(&path).ok().map(|entry| entry.kind)) {
            Some(Kind::File) if matches!(take, Take::File | Take::Either) && accept(&path) => return true,
            Some(Kind::Dir) if matches!(take, Take::Enter | Take::Only(_) | Take::Either) => below.push(found.name),
            _ => {}
        }
    }
    if parents.len() >= DEPTH {
        return false;
    }
    for name in below {
        let path = dir.join(&name);
        parents.push(name);
        let found = look(&path, parents, judge, accept);
        parents.pop();
        if found {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(parents: &[&OsStr], name: &OsStr) -> Take {
        match parents {
            [] if name == "never" => Take::Skip,
            [] => Take::Enter,
            [_] => Take::File,
            _ => Take::Skip,
        }
    }

    #[test]
    fn trust_026_only_admitted_names_count() {
        let root = std::env::temp_dir().join(format!("cargento-probe-{}", std::process::id()));
        for dir in ["never", "a/b", "c"] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        for file in ["top", "never/x", "a/b/deep"] {
            std::fs::write(root.join(file), b"x").unwrap();
        }
        assert!(!any_file(&root, judge, &mut |_| true));
        std::fs::write(root.join("c/x"), b"x").unwrap();
        assert!(any_file(&root, judge, &mut |_| true));
        assert!(!any_file(&root, judge, &mut |_| false));
        assert!(!any_file(&root.join("gone"), judge, &mut |_| true));
        std::fs::remove_dir_all(root).unwrap();
    }
}
