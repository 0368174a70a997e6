//! Which row a child session counts for.

/// Levels of parents that are followed.
pub const LEVELS: usize = 64;

/// What stands above a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Above<'a> {
    /// Nothing: it is a row.
    Row,
    Parent(&'a str),
    /// It is not there, or not shown, and neither is what hangs on it.
    Gone,
}

/// The row above the session `id`, if every session between them is there; `None` also for a circle (OC-013,
/// GOOSE-009).
pub fn row_above<'a>(id: &'a str, above: impl Fn(&str) -> Above<'a>) -> Option<&'a str> {
    let mut id = id;
    for _ in 0..LEVELS {
        match above(id) {
            Above::Row => return Some(id),
            Above::Parent(parent) => id = parent,
            Above::Gone => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OC-013, GOOSE-009: children of children count for the row.
    #[test]
    fn oc_013_goose_009_children_of_children_count_for_the_row() {
        let above = |id: &str| match id {
            "row" => Above::Row,
            "child" => Above::Parent("row"),
            "grandchild" => Above::Parent("child"),
            "a" => Above::Parent("b"),
            "b" => Above::Parent("a"),
            "orphan" => Above::Parent("nowhere"),
            _ => Above::Gone,
        };
        assert_eq!(row_above("row", above), Some("row"));
        assert_eq!(row_above("grandchild", above), Some("row"));
        assert_eq!((row_above("a", above), row_above("orphan", above)), (None, None));
    }
}
