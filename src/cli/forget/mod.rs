//! `--forget`: deletes what the board remembered by itself, and nothing a person typed (LIFE-060 to LIFE-062).
//!
//! It works on the files, whatever the switches say, and is refused whole while a dashboard answers on the port: that
//! one would write the first two back.

use super::health::{Health, probe};
use super::{Context, FAILED, OK, say};
use crate::counters::Counters;
use crate::keep::annotations::{Annotations, Swept};
use crate::keep::store::Tell;
use crate::keep::{ends, history};
use crate::surface::write::Place;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

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
    say(&deleted("local history", history::forget(place)));
    say(&deleted("session-end store", ends::forget(place)));
    say(&swept(place));
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

/// Takes the discard records out under the store's own lock, and says what became of them (ANN-121).
fn swept(place: &Place) -> String {
    let why = Arc::new(Mutex::new(String::new()));
    let heard = Arc::clone(&why);
    let keep = move |line: &str| line.clone_into(&mut heard.lock().unwrap_or_else(PoisonError::into_inner));
    let tell = Tell { say: Arc::new(keep), counters: Arc::new(Counters::new()) };
    match Annotations::new(place.clone(), tell).sweep() {
        Swept::Removed(1) => "1 discard record was removed from the annotation store".into(),
        Swept::Removed(n) => format!("{n} discard records were removed from the annotation store"),
        Swept::Nothing => "no discard records were there".into(),
        Swept::NotWritable => {
            format!("the discard records stay: {}", why.lock().unwrap_or_else(PoisonError::into_inner))
        }
        Swept::Untrusted => {
            "the discard records stay: the annotation store cannot be read, and it was not changed".into()
        }
    }
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

    const ANNOTATIONS: &str = crate::keep::annotations::FILE;
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

    /// ANN-121.
    #[test]
    fn ann_121_the_four_things_it_may_say() {
        let home = scratch();
        let place = home.place();
        assert!(swept(place).starts_with("no discard records") && names(place).is_empty());
        place.replace(ANNOTATIONS, STORE.as_bytes()).unwrap();
        std::fs::create_dir(place.path("cargento-annotations.json.lock")).unwrap();
        let line = swept(place);
        assert!(line.starts_with("the discard records stay: could not write") && !line.contains('\n'), "{line}");
        std::fs::remove_dir(place.path("cargento-annotations.json.lock")).unwrap();
        assert!(swept(place).starts_with("1 discard record was removed"));
        assert!(swept(place).starts_with("no discard records"));
        place.replace(ANNOTATIONS, b"{broken").unwrap();
        assert!(swept(place).contains("cannot be read"));
        assert_eq!(place.read(ANNOTATIONS, 99).unwrap().unwrap(), b"{broken");
    }

    /// LIFE-061.
    #[test]
    fn life_061_the_permission_line() {
        let home = scratch();
        let (line, code) = permission(home.place());
        assert!(line.contains("permission") && line.contains("spend") && code == OK);
        assert!(names(home.place()).is_empty());
    }
}
