//! What makes the board move: the published snapshot and those who wait for the next one.

pub mod publish;
