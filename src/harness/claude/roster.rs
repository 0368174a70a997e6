//! The teams registry: members a lead has dispatched, and which of them never began (CLAUDE-070..078).
//!
//! A roster is no heartbeat: that a member stands on it claims nothing about whether it runs. What a member was told
//! (`prompt`) is passed over unread.

use super::cache::Kept;
use super::record::Lenient;
use super::store::TEAM_PREFIX;
use crate::config::{SUBAGENT_NAME_CAP_CHARS, WORKING_THRESHOLD_SEC};
use crate::harness::line::{self, Field};
use crate::harness::tree::File;
use crate::model::time::{age, fresh};
use crate::surface::read;
use crate::text::{json, safe_text};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::fmt;
use std::path::Path;

/// Longest registry that is read, bytes.
const FILE_BYTES: u64 = 2 * 1024 * 1024;
/// Most members taken from one registry.
const MEMBERS: usize = 1_000;
/// Longest agent id kept, bytes.
const ID_BYTES: usize = 1_000;
/// The lead itself, as it stands on its own roster.
const LEAD: &str = "team-lead";
/// A number above this is milliseconds (CLAUDE-072).
const MILLISECONDS_ABOVE: f64 = 1e11;

/// A member of a team.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    id: Box<str>,
    label: Box<str>,
    /// `None` where the registry names no time: the file's own is used.
    joined: Option<f64>,
    /// The registry says that it stopped.
    stopped: bool,
}

/// The registries read so far; `None` for a file that holds none.
pub type Rosters = Kept<Option<Vec<Member>>>;

/// A member that was dispatched and never began.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    pub label: String,
    pub joined: f64,
}

/// The members of a registry; none when it is no registry or cannot be read.
pub fn read<'r>(rosters: &'r mut Rosters, path: &Path, file: &File, now: f64) -> (&'r [Member], Option<&'r str>) {
    let read = |members: &mut Option<Vec<Member>>| {
        *members = parse(&read::whole(path, FILE_BYTES)?);
        Ok(())
    };
    match rosters.look(path, file.stamp, now, || None, read).parts() {
        Some((members, why)) => (members.as_deref().unwrap_or_default(), why),
        None => (&[], None),
    }
}

impl Member {
    /// This member as one that never began, when it is one: known to have joined more than 90 s ago and within the
    /// window, not known to have stopped, and without a transcript (CLAUDE-074).
    pub fn pending(&self, file: &File, now: f64, window: f64, began: impl Fn(&[&str]) -> bool) -> Option<Pending> {
        let joined = self.joined.unwrap_or_else(|| file.stamp.mtime());
        let due = age(joined, now).is_some_and(|a| a > WORKING_THRESHOLD_SEC) && fresh(joined, window, now);
        let bare = self.id.split('@').next().unwrap_or_default();
        if self.stopped || !due || began(&[&self.id, &self.label, bare]) {
            return None;
        }
        Some(Pending { label: safe_text(&self.label, SUBAGENT_NAME_CAP_CHARS).into_owned(), joined })
    }
}

/// The name a transcript carries for a member, without its team (`<name>@session-<key>`).
pub fn without_team<'n>(name: &'n str, key: &str) -> &'n str {
    match name.rsplit_once('@') {
        Some((bare, team)) if team.strip_prefix(TEAM_PREFIX) == Some(key) => bare,
        _ => name,
    }
}

#[derive(Deserialize)]
struct Registry<'a> {
    #[serde(borrow, default)]
    members: Members<'a>,
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow, default, rename = "agentId")]
    id: Field<'a>,
    #[serde(borrow, default)]
    name: Field<'a>,
    #[serde(borrow, default, rename = "joinedAt")]
    joined: Field<'a>,
    #[serde(borrow, default, rename = "isActive")]
    active: Field<'a>,
}

fn parse(bytes: &[u8]) -> Option<Vec<Member>> {
    let text = json::record(bytes)?;
    let registry: Registry = serde_json::from_str(&text).ok()?;
    Some(registry.members.0.iter().filter_map(member).collect())
}

fn member(entry: &Entry<'_>) -> Option<Member> {
    let id = line::nonempty(entry.id).filter(|id| id.len() <= ID_BYTES)?;
    let bare = id.split('@').next().unwrap_or_default();
    let label = line::nonempty(entry.name).unwrap_or_else(|| bare.into());
    if label == LEAD {
        return None;
    }
    let joined = line::number(entry.joined).filter(|n| *n > 0.0);
    Some(Member {
        label: label.chars().take(ID_BYTES).collect(),
        joined: joined.map(|n| if n > MILLISECONDS_ABOVE { n / 1000.0 } else { n }),
        stopped: entry.active.is_some_and(|raw| raw.get() == "false"),
        id: Box::from(&*id),
    })
}

/// A bounded list of members; odd elements are passed over.
#[derive(Default)]
struct Members<'a>(Vec<Entry<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(List)
    }
}

struct List;

impl<'de> Visitor<'de> for List {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of members")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while found.len() < MEMBERS {
            let Some(entry) = list.next_element::<Lenient<Entry<'de>>>()? else { return Ok(Members(found)) };
            found.extend(entry.0);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Members(found))
    }
}
