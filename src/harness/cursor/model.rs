//! Which model wrote a message, out of the bytes of its blob, and which messages a root blob lists.

use crate::config::CURSOR_ROOT_CHILDREN;

/// Field 1 with 32 bytes, as a root blob lists each message (Protocol Buffers wire format).
const FRAME: &[u8] = b"\x0a\x20";
/// Length of a blob's id, bytes.
const ID: usize = 32;
/// Longest model name, bytes.
const NAME: usize = 64;

/// The ids a root blob lists, oldest first: the newest of them, as hex. A frame that is cut at the end is none.
pub fn children(root: &[u8]) -> Vec<String> {
    let mut ids: Vec<&[u8]> = Vec::new();
    let mut rest = root;
    while let Some(id) = memchr::memmem::find(rest, FRAME).and_then(|at| rest.get(at + FRAME.len()..)) {
        let Some((id, behind)) = id.split_at_checked(ID) else { break };
        ids.push(id);
        rest = behind;
    }
    let newest = ids.get(ids.len().saturating_sub(CURSOR_ROOT_CHILDREN)..).unwrap_or_default();
    newest.iter().map(|id| id.iter().map(|b| format!("{b:02x}")).collect()).collect()
}

/// The model a message names, as it stands there.
pub fn named(message: &[u8]) -> Option<String> {
    const KEY: &[u8] = b"\"providerOptions\"";
    memchr::memmem::find_iter(message, KEY).find_map(|at| {
        let rest = inside(message.get(at + KEY.len()..)?, b"\"cursor\"")?;
        let rest = inside(rest, b"\"modelName\"")?;
        let rest = spaced(rest).strip_prefix(b":")?;
        let name = spaced(rest).strip_prefix(b"\"")?;
        let end = name.iter().take(NAME + 1).position(|b| *b == b'"').filter(|end| *end > 0)?;
        Some(String::from_utf8_lossy(name.get(..end)?).into_owned())
    })
}

/// What stands behind `: { key`.
fn inside<'a>(rest: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let rest = spaced(rest).strip_prefix(b":")?;
    let rest = spaced(rest).strip_prefix(b"{")?;
    spaced(rest).strip_prefix(key)
}

fn spaced(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CUR-012, CUR-051: the one pattern, its spaces and its length.
    #[test]
    fn cur_012_the_name_in_a_message() {
        let name = |text: &str| named(text.as_bytes());
        assert_eq!(name(r#"{"providerOptions":{"cursor":{"modelName":"vega"}}}"#), Some("vega".into()));
        assert_eq!(name("\"providerOptions\" : {\n \"cursor\" :{ \"modelName\": \"v\""), Some("v".into()));
        assert_eq!(
            name(r#"{"providerOptions":{"other":{}}},"providerOptions":{"cursor":{"modelName":"b"}}"#),
            Some("b".into())
        );
        for none in [
            r#""providerOptions":{"cursor":{"modelName":""}}"#,
            r#""providerOptions":{"cursor":{"modelName":7}}"#,
            "providerOptions",
            "",
        ] {
            assert_eq!(name(none), None, "{none}");
        }
        let long = |n: usize| format!(r#""providerOptions":{{"cursor":{{"modelName":"{}"}}}}"#, "x".repeat(n));
        assert_eq!((name(&long(64)), name(&long(65))), (Some("x".repeat(64)), None));
        assert_eq!(name("\"providerOptions\":{\"cursor\":{\"modelName\":\"a\u{7}b\"}}"), Some("a\u{7}b".into()));
    }

    /// CUR-011, CUR-036, CUR-037, CUR-040: frames of a root blob.
    #[test]
    fn cur_011_cur_036_cur_037_the_newest_children_of_a_root() {
        let root: Vec<u8> = (0..70u8).flat_map(|n| [FRAME, &[n; ID]].concat()).collect();
        let ids = children(&root);
        assert_eq!((ids.len(), ids.last().unwrap().as_str()), (64, "45".repeat(32).as_str()));
        assert_eq!(children(&root[..root.len() - 1]).last().unwrap(), &"44".repeat(32), "a cut frame is dropped");
        // Begun inside a frame whose bytes hold another: ids that name nothing, and then the right ones again.
        assert!(children(&[&b"\x0a\x20"[..], &[1; 30], &root].concat()).contains(&"45".repeat(32)));
        assert!(children(b"\x0a\x20short").is_empty() && children(b"").is_empty());
    }
}
