//! The active branch against a plain model of PI-014, over trees with repeated ids, lost parents, cycles and damage;
//! and a growing file against one read cold.

use super::*;
use crate::harness::testkit::{ends, grow};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

/// An entry of the model: its id, its parent, and its prompt, which is unlike any other; an answer of ten tokens has
/// none.
#[derive(Clone, Debug)]
struct Node {
    id: u8,
    parent: Option<u8>,
    prompt: Option<String>,
}

/// The branch of these entries in the order of the file, root first, straight from the requirement's words.
fn branch(nodes: &[Node]) -> Vec<&Node> {
    let mut chain = Vec::new();
    let mut want: Option<u8> = None;
    for node in nodes.iter().rev() {
        if chain.is_empty() || want == Some(node.id) {
            chain.push(node);
            want = node.parent;
            if want.is_none() {
                chain.reverse();
                return chain;
            }
        }
    }
    let mut newest: HashMap<u8, &Node> = HashMap::new();
    for node in nodes.iter().rev() {
        newest.entry(node.id).or_insert(node);
    }
    for leaf in nodes.iter().rev() {
        let (mut chain, mut seen, mut at) = (Vec::new(), HashSet::new(), newest.get(&leaf.id).copied());
        while let Some(node) = at.filter(|node| seen.insert(node.id)) {
            chain.push(node);
            let Some(parent) = node.parent else {
                chain.reverse();
                return chain;
            };
            at = newest.get(&parent).copied();
        }
    }
    Vec::new()
}

/// A line of a file: an entry, or damage.
#[derive(Clone, Debug)]
enum Piece {
    Node(u8, Option<u8>, bool),
    Damage,
    Name(bool),
}

fn any_piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        12 => (0..8u8, prop::option::weighted(0.85, 0..9u8), any::<bool>()).prop_map(|(id, parent, odd)| Piece::Node(id, parent, odd)),
        1 => Just(Piece::Damage),
        1 => any::<bool>().prop_map(Piece::Name),
    ]
}

/// Mostly a growing chain, so that long branches, cuts and rebranches are common.
fn any_file() -> impl Strategy<Value = Vec<Piece>> {
    let chain = prop::collection::vec((0..10u8, any::<bool>()), 0..24).prop_map(|steps| {
        let mut last = None;
        let mut pieces = Vec::new();
        for (next, (step, odd)) in (0u8..).zip(steps) {
            let parent = match step {
                0 => last.map(|last: u8| last / 2),
                1 => Some(200),
                2 if odd => None,
                _ => last,
            };
            let id = if step == 3 { next / 2 } else { next };
            pieces.push(if step == 4 { Piece::Damage } else { Piece::Node(id, parent, odd) });
            last = Some(id);
        }
        pieces
    });
    // Few ids, each entry below one already met, mostly the last: repeats on the branch and beside it.
    let repeats = prop::collection::vec((0..5u8, 0..6usize), 1..20).prop_map(|steps| {
        let mut met = Vec::new();
        let pieces = steps.into_iter().map(|(id, back)| {
            let parent = met.iter().rev().nth(back.saturating_sub(2)).copied();
            met.push(id);
            Piece::Node(id, parent.or(met.first().copied().filter(|_| met.len() > 1)), back % 2 == 0)
        });
        pieces.collect()
    });
    prop_oneof![prop::collection::vec(any_piece(), 0..16), chain, repeats]
}

fn lines(pieces: &[Piece]) -> (Vec<String>, Vec<Node>) {
    let mut nodes = Vec::new();
    let lines = pieces.iter().enumerate().map(|(i, piece)| match piece {
        Piece::Node(id, parent, odd) => {
            let (id, parent) = (*id, *parent);
            let words = format!("Prompt {i}");
            let at = NOW - 500.0 + i as f64 * 7.0;
            let (key, above) = (format!("id{id}"), parent.map(|parent| format!("id{parent}")));
            let prompt = (!odd).then(|| words.clone());
            nodes.push(Node { id, parent, prompt });
            if *odd {
                let said = json!({"role": "assistant", "content": [], "usage": {"output": 10}, "provider": words});
                message(&key, above.as_deref(), at, said)
            } else {
                user(&key, above.as_deref(), at, &words)
            }
        }
        Piece::Damage => "{\"type\":\"message\",\"id\":\"id1\",\"parentId\":null\n".into(),
        Piece::Name(clear) => format!(
            "{}\n",
            json!({"type": "session_info", "name": if *clear { Value::Null } else { json!(format!("Name {i}")) }})
        ),
    });
    (lines.collect(), nodes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    /// PI-014, FIELD-014: the branch is the model's, for every tree.
    #[test]
    fn pi_014_the_branch_is_the_models(pieces in any_file()) {
        let (lines, nodes) = lines(&pieces);
        let (s, _) = store("model", &lines.concat(), NOW);
        let row = one(&mut reader(&s), NOW);
        let want = branch(&nodes);
        let mut prompts = want.iter().filter_map(|node| node.prompt.clone());
        let first = prompts.next();
        prop_assert_eq!(&row.last_prompt, &prompts.next_back().or(first.clone()).unwrap_or_default());
        let answers = want.iter().filter(|node| node.prompt.is_none()).count() as u64;
        prop_assert_eq!(row.rate_per_min, Some(answers));
        let named = pieces.iter().enumerate().rev().find_map(|(i, piece)| match piece {
            Piece::Name(clear) => Some((!clear).then(|| format!("Name {i}"))),
            _ => None,
        });
        let title = named.flatten().or(first);
        prop_assert_eq!(row.title, title);
    }

    /// PI-015, PI-017: a growing file reads as a cold one at every split.
    #[test]
    fn turn_001_pi_015_growing_reads_as_cold_at_every_split(pieces in any_file(), cuts in prop::collection::vec(0.0..1.0f64, 0..8), by_line in any::<bool>()) {
        let (lines, _) = lines(&pieces);
        let bytes = lines.concat().into_bytes();
        let (s, path) = store("split", "", NOW);
        let mut warm = reader(&s);
        let pieces = if by_line {
            lines.iter().scan(0, |at, line| { *at += line.len(); Some(*at) }).collect()
        } else {
            ends(&cuts, bytes.len())
        };
        grow(&path, &bytes, pieces, |end| {
            prop_assert_eq!(text(&one(&mut warm, NOW)), text(&one(&mut reader(&s), NOW)), "after {} bytes", end);
            Ok(())
        })?;
    }

    #[test]
    fn trust_033_any_bytes_are_read_without_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let s = Scratch::new("pi-bytes");
        s.write("sessions/x.jsonl", [head("x").as_bytes(), &bytes].concat(), NOW);
        s.write("sessions/y.jsonl", &bytes, NOW);
        prop_assert!(!pass(&mut reader(&s), NOW, true).rows.is_empty());
    }
}

#[test]
fn trust_033_any_value_in_any_field() {
    let hasher = std::hash::RandomState::new();
    for value in ["7", "null", "[[{}],\"x\"]", "{\"a\":{}}", "true", "\"t\"", "-1e300"] {
        for key in ["type", "id", "parentId", "timestamp", "cwd", "name", "provider", "modelId", "usage", "message"] {
            let line = format!("{{\"id\":\"x\",\"{key}\":{value}}}").replace("\"id\":\"x\",\"id\"", "\"id\"");
            entry::header(line.as_bytes());
            assert!(entry::parse(line.as_bytes(), 1, &hasher).is_some(), "{line}");
        }
        for key in ["role", "content", "provider", "model", "usage", "stopReason"] {
            for role in ["user", "assistant", "toolResult"] {
                let line = format!(
                    "{{\"type\":\"message\",\"id\":\"x\",\"message\":{{\"role\":\"{role}\",\"{key}\":{value}}}}}"
                );
                let line = line.replace(&format!("\"role\":\"{role}\",\"role\""), "\"role\"");
                assert!(entry::parse(line.as_bytes(), 1, &hasher).is_some(), "{line}");
            }
        }
    }
}
