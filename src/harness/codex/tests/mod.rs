//! Rollouts written into a scratch store and read back through the collector.
