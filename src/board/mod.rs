//! The board: rows of all harnesses put together, ordered, summed up and serialised, once a collection.
//!
//! The order of the steps is part of the contract (PAYLOAD-001): drop repeated rows, redact, hide unmeasured rates,
//! mark what only a scan can tell, overlays, notices, dismissals, display ids, order, sums.

mod assemble;
mod harnesses;
mod row;
mod sweep;

pub use assemble::{Assembled, Lane, Sampled, Source, Top, Variant, Written, assemble};
pub use harnesses::{HarnessStatus, facts};
pub use row::{Annotation, CachedGoal, Delivery, Line, NONE_TYPED, Row};
