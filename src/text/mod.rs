//! Pure text rules: what untrusted text goes through before anyone sees it.
//!
//! The order is the same everywhere: unsafe characters, then redaction, then the bound. Slicing first would cut a
//! key to a length no shape knows and publish the rest of it. Nothing here opens, keeps or logs anything.
//!
//! - [`safe`]: the path to a published field; [`redact`]: credential shapes; [`clip`]: bounds that finish a marker
//! - [`prompt`], [`ladder`]: what a prompt says and which one is the instruction; [`extract`]: text of a record
//! - [`label`]: project labels and resume tokens; [`json`]: records a strict reader would refuse

pub mod clip;
pub mod extract;
pub mod json;
pub mod label;
pub mod ladder;
mod marks;
pub mod prompt;
pub mod redact;
pub mod safe;
mod shapes;

#[cfg(test)]
mod tests;

pub use clip::redact_clip;
pub use redact::{MARKER, redact, sweep};
pub use safe::{safe_lines, safe_name, safe_text};
