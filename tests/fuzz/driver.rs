//! The driver: seeds, mutations, and the bounds every input is held to.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Most processor time of one input.
const TIME: Duration = Duration::from_secs(1);
/// Most memory one input may hold at once, bytes.
const MEMORY: isize = 64 << 20;
/// Longest input that is made of a shorter one, bytes.
const LONGEST: usize = 1 << 16;

/// Counts what the running thread holds.
struct Meter;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn held(change: isize) {
    // A thread on its way out counts no more.
    let _ = HELD.try_with(|cell| {
        cell.set(cell.get() + change);
        let _ = MOST.try_with(|most| most.set(most.get().max(cell.get())));
    });
}

// SAFETY: every call is passed to the system's allocator as it came.
unsafe impl GlobalAlloc for Meter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        held(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        held(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        held(-(layout.size() as isize));
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        held(size as isize - layout.size() as isize);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static METER: Meter = Meter;

/// Processor time of this thread: a busy machine makes no input slow.
fn spent() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Numbers that are always the same for the same seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `end`; 0 when there is nothing below it.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Pieces that have broken parsers of every kind.
const WORDS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b":",
    b",",
    b"\n",
    b"\r\n",
    b"\0",
    b"\x1b[31m",
    b"\x7f",
    b"\xff",
    b"\xc3\x28",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\xa6\x80",
    b"\\u0000",
    b"\\ud800",
    b"\\udc00",
    b"\\u202e",
    b"null",
    b"true",
    b"false",
    b"0",
    b"-1",
    b"-0.0",
    b"1e999",
    b"-1e-999",
    b"NaN",
    b"Infinity",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551616",
    b"1e308",
    b"4294967296",
    b"\"\"",
    b"[]",
    b"{}",
    b"\"__proto__\":",
    b"\"constructor\":",
    b"\"type\":",
    b"\"id\":",
    b"\"timestamp\":",
    b"\"2026-09-20T10:00:00Z\"",
    b"\"9999-99-99T99:99:99Z\"",
    b"../",
    b"/etc/passwd",
    b"%00",
    b"sk-ant-api03-AAAAAAAAAAAAAAAAAAAA",
    b"-----BEGIN PRIVATE KEY-----",
    b"https://a:b@c/",
    b"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.aaaaaaaa",
    b"\xe2\x80\xae",
    b"\xe2\x80\xa6REDACTED",
    b"\xcc\x88",
    b" ",
    b"\t",
];

/// One parser under attack.
pub struct Target {
    name: &'static str,
    seeds: Vec<Vec<u8>>,
    rounds: u32,
}

impl Target {
    /// A target with its seeds; `rounds` inputs make a short run.
    pub fn new(name: &'static str, rounds: u32, seeds: impl IntoIterator<Item = impl Into<Vec<u8>>>) -> Self {
        let seeds: Vec<Vec<u8>> = seeds.into_iter().map(Into::into).collect();
        assert!(!seeds.is_empty(), "{name} has no seeds");
        Self { name, seeds, rounds }
    }

    /// Hands the seeds, the kept regressions and then the mutations to the parser.
    #[track_caller]
    pub fn run(self, mut parse: impl FnMut(&[u8], &mut Dice)) {
        let seed = number("CARGENTO_FUZZ_SEED").unwrap_or(0);
        let mut dice = Dice::new(
            self.name
                .bytes()
                .fold(seed ^ 0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)),
        );
        for input in self.kept().iter().chain(&self.seeds) {
            self.hold(input, &mut dice, &mut parse);
        }
        let until = number("CARGENTO_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
        let mut round = 0;
        while until.map_or(round < self.rounds, |until| Instant::now() < until) {
            let input = self.mutated(&mut dice);
            self.hold(&input, &mut dice, &mut parse);
            round += 1;
        }
    }

    /// Hands the seeds alone to the parser.
    #[track_caller]
    pub fn unchanged(self, mut parse: impl FnMut(&[u8])) {
        for input in &self.seeds {
            self.hold(input, &mut Dice::new(0), &mut |input: &[u8], _: &mut Dice| parse(input));
        }
    }

    /// Inputs that once broke it.
    fn kept(&self) -> Vec<Vec<u8>> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/fuzz").join(self.name);
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(dir).map_or_else(|_| Vec::new(), |list| list.map(|e| e.unwrap().path()).collect());
        paths.sort();
        paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
    }

    fn hold(&self, input: &[u8], dice: &mut Dice, parse: &mut impl FnMut(&[u8], &mut Dice)) {
        let before = HELD.get();
        MOST.set(before);
        let begun = spent();
        let outcome = catch_unwind(AssertUnwindSafe(|| parse(input, dice)));
        let (took, most) = (spent().saturating_sub(begun), MOST.get() - before);
        let fault = match outcome {
            Err(cause) => Some(
                cause
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                    .unwrap_or_else(|| "it panicked".to_owned()),
            ),
            Ok(()) if took > TIME => Some(format!("it took {took:?}")),
            Ok(()) if most > MEMORY => Some(format!("it held {most} bytes")),
            Ok(()) => None,
        };
        if let Some(fault) = fault {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{}", self.name));
            let _ = std::fs::write(&path, input);
            let shown = String::from_utf8_lossy(&input[..input.len().min(400)]).escape_debug().to_string();
            panic!("target {}: {fault}\ninput ({} bytes, {}): {shown}", self.name, input.len(), path.display());
        }
    }

    fn mutated(&self, dice: &mut Dice) -> Vec<u8> {
        let mut input = dice.pick(&self.seeds).clone();
        for _ in 0..=dice.below(6) {
            self.mutate(&mut input, dice);
        }
        input.truncate(LONGEST.max(self.seeds.iter().map(Vec::len).max().unwrap_or(0)));
        input
    }

    fn mutate(&self, input: &mut Vec<u8>, dice: &mut Dice) {
        let at = dice.below(input.len() + 1);
        match dice.below(14) {
            0 if at < input.len() => input[at] ^= 1 << dice.below(8),
            1 if at < input.len() => input[at] = dice.next() as u8,
            2 => drop(input.drain(at..(at + dice.below(32)).min(input.len()))),
            3 => input.truncate(at),
            4 => {
                // A piece twice, or in another place.
                let piece: Vec<u8> = input[at..(at + dice.below(200)).min(input.len())].to_vec();
                let to = dice.below(input.len() + 1);
                input.splice(to..to, piece);
            }
            5 => {
                // The end of another seed.
                let other = dice.pick(&self.seeds);
                let from = dice.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            6 => {
                // A run: of one byte, or of brackets deeper than any parser should follow.
                let (piece, times) = (
                    *dice.pick::<&[u8]>(&[b"a", b"[", b"{\"a\":", b"(", b" ", b"\\", b"\xf0\x9f\xa6\x80", b"-"]),
                    1 << dice.below(13),
                );
                input.splice(at..at, piece.repeat(times));
            }
            7 | 8 => replace_value(input, dice),
            9 => {
                // A line moved, doubled or gone.
                let lines: Vec<&[u8]> = input.split_inclusive(|b| *b == b'\n').collect();
                let mut lines: Vec<Vec<u8>> = lines.into_iter().map(<[u8]>::to_vec).collect();
                if let Some(last) = lines.len().checked_sub(1) {
                    let (a, b) = (dice.below(last + 1), dice.below(last + 1));
                    match dice.below(3) {
                        0 => lines.swap(a, b),
                        1 => lines.insert(a, lines[b].clone()),
                        _ => drop(lines.remove(a)),
                    }
                }
                *input = lines.concat();
            }
            _ => {
                let word = *dice.pick(WORDS);
                let end = if dice.below(2) == 0 { at } else { (at + word.len()).min(input.len()) };
                input.splice(at..end, word.iter().copied());
            }
        }
    }
}

/// Puts a value of another kind where a member's value stands, in whatever looks like JSON.
fn replace_value(input: &mut Vec<u8>, dice: &mut Dice) {
    let starts: Vec<usize> = input.iter().enumerate().filter(|(_, b)| **b == b':').map(|(at, _)| at + 1).collect();
    if starts.is_empty() {
        return;
    }
    let from = *dice.pick(&starts);
    let mut inside = false;
    let end = input[from..].iter().position(|b| {
        inside ^= *b == b'"';
        !inside && matches!(b, b',' | b'}' | b']' | b'\n')
    });
    let values: [&[u8]; 12] = [
        b"null",
        b"true",
        b"-1",
        b"0.5",
        b"1e300",
        b"\"\"",
        b"\"x\"",
        b"[]",
        b"{}",
        b"[[\"x\"]]",
        b"{\"text\":1}",
        b"\"\\ud800\\u0000\"",
    ];
    let value = dice.pick(&values).to_vec();
    input.splice(from..end.map_or(input.len(), |end| from + end), value);
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Every file below a folder of the fixtures.
pub fn samples(folder: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(std::fs::read(path).unwrap());
            }
        }
    }
    found.sort();
    found
}

/// A folder of its own that goes with the value.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cargento-fuzz-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// TRUST-080.
/// The driver sees each kind of fault, or its silence would mean nothing.
#[test]
fn trust_080_the_driver_catches_a_panic_a_hang_and_a_hoard() {
    let fault = |parse: fn(&[u8])| {
        let run = || Target::new("driver", 3, ["seed"]).run(|input, _| parse(input));
        *catch_unwind(AssertUnwindSafe(run)).unwrap_err().downcast::<String>().unwrap()
    };
    assert!(fault(|_| panic!("planted")).contains("planted"));
    assert!(fault(|_| drop(std::hint::black_box(vec![1u8; 65 << 20]))).contains("bytes"));
    assert!(
        fault(|_| {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(1200) || spent() < Duration::from_millis(1) {
                std::hint::black_box(0);
            }
            let begun = spent();
            while spent().saturating_sub(begun) < Duration::from_millis(1100) {}
        })
        .contains("took")
    );
    Target::new("driver", 200, ["seed"]).run(|_, _| {});
}
