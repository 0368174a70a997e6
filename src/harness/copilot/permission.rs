//! Permission requests that have no answer behind them: somebody is being waited for (COP-010, COP-014 to COP-017).

use crate::model::time::{age, duration};

/// Most requests kept at once; a session has one, subagents a few more. The oldest asked go first.
const KEPT: usize = 256;
/// A request that stood less than this is not reported, seconds: a headless run denies its own within a millisecond.
const FLOOR_SEC: f64 = 2.0;

/// What is asked for, as far as it was measured; nothing else of a request is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Shell,
    Url,
    Other,
}

impl Kind {
    /// The kind of this wire name.
    pub fn of(name: Option<&str>) -> Kind {
        match name {
            Some("shell") => Kind::Shell,
            Some("url") => Kind::Url,
            _ => Kind::Other,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Request {
    id: String,
    /// Seconds since the epoch; `None` when undated.
    at: Option<f64>,
    kind: Kind,
}

/// The requests of a session that were not answered yet, in the order in which they were asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pending(Vec<Request>);

/// The wait that a row reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// Since when, seconds since the epoch.
    pub since: f64,
    /// What the row says of it.
    pub detail: String,
}

impl Pending {
    /// A request was made; one of the same id is asked anew in its place.
    pub fn ask(&mut self, id: String, at: Option<f64>, kind: Kind) {
        let request = Request { id, at, kind };
        if let Some(known) = self.0.iter_mut().find(|known| known.id == request.id) {
            *known = request;
            return;
        }
        if self.0.len() >= KEPT {
            self.0.remove(0);
        }
        self.0.push(request);
    }

    /// A request was answered, whichever way; an unknown one changes nothing.
    pub fn answer(&mut self, id: &str) {
        self.0.retain(|known| known.id != id);
    }

    /// The operator went on: whatever was asked before is void.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The oldest request if it has stood long enough. An undated one counts from `written`, the file's last write, and
    /// after every dated one.
    pub fn wait(&self, written: f64, now: f64) -> Option<Wait> {
        let dated = self.0.iter().filter_map(|request| Some((request.at?, request.kind)));
        let oldest = dated.reduce(|oldest, next| if next.0 < oldest.0 { next } else { oldest });
        let (since, kind) = oldest.or_else(|| self.0.first().map(|request| (written, request.kind)))?;
        let stood = age(since, now);
        if stood.is_some_and(|stood| stood < FLOOR_SEC) {
            return None;
        }
        let kind = match kind {
            Kind::Shell => " (shell)",
            Kind::Url => " (url)",
            Kind::Other => "",
        };
        Some(Wait { since, detail: format!("permission request{kind}, waiting {}", duration(stood)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(asked: &[(&str, Option<f64>)]) -> Pending {
        let mut pending = Pending::default();
        for (id, at) in asked {
            pending.ask((*id).into(), *at, Kind::Shell);
        }
        pending
    }

    fn since(pending: &Pending) -> Option<f64> {
        pending.wait(50.0, 100.0).map(|wait| wait.since)
    }

    /// COP-015: the oldest counts, undated ones last.
    #[test]
    fn cop_015_the_oldest_counts_and_undated_ones_come_last() {
        assert_eq!(since(&pending(&[("a", Some(30.0)), ("b", Some(20.0)), ("c", Some(40.0))])), Some(20.0));
        assert_eq!(since(&pending(&[("a", None), ("b", Some(60.0))])), Some(60.0));
        let mut undated = pending(&[("a", None), ("b", None)]);
        undated.ask("b".into(), None, Kind::Url);
        assert_eq!(since(&undated), Some(50.0), "the file's last write");
        assert_eq!(undated.wait(50.0, 100.0).unwrap().detail, "permission request (shell), waiting 50s", "first asked");
        undated.answer("a");
        assert_eq!(undated.wait(50.0, 100.0).unwrap().detail, "permission request (url), waiting 50s");
        assert_eq!(since(&pending(&[])), None);
    }

    /// COP-016: the floor of two seconds.
    #[test]
    fn cop_016_a_request_younger_than_two_seconds_is_held_back() {
        let at = |since| pending(&[("a", Some(since))]).wait(0.0, 100.0).map(|wait| wait.detail);
        assert_eq!(at(98.1), None);
        assert_eq!(at(110.0), None, "ahead, within the tolerated skew, is no wait yet");
        assert_eq!(at(98.0).as_deref(), Some("permission request (shell), waiting 2s"));
        assert_eq!(at(9000.0).as_deref(), Some("permission request (shell), waiting –"), "an age nobody knows");
    }

    #[test]
    fn trust_033_requests_are_bounded() {
        let mut many = Pending::default();
        for n in 0..KEPT + 9 {
            many.ask(n.to_string(), Some(n as f64), Kind::Other);
        }
        assert_eq!((many.0.len(), since(&many)), (KEPT, Some(9.0)));
    }
}
