use super::request::request;
use super::*;
use crate::keep::annotations::{Action, Words};
use crate::keep::testing::{Bench, quiet};
use crate::model::{Instruction, Observed as Seen};
use serde_json::json;

fn lane(bench: &Bench) -> Typed {
    let place = || bench.place().clone();
    Typed::new(Arc::new(Annotations::new(place(), quiet())), Arc::new(Departures::new(place(), quiet())))
}

fn top(lane: &Typed, rows: &mut [Row]) -> Top {
    let source = crate::board::Source::default();
    let variant = Variant { now: 100.0, window_hours: 24.0, all: false };
    let mut top = crate::board::assemble(source, variant, &[], &[], &|_| {}).top;
    lane.sample(0.0);
    lane.decorate(rows, variant);
    lane.publish(&mut top, rows, variant);
    top
}

#[test]
fn ann_042_types_and_ann_043_order() {
    let of = |body: Value| {
        let mut whole = json!({"harness": "pi", "sid": "s"});
        whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        request(whole.as_object().unwrap()).map(|(_, action)| action)
    };
    for bad in [
        json!({"harness": 5}),
        json!({"sid": " "}),
        json!({"sid": null}),
        json!({"goal": 7}),
        json!({"goal": ["x"]}),
        json!({"output": true}),
        json!({"lines": "x"}),
        json!({"lines": [null]}),
        json!({"goal": "x", "expected_revision": "1"}),
        json!({"goal": "x", "expected_revision": true}),
        json!({"goal": "x", "expected_revision": 1.5}),
        json!({"lines": ["x"], "origins": [0, 1]}),
        json!({"lines": ["x"], "origins": [-1]}),
        json!({"lines": ["x"], "origins": [true]}),
        json!({"goal": "x", "origins": []}),
        json!({"settle_through": "now"}),
        json!({"settle_through": true}),
        json!({"clear": "yes"}),
        json!({"clear": 1, "goal": "x"}),
        json!({"adopt": 1}),
        json!({"adopt": "first-prompt", "prompt_at": "x"}),
    ] {
        assert!(of(bad.clone()).is_err(), "{bad}");
    }
    let words = |goal: Option<&str>, lines: Option<&[&str]>| {
        let lines = lines.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect());
        Action::Words(Words { goal: goal.map(str::to_owned), lines, ..Words::default() })
    };
    for (body, want) in [
        (json!({}), Action::Nothing),
        (json!({"goal": null, "lines": null, "clear": false}), Action::Nothing),
        (json!({"clear": true, "settle_through": 5, "goal": "x"}), Action::Clear),
        (json!({"settle_through": 5, "adopt": "x"}), Action::Settle { through: 5.0, expected: None }),
        (json!({"goal": "", "lines": []}), words(Some(""), Some(&[]))),
        (json!({"lines": ["a"], "goal": null}), words(None, Some(&["a"]))),
        (
            json!({"adopt": "chosen-prompt", "prompt": "p", "goal": "g", "expected_revision": -3}),
            Action::Adopt { source: None, prompt: "p".into(), at: None, expected: Some(-3) },
        ),
    ] {
        assert_eq!(of(body.clone()).ok(), Some(want), "{body}");
    }
}

#[test]
fn ann_080_candidates_are_what_the_row_shows() {
    let said = |label| Some(Instruction { label, text: "Asked for".into(), at: 50.0 });
    let of = |key, edit: fn(&mut Seen)| {
        let mut seen = Seen::new(key, "a");
        (seen.first_prompt, seen.first_prompt_at) = ("First".into(), Some(10.0));
        edit(&mut seen);
        observed(&Row::new(seen))
    };
    let mut claude = of(Key::Claude, |_| {});
    assert_eq!(claude.candidates, [(Source::First, "First".into(), 10.0)]);
    let mut seen = Seen::new(Key::Claude, "a");
    seen.instruction = said(InstructionLabel::Asked);
    claude = observed(&Row::new(seen.clone()));
    assert_eq!((claude.candidates, claude.messages), (vec![(Source::Latest, "Asked for".into(), 50.0)], vec![50.0]));
    seen.instruction = said(InstructionLabel::Agent);
    assert_eq!(observed(&Row::new(seen)), Observed::default());
    let codex = of(Key::Codex, |seen| {
        (seen.title, seen.prompt_at, seen.prompt_states_work) = (Some("Title".into()), Some(30.0), true);
    });
    assert_eq!(codex.candidates[1], (Source::Latest, "Title".into(), 30.0));
    assert!(of(Key::Pi, |_| {}).candidates.is_empty());
}

#[test]
fn ann_093_100_101_116_the_board_carries_words_and_their_revision() {
    let bench = Bench::new();
    let lane = lane(&bench);
    let mut rows = [Row::new(Seen::new(Key::Pi, "a-long-session-id")), Row::new(Seen::new(Key::Claude, "12345678"))];
    let before = top(&lane, &mut rows).more["intent_revision"].clone();
    assert_eq!(top(&lane, &mut rows).more["intent_revision"], before);
    assert!(!rows[1].annotation.binding_why.is_empty() && rows[0].annotation.binding_why.is_empty());
    assert!(rows[0].departure_why.starts_with("never checked"));
    let key = entry_key("pi", "a-long-session-id").unwrap();
    let action = Action::Words(Words { goal: Some("Ship it".into()), ..Words::default() });
    lane.words.save(&key, &action, &lane.observed(&key), 99.0);
    let board = top(&lane, &mut rows);
    assert!(board.annotate && board.more["intent_revision"] != before);
    assert_eq!((rows[0].annotation.goal.as_str(), rows[0].annotation.lines_why.as_str()), ("Ship it", say::NO_LINES));
    assert_eq!(board.more["annotate_cap"], 240);
    assert_eq!(board.more["annotate_discard"].as_object().unwrap().len(), 10);
    let after = board.more["intent_revision"].clone();
    lane.departures.record(vec![departures::Check {
        harness: key.0.clone(),
        sid: key.1.clone(),
        at: 99.0,
        constraint: "goal".into(),
        ..departures::Check::default()
    }]);
    assert_ne!(top(&lane, &mut rows).more["intent_revision"], after);
    assert_eq!((rows[0].departures.len(), rows[0].departure_checked), (1, true));
    bench.put("cargento-annotations.json", b"{broken");
    let board = top(&lane, &mut rows);
    assert_eq!(board.more["annotate_notice"], say::NOTICE);
    assert_eq!((rows[0].annotation.goal.as_str(), rows[0].annotation.goal_why.as_str()), ("", say::NOTICE));
}

#[test]
fn trust_063_remembered_sessions_are_bounded() {
    let bench = Bench::new();
    let lane = lane(&bench);
    let rows: Vec<Row> = (0..5000).map(|i| Row::new(Seen::new(Key::Pi, i.to_string()))).collect();
    let other: Vec<Row> = (0..5000).map(|i| Row::new(Seen::new(Key::Goose, i.to_string()))).collect();
    let variant = Variant { now: 1.0, window_hours: 24.0, all: false };
    lane.remember(&rows, variant);
    lane.remember(&other, variant);
    assert!(lane.known().sessions.len() <= KNOWN_MAX);
    assert!(lane.is_stale(4.0) && !lane.is_stale(3.0) && lane.is_stale(0.5));
}
