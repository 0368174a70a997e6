//! The members a session works with: subagents in its folder, teammates with transcripts of their own, and the
//! teammates' own subagents (section 4).

use super::cache::Kept;
use super::head::Head;
use super::survey::{Agent, Group, Top};
use super::transcript::{Child, Limits};
use crate::config::{RATE_WINDOW_SEC, SUBAGENT_NAME_CAP_CHARS, WORKING_THRESHOLD_SEC};
use crate::harness::line::{self, Field};
use crate::model::Subagent;
use crate::model::time::fresh;
use crate::surface::read::{self, Stamp};
use crate::text::{json, safe_text};
use serde::Deserialize;
use std::path::Path;

/// Longest sidecar that is read, bytes.
const META_BYTES: u64 = 65_536;
/// Most quiet members listed of one session (CLAUDE-069).
const QUIET_LISTED: usize = 50;
/// Name of a member that has none.
const NAMELESS: &str = "subagent";

/// A teammate: a transcript of its own that names its session's team.
#[derive(Clone, Debug)]
pub struct Mate {
    pub top: Top,
    pub head: Head,
}

/// A member as listed, and what it counts for.
#[derive(Debug)]
pub struct Member {
    pub subagent: Subagent,
    mtime: f64,
    /// Output tokens a minute.
    pub rate: u64,
    running: bool,
}

/// The caches members are read through.
pub struct Readers<'c> {
    pub heads: &'c mut Kept<Head>,
    pub children: &'c mut Kept<Child>,
    pub labels: &'c mut Kept<Option<Box<str>>>,
    pub now: f64,
    pub limits: Limits,
}

/// Everyone a session works with.
#[derive(Debug, Default)]
pub struct Family {
    pub members: Vec<Member>,
    /// Quiet members left out of the list.
    pub omitted: u32,
    /// Files that could not be read: path, reason.
    pub errors: Vec<(String, String)>,
}

impl Family {
    /// The members of one session: `own` are its subagents, `mates` its teammates with their subagents.
    pub fn gather(own: &[Agent], mates: &[(&Mate, &[Agent])], readers: &mut Readers<'_>) -> Family {
        let mut family = Family::default();
        for agent in own {
            let member = family.agent(agent, None, readers);
            family.members.extend(member);
        }
        for (mate, agents) in mates {
            let member = family.mate(mate, readers);
            let label = member.subagent.name.clone();
            family.members.push(member);
            // Only the session's own quiet members are kept on the list (CLAUDE-061).
            let now = readers.now;
            for agent in agents.iter().filter(|a| is_running(a.stamp, now)) {
                let member = family.agent(agent, Some(&label), readers);
                family.members.extend(member);
            }
        }
        family.bound();
        family
    }

    /// How many members run.
    pub fn running(&self) -> usize {
        self.members.iter().filter(|m| m.running).count()
    }

    /// What all members together generate, tokens a minute (CLAUDE-057).
    pub fn rate(&self) -> u64 {
        self.members.iter().fold(0, |sum, m| sum.saturating_add(m.rate))
    }

    fn agent(&mut self, agent: &Agent, parent: Option<&str>, readers: &mut Readers<'_>) -> Option<Member> {
        let name = agent.meta.and_then(|stamp| self.label(agent, stamp, readers));
        let head =
            readers.heads.look(&agent.path, agent.stamp, readers.now, Head::default, |h| h.refresh(&agent.path, ""));
        let (head, why) = head.parts()?;
        let started = head.started;
        if let Some(why) = why {
            self.errors.push((agent.path.display().to_string(), why.to_owned()));
        }
        let name = name.unwrap_or_else(|| NAMELESS.into());
        Some(self.member(&agent.path, agent.stamp, (&name, started, parent), readers))
    }

    fn mate(&mut self, mate: &Mate, readers: &mut Readers<'_>) -> Member {
        let name = mate.head.agent.as_deref().unwrap_or(NAMELESS);
        self.member(&mate.top.path, mate.top.stamp, (name, mate.head.started, None), readers)
    }

    fn member(
        &mut self,
        path: &Path,
        stamp: Stamp,
        (name, started_at, parent): (&str, Option<f64>, Option<&str>),
        readers: &mut Readers<'_>,
    ) -> Member {
        let (model, rate) = self.analyse(path, stamp, readers);
        let running = is_running(stamp, readers.now);
        let subagent = Subagent {
            name: safe_text(name, SUBAGENT_NAME_CAP_CHARS).into_owned(),
            model,
            started_at,
            active: Some(running),
            parent: parent.map(str::to_owned),
        };
        Member { subagent, mtime: stamp.mtime(), rate, running }
    }

    /// Model and rate of a member that wrote within the rate window; others are not read (CLAUDE-056).
    fn analyse(&mut self, path: &Path, stamp: Stamp, readers: &mut Readers<'_>) -> (Option<String>, u64) {
        if !fresh(stamp.mtime(), RATE_WINDOW_SEC.max(WORKING_THRESHOLD_SEC), readers.now) {
            return (None, 0);
        }
        let (now, limits) = (readers.now, readers.limits);
        let look = readers.children.look(path, stamp, now, Child::new, |c| c.refresh(path, stamp, now, limits));
        let Some((child, why)) = look.parts() else { return (None, 0) };
        if let Some(why) = why {
            self.errors.push((path.display().to_string(), why.to_owned()));
        }
        (child.window.child_model().map(str::to_owned), child.window.rate_per_min(now))
    }

    fn label(&mut self, agent: &Agent, stamp: Stamp, readers: &mut Readers<'_>) -> Option<String> {
        let path = super::store::sidecar(&agent.path);
        let look = readers.labels.look(
            &path,
            stamp,
            readers.now,
            || None,
            |label| {
                *label = meta_label(&read::whole(&path, META_BYTES)?);
                Ok(())
            },
        );
        let (label, why) = look.parts()?;
        if let Some(why) = why {
            self.errors.push((path.display().to_string(), why.to_owned()));
        }
        label.as_deref().map(str::to_owned)
    }

    /// Leaves out the oldest quiet members above the bound; a running one never.
    fn bound(&mut self) {
        let mut quiet: Vec<f64> = self.members.iter().filter(|m| !m.running).map(|m| m.mtime).collect();
        if quiet.len() <= QUIET_LISTED {
            return;
        }
        quiet.sort_by(|a, b| b.total_cmp(a));
        let oldest = quiet.get(QUIET_LISTED - 1).copied().unwrap_or_default();
        let mut listed = 0;
        let before = self.members.len();
        self.members.retain(|m| {
            let keep = m.running || (m.mtime >= oldest && listed < QUIET_LISTED);
            listed += usize::from(keep && !m.running);
            keep
        });
        self.omitted = (before - self.members.len()) as u32;
    }
}

/// Whether a member's file was written within the working threshold (CLAUDE-054).
pub fn is_running(stamp: Stamp, now: f64) -> bool {
    fresh(stamp.mtime(), WORKING_THRESHOLD_SEC, now)
}

/// Whether a member's transcript belongs to one of these names (CLAUDE-073).
pub fn began(names: &[&str], key: &str, own: Option<&Group>, mates: &[(&Mate, &[Agent])]) -> bool {
    let of_agent = |a: &Agent| names.contains(&a.id.as_str());
    let of_mate = |m: &Mate| {
        let agent = m.head.agent.as_deref();
        agent.is_some_and(|name| names.contains(&name) || names.contains(&super::roster::without_team(name, key)))
    };
    own.is_some_and(|g| g.agents.iter().any(of_agent)) || mates.iter().any(|(m, _)| of_mate(m))
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    description: Field<'a>,
    #[serde(borrow, rename = "agentType")]
    agent_type: Field<'a>,
}

fn meta_label(bytes: &[u8]) -> Option<Box<str>> {
    let text = json::record(bytes)?;
    let meta: Meta = serde_json::from_str(&text).ok()?;
    [meta.name, meta.description, meta.agent_type].into_iter().find_map(line::nonempty).map(|l| Box::from(&*l))
}
