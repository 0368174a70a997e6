//! The ten readers in registry order (PAYLOAD-002), made from the store roots of a run.

use super::codex::Codex;
use crate::live::scan::Make;
use crate::model::Key;
use crate::roots::Roots;
use std::path::Path;

/// A maker for every reader. Nothing is read by making one.
pub fn makes(roots: &Roots, home: &Path) -> Vec<(Key, Make)> {
    let mut makes: Vec<(Key, Make)> = Vec::new();
    if let Some(sessions) = roots.primary("codex.sessions") {
        let (sessions, home) = (sessions.to_path_buf(), home.to_path_buf());
        makes.push((Key::Codex, Box::new(move || Box::new(Codex::new(sessions.clone(), &home)))));
    }
    makes
}
