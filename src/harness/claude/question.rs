//! The line of an open question or plan, made when its record is parsed; the raw input is not kept (CLAUDE-042).

use super::record::Lenient;
use crate::config::INPUT_SUMMARY_CAP_CHARS;
use crate::harness::line::{self, Field};
use crate::text::safe_text;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The tools that stand open until a person answers (CLAUDE-040).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    AskUserQuestion,
    ExitPlanMode,
}

impl Tool {
    pub fn parse(name: &str) -> Option<Tool> {
        [Tool::AskUserQuestion, Tool::ExitPlanMode].into_iter().find(|tool| tool.as_str() == name)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Tool::AskUserQuestion => "AskUserQuestion",
            Tool::ExitPlanMode => "ExitPlanMode",
        }
    }
}

/// Most questions of one call that are counted.
const QUESTIONS: usize = 64;

/// What is asked, at most 160 characters; empty when the input holds nothing usable.
pub fn summary(tool: Tool, input: Field<'_>) -> String {
    match tool {
        Tool::AskUserQuestion => questions(input),
        Tool::ExitPlanMode => plan(input),
    }
}

#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(borrow, default)]
    questions: Questions<'a>,
}

#[derive(Deserialize)]
struct Planned<'a> {
    #[serde(borrow, default)]
    plan: Field<'a>,
}

#[derive(Deserialize)]
struct Question<'a> {
    #[serde(borrow, default)]
    question: Field<'a>,
}

fn questions(input: Field<'_>) -> String {
    let Some(asked) = line::object::<Asked>(input) else { return String::new() };
    let mut usable =
        asked.questions.0.iter().filter(|text| !safe_text(text, INPUT_SUMMARY_CAP_CHARS).trim().is_empty());
    let Some(first) = usable.next() else { return String::new() };
    match usable.count() {
        0 => safe_text(first, INPUT_SUMMARY_CAP_CHARS).trim().to_owned(),
        more => {
            let more = format!(" (+{more} more)");
            format!("{}{more}", safe_text(first, INPUT_SUMMARY_CAP_CHARS - more.len()).trim())
        }
    }
}

/// The first line of a plan that says something. Split before it is made safe, which would join the lines.
fn plan(input: Field<'_>) -> String {
    let Some(plan) = line::object::<Planned>(input).and_then(|p| line::text(p.plan)) else { return String::new() };
    let usable = |text: &str| {
        let text = safe_text(text, INPUT_SUMMARY_CAP_CHARS);
        let text = text.trim().trim_start_matches(['#', '*', '-', '>', '`', ' ']).trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    plan.split('\n').find_map(usable).unwrap_or_default()
}

/// The texts of a list of questions; odd elements are passed over.
#[derive(Default)]
struct Questions<'a>(Vec<Cow<'a, str>>);

impl<'de: 'a, 'a> Deserialize<'de> for Questions<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(List)
    }
}

struct List;

impl<'de> Visitor<'de> for List {
    type Value = Questions<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of questions")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while found.len() < QUESTIONS {
            let Some(question) = list.next_element::<Lenient<Question<'de>>>()? else { return Ok(Questions(found)) };
            found.extend(question.0.and_then(|q| line::nonempty(q.question)));
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Questions(found))
    }
}
