// What a stored reading says and what it does not: a model's account of the record, never a verification. Wording lives here,
// one sentence for one cause, so that the session page and the Intent log cannot disagree. Pure.
import { age, clock, many, num } from './format.js';
import { moment, objects, readingOf, str, strings } from './model.js';
import { goalField, revisionOf, storedOf } from './intent.js';

const DEPARTS = 'departure';
const CONSISTENT = 'consistent with the evidence read';

/** Stands under every reading. */
export const CAVEAT = 'A reading is a model’s account of the entries it was shown. It verifies nothing, and it says nothing about the work being finished.';

const WHY = {
  'not-asked': 'This was not put to the model: no entry in the record shows work that could decide it.',
  unreadable: 'The reply for this line could not be read.',
  uncited: 'No entry of the record was cited for it.',
  'no-work-shown': 'Nothing it cited shows work.',
  'board-quoting-itself': 'Everything it cited was written by this board.',
  uncorroborated: 'Nothing but your own words was cited for it.',
  'verdict-stated': 'The reply stated a verdict that a reading may not give.',
  'check-does-not-show-it': 'The check it cited does not show it.',
  'failed-check-unread': 'A failed check in the record had no room in what was read.',
  'changed-after-check': 'Something changed after the check it cited.',
  'check-read-incomplete': 'The check it cited was not read whole.',
  'checks-not-read': 'Checks had no room in what was read.',
  'tells-the-person': 'What an agent tells you cannot be settled by a tool’s record.',
};

/** `read revision 2, 4 is current`, or null while the words are those that were read. */
export function movedOn(read, now) {
  const r = num(read);
  if (r === null || r <= 0) return 'its baseline was not recorded';
  return now !== null && now > 0 && r !== now ? `read revision ${r}, ${now} is current` : null;
}

/** Label of a constraint: `Goal`, `Outcome line 2`. */
export const constraintName = (key) => (key === 'goal' ? 'Goal' : /^line_\d$/.test(key) ? `Outcome line ${key.slice(5)}` : key === 'output' ? 'Outcome line 1' : key);

/**
 * The reading of a row as the page shows it, or null: `answer`, `lines` (one for each constraint), the sentences around it,
 * and whether it is stale. `facts` is the session's record, null while unread; `open` is true while something you said later
 * is not settled, and then no departure is stated at all.
 */
export function readingView(row, facts, open, generated) {
  const raw = readingOf(row.raw);
  if (!raw) return null;
  const byId = new Map((facts ?? []).map((f) => [f.id, f]));
  const keys = Object.keys(raw.criteria).filter((k) => raw.criteria[k] && typeof raw.criteria[k] === 'object');
  const lines = keys.map((key) => lineOf(key, raw.criteria[key], { byId, unread: facts === null, open, row }));
  const readAt = moment(raw.read_at);
  const through = moment(raw.evidence_through);
  const newer = facts?.find((f) => f.at !== null && through !== null && f.at > through && f.type !== 'observer_snapshot');
  const lapsed = raw.scope === 'final' && moment(raw.ended_at_read) !== null && row.endedAt === null;
  return {
    answer: answerOf(lines), lines, stamp: str(raw.stamp), when: readAt === null || age(generated, readAt) === null ? 'its age is unknown' : `${age(generated, readAt)} ago`,
    scope: lapsed || raw.scope === 'withdrawn' ? 'It was read against an end that is no longer published.' : str(raw.scope_text), cutoff: str(raw.cutoff),
    revision: num(raw.revision_read), moved: movedOn(raw.revision_read, revisionOf(row)),
    newer: newer ? 'The record has entries newer than what was read.' : null, adopted: str(raw.goal_source) !== '' && raw.goal_source !== 'typed',
  };
}

function lineOf(key, raw, { byId, unread, open, row }) {
  const cites = strings(raw.cites).map((id) => byId.get(id) ?? { id, type: '', source: '', summary: unread ? 'the record has not been read here' : 'no longer in the record read' });
  let kind = 'undecided';
  if (raw.result === DEPARTS && cites.length) kind = open ? 'unsettled' : 'departs';
  else if (raw.result === CONSISTENT && cites.length) kind = 'consistent';
  const checked = cites.some((c) => c.type === 'tool_report' || c.type === 'result');
  const text = {
    departs: 'Departs from your words, by the cited entries.',
    consistent: checked ? 'Consistent with the cited entry, as the tool reported it; nothing was inspected.' : 'Consistent by the agent’s own account, which is no check.',
    unsettled: 'Not verifiable: you said something later that is not settled.',
    undecided: raw.result === undefined || raw.result === null ? 'Undecided: the reply for it could not be read.' : 'Undecided: the record read has nothing that settles it.',
  }[kind];
  return {
    key, name: constraintName(key), clause: str(raw.clause) || clauseNow(row, key), kind, text, cites,
    detail: kind === 'departs' ? str(raw.detail) : '', why: kind === 'undecided' ? WHY[raw.why] ?? '' : '',
  };
}

const clauseNow = (row, key) => (key === 'goal' ? storedOf(row).goal : storedOf(row).lines[Number(key.slice(5)) - 1]?.text ?? '');

function answerOf(lines) {
  if (lines.some((l) => l.kind === 'departs')) return { kind: 'departs', text: 'Departs: at least one line departs from your words. The others stand for themselves.' };
  if (lines.some((l) => l.kind === 'unsettled')) return { kind: 'undecided', text: 'Undecided: a later message of yours is not settled.' };
  if (!lines.length || lines.some((l) => l.kind !== 'consistent')) return { kind: 'undecided', text: 'Undecided: the record read does not settle every line.' };
  return { kind: 'none', text: 'No departure in the evidence read.' };
}

/** What the person said after the words that nothing has settled: `{at, text}`, newest first. Empty while nothing is saved. */
export function conflicts(row, facts) {
  const { raw } = row;
  if (!revisionOf(row)) return [];
  const stored = storedOf(row);
  const field = goalField(row);
  const floor = (stored.goal ? moment(stored.adopted ? raw.annotation_goal_source_at : raw.annotation_goal_saved_at) : moment(field.offer?.at)) ?? moment(raw.annotation_at) ?? 0;
  const from = Math.max(floor, moment(raw.annotation_settled_through) ?? 0);
  const said = (facts ?? []).filter((f) => f.type === 'user_message' && f.exact && f.at !== null).map((f) => ({ at: f.at, text: f.summary }));
  if (!said.length) {
    if (row.instruction?.label === 'asked' && row.instruction.at !== null) said.push({ at: row.instruction.at, text: row.instruction.text });
    else if (moment(raw.prompt_at) !== null && row.title) said.push({ at: raw.prompt_at, text: row.title });
  }
  return said.filter((s) => s.at > from).sort((a, b) => b.at - a.at);
}

/** Why the control cannot run now, or null. Each names exactly one next step. */
export function inert(board, row, { unsavedWords, words, reading, route }) {
  if (!board.annotate) return 'Annotations are off for this run. Start Cargento without --no-annotations to check a session.';
  if (!reading) return 'This server does not offer readings.';
  if (reading.reason === 'run-disabled') return 'Model calls are off for this run. Start Cargento without --no-observer-model to check a session.';
  if (!words) return field(row);
  if (unsavedWords) return 'Save or undo your changes first; a reading compares what is saved.';
  if (!route) return 'No reader is published for this harness.';
  if (reading.reason === 'store-unavailable') return 'The permission for readings could not be read; look at the Cargento home directory.';
  if (reading.reason === 'daily-cap') return `All ${num(reading.limit) ?? 12} attempts of the last 24 hours are used${moment(reading.retry_at) === null ? '' : `; the next is free at ${clock(reading.retry_at, board.generated)}`}.`;
  return null;
}

const field = (row) => (goalField(row).kind === 'empty' && row.raw.annotation_revision ? 'Nothing typed is left to read against; type a goal or an outcome line.' : 'There is nothing to read against yet; type a goal or an outcome line.');

const REASONS = {
  'run-disabled': 'Model calls are off for this run.', 'not-qualified': 'No reader is open in this build.', 'store-unavailable': 'The permission for readings could not be read; nothing was spent.',
  'annotations-unavailable': 'The saved words could not be read just now; nothing was spent.',
};

/** What a reply to a press means: `{job}`, `{confirm}`, `{route}` and the sentence beside the control. */
export function pressed(status, body, generated) {
  if (status === null) return { text: 'The result could not be confirmed. Nothing is sent again by itself.' };
  const reason = str(body.reason);
  if (status === 202 || (status === 409 && body.job)) return { started: true, text: '' };
  if (status === 409 && reason === 'provider-changed') return { text: 'The receiver changed since this was shown; nothing was saved or spent. What is shown now is current.' };
  if (status === 409 && reason === 'goal-changed') return { text: 'The prompt or the goal changed since this was shown; nothing was spent. Review it and press again.' };
  if (status === 409) return { text: 'A reading of this session is already in progress.' };
  if (status === 403 && reason === 'consent-required') return { confirm: true, text: '' };
  if (status === 429) return { text: `Every attempt of the last 24 hours is used${moment(body.retry_at) === null ? '' : `; the next is free at ${clock(body.retry_at, generated)}`}.` };
  if (status === 503) return { text: str(body.route?.note) || REASONS[reason] || 'Readings are not available; nothing was spent.' };
  if (status === 200 && body.produced === false) return { text: 'Nothing was produced and nothing was spent.' };
  if (status === 200) return { text: '' };
  return { text: 'The result could not be confirmed. Nothing is sent again by itself.' };
}

/** Departures a reading stated, in the words of a review. */
export const readingDepartures = (view) => (view ? view.lines.filter((l) => l.kind === 'departs') : []);

/** Departures the away checks raised for a row, newest first, each with its wording. */
export function awayDepartures(row) {
  return objects(row.raw.departures).filter((d) => str(d.constraint)).map((d, i) => ({
    id: i, at: moment(d.at), name: constraintName(str(d.constraint)), clause: str(d.clause), text: str(d.reading), cutoffText: str(d.cutoff_text), cutoff: moment(d.cutoff),
    revision: num(d.revision) > 0 ? d.revision : null, moved: movedOn(d.revision, revisionOf(row)), after: str(d.follow_up) || 'No later check has read this session.',
  }));
}

/** The reading line of the Intent log, from the published members of one entry. */
export function readingLine(raw) {
  const reading = readingOf(raw);
  const count = num(raw.annotation_reading_count) ?? 0;
  const now = num(raw.annotation_revision);
  if (raw.annotation_reading_refused === true) return 'A stored reading is in a form this version does not read.';
  if (reading) return movedOn(reading.revision_read, now) ?? `read revision ${num(reading.revision_read) ?? 'unknown'}, which is current`;
  if (str(raw.annotation_reading_withheld)) return str(raw.annotation_reading_withheld);
  return count > 0 ? `${many(count, 'reading')} asked for, none readable` : 'No reading asked for';
}
