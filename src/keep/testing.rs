//! A throw-away home for the tests of the stores.

use super::store::Tell;
use crate::counters::Counters;
use crate::surface::write::{Place, Temporary};
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
