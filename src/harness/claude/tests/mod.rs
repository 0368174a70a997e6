//! Tests of the Claude reader, on stores written for the purpose.

mod discovery;
mod field;
mod fixtures;
mod home;
mod hostile;
mod incremental;
mod members;
mod notices;
mod readings;
mod scale;
mod states;
