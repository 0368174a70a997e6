//! Which project a working directory belongs to (ROW-009, ROW-010): the git root where there is one, so that a linked
//! worktree and its main checkout are one project. Nothing is run; two small files are read at most.

use crate::model::Observed;
use crate::surface::read::{self, Kind};
use crate::text::safe::clean;
use blake2::digest::consts::{U12, U16};
use blake2::{Blake2b, Digest};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Levels walked up in search of `.git`.
const LEVELS: usize = 64;
/// Most read of a `.git` file or a `commondir` file, bytes.
const POINTER_CAP: u64 = 4096;
/// How long an answer is believed, seconds: a repository may be made or moved under a running session.
const TTL_SEC: f64 = 60.0;

/// The grouping key of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub key: String,
    pub name: String,
    pub source: &'static str,
}

/// Remembers the identities of working directories.
#[derive(Default)]
pub struct Identities {
    known: HashMap<PathBuf, (f64, Option<Identity>)>,
}

impl Identities {
    /// Fills the three project fields of a row from its label and, when it exists, its working directory.
    pub fn apply(&mut self, row: &mut Observed, cwd: Option<&Path>, now: f64) {
        match cwd.and_then(|cwd| self.of(cwd, now)) {
            Some(id) => {
                row.project_key = id.key;
                row.project_name = id.name;
                row.project_identity_source = id.source;
            }
            None => {
                row.project_key.clone_from(&row.project);
                row.project_name =
                    row.project.rsplit('/').next().filter(|n| !n.is_empty()).unwrap_or(&row.project).into();
                row.project_identity_source = "collector project label";
            }
        }
    }

    /// The identity of an absolute, existing directory; `None` for any other path.
    pub fn of(&mut self, cwd: &Path, now: f64) -> Option<Identity> {
        if !cwd.is_absolute() {
            return None;
        }
        if let Some((at, known)) = self.known.get(cwd)
            && (now - at).abs() < TTL_SEC
        {
            return known.clone();
        }
        if self.known.len() >= crate::config::MAX_CACHE_ENTRIES {
            self.known.clear();
        }
        let found = measure(cwd);
        self.known.insert(cwd.to_path_buf(), (now, found.clone()));
        found
    }
}

fn measure(cwd: &Path) -> Option<Identity> {
    let real = read::real(cwd).ok()?;
    let (root, kind, source) = match git_root(&real) {
        Some(root) => (read::real(&root).unwrap_or(root), "git", "git common directory"),
        None => (real, "path", "working directory path"),
    };
    let name = root.file_name().map_or_else(|| root.to_string_lossy(), |n| n.to_string_lossy());
    // A folder may be named by anybody.
    let name = clean(&name).into_owned();
    Some(Identity { key: format!("{kind}:{}", digest(&root)), name, source })
}

/// Lower-case hex BLAKE2b of the case-normalised path, 12 bytes out.
fn digest(root: &Path) -> String {
    let text = if cfg!(windows) {
        root.to_string_lossy().replace('/', "\\").to_lowercase()
    } else {
        root.to_string_lossy().into_owned()
    };
    blake2b_12(text.as_bytes())
}

/// Lower-case hex of a 12-byte BLAKE2b digest (RFC 7693).
pub fn blake2b_12(bytes: &[u8]) -> String {
    hex(&Blake2b::<U12>::digest(bytes))
}

/// Lower-case hex of a 16-byte BLAKE2b digest (RFC 7693).
pub fn blake2b_16(bytes: &[u8]) -> String {
    hex(&Blake2b::<U16>::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn git_root(real: &Path) -> Option<PathBuf> {
    for level in real.ancestors().take(LEVELS) {
        let dot = level.join(".git");
        match read::look(&dot) {
            Ok(e) if e.kind == Kind::Dir => return Some(level.to_path_buf()),
            Ok(e) if e.kind == Kind::File => {
                return Some(main_checkout(level, &dot).unwrap_or_else(|| level.to_path_buf()));
            }
            // What cannot be judged is treated as absent.
            _ => {}
        }
    }
    None
}

/// The main checkout of a linked worktree, by its `.git` file and the `commondir` file it leads to.
fn main_checkout(level: &Path, dot: &Path) -> Option<PathBuf> {
    let (bytes, _) = read::prefix(dot, POINTER_CAP).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let (key, value) = text.lines().next()?.split_once(':')?;
    if !key.trim().eq_ignore_ascii_case("gitdir") || value.trim().is_empty() {
        return None;
    }
    let git_dir = level.join(value.trim());
    let (bytes, _) = read::prefix(&git_dir.join("commondir"), POINTER_CAP).ok()?;
    let common = String::from_utf8_lossy(&bytes).trim().to_string();
    if common.is_empty() {
        return None;
    }
    let common = git_dir.join(common);
    let common = read::real(&common).unwrap_or(common);
    if common.file_name()? == ".git" { common.parent().map(Path::to_path_buf) } else { None }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Key;

    /// ROW-009, ROW-010.
    #[test]
    fn row_009_010_a_linked_worktree_shares_its_main_checkouts_project() {
        let base = std::env::temp_dir().join(format!("cargento-identity-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&base);
        let base = {
            std::fs::create_dir_all(&base).unwrap();
            base.canonicalize().unwrap()
        };
        std::fs::create_dir_all(base.join("main/.git/worktrees/w")).unwrap();
        std::fs::create_dir_all(base.join("main/src/deep")).unwrap();
        std::fs::create_dir_all(base.join("w")).unwrap();
        std::fs::create_dir_all(base.join("plain")).unwrap();
        std::fs::write(base.join("w/.git"), format!("GitDir: {}\n", base.join("main/.git/worktrees/w").display()))
            .unwrap();
        std::fs::write(base.join("main/.git/worktrees/w/commondir"), "../..\n").unwrap();
        let mut ids = Identities::default();
        let a = ids.of(&base.join("main/src/deep"), 0.0).unwrap();
        let b = ids.of(&base.join("w"), 0.0).unwrap();
        assert_eq!(a, b);
        assert_eq!((a.name.as_str(), a.source), ("main", "git common directory"));
        assert!(a.key.starts_with("git:") && a.key.len() == 28);
        let p = ids.of(&base.join("plain"), 0.0).unwrap();
        assert!(p.key.starts_with("path:"));
        std::fs::create_dir(base.join("odd\u{202e}\nname")).unwrap();
        assert_eq!(ids.of(&base.join("odd\u{202e}\nname"), 0.0).unwrap().name, "odd name");
        assert_eq!(ids.of(Path::new("relative"), 0.0), None);
        assert_eq!(ids.of(&base.join("gone"), 0.0), None);
        let mut row = Observed::new(Key::Codex, "s");
        row.project = "acme/shop".into();
        ids.apply(&mut row, None, 0.0);
        assert_eq!((row.project_key.as_str(), row.project_name.as_str()), ("acme/shop", "shop"));
        std::fs::remove_dir_all(base).unwrap();
    }

    /// ROW-009.
    #[test]
    fn row_009_blake2b_digests() {
        // Computed with an independent implementation.
        assert_eq!(blake2b_12(b"abc"), "48b4f1f9042a2d5033b382b5");
        assert_eq!(blake2b_16(b"abc"), "cf4ab791c62b8d2b2109c90275287816");
    }
}
