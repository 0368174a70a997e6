//! Our own small stores below the Cargento home, each with one owner for its format, all on one mechanism.
//!
//! - [`store`]: read, check, cap, evict, write, and what to do with a file that cannot be trusted
//! - [`dismissals`], [`history`], [`ends`], [`annotations`], [`departures`], [`deliveries`]: one file each
//!
//! Nothing in here knows the board, a request or a lane.

pub mod annotations;
pub mod deliveries;
pub mod departures;
pub mod dismissals;
mod document;
pub mod ends;
mod format;
pub mod history;
pub mod store;
mod turn;

#[cfg(test)]
#[cfg(unix)]
pub(crate) mod testing;
