//! One event line of a Copilot session. What a type is not read for is skipped unread (COP-005): commands, paths, URLs,
//! intentions, arguments, results, answers, the model's reasoning.

use super::permission::Kind;
use crate::config::{MODEL_CAP_CHARS, SUBAGENT_NAME_CAP_CHARS, TOOL_CAP_CHARS};
use crate::harness::identity::blake2b_16;
use crate::harness::line::{self, Field};
use crate::harness::shape::{Maybe, Str};
use crate::text::json;
use crate::text::safe::safe_name;
use serde::Deserialize;

/// Longest id that is kept as it is, bytes; a longer one is kept as its digest.
const ID_BYTES: usize = 64;

/// Version of the CLI that wrote the newest sample of events (DECK-020).
const NEWEST_SAMPLE: [u32; 3] = [1, 0, 78];

/// What an event says.
#[derive(Clone, Debug, PartialEq)]
pub enum Said<'a> {
    /// A session began or was taken up: its working directory, if it names one, and whether the CLI is newer than any
    /// whose events were seen.
    Start {
        cwd: Option<String>,
        is_unseen: bool,
    },
    /// The operator's message, as its raw data.
    Prompt(&'a str),
    /// A tool was started.
    Tool(Option<String>),
    Asked {
        id: String,
        kind: Kind,
    },
    Answered {
        id: String,
    },
    SubagentStarted {
        key: String,
        name: String,
        model: Option<String>,
    },
    SubagentOver {
        key: String,
    },
    /// The turn is over.
    End,
    /// Anything else, which only tells the time.
    Other,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    timestamp: Str<'a>,
    #[serde(borrow, default, rename = "agentId")]
    agent_id: Field<'a>,
    #[serde(borrow, default)]
    id: Field<'a>,
    #[serde(borrow, default)]
    data: Field<'a>,
}

#[derive(Deserialize)]
struct Start<'a> {
    #[serde(borrow, default)]
    context: Maybe<Context<'a>>,
    #[serde(borrow, default)]
    cwd: Str<'a>,
    #[serde(borrow, default, rename = "copilotVersion")]
    version: Str<'a>,
}

#[derive(Deserialize)]
struct Context<'a> {
    #[serde(borrow, default)]
    cwd: Str<'a>,
}

#[derive(Deserialize)]
struct Tool<'a> {
    #[serde(borrow, default, rename = "toolName")]
    tool_name: Str<'a>,
    #[serde(borrow, default)]
    name: Str<'a>,
    #[serde(borrow, default)]
    tool: Str<'a>,
}

#[derive(Deserialize)]
struct Permission<'a> {
    #[serde(borrow, default, rename = "requestId")]
    request_id: Field<'a>,
    #[serde(borrow, default, rename = "permissionRequest")]
    request: Maybe<Request<'a>>,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow, default)]
    kind: Str<'a>,
}

#[derive(Default, Deserialize)]
struct Subagent<'a> {
    #[serde(borrow, default)]
    id: Field<'a>,
    #[serde(borrow, default, rename = "subagentId")]
    subagent_id: Field<'a>,
    #[serde(borrow, default)]
    name: Str<'a>,
    #[serde(borrow, default, rename = "agentName")]
    agent_name: Str<'a>,
    #[serde(borrow, default)]
    agent: Str<'a>,
    #[serde(borrow, default, rename = "agentType")]
    agent_type: Str<'a>,
    #[serde(borrow, default)]
    model: Str<'a>,
}

/// Reads a line and hands its time and meaning to `each`; `None` when it is no event (COP-007).
pub fn read<R>(line: &[u8], each: impl FnOnce(Option<f64>, Said<'_>) -> R) -> Option<R> {
    let text = json::record(line)?;
    let event: Event = serde_json::from_str(&text).ok()?;
    let said = event.said()?;
    Some(each(event.timestamp.stamp(), said))
}

impl<'a> Event<'a> {
    /// `None` when the event does not name its type.
    fn said(&self) -> Option<Said<'a>> {
        let said = match self.kind.get()? {
            "session.start" => self.start(),
            "user.message" => Said::Prompt(self.data.map_or("null", serde_json::value::RawValue::get)),
            "tool.execution_start" => Said::Tool(self.tool()),
            "permission.requested" => self.asked().unwrap_or(Said::Other),
            "permission.completed" => self.answered().unwrap_or(Said::Other),
            "subagent.started" => self.subagent_started(),
            "subagent.completed" | "subagent.failed" => Said::SubagentOver { key: self.subagent_key(&self.subagent()) },
            "session.task_complete" | "session.shutdown" | "abort" => Said::End,
            _ => Said::Other,
        };
        Some(said)
    }

    fn start(&self) -> Said<'a> {
        let Some(start) = line::object::<Start<'_>>(self.data) else {
            return Said::Start { cwd: None, is_unseen: false };
        };
        let is_unseen = start.version.get().and_then(version).is_some_and(|version| version > NEWEST_SAMPLE);
        let context = start.context.0.unwrap_or(Context { cwd: Str::default() });
        Said::Start { cwd: context.cwd.nonempty().or(start.cwd.nonempty()).map(str::to_owned), is_unseen }
    }

    fn tool(&self) -> Option<String> {
        let tool: Tool = line::object(self.data)?;
        let name = tool.tool_name.nonempty().or(tool.name.nonempty()).or(tool.tool.nonempty())?;
        safe_name(name, TOOL_CAP_CHARS)
    }

    /// A request that no answer could name is dropped, since nothing would ever close it (COP-010).
    fn asked(&self) -> Option<Said<'a>> {
        let permission: Permission = line::object(self.data)?;
        let kind = permission.request.0.as_ref().and_then(|request| request.kind.get());
        Some(Said::Asked { id: id(permission.request_id)?, kind: Kind::of(kind) })
    }

    fn answered(&self) -> Option<Said<'a>> {
        let permission: Permission = line::object(self.data)?;
        Some(Said::Answered { id: id(permission.request_id)? })
    }

    fn subagent(&self) -> Subagent<'a> {
        line::object(self.data).unwrap_or_default()
    }

    /// COP-011: only the first is the same on start, completion and failure.
    fn subagent_key(&self, subagent: &Subagent<'_>) -> String {
        [self.agent_id, subagent.id, subagent.subagent_id, self.id].into_iter().find_map(id).unwrap_or_default()
    }

    /// COP-012.
    fn subagent_started(&self) -> Said<'a> {
        let subagent = self.subagent();
        let names = [&subagent.name, &subagent.agent_name, &subagent.agent, &subagent.agent_type];
        let name = names.into_iter().find_map(Str::nonempty).and_then(|name| safe_name(name, SUBAGENT_NAME_CAP_CHARS));
        Said::SubagentStarted {
            key: self.subagent_key(&subagent),
            name: name.unwrap_or_else(|| "subagent".into()),
            model: subagent.model.get().and_then(|model| safe_name(model, MODEL_CAP_CHARS)),
        }
    }
}

/// A version's first three numbers; `None` when it is none of that form.
fn version(text: &str) -> Option<[u32; 3]> {
    let mut parts = text.split(['.', '-', '+']).map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}

/// An id, which is a text that is not empty or a number.
fn id(field: Field<'_>) -> Option<String> {
    let id = match line::text(field) {
        Some(text) => text,
        None => line::number(field).and(field)?.get().into(),
    };
    match id.len() {
        0 => None,
        1..=ID_BYTES => Some(id.into_owned()),
        _ => Some(blake2b_16(id.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(line: &str) -> Option<String> {
        read(line.as_bytes(), |at, said| format!("{at:?} {said:?}"))
    }

    fn data(kind: &str, data: &str) -> String {
        told(&format!(r#"{{"type":"{kind}","data":{data}}}"#)).unwrap()
    }

    /// COP-007, COP-013: what each type is read for.
    #[test]
    fn cop_007_what_each_type_is_read_for() {
        let line = r#"{"type":"tool.execution_start","timestamp":"1970-01-01T00:00:08Z","data":{"toolName":"bash","arguments":{}}}"#;
        assert_eq!(told(line).unwrap(), r#"Some(8.0) Tool(Some("bash"))"#);
        assert_eq!(
            data("tool.execution_start", r#"{"toolName":["x"],"name":"","tool":"grep"}"#),
            r#"None Tool(Some("grep"))"#
        );
        assert_eq!(data("tool.execution_start", "7"), "None Tool(None)");
        assert_eq!(
            data("session.start", r#"{"context":{"cwd":"/a"},"cwd":"/b"}"#),
            r#"None Start { cwd: Some("/a"), is_unseen: false }"#
        );
        assert_eq!(
            data("session.start", r#"{"context":[],"cwd":"/b"}"#),
            r#"None Start { cwd: Some("/b"), is_unseen: false }"#
        );
        assert_eq!(data("session.start", "null"), "None Start { cwd: None, is_unseen: false }");
        for (version, unseen) in [
            ("1.0.78", false),
            ("1.0.79-beta.1", true),
            ("2.0.0", true),
            ("0.9.900", false),
            ("1.0", false),
            ("x", false),
        ] {
            let told = data("session.start", &format!(r#"{{"copilotVersion":"{version}"}}"#));
            assert_eq!(told, format!("None Start {{ cwd: None, is_unseen: {unseen} }}"), "{version} (DECK-020)");
        }
        assert_eq!(data("user.message", r#"{"content":"hi"}"#), r#"None Prompt("{\"content\":\"hi\"}")"#);
        for end in ["session.task_complete", "session.shutdown", "abort"] {
            assert_eq!(data(end, "{}"), "None End");
        }
        assert_eq!(data("assistant.message", r#"{"content":"never read"}"#), "None Other");
        for no_event in ["", "4", "[]", "junk", "{", r#"{"type":5}"#, r#"{"data":{}}"#] {
            assert_eq!(told(no_event), None, "{no_event}");
        }
    }

    /// COP-010, COP-033, COP-034: ids and kinds of requests.
    #[test]
    fn cop_010_cop_033_cop_034_a_request_needs_an_id_that_an_answer_can_name() {
        let asked = |id: &str, kind: &str| {
            data("permission.requested", &format!(r#"{{"requestId":{id},"permissionRequest":{{"kind":{kind}}}}}"#))
        };
        assert_eq!(asked("\"r\"", "\"shell\""), r#"None Asked { id: "r", kind: Shell }"#);
        assert_eq!(asked("\"r\"", "\"url\""), r#"None Asked { id: "r", kind: Url }"#);
        assert_eq!(asked("7", "\"memory\""), r#"None Asked { id: "7", kind: Other }"#);
        assert_eq!(asked("0", "[\"shell\"]"), r#"None Asked { id: "0", kind: Other }"#);
        for bad in ["[]", "{}", "true", "null", "\"\""] {
            assert_eq!(asked(bad, "\"shell\""), "None Other", "{bad}");
        }
        assert_eq!(data("permission.completed", r#"{"requestId":"7"}"#), r#"None Answered { id: "7" }"#);
        let long = format!("\"{}\"", "x".repeat(4000));
        assert!(asked(&long, "null").len() < 100, "an over-long id is kept as its digest");
    }

    /// COP-011, COP-012, COP-036: key, name and model of a subagent.
    #[test]
    fn cop_011_cop_012_cop_036_key_name_and_model_of_a_subagent() {
        let started = |line: &str| told(line).unwrap();
        assert_eq!(
            started(
                r#"{"type":"subagent.started","agentId":"a","id":"e","data":{"id":"d","name":"N","agentName":"x","model":" gpt "}}"#
            ),
            r#"None SubagentStarted { key: "a", name: "N", model: Some("gpt") }"#
        );
        assert_eq!(
            started(
                r#"{"type":"subagent.started","agentId":[1],"id":"e","data":{"id":{},"subagentId":9,"agentType":"explore","model":9}}"#
            ),
            r#"None SubagentStarted { key: "9", name: "explore", model: None }"#
        );
        assert_eq!(
            started(r#"{"type":"subagent.started","id":"e","data":{"name":["n"]}}"#),
            r#"None SubagentStarted { key: "e", name: "subagent", model: None }"#
        );
        assert_eq!(
            started(r#"{"type":"subagent.failed","agentId":true,"data":4}"#),
            r#"None SubagentOver { key: "" }"#
        );
    }

    proptest! {
        #[test]
        fn trust_033_any_line_ends_without_a_fault(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            read(&line, |_, _| ());
            for kind in ["user.message", "permission.requested", "subagent.started", "session.start"] {
                let value = String::from_utf8_lossy(&line).replace(['"', '\\'], "");
                told(&format!(r#"{{"type":"{kind}","agentId":"{value}","data":{{"requestId":{value}}}}}"#));
                told(&format!(r#"{{"type":"{kind}","data":{value}}}"#));
            }
        }
    }
}
