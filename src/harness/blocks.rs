//! Contents that are lists of typed blocks, as several harnesses write messages: asked for by kind, with everything else
//! in them skipped unbuilt. Inputs, results and reasoning stand in such blocks and never become a value here.

use super::line::{Field, object};
use super::shape::{Str, each};
use crate::config::TOOL_CAP_CHARS;
use crate::text::safe_name;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow, default)]
    name: Str<'a>,
}

/// Hands over the blocks of a kind, in order. Most contents hold none, and their bytes alone tell so.
fn of_kind<'a>(content: Field<'a>, kind: &str, take: &mut dyn FnMut(&Block<'a>)) {
    let may_hold = |raw: &&RawValue| memmem::find(raw.get().as_bytes(), kind.as_bytes()).is_some();
    each(content.filter(may_hold), &mut |raw| {
        if let Some(block) = object::<Block<'_>>(Some(raw)).filter(|block| block.kind.is(kind)) {
            take(&block);
        }
    });
}

/// Whether a content holds a block of a kind.
pub fn holds(content: Field<'_>, kind: &str) -> bool {
    let mut found = false;
    of_kind(content, kind, &mut |_| found = true);
    found
}

/// The tool that the last named block of a kind calls, as it may be shown.
pub fn last_tool(content: Field<'_>, kind: &str) -> Option<Arc<str>> {
    let mut last = None;
    of_kind(content, kind, &mut |block| {
        if let Some(name) = block.name.get().and_then(|name| safe_name(name, TOOL_CAP_CHARS)) {
            last = Some(name.into());
        }
    });
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DROID-010, DROID-011, PI-021: the last named call of a content, and whether it holds a result.
    #[test]
    fn droid_010_pi_021_blocks_are_found_by_kind_whatever_stands_beside_them() {
        let of = |json: &str| {
            let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
            (last_tool(Some(&raw), "tool_use"), holds(Some(&raw), "tool_result"))
        };
        let tool = |name: &str| Some(Arc::from(name));
        assert_eq!(
            of(r#"[{"type":"tool_use","name":"Read"},{"type":"tool_use","name":"Bash"}]"#),
            (tool("Bash"), false)
        );
        assert_eq!(
            of(r#"[{"type":"tool_use","name":"Read"},4,null,{"type":"tool_use","name":9}]"#),
            (tool("Read"), false)
        );
        assert_eq!(
            of(r#"[{"type":"text","text":"tool_use tool_result","name":"x"},{"type":"tool_result"}]"#),
            (None, true)
        );
        assert_eq!(of(r#"[{"type":"tool_use","name":" \u0007 "}]"#), (None, false), "nothing of it can be shown");
        for none in
            [r#""tool_use tool_result""#, r#"{"type":"tool_use","name":"x"}"#, "null", "[]", r#"[["tool_use"]]"#]
        {
            assert_eq!(of(none), (None, false), "{none}");
        }
        assert_eq!((last_tool(None, "tool_use"), holds(None, "tool_result")), (None, false));
        let long = format!(r#"[{{"type":"tool_use","name":"{}"}}]"#, "n".repeat(200));
        assert_eq!(of(&long).0.unwrap().len(), TOOL_CAP_CHARS);
    }
}
