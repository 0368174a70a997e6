//! Finds the active branch in the file: one walk from its end towards its start, at most 64 MiB (PI-014, PI-018).
//!
//! The chain is followed by position: an entry's parent is the nearest entry before it with the parent's id. Only when
//! that chain breaks are all entries' links gathered, for the newest branch that reaches a root.

use super::branch::Branch;
use super::entry::{Entry, Name, Parsed, parse};
use crate::harness::boot::{self, Boot};
use crate::harness::tail::Backward;
use crate::surface::read::Reader;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::RandomState;

/// Most of a file that is walked, bytes.
const WALK_CAP: u64 = 64 * 1024 * 1024;
/// Entries whose links are gathered.
const LINKS_CAP: usize = 262_144;

/// What a walk found.
pub struct Built {
    pub branch: Branch,
    /// The newest name record; `None` when none was met.
    pub name: Option<Name>,
    /// Boot envelopes by the offset of their line.
    pub boots: BTreeMap<u64, Vec<Boot>>,
    /// Lines that hold no record.
    pub skipped: u64,
    /// Bytes walked.
    pub walked: u64,
    /// The walk ended before the start of the file.
    pub in_part: bool,
}

/// What the walk looks for next.
enum Want {
    Leaf,
    /// The entry with this digest.
    Parent(u64),
    /// The root was met.
    Nothing,
}

#[derive(Clone, Copy)]
struct Link {
    id: u64,
    parent: Option<u64>,
    from: u64,
}

struct Walk {
    want: Want,
    /// Leaf first.
    chain: Vec<Entry>,
    off: HashSet<u64>,
    /// Newest first.
    links: Vec<Link>,
    name: Option<Name>,
    boots: BTreeMap<u64, Vec<Boot>>,
    skipped: u64,
}

/// Walks the lines before `end`, the offset behind the last complete line.
pub fn build(reader: &mut Reader, end: u64, hasher: &RandomState, now: f64) -> Built {
    let floor = end.saturating_sub(WALK_CAP);
    let mut walk = Walk {
        want: Want::Leaf,
        chain: Vec::new(),
        off: HashSet::new(),
        links: Vec::new(),
        name: None,
        boots: BTreeMap::new(),
        skipped: 0,
    };
    Backward::new(reader, floor, end).walk(None, &mut |line| {
        // The first line is the header and on no branch.
        if line.at > 0 {
            match parse(line.bytes, line.at, hasher) {
                Some(parsed) => walk.take(parsed, line.at),
                None => walk.skipped += u64::from(!line.bytes.trim_ascii().is_empty()),
            }
        }
        true
    });
    let in_part = floor > 0;
    let branch = match walk.want {
        Want::Nothing => Branch::found(reversed(walk.chain), walk.off, false, false, now),
        // Below the floor may be what is missing: the newer part of the branch stands, its beginning is not known.
        _ if in_part => Branch::found(reversed(walk.chain), walk.off, false, true, now),
        _ => {
            drop((walk.chain, walk.off));
            let connected = newest_connected(&walk.links);
            Branch::found(entries_at(reader, end, &connected, hasher), HashSet::new(), true, false, now)
        }
    };
    Built { branch, name: walk.name, boots: walk.boots, skipped: walk.skipped, walked: end - floor, in_part }
}

impl Walk {
    fn take(&mut self, parsed: Parsed, from: u64) {
        if self.name.is_none() {
            self.name = parsed.name;
        }
        if !parsed.boots.is_empty() {
            self.boots.insert(from, parsed.boots);
            if self.boots.len() > boot::KEPT {
                self.boots.pop_last();
            }
        }
        let Some((entry, parent)) = parsed.entry else { return };
        let wanted = match self.want {
            Want::Leaf => true,
            Want::Parent(id) => id == entry.id,
            Want::Nothing => return,
        };
        if self.links.len() < LINKS_CAP {
            self.links.push(Link { id: entry.id, parent, from });
        }
        if wanted {
            self.want = parent.map_or(Want::Nothing, Want::Parent);
            self.chain.push(entry);
            if parent.is_none() {
                self.links = Vec::new();
            }
        } else {
            self.off.insert(entry.id);
        }
    }
}

fn reversed(mut chain: Vec<Entry>) -> Vec<Entry> {
    chain.reverse();
    chain
}

/// The newest branch that reaches a root, leaf first: each id means its newest entry, and each entry is followed once.
fn newest_connected(links: &[Link]) -> Vec<Link> {
    let mut newest: HashMap<u64, Link> = HashMap::with_capacity(links.len());
    for link in links {
        newest.entry(link.id).or_insert(*link);
    }
    // Entries known to reach no root.
    let mut dead: HashSet<u64> = HashSet::new();
    for leaf in links {
        let mut path = Vec::new();
        let mut on_path = HashSet::new();
        let mut at = newest.get(&leaf.id).copied();
        while let Some(link) = at.filter(|link| !dead.contains(&link.id) && on_path.insert(link.id)) {
            path.push(link);
            match link.parent {
                None => return path,
                Some(parent) => at = newest.get(&parent).copied(),
            }
        }
        dead.extend(on_path);
    }
    Vec::new()
}

/// The entries of a chain, root first, read again from the file.
fn entries_at(reader: &mut Reader, end: u64, chain: &[Link], hasher: &RandomState) -> Vec<Entry> {
    let Some(first) = chain.iter().map(|link| link.from).min() else { return Vec::new() };
    let place: HashMap<u64, usize> = chain.iter().rev().enumerate().map(|(i, link)| (link.from, i)).collect();
    let mut found: Vec<(usize, Entry)> = Vec::with_capacity(chain.len());
    // From the line end before the first of them on, which tells that a line begins there.
    Backward::new(reader, first.saturating_sub(1), end).walk(None, &mut |line| {
        if let Some(i) = place.get(&line.at)
            && let Some((entry, _)) = parse(line.bytes, line.at, hasher).and_then(|parsed| parsed.entry)
        {
            found.push((*i, entry));
        }
        found.len() < chain.len()
    });
    found.sort_by_key(|(i, _)| *i);
    found.into_iter().map(|(_, entry)| entry).collect()
}
