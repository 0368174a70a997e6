// The cockpit of one project: a rail that picks the project or one session of it, a briefing that stands above every tab, and
// four tabs. It reads and never acts for anyone: what it can do to a session is raise its terminal.
import { useMemo, useState } from './hooks.js';
import { Absent, Age, Boundary, T, html } from './part-base.js';
import { Dot } from './part-badge.js';
import { SHARED_WHY } from './part-row.js';
import { Tabs, Panel } from './part-tabs.js';
import { Briefing } from './part-brief.js';
import { Composer, HumanContext } from './part-memo.js';
import { Now } from './cockpit-now.js';
import { Course, Decisions, courseOf, modeOf } from './cockpit-course.js';
import { Console } from './cockpit-console.js';
import { book } from './ledger.js';
import { bodyFor, useContext } from './record.js';
import { briefing, countLine, decisionsOf, scopeOf, scopeTime } from './project.js';
import { many } from './format.js';
import { STATE_WORD } from './model.js';
import { projectHref } from './route.js';
import { app, opened } from './app-context.js';
import { say } from './say.js';

const of = (board, route) => board.rows.filter((r) => r.project === route.project);
const focusOf = (rows, route) => (route.session ? rows.find((r) => r.key === route.session) ?? null : null);

function Entry({ row, twin, harness, route }) {
  const { state } = row;
  const time = scopeTime(row);
  const here = route.session === row.key;
  return html`<li><a class="scope-a" href=${projectHref(route.project, row.key, route.tab)} aria-current=${here ? 'true' : undefined} data-fk=${`scope|${row.key}`} data-fallback="scope|project" data-state=${row.state} onClick=${() => say(`Scope: ${row.title || 'session without a title'}.`)}>
    <span class="clamp2">${row.title ? html`<${T} s=${row.title} />` : html`<${Absent}>Session title not published<//>`}</span>
    <span class="scope-cap"><${Dot} state=${state} live=${row.live} />${harness ? null : html`<${T} s=${row.harnessLabel} />${' · '}`}${STATE_WORD[state]}${time === null ? null : html` · <${Age} since=${time} />`}${twin ? html` · <span class="fig">${row.sid}</span>` : null}</span></a></li>`;
}

function Rail({ rows, route }) {
  const scope = useMemo(() => scopeOf(rows), [rows]);
  const list = html`<ul><li><a class="scope-a" href=${projectHref(route.project, null, route.tab)} aria-current=${route.session ? undefined : 'true'} data-fk="scope|project" onClick=${() => say('Scope: the whole project.')}><span class="clamp2"><${T} s=${route.project} /></span><span class="scope-cap">${many(rows.length, 'session')}</span></a></li>
    ${scope.list.map(({ row, twin }) => html`<${Boundary} key=${row.key} of=${row} what="This session"><${Entry} row=${row} twin=${twin} harness=${scope.harness} route=${route} /><//>`)}</ul>`;
  const focus = focusOf(rows, route);
  const [, again] = useState(null);
  const open = opened.get('scope') === true;
  const heading = html`SCOPE${scope.harness ? html` · <${T} s=${scope.harness} />` : null}`;
  return html`<nav class="scope" aria-label="Scope"><p class="label">${heading}</p>
    <button type="button" class="btn btn-plain scope-switch" data-act="scope" data-fk="scope|switch" aria-expanded=${open ? 'true' : 'false'} onClick=${() => { opened.set('scope', !open); again({}); }}>Viewing ${focus ? html`session · ${focus.harnessLabel} · ${STATE_WORD[focus.state]}` : 'project'} · ${open ? 'Close' : 'Change scope'}</button>
    <div class=${open ? 'scope-body scope-open' : 'scope-body'}>${list}</div></nav>`;
}

const LEDE = {
  now: 'What runs now and how sessions here ended.', course: 'Changes of direction observed.', decisions: 'Recorded decisions and what became of them.',
  console: 'Operations, and a read-only terminal of one session.',
};

function decisionCue(record) {
  const n = decisionsOf(record.body).list.length;
  const late = record.stale ? ', refresh has failed since' : '';
  if (record.state === 'loading') return { cue: '…', said: 'decisions not loaded yet' };
  if (record.state === 'absent') return { cue: '·', said: 'decisions not published' };
  if (record.state === 'failed') return { cue: '—', said: 'decisions could not be read' };
  return { cue: `${n}${record.stale ? ' stale' : ''}`, said: `${n ? many(n, 'decision') : 'No decisions observed'}${late}` };
}

function courseCue(course) {
  // With a history kept, a first look is a figure that was read: no change yet.
  if (course.window === null && book.history === null) return { cue: '·', said: 'observed state changes not published' };
  const n = course.mode === 'decisions' ? course.changes.length : course.shown.length;
  return { cue: String(n), said: n ? many(n, 'observed state change') : 'No observed state changes' };
}

function Cockpit({ state, rows }) {
  const { board, route } = state;
  const { project } = route;
  const [, redraw] = useState(null);
  const focus = focusOf(rows, route);
  const keys = new Set(rows.map((r) => r.projectKey));
  const asked = focus?.projectKey || (keys.size === 1 && [...keys][0]) || project;
  const record = useContext(asked, focus?.key ?? null, board.generated);
  const mode = modeOf(project, focus?.key ?? null);
  const seen = useMemo(() => courseOf(project, rows, focus, mode), [book.last, rows, focus?.key, mode]);
  const course = { ...seen, redraw: () => redraw({}) };
  const open = (tab) => app.go({ view: 'project', project, session: route.session, tab });
  const tabs = [{ key: 'now', label: 'Now' }, { key: 'course', label: 'Course', ...courseCue(course) }, { key: 'decisions', label: 'Decisions', ...decisionCue(record) }, { key: 'console', label: 'Console' }];
  const Open = { now: Now, course: Course, decisions: Decisions, console: Console }[route.tab];
  return html`<div class="cockpit"><${Rail} rows=${rows} route=${route} /><div>
    <div class="view-head"><h1 class="h1" tabindex="-1"><${T} s=${project} /></h1><p class="lead">${countLine(rows)}</p>${rows.length > 1 ? html`<p class="lead" title=${SHARED_WHY}>${rows.length} sessions share this display label<span class="sr">. ${SHARED_WHY}</span></p>` : null}</div>
    ${route.session && !focus ? html`<div class="banner banner-amber"><p>The session in this link (<code>${route.session}</code>) is not in the current payload. The whole project is shown.</p></div>` : null}
    <${Boundary} of=${board.payload} what="The briefing"><${Briefing} project=${project} rows=${rows} focus=${focus} record=${record} board=${board} /><//>
    <div class="memo row-controls"><${Composer} project=${project} /><${HumanContext} key=${project} project=${project} /></div>
    <${Tabs} id="cockpit" label="Project" tabs=${tabs} selected=${route.tab} open=${open} />
    <${Panel} id="cockpit" selected=${route.tab}><p class="lead">${LEDE[route.tab]}${route.tab === 'now' && focus ? ' Now stays project-wide.' : ''}</p>
      <${Boundary} key=${route.tab} of=${board.payload} what="This tab"><${Open} project=${project} rows=${rows} focus=${focus} board=${board} record=${record} course=${course} route=${route} /><//><//>
  </div></div>`;
}

/** Copies the briefing as plain text; the label tells the outcome until the scope changes. */
function CopyBriefing({ state }) {
  const { board, route } = state;
  const [done, set] = useState(null);
  const scope = `${route.project}\n${route.session ?? ''}`;
  if (!board) return null;
  const rows = of(board, route);
  const press = async () => {
    try {
      await navigator.clipboard.writeText(briefing({ project: route.project, rows, focus: focusOf(rows, route), body: bodyFor(focusOf(rows, route)?.key ?? null), board }));
      set({ scope, ok: true });
      say('Briefing copied.');
    } catch {
      set({ scope, ok: false });
      say('The briefing could not be copied.');
    }
  };
  const label = done?.scope !== scope ? 'Copy briefing' : done.ok ? 'Copied' : 'Copy unavailable';
  return html`<p><button type="button" class="btn btn-plain" data-act="copy-briefing" data-cue=${done?.scope === scope ? done.ok ? 'copied' : 'failed' : undefined} data-fk="copy-briefing" data-fallback="menu" onClick=${press}>${label}</button></p>`;
}
app.menu = CopyBriefing;

function Missing({ state }) {
  const { board, route } = state;
  const hours = board?.windowHours;
  return html`<h1 class="h1" tabindex="-1"><${T} s=${route.project} /></h1>
    <p class="empty-lead" data-absent="">${board ? 'No session of this project is in the current payload.' : 'The first payload has not arrived yet.'}${board && hours > 0 && !board.showAll ? ` The board holds sessions observed in the last ${hours} hours.` : ''}</p>${board ? html`<p><a href="#n=projects">All projects</a></p>` : null}`;
}

export default function Project({ state }) {
  const { board, route } = state;
  const rows = useMemo(() => (board ? of(board, route) : []), [board?.rows, route.project]);
  return rows.length ? html`<${Cockpit} key=${route.project} state=${state} rows=${rows} />` : html`<${Missing} state=${state} />`;
}
