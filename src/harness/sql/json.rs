//! JSON of which only the beginning was read, closed so that a strict reader takes it.

use crate::text::json;
use std::borrow::Cow;

/// A cell's bytes as JSON text that a strict reader takes; `None` when it nests too deep. `cut` says that the cell went
/// on: what is open at the end is then closed there.
pub fn text(cell: &[u8], cut: bool) -> Option<Cow<'_, str>> {
    let cell = cell.trim_ascii_start();
    if !cut {
        return (!json::too_deep(cell)).then(|| json::lenient(cell));
    }
    let closed = close(cell)?;
    Some(Cow::Owned(json::lenient(&closed).into_owned()))
}

/// The longest beginning of a cut JSON text that can be closed, closed. A value that is cut is left out, but for a
/// string, which ends where the text does.
fn close(head: &[u8]) -> Option<Vec<u8>> {
    let mut open: Vec<u8> = Vec::new();
    // The end of what is whole, and whether the next string names a member.
    let (mut safe, mut key) = (0, false);
    let mut at = 0;
    while let Some(&byte) = head.get(at) {
        match byte {
            b'"' => match string_end(head, at) {
                Ok(end) => {
                    at = end;
                    if !std::mem::take(&mut key) {
                        safe = end;
                    }
                    continue;
                }
                Err(end) if !key => {
                    return Some(closed(head.get(..end)?, b"\"", &open));
                }
                Err(_) => break,
            },
            b'{' | b'[' => {
                key = byte == b'{';
                open.push(if key { b'}' } else { b']' });
                if open.len() > json::MAX_DEPTH {
                    return None;
                }
                safe = at + 1;
            }
            b'}' | b']' => {
                open.pop()?;
                safe = at + 1;
                key = false;
            }
            b',' => key = open.last() == Some(&b'}'),
            b':' | b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => {
                let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
                let Some(len) = head.get(at..)?.iter().position(ends) else { break };
                at += len;
                safe = at;
                continue;
            }
        }
        at += 1;
    }
    Some(closed(head.get(..safe)?, b"", &open))
}

fn closed(head: &[u8], end: &[u8], open: &[u8]) -> Vec<u8> {
    head.iter().chain(end).chain(open.iter().rev()).copied().collect()
}

/// Offset behind the string that begins at `at`; when it is cut, the last offset at which it may be ended.
fn string_end(head: &[u8], at: usize) -> Result<usize, usize> {
    let mut at = at + 1;
    loop {
        let Some(found) = head.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) else {
            // A character cut in its middle is mended later like any other bytes that are no text.
            return Err(head.len());
        };
        at += found;
        if head.get(at) == Some(&b'"') {
            return Ok(at + 1);
        }
        let len = if head.get(at + 1) == Some(&b'u') { 6 } else { 2 };
        if at + len > head.len() {
            return Err(at);
        }
        at += len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// OC-042: a cut cell is read as far as it goes.
    #[test]
    fn oc_042_a_cut_cell_is_read_as_far_as_it_goes() {
        for (head, want) in [
            (r#"{"type":"text","text":"ab"#, r#"{"type":"text","text":"ab"}"#),
            (r#"{"type":"text","text":"a\"b\u00"#, r#"{"type":"text","text":"a\"b"}"#),
            (r#"{"type":"text","te"#, r#"{"type":"text"}"#),
            (r#"{"type":"text","text":"#, r#"{"type":"text"}"#),
            (r#"{"type":"text","n":12"#, r#"{"type":"text"}"#),
            (r#"{"n":12,"l":[1,{"a":tr"#, r#"{"n":12,"l":[1,{}]}"#),
            (r#"[{"type":"toolResponse","id":"t1","x":["#, r#"[{"type":"toolResponse","id":"t1","x":[]}]"#),
            (r#"{"a":{"b":"x"},"c"#, r#"{"a":{"b":"x"}}"#),
            ("", ""),
        ] {
            assert_eq!(text(head.as_bytes(), true).unwrap(), want, "{head}");
        }
        assert!(text("[".repeat(2000).as_bytes(), true).is_none());
        assert!(text("[".repeat(2000).as_bytes(), false).is_none());
        assert_eq!(text(br#"{"a":"\ud800"}"#, false).unwrap(), r#"{"a":"\ufffd"}"#);
    }

    proptest! {
        /// Every beginning of a JSON object is a JSON object with members of the whole, the last one shortened at most.
        #[test]
        fn oc_042_every_beginning_closes(text in "[ -~é]{0,12}", n in any::<i32>(), at in 0usize..200) {
            let whole = serde_json::json!({"a": text, "n": n, "l": [text, {"b": [n, null, true]}], "z": {"c": text}});
            let bytes = serde_json::to_vec(&whole).unwrap();
            let head = &bytes[..at.clamp(1, bytes.len())];
            let got: Value = serde_json::from_str(&super::text(head, true).unwrap()).unwrap();
            for (key, value) in got.as_object().unwrap() {
                match (value, &whole[key]) {
                    (Value::String(part), Value::String(all)) => {
                        let part = part.trim_end_matches('\u{fffd}');
                        prop_assert!(all.starts_with(part), "{part} of {all}");
                    }
                    (Value::Number(part), all) => prop_assert_eq!(&Value::Number(part.clone()), all),
                    (part, all) => prop_assert_eq!(part.is_object(), all.is_object()),
                }
            }
        }

        #[test]
        fn trust_061_any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..300), cut in any::<bool>()) {
            drop(super::text(&bytes, cut));
        }
    }
}
