//! `cargento agy-hook HOOK [PORT]`: an Antigravity hook, whose standard output is the harness's answer (HOOK-050..055).

use super::{Envelope, object, post_event, stdin, words};
use crate::env::Env;
use serde_json::{Map, Value};
use std::io::Write;

/// Reports that a store changed, then answers `{}`, which has no opinion, on every path.
pub fn agy(hook: Option<&str>, port: Option<&str>, env: &Env) {
    super::quietly(|| report(hook, port, env));
    // A harness that closed the pipe wants no answer.
    drop(std::io::stdout().write_all(b"{}\n"));
}

fn report(hook: Option<&str>, port: Option<&str>, env: &Env) {
    let payload = object(&stdin(super::STDIN_CAP));
    if !matches!(hook, Some("PostToolUse" | "PostInvocation")) {
        return;
    }
    let Some(built) = payload.and_then(|payload| build(&payload, env)) else { return };
    post_event(env, super::port(port), "antigravity", &built, super::TIME);
}

fn build(payload: &Map<String, Value>, env: &Env) -> Option<Envelope> {
    let native = words(payload, "conversationId").or_else(|| env.text("ANTIGRAVITY_CONVERSATION_ID").map(str::trim));
    let id = native.filter(|id| id.chars().count() == 36)?;
    let folder = payload.get("workspacePaths").and_then(|paths| paths.get(0)).and_then(Value::as_str);
    Some(Envelope::new("store_changed", id, folder.map(str::trim).filter(|path| !path.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Platform;
    use serde_json::json;

    /// HOOK-052, HOOK-053.
    #[test]
    fn hook_052_053_the_conversation_names_itself_or_its_environment_does() {
        let id = "019a0000-1111-4222-8333-444455556666";
        let bare = Env::of(Platform::Linux, [("HOME", "/h")]);
        let named = Env::of(Platform::Linux, [("ANTIGRAVITY_CONVERSATION_ID", id)]);
        let of = |body: Value, env: &Env| {
            build(body.as_object().unwrap(), env).map(|e| serde_json::from_slice::<Value>(&e.bytes()).unwrap())
        };
        assert_eq!(
            of(json!({"conversationId": id, "workspacePaths": ["/w", "/x"], "artifactPaths": ["/secret"]}), &bare),
            Some(json!({"v": 1, "event": "store_changed", "session_id": id, "cwd": "/w"}))
        );
        assert_eq!(of(json!({}), &named), Some(json!({"v": 1, "event": "store_changed", "session_id": id})));
        for body in [json!({}), json!({"conversationId": "short"}), json!({"conversationId": 7})] {
            assert_eq!(of(body.clone(), &bare), None, "{body}");
        }
    }
}
