//! The first line of a rollout that Codex compressed after a week of rest (FIELD-003): enough to tell whose it is. The
//! rest of it is never decoded.
//!
//! A frame is a header and a row of blocks (RFC 8878, section 3.1.1). The first block or two are cut out and closed as
//! a frame of their own, so that neither the window nor the length of the original costs anything.

use crate::config::FIRST_LINE_JSON_CAP_BYTES;
use crate::surface::read::{ReadError, Reader};
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;
use std::path::Path;

/// Largest block a frame may hold, compressed or not, bytes.
const BLOCK_CAP: usize = 128 * 1024;
/// Blocks that are decoded.
const BLOCKS: usize = 2;
/// Longest header of a frame with its magic number, bytes.
const HEADER_CAP: usize = 18;
/// Most read of a file, bytes.
const READ_CAP: u64 = (HEADER_CAP + BLOCKS * (3 + BLOCK_CAP)) as u64;
/// Bytes read at first; a usual first line lies in them.
const FIRST_READ: u64 = 64 * 1024;
/// Largest window that is believed: a frame of the highest ordinary level has 8 MiB.
const WINDOW_CAP: u64 = 8 * 1024 * 1024;
const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// The first line, `None` when the file is no frame that can be read, or its first line is too long.
pub fn first_line(path: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    let mut reader = Reader::open(path)?;
    let len = reader.stamp().len;
    for (blocks, most) in [(1, FIRST_READ), (1, READ_CAP), (BLOCKS, READ_CAP)] {
        let bytes = reader.range(0, len.min(most))?;
        let Some(text) = head(&bytes, blocks).and_then(|frame| decode(&frame)) else { continue };
        if let Some(end) = memchr::memchr(b'\n', &text) {
            return Ok(text.get(..end).map(<[u8]>::to_vec));
        }
    }
    Ok(None)
}

/// The first blocks of a frame as a frame of their own; `None` when `bytes` do not hold them whole.
fn head(bytes: &[u8], blocks: usize) -> Option<Vec<u8>> {
    let mut at = header_len(bytes)?;
    let mut out = bytes.get(..at)?.to_vec();
    // No checksum follows: it would be that of the whole.
    *out.get_mut(4)? &= !0b100;
    for n in 1..=blocks {
        let header = bytes.get(at..at + 3)?;
        let word = header.iter().rev().fold(0usize, |word, byte| word << 8 | usize::from(*byte));
        let (last, kind, size) = (word & 1 == 1, word >> 1 & 3, word >> 3);
        if size > BLOCK_CAP {
            return None;
        }
        // A run holds its one byte, whatever its length.
        let body = bytes.get(at + 3..at + 3 + if kind == 1 { 1 } else { size })?;
        let closing = last || n == blocks;
        let word = word & !1 | usize::from(closing);
        out.extend(word.to_le_bytes().get(..3)?);
        out.extend(body);
        at += 3 + body.len();
        if closing {
            return Some(out);
        }
    }
    None
}

/// Length of a frame's header, its magic number included.
fn header_len(bytes: &[u8]) -> Option<usize> {
    let descriptor = *bytes.strip_prefix(&MAGIC)?.first()?;
    let single_segment = descriptor & 0b10_0000 != 0;
    let dictionary = [0, 1, 2, 4].get(usize::from(descriptor & 0b11))?;
    let content_size = match descriptor >> 6 {
        0 => usize::from(single_segment),
        n => 1usize << n,
    };
    Some(MAGIC.len() + 1 + usize::from(!single_segment) + dictionary + content_size)
}

fn decode(frame: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let decoder = StreamingDecoder::new_with_max_window_size(frame, WINDOW_CAP).ok()?;
    decoder.take(FIRST_LINE_JSON_CAP_BYTES as u64).read_to_end(&mut out).ok()?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn file(name: &str, bytes: &[u8]) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("cargento-packed-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn first(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        let path = file(name, bytes);
        let line = first_line(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        line
    }

    #[test]
    fn field_003_the_first_line_of_any_length_up_to_the_cap() {
        for (n, long) in [10, 1000, 120_000, 190_000, 300_000].into_iter().enumerate() {
            let line: String = (0..long).map(|i: u64| char::from(b'a' + (i * i % 23) as u8)).collect();
            let text = format!("{line}\n{}", "more\n".repeat(100_000));
            let want = (long < 200_000).then(|| line.into_bytes());
            for level in [CompressionLevel::Fastest, CompressionLevel::Uncompressed] {
                assert_eq!(first(&format!("len{n}"), &compress_to_vec(text.as_bytes(), level)), want, "{long}");
            }
        }
    }

    proptest! {
        #[test]
        fn field_003_trust_061_any_bytes_are_survived(
            bytes in proptest::collection::vec(any::<u8>(), 0..400), keep in 0..300usize, noise in proptest::collection::vec((0..400usize, any::<u8>()), 0..6),
        ) {
            let _ = head(&bytes, 2).and_then(|frame| decode(&frame));
            let text = "{\"type\":\"session_meta\",\"payload\":{\"id\":\"x\"}}\nabcabcabcabcabc\n".repeat(9);
            let mut frame = compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
            for (at, byte) in noise {
                let len = frame.len();
                frame[at % len] = byte;
            }
            frame.truncate(keep);
            let _ = head(&frame, 1).and_then(|frame| decode(&frame));
            let _ = head(&frame, 2).and_then(|frame| decode(&frame));
        }
    }
}
