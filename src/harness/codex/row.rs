//! A session as a row of the board (CODEX-016..024, CODEX-031..043).

use super::header::NEWEST_SAMPLE;
use super::never::Form;
use super::rollout::Rollout;
use super::survey::{Kid, Listed, Session};
use crate::config::{CODEX_EVENT_CHILDREN, CODEX_EVENTS_PER_ROW, RATE_WINDOW_SEC, WORKING_THRESHOLD_SEC};
use crate::harness::Pass;
use crate::harness::degrades::file_name;
use crate::model::time::{age, fresh, newest_plausible};
use crate::model::{
    AssignmentStatus, Code, Degrade, Key, Observed, Spacedock, State, Subagent, SubagentEvent, SubagentNode, task, turn,
};
use crate::text::label::{Host, project_label, resume_id};
use std::collections::HashMap;
use std::path::PathBuf;

/// What is shown where a subagent event comes from.
const EVENT_SOURCE: &str = "Codex child rollout lifecycle";

/// The rollouts read in this pass.
pub type Shelf = HashMap<PathBuf, Rollout>;

/// Whether a session works: by recency alone, whatever its records say of the turn (CODEX-042). The one place to change
/// if a finished turn should read as idle at once.
fn is_working(written: impl IntoIterator<Item = f64>, now: f64) -> bool {
    fresh(newest_plausible(written, now), WORKING_THRESHOLD_SEC, now)
}

/// Whether a child is at work: written to lately, and in a turn (CODEX-018).
pub fn is_running(kid: &Kid, shelf: &Shelf, now: f64) -> bool {
    fresh(kid.rollout.mtime(), WORKING_THRESHOLD_SEC, now)
        && shelf.get(&kid.rollout.path).is_some_and(|rollout| rollout.facts.turn_start().is_some())
}

/// Builds the row of a session.
pub fn row(session: &Session, shelf: &Shelf, home: &str, pass: &Pass<'_>) -> Observed {
    let meta = &session.root.meta;
    let mut row = Observed::new(Key::Codex, meta.session.clone());
    if let Some(label) = meta.cwd.as_deref().and_then(|cwd| project_label(cwd, home, Host::current())) {
        row.project = label;
    }
    row.resume_id = resume_id(&meta.session).map(str::to_owned);
    row.last_activity = session.last_activity;
    row.active = pass.in_window(session.last_activity);
    row.evidence.cwd = meta.cwd.as_deref().map(PathBuf::from).filter(|cwd| cwd.is_absolute());
    if session.root.form == Form::Plain {
        row.evidence.transcript = Some(session.root.path.clone());
    }
    let rollout = shelf.get(&session.root.path);
    row.degrades = degrades(&session.root, rollout);
    if row.active {
        if let Some(rollout) = rollout {
            read(&mut row, rollout, pass.now);
        }
        children(&mut row, session, shelf, pass.now);
        judge(&mut row, session, rollout, pass.now);
    }
    row
}

/// What the session's own rollout tells.
fn read(row: &mut Observed, rollout: &Rollout, now: f64) {
    let facts = &rollout.facts;
    let intent = rollout.intent();
    if let Some(prompt) = intent.prompt {
        row.title.clone_from(&prompt.title);
        row.last_prompt.clone_from(&prompt.last_prompt);
        row.prompt_at = prompt.at;
        row.prompt_states_work = prompt.states_work;
    }
    row.instruction = intent.instruction;
    if let Some(first) = &facts.first {
        row.first_prompt.clone_from(&first.text);
        row.first_prompt_at = first.at;
        row.first_prompt_control = first.control;
    }
    row.last_output = facts.answer().map(str::to_owned);
    row.model = rollout.model().cloned();
    row.own_activity = facts.last_event(now);
    row.started_at = facts.started_at();
    row.rate_per_min = Some(facts.rate(now));
    if let Some(plan) = rollout.plan() {
        task::attach(row, plan.tasks(now));
    }
    row.spacedock = rollout.has_booted().then(|| Spacedock { role: "first-officer", workflows: Vec::new() });
    row.evidence.turn_start = facts.turn_start();
    row.evidence.turn_durations = facts.turn_durations();
    row.evidence.recorded_stop = facts.stopped;
}

/// What its children add: activity is theirs already (CODEX-041), rate, the running ones, and what became of them.
fn children(row: &mut Observed, session: &Session, shelf: &Shelf, now: f64) {
    let rate = |kid: &Kid| match shelf.get(&kid.rollout.path) {
        Some(rollout) if fresh(kid.rollout.mtime(), RATE_WINDOW_SEC, now) => rollout.facts.rate_of_turn(now),
        _ => 0,
    };
    let more: u64 = session.kids.iter().map(rate).fold(0, u64::saturating_add);
    row.rate_per_min = Some(row.rate_per_min.unwrap_or(0).saturating_add(more));
    let running: Vec<&Kid> = session.kids.iter().filter(|kid| is_running(kid, shelf, now)).collect();
    row.subagents = running.iter().map(|kid| subagent(kid, shelf)).collect();
    let mut nodes: Vec<(&Kid, SubagentNode)> = running.iter().map(|kid| (*kid, node(kid, shelf))).collect();
    nodes.sort_by(|(a, x), (b, y)| {
        let order = (a.depth, b.rollout.stamp.mtime_ns).cmp(&(b.depth, a.rollout.stamp.mtime_ns));
        order.then_with(|| x.name.cmp(&y.name))
    });
    row.subagent_hierarchy = Some(nodes.into_iter().map(|(_, node)| node).collect());
    row.subagent_events = Some(events(session, shelf, now));
}

fn model_of(kid: &Kid, shelf: &Shelf) -> Option<String> {
    shelf.get(&kid.rollout.path)?.model().cloned()
}

fn subagent(kid: &Kid, shelf: &Shelf) -> Subagent {
    Subagent {
        name: kid.rollout.meta.child_name().to_owned(),
        model: model_of(kid, shelf),
        started_at: shelf.get(&kid.rollout.path).and_then(|rollout| rollout.facts.started_at()),
        active: None,
        parent: None,
    }
}

fn node(kid: &Kid, shelf: &Shelf) -> SubagentNode {
    let seen = subagent(kid, shelf);
    let assignment = assignment(kid, shelf);
    SubagentNode {
        name: seen.name,
        model: seen.model,
        started_at: seen.started_at,
        depth: kid.depth,
        parent_name: parent_name(kid),
        assignment_status: match assignment {
            Some(_) => AssignmentStatus::ExactParentDispatch,
            None => AssignmentStatus::Unavailable,
        },
        assignment,
        observer_sid: kid.rollout.meta.thread.clone(),
    }
}

fn parent_name(kid: &Kid) -> Option<String> {
    let parent = kid.parent.as_ref().filter(|_| kid.depth > 1)?;
    Some(parent.meta.child_name().to_owned())
}

/// What the parent's own record of the call says (CODEX-022).
fn assignment(kid: &Kid, shelf: &Shelf) -> Option<String> {
    let path = kid.rollout.meta.agent_path.as_deref()?;
    let parent = kid.parent.as_ref()?;
    let dispatch = shelf.get(&parent.path)?.facts.dispatch_to(path, parent.stamp.len)?;
    dispatch.assignment.clone()
}

fn events(session: &Session, shelf: &Shelf, now: f64) -> Vec<SubagentEvent> {
    let mut events: Vec<SubagentEvent> = Vec::new();
    for kid in session.kids.iter().take(CODEX_EVENT_CHILDREN) {
        let Some(rollout) = shelf.get(&kid.rollout.path) else { continue };
        let lived = rollout.facts.lived(kid.rollout.stamp.len).filter(|(at, _)| age(*at, now).is_some());
        events.extend(lived.map(|(at, kind)| SubagentEvent {
            at,
            kind,
            name: kid.rollout.meta.child_name().to_owned(),
            model: model_of(kid, shelf),
            depth: kid.depth,
            parent_name: parent_name(kid),
            source: EVENT_SOURCE,
        }));
    }
    events.sort_by(|a, b| a.at.total_cmp(&b.at));
    events.drain(..events.len().saturating_sub(CODEX_EVENTS_PER_ROW));
    events
}

/// State, its detail, and the turn.
fn judge(row: &mut Observed, session: &Session, rollout: Option<&Rollout>, now: f64) {
    let own = match session.root.form {
        Form::Plain => session.root.mtime(),
        // Compressing is no work of the session's.
        Form::Packed => 0.0,
    };
    let kids = session.kids.iter().map(|kid| kid.rollout.mtime());
    let tool = rollout.and_then(|rollout| rollout.facts.tool.as_deref());
    let detail = working_detail(row, tool);
    if is_working(kids.chain([own, row.own_activity]), now) {
        row.state = State::Working;
        row.state_detail = Some(detail.clone());
    }
    row.evidence.working_detail = Some(detail);
    row.turn = turn::estimate(row.state, row.evidence.turn_start, &row.evidence.turn_durations, now);
}

fn working_detail(row: &Observed, tool: Option<&str>) -> String {
    if let Some(step) = task::in_progress(&row.tasks) {
        return step;
    }
    match (row.subagents.len(), tool) {
        (0, Some(tool)) => format!("running {tool}"),
        (0, None) => "generating…".into(),
        (1, _) => "running 1 subagent".into(),
        (n, _) => format!("running {n} subagents"),
    }
}

/// What could not be read of a session, by the name of its file.
fn degrades(root: &Listed, rollout: Option<&Rollout>) -> Vec<Degrade> {
    let source = file_name(&root.path);
    let mut found = Vec::new();
    let mut say = |code, count| found.push(Degrade { code, source: source.clone(), count });
    if root.form == Form::Packed {
        say(Code::Compressed, None);
    }
    let skipped = rollout.map_or(0, Rollout::skipped);
    // A first line that is no header counts, unless the file is only just begun.
    let headless = !root.meta.known && root.stamp.len > 0 && root.form == Form::Plain;
    if skipped > 0 || headless {
        say(Code::RecordSkipped, Some(skipped.max(1)));
    }
    if root.meta.version.is_some_and(|version| version > NEWEST_SAMPLE) {
        say(Code::VersionUnseen, None);
    }
    if let Some(rollout) = rollout {
        if rollout.is_read() && !rollout.facts.is_whole() {
            say(Code::ReadInPart, None);
        }
        if rollout.fault.is_some() {
            say(Code::StoreUnreadable, None);
        }
    }
    found
}
