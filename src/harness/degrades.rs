//! What the rows of a harness lack, said once for the harness as a whole, so that its strip and `--diagnose` name it
//! too (DECK-020, DECK-023).

use super::Collected;
use super::tree::Tree;
use crate::model::{Code, Degrade};
use crate::text::safe::diagnostic;
use std::collections::BTreeMap;
use std::path::Path;

/// Adds to the harness's own degrades each kind that only its rows name, under the store key `source`: once, with the
/// records of all rows together where records are counted.
pub fn lift(out: &mut Collected, source: &str) {
    let mut kinds: BTreeMap<Code, Option<u64>> = BTreeMap::new();
    for degrade in out.rows.iter().flat_map(|row| &row.degrades) {
        let count = kinds.entry(degrade.code).or_default();
        *count = sum(*count, degrade.count);
    }
    for (code, count) in kinds {
        let known =
            out.degrades.iter_mut().find(|known| known.code == code && (count.is_none() || known.source == source));
        match known {
            Some(known) => known.count = sum(known.count, count),
            None => out.degrades.push(Degrade { code, source: source.into(), count }),
        }
    }
}

/// Names, for the harness that `source` belongs to, what of its trees was passed over: directories that cannot be
/// listed, and links and special files where a store file belongs (FIELD-056, FIELD-057).
pub fn of_trees<'t>(trees: impl IntoIterator<Item = &'t Tree>, source: &str, out: &mut Collected) {
    let (mut unreadable, mut skipped) = (false, 0);
    let text = |path: &Path| path.to_string_lossy().into_owned();
    for tree in trees {
        for (path, why) in tree.unreadable() {
            unreadable = true;
            out.store_errors.push((text(path), diagnostic(&format!("OSError: {why}"))));
        }
        for path in tree.skipped() {
            skipped += 1;
            out.store_errors.push((text(path), "NotAFile: a link or special file is passed over".into()));
        }
    }
    if unreadable {
        out.degrades.push(Degrade { code: Code::StoreUnreadable, source: source.into(), count: None });
    }
    if skipped > 0 {
        out.degrades.push(Degrade { code: Code::RecordSkipped, source: source.into(), count: Some(skipped) });
    }
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.zip(b).map(|(a, b)| a.saturating_add(b)).or(a).or(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Key, Observed};

    fn degrade(code: Code, source: &str, count: Option<u64>) -> Degrade {
        Degrade { code, source: source.into(), count }
    }

    /// DECK-020, DECK-023: once per harness, however many sessions it touches.
    #[test]
    fn deck_020_deck_023_each_kind_is_named_once_for_the_harness() {
        let row = |degrades: &[Degrade]| Observed { degrades: degrades.to_vec(), ..Observed::new(Key::Droid, "s") };
        let mut out = Collected {
            rows: vec![
                row(&[degrade(Code::RecordSkipped, "a.jsonl", Some(2)), degrade(Code::ReadInPart, "a.jsonl", None)]),
                row(&[degrade(Code::RecordSkipped, "b.jsonl", Some(3)), degrade(Code::StoreLocked, "x.db", None)]),
                row(&[]),
            ],
            degrades: vec![degrade(Code::StoreLocked, "x.db", None), degrade(Code::RecordSkipped, "store", Some(10))],
            ..Collected::default()
        };
        lift(&mut out, "store");
        let want = [
            degrade(Code::StoreLocked, "x.db", None),
            degrade(Code::RecordSkipped, "store", Some(15)),
            degrade(Code::ReadInPart, "store", None),
        ];
        assert_eq!(out.degrades, want);
        let mut sound = Collected { rows: vec![row(&[])], ..Collected::default() };
        lift(&mut sound, "store");
        assert_eq!(sound.degrades, []);
    }
}
