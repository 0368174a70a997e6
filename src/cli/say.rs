//! Prints for a person: best effort, never a failure of the run (CLI-023).

use std::io::{self, Write};

/// One line that starts with `Cargento: `, on standard output.
pub fn say(line: &str) {
    print(&format!("Cargento: {line}\n"));
}

/// Text on standard output.
pub fn print(text: &str) {
    put(&mut io::stdout().lock(), text);
}

/// Text on standard error.
pub fn complain(text: &str) {
    put(&mut io::stderr().lock(), text);
}

/// Writes; an output that cannot take the characters gets them escaped, one that is closed gets nothing.
fn put(out: &mut dyn Write, text: &str) {
    if let Err(error) = out.write_all(text.as_bytes())
        && error.kind() == io::ErrorKind::InvalidData
    {
        let _ = out.write_all(escaped(text).as_bytes());
    }
    let _ = out.flush();
}

fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| match u32::from(c) {
            0..=0x7f => c.to_string(),
            n @ 0x80..=0xff => format!("\\x{n:02x}"),
            n @ 0x100..=0xffff => format!("\\u{n:04x}"),
            n => format!("\\U{n:08x}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ascii(Vec<u8>);
    impl Write for Ascii {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if !bytes.is_ascii() {
                return Err(io::ErrorKind::InvalidData.into());
            }
            self.0.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    /// CLI-023.
    #[test]
    fn cli_023_what_an_output_cannot_take_is_escaped() {
        let mut out = Ascii(Vec::new());
        put(&mut out, "a é – 🦀\n");
        assert_eq!(String::from_utf8(out.0).unwrap(), "a \\xe9 \\u2013 \\U0001f980\n");
    }
}
