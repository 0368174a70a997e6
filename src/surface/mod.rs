//! The audit tree: the only code that opens, writes, spawns, listens or connects.
//!
//! A test walks the sources and fails when anything outside this folder names such a call.
//!
//! - [`read`] and [`sqlite`]: what others wrote, bounded, no link followed, read-only
//! - [`watch`]: notice of what moved
//! - [`write`]: our own files, owner only, whole or not at all; [`folder`]: one writer at a time, renames that last
//! - [`process`]: one bounded child, and whether a process is alive
//! - [`loopback`]: the client to our own port
//! - [`bind`] and [`listen`]: the one listener, and whether a port is free
//! - [`daemon`]: the hand-over to a detached copy of this program
//! - [`signal`]: what ends the server
//! - [`localtime`]: the reader's clock time

pub mod bind;
pub mod daemon;
pub mod folder;
pub mod invent;
pub mod listen;
pub mod localtime;
pub mod loopback;
pub mod process;
pub mod read;
pub mod signal;
pub mod sqlite;
pub mod watch;
pub mod write;

#[cfg(windows)]
mod win32;
