//! The protobuf wire format, as much of it as a store's cells need: fields are looked for by number, nothing is decoded
//! that was not asked for, and no length is believed before it is held against the bytes there are.
//!
//! Source: protobuf.dev, "Encoding". Groups, which the store never writes, count as malformed.

/// Longest varint, bytes: ten carry 70 bits.
const VARINT_BYTES: usize = 10;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Wire type 0. Wider than 64 bits only in a malformed store.
    Varint(u128),
    /// Wire type 2: text, bytes or a message, as they stand.
    Bytes(&'a [u8]),
    /// Wire types 1 and 5, which no reader here asks for.
    Fixed,
}

/// A message whose bytes do not follow the wire format from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The fields of one message, in the order they stand.
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The fields of `message`; nothing is looked at before it is asked for.
    pub fn new(message: &'a [u8]) -> Fields<'a> {
        Fields { rest: message }
    }

    fn varint(&mut self) -> Result<u128, Malformed> {
        let mut value = 0u128;
        for (n, byte) in self.rest.iter().take(VARINT_BYTES).enumerate() {
            value |= u128::from(byte & 0x7F) << (7 * n);
            if byte & 0x80 == 0 {
                self.rest = self.rest.get(n + 1..).unwrap_or_default();
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    fn take(&mut self, len: u128) -> Result<&'a [u8], Malformed> {
        let len = usize::try_from(len).map_err(|_| Malformed)?;
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    fn field(&mut self) -> Result<(u128, Value<'a>), Malformed> {
        let key = self.varint()?;
        let number = key >> 3;
        if number == 0 {
            return Err(Malformed);
        }
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let len = self.varint()?;
                Value::Bytes(self.take(len)?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return Err(Malformed),
        };
        Ok((number, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u128, Value<'a>), Malformed>;

    /// The next field; after a malformed one there is none.
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// The first length-delimited field `number` that stands before any malformed byte.
pub fn bytes(message: &[u8], number: u128) -> Option<&[u8]> {
    Fields::new(message).map_while(Result::ok).find_map(|field| match field {
        (n, Value::Bytes(bytes)) if n == number => Some(bytes),
        _ => None,
    })
}

/// The first varint field `number` that stands before any malformed byte.
pub fn varint(message: &[u8], number: u128) -> Option<u128> {
    Fields::new(message).map_while(Result::ok).find_map(|field| match field {
        (n, Value::Varint(value)) if n == number => Some(value),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// AGY-007: the first match before any error.
    #[test]
    fn agy_007_the_first_match_before_any_error_counts() {
        // Fields 1 (varint 150), 2 ("hi"), 3 (8 bytes), 4 (4 bytes), 2 again ("no").
        let sound = b"\x08\x96\x01\x12\x02hi\x19________\x25____\x12\x02no";
        assert_eq!(varint(sound, 1), Some(150));
        assert_eq!(bytes(sound, 2), Some(&b"hi"[..]));
        assert_eq!((varint(sound, 2), bytes(sound, 1), bytes(sound, 9)), (None, None, None));
        assert_eq!(Fields::new(sound).filter(|f| f == &Ok((3, Value::Fixed))).count(), 1);
        for (name, broken) in [
            ("field number 0", &b"\x02\x00"[..]),
            ("start of a group", b"\x1b"),
            ("end of a group", b"\x1c"),
            ("wire type 6", b"\x1e\x01"),
            ("wire type 7", b"\x1f\x01"),
            ("length past the end", b"\x1a\x7f\x08"),
            ("8 bytes cut short", b"\x19____"),
            ("4 bytes cut short", b"\x1d_"),
            ("varint cut short", b"\x18\xff"),
            ("varint of 11 bytes", b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
            ("key of 11 bytes", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
            ("length of 70 bits", b"\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
        ] {
            let after: Vec<u8> = [b"\x12\x02hi", broken].concat();
            assert_eq!(bytes(&after, 2), Some(&b"hi"[..]), "{name} behind the match");
            let before: Vec<u8> = [broken, b"\x12\x02hi"].concat();
            assert_eq!(bytes(&before, 2), None, "{name} before the match");
            assert_eq!(Fields::new(broken).last(), Some(Err(Malformed)), "{name}");
        }
        assert_eq!(varint(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 1), Some((1 << 70) - 1), "70 bits are read");
    }

    proptest! {
        /// AGY-007: any bytes end.
        #[test]
        fn agy_007_any_bytes_end_without_a_fault(any in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Fields::new(&any).count() <= any.len() + 1);
            let _ = (bytes(&any, 1), varint(&any, 1));
        }
    }
}
