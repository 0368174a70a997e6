//! Pure text rules. Order everywhere text leaves a store: unsafe characters, redaction, bound.
