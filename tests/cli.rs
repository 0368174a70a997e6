//! The real binary as a person or a service manager runs it: arguments, one-shot commands, start and end, and every
//! switch.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

#[path = "cli/home.rs"]
mod home;
#[path = "cli/run.rs"]
mod run;
#[path = "cli/stores.rs"]
#[allow(dead_code)]
mod stores;
#[path = "cli/switches.rs"]
mod switches;
