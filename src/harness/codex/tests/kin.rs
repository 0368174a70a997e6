//! Children: folding, running ones, hierarchy, assignments, lifecycle.

use super::*;
use crate::model::{AssignmentStatus, State, SubagentEventKind};
use serde_json::json;

const KID: &str = "01994f16-0000-7000-8000-000000000001";

fn names(row: &Observed) -> Vec<&str> {
    row.subagents.iter().map(|s| s.name.as_str()).collect()
}

/// CODEX-013, CODEX-017, CODEX-018, CODEX-019, CODEX-020, CODEX-051, CODEX-052: children fold onto their root at
/// every depth.
#[test]
fn codex_013_017_to_020_051_052_children_fold_onto_their_root_at_every_depth() {
    let mut store = Store::new();
    store.rollout(
        ROOT,
        &json!({}),
        &[said(NOW - 300.0, "Review it all, then report"), model(NOW - 300.0, "root-model")],
        NOW - 200.0,
    );
    let work = [started(NOW - 30.0), model(NOW - 30.0, "kid-model"), tokens(NOW - 10.0, 300, 300)];
    let path = store.child("kid0", ROOT, &json!({"agent_nickname": "Harriet"}), &work, NOW - 20.0);
    // The same child under another day, found all the same.
    let other_day = store.path("2026/09/18", "kid0");
    std::fs::create_dir_all(other_day.parent().unwrap()).unwrap();
    std::fs::rename(path, other_day).unwrap();
    store.child("kid1", "kid0", &json!({"agent_path": "/root/review/deep_reader"}), &[started(NOW - 30.0)], NOW - 10.0);
    store.child(
        "kid2",
        ROOT,
        &json!({"agent_nickname": "Finished"}),
        &[started(NOW - 30.0), complete(NOW - 4.0)],
        NOW - 4.0,
    );
    store.child("kid3", ROOT, &json!({"agent_nickname": "Quiet"}), &[started(NOW - 150.0)], NOW - 150.0);
    let row = store.row();
    assert_eq!((row.state, row.state_detail.as_deref()), (State::Working, Some("running 2 subagents")));
    assert_eq!(names(&row), ["deep_reader", "Harriet"]);
    assert_eq!(row.subagents.iter().map(|s| s.model.as_deref()).collect::<Vec<_>>(), [None, Some("kid-model")]);
    assert!(
        row.subagents.iter().all(|s| s.active.is_none() && s.parent.is_none() && s.started_at == Some(NOW - 3600.0))
    );
    assert_eq!((row.model.as_deref(), row.rate_per_min), (Some("root-model"), Some(30)));
    assert_eq!((row.last_activity, row.own_activity), (NOW - 4.0, NOW - 300.0));
    let nodes = row.subagent_hierarchy.unwrap();
    let seen: Vec<_> =
        nodes.iter().map(|n| (n.name.as_str(), n.depth, n.parent_name.as_deref(), n.observer_sid.as_str())).collect();
    assert_eq!(seen, [("Harriet", 1, None, "kid0"), ("deep_reader", 2, Some("Harriet"), "kid1")]);
    assert_eq!(sids(&store.all()), [ROOT]);
}

/// CODEX-021: the hierarchy as published.
#[test]
fn codex_021_the_hierarchy_as_published() {
    let mut store = Store::new();
    store.rollout(ROOT, &json!({}), &[], NOW);
    store.child("k", ROOT, &json!({"agent_nickname": "N", "agent_path": "/root/a"}), &[started(NOW)], NOW);
    let row = store.row();
    let node = json!([{"name": "N", "model": null, "started_at": NOW - 3600.0, "depth": 1, "parent_name": null,
        "assignment": null, "assignment_status": "unavailable", "observer_sid": "k"}]);
    assert_eq!(serde_json::to_value(row.subagent_hierarchy).unwrap(), node);
    let events = json!([{"at": NOW, "kind": "subagent_task_started", "name": "N", "model": null, "depth": 1,
        "parent_name": null, "source": "Codex child rollout lifecycle"}]);
    assert_eq!(serde_json::to_value(row.subagent_events).unwrap(), events);
}

/// CODEX-011, CODEX-019: labels and links in every shape.
#[test]
fn codex_011_019_labels_and_links_in_every_shape() {
    let spawned = |meta: Value| {
        let mut store = Store::new();
        store.rollout(ROOT, &json!({}), &[], NOW - 500.0);
        store.rollout("kid", &meta, &[started(NOW)], NOW);
        let row = store.row();
        row.subagents.first().map(|s| s.name.clone())
    };
    let by = json!({"subagent": {"thread_spawn": {"parent_thread_id": ROOT}}});
    for (more, want) in [
        (json!({"agent_nickname": "Harriet", "agent_role": "reviewer", "agent_path": "/root/x"}), "Harriet"),
        (json!({"agent_nickname": 5, "agent_role": "reviewer", "agent_path": "/root/x"}), "x"),
        (json!({"agent_nickname": "", "agent_type": "explorer"}), "explorer"),
        (json!({"agent_path": "/root/review_importer/"}), "review_importer"),
        (json!({"agent_path": 7}), "subagent"),
        (json!({"agent_nickname": "x".repeat(99)}), &"x".repeat(70)),
    ] {
        let mut meta = json!({"thread_source": "subagent", "source": by});
        meta.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(spawned(meta).as_deref(), Some(want), "{more}");
    }
    // The link may stand at the top instead, and the origin may be missing.
    assert!(spawned(json!({"thread_source": "subagent", "source": "cli", "parent_thread_id": ROOT})).is_some());
    assert!(spawned(json!({"source": by})).is_some());
}

/// FIELD-023: threads that nobody talks to are never rows.
#[test]
fn field_023_threads_that_nobody_talks_to_are_never_rows() {
    for meta in [
        json!({"thread_source": "subagent"}),
        json!({"thread_source": "guardian_review"}),
        json!({"thread_source": "memory_consolidation"}),
        json!({"source": {"subagent": "review"}}),
        json!({"source": {"subagent": {"other": "x"}}}),
        json!({"source": {"internal": "memory_consolidation"}}),
    ] {
        let mut store = Store::new();
        store.rollout("internal", &meta, &[said(NOW, "Review this diff for defects")], NOW);
        assert!(store.all().rows.is_empty(), "{meta}");
    }
    for meta in [
        json!({"thread_source": "user"}),
        json!({"thread_source": "canvas"}),
        json!({"thread_source": ["subagent"]}),
        json!({"source": {"custom": "atlas"}}),
        json!({"forked_from_id": ROOT}),
    ] {
        let mut store = Store::new();
        store.rollout("mine", &meta, &[], NOW);
        assert_eq!(store.all().rows.len(), 1, "{meta}");
    }
}

/// CODEX-017, CODEX-053: orphans and cycles cost themselves alone.
#[test]
fn codex_017_053_orphans_and_cycles_cost_themselves_alone() {
    let mut store = Store::new();
    store.rollout("sound", &json!({}), &[], NOW);
    store.child("orphan", "nowhere", &json!({}), &[started(NOW)], NOW);
    store.child("a", "b", &json!({}), &[started(NOW)], NOW);
    store.child("b", "a", &json!({}), &[started(NOW)], NOW);
    store.child("self", "self", &json!({}), &[started(NOW)], NOW);
    assert_eq!(sids(&store.collect()), ["sound"]);
    assert_eq!(sids(&store.all()), ["sound"]);
}

/// CODEX-054, CODEX-055: a child makes its resting root active.
#[test]
fn codex_054_055_a_child_makes_its_resting_root_active() {
    for age in [25.0 * 3600.0, -3600.0] {
        let mut store = Store::new();
        store.rollout(ROOT, &json!({}), &[said(NOW - 90_000.0, "Look after the migration")], NOW - age);
        assert!(store.collect().rows.is_empty());
        store.child(KID, ROOT, &json!({"agent_nickname": "K"}), &[started(NOW - 10.0)], NOW - 10.0);
        let row = store.row();
        assert_eq!((row.state, row.active, row.last_activity), (State::Working, true, NOW - 10.0), "{age}");
        assert_eq!((row.title.as_deref(), names(&row)), (Some("Look after the migration"), vec!["K"]));
        assert_eq!(store.cold_row().title, row.title);
        assert_eq!(store.all().rows.len(), 1);
    }
}

/// CODEX-017: a resting root is found whatever its file is called.
#[test]
fn codex_017_a_resting_root_is_found_whatever_its_file_is_called() {
    let mut store = Store::new();
    let old = store.rollout(ROOT, &json!({}), &[], NOW - 9.0 * DAY);
    std::fs::rename(&old, old.with_file_name("rollout-restored.jsonl")).unwrap();
    store.child("middle", ROOT, &json!({"agent_nickname": "M"}), &[], NOW - 9.0 * DAY);
    store.child("leaf", "middle", &json!({"agent_nickname": "L"}), &[started(NOW)], NOW);
    let row = store.row();
    assert_eq!((row.sid.as_str(), names(&row)), (ROOT, vec!["L"]));
    let nodes = row.subagent_hierarchy.unwrap();
    assert_eq!((nodes[0].depth, nodes[0].parent_name.as_deref()), (2, Some("M")));
}

/// CODEX-020: a fork is charged for its own turn alone.
#[test]
fn codex_020_a_fork_is_charged_for_its_own_turn_alone() {
    let rate = |records: &[Value], mtime: f64| {
        let mut store = Store::new();
        store.rollout(ROOT, &json!({}), &[], NOW - 999.0);
        store.child(KID, ROOT, &json!({}), records, mtime);
        store.row().rate_per_min
    };
    let copied = tokens(NOW - 300.0, 5000, 5000);
    assert_eq!(rate(&[copied.clone(), started(NOW - 200.0), tokens(NOW - 100.0, 40, 5040)], NOW), Some(4));
    assert_eq!(
        rate(&[copied.clone(), started(NOW - 200.0), tokens(NOW - 100.0, 40, 5040), complete(NOW - 90.0)], NOW - 90.0),
        Some(4)
    );
    assert_eq!(rate(&[copied], NOW), Some(0));
    assert_eq!(rate(&[started(NOW - 200.0), tokens(NOW - 100.0, 40, 40)], NOW - 601.0), Some(0));
}

/// CODEX-018: a child that finished leaves at once and a next turn brings it back.
#[test]
fn codex_018_a_child_that_finished_leaves_at_once_and_a_next_turn_brings_it_back() {
    let mut store = Store::new();
    store.rollout(ROOT, &json!({}), &[], NOW);
    let path = store.child(KID, ROOT, &json!({"agent_nickname": "K"}), &[started(NOW - 9.0)], NOW);
    assert_eq!(names(&store.row()), ["K"]);
    append(&path, lines(&[event("turn_aborted", NOW, &json!({}))]).as_bytes(), NOW);
    assert!(names(&store.row()).is_empty());
    append(&path, lines(&[started(NOW)]).as_bytes(), NOW);
    assert_eq!(names(&store.row()), ["K"]);
    assert!(store.collect_at(NOW + 91.0, false).rows[0].subagents.is_empty());
}

/// CODEX-022: the parent's own call names the assignment.
#[test]
fn codex_022_the_parent_s_own_call_names_the_assignment() {
    let call = |at: f64, tool: &str, arguments: &Value| {
        item("function_call", at, &json!({"name": tool, "arguments": arguments.to_string()}))
    };
    let mut store = Store::new();
    let records = [
        call(
            NOW - 50.0,
            "spawn_agent",
            &json!({"task_name": "review", "message": "## Review the importer. Be brief."}),
        ),
        call(NOW - 49.0, "spawn_agent", &json!({"task_name": "other", "message": "Something else"})),
        call(NOW - 48.0, "exec_command", &json!({"task_name": "review", "message": "Not a dispatch"})),
    ];
    let root = store.rollout(ROOT, &json!({}), &records, NOW);
    let kid = store.child(KID, ROOT, &json!({"agent_path": "/root/review"}), &[started(NOW)], NOW);
    let told = |row: Observed| {
        let node = row.subagent_hierarchy.unwrap().remove(0);
        (node.assignment, node.assignment_status)
    };
    assert_eq!(told(store.row()), (Some("Review the importer".into()), AssignmentStatus::ExactParentDispatch));
    append(
        &root,
        lines(&[call(NOW - 9.0, "followup_task", &json!({"target": "/root/review", "message": "Now the dates."}))])
            .as_bytes(),
        NOW,
    );
    assert_eq!(told(store.row()), (Some("Now the dates".into()), AssignmentStatus::ExactParentDispatch));
    append(
        &root,
        lines(&[call(NOW - 8.0, "followup_task", &json!({"target": "/root/review", "message": "gAAAAABencrypted"}))])
            .as_bytes(),
        NOW,
    );
    assert_eq!(told(store.row()), (None, AssignmentStatus::Unavailable));
    // A grandchild's parent is the child, whose own rollout is asked.
    append(
        &kid,
        lines(&[call(NOW, "spawn_agent", &json!({"task_name": "deep", "message": "Read deeply"}))]).as_bytes(),
        NOW - 700.0,
    );
    store.child("leaf", KID, &json!({"agent_path": "/root/review/deep"}), &[started(NOW)], NOW);
    assert_eq!(told(store.row()).0.as_deref(), Some("Read deeply"));
    // Only the last bytes of the parent are asked.
    append(&kid, (line(&padding(NOW, 400_000)) + "\n").as_bytes(), NOW - 700.0);
    assert_eq!(told(store.row()), (None, AssignmentStatus::Unavailable));
    assert_eq!(told(store.cold_row()), (None, AssignmentStatus::Unavailable));
}

/// CODEX-023: what became of the children.
#[test]
fn codex_023_what_became_of_the_children() {
    let mut store = Store::new();
    store.rollout(ROOT, &json!({}), &[], NOW);
    store.child(
        "k1",
        ROOT,
        &json!({"agent_nickname": "One"}),
        &[model(NOW - 900.0, "m"), started(NOW - 900.0), complete(NOW - 800.0)],
        NOW - 800.0,
    );
    store.child(
        "k2",
        "k1",
        &json!({"agent_nickname": "Two"}),
        &[
            started(NOW - 850.0),
            event("turn_aborted", NOW - 700.0, &json!({})),
            json!({"type": "event_msg", "payload": {"type": "task_started"}}),
        ],
        NOW - 700.0,
    );
    let events = store.row().subagent_events.unwrap();
    let seen: Vec<_> = events
        .iter()
        .map(|e| (NOW - e.at, e.kind, e.name.as_str(), e.model.as_deref(), e.depth, e.parent_name.as_deref()))
        .collect();
    use SubagentEventKind::{Complete, Interrupted, TaskStarted};
    assert_eq!(
        seen,
        [
            (900.0, TaskStarted, "One", Some("m"), 1, None),
            (850.0, TaskStarted, "Two", None, 2, Some("One")),
            (800.0, Complete, "One", Some("m"), 1, None),
            (700.0, Interrupted, "Two", None, 2, Some("One")),
        ]
    );
}

/// CODEX-023: the bounds of the lifecycle.
#[test]
fn codex_023_the_bounds_of_the_lifecycle() {
    let mut store = Store::new();
    store.rollout(ROOT, &json!({}), &[], NOW);
    for n in 0..26 {
        let at = NOW - 1000.0 - f64::from(n);
        let name = json!({"agent_nickname": format!("k{n}")});
        let records: Vec<Value> = (0..20).map(|i| started(at - 20.0 + f64::from(i))).collect();
        store.child(&format!("k{n}"), ROOT, &name, &records, at);
    }
    let events = store.row().subagent_events.unwrap();
    assert_eq!(events.len(), 48);
    assert!(events.is_sorted_by(|a, b| a.at <= b.at));
    assert!(events.iter().all(|e| e.name != "k24" && e.name != "k25"));
    // Only the end of a child's rollout is looked at, however much of it was read before.
    let mut store = Store::new();
    store.rollout(ROOT, &json!({}), &[], NOW);
    let path = store.child(KID, ROOT, &json!({}), &[started(NOW - 50.0)], NOW);
    assert_eq!(store.row().subagent_events.unwrap().len(), 1);
    append(&path, lines(&[padding(NOW, 131_072)]).as_bytes(), NOW);
    let row = store.row();
    assert_eq!((row.subagent_events.unwrap().len(), row.subagents.len()), (0, 1));
    assert_eq!(store.cold_row().subagent_events.unwrap().len(), 0);
}
