//! Conversations folded onto the ones that started them, and the rows they make (AGY-025 to AGY-028).

use super::conversation::Reading;
use super::workspace::Workspaces;
use super::{SOURCE, names};
use crate::config::{RATE_WINDOW_SEC, TITLE_CAP_CHARS, WORKING_THRESHOLD_SEC};
use crate::harness::identity::Identities;
use crate::harness::story::working_detail;
use crate::harness::{Collected, Pass, place};
use crate::model::time::{fresh, newest_plausible};
use crate::model::turn::{estimate, rate_per_min};
use crate::model::{Code, Degrade, Key, Observed, State, Subagent};
use crate::text::redact_clip;
use std::collections::HashMap;
use std::sync::Arc;

/// A conversation that was inspected.
pub struct Member<'a> {
    pub sid: &'a str,
    /// Newest write of its own store, seconds since the epoch.
    pub activity: f64,
    pub reading: &'a Reading,
}

/// Who started whom.
pub struct Family<'a> {
    members: &'a [Option<Member<'a>>],
    parents: Vec<Option<usize>>,
    children: HashMap<usize, Vec<usize>>,
}

impl<'a> Family<'a> {
    /// `index` finds a member by its id.
    pub fn new(members: &'a [Option<Member<'a>>], index: &HashMap<Arc<str>, usize>) -> Family<'a> {
        let parent_of = |member: &Option<Member<'_>>| {
            let parent = member.as_ref()?.reading.parent.as_deref()?;
            // A subagent of a conversation that has no store is shown by itself rather than lost.
            index.get(parent).copied()
        };
        let parents: Vec<Option<usize>> = members.iter().map(parent_of).collect();
        let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
        for (n, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children.entry(*parent).or_default().push(n);
            }
        }
        Family { members, parents, children }
    }

    /// Adds the row of every root to `out`: those in the window, and on `all` the others.
    pub fn rows(&self, pass: &Pass<'_>, workspaces: &Workspaces, identities: &mut Identities, out: &mut Collected) {
        let mut reached = vec![false; self.members.len()];
        for (n, member) in self.members.iter().enumerate() {
            let Some(root) = member.as_ref().filter(|_| self.parents.get(n) == Some(&None)) else { continue };
            let descendants = self.descendants(n, &mut reached);
            for child in &descendants {
                out.degrades.extend(degrades(child));
            }
            let times = descendants.iter().map(|child| child.activity).chain([root.activity]);
            let last = newest_plausible(times, pass.now);
            if !pass.all && !pass.in_window(last) {
                continue;
            }
            let mut row = row(root, &descendants, last, pass);
            described(&mut row, root, pass.now, workspaces, identities);
            out.rows.push(row);
        }
        let started = |n: &usize| matches!(self.parents.get(*n), Some(Some(_))) && reached.get(*n) == Some(&false);
        let lost = (0..self.members.len()).filter(started).count() as u64;
        if lost > 0 {
            // Each of them claims that another of them started it.
            out.degrades.push(Degrade { code: Code::RecordSkipped, source: SOURCE.into(), count: Some(lost) });
        }
    }

    /// Everyone below `root` at every depth, newest first.
    fn descendants(&self, root: usize, reached: &mut [bool]) -> Vec<&Member<'a>> {
        let mut found = Vec::new();
        let mut open = vec![root];
        while let Some(n) = open.pop() {
            for child in self.children.get(&n).into_iter().flatten() {
                let Some(seen) = reached.get_mut(*child).filter(|seen| !**seen) else { continue };
                *seen = true;
                open.push(*child);
                found.extend(self.members.get(*child).and_then(Option::as_ref));
            }
        }
        found.sort_by(|a, b| b.activity.total_cmp(&a.activity).then_with(|| a.sid.cmp(b.sid)));
        found
    }
}

/// What the stores and their stamps say of a root and its subagents.
fn row(root: &Member<'_>, descendants: &[&Member<'_>], last: f64, pass: &Pass<'_>) -> Observed {
    let mut row = Observed::new(Key::Antigravity, root.sid);
    row.last_activity = last;
    row.active = pass.in_window(last);
    row.model.clone_from(&root.reading.model);
    row.source_gaps.clone_from(&root.reading.gaps);
    row.degrades = degrades(root).collect();
    let running = descendants.iter().filter(|child| fresh(child.activity, WORKING_THRESHOLD_SEC, pass.now));
    row.subagents = running.map(|child| subagent(child)).collect();
    let steps = root.reading.steps.as_ref();
    let rated = descendants.iter().filter(|child| fresh(child.activity, RATE_WINDOW_SEC, pass.now));
    let rates = rated.filter_map(|child| child.reading.steps.as_ref()).chain(steps);
    let rate = rates.map(|steps| rate_per_min(steps.usage.iter().copied(), pass.now)).fold(0, u64::saturating_add);
    row.rate_per_min = Some(rate);
    let action = steps.and_then(|steps| steps.action.clone()).filter(|_| row.subagents.is_empty());
    let detail = action.unwrap_or_else(|| working_detail(row.subagents.len(), false, None));
    if fresh(last, WORKING_THRESHOLD_SEC, pass.now) {
        row.state = State::Working;
        row.state_detail = Some(detail.clone());
    }
    row.evidence.working_detail = Some(detail);
    if let Some(steps) = steps {
        row.turn = estimate(row.state, steps.start, &steps.durations, pass.now);
        row.evidence.turn_start = steps.start;
        row.evidence.turn_durations.clone_from(&steps.durations);
    }
    row
}

/// What a root is called and where it works.
fn described(row: &mut Observed, root: &Member<'_>, now: f64, workspaces: &Workspaces, identities: &mut Identities) {
    let known = workspaces.of(root.sid);
    if let Some(prompt) = known.and_then(|known| known.prompt.as_deref()) {
        row.title = Some(redact_clip(prompt, TITLE_CAP_CHARS).into_owned());
        prompt.clone_into(&mut row.last_prompt);
    } else if root.reading.parent.is_some() {
        // A subagent shown by itself is known by its role.
        row.title.clone_from(&root.reading.label);
    }
    let cwd = known.and_then(|known| known.cwd.as_deref());
    place::settle(row, cwd, None, workspaces.home(), identities, now);
}

fn subagent(child: &Member<'_>) -> Subagent {
    let name = child.reading.label.clone();
    Subagent {
        name: name.unwrap_or_else(|| format!("subagent {}", child.sid.chars().take(8).collect::<String>())),
        model: child.reading.model.clone(),
        started_at: None,
        active: None,
        parent: None,
    }
}

fn degrades(member: &Member<'_>) -> impl Iterator<Item = Degrade> {
    let source = format!("{}{}", member.sid, names::DATABASE);
    member.reading.codes.iter().map(move |code| Degrade { code: *code, source: source.clone(), count: None })
}
