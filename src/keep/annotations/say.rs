//! The sentences about typed words, each with one owner, so that page and Intent log cannot disagree (ANN-047, ANN-116).

pub use crate::board::NONE_TYPED;

/// Why a session has no goal although it has words.
pub const NO_GOAL: &str = "no goal is typed for this session";
/// Why a session has no lines although it has words.
pub const NO_LINES: &str = "no expected outcome is typed for this session";
/// Why discarded words are not there.
pub const DISCARDED: &str = "what was typed for this session was discarded with everything else";
/// What stands for the words of a session another build saved.
pub const HELD: &str = "the words of this session were saved by a build that can read more than this one; they are kept \
                        as they are, and this build shows and changes none of them";
/// The store cannot be read (ANN-021).
pub const NOTICE: &str = "The store of typed words, cargento-annotations.json, cannot be read. Nothing is saved over it: \
                          move the file away or repair it. Whether anything was typed cannot be told until then.";
/// Words bound to a short id (ANN-104).
pub const PREFIX: &str = "this harness publishes only the first characters of a session's id: another session that \
                          shares them would share these words";
/// The sentence of a discard record.
pub const RECORD: &str =
    "Everything typed for this session was discarded. This record keeps when that was, and no word.";

/// The sentences of the discard control and of its outcomes (ANN-116), by name.
pub const DISCARD: [(&str, &str); 10] = [
    (
        "offer",
        "Discard everything: every revision of the goal and the outcome lines and any reading of them are deleted, and \
         what was raised to you stops quoting the words.",
    ),
    (
        "armed",
        "Press again to discard. All revisions go. Any reading goes. Raises stop quoting the words. The fact that a \
         check ran stays.",
    ),
    ("stored", "Discarded. Nothing of what was typed is left in this store; what was raised no longer quotes it."),
    ("unwithdrawn", "Discarded, but the record of what was raised could not be written: it goes on quoting the words."),
    ("refused", "Nothing was discarded: the request was not taken."),
    ("unwritable", "Nothing was discarded on disk: the store could not be written. Try again."),
    ("untrusted", "Nothing was discarded: the store cannot be read, so nothing is written over it. Move or repair it."),
    ("held", "Nothing was discarded: these words were saved by a build that can read more, and are kept as they are."),
    ("record", RECORD),
    (
        "record_standing",
        "The record of a discard holds a time and no word. Session history, where it is on, keeps its own copy for up to \
         fourteen days; --forget deletes that copy and this record.",
    ),
];
