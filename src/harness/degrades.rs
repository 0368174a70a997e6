//! What the rows of a harness lack, said once for the harness as a whole, so that its strip and `--diagnose` name it
//! too (DECK-020, DECK-023).

use super::Collected;
use crate::model::{Code, Degrade};
use std::collections::BTreeMap;

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
