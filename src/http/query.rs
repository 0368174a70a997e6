//! Targets and their queries (HTTP-006, HTTP-040). Pure.
//!
//! A path is compared as sent: nothing in it is decoded, folded or resolved, so there is nothing to traverse.

/// A request target taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// The authority of an absolute-form target (`http://host:port/…`).
    pub authority: Option<&'a str>,
    /// The path as sent.
    pub path: &'a str,
    /// The query without its question mark; empty when there is none.
    pub query: Query<'a>,
}

impl<'a> Target<'a> {
    /// Takes a target apart. What is neither a path nor `http://…` keeps its whole text as a path no route has.
    pub fn parse(target: &'a str) -> Self {
        let (authority, rest) = match target.split_at_checked(7) {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http://") => {
                let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
                let (authority, rest) = rest.split_at(end);
                (Some(authority), rest)
            }
            _ => (None, target),
        };
        let whole = rest.split('#').next().unwrap_or_default();
        let (path, query) = whole.split_once('?').unwrap_or((whole, ""));
        let path = if path.is_empty() && authority.is_some() { "/" } else { path };
        Self { authority, path, query: Query(query) }
    }
}

/// The members of a query; each look is a walk, nothing is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query<'a>(&'a str);

impl<'a> Query<'a> {
    /// Name and value of every member in order, decoded; a member without `=` has an empty value.
    pub fn members(self) -> impl Iterator<Item = (String, String)> + 'a {
        self.0.split('&').filter(|member| !member.is_empty()).map(|member| {
            let (name, value) = member.split_once('=').unwrap_or((member, ""));
            (decode(name), decode(value))
        })
    }

    /// The first value under a name; later ones are ignored (HTTP-040).
    pub fn first(self, name: &str) -> Option<String> {
        self.members().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// Every value under a name.
    pub fn every(self, name: &str) -> Vec<String> {
        self.members().filter(|(n, _)| n == name).map(|(_, value)| value).collect()
    }

    /// Whether the query names a member at all.
    pub fn has(self, name: &str) -> bool {
        self.first(name).is_some()
    }

    /// Whether there is no query.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

/// Percent-decoding with `+` for a blank; a broken escape stands as it is, broken UTF-8 is replaced.
fn decode(text: &str) -> String {
    if !text.contains(['%', '+']) {
        return text.to_owned();
    }
    let mut rest = text.as_bytes();
    let mut out = Vec::with_capacity(text.len());
    loop {
        rest = match rest {
            [] => break,
            [b'+', after @ ..] => {
                out.push(b' ');
                after
            }
            [b'%', high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                out.push(hex(*high) << 4 | hex(*low));
                after
            }
            [other, after @ ..] => {
                out.push(*other);
                after
            }
        };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The value of a hexadecimal digit.
fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// HTTP-006.
    #[test]
    fn http_006_query_and_fragment_are_cut() {
        for (target, authority, path) in [
            ("/api/data", None, "/api/data"),
            ("/api/data?all=1", None, "/api/data"),
            ("/api/data#x?y", None, "/api/data"),
            ("/?", None, "/"),
            ("/api/../api/data", None, "/api/../api/data"),
            ("/%61pi/data", None, "/%61pi/data"),
            ("//evil.example/", None, "//evil.example/"),
            ("http://127.0.0.1:4553/api/data?x", Some("127.0.0.1:4553"), "/api/data"),
            ("HTTP://evil.example", Some("evil.example"), "/"),
            ("http://a?x=/b", Some("a"), "/"),
            ("https://127.0.0.1/", None, "https://127.0.0.1/"),
            ("127.0.0.1:4553", None, "127.0.0.1:4553"),
            ("*", None, "*"),
            ("?x", None, ""),
        ] {
            let parsed = Target::parse(target);
            assert_eq!((parsed.authority, parsed.path), (authority, path), "{target}");
        }
    }

    /// HTTP-040.
    #[test]
    fn http_040_the_first_value_wins() {
        let query = |text: &'static str| Target::parse(text).query;
        for (target, want) in [
            ("/d?all=1&all=0", Some("1")),
            ("/d?all=0&all=1", Some("0")),
            ("/d?x=1&all=1", Some("1")),
            ("/d?ALL=1", None),
            ("/d?all", Some("")),
            ("/d?a%6cl=%31", Some("1")),
            ("/d?all=%3", Some("%3")),
            ("/d?all=%zz+%C3%A9%ff", Some("%zz é\u{fffd}")),
            ("/d?&&all==1", Some("=1")),
        ] {
            assert_eq!(query(target).first("all").as_deref(), want, "{target}");
        }
        assert_eq!(query("/d?a=1&b=2&a=3").every("a"), ["1", "3"]);
        assert!(query("/?next").has("next") && !query("/?nextt").has("next") && query("/").is_empty());
    }

    proptest! {
        /// TRUST-080: any target comes apart without a panic, and decoding never yields more characters than it got.
        #[test]
        fn trust_080_any_target(target in "\\PC{0,60}", escapes in "[%+0-9a-g&=?#/]{0,60}") {
            for text in [target, escapes] {
                let parsed = Target::parse(&text);
                prop_assert!(!parsed.path.contains(['?', '#']));
                for (name, value) in parsed.query.members() {
                    prop_assert!(name.chars().count() + value.chars().count() <= text.chars().count());
                }
            }
        }
    }
}
