//! The files of the page: a closed table of bytes, compared with the folder `static/` by a test.
//!
//! A file added there is added here under its own name, wherever below the folder it lies.

/// The document.
pub const INDEX: &str = include_str!("../../static/index.html");

/// Served below `/assets/` to every caller the gate admits.
pub const ASSETS: &[(&str, &[u8])] =
    &[("app.css", include_bytes!("../../static/app.css")), ("app.js", include_bytes!("../../static/app.js"))];

/// Served below `/assets/` to this machine alone, and only while the terminal is on (TERM-044).
pub const TERMINAL_ASSETS: &[(&str, &[u8])] = &[];
