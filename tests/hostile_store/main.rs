//! Stores that are broken in every way a file can be, read by the real binary: the scan goes on, every other row stays,
//! and what could not be read is named.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod alive;
mod churn;
mod home;
mod others;
mod secrets;
mod shapes;
