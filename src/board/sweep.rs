//! The one redaction sweep over assembled rows (RED-022..026): every text leaf but the identity fields, before
//! overlays, notices, history and publication.

use crate::model::Observed;
use crate::text::redact;

/// Redacts every text a reader put on a row. `harness`, `sid` and `resume_id` are identity and stay as they are.
pub fn sweep(row: &mut Observed) {
    for text in
        [&mut row.project, &mut row.project_key, &mut row.project_name, &mut row.last_prompt, &mut row.first_prompt]
    {
        redact::sweep(text);
    }
    for text in [
        &mut row.provider,
        &mut row.model,
        &mut row.consumption,
        &mut row.title,
        &mut row.last_output,
        &mut row.state_detail,
        &mut row.evidence.working_detail,
    ] {
        opt(text);
    }
    if let Some(instruction) = &mut row.instruction {
        redact::sweep(&mut instruction.text);
    }
    if let Some(looping) = &mut row.looping {
        opt(&mut looping.tool);
    }
    for task in &mut row.tasks {
        redact::sweep(&mut task.subject);
        redact::sweep(&mut task.active_form);
        redact::sweep(&mut task.status);
        redact::sweep_value(&mut task.id, &[]);
    }
    for child in &mut row.subagents {
        redact::sweep(&mut child.name);
        opt(&mut child.model);
        opt(&mut child.parent);
    }
    if let Some(spacedock) = &mut row.spacedock {
        for workflow in &mut spacedock.workflows {
            redact::sweep_value(workflow, &[]);
        }
    }
    for degrade in &mut row.degrades {
        redact::sweep(&mut degrade.source);
    }
}

fn opt(text: &mut Option<String>) {
    if let Some(text) = text {
        redact::sweep(text);
    }
}
