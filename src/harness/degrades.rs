//! What the rows of a harness lack, said once for the harness as a whole, so that its strip and `--diagnose` name it
//! too (DECK-020, DECK-023).

use super::about::about;
use super::tree::Tree;
use super::{Collected, Collector, Pass};
use crate::model::{Code, Degrade, Observed};
use crate::text::safe::diagnostic;
use std::collections::BTreeMap;
use std::path::Path;

/// One pass of a reader, with what its rows lack named for the harness as a whole: the one way to run a reader, so that
/// all of them tell it alike. An `Err` is the reader's own ([`Collector::collect`]).
pub fn collect(reader: &mut dyn Collector, pass: &Pass<'_>) -> Result<Collected, String> {
    let mut out = reader.collect(pass)?;
    lift(&mut out, about(reader.key()).store);
    Ok(out)
}

/// Adds to the harness's own degrades each kind that its rows name and it does not, under its store key `source`: once,
/// in the order of the closed set, after its own. Records are added up, with those the reader counted in that store
/// itself; a kind without a count that the reader tells of any source stands as it is.
fn lift(out: &mut Collected, source: &str) {
    let mut kinds: BTreeMap<Code, Option<u64>> = BTreeMap::new();
    for degrade in out.rows.iter().flat_map(|row| &row.degrades) {
        let count = kinds.entry(degrade.code).or_default();
        *count = sum(*count, degrade.count);
    }
    for (code, count) in kinds {
        // A kind without a count says the same of every source.
        if count.is_some() || !out.degrades.iter().any(|known| known.code == code) {
            tell(out, code, source, count);
        }
    }
}

/// Names a degrade of the harness as a whole; what is counted is added to what is known of that source already.
pub fn tell(out: &mut Collected, code: Code, source: &str, count: Option<u64>) {
    match out.degrades.iter_mut().find(|known| known.code == code && known.source == source) {
        Some(known) => known.count = sum(known.count, count),
        None => out.degrades.push(Degrade { code, source: source.into(), count }),
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
        tell(out, Code::StoreUnreadable, source, None);
    }
    if skipped > 0 {
        tell(out, Code::RecordSkipped, source, Some(skipped));
    }
}

/// Names on a row, under the name of the file, what was not read of it: nothing of it any more, only a part, or so many
/// records (TRUST-036).
pub fn of_file(path: &Path, unreadable: bool, in_part: bool, skipped: u64, row: &mut Observed) {
    let source = file_name(path);
    let mut tell = |code, count| row.degrades.push(Degrade { code, source: source.clone(), count });
    if unreadable {
        tell(Code::StoreUnreadable, None);
    }
    if in_part {
        tell(Code::ReadInPart, None);
    }
    if skipped > 0 {
        tell(Code::RecordSkipped, Some(skipped));
    }
}

/// The last part of a path, for people.
pub fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.zip(b).map(|(a, b)| a.saturating_add(b)).or(a).or(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::testkit;
    use crate::model::Key;

    fn degrade(code: Code, source: &str, count: Option<u64>) -> Degrade {
        Degrade { code, source: source.into(), count }
    }

    /// DECK-020, DECK-023, TRUST-036: once per harness, however many sessions it touches, with its records added up.
    #[test]
    fn deck_020_deck_023_each_kind_is_named_once_for_the_harness() {
        use Code::{ReadInPart, RecordSkipped, StoreLocked, StoreUnreadable, VersionUnseen};
        type Told<'a> = &'a [(Code, &'a str, Option<u64>)];
        let degrades = |told: Told<'_>| -> Vec<Degrade> { told.iter().map(|t| degrade(t.0, t.1, t.2)).collect() };
        let table: [(&str, &[Told<'_>], Told<'_>, Told<'_>); 9] = [
            ("sound", &[&[], &[]], &[], &[]),
            ("of the store alone", &[&[]], &[(StoreLocked, "x.db", None)], &[(StoreLocked, "x.db", None)]),
            ("of one row: the store is named", &[&[(ReadInPart, "a", None)]], &[], &[(ReadInPart, "store", None)]),
            (
                "of rows, told in any order",
                &[&[(VersionUnseen, "a", None)], &[(ReadInPart, "b", None), (VersionUnseen, "b", None)]],
                &[],
                &[(ReadInPart, "store", None), (VersionUnseen, "store", None)],
            ),
            (
                "records of rows add up",
                &[&[(RecordSkipped, "a", Some(2))], &[(RecordSkipped, "b", Some(3))], &[]],
                &[],
                &[(RecordSkipped, "store", Some(5))],
            ),
            (
                "with those the reader counted in the store",
                &[&[(RecordSkipped, "a", Some(2))]],
                &[(RecordSkipped, "store", Some(10))],
                &[(RecordSkipped, "store", Some(12))],
            ),
            (
                "not with those of another store",
                &[&[(RecordSkipped, "a", Some(2))]],
                &[(RecordSkipped, "tasks", Some(10))],
                &[(RecordSkipped, "tasks", Some(10)), (RecordSkipped, "store", Some(2))],
            ),
            (
                "what the reader tells of a file stands, and first",
                &[&[(StoreLocked, "x.db", None), (StoreUnreadable, "b", None), (ReadInPart, "b", None)]],
                &[(StoreUnreadable, "a", None), (StoreLocked, "x.db", None)],
                &[(StoreUnreadable, "a", None), (StoreLocked, "x.db", None), (ReadInPart, "store", None)],
            ),
            (
                "a sum has an end",
                &[&[(RecordSkipped, "a", Some(u64::MAX))], &[(RecordSkipped, "b", Some(1))]],
                &[],
                &[(RecordSkipped, "store", Some(u64::MAX))],
            ),
        ];
        for (name, rows, own, want) in table {
            let row = |told: &Told<'_>| Observed { degrades: degrades(told), ..Observed::new(Key::Droid, "s") };
            let rows = rows.iter().map(row).collect();
            let mut out = Collected { rows, degrades: degrades(own), ..Collected::default() };
            lift(&mut out, "store");
            assert_eq!(out.degrades, degrades(want), "{name}");
        }
    }

    /// DECK-020: whichever the harness, its own store is what stands beside the code.
    #[test]
    fn deck_020_every_reader_is_joined_alike() {
        struct Reader(Key);
        impl Collector for Reader {
            fn key(&self) -> Key {
                self.0
            }
            fn discovered(&mut self) -> bool {
                true
            }
            fn collect(&mut self, _: &Pass<'_>) -> Result<Collected, String> {
                let degrades = vec![degrade(Code::RecordSkipped, "a.jsonl", Some(2))];
                let row = Observed { degrades, ..Observed::new(self.0, "s") };
                Ok(Collected { rows: vec![row], ..Collected::default() })
            }
        }
        for key in Key::ALL {
            let found = testkit::pass(&mut Reader(key), 1.0, false);
            assert_eq!(found.degrades, [degrade(Code::RecordSkipped, about(key).store, Some(2))]);
            assert_eq!(found.rows[0].degrades[0].source, "a.jsonl", "the row names the file");
        }
    }
}
