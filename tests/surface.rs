//! The audit surface: which code may touch the world (by reading the sources), and what the binary really touches (by
//! watching it from the kernel).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

#[cfg(target_os = "linux")]
#[path = "surface/calls.rs"]
mod calls;
#[path = "surface/document.rs"]
mod document;
#[cfg(unix)]
#[path = "cli/home.rs"]
#[allow(dead_code)]
mod home;
#[path = "surface/rule.rs"]
mod rule;
#[cfg(unix)]
#[path = "cli/stores.rs"]
mod stores;
#[path = "surface/tables.rs"]
mod tables;
#[path = "surface/tokens.rs"]
mod tokens;
#[cfg(target_os = "linux")]
#[path = "surface/traced.rs"]
mod traced;
