//! Reads a growing line file incrementally: only complete lines, each once; unchanged files are not opened.
//!
//! A file that shrank, was replaced or was rewritten in place is read anew. Lines longer than a cap are passed over
//! and counted, so no single line can size a buffer.

use crate::surface::read::{ReadError, Reader, Stamp};
use std::path::Path;

/// Longest line that is kept in memory, bytes; a longer one is passed over.
pub const LINE_CAP: usize = 8 * 1024 * 1024;
/// Bytes read at a time.
const CHUNK: usize = 128 * 1024;
/// Most read at a time inside a long line of a backward walk, bytes.
const LONG_CHUNK: usize = 2 * 1024 * 1024;
/// Bytes before the read position that must be unchanged for a grown file to count as appended to.
const GUARD: usize = 64;

/// One complete line, without its line end (LF or CR LF), and where it starts in the file.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    pub at: u64,
    pub bytes: &'a [u8],
}

/// What [`Tail::advance`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// Same stamp: nothing was opened.
    Same,
    /// Lines after the last position were handed out (possibly none).
    Grown,
    /// Read anew: what was folded before is void. `from_start` tells whether reading began at byte 0.
    Anew { from_start: bool },
}

/// Where the reading of one file stands.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    stamp: Option<Stamp>,
    /// Offset behind the last complete line.
    at: u64,
    guard: Vec<u8>,
    /// An over-long line is being passed over; its bytes up to `at` are done.
    in_long_line: bool,
    /// Lines passed over because of their length.
    pub long_lines: u64,
}

/// Receives a reading: told to forget first when the file is read anew, then given each line.
pub trait Fold {
    /// Everything folded so far belongs to a file that is no more.
    fn restart(&mut self, from_start: bool);
    fn line(&mut self, line: Line<'_>);
}

impl Tail {
    /// Brings `fold` up to the file as it stands. `stamp` is what the tree saw; a cold read starts at most `cold`
    /// bytes before the end, at the first line that begins there.
    pub fn advance(&mut self, path: &Path, stamp: Stamp, cold: u64, fold: &mut dyn Fold) -> Result<Advance, ReadError> {
        if self.stamp == Some(stamp) {
            return Ok(Advance::Same);
        }
        let mut reader = Reader::open(path)?;
        let now = reader.stamp();
        let grown = self.continues(now, &mut reader)?;
        if !grown {
            let from = now.len.saturating_sub(cold);
            let mut begin = from;
            *self = Tail::default();
            if from > 0 {
                // The line that `from` falls into was begun before it, unless a line end stands right before.
                begin = first_line_start(&mut reader, from, now.len)?;
            }
            self.at = begin;
            fold.restart(from == 0);
            self.read_on(&mut reader, now, fold)?;
            return Ok(Advance::Anew { from_start: from == 0 });
        }
        self.read_on(&mut reader, now, fold)?;
        Ok(Advance::Grown)
    }

    /// Takes up an opened file at its end without handing anything out, for callers that read it backward themselves;
    /// returns the position, which is behind the last complete line.
    pub fn seek_end(&mut self, reader: &mut Reader) -> Result<u64, ReadError> {
        let stamp = reader.stamp();
        let floor = stamp.len.saturating_sub(LINE_CAP as u64);
        let mut from = stamp.len;
        let mut end = None;
        while end.is_none() && from > floor {
            let to = from;
            from = to.saturating_sub(CHUNK as u64).max(floor);
            end = memchr::memrchr(b'\n', &reader.range(from, to)?).map(|i| from + i as u64 + 1);
        }
        // A line that is longer than any line kept is passed over to its end.
        let in_long_line = end.is_none() && floor > 0;
        let at = end.unwrap_or(if in_long_line { stamp.len } else { 0 });
        let guard = reader.range(at.saturating_sub(GUARD as u64), at)?;
        *self = Tail { stamp: Some(stamp), at, guard, in_long_line, long_lines: u64::from(in_long_line) };
        Ok(at)
    }

    /// Offset behind the last complete line.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// The stamp of the file as last read.
    pub fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    fn continues(&self, now: Stamp, reader: &mut Reader) -> Result<bool, ReadError> {
        let Some(then) = self.stamp else { return Ok(false) };
        if (then.dev, then.ino) != (now.dev, now.ino) || now.len < then.len || now.len < self.at {
            return Ok(false);
        }
        if now.len == then.len && now.mtime_ns != then.mtime_ns {
            return Ok(false);
        }
        let from = self.at.saturating_sub(self.guard.len() as u64);
        Ok(reader.range(from, self.at)? == self.guard)
    }

    fn read_on(&mut self, reader: &mut Reader, now: Stamp, fold: &mut dyn Fold) -> Result<(), ReadError> {
        let mut held: Vec<u8> = Vec::new();
        // Offset in the file of held[0].
        let mut base = self.at;
        let mut scanned = 0;
        loop {
            let have = base + held.len() as u64;
            let want = (now.len.saturating_sub(have) as usize).min(CHUNK);
            if want == 0 {
                break;
            }
            let old = held.len();
            held.resize(old + want, 0);
            let n = reader.read_at(have, held.get_mut(old..).unwrap_or_default())?;
            held.truncate(old + n);
            if n == 0 {
                break;
            }
            let mut start = 0;
            while let Some(end) = held.get(scanned..).and_then(|rest| memchr::memchr(b'\n', rest)).map(|i| scanned + i)
            {
                if self.in_long_line {
                    self.in_long_line = false;
                } else {
                    let line = held.get(start..end).unwrap_or_default();
                    let line = line.strip_suffix(b"\r").unwrap_or(line);
                    fold.line(Line { at: base + start as u64, bytes: line });
                }
                start = end + 1;
                scanned = start;
            }
            self.remember(held.get(..start).unwrap_or_default());
            held.drain(..start);
            base += start as u64;
            self.at = base;
            scanned = held.len();
            if held.len() > LINE_CAP || (self.in_long_line && !held.is_empty()) {
                self.long_lines += u64::from(!self.in_long_line);
                self.in_long_line = true;
                self.remember(&held);
                base += held.len() as u64;
                self.at = base;
                held.clear();
                scanned = 0;
            }
        }
        self.stamp = Some(now);
        Ok(())
    }

    /// Keeps the last bytes before the position, to recognise the file by.
    fn remember(&mut self, passed: &[u8]) {
        self.guard.extend_from_slice(passed.get(passed.len().saturating_sub(GUARD)..).unwrap_or_default());
        let spare = self.guard.len().saturating_sub(GUARD);
        self.guard.drain(..spare);
    }
}

/// The start of the first line that begins at or after `from`; `len` when none does.
pub fn first_line_start(reader: &mut Reader, from: u64, len: u64) -> Result<u64, ReadError> {
    if from == 0 {
        return Ok(0);
    }
    let mut buf = vec![0; 16 * 1024];
    let mut at = from - 1;
    while at < len {
        let n = reader.read_at(at, &mut buf)?;
        if n == 0 {
            break;
        }
        if let Some(i) = memchr::memchr(b'\n', buf.get(..n).unwrap_or_default()) {
            return Ok(at + i as u64 + 1);
        }
        at += n as u64;
    }
    Ok(len)
}

/// Walks the complete lines of a file from its end towards its start.
pub struct Backward<'r> {
    reader: &'r mut Reader,
    /// Everything from here on has been read.
    start: u64,
    /// Lowest offset the walk may read.
    floor: u64,
    held: Vec<u8>,
    chunk: usize,
    /// An over-long line is being passed over; nothing of it is held.
    in_long_line: bool,
}

impl<'r> Backward<'r> {
    /// A walk over `floor..end`; a line that began before `floor` is not yielded. An unfinished last line is passed
    /// over, since its writer is not done with it.
    pub fn new(reader: &'r mut Reader, floor: u64, end: u64) -> Backward<'r> {
        let chunk = crate::config::REVERSE_CHUNK_BYTES;
        Backward { reader, start: end, floor, held: Vec::new(), chunk, in_long_line: false }
    }

    /// Hands each complete line, newest first, to `each` until it answers false. Lines without `needle` (when one is
    /// given) may be passed over unseen. A short or failing read ends the walk.
    pub fn walk(mut self, needle: Option<&[u8]>, each: &mut dyn FnMut(Line<'_>) -> bool) {
        let finder = needle.map(memchr::memmem::Finder::new);
        let mut chunk = self.chunk;
        let mut first = true;
        loop {
            let size = (self.start - self.floor).min(chunk as u64) as usize;
            if size == 0 {
                break;
            }
            let from = self.start - size as u64;
            let mut fresh = vec![0; size];
            if self.reader.read_at(from, &mut fresh).ok() != Some(size) {
                return;
            }
            fresh.append(&mut self.held);
            self.held = fresh;
            self.start = from;
            if first || self.in_long_line {
                // Only what a line end closes is complete, and an over-long line ends where the line before it does.
                let complete = memchr::memrchr(b'\n', &self.held).map_or(0, |i| i + 1);
                self.held.truncate(complete);
                if complete == 0 {
                    continue;
                }
                first = false;
                self.in_long_line = false;
            }
            // The first piece may have begun before `from`: keep it for the next chunk.
            let Some(cut) = memchr::memchr(b'\n', &self.held) else { continue };
            // The longer a line turns out to be, the more of it is read at once, so that its bytes are moved a few
            // times and not once a chunk.
            chunk = if cut < size { self.chunk } else { (chunk * 2).min(LONG_CHUNK).max(self.chunk) };
            let rest_from = cut + 1;
            let hit = finder.as_ref().is_none_or(|f| f.find(self.held.get(rest_from..).unwrap_or_default()).is_some());
            if hit && !lines_back(&self.held, rest_from, from, each) {
                return;
            }
            self.held.truncate(rest_from);
            if self.held.len() > LINE_CAP {
                self.held.clear();
                self.in_long_line = true;
            }
        }
        if self.start == 0 && !first && !self.held.is_empty() {
            lines_back(&self.held, 0, 0, each);
        }
    }
}

/// Yields the lines of `held[from..]`, last first; `base` is the file offset of `held[0]`.
fn lines_back(held: &[u8], from: usize, base: u64, each: &mut dyn FnMut(Line<'_>) -> bool) -> bool {
    let mut end = held.len();
    while end > from {
        let body = held.get(from..end - 1).unwrap_or_default();
        let start = memchr::memrchr(b'\n', body).map_or(from, |i| from + i + 1);
        let line = held.get(start..end - 1).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !each(Line { at: base + start as u64, bytes: line }) {
            return false;
        }
        end = start;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::path::PathBuf;

    #[derive(Default)]
    struct Kept {
        lines: Vec<(u64, String)>,
        restarts: Vec<bool>,
    }

    impl Fold for Kept {
        fn restart(&mut self, from_start: bool) {
            self.lines.clear();
            self.restarts.push(from_start);
        }
        fn line(&mut self, line: Line<'_>) {
            self.lines.push((line.at, String::from_utf8_lossy(line.bytes).into_owned()));
        }
    }

    fn file(name: &str, bytes: &[u8]) -> PathBuf {
        let path = std::env::temp_dir().join(format!("cargento-tail-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn stamp(path: &Path) -> Stamp {
        crate::surface::read::look(path).unwrap().stamp
    }

    fn texts(kept: &Kept) -> Vec<&str> {
        kept.lines.iter().map(|(_, l)| l.as_str()).collect()
    }

    /// TURN-001.
    #[test]
    fn turn_001_only_complete_lines_each_once() {
        let path = file("grow", b"a\r\nb\nc");
        let (mut tail, mut kept) = (Tail::default(), Kept::default());
        assert_eq!(tail.advance(&path, stamp(&path), 1000, &mut kept).unwrap(), Advance::Anew { from_start: true });
        assert_eq!(texts(&kept), ["a", "b"]);
        assert_eq!(tail.advance(&path, stamp(&path), 1000, &mut kept).unwrap(), Advance::Same);
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"c\nd\n").unwrap();
        assert_eq!(tail.advance(&path, stamp(&path), 1000, &mut kept).unwrap(), Advance::Grown);
        assert_eq!(kept.lines, [(0, "a".into()), (3, "b".into()), (5, "cc".into()), (8, "d".into())]);
        std::fs::write(&path, b"longer than before, another file\n").unwrap();
        assert!(matches!(tail.advance(&path, stamp(&path), 1000, &mut kept).unwrap(), Advance::Anew { .. }));
        assert_eq!(texts(&kept), ["longer than before, another file"]);
        std::fs::remove_file(path).unwrap();
    }

    /// FIELD-048.
    #[test]
    fn field_048_the_first_line_is_dropped_only_when_cut() {
        for (cold, want) in [(100, vec!["aa", "bb", "cc"]), (6, vec!["bb", "cc"]), (5, vec!["cc"]), (3, vec!["cc"])] {
            let path = file("cold", b"aa\nbb\ncc\n");
            let (mut tail, mut kept) = (Tail::default(), Kept::default());
            tail.advance(&path, stamp(&path), cold, &mut kept).unwrap();
            assert_eq!(texts(&kept), want, "cold {cold}");
            std::fs::remove_file(path).unwrap();
        }
    }

    /// FIELD-044.
    #[test]
    fn field_044_an_over_long_line_is_passed_over_in_pieces() {
        let mut bytes = b"a\n".to_vec();
        bytes.resize(LINE_CAP + CHUNK * 3, b'x');
        let path = file("long", &bytes);
        let (mut tail, mut kept) = (Tail::default(), Kept::default());
        tail.advance(&path, stamp(&path), u64::MAX, &mut kept).unwrap();
        assert_eq!(texts(&kept), ["a"]);
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"tail\nz\n").unwrap();
        tail.advance(&path, stamp(&path), u64::MAX, &mut kept).unwrap();
        assert_eq!((texts(&kept), tail.long_lines), (vec!["a", "z"], 1));
        std::fs::remove_file(path).unwrap();
    }

    /// PI-017.
    #[test]
    fn pi_017_a_file_taken_up_at_its_end_goes_on_with_its_unfinished_line() {
        for (bytes, more, want) in [
            (&b"a\nb\nhal"[..], &b"f\nz\n"[..], vec!["half", "z"]),
            (b"a\n", b"b\n", vec!["b"]),
            (b"unclosed", b" line\n", vec!["unclosed line"]),
            (b"", b"first\n", vec!["first"]),
        ] {
            let path = file("end", bytes);
            let (mut tail, mut kept) = (Tail::default(), Kept::default());
            let at = tail.seek_end(&mut Reader::open(&path).unwrap()).unwrap();
            assert_eq!(at, tail.position());
            std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(more).unwrap();
            assert_eq!(tail.advance(&path, stamp(&path), 0, &mut kept).unwrap(), Advance::Grown);
            assert_eq!((texts(&kept), kept.restarts.len()), (want, 0));
            std::fs::remove_file(path).unwrap();
        }
        let path = file("endlong", &vec![b'x'; LINE_CAP + 9]);
        let (mut tail, mut kept) = (Tail::default(), Kept::default());
        tail.seek_end(&mut Reader::open(&path).unwrap()).unwrap();
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"end\nnext\n").unwrap();
        tail.advance(&path, stamp(&path), 0, &mut kept).unwrap();
        assert_eq!((texts(&kept), tail.long_lines), (vec!["next"], 1));
        std::fs::remove_file(path).unwrap();
    }

    /// CLAUDE-012.
    #[test]
    fn claude_012_backward_lines_span_chunks() {
        let text: Vec<String> = (0..50).map(|i| format!("{i}:{}", "y".repeat(i * 7 % 23))).collect();
        let path = file("back", (text.join("\n") + "\nunfinished").as_bytes());
        for chunk in [1, 2, 7, 64, 10_000] {
            let mut reader = Reader::open(&path).unwrap();
            let len = reader.stamp().len;
            let mut seen = Vec::new();
            let mut walk = Backward::new(&mut reader, 0, len);
            walk.chunk = chunk;
            walk.walk(None, &mut |line| {
                seen.push(String::from_utf8_lossy(line.bytes).into_owned());
                true
            });
            seen.reverse();
            assert_eq!(seen, text, "chunk {chunk}");
        }
        std::fs::remove_file(path).unwrap();
    }

    /// FIELD-044.
    #[test]
    fn field_044_a_backward_walk_holds_no_over_long_line() {
        let mut bytes = b"a\n".to_vec();
        bytes.resize(LINE_CAP * 2, b'x');
        bytes.extend_from_slice(b"\nb\n");
        let path = file("back-long", &bytes);
        let mut reader = Reader::open(&path).unwrap();
        let len = reader.stamp().len;
        let mut seen = Vec::new();
        Backward::new(&mut reader, 0, len).walk(None, &mut |line| {
            seen.push((line.at, line.bytes.to_vec()));
            true
        });
        assert_eq!(seen, [(len - 2, b"b".to_vec()), (0, b"a".to_vec())]);
        std::fs::remove_file(path).unwrap();
    }
}
