//! The active branch of a session tree: the chain from the newest entry to a root, and what it tells (PI-013, PI-015).
//!
//! Whatever is told is folded from the entries on the branch, so that nothing of an abandoned branch stays behind.

use super::entry::{Authority, Entry};
use crate::harness::story::{Moment, Story};
use std::collections::HashSet;
use std::sync::Arc;

/// Entries kept singly; of more, the older half is folded for good. A branch that leaves it there is built anew.
const KEPT: usize = 8192;
/// Ids of abandoned entries remembered.
const OFF_KEPT: usize = 65_536;

/// What the entries up to one of them tell.
#[derive(Clone, Debug)]
pub struct Told {
    pub story: Story,
    /// Offset of the line that holds the branch's first prompt.
    pub first_prompt: Option<u64>,
    /// Offset of the line that holds its newest prompt.
    pub last_prompt: Option<u64>,
    pub authority: Option<Arc<Authority>>,
}

impl Told {
    fn new() -> Told {
        Told { story: Story::new(true), first_prompt: None, last_prompt: None, authority: None }
    }

    fn take(&mut self, entry: &Entry, now: f64) {
        let (opens, output, tool) = (entry.is_prompt, entry.output, entry.tool.clone());
        self.story.take(&Moment { at: entry.at, opens, output, tool, ..Moment::default() }, now);
        if entry.is_prompt {
            self.first_prompt = self.first_prompt.or(Some(entry.from));
            self.last_prompt = Some(entry.from);
        }
        if entry.authority.is_some() {
            self.authority.clone_from(&entry.authority);
        }
    }
}

/// The active branch.
#[derive(Debug)]
pub struct Branch {
    /// What entries before the kept ones tell.
    base: Option<Told>,
    entries: Vec<Entry>,
    told: Told,
    /// Entries that are newer than the root and on no active branch, by digest of their id: an id that occurs here and
    /// on the branch names more than one entry.
    off: HashSet<u64>,
    off_full: bool,
    /// The newest entry is not on the branch: where the next belongs only the whole file can tell.
    pub irregular: bool,
    /// The root was not reached within the bytes that are read.
    pub partial: bool,
}

impl Branch {
    /// A session without any branch.
    pub fn new() -> Branch {
        Branch {
            base: None,
            entries: Vec::new(),
            told: Told::new(),
            off: HashSet::new(),
            off_full: false,
            irregular: true,
            partial: false,
        }
    }

    /// A branch found in the file, root first, with the ids of newer entries that are not on it.
    pub fn found(entries: Vec<Entry>, off: HashSet<u64>, irregular: bool, partial: bool, now: f64) -> Branch {
        let off_full = off.len() > OFF_KEPT;
        let mut branch = Branch { base: None, entries, told: Told::new(), off, off_full, irregular, partial };
        if off_full {
            branch.off = HashSet::new();
        }
        branch.fold_older(now);
        branch.retell(now);
        branch
    }

    /// What the branch tells.
    pub fn told(&self) -> &Told {
        &self.told
    }

    /// The last entry of the branch.
    pub fn leaf(&self) -> Option<&Entry> {
        self.entries.last()
    }

    /// Adds the next complete entry of the file. False when only the whole file can tell what the branch is now.
    pub fn add(&mut self, mut entry: Entry, parent: Option<u64>, now: f64) -> bool {
        let Some(parent) = parent else {
            // A new root is a branch of its own (PI-016); what is older can not be named by what follows.
            *self = Branch { irregular: false, ..Branch::new() };
            self.push(entry, now);
            return true;
        };
        if self.irregular {
            return false;
        }
        if self.leaf().is_some_and(|leaf| leaf.id == parent) {
            self.share(&mut entry);
            self.push(entry, now);
            return true;
        }
        if self.off_full || self.off.contains(&parent) {
            return false;
        }
        let Some(place) = self.entries.iter().rposition(|known| known.id == parent) else { return false };
        let cut = self.entries.split_off(place + 1);
        self.off.extend(cut.iter().map(|entry| entry.id));
        self.off_full = self.off.len() > OFF_KEPT;
        self.retell(now);
        self.push(entry, now);
        true
    }

    fn push(&mut self, entry: Entry, now: f64) {
        self.told.take(&entry, now);
        self.entries.push(entry);
        if self.entries.len() > KEPT {
            self.fold_older(now);
        }
    }

    /// Lets an entry share names with those before it.
    fn share(&self, entry: &mut Entry) {
        if entry.authority.is_some() && entry.authority == self.told.authority {
            entry.authority.clone_from(&self.told.authority);
        }
    }

    fn fold_older(&mut self, now: f64) {
        if self.entries.len() <= KEPT {
            return;
        }
        let base = self.base.get_or_insert_with(Told::new);
        for entry in self.entries.drain(..self.entries.len() - KEPT / 2) {
            base.take(&entry, now);
        }
    }

    fn retell(&mut self, now: f64) {
        let mut told = self.base.clone().unwrap_or_else(Told::new);
        for entry in &mut self.entries {
            if entry.authority.is_some() && entry.authority == told.authority {
                entry.authority.clone_from(&told.authority);
            }
            told.take(entry, now);
        }
        self.told = told;
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::Class;
    use super::*;

    fn entry(id: u64, from: u64) -> Entry {
        Entry {
            id,
            from,
            at: Some(from as f64),
            class: Class::None,
            is_prompt: id.is_multiple_of(10),
            output: 0,
            tool: None,
            authority: None,
        }
    }

    fn ids(branch: &Branch) -> Vec<u64> {
        branch.entries.iter().map(|entry| entry.id).collect()
    }

    /// PI-015, PI-016: append, cut, new root.
    #[test]
    fn pi_015_016_append_cut_and_new_root() {
        let mut branch = Branch::new();
        assert!(!branch.add(entry(9, 1), Some(8), 0.0));
        for (id, from, parent) in [(10, 2, None), (2, 3, Some(10)), (20, 4, Some(2))] {
            assert!(branch.add(entry(id, from), parent, 0.0));
        }
        assert_eq!((ids(&branch), branch.told().last_prompt), (vec![10, 2, 20], Some(4)));
        assert!(branch.add(entry(4, 5), Some(10), 0.0));
        assert_eq!(
            (ids(&branch), branch.told().first_prompt, branch.told().last_prompt),
            (vec![10, 4], Some(2), Some(2))
        );
        assert!(!branch.add(entry(5, 6), Some(77), 0.0));
        assert!(!branch.add(entry(5, 6), Some(20), 0.0), "an abandoned entry is not on the branch");
        assert!(branch.add(entry(30, 7), None, 0.0));
        assert_eq!((ids(&branch), branch.told().first_prompt), (vec![30], Some(7)));
    }

    /// FIELD-014: an id may name more than one entry.
    #[test]
    fn field_014_an_id_that_also_names_an_abandoned_entry_is_looked_up_in_the_file() {
        let mut branch = Branch::new();
        for (id, parent) in [(1, None), (2, Some(1)), (3, Some(2)), (2, Some(3)), (4, Some(3))] {
            assert!(branch.add(entry(id, 0), parent, 0.0));
        }
        assert_eq!(ids(&branch), [1, 2, 3, 4]);
        assert!(!branch.add(entry(5, 0), Some(2), 0.0));
        assert!(branch.add(entry(5, 0), Some(1), 0.0));
    }

    #[test]
    fn a_long_branch_is_folded_and_tells_the_same() {
        let mut branch = Branch::new();
        for i in 0..20_000u64 {
            assert!(branch.add(entry(i + 1, i), i.checked_sub(1).map(|parent| parent + 1), 1e9));
        }
        assert!(branch.entries.len() <= KEPT);
        assert_eq!((branch.told().first_prompt, branch.told().last_prompt), (Some(9), Some(19_999)));
        let all = (0..20_000u64).map(|i| entry(i + 1, i)).collect();
        let found = Branch::found(all, HashSet::new(), false, false, 1e9);
        assert_eq!((found.told().first_prompt, &found.told().story), (Some(9), &branch.told().story));
        assert!(!branch.add(entry(7, 1), Some(3), 1e9), "a parent that is folded is looked up in the file");
    }
}
