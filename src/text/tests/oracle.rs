//! The shape table a second time, as data for a small backtracking matcher: slow, obvious, and independent of the
//! hand-written one it is compared with.

/// A pattern over code points.
enum Re {
    Lit(&'static str),
    /// A greedy run of a class, from..=to long.
    Set(fn(char) -> bool, usize, usize),
    Seq(Vec<Re>),
    Alt(Vec<Re>),
    Rep(Box<Re>, usize, usize),
    Not(Box<Re>),
    Ahead(Box<Re>),
    End,
}

use Re::{Ahead, Alt, End, Lit, Not, Rep, Seq, Set};

/// Tries `re` at `at` and `next` behind each way it matches, in a regular expression's order of preference.
fn go(re: &Re, text: &[char], at: usize, next: &mut dyn FnMut(usize) -> bool) -> bool {
    match re {
        Lit(word) => {
            let n = word.chars().count();
            text.len() >= at + n && word.chars().eq(text[at..at + n].iter().copied()) && next(at + n)
        }
        Set(class, from, to) => {
            let most = text[at..].iter().take(*to).take_while(|c| class(**c)).count();
            (*from..=most).rev().any(|n| next(at + n))
        }
        Seq(parts) => match parts.split_first() {
            None => next(at),
            Some((first, rest)) => go(first, text, at, &mut |at| seq(rest, text, at, next)),
        },
        Alt(arms) => arms.iter().any(|arm| go(arm, text, at, next)),
        Rep(inner, from, to) => {
            (*to > 0 && go(inner, text, at, &mut |end| end > at && again(inner, *from, *to, text, end, next)))
                || (*from == 0 && next(at))
        }
        Not(inner) => !go(inner, text, at, &mut |_| true) && next(at),
        Ahead(inner) => go(inner, text, at, &mut |_| true) && next(at),
        End => at == text.len() && next(at),
    }
}

fn seq(parts: &[Re], text: &[char], at: usize, next: &mut dyn FnMut(usize) -> bool) -> bool {
    match parts.split_first() {
        None => next(at),
        Some((first, rest)) => go(first, text, at, &mut |at| seq(rest, text, at, next)),
    }
}

fn again(re: &Re, from: usize, to: usize, text: &[char], at: usize, next: &mut dyn FnMut(usize) -> bool) -> bool {
    let (from, to) = (from.saturating_sub(1), to - 1);
    (to > 0 && go(re, text, at, &mut |end| end > at && again(re, from, to, text, end, next))) || (from == 0 && next(at))
}

struct Shape {
    keep: Result<usize, usize>,
    anchored: bool,
    exempt: Option<usize>,
    re: Re,
}

fn an(c: char) -> bool {
    c.is_ascii_alphanumeric()
}
fn token(c: char) -> bool {
    an(c) || c == '_' || c == '-'
}
fn word(c: char) -> bool {
    an(c) || c == '_'
}
fn dash(c: char) -> bool {
    an(c) || c == '-'
}
fn upper(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit()
}
fn b64(c: char) -> bool {
    an(c) || "+/=".contains(c)
}
fn gap() -> Re {
    Set(|c| " \r\n".contains(c), 0, 4)
}
fn maybe(re: Re) -> Re {
    Rep(Box::new(re), 0, 1)
}
fn not(re: Re) -> Re {
    Not(Box::new(re))
}
fn any(words: &[&'static str]) -> Re {
    Alt(words.iter().map(|w| Lit(w)).collect())
}
fn footer() -> Re {
    Seq(vec![gap(), Lit("-----END")])
}

fn shapes() -> Vec<Shape> {
    let key = |keep, exempt, parts| Shape { keep: Ok(keep), anchored: true, exempt, re: Seq(parts) };
    let quote = || Set(|c| "\"'".contains(c), 0, 1);
    let white = || Set(char::is_whitespace, 0, 4);
    let password = || Set(|c| !(c.is_whitespace() || c == '/' || c == '@'), 1, usize::MAX);
    vec![
        key(7, Some(90), vec![Lit("sk-ant-"), Set(token, 16, 110)]),
        key(3, None, vec![Lit("sk-"), Set(token, 32, 180)]),
        key(8, None, vec![any(&["sk", "rk"]), Lit("_"), any(&["live", "test"]), Lit("_"), Set(an, 20, 120)]),
        key(4, Some(20), vec![any(&["AKIA", "ASIA"]), Set(upper, 16, 16), not(Set(token, 1, 1))]),
        Shape {
            keep: Err(40),
            anchored: false,
            exempt: None,
            re: Seq(vec![
                any(&["aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "secretAccessKey"]),
                quote(),
                white(),
                Set(|c| c == ':' || c == '=', 1, 1),
                white(),
                quote(),
                Set(b64, 40, 40),
                not(Set(b64, 1, 1)),
            ]),
        },
        key(4, None, vec![Lit("gh"), Set(|c| "pousr".contains(c), 1, 1), Lit("_"), Set(an, 36, 255)]),
        key(11, Some(51), vec![Lit("github_pat_"), Set(word, 40, 96)]),
        key(6, None, vec![Lit("glpat-"), Set(token, 20, 64)]),
        key(4, None, vec![Lit("npm_"), Set(an, 36, 36)]),
        key(8, Some(48), vec![Lit("lin_api_"), Set(an, 40, 64)]),
        key(
            5,
            None,
            vec![
                Alt(vec![Seq(vec![Lit("xox"), Set(|c| "baprs".contains(c), 1, 1)]), Lit("xapp")]),
                Lit("-"),
                Set(dash, 15, 96),
            ],
        ),
        key(4, None, vec![Lit("phc_"), Set(an, 32, 64)]),
        key(4, None, vec![Lit("AIza"), Set(token, 35, 35), not(Set(token, 1, 1))]),
        key(
            3,
            None,
            vec![Lit("eyJ"), Set(token, 8, 1024), Lit("."), Set(token, 8, 4096), Lit("."), Set(token, 8, 1024)],
        ),
        Shape {
            keep: Ok(11),
            anchored: false,
            exempt: None,
            re: Seq(vec![
                Lit("-----BEGIN "),
                Rep(Box::new(Seq(vec![Set(upper, 1, usize::MAX), Lit(" ")])), 0, usize::MAX),
                Lit("PRIVATE KEY"),
                maybe(Lit(" BLOCK")),
                Lit("-----"),
                Rep(Box::new(Seq(vec![gap(), Set(b64, 16, 76)])), 0, 200),
                maybe(Seq(vec![gap(), Set(b64, 1, 15), Ahead(Box::new(footer()))])),
                maybe(Seq(vec![footer(), Set(|c| c != '\n', 0, usize::MAX), Lit("-----")])),
            ]),
        },
        Shape {
            keep: Ok(3),
            anchored: false,
            exempt: None,
            re: Seq(vec![
                Lit("://"),
                Set(|c| !(c.is_whitespace() || "/:@".contains(c)), 0, usize::MAX),
                Lit(":"),
                Alt(vec![
                    Seq(vec![password(), Ahead(Box::new(Lit("@")))]),
                    Seq(vec![not(Seq(vec![Set(|c| c.is_ascii_digit(), 1, usize::MAX), End])), password(), End]),
                ]),
            ]),
        },
    ]
}

/// The redactor by the letter of the specification.
pub(super) fn redact(text: &str) -> String {
    let shapes = shapes();
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    let mut copied = 0;
    while at < chars.len() {
        let found = shapes.iter().find_map(|shape| {
            let mut end = None;
            go(&shape.re, &chars, at, &mut |e| {
                end = Some(e);
                true
            });
            end.map(|end| (shape, end))
        });
        let inside = at > 0 && token(chars[at - 1]);
        match found {
            Some((shape, end)) if !(shape.anchored && inside && shape.exempt.is_none_or(|n| end - at < n)) => {
                let keep = match shape.keep {
                    Ok(first) => first,
                    Err(last) => end - at - last,
                };
                out.extend(&chars[copied..at + keep]);
                out.push_str("…REDACTED");
                at = end;
                copied = end;
            }
            _ => at += 1,
        }
    }
    out.extend(&chars[copied..]);
    out
}
