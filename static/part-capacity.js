// The capacity strip: windows in the order their budget ends, and the reader's answer about fetching from vendors.
import { useMemo, useState } from './hooks.js';
import { T, html } from './part-base.js';
import { Mono } from './part-badge.js';
import { CapacityBar } from './part-bars.js';
import { SHOWN, buysText, capacityOf, endsText, paceWord, workedIn } from './capacity.js';
import { duration, many, pace } from './format.js';
import { KEYS, consent, write } from './keep.js';
import { app, opened } from './app-context.js';
import { say } from './say.js';

function answer(value) {
  write(KEYS.consent, value);
  say(value === 'granted' ? 'Vendor quota fetch is on.' : 'Vendor quota fetch is off.');
  app.paint();
  app.refresh();
}

/** What a fetch of vendor quota would read and send, asked once. */
export function ConsentBanner() {
  return html`<section class="banner" aria-label="Vendor quota">
    <p>Claude and Cursor publish what is left of a plan only to their own sign-in. If you allow it, Cargento reads that credential from this machine and asks the vendor for
      the figures, at most once per five minutes and only while this page is open. The credential is never written, logged or served, and no session content is sent.
      The answer can be changed here at any time; <code>--no-usage</code> turns it off for good.</p>
    <p class="banner-acts"><button type="button" class="btn btn-plain" data-act="consent-yes" data-fk="consent|yes" data-fallback="consent|switch" onClick=${() => answer('granted')}>Read my quota</button>
      <button type="button" class="btn btn-plain" data-act="consent-no" data-fk="consent|no" data-fallback="consent|switch" onClick=${() => answer('declined')}>No thanks</button></p></section>`;
}

function Switch() {
  const on = consent() === 'granted';
  return html`<p class="cap-switch">Vendor quota fetch: ${on ? 'on' : 'off'} <button type="button" class="btn btn-quiet" data-act="consent-switch" data-fk="consent|switch"
    onClick=${() => answer(on ? 'declined' : 'granted')}>${on ? 'Turn off' : 'Turn on'}</button></p>`;
}

function Line({ row, generated, selected, select }) {
  const over = paceWord(row);
  return html`<div class="cap-row" role="row" data-window=${row.key}>
    <div class="cap-window" role="rowheader"><button type="button" class="cap-name" data-act="window" data-fk=${`window|${row.key}`} aria-pressed=${selected ? 'true' : 'false'} onClick=${() => select(row.key)}>
      <${Mono} harness=${row.harness} /><span><${T} s=${row.label} /> · ${row.name}</span></button>${row.length ? html`<span class="cap-len fig">${row.length}</span>` : null}</div>
    <div class="cap-used fig" role="cell">${row.pct}%</div>
    <div class="cap-clock" role="cell"><${CapacityBar} row=${row} /><span class="cap-ends" aria-hidden="true"><span>spent ${row.pct}%</span><span class=${row.elapsed === null ? undefined : 'cap-gone'}>${row.elapsed === null ? 'no clock' : `${Math.round(row.elapsed * 100)}% of time gone`}</span></span></div>
    <div class=${`cap-pace cap-ink-${row.tone}`} role="cell">${row.ratio === null ? html`<span class="absent" data-absent="">no pace</span>` : html`<span class="fig">${pace(row.ratio)}</span>${over ? html`<span class="cap-over">${over}</span>` : null}`}</div>
    <div class="cap-end" role="cell">${row.endsAt === null && row.left > 0 ? html`<span class="absent" data-absent="">not projected</span>` : endsText(row, generated)}</div>
    <div class="cap-reset" role="cell">${row.remaining === null ? html`<span class="absent" data-absent="">no reset published</span>` : html`<span class="fig">${duration(row.remaining)}</span>`}</div>
    ${row.models.length ? html`<p class="cap-models" role="cell">${row.models.map((m) => html`<span><${T} s=${m.label} /> <span class="fig">${m.pct}%</span></span>`)}<span class="quiet-text">per-model limits have no clock</span></p>` : null}
  </div>`;
}

/** The whole strip; nothing when there is nothing to say. */
export function Capacity({ board }) {
  const [, again] = useState(null);
  const cap = useMemo(() => capacityOf(board), [board.payload]);
  const worked = useMemo(() => (cap.windows[0] ? workedIn(board.payload.history, cap.windows[0].harness) : null), [board.payload.history, cap.windows[0]?.harness]);
  const ask = cap.offered && consent() === null;
  if (!cap.windows.length && !cap.withheld.length && !cap.units.length) return cap.offered ? html`<section class="capacity" data-part="capacity">${ask ? html`<${ConsentBanner} />` : html`<${Switch} />`}</section>` : null;
  const all = opened.get('capacity') === true;
  const chosen = opened.get('capacity|window') ?? null;
  const shown = cap.windows.filter((w, i) => all || i < SHOWN || w.key === chosen);
  const rest = cap.windows.length - SHOWN;
  const untimed = cap.windows.slice(SHOWN).filter((w) => w.minutesLeft === null).length;
  const first = cap.windows.find((w) => w.key === chosen) ?? cap.windows[0];
  const select = (key) => {
    opened.set('capacity|window', chosen === key ? null : key);
    again({});
  };
  return html`<section class="capacity" data-part="capacity" aria-labelledby="capacity-h"><h2 class="group-h" id="capacity-h">Capacity</h2>
    ${shown.length ? html`<div class="cap-table" role="table" aria-label="Quota windows">
      <div class="cap-row cap-head" role="row">${['Window', 'Used', 'Budget against clock', 'Pace', 'Budget ends', 'Resets'].map((t) => html`<span role="columnheader">${t}</span>`)}</div>
      ${shown.map((row) => html`<${Line} key=${row.key} row=${row} generated=${board.generated} selected=${row.key === first.key} select=${select} />`)}</div>` : null}
    ${rest > 0 ? html`<button type="button" class="btn btn-quiet more" data-act="more" data-fk="more|capacity" aria-expanded=${all ? 'true' : 'false'} onClick=${() => { opened.set('capacity', !all); again({}); }}>
      ${all ? `Show fewer (hide ${rest})` : `${many(rest, 'more window', 'more windows')}, ${untimed} of them not timed`}</button>` : null}
    ${first ? html`<p class="cap-buys">${buysText(first).join(' ')}${first.remaining === null ? '' : ` Resets in ${duration(first.remaining)}.`}</p>` : null}
    ${first && worked ? html`<p class="cap-buys">Sessions of ${first.label} in ${worked.project ? html`<${T} s=${worked.project} />` : 'the project without a label'} worked ${worked.least} to ${worked.most}, median ${worked.median}, over ${many(worked.count, 'measured session')}${worked.open ? `; ${worked.open} more without a closed interval` : ''}.</p>` : null}
    ${cap.units.map((u) => html`<p class="cap-unit" key=${u.key}><${Mono} harness=${u.key} /> <${T} s=${u.label} /> <span class="fig"><${T} s=${u.text} /></span></p>`)}
    ${cap.withheld.map((w) => html`<p class="absent" data-absent="" key=${w.key}>${w.label}: withheld, ${w.why}.</p>`)}
    ${ask ? html`<${ConsentBanner} />` : cap.offered ? html`<${Switch} />` : null}</section>`;
}
