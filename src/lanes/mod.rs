//! Features that act: each is a lane of the board, its routes' handlers, and an off switch.
//!
//! - [`dismiss`]: rows marked handled are left out
//! - [`history`]: transitions are kept for the timeline
//! - [`annotate`]: what the reader typed, on its row and in the Intent log
//! - [`notify`]: popups, what became of them, and the pages' own lane; [`quiet`]: when most of them stay away

pub mod annotate;
pub mod dismiss;
pub mod history;
pub mod notify;
pub mod quiet;
