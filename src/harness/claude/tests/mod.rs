//! Tests of the Claude reader, on stores written for the purpose.

mod scale;
