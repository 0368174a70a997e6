//! The opening scene and what happens step by step.

use super::cast::{self, Part};
use super::databases::Databases;
use super::records as r;
use crate::model::time::iso;
use crate::surface::invent;
use crate::surface::write::Place;
use serde_json::{Value, json};
use std::io::{self, Write};

/// A playing script.
pub struct Script {
    home: Place,
    databases: Databases,
    step: u64,
    codex_total: u64,
    codex_file: String,
    pi_file: String,
    gemini_file: String,
    pi_last: String,
}

impl Script {
    /// Writes the opening scene, as if everyone had been at work for a while.
    pub fn open(home: Place, now: f64) -> io::Result<Script> {
        let day = iso(now);
        let (date, clock) = (day.get(..10).unwrap_or_default(), day.get(11..19).unwrap_or_default().replace(':', "-"));
        let script = Script {
            codex_file: format!(
                ".codex/sessions/{}/rollout-{date}T{clock}-{}.jsonl",
                date.replace('-', "/"),
                cast::PARSER.id
            ),
            pi_file: format!(".pi/agent/sessions/--work-acme-lab--/{date}T{clock}-000Z_{}.jsonl", cast::NOTEBOOK.id),
            gemini_file: format!(
                ".gemini/tmp/acme-docs/chats/session-{date}T{}-{}.jsonl",
                clock.get(..5).unwrap_or_default(),
                cast::DOCS.id.get(..8).unwrap_or_default()
            ),
            databases: Databases::open(&home, now)?,
            home,
            step: 0,
            codex_total: 4200,
            pi_last: "p2".into(),
        };
        script.claude(now)?;
        script.codex(now)?;
        script.others(now)?;
        Ok(script)
    }

    /// One step: somebody writes something.
    pub fn step(&mut self, now: f64) -> io::Result<()> {
        self.step += 1;
        let n = self.step;
        match n % 7 {
            0 => self.codex_step(now),
            1 | 4 => self.claude_step(&cast::CHECKOUT, now),
            2 => self.helper_step(now),
            3 => self.pi_step(now),
            5 => self.line_step(now),
            _ => self.databases.step(&self.home, n, now),
        }
    }

    fn append(&self, name: &str, records: &[Value]) -> io::Result<()> {
        let mut file = self.home.append(name)?;
        for record in records {
            let mut line = serde_json::to_vec(record)?;
            line.push(b'\n');
            file.write_all(&line)?;
        }
        Ok(())
    }

    fn claude(&self, now: f64) -> io::Result<()> {
        let user = |p: &Part, at, text: &str| r::claude_user(p.id, p.cwd, at, &json!(text));
        let says = |p: &Part, at, text: &str, tokens| {
            r::claude_assistant(p.id, p.cwd, at, &json!([{"type": "text", "text": text}]), tokens, false)
        };
        let calls = |p: &Part, at, id: &str, tool: &str, input: Value| {
            let block = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
            r::claude_assistant(p.id, p.cwd, at, &block, 60, false)
        };
        let result = |p: &Part, at, id: &str, failed: bool| {
            let block =
                json!([{"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": "(invented)"}]);
            r::claude_user(p.id, p.cwd, at, &block)
        };
        let title = |p: &Part| json!({"type": "ai-title", "aiTitle": p.title, "sessionId": p.id});

        let p = &cast::CHECKOUT;
        self.append(
            &claude_file(p),
            &[
                user(p, now - 3300.0, "Where does the cent go?"),
                says(p, now - 3100.0, "In the discount loop.", 240),
                user(p, now - 380.0, p.prompt),
                says(p, now - 360.0, "Reading the totals first.", 320),
                calls(p, now - 40.0, "t1", "Read", json!({"file_path": "src/cart/totals.rs"})),
                result(p, now - 39.0, "t1", false),
                says(p, now - 5.0, "The drift starts in the discount loop.", 410),
                title(p),
            ],
        )?;
        for (number, (subject, active, status)) in [
            ("Reproduce the lost cent", "Reproducing the lost cent", "completed"),
            ("Round once, at the end", "Rounding once, at the end", "in_progress"),
            ("Run the tax tests", "Running the tax tests", "pending"),
        ]
        .iter()
        .enumerate()
        {
            let task =
                json!({"id": (number + 1).to_string(), "subject": subject, "activeForm": active, "status": status});
            self.home.replace(&format!(".claude/tasks/{}/{}.json", p.id, number + 1), &serde_json::to_vec(&task)?)?;
        }
        for ((file, kind, line), age) in cast::HELPERS.iter().zip([200.0, 150.0, 1500.0]) {
            let dir = format!("{}/subagents", claude_file(p).trim_end_matches(".jsonl"));
            let meta = json!({"agentType": kind, "description": kind});
            self.home.replace(&format!("{dir}/{file}.meta.json"), &serde_json::to_vec(&meta)?)?;
            let said = json!([{"type": "text", "text": line}]);
            self.append(
                &format!("{dir}/{file}.jsonl"),
                &[
                    r::claude_user(p.id, p.cwd, now - age, &json!("Help with the totals.")),
                    r::claude_assistant(p.id, p.cwd, now - age + 5.0, &said, 90, true),
                ],
            )?;
            if age > 900.0 {
                invent::date(&self.home, &format!("{dir}/{file}.jsonl"), now - 900.0)?;
            }
        }

        let p = &cast::MIGRATION;
        let question = json!({"questions": [{"question": "Run the migration against staging?", "options": [
            {"label": "Yes, run it"}, {"label": "Only print the plan"}, {"label": "Stop here"}]}]});
        self.append(
            &claude_file(p),
            &[
                user(p, now - 1500.0, p.prompt),
                says(p, now - 900.0, "The backfill is written and takes about four minutes on the copy.", 800),
                calls(p, now - 840.0, "q1", "AskUserQuestion", question),
                title(p),
            ],
        )?;
        invent::date(&self.home, &claude_file(p), now - 840.0)?;

        let p = &cast::FLAKY;
        let mut records =
            vec![user(p, now - 1250.0, p.prompt), says(p, now - 1200.0, "Building twice to compare.", 200)];
        for i in 0..5 {
            let at = now - 1000.0 + f64::from(i) * 230.0;
            records.push(calls(p, at, &format!("b{i}"), "Bash", json!({"command": "make image"})));
            records.push(result(p, at + 20.0, &format!("b{i}"), true));
        }
        records.push(title(p));
        self.append(&claude_file(p), &records)
    }

    fn codex(&self, now: f64) -> io::Result<()> {
        let p = &cast::PARSER;
        let plan = json!({"plan": [
            {"step": "Read the old importer", "status": "completed"},
            {"step": "Move to the streaming parser", "status": "in_progress"},
            {"step": "Keep the error messages", "status": "pending"}]});
        self.append(
            &self.codex_file,
            &[
                r::codex("session_meta", now - 700.0, &json!({"id": p.id, "session_id": p.id, "timestamp": iso(now - 700.0),
                    "cwd": p.cwd, "originator": "codex_cli_rs", "cli_version": "0.153.4", "source": "cli", "model_provider": "openai"})),
                r::codex("turn_context", now - 699.0, &json!({"cwd": p.cwd, "model": "gpt-5.6-codex"})),
                r::codex("event_msg", now - 690.0, &json!({"type": "task_started", "turn_id": "turn-1"})),
                r::codex("event_msg", now - 689.0, &json!({"type": "user_message", "message": p.prompt})),
                r::codex("response_item", now - 600.0, &json!({"type": "function_call", "name": "update_plan", "call_id": "c1",
                    "arguments": plan.to_string()})),
                r::codex("response_item", now - 599.0, &json!({"type": "function_call_output", "call_id": "c1", "output": "Plan updated"})),
                r::codex_tokens(now - 20.0, 420, 4200),
                r::codex("event_msg", now - 6.0, &json!({"type": "agent_message", "message": cast::PARSER.lines.first()})),
            ],
        )
    }

    fn others(&self, now: f64) -> io::Result<()> {
        let p = &cast::NOTEBOOK;
        self.append(
            &self.pi_file,
            &[
                json!({"type": "session", "version": 3, "id": p.id, "timestamp": iso(now - 500.0), "cwd": p.cwd}),
                r::pi("p1", None, now - 480.0, "user", p.prompt, 0),
                r::pi("p2", Some("p1"), now - 12.0, "assistant", p.lines.first().copied().unwrap_or_default(), 310),
            ],
        )?;
        let p = &cast::DOCS;
        self.append(
            &self.gemini_file,
            &[
                json!({"sessionId": p.id, "projectHash": "acme-docs", "startTime": iso(now - 7200.0), "lastUpdated": iso(now - 5400.0),
                    "kind": "main", "directories": [p.cwd]}),
                r::gemini("g1", now - 7200.0, "user", p.prompt, 0),
                r::gemini("g2", now - 5400.0, "gemini", p.lines.first().copied().unwrap_or_default(), 260),
            ],
        )?;
        invent::date(&self.home, &self.gemini_file, now - 5400.0)?;
        let p = &cast::WEB;
        let data = json!({"sessionId": p.id, "version": 1, "producer": "copilot-agent", "context": {"cwd": p.cwd}});
        self.append(
            &copilot_file(),
            &[
                r::copilot("session.start", now - 260.0, &data),
                r::copilot("user.message", now - 250.0, &json!({"content": p.prompt})),
                r::copilot("assistant.turn_start", now - 249.0, &json!({})),
                r::copilot("assistant.message", now - 10.0, &json!({"content": p.lines.first()})),
            ],
        )?;
        let p = &cast::OPS;
        self.append(
            &droid_file(),
            &[
                json!({"type": "session_start", "id": p.id, "title": p.title, "sessionTitle": p.title, "owner": "dev", "version": 2, "cwd": p.cwd}),
                r::droid(now - 3000.0, "user", &json!([{"type": "text", "text": p.prompt}])),
                r::droid(now - 2400.0, "assistant", &json!([{"type": "text", "text": p.lines.first()}])),
            ],
        )?;
        invent::date(&self.home, &droid_file(), now - 2400.0)
    }

    fn claude_step(&self, p: &Part, now: f64) -> io::Result<()> {
        let n = self.step as usize;
        let tool = p.tools.get(n % p.tools.len().max(1)).copied().unwrap_or("Read");
        let line = p.lines.get(n % p.lines.len().max(1)).copied().unwrap_or_default();
        let id = format!("s{n}");
        let blocks = json!([{"type": "text", "text": line}, {"type": "tool_use", "id": id, "name": tool, "input": {}}]);
        let done = json!([{"type": "tool_result", "tool_use_id": id, "is_error": false, "content": "(invented)"}]);
        self.append(
            &claude_file(p),
            &[
                r::claude_assistant(p.id, p.cwd, now - 0.5, &blocks, 120 + (self.step % 9) * 35, false),
                r::claude_user(p.id, p.cwd, now, &done),
            ],
        )
    }

    fn helper_step(&self, now: f64) -> io::Result<()> {
        let p = &cast::CHECKOUT;
        let [first, second, _] = cast::HELPERS;
        let (file, _, line) = if (self.step / 7).is_multiple_of(2) { first } else { second };
        let said = json!([{"type": "text", "text": line}]);
        let dir = format!("{}/subagents", claude_file(p).trim_end_matches(".jsonl"));
        self.append(&format!("{dir}/{file}.jsonl"), &[r::claude_assistant(p.id, p.cwd, now, &said, 70, true)])
    }

    fn codex_step(&mut self, now: f64) -> io::Result<()> {
        let p = &cast::PARSER;
        self.codex_total += 180;
        let line = p.lines.get(self.step as usize % p.lines.len()).copied();
        self.append(
            &self.codex_file,
            &[
                r::codex("event_msg", now - 0.3, &json!({"type": "agent_message", "message": line})),
                r::codex_tokens(now, 180, self.codex_total),
            ],
        )
    }

    fn pi_step(&mut self, now: f64) -> io::Result<()> {
        let id = format!("p{}", self.step + 10);
        let record = r::pi(
            &id,
            Some(&self.pi_last),
            now,
            "assistant",
            cast::NOTEBOOK.lines.first().copied().unwrap_or_default(),
            140,
        );
        self.pi_last = id;
        self.append(&self.pi_file, &[record])
    }

    fn line_step(&self, now: f64) -> io::Result<()> {
        let data = json!({"content": cast::WEB.lines.first()});
        self.append(&copilot_file(), &[r::copilot("assistant.message", now, &data)])
    }
}

fn claude_file(p: &Part) -> String {
    format!(".claude/projects/{}/{}.jsonl", p.cwd.replace(['/', '.'], "-"), p.id)
}

fn copilot_file() -> String {
    format!(".copilot/session-state/{}/events.jsonl", cast::WEB.id)
}

fn droid_file() -> String {
    format!(".factory/sessions/{}/{}.jsonl", cast::OPS.cwd.replace('/', "-"), cast::OPS.id)
}
