//! Events, hooks and notifications: the real binary with its real event tokens, and the overlay ledger against an oracle.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

#[path = "events/burst.rs"]
mod burst;
#[path = "events/cases/mod.rs"]
mod cases;
#[path = "events/desk.rs"]
mod desk;
#[path = "events/forward.rs"]
mod forward;
#[path = "events/hostile.rs"]
mod hostile;
#[path = "events/notify.rs"]
mod notify;
#[path = "events/stories.rs"]
mod stories;
#[path = "events/transport.rs"]
mod transport;
