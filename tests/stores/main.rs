//! What the board keeps, under the real binary: kills in the middle of saves, full and read-only disks, damaged files,
//! many clients at once, two boards on one home, and `--forget` beside a running one.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
#![allow(clippy::semicolon_if_nothing_returned, clippy::large_stack_arrays, clippy::format_push_string)]

mod crowd;
mod damage;
mod full;
mod home;
mod kept;
mod kill;
mod marks;
mod past;
mod rate;
mod share;
#[allow(dead_code)]
#[path = "../http/board.rs"]
mod wire;
mod words;
