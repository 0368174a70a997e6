//! Live events: what hooks report, checked at the door, kept as overlays, and laid over what the readers saw.
//!
//! An event corrects a row's state and nothing else: it never makes or removes a row, and no prompt, tool input or
//! output is in the envelope's table, so none can be kept (EVT-034, EVT-054).

mod disputes;
mod envelope;
mod ingress;
mod lane;
mod ledger;
mod reduce;
mod silence;
mod tokens;

pub use envelope::{Envelope, Event, Outcome, SOURCES};
pub use ingress::Ingress;
pub use lane::Overlays;
pub use ledger::{Ends, Ledger, NoEnds};
pub use tokens::Tokens;
