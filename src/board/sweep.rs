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
    for node in row.subagent_hierarchy.iter_mut().flatten() {
        redact::sweep(&mut node.name);
        for text in [&mut node.model, &mut node.parent_name, &mut node.assignment] {
            opt(text);
        }
    }
    for event in row.subagent_events.iter_mut().flatten() {
        redact::sweep(&mut event.name);
        opt(&mut event.model);
        opt(&mut event.parent_name);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::observed::{AssignmentStatus, SubagentEvent, SubagentEventKind, SubagentNode};
    use crate::model::{Code, Degrade, Instruction, InstructionLabel, Key, Loop, Spacedock, Subagent, Task};
    use serde_json::{Value, json};

    /// Every leaf of a row that is a text or could be one, with the path to it.
    fn leaves(value: &Value, at: String, found: &mut Vec<(String, String)>) {
        match value {
            Value::String(text) => found.push((at, text.clone())),
            Value::Array(list) => list.iter().for_each(|v| leaves(v, format!("{at}[]"), found)),
            Value::Object(map) => map.iter().for_each(|(k, v)| leaves(v, format!("{at}.{k}"), found)),
            Value::Null => found.push((at, "null".into())),
            _ => {}
        }
    }

    /// RED-023, RED-024, RED-025, RED-026: a key in any field a reader can fill is swept, identity is left as it is, and no
    /// text field of a row is forgotten here or in the sweep.
    #[test]
    fn every_text_of_a_row_is_swept_but_its_identity() {
        let key = format!("sk-ant-api03-{}", "A".repeat(95));
        let (text, some) = (key.clone(), Some(key.clone()));
        let mut row = Observed::new(Key::Codex, key.clone());
        for field in [&mut row.project, &mut row.project_key, &mut row.project_name] {
            field.clone_from(&key);
        }
        for field in [&mut row.last_prompt, &mut row.first_prompt] {
            field.clone_from(&key);
        }
        for field in [&mut row.provider, &mut row.model, &mut row.consumption, &mut row.title, &mut row.last_output] {
            field.clone_from(&some);
        }
        row.state_detail.clone_from(&some);
        row.resume_id.clone_from(&some);
        row.instruction = Some(Instruction { label: InstructionLabel::Agent, text: text.clone(), at: 0.0 });
        row.looping = Some(Loop { errors: 4, tool: some.clone(), failures: None, barren: None });
        let (model, parent) = (some.clone(), some.clone());
        row.subagents = vec![Subagent { name: text.clone(), model, started_at: None, active: None, parent }];
        row.subagent_hierarchy = Some(vec![SubagentNode {
            name: text.clone(),
            model: some.clone(),
            started_at: None,
            depth: 1,
            parent_name: some.clone(),
            assignment: some.clone(),
            assignment_status: AssignmentStatus::Unavailable,
            observer_sid: text.clone(),
        }]);
        row.subagent_events = Some(vec![SubagentEvent {
            at: 0.0,
            kind: SubagentEventKind::Complete,
            name: text.clone(),
            model: some.clone(),
            depth: 1,
            parent_name: some.clone(),
            source: "rollout",
        }]);
        row.tasks = vec![Task {
            id: json!(key),
            subject: text.clone(),
            active_form: text.clone(),
            status: text.clone(),
            created: None,
            updated: None,
            elapsed_h: None,
            updated_ago: None,
        }];
        row.spacedock = Some(Spacedock { role: "ensign", workflows: vec![json!({"goal": key})] });
        row.degrades = vec![Degrade { code: Code::ReadInPart, source: text, count: None }];
        sweep(&mut row);
        let mut found = Vec::new();
        leaves(&serde_json::to_value(&row).unwrap(), String::new(), &mut found);
        let of = |want: &str| found.iter().filter(|(_, t)| t == want).map(|(at, _)| at.as_str()).collect::<Vec<_>>();
        assert_eq!(of(&key), [".resume_id", ".sid", ".subagent_hierarchy[].observer_sid"]);
        let marked = of("sk-ant-…REDACTED");
        let rest: Vec<&str> = found
            .iter()
            .map(|(at, _)| at.as_str())
            .filter(|at| !marked.contains(at) && !of(&key).contains(at))
            .collect();
        // Our own words, and numbers that may be absent. A new text field belongs above.
        let ours = ".blocked_since .degrades[].code .eta_h .first_prompt_at .harness .instruction.label \
            .project_identity_source .prompt_at .session_output_tokens .spacedock.role .started_at \
            .state .subagent_events[].kind .subagent_events[].source \
            .subagent_hierarchy[].assignment_status .subagent_hierarchy[].started_at \
            .subagents[].active .subagents[].started_at .tasks[].created .tasks[].elapsed_h \
            .tasks[].updated .tasks[].updated_ago .turn .turn_output_tokens";
        assert_eq!(rest, ours.split_whitespace().collect::<Vec<_>>());
    }
}
