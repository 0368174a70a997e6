//! Lengths and bodies of the routes that take one.

use super::{Corpus, LENIENT, STRICT, TYPED, idle, latin, plain, unusable};
use serde_json::json;

pub fn lengths(c: &mut Corpus) {
    for (path, cap) in LENIENT.into_iter().chain(STRICT).chain(TYPED) {
        for declared in [
            (cap + 1).to_string(),
            "-1".into(),
            "+5".into(),
            "5,5".into(),
            "0x10".into(),
            "99999999999999999999".into(),
        ] {
            let head = plain("POST", path, &format!("Content-Length: {declared}\r\n"));
            c.head(format!("{path}: length {declared}"), &head, 413, "http.length");
        }
        c.post(
            "one byte over the cap",
            path,
            vec![json!({"repeat": " ", "times": cap + 1})],
            cap + 1,
            413,
            "http.length",
        );
        let two = plain("POST", path, "Content-Length: 2\r\nContent-Length: 5\r\n");
        c.head(format!("{path}: two lengths"), &format!("{two}{{}}abc"), 400, "http.malformed");
        let chunked = plain("POST", path, "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n");
        c.head(format!("{path}: a length beside chunks"), &format!("{chunked}{{}}"), 400, "http.malformed");
    }
    for (path, cap) in LENIENT {
        junk(c, path, cap, 200, "body.empty-object");
        let chunks = format!("{}2\r\n{{}}\r\n0\r\n\r\n", plain("POST", path, "Transfer-Encoding: chunked\r\n"));
        c.head(format!("{path}: chunks alone count as no body"), &chunks, 200, "body.empty-object");
        let same = format!("{}{{}}", plain("POST", path, "Content-Length: 2\r\nContent-Length: 2\r\n"));
        c.head(format!("{path}: one length twice"), &same, 200, "");
        let more = format!("{}{{}}{{\"x\":1}}", plain("POST", path, "Content-Length: 2\r\n"));
        c.head(format!("{path}: an understated length"), &more, 200, "");
        for kind in ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", ""] {
            let typed =
                format!("{}{{}}", plain("POST", path, &format!("Content-Type: {kind}\r\nContent-Length: 2\r\n")));
            c.head(format!("{path}: content type {kind:?}"), &typed, 200, "");
        }
    }
    for (path, cap) in STRICT {
        junk(c, path, cap, 400, "body.refused");
    }
}

fn junk(c: &mut Corpus, path: &str, cap: usize, status: u16, counter: &str) {
    for length in [cap - 1, cap] {
        let name = format!("{length} bytes of junk, the cap or one below");
        c.post(&name, path, vec![json!({"repeat": "x", "times": length})], length, status, counter);
    }
}

pub fn bodies(c: &mut Corpus) {
    for (path, cap, status, counter) in LENIENT
        .into_iter()
        .map(|(path, cap)| (path, cap, 200, "body.empty-object"))
        .chain(STRICT.into_iter().map(|(path, cap)| (path, cap, 400, "body.refused")))
    {
        for (name, body, length) in unusable() {
            let (status, counter) = if length > cap { (413, "http.length") } else { (status, counter) };
            c.post(name, path, body, length, status, counter);
        }
    }
    for (path, _) in LENIENT {
        for (name, body) in idle() {
            c.post(name, path, vec![json!(latin(&body))], body.len(), 200, "");
        }
    }
    let kinds = ["null", "true", "false", "0", "-1.5e300", "\"\"", "\"granted\"", "[]", "[true]", "{}"];
    for kind in kinds {
        for (field, fits, other) in [
            ("supported", ["true", "false"].as_slice(), "\"permission\":\"denied\""),
            ("permission", &["\"\"", "\"granted\""], "\"supported\":false"),
        ] {
            let body = format!("{{\"{field}\":{kind},{other}}}");
            let (status, counter) = if fits.contains(&kind) { (200, "") } else { (400, "lane.refused") };
            c.post(&format!("{field} {kind}"), "/api/lane", vec![json!(body)], body.len(), status, counter);
        }
    }
    for more in ["harness", "sid", "session", "session_id", "resume_id", "outcome", "at", "__proto__"] {
        let body = format!("{{\"supported\":true,\"permission\":\"granted\",\"{more}\":\"x\"}}");
        c.post(&format!("with {more}"), "/api/lane", vec![json!(body)], body.len(), 400, "lane.refused");
    }
    let body = "{\"supported\":true,\"permission\":\"granted\"}";
    c.post("a working lane", "/api/lane", vec![json!(body)], body.len(), 200, "")["revision"] = json!("dropped");
}
