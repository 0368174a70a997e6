//! `cargento mcp`: the stdio server that the plugin registers with a harness (ASK-060).
//!
//! Its one tool puts a question to the person, and questions are not part of this build. The server therefore speaks the
//! protocol and offers no tool: a harness that has it registered finds one that runs and is empty, not one that failed.

use crate::env::Env;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{self, BufRead, Read as _, Write};
use std::process::ExitCode;

/// Longest line that is read as a frame, bytes.
const LINE_CAP: u64 = 1_048_576;
/// The protocol's version where a client names none.
const PROTOCOL: &str = "2025-06-18";

/// Runs the subcommand with the arguments after its name: ports, which nothing here connects to.
pub(super) fn run(_args: &[OsString], _env: &Env) -> ExitCode {
    serve(&mut io::stdin().lock(), &mut io::stdout().lock());
    ExitCode::SUCCESS
}

/// Answers frame after frame until the input ends or the output is closed (ASK-063).
fn serve(input: &mut dyn BufRead, out: &mut dyn Write) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.take(LINE_CAP + 1).read_until(b'\n', &mut line);
        if !matches!(read, Ok(n) if n > 0) {
            return;
        }
        let over = line.len() as u64 > LINE_CAP && !line.ends_with(b"\n");
        if over && input.skip_until(b'\n').is_err() {
            return;
        }
        let answer = if over { Some(error(Value::Null, -32700, "the line is too long")) } else { answer(&line) };
        if let Some(answer) = answer
            && out.write_all(format!("{answer}\n").as_bytes()).and_then(|()| out.flush()).is_err()
        {
            return;
        }
    }
}

/// The reply to one line; `None` where none is due (ASK-065 to ASK-068).
fn answer(line: &[u8]) -> Option<Value> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    let Ok(frame) = serde_json::from_slice::<Value>(line) else {
        return Some(error(Value::Null, -32700, "the line is not JSON"));
    };
    let Some(frame) = frame.as_object() else {
        return Some(error(Value::Null, -32600, "the frame is not an object"));
    };
    let id = frame.get("id").filter(|id| !id.is_null())?.clone();
    let Some(method) = frame.get("method").and_then(Value::as_str) else {
        return Some(error(id, -32600, "the frame names no method"));
    };
    let result = match method {
        "initialize" => {
            let asked = frame.get("params").and_then(|p| p.get("protocolVersion")).and_then(Value::as_str);
            json!({
                "protocolVersion": asked.filter(|v| !v.is_empty()).unwrap_or(PROTOCOL),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "cargento", "version": env!("CARGO_PKG_VERSION")},
            })
        }
        "tools/list" => json!({"tools": []}),
        "tools/call" => json!({"content": [{"type": "text", "text": "Unknown tool."}], "isError": true}),
        _ => json!({}),
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn error(id: Value, code: i32, why: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spoken(input: &[u8]) -> Vec<Value> {
        let mut out = Vec::new();
        serve(&mut &input[..], &mut out);
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// ASK-065, ASK-066, ASK-067, ASK-068.
    #[test]
    fn ask_065_to_068_a_server_without_questions_speaks_the_protocol_and_offers_no_tool() {
        let said = spoken(
            br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
{"jsonrpc":"2.0","method":"notifications/initialized"}

{"jsonrpc":"2.0","id":"a","method":"tools/list"}
{"jsonrpc":"2.0","id":2,"method":"ping"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ask_operator","arguments":{}}}
{"id":4}
{"nothing":1}
[1]
{oops
{"jsonrpc":"2.0","id":5,"method":"initialize"}"#,
        );
        assert_eq!(said[0]["result"]["protocolVersion"], "2025-11-25");
        assert_eq!(said[0]["result"]["serverInfo"]["name"], "cargento");
        assert_eq!((&said[1]["id"], &said[1]["result"]), (&json!("a"), &json!({"tools": []})));
        assert_eq!(said[2]["result"], json!({}));
        assert_eq!(said[3]["result"]["isError"], true);
        assert_eq!((&said[4]["id"], &said[4]["error"]["code"]), (&json!(4), &json!(-32600)));
        assert_eq!((&said[5]["id"], &said[5]["error"]["code"]), (&Value::Null, &json!(-32600)));
        assert_eq!(said[6]["error"]["code"], -32700);
        assert_eq!(said[7]["result"]["protocolVersion"], PROTOCOL);
        assert_eq!(said.len(), 8);
    }

    /// ASK-065.
    #[test]
    fn ask_065_a_line_over_the_cap_is_passed_over_and_the_next_is_answered() {
        let mut input = vec![b'x'; LINE_CAP as usize + 7];
        input.extend(b"\n{\"id\":1,\"method\":\"ping\"}\n");
        let said = spoken(&input);
        assert_eq!((&said[0]["error"]["code"], &said[1]["id"]), (&json!(-32700), &json!(1)));
    }
}
