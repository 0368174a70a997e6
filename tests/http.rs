//! The HTTP engine and its routes over a real loopback socket: in this process on a port of its own, and in the real
//! binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
#![allow(clippy::semicolon_if_nothing_returned, clippy::large_stack_arrays, clippy::format_push_string)]

#[path = "http/answers.rs"]
mod answers;
#[path = "http/board.rs"]
mod board;
#[path = "http/corpus/mod.rs"]
mod corpus;
#[path = "http/engine.rs"]
mod engine;
#[cfg(unix)]
#[path = "cli/home.rs"]
#[allow(dead_code)]
mod home;
#[path = "http/hostile.rs"]
mod hostile;
#[cfg(unix)]
#[path = "http/real.rs"]
mod real;
#[path = "http/routes.rs"]
mod routes;
#[cfg(unix)]
#[path = "cli/stores.rs"]
#[allow(dead_code)]
mod stores;
#[cfg(unix)]
#[path = "http/storms.rs"]
mod storms;
#[path = "http/stream.rs"]
mod stream;
