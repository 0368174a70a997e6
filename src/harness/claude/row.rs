//! One session's row, put together from everything the pass found about it.

use super::family::{self, Family, Mate};
use super::head::Role;
use super::hooks::Hooks;
use super::roster::{self, Pending};
use super::state::{self, Signs};
use super::survey::{Agent, Group, Survey};
use super::tasks::{self, Found};
use super::transcript::Transcript;
use super::{Readers, Session, store, stray_groups};
use crate::harness::Pass;
use crate::harness::degrades::file_name;
use crate::model::time::newest_plausible;
use crate::model::{Code, Degrade, Key, Observed, Spacedock, Subagent, task};
use crate::text::label::{Host, encoded_label, project_label, resume_id};
use std::path::{Path, PathBuf};

/// Label of a session of which no transcript was seen (CLAUDE-007).
const UNKNOWN_PROJECT: &str = "unknown";

/// Everything one row is made from.
pub struct Case<'c> {
    pub key: &'c str,
    pub session: Option<&'c Session>,
    pub mates: &'c [Mate],
    pub survey: &'c Survey<'c>,
    /// The person's home directory, for labels.
    pub home: &'c Path,
    pub hooks: &'c Hooks,
}

/// The session's own subagents, as the survey found them.
struct Own<'c> {
    group: Option<&'c Group>,
    agents: &'c [Agent],
    newest: f64,
}

impl Case<'_> {
    /// The row; `None` when the session lies outside the window and only those inside are wanted.
    pub fn row(&self, readers: &mut Readers, pass: &Pass<'_>, errors: &mut Vec<(String, String)>) -> Option<Observed> {
        let mut row = Observed::new(Key::Claude, self.key);
        let own = self.own();
        let mates: Vec<(&Mate, &[Agent])> = self.mates.iter().map(|m| (m, self.agents_of(m))).collect();
        let tasks = self.tasks(&mut row, readers, pass, errors);
        let mtime = self.session.map_or(0.0, |s| s.top.stamp.mtime());
        let of_mates =
            mates.iter().flat_map(|(m, agents)| agents.iter().map(|a| a.stamp.mtime()).chain([m.top.stamp.mtime()]));
        let times = [mtime, own.newest].into_iter().chain(tasks).chain(of_mates);
        row.last_activity = newest_plausible(times, pass.now);
        row.active = pass.in_window(row.last_activity);
        if !row.active && !pass.all {
            return None;
        }
        self.identify(&mut row, &own, readers, pass);
        if row.active {
            self.analyse(&mut row, &own, &mates, readers, pass, errors);
        }
        Some(row)
    }

    fn own(&self) -> Own<'_> {
        let group = match self.session {
            Some(session) => self.survey.groups.get(store::stem(&session.top.name())),
            None => stray_groups(&self.survey.groups, self.key).max_by(|a, b| a.newest.total_cmp(&b.newest)),
        };
        Own {
            group,
            agents: group.map(|g| g.agents.as_slice()).unwrap_or_default(),
            newest: group.map_or(0.0, |g| g.newest),
        }
    }

    fn agents_of(&self, mate: &Mate) -> &[Agent] {
        let group = self.survey.groups.get(store::stem(&mate.top.name()));
        group.map(|g| g.agents.as_slice()).unwrap_or_default()
    }

    /// Puts the session's tasks on the row; returns when their files were written.
    fn tasks(
        &self,
        row: &mut Observed,
        readers: &mut Readers,
        pass: &Pass<'_>,
        errors: &mut Vec<(String, String)>,
    ) -> Vec<f64> {
        let (mut found, mut times, mut malformed) = (Vec::new(), Vec::new(), 0);
        for (path, file) in self.survey.tasks(self.key) {
            times.push(file.stamp.mtime());
            match tasks::read(&mut readers.tasks, &path, &file, pass.now) {
                Found::Task(task) => found.push(task),
                Found::Malformed => malformed += 1,
                Found::Unreadable(why) => {
                    errors.push((path.display().to_string(), why));
                    degrade(row, Code::StoreUnreadable, file_name(&path), None);
                }
                Found::Gone => {}
            }
        }
        if malformed > 0 {
            degrade(row, Code::RecordSkipped, "claude.tasks".into(), Some(malformed));
        }
        task::attach(row, found);
        times
    }

    /// Who and where the session is; no analysis.
    fn identify(&self, row: &mut Observed, own: &Own<'_>, readers: &mut Readers, pass: &Pass<'_>) {
        let home = self.home.to_string_lossy();
        let Some(session) = self.session else {
            row.project = match own.group {
                Some(group) => {
                    degrade(row, Code::StoreMissing, "claude.transcript".into(), None);
                    encoded_label(&group.folder, &home, Host::current())
                }
                None => UNKNOWN_PROJECT.into(),
            };
            readers.identities.apply(row, None, pass.now);
            return;
        };
        let cwd = session.head.cwd.as_deref();
        let label = cwd.and_then(|cwd| project_label(cwd, &home, Host::current()));
        row.project = label.unwrap_or_else(|| encoded_label(&session.top.folder(), &home, Host::current()));
        let cwd = cwd.map(PathBuf::from).filter(|cwd| cwd.is_absolute());
        readers.identities.apply(row, cwd.as_deref(), pass.now);
        row.evidence.cwd = cwd;
        row.evidence.transcript = Some(session.top.path.clone());
        row.resume_id = resume_id(store::stem(&session.top.name())).map(str::to_owned);
        row.spacedock = spacedock(session.head.role);
        if session.why.is_some() {
            degrade(row, Code::StoreUnreadable, session.top.name(), None);
        }
    }

    fn analyse(
        &self,
        row: &mut Observed,
        own: &Own<'_>,
        mates: &[(&Mate, &[Agent])],
        readers: &mut Readers,
        pass: &Pass<'_>,
        errors: &mut Vec<(String, String)>,
    ) {
        let now = pass.now;
        let generation = self.hooks.generation(self.key);
        let family = Family::gather(own.agents, mates, &mut family_readers(readers, now));
        errors.extend(family.errors.iter().cloned());
        let pending = self.pending(row, own, mates, readers, pass, errors);
        let transcript = self.transcript(row, readers, pass, errors);
        let window = transcript.map(|t| &t.story.window);
        if let Some(transcript) = transcript {
            readings(row, transcript, now);
        }
        let rate = window.map_or(0, |w| w.rate_per_min(now)).saturating_add(family.rate());
        row.rate_per_min = Some(rate);
        let working_detail =
            state::working_detail(task::in_progress(&row.tasks), family.running(), window.and_then(|w| w.last_tool()));
        let stamps = [window.map_or(0.0, |w| w.newest_stamp(now)), self.session.map_or(0.0, |s| s.top.stamp.mtime())];
        let hook = self.standing_hook(row, transcript, now);
        let verdict = state::judge(
            &Signs {
                question: window.and_then(|w| w.question()),
                pending: &pending,
                own: newest_plausible(stamps, now),
                running: family.running(),
                hook: hook.as_ref(),
                last_activity: row.last_activity,
                working_detail: &working_detail,
            },
            now,
        );
        let verdict = verdict.unless_ended(self.hooks.generation(self.key) != generation);
        row.state = verdict.state;
        row.state_detail = Some(verdict.detail);
        row.blocked_since = verdict.blocked_since;
        row.turn = transcript.and_then(|t| t.story.turns.estimate(row.state, now));
        row.evidence.working_detail = Some(working_detail);
        row.subagents_omitted = family.omitted;
        row.subagents = family.members.into_iter().map(|m| m.subagent).collect();
        row.subagents.extend(pending.into_iter().map(not_started));
    }

    /// The session's transcript, read up to date; what was read before stands when it cannot be read now.
    fn transcript<'r>(
        &self,
        row: &mut Observed,
        readers: &'r mut Readers,
        pass: &Pass<'_>,
        errors: &mut Vec<(String, String)>,
    ) -> Option<&'r Transcript> {
        let top = &self.session?.top;
        let limits = readers.limits;
        let read = |t: &mut Transcript| t.refresh(&top.path, top.stamp, pass.now, limits);
        let look = readers.transcripts.look(&top.path, top.stamp, pass.now, Transcript::new, read);
        let (transcript, why) = look.parts()?;
        if let Some(why) = why {
            errors.push((top.path.display().to_string(), why.to_owned()));
            degrade(row, Code::StoreUnreadable, top.name(), None);
        }
        if transcript.in_part {
            degrade(row, Code::ReadInPart, top.name(), None);
        }
        if transcript.story.skipped > 0 {
            degrade(row, Code::RecordSkipped, top.name(), Some(transcript.story.skipped));
        }
        if transcript.story.is_unseen_version() {
            degrade(row, Code::VersionUnseen, top.name(), None);
        }
        Some(transcript)
    }

    /// Members of the session's team that were dispatched and never began.
    fn pending(
        &self,
        row: &mut Observed,
        own: &Own<'_>,
        mates: &[(&Mate, &[Agent])],
        readers: &mut Readers,
        pass: &Pass<'_>,
        errors: &mut Vec<(String, String)>,
    ) -> Vec<Pending> {
        let mut pending = Vec::new();
        for (path, file) in self.survey.rosters(self.key) {
            let (members, why) = roster::read(&mut readers.rosters, &path, &file, pass.now);
            if let Some(why) = why {
                errors.push((path.display().to_string(), why.to_owned()));
                degrade(row, Code::StoreUnreadable, "claude.teams".into(), None);
            }
            let began = |names: &[&str]| family::began(names, self.key, own.group, mates);
            pending.extend(members.iter().filter_map(|m| m.pending(&file, pass.now, pass.window, began)));
        }
        pending
    }

    /// The hook that still stands for the session; one that is answered is dropped for good.
    fn standing_hook(
        &self,
        row: &Observed,
        transcript: Option<&Transcript>,
        now: f64,
    ) -> Option<super::hooks::Notification> {
        let hook = self.hooks.standing(self.key)?;
        // A transcript that cannot be read now answers nothing.
        let unread = row.degrades.iter().any(|d| d.code == Code::StoreUnreadable);
        let story = transcript.map(|t| &t.story);
        let event = story.and_then(|s| s.user_event.as_deref());
        if !unread && hook.is_answered(event, story.map_or(0.0, |s| s.window.newest_stamp(now))) {
            self.hooks.answered(self.key, &hook);
            return None;
        }
        Some(hook)
    }
}

/// Puts the transcript's readings on the row (section 3).
fn readings(row: &mut Observed, transcript: &Transcript, now: f64) {
    let story = &transcript.story;
    let window = &story.window;
    row.title = story.title.clone().or_else(|| story.first.as_ref().map(|f| f.title.clone()));
    window.last_prompt().clone_into(&mut row.last_prompt);
    row.last_output = window.last_output().map(str::to_owned);
    row.instruction = story.instructions.instruction();
    row.model = window.model().map(str::to_owned);
    row.own_activity = window.own_activity(now);
    row.started_at = story.turns.started_at();
    row.session_output_tokens = story.turns.session_tokens();
    row.turn_output_tokens = story.turns.turn_tokens();
    row.looping = story.looping();
    if let Some(first) = &story.first {
        row.first_prompt.clone_from(&first.text);
        row.first_prompt_at = first.at;
        row.first_prompt_control = first.control;
    }
    row.evidence.turn_start = story.turns.open_since();
    row.evidence.turn_durations = story.turns.durations().collect();
    row.evidence.recorded_stop = story.recorded_stop();
    row.evidence.person_wrote = story.instructions.newest_at();
}

fn family_readers(readers: &mut Readers, now: f64) -> family::Readers<'_> {
    family::Readers {
        heads: &mut readers.heads,
        children: &mut readers.children,
        labels: &mut readers.labels,
        now,
        limits: readers.limits,
    }
}

/// A member that never began, as listed (CLAUDE-076).
fn not_started(pending: Pending) -> Subagent {
    Subagent { name: pending.label, model: None, started_at: Some(pending.joined), active: Some(false), parent: None }
}

fn spacedock(role: Option<Role>) -> Option<Spacedock> {
    Some(Spacedock { role: role?.as_str()?, workflows: Vec::new() })
}

/// Notes a gap on the row, once.
fn degrade(row: &mut Observed, code: Code, source: String, count: Option<u64>) {
    let degrade = Degrade { code, source, count };
    if !row.degrades.contains(&degrade) {
        row.degrades.push(degrade);
    }
}
