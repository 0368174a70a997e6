//! Our own stores as another program, an older build or a failing disk may leave them: reading one never writes, what is
//! saved afterwards is read back the same, and a file that is not a store is never lost unsaid.

use super::driver::{Dice, Scratch, Target};
use cargento::counters::Counters;
use cargento::keep::annotations::{Action, Annotations, Observed, Words};
use cargento::keep::deliveries::{self, Deliveries};
use cargento::keep::departures::Departures;
use cargento::keep::dismissals::{self, Dismissals};
use cargento::keep::ends::StoredEnds;
use cargento::keep::history::{History, Record};
use cargento::keep::store::Tell;
use cargento::model::Key;
use cargento::surface::write::Place;
use cargento::text::json;
use std::path::PathBuf;
use std::sync::Arc;

const NOW: f64 = 1_789_898_400.0;

fn quiet() -> Tell {
    Tell { say: Arc::new(|_| {}), counters: Arc::new(Counters::new()) }
}

/// A state directory with one store's file.
struct Bench {
    scratch: Scratch,
    file: &'static str,
}

impl Bench {
    fn new(file: &'static str) -> Self {
        Self { scratch: Scratch::new(file), file }
    }

    fn place(&self) -> Place {
        Place::state(&self.scratch.0)
    }

    fn path(&self) -> PathBuf {
        self.scratch.0.join(self.file)
    }

    /// What the store wrote, as a seed.
    fn written(&self) -> Vec<u8> {
        std::fs::read(self.path()).unwrap()
    }

    /// Runs a target over the file's content. `read` looks at it; `save` changes something and yields what the store then
    /// says, if it was written; `again` what a new store says.
    fn run(
        &self,
        name: &'static str,
        seeds: Vec<Vec<u8>>,
        read: impl Fn(&Place),
        save: impl Fn(&Place, &mut Dice) -> Option<String>,
        again: impl Fn(&Place) -> String,
    ) {
        Target::new(name, 350, seeds).run(|input, dice| {
            let _ = std::fs::remove_file(self.path());
            std::fs::write(self.path(), input).unwrap();
            read(&self.place());
            assert!(self.written() == input, "reading changed the file");
            if let Some(said) = save(&self.place(), dice) {
                assert_eq!(again(&self.place()), said, "what was saved is read otherwise");
                // A record that this build cannot read is held word for word, halves of surrogates included.
                let whole = json::lenient(&self.written()).into_owned();
                let kept = self.written() == input;
                assert!(kept || serde_json::from_str::<serde_json::Value>(&whole).is_ok(), "half a file: {whole}");
            }
            let strays: Vec<_> = std::fs::read_dir(&self.scratch.0)
                .unwrap()
                .map(|e| e.unwrap().file_name().into_string().unwrap())
                .filter(|name| name.contains(".tmp"))
                .collect();
            assert!(strays.is_empty(), "{strays:?}");
        });
    }
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_dismissals() {
    let bench = Bench::new("cargento-dismissals.json");
    let store = Dismissals::new(bench.place(), quiet());
    for sid in ["3f9c01ab", "0199", "x"] {
        store.mark(dismissals::mark_key("claude", sid).unwrap(), NOW);
    }
    let list = |store: &Dismissals| {
        store.refresh();
        // A time no clock shows is read as milliseconds, again each time it is written.
        format!(
            "{:?}",
            store.list().iter().filter(|(_, mark)| mark.at < 1e12 && mark.seen_activity < 1e12).collect::<Vec<_>>()
        )
    };
    bench.run(
        "dismissals",
        vec![bench.written(), b"{}".to_vec()],
        |place| drop(list(&Dismissals::new(place.clone(), quiet()))),
        |place, dice| {
            let store = Dismissals::new(place.clone(), quiet());
            let key = dismissals::mark_key("codex", &format!("s{}", dice.below(9))).unwrap();
            store.mark(key, NOW + 5.0).persisted().then(|| list(&store))
        },
        |place| list(&Dismissals::new(place.clone(), quiet())),
    );
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_session_ends() {
    let bench = Bench::new("cargento-ends.json");
    let store = StoredEnds::new(bench.place(), quiet());
    for sid in ["3f9c01ab", "0199", "x"] {
        store.mark(&(Key::Claude, sid.into()), NOW);
    }
    let list = |store: &StoredEnds| {
        let mut all: Vec<_> =
            store.all().into_iter().map(|((key, sid), at)| format!("{} {sid} {at}", key.as_str())).collect();
        all.sort();
        all.join("\n")
    };
    bench.run(
        "ends",
        vec![bench.written()],
        |place| drop(list(&StoredEnds::new(place.clone(), quiet()))),
        |place, dice| {
            let store = StoredEnds::new(place.clone(), quiet());
            let key = (Key::Codex, format!("s{}", dice.below(9)));
            store.mark(&key, NOW + 5.0).persisted().then(|| list(&store))
        },
        |place| list(&StoredEnds::new(place.clone(), quiet())),
    );
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_deliveries() {
    let bench = Bench::new("cargento-deliveries.json");
    let store = Deliveries::new(bench.place(), quiet());
    for sid in ["3f9c01ab", "0199"] {
        store.record("claude", sid, "gate", deliveries::Outcome::HandedOver, NOW);
    }
    let list = |store: &Deliveries| {
        store.refresh();
        format!("{:?}", store.raises())
    };
    bench.run(
        "deliveries",
        vec![bench.written()],
        |place| drop(list(&Deliveries::new(place.clone(), quiet()))),
        |place, dice| {
            let store = Deliveries::new(place.clone(), quiet());
            let sid = format!("s{}", dice.below(9));
            store.record("pi", &sid, "gate", deliveries::Outcome::Refused, NOW + 5.0).persisted().then(|| list(&store))
        },
        |place| list(&Deliveries::new(place.clone(), quiet())),
    );
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_history() {
    let bench = Bench::new("cargento-history.json");
    let new = |place: &Place| History::new(place.clone(), quiet(), 1e9, 1 << 20);
    let record = |sid: &str, state: &str, at: f64| Record {
        harness: "claude".into(),
        sid: sid.into(),
        project: "acme/shop".into(),
        state: state.into(),
        last_activity: at,
        annotation_goal: "Round to even".into(),
        ..Record::default()
    };
    new(&bench.place()).record(&[record("a", "working", NOW), record("b", "idle", NOW)], NOW);
    let list = |store: &History| format!("{:?}", store.records().list());
    bench.run(
        "history",
        vec![bench.written(), br#"{"version":1,"entries":[]}"#.to_vec()],
        |place| drop(list(&new(place))),
        |place, dice| {
            let store = new(place);
            list(&store);
            let before = std::fs::read(place.path("cargento-history.json")).ok();
            store.record(&[record(&format!("s{}", dice.below(9)), "working", NOW + 5.0)], NOW + 6.0);
            (std::fs::read(place.path("cargento-history.json")).ok() != before).then(|| list(&store))
        },
        |place| {
            let store = new(place);
            store.record(&[], NOW + 6.0);
            list(&store)
        },
    );
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_annotations() {
    let bench = Bench::new("cargento-annotations.json");
    let words = |goal: &str| {
        Action::Words(Words { goal: Some(goal.into()), lines: Some(vec!["Taxes agree".into()]), ..Words::default() })
    };
    let store = Annotations::new(bench.place(), quiet());
    for (sid, goal) in [("3f9c01ab", "Round to even"), ("0199", "Ship"), ("3f9c01ab", "Round up")] {
        store.save(&("claude".into(), sid.into()), &words(goal), &Observed::default(), NOW);
    }
    let list = |store: &Annotations| {
        store.refresh();
        let slots = store.slots();
        let shown = slots.list().iter().map(|slot| format!("{:?}", slot.entry()));
        format!("{} {}", store.is_untrusted(), shown.collect::<Vec<_>>().join("\n"))
    };
    bench.run(
        "annotations",
        vec![bench.written()],
        |place| drop(list(&Annotations::new(place.clone(), quiet()))),
        |place, dice| {
            let store = Annotations::new(place.clone(), quiet());
            let key = ("codex".to_owned(), format!("s{}", dice.below(9)));
            let saved = store.save(&key, &words("Another"), &Observed::default(), NOW + 5.0);
            saved.outcome.persisted().then(|| list(&store))
        },
        |place| list(&Annotations::new(place.clone(), quiet())),
    );
}

/// TRUST-080, TRUST-081.
#[test]
fn trust_080_081_departures() {
    let bench = Bench::new("cargento-departures.json");
    let store = Departures::new(bench.place(), quiet());
    let check =
        cargento::keep::departures::Check { harness: "claude".into(), sid: "3f9c01ab".into(), ..Default::default() };
    store.record(vec![check]);
    let list = |store: &Departures| {
        store.refresh();
        format!("{:?}", store.checks())
    };
    let seed = std::fs::read(bench.path()).unwrap_or_else(|_| br#"{"version":1,"entries":[]}"#.to_vec());
    bench.run(
        "departures",
        vec![seed],
        |place| drop(list(&Departures::new(place.clone(), quiet()))),
        |place, _| {
            let store = Departures::new(place.clone(), quiet());
            store
                .withdraw("claude", "3f9c01ab")
                .persisted()
                .then(|| list(&store))
                .filter(|_| place.path("cargento-departures.json").exists())
        },
        |place| list(&Departures::new(place.clone(), quiet())),
    );
}
