//! The billing ledger: what was charged, to which session, by which model (COP-022 to COP-029).
//!
//! One table of `session-store.db` is read, five columns of it, at most 5,001 rows. What it holds is kept compact and
//! judged again with each clock, since rows leave the display window without the file changing.

use crate::config::MODEL_CAP_CHARS;
use crate::harness::Pass;
use crate::harness::pause::Pause;
use crate::harness::sql;
use crate::model::time::{age, parse_iso};
use crate::model::{Code, Degrade};
use crate::surface::sqlite::{self, Moved, PATIENCE, StoreError, ValueRef};
use crate::text::safe::{diagnostic, safe_name};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Most rows that may count. One more is read, which tells that there are more.
const ROWS: usize = 5000;
/// Most read of a text cell, bytes.
const TEXT_BYTES: usize = 512;
/// Billionths of an AI unit in one.
const NANO: f64 = 1e9;

const NEWEST_ROWS: &str = "SELECT session_id, agent_id, model, total_nano_aiu, created_at \
    FROM assistant_usage_events ORDER BY id DESC LIMIT 5001";

/// Follows the ledger.
pub struct Ledger {
    path: PathBuf,
    moved: Option<Moved>,
    book: Result<Book, Unread>,
    /// When the book was read, seconds since the epoch.
    read_at: f64,
    /// What stands in the way of a newer one, for the time being.
    obstacle: Option<StoreError>,
    pause: Pause,
}

/// Why there is no book.
enum Unread {
    /// There is no ledger, which is no fault.
    Absent,
    /// It could not be opened.
    Closed(StoreError),
    /// It was opened and could not be read.
    Unreadable(StoreError),
}

/// The rows, newest first.
#[derive(Default)]
struct Book {
    rows: Vec<Charge>,
    sessions: HashMap<String, u32>,
    /// By session: the model of its newest own row.
    models: HashMap<u32, Option<String>>,
}

struct Charge {
    /// Seconds since the epoch; `None` when it does not say.
    at: Option<f64>,
    /// Billionths of an AI unit; `None` when it is no amount.
    amount: Option<u64>,
    session: Option<u32>,
}

/// What the ledger says at one time.
pub struct Account<'a> {
    book: &'a Book,
    /// Charges by session, as far as they are known.
    sessions: Vec<Spent>,
    /// The figure of all sessions and of none.
    total: Option<Consumption>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Spent {
    #[default]
    Nothing,
    Nano(u64),
    /// A row that names the session could not be placed or counted.
    Unknown,
}

/// What was consumed inside the display window, over all sessions (COP-028).
#[derive(Clone, Debug, PartialEq)]
pub struct Consumption {
    /// Newest counted row, whole seconds since the epoch.
    pub as_of: i64,
    /// The sum with its unit: `12.34 AIU`.
    pub used: String,
}

impl Ledger {
    /// The ledger at `path`; nothing is read before [`Ledger::refresh`].
    pub fn new(path: PathBuf) -> Ledger {
        Ledger { path, moved: None, book: Err(Unread::Absent), read_at: 0.0, obstacle: None, pause: Pause::default() }
    }

    /// Reads it again if it changed, or if it failed and the pause is over.
    pub fn refresh(&mut self, now: f64) {
        let moved = sqlite::stamps(&self.path);
        let over = self.pause.is_over(now);
        // A lock leaves no trace when it goes, and a ledger that is written under one is not tried at every write.
        let due = if self.is_held() { over } else { self.moved != Some(moved) || (self.pause.is_failing() && over) };
        if !due {
            return;
        }
        self.moved = Some(moved);
        self.obstacle = None;
        match read(&self.path) {
            // What was read before still stands while its owner holds it; no figure vanishes for that.
            Err(Unread::Unreadable(error)) if error.passes() && self.book.is_ok() => {
                self.obstacle = Some(error);
                self.pause.failed(now);
            }
            book => {
                match book {
                    Ok(_) | Err(Unread::Absent) => self.pause = Pause::default(),
                    Err(_) => self.pause.failed(now),
                }
                self.book = book;
                self.read_at = now;
            }
        }
    }

    fn is_held(&self) -> bool {
        self.obstacle.is_some() || matches!(&self.book, Err(Unread::Unreadable(error)) if error.passes())
    }

    /// What it says now; `None` when there is none, when rows that were not read may hold any amount (COP-025), or when
    /// it could not be read for longer than a display window.
    pub fn account(&self, pass: &Pass<'_>) -> Option<Account<'_>> {
        let book = self.book.as_ref().ok()?;
        let stands = self.obstacle.is_none() || pass.now - self.read_at <= pass.window;
        (stands && book.covers(pass)).then(|| book.account(pass))
    }

    /// Why an account was due and could not be given, or only an older one, so that rows have to say so (COP-029).
    pub fn gap(&self, pass: &Pass<'_>) -> Option<Code> {
        match (&self.book, &self.obstacle) {
            (_, Some(error)) | (Err(Unread::Unreadable(error)), None) => Some(error.code()),
            (Ok(book), None) => (!book.covers(pass)).then_some(Code::ReadInPart),
            (Err(_), None) => None,
        }
    }

    /// Names what could not be read.
    pub fn tell(&self, pass: &Pass<'_>, errors: &mut Vec<(String, String)>, degrades: &mut Vec<Degrade>) {
        let error = match (&self.book, &self.obstacle) {
            (_, Some(error)) | (Err(Unread::Closed(error) | Unread::Unreadable(error)), None) => Some(error),
            _ => None,
        };
        if let Some(error) = error {
            errors.push((self.path.to_string_lossy().into_owned(), diagnostic(&error.to_string())));
        }
        if let Some(code) = error.map(StoreError::code).or_else(|| self.gap(pass)) {
            degrades.push(Degrade { code, source: super::names::LEDGER.into(), count: None });
        }
    }
}

fn read(path: &Path) -> Result<Book, Unread> {
    let mut opened = false;
    let read = sql::snapshot(path, PATIENCE, |db| {
        opened = true;
        let mut book = Book::default();
        // The statement names every column it needs, so preparing it asserts them, in SQLite's own words.
        db.rows(NEWEST_ROWS, &[], |row| {
            book.enter(&[row.get_ref(0)?, row.get_ref(1)?, row.get_ref(2)?, row.get_ref(3)?, row.get_ref(4)?]);
            Ok(true)
        })?;
        book.rows.shrink_to_fit();
        Ok(book)
    });
    match read {
        Ok((book, _)) => Ok(book),
        Err(StoreError::Missing) => Err(Unread::Absent),
        Err(error @ StoreError::Unreadable(_)) if !opened => Err(Unread::Closed(error)),
        // SQLite opens any file and refuses it at the first statement; our open asks that statement at once.
        Err(error) => Err(Unread::Unreadable(error)),
    }
}

impl Book {
    /// Takes up a row: session, agent, model, amount, time.
    fn enter(&mut self, [session, agent, model, charge, at]: &[ValueRef<'_>; 5]) {
        let session = sqlite::text(*session, TEXT_BYTES).filter(|sid| !sid.is_empty()).map(|sid| {
            let next = self.sessions.len() as u32;
            *self.sessions.entry(sid).or_insert(next)
        });
        if let Some(session) = session {
            self.name(session, *agent, *model);
        }
        let at = sqlite::text(*at, TEXT_BYTES).and_then(|at| parse_iso(&at.replace(' ', "T")));
        self.rows.push(Charge { at, amount: amount(*charge), session });
    }

    /// Takes the model of a session's newest own row; no older row replaces one that is unusable (COP-027).
    fn name(&mut self, session: u32, agent: ValueRef<'_>, model: ValueRef<'_>) {
        let blank = || sqlite::text(agent, TEXT_BYTES).is_some_and(|agent| agent.trim().is_empty());
        // Rows come newest first: the first own one is the newest.
        if !self.models.contains_key(&session) && (agent == ValueRef::Null || blank()) {
            let model = sqlite::text(model, TEXT_BYTES).and_then(|model| safe_name(&model, MODEL_CAP_CHARS));
            self.models.insert(session, model);
        }
    }

    /// Whether every row of the window was read: all there are, or one beyond it.
    fn covers(&self, pass: &Pass<'_>) -> bool {
        self.rows.len() <= ROWS || self.rows.iter().any(|row| row.place(pass) == Place::Beyond)
    }

    fn account(&self, pass: &Pass<'_>) -> Account<'_> {
        let mut sessions = vec![Spent::default(); self.sessions.len()];
        let (mut total, mut newest) = (Some(0u64), None::<f64>);
        for row in &self.rows {
            let counted = match row.place(pass) {
                Place::Beyond => continue,
                Place::Within(at) => row.amount.map(|amount| (at, amount)),
                Place::Unknown => None,
            };
            total = total.zip(counted).map(|(total, (_, amount))| total.saturating_add(amount));
            if let Some((at, _)) = counted {
                newest = Some(newest.map_or(at, |newest| newest.max(at)));
            }
            if let Some(spent) = row.session.and_then(|n| sessions.get_mut(n as usize)) {
                *spent = match (*spent, counted) {
                    (Spent::Unknown, _) | (_, None) => Spent::Unknown,
                    (Spent::Nothing, Some((_, amount))) => Spent::Nano(amount),
                    (Spent::Nano(sum), Some((_, amount))) => Spent::Nano(sum.saturating_add(amount)),
                };
            }
        }
        let total = total.zip(newest).map(|(nano, at)| Consumption { as_of: at as i64, used: units(nano) });
        Account { book: self, sessions, total }
    }
}

#[derive(PartialEq)]
enum Place {
    Within(f64),
    Beyond,
    Unknown,
}

impl Charge {
    fn place(&self, pass: &Pass<'_>) -> Place {
        match self.at {
            Some(at) if pass.in_window(at) => Place::Within(at),
            Some(at) if age(at, pass.now).is_some() => Place::Beyond,
            _ => Place::Unknown,
        }
    }
}

impl Account<'_> {
    /// The charge of a session with its unit; a real zero only for one that is active (COP-026).
    pub fn consumption(&self, sid: &str, active: bool) -> Option<String> {
        let spent = self.book.sessions.get(sid).and_then(|n| self.sessions.get(*n as usize));
        match spent.copied().unwrap_or_default() {
            Spent::Nano(nano) => Some(units(nano)),
            Spent::Nothing => active.then(|| units(0)),
            Spent::Unknown => None,
        }
    }

    /// The model of a session, `None` when it was not read.
    pub fn model(&self, sid: &str) -> Option<&str> {
        let session = self.book.sessions.get(sid)?;
        self.book.models.get(session)?.as_deref()
    }

    /// The figure of everything together, when every row of the window could be counted and there is one.
    pub fn total(&self) -> Option<&Consumption> {
        self.total.as_ref()
    }
}

/// An amount that is stored as a number of at least 0, its fraction dropped (COP-023).
fn amount(cell: ValueRef<'_>) -> Option<u64> {
    match cell {
        ValueRef::Integer(n) => u64::try_from(n).ok(),
        ValueRef::Real(n) if n.is_finite() && n >= 0.0 => Some(n as u64),
        _ => None,
    }
}

fn units(nano: u64) -> String {
    format!("{:.2} AIU", nano as f64 / NANO)
}
