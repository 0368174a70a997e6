//! An entry as it is written to the file (ANN-010 to ANN-012, ANN-060).

use super::entry::{Assessment, Entry, Line, More, Revision, Settled};
use serde::Serialize;
use serde_json::value::RawValue;

impl Entry {
    /// The entry as written to the file; a discard record holds four members and no text (ANN-060).
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        if let Some((at, number)) = self.discarded.filter(|_| self.revisions.is_empty()) {
            return serde_json::to_string(&WrittenDiscard {
                harness: &self.harness,
                sid: &self.sid,
                revisions: [],
                discarded: at,
                discarded_revision: number,
            });
        }
        let assessment = match &self.assessment {
            None => None,
            Some(Assessment::Read(value)) => Some(serde_json::value::to_raw_value(value)?),
            Some(Assessment::Refused(raw)) => Some(RawValue::from_string(raw.to_string())?),
        };
        serde_json::to_string(&Written {
            harness: &self.harness,
            sid: &self.sid,
            revisions: self.revisions.iter().map(WrittenRevision::of).collect(),
            settled: self.settled,
            assessment,
            readings: self.readings,
            withheld: &self.withheld,
            jobs: &self.jobs,
            written: self.written,
            more: Beside(&self.more),
        })
    }
}

#[derive(Serialize)]
struct WrittenDiscard<'a> {
    harness: &'a str,
    sid: &'a str,
    revisions: [u8; 0],
    discarded: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    discarded_revision: Option<u64>,
}

#[derive(Serialize)]
struct Written<'a> {
    harness: &'a str,
    sid: &'a str,
    revisions: Vec<WrittenRevision<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settled: Option<Settled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assessment: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "is_zero")]
    readings: u64,
    #[serde(skip_serializing_if = "str::is_empty")]
    withheld: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    jobs: &'a [String],
    written: f64,
    #[serde(flatten)]
    more: Beside<'a>,
}

/// Members written as they were read.
struct Beside<'a>(&'a More);

impl Serialize for Beside<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::{Error as _, SerializeMap as _};
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, raw) in self.0 {
            map.serialize_entry(name, &RawValue::from_string(raw.to_string()).map_err(S::Error::custom)?)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct WrittenRevision<'a> {
    n: u64,
    at: f64,
    goal: &'a str,
    lines: &'a [Line],
    #[serde(skip_serializing_if = "Option::is_none")]
    goal_source: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal_source_at: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal_saved_at: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_start: Option<f64>,
    #[serde(flatten)]
    more: Beside<'a>,
}

impl<'a> WrittenRevision<'a> {
    fn of(revision: &'a Revision) -> Self {
        Self {
            n: revision.n,
            at: revision.at,
            goal: &revision.goal,
            lines: &revision.lines,
            goal_source: revision.adopted.map(|(source, _)| source.as_str()),
            goal_source_at: revision.adopted.map(|(_, at)| at),
            goal_saved_at: revision.goal_saved_at,
            window_start: revision.window_start,
            more: Beside(&revision.more),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}
