// Projects: sessions grouped by the label their harness publishes, those with something moving first, and the stage
// conditions of every workflow above them.
import { Component } from './preact.js';
import { useMemo } from './hooks.js';
import { Absent, Age, Boundary, T, html } from './part-base.js';
import { Dot, Mono } from './part-badge.js';
import { SHARED_WHY, Now } from './part-row.js';
import { Conditions } from './part-trip.js';
import { conditionsOf, countLine, projectsOf, scopeTime, shownMembers } from './project.js';
import { many } from './format.js';
import { STATE_WORD } from './model.js';
import { projectHref, sessionHref } from './route.js';
import { opened } from './app-context.js';

function Member({ row }) {
  const { state } = row;
  const time = scopeTime(row);
  return html`<li class="proj-member" data-row=${row.key} data-state=${row.state}>
    <${Dot} state=${state} live=${row.live} /><${Mono} harness=${row.harness} /><span class="sr">${row.harnessLabel}, </span>
    <a class="row-link clamp1" href=${sessionHref(row)} data-fk=${`link|${row.key}`} title=${row.title || undefined}>${row.title ? html`<${T} s=${row.title} />` : html`<${Absent}>Session title not published<//>`}</a>
    <span class="proj-now clamp1">${row.blocked ? html`<span class="row-need"><span class="sr">Waiting on you: </span><${T} s=${row.block.text} /></span>` : row.working ? html`<${Now} row=${row} />` : STATE_WORD[state]}</span>
    <span class="proj-age">${time === null ? null : html`<${Age} since=${time} />`}</span></li>`;
}

/** One label. It is drawn again only when one of its sessions changed. */
class Project extends Component {
  shouldComponentUpdate(next, state) {
    const [a, b] = [this.props.project.list, next.project.list];
    return state !== this.state || a.length !== b.length || a.some((r, i) => r !== b[i]);
  }

  render({ project, history }) {
    const { label, rows } = project;
    const key = `members|${label}`;
    const all = opened.get(key) === true;
    const { shown, rest } = shownMembers(project);
    const toggle = () => {
      opened.set(key, !all);
      this.setState({});
    };
    return html`<article class=${`proj${project.rank === 0 ? ' row-wait' : ''}`} data-project=${label}>
      <div><h3 class="row-title">${label ? html`<a class="proj-link" href=${projectHref(label)} data-fk=${`project|${label}`}><${T} s=${label} /></a>` : 'No project label'}</h3>
        <p class="quiet-text">${countLine(rows)}</p>
        ${label && rows.length > 1 ? html`<p class="quiet-text" title=${SHARED_WHY}>${rows.length} sessions share this display label<span class="sr">. ${SHARED_WHY}</span></p>` : null}
        ${project.total > 0 ? html`<p class="proj-tasks"><span class="bar bar-tasks" aria-hidden="true"><i style=${{ width: `${Math.round((100 * project.done) / project.total)}%` }}></i></span>${project.done} of ${many(project.total, 'task')}</p>` : null}</div>
      ${history ? null : html`<div><ul>${(all ? project.list : shown).map((row) => html`<${Boundary} key=${row.key} of=${row} what="This session"><${Member} row=${row} /><//>`)}</ul>
        ${rest > 0 ? html`<button type="button" class="btn btn-quiet" data-act="more" data-fk=${key} aria-expanded=${all ? 'true' : 'false'} onClick=${toggle}>${all ? `Show fewer (hide ${rest})` : many(rest, 'other session')}</button>` : null}</div>`}</article>`;
  }
}

const Group = ({ name, title, list, history, empty }) => html`<section class="group" data-group=${name} aria-label=${title}>
  <div class="group-bar"><h2 class="group-h" tabindex="-1">${title} <span class="fig">(${list.length})</span></h2></div>
  ${list.length ? list.map((p) => html`<${Boundary} key=${p.label} of=${p} what="This project"><${Project} project=${p} history=${history} /><//>`) : html`<p class="empty" data-absent="">${empty}</p>`}</section>`;

function Loading() {
  return html`<div class="skeletons" aria-hidden="true">${[0, 1, 2].map(() => html`<div class="skeleton"><i class="bone bone-a"></i><i class="bone bone-b"></i></div>`)}</div><p class="sr">Loading projects.</p>`;
}

export default function Projects({ state }) {
  const { board } = state;
  const groups = useMemo(() => (board ? projectsOf(board) : null), [board?.rows]);
  const conditions = useMemo(() => (board ? conditionsOf(board.payload) : null), [board?.payload]);
  if (!board) return html`<h1 class="h1" tabindex="-1">Projects</h1><${Loading} />`;
  return html`<div class="view-head"><h1 class="h1" tabindex="-1">Projects</h1><p class="lead">Sessions are grouped by the label their harness publishes.</p></div>
    <${Boundary} of=${conditions} what="Stage conditions"><${Conditions} conditions=${conditions} board=${board} place="projects" /><//>
    ${board.rows.length ? null : html`<p class="empty-lead">No session was observed. <code>cargento --diagnose</code> says what was read.</p>`}
    <${Group} name="active" title="Active" list=${groups.active} history=${false} empty="No project has a session that works or waits on you." />
    <${Group} name="recent" title="Recently observed" list=${groups.recent} history=${true} empty="No other project was observed lately." />`;
}
