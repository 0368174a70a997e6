//! The report itself, as text and as JSON; knows nothing of how it was made.

use super::stores::{Candidate, Store};
use crate::board::HarnessStatus;
use crate::harness::about::about;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::fmt::Write as _;

/// Everything `--diagnose` says.
#[derive(Clone, Debug)]
pub(super) struct Report {
    pub platform: &'static str,
    pub version: &'static str,
    pub executable: String,
    pub home: String,
    pub sqlite: Sqlite,
    /// Relocation variables that are set, name and value.
    pub overrides: Vec<(String, String)>,
    /// Path and `<Type>: <message>`, of this run.
    pub store_errors: Vec<(String, String)>,
    pub stores: Vec<Store>,
    pub harnesses: Vec<Harness>,
    pub tripwires: Tripwires,
}

/// The database reader.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Sqlite {
    pub available: bool,
    pub error: Option<String>,
    pub version: &'static str,
}

/// One harness as the board publishes it, and how many sessions were found.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Harness {
    #[serde(flatten)]
    pub status: HarnessStatus,
    pub sessions: usize,
    /// What is left out by decision, so that its absence is no riddle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

impl Harness {
    pub(super) const fn new(status: HarnessStatus, sessions: usize) -> Self {
        let note = if status.discovered { about(status.key).note } else { None };
        Self { status, sessions, note }
    }
}

/// The stage-condition store.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Tripwires {
    pub path: String,
    pub error: Option<String>,
}

/// Pairs as an object that keeps their order.
struct Pairs<'a, V>(&'a [(String, V)]);

impl<V: Serialize> Serialize for Pairs<'_, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stores: Vec<(String, &Store)> = self.stores.iter().map(|store| (store.key.to_owned(), store)).collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("platform", self.platform)?;
        // The key readers know; it holds the version of this build.
        map.serialize_entry("python", self.version)?;
        map.serialize_entry("version", self.version)?;
        map.serialize_entry("executable", &self.executable)?;
        map.serialize_entry("home", &self.home)?;
        map.serialize_entry("sqlite", &self.sqlite)?;
        map.serialize_entry("env", &Pairs(&self.overrides))?;
        map.serialize_entry("store_errors", &Pairs(&self.store_errors))?;
        map.serialize_entry("stores", &Pairs(&stores))?;
        map.serialize_entry("harnesses", &self.harnesses)?;
        map.serialize_entry("tripwires", &self.tripwires)?;
        map.end()
    }
}

impl Report {
    /// One object, two-space indent.
    pub(super) fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// For a person: ASCII but for the paths.
    pub(super) fn text(&self) -> String {
        let mut page = String::from("Cargento diagnostics\n\n");
        let overrides: Vec<_> = self.overrides.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let overrides = if overrides.is_empty() { "none".into() } else { overrides.join(", ") };
        let sqlite = match &self.sqlite.error {
            None => format!("available, {}", self.sqlite.version),
            Some(error) => format!("not available: {}", ascii(error)),
        };
        let _ = write!(
            page,
            "platform: {} (cargento {})\nexecutable: {}\nhome: {}\nsqlite: {sqlite}\noverrides: {overrides}\n",
            self.platform, self.version, self.executable, self.home
        );
        page.push_str("\nHarnesses\n");
        for harness in &self.harnesses {
            harness.line(&mut page);
        }
        if !self.store_errors.is_empty() {
            page.push_str("\nStores that failed to open or query\n");
            for (path, error) in &self.store_errors {
                let _ = writeln!(page, "  {path}: {}", ascii(error));
            }
        }
        page.push_str("\nStores searched (in order)\n");
        for store in &self.stores {
            let _ = writeln!(page, "  {}", store.key);
            for candidate in &store.candidates {
                candidate.line(&mut page);
            }
        }
        let state = self.tripwires.error.as_deref().map_or_else(|| "ok".into(), ascii);
        let _ = writeln!(page, "\nStage conditions: {} ({state})", self.tripwires.path);
        page
    }
}

impl Harness {
    fn line(&self, page: &mut String) {
        let status = &self.status;
        let label = status.label;
        if status.discovered {
            let _ = writeln!(page, "  {} {label}: {} session(s)", mark(true), self.sessions);
        } else {
            let _ = writeln!(page, "  {} {label}: not discovered", mark(false));
        }
        if let Some(error) = &status.error {
            let _ = writeln!(page, "         {}", ascii(error));
        }
        for degrade in &status.degrades {
            let count = degrade.count.map(|n| format!(", {n} of them")).unwrap_or_default();
            let usual = || format!("{} in {}{count}", degrade.code.as_str(), degrade.source);
            let words = (about(status.key).words)(degrade).unwrap_or_else(usual);
            let _ = writeln!(page, "         {}", ascii(&words));
        }
        if let Some(note) = self.note {
            let _ = writeln!(page, "         {note}");
        }
    }
}

impl Candidate {
    fn line(&self, page: &mut String) {
        let mut what = self.kind.to_owned();
        if let Some(entries) = self.entries {
            let _ = write!(what, ", {entries} entries");
        }
        if !self.readable && matches!(self.kind, "directory" | "file") {
            what.push_str(", NOT READABLE");
        }
        if let Some(error) = &self.error {
            let _ = write!(what, ", {}", ascii(error));
        }
        let _ = writeln!(page, "    {} {} ({what})", mark(self.readable), self.path);
    }
}

const fn mark(ok: bool) -> &'static str {
    if ok { "[ok  ]" } else { "[  --]" }
}

/// One line of ASCII: what a store or a system said may hold anything.
fn ascii(text: &str) -> String {
    text.chars()
        .flat_map(|c| match c {
            ' '..='~' => c.to_string().chars().collect::<Vec<_>>(),
            _ => c.escape_default().collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Code, Degrade, Key};

    fn report() -> Report {
        let mut goose = HarnessStatus::new(Key::Goose, true);
        goose.error = Some("DatabaseError: néw\nline".into());
        goose.degrades = vec![Degrade { code: Code::RecordSkipped, source: "goose.db".into(), count: Some(3) }];
        let mut codex = HarnessStatus::new(Key::Codex, true);
        let degrade = |code, count| Degrade { code, source: "codex.sessions".into(), count };
        codex.degrades = vec![degrade(Code::RecordSkipped, Some(4)), degrade(Code::ReadInPart, None)];
        let candidate = |kind, readable, entries, error: Option<&str>| Candidate {
            path: format!("/h/{kind}"),
            kind,
            readable,
            entries,
            error: error.map(str::to_owned),
        };
        Report {
            platform: "linux",
            version: "9.9",
            executable: "/usr/bin/cargento".into(),
            home: "/home/ü".into(),
            sqlite: Sqlite { available: true, error: None, version: "3.50.0" },
            overrides: Vec::new(),
            store_errors: vec![("/h/b.db".into(), "DatabaseError: no".into())],
            stores: vec![
                Store {
                    key: "droid.projects",
                    primary: "/h/directory".into(),
                    candidates: vec![
                        candidate("directory", true, Some(12), None),
                        candidate("directory", false, None, Some("Permission denied")),
                        candidate("missing", false, None, None),
                    ],
                },
                Store { key: "claude.teams", primary: String::new(), candidates: Vec::new() },
            ],
            harnesses: vec![
                Harness::new(HarnessStatus::new(Key::Claude, true), 3),
                Harness::new(codex, 2),
                Harness::new(HarnessStatus::new(Key::Pi, false), 0),
                Harness::new(goose, 0),
            ],
            tripwires: Tripwires { path: "/h/cargento-tripwires.json".into(), error: None },
        }
    }

    /// DIAG-004, DIAG-006, DECK-020, FIELD-004, CODEX-047: a harness's own words stand in place of code and source.
    #[test]
    fn diag_004_the_text_form() {
        let want = "\
Cargento diagnostics

platform: linux (cargento 9.9)
executable: /usr/bin/cargento
home: /home/ü
sqlite: available, 3.50.0
overrides: none

Harnesses
  [ok  ] Claude: 3 session(s)
  [ok  ] Codex: 2 session(s)
         codex: 4 lines skipped
         read-in-part in codex.sessions
         codex: archived threads are not read
  [  --] Pi: not discovered
  [ok  ] Goose: 0 session(s)
         DatabaseError: n\\u{e9}w\\nline
         record-skipped in goose.db, 3 of them

Stores that failed to open or query
  /h/b.db: DatabaseError: no

Stores searched (in order)
  droid.projects
    [ok  ] /h/directory (directory, 12 entries)
    [  --] /h/directory (directory, NOT READABLE, Permission denied)
    [  --] /h/missing (missing)
  claude.teams

Stage conditions: /h/cargento-tripwires.json (ok)
";
        assert_eq!(report().text(), want);
        let mut quiet = report();
        quiet.store_errors.clear();
        assert!(!quiet.text().contains("failed to open"));
    }

    /// DIAG-002.
    #[test]
    fn diag_002_the_json_form_keeps_order_and_indent() {
        let text = report().json();
        assert!(text.starts_with("{\n  \"platform\": \"linux\",\n  \"python\": \"9.9\",\n"));
        let at = |key: &str| text.find(&format!("\n  \"{key}\": ")).unwrap_or_else(|| panic!("{key} in {text}"));
        let keys = ["executable", "home", "sqlite", "env", "store_errors", "stores", "harnesses", "tripwires"];
        assert!(keys.windows(2).all(|pair| at(pair[0]) < at(pair[1])));
        assert!(text.find("droid.projects") < text.find("claude.teams"));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let first = &value["stores"]["droid.projects"]["candidates"][0];
        assert_eq!(first.as_object().unwrap().len(), 4, "no error member without an error");
        assert_eq!(value["harnesses"][0]["sessions"], 3);
        assert_eq!(value["harnesses"][0]["label"], "Claude");
    }
}
