//! Directories that change, grow, vanish and are refused.

use super::*;
use crate::harness::testkit::{NOW, Scratch, WINDOW};
use crate::surface::watch::{Dirty, Watch};
use std::os::unix::fs::{PermissionsExt, symlink};

fn judge(parents: &[&OsStr], name: &OsStr) -> Take {
    match parents {
        [] => Take::Only(&["a", "b"]),
        [_] if name == "a" || name == "b" => Take::File,
        _ => Take::Skip,
    }
}

fn files(tree: &mut Tree, sweep: bool) -> Vec<String> {
    let (dirty, watch) = (Dirty::default(), Watch::off());
    tree.refresh(&Pass { now: NOW, window: WINDOW, all: false, dirty: &dirty, sweep, watch: &watch });
    let root = tree.root().to_path_buf();
    let name =
        |(dir, name, _): (&Path, &OsStr, &File)| dir.join(name).strip_prefix(&root).unwrap().display().to_string();
    tree.files().map(name).collect()
}

/// TRUST-026.
#[test]
fn trust_026_of_a_directory_that_is_not_listed_only_the_named_files_are_looked_at() {
    let home = Scratch::new("tree-only");
    for name in ["x/a", "x/b", "x/c", "y/c", "plain"] {
        home.write(name, "1", NOW);
    }
    std::fs::create_dir_all(home.0.join("y/a")).unwrap();
    symlink(home.0.join("x"), home.0.join("link")).unwrap();
    let mut tree = Tree::new(home.0.clone(), judge);
    assert_eq!(files(&mut tree, false), ["x/a", "x/b"]);
    assert_eq!(tree.skipped().collect::<Vec<_>>(), [home.0.join("link")]);
    let before = tree.generation();
    assert_eq!((files(&mut tree, true).len(), tree.generation()), (2, before), "nothing moved");
    // Listing it is not needed: what may only be entered is enough.
    std::fs::set_permissions(home.0.join("x"), std::fs::Permissions::from_mode(0o311)).unwrap();
    std::fs::remove_file(home.0.join("x/b")).unwrap();
    std::fs::remove_dir(home.0.join("y/a")).unwrap();
    home.write("y/a", "1", NOW);
    home.write("z/b", "1", NOW);
    assert_eq!(files(&mut tree, false), ["x/a", "y/a", "z/b"]);
    std::fs::remove_dir_all(home.0.join("z")).unwrap();
    assert_eq!(files(&mut tree, true), ["x/a", "y/a"]);
    assert!(tree.dirs().all(|dir| !dir.ends_with("z")));
}

/// CLAUDE-124: a directory that another one took the place of is read and watched anew, with no sweep.
#[cfg(target_os = "linux")]
#[test]
fn claude_124_a_directory_made_anew_is_watched_anew() {
    let take = |parents: &[&OsStr], _: &OsStr| if parents.len() < 2 { Take::Enter } else { Take::File };
    let anew = |home: &Scratch, way: &str| match way {
        "removed" => std::fs::remove_dir_all(home.0.join("p")).unwrap(),
        _ => {
            std::fs::rename(home.0.join("p"), std::env::temp_dir().join(format!("{}-moved", home.0.display())))
                .unwrap();
        }
    };
    for way in ["removed", "moved"] {
        let home = Scratch::new(&format!("tree-anew-{way}"));
        let (tx, rx) = std::sync::mpsc::channel();
        let watch = Watch::start(move || tx.send(()).unwrap_or(()));
        let mut tree = Tree::new(home.0.clone(), take);
        let mut now = |want: &[&str]| {
            let mut found = Vec::new();
            // Notices come one by one; the last of them completes the picture.
            for _ in 0..100 {
                let dirty = watch.take();
                let pass = Pass { now: NOW, window: WINDOW, all: false, dirty: &dirty, sweep: false, watch: &watch };
                tree.refresh(&pass);
                found = tree.files().map(|(_, name, _)| name.to_string_lossy().into_owned()).collect();
                if found == want {
                    return;
                }
                let _ = rx.recv_timeout(std::time::Duration::from_millis(50));
            }
            panic!("{way}: wanted {want:?}, found {found:?}");
        };
        home.write("p/d/a", "1", NOW);
        home.write("p/d/b", "1", NOW);
        symlink("a", home.0.join("p/d/link")).unwrap();
        now(&["a", "b"]);
        anew(&home, way);
        home.write("p/d/c", "1", NOW);
        now(&["c"]);
        home.write("p/d/e", "1", NOW);
        now(&["c", "e"]);
        std::fs::remove_file(home.0.join("p/d/c")).unwrap();
        now(&["e"]);
        assert_eq!(tree.skipped().count(), 0, "the link went with the directory");
        let _ = std::fs::remove_dir_all(format!("{}-moved", home.0.display()));
    }
}
