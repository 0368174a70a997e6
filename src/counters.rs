//! Every refusal, bound and fault by name, as numbers since the process started (TRUST-040..042).
//!
//! The set of names is fixed here: no caller and no peer can create one, so nothing a stranger sends becomes a key.
//! Counting takes no lock; a number stops at the largest it can hold rather than wrapping to zero.

use std::sync::atomic::{AtomicU64, Ordering};

/// The names, sorted; the order is the index.
pub const NAMES: &[&str] = &[
    "annotate.refused",
    "annotate.unreadable",
    "annotate.untrusted",
    "annotate.unwritable",
    "ask.busy",
    "ask.refused",
    "body.empty-object",
    "body.refused",
    "cap.event",
    "cap.focus",
    "child.oversized.claude",
    "child.oversized.codex",
    "child.oversized.git",
    "child.oversized.notify-send",
    "child.oversized.osascript",
    "child.oversized.security",
    "child.oversized.spacedock",
    "child.oversized.tmux",
    "child.timeout.claude",
    "child.timeout.codex",
    "child.timeout.git",
    "child.timeout.notify-send",
    "child.timeout.osascript",
    "child.timeout.security",
    "child.timeout.spacedock",
    "child.timeout.tmux",
    "collected.ask",
    "collected.event",
    "collected.tick",
    "event.command_shape_reported",
    "event.input_requested",
    "event.input_resolved",
    "event.reconcile_required",
    "event.session_ended",
    "event.session_started",
    "event.store_changed",
    "event.subagent_started",
    "event.subagent_stopped",
    "event.tasks_changed",
    "event.turn_started",
    "event.turn_stopped",
    "fd.exhausted",
    "finished.refused",
    "focus.rate",
    "focus.refused",
    "gate.frame",
    "gate.host",
    "gate.navigation",
    "gate.origin",
    "gate.peer",
    "gate.site",
    "git.failed",
    "git.refused",
    "http.busy",
    "http.disconnect",
    "http.headers",
    "http.length",
    "http.malformed",
    "http.method",
    "http.path",
    "http.slow",
    "http.too-long",
    "http.version",
    "interaction.control-mode-disconnected",
    "interaction.invalid-lease-token",
    "interaction.invalid-registration-token",
    "interaction.origin-changed",
    "interaction.origin-disconnected",
    "interaction.origin-mismatch",
    "interaction.read-only-capability",
    "interaction.registration-token-consumed",
    "interaction.session-mismatch",
    "interaction.session-uncollected",
    "interaction.shape",
    "interaction.stale-registration",
    "interaction.unregistered-origin",
    "lane.refused",
    "notify.suppressed",
    "off.annotations",
    "off.ask",
    "off.deck",
    "off.dismiss",
    "off.events",
    "off.focus",
    "off.interaction",
    "off.notify",
    "off.observe",
    "off.project-context",
    "off.reading",
    "off.tripwires",
    "overlay.refused",
    "overlay.stale",
    "panic.collector",
    "panic.handler",
    "panic.lane",
    "panic.probe",
    "panic.stream",
    "pending.expired",
    "pending.refused",
    "poll.full",
    "reading.annotations-unavailable",
    "reading.consent-required",
    "reading.daily-cap",
    "reading.fallback-not-installed",
    "reading.fallback-not-qualified",
    "reading.goal-changed",
    "reading.in-flight",
    "reading.no-own-producer",
    "reading.not-installed",
    "reading.not-installed-other-not-qualified",
    "reading.not-produced",
    "reading.not-qualified",
    "reading.not-qualified-other-not-installed",
    "reading.not-running",
    "reading.own-harness",
    "reading.provider-changed",
    "reading.run-disabled",
    "reading.store-unavailable",
    "reading.withheld",
    "refuse.schema.antigravity",
    "refuse.schema.claude",
    "refuse.schema.codex",
    "refuse.schema.copilot",
    "refuse.schema.cursor",
    "refuse.schema.droid",
    "refuse.schema.gemini",
    "refuse.schema.goose",
    "refuse.schema.opencode",
    "refuse.schema.pi",
    "reject.disabled",
    "reject.incompatible",
    "reject.malformed",
    "reject.rate",
    "reject.unknown-event",
    "reject.unknown-harness",
    "reject.unmappable-id",
    "retired",
    "reused.floor",
    "skip.file.antigravity",
    "skip.file.claude",
    "skip.file.codex",
    "skip.file.copilot",
    "skip.file.cursor",
    "skip.file.droid",
    "skip.file.gemini",
    "skip.file.goose",
    "skip.file.opencode",
    "skip.file.pi",
    "skip.line.antigravity",
    "skip.line.claude",
    "skip.line.codex",
    "skip.line.copilot",
    "skip.line.cursor",
    "skip.line.droid",
    "skip.line.gemini",
    "skip.line.goose",
    "skip.line.opencode",
    "skip.line.pi",
    "skipped.probe",
    "stream.full",
    "tripwire.refused",
    "usage.dropped",
    "write.failed.annotations",
    "write.failed.copied-corrections",
    "write.failed.deliveries",
    "write.failed.departures",
    "write.failed.dismissals",
    "write.failed.ends",
    "write.failed.history",
    "write.failed.observer",
    "write.failed.reading-jobs",
    "write.failed.reading-permission",
    "write.failed.registration",
    "write.failed.semantic-history",
    "write.failed.state",
    "write.failed.tripwires",
];

/// One number per name of [`NAMES`].
pub struct Counters {
    values: Box<[AtomicU64]>,
}

impl Default for Counters {
    fn default() -> Self {
        Self { values: NAMES.iter().map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Counters {
    /// Every counter at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one to a counter; a name that is not in [`NAMES`] counts nothing.
    pub fn bump(&self, name: &str) {
        self.add(name, 1);
    }

    /// Adds one to the counter `family.member`, as in `bump_in("reject", "malformed")`.
    pub fn bump_in(&self, family: &str, member: &str) {
        let found = NAMES.iter().position(|name| {
            name.strip_prefix(family).and_then(|rest| rest.strip_prefix('.')).is_some_and(|rest| rest == member)
        });
        self.add_at(found, 1);
    }

    /// Adds `by` to a counter.
    pub fn add(&self, name: &str, by: u64) {
        let found = NAMES.binary_search(&name).ok();
        debug_assert!(found.is_some(), "no counter is named {name}");
        self.add_at(found, by);
    }

    fn add_at(&self, index: Option<usize>, by: u64) {
        if let Some(value) = index.and_then(|i| self.values.get(i)) {
            // Saturating: the closure never refuses, so the result carries nothing.
            let _ = value.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| Some(n.saturating_add(by)));
        }
    }

    /// The number of one counter, 0 for a name there is not.
    pub fn get(&self, name: &str) -> u64 {
        NAMES.binary_search(&name).ok().and_then(|i| self.values.get(i)).map_or(0, |v| v.load(Ordering::Relaxed))
    }

    /// All counters in the order of [`NAMES`].
    pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        NAMES.iter().zip(&self.values).map(|(name, value)| (*name, value.load(Ordering::Relaxed)))
    }

    /// All counters as one flat JSON object (HTTP-034).
    pub fn to_json(&self) -> serde_json::Map<String, serde_json::Value> {
        self.all().map(|(name, n)| (name.to_owned(), n.into())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TRUST-042.
    #[test]
    fn trust_042_the_table_is_sorted_and_without_doubles() {
        assert!(NAMES.windows(2).all(|pair| pair[0] < pair[1]), "binary search needs a strictly sorted table");
    }

    /// TRUST-042.
    #[test]
    fn trust_042_saturates_and_starts_at_zero() {
        let counters = Counters::new();
        assert!(counters.all().all(|(_, n)| n == 0));
        counters.add("http.busy", u64::MAX);
        counters.bump("http.busy");
        assert_eq!(counters.get("http.busy"), u64::MAX);
        assert_eq!(counters.all().filter(|(_, n)| *n > 0).count(), 1);
    }

    /// TRUST-042.
    #[test]
    fn trust_042_no_caller_creates_a_name() {
        let counters = Counters::new();
        counters.bump_in("reject", "made-up");
        counters.bump_in("reject", "malformed");
        counters.bump_in("rej", "ect.malformed");
        assert_eq!(counters.to_json().len(), NAMES.len());
        assert_eq!(counters.all().map(|(_, n)| n).sum::<u64>(), 1);
        assert_eq!(counters.get("reject.malformed"), 1);
    }
}
