//! A line of a rollout as what it means to the board (CODEX-025, CODEX-032..035).
//!
//! Reasoning is dropped here, before any value is built: its records are passed over by their type, and of an item
//! nothing is read but what its type allows (CODEX-045). Of tool calls only the name is read, and the plan or the task
//! of a spawned agent where the tool is one that carries them; of tool results nothing at all (CODEX-046).

use super::dispatch::{self, Dispatch};
use super::glance::glance;
use super::plan::{self, Plan};
use super::quota::Usage;
use crate::config::{LAST_OUTPUT_CAP_CHARS, MODEL_CAP_CHARS, TOOL_CAP_CHARS};
use crate::harness::line::{self, Field};
use crate::model::time::{numeric_epoch, parse_iso};
use crate::text::extract::Text;
use crate::text::{json, safe_text};
use serde::Deserialize;
use std::borrow::Cow;

/// A record.
#[derive(Debug)]
pub struct Record {
    /// Its stamp, seconds since the epoch.
    pub at: Option<f64>,
    pub what: What,
}

/// What a record means.
#[derive(Debug)]
pub enum What {
    Nothing,
    /// The model of the turn, cleaned.
    Model(String),
    /// A text under the person's role, the harness's own included.
    User(String),
    /// What the agent says it will do.
    Commentary(String),
    Answer(Answer),
    /// A turn begins, at its own time where it names one.
    Start(Option<f64>),
    /// A turn ended, with the agent's last words.
    Complete(Option<String>),
    Aborted,
    Compaction,
    Tokens(Tokens),
    Call(Call),
}

/// A final answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// As recorded, bounded, not yet cleaned.
    pub text: String,
    /// The record itself says it is one; older builds leave that open.
    pub sure: bool,
}

/// A `token_count` record.
#[derive(Debug, Default)]
pub struct Tokens {
    /// Output tokens of the last response, more than 0.
    pub output: Option<u64>,
    /// Output and all tokens so far: unchanged when the record only repeats the one before (FIELD-028).
    pub so_far: Option<(Option<u64>, Option<u64>)>,
    pub usage: Option<Usage>,
}

/// A tool call.
#[derive(Debug)]
pub struct Call {
    /// Wire name, cleaned.
    pub tool: Option<String>,
    pub plan: Option<Plan>,
    pub dispatch: Option<Dispatch>,
}

/// What every record of a rollout is wrapped in.
#[derive(Deserialize)]
pub(super) struct Envelope<'a> {
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow, rename = "type")]
    pub kind: Field<'a>,
    #[serde(borrow)]
    pub payload: Field<'a>,
}

/// The same with a payload that is known to be an object, so that it is gone through once.
#[derive(Deserialize)]
struct Usual<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    payload: Payload<'a>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    phase: Field<'a>,
    #[serde(borrow)]
    item: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    arguments: Field<'a>,
    #[serde(borrow)]
    input: Field<'a>,
    #[serde(borrow)]
    started_at: Field<'a>,
    #[serde(borrow)]
    last_agent_message: Field<'a>,
    #[serde(borrow)]
    info: Field<'a>,
    #[serde(borrow)]
    rate_limits: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    phase: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
}

#[derive(Deserialize)]
struct Info<'a> {
    #[serde(borrow)]
    last_token_usage: Field<'a>,
    #[serde(borrow)]
    total_token_usage: Field<'a>,
}

#[derive(Deserialize)]
struct Count<'a> {
    #[serde(borrow)]
    output_tokens: Field<'a>,
    #[serde(borrow)]
    total_tokens: Field<'a>,
}

/// Reads a line; `None` when it is no record, which is to be counted.
pub fn read(line: &[u8]) -> Option<Record> {
    let seen = glance(line);
    if let Some(seen) = seen {
        let what = match seen.outer {
            // Holds the whole history once more; that it is there is all that counts.
            "compacted" => Some(What::Compaction),
            _ => seen.is_quiet().then_some(What::Nothing),
        };
        if let Some(what) = what {
            return Some(Record { at: parse_iso(seen.stamp), what });
        }
    }
    let text = json::record(line)?;
    if let Some(seen) = seen
        && let Ok(record) = serde_json::from_str::<Usual>(&text)
    {
        let at = parse_iso(seen.stamp);
        return Some(Record { at, what: what(record.kind, Some(&record.payload), at) });
    }
    let record: Envelope = serde_json::from_str(&text).ok()?;
    let at = line::stamp(record.timestamp);
    Some(Record { at, what: what(record.kind, line::object(record.payload).as_ref(), at) })
}

fn what(kind: Field<'_>, payload: Option<&Payload<'_>>, at: Option<f64>) -> What {
    let kind = line::text(kind);
    match (kind.as_deref(), payload) {
        (Some("compacted"), _) => What::Compaction,
        (Some("turn_context"), Some(payload)) => model(payload.model),
        (Some("response_item"), Some(payload)) => response_item(payload),
        (Some("event_msg"), Some(payload)) => event(payload, at),
        _ => What::Nothing,
    }
}

fn model(field: Field<'_>) -> What {
    let name = line::text(field).map(|name| safe_text(&name, MODEL_CAP_CHARS).trim().to_owned());
    name.filter(|name| !name.is_empty()).map_or(What::Nothing, What::Model)
}

fn response_item(payload: &Payload<'_>) -> What {
    match line::text(payload.kind).as_deref() {
        Some("message") if line::text(payload.role).as_deref() == Some("user") => What::User(words(payload.content)),
        Some("compaction") => What::Compaction,
        Some("function_call") => {
            let name = line::text(payload.name);
            let tool = name.as_deref().unwrap_or_default();
            What::Call(Call {
                plan: if tool == plan::TOOL { Plan::from_arguments(payload.arguments) } else { None },
                dispatch: dispatch::read(tool, payload.arguments),
                tool: clean_tool(name),
            })
        }
        Some("custom_tool_call") => What::Call(Call {
            plan: payload
                .input
                .filter(|raw| raw.get().contains(plan::TOOL))
                .and_then(|raw| line::text(Some(raw)))
                .and_then(|source| Plan::from_script(&source)),
            dispatch: None,
            tool: clean_tool(line::text(payload.name)),
        }),
        _ => What::Nothing,
    }
}

fn clean_tool(name: Option<Cow<'_, str>>) -> Option<String> {
    let name = safe_text(&name?, TOOL_CAP_CHARS).trim().to_owned();
    (!name.is_empty()).then_some(name)
}

fn event(payload: &Payload<'_>, at: Option<f64>) -> What {
    let Some(kind) = line::text(payload.kind) else { return What::Nothing };
    match &*kind {
        "user_message" => What::User(words(payload.message)),
        "agent_message" => said(payload.phase, || answer(payload.message), || words(payload.message)),
        "item_completed" => item(payload.item),
        "task_started" => {
            What::Start(line::number(payload.started_at).map(numeric_epoch).filter(|started| *started > 0.0))
        }
        "task_complete" => What::Complete(answer(payload.last_agent_message)),
        "turn_aborted" => What::Aborted,
        // Undone turns are no longer the model's context either.
        "compacted" | "context_compacted" | "thread_rolled_back" => What::Compaction,
        "token_count" => What::Tokens(tokens(payload, at)),
        _ => What::Nothing,
    }
}

fn item(field: Field<'_>) -> What {
    let Some(item) = line::object::<Item>(field) else { return What::Nothing };
    match line::text(item.kind).as_deref() {
        Some("UserMessage") => What::User(words(item.content)),
        Some("AgentMessage") => said(item.phase, || blocks(item.content), || words(item.content)),
        Some("ContextCompaction") => What::Compaction,
        _ => What::Nothing,
    }
}

/// An agent's message by its phase: what it will do, or an answer.
fn said(phase: Field<'_>, answer: impl FnOnce() -> Option<String>, intent: impl FnOnce() -> String) -> What {
    let phase = line::nonempty(phase);
    if phase.as_deref() == Some("commentary") {
        return What::Commentary(intent());
    }
    answer().map_or(What::Nothing, |text| What::Answer(Answer { text, sure: phase.is_some() }))
}

/// Text of any shape, redacted and bounded (TEXT-001).
fn words(field: Field<'_>) -> String {
    field.and_then(|raw| serde_json::from_str::<Text>(raw.get()).ok()).map_or_else(String::new, |t| t.0.into_owned())
}

/// Most kept of an answer before it is cleaned, bytes: the cap, and room for a whole key behind it, which the redactor
/// must see in one piece.
const ANSWER_BYTES: usize = 4 * LAST_OUTPUT_CAP_CHARS + 8192;

fn answer(field: Field<'_>) -> Option<String> {
    let mut text = line::nonempty(field)?.into_owned();
    text.truncate(text.floor_char_boundary(ANSWER_BYTES));
    Some(text)
}

/// The text blocks of an agent's message, a line break between two.
fn blocks(field: Field<'_>) -> Option<String> {
    let mut out = String::new();
    for block in line::list(field)? {
        let Some(block) = line::object::<Block>(Some(block)) else { continue };
        if !matches!(line::text(block.kind).as_deref(), Some("Text" | "text")) {
            continue;
        }
        let Some(text) = line::nonempty(block.text) else { continue };
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(text.get(..text.floor_char_boundary(ANSWER_BYTES)).unwrap_or_default());
        if out.len() >= ANSWER_BYTES {
            break;
        }
    }
    (!out.is_empty()).then_some(out)
}

fn tokens(payload: &Payload<'_>, at: Option<f64>) -> Tokens {
    // Without a stamp nothing of it can be placed in time.
    let Some(at) = at else { return Tokens::default() };
    let info: Option<Info> = line::object(payload.info);
    let count = |field: Field<'_>| {
        let count: Count = line::object(field)?;
        let whole = |field| line::number(field).filter(|n| *n >= 1.0).map(|n| n as u64);
        Some((whole(count.output_tokens), whole(count.total_tokens)))
    };
    Tokens {
        output: info.as_ref().and_then(|i| count(i.last_token_usage)).and_then(|(output, _)| output),
        so_far: info.as_ref().and_then(|i| count(i.total_token_usage)).filter(|so_far| *so_far != (None, None)),
        usage: Usage::read(payload.rate_limits, at),
    }
}
