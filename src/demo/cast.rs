//! Who is in the demo: sessions, what they were asked, and the lines they say.

/// A session of a line-file harness that goes on working.
pub struct Part {
    pub id: &'static str,
    pub cwd: &'static str,
    pub title: &'static str,
    pub prompt: &'static str,
    /// Tools it calls in turn.
    pub tools: &'static [&'static str],
    /// What it says between calls.
    pub lines: &'static [&'static str],
}

/// A Claude Code session in the middle of a turn, with tasks and subagents.
pub const CHECKOUT: Part = Part {
    id: "27d10654-3c1e-4f0a-9a51-5d1c6b8e0a01",
    cwd: "/work/acme/shop",
    title: "Fix checkout totals",
    prompt: "Totals are a cent off when three discounts stack. Find the rounding rule that does it, fix it and run the tax tests.",
    tools: &["Read", "Grep", "Edit", "Bash", "mcp__linear__list_issues"],
    lines: &[
        "The drift starts where line discounts are rounded before they are summed.",
        "I will keep the sum exact and round once, at the end.",
        "Two tests still expect the old cent. They encode the bug, so I change them too.",
        "Running the tax tests again.",
    ],
};

/// The subagents of the session above: file name, label, type, and what each says.
pub const HELPERS: [(&str, &str, &str); 3] = [
    ("agent-a1f09c", "reviewer", "Reading the diff of src/cart/totals.rs line by line."),
    ("agent-b27e11", "test-writer", "Adding a case with three stacked discounts."),
    ("agent-c90d42", "docs", "The rounding rule is described in docs/pricing.md."),
];

/// A Claude Code session that waits for a choice.
pub const MIGRATION: Part = Part {
    id: "5b8f2c77-91d4-4c0e-8f3e-2a6d4b1c0e02",
    cwd: "/work/acme/shop",
    title: "Move orders to the new schema",
    prompt: "Prepare the orders migration so that it can run without downtime.",
    tools: &["Read", "Write", "Bash"],
    lines: &["The backfill is written and takes about four minutes on the copy."],
};

/// A Claude Code session whose calls keep failing.
pub const FLAKY: Part = Part {
    id: "91aa0c3d-7e52-4b19-a0c7-6f0e9d2b3c03",
    cwd: "/work/acme/infra",
    title: "Make the nightly build reproducible",
    prompt: "The nightly image differs from run to run. Pin what moves and prove it with two builds.",
    tools: &["Bash"],
    lines: &["The base image is still pulled by tag."],
};

/// Codex, in the middle of a plan.
pub const PARSER: Part = Part {
    id: "019fa752-4c1d-7a30-9b52-0d6f1e8c2a04",
    cwd: "/work/acme/api",
    title: "Port the parser",
    prompt: "Port the CSV importer to the streaming parser and keep the error messages.",
    tools: &["shell", "apply_patch"],
    lines: &[
        "The old importer swallows a trailing empty line; the new one reports it.",
        "All 214 importer tests pass.",
    ],
};

/// Pi.
pub const NOTEBOOK: Part = Part {
    id: "6e0c1b52-2f77-4d51-8f7a-1c9b0d3e5f05",
    cwd: "/work/acme/lab",
    title: "Tidy the notebook",
    prompt: "Turn the exploration notebook into a script with the same figures.",
    tools: &["bash", "edit"],
    lines: &["Figure 3 depended on cell order; it does not any more."],
};

/// Gemini CLI.
pub const DOCS: Part = Part {
    id: "b2c4d6e8-1a3b-4c5d-9e7f-0a1b2c3d4e06",
    cwd: "/work/acme/docs",
    title: "Rewrite the quick start",
    prompt: "Rewrite the quick start so that it fits on one screen.",
    tools: &["read_file", "write_file"],
    lines: &["Five steps became three; the other two were the same step twice."],
};

/// Copilot CLI.
pub const WEB: Part = Part {
    id: "c3d5e7f9-2b4c-4d6e-8f0a-1b2c3d4e5f07",
    cwd: "/work/acme/web",
    title: "Keyboard paths in the date picker",
    prompt: "Make the date picker usable with the keyboard alone.",
    tools: &["bash", "edit"],
    lines: &["Arrow keys move by day, Page Up and Page Down by month."],
};

/// Factory Droid.
pub const OPS: Part = Part {
    id: "d4e6f8a0-3c5d-4e7f-9a1b-2c3d4e5f6a08",
    cwd: "/work/acme/ops",
    title: "Rotate the log volumes",
    prompt: "Add rotation to the log volumes of the three collectors.",
    tools: &["Execute", "Edit"],
    lines: &["Rotation is in place on the first collector; the other two follow."],
};

/// Antigravity CLI.
pub const MAPS: (&str, &str) = ("e5f7a9b1-4d6e-4f80-8b2c-3d4e5f6a7b09", "/work/acme/maps");
/// OpenCode: id, folder, title.
pub const DATA: (&str, &str, &str) =
    ("ses_7f3a9c1e5b2d4f6a8c0e2b4d6f", "/work/acme/data", "Deduplicate the customer table");
/// Cursor CLI: id, folder, title.
pub const SHADERS: (&str, &str, &str) =
    ("f6a8b0c2-5e7f-4a91-9c3d-4e5f6a7b8c10", "/work/acme/game", "Trim the shader cache");
/// Goose: id, folder, title.
pub const ETL: (&str, &str, &str) = ("20260501_3", "/work/acme/etl", "Backfill the March events");
