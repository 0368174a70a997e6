//! The first line of a transcript, where several harnesses keep a session's identity.
//!
//! A line cut by the cap, or not yet closed and not yet whole, yields nothing and is tried again once the file
//! changed; what was parsed is remembered for as long as the file stands as it did.

use crate::config::{FIRST_LINE_JSON_CAP_BYTES, MAX_CACHE_ENTRIES};
use crate::surface::read::{ReadError, Reader, Stamp};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Read at first; most first lines fit.
const FIRST_READ: usize = 4096;

/// The first line of an opened file without its line end, also when the file ends before one; `None` when it is longer
/// than [`FIRST_LINE_JSON_CAP_BYTES`].
pub fn first_line(reader: &mut Reader) -> Result<Option<Vec<u8>>, ReadError> {
    let mut held = Vec::new();
    let mut want = FIRST_READ;
    loop {
        let old = held.len();
        held.resize(want, 0);
        let n = reader.read_at(old as u64, held.get_mut(old..).unwrap_or_default())?;
        held.truncate(old + n);
        if let Some(end) = held.get(old..).and_then(|fresh| memchr::memchr(b'\n', fresh)) {
            held.truncate(old + end);
            return Ok(Some(without_cr(held)));
        }
        if old + n < want {
            return Ok(Some(without_cr(held)));
        }
        if want == FIRST_LINE_JSON_CAP_BYTES {
            return Ok(None);
        }
        want = (want * 8).min(FIRST_LINE_JSON_CAP_BYTES);
    }
}

fn without_cr(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    line
}

/// What the first line of a file says.
#[derive(Clone, Debug, PartialEq)]
pub enum Head<H> {
    /// Not a record yet: half written, over-long or no JSON object.
    Unfinished,
    /// A record, and the metadata it holds if it is the harness's header.
    Parsed(Option<H>),
}

impl<H> Head<H> {
    /// The metadata, if there is any.
    pub fn get(&self) -> Option<&H> {
        match self {
            Head::Parsed(head) => head.as_ref(),
            Head::Unfinished => None,
        }
    }
}

/// Makes a head of a first line.
pub type Parse<H> = fn(&[u8]) -> Head<H>;

/// Reads and judges the first line of the file at `path`.
pub fn read<H>(path: &Path, parse: Parse<H>) -> Result<Head<H>, ReadError> {
    Ok(first_line(&mut Reader::open(path)?)?.map_or(Head::Unfinished, |line| parse(&line)))
}

/// Reads the head of the file at a path.
pub type Read<H> = fn(&Path) -> Result<Head<H>, ReadError>;

/// Remembers the heads of files whose records are not read.
pub struct Heads<H> {
    read: Read<H>,
    known: HashMap<PathBuf, (Stamp, Head<H>)>,
}

impl<H: Clone> Heads<H> {
    /// An empty memory for heads that `read` reads.
    pub fn new(read: Read<H>) -> Heads<H> {
        Heads { read, known: HashMap::new() }
    }

    /// The head of a file that stands as `stamp` tells; opened only when it is not known or the file changed.
    pub fn of(&mut self, path: &Path, stamp: Stamp) -> Result<Head<H>, ReadError> {
        if let Some((then, head)) = self.known.get(path)
            && *then == stamp
        {
            return Ok(head.clone());
        }
        let head = (self.read)(path)?;
        if self.known.len() < MAX_CACHE_ENTRIES || self.known.contains_key(path) {
            self.known.insert(path.to_path_buf(), (stamp, head.clone()));
        }
        Ok(head)
    }

    /// Forgets the heads of files that are no longer there.
    pub fn keep(&mut self, is_there: impl Fn(&Path) -> bool) {
        self.known.retain(|path, _| is_there(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, bytes: &[u8]) -> PathBuf {
        let path = std::env::temp_dir().join(format!("cargento-head-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn line_of(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        let path = file(name, bytes);
        let line = first_line(&mut Reader::open(&path).unwrap()).unwrap();
        std::fs::remove_file(path).unwrap();
        line
    }

    #[test]
    fn first_lines_are_whole_or_nothing() {
        assert_eq!(line_of("a", b"ab\r\ncd\n").unwrap(), b"ab");
        assert_eq!(line_of("b", b"unclosed").unwrap(), b"unclosed");
        assert_eq!(line_of("c", b"").unwrap(), b"");
        let mut long = vec![b'x'; FIRST_LINE_JSON_CAP_BYTES - 1];
        long.push(b'\n');
        assert_eq!(line_of("d", &long).unwrap().len(), FIRST_LINE_JSON_CAP_BYTES - 1);
        long.insert(0, b'x');
        long.extend_from_slice(b"more\n");
        assert_eq!(line_of("e", &long), None);
    }

    #[test]
    fn an_unchanged_file_is_opened_once() {
        let path = file("cache", b"one\n");
        let stamp = crate::surface::read::look(&path).unwrap().stamp;
        let mut heads: Heads<usize> = Heads::new(|path| read(path, |line| Head::Parsed(Some(line.len()))));
        assert_eq!(heads.of(&path, stamp).unwrap().get(), Some(&3));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(heads.of(&path, stamp).unwrap().get(), Some(&3));
        heads.keep(|_| false);
        assert!(heads.of(&path, stamp).unwrap_err().is_missing());
    }
}
