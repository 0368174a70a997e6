//! The audit tree: the only code that opens, writes, spawns, listens or connects.
//!
//! A test walks the sources and fails when anything outside this folder names such a call.

pub mod listen;
pub mod read;
pub mod sqlite;
pub mod watch;
