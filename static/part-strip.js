// Time from left to right: the states of a session, and the stages of a workflow. A span nobody observed stays blank above a
// dotted line; it is never drawn as quiet.
import { T, html } from './part-base.js';
import { blocks, ticks } from './layout.js';
import { clock } from './format.js';
import { objects, str, strings } from './model.js';

const Blocks = ({ of }) => of.map((b) => html`<i class=${`strip-block strip-${b.state}`} title=${b.words} style=${{ left: `${b.left}%`, width: `max(2px, ${b.width}%)` }}></i>`);

/** The states of one session in one lane for the eye, and in one sentence for everyone. */
export const StateGlance = ({ made, words }) => html`<div class="strip-track strip-glance" aria-hidden="true"><${Blocks} of=${blocks(made.blocks, made.from, made.to)} /></div><p class="strip-caption quiet-text">${words}</p>`;

/**
 * `lanes` are `{key, label, blocks: [{state, from, to}], turns: [time]}`, all in epoch seconds between `from` and `to`.
 * States: needs_input, working, idle. `caption` names the window in words.
 */
export function StateStrip({ lanes, from, to, caption }) {
  if (!(to > from)) return null;
  const at = (t) => (100 * (t - from)) / (to - from);
  return html`<figure class=${lanes.some((lane) => lane.label) ? 'strip strip-named' : 'strip'}><figcaption class="strip-caption quiet-text">${caption}</figcaption>
    ${lanes.map((lane) => {
      const drawn = blocks(lane.blocks, from, to);
      const turns = (lane.turns ?? []).filter((t) => t >= from && t <= to);
      return html`<div class="strip-lane" key=${lane.key}>
        ${lane.label ? html`<span class="strip-label" title=${lane.label}><${T} s=${lane.label} /></span>` : null}
        <div class="strip-track" aria-hidden="true"><${Blocks} of=${drawn} />
          ${turns.map((t) => html`<i class="strip-turn" title=${`${clock(t, to)} you`} style=${{ left: `${at(t)}%` }}></i>`)}
        </div>
        <ul class="sr">${drawn.map((b) => html`<li>${b.words}</li>`)}${turns.map((t) => html`<li>${clock(t, to)} your turn</li>`)}</ul>
      </div>`;
    })}
    <div class="strip-ticks" aria-hidden="true">${ticks(from, to).map((t) => html`<span class="strip-tick label" style=${{ left: `${t.left}%` }}>${t.left < 89 ? t.text : ''}</span>`)}</div>
  </figure>`;
}

/** Declared stages of one workflow in a line, with its entities under their stage; bold means live. `stalled(slug)` gives words or null. */
export function StageStrip({ workflow, stalled = () => null }) {
  const entities = objects(workflow.entities);
  const stages = strings(workflow.stages);
  return html`<div class="stage"><p class="stage-head quiet-text"><${T} s=${str(workflow.workflow)} />${str(workflow.goal) ? html` · <${T} s=${workflow.goal} />` : null}</p>
    <ol class="stage-line" tabindex="0" aria-label="Stages">${stages.map((stage) => html`<li class="stage-step"><span class="stage-name">${stage}</span>
      ${entities.filter((e) => e.stage === stage).map((e) => {
        const late = stalled(str(e.slug));
        return html`<span class=${`stage-item${e.live === true ? ' stage-live' : ''}`}><${T} s=${str(e.slug)} />${str(e.cycle) ? ` ${e.cycle}` : ''}${e.live === true ? html`<span class="sr"> live</span>` : null}
          ${late ? html` <span class="stage-late">${late}</span>` : null}</span>`;
      })}</li>`)}</ol></div>`;
}
