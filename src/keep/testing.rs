//! A throw-away home for the tests of the stores.

use super::store::{Format, Tell};
use crate::counters::Counters;
use crate::surface::write::{Place, Temporary};
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};

pub(crate) struct Bench {
    home: Temporary,
    place: Place,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let home = Temporary::create(&std::env::temp_dir(), "cargento-keep-test").unwrap();
        let place = Place::state(&home.place().root().join("state"));
        Self { home, place }
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    pub(crate) fn outside(&self) -> &Place {
        self.home.place()
    }

    /// Writes as another program would: in place.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        self.place.ensure().unwrap();
        std::fs::write(self.place.path(name), bytes).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.place.path(name)).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.place.path(name)).unwrap()
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        std::fs::metadata(self.place.path(name)).unwrap().permissions().mode() & 0o7777
    }

    pub(crate) fn names(&self) -> Vec<String> {
        names(&self.place)
    }
}

/// What lies in a home, sorted; nothing when it is not there.
pub(crate) fn names(place: &Place) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(place.root()) else { return Vec::new() };
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Tells nobody.
pub(crate) fn quiet() -> Tell {
    Tell { say: Arc::new(|_| {}), counters: Arc::new(Counters::new()) }
}

/// Keeps what was said.
pub(crate) fn listening() -> (Tell, Arc<Mutex<Vec<String>>>) {
    let said: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = said.clone();
    (Tell { say: Arc::new(move |line| heard.lock().unwrap().push(line.to_owned())), ..quiet() }, said)
}

/// What damage and other builds put into a store's file.
const PIECES: [&str; 24] = [
    "",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "true",
    "-1",
    "0",
    "1e999",
    "1790000000000",
    "0.5",
    "\\ud800",
    "\\u0000",
    "\u{202e}",
    "\u{feff}",
    "\"revisions\":[]",
    "\"n\":2,",
    "\"x\":{\"y\":[1]},",
    "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA",
    "{\"harness\":\"pi\",\"sid\":\"z\",\"at\":3},",
];

/// Edits of a file: where, how many bytes go, and what takes their place.
pub(crate) fn edits() -> impl Strategy<Value = Vec<(usize, usize, &'static str)>> {
    prop::collection::vec(
        (any::<usize>(), prop_oneof![Just(0usize), 0usize..4, 0usize..60], prop::sample::select(&PIECES[..])),
        0..5,
    )
}

/// Reads the edited file and writes it back until nothing changes any more, which must be soon: what is written is read
/// whole, within the cap, and no reading moves it on for ever (TRUST-081).
pub(crate) fn settles<F: Format>(format: &F, seed: &str, edits: &[(usize, usize, &str)]) -> Result<(), TestCaseError> {
    let mut bytes = seed.as_bytes().to_vec();
    for (at, gone, piece) in edits {
        let at = at % (bytes.len() + 1);
        bytes.splice(at..(at + gone).min(bytes.len()), piece.bytes());
    }
    let Ok(mut value) = format.parse(&bytes) else { return Ok(()) };
    let mut before = Vec::new();
    // A time beyond all times is taken for milliseconds once a reading.
    for _ in 0..120 {
        let Ok(written) = format.render(&mut value, None) else { return Ok(()) };
        prop_assert!(written.len() <= format.cap());
        if written == before {
            return Ok(());
        }
        let again = format.parse(&written);
        prop_assert!(again.is_ok(), "{}", String::from_utf8_lossy(&written));
        value = again.unwrap_or_default();
        before = written;
    }
    prop_assert!(false, "never settles: {}", String::from_utf8_lossy(&before));
    Ok(())
}
