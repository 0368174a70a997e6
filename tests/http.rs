//! The HTTP engine and its routes over a real loopback socket, in this process on a port of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
#![allow(clippy::semicolon_if_nothing_returned, clippy::large_stack_arrays, clippy::format_push_string)]

#[path = "http/board.rs"]
mod board;
#[path = "http/corpus.rs"]
mod corpus;
#[path = "http/engine.rs"]
mod engine;
#[path = "http/hostile.rs"]
mod hostile;
#[path = "http/routes.rs"]
mod routes;
#[path = "http/stream.rs"]
mod stream;
