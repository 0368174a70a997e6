//! `--forget`: deletes what the board remembered by itself, and nothing a person typed (LIFE-060 to LIFE-062).
//!
//! It works on the files, whatever the switches say, and is refused whole while a dashboard answers on the port: that
//! one would write the first two back.

mod discard;

use super::health::{Health, probe};
use super::{Context, FAILED, OK, say};
use crate::config::{ANNOTATION_LOCK_WAIT_SEC, ANNOTATION_READ_CAP_BYTES};
use crate::surface::write::{LockError, Place};
use std::io;
use std::time::Duration;

const HISTORY: &str = "cargento-history.json";
const ENDS: &str = "cargento-ends.json";
const ANNOTATIONS: &str = "cargento-annotations.json";
const ANNOTATIONS_LOCK: &str = "cargento-annotations.json.lock";
const COPIED: &str = "cargento-copied-corrections.json";
const PERMISSION: &str = "cargento-reading-permission.sqlite3";

/// Prints a line for each store; fails only when the permission could not be forgotten.
pub(super) fn forget(context: &Context) -> u8 {
    let port = context.settings.port;
    if let Health::Cargento { pid, .. } = probe(port) {
        say(&format!(
            "nothing was forgotten: a dashboard is running on port {port} (pid {pid}). It would write the history store \
             back and go on publishing the session-end store, and the discard records of the annotation store were not \
             swept either. Use --stop first"
        ));
        return FAILED;
    }
    let place = &context.place;
    say(&deleted("local history", place.remove(HISTORY)));
    say(&deleted("session-end store", place.remove(ENDS)));
    say(&swept(sweep_discards(place)));
    // This build writes no such store; one that another build left in this home is a memory all the same.
    say(&deleted("copied-correction store", place.remove(COPIED)));
    let (line, code) = permission(place);
    say(&line);
    code
}

fn deleted(what: &str, outcome: io::Result<bool>) -> String {
    match outcome {
        Ok(true) => format!("the {what} was deleted"),
        Ok(false) => format!("no {what} was there"),
        Err(error) => format!("the {what} could not be deleted: {error}"),
    }
}

/// What became of the discard records.
#[derive(Debug)]
enum Swept {
    Removed(usize),
    Nothing,
    NotWritable(String),
    /// The file is not a store; it stays as it is.
    Unreadable,
}

fn swept(outcome: Swept) -> String {
    match outcome {
        Swept::Removed(1) => "1 discard record was removed from the annotation store".into(),
        Swept::Removed(n) => format!("{n} discard records were removed from the annotation store"),
        Swept::Nothing => "no discard records were there".into(),
        Swept::NotWritable(error) => {
            format!("the discard records stay: the annotation store could not be written: {error}")
        }
        Swept::Unreadable => {
            "the discard records stay: the annotation store cannot be read, and it was not changed".into()
        }
    }
}

/// Removes discard records under the store's own lock (ANN-121). A store that is not there, or holds none, gets no lock
/// file.
fn sweep_discards(place: &Place) -> Swept {
    let read = || match place.read(ANNOTATIONS, ANNOTATION_READ_CAP_BYTES) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => discard::sweep(&bytes).map_err(|discard::Untrusted| Swept::Unreadable),
        Err(_) => Err(Swept::Unreadable),
    };
    match read() {
        Err(outcome) => return outcome,
        Ok(None) => return Swept::Nothing,
        Ok(Some(_)) => {}
    }
    let lock = match place.lock(ANNOTATIONS_LOCK, Duration::from_secs_f64(ANNOTATION_LOCK_WAIT_SEC)) {
        Ok(lock) => Some(lock),
        // Nobody else can lock there either.
        Err(LockError::Unsupported) => None,
        Err(LockError::Busy) => return Swept::NotWritable("another process holds its lock".into()),
        Err(LockError::Create(error) | LockError::Open(error)) => return Swept::NotWritable(error.to_string()),
    };
    let outcome = match read() {
        Err(outcome) => outcome,
        Ok(None) => Swept::Nothing,
        Ok(Some((bytes, removed))) => match place.replace(ANNOTATIONS, &bytes) {
            Ok(()) => Swept::Removed(removed),
            Err(error) => Swept::NotWritable(error.to_string()),
        },
    };
    drop(lock);
    outcome
}

/// Revokes the permission for readings and keeps the unexpired spend timestamps, so that forgetting buys no readings.
fn permission(place: &Place) -> (String, u8) {
    match std::fs::symlink_metadata(place.path(PERMISSION)) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            let line = "no reading permission was stored; unexpired spend timestamps, where there are any, remain";
            (line.into(), OK)
        }
        Err(error) => (format!("the reading permission could not be forgotten: {error}"), FAILED),
        Ok(_) => ("the reading permission could not be forgotten: this build cannot open its store".into(), FAILED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::write::Temporary;

    const STORE: &str = r#"{"v": 2, "entries": [
        {"harness":"claude","sid":"kept","revisions":[{"n":1,"at":1790000000.25,"goal":"Ship it","lines":[]}]},
        {"harness":"codex","sid":"gone","revisions":[],"discarded":1790001000.0,"discarded_revision":2}]}"#;

    fn scratch() -> Temporary {
        Temporary::create(&std::env::temp_dir(), "cargento-forget-test").unwrap()
    }

    fn names(place: &Place) -> Vec<String> {
        let mut names: Vec<_> =
            std::fs::read_dir(place.root()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn ann_121_discard_records_go_and_words_stay() {
        let home = scratch();
        let place = home.place();
        place.replace(ANNOTATIONS, STORE.as_bytes()).unwrap();
        assert!(matches!(sweep_discards(place), Swept::Removed(1)));
        let text = String::from_utf8(place.read(ANNOTATIONS, 9999).unwrap().unwrap()).unwrap();
        assert!(text.contains(
            r#"{"harness":"claude","sid":"kept","revisions":[{"n":1,"at":1790000000.25,"goal":"Ship it","lines":[]}]}"#
        ));
        assert!(!text.contains("gone"));
        assert!(matches!(sweep_discards(place), Swept::Nothing));
    }

    #[test]
    fn ann_121_what_cannot_be_read_or_written_stays() {
        let home = scratch();
        let place = home.place();
        assert!(matches!(sweep_discards(place), Swept::Nothing));
        assert!(names(place).is_empty(), "no lock file for an absent store");
        assert!(matches!(sweep_discards(&Place::state(&place.path("none"))), Swept::Nothing));
        place.replace(ANNOTATIONS, b"{broken").unwrap();
        assert!(matches!(sweep_discards(place), Swept::Unreadable));
        assert_eq!(place.read(ANNOTATIONS, 99).unwrap().unwrap(), b"{broken");
        assert_eq!(names(place), [ANNOTATIONS]);
        place.replace(ANNOTATIONS, STORE.as_bytes()).unwrap();
        std::fs::create_dir(place.path(ANNOTATIONS_LOCK)).unwrap();
        assert!(matches!(sweep_discards(place), Swept::NotWritable(_)));
        assert_eq!(place.read(ANNOTATIONS, 9999).unwrap().unwrap(), STORE.as_bytes());
    }

    #[test]
    fn life_061_the_permission_line() {
        let home = scratch();
        let (line, code) = permission(home.place());
        assert!(line.contains("permission") && line.contains("spend") && code == OK);
        assert!(names(home.place()).is_empty());
    }
}
