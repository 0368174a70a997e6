//! The ten readers in registry order (PAYLOAD-002), made from the store roots of a run.

use super::Collector;
use super::antigravity::Antigravity;
use super::claude::{Claude, ClaudeRoots, Hooks};
use super::codex::Codex;
use super::copilot::Copilot;
use super::cursor::Cursor;
use super::droid::Droid;
use super::gemini::Gemini;
use super::goose::Goose;
use super::opencode::OpenCode;
use super::pi::Pi;
use crate::live::scan::Make;
use crate::model::Key;
use crate::roots::Roots;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A maker for every reader. Nothing is read by making one.
pub fn makes(roots: &Roots, home: &Path, hooks: &Arc<Hooks>, spacedock: bool) -> Vec<(Key, Make)> {
    let one = |key: &str| roots.primary(key).map(Path::to_path_buf).unwrap_or_default();
    let several = |key: &str| roots.candidates(key).to_vec();
    let home: PathBuf = home.to_path_buf();
    let claude = ClaudeRoots {
        projects: one("claude.projects"),
        tasks: one("claude.tasks"),
        teams: one("claude.teams"),
        home: home.clone(),
    };
    let hooks = Arc::clone(hooks);
    let (codex, codex_home) = (one("codex.sessions"), home.clone());
    let (pi, pi_home) = (one("pi.sessions"), home.clone());
    let (gemini, gemini_home) = (one("gemini.tmp"), home.clone());
    let (antigravity, antigravity_home) = (one("antigravity.root"), home.clone());
    let (copilot, copilot_home) = (one("copilot.root"), home.clone());
    let (opencode, opencode_home) = (several("opencode.data"), home.clone());
    let (cursor, cursor_home) = (one("cursor.chats"), home.clone());
    let (goose, goose_home) = (several("goose.db"), home.clone());
    let (droid, droid_home) = (several("droid.projects"), home.clone());
    vec![
        (Key::Claude, make(move || Claude::new(claude.clone(), Arc::clone(&hooks), spacedock))),
        (Key::Codex, make(move || Codex::new(codex.clone(), &codex_home))),
        (Key::Pi, make(move || Pi::new(pi.clone(), pi_home.clone()))),
        (Key::Gemini, make(move || Gemini::new(gemini.clone(), gemini_home.clone()))),
        (Key::Antigravity, make(move || Antigravity::new(antigravity.clone(), antigravity_home.clone()))),
        (Key::Copilot, make(move || Copilot::new(copilot.clone(), copilot_home.clone()))),
        (Key::OpenCode, make(move || OpenCode::new(opencode.clone(), opencode_home.clone()))),
        (Key::Cursor, make(move || Cursor::new(cursor.clone(), cursor_home.clone()))),
        (Key::Goose, make(move || Goose::new(goose.clone(), goose_home.clone()))),
        (Key::Droid, make(move || Droid::new(droid.clone(), droid_home.clone()))),
    ]
}

fn make<C: Collector + 'static>(new: impl Fn() -> C + Send + 'static) -> Make {
    Box::new(move || Box::new(new()))
}
