//! One reader per harness behind one trait. No harness knows another.
