//! Spacedock's boot envelope in the output of a command: what tells a first officer and names its workflows (SPD-010 to
//! SPD-015). Nothing it names is opened here.
//!
//! Callers hand in output text only, never conversation, and only of lines that hold [`CUE`] (SPD-010, SPD-011).

use super::line::{Field, object};
use super::shape::{Str, each};
use serde::Deserialize;

/// Bytes without which a line holds no envelope.
pub const CUE: &[u8] = b"definition_dir";
/// Envelopes kept of one transcript.
pub const KEPT: usize = 16;

/// Where an envelope in JSON form begins.
const OPENING: &str = "{\"command\"";
/// Places tried in one text.
const TRIED: usize = 64;
/// Dispatchable entities taken from one envelope.
const DISPATCHABLE: usize = 96;
/// Longest directory, slug or stage taken, bytes.
const VALUE_CAP: usize = 4096;

/// One boot envelope. Directories are as written: nothing is known of them yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    pub definition_dir: Option<String>,
    pub entity_dir: Option<String>,
    /// Slug and current stage.
    pub dispatchable: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    command: Str<'a>,
    #[serde(borrow, default)]
    definition_dir: Str<'a>,
    #[serde(borrow, default)]
    entity_dir: Str<'a>,
    #[serde(borrow, default)]
    dispatchable: Field<'a>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default)]
    slug: Str<'a>,
    #[serde(borrow, default)]
    current: Str<'a>,
}

/// The envelopes in one text of command output, in their order, JSON form before rendered form.
pub fn envelopes(text: &str) -> Vec<Boot> {
    let mut found = Vec::new();
    json_form(text, &mut found);
    rendered_form(text, &mut found);
    found.truncate(KEPT);
    found
}

/// Whether a JSON text is one boot envelope; its fields then.
pub fn envelope(json: &str) -> Option<Boot> {
    boot(&serde_json::from_str(json).ok()?)
}

fn json_form(text: &str, found: &mut Vec<Boot>) {
    let mut at = 0;
    for _ in 0..TRIED {
        let Some(start) = text.get(at..).and_then(|rest| rest.find(OPENING)).map(|i| at + i) else { return };
        let mut values =
            serde_json::Deserializer::from_str(text.get(start..).unwrap_or_default()).into_iter::<Envelope<'_>>();
        match values.next() {
            Some(Ok(envelope)) => {
                found.extend(boot(&envelope));
                at = start + values.byte_offset().max(1);
            }
            _ => at = start + 1,
        }
    }
}

fn boot(envelope: &Envelope<'_>) -> Option<Boot> {
    if !envelope.command.is("boot") {
        return None;
    }
    let mut dispatchable = Vec::new();
    each(envelope.dispatchable, &mut |raw| {
        if dispatchable.len() < DISPATCHABLE
            && let Some(item) = object::<Item<'_>>(Some(raw))
            && let (Some(slug), Some(current)) = (bounded(&item.slug), bounded(&item.current))
        {
            dispatchable.push((slug, current));
        }
    });
    Some(Boot {
        definition_dir: bounded(&envelope.definition_dir),
        entity_dir: bounded(&envelope.entity_dir),
        dispatchable,
    })
}

fn bounded(text: &Str<'_>) -> Option<String> {
    text.nonempty().filter(|text| text.len() <= VALUE_CAP).map(str::to_owned)
}

/// An envelope printed by a formatter: `key: "value"` at column 0 (SPD-013).
fn rendered_form(text: &str, found: &mut Vec<Boot>) {
    let mut open: Option<Rendered> = None;
    for line in text.lines() {
        let inside = line.starts_with([' ', '\t', '-']);
        if !inside && pair(line).is_some_and(|(key, _)| key == "command") {
            found.extend(open.take().and_then(Rendered::finish));
            open = Some(Rendered::default());
        }
        if let Some(rendered) = &mut open {
            rendered.line(line, inside);
        }
        if found.len() >= KEPT {
            return;
        }
    }
    found.extend(open.and_then(Rendered::finish));
}

#[derive(Default)]
struct Rendered {
    is_boot: bool,
    boot: Boot,
    in_list: bool,
    slug: Option<String>,
    current: Option<String>,
}

impl Rendered {
    fn line(&mut self, line: &str, inside: bool) {
        if inside {
            self.item(line);
            return;
        }
        self.close_item();
        self.in_list = line.trim_end() == "dispatchable:";
        match pair(line) {
            Some(("command", value)) => self.is_boot = value == "boot",
            Some(("definition_dir", value)) => self.boot.definition_dir = Some(value),
            Some(("entity_dir", value)) => self.boot.entity_dir = Some(value),
            _ => {}
        }
    }

    fn item(&mut self, line: &str) {
        if !self.in_list {
            return;
        }
        let mut rest = line.trim();
        if let Some(first) = rest.strip_prefix('-') {
            self.close_item();
            rest = first.trim();
        }
        match pair(rest) {
            Some(("slug", value)) => self.slug = Some(value),
            Some(("current", value)) => self.current = Some(value),
            _ => {}
        }
    }

    fn close_item(&mut self) {
        if let (Some(slug), Some(current)) = (self.slug.take(), self.current.take())
            && self.boot.dispatchable.len() < DISPATCHABLE
        {
            self.boot.dispatchable.push((slug, current));
        }
    }

    fn finish(mut self) -> Option<Boot> {
        self.close_item();
        (self.is_boot && self.boot.definition_dir.is_some()).then_some(self.boot)
    }
}

/// The key and the quoted value of a line.
fn pair(line: &str) -> Option<(&str, String)> {
    let (key, value) = line.trim_end().split_once(": ")?;
    let value: String = serde_json::from_str(value.trim()).ok()?;
    (!value.is_empty() && value.len() <= VALUE_CAP).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"command":"boot","id_style":"slug","dispatchable":[{"slug":"case-7","current":"verify","next":"uat"},7,{"slug":4}],"definition_dir":"/w/one","entity_dir":"/w/one/.spacedock-state"}"#;
    const RENDERED: &str = "command: \"boot\"\ndispatchable:\n  -\n    slug: \"case-7\"\n    current: \"verify\"\ndefinition_dir: \"/w/one\"\nentity_dir: \"/w/one/.spacedock-state\"\n";

    fn want() -> Boot {
        Boot {
            definition_dir: Some("/w/one".into()),
            entity_dir: Some("/w/one/.spacedock-state".into()),
            dispatchable: vec![("case-7".into(), "verify".into())],
        }
    }

    #[test]
    fn spd_012_015_json_form_anywhere_in_the_text() {
        assert_eq!(envelopes(&format!("boot says {JSON} and more")), [want()]);
        assert_eq!(envelopes(&format!("{{\"command\":\"list\"}}{{\"command\" {JSON}{JSON}")), [want(), want()]);
        for odd in [
            "",
            "{\"command\":\"boots\",\"definition_dir\":\"/w\"}",
            "{\"command\":[\"boot\"]}",
            "{ \"command\":\"boot\"}",
        ] {
            assert_eq!(envelopes(odd), [], "{odd}");
        }
        assert_eq!(envelope(JSON), Some(want()));
        assert_eq!(envelope(&format!("{JSON} more")), None);
    }

    #[test]
    fn spd_013_rendered_form_at_column_0_only() {
        assert_eq!(envelopes(RENDERED), [want()]);
        assert_eq!(envelopes(&format!("output follows\n{RENDERED}\ndone: \"x\"")), [want()]);
        assert_eq!(envelopes(&RENDERED.replace("definition_dir", "  definition_dir")), []);
        assert_eq!(envelopes(&RENDERED.replace("\"boot\"", "\"list\"")), []);
        assert_eq!(envelopes(&RENDERED.replace("command: \"boot\"\n", "")), []);
        let inline = "command: \"boot\"\ndispatchable:\n- slug: \"a1\"\n  current: \"b\"\ndefinition_dir: \"/w\"";
        assert_eq!(envelopes(inline)[0].dispatchable, [("a1".to_owned(), "b".to_owned())]);
    }

    #[test]
    fn spd_012_decoys_and_depth_cost_little() {
        let started = std::time::Instant::now();
        assert_eq!(envelopes(&OPENING.repeat(40_000)), []);
        assert_eq!(envelopes(&format!("{OPENING}:{}", "[".repeat(100_000))), []);
        let found = envelopes(&format!("{}{JSON}", OPENING.repeat(63)));
        assert_eq!(found, [want()]);
        assert_eq!(envelopes(&format!("{}{JSON}", OPENING.repeat(64))), []);
        assert!(started.elapsed().as_secs() < 1);
    }
}
