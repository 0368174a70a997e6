//! The records of the line-file harnesses as those harnesses write them, for the demo.

use crate::model::time::iso;
use serde_json::{Value, json};

pub fn claude_user(session: &str, cwd: &str, at: f64, content: &Value) -> Value {
    json!({"type": "user", "sessionId": session, "cwd": cwd, "version": "2.1.260", "isSidechain": false, "timestamp": iso(at),
        "uuid": format!("u-{at:.3}"), "message": {"role": "user", "content": content}})
}

pub fn claude_assistant(session: &str, cwd: &str, at: f64, blocks: &Value, tokens: u64, child: bool) -> Value {
    json!({"type": "assistant", "sessionId": session, "cwd": cwd, "version": "2.1.260", "isSidechain": child, "timestamp": iso(at),
        "uuid": format!("a-{at:.3}"),
        "message": {"id": format!("msg_{at:.3}"), "role": "assistant", "model": "claude-opus-5", "content": blocks,
            "usage": {"input_tokens": 4, "output_tokens": tokens}}})
}

pub fn codex(kind: &str, at: f64, payload: &Value) -> Value {
    json!({"timestamp": iso(at), "type": kind, "payload": payload})
}

pub fn codex_tokens(at: f64, last: u64, total: u64) -> Value {
    let usage = |output: u64| {
        json!({"input_tokens": 1200, "cached_input_tokens": 800, "output_tokens": output, "reasoning_output_tokens": 0,
            "total_tokens": 1200 + output})
    };
    codex(
        "event_msg",
        at,
        &json!({"type": "token_count", "info": {"last_token_usage": usage(last),
        "total_token_usage": usage(total), "model_context_window": 272_000}, "rate_limits": null}),
    )
}

pub fn pi(entry: &str, parent: Option<&str>, at: f64, role: &str, text: &str, tokens: u64) -> Value {
    let mut message =
        json!({"role": role, "content": [{"type": "text", "text": text}], "timestamp": (at * 1000.0) as i64});
    if role == "assistant"
        && let Some(fields) = message.as_object_mut()
    {
        fields.insert("provider".into(), "anthropic".into());
        fields.insert("model".into(), "claude-opus-5".into());
        fields.insert("stopReason".into(), "toolUse".into());
        fields.insert("usage".into(), json!({"input": 900, "output": tokens, "totalTokens": 900 + tokens}));
    }
    json!({"type": "message", "id": entry, "parentId": parent, "timestamp": iso(at), "message": message})
}

pub fn gemini(id: &str, at: f64, role: &str, text: &str, tokens: u64) -> Value {
    json!({"id": id, "timestamp": iso(at), "type": role, "content": text, "model": "gemini-3-pro",
        "tokens": {"input": 700, "output": tokens, "total": 700 + tokens}})
}

pub fn copilot(kind: &str, at: f64, data: &Value) -> Value {
    json!({"type": kind, "id": format!("e-{at:.3}"), "timestamp": iso(at), "data": data})
}

pub fn droid(at: f64, role: &str, content: &Value) -> Value {
    json!({"type": "message", "id": format!("m-{at:.3}"), "timestamp": iso(at), "message": {"role": role, "content": content}})
}
