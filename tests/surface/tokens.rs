//! Rust sources as words and signs, without comments, texts and tests; enough to see what a file names.

use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Word(String),
    /// `::` is one of its own; everything else is one character.
    Mark(&'static str),
    Other(char),
}

pub fn word(token: Option<&Token>) -> Option<&str> {
    match token {
        Some(Token::Word(word)) => Some(word),
        _ => None,
    }
}

/// Words and marks of a source, without comments, texts, characters and numbers.
pub fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut out = Vec::new();
    let mut i = 0;
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    while i < chars.len() {
        match (at(i), at(i + 1)) {
            ('/', '/') => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            ('/', '*') => {
                let mut depth = 0;
                loop {
                    match (at(i), at(i + 1)) {
                        ('/', '*') => (depth, i) = (depth + 1, i + 2),
                        ('*', '/') => (depth, i) = (depth - 1, i + 2),
                        _ => i += 1,
                    }
                    if depth == 0 || i >= chars.len() {
                        break;
                    }
                }
            }
            ('r', '"' | '#') | ('b', 'r') if raw_text(&chars, i).is_some() => i = raw_text(&chars, i).unwrap(),
            ('"', _) => i = text_end(&chars, i + 1, '"'),
            ('b', '"') => i = text_end(&chars, i + 2, '"'),
            ('\'', '\\') => i = text_end(&chars, i + 1, '\''),
            ('\'', _) if at(i + 2) == '\'' => i += 3,
            (':', ':') => {
                out.push(Token::Mark("::"));
                i += 2;
            }
            (c, _) if c.is_alphabetic() || c == '_' => {
                let from = i;
                while at(i).is_alphanumeric() || at(i) == '_' {
                    i += 1;
                }
                let text: String = chars[from..i].iter().collect();
                // A raw identifier is the identifier.
                if !(text == "r" && at(i) == '#') {
                    out.push(Token::Word(text));
                }
            }
            (c, _) => {
                // A hash counts only where it opens an attribute: `r#name` is the name.
                let kept = if c == '#' { matches!(at(i + 1), '[' | '!') } else { !c.is_whitespace() };
                if kept {
                    out.push(Token::Other(c));
                }
                i += 1;
            }
        }
    }
    out
}

/// The end of a raw text that begins here, if one does.
fn raw_text(chars: &[char], from: usize) -> Option<usize> {
    let mut i = from + if chars[from] == 'b' { 2 } else { 1 };
    let mut hashes = 0;
    while chars.get(i) == Some(&'#') {
        (i, hashes) = (i + 1, hashes + 1);
    }
    if chars.get(i) != Some(&'"') {
        return None;
    }
    let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let rest = &chars[i + 1..];
    rest.windows(end.len()).position(|w| w == end).map(|at| i + 1 + at + end.len())
}

fn text_end(chars: &[char], mut i: usize, quote: char) -> usize {
    while i < chars.len() && chars[i] != quote {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// Takes out every item marked `#[cfg(test)]`, and names the modules of test files.
pub fn without_tests(tokens: &[Token]) -> (Vec<Token>, BTreeSet<String>) {
    let (mut out, mut files) = (Vec::new(), BTreeSet::new());
    let mut i = 0;
    while i < tokens.len() {
        if !is_test_attribute(&tokens[i..]) {
            out.push(tokens[i].clone());
            i += 1;
            continue;
        }
        while tokens.get(i) == Some(&Token::Other('#')) {
            i = matching(tokens, i + 1, '[', ']');
        }
        let from = i;
        while i < tokens.len() && !matches!(tokens[i], Token::Other('{' | ';')) {
            i += 1;
        }
        if tokens.get(i) == Some(&Token::Other('{')) {
            i = matching(tokens, i, '{', '}');
            if tokens.get(i) == Some(&Token::Other(';')) {
                i += 1;
            }
        } else {
            let item: Vec<_> = tokens[from..i].iter().filter_map(|t| word(Some(t))).collect();
            if let Some(at) = item.iter().position(|w| *w == "mod") {
                files.insert(item[at + 1].to_owned());
            }
            i += 1;
        }
    }
    (out, files)
}

fn is_test_attribute(tokens: &[Token]) -> bool {
    let names: Vec<_> = tokens.iter().take(8).collect();
    names.first() == Some(&&Token::Other('#'))
        && word(names.get(2).copied()) == Some("cfg")
        && (word(names.get(4).copied()) == Some("test")
            || word(names.get(4).copied()) == Some("all") && word(names.get(6).copied()) == Some("test"))
}

/// The index after the bracket that closes the one at `from`.
fn matching(tokens: &[Token], from: usize, open: char, close: char) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(from) {
        if *token == Token::Other(open) {
            depth += 1;
        } else if *token == Token::Other(close) {
            depth -= 1;
            if depth == 0 {
                return i + 1;
            }
        }
    }
    tokens.len()
}

/// One import, expanded: its whole path, and the name it gets when that is another one. A glob ends in `*`.
#[derive(Debug)]
pub struct Import {
    pub path: String,
    pub renamed: bool,
}

pub fn imports(tokens: &[Token]) -> Vec<Import> {
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        match word(Some(token)) {
            Some("use") => {
                let end = i + 1 + tokens[i + 1..].iter().position(|t| *t == Token::Other(';')).unwrap_or(0);
                expand(&tokens[i + 1..end], "", &mut found);
            }
            Some("extern") if word(tokens.get(i + 1)) == Some("crate") => {
                let path = word(tokens.get(i + 2)).unwrap_or_default().to_owned();
                found.push(Import { path, renamed: true });
            }
            _ => {}
        }
    }
    found
}

fn expand(tree: &[Token], prefix: &str, found: &mut Vec<Import>) {
    let mut path = prefix.to_owned();
    let mut i = 0;
    while i < tree.len() {
        match &tree[i] {
            Token::Word(name) if name == "as" => {
                found.push(Import { path: trimmed(&path), renamed: true });
                return;
            }
            Token::Word(name) if name == "self" && !path.is_empty() => {}
            Token::Word(name) => path.push_str(name),
            Token::Mark(_) if path.is_empty() => {}
            Token::Mark(_) => path.push_str("::"),
            Token::Other('*') => path.push('*'),
            Token::Other('{') => {
                let end = matching(tree, i, '{', '}');
                for branch in branches(&tree[i + 1..end - 1]) {
                    expand(branch, &path, found);
                }
                return;
            }
            Token::Other(_) => {}
        }
        i += 1;
    }
    if path != prefix || !path.is_empty() {
        found.push(Import { path: trimmed(&path), renamed: false });
    }
}

fn trimmed(path: &str) -> String {
    path.trim_end_matches("::").to_owned()
}

fn branches(list: &[Token]) -> Vec<&[Token]> {
    let (mut depth, mut from, mut out) = (0, 0, Vec::new());
    for (i, token) in list.iter().enumerate() {
        match token {
            Token::Other('{') => depth += 1,
            Token::Other('}') => depth -= 1,
            Token::Other(',') if depth == 0 => {
                out.push(&list[from..i]);
                from = i + 1;
            }
            _ => {}
        }
    }
    out.push(&list[from..]);
    out.retain(|branch| !branch.is_empty());
    out
}
