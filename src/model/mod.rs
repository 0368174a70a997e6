//! What a harness reports about its sessions, and the pure rules over it. Knows no store and no route.

pub mod observed;
pub mod quota;
pub mod task;
pub mod time;
pub mod turn;

pub use observed::{
    AssignmentStatus, Code, Degrade, Evidence, Instruction, InstructionLabel, Key, Loop, Observed, Spacedock, State,
    Subagent, SubagentEvent, SubagentEventKind, SubagentNode, Task, Turn,
};
