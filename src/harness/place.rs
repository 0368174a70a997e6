//! Where a session works: its label, its project and the directory as evidence.

use super::identity::Identities;
use crate::model::Observed;
use crate::text::label::{Host, encoded_label, project_label};
use crate::text::safe::clean;
use std::path::{Path, PathBuf};

/// Longest working directory believed, bytes.
const CWD_CAP: usize = 4096;

/// Fills in label and project of a row: from the recorded working directory when it is usable, else from the name of
/// the store directory that holds the transcript, else the harness's own name stays (ROW-006, ROW-007).
pub fn settle(row: &mut Observed, cwd: Option<&str>, dir: Option<&str>, home: &Path, ids: &mut Identities, now: f64) {
    let cwd = cwd.filter(|cwd| cwd.len() <= CWD_CAP && !cwd.contains('\0'));
    let label = cwd.and_then(|cwd| project_label(cwd, &home.to_string_lossy(), Host::current()));
    let place = cwd.filter(|_| label.is_some()).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(label) = label.or_else(|| dir.map(|dir| directory_label(dir, home))) {
        row.project = label;
    }
    ids.apply(row, place.as_deref(), now);
    row.evidence.cwd = place;
}

/// The label of a store directory: the end of an encoded path, or a plain name as it is.
fn directory_label(name: &str, home: &Path) -> String {
    if name.starts_with('-') || cfg!(windows) {
        return encoded_label(name, &home.to_string_lossy(), Host::current());
    }
    clean(name).into_owned()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Key;

    #[test]
    fn row_006_007_label_out_of_cwd_else_directory_else_harness() {
        let mut ids = Identities::default();
        let home = Path::new("/home/dev");
        for (cwd, dir, want) in [
            (Some("/home/dev/src/atlas"), Some("x"), "src/atlas"),
            (Some("/w/acme/shop/"), None, "acme/shop"),
            (Some("/home/dev"), None, "(home)"),
            (Some("a/b"), Some("-home-dev-src-atlas"), "src-atlas"),
            (Some("/w/../etc"), Some("my-cool-shop"), "my-cool-shop"),
            (Some("/w/a\0b"), Some("-home-dev"), "(home)"),
            (None, Some("my.proj-x"), "my.proj-x"),
            (None, None, "droid"),
        ] {
            let mut row = Observed::new(Key::Droid, "s");
            settle(&mut row, cwd, dir, home, &mut ids, 0.0);
            assert_eq!(row.project, want, "{cwd:?} {dir:?}");
            assert!(!row.project_key.is_empty() && !row.project_name.is_empty());
        }
    }
}
