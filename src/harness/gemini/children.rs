//! Recordings of subagents, which are never rows: their times and names are what a session shows of them (GEM-016,
//! GEM-017). They are not opened.

use super::CHATS;
use crate::config::{SUBAGENT_NAME_CAP_CHARS, WORKING_THRESHOLD_SEC};
use crate::harness::Pass;
use crate::harness::tree::Tree;
use crate::model::Subagent;
use crate::model::time::{fresh, newest_plausible};
use crate::text::safe_text;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Characters of a recording's name that name its subagent.
const NAME_CHARS: usize = 8;

/// The subagents of all sessions.
#[derive(Default)]
pub struct Children {
    /// By the session's id as [`alnum`] has it: time of the last write, and file name.
    by_session: HashMap<String, Vec<(f64, String)>>,
    /// Folders of recordings with a subagent inside the display window, and its time.
    stirring: HashMap<PathBuf, f64>,
}

impl Children {
    /// The subagents' recordings of a store.
    pub fn of(tree: &Tree, now: f64) -> Children {
        let mut found = Children::default();
        for dir in tree.dirs() {
            let Some(chats) = dir.parent().filter(|chats| chats.file_name().is_some_and(|name| name == CHATS)) else {
                continue;
            };
            let mut kids: Vec<(f64, String)> = tree
                .files_in(dir)
                .map(|(name, file)| (file.stamp.mtime(), name.to_string_lossy().into_owned()))
                .collect();
            let key = dir.file_name().map(|name| alnum(&name.to_string_lossy())).unwrap_or_default();
            if kids.is_empty() || key.is_empty() {
                continue;
            }
            let newest = newest_plausible(kids.iter().map(|(at, _)| *at), now);
            let known = found.stirring.entry(chats.to_path_buf()).or_default();
            *known = known.max(newest);
            found.by_session.entry(key).or_default().append(&mut kids);
        }
        found
    }

    /// Whether a subagent inside the display window may belong to the session recorded at `main`.
    pub fn stir(&self, main: &Path, pass: &Pass<'_>) -> bool {
        main.parent().and_then(|chats| self.stirring.get(chats)).is_some_and(|newest| pass.in_window(*newest))
    }

    /// When a subagent of this session last wrote, 0 when there is none.
    pub fn newest(&self, sid: &str, now: f64) -> f64 {
        newest_plausible(self.of_session(sid).iter().map(|(at, _)| *at), now)
    }

    /// The subagents of this session that are at work, newest first.
    pub fn working(&self, sid: &str, now: f64) -> Vec<Subagent> {
        let kids = self.of_session(sid).iter();
        let mut fresh: Vec<&(f64, String)> = kids.filter(|(at, _)| fresh(*at, WORKING_THRESHOLD_SEC, now)).collect();
        fresh.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        // One recording may be listed twice when its session's id is spelt in two ways.
        let mut seen = HashSet::new();
        fresh.retain(|(_, name)| seen.insert(name));
        fresh.into_iter().map(|(_, name)| subagent(name)).collect()
    }

    fn of_session(&self, sid: &str) -> &[(f64, String)] {
        self.by_session.get(&alnum(sid)).map_or(&[], Vec::as_slice)
    }
}

fn subagent(file: &str) -> Subagent {
    let name: String = file.strip_suffix(".jsonl").unwrap_or(file).chars().take(NAME_CHARS).collect();
    let name = safe_text(&format!("subagent {name}"), SUBAGENT_NAME_CAP_CHARS).into_owned();
    Subagent { name, model: None, started_at: None, active: None, parent: None }
}

/// Lower case, letters and digits only: the CLI replaces other characters of an id that names a folder.
pub fn alnum(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
