//! What makes the board move: the scan loop, the published snapshot and those who wait for the next one.

pub mod events;
pub mod keeper;
pub mod publish;
pub mod scan;
