//! `cargento-<port>.json`: the record of a running instance (STATE-005 to STATE-010).
//!
//! Written by every instance that serves, removed on every orderly exit, left behind by a killed one and swept by the
//! next start. It carries the event tokens and is therefore the owner's alone; the focus token is never in it.

use super::health::{Health, probe_within};
use crate::config::{STATE_READ_CAP_BYTES, SWEEP_PROBE_TIMEOUT_SEC};
use crate::surface::bind::port_free;
use crate::surface::process::alive;
use crate::surface::write::Place;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};
use std::io;
use std::time::Duration;

/// What an instance records of itself.
#[derive(Clone, Debug)]
pub struct Instance<'a> {
    /// Its process.
    pub pid: u32,
    /// Its port.
    pub port: u16,
    /// Its start stamp, seconds since the epoch.
    pub started: f64,
    /// Path of the log a detached run writes.
    pub log: String,
    /// Path of its executable; published as `python`, the name readers know.
    pub executable: String,
    /// Whether command-shape reports are taken.
    pub irreversible_enabled: bool,
    /// Event token of each harness; `None` when no events are taken.
    pub capabilities: Option<&'a [(&'static str, String)]>,
    /// Its bind address.
    pub host: &'static str,
}

impl Serialize for Instance<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Tokens<'a>(&'a [(&'static str, String)]);
        impl Serialize for Tokens<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|(harness, token)| (harness, token)))
            }
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("pid", &self.pid)?;
        map.serialize_entry("port", &self.port)?;
        map.serialize_entry("started", &self.started)?;
        map.serialize_entry("log", &self.log)?;
        map.serialize_entry("python", &self.executable)?;
        map.serialize_entry("irreversible_enabled", &self.irreversible_enabled)?;
        map.serialize_entry("host", self.host)?;
        map.serialize_entry("version", env!("CARGO_PKG_VERSION"))?;
        if let Some(tokens) = self.capabilities {
            map.serialize_entry("capabilities", &Tokens(tokens))?;
        }
        map.end()
    }
}

/// Name of a port's state file.
pub fn file_name(port: u16) -> String {
    format!("cargento-{port}.json")
}

/// Records an instance.
pub fn write(place: &Place, instance: &Instance<'_>) -> io::Result<()> {
    place.replace(&file_name(instance.port), &serde_json::to_vec(instance)?)
}

/// Removes a port's record; one that is not there is no error.
pub fn remove(place: &Place, port: u16) -> io::Result<bool> {
    place.remove(&file_name(port))
}

/// A port's record. Missing, too long, not JSON (also for its depth) or no object: no record (STATE-008).
pub fn read(place: &Place, port: u16) -> Option<Map<String, Value>> {
    let bytes = place.read(&file_name(port), STATE_READ_CAP_BYTES).ok()??;
    match serde_json::from_slice(&bytes).ok()? {
        Value::Object(record) => Some(record),
        _ => None,
    }
}

/// The process a record names.
pub fn pid(record: &Map<String, Value>) -> Option<u32> {
    u32::try_from(record.get("pid")?.as_u64()?).ok()
}

/// The event token a record holds for a harness (HOOK-008).
pub fn token<'a>(record: &'a Map<String, Value>, harness: &str) -> Option<&'a str> {
    record.get("capabilities")?.get(harness)?.as_str().filter(|token| !token.is_empty())
}

/// Removes what killed instances left behind: their state files and half-written files. A file goes only when nobody
/// answers on its port, the port can be bound, and its process is gone; anything unclear stays (STATE-010).
pub fn sweep(place: &Place) {
    let Ok(entries) = std::fs::read_dir(place.root()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if let Some((name, port)) = name.to_str().and_then(|name| Some((name, port_of(name)?)))
            && stale(place, port)
        {
            let _ = place.remove(name);
        }
    }
    for folder in [None, Some("observer"), Some("reading-jobs")] {
        place.sweep(folder, &alive);
    }
}

/// The port of a state file's name.
fn port_of(name: &str) -> Option<u16> {
    let digits = name.strip_prefix("cargento-")?.strip_suffix(".json")?;
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok())?.filter(|port| *port > 0)
}

fn stale(place: &Place, port: u16) -> bool {
    probe_within(port, Duration::from_secs_f64(SWEEP_PROBE_TIMEOUT_SEC)) == Health::Closed
        && port_free(port)
        && !read(place, port).as_ref().and_then(pid).is_some_and(alive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::write::Temporary;
    use std::net::TcpListener;

    fn scratch() -> Temporary {
        Temporary::create(&std::env::temp_dir(), "cargento-instance-test").unwrap()
    }

    fn free_port() -> u16 {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
    }

    fn instance<'a>(port: u16, capabilities: Option<&'a [(&'static str, String)]>) -> Instance<'a> {
        Instance {
            pid: 41213,
            port,
            started: 1_790_000_000.0,
            log: "/h/.cargento/cargento-4553.log".into(),
            executable: "/usr/bin/cargento".into(),
            irreversible_enabled: true,
            capabilities,
            host: "127.0.0.1",
        }
    }

    /// STATE-005.
    #[test]
    fn state_005_what_is_recorded() {
        let home = scratch();
        let tokens = [("codex", "b".repeat(64)), ("claude", "a".repeat(64))];
        write(home.place(), &instance(4553, Some(&tokens))).unwrap();
        let text = String::from_utf8(home.place().read("cargento-4553.json", 9999).unwrap().unwrap()).unwrap();
        assert!(text.contains("\"started\":1790000000.0"), "a float stays one: {text}");
        let record = read(home.place(), 4553).unwrap();
        assert_eq!((pid(&record), record["port"].as_u64()), (Some(41213), Some(4553)));
        assert_eq!(token(&record, "claude"), Some("a".repeat(64).as_str()));
        assert_eq!(token(&record, "pi"), None);
        write(home.place(), &instance(4553, None)).unwrap();
        let record = read(home.place(), 4553).unwrap();
        assert!(!record.contains_key("capabilities") && token(&record, "claude").is_none());
        assert!(remove(home.place(), 4553).unwrap() && !remove(home.place(), 4553).unwrap());
    }

    /// STATE-008.
    #[test]
    fn state_008_what_is_no_record() {
        let home = scratch();
        assert!(read(home.place(), 1).is_none());
        for bytes in
            [b"".to_vec(), b"[]".to_vec(), b"{".to_vec(), vec![b'['; 60_000], vec![b' '; STATE_READ_CAP_BYTES + 1]]
        {
            home.place().replace("cargento-1.json", &bytes).unwrap();
            assert!(read(home.place(), 1).is_none(), "{} bytes", bytes.len());
        }
        home.place().replace("cargento-1.json", br#"{"pid":true}"#).unwrap();
        assert_eq!(pid(&read(home.place(), 1).unwrap()), None);
    }

    /// STATE-010.
    #[test]
    fn state_010_the_sweep_takes_stale_files_alone() {
        let home = scratch();
        let held = TcpListener::bind("127.0.0.1:0").unwrap();
        let (dead, bare, live, taken) = (free_port(), free_port(), free_port(), held.local_addr().unwrap().port());
        let own = std::process::id();
        let files = [
            (file_name(dead), "{\"pid\":4294967294}".to_owned()),
            (file_name(bare), "{}".to_owned()),
            (file_name(live), format!("{{\"pid\":{own}}}")),
            (file_name(taken), "{\"pid\":4294967294}".to_owned()),
            ("cargento-0.json".to_owned(), "{}".to_owned()),
            ("cargento-99999.json".to_owned(), "{}".to_owned()),
            ("cargento-notes.json".to_owned(), "{}".to_owned()),
            ("cargento-.json".to_owned(), "{}".to_owned()),
            (format!("cargento-{dead}.log"), "x".to_owned()),
            (format!("cargento-history.json.{own}.0123abcd.tmp"), "x".to_owned()),
            ("cargento-history.json.4294967294.0123abcd.tmp".to_owned(), "x".to_owned()),
        ];
        for (name, text) in &files {
            home.place().replace(name, text.as_bytes()).unwrap();
        }
        sweep(home.place());
        let gone: Vec<_> = files.iter().filter(|(name, _)| !home.place().path(name).exists()).map(|(n, _)| n).collect();
        assert_eq!(gone, [&files[0].0, &files[1].0, &files[10].0]);
        sweep(&Place::state(&home.place().root().join("nowhere")));
        drop(held);
    }
}
