//! One fuzz target for each parser that outside bytes reach (TRUST-080), each with a property beside survival (TRUST-081).
//!
//! A target takes seeds out of the fixtures, mutates them with a generator of its own seed, and hands the result to the
//! parser. Every input is held to the same three bounds: no panic, no second of processor time, no 64 MiB of allocation.
//! What breaks one is written to the build's temporary folder and named in the failure; made a file under
//! `fixtures/fuzz/<target>`, it is replayed first for good (TRUST-082).
//!
//! `cargo test --test fuzz` runs a bounded number of inputs, the same ones every time. `CARGENTO_FUZZ_SECONDS=600` runs
//! each target that long instead, `CARGENTO_FUZZ_SEED` picks other inputs; in a release build, before a release:
//!
//! ```sh
//! CARGENTO_FUZZ_SECONDS=600 CARGENTO_FUZZ_SEED=$RANDOM cargo test --release --test fuzz
//! ```

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

#[path = "fuzz/clients.rs"]
mod clients;
#[path = "fuzz/driver.rs"]
mod driver;
#[path = "cli/home.rs"]
#[allow(dead_code)]
mod home;
#[path = "fuzz/own.rs"]
mod own;
#[path = "fuzz/readers.rs"]
mod readers;
#[path = "cli/stores.rs"]
#[allow(dead_code)]
mod stores;
#[path = "fuzz/text.rs"]
mod text;
#[path = "fuzz/wire.rs"]
mod wire;
