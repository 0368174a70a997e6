//! What a harness says of itself beside its sessions: one entry each, supplied by its reader, so that nothing above the
//! readers has to know one of them by name. No state, and nothing that a pass found.

use super::{antigravity, claude, codex, copilot, cursor, droid, gemini, goose, opencode, pi};
use crate::model::{Degrade, Key};

/// The entry of one harness.
pub struct About {
    /// Key of its store ([`crate::roots`]); what its rows lack is named under it for the harness as a whole (DECK-020).
    pub store: &'static str,
    /// What `--diagnose` says is left out by decision, so that its absence is no riddle.
    pub note: Option<&'static str>,
    /// Its own words for a degrade in `--diagnose`, where its contract has some.
    pub words: fn(&Degrade) -> Option<String>,
}

impl About {
    /// A harness with this store, nothing left out, and no words of its own.
    pub const fn of(store: &'static str) -> About {
        About { store, note: None, words: |_| None }
    }
}

/// What the harness of this key says of itself.
pub const fn about(key: Key) -> &'static About {
    match key {
        Key::Claude => &claude::ABOUT,
        Key::Codex => &codex::ABOUT,
        Key::Pi => &pi::ABOUT,
        Key::Gemini => &gemini::ABOUT,
        Key::Antigravity => &antigravity::ABOUT,
        Key::Copilot => &copilot::ABOUT,
        Key::OpenCode => &opencode::ABOUT,
        Key::Cursor => &cursor::ABOUT,
        Key::Goose => &goose::ABOUT,
        Key::Droid => &droid::ABOUT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Env, Platform};
    use crate::roots::Roots;

    /// DECK-020: the source of a harness's degrades is a store that `--diagnose` lists, and its own.
    #[test]
    fn deck_020_every_harness_names_a_store_of_its_own_that_is_looked_for() {
        let roots = Roots::new(&Env::of(Platform::Linux, [("HOME", "/home/u")]), None);
        for key in Key::ALL {
            let store = about(key).store;
            assert!(roots.primary(store).is_some(), "{store}");
            assert_eq!(store.split('.').next(), Some(key.as_str()));
        }
    }
}
