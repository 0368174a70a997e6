//! Field types that accept any JSON value and keep only the shape they stand for, in one pass over the line: a field
//! of another type is an absent field, never a lost record.
//!
//! They serve records whose nested objects are needed at once; [`super::line::Field`] serves what may never be asked
//! for.

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A text, or nothing when the value is of another type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Str<'a>(pub Option<Cow<'a, str>>);

impl Str<'_> {
    /// The text; `None` when there is none.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The text when it is not empty.
    pub fn nonempty(&self) -> Option<&str> {
        self.get().filter(|text| !text.is_empty())
    }

    /// Whether the text is exactly `other`.
    pub fn is(&self, other: &str) -> bool {
        self.get() == Some(other)
    }

    /// The text as an ISO 8601 time, seconds since the epoch.
    pub fn stamp(&self) -> Option<f64> {
        crate::model::time::parse_iso(self.get()?)
    }
}

/// An object of shape `T`, or nothing when the value is of another type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maybe<T>(pub Option<T>);

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Maybe(None)
    }
}

/// Hands each element of a list to `each`, in order and without gathering them; anything but a list has none.
pub fn each<'a>(list: Option<&'a RawValue>, each: &mut dyn FnMut(&'a RawValue)) {
    let Some(raw) = list.map(RawValue::get).filter(|raw| raw.starts_with('[')) else { return };
    // The value was well formed when its record was read, so there is no error left to report.
    drop(Elements(each).deserialize(&mut serde_json::Deserializer::from_str(raw)));
}

struct Elements<'f, 'a>(&'f mut dyn FnMut(&'a RawValue));

impl<'a> DeserializeSeed<'a> for Elements<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for Elements<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element::<&'a RawValue>()? {
            (self.0)(element);
        }
        Ok(())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TextOnly).map(Str)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ObjectOnly(PhantomData)).map(Maybe)
    }
}

/// The visits of values that are not wanted: each is taken whole and gives nothing.
macro_rules! scalars_are_nothing {
    () => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(None)
        }
    };
}

struct TextOnly;

impl<'de> Visitor<'de> for TextOnly {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    scalars_are_nothing!();
}

struct ObjectOnly<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectOnly<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }

    scalars_are_nothing!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::line::Field;

    #[derive(Deserialize)]
    struct Record<'a> {
        #[serde(borrow, default)]
        a: Str<'a>,
        #[serde(borrow, default)]
        b: Maybe<Inner<'a>>,
    }

    #[derive(Deserialize)]
    struct Inner<'a> {
        #[serde(borrow, default)]
        c: Str<'a>,
        #[serde(borrow, default)]
        list: Field<'a>,
    }

    #[test]
    fn row_022_a_field_of_another_type_is_absent_and_the_record_stays() {
        for odd in ["7", "-1", "1.5", "true", "null", "[1,[{}]]", "{\"x\":[]}", "{}"] {
            let json = format!("{{\"a\":{odd},\"b\":{{\"c\":\"k\",\"z\":{odd}}}}}");
            let r: Record = serde_json::from_str(&json).unwrap();
            assert_eq!((r.a.get(), r.b.0.unwrap().c.get()), (None, Some("k")), "{odd}");
        }
        for odd in ["7", "\"t\"", "true", "null", "[1]"] {
            let json = format!("{{\"a\":\"t\\n\",\"b\":{odd}}}");
            let r: Record = serde_json::from_str(&json).unwrap();
            assert_eq!((r.a.get(), r.b.0.is_none()), (Some("t\n"), true), "{odd}");
        }
    }

    #[test]
    fn elements_come_one_by_one() {
        let r: Record = serde_json::from_str("{\"b\":{\"list\":[1,\"x\",{\"y\":[2]},[]]}}").unwrap();
        let mut seen = Vec::new();
        each(r.b.0.unwrap().list, &mut |e| seen.push(e.get()));
        assert_eq!(seen, ["1", "\"x\"", "{\"y\":[2]}", "[]"]);
        let r: Record = serde_json::from_str("{\"b\":{\"list\":{\"0\":1}}}").unwrap();
        each(r.b.0.unwrap().list, &mut |_| panic!("an object has no elements"));
        each(None, &mut |_| panic!("an absent field has no elements"));
    }
}
