//! The page and its files: bytes compiled into the binary (HTTP-030..032, UI-003). No path is ever opened.

use super::assets::{ASSETS, INDEX, TERMINAL_ASSETS};
use super::reply::Reply;
use std::sync::Arc;

/// The document as this run serves it.
pub struct Page {
    document: Arc<[u8]>,
    terminal: bool,
}

impl Page {
    /// The document with what this run adds to it: the focus capability, and the style rule the terminal needs.
    pub fn new(focus_token: Option<&str>, terminal: bool) -> Self {
        let mut text = INDEX.to_owned();
        if terminal {
            // The terminal's library puts a style element into the page (UI-004).
            text = text.replacen("style-src 'self';", "style-src 'self' 'unsafe-inline';", 1);
        }
        if let Some(token) = focus_token.filter(|token| is_token(token))
            && let Some(at) = text.find("</head>")
        {
            text.insert_str(at, &format!("<meta name=\"cargento-focus\" content=\"{token}\">"));
        }
        Self { document: text.into_bytes().into(), terminal }
    }

    /// The document; the same bytes for the life of the process.
    pub fn document(&self) -> Reply {
        Reply::document(self.document.clone())
    }

    /// A file of the page.
    pub fn asset(&self, name: &str) -> Option<Reply> {
        find(ASSETS, name)
    }

    /// A file of the terminal by its whole path, while there is a terminal.
    pub fn terminal_asset(&self, path: &str) -> Option<Reply> {
        path.strip_prefix("/assets/").filter(|_| self.terminal).and_then(|name| find(TERMINAL_ASSETS, name))
    }
}

fn find(table: &[(&str, &'static [u8])], name: &str) -> Option<Reply> {
    let (_, bytes) = table.iter().find(|(own, _)| *own == name)?;
    Some(Reply::asset(media_type(name)?, bytes).with("X-Content-Type-Options", "nosniff"))
}

/// The media type of a file by its ending; a file of another kind is not served.
fn media_type(name: &str) -> Option<&'static str> {
    Some(match name.rsplit_once('.')?.1 {
        "js" => "text/javascript",
        "css" => "text/css",
        "woff2" => "font/woff2",
        "svg" => "image/svg+xml",
        "txt" => "text/plain; charset=utf-8",
        _ => return None,
    })
}

/// 64 lower-case hexadecimal digits; anything else stays out of the document.
fn is_token(token: &str) -> bool {
    token.len() == 64 && token.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    fn text(page: &Page) -> String {
        String::from_utf8(page.document().body().to_vec()).unwrap()
    }

    /// HTTP-031.
    #[test]
    fn http_031_the_capability_stands_before_the_first_end_of_head() {
        let (plain, with) = (text(&Page::new(None, false)), text(&Page::new(Some(TOKEN), false)));
        let meta = format!("<meta name=\"cargento-focus\" content=\"{TOKEN}\">");
        assert_eq!(with, plain.replacen("</head>", &format!("{meta}</head>"), 1));
        assert_eq!(plain, INDEX);
        for junk in ["", "g", "\"><script>", &TOKEN[1..], &TOKEN.to_uppercase(), &format!("{TOKEN}0")] {
            assert_eq!(text(&Page::new(Some(junk), false)), plain, "{junk}");
        }
    }

    /// HTTP-030, UI-004.
    #[test]
    fn http_030_ui_004_the_document_carries_its_policy_and_loads_from_here_alone() {
        let policy = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; object-src 'none'";
        assert!(INDEX.contains(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">")));
        assert!(text(&Page::new(None, true)).contains("style-src 'self' 'unsafe-inline';"));
        assert!(!INDEX.contains("cargento-focus") && !INDEX.contains("://"));
    }

    /// UI-003.
    #[test]
    fn ui_003_the_table_is_the_folder() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("static");
        let (mut folders, mut found) = (vec![root.clone()], BTreeSet::new());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if path != root.join("index.html") && name != "SOURCES.txt" {
                    let (_, bytes) = ASSETS
                        .iter()
                        .chain(TERMINAL_ASSETS)
                        .find(|(own, _)| *own == name)
                        .unwrap_or_else(|| panic!("{} is not in the table", path.display()));
                    assert!(std::fs::read(&path).unwrap() == *bytes, "{name}: the table holds other bytes");
                    assert!(found.insert(name), "two files share the name of {}", path.display());
                }
            }
        }
        assert_eq!(found.len(), ASSETS.len() + TERMINAL_ASSETS.len());
        for (name, _) in ASSETS.iter().chain(TERMINAL_ASSETS) {
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
            assert!(name.bytes().all(plain) && name.as_bytes()[0].is_ascii_alphanumeric(), "{name}");
            assert!(media_type(name).is_some(), "{name}");
        }
    }

    /// HTTP-030.
    #[test]
    fn http_030_nothing_else_is_an_asset() {
        let page = Page::new(None, false);
        for name in
            ["", ".", "..", "index.html", "none.js", "/", "%2e%2e/", "../Cargo.toml", "APP.JS", "app.js/", "xterm.js"]
        {
            assert!(page.asset(name).is_none(), "{name}");
        }
        assert!(page.terminal_asset("/assets/xterm.js").is_none());
    }
}
