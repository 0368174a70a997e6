//! Rows of invented stores, shaped as OpenCode 1.18.30 makes them, and the ways such a store fails.

mod rows;
mod stores;
mod written;

use super::*;
use crate::harness::sql::support::{codes, collect, owner, published, row, sids};
use crate::harness::testkit::{Scratch, WINDOW};
use crate::model::{Observed, State};
use rusqlite::Connection;

const STORE_SQL: &str = include_str!("../../../../fixtures/opencode/1.18.30/store.sql");
const PARENT: &str = "ses_7a1bfe2c3ffeK3m9QeW2xTzv01";
/// Five seconds after the fixture's last write.
const NOW: f64 = 1_789_900_005.0;
const MS: i64 = 1_789_900_000_000;

struct Home {
    dir: Scratch,
    reader: OpenCode,
}

impl Home {
    fn new(name: &str) -> Home {
        let dir = Scratch::new(&format!("opencode-{name}"));
        let reader = OpenCode::new(vec![dir.0.join("data")], "/home/dev".into());
        Home { dir, reader }
    }

    fn db(&self, name: &str) -> PathBuf {
        self.dir.0.join("data").join(name)
    }

    /// The fixture, with more statements run on it.
    fn store(&self, more: &str) -> Connection {
        owner(&self.db("opencode.db"), &format!("{STORE_SQL}\n{more}"))
    }

    /// The fixture's tables without its rows.
    fn empty(&self, more: &str) -> Connection {
        self.store(&format!("DELETE FROM session; DELETE FROM message; DELETE FROM part;\n{more}"))
    }

    fn pass(&mut self, now: f64, all: bool) -> Collected {
        collect(&mut self.reader, now, all)
    }

    fn now(&mut self) -> Collected {
        self.pass(NOW, false)
    }

    /// What a reader that knows nothing finds.
    fn cold(&self, now: f64, all: bool) -> Collected {
        collect(&mut OpenCode::new(vec![self.dir.0.join("data")], "/home/dev".into()), now, all)
    }
}

/// A session row `n`, last written `age` seconds before [`NOW`].
fn session(n: u32, age: i64, more: &str) -> String {
    let stamp = NOW as i64 * 1000 - age * 1000;
    let set = if more.is_empty() { String::new() } else { format!("UPDATE session SET {more} WHERE id = 'ses_{n}';") };
    format!(
        "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) \
         VALUES ('ses_{n}', 'p', 's', '/home/dev/src/atlas', 'Title {n}', '1', 0, {stamp}); {set}"
    )
}

fn message(id: &str, n: u32, at: i64, data: &str) -> String {
    format!("INSERT INTO message VALUES ('{id}', 'ses_{n}', {}, 0, '{data}');", MS + at * 1000)
}

fn part(id: &str, of: &str, data: &str) -> String {
    format!("INSERT INTO part VALUES ('{id}', '{of}', '', 0, 0, '{data}');")
}

const USER: &str = r#"{"role":"user"}"#;
const ASSISTANT: &str = r#"{"role":"assistant","modelID":"from-message"}"#;
