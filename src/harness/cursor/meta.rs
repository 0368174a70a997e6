//! The payload of a chat store and the file beside it: name, root blob, parent, workspace (CUR-006 to CUR-010).
//!
//! The payload also holds a key for blobs and the last model chosen. Only the members named here are built.

use super::META_JSON;
use super::chat::Chat;
use crate::config::{FIRST_LINE_JSON_CAP_BYTES, SUBAGENT_NAME_CAP_CHARS, TITLE_CAP_CHARS};
use crate::harness::line::{self, Field};
use crate::surface::read::{self, Reader, Stamp};
use crate::text::{json, safe_name, safe_text};
use serde::Deserialize;
use std::borrow::Cow;
use std::path::Path;

/// Longest parent id kept, characters.
const PARENT_CAP: usize = 120;
/// Longest workspace believed, bytes.
const WORKSPACE_CAP: usize = 4096;
/// Length of a blob's id in hex.
const ROOT_LEN: usize = 64;

/// What the rows of the payload said so far; the first usable value of each kind stands.
#[derive(Default)]
pub struct Payload {
    objects: usize,
    name: Option<String>,
    root: Option<String>,
    parent: Option<(String, Option<String>)>,
    /// The best workspace so far and how far it is from the best possible.
    workspace: Option<(usize, String)>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Record<'a> {
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    title: Field<'a>,
    #[serde(borrow, rename = "latestRootBlobId")]
    root: Field<'a>,
    #[serde(borrow, rename = "subagentInfo")]
    subagent: Field<'a>,
    #[serde(borrow, rename = "workspacePath")]
    workspace_path: Field<'a>,
    #[serde(borrow)]
    workspace: Field<'a>,
    #[serde(borrow, rename = "rootPath")]
    root_path: Field<'a>,
    #[serde(borrow, rename = "projectPath")]
    project_path: Field<'a>,
    #[serde(borrow)]
    folder: Field<'a>,
    #[serde(borrow)]
    cwd: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Subagent<'a> {
    #[serde(borrow, rename = "rootParentAgentId")]
    root_parent: Field<'a>,
    #[serde(borrow, rename = "parentAgentId")]
    parent: Field<'a>,
    #[serde(borrow, rename = "typeName")]
    kind: Field<'a>,
}

impl Payload {
    /// A payload of which only the workspace that the file beside it names is known; that one is trusted most.
    pub fn new(beside: Option<String>) -> Payload {
        Payload { workspace: beside.map(|w| (0, w)), ..Payload::default() }
    }

    /// Takes one value: JSON as it is, or in hex.
    pub fn take(&mut self, value: &[u8]) {
        if self.object(value).is_none()
            && let Some(decoded) = unhex(value)
        {
            self.object(&decoded);
        }
    }

    fn object(&mut self, bytes: &[u8]) -> Option<()> {
        let text = json::record(bytes)?;
        let record: Record<'_> = line::parse(text.as_bytes())?;
        self.objects += 1;
        if self.name.is_none() {
            let usable = |field| line::text(field).and_then(|t| safe_name(t.trim(), TITLE_CAP_CHARS));
            self.name = usable(record.name).or_else(|| usable(record.title));
        }
        if self.root.is_none() {
            self.root = line::text(record.root).filter(|id| is_blob_id(id)).map(Cow::into_owned);
        }
        if self.parent.is_none() {
            self.parent = record.subagent.and_then(|info| parent(line::object(Some(info))?));
        }
        let ranked =
            [record.workspace_path, record.workspace, record.root_path, record.project_path, record.folder, record.cwd];
        for (rank, field) in (1..).zip(ranked) {
            if self.workspace.as_ref().is_some_and(|(best, _)| *best <= rank) {
                break;
            }
            if let Some(found) = line::text(field).and_then(|text| usable_directory(&text)) {
                self.workspace = Some((rank, found));
            }
        }
        Some(())
    }

    /// Whether any value was an object.
    pub fn is_read(&self) -> bool {
        self.objects > 0
    }

    /// Whether no later row can add anything.
    pub fn is_complete(&self) -> bool {
        self.name.is_some() && self.root.is_some() && self.workspace.as_ref().is_some_and(|(rank, _)| *rank <= 1)
    }

    /// The blob that lists the messages.
    pub fn root(&self) -> Option<&str> {
        self.root.as_deref()
    }

    /// Puts what was found into a chat.
    pub fn into(self, chat: &mut Chat) {
        chat.name = self.name;
        chat.workspace = self.workspace.map(|(_, path)| path);
        if let Some((parent, kind)) = self.parent {
            chat.parent = Some(parent);
            chat.kind = kind;
        }
    }
}

/// The agent a subagent counts for, and its kind.
fn parent(info: Subagent<'_>) -> Option<(String, Option<String>)> {
    let id = |field| line::text(field).and_then(|text| safe_name(&text, PARENT_CAP));
    let parent = id(info.root_parent).or_else(|| id(info.parent))?;
    let kind = line::text(info.kind).map(|kind| safe_text(&kind, SUBAGENT_NAME_CAP_CHARS).trim().to_owned());
    Some((parent, kind.filter(|k| !k.is_empty())))
}

fn is_blob_id(id: &str) -> bool {
    id.len() == ROOT_LEN && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |b: &u8| char::from(*b).to_digit(16).map(|d| d as u8);
    let text = text.trim_ascii();
    if text.is_empty() || !text.len().is_multiple_of(2) {
        return None;
    }
    text.chunks_exact(2).map(|pair| Some(digit(pair.first()?)? << 4 | digit(pair.last()?)?)).collect()
}

/// The file beside a store as it stands, and the workspace it names; a subagent's chat has none (CUR-009).
pub fn beside(dir: &Path) -> (Option<Stamp>, Option<String>) {
    let Ok(mut file) = Reader::open(&dir.join(META_JSON)) else { return (None, None) };
    let (stamp, cap) = (file.stamp(), FIRST_LINE_JSON_CAP_BYTES as u64);
    let bytes = file.range(0, stamp.len.min(cap)).unwrap_or_default();
    (Some(stamp), workspace(&bytes, stamp.len <= cap))
}

fn workspace(bytes: &[u8], whole: bool) -> Option<String> {
    let first = bytes.split(|b| *b == b'\n').next()?;
    let cwd = |bytes: &[u8]| {
        let text = json::record(bytes)?;
        let record: Record<'_> = line::parse(text.as_bytes())?;
        line::text(record.cwd).map(Cow::into_owned)
    };
    // One line as Cursor writes it; a file spread over several is one object as well.
    let cwd = cwd(first).or_else(|| whole.then(|| cwd(bytes)).flatten())?;
    usable_directory(&cwd)
}

/// A path or a `file://` URI of this machine, when it names a directory that exists: a wrong one would label the row
/// confidently and wrongly (CUR-008).
fn usable_directory(text: &str) -> Option<String> {
    let path = match text.strip_prefix("file://") {
        None => text.to_owned(),
        Some(rest) if rest.starts_with('/') => {
            let path = percent_decoded(rest)?;
            let drive = path.get(1..).filter(|rest| is_drive(rest));
            if cfg!(windows) { drive.map_or_else(|| path.clone(), str::to_owned) } else { path }
        }
        Some(_) => return None,
    };
    let absolute = path.starts_with('/') || is_drive(&path);
    let fits = absolute && path.len() <= WORKSPACE_CAP && !path.contains('\0');
    (fits && read::is_dir(Path::new(&path))).then_some(path)
}

fn is_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        let code = (*byte == b'%').then(|| behind.get(..2).and_then(unhex)).flatten();
        match code {
            Some(code) => {
                out.extend(code);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*byte);
                rest = behind;
            }
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&[u8]]) -> Payload {
        let mut payload = Payload::default();
        for value in values {
            payload.take(value);
        }
        payload
    }

    fn hex(text: &str) -> Vec<u8> {
        text.bytes().flat_map(|b| format!("{b:02x}").into_bytes()).collect()
    }

    /// CUR-006, CUR-032: plain JSON, hex of either case, and everything else.
    #[test]
    fn cur_006_cur_032_values_in_every_encoding() {
        let good = r#"{"name":"Good"}"#;
        for value in [good.as_bytes(), &hex(good), &hex(good).to_ascii_uppercase()] {
            assert_eq!(read(&[value]).name.as_deref(), Some("Good"));
        }
        for bad in [&b"[]"[..], b"7", b"null", b"zz", b"", b"7b7", b"ffffff", &hex("[1]"), &hex("no")] {
            let payload = read(&[bad]);
            assert!(!payload.is_read(), "{bad:?}");
            assert_eq!(read(&[bad, good.as_bytes()]).name.as_deref(), Some("Good"));
        }
        let deep = format!(r#"{{"name":"x","l":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        assert!(!read(&[deep.as_bytes()]).is_read());
    }

    /// CUR-007, CUR-033, CUR-048: names, roots, parents and kinds.
    #[test]
    fn cur_007_cur_033_cur_048_names_roots_and_parents() {
        assert_eq!(read(&[br#"{"name":7,"title":" Good "}"#]).name.as_deref(), Some("Good"));
        assert_eq!(read(&[br#"{"name":"   "}"#, br#"{"title":"Later"}"#]).name.as_deref(), Some("Later"));
        let root = "ab".repeat(32);
        let with = |root: &str| read(&[format!(r#"{{"latestRootBlobId":"{root}"}}"#).as_bytes()]).root;
        assert_eq!(with(&root), Some(root.clone()));
        assert_eq!((with(&root.to_uppercase()), with("ab")), (None, None));
        let info = |json: &str| read(&[format!(r#"{{"subagentInfo":{json}}}"#).as_bytes()]).parent;
        let named = |p: &str, k: Option<&str>| Some((p.to_owned(), k.map(str::to_owned)));
        assert_eq!(
            info(r#"{"parentAgentId":"p","rootParentAgentId":" r ","typeName":"guide"}"#),
            named("r", Some("guide"))
        );
        assert_eq!(info(r#"{"parentAgentId":"p","rootParentAgentId":7,"typeName":"  "}"#), named("p", None));
        assert_eq!((info(r#"{"typeName":"x"}"#), info("[]"), info("null")), (None, None, None));
        let two = read(&[
            br#"{"subagentInfo":{"parentAgentId":"p"}}"#,
            br#"{"subagentInfo":{"parentAgentId":"q","typeName":"x"}}"#,
        ]);
        assert_eq!(two.parent, named("p", None), "kind and parent of one object");
    }

    /// CUR-008, CUR-009, CUR-034, CUR-035: only an existing directory is a workspace.
    #[cfg(unix)]
    #[test]
    fn cur_008_cur_034_cur_035_only_an_existing_directory_is_a_workspace() {
        let dir = crate::harness::testkit::Scratch::new("cursor-workspace");
        let at = |name: &str| dir.0.join(name).display().to_string();
        for name in ["a b", "second", "third"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        std::fs::write(at("file"), "").unwrap();
        let uri = |host: &str| format!("file://{host}{}", at("a b").replace(' ', "%20"));
        for bad in ["src/x", &at("file"), &at("missing"), &uri("host"), &uri("localhost"), "", "C:\\x", "file:///%00"] {
            assert_eq!(usable_directory(bad), None, "{bad}");
        }
        assert_eq!(usable_directory(&uri("")), Some(at("a b")));
        assert_eq!(usable_directory(&at("a b")), Some(at("a b")));
        let row = |json: String| json.into_bytes();
        let (one, five) = (
            row(format!(r#"{{"workspace":"{}"}}"#, at("second"))),
            row(format!(r#"{{"workspacePath":"{}","cwd":"{}"}}"#, at("a b"), at("third"))),
        );
        assert_eq!(read(&[&one, &five]).workspace, Some((1, at("a b"))));
        assert_eq!(read(&[&one, br#"{"workspacePath":"/no/such"}"#]).workspace, Some((2, at("second"))));
        for (text, want) in [
            (format!(r#"{{"cwd":"{}"}}"#, at("third")), Some(at("third"))),
            (format!("{{\n  \"cwd\": \"{}\"\n}}\n", at("third")), Some(at("third"))),
            (format!("{{\"cwd\":\"{}\"}}\ngarbage", at("third")), Some(at("third"))),
            (format!(r#"{{"cwd":"{}"#, at("third")), None),
            (format!(r#"{{"cwd":"{}","pad":"{}"}}"#, at("third"), "x".repeat(200_000)), None),
        ] {
            std::fs::write(dir.0.join(META_JSON), &text).unwrap();
            assert_eq!(beside(&dir.0).1, want, "{text:.60}");
        }
    }
}
