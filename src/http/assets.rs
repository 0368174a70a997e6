//! The files of the page: a closed table of bytes, compared with the folder `static/` by a test.
//!
//! A file added there is added here under its own name, wherever below the folder it lies.

/// The document.
pub const INDEX: &str = include_str!("../../static/index.html");

/// Served below `/assets/` to every caller the gate admits.
pub const ASSETS: &[(&str, &[u8])] = &[
    ("actions.js", include_bytes!("../../static/actions.js")),
    ("app-context.js", include_bytes!("../../static/app-context.js")),
    ("app.css", include_bytes!("../../static/app.css")),
    ("app.js", include_bytes!("../../static/app.js")),
    ("capacity.js", include_bytes!("../../static/capacity.js")),
    ("cues.js", include_bytes!("../../static/cues.js")),
    ("format.js", include_bytes!("../../static/format.js")),
    ("hold.js", include_bytes!("../../static/hold.js")),
    ("hooks.js", include_bytes!("../../static/vendor/hooks.js")),
    ("htm.js", include_bytes!("../../static/vendor/htm.js")),
    ("ibm-plex-mono-latin-400.woff2", include_bytes!("../../static/fonts/ibm-plex-mono-latin-400.woff2")),
    ("ibm-plex-mono-latin-500.woff2", include_bytes!("../../static/fonts/ibm-plex-mono-latin-500.woff2")),
    ("ibm-plex-mono-latin-ext-400.woff2", include_bytes!("../../static/fonts/ibm-plex-mono-latin-ext-400.woff2")),
    ("ibm-plex-mono-latin-ext-500.woff2", include_bytes!("../../static/fonts/ibm-plex-mono-latin-ext-500.woff2")),
    ("ibm-plex-sans-latin-400.woff2", include_bytes!("../../static/fonts/ibm-plex-sans-latin-400.woff2")),
    ("ibm-plex-sans-latin-500.woff2", include_bytes!("../../static/fonts/ibm-plex-sans-latin-500.woff2")),
    ("ibm-plex-sans-latin-600.woff2", include_bytes!("../../static/fonts/ibm-plex-sans-latin-600.woff2")),
    ("ibm-plex-sans-latin-ext-400.woff2", include_bytes!("../../static/fonts/ibm-plex-sans-latin-ext-400.woff2")),
    ("ibm-plex-sans-latin-ext-500.woff2", include_bytes!("../../static/fonts/ibm-plex-sans-latin-ext-500.woff2")),
    ("ibm-plex-sans-latin-ext-600.woff2", include_bytes!("../../static/fonts/ibm-plex-sans-latin-ext-600.woff2")),
    ("icon-wait.svg", include_bytes!("../../static/icon-wait.svg")),
    ("icon.svg", include_bytes!("../../static/icon.svg")),
    ("keep.js", include_bytes!("../../static/keep.js")),
    ("layout.js", include_bytes!("../../static/layout.js")),
    ("ledger.js", include_bytes!("../../static/ledger.js")),
    ("licenses.txt", include_bytes!("../../static/vendor/licenses.txt")),
    ("live.js", include_bytes!("../../static/live.js")),
    ("model.js", include_bytes!("../../static/model.js")),
    ("part-badge.js", include_bytes!("../../static/part-badge.js")),
    ("part-bars.js", include_bytes!("../../static/part-bars.js")),
    ("part-base.js", include_bytes!("../../static/part-base.js")),
    ("part-capacity.js", include_bytes!("../../static/part-capacity.js")),
    ("part-cue.js", include_bytes!("../../static/part-cue.js")),
    ("part-disclosure.js", include_bytes!("../../static/part-disclosure.js")),
    ("part-row.js", include_bytes!("../../static/part-row.js")),
    ("part-strip.js", include_bytes!("../../static/part-strip.js")),
    ("part-tabs.js", include_bytes!("../../static/part-tabs.js")),
    ("part-tree.js", include_bytes!("../../static/part-tree.js")),
    ("preact.js", include_bytes!("../../static/vendor/preact.js")),
    ("route.js", include_bytes!("../../static/route.js")),
    ("say.js", include_bytes!("../../static/say.js")),
    ("shell.js", include_bytes!("../../static/shell.js")),
    ("space-grotesk-latin-600.woff2", include_bytes!("../../static/fonts/space-grotesk-latin-600.woff2")),
    ("space-grotesk-latin-ext-600.woff2", include_bytes!("../../static/fonts/space-grotesk-latin-ext-600.woff2")),
    ("ticker.js", include_bytes!("../../static/ticker.js")),
    ("view-attention.js", include_bytes!("../../static/view-attention.js")),
    ("view-intent.js", include_bytes!("../../static/view-intent.js")),
    ("view-project.js", include_bytes!("../../static/view-project.js")),
    ("view-projects.js", include_bytes!("../../static/view-projects.js")),
    ("view-session.js", include_bytes!("../../static/view-session.js")),
    ("view-sessions.js", include_bytes!("../../static/view-sessions.js")),
];

/// Served below `/assets/` to this machine alone, and only while the terminal is on (TERM-044).
pub const TERMINAL_ASSETS: &[(&str, &[u8])] = &[
    ("xterm.css", include_bytes!("../../static/vendor/xterm.css")),
    ("xterm.js", include_bytes!("../../static/vendor/xterm.js")),
];
