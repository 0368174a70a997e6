//! What stands before the place where the reading of a long transcript begins, found backward (TURN-002, TURN-006).

use super::story::{Moment, Prompt};
use super::tail::Backward;
use crate::config::{TURN_GAP_RESET_SEC, TURN_SCAN_MAX_BYTES};
use crate::surface::read::Reader;
use std::path::Path;
use std::sync::Arc;

/// The state of a transcript at an offset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Before {
    /// Start of the turn that is open there.
    pub start: Option<f64>,
    /// Newest stamp before it.
    pub prev: Option<f64>,
    /// Newest prompt before it.
    pub prompt: Option<Arc<Prompt>>,
}

/// Walks the records before `end`, newest first and at most [`TURN_SCAN_MAX_BYTES`] of them, to the nearest prompt or
/// silence. `moments` adds a line's records in their order. What cannot be read leaves the state unknown.
pub fn before(path: &Path, end: u64, moments: &mut dyn FnMut(&[u8], &mut Vec<Moment>)) -> Before {
    let mut found = Before::default();
    let Ok(mut reader) = Reader::open(path) else { return found };
    let mut later = None;
    let mut settled = false;
    let mut told = Vec::new();
    Backward::new(&mut reader, end.saturating_sub(TURN_SCAN_MAX_BYTES), end).walk(None, &mut |line| {
        moments(line.bytes, &mut told);
        for moment in told.drain(..).rev() {
            if found.prompt.is_none() {
                found.prompt = moment.prompt;
            }
            let Some(at) = moment.at.filter(|_| !settled) else { continue };
            found.prev = found.prev.or(Some(at));
            if let Some(next) = later.filter(|next| next - at > TURN_GAP_RESET_SEC) {
                found.start = Some(next);
                settled = true;
            } else if moment.opens {
                found.start = Some(at);
                settled = true;
            } else if moment.ends {
                settled = true;
            }
            later = Some(at);
        }
        !(settled && found.prompt.is_some())
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line is `<stamp>[p|e]`: a number, and whether it is a prompt or the end of a turn.
    fn read(line: &[u8], out: &mut Vec<Moment>) {
        let text = String::from_utf8_lossy(line).into_owned();
        let opens = text.ends_with('p');
        let ends = text.ends_with('e');
        let at = text.trim_end_matches(['p', 'e']).parse().ok();
        let prompt = opens.then(|| Arc::new(Prompt::new(&text)));
        out.push(Moment { at, opens, ends, prompt, ..Moment::default() });
    }

    fn of(name: &str, text: &str) -> Before {
        let path = std::env::temp_dir().join(format!("cargento-seek-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let found = before(&path, text.len() as u64, &mut read);
        std::fs::remove_file(path).unwrap();
        found
    }

    #[test]
    fn turn_006_the_nearest_prompt_or_silence_starts_the_turn() {
        let found = of("prompt", "1p\n5\n10p\n20\nx\n30\n");
        assert_eq!((found.start, found.prev), (Some(10.0), Some(30.0)));
        assert_eq!(&*found.prompt.unwrap().text, "10p");
        let found = of("gap", "10p\n20\n330\n340\n");
        assert_eq!((found.start, found.prev), (Some(330.0), Some(340.0)));
        assert_eq!(&*found.prompt.unwrap().text, "10p");
        let found = of("edge", "10p\n310\n");
        assert_eq!(found.start, Some(10.0));
        let found = of("end", "10p\n20e\n30\n");
        assert_eq!((found.start, found.prev), (None, Some(30.0)), "no turn is open behind an end");
        assert_eq!(of("none", "10\n20\n").start, None);
        assert_eq!(of("empty", ""), Before::default());
        assert_eq!(before(Path::new("/nowhere/at/all"), 9, &mut read), Before::default());
    }
}
